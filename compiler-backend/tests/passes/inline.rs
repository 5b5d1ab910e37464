use crate::common::small::{entry_body, read, same_results};
use pendula_compiler::ir::text::{parse, print};
use pendula_compiler::passes::Pass;

/// The entry of a program in which `f` has this body and the entry makes this call, after the pass.
#[track_caller]
fn inlined(f: &str, call: &str) -> String {
    let old = read(&format!(
        "program Q32.32\nentry main\nfun f {{\nout y: i\nin p: i -> p\nin k: i\nvar t: i\nregion p: i\n{f}\n}}\n\
             fun main {{\nout x: i\nout z: i\nin a: i -> m\nin n: i\nregion m: i\nregion o: i\n{call}\n}}"
    ));
    let mut new = old.clone();
    Pass::Inline.run(&mut new);
    assert!(parse(&print(&new)).as_ref() == Ok(&new));
    same_results(&old, &new);
    entry_body(&new)
}

#[test]
fn a_small_body_replaces_a_call() {
    assert_eq!(inlined("y += mul.i(k, 3)", "call f(x, a, n)\ncall f(z, a, 5)"), "x += mul.i(n, 3)\nz += mul.i(5, 3)");
    assert_eq!(inlined("y += mul.i(k, 3)\ny += id.i(1)", "uncall f(x, a, n)"), "x -= id.i(1)\nx -= mul.i(n, 3)");
}

#[test]
fn arguments_in_memory() {
    // Words of memory, and pointers: the region is the caller's own.
    assert_eq!(
        inlined("y += id.i(p[p + k])", "m[a] += id.i(n)\ncall f(o[n], a, n)"),
        "m[a] += id.i(n)\no[n] += id.i(m[a + n])"
    );
    let constant = inlined("y += id.i(p[p + k])\ny += id.i(p[p + 1])", "call f(x, a, 2)");
    assert_eq!(constant, "x += id.i(m[a + 2])\nx += id.i(m[a + 1])");
    // One that is used often is taken out for the time of the call.
    let lent = inlined("y += id.i(k)\ny += id.i(2)\ny += id.i(3)", "call f(o[n], a, n)");
    assert_eq!(
        lent,
        "begin y\napply swap.i(y, o[n])\ny += id.i(n)\ny += id.i(2)\ny += id.i(3)\napply swap.i(y, o[n])\nend y"
    );
}

#[test]
fn a_constant_that_is_changed_gets_a_variable() {
    // What is changed for a time gets a variable of its own, if it is a constant.
    let copied = inlined("with \"\" { k += id.i(1) } do { y += id.i(k) }", "call f(x, a, 7)");
    assert_eq!(
        copied,
        "with \"argument\" {\nbegin k check drop\nk ^= id.i(7)\n} do {\nwith \"\" {\nk += id.i(1)\n} do {\nx += id.i(k)\n}\n}"
    );
}

#[test]
fn what_cannot_be_inlined_stays_a_call() {
    // What calls itself, shows something, or is large, stays.
    for f in ["call f(y, p, k)", "show.i y", &"y += id.i(k)\n".repeat(300)] {
        assert!(inlined(f, "call f(x, a, n)").starts_with("call"), "{f}");
    }
    // A pointer of which nothing is known.
    assert!(inlined("y += id.i(p[p + k])", "o[n] += id.i(1)\ncall f(x, n, n)").contains("call"));
    // An address that is changed meanwhile.
    assert!(inlined("y += id.i(k)", "call f(x, a, m[x])").starts_with("call"));
}
