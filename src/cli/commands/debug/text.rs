//! What `debug` prints.

use std::fmt::Write as _;
use std::time::Duration;

use pendula::asm::diagnostic::plural;
use pendula::debug::{Breakpoint, BreakpointKind, Frame, Location, Session, Statement};
use pendula::hw_model::price::{Activity, Conditions, Phase, billed_memory};
use pendula::hw_model::report::PricedRun;
use pendula::language;
use pendula::pisa;
use pendula::report::Reporter;
use pendula::stop_report::{ActiveCall, StopReport};
use pendula::values::Place;
use pendula::vm::{Event, Trap};
use pendula::{trap_report, visible::visible};

use super::Texts;
use super::words;
use crate::cli::commands::energy::DEFAULT;
use crate::cli::report::energy_summary;
use crate::cli::session::{event_text, technology};

/// The number of lines that `list` shows before and after the middle one.
const AROUND: u32 = 5;

/// How long a program may run again to say why it cannot go on.
const AGAIN: Duration = Duration::from_secs(1);

/// The greatest number of words that `x` shows.
const WORDS: u64 = 1024;

/// Where the run is: the place, the moment, and the line.
pub(super) fn position(session: &Session<'_>, texts: Texts<'_>) -> String {
    let moment = session.timeline().now();
    let of = session.timeline().end().map_or(String::new(), |end| format!(" of {end}"));
    let Some(at) = session.machine().pc() else { return format!("step {moment}{of}\n") };
    let back = if session.is_backward() { ", backward" } else { "" };
    let back = format!("{back}{}", routine(session));
    let procedure = session.code().procedure(at).filter(|_| session.code().region(at).is_some_and(|r| !r.main));
    let within = procedure.map_or(String::new(), |name| format!(" in {name}"));
    match session.statement() {
        Some(statement) => {
            let file = session.code().module().files.get(statement.file as usize).map_or("", String::as_str);
            let line = source_line(session, texts, statement);
            let arrow = if session.is_undoing() { '<' } else { '>' };
            let source = line.map_or(String::new(), |line| format!("{:>5} {arrow} {line}\n", statement.line));
            format!("{}:{}{within}, step {moment}{of}{back}\n{source}", visible(file), statement.line)
        }
        None => format!("address {at}{within}, step {moment}{of}{back}\n      {}\n", session.instruction(at)),
    }
}

/// What happens to the routine at which the run is, if that is not its own direction.
pub(super) fn routine(session: &Session<'_>) -> &'static str {
    match (session.is_backward(), session.is_undoing()) {
        (false, true) => ", undoing a routine",
        (true, false) => ", redoing a routine",
        (false, false) | (true, true) => "",
    }
}

/// The line of a statement, without the white space around it.
fn source_line(session: &Session<'_>, texts: Texts<'_>, statement: Statement) -> Option<String> {
    let file = session.code().module().files.get(statement.file as usize)?;
    Some(line(texts, file, statement.line)?.trim().to_string())
}

fn line(texts: Texts<'_>, file: &str, number: u32) -> Option<String> {
    let n = (0..texts.len() as u16).find(|n| texts.name(*n) == file)?;
    texts.line(n, number).map(|(_, line)| visible(line).into_owned())
}

/// The value of an expression, or of everything with a name.
pub(crate) fn value(session: &Session<'_>, text: &str, hex: bool) -> Result<String, String> {
    let error = match session.place(text) {
        Ok(place) => return Ok(format!("{text} = {}\n", with_derivatives(session, &place, hex))),
        Err(error) => error,
    };
    if let Some(own) = session.local_text(text) {
        return Ok(format!("{text} = {own}\n"));
    }
    match session.evaluate(text) {
        Ok(pendula::debug::Value::Int(n)) if hex => Ok(format!("{text} = {n:#x}\n")),
        Ok(value) => Ok(format!("{text} = {value}\n")),
        // A name that is wrong is said as one.
        Err(_) if is_name(text) => Err(error),
        Err(error) => Err(error),
    }
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '!' | '[' | ']' | ','))
}

