//! Arguments of Nil programs as the command line takes them: `2,3.5,[1,2,3],[1 2; 3
//! 4],(1,2),exp(2.5),zeros(2,3),1:10,@file.npy`. Arrays may also be written as `--json` prints them, row by row:
//! `[[1,2],[3,4]]`.

use std::cell::Cell;

use nom::Parser as _;
use nom::branch::alt;
use nom::character::complete::char;
use nom::multi::separated_list1;
use nom::sequence::{preceded, terminated};

use pendula_compiler::nil::ast::AssignOp;
use pendula_compiler::nil::sema::{Argument, Number};

use pendula_isa::budget::{Budget, Exceeded, Resource};

use crate::state::arrays;

mod constructors;
mod grammar;
mod rows;

use grammar::{
    NO_ARGUMENT, Parsed, blank, close, decided, expected, fail, next, parenthesized, piece, quoted, symbol, word,
};

/// Why a list of arguments cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ArgumentError {
    /// The text is wrong.
    #[error("{}`{text}` is not an argument: {why}", place(*.number))]
    Text {
        /// The number of the argument that it is or belongs to, from 1; 0 if that is not known.
        number: usize,
        /// The text.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// It exceeds the budget.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
    /// The array file is invalid.
    #[error(transparent)]
    Array(#[from] arrays::ArrayError),
}

/// The argument's number as the beginning of a message.
fn place(number: usize) -> String {
    if number == 0 { String::new() } else { format!("argument {number}: ") }
}

impl ArgumentError {
    fn new(text: &str, why: impl Into<String>) -> ArgumentError {
        ArgumentError::Text { number: 0, text: shown(text), why: why.into() }
    }

    /// The same error with the number of its argument.
    fn of(self, own: usize) -> ArgumentError {
        match self {
            ArgumentError::Text { text, why, .. } => ArgumentError::Text { number: own, text, why },
            other => other,
        }
    }
}

/// Parses a list of arguments, in order.
///
/// # Errors
/// The text is not a list of numbers, arrays and tuples, or an array file cannot be read.
pub fn parse(text: &str) -> Result<Vec<Argument>, ArgumentError> {
    parse_within(text, &Budget::default())
}

/// Like [`parse`], within a budget.
///
/// # Errors
/// Those of [`parse`]; also, the text is larger, its arguments are nested deeper, or they stand for more numbers than
/// the budget allows.
pub fn parse_within(text: &str, budget: &Budget) -> Result<Vec<Argument>, ArgumentError> {
    budget.large(text.len() as u64, || "the list of arguments".to_string()).map_err(|e| e.instead(FILE))?;
    let reader = Reader { budget: budget.at_most(MOST, u32::MAX), made: Cell::new(0) };
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut number = 0;
    let one = |part| {
        number += 1;
        let (rest, argument) = reader.one(part, &[','], 0).map_err(|e| e.map(|e| e.of(number)))?;
        match next(rest) {
            None | Some(',') => Ok((rest, argument)),
            Some(_) => expected(part, rest, "`,`").map_err(|e: nom::Err<ArgumentError>| e.map(|e| e.of(number))),
        }
    };
    separated_list1(symbol(','), one).parse(text).map(|(_, arguments)| arguments).map_err(grammar::error)
}

/// The maximum nesting depth of arguments: the parser is recursive.
const MOST: u32 = 200;

/// Room on the thread's stack in bytes: what one level takes without optimisation, and what is added if there is less.
const STACK: (usize, usize) = (128 << 10, 1 << 20);

/// The advice for long lists of numbers.
const FILE: &str = "put the numbers into a file, `@file.npy`";

/// Splits text at the character `at`, except within brackets.
///
/// # Errors
/// The brackets do not match.
pub fn split(text: &str, at: char) -> Result<Vec<&str>, ArgumentError> {
    let mut open = 0;
    let part = |text| {
        let (part, depth) = piece(text, &[at]);
        open += depth;
        Ok((&text[part.len()..], part))
    };
    let (rest, parts) = separated_list1(char(at), part).parse(text).map_err(grammar::error)?;
    match rest {
        "" if open == 0 => Ok(parts),
        "" => Err(ArgumentError::new(text, "a bracket is not closed")),
        _ => Err(ArgumentError::new(text, "a bracket is closed that was not opened")),
    }
}

/// The positional arguments of a list, and its keywords with their values: `1.0,2.0,n=3`. A semicolon may stand before
/// the keywords.
///
/// # Errors
/// Those of [`split`].
pub fn with_keywords(text: &str) -> Result<(String, Vec<(String, String)>), ArgumentError> {
    let (mut positional, mut keywords) = (Vec::new(), Vec::new());
    // Most lists have none, and may be long.
    if !text.contains('=') {
        return Ok((text.to_string(), keywords));
    }
    for part in split(text, ',')? {
        for part in split(part, ';')? {
            let name = |name: &str| {
                name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_')
                    && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '!'))
            };
            match part.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
                Some((key, value)) if name(key) && !value.starts_with('=') => {
                    keywords.push((key.to_string(), value.to_string()));
                }
                _ => positional.push(part),
            }
        }
    }
    Ok((positional.join(","), keywords))
}

