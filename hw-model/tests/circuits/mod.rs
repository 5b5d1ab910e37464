//! Circuits simulated against what they stand for.

mod control;
mod counts;
mod export;
mod fixed;
mod float;
mod harness;
mod integer;
mod log;
mod words;
