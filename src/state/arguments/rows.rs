//! Arrays in brackets: a list, `[1,2,3]`; rows of a matrix, `[1 2; 3 4]`; or the rows as arrays, `[[1,2],[3,4]]`.

use nom::Parser as _;
use nom::branch::alt;
use nom::character::complete::{char, none_of};
use nom::combinator::{map, peek};
use nom::multi::{many0, separated_list1};
use pendula_compiler::nil::sema::{Argument, Number};

use super::grammar::{NO_ARGUMENT, Parsed, blank, close, decided, fail, piece, symbol};
use super::{ArgumentError, Reader, flatten};

/// The allowed elements of an array, for messages.
const ELEMENTS: &str = "its elements are numbers, tuples of numbers, or arrays of one shape";

/// An element of a row.
enum Part<'t> {
    Comma,
    Element {
        /// Its text.
        text: &'t str,
        /// The blanks before it.
        gap: &'t str,
        value: Argument,
    },
}

/// The elements of a row.
struct Row {
    elements: Vec<Argument>,
    commas: usize,
}

impl Reader {
    /// An array in brackets.
    pub(super) fn array<'t>(&self, text: &'t str, depth: u32) -> Parsed<'t, Argument> {
        let (inner, _) = char('[').parse(text)?;
        let (rest, mut rows) = separated_list1(symbol(';'), |row| self.row(row, depth)).parse(inner)?;
        let (rest, _) = close(text, rest, ']', "`,`, `;` or ")?;
        let own = &text[..text.len() - rest.len()];
        let wrong = |why| ArgumentError::new(own, why);
        // `[1.0;]` is a matrix of one row.
        let ended = rows.len() > 1 && rows.last().is_some_and(|row| row.elements.is_empty() && row.commas == 0);
        if ended {
            rows.pop();
        }
        match rows.pop() {
            Some(row) if rows.is_empty() && !ended && (row.commas > 0 || row.elements.len() < 2) => {
                decided(rest, list(row).map_err(wrong))
            }
            last => {
                rows.extend(last);
                decided(rest, matrix(rows).map_err(wrong))
            }
        }
    }

    /// The elements of a row; either commas or blanks separate them.
    fn row<'t>(&self, text: &'t str, depth: u32) -> Parsed<'t, Row> {
        let element = |text| {
            let (begin, gap) = blank(text)?;
            peek(none_of(";]")).parse(begin)?;
            let (rest, value) = self.one(begin, &[',', ';'], depth + 1)?;
            Ok((rest, Part::Element { text: begin[..begin.len() - rest.len()].trim_end(), gap, value }))
        };
        let (rest, parts) = many0(alt((map(symbol(','), |_| Part::Comma), element))).parse(text)?;
        let commas = parts.iter().filter(|part| matches!(part, Part::Comma)).count();
        let (mut elements, mut beside) = (Vec::new(), false);
        for part in parts {
            let Part::Element { text: own, gap, value } = part else {
                beside = false;
                continue;
            };
            if beside && commas > 0 {
                return fail(
                    own,
                    "a comma is expected before it: elements stand either between commas or between blanks",
                );
            }
            if beside && !gap.contains(' ') {
                return fail(own, "a comma or a blank is expected before it");
            }
            if commas == 0 && piece(own, &[' ']).0.len() < own.len() {
                return fail(own, NO_ARGUMENT);
            }
            elements.push(value);
            beside = true;
        }
        Ok((rest, Row { elements, commas }))
    }
}

/// An array of these elements, or of these arrays.
fn list(row: Row) -> Result<Argument, &'static str> {
    if row.commas > 0 && row.elements.len() != row.commas + 1 {
        return Err("an element is expected on either side of a comma");
    }
    if row.elements.iter().any(|item| matches!(item, Argument::Array(..))) {
        return stacked(row.elements);
    }
    if row.elements.iter().any(holds_arrays) {
        let one_kind = row.elements.iter().all(|item| matches!(item, Argument::Tuple(_)));
        return if one_kind { Ok(Argument::List(row.elements)) } else { Err(ELEMENTS) };
    }
    let (count, mut numbers) = (row.elements.len(), Vec::new());
    row.elements.into_iter().try_for_each(|item| flatten(item, &mut numbers)).ok_or(ELEMENTS)?;
    Ok(Argument::Array(vec![count], numbers))
}

/// Whether a tuple has an array in it: the fields of a struct.
fn holds_arrays(item: &Argument) -> bool {
    match item {
        Argument::Tuple(parts) => parts.iter().any(holds_arrays),
        Argument::Array(..) | Argument::List(_) => true,
        Argument::Number(_) => false,
    }
}

/// A matrix of these rows, in column-major order.
fn matrix(rows: Vec<Row>) -> Result<Argument, &'static str> {
    let mut matrix: Vec<Vec<Vec<Number>>> = Vec::with_capacity(rows.len());
    for row in rows {
        let numbers = row.elements.into_iter().map(|item| {
            let mut parts = Vec::new();
            flatten(item, &mut parts).map(|()| parts)
        });
        let numbers: Option<Vec<_>> = numbers.collect();
        matrix.push(numbers.ok_or("the elements of a row are numbers, or tuples of numbers")?);
    }
    let columns = matrix.first().map_or(0, Vec::len);
    if columns == 0 {
        matrix.clear();
    }
    if matrix.iter().any(|row| row.len() != columns) {
        return Err("its rows have different lengths");
    }
    let shape = vec![matrix.len(), columns];
    let by_column =
        (0..columns).flat_map(|c| matrix.iter().filter_map(move |row| row.get(c).cloned())).flatten().collect();
    Ok(Argument::Array(shape, by_column))
}

/// The array whose rows are these arrays; its first index varies fastest.
fn stacked(items: Vec<Argument>) -> Result<Argument, &'static str> {
    let mut rows = Vec::with_capacity(items.len());
    for item in items {
        let Argument::Array(shape, numbers) = item else { return Err(ELEMENTS) };
        rows.push((shape, numbers));
    }
    let Some((inner, first)) = rows.first() else { return Ok(Argument::Array(vec![0], Vec::new())) };
    if rows.iter().any(|(shape, numbers)| shape != inner || numbers.len() != first.len()) {
        return Err("its rows have different lengths");
    }
    if inner.len() > 2 {
        return Err("an array has three dimensions at most");
    }
    let elements: usize = inner.iter().product();
    let per = first.len().checked_div(elements).unwrap_or(0);
    let shape = std::iter::once(rows.len()).chain(inner.iter().copied()).collect();
    let mut numbers = Vec::with_capacity(rows.len() * first.len());
    for at in 0..elements {
        for (_, row) in &rows {
            numbers.extend_from_slice(row.get(at * per..(at + 1) * per).unwrap_or(&[]));
        }
    }
    Ok(Argument::Array(shape, numbers))
}