/// Parses arguments within a budget.
struct Reader {
    budget: Budget,
    /// The number of numbers that short expressions such as `zeros(1000)` have made so far.
    made: Cell<u64>,
}

impl Reader {
    /// Parses an argument, up to one of the characters `ends` or a closing bracket.
    fn one<'t>(&self, text: &'t str, ends: &[char], depth: u32) -> Parsed<'t, Argument> {
        decided(text, self.budget.nested(depth, || "an argument".to_string()).map_err(ArgumentError::from))?;
        stacker::maybe_grow(STACK.0, STACK.1, || self.within(text, ends, depth))
    }

    fn within<'t>(&self, text: &'t str, ends: &[char], depth: u32) -> Parsed<'t, Argument> {
        let (text, _) = blank(text)?;
        match text.chars().next() {
            Some('@') => file(text, ends),
            Some('(') => self.tuple(text, depth),
            Some('[') => self.array(text, depth),
            Some('{') => self.complex(text, depth),
            // JSON has numbers that are not doubles as strings.
            Some('"') => {
                let (rest, inner) = quoted(text).or_else(|_| fail(text, "a quote is not closed: `\"` is expected"))?;
                decided(rest, plain(inner).ok_or_else(|| ArgumentError::new(inner, NO_ARGUMENT)))
            }
            _ => self.word(text, ends, depth),
        }
    }

    /// Parses a number, a range, or a function with its arguments.
    fn word<'t>(&self, text: &'t str, ends: &[char], depth: u32) -> Parsed<'t, Argument> {
        let no_argument = || fail(piece(text, ends).0.trim_end(), NO_ARGUMENT);
        let (rest, word) = word(text)?;
        if next(rest) == Some(':') {
            return self.colons(text, ends);
        }
        let Some(name) = Some(word).filter(|_| rest.starts_with('(')) else {
            return plain(word).map_or_else(no_argument, |number| Ok((rest, number)));
        };
        let (rest, inner) = parenthesized(rest)?;
        let own = &text[..text.len() - rest.len()];
        // A number given by its logarithm.
        if name.strip_prefix('-').unwrap_or(name) == "exp" {
            return plain(own).map_or_else(no_argument, |number| Ok((rest, number)));
        }
        // A function that adds to its first argument: `PlusEq(sin)`.
        if AssignOp::of_type(name).is_some() {
            return Ok((rest, Argument::Number(Number::Text(own.to_string()))));
        }
        match grammar::name(name) {
            Ok(("", name)) => decided(rest, self.made(own, (name, inner), depth)),
            _ => no_argument(),
        }
    }

    /// Parses a tuple in parentheses.
    fn tuple<'t>(&self, text: &'t str, depth: u32) -> Parsed<'t, Argument> {
        let (inner, _) = char('(').parse(text)?;
        let (rest, parts) = match next(inner) {
            Some(')') => (inner, Vec::new()),
            _ => separated_list1(symbol(','), |part| self.one(part, &[','], depth + 1)).parse(inner)?,
        };
        let (rest, _) = close(text, rest, ')', "`,` or ")?;
        Ok((rest, Argument::Tuple(parts)))
    }

    /// Parses a complex number in the form of JSON: `{"re": 1, "im": 2}`.
    fn complex<'t>(&self, text: &'t str, depth: u32) -> Parsed<'t, Argument> {
        const PARTS: &str = "in braces there are the parts of a complex number, `{\"re\": 1, \"im\": 2}`";
        let own = piece(text, &[',']).0;
        let (inner, _) = char('{').parse(text)?;
        let field_name = preceded(blank, alt((quoted, grammar::name)));
        let field = (terminated(field_name, symbol(':')), |value| self.one(value, &[','], depth + 1));
        let fields: Parsed<'t, Vec<(&str, Argument)>> = separated_list1(symbol(','), field).parse(inner);
        let (rest, fields) = match fields {
            Err(nom::Err::Error(_)) => return fail(own, PARTS),
            fields => fields?,
        };
        let (rest, _) = close(text, rest, '}', "`,` or ")?;
        let mut parts: [Option<Argument>; 2] = [None, None];
        for (name, value) in fields {
            match name {
                "re" => parts[0] = Some(value),
                "im" => parts[1] = Some(value),
                _ => return fail(own, PARTS),
            }
        }
        match parts {
            [Some(re), Some(im)] => Ok((rest, Argument::Tuple(vec![re, im]))),
            _ => fail(own, PARTS),
        }
    }

    /// Checks that this many more numbers, which a short text stands for, are within the budget.
    fn makes(&self, text: &str, count: u64) -> Result<(), ArgumentError> {
        let made = self.made.get().saturating_add(count);
        let what = || format!("the list of arguments, with `{}`,", shown(text));
        let within = Resource::Nodes.within(self.budget.words, made, what);
        within.map_err(|e| e.of("number").instead("no machine has more words: give fewer"))?;
        self.made.set(made);
        Ok(())
    }
}

