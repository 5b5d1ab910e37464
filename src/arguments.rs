//! Arguments of Nil programs as the command line gives them: `2,3.5,[1,2,3],[1 2; 3 4],(1,2),exp(2.5),zeros(2,3),1:10,@file.npy`; and as `--json` prints
//! arrays, row by row: `[[1,2],[3,4]]`.

use std::cell::Cell;

use pendula_compiler::nil::sema::{Argument, Number};

use pendula_isa::budget::{Budget, Exceeded, Resource};

use crate::arrays;

mod made;

/// Why a list of arguments cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ArgumentError {
    /// What is written.
    #[error("{}`{text}` is no argument: {why}", place(*.number))]
    Text {
        /// Which argument it is or is a part of, from 1; 0 where that is not known.
        number: usize,
        /// The text.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// More than the budget allows.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
    /// A bad array file.
    #[error(transparent)]
    Array(#[from] arrays::ArrayError),
}

/// Where in the list something is wrong.
fn place(number: usize) -> String {
    if number == 0 { String::new() } else { format!("argument {number}: ") }
}

impl ArgumentError {
    fn new(text: &str, why: impl Into<String>) -> ArgumentError {
        ArgumentError::Text { number: 0, text: shown(text), why: why.into() }
    }

    /// The same of the argument with this number.
    fn of(self, own: usize) -> ArgumentError {
        match self {
            ArgumentError::Text { text, why, .. } => ArgumentError::Text { number: own, text, why },
            other => other,
        }
    }
}

/// Reads a list of arguments, in order.
///
/// # Errors
/// Text that is no list of numbers, arrays and tuples; array files that cannot be read.
pub fn parse(text: &str) -> Result<Vec<Argument>, ArgumentError> {
    parse_within(text, &Budget::default())
}

/// The same, as far as a budget goes.
///
/// # Errors
/// Those of [`parse`]; text that is larger than the budget allows, arguments that are nested deeper, or that stand for more numbers.
pub fn parse_within(text: &str, budget: &Budget) -> Result<Vec<Argument>, ArgumentError> {
    budget.large(text.len() as u64, || "the list of arguments".to_string()).map_err(|e| e.instead(FILE))?;
    let reader = Reader { budget: budget.at_most(MOST, u32::MAX), made: Cell::new(0) };
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let parts = split(text, ',')?.into_iter().zip(1..);
    parts.map(|(part, number)| reader.one(part.trim(), 0).map_err(|e| e.of(number))).collect()
}

/// How deep arguments are nested at most: each level is looked at for its commas anew.
const MOST: u32 = 200;

/// What to do with many numbers.
const FILE: &str = "put the numbers into a file, `@file.npy`";

/// Text at its commas, those in brackets aside.
///
/// # Errors
/// Brackets that do not match.
pub fn split(text: &str, at: char) -> Result<Vec<&str>, ArgumentError> {
    let fail = |why| ArgumentError::new(text, why);
    let mut out = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for (n, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.checked_sub(1).ok_or_else(|| fail("a bracket is closed that was not opened"))?
            }
            c if c == at && depth == 0 => {
                out.push(text.get(start..n).unwrap_or(""));
                start = n + c.len_utf8();
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err(fail("a bracket is not closed"));
    }
    out.push(text.get(start..).unwrap_or(""));
    Ok(out)
}

/// What the elements of an array can be.
const ELEMENTS: &str = "its elements are numbers, tuples of numbers, or arrays of one shape";

/// Reads arguments within a budget.
struct Reader {
    budget: Budget,
    /// How many numbers have been made of few characters: `zeros(1000)`.
    made: Cell<u64>,
}

impl Reader {
    fn list(&self, text: &str, depth: u32) -> Result<Vec<Argument>, ArgumentError> {
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        split(text, ',')?.into_iter().map(|part| self.one(part.trim(), depth)).collect()
    }

    fn one(&self, text: &str, depth: u32) -> Result<Argument, ArgumentError> {
        self.budget.nested(depth, || "an argument".to_string())?;
        if let Some(path) = text.strip_prefix('@') {
            let (shape, numbers) = arrays::read_shaped(path)?;
            let numbers: Vec<Number> = numbers.into_iter().map(number).collect();
            if shape.is_empty() && numbers.len() == 1 {
                return Ok(numbers.into_iter().next().map_or(Argument::Tuple(Vec::new()), Argument::Number));
            }
            return Ok(Argument::Array(shape, numbers));
        }
        if let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
            return Ok(Argument::Tuple(self.list(inner, depth + 1)?));
        }
        if let Some(inner) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
            return self.array(inner, depth);
        }
        if let Some(inner) = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')) {
            return self.complex(inner, depth);
        }
        if let Some(made) = self.made(text, depth)? {
            return Ok(made);
        }
        // JSON gives numbers that are no doubles as text.
        let text = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text);
        // A number by its logarithm.
        let log = text.strip_prefix('-').unwrap_or(text).strip_prefix("exp(").and_then(|t| t.strip_suffix(')'));
        let plain = log.unwrap_or(text);
        if plain.is_empty() || plain.contains(char::is_whitespace) || plain.contains(['[', ']', '(', ')', '"']) {
            return Err(ArgumentError::new(text, "it is no number, array `[1,2]` or tuple `(1,2)`"));
        }
        Ok(Argument::Number(Number::Text(text.to_string())))
    }

    /// A complex number as JSON has it: `{"re": 1, "im": 2}`.
    fn complex(&self, inner: &str, depth: u32) -> Result<Argument, ArgumentError> {
        let fail = || {
            ArgumentError::new(
                &format!("{{{inner}}}"),
                "in braces there are the parts of a complex number, `{\"re\": 1, \"im\": 2}`",
            )
        };
        let mut parts: [Option<Argument>; 2] = [None, None];
        for field in split(inner, ',')? {
            let (name, value) = field.split_once(':').ok_or_else(fail)?;
            let part = match name.trim().trim_matches('"') {
                "re" => &mut parts[0],
                "im" => &mut parts[1],
                _ => return Err(fail()),
            };
            *part = Some(self.one(value.trim(), depth + 1)?);
        }
        match parts {
            [Some(re), Some(im)] => Ok(Argument::Tuple(vec![re, im])),
            _ => Err(fail()),
        }
    }

    /// `1,2,3`; or rows of a matrix: `1 2; 3 4`, or `[1,2],[3,4]`.
    fn array(&self, text: &str, depth: u32) -> Result<Argument, ArgumentError> {
        let fail = |why| ArgumentError::new(&format!("[{}]", shown(text)), why);
        let mut rows = split(text, ';')?;
        // `[1.0;]` is a matrix of one row.
        let ended = rows.len() > 1 && rows.last().is_some_and(|row| row.trim().is_empty());
        if ended {
            rows.pop();
        }
        if rows.len() == 1 && !ended && (split(text, ',')?.len() > 1 || split(text.trim(), ' ')?.len() == 1) {
            let items = self.list(text, depth + 1)?;
            if items.iter().any(|item| matches!(item, Argument::Array(..))) {
                return stacked(items).map_err(fail);
            }
            let mut numbers = Vec::new();
            let count = items.len();
            for item in items {
                flatten(item, &mut numbers).ok_or_else(|| fail(ELEMENTS))?;
            }
            return Ok(Argument::Array(vec![count], numbers));
        }
        let mut matrix: Vec<Vec<Vec<Number>>> = Vec::new();
        for row in rows {
            let commas = split(row, ',')?;
            let items: Vec<&str> = if commas.len() > 1 { commas } else { split(row.trim(), ' ')? };
            let items = items.into_iter().filter(|item| !item.trim().is_empty());
            let mut numbers = Vec::new();
            for item in items {
                let item = self.one(item.trim(), depth + 1)?;
                let mut parts = Vec::new();
                flatten(item, &mut parts)
                    .ok_or_else(|| fail("the elements of a row are numbers, or tuples of numbers"))?;
                numbers.push(parts);
            }
            matrix.push(numbers);
        }
        let columns = matrix.first().map_or(0, Vec::len);
        if columns == 0 {
            matrix.clear();
        }
        if matrix.iter().any(|row| row.len() != columns) {
            return Err(fail("its rows have different lengths"));
        }
        let shape = vec![matrix.len(), columns];
        let by_column =
            (0..columns).flat_map(|c| matrix.iter().filter_map(move |row| row.get(c).cloned())).flatten().collect();
        Ok(Argument::Array(shape, by_column))
    }

    /// Sees that so many further numbers, which a few characters stand for, are within the budget.
    fn makes(&self, text: &str, count: u64) -> Result<(), ArgumentError> {
        let made = self.made.get().saturating_add(count);
        let what = || format!("the list of arguments, with `{}`,", shown(text));
        let within = Resource::Nodes.within(self.budget.words, made, what);
        within.map_err(|e| e.of("number").instead("no machine has more words: give fewer"))?;
        self.made.set(made);
        Ok(())
    }
}

