//! Emits the function of a unit: prologue, blocks and pending checks.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    AliasRegion, AliasRegionData, Block, BlockCall, Function, InstBuilder, JumpTableData, MemFlagsData, SigRef, Type,
    Value, types,
};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use pendula_isa::adjoint::{LANES, VALUE};
use pendula_isa::types::Reg;

use super::super::frame::Frame;
use super::super::job::{Facts, Job};
use super::super::plan::EdgeKind;
use super::edges::Stub;
use super::leaf_loops::{self, Copies, LeafLoop};
use super::values::View;
use super::write_back_plan::WriteBackPlan;
use crate::decode::Code;
use pendula_codegen::lift::bits;
use pendula_codegen::ops::{Body, InstructionOps, Op, ValueId};

/// The number of registers of the machine with which the host has one left for the address of the counters.
const COUNTED: u32 = 10;

pub(super) struct UnitEmitter<'a, 'f> {
    pub(super) job: &'a Job<'a>,
    pub(super) facts: &'a Facts,
    pub(super) write_back_plan: &'a WriteBackPlan,
    pub(super) b: FunctionBuilder<'f>,
    pub(super) vars: [[Option<Variable>; Reg::COUNT]; LANES],
    pub(super) blocks: Vec<Block>,
    /// The common exit block. It returns the status.
    pub(super) last: Block,
    pub(super) frame: Value,
    pub(super) link: Value,
    /// The base addresses of the memory and of its lanes.
    pub(super) mem: [Option<Value>; LANES],
    pub(super) len: Value,
    pub(super) counters: Value,
    pub(super) regions: [AliasRegion; 6],
    pub(super) kernels: [Option<SigRef>; 5],
    pub(super) call: Option<SigRef>,
    pub(super) interpret: Option<SigRef>,
    pub(super) loops: Vec<LeafLoop>,
    /// For each loop, the block before it, which makes its copies. All edges from outside lead there.
    pub(super) before_loops: Vec<Option<Block>>,
    /// The number of the loop of the current block, and its copies.
    pub(super) current_loop: Option<usize>,
    pub(super) copies: Copies,

    /// For each block with a body that takes registers to be zero, the code of that.
    pub(super) zeroed_blocks: Vec<Option<Block>>,

    // State of the current block.
    pub(super) place: usize,
    /// Whether the body is the one that takes registers to be zero.
    pub(super) zeroed: bool,
    pub(super) views: Vec<View>,
    /// The current values of registers that the block has read or written.
    pub(super) now: [[Option<View>; Reg::COUNT]; LANES],
    pub(super) changed: [u32; LANES],
    /// Registers whose current values are not in the machine.
    pub(super) dirty: [u32; LANES],
    /// The number of instructions of the block that have run, and the side exit block there.
    pub(super) k: u32,
    pub(super) side_exit: Option<Block>,
    /// Whether the block writes registers back before a possible side exit, rather than in the exit.
    pub(super) eager: bool,
    pub(super) stubs: Vec<Stub>,
    /// Pending checks: doubles that must be finite, and words that are not zero if a fixed-point number has wrapped.
    pub(super) finite: Vec<ValueId>,
    pub(super) wrapped: Vec<Value>,
    /// The operations that have been emitted.
    pub(super) written: Vec<bool>,
    /// For each enclosing conditional: the values that got new forms on the current side, with their views before.
    pub(super) inside: Vec<Vec<(ValueId, View)>>,
    /// For each enclosing conditional: the block of its other side, and the join block.
    pub(super) other: Vec<(Block, Block)>,
}

