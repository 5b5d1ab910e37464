//! Shared parts of `run` and `grad` over many inputs, `--batch`.

mod close;
pub(crate) mod grad;
pub(crate) mod inputs;
mod item_inputs;
mod quick;
mod report;
pub(crate) mod rerun;
pub(crate) mod run;
pub(crate) mod save;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pendula::arrays::Texts;
use pendula::batch::MemoryBudget;
use pendula::isa::counts::Counts;
use pendula::report::print_exact;
use pendula::visible::{is_plain, visible_line};
use pendula::vm::{EngineCounts, Machine, Outcome};

use crate::cli::interrupt;
use crate::cli::report::answer;
use crate::cli::report::columns::{length, push_left, shortened};
use crate::cli::session::part;
use crate::cli::status::{Reported, Status};

/// The counts of all items together.
#[derive(Default)]
pub(crate) struct Totals {
    pub(crate) counts: Counts,
    pub(crate) ran: EngineCounts,
}

impl Totals {
    pub(crate) fn add(&mut self, machine: &Machine<'_>) {
        self.counts.add(&machine.counts());
        let (sum, ran) = (&mut self.ran, machine.engine_counts());
        sum.whole += ran.whole;
        sum.whole_by_cranelift += ran.whole_by_cranelift;
        sum.compiled += ran.compiled;
        sum.interpreted += ran.interpreted;
    }
}

/// The number of instructions that an item may still run.
pub(crate) struct Steps {
    left: Option<u64>,
}

impl Steps {
    pub(crate) fn new(max_steps: Option<u64>) -> Steps {
        Steps { left: max_steps }
    }

    /// Runs until the end, a trap, the step limit or Ctrl-C; the last two have the same outcome.
    pub(crate) fn go(&mut self, machine: &mut Machine<'_>, room: &mut MemoryBudget) -> Outcome {
        let outcome = loop {
            let outcome = part(machine, &mut self.left);
            if outcome != Outcome::Limit || self.left == Some(0) || interrupt::is_requested() {
                break outcome;
            }
        };
        room.saw(&outcome);
        outcome
    }
}

/// A progress bar of items, for long batches on a terminal.
pub(crate) struct Progress {
    started: Instant,
    count: usize,
    done: AtomicUsize,
    bar: Option<OnceLock<indicatif::ProgressBar>>,
}

impl Progress {
    pub(crate) fn new(count: usize) -> Progress {
        let bar = std::io::stderr().is_terminal().then(OnceLock::new);
        Progress { started: Instant::now(), count, done: AtomicUsize::new(0), bar }
    }

    /// Counts an item as done.
    pub(crate) fn one(&self) {
        let Some(bar) = &self.bar else { return };
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if self.started.elapsed() < Duration::from_secs(1) {
            return;
        }
        let bar = bar.get_or_init(|| {
            let bar = indicatif::ProgressBar::new(self.count as u64);
            let style = indicatif::ProgressStyle::with_template("{wide_bar} {pos} of {len} items, {eta} left");
            style
                .map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style))
                .with_elapsed(self.started.elapsed())
        });
        bar.set_position(done as u64);
    }

    /// Removes the bar, and returns the time since its start.
    pub(crate) fn finish(self) -> Duration {
        if let Some(bar) = self.bar.and_then(OnceLock::into_inner) {
            bar.finish_and_clear();
        }
        self.started.elapsed()
    }
}

/// The maximum width of a column; longer texts exceed it.
const COLUMN: usize = 100;

/// The maximum length of a text in a table on a terminal.
const SHOWN: usize = 60;

/// A table that is printed part by part: a line of names, and a line for each item. If a part's columns differ from
/// those of the previous part, the line of names is repeated.
pub(crate) struct Table {
    names: Vec<String>,
    widths: Vec<usize>,
    /// The width of the items' numbers.
    first: usize,
    terminal: bool,
}

impl Table {
    /// A table for this many items.
    pub(crate) fn new(count: usize) -> Table {
        let first = length("item").max(length(&count.saturating_sub(1).to_string()));
        Table { names: Vec::new(), widths: Vec::new(), first, terminal: std::io::stdout().is_terminal() }
    }

