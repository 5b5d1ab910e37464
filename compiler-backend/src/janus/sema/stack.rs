//! `push` and `pop`.

use pendula_isa::diagnostic::plural;
use pendula_isa::table::Row;
use pendula_isa::{Cond, Ty};

use super::Done;
use super::body::{Body, Sink};
use super::scope::Kind;
use crate::ir::{AncillaChecks, AssertKind, Mem, Operand, Place, Stmt as Ir, Test, invert};
use crate::janus::ast::{Expr, ExprKind, IntTy, Name};
use crate::janus::codes;

impl Body<'_, '_> {
    /// `push(x, s)`: exchanges `x` with the zero word above the top of the stack. A value that is not a variable is put in
    /// a temporary variable.
    pub(super) fn push(&mut self, pop: bool, value: &Expr, stack: &Name) -> Done<()> {
        if self.binding(stack)?.constant {
            let message = format!("`{}` is constant", stack.text);
            return self.fail(&stack.span, codes::CONSTANT, message, "change another stack");
        }
        let ExprKind::Place(l) = &value.kind else {
            return self.push_value(pop, value, stack);
        };
        let b = self.binding(&l.name)?;
        if b.constant {
            let message = format!("`{}` is constant", l.name.text);
            return self.fail(&l.span, codes::CONSTANT, message, "push a copy of it");
        }
        if b.kind == Kind::Stack {
            let message = format!("`{}` is a stack, where an integer is expected", l.name.text);
            return self.fail(&l.span, codes::TYPE, message, "integers are pushed on stacks");
        }
        self.indexed(l, &l.name, "of which an element is changed")?;
        self.indexed(l, stack, "which is changed")?;
        self.statement(|b| {
            let (place, ty) = b.place(l)?;
            if ty != IntTy::Int {
                let message = format!("`{}` is an `{}`, and stacks are of `int`", l.name.text, ty.name());
                return b.fail(&l.span, codes::TYPE, message, "take it into an `int` before");
            }
            // An index that reads the stack also reads its count.
            let count = b.stack(stack)?;
            if b.guard(&[place, Place::Mem(count)]) {
                b.exchange(pop, place, stack)?;
            }
            Ok(())
        })
    }

    fn push_value(&mut self, pop: bool, value: &Expr, stack: &Name) -> Done<()> {
        let var = self.f.fresh(format!("{}.pushed", stack.text), Ty::Int);
        let begin = |free, check| Ir::Ancilla { var, free, checks: AncillaChecks { check, drop: false } };
        let (block, done) = self.block(|b| {
            b.emit(Sink::Out, begin(false, true));
            b.statement(|b| {
                b.accumulate(Sink::Out, Place::Var(var), (pendula_isa::Acc::Add, false), value, IntTy::Int)
            })?;
            b.statement(|b| {
                let count = b.stack(stack)?;
                if b.guard(&[Place::Mem(count)]) {
                    b.exchange(false, Place::Var(var), stack)?;
                }
                Ok(())
            })?;
            b.emit(Sink::Out, begin(true, true));
            Ok(())
        });
        done?;
        self.append(if pop { invert::block(&block) } else { block });
        Ok(())
    }

    fn exchange(&mut self, pop: bool, place: Place, stack: &Name) -> Done<()> {
        let count = self.stack(stack)?;
        let capacity = self.s.settings.stack;
        let name = &stack.text;
        let zero = Operand::Const(0);
        let test = |cond, a, b| Test::int(cond, a, b);
        let (block, done) = self.block(|b| {
            b.statement(|b| {
                let Operand::Var(index) = b.copy(Operand::Mem(count)) else { return Ok(()) };
                let most = b.compared(Operand::Const(capacity));
                let full = format!("the stack `{name}` is full: it has room for {}", plural(capacity, "number"));
                b.assert(Sink::Pre, test(Cond::Lt, Operand::Var(index), most), AssertKind::Bounds, &full);
                let top = Mem { index: Some(index), offset: 1, ..count };
                let args = vec![place.into(), Operand::Mem(top)];
                b.emit(Sink::Out, Ir::Permute { row: Row::Swap, inverse: false, ty: Ty::Int, args });
                Ok(())
            })?;
            b.assert(
                Sink::Out,
                test(Cond::Eq, place.into(), zero),
                AssertKind::User,
                "the variable that is popped into is not zero",
            );
            b.add(Sink::Out, Place::Mem(count), Operand::Const(1), false);
            let empty = format!("the stack `{name}` is empty");
            b.assert(Sink::Out, test(Cond::Gt, Operand::Mem(count), zero), AssertKind::Bounds, &empty);
            Ok(())
        });
        done?;
        self.append(if pop { invert::block(&block) } else { block });
        Ok(())
    }
}
