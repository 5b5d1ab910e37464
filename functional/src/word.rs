//! Layers around values, as words of views.
//!
//! A transformed value is seen through *views*: the reverse transform of a pair is the pair seen through [`View::Reverse`]. Nothing is
//! computed until somebody looks at a part; the part is then seen through the same views. A word is a sequence of views, the outermost last,
//! in 32 bits. Two neighbours that cancel vanish.

use std::fmt;

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

    fn of(code: u32) -> Option<View> {
        View::ALL.get((code as usize).wrapping_sub(1)).copied()
    }

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
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Word(u32);

/// How many views a word holds.
pub const LONGEST: usize = 8;

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

    /// The number of views.
    pub const fn len(self) -> usize {
        (32 - self.0.leading_zeros() as usize).div_ceil(4)
    }

    /// Whether it has no view.
    pub const fn is_empty(self) -> bool {
        self.is_none()
    }

    /// The outermost view.
    pub fn top(self) -> Option<View> {
        View::of(self.0 & 15)
    }

    /// The word without its outermost view.
    #[must_use]
    pub const fn pop(self) -> Word {
        Word(self.0 >> 4)
    }

    /// The views, the innermost first.
    pub fn views(self) -> impl Iterator<Item = View> {
        (0..self.len()).rev().filter_map(move |n| View::of(self.0 >> (4 * n) & 15))
    }

    /// Whether a view is in it.
    pub fn has(self, view: View) -> bool {
        self.views().any(|v| v == view)
    }

    /// The word with one more view outside, if it has room.
    pub fn push(self, view: View) -> Option<Word> {
        let cancels = matches!(
            (self.top(), view),
            (Some(View::Reverse), View::Unreverse)
                | (Some(View::Unreverse), View::Reverse)
                | (Some(View::Sense), View::Unsense)
                | (Some(View::Unsense), View::Sense)
                | (Some(View::Perturb), View::Unperturb)
                | (Some(View::Unperturb), View::Perturb)
                | (Some(View::Forward), View::Primal)
                | (Some(View::Close), View::Open)
        );
        if cancels {
            return Some(self.pop());
        }
        match (self.top(), view) {
            (Some(View::Forward), View::Tangent) => self.pop().push(View::Zero),
            (Some(View::Zero), View::Zero) => Some(self),
            _ if self.len() < LONGEST => Some(Word(self.0 << 4 | view as u32)),
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
        let mut views: Vec<View> = self.views().collect();
        views.reverse();
        views.into_iter().try_fold(Word::NONE, |word, view| {
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
