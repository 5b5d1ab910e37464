//! Turns in strips: what eight turns add to sums is computed first, so that turns can be made by vectors, and then added in the order of the turns.
//! C compilers do that for one sum; for several side by side, and where turns add to each other's words of memory, they fall back to one number
//! at a time.

use std::collections::HashMap;

use super::jam::word_of;
use super::{
    Added, Address, Block, Count, Course, Function, Induction, Local, LocalInfo, Look, Place, Program, Scattered,
    Scope, Slot, Step, Stmt, Strips, Value, Word,
};
use crate::ops::{Float, Op, ValueId};
use pendula_isa::Ty;
use pendula_isa::adjoint::VALUE;

/// The least number of sums, and that where turns take long.
const LEAST: usize = 4;
const LEAST_IF_LONG: usize = 2;

/// Makes turns of loops in strips where they add to many sums, or to words of other turns.
pub fn make_strips(program: &mut Program) {
    // With other roundings allowed, C compilers make vectors of sums.
    if !program.checks_finite || program.has_vector_tangents {
        return;
    }
    program.functions.iter_mut().for_each(|f| f.change_body(|f, body| list(f, body)));
}

fn list(f: &mut Function, statements: &mut [Stmt]) {
    for s in statements {
        if let Stmt::Count(count) = s {
            if count.products.is_some() {
                continue;
            }
            count.strips = strips(f, count);
            if let Some(jammed) = &mut count.jammed {
                list(f, &mut jammed.body);
            }
        }
        s.lists().into_iter().for_each(|inner| list(f, inner));
    }
}

fn strips(f: &mut Function, count: &Count) -> Option<Strips> {
    let is_plain = matches!(count.step, Step::Const(1 | -1));
    let is_alone = count.blocks.is_none() && count.jammed.is_none() && f.local(count.var).scope == Scope::Stmt;
    if !is_plain || !is_alone || !count.independent && count.courses.is_empty() {
        return None;
    }
    let mut sums = Sums::default();
    sums.look_at(f, f.lanes_of(Ty::F), &count.body)?;
    sums.end_with_turns();
    // Words of local variables to which turns add, and of which they do nothing else.
    let is_alone = |word: &Word, local: Local| !sums.others.contains_key(&(local, word.lane));
    let scattered = if count.independent { Vec::new() } else { sums.scattered(&count.courses)? };
    let is_wanted = |word: &Word| match word.place {
        Place::Local(local) => is_alone(word, local),
        Place::Memory(at) => course(&count.courses, at).is_some_and(|c| scattered.contains(&(c.region, word.lane))),
        Place::Log(_) => false,
    };
    let wanted: Vec<bool> = sums.added.iter().map(|added| is_wanted(&added.word)).collect();
    // Nothing else may go from turn to turn.
    let goes_on = sums.added.iter().any(|added| match added.word.place {
        Place::Local(local) => sums.others.get(&(local, added.word.lane)).is_some_and(|other| *other != Other::Begins),
        Place::Memory(_) | Place::Log(_) => false,
    });
    let sums_alone = wanted.iter().filter(|wanted| **wanted).count();
    if goes_on || sums.others.values().any(|other| *other == Other::GoesOn) {
        return None;
    }
    if count.one_turn && !scattered.is_empty() {
        return None;
    }
    let least = if takes_long(&count.body) { LEAST_IF_LONG } else { LEAST };
    if scattered.is_empty() && sums_alone < least {
        return None;
    }
    let mut parts = Vec::new();
    let mut added = Vec::new();
    let mut to_memory = Vec::new();
    for (sum, wanted) in sums.added.iter().zip(wanted) {
        if !wanted {
            parts.push(None);
            continue;
        }
        let names = ["part", "parts"]
            .map(|name| f.add(LocalInfo { name: name.to_string(), ty: Ty::F, lane: VALUE, scope: Scope::Stmt }));
        parts.push(Some(names[0]));
        let one = Added { to: sum.word, parts: names, look: sum.look };
        match sum.word.place {
            Place::Memory(at) => {
                let course = course(&count.courses, at)?;
                to_memory.push(Scattered { added: one, region: course.region, at: course.at.clone() });
            }
            Place::Local(_) | Place::Log(_) => added.push(one),
        }
    }
    let scattered = in_order_of_turns(to_memory)?;
    let mut next = parts.into_iter();
    let body = apart(f, f.lanes_of(Ty::F), &count.body, &mut next)?;
    Some(Strips { added, scattered, body })
}

