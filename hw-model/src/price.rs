//! Pricing: from counts to joules. A [`Device`] is a technology under
//! conditions (frequency, voltage, memory size); it has a price for each gate
//! class, for a bit on the link to the host, and for a bit erased. A [`Bill`]
//! multiplies them with what a run did, and keeps for every item where in the
//! program and in which phase it arose.

use std::collections::BTreeMap;
use std::ops::{Add, AddAssign, Index, IndexMut, Mul};

use pendula_isa::counts::Counts;
use pendula_isa::module::{Module, SymbolKind, name_in_source};
use pendula_isa::table::{Flow, Row, TableFn, f_fn, int_fn};
use pendula_isa::types::{Acc, Ty};
use pendula_isa::verify::verify;
use pendula_isa::{GateClass, Kind};

use crate::circuit::GateCounts;
use crate::gate_counts::{Shape, gates};
use crate::physics::Adiabatic;
use crate::technology::{Clock, Energy, Logic, Operations, PerGate, Technology};
use crate::work::{CircuitKind, Work};

/// Bits in a word.
pub const WORD: u32 = 64;

/// Why energy is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// Ramps through a resistance, or the excitation of junctions: falls with frequency.
    Adiabatic,
    /// Abrupt switching of conventional logic.
    Switching,
    /// Currents through what is switched off: rises as frequency falls.
    Leakage,
    /// What the supply loses.
    Clock,
    /// Traffic with the host's memory.
    Link,
    /// Information destroyed.
    Erasure,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Cause; 6] =
        [Cause::Adiabatic, Cause::Switching, Cause::Leakage, Cause::Clock, Cause::Link, Cause::Erasure];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Adiabatic => "adiabatic",
            Cause::Switching => "switching",
            Cause::Leakage => "leakage",
            Cause::Clock => "clock",
            Cause::Link => "link",
            Cause::Erasure => "erasure",
        }
    }
}

/// Joules by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Joules([f64; Cause::ALL.len()]);

impl Joules {
    /// So much for one cause.
    pub fn of(cause: Cause, joules: f64) -> Joules {
        let mut out = Joules::default();
        out[cause] = joules;
        out
    }

    /// The sum.
    pub fn total(self) -> f64 {
        self.0.iter().sum()
    }
}

impl Index<Cause> for Joules {
    type Output = f64;
    fn index(&self, cause: Cause) -> &f64 {
        &self.0[cause as usize]
    }
}

impl IndexMut<Cause> for Joules {
    fn index_mut(&mut self, cause: Cause) -> &mut f64 {
        &mut self.0[cause as usize]
    }
}

impl Add for Joules {
    type Output = Joules;
    fn add(mut self, other: Joules) -> Joules {
        self += other;
        self
    }
}

impl AddAssign for Joules {
    fn add_assign(&mut self, other: Joules) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a += b;
        }
    }
}

impl Mul<f64> for Joules {
    type Output = Joules;
    fn mul(self, k: f64) -> Joules {
        Joules(self.0.map(|x| x * k))
    }
}

impl std::iter::Sum for Joules {
    fn sum<I: Iterator<Item = Joules>>(items: I) -> Joules {
        items.fold(Joules::default(), Add::add)
    }
}

/// What is asked of a technology beside what its file says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conditions {
    /// Operations a second; where it costs least if left out.
    pub hertz: Option<f64>,
    /// The supply voltage; the file's if left out.
    pub volt: Option<f64>,
    /// The size of the memory in words.
    pub memory_words: u64,
    /// Fraction bits of fixed-point numbers.
    pub frac: u32,
    /// Bits in a word: [`WORD`], or fewer where the program's profile has fewer.
    pub width: u32,
}

