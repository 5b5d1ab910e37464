//! Runs programs in Nil and Janus by C code, which is generated, compiled by the system's compiler, and kept for later
//! runs. It is compiled when a run needs it, or beside runs by other code, once these have taken a while.

mod turns;
mod waiting;

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use pendula_codegen::cc::{CcError, Compiler, Rounding};
use pendula_codegen::whole::Code;
use pendula_compiler::c::{self, Certify, KERNELS, Mode, Refused};
use pendula_compiler::compile::for_c;
use pendula_compiler::ir::{Loc, Program};
use pendula_compiler::lower::Argument;
use pendula_compiler::passes::Switches;
use pendula_isa::adjoint::{ActiveArguments, AdMode, TANGENTS};
use pendula_isa::counts::Direction;
use pendula_vm::{RunKind, WholeCode, WholeProgram};

use crate::report::visible::visible;
use crate::state::compiled::CompiledSource;
use turns::LOOPS;
use waiting::{AGAIN, Working};

pub use pendula_codegen::cc::{check_environment, stop_compilers};
pub use turns::{LoopPlace, LoopTurn, is_under_way, where_runs_are};
pub use waiting::wait_for_compiler;

/// How long runs of a kind take in all before it is looked up whether they have C code in the cache.
const LOOK_UP_AFTER: Duration = Duration::from_millis(3);

/// How long they take before the C compiler is called.
const COMPILE_AFTER: Duration = Duration::from_millis(30);

/// What code lets be forgotten, from the fastest to the one that reaches the end whenever a machine does.
const LEVELS: [Certify; 3] = [Certify::Everything, Certify::Arrays, Certify::Nothing];

/// The same if the compiler began so often and its process ended before it was done: it takes longer than such runs, and is given more time
/// once.
fn compile_after(begun: u32) -> Duration {
    match begun {
        0 => COMPILE_AFTER,
        1 => 10 * COMPILE_AFTER,
        _ => Duration::from_secs(4_u64.saturating_pow(begun.min(8)) / 2),
    }
}

/// The size of the stack of a thread that compiles, in bytes.
const STACK: usize = 16 << 20;

/// Why a program is not run by C code.
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
}

/// When C code is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// When a run needs it; the run waits.
    AtOnce,
    /// Beside runs by other code.
    Beside,
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

/// Code for one kind of run.
struct Attempt {
    code: Code,
    /// The data of which it may change what the words carry.
    carried: Vec<Range<usize>>,
    /// The level of the code to which it leaves runs in which partial sums are too large for their rounding to be forgotten, if there are such runs.
    next: Option<usize>,
}

impl Attempt {
    /// The code of a text that has one mode.
    fn new(code: Code, source: &c::Source, level: usize, files: &[String]) -> Attempt {
        let place = |loc: &Loc| LoopPlace {
            file: files.get(usize::from(loc.file)).cloned().unwrap_or_default(),
            line: loc.line,
        };
        let loops = source.loops.iter().map(place).collect();
        let last = LEVELS.len() - 1;
        let next = if level == 0 && source.limits_variables { Some(1) } else { source.limits.then_some(last) };
        let next = next.filter(|next| *next > level);
        LOOPS.lock().unwrap_or_else(PoisonError::into_inner).insert(code.id(), loops);
        Attempt { code, carried: source.carried.first().cloned().unwrap_or_default(), next }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        LOOPS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.code.id());
    }
}

/// The place of the code for one kind of run.
#[derive(Default)]
struct Slot {
    /// The code; `None` within if there can be none.
    code: OnceLock<Option<Attempt>>,
    beside: Mutex<Beside>,
}

/// What has been done for code that is made beside runs.
#[derive(Default)]
struct Beside {
    /// How long runs of the kind have taken without it.
    spent: Duration,
    stage: Stage,
}

#[derive(Default)]
enum Stage {
    #[default]
    Idle,
    /// A thread looks it up, or compiles it.
    UnderWay,
    /// It is not in the cache, and is compiled once runs have taken so long.
    Missing(c::Source, Duration),
}

/// A program in C. Each kind of run is compiled when it is first needed.
pub struct NativeProgram {
    when: When,
    shared: Arc<Shared>,
}

/// What threads that compile share with those that run.
struct Shared {
    /// The program as it was read.
    source: Program,
    arguments: Vec<Argument>,
    /// Where in the data the words of each argument are.
    places: Vec<Range<usize>>,
    how: Rounding,
    switches: Switches,
    analysed: OnceLock<Analysed>,
    /// The code of each kind of run, by [`index`], at each of [`LEVELS`].
    codes: [[Slot; RUN_KINDS]; LEVELS.len()],
    /// The kinds of run forward and back that have had a place, with less than all gradient words.
    requests: [OnceLock<ActiveArguments>; REQUESTS],
    /// The level with which runs of a kind begin.
    begins: [AtomicUsize; RUN_KINDS],
}

