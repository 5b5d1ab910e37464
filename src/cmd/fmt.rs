//! `pendula fmt`.

use pendula::asm::diagnostic::Sources;
use pendula::asm::fmt::format_source;
use pendula::compiler::nil::fmt as nil;
use pendula::isa::budget::Budget;
use pendula::load::{self, FileKind};

use crate::Status;
use crate::cli::Fmt;
use crate::cmd::write_file;
use crate::report::{Reporter, print, print_source};

pub(crate) fn run(args: &Fmt, reporter: &Reporter) -> anyhow::Result<Status> {
    let mut status = Status::Done;
    for file in &args.files {
        let bytes = load::read_bytes(file, &Budget { bytes: 1 << 28, ..Budget::default() })?;
        let kind = load::kind_of(file, &bytes);
        let text = load::text_of(file, bytes)?;
        let name = load::display_name(file);
        let laid_out = match kind {
            FileKind::Nil => nil::format_source(&text),
            FileKind::Janus => anyhow::bail!("{name}: programs in Janus are not laid out"),
            FileKind::Pisa => anyhow::bail!("{name}: PISA is left as it is laid out; `fmt` is for `.rasm` and `.nil`"),
            FileKind::Assembly | FileKind::Object => format_source(name, &text),
        };
        match laid_out {
            Err(diagnostics) => {
                let mut sources = Sources::default();
                sources.add(name, text);
                reporter.diagnostics(&diagnostics, &sources);
                status = Status::Fault;
            }
            Ok(laid_out) if args.check => {
                if laid_out != text {
                    print(&format!("{name} is not laid out canonically; `pendula fmt --write {name}` mends it\n"))?;
                    status = Status::Fault;
                }
            }
            Ok(laid_out) if args.write && file != "-" => {
                if laid_out != text {
                    write_file(file, laid_out.as_bytes())?;
                }
            }
            Ok(laid_out) => print_source(&laid_out)?,
        }
    }
    Ok(status)
}
