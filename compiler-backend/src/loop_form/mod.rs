//! Programs of the representation in the [loop form](pendula_codegen::loops), from which C is printed.
//!
//! Each function of the program is a function there, once for each way in which it is run: in a direction, with or without what words
//! carry. What an update or a permutation does comes from the instruction table, by way of recorded operations
//! ([`pendula_codegen::lift`]).
//!
//! # Where a program would trap
//!
//! The functions never trap, but give up, and another engine runs the program to the place. So checks need not be made where they
//! stand: numbers that are infinite or not zero are noted; indices that go from turn to turn by the same step are checked before the
//! loop (`loops`). Nothing is read or written outside the memory, whatever the program does.
//!
//! # Neighbours
//!
//! `function` builds functions, `statement` and `calls` what is in them. `loops` finds what can be checked before a loop, `jam`
//! which turns can go on side by side, and `promote` words that can be kept in variables. `dead_uncompute` finds what need not be undone, from the effects of blocks (`flow`); `certify` proves
//! it of sums that are rounded (`windows` has their addresses, `facts` what is known of integers, `parameters` which of them have one value),
//! and `fused_gradient` makes one of a forward and a backward run (`logged_sums` in turns of loops, where every rounding counts; `seen_late` tells which results are looked at in the end), `fused_calls` of the calls of functions that call themselves, `keep` what is kept for the way back. `data` says what lies in the data segment.

mod activity;
mod aliases;
mod blocks;
mod calls;
mod certify;
mod count;
mod courses;
mod data;
mod dead_uncompute;
mod facts;
mod flow;
mod function;
mod fused_calls;
mod fused_gradient;
mod jam;
mod keep;
mod logged_sums;
mod loops;
mod parameters;
mod promote;
mod seen_late;
mod statement;
mod windows;

use std::collections::HashMap;
use std::ops::Range;

use pendula_codegen::lift::LiftConfig;
use pendula_codegen::loops as form;
use pendula_codegen::ops::Kernel;
use pendula_isa::Env;
use pendula_isa::adjoint::{ActiveArguments, AdMode};
use pendula_isa::counts::Direction;

use crate::ir::effects::Summaries;
use crate::ir::{FunctionId, Loc, Program};
use crate::lower::{Argument, LowerError};
use crate::passes::{Pass, Switches};

use activity::ActiveParams;

pub use data::{carries, changes, floats, places, results};

/// Why a program has no loop form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It shows numbers or texts while it runs.
    #[error("it shows numbers or texts while it runs")]
    Shows,
    /// Something has no operation in it.
    #[error("it does something that has no operation in C")]
    Operation,
    /// A word of one type is lent as one of another.
    #[error("a word of one type is lent to a function as one of another")]
    Types,
    /// It has no entry point.
    #[error("it has no entry point")]
    NoEntry,
    /// Its entry point cannot be called with these arguments.
    #[error("{0}")]
    Entry(#[from] LowerError),
}

/// A way of running a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// From one end to the other.
    Run(Direction, AdMode),
    /// Forward, values alone, and back with gradient words, which are there from the beginning as they are to be in between. What would be
    /// undone at the end of the one and done again at the beginning of the other is left as it is. Only the gradient words of independent
    /// variables are made, where only those of dependent ones are given.
    ForwardAndBack(ActiveArguments),
    /// The same over dual numbers: with tangents along several directions at once, and with the tangents of gradient words on the way
    /// back. These are vectors ([`form::Program::has_vector_tangents`]).
    HessianRows(ActiveArguments),
}

impl Mode {
    /// The symbol of the code that runs a program so. `turned` gets what [`changes`] says of the data, as it is where the run turns
    /// round.
    pub fn name(self) -> String {
        match self {
            Mode::Run(direction, ad_mode) => {
                format!("pendula_{}{}", Sweep::of(direction == Direction::Backward).name(), suffix(ad_mode))
            }
            Mode::ForwardAndBack(active) => with_active("pendula_there_and_back", active),
            Mode::HessianRows(active) => with_active("pendula_hessian_rows", active),
        }
    }
}

