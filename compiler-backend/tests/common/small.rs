//! Helpers of unit tests: small programs as text, and what a pass makes of them.

use pendula_isa::Ty;

use pendula_compiler::ir::eval::{Config, Direction, run};
use pendula_compiler::ir::text::{parse, print};
use pendula_compiler::ir::{IrFunction, Program};
use pendula_compiler::passes::Pass;

/// Declarations for programs over integers.
pub(crate) const INTS: &str =
    "out x: i\nout y: i\nin a: i\nin n: i\nvar t: i\nvar u: i\nvar i: i\nvar j: i\nregion m: i";

/// Declarations for programs over real numbers.
pub(crate) const REALS: &str =
    "out x: f\nout y: f\nout w: q\nin a: f\nin b: q\nin n: i\nvar t: f\nvar u: q\nvar i: i\nregion m: f";

/// The program that a text stands for.
#[track_caller]
pub(crate) fn read(text: &str) -> Program {
    parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// A program of one function with these declarations and this body.
#[track_caller]
pub(crate) fn program(declarations: &str, body: &str) -> Program {
    read(&format!("program Q32.32\nentry main\nfun main {{\n{declarations}\n{body}\n}}"))
}

/// The entry's statements as text, without indentation.
pub(crate) fn entry_body(program: &Program) -> String {
    let mut all = program.clone();
    for f in &mut all.functions {
        f.inline = false;
    }
    let text = print(&all);
    let entry = program.entry.map_or(0, |f| f.0 as usize);
    let function = text.split("\nfun ").nth(entry + 1).unwrap_or_default();
    let is_declaration =
        |line: &&str| ["in ", "out ", "var ", "region ", "params("].iter().any(|word| line.starts_with(word));
    let lines = function.lines().skip(1).filter(|line| *line != "}").map(str::trim);
    lines.skip_while(is_declaration).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The lines of a text without indentation and empty lines.
pub(crate) fn unindented(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Runs a pass on a function with this body, and compares the statements with those expected and the results with those before.
#[track_caller]
pub(crate) fn becomes(pass: Pass, declarations: &str, before: &str, after: &str) {
    let old = program(declarations, before);
    let mut new = old.clone();
    pass.run(&mut new);
    assert_eq!(entry_body(&new), unindented(after), "{}", print(&new));
    same_results(&old, &new);
}

/// Runs a pass that is to leave a function with this body as it is.
#[track_caller]
pub(crate) fn stays(pass: Pass, declarations: &str, body: &str) {
    let old = program(declarations, body);
    let mut new = old.clone();
    pass.run(&mut new);
    assert_eq!(print(&new), print(&old));
}

/// Runs the entries of two programs on the same words, forward and then backward. Where the first does not stop, the second must
/// leave the same words.
#[track_caller]
pub(crate) fn same_results(old: &Program, new: &Program) {
    let Some(entry) = old.entry else { return };
    let function = &old.functions[entry.0 as usize];
    let config = Config { memory: 256, max_steps: 10_000, ..Config::default() };
    let mut params = arguments(function);
    let mut memory = words(function);
    for direction in [Direction::Forward, Direction::Backward] {
        let run = |p: &Program| run(p, entry, direction, params.clone(), memory.clone(), None, &config);
        let Ok(before) = run(old) else { return };
        let after = run(new).unwrap_or_else(|e| panic!("{direction:?}: {e:?}\n{}", print(new)));
        assert_eq!(before.params, after.params, "{direction:?}\n{}", print(new));
        assert_eq!(before.memory, after.memory, "{direction:?}\n{}", print(new));
        assert_eq!(before.shown, after.shown, "{direction:?}\n{}", print(new));
        (params, memory) = (before.params, before.memory);
    }
}

/// A small word of a type.
fn small(ty: Ty, n: u64) -> u64 {
    match ty {
        Ty::Int => n,
        Ty::Q => n << 31,
        Ty::L => 0,
        Ty::F => (n as f64 / 4.0).to_bits(),
    }
}

fn arguments(function: &IrFunction) -> Vec<u64> {
    (3..).zip(&function.params).map(|(n, param)| small(function.ty(param.var), n)).collect()
}

fn words(function: &IrFunction) -> Vec<u64> {
    let ty = function.regions.first().map_or(Ty::Int, |region| region.ty);
    (1..=64).map(|n| small(ty, n)).collect()
}
