//! Assignment statements: `y += e` and the like, on numbers, complex numbers, structs and arrays.

use pendula_isa::{Acc, Ty};

use super::body::{Body, Sink};
use super::expr::neg;
use super::tuples::contains_array;
use super::value::{Literal, ScalarExpr, Value, View};
use super::views::Lens;
use super::{Done, Stop};
use crate::ir::{Operand, Place, Step, Stmt, Var};
use crate::nil::ast::{self, AssignOp, ExprKind, Span};
use crate::nil::codes;
use crate::nil::types::{Type, number_name};

impl Body<'_, '_> {
    /// `target op value`.
    pub(super) fn assign_stmt(
        &mut self,
        op: AssignOp,
        dot: bool,
        target: &ast::Expr,
        value: &ast::Expr,
        span: &Span,
    ) -> Done<()> {
        if dot {
            return self.assign_points(op, target, value, span);
        }
        let before = self.s.diagnostics.len();
        let done = self.statement(|s| {
            let to = s.eval(target)?;
            (s.expected_type, s.expected_log) = (scalar_type(&to), log_type(&to));
            let done = s.assign_one(op, to, target, value, span);
            (s.expected_type, s.expected_log) = (None, None);
            done
        });
        if done.is_err() {
            self.point_at_read(before, span, &[target], &[value]);
        }
        done
    }

    fn assign_one(&mut self, op: AssignOp, to: Value, target: &ast::Expr, value: &ast::Expr, span: &Span) -> Done<()> {
        // A statement that the program defines for these types.
        if let Some((name, args, keywords)) = operation(value)
            && let Some((candidates, inverse)) = self.instruction(op, name)
        {
            let args: Vec<ast::Expr> = args.into_iter().cloned().collect();
            let (mut values, given) = self.given(&args, false)?;
            let types: Option<Vec<Type>> = std::iter::once(&to).chain(&values).map(Value::type_of).collect();
            if let Some(types) = types
                && self.choose(&candidates, &types).fits()
            {
                let spans: Vec<Span> = std::iter::once(target.span.clone()).chain(given).collect();
                values.insert(0, to);
                return self.invoke(&candidates, values, &spans, keywords, inverse, span);
            }
        }
        if contains_array(&to) && is_place(value) {
            let from = self.eval(value)?;
            return self.assign_whole(op, to, from, [&target.span, &value.span], span);
        }
        // `y += x` for arrays is `y .+= x`.
        if matches!(to, Value::Array(_)) && is_place(value) {
            return self.assign_points(op, target, value, span);
        }
        if let Value::Array(_) = to {
            let help = match &value.kind {
                ast::ExprKind::Binary { op: ast::Binary::Mul, dot: false, .. } => {
                    "a product of matrices is a statement of the library, `matvec!(y!, A, x)`, `matmul!(C!, A, B)`: write `using matrices`; element by element it is `y .+= a .* b`"
                }
                _ => "put a point before the operator, `y .+= x`, or write a loop",
            };
            return self.fail(&target.span, codes::TYPE, "an array is not changed as a whole", help);
        }
        let from = self.eval(value)?;
        self.assign(op, to, from, [&target.span, &value.span], span)
    }

    /// `y .+= e`: one statement for each element.
    fn assign_points(&mut self, op: AssignOp, target: &ast::Expr, value: &ast::Expr, span: &Span) -> Done<()> {
        let before = self.s.diagnostics.len();
        let done = self.statement(|s| {
            let view = match s.eval(target)? {
                Value::Array(view) => view,
                Value::Tuple(parts) => return s.assign_parts_of(op, parts, (target, value), span),
                _ => {
                    let message = "`.+=` and its kin change arrays and tuples";
                    return s.fail(&target.span, codes::TYPE, message, "leave out the point");
                }
            };
            s.keep_other_parts_apart(&view, value, span)?;
            let lens: Vec<Operand> = view.dims.iter().map(|d| d.len).collect();
            s.for_each(&lens, &mut |s, indices| {
                s.statement(|s| {
                    let to = s.at(&view, indices, &target.span)?;
                    (s.expected_type, s.expected_log) = (scalar_type(&to), log_type(&to));
                    s.points = Some(indices.to_vec());
                    s.shape.clone_from(&lens);
                    let from = s.eval_point(value, true);
                    (s.points, s.expected_type, s.expected_log) = (None, None, None);
                    s.shape.clear();
                    s.assign(op, to, from?, [&target.span, &value.span], span)
                })
            })
        });
        if done.is_err() {
            self.point_at_read(before, span, &[target], &[value]);
        }
        done
    }

