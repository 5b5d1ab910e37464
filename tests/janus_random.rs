//! Random programs in Janus. What they compute does not depend on the optimisation level or the engine, whatever is in branches that are
//! not taken. Their inverses, written as text, are programs that run from the results to the start, and whose inverses are the programs.

use crate::common::expectations::{Expectations, Language};
use crate::common::janus as generator;

use std::fs;
use std::path::Path;

use pendula::asm::diagnostic::Severity;
use pendula::compiler::compile::{Compiled, Options, compile_janus};
use pendula::compiler::janus::{Settings, invert, print};
use pendula::compiler::passes::Switches;
use pendula::isa::counts::Direction;
use pendula::isa::module::SymbolKind;
use pendula::isa::{Inst, Module};
use pendula::vm::{Config, Engine, Machine, Outcome, Program};
use pendula_isa::sample;

use generator::{EXTREME_VALUES, FAULTY_STATEMENTS, PRELUDE, generate};

const STEPS: u64 = 1_000_000;

fn compile(text: &str, level: u8, settings: &Settings) -> Compiled {
    let options = Options { switches: Switches::level(level), janus: settings.clone(), ..Options::default() };
    let compiled = compile_janus("random.ja", text, &options);
    let refused = compiled.diagnostics.iter().find(|d| d.code == "P0522" || d.message.contains("internal error"));
    assert!(refused.is_none(), "-O{level}: {refused:?}\n{text}");
    compiled
}

fn errors(compiled: &Compiled) -> Vec<String> {
    let errors = compiled.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    errors.map(|d| format!("{} {}", d.code, d.message)).collect()
}

/// The number of words of data.
fn words(module: &Module) -> usize {
    let end = |s: &pendula::isa::module::Symbol| match s.kind {
        SymbolKind::Data { len, .. } => (s.value + len) as usize,
        SymbolKind::Label | SymbolKind::Proc => 0,
    };
    module.symbols.iter().map(end).max().unwrap_or(0)
}

/// The result of a run: the data, or the error and its place.
fn run(module: &Module, engine: Engine, direction: Direction, from: Option<&[u64]>) -> Result<Vec<u64>, String> {
    let program = Program::new(module.clone(), true).expect("verified code");
    let mut m = Machine::new(&program, &Config { engine, ..Config::default() }).expect("a machine");
    let words = words(module);
    if let Some(from) = from {
        m.memory_mut()[..words].copy_from_slice(from);
    }
    m.begin(direction);
    match m.run(Some(STEPS)) {
        Outcome::Finished => Ok(m.memory()[..words].to_vec()),
        Outcome::Trap(trap) => Err(trap.fault.code().to_string()),
        Outcome::Limit => Err("no end".to_string()),
    }
}

/// The data before a run and after it.
type Data = (Vec<u64>, Vec<u64>);

/// Checks that a program has the same result at all levels. Gives the result, or `None` if the text is not a program.
fn same_at_all_levels(text: &str) -> Option<Result<Data, String>> {
    let settings = Settings::default();
    let levels: Vec<Compiled> = (0..=2).map(|level| compile(text, level, &settings)).collect();
    for compiled in &levels {
        assert_eq!(errors(compiled), errors(&levels[0]), "{text}");
    }
    let modules: Vec<&Module> = levels.iter().filter_map(|c| c.module.as_ref()).collect();
    let first = modules.first()?;
    assert_eq!(modules.len(), 3, "{text}");
    let ends = run(first, Engine::Interpreter, Direction::Forward, None);
    for (level, module) in modules.iter().enumerate() {
        let found = run(module, Engine::Jit, Direction::Forward, None);
        assert_eq!(found.is_ok(), ends.is_ok(), "-O{level}: {found:?} {ends:?}\n{text}");
        if let (Ok(found), Ok(ends)) = (&found, &ends) {
            assert_eq!(found, ends, "-O{level}\n{text}");
            let start = run(module, Engine::Jit, Direction::Backward, Some(found));
            assert_eq!(start, run(first, Engine::Interpreter, Direction::Backward, Some(ends)), "-O{level}\n{text}");
        }
    }
    let start: Vec<u64> = first.data.iter().take(words(first)).collect();
    Some(ends.map(|ends| (start, ends)))
}

