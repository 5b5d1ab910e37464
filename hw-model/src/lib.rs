//! A cost model of reversible hardware: circuits for every instruction, technologies that define what gates cost, and
//! prices for a run. Its input are execution counts, which are plain data of `pendula-isa`; it knows neither the
//! machine nor the assembler.

pub mod breakeven;
mod call_costs;
pub mod circuit;
pub mod clocking;
mod compose;
pub mod export;
pub mod gate_counts;
pub mod instruction;
pub mod level;
pub mod mapping;
pub mod network;
mod partials;
pub mod physics;
pub mod price;
pub mod published;
pub mod reference;
pub mod report;
pub mod schedule;
pub mod stats;
mod technology;
pub mod uncertainty;
pub mod units;
pub mod verify;
pub mod work;

pub use technology::{
    Access, AccessUnit, Area, Cells, Clock, Datapath, Discipline, Energy, Erasure, Figure, Junctions, Logic,
    MemoryTable, Operations, PerCell, Processor, Ramped, Static, Status, Technology, TechnologyError,
};
