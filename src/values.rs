//! A machine's state by name: setting inputs and reading results.

use std::borrow::Cow;

use pendula_compiler::janus::store::{Shape, Variable};
use pendula_compiler::nil::sema::Argument;
use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::plural;
use pendula_isa::module::{self, Module, SymbolKind};
use pendula_isa::num::{Env, Format, convert, decimal};
use pendula_isa::text::number;
use pendula_isa::types::{Reg, Ty};
use pendula_vm::Machine;

use crate::arguments;
use crate::arrays::{self, Number};
use crate::pisa;

mod parts;
mod variables;

/// Why a value cannot be set or shown.
#[derive(Debug, thiserror::Error)]
pub enum ValueError {
    /// Not `name=value`.
    #[error("`{0}` is not `name=value`")]
    Syntax(String),
    /// No such register or data symbol.
    #[error("there is no register or data symbol `{name}`{}", nearest(.known))]
    Unknown {
        /// The name.
        name: String,
        /// The data symbols that there are.
        known: Vec<String>,
    },
    /// An index past the end.
    #[error("`{name}` has {len} {}, counted from 0; there is no `{name}[{index}]`", if *.len == 1 { "word" } else { "words" })]
    Index {
        /// The symbol.
        name: String,
        /// Its length.
        len: u64,
        /// The index.
        index: u64,
    },
    /// Something else than an index in brackets.
    #[error("`{0}`: an index is a whole number, such as 0")]
    NoIndex(String),
    /// Another number of values than words.
    #[error("`{name}` has {}, {found} {} given", plural(*.len, "word"), if *.found == 1 { "value is" } else { "values are" })]
    Length {
        /// The symbol.
        name: String,
        /// Its length.
        len: u64,
        /// How many values.
        found: usize,
    },
    /// A file with more values than words.
    #[error("`{name}` has {}, {path} holds more values", plural(*.len, "word"))]
    TooMany {
        /// The symbol.
        name: String,
        /// Its length.
        len: u64,
        /// The file.
        path: String,
    },
    /// No number of the type.
    #[error("`{text}` is no value for `{name}`, which is read as {}{}", .ty.name(), .why)]
    Number {
        /// The symbol or register.
        name: String,
        /// The value as given.
        text: String,
        /// The type.
        ty: Ty,
        /// Why not, if more can be said.
        why: String,
    },
    /// `r0`.
    #[error("r0 always reads 0")]
    Zero,
    /// An address beyond those of PISA.
    #[error("there is no cell [{0}]: addresses are 0 to 2^32-1")]
    NoCell(u64),
    /// A cell of PISA that holds an instruction.
    #[error("there is an instruction at [{0}]")]
    Instruction(u32),
    /// What is no variable of a program in Janus.
    #[error("there is no variable `{name}`{}", variables(.known))]
    NoVariable {
        /// The name.
        name: String,
        /// The variables that there are.
        known: Vec<String>,
    },
    /// A value that does not fit a variable with parts of its own.
    #[error("`{name}` has the parts {}: {why}", .parts.join(", "))]
    NotParts {
        /// The variable.
        name: String,
        /// Its parts.
        parts: Vec<String>,
        /// What is wrong.
        why: String,
    },
    /// Indices that lead nowhere.
    #[error("there is no `{name}`: it is `{head}`, counted from 0")]
    Outside {
        /// The variable with the indices.
        name: String,
        /// The variable with its sizes.
        head: String,
    },
    /// An element that an array does not have, where they are counted from 1.
    #[error("there is no `{name}`: {why}")]
    NoElement {
        /// The element.
        name: String,
        /// Why not.
        why: String,
    },
    /// The same where they are counted from 1.
    #[error("`{0}`: an index is a whole number, such as 1, of a matrix one for each dimension, `[1,1]`")]
    NoIndexFromOne(String),
    /// What has several words with names of their own.
    #[error("`{name}` has several parts: name one of {}", .parts.join(", "))]
    Parts {
        /// The name.
        name: String,
        /// The parts.
        parts: Vec<String>,
    },
    /// A number on a stack.
    #[error("`{0}` is a stack, which has no elements by number: it is set and shown as a whole, `{0}=<2, 1]`")]
    OnStack(String),
    /// A bad array file.
    #[error(transparent)]
    Array(#[from] arrays::ArrayError),
}

fn nearest(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; the data symbols are {}", known.join(", ")) }
}

fn variables(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; the variables are {}", known.join(", ")) }
}

/// A named part of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name, as the user wrote it.
    pub name: String,
    /// How the words are read.
    pub ty: Ty,
    /// Where they are.
    pub at: Location,
    /// The least and the greatest integer that it takes.
    pub range: (i128, i128),
    /// The variable of a program in Janus whose words they are: it says what they mean.
    pub variable: Option<Box<Variable>>,
    /// What the words are in a source that counts elements from 1; `None` of a single word.
    pub source: Option<Box<module::Variable>>,
}

