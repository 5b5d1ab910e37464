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

use pendula_compiler::nil;
use pendula_compiler::nil::ast::Item;
use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::Sources;

pub(crate) use eval::Verdict;

/// What became of a test, and the line in which it begins.
pub(crate) struct Tested {
    pub(crate) line: usize,
    pub(crate) verdict: Verdict,
}

/// Evaluates the tests of a file. A test in a loop counts once for each turn.
pub(crate) fn tests(name: &str, text: &str, budget: &Budget) -> Vec<Tested> {
    let mut sources = Sources::default();
    let (inputs, _) = nil::read(&mut sources, name, text.to_string(), budget, false);
    let functions = || {
        inputs.iter().flat_map(|input| &input.tree.items).filter_map(|item| match item {
            Item::Function(f) => Some(f),
            Item::Struct(_) | Item::Using(_) | Item::Host(_) | Item::Alias(_) | Item::Const(..) => None,
        })
    };
    let names = functions().map(|f| f.name.text.clone()).collect();
    // The host's part of the file alone, with all in its place.
    let mut host = text.to_string().into_bytes();
    if let Some(own) = inputs.first() {
        for item in &own.tree.items {
            if let Item::Function(f) = item
                && let Some(part) = host.get_mut(f.span.clone())
            {
                part.iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
            }
        }
    }
    let host = String::from_utf8(host).unwrap_or_else(|_| text.to_string());
    let statements = parser::statements(&host);
    let reversible = reversible::Reversible::new(name, text, names);
    let mut machine = eval::Machine::new(text, reversible);
    let _ = machine.run(&statements);
    let tested = |(at, verdict)| Tested { line: parser::line_of(text, &(at..at)), verdict };
    machine.verdicts.into_iter().map(tested).collect()
}
