//! Ranges, and functions that make arrays as in Julia: `zeros(2,3)`, `fill(0.5,4)`, `1:10`, `range(0,1,length=11)`.

use nom::Parser as _;
use nom::character::complete::one_of;
use nom::combinator::opt;
use nom::multi::separated_list1;
use nom::sequence::{preceded, terminated};
use pendula_compiler::nil::sema::{Argument, Number};

use super::grammar::{self, Parsed, blank, decided, piece, symbol, word};
use super::{ArgumentError, Reader, split};

/// The functions that make arrays, for messages.
const FUNCTIONS: &str = "zeros, ones, fill, range and collect";

/// The most digits of a range's numbers: up to this number, the elements are computed exactly.
const DIGITS: usize = 18;

/// The number of digits of an element of a range that is not a finite decimal number: more than any number type
/// distinguishes.
const SIGNIFICANT: usize = 30;

impl Reader {
    /// Evaluates a call of an array function; `name` and `inner` are its name and the text in its parentheses, `text`
    /// is the whole call.
    pub(super) fn made(&self, text: &str, (name, inner): (&str, &str), depth: u32) -> Result<Argument, ArgumentError> {
        let fail = |why: String| Err(ArgumentError::new(text, why));
        match name {
            "zeros" => self.filled(text, &Number::Float(0.0), inner),
            "ones" => self.filled(text, &Number::Float(1.0), inner),
            "fill" => {
                let (value, lengths) = inner.split_once(',').unwrap_or((inner, ""));
                let value = value.trim();
                if !matches!(value, "true" | "false") && value.parse::<f64>().is_err() {
                    return fail(format!("`{value}` is not a number: `fill(0.5, 2, 3)`"));
                }
                self.filled(text, &Number::Text(value.to_string()), lengths)
            }
            "range" => self.range(text, inner),
            "collect" => match self.one(inner, &[], depth + 1).map_err(grammar::error)? {
                ("", array @ Argument::Array(..)) => Ok(array),
                _ => fail("`collect` takes a range, `collect(1:10)`".to_string()),
            },
            _ => fail(format!("there is no function `{name}` here; there are {FUNCTIONS}")),
        }
    }

    /// An array of equal elements; their type is the parameter's.
    fn filled(&self, text: &str, value: &Number, lengths: &str) -> Result<Argument, ArgumentError> {
        let fail = |why: String| Err(ArgumentError::new(text, why));
        let lengths = lengths.trim();
        let lengths = lengths.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(lengths).trim();
        if lengths.is_empty() {
            return fail("its lengths are missing: `zeros(3)`, `zeros(2,3)`, `fill(0.5,3)`".to_string());
        }
        let (mut shape, mut count, mut longest) = (Vec::new(), 1_u64, 0);
        for part in split(lengths, ',')? {
            let part = part.trim();
            let Ok(length) = part.replace('_', "").parse::<u64>() else {
                return match part.starts_with(char::is_uppercase) {
                    true => fail(format!(
                        "the elements' type is the parameter's, or given by `--types`: leave out `{part}`"
                    )),
                    false => fail(format!("`{part}` is not a length: lengths are whole numbers from 0 on")),
                };
            };
            count = count.saturating_mul(length);
            longest = longest.max(length);
            // A length that is not a `usize` exceeds every budget.
            shape.push(usize::try_from(length).unwrap_or(usize::MAX));
        }
        if shape.len() > 3 {
            return fail("an array has three dimensions at most".to_string());
        }
        // An array without elements may still have large lengths.
        self.makes(text, count.max(longest))?;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        Ok(Argument::Array(shape, vec![value.clone(); count]))
    }

