//! What the targets check of programs in Nil and Janus: compiled at any level they do the same, on every engine, and are undone.

use pendula::arguments;
use pendula_asm::{check, disasm, object};
use pendula_compiler::compile::{Compiled, Options, compile, compile_janus};
use pendula_compiler::janus::{invert, print};
use pendula_compiler::lower;
use pendula_compiler::nil::{self, sema::Argument};
use pendula_compiler::passes::{self, Switches};
use pendula_compiler::{ir, janus};
use pendula_isa::budget::Budget;
use pendula_isa::counts::Direction;
use pendula_isa::module::Module;
use pendula_isa::types::Ty;
use pendula_vm::{Config, Engine, Machine, Outcome, Program};

/// Instructions that a run without passes may execute; with passes they are seldom more.
const STEPS: u64 = 20_000;
/// Words of memory beyond the data.
const MEMORY: u64 = 1 << 12;

/// How a run ends, where that says something.
#[derive(Debug, PartialEq)]
enum Ended {
    /// With these words of data.
    Finished(Vec<u64>),
    Trap,
}

/// Runs a module one way, from these words of data or its own; `None` if it does not end within the limits.
fn run(module: &Module, engine: Engine, direction: Direction, data: Option<&[u64]>, steps: u64) -> Option<Ended> {
    let program = Program::new(module.clone(), true).ok()?;
    let mem = Some(module.data.len() as u64 + MEMORY);
    // Code is made at once, or there would be none.
    let config = Config { mem, engine, warm_up: 0, tier_up: 10, ..Config::default() };
    let mut machine = Machine::new(&program, &config).ok()?;
    if let Some(data) = data {
        machine.memory_mut()[..data.len()].copy_from_slice(data);
    }
    machine.begin(direction);
    match machine.run(Some(steps)) {
        Outcome::Finished => Some(Ended::Finished(machine.memory()[..module.data.len()].to_vec())),
        // Where the memory ends is another question than what the program does.
        Outcome::Trap(trap) if trap.fault == pendula_isa::Fault::Memory => None,
        Outcome::Trap(_) => Some(Ended::Trap),
        Outcome::Limit => None,
    }
}

/// Whether nothing of a program is a double, so that it comes back bit for bit.
fn is_exact(compiled: &Compiled) -> bool {
    let Some(program) = &compiled.program else { return false };
    let float = |ty: &Ty| *ty == Ty::F;
    !program.functions.iter().any(|f| f.vars.iter().any(|v| float(&v.ty)) || f.regions.iter().any(|r| float(&r.ty)))
}

/// What must hold of a program, given how it is compiled.
fn levels(compile: impl Fn(Switches) -> Compiled) {
    let plain = compile(Switches::level(0));
    let Some(module) = &plain.module else {
        let errors = plain.diagnostics.iter().any(|d| d.severity == pendula_asm::diagnostic::Severity::Error);
        assert!(errors, "nothing comes of it, and nothing is said");
        return;
    };
    if module.data.len() > 1 << 16 || module.code.len() > 1 << 14 {
        return;
    }
    assert_eq!(object::read(&object::write(module).expect("it can be written")).as_ref(), Ok(module));
    check::check(module);
    drop(disasm::disassemble(module));
    let first = run(module, Engine::Interpreter, Direction::Forward, None, STEPS);
    for level in [0, 1, 2] {
        let other = compile(Switches::level(level));
        let Some(module) = &other.module else { panic!("-O{level}: {:#?}", other.diagnostics) };
        for engine in [Engine::Interpreter, Engine::Jit] {
            let Some(first) = &first else { continue };
            let Some(found) = run(module, engine, Direction::Forward, None, 4 * STEPS) else { continue };
            // Sums of doubles that are taken together round in other places where that is asked for only.
            assert_eq!(&found, first, "-O{level} {engine:?}");
            let (Ended::Finished(data), true) = (&found, is_exact(&plain)) else { continue };
            let back = run(module, engine, Direction::Backward, Some(data), 8 * STEPS);
            let start = module.data.to_vec();
            assert!(back.is_none_or(|back| back == Ended::Finished(start)), "-O{level} {engine:?}: backward");
        }
    }
}

/// The arguments that the first line of a program in Nil gives, as in the file tests; nothing is read from files.
fn given(text: &str) -> Option<Vec<Argument>> {
    match text.lines().next().and_then(|l| l.strip_prefix("#args:")).map(str::trim) {
        Some(given) if !given.contains('@') => {
            arguments::parse_within(given, &Budget { words: 1 << 12, ..Budget::default() }).ok()
        }
        _ => Some(Vec::new()),
    }
}

/// The representation of a program in Nil, as text, after the passes of a level.
pub fn represented(text: &str, level: u8) -> Option<String> {
    let options = Options { arguments: given(text)?, switches: Switches::level(level), ..Options::default() };
    compile("fuzz.nil", text.to_string(), &options).program.map(|program| ir::text::print(&program))
}

/// Text in Nil. Its first line may be `#args: …`, as in the file tests.
pub fn nil(text: &str) {
    named("fuzz.nil", text);
}

/// Text of a file of Julia with functions of NiLang; the first line is the same.
pub fn nilang(text: &str) {
    named("fuzz.jl", text);
}

fn named(file: &str, text: &str) {
    let Some(arguments) = given(text) else { return };
    let options = |switches| Options { arguments: arguments.clone(), switches, ..Options::default() };
    levels(|switches| compile(file, text.to_string(), &options(switches)));
    if let Ok(formatted) = nil::fmt::format_source(text) {
        let again = nil::fmt::format_source(&formatted).expect("what was formatted is text");
        assert_eq!(again, formatted, "formatting is not stable");
    }
}

/// Text in Janus: in its first dialect if it begins so.
pub fn janus(text: &str) {
    let settings = janus::Settings { classic: text.starts_with("// classic"), ..janus::Settings::default() };
    let compile = |text: &str, switches| {
        compile_janus("fuzz.ja", text, &Options { switches, janus: settings.clone(), ..Options::default() })
    };
    levels(|switches| compile(text, switches));
    let compiled = compile(text, Switches::level(0));
    let (Some(module), Some(program)) = (&compiled.module, &compiled.janus) else { return };
    let printed = print::print(&program.tree);
    let again = compile(&printed, Switches::level(0));
    assert_eq!(again.module.map(|m| m.code), Some(module.code.clone()), "printed:\n{printed}");
    let inverse = print::print(&invert::program(&program.tree));
    let turned = compile(&inverse, Switches::level(0));
    assert!(turned.module.is_some(), "{:#?}\n{inverse}", turned.diagnostics);
}

/// Text of the representation.
pub fn representation(text: &str) {
    let Ok(program) = ir::text::parse(text) else { return };
    let printed = ir::text::print(&program);
    assert_eq!(ir::text::parse(&printed).as_ref(), Ok(&program), "{printed}");
    let mut improved = program.clone();
    passes::run(&mut improved, &Switches::level(2));
    let _ = lower::lower(&program, &[], &lower::Options::default());
}
