//! The reverse transformation of Pearlmutter and Siskind, on native tuples, sums and choices.
//!
//! A function maps a transformed argument to a transformed result and a *backpropagator*, which maps the sensitivity of the result to those of
//! the function's free variables (a tuple) and of its argument. The forward phase computes what the source computes, and nothing else. The
//! backpropagator adds up the sensitivity of a variable before it goes on, so that each of the source's calls is followed back once.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::partial::{Partial, of_binary, of_unary};
use super::raised;
use crate::core::{Bind, Body, Builder, GroupId, Member, Op, Rhs, Store, Transform, Unary, Value, Var, View, Word};
use crate::errors::{Failure, NO_DERIVATIVE};

mod arrays;
mod forward;
mod integers;

pub(super) use integers::power;

use forward::Forward;

/// The functions of a group's reverse transform.
pub(super) fn members(store: &mut Store, id: GroupId) -> Result<Vec<Member>, Failure> {
    let source = Rc::clone(store.get(id));
    let mut members = Vec::with_capacity(source.members.len());
    for member in &source.members {
        let mut inactive = FxHashSet::default();
        let notes = Notes { free: &source.free, level: source.level };
        let mut forward = Forward { store, notes, back: FxHashMap::default(), inactive: &mut inactive };
        let mut binds = forward.binds(&member.body)?;
        let back = forward.back;
        let result = store.twin(member.body.result, Transform::Reverse);
        let wanted = Wanted::Function { param: member.param };
        let forward = Written { binds: &mut binds, back: &back, inactive: &inactive };
        let bp = backpropagator(store, &notes, forward, &member.body, &member.name, wanted)?;
        let mut builder = Builder { store, binds: Vec::new(), level: Word::NONE, place: member.place.clone() };
        let closure = builder.bind("b", Rhs::Closure(bp, 0));
        let pair = builder.tuple(&[result, closure]);
        binds.append(&mut builder.binds);
        let param = store.twin(member.param, Transform::Reverse);
        super::sweep(store, &mut binds, pair);
        let body = Body { binds, result: pair };
        members.push(Member { name: member.name.clone(), param, body, place: member.place.clone() });
    }
    Ok(members)
}

#[derive(Clone, Copy)]
struct Notes<'a> {
    free: &'a [Var],
    /// The layers of the source.
    level: Word,
}

/// What the forward phase leaves for the way back, by the variable that a binding of the source binds.
struct Back {
    /// The variable of the backpropagator.
    bp: Var,
    /// Of a choice: the variables whose sensitivities it gives.
    of: Vec<Var>,
}

type Backs = FxHashMap<Var, Back>;

/// What a backpropagator gives.
#[derive(Clone, Copy)]
enum Wanted<'a> {
    /// The sensitivities of a function's free variables, as a tuple, and of its parameter.
    Function { param: Var },
    /// The sensitivities of some variables, then of the payload, as a tuple.
    Branch { of: &'a [Var], payload: Option<(u32, Var)> },
}

/// A forward phase that is written.
struct Written<'a> {
    binds: &'a mut Vec<Bind>,
    back: &'a Backs,
    inactive: &'a FxHashSet<Var>,
}

/// The group of the backpropagator of a body, whose forward phase gets what only that can give.
fn backpropagator(
    store: &mut Store,
    notes: &Notes<'_>,
    forward: Written<'_>,
    body: &Body,
    name: &str,
    wanted: Wanted<'_>,
) -> Result<GroupId, Failure> {
    let sensitivity = store.var("s", None);
    let builder = Builder::new(store);
    let mut reverse = Reverse {
        builder,
        notes: *notes,
        back: forward.back,
        inactive: forward.inactive,
        sums: FxHashMap::default(),
        plain: FxHashMap::default(),
        zeros: Vec::new(),
    };
    reverse.add(body.result, sensitivity);
    for bind in body.binds.iter().rev() {
        reverse.builder.place.clone_from(&bind.place);
        reverse.builder.level = raised(bind.level, View::Sense)?;
        reverse.bind(bind)?;
    }
    reverse.builder.place = None;
    reverse.builder.level = raised(notes.level, View::Sense)?;
    let result = match wanted {
        Wanted::Function { param } => {
            let free: Vec<Var> = notes.free.iter().map(|v| reverse.finish(*v)).collect();
            let env =
                if free.is_empty() { reverse.builder.constant(Value::UNIT) } else { reverse.builder.tuple(&free) };
            let param = reverse.finish(param);
            reverse.builder.tuple(&[env, param])
        }
        Wanted::Branch { of, payload } => {
            let mut all: Vec<Var> = of.iter().map(|v| reverse.finish(*v)).collect();
            if let Some((number, payload)) = payload {
                let payload = reverse.finish(payload);
                all.push(reverse.builder.bind("s", Rhs::Inject(number, payload)));
            }
            reverse.builder.tuple(&all)
        }
    };
    let mut binds = reverse.builder.binds;
    let zeros = reverse.zeros;
    super::sweep(store, &mut binds, result);
    let body = Body { binds, result };
    forward::insert(store, forward.binds, zeros);
    let level = raised(notes.level, View::Sense)?;
    Ok(store.group_at(level, vec![Member { name: format!("{name}~").into(), param: sensitivity, body, place: None }]))
}

