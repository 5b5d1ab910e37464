//! Expressions over what a program has: `r1 + [x] * 2`, `a[3] > 5 && n == 0`.

use std::fmt;

/// The value of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// An integer.
    Int(i64),
    /// Any other number, to the nearest double.
    Real(f64),
}

impl Value {
    /// Whether it counts as true.
    pub fn is_true(self) -> bool {
        match self {
            Value::Int(n) => n != 0,
            Value::Real(x) => x != 0.0,
        }
    }

    fn real(self) -> f64 {
        match self {
            Value::Int(n) => n as f64,
            Value::Real(x) => x,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(n) => write!(f, "{n}"),
            Value::Real(x) => write!(f, "{x:?}"),
        }
    }
}

/// The greatest depth of an expression.
const DEEPEST: usize = 100;

/// The binary operators, those that bind least first.
const OPERATORS: [&[&str]; 8] = [
    &["||"],
    &["&&"],
    &["==", "!=", "<=", ">=", "<", ">"],
    &["|"],
    &["^"],
    &["&"],
    &["<<", ">>", "+", "-"],
    &["*", "/", "%"],
];

/// Computes an expression. `read` gives the values of names, which may have indices: `x`, `a[3]`, `z.re`, `[12]` for the word at an address.
///
/// # Errors
/// What is wrong with the expression, or with a name in it.
pub(super) fn evaluate(text: &str, read: &dyn Fn(&str) -> Result<Value, String>) -> Result<Value, String> {
    let mut reader = Reader { rest: text.trim(), read, depth: 0 };
    let value = reader.binary(0)?;
    match reader.rest.trim_start() {
        "" => Ok(value),
        rest => Err(format!("`{rest}` is too much here")),
    }
}

struct Reader<'t, 'r> {
    rest: &'t str,
    read: &'r dyn Fn(&str) -> Result<Value, String>,
    depth: usize,
}

impl Reader<'_, '_> {
    fn binary(&mut self, level: usize) -> Result<Value, String> {
        let Some(operators) = OPERATORS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        loop {
            self.rest = self.rest.trim_start();
            // `&&` is not `&`, nor `<<` `<`.
            let longer = |op: &str| {
                OPERATORS
                    .iter()
                    .flat_map(|ops| ops.iter())
                    .any(|o| o.len() > op.len() && o.starts_with(op) && self.rest.starts_with(o))
            };
            let Some(op) = operators.iter().find(|op| self.rest.starts_with(**op) && !longer(op)) else {
                return Ok(left);
            };
            self.rest = &self.rest[op.len()..];
            let right = self.binary(level + 1)?;
            left = apply(op, left, right)?;
        }
    }

    fn unary(&mut self) -> Result<Value, String> {
        self.rest = self.rest.trim_start();
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("the expression is nested more than {DEEPEST} deep"));
        }
        let value = if let Some(rest) =
            self.rest.strip_prefix('-').filter(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
        {
            self.rest = rest;
            match self.unary()? {
                Value::Int(n) => Value::Int(n.wrapping_neg()),
                Value::Real(x) => Value::Real(-x),
            }
        } else if let Some(rest) = self.rest.strip_prefix('!') {
            self.rest = rest;
            Value::Int(i64::from(!self.unary()?.is_true()))
        } else if let Some(rest) = self.rest.strip_prefix('~') {
            self.rest = rest;
            match self.unary()? {
                Value::Int(n) => Value::Int(!n),
                Value::Real(_) => return Err("`~` takes an integer".to_string()),
            }
        } else if let Some(rest) = self.rest.strip_prefix('(') {
            self.rest = rest;
            let value = self.binary(0)?;
            self.rest = self.rest.trim_start();
            self.rest = self.rest.strip_prefix(')').ok_or("a `)` is missing")?;
            value
        } else {
            self.operand()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn operand(&mut self) -> Result<Value, String> {
        let text = self.rest;
        let number = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
        if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            let sign = usize::from(text.starts_with('-'));
            let mut end = sign + text.get(sign..).and_then(|t| t.find(|c| !number(c))).unwrap_or(text.len() - sign);
            // `1e-8`
            let hex = text.get(sign..).is_some_and(|t| t.starts_with("0x"));
            let split = text.get(..end).is_some_and(|t| !hex && t.ends_with(['e', 'E']));
            if split && text.get(end..).is_some_and(|t| t.starts_with(['-', '+'])) {
                end += 1 + text.get(end + 1..).map_or(0, |t| t.find(|c: char| !c.is_ascii_digit()).unwrap_or(t.len()));
            }
            let (own, rest) = text.split_at(end);
            self.rest = rest;
            return literal(own).ok_or_else(|| format!("`{own}` is not a number"));
        }
        let end = name_end(text);
        if end == 0 {
            return Err(match text {
                "" => "an operand is missing at the end".to_string(),
                _ => format!("`{text}` begins with no number and no name"),
            });
        }
        let (own, rest) = text.split_at(end);
        self.rest = rest;
        match own {
            "true" => Ok(Value::Int(1)),
            "false" => Ok(Value::Int(0)),
            name => (self.read)(name),
        }
    }
}

