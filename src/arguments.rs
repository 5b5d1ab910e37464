//! Arguments of Nil programs as the command line gives them: `2,3.5,[1,2,3],[1 2; 3 4],(1,2),exp(2.5),@file.npy`.

use pendula_compiler::nil::sema::{Argument, Number};

use pendula_isa::budget::{Budget, Exceeded};

use crate::arrays;

/// Why a list of arguments cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ArgumentError {
    /// What is written.
    #[error("`{text}` is no argument: {why}")]
    Text {
        /// The text.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// More than the budget allows.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
    /// A bad array file.
    #[error(transparent)]
    Array(#[from] arrays::ArrayError),
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
/// Those of [`parse`]; text that is larger than the budget allows, or arguments that are nested deeper.
pub fn parse_within(text: &str, budget: &Budget) -> Result<Vec<Argument>, ArgumentError> {
    budget.large(text.len() as u64, || "the list of arguments".to_string()).map_err(|e| e.instead(FILE))?;
    let budget = budget.at_most(MOST, u32::MAX);
    list(text, 0, &budget)
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
    let fail = |why| ArgumentError::Text { text: shown(text), why };
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

fn list(text: &str, depth: u32, budget: &Budget) -> Result<Vec<Argument>, ArgumentError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    split(text, ',')?.into_iter().map(|part| one(part.trim(), depth, budget)).collect()
}

fn one(text: &str, depth: u32, budget: &Budget) -> Result<Argument, ArgumentError> {
    let fail = |why| Err(ArgumentError::Text { text: shown(text), why });
    budget.nested(depth, || "an argument".to_string())?;
    if let Some(path) = text.strip_prefix('@') {
        let (shape, numbers) = arrays::read_shaped(path)?;
        let numbers: Vec<Number> = numbers.into_iter().map(number).collect();
        if shape.is_empty() && numbers.len() == 1 {
            return Ok(numbers.into_iter().next().map_or(Argument::Tuple(Vec::new()), Argument::Number));
        }
        return Ok(Argument::Array(shape, numbers));
    }
    if let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        return Ok(Argument::Tuple(list(inner, depth + 1, budget)?));
    }
    if let Some(inner) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        return array(inner, depth, budget);
    }
    // A number by its logarithm.
    let log = text.strip_prefix('-').unwrap_or(text).strip_prefix("exp(").and_then(|t| t.strip_suffix(')'));
    let plain = log.unwrap_or(text);
    if plain.is_empty() || plain.contains(char::is_whitespace) || plain.contains(['[', ']', '(', ')']) {
        return fail("it is no number, array `[1,2]` or tuple `(1,2)`");
    }
    Ok(Argument::Number(Number::Text(text.to_string())))
}

/// `1,2,3`; or rows of a matrix: `1 2; 3 4`.
fn array(text: &str, depth: u32, budget: &Budget) -> Result<Argument, ArgumentError> {
    let fail = |why| ArgumentError::Text { text: format!("[{}]", shown(text)), why };
    let mut rows = split(text, ';')?;
    // `[1.0;]` is a matrix of one row.
    let ended = rows.len() > 1 && rows.last().is_some_and(|row| row.trim().is_empty());
    if ended {
        rows.pop();
    }
    if rows.len() == 1 && !ended && (split(text, ',')?.len() > 1 || split(text.trim(), ' ')?.len() == 1) {
        let mut numbers = Vec::new();
        let items = list(text, depth + 1, budget)?;
        let count = items.len();
        for item in items {
            flatten(item, &mut numbers).ok_or_else(|| fail("its elements are numbers, or tuples of numbers"))?;
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
            let item = one(item.trim(), depth + 1, budget)?;
            let mut parts = Vec::new();
            flatten(item, &mut parts).ok_or_else(|| fail("its elements are numbers, or tuples of numbers"))?;
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

/// As much of a text as a message shows.
fn shown(text: &str) -> String {
    const SHOWN: usize = 400;
    match text.char_indices().nth(SHOWN) {
        Some((n, _)) => format!("{}…", text.get(..n).unwrap_or("")),
        None => text.to_string(),
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
}
