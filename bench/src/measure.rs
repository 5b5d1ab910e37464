//! Measures a case: results are checked first, then everything is timed in turn.

use pendula_codegen::cc::Compiler;
use pendula_vm::Engine;

use crate::cases::{Case, Seed};
use crate::inputs::Data;
use crate::objective::{Contraction, Objective};
use crate::reference::{self, Check};
use crate::runner::{MakeWhole, Prepared, Runner};

/// How thoroughly and with which roundings to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// True if floating-point operations may be rounded otherwise than written.
    pub fast: bool,
    /// How the code is made that runs a whole program in C.
    pub whole: MakeWhole,
    /// The number of rounds; medians over them are reported.
    pub rounds: usize,
    /// The minimum duration of a sample in seconds; shorter runs are repeated.
    pub least: f64,
}

/// An objective and its time.
#[derive(Debug)]
pub struct Timed {
    pub(crate) function: &'static str,
    pub(crate) contraction: Contraction,
    pub(crate) seconds: f64,
}

/// The numbers of executed instructions.
#[derive(Clone, Copy, Debug)]
pub struct Instructions {
    pub(crate) forward: u64,
    /// The number for a whole gradient.
    pub(crate) gradient: Option<u64>,
}

/// The times of an engine.
#[derive(Debug)]
pub struct EngineTimes {
    /// The engine's name.
    pub engine: &'static str,
    /// Times in seconds.
    pub(crate) forward: f64,
    pub(crate) backward: f64,
    pub(crate) gradient: Option<f64>,
    pub(crate) jacobian: Option<f64>,
    pub(crate) hessian: Option<f64>,
    pub(crate) instructions: Option<Instructions>,
    pub(crate) checks: Vec<Check>,
    pub(crate) memory: Option<crate::memory::Peaks>,
}

/// The result of a case.
#[derive(Debug)]
pub struct Measured {
    pub(crate) name: String,
    pub(crate) workload: &'static str,
    pub(crate) size: String,
    pub(crate) elements: u64,
    pub(crate) objectives: Vec<Timed>,
    /// The checks of the objectives in C.
    pub(crate) checks: Vec<Check>,
    /// The times of each engine.
    pub engines: Vec<EngineTimes>,
}

impl Measured {
    /// The fastest objective compiled in this way.
    pub(crate) fn objective(&self, contraction: Contraction) -> Option<&Timed> {
        let all = self.objectives.iter().filter(|o| o.contraction == contraction);
        all.min_by(|a, b| a.seconds.total_cmp(&b.seconds))
    }

    /// All comparisons.
    pub(crate) fn all_checks(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().chain(self.engines.iter().flat_map(|e| &e.checks))
    }
}

/// An objective's results, taken from the arrays that it wrote.
fn results(case: &Case, arrays: &[Vec<u64>]) -> Vec<f64> {
    numbers(arrays, case.workload.result_arrays)
}

fn numbers(arrays: &[Vec<u64>], which: &[usize]) -> Vec<f64> {
    which.iter().flat_map(|a| &arrays[*a]).map(|w| f64::from_bits(*w)).collect()
}

/// The answers of an objective in C: its results, and the derivative along one direction.
struct ObjectiveResult {
    results: Vec<f64>,
    direction: Vec<f64>,
    slope: f64,
}

