//! Values in Futhark's notation: `1.5`, `3i32`, `[[1, 2], [3, 4]]`, `empty([0]f64)`, and tuples, records and constructors as in programs.

use nom::Parser as _;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{char, multispace0, satisfy};
use nom::combinator::{opt, recognize};
use nom::error::{Error, ErrorKind};
use nom::sequence::{delimited, pair, preceded};

use pendula_isa::budget::{Budget, Exceeded, Resource};
use pendula_isa::diagnostic::Diagnostic;

use super::elaborate::int_type;
use super::module::ValueType;
use super::types::Prim;
use crate::core::Value;
use crate::errors;
use crate::value::Array;

/// Why a value cannot be read, with the offset into its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    /// Where in the text.
    pub at: usize,
    /// What is wrong.
    pub what: String,
    /// The error's code.
    pub code: &'static str,
}

impl Wrong {
    /// As a diagnostic without a place.
    pub fn diagnostic(&self, text: &str) -> Diagnostic {
        let rest: String = text.get(self.at..).unwrap_or("").chars().take(20).collect();
        let message = if rest.is_empty() {
            format!("{} at the end of the value", self.what)
        } else {
            format!("{} at `{rest}`", self.what)
        };
        Diagnostic::error(self.code, message).help("write it as Futhark does: `1.5`, `[1, 2]`, `empty([0]f64)`")
    }
}

/// Reads values.
struct Reader<'t> {
    text: &'t str,
    budget: Budget,
    depth: u32,
}

type Read<T> = Result<T, Wrong>;
type Parsed<'t, T> = nom::IResult<&'t str, T>;

fn word(text: &str) -> Parsed<'_, &str> {
    recognize(pair(
        satisfy(|c| c.is_ascii_alphabetic() || c == '_'),
        take_while(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\''),
    ))
    .parse(text)
}

/// A number with its type's name: digits and what belongs to them, without a sign.
fn digits(text: &str) -> Parsed<'_, (&str, Option<Prim>)> {
    let (rest, hexadecimal) = opt(alt((tag("0x"), tag("0X"), tag("0b"), tag("0B")))).parse(text)?;
    let (rest, body) = if hexadecimal.is_some() {
        take_while1(|c: char| c.is_ascii_hexdigit() || c == '_').parse(rest)?
    } else {
        recognize((
            take_while1(|c: char| c.is_ascii_digit() || c == '_'),
            opt((char('.'), take_while(|c: char| c.is_ascii_digit() || c == '_'))),
            opt((
                alt((char('e'), char('E'))),
                opt(alt((char('+'), char('-')))),
                take_while1(|c: char| c.is_ascii_digit()),
            )),
        ))
        .parse(rest)?
    };
    let _ = body;
    let (rest, suffix) = opt(word).parse(rest)?;
    let prim = match suffix {
        None => None,
        Some(name) => match Prim::named(name) {
            Some(prim) if prim != Prim::Bool => Some(prim),
            _ => return Err(nom::Err::Error(Error::new(rest, ErrorKind::Verify))),
        },
    };
    let taken = text.len() - rest.len() - suffix.map_or(0, str::len);
    Ok((rest, (&text[..taken], prim)))
}

fn blank(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(comment) = rest.strip_prefix("--") {
        rest = comment.find('\n').map_or("", |end| &comment[end..]).trim_start();
    }
    rest
}

impl<'t> Reader<'t> {
    fn wrong<T>(&self, rest: &str, what: impl Into<String>) -> Read<T> {
        Err(Wrong { at: self.text.len() - rest.len(), what: what.into(), code: errors::FUT_VALUE })
    }

    fn exceeded<T>(&self, rest: &str, error: &Exceeded) -> Read<T> {
        Err(Wrong { at: self.text.len() - rest.len(), what: error.to_string(), code: error.code() })
    }

    fn value(&mut self, text: &'t str, ty: &ValueType) -> Read<(&'t str, Value)> {
        self.depth += 1;
        if self.depth > self.budget.depth {
            return self.exceeded(text, &Exceeded::new(Resource::Depth, self.budget.depth.into(), "the value"));
        }
        let found = match ty {
            ValueType::Prim(prim) => self.prim(blank(text), *prim),
            ValueType::Array(of) => self.array(blank(text), of),
            ValueType::Record(fields) => self.record(blank(text), fields, ty),
            ValueType::Sum(constrs) => self.sum(blank(text), constrs),
            ValueType::Other(name) => self.wrong(text, format!("a value of the type `{name}` has no notation")),
        };
        self.depth -= 1;
        found
    }

