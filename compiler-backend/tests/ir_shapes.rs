//! What the passes make of small programs.

use pendula_compiler::ir::eval::{Config, Direction, run};
use pendula_compiler::ir::text::{parse, print};
use pendula_compiler::ir::*;
use pendula_compiler::passes::{self, Pass, Switches};

/// A program of one function with this body, or what follows it.
fn program(declarations: &str, body: &str) -> Program {
    let text = format!("program Q32.32\nentry main\nfun main {{\n{declarations}\n{body}\n}}");
    parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The entry's statements.
fn body(program: &Program) -> String {
    let mut alone = program.clone();
    let f = alone.functions.swap_remove(program.entry.unwrap().0 as usize);
    let text = print(&Program { functions: vec![f], entry: None, ..Program::default() });
    let line = |l: &&str| !["program", "fun", "}", ""].contains(l) && !l.starts_with("fun ");
    let inner = text.lines().filter(line).map(str::trim);
    let is_declaration = |l: &&str| ["in ", "out ", "var ", "region "].iter().any(|d| l.starts_with(d));
    inner.filter(|l| !is_declaration(l) && !l.starts_with("program")).collect::<Vec<_>>().join("\n")
}

/// What a pass makes of a body.
#[track_caller]
fn becomes(pass: Pass, declarations: &str, before: &str, after: &str) {
    let mut p = program(declarations, before);
    pass.run(&mut p);
    let wanted: Vec<&str> = after.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    assert_eq!(body(&p), wanted.join("\n"), "{}", print(&p));
}

/// A pass leaves this body as it is.
#[track_caller]
fn stays(pass: Pass, declarations: &str, before: &str) {
    let p = program(declarations, before);
    let mut q = p.clone();
    pass.run(&mut q);
    assert_eq!(print(&p), print(&q));
}

const INTS: &str = "out x: i\nout y: i\nin a: i\nin n: i\nvar t: i\nvar u: i\nvar i: i\nvar j: i\nregion m: i";
const REALS: &str =
    "out x: f\nout y: f\nout w: q\nin a: f\nin b: q\nin n: i\nvar t: f\nvar u: q\nvar i: i\nregion m: f";

#[test]
fn checks_of_what_is_undone() {
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
fn checks_in_a_row() {
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
        let mut p = parse(&text.replace("CALL", call)).unwrap();
        Pass::Checks.run(&mut p);
        assert_eq!(print(&p).matches(" drop").count(), left, "{call}");
    }
}

#[test]
fn assertions_that_always_hold() {
    let kept = |before: &str, left: usize| {
        let mut p = program(INTS, before);
        Pass::Checks.run(&mut p);
        assert_eq!(print(&p).matches("assert").count(), left, "{}", print(&p));
    };
    let loop_of = |range: &str, inner: &str| format!("for i = {range} {{ {inner} x += id.i(i) }}");
    kept(&loop_of("1 to n step 1", "assert bounds i ge.i 1\nassert bounds i le.i n"), 0);
    kept(&loop_of("1 to n step 1", "assert bounds i ge.i 2\nassert bounds i lt.i n"), 2);
    kept(&loop_of("n to 1 step -1", "assert bounds i ge.i 1\nassert bounds i le.i n\nassert bounds i ne.i 0"), 0);
    kept(&loop_of("0 to 7 step 1", "assert bounds i ltu.i 8\nassert bounds i ltu.i 7"), 1);
    // An index from 1 against a length, as one comparison.
    let index = "with \"\" { begin t\nt += id.i(i)\nt -= id.i(1)\nassert bounds t ltu.i n } do { }";
    kept(&loop_of("1 to n step 1", index), 0);
    kept(&loop_of("0 to n step 1", index), 1);
    // A last value that may have wrapped.
    let less = |range: &str| {
        format!(
            "with \"\" {{ begin t\nt += id.i(n)\nt -= id.i(1) }} do {{ {} }}",
            loop_of(range, "assert bounds i lt.i n")
        )
    };
    kept(&less("1 to t step 1"), 1);
    kept(&format!("assert user n ge.i 1\n{}", less("1 to t step 1")), 1);
    kept(&format!("assert user n ge.i 1\n{}", less("0 to n step 1")), 2);
    // The same again, also within, until something changes.
    kept("assert user x lt.i y\nassert user x lt.i y\nassert user y gt.i x\nassert user x ne.i y", 1);
    kept("assert user x lt.i y\nx += id.i(1)\nassert user x lt.i y", 2);
    kept("assert user a lt.i n\nfor i = 0 to 9 step 1 { assert user a le.i n\nx += id.i(1) }\nassert user a lt.i n", 1);
    kept("assert user x lt.i n\nfor i = 0 to 9 step 1 { assert user x lt.i n\nx += id.i(1) }", 2);
    // What holds in a branch does not hold after it.
    kept("if a lt.i n { assert user a lt.i n\nx += id.i(1) } post a lt.i n\nassert user a lt.i n", 1);
    kept("if a lt.i n { assert user a le.i 3 } post a lt.i n\nassert user a le.i 3", 2);
    kept("assert user 1 lt.i 2\nassert user 2 lt.i 1", 1);
    // A word that may be as small as it gets, less one, is not below itself.
    kept("with \"\" { begin t\nt += id.i(n)\nt -= id.i(1) } do { assert user t lt.i n }", 1);
}

#[test]
fn a_loop_that_runs_says_so() {
    becomes(
        Pass::Checks,
        INTS,
        "for i = 1 to n step 1 { if 1 le.i n { x += id.i(i) } else { y += id.i(1) } post 1 le.i n }",
        "for i = 1 to n step 1 {\nx += id.i(i)\n}",
    );
    stays(Pass::Checks, INTS, "for i = 0 to n step 1 { if 1 le.i n { x += id.i(i) } post 1 le.i n }");
    becomes(Pass::Checks, INTS, "if 1 lt.i 0 { x += id.i(1) } else { y += id.i(1) } post 1 lt.i 0", "y += id.i(1)");
}

#[test]
fn hoisting() {
    becomes(
        Pass::Hoist,
        INTS,
        "for i = 1 to n step 1 { with \"\" { begin t\n t += id.i(a)\n t += mul.i(n, 3) } do { x += mul.i(t, i) } }",
        "with \"hoisted\" {
            begin t
            t += id.i(a)
            t += mul.i(n, 3)
        } do {
            for i = 1 to n step 1 {
                x += mul.i(t, i)
            }
        }",
    );
    // Of a sum, the terms that stay the same.
    becomes(
        Pass::Hoist,
        INTS,
        "for i = 1 to n step 1 { with \"\" { begin t\n t += id.i(a)\n t += id.i(i)\n t += mul.i(n, 3) } do { m[t] += id.i(1) } }",
        "with \"hoisted\" {
            begin t.base
            t.base += id.i(a)
            t.base += mul.i(n, 3)
        } do {
            for i = 1 to n step 1 {
                with \"\" {
                    begin t
                    t += id.i(t.base)
                    t += id.i(i)
                } do {
                    m[t] += id.i(1)
                }
            }
        }",
    );
    // A load may trap: only where there is a turn.
    becomes(
        Pass::Hoist,
        REALS,
        "for i = 1 to n step 1 { with \"\" { begin t check drop\n t += id.f(m[n]) } do { x += mul.f(t, a) } }",
        "if 1 le.i n {
            with \"hoisted\" {
                begin t check drop
                t += id.f(m[n])
            } do {
                for i = 1 to n step 1 {
                    x += mul.f(t, a)
                }
            }
        } post 1 le.i n",
    );
    let from = "with \"\" { begin t\n t += id.i(a) } do {";
    // From the inner loop out of both.
    let mut p =
        program(INTS, &format!("for i = 1 to n step 1 {{ for j = 1 to n step 1 {{ {from} x += id.i(t) }} }} }}"));
    Pass::Hoist.run(&mut p);
    assert!(matches!(&p.functions[0].body[0].stmt, Stmt::With { .. }));
    for kept in [
        // It changes from turn to turn, by the loop or what it does.
        "t += id.i(i) } do { x += id.i(t) }",
        "t += id.i(x) } do { x += id.i(1) }",
        "t += id.i(m[a]) } do { m[n] += id.i(1) }",
        // It is changed, or has another life.
        "t += id.i(a) } do { t += id.i(1)\n t -= id.i(1) }",
        "t += id.i(a) } do { x += id.i(t) }\n begin t\n t += id.i(i)\n t -= id.i(i)\n end t",
        // It is read before it is complete.
        "t += id.i(a)\n begin u\n u += mul.i(t, i)\n t += id.i(n) } do { x += mul.i(u, t) }",
        "t += id.i(a)\n y += mul.i(t, i)\n t += id.i(n) } do { x += mul.i(y, t) }",
    ] {
        stays(Pass::Hoist, INTS, &format!("for i = 1 to n step 1 {{ with \"\" {{ begin t check\n {kept} }}"));
    }
    // Two numbers added up are not restored to the last bit: without a check it stays.
    let two = |c: &str| {
        format!(
            "for i = 1 to 9 step 1 {{ with \"\" {{ begin t{c}\n t += id.f(a)\n t += id.f(a) }} do {{ x += id.f(t) }} }}"
        )
    };
    stays(Pass::Hoist, REALS, &two(""));
    let mut p = program(REALS, &two(" check"));
    Pass::Hoist.run(&mut p);
    assert!(matches!(&p.functions[0].body[0].stmt, Stmt::With { .. }));
}

