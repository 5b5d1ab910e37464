//! `pendula check`.

use std::collections::HashSet;

use pendula::asm::check;
use pendula::asm::diagnostic::{Diagnostic, Severity, plural};
use pendula::compiler::nil::ast;
use pendula::isa::module::name_in_source;
use pendula::load::display_name;
use pendula::report::{Reporter, print};
use pendula::trap_report::finding;
use serde_json::Value;

use crate::cli::args::{Check, Source};
use crate::cli::commands::functional;
use crate::cli::commands::usage::quoted;
use crate::cli::commands::{each, load_to_check};
use crate::cli::output::answer_diagnostics;
use crate::cli::program::Program;
use crate::cli::status::{Reported, Status};

pub(crate) fn run(args: &Check, reporter: &Reporter) -> anyhow::Result<Status> {
    let several = args.sources.files.len() > 1;
    each(args.sources.each(), (false, args.json), reporter, |source| one(source, (args.json, several), reporter))
}

/// Checks one program; `several` says whether there are others.
fn one(source: &Source, (json, several): (bool, bool), reporter: &Reporter) -> anyhow::Result<Status> {
    if functional::is_functional(&source.file) {
        return functional::check::one(source, (json, several), reporter);
    }
    let loaded = load_to_check(source, json, reporter);
    if several && !json && loaded.as_ref().is_err_and(|error| error.is::<Reported>()) {
        print(&format!("{}: cannot be compiled\n", display_name(&source.file)))?;
    }
    let (program, arguments) = loaded?;
    let idle = idle(&program);
    let mut diagnostics = program.warnings;
    if program.compiled.is_none() {
        // Findings in compiled code do not concern the author of the source.
        let found = check::check(&program.module);
        diagnostics.extend(found.iter().map(|f| finding(f, &program.module, &program.sources)));
    }
    if json {
        let given = arguments.map(|text| ("args".to_string(), Value::String(text)));
        answer_diagnostics(&diagnostics, &program.sources, given.into_iter().collect(), reporter)?;
    } else {
        reporter.diagnostics(&diagnostics, &program.sources);
        if several || diagnostics.is_empty() || arguments.is_some() {
            let with = arguments.map_or(String::new(), |text| format!(" (with --args {})", quoted(&text)));
            let left = idle
                .map_or(String::new(), |list| format!("; not compiled, since nothing calls them: {list} (`--entry`)"));
            print(&format!("{}: {}{with}{left}\n", source.file, summary(&diagnostics)))?;
        }
    }
    let failed = diagnostics.iter().any(|d| d.severity == Severity::Error);
    Ok(if failed { Status::Fault } else { Status::Done })
}

/// A note on the functions of a Nil program that were not compiled because the entry function does not call them.
fn idle(program: &Program) -> Option<String> {
    const MOST: usize = 8;
    let nil = program.compiled.as_ref()?;
    let compiled: HashSet<&str> = nil.source.as_ref()?.functions.iter().map(|f| name_in_source(&f.name)).collect();
    let items = nil.inputs.iter().filter(|input| !input.library).flat_map(|input| &input.tree.items);
    let functions = items.filter_map(|item| match item {
        ast::Item::Function(f) if f.instruction.is_none() => Some(f.name.text.as_str()),
        ast::Item::Function(_)
        | ast::Item::Struct(_)
        | ast::Item::Using(_)
        | ast::Item::Host(_)
        | ast::Item::Alias(_)
        | ast::Item::Const(..) => None,
    });
    let mut names: Vec<&str> = functions.filter(|name| !compiled.contains(name_in_source(name))).collect();
    names.dedup();
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| names.join(", ") + &tail)
}

/// A line with the numbers of errors, warnings and notes.
fn summary(diagnostics: &[Diagnostic]) -> String {
    let kinds = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")];
    let count = |severity| diagnostics.iter().filter(|d| d.severity == severity).count() as u64;
    let parts = kinds.map(|(severity, what)| (count(severity), what)).into_iter().filter(|(n, _)| *n > 0);
    let parts: Vec<String> = parts.map(|(n, what)| plural(n, what)).collect();
    if parts.is_empty() { "no problems found".to_string() } else { parts.join(", ") }
}
