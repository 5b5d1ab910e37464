//! `pendula run --expect` of files in Julia: the tests in them that reversible functions must pass.
//!
//! The host's part of a file is read by [`parser`], as far as tests need it, and evaluated by [`eval`]. A call of a reversible function runs
//! it on the machine ([`reversible`]). What is not evaluated here makes the variables unknown that depend on it, and the tests are counted.

mod eval;
mod functions;
mod lexer;
mod parser;
mod reversible;
mod syntax;
mod value;

use std::path::{Path, PathBuf};

use pendula::load::{read_source, text_of};
use pendula_compiler::nil;
use pendula_compiler::nil::ast::Item;
use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::Sources;

pub(crate) use eval::Verdict;

/// Files that include one another, at most.
const FILES: usize = 256;

/// What became of a test, and the file and the line in which it begins.
pub(crate) struct Tested {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) verdict: Verdict,
}

/// Evaluates the tests of a file, and of those that it includes. A test in a loop counts once for each turn.
pub(crate) fn tests(name: &str, text: &str, budget: &Budget) -> Vec<Tested> {
    let mut joined = Joined { text: String::new(), parts: Vec::new(), open: Vec::new(), budget };
    joined.add(name, text);
    let Joined { text, parts, .. } = joined;
    let mut sources = Sources::default();
    let (inputs, _) = nil::read(&mut sources, name, text.clone(), budget, false);
    let functions = || {
        inputs.iter().flat_map(|input| &input.tree.items).filter_map(|item| match item {
            Item::Function(f) => Some(f),
            Item::Struct(_) | Item::Using(_) | Item::Host(_) | Item::Alias(_) | Item::Const(..) => None,
        })
    };
    let names = functions().map(|f| f.name.text.clone()).collect();
    // The host's part of the file alone, with all in its place.
    let mut host = text.clone().into_bytes();
    if let Some(own) = inputs.first() {
        for item in &own.tree.items {
            if let Item::Function(f) = item
                && let Some(part) = host.get_mut(f.span.clone())
            {
                part.iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
            }
        }
    }
    let host = String::from_utf8(host).unwrap_or_else(|_| text.clone());
    let statements = parser::statements(&host);
    let reversible = reversible::Reversible::new(name, &text, names);
    let mut machine = eval::Machine::new(&text, reversible);
    let _ = machine.run(&statements);
    let tested = |(at, verdict)| {
        let part = parts.iter().rev().find(|part| part.at <= at);
        let (file, first, begin) = part.map_or((name, 1, 0), |p| (p.file.as_str(), p.line, p.at));
        let line = first + text.get(begin..at).map_or(0, |before| before.matches('\n').count());
        Tested { file: file.to_string(), line, verdict }
    };
    machine.verdicts.into_iter().map(tested).collect()
}

/// A part of the text of all files: where it begins there, and in its file.
struct Part {
    at: usize,
    file: String,
    line: usize,
}

/// A file with those that it includes in the places of their names.
struct Joined<'b> {
    text: String,
    parts: Vec<Part>,
    /// The files that are being read, each included by the one before.
    open: Vec<PathBuf>,
    budget: &'b Budget,
}

impl Joined<'_> {
    fn add(&mut self, name: &str, text: &str) {
        let path = Path::new(name).to_path_buf();
        self.open.push(path.clone());
        self.part(name, 1);
        for (n, line) in text.lines().enumerate() {
            let included = included(line).map(|file| path.parent().unwrap_or(Path::new("")).join(file));
            let file = included.filter(|file| !self.open.contains(file) && self.parts.len() < 2 * FILES);
            let read = file.and_then(|file| {
                let file = file.display().to_string();
                let text = text_of(&file, read_source(&file, self.budget).ok()?).ok()?;
                Some((file, text))
            });
            match read {
                Some((file, text)) => {
                    self.add(&file, &text);
                    self.part(name, n + 2);
                }
                None => {
                    self.text.push_str(line);
                    self.text.push('\n');
                }
            }
        }
        self.open.pop();
    }

    fn part(&mut self, file: &str, line: usize) {
        self.parts.push(Part { at: self.text.len(), file: file.to_string(), line });
    }
}

/// The file that a line includes: `include("file.jl")`.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix("include(\"")?;
    rest.split_once("\")")
        .filter(|(_, after)| after.is_empty() || after.trim_start().starts_with('#'))
        .map(|(file, _)| file)
}
