//! Everything that a bill is computed from, as plain data: the technology's figures, the conditions, what the run used and how often, the netlists of
//! that, and where a unit is laid out as a whole, its gates. `tests/recompute/recompute.py` computes the bill again from it, by formulas of its own.

use std::collections::BTreeMap;

use pendula_isa::circuit::{Circuit, Gate, Role};
use pendula_isa::table::{Flow, Row, TableFn, Variant};
use pendula_isa::types::{Acc, Cond, Ty};
use serde::Serialize;

use super::{PricedRun, unit_name};
use crate::circuit::part::{self, Accumulator, CircuitFn, Part, generate};
use crate::compose;
use crate::gate_counts::{Shape, is_fused};
use crate::mapping::{Mapping, Netlist, UnitNetlists};
use crate::network::{Network, Node, Signal};
use crate::physics::Ramp;
use crate::price::{Cause, Device, Totals, WORD};
use crate::technology::{Clock, Logic};
use crate::work::{CircuitKind, CircuitUsage};

/// The most nodes or gates of a circuit that is written out.
const WRITTEN: usize = 20_000;

/// A bill, and everything that it is computed from.
#[derive(Clone, Debug, Serialize)]
pub struct Audit {
    /// The name of the technology.
    pub technology: String,
    /// What its file says in words.
    pub settings: Settings,
    /// The figures of its file by table and key, each with how it is known.
    pub figures: BTreeMap<String, AuditFigure>,
    /// The conditions.
    pub conditions: AuditConditions,
    /// What the run did.
    pub counts: AuditCounts,
    /// The units that it used.
    pub units: Vec<Unit>,
    /// Those that erasing takes of words left dirty.
    pub erasing: Vec<Unit>,
    /// The unit that counts the program counter on, once for each instruction.
    pub program_counter: Unit,
    /// The units that are there whether they are used or not.
    pub unrolled: Vec<Unit>,
    /// Those of which a slice is there.
    pub iterative: Vec<Unit>,
    /// The units whose energies are published, by key of the table `operation_joule`; empty for other technologies.
    pub references: BTreeMap<&'static str, Unit>,
    /// Joules by cause: the bill that is to be found.
    pub bill: BTreeMap<&'static str, f64>,
    /// Their sum.
    pub total: f64,
    /// Joules at the plug.
    pub at_the_plug: f64,
}

/// What a technology's file says in words.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// How gates are made and clocked.
    pub discipline: &'static str,
    /// How circuits become netlists; nothing if they cost nothing.
    pub mapping: Option<&'static str>,
    /// The shape of ramps: `linear` or `sine`.
    pub ramp: Option<&'static str>,
    /// `ideal`, `resonant` or `recovered`.
    pub clock: Option<&'static str>,
    /// Fetching and decoding, if the file has them.
    pub processor: bool,
    /// Memory, if the file has a table of it.
    pub memory: bool,
}

/// A figure.
#[derive(Clone, Debug, Serialize)]
pub struct AuditFigure {
    /// The low end of its range.
    pub low: f64,
    /// The value that is used.
    pub nominal: f64,
    /// The high end.
    pub high: f64,
    /// How it is known.
    pub status: &'static str,
}

/// The conditions of a bill.
#[derive(Clone, Debug, Serialize)]
pub struct AuditConditions {
    /// Cycles a second, of clocked logic.
    pub hertz: Option<f64>,
    /// The supply voltage, of ramped logic.
    pub volt: Option<f64>,
    /// The temperature.
    pub kelvin: f64,
    /// Words of memory that are billed.
    pub memory_words: u64,
    /// Bits in a word.
    pub width: u32,
}

/// What a run did.
#[derive(Clone, Debug, Serialize)]
pub struct AuditCounts {
    /// Instructions.
    pub instructions: u64,
    /// Register operands of these.
    pub register_reads: u64,
    /// Register operands that they change.
    pub register_writes: u64,
    /// Bits from the host.
    pub bits_in: u64,
    /// Bits to the host.
    pub bits_out: u64,
    /// Bits destroyed by instructions.
    pub bits_lost: u64,
    /// Registers that are left dirty and erased.
    pub dirty_registers: u64,
    /// Words of memory that are.
    pub dirty_memory: u64,
}

