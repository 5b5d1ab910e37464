use crate::common::small::{INTS, REALS, becomes, program, read, same_results, stays};
use pendula_compiler::ir::text::print;
use pendula_compiler::passes::Pass;

#[test]
fn a_check_goes_where_a_computation_is_undone() {
    let with = |c: &str, b: &str| format!("with \"\" {{ begin t {c}\n t += id.i(y) }} do {{ {b} }}");
    let after = |c: &str, b: &str| format!("with \"\" {{\nbegin t{c}\nt += id.i(y)\n}} do {{\n{b}\n}}");
    becomes(Pass::Checks, INTS, &with("check drop", "x += id.i(t)"), &after("", "x += id.i(t)"));
    // What it is made of changes in between.
    becomes(Pass::Checks, INTS, &with("check drop", "y += id.i(1)"), &after(" check", "y += id.i(1)"));
    becomes(Pass::Checks, INTS, &with("check drop", "t += id.i(1)"), &after(" check", "t += id.i(1)"));
    // One number added to zero, and two.
    let float = |b: &str| format!("with \"\" {{ begin t check drop\n t += mul.f(x, a)\n {b} }} do {{ y += id.f(t) }}");
    let float_after =
        |c: &str, b: &str| format!("with \"\" {{\nbegin t{c} drop\nt += mul.f(x, a)\n{b}\n}} do {{\ny += id.f(t)\n}}");
    becomes(Pass::Checks, REALS, &float(""), &float_after("", ""));
    becomes(Pass::Checks, REALS, &float("t += id.f(a)"), &float_after(" check", "t += id.f(a)"));
    // Memory that is written in between.
    let load = |b: &str| format!("with \"\" {{ begin t check\n t += id.f(m[n]) }} do {{ {b} }}");
    let load_after = |c: &str, b: &str| format!("with \"\" {{\nbegin t{c}\nt += id.f(m[n])\n}} do {{\n{b}\n}}");
    becomes(Pass::Checks, REALS, &load("x += id.f(t)"), &load_after("", "x += id.f(t)"));
    becomes(Pass::Checks, REALS, &load("m[n + 1] += id.f(t)"), &load_after(" check", "m[n + 1] += id.f(t)"));
    // A difference that an exchange carries on.
    stays(Pass::Checks, INTS, "with \"\" { begin t check\n t += id.i(x)\n apply swap.i(x, y) } do { y += id.i(1) }");
}

#[test]
fn a_check_goes_where_statements_are_undone_one_by_one() {
    let lives = |c: &str, middle: &str| {
        format!("begin t{c}\nt += id.i(y)\nt += mul.i(y, a)\n{middle}\nt -= mul.i(y, a)\nt -= id.i(y)\nend t{c}")
    };
    becomes(Pass::Checks, INTS, &lives(" check", "x += id.i(t)"), &lives("", "x += id.i(t)"));
    becomes(
        Pass::Checks,
        INTS,
        &lives(" check", "y += id.i(1)\ny -= id.i(1)"),
        &lives("", "y += id.i(1)\ny -= id.i(1)"),
    );
    stays(Pass::Checks, INTS, &lives(" check", "y += id.i(1)"));
    stays(Pass::Checks, INTS, &lives(" check", "t += id.i(1)"));
    for change in ["apply inc.i(y)", "if a lt.i n { y += id.i(1) } post a lt.i n"] {
        stays(Pass::Checks, INTS, &lives(" check", change));
    }
    // Undone out of order, it is zero nevertheless; that is not seen.
    stays(Pass::Checks, INTS, "begin t check\nt += id.i(y)\nt += id.i(a)\nt -= id.i(y)\nt -= id.i(a)\nend t check");
}

#[test]
fn drops_go_where_no_gradient_is_left() {
    // The entry is run backward with gradients: a life ends there where it begins here.
    becomes(
        Pass::Checks,
        REALS,
        "begin t check drop\nt += id.f(a)\nx += id.f(t)\nt -= id.f(a)\nend t check drop",
        "begin t drop\nt += id.f(a)\nx += id.f(t)\nt -= id.f(a)\nend t",
    );
    // A function that is also uncalled keeps both.
    let text = "program Q32.32\nentry main\nfun f {\nout x: q\nin a: q\nvar t: q\n\
        begin t drop\nt += id.q(a)\nx += mul.q(t, t)\nt -= id.q(a)\nend t drop\n}\n\
        fun main {\nout x: q\nin a: q\ncall f(x, a)\nCALL f(x, a)\n}";
    for (call, left) in [("call", 1), ("uncall", 2)] {
        let mut p = read(&text.replace("CALL", call));
        Pass::Checks.run(&mut p);
        assert_eq!(print(&p).matches(" drop").count(), left, "{call}");
    }
}

