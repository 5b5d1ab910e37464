//! From inferred programs to the core.
//!
//! A function with several parameters takes them as a tuple; where it is used as a value, nested functions of one parameter stand for it.
//! Functions as values take one parameter each.

use pendula_isa::diagnostic::{Diagnostic, Place};
use rustc_hash::{FxHashMap, FxHashSet};

use super::code::{Body, Code, Def, Fun, Id, Node};
use super::lex::Name;
use super::syntax::Span;
use super::types::{Size, Type, Unifier, VarId};
use crate::core::{self, Bind, GroupId, IntBinary, IntType, Item, Member, Op, Rhs, Store, Value, Var};
use crate::errors;
use crate::value::Word;

mod arrays;
mod builtins;
mod calls;
mod forms;
mod scalars;
mod sizes;

pub(super) use scalars::int_type;

pub(super) type Made<T> = Result<T, Box<Diagnostic>>;

/// What stands for a variable of the program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    Value(Var),
    /// A function of a tuple of so many arguments, or of one. The first may be sizes.
    Function(Var, usize),
}

/// A function that is to be called.
#[derive(Clone, Debug)]
pub(super) enum Callee {
    Value(Var),
    /// A function of a tuple, with arguments that are there already.
    Known(Var, usize, Vec<Var>),
    Lambda(Fun),
    Builtin(Name, Type, Vec<Arg>),
}

/// An argument: a value, or a function whose code may stand where it is called.
#[derive(Clone, Debug)]
pub(super) enum Arg {
    Var(Var),
    Fun(Callee),
}

/// The state of elaboration.
pub(super) struct Elaborator<'a> {
    code: &'a Code,
    unifier: &'a Unifier,
    pub(super) store: Store,
    blocks: Vec<Vec<Bind>>,
    bound: FxHashMap<VarId, Bound>,
    /// What is in scope, the last first.
    scope: Vec<VarId>,
    /// Variables that may be left out, if nothing uses them.
    spare: FxHashSet<Var>,
    /// The parts of tuples, by tuple, and the tuples in the order in which they were taken apart.
    parts: FxHashMap<Var, Vec<Var>>,
    taken: Vec<Var>,
    place: Option<Place>,
    /// The number of the user's first file; the prelude comes before.
    own_files: u16,
    /// The sizes that are arguments, by definition.
    implicit: FxHashMap<VarId, Vec<VarId>>,
}