/// Evaluates an objective. The direction moves each input by a fraction of its value, a different one for each.
fn evaluate(case: &Case, objective: &Objective) -> ObjectiveResult {
    let start = case.arrays();
    let run = |mut arrays: Vec<Vec<u64>>| {
        objective.run(&mut arrays, 1);
        results(case, &arrays)
    };
    let inputs = numbers(&start, case.workload.input_arrays);
    let direction: Vec<f64> = inputs.iter().enumerate().map(|(i, x)| (i as f64 + 1.0).sin() * x).collect();
    let moved = |by: f64| {
        let mut arrays = start.clone();
        let words = case.workload.input_arrays.iter().flat_map(|a| (0..start[*a].len()).map(move |i| (*a, i)));
        for ((a, i), (x, d)) in words.zip(inputs.iter().zip(&direction)) {
            arrays[a][i] = (x + by * d).to_bits();
        }
        let out = run(arrays);
        let weights = case.seed.weights(out.len());
        out.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>()
    };
    let h = case.step;
    let slope = (8.0 * (moved(h) - moved(-h)) - (moved(2.0 * h) - moved(-2.0 * h))) / (12.0 * h);
    ObjectiveResult { results: run(start), direction, slope }
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
fn check(
    (case, fast): (&Case, bool),
    runner: &mut dyn Runner,
    apart: Option<&mut (dyn Runner + '_)>,
    expected: Option<&ObjectiveResult>,
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
        let parts = gradients.iter().zip(&c.direction).map(|(g, d)| g * d);
        let size: f64 = parts.clone().map(f64::abs).sum();
        checks.push(Check::new("gradient, differences of C", parts.sum(), c.slope, 1e-6 * size));
    }
    if case.hessian {
        runner.restart();
        let rows = runner.hessian(1)?;
        published(&mut checks, "Hessian", &case.published.hessian, &rows);
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

fn jacobian_weights(case: &Case, row: usize) -> Vec<f64> {
    let p = case.elements as usize;
    Seed::Row(row, 2 * p).weights(3 * p)
}

/// The CPU time of this thread in seconds: the time of other processes on the machine does not count.
#[cfg(target_os = "linux")]
fn clock() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// The time in seconds.
#[cfg(not(target_os = "linux"))]
fn clock() -> f64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// The number of repetitions that takes long enough.
fn repetitions(least: f64, mut run: impl FnMut(u64) -> anyhow::Result<f64>) -> anyhow::Result<u64> {
    let mut times = 1_u64;
    loop {
        let seconds = run(times)?;
        if seconds >= least {
            return Ok(times);
        }
        // At most ten times as many as before: the first run may have been slow.
        let wanted = (1.1 * least / (seconds / times as f64).max(1e-10)).ceil() as u64;
        times = wanted.clamp(times + 1, 10 * times);
    }
}

fn seconds(run: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let start = clock();
    run()?;
    Ok(clock() - start)
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    let n = samples.len();
    if n == 0 { f64::NAN } else { (samples[(n - 1) / 2] + samples[n / 2]) / 2.0 }
}

/// An objective being timed.
struct TimedObjective<'a> {
    objective: &'a Objective,
    start: &'a [Vec<u64>],
    arrays: Vec<Vec<u64>>,
    times: u64,
    samples: Vec<f64>,
}

impl TimedObjective<'_> {
    fn sample(&mut self, times: u64) -> f64 {
        self.arrays.clone_from_slice(self.start);
        let start = clock();
        self.objective.run(&mut self.arrays, times);
        clock() - start
    }
}

/// An engine being timed: for each kind of run, the number of repetitions and the samples.
struct TimedEngine<'a> {
    runner: Box<dyn Runner + 'a>,
    apart: Option<Box<dyn Runner + 'a>>,
    weights: Vec<f64>,
    has_gradient: bool,
    /// The weights of a Jacobian's rows.
    rows: Vec<Vec<f64>>,
    times: [u64; 4],
    samples: [Vec<f64>; 5],
    checks: Vec<Check>,
    instructions: Option<Instructions>,
}

const FORWARD: usize = 0;
const GRADIENT: usize = 1;
const JACOBIAN: usize = 2;
const HESSIAN: usize = 3;
const BACKWARD: usize = 4;

impl TimedEngine<'_> {
    fn forward_and_back(&mut self, times: u64) -> anyhow::Result<(f64, f64)> {
        let runner = &mut self.runner;
        runner.restart();
        let forward = seconds(|| runner.forward(times))?;
        Ok((forward, seconds(|| runner.backward(times))?))
    }

    fn gradient(&mut self, times: u64) -> anyhow::Result<f64> {
        let (runner, weights) = (&mut self.runner, &self.weights);
        runner.restart();
        seconds(|| runner.gradient(times, std::slice::from_ref(weights)))
    }

    fn jacobian(&mut self, times: u64) -> anyhow::Result<Option<f64>> {
        let Some(runner) = &mut self.apart else { return Ok(None) };
        runner.restart();
        seconds(|| runner.gradient(times, &self.rows)).map(Some)
    }

    fn hessian(&mut self, times: u64) -> anyhow::Result<f64> {
        let runner = &mut self.runner;
        runner.restart();
        seconds(|| runner.hessian(times).map(drop))
    }

    fn calibrate(&mut self, hessian: bool, least: f64) -> anyhow::Result<()> {
        self.times[FORWARD] = repetitions(least, |n| Ok(self.forward_and_back(n)?.0))?;
        if self.has_gradient {
            self.times[GRADIENT] = repetitions(least, |n| self.gradient(n))?;
        }
        if self.apart.is_some() {
            self.times[JACOBIAN] = repetitions(least, |n| Ok(self.jacobian(n)?.unwrap_or(least)))?;
        }
        if hessian {
            self.times[HESSIAN] = repetitions(least, |n| self.hessian(n))?;
        }
        Ok(())
    }

    fn ran(mut self) -> EngineTimes {
        let samples = &mut self.samples;
        let mut take = |which: usize| median(&mut samples[which]);
        let optional = |seconds: f64| (!seconds.is_nan()).then_some(seconds);
        EngineTimes {
            engine: self.runner.engine(),
            forward: take(FORWARD),
            backward: take(BACKWARD),
            gradient: optional(take(GRADIENT)),
            jacobian: optional(take(JACOBIAN)),
            hessian: optional(take(HESSIAN)),
            instructions: self.instructions,
            checks: self.checks,
            memory: None,
        }
    }

    fn round(&mut self, hessian: bool) -> anyhow::Result<()> {
        let [forward, gradient, jacobian, second] = self.times;
        let (f, b) = self.forward_and_back(forward)?;
        self.samples[FORWARD].push(f / forward as f64);
        self.samples[BACKWARD].push(b / forward as f64);
        if self.has_gradient {
            let g = self.gradient(gradient)?;
            self.samples[GRADIENT].push(g / gradient as f64);
        }
        if let Some(j) = self.jacobian(jacobian)? {
            self.samples[JACOBIAN].push(j / jacobian as f64);
        }
        if hessian {
            let h = self.hessian(second)?;
            self.samples[HESSIAN].push(h / second as f64);
        }
        Ok(())
    }
}

