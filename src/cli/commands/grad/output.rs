//! The results of `pendula grad`, as text and JSON.

use std::fmt::Write as _;

use pendula::grad::{Check, Gradient, Report, SparseHessian};
use pendula::isa::num::convert::f_to_q;
use pendula::isa::num::{Env, Format};
use pendula::isa::text::number;
use pendula::isa::types::Ty;
use pendula::layout::Layouts;
use pendula::values::{Location, Place};
use serde_json::{Map, Value, json};

use crate::cli::report::answer::{array, finished};
use crate::cli::report::columns::{blanks, left, length, right};
use crate::cli::report::drift::Drift;

/// A derivative as text; for one that does not exist, the reason.
fn derivative_text(d: Option<(u64, Ty)>, format: Format) -> String {
    d.map_or_else(|| "undefined (the number is a logarithmic zero)".to_string(), |(w, ty)| number(w, ty, format))
}

pub(crate) fn gradient_text(g: &Gradient, format: Format, hex: bool, limit: usize) -> String {
    let one = |out: &mut String, n: usize| match hex {
        true => drop(write!(out, "{:#018x}", g.words[n])),
        false => out.push_str(&derivative_text(g.derivatives[n], format)),
    };
    let mut out = String::new();
    push_numbers(&mut out, &g.input, g.words.len(), limit, one);
    out
}

/// Adds the numbers of an input's words, each as `one` adds it: of an array at most so many.
pub(crate) fn push_numbers(
    out: &mut String,
    input: &Place,
    words: usize,
    limit: usize,
    one: impl Fn(&mut String, usize),
) {
    if !matches!(input.at, Location::Memory { array: true, .. }) {
        return one(out, 0);
    }
    out.push('[');
    for n in 0..words.min(limit) {
        out.push_str(if n > 0 { ", " } else { "" });
        one(out, n);
    }
    if words > limit {
        let _ = write!(out, "{}… {words} words in all", if limit > 0 { ", " } else { "" });
    }
    out.push(']');
}

/// The gradients as text. `shown` selects the results to print: the loss is number 0, followed by the derivatives and
/// the Hessian.
pub(crate) fn text(found: &Report, format: Format, hex: bool, limit: usize, shown: &dyn Fn(usize) -> bool) -> String {
    let mut lines: Vec<(String, String)> = Vec::new();
    for loss in &found.losses {
        let value = if hex { format!("{:#018x}", loss.value) } else { number(loss.value, loss.variable.ty, format) };
        lines.extend(shown(0).then(|| (loss.name.clone(), value)));
        let top = if found.losses.len() > 1 { loss.name.as_str() } else { "" };
        for (_, g) in (1..).zip(&loss.gradients).filter(|(n, _)| shown(*n)) {
            lines.push((format!("∂{top}/∂{}", g.input.name), gradient_text(g, format, hex, limit)));
        }
    }
    let width = lines.iter().map(|(n, _)| length(n)).max().unwrap_or(0);
    let mut out = String::new();
    for (name, value) in lines {
        let _ = writeln!(out, "{} = {value}", left(&name, width));
    }
    let inputs = found.losses.first().map_or(0, |loss| loss.gradients.len());
    if let Some(hessian) = found.hessian.as_ref().filter(|_| shown(1 + inputs)) {
        out.push_str(&hessian_text(hessian, &found.input_words(), &formats(found, format)));
    }
    if let Some(entries) = found.sweep.as_ref().filter(|_| shown(1 + inputs)) {
        out.push_str(&sweep_text(entries, &found.input_words(), &formats(found, format)));
    }
    if let Some(checks) = &found.checks {
        out.push_str(&checks_text(checks, found));
    }
    if found.wrong.is_some() {
        let _ =
            writeln!(out, "FAILED: {} overflowed and wrapped, so that what is printed is wrong", found.what_is_wrong());
    }
    out
}

/// For each input word, the fixed-point format of its second derivatives; `None` if they are doubles.
fn formats(found: &Report, format: Format) -> Vec<Option<Format>> {
    let Some(loss) = found.losses.first() else { return Vec::new() };
    let of = |g: &Gradient| (loss.variable.ty == Ty::Q && g.input.ty == Ty::Q).then_some(format);
    loss.gradients.iter().flat_map(|g| std::iter::repeat_n(of(g), g.words.len())).collect()
}

/// A second derivative as text: for fixed-point numbers with the digits that distinguish it from its neighbours, else
/// as a double.
fn second_text(x: f64, format: Option<Format>) -> String {
    let fixed = format.and_then(|format| f_to_q(Env { format, ieee: false }, x.to_bits()).ok().map(|w| (w, format)));
    match fixed {
        Some((word, format)) if word != 0 || x == 0.0 => number(word, Ty::Q, format),
        _ => double_text(x),
    }
}

