//! `pendula fmt`.

mod plain;

use anyhow::Context;
use pendula::asm::diagnostic::Sources;
use pendula::isa::budget::Budget;
use pendula::load::{self, FileKind};
use pendula::report::{Reporter, print, print_source, to_json};
use serde_json::{Map, json};

use crate::cli::args::Fmt;
use crate::cli::output::write_file;
use crate::cli::report::answer;
use crate::cli::status::Status;

pub(crate) fn run(args: &Fmt, reporter: &Reporter) -> anyhow::Result<Status> {
    if let Some(language) = args.to {
        return plain::run(args, language, reporter);
    }
    let (mut status, mut rejected) = (Status::Done, false);
    let (mut files, mut all) = (Vec::new(), Vec::new());
    for file in &args.files {
        let bytes = load::read_bytes(file, &Budget { bytes: 1 << 28, ..Budget::default() })?;
        let kind = load::kind_of(file, &bytes);
        let text = load::text_of(file, bytes)?;
        let name = load::display_name(file);
        anyhow::ensure!(!kind.is_functional(), "{name} is {}, which cannot be formatted", kind.name());
        // An object is refused like a text that is not assembly.
        let language = kind.language().or(FileKind::Assembly.language()).context("a language")?;
        let laid_out = language.format(name, &text).with_context(|| format!("{name}: {}", language.unformatted()))?;
        let mut about = json!({ "file": name });
        match laid_out {
            Err(diagnostics) => {
                let mut sources = Sources::default();
                sources.add(name, text);
                if args.json {
                    all.extend(diagnostics.iter().map(|d| to_json(d, &sources)));
                } else {
                    reporter.diagnostics(&diagnostics, &sources);
                }
                (status, rejected) = (Status::Fault, true);
                continue;
            }
            Ok(laid_out) => {
                let canonical = laid_out == text;
                about["canonical"] = json!(canonical);
                if args.check {
                    if !canonical {
                        status = Status::Fault;
                    }
                    if !canonical && !args.json {
                        print(&format!("{name} is not laid out canonically; `pendula fmt --write {name}` mends it\n"))?;
                    }
                } else if args.write && file != "-" {
                    if !canonical {
                        write_file(file, laid_out.as_bytes())?;
                    }
                } else if args.json {
                    about["text"] = json!(laid_out);
                } else {
                    print_source(&laid_out)?;
                }
            }
        }
        files.push(about);
    }
    if args.json {
        let outcome = if rejected { json!({ "kind": "rejected" }) } else { answer::finished() };
        let rest = Map::from_iter([("diagnostics".to_string(), json!(all)), ("files".to_string(), json!(files))]);
        answer::answer(reporter, status == Status::Done, outcome, rest)?;
    }
    Ok(status)
}