/// A case with its compiled programs.
struct Ready<'c> {
    case: &'c Case,
    prepared: Prepared,
    apart: Option<Prepared>,
    objectives: Vec<Objective>,
    start: Vec<Vec<u64>>,
}

impl<'c> Ready<'c> {
    fn new(case: &'c Case, compiler: Option<&Compiler>, effort: Effort) -> anyhow::Result<Ready<'c>> {
        let objectives = match compiler {
            Some(compiler) => Objective::all(compiler, case.workload)?,
            None => Vec::new(),
        };
        let apart = case.apart.as_deref().map(|c| Prepared::new(c, effort.fast, effort.whole)).transpose()?;
        Ok(Ready {
            case,
            prepared: Prepared::new(case, effort.fast, effort.whole)?,
            apart,
            objectives,
            start: case.arrays(),
        })
    }
}

/// A case that was checked and is being timed.
struct TimedCase<'a> {
    case: &'a Case,
    objectives: Vec<TimedObjective<'a>>,
    engine_runs: Vec<TimedEngine<'a>>,
    checks: Vec<Check>,
}

impl<'a> TimedCase<'a> {
    fn new(ready: &'a Ready<'a>, engines: &[Engine], least: f64) -> anyhow::Result<TimedCase<'a>> {
        let Ready { case, objectives, start, .. } = ready;
        let expected: Vec<ObjectiveResult> = objectives.iter().map(|o| evaluate(case, o)).collect();
        let mut checks = Vec::new();
        for (o, expected) in objectives.iter().zip(&expected) {
            let what = format!("{} ({}): value", o.name, o.contraction.name());
            published(&mut checks, &what, &case.published.value, &expected.results);
        }
        // Engines are compared with the objective that is compiled as written.
        let strict = objectives.iter().zip(&expected).find(|(o, _)| o.contraction == Contraction::Off).map(|(_, s)| s);
        let mut engine_runs = Vec::new();
        for engine in engines {
            let mut runner = ready.prepared.runner(*engine)?;
            let mut apart = ready.apart.as_ref().map(|p| p.runner(*engine)).transpose()?;
            let (checks, instructions) =
                check((case, ready.prepared.fast), &mut *runner, apart.as_deref_mut(), strict)?;
            let rows = case.apart.iter().flat_map(|case| [0, 1].map(|row| jacobian_weights(case, row))).collect();
            let weights = case.seed.weights(runner.results().len());
            let (times, samples, has_gradient) = ([1; 4], Default::default(), !case.is_exact());
            let mut engine_run =
                TimedEngine { runner, apart, weights, has_gradient, rows, times, samples, checks, instructions };
            engine_run.calibrate(case.hessian, least)?;
            engine_runs.push(engine_run);
        }
        let mut timed_objectives = Vec::new();
        for objective in objectives {
            let mut timed = TimedObjective { objective, start, arrays: start.clone(), times: 1, samples: Vec::new() };
            timed.times = repetitions(least, |n| Ok(timed.sample(n)))?;
            timed_objectives.push(timed);
        }
        Ok(TimedCase { case, objectives: timed_objectives, engine_runs, checks })
    }

    /// Times each objective and each engine once.
    fn round(&mut self) -> anyhow::Result<()> {
        for timed in &mut self.objectives {
            let seconds = timed.sample(timed.times);
            timed.samples.push(seconds / timed.times as f64);
        }
        self.engine_runs.iter_mut().try_for_each(|engine_run| engine_run.round(self.case.hessian))
    }

    fn measured(self) -> Measured {
        let TimedCase { case, objectives, engine_runs, checks } = self;
        let timed = objectives.into_iter().map(|mut s| Timed {
            function: s.objective.name,
            contraction: s.objective.contraction,
            seconds: median(&mut s.samples),
        });
        Measured {
            name: case.name.clone(),
            workload: case.workload.name,
            size: case.size.clone(),
            elements: case.elements,
            objectives: timed.collect(),
            checks,
            engines: engine_runs.into_iter().map(TimedEngine::ran).collect(),
        }
    }
}

/// Measures cases on engines, and in C if there is a compiler, all in turn.
pub fn measure(
    cases: &[Case],
    compiler: Option<&Compiler>,
    engines: &[Engine],
    effort: Effort,
) -> anyhow::Result<Vec<Measured>> {
    let ready: Vec<Ready<'_>> =
        cases.iter().map(|case| Ready::new(case, compiler, effort)).collect::<Result<_, _>>()?;
    let mut cases: Vec<TimedCase<'_>> =
        ready.iter().map(|r| TimedCase::new(r, engines, effort.least)).collect::<Result<_, _>>()?;
    for _ in 0..effort.rounds {
        cases.iter_mut().try_for_each(TimedCase::round)?;
    }
    Ok(cases.into_iter().map(TimedCase::measured).collect())
}