/// A readable double: with an exponent if it is large or small.
pub(super) fn double_text(x: f64) -> String {
    if x == 0.0 || !x.is_finite() || (1e-6..1e6).contains(&x.abs()) { format!("{x}") } else { format!("{x:e}") }
}

fn hessian_text(hessian: &[Vec<Option<f64>>], names: &[String], formats: &[Option<Format>]) -> String {
    let one =
        |x: &Option<f64>, format: Option<Format>| x.map_or_else(|| "undefined".to_string(), |x| second_text(x, format));
    if let ([row], [name]) = (hessian, names) {
        return format!(
            "∂²/∂{name}² = {}\n",
            row.first().map(|x| one(x, formats.first().copied().flatten())).unwrap_or_default()
        );
    }
    // A second derivative is fixed point only if both inputs are.
    let show = |row: usize, column: usize, x: &Option<f64>| one(x, formats[row].and(formats[column]));
    let mut out = String::from("∂²/∂…∂…\n");
    let cells: Vec<Vec<String>> = hessian
        .iter()
        .enumerate()
        .map(|(i, row)| row.iter().enumerate().map(|(j, x)| show(i, j, x)).collect())
        .collect();
    let lengths = cells.iter().flatten().chain(names).map(|c| length(c));
    let width = lengths.max().unwrap_or(0);
    let side = names.iter().map(|n| length(n)).max().unwrap_or(0);
    let line = |name: &str, cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|c| right(c, width)).collect();
        format!("  {}  {}\n", left(name, side), cells.join("  "))
    };
    out.push_str(&line("", names));
    for (name, row) in names.iter().zip(&cells) {
        out.push_str(&line(name, row));
    }
    out
}

/// Second derivatives that are not zero, one in a line; those of each pair of inputs once.
fn sweep_text(entries: &SparseHessian, names: &[String], formats: &[Option<Format>]) -> String {
    let line = |&(i, j, x): &(usize, usize, Option<f64>)| {
        let name =
            if i == j { format!("∂²/∂{}²", names[i]) } else { format!("∂²/∂{}∂{}", names[i], names[j]) };
        let format = formats[i].and(formats[j]);
        (name, x.map_or_else(|| "undefined".to_string(), |x| second_text(x, format)))
    };
    let lines: Vec<(String, String)> = entries.iter().map(line).collect();
    let width = lines.iter().map(|(name, _)| length(name)).max().unwrap_or(0);
    let count = u128::try_from(names.len()).unwrap_or_default();
    let pairs = count * (count + 1) / 2;
    let mut out = String::new();
    for (name, value) in lines {
        let _ = writeln!(out, "{} = {value}", left(&name, width));
    }
    if entries.len() as u128 != pairs {
        let _ = writeln!(out, "{} of {pairs} second derivatives are not zero", entries.len());
    }
    out
}

fn checks_text(checks: &[Check], found: &Report) -> String {
    let mut out = String::from("\nby the run backward, by dual numbers, by finite differences:\n");
    let input = |c: &Check| if c.logarithmic { format!("ln|{}|", c.input) } else { c.input.clone() };
    let width = checks.iter().map(|c| length(&input(c))).max().unwrap_or(0);
    let many = found.losses.len() > 1;
    for c in checks {
        let input = input(c);
        let pad = blanks(width - length(&input));
        let top = if many { c.loss.as_str() } else { "" };
        let no = || "not sound here".to_string();
        let tangent = c.tangent.map_or_else(no, |t| format!("{t:.9e}"));
        let difference = c.finite_difference.map_or_else(no, |d| format!("{d:.8e}"));
        let verdict = if c.agrees { "" } else { "   DISAGREE" };
        let _ = writeln!(out, "  ∂{top}/∂{input}{pad}  {:>16.9e}  {tangent:>16}  {difference:>16}{verdict}", c.adjoint);
    }
    let words: usize = found.losses.iter().flat_map(|l| &l.gradients).map(|g| g.input.count() as usize).sum();
    if words > checks.len() {
        let _ = writeln!(out, "  {} of {words} derivatives compared", checks.len());
    }
    if let Some(d) = found.hessian_difference {
        let verdict = if found.hessian_agrees { "" } else { "   DISAGREE" };
        let ways = if found.sweep.is_some() {
            "by one sweep and by dual numbers"
        } else {
            "by dual numbers and by reversing twice"
        };
        let _ = writeln!(out, "second derivatives {ways} differ by at most {d:e}{verdict}");
    }
    out
}

