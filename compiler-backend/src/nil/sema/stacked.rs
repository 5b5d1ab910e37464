//! Arrays of arrays, and of structs of arrays, whose elements have one shape. They are arrays with one more dimension, the
//! last: it counts the elements.

use super::Done;
use super::array::{shift, value_of};
use super::body::Body;
use super::value::{Dim, Value, View};
use super::{Stop, value};
use crate::ir::{Operand, Place};
use crate::nil::ast::{self, ExprKind, Span};
use crate::nil::codes;
use crate::nil::types::Type;

/// The elements of such an array as a dimension.
pub(super) fn spine(views: &[View]) -> Option<View> {
    let first = views.first()?;
    Some(View { dims: first.dims.last().cloned().into_iter().collect(), ..first.clone() })
}

impl Body<'_, '_> {
    /// `x[i]`: an element, whose arrays are parts of those of x.
    pub(super) fn stacked_index(
        &mut self,
        (element, views): (&Type, &[View]),
        indices: &[ast::Expr],
        (base, span): (&Span, &Span),
    ) -> Done<Value> {
        let dim = spine(views).and_then(|view| view.dims.into_iter().next()).ok_or(Stop)?;
        let [e] = indices else {
            let help = "write `x[i]` for an element, and then its own indices: `x[i][j]`";
            return self.fail(span, codes::DIMENSIONS, "an array of arrays takes one index", help);
        };
        if matches!(e.kind, ExprKind::Colon | ExprKind::Range { .. }) {
            let help = "take its elements one by one, in a loop";
            return self.fail(span, codes::UNSUPPORTED, "a part of an array of arrays", help);
        }
        let at = self.index_value(e, &dim)?;
        let name = self.source(base);
        self.check_index(at, dim.len, &e.span, &format!("`{name}`"))?;
        self.stacked_element(element, &mut views.iter(), at)
    }

    fn stacked_element<'v>(
        &mut self,
        ty: &Type,
        views: &mut impl Iterator<Item = &'v View>,
        at: Operand,
    ) -> Done<Value> {
        let mut next = || {
            let mut view = views.next().cloned()?;
            let dim: Dim = view.dims.pop()?;
            shift(&mut view, at, &dim, -1);
            Some(view)
        };
        match ty {
            Type::Array { .. } => next().map(Value::Array).ok_or(Stop),
            Type::Struct(s) => {
                let fields: Done<Vec<Value>> =
                    s.fields.iter().map(|(_, ty)| self.stacked_element(ty, views, at)).collect();
                Ok(Value::Struct(std::rc::Rc::clone(s), fields?))
            }
            Type::Tuple(parts) => {
                let parts: Done<Vec<Value>> = parts.iter().map(|ty| self.stacked_element(ty, views, at)).collect();
                Ok(Value::Tuple(parts?))
            }
            Type::Function(name) => Ok(Value::Function(name.clone())),
            Type::Num(_) | Type::Bool | Type::Complex(_) | Type::Tropical(_) | Type::Log { .. } => {
                let words: Option<Vec<View>> = ty.word_types().iter().map(|_| next()).collect();
                let places: Done<Vec<Place>> = words.ok_or(Stop)?.iter().map(|view| self.address(view)).collect();
                value_of(ty, &mut places?.into_iter()).ok_or(Stop)
            }
        }
    }
}

impl value::Value {
    /// An array of arrays as the vector that its elements are; other values as they are.
    pub(super) fn into_vector(self) -> Value {
        match &self {
            Value::Stacked(_, views) => spine(views).map_or(self, Value::Array),
            _ => self,
        }
    }
}