/// The length of the name that a text begins with, with its indices.
fn name_end(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            // `!` is a part of names such as `y!`, but not of `y!=3`.
            '!' if at > 0 && !text[at + 1..].starts_with('=') => {}
            _ if c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '@' | '\'') => {}
            _ => return at,
        }
    }
    if depth == 0 { text.len() } else { 0 }
}

fn literal(text: &str) -> Option<Value> {
    let plain = text.replace('_', "");
    let (sign, digits) = plain.strip_prefix('-').map_or((1, plain.as_str()), |rest| (-1, rest));
    let int = match digits.get(..2) {
        Some("0x") => u64::from_str_radix(&digits[2..], 16).ok().map(u64::cast_signed),
        Some("0b") => u64::from_str_radix(&digits[2..], 2).ok().map(u64::cast_signed),
        _ => digits.parse::<u64>().ok().map(u64::cast_signed),
    };
    match int {
        Some(n) => Some(Value::Int(n.wrapping_mul(sign))),
        None => plain.parse().ok().map(Value::Real),
    }
}

fn apply(op: &str, left: Value, right: Value) -> Result<Value, String> {
    use Value::{Int, Real};
    let truth = |b: bool| Ok(Int(i64::from(b)));
    match op {
        "||" => return truth(left.is_true() || right.is_true()),
        "&&" => return truth(left.is_true() && right.is_true()),
        _ => {}
    }
    if let (Int(a), Int(b)) = (left, right) {
        return match op {
            "==" => truth(a == b),
            "!=" => truth(a != b),
            "<=" => truth(a <= b),
            ">=" => truth(a >= b),
            "<" => truth(a < b),
            ">" => truth(a > b),
            "+" => Ok(Int(a.wrapping_add(b))),
            "-" => Ok(Int(a.wrapping_sub(b))),
            "*" => Ok(Int(a.wrapping_mul(b))),
            "/" | "%" if b == 0 => Err("it divides by zero".to_string()),
            "/" => Ok(Int(a.wrapping_div(b))),
            "%" => Ok(Int(a.wrapping_rem(b))),
            "&" => Ok(Int(a & b)),
            "|" => Ok(Int(a | b)),
            "^" => Ok(Int(a ^ b)),
            "<<" | ">>" if !(0..64).contains(&b) => Err(format!("a shift by {b} is none")),
            "<<" => Ok(Int(a << b)),
            _ => Ok(Int(a >> b)),
        };
    }
    let (a, b) = (left.real(), right.real());
    match op {
        "==" => truth(a == b),
        "!=" => truth(a != b),
        "<=" => truth(a <= b),
        ">=" => truth(a >= b),
        "<" => truth(a < b),
        ">" => truth(a > b),
        "+" => Ok(Real(a + b)),
        "-" => Ok(Real(a - b)),
        "*" => Ok(Real(a * b)),
        "/" => Ok(Real(a / b)),
        "%" => Ok(Real(a % b)),
        other => Err(format!("`{other}` takes integers")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<Value, String> {
        evaluate(text, &|name| match name {
            "x" => Ok(Value::Int(7)),
            "y!" => Ok(Value::Real(0.5)),
            "a[3]" => Ok(Value::Int(30)),
            "[12]" => Ok(Value::Int(12)),
            other => Err(format!("no {other}")),
        })
    }

    #[test]
    fn operators_bind_as_usual() {
        let all = [
            ("1 + 2 * 3", Value::Int(7)),
            ("(1 + 2) * 3", Value::Int(9)),
            ("x - 1 - 1", Value::Int(5)),
            ("x == 7 && a[3] > 29", Value::Int(1)),
            ("x & 3 == 3", Value::Int(1)),
            ("-x", Value::Int(-7)),
            ("-3 + x", Value::Int(4)),
            ("y!*4", Value::Real(2.0)),
            ("y!!=0.5", Value::Int(0)),
            ("!x || !0", Value::Int(1)),
            ("[12] << 2", Value::Int(48)),
            ("1 <= 2", Value::Int(1)),
            ("0x10 % 7", Value::Int(2)),
            ("1e-3", Value::Real(1e-3)),
            ("7 / 2", Value::Int(3)),
        ];
        for (text, wanted) in all {
            assert_eq!(value(text), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, why) in [
            ("", "missing"),
            ("1 +", "missing"),
            ("(1", "`)`"),
            ("1 2", "too much"),
            ("1 / 0", "zero"),
            ("q", "no q"),
            ("a[3", "begins with"),
            ("~1.5", "integer"),
            ("1 << 64", "shift"),
        ] {
            assert!(value(text).is_err_and(|e| e.contains(why)), "{text}: {:?}", value(text));
        }
        assert!(value(&"(".repeat(100_000)).is_err());
    }
}
