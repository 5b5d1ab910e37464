//! Tests programs in PISA as PendVM would run them. Registers and cells that no `value` names are zero, or as they were loaded:
//! `;value: $5 = -3` is a register, `;value: mem 100 = 7` a cell that differs from what was loaded, after the run forward.
//!
//! What is expected was worked out apart from Pendula: by a simulator written from the same description, and by known values.
//!
//! Each program runs forward, and back to its start: registers, cells and tapes must be as they were. It does so in one go, instruction
//! by instruction, and once more as the object and as the assembly that it makes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use pendula::asm::assemble::assemble;
use pendula::asm::check::{self as checker, Finding, Rule, Subject};
use pendula::asm::diagnostic::{Diagnostic, Severity};
use pendula::asm::pisa::{self, Alias, Options};
use pendula::asm::{disasm, object};
use pendula::isa::Module;
use pendula::isa::counts::Direction;
use pendula::pisa::Show;
use pendula::vm::{Config, Event, Machine, Outcome, Program, StepOutcome};

use libtest_mimic::Failed;

use crate::expectations::{Expectations, Problem};
use crate::report::{Report, TestFile, line_of};

/// Instructions that a run may take.
const STEPS: u64 = 20_000_000;

/// How a file asks to be read.
pub(crate) fn options(expected: &Expectations) -> Result<Options, String> {
    let alias = match expected.option("alias") {
        None => Alias::Refuse,
        Some("noop") => Alias::Nothing,
        Some(other) => return Err(format!("`alias: {other}` is not known")),
    };
    let (pendvm_bugs, strict) = (expected.has("pendvm-bugs"), expected.has("strict"));
    Ok(Options { pendvm_bugs, strict, alias, ..Options::default() })
}

/// The words that a file gives to `READ`.
pub(crate) fn input(expected: &Expectations) -> Result<Vec<u64>, String> {
    words(expected.option("input").unwrap_or(""))
}

fn words(list: &str) -> Result<Vec<u64>, String> {
    let word = |w: &str| w.trim().parse::<i64>().map(i64::cast_unsigned).map_err(|e| format!("{w}: {e}"));
    list.split(',').filter(|w| !w.trim().is_empty()).map(word).collect()
}

/// The module of a file that must be read without errors.
pub(crate) fn read(file: &TestFile) -> Result<Module, String> {
    let assembly = pisa::read(&file.file_name(), &file.text, &options(&file.expected)?);
    assembly.module.ok_or_else(|| format!("is not read: {:?}", assembly.diagnostics))
}

/// The diagnostics of a file as problems. Reports errors without a help.
pub(crate) fn diagnostics(file: &TestFile, diagnostics: &[Diagnostic], report: &mut Report) -> Vec<Problem> {
    let mut found = Vec::new();
    for d in diagnostics {
        let place = d.primary.as_ref().map(|l| &l.place);
        let line = place.map_or(1, |p| line_of(&file.text, p.span.start));
        if d.help.is_none() {
            report.at(line, format_args!("{} {} has no help", d.code, d.message));
        }
        let source = place.and_then(|p| file.text.get(p.span.clone())).map(str::to_string);
        let help = vec![d.help.clone().unwrap_or_default()];
        found.push(Problem { line, code: d.code.to_string(), message: d.message.clone(), source, help });
    }
    found
}

/// Values of registers and of cells, by number and address.
type Values = (BTreeMap<usize, i64>, BTreeMap<u32, i64>);

/// The values that a file expects.
fn values(expected: &Expectations) -> Result<Values, String> {
    let (mut registers, mut cells) = (BTreeMap::new(), BTreeMap::new());
    for (line, name, value) in expected.values()? {
        let word = value.parse().map_err(|e| format!("line {line}: {value}: {e}"))?;
        let number = name.strip_prefix("mem ").and_then(|at| Some(cells.insert(at.parse().ok()?, word).is_none()));
        let number = number.or_else(|| Some(registers.insert(name.strip_prefix('$')?.parse().ok()?, word).is_none()));
        if number != Some(true) {
            return Err(format!("line {line}: `{name}` is neither `$5` nor `mem 100`, or stands twice"));
        }
    }
    Ok((registers, cells))
}

/// What a machine holds: registers, cells that are not zero, the words emitted, and how many of the input were read.
type State = (Vec<u64>, BTreeMap<u32, u64>, Vec<u64>, usize);

fn state(machine: &Machine<'_>) -> State {
    let memory = machine.memory().iter().enumerate().filter(|(_, w)| **w != 0).map(|(at, w)| (at as u32, *w));
    let cells = memory.chain(machine.cells()).collect();
    (machine.registers().to_vec(), cells, machine.output().to_vec(), machine.words_read())
}

/// A machine, and the bytes that `SHOW` prints in it.
type Printing<'p> = (Machine<'p>, Arc<Mutex<Vec<u8>>>);

