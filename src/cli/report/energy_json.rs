//! Energy reports as JSON.

use std::collections::BTreeMap;

use pendula::hw_model::breakeven::undoings;
use pendula::hw_model::price::{Cause, Item, Joules, Part};
use pendula::hw_model::report::{self, PricedRun, Program};
use pendula::hw_model::uncertainty::{Range, Swing};
use pendula::hw_model::{Figure, Status, Technology};
use serde_json::{Map, Value, json};

use crate::cli::args::End;
use crate::cli::report::energy_run::{MeasuredRun, Sweep, Swept};
use crate::cli::report::energy_summary::{self, Compared};
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
    object.insert(
        "left_dirty".into(),
        json!({
            "registers": ran.left.registers, "memory": ran.left.memory,
            "bits_at_most": ran.left.words().saturating_mul(ran.width), "followed": ran.followed,
            "end": match ran.end { End::Erase => "erase", End::Return => "return", End::Keep => "keep" },
        }),
    );
    object.insert(
        "memory".into(),
        json!({ "touched_words": ran.touched, "all": ran.complete, "billed_words": ran.billed }),
    );
    object.insert("technologies".into(), json!(technologies));
    object
}

fn range(range: Range) -> Value {
    json!([range.low, range.high])
}

/// A comparison at equal throughput.
pub(crate) fn compared(all: &[Compared], to: &PricedRun<'_>) -> Value {
    let ratio = |(nominal, r): (f64, Range)| json!({ "nominal": nominal, "range": range(r) });
    let list: Vec<Value> = all
        .iter()
        .map(|c| {
            json!({
                "name": c.name, "seconds": c.outcome.seconds, "copies": c.copies, "at_the_plug": c.outcome.plug,
                "range_at_the_plug": range(c.range), "memory_at_the_plug": c.outcome.memory, "ratio": ratio(c.ratio),
                "ratio_without_memory": ratio(c.ratio_without_memory),
            })
        })
        .collect();
    json!({ "name": to.device.technology().name(), "technologies": list })
}

/// What decides each bill.
pub(crate) fn tornado(all: &[(&PricedRun<'_>, Vec<Swing>)]) -> Value {
    let one = |(p, swings): &(&PricedRun<'_>, Vec<Swing>)| {
        let list: Vec<Value> = swings
            .iter()
            .map(|s| {
                let mut object = figure(&s.figure);
                object.insert("at_low".into(), json!(s.low));
                object.insert("at_high".into(), json!(s.high));
                Value::Object(object)
            })
            .collect();
        json!({ "name": p.device.technology().name(), "at_the_plug": p.bill.total().total() * p.device.plug(), "figures": list })
    };
    all.iter().map(one).collect()
}

fn figure(f: &Figure) -> Map<String, Value> {
    let all = [
        ("key", json!(f.key)),
        ("low", json!(f.low)),
        ("nominal", json!(f.nominal)),
        ("high", json!(f.high)),
        ("status", json!(f.status.name())),
        ("source", json!(f.source)),
    ];
    all.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
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
    let status = |items: &[Item]| priced.status(items).map(Status::name);
    let parts: Map<String, Value> = Part::ALL
        .into_iter()
        .map(|part| (part, energy_summary::part(priced, part)))
        .filter(|(_, (energy, _))| *energy > 0.0)
        .map(|(part, (energy, known))| {
            (part.name().to_string(), json!({ "total": energy, "status": known.map(Status::name) }))
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
        "utilisation": device.utilisation(&priced.totals),
        "total": joules(bill.total()),
        "at_the_plug": bill.total().total() * device.plug(),
        "range": range(priced.range()),
        "range_at_the_plug": range(priced.range_at_the_plug()),
        "status": status(&bill.items),
        "parts": parts,
        "phases": map(bill.by(|i| i.phase.name().to_string())),
        "classes": map(bill.by(|i| i.subject.name().to_string())),
        "units": report::units(priced)
            .into_iter()
            .map(|u| json!({ "name": u.name, "times": u.times, "joules": u.joules.total() }))
            .collect::<Vec<_>>(),
        "figures": device.technology().figures().iter().map(|f| Value::Object(figure(f))).collect::<Vec<_>>(),
        "functions": map(bill.by(|i| i.at.map_or_else(host, |at| program.functions[at as usize].clone()))),
        "lines": map(bill.by(|i| i.at.map_or_else(host, |at| place(program, at)))),
        "routines": routines,
    })
}

/// Technologies, with their figures and sources.
pub(crate) fn technologies(all: Vec<Technology>) -> Map<String, Value> {
    let one = |technology: Technology| {
        let energy = technology.energy();
        let sources: Map<String, Value> = technology.sources().iter().map(|(t, s)| (t.clone(), json!(s))).collect();
        json!({
            "name": technology.name(),
            "title": technology.title(),
            "link": energy.map(|e| e.link),
            "discipline": energy.map(|e| e.logic.discipline()),
            "sources": sources,
            "figures": technology.figures().iter().map(|f| Value::Object(figure(f))).collect::<Vec<_>>(),
        })
    };
    let all: Vec<Value> = all.into_iter().map(one).collect();
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
    json!({ "steps": steps, "state_words": ran.state.words(), "technologies": technologies })
}
