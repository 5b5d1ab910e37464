//! The reversible machine: runs a [`Module`](pendula_isa::Module) forward and backward, counts what it executes, and stops
//! precisely at an instruction that cannot run.
//!
//! [`Program`] is a decoded module; [`Machine`] is the state of a run. The table in `pendula-isa` defines the semantics of the
//! instructions. Nothing here prints.

mod branch;
mod cells;
mod checkpoint;
mod config;
mod context;
mod curvature;
mod decode;
mod dispatch;
#[cfg(feature = "jit")]
mod engine;
mod event;
mod extension;
pub mod gradient;
mod hessian_rows;
mod lanes;
mod machine;
mod orders;
mod program;
mod repeated;
mod run;
mod snapshot;
mod state;
mod step;
mod stops;
mod takeover;
mod trap;
mod whole;

pub use checkpoint::Checkpoint;
pub use config::{Config, ConfigError, Engine};
#[cfg(feature = "jit")]
pub use engine::{WholeCodeError, compile_whole};
pub use event::{Event, Flags, RoundingResidues};
pub use extension::FailedStep;
pub use machine::{DEFAULT_STACK, EngineCounts, Machine, Outcome, StepOutcome};
pub use pendula_isa::adjoint::AdMode;
pub use program::{CompiledUnits, LoadError, Program};
pub use repeated::RepeatedGradient;
pub use snapshot::Snapshot;
pub use stops::Stopped;
pub use trap::{Trap, TrapValue};
pub use whole::{RunKind, WholeBy, WholeCode, WholeEnd, WholeProgram};
