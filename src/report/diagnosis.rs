//! Explains why a run stopped before its end.

use std::time::{Duration, Instant};

use pendula_asm::diagnostic::{Diagnostic, Sources, plural};
use pendula_compiler::ir::{self, eval};
use pendula_compiler::replay::replay;
use pendula_isa::Fault;
use pendula_isa::counts::Direction;
use pendula_isa::module::Module;
use pendula_vm::gradient::Refused;
use pendula_vm::{AdMode, Machine, Outcome, Trap};

use crate::grad::GradError;
use crate::report::Reporter;
use crate::report::calls::under_way;
use crate::report::stop_report::{Reached, StopReport, tell};
use crate::report::trap_report::{self, line_of};
use crate::report::trap_text::{is_compiled, trap_text};
use crate::state::compiled::CompiledSource;
use crate::state::language;

/// The time limit for running a program again to find where it stopped.
pub const AGAIN: Duration = Duration::from_secs(5);

/// The limit on statements for this.
const STATEMENTS: u64 = 200_000_000;

/// The error code of a run that Ctrl-C ended.
pub const INTERRUPTED: &str = "P0146";

/// The number of memory words beyond the data in such a run.
pub const ROOM: usize = 1 << 22;

/// How a program is run again.
#[derive(Clone, Debug)]
pub struct Rerun<'a> {
    /// The initial words of its data.
    pub data: Vec<u64>,
    /// The directions of the runs, in order.
    pub directions: &'a [Direction],
    /// The gradient words at these addresses when the last of these runs began, if it had gradients.
    pub seeds: &'a [(usize, u64)],
    /// When to give up.
    pub until: Instant,
}

impl Rerun<'_> {
    /// Runs the IR of a program in Nil or Janus.
    fn replay(
        &self,
        source: &ir::Program,
        nil: &CompiledSource,
        machine: &Machine<'_>,
        (moment, trap_overflow): (Option<&mut eval::StopPoint>, bool),
    ) -> Option<eval::Stop> {
        let memory = machine.memory().len().min(self.data.len() + ROOM);
        let until = Some(self.until);
        let config = eval::Config { memory, max_steps: STATEMENTS, until, ieee: machine.env().ieee, trap_overflow };
        replay(source, &nil.arguments, &evaluated(self.directions), self.data.clone(), self.seeds, (moment, &config))
    }
}

/// Why or where a program in Nil or Janus stopped, in terms of its source. For this, the program's IR runs again.
/// `None` if that gives no answer, or takes too long. A run that reached a limit must have been counted.
pub fn in_source(
    outcome: &Outcome,
    machine: &Machine<'_>,
    nil: &CompiledSource,
    sources: &Sources,
    again: Rerun<'_>,
) -> Option<StopReport> {
    let source = nil.source.as_ref()?;
    let (stop, moment) = match outcome {
        Outcome::Trap(trap) => {
            let overflow = trap.fault == Fault::FixedOverflow;
            let stop = again.replay(source, nil, machine, (None, overflow))?;
            let line = machine.program().module().loc(trap.at as usize).map(|(_, loc)| loc.line);
            if overflow && line != Some(stop.error.loc().line) {
                // The overflow was in a temporary that only the IR or only the compiled code has.
                return None;
            }
            (stop, None)
        }
        Outcome::Limit => {
            let mut moment = nil.counted(machine.program().module())?.moment(machine);
            let mut stop = again.replay(source, nil, machine, (Some(&mut moment), false))?;
            match stop.error {
                eval::EvalError::Otherwise { .. } => return None,
                eval::EvalError::Visited { .. } | eval::EvalError::Depth { .. } => {}
                // The error is in the next statement, which the machine has not reached.
                ref other if moment.is_now() => {
                    stop.error = eval::EvalError::Visited { loc: source.statement_at(other.loc()) };
                }
                _ => return None,
            }
            (stop, Some(moment))
        }
        Outcome::Finished => return None,
    };
    // At a limit, the machine may be deeper, too, if nothing more can be said.
    let deep = match outcome {
        Outcome::Trap(trap) => trap.fault == Fault::Memory,
        Outcome::Limit | Outcome::Finished => true,
    };
    if matches!(stop.error, eval::EvalError::Depth { .. }) && !deep {
        // The machine stopped elsewhere, at a deeper call.
        return None;
    }
    let mut stop_report = tell(&stop, source, sources, language::terms_of(nil));
    if let (Some(moment), eval::EvalError::Visited { loc }) = (moment, &stop.error) {
        let ran = if stop.calls.is_empty() { Some((0, 0)) } else { moment.ran(*loc) };
        let place = (!stop.calls.is_empty()).then(|| (sources.name(loc.file).to_string(), loc.line));
        let way = again.directions.get(moment.directions().saturating_sub(1));
        let back = way == Some(&Direction::Backward);
        stop_report.reached = Some(Reached {
            place,
            column: loc.column,
            shares_line: source.shares_line(*loc),
            back,
            turned: back && again.directions.len() > 1,
            way_forward: moment.directions() < again.directions.len(),
            before: ran.map(|(before, _)| before),
            of: ran.filter(|_| !moment.is_now()).map(|(_, of)| of),
        });
    }
    Some(stop_report)
}

