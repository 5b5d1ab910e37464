//! Runs the translations of the programs under `tests/filetests/pisa` beside the programs: on every engine a translation must leave the same
//! words in the registers that stand for PISA's, in its cells and on its tapes, and have shown the same; a run back must restore
//! everything. What is not translated is listed here, each with its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use pendula::asm::assemble::{Options as AssemblyOptions, assemble};
use pendula::asm::diagnostic::Severity;
use pendula::asm::pisa::import::{self, Imported, import};
use pendula::asm::pisa::{self, Alias};
use pendula::asm::{disasm, invert, object};
use pendula::isa::counts::Direction;
use pendula::isa::module::SymbolKind;
use pendula::isa::table::Flow;
use pendula::isa::types::Reg;
use pendula::isa::{Fault, Module};
use pendula::values::{self, Location};
use pendula::vm::{Config, Engine, Event, Machine, Outcome, Program};

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
const FAR: &[&str] = &["EXCH.pisa", "random_00.pisa", "random_05.pisa", "random_07.pisa"];

/// Programs that show something when it is undone, as PendVM does; a translation does not, and a warning says so.
const SHOWS_BACK: &[&str] = &["SHOW_bugs.pisa", "SHOW_bugs_raw.pisa", "shows_back.pisa"];

/// Instructions that a run may take.
const STEPS: u64 = 40_000_000;

fn files(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/pisa").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let one = |p: &std::path::PathBuf| {
        let text = String::from_utf8(std::fs::read(p).unwrap()).unwrap();
        (p.file_name().unwrap().to_string_lossy().into_owned(), text)
    };
    paths.iter().map(one).collect()
}

/// What a program says in a comment on a line of its own.
fn says<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|l| l.strip_prefix("; ")?.strip_prefix(key)?.strip_prefix(": "))
}

fn options(text: &str) -> import::Options {
    let given: BTreeSet<&str> = says(text, "options").unwrap_or("").split_whitespace().collect();
    let alias = if given.contains("--alias=noop") { Alias::Nothing } else { Alias::Refuse };
    let number = |key: &str| given.iter().find_map(|o| o.strip_prefix(key)?.parse().ok());
    import::Options {
        read: pisa::Options {
            pendvm_bugs: given.contains("--pendvm-bugs"),
            strict: given.contains("--strict"),
            alias,
            ..Default::default()
        },
        cells: number("--cells=").unwrap_or(1 << 21),
        below: number("--below=").unwrap_or(1 << 12),
    }
}

fn input(text: &str) -> Vec<u64> {
    says(text, "input")
        .map_or(Vec::new(), |list| list.split(',').map(|w| w.trim().parse::<i64>().unwrap().cast_unsigned()).collect())
}

/// What a run leaves.
#[derive(Clone, Debug, PartialEq)]
struct Left {
    registers: Vec<u64>,
    /// The cells that are not zero, by address; those of instructions are none.
    cells: BTreeMap<i64, u64>,
    emitted: Vec<u64>,
    shown: Vec<u64>,
    read: usize,
    /// What a run back shows.
    shown_back: Vec<u64>,
}

fn listen(machine: &mut Machine<'_>) -> Arc<Mutex<Vec<u64>>> {
    let shown = Arc::new(Mutex::new(Vec::new()));
    let out = Arc::clone(&shown);
    machine.on_event(move |event| {
        if let Event::Show(_, word) = event {
            out.lock().unwrap().push(word);
        }
    });
    shown
}

/// Runs the program as it is.
fn expected(what: &str, module: &Module, input: Vec<u64>) -> Result<Left, Fault> {
    let program = Program::new(module.clone(), true).unwrap();
    let mut machine = Machine::new(&program, &Config { mem: Some(1 << 14), ..Config::default() }).unwrap();
    machine.set_input(input, 0);
    let shown = listen(&mut machine);
    match machine.run(Some(STEPS)) {
        Outcome::Finished => {}
        Outcome::Trap(trap) => return Err(trap.fault),
        other => panic!("{what}: {other:?}"),
    }
    let memory = machine.memory().iter().enumerate().filter(|(_, w)| **w != 0).map(|(at, w)| (at as u32, *w));
    let all = memory.chain(machine.cells()).map(|(at, w)| (i64::from(at.cast_signed()), w));
    let cells = all.collect();
    let shown_forward = std::mem::take(&mut *shown.lock().unwrap());
    let mut left = Left {
        registers: machine.registers().to_vec(),
        cells,
        emitted: machine.output().to_vec(),
        shown: shown_forward,
        read: machine.words_read(),
        shown_back: Vec::new(),
    };
    machine.begin(Direction::Backward);
    assert_eq!(machine.run(Some(STEPS)), Outcome::Finished, "{what}: back");
    left.shown_back = shown.lock().unwrap().clone();
    Ok(left)
}

