//! What statements do to local variables.

use std::collections::{HashMap, HashSet};

use super::{Address, Argument, Block, Bound, Check, Count, Local, Place, Slot, Stmt, Test, Value, Word};
use crate::ops::Op;
use pendula_isa::adjoint::VALUE;

/// What happens to local variables, in order: which one, whether its life begins anew, and whether it is written.
pub(super) type Events = Vec<(Local, bool, bool)>;

/// Whether local variables begin anew with what happens to them first.
pub(super) fn begun<'e>(events: impl IntoIterator<Item = &'e (Local, bool, bool)>) -> HashMap<Local, bool> {
    let mut out = HashMap::new();
    events.into_iter().for_each(|(local, begins, _)| _ = out.entry(*local).or_insert(*begins));
    out
}

fn mention_address(at: Address, out: &mut Events) {
    out.extend(at.locals.into_iter().flatten().map(|local| (local, false, false)));
}

pub(super) fn mention_place(place: Place, out: &mut Events) {
    match place {
        Place::Local(local) => out.push((local, false, false)),
        Place::Memory(at) | Place::Log(at) => mention_address(at, out),
    }
}

fn mention_value(value: Value, out: &mut Events) {
    if let Value::Place(place) = value {
        mention_place(place, out);
    }
}

fn mention_block(block: &Block, out: &mut Events) {
    for slot in block.slots.iter().flatten() {
        match slot {
            Slot::Place(place, _) | Slot::Word(Word { place, .. }) => mention_place(*place, out),
            Slot::Passed(local, _) => out.push((*local, false, true)),
        }
    }
    block.limit.iter().for_each(|limit| mention_value(*limit, out));
    for op in &block.ops {
        if let Op::Set(_, reg, _) = op
            && let Some(Some(Slot::Place(Place::Local(local), _) | Slot::Word(Word { place: Place::Local(local), .. }))) =
                block.slots.get(usize::from(*reg))
        {
            out.push((*local, false, true));
        }
    }
}

pub(super) fn mention_test(test: &Test, out: &mut Events) {
    match test {
        Test::Flag(local) => out.push((*local, false, false)),
        Test::Integers(_, a, b) => [a, b].into_iter().for_each(|v| mention_value(*v, out)),
        Test::Block(block, _) => mention_block(block, out),
    }
}

/// What a statement does to local variables; `None` for statements that are not looked at.
pub(super) fn mention(s: &Stmt, out: &mut Events) -> Option<()> {
    match s {
        Stmt::Block(block) => mention_block(block, out),
        Stmt::Inside(at) => mention_address(*at, out),
        Stmt::GiveUp { test, .. } => mention_test(test, out),
        Stmt::InMode(_, inner) => inner.iter().try_for_each(|s| mention(s, out))?,
        Stmt::Clear(local) => out.push((*local, true, true)),
        Stmt::CheckZero(local) | Stmt::CheckCarried(local) => out.push((*local, false, false)),
        Stmt::Count(count) => mention_count(count, out)?,
        Stmt::If { test, then, otherwise, .. } => {
            mention_test(test, out);
            then.iter().chain(otherwise).try_for_each(|s| mention(s, out))?;
        }
        Stmt::Agree(test, _) => mention_test(test, out),
        Stmt::Define(local, from) => {
            from.iter().for_each(|word| mention_place(word.place, out));
            out.push((*local, true, true));
        }
        _ => return None,
    }
    Some(())
}

/// The local variables whose values statements change; `None` if they call functions, which may change those that they are lent.
pub fn values_changed_in(statements: &[Stmt]) -> Option<HashSet<Local>> {
    let mut out = HashSet::new();
    statements.iter().try_for_each(|s| change_values(s, &mut out))?;
    Some(out)
}

fn change_values(s: &Stmt, out: &mut HashSet<Local>) -> Option<()> {
    match s {
        Stmt::Call(..) => return None,
        Stmt::Block(block) => {
            for op in &block.ops {
                if let Op::Set(0, reg, _) = op
                    && let Some(Some(
                        Slot::Place(Place::Local(local), _)
                        | Slot::Word(Word { place: Place::Local(local), lane: VALUE, .. }),
                    )) = block.slots.get(usize::from(*reg))
                {
                    out.insert(*local);
                }
            }
        }
        s => {
            let mut events = Events::new();
            mention_alone(s, &mut events);
            out.extend(events.into_iter().filter(|(_, begins, writes)| *begins || *writes).map(|(local, ..)| local));
        }
    }
    s.inner().into_iter().flatten().try_for_each(|s| change_values(s, out))
}