/// Emits a unit's function.
pub(super) fn unit(
    job: &Job<'_>,
    func: &mut Function,
    context: &mut FunctionBuilderContext,
    config: TargetFrontendConfig,
) {
    let region = |func: &mut Function, n: u32, name: &'static str| {
        func.dfg.alias_regions.insert(AliasRegionData { user_id: n, description: name.into() })
    };
    let regions = ["memory", "lane 1", "lane 2", "lane 3", "frame", "counters"];
    let regions: [AliasRegion; 6] = std::array::from_fn(|n| region(func, n as u32, regions[n]));
    let mut b = FunctionBuilder::new(func, context);
    let start = b.create_block();
    b.append_block_params_for_function_params(start);
    b.switch_to_block(start);
    b.seal_block(start);
    let [frame, entry, link] = [0, 1, 2].map(|n| b.block_params(start)[n]);
    let blocks = job.unit.blocks.iter().map(|_| b.create_block()).collect();
    let last = b.create_block();
    let facts = Facts::new(job);
    let write_back_plan = WriteBackPlan::new(job, &facts);
    let loops = leaf_loops::find(job, &facts);
    let mut e = UnitEmitter {
        job,
        facts: &facts,
        write_back_plan: &write_back_plan,
        b,
        vars: [[None; Reg::COUNT]; LANES],
        blocks,
        frame,
        link,
        mem: [None; LANES],
        finite: Vec::new(),
        wrapped: Vec::new(),
        written: Vec::new(),
        len: frame,
        counters: frame,
        regions,
        kernels: [None; 5],
        call: None,
        interpret: None,
        before_loops: vec![None; loops.len()],
        loops,
        current_loop: None,
        copies: Copies::default(),
        zeroed_blocks: vec![None; job.unit.blocks.len()],
        place: 0,
        zeroed: false,
        views: Vec::new(),
        now: [[None; Reg::COUNT]; LANES],
        changed: [0; LANES],
        dirty: [0; LANES],
        k: 0,
        side_exit: None,
        eager: false,
        last,
        stubs: Vec::new(),
        inside: Vec::new(),
        other: Vec::new(),
    };
    e.prologue(entry);
    for place in 0..job.unit.blocks.len() {
        e.block(place, false);
        if job.zeroed[place].is_some() {
            e.block(place, true);
        }
    }
    let status = e.b.append_block_param(last, types::I64);
    e.b.set_cold_block(last);
    e.b.switch_to_block(last);
    e.b.ins().return_(&[status]);
    e.b.seal_all_blocks();
    e.b.finalize(config);
}

impl UnitEmitter<'_, '_> {
    pub(super) fn flags(&self, region: usize) -> MemFlagsData {
        MemFlagsData::trusted().with_alias_region(Some(self.regions[region]))
    }

    pub(super) fn word(&mut self, k: u64) -> Value {
        self.b.ins().iconst(types::I64, k.cast_signed())
    }

    /// A field of the frame.
    pub(super) fn field(&mut self, offset: usize) -> Value {
        let flags = self.flags(4);
        self.b.ins().load(types::I64, flags, self.frame, offset as i32)
    }

    pub(super) fn constant_field(&mut self, offset: usize) -> Value {
        let flags = self.flags(4).with_readonly().with_can_move();
        self.b.ins().load(types::I64, flags, self.frame, offset as i32)
    }

    /// The base address of a lane's registers. With loops, which need the host's registers and seldom this address, it is loaded wherever
    /// it is used; without, it is one value.
    pub(super) fn registers(&mut self, lane: usize) -> Value {
        let offset = match lane {
            VALUE => offset_of!(Frame, regs),
            n => offset_of!(Frame, lane_regs) + 8 * (n - 1),
        };
        if self.loops.is_empty() { self.constant_field(offset) } else { self.field(offset) }
    }

    /// Loads invariant fields of the frame and the registers; jumps to the entry.
    pub(super) fn prologue(&mut self, entry: Value) {
        self.mem[VALUE] = Some(self.constant_field(offset_of!(Frame, mem)));
        self.len = self.constant_field(offset_of!(Frame, len));
        self.counters = self.constant_field(offset_of!(Frame, counters));
        for &lane in self.job.setting.ad_mode.lanes() {
            self.mem[lane] = Some(self.constant_field(offset_of!(Frame, lane_mem) + 8 * (lane - 1)));
        }
        for lane in 0..LANES {
            if self.facts.used[lane] == 0 {
                continue;
            }
            let base = self.registers(lane);
            for reg in bits(self.facts.used[lane]) {
                let ty = self.register_type(lane, reg);
                let var = self.b.declare_var(ty);
                self.vars[lane][usize::from(reg)] = Some(var);
                let flags = self.flags(4);
                let value = self.b.ins().load(ty, flags, base, 8 * i32::from(reg));
                self.b.def_var(var, value);
            }
        }
        let entries = &self.job.unit.entries;
        let entry_blocks: Vec<Block> = entries.iter().map(|_| self.b.create_block()).collect();
        if let [only] = entry_blocks[..] {
            self.b.ins().jump(only, &[]);
        } else {
            let table = self.b.create_block();
            // Calls enter at the first.
            self.b.ins().brif(entry, table, &[], entry_blocks[0], &[]);
            self.b.switch_to_block(table);
            self.b.seal_block(table);
            let mut calls: Vec<BlockCall> = Vec::new();
            for kind in &entry_blocks {
                calls.push(BlockCall::new(*kind, std::iter::empty(), &mut self.b.func.dfg.value_lists));
            }
            let data = JumpTableData::new(calls[0], &calls);
            let table = self.b.create_jump_table(data);
            let entry = self.b.ins().ireduce(types::I32, entry);
            self.b.ins().br_table(entry, table);
        }
        for (kind, &place) in entry_blocks.into_iter().zip(entries) {
            self.b.switch_to_block(kind);
            self.b.seal_block(kind);
            // The machine counts the other entries.
            if place == 0 {
                self.count(0, EdgeKind::Enter);
            }
            let to = self.way_to(place as usize);
            self.b.ins().jump(to, &[]);
        }
    }

