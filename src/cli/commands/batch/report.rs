//! Failures and notes of many items. Each message appears once, with the items that it concerns. The memory for them
//! does not grow with the number of items.

use std::fmt::Write as _;

use pendula::asm::diagnostic::{Sources, plural};
use pendula::isa::module::Module;
use pendula::report::Reporter;
use pendula::stop_report::StopReport as AssertKind;
use pendula::visible::visible;
use pendula::vm::{AdMode, Flags, RoundingResidues};

use crate::cli::interrupt;
use crate::cli::report::outcome::{Stopped, noticed, overflow_of, rests_text, wrong};

/// The maximum number of kinds of failures that are reported in full.
const FULL: usize = 8;

/// The maximum number of ranges of items in a message.
const RANGES: usize = 8;

/// The maximum number of different notes that are held before they are printed.
const NOTES: usize = 1000;

/// Items by number, in ascending order: their count, and the first ranges of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    count: usize,
    ranges: Vec<(usize, usize)>,
    more: bool,
}

impl Numbers {
    pub(crate) fn add(&mut self, item: usize) {
        self.count += 1;
        let room = self.ranges.len() < RANGES;
        match self.ranges.last_mut() {
            _ if self.more => {}
            Some((_, last)) if *last + 1 == item => *last = item,
            _ if room => self.ranges.push((item, item)),
            _ => self.more = true,
        }
    }

    fn one(item: usize) -> Numbers {
        Numbers { count: 1, ranges: vec![(item, item)], more: false }
    }

    /// `item 3`, `items 0-4, 7`.
    pub(crate) fn text(&self) -> String {
        let one = |(a, b): &(usize, usize)| if a == b { a.to_string() } else { format!("{a}-{b}") };
        let mut text: Vec<String> = self.ranges.iter().map(one).collect();
        if self.more {
            text.push(format!("… ({} in all)", self.count));
        }
        format!("{} {}", if self.count == 1 { "item" } else { "items" }, text.join(", "))
    }
}

/// A line for each note on items: `input: 1 of 2 words read (items 0-4, 7)`.
#[derive(Default)]
pub(crate) struct Notes(Vec<(String, Numbers)>);

impl Notes {
    pub(crate) fn add(&mut self, item: usize, note: String) {
        match self.0.iter_mut().rev().find(|(text, _)| *text == note) {
            Some((_, items)) => items.add(item),
            None => self.0.push((note, Numbers::one(item))),
        }
    }

    /// True if there are so many notes that they should be printed now.
    pub(crate) fn are_many(&self) -> bool {
        self.0.len() > NOTES
    }

    /// The notes so far, of a batch of `count` items.
    pub(crate) fn take(&mut self, count: usize) -> String {
        let mut out = String::new();
        for (text, items) in std::mem::take(&mut self.0) {
            let items = if items.count == count && count > 1 { format!("all {count} items") } else { items.text() };
            let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
            let _ = writeln!(out, "{first} ({items})");
            let rest = rest.trim_end();
            if !rest.is_empty() {
                let _ = writeln!(out, "{rest}");
            }
        }
        out
    }
}

/// Why an item failed.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// Its run stopped early: the stop, and the reason in terms of the source, if known.
    Stopped(Stopped, Option<Box<AssertKind>>),
    /// It has no results, for this reason.
    Refused(String),
    /// Its results are wrong because gradient words overflowed here.
    Wrong((u32, AdMode)),
}