impl Place {
    /// Words of 64 bits.
    pub fn new(name: impl Into<String>, ty: Ty, at: Location) -> Place {
        Place { name: name.into(), ty, at, range: WORDS, variable: None, source: None }
    }

    /// Words of the profile `pisa`.
    pub fn narrow(name: impl Into<String>, at: Location) -> Place {
        Place { range: NARROW, ..Place::new(name, Ty::Int, at) }
    }

    /// The name as it stands before the value: with the sizes of an array of Janus.
    pub fn head(&self) -> String {
        self.variable.as_ref().map_or_else(|| self.name.clone(), |v| v.head())
    }

    /// The names of its words: `x[0]`, `x[1]` in assembly, `x[1]`, `x[2]` or `z[1].re`, `z[1].im` in Nil.
    pub fn words(&self) -> Vec<String> {
        match (&self.source, self.at) {
            (Some(v), Location::Memory { array: true, len, .. }) => (0..len).map(|n| v.word(n)).collect(),
            (None, Location::Memory { array: true, len, .. }) => {
                (0..len).map(|n| format!("{}[{n}]", self.name)).collect()
            }
            (_, Location::Memory { .. } | Location::Register(_) | Location::Cell(_)) => vec![self.name.clone()],
        }
    }

    /// Whether word number `n`, counted from 0, is true or false.
    pub fn is_truth(&self, n: usize) -> bool {
        self.ty == Ty::Int && self.source.as_ref().is_some_and(|v| v.is_truth(n as u64))
    }

    /// Whether it is a stack of Janus.
    pub fn is_stack(&self) -> bool {
        self.variable.as_ref().is_some_and(|v| v.shape == Shape::Stack)
    }

    /// How many words it has.
    pub fn count(&self) -> u64 {
        match self.at {
            Location::Register(_) | Location::Cell(_) => 1,
            Location::Memory { len, .. } => len,
        }
    }
}

/// Where a named part of the state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// In a register.
    Register(Reg),
    /// In a cell of the profile `pisa`.
    Cell(u32),
    /// In memory.
    Memory {
        /// The first address.
        start: u64,
        /// How many words.
        len: u64,
        /// Whether it is an array, or one element of it or a single word.
        array: bool,
    },
}

/// What integers lie between where words have 64 bits: they may be meant with or without a sign.
const WORDS: (i128, i128) = (i64::MIN as i128, u64::MAX as i128);

/// The same where they have 32.
const NARROW: (i128, i128) = (i32::MIN as i128, u32::MAX as i128);

/// The words of true and false.
const TRUTH: (i128, i128) = (0, 1);

