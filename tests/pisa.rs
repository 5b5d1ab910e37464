//! Runs the programs under `tests/filetests/pisa` as PendVM would. Each holds what is expected of it in comments, on lines of their own:
//!
//! - `; = $5 = -3`, `; = mem 100 = 7`: a register, or a cell that differs from what was loaded, after the run forward. All others are
//!   zero, or as they were loaded.
//! - `; shown: TEXT`: a line of what `SHOW` prints. `; emitted: 00000042`: a line of what `EMIT` prints. `; input: 1,2`: words for `READ`.
//! - `; steps: 12`: how many instructions ran, `FINISH` not counted. `; steps back: 10`: on the way back, where that is another number.
//! - `; options: --pendvm-bugs`: how the program is read and run: so, or `--alias=noop`, `--show-raw`, `--strict`, `--reverse`.
//! - `; trap: KIND at line 7`, `; error: KIND at line 7`: where the run stops, and why; that the program is not read, and why.
//!
//! What is expected was worked out apart from Pendula: by a simulator written from the same description, and by known values.
//!
//! Each program runs forward, and back to its start: registers, cells and tapes must be as they were. It does so in one go, instruction
//! by instruction, and once more as the object and as the assembly that it makes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pendula::asm::assemble::assemble;
use pendula::asm::check::{self as checker, At, Rule};
use pendula::asm::diagnostic::Severity;
use pendula::asm::pisa::{self, Alias, MNEMONICS, Options};
use pendula::asm::{disasm, object};
use pendula::isa::counts::Direction;
use pendula::isa::table::Flow;
use pendula::isa::{Fault, Module};
use pendula::pisa::Show;
use pendula::vm::{Config, Event, Machine, Outcome, Program, Stepped};

/// Traps by the names that the programs give them.
const TRAPS: &[(&str, &[Fault])] = &[
    ("landing", &[Fault::NoBranch]),
    ("branch-at-end", &[Fault::NoBranch]),
    ("exch-instruction", &[Fault::ExchangesCode]),
    ("no-instruction", &[Fault::RunsData, Fault::OffCode]),
    ("input-exhausted", &[Fault::NoInput]),
    ("input-start", &[Fault::NothingRead]),
    ("emit-empty", &[Fault::NoOutput]),
    ("emit-not-zero", &[Fault::UnemitInto]),
];

/// Errors by the names that the programs give them.
const ERRORS: &[(&str, &str)] = &[
    ("header", "P0330"),
    ("mnemonic", "P0331"),
    ("operands", "P0332"),
    ("register", "P0333"),
    ("number", "P0334"),
    ("range", "P0334"),
    ("undefined-label", "P0335"),
    ("duplicate-label", "P0336"),
    ("label", "P0337"),
    ("alias", "P0338"),
    ("strict-immediate", "P0339"),
    ("strict-offset", "P0339"),
    ("entry", "P0082"),
    ("start", "P0340"),
    ("empty", "P0342"),
];

/// Instructions that a run may take.
const STEPS: u64 = 20_000_000;

#[derive(Default)]
struct Expected {
    registers: BTreeMap<usize, i64>,
    cells: BTreeMap<u32, i64>,
    shown: Vec<String>,
    emitted: Vec<String>,
    input: Vec<u64>,
    steps: Option<u64>,
    steps_back: Option<u64>,
    trap: Option<(String, u32)>,
    error: Option<(String, u32)>,
    options: BTreeSet<String>,
}

