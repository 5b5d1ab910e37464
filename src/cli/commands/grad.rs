//! `pendula grad`.

mod output;
mod taylor;

use anyhow::bail;
use pendula::asm::check::{Rule, Subject, check};
use pendula::asm::diagnostic::Diagnostic;
use pendula::compiler::nil::sema::own_name;
use pendula::diagnosis;
use pendula::grad::{GradError, MOST, Options, Report, grad, places, uses_doubles, with_defaults};
use pendula::hw_model::Technology;
use pendula::isa::adjoint::GRADIENT;
use pendula::isa::counts::Direction;
use pendula::isa::module::Module;
use pendula::isa::types::Reg;
use pendula::language;
use pendula::layout::Layouts;
use pendula::load::display_name;
use pendula::report::{Reporter, print};
use pendula::trap_report;
use pendula::values::Place;
use pendula::vm::gradient::{Cell, reached};
use pendula::vm::{AdMode, Machine, Outcome};
use serde_json::{Map, Value, json};

use crate::cli::args::{Grad, Hessian, Source};
use crate::cli::commands::batch::save::{Files, SaveOptions, Writers, gradient_results, gradient_words};
use crate::cli::commands::{self, RunConditions, load};
use crate::cli::interrupt::InterruptGuard;
use crate::cli::output::{as_json, report};
use crate::cli::program::Program;
use crate::cli::progress::WholeProgress;
use crate::cli::report::answer::answer;
use crate::cli::report::drift::drift;
use crate::cli::report::outcome::{
    ended, flags_json, noticed, outcome_json, overflow_of, ran_by, rests, status, wrong,
};
use crate::cli::report::state::StateOptions;
use crate::cli::report::stats::{stats_json, stats_text};
use crate::cli::report::stop_state::{at_stop, put_state, stopped_text};
use crate::cli::rerun::{in_source, there};
use crate::cli::session::{self, Session};
use crate::cli::status::Status;

pub(crate) use output::{ended_json, gradient_text, push_numbers, state_text, text, to_object};

/// The maximum number of elements printed of an array that is not named.
pub(super) const ELEMENTS: usize = 64;

/// The loss and the inputs as the command line names them. For a Nil program, `1` is the first argument.
fn arguments(args: &Grad, loaded: &Program) -> anyhow::Result<(Option<String>, Vec<String>)> {
    let Some(nil) = &loaded.compiled else { return Ok((args.loss.clone(), commands::names(&args.wrt))) };
    let language = language::of((&loaded.module, loaded.variables()));
    anyhow::ensure!(
        language.has_gradients(),
        "{}: {} computes with integers, which carry no gradient",
        args.source.file,
        language.name()
    );
    let position = |name: &str| -> anyhow::Result<String> {
        let Ok(n) = name.trim().parse::<usize>() else { return Ok(name.trim().to_string()) };
        match n.checked_sub(1).and_then(|n| nil.parameters.get(n)).map(Vec::as_slice) {
            Some([one]) => Ok(own_name(one).to_string()),
            Some(several) if !several.is_empty() => {
                bail!("argument {n} has several parts: name one of {}", several.join(", "))
            }
            Some(_) | None => bail!("there is no argument {n}: the program has {}", nil.parameters.len()),
        }
    };
    let loss = args.loss.as_deref().map(position).transpose()?;
    let wrt = commands::names(&args.wrt).iter().map(|name| position(name)).collect::<anyhow::Result<Vec<_>>>()?;
    Ok((loss, wrt))
}

/// What to differentiate, and how.
pub(super) fn options(args: &Grad, loaded: &Program) -> anyhow::Result<Options> {
    let (loss, wrt) = arguments(args, loaded)?;
    let options = Options {
        loss,
        wrt,
        seed: args.seed.clone(),
        hessian: args.hessian.is_some(),
        sweep: args.hessian == Some(Hessian::Sweep),
        jacobian: args.jacobian,
        check: args.check,
        keep_dropped: args.keep_dropped,
        // What floating-point sums leave is reported only if it is asked for.
        forget_drift: !args.drift && uses_doubles(&loaded.module),
    };
    Ok(with_defaults(&options, &loaded.module, loaded.compiled.as_ref()))
}

/// Why a gradient's run stopped: an outcome of the program, or an error outside of it.
pub(super) enum Stop {
    Outcome(Outcome),
    Trouble(anyhow::Error),
}

