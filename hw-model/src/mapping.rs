//! Mappings: the netlists that technologies build for the circuits of instructions.
//!
//! A [`Netlist`] has what any discipline is charged for: how many cells of each kind there are, on how many levels, and for how many levels
//! each waits for the last. It is plain data, so that a bill can be computed again from it.

use std::collections::HashMap;
use std::iter::Sum;
use std::ops::Add;
use std::sync::{Mutex, OnceLock};

use pendula_isa::circuit::{Adder, Circuit, Role};
use pendula_isa::types::{Acc, Ty};

use crate::circuit::part::{Part, generate};
use crate::clocking::Pipeline;
use crate::compose::{self, Measure};
use crate::gate_counts::Shape;
use crate::network::{Aqfp, Network, Node};
use crate::work::CircuitKind;

/// A kind of cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cell {
    /// An AND of two signals or their complements.
    And,
    /// An exclusive or.
    Xor,
    /// The majority of three signals.
    Majority,
    /// A latch for a bit of a word that is changed.
    Latch,
    /// A stage that only carries a bit on, a buffer or a splitter.
    Buffer,
    /// NOT.
    Not,
    /// Controlled NOT.
    Cnot,
    /// Toffoli: NOT with two controls.
    Toffoli,
    /// Controlled exchange, Fredkin's gate.
    Cswap,
}

impl Cell {
    /// Every kind.
    pub const ALL: [Cell; 9] = [
        Cell::And,
        Cell::Xor,
        Cell::Majority,
        Cell::Latch,
        Cell::Buffer,
        Cell::Not,
        Cell::Cnot,
        Cell::Toffoli,
        Cell::Cswap,
    ];

    /// The key in technology files and in exports.
    pub const fn key(self) -> &'static str {
        match self {
            Cell::And => "and",
            Cell::Xor => "xor",
            Cell::Majority => "majority",
            Cell::Latch => "latch",
            Cell::Buffer => "buffer",
            Cell::Not => "not",
            Cell::Cnot => "cnot",
            Cell::Toffoli => "toffoli",
            Cell::Cswap => "cswap",
        }
    }
}

/// The cells of a kind in a netlist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellUse {
    /// How many there are.
    pub count: u64,
    /// The levels above each, summed over all of them: D − l for a cell on level l of D.
    pub above: u64,
}

/// What a circuit becomes in a mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Netlist {
    cells: [CellUse; Cell::ALL.len()],
    /// D: levels from the inputs to the outputs.
    pub levels: u64,
}

impl Netlist {
    /// The cells of a kind.
    pub const fn of(&self, cell: Cell) -> CellUse {
        self.cells[cell as usize]
    }

    /// The cells of all kinds that occur.
    pub fn cells(&self) -> impl Iterator<Item = (Cell, CellUse)> + use<> {
        let cells = self.cells;
        Cell::ALL.into_iter().map(move |cell| (cell, cells[cell as usize])).filter(|(_, n)| n.count > 0)
    }

    /// All cells.
    pub fn total(&self) -> u64 {
        self.cells.iter().map(|n| n.count).sum()
    }

    /// The sum over all cells of the figure of their kind.
    pub fn weigh(&self, each: impl Fn(Cell) -> f64) -> f64 {
        self.cells().map(|(cell, n)| n.count as f64 * each(cell)).sum()
    }

    pub(crate) fn add_cells(&mut self, cell: Cell, count: u64, above: u64) {
        let n = &mut self.cells[cell as usize];
        n.count += count;
        n.above += above;
    }

    fn zip(self, other: Netlist, f: impl Fn(u64, u64) -> u64) -> Netlist {
        let cells = std::array::from_fn(|n| CellUse {
            count: f(self.cells[n].count, other.cells[n].count),
            above: f(self.cells[n].above, other.cells[n].above),
        });
        Netlist { cells, levels: f(self.levels, other.levels) }
    }
}

/// One after the other: the levels add up.
impl Add for Netlist {
    type Output = Netlist;
    fn add(self, other: Netlist) -> Netlist {
        self.zip(other, u64::saturating_add)
    }
}

