//! What the batches of `run` and `grad` collect, and the end of a batch: all items have been run, or Ctrl-C came before that.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pendula::asm::diagnostic::{Diagnostic, Sources, plural};
use pendula::batch::MemoryBudget;
use pendula::hw_model::Technology;
use pendula::isa::module::Module;
use pendula::vm::Engine;
use serde_json::{Value, json};

use super::report::{BatchReport, Notes};
use super::save::{Files, Writers};
use super::{JsonItems, Progress, Table, Totals};
use crate::interrupt;
use crate::report::{Reporter, print};
use crate::stats::{counts_json, counts_text};
use crate::{Status, answer};

/// What has come of the items of a batch so far.
pub(crate) struct Collected {
    pub(crate) table: Table,
    pub(crate) json: JsonItems,
    pub(crate) notes: Notes,
    pub(crate) report: BatchReport,
    pub(crate) writers: Writers,
    /// The number of items that have been run to where they end.
    pub(crate) done: usize,
    /// The number of items of the batch.
    pub(crate) count: usize,
}

impl Collected {
    /// Nothing yet, of a batch of so many items.
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

/// Runs an item and counts it, unless Ctrl-C came before.
pub(crate) fn run_unless_interrupted<T>(
    progress: &Progress,
    room: &mut MemoryBudget,
    run: impl FnOnce(&mut MemoryBudget) -> T,
) -> Option<T> {
    if interrupt::is_requested() {
        return None;
    }
    let out = run(room);
    if !room.is_short() {
        progress.one();
    }
    Some(out)
}

/// Hands on the items that have been run, which begin with number `start`, each piece with the number of its first.
///
/// # Errors
/// Those of `part`; [`Interrupted`] if Ctrl-C came.
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

/// The end of a batch: what is reported when its items have been run, and how.
pub(crate) struct Close<'a> {
    pub(crate) collected: Collected,
    /// The files that results go to.
    pub(crate) files: &'a Files,
    /// What a JSON object begins with, if one is asked for.
    pub(crate) first: Option<&'a [(&'a str, Value)]>,
    pub(crate) totals: &'a Mutex<Totals>,
    /// The technology that gives latencies, if `--stats` asks for what was counted.
    pub(crate) stats: Option<Technology>,
    /// True if the rests of rounding are asked for.
    pub(crate) drift: bool,
    /// True if Ctrl-C came before all items were run.
    pub(crate) cut: bool,
    pub(crate) elapsed: Duration,
    pub(crate) engine: Engine,
}

impl Close<'_> {
    /// Completes the files, unless Ctrl-C came, and reports.
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
            // Nothing has been printed if there are no items.
            json.part(first, std::iter::empty())?;
            let stats = self.stats.as_ref();
            let stats = stats.map(|t| ("stats", counts_json(counts, &module.code, t, self.elapsed, ran)));
            let outcome = if self.cut { cut_json((done, count)) } else { answer::finished() };
            json.end(stats.as_slice(), !(self.cut || report.failed), &outcome)?;
        } else {
            print(&notes.take(count))?;
            if let Some(technology) = &self.stats {
                print(&counts_text(counts, &module.code, technology, self.elapsed, ran))?;
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

/// Why a batch ends before all items have been run: Ctrl-C.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub(crate) struct Interrupted;

/// The items that have been run, by the number of the first: those that Ctrl-C came before are `None`, and lie anywhere.
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

/// The same as JSON: the outcome of the batch.
fn cut_json((done, count): (usize, usize)) -> Value {
    json!({ "kind": "interrupted", "code": interrupt::CODE, "done": done, "of": count })
}
