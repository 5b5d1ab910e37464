//! Arguments of the entry point as data: the words of each parameter.

use pendula_isa::diagnostic::plural;
use pendula_isa::num::decimal;
use pendula_isa::table::{TableFn, f_fn};
use pendula_isa::{Env, Format, Ty, num::convert, num::log};

use crate::lower::{Argument as Data, ArgumentKind};
use crate::nil::ast::{self, ExprKind};
use crate::nil::types::Type;

/// A number as an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// As it was written.
    Text(String),
    /// From a file of integers.
    Int(i64),
    /// From a file of floating-point numbers.
    Float(f64),
}

/// An argument of the entry point, as the user gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A number or a truth value.
    Number(Number),
    /// An array: lengths, and elements column by column. Complex numbers and structs take several.
    Array(Vec<usize>, Vec<Number>),
    /// The parts of a complex number or a struct.
    Tuple(Vec<Argument>),
}

impl Number {
    /// Whether it looks like an integer: without a fraction or an exponent, and not from a file of floating-point numbers.
    pub fn is_whole(&self) -> bool {
        match self {
            Number::Text(t) => !t.contains(['.', 'e', 'E', 'n', 'N']) || t.starts_with("0x"),
            Number::Int(_) => true,
            Number::Float(_) => false,
        }
    }
}

/// The data symbols of an argument of a type, in the order of the parameter's words: what a run begins with. `name` is the parameter's.
///
/// # Errors
/// What is wrong with the value.
pub fn argument_data(name: &str, ty: &Type, value: Option<&Argument>, format: Format) -> Result<Vec<Data>, String> {
    let mut out = Vec::new();
    data(name, ty, value, format, &mut out)?;
    Ok(out)
}

