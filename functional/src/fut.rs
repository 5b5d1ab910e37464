//! Futhark programs: read, typed, and elaborated to the core.

use std::rc::Rc;

use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::{Diagnostic, Sources};
use rustc_hash::FxHashMap;

use crate::errors;

pub mod blocks;
pub mod check;
mod code;
mod elaborate;
mod infer;
mod lex;
mod module;
mod parse;
mod syntax;
mod types;
pub mod value;

pub use module::{Entry, Module, ValueType};
pub use types::Prim;

use infer::{Infer, Scope};
use syntax::{Ast, Dec, Span};

/// The names and types that every program sees.
const PRELUDE: &str = include_str!("fut/prelude.fut");
/// The modules of the number types, with `T` for each.
const NUMBERS: &str = include_str!("fut/numbers.fut");

/// The module of truth values.
const BOOL: &str = include_str!("fut/bool.fut");

/// Gives the text of an imported file, named as in `import`, relative to the program's folder, without `.fut`.
pub type Load<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;

/// Files while they are read.
struct Files<'a, 'b> {
    sources: &'a mut Sources,
    load: &'a mut Load<'b>,
    budget: Budget,
    base: Vec<Rc<Scope>>,
    /// The files that were read, by their paths; `None` while they are read.
    found: FxHashMap<String, Option<Rc<Scope>>>,
    /// The folder of the file that is read.
    folder: String,
    /// The number of bytes read so far.
    bytes: u64,
    /// Where single precision is first spoken of.
    single: Option<Span>,
}