/// A unit and its netlists.
#[derive(Clone, Debug, Serialize)]
pub struct Unit {
    /// Its name: the gate class, and the name within it.
    pub name: String,
    /// How often it is used.
    pub times: u64,
    /// Whether it is the access to a word of memory.
    pub memory: bool,
    /// The published operation that stands for it, of conventional CMOS.
    pub reference: Option<&'static str>,
    /// What computes values, or new words.
    pub forward: Cells,
    /// What computes the old words from the new ones.
    pub backward: Option<Cells>,
    /// For a function, the accumulator for which its value stays.
    pub stays_for: Option<Box<Unit>>,
    /// What `forward` is made of, if that is written out.
    pub forward_parts: Vec<Summand>,
    /// What `backward` is made of, if that is written out.
    pub backward_parts: Vec<Summand>,
}

/// A netlist.
#[derive(Clone, Debug, Serialize)]
pub struct Cells {
    /// D: its levels.
    pub levels: u64,
    /// For each kind of cell, how many there are, and the levels above each of them, summed.
    pub cells: BTreeMap<&'static str, (u64, u64)>,
}

/// A circuit that is added to what a unit is made of, or taken away: a function is what stands before its accumulator.
#[derive(Clone, Debug, Serialize)]
pub struct Summand {
    /// Whether it is taken away; no number becomes less than zero.
    pub without: bool,
    /// The circuit.
    pub layout: Layout,
}