/// Whether statements compute what takes long, one number at a time: elementary functions, square roots and quotients.
fn takes_long(statements: &[Stmt]) -> bool {
    let is_long = |op: &Op| matches!(op, Op::Kernel(..) | Op::Sqrt(_) | Op::Float(Float::Div, ..));
    statements.iter().any(|s| match s {
        Stmt::Block(block) => block.ops.iter().any(is_long),
        s => s.inner().into_iter().any(|inner| takes_long(inner)),
    })
}

/// Whether the turns of a loop may be made in any order: none depends on another, and nothing is added up over them.
pub fn has_any_order(f: &Function, count: &Count) -> bool {
    let mut sums = Sums::default();
    if !count.independent || sums.look_at(f, f.lanes_of(Ty::F), &count.body).is_none() {
        return false;
    }
    sums.end_with_turns();
    let begins = |word: &Word| match word.place {
        Place::Local(local) => sums.others.get(&(local, word.lane)) == Some(&Other::Begins),
        Place::Memory(_) | Place::Log(_) => true,
    };
    sums.added.iter().all(|added| begins(&added.word)) && sums.others.values().all(|other| *other != Other::GoesOn)
}

/// Whether statements write words of memory, those within them included.
pub fn writes_memory(statements: &[Stmt]) -> bool {
    let in_memory = |slot: Option<&Option<Slot>>| match slot {
        Some(Some(Slot::Place(place, _) | Slot::Word(Word { place, .. }))) => !matches!(place, Place::Local(_)),
        _ => false,
    };
    statements.iter().any(|s| match s {
        Stmt::Block(block) => block.ops.iter().any(|op| match *op {
            Op::Set(_, reg, _) => in_memory(block.slots.get(usize::from(reg))),
            _ => false,
        }),
        s => s.inner().into_iter().any(|inner| writes_memory(inner)),
    })
}

/// How the address of a word goes on, if that is known.
fn course(courses: &[Course], at: Address) -> Option<&Course> {
    courses.iter().find(|course| course.word == at)
}

/// Puts what is added to words of memory in an order in which each word gets what it gets in the order of turns, where all turns of a strip
/// are made for one statement after the other: a word that goes through memory ahead of others comes to a place first.
fn in_order_of_turns(scattered: Vec<Scattered>) -> Option<Vec<Scattered>> {
    let mut orders = Vec::new();
    for s in &scattered {
        let first = scattered.iter().find(|other| other.region == s.region)?;
        let offset = s.at.first.plus(&first.at.first, -1)?.as_constant()?;
        let order = if s.at.step.as_constant()? > 0 { offset.checked_neg()? } else { offset };
        orders.push((s.region, s.added.to.lane, order));
    }
    let mut sorted: Vec<_> = orders.into_iter().zip(scattered).collect();
    sorted.sort_by_key(|(order, _)| *order);
    Some(sorted.into_iter().map(|(_, s)| s).collect())
}

/// What else than adding to it happens to a local variable's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    /// Its life begins anew in each turn.
    Begins,
    /// It is only read.
    Read,
    /// It has something of the last turn.
    GoesOn,
}

/// A sum to which a turn adds.
struct Addition {
    word: Word,
    look: Look,
    /// Which block it is made in.
    block: usize,
}

/// What a turn adds to words, and what happens to local variables in each lane, and to words of memory, besides.
#[derive(Default)]
struct Sums {
    added: Vec<Addition>,
    others: HashMap<(Local, usize), Other>,
    /// Whether what happens last to them is that they become zero.
    cleared: HashMap<(Local, usize), bool>,
    /// Words of memory, and whether they are written.
    memory: Vec<(Place, usize, bool)>,
    blocks: usize,
}

