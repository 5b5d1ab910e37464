//! Arguments of the entry point as data: the words of each parameter.

use pendula_isa::diagnostic::plural;
use pendula_isa::num::decimal;
use pendula_isa::table::{TableFn, f_fn};
use pendula_isa::{Env, Format, Ty, num::convert, num::log};

use crate::lower::{Argument as Data, ArgumentKind};
use crate::nil::ast::{self, ExprKind};
use crate::nil::types::{Layout, Type};

/// A number of an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// As written on the command line.
    Text(String),
    /// From a file of integers.
    Int(i64),
    /// From a file of floating-point numbers.
    Float(f64),
}

/// An argument of the entry point, as the user gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A number or a Boolean.
    Number(Number),
    /// An array: lengths, and elements column by column. A complex number or a struct takes several numbers.
    Array(Vec<usize>, Vec<Number>),
    /// The parts of a complex number or a struct.
    Tuple(Vec<Argument>),
    /// An array of what is no number and no tuple of numbers: of structs of arrays.
    List(Vec<Argument>),
}

impl Number {
    /// Whether it looks like an integer: it has no fraction and no exponent, and is not from a file of floating-point
    /// numbers.
    pub fn is_whole(&self) -> bool {
        match self {
            Number::Text(t) => !t.contains(['.', 'e', 'E', 'n', 'N']) || t.starts_with("0x"),
            Number::Int(_) => true,
            Number::Float(_) => false,
        }
    }
}

impl Argument {
    /// The parts of a complex number, a struct or a tuple; empty for other arguments.
    fn parts(&self) -> &[Argument] {
        match self {
            Argument::Tuple(parts) => parts,
            Argument::Number(_) | Argument::Array(..) | Argument::List(_) => &[],
        }
    }
}

/// The data symbols of an argument, in the order of the parameter's words, with their initial values. `name` is the
/// parameter's.
///
/// # Errors
/// A message if the value does not fit the type.
pub fn argument_data(name: &str, ty: &Type, value: Option<&Argument>, format: Format) -> Result<Vec<Data>, String> {
    let mut data = ArgumentData { format, out: Vec::new() };
    data.argument(name, ty, value)?;
    Ok(data.out)
}

/// The data symbols of one argument so far.
struct ArgumentData {
    format: Format,
    out: Vec<Data>,
}

impl ArgumentData {
    fn word(&mut self, name: &str, ty: Ty, value: u64) {
        self.out.push(Data { name: data_name(name), kind: ArgumentKind::Word { ty, value } });
    }

    /// The word of a number in type `ty`; `of` is the type of the argument, for the message.
    fn number(&self, name: &str, of: &Type, n: &Number, ty: Ty) -> Result<u64, String> {
        argument_word(n, ty, self.format).map_err(|why| wrong(name, of, &why))
    }

    fn argument(&mut self, name: &str, ty: &Type, value: Option<&Argument>) -> Result<(), String> {
        match (ty, value) {
            (Type::Num(t) | Type::Tropical(t), Some(Argument::Number(n))) => {
                let value = self.number(name, ty, n, *t)?;
                self.word(name, *t, value);
            }
            (Type::Bool, Some(Argument::Number(Number::Text(t))))
                if t == "true" || t == "false" || t == "0" || t == "1" =>
            {
                self.word(name, Ty::Int, u64::from(t == "true" || t == "1"));
            }
            // Booleans from a file.
            (Type::Bool, Some(Argument::Number(Number::Int(n @ (0 | 1))))) => {
                self.word(name, Ty::Int, n.cast_unsigned());
            }
            (Type::Log { signed }, Some(Argument::Number(n))) => self.logarithm(name, ty, *signed, n)?,
            (Type::Complex(t), Some(v)) => self.complex(name, ty, *t, v)?,
            (Type::Array { element, .. }, Some(v @ (Argument::List(_) | Argument::Array(..))))
                if element.words().is_none() =>
            {
                self.stacked((name, ty), element, v)?;
            }
            (Type::Array { element, dims, layout }, Some(Argument::Array(lens, items))) => {
                self.array(name, ty, (element, usize::from(*dims)), lens, items)?;
                if *layout == Layout::Growing {
                    self.grow(element);
                }
            }
            (Type::Struct(s), Some(v)) => {
                let parts = v.parts();
                if parts.len() != s.fields.len() {
                    let fields: Vec<&str> = s.fields.iter().map(|(f, _)| f.as_str()).collect();
                    return Err(wrong(name, ty, &format!("give its fields {} in parentheses", fields.join(", "))));
                }
                for ((f, t), v) in s.fields.iter().zip(parts) {
                    self.argument(&format!("{name}.{f}"), t, Some(v))?;
                }
            }
            (Type::Tuple(types), Some(v)) => {
                for (n, (t, v)) in types.iter().zip(v.parts()).enumerate() {
                    self.argument(&format!("{name}.{}", n + 1), t, Some(v))?;
                }
            }
            // Only the type is given: the user may set the words later.
            (Type::Num(_) | Type::Bool | Type::Complex(_) | Type::Tropical(_) | Type::Log { .. }, None) => {
                for (n, word) in crate::nil::types::part_names(name, ty).iter().zip(ty.word_types()) {
                    self.word(n, word, if word == Ty::L { log::ONE } else { 0 });
                }
            }
            (Type::Array { .. }, None) => {
                return Err(wrong(name, ty, "its lengths must be known: give it with `--args`"));
            }
            // Its name is a part of its type: it takes no words.
            (Type::Function(_), Some(Argument::Number(_))) => {}
            (Type::Function(_), _) => return Err(wrong(name, ty, "give the function by its name")),
            (_, Some(_)) => return Err(wrong(name, ty, "this is a value of another kind")),
            (_, None) => return Err(wrong(name, ty, "it has no value")),
        }
        Ok(())
    }