/// The common part of failures that are reported together.
type Kind = (Option<&'static str>, Option<u32>, String);

impl Failure {
    /// A short description: the code, if there is one, and the title.
    pub(crate) fn title(&self) -> String {
        match self {
            Failure::Stopped(Stopped { heading: Some((code, title)), reason, .. }, _) => {
                format!("error[{code}]: {}", reason.as_deref().unwrap_or(title))
            }
            Failure::Stopped(Stopped { interrupted: true, .. }, _) => {
                format!("error[{}]: interrupted", interrupt::CODE)
            }
            Failure::Stopped(Stopped { heading: None, .. }, _) => "error[P0130]: stopped at the step limit".to_string(),
            Failure::Refused(why) => format!("error: {why}"),
            Failure::Wrong((_, ad_mode)) => format!("error[P0131]: overflow of a {}", overflow_of(*ad_mode)),
        }
    }

    /// True if Ctrl-C interrupted it.
    pub(crate) fn is_interrupted(&self) -> bool {
        matches!(self, Failure::Stopped(Stopped { interrupted: true, .. }, _))
    }

    fn kind(&self) -> Kind {
        match self {
            Failure::Stopped(Stopped { trap, heading, .. }, _) => {
                (heading.map(|(code, _)| code), trap.as_ref().map(|t| t.at), String::new())
            }
            Failure::Refused(why) => (None, None, why.clone()),
            Failure::Wrong((at, ad_mode)) => (Some("P0131"), Some(*at), overflow_of(*ad_mode).to_string()),
        }
    }
}

/// Where a fixed-point number first overflowed, with what words carried then; and where `zero.f` first cleared a
/// rounding residue, with the totals.
pub(crate) type Noticed = (Option<(u32, AdMode)>, Option<(u32, RoundingResidues)>);

/// The observations of a run that computed only values.
pub(crate) fn of_values(flags: Flags) -> Noticed {
    (flags.overflow.map(|at| (at, AdMode::Plain)), rests_of(flags))
}

/// The rounding residues that a run cleared.
pub(crate) fn rests_of(flags: Flags) -> Option<(u32, RoundingResidues)> {
    flags.inexact.map(|at| (at, flags.rests))
}

/// The report at the end of a batch.
#[derive(Default)]
pub(crate) struct BatchReport {
    /// For each kind of failure, the first one with its item, and the other items that failed likewise.
    failures: Vec<(Kind, Failure, usize, Numbers)>,
    /// The number of items that failed in other ways.
    others: usize,
    /// True if any item failed.
    pub(crate) failed: bool,
    overflows: Vec<((u32, AdMode), Numbers)>,
    rests: Option<(u32, RoundingResidues)>,
    rounded: Numbers,
}

impl BatchReport {
    /// Records that an item failed. `why` explains a stop further; it is called only if the explanation will be shown.
    pub(crate) fn failure(&mut self, item: usize, failure: &mut Failure, why: impl FnOnce() -> Option<AssertKind>) {
        self.failed = true;
        let (kind, room) = (failure.kind(), self.failures.len() < FULL);
        match self.failures.iter_mut().find(|(k, ..)| *k == kind) {
            Some((.., likewise)) => likewise.add(item),
            None if room => {
                if let Failure::Stopped(_, known) = failure {
                    *known = why().map(Box::new);
                }
                self.failures.push((kind, failure.clone(), item, Numbers::default()));
            }
            None => self.others += 1,
        }
    }

    pub(crate) fn noticed(&mut self, item: usize, (overflow, rests): Noticed) {
        if let Some(overflow) = overflow {
            let room = self.overflows.len() < FULL;
            match self.overflows.iter_mut().find(|(o, _)| *o == overflow) {
                Some((_, items)) => items.add(item),
                None if room => self.overflows.push((overflow, Numbers::one(item))),
                None => {}
            }
        }
        if let Some((at, rests)) = rests {
            self.rounded.add(item);
            self.rests = Some(self.rests.map_or((at, rests), |(first, sum)| (first, sum.and(rests))));
        }
    }

    /// Reports everything. The line on rounding residues is returned if `asked` is set, and logged otherwise.
    pub(crate) fn tell(
        &self,
        module: &Module,
        sources: &Sources,
        reporter: &Reporter,
        max_steps: Option<u64>,
        asked: bool,
    ) -> String {
        for (_, failure, first, likewise) in &self.failures {
            let mut about = Numbers::one(*first).text();
            if likewise.count > 0 {
                let _ = write!(about, ", likewise {}", likewise.text());
            }
            let about = reporter.about(&about);
            match failure {
                Failure::Stopped(stopped, why) => stopped.report(module, sources, &about, (max_steps, why.as_deref())),
                Failure::Refused(why) => about.failure(&anyhow::anyhow!("{why}")),
                Failure::Wrong(at) => about.diagnostic(&wrong(module, sources, *at), sources),
            }
        }
        if self.others > 0 {
            reporter.failure(&anyhow::anyhow!("{} failed at other places", plural(self.others, "more item")));
        }
        for (overflow, items) in &self.overflows {
            noticed(module, sources, &reporter.about(&items.text()), Some(*overflow));
        }
        let Some(text) = rests_text(module, self.rests, &format!(" in {}", self.rounded.text())) else {
            return String::new();
        };
        if asked {
            return text + "\n";
        }
        tracing::info!(target: "pendula::cmd::batch::report", "{}", visible(&text));
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_ranges() {
        let text = |items: &[usize]| {
            let mut all = Numbers::default();
            items.iter().for_each(|n| all.add(*n));
            all.text()
        };
        assert_eq!(text(&[3]), "item 3");
        assert_eq!(text(&[0, 1, 2, 7]), "items 0-2, 7");
        let odd: Vec<usize> = (0..20).map(|n| 2 * n).chain([39, 40]).collect();
        assert_eq!(text(&odd), "items 0, 2, 4, 6, 8, 10, 12, 14, … (22 in all)");
    }
}
