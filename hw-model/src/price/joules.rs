//! Energies by cause.

use std::ops::{Add, AddAssign, Index, IndexMut, Mul};

/// A cause of energy consumption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// Ramps through a resistance, or the excitation of junctions: decreases with the frequency of operation.
    Adiabatic,
    /// Abrupt switching of conventional logic.
    Switching,
    /// Currents through transistors that are off: increases as the frequency falls.
    Leakage,
    /// Losses of the supply.
    Clock,
    /// Traffic with the host's memory.
    Link,
    /// Information destroyed.
    Erasure,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Cause; 6] =
        [Cause::Adiabatic, Cause::Switching, Cause::Leakage, Cause::Clock, Cause::Link, Cause::Erasure];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Adiabatic => "adiabatic",
            Cause::Switching => "switching",
            Cause::Leakage => "leakage",
            Cause::Clock => "clock",
            Cause::Link => "link",
            Cause::Erasure => "erasure",
        }
    }
}

/// Joules by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Joules([f64; Cause::ALL.len()]);

impl Joules {
    /// An energy with a single cause.
    pub fn of(cause: Cause, joules: f64) -> Joules {
        let mut out = Joules::default();
        out[cause] = joules;
        out
    }

    /// The sum.
    pub fn total(self) -> f64 {
        self.0.iter().sum()
    }
}

impl Index<Cause> for Joules {
    type Output = f64;
    fn index(&self, cause: Cause) -> &f64 {
        &self.0[cause as usize]
    }
}

impl IndexMut<Cause> for Joules {
    fn index_mut(&mut self, cause: Cause) -> &mut f64 {
        &mut self.0[cause as usize]
    }
}

impl Add for Joules {
    type Output = Joules;
    fn add(mut self, other: Joules) -> Joules {
        self += other;
        self
    }
}

impl AddAssign for Joules {
    fn add_assign(&mut self, other: Joules) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a += b;
        }
    }
}

impl Mul<f64> for Joules {
    type Output = Joules;
    fn mul(self, k: f64) -> Joules {
        Joules(self.0.map(|x| x * k))
    }
}

impl std::iter::Sum for Joules {
    fn sum<I: Iterator<Item = Joules>>(items: I) -> Joules {
        items.fold(Joules::default(), Add::add)
    }
}
