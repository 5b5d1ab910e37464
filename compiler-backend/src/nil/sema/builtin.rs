//! Calls in expressions: functions of the instruction table by their names there, what is made of them, conversions, sizes, and functions
//! of the program.

use pendula_isa::Ty;
use pendula_isa::table::TableFn;

use super::body::{Body, Sink};
use super::emit::{function, product, sum};
use super::value::{Literal, ScalarExpr, Value};
use super::{Done, Stop};
use crate::ir::{Operand, Place};
use crate::nil::ast::{self, Binary, ExprKind, Span};
use crate::nil::types::{Type, number};
use crate::nil::{codes, library};
use crate::syntax::nearest;

impl Body<'_, '_> {
    /// `f(args…)` as a value.
    pub(super) fn call_value(
        &mut self,
        e: &ast::Expr,
        callee: &ast::Expr,
        dot: bool,
        args: &[ast::Expr],
        keywords: &[(ast::Name, ast::Expr)],
    ) -> Done<Value> {
        let span = &e.span;
        let name = match &callee.kind {
            ExprKind::Name(name) => name.clone(),
            ExprKind::Type(t) => {
                let ty = self.type_expr(t)?;
                return self.construct(ty, args, span);
            }
            // `SparseArrays.getcolptr(A)`: a name with its module.
            ExprKind::Field(module, name) if matches!(module.kind, ExprKind::Name(_)) && !self.is_variable(module) => {
                name.text.clone()
            }
            ExprKind::Unary(ast::Unary::Tilde, _) => {
                return self.fail(span, codes::TYPE, "an inverse has no value", "call it as a statement");
            }
            _ => {
                let v = self.eval(callee)?;
                let Value::Function(name) = v else {
                    let message = format!("{} cannot be called", v.describe());
                    return self.fail(&callee.span, codes::TYPE, message, "call a function by its name");
                };
                name
            }
        };
        // A parameter may stand for a function.
        let name = match self.scopes.find(&name).and_then(|n| self.scopes.get(n)).map(|b| &b.value) {
            Some(Value::Function(f)) if f.starts_with('~') => {
                return self.fail(span, codes::TYPE, "an inverse has no value", "call it as a statement");
            }
            Some(Value::Function(f)) => f.clone(),
            _ => name,
        };
        // A type's name converts.
        let named = self.types.get(&name).cloned().or_else(|| (name == "Bool").then_some(Type::Bool));
        if let Some(ty) = named {
            return self.construct(ty, args, span);
        }
        if let Some(v) = self.sizes(&name, args, span)? {
            return Ok(v);
        }
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.eval_point(arg, dot)?);
        }
        if let Some(v) = self.user_value(&name, &values, args, keywords, span)? {
            return Ok(v);
        }
        if let Some((key, _)) = keywords.first() {
            return self.fail(&key.span, codes::ARGUMENTS, format!("`{name}` takes no keywords"), "leave it out");
        }
        self.apply(&name, values, span)
    }

    fn is_variable(&self, e: &ast::Expr) -> bool {
        matches!(&e.kind, ExprKind::Name(name) if self.scopes.find(name).is_some())
    }

    /// What asks for arrays' sizes and parts, and takes types: `length(x)`, `size(A, 1)`, `zero(T)`.
    fn sizes(&mut self, name: &str, args: &[ast::Expr], span: &Span) -> Done<Option<Value>> {
        let integer = |o: Operand| Value::Num(o.into(), Some(Ty::Int));
        let value = match (name, args) {
            ("tget", [t, k]) => self.tget(t, k, span)?,
            ("firstindex", [_]) => Value::Num(ScalarExpr::int(1), Some(Ty::Int)),
            ("length" | "lastindex", [a]) => match self.eval(a)? {
                Value::Array(view) => integer(self.length(&view)?),
                Value::Tuple(parts) | Value::Elements(parts) => {
                    Value::Num(ScalarExpr::int(parts.len() as i64), Some(Ty::Int))
                }
                other => {
                    let message = format!("{} has no length", other.describe());
                    return self.fail(span, codes::TYPE, message, "arrays have one");
                }
            },
            ("size", [a, ..]) => {
                let lens: Vec<Operand> = match self.eval(a)? {
                    Value::Array(view) => view.dims.iter().map(|d| d.len).collect(),
                    Value::Struct(s, fields) if s.name == "SparseMatrixCSC" => fields
                        .iter()
                        .take(2)
                        .filter_map(|f| if let Value::Num(x, _) = f { x.leaf() } else { None })
                        .collect(),
                    other => {
                        let message = format!("{} has no size", other.describe());
                        return self.fail(span, codes::TYPE, message, "arrays have one");
                    }
                };
                match args {
                    [_, d] => {
                        let v = self.eval(d)?;
                        let x = self.integer(v, &d.span)?;
                        let n = if let ScalarExpr::Const(n) = x { n } else { 0 };
                        match n.checked_sub(1).and_then(|n| lens.get(n as usize)) {
                            Some(len) => integer(*len),
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
                    _ => Value::Tuple(lens.into_iter().map(integer).collect()),
                }
            }
            ("axes" | "eachindex", [a]) | ("axes", [a, _]) => {
                let view = match self.eval(a)? {
                    Value::Array(view) => view,
                    other => {
                        let message = format!("{} has no indices", other.describe());
                        return self.fail(span, codes::TYPE, message, "arrays have them");
                    }
                };
                let len = match args {
                    [_, d] => {
                        let v = self.eval(d)?;
                        let x = self.integer(v, &d.span)?;
                        match x {
                            ScalarExpr::Const(n) if n >= 1 && n as usize <= view.dims.len() => {
                                view.dims[n as usize - 1].len
                            }
                            _ => {
                                return self.fail(
                                    &d.span,
                                    codes::DIMENSIONS,
                                    "no such dimension",
                                    "write `axes(A, 1)`",
                                );
                            }
                        }
                    }
                    _ => self.length(&view)?,
                };
                Value::Range(Box::new(ScalarExpr::int(1)), Box::new(ScalarExpr::int(1)), Box::new(len.into()))
            }
            ("zero" | "one", [a]) => {
                let ty = match self.eval(a)? {
                    Value::Type(t) => t,
                    other => other.type_of().ok_or(Stop)?,
                };
                match self.unit(&ty, name == "one") {
                    Some(v) => v,
                    None => {
                        let message = format!("{ty} has no {name}");
                        let help = match ty {
                            Type::Tropical(_) => "its zero would be minus infinity; begin with its one, the number 0",
                            Type::Log { .. } => "a logarithmic number in doubles is never 0; begin with its one",
                            Type::Array { .. } => "allocate an array: `x ← zero(y)`",
                            _ => "numbers have one, and structs and tuples of numbers",
                        };
                        return self.fail(span, codes::TYPE, message, help);
                    }
                }
            }
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
                    ("nnz", Some(Value::Array(view))) => integer(self.length(&view)?),
                    (_, Some(v)) => v,
                    (_, None) => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(value))
    }

    /// The zero or the one of a type; `None` for arrays.
    pub(super) fn unit(&mut self, ty: &Type, one: bool) -> Option<Value> {
        let word = |ty: Ty| -> ScalarExpr {
            let constant =
                if one { pendula_isa::calculus::Constant::ONE } else { pendula_isa::calculus::Constant::ZERO };
            let env = pendula_isa::Env { format: self.s.program.format, ..pendula_isa::Env::default() };
            ScalarExpr::Const(constant.word(env, ty))
        };
        Some(match ty {
            Type::Num(ty) => Value::Num(word(*ty), Some(*ty)),
            Type::Bool => Value::Bool(ScalarExpr::Const(u64::from(one))),
            Type::Complex(ty) => {
                let zero = self.unit(&Type::Num(*ty), false)?;
                let Value::Num(zero, _) = zero else { return None };
                let env = pendula_isa::Env { format: self.s.program.format, ..pendula_isa::Env::default() };
                let re = if one {
                    ScalarExpr::Const(pendula_isa::calculus::Constant::ONE.word(env, *ty))
                } else {
                    zero.clone()
                };
                Value::Complex(re, zero, Some(*ty))
            }
            // The one of (max, +) is the number 0; its zero, minus infinity, is no number.
            Type::Tropical(ty) if one => match self.unit(&Type::Num(*ty), false)? {
                Value::Num(x, _) => Value::Tropical(x, *ty),
                _ => return None,
            },
            Type::Struct(s) => {
                let fields: Option<Vec<Value>> = s.fields.iter().map(|(_, t)| self.unit(t, one)).collect();
                Value::Struct(std::rc::Rc::clone(s), fields?)
            }
            Type::Tuple(parts) => Value::Tuple(parts.iter().map(|t| self.unit(t, one)).collect::<Option<_>>()?),
            Type::Log { signed } if one => {
                Value::Log(ScalarExpr::Const(0), signed.then(|| Box::new(ScalarExpr::Const(0))))
            }
            Type::Tropical(_) | Type::Log { .. } | Type::Array { .. } | Type::Function(_) => return None,
        })
    }

    /// `T(args…)`: a conversion, or a struct.
    pub(super) fn construct(&mut self, ty: Type, args: &[ast::Expr], span: &Span) -> Done<Value> {
        let mut values = Vec::new();
        for arg in args {
            values.push(self.eval(arg)?);
        }
        self.construct_of(ty, values, span)
    }

    pub(super) fn construct_of(&mut self, ty: Type, mut values: Vec<Value>, span: &Span) -> Done<Value> {
        let wanted = match &ty {
            Type::Complex(_) => 1..=2,
            Type::Struct(s) => s.fields.len()..=s.fields.len(),
            _ => 1..=1,
        };
        if !wanted.contains(&values.len()) {
            let wanted = pendula_isa::diagnostic::plural(*wanted.end(), "value");
            let message = format!("{ty} is made of {wanted}, found {}", values.len());
            return self.fail(span, codes::ARGUMENTS, message, "give one for each part");
        }
        match ty {
            Type::Log { signed } => self.log_of(values.remove(0), signed, span),
            Type::Num(to) => match values.remove(0) {
                Value::Log(log, sign) => Ok(Value::Num(self.log_to(log, sign, to, span)?, Some(to))),
                Value::Num(x, Some(from)) => Ok(Value::Num(self.convert(x, from, to, span)?, Some(to))),
                Value::Tropical(x, from) => Ok(Value::Num(self.convert(x, from, to, span)?, Some(to))),
                other => Ok(Value::Num(self.number_as(other, to, span)?, Some(to))),
            },
            Type::Bool => match values.remove(0) {
                Value::Bool(x) => Ok(Value::Bool(x)),
                other => {
                    let x = self.integer(other, span)?;
                    let zero = Box::new(ScalarExpr::Const(0));
                    Ok(Value::Bool(ScalarExpr::Cmp(pendula_isa::Cond::Ne, Ty::Int, Box::new(x), zero)))
                }
            },
            Type::Tropical(to) => Ok(Value::Tropical(self.number_as(values.remove(0), to, span)?, to)),
            Type::Complex(to) => {
                let first = values.remove(0);
                if let Value::Complex(re, im, from) = first {
                    let one = |s: &mut Self, x: ScalarExpr| match from {
                        Some(from) => s.convert(x, from, to, span),
                        None => s.number_as(Value::Num(x, None), to, span),
                    };
                    return Ok(Value::Complex(one(self, re)?, one(self, im)?, Some(to)));
                }
                let re = self.number_as(first, to, span)?;
                let im = match values.pop() {
                    Some(v) => self.number_as(v, to, span)?,
                    None => self.number_as(Value::Num(ScalarExpr::Lit(Literal::Int(0)), None), to, span)?,
                };
                Ok(Value::Complex(re, im, Some(to)))
            }
            Type::Struct(s) => {
                let mut fields = Vec::new();
                for ((_, t), v) in s.fields.iter().zip(values) {
                    let v = match (t, v) {
                        (Type::Array { .. }, v) => v,
                        (t, v) => self.value_as(v, t, span)?,
                    };
                    fields.push(v);
                }
                Ok(Value::Struct(std::rc::Rc::clone(&s), fields))
            }
            other @ (Type::Tuple(_) | Type::Array { .. } | Type::Function(_)) => {
                let message = format!("{other} is not made this way");
                self.fail(span, codes::TYPE, message, "allocate arrays with `zeros(T, n)`")
            }
        }
    }

    /// A value as one of a type, where that loses nothing.
    pub(super) fn value_as(&mut self, v: Value, ty: &Type, span: &Span) -> Done<Value> {
        match (ty, v) {
            (Type::Num(ty), v) => Ok(Value::Num(self.number_as(v, *ty, span)?, Some(*ty))),
            (Type::Complex(to), v @ Value::Num(..)) => {
                let re = self.number_as(v, *to, span)?;
                let im = self.number_as(Value::Num(ScalarExpr::Lit(Literal::Int(0)), None), *to, span)?;
                Ok(Value::Complex(re, im, Some(*to)))
            }
            (Type::Complex(to), Value::Complex(re, im, from)) => {
                let re = self.number_as(Value::Num(re, from), *to, span)?;
                let im = self.number_as(Value::Num(im, from), *to, span)?;
                Ok(Value::Complex(re, im, Some(*to)))
            }
            (Type::Bool, v @ Value::Bool(_)) => Ok(v),
            (Type::Log { signed }, v @ (Value::Log(..) | Value::Num(ScalarExpr::Lit(_), None))) => {
                self.log_beside(v, *signed, span)
            }
            (Type::Struct(s), Value::Struct(t, fields)) if *s == t => Ok(Value::Struct(t, fields)),
            (Type::Tropical(s), Value::Tropical(x, t)) if *s == t => Ok(Value::Tropical(x, t)),
            (Type::Tuple(wanted), Value::Tuple(parts)) if wanted.len() == parts.len() => {
                let parts =
                    parts.into_iter().zip(wanted).map(|(v, t)| self.value_as(v, t, span)).collect::<Done<_>>()?;
                Ok(Value::Tuple(parts))
            }
            (ty, v) => {
                let message = format!("{ty} is wanted here, found {}", v.describe());
                self.fail(span, codes::TYPE, message, "convert it, or give another value")
            }
        }
    }

    /// A function by name on values.
    pub(super) fn apply(&mut self, name: &str, args: Vec<Value>, span: &Span) -> Done<Value> {
        let mut args = match self.composed(name, args, span)? {
            Ok(value) => return Ok(value),
            Err(args) => args,
        };
        match (name, args.as_slice()) {
            ("identity" | "value" | "unwrap", [_]) => return Ok(args.remove(0)),
            ("convert", [Value::Num(..) | Value::Bool(_) | Value::Log(..)]) if self.log_wanted().is_some() => {
                let signed = self.log_wanted() == Some(true);
                return self.log_of(args.remove(0), signed, span);
            }
            ("convert", [Value::Log(log, sign)]) => {
                let to = self.want.unwrap_or(Ty::F);
                return Ok(Value::Num(self.log_to(log.clone(), sign.clone(), to, span)?, Some(to)));
            }
            ("convert", [Value::Num(x, from)]) => {
                let to = match (self.want, from) {
                    (Some(to), _) => to,
                    (None, from) => from.unwrap_or(Ty::F),
                };
                return match from {
                    Some(from) => Ok(Value::Num(self.convert(x.clone(), *from, to, span)?, Some(to))),
                    None => Ok(Value::Num(self.number_as(args.remove(0), to, span)?, Some(to))),
                };
            }
            ("+" | "-" | "*" | "/" | "÷" | "%" | "^", [_, _]) => {
                let op = match name {
                    "+" => Binary::Add,
                    "-" => Binary::Sub,
                    "*" => Binary::Mul,
                    "/" => Binary::Div,
                    "÷" => Binary::Quot,
                    "%" => Binary::Rem,
                    _ => Binary::Pow,
                };
                let b = args.remove(1);
                return self.arithmetic(op, args.remove(0), b, span);
            }
            ("-", [_]) => return self.negate(args.remove(0), span),
            ("xor" | "⊻", [_, _]) => {
                let b = args.remove(1);
                return self.arithmetic(Binary::Xor, args.remove(0), b, span);
            }
            ("complex" | "Complex", [_] | [_, _]) => {
                let ty = args.iter().find_map(|v| if let Value::Num(_, Some(t)) = v { Some(*t) } else { None });
                return self.construct_of(Type::Complex(ty.unwrap_or(Ty::F)), args, span);
            }
            _ => {}
        }
        if let Some(Value::Complex(re, im, ty)) = args.first().cloned() {
            return self.complex_function(name, re, im, ty, args.len(), span);
        }
        if let Some(t) = self.log_named(name, &args) {
            return self.construct_of(t, args, span);
        }
        if let Some(ty) = number(name) {
            return self.construct_of(Type::Num(ty), args, span);
        }
        if let Some(s) = self.s.structs.get(name).cloned()
            && s.type_params.len() <= 1
        {
            return self.struct_of(&s, args, span);
        }
        if args.iter().any(|v| matches!(v, Value::Log(..) | Value::Type(Type::Log { .. }))) {
            return self.log_function(name, args, span);
        }
        match (name, args.as_slice()) {
            ("real", [Value::Num(..)]) | ("conj", [Value::Num(..)]) => Ok(args.remove(0)),
            ("imag", [Value::Num(..)]) => Ok(Value::Num(ScalarExpr::Lit(Literal::Int(0)), None)),
            ("abs2", [Value::Num(..)]) => {
                let a = self.shared(args.remove(0))?;
                self.arithmetic(Binary::Mul, a.clone(), a, span)
            }
            ("atan", [_, _]) => self.table_function("atan2", args, span),
            ("sincos", [_]) => {
                let a = self.shared(args.remove(0))?;
                let sin = self.table_function("sin", vec![a.clone()], span)?;
                Ok(Value::Tuple(vec![sin, self.table_function("cos", vec![a], span)?]))
            }
            ("fld" | "div" | "mod" | "rem", [_, _]) => {
                let of = match name {
                    "fld" => "div",
                    "div" => "quot",
                    other => other,
                };
                self.table_function(of, args, span)
            }
            ("isodd" | "iseven", [_]) => {
                let x = self.integer(args.remove(0), span)?;
                let and = function(Ty::Int, Ty::Int, "and", 2).ok_or(Stop)?;
                let cond = if name == "isodd" { pendula_isa::Cond::Ne } else { pendula_isa::Cond::Eq };
                Ok(Value::Bool(ScalarExpr::Cmp(
                    cond,
                    Ty::Int,
                    Box::new(ScalarExpr::FunctionId(and, vec![x, ScalarExpr::int(1)])),
                    Box::new(ScalarExpr::Const(0)),
                )))
            }
            ("sign", [Value::Num(x, Some(Ty::Int))]) => {
                let cmp = |cond| {
                    Box::new(ScalarExpr::Cmp(cond, Ty::Int, Box::new(x.clone()), Box::new(ScalarExpr::Const(0))))
                };
                let less = Box::new(ScalarExpr::Choice(
                    cmp(pendula_isa::Cond::Lt),
                    Box::new(ScalarExpr::int(-1)),
                    Box::new(ScalarExpr::Const(0)),
                ));
                Ok(Value::Num(
                    ScalarExpr::Choice(cmp(pendula_isa::Cond::Gt), Box::new(ScalarExpr::int(1)), less),
                    Some(Ty::Int),
                ))
            }
            ("abs" | "sign", [Value::Num(ScalarExpr::Lit(Literal::Int(n)), None)]) => {
                let n = if name == "abs" { n.wrapping_abs() } else { n.signum() };
                Ok(Value::Num(ScalarExpr::Lit(Literal::Int(n)), None))
            }
            ("abs", [Value::Num(x, Some(Ty::Int))]) => {
                let negative = ScalarExpr::Cmp(
                    pendula_isa::Cond::Lt,
                    Ty::Int,
                    Box::new(x.clone()),
                    Box::new(ScalarExpr::Const(0)),
                );
                let choice = ScalarExpr::Choice(
                    Box::new(negative),
                    Box::new(ScalarExpr::Neg(Box::new(x.clone()))),
                    Box::new(x.clone()),
                );
                Ok(Value::Num(choice, Some(Ty::Int)))
            }
            _ => self.table_function(name, args, span),
        }
    }

    /// A struct from its fields, its type argument being that of a field.
    fn struct_of(&mut self, s: &ast::Struct, args: Vec<Value>, span: &Span) -> Done<Value> {
        let mut bound = self.types.clone();
        if let Some(param) = s.type_params.first() {
            let fits = s
                .fields
                .iter()
                .zip(&args)
                .find(|((_, t), _)| t.as_ref().is_some_and(|t| t.name.text == param.name.text));
            if let Some(t) = fits.and_then(|(_, v)| v.type_of()) {
                bound.insert(param.name.text.clone(), t);
            }
        }
        let name = |text: &str| ast::Name { text: text.into(), span: span.clone() };
        let type_args = s
            .type_params
            .iter()
            .map(|p| {
                ast::TypeArg::Type(ast::TypeExpr { name: name(&p.name.text), args: Vec::new(), span: span.clone() })
            })
            .collect();
        let e = ast::TypeExpr { name: name(&s.name.text), args: type_args, span: span.clone() };
        let own = std::mem::replace(&mut self.types, bound);
        let ty = self.type_expr(&e);
        self.types = own;
        self.construct_of(ty?, args, span)
    }

    /// A function of the table, on numbers of one type or of the types that it takes.
    pub(super) fn table_function(&mut self, name: &str, args: Vec<Value>, span: &Span) -> Done<Value> {
        let candidates: Vec<TableFn> = TableFn::ALL.iter().copied().filter(|f| f.info().name == name).collect();
        if candidates.is_empty() || matches!(name, "" | "cvt") {
            let own =
                || nearest(name, TableFn::ALL.iter().map(|f| f.info().name).filter(|f| !matches!(*f, "" | "cvt")));
            let help = match (library::meant(name), self.near_function(name).or_else(own)) {
                (Some((module, call)), _) => {
                    format!(
                        "the library has the statement `{call}`: write `using {module}` at the beginning of the file"
                    )
                }
                (None, Some(near)) => format!("did you mean `{near}`?"),
                (None, None) => {
                    "functions are those of the instruction set (`pendula isa`), and the program's own".to_string()
                }
            };
            return self.fail(span, codes::FUNCTION, format!("there is no function `{name}`"), help);
        }
        let arity = candidates[0].info().args.len();
        if candidates.iter().all(|f| f.info().args.len() != args.len()) {
            let wanted = match (name, arity) {
                ("atan", _) => "1 or 2 arguments".to_string(),
                (_, 1) => "1 argument".to_string(),
                (_, n) => format!("{n} arguments"),
            };
            let message = format!("`{name}` takes {wanted}, found {}", args.len());
            let help = match library::meant(&format!("{name}imum")) {
                Some((module, call)) if args.len() == 1 => {
                    format!("give as many; of an array the library has the statement `{call}`: write `using {module}`")
                }
                _ => "give as many".to_string(),
            };
            return self.fail(span, codes::ARGUMENTS, message, help);
        }
        let integers = candidates.iter().any(|f| f.info().ty == Ty::Int);
        // The type in which the arguments meet.
        let mut ty = None;
        for v in &args {
            let t = match v {
                Value::Num(_, t) => *t,
                Value::Bool(_) => Some(Ty::Int),
                other => {
                    let message = format!("`{name}` is not for {}", other.describe());
                    let help = match other {
                        Value::Array(_) => {
                            format!("it takes numbers; with points it goes over the elements: `y .+= {name}.(x)`")
                        }
                        _ => "it takes numbers".to_string(),
                    };
                    return self.fail(span, codes::TYPE, message, help);
                }
            };
            ty = match (ty, t) {
                (None, t) => t,
                (Some(Ty::Int), Some(t)) => Some(t),
                (ty, _) => ty,
            };
        }
        let real = self.want.filter(|t| *t != Ty::Int).unwrap_or(Ty::F);
        let ty = match ty {
            Some(Ty::Int) if !integers => real,
            Some(t) => t,
            None if integers && args.iter().all(|v| matches!(v, Value::Num(ScalarExpr::Lit(Literal::Int(_)), _))) => {
                Ty::Int
            }
            None => real,
        };
        let mut xs = Vec::new();
        for v in args {
            xs.push(self.number_as(v, ty, span)?);
        }
        let (x, ty) = self.named(name, ty, xs, span)?;
        Ok(Value::Num(x, Some(ty)))
    }

    fn complex_function(
        &mut self,
        name: &str,
        re: ScalarExpr,
        im: ScalarExpr,
        ty: Option<Ty>,
        count: usize,
        span: &Span,
    ) -> Done<Value> {
        let ty = ty.unwrap_or(Ty::F);
        let re = self.typed(re, ty, span)?;
        let im = self.typed(im, ty, span)?;
        let num = |x: ScalarExpr| Value::Num(x, Some(ty));
        if count != 1 {
            return self.fail(
                span,
                codes::ARGUMENTS,
                format!("`{name}` of complex numbers takes one"),
                "give one argument",
            );
        }
        let f = |s: &mut Self, name: &str, args: Vec<ScalarExpr>| s.named(name, ty, args, span).map(|(x, _)| x);
        Ok(match name {
            "real" => num(re),
            "imag" => num(im),
            "conj" => Value::Complex(re, ScalarExpr::Neg(Box::new(im)), Some(ty)),
            "abs" => num(f(self, "hypot", vec![re, im])?),
            "angle" => num(f(self, "atan2", vec![im, re])?),
            "abs2" => {
                let (re, im): (ScalarExpr, ScalarExpr) = (self.put(ty, re)?.into(), self.put(ty, im)?.into());
                let square = |x: ScalarExpr| ScalarExpr::FunctionId(product(ty), vec![x.clone(), x]);
                num(ScalarExpr::FunctionId(sum(ty, false), vec![square(re), square(im)]))
            }
            "exp" => {
                let (re, im): (ScalarExpr, ScalarExpr) = (self.put(ty, re)?.into(), self.put(ty, im)?.into());
                let r = f(self, "exp", vec![re])?;
                let r: ScalarExpr = self.put(ty, r)?.into();
                let (c, s) = (f(self, "cos", vec![im.clone()])?, f(self, "sin", vec![im])?);
                Value::Complex(
                    ScalarExpr::FunctionId(product(ty), vec![r.clone(), c]),
                    ScalarExpr::FunctionId(product(ty), vec![r, s]),
                    Some(ty),
                )
            }
            "log" => {
                let (re, im): (ScalarExpr, ScalarExpr) = (self.put(ty, re)?.into(), self.put(ty, im)?.into());
                let r = f(self, "hypot", vec![re.clone(), im.clone()])?;
                Value::Complex(f(self, "log", vec![r])?, f(self, "atan2", vec![im, re])?, Some(ty))
            }
            "inv" => {
                let one = Value::Num(ScalarExpr::Lit(Literal::Int(1)), None);
                return self.arithmetic(Binary::Div, one, Value::Complex(re, im, Some(ty)), span);
            }
            _ => {
                let help = "of complex numbers there are abs, abs2, angle, real, imag, conj, exp, log and inv";
                return self.fail(span, codes::FUNCTION, format!("`{name}` is not for complex numbers"), help);
            }
        })
    }

    pub(super) fn typed(&mut self, x: ScalarExpr, ty: Ty, span: &Span) -> Done<ScalarExpr> {
        match x {
            ScalarExpr::Lit(literal) => self.word(&literal, ty, span).map(ScalarExpr::Const),
            ScalarExpr::Neg(a) => Ok(ScalarExpr::Neg(Box::new(self.typed(*a, ty, span)?))),
            other => Ok(other),
        }
    }

    /// A function of the program as a value: what it adds to a zero of its first parameter's type.
    fn user_value(
        &mut self,
        name: &str,
        values: &[Value],
        args: &[ast::Expr],
        keywords: &[(ast::Name, ast::Expr)],
        span: &Span,
    ) -> Done<Option<Value>> {
        let Some(target) = self.value_function(name, values) else { return Ok(None) };
        let (_, ty) = &target;
        let Some(zero) = self.unit(ty, matches!(ty, Type::Num(Ty::L) | Type::Log { .. })) else { return Ok(None) };
        // The ancilla begins among what is computed, and so does the call.
        let words = ty.word_types();
        let mut vars = Vec::new();
        for ty in words {
            let var = self.fresh(&format!("{name}.value"), ty);
            // A function may add in several steps, of which doubles leave a rest.
            let care = crate::ir::AncillaChecks { check: ty == Ty::F, drop: true };
            self.emit(Sink::Pre, crate::ir::Stmt::Ancilla { var, free: false, care });
            vars.push(var);
        }
        let mut places = vars.iter().map(|v| Place::Var(*v));
        let value = super::array::value_of(ty, &mut places).ok_or(Stop)?;
        let _ = zero;
        for v in values {
            v.places(&mut |p| self.reads.push(p));
            if let Value::Array(view) = v {
                self.regions_read.push(view.region);
            }
        }
        let (block, done) = self.block(|s| s.call_with(target.0, value.clone(), values, args, keywords, span));
        done?;
        self.flush_asserts();
        self.pre.extend(block);
        Ok(Some(value))
    }
}
