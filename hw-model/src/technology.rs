//! Technologies: how a machine is built, and what its parts cost. They are TOML files, which [`file`] reads; those in
//! `technologies/` ship with the crate.

mod file;
mod quantity;

use std::sync::Arc;

use pendula_isa::counts::{Counts, ModeCounts};
use pendula_isa::table::TableFn;
use pendula_isa::{GateClass, Inst};

use crate::mapping::{Cell, Mapping};
use crate::physics::{Adiabatic, landauer};

pub use file::TechnologyError;
pub use quantity::{Figure, Status};

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
    /// What its file says.
    file: Arc<file::File>,
}

/// The energies of the parts of a technology.
#[derive(Clone, Debug, PartialEq)]
pub struct Energy {
    /// The temperature in kelvin.
    pub kelvin: f64,
    /// How gates are made, and what they cost.
    pub logic: Logic,
    /// The units that are there whether they are used or not.
    pub datapath: Datapath,
    /// Fetching, decoding and the register file; `None` if the technology says nothing of them.
    pub processor: Option<Processor>,
    /// Access to a word of memory; `None` if the circuit of an access is priced like any other.
    pub memory: Option<MemoryTable>,
    /// Joules for a bit that is transferred to or from the host's memory.
    pub link: f64,
    /// What it takes to erase a bit.
    pub erasure: Erasure,
    /// o: bits of the host's memory that are erased for each bit written there.
    pub overwrite: f64,
    /// The power in watts for removing one watt from the device; 0 at room temperature.
    pub cooling: f64,
    /// The areas of devices; `None` if the technology says nothing of them.
    pub area: Option<Area>,
    /// The frequencies in hertz for which the figures are meant.
    pub range: Option<(f64, f64)>,
}

/// Areas in square micrometres, with the wires.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Of a transistor, or of a Josephson junction where gates are made of these.
    pub device: f64,
    /// Of a bit of memory, with its share of decoders and sense amplifiers.
    pub memory_bit: f64,
}

/// What it takes to erase a bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Erasure {
    /// A multiple of kT ln 2.
    Landauer(f64),
    /// Half of C·V² of the latch that is written abruptly, in farads, but never less than kT ln 2.
    Farad(f64),
}

impl Erasure {
    /// The energy in joules at a supply voltage and a temperature in kelvin.
    pub fn joules(self, volt: f64, kelvin: f64) -> f64 {
        match self {
            Erasure::Landauer(factor) => factor * landauer(kelvin),
            Erasure::Farad(farad) => (0.5 * farad * volt * volt).max(landauer(kelvin)),
        }
    }
}

/// A figure for each kind of cell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PerCell([f64; Cell::ALL.len()]);

impl PerCell {
    /// A figure for each of these cells, and 0 for the others.
    pub fn new(figures: impl IntoIterator<Item = (Cell, f64)>) -> PerCell {
        let mut out = PerCell::default();
        for (cell, figure) in figures {
            out.0[cell as usize] = figure;
        }
        out
    }

    /// The figure of a kind.
    pub const fn of(&self, cell: Cell) -> f64 {
        self.0[cell as usize]
    }

    /// The transistors of a cell of static CMOS: the figures of textbooks (Weste and Harris, CMOS VLSI Design), in which an AND takes 6, an
    /// exclusive or 10, a mirrored carry gate 12 and a latch 16. A published energy is scaled by their sum.
    pub const TRANSISTORS: PerCell = PerCell([6.0, 10.0, 12.0, 16.0, 4.0, 2.0, 12.0, 16.0, 24.0]);
}

/// How gates are made.
#[derive(Clone, Debug, PartialEq)]
pub enum Logic {
    /// Reversible operations cost nothing.
    Ideal,
    /// Conventional CMOS, with published energies of operations.
    Static(Static),
    /// CMOS whose nodes are charged by ramps.
    Ramped(Ramped),
    /// Josephson junctions that are excited adiabatically.
    Junctions(Junctions),
    /// A published energy for each cell that a bit passes.
    Cells(Cells),
}

/// Conventional CMOS. The netlist is a [`Mapping::Cascade`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Static {
    /// Published energies.
    pub operations: Operations,
    /// The delay of a level of gates in seconds.
    pub level_second: f64,
    /// The energy that a unit leaks in a nanosecond, as a part of what it takes to use it.
    pub leakage: f64,
    /// The energy of the clock tree, as a part of what the logic takes.
    pub clock_tree: f64,
}

