//! The models of rows: the circuit of the published thing, priced under the technologies of the row.

use pendula_isa::table::{TableFn, f_fn, int_fn};
use pendula_isa::types::{Acc, Ty};

use crate::circuit::kernels::{self, Float, Formats, ValueCircuit};
use crate::circuit::part::{Accumulator, accumulate};
use crate::circuit::{Builder, Role, Word};
use crate::clocking::{Ramps, Retractile};
use crate::compose::Measure;
use crate::mapping::{Cell, Mapping, Netlist, UnitNetlists};
use crate::network::Network;
use crate::physics::minimum;
use crate::price::{Cause, Conditions, Device, Totals};
use crate::technology::{Discipline, Logic, PerCell, Technology};
use crate::work::{CircuitKind, CircuitUsage};

/// The adder, the multiplier and the functions of which figures were published.
pub(super) const ADD: CircuitKind = CircuitKind::Accumulator(Acc::Add, Ty::Int);
pub(super) const MULTIPLY: CircuitKind = CircuitKind::Function { func: TableFn::Int(int_fn::Name::Mul), xor: false };
pub(super) const XOR: CircuitKind = CircuitKind::Accumulator(Acc::Xor, Ty::Int);
pub(super) const SHIFT: CircuitKind = CircuitKind::Function { func: TableFn::Int(int_fn::Name::Shl), xor: true };
pub(super) const FLOAT_ADD: CircuitKind = CircuitKind::Accumulator(Acc::Add, Ty::F);
pub(super) const FLOAT_MULTIPLY: CircuitKind = CircuitKind::Function { func: TableFn::F(f_fn::Name::Mul), xor: false };

fn conditions(width: u32) -> Conditions {
    Conditions { memory_words: 1 << 10, frac: width / 2, width, ..Conditions::default() }
}

/// A unit on its own: nothing stands idle beside it.
fn alone(technology: &Technology) -> Technology {
    let mut out = technology.clone();
    if let Some(energy) = &mut out.energy {
        energy.datapath.idle = 0.0;
    }
    out
}

/// The switching energy of one use of a unit of conventional CMOS, without the clock and leakage, as tables of operations have it.
pub(super) fn operation(technologies: &[Technology], unit: CircuitKind, width: u32) -> Option<f64> {
    let technology = alone(technologies.first()?);
    Some(Device::new(&technology, conditions(width)).ok()?.unit(unit)[Cause::Switching])
}

fn transistors(netlist: &Netlist) -> f64 {
    netlist.weigh(|cell| PerCell::TRANSISTORS.of(cell))
}

/// What a value circuit becomes, without the copy of its result.
fn value(circuit: ValueCircuit, formats: Formats, mapping: Mapping) -> Netlist {
    let width = formats.width();
    let mut b = Builder::new(circuit.name);
    let x: Vec<Word> =
        ["a", "b", "c"][..circuit.arity].iter().map(|name| b.register(name, Role::Operand, width)).collect();
    accumulate(&mut b, Accumulator::Xor, width, |b| circuit.value(b, &formats, &x));
    mapping.netlist(&b.finish()).without(copy(width, mapping))
}

/// The exclusive ors and latches by which a word enters its target.
fn copy(width: usize, mapping: Mapping) -> Netlist {
    let mut b = Builder::new("copy");
    let x = b.register("a", Role::Operand, width);
    accumulate(&mut b, Accumulator::Xor, width, |_| x.into());
    mapping.netlist(&b.finish())
}

/// An operation on bfloat16, whose exponent has 8 bits: from that of 32 bits, by the transistors.
pub(super) fn bfloat16(technologies: &[Technology], multiply: bool) -> Option<f64> {
    let technology = technologies.first()?;
    let (kernel, unit) =
        if multiply { (kernels::FLOAT_MULTIPLY, FLOAT_MULTIPLY) } else { (kernels::FLOAT_ADD, FLOAT_ADD) };
    let format = |width, float| Formats { float, ..Formats::new(width, width / 2) };
    let of = |formats| transistors(&value(kernel, formats, Mapping::Cascade));
    let short = of(format(16, Float { exponent: 8, mantissa: 7 }));
    let single = of(format(32, Float { exponent: 8, mantissa: 23 }));
    Some(operation(std::slice::from_ref(technology), unit, 32)? * short / single)
}