    /// Parses `1:10` or `0:0.1:1`.
    pub(super) fn colons<'t>(&self, text: &'t str, ends: &[char]) -> Parsed<'t, Argument> {
        let ends = [ends, &[':']].concat();
        let part = |text| {
            // Between blanks, as in a row of a matrix, the blank after the last number ends the range.
            let (begin, _) = blank(text)?;
            let (own, _) = piece(begin, &ends);
            let own = if own.contains(' ') { word(own)?.1 } else { own };
            Ok((&begin[own.len()..], own))
        };
        let (rest, parts) = separated_list1(symbol(':'), part).parse(text)?;
        let own = text[..text.len() - rest.len()].trim_end();
        let range = parts.iter().map(|part| bound(own, part)).collect::<Result<Vec<_>, _>>();
        let array = range.and_then(|range| match range[..] {
            [start, stop] => self.steps(own, start, ONE, stop),
            [start, step, stop] => self.steps(own, start, step, stop),
            _ => Err(ArgumentError::new(own, "a range is `start:stop` or `start:step:stop`")),
        });
        decided(rest, array)
    }

    /// Evaluates `range(1, 10)`, `range(0, 1, length=11)`, `range(0, 1; step=0.1)` or `range(0, step=0.1, length=11)`.
    fn range(&self, text: &str, inner: &str) -> Result<Argument, ArgumentError> {
        let fail = |why: String| ArgumentError::new(text, why);
        let names = ["start", "stop", "length", "step"];
        let mut given: [Option<&str>; 4] = [None; 4];
        let mut positional = 0;
        let value = |text| {
            let (own, _) = piece(text, &[',', ';']);
            Ok((&text[own.len()..], own.trim()))
        };
        let named = (opt(terminated(preceded(blank, grammar::name), symbol('='))), value);
        let parts: Parsed<'_, Vec<(Option<&str>, &str)>> =
            separated_list1(preceded(blank, one_of(",;")), named).parse(inner);
        for (named, value) in parts.map_err(grammar::error)?.1 {
            positional += usize::from(named.is_none());
            let name = named.or_else(|| names.get(positional - 1).copied().filter(|_| positional < 4)).unwrap_or("");
            let slot = names.iter().position(|n| *n == name);
            let slot = slot.ok_or_else(|| match named {
                Some(name) => fail(format!("`range` has no `{name}`; it has start, stop, length and step")),
                None => fail("`range` takes start, stop and length".to_string()),
            })?;
            given[slot] = Some(value);
        }
        let [start, stop, length, step] = given;
        let number = |value: Option<&str>| value.map(|value| bound(text, value)).transpose();
        let length = match length.map(|length| (length, length.replace('_', "").parse::<u64>())) {
            Some((_, Ok(length))) => Some(length),
            Some((length, Err(_))) => return Err(fail(format!("length is a whole number, not `{length}`"))),
            None => None,
        };
        match (number(start)?, number(stop)?, length, number(step)?) {
            (Some(start), Some(stop), None, step) => self.steps(text, start, step.unwrap_or(ONE), stop),
            (Some(start), None, Some(length), step) => {
                let step = step.unwrap_or(ONE);
                let (places, [start, step, _]) = aligned(text, [start, step, ONE])?;
                let whole = start.whole && step.whole;
                self.elements(text, length, whole, |i| (start.digits + i * step.digits, 1, places))
            }
            (Some(start), Some(stop), Some(length), None) => {
                let (places, [start, stop, _]) = aligned(text, [start, stop, ONE])?;
                let gaps = i128::from(length) - 1;
                if gaps == 0 && start.digits != stop.digits {
                    return Err(fail("its only element cannot be both its start and its stop".to_string()));
                }
                let last = gaps.max(1);
                self.elements(text, length, false, |i| (start.digits * (last - i) + stop.digits * i, last, places))
            }
            _ => Err(fail("a range has a start, and of stop, length and step one or two: `range(1, 10)`, `range(0, 1, length=11)`".to_string())),
        }
    }

    /// The numbers from `start` up to `stop` at most, in equal steps.
    fn steps(&self, text: &str, start: Decimal, step: Decimal, stop: Decimal) -> Result<Argument, ArgumentError> {
        let (places, [start, step, stop]) = aligned(text, [start, step, stop])?;
        if step.digits == 0 {
            return Err(ArgumentError::new(text, "its step is 0"));
        }
        let far = (stop.digits - start.digits) * step.digits.signum();
        let count = if far < 0 { 0 } else { u64::try_from(far / step.digits.abs() + 1).unwrap_or(u64::MAX) };
        let whole = start.whole && step.whole;
        self.elements(text, count, whole, |i| (start.digits + i * step.digits, 1, places))
    }

    /// Makes an array from a function that gives, for each index, the numerator, the denominator, and the number of the
    /// numerator's decimal places.
    fn elements(
        &self,
        text: &str,
        count: u64,
        whole: bool,
        element: impl Fn(i128) -> (i128, i128, u32),
    ) -> Result<Argument, ArgumentError> {
        self.makes(text, count)?;
        let numbers: Vec<Number> = (0..i128::from(count))
            .map(|i| {
                let (numerator, denominator, places) = element(i);
                match i64::try_from(numerator) {
                    Ok(k) if whole && places == 0 => Number::Int(k),
                    _ => Number::Text(quotient(numerator, denominator, places)),
                }
            })
            .collect();
        Ok(Argument::Array(vec![numbers.len()], numbers))
    }
}

