//! The arguments that a command line gives a function: numbers, `true` and `false`, lists `[1, 2]`, tuples `(1, 2)`, and ranges in lists,
//! `[1...5]` or `[1..3...9]`, with their ends.

use pendula_isa::budget::{Budget, Exceeded};

/// A value as text has it. A language turns it into one of its own.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// A number without a fraction or an exponent, and the name of its type, if one follows: `3`, `3i32`.
    Integer(i128, Option<String>),
    /// A number with a fraction or an exponent.
    Real(f64, Option<String>),
    /// True or false.
    Boolean(bool),
    /// A list or an array.
    List(Vec<Literal>),
    /// A tuple, which has not one part only.
    Tuple(Vec<Literal>),
}

/// Why arguments cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// Something else was expected at this byte.
    #[error("expected {expected} at {found}")]
    Expected {
        /// What was expected.
        expected: &'static str,
        /// What is there: the rest of the text, shortened, or its end.
        found: String,
    },
    /// The arguments exceed the budget.
    #[error(transparent)]
    Exceeded(Box<Exceeded>),
}

impl From<Exceeded> for ArgumentError {
    fn from(exceeded: Exceeded) -> ArgumentError {
        ArgumentError::Exceeded(Box::new(exceeded))
    }
}

/// The most values that arguments may have.
const VALUES: u64 = 1 << 24;

/// Reads values that commas separate.
///
/// # Errors
/// The text is not of this form, or exceeds the budget.
pub fn parse(text: &str, budget: &Budget) -> Result<Vec<Literal>, ArgumentError> {
    budget.large(text.len() as u64, what)?;
    let mut reader = Reader { text, at: 0, budget, depth: 0, values: 0 };
    let mut out = Vec::new();
    reader.blanks();
    if reader.rest().is_empty() {
        return Ok(out);
    }
    loop {
        out.push(reader.value()?);
        if !reader.takes(",") {
            break;
        }
    }
    if reader.rest().is_empty() { Ok(out) } else { Err(reader.expected("a comma or the end")) }
}

fn what() -> String {
    "the list of arguments".to_string()
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    budget: &'t Budget,
    depth: u32,
    values: u64,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Takes this text, and blanks after it, if it is next.
    fn takes(&mut self, token: &str) -> bool {
        let there = self.rest().starts_with(token);
        if there {
            self.at += token.len();
            self.blanks();
        }
        there
    }

    fn expected(&self, expected: &'static str) -> ArgumentError {
        let rest: String = self.rest().chars().take(20).collect();
        let found = if rest.is_empty() { "the end".to_string() } else { format!("`{rest}`") };
        ArgumentError::Expected { expected, found }
    }

    fn value(&mut self) -> Result<Literal, ArgumentError> {
        self.count(1)?;
        if self.takes("[") {
            return self.nested("]", "a comma or `]`").map(Literal::List);
        }
        if self.takes("(") {
            let mut parts = self.nested(")", "a comma or `)`")?;
            return Ok(if parts.len() == 1 { parts.swap_remove(0) } else { Literal::Tuple(parts) });
        }
        for (word, value) in [("true", true), ("false", false), ("#t", true), ("#f", false)] {
            if self.word() == word {
                self.at += word.len();
                self.blanks();
                return Ok(Literal::Boolean(value));
            }
        }
        self.number()
    }

    fn count(&mut self, more: u64) -> Result<(), ArgumentError> {
        self.values = self.values.saturating_add(more);
        Ok(pendula_isa::budget::Resource::Nodes.within(VALUES, self.values, what)?)
    }

    /// The values up to a closing bracket.
    fn nested(&mut self, close: &str, expected: &'static str) -> Result<Vec<Literal>, ArgumentError> {
        self.depth += 1;
        self.budget.nested(self.depth, what)?;
        let mut out = Vec::new();
        if !self.takes(close) {
            loop {
                let first = self.value()?;
                if self.rest().starts_with("..") {
                    self.range(first, &mut out)?;
                } else {
                    out.push(first);
                }
                if self.takes(close) {
                    break;
                }
                if !self.takes(",") {
                    return Err(self.expected(expected));
                }
            }
        }
        self.depth -= 1;
        Ok(out)
    }

    /// What follows the first number of a range.
    fn range(&mut self, first: Literal, out: &mut Vec<Literal>) -> Result<(), ArgumentError> {
        let Literal::Integer(first, ty) = first else {
            return Err(self.expected("a comma: ranges begin with integers"));
        };
        let mut step = 1;
        if !self.takes("...") {
            self.takes("..");
            step = self.integer()?.saturating_sub(first);
            if !self.takes("...") {
                return Err(self.expected("`...` and the end of the range"));
            }
        }
        let last = self.integer()?;
        if step == 0 {
            return Err(self.expected("a range whose second number differs from the first"));
        }
        let count = last.saturating_sub(first) / step + 1;
        if (last >= first) != (step > 0) && last != first {
            return Ok(());
        }
        self.count(u64::try_from(count).unwrap_or(u64::MAX))?;
        out.extend((0..count).map(|n| Literal::Integer(first + n * step, ty.clone())));
        Ok(())
    }

    fn integer(&mut self) -> Result<i128, ArgumentError> {
        let before = self.at;
        match self.number()? {
            Literal::Integer(number, _) => Ok(number),
            _ => {
                self.at = before;
                Err(self.expected("an integer"))
            }
        }
    }

    /// The letters, digits and signs that are next.
    fn word(&self) -> &'t str {
        let rest = self.rest();
        let end =
            rest.find(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '(' | ')')).unwrap_or(rest.len());
        let word = &rest[..end];
        &word[..word.find("..").unwrap_or(end)]
    }

    fn number(&mut self) -> Result<Literal, ArgumentError> {
        let word = self.word();
        let (number, ty) =
            match word.find(['i', 'u', 'f']).filter(|n| *n > 0 && word.as_bytes()[n - 1].is_ascii_digit()) {
                Some(n) => (&word[..n], Some(word[n..].to_string())),
                None => (word, None),
            };
        let plain = number.replace('_', "");
        let literal = if let Ok(number) = plain.parse::<i128>() {
            Literal::Integer(number, ty)
        } else if let (Ok(number), false) = (plain.parse::<f64>(), plain.is_empty()) {
            Literal::Real(number, ty)
        } else {
            return Err(self.expected("a number, `true`, `false`, a list `[…]` or a tuple `(…)`"));
        };
        self.at += word.len();
        self.blanks();
        Ok(literal)
    }
}
