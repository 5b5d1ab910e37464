//! What a program would cost in hardware: circuits for every instruction,
//! technologies that say what gates cost, and prices for what a run did. It
//! consumes counts, which are plain data of `pendula-isa`, and knows neither
//! the machine nor the assembler.

pub mod breakeven;
mod call_costs;
pub mod circuit;
pub mod gate_counts;
pub mod level;
mod partials;
pub mod physics;
pub mod price;
pub mod report;
pub mod schedule;
mod technology;
pub mod units;
pub mod work;

pub use technology::{Clock, Energy, Logic, MemoryTable, Operations, PerGate, Technology, TechnologyError};
