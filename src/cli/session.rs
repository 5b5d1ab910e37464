//! Shared parts of the commands that run a program: setting it up, and running it with a step limit, a progress bar or a trace.

use std::fmt::Write as _;
use std::io::{ErrorKind, IsTerminal, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once, OnceLock};
use std::time::{Duration, Instant};

use anyhow::Context;
use pendula::asm::diagnostic::{Diagnostic, plural};
use pendula::compiler::janus::store::Variable;
use pendula::hw_model::Technology;
use pendula::isa::Format;
use pendula::isa::budget::Budget;
use pendula::isa::counts::Direction;
use pendula::isa::table::Row;
use pendula::isa::text::{ModuleNames, display, number};
use pendula::isa::types::Reg;
use pendula::isa::verify::is_row;
use pendula::load::{self, LoadError, display_name};
use pendula::native::{self, NativeError, When, attach};
use pendula::report::{Reporter, print};
use pendula::visible::visible;
use pendula::vm::{self, Config, ConfigError, Event, Machine, Outcome, Program, StepOutcome};
use pendula::{diagnosis, store, values};
use pendula::{language, pisa};
use serde_json::Value;

use crate::cli::args::{Conditions, Engine, Source, Switch, TrapOn};
use crate::cli::definitions;
use crate::cli::interrupt::{self, Unresponsive};
use crate::cli::output::report;
use crate::cli::program;
use crate::cli::status::{Reported, Status};

/// The maximum number of events that `--json` collects; later ones are left out.
pub(crate) const EVENTS: usize = 1_000_000;

/// The number of instructions between two checks of the clock.
const CHUNK: u64 = 20_000_000;

/// True if standard error is a terminal.
pub(crate) fn on_terminal() -> bool {
    static TERMINAL: OnceLock<bool> = OnceLock::new();
    *TERMINAL.get_or_init(|| std::io::stderr().is_terminal())
}

/// Runs up to the next check of the step limit, of Ctrl-C and of the progress, and subtracts the steps from `left`.
/// Counting steps costs time. So without a limit and without a terminal it runs to the end, and Ctrl-C ends the process
/// instead of the run. Without a limit, code for whole runs is used where the machine allows it.
pub(crate) fn part(machine: &mut Machine<'_>, left: &mut Option<u64>) -> Outcome {
    let looks = left.is_some() || on_terminal();
    let _unresponsive = (!looks).then(Unresponsive::begin);
    let before = machine.executed();
    let outcome = match *left {
        Some(left) => machine.run(Some(left.min(CHUNK))),
        None if looks => machine.run_part(CHUNK),
        None => machine.run(None),
    };
    if let Some(left) = left {
        *left = left.saturating_sub(machine.executed() - before);
    }
    outcome
}

/// Prepares a program for running; `backward` says whether any run is backward. Errors of the program are reported
/// here.
///
/// # Errors
/// [`Reported`] for such an error.
pub(crate) fn program(
    loaded: &program::Program,
    source: &Source,
    conditions: &Conditions,
    backward: bool,
    json: bool,
    reporter: &Reporter,
) -> anyhow::Result<Program> {
    let refuse = |d: Diagnostic| -> anyhow::Result<Program> {
        report(&[d], &loaded.sources, json, reporter)?;
        Err(Reported(Status::Fault).into())
    };
    if backward && loaded.module.flags.irreversible {
        return refuse(diagnosis::irreversible(display_name(&source.file), &loaded.module));
    }
    match Program::new(loaded.module.clone(), conditions.checks == Switch::On) {
        Ok(mut program) => {
            attach_whole(&mut program, loaded, source, conditions)?;
            Ok(program)
        }
        Err(error) => {
            let help = definitions::advice(loaded, &source.file).unwrap_or_else(|| error.help().to_string());
            refuse(Diagnostic::error(error.code(), format!("{}: {error}", display_name(&source.file))).help(help))
        }
    }
}

