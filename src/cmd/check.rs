//! `pendula check`.

use pendula::asm::check::{self, At, Finding};
use pendula::asm::diagnostic::{Diagnostic, Severity, Sources};
use pendula::isa::Module;

use crate::Status;
use crate::cli::Check;
use crate::cmd::{load, report};
use crate::report::{Reporter, print};
use crate::trapped::{line_of, place};

pub(crate) fn run(args: &Check, reporter: &Reporter) -> anyhow::Result<Status> {
    let program = match load(&args.source, None, args.json, reporter)? {
        Ok(program) => program,
        Err(status) => return Ok(status),
    };
    let mut diagnostics = program.warnings;
    if program.nil.is_none() {
        // What there is to say of compiled code is no concern of who wrote the source.
        let found = check::check(&program.module);
        diagnostics.extend(found.iter().map(|f| diagnostic(f, &program.module, &program.sources)));
    }
    report(&diagnostics, &program.sources, args.json, reporter)?;
    let failed = diagnostics.iter().any(|d| d.severity == Severity::Error);
    if diagnostics.is_empty() && !args.json {
        print(&format!("{}: no problems found\n", args.source.file))?;
    }
    Ok(if failed { Status::Fault } else { Status::Done })
}

/// A finding as a diagnostic.
pub(crate) fn diagnostic(f: &Finding, module: &Module, sources: &Sources) -> Diagnostic {
    let mut d = Diagnostic::warning(f.code, f.message.clone()).help(f.help);
    d.severity = f.severity;
    let at = match &f.at {
        At::Module => return d,
        At::Symbol(name) => {
            if !d.message.contains(name.as_str()) {
                d.message = format!("{name}: {}", d.message);
            }
            return d;
        }
        At::Inst(at) => *at,
    };
    match place(module, sources, at) {
        Some(p) => d = d.at(p, ""),
        None => d.message = format!("{}: {}", line_of(module, at), d.message),
    }
    if let Some(p) = f.other.and_then(|other| place(module, sources, other)) {
        d = d.also(p, "");
    }
    d
}
