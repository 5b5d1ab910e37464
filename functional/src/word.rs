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

/// What the table knows of a word.
struct Entry {
    views: Rc<[View]>,
    without: Word,
    /// The words with one more view; 0 if not known yet.
    with: [u32; View::ALL.len()],
}

thread_local! {
    static WORDS: RefCell<Vec<Entry>> = RefCell::new(vec![Entry { views: Rc::new([]), without: Word(0), with: [0; View::ALL.len()] }]);
}

fn entry<T>(word: Word, read: impl FnOnce(&Entry) -> T) -> T {
    WORDS.with_borrow(|words| read(&words[word.0 as usize]))
}

impl Word {
    /// No view.
    pub const NONE: Word = Word(0);

    /// A word of one view.
    pub fn one(view: View) -> Word {
        Word::NONE.append(view)
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

    /// The number of views.
    pub fn len(self) -> usize {
        entry(self, |e| e.views.len())
    }

    /// Whether it has no view.
    pub const fn is_empty(self) -> bool {
        self.is_none()
    }

    /// The outermost view.
    #[inline]
    pub fn top(self) -> Option<View> {
        if self.is_none() { None } else { entry(self, |e| e.views.last().copied()) }
    }

    /// The word without its outermost view.
    #[must_use]
    pub fn pop(self) -> Word {
        entry(self, |e| e.without)
    }

    /// The views, the innermost first.
    pub fn views(self) -> impl DoubleEndedIterator<Item = View> + ExactSizeIterator {
        let views = entry(self, |e| Rc::clone(&e.views));
        (0..views.len()).map(move |n| views[n])
    }

    /// Whether a view is in it.
    pub fn has(self, view: View) -> bool {
        !self.is_none() && entry(self, |e| e.views.contains(&view))
    }

    fn append(self, view: View) -> Word {
        WORDS.with_borrow_mut(|words| {
            let place = view as usize - 1;
            let known = words[self.0 as usize].with[place];
            if known != 0 {
                return Word(known);
            }
            let views = words[self.0 as usize].views.iter().copied().chain([view]).collect();
            let new = words.len() as u32;
            words.push(Entry { views, without: self, with: [0; View::ALL.len()] });
            words[self.0 as usize].with[place] = new;
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
