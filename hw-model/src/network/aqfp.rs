//! Networks of adiabatic quantum-flux parametrons (AQFP).
//!
//! The cells and their junctions are those of the libraries that AQFP synthesis uses (Testa, Lee, Riener and De Micheli, ASP-DAC 2021): a buffer,
//! an inverter, and a splitter into at most four have 2 Josephson junctions, a majority, and an AND or OR, which is a majority with a constant,
//! 6. Each is a level. The complement of an operand is a coupling of the other sign in the gate that reads it, without a cell. All operands of
//! a gate come from the level below it: what is older waits in buffers, and what several gates read is split. Inputs are split, too, and
//! all outputs come at the same level.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::cells::{self, CellNetwork, PlacedCell, Source, Unsorted};
use super::{Network, Node, Signal};
use crate::mapping;

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

/// The three bits of which a gate is the majority; an input has none.
struct Cell(Option<[Bit; 3]>);

/// What a cell reads: the output of another, a constant, or the complement of either.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Bit(u32);

impl Bit {
    const ZERO: Bit = Bit(0);
    const ONE: Bit = Bit(1);

    /// The output of a cell, by its number.
    const fn of(cell: u32) -> Bit {
        Bit((cell + 1) << 1)
    }

    /// The number of the cell that it comes from; a constant comes from none.
    const fn source(self) -> Option<usize> {
        ((self.0 >> 1) as usize).checked_sub(1)
    }

    const fn is_complement(self) -> bool {
        self.0 & 1 == 1
    }

    /// The complement if `c`.
    const fn complement_if(self, c: bool) -> Bit {
        Bit(self.0 ^ c as u32)
    }

    const fn complement(self) -> Bit {
        self.complement_if(true)
    }
}

impl Cell {
    /// The three bits.
    fn inputs(&self) -> &[Bit] {
        self.0.as_ref().map_or(&[], |inputs| inputs)
    }

    /// The sources of those that are not constants.
    fn operands(&self) -> impl Iterator<Item = usize> + '_ {
        self.inputs().iter().filter_map(|bit| bit.source())
    }
}

impl Aqfp {
    /// The cells that a network [with majorities](Network::with_majorities) takes.
    pub fn of(network: &Network) -> Aqfp {
        let (cells, outputs) = mapped(network);
        cells.balanced(&used_sources(&outputs))
    }

    /// The cells themselves.
    pub fn cells(network: &Network) -> CellNetwork {
        let (cells, outputs) = mapped(network);
        cells.placed(network, &outputs)
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

/// The sources of the outputs' bits.
fn used_sources(outputs: &[Bit]) -> Vec<usize> {
    outputs.iter().filter_map(|bit| bit.source()).collect()
}

/// The gates of a network with majorities, without buffers and splitters, and the sources of its outputs' bits.
fn mapped(network: &Network) -> (Cells, Vec<Bit>) {
    let mut cells = Cells::default();
    let sums = full_sums(network);
    // For each node its cell, and whether it is the complement.
    let mut sources: Vec<Bit> = vec![Bit::ZERO; network.nodes().len()];
    for (at, node) in network.nodes().iter().enumerate() {
        let of = |s: Signal| sources[s.node()].complement_if(s.is_complement());
        sources[at] = match *node {
            Node::Zero => Bit::ZERO,
            Node::Input(_) => cells.add(None),
            Node::And(a, b) => cells.add(Some([of(a), of(b), Bit::ZERO])),
            Node::Majority(a, b, c) => cells.add(Some([of(a), of(b), of(c)])),
            Node::Xor(a, b) => match sums.get(&at) {
                // The sum of three bits, with their majority m: the majority of ¬m, z and the majority of x, y and ¬z. The majority may be that of
                // their complements, of which an odd number makes the complement of the sum.
                Some([x, y, z, m]) => {
                    let inner = cells.add(Some([of(*x), of(*y), of(*z).complement()]));
                    let sum = cells.add(Some([of(*m).complement(), of(*z), inner]));
                    sum.complement_if([x, y, z].iter().filter(|s| s.is_complement()).count() % 2 == 1)
                }
                // One of them, but not both, which an adder has anyway.
                None => {
                    let [one, both] = [Bit::ONE, Bit::ZERO].map(|k| cells.add(Some([of(a), of(b), k])));
                    cells.add(Some([one, both.complement(), Bit::ZERO]))
                }
            },
        };
    }
    let outputs = network.outputs().iter().flat_map(|port| &port.signals);
    let outputs = outputs.map(|s| sources[s.node()].complement_if(s.is_complement())).collect();
    (cells, outputs)
}

/// Exclusive ors of three signals whose majority is there, too: the signals, as the majority has them, and it.
fn full_sums(network: &Network) -> FxHashMap<usize, [Signal; 4]> {
    let key = |mut signals: [Signal; 3]| {
        signals.sort_unstable();
        signals.map(Signal::node)
    };
    let nodes = network.nodes();
    let majorities: FxHashMap<[usize; 3], usize> = nodes
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
            let Node::Majority(a, b, c) = nodes[*majority] else { return None };
            // As the majority has them.
            let own = |s: Signal| [a, b, c].into_iter().find(|own| own.node() == s.node()).unwrap_or(s);
            Some((at, [own(x), own(y), own(z), Signal::of(*majority)]))
        })
    };
    nodes.iter().enumerate().filter_map(sum).collect()
}

