//! Options for the conditions of a run: what is set, which engine runs it, and what ends it.

use clap::{Args, ValueEnum};

use super::{RUNNING, count};

/// The conditions of a run.
#[derive(Args, Clone, Debug)]
pub(crate) struct Conditions {
    /// Set a data symbol or a register before the run (repeatable).
    ///
    /// VALUE is a number (`5`, `-0.25`, `0xff`, a raw word `0x…w`), a list (`[1,2,3]`), or a file (`@x.csv`, `@x.npy`). NAME is a data symbol, an element
    /// (`a[3]`), or a register. A register is set as an integer unless a suffix gives another type (`r3.q=1.5`).
    #[arg(long, help_heading = RUNNING, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Stop with an error after this many instructions, forward and backward counted together.
    ///
    /// The results so far are printed, as after a trap or Ctrl-C.
    #[arg(long, help_heading = RUNNING, value_name = "N", value_parser = count)]
    pub(crate) max_steps: Option<u64>,
    /// The engine that runs the program.
    #[arg(long, help_heading = RUNNING, value_enum, default_value_t, value_name = "NAME")]
    pub(crate) engine: Engine,
    /// Do without a C compiler: `--engine auto` then runs long programs as a whole by Cranelift.
    #[arg(long, help_heading = RUNNING)]
    pub(crate) no_cc: bool,
    /// The size of the memory in words.
    ///
    /// The default is the program's `.mem`; without one, the size of the data and 2^20 words more.
    #[arg(long, help_heading = RUNNING, value_name = "WORDS", value_parser = count)]
    pub(crate) mem: Option<u64>,
    /// Whether `assert`, `zero`, `push`, `pop` and the landing places of jumps are verified.
    ///
    /// Without the checks, a program in which one would fail continues with wrong values, a run back does not restore the start, and no overflow is
    /// reported.
    #[arg(long, help_heading = RUNNING, value_enum, default_value_t = Switch::On, value_name = "on|off")]
    pub(crate) checks: Switch,
    /// Trap at an event that otherwise only raises a flag (repeatable).
    #[arg(long, help_heading = RUNNING, value_enum, value_name = "EVENT")]
    pub(crate) trap: Vec<TrapOn>,
    /// Allow infinities and NaN in floating-point words instead of trapping.
    #[arg(long, help_heading = RUNNING)]
    pub(crate) ieee: bool,
}

/// What runs a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// Whatever is fastest: `jit`, and for programs in Nil and Janus that run long, code for the whole run, by Cranelift and then by the C compiler, which work beside the
    /// run.
    #[default]
    Auto,
    /// The interpreter.
    Interp,
    /// Machine code, which Cranelift generates once a run is long enough to gain from it; the results, traps and counts are the same.
    Jit,
    /// Machine code from the system's C compiler, which takes longer but generates faster code; the code is cached for later runs.
    Native,
}

impl From<Engine> for pendula::vm::Engine {
    fn from(engine: Engine) -> pendula::vm::Engine {
        match engine {
            Engine::Auto => pendula::vm::Engine::Auto,
            Engine::Interp => pendula::vm::Engine::Interpreter,
            Engine::Jit => pendula::vm::Engine::Jit,
            Engine::Native => pendula::vm::Engine::Native,
        }
    }
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// Events that can be turned into traps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrapOn {
    /// A fixed-point number overflows.
    Overflow,
}
