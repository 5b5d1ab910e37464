//! `pendula check`.

use pendula::asm::check;
use pendula::asm::diagnostic::Severity;

use crate::Status;
use crate::cli::Check;
use crate::cmd::{load, report};
use crate::report::{Reporter, print};
use crate::trapped::finding;

pub(crate) fn run(args: &Check, reporter: &Reporter) -> anyhow::Result<Status> {
    let program = match load(&args.source, None, args.json, reporter)? {
        Ok(program) => program,
        Err(status) => return Ok(status),
    };
    let mut diagnostics = program.warnings;
    if program.nil.is_none() {
        // What there is to say of compiled code is no concern of who wrote the source.
        let found = check::check(&program.module);
        diagnostics.extend(found.iter().map(|f| finding(f, &program.module, &program.sources)));
    }
    report(&diagnostics, &program.sources, args.json, reporter)?;
    let failed = diagnostics.iter().any(|d| d.severity == Severity::Error);
    if diagnostics.is_empty() && !args.json {
        print(&format!("{}: no problems found\n", args.source.file))?;
    }
    Ok(if failed { Status::Fault } else { Status::Done })
}