/// Why a technology cannot be priced under these conditions.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PriceError {
    /// It has latencies only.
    #[error("technology `{0}` gives latencies only, no energies")]
    NoEnergy(String),
    /// A frequency for a technology whose energy does not depend on it, or none that is a number above zero.
    #[error("{0}")]
    Frequency(String),
    /// A voltage that the technology cannot have.
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
    /// Fixes the conditions.
    ///
    /// # Errors
    /// Where the technology has no energies, or not at that frequency or voltage.
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

    /// What the technology says of energy.
    pub fn energy(&self) -> &'t Energy {
        self.energy
    }

    /// The conditions that it was made for.
    pub fn conditions(&self) -> Conditions {
        self.conditions
    }

    /// Operations a second; `None` where energy does not depend on them.
    pub fn hertz(&self) -> Option<f64> {
        self.hertz
    }

    /// The supply voltage, of adiabatic logic.
    pub fn volt(&self) -> Option<f64> {
        self.physics.map(|p| p.volt)
    }

    /// Transistors at the device's voltage, of adiabatic logic.
    pub fn physics(&self) -> Option<Adiabatic> {
        self.physics
    }

    /// Everything that a run did.
    pub fn total(&self, totals: &Totals) -> Joules {
        self.work(&totals.work)
            + self.bits_in(totals.bits_in)
            + self.bits_out(totals.bits_out)
            + self.bits_lost(totals.bits_lost)
    }

    /// A number of uses of circuits.
    pub fn work(&self, work: &Work) -> Joules {
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

    /// What is drawn at the plug for each joule in the device.
    pub fn plug(&self) -> f64 {
        1.0 + self.energy.cooling
    }

    /// One use of a circuit.
    pub fn unit(&self, unit: CircuitKind) -> Joules {
        let class = unit.class();
        let table = self.energy.memory.as_ref().filter(|_| class == GateClass::Memory);
        let access = table.map(|t| t.at(self.shape.memory as f64 * f64::from(self.shape.width / 8)));
        match &self.energy.logic {
            Logic::Ideal => Joules::default(),
            Logic::Adiabatic { physics, farad, clock } => {
                let farad = access.unwrap_or_else(|| gates(unit, self.shape).weigh(farad));
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

    /// A published energy, in the ratio of the circuits' sizes.
    fn scaled(&self, operations: &Operations, unit: CircuitKind) -> f64 {
        let size = |unit, shape| gates(unit, shape).weigh(&PerGate::SIZES);
        let half = Shape { width: WORD / 2, frac: self.shape.frac / 2, memory: 0 };
        let (published, like) = operations.like(unit.class());
        published * size(unit, self.shape) / size(like, half)
    }
}

impl Operations {
    /// The published operation that a class is likened to, an adder, a multiplier, or those of floating point: its energy and its circuit.
    fn like(&self, class: GateClass) -> (f64, CircuitKind) {
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
    out[Cause::Clock] = clock.map_or(0.0, |c| c.loss(farad, physics.volt));
    out
}

/// Part of what the host has a machine do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The run forward, its inputs brought from the host.
    Forward,
    /// Results copied to the host's memory.
    CopyOut,
    /// The run backward.
    Backward,
    /// Gradients copied to the host's memory.
    GradientCopy,
}

impl Phase {
    /// Every phase.
    pub const ALL: [Phase; 4] = [Phase::Forward, Phase::CopyOut, Phase::Backward, Phase::GradientCopy];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Forward => "forward",
            Phase::CopyOut => "copy out",
            Phase::Backward => "backward",
            Phase::GradientCopy => "gradient copy",
        }
    }
}

/// What happened in a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// The phase.
    pub phase: Phase,
    /// What ran, and what it destroyed.
    pub counts: Counts,
    /// Words brought from the host.
    pub words_in: u64,
    /// Words copied to the host.
    pub words_out: u64,
}

/// What a run did, without where: enough to price it again and again, as for a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Uses of circuits.
    pub work: Work,
    /// Instructions executed.
    pub instructions: u64,
    /// Bits brought from the host.
    pub bits_in: u64,
    /// Bits copied to the host.
    pub bits_out: u64,
    /// Bits destroyed.
    pub bits_lost: u64,
}

impl Totals {
    /// Of all phases.
    pub fn new(module: &Module, activities: &[Activity]) -> Totals {
        let mut out = Totals::default();
        let bits = u64::from(module.flags.profile.width());
        for activity in activities {
            for (work, tapes) in works(module, &activity.counts) {
                out.work.add_times(&work, 1);
                out.bits_in += tapes.read * bits;
                out.bits_out += tapes.written * bits;
            }
            out.instructions += activity.counts.instructions();
            out.bits_in += activity.words_in * bits;
            out.bits_out += activity.words_out * bits;
            out.bits_lost += activity.counts.lost_bits();
        }
        out
    }
}

/// Words that an instruction took from the host and gave to it.
#[derive(Clone, Copy, Debug, Default)]
struct Tapes {
    read: u64,
    written: u64,
}

