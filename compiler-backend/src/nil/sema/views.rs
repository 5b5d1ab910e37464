//! `x |> view`: a variable that is read and changed through a bijection.

use pendula_isa::Ty;
use pendula_isa::table::{Row, TableFn, f_fn, l_fn};

use super::Done;
use super::body::{Body, Sink};
use super::emit::sum;
use super::value::{ScalarExpr, Value};
use crate::ir::{Operand, Place, Stmt, identity};
use crate::nil::ast::{self, ExprKind, Span};
use crate::nil::codes;
use crate::nil::types::number_name;

/// A bijection on numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Lens {
    /// The number plus a constant.
    Plus(Ty, Operand),
    /// 1/x.
    Inverse(Ty),
}

impl Lens {
    /// The viewed number as a value.
    pub(super) fn of(self, x: ScalarExpr) -> ScalarExpr {
        match self {
            Lens::Plus(ty, c) => ScalarExpr::Apply(sum(ty, false), vec![x, c.into()]),
            Lens::Inverse(ty) => ScalarExpr::Apply(inverse(ty), vec![x]),
        }
    }
}

/// 1/x.
const fn inverse(ty: Ty) -> TableFn {
    match ty {
        Ty::L => TableFn::L(l_fn::Name::Inv),
        Ty::F | Ty::Int | Ty::Q => TableFn::F(f_fn::Name::Inv),
    }
}

impl Body<'_, '_> {
    /// `x |> view`.
    pub(super) fn pipe(&mut self, a: &ast::Expr, view: &ast::Expr, span: &Span) -> Done<Value> {
        if let ExprKind::Call { callee, args, dot: false, .. } = &view.kind
            && let ExprKind::Name(name) = &callee.kind
        {
            match (name.as_str(), args.as_slice()) {
                ("subarray", [_, ..]) => return self.index(a, args, span),
                ("tget", [k]) => return self.tget(a, k, span),
                ("AddConst", [c]) => return self.plus_view(a, c, false, span),
                ("SubConst", [c]) => return self.plus_view(a, c, true, span),
                _ => {}
            }
        }
        match &view.kind {
            ExprKind::Name(name) if name == "value" || name == "identity" => self.eval(a),
            ExprKind::Name(name) if name == "real" || name == "imag" => {
                let name = ast::Name { text: if name == "real" { "re" } else { "im" }.into(), span: view.span.clone() };
                self.field(a, &name, span)
            }
            ExprKind::Name(name) if name == "NEG" => {
                let value = self.eval(a)?;
                self.negate(value, span)
            }
            ExprKind::Name(name) if name == "CONJ" => {
                let kind = ExprKind::Adjoint(Box::new(a.clone()));
                self.eval(&ast::Expr { kind, span: span.clone() })
            }
            ExprKind::Name(name) if name == "INC" || name == "DEC" => {
                let one = ast::Expr { kind: ExprKind::Int("1".to_string()), span: view.span.clone() };
                self.plus_view(a, &one, name == "DEC", span)
            }
            ExprKind::Name(name) if name == "FLIP" => match self.eval(a)? {
                Value::Bool(x) => Ok(Value::Bool(super::expr::not(x))),
                other => {
                    let message = format!("`FLIP` is for truth values, found {}", other.describe());
                    self.fail(span, codes::TYPE, message, "of numbers, use `NEG`")
                }
            },
            ExprKind::Name(name) if name == "INV" => match self.eval(a)? {
                Value::Num(x, Some(ty @ (Ty::L | Ty::F))) => {
                    Ok(Value::Num(ScalarExpr::Viewed(Lens::Inverse(ty), Box::new(x)), Some(ty)))
                }
                Value::Log(log, sign) => Ok(Value::Log(super::expr::neg(log), sign)),
                other => {
                    let message = format!("`INV` is for ULogarithmic and Float64, found {}", other.describe());
                    self.fail(span, codes::TYPE, message, "convert the number, or compute 1/x into another variable")
                }
            },
            ExprKind::Name(name) if name == "grad" => self.fail(
                span,
                codes::UNSUPPORTED,
                "the gradient of a variable cannot be used inside a program",
                "gradients are taken from outside, by `pendula grad`",
            ),
            _ => self.call_value(view, view, false, std::slice::from_ref(a), &[]),
        }
    }