impl Expected {
    fn of(text: &str) -> Expected {
        let mut out = Expected::default();
        for line in text.lines().filter_map(|l| l.strip_prefix("; ")) {
            let Some((key, value)) = line.split_once(": ").or_else(|| Some((line.strip_suffix(':')?, ""))) else {
                if let Some(rest) = line.strip_prefix("= mem ") {
                    let (at, word) = rest.split_once(" = ").unwrap();
                    out.cells.insert(at.parse().unwrap(), word.parse().unwrap());
                } else if let Some(rest) = line.strip_prefix("= $") {
                    let (at, word) = rest.split_once(" = ").unwrap();
                    out.registers.insert(at.parse().unwrap(), word.parse().unwrap());
                }
                continue;
            };
            let problem = || {
                let (kind, line) = value.split_once(" at line ").unwrap();
                Some((kind.to_string(), line.parse().unwrap()))
            };
            match key {
                "shown" => out.shown.push(value.to_string()),
                "emitted" => out.emitted.push(value.to_string()),
                "input" => out.input = value.split(',').map(|w| w.trim().parse::<i64>().unwrap() as u64).collect(),
                "steps" => out.steps = Some(value.parse().unwrap()),
                "steps back" => out.steps_back = Some(value.parse().unwrap()),
                "trap" => out.trap = problem(),
                "error" => out.error = problem(),
                "options" => out.options = value.split_whitespace().map(String::from).collect(),
                _ => {}
            }
        }
        out
    }

    fn has(&self, option: &str) -> bool {
        self.options.contains(option)
    }

    fn reading(&self) -> Options {
        let known = ["--pendvm-bugs", "--alias=noop", "--show-raw", "--strict", "--reverse"];
        assert!(self.options.iter().all(|o| known.contains(&o.as_str())), "{:?}", self.options);
        let alias = if self.has("--alias=noop") { Alias::Nothing } else { Alias::Refuse };
        Options { pendvm_bugs: self.has("--pendvm-bugs"), strict: self.has("--strict"), alias, ..Options::default() }
    }
}

fn files(folder: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/pisa").join(folder);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let text = |p: &PathBuf| String::from_utf8(std::fs::read(p).unwrap()).unwrap();
    paths.iter().map(|p| (p.clone(), text(p))).collect()
}

fn read(path: &Path, text: &str, expected: &Expected) -> Module {
    let name = path.file_name().unwrap().to_string_lossy();
    let assembly = pisa::read(&name, text, &expected.reading());
    assembly.module.unwrap_or_else(|| panic!("{name}: {:?}", assembly.diagnostics))
}

/// What a machine holds: registers, cells that are not zero, the words emitted, and how many of the input were read.
type Held = (Vec<u64>, BTreeMap<u32, u64>, Vec<u64>, usize);

fn held(machine: &Machine<'_>) -> Held {
    let memory = machine.memory().iter().enumerate().filter(|(_, w)| **w != 0).map(|(at, w)| (at as u32, *w));
    let cells = memory.chain(machine.cells()).collect();
    (machine.registers().to_vec(), cells, machine.output().to_vec(), machine.words_read())
}

fn machine<'p>(program: &'p Program, expected: &Expected) -> (Machine<'p>, Arc<Mutex<Vec<u8>>>) {
    let mut machine = Machine::new(program, &Config { mem: Some(1 << 14), ..Config::default() }).unwrap();
    machine.set_input(expected.input.clone(), 0);
    let mut show = Show::new(expected.has("--show-raw"));
    let printed = Arc::new(Mutex::new(Vec::new()));
    let out = Arc::clone(&printed);
    machine.on_event(move |event| {
        if let Event::Show(_, word) = event {
            out.lock().unwrap().extend(show.word(word as u32));
        }
    });
    (machine, printed)
}

/// Runs in one direction, at once or one instruction at a time.
fn go(machine: &mut Machine<'_>, direction: Direction, singly: bool) -> Outcome {
    machine.begin(direction);
    if !singly {
        return machine.run(Some(STEPS));
    }
    for _ in 0..STEPS {
        match machine.step() {
            Stepped::Ran(_) => {}
            Stepped::Finished => return Outcome::Finished,
            Stepped::Trap(trap) => return Outcome::Trap(trap),
        }
    }
    Outcome::Limit
}

