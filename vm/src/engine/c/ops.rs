//! Emits operations as expressions and statements of C.

use std::fmt::Arguments;

use pendula_codegen::c::expr::{Expr, Kind};
use pendula_codegen::kernel::pack;
use pendula_codegen::lift::registers;
use pendula_codegen::ops::{Body, Op, V};
use pendula_isa::adjoint::LANES;

use super::emit::Emit;
use super::text::{PREFIX, WORDS, below, both, load};

impl Emit<'_> {
    /// Takes a side exit before the current instruction unless the condition holds.
    pub(super) fn need(&mut self, condition: Arguments<'_>) {
        let (number, k) = (self.number(), self.k);
        self.line(format_args!("NEED({condition}, {number}, {k});"));
    }

    /// Takes a side exit if a fixed-point number has wrapped, unless the overflow needs none.
    pub(super) fn overflow(&mut self, wrapped: &Expr) {
        let (number, k) = (self.number(), self.k);
        self.line(format_args!("CHECK_OVERFLOW({}, {number}, {k});", wrapped.text));
    }

    /// Emits an operation; returns the index of the next one.
    pub(super) fn op(&mut self, body: &Body, n: usize) -> usize {
        let v = V(n as u32);
        let op = body.ops[n];
        if self.done[n] || (op.is_idle() && self.values[n].uses_left == 0) {
            return n + 1;
        }
        self.done[n] = true;
        let text = match op {
            Op::Const(_) => return n + 1,
            Op::Get(lane, reg) => {
                self.settle(v, lane, reg);
                return n + 1;
            }
            Op::Bin(op, a, b) => {
                let (a, b) = (self.take(a, Kind::Word), self.take(b, Kind::Word));
                WORDS.bin(op, &a, &b)
            }
            Op::Not(a) => self.take(a, Kind::Word).not(),
            Op::Compare(cond, a, b) => {
                let (a, b) = (self.take(a, Kind::Word), self.take(b, Kind::Word));
                WORDS.compare(cond, &a, &b)
            }
            Op::Select(c, a, b) => {
                let kind = self.kind_of(v);
                let c = self.take(c, Kind::Truth);
                let (a, b) = (self.take(a, kind), self.take(b, kind));
                WORDS.select(&c, &a, &b, kind)
            }
            Op::Float(op, a, b) => self.float(op, a, b),
            Op::Sqrt(a) => self.take(a, Kind::Double).sqrt(),
            Op::Abs(a) => self.take(a, Kind::Double).abs(),
            Op::FromInt(a) => WORDS.from_int(&self.take(a, Kind::Word)),
            Op::CompareFloat(cond, a, b) => {
                let (a, b) = (self.take(a, Kind::Double), self.take(b, Kind::Double));
                Expr::compare_floats(cond, &a, &b)
            }
            Op::Canonical(a) => self.take(a, Kind::Double).canonical(),
            Op::Load(lane, at) => load(lane, &self.take(at, Kind::Word)),
            Op::Kernel(kernel, args) => {
                self.kernel(v, kernel, args);
                return n + 1;
            }
            Op::Second(_) => {
                // Before another kernel writes its result there.
                self.make(v, Expr::atom("f->out[1]", Kind::Word));
                self.name(v);
                return n + 1;
            }
            // Declared where its conditional begins.
            Op::Phi(..) => return n + 1,

            Op::Set(lane, reg, v) => {
                self.assign(lane, reg, v);
                return n + 1;
            }
            Op::Store(lane, at, value) => {
                self.store(lane, at, value);
                return n + 1;
            }
            Op::Bound(at) => {
                let inside = below(&self.take(at, Kind::Word), "len");
                self.need(format_args!("{}", inside.text));
                return n + 1;
            }
            Op::Finite(a) => {
                self.note_finite(a);
                return n + 1;
            }
            Op::Ordered(a, b) => {
                let (a, b) = (self.take(a, Kind::Double), self.take(b, Kind::Double));
                let ordered = Expr::call("ordered", &[&a, &b], Kind::Truth);
                self.need(format_args!("{}", ordered.text));
                return n + 1;
            }
            Op::Require(c) => {
                let c = self.take(c, Kind::Truth);
                self.need(format_args!("{}", c.text));
                return n + 1;
            }
            Op::Overflow(c) => {
                self.note_overflow(c);
                return n + 1;
            }
            Op::If(c) => return self.begin(body, n, c),
            // Emitted by its [`Op::If`].
            Op::End => return n + 1,
            Op::Interpret => {
                self.interpret();
                return n + 1;
            }
            Op::Reload(lane, reg) => {
                self.reload(lane, reg, Some(v));
                return n + 1;
            }
        };
        self.make(v, text);
        n + 1
    }

    fn store(&mut self, lane: u8, at: V, value: V) {
        self.check();
        let (at, value) = (self.take(at, Kind::Word), self.take(value, Kind::Word));
        self.name_loads();
        self.line(format_args!("{}mem[{}] = {};", PREFIX[usize::from(lane)], at.text, value.text));
    }

    /// Adds a pending check that a double is finite.
    fn note_finite(&mut self, a: V) {
        let finite = Expr::call("is_finite", &[&self.take(a, Kind::Double)], Kind::Truth);
        self.finite = Some(match self.finite.take() {
            None => finite,
            Some(all) => both('&', &all, &finite),
        });
        self.check_inside();
    }

    /// Adds a pending overflow check.
    fn note_overflow(&mut self, c: V) {
        let wrapped = self.take(c, Kind::Truth);
        self.wrapped = Some(match self.wrapped.take() {
            None => wrapped,
            Some(any) => both('|', &any, &wrapped),
        });
        self.check_inside();
    }

    /// Emits pending checks at once within a conditional.
    fn check_inside(&mut self) {
        if self.depth > 0 {
            self.check();
        }
    }

    /// Emits a conditional with its phis; returns the index of the next operation.
    fn begin(&mut self, body: &Body, n: usize, c: V) -> usize {
        let mut depth = 0;
        let end = (n..body.ops.len()).find(|at| {
            match body.ops[*at] {
                Op::If(_) => depth += 1,
                Op::End => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some(end) = end else { return n + 1 };
        let c = self.take(c, Kind::Truth);
        // Pending checks apply to both sides.
        self.check();
        self.name_before_sides();
        let mut next = end + 1;
        let mut differ = Vec::new();
        while let Some(op) = body.ops.get(next) {
            let v = V(next as u32);
            match *op {
                Op::Get(..) => _ = self.op(body, next),
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
        let mut inside = n + 1;
        while inside < end {
            inside = self.op(body, inside);
        }
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
        next
    }

    /// Calls a kernel, with a side exit for faults.
    fn kernel(&mut self, v: V, number: u32, args: [V; 4]) {
        let kernel = self.job.kernels[number as usize];
        let name = self.names.kernel(&kernel);
        let args: Vec<String> = args[..kernel.arity].iter().map(|a| self.take(*a, Kind::Word).text).collect();
        let call = format!("{name}({}, f->out, {})", pack(self.job.env), args.join(", "));
        // The status of a kernel that wraps can only be overflow.
        if !kernel.wraps {
            self.need(format_args!("{call} == 0"));
        } else if self.job.setting.trap_overflow || self.job.setting.checks {
            self.overflow(&Expr::atom(call, Kind::Word));
        } else {
            self.line(format_args!("{call};"));
        }
        if self.value(v).uses_left > 0 {
            self.make(v, Expr::atom("f->out[0]", Kind::Word));
            self.name(v);
        }
    }

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
}
