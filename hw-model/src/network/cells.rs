//! Networks as the cells that a mapping builds, with their levels: what a netlist is written from.

use pendula_isa::circuit::{Adder, Circuit, Role};

use super::{Aqfp, Network, Node, Signal};
use crate::mapping::{Cell, Mapping, Netlist};

/// A bit that a cell reads: the constant 0, an input or the output of a cell, or its complement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// 0 is the constant 0; then come the bits of the inputs, then the cells.
    pub number: usize,
    /// Whether it is the complement.
    pub complement: bool,
}

impl Source {
    pub(super) const fn plain(number: usize) -> Source {
        Source { number, complement: false }
    }

    /// As a number: twice its own, and one more for the complement.
    pub const fn literal(self) -> usize {
        2 * self.number + self.complement as usize
    }
}

/// A cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedCell {
    /// Its kind.
    pub cell: Cell,
    /// What it reads.
    pub fanins: Vec<Source>,
    /// Its level: one more than the highest that it reads, or later.
    pub level: u64,
}

/// A word of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The name of the circuit's register.
    pub name: String,
    /// Whether it signals a trap.
    pub is_trap: bool,
    /// Its bits, the least significant first.
    pub bits: Vec<Source>,
}

/// The cells of a network, each behind those that it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellNetwork {
    /// Names and widths of the inputs.
    pub inputs: Vec<(String, usize)>,
    /// The cells.
    pub cells: Vec<PlacedCell>,
    /// The outputs.
    pub outputs: Vec<Output>,
    /// D: levels from the inputs to the outputs.
    pub levels: u64,
    /// Latches, each for a bit of a word that is changed.
    pub latches: u64,
}

impl CellNetwork {
    /// The cells that a mapping builds for a circuit, with the carries of this adder; `None` if it builds the reversible gates themselves.
    pub fn of(circuit: &Circuit, mapping: Mapping, adder: Adder) -> Option<CellNetwork> {
        if !mapping.is_conventional() {
            return None;
        }
        let network = Network::conventional(circuit, adder);
        let mut cells = match mapping {
            Mapping::Reversible | Mapping::Rqfp => return None,
            Mapping::Cascade => cascade(&network),
            Mapping::Balanced => cascade(&network).balanced(),
            Mapping::Aqfp => Aqfp::cells(&network),
        };
        let roles = circuit.registers().iter();
        if mapping != Mapping::Aqfp {
            let targets = roles.clone().filter(|r| r.role == Role::Target);
            cells.latches = targets.map(|r| r.wires.len() as u64).sum();
        }
        let traps: Vec<&str> = roles.filter(|r| r.role == Role::Trap).map(|r| r.name.as_str()).collect();
        for output in &mut cells.outputs {
            output.is_trap = traps.contains(&output.name.as_str());
        }
        Some(cells)
    }

    /// The number of the first cell: the constant and the bits of the inputs come before.
    pub fn first(&self) -> usize {
        1 + self.inputs.iter().map(|(_, width)| width).sum::<usize>()
    }

    /// What it is charged for, as [`Mapping::netlist_with`] has it.
    pub fn netlist(&self, mapping: Mapping) -> Netlist {
        let mut out = Netlist::default();
        out.levels = self.levels;
        for placed in &self.cells {
            // Buffers are on all levels alike, and so is every cell of a block of flux parametrons, which is clocked as a whole.
            let alike = placed.cell == Cell::Buffer || mapping == Mapping::Aqfp;
            out.add_cells(placed.cell, 1, if alike { 0 } else { self.levels - placed.level });
        }
        out.add_cells(Cell::Latch, self.latches, 0);
        out
    }

