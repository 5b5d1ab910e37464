//! Bodies as sequences of instructions on slots.
//!
//! A slot is freed where its variable is used last, so that a frame holds nothing that is not needed, and arrays can be changed in place.

use std::cell::Cell;
use std::rc::Rc;

use pendula_isa::diagnostic::Place;
use rustc_hash::{FxHashMap, FxHashSet};

use super::code::{Code, Instr, Src};
use crate::core::{Body, Op, Rhs, Store, Var, deep};
use crate::errors::{Failure, NESTING};
use crate::value::{Env, Value, Word};

/// Compiles a body whose free variables are found in the environment in this order.
pub(super) fn compile(
    store: &Store,
    name: Rc<str>,
    param: Option<Var>,
    body: &Body,
    free: &[Var],
) -> Result<Code, Failure> {
    let env = free.iter().enumerate().map(|(n, v)| (*v, n as u32)).collect();
    let mut compiler = Compiler {
        store,
        env,
        slots: FxHashMap::default(),
        unused: Vec::new(),
        size: 1,
        instrs: Vec::new(),
        places: Vec::new(),
        place: None,
    };
    match param {
        Some(param) => {
            compiler.slots.insert(param, 0);
        }
        None => compiler.unused.push(0),
    }
    let live = FxHashSet::default();
    compiler.body(body, &live, Target::Return)?;
    let has_places = compiler.places.iter().any(Option::is_some);
    let (instrs, places, slots) = (compiler.instrs, compiler.places, compiler.size);
    Ok(Code { name, instrs, places, has_places, slots, calls: Cell::new(0) })
}

#[derive(Clone, Copy)]
enum Target {
    /// The result is returned.
    Return,
    /// The result goes to a slot.
    Slot(u32),
}

struct Compiler<'s> {
    store: &'s Store,
    env: FxHashMap<Var, u32>,
    slots: FxHashMap<Var, u32>,
    unused: Vec<u32>,
    size: u32,
    instrs: Vec<Instr>,
    places: Vec<Option<Place>>,
    place: Option<Place>,
}

type Live = FxHashSet<Var>;

/// What lives after a binding: what is used later in its body, or lives after the body.
struct After<'a> {
    lasts: &'a FxHashMap<Var, usize>,
    at: usize,
    live: &'a Live,
}

impl After<'_> {
    fn has(&self, var: Var) -> bool {
        self.live.contains(&var) || self.lasts.get(&var).is_some_and(|last| *last > self.at)
    }
}

