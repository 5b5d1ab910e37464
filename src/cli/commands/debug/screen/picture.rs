//! What the full-screen view shows of a session at a moment.

use std::collections::BTreeMap;

use pendula::debug::{BreakpointKind, Frame, Location, Session};
use pendula::language;
use pendula::visible::{visible, visible_line};

use super::super::interpreter::Interpreter;
use super::super::text;

/// How many of the last events of a program are shown.
const EVENTS: usize = 500;

/// What the pane in the lower right corner shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Corner {
    #[default]
    Output,
    Instructions,
    Memory,
    Registers,
}

impl Corner {
    /// All of them; the registers last, which not all programs need apart.
    pub(super) const ALL: [Corner; 4] = [Corner::Output, Corner::Instructions, Corner::Memory, Corner::Registers];

    pub(super) fn title(self) -> &'static str {
        match self {
            Corner::Output => "Output",
            Corner::Instructions => "Instructions",
            Corner::Memory => "Memory",
            Corner::Registers => "Registers",
        }
    }
}

/// What marks a line of code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// The run is here.
    pub(super) here: bool,
    /// A breakpoint is here; whether it is enabled.
    pub(super) breakpoint: Option<bool>,
    /// Keys that set breakpoints are about this line.
    pub(super) cursor: bool,
}

/// A line of source text, or an instruction.
#[derive(Clone, Debug)]
pub(super) struct CodeLine {
    pub(super) number: u32,
    pub(super) text: String,
    pub(super) marks: Marks,
}

/// Something with a name and a value.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) value: String,
    /// Whether the value has changed by the last movement.
    pub(super) changed: bool,
}

/// What there is to see.
#[derive(Clone, Debug, Default)]
pub(super) struct Picture {
    /// The file that is shown.
    pub(super) file: String,
    /// Where the run is.
    pub(super) place: String,
    pub(super) moment: u64,
    /// The end of the run, if it is known; or else the furthest moment that it has been at.
    pub(super) end: Option<u64>,
    pub(super) furthest: u64,
    /// Whether the run cannot go on at its end.
    pub(super) traps: bool,
    /// Where a run there and back turns.
    pub(super) turns: Option<u64>,
    pub(super) backward: bool,
    /// Whether the statement at which the run is, is undone.
    pub(super) undoing: bool,
    pub(super) bookmarks: Vec<(u64, String)>,
    pub(super) code: Vec<CodeLine>,
    /// The name of the procedure whose variables are shown.
    pub(super) procedure: Option<String>,
    /// Its number among the calls.
    pub(super) frame: usize,
    pub(super) variables: Vec<Row>,
    /// Why there are none.
    pub(super) absent: Option<&'static str>,
    pub(super) calls: Vec<String>,
    pub(super) output: Vec<String>,
    pub(super) instructions: Vec<CodeLine>,
    pub(super) memory: Vec<Row>,
    pub(super) registers: Vec<Row>,
}

/// What part of it is to be shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// The number of the file, and the first line and the number of lines; `None` if there is no source.
    pub(super) source: Option<(u16, u32, u16)>,
    /// The marked line.
    pub(super) cursor: u32,
    /// The number of lines of the code, and of instructions beside it.
    pub(super) code: u16,
    pub(super) instructions: u16,
    /// The first address of the memory, and the number of words.
    pub(super) memory: (u64, u16),
}

/// The values that were shown, by their names.
pub(super) type Values = BTreeMap<String, String>;