/// The program that is to be differentiated, and the warnings about it, which are printed unless the answer is JSON.
pub(super) fn read(args: &Grad, source: &Source, reporter: &Reporter) -> anyhow::Result<(Program, Vec<Diagnostic>)> {
    let run = RunConditions { given: &args.given, input: args.input.as_deref() };
    let loaded = load(source, Some(run), args.json, reporter)?;
    let mut warnings = loaded.warnings.clone();
    warnings.extend(blocked(&loaded));
    if !args.json {
        reporter.diagnostics(&warnings, &loaded.sources);
    }
    Ok((loaded, warnings))
}

/// Sets how much memory gradients take for values that are kept for the way back.
pub(crate) fn set_memory(machine: &mut Machine<'_>, args: &Grad) {
    if let Some(bytes) = args.grad_mem {
        machine.set_kept_words(usize::try_from(bytes / 8).unwrap_or(usize::MAX));
    }
}

/// A machine with the program's inputs.
fn machine<'p>(args: &Grad, program: &'p pendula::vm::Program, loaded: &Program) -> anyhow::Result<Machine<'p>> {
    let mut machine = session::machine(program, &args.given, loaded.variables())?;
    set_memory(&mut machine, args);
    if let Some(tape) = &args.input {
        session::input(&mut machine, tape, None, false)?;
    }
    Ok(machine)
}

pub(crate) fn run(args: &Grad, reporter: &Reporter) -> anyhow::Result<Status> {
    if let Some(order) = args.taylor {
        return taylor::run(args, usize::from(order), reporter);
    }
    let given = &args.given;
    let source = args.source.in_full();
    let (loaded, mut warnings) = read(args, &source, reporter)?;
    let program = session::program(&loaded, &source, given, true, args.json, reporter)?;
    let mut machine = machine(args, &program, &loaded)?;
    let options = options(args, &loaded)?;
    let layouts = Layouts::of(loaded.compiled.as_ref());
    let saving = match saving(args, program.module(), &options, &layouts) {
        Ok(saving) => saving?,
        Err(error) => return stopped(error, args, &loaded, (&machine, &Seen::default()), reporter),
    };
    session::allow_whole(&mut machine, given, args.stats || args.keep_dropped || args.drift);
    let mut session = Session::new(given, false);
    let mut seen = Seen { before: Some(*machine.registers()), ..Seen::default() };
    let guard = (InterruptGuard::begin(reporter), WholeProgress::begin());
    let outcome = grad(&mut machine, &options, |m| {
        let ad_mode = m.ad_mode();
        if m.direction() == Direction::Backward {
            session.turned(m);
        }
        seen.begins(m, &loaded);
        session.go(m).map_err(Stop::Trouble).and_then(|outcome| seen.ended(outcome, ad_mode, m))
    });
    drop(guard);
    let found = match outcome {
        // A comparison that ran out of steps proves nothing.
        Ok(_) if seen.limit => {
            return stopped(
                GradError::Stopped(Stop::Outcome(Outcome::Limit)),
                args,
                &loaded,
                (&machine, &seen),
                reporter,
            );
        }
        Ok(found) => found,
        // The results are shown all the same, with the error.
        Err(GradError::Overflow(_)) if seen.limit => {
            let limit = GradError::Stopped(Stop::Outcome(Outcome::Limit));
            return stopped(limit, args, &loaded, (&machine, &seen), reporter);
        }
        Err(GradError::Overflow(found)) => *found,
        Err(error) => return stopped(error, args, &loaded, (&machine, &seen), reporter),
    };
    let drift = found.drift.as_ref().map(|(a, b)| drift(program.module(), a, b));
    // Fixed-point and logarithmic numbers and integers are restored exactly; only rounding may remain.
    let floats = uses_doubles(program.module());
    let broken = drift.as_ref().is_some_and(|d| !d.only_rounding && !floats);
    let kept = found.kept.is_none_or(|(_, back)| back || floats);
    let ok = !broken && kept && found.agrees();
    let technology = Technology::default_technology();
    let saved = save(saving, &found, args.hex)?;
    if args.json {
        let mut object = to_object(&found, program.module().flags.format, &layouts, args.hex);
        let outcome = ended_json(&found);
        object.insert("flags".into(), seen_flags(&machine, found.overflow));
        object.insert("ran_by".into(), json!(ran_by(&machine)));
        let wrong = found.wrong.map(|at| wrong(program.module(), &loaded.sources, at));
        warnings.extend(wrong);
        object.insert("diagnostics".into(), as_json(&warnings, &loaded.sources));
        if let Some(drift) = drift.filter(|_| args.drift) {
            object.insert("drift".into(), drift.json);
        }
        if args.stats {
            object.insert("stats".into(), stats_json(&machine, &technology, session.started.elapsed()));
        }
        answer(reporter, ok, outcome, object)?;
    } else {
        // Requested results are shown in full; saved results are not shown.
        let elements = if args.wrt.is_empty() && !args.jacobian { ELEMENTS } else { usize::MAX };
        let shown = |n| saved.as_ref().is_none_or(|files| !files.has(n));
        print(&text(&found, program.module().flags.format, args.hex, elements, &shown))?;
        print(&state_text(&found, drift.as_ref(), args.drift, broken, floats))?;
        print(&rests(program.module(), machine.flags(), args.drift))?;
        if args.stats {
            print(&stats_text(&machine, &technology, session.started.elapsed()))?;
        }
        noticed(program.module(), &loaded.sources, reporter, found.overflow);
        if let Some(at) = found.wrong {
            reporter.diagnostic(&wrong(program.module(), &loaded.sources, at), &loaded.sources);
        }
    }
    Ok(if ok { Status::Done } else { Status::Fault })
}