#[test]
fn stepping() {
    becomes(
        Pass::Strength,
        INTS,
        "for i = 1 to 9 step 1 { with \"\" { begin t check\n t += id.i(a)\n t += mul.i(i, n) } do { m[t] += id.i(1) } }",
        "with \"stepped\" {
            begin t
            t += id.i(a)
        } do {
            for i = 1 to 9 step 1 {
                t += id.i(n)
                m[t] += id.i(1)
            }
            t -= mul.i(n, 9)
        }",
    );
    // An index from zero, by an ancilla, and a loop that may not run.
    becomes(
        Pass::Strength,
        INTS,
        "for i = 1 to n step 2 { with \"\" { begin u\n u += id.i(i)\n u -= id.i(1)\n begin t\n t += mul.i(n, u) } do { m[t] += id.i(u) } }",
        "if 1 le.i n {
            with \"stepped\" {
                begin t
                t += mul.i(n, -1)
            } do {
                t -= id.i(n)
                for i = 1 to n step 2 {
                    t += mul.i(n, 2)
                    with \"\" {
                        begin u
                        u += id.i(i)
                        u -= id.i(1)
                    } do {
                        m[t] += id.i(u)
                    }
                }
                t -= mul.i(n, n)
            }
        } post 1 le.i n",
    );
    // Nothing to be saved, or not a sum.
    stays(
        Pass::Strength,
        INTS,
        "for i = 1 to 9 step 1 { with \"\" { begin t\n t += id.i(i) } do { m[t] += id.i(1) } }",
    );
    stays(
        Pass::Strength,
        INTS,
        "for i = 1 to 9 step 1 { with \"\" { begin t\n t += mul.i(i, i) } do { m[t] += id.i(1) } }",
    );
    stays(
        Pass::Strength,
        INTS,
        "for i = 1 to 9 step 1 { with \"\" { begin t\n t ^= mul.i(i, n) } do { m[t] += id.i(1) } }",
    );
    stays(
        Pass::Strength,
        INTS,
        "for i = 1 to 9 step 1 { with \"\" { begin t\n t += mul.i(i, n) } do { t += id.i(1)\n t -= id.i(1) } }",
    );
    stays(
        Pass::Strength,
        INTS,
        "for i = 1 to 9 step 1 { with \"\" { begin t\n t += mul.i(i, x) } do { x += id.i(1)\n x -= id.i(1) } }",
    );
    // It is read before it is complete.
    stays(
        Pass::Strength,
        INTS,
        "for i = 1 to 9 step 1 { with \"\" { begin t\n t += mul.i(i, n)\n y += id.i(t)\n t += id.i(a) } do { m[t] += id.i(1) } }",
    );
}

