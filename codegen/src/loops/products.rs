//! Finds sums of products that three loops make, one in the other, such as products of matrices: X[p, q] += Y[p, r] * Z[r, q]. They are made
//! tile by tile, in registers, with the same numbers in the same order.

use std::collections::{HashMap, HashSet};

use pendula_isa::Ty;
use pendula_isa::adjoint::{AdMode, VALUE};
use pendula_isa::types::Cond;

use super::jam::word_of;
use super::mentions::{Events, mention};
use super::sums::GREATEST;
use super::{
    Block, Bound, Check, Count, Function, Local, Look, Nest, NestWord, Place, Product, Products, Program, Scope, Slot,
    Step, Stmt, Test, Value, Word, lanes_of,
};
use crate::ops::{Float, Op, ValueId};

/// How many turns of the outermost loop are made between two looks at whether a run is asked where it is.
pub const PRODUCT_TURNS: u64 = 128;

/// Finds what loops add up as products.
pub fn find_products(program: &mut Program) {
    for f in &mut program.functions {
        let ad_mode = f.ad_mode;
        f.change_body(|f, body| list(f, ad_mode, body));
    }
}

fn list(f: &Function, ad_mode: AdMode, statements: &mut [Stmt]) {
    for s in statements {
        let mut within = ad_mode;
        match s {
            Stmt::InMode(mode, _) => within = *mode,
            Stmt::Count(count) => count.products = products(f, ad_mode, count),
            _ => {}
        }
        // There is none within one that is found.
        if !matches!(s, Stmt::Count(count) if count.products.is_some()) {
            s.lists().into_iter().for_each(|inner| list(f, within, inner));
        }
    }
}

fn products(f: &Function, ad_mode: AdMode, count: &Count) -> Option<Products> {
    let nest = count.nest.as_ref()?;
    let mut walk = Walk {
        f,
        ad_mode,
        heads: vec![count],
        block: None,
        made: HashSet::new(),
        holds: Vec::new(),
        steady: Vec::new(),
    };
    walk.turn(&count.body)?;
    let Walk { heads, block, made, holds, steady, .. } = walk;
    let (block, ad_mode) = block?;
    let [outer, within, innermost] = heads.as_slice() else { return None };
    steady.into_iter().all(|value| is_steady(before(value, &heads), &made)).then_some(())?;
    let mut conditions = Vec::new();
    let checks = || [within, innermost].into_iter().flat_map(|head| &head.checks);
    if checks().any(|check| matches!(check, Check::SumsFail(..))) {
        return None;
    }
    let checks = checks();
    let fails = checks.filter_map(|check| match *check {
        Check::Fails(cond, a, b) => Some((cond, a, b)),
        _ => None,
    });
    for (cond, a, b) in holds.into_iter().chain(fails) {
        for test in throughout((cond, a, b), &heads)? {
            let (_, a, b) = test;
            [a, b].iter().all(|v| is_steady(*v, &made)).then_some(())?;
            if !conditions.contains(&test) {
                conditions.push(test);
            }
        }
    }
    let mut of = Terms { f, ad_mode, nest, heads: &heads, block, made: &made, kept: HashMap::new() };
    for kept in within.kept.iter().chain(&innermost.kept) {
        of.kept.insert(kept.local, kept.place);
    }
    let all = of.all()?;
    // Addresses are looked at where products are made.
    let used =
        |word: &NestWord| all.iter().any(|product| product.words.iter().any(|(other, _)| other.word == word.word));
    nest.words.iter().all(used).then_some(())?;
    let down = |head: &Count| matches!(head.step, Step::Const(-1));
    let within = [(nest.ends[0], down(within)), (nest.ends[1], down(innermost))];
    (outer.kept.is_empty() && are_apart(&all)).then_some(Products { within, conditions, all })
}

/// What a value is before the loops, if it is a bound of one.
fn before(value: Value, heads: &[&Count]) -> Value {
    let bounds = heads.iter().flat_map(|head| [head.first, head.last]);
    let mut kept = bounds.filter_map(|bound| match bound {
        Bound::Kept(local, place) => Some((Value::Place(Place::Local(local)), Value::Place(place))),
        Bound::Const(_) => None,
    });
    kept.find(|(local, _)| *local == value).map_or(value, |(_, place)| place)
}

/// What must hold before the loops for a comparison to hold in each turn; `None` if that is not known.
fn throughout((cond, a, b): (Cond, Value, Value), heads: &[&Count]) -> Option<Vec<(Cond, Value, Value)>> {
    // What counts has these values in its first turn and its last.
    let ends = |value: Value| {
        let counts = heads.iter().find(|head| value == Value::Place(Place::Local(head.var)));
        match counts {
            Some(head) => [head.first, head.last].map(|bound| before(bound.value(), heads)),
            None => [before(value, heads); 2],
        }
    };
    let (a, b) = (ends(a), ends(b));
    match (a[0] == a[1], b[0] == b[1]) {
        (true, true) => Some(vec![(cond, a[0], b[0])]),
        // What goes one way is within a bound if it is in both turns.
        (false, false) => None,
        _ if matches!(cond, Cond::Lt | Cond::Le | Cond::Gt | Cond::Ge) => {
            Some(vec![(cond, a[0], b[0]), (cond, a[1], b[1])])
        }
        _ => None,
    }
}

