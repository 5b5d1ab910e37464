//! Runs programs in Nil and Janus as wholes. C code is generated, compiled by the system's compiler, and kept for later
//! runs: when a run needs it, or beside runs by other code, once these have taken a while. Code by Cranelift takes milliseconds to make, and runs
//! programs meanwhile, and where there is no C compiler.

mod making;
mod turns;
mod waiting;

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use pendula_codegen::cc::{CcError, Compiler, Rounding};
use pendula_compiler::c::{self, Refused};
use pendula_compiler::ir::Program;
use pendula_compiler::lower::Argument;
use pendula_compiler::passes::Switches;
use pendula_isa::adjoint::AdMode;
use pendula_isa::counts::Direction;
use pendula_vm::{RunKind, WholeBy, WholeCode, WholeEnd, WholeProgram};

use crate::report::visible::visible;
use crate::state::compiled::CompiledSource;
use making::{Attempt, Beside, COMPILE_AFTER, LOOK_UP_AFTER, Shared, Stage};
use waiting::{AGAIN, Working};

pub use pendula_codegen::cc::{check_environment, stop_compilers};
pub use turns::{LoopPlace, LoopTurn, is_under_way, where_runs_are};
pub use waiting::wait_for_compiler;

/// The size of the stack of a thread that compiles, in bytes.
const STACK: usize = 16 << 20;

/// Why a program has no code for whole runs.
#[derive(Debug, thiserror::Error)]
pub enum NativeError {
    /// C is generated from the source of programs in Nil and Janus that undo everything.
    #[error("there is C only for programs in Nil and Janus")]
    NoSource,
    /// The program erases instead of uncomputing, which C does not.
    #[error("it erases, and C undoes everything")]
    Erases,
    /// The program cannot be translated to C; another engine runs it.
    #[error("{0}")]
    Refused(#[from] Refused),
    /// The system's compiler is missing or fails.
    #[error("{0}")]
    Compiler(#[from] CcError),
    /// Cranelift makes no code for it.
    #[cfg(feature = "jit")]
    #[error("{0}")]
    Cranelift(pendula_vm::WholeCodeError),
    /// It takes Cranelift too long.
    #[error("it has {0} operations, which take long to compile: Cranelift gets at most {max}", max = making::MOST_OPERATIONS)]
    TooLarge(usize),
    /// This build is without Cranelift.
    #[cfg(not(feature = "jit"))]
    #[error("this build is without Cranelift")]
    NoCranelift,
}

/// Which code for whole runs is made, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// C code, when a run needs it; the run waits.
    AtOnce,
    /// Code by Cranelift and then C code, beside runs by other code.
    Beside,
    /// Code by Cranelift, beside runs by other code.
    BesideWithoutC,
    /// Code by Cranelift, when a run needs it; the run waits.
    AtOnceWithoutC,
}

impl When {
    fn is_at_once(self) -> bool {
        matches!(self, When::AtOnce | When::AtOnceWithoutC)
    }

    fn has_c(self) -> bool {
        matches!(self, When::AtOnce | When::Beside)
    }

