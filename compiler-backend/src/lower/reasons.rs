//! What compiled code says where a check of it fails: which checks have something to say, and the words.

use pendula_isa::class::GateClass;
use pendula_isa::table::int_fn::Fn;
use pendula_isa::table::{Flow, Func};
use pendula_isa::{Inst, Kind};

use super::emit::Coded;
use super::ops::Said;
use crate::ir::{Function, Program, Stmt};

impl Said {
    /// What the checks of a statement say, those of statements within it aside.
    pub(super) fn of(stmt: &Stmt) -> Option<Said> {
        match stmt {
            Stmt::Assert { says, .. } => says.map(Said::Text),
            Stmt::Ancilla { var, .. } => Some(Said::Variable(var.0)),
            Stmt::Array { region, .. } => Some(Said::Words(region.0)),
            Stmt::If { .. } => Some(Said::Branch),
            Stmt::While { .. } => Some(Said::Turn),
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

    /// What is said where an instruction divides by 0.
    pub(super) fn of_divisor(program: &Program, coded: &Coded) -> Option<Said> {
        let Kind::Accumulate { func: Func::Int(Fn::Div | Fn::Mod | Fn::Udiv | Fn::Umod), .. } = coded.inst.kind else {
            return None;
        };
        program.divisors.get(&coded.loc).copied().map(Said::Text)
    }

    /// Whether an instruction makes a check that this is about.
    pub(super) fn concerns(self, inst: &Inst) -> bool {
        match inst.kind.flow() {
            Flow::Straight => matches!(inst.kind, Kind::Row { row, .. } if row.info().class == GateClass::Check),
            // The `from` of a pair.
            Flow::Jump => matches!((self, inst.kind), (Said::Branch | Said::Turn, Kind::Row { inverse: true, .. })),
            Flow::Procedure
            | Flow::Run
            | Flow::Call
            | Flow::GradientCall
            | Flow::CallRegister
            | Flow::Branch(_)
            | Flow::Cell => false,
        }
    }

    /// In words.
    pub(super) fn text(self, program: &Program, function: &Function) -> String {
        let region = |n: u32| function.regions.get(n as usize).map_or("", |r| r.name.as_str());
        match self {
            Said::Text(n) => program.reasons.get(n as usize).cloned().unwrap_or_default(),
            Said::Variable(n) => variable(function.vars.get(n as usize).map_or("", |v| v.name.as_str())),
            Said::Words(n) => format!("`{}` does not have the elements that it is deallocated with", region(n)),
            Said::Length(n) => format!("`{}` has a negative length", region(n)),
            Said::Branch => "the condition after the branches is not what the one before them was".to_string(),
            Said::Turn => {
                "the condition after a turn must be false before the first one, and true after each".to_string()
            }
        }
    }
}

/// What is wrong if a variable does not end as zero.
fn variable(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((of, "bound")) => format!("the loop over `{of}` has changed its own bounds"),
        Some((of, part)) if part == "words" || part.starts_with("len") => {
            format!("the length of `{of}` is computed from what has changed since")
        }
        Some((of, "value")) => format!("`{of}` leaves more than rounding where it is undone"),
        Some((of, "argument")) => format!("what is given for `{of}` does not have its value any more after the call"),
        Some((of, "index")) => format!("the index of `{of}` has changed during the call"),
        Some((of, "constant")) => format!("the call has changed `{of}`, which is constant"),
        Some((of, "quotient")) => format!("`{of}` is no multiple of what it is divided by"),
        Some((of, "pushed")) => format!("what is popped from `{of}` is another value"),
        Some(_) | None => format!("`{name}` does not have the value that it is deallocated with"),
    }
}
