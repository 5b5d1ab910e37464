//! `run` and `grad` over many inputs, `--batch`: what they share.

pub(crate) mod grad;
pub(crate) mod inputs;
pub(crate) mod run;
mod save;

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pendula::asm::diagnostic::Sources;
use pendula::batch::Room;
use pendula::isa::module::Module;
use pendula::vm::{Carriage, Flags, Machine, Outcome};

use crate::outcome::{Stopped, noticed};
use crate::report::{Reporter, print};

/// How many kinds of failure are told in full.
const FULL: usize = 8;

/// How many ranges of items a message lists.
const RANGES: usize = 8;

/// How many instructions an item may still run.
pub(crate) struct Steps {
    left: Option<u64>,
}

impl Steps {
    pub(crate) fn new(max_steps: Option<u64>) -> Steps {
        Steps { left: max_steps }
    }

    /// Runs until the end, a trap or the step limit.
    pub(crate) fn go(&mut self, machine: &mut Machine<'_>, room: &mut Room) -> Outcome {
        let before = machine.executed();
        let outcome = machine.run(self.left);
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(machine.executed() - before);
        }
        room.saw(&outcome);
        outcome
    }
}

/// A bar of items done, on a terminal and of a batch that takes long.
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

    /// An item is done.
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

    /// Takes the bar away, and tells how long it took.
    pub(crate) fn finish(self) -> Duration {
        if let Some(bar) = self.bar.and_then(OnceLock::into_inner) {
            bar.finish_and_clear();
        }
        self.started.elapsed()
    }
}

pub(crate) fn plural(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// Items by number: `item 3`, `items 0-4, 7`.
fn items_text(items: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &n in items {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == n => *last = n,
            _ => ranges.push((n, n)),
        }
    }
    let one = |(a, b): &(usize, usize)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    let mut text: Vec<String> = ranges.iter().take(RANGES).map(one).collect();
    if ranges.len() > RANGES {
        text.push(format!("… ({} in all)", items.len()));
    }
    format!("{} {}", if items.len() == 1 { "item" } else { "items" }, text.join(", "))
}

/// Things by what they have in common, in the order in which they come first.
fn grouped<K: PartialEq, V>(all: impl Iterator<Item = (K, usize, V)>) -> Vec<(K, Vec<usize>, V)> {
    let mut out: Vec<(K, Vec<usize>, V)> = Vec::new();
    for (key, item, value) in all {
        match out.iter_mut().find(|(k, ..)| *k == key) {
            Some((_, items, _)) => items.push(item),
            None => out.push((key, vec![item], value)),
        }
    }
    out
}

/// A line for each thing that is told of items: `input: 1 of 2 words read (items 0-4, 7)`.
fn notes_text(notes: Vec<(usize, String)>, count: usize) -> String {
    let mut out = String::new();
    for (text, items, ()) in grouped(notes.into_iter().map(|(item, text)| (text, item, ()))) {
        let items = if items.len() == count { format!("all {count} items") } else { items_text(&items) };
        let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
        let _ = writeln!(out, "{first} ({items})");
        let rest = rest.trim_end();
        if !rest.is_empty() {
            let _ = writeln!(out, "{rest}");
        }
    }
    out
}

/// Why an item failed.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// Its run did not come to its end.
    Stopped(Stopped),
    /// It gives nothing, for this reason.
    Refused(String),
}

impl Failure {
    /// What is known at a glance: the code, if there is one, and the title.
    pub(crate) fn title(&self) -> String {
        match self {
            Failure::Stopped(Stopped { trap: Some(trap), .. }) => {
                format!("error[{}]: {}", trap.fault.code(), trap.fault.title())
            }
            Failure::Stopped(Stopped { trap: None, .. }) => "error[P0130]: stopped at the step limit".to_string(),
            Failure::Refused(why) => format!("error: {why}"),
        }
    }

    /// What failures have in common that are told together.
    fn kind(&self) -> (Option<&'static str>, Option<u32>, &str) {
        match self {
            Failure::Stopped(Stopped { trap: Some(trap), .. }) => (Some(trap.fault.code()), Some(trap.at), ""),
            Failure::Stopped(Stopped { trap: None, .. }) => (None, None, ""),
            Failure::Refused(why) => (None, None, why),
        }
    }
}