    /// Refuses that a statement for every element reads other elements of the array that it changes.
    fn keep_other_parts_apart(&mut self, target: &View, value: &ast::Expr, span: &Span) -> Done<()> {
        if let ast::ExprKind::Index(..) | ast::ExprKind::Name(_) | ast::ExprKind::Pipe(..) = &value.kind {
            let found = self.s.diagnostics.len();
            let part = self.computed(|s| s.eval(value)).1;
            // What is wrong with it is reported where it is evaluated.
            self.s.diagnostics.truncate(found);
            return match part {
                Ok(Value::Array(view)) if view.region == target.region && view != *target => {
                    // Where it lies is computed in this statement.
                    let Value::Array(view) = self.eval(value)? else { return Err(super::Stop) };
                    self.keep_views_apart(target, &view, false, span)
                }
                _ => Ok(()),
            };
        }
        value.parts().into_iter().try_for_each(|part| self.keep_other_parts_apart(target, part, span))
    }

    /// Nested loops over all indices from 1; the first index is innermost.
    pub(super) fn for_each(&mut self, lens: &[Operand], f: &mut dyn FnMut(&mut Self, &[Var]) -> Done<()>) -> Done<()> {
        let indices: Vec<Var> = lens.iter().map(|_| self.fresh("i", Ty::Int)).collect();
        let (mut body, done) = self.block(|s| f(s, &indices));
        done?;
        for (var, len) in indices.iter().zip(lens) {
            let stmt =
                Stmt::For { var: *var, first: Operand::Const(1), last: *len, step: Step::Const(1), body, blocks: None };
            body = vec![stmt.at(self.loc)];
        }
        self.now.out.extend(body);
        Ok(())
    }

    /// `target op value` for operands of one shape, with the source ranges of both and of the statement.
    pub(super) fn assign(
        &mut self,
        op: AssignOp,
        to: Value,
        from: Value,
        [target, value]: [&Span; 2],
        span: &Span,
    ) -> Done<()> {
        let Some(writes) = self.targets(&to) else {
            let message = unchangeable(&to);
            return self.fail(
                target,
                codes::NOT_ASSIGNABLE,
                message,
                "change a variable, an element, a field, or one of these under a view",
            );
        };
        for place in &writes {
            self.writable(*place, target)?;
        }
        let mut reads = std::mem::take(&mut self.now.reads);
        from.places(&mut |p| reads.push(p));
        self.keep_apart(&writes, &reads, span)?;
        self.assign_parts(op, to, from, (value, span))
    }

    /// Refuses to change a loop counter or the length of an array.
    pub(super) fn writable(&mut self, place: Place, span: &Span) -> Done<()> {
        if let Place::Var(v) = place
            && self.fixed.contains(&v)
        {
            let help =
                "the variable of a `for` and the length of an array stay as they are; use a variable of your own";
            return self.fail(span, codes::NOT_ASSIGNABLE, "this cannot be changed", help);
        }
        Ok(())
    }

