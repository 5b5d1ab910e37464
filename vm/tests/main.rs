//! The tests of the machine in one binary: `cargo test -p pendula-vm --test suite control` runs those of a module.

mod common;

mod control;
mod counts;
#[cfg(feature = "jit")]
mod engines;
mod extensions;
mod gradient_rows;
mod reset;
mod rows;
mod semantics;
#[cfg(feature = "jit")]
mod tiers;
mod x64_bytes;
