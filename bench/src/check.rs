//! Checks a case: C's results against known ones and differences, and the engines' against C's.

use crate::cases::{Case, Seed};
use crate::inputs::Data;
use crate::measure::Instructions;
use crate::objective::{Array, Contraction, Kind, Objective};
use crate::reference::{self, Check};
use crate::runner::Runner;

fn numbers(arrays: &[Vec<u64>], which: impl IntoIterator<Item = usize>) -> Vec<f64> {
    which.into_iter().flat_map(|a| &arrays[a]).map(|w| f64::from_bits(*w)).collect()
}

/// The results of a function in C, and its gradient or Hessian; nothing more if it is an objective.
fn call(case: &Case, function: &Objective, arrays: &[Vec<u64>]) -> (Vec<f64>, Vec<f64>) {
    let count = case.arrays().len();
    let mut arrays: Vec<Array> = arrays.iter().map(|a| Array::new(a)).collect();
    function.run(&mut arrays, 1);
    let arrays: Vec<Vec<u64>> = arrays.iter().map(|a| a.words().to_vec()).collect();
    let of_results = case.workload.result_arrays;
    match function.kind {
        Kind::Objective => (numbers(&arrays, of_results.iter().copied()), Vec::new()),
        Kind::Gradient => {
            let from = count + 2 * of_results.len();
            (numbers(&arrays, count..count + of_results.len()), numbers(&arrays, from..arrays.len()))
        }
        Kind::Hessian => (numbers(&arrays, count..count + of_results.len()), numbers(&arrays, [arrays.len() - 1])),
    }
}

/// C's answers, compiled as written: results, gradient, and the derivative along one direction by differences.
pub(crate) struct Expected {
    results: Vec<f64>,
    /// Empty if there is none.
    gradient: Vec<f64>,
    /// Its rows; empty if there is none.
    hessian: Vec<f64>,
    direction: Vec<f64>,
    slope: f64,
}

impl Expected {
    fn slope_of(&self, gradient: &[f64]) -> Check {
        let parts = gradient.iter().zip(&self.direction).map(|(g, d)| g * d);
        let size: f64 = parts.clone().map(f64::abs).sum();
        Check::new("", parts.sum(), self.slope, 1e-6 * size)
    }
}

/// Evaluates an objective and its derivative along a direction, which moves each input by a fraction of its value, a
/// different one for each.
fn evaluate(case: &Case, objective: &Objective) -> Expected {
    let start = case.arrays();
    let inputs = numbers(&start, case.workload.input_arrays.iter().copied());
    let direction: Vec<f64> = inputs.iter().enumerate().map(|(i, x)| (i as f64 + 1.0).sin() * x).collect();
    let moved = |by: f64| {
        let mut arrays = start.clone();
        let words = case.workload.input_arrays.iter().flat_map(|a| (0..start[*a].len()).map(move |i| (*a, i)));
        for ((a, i), (x, d)) in words.zip(inputs.iter().zip(&direction)) {
            arrays[a][i] = (x + by * d).to_bits();
        }
        let (out, _) = call(case, objective, &arrays);
        let weights = case.seed.weights(out.len());
        out.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>()
    };
    let h = case.step;
    let slope = (8.0 * (moved(h) - moved(-h)) - (moved(2.0 * h) - moved(-2.0 * h))) / (12.0 * h);
    let (results, gradient) = call(case, objective, &start);
    Expected { results, gradient, hessian: Vec::new(), direction, slope }
}

/// Checks the functions in C. Returns their answers without contraction, with which the engines are compared.
pub(crate) fn check_c(case: &Case, functions: &[Objective], checks: &mut Vec<Check>) -> Option<Expected> {
    let strict = |kind| functions.iter().find(|o| o.kind == kind && o.contraction == Contraction::Off);
    let mut expected = evaluate(case, strict(Kind::Objective)?);
    for function in functions {
        let what =
            |part: &str| format!("{} ({}, {}): {part}", function.name, function.compiler, function.contraction.name());
        let (found, derivatives) = call(case, function, &function.arrays(case));
        published(checks, &what("value"), &case.published.value, &found);
        checks.push(Check::all(what("value, C"), &found, &expected.results, agreement(case, true)));
        match function.kind {
            Kind::Objective => {}
            Kind::Gradient => {
                published(checks, &what("gradient"), &case.published.gradient, &derivatives);
                checks.push(Check { what: what("gradient, differences of C"), ..expected.slope_of(&derivatives) });
            }
            Kind::Hessian => published(checks, &what("Hessian"), &case.published.hessian, &derivatives),
        }
    }
    if let Some(gradient) = strict(Kind::Gradient) {
        expected.gradient = call(case, gradient, &gradient.arrays(case)).1;
    }
    if let Some(hessian) = strict(Kind::Hessian) {
        expected.hessian = call(case, hessian, &hessian.arrays(case)).1;
    }
    Some(expected)
}

/// The tolerance between results of the machine and of C, relative to the largest.
fn agreement(case: &Case, fast: bool) -> f64 {
    if case.is_exact() {
        // Fixed point has 43 bits after the binary point; doubles have 53 in all.
        return 1e-4;
    }
    // Phases amplify rounding.
    let least = if case.workload.name == "leapfrog" && case.elements > 1000 { 1e-6 } else { 1e-13 };
    if fast { f64::max(least, 1e-10) } else { least }
}

fn published(checks: &mut Vec<Check>, what: &str, wanted: &[reference::Wanted], found: &[f64]) {
    checks.extend(wanted.iter().map(|w| w.check(&format!("{what}, published"), found)));
}