    fn has_quick_code(self) -> bool {
        self != When::AtOnce
    }
}

/// Checks that there is a C compiler.
///
/// # Errors
/// There is none.
pub fn check_compiler() -> Result<(), CcError> {
    Compiler::find().map(drop)
}

/// Attaches C code for whole runs to a compiled program; `fast` allows different roundings.
///
/// # Errors
/// With [`When::AtOnce`]: the program cannot be translated to C, or the C cannot be compiled. The machine runs it
/// nevertheless.
pub fn attach(
    program: &mut pendula_vm::Program,
    compiled: &CompiledSource,
    fast: bool,
    when: When,
) -> Result<(), NativeError> {
    let ir = compiled.source.as_ref().ok_or(NativeError::NoSource)?;
    if compiled.erases {
        return Err(NativeError::Erases);
    }
    let how = if fast { Rounding::Fast } else { Rounding::Strict };
    let native = NativeProgram::new(ir.clone(), compiled.arguments.clone(), how, compiled.switches, when)?;
    program.set_whole(Arc::new(native));
    Ok(())
}

/// A program with code for whole runs. Each kind of run is compiled when it is first needed.
pub struct NativeProgram {
    shared: Arc<Shared>,
}

impl NativeProgram {
    /// Code for [`pendula_compiler::compile::Compiled::source`] and the data symbols of its arguments.
    /// The run forward is compiled here if code is wanted at once.
    ///
    /// # Errors
    /// If code is wanted at once: the program has no such code, or it cannot be compiled.
    pub fn new(
        source: Program,
        arguments: Vec<Argument>,
        how: Rounding,
        switches: Switches,
        when: When,
    ) -> Result<NativeProgram, NativeError> {
        let shared = Shared {
            places: c::places(&source, &arguments),
            source,
            arguments,
            how,
            switches,
            analysed: OnceLock::new(),
            codes: Default::default(),
            requests: Default::default(),
            begins: Default::default(),
            when,
        };
        let forward = RunKind::Run(Direction::Forward, AdMode::Plain);
        match when {
            When::AtOnce => {
                let code = shared.compile(forward, 0, &shared.write(forward, 0)?)?;
                let _ = shared.slot(forward, 0).code.set(Some(code));
            }
            When::AtOnceWithoutC => {
                let code = shared.compile_quickly(forward, 0)?;
                let _ = shared.slot(forward, 0).quick.set(Some(code));
            }
            When::Beside | When::BesideWithoutC => {}
        }
        Ok(NativeProgram { shared: Arc::new(shared) })
    }

    fn code(&self, kind: RunKind, level: usize) -> Option<&Attempt> {
        let shared = &self.shared;
        match shared.when {
            When::Beside | When::BesideWithoutC => shared.there(kind, level),
            When::AtOnceWithoutC => shared.quick_code(kind, level),
            When::AtOnce => {
                let make = || {
                    let made = shared.write(kind, level).and_then(|source| shared.compile(kind, level, &source));
                    made.inspect_err(tell).ok()
                };
                shared.slot(kind, level).code.get_or_init(make).as_ref()
            }
        }
    }

    fn begins(&self, kind: RunKind) -> usize {
        self.shared.begins(kind).load(Ordering::Relaxed)
    }

    /// The level to which code that is there leaves runs.
    fn next(&self, kind: RunKind, level: usize) -> Option<usize> {
        self.shared.there(kind, level)?.next
    }

    /// Tells how long a run took that C code would have made.
    fn spend(&self, kind: RunKind, level: usize, time: Duration) {
        let shared = &self.shared;
        let slot = shared.slot(kind, level);
        if shared.when.is_at_once() || slot.code.get().is_some() {
            return;
        }
        let mut beside = shared.beside(kind, level);
        beside.spent += time;
        let due = match beside.stage {
            Stage::Idle => beside.spent >= LOOK_UP_AFTER,
            Stage::Missing(_, after) => beside.spent >= after,
            Stage::UnderWay => false,
        };
        if due {
            self.make(kind, level, &mut beside);
        }
    }

    /// Starts a thread that makes code, unless there is one.
    fn make(&self, kind: RunKind, level: usize, beside: &mut Beside) {
        let stage = std::mem::replace(&mut beside.stage, Stage::UnderWay);
        let (shared, working) = (Arc::clone(&self.shared), Working::begin());
        let work = move || match stage {
            Stage::Idle => shared.look_up(kind, level, working),
            Stage::Missing(source, after) => {
                let _working = working;
                AGAIN.fetch_or(after > COMPILE_AFTER, Ordering::Relaxed);
                shared.put(kind, level, shared.compile(kind, level, &source));
            }
            Stage::UnderWay => {}
        };
        let begun = std::thread::Builder::new().name("C compiler".into()).stack_size(STACK).spawn(work);
        if let Err(error) = begun {
            tracing::info!("no thread for the C compiler: {error}");
            let _ = self.shared.slot(kind, level).code.set(None);
        }
    }
}

/// Logs a defect of ours or of the C compiler; another engine runs the program.
fn tell(error: &NativeError) {
    match error {
        NativeError::Compiler(error) => tracing::warn!("not run as a whole: {}", visible(&error.to_string())),
        why => tracing::info!("not run as a whole: {}", visible(&why.to_string())),
    }
}

impl WholeProgram for NativeProgram {
    fn code(&self, kind: RunKind) -> Option<&dyn WholeCode> {
        NativeProgram::code(self, kind, self.begins(kind)).map(|attempt| attempt as &dyn WholeCode)
    }