#[derive(Default)]
struct Cells {
    cells: Vec<Cell>,
    known: FxHashMap<[Bit; 3], u32>,
}

impl Cells {
    /// A gate, or an input. Constants are part of it. Equal gates are one.
    fn add(&mut self, inputs: Option<[Bit; 3]>) -> Bit {
        let new = self.cells.len() as u32;
        if let Some(mut key) = inputs {
            key.sort_unstable();
            match self.known.entry(key) {
                Entry::Occupied(known) => return Bit::of(*known.get()),
                Entry::Vacant(place) => place.insert(new),
            };
        }
        self.cells.push(Cell(inputs));
        Bit::of(new)
    }

    /// Puts every cell on the first level that its operands and their splitters allow, and counts what makes the ways equally long.
    fn balanced(&self, outputs: &[usize]) -> Aqfp {
        let used = self.used(outputs);
        let (levels, last) = self.levels(&used, outputs);
        // The levels of each cell's readers, those of all cells behind each other; `ends` is where those of a cell end.
        let mut ends = vec![0usize; self.cells.len()];
        for source in self.reads(&used).chain(outputs.iter().copied()) {
            ends[source] += 1;
        }
        let mut all = 0;
        for end in &mut ends {
            all += std::mem::replace(end, all);
        }
        let mut readers = vec![0u64; all];
        let mut put = |source: usize, level: u64| {
            readers[ends[source]] = level;
            ends[source] += 1;
        };
        for (at, cell) in self.cells.iter().enumerate().filter(|(at, _)| used[*at]) {
            cell.operands().for_each(|s| put(s, levels[at]));
        }
        outputs.iter().for_each(|s| put(*s, last));
        let mut start = 0;
        let mut buffers = 0;
        for (end, level) in ends.into_iter().zip(&levels) {
            buffers += chain(*level, &mut readers[start..end]);
            start = end;
        }
        let gates = self.cells.iter().enumerate().filter(|(at, cell)| used[*at] && cell.0.is_some());
        Aqfp { majorities: gates.count() as u64, buffers, levels: last.saturating_sub(1) }
    }

    /// The first level that each cell's operands and their splitters allow, and that on which all outputs are read.
    fn levels(&self, used: &[bool], outputs: &[usize]) -> (Vec<u64>, u64) {
        let mut fanouts = vec![0usize; self.cells.len()];
        for source in self.reads(used).chain(outputs.iter().copied()) {
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
            let ready = cell.operands().map(|s| levels[s] + splits(fanouts[s]) + 1);
            levels[at] = ready.max().unwrap_or(0);
        }
        let last = outputs.iter().map(|s| levels[*s] + splits(fanouts[*s])).max().unwrap_or(0) + 1;
        (levels, last)
    }