/// The files of `--save`, if there are any. Errors in the request for gradients are reported first.
type Saving = Option<(Files, Writers)>;

fn saving(
    args: &Grad,
    module: &Module,
    options: &Options,
    layouts: &Layouts,
) -> Result<anyhow::Result<Saving>, GradError<Stop>> {
    if args.many.save.is_empty() {
        return Ok(Ok(None));
    }
    let (loss, wrt) = places(module, options)?;
    file_room(options, &wrt)?;
    let results = gradient_results(&loss, &wrt, options, layouts);
    let asked = SaveOptions::of_grad(args, module, std::slice::from_ref(&args.source.file), None);
    Ok(Files::new(&asked, results).map(Some))
}

/// Refuses Hessians whose files, which have the zeros, too, would be too large.
pub(super) fn file_room(options: &Options, inputs: &[Place]) -> Result<(), GradError<Stop>> {
    let words: u128 = inputs.iter().map(|place| u128::from(place.count())).sum();
    let count = words * words;
    if options.sweep && count > u128::from(MOST) { Err(GradError::TooMany { what: "Hessian", count }) } else { Ok(()) }
}

/// Writes the files unless derivatives are wrong, and returns those written.
fn save(saving: Saving, found: &Report, raw: bool) -> anyhow::Result<Option<Files>> {
    let Some((files, mut writers)) = saving.filter(|_| found.wrong.is_none()) else { return Ok(None) };
    let words = gradient_words(found, raw);
    writers.part(&files, 0, &[Ok(&words)])?;
    writers.finish(&files)?;
    Ok(Some(files))
}

/// Observations of the runs.
#[derive(Default)]
pub(super) struct Seen {
    /// Where a fixed-point number first overflowed, and what words carried then.
    pub(super) overflow: Option<(u32, AdMode)>,
    /// True if a run reached the step limit or was interrupted.
    pub(super) limit: bool,
    /// The initial registers.
    before: Option<[u64; Reg::COUNT]>,
    /// For a compiled program, the gradient words with which the latest run backward began.
    pub(super) seeds: Vec<(usize, u64)>,
}

impl Seen {
    /// Records the gradient words with which a run begins.
    pub(super) fn begins(&mut self, machine: &Machine<'_>, loaded: &Program) {
        self.seeds.clear();
        if loaded.compiled.is_some() && machine.ad_mode() == AdMode::Gradient {
            let words = (0..loaded.module.data.len()).map(|at| (at, machine.get(GRADIENT, Cell::Word(at))));
            self.seeds.extend(words.filter(|(_, word)| *word != 0));
        }
    }

    /// Records how a run ended.
    pub(super) fn ended(&mut self, outcome: Outcome, ad_mode: AdMode, machine: &Machine<'_>) -> Result<(), Stop> {
        self.overflow = self.overflow.or_else(|| machine.flags().overflow.map(|at| (at, ad_mode)));
        self.limit |= outcome == Outcome::Limit;
        if outcome == Outcome::Finished { Ok(()) } else { Err(Stop::Outcome(outcome)) }
    }
}

/// The checker's findings about gradients, for the code that is differentiated.
pub(super) fn blocked(loaded: &Program) -> Vec<Diagnostic> {
    let reached = reached(&loaded.module);
    let differentiated = |at: &Subject| matches!(at, Subject::Inst(at) if reached.iter().any(|r| r.contains(at)));
    let found = check(&loaded.module);
    let found = found.iter().filter(|f| f.rule == Rule::NoGradient && differentiated(&f.at));
    found.map(|f| trap_report::finding(f, &loaded.module, &loaded.sources)).collect()
}

