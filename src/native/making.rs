//! How code for whole runs is made, and where it is: for each kind of run, C code and code by Cranelift.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use pendula_codegen::cc::{CcError, Rounding};
use pendula_codegen::whole::{Code, End, leave, runs};
use pendula_compiler::c::{self, Certify, KERNELS, Mode};
use pendula_compiler::compile::for_c;
use pendula_compiler::ir::{Loc, Program};
use pendula_compiler::lower::Argument;
use pendula_compiler::passes::Switches;
use pendula_isa::adjoint::{ActiveArguments, AdMode, TANGENTS};
use pendula_isa::counts::Direction;
use pendula_vm::{RunKind, WholeBy, WholeCode, WholeEnd};

use super::turns::{LOOPS, LoopPlace};
use super::waiting::{AGAIN, Working};
use super::{NativeError, When};
use crate::report::visible::visible;

/// How long runs of a kind take in all before it is looked up whether they have C code in the cache.
pub(super) const LOOK_UP_AFTER: Duration = Duration::from_millis(3);

/// How long they take before the C compiler is called.
pub(super) const COMPILE_AFTER: Duration = Duration::from_millis(30);

/// How long a thread waits for runs to have taken that long.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// The number of operations of a program that Cranelift gets: more would take it tenths of a second, which C code is better waited for.
pub(super) const MOST_OPERATIONS: usize = 6000;

/// What code lets be forgotten, from the fastest to the one that reaches the end whenever a machine does.
const FORGOTTEN: [Certify; 3] = [Certify::Everything, Certify::Arrays, Certify::Nothing];

/// The number of levels of code. Those in the first half keep values for the way back.
const LEVELS: usize = 2 * FORGOTTEN.len();

/// The level that keeps nothing for the way back, and else is the same as one that does.
pub(super) fn keeping_nothing(level: usize) -> Option<usize> {
    (level < FORGOTTEN.len()).then_some(level + FORGOTTEN.len())
}

/// The same if the compiler began so often and its process ended before it was done: it takes longer than such runs, and is given more time
/// once.
pub(super) fn compile_after(begun: u32) -> Duration {
    match begun {
        0 => COMPILE_AFTER,
        1 => 10 * COMPILE_AFTER,
        _ => Duration::from_secs(4_u64.saturating_pow(begun.min(8)) / 2),
    }
}

/// Code for one kind of run.
pub(super) struct Attempt {
    pub(super) code: Code,
    pub(super) by: WholeBy,
    /// The data of which it may change what the words carry.
    pub(super) carried: Vec<Range<usize>>,
    /// The level of the code to which it leaves runs in which partial sums are too large for their rounding to be forgotten, if there are such runs.
    pub(super) next: Option<usize>,
    /// Whether it keeps values for the way back.
    pub(super) keeps: bool,
}

impl Attempt {
    /// Code that has one mode, and what is known of it.
    pub(super) fn new(code: Code, by: WholeBy, facts: &c::Facts, level: usize, files: &[String]) -> Attempt {
        let place = |loc: &Loc| LoopPlace {
            file: files.get(usize::from(loc.file)).cloned().unwrap_or_default(),
            line: loc.line,
        };
        let loops = facts.loops.iter().map(place).collect();
        let number = level % FORGOTTEN.len();
        let [arrays, last] = [1, 2].map(|next| (number < next).then_some(level - number + next));
        let next = arrays.filter(|_| facts.limits_variables).or(last.filter(|_| facts.limits));
        let next = next.or(keeping_nothing(level).filter(|_| facts.keeps));
        LOOPS.lock().unwrap_or_else(PoisonError::into_inner).insert(code.id(), loops);
        Attempt { code, by, carried: facts.carried.first().cloned().unwrap_or_default(), next, keeps: facts.keeps }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        LOOPS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.code.id());
    }
}

/// The place of the code for one kind of run.
#[derive(Default)]
pub(super) struct Slot {
    /// C code; `None` within if there can be none.
    pub(super) code: OnceLock<Option<Attempt>>,
    /// Code by Cranelift.
    pub(super) quick: OnceLock<Option<Attempt>>,
    pub(super) beside: Mutex<Beside>,
}

