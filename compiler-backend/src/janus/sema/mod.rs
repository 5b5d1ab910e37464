//! The semantic analysis: from the tree to the intermediate representation.
//!
//! A procedure is compiled once for each combination of aliases and sizes of its arguments (an *instance*): which
//! parameters are one variable, which are parts of one array, and which sizes are known. Aliases that are known at run
//! time only are checked there.
//!
//! A scalar parameter is a word that is passed by reference; if it may also be reached through an array, it is the
//! address of its word. An array is the address of its first element, with its unknown sizes. A stack is the address of
//! a word with its number of elements. The elements follow this word, the top last; all words above are zero.

mod alias;
mod body;
mod call;
mod constant;
mod expr;
mod local;
mod main;
mod narrow;
mod place;
mod scope;
mod show;
mod size;
mod source_names;
mod stack;
mod stmt;
mod swap;
#[cfg(test)]
mod tests;
mod truth;

use std::collections::HashMap;

use pendula_isa::diagnostic::{Diagnostic, Place, Severity};

use super::ast::{DeclTy, IntTy, Mode, Procedure, Span, Tree, called};
use super::store::Variable;
use super::{Settings, codes};
use crate::ir::{FunctionId, IrFunction, Loc, Param, Program};
use crate::lower::Argument;
use crate::syntax::nearest;
use body::Body;
use scope::{Binding, Dim, Kind, Location};

/// The message if a statement reads the word that it changes.
pub(super) const READS: &str = "the statement reads the word that it changes";

/// The message if a factor of `*=` is 0.
pub(super) const ZERO: &str = "a multiplication by zero cannot be undone";

/// The message for an index out of range, before the name of the array.
pub(super) const OUTSIDE: &str = "the index lies outside ";

/// The message for a shift by too many bits, before the number of bits.
pub(super) const TOO_FAR: &str = "shifted by less than 0, or by ";

/// The message if the product of `*=` overflows, before the name of the variable.
pub(super) const NO_ROOM: &str = "the product does not fit in ";

/// The message if a constant is changed by another name, around the name of the constant.
pub(super) const CHANGES: (&str, &str) = ("the statement changes ", ", which is constant");

/// An error was reported.
pub(super) struct Stop;

type Done<T> = Result<T, Stop>;

/// The result of the analysis.
#[derive(Debug, Default)]
pub(super) struct Analysis {
    pub(super) program: Option<Program>,
    pub(super) arguments: Vec<Argument>,
    pub(super) store: Vec<Variable>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// How an argument is passed. Equal `shared` numbers mark parameters that share a word or an array: it is the number of
/// the first of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum ParamKey {
    /// A word that is passed by reference.
    Word { shared: usize },
    /// The address of a word in an array.
    Ref { shared: usize },
    /// An array, with its known sizes.
    Array { dims: Vec<Option<u64>>, shared: usize },
    /// A stack.
    Stack { shared: usize },
}

/// The key of an instance: a procedure, and how its arguments are passed.
type Key = (usize, Vec<ParamKey>);

/// The number of errors after which no similar names are searched.
const NEAR: usize = 30;

/// The maximum number of instances of one procedure.
const MAX_INSTANCES: usize = 1000;

/// The state of the analysis.
pub(super) struct Sema<'a> {
    tree: &'a Tree,
    settings: &'a Settings,
    file: u16,
    /// The byte offsets of the beginnings of lines.
    lines: Vec<usize>,
    text: &'a str,
    program: Program,
    procedures: HashMap<&'a str, usize>,
    instances: HashMap<Key, FunctionId>,
    /// The number of instances of each procedure.
    counts: Vec<usize>,
    /// Whether a procedure has too many instances: then nothing more is compiled.
    full: bool,
    waiting: Vec<(Key, FunctionId)>,
    texts: HashMap<String, u32>,
    reasons: HashMap<String, u32>,
    found: Vec<Diagnostic>,
}

