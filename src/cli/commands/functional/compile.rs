//! `pendula compile` of a functional program: the core, and tapes.

use anyhow::bail;
use pendula::report::Reporter;
use pendula_functional::ad::ladder::{Stage, transformed};
use pendula_functional::errors::Failure;
use pendula_functional::print;
use pendula_functional::source::Method;
use serde_json::Map;

use crate::cli::args::{Compile, Emit, Options};
use crate::cli::commands::functional::{Loaded, limits, loaded, stopped};
use crate::cli::interrupt::InterruptGuard;
use crate::cli::output::output_text;
use crate::cli::status::Status;

/// The conditions of a run that nobody has set.
fn conditions() -> crate::cli::args::Conditions {
    crate::cli::args::Conditions {
        set: Vec::new(),
        max_steps: None,
        engine: crate::cli::args::Engine::Auto,
        no_cc: false,
        mem: None,
        checks: crate::cli::args::Switch::On,
        trap: Vec::new(),
        ieee: false,
    }
}

pub(crate) fn run(args: &Compile, reporter: &Reporter) -> anyhow::Result<Status> {
    let source = args.source.in_full();
    let loaded = loaded(&source, args.json, reporter)?;
    let given = conditions();
    let guard = InterruptGuard::begin(reporter);
    let text = match args.emit {
        Emit::Core => core(args, &source.options, &loaded),
        Emit::Tape if source.options.nil.args.is_none() => {
            bail!("a tape is that of a function at arguments: give them with --args")
        }
        Emit::Tape => tape(&source.options, &loaded),
        Emit::Ast | Emit::Ir | Emit::Rasm | Emit::Obj | Emit::C => bail!(
            "{} is a functional program, which has no code for the machine yet: write `--emit core` or `--emit tape`",
            source.file
        ),
    };
    drop(guard);
    match text {
        Ok(text) => {
            let place = (source.file.as_str(), args.output.as_deref());
            output_text(place, text, (&loaded.warnings, &loaded.sources), args.json, reporter)?;
            Ok(Status::Done)
        }
        Err(failure) => stopped(&failure, &loaded, (&given, args.json), Map::new(), reporter),
    }
}

/// The core of the program; of one function, if one is named.
fn core(args: &Compile, options: &Options, loaded: &Loaded) -> Result<String, Failure> {
    let entry = options.nil.entry.as_deref();
    let (mut program, group) = loaded.program.code(entry, limits(&conditions()))?;
    match (group, args.stage) {
        (None, None) => Ok(print::program(&program)),
        (None, Some(_)) => Err(Failure::new("P0627", "a stage transforms one function: name it with --entry")),
        (Some(group), None) => Ok(print::group(&program.store, group)),
        (Some(group), Some(stage)) => {
            let made = transformed(&mut program.store, stage.into(), group)?;
            Ok(print::group(&program.store, made))
        }
    }
}

/// The tape of a function at its arguments.
fn tape(options: &Options, loaded: &Loaded) -> Result<String, Failure> {
    let nil = &options.nil;
    let arguments = nil.args.as_deref().unwrap_or_default();
    let mut call = loaded.program.call(nil.entry.as_deref(), arguments, limits(&conditions()), &loaded.budget)?;
    let gradient = call.gradient(None, Method::Ladder(Stage::D5))?;
    Ok(gradient.tape.map_or(String::new(), |tape| tape.text()))
}