/// A circuit, gate by gate.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// A combinational network.
    Network {
        /// Nodes in the order of their numbers: the kind, and the signals that it is computed from, twice the number of a node, and one more for its
        /// complement.
        nodes: Vec<(&'static str, Vec<usize>)>,
        /// The signals of its outputs.
        outputs: Vec<usize>,
        /// Bits of the words that it changes.
        targets: u64,
    },
    /// Reversible gates.
    Gates {
        /// The gates in their order, each with its wires, the targets last.
        gates: Vec<(&'static str, Vec<u32>)>,
        /// The wires of registers; the others are ancillas.
        registers: Vec<u32>,
    },
}

impl Cells {
    fn of(netlist: Netlist) -> Cells {
        Cells {
            levels: netlist.levels,
            cells: netlist.cells().map(|(cell, n)| (cell.key(), (n.count, n.above))).collect(),
        }
    }
}

impl Layout {
    fn of(circuit: &Circuit, mapping: Mapping) -> Option<Layout> {
        if matches!(mapping, Mapping::Reversible | Mapping::Rqfp) {
            let gates = circuit.gates().iter().map(|gate| match *gate {
                Gate::Not(a) => ("not", vec![a]),
                Gate::Cnot(a, b) => ("cnot", vec![a, b]),
                Gate::Toffoli(a, b, c) => ("toffoli", vec![a, b, c]),
                Gate::Cswap(a, b, c) => ("cswap", vec![a, b, c]),
            });
            let registers = circuit.registers().iter().filter(|r| r.role != Role::Ancilla);
            let registers = registers.flat_map(|r| r.wires.iter().copied()).collect();
            return (circuit.gates().len() <= WRITTEN).then(|| Layout::Gates { gates: gates.collect(), registers });
        }
        let network = Network::of(circuit).with_majorities();
        if network.nodes().len() > WRITTEN {
            return None;
        }
        let number = |s: Signal| 2 * s.node() + usize::from(s.is_complement());
        let nodes = network.nodes().iter().map(|node| {
            let kind = match node {
                Node::Zero => "zero",
                Node::Input(_) => "input",
                Node::And(..) => "and",
                Node::Xor(..) => "xor",
                Node::Majority(..) => "majority",
            };
            (kind, node.fanins().map(number).collect())
        });
        let targets = circuit.registers().iter().filter(|r| r.role == Role::Target);
        Some(Layout::Network {
            nodes: nodes.collect(),
            outputs: network.outputs().iter().flat_map(|port| &port.signals).map(|s| number(*s)).collect(),
            targets: targets.map(|r| r.wires.len() as u64).sum(),
        })
    }
}

/// What units are looked up with.
struct Units {
    mapping: Option<Mapping>,
    shape: Shape,
    conventional: bool,
}

impl Units {
    /// A unit, written out gate by gate if it is not too large.
    fn unit(&self, unit: CircuitKind, times: u64) -> Unit {
        let counted = self.counted(unit, times);
        let backward_parts = if counted.backward.is_some() { self.parts(unit, true) } else { Vec::new() };
        Unit { forward_parts: self.parts(unit, false), backward_parts, ..counted }
    }

    /// A unit with the numbers of its cells only.
    fn counted(&self, unit: CircuitKind, times: u64) -> Unit {
        let netlists = self.mapping.map(|m| m.unit(unit, self.shape)).unwrap_or_default();
        let UnitNetlists { forward, backward } = netlists;
        let fused = matches!(unit, CircuitKind::Function { func, xor } if is_fused(func, xor));
        let accumulator = compose::accumulator_unit(unit).filter(|_| backward.is_none() && !fused);
        let stays_for = accumulator.map(|accumulator| Box::new(self.counted(accumulator, 0)));
        Unit {
            name: format!("{}.{}", unit.class().key(), unit_name(unit)),
            times,
            memory: unit == CircuitKind::Memory,
            reference: self.conventional.then(|| reference_key(unit)),
            forward: Cells::of(forward),
            backward: backward.map(Cells::of),
            stays_for,
            forward_parts: Vec::new(),
            backward_parts: Vec::new(),
        }
    }

    fn uses(&self, work: &CircuitUsage) -> Vec<Unit> {
        work.uses().map(|(unit, times)| self.unit(unit, times)).collect()
    }

    /// What a unit is made of, if that is one circuit, or two of which one is taken away.
    fn parts(&self, unit: CircuitKind, backward: bool) -> Vec<Summand> {
        let Some(mapping) = self.mapping else { return Vec::new() };
        let width = self.shape.width as usize;
        let inverse = backward && matches!(unit, CircuitKind::Row { .. });
        let one = |part: Part, without: bool| {
            let circuit = generate(part, width).ok()?;
            let circuit = if inverse { circuit.inverse() } else { circuit };
            Some(Summand { without, layout: Layout::of(&circuit, mapping)? })
        };
        let parts = self.made_of(unit, mapping);
        parts.into_iter().map(|(part, without)| one(part, without)).collect::<Option<Vec<_>>>().unwrap_or_default()
    }

    fn made_of(&self, unit: CircuitKind, mapping: Mapping) -> Vec<(Part, bool)> {
        let (width, frac) = (self.shape.width as usize, self.shape.frac as usize);
        let wire = |accumulator| Part::Accumulate(accumulator, CircuitFn::Wire);
        match unit {
            CircuitKind::Accumulator(Acc::Xor, _) => vec![(wire(Accumulator::Xor), false)],
            CircuitKind::Accumulator(Acc::Add, Ty::Int | Ty::Q | Ty::L) => {
                vec![(wire(Accumulator::AddOrSubtract), false)]
            }
            CircuitKind::Accumulator(Acc::Mul, _) => vec![(wire(Accumulator::MultiplyLog), false)],
            // Doubles are added by a kernel, which is entered twice.
            CircuitKind::Accumulator(Acc::Add, Ty::F) | CircuitKind::Memory => Vec::new(),
            CircuitKind::Function { func, xor } => {
                let computed = CircuitFn::Table { func, frac };
                let entered =
                    if matches!(func.info().ty, Ty::F | Ty::L) { Accumulator::Xor } else { compose::accumulator(xor) };
                if !part::stand_ins(func, width, frac).is_empty() {
                    Vec::new()
                } else if part::is_fused(entered, computed, width) {
                    vec![(Part::Accumulate(entered, computed), false)]
                } else if mapping.is_conventional() {
                    vec![(Part::Accumulate(Accumulator::Xor, computed), false), (wire(Accumulator::Xor), true)]
                } else {
                    Vec::new()
                }
            }
            CircuitKind::Defined { extension, .. } => {
                let whole = Part::Defined { extension, frac };
                match generate(whole, width) {
                    Ok(_) => vec![(whole, false), (wire(Accumulator::Xor), true)],
                    Err(_) => Vec::new(),
                }
            }
            CircuitKind::Row { row, ty, cond, form, .. } => {
                let (info, variant) = (row.info(), Variant { ty, cond, form });
                let plain = info.flow == Flow::Straight && !info.moves_sp;
                match part::row_stand_ins(row, variant, width, frac) {
                    Some(others) if plain && others.is_empty() => vec![(Part::Row { row, variant, frac }, false)],
                    _ => Vec::new(),
                }
            }
        }
    }
}

/// The key of the published energy that stands for a unit.
fn reference_key(unit: CircuitKind) -> &'static str {
    let reference = crate::price::reference_unit(unit.class());
    REFERENCES.iter().find(|(_, class)| crate::price::reference_unit(*class) == reference).map_or("", |(key, _)| key)
}