/// Whether a value is the same throughout.
fn is_steady(value: Value, made: &HashSet<Local>) -> bool {
    match value {
        Value::Const(_) => true,
        Value::Place(Place::Local(local)) => !made.contains(&local),
        Value::Place(_) => false,
    }
}

/// Whether no sum changes what another one reads or changes.
fn are_apart(all: &[Product]) -> bool {
    let at = |(word, lane): &(NestWord, usize)| (word.region, *lane);
    all.iter().enumerate().all(|(n, product)| {
        let [x, ..] = &product.words;
        let others = all[..n].iter().map(|other| &other.words[0]);
        let read = all.iter().flat_map(|other| &other.words[1..]);
        others.chain(read).all(|other| at(other) != at(x))
    })
}

/// A walk through a nest of loops.
struct Walk<'s> {
    f: &'s Function,
    /// In which mode it is.
    ad_mode: AdMode,
    /// The loops, the innermost last.
    heads: Vec<&'s Count>,
    /// The operations of the innermost turn that are not addresses alone, and their mode.
    block: Option<(&'s Block, AdMode)>,
    /// The local variables that turns make.
    made: HashSet<Local>,
    /// What must hold in each turn.
    holds: Vec<(Cond, Value, Value)>,
    /// What is compared again with the same result, if it is the same throughout.
    steady: Vec<Value>,
}

impl<'s> Walk<'s> {
    /// What a turn does; `None` if it is more than addresses, a loop, and one block in the innermost.
    fn turn(&mut self, statements: &'s [Stmt]) -> Option<()> {
        let head = *self.heads.last()?;
        let is_plain = matches!(head.step, Step::Const(1 | -1))
            && head.blocks.is_none()
            && head.limits_after.iter().all(|(_, limit)| *limit == Value::Const(GREATEST))
            && head.kept.iter().all(|kept| kept.ty == Ty::F)
            && self.f.local(head.var).scope == Scope::Stmt
            && [head.first, head.last]
                .iter()
                .all(|bound| matches!(bound, Bound::Const(_) | Bound::Kept(_, Place::Local(_))));
        if !is_plain {
            return None;
        }
        self.made.insert(head.var);
        self.made.extend(head.limits.iter().map(|(local, _)| *local));
        self.made.extend(head.kept.iter().map(|kept| kept.local));
        for bound in [head.first, head.last] {
            if let Bound::Kept(local, _) = bound {
                self.made.insert(local);
            }
        }
        self.body(self.heads.len(), statements, &mut HashSet::new())
    }

    /// What the turns of a loop do, by how deep it lies. They change no local variables but those that they have begun.
    fn body(&mut self, depth: usize, statements: &'s [Stmt], begun: &mut HashSet<Local>) -> Option<()> {
        for s in statements {
            match s {
                Stmt::InMode(mode, inner) => {
                    let outer = std::mem::replace(&mut self.ad_mode, *mode);
                    self.body(depth, inner, begun)?;
                    self.ad_mode = outer;
                }
                Stmt::Count(inner) => {
                    (self.heads.len() == depth && depth < 3).then_some(())?;
                    self.heads.push(inner);
                    self.turn(&inner.body)?;
                }
                Stmt::If { test: Test::Integers(cond, a, b), then, otherwise, .. } if otherwise.is_empty() => {
                    self.holds.push((*cond, *a, *b));
                    self.body(depth, then, begun)?;
                }
                Stmt::Agree(Test::Integers(_, a, b), _) => self.steady.extend([*a, *b]),
                Stmt::GiveUp { test: Test::Integers(cond, a, b), holds: false } => self.holds.push((*cond, *a, *b)),
                Stmt::Clear(local) => {
                    begun.insert(*local);
                    self.made.insert(*local);
                }
                Stmt::Block(block) if makes_integers(block) => {
                    let mut events = Events::new();
                    mention(s, &mut events)?;
                    events
                        .iter()
                        .filter(|(.., writes)| *writes)
                        .all(|(local, ..)| begun.contains(local))
                        .then_some(())?;
                }
                Stmt::Block(block) if depth == 3 && self.block.is_none() => {
                    self.block = Some((block, self.ad_mode));
                }
                _ => return None,
            }
        }
        Some(())
    }
}

/// Whether operations make nothing but integers in local variables, and never give up.
fn makes_integers(block: &Block) -> bool {
    let is_integer = |slot: &Option<Slot>| match slot {
        None => true,
        Some(Slot::Place(place, ty) | Slot::Word(Word { place, ty, .. })) => {
            matches!(place, Place::Local(_)) && *ty == Ty::Int
        }
        Some(Slot::Passed(..)) => false,
    };
    let plain = |op: &Op| matches!(op, Op::Set(0, ..) | Op::Get(0, _)) || op.is_pure();
    block.slots.iter().all(is_integer) && block.ops.iter().all(plain) && !block.wraps.contains(&true)
}