/// The inverse of a program that is one, as text, which must be a program.
fn inverse(compiled: &Compiled, text: &str, settings: &Settings) -> (String, Compiled) {
    let tree = &compiled.janus.as_ref().expect("a program in Janus").tree;
    let inverse = print::print(&invert::program(tree));
    let turned = compile(&inverse, 0, settings);
    assert!(turned.module.is_some(), "{:?}\n{text}\n{inverse}", errors(&turned));
    (inverse, turned)
}

/// Code, but for where it was written.
fn code(compiled: &Compiled) -> Vec<Inst> {
    compiled.module.as_ref().map(|m| m.code.clone()).unwrap_or_default()
}

/// Checks that the inverse of a program is a program, whose inverse is the program again. Gives the inverse.
fn turns_around(text: &str, settings: &Settings) -> Option<Compiled> {
    let compiled = compile(text, 0, settings);
    compiled.module.as_ref()?;
    let (there, turned) = inverse(&compiled, text, settings);
    let (back, again) = inverse(&turned, &there, settings);
    assert_eq!(code(&again), code(&compiled), "{text}\n{back}");
    let (third, _) = inverse(&again, &back, settings);
    let (fourth, _) = inverse(&turned, &third, settings);
    assert_eq!(back, fourth, "{text}");
    Some(turned)
}

#[test]
fn random_programs_come_to_the_same_at_all_levels_and_turn_around() {
    let (mut ended, mut trapped, mut refused) = (0, 0, 0);
    // More of them, on demand.
    let from: u64 = std::env::var("PENDULA_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    for seed in from..from + if sample::all() { 250 } else { 100 } {
        let text = generate(seed);
        let Some(results) = same_at_all_levels(&text) else {
            refused += 1;
            continue;
        };
        let turned = turns_around(&text, &Settings::default()).expect("a program");
        let Ok((start, ends)) = results else {
            trapped += 1;
            continue;
        };
        ended += 1;
        let module = turned.module.as_ref().expect("a program");
        let found = run(module, Engine::Interpreter, Direction::Forward, Some(&ends));
        assert_eq!(found.as_ref(), Ok(&start), "seed {seed}, the inverse\n{text}");
    }
    assert!(ended > 50 && refused < 50, "{ended} ended, {trapped} trapped, {refused} were refused");
}

#[test]
fn what_is_wrong_in_a_branch_that_is_not_taken_is_not_found_out() {
    let mut programs = 0;
    for (n, planted) in FAULTY_STATEMENTS.iter().enumerate() {
        for (m, wild) in EXTREME_VALUES.iter().enumerate() {
            if !sample::all() && (n + m) % 8 > 0 {
                continue;
            }
            for condition in ["x = 77", "1 = 2"] {
                let wrong = format!("local int g = {wild} {planted} delocal int g = {wild}");
                let text = format!("{PRELUDE}    if {condition} then {wrong} fi {condition}\n    y += 1\n");
                if let Some(results) = same_at_all_levels(&text) {
                    assert!(results.is_ok(), "{results:?}\n{text}");
                    programs += 1;
                }
            }
        }
    }
    assert!(programs > sample::share(1000), "only {programs} are programs");
}

#[test]
fn programs_of_files_turn_around() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut programs = 0;
    for folder in
        ["tests/filetests/janus/run", "tests/filetests/janus/trap", "tests/filetests/janus/programs", "examples"]
    {
        let entries = fs::read_dir(root.join(folder)).expect("a folder");
        for path in entries.map(|e| e.expect("an entry").path()) {
            let text = fs::read_to_string(&path).unwrap_or_default();
            if Language::of(&path) != Some(Language::Janus) {
                continue;
            }
            let expected = Expectations::read(Language::Janus, &text).expect("expectations");
            if expected.has("classic") {
                continue;
            }
            let int32 = expected.number("int").expect("a number") == Some(32);
            let settings = Settings { int32, ..Settings::default() };
            programs += usize::from(turns_around(&text, &settings).is_some());
        }
    }
    assert!(programs > 120, "only {programs} are programs");
}
