//! Counts as text and JSON.

use std::fmt::Write as _;
use std::time::Duration;

use pendula::hw_model::Technology;
use pendula::isa::Inst;
use pendula::isa::counts::Counts;
use pendula::vm::{Engine, EngineCounts, Machine};
use serde_json::{Map, Value, json};

use crate::cli::report::outcome::code_name;

pub(crate) fn stats_text(machine: &Machine<'_>, technology: &Technology, elapsed: Duration) -> String {
    let ran = (machine.engine(), machine.engine_counts());
    counts_text(&machine.counts(), &machine.program().module().code, technology, elapsed, ran)
}

/// The counts as text.
pub(crate) fn counts_text(
    counts: &Counts,
    code: &[Inst],
    technology: &Technology,
    elapsed: Duration,
    (engine, ran): (Engine, EngineCounts),
) -> String {
    let mut out = String::new();
    let total = counts.instructions();
    let _ = writeln!(out, "instructions  {:>16}", grouped(total));
    for mode in &counts.modes {
        let n = counts.instructions_in(mode);
        if counts.modes.len() > 1 {
            let name = match (mode.mode.level, mode.mode.tangents) {
                (0, false) => String::new(),
                (0, true) => " (tangents)".to_string(),
                (level, tangents) => format!(" (level {level}{})", if tangents { ", tangents" } else { "" }),
            };
            let _ = writeln!(out, "  {:<29} {:>16}", format!("{}{name}", mode.mode.direction.name()), grouped(n));
        }
    }
    let _ = writeln!(
        out,
        "cycles        {:>16}   (technology {}{})",
        grouped(technology.cycles(counts, code)),
        technology.latency_name(),
        if technology.latency_name() == technology.name() {
            String::new()
        } else {
            format!("; {} has no latencies", technology.name())
        }
    );
    let seconds = elapsed.as_secs_f64();
    let rate = total as f64 / seconds.max(1e-9) / 1e6;
    let _ = writeln!(out, "time          {seconds:>16.6} s, {rate:.0} million instructions a second");
    let by = [(ran.compiled, code_name(engine)), (ran.interpreted, "the interpreter")];
    let by = by.into_iter().filter(|(n, _)| *n > 0).map(|(n, name)| format!("{} by {name}", grouped(n)));
    let _ = writeln!(out, "engine        {:>16}   ({})", engine.name(), by.collect::<Vec<_>>().join(", "));
    let _ = writeln!(out, "bits lost     {:>16}", grouped(counts.lost_bits()));
    let mut classes: Vec<(&str, u64)> = Vec::new();
    for mode in &counts.modes {
        for (class, n) in counts.classes(mode, code) {
            match classes.iter_mut().find(|(k, _)| *k == class.key()) {
                Some((_, sum)) => *sum += n,
                None => classes.push((class.key(), n)),
            }
        }
    }
    let _ = writeln!(out, "gates used");
    for (class, n) in classes.iter().filter(|(_, n)| *n > 0) {
        let _ = writeln!(out, "  {class:<15} {:>12}", grouped(*n));
    }
    out
}

pub(crate) fn stats_json(machine: &Machine<'_>, technology: &Technology, elapsed: Duration) -> Value {
    let ran = (machine.engine(), machine.engine_counts());
    let mut stats = counts_json(&machine.counts(), &machine.program().module().code, technology, elapsed, ran);
    let flags = machine.flags();
    stats["overflow_at"] = json!(flags.overflow);
    stats["inexact_at"] = json!(flags.inexact);
    stats
}

/// The counts as JSON.
pub(crate) fn counts_json(
    counts: &Counts,
    code: &[Inst],
    technology: &Technology,
    elapsed: Duration,
    (engine, ran): (Engine, EngineCounts),
) -> Value {
    let modes: Vec<Value> = counts
        .modes
        .iter()
        .map(|m| {
            let classes: Map<String, Value> = counts
                .classes(m, code)
                .into_iter()
                .filter(|(_, n)| *n > 0)
                .map(|(c, n)| (c.key().to_string(), json!(n)))
                .collect();
            json!({
                "direction": m.mode.direction.name(),
                "level": m.mode.level,
                "tangents": m.mode.tangents,
                "instructions": counts.instructions_in(m),
                "cycles": technology.cycles_in(counts, m, code),
                "gates": classes,
            })
        })
        .collect();
    json!({
        "instructions": counts.instructions(),
        "cycles": technology.cycles(counts, code),
        "technology": technology.latency_name(),
        "seconds": elapsed.as_secs_f64(),
        "engine": { "name": engine.name(), "compiled": ran.compiled, "interpreted": ran.interpreted },
        "lost_bits": counts.lost_bits(),
        "modes": modes,
    })
}

/// A number with its digits in groups of three.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(c);
    }
    out
}
