//! Several turns of a loop at once (unroll and jam): the loop within, if it is the only one, runs once for all of them, and so does the only loop in
//! that. Sums that one turn makes alone wait for each addition; those of several turns go on side by side. Words that all turns go through are read
//! and written once.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::mentions::{Events, begun, mention, mention_count, mention_place, mention_test};
use super::rename::Renaming;
use super::{
    Address, Aside, Block, Bound, Count, Function, Jammed, Local, LocalInfo, Place, Program, Scope, Slot, Step, Stmt,
    Test, Word, lane_type, watch,
};
use crate::ops::{Float, Op};
use pendula_isa::Ty;
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
    program.functions.iter_mut().for_each(|f| f.change_body(|f, body| list(f, body)));
}

fn list(f: &mut Function, statements: &mut [Stmt]) {
    for s in statements {
        if let Stmt::Count(count) = s {
            // Otherwise, only what is short is left to loops.
            if count.products.is_some() {
                continue;
            }
            count.jammed = jammed(f, count);
        }
        s.lists().into_iter().for_each(|inner| list(f, inner));
    }
}

fn jammed(f: &mut Function, count: &Count) -> Option<Jammed> {
    let Aside { apart, neighbours } = count.aside.clone()?;
    let (ad_mode, statements) = match count.body.as_slice() {
        [Stmt::InMode(ad_mode, inner)] => (Some(*ad_mode), inner.as_slice()),
        all => (None, all),
    };
    let nest = OuterTurn::of(statements)?;
    let within = nest.within;
    let deeper = if has_loop(&within.body) { Some(OuterTurn::of(&within.body)?) } else { None };
    let innermost = deeper.as_ref().map_or(within, |deeper| deeper.within);
    let all = [count, within, innermost];
    let is_plain = all.iter().all(|count| matches!(count.step, Step::Const(_)) && count.blocks.is_none());
    let is_shared = all.iter().all(|count| f.local(count.var).scope == Scope::Stmt);
    if !is_plain || !is_shared || deeper.is_some() && !(within.flows_from.is_empty() && innermost.flows_from.is_empty())
    {
        return None;
    }
    let mut events: [Events; 3] = Default::default();
    let [first, middle, last] = &mut events;
    nest.before.iter().flat_map(|list| *list).try_for_each(|s| mention(s, first))?;
    mention_count(within, middle)?;
    nest.after.iter().flat_map(|list| *list).try_for_each(|s| mention(s, last))?;
    let mut own = own(count, &nest, deeper.as_ref(), &events)?;
    let common = match &deeper {
        Some(deeper) => common(f, count.var, &own, &nest, deeper),
        None => BTreeSet::new(),
    };
    own.retain(|local| !common.contains(local));
    let shared = shared_words(f, innermost, &own, count.var)?;
    let at_once = how_many(innermost, &shared, deeper.is_some())?;
    let few = |count: &Count, n: u64| watch::turns(count).is_some_and(|turns| turns < n);
    if few(count, at_once as u64) || few(innermost, LEAST) {
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
    let copies = Copies { renamings: copies, common };
    let inner = match &deeper {
        None => Count { one_turn: neighbours, ..side_by_side(f, within, &copies, &shared)? },
        Some(deeper) => {
            let innermost = side_by_side(f, innermost, &copies, &shared)?;
            Count { body: copies.around(innermost, deeper)?, ..copies.heads(within)? }
        }
    };
    let body = copies.around(inner, &nest)?;
    let body = match ad_mode {
        Some(ad_mode) => vec![Stmt::InMode(ad_mode, body)],
        None => body,
    };
    Some(Jammed { vars, apart, body })
}

/// What stands for each turn in its place.
struct Copies {
    /// What takes the place of what for each of the turns.
    renamings: Vec<Renaming>,
    /// Local variables that are the same for all turns: what makes them is done for the first one.
    common: BTreeSet<Local>,
}

impl Copies {
    /// Statements for one turn after the other.
    fn of_each(&self, statements: &[Stmt]) -> Option<Vec<Stmt>> {
        let lists = (0..self.renamings.len()).map(|n| self.of(n, statements)).collect::<Option<Vec<_>>>()?;
        Some(lists.concat())
    }

    /// Statements for one turn.
    fn of(&self, n: usize, statements: &[Stmt]) -> Option<Vec<Stmt>> {
        let mut out = self.renamings[n].statements(statements)?;
        if n > 0 && !self.common.is_empty() {
            self.remove_common(&mut out);
        }
        Some(out)
    }

    /// The turns of a nest around its loop within.
    fn around(&self, within: Count, nest: &OuterTurn<'_>) -> Option<Vec<Stmt>> {
        let mut out = self.of_each(nest.before[0])?;
        let mut inner = self.of_each(nest.before[1])?;
        inner.push(Stmt::Count(Box::new(within)));
        inner.extend(self.of_each(nest.after[0])?);
        match nest.guard {
            Some((test, flag)) => {
                out.push(Stmt::If { test: test.clone(), flag, then: inner, otherwise: Vec::new() });
                out.push(Stmt::Agree(test.clone(), flag));
            }
            None => out.extend(inner),
        }
        out.extend(self.of_each(nest.after[1])?);
        Some(out)
    }

    /// Removes what is done for the first turn.
    fn remove_common(&self, statements: &mut Vec<Stmt>) {
        statements.retain_mut(|s| {
            if let Stmt::InMode(_, inner) = s {
                self.remove_common(inner);
                return !inner.is_empty();
            }
            let mut events = Events::new();
            let looks_at = mention(s, &mut events).is_some();
            let checked =
                matches!(s, Stmt::CheckZero(local) | Stmt::CheckCarried(local) if self.common.contains(local));
            let makes = events.iter().any(|(local, _, writes)| *writes && self.common.contains(local));
            !(looks_at && (checked || makes))
        });
    }

    /// A loop for all turns, without what its turns do.
    fn heads(&self, count: &Count) -> Option<Count> {
        let empty = Count { body: Vec::new(), aside: None, jammed: None, nest: None, products: None, ..count.clone() };
        let mut out = Count {
            checks: Vec::new(),
            kept: Vec::new(),
            limits: Vec::new(),
            limits_after: Vec::new(),
            flows_from: Vec::new(),
            ..empty.clone()
        };
        for renaming in &self.renamings {
            let one = renaming.count(&empty)?;
            for check in one.checks {
                if !out.checks.contains(&check) {
                    out.checks.push(check);
                }
            }
            out.kept.extend(one.kept);
            out.limits.extend(one.limits);
            out.limits_after.extend(one.limits_after);
            out.flows_from.extend(one.flows_from);
        }
        Some(out)
    }
}

/// The turn of a loop that contains one other, perhaps in a conditional.
struct OuterTurn<'s> {
    /// What comes before the conditional, and before the loop in it.
    before: [&'s [Stmt]; 2],
    /// What the conditional depends on, and the local variable for that.
    guard: Option<(&'s Test, Local)>,
    within: &'s Count,
    /// What comes after the loop in the conditional, and after that.
    after: [&'s [Stmt]; 2],
}

impl OuterTurn<'_> {
    fn of(statements: &[Stmt]) -> Option<OuterTurn<'_>> {
        let at = statements.iter().position(|s| matches!(s, Stmt::Count(_) | Stmt::If { .. }))?;
        let (before, rest) = statements.split_at(at);
        match rest {
            [Stmt::Count(within), after @ ..] => {
                Some(OuterTurn { before: [before, &[]], guard: None, within, after: [&[], after] })
            }
            [Stmt::If { test, flag, then, otherwise }, Stmt::Agree(_, again), after @ ..]
                if otherwise.is_empty() && flag == again =>
            {
                let inner = OuterTurn::of(then)?;
                let alone = inner.guard.is_none();
                let OuterTurn { before: [first, _], within, after: [_, last], .. } = inner;
                alone.then_some(OuterTurn {
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

/// Whether there is a loop that counts among statements, or in conditionals among them.
fn has_loop(statements: &[Stmt]) -> bool {
    statements.iter().any(|s| match s {
        Stmt::Count(_) => true,
        Stmt::If { then, .. } => has_loop(then),
        _ => false,
    })
}

fn fresh(f: &mut Function, like: Local, scope: Scope) -> Local {
    let info = f.local(like).clone();
    f.add(LocalInfo { scope, ..info })
}

/// The local variables of which each turn has its own; `None` if turns depend on each other by others.
fn own(
    count: &Count,
    nest: &OuterTurn<'_>,
    deeper: Option<&OuterTurn<'_>>,
    events: &[Events; 3],
) -> Option<BTreeSet<Local>> {
    let nests = || [Some(nest), deeper].into_iter().flatten();
    let ends = nests().flat_map(|nest| [nest.within.first, nest.within.last]);
    let mut shared: HashSet<Local> = nests().map(|nest| nest.within.var).collect();
    for bound in ends.clone() {
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
    nests().filter_map(|nest| nest.guard).for_each(|(test, _)| mention_test(test, &mut bounds));
    for bound in ends {
        if let Bound::Kept(_, place) = bound {
            mention_place(place, &mut bounds);
        }
    }
    (!bounds.iter().any(|(local, ..)| goes(local))).then_some(out)
}

/// Those among the local variables of a turn that are integers made of nothing but what all turns have: they are the same for all.
fn common(
    f: &Function,
    var: Local,
    own: &BTreeSet<Local>,
    nest: &OuterTurn<'_>,
    deeper: &OuterTurn<'_>,
) -> BTreeSet<Local> {
    let mut statements = Vec::new();
    for list in [nest.before, nest.after, deeper.before, deeper.after].as_flattened() {
        single(list, &mut statements);
    }
    single(&deeper.within.body, &mut statements);
    let mut out: BTreeSet<Local> = own.iter().copied().filter(|local| f.local(*local).ty == Ty::Int).collect();
    // What loops keep is made for each turn.
    for count in [nest.within, deeper.within] {
        count.kept.iter().for_each(|kept| _ = out.remove(&kept.local));
        count.limits.iter().for_each(|(local, _)| _ = out.remove(local));
    }
    loop {
        let before = out.len();
        for s in &statements {
            let mut events = Events::new();
            let known = mention(s, &mut events).is_some();
            let reads_memory = match s {
                Stmt::Block(block) => block.slots.iter().flatten().any(|slot| match slot {
                    Slot::Place(place, _) | Slot::Word(Word { place, .. }) => !matches!(place, Place::Local(_)),
                    Slot::Passed(..) => true,
                }),
                Stmt::Clear(_) | Stmt::Define(_, None) => false,
                _ => true,
            };
            let differs = |local: &Local| *local == var || own.contains(local) && !out.contains(local);
            if !known || reads_memory || events.iter().any(|(local, ..)| differs(local)) {
                events.iter().filter(|(.., writes)| *writes).for_each(|(local, ..)| _ = out.remove(local));
            }
        }
        if out.len() == before {
            return out;
        }
    }
}

/// Statements one by one, those in other modes as well.
fn single<'s>(statements: &'s [Stmt], out: &mut Vec<&'s Stmt>) {
    for s in statements {
        match s {
            Stmt::InMode(_, inner) => single(inner, out),
            s => out.push(s),
        }
    }
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
pub(super) fn word_of(f: &Function, block: &Block, lane: u8, reg: u8) -> Option<Word> {
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
fn how_many(within: &Count, shared: &Shared, has_between: bool) -> Option<usize> {
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
        (true, true) => Some(SUMS),
        // Turns of the loop between can be made at once as well.
        _ if has_between => None,
        (true, false) => Some(SUMS),
        (false, true) => Some(WORDS),
        (false, false) => None,
    }
}

/// The loop within, for several turns at once.
fn side_by_side(f: &mut Function, within: &Count, copies: &Copies, shared: &Shared) -> Option<Count> {
    let mut out = copies.heads(within)?;
    if !within.flows_from.is_empty() {
        let turn = |renaming: &Renaming| renaming.count(within).map(|one| (one.flows_from, one.body));
        out.one_by_one = copies.renamings.iter().map(turn).collect::<Option<_>>()?;
    }
    let mut locals: Vec<(Word, Local)> = Vec::new();
    let mut written = Vec::new();
    for (word, writes) in shared {
        let ty = lane_type(word.lane, word.ty);
        let local = f.add(LocalInfo { name: "shared".to_string(), ty, lane: word.lane, scope: Scope::Stmt });
        locals.push((*word, local));
        out.body.push(Stmt::Define(local, Some(*word)));
        if *writes {
            written.push(Stmt::Write(*word, local));
        }
    }
    let body = with_words(f, &within.body, &locals)?;
    out.body.extend(copies.of_each(&body)?);
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
