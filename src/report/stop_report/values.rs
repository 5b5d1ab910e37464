//! Values of variables, as the source language writes them.

use pendula_compiler::ir::eval::{HeldValue, Value};
use pendula_compiler::ir::source::Number;
use pendula_isa::Ty;
use pendula_isa::num::Format;
use pendula_isa::text::number;

use super::ReportBuilder;
use crate::state::language::Terms;

/// The maximum number of elements shown of an array.
const ELEMENTS: usize = 8;

impl ReportBuilder<'_> {
    /// A number as text.
    pub(super) fn number(&self, how: Number, word: u64) -> String {
        number_text(how, word, self.format)
    }

    /// A variable's value as text.
    pub(super) fn text(&self, held: &HeldValue) -> String {
        held_text(held, self.terms, self.format)
    }

    pub(super) fn variables(&self, variables: &[Value]) -> Vec<(String, String)> {
        variables.iter().map(|v| (v.name.clone(), self.text(&v.held))).collect()
    }

    /// The values of the variables with these names: `num = 1, acc = 5`.
    pub(super) fn values(&self, names: &[String], variables: &[Value]) -> String {
        let mut seen: Vec<&str> = Vec::new();
        let mut out = Vec::new();
        for name in names {
            if let (false, Some(v)) = (seen.contains(&name.as_str()), variables.iter().find(|v| v.name == *name)) {
                seen.push(name);
                out.push(format!("{name} = {}", self.text(&v.held)));
            }
        }
        out.join(", ")
    }
}

/// Finds the variable of this name, or a part of one: `z.re`.
pub(super) fn named<'v>(variables: &'v [Value], name: &str) -> Option<&'v Value> {
    variables.iter().find_map(|v| match (name.strip_prefix(v.name.as_str())?.strip_prefix('.'), &v.held) {
        (None, _) => (v.name == name).then_some(v),
        (Some(part), HeldValue::Parts(parts)) => named(parts, part),
        (Some(_), _) => None,
    })
}

/// A number as text.
pub(crate) fn number_text(how: Number, word: u64, format: Format) -> String {
    match how {
        Number::Plain(ty) => number(word, ty, format),
        Number::Unsigned => word.to_string(),
        Number::Truth => if word == 0 { "false" } else { "true" }.to_string(),
    }
}

/// The indices of an element, with `first` as the lowest index: `[1][2]`, in Nil `[1, 2]`.
pub(crate) fn indices(at: u64, dims: &[u64], by_column: bool, first: i64) -> String {
    let mut rest = at;
    let mut out = vec![0; dims.len()];
    let order: Vec<usize> = if by_column { (0..dims.len()).collect() } else { (0..dims.len()).rev().collect() };
    for n in order {
        out[n] = rest % dims[n].max(1);
        rest /= dims[n].max(1);
    }
    let texts: Vec<String> = out.iter().map(|i| (i.cast_signed() + first).to_string()).collect();
    if first == 0 { texts.iter().map(|i| format!("[{i}]")).collect() } else { format!("[{}]", texts.join(", ")) }
}

/// An element as text.
fn element(numbers: &[Number], words: &[u64], format: Format) -> String {
    let texts: Vec<String> = numbers.iter().zip(words).map(|(n, w)| number_text(*n, *w, format)).collect();
    if let [text] = &texts[..] { text.clone() } else { format!("({})", texts.join(", ")) }
}

/// A variable's value as text.
pub(crate) fn held_text(held: &HeldValue, terms: &Terms, format: Format) -> String {
    let [open, close] = terms.brackets;
    match held {
        HeldValue::Number(how, word) => number_text(*how, *word, format),
        HeldValue::Array { element: own, dims, by_column, words } => {
            let count = dims.iter().fold(1u64, |n, d| n.saturating_mul(*d));
            let mut items: Vec<String> = words.chunks(own.len().max(1)).map(|w| element(own, w, format)).collect();
            if count as usize > items.len().min(ELEMENTS) {
                items.truncate(ELEMENTS);
                let sizes = dims.iter().map(u64::to_string).collect::<Vec<_>>().join(" × ");
                items.push(format!("… {sizes} elements"));
                return format!("{open}{}{close}", items.join(", "));
            }
            let plain = || format!("{open}{}{close}", items.join(", "));
            (terms.array)(&items, dims, *by_column).unwrap_or_else(plain)
        }
        HeldValue::Stack { count: 0, .. } => "nil".to_string(),
        HeldValue::Stack { count, words } => {
            let mut items: Vec<String> =
                words.iter().take(ELEMENTS).map(|w| number_text(Number::Plain(Ty::Int), *w, format)).collect();
            if *count as usize > items.len() {
                items.push(format!("… {count} numbers"));
            }
            format!("<{}]", items.join(", "))
        }
        HeldValue::Parts(parts) => {
            let parts: Vec<String> =
                parts.iter().map(|p| format!("{} = {}", p.name, held_text(&p.held, terms, format))).collect();
            format!("({})", parts.join(", "))
        }
    }
}
