//! Calls in expressions: functions of the instruction table and functions made of them, conversions, sizes, and
//! functions of the program.

use pendula_isa::Ty;
use pendula_isa::table::TableFn;

use super::body::{Body, Sink};
use super::emit::function;
use super::value::{Literal, ScalarExpr, Value};
use super::{Done, Stop};
use crate::ir::Place;
use crate::nil::ast::{self, Binary, ExprKind, Span};
use crate::nil::types::{Type, number};
use crate::nil::{codes, library};
use crate::syntax::nearest;

/// Whether a function that is made of those of the machine has this name.
pub(super) fn is_composed(name: &str) -> bool {
    const ALL: &[&str] = &[
        "identity", "abs2", "real", "imag", "conj", "sincos", "fld", "div", "mod", "rem", "isodd", "iseven", "+", "-",
        "*", "/", "÷", "%", "^", "⊻", "xor",
    ];
    ALL.contains(&name)
}

/// Whether a name is that of a function or an instruction that every program knows.
pub(in crate::nil) fn is_built_in(name: &str) -> bool {
    #[rustfmt::skip]
    const OTHERS: &[&str] = &[
        "angle", "atan", "axes", "cbrt", "ceil", "clamp", "cld", "complex", "content", "convert", "copy", "Dict", "dot", "eachindex", "eltype",
        "exp10", "exp2", "firstindex", "float", "fma", "gaussian_log", "gaussian_nlog", "getcolptr", "grad", "ifelse",
        "isempty", "isone", "iszero", "lastindex", "length", "log10", "logabsgamma", "mod1", "muladd", "nnz",
        "nonzeros", "norm", "oftype", "one", "ones", "polygamma", "Ref", "rowvals", "similar", "size", "subarray", "sum", "tget", "trigamma",
        "typeof", "unwrap", "value", "vec", "view", "zero", "zeros", "_zero",
    ];
    OTHERS.contains(&name)
        || is_composed(name)
        || super::instr::operands(name).is_some()
        || crate::nil::types::is_built_in(name)
        || TableFn::ALL.iter().any(|f| f.info().name == name)
}