/// Finds a register (`r3`, `r3.q`), a data symbol (`a`, `a.f`) or one of its elements (`a[2]`, counted from 0). In a program that was compiled from Nil,
/// names and indices are Nil's: `x[1]` is the first element, `A[2,1]` one of a matrix, `z[3].im` a part of one.
///
/// # Errors
/// What there is not.
pub fn find(module: &Module, name: &str) -> Result<Place, ValueError> {
    if let Some(place) = variables::find(module, name)? {
        return Ok(place);
    }
    let (plain, forced) = match name.rsplit_once('.') {
        Some((plain, suffix)) if module.symbol(name).is_none() => match suffix.chars().next().map(Ty::from_letter) {
            Some(Some(ty)) if suffix.len() == 1 => (plain, Some(ty)),
            _ => (name, None),
        },
        _ => (name, None),
    };
    let (base, index) = match plain.strip_suffix(']').and_then(|p| p.split_once('[')) {
        Some((base, index)) => {
            (base, Some(index.trim().parse::<u64>().map_err(|_| ValueError::NoIndex(name.to_string()))?))
        }
        None => (plain, None),
    };
    if pisa::is_pisa(module) {
        return pisa::find(module, name, base, index);
    }
    // Where code that is compiled from Nil holds what, is its own affair.
    if index.is_none()
        && module.variables.is_empty()
        && let Some(reg) = Reg::parse(base)
    {
        return Ok(Place::new(name, forced.unwrap_or(Ty::Int), Location::Register(reg)));
    }
    match module.symbol(base).map(|s| (s.value, s.kind)) {
        Some((value, SymbolKind::Data { ty, len, .. })) => {
            let at = within(base, (value, len), index)?;
            Ok(Place::new(name, forced.unwrap_or(ty), at))
        }
        Some((_, SymbolKind::Label | SymbolKind::Proc)) | None if !module.variables.is_empty() => {
            let known = module.variables.iter().take(20).map(|v| v.name.clone()).collect();
            Err(ValueError::NoVariable { name: base.to_string(), known })
        }
        Some((_, SymbolKind::Label | SymbolKind::Proc)) | None => {
            let data = |s: &&pendula_isa::module::Symbol| matches!(s.kind, SymbolKind::Data { .. });
            let known = module.symbols.iter().filter(data).take(20).map(|s| s.name.clone()).collect();
            Err(ValueError::Unknown { name: base.to_string(), known })
        }
    }
}

/// The words of a data symbol, or one of them.
pub(crate) fn within(name: &str, (start, len): (u64, u64), index: Option<u64>) -> Result<Location, ValueError> {
    match index {
        None => Ok(Location::Memory { start, len, array: len != 1 }),
        Some(i) if i < len => Ok(Location::Memory { start: start + i, len: 1, array: false }),
        Some(index) => Err(ValueError::Index { name: name.to_string(), len, index }),
    }
}

/// Sets a part of the state: `name=5`, `name=[1, 2.5]`, `name=@file.csv`, `name=@file.npy`.
///
/// A number is read by the type of the data symbol; in a register, by its suffix (`r3.q=1.5`).
pub fn set(machine: &mut Machine<'_>, assignment: &str) -> Result<(), ValueError> {
    let (name, value) = assignment
        .split_once('=')
        .filter(|(_, value)| !value.trim().is_empty())
        .ok_or_else(|| ValueError::Syntax(assignment.to_string()))?;
    match find(machine.program().module(), name.trim()) {
        Ok(place) => put_text(machine, &place, value.trim()),
        // The part of a logarithmic number is its logarithm, which is not what is written among arguments.
        Err(ValueError::Parts { name, parts }) if !parts.iter().any(|part| part.ends_with(".log")) => {
            parts::put(machine, (name, parts), value.trim())
        }
        Err(error) => Err(error),
    }
}

/// Sets a place to what a value says.
pub(crate) fn put_text(machine: &mut Machine<'_>, place: &Place, value: &str) -> Result<(), ValueError> {
    let most = place.count();
    if let Some(numbers) = as_argument(place, value)? {
        let words = words_of(place, &numbers, machine.program().module().flags.format)?;
        put(machine, place, &words);
        return Ok(());
    }
    let numbers = numbers(value, usize::try_from(most).unwrap_or(usize::MAX))?;
    if numbers.len() as u64 > most
        && let Some(path) = value.strip_prefix('@')
    {
        return Err(ValueError::TooMany { name: place.name.clone(), len: most, path: path.to_string() });
    }
    let mut words = words_of(place, &numbers, machine.program().module().flags.format)?;
    if let (Some(source), true) = (&place.source, value.starts_with('@')) {
        words = by_column(&source.dims, words);
    }
    put(machine, place, &words);
    Ok(())
}

