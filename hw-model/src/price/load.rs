//! Loads: what an operation asks of a technology, before the clock's speed is known. Loads of operations add up, and the price of a load is a
//! function of the speed, so the cheapest speed of a run is found without going through its operations again.

use std::iter::Sum;
use std::ops::{Add, Mul};

/// What an operation switches, holds and waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Farads that go up and down by ramps.
    pub switched: f64,
    /// Farads times the ticks for which they are powered.
    pub powered: f64,
    /// Farads that the clock drives, times the periods for which it does.
    pub clocked: f64,
    /// Farads of logic that cannot be discharged below the threshold by a ramp, and lose the rest abruptly.
    pub residual: f64,
    /// Junctions times the cycles for which they are excited.
    pub junctions: f64,
    /// Gates of junctions that lose information, times the cycles.
    pub lossy: f64,
    /// Joules of conventional logic and memory.
    pub joules: f64,
    /// Joules of conventional logic times the ticks for which it leaks.
    pub leaking: f64,
    /// How long it takes: ramps of adiabatic logic, phases of superconducting logic, gate delays of conventional logic.
    pub ticks: f64,
}

impl Add for Load {
    type Output = Load;
    fn add(self, o: Load) -> Load {
        Load {
            switched: self.switched + o.switched,
            powered: self.powered + o.powered,
            clocked: self.clocked + o.clocked,
            residual: self.residual + o.residual,
            junctions: self.junctions + o.junctions,
            lossy: self.lossy + o.lossy,
            joules: self.joules + o.joules,
            leaking: self.leaking + o.leaking,
            ticks: self.ticks + o.ticks,
        }
    }
}

impl Mul<f64> for Load {
    type Output = Load;
    fn mul(self, k: f64) -> Load {
        Load {
            switched: self.switched * k,
            powered: self.powered * k,
            clocked: self.clocked * k,
            residual: self.residual * k,
            junctions: self.junctions * k,
            lossy: self.lossy * k,
            joules: self.joules * k,
            leaking: self.leaking * k,
            ticks: self.ticks * k,
        }
    }
}

impl Sum for Load {
    fn sum<I: Iterator<Item = Load>>(loads: I) -> Load {
        loads.fold(Load::default(), Add::add)
    }
}