#[test]
fn what_calls_do() {
    let text = |g: &str, main: &str| {
        let mut p = parse(&format!(
            "program Q32.32\nentry main\nfun g {{\nin p: i\nregion p: f\n{g}\n}}\n\
             fun main {{\nout x: f\nin a: i\nin n: i\nvar i: i\nvar t: f\nregion m: f\n{main}\n}}"
        ))
        .unwrap();
        for pass in [Pass::Hoist, Pass::Cancel, Pass::Merge] {
            pass.run(&mut p);
        }
        body(&p)
    };
    // A function that writes memory may write what is loaded in each turn.
    let load =
        "for i = 1 to 9 step 1 { with \"\" { begin t check\n t += id.f(m[a]) } do { x += id.f(t) }\n call g(a) }";
    assert!(text("p[p] += id.f(1.0)", load).starts_with("for"));
    assert!(text("assert user p ne.i 3", load).starts_with("with"));
    // A call and its undoing are nothing, unless something is shown, or it may trap.
    assert_eq!(text("", "call g(a)\nuncall g(a)"), "");
    for g in ["show.i p", "assert user p ne.i 3", "call g(p)"] {
        assert!(!text(g, "call g(a)\nuncall g(a)").is_empty(), "{g}");
    }
}

#[test]
fn inlining() {
    let text = |f: &str, call: &str| {
        format!(
            "program Q32.32\nentry main\nfun f {{\nout y: i\nin p: i -> p\nin k: i\nvar t: i\nregion p: i\n{f}\n}}\n\
             fun main {{\nout x: i\nout z: i\nin a: i -> m\nin n: i\nregion m: i\nregion o: i\n{call}\n}}"
        )
    };
    let inlined = |f: &str, call: &str| {
        let mut p = parse(&text(f, call)).unwrap();
        Pass::Inline.run(&mut p);
        assert!(parse(&print(&p)).as_ref() == Ok(&p));
        body(&p)
    };
    assert_eq!(inlined("y += mul.i(k, 3)", "call f(x, a, n)\ncall f(z, a, 5)"), "x += mul.i(n, 3)\nz += mul.i(5, 3)");
    assert_eq!(inlined("y += mul.i(k, 3)\ny += id.i(1)", "uncall f(x, a, n)"), "x -= id.i(1)\nx -= mul.i(n, 3)");
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
    // What is changed for a time gets a variable of its own, if it is a constant.
    let copied = inlined("with \"\" { k += id.i(1) } do { y += id.i(k) }", "call f(x, a, 7)");
    assert_eq!(
        copied,
        "with \"argument\" {\nbegin k check drop\nk ^= id.i(7)\n} do {\nwith \"\" {\nk += id.i(1)\n} do {\nx += id.i(k)\n}\n}"
    );
    // What calls itself, shows something, or is large, stays.
    for f in ["call f(y, p, k)", "show.i y", &"y += id.i(k)\n".repeat(300)] {
        assert!(inlined(f, "call f(x, a, n)").starts_with("call"), "{f}");
    }
    // A pointer of which nothing is known.
    assert!(inlined("y += id.i(p[p + k])", "o[n] += id.i(1)\ncall f(x, n, n)").contains("call"));
    // An address that is changed meanwhile.
    assert!(inlined("y += id.i(k)", "call f(x, a, m[x])").starts_with("call"));
}