fn check(what: &str, module: &Module, expected: &Expected, singly: bool) {
    let program = Program::new(module.clone(), true).unwrap_or_else(|e| panic!("{what}: {e}"));
    let (mut machine, printed) = machine(&program, expected);
    let before = held(&machine);
    assert_eq!(go(&mut machine, Direction::Forward, singly), Outcome::Finished, "{what}");
    let (registers, cells, emitted, read) = held(&machine);
    let signed = |w: &u64| i64::from(*w as i32);
    for (n, word) in registers.iter().enumerate() {
        assert_eq!(word.cast_signed(), expected.registers.get(&n).copied().unwrap_or(0), "{what}: ${n}");
    }
    let loaded = |at: u32| before.1.get(&at).copied().unwrap_or(0);
    let all: BTreeSet<u32> = cells.keys().chain(before.1.keys()).copied().collect();
    let changed: BTreeMap<u32, i64> = all
        .into_iter()
        .map(|at| (at, cells.get(&at).copied().unwrap_or(0)))
        .filter(|(at, word)| *word != loaded(*at))
        .map(|(at, word)| (at, signed(&word)))
        .collect();
    assert_eq!(changed, expected.cells, "{what}: cells");
    let emitted: Vec<String> = emitted.iter().map(|w| format!("{:08}", w.cast_signed())).collect();
    assert_eq!(emitted, expected.emitted, "{what}: emitted");
    assert_eq!(read, expected.input.len(), "{what}: words read");
    let bytes = printed.lock().unwrap().clone();
    let text: String = bytes.iter().map(|b| char::from(*b)).collect();
    let lines: Vec<&str> = text.split('\n').collect();
    let lines = lines.strip_suffix(&[""]).unwrap_or(&lines);
    assert_eq!(lines, expected.shown, "{what}: shown");
    let steps = machine.executed();
    if let Some(wanted) = expected.steps {
        assert_eq!(steps, wanted, "{what}: steps");
    }
    let outcome = go(&mut machine, Direction::Backward, singly);
    assert_eq!(outcome, Outcome::Finished, "{what}: back");
    assert_eq!(held(&machine), before, "{what}: the state was not restored");
    assert_eq!(machine.branch_register(), 0, "{what}");
    let wanted = expected.steps_back.or(expected.steps).unwrap_or(steps);
    assert_eq!(machine.executed() - steps, wanted, "{what}: steps back");
    let counted = machine.counts().instructions();
    assert_eq!(counted, machine.executed(), "{what}: every instruction is counted once");
}

/// The module as other forms of the file give it, but for where its instructions were written.
fn forms(what: &str, module: &Module) -> Vec<(String, Module)> {
    let bytes = object::write(module).unwrap_or_else(|e| panic!("{what}: {e}"));
    let object = object::read(&bytes).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(&object, module, "{what}: the object holds something else");
    let text = disasm::disassemble(module);
    let again = assemble("again.rasm", text.clone(), &Default::default());
    let again = again.module.unwrap_or_else(|| panic!("{what}: {:?}\n{text}", again.diagnostics));
    assert_eq!((&again.code, again.flags), (&module.code, module.flags), "{what}: assembled again\n{text}");
    match pisa::write(module) {
        Ok(text) => {
            let written = pisa::read("again.pisa", &text, &Options::default());
            let mut written = written.module.unwrap_or_else(|| panic!("{what}: {:?}\n{text}", written.diagnostics));
            written.flags.loose = module.flags.loose;
            assert_eq!((&written.code, written.flags), (&module.code, module.flags), "{what}: written as PISA\n{text}");
        }
        // What PendVM does otherwise, PISA has no words for.
        Err(error) => assert!(module.flags.loose, "{what}: {error}"),
    }
    vec![(format!("{what} (assembled)"), again)]
}

fn run_all(folder: &str, least: usize) {
    let files = files(folder);
    assert!(files.len() >= least, "{folder}: {} programs", files.len());
    for (path, text) in &files {
        let what = path.file_name().unwrap().to_string_lossy();
        let expected = Expected::of(text);
        let module = read(path, text, &expected);
        check(&what, &module, &expected, false);
        check(&format!("{what} (singly)"), &module, &expected, true);
        for (what, module) in forms(&what, &module) {
            check(&what, &module, &expected, false);
        }
    }
}