impl Picture {
    /// What there is to see; `before` are the values of the moment before the last movement.
    pub(super) fn of(interpreter: &mut Interpreter<'_, '_>, wanted: &Wanted, before: Option<&Values>) -> Picture {
        let frame = interpreter.frame();
        let variables = variables(interpreter);
        let interpreter = &*interpreter;
        let session = &interpreter.session;
        let line = session.timeline();
        let row = |(name, value): (String, String)| {
            let old = before.map(|before| before.get(&name));
            let changed = old.is_some_and(|old| old.is_none_or(|old| *old != value));
            Row { name, value, changed }
        };
        let frames = session.frames();
        let (file, code) = match wanted.source {
            Some((file, first, count)) => (
                visible_line(interpreter.texts().name(file)).into_owned(),
                source(interpreter, (file, first, count), wanted.cursor),
            ),
            None => ("Instructions".to_string(), instructions(session, wanted.cursor, wanted.code)),
        };
        let bookmarks = session.bookmarks().iter().map(|(name, at)| (*at, visible_line(name).into_owned())).collect();
        Picture {
            file,
            place: place(session),
            moment: line.now(),
            end: line.end(),
            furthest: line.furthest(),
            traps: line.ends_in_trap(),
            turns: line.turns(),
            backward: session.is_backward(),
            undoing: session.is_undoing(),
            bookmarks,
            code,
            procedure: frames.get(frame).filter(|_| session.has_locals()).map(|frame| frame.name.clone()),
            frame,
            variables: variables.into_iter().map(row).collect(),
            absent: session.locals().err().filter(|_| frame == 0 && session.has_locals()),
            calls: frames.iter().map(|frame| call(session, frame)).collect(),
            output: output(session),
            instructions: session
                .machine()
                .pc()
                .map_or_else(Vec::new, |pc| instructions(session, pc, wanted.instructions)),
            memory: memory(session, wanted.memory).into_iter().map(row).collect(),
            registers: pairs(session, &session.registers()).into_iter().map(row).collect(),
        }
    }

    /// The values that it shows.
    pub(super) fn values(&self) -> Values {
        let rows = self.variables.iter().chain(&self.memory).chain(&self.registers);
        rows.map(|row| (row.name.clone(), row.value.clone())).collect()
    }

    /// The end of the time line.
    pub(super) fn last(&self) -> u64 {
        self.end.unwrap_or(self.furthest)
    }
}

/// Where the run is, in a line.
fn place(session: &Session<'_>) -> String {
    let Some(at) = session.machine().pc() else {
        return if session.is_backward() { "the end, backward" } else { "the end" }.to_string();
    };
    let module = session.code().module();
    let within = session.code().procedure(at).filter(|_| session.code().region(at).is_some_and(|r| !r.main));
    let within = within.map_or(String::new(), |name| format!(" in {}", visible_line(&name)));
    match session.statement() {
        Some(statement) => {
            let file = module.files.get(statement.file as usize).map_or("", String::as_str);
            let routine = text::routine(session);
            // The pane of the source has the whole path.
            let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
            format!("{}:{}{within}{routine}", visible_line(file), statement.line)
        }
        None => format!("address {at}{within}"),
    }
}

/// Lines of the source.
fn source(interpreter: &Interpreter<'_, '_>, (file, first, count): (u16, u32, u16), cursor: u32) -> Vec<CodeLine> {
    let (session, texts) = (&interpreter.session, interpreter.texts());
    let files = &session.code().module().files;
    let own = |n: u16| files.get(n as usize).is_some_and(|name| name == texts.name(file));
    let here = session.statement().filter(|s| own(s.file)).map(|s| s.line);
    let line = |number: u32| {
        let (_, text) = texts.line(file, number)?;
        let marks = Marks {
            here: here == Some(number),
            breakpoint: breakpoint_at(session, |at| {
                session.code().statement(at).is_some_and(|s| own(s.file) && s.line == number)
            }),
            cursor: cursor == number,
        };
        Some(CodeLine { number, text: spaced(text), marks })
    };
    (first..first.saturating_add(u32::from(count))).map_while(line).collect()
}

/// Instructions around an address.
fn instructions(session: &Session<'_>, middle: u32, count: u16) -> Vec<CodeLine> {
    let all = session.code().module().code.len() as u32;
    let first = middle.saturating_sub(u32::from(count) / 2).min(all.saturating_sub(u32::from(count)));
    let line = |at: u32| CodeLine {
        number: at,
        text: spaced(session.instruction(at).trim_end()),
        marks: Marks {
            here: session.machine().pc() == Some(at),
            breakpoint: breakpoint_at(session, |own| own == at),
            cursor: false,
        },
    };
    (first..first.saturating_add(u32::from(count)).min(all)).map(line).collect()
}

