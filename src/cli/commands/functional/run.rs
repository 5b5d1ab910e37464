//! `pendula run` of a functional program: the values of the expressions at its top, or of one function at arguments.

use pendula::report::{Reporter, print};
use pendula_functional::core::Value as Functional;
use pendula_functional::errors::Failure;
use pendula_functional::eval::{Counts, Limits, Shown};
use serde_json::{Map, Value, json};

use crate::cli::args::Run;
use crate::cli::commands::functional::{
    Loaded, diagnostic, limits, loaded, refuse, refuse_conditions, stats, stopped, value,
};
use crate::cli::interrupt::InterruptGuard;
use crate::cli::output::as_json;
use crate::cli::report::answer;
use crate::cli::status::Status;

/// The options that concern only programs of the machine.
pub(crate) fn refuse_others(args: &Run, file: &str) -> anyhow::Result<()> {
    refuse(
        file,
        &[
            ("--reverse", args.reverse),
            ("--round-trip", args.round_trip),
            ("--show", !args.show.is_empty()),
            ("--trace", args.trace.is_some()),
            ("--hex", args.hex),
            ("--read", args.read.is_some()),
            ("--output", args.output.is_some()),
            ("--drift", args.drift),
            ("--keep-dropped", args.keep_dropped),
            ("--tech", args.tech.is_some()),
            ("--show-raw", args.show_raw),
            ("--batch", !args.many.batch.is_empty()),
            ("--save", !args.many.save.is_empty()),
        ],
    )?;
    refuse_conditions(file, &args.given)
}

/// One of the values of a run.
struct Line {
    output: String,
    text: String,
    value: Result<Functional, Failure>,
}

/// What a run gives: its values, and what they took.
type Done = (Vec<Line>, Counts);

fn evaluate(args: &Run, loaded: &Loaded, limits: Limits) -> Result<Done, Failure> {
    let nil = &args.source.options.nil;
    if nil.entry.is_none() && nil.args.is_none() && !loaded.program.is_value() {
        let outcome = loaded.program.run(limits)?;
        let line = |shown: Shown| {
            let text = shown.value.as_ref().map(Functional::show).unwrap_or_default();
            Line { output: shown.output, text, value: shown.value }
        };
        return Ok((outcome.values.into_iter().map(line).collect(), outcome.counts));
    }
    let arguments = nil.args.as_deref().unwrap_or_default();
    let mut call = loaded.program.call(nil.entry.as_deref(), arguments, limits, &loaded.budget)?;
    let value = call.value()?;
    let line = Line { output: call.machine.output(), text: call.show(&value), value: Ok(value) };
    Ok((vec![line], call.machine.counts()))
}

/// The numbers that the program reads.
fn numbers(text: &str) -> anyhow::Result<Vec<f64>> {
    let number = |text: &str| text.trim().parse::<f64>();
    let all = text.split(',').filter(|part| !part.trim().is_empty());
    all.map(|part| number(part).map_err(|_| anyhow::anyhow!("--input: `{part}` is not a number"))).collect()
}

pub(crate) fn run(args: &Run, reporter: &Reporter) -> anyhow::Result<Status> {
    refuse_others(args, &args.source.file)?;
    let loaded = loaded(&args.source, args.json, reporter)?;
    let mut limits = limits(&args.given);
    if let Some(text) = &args.input {
        limits.input = numbers(text)?;
    }
    let guard = InterruptGuard::begin(reporter);
    let done = evaluate(args, &loaded, limits);
    drop(guard);
    let sources = &loaded.sources;
    let (lines, counts) = match done {
        Ok(done) => done,
        Err(failure) => return stopped(&failure, &loaded, (&args.given, args.json), Map::new(), reporter),
    };
    let failed = lines.iter().filter_map(|line| line.value.as_ref().err()).next();
    if args.json {
        let values: Vec<Value> = lines
            .iter()
            .map(|line| {
                let value = line.value.as_ref().ok();
                json!({ "output": line.output, "text": value.map(|_| &line.text), "value": value.map(value::to_json) })
            })
            .collect();
        let mut rest = Map::from_iter([("values".to_string(), Value::Array(values))]);
        if args.stats {
            rest.insert("stats".into(), stats::to_json(&counts));
        }
        if let Some(failure) = failed {
            return stopped(failure, &loaded, (&args.given, true), rest, reporter);
        }
        rest.insert("diagnostics".into(), as_json(&loaded.warnings, sources));
        answer::answer(reporter, true, answer::finished(), rest)?;
        return Ok(Status::Done);
    }
    let mut status = Status::Done;
    for line in &lines {
        print(&line.output)?;
        match &line.value {
            Ok(_) => print(&format!("{}\n", line.text))?,
            Err(failure) => {
                reporter.diagnostic(&diagnostic(failure), sources);
                status = status.max(if failure.is_interrupted() { Status::Interrupted } else { Status::Fault });
            }
        }
    }
    if args.stats {
        print(&stats::text(&counts))?;
    }
    Ok(status)
}