/// The path of an imported file: folders joined, `..` taken away where that can be.
fn joined(folder: &str, name: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let absolute = name.strip_prefix('/');
    let all = absolute
        .map_or_else(|| folder.split('/').chain(name.split('/')).collect::<Vec<_>>(), |n| n.split('/').collect());
    for part in all {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

impl Files<'_, '_> {
    /// Reads a file and infers it.
    fn file(&mut self, infer: &mut Infer, name: &str, text: &str) -> Result<Rc<Scope>, Box<Diagnostic>> {
        self.bytes += text.len() as u64;
        self.budget
            .large(self.bytes, || "the program with its imports".to_string())
            .map_err(|e| Box::new(e.diagnostic()))?;
        let Some(file) = self.sources.add(name, text) else {
            return Err(Box::new(Diagnostic::error(errors::FUT_IMPORT, "the program has more than 65536 files")));
        };
        let mut ast = Ast::default();
        let decs = parse::program(&mut ast, file, text, self.budget)?;
        self.single = self.single.or(ast.single);
        self.numbers(infer, text)?;
        let base = self.base.clone();
        Ok(infer.file(&ast, &decs, &base, &mut |infer, name, span| self.import(infer, name, span)))
    }

    /// Makes the modules of the numbers that a text speaks of.
    fn numbers(&mut self, infer: &mut Infer, text: &str) -> Result<(), Box<Diagnostic>> {
        for prim in Prim::all() {
            let known = |scope: &Rc<Scope>| scope.modules.contains_key(prim.name());
            if !text.contains(prim.name()) || self.base.iter().any(known) {
                continue;
            }
            let text = if prim == Prim::Bool { BOOL.to_string() } else { number_module(prim) };
            let scope = own(infer, self.sources, &format!("the module {}", prim.name()), &text, &self.base)?;
            self.base.push(scope);
        }
        Ok(())
    }

    fn import(&mut self, infer: &mut Infer, name: &str, span: Span) -> Result<Rc<Scope>, Box<Diagnostic>> {
        let path = joined(&self.folder, name);
        let error = |message: String, help: &str| {
            Box::new(Diagnostic::error(errors::FUT_IMPORT, message).at(span.place(), "imported here").help(help))
        };
        match self.found.get(&path) {
            Some(Some(scope)) => return Ok(scope.clone()),
            Some(None) => {
                let message = format!("`{path}` imports itself, perhaps through another file");
                return Err(error(message, "move what both need into a third file"));
            }
            None => {}
        }
        if self.found.len() as u32 >= self.budget.depth {
            let message = format!("more than {} imported files", self.budget.depth);
            return Err(error(message, "put several modules into one file"));
        }
        let text = (self.load)(&path)
            .map_err(|why| error(format!("cannot read `{path}.fut`: {why}"), "check the path, relative to the file"))?;
        self.found.insert(path.clone(), None);
        let folder = path.rfind('/').map_or("", |end| &path[..end]).to_string();
        let before = std::mem::replace(&mut self.folder, folder);
        let scope = self.file(infer, &format!("{path}.fut"), &text);
        self.folder = before;
        let scope = scope?;
        self.found.insert(path, Some(scope.clone()));
        Ok(scope)
    }
}

/// The lines of the numbers' module for one type.
fn number_module(prim: Prim) -> String {
    let mut text = String::new();
    let mut kept = true;
    for line in NUMBERS.lines() {
        match line {
            "--int" => kept = prim.is_int(),
            "--float" => kept = prim.is_float(),
            "--f32" => kept = prim == Prim::F32,
            "--f64" => kept = prim == Prim::F64,
            "--end" => kept = true,
            _ if kept => {
                let mut last = ' ';
                for (n, c) in line.char_indices() {
                    let alone = |c: Option<char>| !c.is_some_and(|c| c.is_alphanumeric() || c == '_');
                    if c == 'T' && alone(Some(last)) && alone(line[n + 1..].chars().next()) {
                        text.push_str(prim.name());
                    } else {
                        text.push(c);
                    }
                    last = c;
                }
                text.push('\n');
            }
            _ => {}
        }
    }
    text
}

/// Infers a text of the prelude.
fn own(
    infer: &mut Infer,
    sources: &mut Sources,
    name: &str,
    text: &str,
    base: &[Rc<Scope>],
) -> Result<Rc<Scope>, Box<Diagnostic>> {
    let Some(file) = sources.add(name, text) else {
        return Err(Box::new(Diagnostic::error(errors::FUT_IMPORT, "the program has more than 65536 files")));
    };
    let mut ast = Ast::default();
    let decs: Vec<Dec> = parse::program(&mut ast, file, text, Budget::default())?;
    infer.builtins = true;
    let scope = infer.file(&ast, &decs, base, &mut |_, name, span| {
        Err(Box::new(
            Diagnostic::error(errors::FUT_IMPORT, format!("the prelude imports `{name}`")).at(span.place(), ""),
        ))
    });
    infer.builtins = false;
    Ok(scope)
}

/// Reads a program and infers its types.
fn inferred(
    name: &str,
    text: &str,
    sources: &mut Sources,
    load: &mut Load,
    budget: Budget,
) -> Result<(Infer, u16, Option<Span>), Vec<Diagnostic>> {
    let mut infer = Infer::new(budget);
    let one = |error: Box<Diagnostic>| vec![*error];
    let prelude = own(&mut infer, sources, "the prelude of Futhark", PRELUDE, &[]).map_err(one)?;
    let mut files = Files {
        sources,
        load,
        budget,
        base: vec![prelude],
        found: FxHashMap::default(),
        folder: String::new(),
        bytes: 0,
        single: None,
    };
    let main = u16::try_from(files.sources.len()).unwrap_or(u16::MAX);
    files.file(&mut infer, name, text).map_err(one)?;
    let single = files.single;
    // Entry points of imported files are ordinary definitions.
    infer.code.entries.retain(|(_, _, span)| span.file == main);
    if infer.errors.is_empty() { Ok((infer, main, single)) } else { Err(std::mem::take(&mut infer.errors)) }
}

/// Reads a program: `name` and `text` are those of its main file, `load` gives the texts of imported ones, and `sources` takes all of them, for
/// messages.
///
/// # Errors
/// If it cannot be read; all errors that were found.
pub fn read(
    name: &str,
    text: &str,
    sources: &mut Sources,
    load: &mut Load,
    budget: Budget,
) -> Result<Module, Vec<Diagnostic>> {
    let (infer, main, single) = inferred(name, text, sources, load, budget)?;
    Ok(Module { single: single.map(Span::place), ..module::made(&infer, main)? })
}
