//! Technologies: how a machine is built, and what its parts cost. They are TOML files, which [`file`] reads; those in
//! `technologies/` ship with the crate.

mod file;

use pendula_isa::counts::{Counts, ModeCounts};
use pendula_isa::{GateClass, Inst};

use crate::physics::{Adiabatic, landauer};

pub use file::TechnologyError;

/// How a machine is built.
#[derive(Clone, Debug, PartialEq)]
pub struct Technology {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) sources: Vec<(String, String)>,
    pub(crate) latency: Vec<u64>,
    /// The name of the technology that the latencies come from. A file may leave them out.
    pub(crate) latency_of: String,
    pub(crate) energy: Option<Energy>,
}

/// The energies of the parts of a technology.
#[derive(Clone, Debug, PartialEq)]
pub struct Energy {
    /// The temperature in kelvin.
    pub kelvin: f64,
    /// How gates are made, and what they cost.
    pub logic: Logic,
    /// Access to a word of memory; `None` if the circuit of an access is priced like any other.
    pub memory: Option<MemoryTable>,
    /// Joules for a bit that is transferred to or from the host's memory.
    pub link: f64,
    /// F: an erasure costs F·kT ln 2 per bit.
    pub erasure_factor: f64,
    /// o: bits of the host's memory that are erased for each bit written there.
    pub overwrite: f64,
    /// The power in watts for removing one watt from the device; 0 at room temperature.
    pub cooling: f64,
}

impl Energy {
    /// The energy of erasing a bit, in joules.
    pub fn erasure(&self) -> f64 {
        self.erasure_factor * landauer(self.kelvin)
    }
}

/// A figure for each kind of gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerGate {
    /// NOT.
    pub not: f64,
    /// Controlled NOT.
    pub cnot: f64,
    /// Toffoli: NOT with two controls.
    pub toffoli: f64,
    /// Controlled exchange.
    pub cswap: f64,
}

impl PerGate {
    /// The relative sizes of the gates, 1 : 2 : 4 : 8. [`Logic::Irreversible`] uses the ratios of circuits' sizes.
    pub const SIZES: PerGate = PerGate { not: 1.0, cnot: 2.0, toffoli: 4.0, cswap: 8.0 };
}

/// How gates are made.
#[derive(Clone, Debug, PartialEq)]
pub enum Logic {
    /// Reversible operations cost nothing.
    Ideal,
    /// CMOS whose nodes are charged by slow ramps.
    Adiabatic {
        /// The transistors.
        physics: Adiabatic,
        /// Switched capacitance of a gate, in farads.
        farad: PerGate,
        /// The losses of the supply.
        clock: Option<Clock>,
    },
    /// CMOS whose nodes are charged abruptly, with published energies of operations.
    Irreversible(Operations),
    /// Josephson junctions excited adiabatically: energy proportional to frequency.
    Superconducting {
        /// The energy of a junction per cycle, in joules …
        junction: f64,
        /// … at this frequency in hertz.
        hertz: f64,
        /// Junctions in a gate, of whichever kind.
        junctions: f64,
    },
}

/// The losses of a resonant supply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clock {
    /// A resonator of this quality, without the logic: (π/4)·C·V²/Q.
    Quality(f64),
    /// A supply that was measured, with the logic, to recover this fraction of the energy. It and the logic lose (1 − recovered)·C·V².
    Recovered(f64),
}

impl Clock {
    /// The loss in joules when `farad` is switched at `volt`, beside what the resistances of the logic lose.
    pub fn loss(self, farad: f64, volt: f64, adiabatic: f64) -> f64 {
        let cv2 = farad * volt * volt;
        match self {
            Clock::Quality(q) => std::f64::consts::FRAC_PI_4 * cv2 / q,
            Clock::Recovered(part) => ((1.0 - part) * cv2 - adiabatic).max(0.0),
        }
    }
}

/// Published energies, in joules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operations {
    /// Addition of 32-bit integers.
    pub int32_add: f64,
    /// Multiplication of 32-bit integers.
    pub int32_mul: f64,
    /// Addition of 32-bit floating-point numbers.
    pub fp32_add: f64,
    /// Multiplication of 32-bit floating-point numbers.
    pub fp32_mul: f64,
}