/// The moment of the source at which a machine reached a limit, if it can be found.
pub fn moment(machine: &Machine<'_>, nil: &CompiledSource, again: &Rerun<'_>) -> Option<eval::StopPoint> {
    let source = nil.source.as_ref()?;
    let mut moment = nil.counted(machine.program().module())?.moment(machine);
    let stop = again.replay(source, nil, machine, (Some(&mut moment), false))?;
    // An error in a statement that the machine has not reached also marks the moment.
    let lost = matches!(stop.error, eval::EvalError::Otherwise { .. } | eval::EvalError::Depth { .. });
    (!lost && moment.is_now()).then(|| moment.again())
}

/// The directions of a run as the evaluator's type.
pub fn evaluated(directions: &[Direction]) -> Vec<eval::Direction> {
    let way = |way: &Direction| match way {
        Direction::Forward => eval::Direction::Forward,
        Direction::Backward => eval::Direction::Backward,
    };
    directions.iter().map(way).collect()
}

/// A stop of a run before its end: its place and its cause.
#[derive(Clone, Debug)]
pub struct Stopped {
    /// The trap; none at the step limit.
    pub trap: Option<Box<Trap>>,
    /// The error code and the title.
    pub heading: Option<(&'static str, &'static str)>,
    /// The compiled program's reason for the failed check, if there is one.
    pub reason: Option<String>,
    /// The next instruction.
    pub next: Option<u32>,
    /// True if Ctrl-C stopped the run.
    pub interrupted: bool,
    /// The direction and the mode of the machine, in words.
    how: String,
    ad_mode: AdMode,
    /// The active calls of a program in assembly, a line each.
    calls: Vec<String>,
    ieee: bool,
}

impl Stopped {
    /// `None` if the run came to its end.
    pub fn of(outcome: &Outcome, machine: &Machine<'_>) -> Option<Stopped> {
        let trap = match outcome {
            Outcome::Finished => return None,
            Outcome::Trap(trap) => Some(trap.clone()),
            Outcome::Limit => None,
        };
        let how = trap_report::running(machine.direction(), machine.ad_mode());
        let found = trap.as_deref().map(|trap| (trap.at, trap_text(trap, machine.program().module())));
        let reason = found.filter(|(at, _)| is_compiled(machine.program().module(), *at));
        let reason = reason.and_then(|(_, text)| text.reason.map(str::to_string));
        let heading = found.map(|(_, text)| (text.code, text.title));
        let next = machine.pc();
        let calls = under_way(outcome, machine).lines();
        Some(Stopped {
            trap,
            heading,
            reason,
            next,
            interrupted: false,
            how,
            ad_mode: machine.ad_mode(),
            calls,
            ieee: machine.env().ieee,
        })
    }

