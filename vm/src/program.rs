//! A verified and decoded module.

use std::sync::Arc;

use pendula_isa::adjoint::AdMode;
use pendula_isa::module::Module;
use pendula_isa::verify::{Violation, verify};

use crate::decode::{Decoded, Op, decode};
use crate::extension::Shared;
use crate::whole::WholeProgram;

/// A module decoded for running, in both directions.
pub struct Program {
    pub(crate) module: Module,
    pub(crate) decoded: Decoded,
    pub(crate) checks: bool,
    whole: Option<Arc<dyn WholeProgram>>,
    #[cfg(feature = "jit")]
    pub(crate) engine_code: crate::engine::EngineCode,
}

/// The number of units of a program that the compiling engines have compiled so far, counted separately for each setting of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompiledUnits {
    /// Units that only have baseline code, which is generated in one pass.
    pub drafts: usize,
    /// Units that have optimized code.
    pub finished: usize,
}

/// Why a module cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The code as a whole is invalid.
    #[error("instruction {}: {}", .0.at, .0.problem.title())]
    Code(Violation),
    /// An instruction has invalid operands.
    #[error("instruction {at}: {error}")]
    Operand {
        /// The address.
        at: u32,
        /// What is wrong.
        error: pendula_isa::OperandError,
    },
    /// A span lies outside the code.
    #[error("the routine span `{0}` lies outside the code")]
    Span(String),
    /// The module has no `start`.
    #[error("the module has no `start`: it is a library")]
    NoStart,
    /// The module has too many instructions.
    #[error("the module has more than 2^30 instructions")]
    TooLong,
}

impl LoadError {
    /// The error code.
    pub fn code(&self) -> &'static str {
        match self {
            LoadError::Code(v) => v.problem.code(),
            LoadError::Operand { error, .. } => error.code(),
            LoadError::Span(_) => "P0140",
            LoadError::NoStart => "P0141",
            LoadError::TooLong => "P0142",
        }
    }

    /// Advice on how to fix the error.
    pub fn help(&self) -> &'static str {
        match self {
            LoadError::Code(v) => v.problem.help(),
            LoadError::Operand { error, .. } => error.help(),
            LoadError::Span(_) => "make the module anew with `pendula asm`",
            LoadError::NoStart => "a program begins with `start` and ends with `finish`",
            LoadError::TooLong => "divide the program",
        }
    }
}

impl Program {
    /// Verifies and decodes a module. With `checks` off, the conditions that `assert`, `zero`, `push`, `pop` and the landing places of
    /// jumps check are assumed to hold.
    pub fn new(module: Module, checks: bool) -> Result<Program, LoadError> {
        let _span = tracing::debug_span!("verify and decode", instructions = module.code.len()).entered();
        if module.code.len() >= 1 << 30 {
            return Err(LoadError::TooLong);
        }
        if let Some(&violation) = verify(&module).1.first() {
            return Err(LoadError::Code(violation));
        }
        for (at, inst) in module.code.iter().enumerate() {
            inst.validate(module.flags.profile).map_err(|error| LoadError::Operand { at: at as u32, error })?;
        }
        if let Some(span) = module.spans.iter().find(|s| s.start > s.end || s.end as usize > module.code.len()) {
            return Err(LoadError::Span(span.name.clone()));
        }
        let decoded = decode(&module, checks);
        if decoded.entry.is_none() {
            return Err(LoadError::NoStart);
        }
        Ok(Program {
            module,
            decoded,
            checks,
            whole: None,
            #[cfg(feature = "jit")]
            engine_code: Default::default(),
        })
    }

    /// The straight-line instructions with the handlers of an AD mode.
    pub(crate) fn ops(&self, ad_mode: AdMode) -> &[Op] {
        self.decoded.ops(&self.module, ad_mode)
    }

    /// The uses of extensions, for an AD mode.
    pub(crate) fn extensions(&self, ad_mode: AdMode) -> Shared {
        self.decoded.extensions(&self.module, ad_mode)
    }

    /// Sets the code for whole runs, for machines that allow it ([`crate::Machine::allow_whole`]).
    pub fn set_whole(&mut self, whole: Arc<dyn WholeProgram>) {
        self.whole = Some(whole);
    }

    /// Whether it has code for whole runs, or may get it.
    pub fn has_whole(&self) -> bool {
        self.whole.is_some()
    }

    pub(crate) fn whole(&self) -> Option<&dyn WholeProgram> {
        self.whole.as_deref()
    }

    /// The number of units compiled so far; none with the interpreter.
    pub fn compiled_units(&self) -> CompiledUnits {
        #[cfg(feature = "jit")]
        return self.engine_code.made();
        #[cfg(not(feature = "jit"))]
        CompiledUnits::default()
    }

    /// The module.
    pub fn module(&self) -> &Module {
        &self.module
    }
}