#[test]
fn folding() {
    let fold = |before: &str, after: &str| becomes(Pass::Fold, INTS, before, after);
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
    // Addresses.
    fold(
        "with \"\" { begin t check\n t += id.i(a)\n t += id.i(n)\n t -= id.i(1) } do { m[t] += mul.i(m[t + 3], x) }",
        "m[a + n -1] += mul.i(m[a + n + 2], x)",
    );
    fold(
        "with \"\" { begin t check\n t += id.i(n)\n t += id.i(3) } do { m[a + t] += id.i(1) }",
        "m[a + n + 3] += id.i(1)",
    );
    fold("with \"\" { begin t check\n t += id.i(n) } do { x += mul.i(t, t) }", "x += mul.i(n, n)");
    for kept in [
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
        stays(Pass::Fold, INTS, kept);
    }
    // −0.0 would become +0.0.
    stays(Pass::Fold, REALS, "x += id.f(0.0)\nwith \"\" { begin t\n t += id.f(a) } do { y += mul.f(t, t) }");
    // The computation is undone with what is there then.
    stays(
        Pass::Fold,
        INTS,
        "begin t\nwith \"\" { t += id.i(2)\n y += id.i(t) } do { t += id.i(x) }\nt -= id.i(x)\nend t",
    );
    becomes(
        Pass::Fold,
        REALS,
        "with \"\" { begin u check drop\n u += id.q(b) } do { w += mul.q(u, u) }",
        "w += mul.q(b, b)",
    );
}