/// The program as C is written from it, and its data.
struct Analysed {
    program: Program,
    changes: Vec<Range<usize>>,
    carries: Vec<Range<usize>>,
    floats: Vec<Range<usize>>,
}

impl Shared {
    fn analysed(&self) -> &Analysed {
        self.analysed.get_or_init(|| {
            let program = for_c(self.source.clone(), self.switches);
            let arguments = &self.arguments;
            let floats = if self.how == Rounding::Fast { c::floats(&program, arguments) } else { Vec::new() };
            let (changes, carries) = (c::changes(&program, arguments), c::carries(&program, arguments));
            Analysed { program, changes, carries, floats }
        })
    }

    /// The code's text.
    fn write(&self, kind: RunKind, level: usize) -> Result<c::Source, NativeError> {
        let settings =
            c::Settings { fast: self.how == Rounding::Fast, certify: LEVELS[level], switches: self.switches };
        Ok(c::write(&self.analysed().program, &self.arguments, &[self.mode(kind)], settings)?)
    }

    fn compile(&self, kind: RunKind, level: usize, source: &c::Source) -> Result<Attempt, NativeError> {
        let _span = tracing::debug_span!("compile to C", kind = ?kind).entered();
        let code = Code::new(&source.text, &source.kernels, (KERNELS, &self.mode(kind).name()), self.how)?;
        Ok(Attempt::new(code.with_tangents(tangents(kind)), source, level, &self.source.files))
    }

    /// The C function that makes such runs.
    fn mode(&self, kind: RunKind) -> Mode {
        match index(&self.requests, kind).1 {
            RunKind::Run(direction, ad_mode) => Mode::Run(direction, ad_mode),
            RunKind::ForwardAndBack(active) => Mode::ForwardAndBack(active),
            RunKind::HessianRows(active) => Mode::HessianRows(active),
        }
    }

    fn slot(&self, kind: RunKind, level: usize) -> &Slot {
        &self.codes[level][index(&self.requests, kind).0]
    }

    /// The level with which runs of this kind begin.
    fn begins(&self, kind: RunKind) -> &AtomicUsize {
        &self.begins[index(&self.requests, kind).0]
    }

    /// Writes the code and looks it up in the cache. If it is not there, compiles it if runs have taken long enough.
    fn look_up(&self, kind: RunKind, level: usize) {
        let slot = self.slot(kind, level);
        let found = self.write(kind, level).and_then(|source| {
            let name = self.mode(kind).name();
            let code = Code::cached(&source.text, &source.kernels, (KERNELS, &name), self.how)?;
            let code = code.map(|code| code.with_tangents(tangents(kind)));
            Ok(code.map(|code| Attempt::new(code, &source, level, &self.source.files)).ok_or(source))
        });
        match found {
            Ok(Ok(attempt)) => self.put(kind, level, Ok(attempt)),
            Ok(Err(source)) => {
                let mut beside = slot.beside.lock().unwrap_or_else(PoisonError::into_inner);
                let after = compile_after(Code::times_begun(&source.text, self.how));
                if beside.spent < after {
                    beside.stage = Stage::Missing(source, after);
                    return;
                }
                drop(beside);
                AGAIN.fetch_or(after > COMPILE_AFTER, Ordering::Relaxed);
                self.put(kind, level, self.compile(kind, level, &source));
            }
            Err(error) => self.put(kind, level, Err(error)),
        }
    }

    /// Hands code to the runs.
    fn put(&self, kind: RunKind, level: usize, made: Result<Attempt, NativeError>) {
        match &made {
            // A file is the user's to mend; without a compiler, other code runs.
            Err(error @ NativeError::Compiler(CcError::File { .. })) => {
                tracing::warn!("not run as a whole: {}", visible(&error.to_string()));
            }
            Err(error) => tracing::info!("not run as a whole: {}", visible(&error.to_string())),
            Ok(_) => {}
        }
        if made.is_err() {
            // What there is runs those runs that it can.
            self.begins(kind).store(0, Ordering::Relaxed);
        }
        let _ = self.slot(kind, level).code.set(made.ok());
    }
}

