//! Runs programs in Nil and Janus as wholes. C code is generated, compiled by the system's compiler, and kept for later
//! runs: when a run needs it, or beside runs by other code, once these have taken a while. Code by Cranelift takes milliseconds to make, and runs
//! programs meanwhile, and where there is no C compiler.

mod turns;
mod waiting;

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use pendula_codegen::cc::{CcError, Compiler, Rounding};
use pendula_codegen::whole::{Code, End, leave, runs};
use pendula_compiler::c::{self, Certify, KERNELS, Mode, Refused};
use pendula_compiler::compile::for_c;
use pendula_compiler::ir::{Loc, Program};
use pendula_compiler::lower::Argument;
use pendula_compiler::passes::Switches;
use pendula_isa::adjoint::{ActiveArguments, AdMode, TANGENTS};
use pendula_isa::counts::Direction;
use pendula_vm::{RunKind, WholeBy, WholeCode, WholeEnd, WholeProgram};

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

/// How long a thread waits for runs to have taken that long.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

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
    /// Cranelift makes no code for it.
    #[cfg(feature = "jit")]
    #[error("{0}")]
    Cranelift(pendula_vm::WholeCodeError),
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

/// Code for one kind of run.
struct Attempt {
    code: Code,
    by: WholeBy,
    /// The data of which it may change what the words carry.
    carried: Vec<Range<usize>>,
    /// The level of the code to which it leaves runs in which partial sums are too large for their rounding to be forgotten, if there are such runs.
    next: Option<usize>,
}