/// The product of two words with all of its bits, as a value.
fn product(width: usize, mapping: Mapping) -> Netlist {
    let mut b = Builder::new("product");
    let (x, z) = (b.register("a", Role::Operand, width), b.register("b", Role::Operand, width));
    accumulate(&mut b, Accumulator::Xor, 2 * width, |b| b.mul(&x, &z).into());
    mapping.netlist(&b.finish()).without(copy(2 * width, mapping))
}

/// A multiplier of quasi-adiabatic logic that takes new operands in every cycle, with its clock.
pub(super) fn quasi_multiplier(technologies: &[Technology], width: usize, hertz: f64) -> Option<f64> {
    let technology = alone(technologies.first()?);
    let device = Device::new(&technology, Conditions { hertz: Some(hertz), ..conditions(64) }).ok()?;
    let forward = product(width, Mapping::Balanced);
    Some(device.netlists(MULTIPLY, UnitNetlists { forward, backward: None }).total())
}

/// The sum of two words, as a value.
fn sum(width: usize, mapping: Mapping) -> Netlist {
    let mut b = Builder::new("sum");
    let (x, z) = (b.register("a", Role::Operand, width), b.register("b", Role::Operand, width));
    accumulate(&mut b, Accumulator::Xor, width, |b| b.sum(&x, &z, width).into());
    mapping.netlist(&b.finish()).without(copy(width, mapping))
}

/// An adder of junctions or published cells, in a cycle of a full stream.
pub(super) fn adder_cycle(technologies: &[Technology], width: usize) -> Option<f64> {
    let technology = alone(technologies.first()?);
    let device = Device::new(&technology, conditions(64)).ok()?;
    device.cycle(&sum(width, technology.energy()?.logic.mapping()?))
}

/// How much less an addition of 32 bits takes under the second technology, in a full stream, than under the first with its leakage and its clock.
pub(super) fn advantage(technologies: &[Technology]) -> Option<f64> {
    let [of, to] = technologies else { return None };
    let of = alone(of);
    let conventional = Device::new(&of, conditions(32)).ok()?.unit(ADD).total();
    Some(conventional / adder_cycle(std::slice::from_ref(to), 32)?)
}

/// The addition of two registers as a whole instruction: fetched, decoded, with its operands and its sum, and what leaks and is clocked meanwhile.
pub(super) fn instruction(technologies: &[Technology], width: u32) -> Option<f64> {
    let device = Device::new(technologies.first()?, conditions(width)).ok()?;
    let mut work = CircuitUsage::default();
    work.add(ADD, 1);
    let totals = Totals { work, instructions: 1, register_reads: 2, register_writes: 1, ..Totals::default() };
    Some(device.total(&totals).total())
}

/// A bit of an access to a memory of this size.
pub(super) fn memory_bit(technologies: &[Technology], bytes: f64) -> Option<f64> {
    let access = technologies.first()?.energy()?.memory.as_ref()?.at(bytes);
    Some(access.figure / 64.0)
}

/// Erasing a bit.
pub(super) fn erased_bit(technologies: &[Technology]) -> Option<f64> {
    Some(Device::new(technologies.first()?, conditions(64)).ok()?.erasure())
}

/// How much less a gate of one level takes at its best speed than CV², with its clock.
pub(super) fn gate_gain(technologies: &[Technology]) -> Option<f64> {
    let Logic::Ramped(ramped) = &technologies.first()?.energy()?.logic else { return None };
    let Discipline::Retractile { held } = ramped.discipline else { return None };
    best_gain(technologies, 1.0 + held)
}

