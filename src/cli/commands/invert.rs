//! `pendula invert`.

use pendula::asm::diagnostic::Diagnostic;
use pendula::asm::{disasm, invert};
use pendula::compiler::janus;
use pendula::report::Reporter;

use crate::cli::args::Invert;
use crate::cli::commands::load;
use crate::cli::output::{output_text, report};
use crate::cli::status::Status;

pub(crate) fn run(args: &Invert, reporter: &Reporter) -> anyhow::Result<Status> {
    let program = load(&args.source.in_full(), None, args.json, reporter)?;
    let reported = (&program.warnings[..], &program.sources);
    let place = (args.source.file.as_str(), args.output.as_deref());
    if let Some(janus) = program.compiled.as_ref().and_then(|nil| nil.janus.as_ref()) {
        anyhow::ensure!(
            !args.source.in_full().options.janus.classic,
            "{}: programs of the first language are not written anew; `pendula run --reverse` runs them backward",
            args.source.file
        );
        let inverse = janus::print::print(&janus::invert::program(&janus.tree));
        output_text(place, inverse, reported, args.json, reporter)?;
        return Ok(Status::Done);
    }
    match invert::invert_named(&program.module, &program.named) {
        Ok((inverse, named)) => {
            output_text(place, disasm::disassemble_named(&inverse, &named), reported, args.json, reporter)?;
            Ok(Status::Done)
        }
        Err(error) => {
            let d = Diagnostic::error(error.code(), format!("{}: {error}", args.source.file)).help(error.help());
            report(&[d], &program.sources, args.json, reporter)?;
            Ok(Status::Fault)
        }
    }
}
