//! Tests the translations of programs in PISA to assembly: on every engine a translation must leave the same words in the registers that stand
//! for PISA's, in its cells and on its tapes, and have shown the same; a run back must restore everything. Programs that are not translated
//! are listed here, each with its reason.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use pendula::asm::assemble::{Options as AssemblyOptions, assemble};
use pendula::asm::diagnostic::Severity;
use pendula::asm::pisa::import::{self, Imported, import};
use pendula::asm::{disasm, invert, object};
use pendula::isa::counts::Direction;
use pendula::isa::module::SymbolKind;
use pendula::isa::table::Flow;
use pendula::isa::types::Reg;
use pendula::isa::{Fault, Module};
use pendula::values::{self, Location};
use pendula::vm::{Config, Engine, Event, Machine, Outcome, Program};

use libtest_mimic::Failed;

use crate::expectations::Expectations;
use crate::pisa;
use crate::report::{Report, TestFile};

/// Programs that are refused, by the code of the reason.
const REFUSED: &[(&str, &[&str])] = &[
    // A branch whose landing place names another, and leads on.
    (
        "P0345",
        &["BEQ.pisa", "BGEZ.pisa", "BGTZ.pisa", "BLEZ.pisa", "BLTZ.pisa", "BNE.pisa", "BRA.pisa", "ends_at_start.pisa"],
    ),
    // Distances that are computed, and lead to no procedure.
    ("P0346", &["SWAPBR.pisa"]),
];

/// Programs that exchange cells which no memory has.
const FAR_CELLS: &[&str] = &["EXCH.pisa", "random_00.pisa", "random_05.pisa", "random_07.pisa"];

/// Programs that show something when it is undone, as PendVM does; a translation does not, and a warning says so.
const SHOWS_BACK: &[&str] = &["SHOW_bugs.pisa", "SHOW_bugs_raw.pisa", "shows_back.pisa"];

/// Instructions that a run may take.
const STEPS: u64 = 40_000_000;

fn options(expected: &Expectations) -> Result<import::Options, String> {
    let cells = expected.number("cells")?.map_or(Ok(1 << 21), u32::try_from).map_err(|e| e.to_string())?;
    Ok(import::Options { read: pisa::options(expected)?, cells, below: 1 << 12 })
}

/// The state after a run.
#[derive(Clone, Debug, PartialEq)]
struct FinalState {
    registers: Vec<u64>,
    /// The cells that are not zero, by address; those of instructions are none.
    cells: BTreeMap<i64, u64>,
    emitted: Vec<u64>,
    shown: Vec<u64>,
    read: usize,
    /// The words that the backward run shows.
    shown_back: Vec<u64>,
}

fn listen(machine: &mut Machine<'_>) -> Arc<Mutex<Vec<u64>>> {
    let shown = Arc::new(Mutex::new(Vec::new()));
    let out = Arc::clone(&shown);
    machine.on_event(move |event| {
        if let Event::Show(_, word) = event {
            out.lock().expect("no panic").push(word);
        }
    });
    shown
}

/// Runs the program as it is. Gives the trap in which it stops, if it does.
fn run_original(module: &Module, input: Vec<u64>) -> Result<Result<FinalState, Fault>, String> {
    let program = Program::new(module.clone(), true).map_err(|e| e.to_string())?;
    let config = Config { mem: Some(1 << 14), ..Config::default() };
    let mut machine = Machine::new(&program, &config).map_err(|e| e.to_string())?;
    machine.set_input(input, 0);
    let shown = listen(&mut machine);
    match machine.run(Some(STEPS)) {
        Outcome::Finished => {}
        Outcome::Trap(trap) => return Ok(Err(trap.fault)),
        other => return Err(format!("the program ends with {other:?}")),
    }
    let memory = machine.memory().iter().enumerate().filter(|(_, w)| **w != 0).map(|(at, w)| (at as u32, *w));
    let cells = memory.chain(machine.cells()).map(|(at, w)| (i64::from(at.cast_signed()), w)).collect();
    let shown_forward = std::mem::take(&mut *shown.lock().expect("no panic"));
    let mut final_state = FinalState {
        registers: machine.registers().to_vec(),
        cells,
        emitted: machine.output().to_vec(),
        shown: shown_forward,
        read: machine.words_read(),
        shown_back: Vec::new(),
    };
    machine.begin(Direction::Backward);
    match machine.run(Some(STEPS)) {
        Outcome::Finished => {}
        other => return Err(format!("the run back of the program ends with {other:?}")),
    }
    final_state.shown_back = shown.lock().expect("no panic").clone();
    Ok(Ok(final_state))
}

