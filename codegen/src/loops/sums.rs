//! Checks of sums in loops that one check after the loop does for all turns. A sum that is not finite stays so. Of one that only grows, or only
//! shrinks, the last partial sum is the largest, or the first is, which has been looked at.

use super::mentions::{Events, mention};
use super::{Block, Count, Local, Place, Program, Slot, Stmt, Value};
use crate::ops::{Float, Kernel, Op, ValueId};
use pendula_isa::num::raw::facts;

/// The bits of the greatest finite number.
pub(super) const GREATEST: u64 = f64::MAX.to_bits();

/// Moves checks of sums behind loops.
pub fn check_sums_once(program: &mut Program) {
    let Program { functions, kernels, checks_finite, .. } = program;
    functions.iter_mut().for_each(|f| list(&mut f.body, kernels, *checks_finite));
}

fn list(statements: &mut [Stmt], kernels: &[Kernel], checks_finite: bool) {
    for s in statements {
        s.lists().into_iter().for_each(|inner| list(inner, kernels, checks_finite));
        if let Stmt::Count(count) = s {
            let found = monotone_sums(&count.body, kernels);
            for (local, limit) in found {
                count.body.iter_mut().for_each(|s| unlimit(s, local));
                count.limits_after.push((local, limit));
            }
            if checks_finite && count.blocks.is_none() {
                for local in finite_sums(&count.body) {
                    count.body.iter_mut().for_each(|s| leave_unchecked(s, local));
                    count.limits_after.push((local, Value::Const(GREATEST)));
                }
            }
        }
    }
}

/// The variables to which a turn adds something once, of which the sum is looked at for being finite, and which it does not change otherwise.
fn finite_sums(body: &[Stmt]) -> Vec<Local> {
    let mut sums = Vec::new();
    in_turn(body, &mut |block| sums.extend(block.ops.iter().filter_map(|op| finite_sum(block, op))));
    let Some(events) = events_of(body).filter(|_| !sums.is_empty()) else { return Vec::new() };
    sums.retain(|local| changes(&events, *local) == 1);
    sums
}

/// What statements do to local variables, if that is known.
fn events_of(body: &[Stmt]) -> Option<Events> {
    let mut events = Events::new();
    body.iter().try_for_each(|s| mention(s, &mut events)).map(|()| events)
}

/// How often a local variable is changed.
fn changes(events: &Events, local: Local) -> usize {
    events.iter().filter(|(l, begins, writes)| *l == local && (*begins || *writes)).count()
}

/// The variables with a limit to which a turn adds something once, and which it does not change otherwise, and their limits, which are the same in
/// all turns: whether a partial sum was above its limit can be told after the loop from the greatest of them, as one that is no number
/// stays so.
pub fn limited_sums(count: &Count) -> Vec<(Local, Value)> {
    let mut sums = Vec::new();
    for s in &count.body {
        if let Stmt::Block(block) = s
            && let Some(limit) = block.limit
        {
            let all = block.ops.iter().filter_map(|op| sum_with(block, op)).map(|(local, _)| local);
            sums.extend(all.filter(|local| local_of(block, 1) == Some(*local)).map(|local| (local, limit)));
        }
    }
    let Some(events) = events_of(&count.body).filter(|_| !sums.is_empty()) else { return Vec::new() };
    sums.retain(|(local, limit)| {
        let fixed = match limit {
            Value::Const(_) => true,
            Value::Place(Place::Local(limit)) => changes(&events, *limit) == 0,
            Value::Place(Place::Memory(_) | Place::Log(_)) => false,
        };
        fixed && changes(&events, *local) == 1
    });
    sums
}

/// The blocks that every turn comes to.
fn in_turn<'s>(body: &'s [Stmt], f: &mut impl FnMut(&'s Block)) {
    for s in body {
        match s {
            Stmt::Block(block) => f(block),
            Stmt::InMode(_, inner) => in_turn(inner, f),
            _ => {}
        }
    }
}

/// The variable that an operation sets to the sum of itself and something else, which is looked at for being finite.
fn finite_sum(block: &Block, op: &Op) -> Option<Local> {
    let (local, sum) = sum_with(block, op)?;
    let has_limit = block.limit.is_some() && local_of(block, 1) == Some(local);
    (!has_limit && block.ops.contains(&Op::Finite(sum))).then_some(local)
}