/// What each instruction exercised, and how many words it exchanged with the host's tapes.
fn works(module: &Module, counts: &Counts) -> Vec<(Work, Tapes)> {
    let mut out: Vec<(Work, Tapes)> = vec![(Work::default(), Tapes::default()); module.code.len()];
    for mode in &counts.modes {
        for (at, n) in counts.per_instruction(mode, module.code.len()).into_iter().enumerate() {
            if n > 0 {
                let (work, tapes) = &mut out[at];
                work.add_times(&Work::of(&module.code[at], mode.mode), n);
                // A text that is printed is no word of the program's.
                match module.code[at].kind {
                    Kind::Row { row: Row::Read, .. } => tapes.read += n,
                    Kind::Row { row: Row::Emit | Row::Show, .. } => tapes.written += n,
                    Kind::Row { .. } | Kind::Accumulate { .. } => {}
                }
            }
        }
    }
    out
}

/// Something that costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item {
    /// The phase.
    pub phase: Phase,
    /// The instruction, if it is one's.
    pub at: Option<u32>,
    /// The gate class; `None` for traffic and information lost.
    pub class: Option<GateClass>,
    /// How often; words or bits where it is no class.
    pub times: u64,
    /// What it costs.
    pub joules: Joules,
}

/// What a run costs on a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bill {
    /// The items, in the order of phases and addresses.
    pub items: Vec<Item>,
}

impl Bill {
    /// Prices what a run did.
    pub fn new(device: &Device<'_>, module: &Module, activities: &[Activity]) -> Bill {
        let _span = tracing::debug_span!("price", instructions = module.code.len()).entered();
        let mut items = Vec::new();
        let bits = u64::from(module.flags.profile.width());
        for Activity { phase, counts, words_in, words_out } in activities {
            let phase = *phase;
            for (at, (work, tapes)) in works(module, counts).into_iter().enumerate() {
                let at = Some(at as u32);
                for (unit, times) in work.uses() {
                    let class = Some(unit.class());
                    items.push(Item { phase, at, class, times, joules: device.unit(unit) * times as f64 });
                }
                let (read, written) = (tapes.read * bits, tapes.written * bits);
                for (times, joules) in [(tapes.read, device.bits_in(read)), (tapes.written, device.bits_out(written))] {
                    if times > 0 {
                        items.push(Item { phase, at, class: None, times, joules });
                    }
                }
            }
            for &(at, bits) in &counts.lost {
                items.push(Item { phase, at: Some(at), class: None, times: bits, joules: device.bits_lost(bits) });
            }
            for (words, joules) in
                [(words_in, device.bits_in(words_in * bits)), (words_out, device.bits_out(words_out * bits))]
            {
                if *words > 0 {
                    items.push(Item { phase, at: None, class: None, times: *words, joules });
                }
            }
        }
        Bill { items }
    }

    /// Everything.
    pub fn total(&self) -> Joules {
        self.items.iter().map(|i| i.joules).sum()
    }

    /// By some key, in its order.
    pub fn by<K: Ord>(&self, key: impl Fn(&Item) -> K) -> BTreeMap<K, Joules> {
        let mut out: BTreeMap<K, Joules> = BTreeMap::new();
        for item in &self.items {
            *out.entry(key(item)).or_default() += item.joules;
        }
        out
    }
}

/// The function that each instruction belongs to: the name of its procedure, or of the label at the `start` of a run. What was compiled goes by its
/// name in the source; the code around the call of its entry point has none there.
pub fn functions(module: &Module) -> Vec<String> {
    let mut out = vec![String::from("(outside)"); module.code.len()];
    let (structure, _) = verify(module);
    let code = module.symbols.iter().filter(|s| !matches!(s.kind, SymbolKind::Data { .. }));
    // Of several names the first.
    let names: BTreeMap<u64, &str> = code.rev().map(|s| (s.value, s.name.as_str())).collect();
    for region in &structure.regions {
        let start = module.code[region.start as usize].kind;
        let unnamed = if matches!(start, Kind::Row { row: Row::Start, .. }) { "(start)" } else { "(procedure)" };
        let name = match names.get(&u64::from(region.start)) {
            None => unnamed,
            Some(name) if !module.is_compiled(region.start as usize) => name,
            Some(_) if unnamed == "(start)" => unnamed,
            Some(name) => name_in_source(name),
        };
        debug_assert!(matches!(start.flow(), Flow::Run | Flow::Procedure));
        for at in region.start..=region.last {
            out[at as usize] = name.to_string();
        }
    }
    out
}

/// The capacitance, or whatever it is, of a circuit's gates.
impl GateCounts {
    /// The sum over the gates of a figure for each kind.
    pub fn weigh(&self, each: &PerGate) -> f64 {
        self.not as f64 * each.not
            + self.cnot as f64 * each.cnot
            + self.toffoli as f64 * each.toffoli
            + self.cswap as f64 * each.cswap
    }
}
