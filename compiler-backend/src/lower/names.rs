//! Unique names that the assembler accepts.

use std::collections::{HashMap, HashSet};

use pendula_isa::Reg;

/// The length of the longest name that is used unchanged; objects take 1024 bytes.
const LONGEST: usize = 1000;

/// Whether the assembler accepts a text as a name.
pub(super) fn is_valid(text: &str) -> bool {
    let digits = text.strip_prefix('.').unwrap_or(text).starts_with(|c: char| c.is_ascii_digit() || c == '!');
    let inside = !text.is_empty() && text.chars().all(is_inside);
    inside && !digits && !text.starts_with('!') && text.len() <= LONGEST && Reg::parse(text).is_none()
}

fn is_inside(c: char) -> bool {
    matches!(c, '_' | '.' | '$' | '!') || pendula_isa::text::in_names(c)
}

/// The text, or a valid name that is like it.
pub(super) fn valid(text: &str) -> String {
    if is_valid(text) {
        return text.to_string();
    }
    let inside = text.chars().take(LONGEST / 8).map(|c| if is_inside(c) { c } else { '_' });
    let name: String = inside.collect();
    if is_valid(&name) { name } else { format!("_{name}") }
}

/// Names in use.
#[derive(Debug, Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// Reserves exactly this name, if it is valid and free.
    pub(super) fn exact(&mut self, name: &str) -> bool {
        is_valid(name) && self.0.insert(name.to_string())
    }

    /// Reserves a free name that is like this one.
    pub(super) fn like(&mut self, name: &str) -> String {
        let name = valid(name);
        let mut candidate = name.clone();
        let mut n = 1u64;
        while !self.0.insert(candidate.clone()) {
            n += 1;
            candidate = format!("{name}.{n}");
        }
        candidate
    }
}

/// Names for spans: one for each time that a computation is lowered.
#[derive(Debug, Default)]
pub(super) struct SpanNames {
    count: HashMap<String, u32>,
    open: HashMap<String, Vec<String>>,
}

impl SpanNames {
    /// A new name.
    pub(super) fn fresh(&mut self, name: &str) -> String {
        let name = valid(name);
        let count = self.count.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { name } else { format!("{name}.{count}") }
    }

    /// The name of a span that computes, or (if `undo`) that of the latest one that has not been undone.
    pub(super) fn part(&mut self, name: &str, undo: bool) -> String {
        if undo && let Some(open) = self.open.get_mut(name).and_then(Vec::pop) {
            return open;
        }
        let fresh = self.fresh(name);
        if !undo {
            self.open.entry(name.to_string()).or_default().push(fresh.clone());
        }
        fresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_valid_and_unique() {
        assert!(is_valid("dot.2") && is_valid("x!") && !is_valid("r1") && !is_valid("2x") && !is_valid("a b"));
        assert_eq!([valid("a b"), valid("r1"), valid("")], ["a_b", "_r1", "_"]);
        let mut names = Names::default();
        assert_eq!([names.like("f"), names.like("f"), names.like("f")], ["f", "f.2", "f.3"]);
        assert!(!names.exact("f") && names.exact("g"));
        let mut spans = SpanNames::default();
        assert_eq!([spans.part("p", false), spans.part("p", false)], ["p", "p.2"]);
        // The latest that has not been undone.
        assert_eq!([spans.part("p", true), spans.part("p", true), spans.part("p", true)], ["p.2", "p", "p.3"]);
    }
}
