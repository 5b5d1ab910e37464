//! Exits of a block: into other blocks, calls, returns and side exits.

use std::mem::offset_of;

use pendula_codegen::ops::{Body, Test};
use pendula_isa::types::Reg;

use super::super::frame::{Frame, SideExit};
use super::super::job::tail;
use super::super::plan::{EdgeKind, NONE};
use super::asm::{Alu, Flag, Gpr, Mem};
use super::{Baseline, Cold, FRAME, LENGTH, LINK, MEMORY, REGISTERS, field};
use crate::decode::Exit;

/// The machine's stack pointer.
const STACK_POINTER: Mem = Mem::at(REGISTERS, 8 * Reg::SP.index());

impl Baseline<'_> {
    pub(super) fn exit(&mut self, body: &Body) {
        let code = *self.code();
        // A block without a control instruction at its end has run completely when the next half jump refuses entry.
        let tail = tail(&code);
        if tail != self.k {
            (self.k, self.side_exit) = (tail, None);
        }
        match code.exit {
            Exit::Branch(branch) => {
                let Some(b) = body.branch else { return self.exit_here() };
                match b.test {
                    Test::Always => self.taken(b.confirm, branch.to),
                    Test::Never => self.fall(b.unless, branch.fall.block),
                    Test::If(part, v) => {
                        self.part(&part);
                        let flag = self.condition(v);
                        // Both sides take their values from memory.
                        self.flush();
                        let fall = self.asm.label();
                        self.asm.jump_if(flag.not(), fall);
                        self.taken(b.confirm, branch.to);
                        self.forget();
                        self.asm.bind(fall);
                        self.fall(b.unless, branch.fall.block);
                    }
                }
            }
            Exit::Fall(to) => self.go(EdgeKind::Fall, to, true),
            Exit::Call { to, link, flip: _, lift: false } => self.call(body, to, link),
            Exit::Return { .. } => self.returns(),
            Exit::Call { .. }
            | Exit::CallRegister { .. }
            | Exit::Halt
            | Exit::PisaBranch(_)
            | Exit::End
            | Exit::Stop(_)
            | Exit::OffCode => self.exit_here(),
        }
    }

    fn exit_here(&mut self) {
        let side_exit_label = self.side_exit_label();
        self.asm.jump(side_exit_label);
    }

    /// Takes a side exit unless the condition is as wanted. Returns false if it always does.
    fn insist(&mut self, test: Test, wanted: bool) -> bool {
        match test {
            Test::Always | Test::Never if wanted == matches!(test, Test::Always) => {}
            Test::Always | Test::Never => {
                self.exit_here();
                return false;
            }
            Test::If(part, v) => {
                self.part(&part);
                let flag = self.condition(v);
                self.unpin();
                self.exit_if(if wanted { flag.not() } else { flag });
            }
        }
        true
    }

    fn taken(&mut self, confirm: Test, to: u32) {
        if self.insist(confirm, true) {
            self.go(EdgeKind::Taken, to, false);
        }
    }

    fn fall(&mut self, unless: Test, to: u32) {
        if self.insist(unless, false) {
            self.go(EdgeKind::Fall, to, true);
        }
    }

    /// Continues in a block of this unit or another; without a jump if it is the next block and this is the end of the code.
    fn go(&mut self, kind: EdgeKind, to: u32, at_end: bool) {
        match self.job.unit.place(to) {
            Some(place) => {
                self.count(self.place, kind);
                if !(at_end && place == self.place + 1) {
                    self.asm.jump(self.blocks[place]);
                }
            }
            None => self.depart(SideExit::Before(to), kind),
        }
    }

    fn depart(&mut self, at: SideExit, kind: EdgeKind) {
        self.count(self.place, kind);
        self.asm.constant(Gpr::RAX, at.status());
        self.asm.jump(self.last);
    }

    fn call(&mut self, body: &Body, to: u32, link: u64) {
        self.flush();
        let (sp, word) = (Gpr::RAX, Gpr::RDX);
        let top = Mem { base: MEMORY, index: Some(sp), offset: 0 };
        self.asm.alu(Alu::Cmp, Gpr::RSP, field(offset_of!(Frame, stack)));
        self.exit_if(Flag::BelowOrEqual);
        self.asm.mov(sp, STACK_POINTER);
        self.asm.alu(Alu::Cmp, sp, LENGTH);
        self.exit_if(Flag::AboveOrEqual);
        self.asm.alu_constant(Alu::Cmp, top, 0);
        self.exit_if(Flag::NotEqual);
        self.asm.constant(word, link);
        self.asm.store(top, word);
        self.asm.alu_constant(Alu::Add, STACK_POINTER, 1);
        let unit = self.job.plan.unit_of[to as usize];
        if unit == NONE || self.job.plan.entry_of[to as usize] != 0 {
            return self.depart(SideExit::Before(to), EdgeKind::Unreturned);
        }
        self.asm.mov(Gpr::RAX, field(offset_of!(Frame, table)));
        self.asm.mov(Gpr::RAX, Mem::at(Gpr::RAX, 8 * unit as usize));
        self.asm.test(Gpr::RAX);
        let (none, unreturned, place) = (self.asm.label(), self.asm.label(), self.place);
        self.cold.push(Cold::Unreturned { label: none, place, status: Some(SideExit::Before(to).status()) });
        self.cold.push(Cold::Unreturned { label: unreturned, place, status: None });
        self.asm.jump_if(Flag::Equal, none);
        self.asm.mov(Gpr::RDI, FRAME);
        self.asm.constant(Gpr::RSI, 0);
        self.asm.call(Gpr::RAX);
        self.asm.test(Gpr::RAX);
        self.asm.jump_if(Flag::NotEqual, unreturned);
        // If the next block refuses entry, the call has been made completely.
        (self.k, self.side_exit) = (self.code().len, None);
        let block = self.job.unit.blocks[self.place];
        let at = self.job.decoded.address(block, self.code().len - 1);
        let Some(site) = &self.job.decoded.calls[at as usize] else { return self.exit_here() };
        let after = site.after[usize::from(!self.job.decoded.is_forward(block))].block;
        // Registers may have changed in the call; the condition reads them again.
        self.fall(body.branch.map_or(Test::Never, |b| b.unless), after);
    }

    fn returns(&mut self) {
        let (sp, link) = (Gpr::RAX, Gpr::RDX);
        self.flush();
        let top = Mem { base: MEMORY, index: Some(sp), offset: 0 };
        self.asm.mov(sp, STACK_POINTER);
        self.asm.alu_constant(Alu::Sub, sp, 1);
        self.asm.alu(Alu::Cmp, sp, LENGTH);
        self.exit_if(Flag::AboveOrEqual);
        self.asm.mov(link, top);
        self.asm.alu(Alu::Cmp, link, LINK);
        self.exit_if(Flag::NotEqual);
        // 0 is not a link; it means that there is no caller to return to.
        self.asm.test(link);
        self.exit_if(Flag::Equal);
        self.asm.store_constant(top, 0);
        self.asm.store(STACK_POINTER, sp);
        self.count(self.place, EdgeKind::Return);
        self.asm.constant(Gpr::RAX, 0);
        self.asm.jump(self.last);
    }
}