/// How the levels of ramped logic are clocked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Discipline {
    /// As by Bennett: a [`Mapping::Cascade`] with a rail for each level. The rails go up one after the other, and down in the opposite order. The
    /// result is held for some ticks.
    Retractile {
        /// h: the ticks for which it is held.
        held: f64,
    },
    /// A [`Mapping::Reversible`] netlist, a level a tick.
    Pipelined,
    /// Families that do not recover what is below the threshold (ECRL, PFAL, SCAL-D): a [`Mapping::Balanced`] netlist, half a period a level.
    Quasi {
        /// The voltage below which the charge is lost.
        residual_volt: f64,
    },
}

/// CMOS whose nodes are charged by ramps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramped {
    /// How its levels are clocked.
    pub discipline: Discipline,
    /// The transistors.
    pub physics: Adiabatic,
    /// The capacitance in farads that a cell switches, with both of its rails and its inner nodes.
    pub farad: PerCell,
    /// n: ramps in a cycle of the clock.
    pub ticks_per_cycle: u32,
    /// The shortest ramp in seconds that the devices or the supply allow; 0 if nothing is known.
    pub shortest_ramp: f64,
    /// The supply.
    pub clock: Clock,
}

/// Josephson junctions that are excited adiabatically.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Junctions {
    /// [`Mapping::Aqfp`] or [`Mapping::Rqfp`].
    pub mapping: Mapping,
    /// The energy of a junction per cycle, in joules …
    pub joule: f64,
    /// … at this frequency in hertz. It is proportional to the frequency.
    pub hertz: f64,
    /// Junctions of a cell.
    pub junctions: PerCell,
    /// Bits of information that a majority gate loses, each of which takes kT ln 2 at least.
    pub lost_bits: f64,
}

/// A published energy for each cell that a bit passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cells {
    /// The netlist.
    pub mapping: Mapping,
    /// The energy of a cell, in joules, in each cycle.
    pub joule: PerCell,
    /// Cycles per second.
    pub hertz: f64,
    /// Levels in a cycle.
    pub levels_per_cycle: u32,
}

impl Logic {
    /// The netlists that it is made of; `None` if nothing is charged for them.
    pub const fn mapping(&self) -> Option<Mapping> {
        match self {
            Logic::Ideal => None,
            Logic::Static(_) => Some(Mapping::Cascade),
            Logic::Ramped(ramped) => Some(match ramped.discipline {
                Discipline::Retractile { .. } => Mapping::Cascade,
                Discipline::Pipelined => Mapping::Reversible,
                Discipline::Quasi { .. } => Mapping::Balanced,
            }),
            Logic::Junctions(junctions) => Some(junctions.mapping),
            Logic::Cells(cells) => Some(cells.mapping),
        }
    }

    /// Whether it may be clocked at any frequency, and its costs depend on it.
    pub const fn is_clocked_at_will(&self) -> bool {
        match self {
            Logic::Ramped(_) | Logic::Junctions(_) => true,
            Logic::Ideal | Logic::Static(_) | Logic::Cells(_) => false,
        }
    }

    /// The name of its discipline.
    pub const fn discipline(&self) -> &'static str {
        match self {
            Logic::Ideal => "ideal",
            Logic::Static(_) => "static",
            Logic::Ramped(ramped) => match ramped.discipline {
                Discipline::Retractile { .. } => "retractile",
                Discipline::Pipelined => "pipelined",
                Discipline::Quasi { .. } => "quasi",
            },
            Logic::Junctions(Junctions { mapping: Mapping::Rqfp, .. }) => "rqfp",
            Logic::Junctions(_) => "aqfp",
            Logic::Cells(_) => "per-cell",
        }
    }
}

/// The supply of ramped logic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clock {
    /// Nothing is lost in it.
    Ideal,
    /// A resonator.
    Resonant {
        /// Q₀: its quality without the logic.
        quality: f64,
        /// The frequency in hertz of that quality, and the exponent p: Q = Q₀·(f/f₀)^p, at most Q₀. Without it, the quality is the same everywhere.
        law: Option<(f64, f64)>,
        /// The capacitance on the rails over the capacitance that switches: the wires, and what is on a rail without switching.
        load: f64,
        /// The energy in joules that its driver takes in each cycle.
        driver: f64,
    },
    /// A supply that was measured, with the logic, to recover this fraction of the energy. It and the logic lose (1 − recovered)·C·V².
    Recovered(f64),
}

