//! `pendula bench`.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use clap::ValueEnum as _;
use clap::builder::PossibleValue;
use pendula::compiler::ir::Program as Ir;
use pendula::compiler::lower::Argument;
use pendula::compiler::passes::Switches;
use pendula::native::{NativeProgram, When};
use pendula::report::{Reporter, print};
use pendula::vm::WholeProgram;
use pendula_bench::cases::{Size, case, chosen, names};
use pendula_bench::measure::{Effort, Measured, measure};
use pendula_bench::memory::Child;
use pendula_bench::scale::{self, Scaled};
use pendula_bench::table::Table;
use pendula_bench::workloads::WORKLOADS;
use pendula_bench::{Surroundings, compilers, json as as_json, memory, table};
use pendula_codegen::cc::Rounding;
use serde_json::json;

use crate::cli::args::{Bench, BenchChild, Engine};
use crate::cli::report::answer::{answer, fields, finished};
use crate::cli::status::Status;

pub(crate) fn run(args: &Bench, reporter: &Reporter) -> anyhow::Result<Status> {
    let engines = engines(args);
    if let Some(what) = args.child {
        print(&format!("{}\n", memory::child(what.into(), &args.workloads, engines[0].into())?))?;
        return Ok(Status::Done);
    }
    let cases = chosen(&args.workloads)?;
    if args.list {
        return list(&cases, args.json, reporter);
    }
    let compilers = compilers().unwrap_or_else(|error| {
        let error = anyhow::Error::from(error).context("there is no comparison with C");
        reporter.warning(&error);
        Vec::new()
    });
    let rounds = args.repeat.unwrap_or(if args.quick { 5 } else { 11 }) as usize;
    let whole = if args.no_cc { by_cranelift } else { in_c };
    let effort = Effort { fast: args.fast_float, whole, rounds, least: if args.quick { 1e-3 } else { 5e-3 } };
    let surroundings = Surroundings::here(&compilers, rounds, options(args));
    let size = if args.quick { Size::Quick } else { Size::Published };
    let on: Vec<_> = engines.iter().map(|e| (*e).into()).collect();
    let progress = Progress::new();
    if args.scale {
        let mut all = Vec::new();
        for name in scale::scalable(&cases) {
            progress.at(name);
            all.push(scale::scale(name, &compilers, &on, effort)?);
        }
        progress.end();
        return show_scaling(args, &surroundings, &all, reporter);
    }
    let mut measured = Vec::new();
    for name in cases {
        progress.at(name);
        let case = case(name, size);
        let mut found = measure(std::slice::from_ref(&case), &compilers, &on, effort)?;
        let executable = std::env::current_exe()?;
        for (ran, engine) in found.iter_mut().flat_map(|f| &mut f.engines).zip(&engines) {
            let start = |workload: &str, what: Child| child(&executable, workload, BenchChild::from(what), *engine);
            memory::measure(&start, &case, ran)?;
        }
        measured.append(&mut found);
    }
    progress.end();
    show(args, &surroundings, &measured, reporter)
}

/// The options that make code another one.
fn options(args: &Bench) -> Vec<&'static str> {
    let all = [(args.fast_float, "--fast-float"), (args.no_cc, "--no-cc")];
    all.into_iter().filter(|(given, _)| *given).map(|(_, name)| name).collect()
}

/// Makes the code that runs a whole program in C, if it can be made.
fn in_c(program: Ir, arguments: Vec<Argument>, how: Rounding, switches: Switches) -> Option<Arc<dyn WholeProgram>> {
    Some(Arc::new(NativeProgram::new(program, arguments, how, switches, When::AtOnce).ok()?))
}

/// The same by Cranelift.
fn by_cranelift(
    program: Ir,
    arguments: Vec<Argument>,
    how: Rounding,
    switches: Switches,
) -> Option<Arc<dyn WholeProgram>> {
    Some(Arc::new(NativeProgram::new(program, arguments, how, switches, When::AtOnceWithoutC).ok()?))
}

