//! Parses values of the command line: a number or a list; in a Nil program, everything that an argument may be.

use nom::Parser as _;
use nom::branch::alt;
use nom::bytes::complete::take_while;
use nom::character::complete::char;
use nom::combinator::{all_consuming, map};
use nom::error::Error;
use nom::multi::separated_list1;
use nom::sequence::delimited;
use pendula_compiler::nil::sema::Argument;
use pendula_isa::budget::Budget;
use pendula_isa::module::Variable;

use super::error::{ValueError, bad};
use super::place::Place;
use crate::state::arguments;
use crate::state::arrays::{self, Number};

/// The numbers of `5`, `1,2,3` or `[1, 2, 3]`.
pub(super) fn list(value: &str) -> Result<Vec<Number>, ValueError> {
    let items = |ends: &'static [char]| separated_list1(char(','), take_while(move |c| !ends.contains(&c)));
    let bracketed = map(all_consuming(delimited(char('['), items(&[',', '[', ']']), char(']'))), |items| (items, true));
    // Text that is not a number is reported later, when it is converted.
    let plain = map(all_consuming(items(&[','])), |items| (items, false));
    let read = alt((bracketed, plain)).parse(value);
    let (_, (items, in_brackets)) = read.map_err(|_: nom::Err<Error<&str>>| ValueError::Syntax(value.to_string()))?;
    match &items[..] {
        [item] if item.trim().is_empty() && in_brackets => Ok(Vec::new()),
        [item] if item.trim().is_empty() => Err(ValueError::Syntax(value.to_string())),
        items => Ok(items.iter().map(|item: &&str| Number::Text(item.trim().to_string())).collect()),
    }
}

/// Parses a value of a Nil variable, which is written like an argument: `5`, `[1 2; 3 4]`, `(1.0, 2.0)`, `zeros(3)`,
/// `1:3`. The brackets around a list of numbers may be left out.
pub(super) fn argument(place: &Place, source: &Variable, value: &str) -> Result<Vec<Number>, ValueError> {
    let budget = Budget { words: place.most().saturating_add(1), ..Budget::default() };
    let wrong = |why: String| bad(&place.name, value.chars().take(40).collect(), place.ty, format!(": {why}"));
    let mut arguments = arguments::parse_within(value, &budget).map_err(|e| wrong(e.to_string()))?;
    let argument = match arguments.pop() {
        Some(argument) if arguments.is_empty() => argument,
        Some(last) if arguments.iter().chain([&last]).all(|a| matches!(a, Argument::Number(_))) => {
            arguments.push(last);
            Argument::Tuple(arguments)
        }
        _ => return Err(wrong("one value is expected, in brackets if it is an array".to_string())),
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
    // The arrays of an array of arrays lie one after the other.
    if let Argument::Array(shape, numbers) = &argument
        && shape.len() > 1
        && source.dims.len() == 1
    {
        let order = arrays::row_by_row(shape);
        let per = numbers.len().checked_div(order.len()).unwrap_or(0);
        let own = |at: usize| numbers.get(at * per..(at + 1) * per).unwrap_or(&[]).iter().cloned().map(Number::from);
        return Ok(order.into_iter().flat_map(own).collect());
    }
    let numbers = arguments::flat(argument).ok_or_else(|| wrong("arrays do not stand within tuples".to_string()))?;
    Ok(numbers.into_iter().map(Number::from).collect())
}
