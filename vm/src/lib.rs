//! The reversible machine: runs a [`Module`](pendula_isa::Module) forward and
//! backward, counts what it executes, and stops precisely when an instruction
//! cannot run.
//!
//! [`Program`] is a module decoded for running; [`Machine`] is the state. The
//! instructions' meanings are not here but in the table of `pendula-isa`;
//! nothing here prints.

mod branch;
mod cells;
mod config;
mod context;
mod core;
mod decode;
mod dispatch;
#[cfg(any(feature = "jit", feature = "native"))]
mod engine;
mod event;
pub mod gradient;
mod lanes;
mod machine;
mod program;
mod run;
mod snapshot;
mod step;
mod trap;
mod whole;

pub use config::{Config, ConfigError, Engine};
pub use event::{Event, Flags, Rests};
pub use machine::{DEFAULT_STACK, Machine, Outcome, Ran, Stepped};
pub use pendula_isa::adjoint::AdMode;
pub use program::{CompiledUnits, LoadError, Program};
pub use snapshot::Snapshot;
pub use trap::{Trap, TrapValue};
pub use whole::{RunKind, WholeProgram};
