//! Traps and findings of the checker as diagnostics, with their places and the values of operands.

use pendula_asm::check::{Finding, Subject};
use pendula_asm::diagnostic::{Diagnostic, Place, Sources};
use pendula_compiler::lower::advice;
use pendula_isa::counts::Direction;
use pendula_isa::inst::Kind;
use pendula_isa::module::Module;
use pendula_isa::operand::{Operand, Slot};
use pendula_isa::text::{ModuleNames, display, number};
use pendula_isa::types::{Cond, Ty};
use pendula_isa::{Fault, Inst};
use pendula_vm::{AdMode, FailedStep, Trap, TrapValue};
use serde_json::{Value, json};

use crate::report::stop_report;
use crate::report::trap_text::{DISAGREE, DISAGREE_TITLE, TrapText, is_compiled, is_janus, trap_text};
use crate::state::language;

use crate::report::Reporter;

/// The types with which an instruction reads the operands whose values a trap records, in their order.
fn types(inst: &Inst) -> Vec<Ty> {
    let described = inst.operands().enumerate().filter(|(_, (slot, operand))| match operand {
        // The selection matches the machine's: no constants, and only those registers that hold values.
        Operand::Mem { .. } => true,
        Operand::Reg(_) => matches!(slot, Slot::Reg(_) | Slot::Target(_)),
        Operand::Imm(..) | Operand::Small(_) | Operand::Factor(_) | Operand::Label(_) | Operand::Text(_) => false,
    });
    described
        .map(|(n, _)| match inst.kind {
            Kind::Accumulate { func, .. } => {
                let f = func.info();
                n.checked_sub(1).and_then(|n| f.args.get(n)).map_or(f.ty, |a| a.ty)
            }
            Kind::Row { ty, .. } => ty,
            Kind::Extension { .. } => inst.kind.constant_type(n),
        })
        .collect()
}

/// The values of one of a trap's instructions as text: `r4 = 1`, `[a+r2] at 17 = 0.5`.
fn texts<'a>(trap: &'a Trap, module: &Module, of_other: bool) -> impl Iterator<Item = (&'a TrapValue, String)> {
    let inst = match (&trap.other, of_other) {
        (Some((_, other)), true) => other,
        (None | Some(_), _) => &trap.inst,
    };
    let values: Vec<&TrapValue> = trap.values.iter().filter(|v| v.of_other == of_other).collect();
    let types = types(inst);
    // The stack pointer and what it points to may come first.
    let more = values.len().saturating_sub(types.len());
    let types = std::iter::repeat_n(Ty::Int, more).chain(types);
    let texts: Vec<String> = values.iter().zip(types).map(|(v, ty)| value_text(v, ty, module)).collect();
    values.into_iter().zip(texts)
}

/// The operands' values as a list: `r4 = 1, [a+r2] at 17 = 0.5`.
fn values(trap: &Trap, module: &Module, of_other: bool) -> String {
    let mut seen: Vec<String> = Vec::new();
    // r0 is always 0 and need not be shown. In PISA it is an ordinary register.
    let zero = language::of((module, None)).zero().map(Operand::Reg);
    for (_, text) in texts(trap, module, of_other).filter(|(v, _)| Some(v.operand) != zero) {
        if !seen.contains(&text) {
            seen.push(text);
        }
    }
    seen.join(", ")
}

fn value_text(v: &TrapValue, ty: Ty, module: &Module) -> String {
    let names = ModuleNames(module);
    let name = match v.operand {
        Operand::Reg(r) => language::of((module, None)).register(r),
        Operand::Mem { base, index, offset } => {
            let one = Operand::Mem { base, index, offset };
            pendula_isa::text::operand(one, 0, &names)
        }
        Operand::Imm(..) | Operand::Small(_) | Operand::Factor(_) | Operand::Label(_) | Operand::Text(_) => {
            String::new()
        }
    };
    let at = match v.address {
        Some(a) if name != format!("[{a}]") => format!(" at {}", a.cast_signed()),
        _ => String::new(),
    };
    match v.word {
        Some(w) => format!("{name}{at} = {}", number(w, ty, module.flags.format)),
        None => format!("{name}{at} is outside the memory"),
    }
}