impl Sum for Netlist {
    fn sum<I: Iterator<Item = Netlist>>(all: I) -> Netlist {
        all.fold(Netlist::default(), Add::add)
    }
}

impl Measure for Netlist {
    fn without(self, part: Netlist) -> Netlist {
        self.zip(part, u64::saturating_sub)
    }

    fn scaled(self, part: u64, whole: u64) -> Netlist {
        self.zip(self, |n, _| compose::scaled(n, part, whole))
    }

    fn size(&self) -> u64 {
        self.total()
    }
}

/// How circuits become netlists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mapping {
    /// The conventional combinational network of what a circuit computes, without the way back.
    Cascade,
    /// The same with buffers, so that all ways to a gate have equally many levels.
    Balanced,
    /// The reversible gates themselves, a level a tick, with a stage for each wire that waits.
    Reversible,
    /// Majority gates of quantum-flux parametrons, with splitters and buffers.
    Aqfp,
    /// The reversible gates by the levels of reversible quantum-flux parametrons that they take: a CNOT 2, a Toffoli gate 3, a controlled exchange
    /// 5. A NOT is a coupling of the other sign.
    Rqfp,
}

impl Mapping {
    /// Every mapping.
    pub const ALL: [Mapping; 5] =
        [Mapping::Cascade, Mapping::Balanced, Mapping::Reversible, Mapping::Aqfp, Mapping::Rqfp];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Mapping::Cascade => "cascade",
            Mapping::Balanced => "balanced",
            Mapping::Reversible => "reversible",
            Mapping::Aqfp => "aqfp",
            Mapping::Rqfp => "rqfp",
        }
    }

    /// Whether the netlist is conventional logic: what it computes stays beside what it is computed from, and takes the latter's place by
    /// latches.
    pub const fn is_conventional(self) -> bool {
        match self {
            Mapping::Cascade | Mapping::Balanced | Mapping::Aqfp => true,
            Mapping::Reversible | Mapping::Rqfp => false,
        }
    }

    /// The netlist of a circuit; in conventional logic, carries ripple.
    pub fn netlist(self, circuit: &Circuit) -> Netlist {
        self.netlist_with(circuit, Adder::Ripple)
    }

    /// The netlist of a circuit. In conventional logic, carries are as this adder has them; reversible gates are what they are.
    pub fn netlist_with(self, circuit: &Circuit, adder: Adder) -> Netlist {
        let network = || Network::conventional(circuit, adder);
        match self {
            Mapping::Cascade => cascade(circuit, &network(), false),
            Mapping::Balanced => cascade(circuit, &network(), true),
            Mapping::Reversible => pipeline(circuit, Pipeline::of(circuit)),
            Mapping::Rqfp => pipeline(circuit, Pipeline::of_rqfp(circuit)),
            Mapping::Aqfp => {
                let cells = Aqfp::of(&network());
                let mut out = Netlist { levels: cells.levels, ..Netlist::default() };
                out.add_cells(Cell::Majority, cells.majorities, 0);
                out.add_cells(Cell::Buffer, cells.buffers, 0);
                out
            }
        }
    }

    /// What a unit becomes.
    pub fn unit(self, unit: CircuitKind, shape: Shape) -> UnitNetlists {
        type Known = HashMap<(CircuitKind, Mapping, Shape), UnitNetlists>;
        static KNOWN: OnceLock<Mutex<Known>> = OnceLock::new();
        let known = KNOWN.get_or_init(Mutex::default);
        let shape = if unit == CircuitKind::Memory { shape } else { Shape { memory: 0, ..shape } };
        let key = (unit, self, shape);
        if let Some(found) = known.lock().ok().and_then(|known| known.get(&key).copied()) {
            return found;
        }
        let made = tracing::debug_span!("netlist", ?unit, mapping = self.name()).in_scope(|| self.make(unit, shape));
        if let Ok(mut known) = known.lock() {
            known.insert(key, made);
        }
        made
    }

    fn make(self, unit: CircuitKind, shape: Shape) -> UnitNetlists {
        let width = shape.width as usize;
        let measured = |inverse: bool| {
            let of = |part: Part| match generate(part, width) {
                Ok(circuit) if inverse => self.netlist(&circuit.inverse()),
                Ok(circuit) => self.netlist(&circuit),
                // No such width: nothing is built.
                Err(_) => Netlist::default(),
            };
            compose::measure(unit, shape, self.is_conventional(), &of)
        };
        match unit {
            // The old sum stays until the new one is there, and is computed from it by a difference.
            CircuitKind::Accumulator(Acc::Add, Ty::F) if self.is_conventional() => {
                let mut sum = compose::float_sum(shape, &|part| {
                    generate(part, width).map(|c| self.netlist(&c)).unwrap_or_default()
                });
                if self != Mapping::Aqfp {
                    sum.add_cells(Cell::Latch, u64::from(shape.width), 0);
                }
                UnitNetlists { forward: sum, backward: Some(sum) }
            }
            CircuitKind::Function { func, xor } if !crate::gate_counts::is_fused(func, xor) => {
                UnitNetlists { forward: measured(false), backward: None }
            }
            CircuitKind::Defined { .. } => UnitNetlists { forward: measured(false), backward: None },
            // The same circuit, in the other direction.
            CircuitKind::Function { .. } | CircuitKind::Accumulator(..) | CircuitKind::Memory
                if self.is_conventional() =>
            {
                let forward = measured(false);
                UnitNetlists { forward, backward: Some(forward) }
            }
            _ if self.is_conventional() => UnitNetlists { forward: measured(false), backward: Some(measured(true)) },
            _ => UnitNetlists { forward: measured(false), backward: None },
        }
    }
}