impl<'a> Elaborator<'a> {
    pub(super) fn new(code: &'a Code, unifier: &'a Unifier, own_files: u16) -> Elaborator<'a> {
        Elaborator {
            code,
            unifier,
            store: Store::default(),
            blocks: Vec::new(),
            bound: FxHashMap::default(),
            scope: Vec::new(),
            spare: FxHashSet::default(),
            parts: FxHashMap::default(),
            taken: Vec::new(),
            place: None,
            own_files,
            implicit: FxHashMap::default(),
        }
    }

    fn var(&mut self, name: &str) -> Var {
        self.store.var(name, self.place.clone())
    }

    fn bind(&mut self, name: &str, rhs: Rhs) -> Var {
        let var = self.var(name);
        self.bind_to(var, rhs);
        var
    }

    fn bind_to(&mut self, var: Var, rhs: Rhs) {
        let bind = Bind { var, rhs, level: Word::NONE, place: self.place.clone() };
        match self.blocks.last_mut() {
            Some(block) => block.push(bind),
            None => self.blocks.push(vec![bind]),
        }
    }

    fn op(&mut self, op: Op, args: &[Var]) -> Var {
        self.store.updates |= matches!(op, Op::Update | Op::Scatter);
        self.bind("t", Rhs::Op(op, args.to_vec()))
    }

    fn constant(&mut self, value: Value) -> Var {
        self.bind("c", Rhs::Const(value))
    }

    fn int64(&mut self, n: i64) -> Var {
        self.constant(Value::int(IntType::I64, n))
    }

    fn int_op(&mut self, op: IntBinary, a: Var, b: Var) -> Var {
        self.op(Op::IntBinary(op), &[a, b])
    }

    fn tuple(&mut self, parts: &[Var]) -> Var {
        self.bind("p", Rhs::Tuple(parts.to_vec()))
    }

    /// A part of a tuple. All parts are bound when the first is wanted: a tuple that is looked into later would keep the array among them
    /// that is updated meanwhile.
    fn part(&mut self, tuple: Var, index: usize, of: usize) -> Var {
        if let Some(known) = self.parts.get(&tuple).and_then(|parts| parts.get(index)) {
            return *known;
        }
        let parts: Vec<Var> = (0..of as u32).map(|n| self.bind("q", Rhs::Part(tuple, n, of as u32))).collect();
        self.spare.extend(&parts);
        let part = parts[index];
        self.parts.insert(tuple, parts);
        self.taken.push(tuple);
        part
    }

    fn length(&mut self, array: Var) -> Var {
        self.op(Op::Length, &[array])
    }

    /// A body of its own.
    fn block(&mut self, write: impl FnOnce(&mut Self) -> Made<Var>) -> Made<core::Body> {
        self.blocks.push(Vec::new());
        let (scope, taken) = (self.scope.len(), self.taken.len());
        let result = write(self);
        self.scope.truncate(scope);
        for tuple in self.taken.split_off(taken) {
            self.parts.remove(&tuple);
        }
        let binds = self.blocks.pop().unwrap_or_default();
        let mut body = core::Body { binds, result: result? };
        self.prune(&mut body);
        Ok(body)
    }

    /// Leaves out what nothing uses.
    fn prune(&self, body: &mut core::Body) {
        let mut used: FxHashSet<Var> = FxHashSet::default();
        used.insert(body.result);
        let mut kept = Vec::with_capacity(body.binds.len());
        for bind in std::mem::take(&mut body.binds).into_iter().rev() {
            if self.spare.contains(&bind.var) && !used.contains(&bind.var) {
                continue;
            }
            self.store.operands(&bind.rhs, &mut |v| {
                used.insert(v);
            });
            match &bind.rhs {
                Rhs::If(_, yes, no) => {
                    used.extend(self.store.free_vars(yes));
                    used.extend(self.store.free_vars(no));
                }
                Rhs::Case(_, arms) => {
                    for (_, _, body) in arms {
                        used.extend(self.store.free_vars(body));
                    }
                }
                Rhs::Alias(_) | Rhs::Const(_) | Rhs::Op(..) | Rhs::View(..) | Rhs::Bundle(..) | Rhs::Plus(..) => {}
                Rhs::Product(..) | Rhs::Tuple(_) | Rhs::Part(..) | Rhs::Captured(..) => {}
                Rhs::Inject(..) | Rhs::Closure(..) | Rhs::Sibling(_) | Rhs::Apply(..) => {}
            }
            kept.push(bind);
        }
        kept.reverse();
        body.binds = kept;
    }

    /// A function as a group of its own.
    fn group(&mut self, name: &str, write: impl FnOnce(&mut Self, Var) -> Made<Var>) -> Made<GroupId> {
        let param = self.var("x");
        let place = self.place.clone();
        let body = self.block(|this| write(this, param))?;
        self.place.clone_from(&place);
        Ok(self.store.group(vec![Member { name: name.into(), param, body, place }]))
    }

    /// A function of one argument as a value.
    fn lambda(&mut self, name: &str, write: impl FnOnce(&mut Self, Var) -> Made<Var>) -> Made<Var> {
        let group = self.group(name, write)?;
        Ok(self.bind(name, Rhs::Closure(group, 0)))
    }

    /// Chooses between two computations.
    fn choose(
        &mut self,
        condition: Var,
        yes: impl FnOnce(&mut Self) -> Made<Var>,
        no: impl FnOnce(&mut Self) -> Made<Var>,
    ) -> Made<Var> {
        let yes = self.block(yes)?;
        let no = self.block(no)?;
        Ok(self.bind("if", Rhs::If(condition, Box::new(yes), Box::new(no))))
    }

    fn at(&mut self, span: Span) {
        self.place = Some(span.place());
    }

    /// The arguments of a function: one, or the parts of a tuple.
    fn unpack(&mut self, param: Var, n: usize) -> Vec<Var> {
        if n == 1 {
            return vec![param];
        }
        (0..n).map(|k| self.part(param, k, n)).collect()
    }

    fn pack(&mut self, args: &[Var]) -> Var {
        if let [only] = args { *only } else { self.tuple(args) }
    }

    /// A definition as an item of the program.
    pub(super) fn def(&mut self, def: &Def) -> Made<Item> {
        let info = self.code.var(def.var);
        let (name, span) = (info.name.clone(), info.span);
        self.at(span);
        let place = self.place.clone();
        let global = self.var(&name);
        let sizes: Vec<VarId> = def.implicit.iter().map(|(_, var)| *var).collect();
        let body = match &def.body {
            Body::Value(id) => {
                let body = self.block(|this| this.exp(*id))?;
                self.bound.insert(def.var, Bound::Value(global));
                body
            }
            Body::Function(fun) => {
                let n = sizes.len() + fun.params.len();
                self.implicit.insert(def.var, sizes.clone());
                let recursive = def.recursive.then_some(def.var);
                let group = self.group(&name, |this, param| {
                    if let Some(own) = recursive {
                        let sibling = this.bind("self", Rhs::Sibling(0));
                        this.spare.insert(sibling);
                        this.bound.insert(own, Bound::Function(sibling, n));
                    }
                    let mut args = this.unpack(param, n);
                    if span.file >= this.own_files {
                        this.checked(fun, &mut args[sizes.len()..]);
                    }
                    this.function_body(fun, &sizes, &args)
                })?;
                self.bound.insert(def.var, Bound::Function(global, n));
                self.block(|this| Ok(this.bind(&name, Rhs::Closure(group, 0))))?
            }
        };
        self.scope.push(def.var);
        Ok(Item { body, defines: Some(global), shown: false, name: Some(name), place, broken: None })
    }

    /// The body of a function whose arguments are there; the first are sizes.
    fn function_body(&mut self, fun: &Fun, sizes: &[VarId], args: &[Var]) -> Made<Var> {
        for (size, arg) in sizes.iter().zip(args) {
            self.bound.insert(*size, Bound::Value(*arg));
            self.scope.push(*size);
        }
        for ((pattern, ty), arg) in fun.params.iter().zip(&args[sizes.len()..]) {
            self.known_pattern(pattern, ty, *arg)?;
        }
        for size in fun.sizes.iter().filter(|s| !sizes.contains(s)) {
            let told = fun
                .params
                .iter()
                .zip(&args[sizes.len()..])
                .find_map(|((_, ty), arg)| self.path_to(ty, &Size::Name(*size)).map(|path| (path, *arg)));
            if let Some((path, arg)) = told {
                let var = self.measured(arg, &path)?;
                self.bound.insert(*size, Bound::Value(var));
                self.scope.push(*size);
            }
        }
        self.exp(fun.body)
    }

    /// Arguments whose lengths are not those that the types of parameters say are errors.
    fn checked(&mut self, fun: &Fun, args: &mut [Var]) {
        let mut known: Vec<(Size, Var)> = Vec::new();
        for (n, (_, ty)) in fun.params.iter().enumerate() {
            let Type::Array(size, _) = self.unifier.head(ty) else { continue };
            let size = self.unifier.size(&size);
            let wanted = match &size {
                Size::Const(k) => Some(self.int64(*k)),
                Size::Name(_) => known.iter().find(|(s, _)| *s == size).map(|(_, length)| *length),
                Size::Var(_) | Size::Gen(_) | Size::Op(..) => continue,
            };
            let length = self.length(args[n]);
            let Some(wanted) = wanted else {
                self.spare.insert(length);
                known.push((size, length));
                continue;
            };
            let same = self.op(Op::Compare(core::Compare::Eq), &[length, wanted]);
            let text = "the lengths of arguments are not what the parameters say";
            args[n] = self.bind("checked", Rhs::Op(Op::Check(text.into()), vec![same, args[n], length, wanted]));
        }
    }

    fn unread(&self, what: &str, help: &str) -> Box<Diagnostic> {
        let mut error = Diagnostic::error(errors::FUT_UNREAD, format!("{what} are not read")).help(help.to_string());
        if let Some(place) = &self.place {
            error = error.at(place.clone(), "not read");
        }
        Box::new(error)
    }

    /// A value of the program.
    fn variable(&mut self, var: VarId) -> Made<Var> {
        match self.bound.get(&var).copied() {
            Some(Bound::Value(found)) => Ok(found),
            Some(Bound::Function(..)) => {
                let callee = self.callee_of(var, Vec::new())?;
                self.as_value(callee)
            }
            None => {
                // A size that no argument tells.
                if let Some(found) = self.size(&Size::Name(var))? {
                    return Ok(found);
                }
                let info = self.code.var(var);
                let message = format!("what the size `{}` is here cannot be told", info.name);
                Err(Box::new(
                    Diagnostic::error(errors::FUT_SIZE, message)
                        .at(info.span.place(), "this size")
                        .help("make it a parameter: `(n: i64)`"),
                ))
            }
        }
    }

    pub(super) fn exp(&mut self, id: Id) -> Made<Var> {
        let before = self.place.clone();
        self.at(self.code.span(id));
        let found = stacker::maybe_grow(128 << 10, 2 << 20, || self.exp_inner(id));
        self.place = before;
        found
    }

    fn exp_inner(&mut self, id: Id) -> Made<Var> {
        let code = self.code;
        match code.get(id) {
            Node::Lit(lit, ty) | Node::NegativeLit(lit, ty) => {
                let value = self.literal(lit, matches!(code.get(id), Node::NegativeLit(..)), ty)?;
                Ok(self.constant(value))
            }
            Node::Var(var) => self.variable(*var),
            Node::Instance(var, sizes) => {
                let sizes = self.sizes_for(sizes)?;
                if sizes.is_empty() {
                    return self.variable(*var);
                }
                let callee = self.callee_of(*var, sizes)?;
                self.as_value(callee)
            }
            Node::Builtin(name, ty) => self.as_value(Callee::Builtin(name.clone(), ty.clone(), Vec::new())),
            Node::Tuple(parts) => {
                let parts = parts.iter().map(|p| self.exp(*p)).collect::<Made<Vec<_>>>()?;
                if parts.is_empty() { Ok(self.constant(Value::UNIT)) } else { Ok(self.tuple(&parts)) }
            }
            Node::Array(parts, ty) => self.array(parts, ty),
            Node::Range(first, second, end, last, ty) => self.range((*first, *second, *last), *end, ty),
            Node::Field(of, step) => {
                let record = self.exp(*of)?;
                let (index, n) = self.field(step)?;
                Ok(self.part(record, index, n))
            }
            Node::Index(of, at) => {
                let array = self.exp(*of)?;
                let at = self.indices(at)?;
                self.index(array, &at)
            }
            Node::Apply(function, args) => {
                let callee = self.callee(*function)?;
                let args = args.iter().map(|a| self.arg(*a)).collect::<Made<Vec<_>>>()?;
                self.at(self.code.span(id));
                self.call(callee, args)
            }
            Node::And(a, b) => {
                let a = self.exp(*a)?;
                self.choose(a, |this| this.exp(*b), |this| Ok(this.constant(Value::bool(false))))
            }
            Node::Or(a, b) => {
                let a = self.exp(*a)?;
                self.choose(a, |this| Ok(this.constant(Value::bool(true))), |this| this.exp(*b))
            }
            Node::If(c, yes, no) => {
                let c = self.exp(*c)?;
                self.choose(c, |this| this.exp(*yes), |this| this.exp(*no))
            }
            Node::Lets(binds, body) => self.lets(binds, *body),
            Node::Loop(sizes, pattern, ty, init, turn, body) => self.loop_(sizes, pattern, ty, *init, turn, *body),
            Node::Lambda(fun) => self.as_value(Callee::Lambda(fun.clone())),
            Node::Match(of, cases, ty) => self.match_(*of, cases, ty),
            Node::Constr(ty, name, args) => {
                let args = args.iter().map(|a| self.exp(*a)).collect::<Made<Vec<_>>>()?;
                let (number, _) = self.constructor(ty, name)?;
                let payload = if args.is_empty() { self.constant(Value::UNIT) } else { self.pack(&args) };
                Ok(self.bind("s", Rhs::Inject(number, payload)))
            }
            Node::Assert(condition, of) => {
                let condition = self.exp(*condition)?;
                let of = self.exp(*of)?;
                Ok(self.op(Op::Check("an assertion does not hold".into()), &[condition, of]))
            }
            Node::With(of, at, value) => {
                let array = self.exp(*of)?;
                let at = self.indices(at)?;
                let value = self.exp(*value)?;
                self.with(array, &at, value)
            }
            Node::WithField(of, steps, value) => {
                let record = self.exp(*of)?;
                let value = self.exp(*value)?;
                self.with_field(record, steps, value)
            }
            Node::Coerce(of, ty) => self.coerce(*of, ty),
        }
    }
}

