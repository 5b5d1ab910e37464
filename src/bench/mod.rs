//! The benchmark suite: programs of the literature on differentiation, in Nil and in C, checked and timed in one run on one core.
//!
//! `cases` lists them, `runner` is what runs one (a backend of another kind is another implementation of its trait), `objective` calls the C,
//! `measure` checks and times, `scale` does so at several sizes, `memory` asks processes of its own, `table` and `json` are what is printed.

pub(crate) mod cases;
#[path = "../../benches/workloads/inputs.rs"]
mod inputs;
pub(crate) mod json;
pub(crate) mod measure;
pub(crate) mod memory;
mod objective;
mod reference;
mod runner;
pub(crate) mod scale;
pub(crate) mod table;

/// Where and with what is measured.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    /// The processor's name.
    pub(crate) processor: String,
    /// What the C compiler says of itself; `None` without one.
    pub(crate) compiler: Option<String>,
    /// Rounds of which medians are taken.
    pub(crate) rounds: usize,
    /// Whether numbers may be rounded otherwise than written.
    pub(crate) fast: bool,
}

impl Surroundings {
    /// Of this machine.
    pub(crate) fn here(compiler: Option<&str>, rounds: usize, fast: bool) -> Surroundings {
        let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let name = told.lines().find_map(|l| l.strip_prefix("model name")?.split_once(':').map(|(_, n)| n.trim()));
        let processor = name.map_or_else(|| std::env::consts::ARCH.to_string(), str::to_string);
        Surroundings { processor, compiler: compiler.map(str::to_string), rounds, fast }
    }
}
