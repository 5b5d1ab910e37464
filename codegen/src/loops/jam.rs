//! Several turns of a loop at once (unroll and jam): the loop within, if it is the only one, runs once for all of them. Sums that one turn makes
//! alone wait for each addition; those of several turns go on side by side. Words that all turns go through are read and written once.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::rename::Renaming;
use super::{
    Address, Block, Bound, Check, Count, Function, Jammed, Local, LocalInfo, Place, Program, Scope, Slot, Step, Stmt,
    Test, Value, Word, lane_type, watch,
};
use crate::ops::{Float, Op};
use pendula_isa::adjoint::VALUE;

/// How many turns are made at once where each makes sums, which wait for the last addition.
const SUMS: usize = 8;

/// How many where they only go through the same words.
const WORDS: usize = 4;

/// Loops within with longer turns are left alone.
const OPS: usize = 48;

/// The least number of turns within, if it is known.
const LEAST: u64 = 8;

/// Makes several turns of loops at once.
pub fn jam_loops(program: &mut Program) {
    for f in &mut program.functions {
        let mut body = std::mem::take(&mut f.body);
        list(f, &mut body);
        f.body = body;
    }
}

fn list(f: &mut Function, statements: &mut [Stmt]) {
    for s in statements {
        if let Stmt::Count(count) = s {
            count.jammed = jammed(f, count);
        }
        s.lists().into_iter().for_each(|inner| list(f, inner));
    }
}

/// What happens to local variables, in order: which one, whether its life begins anew, and whether it is written.
type Events = Vec<(Local, bool, bool)>;

fn jammed(f: &mut Function, count: &Count) -> Option<Jammed> {
    let apart = count.aside.clone()?;
    let (ad_mode, statements) = match count.body.as_slice() {
        [Stmt::InMode(ad_mode, inner)] => (Some(*ad_mode), inner.as_slice()),
        all => (None, all),
    };
    let nest = Nest::of(statements)?;
    let within = nest.within;
    let is_plain = matches!(count.step, Step::Const(_)) && matches!(within.step, Step::Const(_));
    let is_shared = f.local(within.var).scope == Scope::Stmt && f.local(count.var).scope == Scope::Stmt;
    let in_blocks = count.blocks.is_some() || within.blocks.is_some();
    if !is_plain || !is_shared || in_blocks || !within.flows_from.is_empty() {
        return None;
    }
    let mut events: [Events; 3] = Default::default();
    let [first, middle, last] = &mut events;
    nest.before.iter().flat_map(|list| *list).try_for_each(|s| mention(s, first))?;
    mention_count(within, middle)?;
    nest.after.iter().flat_map(|list| *list).try_for_each(|s| mention(s, last))?;
    let own = own(count, &nest, &events)?;
    let shared = shared_words(f, within, &own, count.var)?;
    let at_once = how_many(within, &shared)?;
    let few = |count: &Count, n: u64| watch::turns(count).is_some_and(|turns| turns < n);
    if few(count, at_once as u64) || few(within, LEAST) {
        return None;
    }
    let mut vars = Vec::new();
    let mut copies = Vec::new();
    for n in 0..at_once {
        let mut renaming = Renaming::default();
        if n > 0 {
            let var = fresh(f, count.var, Scope::Stmt);
            vars.push(var);
            renaming.locals.insert(count.var, var);
        }
        if n + 1 < at_once {
            for local in &own {
                let scope = f.local(*local).scope;
                renaming.locals.insert(*local, fresh(f, *local, scope));
            }
        }
        copies.push(renaming);
    }
    let each = |statements: &[Stmt]| -> Option<Vec<Stmt>> {
        let lists = copies.iter().map(|copy| copy.statements(statements)).collect::<Option<Vec<_>>>()?;
        Some(lists.concat())
    };
    let [[before, before_within], [after_within, after]] =
        [[each(nest.before[0])?, each(nest.before[1])?], [each(nest.after[0])?, each(nest.after[1])?]];
    let mut inner = before_within;
    inner.push(Stmt::Count(Box::new(side_by_side(f, within, &copies, &shared)?)));
    inner.extend(after_within);
    let mut body = before;
    match nest.guard {
        Some((test, flag)) => {
            body.push(Stmt::If { test: test.clone(), flag, then: inner, otherwise: Vec::new() });
            body.push(Stmt::Agree(test.clone(), flag));
        }
        None => body.extend(inner),
    }
    body.extend(after);
    let body = match ad_mode {
        Some(ad_mode) => vec![Stmt::InMode(ad_mode, body)],
        None => body,
    };
    Some(Jammed { vars, apart, body })
}