    /// The outputs for 64 states at once: for each bit of the inputs a word whose bit n is the bit in state n; the same of the outputs' bits.
    pub fn simulate(&self, inputs: &[u64]) -> Vec<u64> {
        let mut words = Vec::with_capacity(self.first() + self.cells.len());
        words.push(0);
        words.extend_from_slice(inputs);
        let read = |words: &[u64], s: &Source| words[s.number] ^ if s.complement { u64::MAX } else { 0 };
        for placed in &self.cells {
            let x: Vec<u64> = placed.fanins.iter().map(|s| read(&words, s)).collect();
            let word = match (placed.cell, &x[..]) {
                (Cell::And, [a, b]) => a & b,
                (Cell::Xor, [a, b]) => a ^ b,
                (Cell::Majority, [a, b, c]) => a & b | a & c | b & c,
                _ => x.first().copied().unwrap_or(0),
            };
            words.push(word);
        }
        self.outputs.iter().flat_map(|output| &output.bits).map(|s| read(&words, s)).collect()
    }

    /// With buffers, so that every cell reads the level below its own, and all outputs come at the last.
    fn balanced(self) -> CellNetwork {
        let first = self.first();
        let levels: Vec<u64> = std::iter::repeat_n(0, first).chain(self.cells.iter().map(|cell| cell.level)).collect();
        // The level until which each bit waits.
        let mut last = levels.clone();
        for placed in &self.cells {
            placed.fanins.iter().for_each(|s| last[s.number] = last[s.number].max(placed.level - 1));
        }
        for source in self.outputs.iter().flat_map(|output| &output.bits) {
            last[source.number] = self.levels;
        }
        let mut made = Unsorted::new(first);
        let gates: Vec<usize> = self.cells.iter().map(|placed| made.add(placed.clone())).collect();
        let at = |number: usize| if number < first { number } else { gates[number - first] };
        // The constant waits nowhere.
        let chains: Vec<Vec<usize>> = (0..last.len())
            .map(|number| {
                let mut from = at(number);
                let waits = if number == 0 { 0..0 } else { levels[number]..last[number] };
                let buffer = |level: u64| {
                    from = made.add(PlacedCell {
                        cell: Cell::Buffer,
                        fanins: vec![Source::plain(from)],
                        level: level + 1,
                    });
                    from
                };
                waits.map(buffer).collect()
            })
            .collect();
        let on_level = |s: Source, level: u64| {
            let waited = level.saturating_sub(levels[s.number]) as usize;
            let chain = &chains[s.number];
            let number = waited.checked_sub(1).and_then(|n| chain.get(n).copied()).unwrap_or_else(|| at(s.number));
            Source { number, ..s }
        };
        for (n, placed) in self.cells.iter().enumerate() {
            made.set_fanins(gates[n], placed.fanins.iter().map(|s| on_level(*s, placed.level - 1)).collect());
        }
        let outputs = self
            .outputs
            .into_iter()
            .map(|output| Output { bits: output.bits.iter().map(|s| on_level(*s, self.levels)).collect(), ..output });
        made.sorted(self.inputs, outputs.collect(), self.levels)
    }
}

/// Cells that do not stand behind what they read yet.
pub(super) struct Unsorted {
    first: usize,
    cells: Vec<PlacedCell>,
}

impl Unsorted {
    pub(super) const fn new(first: usize) -> Unsorted {
        Unsorted { first, cells: Vec::new() }
    }

    /// Adds a cell, and returns its number for now.
    pub(super) fn add(&mut self, cell: PlacedCell) -> usize {
        self.cells.push(cell);
        self.first + self.cells.len() - 1
    }

    pub(super) fn set_fanins(&mut self, number: usize, fanins: Vec<Source>) {
        self.cells[number - self.first].fanins = fanins;
    }

    /// Replaces one bit that a cell reads.
    pub(super) fn set_fanin(&mut self, number: usize, at: usize, source: usize) {
        self.cells[number - self.first].fanins[at].number = source;
    }

    /// The network, by levels.
    pub(super) fn sorted(self, inputs: Vec<(String, usize)>, outputs: Vec<Output>, levels: u64) -> CellNetwork {
        let mut order: Vec<usize> = (0..self.cells.len()).collect();
        order.sort_by_key(|n| self.cells[*n].level);
        let mut place = vec![0; self.cells.len()];
        order.iter().enumerate().for_each(|(new, old)| place[*old] = self.first + new);
        let moved = |s: &Source| match s.number.checked_sub(self.first) {
            None => *s,
            Some(n) => Source { number: place[n], ..*s },
        };
        let cells = order.iter().map(|n| {
            let cell = &self.cells[*n];
            PlacedCell { cell: cell.cell, fanins: cell.fanins.iter().map(moved).collect(), level: cell.level }
        });
        let outputs =
            outputs.into_iter().map(|output| Output { bits: output.bits.iter().map(moved).collect(), ..output });
        CellNetwork { inputs, cells: cells.collect(), outputs: outputs.collect(), levels, latches: 0 }
    }
}