/// A decimal number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decimal {
    /// Its digits as an integer, with the sign.
    digits: i128,
    /// The number of digits after the decimal point.
    places: u32,
    /// True if it is written as an integer.
    whole: bool,
}

const ONE: Decimal = Decimal { digits: 1, places: 0, whole: true };

/// Parses a decimal number if it has few digits.
fn decimal(text: &str) -> Option<Decimal> {
    let (negative, plain) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match plain.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (plain, 0),
    };
    let (before, behind) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = before.chars().chain(behind.chars()).filter(|c| *c != '_').collect();
    if digits.is_empty() || digits.len() > DIGITS || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let places = i32::try_from(behind.len()).ok()?.checked_sub(exponent)?;
    if places.unsigned_abs() as usize > DIGITS {
        return None;
    }
    let digits = digits.parse::<i128>().ok()? * if negative { -1 } else { 1 };
    let (digits, places) = match u32::try_from(places) {
        Ok(places) => (digits, places),
        Err(_) => (digits * 10_i128.pow(places.unsigned_abs()), 0),
    };
    Some(Decimal { digits, places, whole: !plain.contains(['.', 'e', 'E']) })
}

/// Parses one of the numbers that define a range.
fn bound(text: &str, part: &str) -> Result<Decimal, ArgumentError> {
    let part = part.trim();
    decimal(part).ok_or_else(|| {
        let why = format!("`{part}` is not a number of at most {DIGITS} digits, which ranges need");
        ArgumentError::new(text, why)
    })
}

/// The numbers with the same number of decimal places, and that number.
fn aligned(text: &str, all: [Decimal; 3]) -> Result<(u32, [Decimal; 3]), ArgumentError> {
    let places = all.iter().map(|d| d.places).max().unwrap_or(0);
    let out = all.map(|d| Decimal { digits: d.digits.saturating_mul(10_i128.pow(places - d.places)), places, ..d });
    // Products with the number of elements must not overflow.
    if out.iter().any(|d| d.digits.unsigned_abs() >= 10_u128.pow(2 * DIGITS as u32 - 8)) {
        return Err(ArgumentError::new(text, "its numbers are too far apart in size"));
    }
    Ok((places, out))
}

/// A quotient as text; the last `places` digits of its numerator are decimal places. It is exact if it is a finite
/// decimal number; otherwise, it has more digits than any number type distinguishes.
fn quotient(numerator: i128, denominator: i128, places: u32) -> String {
    let (size, denominator) = (numerator.unsigned_abs(), denominator.unsigned_abs().max(1));
    let places = places as usize;
    let digits = format!("{:0>width$}", size / denominator, width = places + 1);
    let (before, behind) = digits.split_at(digits.len() - places);
    let mut out = format!("{}{before}.{behind}", if numerator < 0 { "-" } else { "" });
    let mut rest = size % denominator;
    let mut significant = digits.trim_start_matches('0').len();
    while rest != 0 && significant < SIGNIFICANT {
        rest *= 10;
        let digit = (rest / denominator) as u8;
        rest %= denominator;
        significant += usize::from(significant > 0 || digit != 0);
        out.push(char::from(b'0' + digit));
    }
    if out.ends_with('.') {
        out.push('0');
    }
    out
}
