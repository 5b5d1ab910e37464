//! The benchmark suite: programs from the literature on differentiation, in Nil and in C, checked and timed in one run
//! on one core.
//!
//! `cases` lists the programs. `runner` runs one; another kind of backend would implement its trait. `objective` calls
//! the C code. `check` compares results, `measure` times, `scale` does so at several sizes, and `memory` measures in separate
//! processes. `table` and `json` print the results.

pub mod cases;
mod check;
#[path = "../../benches/workloads/inputs.rs"]
mod inputs;
pub mod json;
mod learning;
pub mod measure;
pub mod memory;
mod objective;
mod reference;
mod runner;
pub mod scale;
pub mod table;
pub mod workloads;

use pendula_codegen::cc::Compiler;

pub use objective::compilers;
pub use runner::MakeWhole;

/// The environment of a measurement.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The processor's name.
    pub processor: String,
    /// The versions that the C compilers report; `None` without a compiler.
    pub compiler: Option<String>,
    /// The number of rounds over which medians are taken.
    pub rounds: usize,
    /// The options of the command that make code another one.
    pub options: Vec<&'static str>,
}

impl Surroundings {
    /// The environment on this machine.
    pub fn here(compilers: &[Compiler], rounds: usize, options: Vec<&'static str>) -> Surroundings {
        let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let name = told.lines().find_map(|l| l.strip_prefix("model name")?.split_once(':').map(|(_, n)| n.trim()));
        let processor = name.map_or_else(|| std::env::consts::ARCH.to_string(), str::to_string);
        let versions: Vec<&str> = compilers.iter().map(Compiler::version).collect();
        let compiler = (!versions.is_empty()).then(|| versions.join("; "));
        Surroundings { processor, compiler, rounds, options }
    }
}