#[test]
fn opcodes() {
    run_all("opcodes", 80);
}

#[test]
fn every_opcode_has_a_program() {
    let files = files("opcodes");
    for mnemonic in MNEMONICS {
        let named = files.iter().find(|(p, _)| p.file_stem().is_some_and(|s| s == mnemonic.name));
        let (path, text) = named.unwrap_or_else(|| panic!("no program for {}", mnemonic.name));
        let uses = |line: &&str| {
            let code = line.split(';').next().unwrap_or("");
            code.split_whitespace().any(|w| w.eq_ignore_ascii_case(mnemonic.name))
        };
        assert!(text.lines().any(|l| uses(&l)), "{}", path.display());
    }
}

#[test]
fn programs() {
    run_all("programs", 30);
}

#[test]
fn random_structures() {
    run_all("random", 8);
}

#[test]
fn traps() {
    for (path, text) in files("traps") {
        let what = path.file_name().unwrap().to_string_lossy().into_owned();
        let expected = Expected::of(&text);
        let (kind, line) = expected.trap.clone().unwrap_or_else(|| panic!("{what} says no trap"));
        let faults = TRAPS.iter().find(|(name, _)| *name == kind).unwrap_or_else(|| panic!("{what}: {kind}")).1;
        let module = read(&path, &text, &expected);
        let program = Program::new(module, true).unwrap_or_else(|e| panic!("{what}: {e}"));
        for singly in [false, true] {
            let (mut machine, _) = machine(&program, &expected);
            let mut outcome = go(&mut machine, Direction::Forward, singly);
            if expected.has("--reverse") {
                assert_eq!(outcome, Outcome::Finished, "{what}");
                outcome = go(&mut machine, Direction::Backward, singly);
            }
            let Outcome::Trap(trap) = outcome else { panic!("{what}: {outcome:?}") };
            assert!(faults.contains(&trap.fault), "{what}: {:?}", trap.fault);
            // Of a branch that leads nowhere, where it leads is told, too, if there is anything.
            let at = trap.other.map_or(trap.at, |(at, _)| at);
            let found = program.module().loc(at as usize).map(|(_, loc)| loc.line);
            assert_eq!(found, Some(line), "{what}: {trap:?}");
            // Nothing is lost: what had run can be undone, singly or not.
            let before = held(&machine);
            assert_eq!(machine.run(Some(STEPS)), Outcome::Trap(trap), "{what}: it stops there again");
            assert_eq!(held(&machine), before, "{what}");
        }
    }
}

#[test]
fn errors() {
    for (path, text) in files("errors") {
        let what = path.file_name().unwrap().to_string_lossy().into_owned();
        let expected = Expected::of(&text);
        let (kind, line) = expected.error.clone().unwrap_or_else(|| panic!("{what} says no error"));
        let code = ERRORS.iter().find(|(name, _)| *name == kind).unwrap_or_else(|| panic!("{what}: {kind}")).1;
        let assembly = pisa::read(&what, &text, &expected.reading());
        assert!(assembly.module.is_none(), "{what} is read");
        let found: Vec<(&str, Option<u32>)> = assembly
            .diagnostics
            .iter()
            .map(|d| {
                let start = d.primary.as_ref().map(|l| l.place.span.start);
                (d.code, start.map(|s| text[..s].matches('\n').count() as u32 + 1))
            })
            .collect();
        assert_eq!(found.first(), Some(&(code, Some(line))), "{what}: {found:?}");
        assert!(assembly.diagnostics.iter().all(|d| d.help.is_some()), "{what}: errors say what to do");
    }
}

