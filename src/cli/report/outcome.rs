//! How a run ended and which flags it raised, as text and JSON.

use std::io::{BufWriter, Write as _};
use std::time::Instant;

use pendula::asm::diagnostic::{Diagnostic, Sources};
use pendula::calls::under_way;
use pendula::compiler::ir::eval;
use pendula::compiler::replay;
use pendula::diagnosis::{self, Rerun, evaluated, placed};
use pendula::isa::counts::Direction;
use pendula::isa::module::Module;
use pendula::language;
use pendula::report::Reporter;
use pendula::stop_report::{ActiveCall, StopReport};
use pendula::trace;
use pendula::trap_report::{self, line_of};
use pendula::trap_text::{is_compiled, is_janus};
use pendula::visible::visible;
use pendula::vm::{AdMode, Flags, Machine, Outcome, RoundingResidues};
use serde_json::{Map, Value, json};

use crate::cli::args::Conditions;
use crate::cli::interrupt;
use crate::cli::program;
use crate::cli::session;
use crate::cli::status::Status;

pub(crate) use pendula::diagnosis::{Stopped, wrong};

/// The number of calls that JSON lists from each end of a long chain.
const CALLS: usize = 500;

/// The outcome as JSON; `stop_report` explains in terms of the source why the program stopped.
pub(crate) fn outcome_json(
    outcome: &Outcome,
    machine: &Machine<'_>,
    (max_steps, stop_report): (Option<u64>, Option<&StopReport>),
) -> Value {
    let module = machine.program().module();
    let mut out = match outcome {
        Outcome::Finished => json!({ "kind": "finished" }),
        Outcome::Limit => {
            let next = machine.pc().map(|at| trap_report::address_json(at, module));
            let direction = machine.direction().name();
            if interrupt::is_requested() {
                json!({ "kind": "interrupted", "code": interrupt::CODE, "next": next, "direction": direction })
            } else {
                json!({ "kind": "limit", "code": "P0130", "max_steps": max_steps, "next": next, "direction": direction })
            }
        }
        Outcome::Trap(trap) => json!({ "kind": "trap", "trap": trap_report::to_json(trap, module) }),
    };
    if *outcome != Outcome::Finished {
        out["executed"] = json!(machine.executed());
    }
    if let Some(stop_report) = stop_report {
        put_stop(&mut out, stop_report);
    } else {
        let calls = under_way(outcome, machine).chain;
        if !calls.is_empty() {
            out["calls"] = calls_json(&calls);
            out["depth"] = json!(calls.len());
        }
    }
    out
}

/// Variables as JSON, by name.
fn variables_json(of: &[(String, String)]) -> Map<String, Value> {
    of.iter().map(|(name, value)| (name.clone(), json!(value))).collect()
}

/// Active calls as JSON; of a very long chain, only both ends.
fn calls_json(calls: &[ActiveCall]) -> Value {
    let (first, last) = if calls.len() > 2 * CALLS { (CALLS, calls.len() - CALLS) } else { (calls.len(), calls.len()) };
    calls[..first].iter().chain(&calls[last..]).map(call_json).collect()
}

fn call_json(call: &ActiveCall) -> Value {
    let called = call.called.as_ref().map(|(file, line)| json!({ "file": file, "line": line }));
    json!({
        "name": call.name,
        "direction": if call.backward { "backward" } else { "forward" },
        "called": called,
        "variables": variables_json(&call.variables),
    })
}

/// Adds to the outcome why the program stopped, in terms of its source.
pub(crate) fn put_stop(outcome: &mut Value, stop_report: &StopReport) {
    outcome["stop"] = stop_json(stop_report);
}

fn stop_json(stop_report: &StopReport) -> Value {
    json!({
        "code": stop_report.code,
        "message": (!stop_report.message.is_empty()).then_some(&stop_report.message),
        "variables": variables_json(stop_report.variables()),
        "same": stop_report.same,
        "reached": stop_report.reached.as_ref().map(|r| json!({ "file": r.place.as_ref().map(|p| &p.0), "line": r.place.as_ref().map(|p| p.1), "column": r.place.as_ref().map(|_| r.column), "direction": if r.back { "backward" } else { "forward" }, "runs_before": r.before, "of": r.of })),
        "calls": calls_json(&stop_report.calls),
        "depth": stop_report.calls.len(),
        "deeper": stop_report.deeper,
    })
}