fn data(name: &str, ty: &Type, value: Option<&Argument>, format: Format, out: &mut Vec<Data>) -> Result<(), String> {
    let wrong = |what: &str| format!("the argument `{name}` must be {ty}: {what}");
    let word_of = |n: &Number, ty: Ty| argument_word(n, ty, format).map_err(|why| wrong(&why));
    let parts = |v: &Argument| match v {
        Argument::Tuple(p) => Some(p.clone()),
        Argument::Number(_) | Argument::Array(..) => None,
    };
    match (ty, value) {
        (Type::Num(t) | Type::Tropical(t), Some(Argument::Number(n))) => {
            let value = word_of(n, *t)?;
            out.push(Data { name: data_name(name), kind: ArgumentKind::Word { ty: *t, value } });
        }
        (Type::Bool, Some(Argument::Number(Number::Text(t))))
            if t == "true" || t == "false" || t == "0" || t == "1" =>
        {
            let value = u64::from(t == "true" || t == "1");
            out.push(Data { name: data_name(name), kind: ArgumentKind::Word { ty: Ty::Int, value } });
        }
        // Truth values of a file.
        (Type::Bool, Some(Argument::Number(Number::Int(n @ (0 | 1))))) => {
            let kind = ArgumentKind::Word { ty: Ty::Int, value: n.cast_unsigned() };
            out.push(Data { name: data_name(name), kind });
        }
        (t @ Type::Log { signed }, Some(Argument::Number(n))) => {
            let (log, negative) = log_words(n, format).map_err(|why| wrong(&why))?;
            if negative && !signed {
                return Err(wrong("it is negative; `Logarithmic{Float64}` has a sign"));
            }
            let names = super::allocate::part_names(name, t);
            for (name, (ty, value)) in names.iter().zip([(Ty::F, log), (Ty::Int, u64::from(negative))]) {
                out.push(Data { name: data_name(name), kind: ArgumentKind::Word { ty, value } });
            }
        }
        (Type::Complex(t), Some(v)) => {
            let values = match (v, parts(v)) {
                (Argument::Number(n), _) => vec![n.clone(), Number::Int(0)],
                (_, Some(p)) if p.len() == 2 => {
                    p.iter().filter_map(|p| if let Argument::Number(n) = p { Some(n.clone()) } else { None }).collect()
                }
                _ => Vec::new(),
            };
            if values.len() != 2 {
                return Err(wrong("give two numbers in parentheses"));
            }
            for (part, n) in ["re", "im"].iter().zip(&values) {
                let kind = ArgumentKind::Word { ty: *t, value: word_of(n, *t)? };
                out.push(Data { name: data_name(&format!("{name}.{part}")), kind });
            }
        }
        (Type::Array { element, dims, .. }, Some(Argument::Array(lens, items))) => {
            let per = element.words().unwrap_or(1).unsigned_abs() as usize;
            let types = element.word_types();
            let Some(t) = types.first().copied().filter(|t| types.iter().all(|u| u == t)) else {
                return Err(wrong("arrays of structs with fields of several types cannot be given"));
            };
            let apart = parts_apart(lens, items, usize::from(*dims), per);
            let (lens, items) = apart.as_ref().map_or((&lens[..], &items[..]), |(lens, items)| (lens, items));
            if lens.len() != usize::from(*dims) {
                return Err(wrong(&format!("it has {}", plural(lens.len(), "dimension"))));
            }
            let count: usize = lens.iter().product();
            if items.len() != count && items.len() != count * per {
                let (numbers, elements) = (plural(items.len(), "number"), plural(count, "element"));
                return Err(wrong(&format!("{numbers} for {elements}")));
            }
            let mut words = Vec::with_capacity(count * per);
            let in_doubles = matches!(**element, Type::Log { .. });
            for n in items {
                if in_doubles {
                    let (log, negative) = log_words(n, format).map_err(|why| wrong(&why))?;
                    if negative {
                        return Err(wrong("an element is negative"));
                    }
                    words.push(log);
                    continue;
                }
                words.push(word_of(n, t)?);
                // Real numbers for complex elements.
                if items.len() == count {
                    words.extend(std::iter::repeat_n(0, per - 1));
                }
            }
            let lens = lens.iter().map(|n| *n as i64).collect();
            let own = if in_doubles { format!("{name}.log") } else { data_name(name) };
            out.push(Data { name: own, kind: ArgumentKind::Array { ty: t, words, lens } });
        }
        (Type::Struct(s), Some(v)) => {
            let p = parts(v).unwrap_or_default();
            if p.len() != s.fields.len() {
                let fields: Vec<&str> = s.fields.iter().map(|(f, _)| f.as_str()).collect();
                return Err(wrong(&format!("give its fields {} in parentheses", fields.join(", "))));
            }
            for ((f, t), v) in s.fields.iter().zip(&p) {
                data(&format!("{name}.{f}"), t, Some(v), format, out)?;
            }
        }
        (Type::Tuple(types), Some(v)) => {
            let p = parts(v).unwrap_or_default();
            for (n, (t, v)) in types.iter().zip(&p).enumerate() {
                data(&format!("{name}.{}", n + 1), t, Some(v), format, out)?;
            }
        }
        // Types alone: words that the user may set later.
        (t @ (Type::Num(_) | Type::Bool | Type::Complex(_) | Type::Tropical(_) | Type::Log { .. }), None) => {
            for (n, ty) in super::allocate::part_names(name, t).iter().zip(t.word_types()) {
                let value = if ty == Ty::L { log::ONE } else { 0 };
                out.push(Data { name: data_name(n), kind: ArgumentKind::Word { ty, value } });
            }
        }
        (Type::Array { .. }, None) => return Err(wrong("its lengths must be known: give it with `--args`")),
        (Type::Function(_), _) => return Err(wrong("a function cannot be given from outside")),
        (_, Some(_)) => return Err(wrong("this is a value of another kind")),
        (_, None) => return Err(wrong("it has no value")),
    }
    Ok(())
}

/// An array whose elements have several parts may be given with a dimension more, as files and JSON have it: the array by itself, its elements' parts
/// side by side.
fn parts_apart(lens: &[usize], items: &[Number], dims: usize, per: usize) -> Option<(Vec<usize>, Vec<Number>)> {
    let (last, lens) = lens.split_last()?;
    let count: usize = lens.iter().product();
    if lens.len() != dims || per < 2 || *last != per || items.len() != count * per {
        return None;
    }
    let elements = (0..count).flat_map(|at| (0..per).filter_map(move |part| items.get(at + part * count).cloned()));
    Some((lens.to_vec(), elements.collect()))
}

