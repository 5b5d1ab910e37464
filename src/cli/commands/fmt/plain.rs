//! `pendula fmt --to nil`: files of Julia as programs in Nil.

use std::path::Path;

use pendula::asm::diagnostic::{Severity, Sources};
use pendula::compiler::nil::is_host;
use pendula::compiler::nil::plain::plain;
use pendula::isa::budget::Budget;
use pendula::load;
use pendula::report::{Reporter, print_source, to_json};
use serde_json::{Map, Value, json};

use crate::cli::args::{Fmt, PlainLanguage};
use crate::cli::output::write_file;
use crate::cli::report::answer;
use crate::cli::status::Status;

/// Writes each file in its plain form.
pub(super) fn run(args: &Fmt, language: PlainLanguage, reporter: &Reporter) -> anyhow::Result<Status> {
    let PlainLanguage::Nil = language;
    if let Some(file) = args.files.iter().find(|file| !is_host(file)) {
        anyhow::bail!("{} is no file of Julia (`.jl`): `--to nil` is for these", load::display_name(file));
    }
    let (mut rejected, mut files, mut all) = (false, Vec::new(), Vec::new());
    for file in &args.files {
        let bytes = load::read_bytes(file, &Budget { bytes: 1 << 28, ..Budget::default() })?;
        let text = load::text_of(file, bytes)?;
        let name = load::display_name(file);
        let made = plain(name, &text, &Budget::default(), args.strict);
        let mut sources = Sources::default();
        sources.add(name, text);
        if args.json {
            all.extend(made.diagnostics.iter().map(|d| to_json(d, &sources)));
        } else {
            reporter.diagnostics(&made.diagnostics, &sources);
        }
        let Some(text) = made.text else {
            rejected = true;
            continue;
        };
        files.push(give(args, file, &text)?);
        debug_assert!(made.diagnostics.iter().all(|d| d.severity != Severity::Error));
    }
    if args.json {
        let outcome = if rejected { json!({ "kind": "rejected" }) } else { answer::finished() };
        let rest = Map::from_iter([("diagnostics".to_string(), json!(all)), ("files".to_string(), json!(files))]);
        answer::answer(reporter, !rejected, outcome, rest)?;
    }
    Ok(if rejected { Status::Fault } else { Status::Done })
}

/// Writes or prints the plain form of a file; gives what is said of it in JSON.
fn give(args: &Fmt, file: &str, text: &str) -> anyhow::Result<Value> {
    let mut about = json!({ "file": load::display_name(file) });
    if args.write {
        let path = Path::new(file).with_extension("nil");
        let path = path.to_string_lossy();
        match std::fs::read(&*path) {
            Ok(found) if found == text.as_bytes() => {}
            Ok(_) if !args.force => anyhow::bail!("{path} exists, and is another text; `--force` replaces it"),
            _ => write_file(&path, text.as_bytes())?,
        }
        about["written"] = json!(path);
    }
    if args.json {
        about["text"] = json!(text);
    } else if !args.write {
        print_source(text)?;
    }
    Ok(about)
}
