use crate::common::small::{INTS, REALS, becomes, stays};
use pendula_compiler::passes::Pass;

#[track_caller]
fn cancel(before: &str, after: &str) {
    becomes(Pass::Cancel, INTS, before, after);
}

#[test]
fn statements_that_undo_each_other_go() {
    cancel("x += id.i(y)\nx += id.i(a)\nx -= id.i(a)\nx -= id.i(y)", "");
    cancel("apply swap.i(x, y)\napply swap.i(x, y)\nbegin t check\nend t check\nx ^= id.i(y)\nx ^= id.i(y)", "");
    cancel("with \"\" { begin t\n t += id.i(a) } do { }", "");
    cancel("for i = 1 to n step 1 { x += id.i(i) }\nfor i = n to 1 step -1 { x -= id.i(i) }", "");
}

#[test]
fn what_may_trap_or_rounds_stays() {
    for body in [
        "x += id.i(y)\nx += id.i(y)",
        "x += div.i(y, a)\nx -= div.i(y, a)",
        "m[a] += id.i(1)\nm[a] -= id.i(1)",
        "assert user x lt.i y\nassert user x lt.i y",
        "for i = 1 to n step 2 { x += id.i(i) }\nfor i = n to 1 step -2 { x -= id.i(i) }",
        "begin t\nt += id.i(a)\nend t check\nbegin t check",
    ] {
        stays(Pass::Cancel, INTS, body);
    }
    stays(Pass::Cancel, REALS, "x += id.f(a)\nx -= id.f(a)");
}
