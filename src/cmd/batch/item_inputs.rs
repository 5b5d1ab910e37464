//! The inputs of the items of a batch: files that are read part by part, and the words that are made of them.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use anyhow::ensure;
use pendula::asm::diagnostic::plural;
use pendula::compiler::nil::sema::argument_data;
use pendula::compiler::nil::types::Type;
use pendula::isa::Format;
use pendula::isa::types::Reg;
use pendula::items::{Items, Part};
use pendula::values::{self, Location, Place};
use pendula::vm::Machine;

/// What runs begin with: files, and what their items are the words of.
pub(crate) struct Inputs {
    /// How many items there are.
    pub(crate) count: usize,
    /// The files that were read, the program among them.
    pub(crate) files: Vec<String>,
    pub(super) feeds: Vec<Feed>,
    pub(super) format: Format,
}

/// How an input comes from its file.
pub(super) struct Feed {
    pub(super) name: String,
    pub(super) places: Arc<[Place]>,
    pub(super) from: From,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// A parameter of a program in Nil, of this type; with `scalar`, an item of one element is a number.
    Parameter { ty: Type, scalar: bool },
    /// The words of a place.
    Words,
}

/// The words that some items begin with.
pub(crate) struct ItemInputs {
    /// The number of the first item.
    first: usize,
    count: usize,
    /// The words of each input, of all items one after the other.
    feeds: Vec<(Arc<[Place]>, Vec<u64>)>,
}

impl ItemInputs {
    /// Sets the inputs of an item.
    pub(crate) fn set(&self, machine: &mut Machine<'_>, item: usize) {
        for (places, words) in &self.feeds {
            let mut words = &words[(item - self.first) * (words.len() / self.count)..];
            for place in &**places {
                let (own, rest) = words.split_at(place.count() as usize);
                values::put(machine, place, own);
                words = rest;
            }
        }
    }

    /// What a register of an item is set to.
    pub(crate) fn register(&self, item: usize, reg: Reg) -> Option<u64> {
        let at = |place: &Place| place.at == Location::Register(reg);
        let feed = self.feeds.iter().rev().find(|(places, _)| places.iter().any(at));
        feed.and_then(|(_, words)| words.get(item - self.first).copied())
    }
}

/// How many words the inputs and results of a part have, about.
const PART: usize = 1 << 20;

/// How many items a part has at most.
const MOST: usize = 1 << 14;

/// How many items a part has at least, so that all cores have something to do.
const LEAST: usize = 64;

impl Inputs {
    /// How many items are taken at a time, if each has so many words of results.
    pub(crate) fn part_size(&self, results: usize) -> NonZeroUsize {
        let words = |feed: &Feed| feed.places.iter().map(|p| p.count() as usize).sum::<usize>();
        let each = self.feeds.iter().map(words).fold(results, usize::saturating_add).max(1);
        NonZeroUsize::new((PART / each).clamp(LEAST, MOST)).unwrap_or(NonZeroUsize::MIN)
    }

    /// The words of some items.
    pub(crate) fn part(&self, items: Range<usize>) -> anyhow::Result<ItemInputs> {
        // Several inputs may be columns of one file, which is read once.
        let mut parts: Vec<(&Rc<Items>, Part)> = Vec::new();
        let mut feeds = Vec::new();
        for feed in &self.feeds {
            let file = &feed.from.items;
            let at = match parts.iter().position(|(other, _)| Rc::ptr_eq(other, file)) {
                Some(at) => at,
                None => {
                    parts.push((file, file.part(items.clone())?));
                    parts.len() - 1
                }
            };
            feeds.push((Arc::clone(&feed.places), feed.words(&parts[at].1, items.clone(), self.format)?));
        }
        Ok(ItemInputs { first: items.start, count: items.len(), feeds })
    }
}

impl Feed {
    fn words(&self, part: &Part, items: Range<usize>, format: Format) -> anyhow::Result<Vec<u64>> {
        let (name, from) = (&self.name, &self.from);
        let expected: usize = self.places.iter().map(|p| p.count() as usize).sum();
        let mut words = Vec::with_capacity(items.len() * expected);
        for item in items {
            match (&self.kind, &*self.places) {
                (Kind::Parameter { ty, scalar }, _) => {
                    let argument = part.argument(item, from.column, *scalar);
                    let data = argument_data(name, ty, Some(&argument), format);
                    let data = data.map_err(|why| from.error(name, format!("{}: {why}", part.place(item))))?;
                    let before = words.len();
                    data.iter().for_each(|d| words.extend_from_slice(d.words()));
                    let count = words.len() - before;
                    ensure!(count == expected, "{}: `{name}` has {}", part.place(item), plural(expected, "word"));
                }
                (Kind::Words, places) => {
                    let numbers = part.numbers(item, from.column);
                    for place in places {
                        if numbers.len() as u64 != place.count() && !place.is_stack() {
                            return Err(from.misfit(name, place));
                        }
                        let own = values::words_of(place, &numbers, format);
                        words.extend(own.map_err(|why| from.error(name, format!("{}: {why}", part.place(item))))?);
                    }
                }
            }
        }
        Ok(words)
    }
}

/// Where an input comes from: a file, or one column of it.
#[derive(Clone)]
pub(super) struct From {
    pub(super) items: Rc<Items>,
    pub(super) column: Option<usize>,
    /// Whether it was said what this is.
    pub(super) named: bool,
}

impl From {
    /// Whether it is a column of doubles that are whole.
    pub(super) fn is_whole(&self) -> anyhow::Result<bool> {
        Ok(self.column.map(|column| self.items.is_whole(column)).transpose()?.unwrap_or(false))
    }

    /// What is wrong with the words of `name`.
    fn error(&self, name: &str, what: String) -> anyhow::Error {
        if self.named {
            return anyhow::anyhow!(what);
        }
        let (path, what_it_is) = (self.items.path(), if self.column.is_some() { "a column of it" } else { "it" });
        anyhow::anyhow!("{what}; without a name, {what_it_is} is taken for `{name}`: say what it is, `NAME={path}`")
    }
}

impl From {
    /// What is wrong with a place that has another number of words than an item has.
    fn misfit(&self, name: &str, place: &Place) -> anyhow::Error {
        let has = match place.at {
            Location::Memory { array: true, .. } => plural(place.count() as usize, "word"),
            Location::Memory { .. } | Location::Register(_) | Location::Cell(_) => "one word".to_string(),
        };
        self.error(name, format!("{}: an item is {}, `{name}` has {has}", self.items.path(), self.items.shape_text()))
    }
}