/// The cost of an access to a 64-bit word by the memory's size: in farads for adiabatic logic, else in joules.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryTable {
    /// Sizes in bytes, ascending, each with its figure.
    pub sizes: Vec<(f64, f64)>,
}

impl MemoryTable {
    /// The figure for a memory of this size: a power law between two sizes, extrapolated beyond them from the nearest
    /// two.
    pub fn at(&self, bytes: f64) -> f64 {
        let [first, .., last] = &self.sizes[..] else {
            return self.sizes.first().map_or(0.0, |(_, figure)| *figure);
        };
        if bytes <= first.0 {
            // A smaller memory is not cheaper: the word itself and its sensing remain.
            return first.1;
        }
        let upper = self.sizes.iter().position(|(size, _)| bytes <= *size).unwrap_or(self.sizes.len() - 1);
        let ((x0, y0), (x1, y1)) = (self.sizes[upper - 1], if bytes > last.0 { *last } else { self.sizes[upper] });
        y0 * (bytes / x0).powf((y1 / y0).ln() / (x1 / x0).ln())
    }
}

/// The texts of the technologies that ship with the crate, by name.
const PRESETS: &[(&str, &str)] = &[
    ("default", include_str!("../technologies/default.toml")),
    ("landauer", include_str!("../technologies/landauer.toml")),
    ("cmos45", include_str!("../technologies/cmos45.toml")),
    ("cmos7", include_str!("../technologies/cmos7.toml")),
    ("acmos180", include_str!("../technologies/acmos180.toml")),
    ("acmos45-bulk", include_str!("../technologies/acmos45-bulk.toml")),
    ("acmos22-fdsoi", include_str!("../technologies/acmos22-fdsoi.toml")),
    ("acmos-lowleak", include_str!("../technologies/acmos-lowleak.toml")),
    ("aqfp", include_str!("../technologies/aqfp.toml")),
];

impl Technology {
    /// The names of the technologies that ship with Pendula.
    pub fn presets() -> impl Iterator<Item = &'static str> {
        PRESETS.iter().map(|(name, _)| *name)
    }

    /// A technology that ships with Pendula.
    ///
    /// # Panics
    /// Never: a test parses all of them.
    pub fn preset(name: &str) -> Option<Technology> {
        let (_, text) = PRESETS.iter().find(|(n, _)| *n == name)?;
        Some(Technology::parse(text).expect("the technologies that ship are valid"))
    }

    /// The technology whose latencies are used by default. It has no energies.
    ///
    /// # Panics
    /// Never: a test parses the file.
    pub fn default_technology() -> Technology {
        Technology::preset("default").expect("the default technology is there")
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of the technology that the latencies come from: the default, if it has none of its own.
    pub fn latency_name(&self) -> &str {
        &self.latency_of
    }

    /// A description in one line.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The sources of the figures, by table of the file.
    pub fn sources(&self) -> &[(String, String)] {
        &self.sources
    }

    /// The energies; `None` if the file gives only latencies.
    pub fn energy(&self) -> Option<&Energy> {
        self.energy.as_ref()
    }

    /// The number of cycles of one use of a gate class.
    pub fn latency(&self, class: GateClass) -> u64 {
        self.latency[class as usize]
    }

    /// The number of cycles of one execution of an instruction: the sum over its gate classes.
    pub fn cycles_of(&self, inst: &Inst) -> u64 {
        inst.classes().map(|c| self.latency(c)).sum()
    }

    /// The number of cycles of everything that was executed in one mode.
    pub fn cycles_in(&self, counts: &Counts, mode: &ModeCounts, code: &[Inst]) -> u64 {
        counts
            .classes(mode, code)
            .into_iter()
            .map(|(class, n)| n.saturating_mul(self.latency(class)))
            .fold(0, u64::saturating_add)
    }

    /// The number of cycles of everything that was executed.
    pub fn cycles(&self, counts: &Counts, code: &[Inst]) -> u64 {
        counts.modes.iter().map(|m| self.cycles_in(counts, m, code)).fold(0, u64::saturating_add)
    }
}
