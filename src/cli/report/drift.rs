//! The words that a run forward and backward did not restore.

use std::fmt::Write as _;

use pendula::isa::module::{Module, SymbolKind};
use pendula::isa::text::number;
use pendula::isa::types::{Reg, Ty};
use pendula::language;
use pendula::vm::Snapshot;
use serde_json::{Value, json};

/// What a run forward and backward did not restore.
pub(crate) struct Drift {
    pub(crate) text: String,
    pub(crate) json: Value,
    /// True if all words that differ are floating-point numbers.
    pub(crate) only_rounding: bool,
}

/// Compares the registers and the memory before a run with those after it.
pub(crate) fn drift(module: &Module, before: &Snapshot, after: &Snapshot) -> Drift {
    let mut largest: Option<(f64, String)> = None;
    let mut float_words = 0u64;
    let mut others: Vec<String> = Vec::new();
    let mut other_words = 0u64;
    let mut note = |name: String, ty: Ty, old: u64, new: u64| {
        if old == new {
            return;
        }
        if ty == Ty::F {
            float_words += 1;
            let difference = (f64::from_bits(new) - f64::from_bits(old)).abs();
            if largest.as_ref().is_none_or(|(d, _)| difference.total_cmp(d).is_gt()) {
                largest = Some((difference, name));
            }
        } else {
            other_words += 1;
            if others.len() < 10 {
                let format = module.flags.format;
                others.push(format!("{name}: {} became {}", number(old, ty, format), number(new, ty, format)));
            }
        }
    };
    let language = language::of((module, None));
    for (n, (old, new)) in before.regs.iter().zip(&after.regs).enumerate() {
        note(language.register(Reg::new(n as u8).unwrap_or_default()), Ty::Int, *old, *new);
    }
    let mut types: Vec<(u64, u64, Ty, &str)> = module
        .symbols
        .iter()
        .filter_map(|s| match s.kind {
            SymbolKind::Data { ty, len, .. } => Some((s.value, len, ty, s.name.as_str())),
            SymbolKind::Label | SymbolKind::Proc => None,
        })
        .collect();
    types.sort_by_key(|t| t.0);
    let variables = module.variables_by_symbol();
    for (at, old, new) in before.mem.differences(&after.mem) {
        let at = at as u64;
        let owner = types.partition_point(|t| t.0 <= at).checked_sub(1).map(|n| types[n]).filter(|t| at < t.0 + t.1);
        match owner {
            Some((start, 1, ty, name)) if start == at => {
                note(variables.get(name).map_or_else(|| name.to_string(), |v| v.word(0)), ty, old, new);
            }
            Some((start, _, ty, name)) => {
                let own = variables.get(name).map(|v| v.word(at - start));
                note(own.unwrap_or_else(|| format!("{name}[{}]", at - start)), ty, old, new);
            }
            None => note(format!("memory word {at}"), Ty::Int, old, new),
        }
    }
    let mut text = String::new();
    let (difference, place) = largest.clone().unwrap_or((0.0, String::new()));
    if float_words > 0 {
        let words = if float_words == 1 { "word differs" } else { "words differ" };
        let _ = writeln!(text, "drift: {float_words} floating-point {words}, most in {place}: by {difference:e}");
    }
    if other_words > 0 {
        let words = if other_words == 1 { "word differs" } else { "words differ" };
        let _ = writeln!(text, "drift: {other_words} other {words}:");
        for line in &others {
            let _ = writeln!(text, "  {line}");
        }
    }
    if text.is_empty() {
        text.push_str("drift: none, every bit is as it was\n");
    }
    let json = json!({
        "float_words": float_words, "largest": difference, "place": place, "other_words": other_words, "others": others,
    });
    Drift { text, json, only_rounding: other_words == 0 && float_words > 0 }
}