/// How many assertions are left of these statements.
#[track_caller]
fn left(before: &str, left: usize) {
    let old = program(INTS, before);
    let mut new = old.clone();
    Pass::Checks.run(&mut new);
    assert_eq!(print(&new).matches("assert").count(), left, "{}", print(&new));
    same_results(&old, &new);
}

fn loop_of(range: &str, inner: &str) -> String {
    format!("for i = {range} {{ {inner} x += id.i(i) }}")
}

#[test]
fn bounds_of_a_loop_hold_in_it() {
    left(&loop_of("1 to n step 1", "assert bounds i ge.i 1\nassert bounds i le.i n"), 0);
    left(&loop_of("1 to n step 1", "assert bounds i ge.i 2\nassert bounds i lt.i n"), 2);
    left(&loop_of("n to 1 step -1", "assert bounds i ge.i 1\nassert bounds i le.i n\nassert bounds i ne.i 0"), 0);
    left(&loop_of("0 to 7 step 1", "assert bounds i ltu.i 8\nassert bounds i ltu.i 7"), 1);
    // An index from 1 against a length, as one comparison.
    let index = "with \"\" { begin t\nt += id.i(i)\nt -= id.i(1)\nassert bounds t ltu.i n } do { }";
    left(&loop_of("1 to n step 1", index), 0);
    left(&loop_of("0 to n step 1", index), 1);
}

#[test]
fn a_bound_that_may_have_wrapped_is_none() {
    let less = |range: &str| {
        format!(
            "with \"\" {{ begin t\nt += id.i(n)\nt -= id.i(1) }} do {{ {} }}",
            loop_of(range, "assert bounds i lt.i n")
        )
    };
    left(&less("1 to t step 1"), 1);
    left(&format!("assert user n ge.i 1\n{}", less("1 to t step 1")), 1);
    left(&format!("assert user n ge.i 1\n{}", less("0 to n step 1")), 2);
    // A word that may be as small as it gets, less one, is not below itself.
    left("with \"\" { begin t\nt += id.i(n)\nt -= id.i(1) } do { assert user t lt.i n }", 1);
}

#[test]
fn an_assertion_holds_until_something_changes() {
    left("assert user x lt.i y\nassert user x lt.i y\nassert user y gt.i x\nassert user x ne.i y", 1);
    left("assert user x lt.i y\nx += id.i(1)\nassert user x lt.i y", 2);
    left("assert user a lt.i n\nfor i = 0 to 9 step 1 { assert user a le.i n\nx += id.i(1) }\nassert user a lt.i n", 1);
    left("assert user x lt.i n\nfor i = 0 to 9 step 1 { assert user x lt.i n\nx += id.i(1) }", 2);
}

#[test]
fn what_holds_in_a_branch_does_not_hold_after_it() {
    left("if a lt.i n { assert user a lt.i n\nx += id.i(1) } post a lt.i n\nassert user a lt.i n", 1);
    left("if a lt.i n { assert user a le.i 3 } post a lt.i n\nassert user a le.i 3", 2);
    left("assert user 1 lt.i 2\nassert user 2 lt.i 1", 1);
}

#[test]
fn a_branch_that_is_decided_goes() {
    becomes(
        Pass::Checks,
        INTS,
        "for i = 1 to n step 1 { if 1 le.i n { x += id.i(i) } else { y += id.i(1) } post 1 le.i n }",
        "for i = 1 to n step 1 {\nx += id.i(i)\n}",
    );
    stays(Pass::Checks, INTS, "for i = 0 to n step 1 { if 1 le.i n { x += id.i(i) } post 1 le.i n }");
    becomes(Pass::Checks, INTS, "if 1 lt.i 0 { x += id.i(1) } else { y += id.i(1) } post 1 lt.i 0", "y += id.i(1)");
}
