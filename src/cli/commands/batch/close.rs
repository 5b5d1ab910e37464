//! The data that the batches of `run` and `grad` collect, and the end of a batch, after all items or after Ctrl-C.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pendula::asm::diagnostic::{Diagnostic, Sources, plural};
use pendula::batch::MemoryBudget;
use pendula::hw_model::Technology;
use pendula::isa::module::Module;
use pendula::report::{Reporter, print};
use pendula::vm::Engine;
use serde_json::{Value, json};

use super::report::{BatchReport, Notes};
use super::save::{Files, Writers};
use super::{JsonItems, Progress, Table, Totals};
use crate::cli::interrupt;
use crate::cli::report::answer;
use crate::cli::report::stats::{counts_json, counts_text};
use crate::cli::status::Status;

/// The results of a batch's items so far.
pub(crate) struct Collected {
    pub(crate) table: Table,
    pub(crate) json: JsonItems,
    pub(crate) notes: Notes,
    pub(crate) report: BatchReport,
    pub(crate) writers: Writers,
    /// The number of items that have run to where they end.
    pub(crate) done: usize,
    /// The number of items of the batch.
    pub(crate) count: usize,
}

impl Collected {
    /// The initial value for a batch of `count` items.
    pub(crate) fn new(count: usize, writers: Writers) -> Collected {
        Collected {
            table: Table::new(count),
            json: JsonItems::default(),
            notes: Notes::default(),
            report: BatchReport::default(),
            writers,
            done: 0,
            count,
        }
    }
}

/// Runs an item and counts it, unless Ctrl-C was pressed before.
pub(crate) fn run_unless_interrupted<T>(
    progress: &Progress,
    room: &mut MemoryBudget,
    run: impl FnOnce(&mut MemoryBudget) -> T,
) -> Option<T> {
    if interrupt::is_requested() {
        return None;
    }
    let out = run(room);
    if !room.is_discarded() {
        progress.one();
    }
    Some(out)
}

/// Calls `part` for each contiguous group of completed items, with the number of the group's first item. The items
/// begin with number `start`.
///
/// # Errors
/// Those of `part`; [`Interrupted`] if Ctrl-C was pressed.
pub(crate) fn collect<T, E: From<Interrupted>>(
    start: usize,
    items: Vec<Option<T>>,
    mut part: impl FnMut(usize, Vec<T>) -> Result<(), E>,
) -> Result<(), E> {
    for (begin, items) in ran(start, items) {
        part(begin, items)?;
    }
    if interrupt::is_requested() { Err(Interrupted.into()) } else { Ok(()) }
}

/// The end of a batch: what is reported after its items, and how.
pub(crate) struct Close<'a> {
    pub(crate) collected: Collected,
    /// The files for results.
    pub(crate) files: &'a Files,
    /// The beginning of the JSON object, if JSON is requested.
    pub(crate) first: Option<&'a [(&'a str, Value)]>,
    pub(crate) totals: &'a Mutex<Totals>,
    /// The technology that gives latencies, if `--stats` requests the counts.
    pub(crate) stats: Option<Technology>,
    /// True if the rounding residues are requested.
    pub(crate) drift: bool,
    /// True if Ctrl-C was pressed before all items had run.
    pub(crate) cut: bool,
    pub(crate) elapsed: Duration,
    pub(crate) engine: Engine,
}

impl Close<'_> {
    /// Completes the files, unless Ctrl-C was pressed, and reports.
    pub(crate) fn finish(
        self,
        (module, sources): (&Module, &Sources),
        max_steps: Option<u64>,
        reporter: &Reporter,
    ) -> anyhow::Result<Status> {
        let Collected { mut json, mut notes, report, writers, done, count, .. } = self.collected;
        if !self.cut {
            writers.finish(self.files)?;
        }
        let Totals { counts, ran } = &*self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        let ran = (self.engine, *ran);
        if let Some(first) = self.first {
            // If there are no items, nothing has been printed yet.
            json.part(first, std::iter::empty())?;
            let stats = self.stats.as_ref();
            let stats = stats.map(|t| ("stats", counts_json(counts, module, t, self.elapsed, ran)));
            let outcome = if self.cut { cut_json((done, count)) } else { answer::finished() };
            json.end(stats.as_slice(), !(self.cut || report.failed), &outcome)?;
        } else {
            print(&notes.take(count))?;
            if let Some(technology) = &self.stats {
                print(&counts_text(counts, module, technology, self.elapsed, ran))?;
            }
            print(&report.tell(module, sources, reporter, max_steps, self.drift))?;
            if self.cut {
                report_cut((done, count), !self.files.is_empty(), reporter);
            }
        }
        Ok(match report.failed {
            _ if self.cut => Status::Interrupted,
            true => Status::Fault,
            false => Status::Done,
        })
    }
}

/// The batch ends early because of Ctrl-C.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub(crate) struct Interrupted;

/// Groups completed items by the number of each group's first. Items that Ctrl-C prevented are `None` and may be
/// anywhere.
fn ran<T>(start: usize, items: Vec<Option<T>>) -> Vec<(usize, Vec<T>)> {
    let mut out: Vec<(usize, Vec<T>)> = Vec::new();
    let mut goes_on = false;
    for (n, item) in (start..).zip(items) {
        match (item, out.last_mut().filter(|_| goes_on)) {
            (Some(item), Some((_, items))) => items.push(item),
            (Some(item), None) => {
                out.push((n, vec![item]));
                goes_on = true;
            }
            (None, _) => goes_on = false,
        }
    }
    out
}

/// Reports that a batch was interrupted, as text.
fn report_cut((done, count): (usize, usize), saves: bool, reporter: &Reporter) {
    let message = format!("interrupted when {done} of {} were done", plural(count, "item"));
    let d = Diagnostic::error(interrupt::CODE, message);
    let d = if saves { d.help("no file was written: files hold the results of all items") } else { d };
    reporter.diagnostic(&d, &Sources::default());
}

/// The same as JSON: the batch's outcome.
fn cut_json((done, count): (usize, usize)) -> Value {
    json!({ "kind": "interrupted", "code": interrupt::CODE, "done": done, "of": count })
}