    fn prim(&self, text: &'t str, prim: Prim) -> Read<(&'t str, Value)> {
        if prim == Prim::Bool {
            return match word(text) {
                Ok((rest, "true")) => Ok((rest, Value::bool(true))),
                Ok((rest, "false")) => Ok((rest, Value::bool(false))),
                _ => self.wrong(text, "expected `true` or `false`"),
            };
        }
        let (rest, negative) = match text.strip_prefix('-') {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        if prim.is_float()
            && let Ok((rest, value)) = special(rest)
        {
            return Ok((rest, Value::real(if negative { -value } else { value })));
        }
        let Ok((rest, (body, suffix))) = digits(rest) else {
            return self.wrong(text, format!("expected a number of the type {}", prim.name()));
        };
        if suffix.is_some_and(|suffix| suffix != prim) {
            let suffix = suffix.map_or("", Prim::name);
            return self.wrong(text, format!("expected a number of the type {}, found one of {suffix}", prim.name()));
        }
        match int_type(prim) {
            None => match float(body) {
                Some(value) => Ok((rest, Value::real(if negative { -value } else { value }))),
                None => self.wrong(text, "expected a number"),
            },
            Some(int) => {
                let Some(value) = whole(body) else { return self.wrong(text, "expected a whole number") };
                let value = if negative { -value } else { value };
                // Futhark's own data write all bits, signed or not, with the type behind them; a number without a type must fit.
                let bits = int.bits();
                let decimal = body.bytes().all(|b| b.is_ascii_digit() || b == b'_');
                let free = suffix.is_some() || !decimal;
                let most = if int.signed() && !free { 1_i128 << (bits - 1) } else { 1_i128 << bits };
                let least = if int.signed() || free { -(1_i128 << (bits - 1)) } else { 0 };
                if !(least..most).contains(&value) {
                    return self.wrong(text, format!("the number does not fit into {}", prim.name()));
                }
                Ok((rest, Value::int(int, value as i64)))
            }
        }
    }

    fn array(&mut self, text: &'t str, of: &ValueType) -> Read<(&'t str, Value)> {
        if let Ok((rest, _)) = pair(tag::<_, _, Error<&str>>("empty"), multispace0).parse(text) {
            let Ok((after, sizes)) =
                delimited(char::<_, Error<&str>>('('), take_while1(|c| c != ')'), char(')')).parse(rest)
            else {
                return self.wrong(rest, "expected a type in parentheses");
            };
            return match self.shaped(sizes, of) {
                Some(value) => Ok((after, value)),
                None => self.wrong(rest, "expected the sizes of an array without elements"),
            };
        }
        let Some(rest) = text.strip_prefix('[') else { return self.wrong(text, "expected `[`") };
        let (mut rest, mut values) = (blank(rest), Vec::new());
        let mut length = None;
        if let Some(rest) = rest.strip_prefix(']') {
            return Ok((rest, Value::array(empty(of))));
        }
        loop {
            let start = rest;
            let (after, value) = self.value(rest, of)?;
            if let ValueType::Array(_) = of {
                let own = value.length().unwrap_or(0);
                if *length.get_or_insert(own) != own {
                    return self.wrong(start, "the rows of an array have different lengths");
                }
            }
            values.push(value);
            rest = blank(after);
            if let Some(after) = rest.strip_prefix(',') {
                rest = blank(after);
            } else if let Some(after) = rest.strip_prefix(']') {
                return Ok((after, Value::array(Array::of(values))));
            } else {
                return self.wrong(rest, "expected `,` or `]`");
            }
        }
    }

    /// The array of `[n][0]t`, whose rows have no elements.
    fn shaped(&self, sizes: &str, of: &ValueType) -> Option<Value> {
        let (size, rest) = sizes.trim_start().strip_prefix('[')?.split_once(']')?;
        let n: usize = size.trim().parse().ok()?;
        if n == 0 {
            return Some(Value::array(empty(of)));
        }
        let ValueType::Array(inner) = of else { return None };
        // Each row takes room, although it has no elements.
        (n as u64 <= self.budget.nodes).then_some(())?;
        Some(Value::array(Array::of(vec![self.shaped(rest, inner)?; n])))
    }

    fn record(&mut self, text: &'t str, fields: &[(String, ValueType)], ty: &ValueType) -> Read<(&'t str, Value)> {
        let tuple = ty.parts().is_some();
        let (open, close) = if tuple { ('(', ')') } else { ('{', '}') };
        let Some(mut rest) = text.strip_prefix(open) else { return self.wrong(text, format!("expected `{open}`")) };
        let mut parts = Vec::new();
        for (n, (name, ty)) in fields.iter().enumerate() {
            rest = blank(rest);
            if n > 0 {
                let Some(after) = rest.strip_prefix(',') else { return self.wrong(rest, "expected `,`") };
                rest = blank(after);
            }
            if !tuple {
                let Some(after) = rest.strip_prefix(name.as_str()).map(blank).and_then(|r| r.strip_prefix('=')) else {
                    return self.wrong(rest, format!("expected `{name} =`"));
                };
                rest = after;
            }
            let (after, value) = self.value(rest, ty)?;
            rest = after;
            parts.push(value);
        }
        match blank(rest).strip_prefix(close) {
            Some(rest) => Ok((rest, Value::tuple(parts))),
            None => self.wrong(rest, format!("expected `{close}`")),
        }
    }

    fn sum(&mut self, text: &'t str, constrs: &[(String, Vec<ValueType>)]) -> Read<(&'t str, Value)> {
        let Ok((mut rest, name)) = preceded(char('#'), word).parse(text) else {
            return self.wrong(text, "expected a constructor");
        };
        let Some((n, (_, args))) = constrs.iter().enumerate().find(|(_, (n, _))| n == name) else {
            return self.wrong(text, format!("there is no constructor `#{name}`"));
        };
        let mut parts = Vec::new();
        for ty in args {
            let (after, value) = self.value(rest, ty)?;
            rest = after;
            parts.push(value);
        }
        let payload = if parts.len() == 1 { parts.pop().unwrap_or_default() } else { Value::tuple(parts) };
        Ok((rest, Value::sum(n as u32, payload)))
    }
}

/// `nan`, `inf`, `f64.nan`.
fn special(text: &str) -> Parsed<'_, f64> {
    let (rest, _) = opt(alt((tag("f32."), tag("f64.")))).parse(text)?;
    let (rest, found) = word(rest)?;
    let value = match found {
        "nan" | "nanf32" | "nanf64" => f64::NAN,
        "inf" | "inff32" | "inff64" => f64::INFINITY,
        _ => return Err(nom::Err::Error(Error::new(rest, ErrorKind::Tag))),
    };
    Ok((rest, value))
}