    fn assign_parts(&mut self, op: AssignOp, to: Value, from: Value, (value, span): (&Span, &Span)) -> Done<()> {
        match (to, from) {
            (Value::Num(x, ty), from) => {
                let ty = ty.ok_or(Stop)?;
                let from = match from {
                    // A real number cannot take a complex value: the other part would be lost.
                    Value::Tropical(x, t) if t == ty => Value::Num(x, Some(t)),
                    // Numbers that are multiplied onto logarithmic numbers are converted.
                    Value::Num(x, Some(t @ (Ty::Q | Ty::F))) if ty == Ty::L => {
                        Value::Num(self.logarithmic(x, t, value)?, Some(ty))
                    }
                    other => other,
                };
                let y = self.number_as(from, ty, value)?;
                self.assign_number(op, x, ty, y, span)
            }
            // (b |> FLIP) ⊻= c is b ⊻= c.
            (Value::Bool(ScalarExpr::Not(x)), from) if op == AssignOp::Xor => {
                self.assign_parts(op, Value::Bool(*x), from, (value, span))
            }
            (Value::Bool(ScalarExpr::Place(place)), from) => match (op, from) {
                (AssignOp::Xor, Value::Bool(y)) => self.accumulate(Sink::Out, place, Ty::Int, Acc::Xor, false, y),
                (AssignOp::Xor, other) => {
                    let message = format!("a truth value is expected here, found {}", other.describe());
                    self.fail(value, codes::TYPE, message, "compare: `x != 0`")
                }
                _ => {
                    let message = format!("`{}` forgets on truth values", op.text());
                    self.fail(span, codes::FORGETS, message, "use `⊻=`")
                }
            },
            (Value::Tropical(x, ty), Value::Tropical(y, t)) if ty == t => match op {
                AssignOp::Mul => self.assign_number(AssignOp::Add, x, ty, y, span),
                AssignOp::Div => self.assign_number(AssignOp::Sub, x, ty, y, span),
                _ => {
                    let message = format!("`{}` forgets on tropical numbers, where addition is the maximum", op.text());
                    self.fail(span, codes::FORGETS, message, "use `*=` and `/=`")
                }
            },
            (Value::Log(log, sign), from) => self.assign_log(op, log, sign, from, (value, span)),
            (Value::Complex(a, b, ty), from) => {
                if !matches!(op, AssignOp::Add | AssignOp::Sub) {
                    let message = format!("`{}` forgets on complex numbers", op.text());
                    return self.fail(span, codes::FORGETS, message, "use `+=` into a variable that is zero");
                }
                let ty = ty.ok_or(Stop)?;
                let (re, im) = match from {
                    Value::Complex(re, im, t) => (Value::Num(re, t), Some(Value::Num(im, t))),
                    other => (other, None),
                };
                let re = self.number_as(re, ty, value)?;
                self.assign_number(op, a, ty, re, span)?;
                match im {
                    Some(im) => {
                        let im = self.number_as(im, ty, value)?;
                        self.assign_number(op, b, ty, im, span)
                    }
                    None => Ok(()),
                }
            }
            (Value::Struct(s, to), Value::Struct(t, from)) if s == t => {
                for (to, from) in to.into_iter().zip(from) {
                    self.assign_parts(op, to, from, (value, span))?;
                }
                Ok(())
            }
            (Value::Tuple(to), Value::Tuple(from)) if to.len() == from.len() => {
                for (to, from) in to.into_iter().zip(from) {
                    self.assign_parts(op, to, from, (value, span))?;
                }
                Ok(())
            }
            (to, from) => {
                let message = format!("{} cannot take up {}", to.describe(), from.describe());
                self.fail(value, codes::TYPE, message, "both sides must have one type")
            }
        }
    }

    pub(super) fn assign_number(
        &mut self,
        op: AssignOp,
        x: ScalarExpr,
        ty: Ty,
        y: ScalarExpr,
        span: &Span,
    ) -> Done<()> {
        let place = match x {
            ScalarExpr::Place(place) => place,
            // −x += y is x −= y.
            ScalarExpr::Neg(a) => {
                return match (op, ty) {
                    (AssignOp::Add | AssignOp::Sub, Ty::Int | Ty::Q | Ty::F) => {
                        self.assign_number(op, *a, ty, neg(y), span)
                    }
                    _ => self.assign_number(op, *a, ty, y, span),
                };
            }
            // (x + c) += y is x += y, and (1/x) *= y is x /= y. For other operators, the variable holds the viewed
            // number during the statement.
            ScalarExpr::Viewed(Lens::Plus(..), a) if matches!(op, AssignOp::Add | AssignOp::Sub) => {
                return self.assign_number(op, *a, ty, y, span);
            }
            ScalarExpr::Viewed(Lens::Inverse(Ty::L), a) if matches!(op, AssignOp::Mul | AssignOp::Div) => {
                return self.assign_number(op.partner(), *a, ty, y, span);
            }
            x @ ScalarExpr::Viewed(..) => {
                // The value is computed from the variable before it is changed.
                let y = self.put(ty, y)?;
                match self.opened(&x, ty)? {
                    Some(p) => return self.assign_number(op, ScalarExpr::Place(p), ty, y.into(), span),
                    None => {
                        let help = "change the variable itself";
                        let message = "this view of a value that is computed cannot be changed";
                        return self.fail(span, codes::NOT_ASSIGNABLE, message, help);
                    }
                }
            }
            // x.log += y is x *= exp(y).
            ScalarExpr::Apply(f, args) if f == log_view() && matches!(op, AssignOp::Add | AssignOp::Sub) => {
                let op = if op == AssignOp::Add { AssignOp::Mul } else { AssignOp::Div };
                let e = self.word(&Literal::Float(std::f64::consts::E), Ty::L, span)?;
                let power = self.named("pow", Ty::L, vec![ScalarExpr::Const(e), y], span)?.0;
                let of = args.into_iter().next().ok_or(Stop)?;
                return self.assign_number(op, of, Ty::L, power, span);
            }
            _ => {
                return self.fail(
                    span,
                    codes::NOT_ASSIGNABLE,
                    "a value that is computed cannot be changed",
                    "change a variable",
                );
            }
        };
        let (acc, inverse) = match (op, ty) {
            (AssignOp::Add, Ty::Int | Ty::Q | Ty::F) => (Acc::Add, false),
            (AssignOp::Sub, Ty::Int | Ty::Q | Ty::F) => (Acc::Add, true),
            (AssignOp::Xor, Ty::Int) => (Acc::Xor, false),
            (AssignOp::Mul, Ty::L) => (Acc::Mul, false),
            (AssignOp::Div, Ty::L) => (Acc::Mul, true),
            _ => {
                let help = match ty {
                    _ if op == AssignOp::Xor => "`⊻=` is for Int and Bool",
                    Ty::L => "logarithmic numbers take `*=` and `/=`; sums of them go into an expression: `y *= a + b`",
                    Ty::Int => "multiply into another variable, `z += x * y`, or use a ULogarithmic number",
                    Ty::Q | Ty::F => {
                        "multiply into another variable, `z += x * y`; ULogarithmic numbers take `*=` and `/=`"
                    }
                };
                let message = format!("`{}` forgets on {}", op.text(), number_name(ty));
                return self.fail(span, codes::FORGETS, message, help);
            }
        };
        self.accumulate(Sink::Out, place, ty, acc, inverse, y)
    }
}