/// The direction and mode of the machine: empty if it runs forward without gradients, else ` running backward with
/// gradients` or similar.
pub fn running(direction: Direction, ad_mode: AdMode) -> String {
    let with = match ad_mode {
        AdMode::Plain => "",
        AdMode::Gradient => " with gradients",
        AdMode::SecondGradient => " with gradients of gradients",
        AdMode::Tangent => " with tangents",
        AdMode::GradientTangent => " with gradients and tangents",
    };
    match (direction, with) {
        (Direction::Forward, "") => String::new(),
        (Direction::Forward, with) => format!(" running{with}"),
        (Direction::Backward, with) => format!(" running backward{with}"),
    }
}

/// The role of the instruction at the trap's place.
fn primary_text(trap: &Trap, module: &Module) -> String {
    let backward = running(trap.direction, trap.ad_mode);
    let says = match (trap.fault, condition(trap, false)) {
        (Fault::WrongEntry | Fault::WrongEntryBack, Some(c)) => {
            format!("reached by falling through{backward}, where {c} must be false")
        }
        (Fault::WrongEntry | Fault::WrongEntryBack, None) => {
            format!("reached by falling through{backward}, but it is always jumped to")
        }
        (Fault::WrongLanding, Some(c)) => format!("jumps from here{backward}, since {c}"),
        (Fault::WrongLanding, None) => format!("jumps from here{backward}"),
        (Fault::Assert, Some(c)) => format!("{c} does not hold{backward}"),
        _ => backward.trim().to_string(),
    };
    let values = values(trap, module, false);
    let text = match (says.is_empty(), values.is_empty()) {
        (true, _) => values,
        (false, true) => says,
        (false, false) => format!("{says}: {values}"),
    };
    match step_text(trap, module) {
        Some(step) if text.is_empty() => step,
        Some(step) => format!("{text}; {step}"),
        None => text,
    }
}

/// Where an instruction that the program has defined stopped: `in its step 2, `adddiv.q x, a, b`: a = 1.0, b = 0.0`.
fn step_text(trap: &Trap, module: &Module) -> Option<String> {
    let failed = trap.step.as_ref()?;
    let FailedStep { extension, number: at, step, words, .. } = failed;
    let info = extension.info();
    let (definition, format) = (&info.definition, module.flags.format);
    let shown = |n: usize, operand: Operand| {
        let word = words.get(n).copied().flatten()?;
        let Operand::Reg(register) = operand else { return None };
        let name = definition.local_name(register);
        Some(format!("{name} = {}", number(word, step.kind.constant_type(n), format)))
    };
    let mut values: Vec<String> = step.operands().enumerate().filter_map(|(n, (_, o))| shown(n, o)).collect();
    values.dedup();
    if let Some(temporary) = failed.temporary() {
        let name = definition.local_name(temporary);
        return Some(format!("its temporary `{name}` is not clear at the end: {}", values.join(", ")));
    }
    // The checks of temporaries stand around the steps of the definition.
    let n = at.saturating_sub(info.checks().len());
    let text = pendula_asm::definitions::step(definition, step, format);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(format!("in its step {}, `{text}`: {}", n + 1, values.join(", ")))
}

fn other_text(trap: &Trap, module: &Module) -> String {
    let says = match (trap.fault, condition(trap, true)) {
        (Fault::WrongEntry | Fault::WrongEntryBack, _) => {
            return "its partner, from which it must be reached in that case".to_string();
        }
        (Fault::WrongLanding, Some(c)) => format!("and lands here, where {c} must be true"),
        _ => "concerned, too".to_string(),
    };
    let values = values(trap, module, true);
    if values.is_empty() { says } else { format!("{says}: {values}") }
}

/// The label of a place in Nil or Janus: its variables' values, if they are known. The author of the source knows
/// neither registers nor the words that the compiler compares.
fn source_text(
    trap: &Trap,
    module: &Module,
    sources: &Sources,
    (at, stop): (u32, Option<&stop_report::StopReport>),
) -> String {
    // The direction of the run in terms of the source: optimised code may undo something by code that runs forward.
    let direction = match stop.and_then(|stop| stop.calls.first()) {
        Some(call) if call.backward => Direction::Backward,
        Some(_) => Direction::Forward,
        None => trap.direction,
    };
    let backward = running(direction, trap.ad_mode).trim().to_string();
    if let Some(stop) = stop {
        let values = named(stop, place(module, sources, at).as_ref(), sources);
        let says = [backward, values].into_iter().filter(|text| !text.is_empty());
        let says = says.collect::<Vec<_>>().join(": ");
        let step = if at == trap.at { step_text(trap, module) } else { None };
        return [says].into_iter().chain(step).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ");
    }
    let range = reason(trap, module).is_some_and(pendula_compiler::janus::is_range);
    if !range || at != trap.at {
        return backward;
    }
    // For an index outside its array, show the index and the length.
    let word = |o: Operand| match o {
        Operand::Imm(word, _) => Some(word.cast_signed()),
        Operand::Small(k) => Some(k.into()),
        _ => trap.values.iter().find(|v| !v.of_other && v.operand == o).and_then(|v| v.word).map(u64::cast_signed),
    };
    let mut operands = trap.inst.operands().map(|(_, o)| word(o));
    match (operands.next().flatten(), operands.next().flatten()) {
        (Some(index), Some(len)) => format!("{index} is not within 0 to {}", len - 1),
        _ => backward,
    }
}