    /// The cells that are counted, with their buffers and splitters.
    fn placed(&self, network: &Network, outputs: &[Bit]) -> CellNetwork {
        let sources = used_sources(outputs);
        let used = self.used(&sources);
        let (levels, last) = self.levels(&used, &sources);
        let inputs = cells::inputs(network);
        let mut made = Unsorted::new(1 + inputs.iter().map(|(_, width)| width).sum::<usize>());
        // Inputs are the first cells without operands, in their order.
        let (mut number, mut bits) = (vec![0; self.cells.len()], 0);
        for (at, cell) in self.cells.iter().enumerate() {
            if cell.0.is_none() {
                bits += 1;
                number[at] = bits;
            } else if used[at] {
                let fanins = cell.inputs().iter().map(|bit| Source { number: 0, complement: bit.is_complement() });
                let placed = PlacedCell { cell: mapping::Cell::Majority, fanins: fanins.collect(), level: levels[at] };
                number[at] = made.add(placed);
            }
        }
        // Who reads each cell: on its level, an operand of a cell, or without one a bit of the outputs.
        let mut readers: Vec<Vec<(u64, Reader)>> = vec![Vec::new(); self.cells.len()];
        for (at, cell) in self.cells.iter().enumerate().filter(|(at, _)| used[*at]) {
            for (operand, bit) in cell.inputs().iter().enumerate() {
                if let Some(source) = bit.source() {
                    readers[source].push((levels[at], Reader::Cell(number[at], operand)));
                }
            }
        }
        for (bit, output) in outputs.iter().enumerate() {
            if let Some(source) = output.source() {
                readers[source].push((last, Reader::Output(bit)));
            }
        }
        let mut ends = vec![0; outputs.len()];
        for (at, readers) in readers.into_iter().enumerate() {
            tree(&mut made, (number[at], levels[at]), readers, &mut ends);
        }
        let mut bits =
            ends.iter().zip(outputs).map(|(end, bit)| Source { number: *end, complement: bit.is_complement() });
        let outputs = cells::outputs(network, |_| Source::plain(0)).into_iter().map(|mut output| {
            output.bits.iter_mut().zip(&mut bits).for_each(|(bit, source)| *bit = source);
            output
        });
        let outputs = outputs.collect();
        made.sorted(inputs, outputs, last.saturating_sub(1))
    }

    /// The cells that an output depends on.
    fn used(&self, outputs: &[usize]) -> Vec<bool> {
        let mut used = vec![false; self.cells.len()];
        outputs.iter().for_each(|s| used[*s] = true);
        for at in (0..self.cells.len()).rev() {
            if used[at] {
                self.cells[at].operands().for_each(|s| used[s] = true);
            }
        }
        used
    }

    fn reads<'c>(&'c self, used: &'c [bool]) -> impl Iterator<Item = usize> + 'c {
        self.cells.iter().zip(used).filter(|(_, used)| **used).flat_map(|(cell, _)| cell.operands())
    }
}

/// The fewest buffers and splitters between a source and its readers: from the last reader's level down, each splits into as many as it can.
fn chain(source: u64, readers: &mut [u64]) -> u64 {
    readers.sort_unstable_by(|a, b| b.cmp(a));
    let (mut total, mut above) = (0, 0u64);
    let mut readers = readers.iter().copied().peekable();
    let Some(mut level) = readers.peek().copied() else { return 0 };
    while level > source + 1 {
        let mut wires = above;
        while readers.next_if_eq(&level).is_some() {
            wires += 1;
        }
        above = wires.div_ceil(SPLITS as u64);
        total += above;
        level -= 1;
        // A bit waits in one buffer on each level until the next reader.
        if above == 1 {
            let next = readers.peek().copied().unwrap_or(source + 1).max(source + 1);
            total += level - next;
            level = next;
        }
    }
    total
}

/// Who reads a bit.
#[derive(Clone, Copy)]
enum Reader {
    /// An operand of a cell.
    Cell(usize, usize),
    /// A bit of the outputs.
    Output(usize),
}

/// Makes the buffers and splitters that [`chain`] counts.
fn tree(made: &mut Unsorted, (source, level_of): (usize, u64), mut readers: Vec<(u64, Reader)>, ends: &mut [usize]) {
    readers.sort_by_key(|(level, _)| std::cmp::Reverse(*level));
    let Some((mut level, _)) = readers.first().copied() else { return };
    let mut readers = readers.into_iter().peekable();
    let mut above: Vec<Reader> = Vec::new();
    let connect = |made: &mut Unsorted, ends: &mut [usize], reader: Reader, to: usize| match reader {
        Reader::Cell(cell, operand) => made.set_fanin(cell, operand, to),
        Reader::Output(bit) => ends[bit] = to,
    };
    loop {
        let mut wires = std::mem::take(&mut above);
        while let Some((_, reader)) = readers.next_if(|(at, _)| *at == level) {
            wires.push(reader);
        }
        if level == level_of + 1 {
            wires.into_iter().for_each(|reader| connect(made, ends, reader, source));
            return;
        }
        for group in wires.chunks(SPLITS) {
            let fanins = vec![Source::plain(0)];
            let buffer = made.add(PlacedCell { cell: mapping::Cell::Buffer, fanins, level: level - 1 });
            group.iter().for_each(|reader| connect(made, ends, *reader, buffer));
            above.push(Reader::Cell(buffer, 0));
        }
        level -= 1;
    }
}
