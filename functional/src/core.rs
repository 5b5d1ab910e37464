//! The core language: an A-normal form λ-calculus with first-class functions, tuples, sums, arrays, and views of derivatives.
//!
//! Functions live in *groups* in a [`Store`]. The members of a group may call each other (a `letrec`); a group of one is a single λ. A closure
//! is a member with the values of the group's free variables. Transformations add groups to the store.
//!
//! Every binding has a *level*, a word of layers: code that was transformed computes on numbers with these layers.

use std::rc::Rc;

use pendula_isa::diagnostic::Place;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::errors::Failure;
pub use crate::ops::{Binary, Compare, IntBinary, IntUnary, Op, Test, Unary};
pub use crate::value::{IntType, Value, View, Word};

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// A group of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupId(pub u32);

/// A variable's name and place.
#[derive(Clone, Debug)]
pub struct VarInfo {
    /// The name in the source, or one made up.
    pub name: Rc<str>,
    /// Where it is bound.
    pub place: Option<Place>,
}

/// Bindings, and the variable that is the result.
#[derive(Clone, Debug)]
pub struct Body {
    /// The bindings, in the order of evaluation.
    pub binds: Vec<Bind>,
    /// The result.
    pub result: Var,
}

/// A binding.
#[derive(Clone, Debug)]
pub struct Bind {
    /// The variable.
    pub var: Var,
    /// What it is bound to.
    pub rhs: Rhs,
    /// The layers of the numbers it computes with.
    pub level: Word,
    /// The place in the source.
    pub place: Option<Place>,
}

/// The right-hand side of a binding.
#[derive(Clone, Debug)]
pub enum Rhs {
    /// The same value.
    Alias(Var),
    /// A constant; the level's layers are put around it.
    Const(Value),
    /// An operator.
    Op(Op, Vec<Var>),
    /// A view of a value, under the layers of the level.
    View(View, Var),
    /// A value and its tangent, under the layers of the level.
    Bundle(Var, Var),
    /// The sum of two values of one shape.
    Plus(Var, Var),
    /// The product of two numbers with the layers that are named; the result has those of the level.
    Product(Word, Var, Word, Var),
    /// A tuple.
    Tuple(Vec<Var>),
    /// A part of a tuple: its index, and how many parts there are.
    Part(Var, u32, u32),
    /// A part of a function's sensitivity: its index, and how many free variables the function has.
    Captured(Var, u32, u32),
    /// A constructor of a sum with its payload.
    Inject(u32, Var),
    /// A choice by constructor: its number, the variable for its payload, and what is computed.
    Case(Var, Vec<(u32, Var, Body)>),
    /// A choice by a truth value of the level.
    If(Var, Box<Body>, Box<Body>),
    /// A member of a group, with the free variables' values at this point.
    Closure(GroupId, u16),
    /// A member of the group that this code belongs to.
    Sibling(u16),
    /// The application of a function to its argument.
    Apply(Var, Var),
}

/// A function of a group.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its name, for counts and messages.
    pub name: Rc<str>,
    /// Its parameter.
    pub param: Var,
    /// Its body.
    pub body: Body,
    /// Where it is written.
    pub place: Option<Place>,
}

/// How a group was made from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transform {
    /// By the reverse transformation.
    Reverse,
    /// By the forward transformation.
    Forward,
}

/// A group of functions.
#[derive(Clone, Debug)]
pub struct Group {
    /// The functions.
    pub members: Vec<Member>,
    /// The free variables, in the order of environments.
    pub free: Vec<Var>,
    /// The layers of what it computes with.
    pub level: Word,
    /// What it is a transform of.
    pub origin: Option<(Transform, GroupId)>,
    /// Its reverse transform, once made.
    pub reverse: Option<GroupId>,
    /// Its forward transform, once made.
    pub forward: Option<GroupId>,
}

/// Variables and groups of functions.
#[derive(Clone, Debug, Default)]
pub struct Store {
    vars: Vec<VarInfo>,
    groups: Vec<Rc<Group>>,
    twins: FxHashMap<(Var, Transform), Var>,
    /// Whether elements of arrays are replaced, which is done in place where nobody else has the array.
    pub(crate) updates: bool,
}

impl Store {
    /// A new variable.
    pub fn var(&mut self, name: impl Into<Rc<str>>, place: Option<Place>) -> Var {
        self.vars.push(VarInfo { name: name.into(), place });
        Var(self.vars.len() as u32 - 1)
    }

    /// A new variable with the name of another.
    pub fn like(&mut self, var: Var) -> Var {
        let info = self.vars[var.0 as usize].clone();
        self.vars.push(info);
        Var(self.vars.len() as u32 - 1)
    }

    /// Gives a variable another name.
    pub fn rename(&mut self, var: Var, name: impl Into<Rc<str>>) {
        self.vars[var.0 as usize].name = name.into();
    }

