//! Writes `docs/src/accuracy.md`, or with `--check` says whether it is up to date.

use std::process::ExitCode;

use pendula_accuracy::cases::sections;
use pendula_accuracy::measure::{measure, settle};
use pendula_accuracy::page::{COMMAND, page, path, table};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let check = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--check"] => true,
        _ => {
            eprintln!("usage: worst-errors [--check]");
            return ExitCode::from(2);
        }
    };
    let mut tables = Vec::new();
    for section in sections() {
        eprintln!("{}", section.title);
        let reports = measure(&section.cases);
        if let Err(failures) = settle(&reports) {
            eprintln!("{failures}");
            return ExitCode::FAILURE;
        }
        tables.push(table(&section, &reports));
    }
    let page = page(&tables);
    let path = path();
    if !check {
        if let Err(error) = std::fs::write(&path, page) {
            eprintln!("{}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    } else if std::fs::read_to_string(&path).ok().as_ref() != Some(&page) {
        eprintln!("{} is stale: run {COMMAND}", path.display());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