/// The same of an addition as a cascade, whose gates wait for the last level.
pub(super) fn adder_gain(technologies: &[Technology], width: usize) -> Option<f64> {
    let Logic::Ramped(ramped) = &technologies.first()?.energy()?.logic else { return None };
    let Discipline::Retractile { held } = ramped.discipline else { return None };
    let mut b = Builder::new("sum");
    let (x, z) = (b.register("a", Role::Operand, width), b.register("b", Role::Operand, width));
    accumulate(&mut b, Accumulator::Xor, width, |b| b.sum(&x, &z, width).into());
    let network = Network::of(&b.finish()).with_majorities();
    let farad = |node: &crate::network::Node| {
        ramped.farad.of(match node {
            crate::network::Node::Majority(..) => Cell::Majority,
            crate::network::Node::Xor(..) => Cell::Xor,
            crate::network::Node::And(..) | crate::network::Node::Zero | crate::network::Node::Input(_) => Cell::And,
        })
    };
    best_gain(technologies, Retractile::of(&network, farad, held).powered)
}

fn best_gain(technologies: &[Technology], powered: f64) -> Option<f64> {
    let Logic::Ramped(ramped) = &technologies.first()?.energy()?.logic else { return None };
    let physics = ramped.physics;
    let ramps = Ramps { shape: physics.ramp, leakage: physics.leakage, shortest: 0.0 };
    let energy = |log: f64| {
        let x = log.exp();
        let hertz = 1.0 / (f64::from(ramped.ticks_per_cycle) * x * physics.time_constant);
        ramps.energy(x, powered) + ramped.clock.loss(1.0, 1.0, ramps.energy(x, 0.0), hertz)
    };
    Some(1.0 / minimum(energy, 0.0, 30.0).1)
}

/// How much less a stage of a pipeline takes than CV² at this frequency.
pub(super) fn stage_gain(technologies: &[Technology], hertz: f64) -> Option<f64> {
    let Logic::Ramped(ramped) = &technologies.first()?.energy()?.logic else { return None };
    let (physics, cycle) = (ramped.physics, f64::from(ramped.ticks_per_cycle));
    let ramps = Ramps { shape: physics.ramp, leakage: physics.leakage, shortest: 0.0 };
    Some(1.0 / ramps.energy(1.0 / (cycle * hertz * physics.time_constant), cycle))
}

/// How much less an addition takes than the CV² of its cells, with its clock.
pub(super) fn recovery(technologies: &[Technology], hertz: f64) -> Option<f64> {
    let technology = alone(technologies.first()?);
    let Logic::Ramped(ramped) = &technology.energy()?.logic else { return None };
    let device = Device::new(&technology, Conditions { hertz: Some(hertz), ..conditions(8) }).ok()?;
    let forward = sum(8, Mapping::Balanced);
    let cv2 = forward.weigh(|cell| ramped.farad.of(cell)) * ramped.physics.volt.powi(2);
    Some(cv2 / device.netlists(ADD, UnitNetlists { forward, backward: None }).total())
}

/// So many stages of a shift register in a cycle.
pub(super) fn stages(technologies: &[Technology], count: u64) -> Option<f64> {
    let Logic::Cells(cells) = &technologies.first()?.energy()?.logic else { return None };
    Some(count as f64 * cells.joule.of(Cell::Buffer))
}

/// So many junctions in a cycle.
pub(super) fn junctions(technologies: &[Technology], count: f64) -> Option<f64> {
    let Logic::Junctions(junctions) = &technologies.first()?.energy()?.logic else { return None };
    Some(count * junctions.joule)
}

/// A gate of reversible parametrons.
pub(super) fn gate_junctions(technologies: &[Technology]) -> Option<f64> {
    let Logic::Junctions(junctions) = &technologies.first()?.energy()?.logic else { return None };
    Some(junctions.junctions.of(Cell::Cnot) / 2.0)
}

/// The written bit of a register, of what an access takes: it is charged twice that.
pub(super) fn register_bit(technologies: &[Technology]) -> Option<f64> {
    Some(technologies.first()?.energy()?.processor?.register.figure / 64.0 / 2.0)
}

/// What an adder leaks in a nanosecond over what it takes to use it.
pub(super) fn leakage(technologies: &[Technology]) -> Option<f64> {
    let Logic::Static(logic) = &technologies.first()?.energy()?.logic else { return None };
    Some(logic.leakage)
}