    fn has(&self, kind: RunKind) -> bool {
        self.code(kind, self.begins(kind)).is_some()
    }

    fn may_come(&self, kind: RunKind) -> bool {
        let (shared, level) = (&self.shared, self.begins(kind));
        let slot = shared.slot(kind, level);
        let c_may = shared.when.has_c() && slot.code.get().is_none();
        let quick_may = shared.when.has_quick_code() && slot.quick.get().is_none();
        !shared.when.is_at_once() && shared.there(kind, level).is_none() && (c_may || quick_may)
    }

    fn make(&self, kind: RunKind) {
        let level = self.begins(kind);
        if self.shared.there(kind, level).is_some() || self.shared.quick_code(kind, level).is_some() {
            return;
        }
        if !self.shared.when.has_c() {
            return;
        }
        let slot = self.shared.slot(kind, level);
        let under_way = || matches!(self.shared.beside(kind, level).stage, Stage::UnderWay);
        if !under_way() && slot.code.get().is_none() {
            let made = self.shared.write(kind, level).and_then(|source| self.shared.compile(kind, level, &source));
            self.shared.put(kind, level, made);
        }
        // Another thread makes it.
        while slot.code.get().is_none() && under_way() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn spent(&self, kind: RunKind, time: Duration) {
        self.spend(kind, self.begins(kind), time);
    }

    fn changes(&self) -> &[Range<usize>] {
        &self.shared.analysed().changes
    }

    fn carries(&self) -> &[Range<usize>] {
        &self.shared.analysed().carries
    }

    fn carries_in(&self, kind: RunKind) -> &[Range<usize>] {
        self.code(kind, self.begins(kind)).map_or(self.carries(), |attempt| &attempt.carried)
    }

    fn arguments(&self) -> &[Range<usize>] {
        &self.shared.places
    }

    fn unchecked(&self) -> &[Range<usize>] {
        &self.shared.analysed().floats
    }

    fn keeps(&self, kind: RunKind) -> bool {
        self.code(kind, self.begins(kind)).is_some_and(|attempt| attempt.keeps)
    }

    fn is_deep(&self, kind: RunKind) -> bool {
        self.code(kind, self.begins(kind)).is_some_and(|attempt| attempt.code.is_deep())
    }

    fn stop_keeping(&self, kind: RunKind) {
        // Other runs may have found that, too.
        let _ = self.shared.begins(kind).fetch_update(Ordering::Relaxed, Ordering::Relaxed, making::keeping_nothing);
    }

    fn attempts(&self, kind: RunKind) -> usize {
        let (mut level, mut attempts) = (self.begins(kind), 1);
        while let Some(next) = self.next(kind, level) {
            (level, attempts) = (next, attempts + 1);
        }
        attempts
    }

    fn run(
        &self,
        kind: RunKind,
        attempt: usize,
        memory: &mut [u64],
        lanes: [&mut [u64]; 3],
        top: usize,
        turned: &mut [u64],
    ) -> WholeEnd {
        let level = (0..attempt).try_fold(self.begins(kind), |level, _| self.next(kind, level));
        let Some(level) = level else { return WholeEnd::GaveUp };
        let shared = &self.shared;
        let Some(found) = self.code(kind, level).or_else(|| shared.quick_code(kind, level)) else {
            if shared.slot(kind, level).code.get().is_none() {
                // It is likely to be needed again. Until it is there, other code runs such runs.
                shared.begins(kind).store(level, Ordering::Relaxed);
            }
            return WholeEnd::GaveUp;
        };
        let begun = (found.by == WholeBy::Cranelift && shared.when.has_c()).then(Instant::now);
        let end = found.run(memory, lanes, top, turned);
        if let Some(begun) = begun {
            self.spend(kind, level, begun.elapsed());
        }
        if matches!(end, WholeEnd::Reached(_)) {
            // It is likely to happen again.
            shared.begins(kind).store(level, Ordering::Relaxed);
        }
        end
    }
}