fn whole(body: &str) -> Option<i128> {
    let body = body.replace('_', "");
    let lower = body.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        return i128::from_str_radix(hex, 16).ok();
    }
    if let Some(binary) = lower.strip_prefix("0b") {
        return i128::from_str_radix(binary, 2).ok();
    }
    body.parse().ok()
}

fn float(body: &str) -> Option<f64> {
    let plain = body.replace('_', "");
    if plain.len() > 1 && plain[..2].to_ascii_lowercase().starts_with("0x") {
        return whole(&plain).map(|n| n as f64);
    }
    plain.parse().ok()
}

/// An array without elements.
fn empty(of: &ValueType) -> Array {
    match of {
        ValueType::Prim(Prim::Bool) => Array::bools(Vec::new()),
        ValueType::Prim(prim) => match int_type(*prim) {
            Some(int) => Array::ints(int, Vec::new()),
            None => Array::reals(Vec::new()),
        },
        ValueType::Array(_) | ValueType::Record(_) | ValueType::Sum(_) | ValueType::Other(_) => Array::of(Vec::new()),
    }
}

/// Reads one value of a type.
///
/// # Errors
/// If the text is not one, or exceeds the budget.
pub fn parse(text: &str, ty: &ValueType, budget: Budget) -> Result<Value, Wrong> {
    let mut values = parse_all(text, &[ty], budget)?;
    Ok(values.pop().unwrap_or_default())
}

