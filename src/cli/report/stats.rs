//! Counts as text and JSON.

use std::fmt::Write as _;
use std::time::Duration;

use pendula::hw_model::Technology;
use pendula::hw_model::price::{Conditions, cycles_by_mode};
use pendula::isa::Module;
use pendula::isa::counts::Counts;
use pendula::vm::{Engine, EngineCounts, Machine};
use serde_json::{Map, Value, json};

pub(crate) fn stats_text(machine: &Machine<'_>, technology: &Technology, elapsed: Duration) -> String {
    let ran = (machine.engine(), machine.engine_counts());
    counts_text(&machine.counts(), machine.program().module(), technology, elapsed, ran)
}

/// The cycles of each mode, and where they come from.
fn cycles(counts: &Counts, module: &Module, technology: &Technology) -> (Vec<u64>, String) {
    let name = technology.name();
    let by_latency =
        |from: String| (counts.modes.iter().map(|m| technology.cycles_in(counts, m, &module.code)).collect(), from);
    if technology.latency_name() == name {
        return by_latency(name.to_string());
    }
    let conditions = Conditions {
        frac: module.flags.format.frac().min(module.flags.profile.width() / 2),
        width: module.flags.profile.width(),
        memory_words: 1,
        ..Conditions::default()
    };
    let discipline = technology.energy().map_or("", |energy| energy.logic.discipline());
    match cycles_by_mode(technology, conditions, module, counts) {
        Some(cycles) => (cycles, format!("{name}, {discipline}")),
        None => by_latency(format!("{}; {name} has no latencies", technology.latency_name())),
    }
}

/// The counts as text.
pub(crate) fn counts_text(
    counts: &Counts,
    module: &Module,
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
    let (cycles, from) = cycles(counts, module, technology);
    let cycles = cycles.into_iter().fold(0, u64::saturating_add);
    let _ = writeln!(out, "cycles        {:>16}   (technology {from})", grouped(cycles));
    let seconds = elapsed.as_secs_f64();
    let rate = total as f64 / seconds.max(1e-9) / 1e6;
    let _ = writeln!(out, "time          {seconds:>16.6} s, {rate:.0} million instructions a second");
    let by = [(ran.compiled, "jit"), (ran.interpreted, "the interpreter")];
    let by = by.into_iter().filter(|(n, _)| *n > 0).map(|(n, name)| format!("{} by {name}", grouped(n)));
    let _ = writeln!(out, "engine        {:>16}   ({})", engine.name(), by.collect::<Vec<_>>().join(", "));
    let _ = writeln!(out, "bits lost     {:>16}", grouped(counts.lost_bits()));
    let mut classes: Vec<(&str, u64)> = Vec::new();
    for mode in &counts.modes {
        for (class, n) in counts.classes(mode, &module.code) {
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
    let mut stats = counts_json(&machine.counts(), machine.program().module(), technology, elapsed, ran);
    let flags = machine.flags();
    stats["overflow_at"] = json!(flags.overflow);
    stats["inexact_at"] = json!(flags.inexact);
    stats
}

/// The counts as JSON.
pub(crate) fn counts_json(
    counts: &Counts,
    module: &Module,
    technology: &Technology,
    elapsed: Duration,
    (engine, ran): (Engine, EngineCounts),
) -> Value {
    let (cycles, from) = cycles(counts, module, technology);
    let modes: Vec<Value> = counts
        .modes
        .iter()
        .zip(&cycles)
        .map(|(m, cycles)| {
            let classes: Map<String, Value> = counts
                .classes(m, &module.code)
                .into_iter()
                .filter(|(_, n)| *n > 0)
                .map(|(c, n)| (c.key().to_string(), json!(n)))
                .collect();
            json!({
                "direction": m.mode.direction.name(),
                "level": m.mode.level,
                "tangents": m.mode.tangents,
                "instructions": counts.instructions_in(m),
                "cycles": cycles,
                "gates": classes,
            })
        })
        .collect();
    json!({
        "instructions": counts.instructions(),
        "cycles": cycles.into_iter().fold(0, u64::saturating_add),
        "technology": from,
        "seconds": elapsed.as_secs_f64(),
        "engine": { "name": engine.name(), "compiled": ran.compiled, "interpreted": ran.interpreted },
        "lost_bits": counts.lost_bits(),
        "modes": modes,
    })
}

/// A number with its digits in groups of three.
pub(crate) fn grouped(n: u64) -> String {
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