    /// Reports why the run stopped.
    pub fn report(
        &self,
        module: &Module,
        sources: &Sources,
        reporter: &Reporter,
        (max_steps, stop_report): (Option<u64>, Option<&StopReport>),
    ) {
        if let Some(trap) = &self.trap {
            trap_report::report(trap, module, sources, reporter, (self.ieee, stop_report, &self.calls));
            return;
        }
        let mut d = if self.interrupted {
            Diagnostic::error(INTERRUPTED, "the run was interrupted")
        } else {
            let n = max_steps.unwrap_or_default();
            Diagnostic::error("P0130", format!("the run did not end within {}", plural(n, "instruction")))
                .help("raise the limit with `--max-steps`, or see where it is with `pendula run --trace`")
        };
        // For compiled programs, the direction of the source's run is reported, not the machine's direction within it.
        let how = match stop_report.and_then(|stop_report| stop_report.reached.as_ref()) {
            Some(reached) if reached.way_forward => String::new(),
            Some(reached) => {
                let way = if reached.back { Direction::Backward } else { Direction::Forward };
                trap_report::running(way, self.ad_mode)
            }
            None => self.how.clone(),
        };
        let comma = if how.is_empty() { "" } else { "," };
        if let Some(place) = stop_report.and_then(|stop_report| stop_report.place.clone()) {
            let uncounted =
                stop_report.and_then(|stop_report| stop_report.reached.as_ref()).is_some_and(|r| r.before.is_none());
            let says = if uncounted { "the run is within this" } else { "the values are those before this" };
            d = d.at(place, format!("{says}{comma}{how}"));
        } else if let Some((pc, at)) = self.next.and_then(|pc| Some((pc, trap_report::place(module, sources, pc)?))) {
            let what = if is_compiled(module, pc) { "the run has come to here" } else { "the next instruction" };
            d = d.at(at, format!("{what}{comma}{how}"));
        }
        reporter.noted(&d, sources, &stop_report.map_or_else(|| self.calls.clone(), StopReport::notes));
    }
}

/// The error for a program that cannot run backward: an assembly program declares this, a Nil or Janus program was
/// compiled so.
pub fn irreversible(name: &str, module: &Module) -> Diagnostic {
    let (why, help) = if (0..module.code.len()).any(|at| module.is_compiled(at)) {
        (
            "was compiled with `--uncompute never` or `auto`, and erases what it computes on the way",
            "run it forward; or compile it with `--uncompute always`, as without this option, so that it uncomputes instead",
        )
    } else {
        ("says `.irreversible`", "run it forward, or uncompute instead of erasing")
    };
    Diagnostic::error("P0143", format!("{name} {why}: it cannot run backward")).help(help)
}

/// The error for a program that cannot be differentiated.
pub fn refused(name: &str, refused: Refused, module: &Module, sources: &Sources) -> Diagnostic {
    if refused == Refused::Irreversible {
        return irreversible(name, module);
    }
    let why = GradError::<Outcome>::Refused(refused);
    let mut d = Diagnostic::error("P0144", format!("{name}: {why}"));
    if let Refused::UsesGradients(at) = refused
        && let Some(place) = trap_report::place(module, sources, at)
    {
        d = d.at(place, "here");
    }
    d.help("such a program computes its own gradients: use `pendula run`")
}

/// The error for derivatives that overflowed.
pub fn wrong(module: &Module, sources: &Sources, (at, ad_mode): (u32, AdMode)) -> Diagnostic {
    let help = "choose a `.format` with more integer bits, or scale by `--seed`";
    let (what, which) = match ad_mode {
        AdMode::SecondGradient | AdMode::GradientTangent => ("a second derivative", "second derivatives"),
        AdMode::Plain | AdMode::Gradient | AdMode::Tangent => ("a gradient word", "derivatives"),
    };
    let message = format!("{what} overflowed and wrapped: {which} are wrong");
    let help = if is_compiled(module, at) { trap_report::in_source_words(help) } else { help.to_string() };
    placed(Diagnostic::error("P0131", message).help(help), module, sources, at)
}

/// Adds the place in the source where something was first seen.
pub fn placed(mut d: Diagnostic, module: &Module, sources: &Sources, at: u32) -> Diagnostic {
    match trap_report::place(module, sources, at) {
        Some(place) => d.at(place, "first here"),
        None => {
            d.message = format!("{}: {}", line_of(module, at), d.message);
            d
        }
    }
}