/// The numbers of a value in a program of Nil that is written as its arguments are: a matrix, the parts of a struct, `zeros(3)`, `1:3`. `None` of any other:
/// a number, a list, a file.
fn as_argument(place: &Place, value: &str) -> Result<Option<Vec<Number>>, ValueError> {
    let inner = value.strip_prefix('[').and_then(|v| v.strip_suffix(']')).unwrap_or(value);
    let lists = inner.contains(['[', '(', ':', ';'])
        || inner.len() < value.len() && inner.trim().contains(' ') && !inner.contains(',');
    let Some(source) = place.source.as_ref().filter(|_| lists && !value.starts_with('@')) else { return Ok(None) };
    let budget = Budget { words: place.count().saturating_add(1), ..Budget::default() };
    let wrong = |why: String| bad(&place.name, value.chars().take(40).collect(), place.ty, format!(": {why}"));
    let mut arguments = arguments::parse_within(value, &budget).map_err(|e| wrong(e.to_string()))?;
    let (Some(argument), true) = (arguments.pop(), arguments.is_empty()) else {
        return Err(wrong("one value is wanted, in brackets if it is an array".to_string()));
    };
    if let Argument::Array(shape, _) = &argument
        && shape.len() > 1
        && source.dims.len() > 1
        && !shape.iter().map(|n| *n as u64).eq(source.dims.iter().copied())
    {
        let sizes = |dims: &mut dyn Iterator<Item = u64>| dims.map(|n| n.to_string()).collect::<Vec<_>>().join("×");
        let (own, given) = (sizes(&mut source.dims.iter().copied()), sizes(&mut shape.iter().map(|n| *n as u64)));
        return Err(wrong(format!("it is {given}, and `{}` is {own}", place.name)));
    }
    Ok(arguments::flat(argument).map(|numbers| numbers.into_iter().map(Number::from).collect()))
}

/// The words of an array of Nil, whose elements lie column by column, from those that a file has row by row.
fn by_column(dims: &[u64], rows: Vec<u64>) -> Vec<u64> {
    let lens: Vec<usize> = dims.iter().map(|n| usize::try_from(*n).unwrap_or(0)).collect();
    let order = arrays::row_by_row(&lens);
    let per = rows.len().checked_div(order.len()).unwrap_or(0);
    if lens.len() < 2 || per * order.len() != rows.len() {
        return rows;
    }
    let mut out = vec![0; rows.len()];
    for (n, at) in order.into_iter().enumerate() {
        out[at * per..(at + 1) * per].copy_from_slice(&rows[n * per..(n + 1) * per]);
    }
    out
}

/// Numbers as the words of a place; of a stack of Janus, what is on it, the top first.
///
/// # Errors
/// `r0`, which cannot be set; another number of numbers than words; what is no number of the type.
pub fn words_of(place: &Place, numbers: &[Number], format: Format) -> Result<Vec<u64>, ValueError> {
    let name = &place.name;
    let one = |(at, n): (usize, &Number)| match n {
        Number::Text(text) if place.is_truth(at) && text == "true" => Ok(1),
        Number::Text(text) if place.is_truth(at) && text == "false" => Ok(0),
        n => {
            let range = if place.is_truth(at) { TRUTH } else { place.range };
            word(n, place.ty, format, range).map_err(|(text, why)| bad(name, text, place.ty, why))
        }
    };
    let mut words = numbers.iter().enumerate().map(one).collect::<Result<Vec<u64>, ValueError>>()?;
    let expected = place.count();
    if place.is_stack() {
        if words.len() as u64 >= expected {
            return Err(ValueError::Length { name: name.clone(), len: expected - 1, found: words.len() });
        }
        words.push(words.len() as u64);
        words.reverse();
        words.resize(expected as usize, 0);
        return Ok(words);
    }
    if words.len() as u64 != expected {
        return Err(ValueError::Length { name: name.clone(), len: expected, found: words.len() });
    }
    // PISA's `$0` is a register like others.
    if place.at == Location::Register(Reg::ZERO) && !name.starts_with('$') {
        return Err(ValueError::Zero);
    }
    Ok(words)
}

/// Writes the words of a place, of which there must be as many as it has.
pub fn put(machine: &mut Machine<'_>, place: &Place, words: &[u64]) {
    match place.at {
        Location::Register(reg) => words.iter().for_each(|word| machine.set_register(reg, *word)),
        Location::Cell(at) => words.iter().for_each(|word| machine.set_cell(at, *word)),
        Location::Memory { start, len, .. } => {
            // A data symbol lies in the data segment, which fits the memory.
            let words: Vec<u64> = words.iter().map(|w| machine.narrowed(*w)).collect();
            if let Some(target) = machine.memory_mut().get_mut(start as usize..(start + len) as usize) {
                target.copy_from_slice(&words);
            }
        }
    }
}

fn bad(name: &str, text: String, ty: Ty, why: String) -> ValueError {
    ValueError::Number { name: name.to_string(), text, ty, why }
}