/// Reads the array of a file.
fn file<'t>(text: &'t str, ends: &[char]) -> Parsed<'t, Argument> {
    let (own, _) = piece(text, ends);
    let read = arrays::read_shaped(own.trim_start_matches('@').trim()).map_err(ArgumentError::from);
    let argument = read.map(|(shape, numbers)| {
        let numbers: Vec<Number> = numbers.into_iter().map(number).collect();
        if shape.is_empty() && numbers.len() == 1 {
            return numbers.into_iter().next().map_or(Argument::Tuple(Vec::new()), Argument::Number);
        }
        Argument::Array(shape, numbers)
    });
    decided(&text[own.len()..], argument)
}

/// A number, either plain or given by its logarithm, `-exp(2.5)`.
fn plain(text: &str) -> Option<Argument> {
    let log = text.strip_prefix('-').unwrap_or(text).strip_prefix("exp(").and_then(|t| t.strip_suffix(')'));
    let (rest, digits) = word(log.unwrap_or(text)).ok()?;
    (rest.is_empty() && !digits.is_empty()).then(|| Argument::Number(Number::Text(text.to_string())))
}

/// Shortens a text for messages.
fn shown(text: &str) -> String {
    const SHOWN: usize = 400;
    match text.char_indices().nth(SHOWN) {
        Some((n, _)) => format!("{}…", text.get(..n).unwrap_or("")),
        None => text.to_string(),
    }
}

/// The numbers of an argument, in the order of the program's words.
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
        Argument::Array(..) | Argument::List(_) => return None,
    }
    Some(())
}

/// Converts a number of a file to a number of an argument.
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
        // With a semicolon at the end, even a single row, or none, is a matrix.
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
        assert!(said("1,[[1,2],[3]]").starts_with("argument 2: `[[1,2],[3]]` is not an argument: its rows"));
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
        assert!(
            said("1,zeros(-1)").starts_with("argument 2: `zeros(-1)` is not an argument: "),
            "{}",
            said("1,zeros(-1)")
        );
        assert!(said("zeros()").contains("lengths"));
        assert!(said("zeros(Float64, 3)").contains("the parameter's"));
        assert!(said("zeros(1,1,1,1)").contains("three dimensions"));
        assert!(said("rand(3)").contains("zeros, ones, fill, range and collect"));
        assert!(said("range(1)").contains("length"));
        assert!(said("range(0,1,length=1.5)").contains("whole number"));
        assert!(said("range(0,1,size=3)").contains("`size`"));
        assert!(said("range(2,3,length=1)").contains("both"));
        assert!(said("1:0:5").contains("step"));
        assert!(said("a:b").contains("`a` is not a number"));
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