impl Clock {
    /// The loss in joules when `farad` is driven at `volt` with this many cycles a second, beside what the resistances of the logic lose.
    pub fn loss(self, farad: f64, volt: f64, adiabatic: f64, hertz: f64) -> f64 {
        let cv2 = farad * volt * volt;
        match self {
            Clock::Ideal => 0.0,
            Clock::Resonant { quality, law, load, .. } => {
                let part = law.map_or(1.0, |(at, exponent)| (hertz / at).powf(exponent).min(1.0));
                std::f64::consts::FRAC_PI_4 * load * cv2 / (quality * part)
            }
            Clock::Recovered(part) => ((1.0 - part) * cv2 - adiabatic).max(0.0),
        }
    }

    /// The energy in joules that its driver takes in a cycle.
    pub const fn driver(self) -> f64 {
        match self {
            Clock::Resonant { driver, .. } => driver,
            Clock::Ideal | Clock::Recovered(_) => 0.0,
        }
    }
}

/// The units that are there whether they are used or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Datapath {
    /// Functions with a unit of their own, laid out as a whole.
    pub unrolled: Vec<TableFn>,
    /// Functions whose unit is a slice that is used once for each bit of a word.
    pub iterative: Vec<TableFn>,
    /// The part of the unused units that stays powered: 0 if all are gated, 1 if none is.
    pub idle: f64,
}

/// Fetching, decoding and the register file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Processor {
    /// Fetching an instruction, for each.
    pub fetch: Access,
    /// Decoding it.
    pub decode: Access,
    /// An access to a register.
    pub register: Access,
}

/// What an access takes, and for how many ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    /// The figure.
    pub figure: f64,
    /// What the figure is.
    pub of: AccessUnit,
    /// How long it takes, in ticks of the logic.
    pub ticks: f64,
}

/// What the figure of an access is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessUnit {
    /// Joules: it is conventional.
    Joule,
    /// Farads that are driven by ramps.
    Farad,
    /// Junctions that are excited once.
    Junction,
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

/// The cost of an access to a 64-bit word by the memory's size.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryTable {
    /// Sizes in bytes, ascending, each with its figure.
    pub sizes: Vec<(f64, f64)>,
    /// What the figures are.
    pub of: AccessUnit,
    /// How long an access takes, in ticks of the logic.
    pub ticks: f64,
}

impl MemoryTable {
    /// An access to a memory of this size: a power law between two sizes, extrapolated beyond them from the nearest
    /// two.
    pub fn at(&self, bytes: f64) -> Access {
        Access { figure: self.figure(bytes), of: self.of, ticks: self.ticks }
    }

    fn figure(&self, bytes: f64) -> f64 {
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
    ("ballistic", include_str!("../technologies/ballistic.toml")),
    ("cmos45", include_str!("../technologies/cmos45.toml")),
    ("cmos22", include_str!("../technologies/cmos22.toml")),
    ("cmos7", include_str!("../technologies/cmos7.toml")),
    ("cmos5", include_str!("../technologies/cmos5.toml")),
    ("cmos3", include_str!("../technologies/cmos3.toml")),
    ("resonant22", include_str!("../technologies/resonant22.toml")),
    ("scald500", include_str!("../technologies/scald500.toml")),
    ("acmos22-fdsoi", include_str!("../technologies/acmos22-fdsoi.toml")),
    ("acmos22-pipelined", include_str!("../technologies/acmos22-pipelined.toml")),
    ("acmos32-bulk", include_str!("../technologies/acmos32-bulk.toml")),
    ("acmos-lowleak", include_str!("../technologies/acmos-lowleak.toml")),
    ("acmos180", include_str!("../technologies/acmos180.toml")),
    ("s2lal130", include_str!("../technologies/s2lal130.toml")),
    ("aqfp", include_str!("../technologies/aqfp.toml")),
    ("rqfp", include_str!("../technologies/rqfp.toml")),
    ("nsquid", include_str!("../technologies/nsquid.toml")),
    ("rql", include_str!("../technologies/rql.toml")),
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