pub(super) fn with_derivatives(session: &Session<'_>, place: &Place, hex: bool) -> String {
    let mut out = session.text(place, hex);
    if let Some(gradient) = session.gradient(place) {
        let _ = write!(out, "   gradient {gradient}");
    }
    if let Some(tangent) = session.tangent(place) {
        let _ = write!(out, "   tangent {tangent}");
    }
    out
}

fn places(session: &Session<'_>, places: &[Place]) -> String {
    places.iter().map(|p| format!("{} = {}\n", p.head(), with_derivatives(session, p, false))).collect()
}

pub(super) fn variables(session: &Session<'_>) -> Result<String, String> {
    let mut out: String =
        visible_variables(session)?.into_iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
    if session.has_registers() {
        out += &registers(session);
    }
    Ok(if out.is_empty() { "no variables here\n".to_string() } else { out })
}

/// The variables whose values are known here, each with its value: those of the function that is running, or the program's.
pub(crate) fn visible_variables(session: &Session<'_>) -> Result<Vec<(String, String)>, String> {
    if !session.has_locals() {
        let all = session.variables();
        return Ok(all.iter().map(|p| (p.head(), with_derivatives(session, p, false))).collect());
    }
    let value = |(name, own): (String, String)| match session.place(&name) {
        Ok(place) => (name, with_derivatives(session, &place, false)),
        Err(_) => (name, own),
    };
    Ok(session.locals()?.into_iter().filter_map(|local| Some((local.name, local.text?))).map(value).collect())
}

pub(super) fn registers(session: &Session<'_>) -> String {
    let all = places(session, &session.registers());
    if all.is_empty() { "all registers are zero\n".to_string() } else { all }
}

/// A breakpoint in a line.
pub(super) fn breakpoint(session: &Session<'_>, b: &Breakpoint) -> String {
    let mut out = format!("{}: ", b.number);
    match &b.kind {
        BreakpointKind::Code { location, line, .. } => {
            let file = session.own_file();
            match (location, line) {
                (Location::Line(of, _), Some(line)) => {
                    let _ = write!(out, "{}:{line}", visible(of.as_deref().unwrap_or(&file)));
                }
                (Location::Name(name), _) => out += name,
                (Location::Address(at), _) => {
                    let _ = write!(out, "*{at}");
                }
                (Location::Line(..), None) => {}
            }
        }
        BreakpointKind::Watch(place) => {
            let _ = write!(out, "{} changes", place.name);
        }
    }
    if let Some(condition) = &b.condition {
        let _ = write!(out, " if {condition}");
    }
    if b.once {
        out += ", once";
    }
    if !b.enabled {
        out += ", disabled";
    }
    if b.ignore > 0 {
        let _ = write!(out, ", passed over {} more", plural(b.ignore, "time"));
    }
    if b.hits > 0 {
        let _ = write!(out, ", stopped {}", plural(b.hits, "time"));
    }
    out
}

/// Why the run cannot go on.
pub(crate) fn trap(session: &Session<'_>, texts: Texts<'_>, trap: &Trap) -> String {
    let (machine, module) = (session.machine(), session.code().module());
    let reporter = Reporter::collecting();
    let frames = session.frames();
    let call = |(n, frame): (usize, &Frame)| ActiveCall {
        name: frame.name.clone(),
        backward: frame.back,
        called: None,
        variables: if n == 0 { known(session) } else { Vec::new() },
    };
    let calls: Vec<ActiveCall> = frames.iter().enumerate().take(1).map(call).collect();
    let known = || StopReport {
        code: None,
        message: String::new(),
        place: None,
        label: String::new(),
        others: Vec::new(),
        calls,
        deeper: false,
        same: Vec::new(),
        help: "",
        reached: None,
        data: Vec::new(),
    };
    let compiled = module.is_compiled(trap.at as usize);
    let stop = compiled.then(|| session.stop_report(trap, texts, AGAIN).unwrap_or_else(known));
    trap_report::report(trap, module, texts, &reporter, (machine.env().ieee, stop.as_ref(), &[]));
    reporter.collected()
}

