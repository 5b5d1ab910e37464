//! Exits of a block: into other blocks, calls, returns and side exits.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::{CondCode as _, IntCC};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, InstructionData, Value, types};
use pendula_isa::adjoint::{LANES, VALUE};
use pendula_isa::types::Reg;

use super::super::frame::{Frame, SideExit};
use super::super::job::tail;
use super::super::plan::{EdgeKind, NONE};
use super::emit::UnitEmitter;
use super::values::View;
use crate::decode::Exit;
use pendula_codegen::lift::bits;
use pendula_codegen::ops::{Body, Test};

const SP: u8 = Reg::SP.number();

/// A side exit block to be emitted later, with the registers to write back and their values at the exit.
pub(super) struct Stub {
    block: Block,
    place: usize,
    pending: Vec<(usize, u8, View)>,
    kind: EdgeKind,
    /// The status of the exit; `None` for the status in `called`.
    at: Option<SideExit>,
    called: Option<Value>,
}

impl UnitEmitter<'_, '_> {
    /// Emits a side exit in place, with the current registers.
    pub(super) fn depart(&mut self, at: SideExit, kind: EdgeKind) {
        let pending = self.pending([u32::MAX; LANES]);
        self.write_back(&pending);
        self.count(self.place, kind);
        let status = self.word(at.status());
        self.b.ins().jump(self.last, &[BlockArg::Value(status)]);
    }

    /// The side exit block before the current instruction.
    pub(super) fn side_exit_block(&mut self) -> Block {
        if let Some(block) = self.side_exit {
            return block;
        }
        if self.eager {
            self.sync();
        }
        let at = SideExit::At { block: self.job.unit.blocks[self.place], k: self.k };
        let block = self.stub(EdgeKind::Partial, Some(at), None);
        self.side_exit = Some(block);
        block
    }

    /// Writes back all registers that the machine does not hold.
    pub(super) fn sync(&mut self) {
        let pending = self.pending([u32::MAX; LANES]);
        self.write_back(&pending);
        self.dirty = [0; LANES];
    }

    /// A side exit block with the current registers.
    pub(super) fn stub(&mut self, kind: EdgeKind, at: Option<SideExit>, called: Option<Value>) -> Block {
        let pending = self.pending([u32::MAX; LANES]);
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        self.stubs.push(Stub { block, place: self.place, pending, kind, at, called });
        block
    }

    /// Emits the side exit blocks.
    pub(super) fn write_stubs(&mut self) {
        for stub in std::mem::take(&mut self.stubs) {
            self.b.switch_to_block(stub.block);
            self.b.seal_block(stub.block);
            self.write_back(&stub.pending);
            if stub.kind != EdgeKind::Partial {
                self.count(stub.place, stub.kind);
            }
            let status = match (stub.at, stub.called) {
                (Some(at), _) => self.word(at.status()),
                (None, Some(called)) => called,
                (None, None) => self.word(0),
            };
            self.b.ins().jump(self.last, &[BlockArg::Value(status)]);
        }
    }

    /// Goes to the first block if the condition holds, else to the second, which is less likely.
    ///
    /// Of two successors Cranelift puts the one that is named last right behind the block, and it visits that one first. Loops are to be
    /// in one piece then: otherwise the register allocator takes what follows a loop for a part of it, and invariant
    /// values are not moved out of it.
    pub(super) fn likely(&mut self, condition: Value, then: Block, other: Block) {
        match self.inverted(condition) {
            Some(inverted) => self.b.ins().brif(inverted, other, &[], then, &[]),
            None => self.b.ins().brif(condition, then, &[], other, &[]),
        };
    }

    /// A value that is true if the condition is not; `None` if that would cost an operation.
    fn inverted(&mut self, condition: Value) -> Option<Value> {
        if self.b.func.dfg.value_type(condition) == types::I64 {
            return Some(self.b.ins().icmp_imm_s(IntCC::Equal, condition, 0));
        }
        let inst = self.b.func.dfg.value_def(condition).inst()?;
        match self.b.func.dfg.insts[inst] {
            InstructionData::IntCompare { args: [a, b], cond, .. } => Some(self.b.ins().icmp(cond.complement(), a, b)),
            _ => None,
        }
    }

    /// Takes a side exit unless the condition holds.
    pub(super) fn need(&mut self, condition: Value) {
        let side_exit_block = self.side_exit_block();
        let on = self.b.create_block();
        self.likely(condition, on, side_exit_block);
        self.b.switch_to_block(on);
        self.b.seal_block(on);
    }