/// The condition of a jump or an assertion: `r4 ≠ r0`.
fn condition(trap: &Trap, of_other: bool) -> Option<String> {
    let inst = match (&trap.other, of_other) {
        (Some((_, other)), true) => other,
        (None, true) => return None,
        (_, false) => &trap.inst,
    };
    let Kind::Row { cond, .. } = inst.kind else { return None };
    if cond == Cond::Always {
        return None;
    }
    let mut operands = inst.operands().map(|(_, o)| o);
    let (a, b) = (operands.next()?, operands.next()?);
    let text = |o: Operand| pendula_isa::text::operand(o, 0, &pendula_isa::text::NoNames);
    Some(format!("{} {} {}", text(a), cond.symbol(), text(b)))
}

/// The reason that the program gives for the failed check, if it gives one.
fn reason<'m>(trap: &Trap, module: &'m Module) -> Option<&'m str> {
    trap_text(trap, module).reason
}

/// A fault's title for authors of Nil.
fn nil_title(fault: Fault) -> &'static str {
    match fault {
        Fault::NotZero => "deallocation failed",
        Fault::Memory => "out of memory",
        Fault::WrongEntry | Fault::WrongEntryBack | Fault::WrongLanding => DISAGREE_TITLE,
        fault => fault.title(),
    }
}

/// The text for a fault in a Janus program that follows the fault's title, and the advice.
fn janus_words(fault: Fault, reason: Option<&str>) -> Option<(&'static str, &'static str)> {
    Some(match fault {
        Fault::Memory => (
            "no memory is left for calls and local variables",
            "a recursion may be too deep or endless, or an array too large; `--mem` gives more memory",
        ),
        Fault::DivideByZero => ("", "guard the division with an `if`"),
        Fault::FixedOverflow => {
            ("an integer does not fit in 64 bits", "without `--trap overflow` it wraps and the run goes on")
        }
        Fault::WrongEntry | Fault::WrongEntryBack | Fault::WrongLanding => (
            "",
            "the condition after `fi` must hold exactly when the condition after `if` held; the condition after `from`, only when the loop is entered",
        ),
        Fault::NotZero => ("", reason.and_then(advice)?),
        _ => return None,
    })
}

/// Notes with the addresses of the instructions that a trap is about; for a compiled program, only the direction of the
/// run.
fn address_notes(trap: &Trap, module: &Module) -> Vec<String> {
    let names = ModuleNames(module);
    let nil = is_compiled(module, trap.at);
    let mut notes = match nil {
        true => vec![running(trap.direction, trap.ad_mode).trim().to_string()],
        false => vec![
            format!("at address {}: {}", trap.at, display(&trap.inst, u64::from(trap.at), &names)),
            primary_text(trap, module),
        ],
    };
    if let (Some((at, other)), false) = (&trap.other, nil) {
        notes.push(format!("at address {at}: {}", display(other, u64::from(*at), &names)));
        notes.push(other_text(trap, module));
    }
    notes
}

