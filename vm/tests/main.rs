//! The tests of the machine in one binary: `cargo test -p pendula-testing --test vm control` runs those of a module.

use pendula_testing as common;

mod control;
mod counts;
mod engines;
mod extensions;
mod gradient_rows;
mod reset;
mod rows;
mod semantics;
mod tiers;
mod x64_bytes;
