//! How a run ended, and what it noticed, as text and JSON.

use pendula::asm::diagnostic::{Diagnostic, Sources};
use pendula::isa::module::Module;
use pendula::vm::{Carriage, Machine, Outcome};
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
    noticed(machine, sources, reporter, machine.flags().overflow.map(|at| (at, Carriage::Plain)));
}

/// Tells why a run stopped, if it did not end.
pub(crate) fn ended(
    outcome: &Outcome,
    machine: &Machine<'_>,
    sources: &Sources,
    reporter: &Reporter,
    max_steps: Option<u64>,
) {
    let module = machine.program().module();
    match outcome {
        Outcome::Finished => {}
        Outcome::NoCode(message) => reporter.failure(&anyhow::anyhow!("{message}")),
        Outcome::Trap(trap) => trapped::report(trap, module, sources, reporter, machine.env().ieee),
        Outcome::Limit => {
            let n = max_steps.unwrap_or_default();
            let mut d = Diagnostic::error("P0130", format!("the run did not end within {n} instructions"))
                .help("raise the limit with `--max-steps`, or look where it is with `pendula run --trace`");
            if let Some(at) = machine.pc().and_then(|pc| trapped::place(module, sources, pc)) {
                let how = trapped::running(machine.direction(), machine.carriage());
                let comma = if how.is_empty() { "" } else { "," };
                d = d.at(at, format!("the next instruction{comma}{how}"));
            }
            reporter.diagnostic(&d, sources);
        }
    }
}

/// Tells what a run noticed: where a fixed-point number first overflowed, with what words carried then, and the inexact flag.
pub(crate) fn noticed(
    machine: &Machine<'_>,
    sources: &Sources,
    reporter: &Reporter,
    overflow: Option<(u32, Carriage)>,
) {
    let module = machine.program().module();
    if let Some((at, carriage)) = overflow {
        let scale = "choose a `.format` with more integer bits, or scale by `--seed`";
        let (message, help) = match carriage {
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
    if let Some(at) = machine.flags().inexact {
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