    /// The variable that holds a variable's transformed value.
    pub(crate) fn twin(&mut self, var: Var, how: Transform) -> Var {
        if let Some(twin) = self.twins.get(&(var, how)) {
            return *twin;
        }
        let twin = self.like(var);
        self.twins.insert((var, how), twin);
        twin
    }

    /// A variable's name and place.
    pub fn info(&self, var: Var) -> &VarInfo {
        &self.vars[var.0 as usize]
    }

    /// A group of functions that may call each other by [`Rhs::Sibling`]. Its free variables are found.
    pub fn group(&mut self, members: Vec<Member>) -> GroupId {
        self.group_at(Word::NONE, members)
    }

    /// A group of functions that compute with some layers.
    pub(crate) fn group_at(&mut self, level: Word, members: Vec<Member>) -> GroupId {
        let mut found = Found::default();
        for member in &members {
            found.bound.insert(member.param);
            self.free_of_body(&member.body, &mut found);
        }
        self.add(Group { members, free: found.free, level, origin: None, reverse: None, forward: None })
    }

    /// Room for a group that bodies may name before it is there; [`fill`](Store::fill) makes it.
    pub fn reserve(&mut self) -> GroupId {
        let level = Word::NONE;
        self.add(Group { members: Vec::new(), free: Vec::new(), level, origin: None, reverse: None, forward: None })
    }

    /// Gives a reserved group its functions. Its free variables are found by [`settle`](Store::settle).
    pub fn fill(&mut self, id: GroupId, members: Vec<Member>) {
        self.get_mut(id).members = members;
    }