/// The turn of a loop that contains one other, perhaps in a conditional.
struct Nest<'s> {
    /// What comes before the conditional, and before the loop in it.
    before: [&'s [Stmt]; 2],
    /// What the conditional depends on, and the local variable for that.
    guard: Option<(&'s Test, Local)>,
    within: &'s Count,
    /// What comes after the loop in the conditional, and after that.
    after: [&'s [Stmt]; 2],
}

impl Nest<'_> {
    fn of(statements: &[Stmt]) -> Option<Nest<'_>> {
        let at = statements.iter().position(|s| matches!(s, Stmt::Count(_) | Stmt::If { .. }))?;
        let (before, rest) = statements.split_at(at);
        match rest {
            [Stmt::Count(within), after @ ..] => {
                Some(Nest { before: [before, &[]], guard: None, within, after: [&[], after] })
            }
            [Stmt::If { test, flag, then, otherwise }, Stmt::Agree(_, again), after @ ..]
                if otherwise.is_empty() && flag == again =>
            {
                let inner = Nest::of(then)?;
                let alone = inner.guard.is_none();
                let Nest { before: [first, _], within, after: [_, last], .. } = inner;
                alone.then_some(Nest {
                    before: [before, first],
                    guard: Some((test, *flag)),
                    within,
                    after: [last, after],
                })
            }
            _ => None,
        }
    }
}

fn fresh(f: &mut Function, like: Local, scope: Scope) -> Local {
    let info = f.local(like).clone();
    f.locals.push(LocalInfo { scope, ..info });
    Local(f.locals.len() as u32 - 1)
}

/// Whether local variables begin anew with what happens to them first.
fn begun<'e>(events: impl IntoIterator<Item = &'e (Local, bool, bool)>) -> HashMap<Local, bool> {
    let mut out = HashMap::new();
    events.into_iter().for_each(|(local, begins, _)| _ = out.entry(*local).or_insert(*begins));
    out
}

/// The local variables of which each turn has its own; `None` if turns depend on each other by others.
fn own(count: &Count, nest: &Nest<'_>, events: &[Events; 3]) -> Option<BTreeSet<Local>> {
    let within = nest.within;
    let mut shared = HashSet::from([within.var]);
    for bound in [within.first, within.last] {
        if let Bound::Kept(local, _) = bound {
            shared.insert(local);
        }
    }
    let begun = begun(events.iter().flatten());
    let writes = events.iter().flatten().filter(|(.., writes)| *writes);
    let written: HashSet<Local> = writes.map(|(local, ..)| *local).collect();
    if written.contains(&count.var) {
        return None;
    }
    let mut out = BTreeSet::new();
    for local in written.into_iter().filter(|local| !shared.contains(local)) {
        if begun.get(&local) == Some(&true) {
            out.insert(local);
        } else if events.iter().filter(|list| list.iter().any(|(l, ..)| *l == local)).count() > 1
            || events[1].iter().any(|(l, ..)| *l == local)
        {
            // It goes from turn to turn, and not only through what is done for one turn after the other.
            return None;
        }
    }
    let goes = |local: &Local| *local == count.var || out.contains(local);
    let mut bounds = Events::new();
    nest.guard.iter().for_each(|(test, _)| mention_test(test, &mut bounds));
    for bound in [within.first, within.last] {
        if let Bound::Kept(_, place) = bound {
            mention_place(place, &mut bounds);
        }
    }
    (!bounds.iter().any(|(local, ..)| goes(local))).then_some(out)
}

/// Words of memory that all turns go through, and whether they are written.
type Shared = Vec<(Word, bool)>;

