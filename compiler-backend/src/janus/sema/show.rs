//! `print`, `printf` and `show`: output of texts and numbers, without line ends between them.

use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

use super::Done;
use super::body::{Body, Sink};
use super::scope::{Dim, Kind};
use crate::ir::{Condition, Mem, Operand, Place, Step, Stmt as Ir, Test, Var};
use crate::janus::ast::{IntTy, Lval, Span};
use crate::janus::codes;

impl Body<'_, '_> {
    pub(super) fn print(&mut self, text: &str) {
        if !text.is_empty() {
            let n = self.s.text(text);
            self.emit(Sink::Out, Ir::Print(n));
        }
    }

    /// Shows a number of a type.
    fn number_shown(&mut self, value: Operand, ty: IntTy) {
        let width = self.width(ty);
        let show = |value| Ir::Show { ty: Ty::Int, value };
        if !width.is_full() || width.signed {
            self.emit(Sink::Out, show(value));
            return;
        }
        // The machine shows signed words: a large unsigned number is shown as all digits but the last, and then the
        // last.
        let large = Test::int(Cond::Lt, value, Operand::Const(0));
        let (then, _) = self.block(|b| {
            b.statement(|b| {
                for func in [int_fn::Name::Udiv, int_fn::Name::Umod] {
                    let t = b.temporary("digits");
                    let args = vec![value, Operand::Const(10)];
                    b.update(Sink::Pre, (Acc::Add, false), TableFn::Int(func), Place::Var(t), args);
                    b.emit(Sink::Out, show(Operand::Var(t)));
                }
                Ok(())
            })
        });
        let (otherwise, ()) = self.block(|b| b.emit(Sink::Out, show(value)));
        let condition = Condition::of(large);
        self.emit(Sink::Out, Ir::branch(condition, then, otherwise));
    }

    /// `show(a, b)`.
    pub(super) fn show(&mut self, args: &[Lval]) -> Done<()> {
        for (n, l) in args.iter().enumerate() {
            if n > 0 {
                self.print(", ");
            }
            let name = self.s.text.get(l.span.clone()).unwrap_or(&l.name.text).to_string();
            self.statement(|b| {
                match b.left(l)? {
                    Kind::Array(_, dims) => {
                        b.print(&name);
                        for dim in dims {
                            b.print("[");
                            match dim {
                                Dim::Known(n) => b.print(&n.to_string()),
                                Dim::Var(v) => b.emit(Sink::Out, Ir::Show { ty: Ty::Int, value: Operand::Var(v) }),
                            }
                            b.print("]");
                        }
                        b.print(" = ");
                    }
                    Kind::Scalar(_) | Kind::Stack => b.print(&format!("{name} = ")),
                }
                b.shown(l)
            })?;
        }
        self.print("\n");
        Ok(())
    }

    /// The kind of a variable with `indices` indices.
    pub(super) fn left(&mut self, l: &Lval) -> Done<Kind> {
        Ok(match self.binding(&l.name)?.kind {
            Kind::Array(ty, dims) if l.indices.len() == dims.len() => Kind::Scalar(ty),
            Kind::Array(ty, dims) if l.indices.len() < dims.len() => Kind::Array(ty, dims[l.indices.len()..].to_vec()),
            kind => kind,
        })
    }

    /// Shows the value of a variable.
    fn shown(&mut self, l: &Lval) -> Done<()> {
        match self.left(l)? {
            Kind::Scalar(_) => {
                let (place, ty) = self.place(l)?;
                let value = match self.read(place) {
                    word @ Operand::Mem(_) => self.copy(word),
                    value => value,
                };
                self.number_shown(value, ty);
                Ok(())
            }
            Kind::Stack => self.shown_stack(l),
            Kind::Array(ty, dims) => {
                let b = self.binding(&l.name)?;
                let (base, region) = self.part(l, &b)?;
                let first = Mem { base: Some(base), index: None, offset: 0, region };
                self.shown_array(first, ty, &dims)
            }
        }
    }