/// The variables of the function that is running whose values are known.
fn known(session: &Session<'_>) -> Vec<(String, String)> {
    let locals = session.locals().unwrap_or_default();
    locals.into_iter().filter_map(|local| Some((local.name, local.text?))).collect()
}

/// The source around a location.
pub(super) fn list(session: &Session<'_>, texts: Texts<'_>, rest: &str) -> Result<String, String> {
    let statement = match rest {
        "" => session.statement().ok_or("there is no source here: `disassemble` shows the instructions")?,
        text => {
            let (addresses, _) = session.addresses(&session.location(text)?)?;
            let first = addresses.first().and_then(|at| session.code().statement(*at));
            first.ok_or("there is no source there")?
        }
    };
    let file = session.code().module().files.get(statement.file as usize).cloned().unwrap_or_default();
    let from = statement.line.saturating_sub(AROUND).max(1);
    let here = session.statement().filter(|s| s.file == statement.file).map(|s| s.line);
    let mut out = String::new();
    for number in from..from + 2 * AROUND + 1 {
        let Some(line) = line(texts, &file, number) else { break };
        let mark = match (here == Some(number), session.is_undoing()) {
            (false, _) => ' ',
            (true, false) => '>',
            (true, true) => '<',
        };
        let _ = writeln!(out, "{}", format!("{number:>5} {mark} {line}").trim_end());
    }
    if out.is_empty() { Err(format!("the text of {file} is not there")) } else { Ok(out) }
}

/// The instructions around a location.
pub(super) fn disassembly(session: &Session<'_>, rest: &str) -> Result<String, String> {
    let middle = match rest {
        "" => session.machine().pc().ok_or("the run has ended")?,
        text => {
            let (addresses, _) = session.addresses(&session.location(text)?)?;
            *addresses.first().ok_or("there is no code there")?
        }
    };
    let count = session.code().module().code.len() as u32;
    let pc = session.machine().pc();
    let mut out = String::new();
    for at in middle.saturating_sub(AROUND)..(middle + AROUND + 1).min(count) {
        let mark = match (pc == Some(at), session.is_backward()) {
            (false, _) => ' ',
            (true, false) => '>',
            (true, true) => '<',
        };
        let _ = writeln!(out, "{at:>6} {mark} {}", visible(session.instruction(at).trim_end()));
    }
    Ok(out)
}

/// Words of the memory.
pub(super) fn words(session: &Session<'_>, rest: &str) -> Result<String, String> {
    let mut parts = rest.rsplitn(2, char::is_whitespace);
    let (last, first) = (parts.next().unwrap_or(""), parts.next());
    let (address, count) = match (first, last.parse::<u64>()) {
        (Some(address), Ok(count)) => (address, count.min(WORDS)),
        _ => (rest, 1),
    };
    if address.is_empty() {
        return Err("say where: `x 40`, `x sp-1`, `x a 8`".to_string());
    }
    let start = match session.place(address.trim()).map(|p| p.at) {
        Ok(pendula::values::Location::Memory { start, array: true, .. }) => start,
        _ => match session.evaluate(address)? {
            pendula::debug::Value::Int(n) => n.cast_unsigned(),
            pendula::debug::Value::Real(_) => return Err(format!("`{address}` is no address")),
        },
    };
    let module = session.code().module();
    let language = language::of((module, None));
    let mut out = String::new();
    for at in start..start.saturating_add(count) {
        let word = language.word_at(session.machine(), at);
        let word = word.ok_or_else(|| format!("the address {at} is outside of the memory"))?;
        let _ = writeln!(out, "[{at}] = {}   {word:#x}", word.cast_signed());
    }
    Ok(out)
}

/// The calls that have not returned, the innermost first.
pub(super) fn backtrace(session: &Session<'_>) -> String {
    let frames = session.frames();
    if frames.is_empty() {
        return "no calls\n".to_string();
    }
    let files = &session.code().module().files;
    let one = |(n, f): (usize, &Frame)| {
        let back = if f.back { ", backward" } else { "" };
        let place = match f.statement.and_then(|s| Some((files.get(s.file as usize)?, s.line))) {
            Some((file, line)) => format!("{}:{line}", visible(file)),
            None => format!("address {}", f.at),
        };
        format!("{n}: {} at {place}{back}\n", visible(&f.name))
    };
    frames.iter().enumerate().map(one).collect()
}