/// What a unit becomes in a mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitNetlists {
    /// What computes values, or the new words.
    pub forward: Netlist,
    /// For words that conventional logic changes: what computes the old ones from the new ones.
    pub backward: Option<Netlist>,
}

fn pipeline(circuit: &Circuit, pipeline: Pipeline) -> Netlist {
    let gates = circuit.counts();
    let mut out = Netlist { levels: pipeline.levels, ..Netlist::default() };
    out.add_cells(Cell::Not, gates.not, 0);
    out.add_cells(Cell::Cnot, gates.cnot, 0);
    out.add_cells(Cell::Toffoli, gates.toffoli, 0);
    out.add_cells(Cell::Cswap, gates.cswap, 0);
    out.add_cells(Cell::Buffer, pipeline.carriers, 0);
    out
}

fn cascade(circuit: &Circuit, network: &Network, balanced: bool) -> Netlist {
    let levels = network.levels();
    let depth = u64::from(levels.iter().copied().max().unwrap_or(0));
    let mut out = Netlist { levels: depth, ..Netlist::default() };
    // The last level that reads each node.
    let mut last: Vec<u64> = levels.iter().map(|level| u64::from(*level)).collect();
    for (node, level) in network.nodes().iter().zip(&levels) {
        let cell = match node {
            Node::Zero | Node::Input(_) => continue,
            Node::And(..) => Cell::And,
            Node::Xor(..) => Cell::Xor,
            Node::Majority(..) => Cell::Majority,
        };
        let level = u64::from(*level);
        out.add_cells(cell, 1, depth - level);
        node.fanins().for_each(|s| last[s.node()] = last[s.node()].max(level - 1));
    }
    if balanced {
        for signal in network.outputs().iter().flat_map(|port| &port.signals) {
            last[signal.node()] = depth;
        }
        let waits = last.iter().zip(&levels).zip(network.nodes());
        let buffers = waits
            .filter(|(_, node)| !matches!(node, Node::Zero))
            .map(|((last, level), _)| last - u64::from(*level))
            .sum();
        out.add_cells(Cell::Buffer, buffers, 0);
    }
    let targets = circuit.registers().iter().filter(|r| r.role == Role::Target);
    out.add_cells(Cell::Latch, targets.map(|r| r.wires.len() as u64).sum(), 0);
    out
}
