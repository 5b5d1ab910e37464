//! Emits operations as expressions and statements of C.

use std::fmt::Arguments;

use pendula_codegen::c::expr::{Expr, Kind};
use pendula_codegen::emit::{Emit, emit};
use pendula_codegen::kernel::pack;
use pendula_codegen::lift::registers;
use pendula_codegen::ops::{BinaryOp, Float, Op, ValueId};
use pendula_isa::adjoint::LANES;
use pendula_isa::types::Cond;

use super::emit::UnitEmitter;
use super::text::{PREFIX, WORDS, below, both, load};

impl UnitEmitter<'_> {
    /// Takes a side exit before the current instruction unless the condition holds.
    pub(super) fn need(&mut self, condition: Arguments<'_>) {
        let (number, k) = (self.number(), self.k);
        self.line(format_args!("NEED({condition}, {number}, {k});"));
    }

    /// Takes a side exit if a fixed-point number has wrapped, unless the overflow needs none.
    pub(super) fn leave_on_overflow(&mut self, wrapped: &Expr) {
        let (number, k) = (self.number(), self.k);
        self.line(format_args!("CHECK_OVERFLOW({}, {number}, {k});", wrapped.text));
    }

    /// Emits an operation, unless that has been done or nothing uses its value.
    pub(super) fn op(&mut self, n: usize) {
        let v = ValueId(n as u32);
        let op = self.body().ops[n];
        if self.done[n] || (op.is_idle() && self.values[n].uses_left == 0) {
            return;
        }
        self.done[n] = true;
        emit(self, v, op);
    }

    /// Emits pending checks at once within a conditional.
    fn check_inside(&mut self) {
        if self.depth > 0 {
            self.check();
        }
    }
}