/// Whether there is a breakpoint at one of these instructions, and whether it is enabled.
fn breakpoint_at(session: &Session<'_>, is: impl Fn(u32) -> bool) -> Option<bool> {
    let found = session.breakpoints().iter().find(|b| match &b.kind {
        BreakpointKind::Code { addresses, .. } => addresses.iter().any(|at| is(*at)),
        BreakpointKind::Watch(_) => false,
    });
    found.map(|b| b.enabled)
}

/// The number of the breakpoint at a line, or at an address.
pub(super) fn breakpoint_of(session: &Session<'_>, location: &Location) -> Option<u32> {
    let files = &session.code().module().files;
    let is = |at: u32| match location {
        Location::Line(file, line) => session.code().statement(at).is_some_and(|s| {
            s.line == *line && files.get(s.file as usize).is_some_and(|own| Some(own) == file.as_ref())
        }),
        Location::Address(own) => *own == at,
        Location::Name(_) => false,
    };
    let found = session.breakpoints().iter().find(|b| match &b.kind {
        BreakpointKind::Code { addresses, .. } => addresses.iter().any(|at| is(*at)),
        BreakpointKind::Watch(_) => false,
    });
    found.map(|b| b.number)
}

/// What is displayed, then the variables of the procedure that is looked at.
fn variables(interpreter: &mut Interpreter<'_, '_>) -> Vec<(String, String)> {
    let displayed = |session: &Session<'_>, name: &str| {
        let value = text::value(session, name, false).unwrap_or_else(|error| error);
        let own = value.strip_prefix(name).and_then(|rest| rest.strip_prefix(" = "));
        (name.to_string(), visible_line(own.unwrap_or(&value).trim_end()).into_owned())
    };
    let mut out: Vec<(String, String)> =
        interpreter.displays().map(|name| displayed(&interpreter.session, name)).collect();
    let own = |session: &Session<'_>| {
        let mut out = text::visible_variables(session).unwrap_or_default();
        if session.has_registers() {
            out.extend(pairs(session, &session.registers()));
        }
        out
    };
    out.extend(interpreter.see(own).unwrap_or_default());
    out
}

fn pairs(session: &Session<'_>, places: &[pendula::values::Place]) -> Vec<(String, String)> {
    places.iter().map(|p| (p.head(), text::with_derivatives(session, p, false))).collect()
}

fn call(session: &Session<'_>, frame: &Frame) -> String {
    let back = if frame.back { ", backward" } else { "" };
    let place = match frame.statement {
        Some(statement) => format!("line {}", statement.line),
        None => format!("address {}", frame.at),
    };
    let name = visible_line(&frame.name);
    match session.has_locals() || frame.statement.is_some() {
        true => format!("{name}, {place}{back}"),
        false => format!("{name}{back}"),
    }
}

/// The last lines that the program has shown, and its tapes.
fn output(session: &Session<'_>) -> Vec<String> {
    let shown = session.timeline().shown();
    let mut out = text::events(session, &shown, shown.len().saturating_sub(EVENTS));
    out += &text::tapes(session);
    out.lines().map(spaced).collect()
}

/// Words of the memory.
fn memory(session: &Session<'_>, (first, count): (u64, u16)) -> Vec<(String, String)> {
    let language = language::of((session.code().module(), None));
    let width = first.saturating_add(u64::from(count)).to_string().len() + 2;
    let word = |at: u64| {
        let word = language.word_at(session.machine(), at)?;
        Some((format!("{:>width$}", format!("[{at}]")), format!("{:<22}{word:#x}", word.cast_signed())))
    };
    (first..first.saturating_add(u64::from(count))).map_while(word).collect()
}

/// A line without tabs and what a terminal would obey.
pub(super) fn spaced(line: &str) -> String {
    let mut out = String::new();
    for c in visible(line).chars() {
        match c {
            '\t' => out.extend(std::iter::repeat_n(' ', 8 - out.chars().count() % 8)),
            c => out.push(c),
        }
    }
    out
}