fn machine<'p>(program: &'p Program, expected: &Expectations) -> Result<Printing<'p>, String> {
    let config = Config { mem: Some(1 << 14), ..Config::default() };
    let mut machine = Machine::new(program, &config).map_err(|e| e.to_string())?;
    machine.set_input(input(expected)?, 0);
    let mut show = Show::new(expected.has("show-raw"));
    let printed = Arc::new(Mutex::new(Vec::new()));
    let out = Arc::clone(&printed);
    machine.on_event(move |event| {
        if let Event::Show(_, word) = event {
            out.lock().expect("no panic").extend(show.word(word as u32));
        }
    });
    Ok((machine, printed))
}

/// Runs in one direction, at once or one instruction at a time.
fn go(machine: &mut Machine<'_>, direction: Direction, singly: bool) -> Outcome {
    machine.begin(direction);
    if !singly {
        return machine.run(Some(STEPS));
    }
    for _ in 0..STEPS {
        match machine.step() {
            StepOutcome::Executed(_) => {}
            StepOutcome::Finished => return Outcome::Finished,
            StepOutcome::Trap(trap) => return Outcome::Trap(trap),
        }
    }
    Outcome::Limit
}

/// Runs a program forward, compares what the file expects, and runs it back.
fn compare(file: &TestFile, module: &Module, singly: bool, report: &mut Report) -> Result<(), String> {
    let expected = &file.expected;
    let program = Program::new(module.clone(), true).map_err(|e| e.to_string())?;
    let (mut machine, printed) = machine(&program, expected)?;
    let before = state(&machine);
    let outcome = go(&mut machine, Direction::Forward, singly);
    if outcome != Outcome::Finished {
        return Err(format!("the run forward ends with {outcome:?}"));
    }
    let (registers, cells, emitted, read) = state(&machine);
    let (wanted_registers, wanted_cells) = values(expected)?;
    for (n, word) in registers.iter().enumerate() {
        let wanted = wanted_registers.get(&n).copied().unwrap_or(0);
        report.same(format_args!("${n}"), &wanted, &word.cast_signed());
    }
    let signed = |w: &u64| i64::from(*w as i32);
    let loaded = |at: u32| before.1.get(&at).copied().unwrap_or(0);
    let all: BTreeSet<u32> = cells.keys().chain(before.1.keys()).copied().collect();
    let changed: BTreeMap<u32, i64> = all
        .into_iter()
        .map(|at| (at, cells.get(&at).copied().unwrap_or(0)))
        .filter(|(at, word)| *word != loaded(*at))
        .map(|(at, word)| (at, signed(&word)))
        .collect();
    report.same("cells that changed", &wanted_cells, &changed);
    report.same("emitted", &words(expected.option("emitted").unwrap_or(""))?, &emitted);
    report.same("words read", &input(expected)?.len(), &read);
    let bytes = printed.lock().expect("no panic").clone();
    let text: String = bytes.iter().map(|b| char::from(*b)).collect();
    let lines: Vec<String> = text.split('\n').map(str::to_string).collect();
    report.compare_shown(expected, lines.strip_suffix(&[String::new()]).unwrap_or(&lines));
    let steps = machine.executed();
    let wanted_steps = expected.number("steps")?;
    report.same("steps", &wanted_steps.unwrap_or(steps), &steps);
    let outcome = go(&mut machine, Direction::Backward, singly);
    if outcome != Outcome::Finished {
        return Err(format!("the run back ends with {outcome:?}"));
    }
    report.same("the state after the run back", &before, &state(&machine));
    report.same("the branch register after the run back", &0, &machine.branch_register());
    let wanted = expected.number("steps-back")?.or(wanted_steps).unwrap_or(steps);
    report.same("steps back", &wanted, &(machine.executed() - steps));
    // Every instruction is counted once.
    report.same("instructions counted", &machine.executed(), &machine.counts().instructions());
    Ok(())
}

