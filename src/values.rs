//! A machine's state by name: setting inputs and reading results.

use pendula_isa::module::{Module, SymbolKind};
use pendula_isa::num::{Env, Format, convert, decimal};
use pendula_isa::text::number;
use pendula_isa::types::{Reg, Ty};
use pendula_vm::Machine;

use crate::arrays::{self, Number};
use crate::pisa;

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
    #[error("`{name}` has {len} words, {found} {} given", if *.found == 1 { "value is" } else { "values are" })]
    Length {
        /// The symbol.
        name: String,
        /// Its length.
        len: u64,
        /// How many values.
        found: usize,
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
    /// A bad array file.
    #[error(transparent)]
    Array(#[from] arrays::ArrayError),
}

fn nearest(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; the data symbols are {}", known.join(", ")) }
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
}

impl Place {
    /// How many words it has.
    pub fn count(&self) -> u64 {
        match self.at {
            Location::Register(_) => 1,
            Location::Memory { len, .. } => len,
        }
    }
}

/// Where a named part of the state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// In a register.
    Register(Reg),
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

/// Finds a register (`r3`, `r3.q`), a data symbol (`a`, `a.f`) or one of its elements (`a[2]`).
pub fn find(module: &Module, name: &str) -> Result<Place, ValueError> {
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
    if index.is_none()
        && let Some(reg) = Reg::parse(base)
    {
        return Ok(Place { name: name.to_string(), ty: forced.unwrap_or(Ty::Int), at: Location::Register(reg) });
    }
    let cells = if pisa::is_pisa(module) {
        if let (None, Some(reg)) = (index, pisa::parse_register(base)) {
            return Ok(Place { name: name.to_string(), ty: Ty::Int, at: Location::Register(reg) });
        }
        pisa::cells_of(module, base).and_then(|place| match place.at {
            Location::Memory { start, len, .. } => {
                Some((start, SymbolKind::Data { ty: Ty::Int, len, import: true, export: true }))
            }
            Location::Register(_) => None,
        })
    } else {
        None
    };
    match cells.or_else(|| module.symbol(base).map(|s| (s.value, s.kind))) {
        Some((value, SymbolKind::Data { ty, len, .. })) => {
            let ty = forced.unwrap_or(ty);
            let at = match index {
                None => Location::Memory { start: value, len, array: len != 1 },
                Some(i) if i < len => Location::Memory { start: value + i, len: 1, array: false },
                Some(index) => return Err(ValueError::Index { name: base.to_string(), len, index }),
            };
            Ok(Place { name: name.to_string(), ty, at })
        }
        Some((_, SymbolKind::Label | SymbolKind::Proc)) | None => {
            let data = |s: &&pendula_isa::module::Symbol| matches!(s.kind, SymbolKind::Data { .. });
            let known = module.symbols.iter().filter(data).take(20).map(|s| s.name.clone()).collect();
            Err(ValueError::Unknown { name: base.to_string(), known })
        }
    }
}

/// Sets a part of the state: `name=5`, `name=[1, 2.5]`, `name=@file.csv`, `name=@file.npy`.
///
/// A number is read by the type of the data symbol; in a register, by its suffix (`r3.q=1.5`).
pub fn set(machine: &mut Machine<'_>, assignment: &str) -> Result<(), ValueError> {
    let (name, value) = assignment.split_once('=').ok_or_else(|| ValueError::Syntax(assignment.to_string()))?;
    let (name, value) = (name.trim(), value.trim());
    let place = find(machine.program().module(), name)?;
    let words = words_of(&place, &numbers(value)?, machine.program().module().flags.format)?;
    put(machine, &place, &words);
    Ok(())
}

/// Numbers as the words of a place.
///
/// # Errors
/// `r0`, which cannot be set; another number of numbers than words; what is no number of the type.
pub fn words_of(place: &Place, numbers: &[Number], format: Format) -> Result<Vec<u64>, ValueError> {
    let name = &place.name;
    let words: Result<Vec<u64>, ValueError> = numbers
        .iter()
        .map(|n| word(n, place.ty, format).map_err(|(text, why)| bad(name, text, place.ty, why)))
        .collect();
    let words = words?;
    let expected = place.count();
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

/// Integers for the tapes: `1,2,3` or `@file`.
pub fn tape(value: &str) -> Result<Vec<u64>, ValueError> {
    let format = Format::default();
    numbers(value)?
        .iter()
        .map(|n| word(n, Ty::Int, format).map_err(|(text, why)| bad("the tape", text, Ty::Int, why)))
        .collect()
}

/// The numbers of a value: one, a list, or a file's.
fn numbers(value: &str) -> Result<Vec<Number>, ValueError> {
    if let Some(path) = value.strip_prefix('@') {
        return Ok(arrays::read(path)?);
    }
    let inner = value.strip_prefix('[').and_then(|v| v.strip_suffix(']')).unwrap_or(value);
    if inner.trim().is_empty() {
        return if inner.len() == value.len() { Err(ValueError::Syntax(value.to_string())) } else { Ok(Vec::new()) };
    }
    Ok(inner.split(',').map(|t| Number::Text(t.trim().to_string())).collect())
}

/// A number as a word of a type; else the number as text, and why not.
fn word(n: &Number, ty: Ty, format: Format) -> Result<u64, (String, String)> {
    let env = Env { format, ieee: false };
    let no = |text: String, why: &str| (text, if why.is_empty() { String::new() } else { format!(": {why}") });
    match n {
        Number::Text(text) => parse(text, ty, format).map_err(|why| no(text.clone(), &why)),
        Number::Int(k) => match (ty, i64::try_from(*k)) {
            (Ty::Int, Ok(k)) => Ok(k.cast_unsigned()),
            (Ty::Int, Err(_)) => u64::try_from(*k).map_err(|_| no(k.to_string(), "")),
            (Ty::Q | Ty::L | Ty::F, _) => parse(&k.to_string(), ty, format).map_err(|why| no(k.to_string(), &why)),
        },
        Number::Float(x) => match ty {
            Ty::F => Ok(x.to_bits()),
            Ty::Q => convert::f_to_q(env, x.to_bits()).map_err(|e| no(x.to_string(), e.title())),
            Ty::L => convert::f_to_l(env, x.to_bits()).map_err(|e| no(x.to_string(), e.title())),
            Ty::Int if x.fract() == 0.0 => {
                convert::f_to_int(env, x.to_bits()).map_err(|e| no(x.to_string(), e.title()))
            }
            Ty::Int => Err(no(x.to_string(), "it is not whole")),
        },
    }
}

/// A number's text as a word of a type. Integers in decimal, hex, octal or binary; raw words of any type as `0x…w`.
fn parse(text: &str, ty: Ty, format: Format) -> Result<u64, String> {
    if let Some(raw) = text.strip_suffix('w') {
        return integer(raw).ok_or_else(|| "a raw word is an integer followed by `w`".to_string());
    }
    match ty {
        Ty::Int => integer(text).ok_or_else(|| "integers lie between -2^63 and 2^64-1".to_string()),
        Ty::Q => decimal::parse_q(text, format).map_err(|e| e.to_string()),
        Ty::L => decimal::parse_l(text).map_err(|e| e.to_string()),
        Ty::F => decimal::parse_f(text).map_err(|e| e.to_string()),
    }
}

fn integer(text: &str) -> Option<u64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase().replace('_', "");
    let (radix, digits) = [("0x", 16), ("0o", 8), ("0b", 2)]
        .into_iter()
        .find_map(|(p, r)| lower.strip_prefix(p).map(|d| (r, d)))
        .unwrap_or((10, lower.as_str()));
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    match negative {
        false => Some(magnitude),
        true if magnitude <= 1 << 63 => Some(magnitude.wrapping_neg()),
        true => None,
    }
}

/// A number's text as a word of a type, for what goes by `name`.
///
/// # Errors
/// Text that is no number of the type.
pub fn parse_number(name: &str, text: &str, ty: Ty, format: Format) -> Result<u64, ValueError> {
    let no = |why: String| bad(name, text.to_string(), ty, if why.is_empty() { why } else { format!(": {why}") });
    parse(text.trim(), ty, format).map_err(no)
}

/// The words of a place.
pub fn words<'m>(machine: &'m Machine<'_>, place: &Place) -> &'m [u64] {
    match place.at {
        Location::Register(reg) => std::slice::from_ref(&machine.registers()[reg.index()]),
        Location::Memory { start, len, .. } => {
            machine.memory().get(start as usize..(start + len) as usize).unwrap_or(&[])
        }
    }
}

/// The words of a place as text that reads back exactly: `5`, or `[1, 2, 3]`; at most `limit` elements, then an ellipsis.
pub fn text(machine: &Machine<'_>, place: &Place, hex: bool, limit: usize) -> String {
    let format = machine.program().module().flags.format;
    let one = |w: &u64| if hex { format!("{w:#018x}") } else { number(*w, place.ty, format) };
    let words = words(machine, place);
    match place.at {
        Location::Register(_) | Location::Memory { array: false, .. } => words.first().map(one).unwrap_or_default(),
        Location::Memory { .. } => {
            let mut items: Vec<String> = words.iter().take(limit).map(one).collect();
            if words.len() > limit {
                items.push(format!("… {} words in all", words.len()));
            }
            format!("[{}]", items.join(", "))
        }
    }
}

/// The data symbols whose import and export marks `wanted` accepts, in the order of addresses.
pub fn marked(module: &Module, wanted: impl Fn(bool, bool) -> bool) -> Vec<Place> {
    let mut out: Vec<(u64, Place)> = module
        .symbols
        .iter()
        .filter_map(|s| match s.kind {
            SymbolKind::Data { ty, len, import, export } if wanted(import, export) => {
                let at = Location::Memory { start: s.value, len, array: len != 1 };
                Some((s.value, Place { name: s.name.clone(), ty, at }))
            }
            SymbolKind::Data { .. } | SymbolKind::Label | SymbolKind::Proc => None,
        })
        .collect();
    out.sort_by_key(|(at, _)| *at);
    out.into_iter().map(|(_, p)| p).collect()
}