/// Mistakes of beginners: `; told: P0333 at line 6: text` is what is told where, and what its help contains, in order.
#[test]
fn mistakes_are_told_with_help() {
    let files = files("mistakes");
    assert!(files.len() >= 8, "only {} mistakes", files.len());
    for (path, text) in files {
        let what = path.file_name().unwrap().to_string_lossy().into_owned();
        let assembly = pisa::read(&what, &text, &Options::default());
        let line_of = |at: usize| text[..at].matches('\n').count() as u32 + 1;
        let mut told: Vec<(&str, u32, String)> = assembly
            .diagnostics
            .iter()
            .map(|d| {
                let line = d.primary.as_ref().map_or(0, |l| line_of(l.place.span.start));
                (d.code, line, d.help.clone().unwrap_or_default())
            })
            .collect();
        if let Some(module) = assembly.module {
            let program = Program::new(module, true).unwrap_or_else(|e| panic!("{what}: {e}"));
            let (mut machine, _) = machine(&program, &Expected::default());
            if let Outcome::Trap(trap) = machine.run(Some(STEPS)) {
                let line = program.module().loc(trap.at as usize).map_or(0, |(_, loc)| loc.line);
                told.push((trap.fault.code(), line, trap.fault.help().to_string()));
            }
        }
        told.sort_by_key(|(_, line, _)| *line);
        let wanted: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("; told: ")).collect();
        assert_eq!(told.len(), wanted.len(), "{what}: {told:?}");
        for ((code, line, help), wanted) in told.iter().zip(wanted) {
            let (place, text) = wanted.split_once(": ").unwrap_or_else(|| panic!("{what}: {wanted}"));
            assert_eq!(place, format!("{code} at line {line}"), "{what}: {help}");
            assert!(help.contains(text), "{what}: {help}");
        }
    }
}

#[test]
fn every_error_and_every_trap_has_a_program() {
    let said: BTreeSet<String> = files("errors").iter().filter_map(|(_, t)| Some(Expected::of(t).error?.0)).collect();
    assert!(ERRORS.iter().all(|(name, _)| said.contains(*name)), "{said:?}");
    let tested: BTreeSet<&str> = ERRORS.iter().map(|(_, code)| *code).collect();
    // Files of more than 2^28 instructions are not kept.
    let codes: BTreeSet<&str> = pisa::codes().map(|(code, _)| code).filter(|c| *c != "P0341").collect();
    assert!(codes.iter().all(|c| tested.contains(c)), "{codes:?}");
    let said: BTreeSet<String> = files("traps").iter().filter_map(|(_, t)| Some(Expected::of(t).trap?.0)).collect();
    assert!(TRAPS.iter().all(|(name, _)| said.contains(*name)), "{said:?}");
}

/// What the checker finds, with lines.
fn checked(text: &str, options: &Options) -> Vec<(&'static str, u32)> {
    let module = pisa::read("checked.pisa", text, options).module.expect("a program");
    let line = |at: &At| match at {
        At::Inst(at) => module.loc(*at as usize).map_or(0, |(_, loc)| loc.line),
        At::Module | At::Symbol(_) => 0,
    };
    checker::check(&module).iter().map(|f| (f.code, line(&f.at))).collect()
}

#[test]
fn the_checker_tells_what_cannot_work() {
    let found = |body: &str| checked(&format!(";; pendulum pal file\n{body}"), &Options::default());
    assert_eq!(found("START\nADDI $1 1\nXOR $1 $0\nFINISH\n"), []);
    assert_eq!(found("START\nXORI $1 0\nFINISH\n"), [("P0225", 3)]);
    // Branches to an instruction, to data, out of the program.
    assert_eq!(found("START\nBEQ $1 $2 a\na: ADDI $1 1\nFINISH\n"), [("P0231", 3)]);
    assert_eq!(found("START\nBEQ $1 $2 d\nFINISH\nd: DATA 1\n"), [("P0231", 3)]);
    assert_eq!(found("START\nBNE $1 $2 1000\nFINISH\n"), [("P0231", 3)]);
    let onto_end = ";; pendulum pal file\nSTART\nBNE $1 $2 e\ne: FINISH\n";
    assert_eq!(checked(onto_end, &Options { pendvm_bugs: true, ..Options::default() }), []);
    // No end, and what lies behind the last instruction.
    assert_eq!(found("START\nADDI $1 1\n"), [("P0232", 2), ("P0233", 3)]);
    assert_eq!(found("START\nADDI $1 1\nDATA 5\nFINISH\n"), [("P0233", 3), ("P0234", 5)]);
    // What a pair leaps over, unless something else leads there.
    assert_eq!(found("START\na: BRA b\nADDI $1 1\nADDI $2 1\nb: BRA a\nFINISH\n"), [("P0234", 4)]);
    assert_eq!(found("START\na: BEQ $3 $4 b\nADDI $1 1\nb: BEQ $3 $4 a\nFINISH\n"), []);
    // What is done before `START` is not undone; branches alone are nothing to be undone.
    assert_eq!(found(".start m\nm: ADDI $3 7\nEMIT $3\nSTART\nADDI $4 2\nFINISH\n"), [("P0235", 5)]);
    assert_eq!(found("START\nADDI $1 1\nSTART\nFINISH\n"), [("P0235", 4)]);
    assert_eq!(found("a: BRA b\nADDI $9 1\nb: BRA a\nSTART\nFINISH\n"), [("P0234", 3)]);
    // Registers may lead anywhere: a routine and its call.
    assert_eq!(found("START\nBRA f\nFINISH\ntop: BRA end\nf: SWAPBR $2\nNEG $2\nADDI $3 1\nend: BRA top\n"), []);
}

