//! Janus: the reversible language of Lutz and Derby, as its interpreters have it today.
//!
//! [`parser`] makes a syntax tree ([`ast`]) of text, `sema` the reversible intermediate representation of that, and [`store`] says how the
//! variables of `main` are shown. [`print`](mod@print) writes trees as text again, and [`invert`] turns them around.

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

/// How much room stacks have unless something else is asked for.
pub const STACK: u64 = 4096;

/// What a compilation may choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether `int` wraps at 32 bits.
    pub int32: bool,
    /// How many numbers a stack has room for.
    pub stack: u64,
    /// Whether the program is one of the language of 1982 to 2007.
    pub classic: bool,
    /// The procedure where a run of such a program begins, if it is named.
    pub entry: Option<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { int32: false, stack: STACK, classic: false, entry: None }
    }
}

/// A program as it was read and understood.
#[derive(Debug, Default)]
pub struct Read {
    /// The tree.
    pub tree: ast::Tree,
    /// The program in the intermediate representation; `None` if there were errors.
    pub program: Option<Program>,
    /// The data symbols of `main`'s variables.
    pub arguments: Vec<Argument>,
    /// These variables, by name.
    pub store: Vec<store::Variable>,
    /// What there is to say.
    pub diagnostics: Vec<Diagnostic>,
}

/// Whether a failing check is one of a number that must be at least 0 and less than another, which is made by comparing words without sign.
pub fn is_range(says: &str) -> bool {
    says.starts_with(sema::OUTSIDE) || says.starts_with(sema::TOO_FAR)
}

/// Whether a failing check is that of a statement that reads the word that it changes.
pub fn is_alias(says: &str) -> bool {
    says == sema::READS
}

/// Reads a program, as far as a budget goes.
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