/// A name for code of which these arguments are active.
fn with_active(name: &str, active: ActiveArguments) -> String {
    match active {
        ActiveArguments::ALL => name.to_string(),
        ActiveArguments { independent, dependent } => format!("{name}_{independent:x}_{dependent:x}"),
    }
}

/// Which way a function is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Sweep {
    Forward,
    Backward,
    /// Forward, and back with gradient words: the run turns round in it.
    Turn,
    /// The same in a part of the run: what it adds to is left as it was after the way forward.
    Within,
}

impl Sweep {
    fn of(back: bool) -> Sweep {
        if back { Sweep::Backward } else { Sweep::Forward }
    }

    fn name(self) -> &'static str {
        match self {
            Sweep::Forward => "forward",
            Sweep::Backward => "backward",
            Sweep::Turn => "there_and_back",
            Sweep::Within => "with_gradient",
        }
    }
}

fn suffix(ad_mode: AdMode) -> &'static str {
    match ad_mode {
        AdMode::Plain => "",
        AdMode::Gradient => "_gradient",
        AdMode::Tangent => "_tangent",
        AdMode::GradientTangent => "_gradient_tangent",
        AdMode::SecondGradient => "_second_gradient",
    }
}

/// A function of the program in one way and AD mode; on the way there and back, with what words carry on the way back.
///
/// Fourth, which parameters are left alone on the way back, one bit for each: the words that they are, or that lie where they point to. In a
/// function in which the run turns round, those that may be: what is left of them in the end does not matter.
///
/// Sixth, which parameters carry what matters. Then, what need not be looked at; and what happens to values that it keeps for the way back.
type Variant = (FunctionId, Sweep, AdMode, u64, Forgotten, ActiveParams, Looked, Option<keep::KeepingCall>);

/// Parameters that are words of a computation of the caller that is forgotten, or point to them, one bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Forgotten {
    /// Those with limited partial sums, and the bits of the limit.
    limited: u64,
    limit: u64,
    /// Those that undoing leaves as they are.
    complete: u64,
}

/// What need not be looked at for being finite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Looked {
    /// Parameters that are results, or point to them, one bit for each: the machine looks at them where the run ends or turns round.
    late: u64,
    /// Whether values are those of an earlier run, in which they were looked at.
    before: bool,
}

/// The program that is being built.
struct Builder<'a> {
    program: &'a Program,
    summaries: Summaries,
    drops: dead_uncompute::Drops<'a>,
    /// The numbers of functions, in the order in which they were asked for. Those that go back with gradients are others where there is room for logs.
    variants: HashMap<(Variant, bool), form::FunctionId>,
    waiting: Vec<(Variant, form::FunctionId)>,
    /// Whether a partial sum is compared with a limit.
    limits: bool,
    /// Whether one of a variable is.
    limits_variables: bool,
    /// Whether what words carry is looked at where it ends ([`form::Program::carried_late`]).
    carried_late: bool,
    /// Whether tangents are vectors ([`form::Program::has_vector_tangents`]).
    has_vector_tangents: bool,
    /// The data of which words carry floating-point numbers that matter.
    carried_floats: Vec<Range<usize>>,
    /// The data of which words carry anything that matters.
    carried: Vec<Range<usize>>,
    /// Which parameters of the entry are independent and dependent variables.
    entry_activity: Option<[u64; 2]>,
    switches: Switches,
    /// Whether the run that is being built turns round, with gradient words alone: there is room for logs.
    turns_round: bool,
    /// What is known of the values that are kept for the way back.
    keeps: keep::Keeps,
    /// Where the loops with marks stand in the source.
    marks: Vec<Loc>,
    kernels: Vec<Kernel>,
    /// The call of the entry.
    main: FunctionId,
    /// The arrays in data that may be written.
    arrays: Vec<Range<usize>>,
    /// The words in data that are lent to the entry.
    words: Vec<Range<usize>>,
}

