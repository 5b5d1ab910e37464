//! Measures a case: results are checked first, then everything is timed in turn.

use pendula_codegen::cc::Compiler;
use pendula_vm::Engine;

use crate::cases::Case;
use crate::check::{check, check_c, jacobian_weights};
use crate::objective::{Array, Contraction, Kind, Objective};
use crate::reference::Check;
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

/// A function in C and its time.
#[derive(Debug)]
pub struct Timed {
    pub(crate) function: &'static str,
    pub(crate) kind: Kind,
    pub(crate) contraction: Contraction,
    /// The compiler's version.
    pub(crate) compiler: String,
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
    /// The objectives and derivatives in C.
    pub(crate) functions: Vec<Timed>,
    /// The checks of the functions in C.
    pub(crate) checks: Vec<Check>,
    /// The times of each engine.
    pub engines: Vec<EngineTimes>,
}

impl Measured {
    /// The fastest function of this kind compiled in this way.
    pub(crate) fn fastest(&self, kind: Kind, contraction: Contraction) -> Option<&Timed> {
        let all = self.functions.iter().filter(|f| f.kind == kind && f.contraction == contraction);
        all.min_by(|a, b| a.seconds.total_cmp(&b.seconds))
    }

    /// The fastest objective compiled in this way.
    pub(crate) fn objective(&self, contraction: Contraction) -> Option<&Timed> {
        self.fastest(Kind::Objective, contraction)
    }

    /// The time of the fastest function of this kind in C.
    pub(crate) fn by_hand(&self, kind: Kind) -> Option<f64> {
        let all = Contraction::ALL.into_iter().filter_map(|way| self.fastest(kind, way));
        all.map(|f| f.seconds).min_by(f64::total_cmp)
    }

    /// All comparisons.
    pub(crate) fn all_checks(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().chain(self.engines.iter().flat_map(|e| &e.checks))
    }
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

/// A function in C being timed.
struct TimedFunction<'a> {
    function: &'a Objective,
    start: Vec<Vec<u64>>,
    arrays: Vec<Array>,
    times: u64,
    samples: Vec<f64>,
}

impl TimedFunction<'_> {
    fn sample(&mut self, times: u64) -> f64 {
        self.arrays.iter_mut().zip(&self.start).for_each(|(array, start)| array.set(start));
        let start = clock();
        self.function.run(&mut self.arrays, times);
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
    functions: Vec<Objective>,
}

impl<'c> Ready<'c> {
    fn new(case: &'c Case, compilers: &[Compiler], effort: Effort) -> anyhow::Result<Ready<'c>> {
        let apart = case.apart.as_deref().map(|c| Prepared::new(c, effort.fast, effort.whole)).transpose()?;
        // C compilers take most of the time, so that two run at once.
        let (functions, prepared) = std::thread::scope(|scope| {
            let functions = scope.spawn(|| Objective::all(compilers, case));
            let prepared = Prepared::new(case, effort.fast, effort.whole);
            (functions.join().map_err(|_| anyhow::anyhow!("compiling {} in C failed", case.name)), prepared)
        });
        Ok(Ready { case, prepared: prepared?, apart, functions: functions?? })
    }
}

/// A case that was checked and is being timed.
struct TimedCase<'a> {
    case: &'a Case,
    functions: Vec<TimedFunction<'a>>,
    engine_runs: Vec<TimedEngine<'a>>,
    checks: Vec<Check>,
}

impl<'a> TimedCase<'a> {
    fn new(ready: &'a Ready<'a>, engines: &[Engine], least: f64) -> anyhow::Result<TimedCase<'a>> {
        let case = ready.case;
        let mut checks = Vec::new();
        let expected = check_c(case, &ready.functions, &mut checks);
        let mut engine_runs = Vec::new();
        for engine in engines {
            let mut runner = ready.prepared.runner(*engine)?;
            let mut apart = ready.apart.as_ref().map(|p| p.runner(*engine)).transpose()?;
            let (checks, instructions) =
                check((case, ready.prepared.fast), &mut *runner, apart.as_deref_mut(), expected.as_ref())?;
            let rows = case.apart.iter().flat_map(|case| [0, 1].map(|row| jacobian_weights(case, row))).collect();
            let weights = case.seed.weights(runner.results().len());
            let (times, samples, has_gradient) = ([1; 4], Default::default(), !case.is_exact());
            let mut engine_run =
                TimedEngine { runner, apart, weights, has_gradient, rows, times, samples, checks, instructions };
            engine_run.calibrate(case.hessian, least)?;
            engine_runs.push(engine_run);
        }
        let mut functions = Vec::new();
        for function in &ready.functions {
            let start = function.arrays(case);
            let arrays = start.iter().map(|a| Array::new(a)).collect();
            let mut timed = TimedFunction { function, arrays, start, times: 1, samples: Vec::new() };
            timed.times = repetitions(least, |n| Ok(timed.sample(n)))?;
            functions.push(timed);
        }
        Ok(TimedCase { case, functions, engine_runs, checks })
    }

    /// Times each function in C and each engine once.
    fn round(&mut self) -> anyhow::Result<()> {
        for timed in &mut self.functions {
            let seconds = timed.sample(timed.times);
            timed.samples.push(seconds / timed.times as f64);
        }
        self.engine_runs.iter_mut().try_for_each(|engine_run| engine_run.round(self.case.hessian))
    }

    fn measured(self) -> Measured {
        let TimedCase { case, functions, engine_runs, checks } = self;
        let timed = functions.into_iter().map(|mut t| Timed {
            function: t.function.name,
            kind: t.function.kind,
            contraction: t.function.contraction,
            compiler: t.function.compiler.to_string(),
            seconds: median(&mut t.samples),
        });
        Measured {
            name: case.name.clone(),
            workload: case.workload.name,
            size: case.size.clone(),
            elements: case.elements,
            functions: timed.collect(),
            checks,
            engines: engine_runs.into_iter().map(TimedEngine::ran).collect(),
        }
    }
}

/// Measures cases on engines, and in C by all these compilers, all in turn.
pub fn measure(
    cases: &[Case],
    compilers: &[Compiler],
    engines: &[Engine],
    effort: Effort,
) -> anyhow::Result<Vec<Measured>> {
    let ready: Vec<Ready<'_>> =
        cases.iter().map(|case| Ready::new(case, compilers, effort)).collect::<Result<_, _>>()?;
    let mut cases: Vec<TimedCase<'_>> =
        ready.iter().map(|r| TimedCase::new(r, engines, effort.least)).collect::<Result<_, _>>()?;
    for _ in 0..effort.rounds {
        cases.iter_mut().try_for_each(TimedCase::round)?;
    }
    Ok(cases.into_iter().map(TimedCase::measured).collect())
}
