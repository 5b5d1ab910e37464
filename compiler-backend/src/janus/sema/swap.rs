//! `x <=> y`: exchanges integers, elements, arrays or stacks.

use pendula_isa::table::{Row, TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::alias::same;
use super::body::{Body, Sink};
use super::scope::{Binding, Kind};
use super::{Done, READS};
use crate::ir::{AssertKind, Mem, Operand, Place, Step, Stmt as Ir, Test, Var};
use crate::janus::ast::{Lval, Span};
use crate::janus::codes;

impl Body<'_, '_> {
    /// `x <=> y`.
    pub(super) fn swap(&mut self, a: &Lval, b: &Lval, span: &Span) -> Done<()> {
        let (x, y) = (self.changed(a)?, self.changed(b)?);
        for (l, other) in [(a, b), (b, a)] {
            self.indexed(l, &other.name, "which is changed")?;
        }
        let own = format!("`{}` is exchanged with itself", a.name.text);
        if same(a, b) {
            return self.fail(span, codes::ALIAS, own, "take the statement out");
        }
        let whole = |l: &Lval, b: &Binding| match &b.kind {
            Kind::Scalar(_) => false,
            Kind::Array(_, dims) => l.indices.len() < dims.len(),
            Kind::Stack => l.indices.is_empty(),
        };
        match (whole(a, &x), whole(b, &y)) {
            (true, true) => return self.swap_whole((a, &x), (b, &y), span),
            (false, false) => {}
            (true, false) | (false, true) => {
                let message = format!("`{}` and `{}` are of different kinds", a.name.text, b.name.text);
                return self.fail(span, codes::TYPE, message, "exchange two integers, two arrays, or two stacks");
            }
        }
        self.statement(|s| {
            let ((first, ty), (second, other)) = (s.place(a)?, s.place(b)?);
            if ty != other {
                let message = format!("an `{}` and an `{}` are exchanged", ty.name(), other.name());
                return s.fail(span, codes::TYPE, message, "integers of different types cannot be mixed");
            }
            if first == second && a.name.text == b.name.text {
                return s.fail(span, codes::ALIAS, own, "take the statement out");
            }
            if s.guard(&[first, second]) {
                let args = vec![first.into(), second.into()];
                s.emit(Sink::Out, Ir::Permute { row: Row::Swap, inverse: false, ty: Ty::Int, args });
            }
            Ok(())
        })
    }

    /// Exchanges two arrays, or two stacks.
    fn swap_whole(&mut self, (l, x): (&Lval, &Binding), (m, y): (&Lval, &Binding), span: &Span) -> Done<()> {
        self.statement(|s| {
            let ((a, region), (b, other)) = (s.part(l, x)?, s.part(m, y)?);
            let (first, second) = (s.left(l)?, s.left(m)?);
            if region == other {
                let test = Test::int(Cond::Ne, Operand::Var(a), Operand::Var(b));
                s.assert(Sink::Pre, test, AssertKind::Alias, READS);
            }
            let last = match (&first, &second) {
                (Kind::Stack, Kind::Stack) => {
                    // The words of the longer stack, and the counts.
                    let (m, n) = (s.stack(&x.name)?, s.stack(&y.name)?);
                    if !s.avoids_constants(Place::Mem(m)) || !s.avoids_constants(Place::Mem(n)) {
                        return Ok(());
                    }
                    let most = s.temporary("most");
                    let args = vec![Operand::Mem(m), Operand::Mem(n)];
                    s.update(Sink::Pre, (Acc::Add, false), TableFn::Int(int_fn::Name::Max), Place::Var(most), args);
                    Operand::Var(most)
                }
                (Kind::Array(ty, dims), Kind::Array(of, others)) if ty == of && dims.len() == others.len() => {
                    for (m, n) in dims.iter().zip(others) {
                        s.fits(span, *m, *n)?;
                    }
                    let total = s.total(dims);
                    // A word that an index has read must not be exchanged.
                    for (base, region) in [(a, region), (b, other)] {
                        for word in s.reads.words.clone() {
                            s.assert_outside(word, (base, region), total, READS);
                        }
                        s.block_avoids_constants((base, region), total);
                    }
                    s.sum(&[total, Operand::Const(u64::MAX)])
                }
                (k, l) => {
                    let message = format!("{} and {} are exchanged", k.describe(), l.describe());
                    return s.fail(
                        span,
                        codes::TYPE,
                        message,
                        "exchange two arrays with the same sizes, or two stacks",
                    );
                }
            };
            let k = s.f.fresh("k", Ty::Int);
            let word = |base: Var, region| Operand::Mem(Mem { base: Some(base), index: Some(k), offset: 0, region });
            let args = vec![word(a, region), word(b, other)];
            let swap = Ir::Permute { row: Row::Swap, inverse: false, ty: Ty::Int, args };
            let body = vec![swap.at(s.loc)];
            s.emit(
                Sink::Out,
                Ir::For { var: k, first: Operand::Const(0), last, step: Step::Const(1), body, blocks: None },
            );
            Ok(())
        })
    }
}
