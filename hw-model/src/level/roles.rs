//! The role of each instruction in a forward run.

use pendula_isa::GateClass;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::{Module, Span};
use pendula_isa::operand::{Operand, Slot};
use pendula_isa::table::{Flow, Row, TableFn, f_fn, int_fn, l_fn, q_fn};
use pendula_isa::types::{Acc, Reg};

use super::inverse::writes;
use super::{Observed, Role};

/// The code between a routine and its undoing, and the registers that the routine writes.
struct UseInterval {
    routine: u32,
    start: u32,
    end: u32,
    /// Whether marks say that it is undone.
    marked: bool,
    written: [bool; Reg::COUNT],
    memory: bool,
}

/// Of the module's spans, the first `marked` come from marks.
fn use_intervals(module: &Module, marked: usize) -> Vec<UseInterval> {
    let mut out = Vec::new();
    let mut open: Vec<&Span> = Vec::new();
    let mut spans: Vec<(usize, &Span)> = module.spans.iter().enumerate().collect();
    spans.sort_by_key(|(_, s)| (s.start, std::cmp::Reverse(s.end)));
    for (n, span) in spans {
        if !span.undo {
            open.push(span);
        } else if let Some(at) = open.iter().rposition(|s| s.name == span.name) {
            let routine = open.remove(at);
            let mut interval = UseInterval {
                routine: routine.start,
                start: routine.end,
                end: span.start,
                marked: n < marked,
                written: [false; Reg::COUNT],
                memory: false,
            };
            for inst in module.code.get(routine.start as usize..routine.end as usize).unwrap_or_default() {
                for slot in inst.kind.layout() {
                    match slot {
                        Slot::Target(f) => interval.written[inst.regs[f as usize].index()] = true,
                        Slot::TargetMem(_) | Slot::TargetMemPlain(_) => interval.memory = true,
                        _ => {}
                    }
                }
            }
            out.push(interval);
        }
    }
    out
}

/// The role of each instruction in a forward run, where it was executed `executed` times.
pub(super) fn roles(module: &Module, marked: usize, executed: &[u64], seen: &[Observed]) -> Vec<Role> {
    let mut out: Vec<Role> = module.code.iter().map(role).collect();
    let code = |start: u32, end: u32| start as usize..(end as usize).min(module.code.len());
    let intervals = use_intervals(module, marked);
    for interval in intervals.iter().filter(|i| i.marked) {
        for at in code(interval.start, interval.end).filter(|at| copies(&module.code[*at], interval)) {
            out[at] = Role::Copy;
        }
    }
    for (role, seen) in out.iter_mut().zip(seen).filter(|(role, _)| matches!(role, Role::Compute | Role::Copy)) {
        if seen.filled > 0 && seen.cleared == seen.times {
            *role = Role::Uncompute;
        } else if seen.times > 0 && seen.moved == seen.times {
            *role = Role::Move;
        }
    }
    for span in module.spans.iter().filter(|s| s.undo) {
        out[code(span.start, span.end)].fill(Role::Uncompute);
    }
    // What serves only to uncompute is not needed without it; neither is then what serves only that.
    loop {
        let serves = |i: &&UseInterval| {
            let used = || code(i.start, i.end).filter(|at| executed.get(*at).is_some_and(|n| *n > 0));
            code(i.routine, i.start).any(|at| out[at] == Role::Compute)
                && used().any(|at| out[at] == Role::Uncompute && writes(&module.code[at]))
                && used().all(|at| matches!(out[at], Role::Uncompute | Role::Check | Role::Move | Role::Save))
        };
        let found: Vec<_> = intervals.iter().filter(serves).map(|i| code(i.routine, i.start)).collect();
        if found.is_empty() {
            return out;
        }
        found.into_iter().for_each(|routine| out[routine].fill(Role::Uncompute));
    }
}

/// Whether a function begins with this instruction.
pub(super) fn begins(inst: &Inst) -> bool {
    matches!(inst.kind, Kind::Row { row: Row::Start | Row::Proc, inverse: false, .. })
}

/// The role of an instruction by its kind.
fn role(inst: &Inst) -> Role {
    match inst.kind {
        Kind::Accumulate { .. } | Kind::Extension { .. } => Role::Compute,
        Kind::Row { row, inverse, .. } => match row.info().flow {
            // Of each pair, the half that is entered.
            Flow::Jump if inverse => Role::Check,
            Flow::Procedure if !inverse => Role::Check,
            Flow::Run | Flow::Cell => Role::Host,
            Flow::Branch(_) | Flow::Jump | Flow::Procedure | Flow::Call | Flow::GradientCall | Flow::CallRegister => {
                Role::Compute
            }
            Flow::Straight => match row.info().class {
                GateClass::Host => Role::Host,
                GateClass::Check => Role::Check,
                _ if row.info().moves_sp => Role::Save,
                _ => Role::Compute,
            },
        },
    }
}

/// Whether an instruction copies a word that a routine has written, unchanged, to one that it has not written.
fn copies(inst: &Inst, interval: &UseInterval) -> bool {
    let Kind::Accumulate { acc, func, .. } = inst.kind else { return false };
    if !matches!(acc, Acc::Add | Acc::Xor | Acc::Mul) || !is_identity(func) {
        return false;
    }
    let mut operands = inst.operands().map(|(_, operand)| operand);
    let written = |operand: Option<Operand>| match operand {
        Some(Operand::Reg(r)) => interval.written[r.index()],
        Some(Operand::Mem { .. }) => interval.memory,
        _ => false,
    };
    let target = operands.next();
    // A result may go to any address of memory, wherever the routine wrote.
    (matches!(target, Some(Operand::Mem { .. })) || !written(target)) && written(operands.next())
}

fn is_identity(func: TableFn) -> bool {
    match func {
        TableFn::Int(f) => f == int_fn::Name::Id,
        TableFn::Q(f) => f == q_fn::Name::Id,
        TableFn::L(f) => f == l_fn::Name::Id,
        TableFn::F(f) => f == f_fn::Name::Id,
    }
}
