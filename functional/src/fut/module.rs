//! A program that was read: its entry points and what they need.

use pendula_isa::diagnostic::{Diagnostic, Place};

use super::elaborate::{Elaborator, reachable};
use super::infer::Infer;
use super::types::{Prim, Type, Unifier, text};
use crate::core::{Item, Store, Value};
use crate::errors::{FUT_SINGLE, Failure, helped};
use crate::eval::{Limits, Machine};

/// The type of a value that goes in or comes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// A number or truth value.
    Prim(Prim),
    /// An array.
    Array(Box<ValueType>),
    /// A record's fields; a tuple's are `0`, `1`, ….
    Record(Vec<(String, ValueType)>),
    /// A sum's constructors with what they carry.
    Sum(Vec<(String, Vec<ValueType>)>),
    /// Something without a notation, such as a function; its type as text.
    Other(String),
}

impl ValueType {
    fn of(unifier: &Unifier, ty: &Type) -> ValueType {
        match unifier.head(ty) {
            Type::Prim(prim) => ValueType::Prim(prim),
            Type::Array(_, of) => ValueType::Array(Box::new(ValueType::of(unifier, &of))),
            Type::Record(fields) => ValueType::Record(
                fields.iter().map(|(name, t)| (name.to_string(), ValueType::of(unifier, t))).collect(),
            ),
            Type::Sum(constrs) => ValueType::Sum(
                constrs
                    .iter()
                    .map(|(name, args)| (name.to_string(), args.iter().map(|t| ValueType::of(unifier, t)).collect()))
                    .collect(),
            ),
            Type::Var(_) | Type::Rigid(..) | Type::Gen(_) | Type::Fun(..) => ValueType::Other(text(unifier, ty)),
        }
    }

    /// The parts of a tuple.
    pub fn parts(&self) -> Option<Vec<&ValueType>> {
        match self {
            ValueType::Record(fields) if fields.len() != 1 => {
                let tuple = fields.iter().enumerate().all(|(n, (name, _))| *name == n.to_string());
                tuple.then(|| fields.iter().map(|(_, t)| t).collect())
            }
            _ => None,
        }
    }
}

/// An entry point.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its parameters: names, or `_`, and types.
    pub params: Vec<(String, ValueType)>,
    /// The type of its result.
    pub result: ValueType,
    /// Where it is defined.
    pub place: Place,
    /// Its items among those of the module, in order; the last defines it.
    items: Vec<usize>,
    /// How many arguments its function takes as a tuple; the others one by one.
    tupled: usize,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its variables and functions.
    pub store: Store,
    /// Its definitions, in order.
    pub items: Vec<Item>,
    /// Its entry points, in order.
    pub entries: Vec<Entry>,
    /// The main file.
    pub main: u16,
    /// Where single precision is first spoken of.
    pub single: Option<Place>,
}

impl Entry {
    /// How many arguments its function takes as a tuple; the others follow one by one.
    pub fn tupled(&self) -> usize {
        self.tupled
    }
}

impl Module {
    /// What its user should know before its results are read.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let single = |place: &Place| {
            helped(
                Diagnostic::warning(FUT_SINGLE, "`f32` is computed in double precision, like `f64`")
                    .at(place.clone(), "here first"),
            )
        };
        self.single.iter().map(single).collect()
    }

    /// The entry point with a name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The definitions that an entry point needs, in order; the last defines it.
    pub fn items_of<'m>(&'m self, entry: &'m Entry) -> impl Iterator<Item = &'m Item> {
        entry.items.iter().map(|n| &self.items[*n])
    }

    /// A machine that has evaluated the definitions of an entry point, and the entry point's function or value.
    ///
    /// # Errors
    /// If a definition fails.
    pub fn start(&self, entry: &Entry, limits: Limits) -> Result<(Machine, Value), Failure> {
        let mut machine = Machine::new(self.store.clone(), limits);
        let mut last = Value::UNIT;
        for item in self.items_of(entry) {
            last = machine.item(item).map_err(|failure| failure.at(item.place.as_ref()))?;
            if let Some(var) = item.defines {
                machine.define(var, last.clone());
            }
        }
        Ok((machine, last))
    }

    /// Evaluates an entry point with arguments.
    ///
    /// # Errors
    /// If the evaluation fails.
    pub fn call(&self, entry: &Entry, args: Vec<Value>, limits: Limits) -> Result<(Value, Machine), Failure> {
        let (mut machine, mut value) = self.start(entry, limits)?;
        let mut args = args.into_iter();
        if entry.tupled > 0 {
            let mut first: Vec<Value> = args.by_ref().take(entry.tupled).collect();
            let argument = if first.len() == 1 { first.pop().unwrap_or_default() } else { Value::tuple(first) };
            value = machine.apply(value, argument)?;
        }
        for arg in args {
            value = machine.apply(value, arg)?;
        }
        Ok((value, machine))
    }
}

/// Elaborates what the entry points of an inferred program need.
pub(super) fn made(infer: &Infer, main: u16) -> Result<Module, Vec<Diagnostic>> {
    let (code, unifier) = (&infer.code, &infer.unifier);
    let mut needed = rustc_hash::FxHashSet::default();
    let needs: Vec<_> = code.entries.iter().map(|(_, var, _)| reachable(code, *var)).collect();
    for one in &needs {
        needed.extend(one.iter().copied());
    }
    let mut elaborator = Elaborator::new(code, unifier, main);
    let (mut items, mut errors, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for def in code.defs.iter().filter(|def| needed.contains(&def.var)) {
        match elaborator.def(def) {
            Ok(item) => {
                items.push(item);
                places.push(def.var);
            }
            Err(error) => {
                errors.push(*error);
                return Err(errors);
            }
        }
    }
    let entries = code.entries.iter().zip(&needs).map(|((name, var, span), needs)| {
        let def = code.defs.iter().find(|def| def.var == *var);
        let (mut params, mut names) = (Vec::new(), Vec::new());
        let mut tupled = 0;
        let mut ty = def.map_or(Type::BOOL, |def| def.scheme.ty.clone());
        if let Some(super::code::Body::Function(fun)) = def.map(|def| &def.body) {
            tupled = fun.params.len();
            names = fun
                .params
                .iter()
                .map(|(pattern, _)| match pattern {
                    super::code::Pattern::Var(var) => code.var(*var).name.to_string(),
                    _ => "_".to_string(),
                })
                .collect();
        }
        while let Type::Fun(_, parts) = unifier.head(&ty) {
            let name = names.get(params.len()).cloned().unwrap_or_else(|| "_".to_string());
            params.push((name, ValueType::of(unifier, &parts.0)));
            ty = parts.1.clone();
        }
        Entry {
            name: name.to_string(),
            params,
            result: ValueType::of(unifier, &ty),
            place: span.place(),
            items: places.iter().enumerate().filter(|(_, var)| needs.contains(var)).map(|(n, _)| n).collect(),
            tupled,
        }
    });
    let entries = entries.collect();
    Ok(Module { store: elaborator.store, items, entries, main, single: None })
}
