//! Runs the commands of `debug`.

use std::time::Instant;

use pendula::asm::diagnostic::plural;
use pendula::debug::{Arrival, BreakpointKind, Calls, Halt, Session};
use pendula::hw_model::Technology;
use pendula::report::print;
use pendula::visible::visible;
use pendula::vm::EngineCounts;

use super::words::{self, Entry, Word};
use super::{PROMPT, Texts, text};
use crate::cli::interrupt;
use crate::cli::report::stats::counts_text;
use crate::cli::status::Status;

/// The greatest number of steps of one command.
const MOST: u64 = 1_000_000_000;

/// The number of steps between two looks at whether to pause.
const LOOK: u64 = 256;

/// What `info` shows.
pub(super) const TOPICS: [&str; 9] =
    ["variables", "locals", "registers", "breakpoints", "output", "counts", "energy", "bookmarks", "checkpoints"];

/// What comes after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The next command.
    Command,
    /// The end.
    Quit,
}

/// A session and the commands that were given.
pub(crate) struct Interpreter<'s, 'p> {
    pub(crate) session: Session<'p>,
    pub(super) texts: Texts<'s>,
    limit: Option<u64>,
    /// The last command, which an empty line repeats on a terminal.
    last: String,
    /// What is shown whenever the run stops, each with its number.
    displays: Vec<(u32, String)>,
    displayed: u32,
    /// How much of what the program shows has been printed.
    printed: usize,
    failed: bool,
    /// The procedure that is looked at, by its number in `backtrace`, and the moment at which it was chosen.
    pub(super) frame: (usize, u64),
    /// Whether places, output and displayed values are shown elsewhere, and a halt says only why it is one.
    brief: bool,
}

impl<'s, 'p> Interpreter<'s, 'p> {
    pub(crate) fn new(session: Session<'p>, texts: Texts<'s>, limit: Option<u64>) -> Interpreter<'s, 'p> {
        let (last, displays, displayed, printed) = (String::new(), Vec::new(), 0, 0);
        let (failed, frame, brief) = (false, (0, 0), false);
        Interpreter { session, texts, limit, last, displays, displayed, printed, failed, frame, brief }
    }

    /// Lets halts say only why they are halts.
    pub(super) fn set_brief(&mut self) {
        self.brief = true;
    }