/// Writes a trap as a diagnostic.
pub fn report(
    trap: &Trap,
    module: &Module,
    sources: &Sources,
    reporter: &Reporter,
    (ieee, stop, calls): (bool, Option<&stop_report::StopReport>, &[String]),
) {
    if let Some(stop) = stop
        && let (Some(code), Some(place)) = (stop.code, stop.place.clone())
    {
        let mut d = Diagnostic::error(code, &stop.message).at(place, &stop.label).help(stop.help);
        for (place, text) in &stop.others {
            d = d.also(place.clone(), text);
        }
        reporter.noted(&d, sources, &stop.notes());
        return;
    }
    let mut beside = stop.map_or_else(|| calls.to_vec(), stop_report::StopReport::notes);
    if stop.is_none() && is_compiled(module, trap.at) && place(module, sources, trap.at).is_some() {
        beside.push(
            "its variables are not known, because the program did not get here again within a few seconds".into(),
        );
    }
    let TrapText { fault, code, title, reason, help: own } = trap_text(trap, module);
    // Conditions that disagree are reported in the same way, whether a jump or a check finds them.
    let fault = if code == DISAGREE { Fault::WrongLanding } else { fault };
    // The text on memory is the same for Nil and for Janus.
    let janus = match fault {
        _ if is_janus(module, trap.at) => janus_words(fault, reason),
        Fault::Memory if is_compiled(module, trap.at) => janus_words(fault, reason),
        _ => None,
    };
    let help = match fault {
        _ if janus.is_some() => janus.map_or("", |(_, help)| help),
        Fault::Assert if reason.is_some_and(|reason| reason.contains(" lies outside ")) => {
            match is_janus(module, trap.at) {
                true => "elements are counted from 0; see what the index comes from, or guard it with an `if`",
                false => "elements are counted from 1; see what the index comes from, or guard it with an `if`",
            }
        }
        Fault::Assert if reason.is_some_and(pendula_compiler::janus::is_alias) => {
            "pass different variables, or let a third one take the value that is read"
        }
        // The reason already says it.
        Fault::Assert if reason.is_some() => "",
        _ if trap.left_temporary().is_some() => own,
        Fault::NotZero if reason.is_some() => reason
            .and_then(advice)
            .unwrap_or("uncompute what has changed it, or deallocate it with the value that it has"),
        Fault::WrongEntry | Fault::WrongEntryBack | Fault::WrongLanding if reason.is_some() => {
            "give a second condition, which holds afterwards exactly when the first one held before: `(before, after)`"
        }
        Fault::NotFinite if ieee => "only doubles can be infinite or NaN: guard the conversion with a `jmp`",
        Fault::Memory => own,
        fault => fault.help(),
    };
    let nil = is_compiled(module, trap.at);
    let label = |at: u32, text: String| if nil { source_text(trap, module, sources, (at, stop)) } else { text };
    let derivative = match fault {
        Fault::DivideByZero | Fault::Domain if trap.ad_mode != AdMode::Plain => {
            "; or the derivative does not exist here, as that of an arc sine at 1"
        }
        Fault::Range | Fault::NotFinite if trap.ad_mode != AdMode::Plain => {
            "; or a derivative is too large for its type"
        }
        _ => "",
    };
    let said = janus.map(|(said, _)| said).filter(|said| !said.is_empty());
    let title = match reason.or(said) {
        // A variable with the wrong final value is not always one that is deallocated.
        Some(reason) if fault == Fault::NotZero && (is_janus(module, trap.at) || advice(reason).is_some()) => {
            reason.to_string()
        }
        // Authors of Nil and Janus do not see addresses.
        Some(reason) if nil && fault == Fault::Memory => reason.to_string(),
        Some(reason) if nil && code != DISAGREE => format!("{}: {reason}", nil_title(fault)),
        Some(reason) => format!("{title}: {reason}"),
        None => title.to_string(),
    };
    let mut d = Diagnostic::error(code, title);
    if !help.is_empty() {
        // Nil and Janus use other terms for branches.
        let help = if nil { in_source_words(help) } else { help.to_string() };
        d = d.help(format!("{help}{derivative}"));
    }
    match place(module, sources, trap.at) {
        Some(at) => {
            d = d.at(at, label(trap.at, primary_text(trap, module)));
            if let Some((other, _)) = &trap.other
                && let Some(at) = place(module, sources, *other)
            {
                d = d.also(at, label(*other, other_text(trap, module)));
            }
            reporter.noted(&d, sources, &beside);
        }
        None => {
            let mut notes = address_notes(trap, module);
            notes.extend(beside);
            notes.retain(|n| !n.is_empty());
            let (path, line, column) =
                module.loc(trap.at as usize).map_or(("", 0, 0), |(p, l)| (p, l.line, u32::from(l.column)));
            reporter.without_source(&d, path, line, column, &notes);
        }
    }
}

