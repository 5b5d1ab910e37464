//! The configuration of a machine: memory, engine, traps.

use pendula_isa::diagnostic::plural;

/// The default of [`Config::warm_up`]: interpreting as many instructions takes about as long as compiling a short program. On x86-64 the
/// baseline compiler is faster: code for a thousand instructions takes as long as interpreting some hundred thousand.
const WARM_UP: u64 = if cfg!(all(target_arch = "x86_64", unix)) { 50_000 } else { 100_000 };

/// The default of [`Config::tier_up`]: a short loop has then run for about as long as it takes to compile.
const TIER_UP: u64 = 100_000;

/// The configuration of a machine.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Memory size in words; `None` for the module's `.mem`, or the data segment and [`DEFAULT_STACK`](crate::DEFAULT_STACK).
    pub mem: Option<u64>,
    /// Whether infinities and NaN of `.f` are allowed.
    pub ieee: bool,
    /// Whether overflow of a fixed-point number traps. Otherwise the number wraps and a flag is set.
    pub trap_overflow: bool,
    /// Whether executions are counted. If not, runs are a little faster and [`Machine::counts`](crate::Machine::counts) is empty.
    pub count: bool,
    /// The engine that runs the program.
    pub engine: Engine,
    /// The number of instructions that the interpreter runs before anything is compiled. Most short programs end before.
    pub warm_up: u64,
    /// The number of times that baseline code enters a loop or procedure before it is compiled with optimization; proportionally more for
    /// longer ones. 0 compiles with optimization at once.
    pub tier_up: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            mem: None,
            ieee: false,
            trap_overflow: false,
            count: true,
            engine: Engine::default(),
            warm_up: WARM_UP,
            tier_up: TIER_UP,
        }
    }
}

/// The engine that runs a program. Engines differ in speed only: values, lanes, traps and counts are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Engine {
    /// The fastest of the others that needs nothing to be installed: [`Engine::Jit`] if it is available, else the interpreter. What
    /// attaches code for whole runs to programs may make it beside runs ([`crate::WholeProgram::may_come`]).
    #[default]
    Auto,
    /// The interpreter.
    Interpreter,
    /// Units compiled to machine code when they are first used, and the interpreter for the rest. Feature `jit`.
    Jit,
    /// Code for whole runs that is made before they run ([`crate::Program::set_whole`]); [`Engine::Auto`] for all that has no such code.
    Native,
}

impl Engine {
    /// Every engine that runs code itself.
    pub const ALL: [Engine; 2] = [Engine::Interpreter, Engine::Jit];

    /// The engine that runs what no code for whole runs does.
    #[must_use]
    pub fn resolved(self) -> Engine {
        match self {
            Engine::Auto | Engine::Native if Engine::Jit.is_available() => Engine::Jit,
            Engine::Auto | Engine::Native => Engine::Interpreter,
            Engine::Interpreter | Engine::Jit => self,
        }
    }

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Auto => "auto",
            Engine::Interpreter => "interp",
            Engine::Jit => "jit",
            Engine::Native => "native",
        }
    }

    /// Whether this build has the engine and it supports this host.
    pub fn is_available(self) -> bool {
        self.check_available().is_ok()
    }

    /// Checks that the engine is available; the error is the reason why not.
    pub(crate) fn check_available(self) -> Result<(), String> {
        match self {
            Engine::Auto | Engine::Interpreter | Engine::Native => Ok(()),
            #[cfg(feature = "jit")]
            Engine::Jit if crate::engine::is_supported() => Ok(()),
            Engine::Jit if cfg!(feature = "jit") => Err("it makes no code for this host".into()),
            Engine::Jit => Err("it wants a build with the feature `jit`".into()),
        }
    }
}

/// Why a machine cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The data segment does not fit into the memory.
    #[error("the data segment takes {}, the memory has {mem}", plural(*data, "word"))]
    TooSmall {
        /// Words of data.
        data: u64,
        /// Words of memory.
        mem: u64,
    },
    /// The module requests more memory than it may without permission.
    #[error("the module asks for {} of memory; allow it with `--mem`", plural(*.0, "word"))]
    TooMuch(u64),
    /// The host cannot allocate the memory.
    #[error("cannot allocate {} of memory", plural(*.0, "word"))]
    Allocate(u64),
    /// The engine is not available.
    #[error("the engine `{}` is not available: {why}", .engine.name())]
    Engine {
        /// The engine.
        engine: Engine,
        /// The reason.
        why: String,
    },
}