impl Emit for UnitEmitter<'_> {
    /// It is written where it is used.
    fn constant(&mut self, _: ValueId, _: u64) {}

    fn get(&mut self, v: ValueId, lane: u8, reg: u8) {
        self.keep_in_register(v, lane, reg);
    }

    fn bin(&mut self, v: ValueId, op: BinaryOp, a: ValueId, b: ValueId) {
        let (a, b) = (self.take(a, Kind::Word), self.take(b, Kind::Word));
        self.make(v, WORDS.bin(op, &a, &b));
    }

    fn not(&mut self, v: ValueId, a: ValueId) {
        let a = self.take(a, Kind::Word);
        self.make(v, a.not());
    }

    fn compare(&mut self, v: ValueId, cond: Cond, a: ValueId, b: ValueId) {
        let (a, b) = (self.take(a, Kind::Word), self.take(b, Kind::Word));
        self.make(v, WORDS.compare(cond, &a, &b));
    }

    fn select(&mut self, v: ValueId, c: ValueId, a: ValueId, b: ValueId) {
        let kind = self.kind_of(v);
        let c = self.take(c, Kind::Truth);
        let (a, b) = (self.take(a, kind), self.take(b, kind));
        self.make(v, WORDS.select(&c, &a, &b, kind));
    }

    fn float(&mut self, v: ValueId, op: Float, a: ValueId, b: ValueId) {
        let (a, b) = (self.take(a, Kind::Double), self.take(b, Kind::Double));
        self.make(v, Expr::float(op, &a, &b));
    }

    fn sqrt(&mut self, v: ValueId, a: ValueId) {
        let a = self.take(a, Kind::Double);
        self.make(v, a.sqrt());
    }

    fn abs(&mut self, v: ValueId, a: ValueId) {
        let a = self.take(a, Kind::Double);
        self.make(v, a.abs());
    }

    fn int_to_float(&mut self, v: ValueId, a: ValueId) {
        let a = self.take(a, Kind::Word);
        self.make(v, WORDS.from_int(&a));
    }

    fn compare_float(&mut self, v: ValueId, cond: Cond, a: ValueId, b: ValueId) {
        let (a, b) = (self.take(a, Kind::Double), self.take(b, Kind::Double));
        self.make(v, Expr::compare_floats(cond, &a, &b));
    }

    fn canonical(&mut self, v: ValueId, a: ValueId) {
        let a = self.take(a, Kind::Double);
        self.make(v, a.canonical());
    }

    fn load(&mut self, v: ValueId, lane: u8, at: ValueId) {
        let at = self.take(at, Kind::Word);
        self.make(v, load(lane, &at));
    }

    /// Calls a kernel, with a side exit for faults.
    fn kernel(&mut self, v: ValueId, number: u32, args: [ValueId; 4]) {
        let kernel = self.job.kernels[number as usize];
        let name = self.names.kernel(&kernel);
        let args: Vec<String> = args[..kernel.arity].iter().map(|a| self.take(*a, Kind::Word).text).collect();
        let call = format!("{name}({}, f->out, {})", pack(self.job.env), args.join(", "));
        // The status of a kernel that wraps can only be overflow.
        if !kernel.wraps {
            self.need(format_args!("{call} == 0"));
        } else if self.job.setting.trap_overflow || self.job.setting.checks {
            self.leave_on_overflow(&Expr::atom(call, Kind::Word));
        } else {
            self.line(format_args!("{call};"));
        }
        if self.value(v).uses_left > 0 {
            self.make(v, Expr::atom("f->out[0]", Kind::Word));
            self.name(v);
        }
    }

    fn second(&mut self, v: ValueId, _: ValueId) {
        // Before another kernel writes its result there.
        self.make(v, Expr::atom("f->out[1]", Kind::Word));
        self.name(v);
    }

    /// Declared where its conditional begins.
    fn phi(&mut self, _: ValueId, _: ValueId, _: ValueId) {}

    fn set(&mut self, lane: u8, reg: u8, value: ValueId) {
        self.assign(lane, reg, value);
    }

    fn store(&mut self, lane: u8, at: ValueId, value: ValueId) {
        self.check();
        let (at, value) = (self.take(at, Kind::Word), self.take(value, Kind::Word));
        self.name_loads();
        self.line(format_args!("{}mem[{}] = {};", PREFIX[usize::from(lane)], at.text, value.text));
    }

    fn bound(&mut self, at: ValueId) {
        let inside = below(&self.take(at, Kind::Word), "len");
        self.need(format_args!("{}", inside.text));
    }

    /// Adds a pending check that a double is finite.
    fn finite(&mut self, a: ValueId) {
        let finite = Expr::call("is_finite", &[&self.take(a, Kind::Double)], Kind::Truth);
        self.finite = Some(match self.finite.take() {
            None => finite,
            Some(all) => both('&', &all, &finite),
        });
        self.check_inside();
    }

    fn ordered(&mut self, a: ValueId, b: ValueId) {
        let (a, b) = (self.take(a, Kind::Double), self.take(b, Kind::Double));
        let ordered = Expr::call("ordered", &[&a, &b], Kind::Truth);
        self.need(format_args!("{}", ordered.text));
    }

    fn require(&mut self, c: ValueId) {
        let c = self.take(c, Kind::Truth);
        self.need(format_args!("{}", c.text));
    }

    /// Adds a pending overflow check.
    fn overflow(&mut self, c: ValueId) {
        let wrapped = self.take(c, Kind::Truth);
        self.wrapped = Some(match self.wrapped.take() {
            None => wrapped,
            Some(any) => both('|', &any, &wrapped),
        });
        self.check_inside();
    }

    /// Emits a conditional with its phis.
    fn begin(&mut self, at: ValueId, c: ValueId) {
        let (job, n) = (self.job, at.0 as usize);
        let body = &job.bodies[self.place];
        let mut depth = 0;
        let end = (n..body.ops.len()).find(|at| {
            match body.ops[*at] {
                Op::If(_) => depth += 1,
                Op::End => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some(end) = end else { return };
        let c = self.take(c, Kind::Truth);
        // Pending checks apply to both sides.
        self.check();
        self.name_before_sides();
        let mut next = end + 1;
        let mut differ = Vec::new();
        while let Some(op) = body.ops.get(next) {
            let v = ValueId(next as u32);
            match *op {
                Op::Get(..) => self.op(next),
                Op::Phi(then, otherwise) if self.value(v).uses_left > 0 => {
                    let kind = self.kind_of(v);
                    let text = self.take(otherwise, kind).text;
                    let ty = if kind == Kind::Double { "f64" } else { "u64" };
                    self.line(format_args!("{ty} v{next} = {text};"));
                    differ.push((v, then, kind));
                }
                Op::Phi(..) => {}
                _ => break,
            }
            next += 1;
        }
        let before = self.written_so_far();
        self.open(format_args!("if ({})", c.text));
        let opened = self.written_so_far();
        self.depth += 1;
        (n + 1..end).for_each(|inside| self.op(inside));
        for &(v, then, kind) in &differ {
            let text = self.take(then, kind).text;
            self.line(format_args!("v{} = {text};", v.0));
        }
        self.depth -= 1;
        let empty = self.written_so_far() == opened;
        self.close();
        if empty {
            self.take_back(before);
        }
        differ.into_iter().for_each(|(v, _, kind)| self.variable(v, kind));
    }

    /// Emitted where its conditional begins.
    fn end(&mut self, _: ValueId) {}

    /// Calls the interpreter to run the instruction.
    fn interpret(&mut self) {
        let code = *self.code();
        let number = code.first + self.k - code.head;
        let (read, written) = registers(self.job.instruction(number));
        let mut which = [0; LANES];
        for lane in self.job.lanes() {
            which[lane] = (read | written) & self.written[lane];
        }
        self.name_loads();
        self.write_back(which);
        self.need(format_args!("interpret(f, {number}) == 0"));
    }

    fn reload(&mut self, v: ValueId, lane: u8, reg: u8) {
        self.reload_register(lane, reg, Some(v));
    }
}