/// A call or an operator: its function, arguments and keywords.
pub(super) fn operation(value: &ast::Expr) -> Option<Operation<'_>> {
    match &value.kind {
        ExprKind::Call { callee, dot: false, args, keywords } => match &callee.kind {
            ExprKind::Name(name) => Some((name, args.iter().collect(), keywords)),
            _ => None,
        },
        ExprKind::Binary { op, dot: false, left, right } => Some((op.text(), vec![left, right], &[])),
        ExprKind::Unary(op, a) => Some((op.text(), vec![a], &[])),
        _ => None,
    }
}

/// The name of a function or an operator, its arguments, and its keywords.
type Operation<'e> = (&'e str, Vec<&'e ast::Expr>, &'e [(ast::Name, ast::Expr)]);

/// Why a target cannot be changed.
pub(super) fn unchangeable(v: &Value) -> String {
    match v {
        Value::Num(ScalarExpr::Lit(_) | ScalarExpr::Const(_), _) | Value::Bool(ScalarExpr::Const(_)) => {
            "a constant cannot be changed".into()
        }
        Value::Complex(ScalarExpr::Lit(_) | ScalarExpr::Const(_), ScalarExpr::Lit(_) | ScalarExpr::Const(_), _) => {
            "a constant cannot be changed".into()
        }
        Value::Struct(_, parts) | Value::Tuple(parts)
            if parts.iter().any(|p| matches!(p, Value::Array(_) | Value::Stacked(..))) =>
        {
            format!("{} is not changed as a whole", v.describe())
        }
        Value::Num(..)
        | Value::Bool(_)
        | Value::Complex(..)
        | Value::Tropical(..)
        | Value::Log(..)
        | Value::Struct(..)
        | Value::Tuple(_)
        | Value::Elements(_) => "a value that is computed cannot be changed".into(),
        Value::Array(_) | Value::Stacked(..) => "an array is not changed as a whole".into(),
        Value::Function(_) | Value::Type(_) | Value::Range(..) => format!("{} cannot be changed", v.describe()),
    }
}

/// The function that computes `x.log`.
fn log_view() -> pendula_isa::table::TableFn {
    pendula_isa::table::TableFn::Q(pendula_isa::table::q_fn::Name::LogL)
}

/// For a target that is a logarithmic number in doubles: whether it has a sign.
pub(super) fn log_type(v: &Value) -> Option<bool> {
    if let Value::Log(_, sign) = v { Some(sign.is_some()) } else { None }
}

/// The number type of a target, which literals and integers in the value take.
pub(super) fn scalar_type(v: &Value) -> Option<Ty> {
    match v {
        Value::Num(_, ty) | Value::Complex(_, _, ty) => *ty,
        Value::Bool(_) => Some(Ty::Int),
        Value::Tropical(_, ty) => Some(*ty),
        Value::Log(..) => Some(Ty::F),
        Value::Struct(_, parts) | Value::Tuple(parts) => parts.first().and_then(scalar_type),
        Value::Array(_)
        | Value::Stacked(..)
        | Value::Elements(_)
        | Value::Function(_)
        | Value::Type(_)
        | Value::Range(..) => None,
    }
}

/// Whether an expression names a place: a variable, or a part of one.
fn is_place(e: &ast::Expr) -> bool {
    match &e.kind {
        ExprKind::Name(_) => true,
        ExprKind::Call { callee, .. } => matches!(&callee.kind, ExprKind::Name(name) if name == "vec"),
        ExprKind::Field(inner, _) | ExprKind::Index(inner, _) | ExprKind::Adjoint(inner) => is_place(inner),
        _ => false,
    }
}
