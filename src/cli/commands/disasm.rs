//! `pendula disasm`.

use anyhow::Context;
use pendula::asm::{disasm, pisa};
use pendula::load::display_name;
use pendula::report::{Reporter, print};

use crate::cli::args::Disasm;
use crate::cli::commands::load;
use crate::cli::output::{is_stdout, output_text};
use crate::cli::status::Status;

pub(crate) fn run(args: &Disasm, reporter: &Reporter) -> anyhow::Result<Status> {
    let program = load(&args.source.in_full(), None, args.json, reporter)?;
    let module = &program.module;
    if args.listing && !args.pisa && !args.json && is_stdout(args.output.as_deref()) {
        // A listing is for people, unlike disassembly that can be assembled again.
        print(&disasm::listing(module, |_, _| None))?;
        return Ok(Status::Done);
    }
    let text = match (args.pisa, args.listing) {
        (true, _) => pisa::write(module).with_context(|| display_name(&args.source.file).to_string())?,
        (_, true) => disasm::listing(module, |_, _| None),
        _ => disasm::disassemble(module),
    };
    let reported = (&program.warnings[..], &program.sources);
    output_text((&args.source.file, args.output.as_deref()), text, reported, args.json, reporter)?;
    Ok(Status::Done)
}
