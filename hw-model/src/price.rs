//! Pricing: from counts to joules. A [`Device`] is a technology under conditions (frequency, voltage, memory size). It
//! has a price for each gate class, for a bit on the link to the host, and for a bit erased. A [`Bill`] multiplies the
//! prices by the counts of a run, and records for every item its place in the program and its phase.

mod activity;
mod bill;
mod conditions;
mod joules;
mod load;
mod loads;

use std::collections::BTreeMap;

use pendula_isa::counts::{Counts, ModeCounts};
use pendula_isa::module::Module;
use pendula_isa::types::Ty;

use crate::clocking::Ramps;
use crate::gate_counts::Shape;
use crate::physics::{Adiabatic, landauer, minimum};
use crate::technology::{Discipline, Energy, Junctions, Logic, Ramped, Static, Technology};
use crate::work::{CircuitKind, CircuitUsage};

pub use activity::{Activity, Dirty, Phase, Totals};
pub use bill::{Bill, Item, Part, Subject, functions};
pub use conditions::{Conditions, PriceError, billed_memory};
pub use joules::{Cause, Joules};
pub use load::Load;
pub(crate) use loads::{rank, reference_unit};

/// Bits in a word.
pub const WORD: u32 = 64;

/// A technology under conditions.
#[derive(Clone, Debug)]
pub struct Device<'t> {
    technology: &'t Technology,
    energy: &'t Energy,
    physics: Option<Adiabatic>,
    hertz: Option<f64>,
    kelvin: f64,
    shape: Shape,
    conditions: Conditions,
    /// What the units are that are there whether they are used or not: farads, joules or junctions.
    datapath: f64,
}

/// The frequencies in hertz between which a cheapest one is looked for.
const SEARCHED: (f64, f64) = (1e-3, 1e13);

impl<'t> Device<'t> {
    /// A technology under these conditions. Without a frequency, adiabatic logic has that at which the addition of two words is cheapest.
    ///
    /// # Errors
    /// If the technology has no energies, or does not support the frequency, the voltage or the temperature.
    pub fn new(technology: &'t Technology, conditions: Conditions) -> Result<Device<'t>, PriceError> {
        let device = Device::unclocked(technology, conditions)?;
        let add = CircuitKind::Accumulator(pendula_isa::types::Acc::Add, Ty::Int);
        let load = device.unit_load(add) + device.instruction_load();
        Ok(device.clocked_for(load))
    }

    /// A technology under these conditions. Without a frequency, adiabatic logic has that at which this run is cheapest.
    ///
    /// # Errors
    /// As [`Device::new`].
    pub fn for_run(
        technology: &'t Technology,
        conditions: Conditions,
        totals: &Totals,
    ) -> Result<Device<'t>, PriceError> {
        let device = Device::unclocked(technology, conditions)?;
        let load = device.run_load(totals);
        Ok(if load == Load::default() { Device::new(technology, conditions)? } else { device.clocked_for(load) })
    }

