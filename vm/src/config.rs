//! How a program is to be run: memory, engine, what traps.

use pendula_isa::diagnostic::plural;

/// [`Config::warm_up`] where it is not given: about as long as it takes to make code for a short program, which on x86-64 is drafted. There,
/// making code for a thousand instructions takes as long as interpreting some hundred thousand.
const WARM_UP: u64 = if cfg!(all(target_arch = "x86_64", unix)) { 50_000 } else { 100_000 };

/// [`Config::tier_up`] where it is not given: short loops have then run about as long as compiling them takes.
const TIER_UP: u64 = 100_000;

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Memory size in words; `None` for the module's `.mem`, or the data segment and [`DEFAULT_STACK`](crate::DEFAULT_STACK).
    pub mem: Option<u64>,
    /// Let infinities and NaN of `.f` through.
    pub ieee: bool,
    /// Trap where a fixed-point number overflows, instead of wrapping and noting it.
    pub trap_overflow: bool,
    /// Count executions. Without it a run is a little faster and [`Machine::counts`](crate::Machine::counts) is empty.
    pub count: bool,
    /// What runs the program.
    pub engine: Engine,
    /// How many instructions the interpreter runs before anything is compiled: most programs that are short are done by then.
    pub warm_up: u64,
    /// How often a loop or procedure is come to in code that is made quickly, before it is compiled with more care; as much oftener as it is
    /// longer. 0 for compiling with care at once.
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

/// What runs a program. Engines agree in everything but speed: values, what words carry, traps, counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// The interpreter.
    Interpreter,
    /// Procedures compiled to the host's code when they are first used, and the interpreter for the rest. Feature `jit`.
    Jit,
    /// The same, written out as C for the system's compiler, whose code is kept from run to run. Feature `engine_code`.
    Native,
}

impl Default for Engine {
    /// Compiled code, where the build has it and the host is one that code can be made for; else the interpreter.
    fn default() -> Engine {
        if Engine::Jit.is_available() { Engine::Jit } else { Engine::Interpreter }
    }
}

impl Engine {
    /// Every engine.
    pub const ALL: [Engine; 3] = [Engine::Interpreter, Engine::Jit, Engine::Native];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Interpreter => "interp",
            Engine::Jit => "jit",
            Engine::Native => "native",
        }
    }

    /// Whether this build has the engine, and it can make code here.
    pub fn is_available(self) -> bool {
        self.wanting().is_ok()
    }

    /// What is wanting for the engine, in words.
    pub(crate) fn wanting(self) -> Result<(), String> {
        #[cfg(any(feature = "jit", feature = "native"))]
        return crate::engine::is_supported(self);
        #[cfg(not(any(feature = "jit", feature = "native")))]
        match self {
            Engine::Interpreter => Ok(()),
            Engine::Jit | Engine::Native => Err(format!("it wants a build with the feature `{}`", self.name())),
        }
    }
}

/// Why a machine cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The data does not fit.
    #[error("the data segment takes {}, the memory has {mem}", plural(*data, "word"))]
    TooSmall {
        /// Words of data.
        data: u64,
        /// Words of memory.
        mem: u64,
    },
    /// The module asks for more than it gets unasked.
    #[error("the module asks for {} of memory; allow it with `--mem`", plural(*.0, "word"))]
    TooMuch(u64),
    /// The host has not that much.
    #[error("cannot allocate {} of memory", plural(*.0, "word"))]
    Allocate(u64),
    /// The engine cannot make code here.
    #[error("the engine `{}` is not available: {why}", .engine.name())]
    Engine {
        /// The engine.
        engine: Engine,
        /// What is wanting.
        why: String,
    },
}
