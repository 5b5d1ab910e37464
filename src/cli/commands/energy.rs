//! `pendula energy`: runs a program and prices what it did.

use std::path::Path;

use anyhow::Context;
use pendula::asm::diagnostic::Diagnostic;
use pendula::compiler::janus::store::Variable;
use pendula::grad::{GradError, Options, grad};
use pendula::hw_model::price::{Activity, Conditions, Dirty, Phase, Totals, billed_memory, functions};
use pendula::hw_model::report::audit::Audit;
use pendula::hw_model::report::svg::{self, Schedules, Scope};
use pendula::hw_model::report::{self, PricedRun, Program};
use pendula::hw_model::uncertainty::{Swing, Uncertain};
use pendula::hw_model::{Logic, Technology};
use pendula::isa::counts::{Counts, Direction};
use pendula::isa::types::Reg;
use pendula::isa::{GateClass, Module};
use pendula::report::{Reporter, print, print_exact};
use pendula::vm::{Machine, Outcome, Snapshot};
use pendula::{leftovers, uncompute, values};

use crate::cli::args::{Breakdown, End, Energy, Source};
use crate::cli::commands::{RunConditions, each, prepared, stopped, warnings};
use crate::cli::output::write_file;
use crate::cli::report::answer::{answer, finished};
use crate::cli::report::energy_json;
use crate::cli::report::energy_run::{MeasuredRun, Sweep, fitting};
use crate::cli::report::energy_summary;
use crate::cli::report::energy_text;
use crate::cli::report::energy_text::Steps;
use crate::cli::session::{self, Session};
use crate::cli::status::Status;

/// The technologies that are compared if none is named.
pub(crate) const DEFAULT: [&str; 4] = ["landauer", "cmos45", "acmos22-fdsoi", "aqfp"];

pub(crate) fn run(args: &Energy, reporter: &Reporter) -> anyhow::Result<Status> {
    if args.list_tech {
        let listed: Vec<Technology> = match args.tech.is_empty() {
            true => Technology::presets().filter_map(Technology::preset).collect(),
            false => args.tech.iter().map(|t| session::technology(t.trim())).collect::<Result<_, _>>()?,
        };
        if args.json {
            answer(reporter, true, finished(), energy_json::technologies(listed))?;
        } else {
            print(&energy_summary::technologies(listed.into_iter()))?;
        }
        return Ok(Status::Done);
    }
    let names = if args.tech.is_empty() { DEFAULT.map(str::to_string).to_vec() } else { args.tech.clone() };
    let technologies: Vec<Technology> =
        names.iter().map(|t| session::technology(t.trim())).collect::<Result<_, _>>()?;
    let against = args.against.as_deref().map(session::technology).transpose()?;
    if args.folded || args.accelergy.is_some() {
        let which = if args.folded { "--folded" } else { "--accelergy" };
        anyhow::ensure!(technologies.len() == 1, "{which} needs exactly one technology: name it with --tech");
    }
    let sweep = args.sweep.as_deref().map(Sweep::parse).transpose()?;
    if args.files.len() > 1 {
        let single = [
            ("--csv", args.csv),
            ("--folded", args.folded),
            ("--svg", args.svg.is_some()),
            ("--accelergy", args.accelergy.is_some()),
            ("--netlists", args.netlists.is_some()),
        ];
        if let Some((option, _)) = single.iter().find(|(_, given)| *given) {
            anyhow::bail!("{option} needs exactly one program: name one");
        }
    }
    each(args.each(), (true, args.json), reporter, |source| {
        one(source, args, (&technologies, against.as_ref(), sweep.as_ref()), reporter)
    })
}

