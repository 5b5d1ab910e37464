//! Pricing: from counts to joules. A [`Device`] is a technology under conditions (frequency, voltage, memory size). It
//! has a price for each gate class, for a bit on the link to the host, and for a bit erased. A [`Bill`] multiplies the
//! prices by the counts of a run, and records for every item its place in the program and its phase.

mod activity;
mod bill;
mod joules;

use pendula_isa::GateClass;
use pendula_isa::table::{TableFn, f_fn, int_fn};
use pendula_isa::types::{Acc, Ty};

use crate::circuit::GateCounts;
use crate::gate_counts::{Shape, gates};
use crate::physics::Adiabatic;
use crate::technology::{Clock, Energy, Logic, Operations, PerGate, Technology};
use crate::work::{CircuitKind, CircuitUsage};

pub use activity::{Activity, Phase, Totals};
pub use bill::{Bill, Item, functions};
pub use joules::{Cause, Joules};

/// Bits in a word.
pub const WORD: u32 = 64;

/// The conditions of a device, beside the technology's file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conditions {
    /// Operations per second; if `None`, those at which the cost is lowest.
    pub hertz: Option<f64>,
    /// The supply voltage; if `None`, that of the file.
    pub volt: Option<f64>,
    /// The size of the memory in words.
    pub memory_words: u64,
    /// Fraction bits of fixed-point numbers.
    pub frac: u32,
    /// Bits in a word: [`WORD`], or fewer if the program's profile has fewer.
    pub width: u32,
}

/// Why a technology cannot be priced under these conditions.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PriceError {
    /// It has only latencies.
    #[error("technology `{0}` gives latencies only, no energies")]
    NoEnergy(String),
    /// A frequency for a technology whose energy does not depend on it, or one that is not a positive number in range.
    #[error("{0}")]
    Frequency(String),
    /// A voltage that the technology does not support.
    #[error("{0}")]
    Voltage(String),
}

/// A technology under conditions.
#[derive(Clone, Debug)]
pub struct Device<'t> {
    technology: &'t Technology,
    energy: &'t Energy,
    physics: Option<Adiabatic>,
    hertz: Option<f64>,
    shape: Shape,
    conditions: Conditions,
}

impl<'t> Device<'t> {
    /// A technology under these conditions.
    ///
    /// # Errors
    /// If the technology has no energies, or does not support the frequency or voltage.
    pub fn new(technology: &'t Technology, conditions: Conditions) -> Result<Device<'t>, PriceError> {
        let name = technology.name();
        let Some(energy) = technology.energy() else { return Err(PriceError::NoEnergy(name.to_string())) };
        if let Some(hertz) = conditions.hertz
            && !(1e-3..=1e18).contains(&hertz)
        {
            return Err(PriceError::Frequency(format!(
                "a frequency must be above zero, from 1e-3 to 1e18 Hz, and not {hertz}"
            )));
        }
        if let Some(volt) = conditions.volt
            && !(1e-3..=100.0).contains(&volt)
        {
            return Err(PriceError::Voltage(format!("a voltage must be from 0.001 to 100 V, and not {volt}")));
        }
        let frequency = |best: f64| conditions.hertz.unwrap_or(best);
        let no_voltage = || match conditions.volt {
            None => Ok(()),
            Some(_) => Err(PriceError::Voltage(format!("technology `{name}` says nothing of other voltages"))),
        };
        let shape = Shape { width: conditions.width, frac: conditions.frac, memory: conditions.memory_words };
        let mut device = Device { technology, energy, physics: None, hertz: None, shape, conditions };
        match &energy.logic {
            Logic::Ideal => no_voltage()?,
            Logic::Irreversible(_) => {
                no_voltage()?;
                if conditions.hertz.is_some() {
                    let message = format!("what `{name}` costs does not depend on the frequency");
                    return Err(PriceError::Frequency(message));
                }
            }
            Logic::Adiabatic { physics, .. } => {
                let physics = match conditions.volt {
                    None => *physics,
                    Some(volt) => physics.at_voltage(volt).ok_or_else(|| {
                        PriceError::Voltage(match physics.scaling {
                            Some(s) => format!("{volt} V is not above the threshold of `{name}`, {} V", s.threshold),
                            None => format!(
                                "technology `{name}` has no `threshold_volt` and `alpha`, which another voltage wants"
                            ),
                        })
                    })?,
                };
                device.hertz = Some(frequency(physics.numeric_best().0));
                device.physics = Some(physics);
            }
            Logic::Superconducting { hertz, .. } => {
                no_voltage()?;
                device.hertz = Some(frequency(*hertz));
            }
        }
        Ok(device)
    }

    /// The technology.
    pub fn technology(&self) -> &'t Technology {
        self.technology
    }

