//! Networks of adiabatic quantum-flux parametrons (AQFP).
//!
//! The cells and their junctions are those of the libraries that AQFP synthesis uses (Testa, Lee, Riener and De Micheli, ASP-DAC 2021): a buffer,
//! an inverter, and a splitter into at most four have 2 Josephson junctions, a majority, and an AND or OR, which is a majority with a constant,
//! 6. Each is a level. The complement of an operand is a coupling of the other sign in the gate that reads it, without a cell. All operands of
//! a gate come from the level below it: what is older waits in buffers, and what several gates read is split. Inputs are split, too, and
//! all outputs come at the same level.

use std::collections::HashMap;

use super::{Network, Node, Signal};

/// Junctions of a majority gate.
const MAJORITY: u64 = 6;
/// Junctions of a buffer, an inverter or a splitter.
const BUFFER: u64 = 2;
/// The most signals that a splitter makes.
const SPLITS: usize = 4;

/// The cells of a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aqfp {
    /// Majorities, also as AND and OR.
    pub majorities: u64,
    /// Buffers and splitters.
    pub buffers: u64,
    /// Levels from the inputs to the outputs.
    pub levels: u64,
}

/// A gate, by the numbers of the sources of its operands. Complements do not count.
struct Cell {
    operands: Vec<usize>,
}

impl Aqfp {
    /// The cells that a network takes.
    pub fn of(network: &Network) -> Aqfp {
        let network = network.with_majorities();
        let mut cells = Cells::default();
        let sums = full_sums(&network);
        let mut sources: Vec<Option<usize>> = vec![None; network.nodes().len()];
        for (at, node) in network.nodes().iter().enumerate() {
            sources[at] = match *node {
                Node::Zero => None,
                Node::Input(_) => Some(cells.add(&[])),
                Node::And(a, b) => Some(cells.gate(&sources, &[a, b])),
                Node::Majority(a, b, c) => Some(cells.gate(&sources, &[a, b, c])),
                Node::Xor(a, b) => match sums.get(&at) {
                    // The sum of three bits, with their majority m: the majority of ¬m, c and the majority of a, b and ¬c.
                    Some([x, y, z, m]) => {
                        let inner = cells.gate(&sources, &[*x, *y, *z]);
                        let of = |s: &Signal| sources[s.node()];
                        let operands: Vec<usize> = [of(m), of(z), Some(inner)].into_iter().flatten().collect();
                        Some(cells.add(&operands))
                    }
                    None => {
                        let halves = [cells.gate(&sources, &[a, b]), cells.gate(&sources, &[a, b])];
                        Some(cells.add(&halves))
                    }
                },
            };
        }
        let outputs = network.outputs().iter().flat_map(|port| &port.signals);
        let outputs: Vec<usize> = outputs.filter_map(|s| sources[s.node()]).collect();
        cells.balanced(&outputs)
    }

    /// The cycles from the inputs to the outputs: a level takes one of four phases.
    pub const fn cycles(&self) -> u64 {
        self.levels.div_ceil(4)
    }

    /// All junctions. The clock excites each of them in every cycle.
    pub const fn junctions(&self) -> u64 {
        MAJORITY * self.majorities + BUFFER * self.buffers
    }
}

/// Exclusive ors of three signals whose majority is there, too: the signals and it.
fn full_sums(network: &Network) -> HashMap<usize, [Signal; 4]> {
    let key = |mut signals: [Signal; 3]| {
        signals.sort_unstable();
        signals.map(Signal::node)
    };
    let nodes = network.nodes();
    let majorities: HashMap<[usize; 3], usize> = nodes
        .iter()
        .enumerate()
        .filter_map(|(at, node)| match *node {
            Node::Majority(a, b, c) => Some((key([a, b, c]), at)),
            _ => None,
        })
        .collect();
    let sum = |(at, node): (usize, &Node)| {
        let Node::Xor(a, b) = *node else { return None };
        [(a, b), (b, a)].into_iter().find_map(|(pair, z)| {
            let Node::Xor(x, y) = nodes[pair.node()] else { return None };
            let majority = majorities.get(&key([x, y, z])).filter(|majority| **majority < at)?;
            Some((at, [x, y, z, Signal::of(*majority)]))
        })
    };
    nodes.iter().enumerate().filter_map(sum).collect()
}