/// The words of memory in the loop within that all turns of the outer one go through; `None` where something else than blocks uses memory.
fn shared_words(f: &Function, within: &Count, own: &BTreeSet<Local>, var: Local) -> Option<Shared> {
    let is_shared = |at: &Address| !at.locals.iter().flatten().any(|l| own.contains(l) || *l == var);
    let mut out = Shared::new();
    let mut blocks = Vec::new();
    blocks_of(&within.body, &mut blocks)?;
    for block in blocks {
        for op in &block.ops {
            let (lane, reg, writes) = match *op {
                Op::Get(lane, reg) => (lane, reg, false),
                Op::Set(lane, reg, _) => (lane, reg, true),
                _ => continue,
            };
            let Some(word) = word_of(f, block, lane, reg) else { continue };
            if !matches!(word.place, Place::Memory(at) if is_shared(&at)) {
                continue;
            }
            match out.iter_mut().find(|(known, _)| *known == word) {
                Some((_, written)) => *written |= writes,
                None => out.push((word, writes)),
            }
        }
    }
    Some(out)
}

/// The word that an operand is in a lane, if it has one.
fn word_of(f: &Function, block: &Block, lane: u8, reg: u8) -> Option<Word> {
    match block.slots.get(usize::from(reg)).copied().flatten()? {
        Slot::Place(place, ty) => {
            let (ty, lane) = (f.ty(place, ty), usize::from(lane));
            (lane == VALUE || f.lanes_of(ty).contains(&lane)).then_some(Word { place, ty, lane })
        }
        Slot::Word(word) => (lane == 0).then_some(word),
        Slot::Passed(..) => None,
    }
}

/// The blocks of statements that contain nothing else of interest; `None` where there is more.
fn blocks_of<'s>(statements: &'s [Stmt], out: &mut Vec<&'s Block>) -> Option<()> {
    for s in statements {
        match s {
            Stmt::Block(block) => out.push(block),
            Stmt::InMode(_, inner) => blocks_of(inner, out)?,
            Stmt::Clear(_) | Stmt::CheckZero(_) | Stmt::CheckCarried(_) => {}
            _ => return None,
        }
    }
    Some(())
}

/// How many turns are worth being made at once, if any.
fn how_many(within: &Count, shared: &Shared) -> Option<usize> {
    let mut blocks = Vec::new();
    blocks_of(&within.body, &mut blocks)?;
    let cheap =
        |op: &Op| !matches!(op, Op::Kernel(..) | Op::Sqrt(_) | Op::Float(Float::Div, ..) | Op::If(_) | Op::Require(_));
    let ops: usize = blocks.iter().map(|block| block.ops.len()).sum();
    if ops > OPS || !blocks.iter().flat_map(|block| &block.ops).all(cheap) {
        return None;
    }
    let mut events = Events::new();
    within.body.iter().try_for_each(|s| mention(s, &mut events))?;
    let begun = begun(&events);
    let sums = events.iter().any(|(local, _, writes)| *writes && begun.get(local) == Some(&false));
    match (sums, shared.iter().any(|(_, written)| *written)) {
        (true, _) => Some(SUMS),
        (false, true) => Some(WORDS),
        (false, false) => None,
    }
}

/// The loop within, for several turns at once.
fn side_by_side(f: &mut Function, within: &Count, copies: &[Renaming], shared: &Shared) -> Option<Count> {
    let mut out = Count {
        body: Vec::new(),
        checks: Vec::new(),
        kept: Vec::new(),
        limits: Vec::new(),
        limits_after: Vec::new(),
        ..within.clone()
    };
    let mut locals: Vec<(Word, Local)> = Vec::new();
    let mut written = Vec::new();
    for (word, writes) in shared {
        let ty = lane_type(word.lane, word.ty);
        f.locals.push(LocalInfo { name: "shared".to_string(), ty, lane: word.lane, scope: Scope::Stmt });
        let local = Local(f.locals.len() as u32 - 1);
        locals.push((*word, local));
        out.body.push(Stmt::Define(local, Some(*word)));
        if *writes {
            written.push(Stmt::Write(*word, local));
        }
    }
    let body = with_words(f, &within.body, &locals)?;
    for copy in copies {
        let one = copy.count(&Count { body: body.clone(), ..within.clone() })?;
        for check in one.checks {
            if !out.checks.contains(&check) {
                out.checks.push(check);
            }
        }
        out.kept.extend(one.kept);
        out.limits.extend(one.limits);
        out.limits_after.extend(one.limits_after);
        out.body.extend(one.body);
    }
    out.body.extend(written);
    Some(out)
}