/// The state after the translation, in terms of the program.
fn final_state(
    machine: &Machine<'_>,
    module: &Module,
    imported: &Imported,
    options: &import::Options,
    shown: &[u64],
) -> FinalState {
    let registers = imported.registers.iter().map(|r| r.map_or(0, |r| machine.registers()[r.index()])).collect();
    let code = |at: i64| {
        let inst = usize::try_from(at).ok().and_then(|at| module.code.get(at));
        inst.is_some_and(|i| i.kind.flow() != Flow::Cell)
    };
    let (zero, most) = (imported.zero as i64, i64::from(options.cells));
    let memory = machine.memory().iter().enumerate().map(|(at, w)| (at as i64 - zero, *w));
    let cells = memory.filter(|(at, w)| *w != 0 && !code(*at) && *at < most).collect();
    let (emitted, read) = (machine.output().to_vec(), machine.words_read());
    FinalState { registers, cells, emitted, shown: shown.to_vec(), read, shown_back: Vec::new() }
}

/// Checks that labelled data is exported with the cells of its label, which end where the next label's begin, or instructions.
fn check_exports(module: &Module, native: &Module, zero: u64, report: &mut Report) {
    for label in &module.symbols {
        let cells = values::find(module, &label.name).ok();
        let Some(cells) = cells.filter(|p| matches!(p.at, Location::Memory { .. })) else { continue };
        let found = native.symbols.iter().any(|s| match s.kind {
            SymbolKind::Data { len, export, .. } => export && s.value == zero + label.value && len == cells.count(),
            SymbolKind::Label | SymbolKind::Proc => false,
        });
        if !found {
            report.add(format_args!("expected {} to be exported with {} cells", label.name, cells.count()));
        }
    }
}

fn engines() -> impl Iterator<Item = Engine> {
    Engine::ALL.into_iter().filter(|e| e.is_available())
}

/// A translation, and what belongs to it.
struct Translation<'f> {
    file: &'f TestFile,
    module: &'f Module,
    imported: &'f Imported,
    options: import::Options,
    /// The state after the program, or the trap in which it stops.
    wanted: Result<FinalState, Fault>,
}

