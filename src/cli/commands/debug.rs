//! `pendula debug`: goes through a run, forward and backward.

pub(crate) mod complete;
mod interpreter;
mod look;
mod screen;
pub(crate) mod text;
mod words;

use std::io::{BufRead, IsTerminal, Write as _};

use anyhow::Context;
use pendula::asm::diagnostic::Sources;
use pendula::debug::{Session, Timeline};
use pendula::isa::budget::Budget;
use pendula::isa::counts::Direction;
use pendula::isa::types::Ty;
use pendula::load::{self, FileKind, read_bytes};
use pendula::report::{Reporter, print};
use pendula::store;
use pendula::values::Place;
use pendula::visible::visible;
use pendula::vm::gradient::{self, Variable};
use pendula::vm::{AdMode, Machine};

use crate::cli::args::{Debug, Options, Run};
use crate::cli::commands::{RunConditions, load as load_program};
use crate::cli::interrupt::{self, InterruptGuard};
use crate::cli::memory;
use crate::cli::session;
use crate::cli::status::Status;

pub(crate) use interpreter::Interpreter;
use interpreter::Next;

/// What commands are written after.
const PROMPT: &str = "(pendula) ";

/// Looks at a run that has stopped at a trap, from its beginning on.
pub(crate) fn at_trap(args: &Run, reporter: &Reporter) -> anyhow::Result<Status> {
    let mut source = args.source.clone();
    if source.options.compiler.optimise == Options::default().compiler.optimise {
        // Optimised code does not keep its variables.
        source.options.compiler.optimise = 0;
    }
    let (reverse, round_trip) = (args.reverse, args.round_trip);
    let (given, input) = (args.given.clone(), args.input.clone());
    let execute = vec!["end".to_string()];
    let (script, loss) = (None, None);
    run(
        &Debug { execute, script, batch: false, plain: false, reverse, round_trip, loss, input, given, source },
        reporter,
    )
}

pub(crate) fn run(args: &Debug, reporter: &Reporter) -> anyhow::Result<Status> {
    let display = screen::Display::default();
    let full = is_full_screen(args);
    let _guard = InterruptGuard::begin(reporter);
    let pause = |moment| if full { display.pause(moment) } else { interrupt::is_requested() };
    let outcome = with_session(args, reporter, pause, |session, sources| {
        let mut interpreter = Interpreter::new(session, sources, args.given.max_steps);
        if !full {
            return converse(args, &mut interpreter);
        }
        let mut commands = args.execute.clone();
        commands.extend(script(args)?);
        screen::run(&mut interpreter, &display, &commands)?;
        Ok(Status::Done)
    });
    session::end_line()?;
    outcome
}

/// Whether the view fills the terminal.
fn is_full_screen(args: &Debug) -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    terminal && !dumb && !args.batch && !args.plain
}

/// The commands of `--script`.
fn script(args: &Debug) -> anyhow::Result<Vec<String>> {
    let Some(path) = args.script.as_deref() else { return Ok(Vec::new()) };
    let bytes = read_bytes(path, &Budget { bytes: 1 << 24, ..Budget::default() })?;
    let text = String::from_utf8(bytes).map_err(|_| anyhow::anyhow!("{} is not UTF-8 text", visible(path)))?;
    Ok(text.lines().map(str::to_string).collect())
}

/// Loads a program and begins a session with it; `pause` is asked during long movements.
pub(crate) fn with_session<T>(
    args: &Debug,
    reporter: &Reporter,
    pause: impl Fn(u64) -> bool,
    then: impl FnOnce(Session<'_>, Texts<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let given = &args.given;
    let mut source = args.source.clone();
    if !load::kind_at(&source.file).is_some_and(FileKind::is_compiled) {
        // Its default is 0 here, which is for compiled programs.
        source.options.compiler.optimise = Options::default().compiler.optimise;
    }
    anyhow::ensure!(
        !load::kind_at(&source.file).is_some_and(FileKind::is_functional),
        "{} is a functional program, which is evaluated and not run by the machine",
        load::display_name(&source.file)
    );
    let loaded = load_program(&source, Some(RunConditions { given, input: args.input.as_deref() }), false, reporter)?;
    reporter.diagnostics(&loaded.warnings, &loaded.sources);
    let backward = args.reverse || args.round_trip || args.loss.is_some();
    let program = session::program(&loaded, &source, given, backward, false, reporter)?;
    let mut machine = session::machine(&program, given, loaded.variables())?;
    if let Some(tape) = &args.input {
        session::input(&mut machine, tape, None, args.reverse)?;
    }
    machine.allow_whole(false);
    machine.begin(if args.reverse { Direction::Backward } else { Direction::Forward });
    let mut line = Timeline::new(machine, pause).at_most(given.max_steps.unwrap_or(u64::MAX));
    if let (Some(limit), Some(used)) = (memory::limit(), memory::own("VmRSS")) {
        // The machine runs beside them, and what is shown is made anew.
        line = line.within(usize::try_from(limit.saturating_sub(used) / 2).unwrap_or(usize::MAX));
    }
    if let Some(name) = &args.loss {
        let loss = loss(&store::find(&loaded.module, loaded.variables(), name).context("--loss")?)?;
        line = line.there_and_back(move |machine| turn_with_gradients(machine, loss));
    } else if args.round_trip {
        line = line.there_and_back(|machine| machine.begin(Direction::Backward));
    }
    then(Session::of(line, loaded.compiled.as_ref()), &loaded.sources)
}

/// The word of a loss.
fn loss(place: &Place) -> anyhow::Result<Variable> {
    let words = pendula::grad::variables(place);
    match words.as_slice() {
        [word] if word.ty != Ty::Int => Ok(*word),
        [_] => anyhow::bail!("--loss {}: an integer has no derivative: name a real number", place.name),
        words => anyhow::bail!("--loss {}: it is {} words: name one of them", place.name, words.len()),
    }
}

/// Lets a machine that has run forward go back with gradients.
fn turn_with_gradients(machine: &mut Machine<'_>, loss: Variable) {
    machine.set_ad_mode(AdMode::Gradient);
    let one = gradient::one(machine.env(), loss.ty);
    machine.put(pendula::isa::adjoint::GRADIENT, loss.cell, one);
    machine.begin(Direction::Backward);
}

/// Reads commands and runs them: those of `-x`, those of `--script`, then those of the user.
fn converse(args: &Debug, interpreter: &mut Interpreter<'_, '_>) -> anyhow::Result<Status> {
    interpreter.greet()?;
    for command in args.execute.iter().cloned().chain(script(args)?) {
        if interpreter.echo(&command)? == Next::Quit {
            return Ok(interpreter.status());
        }
    }
    let from_script = args.script.as_deref();
    let own = !args.execute.is_empty() || from_script.is_some();
    let terminal = std::io::stdin().is_terminal();
    if args.batch || own && !terminal && args.script.is_some() || from_script == Some("-") {
        return Ok(interpreter.status());
    }
    let mut input = std::io::stdin().lock();
    loop {
        if terminal {
            print(PROMPT)?;
            std::io::stdout().flush()?;
        }
        let mut line = String::new();
        if input.read_line(&mut line).context("standard input")? == 0 {
            print(if terminal { "\n" } else { "" })?;
            return Ok(interpreter.status());
        }
        if interpreter.run_or_repeat(line.trim(), terminal)? == Next::Quit {
            return Ok(interpreter.status());
        }
    }
}

/// The sources of a program.
pub(crate) type Texts<'a> = &'a Sources;