    /// Takes a side exit if the condition holds.
    pub(super) fn refuse(&mut self, condition: Value) {
        let side_exit_block = self.side_exit_block();
        let on = self.b.create_block();
        self.b.ins().brif(condition, side_exit_block, &[], on, &[]);
        self.b.switch_to_block(on);
        self.b.seal_block(on);
    }

    /// Takes a side exit if the word is not zero, unless [`Frame::quiet`] says that the overflow needs none.
    pub(super) fn leave_on_overflow(&mut self, condition: Value) {
        let side_exit_block = self.side_exit_block();
        let (slow, on) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(condition, slow, &[], on, &[]);
        self.b.set_cold_block(slow);
        self.b.switch_to_block(slow);
        self.b.seal_block(slow);
        let quiet = self.field(offset_of!(Frame, quiet));
        self.b.ins().brif(quiet, on, &[], side_exit_block, &[]);
        self.b.switch_to_block(on);
        self.b.seal_block(on);
    }

    pub(super) fn exit(&mut self, body: &Body) {
        let code = *self.code();
        // A block without a control instruction at its end has run completely when the next half jump refuses entry.
        let tail = tail(&code);
        if tail != self.k {
            (self.k, self.side_exit) = (tail, None);
        }
        if self.eager {
            // For all exits.
            self.sync();
        }
        match code.exit {
            Exit::Branch(branch) => {
                let Some(b) = body.branch else { return };
                self.define();
                match b.test {
                    Test::Always => self.taken(body, b.confirm, branch.to),
                    Test::Never => self.fall(body, b.unless, branch.fall.block),
                    Test::If(part, v) => {
                        self.part(body, &part);
                        let c = self.truth(v);
                        let (taken, fall) = (self.b.create_block(), self.b.create_block());
                        if self.job.unit.place(branch.to).is_some_and(|to| to <= self.place) {
                            self.likely(c, taken, fall);
                        } else {
                            self.b.ins().brif(c, taken, &[], fall, &[]);
                        }
                        self.b.seal_block(taken);
                        self.b.seal_block(fall);
                        self.b.switch_to_block(taken);
                        self.inside.push(Vec::new());
                        self.taken(body, b.confirm, branch.to);
                        self.forget();
                        self.b.switch_to_block(fall);
                        self.fall(body, b.unless, branch.fall.block);
                    }
                }
            }
            Exit::Fall(to) => {
                self.define();
                self.go(EdgeKind::Fall, to);
            }
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

    pub(super) fn exit_here(&mut self) {
        let side_exit_block = self.side_exit_block();
        self.b.ins().jump(side_exit_block, &[]);
    }

    pub(super) fn taken(&mut self, body: &Body, confirm: Test, to: u32) {
        match confirm {
            Test::Always => {}
            Test::Never => return self.exit_here(),
            Test::If(part, v) => {
                self.part(body, &part);
                let c = self.truth(v);
                self.need(c);
            }
        }
        self.go(EdgeKind::Taken, to);
    }

    pub(super) fn fall(&mut self, body: &Body, unless: Test, to: u32) {
        match unless {
            Test::Never => {}
            Test::Always => return self.exit_here(),
            Test::If(part, v) => {
                self.part(body, &part);
                let c = self.truth(v);
                self.refuse(c);
            }
        }
        self.go(EdgeKind::Fall, to);
    }

    /// Continues in a block of this unit or another. The variables must have been defined.
    pub(super) fn go(&mut self, kind: EdgeKind, to: u32) {
        match self.job.unit.place(to) {
            Some(place) => {
                self.count(self.place, kind);
                self.leave_loop(place);
                match &self.job.zeroed[place] {
                    Some(zeroed) if place == self.place => self.next_turn(place, zeroed.registers),
                    _ => {
                        let to = self.way_to(place);
                        self.b.ins().jump(to, &[]);
                    }
                }
            }
            None => self.depart(SideExit::Before(to), kind),
        }
    }

    /// Continues in the same block, in the body that takes registers to be zero if they are.
    fn next_turn(&mut self, place: usize, registers: u32) {
        let zeroed = self.code_of(place, true);
        if self.zeroed {
            self.b.ins().jump(zeroed, &[]);
            return;
        }
        let mut all = None;
        for reg in bits(registers) {
            let view = self.register(VALUE, reg);
            let word = self.word_of(view);
            all = Some(match all {
                None => word,
                Some(all) => self.b.ins().bor(all, word),
            });
        }
        let any = all.unwrap_or(self.frame);
        self.b.ins().brif(any, self.blocks[place], &[], zeroed, &[]);
    }

    pub(super) fn call(&mut self, body: &Body, to: u32, link: u64) {
        let sp = self.register(VALUE, SP);
        let sp = self.word_of(sp);
        let here = self.b.ins().get_stack_pointer(types::I64);
        let limit = self.constant_field(offset_of!(Frame, stack));
        let room = self.b.ins().icmp(IntCC::UnsignedGreaterThan, here, limit);
        self.need(room);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, sp, self.len);
        self.need(inside);
        let bytes = self.b.ins().ishl_imm_s(sp, 3);
        let address = self.b.ins().iadd(self.mem[VALUE].unwrap_or(self.frame), bytes);
        let flags = self.flags(VALUE);
        let old = self.b.ins().load(types::I64, flags, address, 0);
        self.refuse(old);
        let link = self.word(link);
        self.b.ins().store(flags, link, address, 0);
        let up = self.b.ins().iadd_imm_s(sp, 1);
        self.set_register(VALUE, SP, View::of(types::I64, up));
        // The callee finds the registers that it touches in the machine; the others are written back only if it does not return.
        let touched = self.facts.touched(self.job, to);
        let pending = self.pending(touched);
        self.write_back(&pending);
        for (dirty, set) in self.dirty.iter_mut().zip(touched) {
            *dirty &= !set;
        }
        let unit = self.job.plan.unit_of[to as usize];
        if unit == NONE || self.job.plan.entry_of[to as usize] != 0 {
            return self.depart(SideExit::Before(to), EdgeKind::Unreturned);
        }
        let table = self.constant_field(offset_of!(Frame, table));
        let flags = self.flags(4);
        let callee = self.b.ins().load(types::I64, flags, table, 8 * unit as i32);
        let none = self.stub(EdgeKind::Unreturned, Some(SideExit::Before(to)), None);
        let on = self.b.create_block();
        self.b.ins().brif(callee, on, &[], none, &[]);
        self.b.switch_to_block(on);
        self.b.seal_block(on);
        let signature = match self.call {
            Some(signature) => signature,
            None => {
                let signature = self.signature(3);
                *self.call.insert(signature)
            }
        };
        let zero = self.word(0);
        let call = self.b.ins().call_indirect(signature, callee, &[self.frame, zero, link]);
        let status = self.b.inst_results(call)[0];
        let lost = self.stub(EdgeKind::Unreturned, None, Some(status));
        let on = self.b.create_block();
        self.b.ins().brif(status, lost, &[], on, &[]);
        self.b.switch_to_block(on);
        self.b.seal_block(on);
        for (lane, touched) in touched.into_iter().enumerate() {
            let set = touched & self.facts.used[lane];
            if set == 0 {
                continue;
            }
            let base = self.registers(lane);
            for reg in bits(set) {
                let ty = self.register_type(lane, reg);
                let flags = self.flags(4);
                let value = self.b.ins().load(ty, flags, base, 8 * i32::from(reg));
                self.now[lane][usize::from(reg)] = Some(View::of(ty, value));
                self.changed[lane] |= 1 << reg;
            }
        }
        // If the next block refuses entry, the call has been made completely.
        (self.k, self.side_exit) = (self.code().len, None);
        let block = self.job.unit.blocks[self.place];
        let at = self.job.decoded.address(block, self.code().len - 1);
        let Some(site) = &self.job.decoded.calls[at as usize] else { return self.exit_here() };
        let after = site.after[usize::from(!self.job.decoded.is_forward(block))].block;
        self.define();
        self.fall(body, body.branch.map_or(Test::Never, |b| b.unless), after);
    }

    pub(super) fn returns(&mut self) {
        let sp = self.register(VALUE, SP);
        let sp = self.word_of(sp);
        let down = self.b.ins().iadd_imm_s(sp, -1);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, down, self.len);
        self.need(inside);
        let bytes = self.b.ins().ishl_imm_s(down, 3);
        let address = self.b.ins().iadd(self.mem[VALUE].unwrap_or(self.frame), bytes);
        let flags = self.flags(VALUE);
        let link = self.b.ins().load(types::I64, flags, address, 0);
        let same = self.b.ins().icmp(IntCC::Equal, link, self.link);
        self.need(same);
        // 0 is not a link; it means that there is no caller to return to.
        self.need(link);
        let zero = self.word(0);
        self.b.ins().store(flags, zero, address, 0);
        self.set_register(VALUE, SP, View::of(types::I64, down));
        let pending = self.pending([u32::MAX; LANES]);
        self.write_back(&pending);
        self.count(self.place, EdgeKind::Return);
        self.b.ins().return_(&[zero]);
    }
}
