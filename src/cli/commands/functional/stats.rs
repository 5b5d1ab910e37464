//! What an evaluation and the stages of the ladder took, as text and JSON.

use std::fmt::Write as _;

use pendula_functional::ad::ladder::{Gradient, LadderCounts, Stage};
use pendula_functional::core::{Binary, Unary};
use pendula_functional::eval::Counts;
use serde_json::{Map, Value, json};

use crate::cli::report::columns::right;
use crate::cli::report::stats::grouped;

/// A line with a number.
fn line(out: &mut String, name: &str, number: u64) {
    let _ = writeln!(out, "{name:<26} {:>16}", grouped(number));
}

/// The operators that were used, by name.
fn operators(counts: &Counts) -> Vec<(&'static str, u64)> {
    let unary = Unary::ALL.iter().map(|op| op.name()).zip(counts.unary);
    let binary = Binary::ALL.iter().map(|op| op.name()).zip(counts.binary);
    let mut all: Vec<_> = unary.chain(binary).filter(|(_, n)| *n > 0).collect();
    all.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    all
}

/// The counts of an evaluation.
pub(super) fn text(counts: &Counts) -> String {
    let mut out = String::new();
    line(&mut out, "steps", counts.steps);
    line(&mut out, "arithmetic", counts.arithmetic());
    for (name, n) in operators(counts) {
        line(&mut out, &format!("  {name}"), n);
    }
    line(&mut out, "calls", counts.all_calls());
    line(&mut out, "structures made", counts.nodes);
    out
}

/// The same as JSON.
pub(super) fn to_json(counts: &Counts) -> Value {
    let operators: Map<String, Value> =
        operators(counts).into_iter().map(|(name, n)| (name.to_string(), json!(n))).collect();
    json!({
        "steps": counts.steps,
        "arithmetic": counts.arithmetic(),
        "operators": operators,
        "calls": counts.all_calls(),
        "structures": counts.nodes,
    })
}

/// The counts of a derivative: those of the function, those of the way back, and those of a stage.
pub(super) fn gradient(passes: &[Counts; 2], stage: Option<(Stage, &LadderCounts)>) -> String {
    let mut out = String::new();
    let [forward, back] = passes;
    line(&mut out, "arithmetic", forward.arithmetic() + back.arithmetic());
    line(&mut out, "  of the function", forward.arithmetic());
    line(&mut out, "  on the way back", back.arithmetic());
    line(&mut out, "steps", forward.steps + back.steps);
    let Some((stage, counts)) = stage else { return out };
    if stage != Stage::D1 {
        line(&mut out, "IDs", counts.ids);
    }
    if stage != Stage::D5 {
        line(&mut out, "calls of backpropagators", counts.backpropagators);
    }
    if matches!(stage, Stage::D1 | Stage::D2) {
        line(&mut out, "numbers of gradients", counts.gradient_numbers);
    }
    if matches!(stage, Stage::D2 | Stage::D3) {
        line(&mut out, "operations on maps", counts.maps.operations);
        line(&mut out, "nodes of maps visited", counts.maps.visits);
    }
    if matches!(stage, Stage::D4 | Stage::D5) {
        line(&mut out, "writes to arrays", counts.array_writes);
    }
    if stage == Stage::D5 {
        line(&mut out, "nodes of the tape", counts.nodes);
        line(&mut out, "edges of the tape", counts.edges);
    }
    out
}

/// The counts of several stages, a row for each.
pub(super) fn table<'g>(gradients: impl Iterator<Item = (Stage, &'g Gradient)>) -> String {
    const HEADS: [[&str; 2]; 9] = [
        ["", "stage"],
        ["arith-", "metic"],
        ["", "IDs"],
        ["", "calls"],
        ["numbers of", "gradients"],
        ["operations", "on maps"],
        ["nodes", "visited"],
        ["array", "writes"],
        ["", "edges"],
    ];
    let mut rows: Vec<Vec<String>> =
        HEADS[0].iter().enumerate().map(|(n, _)| HEADS.iter().map(|head| head[n].to_string()).collect()).collect();
    for (stage, gradient) in gradients {
        let [forward, back] = &gradient.passes;
        let counts = &gradient.counts;
        let given = |there: bool, n: u64| if there { grouped(n) } else { String::new() };
        let (maps, arrays) = (matches!(stage, Stage::D2 | Stage::D3), matches!(stage, Stage::D4 | Stage::D5));
        rows.push(vec![
            stage.name().to_string(),
            grouped(forward.arithmetic() + back.arithmetic()),
            given(stage != Stage::D1, counts.ids),
            given(stage != Stage::D5, counts.backpropagators),
            given(matches!(stage, Stage::D1 | Stage::D2), counts.gradient_numbers),
            given(maps, counts.maps.operations),
            given(maps, counts.maps.visits),
            given(arrays, counts.array_writes),
            given(stage == Stage::D5, counts.edges),
        ]);
    }
    let widths: Vec<usize> =
        (0..HEADS.len()).map(|n| rows.iter().map(|row| row[n].chars().count()).max().unwrap_or(0)).collect();
    let mut out = String::new();
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| right(cell, *width)).collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
    }
    out
}

/// The same as JSON.
pub(super) fn gradient_json(passes: &[Counts; 2], stage: Option<(Stage, &LadderCounts)>) -> Value {
    let mut out = json!({ "forward": to_json(&passes[0]), "back": to_json(&passes[1]) });
    if let Some((_, counts)) = stage {
        out["ladder"] = json!({
            "backpropagators": counts.backpropagators,
            "gradient_numbers": counts.gradient_numbers,
            "map_operations": counts.maps.operations,
            "map_visits": counts.maps.visits,
            "array_writes": counts.array_writes,
            "ids": counts.ids,
            "nodes": counts.nodes,
            "edges": counts.edges,
        });
    }
    out
}
