//! `pendula compile`, and the compiler's options from those that all commands share.

use anyhow::{Context, bail};
use pendula::arguments;
use pendula::asm::{disasm, object};
use pendula::compiler::c;
use pendula::compiler::compile::{Options, for_c};
use pendula::compiler::ir::text;
use pendula::compiler::janus::Settings;
use pendula::compiler::lower::Erase;
use pendula::compiler::passes::{Pass, Switches};
use pendula::isa::Format;
use pendula::isa::adjoint::{ActiveArguments, AdMode};
use pendula::isa::counts::Direction;
use pendula::report::Reporter;
use serde_json::Map;

use crate::cli::args::{Compile, Emit, Options as Given, Uncompute};
use crate::cli::commands::{budget, load};
use crate::cli::output::{output_object, output_text};
use crate::cli::status::Status;

/// The compiler's options, and the budget for reading, from the command line's options.
pub(crate) fn options(given: &Given) -> anyhow::Result<Options> {
    let Given { nil, compiler, janus, room, .. } = given;
    let budget = budget(given);
    let (arguments, keywords) = match &nil.args {
        Some(text) => {
            let (positional, keywords) = arguments::with_keywords(text).context("--args")?;
            (arguments::parse_within(&positional, &budget).context("--args")?, keywords)
        }
        None => (Vec::new(), Vec::new()),
    };
    let types = match &nil.types {
        Some(text) => {
            arguments::split(text, ',').context("--types")?.into_iter().map(|t| t.trim().to_string()).collect()
        }
        None => Vec::new(),
    };
    let format = match &nil.format {
        Some(name) => {
            let found = Format::ALL.into_iter().find(|f| f.name().eq_ignore_ascii_case(name.trim()));
            Some(found.with_context(|| format!("--format {name}: the formats are Q32.32, Q21.43 and Q16.48"))?)
        }
        None => None,
    };
    let mut switches = Switches::level(compiler.optimise);
    for name in &compiler.passes {
        let (name, on) = name.strip_prefix('-').map_or((name.as_str(), true), |n| (n, false));
        let pass = Pass::from_name(name).with_context(|| format!("--passes: there is no pass `{name}`"))?;
        switches.set(pass, on);
    }
    let erase = match compiler.uncompute {
        Uncompute::Always | Uncompute::Auto => Erase::Never,
        Uncompute::Never => Erase::Always,
    };
    Ok(Options {
        entry: nil.entry.clone(),
        arguments,
        keywords,
        types,
        format,
        strict: given.strictness.strict,
        fast_float: compiler.fast_float,
        strict_derivatives: compiler.strict_derivatives,
        budget,
        extensions: Vec::new(),
        switches,
        erase,
        janus: Settings {
            int32: janus.int.map_or(janus.classic, |bits| bits == 32),
            stack: room.stack,
            classic: janus.classic,
            entry: nil.entry.clone(),
        },
    })
}

pub(crate) fn run(args: &Compile, reporter: &Reporter) -> anyhow::Result<Status> {
    let program = load(&args.source.in_full(), None, args.json, reporter)?;
    if !args.json {
        reporter.diagnostics(&program.warnings, &program.sources);
    }
    let reported = (&program.warnings[..], &program.sources);
    let file = &args.source.file;
    let place = (file.as_str(), args.output.as_deref());
    let Some(nil) = &program.compiled else {
        bail!("{file} is not a program in Nil or Janus; `pendula asm` assembles")
    };
    let text = match args.emit {
        Emit::Ast => match &nil.janus {
            Some(janus) => format!("{:#?}\n", janus.tree),
            None => nil.inputs.first().map_or(String::new(), |i| format!("{:#?}\n", i.tree)),
        },
        Emit::Ir => nil.program.as_ref().map_or(String::new(), text::print),
        Emit::C => {
            let (Some(ir), false) = (nil.source.clone(), nil.erases) else {
                bail!("{file} cannot be written in C: what it undoes is to be erased, `--uncompute`")
            };
            let (ir, arguments) = (for_c(ir, nil.switches), &nil.arguments);
            let modes = [
                c::Mode::Run(Direction::Forward, AdMode::Plain),
                c::Mode::Run(Direction::Backward, AdMode::Plain),
                c::Mode::Run(Direction::Backward, AdMode::Gradient),
                c::Mode::ForwardAndBack(ActiveArguments::ALL),
            ];
            let settings = c::Settings {
                fast: args.source.in_full().options.compiler.fast_float,
                certify: c::Certify::Everything,
                keep: true,
                switches: nil.switches,
            };
            let source = match c::write(&ir, arguments, &modes, settings) {
                Err(c::Refused::NoEntry) => {
                    bail!("{file} cannot be written in C: nothing calls it; give the arguments of a call by `--args`")
                }
                source => source.with_context(|| format!("{file} cannot be written in C"))?,
            };
            source.text
        }
        Emit::Core | Emit::Tape => bail!("{file} is not a functional program, which alone has a core and a tape"),
        Emit::Rasm => disasm::disassemble(&program.module),
        Emit::Obj => {
            let bytes = object::write(&program.module).context("cannot make the object")?;
            output_object(place, &bytes, reported, Map::new(), (args.json, reporter))?;
            return Ok(Status::Done);
        }
    };
    output_text(place, text, reported, args.json, reporter)?;
    Ok(Status::Done)
}
