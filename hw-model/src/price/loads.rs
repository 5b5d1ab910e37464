//! The loads of operations, by the discipline of a technology.

use pendula_isa::GateClass;
use pendula_isa::table::{Row, TableFn, f_fn, int_fn};
use pendula_isa::types::{Acc, Cond, Ty};
use rayon::prelude::*;

use super::{Device, Joules, Load, WORD};
use crate::gate_counts::Shape;
use crate::mapping::{Cell, Mapping, Netlist, UnitNetlists};
use crate::technology::{Access, AccessUnit, Cells, Discipline, Junctions, Logic, Operations, PerCell, Ramped};
use crate::work::CircuitKind;

/// Ramps up and down for which a latch that is closed or opened is powered by the clock.
const LATCH_TICKS: f64 = 2.0;

impl Device<'_> {
    /// The load of one use of a circuit. A unit starts when its operands are there, so that a use waits for the one before.
    pub(super) fn unit_load(&self, unit: CircuitKind) -> Load {
        if unit == CircuitKind::Memory
            && let Some(table) = &self.energy.memory
        {
            return self.access_load(table.at(self.shape.memory as f64 * f64::from(self.shape.width / 8)));
        }
        let Some(mapping) = self.energy.logic.mapping() else { return Load::default() };
        self.netlists_load(unit, mapping.unit(unit, self.shape))
    }

    /// The load of one use of a unit with these netlists.
    pub(super) fn netlists_load(&self, unit: CircuitKind, netlists: UnitNetlists) -> Load {
        match &self.energy.logic {
            Logic::Ideal => Load::default(),
            Logic::Static(logic) => {
                let joules = self.published(&logic.operations, unit, &netlists.forward);
                let ticks = netlists.forward.levels as f64;
                let idle = (self.datapath - joules).max(0.0) * self.energy.datapath.idle;
                Load { joules, clocked: joules, leaking: (joules + idle) * ticks, ticks, ..Load::default() }
            }
            Logic::Ramped(ramped) => self.ramped_load(ramped, unit, netlists),
            Logic::Junctions(logic) => self.junction_load(logic, &netlists.forward),
            Logic::Cells(Cells { joule, levels_per_cycle, .. }) => {
                // All of a block is clocked until its last level has its turn.
                let cycles = netlists.forward.levels.div_ceil(u64::from(*levels_per_cycle)) as f64;
                let joules = netlists.forward.weigh(|cell| joule.of(cell)) * cycles;
                Load { joules, ticks: cycles * f64::from(*levels_per_cycle), ..Load::default() }
            }
        }
    }

    /// The cost of one use of a unit with netlists of its own, which stands in a device as this unit does.
    pub(crate) fn netlists(&self, unit: CircuitKind, netlists: UnitNetlists) -> Joules {
        self.joules(self.netlists_load(unit, netlists))
    }

    /// The cost of a netlist in a cycle in which all of it works, as in a full stream, of junctions or of cells with a published energy; `None` for
    /// other logic.
    pub(crate) fn cycle(&self, netlist: &Netlist) -> Option<f64> {
        let mut one = *netlist;
        one.levels = 1;
        matches!(self.energy.logic, Logic::Junctions(_) | Logic::Cells(_)).then(|| {
            let unit = CircuitKind::Accumulator(Acc::Add, Ty::Int);
            self.netlists(unit, UnitNetlists { forward: one, backward: None }).total()
        })
    }

    fn ramped_load(&self, ramped: &Ramped, unit: CircuitKind, netlists: UnitNetlists) -> Load {
        let farads = |n: &Netlist| n.weigh(|cell| ramped.farad.of(cell));
        let forward = &netlists.forward;
        let cycle = f64::from(ramped.ticks_per_cycle);
        let mut load = match ramped.discipline {
            Discipline::Retractile { held } => {
                let stays = match &netlists.backward {
                    // A function stays while its value goes into the target.
                    None => crate::compose::accumulator_unit(unit).map_or(0.0, |entered| self.unit_load(entered).ticks),
                    Some(_) => held,
                };
                let one = |n: &Netlist, held: f64| cascade_load(n, &ramped.farad, held);
                let mut load = one(forward, stays);
                match &netlists.backward {
                    None => load.ticks = 2.0 * forward.levels as f64,
                    Some(backward) => load = load + one(backward, held),
                }
                load
            }
            Discipline::Pipelined => {
                let farad = farads(forward);
                let ticks = (forward.levels as f64 / cycle).ceil() * cycle;
                Load {
                    switched: farad,
                    powered: farad * ticks,
                    clocked: farad * ticks / cycle,
                    ticks,
                    ..Load::default()
                }
            }
            Discipline::Quasi { .. } => {
                let farad = farads(forward);
                let ticks = forward.levels as f64 * cycle / 2.0;
                let powered = 2.0 * farad;
                Load { switched: farad, powered, clocked: farad, residual: farad, ticks, ..Load::default() }
            }
        };
        let idle = (self.datapath - farads(forward)).max(0.0) * self.energy.datapath.idle;
        load.powered += idle * load.ticks;
        load
    }

    fn junction_load(&self, logic: &Junctions, netlist: &Netlist) -> Load {
        // All of a block is excited until its last level has its turn.
        let cycles = netlist.levels.div_ceil(4) as f64;
        let junctions = netlist.weigh(|cell| logic.junctions.of(cell));
        let idle = (self.datapath - junctions).max(0.0) * self.energy.datapath.idle;
        let lossy = if logic.mapping == Mapping::Aqfp { netlist.of(Cell::Majority).count as f64 } else { 0.0 };
        Load { junctions: (junctions + idle) * cycles, lossy: lossy * cycles, ticks: 4.0 * cycles, ..Load::default() }
    }

    fn access_load(&self, access: Access) -> Load {
        let Access { figure, of, ticks } = access;
        match of {
            AccessUnit::Joule => Load { joules: figure, ticks, ..Load::default() },
            AccessUnit::Farad => {
                Load { switched: figure, powered: figure * ticks, clocked: figure, ticks, ..Load::default() }
            }
            AccessUnit::Junction => Load { junctions: figure, ticks, ..Load::default() },
        }
    }

    /// What every instruction takes beside its own circuits: it is fetched and decoded, and the program counter goes on.
    pub(super) fn instruction_load(&self) -> Load {
        let Some(processor) = self.energy.processor else { return Load::default() };
        let count = CircuitKind::Row { row: Row::Inc, ty: Ty::Int, cond: Cond::Always, form: false, inverse: false };
        // The program counter goes on while the instruction runs.
        let count = Load { ticks: 0.0, ..self.unit_load(count) };
        self.access_load(processor.fetch) + self.access_load(processor.decode) + count
    }

    /// An access to a register. All of an instruction's are at once.
    pub(super) fn register_load(&self) -> Load {
        self.energy.processor.map_or_else(Load::default, |p| self.access_load(Access { ticks: 0.0, ..p.register }))
    }

    /// What the units of the datapath are together: farads, joules or junctions.
    pub(super) fn datapath_size(&self) -> f64 {
        let datapath = &self.energy.datapath;
        let size = |func: TableFn| {
            let unit = CircuitKind::Function { func, xor: false };
            let netlist = |mapping: Mapping| mapping.unit(unit, self.shape).forward;
            match &self.energy.logic {
                Logic::Ideal | Logic::Cells(_) => 0.0,
                Logic::Static(logic) => self.published(&logic.operations, unit, &netlist(Mapping::Cascade)),
                Logic::Ramped(ramped) => {
                    self.energy.logic.mapping().map_or(0.0, |m| netlist(m).weigh(|cell| ramped.farad.of(cell)))
                }
                Logic::Junctions(logic) => netlist(logic.mapping).weigh(|cell| logic.junctions.of(cell)),
            }
        };
        if datapath.idle == 0.0 {
            return 0.0;
        }
        // Each function's circuit is built apart; the sums are in one order.
        let all =
            |funcs: &[TableFn]| funcs.par_iter().map(|func| size(*func)).collect::<Vec<f64>>().iter().sum::<f64>();
        let (unrolled, iterative) = rayon::join(|| all(&datapath.unrolled), || all(&datapath.iterative));
        unrolled + iterative / f64::from(self.shape.width)
    }

    /// A published energy, scaled by the ratio of the netlists' transistors.
    fn published(&self, operations: &Operations, unit: CircuitKind, netlist: &Netlist) -> f64 {
        let half = Shape { width: WORD / 2, frac: self.shape.frac / 2, memory: 0 };
        let (joules, reference) = operations.reference_operation(unit.class());
        let size = |n: &Netlist| n.weigh(|cell| PerCell::TRANSISTORS.of(cell));
        joules * size(netlist) / size(&Mapping::Cascade.unit(reference, half).forward)
    }
}