#[test]
fn cancelling() {
    let cancel = |before: &str, after: &str| becomes(Pass::Cancel, INTS, before, after);
    cancel("x += id.i(y)\nx += id.i(a)\nx -= id.i(a)\nx -= id.i(y)", "");
    cancel("apply swap.i(x, y)\napply swap.i(x, y)\nbegin t check\nend t check\nx ^= id.i(y)\nx ^= id.i(y)", "");
    cancel("with \"\" { begin t\n t += id.i(a) } do { }", "");
    cancel("for i = 1 to n step 1 { x += id.i(i) }\nfor i = n to 1 step -1 { x -= id.i(i) }", "");
    for kept in [
        "x += id.i(y)\nx += id.i(y)",
        "x += div.i(y, a)\nx -= div.i(y, a)",
        "m[a] += id.i(1)\nm[a] -= id.i(1)",
        "assert user x lt.i y\nassert user x lt.i y",
        "for i = 1 to n step 2 { x += id.i(i) }\nfor i = n to 1 step -2 { x -= id.i(i) }",
        "begin t\nt += id.i(a)\nend t check\nbegin t check",
    ] {
        stays(Pass::Cancel, INTS, kept);
    }
    stays(Pass::Cancel, REALS, "x += id.f(a)\nx -= id.f(a)");
}

#[test]
fn merging() {
    let two = |b: &str, c: &str, second: &str| {
        format!(
            "with \"\" {{ begin t\n t += id.i(y) }} do {{ {b} }}\nwith \"\" {{ begin {second}\n {second} += id.i(y) }} do {{ {c} }}"
        )
    };
    let after = "with \"\" {\nbegin t\nt += id.i(y)\n} do {\nx += id.i(t)\nx += mul.i(t, t)\n}";
    becomes(Pass::Merge, INTS, &two("x += id.i(t)", "x += mul.i(t, t)", "t"), after);
    becomes(Pass::Merge, INTS, &two("x += id.i(t)", "x += mul.i(u, u)", "u"), after);
    stays(Pass::Merge, INTS, &two("y += id.i(1)\n y -= id.i(1)", "x += id.i(t)", "t"));
    // The second one disturbs what the third one computes.
    let mut three = program(
        INTS,
        &(two("x += id.i(t)", "y += id.i(1)\n y -= id.i(1)", "t") + "\n" + &two("x += id.i(t)", "x += id.i(1)", "t")),
    );
    Pass::Merge.run(&mut three);
    assert_eq!(three.functions[0].body.len(), 2, "{}", print(&three));
    stays(Pass::Merge, INTS, &two("x += id.i(t)", "begin t\n x += mul.i(u, t)\n end t", "u"));
    let float = |more: &str| {
        let one = |x: &str| format!("with \"\" {{ begin t check\n t += id.f(a)\n {more} }} do {{ {x} += id.f(t) }}\n");
        one("x") + &one("y")
    };
    let mut p = program(REALS, &float(""));
    Pass::Merge.run(&mut p);
    assert_eq!(p.functions[0].body.len(), 1);
    stays(Pass::Merge, REALS, &float("t += id.f(a)"));
}

