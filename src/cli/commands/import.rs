//! `pendula import`.

use anyhow::bail;
use pendula::asm::pisa;
use pendula::asm::pisa::import::{Options, import};
use pendula::isa::budget::Budget;
use pendula::load::{self, FileKind};
use pendula::report::Reporter;

use crate::cli::args::Import;
use crate::cli::commands::reading;
use crate::cli::output::{output_text, report};
use crate::cli::status::Status;

pub(crate) fn run(args: &Import, reporter: &Reporter) -> anyhow::Result<Status> {
    let file = &args.file;
    let budget = Budget { bytes: args.limit.max_source as u64, ..Budget::default() };
    let bytes = load::read_source(file, &budget)?;
    if load::kind_of(file, &bytes) != FileKind::Pisa {
        bail!("{} is not a program in PISA", load::display_name(file));
    }
    let text = load::text_of(file, bytes)?;
    let options = Options {
        read: pisa::Options { budget, ..reading(&args.pisa, &args.strictness) },
        cells: args.cells,
        below: args.below,
    };
    let imported = import(load::display_name(file), &text, &options);
    let Some(translation) = imported.text else {
        report(&imported.diagnostics, &imported.sources, args.json, reporter)?;
        return Ok(Status::Fault);
    };
    let reported = (&imported.diagnostics[..], &imported.sources);
    output_text((file, args.output.as_deref()), translation, reported, args.json, reporter)?;
    if !args.json {
        report(&imported.diagnostics, &imported.sources, false, reporter)?;
    }
    Ok(Status::Done)
}
