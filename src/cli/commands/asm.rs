//! `pendula asm`.

use anyhow::{Context, bail, ensure};
use pendula::asm::{disasm, object};
use pendula::report::{Reporter, print};
use serde_json::{Map, json};

use crate::cli::args::Asm;
use crate::cli::commands::load;
use crate::cli::definitions;
use crate::cli::output;
use crate::cli::output::output_object;
use crate::cli::status::Status;

pub(crate) fn run(args: &Asm, reporter: &Reporter) -> anyhow::Result<Status> {
    let program = load(&args.source.in_full(), None, args.json, reporter)?;
    let output = args.output.as_deref();
    ensure!(
        !(args.listing && output == Some("-")),
        "--listing and `-o -` both write to standard output: name a file for the object"
    );
    let file = &args.source.file;
    if let Some(advice) = definitions::advice(&program, file) {
        bail!("{file} has definitions alone, which make no object: {advice}");
    }
    let listing = args.listing.then(|| {
        let sources = &program.sources;
        let line = |file: u16, line: u32| sources.line(file, line).map(|(_, text)| text.to_string());
        disasm::listing(&program.module, line)
    });
    let reported = (&program.warnings[..], &program.sources);
    let mut rest = Map::new();
    if !args.json {
        reporter.diagnostics(&program.warnings, &program.sources);
    }
    if let Some(listing) = listing {
        if args.json {
            rest.insert("text".into(), json!(listing));
        } else {
            print(&listing)?;
        }
        if output.is_none() {
            return if args.json { output::answer_diagnostics(reported.0, reported.1, rest, reporter) } else { Ok(()) }
                .map(|()| Status::Done);
        }
    }
    let bytes = object::write(&program.module).context("cannot make the object")?;
    output_object((file, output), &bytes, reported, rest, (args.json, reporter))?;
    Ok(Status::Done)
}