/// The drift of the energy, if the case is of orbiting bodies.
fn energy(case: &Case, results: &[f64]) -> Option<Check> {
    let ("leapfrog", [Data::Reals(_, x), Data::Reals(_, v), Data::Reals(_, masses), ..]) =
        (case.workload.name, &case.data[..])
    else {
        return None;
    };
    let (after_x, after_v) = results.split_at_checked(x.len())?;
    let before = reference::energy(masses, x, v);
    let drift = (reference::energy(masses, after_x, after_v) - before) / before;
    // The energy oscillates, and is near its initial value after the published number of steps.
    let allowed = if case.elements == reference::STEPS { 1e-8 } else { 1e-6 };
    Some(Check::new("drift of the energy", drift, 0.0, allowed))
}

/// Runs everything once and compares the results. Code that is compiled on demand is compiled here.
pub(crate) fn check(
    (case, fast): (&Case, bool),
    runner: &mut dyn Runner,
    apart: Option<&mut (dyn Runner + '_)>,
    expected: Option<&Expected>,
) -> anyhow::Result<(Vec<Check>, Option<Instructions>)> {
    let mut checks = Vec::new();
    let executed = |r: &dyn Runner| r.executed().unwrap_or(0);
    runner.restart();
    let (at_start, inputs, digest) = (runner.results(), runner.inputs(), runner.digest());
    let before = executed(runner);
    runner.forward(1)?;
    let forward = executed(runner) - before;
    let found = runner.results();
    published(&mut checks, "value", &case.published.value, &found);
    checks.extend(energy(case, &found));
    if let Some(c) = expected {
        checks.push(Check::all("value, C", &found, &c.results, agreement(case, fast)));
    }
    runner.backward(1)?;
    // Results that are not inputs begin at zero, too.
    let size = found.iter().chain(&inputs).fold(0.0_f64, |a, b| a.max(b.abs()));
    let back = [runner.results(), runner.inputs()].concat();
    let there = [at_start, inputs].concat();
    let apart_by = back.iter().zip(&there).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    checks.push(Check::new("the way back", apart_by, 0.0, 10.0 * agreement(case, fast) * size));
    if case.is_exact() {
        let bits = f64::from(u8::from(runner.digest() != digest));
        checks.push(Check::new("every bit comes back", bits, 0.0, 0.0));
        runner.restart();
        return Ok((checks, runner.executed().map(|_| Instructions { forward, gradient: None })));
    }
    let weights = case.seed.weights(found.len());
    runner.restart();
    let before = executed(runner);
    runner.gradient(1, std::slice::from_ref(&weights))?;
    let instructions = runner.executed().map(|now| Instructions { forward, gradient: Some(now - before) });
    let gradients = runner.gradients();
    published(&mut checks, "gradient", &case.published.gradient, &gradients);
    if let Some(c) = expected {
        checks.push(Check { what: "gradient, differences of C".into(), ..c.slope_of(&gradients) });
        checks.push(Check::all("gradient, C", &gradients, &c.gradient, 100.0 * agreement(case, fast)));
    }
    if case.hessian {
        runner.restart();
        let rows = runner.hessian(1)?;
        published(&mut checks, "Hessian", &case.published.hessian, &rows);
        if let Some(c) = expected.filter(|c| !c.hessian.is_empty()) {
            checks.push(Check::all("Hessian, C", &rows, &c.hessian, 100.0 * agreement(case, fast)));
        }
    }
    if let (Some(runner), Some(case)) = (apart, &case.apart) {
        for row in 0..2 {
            runner.restart();
            let weights = jacobian_weights(case, row);
            runner.gradient(1, &[weights])?;
            let wanted = reference::jacobian(row, case.elements as usize);
            checks.push(wanted.check("Jacobian, published", &runner.gradients()));
        }
    }
    runner.restart();
    Ok((checks, instructions))
}

pub(crate) fn jacobian_weights(case: &Case, row: usize) -> Vec<f64> {
    let p = case.elements as usize;
    Seed::Row(row, 2 * p).weights(3 * p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::{Size, case};
    use crate::objective::compilers;
    use crate::workloads::{Workload, workload};

    /// The checks that fail if this replaces part of the source of `norm` in C.
    fn complaints(from: &str, to: &str) -> Vec<String> {
        let norm = workload("norm").expect("the workload");
        assert!(norm.c.contains(from), "{from}");
        let changed: &'static str = norm.c.replace(from, to).leak();
        let changed: &'static Workload = Box::leak(Box::new(Workload { c: changed, ..*norm }));
        let case = Case { workload: changed, ..case("norm", Size::Quick) };
        let compilers = compilers().expect("a compiler");
        let functions = Objective::all(&compilers[..1], &case).expect("it compiles");
        let mut checks = Vec::new();
        check_c(&case, &functions, &mut checks).expect("answers");
        assert!(checks.len() >= 10, "{checks:?}");
        checks.into_iter().filter(|c| !c.is_met()).map(|c| c.what).collect()
    }

    #[test]
    fn a_wrong_gradient_in_c_is_an_error() {
        assert_eq!(complaints("void norm(", "void norm("), Vec::<String>::new());
        let wrong = complaints("dx[i] = factor * x[i]", "dx[i] = 1.001 * factor * x[i]");
        // The published gradient, and differences, with contraction and without.
        assert_eq!(wrong.len(), 4, "{wrong:?}");
        assert!(wrong.iter().all(|w| w.starts_with("norm_gradient (")), "{wrong:?}");
        let wrong = complaints("*norm = sqrt(sum)", "*norm = 2 * sqrt(sum)");
        assert!(wrong.iter().any(|w| w.ends_with("value, C")), "{wrong:?}");
    }
}