impl Attempt {
    /// Code that has one mode, and what is known of it.
    fn new(code: Code, by: WholeBy, facts: &c::Facts, level: usize, files: &[String]) -> Attempt {
        let place = |loc: &Loc| LoopPlace {
            file: files.get(usize::from(loc.file)).cloned().unwrap_or_default(),
            line: loc.line,
        };
        let loops = facts.loops.iter().map(place).collect();
        let last = LEVELS.len() - 1;
        let next = if level == 0 && facts.limits_variables { Some(1) } else { facts.limits.then_some(last) };
        let next = next.filter(|next| *next > level);
        LOOPS.lock().unwrap_or_else(PoisonError::into_inner).insert(code.id(), loops);
        Attempt { code, by, carried: facts.carried.first().cloned().unwrap_or_default(), next }
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
    /// C code; `None` within if there can be none.
    code: OnceLock<Option<Attempt>>,
    /// Code by Cranelift.
    quick: OnceLock<Option<Attempt>>,
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

/// A program with code for whole runs. Each kind of run is compiled when it is first needed.
pub struct NativeProgram {
    shared: Arc<Shared>,
}

/// What threads that compile share with those that run.
struct Shared {
    when: When,
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
        Ok(Attempt::new(code.with_tangents(tangents(kind)), WholeBy::C, &source.facts, level, &self.source.files))
    }

    /// Makes code by Cranelift, in which every rounding is that of the program.
    #[cfg(feature = "jit")]
    fn compile_quickly(&self, kind: RunKind, level: usize) -> Result<Attempt, NativeError> {
        let _span = tracing::debug_span!("compile a whole run by Cranelift", kind = ?kind).entered();
        if tangents(kind) > 1 {
            return Err(NativeError::Cranelift(pendula_vm::WholeCodeError::Vectors));
        }
        let settings = c::Settings { fast: false, certify: LEVELS[level], switches: self.switches };
        let (mut program, facts) = c::form(&self.analysed().program, &self.arguments, &[self.mode(kind)], settings)?;
        pendula_codegen::loops::jam_loops(&mut program);
        let code = pendula_vm::compile_whole(&program).map_err(NativeError::Cranelift)?;
        Ok(Attempt::new(code, WholeBy::Cranelift, &facts, level, &self.source.files))
    }

    #[cfg(not(feature = "jit"))]
    fn compile_quickly(&self, _: RunKind, _: usize) -> Result<Attempt, NativeError> {
        Err(NativeError::NoCranelift)
    }

    /// Code by Cranelift, which is made if it is not there.
    fn quick_code(&self, kind: RunKind, level: usize) -> Option<&Attempt> {
        if !self.when.has_quick_code() {
            return None;
        }
        let make = || {
            let made = self.compile_quickly(kind, level);
            made.inspect_err(|why| tracing::info!("no code by Cranelift: {}", visible(&why.to_string()))).ok()
        };
        self.slot(kind, level).quick.get_or_init(make).as_ref()
    }

    /// Code that is there: C code, if it is, and else code by Cranelift.
    fn there(&self, kind: RunKind, level: usize) -> Option<&Attempt> {
        let slot = self.slot(kind, level);
        slot.code.get().and_then(Option::as_ref).or_else(|| slot.quick.get().and_then(Option::as_ref))
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

    /// Looks C code up in the cache. If it is not there, makes code by Cranelift, and compiles C code if runs take long enough.
    fn look_up(&self, kind: RunKind, level: usize, working: Working) {
        if !self.when.has_c() {
            self.quick_code(kind, level);
            return;
        }
        let found = self.write(kind, level).and_then(|source| {
            let name = self.mode(kind).name();
            let code = Code::cached(&source.text, &source.kernels, (KERNELS, &name), self.how)?;
            let code = code.map(|code| code.with_tangents(tangents(kind)));
            Ok(code.map(|code| Attempt::new(code, WholeBy::C, &source.facts, level, &self.source.files)).ok_or(source))
        });
        match found {
            Ok(Ok(attempt)) => self.put(kind, level, Ok(attempt)),
            Ok(Err(source)) => {
                let after = compile_after(Code::times_begun(&source.text, self.how));
                let quick = self.quick_code(kind, level).map(|attempt| attempt.code.id());
                // A run by that code may take long.
                let left = after.saturating_sub(self.beside(kind, level).spent);
                if quick.is_some() && left > Duration::ZERO && left <= LONGEST_WAIT {
                    drop(working);
                    std::thread::sleep(left);
                }
                let _working = Working::begin();
                let mut beside = self.beside(kind, level);
                if beside.spent < after && !quick.is_some_and(runs) {
                    beside.stage = Stage::Missing(source, after);
                    return;
                }
                drop(beside);
                AGAIN.fetch_or(after > COMPILE_AFTER, Ordering::Relaxed);
                self.put(kind, level, self.compile(kind, level, &source));
            }
            Err(error) => {
                self.quick_code(kind, level);
                self.put(kind, level, Err(error));
            }
        }
    }

    fn beside(&self, kind: RunKind, level: usize) -> MutexGuard<'_, Beside> {
        self.slot(kind, level).beside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands C code to the runs. Those by other code begin again with it.
    fn put(&self, kind: RunKind, level: usize, made: Result<Attempt, NativeError>) {
        match &made {
            // A file is the user's to mend; without a compiler, other code runs.
            Err(error @ NativeError::Compiler(CcError::File { .. })) => {
                tracing::warn!("not run as a whole: {}", visible(&error.to_string()));
            }
            Err(error) => tracing::info!("not run as a whole: {}", visible(&error.to_string())),
            Ok(_) => {}
        }
        let slot = self.slot(kind, level);
        let quick = slot.quick.get().and_then(Option::as_ref);
        if made.is_err() && quick.is_none() {
            // What there is runs those runs that it can.
            self.begins(kind).store(0, Ordering::Relaxed);
        }
        let is_made = made.is_ok();
        let _ = slot.code.set(made.ok());
        if let Some(quick) = quick.filter(|_| is_made) {
            leave(quick.code.id());
        }
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
    fn run(&self, memory: &mut [u64], lanes: [&mut [u64]; 3], top: usize, midpoint: &mut [u64]) -> WholeEnd {
        match self.code.run(memory, lanes, top, midpoint) {
            End::Reached => WholeEnd::Reached(self.by),
            End::GaveUp => WholeEnd::GaveUp,
            End::Left => WholeEnd::Again,
        }
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