    /// Shows `{1, 2, 3}`, from this word on.
    fn shown_array(&mut self, first: Mem, ty: IntTy, dims: &[Dim]) -> Done<()> {
        let Some((dim, rest)) = dims.split_first() else {
            return self.statement(|b| {
                let value = b.copy(Operand::Mem(first));
                b.number_shown(value, ty);
                Ok(())
            });
        };
        self.print("{");
        let k = self.f.fresh("k", Ty::Int);
        let (body, done) = self.block(|b| {
            b.comma_between(k, Operand::Const(0));
            b.statement(|b| {
                let size = b.total(rest);
                let step = b.temporary("offset");
                let args = vec![Operand::Var(k), size];
                b.update(Sink::Pre, (Acc::Add, false), TableFn::Int(int_fn::Name::Mul), Place::Var(step), args);
                let m = Mem { index: Some(step), ..first };
                let first = if first.index.is_some() || !rest.is_empty() {
                    let whole = match first.index {
                        Some(before) => match b.sum(&[Operand::Var(before), Operand::Var(step)]) {
                            Operand::Var(v) => v,
                            Operand::Const(_) | Operand::Mem(_) => step,
                        },
                        None => step,
                    };
                    Mem { index: Some(whole), ..first }
                } else {
                    m
                };
                b.shown_array(first, ty, rest)
            })
        });
        done?;
        self.statement(|b| {
            let last = b.sum(&[dim.operand(), Operand::Const(u64::MAX)]);
            b.emit(
                Sink::Out,
                Ir::For { var: k, first: Operand::Const(0), last, step: Step::Const(1), body, blocks: None },
            );
            Ok(())
        })?;
        self.print("}");
        Ok(())
    }

    /// Prints a comma, except before element `first`.
    fn comma_between(&mut self, k: Var, first: Operand) {
        let (comma, ()) = self.block(|b| b.print(", "));
        let condition = Condition::of(Test::int(Cond::Ne, Operand::Var(k), first));
        self.emit(Sink::Out, Ir::branch(condition, comma, Vec::new()));
    }

    /// Shows `<3, 2, 1]` (the top first) or `nil`.
    fn shown_stack(&mut self, l: &Lval) -> Done<()> {
        let m = self.stack(&l.name)?;
        let count = self.count(&l.name)?;
        let (nil, ()) = self.block(|b| b.print("nil"));
        let k = self.f.fresh("k", Ty::Int);
        let (each, done) = self.block(|b| {
            b.comma_between(k, count);
            b.statement(|b| {
                let value = b.copy(Operand::Mem(Mem { index: Some(k), ..m }));
                b.number_shown(value, IntTy::Int);
                Ok(())
            })
        });
        done?;
        let (some, ()) = self.block(|b| {
            b.print("<");
            let one = Operand::Const(1);
            b.emit(
                Sink::Out,
                Ir::For { var: k, first: count, last: one, step: Step::Const(-1), body: each, blocks: None },
            );
            b.print("]");
        });
        let condition = Condition::of(Test::int(Cond::Eq, count, Operand::Const(0)));
        self.emit(Sink::Out, Ir::branch(condition, nil, some));
        Ok(())
    }

    /// `printf("…", …)`.
    pub(super) fn printf(&mut self, text: &str, args: &[Lval], span: &Span) -> Done<()> {
        let mut left = args.iter();
        let mut plain = String::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                plain.push(c);
                continue;
            }
            let wanted = match chars.next() {
                Some('%') => {
                    plain.push('%');
                    continue;
                }
                Some(c @ ('d' | 'a' | 't')) => c,
                other => {
                    let message =
                        format!("`%{}` is not a place for a variable", other.map_or(String::new(), String::from));
                    return self.fail(
                        span,
                        codes::FORMAT,
                        message,
                        "there are `%d` for integers, `%a` for arrays, `%t` for stacks, `%%`",
                    );
                }
            };
            let Some(l) = left.next() else {
                return self.fail(
                    span,
                    codes::FORMAT,
                    "the text has more placeholders than there are variables",
                    "give a variable for each",
                );
            };
            self.print(&std::mem::take(&mut plain));
            let kind = self.left(l)?;
            let fits = matches!((wanted, &kind), ('d', Kind::Scalar(_)) | ('a', Kind::Array(..)) | ('t', Kind::Stack));
            if !fits {
                let message = format!("`%{wanted}` is not a place for {}", kind.describe());
                return self.fail(
                    &l.span,
                    codes::FORMAT,
                    message,
                    "there are `%d` for integers, `%a` for arrays, `%t` for stacks",
                );
            }
            self.statement(|b| b.shown(l))?;
        }
        if let Some(l) = left.next() {
            return self.fail(
                &l.span,
                codes::FORMAT,
                "the text has fewer placeholders than there are variables",
                "write `%d`, `%a` or `%t` for each",
            );
        }
        self.print(&(plain + "\n"));
        Ok(())
    }
}
