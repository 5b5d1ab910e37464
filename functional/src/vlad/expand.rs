//! Forms as core programs.

use std::rc::Rc;

use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::{Diagnostic, Place, Sources};
use rustc_hash::{FxHashMap, FxHashSet};

use super::basis::Primitive;
use super::sexp::{Form, Sexp};
use super::{Definition, Include, Reading};
use crate::core::{Bind, Body, Builder, GroupId, Item, Member, Program, Rhs, Store, Value, Var, Word};
use crate::errors::{DUPLICATE, FORM, Failure, INCLUDE, UNBOUND};

mod forms;
mod pattern;

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
enum Meaning {
    /// A variable.
    Var(Var),
    /// A member of a `letrec`, inside its functions.
    Sibling(usize, u16),
    /// A function at the top.
    Function(GroupId),
}

/// A function that is being expanded.
#[derive(Default)]
struct Frame {
    /// The `letrec` whose member it is.
    letrec: Option<usize>,
    /// Variables for siblings, bound at the function's start.
    prelude: Vec<Bind>,
    known: FxHashMap<(usize, u16), Var>,
}

type Wrong = Box<Diagnostic>;

pub(super) struct Expander<'a> {
    store: Store,
    budget: &'a Budget,
    names: FxHashMap<Rc<str>, Vec<Meaning>>,
    /// The names in the order in which they got meanings.
    named: Vec<Rc<str>>,
    frames: Vec<Frame>,
    /// The bindings of the bodies that are being written, the innermost last.
    binds: Vec<Vec<Bind>>,
    letrecs: usize,
    primitives: FxHashMap<Rc<str>, GroupId>,
    depth: u32,
}

/// A definition that waits for the next expression.
struct Waits {
    name: Rc<str>,
    value: Sexp,
    place: Place,
}

struct Top<'a, 's> {
    expander: Expander<'a>,
    sources: &'s mut Sources,
    include: &'s mut Include<'s>,
    waiting: Vec<Waits>,
    reading: Reading,
    bytes: u64,
    /// The files whose forms are being read, each included by the one before it.
    open: Vec<String>,
}

/// Reads a file and what it includes.
pub(super) fn program(
    sources: &mut Sources,
    file: u16,
    budget: &Budget,
    include: &mut Include<'_>,
) -> Result<Reading, Wrong> {
    let expander = Expander {
        store: Store::default(),
        budget,
        names: FxHashMap::default(),
        named: Vec::new(),
        frames: Vec::new(),
        binds: Vec::new(),
        letrecs: 0,
        primitives: FxHashMap::default(),
        depth: 0,
    };
    let mut include = |from: &str, name: &str| include(from, name);
    let mut top = Top {
        expander,
        sources,
        include: &mut include,
        waiting: Vec::new(),
        reading: Reading::default(),
        bytes: 0,
        open: Vec::new(),
    };
    let forms = top.load(file, 0)?;
    top.all(forms, true)?;
    top.define();
    top.reading.program.store = top.expander.store;
    Ok(top.reading)
}

impl Top<'_, '_> {
    /// The forms of a file, with those of the files that it includes.
    fn load(&mut self, file: u16, depth: u32) -> Result<Vec<Sexp>, Wrong> {
        let text = self.sources.text(file).to_owned();
        self.bytes += text.len() as u64;
        let budget = self.expander.budget;
        if self.bytes > budget.bytes {
            let message = format!("the program has more than {} bytes", budget.bytes);
            return Err(Box::new(Diagnostic::error(INCLUDE, message)));
        }
        let forms = super::sexp::read(&text, file, budget)?;
        self.open.push(self.sources.name(file).to_owned());
        let all = self.included(forms, file, depth);
        self.open.pop();
        all
    }

    fn included(&mut self, forms: Vec<Sexp>, file: u16, depth: u32) -> Result<Vec<Sexp>, Wrong> {
        let mut all = Vec::with_capacity(forms.len());
        for form in forms {
            match form.headed("include") {
                Some([Sexp { form: Form::Text(name), place }]) => {
                    let budget = self.expander.budget;
                    budget
                        .nested(depth + 1, || format!("the file `{name}`"))
                        .map_err(|e| Box::new(e.diagnostic().at(place.clone(), "")))?;
                    let from = self.sources.name(file).to_owned();
                    let wrong = |message: String| Box::new(Diagnostic::error(INCLUDE, message).at(place.clone(), ""));
                    let (path, text) = (self.include)(&from, name).map_err(wrong)?;
                    if self.open.contains(&path) {
                        let cycle = wrong(format!("`{path}` includes itself, perhaps through another file"));
                        return Err(Box::new(cycle.help("move what both need into a third file")));
                    }
                    let new = self.sources.add(path, text).ok_or_else(|| wrong("too many files".into()))?;
                    all.append(&mut self.load(new, depth + 1)?);
                }
                _ => all.push(form),
            }
        }
        Ok(all)
    }

