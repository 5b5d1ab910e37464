//! The tests of the hardware model, in one binary: `cargo test -p pendula-testing --test hw-model circuits` runs those of
//! one file.

mod aqfp;
mod circuits;
mod energy;
mod extensions;
mod gate_counts;
mod hdl;
mod kernels;
mod network;
mod published;
mod report;
mod uncertainty;