impl<'a> Body<'_, 'a> {
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
            // `Complex{}(x, y)`: the type arguments are those of the values.
            ExprKind::Type(t) if t.args.is_empty() => t.name.text.clone(),
            ExprKind::Type(t) if t.name.text == "Val" && args.is_empty() => return self.val_of_type(t),
            ExprKind::Type(t) => {
                let ty = self.type_expr(t)?;
                return self.construct(ty, args, span);
            }
            // `SparseArrays.getcolptr(A)`: a name with its module.
            ExprKind::Field(module, name) if self.is_module(module) => name.text.clone(),
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
        // A parameter may be a function.
        let name = match self.scopes.find(&name).and_then(|n| self.scopes.get(n)).map(|b| &b.value) {
            Some(Value::Function(f)) if f.starts_with('~') => {
                return self.fail(span, codes::TYPE, "an inverse has no value", "call it as a statement");
            }
            Some(Value::Function(f)) => f.clone(),
            _ => name,
        };
        // The name of a type converts.
        let named = self.types.get(&name).cloned().or_else(|| (name == "Bool").then_some(Type::Bool));
        if let Some(ty) = named {
            return self.construct(ty, args, span);
        }
        if let Some(v) = self.sizes(&name, args, span)? {
            return Ok(v);
        }
        if name == "Val" && !self.s.by_name.contains_key("Val") {
            return self.val(args, span);
        }
        let (values, spans) = self.given(args, dot)?;
        // `PlusEq(f)` as an argument: a function that is called as a statement.
        if let ([Value::Function(f)], Some(_)) = (&values[..], ast::AssignOp::of_type(&name)) {
            return Ok(Value::Function(format!("{name}({f})")));
        }
        if let Some(v) = self.user_value(&name, (&values, &spans), keywords, span)? {
            return Ok(v);
        }
        if let Some(v) = self.host_value(&name, &values, keywords, span)? {
            return Ok(v);
        }
        if let Some((key, _)) = keywords.first() {
            return self.fail(&key.span, codes::ARGUMENTS, format!("`{name}` takes no keywords"), "leave it out");
        }
        self.apply(&name, values, span)
    }

    /// What a function makes of a value: one of the program, of the host, or of the machine.
    pub(super) fn value_at(&mut self, f: &str, of: Value, span: &Span) -> Done<Value> {
        let (values, spans) = (vec![of], std::slice::from_ref(span));
        if let Some(v) = self.user_value(f, (&values, spans), &[], span)? {
            return Ok(v);
        }
        match self.host_value(f, &values, &[], span)? {
            Some(v) => Ok(v),
            None => self.apply(f, values, span),
        }
    }

    pub(super) fn is_variable(&self, e: &ast::Expr) -> bool {
        matches!(&e.kind, ExprKind::Name(name) if self.scopes.find(name).is_some())
    }

    /// Whether it can be a module, as in `M.f(x)` and `M.N.f(x)`.
    pub(super) fn is_module(&self, e: &ast::Expr) -> bool {
        match &e.kind {
            ExprKind::Name(_) => !self.is_variable(e),
            ExprKind::Field(of, _) => self.is_module(of),
            _ => false,
        }
    }

    /// Applies a function by name to values.
    pub(super) fn apply(&mut self, name: &str, args: Vec<Value>, span: &Span) -> Done<Value> {
        if let Some(value) = self.defined_value(name, &args, span)? {
            return Ok(value);
        }
        let mut args = match self.composed(name, args, span)? {
            Ok(value) => return Ok(value),
            Err(args) => args,
        };
        match (name, args.as_slice()) {
            ("identity" | "value" | "unwrap" | "Ref", [_]) => return Ok(args.remove(0)),
            ("convert", [Value::Num(..) | Value::Bool(_) | Value::Log(..)]) if self.expected_log_sign().is_some() => {
                let signed = self.expected_log_sign() == Some(true);
                return self.log_of(args.remove(0), signed, span);
            }
            ("convert", [Value::Log(log, sign)]) => {
                let to = self.expected_type.unwrap_or(Ty::F);
                return Ok(Value::Num(self.log_to(log.clone(), sign.clone(), to, span)?, Some(to)));
            }
            ("convert", [Value::Num(x, from)]) => {
                let to = match (self.expected_type, from) {
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
        if let Some(s) = self.s.structs.get(name).cloned() {
            return self.struct_of(&s, args, span);
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
        if let "Tropical" | "TropicalNumber" | "TropicalF64" = name {
            let of = match args.as_slice() {
                [Value::Tropical(..)] => return Ok(args.remove(0)),
                [Value::Num(_, Some(ty @ (Ty::Q | Ty::F)))] => *ty,
                _ => self.expected_type.filter(|ty| *ty == Ty::Q).unwrap_or(Ty::F),
            };
            return self.construct_of(Type::Tropical(of), args, span);
        }
        if args.iter().any(|v| matches!(v, Value::Log(..) | Value::Type(Type::Log { .. }))) {
            return self.log_function(name, args, span);
        }
        self.real_function(name, args, span)
    }

    /// Applies a function by name to real numbers: a function of the table, or one made of such functions.
    fn real_function(&mut self, name: &str, mut args: Vec<Value>, span: &Span) -> Done<Value> {
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
            // The logarithm of the magnitude of the gamma function, and its sign: it changes at each negative integer.
            ("logabsgamma", [_]) => {
                let a = self.shared(args.remove(0))?;
                let gamma = self.table_function("lgamma", vec![a.clone()], span)?;
                let (zero, one) = (ScalarExpr::float(0.0), ScalarExpr::float(1.0));
                let a = self.number_as(a, Ty::F, span)?;
                let floor = |s: &mut Self, x: ScalarExpr| s.named("floor", Ty::F, vec![x], span).map(|(x, _)| x);
                let whole = floor(self, a.clone())?;
                let times = |x: ScalarExpr, by: f64| {
                    ScalarExpr::Apply(super::emit::product(Ty::F), vec![x, ScalarExpr::float(by)])
                };
                let even = floor(self, times(whole.clone(), 0.5))?;
                let twice = times(even, 2.0);
                let minus = ScalarExpr::Neg(Box::new(one.clone()));
                let odd = ScalarExpr::cmp(pendula_isa::Cond::Eq, Ty::F, twice, whole);
                let below = ScalarExpr::choice(odd, one.clone(), minus);
                let positive = ScalarExpr::cmp(pendula_isa::Cond::Gt, Ty::F, a, zero);
                let sign = ScalarExpr::choice(positive, one, below);
                Ok(Value::Tuple(vec![gamma, Value::Num(sign, Some(Ty::F))]))
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
                Ok(Value::Bool(ScalarExpr::cmp(
                    cond,
                    Ty::Int,
                    ScalarExpr::Apply(and, vec![x, ScalarExpr::int(1)]),
                    ScalarExpr::Const(0),
                )))
            }
            ("sign", [Value::Num(x, Some(Ty::Int))]) => {
                let cmp = |cond| Box::new(ScalarExpr::cmp(cond, Ty::Int, x.clone(), ScalarExpr::Const(0)));
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
                let negative = ScalarExpr::cmp(pendula_isa::Cond::Lt, Ty::Int, x.clone(), ScalarExpr::Const(0));
                let choice = ScalarExpr::choice(negative, ScalarExpr::Neg(Box::new(x.clone())), x.clone());
                Ok(Value::Num(choice, Some(Ty::Int)))
            }
            _ => self.table_function(name, args, span),
        }
    }

    /// A function of the table, applied to numbers of one type or of the types of its arguments.
    pub(super) fn table_function(&mut self, name: &str, args: Vec<Value>, span: &Span) -> Done<Value> {
        let candidates: Vec<TableFn> = TableFn::ALL.iter().copied().filter(|f| f.info().name == name).collect();
        if let Some(value) = self.reduced(name, &args, span)? {
            return Ok(value);
        }
        if candidates.is_empty() || matches!(name, "" | "cvt") {
            let wanted_name =
                || nearest(name, TableFn::ALL.iter().map(|f| f.info().name).filter(|f| !matches!(*f, "" | "cvt")));
            let help = match (library::suggestion(name), self.near_function(name).or_else(wanted_name)) {
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
            let expected = match (name, arity) {
                ("atan", _) => "1 or 2 arguments".to_string(),
                (_, 1) => "1 argument".to_string(),
                (_, n) => format!("{n} arguments"),
            };
            let message = format!("`{name}` takes {expected}, found {}", args.len());
            let help = match library::suggestion(&format!("{name}imum")) {
                Some((module, call)) if args.len() == 1 => {
                    format!("give as many; of an array the library has the statement `{call}`: write `using {module}`")
                }
                _ => "give as many".to_string(),
            };
            return self.fail(span, codes::ARGUMENTS, message, help);
        }
        let integers = candidates.iter().any(|f| f.info().ty == Ty::Int);
        // The common type of the arguments.
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
        let real = self.expected_type.filter(|t| *t != Ty::Int).unwrap_or(Ty::F);
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

    pub(super) fn typed(&mut self, x: ScalarExpr, ty: Ty, span: &Span) -> Done<ScalarExpr> {
        match x {
            ScalarExpr::Lit(literal) => self.word(&literal, ty, span).map(ScalarExpr::Const),
            ScalarExpr::Neg(a) => Ok(ScalarExpr::Neg(Box::new(self.typed(*a, ty, span)?))),
            other => Ok(other),
        }
    }

    /// A function of the program as a value: the change of a zero of its first parameter's type.
    fn user_value(
        &mut self,
        name: &str,
        given: (&[Value], &[Span]),
        keywords: &[(ast::Name, ast::Expr)],
        span: &Span,
    ) -> Done<Option<Value>> {
        let values = given.0;
        let Some(target) = self.value_function(name, values) else { return Ok(None) };
        let (_, ty) = &target;
        let neutral = matches!(ty, Type::Num(Ty::L) | Type::Log { .. });
        if matches!(ty, Type::Tropical(_)) || self.unit(ty, neutral).is_none() {
            return Ok(None);
        }
        // The ancilla and the call belong to the computation before the statement.
        let words = ty.word_types();
        let mut vars = Vec::new();
        for ty in words {
            let var = self.fresh(&format!("{name}.value"), ty);
            // A function may add in several steps, which leave a rounding error in doubles.
            let checks = crate::ir::AncillaChecks { check: ty == Ty::F, drop: true };
            self.emit(Sink::Pre, crate::ir::Stmt::Ancilla { var, free: false, checks });
            vars.push(var);
        }
        let mut places = vars.iter().map(|v| Place::Var(*v));
        let value = super::array::value_of(ty, &mut places).ok_or(Stop)?;
        for v in values {
            v.places(&mut |p| self.now.reads.push(p));
            if let Value::Array(view) = v {
                self.now.regions_read.push(view.region);
            }
        }
        let (block, done) = self.block(|s| s.call_with(target.0, value.clone(), given, keywords, span));
        done?;
        self.flush_asserts();
        self.now.pre.extend(block);
        Ok(Some(value))
    }
}