    pub(super) fn register_type(&self, lane: usize, reg: u8) -> Type {
        if self.facts.doubles[lane] >> reg & 1 == 1 { types::F64 } else { types::I64 }
    }

    /// Increments the counter of an edge, if it has one.
    pub(super) fn count(&mut self, place: usize, kind: EdgeKind) {
        let Some(n) = self.job.unit.counter(place, kind) else { return };
        // Cranelift moves the load of a value that stays the same out of loops. With many registers none of the host's is left for it.
        let many = self.facts.words().count_ones() > COUNTED;
        let counters = if many { self.field(offset_of!(Frame, counters)) } else { self.counters };
        let flags = self.flags(5);
        let old = self.b.ins().load(types::I64, flags, counters, 8 * n as i32);
        let new = self.b.ins().iadd_imm_s(old, 1);
        self.b.ins().store(flags, new, counters, 8 * n as i32);
    }

    /// The base address of the memory or of a lane of it.
    pub(super) fn memory(&self, lane: usize) -> Value {
        let copy = if lane == VALUE { self.copies.mem } else { None };
        copy.or(self.mem[lane]).unwrap_or(self.frame)
    }

    /// The number of words of memory.
    pub(super) fn length(&self) -> Value {
        self.copies.len.unwrap_or(self.len)
    }

    pub(super) fn code(&self) -> &Code {
        &self.job.decoded.code[self.job.unit.blocks[self.place] as usize]
    }

    /// The block with the code of a block's body, or of its body that takes registers to be zero.
    pub(super) fn code_of(&mut self, place: usize, zeroed: bool) -> Block {
        if zeroed {
            *self.zeroed_blocks[place].get_or_insert_with(|| self.b.create_block())
        } else {
            self.blocks[place]
        }
    }

    pub(super) fn block(&mut self, place: usize, zeroed: bool) {
        self.zeroed = zeroed;
        self.place = place;
        let body = self.body();
        self.views.clear();
        self.views.resize(body.ops.len(), View::default());
        self.written.clear();
        self.written.resize(body.ops.len(), false);
        self.now = [[None; Reg::COUNT]; LANES];
        self.changed = [0; LANES];
        self.dirty = self.write_back_plan.dirty[place];
        self.enter_loop(place);
        let code = self.code_of(place, zeroed);
        self.b.switch_to_block(code);
        (self.k, self.side_exit) = (0, None);
        self.eager = self.write_back_plan.eager[place];
        if self.job.metered {
            self.meter();
        }
        self.hoist(body);
        for part in &body.parts {
            self.part(body, part);
        }
        self.exit(body);
        self.write_stubs();
    }

    /// Subtracts the block's instructions from the budget; takes a side exit if the budget does not suffice. The machine then adds them
    /// again.
    pub(super) fn meter(&mut self) {
        let len = u64::from(self.code().len);
        let budget = self.field(offset_of!(Frame, budget));
        let left = self.b.ins().iadd_imm_s(budget, -len.cast_signed());
        let flags = self.flags(4);
        self.b.ins().store(flags, left, self.frame, offset_of!(Frame, budget) as i32);
        let enough = match self.job.stops_before(self.place) {
            true => self.b.ins().iconst(types::I8, 0),
            false => self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, budget, len.cast_signed()),
        };
        self.need(enough);
    }

    pub(super) fn part(&mut self, body: &Body, part: &InstructionOps) {
        if part.k != self.k {
            (self.k, self.side_exit) = (part.k, None);
        }
        if body.ops[part.range()].iter().any(Op::may_exit) {
            // The exit must have the registers before the part.
            let _ = self.side_exit_block();
        }
        part.range().for_each(|n| self.op(n));
        self.check();
    }

    /// Emits the pending checks.
    pub(super) fn check(&mut self) {
        let mut all = None;
        for v in std::mem::take(&mut self.finite) {
            let a = self.double(v);
            let size = self.b.ins().fabs(a);
            let infinity = self.b.ins().f64const(f64::INFINITY);
            let finite = self.b.ins().fcmp(FloatCC::LessThan, size, infinity);
            all = Some(match all {
                None => finite,
                Some(all) => self.b.ins().band(all, finite),
            });
        }
        if let Some(all) = all {
            self.need(all);
        }
        for wrapped in std::mem::take(&mut self.wrapped) {
            self.leave_on_overflow(wrapped);
        }
    }
}
