//! Sums that begin with zero. Zero and a number make the number, but for the sign of a zero: 0 + -0 is 0. So the first addition to a
//! variable that has been cleared is left out where nobody sees that sign: it is lost in sums with what is not -0, in comparisons, and in
//! what is looked at for being finite.
//!
//! A sum is -0 only if all that is added up is. So gradient words, which begin as zero, are never -0 where a program does nothing else to them than add:
//! whoever runs it looks at those that are given.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use pendula_isa::Ty;
use pendula_isa::adjoint::{AdMode, GRADIENT, VALUE};
use pendula_isa::num::raw::{body, facts};

use super::jam::word_of;
use super::mentions::{Events, mention_alone};
use super::{Block, Function, Local, Passed, Place, Program, Scope, Slot, Stmt};
use crate::ops::{Float, Kernel, Op, ValueId};

/// A local variable's word.
type Word = (Local, usize);

/// Leaves out additions to zero.
pub fn remove_additions_to_zero(program: &mut Program) {
    let Program { functions, kernels, .. } = program;
    let gradients_are_sums = functions.iter().all(|f| f.ad_mode != AdMode::Gradient || all_only_add(f));
    for f in functions {
        let kernels = &*kernels;
        f.change_body(|f, body| {
            let gradients_are_sums = gradients_are_sums && f.ad_mode == AdMode::Gradient;
            let mut known = Known { gradients_are_sums, open: HashSet::new(), carries: HashSet::new() };
            known.look_at(f, f.ad_mode, body);
            lists(f, kernels, &known, f.ad_mode, body);
        });
    }
}

fn lists(f: &Function, kernels: &[Kernel], known: &Known, ad_mode: AdMode, list: &mut [Stmt]) {
    let mut leaves = Vec::new();
    flatten(ad_mode, list, &mut leaves);
    Lives::of(f, kernels, known, leaves).remove();
    within(ad_mode, list, &mut |ad_mode, inner| lists(f, kernels, known, ad_mode, inner));
}

/// Whether all that a function does to gradient words is to add to them, to clear them, and to copy them.
fn all_only_add(f: &Function) -> bool {
    let add = |block: &Block| block_only_adds(f, f.ad_mode, block);
    let restored = f.params.iter().all(|param| match &param.passed {
        Passed::Copy(blocks) => blocks.iter().all(|(_, block)| add(block)),
        Passed::Address | Passed::Value => true,
    });
    restored && only_adds(f, f.ad_mode, &f.body)
}

/// Whether all that statements do to gradient words is to add to them, to clear them, and to copy them.
fn only_adds(f: &Function, ad_mode: AdMode, list: &[Stmt]) -> bool {
    list.iter().all(|s| match s {
        Stmt::Block(block) => block_only_adds(f, ad_mode, block),
        Stmt::InMode(ad_mode, inner) => only_adds(f, *ad_mode, inner),
        Stmt::Write(word, from) => word.lane == VALUE || f.local(*from).lane == word.lane,
        s => s.inner().into_iter().all(|inner| only_adds(f, ad_mode, inner)),
    })
}

fn block_only_adds(f: &Function, ad_mode: AdMode, block: &Block) -> bool {
    block.ops.iter().all(|op| match *op {
        Op::Set(lane, reg, v) => !is_gradient(f, ad_mode, block, lane, reg) || is_sum_of_gradient(f, ad_mode, block, v),
        _ => true,
    })
}

/// Whether an operand in a lane is a gradient word.
fn is_gradient(f: &Function, ad_mode: AdMode, block: &Block, lane: u8, reg: u8) -> bool {
    let is_passed = matches!(block.slots.get(usize::from(reg)), Some(Some(Slot::Passed(_, GRADIENT))));
    is_passed
        || word_of(f, block, lane, reg).is_some_and(|word| match word.place {
            // It has a copy of one.
            Place::Local(local) if word.lane == VALUE => f.local(local).lane == GRADIENT,
            _ => word.lane == GRADIENT && ad_mode.lanes().contains(&GRADIENT),
        })
}

