//! The end of a batch: all items have been run, or Ctrl-C came before that.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pendula::asm::diagnostic::{Diagnostic, Sources, plural};
use pendula::hw_model::Technology;
use pendula::isa::module::Module;
use pendula::vm::Engine;
use serde_json::{Value, json};

use super::tell::{BatchReport, Notes};
use super::{JsonItems, Totals};
use crate::interrupt;
use crate::report::{Reporter, print};
use crate::stats::{counts_json, counts_text};
use crate::{Status, answer};

/// What is told when items have been run, and how.
pub(crate) struct Close<'a> {
    /// What a JSON object begins with, if one is asked for.
    pub(crate) first: Option<&'a [(&'a str, Value)]>,
    pub(crate) items: JsonItems,
    pub(crate) notes: Notes,
    pub(crate) told: BatchReport,
    pub(crate) totals: &'a Mutex<Totals>,
    /// The technology that gives latencies, if what was counted is told.
    pub(crate) stats: Option<Technology>,
    /// Whether the rests of rounding are asked for.
    pub(crate) drift: bool,
    /// How many items were run to where they end, and how many there are.
    pub(crate) done: (usize, usize),
    /// Whether Ctrl-C came before all were.
    pub(crate) cut: bool,
    /// Whether files were to be written.
    pub(crate) saves: bool,
    pub(crate) elapsed: Duration,
    pub(crate) engine: Engine,
}

impl Close<'_> {
    /// Tells it.
    pub(crate) fn tell(
        mut self,
        (module, sources): (&Module, &Sources),
        max_steps: Option<u64>,
        reporter: &Reporter,
    ) -> anyhow::Result<Status> {
        let Totals { counts, ran } = &*self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        let ran = (self.engine, *ran);
        if let Some(first) = self.first {
            // Nothing has been printed if there are no items.
            self.items.part(first, std::iter::empty())?;
            let stats = self.stats.as_ref();
            let stats = stats.map(|t| ("stats", counts_json(counts, &module.code, t, self.elapsed, ran)));
            let outcome = if self.cut { cut_json(self.done) } else { answer::finished() };
            self.items.end(stats.as_slice(), !(self.cut || self.told.failed), &outcome)?;
        } else {
            print(&self.notes.take(self.done.1))?;
            if let Some(technology) = &self.stats {
                print(&counts_text(counts, &module.code, technology, self.elapsed, ran))?;
            }
            print(&self.told.tell(module, sources, reporter, max_steps, self.drift))?;
            if self.cut {
                tell_cut(self.done, self.saves, reporter);
            }
        }
        Ok(match self.told.failed {
            _ if self.cut => Status::Interrupted,
            true => Status::Fault,
            false => Status::Done,
        })
    }
}

/// Why a batch ends before all items have been run: Ctrl-C.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub(crate) struct Cut;

/// The items that have been run, by the number of the first: those that Ctrl-C came before are `None`, and lie anywhere.
pub(crate) fn ran<T>(start: usize, items: Vec<Option<T>>) -> Vec<(usize, Vec<T>)> {
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

/// Tells that a batch was interrupted, as text.
fn tell_cut((done, count): (usize, usize), saves: bool, reporter: &Reporter) {
    let message = format!("interrupted when {done} of {} were done", plural(count, "item"));
    let d = Diagnostic::error(interrupt::CODE, message);
    let d = if saves { d.help("no file was written: files hold the results of all items") } else { d };
    reporter.diagnostic(&d, &Sources::default());
}

/// The same as JSON: the outcome of the batch.
fn cut_json((done, count): (usize, usize)) -> Value {
    json!({ "kind": "interrupted", "code": interrupt::CODE, "done": done, "of": count })
}