/// The logarithm of a number's magnitude as a double, and whether it is negative. `exp(…)` gives the logarithm itself.
fn log_words(n: &Number, format: Format) -> Result<(u64, bool), String> {
    if let Number::Text(t) = n {
        let (negative, rest) = t.strip_prefix('-').map_or((false, t.as_str()), |rest| (true, rest));
        if let Some(log) = rest.strip_prefix("exp(").and_then(|t| t.strip_suffix(')')) {
            let log = decimal::parse_f(log).map_err(|e| format!("`{t}`: {e}"))?;
            return Ok((log, negative));
        }
    }
    let word = argument_word(n, Ty::F, format)?;
    let x = f64::from_bits(word);
    let log = TableFn::F(f_fn::Name::Log);
    let env = Env { format, ..Env::default() };
    match pendula_isa::scalar::value(env, log, [x.abs().to_bits(), 0, 0]) {
        Ok(log) => Ok((log, x < 0.0)),
        Err(_) => Err(format!("the logarithm of {x} is no number")),
    }
}

fn argument_word(n: &Number, ty: Ty, format: Format) -> Result<u64, String> {
    let env = Env { format, ..Env::default() };
    let title = |e: pendula_isa::Fault| e.title().to_string();
    match (n, ty) {
        (Number::Text(t), Ty::Int) if t == "true" || t == "false" => Ok(u64::from(t == "true")),
        (Number::Text(t), Ty::Int) => {
            let t = t.replace('_', "");
            let parsed = t
                .strip_prefix("0x")
                .map_or_else(|| t.parse::<i64>().map(i64::cast_unsigned).ok(), |h| u64::from_str_radix(h, 16).ok());
            let whole = || {
                t.parse::<f64>()
                    .ok()
                    .filter(|x| x.fract() == 0.0 && x.abs() < 9.0e18)
                    .map(|x| (x as i64).cast_unsigned())
            };
            parsed.or_else(whole).ok_or_else(|| format!("`{t}` is no integer of 64 bits"))
        }
        (Number::Text(t), Ty::Q) => decimal::parse_q(t, format).map_err(|e| format!("`{t}`: {e}")),
        (Number::Text(t), Ty::L) => decimal::parse_l(t).map_err(|e| format!("`{t}`: {e}")),
        (Number::Text(t), Ty::F) => decimal::parse_f(t).map_err(|e| format!("`{t}`: {e}")),
        (Number::Int(k), Ty::Int) => Ok(k.cast_unsigned()),
        (Number::Int(k), Ty::Q) => convert::int_to_q(env, k.cast_unsigned()).map_err(title),
        (Number::Int(k), Ty::L) => convert::int_to_l(env, k.cast_unsigned()).map_err(title),
        (Number::Int(k), Ty::F) => Ok((*k as f64).to_bits()),
        (Number::Float(x), Ty::F) => Ok(x.to_bits()),
        (Number::Float(x), Ty::Int) if x.fract() == 0.0 && x.abs() < 9.0e18 => Ok((*x as i64).cast_unsigned()),
        (Number::Float(x), Ty::Int) => Err(format!("{x} is no integer")),
        (Number::Float(x), Ty::Q) => convert::f_to_q(env, x.to_bits()).map_err(title),
        (Number::Float(x), Ty::L) => convert::f_to_l(env, x.to_bits()).map_err(title),
    }
}

/// A name that the assembly has for data: not that of a register.
fn data_name(name: &str) -> String {
    if pendula_isa::Reg::parse(name).is_some() { format!("{name}$") } else { name.to_string() }
}

/// A number or a truth value, as it stands.
pub(super) fn literal(e: &ast::Expr) -> Option<super::value::Value> {
    use super::value::{Literal, ScalarExpr, Value};
    match &e.kind {
        ExprKind::Int(t) => Some(Value::Num(ScalarExpr::Lit(Literal::Int(t.parse().ok()?)), None)),
        ExprKind::Real(t) => Some(Value::Num(ScalarExpr::Lit(Literal::Real(t.clone())), None)),
        ExprKind::Bool(b) => Some(Value::Bool(ScalarExpr::Const(u64::from(*b)))),
        ExprKind::Unary(ast::Unary::Minus, a) => match literal(a)? {
            Value::Num(ScalarExpr::Lit(Literal::Int(n)), ty) => Some(Value::Num(ScalarExpr::Lit(Literal::Int(-n)), ty)),
            Value::Num(ScalarExpr::Lit(Literal::Real(t)), ty) => {
                Some(Value::Num(ScalarExpr::Lit(Literal::Real(format!("-{t}"))), ty))
            }
            _ => None,
        },
        _ => None,
    }
}