/// Whether a value is a gradient word, or a sum with one.
fn is_sum_of_gradient(f: &Function, ad_mode: AdMode, block: &Block, v: ValueId) -> bool {
    let is_sum = |v| is_sum_of_gradient(f, ad_mode, block, v);
    match block.ops[v.0 as usize] {
        Op::Const(k) => k != (-0.0f64).to_bits(),
        Op::Get(lane, reg) => is_gradient(f, ad_mode, block, lane, reg),
        Op::Float(Float::Add, a, b) => is_sum(a) || is_sum(b),
        Op::Float(Float::Sub, a, _) | Op::Canonical(a) => is_sum(a),
        Op::Select(_, a, b) | Op::Phi(a, b) => is_sum(a) && is_sum(b),
        _ => false,
    }
}

/// The statements of a list, and those that are in another mode, each in its mode.
fn flatten<'s>(ad_mode: AdMode, list: &'s mut [Stmt], out: &mut Vec<(AdMode, &'s mut Stmt)>) {
    for s in list {
        match s {
            Stmt::InMode(ad_mode, inner) => flatten(*ad_mode, inner, out),
            s => out.push((ad_mode, s)),
        }
    }
}

/// The lists within those of a list.
fn within(ad_mode: AdMode, list: &mut [Stmt], look: &mut dyn FnMut(AdMode, &mut Vec<Stmt>)) {
    for s in list {
        match s {
            Stmt::InMode(ad_mode, inner) => within(*ad_mode, inner, look),
            s => s.lists().into_iter().for_each(|inner| look(ad_mode, inner)),
        }
    }
}

/// What is known of a function's local variables.
struct Known {
    /// Whether gradient words are never -0.
    gradients_are_sums: bool,
    /// Those of which some list of statements sees more than begins in it.
    open: HashSet<Local>,
    /// Those of which some list might leave something in other lanes.
    carries: HashSet<Local>,
}

impl Known {
    fn look_at(&mut self, f: &Function, ad_mode: AdMode, list: &mut [Stmt]) {
        let mut leaves = Vec::new();
        flatten(ad_mode, list, &mut leaves);
        let mut begun: HashSet<Local> = HashSet::new();
        // Whether the last that happened to it is that all its words became zero.
        let mut ends: HashMap<Local, bool> = HashMap::new();
        for (ad_mode, s) in &leaves {
            if let Stmt::Clear(local) = **s {
                begun.insert(local);
                if f.lanes_of(Ty::F).iter().all(|lane| ad_mode.lanes().contains(lane)) {
                    ends.insert(local, true);
                }
                continue;
            }
            let mut events = Events::new();
            mention_alone(s, &mut events);
            for (local, ..) in events {
                if !begun.contains(&local) {
                    self.open.insert(local);
                }
                if !ad_mode.lanes().is_empty() {
                    ends.insert(local, false);
                }
            }
            if matches!(**s, Stmt::Leave { .. }) {
                // What comes after it may not come.
                self.carries.extend(begun.iter().copied());
            }
        }
        self.carries.extend(ends.into_iter().filter(|(_, ends)| !ends).map(|(local, _)| local));
        drop(leaves);
        within(ad_mode, list, &mut |ad_mode, inner| self.look_at(f, ad_mode, inner));
    }
}

/// What happens to a word from where it becomes zero to where it does so again.
struct Life {
    word: Word,
    /// The statements between.
    begin: usize,
    end: usize,
    /// Whether something happens to it that is not followed.
    spoilt: bool,
    /// Whether the first addition has been left out.
    removed: bool,
    /// Whether something relies on its being no -0.
    pinned: bool,
}