    /// A logarithmic number in doubles: its logarithm, and its sign if it has one.
    fn logarithm(&mut self, name: &str, ty: &Type, signed: bool, n: &Number) -> Result<(), String> {
        let (log, negative) = log_words(n, self.format).map_err(|why| wrong(name, ty, &why))?;
        if negative && !signed {
            return Err(wrong(name, ty, "it is negative; `Logarithmic{Float64}` has a sign"));
        }
        let names = crate::nil::types::part_names(name, ty);
        for (name, (ty, value)) in names.iter().zip([(Ty::F, log), (Ty::Int, u64::from(negative))]) {
            self.word(name, ty, value);
        }
        Ok(())
    }

    /// A complex number with parts of type `part`: a real number, or two numbers in parentheses.
    fn complex(&mut self, name: &str, ty: &Type, part: Ty, value: &Argument) -> Result<(), String> {
        let values: Vec<Number> = match value {
            Argument::Number(n) => vec![n.clone(), Number::Int(0)],
            Argument::Tuple(parts) if parts.len() == 2 => {
                parts.iter().filter_map(|p| if let Argument::Number(n) = p { Some(n.clone()) } else { None }).collect()
            }
            Argument::Tuple(_) | Argument::Array(..) | Argument::List(_) => Vec::new(),
        };
        if values.len() != 2 {
            return Err(wrong(name, ty, "give two numbers in parentheses"));
        }
        for (suffix, n) in ["re", "im"].iter().zip(&values) {
            let value = self.number(name, ty, n, part)?;
            self.word(&format!("{name}.{suffix}"), part, value);
        }
        Ok(())
    }

    /// An array of arrays, or of structs of arrays: each array in an element has one more dimension, the last.
    fn stacked(&mut self, (name, ty): (&str, &Type), element: &Type, value: &Argument) -> Result<(), String> {
        let Some(leaves) = element.stacked(name) else {
            return Err(wrong(name, ty, "its elements have more than two dimensions, or are arrays of arrays"));
        };
        let items = match value {
            Argument::Array(lens, numbers) => rows(lens, numbers),
            Argument::List(items) => items.clone(),
            Argument::Number(_) | Argument::Tuple(_) => Vec::new(),
        };
        let (mut all, count) = (None::<Vec<Data>>, items.len() as i64);
        for (n, item) in items.iter().enumerate() {
            let mut own = ArgumentData { format: self.format, out: Vec::new() };
            own.argument(name, element, Some(item)).map_err(|why| format!("{why} (element {})", n + 1))?;
            let Some(all) = &mut all else {
                all = Some(own.out);
                continue;
            };
            for (all, own) in all.iter_mut().zip(own.out) {
                if !add_words(&mut all.kind, own.kind) {
                    return Err(wrong(name, ty, "its elements have arrays of one length each, and these differ"));
                }
            }
        }
        for (n, (leaf, of)) in leaves.iter().enumerate() {
            let Type::Array { element, dims, .. } = of else { continue };
            let kind = match all.as_mut().and_then(|all| all.get_mut(n)) {
                Some(Data { kind: ArgumentKind::Array { ty, words, lens }, .. }) => {
                    let lens = lens.iter().copied().filter(|n| *n >= 0).chain([count]).collect();
                    ArgumentKind::Array { ty: *ty, words: std::mem::take(words), lens }
                }
                Some(Data { kind: ArgumentKind::Word { ty, value }, .. }) => {
                    ArgumentKind::Array { ty: *ty, words: vec![*value], lens: vec![count] }
                }
                // There is no element.
                Some(_) | None => {
                    let ty = element.word_types().first().copied().unwrap_or(Ty::Int);
                    ArgumentKind::Array { ty, words: Vec::new(), lens: vec![0; usize::from(*dims)] }
                }
            };
            self.out.push(Data { name: data_name(leaf), kind });
        }
        Ok(())
    }

