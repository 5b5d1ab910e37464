use crate::common::small::{INTS, REALS, becomes, stays};
use pendula_compiler::passes::Pass;

#[track_caller]
fn fold(before: &str, after: &str) {
    becomes(Pass::Fold, INTS, before, after);
}

#[test]
fn constants_are_computed() {
    fold("with \"\" { begin t check\n t += id.i(5)\n t += id.i(2) } do { x += mul.i(t, y) }", "x += mul.i(7, y)");
    fold("x += id.i(0)\ny += mul.i(a, 1)\nx += mul.i(a, -1)\nx += mul.i(a, 0)", "y += id.i(a)\nx -= id.i(a)");
    fold("x += mul.i(3, 4)\nx += div.i(1, 0)", "x += id.i(12)\nx += div.i(1, 0)");
    fold(
        "for i = 3 to 3 step 1 { m[a + i] += id.i(i) }\nfor i = 1 to 0 step 1 { x += id.i(i) }",
        "m[a + 3] += id.i(3)",
    );
    fold("if 1 lt.i 2 { x += id.i(1) } else { x += id.i(2) } post 1 lt.i 2", "x += id.i(1)");
    // What is compared afterwards stays a branch: that is what its trap is told as.
    fold("if 1 lt.i 2 { x += id.i(1) } post x gt.i n", "x += id.i(1)\nif 1 lt.i 2 {\n} post x gt.i n");
    fold("for i = 1 to n step 1 { }", "");
}

#[test]
fn addresses_are_taken_apart() {
    fold(
        "with \"\" { begin t check\n t += id.i(a)\n t += id.i(n)\n t -= id.i(1) } do { m[t] += mul.i(m[t + 3], x) }",
        "m[a + n -1] += mul.i(m[a + n + 2], x)",
    );
    fold(
        "with \"\" { begin t check\n t += id.i(n)\n t += id.i(3) } do { m[a + t] += id.i(1) }",
        "m[a + n + 3] += id.i(1)",
    );
    fold("with \"\" { begin t check\n t += id.i(n) } do { x += mul.i(t, t) }", "x += mul.i(n, n)");
    becomes(
        Pass::Fold,
        REALS,
        "with \"\" { begin u check drop\n u += id.q(b) } do { w += mul.q(u, u) }",
        "w += mul.q(b, b)",
    );
}

#[test]
fn what_may_trap_or_change_stays() {
    for body in [
        "with \"\" { begin t check\n t += id.i(x) } do { x += mul.i(t, t) }",
        "with \"\" { begin t check\n t += id.i(a)\n t += id.i(n) } do { m[t] += id.i(t) }",
        "with \"\" { begin t check\n t += id.i(a)\n t += id.i(n) } do { m[a + t] += id.i(1) }",
        "with \"\" { begin t check\n t += id.i(a)\n m[t] += id.i(1)\n t += id.i(n) } do { x += id.i(1) }",
        // It may trap.
        "with \"\" { begin t\n t += div.i(a, n) } do { x += id.i(1) }",
        // It changes from turn to turn.
        "begin t\nfor i = 1 to n step 1 { x += id.i(t)\n t += id.i(1) }\nt -= id.i(n)\nend t",
        // It need not be zero in the end.
        "with \"\" { begin t check\n t += id.i(x) } do { x += id.i(1) }",
    ] {
        stays(Pass::Fold, INTS, body);
    }
}

#[test]
fn rounding_and_negative_zero_stay() {
    // −0.0 would become +0.0.
    stays(Pass::Fold, REALS, "x += id.f(0.0)\nwith \"\" { begin t\n t += id.f(a) } do { y += mul.f(t, t) }");
    // The computation is undone with what is there then.
    stays(
        Pass::Fold,
        INTS,
        "begin t\nwith \"\" { t += id.i(2)\n y += id.i(t) } do { t += id.i(x) }\nt -= id.i(x)\nend t",
    );
}

/// A floating-point variable that is given these changes, and read after the first `n` of them.
fn float_read_after(changes: &[&str], n: usize, read: &str) -> String {
    let mut lines = vec!["begin t check drop"];
    lines.extend(&changes[..n]);
    lines.push(read);
    lines.extend(&changes[n..]);
    lines.push("end t check drop");
    lines.join("\n")
}

#[test]
fn floats_are_constant_in_both_directions() {
    let folds = |changes: &[&str], n: usize, word: &str| {
        let after = float_read_after(changes, n, &format!("x += id.f({word})"));
        becomes(Pass::Fold, REALS, &float_read_after(changes, n, "x += id.f(t)"), &after);
    };
    let keeps = |changes: &[&str], n: usize| stays(Pass::Fold, REALS, &float_read_after(changes, n, "x += id.f(t)"));
    let (add, sub) = ("t += id.f(0.5)", "t -= id.f(0.5)");
    folds(&[add, sub], 1, "0.5");
    // Both runs come from a life's end where it is zero.
    folds(&[add, sub], 2, "0.0");
    // In a run backward, rounding is left where it began as zero.
    let sums = ["t += id.f(a)", "t += mul.f(a, y)", "t -= mul.f(a, y)", "t -= id.f(a)"];
    keeps(&sums, 0);
    keeps(&sums, 2);
    keeps(&sums, 4);
    // 0.1 + 0.2 − 0.2 is not 0.1.
    let words = ["t += id.f(0.1)", "t += id.f(0.2)", "t -= id.f(0.2)", "t -= id.f(0.1)"];
    keeps(&words, 1);
    folds(&words, 2, "0.30000000000000004");
    // What a computation begins is the same until it is undone, unless it is changed in between.
    let with = |body: &str| format!("with \"\" {{\nbegin t drop\n{add}\n}} do {{\n{body}\n}}");
    becomes(Pass::Fold, REALS, &with("x += mul.f(t, a)"), "x += mul.f(0.5, a)");
    stays(Pass::Fold, REALS, &with("x += mul.f(t, a)\nt += id.f(a)\nt -= id.f(a)"));
}
