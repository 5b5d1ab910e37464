//! Innermost loops that keep what they need in registers of the host: the registers of the machine that they only read, and the base and
//! the length of the memory.
//!
//! The register allocator does not split a long life where a loop begins. A value that lives through the whole unit may then be read
//! from the host's stack in every turn, although the loop has registers to spare. So a loop gets copies of its own, made right before it.

use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use pendula_codegen::lift::bits;
use pendula_codegen::ops::{Body, Op};
use pendula_isa::adjoint::{LANES, VALUE};
use pendula_isa::types::Reg;

use super::emit::UnitEmitter;
use super::values::View;
use crate::decode::Exit;
use crate::engine::job::{Facts, Job};
use crate::engine::plan::{Edge, EdgeKind};

/// The number of registers of the machine that the host has registers for, beside those for addresses and intermediate results.
const HELD: u32 = 6;

/// An innermost loop that is entered at its head only and calls nothing.
pub(super) struct LeafLoop {
    /// The indices of its first and its last block in the unit.
    pub(super) head: usize,
    pub(super) last: usize,
    /// For each lane, the registers that it reads and never writes.
    constant: [u32; LANES],
    /// Whether it accesses memory.
    memory: bool,
    /// The registers that it neither reads nor writes, if the unit uses so many that the host's do not suffice.
    idle: u32,
}

impl LeafLoop {
    fn contains(&self, place: usize) -> bool {
        (self.head..=self.last).contains(&place)
    }
}

/// The innermost loops of a unit that qualify, in order.
pub(super) fn find(job: &Job<'_>, facts: &Facts) -> Vec<LeafLoop> {
    let unit = job.unit;
    let inside = |edge: &&Edge| (edge.from as usize) < unit.blocks.len() && edge.to <= edge.from;
    let mut loops: Vec<(usize, usize)> =
        unit.edges.iter().filter(inside).map(|e| (e.to as usize, e.from as usize)).collect();
    loops.sort_unstable();
    loops.dedup();
    let innermost = |&(head, last): &(usize, usize)| {
        loops.iter().all(|&(h, l)| (h, l) == (head, last) || l < head || h > last || (h < head && l > last))
    };
    loops.iter().filter(|l| innermost(l)).filter_map(|&(head, last)| leaf(job, facts, head, last)).collect()
}

/// The loop, if it qualifies.
fn leaf(job: &Job<'_>, facts: &Facts, head: usize, last: usize) -> Option<LeafLoop> {
    let unit = job.unit;
    let within = |place: u32| (head..=last).contains(&(place as usize));
    let entered = unit.entries.iter().any(|&e| within(e) && e as usize != head)
        || unit
            .edges
            .iter()
            .any(|e| within(e.to) && e.to as usize != head && !within(e.from) && e.kind != EdgeKind::Enter);
    let bodies = &job.bodies[head..=last];
    let calls = |body: &Body| body.ops.iter().any(|op| matches!(op, Op::Kernel(..) | Op::Interpret));
    let leaves = unit.blocks[head..=last]
        .iter()
        .any(|&b| !matches!(job.decoded.code[b as usize].exit, Exit::Branch(_) | Exit::Fall(_)));
    if entered || leaves || bodies.iter().any(calls) {
        return None;
    }
    let (mut read, mut written) = ([0; LANES], [0; LANES]);
    for op in bodies.iter().flat_map(|body| &body.ops) {
        match *op {
            Op::Get(lane, reg) => read[usize::from(lane)] |= 1 << reg,
            Op::Set(lane, reg, _) => written[usize::from(lane)] |= 1 << reg,
            _ => {}
        }
    }
    let constant = std::array::from_fn(|lane| read[lane] & !written[lane]);
    let idle = facts.words() & !(read[VALUE] | written[VALUE]);
    let many = facts.words().count_ones() > HELD;
    let accesses = |op: &Op| matches!(op, Op::Bound(_) | Op::Load(..) | Op::Store(..));
    let memory = bodies.iter().any(|body| body.ops.iter().any(accesses));
    Some(LeafLoop { head, last, constant, memory, idle: if many { idle } else { 0 } })
}

