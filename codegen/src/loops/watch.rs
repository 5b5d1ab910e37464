//! Which loops tell where a run is, if it is asked: the outermost ones. Inner loops have marks only where those around them have few turns,
//! so that nothing is looked at in loops that do most of the work.

use std::collections::HashSet;

use super::{Bound, Count, FunctionId, Program, Step, Stmt};

/// The most turns of a loop of which the loops within are watched in its place.
const FEW: u64 = 16;

/// How many turns of a loop that contains nothing but operations are made between two looks.
pub const TURNS: u64 = 1 << 16;

/// Removes the marks of all loops but those that are to be watched.
pub fn watch_outer_loops(program: &mut Program) {
    let mut outer: HashSet<FunctionId> = HashSet::new();
    let mut waiting: Vec<FunctionId> = program.entries.iter().map(|entry| entry.function).collect();
    while let Some(id) = waiting.pop() {
        if outer.insert(id) {
            calls(&program.functions[id.0 as usize].body, &mut waiting);
        }
    }
    for (n, function) in program.functions.iter_mut().enumerate() {
        let outer = outer.contains(&FunctionId(n as u32));
        function.body.iter_mut().for_each(|s| unmark(s, outer));
    }
}

/// The functions that are called outside of watched loops.
fn calls(statements: &[Stmt], out: &mut Vec<FunctionId>) {
    for s in statements {
        match s {
            Stmt::Call(id, _) => out.push(*id),
            Stmt::InMode(_, inner) => calls(inner, out),
            Stmt::Count(count) if has_few_turns(count) => calls(&count.body, out),
            Stmt::If { then, otherwise, .. } | Stmt::IfSame { then, otherwise, .. } => {
                calls(then, out);
                calls(otherwise, out);
            }
            _ => {}
        }
    }
}

/// Removes marks in a statement. `outer` tells whether it is in no watched loop.
fn unmark(s: &mut Stmt, outer: bool) {
    match s {
        Stmt::InMode(_, inner) => inner.iter_mut().for_each(|s| unmark(s, outer)),
        Stmt::If { then, otherwise, .. } | Stmt::IfSame { then, otherwise, .. } => {
            then.iter_mut().chain(otherwise).for_each(|s| unmark(s, outer));
        }
        Stmt::Loop(mark, body) => {
            *mark = mark.filter(|_| outer);
            body.iter_mut().for_each(|s| unmark(s, false));
        }
        Stmt::Count(count) => {
            let few = has_few_turns(count);
            let short = count.body.iter().all(is_short) && turns(count).is_some_and(|n| n <= TURNS);
            count.mark = count.mark.filter(|_| outer && !few && !short);
            count.body.iter_mut().for_each(|s| unmark(s, outer && few));
        }
        _ => {}
    }
}

/// How many turns a loop has, if that is known.
pub(super) fn turns(count: &Count) -> Option<u64> {
    let (Bound::Const(first), Bound::Const(last), Step::Const(step)) = (count.first, count.last, count.step) else {
        return None;
    };
    let way = last.cast_signed().checked_sub(first.cast_signed())?.checked_div(step)?;
    Some(way.saturating_add(1).max(0).cast_unsigned())
}

fn has_few_turns(count: &Count) -> bool {
    turns(count).is_some_and(|n| n <= FEW)
}

/// Whether a statement contains neither loops nor calls.
pub fn is_short(s: &Stmt) -> bool {
    match s {
        Stmt::Loop(..) | Stmt::Count(_) | Stmt::Call(..) => false,
        Stmt::InMode(_, inner) => inner.iter().all(is_short),
        Stmt::If { then, otherwise, .. } | Stmt::IfSame { then, otherwise, .. } => {
            then.iter().chain(otherwise).all(is_short)
        }
        _ => true,
    }
}
