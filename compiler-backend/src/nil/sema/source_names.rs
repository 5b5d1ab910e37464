//! Records the names that variables and conditions have in the source, for messages about runs.

use pendula_isa::Ty;

use super::body::Body;
use super::value::{ScalarExpr, Value, mem};
use crate::ir::source::{Clause, Clauses, NamedOperand, Number, Place, Shape};
use crate::ir::{Loc, Place as Word};
use crate::nil::ast;
use crate::nil::types::Type;

/// The words in a text that may be names: `x!= 3` has `x!` and `x`.
fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '!'));
    parts.flat_map(|w| [w, w.trim_end_matches('!')]).filter(|w| !w.is_empty()).map(str::to_string).collect()
}

/// The words of a value as numbers; empty for arrays and functions.
fn numbers(ty: &Type) -> Vec<Number> {
    match ty {
        Type::Bool => vec![Number::Truth],
        ty => ty.word_types().into_iter().map(Number::Plain).collect(),
    }
}

/// A number with its place, if it has one.
fn number(x: &ScalarExpr, how: Number) -> Option<Shape> {
    let place = match x {
        ScalarExpr::Place(Word::Var(v)) => Place::Var(*v),
        ScalarExpr::Place(Word::Mem(m)) => Place::Mem(*m),
        ScalarExpr::Const(word) => Place::Const(*word),
        _ => return None,
    };
    Some(Shape::Number(how, place))
}

/// The shape of a value for messages; `None` if it is not one of a variable.
fn shape(value: &Value) -> Option<Shape> {
    let parts = |names: &mut dyn Iterator<Item = String>, values: &[Value]| {
        let parts = names.zip(values).filter_map(|(name, v)| Some(NamedOperand { name, shape: shape(v)? }));
        Shape::Parts(parts.collect())
    };
    match value {
        Value::Num(x, ty) => number(x, Number::Plain(ty.unwrap_or(Ty::F))),
        Value::Bool(x) => number(x, Number::Truth),
        Value::Tropical(x, ty) => number(x, Number::Plain(*ty)),
        Value::Complex(re, im, ty) => {
            let ty = Number::Plain(ty.unwrap_or(Ty::F));
            let named = |name: &str, x| Some(NamedOperand { name: name.to_string(), shape: number(x, ty)? });
            Some(Shape::Parts(vec![named("re", re)?, named("im", im)?]))
        }
        Value::Log(log, sign) => {
            let named = |name: &str, x, how| Some(NamedOperand { name: name.to_string(), shape: number(x, how)? });
            let log = named("log", log, Number::Plain(Ty::F))?;
            let sign = sign.as_ref().and_then(|sign| named("sign", sign, Number::Plain(Ty::Int)));
            Some(Shape::Parts(std::iter::once(log).chain(sign).collect()))
        }
        Value::Array(view) if view.terms.is_empty() && view.is_contiguous() => Some(Shape::Array {
            element: numbers(&view.element),
            start: mem(Some(view.base), None, view.offset, view.region),
            dims: view.dims.iter().map(|d| d.len).collect(),
            by_column: true,
        }),
        Value::Struct(s, values) => Some(parts(&mut s.fields.iter().map(|(name, _)| name.clone()), values)),
        Value::Tuple(values) => Some(parts(&mut (1..).map(|n: u32| n.to_string()), values)),
        Value::Array(_)
        | Value::Stacked(..)
        | Value::Elements(_)
        | Value::Function(_)
        | Value::Type(_)
        | Value::Range(..) => None,
    }
}

impl Body<'_, '_> {
    /// Records a variable.
    pub(super) fn note(&mut self, name: &str, value: &Value) {
        if let Some(shape) = shape(value) {
            self.f.names.push(NamedOperand { name: name.to_string(), shape });
        }
    }

    /// Records the conditions of a branch or loop.
    pub(super) fn clauses(&mut self, loc: Loc, keyword: &'static str, condition: &ast::Condition) {
        let Some(post) = &condition.post else { return };
        let input = self.s.inputs.get(self.file as usize);
        let clause = |keyword, e: &ast::Expr| {
            let text = input.and_then(|i| i.text.get(e.span.clone())).unwrap_or("");
            let loc = self.s.loc(self.file, &e.span);
            Clause { keyword, text: text.to_string(), loc, negated: false, names: words(text) }
        };
        let clauses = Clauses { pre: clause(keyword, &condition.pre), post: clause("", post) };
        self.s.program.note(loc, clauses);
    }
}
