//! What a circuit takes: gates, depths, T gates, and the cells of each mapping.

use pendula_isa::circuit::{Circuit, Gate, GateCounts, Wire};

use crate::clocking::Pipeline;
use crate::instruction::InstructionCircuit;
use crate::mapping::{Mapping, Netlist};

/// T gates of a Toffoli gate without measurement: 7, of which no fewer are known (Amy, Maslov, Mosca and Roetteler, A meet-in-the-middle algorithm for fast synthesis of depth-optimal
/// quantum circuits, IEEE TCAD 32(6), 2013). A controlled exchange is a Toffoli gate between two CNOTs.
pub const T_OF_TOFFOLI: u64 = 7;

/// T gates of a Toffoli gate with an ancilla, a measurement and a correction that depends on it: 4 (Jones, Low-overhead constructions for the fault-tolerant Toffoli gate,
/// Phys. Rev. A 87, 022328, 2013).
pub const T_MEASURED: u64 = 4;

/// What a circuit takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Gates of each kind.
    pub gates: GateCounts,
    /// All wires.
    pub wires: u64,
    /// Those that are 0 before and after.
    pub ancillas: u64,
    /// Steps, if a gate takes its wires for itself, controls too.
    pub depth: u64,
    /// Steps, if gates may share controls.
    pub levels: u64,
    /// Toffoli gates and controlled exchanges on the longest way.
    pub toffoli_depth: u64,
    /// The netlist of each mapping.
    pub mappings: Vec<(Mapping, Netlist)>,
}

impl Stats {
    /// Those of a circuit.
    pub fn of(circuit: &Circuit) -> Stats {
        let mappings = Mapping::ALL.into_iter().map(|mapping| (mapping, mapping.netlist(circuit))).collect();
        Stats { mappings, ..Stats::of_gates(circuit) }
    }

    fn of_gates(circuit: &Circuit) -> Stats {
        Stats {
            gates: circuit.counts(),
            wires: circuit.wires().into(),
            ancillas: circuit.ancillas() as u64,
            depth: circuit.depth(),
            levels: Pipeline::of(circuit).levels,
            toffoli_depth: depth_of(circuit, |gate| matches!(gate, Gate::Toffoli(..) | Gate::Cswap(..))),
            mappings: Vec::new(),
        }
    }

    /// Those of an instruction's circuit. Conventional logic has the carries of its adder.
    pub fn of_instruction(circuit: &InstructionCircuit) -> Stats {
        let mappings = Mapping::ALL.into_iter().map(|mapping| (mapping, circuit.netlist(mapping))).collect();
        Stats { mappings, ..Stats::of_gates(&circuit.circuit) }
    }

    /// Toffoli gates and controlled exchanges.
    pub const fn products(&self) -> u64 {
        self.gates.toffoli + self.gates.cswap
    }

    /// T gates, without measurement.
    pub const fn t_count(&self) -> u64 {
        T_OF_TOFFOLI * self.products()
    }

    /// T gates, with measurement.
    pub const fn t_count_measured(&self) -> u64 {
        T_MEASURED * self.products()
    }
}

/// The longest way through the circuit on which only some gates count.
fn depth_of(circuit: &Circuit, counts: impl Fn(&Gate) -> bool) -> u64 {
    let mut after = vec![0; circuit.wires() as usize];
    for gate in circuit.gates() {
        let wires: Vec<Wire> = gate.wires().collect();
        let before = wires.iter().map(|w| after[*w as usize]).max().unwrap_or(0);
        for w in wires {
            after[w as usize] = before + u64::from(counts(gate));
        }
    }
    after.into_iter().max().unwrap_or(0)
}

/// The level of each gate as [`Pipeline`] has it: the first after those that write its wires, or read what it writes; gates may share controls.
pub fn levels_of_gates(circuit: &Circuit, takes: impl Fn(&Gate) -> u64) -> Vec<u64> {
    let wires = circuit.wires() as usize;
    let (mut written, mut read) = (vec![0u64; wires], vec![0u64; wires]);
    let level = |gate: &Gate| {
        let after_controls = gate.controls().map(|w| written[w as usize]);
        let after_targets = gate.targets().map(|w| written[w as usize].max(read[w as usize]));
        let last = takes(gate) + after_controls.chain(after_targets).max().unwrap_or(0);
        gate.controls().for_each(|w| read[w as usize] = read[w as usize].max(last));
        gate.targets().for_each(|w| written[w as usize] = last);
        last
    };
    circuit.gates().iter().map(level).collect()
}

#[cfg(test)]
mod tests {
    use pendula_isa::circuit::{Builder, Role};

    use super::*;

    #[test]
    fn an_adder() {
        let mut b = Builder::new("adder");
        let x = b.register("x", Role::Operand, 8);
        let y = b.register("y", Role::Target, 8);
        b.add(&x, &y);
        let circuit = b.finish();
        let stats = Stats::of(&circuit);
        // Cuccaro et al.: 2W − 2 Toffoli gates, one after the other, and one ancilla.
        assert_eq!((stats.gates.toffoli, stats.toffoli_depth, stats.ancillas, stats.wires), (14, 14, 1, 17));
        assert_eq!((stats.t_count(), stats.t_count_measured()), (98, 56));
        let levels = levels_of_gates(&circuit, |_| 1);
        assert_eq!(levels.iter().max(), Some(&stats.levels));
        assert!(stats.levels <= stats.depth);
        assert_eq!(stats.mappings.len(), Mapping::ALL.len());
    }
}