/// The sum of the sensitivities that a variable got so far.
#[derive(Clone, Default)]
struct Sum {
    whole: Option<Var>,
    parts: Vec<Option<Var>>,
    /// Whether they are what a function captured.
    captured: bool,
}

/// One of so many parts of a tuple, or of what a function captured.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Part {
    index: u32,
    of: u32,
    captured: bool,
}

impl Part {
    fn rhs(self, var: Var) -> Rhs {
        if self.captured { Rhs::Captured(var, self.index, self.of) } else { Rhs::Part(var, self.index, self.of) }
    }
}

/// The way back.
struct Reverse<'a> {
    builder: Builder<'a>,
    notes: Notes<'a>,
    back: &'a Backs,
    inactive: &'a FxHashSet<Var>,
    sums: FxHashMap<Var, Sum>,
    /// Values of variables of the source, where they are bound.
    plain: FxHashMap<Var, Var>,
    /// The zeros that the forward phase is to make, so that no array is kept for its length alone.
    zeros: Vec<Zero>,
}

/// The zero of a variable's value, or of a part of it.
struct Zero {
    of: Var,
    part: Option<Part>,
    var: Var,
}

impl Reverse<'_> {
    fn plus(&mut self, sum: Option<Var>, more: Var) -> Var {
        match sum {
            None => more,
            Some(sum) => self.builder.bind("s", Rhs::Plus(sum, more)),
        }
    }

    fn add(&mut self, var: Var, more: Var) {
        if self.inactive.contains(&var) {
            return;
        }
        let whole = self.sums.get(&var).and_then(|s| s.whole);
        let whole = self.plus(whole, more);
        self.sums.entry(var).or_default().whole = Some(whole);
    }

    fn add_part(&mut self, var: Var, Part { index, of, captured }: Part, more: Var) {
        if self.inactive.contains(&var) {
            return;
        }
        let before = self.sums.get(&var).and_then(|s| s.parts.get(index as usize).copied().flatten());
        let part = self.plus(before, more);
        let sum = self.sums.entry(var).or_default();
        sum.parts.resize(of as usize, None);
        sum.captured |= captured;
        sum.parts[index as usize] = Some(part);
    }

    /// The value that a variable of the source had.
    fn value(&mut self, var: Var) -> Var {
        if let Some(value) = self.plain.get(&var) {
            return *value;
        }
        let twin = self.builder.store.twin(var, Transform::Reverse);
        let level = std::mem::replace(&mut self.builder.level, Word::NONE);
        let value = self.builder.view(View::Unreverse, twin);
        self.builder.level = level;
        self.plain.insert(var, value);
        value
    }

    /// The zero sensitivity of the value that a variable of the source had, or of a part of it.
    fn zero(&mut self, of: Var, part: Option<Part>) -> Var {
        let zero = if self.builder.store.updates {
            // What is updated in place must not be kept for the way back.
            match self.zeros.iter().find(|z| z.of == of && z.part == part) {
                Some(known) => known.var,
                None => {
                    let var = self.builder.store.var("z", None);
                    self.zeros.push(Zero { of, part, var });
                    var
                }
            }
        } else {
            let mut value = self.value(of);
            if let Some(part) = part {
                value = self.builder.bind("q", part.rhs(value));
            }
            let level = std::mem::replace(&mut self.builder.level, Word::NONE);
            let zero = self.builder.view(View::Zero, value);
            self.builder.level = level;
            zero
        };
        let level = std::mem::replace(&mut self.builder.level, Word::NONE);
        let zero = self.builder.view(View::Sense, zero);
        self.builder.level = level;
        zero
    }

    /// The sum of a variable's sensitivities as a value; `None` if it got none.
    fn sum(&mut self, var: Var) -> Option<Var> {
        let sum = self.sums.remove(&var)?;
        if sum.parts.is_empty() {
            return sum.whole;
        }
        let of = sum.parts.len() as u32;
        let mut parts = Vec::with_capacity(sum.parts.len());
        for (index, part) in (0..of).zip(sum.parts) {
            parts.push(match part {
                Some(part) => part,
                None => self.zero(var, Some(Part { index, of, captured: sum.captured })),
            });
        }
        let tuple = self.builder.tuple(&parts);
        Some(self.plus(sum.whole, tuple))
    }

    /// The sum of a variable's sensitivities, or zero.
    fn finish(&mut self, var: Var) -> Var {
        match self.sum(var) {
            Some(sum) => {
                // It may be wanted again.
                self.sums.insert(var, Sum { whole: Some(sum), ..Sum::default() });
                sum
            }
            None => self.zero(var, None),
        }
    }

    fn bind(&mut self, bind: &Bind) -> Result<(), Failure> {
        if self.inactive.contains(&bind.var) {
            return Ok(());
        }
        let Some(z) = self.sum(bind.var) else { return Ok(()) };
        match &bind.rhs {
            Rhs::Const(_) => {}
            Rhs::Alias(a) => self.add(*a, z),
            Rhs::Op(op, args) => self.op(op, args, bind, z)?,
            Rhs::View(view, a) => self.view(*view, *a, z)?,
            Rhs::Bundle(a, b) => {
                let primal = self.builder.view(View::Primal, z);
                let tangent = self.builder.view(View::Tangent, z);
                self.add(*a, primal);
                self.add(*b, tangent);
            }
            Rhs::Plus(a, b) => {
                self.add(*a, z);
                self.add(*b, z);
            }
            Rhs::Product(one, a, other, b) => {
                let level = self.builder.level;
                for (x, of, y, to) in [(*b, *other, *a, *one), (*a, *one, *b, *other)] {
                    if self.inactive.contains(&y) {
                        continue;
                    }
                    let x = self.value(x);
                    self.builder.level = raised(to, View::Sense)?;
                    let product = self.builder.bind("s", Rhs::Product(of, x, level, z));
                    self.builder.level = level;
                    self.add(y, product);
                }
            }
            Rhs::Tuple(all) => {
                let of = all.len() as u32;
                for (n, var) in (0..of).zip(all) {
                    if !self.inactive.contains(var) {
                        let part = self.builder.part(z, n, of);
                        self.add(*var, part);
                    }
                }
            }
            Rhs::Part(a, index, of) => self.add_part(*a, Part { index: *index, of: *of, captured: false }, z),
            Rhs::Captured(a, index, of) => self.add_part(*a, Part { index: *index, of: *of, captured: true }, z),
            Rhs::Inject(number, a) => {
                let payload = self.builder.store.var("s", bind.place.clone());
                let body = Body { binds: Vec::new(), result: payload };
                let payload = self.builder.bind("s", Rhs::Case(z, vec![(*number, payload, body)]));
                self.add(*a, payload);
            }
            Rhs::Case(s, arms) => {
                let all = self.branches(bind, z, u32::from(!arms.is_empty()));
                if let Some(payload) = all {
                    self.add(*s, payload);
                }
            }
            Rhs::If(..) => {
                self.branches(bind, z, 0);
            }
            Rhs::Closure(group, _) => {
                let free = self.builder.store.get(*group).free.clone();
                self.captured(&free, z);
            }
            Rhs::Sibling(_) => {
                let free = self.notes.free;
                self.captured(free, z);
            }
            Rhs::Apply(f, x) => {
                if let Some(back) = self.back.get(&bind.var) {
                    let both = self.builder.apply(back.bp, z);
                    if !self.inactive.contains(f) {
                        let env = self.builder.part(both, 0, 2);
                        self.add(*f, env);
                    }
                    if !self.inactive.contains(x) {
                        let argument = self.builder.part(both, 1, 2);
                        self.add(*x, argument);
                    }
                }
            }
        }
        Ok(())
    }

    /// The parts of a function's sensitivity go to its free variables.
    fn captured(&mut self, free: &[Var], z: Var) {
        for (n, var) in (0..).zip(free) {
            if !self.inactive.contains(var) {
                let part = self.builder.bind("s", Rhs::Captured(z, n, free.len() as u32));
                self.add(*var, part);
            }
        }
    }

    /// The way back through a choice; gives what comes behind the sensitivities of variables.
    fn branches(&mut self, bind: &Bind, z: Var, more: u32) -> Option<Var> {
        let back = self.back.get(&bind.var)?;
        let of = back.of.len() as u32 + more;
        if of == 0 {
            return None;
        }
        let all = self.builder.apply(back.bp, z);
        for (n, var) in (0..).zip(&back.of) {
            let part = self.builder.part(all, n, of);
            self.add(*var, part);
        }
        (more > 0).then(|| self.builder.part(all, of - 1, of))
    }

    fn view(&mut self, view: View, a: Var, z: Var) -> Result<(), Failure> {
        let back = match view {
            View::Zero => return Ok(()),
            View::Reverse => View::Unreverse,
            View::Unreverse => View::Reverse,
            View::Sense => View::Unsense,
            View::Unsense => View::Sense,
            View::Perturb => View::Unperturb,
            View::Unperturb => View::Perturb,
            View::Forward => View::Primal,
            View::Primal => View::Forward,
            View::Tangent => {
                let zero = self.builder.view(View::Zero, z);
                let bundle = self.builder.bind("s", Rhs::Bundle(zero, z));
                self.add(a, bundle);
                return Ok(());
            }
            View::Open | View::Close => return Err(Failure::new(NO_DERIVATIVE, "internal error: a half view")),
        };
        let z = self.builder.view(back, z);
        self.add(a, z);
        Ok(())
    }

    /// `z` times a partial derivative is added to the sensitivity of `x`.
    fn scaled(&mut self, x: Var, partial: Partial, level: Word, z: Var) {
        match partial {
            Partial::Zero => {}
            Partial::One => self.add(x, z),
            Partial::Minus => {
                let negative = self.builder.op(Op::Unary(Unary::Neg), &[z]);
                self.add(x, negative);
            }
            Partial::Is(by) => {
                let sense = self.builder.level;
                let product = self.builder.bind("s", Rhs::Product(level, by, sense, z));
                self.add(x, product);
            }
        }
    }

    fn op(&mut self, op: &Op, args: &[Var], bind: &Bind, z: Var) -> Result<(), Failure> {
        let (level, sense) = (bind.level, self.builder.level);
        match op {
            Op::Unary(f) => {
                let (x, value) = (self.value(args[0]), self.value(bind.var));
                self.builder.level = level;
                let partial = of_unary(&mut self.builder, *f, x, value).map_err(|e| e.at(bind.place.as_ref()))?;
                self.builder.level = sense;
                self.scaled(args[0], partial, level, z);
            }
            Op::Binary(f) => {
                let all = (self.value(args[0]), self.value(args[1]), self.value(bind.var));
                let wanted = [0, 1].map(|n| !self.inactive.contains(&args[n]));
                self.builder.level = level;
                let partials = of_binary(&mut self.builder, *f, all, wanted).map_err(|e| e.at(bind.place.as_ref()))?;
                self.builder.level = sense;
                for n in [0, 1] {
                    if wanted[n] {
                        self.scaled(args[n], partials[n], level, z);
                    }
                }
            }
            Op::Ladder(_) => return Err(super::staged(op)),
            Op::Compare(_) | Op::Not | Op::Test(_) | Op::Read | Op::Iota(_) | Op::Length => {}
            Op::IntUnary(f) => self.int_unary(*f, args, bind, z),
            Op::IntBinary(f) => self.int_binary(*f, args, bind, z),
            Op::ToReal | Op::ToInt(_) => self.like(args[0], z),
            Op::Like => self.like(args[1], z),
            Op::ToBits(_) | Op::FromBits(_) => {}
            Op::Custom => {
                let (function, result) = (self.value(args[1]), self.value(bind.var));
                self.builder.level = Word::NONE;
                let plain = self.builder.view(View::Unsense, z);
                self.builder.level = level;
                let function = self.builder.apply(function, result);
                let back = self.builder.apply(function, plain);
                self.builder.level = Word::NONE;
                let back = self.builder.view(View::Sense, back);
                self.builder.level = sense;
                self.add(args[2], back);
            }
            Op::AsReal | Op::Write => self.add(args[0], z),
            Op::Check(_) => self.add(args[1], z),
            Op::Map | Op::Scan | Op::ScanBack => self.loops(op, args, bind, z),
            Op::Array | Op::Replicate | Op::Index | Op::Update | Op::Concat | Op::Slice => {
                self.array(op, args, bind, z)
            }
            Op::Flip | Op::Zip | Op::Unzip(..) | Op::Flatten | Op::Unflatten => self.array(op, args, bind, z),
            Op::Transpose | Op::Gather | Op::Scatter | Op::ScatterAdd | Op::Sum | Op::Bump => {
                self.array(op, args, bind, z)
            }
        }
        Ok(())
    }
}