/// A cascade that goes up level by level, is held, and goes down, and the latches of its results.
fn cascade_load(netlist: &Netlist, farad: &PerCell, held: f64) -> Load {
    let mut load = Load { ticks: 2.0 * netlist.levels as f64 + held, ..Load::default() };
    for (cell, n) in netlist.cells() {
        let (each, count) = (farad.of(cell), n.count as f64);
        let ticks = if cell == Cell::Latch { LATCH_TICKS * count } else { 2.0 * n.above as f64 + (1.0 + held) * count };
        load.switched += each * count;
        load.powered += each * ticks;
    }
    load.clocked = load.switched;
    load
}

impl Operations {
    /// The published operation that represents a class: its energy and its circuit.
    fn reference_operation(&self, class: GateClass) -> (f64, CircuitKind) {
        let unit = reference_unit(class);
        let joules = match unit {
            CircuitKind::Accumulator(_, Ty::F) => self.fp32_add,
            CircuitKind::Function { func: TableFn::F(_), .. } => self.fp32_mul,
            CircuitKind::Function { .. } => self.int32_mul,
            CircuitKind::Accumulator(..)
            | CircuitKind::Row { .. }
            | CircuitKind::Defined { .. }
            | CircuitKind::Memory => self.int32_add,
        };
        (joules, unit)
    }
}

