//! Energies of clocked adiabatic logic, by how its levels are clocked.
//!
//! A node of capacitance C that goes up and down by ramps of x = T/τ loses 2·min(σφ(x), ½)·CV², and leaks r·x·CV² for each tick, the duration
//! of a ramp, for which it is powered. All energies here are multiples of the CV² of what switches.

use std::collections::BTreeMap;

use pendula_isa::circuit::{Circuit, Gate, Role, Wire};

use crate::network::Network;
use crate::physics::{Ramp, minimum, ramp_loss};

/// Devices and ramps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramps {
    /// The shape.
    pub shape: Ramp,
    /// r = I_off/I_on.
    pub leakage: f64,
    /// The shortest ramp that the clock makes, as a multiple of τ.
    pub shortest: f64,
}

/// The best ramp of a circuit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Optimum {
    /// The duration of a ramp, as a multiple of τ.
    pub ramp: f64,
    /// The energy of an operation, as a multiple of CV².
    pub energy: f64,
}

impl Ramps {
    /// The energy of an operation whose nodes go up and down once and are powered for this number of ticks, on average.
    pub fn energy(&self, ramp: f64, powered: f64) -> f64 {
        2.0 * (self.shape.shape() * ramp_loss(ramp)).min(0.5) + self.leakage * ramp * powered
    }

    /// The ramp at which that is least, by the exact φ.
    pub fn optimum(&self, powered: f64) -> Optimum {
        let slow = (2.0 * self.shape.shape() / (self.leakage * powered)).sqrt().max(1e-3);
        let energy = |log: f64| self.energy(log.exp(), powered);
        let (at, _) = minimum(energy, slow.ln() - 5.0, slow.ln() + 5.0);
        let ramp = at.exp().max(self.shortest);
        Optimum { ramp, energy: self.energy(ramp, powered) }
    }
}

/// A cascade of conventional gates, clocked as by Bennett: each level has a rail of its own. The rails go up one after the other, the outputs are
/// latched, and the rails go down in the opposite order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retractile {
    /// D: levels.
    pub levels: f64,
    /// k̄: for how many ticks a gate is powered, on average over their capacitances.
    pub powered: f64,
    /// h: ticks for which the last level is held.
    pub held: f64,
}

impl Retractile {
    /// The cascade of a network whose gates have these capacitances. A gate of level l is powered for 2(D − l) + 1 + h ticks.
    pub fn of(network: &Network, farad: impl Fn(&crate::network::Node) -> f64, held: f64) -> Retractile {
        let levels = network.levels();
        let depth = f64::from(levels.iter().copied().max().unwrap_or(0));
        let (mut ticks, mut all) = (0.0, 0.0);
        for (node, level) in network.nodes().iter().zip(levels).filter(|(node, _)| node.is_gate()) {
            let farad = farad(node);
            ticks += farad * (2.0 * (depth - f64::from(level)) + 1.0 + held);
            all += farad;
        }
        Retractile { levels: depth, powered: if all > 0.0 { ticks / all } else { 0.0 }, held }
    }

    /// A cascade with the same capacitance on every level.
    pub fn uniform(levels: f64, held: f64) -> Retractile {
        Retractile { levels, powered: levels + held, held }
    }

    /// The ticks of z ⊕= f(x): the cascade goes up, is held, and goes down.
    pub fn ticks(&self) -> f64 {
        2.0 * self.levels + self.held
    }

    /// The ticks of x := f(x): the cascade makes the new word, which a latch takes; another, of the inverse function, makes the old one, and the old
    /// latch is cleared.
    pub fn ticks_in_place(&self, inverse: &Retractile) -> f64 {
        self.ticks() + inverse.ticks()
    }
}

/// A network of reversible gates in a pipeline: a level a tick, with a stage for each gate and for each wire that no gate of the level writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// D: levels.
    pub levels: u64,
    /// Stages of gates.
    pub gates: u64,
    /// Stages that only carry a bit on.
    pub carriers: u64,
}

impl Pipeline {
    /// The pipeline of a circuit. A gate is on the first level after those that write its wires, or read what it writes; gates may share controls.
    /// Registers live from the first level to the last, ancillas from their first gate to their last.
    pub fn of(circuit: &Circuit) -> Pipeline {
        Pipeline::with_levels(circuit, |_| 1)
    }

    /// The pipeline in reversible quantum-flux parametrons, of which a gate takes several levels (see [`Mapping::Rqfp`](crate::mapping::Mapping)).
    pub fn of_rqfp(circuit: &Circuit) -> Pipeline {
        Pipeline::with_levels(circuit, levels_of_rqfp)
    }