/// A diagnostic in a part that no run reaches, as a warning.
fn warned(mut d: Diagnostic) -> Diagnostic {
    if d.severity == Severity::Error {
        d.severity = Severity::Warning;
        if let Some(label) = d.primary.as_mut().filter(|label| label.text.is_empty()) {
            label.text = "no run reaches this".to_string();
        }
    }
    d
}

/// Analyses a program.
pub(super) fn analyse(file: u16, name: &str, text: &str, tree: &Tree, settings: &Settings) -> Analysis {
    let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(n, _)| n + 1)).collect();
    let mut s = Sema {
        tree,
        settings,
        file,
        lines,
        text,
        program: Program { files: vec![name.to_string()], ..Program::default() },
        procedures: HashMap::new(),
        instances: HashMap::new(),
        counts: vec![0; tree.procedures.len()],
        full: false,
        waiting: Vec::new(),
        texts: HashMap::new(),
        reasons: HashMap::new(),
        found: Vec::new(),
    };
    s.declare();
    let mut out = Analysis::default();
    if let Ok((arguments, store)) = s.main() {
        (out.arguments, out.store) = (arguments, store);
    }
    s.compile_remaining();
    // Each error is reported once, although several instances have it, in the order of the text.
    let mut found: Vec<Diagnostic> = Vec::new();
    for d in s.found {
        if !found.contains(&d) {
            found.push(d);
        }
    }
    let at = |d: &Diagnostic| d.primary.as_ref().map_or(0, |l| l.place.span.start);
    found.sort_by_key(at);
    out.program = Some(s.program);
    out.diagnostics = found;
    out
}

impl<'a> Sema<'a> {
    fn place(&self, span: &Span) -> Place {
        Place { file: self.file, span: span.clone() }
    }

    fn fail<T>(&mut self, span: &Span, code: &'static str, message: impl Into<String>, help: &str) -> Done<T> {
        let place = self.place(span);
        self.found.push(Diagnostic::error(code, message).at(place, "").help(help));
        Err(Stop)
    }

    /// The same, with a second place.
    fn fail_also<T>(&mut self, spans: [&Span; 2], code: &'static str, message: String, help: &str) -> Done<T> {
        let (place, other) = (self.place(spans[0]), self.place(spans[1]));
        self.found.push(Diagnostic::error(code, message).at(place, "").also(other, "").help(help));
        Err(Stop)
    }

