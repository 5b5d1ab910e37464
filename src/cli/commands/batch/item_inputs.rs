//! The inputs of a batch's items: files that are read part by part, and the words made from them.

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

/// The inputs of all items: files, and the words that their items give.
pub(crate) struct Inputs {
    /// The number of items.
    pub(crate) count: usize,
    /// The files that were read, including the program.
    pub(crate) files: Vec<String>,
    pub(super) feeds: Vec<Feed>,
    pub(super) format: Format,
}

/// How an input is made from its file.
pub(super) struct Feed {
    pub(super) name: String,
    pub(super) places: Arc<[Place]>,
    pub(super) from: From,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// A parameter of a Nil program, of this type; with `scalar`, an item of one element is a number.
    Parameter { ty: Type, scalar: bool },
    /// The words of a place.
    Words,
}

/// The input words of some items.
pub(crate) struct ItemInputs {
    /// The number of the first item.
    first: usize,
    count: usize,
    /// For each input, its places and the words of all items in order.
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

    /// The input value of a register for an item.
    pub(crate) fn register(&self, item: usize, reg: Reg) -> Option<u64> {
        let at = |place: &Place| place.at == Location::Register(reg);
        let feed = self.feeds.iter().rev().find(|(places, _)| places.iter().any(at));
        feed.and_then(|(_, words)| words.get(item - self.first).copied())
    }
}

/// The approximate number of words in the inputs and results of a part.
const PART: usize = 1 << 20;

/// The maximum number of items of a part.
const MOST: usize = 1 << 14;

/// The minimum number of items of a part, so that all cores are busy.
const LEAST: usize = 64;

impl Inputs {
    /// The number of items that run at a time, if each has this many words of results.
    pub(crate) fn part_size(&self, results: usize) -> NonZeroUsize {
        let words = |feed: &Feed| feed.places.iter().map(|p| p.count() as usize).sum::<usize>();
        let each = self.feeds.iter().map(words).fold(results, usize::saturating_add).max(1);
        NonZeroUsize::new((PART / each).clamp(LEAST, MOST)).unwrap_or(NonZeroUsize::MIN)
    }

    /// Reads the input words of some items.
    pub(crate) fn part(&self, items: Range<usize>) -> anyhow::Result<ItemInputs> {
        // Several inputs may be columns of one file, which is then read only once.
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
            if let Kind::Parameter { ty: Type::Num(ty), scalar } = &self.kind
                && let Some(word) = part.word(item, from.column, *scalar, (*ty, format))
            {
                words.push(word);
                continue;
            }
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

/// The source of an input: a file, or one column of it.
#[derive(Clone)]
pub(super) struct From {
    pub(super) items: Rc<Items>,
    pub(super) column: Option<usize>,
    /// True if the user named the input.
    pub(super) named: bool,
}

impl From {
    /// True if it is a column of whole doubles.
    pub(super) fn is_whole(&self) -> anyhow::Result<bool> {
        Ok(self.column.map(|column| self.items.is_whole(column)).transpose()?.unwrap_or(false))
    }

    /// An error in the words of `name`.
    fn error(&self, name: &str, what: String) -> anyhow::Error {
        if self.named {
            return anyhow::anyhow!(what);
        }
        let (path, what_it_is) = (self.items.path(), if self.column.is_some() { "a column of it" } else { "it" });
        anyhow::anyhow!("{what}; without a name, {what_it_is} is taken for `{name}`: say what it is, `NAME={path}`")
    }
}

impl From {
    /// The error for a place whose number of words differs from an item's.
    fn misfit(&self, name: &str, place: &Place) -> anyhow::Error {
        let has = match place.at {
            Location::Memory { array: true, .. } => plural(place.count() as usize, "word"),
            Location::Memory { .. } | Location::Register(_) | Location::Cell(_) => "one word".to_string(),
        };
        self.error(name, format!("{}: an item is {}, `{name}` has {has}", self.items.path(), self.items.shape_text()))
    }
}
