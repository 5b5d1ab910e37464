//! `pendula invert`.

use pendula::asm::diagnostic::Diagnostic;
use pendula::asm::{disasm, invert};

use crate::Status;
use crate::cli::Invert;
use crate::cmd::{load, report, write};
use crate::report::Reporter;

pub(crate) fn run(args: &Invert, reporter: &Reporter) -> anyhow::Result<Status> {
    let program = match load(&args.source, None, false, reporter)? {
        Ok(program) => program,
        Err(status) => return Ok(status),
    };
    match invert::invert(&program.module) {
        Ok(inverse) => {
            write(&args.source.file, args.output.as_deref(), &disasm::disassemble(&inverse))?;
            Ok(Status::Done)
        }
        Err(error) => {
            let d = Diagnostic::error(error.code(), format!("{}: {error}", args.source.file)).help(error.help());
            report(&[d], &program.sources, false, reporter)?;
            Ok(Status::Fault)
        }
    }
}
