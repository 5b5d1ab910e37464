//! Layers around values, as words of views.
//!
//! A transformed value is seen through *views*: the reverse transform of a pair is the pair seen through [`View::Reverse`]. Nothing is
//! computed until somebody looks at a part; the part is then seen through the same views. A word is a sequence of views, the outermost last,
//! in 32 bits. Two neighbours that cancel vanish.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

/// One view of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum View {
    /// The reverse transform, `*j`.
    Reverse = 1,
    /// Its inverse, `*j-inverse`.
    Unreverse,
    /// The layer of a sensitivity.
    Sense,
    /// Without that layer.
    Unsense,
    /// The layer of a perturbation.
    Perturb,
    /// Without that layer.
    Unperturb,
    /// The bundle with a zero as tangent.
    Forward,
    /// The primal part of a bundle.
    Primal,
    /// The tangent of a bundle.
    Tangent,
    /// The zero of the same shape.
    Zero,
    /// What follows, up to the matching [`View::Close`], applies to both parts of a bundle.
    Open,
    /// The end of what applies to both parts of a bundle.
    Close,
}

impl View {
    const ALL: [View; 12] = [
        View::Reverse,
        View::Unreverse,
        View::Sense,
        View::Unsense,
        View::Perturb,
        View::Unperturb,
        View::Forward,
        View::Primal,
        View::Tangent,
        View::Zero,
        View::Open,
        View::Close,
    ];

    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            View::Reverse => "reverse",
            View::Unreverse => "*j-inverse",
            View::Sense => "sensitivity",
            View::Unsense => "unsensitize",
            View::Perturb => "perturbation",
            View::Unperturb => "unperturb",
            View::Forward => "forward",
            View::Primal => "primal",
            View::Tangent => "tangent",
            View::Zero => "zero",
            View::Open => "open",
            View::Close => "close",
        }
    }
}

/// A sequence of views, the outermost last. A word of layers only (`Reverse`, `Sense`, `Perturb`, `Forward`) also says at which level code
/// computes, and which layers a number has.
///
/// Equal words of one thread have equal numbers; a table of the thread has their views.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Word(u32);

/// How many views a word holds.
pub const LONGEST: usize = 64;

/// What the table knows of a word of two or more views.
struct Entry {
    views: Rc<[View]>,
    without: Word,
    /// The words with one more view; 0 if not known yet.
    with: [u32; View::ALL.len()],
}

#[derive(Default)]
struct Table {
    /// Behind the words of one view, one entry for each word.
    entries: Vec<Entry>,
    /// What follows a word of one view.
    second: [[u32; View::ALL.len()]; View::ALL.len()],
}

thread_local! {
    static WORDS: RefCell<Table> = RefCell::default();
}

/// The views of a word.
#[derive(Clone, Debug)]
struct Views {
    short: [View; 1],
    long: Option<Rc<[View]>>,
    from: usize,
    to: usize,
}

impl Views {
    fn get(&self, n: usize) -> View {
        match &self.long {
            Some(views) => views[n],
            None => self.short[n],
        }
    }
}

impl Iterator for Views {
    type Item = View;

    fn next(&mut self) -> Option<View> {
        (self.from < self.to).then(|| {
            self.from += 1;
            self.get(self.from - 1)
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.to - self.from, Some(self.to - self.from))
    }
}

impl DoubleEndedIterator for Views {
    fn next_back(&mut self) -> Option<View> {
        (self.from < self.to).then(|| {
            self.to -= 1;
            self.get(self.to)
        })
    }
}

impl ExactSizeIterator for Views {}

/// The number of a word has its outermost view in four bits, above them the number of its entry; words of one view have none.
const BITS: u32 = 4;

impl Word {
    /// No view.
    pub const NONE: Word = Word(0);

    /// A word of one view.
    pub const fn one(view: View) -> Word {
        Word(view as u32)
    }

    /// Whether it has no view.
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The word as a number.
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }

    fn entry<T>(self, read: impl FnOnce(&Entry) -> T) -> T {
        WORDS.with_borrow(|table| read(&table.entries[(self.0 >> BITS) as usize - 1]))
    }

    const fn is_short(self) -> bool {
        self.0 < 1 << BITS
    }

    /// The number of views.
    pub fn len(self) -> usize {
        if self.is_short() { usize::from(!self.is_none()) } else { self.entry(|e| e.views.len()) }
    }

    /// Whether it has no view.
    pub const fn is_empty(self) -> bool {
        self.is_none()
    }