    /// The sources of the program.
    pub(super) fn texts(&self) -> Texts<'s> {
        self.texts
    }

    /// The expressions that are shown whenever the run stops.
    pub(super) fn displays(&self) -> impl Iterator<Item = &str> {
        self.displays.iter().map(|(_, text)| text.as_str())
    }

    /// The exit status: whether a command failed.
    pub(super) fn status(&self) -> Status {
        if self.failed { Status::Fault } else { Status::Done }
    }

    /// Says where the run begins.
    pub(super) fn greet(&mut self) -> anyhow::Result<()> {
        print(&text::position(&self.session, self.texts))?;
        Ok(())
    }

    /// Writes a command as if it had been typed, and runs it.
    pub(super) fn echo(&mut self, line: &str) -> anyhow::Result<Next> {
        if !line.trim().is_empty() {
            print(&format!("{PROMPT}{}\n", visible(line.trim())))?;
        }
        self.run(line)
    }

    /// Runs a command; on a terminal, an empty line repeats the last one.
    pub(super) fn run_or_repeat(&mut self, line: &str, terminal: bool) -> anyhow::Result<Next> {
        if line.is_empty() && terminal {
            let last = self.last.clone();
            return self.run(&last);
        }
        self.last = line.to_string();
        self.run(line)
    }

    /// Runs a command, and prints what it gives.
    pub(super) fn run(&mut self, line: &str) -> anyhow::Result<Next> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(Next::Command);
        }
        interrupt::rearm();
        match self.reply(line) {
            (out, Next::Command) => print(&out)?,
            (_, Next::Quit) => return Ok(Next::Quit),
        }
        Ok(Next::Command)
    }

    /// What a command gives, or says that is wrong with it; and what comes after it.
    pub(super) fn reply(&mut self, line: &str) -> (String, Next) {
        let line = line.trim();
        let name = line.split_whitespace().next().unwrap_or("");
        if words::find(name).is_ok_and(|entry| entry.word == Word::Quit) {
            return (String::new(), Next::Quit);
        }
        let answer = self.answer(line).unwrap_or_else(|error| {
            self.failed = true;
            format!("error: {}\n", visible(&error))
        });
        (answer, Next::Command)
    }

    /// What a command gives.
    pub(crate) fn answer(&mut self, line: &str) -> Result<String, String> {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let entry = words::find(name)?;
        self.command(entry, name, rest.trim())
    }

    fn command(&mut self, entry: &Entry, name: &str, rest: &str) -> Result<String, String> {
        let session = &mut self.session;
        match entry.word {
            Word::Step => self.steps(rest, |s| s.step(Calls::Into)),
            Word::Next => self.steps(rest, |s| s.step(Calls::Over)),
            Word::StepBack => self.steps(rest, |s| s.step_back(Calls::Into)),
            Word::NextBack => self.steps(rest, |s| s.step_back(Calls::Over)),
            Word::StepInstruction => self.steps(rest, |s| s.step_instruction(Calls::Into)),
            Word::NextInstruction => self.steps(rest, |s| s.step_instruction(Calls::Over)),
            Word::StepInstructionBack => self.steps(rest, |s| s.step_instruction_back(Calls::Into)),
            Word::NextInstructionBack => self.steps(rest, |s| s.step_instruction_back(Calls::Over)),
            Word::Finish => session.step_out().map(|halt| self.halted(&halt)),
            Word::FinishBack => session.step_out_back().map(|halt| self.halted(&halt)),
            Word::Continue => {
                let halt = session.go_on();
                Ok(self.halted(&halt))
            }
            Word::ContinueBack => {
                let halt = session.go_back();
                Ok(self.halted(&halt))
            }
            Word::Advance => self.advance(rest, Session::go_on),
            Word::AdvanceBack => self.advance(rest, Session::go_back),
            Word::Goto => {
                let moment = self.moment(rest)?;
                let halt = self.session.go_to(moment);
                Ok(self.halted(&halt))
            }
            Word::Start => {
                let halt = session.go_to(0);
                Ok(self.halted(&halt))
            }
            Word::End => {
                let halt = session.go_to_end();
                Ok(self.halted(&halt))
            }
            Word::Break | Word::Tbreak => self.set_breakpoint(rest, entry.word == Word::Tbreak),
            Word::Watch => self.watch(rest),
            Word::Delete if rest.is_empty() => {
                session.delete_all();
                Ok("all breakpoints are deleted\n".to_string())
            }
            Word::Delete => session.delete(number(rest)?).map(|()| String::new()),
            Word::Enable | Word::Disable => {
                session.breakpoint(number(rest)?)?.enabled = entry.word == Word::Enable;
                Ok(String::new())
            }
            Word::Condition => {
                let (n, condition) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                let condition = self.condition(condition)?;
                self.session.breakpoint(number(n)?)?.condition = condition;
                Ok(String::new())
            }
            Word::Ignore => {
                let (n, count) = rest.split_once(char::is_whitespace).ok_or("say how often: `ignore 1 10`")?;
                session.breakpoint(number(n)?)?.ignore = whole(count.trim())?;
                Ok(String::new())
            }
            Word::Last => {
                let halt = session.last_written(some(rest, "say what: `last x`")?)?;
                Ok(self.halted(&halt).replacen("changed:", &format!("{rest}:"), 1))
            }
            Word::Return => {
                let halt = session.return_from_written()?;
                Ok(self.halted(&halt))
            }
            Word::Display => self.display(rest),
            Word::Undisplay => {
                let n = if rest.is_empty() { None } else { Some(number(rest)?) };
                self.displays.retain(|(own, _)| n.is_some_and(|n| n != *own));
                Ok(String::new())
            }
            Word::Set => self.set(rest),
            Word::Info => self.info(rest),
            Word::Print => self.print(rest, name == "p/x"),
            Word::List => self.list(rest),
            Word::Disassemble => self.see(|session| text::disassembly(session, rest))?,
            Word::Examine => self.see(|session| text::words(session, rest))?,
            Word::Where => Ok(text::position(&self.session, self.texts)),
            Word::Backtrace => Ok(text::backtrace(&self.session)),
            Word::Up => self.look_at(self.frame().saturating_add(count(rest)?)),
            Word::Down => self.down(rest),
            Word::Frame if rest.is_empty() => self.look_at(self.frame()),
            Word::Frame => self.look_at(count(rest)?),
            Word::Bookmark => {
                let name = some(rest, "say its name: `bookmark here`")?;
                if name.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-')) {
                    return Err("the name of a bookmark begins with a letter".to_string());
                }
                if matches!(name, "start" | "end") {
                    return Err(format!("`goto {name}` goes to the {name} of the run: choose another name"));
                }
                session.bookmark(name);
                Ok(String::new())
            }
            Word::Help if rest.is_empty() => Ok(text::help()),
            Word::Help => words::find(rest).map(words::help),
            Word::Quit => Ok(String::new()),
        }
    }

    fn set(&mut self, rest: &str) -> Result<String, String> {
        if self.frame() > 0 {
            return Err("only what the innermost procedure sees can be changed: `frame 0` goes back to it".to_string());
        }
        self.session.set(some(rest, "say what: `set x=5`")?)?;
        Ok("set: from here on, the run is another one\n".to_string())
    }

    /// Runs a step so often, until it is cut short.
    fn steps(&mut self, rest: &str, step: impl Fn(&mut Session<'p>) -> Halt) -> Result<String, String> {
        let count = if rest.is_empty() { 1 } else { whole(rest)? };
        let mut halt = Halt::Arrived(Arrival::There);
        for n in 1..=count.min(MOST) {
            halt = step(&mut self.session);
            if halt != Halt::Arrived(Arrival::There) {
                break;
            }
            if n % LOOK == 0 && n < count && self.session.timeline().is_paused() {
                halt = Halt::Arrived(Arrival::Paused);
                break;
            }
        }
        Ok(self.halted(&halt))
    }

    /// Goes on or back until a location, or a breakpoint before it.
    fn advance(&mut self, rest: &str, go: impl Fn(&mut Session<'p>) -> Halt) -> Result<String, String> {
        let location = self.session.location(some(rest, "say where: `advance 12`")?)?;
        let number = self.session.break_at(location)?;
        let halt = go(&mut self.session);
        self.session.delete(number)?;
        let halt = if halt == Halt::Breakpoint(number) { Halt::Arrived(Arrival::There) } else { halt };
        Ok(self.halted(&halt))
    }

    /// The moment that a text names.
    fn moment(&self, text: &str) -> Result<u64, String> {
        let now = self.session.timeline().now();
        let text = some(text, "say which: `goto 100`, `goto -10`, or a bookmark")?;
        if let Some(n) = text.strip_prefix('+') {
            return Ok(now.saturating_add(whole(n.trim())?));
        }
        if let Some(n) = text.strip_prefix('-') {
            return Ok(now.saturating_sub(whole(n.trim())?));
        }
        match (self.session.bookmarks().get(text), text) {
            (Some(moment), _) => Ok(*moment),
            (None, "start") => Ok(0),
            (None, "end") => self
                .session
                .timeline()
                .end()
                .ok_or_else(|| "the end has not been reached yet: `end` goes there".to_string()),
            (None, n) => whole(n).map_err(|_| format!("`{n}` is neither a number of instructions nor a bookmark")),
        }
    }

    fn set_breakpoint(&mut self, rest: &str, once: bool) -> Result<String, String> {
        let (place, condition) = split_condition(some(rest, "say where: `break 12`, `break loop`, `break *40`")?);
        let condition = self.condition(condition)?;
        let location = self.session.location(place)?;
        let number = self.session.break_at(location)?;
        let breakpoint = self.session.breakpoint(number)?;
        (breakpoint.condition, breakpoint.once) = (condition, once);
        Ok(self.breakpoint_text(number))
    }

    fn watch(&mut self, rest: &str) -> Result<String, String> {
        let (name, condition) = split_condition(some(rest, "say what: `watch x`")?);
        let condition = self.condition(condition)?;
        let number = self.session.watch(name)?;
        self.session.breakpoint(number)?.condition = condition;
        Ok(self.breakpoint_text(number))
    }

    /// A breakpoint in a line.
    pub(super) fn breakpoint_text(&self, number: u32) -> String {
        let found = self.session.breakpoints().iter().find(|b| b.number == number);
        found.map_or(String::new(), |b| format!("breakpoint {}\n", text::breakpoint(&self.session, b)))
    }

    /// A condition, if it can be evaluated.
    fn condition(&self, text: &str) -> Result<Option<String>, String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        self.session.check(text)?;
        Ok(Some(text.to_string()))
    }

    /// As the procedure that is looked at sees it; where the run stops next, as the innermost does.
    fn display(&mut self, rest: &str) -> Result<String, String> {
        if !rest.is_empty() {
            self.see(|session| text::value(session, rest, false))??;
            self.displayed += 1;
            self.displays.push((self.displayed, rest.to_string()));
        }
        let displays = self.displays.clone();
        self.see(|session| shown(session, &displays))
    }

    fn info(&mut self, rest: &str) -> Result<String, String> {
        let session = &mut self.session;
        let (topic, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let found: Vec<&str> = TOPICS.into_iter().filter(|t| t.starts_with(topic) && !topic.is_empty()).collect();
        let known = "`info` shows variables, registers, breakpoints, output, counts, energy, bookmarks or checkpoints; the beginning of one of these suffices";
        if found != ["energy"] && !rest.is_empty() {
            return Err(format!("`{rest}` is too much here"));
        }
        match found[..found.len().min(1)] {
            ["variables" | "locals"] => self.see(text::variables)?,
            ["registers"] => self.see(text::registers),
            ["breakpoints"] => {
                let all: String = session.breakpoints().iter().map(|b| text::breakpoint(session, b) + "\n").collect();
                Ok(if all.is_empty() { "no breakpoints\n".to_string() } else { all })
            }
            ["output"] => Ok(text::output(session)),
            ["counts"] => {
                let begun = Instant::now();
                let counts = session.counts().ok_or("interrupted")?;
                let technology = Technology::default_technology();
                let machine = session.machine();
                let ran = (machine.engine(), EngineCounts::default());
                let all = counts_text(&counts, machine.program().module(), &technology, begun.elapsed(), ran);
                // How long this run took is none of the program's properties.
                Ok(all
                    .lines()
                    .filter(|l| !l.starts_with("time ") && !l.starts_with("engine "))
                    .map(|l| format!("{l}\n"))
                    .collect())
            }
            ["energy"] => text::energy(session, rest),
            ["bookmarks"] => {
                let all: String = session.bookmarks().iter().map(|(n, at)| format!("{n}  step {at}\n")).collect();
                Ok(if all.is_empty() { "no bookmarks\n".to_string() } else { all })
            }
            ["checkpoints"] => {
                let all: Vec<String> = session.timeline().checkpoints().map(|at| at.to_string()).collect();
                Ok(format!("at steps {}\n", all.join(", ")))
            }
            _ => Err(known.to_string()),
        }
    }

    /// What is said after a movement.
    fn halted(&mut self, halt: &Halt) -> String {
        self.leave_frame();
        let mut out = if self.brief { String::new() } else { self.events() };
        if matches!(halt, Halt::Arrived(Arrival::Trap(_))) {
            self.session.to_statement();
        }
        let now = plural(self.session.timeline().now(), "instruction");
        match halt {
            Halt::Arrived(Arrival::There | Arrival::Stop) => {}
            Halt::Arrived(Arrival::Start) => out += "the start of the run\n",
            Halt::Arrived(Arrival::End) => out += &format!("the end of the run, after {now}\n"),
            Halt::Arrived(Arrival::Paused) => out += "interrupted\n",
            Halt::Arrived(Arrival::Limit) => {
                self.failed = true;
                out += &format!("error: the run has come to --max-steps {}\n", self.limit.unwrap_or(0));
            }
            Halt::Arrived(Arrival::Trap(trap)) => out += &text::trap(&self.session, self.texts, trap),
            Halt::Breakpoint(number) => {
                out += &format!("breakpoint {number}\n");
                let found = self.session.breakpoints().iter().find(|b| b.number == *number);
                if let Some(condition) = found.and_then(|b| b.condition.as_ref())
                    && let Err(error) = self.session.evaluate(condition)
                {
                    out += &format!("its condition `{condition}` cannot be evaluated here: {error}\n");
                }
            }
            Halt::Changed { number, before, after } => {
                let name = self.session.breakpoints().iter().find(|b| b.number == *number).map(|b| match &b.kind {
                    BreakpointKind::Watch(place) => format!("breakpoint {number}: {}", place.name),
                    BreakpointKind::Code { .. } => String::new(),
                });
                out += &format!("{}: {before} → {after}\n", name.unwrap_or_else(|| "changed".to_string()));
            }
        }
        if !self.brief {
            out += &text::position(&self.session, self.texts);
            out += &shown(&self.session, &self.displays);
        }
        out
    }

    /// What the program has shown since the last time, or how much of it was taken back.
    pub(crate) fn events(&mut self) -> String {
        let shown = self.session.timeline().shown();
        let before = std::mem::replace(&mut self.printed, shown.len());
        if shown.len() < before {
            return "(output taken back)\n".to_string();
        }
        text::events(&self.session, &shown, before)
    }
}

/// A text that is not empty.
pub(super) fn some<'t>(text: &'t str, otherwise: &str) -> Result<&'t str, String> {
    if text.is_empty() { Err(otherwise.to_string()) } else { Ok(text) }
}