/// What the translation leaves, in the terms of the program.
fn left(machine: &Machine<'_>, module: &Module, imported: &Imported, options: &import::Options, shown: &[u64]) -> Left {
    let registers = imported.registers.iter().map(|r| r.map_or(0, |r| machine.registers()[r.index()])).collect();
    let code = |at: i64| {
        let inst = usize::try_from(at).ok().and_then(|at| module.code.get(at));
        inst.is_some_and(|i| i.kind.flow() != Flow::Cell)
    };
    let (zero, most) = (imported.zero as i64, i64::from(options.cells));
    let memory = machine.memory().iter().enumerate().map(|(at, w)| (at as i64 - zero, *w));
    let cells = memory.filter(|(at, w)| *w != 0 && !code(*at) && *at < most).collect();
    let (emitted, read) = (machine.output().to_vec(), machine.words_read());
    Left { registers, cells, emitted, shown: shown.to_vec(), read, shown_back: Vec::new() }
}

/// Labelled data is exported with the cells of its label, which end where the next label's begin, or instructions.
fn check_exports(what: &str, module: &Module, native: &Module, zero: u64) {
    for label in &module.symbols {
        let cells = values::find(module, &label.name).ok();
        let Some(cells) = cells.filter(|p| matches!(p.at, Location::Memory { .. })) else { continue };
        let found = native.symbols.iter().find(|s| match s.kind {
            SymbolKind::Data { len, export, .. } => export && s.value == zero + label.value && len == cells.count(),
            SymbolKind::Label | SymbolKind::Proc => false,
        });
        assert!(found.is_some(), "{what}: {} has {} cells", label.name, cells.count());
    }
}

fn engines() -> impl Iterator<Item = Engine> {
    Engine::ALL.into_iter().filter(|e| e.is_available())
}

/// Runs a translation there and back.
fn check(what: &str, module: &Module, imported: &Imported, options: &import::Options, text: &str) {
    let assembly = assemble("translation.rasm", imported.text.clone().unwrap(), &AssemblyOptions::default());
    let native = assembly.module.unwrap_or_else(|| panic!("{what}: {:?}", assembly.diagnostics));
    assert!(assembly.diagnostics.is_empty(), "{what}: {:?}", assembly.diagnostics);
    assert_eq!(object::read(&object::write(&native).unwrap()).unwrap(), native, "{what}");
    let inverse = invert::invert(&native).unwrap_or_else(|e| panic!("{what}: {e}"));
    let again = assemble("inverse.rasm", disasm::disassemble(&inverse), &AssemblyOptions::default());
    assert!(again.module.is_some(), "{what}: {:?}", again.diagnostics);
    check_exports(what, module, &native, imported.zero);
    let wanted = expected(what, module, input(text));
    let program = Program::new(native, true).unwrap_or_else(|e| panic!("{what}: {e}"));
    for engine in engines() {
        let what = format!("{what}, {}", engine.name());
        let config = Config { engine, warm_up: 0, ..Config::default() };
        let mut machine = Machine::new(&program, &config).unwrap();
        // A word of 32 bits is read as the number that it is in native code: signed.
        let signed = input(text).into_iter().map(|w| i64::from(w as i32).cast_unsigned());
        machine.set_input(signed.collect(), 0);
        let before = (machine.registers().to_vec(), machine.memory().to_vec());
        let shown = listen(&mut machine);
        let outcome = machine.run(Some(STEPS));
        let wanted = match &wanted {
            Ok(_) if FAR.contains(&what.split(',').next().unwrap()) => {
                let Outcome::Trap(trap) = outcome else { panic!("{what}: {outcome:?}") };
                assert!(matches!(trap.fault, Fault::Memory | Fault::Assert), "{what}: {trap:?}");
                continue;
            }
            Ok(wanted) => wanted,
            Err(fault) => {
                assert!(matches!(outcome, Outcome::Trap(_)), "{what}: {outcome:?} for {fault:?}");
                continue;
            }
        };
        assert_eq!(outcome, Outcome::Finished, "{what}");
        let shown_forward = std::mem::take(&mut *shown.lock().unwrap());
        let shows_back = SHOWS_BACK.contains(&what.split(',').next().unwrap());
        let shown_forward = if shows_back { wanted.shown.clone() } else { shown_forward };
        let found = left(&machine, module, imported, options, &shown_forward);
        assert_eq!(found, Left { shown_back: Vec::new(), ..wanted.clone() }, "{what}");
        let own = (0..Reg::COUNT).filter(|n| !imported.registers.iter().flatten().any(|r| r.index() == *n));
        assert!(own.clone().all(|n| machine.registers()[n] == before.0[n]), "{what}: {:?}", machine.registers());
        let behind = (imported.zero + u64::from(options.cells)) as usize;
        assert_eq!(machine.memory().get(behind..), before.1.get(behind..), "{what}: behind the cells");
        machine.begin(Direction::Backward);
        assert_eq!(machine.run(Some(STEPS)), Outcome::Finished, "{what}: back");
        assert!(shows_back || *shown.lock().unwrap() == wanted.shown_back, "{what}: shown back");
        assert!(machine.registers()[..] == before.0 && machine.memory() == before.1, "{what}: not restored");
        assert_eq!((machine.output().len(), machine.words_read()), (0, 0), "{what}: tapes");
    }
}

