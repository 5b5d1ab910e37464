use std::collections::BTreeSet;

use pendula_isa::text::{ModuleNames, display};

use crate::common::small::program;
use pendula_compiler::ir::Program;
use pendula_compiler::lower::*;

/// The instructions of the first function between `proc` and `ret`.
fn code(program: &Program, options: &Options) -> Vec<String> {
    let library = Program { entry: None, ..program.clone() };
    let module = lower(&library, &[], options).unwrap_or_else(|e| panic!("{e}"));
    let texts: Vec<String> = (0..)
        .zip(&module.code)
        .map(|(at, inst)| display(inst, at, &ModuleNames(&module)).split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let end = texts.iter().position(|text| text.starts_with("ret")).unwrap_or(texts.len());
    texts[1..end].to_vec()
}

/// What a body becomes over `x` in r1, `y` in r2, `a` in r3 and `n` in r4.
#[track_caller]
fn becomes(body: &str, instructions: &[&str]) {
    let p = program("out x: i\nout y: i\nin a: i\nin n: i\nvar t: i\nvar i: i\nregion m: i", body);
    assert_eq!(code(&p, &Options::default()), instructions);
}

#[track_caller]
fn fails(body: &str, message: &str) {
    let p = program("out x: i\nin a: i\nvar t: i", body);
    assert_eq!(lower(&Program { entry: None, ..p }, &[], &Options::default()).unwrap_err().to_string(), message);
}

#[test]
fn an_update_is_one_instruction() {
    becomes("x += id.i(a)\ny -= mul.i(a, n)", &["add r1, r3", "submul r2, r3, r4"]);
}

#[test]
fn a_zero_is_not_added() {
    becomes("x += id.i(0)", &[]);
}

#[test]
fn what_cannot_be_done_fails_at_run_time() {
    // A word is added to itself: the statement becomes an assertion that does not hold.
    becomes("x += id.i(x)", &["assert.ne r0, 0"]);
}

#[test]
fn an_unused_branch_is_one_pair() {
    becomes("if a gt.i 3 { x += id.i(5) } post a gt.i 3", &["jmp.le r3, 3, @3", "add r1, 5", "from.le r3, 3, @1"]);
    // Nothing is done either way.
    becomes("if a gt.i 3 { } post a gt.i 3", &[]);
}

#[test]
fn two_branches_are_two_pairs() {
    becomes(
        "if a gt.i 3 { x += id.i(5) } else { y += id.i(7) } post a gt.i 3",
        &["jmp.le r3, 3, @4", "add r1, 5", "jmp @6", "from @1", "add r2, 7", "from.gt r3, 3, @3"],
    );
}

#[test]
fn a_while_loop_has_a_jump_a_turn() {
    becomes(
        "while x lt.i n { x += id.i(1) } post x ne.i 0",
        &["jmp.ge r1, r4, @5", "from.ne r1, 0, @4", "inc r1", "jmp.lt r1, r4, @2", "from.eq r1, 0, @1"],
    );
}

#[test]
fn a_computation_is_written_forward_and_backward() {
    becomes(
        "with \"part\" { begin t\nt += mul.i(a, n) } do { x += id.i(t) }",
        &["addmul r5, r3, r4", "add r1, r5", "submul r5, r3, r4"],
    );
}

#[test]
fn a_check_is_an_instruction() {
    becomes(
        "begin t check\nt += id.i(a)\nt -= id.i(a)\nend t check",
        &["zero r5", "add r5, r3", "sub r5, r3", "zero r5"],
    );
}

#[test]
fn a_word_of_memory_is_brought_into_a_register_and_back() {
    // A product accumulates into a register only.
    becomes("m[a] += mul.i(x, n)", &["addmul [r3], r1, r4"]);
}

#[test]
fn computations_are_erased_where_that_is_asked_for() {
    let body = "with \"part\" { begin t\nt += mul.i(a, n) } do { x += id.i(t) }";
    let p = program("out x: i\nin a: i\nin n: i\nvar t: i", body);
    let named = |name: &str| Options { erase: Erase::Some(BTreeSet::from([name.to_string()])) };
    assert_eq!(code(&p, &named("part")), ["addmul r4, r2, r3", "add r1, r4", "erase r4"]);
    assert_eq!(code(&p, &named("other")), ["addmul r4, r2, r3", "add r1, r4", "submul r4, r2, r3"]);
}

#[test]
fn what_is_not_zero_before_is_not_erased() {
    let body = "with \"part\" { y += id.i(a) } do { x += id.i(y) }";
    let p = program("out x: i\nout y: i\nin a: i", body);
    assert_eq!(code(&p, &Options { erase: Erase::Always }), ["add r2, r3", "add r1, r2", "sub r2, r3"]);
}

#[test]
fn malformed_programs_are_refused() {
    fails("begin t", "malformed code in `main`, line 0: the variable `t` does not end");
    fails(
        "x += id.i(t)",
        "malformed code in `main`, line 0: the variable `t` is used before it begins or after it ends",
    );
    fails("end a", "malformed code in `main`, line 0: a parameter ends");
    fails("begin a", "malformed code in `main`, line 0: a variable begins that has begun before");
    fails(
        "if x eq.i 0 { begin t } post x eq.i 0\nend t",
        "malformed code in `main`, line 0: a branch or a turn of a loop does not leave the variables that it finds",
    );
}