    /// The energies of the technology.
    pub fn energy(&self) -> &'t Energy {
        self.energy
    }

    /// The conditions that it was made for.
    pub fn conditions(&self) -> Conditions {
        self.conditions
    }

    /// Operations per second; `None` if the energy does not depend on them.
    pub fn hertz(&self) -> Option<f64> {
        self.hertz
    }

    /// The supply voltage, of adiabatic logic.
    pub fn volt(&self) -> Option<f64> {
        self.physics.map(|p| p.volt)
    }

    /// The transistors at the device's voltage, for adiabatic logic.
    pub fn physics(&self) -> Option<Adiabatic> {
        self.physics
    }

    /// The cost of a whole run.
    pub fn total(&self, totals: &Totals) -> Joules {
        self.work(&totals.work)
            + self.bits_in(totals.bits_in)
            + self.bits_out(totals.bits_out)
            + self.bits_lost(totals.bits_lost)
    }

    /// The cost of uses of circuits.
    pub fn work(&self, work: &CircuitUsage) -> Joules {
        work.uses().map(|(unit, n)| self.unit(unit) * n as f64).sum()
    }

    /// Bits that go to the host's memory.
    pub fn bits_out(&self, bits: u64) -> Joules {
        let mut out = Joules::of(Cause::Link, bits as f64 * self.energy.link);
        out[Cause::Erasure] = bits as f64 * self.energy.overwrite * self.energy.erasure();
        out
    }

    /// Bits that come from the host's memory.
    pub fn bits_in(&self, bits: u64) -> Joules {
        Joules::of(Cause::Link, bits as f64 * self.energy.link)
    }

    /// Bits of information destroyed.
    pub fn bits_lost(&self, bits: u64) -> Joules {
        Joules::of(Cause::Erasure, bits as f64 * self.energy.erasure())
    }

    /// The energy that is drawn at the plug for each joule in the device.
    pub fn plug(&self) -> f64 {
        1.0 + self.energy.cooling
    }

    /// The cost of one use of a circuit.
    pub fn unit(&self, unit: CircuitKind) -> Joules {
        let class = unit.class();
        let table = self.energy.memory.as_ref().filter(|_| class == GateClass::Memory);
        let access = table.map(|t| t.at(self.shape.memory as f64 * f64::from(self.shape.width / 8)));
        match &self.energy.logic {
            Logic::Ideal => Joules::default(),
            Logic::Adiabatic { physics, farad, clock } => {
                let farad = access.unwrap_or_else(|| weigh(gates(unit, self.shape), farad));
                adiabatic(self.physics.as_ref().unwrap_or(physics), *clock, farad, self.hertz.unwrap_or(1.0))
            }
            Logic::Irreversible(operations) => {
                let joules = access.unwrap_or_else(|| self.scaled(operations, unit));
                Joules::of(Cause::Switching, joules)
            }
            Logic::Superconducting { junction, hertz, junctions } => {
                let each = junction * junctions * self.hertz.unwrap_or(*hertz) / hertz;
                let joules = access.unwrap_or_else(|| gates(unit, self.shape).total() as f64 * each);
                Joules::of(Cause::Adiabatic, joules)
            }
        }
    }

    /// A published energy, scaled by the ratio of the circuits' sizes.
    fn scaled(&self, operations: &Operations, unit: CircuitKind) -> f64 {
        let size = |unit, shape| weigh(gates(unit, shape), &PerGate::SIZES);
        let half = Shape { width: WORD / 2, frac: self.shape.frac / 2, memory: 0 };
        let (published, reference_operation) = operations.reference_operation(unit.class());
        published * size(unit, self.shape) / size(reference_operation, half)
    }
}

impl Operations {
    /// The published operation that represents a class (an adder, a multiplier, or those of floating point): its energy
    /// and its circuit.
    fn reference_operation(&self, class: GateClass) -> (f64, CircuitKind) {
        match class {
            GateClass::FloatAdd => (self.fp32_add, CircuitKind::Accumulator(Acc::Add, Ty::F)),
            GateClass::FloatMultiply | GateClass::FloatDivide | GateClass::FloatElementary => {
                (self.fp32_mul, CircuitKind::Function { func: TableFn::F(f_fn::Name::Mul), xor: false })
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
            | GateClass::LogConvert => {
                (self.int32_mul, CircuitKind::Function { func: TableFn::Int(int_fn::Name::Mul), xor: false })
            }
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
            | GateClass::Erase => (self.int32_add, CircuitKind::Accumulator(Acc::Add, Ty::Int)),
        }
    }
}

/// Switching a capacitance by ramps.
pub fn adiabatic(physics: &Adiabatic, clock: Option<Clock>, farad: f64, hertz: f64) -> Joules {
    let switching = physics.switching(farad, hertz);
    let mut out = Joules::of(Cause::Adiabatic, switching.adiabatic);
    out[Cause::Leakage] = switching.leakage;
    out[Cause::Clock] = clock.map_or(0.0, |c| c.loss(farad, physics.volt, switching.adiabatic));
    out
}

/// The sum over all gates of the figure of their kind, for example the capacitance.
pub fn weigh(gates: GateCounts, each: &PerGate) -> f64 {
    gates.not as f64 * each.not
        + gates.cnot as f64 * each.cnot
        + gates.toffoli as f64 * each.toffoli
        + gates.cswap as f64 * each.cswap
}