impl NativeProgram {
    /// Makes the C program from [`pendula_compiler::compile::Compiled::source`] and the data symbols of its arguments.
    /// The run forward is compiled here if code is wanted at once.
    ///
    /// # Errors
    /// The program cannot be translated to C, or the C cannot be compiled.
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
        };
        if when == When::AtOnce {
            let forward = RunKind::Run(Direction::Forward, AdMode::Plain);
            let code = shared.compile(forward, 0, &shared.write(forward, 0)?)?;
            let _ = shared.slot(forward, 0).code.set(Some(code));
        }
        Ok(NativeProgram { when, shared: Arc::new(shared) })
    }

    fn code(&self, kind: RunKind, level: usize) -> Option<&Attempt> {
        let slot = self.shared.slot(kind, level);
        let made = match self.when {
            When::Beside => slot.code.get()?,
            When::AtOnce => slot.code.get_or_init(|| {
                let shared = &self.shared;
                let made = shared.write(kind, level).and_then(|source| shared.compile(kind, level, &source));
                made.inspect_err(tell).ok()
            }),
        };
        made.as_ref()
    }

    fn begins(&self, kind: RunKind) -> usize {
        self.shared.begins(kind).load(Ordering::Relaxed)
    }

    /// The level to which code that is there leaves runs.
    fn next(&self, kind: RunKind, level: usize) -> Option<usize> {
        self.shared.slot(kind, level).code.get()?.as_ref()?.next
    }

    /// Starts a thread that makes code, unless there is one.
    fn make(&self, kind: RunKind, level: usize, beside: &mut Beside) {
        let stage = std::mem::replace(&mut beside.stage, Stage::UnderWay);
        let (shared, working) = (Arc::clone(&self.shared), Working::begin());
        let work = move || {
            let _working = working;
            match stage {
                Stage::Idle => shared.look_up(kind, level),
                Stage::Missing(source, after) => {
                    AGAIN.fetch_or(after > COMPILE_AFTER, Ordering::Relaxed);
                    shared.put(kind, level, shared.compile(kind, level, &source));
                }
                Stage::UnderWay => {}
            }
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

/// How many tangents runs of a kind carry at once.
fn tangents(kind: RunKind) -> usize {
    match kind {
        RunKind::HessianRows(_) => TANGENTS,
        RunKind::Run(..) | RunKind::ForwardAndBack(_) => 1,
    }
}

/// The number of kinds of runs.
const RUN_KINDS: usize = 12 + 2 * REQUESTS;

/// For how many requests there is code of their own; runs for others make all gradient words.
const REQUESTS: usize = 4;

/// The number of a kind of run, and the kind of the code that makes such runs.
fn index(requests: &[OnceLock<ActiveArguments>; REQUESTS], kind: RunKind) -> (usize, RunKind) {
    match kind {
        RunKind::Run(direction, ad_mode) => {
            let ad_mode = match ad_mode {
                AdMode::Plain => 0,
                AdMode::Gradient => 1,
                AdMode::Tangent => 2,
                AdMode::GradientTangent => 3,
                AdMode::SecondGradient => 4,
            };
            (2 * ad_mode + usize::from(direction == Direction::Backward), kind)
        }
        RunKind::ForwardAndBack(active) => {
            let (n, active) = request(requests, active);
            (10 + n, RunKind::ForwardAndBack(active))
        }
        RunKind::HessianRows(active) => {
            let (n, active) = request(requests, active);
            (11 + REQUESTS + n, RunKind::HessianRows(active))
        }
    }
}

/// The number of a request, and the request for which there is code: that for all gradient words, whose number is the last, if others
/// have had all places.
fn request(requests: &[OnceLock<ActiveArguments>; REQUESTS], active: ActiveArguments) -> (usize, ActiveArguments) {
    let place = |request: &OnceLock<ActiveArguments>| *request.get_or_init(|| active) == active;
    let own = if active == ActiveArguments::ALL { None } else { requests.iter().position(place) };
    own.map_or((REQUESTS, ActiveArguments::ALL), |n| (n, active))
}

impl WholeCode for Attempt {
    fn run(&self, memory: &mut [u64], lanes: [&mut [u64]; 3], top: usize, midpoint: &mut [u64]) -> bool {
        self.code.run(memory, lanes, top, midpoint)
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
        self.when == When::Beside && self.shared.slot(kind, self.begins(kind)).code.get().is_none()
    }

    fn make(&self, kind: RunKind) {
        let level = self.begins(kind);
        let slot = self.shared.slot(kind, level);
        let under_way = || matches!(slot.beside.lock().unwrap_or_else(PoisonError::into_inner).stage, Stage::UnderWay);
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
        let level = self.begins(kind);
        let slot = self.shared.slot(kind, level);
        if self.when == When::AtOnce || slot.code.get().is_some() {
            return;
        }
        let mut beside = slot.beside.lock().unwrap_or_else(PoisonError::into_inner);
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

    fn leaves_values(&self) -> bool {
        // If sums are rounded anyway, undoing them gives the same result except for rounding.
        self.shared.how == Rounding::Fast
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
    ) -> bool {
        let level = (0..attempt).try_fold(self.begins(kind), |level, _| self.next(kind, level));
        let Some(level) = level else { return false };
        let Some(Attempt { code, .. }) = self.code(kind, level) else {
            if self.shared.slot(kind, level).code.get().is_none() {
                // It is likely to be needed again. Until it is there, other code runs such runs.
                self.shared.begins(kind).store(level, Ordering::Relaxed);
            }
            return false;
        };
        let ended = code.run(memory, lanes, top, turned);
        if ended {
            // It is likely to happen again.
            self.shared.begins(kind).store(level, Ordering::Relaxed);
        }
        ended
    }
}