/// Reads values of several types, one after another, with commas between them or without.
///
/// # Errors
/// If the text does not consist of them, or exceeds the budget.
pub fn parse_all(text: &str, types: &[&ValueType], budget: Budget) -> Result<Vec<Value>, Wrong> {
    let mut reader = Reader { text, budget: budget.at_most(400, u32::MAX), depth: 0 };
    if let Err(error) = budget.large(text.len() as u64, || "the value".to_string()) {
        return reader.exceeded(text, &error);
    }
    let wanted = || {
        let types: Vec<String> = types.iter().map(|ty| format!("`{}`", shape(ty).replace("[0]", "[]"))).collect();
        match types.as_slice() {
            [] => "no value is wanted".to_string(),
            [only] => format!("one value is wanted, of the type {only}"),
            all => format!("{} values are wanted, of the types {}", all.len(), all.join(", ")),
        }
    };
    let (mut rest, mut values) = (text, Vec::new());
    for (n, ty) in types.iter().enumerate() {
        let next = if n > 0 { blank(rest).strip_prefix(',').unwrap_or(rest) } else { rest };
        if blank(next).is_empty() {
            let given = if n == 1 { "one is".to_string() } else { format!("{n} are") };
            return reader.wrong("", format!("{}, and {given} given: another is missing", wanted()));
        }
        let (after, value) = reader.value(next, ty)?;
        values.push(value);
        rest = after;
    }
    let rest = blank(rest);
    if rest.is_empty() { Ok(values) } else { reader.wrong(rest, format!("{}: there is one too many", wanted())) }
}

/// A value in Futhark's notation.
pub fn print(value: &Value, ty: &ValueType) -> String {
    let mut out = String::new();
    write(value, ty, &mut out);
    out
}

fn write(value: &Value, ty: &ValueType, out: &mut String) {
    match ty {
        ValueType::Prim(prim) => out.push_str(&number(value, *prim)),
        ValueType::Array(of) => match value.length() {
            Some(0) => {
                out.push_str("empty(");
                out.push_str(&shape(ty));
                out.push(')');
            }
            length => {
                out.push('[');
                for n in 0..length.unwrap_or(0) {
                    if n > 0 {
                        out.push_str(", ");
                    }
                    write(&value.element(n).ok().flatten().unwrap_or_default(), of, out);
                }
                out.push(']');
            }
        },
        ValueType::Record(fields) => {
            let tuple = ty.parts().is_some();
            out.push(if tuple { '(' } else { '{' });
            for (n, (name, t)) in fields.iter().enumerate() {
                if n > 0 {
                    out.push_str(", ");
                }
                if !tuple {
                    out.push_str(name);
                    out.push_str(" = ");
                }
                write(&value.part(n).ok().flatten().unwrap_or_default(), t, out);
            }
            out.push(if tuple { ')' } else { '}' });
        }
        ValueType::Sum(constrs) => {
            if let Ok(Some((n, payload))) = value.case()
                && let Some((name, args)) = constrs.get(n as usize)
            {
                out.push('#');
                out.push_str(name);
                for (n, t) in args.iter().enumerate() {
                    out.push(' ');
                    if args.len() == 1 {
                        write(&payload, t, out);
                    } else {
                        write(&payload.part(n).ok().flatten().unwrap_or_default(), t, out);
                    }
                }
            }
        }
        ValueType::Other(name) => {
            out.push_str("#<");
            out.push_str(name);
            out.push('>');
        }
    }
}

/// The type of an empty array.
fn shape(ty: &ValueType) -> String {
    match ty {
        ValueType::Array(of) => format!("[0]{}", shape(of)),
        ValueType::Prim(prim) => prim.name().to_string(),
        ValueType::Record(fields) => {
            let parts: Vec<String> = fields.iter().map(|(_, t)| shape(t)).collect();
            format!("({})", parts.join(", "))
        }
        ValueType::Sum(_) => "sum".to_string(),
        ValueType::Other(name) => name.clone(),
    }
}

fn number(value: &Value, prim: Prim) -> String {
    match value {
        Value::Bool(_, b) => b.to_string(),
        Value::Int(ty, _, x) if ty.signed() => format!("{x}{}", prim.name()),
        Value::Int(_, _, x) => format!("{}{}", *x as u64, prim.name()),
        Value::Real(_, x) if x.is_nan() => format!("{}.nan", prim.name()),
        Value::Real(_, x) if x.is_infinite() => {
            format!("{}{}.inf", if *x < 0.0 { "-" } else { "" }, prim.name())
        }
        Value::Real(_, x) if x.fract() == 0.0 && x.abs() < 1e17 => format!("{x:.1}{}", prim.name()),
        Value::Real(_, x) if x.abs() < 1e-5 || x.abs() >= 1e17 => format!("{x:e}{}", prim.name()),
        Value::Real(_, x) => format!("{x}{}", prim.name()),
        other => other.brief(),
    }
}