/// Attaches code for whole runs, if the engine has any.
fn attach_whole(
    program: &mut Program,
    loaded: &program::Program,
    source: &Source,
    conditions: &Conditions,
) -> anyhow::Result<()> {
    let asked = conditions.engine == Engine::Native;
    anyhow::ensure!(
        !(conditions.no_cc && asked),
        "`--engine native` is code from the C compiler, which `--no-cc` does without: leave one of them out"
    );
    let when = match conditions.engine {
        Engine::Auto if conditions.no_cc => When::BesideWithoutC,
        Engine::Auto => When::Beside,
        Engine::Native => When::AtOnce,
        Engine::Interp | Engine::Jit => return Ok(()),
    };
    if !conditions.no_cc {
        native::check_environment()?;
    }
    // What has no code for whole runs needs no compiler.
    let can_be_c = loaded.compiled.as_ref().is_some_and(|c| c.source.is_some() && !c.erases);
    if asked
        && can_be_c
        && let Err(error) = native::check_compiler()
    {
        anyhow::bail!(
            "the engine `native` is not available: {error}; or take another engine, {}",
            others(Engine::Native)
        );
    }
    let fast = source.options.compiler.fast_float;
    let attached = loaded.compiled.as_ref().map_or(Err(NativeError::NoSource), |c| attach(program, c, fast, when));
    match attached {
        Ok(()) => {}
        Err(NativeError::Compiler(error)) if asked => {
            let other = others(Engine::Native);
            anyhow::bail!("the engine `native` could not generate code: {error}; or take another engine, {other}")
        }
        Err(why) if asked => {
            let other = vm::Engine::Native.resolved().name();
            tracing::warn!(
                target: "pendula::session",
                "`--engine native` runs whole programs, `{other}` runs this one: {}", visible(&why.to_string())
            );
        }
        Err(why) => {
            tracing::info!(target: "pendula::session", "not run as a whole: {}", visible(&why.to_string()));
        }
    }
    Ok(())
}

/// The options for the other engines that this build has and that work on this host.
fn others(engine: Engine) -> String {
    let others = [(Engine::Jit, "jit"), (Engine::Interp, "interp")];
    let others = others.iter().filter(|(e, _)| *e != engine && vm::Engine::from(*e).is_available());
    let others: Vec<String> = others.map(|(_, name)| format!("`--engine {name}`")).collect();
    others.join(" or ")
}

/// Makes a machine with its data set; `variables` are those of a Janus program.
pub(crate) fn machine<'p>(
    program: &'p Program,
    conditions: &Conditions,
    variables: Option<&[Variable]>,
) -> anyhow::Result<Machine<'p>> {
    let mut machine = match Machine::new(program, &config(conditions)) {
        Err(error @ ConfigError::Engine { .. }) => {
            anyhow::bail!("{error}; or take another engine, {}", others(conditions.engine))
        }
        machine => machine?,
    };
    set(&mut machine, conditions, variables)?;
    Ok(machine)
}

/// The machine's configuration from the command line's options.
pub(crate) fn config(conditions: &Conditions) -> Config {
    let trap_overflow = conditions.trap.contains(&TrapOn::Overflow);
    let engine = conditions.engine.into();
    Config { mem: conditions.mem, ieee: conditions.ieee, trap_overflow, engine, ..Config::default() }
}

/// Allows code for whole runs, unless the options require that runs are followed step by step.
pub(crate) fn allow_whole(machine: &mut Machine<'_>, conditions: &Conditions, followed: bool) {
    static TOLD: Once = Once::new();
    let whole = !followed && conditions.max_steps.is_none();
    if conditions.engine == Engine::Native && (!whole || conditions.ieee) && machine.program().has_whole() {
        // Once, for all machines of a batch.
        TOLD.call_once(|| {
            tracing::warn!(
                target: "pendula::session",
                "C code does not count, has no step limit and no infinities: `{}` runs this", machine.engine().name()
            );
        });
    }
    machine.allow_whole(whole);
}

/// Sets the data of `--set`; `variables` are those of a Janus program.
pub(crate) fn set(
    machine: &mut Machine<'_>,
    conditions: &Conditions,
    variables: Option<&[Variable]>,
) -> anyhow::Result<()> {
    for assignment in &conditions.set {
        store::set(machine, variables, assignment).with_context(|| format!("--set {assignment}"))?;
    }
    Ok(())
}

/// Sets the input tape of `--input`. With `all`, its words count as already read; `read`, if given, is the number of
/// words that do.
pub(crate) fn input(machine: &mut Machine<'_>, input: &str, read: Option<usize>, all: bool) -> anyhow::Result<()> {
    let words = values::tape(machine.program().module(), input).with_context(|| format!("--input {input}"))?;
    let read = read.unwrap_or(if all { words.len() } else { 0 });
    anyhow::ensure!(read <= words.len(), "--read {read}: the input tape has {}", plural(words.len(), "word"));
    machine.set_input(words, read);
    Ok(())
}

/// Finds a technology by its name or file.
pub(crate) fn technology(name: &str) -> anyhow::Result<Technology> {
    if let Some(technology) = Technology::preset(name) {
        return Ok(technology);
    }
    if Path::new(name).exists() || name.ends_with(".toml") || name.contains('/') {
        return technology_file(name);
    }
    let names: Vec<&str> = Technology::presets().collect();
    anyhow::bail!("there is no technology `{name}`; there are {}, or give a TOML file", names.join(", "))
}

