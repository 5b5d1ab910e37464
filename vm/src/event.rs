//! Events that a program shows to the user, and flags that a run sets without stopping.

use pendula_isa::types::Ty;

/// An event that a running program shows to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// `show`: a word and its type.
    Show(Ty, u64),
    /// `print`: the index of a text of the module.
    Print(u32),
    /// `emit`, in the profile `pisa`: a word that goes to the output tape, running forward.
    Emit(u64),
}

/// Flags that a run sets without stopping. They are not part of the state: round trips do not compare them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// The address of the first instruction at which a fixed-point number wrapped.
    pub overflow: Option<u32>,
    /// The address of the first instruction at which a gradient word or tangent wrapped.
    pub carried: Option<u32>,
    /// The address of the first `zero.f` that cleared a number other than +0.0.
    pub inexact: Option<u32>,
    /// All numbers that `zero.f` cleared.
    pub rests: RoundingResidues,
}

/// The rounding residues that `zero.f` cleared; all lay within its tolerance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundingResidues {
    /// Their number.
    pub count: u64,
    /// The bits of the largest magnitude.
    largest: u64,
}

impl RoundingResidues {
    /// The largest magnitude.
    pub fn largest(self) -> f64 {
        f64::from_bits(self.largest)
    }

    /// The union of both.
    #[must_use]
    pub fn and(self, other: RoundingResidues) -> RoundingResidues {
        // Positive doubles are ordered as their bits.
        RoundingResidues { count: self.count.saturating_add(other.count), largest: self.largest.max(other.largest) }
    }

    /// Adds a residue by its bits.
    pub(crate) fn add(&mut self, bits: u64) {
        *self = self.and(RoundingResidues { count: 1, largest: bits & !(1 << 63) });
    }
}

/// The callback for events of a program.
pub(crate) type Listener = Box<dyn FnMut(Event) + Send>;