/// The variable that an operation sets to the sum of itself and something else in any case, and this sum.
fn sum_with(block: &Block, op: &Op) -> Option<(Local, ValueId)> {
    let Op::Set(0, reg, sum) = *op else { return None };
    let local = local_of(block, reg)?;
    let before = |v: ValueId| block.ops[v.0 as usize] == Op::Get(0, reg);
    let adds = match block.ops[sum.0 as usize] {
        Op::Float(Float::Add, a, b) => before(a) || before(b),
        Op::Float(Float::Sub, a, _) => before(a),
        _ => false,
    };
    let straight = !block.ops.iter().any(|op| matches!(op, Op::If(_)));
    (adds && straight).then_some((local, sum))
}

/// Removes the check for being finite where a sum is written to a variable.
fn leave_unchecked(s: &mut Stmt, local: Local) {
    match s {
        Stmt::InMode(_, inner) => inner.iter_mut().for_each(|s| leave_unchecked(s, local)),
        Stmt::Block(block) => {
            let sum = block.ops.iter().find_map(|op| match *op {
                Op::Set(0, reg, v) if local_of(block, reg) == Some(local) => Some(v),
                _ => None,
            });
            let check = |op: &&mut Op| matches!(**op, Op::Finite(v) if Some(v) == sum);
            block.ops.iter_mut().filter(check).for_each(|op| *op = Op::Const(0));
        }
        _ => {}
    }
}

/// The variables to which a turn adds squares, magnitudes or exponentials, in one block, and their limits.
fn monotone_sums(body: &[Stmt], kernels: &[Kernel]) -> Vec<(Local, Value)> {
    let mut sums = Vec::new();
    for s in body {
        match s {
            Stmt::Block(block) => sums.extend(monotone_sum(block, kernels)),
            Stmt::CheckZero(_) | Stmt::CheckCarried(_) | Stmt::Inside(_) | Stmt::Clear(_) => {}
            // What else is done with the sum is not followed.
            _ => return Vec::new(),
        }
    }
    let written_once = |local: Local| {
        let of = |s: &Stmt| match s {
            Stmt::Block(block) => block.ops.iter().filter(|op| writes(block, op, local)).count(),
            Stmt::Clear(cleared) => 2 * usize::from(*cleared == local),
            _ => 0,
        };
        body.iter().map(of).sum::<usize>() == 1
    };
    sums.retain(|(local, _)| written_once(*local));
    sums
}

/// Whether an operation writes the value of a local variable.
fn writes(block: &Block, op: &Op, local: Local) -> bool {
    matches!(*op, Op::Set(0, reg, _) if local_of(block, reg) == Some(local))
}

/// The local variable that an operand's value is.
fn local_of(block: &Block, reg: u8) -> Option<Local> {
    match block.slots.get(usize::from(reg)).copied().flatten()? {
        Slot::Place(Place::Local(local), _) => Some(local),
        Slot::Word(word) => match word.place {
            Place::Local(local) if word.lane == 0 => Some(local),
            _ => None,
        },
        Slot::Place(..) | Slot::Passed(..) => None,
    }
}

/// The variable with a limit to which a block adds what has one sign.
fn monotone_sum(block: &Block, kernels: &[Kernel]) -> Option<(Local, Value)> {
    let limit = block.limit?;
    let local = local_of(block, 1)?;
    let written = block.ops.iter().find_map(|op| if let Op::Set(0, 1, v) = *op { Some(v) } else { None })?;
    let op = |v: ValueId| block.ops[v.0 as usize];
    let before = |v: ValueId| op(v) == Op::Get(0, 1);
    let same =
        |a: ValueId, b: ValueId| a == b || matches!((op(a), op(b)), (Op::Get(l, r), Op::Get(m, s)) if (l, r) == (m, s));
    let one_sign = |v: ValueId| match op(v) {
        Op::Abs(_) | Op::Sqrt(_) => true,
        Op::Kernel(kernel, _) => facts(kernels[kernel as usize].name).is_some_and(|facts| facts.not_negative),
        Op::Float(Float::Mul, a, b) => same(a, b),
        _ => false,
    };
    let monotone = match op(written) {
        Op::Float(Float::Add, a, b) => before(a) && one_sign(b) || before(b) && one_sign(a),
        Op::Float(Float::Sub, a, b) => before(a) && one_sign(b),
        _ => false,
    };
    // A conditional sum might not be what it seems.
    let straight = !block.ops.iter().any(|op| matches!(op, Op::If(_)));
    (monotone && straight).then_some((local, limit))
}

/// Removes the check from the block that writes a variable with a limit.
fn unlimit(s: &mut Stmt, local: Local) {
    let Stmt::Block(block) = s else { return };
    if block.limit.is_none() || local_of(block, 1) != Some(local) {
        return;
    }
    block.limit = None;
    // A sum that is not finite stays so.
    leave_unchecked(s, local);
}