/// Statements with local variables in place of words of memory.
fn with_words(f: &Function, statements: &[Stmt], locals: &[(Word, Local)]) -> Option<Vec<Stmt>> {
    let statement = |s: &Stmt| match s {
        Stmt::Block(block) => block_with_words(f, block, locals).map(Stmt::Block),
        Stmt::InMode(ad_mode, inner) => with_words(f, inner, locals).map(|inner| Stmt::InMode(*ad_mode, inner)),
        s => Some(s.clone()),
    };
    statements.iter().map(statement).collect()
}

fn block_with_words(f: &Function, block: &Block, locals: &[(Word, Local)]) -> Option<Block> {
    let mut out = block.clone();
    // The number of the operand that stands for a lane of another.
    let mut operands: HashMap<(u8, u8), u8> = HashMap::new();
    for op in &block.ops {
        let (Op::Get(lane, reg) | Op::Set(lane, reg, _)) = *op else { continue };
        let Some(word) = word_of(f, block, lane, reg) else { continue };
        let Some((_, local)) = locals.iter().find(|(known, _)| *known == word) else { continue };
        if operands.contains_key(&(lane, reg)) {
            continue;
        }
        let ty = lane_type(word.lane, word.ty);
        let slot = Slot::Word(Word { place: Place::Local(*local), ty, lane: VALUE });
        let number = u8::try_from(out.slots.len()).ok()?;
        // What is compared with a limit is operand 1.
        let number = if lane == 0 { reg } else { number };
        match out.slots.get_mut(usize::from(number)) {
            Some(old) => *old = Some(slot),
            None => out.slots.push(Some(slot)),
        }
        operands.insert((lane, reg), number);
    }
    for op in &mut out.ops {
        match op {
            Op::Get(lane, reg) | Op::Set(lane, reg, _) => {
                if let Some(number) = operands.get(&(*lane, *reg)) {
                    (*lane, *reg) = (0, *number);
                }
            }
            _ => {}
        }
    }
    Some(out)
}

fn mention_address(at: Address, out: &mut Events) {
    out.extend(at.locals.into_iter().flatten().map(|local| (local, false, false)));
}

fn mention_place(place: Place, out: &mut Events) {
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

fn mention_test(test: &Test, out: &mut Events) {
    match test {
        Test::Flag(local) => out.push((*local, false, false)),
        Test::Integers(_, a, b) => [a, b].into_iter().for_each(|v| mention_value(*v, out)),
        Test::Block(block, _) => mention_block(block, out),
    }
}

/// What a statement does to local variables; `None` for statements that are not looked at.
fn mention(s: &Stmt, out: &mut Events) -> Option<()> {
    match s {
        Stmt::Block(block) => mention_block(block, out),
        Stmt::Inside(at) => mention_address(*at, out),
        Stmt::GiveUp { test, .. } => mention_test(test, out),
        Stmt::InMode(_, inner) => inner.iter().try_for_each(|s| mention(s, out))?,
        Stmt::Clear(local) => out.push((*local, true, true)),
        Stmt::CheckZero(local) | Stmt::CheckCarried(local) => out.push((*local, false, false)),
        Stmt::Define(local, from) => {
            from.iter().for_each(|word| mention_place(word.place, out));
            out.push((*local, true, true));
        }
        _ => return None,
    }
    Some(())
}

fn mention_count(count: &Count, out: &mut Events) -> Option<()> {
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
            Check::Outside(at) | Check::Leaves(at, _) => sums.push(at),
            Check::LeavesBy(at, _, step) => sums.extend([at, step]),
        }
        for sum in sums {
            sum.products().flat_map(|(factors, _)| factors).for_each(|v| mention_value(*v, out));
        }
    }
    count.body.iter().try_for_each(|s| mention(s, out))?;
    for (local, limit) in &count.limits_after {
        out.push((*local, false, false));
        mention_value(*limit, out);
    }
    Some(())
}
