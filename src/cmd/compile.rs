//! `pendula compile`, and what all commands tell the compiler.

use anyhow::{Context, bail};
use pendula::arguments;
use pendula::asm::{disasm, object};
use pendula::compiler::c;
use pendula::compiler::compile::Options;
use pendula::compiler::ir::text;
use pendula::compiler::janus;
use pendula::compiler::lower::Erase;
use pendula::compiler::passes::{Pass, Switches};
use pendula::isa::Format;
use pendula::isa::adjoint::Carriage;
use pendula::isa::budget::Budget;
use pendula::isa::counts::Direction;

use crate::Status;
use crate::cli::{Compile, Emit, Nil, Uncompute};
use crate::cmd::{is_stdout, load_for, report, write, write_object};
use crate::report::Reporter;

/// The compiler's options from the command line's, and what reading may take.
pub(crate) fn options(nil: &Nil, budget: Budget) -> anyhow::Result<Options> {
    let arguments = match &nil.args {
        Some(text) => arguments::parse_within(text, &budget).context("--args")?,
        None => Vec::new(),
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
    let mut switches = Switches::level(nil.optimise);
    for name in &nil.passes {
        let (name, on) = name.strip_prefix('-').map_or((name.as_str(), true), |n| (n, false));
        let found = Pass::from_name(name);
        let list = || Pass::ALL.iter().map(|p| format!("\n  {:<10} {}", p.name(), p.doc())).collect::<String>();
        let pass = found.with_context(|| format!("--passes: there is no pass `{name}`; the passes are{}", list()))?;
        switches.set(pass, on);
    }
    let erase = match nil.uncompute {
        Uncompute::Always | Uncompute::Auto => Erase::Never,
        Uncompute::Never => Erase::Always,
    };
    Ok(Options {
        entry: nil.entry.clone(),
        arguments,
        types,
        format,
        fast_float: nil.fast_float,
        budget,
        switches,
        erase,
        native: false,
        janus: janus::Settings {
            int32: nil.int.map_or(nil.classic, |bits| bits == 32),
            stack: nil.stack,
            classic: nil.classic,
            entry: nil.entry.clone(),
        },
    })
}

pub(crate) fn run(args: &Compile, reporter: &Reporter) -> anyhow::Result<Status> {
    let program = match load_for(&args.source, None, args.emit == Emit::C, args.json, reporter)? {
        Ok(program) => program,
        Err(status) => return Ok(status),
    };
    report(&program.warnings, &program.sources, args.json && !is_stdout(args.output.as_deref()), reporter)?;
    let file = &args.source.file;
    let Some(nil) = &program.nil else { bail!("{file} is no program in Nil or Janus; `pendula asm` assembles") };
    match args.emit {
        Emit::Ast => {
            let text = match &nil.janus {
                Some(janus) => format!("{:#?}\n", janus.tree),
                None => nil.inputs.first().map_or(String::new(), |i| format!("{:#?}\n", i.tree)),
            };
            write(file, args.output.as_deref(), &text)?;
        }
        Emit::Ir => {
            let text = nil.program.as_ref().map_or(String::new(), text::print);
            write(file, args.output.as_deref(), &text)?;
        }
        Emit::C => {
            let (Some(ir), arguments) = (nil.native.as_ref(), &nil.arguments) else { return Ok(Status::Fault) };
            let modes = [
                c::Mode::Run(Direction::Forward, Carriage::Plain),
                c::Mode::Run(Direction::Backward, Carriage::Plain),
                c::Mode::Run(Direction::Backward, Carriage::Gradient),
                c::Mode::ThereAndBack,
            ];
            let settings = c::Settings { fast: args.source.options.nil.fast_float, switches: nil.switches };
            let source =
                c::write(ir, arguments, &modes, settings).with_context(|| format!("{file} cannot be written in C"))?;
            write(file, args.output.as_deref(), &source.text)?;
        }
        Emit::Rasm => write(file, args.output.as_deref(), &disasm::disassemble(&program.module))?,
        Emit::Obj => {
            let bytes = object::write(&program.module).context("cannot make the object")?;
            write_object(file, args.output.as_deref(), &bytes)?;
        }
    }
    Ok(Status::Done)
}
