//! `pendula check`.

use pendula::asm::check;
use pendula::asm::diagnostic::{Diagnostic, Severity, plural};
use pendula::load::display_name;

use crate::Status;
use crate::cli::{Check, Source};
use crate::cmd::{each, load, report};
use crate::report::{Reporter, print};
use crate::trapped::finding;

pub(crate) fn run(args: &Check, reporter: &Reporter) -> anyhow::Result<Status> {
    let several = args.sources.files.len() > 1;
    each(args.sources.each(), (false, args.json), reporter, |source| one(source, (args.json, several), reporter))
}

/// Checks a program, one of `several` or not.
fn one(source: &Source, (json, several): (bool, bool), reporter: &Reporter) -> anyhow::Result<Status> {
    let program = match load(source, None, json, reporter)? {
        Ok(program) => program,
        Err(status) => {
            if several && !json {
                print(&format!("{}: cannot be read as a program\n", display_name(&source.file)))?;
            }
            return Ok(status);
        }
    };
    let mut diagnostics = program.warnings;
    if program.nil.is_none() {
        // What there is to say of compiled code is no concern of who wrote the source.
        let found = check::check(&program.module);
        diagnostics.extend(found.iter().map(|f| finding(f, &program.module, &program.sources)));
    }
    report(&diagnostics, &program.sources, json, reporter)?;
    if !json && (several || diagnostics.is_empty()) {
        print(&format!("{}: {}\n", source.file, summary(&diagnostics)))?;
    }
    let failed = diagnostics.iter().any(|d| d.severity == Severity::Error);
    Ok(if failed { Status::Fault } else { Status::Done })
}

/// How much was found.
fn summary(diagnostics: &[Diagnostic]) -> String {
    let kinds = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")];
    let count = |severity| diagnostics.iter().filter(|d| d.severity == severity).count() as u64;
    let parts = kinds.map(|(severity, what)| (count(severity), what)).into_iter().filter(|(n, _)| *n > 0);
    let parts: Vec<String> = parts.map(|(n, what)| plural(n, what)).collect();
    if parts.is_empty() { "no problems found".to_string() } else { parts.join(", ") }
}