/// What a program and its texts are told with.
pub(crate) struct Telling<'a> {
    pub(crate) module: &'a Module,
    pub(crate) sources: &'a Sources,
    pub(crate) reporter: &'a Reporter,
    pub(crate) max_steps: Option<u64>,
}

impl Telling<'_> {
    /// Tells why items failed: of each kind of failure the first in full.
    pub(crate) fn failures<'f>(&self, failures: impl Iterator<Item = (usize, &'f Failure)>) {
        let kinds = grouped(failures.map(|(item, failure)| (failure.kind(), item, failure)));
        for (_, items, failure) in kinds.iter().take(FULL) {
            let mut about = items_text(&items[..1]);
            if items.len() > 1 {
                let _ = write!(about, ", likewise {}", items_text(&items[1..]));
            }
            let about = self.reporter.about(&about);
            match failure {
                Failure::Stopped(stopped) => stopped.report(self.module, self.sources, &about, self.max_steps),
                Failure::Refused(why) => about.failure(&anyhow::anyhow!("{why}")),
            }
        }
        let more: usize = kinds.iter().skip(FULL).map(|(_, items, _)| items.len()).sum();
        if more > 0 {
            self.reporter.failure(&anyhow::anyhow!("{} failed at other places", plural(more, "more item")));
        }
    }

    /// Tells what runs noticed, of each place once.
    pub(crate) fn noticed(&self, flags: impl Iterator<Item = (usize, Noticed)> + Clone) {
        let overflows = flags.clone().filter_map(|(item, (overflow, _))| Some((overflow?, item, ())));
        for (overflow, items, ()) in grouped(overflows).into_iter().take(FULL) {
            let about = self.reporter.about(&items_text(&items));
            noticed(self.module, self.sources, &about, (Some(overflow), None));
        }
        let inexact = flags.filter_map(|(item, (_, inexact))| Some((inexact?, item, ())));
        for (inexact, items, ()) in grouped(inexact).into_iter().take(FULL) {
            let about = self.reporter.about(&items_text(&items));
            noticed(self.module, self.sources, &about, (None, Some(inexact)));
        }
    }
}

/// Where a fixed-point number overflowed first, with what words carried then, and where `zero.f` cleared one that was not zero.
pub(crate) type Noticed = (Option<(u32, Carriage)>, Option<u32>);

/// What a run of values alone noticed.
pub(crate) fn of_values(flags: Flags) -> Noticed {
    (flags.overflow.map(|at| (at, Carriage::Plain)), flags.inexact)
}

/// A table: a line of names, and one for each item; `Err` is what stands in the place of all cells.
pub(crate) fn table(names: &[String], rows: &[Result<Vec<String>, String>]) -> String {
    let length = |text: &str| text.chars().count();
    let mut widths: Vec<usize> = names.iter().map(|n| length(n)).collect();
    for row in rows.iter().flatten() {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(length(cell));
        }
    }
    let first = length("item").max(length(&rows.len().saturating_sub(1).to_string()));
    let mut out = String::new();
    let mut line = |item: &str, cells: &[String]| {
        let _ = write!(out, "{item:<first$}");
        for (cell, width) in cells.iter().zip(&widths) {
            let _ = write!(out, "  {cell:<width$}");
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    };
    line("item", names);
    for (n, row) in rows.iter().enumerate() {
        match row {
            Ok(cells) => line(&n.to_string(), cells),
            Err(why) => line(&n.to_string(), std::slice::from_ref(why)),
        }
    }
    out
}

/// Prints one JSON object, a line for each item: of very many items a tree of values would fill the memory.
pub(crate) fn print_items(object: &[(&str, serde_json::Value)], items: &[String]) -> std::io::Result<()> {
    let mut out = String::from("{\n");
    for (key, value) in object {
        let _ = writeln!(out, "  \"{key}\": {value},");
    }
    out.push_str("  \"items\": [\n");
    for (n, item) in items.iter().enumerate() {
        let comma = if n + 1 < items.len() { "," } else { "" };
        let _ = writeln!(out, "    {item}{comma}");
        if out.len() > 1 << 20 {
            print(&std::mem::take(&mut out))?;
        }
    }
    out.push_str("  ]\n}\n");
    print(&out)
}