/// Which rounded sums are forgotten if their partial sums are small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certify {
    /// None: all are undone.
    #[default]
    Nothing,
    /// Those in arrays. Sums in variables are often those of many numbers.
    Arrays,
    /// All. What turns of loops add to results is written down, too, where there is room for it.
    Everything,
}

/// How a program is built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// What undoing floating-point sums leaves of rounding is forgotten, numbers are not looked at for being finite, and runs there and back may
    /// leave the results, and what else they change, as it was in between.
    pub fast: bool,
    /// Which floating-point sums are forgotten that a run would undo, to a rest that the machine clears: the code gives up where their partial
    /// sums are so large that the rest might not be small.
    pub certify: Certify,
    /// Whether runs forward and back keep values of elementary functions for the way back.
    pub keep: bool,
    /// Which of the passes of the loop form are made.
    pub switches: Switches,
}

/// Builds the loop form of a program, run with these arguments; and where the loops stand in the source, by their marks.
///
/// # Errors
/// What it has no form for.
pub fn build(
    program: &Program,
    arguments: &[Argument],
    modes: &[Mode],
    settings: Settings,
) -> Result<(form::Program, Vec<Loc>), Refused> {
    let mut without = keep::Without::default();
    loop {
        let (program, marks, found) = build_with(program, arguments, modes, settings, without.clone())?;
        match found {
            Some(found) if without.insert(found) => {}
            Some(_) | None => return Ok((program, marks)),
        }
    }
}

/// The same, where these functions keep less for the way back. Last, what is to be added to them.
fn build_with(
    program: &Program,
    arguments: &[Argument],
    modes: &[Mode],
    settings: Settings,
    without: keep::Without,
) -> Result<(form::Program, Vec<Loc>, Option<keep::Found>), Refused> {
    let Some(entry) = program.entry else { return Err(Refused::NoEntry) };
    let main = crate::lower::main(program, arguments, entry)?;
    let (arrays, words) = data::lent(program, arguments);
    // The call of the entry is a function like others.
    let mut program = program.clone();
    let fun = FunctionId(program.functions.len() as u32);
    program.functions.push(main);
    let mut w = Builder {
        program: &program,
        summaries: Summaries::new(&program),
        drops: dead_uncompute::Drops::new(&program, settings.fast, settings.certify),
        variants: HashMap::new(),
        waiting: Vec::new(),
        limits: false,
        limits_variables: false,
        // Nothing says what a program's own stack holds.
        carried_late: !settings.fast && program.stack == 0,
        has_vector_tangents: modes.iter().any(|mode| matches!(mode, Mode::HessianRows(_))),
        carried_floats: Vec::new(),
        carried: Vec::new(),
        entry_activity: None,
        switches: settings.switches,
        turns_round: false,
        keeps: keep::Keeps::without(without),
        marks: Vec::new(),
        kernels: Vec::new(),
        main: fun,
        arrays,
        words,
    };
    let mut entries = Vec::new();
    let mut functions: Vec<Option<form::Function>> = Vec::new();
    let mut order = Vec::new();
    for mode in modes {
        let (way, ad_mode, active) = match *mode {
            Mode::Run(direction, ad_mode) => {
                (Sweep::of(direction == Direction::Backward), ad_mode, ActiveArguments::ALL)
            }
            Mode::ForwardAndBack(active) => (Sweep::Turn, AdMode::Gradient, active),
            Mode::HessianRows(active) => (Sweep::Turn, AdMode::GradientTangent, active),
        };
        w.turns_round = matches!(mode, Mode::ForwardAndBack(_));
        // Where rounding does not matter, the way back may round in another way, and then decide in another way.
        let is_kept = settings.keep && !(settings.fast && seen_late::numbers_decide(&program));
        w.keeps.wanted = is_kept && w.turns_round && settings.switches.has(Pass::Forget);
        w.set_active(arguments, active);
        let params = if w.entry_activity.is_some() { ActiveParams::Entry } else { ActiveParams::All };
        let function = w.variant((fun, way, ad_mode, 0, Forgotten::default(), params, Looked::default(), None));
        entries.push(form::Entry { name: mode.name(), function, carried: w.carried.clone() });
        while let Some((variant, id)) = w.waiting.pop() {
            let built = function::build(&mut w, variant)?;
            functions.resize_with(w.variants.len(), || None);
            functions[id.0 as usize] = Some(built);
            order.push(id);
        }
    }
    let marks = std::mem::take(&mut w.marks);
    let file = program.files.iter().find(|f| !f.starts_with('<')).cloned();
    let mut program = form::Program {
        file,
        env: w.env(),
        checks_finite: !settings.fast,
        carried_late: w.carried_late,
        has_vector_tangents: w.has_vector_tangents,
        limits: w.limits,
        limits_variables: w.limits_variables,
        keeps: w.keeps.some,
        kernels: w.kernels,
        functions: functions.into_iter().flatten().collect(),
        order,
        entries,
    };
    form::give_room_for_logs(&mut program);
    form::remove_checks_implied_elsewhere(&mut program);
    form::check_sums_once(&mut program);
    form::remove_additions_to_zero(&mut program);
    form::watch_outer_loops(&mut program);
    if program.has_vector_tangents && !form::can_carry_vectors(&program) {
        return Err(Refused::Operation);
    }
    Ok((program, marks, w.keeps.found))
}

