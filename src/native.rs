//! Runs programs in Nil by C code, which is generated, compiled by the system's compiler when a run needs it, and kept
//! for later runs.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use pendula_codegen::cc::{CcError, Rounding};
use pendula_codegen::whole::Code;
use pendula_compiler::c::{self, KERNELS, Mode, Refused};
use pendula_compiler::ir::Program;
use pendula_compiler::lower::Argument;
use pendula_compiler::passes::Switches;
use pendula_isa::adjoint::AdMode;
use pendula_isa::counts::Direction;
use pendula_vm::{RunKind, WholeProgram};

use crate::report::visible::visible;
use crate::state::compiled::CompiledSource;

/// Why a program is not run by C code.
#[derive(Debug, thiserror::Error)]
pub enum NativeError {
    /// The program cannot be translated to C; another engine runs it.
    #[error("{0}")]
    Refused(#[from] Refused),
    /// The system's compiler is missing or fails.
    #[error("{0}")]
    Compiler(#[from] CcError),
}

/// Attaches C code for whole runs to a Nil program that was compiled for it; `fast` allows different roundings.
///
/// # Errors
/// The program cannot be translated to C, or the C cannot be compiled. The machine runs it nevertheless.
pub fn attach(program: &mut pendula_vm::Program, nil: &CompiledSource, fast: bool) -> Result<(), NativeError> {
    let Some(ir) = &nil.native else { return Ok(()) };
    let how = if fast { Rounding::Fast } else { Rounding::Strict };
    let native = NativeProgram::new(ir.clone(), nil.arguments.clone(), how, nil.switches)?;
    program.set_whole(Arc::new(native));
    Ok(())
}

/// Code for one kind of run.
struct Attempt {
    code: Code,
    /// Whether it gives up where partial sums are too large for their rounding to be forgotten.
    limits: bool,
}

/// A program in C. Each kind of run is compiled when it is first needed.
pub struct NativeProgram {
    program: Program,
    arguments: Vec<Argument>,
    changes: Vec<Range<usize>>,
    carries: Vec<Range<usize>>,
    floats: Vec<Range<usize>>,
    how: Rounding,
    switches: Switches,
    /// The code of each kind of run, by [`index`].
    codes: [OnceLock<Option<Attempt>>; RUN_KINDS],
    /// The same with all floating-point sums undone, for runs in which partial sums are too large for that to be left out.
    undoing: [OnceLock<Option<Attempt>>; RUN_KINDS],
    /// Whether partial sums were too large in a run of a kind.
    large: [AtomicBool; RUN_KINDS],
}

impl NativeProgram {
    /// Makes the C program from [`pendula_compiler::compile::Compiled::native`] and the data symbols of its arguments.
    /// The run forward is compiled at once.
    ///
    /// # Errors
    /// The program cannot be translated to C, or the C cannot be compiled.
    pub fn new(
        program: Program,
        arguments: Vec<Argument>,
        how: Rounding,
        switches: Switches,
    ) -> Result<NativeProgram, NativeError> {
        let (changes, carries) = (c::changes(&program, &arguments), c::carries(&program, &arguments));
        let floats = if how == Rounding::Fast { c::floats(&program, &arguments) } else { Vec::new() };
        let native = NativeProgram {
            program,
            arguments,
            changes,
            carries,
            floats,
            how,
            switches,
            codes: Default::default(),
            undoing: Default::default(),
            large: Default::default(),
        };
        let forward = RunKind::Run(Direction::Forward, AdMode::Plain);
        let code = native.compile(forward, true)?;
        let _ = native.codes[index(forward)].set(Some(code));
        Ok(native)
    }

    fn compile(&self, kind: RunKind, certify: bool) -> Result<Attempt, NativeError> {
        let _span = tracing::debug_span!("compile to C", kind = ?kind).entered();
        let mode = match kind {
            RunKind::Run(direction, ad_mode) => Mode::Run(direction, ad_mode),
            RunKind::ForwardAndBack => Mode::ForwardAndBack,
        };
        let settings = c::Settings { fast: self.how == Rounding::Fast, certify, switches: self.switches };
        let source = c::write(&self.program, &self.arguments, &[mode], settings)?;
        let code = Code::new(&source.text, &source.kernels, (KERNELS, &mode.name()), self.how)?;
        Ok(Attempt { code, limits: source.limits })
    }

    fn code(&self, kind: RunKind, certify: bool) -> Option<&Attempt> {
        let codes = if certify { &self.codes } else { &self.undoing };
        codes[index(kind)].get_or_init(|| self.compile(kind, certify).inspect_err(tell).ok()).as_ref()
    }

    /// Whether partial sums were too large in a run of this kind.
    fn is_large(&self, kind: RunKind) -> &AtomicBool {
        &self.large[index(kind)]
    }
}

/// Logs a defect of ours or of the C compiler; another engine runs the program.
fn tell(error: &NativeError) {
    match error {
        NativeError::Refused(why) => tracing::info!("not run as a whole: {}", visible(&why.to_string())),
        NativeError::Compiler(error) => tracing::warn!("not run as a whole: {}", visible(&error.to_string())),
    }
}

/// The number of active runs by such code, which does not check for interrupts.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// True if a run by such code is active, on any thread.
pub fn is_under_way() -> bool {
    UNDER_WAY.load(Ordering::Relaxed) > 0
}

/// The number of kinds of runs.
const RUN_KINDS: usize = 11;

/// The number of a kind of run.
fn index(kind: RunKind) -> usize {
    match kind {
        RunKind::Run(direction, ad_mode) => {
            let ad_mode = match ad_mode {
                AdMode::Plain => 0,
                AdMode::Gradient => 1,
                AdMode::Tangent => 2,
                AdMode::GradientTangent => 3,
                AdMode::SecondGradient => 4,
            };
            2 * ad_mode + usize::from(direction == Direction::Backward)
        }
        RunKind::ForwardAndBack => RUN_KINDS - 1,
    }
}

impl WholeProgram for NativeProgram {
    fn has(&self, kind: RunKind) -> bool {
        self.code(kind, true).is_some()
    }

    fn changes(&self) -> &[Range<usize>] {
        &self.changes
    }

    fn carries(&self) -> &[Range<usize>] {
        &self.carries
    }

    fn unchecked(&self) -> &[Range<usize>] {
        &self.floats
    }

    fn leaves_values(&self) -> bool {
        // If sums are rounded anyway, undoing them gives the same result except for rounding.
        self.how == Rounding::Fast
    }

    fn attempts(&self, kind: RunKind) -> usize {
        let limits = self.code(kind, true).is_some_and(|attempt| attempt.limits);
        if limits && !self.is_large(kind).load(Ordering::Relaxed) { 2 } else { 1 }
    }

    fn run(
        &self,
        kind: RunKind,
        attempt: usize,
        memory: &mut [u64],
        lanes: [&mut [u64]; 3],
        top: usize,
        turned: &mut [u64],
    ) -> bool {
        let Some(first) = self.code(kind, true) else { return false };
        let certify = !first.limits || attempt == 0 && !self.is_large(kind).load(Ordering::Relaxed);
        let Some(Attempt { code, .. }) = (if certify { Some(first) } else { self.code(kind, false) }) else {
            return false;
        };
        UNDER_WAY.fetch_add(1, Ordering::Relaxed);
        let ended = code.run(memory, lanes, top, turned);
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
        if ended && !certify {
            // It is likely to happen again.
            self.is_large(kind).store(true, Ordering::Relaxed);
        }
        ended
    }
}