/// Rewrites advice for authors of Nil or Janus, which have no jumps and no directives.
pub fn in_source_words(help: &str) -> String {
    const WORDS: [(&str, &str); 6] = [
        ("a `jmp.eq` on the divisor", "an `if`"),
        ("a `jmp.eq.l`", "an `if`"),
        ("a `jmp`", "an `if`"),
        ("the word wraps", "the number wraps"),
        ("a `.format`", "a `--format`"),
        ("set `.mem` or ", ""),
    ];
    WORDS.iter().fold(help.to_string(), |help, (assembly, source)| help.replace(assembly, source))
}

/// The variables that occur in a place of the source, with their values: `x = 3, i = 5`.
fn named(stop: &stop_report::StopReport, place: Option<&Place>, sources: &Sources) -> String {
    let text = place.and_then(|p| sources.text(p.file).get(p.span.clone())).unwrap_or("");
    let text = text.lines().next().unwrap_or("");
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '!');
    let words: Vec<&str> = text.split(|c| !inside(c)).collect();
    let here = stop.variables().iter().filter(|(name, _)| words.contains(&name.as_str()));
    // If these are all variables, the notes below list them anyway.
    if here.clone().count() == stop.variables().len() {
        return String::new();
    }
    here.map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

/// The source text of an instruction, if the source is available.
pub fn place(module: &Module, sources: &Sources, at: u32) -> Option<Place> {
    let (_, loc) = module.loc(at as usize)?;
    if loc.file as usize >= sources.len() {
        return None;
    }
    let (line_start, line) = sources.line(loc.file, loc.line)?;
    let start = line.char_indices().nth((loc.column as usize).saturating_sub(1)).map_or(0, |(n, _)| n);
    let statement = line.get(start..)?;
    let end = match is_janus(module, at) {
        true => statement.find("//"),
        false => statement.find([';', '#']),
    };
    let end = end.unwrap_or(statement.len());
    let statement = if statement.contains('"') { statement } else { &statement[..end] };
    let statement = if is_compiled(module, at) { stop_report::part(statement) } else { statement };
    let len = statement.trim_end().len().max(1);
    Some(Place { file: loc.file, span: line_start + start..line_start + start + len })
}

/// A finding as a diagnostic.
pub fn finding(f: &Finding, module: &Module, sources: &Sources) -> Diagnostic {
    let mut d = Diagnostic::warning(f.code, f.message.clone()).help(f.help);
    d.severity = f.severity;
    let at = match &f.at {
        Subject::Module => return d,
        Subject::Symbol(name) => {
            if !d.message.contains(name.as_str()) {
                d.message = format!("{name}: {}", d.message);
            }
            return d;
        }
        Subject::Inst(at) => *at,
    };
    match place(module, sources, at) {
        Some(p) => d = d.at(p, ""),
        None => d.message = format!("{}: {}", line_of(module, at), d.message),
    }
    if let Some(p) = f.other.and_then(|other| place(module, sources, other)) {
        d = d.also(p, "");
    }
    d
}

/// `file:line` of an instruction, for messages.
pub fn line_of(module: &Module, at: u32) -> String {
    match module.loc(at as usize) {
        Some((file, loc)) => format!("{file}:{}", loc.line),
        None => format!("address {at}"),
    }
}

fn place_json(at: u32, module: &Module) -> Value {
    match module.loc(at as usize) {
        Some((file, loc)) => json!({ "file": file, "line": loc.line, "column": loc.column }),
        None => Value::Null,
    }
}

/// An instruction's address and place as JSON.
pub fn address_json(at: u32, module: &Module) -> Value {
    json!({ "address": at, "place": place_json(at, module) })
}

/// A trap as JSON.
pub fn to_json(trap: &Trap, module: &Module) -> Value {
    let names = ModuleNames(module);
    let text = trap_text(trap, module);
    let one = |at: u32, inst: &Inst, of_other: bool| {
        let values: Vec<String> = texts(trap, module, of_other).map(|(_, text)| text).collect();
        json!({ "address": at, "place": place_json(at, module), "instruction": display(inst, u64::from(at), &names), "values": values })
    };
    json!({
        "code": text.code,
        "message": text.title,
        "reason": text.reason,
        "direction": trap.direction.name(),
        "level": trap.ad_mode.level(),
        "tangents": trap.ad_mode.has_tangents(),
        "at": one(trap.at, &trap.inst, false),
        "other": trap.other.as_ref().map(|(at, inst)| one(*at, inst, true)),
    })
}
