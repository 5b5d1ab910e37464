//! `pendula cache`.

use std::time::SystemTime;

use pendula::asm::diagnostic::plural;
use pendula::report::{Reporter, print};
use pendula_bench::table::Table;
use pendula_codegen::cc::{cached_libraries, clear_cache};
use serde_json::{Value, json};

use crate::cli::args::{Cache, CacheAction};
use crate::cli::report::answer::{answer, fields, finished};
use crate::cli::status::Status;

pub(crate) fn run(args: &Cache, reporter: &Reporter) -> anyhow::Result<Status> {
    let (directory, libraries) = match args.action {
        CacheAction::List => cached_libraries()?,
        CacheAction::Clear => clear_cache()?,
    };
    let bytes: u64 = libraries.iter().map(|library| library.bytes).sum();
    let directory = directory.display().to_string();
    if args.json {
        let seconds = |at: SystemTime| at.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let list: Vec<Value> =
            libraries.iter().map(|l| json!({ "name": l.name, "bytes": l.bytes, "used": seconds(l.used) })).collect();
        let what = if args.action == CacheAction::List { "libraries" } else { "removed" };
        answer(reporter, true, finished(), fields(json!({ "directory": directory, "bytes": bytes, what: list })))?;
        return Ok(Status::Done);
    }
    let count = if libraries.len() == 1 { "1 library".to_string() } else { format!("{} libraries", libraries.len()) };
    let total = format!("{count}, {}", size(bytes));
    if args.action == CacheAction::Clear {
        print(&format!("removed {total}, from {directory}\n"))?;
        return Ok(Status::Done);
    }
    if !libraries.is_empty() {
        let mut table = Table::new(&["library", "size", "last used"], 1);
        let row = |l: &pendula_codegen::cc::CachedLibrary| vec![l.name.clone(), size(l.bytes), ago(l.used)];
        libraries.iter().for_each(|l| table.row(row(l)));
        print(&table.aligned())?;
    }
    print(&format!("{total}, in {directory}\n"))?;
    Ok(Status::Done)
}

/// A number of bytes.
fn size(bytes: u64) -> String {
    match bytes {
        n if n >= 1 << 20 => format!("{:.1} MiB", n as f64 / f64::from(1 << 20)),
        n => format!("{:.1} KiB", n as f64 / 1024.0),
    }
}

/// How long ago a time is; uses are noted to the hour.
fn ago(at: SystemTime) -> String {
    let hours = SystemTime::now().duration_since(at).map_or(0, |d| d.as_secs() / 3600);
    match hours {
        0 => "within the hour".to_string(),
        n if n < 48 => format!("{} ago", plural(n as usize, "hour")),
        n => format!("{} ago", plural((n / 24) as usize, "day")),
    }
}
