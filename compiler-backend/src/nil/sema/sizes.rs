//! Sizes and parts of arrays, and functions that take types: `length(x)`, `size(A, 1)`, `zero(T)`.

use pendula_isa::Ty;

use super::body::Body;
use super::value::{Dim, Product, ScalarExpr, Value, View};
use super::{Done, Stop};
use crate::ir::Operand;
use crate::nil::ast::{self, ExprKind, Span};
use crate::nil::codes;
use crate::nil::types::{Type, number};

impl Body<'_, '_> {
    /// Whether an expression is the name of a type.
    pub(super) fn is_type(&self, e: &ast::Expr) -> bool {
        match &e.kind {
            ExprKind::Name(name) => {
                self.scopes.find(name).is_none()
                    && (self.types.contains_key(name)
                        || number(name).is_some()
                        || matches!(name.as_str(), "Bool" | "ComplexF64")
                        || self.s.structs.get(name).is_some())
            }
            ExprKind::Type(_) => true,
            _ => false,
        }
    }

    /// Functions for sizes and parts of arrays, and functions that take types: `length(x)`, `size(A, 1)`, `zero(T)`.
    /// `None` for other functions.
    pub(super) fn sizes(&mut self, name: &str, args: &[ast::Expr], span: &Span) -> Done<Option<Value>> {
        if let ("length" | "lastindex" | "size" | "axes" | "eachindex" | "isempty" | "vec", [a, ..]) = (name, args)
            && let ExprKind::Name(_) = &a.kind
            && matches!(self.eval(a), Ok(Value::Array(view)) if view.keyed)
        {
            let help = "keep the number of its keys in a variable";
            return self.fail(span, codes::UNSUPPORTED, "a dictionary has no length here", help);
        }
        let value = match (name, args) {
            ("tget", [t, k]) => self.tget(t, k, span)?,
            ("view", [a, at @ ..]) if !at.is_empty() => self.index(a, at, span)?,
            // `zero(real(T))`
            ("real" | "float", [t]) if self.is_type(t) => match self.eval(t)? {
                Value::Type(Type::Complex(ty)) if name == "real" => Value::Type(Type::Num(ty)),
                Value::Type(Type::Num(Ty::Int)) if name == "float" => Value::Type(Type::Num(Ty::F)),
                other => other,
            },
            ("firstindex", [_]) => Value::Num(ScalarExpr::int(1), Some(Ty::Int)),
            ("length" | "lastindex", [a]) => match self.eval(a)?.into_vector() {
                Value::Array(view) => length_number(self.length(&view)?),
                Value::Tuple(parts) | Value::Elements(parts) => {
                    Value::Num(ScalarExpr::int(parts.len() as i64), Some(Ty::Int))
                }
                other => {
                    let message = format!("{} has no length", other.describe());
                    return self.fail(span, codes::TYPE, message, "arrays have one");
                }
            },
            ("size", [a, rest @ ..]) => self.size(a, rest, span)?,
            ("axes" | "eachindex", [a]) => self.axes(a, None, span)?,
            ("axes", [a, d]) => self.axes(a, Some(d), span)?,
            ("isempty", [_]) => {
                let Some(length) = self.sizes("length", args, span)? else { return Err(Stop) };
                let zero = Value::Num(ScalarExpr::int(0), Some(Ty::Int));
                self.binary(ast::Binary::Eq, length, zero, span)?
            }
            // All elements, column by column.
            ("vec", [a]) => match self.eval(a)? {
                Value::Array(view) if view.dims.len() == 1 => Value::Array(view),
                Value::Array(view) if view.is_contiguous() => {
                    let len = self.length(&view)?;
                    let stride = Product::number(view.element.words().unwrap_or(1));
                    Value::Array(View { dims: vec![Dim { len, stride }], ..view })
                }
                other => {
                    let message = format!("{} has no elements one after the other", other.describe());
                    return self.fail(span, codes::TYPE, message, "`vec` is for whole arrays; use two indices");
                }
            },
            ("_zero", [_]) => return self.sizes("zero", args, span),
            ("zero" | "one", [a]) => self.zero_or_one(a, name == "one", span)?,
            ("eltype" | "typeof", [a]) => match self.eval(a)?.type_of() {
                Some(Type::Array { element, .. }) if name == "eltype" => Value::Type(*element),
                Some(t) => Value::Type(t),
                None => return Err(Stop),
            },
            ("convert", [t, a]) if matches!(&t.kind, ExprKind::Name(n) if number(n) == Some(Ty::L)) => {
                let ExprKind::Name(t) = &t.kind else { return Err(Stop) };
                let value = self.eval(a)?;
                return self.apply(t, vec![value], span).map(Some);
            }
            ("convert", [t, a]) | ("oftype", [t, a]) => {
                let ty = match self.eval(t)? {
                    Value::Type(t) => t,
                    other => other.type_of().ok_or(Stop)?,
                };
                return self.construct(ty, std::slice::from_ref(a), span).map(Some);
            }
            ("nonzeros" | "rowvals" | "getcolptr" | "nnz", [a]) => {
                let value = self.eval(a)?;
                let Value::Struct(s, fields) = &value else { return Ok(None) };
                let field = match name {
                    "rowvals" => "rowval",
                    "getcolptr" => "colptr",
                    _ => "nzval",
                };
                let found = s.fields.iter().position(|(f, _)| f == field).and_then(|n| fields.get(n)).cloned();
                match (name, found) {
                    ("nnz", Some(Value::Array(view))) => length_number(self.length(&view)?),
                    (_, Some(v)) => v,
                    (_, None) => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(value))
    }

    /// `size(a)`, all lengths of an array or a sparse matrix; or `size(a, d)`, the length of one dimension.
    fn size(&mut self, a: &ast::Expr, dimension: &[ast::Expr], span: &Span) -> Done<Value> {
        let lens: Vec<Operand> = match self.eval(a)?.into_vector() {
            Value::Array(view) => view.dims.iter().map(|d| d.len).collect(),
            Value::Struct(s, fields) if s.name.contains("SparseMatrix") => {
                fields.iter().take(2).filter_map(|f| if let Value::Num(x, _) = f { x.leaf() } else { None }).collect()
            }
            other => {
                let message = format!("{} has no size", other.describe());
                return self.fail(span, codes::TYPE, message, "arrays have one");
            }
        };
        Ok(match dimension {
            [d] => {
                let v = self.eval(d)?;
                let x = self.integer(v, &d.span)?;
                let n = if let ScalarExpr::Const(n) = x { n } else { 0 };
                match n.checked_sub(1).and_then(|n| lens.get(n as usize)) {
                    Some(len) => length_number(*len),
                    // As in the host's language, further dimensions have one element.
                    None if n > 0 => Value::Num(ScalarExpr::int(1), Some(Ty::Int)),
                    None => {
                        return self.fail(
                            &d.span,
                            codes::DIMENSIONS,
                            "the dimension is a constant from 1",
                            "write `size(A, 1)`",
                        );
                    }
                }
            }
            _ => Value::Tuple(lens.into_iter().map(length_number).collect()),
        })
    }

    /// `axes(a, d)` or `eachindex(a)`: the range of an array's indices.
    fn axes(&mut self, a: &ast::Expr, dimension: Option<&ast::Expr>, span: &Span) -> Done<Value> {
        let view = match self.eval(a)?.into_vector() {
            Value::Array(view) => view,
            other => {
                let message = format!("{} has no indices", other.describe());
                return self.fail(span, codes::TYPE, message, "arrays have them");
            }
        };
        let len = match dimension {
            Some(d) => {
                let v = self.eval(d)?;
                let x = self.integer(v, &d.span)?;
                match x {
                    ScalarExpr::Const(n) if n >= 1 && n as usize <= view.dims.len() => view.dims[n as usize - 1].len,
                    _ => {
                        return self.fail(&d.span, codes::DIMENSIONS, "no such dimension", "write `axes(A, 1)`");
                    }
                }
            }
            None => self.length(&view)?,
        };
        Ok(Value::Range(Box::new(ScalarExpr::int(1)), Box::new(ScalarExpr::int(1)), Box::new(len.into())))
    }

    /// `zero(T)`, `one(x)`: for a type, or for the type of a value.
    fn zero_or_one(&mut self, a: &ast::Expr, one: bool, span: &Span) -> Done<Value> {
        let ty = match self.eval(a)? {
            Value::Type(t) => t,
            // The name of a type, as an argument.
            Value::Function(f) if number(&f).is_some() => number(&f).map(Type::Num).ok_or(Stop)?,
            other => other.type_of().ok_or(Stop)?,
        };
        match self.unit(&ty, one) {
            Some(v) => Ok(v),
            None => {
                let message = format!("{ty} has no {}", if one { "one" } else { "zero" });
                let help = match ty {
                    Type::Tropical(_) => "its zero would be minus infinity; begin with its one, the number 0",
                    Type::Log { .. } => "a logarithmic number in doubles is never 0; begin with its one",
                    Type::Array { .. } => "allocate an array: `x ← zero(y)`",
                    _ => "numbers have one, and structs and tuples of numbers",
                };
                self.fail(span, codes::TYPE, message, help)
            }
        }
    }
}

/// A length as a value.
fn length_number(len: Operand) -> Value {
    Value::Num(len.into(), Some(Ty::Int))
}
