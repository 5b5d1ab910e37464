//! `pendula grad` of a function of a functional program.

use pendula::report::{Reporter, print};
use pendula_functional::ad::ladder::{self, Gradient};
use pendula_functional::errors::Failure;
use pendula_functional::source::Method;
use serde_json::{Map, Value, json};

use crate::cli::args::{self, Grad, Source};
use crate::cli::commands::functional::{Loaded, limits, loaded, refuse, refuse_conditions, stats, stopped, value};
use crate::cli::interrupt::InterruptGuard;
use crate::cli::output::as_json;
use crate::cli::report::answer;
use crate::cli::status::Status;

/// The options that concern only programs of the machine.
fn refuse_others(args: &Grad, file: &str) -> anyhow::Result<()> {
    refuse(
        file,
        &[
            ("--wrt", !args.wrt.is_empty()),
            ("--loss", args.loss.is_some()),
            ("--check", args.check),
            ("--hessian", args.hessian.is_some()),
            ("--taylor", args.taylor.is_some()),
            ("--jacobian", args.jacobian),
            ("--hex", args.hex),
            ("--input", args.input.is_some()),
            ("--drift", args.drift),
            ("--keep-dropped", args.keep_dropped),
            ("--grad-mem", args.grad_mem.is_some()),
            ("--batch", !args.many.batch.is_empty()),
            ("--save", !args.many.save.is_empty()),
        ],
    )?;
    refuse_conditions(file, &args.given)
}

/// How gradients are computed, one after another.
fn methods(args: &Grad) -> Vec<Method> {
    match args.method {
        Some(args::Method::Tape) => vec![Method::Ladder(ladder::Stage::D5)],
        _ if !args.stage.is_empty() => args.stage.iter().map(|stage| Method::Ladder((*stage).into())).collect(),
        Some(args::Method::Transform) | None => vec![Method::Transform],
    }
}

/// The stage of a method, if it is one.
fn stage(method: Method) -> Option<ladder::Stage> {
    match method {
        Method::Ladder(stage) => Some(stage),
        Method::Transform => None,
    }
}

/// A derivative, and its texts.
struct Done {
    method: Method,
    gradient: Gradient,
    value: String,
    derivatives: String,
}

fn differentiate(args: &Grad, source: &Source, loaded: &Loaded) -> Result<Vec<Done>, Failure> {
    let nil = &source.options.nil;
    let arguments = nil.args.as_deref().unwrap_or_default();
    let limits = limits(&args.given);
    let mut call = loaded.program.call(nil.entry.as_deref(), arguments, limits, &loaded.budget)?;
    let one = |method| {
        let gradient = call.gradient(args.seed.as_deref(), method)?;
        let (value, derivatives) = (call.show(&gradient.value), call.show_gradient(&gradient.gradient));
        Ok(Done { method, gradient, value, derivatives })
    };
    methods(args).into_iter().map(one).collect()
}

pub(crate) fn run(args: &Grad, reporter: &Reporter) -> anyhow::Result<Status> {
    let source = args.source.in_full();
    refuse_others(args, &source.file)?;
    anyhow::ensure!(source.options.nil.args.is_some(), "give the arguments of the function with --args");
    let loaded = loaded(&source, args.json, reporter)?;
    let guard = InterruptGuard::begin(reporter);
    let done = differentiate(args, &source, &loaded);
    drop(guard);
    let gradients = match done {
        Ok(gradients) => gradients,
        Err(failure) => return stopped(&failure, &loaded, (&args.given, args.json), Map::new(), reporter),
    };
    if args.json {
        let all: Vec<Value> = gradients.iter().map(|done| to_json(done, args.stats)).collect();
        let rest = Map::from_iter([
            ("gradients".to_string(), Value::Array(all)),
            ("diagnostics".to_string(), as_json(&loaded.warnings, &loaded.sources)),
        ]);
        answer::answer(reporter, true, answer::finished(), rest)?;
        return Ok(Status::Done);
    }
    // The stages give the same, but for the order in which numbers are added.
    let mut shown: Option<&Done> = None;
    for done in &gradients {
        if shown.is_some_and(|before| before.value == done.value && before.derivatives == done.derivatives) {
            continue;
        }
        let name = stage(done.method).filter(|_| shown.is_some()).map_or(String::new(), |s| format!("{}\n", s.name()));
        print(&format!("{name}value     {}\ngradient  {}\n", done.value, done.derivatives))?;
        shown = Some(done);
    }
    match &gradients[..] {
        [done] if args.stats => {
            let counts = stage(done.method).map(|stage| (stage, &done.gradient.counts));
            print(&stats::gradient(&done.gradient.passes, counts))?;
        }
        [_] => {}
        several => print(&stats::table(several.iter().filter_map(|done| Some((stage(done.method)?, &done.gradient)))))?,
    }
    Ok(Status::Done)
}

fn to_json(done: &Done, with_stats: bool) -> Value {
    let gradient = &done.gradient;
    let stage = stage(done.method);
    let mut out = json!({
        "method": stage.map_or("transform", ladder::Stage::name),
        "text": { "value": done.value, "gradient": done.derivatives },
        "value": value::to_json(&gradient.value),
        "gradient": value::to_json(&gradient.gradient),
    });
    if with_stats {
        out["stats"] = stats::gradient_json(&gradient.passes, stage.map(|stage| (stage, &gradient.counts)));
    }
    out
}