impl Sums {
    fn look_at(&mut self, f: &Function, lanes: &[usize], statements: &[Stmt]) -> Option<()> {
        for s in statements {
            match s {
                Stmt::InMode(ad_mode, inner) => self.look_at(f, ad_mode.lanes(), inner)?,
                Stmt::Block(block) if block.slots.iter().flatten().any(|slot| matches!(slot, Slot::Passed(..))) => {
                    return None;
                }
                Stmt::Block(block) => self.block(f, lanes, block),
                Stmt::Write(word, from) => {
                    if let Place::Local(_) = word.place {
                        return None;
                    }
                    self.place(word.place, word.lane, true);
                    self.happens(*from, VALUE, Other::Read);
                }
                Stmt::Define(local, from) => {
                    from.iter().for_each(|word| self.place(word.place, word.lane, false));
                    self.happens(*local, VALUE, Other::Begins);
                }
                Stmt::Addend(local, of) => {
                    self.happens(*local, VALUE, Other::Begins);
                    for lane in lanes.iter().filter(|lane| **lane != VALUE) {
                        self.happens(*of, *lane, Other::Read);
                        self.happens(*local, *lane, Other::Begins);
                    }
                }
                Stmt::Clear(local) => {
                    for lane in [VALUE].iter().chain(lanes) {
                        self.happens(*local, *lane, Other::Begins);
                        self.cleared.insert((*local, *lane), true);
                    }
                }
                Stmt::CheckZero(local) | Stmt::CheckCarried(local) => {
                    [VALUE].iter().chain(lanes).for_each(|lane| self.happens(*local, *lane, Other::Read));
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// What words carry is zero where their lives begin, and becomes zero where they end.
    fn end_with_turns(&mut self) {
        for ((local, lane), _) in self.cleared.iter().filter(|(_, cleared)| **cleared) {
            if *lane != VALUE && self.others.get(&(*local, VALUE)) == Some(&Other::Begins) {
                self.others.insert((*local, *lane), Other::Begins);
            }
        }
    }

    fn happens(&mut self, local: Local, lane: usize, what: Other) {
        self.cleared.insert((local, lane), false);
        let now = self.others.entry((local, lane)).or_insert(what);
        if *now == Other::Read && what != Other::Read {
            *now = Other::GoesOn;
        }
    }

    /// A word that is read or written, and what its address consists of.
    fn place(&mut self, place: Place, lane: usize, writes: bool) {
        match place {
            Place::Local(local) => self.happens(local, lane, if writes { Other::GoesOn } else { Other::Read }),
            Place::Memory(at) | Place::Log(at) => {
                self.memory.push((place, lane, writes));
                self.address(at);
            }
        }
    }

    fn address(&mut self, at: Address) {
        at.locals.into_iter().flatten().for_each(|local| self.happens(local, VALUE, Other::Read));
    }

    /// The regions of memory, and their lanes, to whose words turns only add; `None` if turns depend on each other by other words.
    fn scattered(&self, courses: &[Course]) -> Option<Vec<(u32, usize)>> {
        let mut out: Vec<(u32, usize)> = Vec::new();
        for addition in &self.added {
            if let Place::Memory(at) = addition.word.place {
                let at = course(courses, at)?;
                // In one block, a word has one name.
                let names = self
                    .added
                    .iter()
                    .filter(|other| other.block == addition.block && other.word.lane == addition.word.lane);
                for other in names {
                    if let Place::Memory(other) = other.word.place
                        && course(courses, other)? == &(Course { word: other, ..at.clone() })
                        && other != at.word
                    {
                        return None;
                    }
                }
                if !out.contains(&(at.region, addition.word.lane)) {
                    out.push((at.region, addition.word.lane));
                }
            }
        }
        let mut apart: Vec<((u32, usize), &Induction)> = Vec::new();
        for (place, lane, writes) in &self.memory {
            let at = match place {
                Place::Memory(at) => at,
                // A turn has words of its own.
                Place::Log(_) => continue,
                Place::Local(_) => return None,
            };
            match course(courses, *at) {
                Some(course) => apart.push(((course.region, *lane), &course.at)),
                None if *writes => return None,
                None => {}
            }
        }
        let writes = |region: (u32, usize)| {
            self.memory.iter().any(|(place, lane, writes)| match place {
                Place::Memory(at) => *writes && course(courses, *at).is_some_and(|c| (c.region, *lane) == region),
                Place::Local(_) | Place::Log(_) => false,
            })
        };
        // Where turns do something else, too, each has words of its own.
        for (region, at) in &apart {
            if !out.contains(region) && !writes(*region) {
                continue;
            }
            let of_region = |addition: &&Addition| match addition.word.place {
                Place::Memory(to) => course(courses, to).is_some_and(|c| (c.region, addition.word.lane) == *region),
                Place::Local(_) | Place::Log(_) => false,
            };
            let all_same = self.added.iter().filter(of_region).all(|addition| match addition.word.place {
                Place::Memory(to) => course(courses, to).is_some_and(|course| course.at == **at),
                Place::Local(_) | Place::Log(_) => true,
            });
            if !all_same || apart.iter().any(|(other, then)| other == region && then != at) {
                return None;
            }
        }
        out.retain(|region| !apart.iter().any(|(other, _)| other == region));
        Some(out)
    }

    fn block(&mut self, f: &Function, lanes: &[usize], block: &Block) {
        self.blocks += 1;
        let mut added = Vec::new();
        for n in 0..block.ops.len() {
            if let Some(sum) = sum(f, lanes, block, n) {
                added.push(sum.operand);
                let looks = (1..sum.parts.len()).map(|_| Look::No).chain([sum.look]);
                self.added.extend(looks.map(|look| Addition { word: sum.word, look, block: self.blocks }));
                match sum.word.place {
                    Place::Local(local) => _ = self.cleared.insert((local, sum.word.lane), false),
                    Place::Memory(at) | Place::Log(at) => self.address(at),
                }
            }
        }
        let limit = block.limit.and_then(|limit| if let Value::Place(place) = limit { Some(place) } else { None });
        limit.iter().for_each(|place| self.place(*place, VALUE, false));
        for op in &block.ops {
            let (lane, reg, writes) = match *op {
                Op::Get(lane, reg) => (lane, reg, false),
                Op::Set(lane, reg, _) => (lane, reg, true),
                _ => continue,
            };
            if let Some(word) = word_in(f, lanes, block, lane, reg)
                && !added.contains(&(lane, reg))
            {
                self.place(word.place, word.lane, writes);
            }
        }
    }
}

/// The word that an operand is in a lane, among these beside that of values.
fn word_in(f: &Function, lanes: &[usize], block: &Block, lane: u8, reg: u8) -> Option<Word> {
    let word = word_of(f, block, lane, reg)?;
    (lane == 0 || lanes.contains(&usize::from(lane))).then_some(word)
}

/// A sum of a word and something else that is written to the word.
struct Sum {
    word: Word,
    /// The word's lane, and the operand's number.
    operand: (u8, u8),
    look: Look,
    /// What is added, or subtracted, one after the other.
    parts: Vec<(ValueId, bool)>,
    /// The check of the sum.
    check: Option<usize>,
}

/// What the `n`-th operation writes, if it is a sum of what was there, which nothing else is made of.
fn sum(f: &Function, lanes: &[usize], block: &Block, n: usize) -> Option<Sum> {
    let Op::Set(lane, reg, v) = block.ops[n] else { return None };
    if block.ops.iter().any(|op| matches!(op, Op::If(_))) {
        return None;
    }
    let word = word_in(f, lanes, block, lane, reg)?;
    let ty = match word.place {
        Place::Local(local) => f.local(local).ty,
        Place::Memory(_) => word.ty,
        Place::Log(_) => return None,
    };
    if super::lane_type(word.lane, ty) != Ty::F {
        return None;
    }
    let op = |v: ValueId| block.ops[v.0 as usize];
    let is_word = |v: ValueId| op(v) == Op::Get(lane, reg);
    // From the last addition to the first.
    let (mut parts, mut chain) = (Vec::new(), vec![v]);
    loop {
        let last = chain[chain.len() - 1];
        let (rest, part, subtracts) = match op(last) {
            Op::Float(Float::Add, a, b) if is_word(b) && !is_word(a) => (b, a, false),
            Op::Float(Float::Add, a, b) => (a, b, false),
            Op::Float(Float::Sub, a, b) => (a, b, true),
            _ => return None,
        };
        parts.push((part, subtracts));
        chain.push(rest);
        if is_word(rest) {
            break;
        }
    }
    parts.reverse();
    let mut check = None;
    for (m, other) in block.ops.iter().enumerate() {
        let is_same = |l: u8, r: u8| word_in(f, lanes, block, l, r).is_some_and(|other| same(other, word));
        let in_chain = m == n || chain.iter().any(|v| v.0 as usize == m);
        match *other {
            Op::Finite(of) if of == v && check.is_none() => check = Some(m),
            // The word once more, perhaps by another name.
            Op::Get(l, r) | Op::Set(l, r, _) if !in_chain && is_same(l, r) => return None,
            other if !in_chain && other.uses().any(|used| chain.contains(&used)) => return None,
            _ => {}
        }
    }
    if parts.iter().any(|(part, _)| chain.contains(part)) {
        return None;
    }
    let look = match block.limit {
        Some(limit) if (lane, reg) == (0, 1) => Look::Within(limit),
        _ if check.is_some() => Look::Finite,
        _ => Look::No,
    };
    Some(Sum { word, operand: (lane, reg), look, parts, check })
}

/// Whether two words are one.
fn same(a: Word, b: Word) -> bool {
    a.place == b.place && a.lane == b.lane
}

/// Statements that write what is added to variables of its own: the next one for each addition, if there is one.
fn apart(
    f: &Function,
    lanes: &[usize],
    statements: &[Stmt],
    next: &mut impl Iterator<Item = Option<Local>>,
) -> Option<Vec<Stmt>> {
    let mut out = Vec::new();
    for s in statements {
        out.push(match s {
            Stmt::Block(block) => Stmt::Block(block_apart(f, lanes, block, next)?),
            Stmt::InMode(ad_mode, inner) => Stmt::InMode(*ad_mode, apart(f, ad_mode.lanes(), inner, next)?),
            s => s.clone(),
        });
    }
    Some(out)
}

fn block_apart(
    f: &Function,
    lanes: &[usize],
    block: &Block,
    next: &mut impl Iterator<Item = Option<Local>>,
) -> Option<Block> {
    let mut out = block.clone();
    for n in 0..block.ops.len() {
        let Some(sum) = sum(f, lanes, block, n) else { continue };
        let mut to = Vec::new();
        for _ in &sum.parts {
            to.extend(next.next()?);
        }
        if to.is_empty() {
            continue;
        }
        out.ops[n] = Op::Const(0);
        if let Some(check) = sum.check {
            out.ops[check] = Op::Const(0);
        }
        if let Look::Within(_) = sum.look {
            out.limit = None;
        }
        let mut push = |op: Op| {
            out.ops.push(op);
            out.wraps.push(false);
            ValueId(out.ops.len() as u32 - 1)
        };
        for ((mut part, subtracts), to) in sum.parts.into_iter().zip(to) {
            if subtracts {
                // Nothing but the sign changes.
                let zero = push(Op::Const((-0.0f64).to_bits()));
                part = push(Op::Float(Float::Sub, zero, part));
            }
            let number = u8::try_from(out.slots.len()).ok()?;
            out.slots.push(Some(Slot::Word(Word { place: Place::Local(to), ty: Ty::F, lane: VALUE })));
            push(Op::Set(0, number, part));
        }
    }
    Some(out)
}
