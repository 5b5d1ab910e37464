//! `pendula asm`.

use std::path::Path;

use anyhow::{Context, bail};
use pendula::asm::{disasm, object};

use crate::Status;
use crate::cli::Asm;
use crate::cmd::{keep_source, load, report, write};
use crate::report::Reporter;

pub(crate) fn run(args: &Asm, reporter: &Reporter) -> anyhow::Result<Status> {
    let program = match load(&args.source, None, args.json, reporter)? {
        Ok(program) => program,
        Err(status) => return Ok(status),
    };
    // A listing is no JSON: with both, what is to be said goes to standard error.
    report(&program.warnings, &program.sources, args.json && !args.listing, reporter)?;
    if args.listing {
        let sources = &program.sources;
        let line = |file: u16, line: u32| sources.line(file, line).map(|(_, text)| text.to_string());
        write(&args.source.file, None, &disasm::listing(&program.module, line))?;
        if args.output.is_none() {
            return Ok(Status::Done);
        }
    }
    let output = match &args.output {
        Some(output) => output.clone(),
        None if args.source.file == "-" => bail!("say where to write the object: -o OUT"),
        None => Path::new(&args.source.file).with_extension("o").display().to_string(),
    };
    keep_source(&args.source.file, &output)?;
    let bytes = object::write(&program.module).context("cannot make the object")?;
    std::fs::write(&output, bytes).with_context(|| format!("cannot write {output}"))?;
    Ok(Status::Done)
}
