//! The messages of checks in compiled code that fail.

use pendula_isa::class::GateClass;
use pendula_isa::scalar;
use pendula_isa::table::{Flow, TableFn};
use pendula_isa::{Env, Fault, Inst, Kind};

use super::emit::EmittedInst;
use super::ops::CheckReason;
use crate::ir::{IrFunction, Program, Stmt};

const BRANCH: &str = "the condition after the branches is not what the one before them was";
const TURN: &str = "the condition after an iteration must be false before the first one, and true after each";

/// Whether a message says that conditions disagree. A jump detects that or, if a condition computes something, a check of
/// its flag.
pub(super) fn disagrees(reason: &str) -> bool {
    reason == BRANCH || reason == TURN
}

impl CheckReason {
    /// The reason of a statement's checks, apart from those of statements within it.
    pub(super) fn of(stmt: &Stmt) -> Option<CheckReason> {
        match stmt {
            Stmt::Assert { reason, .. } => reason.map(CheckReason::Text),
            Stmt::Ancilla { var, .. } => Some(CheckReason::Variable(var.0)),
            Stmt::Array { region, .. } => Some(CheckReason::Words(region.0)),
            Stmt::If { .. } => Some(CheckReason::Branch),
            Stmt::While { .. } => Some(CheckReason::Turn),
            Stmt::Update { .. }
            | Stmt::Permute { .. }
            | Stmt::Call { .. }
            | Stmt::For { .. }
            | Stmt::With { .. }
            | Stmt::Span { .. }
            | Stmt::Show { .. }
            | Stmt::Print(_) => None,
        }
    }

    /// The reason of an instruction that divides by 0.
    pub(super) fn of_divisor(program: &Program, coded: &EmittedInst) -> Option<CheckReason> {
        match coded.inst.kind {
            Kind::Accumulate { func, .. } if divides(func) => {
                program.divisors.get(&coded.loc).copied().map(CheckReason::Text)
            }
            Kind::Accumulate { .. } | Kind::Row { .. } | Kind::Extension { .. } => None,
        }
    }

    /// Whether an instruction makes a check with this reason.
    pub(super) fn concerns(self, inst: &Inst) -> bool {
        match inst.kind.flow() {
            Flow::Straight => matches!(inst.kind, Kind::Row { row, .. } if row.info().class == GateClass::Check),
            // The `from` of a pair.
            Flow::Jump => {
                matches!((self, inst.kind), (CheckReason::Branch | CheckReason::Turn, Kind::Row { inverse: true, .. }))
            }
            Flow::Procedure
            | Flow::Run
            | Flow::Call
            | Flow::GradientCall
            | Flow::CallRegister
            | Flow::Branch(_)
            | Flow::Cell => false,
        }
    }

    /// The message.
    pub(super) fn text(self, program: &Program, function: &IrFunction) -> String {
        let region = |n: u32| function.regions.get(n as usize).map_or("", |r| r.name.as_str());
        match self {
            CheckReason::Text(n) => program.reasons.get(n as usize).cloned().unwrap_or_default(),
            CheckReason::Variable(n) => variable(function.vars.get(n as usize).map_or("", |v| v.name.as_str())),
            CheckReason::Words(n) => format!("`{}` does not have the elements that it is deallocated with", region(n)),
            CheckReason::Length(n) => format!("`{}` has a negative length", region(n)),
            CheckReason::Branch => BRANCH.to_string(),
            CheckReason::Turn => TURN.to_string(),
        }
    }
}

/// Whether a function divides by its second argument, so that it has no value if that is 0. The table's definition decides.
fn divides(func: TableFn) -> bool {
    func.info().args.len() == 2 && scalar::value(Env::default(), func, [1, 0, 0]) == Err(Fault::DivideByZero)
}

/// Advice for a loop that changes its range.
pub(super) const RANGE_ADVICE: &str =
    "a loop ends with the range that it began with: change a copy, or undo the change before the loop ends";

/// Messages for variables that the compiler made and that do not end as zero: the end of the variable's name, the message
/// before and after the name of what it was made for, and the advice, unless that is to deallocate something with its value.
const GENERATED_VARIABLES: &[(&str, (&str, &str), Option<&str>)] = &[
    ("bound", ("the loop over `", "` has changed its own bounds"), Some(RANGE_ADVICE)),
    ("step", ("the loop over `", "` has changed its own step"), Some(RANGE_ADVICE)),
    (
        "count",
        ("the vector `", "` is not empty where it is deallocated"),
        Some("take its elements before: `x[end] ↔ y::∅`, `x[end] → e`"),
    ),
    (
        "top",
        ("what is taken from `", "` is another value"),
        Some("take the elements back in the order in which they were pushed, with their values"),
    ),
    ("words", ("the length of `", "` is computed from what has changed since"), None),
    (
        "size",
        ("`", "` ends with another size than it begins with"),
        Some("give `delocal` the size that `local` gave, or an equal one"),
    ),
    ("value", ("`", "` leaves more than rounding where it is undone"), None),
    (
        "argument",
        ("what is given for `", "` does not have its value any more after the call"),
        Some("let the call leave what the value is made of, and the parameter, as they were"),
    ),
    (
        "index",
        ("the index of `", "` has changed during the call"),
        Some("let the call leave what the index is made of as it was"),
    ),
    ("constant", ("the call has changed `", "`, which is constant"), Some("let the call leave it as it was")),
    (
        "quotient",
        ("`", "` is no multiple of what it is divided by"),
        Some("divide in place only what leaves no remainder"),
    ),
    (
        "pushed",
        ("what is popped from `", "` is another value"),
        Some("pop the value that is on top of the stack, or pop into a variable"),
    ),
];

/// The message for a variable that does not end as zero.
fn variable(name: &str) -> String {
    let made = name.rsplit_once('.').and_then(|(of, part)| {
        let part = match part {
            _ if part.starts_with("len") => "words",
            _ if part.starts_with("size") => "size",
            _ => part,
        };
        // The names of a loop's range begin with the counter, followed by what has changed.
        let of = if matches!(part, "bound" | "step") { of.split('.').next().unwrap_or(of) } else { of };
        let (_, (before, after), _) = GENERATED_VARIABLES.iter().find(|(end, ..)| *end == part)?;
        Some(format!("{before}{of}{after}"))
    });
    made.unwrap_or_else(|| format!("`{name}` does not have the value that it is deallocated with"))
}

/// The advice for a message.
pub(super) fn advice(reason: &str) -> Option<&'static str> {
    let is = |(before, after): (&str, &str)| reason.starts_with(before) && reason.ends_with(after);
    GENERATED_VARIABLES.iter().find(|(_, words, _)| is(*words)).and_then(|(_, _, advice)| *advice)
}