    /// `t |> tget(k)`: a part of a tuple.
    pub(super) fn tget(&mut self, a: &ast::Expr, k: &ast::Expr, span: &Span) -> Done<Value> {
        match self.eval(a)? {
            Value::Tuple(parts) => self.tuple_index(parts, std::slice::from_ref(k), span),
            other => {
                let message = format!("`tget` is for tuples, found {}", other.describe());
                self.fail(span, codes::TYPE, message, "index an array, `x[i]`; a struct's fields have names, `x.a`")
            }
        }
    }

    /// `x |> AddConst(c)`; with `minus`, `SubConst`.
    fn plus_view(&mut self, a: &ast::Expr, c: &ast::Expr, minus: bool, span: &Span) -> Done<Value> {
        match self.eval(a)? {
            Value::Num(x, Some(ty @ (Ty::Int | Ty::Q | Ty::F))) => {
                let expected_type = self.expected_type.replace(ty);
                let c = self.eval(c).and_then(|v| if minus { self.negate(v, span) } else { Ok(v) });
                let c = c.and_then(|v| self.number_as(v, ty, span));
                self.expected_type = expected_type;
                let c = self.put(ty, c?)?;
                let place = match c {
                    Operand::Const(_) => None,
                    Operand::Var(v) => Some(Place::Var(v)),
                    Operand::Mem(m) => Some(Place::Mem(m)),
                };
                if let (Some(place), Some(to)) = (place, self.targets(&Value::Num(x.clone(), Some(ty)))) {
                    self.keep_apart(&to, &[place], span)?;
                    self.now.reads.push(place);
                }
                Ok(Value::Num(ScalarExpr::Viewed(Lens::Plus(ty, c), Box::new(x)), Some(ty)))
            }
            Value::Num(ScalarExpr::Lit(_), None) => {
                self.fail(span, codes::NOT_ASSIGNABLE, "a constant cannot be changed", "change a variable")
            }
            other => {
                let message = format!("`AddConst` is for Int, Fixed and Float64, found {}", other.describe());
                let help = match other {
                    Value::Num(..) => "of a logarithmic number, see its logarithm: `x.log |> AddConst(c)`",
                    _ => "see a part of it: an element, or a field",
                };
                self.fail(span, codes::TYPE, message, help)
            }
        }
    }

    /// The place behind a view. During the statement it holds the viewed number. `None` if that number cannot be stored
    /// there.
    pub(super) fn opened(&mut self, x: &ScalarExpr, ty: Ty) -> Done<Option<Place>> {
        match x {
            ScalarExpr::Place(p) => Ok(Some(*p)),
            ScalarExpr::Neg(a) => {
                let Some(p) = self.opened(a, ty)? else { return Ok(None) };
                self.flush_for(p);
                self.emit(Sink::Pre, Stmt::Permute { row: Row::Neg, inverse: false, ty, args: vec![p.into()] });
                Ok(Some(p))
            }
            ScalarExpr::Viewed(lens, a) => {
                let Some(p) = self.opened(a, ty)? else { return Ok(None) };
                self.flush_for(p);
                // Reads of the place by its own view do not count as reads of the statement.
                let reads = self.now.reads.clone();
                match lens {
                    Lens::Plus(ty, c) => {
                        self.update(Sink::Pre, pendula_isa::Acc::Add, false, identity(*ty), p, vec![*c]);
                    }
                    Lens::Inverse(ty) => self.invert_number(Sink::Pre, p, *ty)?,
                }
                self.now.reads = reads;
                Ok(Some(p))
            }
            _ => Ok(None),
        }
    }

    /// Checks of indices come before the word is changed.
    fn flush_for(&mut self, p: Place) {
        if matches!(p, Place::Mem(_)) {
            self.flush_asserts();
        }
    }

