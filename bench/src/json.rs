//! Results as JSON.

use serde_json::{Value, json};

use crate::Surroundings;
use crate::measure::{EngineTimes, Measured};
use crate::objective::Contraction;
use crate::reference::Check;

/// A number, or null if it is not finite.
fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

fn check(c: &Check) -> Value {
    json!({
        "what": c.what,
        "found": number(c.found),
        "wanted": number(c.wanted),
        "error": number(c.error),
        "tolerance": number(c.tolerance),
        "met": c.is_met(),
    })
}

/// A time, and its ratios to the times of the objective compiled in both ways.
fn time(case: &Measured, seconds: f64) -> Value {
    let over = |way| case.objective(way).map_or(Value::Null, |o| number(seconds / o.seconds));
    json!({
        "seconds": number(seconds),
        "over_objective": over(Contraction::Allowed),
        "over_objective_without_contraction": over(Contraction::Off),
    })
}

fn ran(case: &Measured, ran: &EngineTimes) -> Value {
    let optional = |t: Option<f64>| t.map_or(Value::Null, |t| time(case, t));
    json!({
        "engine": ran.engine,
        "forward": time(case, ran.forward),
        "backward": time(case, ran.backward),
        "gradient": optional(ran.gradient),
        "jacobian": optional(ran.jacobian),
        "hessian": optional(ran.hessian),
        "instructions": ran.instructions.map(|i| json!({ "forward": i.forward, "gradient": i.gradient })),
        "peak_memory": ran.memory.map(|m| json!({
            "forward_bytes": m.forward, "gradient_bytes": m.gradient, "ratio": number(m.ratio()),
        })),
        "checks": ran.checks.iter().map(check).collect::<Vec<_>>(),
    })
}

fn case(m: &Measured) -> Value {
    let objectives: Vec<Value> = m
        .objectives
        .iter()
        .map(|o| json!({ "function": o.function, "options": o.contraction.options(), "seconds": number(o.seconds) }))
        .collect();
    json!({
        "name": m.name,
        "workload": m.workload,
        "size": m.size,
        "objectives": objectives,
        "engines": m.engines.iter().map(|r| ran(m, r)).collect::<Vec<_>>(),
        "checks": m.checks.iter().map(check).collect::<Vec<_>>(),
        "right": m.all_checks().all(Check::is_met),
    })
}

pub(crate) fn surroundings(s: &Surroundings) -> Value {
    json!({ "processor": s.processor, "compiler": s.compiler, "rounds": s.rounds })
}

/// All results as JSON.
pub fn results(s: &Surroundings, cases: &[Measured]) -> Value {
    json!({
        "surroundings": surroundings(s),
        "cases": cases.iter().map(case).collect::<Vec<_>>(),
        "right": cases.iter().flat_map(Measured::all_checks).all(Check::is_met),
    })
}