    /// The name that is most similar to an unknown one; not searched if there are many errors.
    fn nearest_name<'n>(&self, name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
        if self.found.len() < NEAR { nearest(name, names) } else { None }
    }

    fn loc(&self, span: &Span) -> Loc {
        let line = self.lines.partition_point(|start| *start <= span.start);
        let start = line.checked_sub(1).and_then(|n| self.lines.get(n)).copied().unwrap_or(0);
        let column = self.text.get(start..span.start).map_or(1, |t| t.chars().count() + 1);
        Loc { file: self.file, line: line as u32, column: u16::try_from(column).unwrap_or(0) }
    }

    fn intern(map: &mut HashMap<String, u32>, list: &mut Vec<String>, text: &str) -> u32 {
        if let Some(n) = map.get(text) {
            return *n;
        }
        let n = list.len() as u32;
        list.push(text.to_string());
        map.insert(text.to_string(), n);
        n
    }

    fn reason(&mut self, text: &str) -> u32 {
        Self::intern(&mut self.reasons, &mut self.program.reasons, text)
    }

    fn text(&mut self, text: &str) -> u32 {
        Self::intern(&mut self.texts, &mut self.program.texts, text)
    }

    /// Collects the procedures.
    fn declare(&mut self) {
        let tree = self.tree;
        for (n, p) in tree.procedures.iter().enumerate() {
            if let Some(first) = self.procedures.get(p.name.text.as_str()) {
                let first = &tree.procedures[*first].name.span;
                let code = if p.name.text == "main" { codes::MAIN } else { codes::TWICE };
                let message = format!("there is a procedure `{}` already", p.name.text);
                let _: Done<()> = self.fail_also([&p.name.span, first], code, message, "give one of them another name");
            } else {
                self.procedures.insert(&p.name.text, n);
            }
            let mut seen: HashMap<&str, &Span> = HashMap::new();
            for d in &p.decls {
                if let Some(first) = seen.get(d.name.text.as_str()) {
                    let message = format!("`{}` is declared twice", d.name.text);
                    let spans = [&d.name.span, *first];
                    let _: Done<()> = self.fail_also(spans, codes::TWICE, message, "give one of them another name");
                }
                seen.insert(&d.name.text, &d.name.span);
            }
        }
    }

    /// The function of an instance. A new instance is added to the worklist.
    fn instance(&mut self, key: Key, span: &Span) -> Done<FunctionId> {
        if let Some(fun) = self.instances.get(&key) {
            return Ok(*fun);
        }
        let count = self.counts[key.0];
        if count >= MAX_INSTANCES {
            if std::mem::replace(&mut self.full, true) {
                return Err(Stop);
            }
            let name = &self.tree.procedures[key.0].name.text;
            let message = format!("`{name}` is called in more than {MAX_INSTANCES} ways");
            let help = "a procedure is compiled once for each way in which its arguments are the same, and for each size that they have: \
                 call it with fewer that are the same, or with arrays of fewer sizes";
            return self.fail(span, codes::LOWERING, message, help);
        }
        self.counts[key.0] += 1;
        let p = &self.tree.procedures[key.0];
        let fun = FunctionId(self.program.functions.len() as u32);
        let name = if count == 0 { p.name.text.clone() } else { format!("{}.{}", p.name.text, count + 1) };
        let loc = self.loc(&p.name.span);
        self.program.functions.push(IrFunction::new(name, loc));
        self.instances.insert(key.clone(), fun);
        self.waiting.push((key, fun));
        // Callers need the parameters immediately.
        let (key, fun) = self.waiting.last().cloned().unwrap_or(((0, Vec::new()), fun));
        let (function, _) = self.frame(&key, fun);
        if let Some(f) = self.program.functions.get_mut(fun.0 as usize) {
            *f = function;
        }
        Ok(fun)
    }

    /// The function of an instance without its body, and the bindings of its parameters.
    fn frame(&self, key: &Key, fun: FunctionId) -> (IrFunction, Vec<Binding>) {
        let p: &Procedure = &self.tree.procedures[key.0];
        let mut f = self.program.functions[fun.0 as usize].clone();
        (f.params, f.vars, f.regions) = Default::default();
        let mut bindings: Vec<Binding> = Vec::new();
        for (n, (d, param_key)) in p.decls.iter().zip(&key.1).enumerate() {
            let ty = if let DeclTy::Int(ty) = d.ty { ty } else { IntTy::Int };
            let param = |f: &mut IrFunction, name: String, written: bool| {
                let var = f.fresh(name, pendula_isa::Ty::Int);
                f.params.push(Param { var, written });
                var
            };
            let region = |f: &mut IrFunction, shared: usize| match bindings.get(shared).map(|b| &b.location) {
                Some(Location::Ref { region, .. } | Location::Memory { region, .. }) if shared < n => *region,
                _ => f.region(d.name.text.clone(), pendula_isa::Ty::Int),
            };
            let name = d.name.text.clone();
            let (kind, location) = match param_key {
                ParamKey::Word { shared } => {
                    let location = match bindings.get(*shared).map(|b| b.location) {
                        Some(location) if *shared < n => location,
                        _ => Location::Word(param(&mut f, name, true)),
                    };
                    (Kind::Scalar(ty), location)
                }
                ParamKey::Ref { shared } => {
                    let region = region(&mut f, *shared);
                    let address = param(&mut f, format!("{name}.address"), false);
                    f.vars[address.0 as usize].points = Some(region);
                    (Kind::Scalar(ty), Location::Ref { address, region })
                }
                ParamKey::Array { dims, shared } => {
                    let region = region(&mut f, *shared);
                    let base = param(&mut f, name.clone(), false);
                    f.vars[base.0 as usize].points = Some(region);
                    let dims = dims.iter().enumerate().map(|(n, dim)| match dim {
                        Some(n) => Dim::Known(*n),
                        None => Dim::Var(param(&mut f, format!("{name}.len{}", n + 1), false)),
                    });
                    (Kind::Array(ty, dims.collect()), Location::Memory { base, region })
                }
                ParamKey::Stack { shared } => {
                    let region = region(&mut f, *shared);
                    let base = param(&mut f, name, false);
                    f.vars[base.0 as usize].points = Some(region);
                    (Kind::Stack, Location::Memory { base, region })
                }
            };
            let constant = d.mode == Mode::Constant;
            bindings.push(Binding { name: d.name.clone(), kind, location, constant });
        }
        (f, bindings)
    }

    /// Compiles the waiting instances, and then the procedures that are never called, to find their errors. Errors in
    /// unreachable procedures are warnings, and these procedures are left out.
    fn compile_remaining(&mut self) {
        self.compile_waiting();
        let reached = self.reached();
        for n in 0..self.tree.procedures.len() {
            // Its caller has an error, so its own errors are errors, too.
            if reached.get(n) == Some(&true) {
                self.compile_alone(n);
            }
        }
        let (functions, errors) = (self.program.functions.len(), self.found.len());
        for n in 0..self.tree.procedures.len() {
            self.compile_alone(n);
        }
        let unreached = self.found.split_off(errors.min(self.found.len()));
        if unreached.iter().any(|d| d.severity == Severity::Error) {
            self.program.functions.truncate(functions);
        }
        for d in unreached {
            // It was reported as an error already.
            if !self.found.contains(&d) {
                self.found.push(warned(d));
            }
        }
    }

    /// Compiles a procedure without callers, as if its arguments were different variables.
    fn compile_alone(&mut self, n: usize) {
        let p = &self.tree.procedures[n];
        if self.full || p.name.text == "main" || self.counts[n] > 0 {
            return;
        }
        let keys = p.decls.iter().enumerate().map(|(shared, d)| match d.ty {
            DeclTy::Stack => ParamKey::Stack { shared },
            DeclTy::Int(_) if d.dims.is_empty() => ParamKey::Word { shared },
            DeclTy::Int(_) => ParamKey::Array { dims: vec![None; d.dims.len()], shared },
        });
        let key = (n, keys.collect());
        let _ = self.instance(key, &p.name.span);
        self.compile_waiting();
    }

    /// Which procedures `main` calls or uncalls, directly or through others.
    fn reached(&self) -> Vec<bool> {
        let count = self.tree.procedures.len();
        // Without `main`, every procedure counts as reached.
        let Some(main) = self.procedures.get("main").copied() else { return vec![true; count] };
        let (mut reached, mut next) = (vec![false; count], vec![main]);
        while let Some(n) = next.pop() {
            let Some(seen) = reached.get_mut(n) else { continue };
            if std::mem::replace(seen, true) {
                continue;
            }
            let calls = self.tree.procedures.get(n).map(|p| called(&p.body)).unwrap_or_default();
            next.extend(calls.iter().filter_map(|name| self.procedures.get(name.text.as_str())));
        }
        reached
    }

    fn compile_waiting(&mut self) {
        while let Some((key, fun)) = self.waiting.pop() {
            if self.full {
                return;
            }
            let p = &self.tree.procedures[key.0];
            let (f, bindings) = self.frame(&key, fun);
            let mut body = Body::new(self, f, bindings);
            body.note_parameters();
            body.procedure(p);
            let f = body.finish();
            self.program.functions[fun.0 as usize] = f;
        }
    }
}