    /// The pipeline in which a gate takes a number of levels.
    fn with_levels(circuit: &Circuit, takes: impl Fn(Gate) -> u64) -> Pipeline {
        let wires = circuit.wires() as usize;
        // The level after which a wire's value is there, and the level until which it is read.
        let (mut written, mut read) = (vec![0u64; wires], vec![0u64; wires]);
        let mut lives: BTreeMap<Wire, (u64, u64)> = BTreeMap::new();
        let (mut writes, mut depth) = (0, 0);
        for gate in circuit.gates() {
            let (controls, targets) = split(*gate);
            let after_controls = controls.iter().map(|w| written[*w as usize]);
            let after_targets = targets.iter().map(|w| written[*w as usize].max(read[*w as usize]));
            let levels = takes(*gate);
            let last = levels + after_controls.chain(after_targets).max().unwrap_or(0);
            controls.iter().for_each(|w| read[*w as usize] = read[*w as usize].max(last));
            targets.iter().for_each(|w| written[*w as usize] = last);
            if levels > 0 {
                for wire in gate.wires() {
                    let first = last + 1 - levels;
                    lives.entry(wire).and_modify(|life| life.1 = life.1.max(last)).or_insert((first, last));
                }
                writes += targets.len() as u64 * levels;
            }
            depth = depth.max(last);
        }
        let is_register =
            |wire: &Wire| circuit.registers().iter().any(|r| r.role != Role::Ancilla && r.wires.contains(wire));
        let registers: u64 = (0..circuit.wires()).filter(is_register).count() as u64 * depth;
        let ancillas: u64 =
            lives.iter().filter(|(wire, _)| !is_register(wire)).map(|(_, (first, last))| last - first + 1).sum();
        let carriers = (registers + ancillas).saturating_sub(writes);
        Pipeline { levels: depth, gates: circuit.gates().len() as u64, carriers }
    }

    /// All stages.
    pub const fn stages(&self) -> u64 {
        self.gates + self.carriers
    }

    /// The part of the periods of n ticks in which a stage carries an operation, if each operation waits for the one before.
    pub fn utilisation(&self, period: u64) -> f64 {
        period as f64 / self.dependent_ticks(period) as f64
    }

    /// The ticks from one operation to the next, if each waits for the one before: D, in whole periods.
    pub const fn dependent_ticks(&self, period: u64) -> u64 {
        self.levels.div_ceil(period) * period
    }

    /// The ticks from one operation to the next in a full stream.
    pub const fn stream_ticks(&self, period: u64) -> u64 {
        period
    }
}

/// The levels of reversible quantum-flux parametrons that a gate takes.
pub(crate) const fn levels_of_rqfp(gate: Gate) -> u64 {
    match gate {
        Gate::Not(_) => 0,
        Gate::Cnot(..) => 2,
        Gate::Toffoli(..) => 3,
        Gate::Cswap(..) => 5,
    }
}

/// The wires that a gate reads, and those that it writes.
fn split(gate: Gate) -> (Vec<Wire>, Vec<Wire>) {
    match gate {
        Gate::Not(a) => (vec![], vec![a]),
        Gate::Cnot(a, b) => (vec![a], vec![b]),
        Gate::Toffoli(a, b, c) => (vec![a, b], vec![c]),
        Gate::Cswap(a, b, c) => (vec![a], vec![b, c]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn linear(leakage: f64) -> Ramps {
        Ramps { shape: Ramp::Linear, leakage, shortest: 0.0 }
    }

    #[test]
    fn ticks_of_a_cascade_sum_to_its_levels() {
        for depth in [1, 8, 190] {
            let sum: u32 = (1..=depth).map(|level| 2 * (depth - level) + 1).sum();
            let mean = f64::from(sum) / f64::from(depth);
            assert!((mean - Retractile::uniform(depth.into(), 0.0).powered).abs() < 1e-9);
        }
    }

    #[test]
    fn the_gain_of_a_cascade_falls_with_the_root_of_its_depth() {
        for shape in [Ramp::Linear, Ramp::Sine] {
            for leakage in [1e-10, 1e-9, 1e-8, 1e-7, 1e-6] {
                for levels in [1.0, 10.0, 100.0, 1000.0, 30000.0] {
                    let ramps = Ramps { shape, leakage, shortest: 0.0 };
                    let cascade = Retractile::uniform(levels, 2.0);
                    let best = ramps.optimum(cascade.powered);
                    let slow = 1.0 / (2.0 * (2.0 * shape.shape() * leakage * cascade.powered).sqrt());
                    if best.ramp >= 50.0 {
                        let gain = 1.0 / best.energy;
                        assert!((gain / slow - 1.0).abs() < 0.02, "{leakage} {levels}: {gain}, {slow}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_deep_cascade_wants_little_leakage() {
        let gain = |leakage: f64| 1.0 / linear(leakage).optimum(30000.0).energy;
        assert!(gain(1e-4) <= 1.0, "{}", gain(1e-4));
        assert!((gain(1e-6) - 2.20).abs() < 0.005, "{}", gain(1e-6));
        assert!((gain(1e-7) - 6.59).abs() < 0.005, "{}", gain(1e-7));
    }

    #[test]
    fn a_clock_with_a_shortest_ramp_is_not_faster() {
        let ramps = Ramps { shortest: 1000.0, ..linear(1e-4) };
        assert!(ramps.optimum(10.0).ramp >= 1000.0);
    }
}
