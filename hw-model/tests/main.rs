//! The tests of the hardware model, one binary: `cargo test -p pendula-hw-model --test suite circuits` runs those of a file.

mod circuits;
mod energy;
mod kernels;
mod report;
