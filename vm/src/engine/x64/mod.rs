//! The baseline compiler: generates x86-64 code of moderate speed in one pass over a unit's operations. Units that run long are
//! compiled again by [`super::clif`].
//!
//! Baseline code stays closer to the machine's state than optimized code: between instructions, all registers are in the machine. Within
//! a block, values stay in the host's registers as long as there is room ([`values`]). Nothing is reordered or merged. The functions have
//! the interface of those of [`super::clif`], so that either can call the other.
//!
//! Loop heads and procedure entries count down how often the unit may still run as baseline code, and take a side exit at the end.

mod asm;
mod conditions;
mod edges;
mod ops;
mod registers;
mod values;

use std::mem::offset_of;

use pendula_codegen::emit::emit;
use pendula_codegen::ops::{InstructionOps, Op};
use pendula_isa::adjoint::VALUE;

use super::frame::{Frame, SideExit};
use super::job::Job;
use super::plan::EdgeKind;
use crate::decode::Code;
use asm::{Asm, Flag, Gpr, Label, Mem};
use values::{SCRATCH, SLOTS, Values};

/// Registers with invariant contents: the frame, the registers of the machine and of the first lane in use, the memory and its length,
/// and the counters.
const FRAME: Gpr = Gpr::RBX;
const REGISTERS: Gpr = Gpr::RBP;
const LANE: Gpr = Gpr::R15;
const MEMORY: Gpr = Gpr::R12;
const LENGTH: Gpr = Gpr::R13;
const COUNTERS: Gpr = Gpr::R14;

const SAVED: [Gpr; 6] = [FRAME, REGISTERS, LANE, MEMORY, LENGTH, COUNTERS];

/// The slot of the link that the return must find.
const LINK: Mem = Mem::at(Gpr::RSP, 0);

/// Rarely executed code, emitted after the rest.
enum Cold {
    /// A side exit.
    SideExit { label: Label, status: u64 },
    /// Checks whether overflow needs a side exit.
    Wrapped { label: Label, back: Label, side_exit: Label },
    /// The callee does not return here. The status is given or in `rax`.
    Unreturned { label: Label, place: usize, status: Option<u64> },
}

struct Baseline<'a> {
    job: &'a Job<'a>,
    asm: Asm,
    blocks: Vec<Label>,
    last: Label,
    place: usize,
    /// The number of instructions of the block that have run, and the side exit there.
    k: u32,
    side_exit: Option<Label>,
    cold: Vec<Cold>,
    /// The labels of the other sides of the enclosing conditionals.
    conditionals: Vec<Label>,
    values: Values,
}

/// The code of a unit; `None` if it would need too much stack.
pub(super) fn unit(job: &Job<'_>) -> Option<Vec<u8>> {
    let mut asm = Asm::default();
    let blocks = job.unit.blocks.iter().map(|_| asm.label()).collect();
    let last = asm.label();
    let mut d = Baseline {
        job,
        asm,
        blocks,
        last,
        place: 0,
        k: 0,
        side_exit: None,
        cold: Vec::new(),
        conditionals: Vec::new(),
        values: Values::default(),
    };
    let room = d.prologue();
    for place in 0..job.unit.blocks.len() {
        d.block(place);
    }
    for cold in std::mem::take(&mut d.cold) {
        d.cold_code(&cold);
    }
    if d.values.slots > SLOTS {
        return None;
    }
    d.asm.bind(last);
    // The number of words keeps the stack aligned for calls.
    let words = (usize::from(d.values.slots) + 1) | 1;
    let bytes = 8 * words as i32;
    d.asm.lea(Gpr::RSP, Mem { base: Gpr::RSP, index: None, offset: bytes });
    SAVED.iter().rev().for_each(|r| d.asm.pop(*r));
    d.asm.ret();
    let mut code = d.asm.finish();
    code[room..room + 4].copy_from_slice(&bytes.to_le_bytes());
    Some(code)
}

/// A field of the frame.
fn field(offset: usize) -> Mem {
    Mem::at(FRAME, offset)
}

