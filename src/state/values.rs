//! A machine's state by name: setting inputs and reading results.

use std::borrow::Cow;

use pendula_isa::module::Module;
use pendula_isa::num::Format;
use pendula_isa::text::number;
use pendula_isa::types::{Reg, Ty};
use pendula_vm::Machine;

use crate::state::arrays::{self, Number};
use crate::state::language;
pub use crate::state::names::{marked, marked_symbols};

pub(super) mod error;
mod members;
mod number;
mod parse;
pub(super) mod place;
pub(super) mod variables;

pub use error::ValueError;
use error::bad;
pub use number::parse_number;
use number::word;
pub use place::{Growing, Location, Place};
use place::{NARROW, TRUTH};
pub(crate) use variables::part_of;

/// Finds a register (`r3`, `r3.q`), a data symbol (`a`, `a.f`) or one of its elements (`a[2]`, counted from 0). In a
/// program compiled from Nil, names and indices are those of Nil: `x[1]` is the first element, `A[2,1]` an element of a
/// matrix, `z[3].im` a part of one.
///
/// # Errors
/// The module does not have the name, or the index is out of range.
pub fn find(module: &Module, name: &str) -> Result<Place, ValueError> {
    language::of((module, None)).find((module, None), name)
}

/// Sets a part of the state: `name=5`, `name=[1, 2.5]`, `name=@file.csv`, `name=@file.npy`.
///
/// A number is read by the type of the data symbol; in a register, by its suffix (`r3.q=1.5`).
pub fn set(machine: &mut Machine<'_>, assignment: &str) -> Result<(), ValueError> {
    let (name, value) = parts_of(assignment)?;
    match find(machine.program().module(), name) {
        Ok(place) => put_text(machine, &place, value),
        // The part of a logarithmic number is its logarithm; arguments are not written that way.
        Err(ValueError::Parts { name, parts }) if !parts.iter().any(|part| part.ends_with(".log")) => {
            members::put(machine, (name, parts), value)
        }
        Err(error) => Err(error),
    }
}

/// The name and the value of an assignment.
pub(crate) fn parts_of(assignment: &str) -> Result<(&str, &str), ValueError> {
    let parts = assignment.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    parts.filter(|(_, value)| !value.is_empty()).ok_or_else(|| ValueError::Syntax(assignment.to_string()))
}

/// Sets a place to the value that a text gives.
pub(crate) fn put_text(machine: &mut Machine<'_>, place: &Place, value: &str) -> Result<(), ValueError> {
    let format = machine.program().module().flags.format;
    let words = match (&place.source, value.strip_prefix('@')) {
        (Some(source), None) => words_of(place, &parse::argument(place, source, value)?, format)?,
        (None, None) => words_of(place, &parse::list(value)?, format)?,
        (source, Some(path)) => {
            let most = place.most();
            let numbers = arrays::read(path, usize::try_from(most).unwrap_or(usize::MAX))?;
            if numbers.len() as u64 > most {
                return Err(ValueError::TooMany { name: place.name.clone(), len: most, path: path.to_string() });
            }
            let words = words_of(place, &numbers, format)?;
            match source {
                Some(source) => by_column(&source.dims, words),
                None => words,
            }
        }
    };
    put(machine, place, &words);
    Ok(())
}

/// Reorders words from row-major order, as in files, to column-major order, as in the arrays of Nil.
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

/// Converts numbers to the words of a place; for a stack of Janus, its contents with the top first.
///
/// # Errors
/// The place is `r0`, which cannot be set; the number of numbers differs from that of the words; or a number is not of
/// the type.
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
    if place.growing.is_some_and(|g| words.len() as u64 <= g.room && (words.len() as u64).is_multiple_of(g.width)) {
        return Ok(words);
    }
    if words.len() as u64 != expected {
        return Err(ValueError::Length { name: name.clone(), len: expected, found: words.len() });
    }
    // PISA's `$0` is an ordinary register.
    if place.at == Location::Register(Reg::ZERO) && !name.starts_with('$') {
        return Err(ValueError::Zero);
    }
    Ok(words)
}

/// Writes the words of a place; their number must match the place's, unless it is a vector that grows.
pub fn put(machine: &mut Machine<'_>, place: &Place, words: &[u64]) {
    match place.at {
        Location::Register(reg) => words.iter().for_each(|word| machine.set_register(reg, *word)),
        Location::Cell(at) => words.iter().for_each(|word| machine.set_cell(at, *word)),
        Location::Memory { start, .. } => {
            // A data symbol lies in the data segment, which fits the memory.
            if let ([word], None) = (words, place.growing) {
                return machine.set_words(start as usize, &[machine.narrowed(*word)]);
            }
            let mut words: Vec<u64> = words.iter().map(|w| machine.narrowed(*w)).collect();
            if let Some(g) = place.growing {
                machine.set_words(g.length as usize, &[words.len() as u64 / g.width]);
                words.resize(g.room as usize, 0);
            }
            machine.set_words(start as usize, &words);
        }
    }
}

/// Parses integers for the tapes of a program: `1,2,3` or `@file`.
pub fn tape(module: &Module, value: &str) -> Result<Vec<u64>, ValueError> {
    let format = Format::default();
    let range = language::of((module, None)).range();
    let numbers = match value.strip_prefix('@') {
        Some(path) => arrays::read(path, arrays::MOST)?,
        None => parse::list(value)?,
    };
    if numbers.len() > arrays::MOST {
        let (name, path) = ("the tape".to_string(), value.trim_start_matches('@').to_string());
        return Err(ValueError::TooMany { name, len: arrays::MOST as u64, path });
    }
    numbers
        .iter()
        .map(|n| word(n, Ty::Int, format, range).map_err(|(text, why)| bad("the tape", text, Ty::Int, why)))
        .collect()
}

/// The words of a place.
pub fn words<'m>(machine: &'m Machine<'_>, place: &Place) -> Cow<'m, [u64]> {
    match place.at {
        Location::Register(reg) => Cow::Borrowed(std::slice::from_ref(&machine.registers()[reg.index()])),
        Location::Cell(at) => Cow::Owned(vec![machine.cell(at)]),
        Location::Memory { start, len, .. } => {
            let memory = machine.memory();
            let now = |g: place::Growing| g.words(memory.get(g.length as usize).copied().unwrap_or(0));
            let len = place.growing.map_or(len, now);
            Cow::Borrowed(memory.get(start as usize..(start + len) as usize).unwrap_or(&[]))
        }
    }
}

/// The words of a place as text that reads back exactly: `5`, or `[1, 2, 3]`. After `limit` elements an ellipsis
/// follows. Variables of Janus appear in full, in the form in which Janus prints them.
pub fn text(machine: &Machine<'_>, place: &Place, hex: bool, limit: usize) -> String {
    text_of(machine.program().module(), place, &words(machine, place), hex, limit)
}

/// The same for words that a place has held.
pub fn text_of(module: &Module, place: &Place, words: &[u64], hex: bool, limit: usize) -> String {
    let format = module.flags.format;
    if let Some(v) = &place.variable {
        return v.text(words, |w| if hex { format!("{w:#018x}") } else { v.number(w) });
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
