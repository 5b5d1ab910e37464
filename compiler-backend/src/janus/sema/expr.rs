//! Integer expressions, as operands and as values that are added to a place.

use pendula_isa::table::{TableFn, int_fn, q_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::body::{Body, ID, Sink, Width};
use super::scope::Kind;
use super::{Done, constant};
use crate::ir::{AssertKind, Mem, Operand, Place, Test};
use crate::janus::ast::{BinOp, Expr, ExprKind, IntTy, Name, Span, UnOp};
use crate::janus::codes;

impl Body<'_, '_> {
    /// The integer type of an expression; `None` if every type fits.
    pub(super) fn int_type(&mut self, e: &Expr) -> Done<Option<IntTy>> {
        match &e.kind {
            ExprKind::Num(_) => Ok(None),
            // 1 and 0 have every type.
            _ if self.is_truth(e) => Ok(None),
            ExprKind::Place(l) => match self.binding(&l.name)?.kind {
                Kind::Scalar(ty) | Kind::Array(ty, _) => Ok(Some(ty)),
                Kind::Stack => Ok(None),
            },
            ExprKind::Unary(_, a) => self.int_type(a),
            ExprKind::Cast(ty, _) => Ok(Some(*ty)),
            ExprKind::Binary(BinOp::Shl | BinOp::Shr, a, _) => self.int_type(a),
            ExprKind::Binary(_, a, b) => match self.int_type(a)? {
                Some(ty) => Ok(Some(ty)),
                None => self.int_type(b),
            },
            ExprKind::Top(_) | ExprKind::Size(_) => Ok(Some(IntTy::Int)),
            ExprKind::Bool(_) | ExprKind::Nil | ExprKind::Empty(_) | ExprKind::List(_) => Ok(None),
        }
    }

    /// The word of a constant expression.
    pub(super) fn constant(&mut self, e: &Expr, ty: IntTy) -> Done<Option<u64>> {
        let width = self.width(ty);
        match constant::typed(e, width) {
            Ok(n) => Ok(n.map(|n| width.wrap(n))),
            Err(at) => {
                let (least, most) = width.range();
                let text = constant::known(at).map_or(String::new(), |n| n.to_string());
                let message = format!("{text} does not fit in `{}`", ty.name());
                self.fail(&at.span, codes::LITERAL, message, &format!("numbers of this type go from {least} to {most}"))
            }
        }
    }

    /// An expression as an operand: a computed value is put in a temporary variable.
    pub(super) fn operand(&mut self, e: &Expr, ty: IntTy) -> Done<Operand> {
        if let Some(word) = self.constant(e, ty)? {
            return Ok(Operand::Const(word));
        }
        match &e.kind {
            ExprKind::Place(l) => {
                let (place, found) = self.place(l)?;
                self.same(e, ty, found)?;
                Ok(self.read(place))
            }
            ExprKind::Size(name) => {
                self.same(e, ty, IntTy::Int)?;
                match self.binding(name)?.kind {
                    Kind::Array(_, dims) => Ok(dims.first().map_or(Operand::Const(0), |d| d.operand())),
                    Kind::Scalar(_) | Kind::Stack => self.count(name),
                }
            }
            ExprKind::Top(name) => {
                self.same(e, ty, IntTy::Int)?;
                self.top(name)
            }
            ExprKind::Cast(to, a) => {
                self.same(e, ty, *to)?;
                self.cast(a, ty)
            }
            ExprKind::Bool(is) => Ok(Operand::Const(u64::from(*is))),
            _ if self.is_truth(e) => {
                let var = self.temporary("holds");
                // In the first language, true is a word of ones.
                let minus = self.s.settings.classic;
                self.truth(Sink::Pre, Place::Var(var), (Acc::Add, minus), e)?;
                Ok(Operand::Var(var))
            }
            ExprKind::Binary(BinOp::Fraction, a, b) => self.fraction(a, b, ty),
            _ => {
                let var = self.temporary("value");
                self.zeros.push(Place::Var(var));
                if let ExprKind::Binary(BinOp::Xor, a, b) = &e.kind {
                    self.accumulate(Sink::Pre, Place::Var(var), (Acc::Xor, false), a, ty)?;
                    self.accumulate(Sink::Pre, Place::Var(var), (Acc::Xor, false), b, ty)?;
                } else {
                    self.accumulate(Sink::Pre, Place::Var(var), (Acc::Add, false), e, ty)?;
                }
                Ok(Operand::Var(var))
            }
        }
    }

    /// Checks that an expression has the expected type.
    fn same(&mut self, e: &Expr, want: IntTy, found: IntTy) -> Done<()> {
        if want == found {
            return Ok(());
        }
        let message = format!("an `{}` is expected here, found an `{}`", want.name(), found.name());
        self.fail(&e.span, codes::TYPE, message, "integers of different types cannot be mixed")
    }

    /// The count of a stack, as an operand that is read.
    pub(super) fn count(&mut self, name: &Name) -> Done<Operand> {
        let m = self.stack(name)?;
        let word = self.read(Place::Mem(m));
        Ok(self.copy(word))
    }

    /// The word that holds the number of elements of a stack.
    pub(super) fn stack(&mut self, name: &Name) -> Done<Mem> {
        let b = self.binding(name)?;
        if b.kind != Kind::Stack {
            let message = format!("`{}` is {}, where a stack is expected", name.text, b.kind.describe());
            return self.fail(&name.span, codes::TYPE, message, "stacks are declared with `stack`");
        }
        let (base, region) = self.memory(&b)?;
        Ok(Mem { base: Some(base), index: None, offset: 0, region })
    }

    /// The top of a stack.
    fn top(&mut self, name: &Name) -> Done<Operand> {
        let m = self.stack(name)?;
        let count = self.count(name)?;
        let reason = format!("the stack `{}` is empty, and has no top", name.text);
        let test = Test::int(Cond::Gt, count, Operand::Const(0));
        self.at(&name.span, |s| s.assert(Sink::Pre, test, AssertKind::Bounds, &reason));
        let index = if let Operand::Var(v) = count { Some(v) } else { None };
        Ok(self.read(Place::Mem(Mem { index, ..m })))
    }

    /// `dst ⊕= e`, where ⊕ adds, subtracts (`inverse`) or xors. If the type of `dst` is narrower than a word, whole
    /// words are added, and the caller must wrap the result.
    pub(super) fn accumulate(
        &mut self,
        sink: Sink,
        dst: Place,
        (acc, inverse): (Acc, bool),
        e: &Expr,
        ty: IntTy,
    ) -> Done<()> {
        let width = self.width(ty);
        if self.is_truth(e) {
            let arg = self.operand(e, ty)?;
            match acc {
                Acc::Xor => self.update(sink, (acc, inverse), ID, dst, vec![arg]),
                Acc::Add | Acc::Mul => self.add_narrow(sink, dst, inverse, arg, width),
            }
            return Ok(());
        }
        if !width.is_full() {
            return self.accumulate_narrow(sink, dst, (acc, inverse), e, ty);
        }
        self.accumulate_word(sink, dst, (acc, inverse), e, (ty, width))
    }

    /// Records the message for a division by 0.
    fn divisor(&mut self, span: &Span) {
        let text = self.s.text.get(span.clone()).unwrap_or("");
        let reason = match text.parse::<u64>() {
            Err(_) if !text.contains('\n') => format!("`{text}` is 0"),
            _ => "the divisor is 0".to_string(),
        };
        let (loc, reason) = (self.s.loc(span), self.s.reason(&reason));
        self.s.program.divisors.insert(loc, reason);
    }

    /// The same for whole words.
    pub(super) fn accumulate_word(
        &mut self,
        sink: Sink,
        dst: Place,
        (acc, inverse): (Acc, bool),
        e: &Expr,
        (ty, width): (IntTy, Width),
    ) -> Done<()> {
        let how = (acc, inverse);
        // An xor adds nothing, so there is no wrapping.
        let id = if acc == Acc::Xor { ID } else { width.id() };
        let add = |b: &mut Self, func: TableFn, args: Vec<Operand>| {
            // Sums report wrapping themselves; other functions are computed in a temporary variable.
            let zero = b.zeros.iter().position(|zero| *zero == dst).map(|n| b.zeros.remove(n));
            let apart = width.noted && acc == Acc::Add && func.info().ty == Ty::Int && zero.is_none();
            if apart {
                let part = b.temporary("part");
                b.update(Sink::Pre, (Acc::Add, false), func, Place::Var(part), args);
                b.update(sink, how, id, dst, vec![Operand::Var(part)]);
            } else {
                b.update(sink, how, func, dst, args);
            }
        };
        if let Some(word) = self.constant(e, ty)? {
            if word != 0 {
                add(self, id, vec![Operand::Const(word)]);
            }
            return Ok(());
        }
        match &e.kind {
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) => {
                let minus = *op == BinOp::Sub;
                let leaf = |e: &Expr| {
                    constant::known(e).is_some() || matches!(&e.kind, ExprKind::Place(l) if l.indices.is_empty())
                };
                if acc == Acc::Add && !(leaf(a) && leaf(b)) {
                    self.accumulate(sink, dst, how, a, ty)?;
                    return self.accumulate(sink, dst, (acc, inverse != minus), b, ty);
                }
                let args = vec![self.operand(a, ty)?, self.operand(b, ty)?];
                add(self, width.sum(minus), args);
            }
            ExprKind::Binary(BinOp::Mul, a, b) => {
                let args = vec![self.operand(a, ty)?, self.operand(b, ty)?];
                add(self, width.product(), args);
            }
            ExprKind::Binary(op @ (BinOp::Div | BinOp::Mod), a, b) => {
                let args = vec![self.operand(a, ty)?, self.operand(b, ty)?];
                if constant::known(b).is_none_or(|k| k == 0) {
                    self.divisor(&b.span);
                }
                self.at(&b.span, |s| add(s, width.quotient(*op == BinOp::Mod), args));
            }
            ExprKind::Binary(op @ (BinOp::And | BinOp::Or), a, b) => {
                let args = vec![self.operand(a, ty)?, self.operand(b, ty)?];
                add(self, TableFn::Int(if *op == BinOp::And { int_fn::Name::And } else { int_fn::Name::Or }), args);
            }
            ExprKind::Binary(BinOp::Xor, a, b) if acc == Acc::Xor => {
                self.accumulate(sink, dst, how, a, ty)?;
                self.accumulate(sink, dst, how, b, ty)?;
            }
            ExprKind::Unary(UnOp::Minus, a) if acc == Acc::Add => {
                return self.accumulate(sink, dst, (acc, !inverse), a, ty);
            }
            ExprKind::Unary(UnOp::Complement, a) => {
                let args = vec![self.operand(a, ty)?, Operand::Const(0)];
                add(self, TableFn::Int(int_fn::Name::Nor), args);
            }
            ExprKind::Binary(op @ (BinOp::Shl | BinOp::Shr), a, b) => {
                let left = *op == BinOp::Shl;
                let by = self.shift(b, width)?;
                let a = self.operand(a, ty)?;
                self.shifted(sink, dst, how, (a, by, left), width);
            }
            ExprKind::Binary(BinOp::Pow, a, b) => {
                let (base, exponent) = (self.operand(a, ty)?, self.operand(b, ty)?);
                if width.signed && constant::known(b).is_none_or(|k| k < 0) {
                    let a = self.compared(exponent);
                    let test = Test::int(Cond::Ge, a, Operand::Const(0));
                    self.at(&b.span, |s| s.assert(Sink::Pre, test, AssertKind::User, "the exponent is negative"));
                }
                let pow = if width.noted { TableFn::Q(q_fn::Name::IntPow) } else { TableFn::Int(int_fn::Name::Pow) };
                add(self, pow, vec![base, exponent]);
            }
            ExprKind::Place(_)
            | ExprKind::Size(_)
            | ExprKind::Top(_)
            | ExprKind::Binary(BinOp::Xor | BinOp::Fraction, ..)
            | ExprKind::Unary(UnOp::Minus, _) => {
                let arg = self.operand(e, ty)?;
                add(self, id, vec![arg]);
            }
            ExprKind::Cast(to, a) => {
                self.same(e, ty, *to)?;
                let arg = self.cast(a, ty)?;
                add(self, id, vec![arg]);
            }
            ExprKind::Num(_)
            | ExprKind::Bool(_)
            | ExprKind::Nil
            | ExprKind::Empty(_)
            | ExprKind::List(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..) => {
                let found = if e.kind == ExprKind::Nil { "a stack" } else { "an array" };
                let message = format!("an integer is expected here, found {found}");
                return self.fail(&e.span, codes::TYPE, message, "name an element or a number");
            }
        }
        Ok(())
    }
}