/// Everything that the program has shown so far.
pub(super) fn output(session: &Session<'_>) -> String {
    let out = events(session, &session.timeline().shown(), 0) + &tapes(session);
    if out.is_empty() { "no output\n".to_string() } else { out }
}

/// What the run up to here costs, with technologies named as in `cmos45,aqfp`.
pub(super) fn energy(session: &mut Session<'_>, names: &str) -> Result<String, String> {
    let named: Vec<&str> = names.split([',', ' ']).filter(|name| !name.is_empty()).collect();
    let named = if named.is_empty() { DEFAULT.to_vec() } else { named };
    let technologies = named.iter().map(|name| technology(name)).collect::<anyhow::Result<Vec<_>>>();
    let technologies = technologies.map_err(|error| format!("{error:#}"))?;
    let counts = session.counts().ok_or("interrupted")?;
    let (touched, all) = session.touched().ok_or("interrupted")?;
    let module = session.code().module();
    let conditions = Conditions {
        memory_words: billed_memory(touched),
        frac: module.flags.format.frac().min(module.flags.profile.width() / 2),
        width: module.flags.profile.width(),
        ..Conditions::default()
    };
    let instructions = counts.instructions();
    let activities = [Activity::new(Phase::Forward, counts)];
    let price = |technology| PricedRun::new(technology, conditions, module, &activities);
    let priced = technologies.iter().map(price).collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    let more = if all { "" } else { ", and more that were not followed" };
    Ok(format!(
        "{} up to here, with a memory of {} words billed ({touched} touched{more}); what goes to and from the host, and what is left, is not billed\n{}",
        plural(instructions, "instruction"),
        conditions.memory_words,
        energy_summary::summary(&priced)
    ))
}

/// What is on the tapes.
pub(super) fn tapes(session: &Session<'_>) -> String {
    let (machine, mut out) = (session.machine(), String::new());
    let words: Vec<String> = machine.output().iter().map(|w| w.cast_signed().to_string()).collect();
    if !words.is_empty() {
        let _ = writeln!(out, "output tape: {}", words.join(", "));
    }
    if !machine.input().is_empty() {
        let (read, all) = (machine.words_read(), machine.input().len());
        let _ = writeln!(out, "input tape: {read} of {} read", plural(all as u64, "word"));
    }
    out
}

/// What the program has shown, from event number `from` on.
pub(super) fn events(session: &Session<'_>, events: &[Event], from: usize) -> String {
    let module = session.code().module();
    if language::of((module, None)).shows_headers() {
        // Words say themselves how they are printed, also those before.
        let mut show = pisa::Show::new(false);
        let mut out = Vec::new();
        for (n, event) in events.iter().enumerate() {
            let bytes = match event {
                Event::Show(_, word) => show.word(*word as u32),
                other => (event_text(*other, module.flags.format, &[]) + "\n").into_bytes(),
            };
            if n >= from {
                out.extend(bytes);
            }
        }
        let text = String::from_utf8_lossy(&out).into_owned();
        return if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" };
    }
    let texts = events.get(from..).unwrap_or(&[]).iter().map(|e| event_text(*e, module.flags.format, &module.texts));
    let mut out = String::new();
    for text in texts {
        out += &text;
        if !module.is_all_janus() {
            out.push('\n');
        }
    }
    if out.is_empty() || out.ends_with('\n') { out } else { out + "\n" }
}

/// The commands.
pub(super) fn help() -> String {
    let names = |entry: &words::Entry| entry.names[..entry.names.len().min(2)].join(", ");
    let width = words::ALL.iter().map(|entry| names(entry).len()).max().unwrap_or(0);
    let one = |entry: &words::Entry| format!("{:<width$}  {}\n", names(entry), entry.help);
    words::ALL.iter().map(one).collect::<String>()
        + "The beginning of a name suffices. On a terminal, an empty line repeats the last command.\n"
}