/// The words of the inputs.
pub(super) fn inputs(network: &Network) -> Vec<(String, usize)> {
    network.inputs().iter().map(|port| (port.name.clone(), port.signals.len())).collect()
}

/// The words of the outputs, by the sources of nodes.
pub(super) fn outputs(network: &Network, source: impl Fn(&Signal) -> Source) -> Vec<Output> {
    let output = |port: &super::Port| Output {
        name: port.name.clone(),
        is_trap: false,
        bits: port.signals.iter().map(&source).collect(),
    };
    network.outputs().iter().map(output).collect()
}

/// The gates of a network.
fn cascade(network: &Network) -> CellNetwork {
    let levels = network.levels();
    let bits = inputs(network).iter().map(|(_, width)| width).sum::<usize>();
    let mut number = vec![0; network.nodes().len()];
    let mut cells = Vec::new();
    for (at, node) in network.nodes().iter().enumerate() {
        let cell = match node {
            Node::Zero => continue,
            Node::Input(bit) => {
                number[at] = 1 + *bit as usize;
                continue;
            }
            Node::And(..) => Cell::And,
            Node::Xor(..) => Cell::Xor,
            Node::Majority(..) => Cell::Majority,
        };
        number[at] = 1 + bits + cells.len();
        let source = |s: Signal| Source { number: number[s.node()], complement: s.is_complement() };
        cells.push(PlacedCell { cell, fanins: node.fanins().map(source).collect(), level: levels[at].into() });
    }
    let outputs = outputs(network, |s| Source { number: number[s.node()], complement: s.is_complement() });
    CellNetwork { inputs: inputs(network), cells, outputs, levels: network.depth().into(), latches: 0 }
}

#[cfg(test)]
mod tests {
    use pendula_isa::mnemonic;

    use super::*;
    use crate::instruction::{Direction, InstructionCircuit, Sizes};
    use crate::verify::Random;

    /// What is written costs what is charged, and does what the network does.
    #[test]
    fn cells_are_those_that_are_charged() {
        for name in ["add", "not", "swap", "xormul", "xordiv", "rol", "exch", "jmp.lt", "xorplus.f", "neg.q", "xorlt"] {
            let kind = mnemonic::lookup(name).expect("a mnemonic");
            let sizes = Sizes { width: 8, frac: None, memory: 4 };
            let circuit = InstructionCircuit::new(kind, sizes, Direction::Forward).expect("a circuit").circuit;
            let network = Network::of(&circuit);
            let mut random = Random::new(7);
            let words: Vec<u64> = network.inputs().iter().flat_map(|p| &p.signals).map(|_| random.word()).collect();
            for mapping in [Mapping::Cascade, Mapping::Balanced, Mapping::Aqfp] {
                let cells = CellNetwork::of(&circuit, mapping, Adder::Ripple).expect("cells");
                assert_eq!(cells.netlist(mapping), mapping.netlist(&circuit), "{name} {}", mapping.name());
                assert_eq!(cells.simulate(&words), network.simulate(&words), "{name} {}", mapping.name());
                let level = |number: usize| number.checked_sub(cells.first()).map_or(0, |n| cells.cells[n].level);
                for (n, placed) in cells.cells.iter().enumerate() {
                    for source in placed.fanins.iter().filter(|s| s.number > 0) {
                        assert!(source.number < cells.first() + n);
                        let below = level(source.number) + 1;
                        assert!(below == placed.level || below < placed.level && mapping == Mapping::Cascade, "{name}");
                    }
                }
                assert_eq!(CellNetwork::of(&circuit, Mapping::Rqfp, Adder::Ripple), None);
            }
        }
    }
}