pub(super) fn mention_count(count: &Count, out: &mut Events) -> Option<()> {
    mention_head(count, out);
    count.body.iter().try_for_each(|s| mention(s, out))?;
    for (local, limit) in &count.limits_after {
        out.push((*local, false, false));
        mention_value(*limit, out);
    }
    Some(())
}

/// What happens before the turns of a loop.
fn mention_head(count: &Count, out: &mut Events) {
    for bound in [count.first, count.last] {
        if let Bound::Kept(local, place) = bound {
            mention_place(place, out);
            out.push((local, true, true));
        }
    }
    out.push((count.var, true, true));
    for (local, limit) in &count.limits {
        mention_value(*limit, out);
        out.push((*local, true, true));
    }
    for kept in &count.kept {
        mention_place(kept.place, out);
        out.push((kept.local, true, true));
    }
    for check in &count.checks {
        let mut sums = Vec::new();
        match check {
            Check::Fails(_, a, b) => [a, b].into_iter().for_each(|v| mention_value(*v, out)),
            Check::SumsFail(_, a, b) => sums.extend([a, b]),
            Check::Outside(at) | Check::Leaves(at, _) => sums.push(at),
            Check::LeavesBy(at, _, step) => sums.extend([at, step]),
        }
        for sum in sums {
            sum.products().flat_map(|(factors, _)| factors).for_each(|v| mention_value(*v, out));
        }
    }
}

/// What a statement does to local variables, without the statements within it.
pub(super) fn mention_alone(s: &Stmt, out: &mut Events) {
    match s {
        Stmt::Block(_)
        | Stmt::Inside(_)
        | Stmt::GiveUp { .. }
        | Stmt::Clear(_)
        | Stmt::CheckZero(_)
        | Stmt::CheckCarried(_)
        | Stmt::Agree(..)
        | Stmt::Define(..) => _ = mention(s, out),
        Stmt::InMode(..) | Stmt::Loop(..) | Stmt::CheckCarriedData(_) | Stmt::HandData(_) => {}
        Stmt::Apart(a, b) | Stmt::IfSame { addresses: [a, b], .. } => {
            [a, b].into_iter().for_each(|at| mention_address(*at, out));
        }
        Stmt::Flag(local, test) | Stmt::If { test, flag: local, .. } => {
            mention_test(test, out);
            out.push((*local, true, true));
        }
        Stmt::Leave { unless, finite } => {
            mention_test(unless, out);
            finite.iter().for_each(|word| mention_place(word.place, out));
        }
        Stmt::Proceed(test) => mention_test(test, out),
        Stmt::Count(count) => {
            mention_head(count, out);
            let words = count.flows_from.iter().chain(count.one_by_one.iter().flat_map(|(words, _)| words));
            words.for_each(|word| mention_place(word.place, out));
            let after = count.limits_after.iter().map(|(local, _)| *local);
            let parts = count.blocks.iter().flat_map(|blocks| blocks.parts.iter().flatten().chain(&blocks.counters));
            out.extend(after.chain(parts.copied()).map(|local| (local, false, true)));
        }
        Stmt::Allocate(local, len) | Stmt::Forget(local, len) | Stmt::Free { base: local, len, .. } => {
            mention_value(*len, out);
            out.push((*local, false, true));
        }
        Stmt::Log(local, len) => {
            mention_value(*len, out);
            out.push((*local, true, true));
        }
        Stmt::Keep(keep) => {
            keep.reads().into_iter().flatten().for_each(|value| mention_value(value, out));
            out.extend(keep.defines().map(|local| (local, true, true)));
        }
        Stmt::EndLog(local) | Stmt::HandParam(local) => out.push((*local, false, false)),
        Stmt::Addend(local, of) => {
            out.push((*of, false, false));
            out.push((*local, true, true));
        }
        Stmt::Write(word, from) => {
            mention_place(word.place, out);
            out.push((*from, false, false));
        }
        Stmt::Call(_, arguments) => {
            for argument in arguments {
                match argument {
                    Argument::Value(word) | Argument::Address(word) => mention_place(word.place, out),
                    Argument::HandMemory(at, _) => mention_address(*at, out),
                    Argument::HandParam(local) => out.push((*local, false, false)),
                    Argument::Const(..) | Argument::Nowhere(..) => {}
                }
            }
        }
    }
}