/// Integers for the tapes of a program: `1,2,3` or `@file`.
pub fn tape(module: &Module, value: &str) -> Result<Vec<u64>, ValueError> {
    let format = Format::default();
    let range = if pisa::is_pisa(module) { NARROW } else { WORDS };
    let numbers = numbers(value, arrays::MOST)?;
    if numbers.len() > arrays::MOST {
        let (name, path) = ("the tape".to_string(), value.trim_start_matches('@').to_string());
        return Err(ValueError::TooMany { name, len: arrays::MOST as u64, path });
    }
    numbers
        .iter()
        .map(|n| word(n, Ty::Int, format, range).map_err(|(text, why)| bad("the tape", text, Ty::Int, why)))
        .collect()
}

/// The numbers of a value: one, a list, or a file's, of which no more than one beyond `most` are read.
fn numbers(value: &str, most: usize) -> Result<Vec<Number>, ValueError> {
    if let Some(path) = value.strip_prefix('@') {
        return Ok(arrays::read(path, most)?);
    }
    let inner = value.strip_prefix('[').and_then(|v| v.strip_suffix(']')).unwrap_or(value);
    if inner.trim().is_empty() {
        return if inner.len() == value.len() { Err(ValueError::Syntax(value.to_string())) } else { Ok(Vec::new()) };
    }
    Ok(inner.split(',').map(|t| Number::Text(t.trim().to_string())).collect())
}

/// A number as a word of a type, integers of a range; else the number as text, and why not.
fn word(n: &Number, ty: Ty, format: Format, range: (i128, i128)) -> Result<u64, (String, String)> {
    let env = Env { format, ieee: false };
    let no = |text: String, why: &str| (text, if why.is_empty() { String::new() } else { format!(": {why}") });
    match n {
        Number::Text(text) => parse(text, ty, format, range).map_err(|why| no(text.clone(), &why)),
        Number::Int(k) => match ty {
            Ty::Int => in_range(*k, range).map_err(|why| no(k.to_string(), &why)),
            Ty::Q | Ty::L | Ty::F => parse(&k.to_string(), ty, format, range).map_err(|why| no(k.to_string(), &why)),
        },
        Number::Float(x) => match ty {
            Ty::F => Ok(x.to_bits()),
            Ty::Q => convert::f_to_q(env, x.to_bits()).map_err(|e| no(x.to_string(), e.title())),
            Ty::L => convert::f_to_l(env, x.to_bits()).map_err(|e| no(x.to_string(), e.title())),
            Ty::Int if x.fract() == 0.0 => {
                let word = convert::f_to_int(env, x.to_bits()).map_err(|e| no(x.to_string(), e.title()))?;
                in_range(word.cast_signed().into(), range).map_err(|why| no(x.to_string(), &why))
            }
            Ty::Int => Err(no(x.to_string(), "it is not whole")),
        },
    }
}

/// An integer of a range as a word.
fn in_range(k: i128, (least, greatest): (i128, i128)) -> Result<u64, String> {
    if k < least || k > greatest {
        if (least, greatest) == TRUTH {
            return Err("true or false is wanted, or 1 or 0".to_string());
        }
        let power = |k: i128| match k {
            -0x8000_0000_0000_0000 => "-2^63".to_string(),
            0xffff_ffff_ffff_ffff => "2^64-1".to_string(),
            0x7fff_ffff_ffff_ffff => "2^63-1".to_string(),
            k => k.to_string(),
        };
        return Err(format!("integers lie between {} and {}", power(least), power(greatest)));
    }
    Ok(k as u64)
}

/// The same of a word's bits: those of a negative number count as it, where the range has such.
fn word_in_range(k: i128, range: (i128, i128)) -> Result<u64, String> {
    let signed = u64::try_from(k).ok().map(|word| i128::from(word.cast_signed()));
    in_range(k, range).or_else(|why| in_range(signed.ok_or_else(|| why.clone())?, range).map_err(|_| why))
}

