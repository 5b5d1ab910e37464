//! Values that all elements of an array add up to: `sum(x)`, `sum(f, x)`, `dot(x, y)`, `norm(x)`.

use pendula_isa::{Cond, Ty};

use super::array::value_of;
use super::body::{Body, Sink};
use super::value::{Value, View};
use super::{Done, Stop};
use crate::ir::{AncillaChecks, AssertKind, Operand, Place, Stmt, Test};
use crate::nil::ast::{AssignOp, Binary, Span};
use crate::nil::codes;
use crate::nil::types::Type;

/// What is added up.
enum Sum<'v> {
    /// The elements, or what a function makes of them.
    Elements(Option<&'v str>, &'v View),
    /// The squares of their magnitudes; those of integers as doubles.
    Squares(&'v View),
    /// The products of two arrays' elements, of which the first are conjugated.
    Products(&'v View, &'v View),
}

impl Body<'_, '_> {
    /// A function that adds up elements; `None` for other functions.
    pub(super) fn reduced(&mut self, name: &str, args: &[Value], span: &Span) -> Done<Option<Value>> {
        let sum = match (name, args) {
            ("sum", [Value::Array(x)]) => Sum::Elements(None, x),
            ("sum", [Value::Function(f), Value::Array(x)]) => Sum::Elements(Some(f), x),
            ("norm", [Value::Array(x)]) => Sum::Squares(x),
            ("dot", [Value::Array(x), Value::Array(y)]) => Sum::Products(x, y),
            ("sum", [Value::Tuple(parts) | Value::Elements(parts)]) if !parts.is_empty() => {
                let mut parts = parts.iter().cloned();
                let first = parts.next().ok_or(Stop)?;
                return parts.try_fold(first, |sum, part| self.binary(Binary::Add, sum, part, span)).map(Some);
            }
            ("sum" | "norm" | "dot", _) => {
                let found = args.iter().map(Value::describe).collect::<Vec<_>>().join(" and ");
                let message = format!("`{name}` is not for {}", if found.is_empty() { "nothing" } else { &found });
                let help = "`sum(x)`, `sum(f, x)` and `norm(x)` take an array of numbers, and `dot(x, y)` two";
                return self.fail(span, codes::TYPE, message, help);
            }
            _ => return Ok(None),
        };
        let total = self.total(&sum, span)?;
        if name == "norm" {
            return self.table_function("sqrt", vec![total], span).map(Some);
        }
        Ok(Some(total))
    }

    /// The sum, in an ancilla of the computations before the statement.
    fn total(&mut self, sum: &Sum<'_>, span: &Span) -> Done<Value> {
        let (first, other) = match sum {
            Sum::Elements(_, x) | Sum::Squares(x) => (*x, None),
            Sum::Products(x, y) => (*x, Some(*y)),
        };
        if let Some(other) = other {
            if first.dims.len() != other.dims.len() {
                let help = "give arrays of one shape";
                return self.fail(span, codes::DIMENSIONS, "arrays of several shapes have no product", help);
            }
            let reason = self.reason("the arrays have different shapes".to_string());
            for (a, b) in first.dims.iter().zip(&other.dims).filter(|(a, b)| a.len != b.len) {
                let test = Test::int(Cond::Eq, a.len, b.len);
                self.now.asserts.push(Stmt::Assert { test, why: AssertKind::Shape, reason });
            }
        }
        let ty = match (&first.element, other.map(|y| &y.element), sum) {
            (Type::Complex(ty), None, Sum::Elements(Some("abs2"), _) | Sum::Squares(_)) => Type::Num(*ty),
            (Type::Num(Ty::Int) | Type::Bool, None, Sum::Squares(_)) => Type::Num(Ty::F),
            (Type::Bool, None, _) => Type::Num(Ty::Int),
            (Type::Num(Ty::Int), Some(own @ Type::Num(Ty::F | Ty::Q)), _) => own.clone(),
            (Type::Num(_), Some(own @ Type::Complex(_)), _) => own.clone(),
            (own, ..) => own.clone(),
        };
        if !matches!(ty, Type::Num(Ty::Int | Ty::Q | Ty::F) | Type::Complex(Ty::Q | Ty::F)) {
            let message = format!("elements of the type {} are not added up", first.element);
            return self.fail(span, codes::TYPE, message, "use a loop");
        }
        let mut vars = Vec::new();
        for ty in ty.word_types() {
            let var = self.fresh("sum", ty);
            // The additions leave a rounding error in doubles.
            let checks = AncillaChecks { check: ty == Ty::F, drop: true };
            self.emit(Sink::Pre, Stmt::Ancilla { var, free: false, checks });
            vars.push(var);
        }
        let total = value_of(&ty, &mut vars.iter().map(|v| Place::Var(*v))).ok_or(Stop)?;
        self.now.regions_read.extend([Some(first), other].into_iter().flatten().map(|view| view.region));
        let lens: Vec<Operand> = first.dims.iter().map(|d| d.len).collect();
        let (block, done) = self.block(|s| {
            s.for_each(&lens, &mut |s, at| {
                s.statement(|s| {
                    s.expected_type = super::assign::scalar_type(&total);
                    let value = match sum {
                        Sum::Elements(f, x) => {
                            let element = s.at(x, at, span)?;
                            f.map_or(Ok(element.clone()), |f| s.value_at(f, element, span))
                        }
                        Sum::Squares(x) => {
                            let element = match s.at(x, at, span)? {
                                v @ (Value::Num(_, Some(Ty::Int)) | Value::Bool(_)) => {
                                    Value::Num(s.number_as(v, Ty::F, span)?, Some(Ty::F))
                                }
                                v => v,
                            };
                            s.apply("abs2", vec![element], span)
                        }
                        Sum::Products(x, y) => {
                            let (a, b) = (s.at(x, at, span)?, s.at(y, at, span)?);
                            let a = s.apply("conj", vec![a], span)?;
                            s.binary(Binary::Mul, a, b, span)
                        }
                    };
                    s.expected_type = None;
                    let value = value?;
                    s.assign(AssignOp::Add, total.clone(), value, [span; 2], span)
                })
            })
        });
        done?;
        self.flush_asserts();
        self.now.pre.extend(block);
        Ok(total)
    }
}
