//! Results as JSON.

use serde_json::{Value, json};

use crate::Surroundings;
use crate::measure::{EngineTimes, Measured};
use crate::objective::{Contraction, Kind};
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

/// The time of a gradient or a Hessian, which has ratios to the one that was written by hand, too.
fn derivatives(case: &Measured, kind: Kind, seconds: f64) -> Value {
    let mut out = time(case, seconds);
    let over = |hand: Option<f64>| hand.map_or(Value::Null, |hand| number(seconds / hand));
    let compiled = |way| case.fastest(kind, way).map(|f| f.seconds);
    out["over_hand_written"] = over(case.by_hand(kind));
    out["over_hand_written_with_contraction"] = over(compiled(Contraction::Allowed));
    out["over_hand_written_without_contraction"] = over(compiled(Contraction::Off));
    out
}

fn ran(case: &Measured, ran: &EngineTimes) -> Value {
    let optional = |t: Option<f64>| t.map_or(Value::Null, |t| time(case, t));
    json!({
        "engine": ran.engine,
        "forward": time(case, ran.forward),
        "backward": time(case, ran.backward),
        "gradient": ran.gradient.map_or(Value::Null, |t| derivatives(case, Kind::Gradient, t)),
        "jacobian": optional(ran.jacobian),
        "hessian": ran.hessian.map_or(Value::Null, |t| derivatives(case, Kind::Hessian, t)),
        "instructions": ran.instructions.map(|i| json!({ "forward": i.forward, "gradient": i.gradient })),
        "peak_memory": ran.memory.map(|m| json!({
            "forward_bytes": m.forward, "gradient_bytes": m.gradient, "ratio": number(m.ratio()),
        })),
        "checks": ran.checks.iter().map(check).collect::<Vec<_>>(),
    })
}

fn case(m: &Measured) -> Value {
    let functions = |kind: Kind| -> Vec<Value> {
        let timed = m.functions.iter().filter(|f| f.kind == kind);
        let shown = timed.map(|f| {
            let (function, options, compiler) = (f.function, f.contraction.options(), &f.compiler);
            json!({ "function": function, "options": options, "compiler": compiler, "seconds": number(f.seconds) })
        });
        shown.collect()
    };
    json!({
        "name": m.name,
        "workload": m.workload,
        "size": m.size,
        "objectives": functions(Kind::Objective),
        "hand_written_gradients": functions(Kind::Gradient),
        "hand_written_hessians": functions(Kind::Hessian),
        "engines": m.engines.iter().map(|r| ran(m, r)).collect::<Vec<_>>(),
        "checks": m.checks.iter().map(check).collect::<Vec<_>>(),
        "right": m.all_checks().all(Check::is_met),
    })
}

pub(crate) fn surroundings(s: &Surroundings) -> Value {
    json!({ "processor": s.processor, "compiler": s.compiler, "rounds": s.rounds, "options": s.options })
}

/// All results as JSON.
pub fn results(s: &Surroundings, cases: &[Measured]) -> Value {
    json!({
        "surroundings": surroundings(s),
        "cases": cases.iter().map(case).collect::<Vec<_>>(),
        "right": cases.iter().flat_map(Measured::all_checks).all(Check::is_met),
    })
}