/// Prices one program.
fn one(
    source: &Source,
    args: &Energy,
    (technologies, against, sweep): (&[Technology], Option<&Technology>, Option<&Sweep>),
    reporter: &Reporter,
) -> anyhow::Result<Status> {
    let run = RunConditions { given: &args.given, input: args.input.as_deref() };
    let backward = returns(args) || args.grad;
    let (loaded, program) = prepared(source, run, backward, args.json, reporter)?;
    let mut machine = session::machine(&program, &args.given, loaded.variables())?;
    if let Some(tape) = &args.input {
        session::input(&mut machine, tape, None, false)?;
    }
    let start = machine.snapshot();
    let ran = match execute(args, &mut machine, loaded.variables())? {
        Ok(ran) => followed(args, &mut machine, &start, ran, loaded.variables())?,
        Err(outcome) => return stopped(&outcome, (&args.given, args.json), &machine, &loaded, reporter),
    };
    let module = program.module();
    let conditions = Conditions {
        hertz: args.frequency,
        volt: args.voltage,
        kelvin: args.temperature,
        memory_words: ran.billed,
        frac: module.flags.format.frac().min(module.flags.profile.width() / 2),
        width: module.flags.profile.width(),
    };
    let totals = Totals::new(module, &ran.activities);
    let several = technologies.len() > 1 || against.is_some();
    let price =
        |technology| PricedRun::new(technology, fitting(technology, conditions, several), module, &ran.activities);
    let priced = technologies.iter().map(price).collect::<Result<Vec<PricedRun<'_>>, _>>()?;
    let reference = against.map(price).transpose()?;
    let compared = reference.as_ref().map(|to| energy_summary::compared(&priced, to)).transpose()?;
    let doubts = priced.iter().chain(&reference).flat_map(|p| doubts(p, conditions));
    // Without a technology on the command line, the report lists the available ones.
    let named = if args.tech.is_empty() { &[] } else { technologies };
    let mut unsaid = without_memory(module, named, conditions.memory_words, &ran);
    unsaid.extend(doubts);
    if !args.json {
        reporter.diagnostics(&unsaid, &loaded.sources);
    }
    let program = Program { module, functions: functions(module), name: source.file.clone() };
    let swept = sweep.map(|s| s.run(technologies, conditions, &totals)).transpose()?;
    write_files(args, &program, &priced, &ran)?;
    if args.csv {
        print_exact(&report::csv(&program, &priced))?;
    } else if args.folded {
        print_exact(&report::folded(&program, &priced[0]))?;
    } else if args.json {
        let mut object = energy_json::report(&program, &priced, &ran);
        if let (Some(all), Some(to)) = (&compared, &reference) {
            object.insert("against".into(), energy_json::compared(all, to));
        }
        if args.tornado {
            let all = priced.iter().map(|p| Ok((p, tornado(p)?))).collect::<anyhow::Result<Vec<_>>>()?;
            object.insert("tornado".into(), energy_json::tornado(&all));
        }
        if let (Some(sweep), Some(swept)) = (sweep, &swept) {
            object.insert("sweep".into(), energy_json::sweep(sweep, swept));
        }
        if let Some(steps) = args.schedule {
            object.insert("schedules".into(), energy_json::schedules(&priced, &ran, steps));
        }
        object.extend(warnings(&loaded, &unsaid));
        answer(reporter, true, finished(), object)?;
    } else {
        let all = [
            Breakdown::Phase,
            Breakdown::Cause,
            Breakdown::Class,
            Breakdown::Function,
            Breakdown::Line,
            Breakdown::Routine,
        ];
        let by: Vec<Breakdown> = match (&args.by[..], priced.len()) {
            ([], 1) => all.to_vec(),
            ([], _) => vec![Breakdown::Phase],
            (by, _) => by.to_vec(),
        };
        print(&energy_text::text(&program, &priced, &ran, &by))?;
        if let (Some(all), Some(to)) = (&compared, &reference) {
            print(&energy_summary::compared_text(all, to))?;
        }
        if args.tornado {
            for p in &priced {
                print(&energy_summary::tornado_text(p, &tornado(p)?))?;
            }
        }
        if let (Some(sweep), Some(swept)) = (sweep, &swept) {
            print(&energy_text::sweep_text(sweep, swept))?;
        }
        if let Some(steps) = args.schedule {
            print(&energy_text::schedule_text(&priced, &ran, steps))?;
        }
    }
    Ok(Status::Done)
}

