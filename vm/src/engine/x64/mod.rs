//! Drafts: a unit's code for x86-64 in one pass over its operations, quickly made
//! and not very quick. Units that turn out to run long are compiled again, by
//! [`super::clif`].
//!
//! Drafts keep to the machine's state more closely than compiled code: between
//! instructions, all registers are in the machine. Within a block, values stay in
//! the host's registers as long as there is room ([`values`]). Nothing is reordered
//! or taken together. The functions are those of [`super::clif`], so that either
//! can call the other.
//!
//! The heads of loops, and the beginnings of procedures, count down how often a
//! unit may still go round as a draft; where that is used up, it leaves.

mod asm;
mod conditions;
mod edges;
mod ops;
mod registers;
mod values;

use std::mem::offset_of;

use pendula_codegen::ops::{Op, Part};
use pendula_isa::adjoint::VALUE;

use super::frame::{Frame, SideExit};
use super::job::Job;
use super::plan::EdgeKind;
use crate::decode::Code;
use asm::{Asm, Flag, Gpr, Label, Mem};
use values::{SCRATCH, SLOTS, Values};

/// What is the same all the time: the frame, the registers of the machine and of the first lane in use, memory, how long it is, counters.
const FRAME: Gpr = Gpr::RBX;
const REGISTERS: Gpr = Gpr::RBP;
const LANE: Gpr = Gpr::R15;
const MEMORY: Gpr = Gpr::R12;
const LENGTH: Gpr = Gpr::R13;
const COUNTERS: Gpr = Gpr::R14;

const SAVED: [Gpr; 6] = [FRAME, REGISTERS, LANE, MEMORY, LENGTH, COUNTERS];

/// The slot of the link that the return is to find.
const LINK: Mem = Mem::at(Gpr::RSP, 0);

/// Code that is seldom run, written behind the rest.
enum Cold {
    /// Leaves.
    SideExit { label: Label, status: u64 },
    /// Asks whether a number that has wrapped is nothing to stop for.
    Wrapped { label: Label, back: Label, side_exit: Label },
    /// A call has been made; what was called does not return here. The status is given or in `rax`.
    Unreturned { label: Label, place: usize, status: Option<u64> },
}

struct Baseline<'a> {
    job: &'a Job<'a>,
    asm: Asm,
    blocks: Vec<Label>,
    last: Label,
    place: usize,
    /// Instructions of the block that have run, and where it leaves there.
    k: u32,
    side_exit: Option<Label>,
    cold: Vec<Cold>,
    /// Where the other sides of the conditionals around begin.
    conditionals: Vec<Label>,
    values: Values,
}

/// The code of a unit; `None` where it would take too much of the stack.
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
    // As many words as leave the stack as calls want it.
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
    /// Sets up what is the same all the time, and goes to the entry. Gives the place of the constant that makes room on the stack.
    fn prologue(&mut self) -> usize {
        SAVED.iter().for_each(|r| self.asm.push(*r));
        // Too large for a short constant: how much room it takes is found out later.
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
            // The others are counted by who enters.
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

    /// Counts an edge, if it is counted.
    fn count(&mut self, place: usize, kind: EdgeKind) {
        if let Some(n) = self.job.unit.counter(place, kind) {
            self.asm.step(Mem::at(COUNTERS, 8 * n), 0);
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
            // Who runs the code gives back what was taken where it leaves.
            let len = self.code().len as i32;
            self.asm.alu_constant(asm::Alu::Sub, field(offset_of!(Frame, budget)), len);
            self.exit_if(Flag::Below);
        }
        if job.unit.heads[place] {
            self.asm.mov(SCRATCH, field(offset_of!(Frame, heat)));
            self.asm.step(Mem::at(SCRATCH, 8 * job.number), 1);
            self.exit_if(Flag::Sign);
        }
        for part in &body.parts {
            self.part(part);
        }
        self.exit(body);
    }

    fn part(&mut self, part: &Part) {
        let body = &self.job.bodies[self.place];
        if part.k != self.k {
            (self.k, self.side_exit) = (part.k, None);
        }
        for n in part.range() {
            let op = &body.ops[n];
            let v = pendula_codegen::ops::V(n as u32);
            if !(op.is_idle() && self.values.left(v) == 0 || matches!(op, Op::Phi(..))) {
                self.op(v, op);
                self.unpin();
            }
        }
    }

    /// Where it leaves before the present instruction.
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