impl Compiler<'_> {
    fn emit(&mut self, instr: Instr) {
        self.instrs.push(instr);
        self.places.push(self.place.clone());
    }

    fn slot(&mut self) -> u32 {
        self.unused.pop().unwrap_or_else(|| {
            self.size += 1;
            self.size - 1
        })
    }

    fn slot_of(&mut self, var: Var) -> u32 {
        let slot = self.slot();
        self.slots.insert(var, slot);
        slot
    }

    /// For each variable that a body uses, where it is used last.
    fn lasts(&self, body: &Body) -> FxHashMap<Var, usize> {
        let mut lasts = FxHashMap::default();
        for (n, bind) in body.binds.iter().enumerate() {
            self.store.operands(&bind.rhs, &mut |v| {
                lasts.insert(v, n);
            });
            match &bind.rhs {
                Rhs::If(_, yes, no) => {
                    let both = self.locals(yes).into_iter().chain(self.locals(no));
                    lasts.extend(both.map(|v| (v, n)));
                }
                Rhs::Case(_, arms) => {
                    for (_, payload, body) in arms {
                        lasts.extend(self.locals(body).into_iter().filter(|v| v != payload).map(|v| (v, n)));
                    }
                }
                Rhs::Alias(_) | Rhs::Const(_) | Rhs::Op(..) | Rhs::View(..) | Rhs::Bundle(..) | Rhs::Plus(..) => {}
                Rhs::Product(..) | Rhs::Tuple(_) | Rhs::Part(..) | Rhs::Captured(..) => {}
                Rhs::Inject(..) | Rhs::Closure(..) | Rhs::Sibling(_) | Rhs::Apply(..) => {}
            }
        }
        lasts.insert(body.result, body.binds.len());
        lasts
    }

    fn locals(&self, body: &Body) -> Vec<Var> {
        self.store.free_vars(body)
    }

    /// Operands; those that do not live afterwards are taken for the last time.
    fn sources(&mut self, vars: &[Var], after: &After<'_>) -> Result<Box<[Src]>, Failure> {
        let mut all = Vec::with_capacity(vars.len());
        let mut freed = Vec::new();
        for (n, var) in vars.iter().enumerate() {
            if let Some(index) = self.env.get(var) {
                all.push(Src::Env(*index));
                continue;
            }
            let Some(slot) = self.slots.get(var).copied() else {
                let name = &self.store.info(*var).name;
                return Err(Failure::new(NESTING, format!("internal error: `{name}` has no value here")));
            };
            let again = vars[n + 1..].contains(var) || after.has(*var);
            if again {
                all.push(Src::Local(slot));
            } else {
                all.push(Src::Last(slot));
                freed.push((*var, slot));
            }
        }
        for (var, slot) in freed {
            self.slots.remove(&var);
            self.unused.push(slot);
        }
        Ok(all.into_boxed_slice())
    }

    fn one(&mut self, var: Var, after: &After<'_>) -> Result<Src, Failure> {
        Ok(self.sources(&[var], after)?[0])
    }

    fn two(&mut self, a: Var, b: Var, after: &After<'_>) -> Result<(Src, Src), Failure> {
        let both = self.sources(&[a, b], after)?;
        Ok((both[0], both[1]))
    }

    fn body(&mut self, body: &Body, after: &Live, target: Target) -> Result<(), Failure> {
        deep(|| self.body_inside(body, after, target))
    }

    fn body_inside(&mut self, body: &Body, after: &Live, target: Target) -> Result<(), Failure> {
        let lasts = self.lasts(body);
        for (at, bind) in body.binds.iter().enumerate() {
            let live = &After { lasts: &lasts, at, live: after };
            self.place.clone_from(&bind.place);
            let last = at + 1 == body.binds.len() && body.result == bind.var && matches!(target, Target::Return);
            match &bind.rhs {
                Rhs::Apply(f, x) if last => {
                    let (f, x) = self.two(*f, *x, live)?;
                    self.emit(Instr::TailApply { f, x });
                    return Ok(());
                }
                Rhs::If(c, yes, no) => {
                    let bodies = [(None, &**yes), (None, &**no)];
                    if self.choice(Choice::If(bind.level), *c, &bodies, bind.var, live, last)? {
                        return Ok(());
                    }
                }
                Rhs::Case(s, arms) => {
                    let numbers = arms.iter().map(|(n, ..)| *n).collect();
                    let bodies: Vec<_> = arms.iter().map(|(_, payload, body)| (Some(*payload), body)).collect();
                    if self.choice(Choice::Case(numbers), *s, &bodies, bind.var, live, last)? {
                        return Ok(());
                    }
                }
                rhs => self.simple(bind.var, rhs, bind.level, live)?,
            }
            if !live.has(bind.var) {
                self.forget(&[bind.var]);
            }
        }
        self.place = None;
        let a = self.one(body.result, &After { lasts: &lasts, at: body.binds.len(), live: after })?;
        match target {
            Target::Return => self.emit(Instr::Return { a }),
            Target::Slot(dst) => self.emit(Instr::Move { dst, a }),
        }
        Ok(())
    }

    fn forget(&mut self, vars: &[Var]) {
        let slots: Vec<u32> = vars.iter().filter_map(|v| self.slots.remove(v)).collect();
        if !slots.is_empty() {
            self.unused.extend(&slots);
            self.emit(Instr::Forget { slots: slots.into_boxed_slice() });
        }
    }

    /// An `If` or `Case`. Gives whether all branches return.
    fn choice(
        &mut self,
        choice: Choice,
        on: Var,
        bodies: &[(Option<Var>, &Body)],
        var: Var,
        after: &After<'_>,
        last: bool,
    ) -> Result<bool, Failure> {
        let uses: Vec<Vec<Var>> = bodies.iter().map(|(_, body)| self.locals(body)).collect();
        let live: Live = self.slots.keys().copied().filter(|v| after.has(*v)).collect();
        let inside: Live = live.iter().chain(uses.iter().flatten()).copied().collect();
        let a = self.one(on, &After { lasts: &FxHashMap::default(), at: 0, live: &inside })?;
        let at = self.instrs.len();
        self.emit(Instr::Jump { to: 0 });
        let dst = if last { 0 } else { self.slot() };
        let (slots, unused) = (self.slots.clone(), self.unused.clone());
        let mut starts = Vec::new();
        let mut ends = Vec::new();
        let place = self.place.clone();
        for (n, (payload, body)) in bodies.iter().enumerate() {
            self.slots.clone_from(&slots);
            self.unused.clone_from(&unused);
            self.place.clone_from(&place);
            let start = self.instrs.len() as u32;
            let into = payload.map(|payload| self.slot_of(payload));
            starts.push((start, into.unwrap_or(0)));
            // What only the other branches use.
            let mut gone: Vec<Var> =
                uses.iter().flatten().copied().filter(|v| !live.contains(v) && !uses[n].contains(v)).collect();
            gone.retain(|v| slots.contains_key(v));
            if let Some(payload) = payload.filter(|p| !uses[n].contains(p)) {
                gone.push(payload);
            }
            self.forget(&gone);
            self.body(body, &live, if last { Target::Return } else { Target::Slot(dst) })?;
            if !last && n + 1 < bodies.len() {
                ends.push(self.instrs.len());
                self.emit(Instr::Jump { to: 0 });
            }
        }
        let end = self.instrs.len() as u32;
        for at in ends {
            self.instrs[at] = Instr::Jump { to: end };
        }
        self.instrs[at] = match choice {
            Choice::If(level) => Instr::If { level, a, no: starts[1].0 },
            Choice::Case(numbers) => {
                let arms =
                    numbers.into_iter().zip(starts).map(|(number, (start, into))| (number, start, into)).collect();
                Instr::Case { a, arms }
            }
        };
        // Afterwards only what lives has a slot.
        self.slots = slots;
        self.unused = unused;
        let dead: Vec<Var> = self.slots.keys().copied().filter(|v| !live.contains(v)).collect();
        for var in dead {
            if let Some(slot) = self.slots.remove(&var) {
                self.unused.push(slot);
            }
        }
        if !last {
            self.slots.insert(var, dst);
        }
        Ok(last)
    }

    fn simple(&mut self, var: Var, rhs: &Rhs, level: Word, live: &After<'_>) -> Result<(), Failure> {
        let instr = match rhs {
            Rhs::If(..) | Rhs::Case(..) => return Ok(()),
            Rhs::Alias(a) => {
                let a = self.one(*a, live)?;
                Instr::Move { dst: self.slot_of(var), a }
            }
            Rhs::Const(value) => Instr::Const { dst: self.slot_of(var), value: lift(value.clone(), level)? },
            Rhs::Op(op, args) => self.operator(var, op, args, level, live)?,
            Rhs::View(view, a) => {
                let word = Word::at(*view, level).ok_or_else(too_deep)?;
                let a = self.one(*a, live)?;
                let (word, a) = self.joined(word, a);
                Instr::View { word, dst: self.slot_of(var), a }
            }
            Rhs::Bundle(a, b) => {
                let (a, b) = self.two(*a, *b, live)?;
                Instr::Bundle { level, dst: self.slot_of(var), a, b }
            }
            Rhs::Plus(a, b) => {
                let (a, b) = self.two(*a, *b, live)?;
                Instr::Plus { dst: self.slot_of(var), a, b }
            }
            Rhs::Product(one, a, other, b) => {
                let (a, b) = self.two(*a, *b, live)?;
                Instr::Product { levels: Box::new((*one, *other, level)), dst: self.slot_of(var), a, b }
            }
            Rhs::Tuple(parts) => {
                let args = self.sources(parts, live)?;
                let dst = self.slot_of(var);
                match *args {
                    [a, b] => Instr::Pair { dst, a, b },
                    _ => Instr::Tuple { dst, args },
                }
            }
            Rhs::Part(a, index, of) => {
                let a = self.one(*a, live)?;
                Instr::Part { dst: self.slot_of(var), a, index: *index, of: *of }
            }
            Rhs::Captured(a, index, of) => {
                let a = self.one(*a, live)?;
                Instr::Captured { dst: self.slot_of(var), a, index: *index, of: *of }
            }
            Rhs::Inject(constructor, a) => {
                let a = self.one(*a, live)?;
                Instr::Inject { dst: self.slot_of(var), constructor: *constructor, a }
            }
            Rhs::Closure(group, member) => {
                let free = &self.store.get(*group).free;
                if free.is_empty() {
                    let value = Value::Closure(*member, Word::NONE, Env::new(*group, Box::new([])));
                    Instr::Const { dst: self.slot_of(var), value }
                } else {
                    let args = self.sources(&free.clone(), live)?;
                    Instr::Closure { dst: self.slot_of(var), group: *group, member: *member, args }
                }
            }
            Rhs::Sibling(member) => Instr::Sibling { dst: self.slot_of(var), member: *member },
            Rhs::Apply(f, x) => {
                let (f, x) = self.two(*f, *x, live)?;
                Instr::Apply { dst: self.slot_of(var), f, x }
            }
        };
        self.emit(instr);
        Ok(())
    }

    /// A view of a view that nothing else sees is one view.
    fn joined(&mut self, word: Word, a: Src) -> (Word, Src) {
        let (Some(Instr::View { word: before, dst, a: inner }), Src::Last(slot)) = (self.instrs.last(), a) else {
            return (word, a);
        };
        match before.then(word) {
            Some(both) if *dst == slot => {
                let inner = *inner;
                self.instrs.pop();
                self.places.pop();
                (both, inner)
            }
            Some(_) | None => (word, a),
        }
    }

    fn operator(&mut self, var: Var, op: &Op, args: &[Var], level: Word, live: &After<'_>) -> Result<Instr, Failure> {
        let args = self.sources(args, live)?;
        let dst = self.slot_of(var);
        Ok(match (op, &*args) {
            (Op::Unary(op), [a]) => Instr::Unary { op: *op, level, dst, a: *a },
            (Op::Binary(op), [a, b]) => Instr::Binary { op: *op, level, dst, a: *a, b: *b },
            (Op::Compare(op), [a, b]) => Instr::Compare { op: *op, level, dst, a: *a, b: *b },
            (Op::Test(test), [a]) => Instr::Test { test: *test, level, dst, a: *a },
            (Op::AsReal, [a]) => Instr::AsReal { level, dst, a: *a },
            (op, _) => Instr::Op { op: Box::new(op.clone()), level, dst, args },
        })
    }
}

enum Choice {
    If(Word),
    Case(Vec<u32>),
}

fn too_deep() -> Failure {
    Failure::new(NESTING, "derivatives are nested too deep").help("nest fewer derivatives inside each other")
}

/// A constant with the layers of a level.
fn lift(value: Value, level: Word) -> Result<Value, Failure> {
    value.through(level)
}