/// A location and the condition after `if`.
fn split_condition(text: &str) -> (&str, &str) {
    match text.split_once(" if ") {
        Some((place, condition)) => (place.trim(), condition),
        None => (text, ""),
    }
}

/// The values of expressions that are shown whenever the run stops.
fn shown(session: &Session<'_>, displays: &[(u32, String)]) -> String {
    let one = |(n, name): &(u32, String)| match text::value(session, name, false) {
        Ok(text) => format!("{n}: {text}"),
        Err(error) => format!("{n}: {name}: {error}\n"),
    };
    displays.iter().map(one).collect()
}

/// A whole number.
fn whole(text: &str) -> Result<u64, String> {
    if text.is_empty() {
        return Err("a whole number is missing".to_string());
    }
    text.replace('_', "").parse().map_err(|_| format!("`{text}` is not a whole number"))
}

/// How many procedures: one, if it is not said.
pub(super) fn count(text: &str) -> Result<usize, String> {
    if text.is_empty() { Ok(1) } else { Ok(usize::try_from(whole(text)?).unwrap_or(usize::MAX)) }
}

/// The number of a breakpoint.
fn number(text: &str) -> Result<u32, String> {
    let text = some(text.trim(), "say which breakpoint: `info breakpoints` shows their numbers")?;
    text.trim()
        .parse()
        .map_err(|_| format!("`{text}` is not the number of a breakpoint: `info breakpoints` shows them"))
}
