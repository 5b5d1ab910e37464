//! Circuits, simulated and compared with the operations that they implement.

mod adders;
mod control;
mod counts;
mod export;
mod fixed;
mod float;
pub(crate) mod harness;
mod integer;
mod log;
mod words;