/// How large the published operation is that represents a class: an adder, a multiplier, or those of floating point.
pub(crate) fn rank(class: GateClass) -> u8 {
    match reference_unit(class) {
        CircuitKind::Accumulator(_, Ty::F) => 2,
        CircuitKind::Accumulator(..) | CircuitKind::Row { .. } | CircuitKind::Memory | CircuitKind::Defined { .. } => 0,
        CircuitKind::Function { func: TableFn::F(_), .. } => 3,
        CircuitKind::Function { .. } => 1,
    }
}

/// The circuit of the published operation that represents a class: an adder, a multiplier, or those of floating point.
pub(crate) fn reference_unit(class: GateClass) -> CircuitKind {
    match class {
        GateClass::FloatAdd => CircuitKind::Accumulator(Acc::Add, Ty::F),
        GateClass::FloatMultiply | GateClass::FloatDivide | GateClass::FloatElementary => {
            CircuitKind::Function { func: TableFn::F(f_fn::Name::Mul), xor: false }
        }
        GateClass::Multiply
        | GateClass::Divide
        | GateClass::Scale
        | GateClass::FixedMultiply
        | GateClass::FixedDivide
        | GateClass::Elementary
        | GateClass::Root
        | GateClass::Power
        | GateClass::Rotation
        | GateClass::LogSum
        | GateClass::LogConvert => CircuitKind::Function { func: TableFn::Int(int_fn::Name::Mul), xor: false },
        GateClass::Wire
        | GateClass::Xor
        | GateClass::Logic
        | GateClass::Not
        | GateClass::Add
        | GateClass::Increment
        | GateClass::Compare
        | GateClass::Equal
        | GateClass::Select
        | GateClass::Shift
        | GateClass::Rotate
        | GateClass::Swap
        | GateClass::LogAdd
        | GateClass::Convert
        | GateClass::Memory
        | GateClass::Branch
        | GateClass::Call
        | GateClass::Check
        | GateClass::Host
        | GateClass::Erase => CircuitKind::Accumulator(Acc::Add, Ty::Int),
    }
}
