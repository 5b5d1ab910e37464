//! `pendula disasm`.

use pendula::asm::disasm;

use crate::Status;
use crate::cli::Disasm;
use crate::cmd::{load, write};
use crate::report::Reporter;

pub(crate) fn run(args: &Disasm, reporter: &Reporter) -> anyhow::Result<Status> {
    let program = match load(&args.source, None, false, reporter)? {
        Ok(program) => program,
        Err(status) => return Ok(status),
    };
    let text =
        if args.listing { disasm::listing(&program.module, |_, _| None) } else { disasm::disassemble(&program.module) };
    write(&args.source.file, args.output.as_deref(), &text)?;
    Ok(Status::Done)
}