#[derive(Default)]
struct Cells {
    cells: Vec<Cell>,
}

impl Cells {
    fn add(&mut self, operands: &[usize]) -> usize {
        self.cells.push(Cell { operands: operands.to_vec() });
        self.cells.len() - 1
    }

    /// A gate on signals. Constants are part of it.
    fn gate(&mut self, sources: &[Option<usize>], operands: &[Signal]) -> usize {
        let operands: Vec<usize> = operands.iter().filter_map(|s| sources[s.node()]).collect();
        self.add(&operands)
    }

    /// Puts every cell on the first level that its operands and their splitters allow, and counts what makes the ways equally long.
    fn balanced(&self, outputs: &[usize]) -> Aqfp {
        let used = self.used(outputs);
        let mut fanouts = vec![0usize; self.cells.len()];
        for source in self.reads(&used).chain(outputs.iter().copied()) {
            fanouts[source] += 1;
        }
        // A tree of splitters has as many levels as it takes to reach all readers.
        let splits = |fanout: usize| {
            let mut levels = 0;
            let mut ends = 1;
            while ends < fanout {
                ends *= SPLITS;
                levels += 1;
            }
            levels
        };
        let mut levels = vec![0u64; self.cells.len()];
        for (at, cell) in self.cells.iter().enumerate() {
            let ready = cell.operands.iter().map(|s| levels[*s] + splits(fanouts[*s]) + 1);
            levels[at] = ready.max().unwrap_or(0);
        }
        let last = outputs.iter().map(|s| levels[*s] + splits(fanouts[*s])).max().unwrap_or(0) + 1;
        let mut readers: Vec<Vec<u64>> = vec![Vec::new(); self.cells.len()];
        for (at, cell) in self.cells.iter().enumerate().filter(|(at, _)| used[*at]) {
            cell.operands.iter().for_each(|s| readers[*s].push(levels[at]));
        }
        outputs.iter().for_each(|s| readers[*s].push(last));
        let buffers = readers.into_iter().enumerate().map(|(at, readers)| chain(levels[at], readers)).sum();
        let gates = self.cells.iter().enumerate().filter(|(at, cell)| used[*at] && !cell.operands.is_empty());
        Aqfp { majorities: gates.count() as u64, buffers, levels: last.saturating_sub(1) }
    }

    /// The cells that an output depends on.
    fn used(&self, outputs: &[usize]) -> Vec<bool> {
        let mut used = vec![false; self.cells.len()];
        outputs.iter().for_each(|s| used[*s] = true);
        for at in (0..self.cells.len()).rev() {
            if used[at] {
                self.cells[at].operands.iter().for_each(|s| used[*s] = true);
            }
        }
        used
    }

    fn reads<'c>(&'c self, used: &'c [bool]) -> impl Iterator<Item = usize> + 'c {
        self.cells.iter().zip(used).filter(|(_, used)| **used).flat_map(|(cell, _)| cell.operands.iter().copied())
    }
}

/// The fewest buffers and splitters between a source and its readers: from the last reader's level down, each splits into as many as it can.
fn chain(source: u64, mut readers: Vec<u64>) -> u64 {
    readers.sort_unstable_by(|a, b| b.cmp(a));
    let (mut total, mut above) = (0, 0u64);
    let mut readers = readers.into_iter().peekable();
    let Some(mut level) = readers.peek().copied() else { return 0 };
    while level > source + 1 || readers.peek().is_some() {
        let mut wires = above;
        while readers.next_if_eq(&level).is_some() {
            wires += 1;
        }
        if level == source + 1 {
            break;
        }
        above = wires.div_ceil(SPLITS as u64);
        total += above;
        level -= 1;
    }
    total
}
