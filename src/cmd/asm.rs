//! `pendula asm`.

use std::path::Path;

use anyhow::{Context, bail};
use pendula::asm::{disasm, object};

use crate::Status;
use crate::cli::Asm;
use crate::cmd::{load, report, write};
use crate::report::Reporter;

pub(crate) fn run(args: &Asm, reporter: &Reporter) -> anyhow::Result<Status> {
    let program = match load(&args.source, None, args.json, reporter)? {
        Ok(program) => program,
        Err(status) => return Ok(status),
    };
    report(&program.warnings, &program.sources, args.json, reporter)?;
    if args.listing {
        let sources = &program.sources;
        let line = |file: u16, line: u32| {
            let n = (line as usize).checked_sub(1)?;
            sources.text(file).lines().nth(n).map(str::to_string)
        };
        write(None, &disasm::listing(&program.module, line))?;
        if args.output.is_none() {
            return Ok(Status::Done);
        }
    }
    let output = match &args.output {
        Some(output) => output.clone(),
        None if args.source.file == "-" => bail!("say where to write the object: -o OUT"),
        None => Path::new(&args.source.file).with_extension("o").display().to_string(),
    };
    let bytes = object::write(&program.module).context("cannot make the object")?;
    std::fs::write(&output, bytes).with_context(|| format!("cannot write {output}"))?;
    Ok(Status::Done)
}