/// What is doubtful about a price under the conditions that were asked for.
fn doubts(priced: &PricedRun<'_>, asked: Conditions) -> Vec<Diagnostic> {
    let mut out = priced.device.doubts();
    let (technology, given) = (priced.device.technology(), priced.device.conditions());
    if let (Some(asked), None, Some(energy)) = (asked.kelvin, given.kelvin, technology.energy())
        && (asked - energy.kelvin).abs() > 1e-9
    {
        let name = technology.name();
        out.push(format!("`{name}` is known at {} K only: it is priced at that, and not at {asked} K", energy.kelvin));
    }
    out.into_iter().map(|doubt| Diagnostic::warning("P0148", doubt).help(DOUBTED)).collect()
}

/// What to do about conditions that figures are not meant for.
const DOUBTED: &str =
    "choose others with `--frequency`, `--voltage` or `--temperature`; `--list-tech` says what the figures are";

/// Whether the program runs back to its start.
fn returns(args: &Energy) -> bool {
    args.round_trip || args.end == End::Return
}

/// The figures that change a bill most.
fn tornado(priced: &PricedRun<'_>) -> anyhow::Result<Vec<Swing>> {
    let uncertain = Uncertain {
        technology: priced.device.technology(),
        conditions: priced.device.conditions(),
        totals: &priced.totals,
    };
    Ok(uncertain.tornado()?)
}

/// Follows the run once more for what it touches and leaves, and adds what becomes of it at the end.
fn followed(
    args: &Energy,
    machine: &mut Machine<'_>,
    start: &Snapshot,
    ran: MeasuredRun,
    variables: Option<&[Variable]>,
) -> anyhow::Result<MeasuredRun> {
    let module = machine.program().module();
    let moved = machine.registers()[Reg::SP.index()] != start.regs[Reg::SP.index()];
    let mut found = leftovers::footprint(machine, start, module, uncompute::places(module, variables).as_refs())?;
    // It says where words are, and routines bring it back: what is left of it is a word like others.
    found.dirty.registers += u64::from(moved);
    // A run that comes back leaves nothing, except for gradient words of inputs that were not asked for.
    let left = if args.grad {
        Dirty { registers: 0, memory: ran.gradient_words_left }
    } else if returns(args) {
        Dirty::default()
    } else {
        found.dirty
    };
    // A run with gradients has a gradient word beside each word.
    let touched = found.touched.saturating_mul(if args.grad { 2 } else { 1 });
    let billed = args.billed_memory.unwrap_or_else(|| billed_memory(touched));
    let mut activities = ran.activities;
    if args.end == End::Erase && left.words() > 0 {
        activities.push(Activity { dirty: left, ..Activity::new(Phase::End, Counts::default()) });
    }
    Ok(MeasuredRun {
        activities,
        leaves: found.seen.spans,
        left,
        end: args.end,
        followed: found.followed || args.grad || returns(args),
        touched,
        complete: found.complete,
        billed,
        ..ran
    })
}

/// Warns about technologies without data on the memory that a program uses; the substitute for the cost of an access is
/// then large.
fn without_memory(module: &Module, technologies: &[Technology], words: u64, ran: &MeasuredRun) -> Vec<Diagnostic> {
    let uses = |a: &Activity| {
        let modes =
            a.counts.modes.iter().map(|mode| a.counts.classes(mode, &module.code)[GateClass::Memory as usize].1);
        modes.sum::<u64>()
    };
    let accesses: u64 = ran.activities.iter().map(uses).sum();
    let silent = |t: &&Technology| t.energy().is_some_and(|e| e.memory.is_none() && e.logic != Logic::Ideal);
    let warn = |t: &Technology| {
        let message = format!(
            "the technology `{}` says nothing of memory: each access is charged as a circuit that goes through all {words} words",
            t.name()
        );
        Diagnostic::warning("P0147", message).help(
            "add a table `[memory]` to its file, as the book has it, or give the program less memory with `--mem`",
        )
    };
    if accesses == 0 { Vec::new() } else { technologies.iter().filter(silent).map(warn).collect() }
}

type Stopped = GradError<Stop>;