/// A product of matrices as a front end writes it: every index checked, every address computed where it is used.
const MATRICES: &str = include_str!("data/matrices.ir");

#[test]
fn a_product_of_matrices() {
    let before = parse(MATRICES).unwrap();
    let mut after = before.clone();
    passes::run(&mut after, &Switches::default());
    let text = print(&after);
    assert!(!text.contains("bounds") && !text.contains("call") && !text.contains("check"), "{text}");
    // The innermost loop: a step and a product.
    let mut innermost = &after.functions[1].body;
    let mut deepest: Option<&Block> = None;
    effects::walk(innermost, &mut |s| {
        if let Stmt::For { body, .. } = &s.stmt {
            deepest = Some(body);
        }
    });
    innermost = deepest.unwrap();
    assert_eq!(innermost.len(), 2, "{text}");
    let n = 5u64;
    let config = Config { memory: 1 << 12, max_steps: 1_000_000, ..Config::default() };
    let memory: Vec<u64> = (0..3 * n * n).map(|k| (1.0 + k as f64 / 8.0).to_bits()).collect();
    let go = |p: &Program| {
        run(p, p.entry.unwrap(), Direction::Forward, vec![0, n * n, 2 * n * n, n], memory.clone(), None, &config)
            .unwrap()
    };
    let (a, b) = (go(&before), go(&after));
    assert_eq!(a.memory, b.memory);
    assert!(b.steps * 4 < a.steps, "{} and {}", a.steps, b.steps);
}

#[test]
fn switches() {
    assert_eq!(Switches::level(0), Switches::NONE);
    assert!(Switches::level(1).has(Pass::Fold) && !Switches::level(1).has(Pass::Hoist));
    assert!(Switches::level(2).has(Pass::Hoist) && !Switches::default().without(Pass::Hoist).has(Pass::Hoist));
    for pass in Pass::ALL {
        assert_eq!(Pass::from_name(pass.name()), Some(*pass));
        assert!(pass.doc().ends_with('.') && !pass.doc().contains('\n'));
        assert!(Switches::NONE.with(*pass).has(*pass));
    }
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

#[test]
fn floats_are_restored_as_without_passes() {
    let before = program(
        REALS,
        "begin t check drop\nx += sin.f(t)\nt += sin.f(a)\nt += mul.f(a, y)\nt -= mul.f(a, y)\nt -= sin.f(a)\nend t check drop",
    );
    let mut after = before.clone();
    passes::run(&mut after, &Switches::default());
    let (words, config) = ([0.0, 1000.1, 0.0, 0.3, 0.0, 0.0].map(f64::to_bits).to_vec(), Config::default());
    let back = |p: &Program| {
        let out = run(p, p.entry.unwrap(), Direction::Backward, words.clone(), vec![0; 8], None, &config);
        out.unwrap().params
    };
    let found = back(&before);
    assert_ne!(found[0], 0, "nothing is rounded");
    assert_eq!(found, back(&after), "{}", print(&after));
}