#[test]
fn what_the_checker_calls_dead_is_not_run() {
    let folders = ["opcodes", "programs", "random"];
    let mut dead = 0;
    for (path, text) in folders.iter().flat_map(|folder| files(folder)) {
        let expected = Expected::of(&text);
        let module = read(&path, &text, &expected);
        let found = checker::check(&module);
        let not_run: BTreeSet<u32> = found
            .iter()
            .filter_map(|f| match f.at {
                At::Inst(at) if f.rule == Rule::Dead => Some(at),
                At::Inst(_) | At::Module | At::Symbol(_) => None,
            })
            .collect();
        dead += not_run.len();
        let program = Program::new(module, true).unwrap();
        let (mut machine, _) = machine(&program, &expected);
        for _ in 0..200_000 {
            match machine.step() {
                Stepped::Ran(at) => assert!(!not_run.contains(&at), "{}: {at} is run", path.display()),
                Stepped::Finished | Stepped::Trap(_) => break,
            }
        }
        let is_grave = |f: &&checker::Finding| f.severity == Severity::Warning && f.rule != Rule::Dead;
        let grave: Vec<_> = found.iter().filter(is_grave).collect();
        assert!(grave.is_empty() || path.ends_with("BRA.pisa"), "{}: {grave:?}", path.display());
    }
    assert!(dead > 5, "{dead}");
}

#[test]
fn data_lies_among_the_instructions() {
    let text = ";; pendulum pal file\n START\n ADDI $1 d\n EXCH $2 $1\n SUB $1 $1\n FINISH\nd: DATA 7\n";
    let module = pisa::read("d.pisa", &text.replace("SUB $1 $1", "XORI $3 1"), &Options::default()).module.unwrap();
    assert_eq!(module.code.iter().filter(|i| i.kind.flow() == Flow::Cell).count(), 1);
    let program = Program::new(module, true).unwrap();
    let mut machine = Machine::new(&program, &Config::default()).unwrap();
    pendula::values::set(&mut machine, "d=0xFFFFFFFF").unwrap();
    pendula::values::set(&mut machine, "$0=5").unwrap();
    assert_eq!(machine.run(None), Outcome::Finished);
    let registers = machine.registers();
    assert_eq!(registers[..4].iter().map(|w| w.cast_signed()).collect::<Vec<_>>(), [5, 5, -1, 1]);
    assert_eq!(machine.memory()[5], 0);
}

