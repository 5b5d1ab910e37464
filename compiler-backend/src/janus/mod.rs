//! Janus: the reversible language of Lutz and Derby, as today's interpreters define it.
//!
//! [`parser`] turns text into a syntax tree ([`ast`]), `sema` turns the tree into the reversible intermediate
//! representation, and [`store`] formats the variables of `main`. [`print`](mod@print) turns trees into text, and
//! [`invert`] inverts programs.

pub mod ast;
pub mod codes;
pub mod invert;
mod lexer;
pub mod parser;
pub mod print;
mod sema;
pub mod store;

use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::{Diagnostic, Severity, Sources};

use crate::ir::Program;
use crate::lower::Argument;

/// The default number of words of a stack.
pub const STACK: u64 = 4096;

/// The settings of a compilation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether `int` wraps at 32 bits.
    pub int32: bool,
    /// The capacity of a stack in numbers.
    pub stack: u64,
    /// Whether the program is in the language of 1982 to 2007.
    pub classic: bool,
    /// The procedure where a run of a classic program begins, if it is given.
    pub entry: Option<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { int32: false, stack: STACK, classic: false, entry: None }
    }
}

/// The result of reading a program.
#[derive(Debug, Default)]
pub struct Read {
    /// The syntax tree.
    pub tree: ast::Tree,
    /// The program in the intermediate representation; `None` if there were errors.
    pub program: Option<Program>,
    /// The data symbols of `main`'s variables.
    pub arguments: Vec<Argument>,
    /// The variables of `main`.
    pub store: Vec<store::Variable>,
    /// The diagnostics.
    pub diagnostics: Vec<Diagnostic>,
}

/// Whether a failed check is a range check (a number from 0 to below another), which is an unsigned comparison.
pub fn is_range(reason: &str) -> bool {
    reason.starts_with(sema::OUTSIDE) || reason.starts_with(sema::TOO_FAR)
}

/// Whether a failed check is that of a statement that reads the word that it changes.
pub fn is_alias(reason: &str) -> bool {
    reason == sema::READS
}

/// Reads and analyses a program, within a budget.
pub fn read(sources: &mut Sources, name: &str, text: &str, settings: &Settings, budget: &Budget) -> Read {
    let Some(file) = sources.add(name, text) else { return Read::default() };
    let span = tracing::debug_span!("parse").entered();
    let (tree, diagnostics) = if settings.classic {
        parser::classic::parse(file, text, settings.entry.as_deref(), budget)
    } else {
        parser::parse_within(file, text, budget)
    };
    drop(span);
    if let (Some(entry), false) = (&settings.entry, settings.classic) {
        let message = format!("a run of a program in Janus begins with `main`, not with `{entry}`");
        let d = Diagnostic::error(codes::MAIN, message)
            .help("call it in `main`; only programs with `--classic` have other entries");
        return Read { tree, diagnostics: vec![d], ..Read::default() };
    }
    let failed = |d: &[Diagnostic]| d.iter().any(|d| d.severity == Severity::Error);
    if failed(&diagnostics) {
        return Read { tree, diagnostics, ..Read::default() };
    }
    let analysis = tracing::debug_span!("check").in_scope(|| sema::analyse(file, name, text, &tree, settings));
    let program = analysis.program.filter(|_| !failed(&analysis.diagnostics));
    Read { tree, program, arguments: analysis.arguments, store: analysis.store, diagnostics: analysis.diagnostics }
}