/// What has been done for code that is made beside runs.
#[derive(Default)]
pub(super) struct Beside {
    /// How long runs of the kind have taken without it.
    pub(super) spent: Duration,
    pub(super) stage: Stage,
}

#[derive(Default)]
pub(super) enum Stage {
    #[default]
    Idle,
    /// A thread looks it up, or compiles it.
    UnderWay,
    /// It is not in the cache, and is compiled once runs have taken so long.
    Missing(c::Source, Duration),
}

/// What threads that compile share with those that run.
pub(super) struct Shared {
    pub(super) when: When,
    /// The program as it was read.
    pub(super) source: Program,
    pub(super) arguments: Vec<Argument>,
    /// Where in the data the words of each argument are.
    pub(super) places: Vec<Range<usize>>,
    pub(super) how: Rounding,
    pub(super) switches: Switches,
    pub(super) analysed: OnceLock<Analysed>,
    /// The code of each kind of run, by [`index`], at each of its levels.
    pub(super) codes: [[Slot; RUN_KINDS]; LEVELS],
    /// The kinds of run forward and back that have had a place, with less than all gradient words.
    pub(super) requests: [OnceLock<ActiveArguments>; REQUESTS],
    /// The level with which runs of a kind begin.
    pub(super) begins: [AtomicUsize; RUN_KINDS],
}

/// The program as C is written from it, and its data.
pub(super) struct Analysed {
    pub(super) program: Program,
    pub(super) changes: Vec<Range<usize>>,
    pub(super) carries: Vec<Range<usize>>,
    pub(super) floats: Vec<Range<usize>>,
}

impl Shared {
    pub(super) fn analysed(&self) -> &Analysed {
        self.analysed.get_or_init(|| {
            let program = for_c(self.source.clone(), self.switches);
            let arguments = &self.arguments;
            let looked_at = if self.how == Rounding::Fast { c::floats } else { c::results };
            let floats = looked_at(&program, arguments);
            let (changes, carries) = (c::changes(&program, arguments), c::carries(&program, arguments));
            Analysed { program, changes, carries, floats }
        })
    }

    fn settings(&self, level: usize, fast: bool) -> c::Settings {
        let (certify, keep) = (FORGOTTEN[level % FORGOTTEN.len()], keeping_nothing(level).is_some());
        c::Settings { fast, certify, keep, switches: self.switches }
    }

    /// The code's text.
    pub(super) fn write(&self, kind: RunKind, level: usize) -> Result<c::Source, NativeError> {
        let settings = self.settings(level, self.how == Rounding::Fast);
        Ok(c::write_with_table(&self.analysed().program, &self.arguments, &[self.mode(kind)], settings)?)
    }

    pub(super) fn compile(&self, kind: RunKind, level: usize, source: &c::Source) -> Result<Attempt, NativeError> {
        let _span = tracing::debug_span!("compile to C", kind = ?kind).entered();
        let code = Code::new(&source.text, &source.kernels, (KERNELS, &self.mode(kind).name()), self.how)?;
        Ok(self.attempt_in_c(code, (kind, level), source))
    }

    fn attempt_in_c(&self, code: Code, (kind, level): (RunKind, usize), source: &c::Source) -> Attempt {
        let code = code.with_tangents(tangents(kind)).with_table(source.table.clone());
        Attempt::new(code, WholeBy::C, &source.facts, level, &self.source.files)
    }

    /// Makes code by Cranelift, in which every rounding is that of the program.
    #[cfg(feature = "jit")]
    pub(super) fn compile_quickly(&self, kind: RunKind, level: usize) -> Result<Attempt, NativeError> {
        let _span = tracing::debug_span!("compile a whole run by Cranelift", kind = ?kind).entered();
        if tangents(kind) > 1 {
            return Err(NativeError::Cranelift(pendula_vm::WholeCodeError::Vectors));
        }
        let keeps = keeping_nothing(level).is_some();
        let (program, facts) = match self.quick_form(kind, level, keeps) {
            // Functions that keep values are made in several ways.
            Err(NativeError::TooLarge(_)) if keeps => self.quick_form(kind, level, false),
            form => form,
        }?;
        let code = pendula_vm::compile_whole(&program).map_err(NativeError::Cranelift)?;
        Ok(Attempt::new(code, WholeBy::Cranelift, &facts, level, &self.source.files))
    }

