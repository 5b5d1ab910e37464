use crate::common::small::{INTS, entry_body, program, same_results, unindented};
use pendula_compiler::ir::eval::{Config, Direction, run};
use pendula_compiler::ir::invert::*;

#[track_caller]
fn inverse(before: &str, after: &str) {
    let old = program(INTS, before);
    let mut inverted = old.clone();
    inverted.functions[0].body = block(&old.functions[0].body);
    assert_eq!(entry_body(&inverted), unindented(after));
    let mut twice = inverted;
    twice.functions[0].body = block(&twice.functions[0].body);
    assert_eq!(twice, old);
}

#[test]
fn the_last_statement_is_undone_first() {
    inverse("x += id.i(a)\ny ^= id.i(x)\nx -= id.i(3)", "x += id.i(3)\ny ^= id.i(x)\nx -= id.i(a)");
}

#[test]
fn rows_without_a_partner_are_their_own_inverse() {
    inverse(
        "apply inc.i(x)\napply swap.i(x, y)\napply neg.i(y)\napply ~rol.i(x, 3)",
        "apply rol.i(x, 3)\napply neg.i(y)\napply swap.i(x, y)\napply ~inc.i(x)",
    );
}

#[test]
fn lives_are_turned_around() {
    inverse("begin t check\nt += id.i(a)\nt -= id.i(a)\nend t", "begin t\nt += id.i(a)\nt -= id.i(a)\nend t check");
}

#[test]
fn conditions_change_places() {
    inverse(
        "if a lt.i n { x += id.i(1) } else { y += id.i(1) } post x gt.i y",
        "if x gt.i y { x -= id.i(1) } else { y -= id.i(1) } post a lt.i n"
            .replace("{ ", "{\n")
            .replace(" }", "\n}")
            .as_str(),
    );
}

#[test]
fn a_loop_counts_the_other_way() {
    inverse(
        "for i = 1 to n step 2 { x += id.i(i)\ny += id.i(x) }",
        "for i = n to 1 step -2 {\ny -= id.i(x)\nx -= id.i(i)\n}",
    );
}

#[test]
fn only_the_body_of_a_computation_is_inverted() {
    inverse(
        "with \"\" { begin t\nt += id.i(a) } do { x += id.i(t) }",
        "with \"\" {\nbegin t\nt += id.i(a)\n} do {\nx -= id.i(t)\n}",
    );
}

#[test]
fn the_evaluator_backward_does_what_the_inverse_does_forward() {
    let old = program(
        INTS,
        "for i = 1 to n step 1 { x += mul.i(i, a)\nif x gt.i 20 { y += id.i(i) } post x gt.i 20 }\napply swap.i(x, y)",
    );
    let mut inverted = old.clone();
    inverted.functions[0].body = block(&old.functions[0].body);
    let entry = old.entry.unwrap();
    let go = |p, direction, words| run(p, entry, direction, words, vec![], None, &Config::default()).unwrap().params;
    let words = vec![1, 2, 3, 4];
    let there = go(&old, Direction::Forward, words.clone());
    assert_eq!(there, [2 + 4, 1 + 3 + 6 + 9 + 12, 3, 4]);
    assert_eq!(go(&inverted, Direction::Forward, there.clone()), words);
    assert_eq!(go(&old, Direction::Backward, there), words);
    let mut twice = inverted.clone();
    twice.functions[0].body = block(&inverted.functions[0].body);
    same_results(&old, &twice);
}