/// A report on whether the state was restored.
pub(crate) fn state_text(found: &Report, drift: Option<&Drift>, asked: bool, broken: bool, floats: bool) -> String {
    let mut out = String::new();
    if let Some((words, back)) = found.kept {
        let what = match (back, floats) {
            (true, _) => "every word came back",
            (false, true) => "every word came back but for the rounding of floating-point numbers",
            (false, false) => "NOT everything came back",
        };
        let _ = writeln!(out, "dropped gradient words kept: {words}; run forward again with gradients: {what}");
    }
    out.push_str(&state_line(drift, asked, broken));
    out
}

/// What the run there and back changed, if that was asked for or is an error.
pub(super) fn state_line(drift: Option<&Drift>, asked: bool, broken: bool) -> String {
    let mut out = String::new();
    match drift {
        None if asked => out.push_str("drift: none, every bit is as it was\n"),
        Some(drift) if asked || broken => out.push_str(&drift.text),
        _ => {}
    }
    if broken {
        out.push_str("the start was NOT restored by the run backward\n");
    }
    out
}

/// A number as JSON: doubles as numbers, the others as decimal strings, which are exact.
pub(super) fn value_json(word: u64, ty: Ty, format: Format) -> Value {
    match ty {
        Ty::F => double_json(f64::from_bits(word)),
        Ty::Q | Ty::L | Ty::Int => json!(number(word, ty, format)),
    }
}

/// A double as JSON, which has no numbers for those that are not finite.
pub(super) fn double_json(x: f64) -> Value {
    match x {
        x if x.is_nan() => json!("nan"),
        f64::INFINITY => json!("inf"),
        f64::NEG_INFINITY => json!("-inf"),
        x => json!(x),
    }
}

/// A double as JSON, or `null` if there is none.
fn some_json(x: Option<f64>) -> Value {
    x.map_or(Value::Null, double_json)
}

/// The outcome as JSON.
pub(crate) fn ended_json(found: &Report) -> Value {
    if found.wrong.is_none() {
        return finished();
    }
    let message = format!("{} overflowed and wrapped: the derivatives are wrong", found.what_is_wrong());
    json!({ "kind": "overflow", "code": "P0131", "message": message })
}

pub(crate) fn to_object(found: &Report, format: Format, layouts: &Layouts, hex: bool) -> Map<String, Value> {
    let value = |word: u64, ty: Ty| if hex { json!(format!("{word:#018x}")) } else { value_json(word, ty, format) };
    let losses: Vec<Value> = found
        .losses
        .iter()
        .map(|loss| {
            let gradient: Map<String, Value> = loss
                .gradients
                .iter()
                .map(|g| {
                    let one = |n: usize| match g.derivatives[n] {
                        _ if hex => json!(format!("{:#018x}", g.words[n])),
                        Some((w, ty)) => value_json(w, ty, format),
                        None => Value::Null,
                    };
                    let all = match (layouts.get(&g.input), g.input.at) {
                        (Some(layout), _) => array(layout, &(0..g.words.len()).map(one).collect::<Vec<_>>()),
                        (None, Location::Memory { array: true, .. }) => (0..g.words.len()).map(one).collect(),
                        (None, Location::Memory { .. } | Location::Register(_) | Location::Cell(_)) => one(0),
                    };
                    (g.input.name.clone(), all)
                })
                .collect();
            json!({ "name": loss.name, "value": value(loss.value, loss.variable.ty), "gradient": gradient })
        })
        .collect();
    let mut object = Map::new();
    object.insert("losses".into(), Value::Array(losses));
    object.insert("restored".into(), json!(found.restored));
    if let Some(hessian) = &found.hessian {
        let rows: Vec<Value> = hessian.iter().map(|row| row.iter().map(|x| some_json(*x)).collect()).collect();
        object.insert("hessian".into(), json!({ "words": found.input_words(), "rows": rows }));
    }
    if let Some(entries) = &found.sweep {
        let entries: Vec<Value> =
            entries.iter().map(|(i, j, x)| json!({ "row": i, "column": j, "value": some_json(*x) })).collect();
        object.insert("hessian".into(), json!({ "words": found.input_words(), "entries": entries }));
    }
    if let Some(checks) = &found.checks {
        let checks: Vec<Value> = checks
            .iter()
            .map(|c| {
                json!({
                    "loss": c.loss, "input": c.input, "logarithmic": c.logarithmic, "adjoint": double_json(c.adjoint),
                    "tangent": some_json(c.tangent), "finite_difference": some_json(c.finite_difference), "agrees": c.agrees,
                })
            })
            .collect();
        object.insert("checks".into(), Value::Array(checks));
    }
    if let Some(d) = found.hessian_difference {
        object.insert("hessian_difference".into(), double_json(d));
    }
    if let Some((words, back)) = found.kept {
        object.insert("kept".into(), json!({ "words": words, "restored": back }));
    }
    object
}
