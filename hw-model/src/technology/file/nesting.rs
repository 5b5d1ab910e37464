//! Limits the nesting of a TOML text before the TOML reader, which is recursive, sees it.

use pendula_isa::budget::Budget;

use super::{TechnologyError, budget_error};

/// Checks the nesting of tables and lists, as shown by brackets and by points in the names of keys. Strings and
/// comments are skipped.
pub(super) fn nested(text: &str, budget: &Budget) -> Result<(), TechnologyError> {
    let what = || "this table or list".to_string();
    let (mut open, mut points) = (0u32, 0u32);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let at = text.len() - rest.len();
        let len = match c {
            '"' | '\'' => string_len(rest, c),
            '#' => rest.find('\n').unwrap_or(rest.len()),
            _ => c.len_utf8(),
        };
        match c {
            '[' | '{' => (open, points) = (open + 1, 0),
            ']' | '}' => (open, points) = (open.saturating_sub(1), 0),
            '.' => points += 1,
            '=' | ',' | '\n' => points = 0,
            _ => {}
        }
        budget.nested(open.saturating_add(points), what).map_err(|e| budget_error(e, at..at + c.len_utf8()))?;
        rest = rest.get(len..).unwrap_or("");
    }
    Ok(())
}

/// The length of the string that begins here with this quote. A string that does not end has the length of its line.
fn string_len(rest: &str, quote: char) -> usize {
    let three = match quote {
        '"' => "\"\"\"",
        _ => "\'\'\'",
    };
    if let Some(inner) = rest.strip_prefix(three) {
        return inner.find(three).map_or(rest.len(), |n| n + 6);
    }
    let mut escaped = false;
    for (n, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return n,
            '\\' if quote == '"' && !escaped => escaped = true,
            c if c == quote && !escaped => return n + 1,
            _ => escaped = false,
        }
    }
    rest.len()
}
