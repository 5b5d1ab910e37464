//! `pendula asm`.

use anyhow::{Context, ensure};
use pendula::asm::{disasm, object};

use crate::Status;
use crate::cli::Asm;
use crate::cmd::{load, report, write_object};
use crate::report::{Reporter, print};

pub(crate) fn run(args: &Asm, reporter: &Reporter) -> anyhow::Result<Status> {
    let program = match load(&args.source, None, args.json, reporter)? {
        Ok(program) => program,
        Err(status) => return Ok(status),
    };
    let output = args.output.as_deref();
    ensure!(
        !(args.listing && output == Some("-")),
        "--listing and `-o -` both write to standard output: name a file for the object"
    );
    // A listing is no JSON, nor is an object: with both, what is to be said goes to standard error.
    report(&program.warnings, &program.sources, args.json && !args.listing && output != Some("-"), reporter)?;
    if args.listing {
        let sources = &program.sources;
        let line = |file: u16, line: u32| sources.line(file, line).map(|(_, text)| text.to_string());
        print(&disasm::listing(&program.module, line))?;
        if output.is_none() {
            return Ok(Status::Done);
        }
    }
    let bytes = object::write(&program.module).context("cannot make the object")?;
    write_object(&args.source.file, output, &bytes)?;
    Ok(Status::Done)
}