    /// The loop form for Cranelift, if it is not too large.
    #[cfg(feature = "jit")]
    fn quick_form(
        &self,
        kind: RunKind,
        level: usize,
        keep: bool,
    ) -> Result<(pendula_codegen::loops::Program, c::Facts), NativeError> {
        let settings = c::Settings { keep, ..self.settings(level, false) };
        let (mut program, facts) = c::form(&self.analysed().program, &self.arguments, &[self.mode(kind)], settings)?;
        pendula_codegen::loops::find_products(&mut program);
        pendula_codegen::loops::jam_loops(&mut program);
        let operations = program.operations();
        if operations > MOST_OPERATIONS { Err(NativeError::TooLarge(operations)) } else { Ok((program, facts)) }
    }

    #[cfg(not(feature = "jit"))]
    pub(super) fn compile_quickly(&self, _: RunKind, _: usize) -> Result<Attempt, NativeError> {
        Err(NativeError::NoCranelift)
    }

    /// Code by Cranelift, which is made if it is not there.
    pub(super) fn quick_code(&self, kind: RunKind, level: usize) -> Option<&Attempt> {
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
    pub(super) fn there(&self, kind: RunKind, level: usize) -> Option<&Attempt> {
        let slot = self.slot(kind, level);
        slot.code.get().and_then(Option::as_ref).or_else(|| slot.quick.get().and_then(Option::as_ref))
    }

    /// The C function that makes such runs.
    pub(super) fn mode(&self, kind: RunKind) -> Mode {
        match index(&self.requests, kind).1 {
            RunKind::Run(direction, ad_mode) => Mode::Run(direction, ad_mode),
            RunKind::ForwardAndBack(active) => Mode::ForwardAndBack(active),
            RunKind::HessianRows(active) => Mode::HessianRows(active),
        }
    }

    pub(super) fn slot(&self, kind: RunKind, level: usize) -> &Slot {
        &self.codes[level][index(&self.requests, kind).0]
    }

    /// The level with which runs of this kind begin.
    pub(super) fn begins(&self, kind: RunKind) -> &AtomicUsize {
        &self.begins[index(&self.requests, kind).0]
    }

    /// Looks C code up in the cache. If it is not there, makes code by Cranelift, and compiles C code if runs take long enough.
    pub(super) fn look_up(&self, kind: RunKind, level: usize, working: Working) {
        if !self.when.has_c() {
            // Nothing of it stays for the next command.
            drop(working);
            self.quick_code(kind, level);
            return;
        }
        let found = self.write(kind, level).and_then(|source| {
            let name = self.mode(kind).name();
            let code = Code::cached(&source.text, &source.kernels, (KERNELS, &name), self.how)?;
            Ok(code.map(|code| self.attempt_in_c(code, (kind, level), &source)).ok_or(source))
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

    pub(super) fn beside(&self, kind: RunKind, level: usize) -> MutexGuard<'_, Beside> {
        self.slot(kind, level).beside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands C code to the runs. Those by other code begin again with it.
    pub(super) fn put(&self, kind: RunKind, level: usize, made: Result<Attempt, NativeError>) {
        match &made {
            // A file is the user's to mend; without a compiler, other code runs.
            Err(error @ NativeError::Compiler(CcError::File { .. })) => {
                tracing::warn!("no C code for the whole run: {}", visible(&error.to_string()));
            }
            Err(error) => tracing::info!("no C code for the whole run: {}", visible(&error.to_string())),
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

/// How many tangents runs of a kind carry at once.
pub(super) fn tangents(kind: RunKind) -> usize {
    match kind {
        RunKind::HessianRows(_) => TANGENTS,
        RunKind::Run(..) | RunKind::ForwardAndBack(_) => 1,
    }
}

/// The number of kinds of runs.
pub(super) const RUN_KINDS: usize = 12 + 2 * REQUESTS;

/// For how many requests there is code of their own; runs for others make all gradient words.
pub(super) const REQUESTS: usize = 4;

/// The number of a kind of run, and the kind of the code that makes such runs.
pub(super) fn index(requests: &[OnceLock<ActiveArguments>; REQUESTS], kind: RunKind) -> (usize, RunKind) {
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