/// Why a run stopped.
pub(crate) enum Stop {
    Outcome(Outcome),
    Trouble(anyhow::Error),
}

/// Runs the program, phase by phase.
fn execute(
    args: &Energy,
    machine: &mut Machine<'_>,
    variables: Option<&[Variable]>,
) -> anyhow::Result<Result<MeasuredRun, Outcome>> {
    let module = machine.program().module().clone();
    let shared = uncompute::places(&module, variables);
    // Of a vector that grows, its elements are moved, and not its room.
    let link = |import: bool| match variables {
        Some(_) if import => shared.inputs.clone(),
        Some(_) => shared.results.clone(),
        None => values::marked(&module, |i, e| if import { i } else { e }),
    };
    let (inputs, results) = (link(true), link(false));
    let words_in = moved(machine, &inputs);
    let mut words_out = 0;
    let mut session = Session::new(&args.given, false);
    let start = machine.snapshot();
    let mut looks: Vec<Counts> = vec![machine.counts()];
    let mut changed = Dirty::default();
    let mut look = |machine: &Machine<'_>, looks: &mut Vec<Counts>| {
        looks.push(machine.counts());
        if looks.len() == 2 {
            words_out = moved(machine, &results);
            let now = machine.snapshot();
            let words = start.difference(&now);
            let registers = start.regs.iter().zip(&now.regs).filter(|(a, b)| a != b).count() as u64;
            changed = Dirty { registers, memory: words - registers };
        }
    };
    let (mut gradient_words, mut gradient_words_left) = (0, 0);
    if args.grad {
        let options = Options { loss: args.loss.clone(), wrt: super::names(&args.wrt), ..Options::default() };
        let found = grad(machine, &options, |m| match session.go(m) {
            Ok(Outcome::Finished) => {
                look(m, &mut looks);
                Ok(())
            }
            Ok(other) => Err(Stop::Outcome(other)),
            Err(error) => Err(Stop::Trouble(error)),
        });
        match found {
            Ok(found) => {
                let all = found.losses.iter().flat_map(|l| &l.gradients);
                gradient_words = all.map(|g| g.words.len() as u64).sum();
                let numbers = inputs.iter().filter(|place| place.ty.gradient().is_some());
                let each: u64 = numbers.map(values::Place::count).sum();
                gradient_words_left = each.saturating_mul(found.losses.len() as u64).saturating_sub(gradient_words);
            }
            Err(GradError::Stopped(Stop::Outcome(outcome))) => return Ok(Err(outcome)),
            Err(GradError::Stopped(Stop::Trouble(error))) => return Err(error),
            Err(error) => anyhow::bail!("{}", refusal(&error)),
        }
    } else {
        let directions =
            if returns(args) { &[Direction::Forward, Direction::Backward][..] } else { &[Direction::Forward][..] };
        for direction in directions {
            machine.begin(*direction);
            let outcome = session.go(machine)?;
            if outcome != Outcome::Finished {
                return Ok(Err(outcome));
            }
            look(machine, &mut looks);
        }
    }
    let activity =
        |phase, counts, words_in, words_out| Activity { words_in, words_out, ..Activity::new(phase, counts) };
    let mut activities = vec![activity(Phase::Forward, looks[1].since(&looks[0]), words_in, 0)];
    activities.push(activity(Phase::CopyOut, Counts::default(), 0, words_out));
    if let Some(back) = looks.get(2) {
        activities.push(activity(Phase::Backward, back.since(&looks[1]), 0, 0));
    }
    if args.grad {
        activities.push(activity(Phase::GradientCopy, Counts::default(), 0, gradient_words));
    }
    Ok(Ok(MeasuredRun {
        activities,
        state: changed,
        gradient_words_left,
        leaves: Vec::new(),
        left: Dirty::default(),
        end: args.end,
        followed: false,
        width: u64::from(module.flags.profile.width()),
        touched: 0,
        complete: false,
        billed: 1,
    }))
}