/// Where each flag was first raised; `null` where it was not.
pub(crate) fn flags_json(machine: &Machine<'_>) -> Value {
    let module = machine.program().module();
    let place = |at: Option<u32>| at.map(|at| trap_report::address_json(at, module));
    let flags = machine.flags();
    let mut inexact = place(flags.inexact);
    if let Some(inexact) = &mut inexact {
        inexact["count"] = json!(flags.rests.count);
        inexact["largest"] = json!(flags.rests.largest());
    }
    let mut out = json!({ "overflow": place(flags.overflow), "inexact": inexact });
    if machine.engine_counts().whole > 0 {
        // Code for whole runs discards rounding residues without recording where.
        out["unnoted"] = json!(["inexact"]);
    }
    out
}

/// Names what ran a program: `whole C`, `whole Cranelift`, `jit`, `interpreter`.
pub(crate) fn ran_by(machine: &Machine<'_>) -> Vec<&'static str> {
    let ran = machine.engine_counts();
    let parts = [
        (ran.whole - ran.whole_by_cranelift, "whole C"),
        (ran.whole_by_cranelift, "whole Cranelift"),
        (ran.compiled, "jit"),
        (ran.interpreted, "interpreter"),
    ];
    parts.into_iter().filter(|(n, _)| *n > 0).map(|(_, name)| name).collect()
}

/// Reports why a run stopped if it did not finish, and the flags that it raised.
pub(crate) fn explain(
    outcome: &Outcome,
    machine: &Machine<'_>,
    sources: &Sources,
    reporter: &Reporter,
    (max_steps, stop_report): (Option<u64>, Option<&StopReport>),
) {
    ended(outcome, machine, sources, reporter, (max_steps, stop_report));
    let overflow = machine.flags().overflow.map(|at| (at, AdMode::Plain));
    noticed(machine.program().module(), sources, reporter, overflow);
}

/// A line that summarises the rounding residues that `zero.f` cleared. It is returned if the drift was requested, and
/// logged otherwise. Residues are normal where sums of doubles are undone; a residue beyond the bound is a trap.
pub(crate) fn rests(module: &Module, flags: Flags, asked: bool) -> String {
    let Some(text) = rests_text(module, flags.inexact.map(|at| (at, flags.rests)), "") else { return String::new() };
    if asked {
        return text + "\n";
    }
    tracing::info!(target: "pendula::outcome", "{}", visible(&text));
    String::new()
}

/// The same for one or many runs, with the place of the first residue; `runs` says which runs had one.
pub(crate) fn rests_text(module: &Module, rests: Option<(u32, RoundingResidues)>, runs: &str) -> Option<String> {
    let (at, rests) = rests?;
    let (count, noun) = (rests.count, if rests.count == 1 { "rounding error" } else { "rounding errors" });
    let place = line_of(module, at);
    let largest = rests.largest();
    let text = match module.is_compiled(at as usize) {
        true => format!("variables ended with {count} {noun}{runs}, which were cleared"),
        false => format!("`zero.f` cleared {count} {noun}{runs}"),
    };
    Some(format!("{text}, at most {largest:e}, first at {place} (P0132)"))
}

/// Reports why a run stopped, if it did not finish.
pub(crate) fn ended(
    outcome: &Outcome,
    machine: &Machine<'_>,
    sources: &Sources,
    reporter: &Reporter,
    (max_steps, stop_report): (Option<u64>, Option<&StopReport>),
) {
    if let Some(stopped) = stopped_by(outcome, machine) {
        stopped.report(machine.program().module(), sources, reporter, (max_steps, stop_report));
    }
}

/// Where and how a run stopped, including by Ctrl-C; `None` if it finished.
pub(crate) fn stopped_by(outcome: &Outcome, machine: &Machine<'_>) -> Option<Stopped> {
    let interrupted = *outcome == Outcome::Limit && interrupt::is_requested();
    let mut stopped = Stopped::of(outcome, machine)?;
    stopped.interrupted = interrupted;
    Some(stopped)
}

/// The command's exit status for an outcome.
pub(crate) fn status(outcome: &Outcome) -> Status {
    match outcome {
        Outcome::Finished => Status::Done,
        Outcome::Limit if interrupt::is_requested() => Status::Interrupted,
        Outcome::Limit | Outcome::Trap(_) => Status::Fault,
    }
}

/// Traces a program in Nil or Janus in these directions, line by line of its source, to standard error. The machine is
/// about to run it.
pub(crate) fn trace(
    machine: &Machine<'_>,
    loaded: &program::Program,
    conditions: &Conditions,
    directions: &[Direction],
) -> anyhow::Result<()> {
    let Some((nil, source)) = loaded.compiled.as_ref().and_then(|nil| Some((nil, nil.source.as_ref()?))) else {
        return Ok(());
    };
    let data = machine.memory().get(..loaded.module.data.len()).unwrap_or_default().to_vec();
    let memory = machine.memory().len().min(data.len() + diagnosis::ROOM);
    let (limited, mut moment) = limit(machine, loaded, conditions, directions, &data)?;
    // If the moment of the limit is unknown, this many statements are shown.
    let max_steps = conditions.max_steps.filter(|_| limited && moment.is_none()).unwrap_or(u64::MAX);
    let trap_overflow = session::config(conditions).trap_overflow;
    let config = eval::Config { memory, max_steps, until: None, ieee: conditions.ieee, trap_overflow };
    let mut out = BufWriter::new(std::io::stderr());
    let mut written = Ok(());
    let (sources, terms) = (&loaded.sources, language::terms_of(nil));
    let mut listener = |ran: eval::TraceEntry| {
        if written.is_ok() {
            let line = trace::line(&ran, sources, source.format, terms);
            written = writeln!(out, "{}", visible(&line));
        }
    };
    let ended =
        replay::trace(source, &nil.arguments, &evaluated(directions), data, &mut listener, (moment.as_mut(), &config));
    written?;
    match ended {
        Some(eval::EvalError::Visited { .. }) => writeln!(out, "… the run ends here: --max-steps")?,
        Some(eval::EvalError::Steps { .. }) => writeln!(out, "… the trace ends here: --max-steps")?,
        Some(eval::EvalError::Depth { .. }) => {
            writeln!(out, "… the trace ends here: calls are nested too deep for it")?
        }
        Some(_) if moment.is_some() => writeln!(out, "… the run ends here: --max-steps")?,
        // The machine reports anything else.
        Some(_) | None => {}
    }
    Ok(out.flush()?)
}

/// Finds out whether a run will reach the step limit and, if possible, at which moment of the source. For that, the
/// program runs once beforehand.
fn limit(
    machine: &Machine<'_>,
    loaded: &program::Program,
    conditions: &Conditions,
    directions: &[Direction],
    data: &[u64],
) -> anyhow::Result<(bool, Option<eval::StopPoint>)> {
    let (Some(steps), Some(nil)) = (conditions.max_steps, &loaded.compiled) else { return Ok((false, None)) };
    let mut once = session::machine(machine.program(), conditions, loaded.variables())?;
    once.allow_whole(false);
    for (n, way) in directions.iter().enumerate() {
        once.begin(*way);
        match once.run(Some(steps.saturating_sub(once.executed()))) {
            Outcome::Finished => {}
            Outcome::Limit => {
                let until = Instant::now() + diagnosis::AGAIN;
                let again = Rerun { data: data.to_vec(), directions: &directions[..=n], seeds: &[], until };
                return Ok((true, diagnosis::moment(&once, nil, &again)));
            }
            Outcome::Trap(_) => break,
        }
    }
    Ok((false, None))
}

/// Reports where a fixed-point number first overflowed, with what words carried then.
pub(crate) fn noticed(module: &Module, sources: &Sources, reporter: &Reporter, overflow: Option<(u32, AdMode)>) {
    if let Some((at, ad_mode)) = overflow {
        let (message, help) = match ad_mode {
            AdMode::Plain if is_janus(module, at) => (
                "an integer overflowed and wrapped",
                "what is computed from it differs from what unbounded integers give; `--int 32` wraps without notice".to_string(),
            ),
            AdMode::Plain => (
                "a fixed-point number overflowed and wrapped",
                "scale the values or choose a `.format` with more integer bits; `--trap overflow` stops here".to_string(),
            ),
            AdMode::Tangent => (
                "a tangent overflowed and wrapped",
                "only the comparison with dual numbers is concerned; a `.format` with more integer bits has room for it"
                    .to_string(),
            ),
            // A wrong derivative is an error and is reported separately.
            AdMode::Gradient | AdMode::SecondGradient | AdMode::GradientTangent => ("", String::new()),
        };
        if !message.is_empty() {
            let help = if is_compiled(module, at) { trap_report::in_source_words(&help) } else { help };
            let d = Diagnostic::warning("P0131", message).help(help);
            reporter.diagnostic(&placed(d, module, sources, at), sources);
        }
    }
}

/// The name in JSON of an overflow flag, by what words carried when it was raised.
pub(crate) fn overflow_of(ad_mode: AdMode) -> &'static str {
    match ad_mode {
        AdMode::Plain => "value",
        AdMode::Gradient => "gradient",
        AdMode::Tangent => "tangent",
        AdMode::SecondGradient | AdMode::GradientTangent => "second derivative",
    }
}
