//! The core as text.
//!
//! One binding a line, functions where they are made: `f = (λ x. …)`. Variables carry a number only where another variable has the same name. Layers stand
//! behind `@`.

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::core::{Bind, Body, GroupId, Program, Rhs, Store, Var, Word, deep};

/// A program as text: its definitions and expressions, and the functions that they name.
pub fn program(program: &Program) -> String {
    let mut printer = Printer::new(&program.store);
    for item in &program.items {
        let name = item.name.as_deref().unwrap_or("top");
        let _ = writeln!(printer.out, "{} {name} =", if item.defines.is_some() { "define" } else { "show" });
        printer.body(&item.body, 1);
    }
    printer.rest();
    printer.out
}

/// A group of functions as text, with the functions that it names. A transform has to be [complete](crate::ad::complete).
pub fn group(store: &Store, group: GroupId) -> String {
    let mut printer = Printer::new(store);
    printer.ask(group);
    printer.rest();
    printer.out
}

/// One group of functions as text, without those that it names.
pub fn one(store: &Store, group: GroupId) -> String {
    let mut printer = Printer::new(store);
    printer.write(group);
    printer.out
}

/// The groups that a group's functions name.
pub fn named(store: &Store, group: GroupId) -> Vec<GroupId> {
    let mut printer = Printer::new(store);
    printer.write(group);
    printer.waiting
}

struct Printer<'s> {
    store: &'s Store,
    out: String,
    names: FxHashMap<Var, String>,
    used: FxHashSet<String>,
    asked: FxHashSet<GroupId>,
    waiting: Vec<GroupId>,
}

impl<'s> Printer<'s> {
    fn new(store: &'s Store) -> Printer<'s> {
        Printer {
            store,
            out: String::new(),
            names: FxHashMap::default(),
            used: FxHashSet::default(),
            asked: FxHashSet::default(),
            waiting: Vec::new(),
        }
    }

    fn ask(&mut self, group: GroupId) {
        if self.asked.insert(group) {
            self.waiting.push(group);
        }
    }

    /// The groups that were named and are not written yet.
    fn rest(&mut self) {
        while let Some(id) = self.waiting.pop() {
            self.write(id);
        }
    }

    fn write(&mut self, id: GroupId) {
        let group = self.store.get(id).clone();
        let free: Vec<String> = group.free.iter().map(|v| self.name(*v)).collect();
        let _ = write!(self.out, "group g{}", id.0);
        if !free.is_empty() {
            let _ = write!(self.out, " over {}", free.join(" "));
        }
        if let Some((how, origin)) = group.origin {
            let _ = write!(self.out, ", {how:?} of g{}", origin.0);
        }
        self.out.push('\n');
        for (n, member) in group.members.iter().enumerate() {
            let param = self.name(member.param);
            let _ = writeln!(self.out, "  {}.{n} = λ {param}.", member.name);
            self.body(&member.body, 2);
        }
    }

    fn name(&mut self, var: Var) -> String {
        if let Some(name) = self.names.get(&var) {
            return name.clone();
        }
        let name = self.store.info(var).name.to_string();
        let name = if self.used.contains(&name) { format!("{name}.{}", var.0) } else { name };
        self.used.insert(name.clone());
        self.names.insert(var, name.clone());
        name
    }

    fn list(&mut self, vars: &[Var]) -> String {
        vars.iter().map(|v| self.name(*v)).collect::<Vec<_>>().join(" ")
    }

    fn body(&mut self, body: &Body, indent: usize) {
        deep(|| body.binds.iter().for_each(|bind| self.bind(bind, indent)));
        let result = self.name(body.result);
        let _ = writeln!(self.out, "{}{result}", "  ".repeat(indent));
    }

    fn bind(&mut self, bind: &Bind, indent: usize) {
        let space = "  ".repeat(indent);
        let var = self.name(bind.var);
        let mut level = if bind.level.is_none() { String::new() } else { format!(" @ {}", bind.level) };
        let rhs = match &bind.rhs {
            Rhs::Alias(a) => self.name(*a),
            Rhs::Const(value) => value.show(),
            Rhs::Op(op, args) => format!("{} {}", op.name(), self.list(args)),
            Rhs::View(view, a) => format!("view {} {}", view.name(), self.name(*a)),
            Rhs::Bundle(a, b) => format!("bundle {}", self.list(&[*a, *b])),
            Rhs::Plus(a, b) => format!("plus {}", self.list(&[*a, *b])),
            Rhs::Product(one, a, other, b) => {
                let side = |word: Word| if word.is_none() { String::new() } else { format!("[{word}]") };
                let (a, b) = (self.name(*a), self.name(*b));
                format!("* {a}{} {b}{}", side(*one), side(*other))
            }
            Rhs::Tuple(all) => format!("({})", self.list(all)),
            Rhs::Part(a, index, of) => format!("{}.{index}/{of}", self.name(*a)),
            Rhs::Captured(a, index, of) => format!("captured {}.{index}/{of}", self.name(*a)),
            Rhs::Inject(number, a) => format!("#{number} {}", self.name(*a)),
            Rhs::Closure(group, member) => {
                self.ask(*group);
                format!("g{}.{member}", group.0)
            }
            Rhs::Sibling(member) => format!("sibling {member}"),
            Rhs::Apply(f, x) => self.list(&[*f, *x]),
            Rhs::If(c, yes, no) => {
                let c = self.name(*c);
                let _ = writeln!(self.out, "{space}{var} = if {c}{level}");
                self.body(yes, indent + 1);
                let _ = writeln!(self.out, "{space}else");
                self.body(no, indent + 1);
                return;
            }
            Rhs::Case(s, arms) => {
                let s = self.name(*s);
                let _ = writeln!(self.out, "{space}{var} = case {s}");
                for (number, payload, body) in arms {
                    let payload = self.name(*payload);
                    let _ = writeln!(self.out, "{space}#{number} {payload} →");
                    self.body(body, indent + 1);
                }
                return;
            }
        };
        if matches!(bind.rhs, Rhs::Tuple(_) | Rhs::Part(..) | Rhs::Captured(..) | Rhs::Apply(..) | Rhs::Plus(..)) {
            level.clear();
        }
        let _ = writeln!(self.out, "{space}{var} = {rhs}{level}");
    }
}
