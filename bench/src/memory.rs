//! Peak memory of a run forward and of a gradient, each measured in a separate process.
//!
//! The process reads the compiled program, runs once so that all code exists, makes the kernel reset the peak, and runs
//! again. The result is this peak minus the peak of a process that does nothing. This works only on Linux; elsewhere
//! there are no figures.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use pendula_asm::object;
use pendula_isa::Module;
use pendula_vm::Engine;

use crate::cases::{self, Case, Seed};
use crate::measure::EngineTimes;
use crate::reference::Check;
use crate::runner::Prepared;
use crate::workloads::{Workload, workload};

/// Peak memory in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peaks {
    pub(crate) forward: u64,
    pub(crate) gradient: u64,
}

/// The maximum ratio of a gradient's peak to a run forward's.
const MOST: f64 = 2.2;

impl Peaks {
    /// The ratio of the gradient's peak to the forward run's.
    pub(crate) fn ratio(self) -> f64 {
        self.gradient as f64 / self.forward as f64
    }
}

/// What the child process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// Nothing.
    Empty,
    /// A run forward.
    Forward,
    /// A gradient.
    Gradient,
}

/// The peak memory of this process in bytes, if the system reports it.
fn peak() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// The work of the child process.
pub fn child(what: Child, names: &[String], engine: Engine) -> anyhow::Result<u64> {
    // Resets the peak. If that is not allowed, the peak includes reading the program.
    let begin = || drop(std::fs::write("/proc/self/clear_refs", "5"));
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    if what == Child::Empty {
        begin();
        return peak().context("the system does not report the peak memory");
    }
    let module = object::read(&bytes).map_err(|e| anyhow::anyhow!("{e}"))?;
    drop(bytes);
    let workload = names.first().and_then(|name| workload(name)).context("one workload")?;
    let prepared = Prepared::of(module, workload.results, workload.inputs)?;
    let mut runner = prepared.runner(engine)?;
    let weights = [Seed::Wave.weights(runner.results().len())];
    for round in 0..2 {
        if round == 1 {
            begin();
        }
        match what {
            Child::Forward => runner.forward(1)?,
            Child::Gradient => runner.gradient(1, &weights)?,
            Child::Empty => {}
        }
    }
    peak().context("the system does not report the peak memory")
}

/// Makes the command that runs this program again, as the child process for a workload.
pub type Start<'a> = &'a dyn Fn(&str, Child) -> Command;

/// Runs a child process, and returns the peak that it reports.
fn evaluate(start: Start<'_>, what: Child, workload: &Workload, object: &[u8]) -> anyhow::Result<u64> {
    let mut command = start(workload.name, what);
    let mut process = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {}", command.get_program().display()))?;
    let mut input = process.stdin.take().context("no pipe")?;
    // A child that failed stops reading; it reports the reason itself.
    let sent = input.write_all(object);
    drop(input);
    let output = process.wait_with_output()?;
    if !output.status.success() {
        bail!("measuring the memory of {} failed", workload.name);
    }
    sent?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().with_context(|| format!("no number of bytes: {text}"))
}

/// The numbers of steps of `leapfrog` that are compared: enough that both runs compile all code with care, which takes
/// some memory once.
const STEPS: [i64; 2] = [16_000, 64_000];

/// Measures a case's peaks, and records the checks on them.
pub fn measure(start: Start<'_>, case: &Case, ran: &mut EngineTimes) -> anyhow::Result<()> {
    if case.is_exact() || peak().is_none() {
        return Ok(());
    }
    let found = peaks(start, case.workload, &case.module()?)?;
    ran.memory = Some(found);
    ran.checks.push(Check::at_most("peak memory, gradient over forward", found.ratio(), MOST));
    if case.workload.name == "leapfrog" {
        let of = |steps| peaks(start, case.workload, &cases::leapfrog(steps).module()?);
        let [few, many] = [of(STEPS[0])?, of(STEPS[1])?].map(|p| p.gradient);
        // A megabyte is within the variation of code and allocator; 48 000 steps on a tape would take more than twelve.
        let ratio = many.saturating_sub(1 << 20) as f64 / few as f64;
        ran.checks.push(Check::at_most(
            "peak memory of a gradient, 4 times the steps over once, but for a megabyte",
            ratio,
            1.1,
        ));
    }
    Ok(())
}

/// The peaks of a compiled program.
fn peaks(start: Start<'_>, workload: &Workload, module: &Module) -> anyhow::Result<Peaks> {
    let object = object::write(module).map_err(|e| anyhow::anyhow!("{e}"))?;
    let empty = evaluate(start, Child::Empty, workload, &[])?;
    let beyond = |what| Ok::<_, anyhow::Error>(evaluate(start, what, workload, &object)?.saturating_sub(empty));
    Ok(Peaks { forward: beyond(Child::Forward)?, gradient: beyond(Child::Gradient)? })
}