    fn all(&mut self, forms: Vec<Sexp>, shown: bool) -> Result<(), Wrong> {
        let mut forms = forms.into_iter().peekable();
        while let Some(form) = forms.next() {
            if let Some(definition) = self.definition(&form) {
                match definition {
                    Ok(definition) => self.waiting.push(definition),
                    Err(wrong) => self.reading.mistakes.push(*wrong),
                }
                continue;
            }
            self.define();
            let last = forms.peek().is_none();
            match form.headed("multiform") {
                Some(parts) => self.several(parts.to_vec(), form.place.file)?,
                None => self.expression(&form, shown || last),
            }
            if forms.next_if(|f| f.symbol() == Some("===>")).is_some() {
                let wanted = forms.next();
                if wanted.is_none() {
                    let message = "nothing is expected behind `===>`";
                    let wrong = Diagnostic::error(FORM, message).at(form.place.clone(), "the value of this");
                    self.reading.mistakes.push(wrong.help("write the value that the expression before it should have"));
                }
                if let Some(slot) = self.reading.expected.last_mut() {
                    *slot = wanted;
                }
            }
        }
        Ok(())
    }

    /// Several forms that stand for one expression, with definitions of their own.
    fn several(&mut self, parts: Vec<Sexp>, file: u16) -> Result<(), Wrong> {
        let mark = self.expander.mark();
        let parts = self.included(parts, file, 0)?;
        self.all(parts, false)?;
        self.define();
        self.expander.restore(mark);
        Ok(())
    }

    fn definition(&self, form: &Sexp) -> Option<Result<Waits, Wrong>> {
        let parts = form.headed("define")?;
        let [target, value] = parts else {
            let message = "a definition has a name and one expression";
            return Some(Err(Box::new(Diagnostic::error(FORM, message).at(form.place.clone(), ""))));
        };
        let (mut target, mut value) = (target, value.clone());
        loop {
            match &target.form {
                Form::Symbol(name) => {
                    return Some(Ok(Waits { name: name.clone(), value, place: target.place.clone() }));
                }
                Form::List(all, None) if !all.is_empty() => {
                    let place = form.place.clone();
                    let lambda = Sexp { form: Form::Symbol("lambda".into()), place: place.clone() };
                    let params = Sexp { form: Form::List(all[1..].to_vec(), None), place: target.place.clone() };
                    value = Sexp { form: Form::List(vec![lambda, params, value], None), place };
                    target = &all[0];
                }
                Form::List(..) | Form::Number(_) | Form::Bool(_) | Form::Text(_) => {
                    let message = "a definition begins with a name";
                    return Some(Err(Box::new(Diagnostic::error(FORM, message).at(target.place.clone(), ""))));
                }
            }
        }
    }

    /// Expands the definitions that wait. They may use each other.
    fn define(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return;
        }
        let start = self.expander.store.len();
        let mut seen: FxHashMap<Rc<str>, Place> = FxHashMap::default();
        let mut plan = Vec::with_capacity(waiting.len());
        for definition in waiting {
            if let Some(before) = seen.insert(definition.name.clone(), definition.place.clone()) {
                let message = format!("`{}` is defined twice", definition.name);
                let wrong =
                    Diagnostic::error(DUPLICATE, message).at(definition.place.clone(), "").also(before, "and here");
                self.reading.mistakes.push(wrong);
                continue;
            }
            if definition.value.headed("lambda").is_some() {
                let group = self.expander.store.reserve();
                self.expander.name(&definition.name, Meaning::Function(group));
                self.reading.definitions.push((definition.name.clone(), Definition::Function(group)));
                plan.push((definition, Some(group)));
            } else {
                let var = self.expander.store.var(definition.name.clone(), Some(definition.place.clone()));
                self.expander.name(&definition.name, Meaning::Var(var));
                self.reading.definitions.push((definition.name.clone(), Definition::Variable(var)));
                plan.push((definition, None));
            }
        }
        for (definition, group) in plan {
            let mark = self.expander.mark();
            match group {
                Some(group) => match self.expander.function(&definition.name, &definition.value, None) {
                    Ok(member) => self.expander.store.fill(group, vec![member]),
                    Err(wrong) => {
                        self.expander.restore(mark);
                        let member = self.expander.failing(&definition.name, &wrong);
                        self.expander.store.fill(group, vec![member]);
                        self.reading.mistakes.push(*wrong);
                    }
                },
                None => {
                    let (body, broken) = self.expander.top(&definition.value);
                    let defines = match self.expander.names.get(&definition.name).and_then(|n| n.last()) {
                        Some(Meaning::Var(var)) => Some(*var),
                        Some(Meaning::Sibling(..) | Meaning::Function(_)) | None => None,
                    };
                    self.reading.mistakes.extend(broken.clone());
                    let broken = broken.map(|d| failure(&d));
                    let (name, place) = (Some(definition.name), Some(definition.place));
                    self.reading.program.items.push(Item { body, defines, shown: false, name, place, broken });
                }
            }
        }
        self.expander.store.settle(start);
    }

    fn expression(&mut self, form: &Sexp, shown: bool) {
        let (body, broken) = self.expander.top(form);
        self.reading.mistakes.extend(broken.clone());
        let broken = broken.map(|d| failure(&d));
        let place = Some(form.place.clone());
        self.reading.program.items.push(Item { body, defines: None, shown, name: None, place, broken });
        if shown {
            self.reading.expected.push(None);
        }
    }
}

