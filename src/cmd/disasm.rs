//! `pendula disasm`.

use anyhow::Context;
use pendula::asm::{disasm, pisa};
use pendula::load::display_name;

use crate::Status;
use crate::cli::Disasm;
use crate::cmd::{is_stdout, load, write};
use crate::report::{Reporter, print};

pub(crate) fn run(args: &Disasm, reporter: &Reporter) -> anyhow::Result<Status> {
    let program = match load(&args.source, None, false, reporter)? {
        Ok(program) => program,
        Err(status) => return Ok(status),
    };
    let module = &program.module;
    if args.listing && !args.pisa && is_stdout(args.output.as_deref()) {
        // For people, other than what is a program again.
        print(&disasm::listing(module, |_, _| None))?;
        return Ok(Status::Done);
    }
    let text = match (args.pisa, args.listing) {
        (true, _) => pisa::write(module).with_context(|| display_name(&args.source.file).to_string())?,
        (_, true) => disasm::listing(module, |_, _| None),
        _ => disasm::disassemble(module),
    };
    write(&args.source.file, args.output.as_deref(), &text)?;
    Ok(Status::Done)
}
