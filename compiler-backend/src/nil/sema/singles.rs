//! Values of which the type tells all: `nothing`, `Val(3)`, `Val(:name)`, and the numbers that type parameters stand for.

use pendula_isa::Ty;

use super::Done;
use super::body::Body;
use super::value::{Literal, ScalarExpr, Value};
use crate::nil::ast::{self, ExprKind, Span, TypeArg};
use crate::nil::codes;
use crate::nil::types::{Type, is_single};

/// The value of a type parameter that stands for one.
pub(super) fn single(text: &str) -> Value {
    match (text, text.parse::<i64>()) {
        (_, Ok(n)) => Value::Num(ScalarExpr::int(n), Some(Ty::Int)),
        ("true" | "false", _) => Value::Bool(ScalarExpr::Const(u64::from(text == "true"))),
        _ => Value::Function(text.to_string()),
    }
}

/// Whether a value is one of which the type tells all.
pub(super) fn is_single_value(v: &Value) -> bool {
    matches!(v, Value::Function(name) if is_single(name))
}

impl Body<'_, '_> {
    /// `Val(3)`
    pub(super) fn val(&mut self, args: &[ast::Expr], span: &Span) -> Done<Value> {
        let [arg] = args else {
            let help = "write `Val(3)`, or `Val(:name)`";
            return self.fail(span, codes::ARGUMENTS, "`Val` takes one value", help);
        };
        let text = match self.eval(arg)? {
            Value::Num(ScalarExpr::Lit(Literal::Int(n)), None) => n.to_string(),
            Value::Num(x, Some(Ty::Int)) => match self.fold(x) {
                ScalarExpr::Const(w) => w.cast_signed().to_string(),
                _ => String::new(),
            },
            Value::Bool(ScalarExpr::Const(w)) => (w != 0).to_string(),
            Value::Function(name) if name.starts_with(':') => name,
            _ => String::new(),
        };
        if text.is_empty() {
            let message = "`Val` takes a value that is known before the run";
            return self.fail(
                &arg.span,
                codes::TYPE,
                message,
                "give a whole number, `true`, `false` or a name, `Val(:name)`",
            );
        }
        Ok(Value::Function(format!("Val({text})")))
    }

    /// `Val{3}()`
    pub(super) fn val_of_type(&mut self, t: &ast::TypeExpr) -> Done<Value> {
        let text = match t.args.as_slice() {
            [TypeArg::Number(n, _)] => n.to_string(),
            [TypeArg::Type(t)] => match self.types.get(&t.name.text) {
                Some(Type::Function(value)) => value.clone(),
                _ => t.name.text.clone(),
            },
            _ => String::new(),
        };
        if !is_single(&text) {
            return self.fail(
                &t.span,
                codes::TYPE,
                "`Val` takes a value that is known before the run",
                "write `Val(3)`",
            );
        }
        Ok(Value::Function(format!("Val({text})")))
    }

    /// Whether a condition asks for what is known before the run: `x === nothing`, `isnothing(x)`, or the number that a
    /// type parameter stands for.
    pub(super) fn asks_for_single(&self, e: &ast::Expr) -> bool {
        match &e.kind {
            ExprKind::Name(name) => {
                name == "nothing"
                    || self.scopes.find(name).is_none()
                        && matches!(self.types.get(name), Some(Type::Function(value)) if is_single(value))
            }
            ExprKind::Call { callee, .. } => matches!(&callee.kind, ExprKind::Name(name) if name == "isnothing"),
            _ => false,
        }
    }
}