/// An array of these arrays, its rows; of whose elements the first index runs fastest.
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

/// As much of a text as a message shows.
fn shown(text: &str) -> String {
    const SHOWN: usize = 400;
    match text.char_indices().nth(SHOWN) {
        Some((n, _)) => format!("{}…", text.get(..n).unwrap_or("")),
        None => text.to_string(),
    }
}

/// The numbers of an argument, in the order in which a program has them.
pub(crate) fn flat(argument: Argument) -> Option<Vec<Number>> {
    match argument {
        Argument::Array(_, numbers) => Some(numbers),
        argument => {
            let mut out = Vec::new();
            flatten(argument, &mut out)?;
            Some(out)
        }
    }
}

fn flatten(item: Argument, out: &mut Vec<Number>) -> Option<()> {
    match item {
        Argument::Number(n) => out.push(n),
        Argument::Tuple(parts) => parts.into_iter().try_for_each(|p| flatten(p, out))?,
        Argument::Array(..) => return None,
    }
    Some(())
}

/// A number of a file as a number of an argument.
pub fn number(n: arrays::Number) -> Number {
    match n {
        arrays::Number::Text(t) => Number::Text(t),
        arrays::Number::Int(k) => i64::try_from(k).map_or_else(|_| Number::Text(k.to_string()), Number::Int),
        arrays::Number::Float(x) => Number::Float(x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(text: &str) -> (Vec<usize>, usize) {
        match parse(text).map(|mut a| a.pop()) {
            Ok(Some(Argument::Array(shape, numbers))) => (shape, numbers.len()),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn arrays_have_the_shapes_that_they_are_written_in() {
        assert_eq!(array("[1.0]"), (vec![1], 1));
        assert_eq!(array("[]"), (vec![0], 0));
        assert_eq!(array("[1 2]"), (vec![1, 2], 2));
        assert_eq!(array("[1 2; 3 4; 5 6]"), (vec![3, 2], 6));
        // With a semicolon at its end even one row, or none, is a matrix.
        assert_eq!(array("[1.0;]"), (vec![1, 1], 1));
        assert_eq!(array("[1 2; 3 4;]"), (vec![2, 2], 4));
        assert_eq!(array("[;]"), (vec![0, 0], 0));
        assert_eq!(array("[(1,2) (3,4)]"), (vec![1, 2], 4));
        assert!(parse("[1 2; 3]").is_err());
        assert!(parse("[1 2").is_err());
    }

    fn numbers(text: &str) -> Vec<String> {
        match parse(text).map(|mut a| a.pop()) {
            Ok(Some(Argument::Array(_, numbers))) => numbers.iter().map(text_of).collect(),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn text_of(n: &Number) -> String {
        match n {
            Number::Text(t) => t.clone(),
            Number::Int(k) => k.to_string(),
            Number::Float(x) => format!("{x:?}"),
        }
    }

    fn said(text: &str) -> String {
        parse(text).map(|a| format!("{a:?}")).unwrap_err().to_string()
    }

    #[test]
    fn arrays_within_an_array_are_its_rows() {
        assert_eq!(parse("[[1,2],[3,4],[5,6]]").unwrap(), parse("[1 2; 3 4; 5 6]").unwrap());
        assert_eq!(parse("[[1,2]]").unwrap(), parse("[1 2]").unwrap());
        assert_eq!(parse("[[(1,2),(3,4)]]").unwrap(), parse("[(1,2) (3,4)]").unwrap());
        let complex = "[{\"re\": 1, \"im\": 2}, {\"im\": 4, \"re\": 3}]";
        assert_eq!(parse(complex).unwrap(), parse("[(1,2),(3,4)]").unwrap());
        assert_eq!(parse("[\"0.5\", \"1.5\"]").unwrap(), parse("[0.5,1.5]").unwrap());
        assert_eq!(array("[[],[]]"), (vec![2, 0], 0));
        // Element (i, j, k) is number i + 2 j + 4 k.
        assert_eq!(array("[[[1,2],[3,4]],[[5,6],[7,8]]]"), (vec![2, 2, 2], 8));
        assert_eq!(numbers("[[[1,2],[3,4]],[[5,6],[7,8]]]"), ["1", "5", "3", "7", "2", "6", "4", "8"]);
        assert!(said("1,[[1,2],[3]]").starts_with("argument 2: `[[1,2],[3]]` is no argument: its rows"));
        assert!(said("[[1,2],3]").contains("arrays of one shape"));
        assert!(said("[[[[1]]]]").contains("three dimensions"));
        assert!(said("{\"re\": 1}").contains("complex number"));
    }

    #[test]
    fn arrays_are_made_as_julia_makes_them() {
        assert_eq!(array("zeros(2,101)"), (vec![2, 101], 202));
        assert_eq!(array("zeros((2, 3))"), (vec![2, 3], 6));
        assert_eq!(array("ones(0)"), (vec![0], 0));
        assert_eq!(numbers("ones(2)"), ["1.0", "1.0"]);
        assert_eq!(numbers("fill(0.25, 1, 2)"), ["0.25", "0.25"]);
        assert_eq!(array("[zeros(3), ones(3)]"), (vec![2, 3], 6));
        assert_eq!(numbers("range(1, 4)"), ["1", "2", "3", "4"]);
        assert_eq!(numbers("1:3"), ["1", "2", "3"]);
        assert_eq!(numbers("collect(5:-2:0)"), ["5", "3", "1"]);
        assert_eq!(numbers("3:1"), Vec::<String>::new());
        assert_eq!(numbers("range(0, 1; length=5)"), ["0.0", "0.25", "0.5", "0.75", "1.0"]);
        assert_eq!(numbers("range(0,step=0.1,length=3)"), ["0.0", "0.1", "0.2"]);
        assert_eq!(numbers("0:0.1:0.3"), ["0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(numbers("range(-1,1,3)"), ["-1.0", "0.0", "1.0"]);
        assert_eq!(numbers("range(2, 2, length=1)"), ["2.0"]);
        let thirds = numbers("range(0,1e-3,length=4)");
        assert_eq!(thirds[1].parse::<f64>(), Ok(1e-3 / 3.0), "{thirds:?}");
    }

    #[test]
    fn what_cannot_be_made() {
        assert!(said("1,zeros(-1)").starts_with("argument 2: `zeros(-1)` is no argument: "), "{}", said("1,zeros(-1)"));
        assert!(said("zeros()").contains("lengths"));
        assert!(said("zeros(Float64, 3)").contains("the parameter's"));
        assert!(said("zeros(1,1,1,1)").contains("three dimensions"));
        assert!(said("rand(3)").contains("zeros, ones, fill, range and collect"));
        assert!(said("range(1)").contains("length"));
        assert!(said("range(0,1,length=1.5)").contains("whole number"));
        assert!(said("range(0,1,size=3)").contains("`size`"));
        assert!(said("range(2,3,length=1)").contains("both"));
        assert!(said("1:0:5").contains("step"));
        assert!(said("a:b").contains("`a` is no number"));
        for large in [
            "zeros(1000000000000)",
            "zeros(4294967296,4294967296)",
            "1:1000000000000",
            "zeros(100000000),zeros(100000000)",
        ] {
            assert!(said(large).contains("numbers"), "{large}: {}", said(large));
        }
    }
}