    /// Finds the free variables of all groups from this one on, which may name each other in circles.
    pub fn settle(&mut self, from: usize) {
        loop {
            let mut changed = false;
            for n in from..self.groups.len() {
                let group = Rc::clone(&self.groups[n]);
                let mut found = Found::default();
                for member in &group.members {
                    found.bound.insert(member.param);
                    self.free_of_body(&member.body, &mut found);
                }
                if found.free != group.free {
                    changed = true;
                    self.get_mut(GroupId(n as u32)).free = found.free;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Adds a group as it is.
    pub(crate) fn add(&mut self, group: Group) -> GroupId {
        self.groups.push(Rc::new(group));
        GroupId(self.groups.len() as u32 - 1)
    }

    /// A group.
    pub fn get(&self, id: GroupId) -> &Rc<Group> {
        &self.groups[id.0 as usize]
    }

    pub(crate) fn get_mut(&mut self, id: GroupId) -> &mut Group {
        Rc::make_mut(&mut self.groups[id.0 as usize])
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The free variables of a body, in the order of their first occurrence.
    pub fn free_vars(&self, body: &Body) -> Vec<Var> {
        let mut found = Found::default();
        self.free_of_body(body, &mut found);
        found.free
    }

    /// All variables that a right-hand side uses from outside, with those of the bodies in it.
    pub(crate) fn free_of(&self, rhs: &Rhs) -> Vec<Var> {
        let mut found = Found::default();
        self.free_of_rhs(rhs, &mut found);
        found.free
    }

    fn free_of_body(&self, body: &Body, found: &mut Found) {
        deep(|| {
            for bind in &body.binds {
                self.free_of_rhs(&bind.rhs, found);
                found.bound.insert(bind.var);
            }
            found.uses(body.result);
        });
    }

    fn free_of_rhs(&self, rhs: &Rhs, found: &mut Found) {
        self.operands(rhs, &mut |v| found.uses(v));
        match rhs {
            Rhs::If(_, yes, no) => {
                self.free_of_body(yes, found);
                self.free_of_body(no, found);
            }
            Rhs::Case(_, arms) => {
                for (_, payload, body) in arms {
                    found.bound.insert(*payload);
                    self.free_of_body(body, found);
                }
            }
            Rhs::Alias(_) | Rhs::Const(_) | Rhs::Op(..) | Rhs::View(..) | Rhs::Bundle(..) | Rhs::Plus(..) => {}
            Rhs::Product(..) | Rhs::Tuple(_) | Rhs::Part(..) | Rhs::Captured(..) => {}
            Rhs::Inject(..) | Rhs::Closure(..) | Rhs::Sibling(_) | Rhs::Apply(..) => {}
        }
    }

    /// The variables that a right-hand side uses itself; those of the bodies in it are left out.
    pub fn operands(&self, rhs: &Rhs, each: &mut dyn FnMut(Var)) {
        match rhs {
            Rhs::Const(_) | Rhs::Sibling(_) => {}
            Rhs::Alias(a) | Rhs::View(_, a) | Rhs::Part(a, ..) | Rhs::Captured(a, ..) | Rhs::Inject(_, a) => each(*a),
            Rhs::Case(a, _) | Rhs::If(a, ..) => each(*a),
            Rhs::Bundle(a, b) | Rhs::Plus(a, b) | Rhs::Product(_, a, _, b) | Rhs::Apply(a, b) => {
                each(*a);
                each(*b);
            }
            Rhs::Op(_, all) | Rhs::Tuple(all) => all.iter().copied().for_each(each),
            Rhs::Closure(group, _) => self.get(*group).free.iter().copied().for_each(each),
        }
    }
}

#[derive(Default)]
struct Found {
    bound: FxHashSet<Var>,
    seen: FxHashSet<Var>,
    free: Vec<Var>,
}

impl Found {
    fn uses(&mut self, var: Var) {
        if !self.bound.contains(&var) && self.seen.insert(var) {
            self.free.push(var);
        }
    }
}

/// Bodies lie in each other: what walks through them gets more room where the stack ends.
pub(crate) fn deep<T>(walk: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 << 10, 1 << 20, walk)
}

/// What stands at the top of a program: a definition or an expression. Its free variables are those that earlier items define.
#[derive(Clone, Debug)]
pub struct Item {
    /// What is computed.
    pub body: Body,
    /// The variable it defines.
    pub defines: Option<Var>,
    /// Whether the value is one of the program's results.
    pub shown: bool,
    /// The name of a definition.
    pub name: Option<Rc<str>>,
    /// Where it is written.
    pub place: Option<Place>,
    /// Why it has no value, if its text has a mistake.
    pub broken: Option<Failure>,
}

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Its variables and functions.
    pub store: Store,
    /// Its definitions and expressions, in order.
    pub items: Vec<Item>,
}

/// Writes bindings one after another.
#[derive(Debug)]
pub struct Builder<'s> {
    /// The store that variables and groups come from.
    pub store: &'s mut Store,
    /// The bindings so far.
    pub binds: Vec<Bind>,
    /// The level of new bindings.
    pub level: Word,
    /// The place of new bindings.
    pub place: Option<Place>,
}

impl<'s> Builder<'s> {
    /// A builder without bindings.
    pub fn new(store: &'s mut Store) -> Builder<'s> {
        Builder { store, binds: Vec::new(), level: Word::NONE, place: None }
    }

    /// Binds a new variable.
    pub fn bind(&mut self, name: &str, rhs: Rhs) -> Var {
        let var = self.store.var(name, self.place.clone());
        self.bind_to(var, rhs);
        var
    }

    /// Binds a variable.
    pub fn bind_to(&mut self, var: Var, rhs: Rhs) {
        self.binds.push(Bind { var, rhs, level: self.level, place: self.place.clone() });
    }

    /// A constant.
    pub fn constant(&mut self, value: Value) -> Var {
        self.bind("c", Rhs::Const(value))
    }

    /// A real constant.
    pub fn real(&mut self, value: f64) -> Var {
        self.constant(Value::real(value))
    }

    /// An operator.
    pub fn op(&mut self, op: Op, args: &[Var]) -> Var {
        self.bind("t", Rhs::Op(op, args.to_vec()))
    }

    /// A tuple.
    pub fn tuple(&mut self, parts: &[Var]) -> Var {
        self.bind("p", Rhs::Tuple(parts.to_vec()))
    }

    /// A part of a tuple of `of` parts.
    pub fn part(&mut self, tuple: Var, index: u32, of: u32) -> Var {
        self.bind("q", Rhs::Part(tuple, index, of))
    }

    /// An application.
    pub fn apply(&mut self, function: Var, argument: Var) -> Var {
        self.bind("r", Rhs::Apply(function, argument))
    }

    /// A view at the level of new bindings.
    pub fn view(&mut self, view: View, of: Var) -> Var {
        self.bind("v", Rhs::View(view, of))
    }

    /// A group of one function; `body` writes its body and gives the result. The function's closure is bound.
    pub fn lambda(&mut self, name: &str, body: impl FnOnce(&mut Builder<'_>, Var) -> Var) -> Var {
        let param = self.store.var("x", self.place.clone());
        let mut inner = Builder { store: self.store, binds: Vec::new(), level: self.level, place: self.place.clone() };
        let result = body(&mut inner, param);
        let body = Body { binds: inner.binds, result };
        let group =
            self.store.group_at(self.level, vec![Member { name: name.into(), param, body, place: self.place.clone() }]);
        self.bind(name, Rhs::Closure(group, 0))
    }

    /// A body in place, for `If` and `Case`; `body` writes it and gives the result.
    pub fn block(&mut self, body: impl FnOnce(&mut Builder<'_>) -> Var) -> Body {
        let mut inner = Builder { store: self.store, binds: Vec::new(), level: self.level, place: self.place.clone() };
        let result = body(&mut inner);
        Body { binds: inner.binds, result }
    }

    /// The bindings with a result.
    pub fn finish(self, result: Var) -> Body {
        Body { binds: self.binds, result }
    }
}