    /// The outermost view.
    #[inline]
    pub fn top(self) -> Option<View> {
        View::ALL.get(((self.0 & ((1 << BITS) - 1)) as usize).wrapping_sub(1)).copied()
    }

    /// The view of a word of one.
    #[inline]
    pub(crate) fn single(self) -> Option<View> {
        if self.is_short() { self.top() } else { None }
    }

    /// The word without its outermost view.
    #[must_use]
    #[inline]
    pub fn pop(self) -> Word {
        if self.is_short() { Word::NONE } else { self.entry(|e| e.without) }
    }

    /// The views, the innermost first.
    pub fn views(self) -> impl DoubleEndedIterator<Item = View> + ExactSizeIterator {
        let short = [self.top().unwrap_or(View::Zero)];
        let long = if self.is_short() { None } else { Some(self.entry(|e| Rc::clone(&e.views))) };
        let to = long.as_ref().map_or(usize::from(!self.is_none()), |views| views.len());
        Views { short, long, from: 0, to }
    }

    /// Whether a view is in it.
    pub fn has(self, view: View) -> bool {
        if self.is_short() { self.top() == Some(view) } else { self.entry(|e| e.views.contains(&view)) }
    }

    fn append(self, view: View) -> Word {
        let Some(top) = self.top() else { return Word::one(view) };
        let place = view as usize - 1;
        WORDS.with_borrow_mut(|table| {
            let index = (self.0 >> BITS) as usize;
            let known =
                if index == 0 { table.second[top as usize - 1][place] } else { table.entries[index - 1].with[place] };
            if known != 0 {
                return Word(known);
            }
            let views = match index {
                0 => Rc::from([top, view]),
                _ => table.entries[index - 1].views.iter().copied().chain([view]).collect(),
            };
            table.entries.push(Entry { views, without: self, with: [0; View::ALL.len()] });
            let new = (table.entries.len() as u32) << BITS | view as u32;
            if index == 0 {
                table.second[top as usize - 1][place] = new;
            } else {
                table.entries[index - 1].with[place] = new;
            }
            Word(new)
        })
    }

    /// The word with one more view outside, if it has room.
    pub fn push(self, view: View) -> Option<Word> {
        let Some(top) = self.top() else { return Some(self.append(view)) };
        let cancels = matches!(
            (top, view),
            (View::Reverse, View::Unreverse)
                | (View::Unreverse, View::Reverse)
                | (View::Sense, View::Unsense)
                | (View::Unsense, View::Sense)
                | (View::Perturb, View::Unperturb)
                | (View::Unperturb, View::Perturb)
                | (View::Forward, View::Primal)
                | (View::Close, View::Open)
        );
        if cancels {
            return Some(self.pop());
        }
        match (top, view) {
            (View::Forward, View::Tangent) => self.pop().push(View::Zero),
            (View::Zero, View::Zero) => Some(self),
            _ if self.len() < LONGEST => Some(self.append(view)),
            _ => None,
        }
    }

    /// The word without one of its views.
    pub(crate) fn without(self, view: View) -> Word {
        let rest = self.views().filter(|v| *v != view);
        rest.fold(Word::NONE, |word, view| word.push(view).unwrap_or(word))
    }

    /// This word, then another.
    pub fn then(self, other: Word) -> Option<Word> {
        if self.is_none() {
            return Some(other);
        }
        other.views().try_fold(self, Word::push)
    }

    /// For a word of layers: the views that take them off.
    pub fn inverse(self) -> Option<Word> {
        self.views().rev().try_fold(Word::NONE, |word, view| {
            word.push(match view {
                View::Reverse => View::Unreverse,
                View::Sense => View::Unsense,
                View::Perturb => View::Unperturb,
                View::Forward => View::Open,
                View::Unreverse | View::Unsense | View::Unperturb | View::Primal | View::Tangent => return None,
                View::Zero | View::Open | View::Close => return None,
            })
        })
    }

    /// A view at a level: the layers come off, the view applies, the layers go on again.
    pub fn at(view: View, level: Word) -> Option<Word> {
        let word = level.inverse()?.push(view)?;
        level.views().try_fold(word, |word, layer| word.push(if layer == View::Forward { View::Close } else { layer }))
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.views()).finish()
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, view) in self.views().enumerate() {
            write!(f, "{}{}", if n > 0 { " " } else { "" }, view.name())?;
        }
        Ok(())
    }
}