fn technology_file(path: &str) -> anyhow::Result<Technology> {
    let budget = Budget { bytes: Technology::BYTES, ..Budget::default() };
    let bytes = load::read_bytes(path, &budget).map_err(|e| match e {
        LoadError::TooLarge(e) => {
            LoadError::TooLarge(Box::new(e.instead("no technology is that large: name one that is")))
        }
        e => e,
    })?;
    let text = String::from_utf8(bytes).map_err(|_| anyhow::anyhow!("{path} is not UTF-8 text"))?;
    Technology::parse_within(&text, &budget).map_err(|e| {
        let at = e.span.as_ref();
        let line = at.map_or(String::new(), |s| format!(":{}", pendula::report::line_and_column(&text, s.start).0));
        match e.exceeded {
            Some(exceeded) => anyhow::Error::new(*exceeded).context(format!("{path}{line}")),
            None => anyhow::anyhow!("{path}{line}: {}", e.message),
        }
    })
}

/// An event of the program as text.
pub(crate) fn event_text(event: Event, format: Format, texts: &[String]) -> String {
    match event {
        Event::Show(ty, word) => number(word, ty, format),
        Event::Print(n) => texts.get(n as usize).cloned().unwrap_or_default(),
        Event::Emit(word) => format!("{:08}", word.cast_signed()),
    }
}

/// Prints what the program shows at once, or collects it with `--json`. With `runs_on`, the output is continuous, and
/// the texts contain the line ends. With `raw` (`--show-raw`), PISA's words are printed as numbers.
pub(crate) fn listen(machine: &mut Machine<'_>, (collect, runs_on, raw): (bool, bool, bool)) -> Arc<Mutex<Vec<Value>>> {
    let events = Arc::new(Mutex::new(Vec::new()));
    if language::of((machine.program().module(), None)).shows_headers() {
        listen_to_pisa(machine, raw, collect.then(|| Arc::clone(&events)));
        return events;
    }
    let format = machine.program().module().flags.format;
    let texts = machine.program().module().texts.clone();
    let list = Arc::clone(&events);
    let mut begun = String::new();
    machine.on_event(move |event| {
        let mut text = event_text(event, format, &texts);
        if runs_on && collect {
            begun.push_str(&text);
            let Some(line) = begun.strip_suffix('\n') else { return };
            text = line.to_string();
            begun.clear();
        }
        if !collect {
            if let Err(error) = print(&if runs_on { text } else { text + "\n" }) {
                exit_on_write_error(&error);
            }
        } else if let Ok(mut list) = list.lock()
            && list.len() < EVENTS
        {
            list.push(Value::String(text));
        }
    });
    events
}

/// Ends the process because the program's output cannot be written. A closed pipe is not an error.
fn exit_on_write_error(error: &std::io::Error) -> ! {
    if error.kind() == ErrorKind::BrokenPipe {
        crate::cli::status::exit(Status::Done);
    }
    let _ = writeln!(std::io::stderr().lock(), "error: {error}");
    crate::cli::status::exit(Status::Usage)
}

/// True if the program's output so far ends within a line.
static MID_LINE: AtomicBool = AtomicBool::new(false);

/// Ends the line that the program has left unfinished, if there is one.
pub(crate) fn end_line() -> std::io::Result<()> {
    // Standard output still buffers an unfinished line.
    print(if MID_LINE.swap(false, Ordering::Relaxed) { "\n" } else { "" })
}

/// Prints what a program of the profile `pisa` shows and emits in the format of PendVM, or collects it in a list.
fn listen_to_pisa(machine: &mut Machine<'_>, raw: bool, list: Option<Arc<Mutex<Vec<Value>>>>) {
    let mut show = pisa::Show::new(raw);
    let mut texts = pisa::Texts::default();
    machine.on_event(move |event| {
        let bytes = match event {
            Event::Show(_, word) => show.word(word as u32),
            emitted => (event_text(emitted, Format::default(), &[]) + "\n").into_bytes(),
        };
        if bytes.is_empty() {
            return;
        }
        match &list {
            None => {
                if let Err(error) = std::io::stdout().write_all(&bytes) {
                    exit_on_write_error(&error);
                }
                MID_LINE.store(bytes.last() != Some(&b'\n'), Ordering::Relaxed);
            }
            Some(list) => {
                if let Ok(mut list) = list.lock()
                    && list.len() < EVENTS
                {
                    let text = texts.text(&bytes, show.in_text());
                    if !text.is_empty() {
                        list.push(Value::String(text));
                    }
                }
            }
        }
    });
}

/// Runs with a step limit and a progress bar.
pub(crate) struct Session {
    trace: bool,
    left: Option<u64>,
    pub(crate) started: Instant,
    bar: Option<indicatif::ProgressBar>,
    /// Where a run backward began, and its number of instructions.
    back: Option<(u64, u64)>,
}

impl Session {
    pub(crate) fn new(conditions: &Conditions, trace: bool) -> Session {
        Session { trace, left: conditions.max_steps, started: Instant::now(), bar: None, back: None }
    }

