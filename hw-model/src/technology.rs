//! Technologies: what a machine is built from, and what its parts cost. They
//! are TOML files ([`file`] reads them); those in `technologies/` ship with the
//! crate.

mod file;

use pendula_isa::counts::{Counts, ModeCounts};
use pendula_isa::{GateClass, Inst};

use crate::physics::{Adiabatic, landauer};

pub use file::TechnologyError;

/// What a machine is built from.
#[derive(Clone, Debug, PartialEq)]
pub struct Technology {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) sources: Vec<(String, String)>,
    pub(crate) latency: Vec<u64>,
    /// The name of the technology whose latencies they are: a file may leave them out.
    pub(crate) latency_of: String,
    pub(crate) energy: Option<Energy>,
}

/// What the parts of a technology cost in energy.
#[derive(Clone, Debug, PartialEq)]
pub struct Energy {
    /// The temperature in kelvin.
    pub kelvin: f64,
    /// Gates.
    pub logic: Logic,
    /// Access to a word of memory; `None` where the circuit of an access is priced like any other.
    pub memory: Option<MemoryTable>,
    /// Joules for a bit that goes to or comes from the host's memory.
    pub link: f64,
    /// F: an erasure costs F·kT ln 2 a bit.
    pub erasure_factor: f64,
    /// o: bits of the host's memory that are erased for each bit written there.
    pub overwrite: f64,
    /// Watts that it takes to remove a watt from the device; 0 at room temperature.
    pub cooling: f64,
}

impl Energy {
    /// What erasing a bit costs, in joules.
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
    /// The relative sizes of the gates, of which [`Logic::Irreversible`] takes the ratios of circuits: 1 : 2 : 4 : 8.
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
        /// What the supply loses.
        clock: Option<Clock>,
    },
    /// CMOS whose nodes are charged abruptly; published energies of operations.
    Irreversible(Operations),
    /// Josephson junctions excited adiabatically: energy proportional to frequency.
    Superconducting {
        /// Joules that a junction takes in a cycle …
        junction: f64,
        /// … at this frequency in hertz.
        hertz: f64,
        /// Junctions in a gate, whichever it is.
        junctions: f64,
    },
}

/// What a resonant supply loses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clock {
    /// A resonator of this quality: (π/4)·C·V²/Q.
    Quality(f64),
    /// A supply that was measured to recover this part of the energy: (1 − recovered)·C·V².
    Recovered(f64),
}

impl Clock {
    /// The loss in joules when `farad` is switched at `volt`.
    pub fn loss(self, farad: f64, volt: f64) -> f64 {
        let cv2 = farad * volt * volt;
        match self {
            Clock::Quality(q) => std::f64::consts::FRAC_PI_4 * cv2 / q,
            Clock::Recovered(part) => (1.0 - part) * cv2,
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

/// What access to a 64-bit word costs by the memory's size: farads for adiabatic logic, else joules.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryTable {
    /// Bytes, rising, and the figure.
    pub sizes: Vec<(f64, f64)>,
}

impl MemoryTable {
    /// The figure for a memory of so many bytes: between two sizes by a power law, beyond them like the nearest two.
    pub fn at(&self, bytes: f64) -> f64 {
        let [first, .., last] = &self.sizes[..] else {
            return self.sizes.first().map_or(0.0, |(_, figure)| *figure);
        };
        if bytes <= first.0 {
            // A smaller memory is no cheaper: the word itself and its sensing remain.
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

    /// The technology whose latencies count where nothing else is said. It has no energies.
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

    /// The name of the technology whose latencies it has: the default's, if it gives none.
    pub fn latency_name(&self) -> &str {
        &self.latency_of
    }

    /// What it is, in a line.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Where the figures come from, by table of the file.
    pub fn sources(&self) -> &[(String, String)] {
        &self.sources
    }

    /// What it costs in energy; `None` if the file gives latencies only.
    pub fn energy(&self) -> Option<&Energy> {
        self.energy.as_ref()
    }

    /// Cycles that one use of a gate class takes.
    pub fn latency(&self, class: GateClass) -> u64 {
        self.latency[class as usize]
    }

    /// Cycles that one execution of an instruction takes: the sum over its gate classes.
    pub fn cycles_of(&self, inst: &Inst) -> u64 {
        inst.classes().map(|c| self.latency(c)).sum()
    }

    /// Cycles of everything that one mode executed.
    pub fn cycles_in(&self, counts: &Counts, mode: &ModeCounts, code: &[Inst]) -> u64 {
        counts
            .classes(mode, code)
            .into_iter()
            .map(|(class, n)| n.saturating_mul(self.latency(class)))
            .fold(0, u64::saturating_add)
    }

    /// Cycles of everything executed.
    pub fn cycles(&self, counts: &Counts, code: &[Inst]) -> u64 {
        counts.modes.iter().map(|m| self.cycles_in(counts, m, code)).fold(0, u64::saturating_add)
    }
}
