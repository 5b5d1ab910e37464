//! Circuits, simulated and compared with the operations that they implement.

mod control;
mod counts;
mod export;
mod fixed;
mod float;
mod harness;
mod integer;
mod log;
mod words;