/// The operations of the innermost turn, as sums of products.
struct Terms<'s> {
    f: &'s Function,
    ad_mode: AdMode,
    nest: &'s Nest,
    heads: &'s [&'s Count],
    block: &'s Block,
    /// The local variables that turns make.
    made: &'s HashSet<Local>,
    /// The words that local variables keep during loops.
    kept: HashMap<Local, Place>,
}

impl Terms<'_> {
    /// All sums; `None` if there is anything else.
    fn all(&self) -> Option<Vec<Product>> {
        let mut out = Vec::new();
        let mut sums = HashSet::new();
        for op in &self.block.ops {
            if let Op::Set(lane, reg, sum) = *op
                && self.has(usize::from(lane))
            {
                out.push(self.product(lane, reg, sum)?);
                sums.insert(sum);
            }
        }
        for op in &self.block.ops {
            match *op {
                // Once a sum is not finite it stays so.
                Op::Finite(v) => sums.contains(&v).then_some(())?,
                Op::Set(..) | Op::Get(..) => {}
                op => op.is_pure().then_some(())?,
            }
        }
        (!out.is_empty()).then_some(out)
    }

    /// Whether floating-point words have words in a lane.
    fn has(&self, lane: usize) -> bool {
        lane == VALUE || lanes_of(self.ad_mode, Ty::F).contains(&lane)
    }

    fn op(&self, v: ValueId) -> Op {
        self.block.ops[v.0 as usize]
    }

    /// How a word goes on that an operation reads or writes, and its lane.
    fn word(&self, lane: u8, reg: u8) -> Option<(NestWord, usize)> {
        let word = word_of(self.f, self.block, lane, reg)?;
        let place = match word.place {
            Place::Local(local) => *self.kept.get(&local)?,
            place => place,
        };
        let Place::Memory(at) = place else { return None };
        let known = |word: &&NestWord| word.word == at;
        (word.ty == Ty::F && self.has(word.lane)).then_some(())?;
        Some((self.nest.words.iter().find(known)?.clone(), word.lane))
    }

    /// A word that is read.
    fn read(&self, v: ValueId) -> Option<(NestWord, usize)> {
        match self.op(v) {
            Op::Get(lane, reg) => self.word(lane, reg),
            _ => None,
        }
    }

    /// What is added to a word.
    fn product(&self, lane: u8, reg: u8, sum: ValueId) -> Option<Product> {
        let is_old = |v: ValueId| matches!(self.op(v), Op::Get(from, of) if (from, of) == (lane, reg));
        let (term, subtracts) = match self.op(sum) {
            Op::Float(Float::Add, old, term) if is_old(old) => (term, false),
            Op::Float(Float::Add, term, old) if is_old(old) => (term, false),
            Op::Float(Float::Sub, old, term) if is_old(old) => (term, true),
            _ => return None,
        };
        let Op::Float(Float::Mul, a, b) = self.op(term) else { return None };
        let (x, a, b) = (self.word(lane, reg)?, self.read(a)?, self.read(b)?);
        // The word stays in one loop, and goes on in the others.
        let stays: Vec<usize> = (0..3).filter(|n| x.0.steps[*n].is_zero()).collect();
        let &[r] = stays.as_slice() else { return None };
        let &[s, t] = (0..3).filter(|n| *n != r).collect::<Vec<_>>().as_slice() else { return None };
        let stays = |word: &(NestWord, usize), n: usize| word.0.steps[n].is_zero();
        let (p, q, y, z) = match () {
            () if stays(&a, t) && stays(&b, s) => (s, t, a, b),
            () if stays(&a, s) && stays(&b, t) => (t, s, a, b),
            () => return None,
        };
        let (look, divided_by) = self.look(lane, reg, sum)?;
        Some(Product { loops: [p, q, r], words: [x, y, z], subtracts, look, divided_by })
    }

    /// What is looked at when something has been added to a word.
    fn look(&self, lane: u8, reg: u8, sum: ValueId) -> Option<(Look, Vec<usize>)> {
        let is_limited = usize::from(lane) == VALUE && reg == 1;
        if let Some(limit) = self.block.limit.filter(|_| is_limited) {
            let (mut limit, mut divided_by) = (limit, Vec::new());
            for (n, head) in self.heads.iter().enumerate().rev() {
                let named = |local: Local| limit == Value::Place(Place::Local(local));
                if let Some((_, whole)) = head.limits.iter().find(|(local, _)| named(*local)) {
                    limit = *whole;
                    divided_by.insert(0, n);
                }
            }
            return is_steady(limit, self.made).then_some((Look::Within(limit), divided_by));
        }
        let local = match word_of(self.f, self.block, lane, reg)?.place {
            Place::Local(local) => Some(local),
            _ => None,
        };
        let after = self.heads.iter().flat_map(|head| &head.limits_after).any(|(l, _)| Some(*l) == local);
        let finite = after || self.block.ops.iter().any(|op| matches!(op, Op::Finite(v) if *v == sum));
        Some((if finite { Look::Finite } else { Look::No }, Vec::new()))
    }
}