#[test]
fn branches_need_no_pairs_but_landings() {
    // A branch onto another that leads elsewhere goes on by the sum of the distances, here onto the third, which ends it.
    let text = ";; pendulum pal file\n START\na: BRA b\n ADDI $1 1\nb: BRA c\n ADDI $1 2\nc: BRA a\n FINISH\n";
    let module = pisa::read("chain.pisa", text, &Options::default()).module.unwrap();
    let program = Program::new(module, true).unwrap();
    let mut machine = Machine::new(&program, &Config::default()).unwrap();
    // From a by 2 to b, which adds 2: by 4 to the end, where nothing lands.
    let Outcome::Trap(trap) = machine.run(None) else { panic!("it ends") };
    assert_eq!((trap.fault, trap.at, trap.other.map(|(at, _)| at)), (Fault::NoBranch, 3, None));
}

/// A small generator of numbers: the tests must be the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// A file with a few words exchanged, left out or put elsewhere.
fn damaged(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<Vec<String>> = text.lines().map(|l| l.split_whitespace().map(String::from).collect()).collect();
    for _ in 0..1 + random.below(4) {
        let (n, m) = (1 + random.below(lines.len() - 1), 1 + random.below(lines.len() - 1));
        let other = lines[m].get(random.below(lines[m].len())).cloned();
        let line = &mut lines[n];
        let at = random.below(line.len());
        match (random.below(6), other) {
            (0, Some(word)) => line.insert(at, word),
            (1, Some(word)) if !line.is_empty() => line[at] = word,
            (2, _) if !line.is_empty() => drop(line.remove(at)),
            (3, _) => drop(lines.remove(n)),
            (4, _) => lines.swap(n, m),
            _ if !line.is_empty() => {
                let word: String = line[at].chars().filter(|_| random.below(4) > 0).collect();
                line[at] = word;
            }
            _ => {}
        }
    }
    lines.into_iter().map(|l| l.join(" ") + "\n").collect()
}

#[test]
fn damaged_programs_are_refused_or_run() {
    let mut random = Random(7);
    let (mut refused, mut trapped, mut finished) = (0, 0, 0);
    for folder in ["opcodes", "programs"] {
        for (_, text) in files(folder) {
            for _ in 0..12 {
                let text = damaged(&text, &mut random);
                let bugs = random.below(2) == 0;
                let assembly = pisa::read("damaged.pisa", &text, &Options { pendvm_bugs: bugs, ..Default::default() });
                let Some(module) = assembly.module else {
                    assert!(!assembly.diagnostics.is_empty());
                    refused += 1;
                    continue;
                };
                let bytes = object::write(&module).expect("an object");
                assert_eq!(object::read(&bytes).as_ref(), Ok(&module), "{text}");
                let program = Program::new(module, true).unwrap_or_else(|e| panic!("{e}\n{text}"));
                let mut machine = Machine::new(&program, &Config { mem: Some(1 << 14), ..Config::default() }).unwrap();
                machine.set_input(vec![1, 2, 3], 0);
                let before = held(&machine);
                match machine.run(Some(30_000)) {
                    Outcome::Finished => {
                        finished += 1;
                        // What was run can be undone, if it began at a `START` and passed no other, and did not come back there.
                        let code = &program.module().code;
                        let entry = program.module().flags.entry;
                        let is_bound = |at: usize| code[at].kind.flow() == Flow::Run;
                        let counts = machine.counts();
                        let each = counts.modes.iter().map(|m| counts.per_instruction(m, code.len()));
                        let passed: u64 = each
                            .map(|n| n.iter().enumerate().filter(|(at, _)| is_bound(*at)).map(|(_, n)| n).sum::<u64>())
                            .sum();
                        let there = machine.direction() == Direction::Forward;
                        machine.begin(Direction::Backward);
                        if there && passed == 1 && is_bound(entry as usize) {
                            assert_eq!(machine.run(Some(100_000)), Outcome::Finished, "{text}");
                            assert_eq!(held(&machine), before, "{text}");
                        }
                    }
                    Outcome::Trap(_) => trapped += 1,
                    Outcome::Limit => {}
                    Outcome::NoCode(message) => panic!("{message}"),
                }
                assert_eq!(machine.counts().instructions(), machine.executed(), "{text}");
            }
        }
    }
    assert!(refused > 100 && trapped > 20 && finished > 200, "{refused} {trapped} {finished}");
}