    /// x := 1/x with an ancilla t: adds 1/x to t, subtracts 1/t from x, and exchanges the two.
    pub(super) fn invert_number(&mut self, sink: Sink, p: Place, ty: Ty) -> Done<()> {
        let t = self.fresh("INV.value", ty);
        let checks = crate::ir::AncillaChecks { check: ty == Ty::F, drop: true };
        self.emit(sink, Stmt::Ancilla { var: t, free: false, checks });
        let of = |x: ScalarExpr| ScalarExpr::Apply(inverse(ty), vec![x]);
        let acc = super::accumulator(ty);
        self.accumulate(sink, Place::Var(t), ty, acc, false, of(ScalarExpr::Place(p)))?;
        self.accumulate(sink, p, ty, acc, true, of(ScalarExpr::var(t)))?;
        let args = vec![Operand::Var(t), p.into()];
        self.emit(sink, Stmt::Permute { row: Row::Swap, inverse: false, ty: Ty::Int, args });
        self.emit(sink, Stmt::Ancilla { var: t, free: true, checks });
        Ok(())
    }

    /// The operands that an instruction changes, as plain words: a variable under a view holds the viewed number during
    /// the instruction.
    pub(super) fn plain(&mut self, v: Value, name: &str, span: &Span) -> Done<Value> {
        let mut one = |x: ScalarExpr, ty: Ty| match self.opened(&x, ty)? {
            Some(p) => Ok(ScalarExpr::Place(p)),
            None => {
                let message = format!("`{name}` cannot change {} through this view", number_name(ty));
                self.fail(
                    span,
                    codes::NOT_ASSIGNABLE,
                    message,
                    "change a logarithm by `x.log += y`, or the variable itself",
                )
            }
        };
        Ok(match v {
            Value::Num(x, Some(ty)) => Value::Num(one(x, ty)?, Some(ty)),
            Value::Complex(re, im, Some(ty)) => {
                let re = one(re, ty)?;
                Value::Complex(re, one(im, ty)?, Some(ty))
            }
            Value::Log(log, sign) => Value::Log(one(log, Ty::F)?, sign),
            Value::Bool(ScalarExpr::Not(_)) => {
                let message = format!("`{name}` cannot change a truth value through this view");
                return self.fail(span, codes::NOT_ASSIGNABLE, message, "change the variable itself");
            }
            Value::Struct(s, parts) => {
                Value::Struct(s, parts.into_iter().map(|p| self.plain(p, name, span)).collect::<Done<_>>()?)
            }
            Value::Tuple(parts) => {
                Value::Tuple(parts.into_iter().map(|p| self.plain(p, name, span)).collect::<Done<_>>()?)
            }
            other => other,
        })
    }

    /// A number of another type as a logarithmic number. The factors of a product or quotient are converted separately,
    /// so that nothing is rounded between.
    pub(super) fn logarithmic(&mut self, x: ScalarExpr, from: Ty, span: &Span) -> Done<ScalarExpr> {
        match x {
            ScalarExpr::Lit(l) => self.word(&l, Ty::L, span).map(ScalarExpr::Const),
            ScalarExpr::Neg(a) => Ok(super::expr::neg(self.logarithmic(*a, from, span)?)),
            ScalarExpr::Apply(f, args)
                if f.info().ty == from && f.info().from == from && matches!(f.info().name, "mul" | "div") =>
            {
                let Some(to) = super::emit::function(Ty::L, Ty::L, f.info().name, 2) else {
                    return self.convert(ScalarExpr::Apply(f, args), from, Ty::L, span);
                };
                let args = args.into_iter().map(|a| self.logarithmic(a, from, span)).collect::<Done<_>>()?;
                Ok(ScalarExpr::Apply(to, args))
            }
            ScalarExpr::Apply(f, mut args) if f.info().ty == from && f.info().name == "cvt" && args.len() == 1 => {
                match args.pop() {
                    Some(a) if f.info().from == Ty::L => Ok(a),
                    Some(a) => self.convert(a, f.info().from, Ty::L, span),
                    None => Err(super::Stop),
                }
            }
            other => self.convert(other, from, Ty::L, span),
        }
    }
}