fn failure(diagnostic: &Diagnostic) -> Failure {
    let mut failure = Failure::new(diagnostic.code, diagnostic.message.clone());
    failure.place = diagnostic.primary.as_ref().map(|l| l.place.clone());
    failure.help.clone_from(&diagnostic.help);
    failure
}

fn wrong<T>(code: &'static str, message: impl Into<String>, place: &Place) -> Result<T, Wrong> {
    Err(Box::new(Diagnostic::error(code, message).at(place.clone(), "")))
}

impl Expander<'_> {
    fn name(&mut self, name: &Rc<str>, meaning: Meaning) {
        self.names.entry(name.clone()).or_default().push(meaning);
        self.named.push(name.clone());
    }

    /// What is named from here on is forgotten by [`restore`](Expander::restore).
    fn mark(&self) -> usize {
        self.named.len()
    }

    fn restore(&mut self, mark: usize) {
        for name in self.named.drain(mark..) {
            if let Some(all) = self.names.get_mut(&name) {
                all.pop();
            }
        }
    }

    fn meaning(&self, name: &str) -> Option<Meaning> {
        self.names.get(name)?.last().copied()
    }

    fn emit_to(&mut self, var: Var, rhs: Rhs, place: &Place) {
        if let Some(binds) = self.binds.last_mut() {
            binds.push(Bind { var, rhs, level: Word::NONE, place: Some(place.clone()) });
        }
    }

    fn emit(&mut self, name: &str, rhs: Rhs, place: &Place) -> Var {
        let var = self.store.var(name, Some(place.clone()));
        self.emit_to(var, rhs, place);
        var
    }

    /// An expression at the top.
    fn top(&mut self, form: &Sexp) -> (Body, Option<Diagnostic>) {
        self.frames.push(Frame::default());
        self.binds.push(Vec::new());
        let mark = self.mark();
        let result = self.expression(form);
        let binds = self.binds.pop().unwrap_or_default();
        self.frames.pop();
        match result {
            Ok(result) => (Body { binds, result }, None),
            Err(wrong) => {
                // What was half done is left.
                self.restore(mark);
                self.frames.clear();
                self.binds.clear();
                self.depth = 0;
                let mut builder = Builder::new(&mut self.store);
                let unit = builder.constant(Value::UNIT);
                (builder.finish(unit), Some(*wrong))
            }
        }
    }

    /// A function in place of one with a mistake.
    fn failing(&mut self, name: &Rc<str>, wrong: &Diagnostic) -> Member {
        self.frames.clear();
        self.binds.clear();
        self.depth = 0;
        let param = self.store.var("x", None);
        let mut builder = Builder::new(&mut self.store);
        builder.place = wrong.primary.as_ref().map(|l| l.place.clone());
        let no = builder.constant(Value::bool(false));
        let result = builder.op(crate::core::Op::Check(wrong.message.clone().into()), &[no, param]);
        let body = builder.finish(result);
        Member { name: name.clone(), param, body, place: None }
    }

    /// A `lambda` as a member of a group.
    fn function(&mut self, name: &str, form: &Sexp, letrec: Option<usize>) -> Result<Member, Wrong> {
        let Some([params, body]) = form.headed("lambda") else {
            return wrong(FORM, "a function has parameters and one expression: `(lambda (x) e)`", &form.place);
        };
        let Some(list) = params.list() else {
            return wrong(FORM, "parameters are a list of patterns", &params.place);
        };
        let before = self.mark();
        self.frames.push(Frame { letrec, ..Frame::default() });
        self.binds.push(Vec::new());
        let param = self.store.var("x", Some(params.place.clone()));
        self.parameters(list, param, &params.place)?;
        let result = self.expression(body)?;
        self.restore(before);
        let mut binds = self.frames.pop().unwrap_or_default().prelude;
        binds.append(&mut self.binds.pop().unwrap_or_default());
        let body = Body { binds, result };
        Ok(Member { name: name.into(), param, body, place: Some(form.place.clone()) })
    }

    /// A body in place.
    fn block(&mut self, form: &Sexp) -> Result<Body, Wrong> {
        self.binds.push(Vec::new());
        let result = self.expression(form)?;
        Ok(Body { binds: self.binds.pop().unwrap_or_default(), result })
    }

    fn variable(&mut self, name: &Rc<str>, place: &Place) -> Result<Var, Wrong> {
        match self.meaning(name) {
            Some(Meaning::Var(var)) => Ok(var),
            Some(Meaning::Function(group)) => Ok(self.emit(name, Rhs::Closure(group, 0), place)),
            Some(Meaning::Sibling(letrec, member)) => {
                let frame = self.frames.iter_mut().rev().find(|f| f.letrec == Some(letrec));
                let Some(frame) = frame else { return wrong(UNBOUND, format!("`{name}` is not bound here"), place) };
                if let Some(var) = frame.known.get(&(letrec, member)) {
                    return Ok(*var);
                }
                let var = self.store.var(name.clone(), Some(place.clone()));
                let rhs = Rhs::Sibling(member);
                frame.prelude.push(Bind { var, rhs, level: Word::NONE, place: Some(place.clone()) });
                frame.known.insert((letrec, member), var);
                Ok(var)
            }
            None => match Primitive::of(name) {
                Some(primitive) => {
                    let group = self.primitive(name, &primitive);
                    Ok(self.emit(name, Rhs::Closure(group, 0), place))
                }
                None => wrong(UNBOUND, format!("`{name}` is not bound"), place),
            },
        }
    }

    /// A function of the basis as a function of a tuple.
    fn primitive(&mut self, name: &Rc<str>, primitive: &Primitive) -> GroupId {
        if let Some(group) = self.primitives.get(name) {
            return *group;
        }
        let param = self.store.var("x", None);
        let mut builder = Builder::new(&mut self.store);
        let mut args = Vec::new();
        let mut rest = param;
        for n in 1..primitive.arity() {
            args.push(builder.part(rest, 0, 2));
            rest = builder.part(rest, 1, 2);
            debug_assert!(n < 3, "no function of the basis has more parameters");
        }
        args.push(rest);
        let result = primitive.call(&mut builder, &args);
        let body = builder.finish(result);
        let group = self.store.group(vec![Member { name: name.clone(), param, body, place: None }]);
        self.primitives.insert(name.clone(), group);
        group
    }

    fn deeper<T>(&mut self, place: &Place, inside: impl FnOnce(&mut Self) -> Result<T, Wrong>) -> Result<T, Wrong> {
        self.depth += 1;
        let limit = self.budget.depth.saturating_mul(4);
        if self.depth > limit {
            let exceeded = self.budget.nested(u32::MAX, || "this expression".into());
            return match exceeded {
                Err(e) => Err(Box::new(e.diagnostic().at(place.clone(), ""))),
                Ok(()) => wrong(FORM, "this expression is nested too deep", place),
            };
        }
        let result = stacker::maybe_grow(64 << 10, 1 << 20, || inside(self));
        self.depth -= 1;
        result
    }
}

/// An empty program with a budget, for single expressions.
impl Reading {
    /// The program, if there are no mistakes.
    pub fn program(&self) -> Option<&Program> {
        self.mistakes.is_empty().then_some(&self.program)
    }
}

/// Whether names are all different; the first that is not.
fn repeated(names: &[(Rc<str>, Place)]) -> Option<&(Rc<str>, Place)> {
    let mut seen = FxHashSet::default();
    names.iter().find(|(name, _)| !seen.insert(name.clone()))
}

fn twice<T>(name: &(Rc<str>, Place)) -> Result<T, Wrong> {
    wrong(DUPLICATE, format!("`{}` is bound twice here", name.0), &name.1)
}
