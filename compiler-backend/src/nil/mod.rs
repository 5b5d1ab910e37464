//! Nil: the high-level reversible language of the NiLang papers, independent of its host.
//!
//! [`parser`] turns text into a syntax tree ([`ast`]), [`sema`] turns the tree into the intermediate representation,
//! and [`library`] has the modules for `using`.

pub mod ast;
pub mod codes;
pub mod entries;
pub mod fmt;
mod lexer;
pub mod library;
pub mod parser;
pub mod plain;
pub mod sema;
mod token;
pub mod types;
pub mod uses;

use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::{Diagnostic, Place, Severity, Sources, plural};

use sema::Input;

/// Reads a program and the library modules that it uses. The program comes first. In a file of the host language
/// (`.jl`), functions that cannot be read are left out, with a warning; `strict` makes it an error.
pub fn read(
    sources: &mut Sources,
    name: &str,
    text: String,
    budget: &Budget,
    strict: bool,
) -> (Vec<Input>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let mut inputs = Vec::new();
    let mut wanted: Vec<(ast::Name, u16)> = Vec::new();
    add(sources, name, text, Some(budget), &mut inputs, &mut wanted, &mut diagnostics);
    if let Some(input) = inputs.first() {
        unread(input, strict, &mut diagnostics);
    }
    let mut done: Vec<&'static str> = Vec::new();
    while let Some((module, file)) = wanted.pop() {
        let Some(files) = library::find(&module.text) else {
            let first = module.text.split('.').next().unwrap_or("");
            if is_host(name) {
                tracing::info!("`{}` is not a module of the library, and is skipped", module.text);
            } else if !library::HOST.contains(&first) {
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

/// Whether a file belongs to the host language, by its name: reversible functions stand between code of the host there.
pub fn is_host(name: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|e| e == "jl")
}

/// The notes on code of the host that is skipped: one for each part, or, in a file of the host, one for all of them.
fn skipped(file: u16, text: &str, tree: &ast::File, host: bool) -> Vec<Diagnostic> {
    let note = |message: String| {
        let note = Diagnostic::warning(codes::SKIPPED, format!("host code is skipped: {message}"));
        Diagnostic { severity: Severity::Note, ..note }
    };
    if host {
        for (what, span) in &tree.skipped {
            let line = text.get(..span.start).map_or(0, |before| before.matches('\n').count()) + 1;
            tracing::info!(line, "host code is skipped: {what}");
        }
        let count = plural(tree.skipped.len() as u64, "statement");
        // Its first line: what is skipped may be long.
        let line = |span: &ast::Span| {
            let end = text.get(span.clone()).and_then(|t| t.find('\n')).map_or(span.end, |n| span.start + n);
            span.start..end
        };
        let first = tree.skipped.first().map(|(_, span)| Place { file, span: line(span) });
        let all = |first| note(format!("{count}; `-v` lists them")).at(first, "the first is here");
        return first.map(all).into_iter().collect();
    }
    let one = |(what, span): &(String, ast::Span)| {
        let mut d = note(what.clone()).at(Place { file, span: span.clone() }, "");
        if text.get(span.clone()).is_some_and(|text| text.starts_with("//")) {
            d.help = Some("a comment begins with `#`".to_string());
        }
        d
    };
    tree.skipped.iter().map(one).collect()
}

/// Tells which functions could not be read, and how many.
fn unread(input: &Input, strict: bool, diagnostics: &mut Vec<Diagnostic>) {
    let functions = || {
        input.tree.items.iter().filter_map(|item| match item {
            ast::Item::Function(f) => Some(f),
            ast::Item::Struct(_)
            | ast::Item::Using(_)
            | ast::Item::Host(_)
            | ast::Item::Alias(_)
            | ast::Item::Const(..) => None,
        })
    };
    let (mut count, mut first) = (0, None);
    for f in functions() {
        let Some(unread) = &f.unread else { continue };
        count += 1;
        first.get_or_insert_with(|| Place { file: input.file, span: f.name.span.clone() });
        let what = match f.name.text.as_str() {
            "" => "this".to_string(),
            name => format!("`{name}`"),
        };
        let message = format!("{what} is left out: {}", unread.reason.message);
        let severity = if strict { Severity::Error } else { Severity::Warning };
        diagnostics.push(Diagnostic { severity, code: codes::LEFT_OUT, message, ..(*unread.reason).clone() });
    }
    if let (Some(first), false) = (first, strict) {
        let of = functions().count();
        let message = format!("{count} of {of} reversible functions are left out; `--strict` makes that an error");
        let note = Diagnostic::warning(codes::LEFT_OUT, message).at(first, "the first is here");
        diagnostics.push(Diagnostic { severity: Severity::Note, ..note });
    }
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
    let budget = given.copied().unwrap_or_default();
    let (tree, found) = match is_host(name) {
        true => parser::parse_host(file, &text, &budget),
        false => parser::parse_within(file, &text, &budget),
    };
    diagnostics.extend(found);
    diagnostics.extend(skipped(file, &text, &tree, is_host(name)));
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