    /// Lets the vector that was given last grow: zeros follow its words, and its length and its room are arguments of
    /// their own.
    fn grow(&mut self, element: &Type) {
        let per = element.words().unwrap_or(1).max(1).unsigned_abs() as usize;
        let Some(Data { name, kind: ArgumentKind::Array { words, lens, .. } }) = self.out.last_mut() else { return };
        let length = words.len() / per;
        let room = room_for(length);
        words.resize(room * per, 0);
        lens.clear();
        let name = name.clone();
        let count = ArgumentKind::Word { ty: Ty::Int, value: length as u64 };
        self.out.push(Data { name: pendula_isa::module::length_of(&name), kind: count });
        self.out.push(Data { name: format!("{name}.room"), kind: ArgumentKind::Constant(room as u64) });
    }

    fn array(
        &mut self,
        name: &str,
        ty: &Type,
        (element, dims): (&Type, usize),
        lens: &[usize],
        items: &[Number],
    ) -> Result<(), String> {
        let per = element.words().unwrap_or(1).unsigned_abs() as usize;
        let types = element.word_types();
        let Some(t) = types.first().copied().filter(|t| types.iter().all(|u| u == t)) else {
            return Err(wrong(name, ty, "arrays of structs with fields of several types cannot be given"));
        };
        let apart = parts_apart(lens, items, dims, per);
        let (lens, items) = apart.as_ref().map_or((lens, items), |(lens, items)| (lens, items));
        if lens.len() != dims {
            return Err(wrong(name, ty, &format!("it has {}", plural(lens.len(), "dimension"))));
        }
        let count: usize = lens.iter().product();
        if items.len() != count && items.len() != count * per {
            let (numbers, elements) = (plural(items.len(), "number"), plural(count, "element"));
            return Err(wrong(name, ty, &format!("{numbers} for {elements}")));
        }
        let mut words = Vec::with_capacity(count * per);
        let in_doubles = matches!(element, Type::Log { .. });
        for n in items {
            if in_doubles {
                let (log, negative) = log_words(n, self.format).map_err(|why| wrong(name, ty, &why))?;
                if negative {
                    return Err(wrong(name, ty, "an element is negative"));
                }
                words.push(log);
                continue;
            }
            words.push(self.number(name, ty, n, t)?);
            // Real numbers are given for complex elements.
            if items.len() == count {
                words.extend(std::iter::repeat_n(0, per - 1));
            }
        }
        let lens = lens.iter().map(|n| *n as i64).collect();
        let symbol = if in_doubles { format!("{name}.log") } else { data_name(name) };
        self.out.push(Data { name: symbol, kind: ArgumentKind::Array { ty: t, words, lens } });
        Ok(())
    }
}

/// The rows of an array as arrays.
fn rows(lens: &[usize], numbers: &[Number]) -> Vec<Argument> {
    let [count, inner @ ..] = lens else { return Vec::new() };
    let per = numbers.len().checked_div(*count * inner.iter().product::<usize>()).unwrap_or(1).max(1);
    let row = |n: usize| {
        let own = numbers.chunks(per).skip(n).step_by((*count).max(1)).flatten().cloned().collect();
        Argument::Array(inner.to_vec(), own)
    };
    (0..*count).map(row).collect()
}

