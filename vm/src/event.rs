//! What a run shows to the user, and what it notices without stopping.

use pendula_isa::types::Ty;

/// Something a running program shows to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// `show`: a word and how to read it.
    Show(Ty, u64),
    /// `print`: the index of a text of the module.
    Print(u32),
    /// `emit`, in the profile `pisa`: a word that goes to the output tape, running forward.
    Emit(u64),
}

/// What a run noticed without stopping. Not part of the state: round trips do not compare it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// The address of the first instruction at which a fixed-point number overflowed and wrapped.
    pub overflow: Option<u32>,
    /// That of the first at which what words carry did: a gradient word, a tangent.
    pub carried: Option<u32>,
    /// The address of the first `zero.f` that cleared a number other than +0.0.
    pub inexact: Option<u32>,
    /// All such numbers.
    pub rests: Rests,
}

/// The rests of rounding that `zero.f` cleared: none lay beyond its bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rests {
    /// How many there were.
    pub count: u64,
    /// The bits of the largest magnitude.
    largest: u64,
}

impl Rests {
    /// The largest magnitude.
    pub fn largest(self) -> f64 {
        f64::from_bits(self.largest)
    }

    /// These and others.
    #[must_use]
    pub fn and(self, other: Rests) -> Rests {
        // Doubles of one sign have the order of their bits.
        Rests { count: self.count.saturating_add(other.count), largest: self.largest.max(other.largest) }
    }

    /// One more, by its bits.
    pub(crate) fn add(&mut self, bits: u64) {
        *self = self.and(Rests { count: 1, largest: bits & !(1 << 63) });
    }
}

/// The callback that receives what a program shows.
pub(crate) type Listener = Box<dyn FnMut(Event) + Send>;