/// Assembles a translation, inverts it, and runs it with every engine.
fn check(
    file: &TestFile,
    (module, imported): (&Module, &Imported),
    options: import::Options,
    report: &mut Report,
) -> Result<(), String> {
    let text = imported.text.clone().ok_or("is not translated")?;
    let assembly = assemble("translation.rasm", text, &AssemblyOptions::default());
    let native = assembly.module.ok_or_else(|| format!("does not assemble: {:?}", assembly.diagnostics))?;
    if !assembly.diagnostics.is_empty() {
        report.add(format_args!("the translation has diagnostics: {:?}", assembly.diagnostics));
    }
    let object = object::read(&object::write(&native).map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
    if object != native {
        report.add("the object holds another program");
    }
    let inverse = invert::invert(&native).map_err(|e| e.to_string())?;
    let again = assemble("inverse.rasm", disasm::disassemble(&inverse), &AssemblyOptions::default());
    if again.module.is_none() {
        report.add(format_args!("the inverse does not assemble: {:?}", again.diagnostics));
    }
    check_exports(module, &native, imported.zero, report);
    let wanted = run_original(module, pisa::input(&file.expected)?)?;
    let program = Program::new(native, true).map_err(|e| e.to_string())?;
    let translation = Translation { file, module, imported, options, wanted };
    for engine in engines() {
        report.context = engine.name().to_string();
        report.attempt(|report| run_engine(&translation, &program, engine, report));
    }
    report.context.clear();
    Ok(())
}

/// Runs a translation forward and back.
fn run_engine(
    translation: &Translation<'_>,
    program: &Program,
    engine: Engine,
    report: &mut Report,
) -> Result<(), String> {
    let Translation { file, module, imported, options, wanted } = translation;
    let name = file.file_name();
    let config = Config { engine, warm_up: 0, ..Config::default() };
    let mut machine = Machine::new(program, &config).map_err(|e| e.to_string())?;
    // A word of 32 bits is read as the number that it is in native code: signed.
    let signed = pisa::input(&file.expected)?.into_iter().map(|w| i64::from(w as i32).cast_unsigned());
    machine.set_input(signed.collect(), 0);
    let before = (machine.registers().to_vec(), machine.memory().to_vec());
    let shown = listen(&mut machine);
    let outcome = machine.run(Some(STEPS));
    let wanted = match (wanted, outcome) {
        (Ok(_), Outcome::Trap(trap))
            if FAR_CELLS.contains(&&*name) && matches!(trap.fault, Fault::Memory | Fault::Assert) =>
        {
            return Ok(());
        }
        (Ok(wanted), Outcome::Finished) if !FAR_CELLS.contains(&&*name) => wanted,
        (Err(_), Outcome::Trap(_)) => return Ok(()),
        (_, outcome) => return Err(format!("the run ends with {outcome:?}")),
    };
    let shown_forward = std::mem::take(&mut *shown.lock().expect("no panic"));
    let shows_back = SHOWS_BACK.contains(&&*name);
    let shown_forward = if shows_back { wanted.shown.clone() } else { shown_forward };
    let found = final_state(&machine, module, imported, options, &shown_forward);
    report.same("what the run leaves", &FinalState { shown_back: Vec::new(), ..wanted.clone() }, &found);
    let mut others = (0..Reg::COUNT).filter(|n| !imported.registers.iter().flatten().any(|r| r.index() == *n));
    if !others.all(|n| machine.registers()[n] == before.0[n]) {
        report.add(format_args!("other registers are changed: {:?}", machine.registers()));
    }
    let behind = (imported.zero + u64::from(options.cells)) as usize;
    report.same("memory behind the cells", &before.1.get(behind..), &machine.memory().get(behind..));
    machine.begin(Direction::Backward);
    let outcome = machine.run(Some(STEPS));
    if outcome != Outcome::Finished {
        return Err(format!("the run back ends with {outcome:?}"));
    }
    if !shows_back {
        report.same("shown by the run back", &wanted.shown_back, &shown.lock().expect("no panic"));
    }
    if machine.registers()[..] != before.0 || machine.memory() != before.1 {
        report.add("the run back does not restore the state");
    }
    report.same("tapes after the run back", &(0, 0), &(machine.output().len(), machine.words_read()));
    Ok(())
}

/// Translates a file.
fn translated(file: &TestFile) -> Result<(Imported, import::Options), String> {
    let options = options(&file.expected)?;
    Ok((import(&file.file_name(), &file.text, &options), options))
}

/// Tests the translation of a program, or that it is refused as [`REFUSED`] says.
pub(crate) fn translate(path: &Path) -> Result<(), Failed> {
    let file = TestFile::read(path)?;
    let mut report = Report::new(path);
    let (imported, options) = translated(&file)?;
    let name = file.file_name();
    let refused = REFUSED.iter().find(|(_, names)| names.contains(&&*name)).map(|(code, _)| *code);
    let (errors, warnings): (Vec<_>, Vec<_>) = imported.diagnostics.iter().partition(|d| d.severity == Severity::Error);
    report.same("the first error of the translation", &refused, &errors.first().map(|d| d.code));
    report.same("the translation is refused", &refused.is_some(), &imported.text.is_none());
    let warned: Vec<&str> = warnings.iter().map(|d| d.code).collect();
    let shows_back = if SHOWS_BACK.contains(&&*name) { vec!["P0350"] } else { vec![] };
    report.same("warnings of the translation", &shows_back, &warned);
    if imported.text.is_some() {
        let module = pisa::read(&file)?;
        report.attempt(|report| check(&file, (&module, &imported), options, report));
    }
    report.finish()
}

/// Tests the translation of a program that traps, if there is one.
pub(crate) fn translate_trap(path: &Path) -> Result<(), Failed> {
    let file = TestFile::read(path)?;
    let mut report = Report::new(path);
    let (imported, options) = translated(&file)?;
    if imported.text.is_some() {
        let module = pisa::read(&file)?;
        report.attempt(|report| check(&file, (&module, &imported), options, report));
    }
    report.finish()
}

/// True if a program stops in a trap and is translated all the same.
pub(crate) fn is_translated_trap(path: &Path) -> Result<bool, Failed> {
    let file = TestFile::read(path)?;
    let (imported, _) = translated(&file)?;
    let input = pisa::input(&file.expected)?;
    Ok(imported.text.is_some() && run_original(&pisa::read(&file)?, input)?.is_err())
}

/// Tests a program made for translations, which expects all that the translation says. Those that are refused have names that begin with
/// `refused_`.
pub(crate) fn translate_exactly(path: &Path) -> Result<(), Failed> {
    let file = TestFile::read(path)?;
    let mut report = Report::new(path);
    let (imported, options) = translated(&file)?;
    let found = pisa::diagnostics(&file, &imported.diagnostics, &mut report);
    report.compare(&file.expected.problems, found);
    report.same("the translation is refused", &file.file_name().starts_with("refused_"), &imported.text.is_none());
    if imported.text.is_some() {
        let module = pisa::read(&file)?;
        report.attempt(|report| check(&file, (&module, &imported), options, report));
    }
    report.finish()
}