    /// A session that only counts steps.
    pub(crate) fn limited(max_steps: Option<u64>) -> Session {
        Session { trace: false, left: max_steps, started: Instant::now(), bar: None, back: None }
    }

    /// Notes that a run backward begins, which takes as many instructions as have been executed so far.
    pub(crate) fn turned(&mut self, machine: &Machine<'_>) {
        self.back = Some((machine.executed(), machine.executed()));
    }

    /// The progress of the run, as text.
    fn progress(&self, executed: u64) -> String {
        let rate = executed as f64 / self.started.elapsed().as_secs_f64();
        let done = format!("{} million instructions, {:.0} million a second", executed / 1_000_000, rate / 1e6);
        match self.back {
            Some((from, count)) if count > 0 => {
                let left = (from + count).saturating_sub(executed);
                let (percent, seconds) = (100 * (count - left.min(count)) / count, left as f64 / rate.max(1.0));
                format!("{done}; {percent} % back, {seconds:.0} s left")
            }
            _ => done,
        }
    }

    /// Runs until the end, a trap, the step limit or Ctrl-C; the last two have the same outcome.
    pub(crate) fn go(&mut self, machine: &mut Machine<'_>) -> anyhow::Result<Outcome> {
        if self.trace {
            return self.trace(machine);
        }
        if interrupt::is_requested() {
            return Ok(Outcome::Limit);
        }
        let outcome = loop {
            let outcome = part(machine, &mut self.left);
            if outcome != Outcome::Limit || self.left == Some(0) || interrupt::is_requested() {
                break outcome;
            }
            if on_terminal() && self.started.elapsed() > Duration::from_secs(1) {
                let text = self.progress(machine.executed());
                let bar = self.bar.get_or_insert_with(indicatif::ProgressBar::new_spinner);
                bar.set_message(text);
                bar.tick();
            }
        };
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        Ok(outcome)
    }

    /// Runs one instruction at a time, and prints each with the values that it changed.
    fn trace(&mut self, machine: &mut Machine<'_>) -> anyhow::Result<Outcome> {
        let mut out = std::io::BufWriter::new(std::io::stderr().lock());
        let program = machine.program();
        loop {
            if (self.left == Some(0) || interrupt::is_requested()) && machine.pc().is_some() {
                out.flush()?;
                return Ok(Outcome::Limit);
            }
            let before = *machine.registers();
            let branch = machine.branch_register();
            let memory = machine.pc().and_then(|pc| memory_operand(machine, pc));
            match machine.step() {
                StepOutcome::Executed(at) => {
                    let module = program.module();
                    let arrow = if machine.direction() == Direction::Forward { ' ' } else { '<' };
                    let native = || display(&module.code[at as usize], u64::from(at), &ModuleNames(module));
                    let language = language::of((module, None));
                    let text = language.line(module, at).unwrap_or_else(native);
                    let mut line = format!("{at:>6}{arrow} {text:<40}");
                    for (n, (old, new)) in before.iter().zip(machine.registers()).enumerate() {
                        if old != new {
                            let reg = Reg::new(n as u8).unwrap_or_default();
                            let _ = write!(line, " {} = {}", language.register(reg), new.cast_signed());
                        }
                    }
                    if machine.branch_register() != branch {
                        let _ = write!(line, " BR = {}", machine.branch_register());
                    }
                    if let Some((address, old)) = memory
                        && let Some(new) = language.word_at(machine, address).filter(|w| *w != old)
                    {
                        let _ = write!(line, " [{address}] = {}", new.cast_signed());
                    }
                    writeln!(out, "{}", visible(line.trim_end()))?;
                    if let Some(left) = &mut self.left {
                        *left -= 1;
                    }
                }
                StepOutcome::Finished => {
                    out.flush()?;
                    return Ok(Outcome::Finished);
                }
                StepOutcome::Trap(trap) => {
                    out.flush()?;
                    return Ok(Outcome::Trap(trap));
                }
            }
        }
    }
}

/// The address that the instruction at `pc` may write, and the word there.
fn memory_operand(machine: &Machine<'_>, pc: u32) -> Option<(u64, u64)> {
    use pendula::isa::operand::Operand;
    let inst = machine.program().module().code.get(pc as usize)?;
    let regs = machine.registers();
    if is_row(inst, Row::Exch32, false) {
        let at = regs[inst.regs[1].index()] as u32;
        return Some((at.into(), machine.cell(at)));
    }
    inst.operands().find_map(|(_, operand)| match operand {
        Operand::Mem { base, index, offset } => {
            let address = regs[base.index()].wrapping_add(regs[index.index()]).wrapping_add(offset.cast_unsigned());
            Some((address, language::of((machine.program().module(), None)).word_at(machine, address)?))
        }
        _ => None,
    })
}