impl Baseline<'_> {
    /// Loads the invariant registers and jumps to the entry. Returns the position of the constant that reserves stack space.
    fn prologue(&mut self) -> usize {
        SAVED.iter().for_each(|r| self.asm.push(*r));
        // The size is patched later, so the constant must not have a short encoding.
        self.asm.alu_constant(asm::Alu::Sub, Gpr::RSP, i32::MAX);
        let room = self.asm.code.len() - 4;
        self.asm.mov(FRAME, Gpr::RDI);
        self.asm.store(LINK, Gpr::RDX);
        self.asm.mov(REGISTERS, field(offset_of!(Frame, regs)));
        self.asm.mov(MEMORY, field(offset_of!(Frame, mem)));
        self.asm.mov(LENGTH, field(offset_of!(Frame, len)));
        self.asm.mov(COUNTERS, field(offset_of!(Frame, counters)));
        if let Some(lane) = self.job.setting.ad_mode.lanes().first() {
            self.asm.mov(LANE, field(offset_of!(Frame, lane_regs) + 8 * (lane - 1)));
        }
        let entries = &self.job.unit.entries;
        let entry_labels: Vec<Label> = entries.iter().map(|_| self.asm.label()).collect();
        if entry_labels.len() > 1 {
            let table = self.asm.label();
            self.asm.address(SCRATCH, table);
            self.asm.entry_of_table(Gpr::RAX, SCRATCH, Gpr::RSI);
            self.asm.alu(asm::Alu::Add, SCRATCH, Gpr::RAX);
            self.asm.jump_to(SCRATCH);
            self.asm.table(table, &entry_labels);
        }
        for (kind, &place) in entry_labels.into_iter().zip(entries) {
            self.asm.bind(kind);
            // The machine counts the other entries.
            if place == 0 {
                self.count(0, EdgeKind::Enter);
            }
            self.asm.jump(self.blocks[place as usize]);
        }
        room
    }

    /// The register that points to a lane's registers.
    fn registers(&mut self, lane: usize) -> Gpr {
        if lane == VALUE {
            return REGISTERS;
        }
        if self.job.setting.ad_mode.lanes().first() == Some(&lane) {
            return LANE;
        }
        self.asm.mov(SCRATCH, field(offset_of!(Frame, lane_regs) + 8 * (lane - 1)));
        SCRATCH
    }

    /// The register that points to a lane's memory.
    fn memory(&mut self, lane: usize) -> Gpr {
        if lane == VALUE {
            return MEMORY;
        }
        self.asm.mov(SCRATCH, field(offset_of!(Frame, lane_mem) + 8 * (lane - 1)));
        SCRATCH
    }

    /// Increments the counter of an edge, if it has one.
    fn count(&mut self, place: usize, kind: EdgeKind) {
        if let Some(n) = self.job.unit.counter(place, kind) {
            self.asm.alu_constant(asm::Alu::Add, Mem::at(COUNTERS, 8 * n), 1);
        }
    }

    fn code(&self) -> &Code {
        &self.job.decoded.code[self.job.unit.blocks[self.place] as usize]
    }

    fn block(&mut self, place: usize) {
        let job = self.job;
        let body = &job.bodies[place];
        self.place = place;
        self.values.begin(body);
        (self.k, self.side_exit) = (0, None);
        self.asm.bind(self.blocks[place]);
        if job.metered {
            // The machine adds the instructions again after a side exit.
            let len = self.code().len as i32;
            self.asm.alu_constant(asm::Alu::Sub, field(offset_of!(Frame, budget)), len);
            self.exit_if(Flag::Below);
            if job.stops_before(place) {
                let side_exit_label = self.side_exit_label();
                self.asm.jump(side_exit_label);
            }
        }
        if job.unit.heads[place] {
            self.asm.mov(SCRATCH, field(offset_of!(Frame, heat)));
            self.asm.alu_constant(asm::Alu::Sub, Mem::at(SCRATCH, 8 * job.number), 1);
            self.exit_if(Flag::Sign);
        }
        for part in &body.parts {
            self.part(part);
        }
        self.exit(body);
    }

    fn part(&mut self, part: &InstructionOps) {
        let body = &self.job.bodies[self.place];
        if part.k != self.k {
            (self.k, self.side_exit) = (part.k, None);
        }
        for n in part.range() {
            let op = &body.ops[n];
            let v = pendula_codegen::ops::ValueId(n as u32);
            if !(op.is_idle() && self.values.uses_left(v) == 0 || matches!(op, Op::Phi(..))) {
                emit(self, v, *op);
                self.unpin();
            }
        }
    }

    /// The side exit before the current instruction.
    fn side_exit_label(&mut self) -> Label {
        match self.side_exit {
            Some(label) => label,
            None => {
                let at = SideExit::At { block: self.job.unit.blocks[self.place], k: self.k };
                let label = self.asm.label();
                self.cold.push(Cold::SideExit { label, status: at.status() });
                *self.side_exit.insert(label)
            }
        }
    }

    fn exit_if(&mut self, flag: Flag) {
        let side_exit_label = self.side_exit_label();
        self.asm.jump_if(flag, side_exit_label);
    }

    fn cold_code(&mut self, cold: &Cold) {
        match *cold {
            Cold::SideExit { label, status } => {
                self.asm.bind(label);
                self.asm.constant(Gpr::RAX, status);
                self.asm.jump(self.last);
            }
            Cold::Wrapped { label, back, side_exit } => {
                self.asm.bind(label);
                self.asm.alu_constant(asm::Alu::Cmp, field(offset_of!(Frame, quiet)), 0);
                self.asm.jump_if(Flag::NotEqual, back);
                self.asm.jump(side_exit);
            }
            Cold::Unreturned { label, place, status } => {
                self.asm.bind(label);
                self.count(place, EdgeKind::Unreturned);
                if let Some(status) = status {
                    self.asm.constant(Gpr::RAX, status);
                }
                self.asm.jump(self.last);
            }
        }
    }
}