impl Builder<'_> {
    /// The number of a function's variant, which is built if it has not been yet.
    fn variant(&mut self, variant: Variant) -> form::FunctionId {
        let next = form::FunctionId(self.variants.len() as u32);
        let (_, way, ad_mode, ..) = variant;
        let has_room = self.turns_round && way == Sweep::Backward && ad_mode == AdMode::Gradient;
        *self.variants.entry((variant, has_room)).or_insert_with(|| {
            self.waiting.push((variant, next));
            next
        })
    }

    /// The mark of a loop in the source.
    fn mark(&mut self, loc: Loc) -> Option<form::Mark> {
        if loc == Loc::default() {
            return None;
        }
        let n = self.marks.iter().position(|at| *at == loc).unwrap_or_else(|| {
            self.marks.push(loc);
            self.marks.len() - 1
        });
        Some(form::Mark(n as u32))
    }

    /// A name for a function's variant.
    fn variant_name(&self, (fun, way, ad_mode, left, forgotten, .., keeping): Variant) -> String {
        let name = self.program.functions.get(fun.0 as usize).map_or("", |f| &f.name);
        let suffix = if matches!(way, Sweep::Turn | Sweep::Within) { "" } else { suffix(ad_mode) };
        let only = if left != 0 && matches!(way, Sweep::Forward | Sweep::Backward) { "_only" } else { "" };
        let only = match (forgotten.limited, forgotten.complete) {
            (0, 0) => only,
            (_, 0) => "_limited",
            _ => "_complete",
        };
        let kept = match keeping.map(|calls| calls.way) {
            None => "",
            Some(form::Keeping::Write) => "_kept",
            Some(form::Keeping::Reread) => "_again",
            Some(form::Keeping::TakeBack) => "_taken_back",
        };
        format!("{}_{}{suffix}{only}{kept}", name.trim_end_matches('!'), way.name())
    }

    fn env(&self) -> Env {
        Env { format: self.program.format, ieee: false }
    }

    fn setting(ad_mode: AdMode) -> LiftConfig {
        LiftConfig { ad_mode, checks: true, trap_overflow: true, ieee: false, narrow: None }
    }
}
