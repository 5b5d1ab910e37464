//! Shifts, and integers that are narrower than a word.

use pendula_isa::table::{Row, TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::Done;
use super::body::{Body, ID, Sink, Width};
use crate::ir::{AssertKind, Operand, Place, Step, Stmt, Test};
use crate::janus::ast::{BinOp, Expr, ExprKind, IntTy, UnOp};
use crate::janus::codes;

impl Body<'_, '_> {
    /// `dst ⊕= e` for integers that are narrower than a word. They are sign- or zero-extended, and every sum is
    /// wrapped.
    pub(super) fn accumulate_narrow(
        &mut self,
        sink: Sink,
        dst: Place,
        (acc, inverse): (Acc, bool),
        e: &Expr,
        ty: IntTy,
    ) -> Done<()> {
        let width = self.width(ty);
        if acc == Acc::Xor {
            let arg = self.operand(e, ty)?;
            self.update(sink, (acc, inverse), ID, dst, vec![arg]);
            return Ok(());
        }
        // An expression that is constant without a type may not be constant in a type that wraps: an intermediate power
        // may be too large.
        let leaf = self.constant(e, ty)?.is_some()
            || matches!(e.kind, ExprKind::Place(_) | ExprKind::Size(_) | ExprKind::Top(_) | ExprKind::Cast(..))
            || matches!(e.kind, ExprKind::Binary(BinOp::Fraction, ..));
        match &e.kind {
            ExprKind::Unary(UnOp::Minus, a) if !leaf => self.accumulate(sink, dst, (acc, !inverse), a, ty),
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) if !leaf => {
                self.accumulate(sink, dst, (acc, inverse), a, ty)?;
                self.accumulate(sink, dst, (acc, inverse != (*op == BinOp::Sub)), b, ty)
            }
            _ => {
                let arg = if leaf {
                    self.operand(e, ty)?
                } else {
                    let raw = self.temporary("raw");
                    let whole = Width { noted: false, ..width };
                    self.accumulate_word(Sink::Pre, Place::Var(raw), (Acc::Add, false), e, (ty, whole))?;
                    Operand::Var(raw)
                };
                self.add_narrow(sink, dst, inverse, arg, width);
                Ok(())
            }
        }
    }

    /// `dst += word`, wrapped.
    pub(super) fn add_narrow(&mut self, sink: Sink, dst: Place, inverse: bool, what: Operand, width: Width) {
        if what == Operand::Const(0) {
            return;
        }
        let row = match (width.bits, width.signed) {
            (8, true) => Row::Add8,
            (16, true) => Row::Add16,
            (32, true) => Row::Add32,
            (8, false) => Row::Addu8,
            (16, false) => Row::Addu16,
            (32, false) => Row::Addu32,
            _ => return self.update(sink, (Acc::Add, inverse), width.id(), dst, vec![what]),
        };
        self.emit(sink, Stmt::Permute { row, inverse, ty: Ty::Int, args: vec![dst.into(), what] });
    }

    /// The product of two fractions of 31 bits in the first language: for each bit of the first factor from the top, a
    /// half, a quarter and so on of the second, each rounded down. The product is negative if exactly one factor is.
    pub(super) fn fraction(&mut self, a: &Expr, b: &Expr, ty: IntTy) -> Done<Operand> {
        let (a, b) = (self.operand(a, ty)?, self.operand(b, ty)?);
        let fresh = |s: &mut Self, func: int_fn::Name, args: Vec<Operand>| {
            let var = s.temporary("fraction");
            s.update(Sink::Pre, (Acc::Add, false), TableFn::Int(func), Place::Var(var), args);
            var
        };
        let mut magnitudes = Vec::new();
        let mut signs = Vec::new();
        for x in [a, b] {
            let minus = self.temporary("fraction");
            self.update(Sink::Pre, (Acc::Add, true), ID, Place::Var(minus), vec![x]);
            magnitudes.push(fresh(self, int_fn::Name::Max, vec![x, Operand::Var(minus)]));
            signs.push(Operand::Var(fresh(self, int_fn::Name::Lt, vec![x, Operand::Const(0)])));
        }
        let (sum, k) = (self.temporary("fraction"), self.f.fresh("k", Ty::Int));
        let (body, ()) = self.block(|s| {
            let _: Done<()> = s.statement(|s| {
                let place = s.temporary("fraction");
                s.update(Sink::Pre, (Acc::Add, false), ID, Place::Var(place), vec![Operand::Const(31)]);
                s.update(Sink::Pre, (Acc::Add, true), ID, Place::Var(place), vec![Operand::Var(k)]);
                let shifted = fresh(s, int_fn::Name::Shr, vec![Operand::Var(magnitudes[0]), Operand::Var(place)]);
                let bit = fresh(s, int_fn::Name::And, vec![Operand::Var(shifted), Operand::Const(1)]);
                let part = fresh(s, int_fn::Name::Shr, vec![Operand::Var(magnitudes[1]), Operand::Var(k)]);
                let args = vec![Operand::Var(bit), Operand::Var(part)];
                s.update(Sink::Out, (Acc::Add, false), TableFn::Int(int_fn::Name::Mul), Place::Var(sum), args);
                Ok(())
            });
        });
        let (first, last) = (Operand::Const(1), Operand::Const(31));
        self.emit(Sink::Pre, Stmt::For { var: k, first, last, step: Step::Const(1), body, blocks: None });
        let negative = fresh(self, int_fn::Name::Or, signs);
        // s − 2·negative·s
        let twice = fresh(self, int_fn::Name::Mul, vec![Operand::Var(negative), Operand::Const(2)]);
        let back = fresh(self, int_fn::Name::Mul, vec![Operand::Var(twice), Operand::Var(sum)]);
        let width = self.width(ty);
        let out = self.temporary("fraction");
        self.add_narrow(Sink::Pre, Place::Var(out), false, Operand::Var(sum), width);
        self.add_narrow(Sink::Pre, Place::Var(out), true, Operand::Var(back), width);
        Ok(Operand::Var(out))
    }

    /// A number of another type converted to this type: its lower bits.
    pub(super) fn cast(&mut self, e: &Expr, to: IntTy) -> Done<Operand> {
        let from = self.int_type(e)?.unwrap_or(to);
        let word = self.operand(e, from)?;
        let (old, new) = (self.width(from), self.width(to));
        let fits = new.is_full() || (old.bits, old.signed) == (new.bits, new.signed);
        if let Operand::Const(k) = word {
            return Ok(Operand::Const(new.wrap(old.number(k))));
        }
        if fits {
            return Ok(word);
        }
        let var = self.temporary("cast");
        self.add_narrow(Sink::Pre, Place::Var(var), false, word, new);
        Ok(Operand::Var(var))
    }

    /// `dst += func(args)` for numbers of a type.
    pub(super) fn add_value(&mut self, dst: Place, inverse: bool, func: TableFn, args: Vec<Operand>, width: Width) {
        if width.is_full() {
            self.update(Sink::Out, (Acc::Add, inverse), func, dst, args);
            return;
        }
        let _: Done<()> = self.statement(|b| {
            let raw = b.temporary("raw");
            b.update(Sink::Pre, (Acc::Add, false), func, Place::Var(raw), args);
            b.add_narrow(Sink::Out, dst, inverse, Operand::Var(raw), width);
            Ok(())
        });
    }

    /// The amount of a shift, which is less than the number of bits.
    pub(super) fn shift(&mut self, e: &Expr, width: Width) -> Done<Operand> {
        let ty = self.int_type(e)?.unwrap_or(IntTy::Int);
        let by = self.operand(e, ty)?;
        let bits = u64::from(width.bits);
        let reason = super::constant::shifted_too_far(width);
        match by {
            Operand::Const(k) if k < bits => Ok(by),
            Operand::Const(_) => {
                self.fail(&e.span, codes::LITERAL, reason, &format!("shift by 0 to {} bits", bits - 1))
            }
            Operand::Var(_) | Operand::Mem(_) => {
                let a = self.compared(by);
                let test = Test::int(Cond::Ltu, a, Operand::Const(bits));
                self.at(&e.span, |s| s.assert(Sink::Pre, test, AssertKind::User, &reason));
                Ok(a)
            }
        }
    }

    /// A shifted word. A left shift is a product, so that wrapping is reported.
    pub(super) fn shifted(
        &mut self,
        sink: Sink,
        dst: Place,
        how: (Acc, bool),
        (a, by, left): (Operand, Operand, bool),
        width: Width,
    ) {
        match (left, by) {
            (false, _) => {
                let func = if width.signed { int_fn::Name::Sar } else { int_fn::Name::Shr };
                self.update(sink, how, TableFn::Int(func), dst, vec![a, by]);
            }
            (true, Operand::Const(k)) if width.noted && k < 63 => {
                self.update(sink, how, width.product(), dst, vec![a, Operand::Const(1 << k)]);
            }
            (true, _) if width.noted => {
                // 2^63 cannot be a factor; two factors of 2^62 can.
                let (one, two) = (self.temporary("power"), self.temporary("power"));
                let half = |b: &mut Self, of: int_fn::Name, var, args| {
                    b.update(Sink::Pre, (Acc::Add, false), TableFn::Int(of), Place::Var(var), args);
                };
                half(self, int_fn::Name::Shr, two, vec![by, Operand::Const(1)]);
                half(self, int_fn::Name::Shl, one, vec![Operand::Const(1), Operand::Var(two)]);
                let rest = self.temporary("power");
                self.update(Sink::Pre, (Acc::Add, false), ID, Place::Var(rest), vec![by]);
                self.update(Sink::Pre, (Acc::Add, true), ID, Place::Var(rest), vec![Operand::Var(two)]);
                let other = self.temporary("power");
                half(self, int_fn::Name::Shl, other, vec![Operand::Const(1), Operand::Var(rest)]);
                let product = self.temporary("product");
                self.update(
                    Sink::Pre,
                    (Acc::Add, false),
                    width.product(),
                    Place::Var(product),
                    vec![a, Operand::Var(one)],
                );
                self.update(sink, how, width.product(), dst, vec![Operand::Var(product), Operand::Var(other)]);
            }
            (true, _) => self.update(sink, how, TableFn::Int(int_fn::Name::Shl), dst, vec![a, by]),
        }
    }
}

impl Width {
    /// a/b rounded down, or its remainder.
    pub(super) fn quotient(self, remainder: bool) -> TableFn {
        TableFn::Int(match (self.signed || !self.is_full(), remainder) {
            (true, false) => int_fn::Name::Div,
            (true, true) => int_fn::Name::Mod,
            (false, false) => int_fn::Name::Udiv,
            (false, true) => int_fn::Name::Umod,
        })
    }
}