    /// The text of a cell, as it is printed.
    fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let text = visible_line(text);
        if self.terminal { shortened(text.into_owned(), SHOWN).into() } else { text }
    }

    /// The lines of some items, beginning with number `begin`; `Err` is the text that replaces all cells of a line.
    /// Without `names`, those of the previous part apply.
    pub(crate) fn part(
        &mut self,
        begin: usize,
        names: Option<Vec<String>>,
        rows: Vec<Result<Texts, String>>,
    ) -> String {
        let heads = names.filter(|names| *names != self.names);
        if let Some(names) = &heads {
            self.names.clone_from(names);
            self.widths = names.iter().map(|name| length(&visible_line(name)).min(COLUMN)).collect();
        }
        // Numbers are printed as they are, and a byte is a character.
        let plain =
            |row: &Result<Texts, String>| row.as_ref().is_ok_and(|cells| !self.terminal && is_plain(cells.joined()));
        let plain: Vec<bool> = rows.iter().map(plain).collect();
        let mut widths = std::mem::take(&mut self.widths);
        for (row, plain) in rows.iter().zip(&plain) {
            for (width, cell) in widths.iter_mut().zip(row.iter().flat_map(Texts::iter)) {
                let own = if *plain { cell.len() } else { length(&self.shown(cell)) };
                *width = (*width).max(own.min(COLUMN));
            }
        }
        self.widths = widths;
        let mut out = String::with_capacity(rows.len() * (self.widths.iter().sum::<usize>() + 16));
        if heads.is_some() || begin == 0 {
            self.line(&mut out, "item", self.names.iter().map(|name| self.shown(name)));
        }
        let mut number = String::new();
        for (n, row) in rows.iter().enumerate() {
            number.clear();
            let _ = write!(number, "{}", begin + n);
            match row {
                Ok(cells) if plain[n] => self.line(&mut out, &number, cells.iter().map(Cow::Borrowed)),
                Ok(cells) => self.line(&mut out, &number, cells.iter().map(|cell| self.shown(cell))),
                Err(why) => self.line(&mut out, &number, std::iter::once(self.shown(why))),
            }
        }
        out
    }

    fn line<'c>(&self, out: &mut String, item: &str, cells: impl Iterator<Item = Cow<'c, str>>) {
        push_left(out, item, self.first);
        for (n, cell) in cells.enumerate() {
            out.push_str("  ");
            push_left(out, &cell, self.widths.get(n).copied().unwrap_or_default());
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
}

/// A JSON object that is printed while its items arrive, a line for each.
#[derive(Default)]
pub(crate) struct JsonItems {
    begun: bool,
    /// True if an item has been printed.
    any: bool,
}

/// The error with which a batch ends. If its JSON object had begun, the object is completed with the error.
pub(crate) fn ended(json: &mut JsonItems, error: anyhow::Error) -> anyhow::Error {
    if !json.begun {
        return error;
    }
    let printed = std::mem::take(json).end(&[], false, &answer::failed(&error));
    printed.map_or_else(anyhow::Error::from, |()| Reported(Status::Usage).into())
}

impl JsonItems {
    /// Prints some items; before the first one, the beginning of the object.
    pub(crate) fn part(
        &mut self,
        first: &[(&str, serde_json::Value)],
        items: impl Iterator<Item = String>,
    ) -> std::io::Result<()> {
        let mut out = String::new();
        if !self.begun {
            out.push_str("{\n");
            for (key, value) in first {
                let _ = writeln!(out, "  \"{key}\": {value},");
            }
            out.push_str("  \"items\": [\n");
            self.begun = true;
            answer::begun();
        }
        for item in items {
            if self.any {
                out.push_str(",\n");
            }
            self.any = true;
            out.push_str("    ");
            out.push_str(&item);
            if out.len() > 1 << 20 {
                print_exact(&std::mem::take(&mut out))?;
            }
        }
        print_exact(&out)
    }

    /// Completes the object with the entries that are known at the end.
    pub(crate) fn end(
        self,
        last: &[(&str, serde_json::Value)],
        ok: bool,
        outcome: &serde_json::Value,
    ) -> std::io::Result<()> {
        let mut out = format!("\n  ],\n  \"ok\": {ok},\n  \"outcome\": {outcome}");
        for (key, value) in last {
            let _ = write!(out, ",\n  \"{key}\": {value}");
        }
        print_exact(&(out + "\n}\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_grow_part_by_part_and_may_be_of_any_length() {
        let mut table = Table { terminal: false, ..Table::new(2000) };
        let names = || Some(vec!["a".to_string(), "∂/∂x\u{1b}".to_string()]);
        let row = |a: &str, b: &str| Ok(Texts::from_iter([a, b]));
        let long = "1, ".repeat(30_000);
        let first = table.part(0, names(), vec![row("1.5", "2"), Err("error: no".to_string()), row("3", &long)]);
        let lines: Vec<&str> = first.lines().collect();
        assert_eq!(lines[..3], ["item  a    ∂/∂x\\x1b", "0     1.5  2", "1     error: no"]);
        assert_eq!(lines[3], format!("2     3    {}", long.trim_end()));
        assert_eq!(table.part(3, names(), vec![row("3.25", "4")]), "3     3.25  4\n");
        let more = Some(vec!["r1".to_string()]);
        assert_eq!(table.part(4, more, vec![Ok(Texts::from_iter(["7"]))]), "item  r1\n4     7\n");
        assert_eq!(table.part(5, None, vec![Err("error".to_string())]), "5     error\n");
        table.terminal = true;
        let line = table.part(6, None, vec![Ok(Texts::from_iter([long]))]);
        assert!(line.ends_with("… (90000 characters)\n") && length(&line) < 70, "{line}");
    }
}
