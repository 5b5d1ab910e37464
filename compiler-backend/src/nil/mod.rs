//! Nil: the high-level reversible language of the NiLang papers, independent of its host.
//!
//! [`parser`] turns text into a syntax tree ([`ast`]), [`sema`] turns the tree into the intermediate representation,
//! and [`library`] has the modules for `using`.

pub mod ast;
pub mod codes;
pub mod fmt;
mod lexer;
pub mod library;
pub mod parser;
pub mod sema;
mod token;
pub mod types;

use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::{Diagnostic, Place, Severity, Sources};

use sema::Input;

/// Reads a program and the library modules that it uses. The program comes first.
pub fn read(sources: &mut Sources, name: &str, text: String, budget: &Budget) -> (Vec<Input>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let mut inputs = Vec::new();
    let mut wanted: Vec<(ast::Name, u16)> = Vec::new();
    add(sources, name, text, Some(budget), &mut inputs, &mut wanted, &mut diagnostics);
    let mut done: Vec<&'static str> = Vec::new();
    while let Some((module, file)) = wanted.pop() {
        let Some(files) = library::find(&module.text) else {
            let first = module.text.split('.').next().unwrap_or("");
            if !library::HOST.contains(&first) {
                let message = format!("`{}` is not a module of the library, and is skipped", module.text);
                let mut d =
                    Diagnostic::warning(codes::NO_MODULE, message).at(Place { file, span: module.span.clone() }, "");
                d.severity = Severity::Note;
                diagnostics.push(d.help(format!("the library has {}", library::names())));
            }
            continue;
        };
        for (name, text) in files {
            if !done.contains(name) {
                done.push(name);
                add(
                    sources,
                    &format!("<library>/{name}.nil"),
                    text.to_string(),
                    None,
                    &mut inputs,
                    &mut wanted,
                    &mut diagnostics,
                );
            }
        }
    }
    (inputs, diagnostics)
}

fn add(
    sources: &mut Sources,
    name: &str,
    text: String,
    given: Option<&Budget>,
    inputs: &mut Vec<Input>,
    wanted: &mut Vec<(ast::Name, u16)>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Some(file) = sources.add(name, text.clone()) else { return };
    // The library is trusted to be within every budget.
    let library = given.is_none();
    let (tree, found) = parser::parse_within(file, &text, given.unwrap_or(&Budget::default()));
    diagnostics.extend(found);
    for (what, span) in &tree.skipped {
        let mut d = Diagnostic::warning(codes::SKIPPED, format!("host code is skipped: {what}"));
        d.severity = Severity::Note;
        if text.get(span.clone()).is_some_and(|text| text.starts_with("//")) {
            d.help = Some("a comment begins with `#`".to_string());
        }
        diagnostics.push(d.at(Place { file, span: span.clone() }, ""));
    }
    for item in &tree.items {
        if let ast::Item::Using(names) = item {
            wanted.extend(names.iter().map(|n| (n.clone(), file)));
        }
    }
    let lines =
        std::iter::once(0).chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(n, _)| n + 1)).collect();
    inputs.push(Input { file, name: name.to_string(), tree, lines, text, library });
}

/// Parses a type from the command line.
pub(crate) fn parse_type(text: &str) -> Option<ast::TypeExpr> {
    if text.contains(['\n', ')', ',']) && !text.contains('{') {
        return None;
    }
    let (tree, found) = parser::parse(0, &format!("@i function f(x::{text})\nend\n"));
    match tree.items.into_iter().next() {
        Some(ast::Item::Function(f)) if found.is_empty() && f.params.len() == 1 => f.params.into_iter().next()?.ty,
        _ => None,
    }
}