/// The command that measures the memory of a workload in a process of its own.
fn child(executable: &Path, workload: &str, what: BenchChild, engine: Engine) -> Command {
    let name = |value: Option<PossibleValue>| value.map_or(String::new(), |v| v.get_name().to_string());
    let mut command = Command::new(executable);
    command.args(["bench", workload, "--child", &name(what.to_possible_value())]);
    command.args(["--engine", &name(engine.to_possible_value())]);
    command
}

/// The requested engines, or the one that commands use by default.
fn engines(args: &Bench) -> Vec<Engine> {
    if !args.engine.is_empty() {
        // Each engine only once, in the given order.
        let mut out: Vec<Engine> = Vec::new();
        for engine in &args.engine {
            if !out.contains(engine) {
                out.push(*engine);
            }
        }
        return out;
    }
    vec![Engine::default()]
}

fn show(
    args: &Bench,
    surroundings: &Surroundings,
    measured: &[Measured],
    reporter: &Reporter,
) -> anyhow::Result<Status> {
    let status = judged(measured);
    if args.json {
        answer(reporter, status == Status::Done, finished(), fields(as_json::results(surroundings, measured)))?;
    } else {
        let tables = [table::times(measured), table::sizes(measured)];
        show_tables(args, surroundings, measured, &tables, table::LEGEND)?;
    }
    Ok(status)
}

fn show_scaling(
    args: &Bench,
    surroundings: &Surroundings,
    all: &[Scaled],
    reporter: &Reporter,
) -> anyhow::Result<Status> {
    let status: Vec<Status> = all.iter().map(|s| judged(s.cases())).collect();
    let status = if status.contains(&Status::Fault) { Status::Fault } else { Status::Done };
    if args.json {
        answer(reporter, status == Status::Done, finished(), fields(scale::json(surroundings, all)))?;
    } else {
        let first = all.first().map_or(&[][..], Scaled::cases);
        show_tables(args, surroundings, first, &[scale::table(all)], scale::LEGEND)?;
    }
    Ok(status)
}

fn show_tables(
    args: &Bench,
    surroundings: &Surroundings,
    measured: &[Measured],
    tables: &[Table],
    legend: &str,
) -> anyhow::Result<()> {
    let engines: Vec<&str> = measured.first().iter().flat_map(|m| &m.engines).map(|e| e.engine).collect();
    let heading = table::heading(surroundings, &engines);
    let text: Vec<String> = tables.iter().map(|t| if args.markdown { t.markdown() } else { t.aligned() }).collect();
    let text = text.join("\n");
    if args.markdown {
        print(&format!("{heading}.\n\n{text}"))?;
    } else {
        print(&format!("{heading}\n\n{text}\n{legend}"))?;
    }
    Ok(())
}

/// Reports the checks that failed.
fn judged(measured: &[Measured]) -> Status {
    let complaints = table::complaints(measured);
    let _ = write!(std::io::stderr().lock(), "{complaints}");
    if complaints.is_empty() { Status::Done } else { Status::Fault }
}

fn list(cases: &[&str], json: bool, reporter: &Reporter) -> anyhow::Result<Status> {
    let about = |family: &str| WORKLOADS.iter().find(|w| w.name == family).map_or("", |w| w.about);
    let chosen = names().into_iter().filter(|(name, _)| cases.contains(name));
    if json {
        let all: Vec<_> = chosen.map(|(n, f)| json!({ "name": n, "workload": f, "about": about(f) })).collect();
        answer(reporter, true, finished(), fields(json!({ "cases": all })))?;
        return Ok(Status::Done);
    }
    let mut table = Table::new(&["case", "workload", ""], 3);
    chosen.for_each(|(name, family)| table.row(vec![name.into(), family.into(), about(family).into()]));
    print(&table.aligned())?;
    Ok(Status::Done)
}

/// Shows what is being measured, if standard error is a terminal.
struct Progress(Option<indicatif::ProgressBar>);

impl Progress {
    fn new() -> Progress {
        Progress(std::io::stderr().is_terminal().then(indicatif::ProgressBar::new_spinner))
    }

    fn at(&self, name: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(name.to_string());
            bar.tick();
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
