//! The title of a trap: what is wrong with the program, whatever code detected it.
//!
//! Which instruction of compiled code comes upon a mistake first may depend on the optimisation level: that the conditions of a branch disagree is
//! noticed by one of several instructions, and a word beyond the memory may be met, in a run backward, before the check of its index.

use pendula_compiler::lower::{disagrees, reaches_frame};
use pendula_isa::counts::Direction;
use pendula_isa::inst::Kind;
use pendula_isa::module::Module;
use pendula_isa::operand::Operand;
use pendula_isa::table::Row;
use pendula_isa::{Fault, Reg};
use pendula_vm::Trap;

/// The code of conditions that disagree, of those that have words to say so: compiled ones.
pub const DISAGREE: &str = "P0109";
/// Its title.
pub const DISAGREE_TITLE: &str = "conditions disagree";

/// What a trap is told as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrapText<'m> {
    /// What was wrong.
    pub fault: Fault,
    /// The error code.
    pub code: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What the program says of the check that failed, if anything.
    pub reason: Option<&'m str>,
    /// What to do about the fault, to who wrote assembly.
    pub help: &'static str,
}

/// What a trap of a module is told as.
pub fn told<'m>(trap: &Trap, module: &'m Module) -> TrapText<'m> {
    let other = || trap.other.as_ref().and_then(|(at, _)| module.reason(*at));
    let reason = module.reason(trap.at).or_else(other);
    let disagree = |fault| matches!(fault, Fault::WrongEntry | Fault::WrongEntryBack | Fault::WrongLanding);
    match trap.fault {
        fault if disagree(fault) && reason.is_some() || reason.is_some_and(disagrees) => {
            TrapText { fault, code: DISAGREE, title: DISAGREE_TITLE, reason, help: fault.help() }
        }
        Fault::Memory if is_compiled(module, trap.at) && !is_stack(trap, module) => {
            let fault = Fault::Assert;
            TrapText { reason: Some(index(trap, module)), ..plain(fault, None) }
        }
        fault @ Fault::Memory
            if !is_compiled(module, trap.at)
                && let Some((title, help)) = stack(trap) =>
        {
            TrapText { title, help, ..plain(fault, reason) }
        }
        fault => plain(fault, reason),
    }
}

fn plain(fault: Fault, reason: Option<&str>) -> TrapText<'_> {
    TrapText { fault, code: fault.code(), title: fault.title(), reason, help: fault.help() }
}

/// The message for a stack that has reached the end of memory, and the advice.
fn stack(trap: &Trap) -> Option<(&'static str, &'static str)> {
    let Kind::Row { row, inverse, .. } = trap.inst.kind else { return None };
    if !row.info().moves_sp {
        return None;
    }
    // A `ret` takes the link back that a call puts there, whichever way it runs.
    let puts = match row {
        Row::Push => inverse == (trap.direction == Direction::Backward),
        Row::Proc => false,
        _ => true,
    };
    let sp = trap.values.iter().find(|v| v.operand == Operand::Reg(Reg::SP) && v.address.is_none())?.word?;
    match (puts, sp.cast_signed()) {
        (false, ..=0) => Some((
            "the stack is empty",
            "each `pop` takes back what a `push` before it put on the stack; running backward, each `push` what a `pop` did",
        )),
        (true, 0..) => Some((
            "the stack has no room left",
            "enlarge the memory with `.mem` or `--mem`; or see that what is pushed is popped again, and that recursion ends",
        )),
        _ => None,
    }
}

/// Whether an instruction was made of a program in Nil or Janus.
pub fn is_compiled(module: &Module, at: u32) -> bool {
    module.is_compiled(at as usize)
}

/// Whether it was made of one in Janus.
pub fn is_janus(module: &Module, at: u32) -> bool {
    module.is_janus(at as usize)
}

/// Whether an instruction concerns the stack: calls, what lies in a frame, and arrays that begin or end.
fn is_stack(trap: &Trap, module: &Module) -> bool {
    let moves = |kind: Kind| matches!(kind, Kind::Row { row, .. } if row.info().moves_sp);
    let frame = |o: Operand| matches!(o, Operand::Mem { base, .. } if reaches_frame(base));
    let loc = module.loc(trap.at as usize);
    let here = || (0..module.code.len()).filter(|at| module.loc(*at) == loc);
    let allocates = |at: usize| module.code[at].operands().any(|(_, o)| o == Operand::Reg(Reg::SP));
    moves(trap.inst.kind) || trap.inst.operands().any(|(_, o)| frame(o)) || here().any(allocates)
}

/// What is said of the index by which a word beyond the memory was met: what its check says, if that has been left in this line.
fn index<'m>(trap: &Trap, module: &'m Module) -> &'m str {
    let line = |at: u32| module.loc(at as usize).map(|(file, loc)| (file, loc.line));
    let here = module.reasons.iter().filter(|r| r.text.contains(" lies outside ") && line(r.at) == line(trap.at));
    let mut says = here.map(|r| &*r.text);
    match says.next() {
        Some(first) if says.all(|other| other == first) => first,
        Some(_) | None => "an index lies outside its array",
    }
}