/// The flags as JSON, with what overflowed.
pub(super) fn seen_flags(machine: &Machine<'_>, overflow: Option<(u32, AdMode)>) -> Value {
    let mut flags = flags_json(machine);
    flags["overflow"] = overflow.map_or(Value::Null, |(at, ad_mode)| {
        let mut place = trap_report::address_json(at, machine.program().module());
        place["of"] = json!(overflow_of(ad_mode));
        place
    });
    flags
}

pub(super) fn stopped(
    error: GradError<Stop>,
    args: &Grad,
    loaded: &Program,
    (machine, seen): (&Machine<'_>, &Seen),
    reporter: &Reporter,
) -> anyhow::Result<Status> {
    let module = machine.program().module();
    match error {
        GradError::Stopped(Stop::Trouble(error)) => Err(error),
        GradError::Stopped(Stop::Outcome(outcome)) => {
            let stop_report = in_source(&outcome, machine, loaded, &args.given, (&there(machine), &seen.seeds));
            let before = seen.before.unwrap_or(*machine.registers());
            let layouts = Layouts::of(loaded.compiled.as_ref());
            let wanted = StateOptions {
                shown: &[],
                store: None,
                layouts: &layouts,
                printed: None,
                hex: args.hex,
                reverse: false,
            };
            let at_stop = at_stop(&outcome, machine, loaded, &args.given, (&before, &wanted, stop_report.as_ref()))?;
            if args.json {
                let outcome = outcome_json(&outcome, machine, (args.given.max_steps, stop_report.as_ref()));
                let mut object = Map::new();
                put_state(
                    &mut object,
                    at_stop.map(|state| state.json).unwrap_or_default(),
                    stop_report.as_ref(),
                    false,
                );
                object.insert("flags".into(), seen_flags(machine, seen.overflow));
                object.insert("diagnostics".into(), as_json(&loaded.warnings, &loaded.sources));
                answer(reporter, false, outcome, object)?;
            } else {
                ended(&outcome, machine, &loaded.sources, reporter, (args.given.max_steps, stop_report.as_ref()));
                noticed(module, &loaded.sources, reporter, seen.overflow);
                print(&stopped_text(&outcome, machine, at_stop.as_ref(), stop_report.as_ref()))?;
            }
            Ok(status(&outcome))
        }
        GradError::Refused(refused) => {
            let d = diagnosis::refused(display_name(&args.source.file), refused, module, &loaded.sources);
            report(&[d], &loaded.sources, args.json, reporter)?;
            Ok(Status::Fault)
        }
        error @ (GradError::Value(_)
        | GradError::Integer(..)
        | GradError::Array { .. }
        | GradError::NoLoss(_)
        | GradError::NoInputs
        | GradError::NoName(_)
        | GradError::Direction(_)
        | GradError::Seed { .. }
        | GradError::TooGreat { .. }
        | GradError::Overflow(_)
        | GradError::TooMany { .. }) => {
            anyhow::bail!(message(error))
        }
    }
}

/// The error message for a request that cannot be met.
pub(super) fn message(error: GradError<Stop>) -> String {
    match error {
        GradError::Value(e) => e.to_string(),
        GradError::Integer(name, why) => format!("`{name}` is read as an integer, which has no gradient{why}"),
        GradError::Array { name, len, one } => format!(
            "the loss `{name}` has {len} words: name one, such as `{one}`, or take the gradient of each with `--jacobian`"
        ),
        GradError::NoLoss(why) => format!("name the loss with `--loss NAME`: {why}"),
        GradError::NoName(what) => {
            let option = if what == "the loss" { "--loss: the" } else { "--wrt: a" };
            format!("{option} name is empty; give data symbols, or registers with their types (`r3.q`)")
        }
        GradError::Seed { text, why } => format!("--seed: `{text}` {why}"),
        GradError::Direction(why) => format!("--direction: the direction {why}"),
        GradError::TooGreat { text, loss } => format!("--seed: `{text}` times the loss `{loss}` is more than 1.79e308"),
        error @ GradError::TooMany { .. } => format!("{error}; name fewer with `--wrt`"),
        error @ GradError::Overflow(_) => error.to_string(),
        _ => "name the inputs with `--wrt NAMES`: the program imports no fixed-point, logarithmic or floating-point number".to_string(),
    }
}
