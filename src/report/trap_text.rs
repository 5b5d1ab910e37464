//! The title of a trap: what is wrong with the program, regardless of which code detected it.
//!
//! Which instruction of compiled code detects a mistake first may depend on the optimisation level. One of several
//! instructions notices that the conditions of a branch disagree; and in a run backward, an access beyond the memory
//! may come before the check of its index.

use pendula_compiler::lower::{disagrees, reaches_frame};
use pendula_isa::counts::Direction;
use pendula_isa::inst::Kind;
use pendula_isa::module::Module;
use pendula_isa::operand::Operand;
use pendula_isa::table::Row;
use pendula_isa::{Fault, Reg};
use pendula_vm::Trap;

/// The error code for conditions that disagree, in compiled code, which has texts for them.
pub const DISAGREE: &str = "P0109";
/// Its title.
pub const DISAGREE_TITLE: &str = "conditions disagree";

/// The parts of a trap's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrapText<'m> {
    /// The fault.
    pub fault: Fault,
    /// The error code.
    pub code: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The program's reason for the failed check, if there is one.
    pub reason: Option<&'m str>,
    /// The advice for authors of assembly.
    pub help: &'static str,
}

/// The title for a temporary of an instruction by definition that is not zero at the end.
const UNCLEAN_TITLE: &str = "a temporary must be clear at the end of its instruction, and is not";
const UNCLEAN_HELP: &str = "undo in the definition what made it; or make it an operand, if it is a result";

/// The parts of the message for a trap of a module.
pub fn trap_text<'m>(trap: &Trap, module: &'m Module) -> TrapText<'m> {
    let other = || trap.other.as_ref().and_then(|(at, _)| module.reason(*at));
    let reason = module.reason(trap.at).or_else(other);
    let disagree = |fault| matches!(fault, Fault::WrongEntry | Fault::WrongEntryBack | Fault::WrongLanding);
    match trap.fault {
        fault if trap.left_temporary().is_some() => {
            TrapText { title: UNCLEAN_TITLE, help: UNCLEAN_HELP, ..plain(fault, reason) }
        }
        fault if disagree(fault) && reason.is_some() || reason.is_some_and(disagrees) => {
            TrapText { fault, code: DISAGREE, title: DISAGREE_TITLE, reason, help: fault.help() }
        }
        Fault::Memory if is_compiled(module, trap.at) && !trap.beyond && !is_stack(trap, module) => {
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

/// The message and the advice for a stack that reached the end of memory.
fn stack(trap: &Trap) -> Option<(&'static str, &'static str)> {
    let Kind::Row { row, inverse, .. } = trap.inst.kind else { return None };
    if !row.info().moves_sp {
        return None;
    }
    // The `ret` of a procedure pops the link that a call pushes, in either direction.
    let puts = match row {
        Row::Push => inverse == (trap.direction == Direction::Backward),
        Row::Proc => false,
        _ => true,
    };
    let sp = trap.values.iter().find(|v| v.operand == Operand::Reg(Reg::SP) && v.address.is_none())?.word?;
    match (puts, sp.cast_signed()) {
        (false, ..=0) => Some((
            "the stack is empty",
            "each `pop` needs a `push` before it; running backward, each `push` needs a `pop`",
        )),
        (true, 0..) => Some((
            "no memory is left for the stack",
            "enlarge the memory with `.mem` or `--mem`; or make sure that pushed words are popped again, and that recursion ends",
        )),
        _ => None,
    }
}

/// True if an instruction was compiled from Nil or Janus.
pub fn is_compiled(module: &Module, at: u32) -> bool {
    module.is_compiled(at as usize)
}

/// True if it was compiled from Janus.
pub fn is_janus(module: &Module, at: u32) -> bool {
    module.is_janus(at as usize)
}

/// True if an instruction concerns the stack: calls, words in a frame, and the beginning and the end of arrays.
fn is_stack(trap: &Trap, module: &Module) -> bool {
    let moves = |kind: Kind| matches!(kind, Kind::Row { row, .. } if row.info().moves_sp);
    let frame = |o: Operand| matches!(o, Operand::Mem { base, .. } if reaches_frame(base));
    let loc = module.loc(trap.at as usize);
    let here = || (0..module.code.len()).filter(|at| module.loc(*at) == loc);
    let allocates = |at: usize| module.code[at].operands().any(|(_, o)| o == Operand::Reg(Reg::SP));
    moves(trap.inst.kind) || trap.inst.operands().any(|(_, o)| frame(o)) || here().any(allocates)
}

/// The text for an index that led to a word beyond the memory: that of its check, if the line still has the check.
fn index<'m>(trap: &Trap, module: &'m Module) -> &'m str {
    let line = |at: u32| module.loc(at as usize).map(|(file, loc)| (file, loc.line));
    let here = module.reasons.iter().filter(|r| r.text.contains(" lies outside ") && line(r.at) == line(trap.at));
    let mut says = here.map(|r| &*r.text);
    match says.next() {
        Some(first) if says.all(|other| other == first) => first,
        Some(_) | None => "an index lies outside its array",
    }
}
