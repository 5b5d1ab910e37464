//! What a program would cost in hardware. It prices counts, which are plain
//! data of `pendula-isa`, and knows neither the machine nor the assembler.
//!
//! So far a technology gives latencies, from which cycles follow; circuits and
//! energy are to come.

mod technology;

pub use technology::{Technology, TechnologyError};
