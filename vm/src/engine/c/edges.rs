//! Exits of a block: into other blocks, calls, returns and side exits.

use std::fmt::Write as _;

use pendula_codegen::c::expr::Kind;
use pendula_codegen::lift::bits;
use pendula_codegen::ops::{Body, Test};
use pendula_isa::adjoint::VALUE;
use pendula_isa::types::Reg;

use super::emit::UnitEmitter;
use crate::decode::Exit;
use crate::engine::job::tail;
use crate::engine::plan::{EdgeKind, NONE};

const SP: u8 = Reg::SP.number();

impl UnitEmitter<'_> {
    pub(super) fn exit(&mut self, body: &Body) {
        let code = *self.code();
        self.say(u32::MAX);
        // A block without a control instruction at its end has run completely when the next half jump refuses entry.
        self.k = tail(&code);
        if self.k < code.len && code.len > code.head {
            self.instruction(self.k);
        }
        match code.exit {
            Exit::Branch(branch) => {
                let Some(b) = body.branch else { return };
                match b.test {
                    Test::Always => self.taken(body, b.confirm, branch.to),
                    Test::Never => self.fall(body, b.unless, branch.fall.block),
                    Test::If(part, v) => {
                        self.part(body, &part);
                        let c = self.take(v, Kind::Truth);
                        self.name_before_sides();
                        self.open(format_args!("if ({})", c.text));
                        self.taken(body, b.confirm, branch.to);
                        self.close();
                        self.fall(body, b.unless, branch.fall.block);
                    }
                }
            }
            Exit::Fall(to) => self.go(EdgeKind::Fall, to),
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
        let (number, k) = (self.number(), self.k);
        self.line(format_args!("LEAVE_AT({number}, {k});"));
    }

    fn taken(&mut self, body: &Body, confirm: Test, to: u32) {
        match confirm {
            Test::Always => {}
            Test::Never => return self.exit_here(),
            Test::If(part, v) => {
                self.part(body, &part);
                let c = self.take(v, Kind::Truth);
                self.need(format_args!("{}", c.text));
            }
        }
        self.go(EdgeKind::Taken, to);
    }

    fn fall(&mut self, body: &Body, unless: Test, to: u32) {
        match unless {
            Test::Never => {}
            Test::Always => return self.exit_here(),
            Test::If(part, v) => {
                self.part(body, &part);
                let c = self.take(v, Kind::Truth);
                self.need(format_args!("{}", c.negated().text));
            }
        }
        self.go(EdgeKind::Fall, to);
    }

    /// Continues in a block of this unit or another.
    fn go(&mut self, kind: EdgeKind, to: u32) {
        self.count(self.place, kind);
        if self.job.unit.blocks.contains(&to) {
            self.line(format_args!("goto block_{to};"));
        } else {
            self.line(format_args!("LEAVE_BEFORE({to});"));
        }
    }

    fn call(&mut self, body: &Body, to: u32, link: u64) {
        self.need(format_args!("(u64)&here > f->stack"));
        self.need(format_args!("sp < len && mem[sp] == 0"));
        self.line(format_args!("mem[sp] = {link};"));
        self.line(format_args!("sp = sp + 1;"));
        // The callee finds the registers that it touches in the machine; the others are written back only if it does not return.
        let mut touched = self.facts.touched(self.job, to);
        for (lane, touched) in touched.iter_mut().enumerate() {
            *touched &= self.facts.used[lane] | self.written[lane];
        }
        let mut sets = touched;
        for (set, written) in sets.iter_mut().zip(self.written) {
            *set &= written;
        }
        sets[VALUE] |= 1 << SP;
        let unit = self.job.plan.unit_of[to as usize];
        if unit == NONE || self.job.plan.entry_of[to as usize] != 0 {
            self.count(self.place, EdgeKind::Unreturned);
            return self.line(format_args!("LEAVE_BEFORE({to});"));
        }
        self.write_back(sets);
        if self.job.metered {
            self.line(format_args!("f->budget = budget;"));
        }
        if self.beside.contains(&unit) {
            self.line(format_args!("status = unit_{unit}(f, 0, {link});"));
        } else {
            self.open(format_args!("if (!UNIT({unit}))"));
            self.count(self.place, EdgeKind::Unreturned);
            self.line(format_args!("LEAVE_BEFORE({to});"));
            self.close();
            self.line(format_args!("status = UNIT({unit})(f, 0, {link});"));
        }
        if self.job.metered {
            self.line(format_args!("budget = f->budget;"));
        }
        touched[VALUE] |= 1 << SP;
        for (lane, set) in touched.into_iter().enumerate() {
            for reg in bits(set) {
                self.reload_register(lane as u8, reg, None);
            }
        }
        let mut unreturned = String::new();
        if let Some(n) = self.job.unit.counter(self.place, EdgeKind::Unreturned) {
            let _ = write!(unreturned, "counters[{n}]++; ");
        }
        self.line(format_args!("if (status) {{ {unreturned}goto leave; }}"));
        // If the next block refuses entry, the call has been made completely.
        self.k = self.code().len;
        let (block, at) = (self.number(), self.k - 1);
        let at = self.job.decoded.address(block, at);
        let Some(site) = &self.job.decoded.calls[at as usize] else { return self.exit_here() };
        let after = site.after[usize::from(!self.job.decoded.is_forward(block))].block;
        self.fall(body, body.branch.map_or(Test::Never, |b| b.unless), after);
    }

    fn returns(&mut self) {
        self.need(format_args!("sp - 1 < len && mem[sp - 1] == link && link != 0"));
        self.line(format_args!("sp = sp - 1;"));
        self.line(format_args!("mem[sp] = 0;"));
        self.count(self.place, EdgeKind::Return);
        self.line(format_args!("status = 0;"));
        self.line(format_args!("goto leave;"));
    }
}