impl UnitEmitter<'_, '_> {
    /// The loop that the block at an index belongs to, by its number.
    fn loop_of(&self, place: usize) -> Option<usize> {
        self.loops.iter().position(|l| l.contains(place))
    }

    /// The block to jump to from the current one to reach the block at an index: before a loop, the one that makes its copies.
    pub(super) fn way_to(&mut self, place: usize) -> Block {
        match self.loop_of(place) {
            Some(n) if self.current_loop != Some(n) => self.before_loop(n),
            _ => self.blocks[place],
        }
    }

    fn before_loop(&mut self, n: usize) -> Block {
        *self.before_loops[n].get_or_insert_with(|| self.b.create_block())
    }

    /// Prepares the values of the loop of the block at an index. If the block is its head, emits the block before it.
    pub(super) fn enter_loop(&mut self, place: usize) {
        let n = self.loop_of(place);
        match n {
            Some(n) if self.loops[n].head == place && !self.zeroed => self.begin_loop(n, place),
            Some(_) => {}
            None => self.copies = Copies::default(),
        }
        self.current_loop = n;
        self.dirty[VALUE] &= !n.map_or(0, |n| self.loops[n].idle);
    }

    /// Reads the registers again that the machine has kept during the loop, which the code leaves for a block of the unit.
    pub(super) fn leave_loop(&mut self, place: usize) {
        let Some(left) = self.current_loop.map(|n| &self.loops[n]).filter(|l| !l.contains(place)) else { return };
        let idle = left.idle;
        if idle == 0 {
            return;
        }
        let base = self.registers(VALUE);
        for reg in bits(idle) {
            if let Some(var) = self.vars[VALUE][usize::from(reg)] {
                let flags = self.flags(4);
                let value = self.b.ins().load(types::I64, flags, base, 8 * i32::from(reg));
                self.b.def_var(var, value);
            }
        }
    }

    fn begin_loop(&mut self, n: usize, place: usize) {
        self.current_loop = None;
        let before = self.before_loop(n);
        self.b.switch_to_block(before);
        self.copies = Copies::default();
        let idle = self.loops[n].idle;
        self.dirty = self.write_back_plan.dirty[place];
        let pending = self.pending(std::array::from_fn(|lane| if lane == VALUE { idle } else { 0 }));
        self.write_back(&pending);
        let mut copies = Copies::default();
        for lane in 0..LANES {
            for reg in bits(self.loops[n].constant[lane]) {
                if self.register_type(lane, reg) == types::I64 {
                    let value = self.register(lane, reg);
                    let value = self.word_of(value);
                    copies.registers[lane][usize::from(reg)] = Some(self.copy(value));
                }
            }
        }
        if let (true, Some(mem)) = (self.loops[n].memory, self.mem[VALUE]) {
            copies.mem = Some(self.copy(mem));
            copies.len = Some(self.copy(self.len));
        }
        self.copies = copies;
        self.now = [[None; Reg::COUNT]; LANES];
        self.b.ins().jump(self.blocks[place], &[]);
    }

    /// The same value, with a life of its own. Cranelift does not see that it is the same.
    fn copy(&mut self, value: Value) -> Value {
        if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            return value;
        }
        let zero = self.word(0);
        self.b.ins().sadd_overflow(value, zero).0
    }
}

/// The copies that the current loop uses.
#[derive(Default)]
pub(super) struct Copies {
    pub(super) registers: [[Option<Value>; Reg::COUNT]; LANES],
    pub(super) mem: Option<Value>,
    pub(super) len: Option<Value>,
}

impl Copies {
    pub(super) fn register(&self, lane: usize, reg: u8) -> Option<View> {
        self.registers[lane][usize::from(reg)].map(|value| View::of(types::I64, value))
    }
}