/// A number's text as a word of a type. Integers in decimal, hex, octal or binary; raw words of any type as `0x…w`.
fn parse(text: &str, ty: Ty, format: Format, range: (i128, i128)) -> Result<u64, String> {
    let range = if ty == Ty::Int { range } else { WORDS };
    if let Some(raw) = text.strip_suffix('w') {
        let k = integer(raw).ok_or_else(|| "a raw word is an integer followed by `w`".to_string())?;
        return word_in_range(k, range);
    }
    match ty {
        // As they are printed with `--hex`, too.
        Ty::Int if text.starts_with("0x") => word_in_range(integer(text).ok_or_else(String::new)?, range),
        Ty::Int => in_range(integer(text).ok_or_else(String::new)?, range),
        Ty::Q => decimal::parse_q(text, format).map_err(|e| e.to_string()),
        Ty::L => decimal::parse_l(text).map_err(|e| e.to_string()),
        Ty::F => decimal::parse_f(text).map_err(|e| e.to_string()),
    }
}

/// The value of an integer's text; one beyond all words where it has more digits than there are bits to count them.
fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase().replace('_', "");
    let (radix, digits) = [("0x", 16), ("0o", 8), ("0b", 2)]
        .into_iter()
        .find_map(|(p, r)| lower.strip_prefix(p).map(|d| (r, d)))
        .unwrap_or((10, lower.as_str()));
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let magnitude = i128::from_str_radix(digits, radix).unwrap_or(i128::MAX);
    Some(if negative { -magnitude } else { magnitude })
}

/// A number's text as a word of a type, for what goes by `name`.
///
/// # Errors
/// Text that is no number of the type.
pub fn parse_number(name: &str, text: &str, ty: Ty, format: Format) -> Result<u64, ValueError> {
    let no = |why: String| bad(name, text.to_string(), ty, if why.is_empty() { why } else { format!(": {why}") });
    parse(text.trim(), ty, format, WORDS).map_err(no)
}

/// The words of a place.
pub fn words<'m>(machine: &'m Machine<'_>, place: &Place) -> Cow<'m, [u64]> {
    match place.at {
        Location::Register(reg) => Cow::Borrowed(std::slice::from_ref(&machine.registers()[reg.index()])),
        Location::Cell(at) => Cow::Owned(vec![machine.cell(at)]),
        Location::Memory { start, len, .. } => {
            Cow::Borrowed(machine.memory().get(start as usize..(start + len) as usize).unwrap_or(&[]))
        }
    }
}

/// The words of a place as text that reads back exactly: `5`, or `[1, 2, 3]`; at most `limit` elements, then an ellipsis. Variables of Janus as
/// Janus prints them, and whole.
pub fn text(machine: &Machine<'_>, place: &Place, hex: bool, limit: usize) -> String {
    let format = machine.program().module().flags.format;
    let words = words(machine, place);
    if let Some(v) = &place.variable {
        return v.text(&words, |w| if hex { format!("{w:#018x}") } else { v.number(w) });
    }
    let one = |(n, w): (usize, &u64)| match (hex, w) {
        (true, w) if place.range == NARROW => format!("{:#010x}", *w as u32),
        (true, w) => format!("{w:#018x}"),
        (false, 0 | 1) if place.is_truth(n) => (*w == 1).to_string(),
        (false, w) => number(*w, place.ty, format),
    };
    match place.at {
        Location::Register(_) | Location::Cell(_) | Location::Memory { array: false, .. } => {
            words.first().map(|w| one((0, w))).unwrap_or_default()
        }
        Location::Memory { .. } => {
            let mut items: Vec<String> = words.iter().enumerate().take(limit).map(one).collect();
            if words.len() > limit {
                items.push(format!("… {} words in all", words.len()));
            }
            format!("[{}]", items.join(", "))
        }
    }
}

/// The data symbols whose import and export marks `wanted` accepts, in the order of addresses.
pub fn marked(module: &Module, wanted: impl Fn(bool, bool) -> bool) -> Vec<Place> {
    let variables = module.variables_by_symbol();
    let mut out: Vec<(u64, Place)> = module
        .symbols
        .iter()
        .filter_map(|s| match s.kind {
            SymbolKind::Data { ty, len, import, export } if wanted(import, export) => {
                let at = Location::Memory { start: s.value, len, array: len != 1 };
                let place = match variables.get(s.name.as_str()) {
                    Some(v) => variables::place(v, s.value, (ty, len)),
                    None => Place::new(s.name.clone(), ty, at),
                };
                Some((s.value, place))
            }
            SymbolKind::Data { .. } | SymbolKind::Label | SymbolKind::Proc => None,
        })
        .collect();
    out.sort_by_key(|(at, _)| *at);
    out.into_iter().map(|(_, p)| p).collect()
}