/// The program, and its translation.
fn translated(name: &str, text: &str) -> (Option<Module>, Imported, import::Options) {
    let options = options(text);
    (pisa::read(name, text, &options.read).module, import(name, text, &options), options)
}

fn run_all(folder: &str, least: usize) {
    let mut count = 0;
    let refused: BTreeMap<&str, &str> =
        REFUSED.iter().flat_map(|(code, names)| names.iter().map(|n| (*n, *code))).collect();
    for (name, text) in files(folder) {
        let (module, imported, options) = translated(&name, &text);
        let (errors, warnings): (Vec<_>, Vec<_>) =
            imported.diagnostics.iter().partition(|d| d.severity == Severity::Error);
        let code = errors.first().map(|d| d.code);
        assert_eq!(code, refused.get(name.as_str()).copied(), "{name}: {:?}", imported.diagnostics);
        assert_eq!(imported.text.is_none(), code.is_some(), "{name}");
        let warned: Vec<&str> = warnings.iter().map(|d| d.code).collect();
        assert_eq!(warned, if SHOWS_BACK.contains(&name.as_str()) { vec!["P0350"] } else { vec![] }, "{name}");
        if code.is_none() {
            check(&name, &module.unwrap(), &imported, &options, &text);
            count += 1;
        }
    }
    assert!(count >= least, "{folder}: {count} programs");
}

#[test]
fn opcodes() {
    run_all("opcodes", 70);
}

#[test]
fn programs() {
    run_all("programs", 34);
}

#[test]
fn random_structures() {
    run_all("random", 11);
}

#[test]
fn traps() {
    let mut trapped = 0;
    for (name, text) in files("traps") {
        let (module, imported, options) = translated(&name, &text);
        if imported.text.is_some() {
            let module = module.unwrap();
            trapped += usize::from(expected(&name, &module, input(&text)).is_err());
            check(&name, &module, &imported, &options, &text);
        }
    }
    assert!(trapped >= 8, "{trapped}");
}

/// Programs made for translations; those whose names begin with `refused_` say by which code, and where.
#[test]
fn translations() {
    let mut codes = BTreeSet::new();
    for (name, text) in files("import") {
        let (module, imported, options) = translated(&name, &text);
        let found: Vec<String> = imported
            .diagnostics
            .iter()
            .map(|d| {
                let line = d.primary.as_ref().map(|l| text[..l.place.span.start].matches('\n').count() + 1);
                line.map_or(d.code.to_string(), |line| format!("{} at line {line}", d.code))
            })
            .collect();
        let wanted: Vec<&str> = says(&text, "error").map_or(Vec::new(), |list| list.split(", ").collect());
        assert_eq!(found, wanted, "{name}: {:?}", imported.diagnostics);
        assert_eq!(name.starts_with("refused_"), imported.text.is_none(), "{name}");
        assert!(imported.diagnostics.iter().all(|d| d.help.is_some()), "{name}: errors say what to do");
        codes.extend(imported.diagnostics.iter().map(|d| d.code));
        if imported.text.is_some() {
            check(&name, &module.unwrap(), &imported, &options, &text);
        }
    }
    let all: BTreeSet<&str> = import::codes().map(|(code, _)| code).collect();
    assert_eq!(codes, all, "every code has a program");
}

#[test]
fn the_text_is_to_be_read() {
    let text = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/pisa/import/comments.pisa"),
    );
    let text = text.unwrap();
    // A mark of the encoding is no comment.
    for text in [format!("\u{feff}{text}"), text] {
        let imported = import("some/where/comments.pisa", &text, &import::Options::default());
        assert_eq!(imported.text.unwrap(), COMMENTS);
    }
}

const COMMENTS: &str = r"; from comments.pisa
; At the head of the file,
; two lines.

        .equ    CELLS, 65536            ; cells from address 0 on; links lie behind them
        .equ    CODE, 10                ; cells before this one were instructions

        .macro  exchange word, address  ; with a cell
        assert.geu \address, CODE
        assert.lt \address, CELLS
        exch    \word, [cells+\address]
        .endm

        .data
        .export d
below:  .space  65536                   ; cells with addresses below 0
cells:
        .space  10                      ; where the instructions were
d:      .word   3                       ; three
above:  .space  65525

        .text
        ; The main program.
main:   start                           ; begins here
        call    f                       ; a call
        add32   r1, 10
        exchange r4, r1                 ; d
        finish

        ; A procedure.
        ; its frame
        proc    f                       ; its entry
        ; its link
        ; what it does
        add32   r3, 7                   ; once
        ; and its end
        ret     f
";