/// The lives of words in a list of statements.
struct Lives<'f, 's> {
    f: &'f Function,
    kernels: &'f [Kernel],
    gradients_are_sums: bool,
    leaves: Vec<(AdMode, &'s mut Stmt)>,
    lives: Vec<Life>,
    /// The lives of each word, in their order.
    of: HashMap<Word, Vec<usize>>,
    /// The blocks that read or write each word, in their order.
    uses: HashMap<Word, Vec<usize>>,
}

impl<'f, 's> Lives<'f, 's> {
    fn of(f: &'f Function, kernels: &'f [Kernel], known: &Known, leaves: Vec<(AdMode, &'s mut Stmt)>) -> Self {
        let gradients_are_sums = known.gradients_are_sums;
        let mut this = Lives {
            f,
            kernels,
            gradients_are_sums,
            leaves,
            lives: Vec::new(),
            of: HashMap::new(),
            uses: HashMap::new(),
        };
        for at in 0..this.leaves.len() {
            for (_, word) in this.words(at) {
                let uses = this.uses.entry(word).or_default();
                if uses.last() != Some(&at) {
                    uses.push(at);
                }
            }
        }
        let is_alone = |local: Local| {
            let info = f.local(local);
            info.ty == Ty::F && info.lane == VALUE && info.scope == Scope::Function && !known.open.contains(&local)
        };
        let mut open: HashMap<Local, Vec<usize>> = HashMap::new();
        for n in 0..this.leaves.len() {
            let (_, s) = &this.leaves[n];
            match **s {
                Stmt::Clear(local) if is_alone(local) => {
                    let begun = open.entry(local).or_default();
                    begun.drain(..).for_each(|life| this.lives[life].end = n);
                    let carried = f.lanes_of(Ty::F).iter().filter(|_| !known.carries.contains(&local));
                    for lane in [VALUE].iter().chain(carried) {
                        let (word, end) = ((local, *lane), this.leaves.len());
                        begun.push(this.lives.len());
                        this.of.entry(word).or_default().push(this.lives.len());
                        this.lives.push(Life { word, begin: n, end, spoilt: false, removed: false, pinned: false });
                    }
                }
                Stmt::Block(_) | Stmt::CheckZero(_) | Stmt::CheckCarried(_) => {}
                _ => {
                    let mut events = Events::new();
                    mention_alone(s, &mut events);
                    all_within(s, &mut |s| mention_alone(s, &mut events));
                    for (local, ..) in events {
                        open.get(&local).into_iter().flatten().for_each(|life| this.lives[*life].spoilt = true);
                    }
                }
            }
        }
        this
    }

    /// Leaves out what can be, from the last life to the first: what a word is used for comes after it.
    fn remove(&mut self) {
        let mut firsts: Vec<(usize, usize)> = Vec::new();
        for (n, life) in self.lives.iter().enumerate().filter(|(_, life)| !life.spoilt) {
            let first = self.uses(life.word, life.begin..life.end).first().copied();
            firsts.extend(first.map(|first| (first, n)));
        }
        firsts.sort_unstable();
        for (first, n) in firsts.into_iter().rev() {
            if !self.lives[n].pinned {
                self.remove_first(n, first);
            }
        }
    }

    /// Leaves out the first addition in a life.
    fn remove_first(&mut self, life: usize, first: usize) {
        let Some(block) = self.block(first) else { return };
        let word = self.lives[life].word;
        let gets = self.gets(first, word);
        let [get] = gets[..] else { return };
        let wanted = self.wanted(first, block);
        let uses_it = |(n, op): &(usize, &Op)| wanted[*n] && op.uses().any(|v| v == get);
        let mut used = block.ops.iter().enumerate().filter(uses_it);
        let (Some((sum, op)), None) = (used.next(), used.next()) else { return };
        let added = match *op {
            Op::Float(Float::Add, a, b) if a == get && b != get => b,
            Op::Float(Float::Add, a, b) if b == get && a != get => a,
            _ => return,
        };
        let sum = ValueId(sum as u32);
        let mut look = Look { life, seen: HashMap::new(), pins: Vec::new() };
        let later = self.uses(word, first + 1..self.lives[life].end);
        let unseen = self.hides_sign(&mut look, first, sum)
            && later.iter().all(|at| self.gets(*at, word).iter().all(|get| self.hides_sign(&mut look, *at, *get)));
        if !unseen {
            return;
        }
        look.pins.into_iter().for_each(|pin| self.lives[pin].pinned = true);
        self.lives[life].removed = true;
        if let Stmt::Block(block) = &mut *self.leaves[first].1 {
            for op in &mut block.ops {
                *op = op.map(|v| if v == sum { added } else { v });
            }
        }
    }

    /// A block without conditionals.
    fn block(&self, at: usize) -> Option<&Block> {
        match &*self.leaves[at].1 {
            Stmt::Block(block) if !block.ops.iter().any(|op| matches!(op, Op::If(_))) => Some(block),
            _ => None,
        }
    }

    /// The words of local variables that a statement, if it is a block, reads and writes, and by which operations.
    fn words(&self, at: usize) -> Vec<(usize, Word)> {
        let (ad_mode, s) = &self.leaves[at];
        let Stmt::Block(block) = &**s else { return Vec::new() };
        let word = |op: &Op| match *op {
            Op::Get(lane, reg) | Op::Set(lane, reg, _) => local_word(self.f, *ad_mode, block, lane, reg),
            _ => None,
        };
        block.ops.iter().enumerate().filter_map(|(n, op)| Some((n, word(op)?))).collect()
    }

    /// What a statement reads of a word.
    fn gets(&self, at: usize, word: Word) -> Vec<ValueId> {
        let Stmt::Block(block) = &*self.leaves[at].1 else { return Vec::new() };
        let of = |(n, other): (usize, Word)| {
            (other == word && matches!(block.ops[n], Op::Get(..))).then_some(ValueId(n as u32))
        };
        self.words(at).into_iter().filter_map(of).collect()
    }

    /// The life of a word at a statement.
    fn life(&self, word: Word, at: usize) -> Option<usize> {
        let lives = self.of.get(&word)?;
        let last = lives.partition_point(|n| self.lives[*n].begin <= at).checked_sub(1)?;
        Some(lives[last]).filter(|n| at < self.lives[*n].end)
    }

    /// The blocks of these statements that read or write a word.
    fn uses(&self, word: Word, of: Range<usize>) -> &[usize] {
        let uses = self.uses.get(&word).map_or(&[][..], Vec::as_slice);
        &uses[uses.partition_point(|at| *at < of.start)..uses.partition_point(|at| *at < of.end)]
    }

    /// Whether nobody sees the sign of a value in a block, if it is zero.
    fn hides_sign(&self, look: &mut Look, at: usize, v: ValueId) -> bool {
        if let Some(hides) = look.seen.get(&(at, v)) {
            return *hides;
        }
        let hides = self.all_hide_sign(look, at, v);
        look.seen.insert((at, v), hides);
        hides
    }

    /// Whether nothing that uses a value in a block shows that sign.
    fn all_hide_sign(&self, look: &mut Look, at: usize, v: ValueId) -> bool {
        let Some(block) = self.block(at) else { return false };
        let wanted = self.wanted(at, block);
        for (n, op) in block.ops.iter().enumerate().filter(|(n, _)| wanted[*n]) {
            let result = ValueId(n as u32);
            let hides = match *op {
                op if op.uses().all(|used| used != v) => true,
                Op::Float(Float::Add, a, b) => {
                    let other = if a == v { b } else { a };
                    self.hides_sign(look, at, result) || other != v && self.is_no_negative_zero(look, at, other)
                }
                Op::Float(Float::Sub, a, _) => {
                    self.hides_sign(look, at, result) || a != v && self.is_no_negative_zero(look, at, a)
                }
                Op::Float(Float::Mul, ..) | Op::Sqrt(_) | Op::Canonical(_) => self.hides_sign(look, at, result),
                Op::Float(Float::Div, _, b) => b != v && self.hides_sign(look, at, result),
                Op::Select(c, ..) => c != v && self.hides_sign(look, at, result),
                Op::Abs(_) | Op::CompareFloat(..) | Op::Finite(_) | Op::Ordered(..) => true,
                Op::Kernel(kernel, _) => {
                    let kernel = &self.kernels[kernel as usize];
                    kernel.arity == 1 && at_zeros(kernel).is_some_and(|[plus, minus]| plus == minus)
                }
                Op::Set(lane, reg, _) => self.hides_sign_written(look, at, block, (lane, reg)),
                _ => false,
            };
            if !hides {
                return false;
            }
        }
        true
    }

    /// Which operations of a block do something.
    fn wanted(&self, at: usize, block: &Block) -> Vec<bool> {
        let ad_mode = self.leaves[at].0;
        let mut wanted = vec![false; block.ops.len()];
        for (n, op) in block.ops.iter().enumerate().rev() {
            wanted[n] |= match *op {
                Op::Set(lane, reg, _) => is_written(self.f, ad_mode, block, lane, reg),
                op => !op.is_idle() || block.wraps[n],
            };
            if wanted[n] {
                op.uses().for_each(|v| wanted[v.0 as usize] = true);
            }
        }
        wanted
    }

    /// Whether nobody sees that sign when the value has been written.
    fn hides_sign_written(&self, look: &Look, at: usize, block: &Block, (lane, reg): (u8, u8)) -> bool {
        let ad_mode = self.leaves[at].0;
        let life = local_word(self.f, ad_mode, block, lane, reg).and_then(|word| self.life(word, at));
        life.is_some_and(|life| life == look.life || self.lives[life].removed)
    }

    /// Whether a value in a block is never -0.
    fn is_no_negative_zero(&self, look: &mut Look, at: usize, v: ValueId) -> bool {
        let Some(block) = self.block(at) else { return false };
        let op = |v: ValueId| block.ops[v.0 as usize];
        match op(v) {
            Op::Const(k) => k != (-0.0f64).to_bits(),
            Op::Abs(_) | Op::FromInt(_) => true,
            // A sum is -0 only if both are; what is equal makes 0.
            Op::Float(Float::Add, a, b) => {
                self.is_no_negative_zero(look, at, a) || self.is_no_negative_zero(look, at, b)
            }
            Op::Float(Float::Sub, a, _) | Op::Sqrt(a) | Op::Canonical(a) => self.is_no_negative_zero(look, at, a),
            Op::Float(Float::Mul, a, b) => {
                a == b || matches!((op(a), op(b)), (Op::Get(l, r), Op::Get(m, s)) if (l, r) == (m, s))
            }
            Op::Select(_, a, b) => self.is_no_negative_zero(look, at, a) && self.is_no_negative_zero(look, at, b),
            Op::Kernel(kernel, _) => {
                let kernel = &self.kernels[kernel as usize];
                facts(kernel.name).is_some_and(|facts| facts.not_negative)
                    && at_zeros(kernel).is_some_and(|zeros| !zeros.contains(&(-0.0f64).to_bits()))
            }
            Op::Get(lane, reg) => {
                let ad_mode = self.leaves[at].0;
                let word = local_word(self.f, ad_mode, block, lane, reg);
                let life = word.and_then(|word| self.life(word, at));
                if life.is_none() && self.gradients_are_sums && is_gradient(self.f, ad_mode, block, lane, reg) {
                    return true;
                }
                let summed = life.is_some_and(|life| life != look.life && self.is_sum(life, at));
                if summed {
                    look.pins.extend(life);
                }
                summed
            }
            _ => false,
        }
    }

    /// Whether all that has happened to a word in a life, before this statement, is that something has been added.
    fn is_sum(&self, life: usize, at: usize) -> bool {
        let life = &self.lives[life];
        let only_adds = |at: usize| {
            let sets = self.words(at).into_iter().filter(|(_, word)| *word == life.word);
            let Stmt::Block(all) = &*self.leaves[at].1 else { return true };
            let mut sets = sets.filter_map(|(n, _)| if let Op::Set(_, _, v) = all.ops[n] { Some(v) } else { None });
            sets.all(|v| {
                let Some(block) = self.block(at) else { return false };
                let gets = self.gets(at, life.word);
                match block.ops[v.0 as usize] {
                    Op::Float(Float::Add, a, b) => gets.contains(&a) || gets.contains(&b),
                    Op::Float(Float::Sub, a, _) => gets.contains(&a),
                    _ => false,
                }
            })
        };
        !life.spoilt && !life.removed && self.uses(life.word, life.begin..at).iter().all(|at| only_adds(*at))
    }
}

/// What is looked at for a life.
struct Look {
    life: usize,
    /// What has been found out of values.
    seen: HashMap<(usize, ValueId), bool>,
    /// The lives of words that must not be -0.
    pins: Vec<usize>,
}

/// Whether an operand has a word in a lane that is written in a mode.
fn is_written(f: &Function, ad_mode: AdMode, block: &Block, lane: u8, reg: u8) -> bool {
    match word_of(f, block, lane, reg) {
        Some(word) => word.lane == VALUE || ad_mode.lanes().contains(&word.lane),
        None => matches!(block.slots.get(usize::from(reg)), Some(Some(Slot::Passed(..)))),
    }
}

/// The word of a local variable that an operand is in a lane.
fn local_word(f: &Function, ad_mode: AdMode, block: &Block, lane: u8, reg: u8) -> Option<Word> {
    let word = word_of(f, block, lane, reg)?;
    match word.place {
        Place::Local(local) if word.lane == VALUE || ad_mode.lanes().contains(&word.lane) => Some((local, word.lane)),
        Place::Local(_) | Place::Memory(_) | Place::Log(_) => None,
    }
}

/// The bits of a kernel's values at 0 and at -0, if it has a body.
fn at_zeros(kernel: &Kernel) -> Option<[u64; 2]> {
    let at = |x: f64| body(kernel.name, [x; 3]).map(f64::to_bits);
    Some([at(0.0)?, at(-0.0)?])
}

/// All statements within a statement.
fn all_within(s: &Stmt, look: &mut dyn FnMut(&Stmt)) {
    for s in s.inner().into_iter().flatten() {
        look(s);
        all_within(s, look);
    }
}
