//! Energy reports as JSON.

use std::collections::BTreeMap;

use pendula::hw_model::Technology;
use pendula::hw_model::breakeven::undoings;
use pendula::hw_model::price::{Cause, Joules};
use pendula::hw_model::report::{PricedRun, Program};
use serde_json::{Map, Value, json};

use crate::cli::report::energy_run::{MeasuredRun, Sweep, Swept};
use crate::cli::report::energy_text::{Steps, forward, lost_by_line, place, priced_schedules, roundings};

fn joules(j: Joules) -> Value {
    let mut out: Map<String, Value> =
        Cause::ALL.iter().filter(|c| j[**c] > 0.0).map(|c| (c.name().to_string(), json!(j[*c]))).collect();
    out.insert("total".into(), json!(j.total()));
    Value::Object(out)
}

/// The report; all energies in joules.
pub(crate) fn report(program: &Program<'_>, priced: &[PricedRun<'_>], ran: &MeasuredRun) -> Map<String, Value> {
    let phases: Vec<Value> = ran
        .activities
        .iter()
        .map(|a| {
            json!({
                "phase": a.phase.name(), "instructions": a.counts.instructions(), "words_in": a.words_in,
                "words_out": a.words_out, "bits_lost": a.counts.lost_bits(),
            })
        })
        .collect();
    let lost: Vec<Value> = lost_by_line(program, ran)
        .into_iter()
        .map(|l| json!({ "place": l.place, "instruction": l.instruction, "phase": l.phase, "bits": l.bits }))
        .collect();
    let technologies: Vec<Value> = priced.iter().map(|p| technology(program, p, ran)).collect();
    let mut object = Map::new();
    object.insert("file".into(), json!(program.name));
    object.insert("unit".into(), json!("joule"));
    object.insert("phases".into(), json!(phases));
    object.insert("lost".into(), json!(lost));
    object.insert("roundings".into(), json!(roundings(program, ran)));
    object.insert("technologies".into(), json!(technologies));
    object
}

fn technology(program: &Program<'_>, priced: &PricedRun<'_>, ran: &MeasuredRun) -> Value {
    let bill = &priced.bill;
    let device = &priced.device;
    let map = |rows: BTreeMap<String, Joules>| -> Map<String, Value> {
        rows.into_iter().filter(|(_, j)| j.total() > 0.0).map(|(k, j)| (k, joules(j))).collect()
    };
    let host = || "(host)".to_string();
    let routines: Vec<Value> = undoings(program.module, forward(ran), &ran.leaves)
        .iter()
        .map(|u| {
            let choice = u.choice(device);
            json!({
                "routine": u.name, "place": place(program, u.routine), "times": u.times, "words": u.words, "calls": u.calls,
                "unknown_calls": u.unknown, "uncompute_without_calls": choice.own,
                "uncompute": choice.uncompute, "erase": choice.erase,
                // A bound that does not exist is null.
                "uncompute_between_hertz": choice.between.map(|(low, high)| [Some(low), Some(high).filter(|h| h.is_finite())]),
            })
        })
        .collect();
    json!({
        "name": device.technology().name(),
        "title": device.technology().title(),
        "hertz": device.hertz(),
        "volt": device.volt(),
        "discipline": device.energy().logic.discipline(),
        "kelvin": device.kelvin(),
        "seconds": device.seconds(&priced.totals),
        "total": joules(bill.total()),
        "at_the_plug": bill.total().total() * device.plug(),
        "phases": map(bill.by(|i| i.phase.name().to_string())),
        "classes": map(bill.by(|i| i.subject.name().to_string())),
        "functions": map(bill.by(|i| i.at.map_or_else(host, |at| program.functions[at as usize].clone()))),
        "lines": map(bill.by(|i| i.at.map_or_else(host, |at| place(program, at)))),
        "routines": routines,
    })
}

/// The built-in technologies, with their sources.
pub(crate) fn technologies() -> Map<String, Value> {
    let one = |technology: Technology| {
        let energy = technology.energy();
        let sources: Map<String, Value> = technology.sources().iter().map(|(t, s)| (t.clone(), json!(s))).collect();
        json!({
            "name": technology.name(),
            "title": technology.title(),
            "link": energy.map(|e| e.link),
            "discipline": energy.map(|e| e.logic.discipline()),
            "sources": sources,
        })
    };
    let all: Vec<Value> = Technology::presets().filter_map(Technology::preset).map(one).collect();
    Map::from_iter([("technologies".to_string(), json!(all))])
}

/// A sweep as JSON.
pub(crate) fn sweep(sweep: &Sweep, swept: &Swept) -> Value {
    let technologies: Map<String, Value> = swept.iter().map(|(n, points)| (n.clone(), json!(points))).collect();
    json!({ "of": if sweep.voltage { "volt" } else { "hertz" }, "at": sweep.values, "joules": technologies })
}

/// The comparison of the schedules as JSON.
pub(crate) fn schedules(priced: &[PricedRun<'_>], ran: &MeasuredRun, steps: u64) -> Value {
    let technologies: Vec<Value> = priced
        .iter()
        .map(|p| {
            let Steps { step, erase, schedules } = priced_schedules(p, ran, steps);
            let list: Vec<Value> = schedules
                .into_iter()
                .map(|(name, cost, energy)| {
                    let numbers = [cost.steps, cost.states, cost.erased];
                    let [run, held, erased] = numbers.map(|n| u64::try_from(n).unwrap_or(u64::MAX));
                    json!({ "name": name, "steps": run, "states": held, "erased": erased, "energy": energy })
                })
                .collect();
            json!({ "name": p.device.technology().name(), "step": step, "erase": erase, "schedules": list })
        })
        .collect();
    json!({ "steps": steps, "state_words": ran.state_words, "technologies": technologies })
}