    /// The device at the frequency at which a load is cheapest, unless the conditions say another.
    fn clocked_for(mut self, load: Load) -> Device<'t> {
        if let (Logic::Ramped(ramped), None, Some(physics)) = (&self.energy.logic, self.conditions.hertz, self.physics)
        {
            let at = |log: f64| {
                let hertz = log.exp();
                ramped_joules(ramped, &physics, load, hertz).total()
            };
            let fastest = 1.0 / (f64::from(ramped.ticks_per_cycle) * ramped.shortest_ramp.max(physics.time_constant));
            // Not where the figures are not meant for.
            let (low, high) = self.energy.range.unwrap_or((0.0, f64::INFINITY));
            let fastest = fastest.min(high);
            let slowest = SEARCHED.0.max(low).min(fastest);
            let (best, _) = minimum(at, slowest.ln(), fastest.ln());
            self.hertz = Some(best.exp());
        }
        self
    }

    fn unclocked(technology: &'t Technology, conditions: Conditions) -> Result<Device<'t>, PriceError> {
        let name = technology.name();
        let Some(energy) = technology.energy() else { return Err(PriceError::NoEnergy(name.to_string())) };
        conditions::check(conditions)?;
        let shape = Shape { width: conditions.width, frac: conditions.frac, memory: conditions.memory_words };
        let kelvin = conditions.kelvin.unwrap_or(energy.kelvin);
        let mut device = Device {
            technology,
            energy,
            physics: None,
            hertz: conditions.hertz,
            kelvin,
            shape,
            conditions,
            datapath: 0.0,
        };
        let no_voltage = match conditions.volt {
            None => Ok(()),
            Some(_) => Err(PriceError::Voltage(format!("technology `{name}` says nothing of other voltages"))),
        };
        let no_temperature = match conditions.kelvin.filter(|kelvin| *kelvin != energy.kelvin) {
            None => Ok(()),
            Some(_) => Err(PriceError::Temperature(format!(
                "what the logic of `{name}` costs is known at {} K only",
                energy.kelvin
            ))),
        };
        match &energy.logic {
            Logic::Ideal => no_voltage?,
            Logic::Static(_) => {
                no_voltage.and(no_temperature)?;
                if conditions.hertz.is_some() {
                    let message = format!(
                        "what `{name}` costs does not depend on a frequency: its units take the time of their longest way"
                    );
                    return Err(PriceError::Frequency(message));
                }
            }
            Logic::Ramped(Ramped { physics, .. }) => {
                let volt = conditions.volt.unwrap_or(physics.volt);
                let at = physics.at(volt, kelvin).ok_or_else(|| {
                    let (what, message) = match physics.scaling {
                        Some(s) => (
                            "",
                            format!(
                                "{volt} V at {kelvin} K is not above the threshold of `{name}`, {} V at {} K",
                                s.threshold, physics.kelvin
                            ),
                        ),
                        None => (
                            "",
                            format!(
                                "technology `{name}` has no table `scaling`, which another voltage or temperature wants"
                            ),
                        ),
                    };
                    let message = format!("{what}{message}");
                    if conditions.volt.is_some() {
                        PriceError::Voltage(message)
                    } else {
                        PriceError::Temperature(message)
                    }
                })?;
                device.physics = Some(at);
            }
            Logic::Junctions(Junctions { hertz, .. }) => {
                no_voltage.and(no_temperature)?;
                device.hertz = Some(conditions.hertz.unwrap_or(*hertz));
            }
            Logic::Cells(cells) => {
                no_voltage.and(no_temperature)?;
                if conditions.hertz.is_some_and(|hertz| hertz != cells.hertz) {
                    let message = format!("the energy of a cell of `{name}` is known at {} Hz only", cells.hertz);
                    return Err(PriceError::Frequency(message));
                }
                device.hertz = Some(cells.hertz);
            }
        }
        device.datapath = device.datapath_size();
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

    /// Cycles per second; `None` if the energy does not depend on them.
    pub fn hertz(&self) -> Option<f64> {
        self.hertz
    }

    /// The supply voltage, of ramped logic.
    pub fn volt(&self) -> Option<f64> {
        self.physics.map(|p| p.volt)
    }

    /// The temperature in kelvin.
    pub fn kelvin(&self) -> f64 {
        self.kelvin
    }

    /// The transistors under the device's conditions, of ramped logic.
    pub fn physics(&self) -> Option<Adiabatic> {
        self.physics
    }

    /// The formats of its words, and the size of its memory.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The lowest and the highest frequency in hertz that make sense, for logic whose costs depend on it. At the highest, a ramp lasts as long
    /// as the devices allow, or one time constant.
    pub fn frequencies(&self) -> Option<(f64, f64)> {
        match &self.energy.logic {
            Logic::Ideal | Logic::Static(_) | Logic::Cells(_) => None,
            Logic::Ramped(ramped) => {
                let shortest = ramped.shortest_ramp.max(self.physics.unwrap_or(ramped.physics).time_constant);
                Some((SEARCHED.0, 1.0 / (f64::from(ramped.ticks_per_cycle) * shortest)))
            }
            Logic::Junctions(_) => Some((SEARCHED.0, 1e12)),
        }
    }

    /// What of the conditions is outside of what the figures are meant for.
    pub fn doubts(&self) -> Vec<String> {
        let mut out = Vec::new();
        let name = self.technology.name();
        if let (Some(hertz), Some((low, high))) = (self.hertz, self.energy.range)
            && !(low..=high).contains(&hertz)
        {
            out.push(format!(
                "{} is outside the range for which the figures of `{name}` are meant, {} to {}",
                crate::units::si(hertz, "Hz"),
                crate::units::si(low, "Hz"),
                crate::units::si(high, "Hz")
            ));
        }
        if let (Logic::Ramped(ramped), Some(hertz), Some(physics)) = (&self.energy.logic, self.hertz, self.physics) {
            let ramp = 1.0 / (f64::from(ramped.ticks_per_cycle) * hertz);
            if ramp < ramped.shortest_ramp * (1.0 - 1e-9) {
                out.push(format!(
                    "ramps of {} are shorter than `{name}` allows, {}",
                    crate::units::si(ramp, "s"),
                    crate::units::si(ramped.shortest_ramp, "s")
                ));
            } else if ramp < physics.time_constant * (1.0 - 1e-9) {
                out.push(format!(
                    "ramps of {} are shorter than the time constant of `{name}`, {}: its gates switch as abruptly as conventional ones",
                    crate::units::si(ramp, "s"),
                    crate::units::si(physics.time_constant, "s")
                ));
            }
        }
        if let Some(kelvin) = self.conditions.kelvin.filter(|kelvin| (kelvin - self.energy.kelvin).abs() > 1e-9) {
            let said = match self.energy.cooling {
                0.0 if kelvin < 270.0 => Some("the energy at the plug is without cooling".to_string()),
                0.0 => None,
                cooling => Some(format!(
                    "the energy at the plug is with the cooling of {} K, {cooling} W/W",
                    self.energy.kelvin
                )),
            };
            out.extend(said.map(|said| format!("`{name}` at {kelvin} K: {said}")));
        }
        out
    }

    /// The cost of a whole run.
    pub fn total(&self, totals: &Totals) -> Joules {
        self.joules(self.run_load(totals))
            + self.bits_in(totals.bits_in)
            + self.bits_out(totals.bits_out)
            + self.bits_lost(totals.bits_lost)
            + self.bits_lost(totals.bits_dirty)
    }

    /// The same by subject.
    pub fn by_subject(&self, totals: &Totals) -> BTreeMap<Subject, Joules> {
        let mut out: BTreeMap<Subject, Joules> = BTreeMap::new();
        let mut add = |subject, joules| *out.entry(subject).or_default() += joules;
        for (unit, times) in totals.work.uses() {
            add(Subject::Class(unit.class()), self.unit(unit) * times as f64);
        }
        let accesses = self.register_accesses(totals.register_reads, totals.register_writes);
        add(Subject::Fetch, self.fetch() * totals.instructions as f64);
        add(Subject::Registers, self.register() * accesses as f64);
        add(Subject::Traffic, self.bits_in(totals.bits_in) + self.bits_out(totals.bits_out));
        add(Subject::Lost, self.bits_lost(totals.bits_lost));
        add(Subject::LeftDirty, self.dirty(totals.dirty));
        out
    }

    /// The time of a whole run in seconds, one instruction after the other; `None` if nothing says how long an operation takes. Clocked logic begins
    /// an instruction with a cycle.
    pub fn seconds(&self, totals: &Totals) -> Option<f64> {
        match (self.cycles(totals), self.hertz) {
            (Some(cycles), Some(hertz)) => Some(cycles as f64 / hertz),
            _ => Some(self.run_load(totals).ticks * self.tick()?),
        }
    }

    /// The cycles of a whole run, one instruction after the other, with those that erase what is left; `None` for logic without a clock.
    pub fn cycles(&self, totals: &Totals) -> Option<u64> {
        let erasing = self.erasing(totals.dirty);
        let all = totals.executed.iter().chain(&erasing.executed);
        all.map(|(usage, n)| Some(n.saturating_mul(self.cycles_of(usage)?)))
            .try_fold(0u64, |sum, cycles| Some(sum.saturating_add(cycles?)))
    }

    /// The part of the periods in which a pipeline carries an operation, over a whole run of operations that wait for each other; `None` for other
    /// disciplines.
    pub fn utilisation(&self, totals: &Totals) -> Option<f64> {
        let Logic::Ramped(ramped) = &self.energy.logic else { return None };
        let uses: u64 = totals.work.uses().map(|(_, n)| n).sum();
        let periods = self.work_load(&totals.work).ticks / f64::from(ramped.ticks_per_cycle);
        (ramped.discipline == Discipline::Pipelined && periods > 0.0).then(|| uses as f64 / periods)
    }

    /// The duration of a tick in seconds: a ramp, a phase, or the delay of a gate.
    pub fn tick(&self) -> Option<f64> {
        match &self.energy.logic {
            Logic::Ideal => None,
            Logic::Static(logic) => Some(logic.level_second),
            Logic::Ramped(_) | Logic::Junctions(_) | Logic::Cells(_) => {
                Some(1.0 / (f64::from(self.ticks_per_cycle()?) * self.hertz?))
            }
        }
    }

    /// The ticks of a cycle of the clock, of clocked logic.
    pub fn ticks_per_cycle(&self) -> Option<u32> {
        match &self.energy.logic {
            Logic::Ideal | Logic::Static(_) => None,
            Logic::Ramped(ramped) => Some(ramped.ticks_per_cycle),
            // Four phases excite one level after the other.
            Logic::Junctions(_) => Some(4),
            Logic::Cells(cells) => Some(cells.levels_per_cycle),
        }
    }

    /// The ticks of one execution of an instruction that waits for the one before it, with its fetch.
    pub fn ticks_of(&self, work: &CircuitUsage) -> f64 {
        (self.work_load(work) + self.instruction_load()).ticks
    }

    /// The cycles of the same: its ticks in whole cycles of the clock; `None` for logic without a clock.
    pub fn cycles_of(&self, work: &CircuitUsage) -> Option<u64> {
        Some((self.ticks_of(work) / f64::from(self.ticks_per_cycle()?)).ceil() as u64)
    }

    /// The load of a whole run.
    fn run_load(&self, totals: &Totals) -> Load {
        let load = self.work_load(&totals.work)
            + self.instruction_load() * totals.instructions as f64
            + self.register_load() * self.register_accesses(totals.register_reads, totals.register_writes) as f64;
        if totals.dirty.words() == 0 { load } else { load + self.run_load(&self.erasing(totals.dirty)) }
    }

    /// The cost of erasing words that are left at the end.
    pub fn dirty(&self, dirty: Dirty) -> Joules {
        self.total(&self.erasing(dirty))
    }

    fn erasing(&self, dirty: Dirty) -> Totals {
        Totals::erasing(dirty, u64::from(self.shape.width))
    }

    fn work_load(&self, work: &CircuitUsage) -> Load {
        work.uses().map(|(unit, n)| self.unit_load(unit) * n as f64).sum()
    }

    /// The cost of uses of circuits.
    pub fn work(&self, work: &CircuitUsage) -> Joules {
        self.joules(self.work_load(work))
    }

    /// The cost of one use of a circuit.
    pub fn unit(&self, unit: CircuitKind) -> Joules {
        self.joules(self.unit_load(unit))
    }

    /// The cost of fetching and decoding an instruction, and of counting the program counter on.
    pub fn fetch(&self) -> Joules {
        self.joules(self.instruction_load())
    }

    /// The cost of an access to a register.
    pub fn register(&self) -> Joules {
        self.joules(self.register_load())
    }

    /// Accesses to the register file. Conventional logic reads words and writes others; reversible logic takes every word out and puts it back.
    pub fn register_accesses(&self, reads: u64, writes: u64) -> u64 {
        match &self.energy.logic {
            Logic::Static(_) => reads + writes,
            Logic::Ideal | Logic::Ramped(_) | Logic::Junctions(_) | Logic::Cells(_) => 2 * reads,
        }
    }

    /// Bits that go to the host's memory.
    pub fn bits_out(&self, bits: u64) -> Joules {
        let mut out = Joules::of(Cause::Link, bits as f64 * self.energy.link);
        out[Cause::Erasure] = bits as f64 * self.energy.overwrite * self.erasure();
        out
    }

    /// Bits that come from the host's memory.
    pub fn bits_in(&self, bits: u64) -> Joules {
        Joules::of(Cause::Link, bits as f64 * self.energy.link)
    }

    /// Bits of information destroyed.
    pub fn bits_lost(&self, bits: u64) -> Joules {
        Joules::of(Cause::Erasure, bits as f64 * self.erasure())
    }

    /// The energy of erasing a bit at the device's voltage and temperature, in joules.
    pub fn erasure(&self) -> f64 {
        self.energy.erasure.joules(self.volt().unwrap_or(0.0), self.kelvin)
    }

    /// The energy that is drawn at the plug for each joule in the device.
    pub fn plug(&self) -> f64 {
        1.0 + self.energy.cooling
    }

    /// The price of a load.
    fn joules(&self, load: Load) -> Joules {
        match &self.energy.logic {
            Logic::Ideal => Joules::default(),
            Logic::Static(Static { leakage, level_second, clock_tree, .. }) => {
                let mut out = Joules::of(Cause::Switching, load.joules);
                out[Cause::Leakage] = load.leaking * leakage * level_second / 1e-9;
                // What leaks is logic; its own energy is what the clock drives.
                out[Cause::Clock] = load.clocked * clock_tree;
                out
            }
            Logic::Ramped(ramped) => {
                let physics = self.physics.unwrap_or(ramped.physics);
                ramped_joules(ramped, &physics, load, self.hertz.unwrap_or(1.0))
            }
            Logic::Junctions(logic) => {
                let each = logic.joule * self.hertz.unwrap_or(logic.hertz) / logic.hertz;
                let majority = logic.junctions.of(crate::mapping::Cell::Majority);
                let floor = (logic.lost_bits * landauer(self.kelvin) - majority * each).max(0.0);
                let mut out = Joules::of(Cause::Adiabatic, load.junctions * each + load.lossy * floor);
                out[Cause::Switching] = load.joules;
                out
            }
            Logic::Cells(_) => Joules::of(Cause::Switching, load.joules),
        }
    }
}

/// The cycles of a run on clocked logic, by mode of the counts: for each instruction the ramps or phases of its circuits, in whole cycles. `None` for
/// a technology that has no clock, or that cannot be priced under these conditions.
pub fn cycles_by_mode(
    technology: &Technology,
    conditions: Conditions,
    module: &Module,
    counts: &Counts,
) -> Option<Vec<u64>> {
    let device = Device::new(technology, conditions).ok()?;
    let of = |mode: &ModeCounts| {
        let each =
            counts.per_instruction(mode, module.code.len()).into_iter().zip(&module.code).filter(|(n, _)| *n > 0);
        each.map(|(n, inst)| Some(n.saturating_mul(device.cycles_of(&CircuitUsage::of(inst, mode.mode))?)))
            .try_fold(0u64, |sum, cycles| Some(sum.saturating_add(cycles?)))
    };
    counts.modes.iter().map(of).collect()
}

/// The energy of a load of ramped logic.
fn ramped_joules(ramped: &Ramped, physics: &Adiabatic, load: Load, hertz: f64) -> Joules {
    let cycle = f64::from(ramped.ticks_per_cycle);
    let x = 1.0 / (cycle * hertz * physics.time_constant);
    let ramps = Ramps { shape: physics.ramp, leakage: physics.leakage, shortest: 0.0 };
    let volts = physics.volt * physics.volt;
    let mut out = Joules::of(Cause::Adiabatic, load.switched * volts * ramps.energy(x, 0.0));
    out[Cause::Leakage] = load.powered * volts * physics.leakage * x;
    out[Cause::Switching] = load.joules;
    if let Discipline::Quasi { residual_volt } = ramped.discipline {
        out[Cause::Switching] += 0.5 * load.residual * residual_volt * residual_volt;
    }
    out[Cause::Clock] = ramped.clock.loss(load.clocked, physics.volt, out[Cause::Adiabatic], hertz)
        + ramped.clock.driver() * load.ticks / cycle;
    out
}