/// Compares the module with what other forms of the file give. Gives the program as assembled from its disassembly.
fn reassemble(module: &Module, report: &mut Report) -> Result<Module, String> {
    let object = object::read(&object::write(module).map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
    if &object != module {
        report.add("the object holds another program");
    }
    let text = disasm::disassemble(module);
    let again = assemble("again.rasm", text.clone(), &Default::default());
    let again = again.module.ok_or_else(|| format!("does not assemble again: {:?}\n{text}", again.diagnostics))?;
    if (&again.code, again.flags) != (&module.code, module.flags) {
        report.add(format_args!("is assembled as another program:\n{text}"));
    }
    match pisa::write(module) {
        Ok(text) => {
            let written = pisa::read("again.pisa", &text, &Options::default());
            let written = written.module.ok_or_else(|| format!("is not read again: {:?}\n{text}", written.diagnostics));
            let mut written = written?;
            written.flags.loose = module.flags.loose;
            if (&written.code, written.flags) != (&module.code, module.flags) {
                report.add(format_args!("is written as another program in PISA:\n{text}"));
            }
        }
        // What PendVM does otherwise, PISA has no words for.
        Err(error) if !module.flags.loose => report.add(format_args!("is not written as PISA: {error}")),
        Err(_) => {}
    }
    Ok(again)
}

/// Instructions of a program that the checker calls dead.
pub(crate) fn dead(findings: &[Finding]) -> BTreeSet<u32> {
    let at = |f: &Finding| match f.at {
        Subject::Inst(at) if f.rule == Rule::Dead => Some(at),
        Subject::Inst(_) | Subject::Module | Subject::Symbol(_) => None,
    };
    findings.iter().filter_map(at).collect()
}

/// Checks that what the checker calls dead is not run, and that it finds nothing grave beside that.
fn check_dead(file: &TestFile, module: &Module, report: &mut Report) -> Result<(), String> {
    let found = checker::check(module);
    let dead = dead(&found);
    let program = Program::new(module.clone(), true).map_err(|e| e.to_string())?;
    let (mut machine, _) = machine(&program, &file.expected)?;
    for _ in 0..200_000 {
        match machine.step() {
            StepOutcome::Executed(at) if dead.contains(&at) => {
                let line = module.loc(at as usize).map_or(1, |(_, loc)| loc.line as usize);
                report.at(line, "the checker calls this instruction dead, but it is run");
            }
            StepOutcome::Executed(_) => {}
            StepOutcome::Finished | StepOutcome::Trap(_) => break,
        }
    }
    let is_grave = |f: &&Finding| f.severity == Severity::Warning && f.rule != Rule::Dead;
    let grave: Vec<_> = found.iter().filter(is_grave).collect();
    if !grave.is_empty() && !file.path.ends_with("BRA.pisa") {
        report.add(format_args!("the checker finds {grave:?}"));
    }
    Ok(())
}

/// Tests a program that runs to its end.
pub(crate) fn run(path: &Path) -> Result<(), Failed> {
    let file = TestFile::read(path)?;
    let mut report = Report::new(path);
    let module = read(&file)?;
    report.attempt(|report| compare(&file, &module, false, report));
    report.attempt(|report| check_dead(&file, &module, report));
    report.context = "instruction by instruction".to_string();
    report.attempt(|report| compare(&file, &module, true, report));
    report.context = "assembled again".to_string();
    report.attempt(|report| compare(&file, &reassemble(&module, report)?, false, report));
    report.compare(&file.expected.problems, Vec::new());
    report.finish()
}

/// Tests a program that traps.
pub(crate) fn trap(path: &Path) -> Result<(), Failed> {
    let file = TestFile::read(path)?;
    let mut report = Report::new(path);
    let program = Program::new(read(&file)?, true).map_err(|e| e.to_string())?;
    for singly in [false, true] {
        report.context = if singly { "instruction by instruction".to_string() } else { String::new() };
        let (mut machine, _) = machine(&program, &file.expected)?;
        let outcome = go(&mut machine, Direction::Forward, singly);
        let Outcome::Trap(trap) = outcome else {
            report.add(format_args!("expected a trap, found {outcome:?}"));
            continue;
        };
        // Of a branch that leads nowhere, where it leads is told, too, if there is anything.
        let at = trap.other.map_or(trap.at, |(at, _)| at);
        let line = program.module().loc(at as usize).map_or(1, |(_, loc)| loc.line as usize);
        let (code, message) = (trap.fault.code().to_string(), trap.fault.title().to_string());
        let help = vec![trap.fault.help().to_string()];
        report.compare(&file.expected.problems, vec![Problem { line, code, message, source: None, help }]);
        // Nothing is lost: what had run can be undone, singly or not.
        let before = state(&machine);
        report.same("the trap of a second run", &Outcome::Trap(trap), &machine.run(Some(STEPS)));
        report.same("the state after a second run", &before, &state(&machine));
    }
    report.finish()
}

/// Tests a program that is not read.
pub(crate) fn error(path: &Path) -> Result<(), Failed> {
    let file = TestFile::read(path)?;
    let mut report = Report::new(path);
    let assembly = pisa::read(&file.file_name(), &file.text, &options(&file.expected)?);
    if assembly.module.is_some() {
        report.add("expected an error, but the program is read");
    }
    let found = diagnostics(&file, &assembly.diagnostics, &mut report);
    report.compare(&file.expected.problems, found);
    report.finish()
}

/// Tests a mistake of beginners: its diagnostics, or the trap that it leads to, and what their helps say.
pub(crate) fn mistake(path: &Path) -> Result<(), Failed> {
    let file = TestFile::read(path)?;
    let mut report = Report::new(path);
    let assembly = pisa::read(&file.file_name(), &file.text, &options(&file.expected)?);
    let mut found = diagnostics(&file, &assembly.diagnostics, &mut report);
    if let Some(module) = assembly.module {
        let program = Program::new(module, true).map_err(|e| e.to_string())?;
        let (mut machine, _) = machine(&program, &file.expected)?;
        if let Outcome::Trap(trap) = machine.run(Some(STEPS)) {
            let line = program.module().loc(trap.at as usize).map_or(1, |(_, loc)| loc.line as usize);
            let (code, message) = (trap.fault.code().to_string(), trap.fault.title().to_string());
            found.push(Problem { line, code, message, source: None, help: vec![trap.fault.help().to_string()] });
        }
    }
    report.compare(&file.expected.problems, found);
    report.finish()
}