/// Appends the words of another element; false if its array has other lengths. A word becomes an array without lengths.
fn add_words(all: &mut ArgumentKind, own: ArgumentKind) -> bool {
    match (all, own) {
        (ArgumentKind::Array { words, lens, .. }, ArgumentKind::Array { words: own, lens: others, .. }) => {
            words.extend(own);
            *lens == others
        }
        (ArgumentKind::Array { words, .. }, ArgumentKind::Word { value, .. }) => {
            words.push(value);
            true
        }
        (all @ ArgumentKind::Word { .. }, ArgumentKind::Word { value, ty }) => {
            let ArgumentKind::Word { value: first, .. } = all else { return false };
            *all = ArgumentKind::Array { ty, words: vec![*first, value], lens: Vec::new() };
            true
        }
        _ => false,
    }
}

/// How many words a vector gets that grows from so many.
fn room_for(words: usize) -> usize {
    const LEAST: usize = 4096;
    words.saturating_mul(2).max(LEAST)
}

/// The message for a value that does not fit its parameter's type.
fn wrong(name: &str, ty: &Type, what: &str) -> String {
    format!("the argument `{name}` must be {ty}: {what}")
}

/// An array whose elements have several parts may be given with one more dimension, as in files and JSON. Gives its
/// lengths without that dimension, and the parts of each element side by side.
fn parts_apart(lens: &[usize], items: &[Number], dims: usize, per: usize) -> Option<(Vec<usize>, Vec<Number>)> {
    let (last, lens) = lens.split_last()?;
    let count: usize = lens.iter().product();
    if lens.len() != dims || per < 2 || *last != per || items.len() != count * per {
        return None;
    }
    let elements = (0..count).flat_map(|at| (0..per).filter_map(move |part| items.get(at + part * count).cloned()));
    Some((lens.to_vec(), elements.collect()))
}

/// The logarithm of a number's magnitude as a double, and whether the number is negative. `exp(…)` gives the logarithm
/// directly.
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
        Err(_) => Err(format!("the logarithm of {x} is not a number")),
    }
}

/// The word of a number of a type, as arguments are written.
///
/// # Errors
/// A message if the text is no such number.
pub fn number_word(t: &str, ty: Ty, format: Format) -> Result<u64, String> {
    match ty {
        Ty::Int if t == "true" || t == "false" => Ok(u64::from(t == "true")),
        Ty::Int => {
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
            parsed.or_else(whole).ok_or_else(|| format!("`{t}` is not an integer of 64 bits"))
        }
        Ty::Q => decimal::parse_q(t, format).map_err(|e| format!("`{t}`: {e}")),
        Ty::L => decimal::parse_l(t).map_err(|e| format!("`{t}`: {e}")),
        Ty::F => decimal::parse_f(t).map_err(|e| format!("`{t}`: {e}")),
    }
}

fn argument_word(n: &Number, ty: Ty, format: Format) -> Result<u64, String> {
    let env = Env { format, ..Env::default() };
    let title = |e: pendula_isa::Fault| e.title().to_string();
    match (n, ty) {
        (Number::Text(t), ty) => number_word(t, ty, format),
        (Number::Int(k), Ty::Int) => Ok(k.cast_unsigned()),
        (Number::Int(k), Ty::Q) => convert::int_to_q(env, k.cast_unsigned()).map_err(title),
        (Number::Int(k), Ty::L) => convert::int_to_l(env, k.cast_unsigned()).map_err(title),
        (Number::Int(k), Ty::F) => Ok((*k as f64).to_bits()),
        (Number::Float(x), Ty::F) => Ok(x.to_bits()),
        (Number::Float(x), Ty::Int) if x.fract() == 0.0 && x.abs() < 9.0e18 => Ok((*x as i64).cast_unsigned()),
        (Number::Float(x), Ty::Int) => Err(format!("{x} is not an integer")),
        (Number::Float(x), Ty::Q) => convert::f_to_q(env, x.to_bits()).map_err(title),
        (Number::Float(x), Ty::L) => convert::f_to_l(env, x.to_bits()).map_err(title),
    }
}

/// The name of a data symbol: a suffix tells it from a register.
fn data_name(name: &str) -> String {
    if pendula_isa::Reg::parse(name).is_some() { format!("{name}$") } else { name.to_string() }
}

/// The value of a literal number or Boolean.
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