/// Why there is no gradient, and a remedy.
fn refusal(error: &Stopped) -> String {
    if let GradError::Array { name, len, one } = error {
        return format!("--grad: the loss `{name}` has {len} words: name one, such as `{one}`");
    }
    let advice = match error {
        GradError::NoLoss(_) => "; give it with `--loss NAME`",
        GradError::NoInputs => "; give them with `--wrt NAMES`",
        _ => "",
    };
    format!("--grad: {error}{advice}")
}

/// The number of words transferred over the link; for a stack of Janus, its contents and its height.
fn moved(machine: &Machine<'_>, places: &[values::Place]) -> u64 {
    let words = |p: &values::Place| match &p.variable {
        Some(v) if p.is_stack() => 1 + v.words(&values::words(machine, p)).len() as u64,
        _ if p.growing.is_some() => 1 + values::words(machine, p).len() as u64,
        Some(_) | None => p.count(),
    };
    places.iter().map(words).sum()
}

/// Writes plots and tables into folders.
fn write_files(
    args: &Energy,
    program: &Program<'_>,
    priced: &[PricedRun<'_>],
    ran: &MeasuredRun,
) -> anyhow::Result<()> {
    if let Some(file) = &args.netlists {
        let bills: Vec<Audit> = priced.iter().map(Audit::of).collect();
        let text = serde_json::to_string(&serde_json::json!({ "file": program.name, "bills": bills }))?;
        write_file(file, text.as_bytes())?;
    }
    let mut files: Vec<(&str, String, String)> = Vec::new();
    if let Some(folder) = &args.accelergy {
        for (name, text) in report::accelergy(program, &priced[0]) {
            files.push((folder, name, text));
        }
    }
    if let Some(folder) = &args.svg {
        for (name, text) in plots(priced, ran, args.schedule.unwrap_or(256))? {
            files.push((folder, name, text));
        }
    }
    for (folder, name, text) in files {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {folder}"))?;
        let path = Path::new(folder).join(name);
        write_file(&path.display().to_string(), text.as_bytes())?;
    }
    Ok(())
}

/// The range of frequencies of the plots, in hertz.
const PLOTTED: (f64, f64) = (1e4, 1e11);

/// The plots: file names and contents.
fn plots(priced: &[PricedRun<'_>], ran: &MeasuredRun, steps: u64) -> anyhow::Result<Vec<(String, String)>> {
    let swept: Vec<svg::Swept<'_>> = priced
        .iter()
        .map(|p| svg::Swept {
            technology: p.device.technology(),
            conditions: p.device.conditions(),
            totals: &p.totals,
            status: p.status(&p.bill.items),
        })
        .collect();
    let mut out = vec![
        ("energies.svg".to_string(), svg::energies(priced)),
        ("energy-frequency.svg".to_string(), svg::energy_against_frequency(&swept, PLOTTED, Scope::Run)?),
        ("operations-frequency.svg".to_string(), svg::energy_against_frequency(&swept, PLOTTED, Scope::Operations)?),
        ("energy-delay.svg".to_string(), svg::energy_delay(&swept, PLOTTED)?),
        ("causes.svg".to_string(), svg::breakdown_by_cause(priced)),
        ("parts.svg".to_string(), svg::breakdown_by_part(priced)),
        ("classes.svg".to_string(), svg::breakdown_by_class(priced)),
    ];
    for p in priced {
        let Steps { step, erase, .. } = energy_text::priced_schedules(p, ran, steps);
        let schedules = Schedules { steps, step_joules: step, erase_joules: erase, base: 4 };
        let name = unlike(&out, &format!("schedules-{}", file_name(p.device.technology().name())), ".svg");
        out.push((name, svg::time_space_energy(&schedules)));
    }
    Ok(out)
}

/// A technology's name as part of a file name. It keeps letters, digits, `-` and `_`; other characters are replaced,
/// because the name may be a path.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' }).collect()
}

/// A file name that is not yet among these files.
fn unlike(files: &[(String, String)], name: &str, extension: &str) -> String {
    let numbered = (2..).map(|n| format!("{name}-{n}{extension}"));
    let mut all = std::iter::once(format!("{name}{extension}")).chain(numbered);
    all.find(|name| files.iter().all(|(other, _)| other != name)).unwrap_or_default()
}