/// A class for which each published energy stands.
const REFERENCES: [(&str, pendula_isa::GateClass); 4] = [
    ("int32_add", pendula_isa::GateClass::Add),
    ("int32_mul", pendula_isa::GateClass::Multiply),
    ("fp32_add", pendula_isa::GateClass::FloatAdd),
    ("fp32_mul", pendula_isa::GateClass::FloatMultiply),
];

impl Audit {
    /// What the bill of a run is computed from.
    pub fn of(priced: &PricedRun<'_>) -> Audit {
        let PricedRun { device, bill, totals, .. } = priced;
        let energy = device.energy();
        let shape = device.shape();
        let conventional = matches!(energy.logic, Logic::Static(_));
        let units = Units { mapping: energy.logic.mapping(), shape, conventional };
        let half = Shape { width: WORD / 2, frac: shape.frac / 2, memory: 0 };
        let references = Units { shape: half, ..units };
        let count = CircuitKind::Row { row: Row::Inc, ty: Ty::Int, cond: Cond::Always, form: false, inverse: false };
        let list = |functions: &[TableFn]| -> Vec<Unit> {
            functions.iter().map(|func| units.counted(CircuitKind::Function { func: *func, xor: false }, 0)).collect()
        };
        let figures =
            device.technology().figures().into_iter().map(|f| {
                (f.key, AuditFigure { low: f.low, nominal: f.nominal, high: f.high, status: f.status.name() })
            });
        Audit {
            technology: device.technology().name().to_string(),
            settings: settings(device),
            figures: figures.collect(),
            conditions: AuditConditions {
                hertz: device.hertz(),
                volt: device.volt(),
                kelvin: device.kelvin(),
                memory_words: shape.memory,
                width: shape.width,
            },
            counts: AuditCounts {
                instructions: totals.instructions,
                register_reads: totals.register_reads,
                register_writes: totals.register_writes,
                bits_in: totals.bits_in,
                bits_out: totals.bits_out,
                bits_lost: totals.bits_lost,
                dirty_registers: totals.dirty.registers,
                dirty_memory: totals.dirty.memory,
            },
            units: units.uses(&totals.work),
            erasing: units.uses(&Totals::erasing(totals.dirty, u64::from(shape.width)).work),
            program_counter: units.unit(count, 0),
            unrolled: list(&energy.datapath.unrolled),
            iterative: list(&energy.datapath.iterative),
            references: REFERENCES
                .iter()
                .filter(|_| conventional)
                .map(|(key, class)| (*key, references.counted(crate::price::reference_unit(*class), 0)))
                .collect(),
            bill: Cause::ALL.into_iter().map(|cause| (cause.name(), bill.total()[cause])).collect(),
            total: bill.total().total(),
            at_the_plug: bill.total().total() * device.plug(),
        }
    }
}

fn settings(device: &Device<'_>) -> Settings {
    let energy = device.energy();
    let (ramp, clock) = match &energy.logic {
        Logic::Ramped(ramped) => {
            let ramp = match ramped.physics.ramp {
                Ramp::Linear => "linear",
                Ramp::Sine => "sine",
            };
            let clock = match ramped.clock {
                Clock::Ideal => "ideal",
                Clock::Resonant { .. } => "resonant",
                Clock::Recovered(_) => "recovered",
            };
            (Some(ramp), Some(clock))
        }
        Logic::Ideal | Logic::Static(_) | Logic::Junctions(_) | Logic::Cells(_) => (None, None),
    };
    Settings {
        discipline: energy.logic.discipline(),
        mapping: energy.logic.mapping().map(Mapping::name),
        ramp,
        clock,
        processor: energy.processor.is_some(),
        memory: energy.memory.is_some(),
    }
}