/// The variables of definitions that a definition needs, with their own needs.
pub(super) fn reachable(code: &Code, from: VarId) -> FxHashSet<VarId> {
    let places: FxHashMap<VarId, usize> = code.defs.iter().enumerate().map(|(n, def)| (def.var, n)).collect();
    let mut found = FxHashSet::default();
    let mut left = vec![from];
    while let Some(var) = left.pop() {
        let Some(at) = places.get(&var) else { continue };
        if !found.insert(var) {
            continue;
        }
        let start = match &code.defs[*at].body {
            Body::Value(id) => *id,
            Body::Function(fun) => fun.body,
        };
        uses(code, start, &mut left);
    }
    found
}

/// The definitions that an expression speaks of.
fn uses(code: &Code, start: Id, found: &mut Vec<VarId>) {
    let mut left = vec![start];
    while let Some(id) = left.pop() {
        code.children(id, &mut left);
        match code.get(id) {
            Node::Var(var) => found.push(*var),
            Node::Instance(var, sizes) => {
                found.push(*var);
                sizes.iter().for_each(|size| names(size, found));
            }
            _ => {}
        }
    }
}

fn names(size: &Size, found: &mut Vec<VarId>) {
    match size {
        Size::Name(var) => found.push(*var),
        Size::Op(_, parts) => {
            names(&parts.0, found);
            names(&parts.1, found);
        }
        Size::Const(_) | Size::Var(_) | Size::Gen(_) => {}
    }
}

/// A place in a value: a field of a tuple of so many, or any element of an array.
#[derive(Clone, Copy, Debug)]
pub(super) enum Into {
    Field(usize, usize),
    Element,
}
