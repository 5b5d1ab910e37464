//! How a run ended, and what it noticed, as text and JSON.

use pendula::asm::diagnostic::{Diagnostic, Sources};
use pendula::isa::module::Module;
use pendula::vm::{Carriage, Machine, Outcome, Trap};
use serde_json::{Value, json};

use crate::report::Reporter;
use crate::trapped::{self, line_of};

/// The outcome as JSON.
pub(crate) fn outcome_json(outcome: &Outcome, machine: &Machine<'_>, max_steps: Option<u64>) -> Value {
    let module = machine.program().module();
    match outcome {
        Outcome::Finished => json!({ "kind": "finished" }),
        Outcome::Limit => json!({
            "kind": "limit",
            "code": "P0130",
            "max_steps": max_steps,
            "next": machine.pc().map(|at| trapped::address_json(at, module)),
        }),
        Outcome::Trap(trap) => json!({ "kind": "trap", "trap": trapped::to_json(trap, module) }),
        Outcome::NoCode(message) => json!({ "kind": "no code", "message": message }),
    }
}

/// Where each flag was raised first; `null` where it was not.
pub(crate) fn flags_json(machine: &Machine<'_>) -> Value {
    let module = machine.program().module();
    let place = |at: Option<u32>| at.map(|at| trapped::address_json(at, module));
    let flags = machine.flags();
    json!({ "overflow": place(flags.overflow), "inexact": place(flags.inexact) })
}

/// Tells why a run stopped, if it did not end, and what it noticed.
pub(crate) fn explain(
    outcome: &Outcome,
    machine: &Machine<'_>,
    sources: &Sources,
    reporter: &Reporter,
    max_steps: Option<u64>,
) {
    ended(outcome, machine, sources, reporter, max_steps);
    let flags = machine.flags();
    let overflow = flags.overflow.map(|at| (at, Carriage::Plain));
    noticed(machine.program().module(), sources, reporter, (overflow, flags.inexact));
}

/// Tells why a run stopped, if it did not end.
pub(crate) fn ended(
    outcome: &Outcome,
    machine: &Machine<'_>,
    sources: &Sources,
    reporter: &Reporter,
    max_steps: Option<u64>,
) {
    if let Some(stopped) = Stopped::of(outcome, machine) {
        stopped.report(machine.program().module(), sources, reporter, max_steps);
    }
}

/// Where and how a run stopped before its end.
#[derive(Clone, Debug)]
pub(crate) struct Stopped {
    /// Why; none is the step limit.
    pub(crate) trap: Option<Box<Trap>>,
    /// The next instruction.
    pub(crate) next: Option<u32>,
    /// What the engine's compiler says, if it made no code.
    no_code: Option<String>,
    /// How the machine was running.
    how: String,
    ieee: bool,
}

impl Stopped {
    /// `None` if the run came to its end.
    pub(crate) fn of(outcome: &Outcome, machine: &Machine<'_>) -> Option<Stopped> {
        let (trap, no_code) = match outcome {
            Outcome::Finished => return None,
            Outcome::Trap(trap) => (Some(trap.clone()), None),
            Outcome::Limit => (None, None),
            Outcome::NoCode(message) => (None, Some(message.clone())),
        };
        let how = trapped::running(machine.direction(), machine.carriage());
        Some(Stopped { trap, next: machine.pc(), no_code, how, ieee: machine.env().ieee })
    }

    /// Tells why.
    pub(crate) fn report(&self, module: &Module, sources: &Sources, reporter: &Reporter, max_steps: Option<u64>) {
        if let Some(trap) = &self.trap {
            trapped::report(trap, module, sources, reporter, self.ieee);
            return;
        }
        if let Some(message) = &self.no_code {
            reporter.failure(&anyhow::anyhow!("{message}"));
            return;
        }
        let n = max_steps.unwrap_or_default();
        let mut d = Diagnostic::error("P0130", format!("the run did not end within {n} instructions"))
            .help("raise the limit with `--max-steps`, or look where it is with `pendula run --trace`");
        if let Some(at) = self.next.and_then(|pc| trapped::place(module, sources, pc)) {
            let comma = if self.how.is_empty() { "" } else { "," };
            d = d.at(at, format!("the next instruction{comma}{}", self.how));
        }
        reporter.diagnostic(&d, sources);
    }
}

/// Tells what a run noticed: where a fixed-point number first overflowed, with what words carried then, and the inexact flag.
pub(crate) fn noticed(
    module: &Module,
    sources: &Sources,
    reporter: &Reporter,
    (overflow, inexact): (Option<(u32, Carriage)>, Option<u32>),
) {
    if let Some((at, carriage)) = overflow {
        let scale = "choose a `.format` with more integer bits, or scale by `--seed`";
        let (message, help) = match carriage {
            Carriage::Plain if trapped::is_janus(module, at) => (
                "an integer overflowed and wrapped",
                "what is computed from it differs from what unbounded integers give; `--int 32` wraps without notice".to_string(),
            ),
            Carriage::Plain => (
                "a fixed-point number overflowed and wrapped",
                "scale the values or choose a `.format` with more integer bits; `--trap overflow` stops here".to_string(),
            ),
            Carriage::Gradient => {
                ("a gradient word overflowed and wrapped", format!("derivatives may be wrong; {scale}"))
            }
            Carriage::Tangent => (
                "a tangent overflowed and wrapped",
                "only the comparison with dual numbers is concerned; a `.format` with more integer bits has room for it"
                    .to_string(),
            ),
            Carriage::SecondGradient | Carriage::GradientTangent => {
                ("a second derivative overflowed and wrapped", format!("second derivatives may be wrong; {scale}"))
            }
        };
        flag(module, sources, reporter, at, "P0131", message, &help);
    }
    if let Some(at) = inexact {
        flag(
            module,
            sources,
            reporter,
            at,
            "P0132",
            "`zero.f` cleared a number that was not zero",
            "a run back does not restore it; 64 bits are counted as lost each time",
        );
    }
}

/// A flag's kind by what words carried when it was raised, for JSON.
pub(crate) fn overflow_of(carriage: Carriage) -> &'static str {
    match carriage {
        Carriage::Plain => "value",
        Carriage::Gradient => "gradient",
        Carriage::Tangent => "tangent",
        Carriage::SecondGradient | Carriage::GradientTangent => "second derivative",
    }
}

fn flag(
    module: &Module,
    sources: &Sources,
    reporter: &Reporter,
    at: u32,
    code: &'static str,
    message: &str,
    help: &str,
) {
    let mut d = Diagnostic::warning(code, message).help(help);
    match trapped::place(module, sources, at) {
        Some(place) => d = d.at(place, "first here"),
        None => d.message = format!("{}: {message}", line_of(module, at)),
    }
    reporter.diagnostic(&d, sources);
}
