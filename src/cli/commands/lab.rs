//! `pendula lab`: what instructions are worth on programs.

mod discover;
mod subject;
mod sweep;
mod tried;

use std::path::Path;

use anyhow::ensure;
use pendula::asm::{definitions, disasm};
use pendula::report::{Reporter, print};
use serde_json::{Map, Value, json};

use crate::cli::args::{Lab, LabCommand, LabTry};
use crate::cli::output::write_file;
use crate::cli::report::answer::{answer, finished};
use crate::cli::status::Status;
use subject::{Subject, subjects, technologies};
use tried::attempt;

pub(crate) fn run(args: &Lab, reporter: &Reporter) -> anyhow::Result<Status> {
    match &args.what {
        LabCommand::Try(args) => try_out(args, reporter),
        LabCommand::Discover(args) => discover::run(args, reporter),
        LabCommand::Sweep(args) => sweep::run(args, reporter),
    }
}

/// `pendula lab try`.
fn try_out(args: &LabTry, reporter: &Reporter) -> anyhow::Result<Status> {
    ensure!(!args.isa.isa.is_empty(), "name a file of definitions: --isa FILE");
    let technologies = technologies(&args.programs.tech)?;
    let subjects = subjects(args.sources.each(), Some(&args.isa), &args.programs, reporter)?;
    if let Some(folder) = &args.output {
        std::fs::create_dir_all(folder).map_err(|e| anyhow::anyhow!("cannot make the folder {folder}: {e}"))?;
    }
    let mut all: Vec<Value> = Vec::new();
    let mut agree = true;
    for subject in &subjects {
        let known = args.isa.read(subject.module.flags.format, reporter)?;
        let tried = attempt(subject, &known.definitions, &technologies, &args.programs.given)?;
        agree &= tried.compared.differs.is_none();
        if let Some(folder) = &args.output {
            let name = Path::new(&subject.name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let path = Path::new(folder).join(name + ".rasm");
            write_file(&path.to_string_lossy(), disasm::disassemble(&tried.rewritten).as_bytes())?;
        }
        if args.programs.json {
            all.push(tried.json(subject));
        } else {
            print(&tried.text(subject))?;
        }
    }
    if args.programs.json {
        let mut rest = Map::new();
        rest.insert("programs".into(), json!(all));
        answer(reporter, agree, finished(), rest)?;
    }
    Ok(if agree { Status::Done } else { Status::Fault })
}

/// A definition as text, for a program of this format.
fn definition_text(definition: &pendula::isa::extension::Definition, subject: &Subject) -> String {
    definitions::text(definition, subject.module.flags.format)
}
