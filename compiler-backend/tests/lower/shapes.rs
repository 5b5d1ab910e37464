//! The code of statements: instruction counts of loops and branches, operand forms, spans and symbols.

use crate::lower::common::*;
use pendula_compiler::ir::*;
use pendula_compiler::lower::LowerError;
use pendula_isa::module::SymbolKind;
use pendula_isa::table::Row;
use pendula_isa::{Cond, Module, Ty};

fn one(build: Build, body: Block, arguments: &[pendula_compiler::lower::Argument]) -> Module {
    let module = lowered(&program(vec![build.body(body)]), arguments).unwrap_or_else(|e| panic!("{e}"));
    try_run(&module).unwrap_or_else(|e| panic!("{e}"));
    module
}

/// The mnemonics of the first function, without `proc` and `ret`.
fn inside(module: &Module) -> Vec<String> {
    let all = mnemonics(module);
    let start = all.iter().position(|m| m == "proc").expect("a procedure");
    let end = all.iter().position(|m| m == "ret").expect("its end");
    all[start + 1..end].to_vec()
}

#[test]
fn the_inner_loop_of_an_affine_map() {
    let mut b = Build::new("affine");
    let [y, w, _] = ["y!", "w", "x"].map(|n| b.param(n, Ty::Int, false));
    let n = b.param("n", Ty::Int, false);
    let (ry, rw) = (b.region(Ty::Q), b.region(Ty::Q));
    let xj = b.param("xj", Ty::Q, false);
    let i = b.var("i", Ty::Int);
    let body = update(QMUL, place(mem(ry, Some(y), Some(i), -1)), &[word(mem(rw, Some(w), Some(i), -1)), v(xj)]);
    let words: Vec<u64> = (0..4).map(|k| q(f64::from(k))).collect();
    let arguments = [
        array("y!", Ty::Q, &[0; 4], &[]),
        array("w", Ty::Q, &words, &[]),
        array("x", Ty::Q, &words, &[4]),
        word_of("xj", Ty::Q, q(2.5)),
    ];
    let module = one(b, vec![each(i, c(1), v(n), Step::Const(1), vec![body])], &arguments);
    assert_eq!(loop_of(&module)[..], ["from.ne", "inc", "exch", "addmul.q", "exch", "jmp.ne"]);
    let all = ["jmp.lt", "from.ne", "inc", "exch", "addmul.q", "exch", "jmp.ne", "sub", "from.lt"];
    assert_eq!(inside(&module)[..], all);
    let ran = try_run(&module).expect("a run");
    assert_eq!(ran.words("y!"), [0.0, 2.5, 5.0, 7.5].map(|x| q(x).cast_signed()));
}

#[test]
fn loops_cost_two_jumps_and_one_step() {
    let shape = |first: fn(Var) -> Operand, last: fn(Var) -> Operand, step: fn(Var) -> Step, n: i64| {
        let mut b = Build::new("f");
        let (x, n_param) = (b.param("x", Ty::Int, true), b.param("n", Ty::Int, false));
        let s = b.param("s", Ty::Int, false);
        let i = b.var("i", Ty::Int);
        let body = vec![add(x, v(i))];
        let body = vec![each(i, first(n_param), last(n_param), step(s), body)];
        one(b, body, &[int("x", 0), int("n", n), int("s", 2)])
    };
    let turn = |m: &Module| {
        let all = inside(m);
        let from = all.iter().position(|m| m.starts_with("from.ne")).expect("a loop");
        let jmp = all.iter().position(|m| m.starts_with("jmp.ne")).expect("a loop");
        (jmp - from + 1, all.len())
    };
    // Known bounds: no guard.
    assert_eq!(turn(&shape(|_| c(1), |_| c(10), |_| Step::Const(1), 0)), (4, 5));
    assert_eq!(turn(&shape(|_| c(0), |_| c(10), |_| Step::Const(2), 0)), (4, 5));
    assert_eq!(turn(&shape(|_| c(10), |_| c(1), |_| Step::Const(-3), 0)), (4, 6));
    // Great constants are held in registers.
    assert_eq!(turn(&shape(|_| c(100_000), |_| c(100_010), |_| Step::Const(1), 0)).0, 4);
    // A variable on either side.
    assert_eq!(turn(&shape(|_| c(1), v, |_| Step::Const(1), 5)), (4, 7));
    assert_eq!(turn(&shape(v, |_| c(1), |_| Step::Const(-1), 5)), (4, 7));
    assert_eq!(turn(&shape(v, |_| c(20), |_| Step::Const(5), 5)), (4, 8));
    // Steps of a sign that is known at run time.
    assert_eq!(turn(&shape(|_| c(0), v, |s| Step::Var { var: s, negated: false }, 6)).0, 4);
    assert_eq!(turn(&shape(v, |_| c(0), |s| Step::Var { var: s, negated: true }, 6)).0, 4);
    // No iteration at all.
    assert_eq!(inside(&shape(|_| c(3), |_| c(1), |_| Step::Const(1), 0)).len(), 0);
}

#[test]
fn both_bounds_known_at_run_time() {
    for (a, z, step) in [(3, 9, 1), (9, 3, 1), (9, 3, -1), (5, 5, 1), (3, 9, 3), (3, 9, 2), (9, 3, -2), (3, -9, -4)] {
        let mut b = Build::new("f");
        let x = b.param("x", Ty::Int, true);
        let [first, last] = ["a", "z"].map(|n| b.param(n, Ty::Int, false));
        let i = b.var("i", Ty::Int);
        let body = vec![each(i, v(first), v(last), Step::Const(step), vec![add(x, v(i))])];
        let p = program(vec![b.body(body)]);
        let ran = run(&p, &[int("x", 0), int("a", a), int("z", z)]);
        let mut expected = 0;
        let mut i = a;
        while if step > 0 { i <= z } else { i >= z } {
            expected += i;
            i += step;
        }
        assert_eq!(ran.word("x"), expected, "{a}:{step}:{z}");
    }
}

#[test]
fn branches_take_two_or_three_jumps() {
    let branches = |otherwise: bool| {
        let mut b = Build::new("f");
        let (x, n) = (b.param("x", Ty::Int, true), b.param("n", Ty::Int, false));
        let test = || when(Cond::Gt, v(n), c(3));
        let otherwise = if otherwise { vec![add(x, c(7))] } else { Vec::new() };
        one(b, vec![branch(test(), test(), vec![add(x, c(5))], otherwise)], &[int("x", 0), int("n", 4)])
    };
    assert_eq!(inside(&branches(false))[..], ["jmp.le", "add", "from.le"]);
    assert_eq!(inside(&branches(true))[..], ["jmp.le", "add", "jmp", "from", "add", "from.gt"]);
}

#[test]
fn a_while_loop_takes_two_jumps_a_turn() {
    let mut b = Build::new("f");
    let (k, n) = (b.param("k", Ty::Int, true), b.param("n", Ty::Int, false));
    let (pre, post) = (when(Cond::Lt, v(k), v(n)), when(Cond::Ne, v(k), c(0)));
    let module = one(b, vec![repeat(pre, post, vec![add(k, c(1))])], &[int("k", 0), int("n", 5)]);
    assert_eq!(inside(&module)[..], ["jmp.ge", "from.ne", "inc", "jmp.lt", "from.eq"]);
}

#[test]
fn operands_stay_where_they_can() {
    let forms = |make: fn(Region, Region, Var, Var, Var, Var) -> LocatedStmt| {
        let mut b = Build::new("f");
        let (x, y) = (b.param("x", Ty::Q, true), b.param("y", Ty::Q, true));
        let [p, r] = ["p", "r"].map(|n| b.param(n, Ty::Int, false));
        let (rp, rr) = (b.region(Ty::Q), b.region(Ty::Q));
        let body = vec![make(rp, rr, p, r, x, y)];
        let words = [q(2.0), q(3.0), q(4.0)];
        let arguments = [
            word_of("x", Ty::Q, q(1.0)),
            word_of("y", Ty::Q, q(2.0)),
            array("p", Ty::Q, &words, &[]),
            array("r", Ty::Q, &words, &[]),
        ];
        inside(&one(b, body, &arguments))
    };
    // Memory written, registers read, and the other way round.
    assert_eq!(forms(|rp, _, p, _, x, y| update(QMUL, place(mem(rp, Some(p), None, 1)), &[v(x), v(y)])), ["addmul.q"]);
    assert_eq!(
        forms(|rp, _, p, _, x, y| update(QMUL, Place::Var(x), &[v(y), word(mem(rp, Some(p), None, 1))])),
        ["addmul.q"]
    );
    // A constant and a word without an offset.
    assert_eq!(
        forms(|rp, _, p, _, x, _| update(QMUL, place(mem(rp, Some(p), None, 0)), &[v(x), Operand::Const(1 << 31)])),
        ["addmul.q"]
    );
    // With an offset the word comes into a register.
    assert_eq!(
        forms(|rp, _, p, _, x, _| update(QMUL, place(mem(rp, Some(p), None, 1)), &[v(x), Operand::Const(1 << 31)])),
        ["exch", "addmul.q", "exch"]
    );
    // Two words.
    assert_eq!(
        forms(|rp, rr, p, r, _, _| update(QID, place(mem(rp, Some(p), None, 1)), &[word(mem(rr, Some(r), None, 2))])),
        ["exch", "add.q", "exch"]
    );
    // The same word twice.
    assert_eq!(
        forms(|rp, _, p, _, x, _| {
            let w = word(mem(rp, Some(p), None, 1));
            update(QMUL, Place::Var(x), &[w, w])
        }),
        ["exch", "addmul.q", "exch"]
    );
    // Three arguments are in registers; a constant drops what gradient it takes up.
    assert_eq!(
        forms(|_, _, _, _, x, y| update(QMULADD, Place::Var(x), &[v(y), v(y), Operand::Const(q(1.0))])),
        ["zero", "add", "addmuladd.q", "sub", "zero"]
    );
    assert_eq!(
        forms(|_, _, _, _, x, y| update(QMULADD, Place::Var(x), &[v(y), v(y), Operand::Const(0)])),
        ["addmuladd.q"]
    );
    // Exchanges.
    assert_eq!(forms(|_, _, _, _, x, y| swap(v(x), v(y))), ["swap"]);
    assert_eq!(forms(|rp, _, p, _, x, _| swap(word(mem(rp, Some(p), None, 1)), v(x))), ["exch"]);
    assert_eq!(
        forms(|rp, rr, p, r, _, _| swap(word(mem(rp, Some(p), None, 1)), word(mem(rr, Some(r), None, 1)))),
        ["exch", "exch", "exch"]
    );
    assert_eq!(
        forms(|rp, _, p, _, _, _| permute(Row::Neg, Ty::Q, &[word(mem(rp, Some(p), None, 0))])),
        ["exch", "neg.q", "exch"]
    );
}

#[test]
fn words_that_may_be_one_are_copied() {
    // x += p[i] p[j], with i = j and with i ≠ j.
    for (i, j) in [(0, 0), (0, 2), (1, 1)] {
        let mut b = Build::new("f");
        let x = b.param("x", Ty::Q, true);
        let [p, vi, vj] = ["p", "i", "j"].map(|n| b.param(n, Ty::Int, false));
        let rp = b.region(Ty::Q);
        let args = [word(mem(rp, Some(p), Some(vi), 0)), word(mem(rp, Some(p), Some(vj), 0))];
        let body = vec![update(QMUL, Place::Var(x), &args)];
        let words = [q(2.0), q(3.0), q(4.0)];
        let arguments = [word_of("x", Ty::Q, 0), array("p", Ty::Q, &words, &[]), int("i", i), int("j", j)];
        let module = one(b, body, &arguments);
        assert_eq!(inside(&module)[..], ["zero", "add.q", "addmul.q", "sub.q", "zero"]);
        let ran = try_run(&module).expect("a run");
        let product = of_q(words[i as usize]) * of_q(words[j as usize]);
        assert_eq!(of_q(ran.word("x").cast_unsigned()), product);
        let gradient = gradient_of(&module, "x");
        let mut expected = [0.0; 3];
        expected[i as usize] += of_q(words[j as usize]);
        expected[j as usize] += of_q(words[i as usize]);
        assert_eq!([1, 2, 3].map(|n| of_q(gradient[n])), expected);
    }
}

#[test]
fn adjacent_preparations_cancel() {
    let mut b = Build::new("f");
    let [y, z] = ["y", "z"].map(|n| b.param(n, Ty::Int, false));
    let x = b.param("x", Ty::Int, true);
    let (ry, rz) = (b.region(Ty::Int), b.region(Ty::Int));
    let from = word(mem(ry, Some(y), None, 0));
    let to = |n| place(mem(rz, Some(z), None, n));
    let body = vec![update(MUL, to(0), &[from, v(x)]), update(MUL, to(1), &[from, v(x)])];
    let module = one(b, body, &[ints("y", &[3], &[]), ints("z", &[1, 2], &[]), int("x", 5)]);
    assert_eq!(inside(&module)[..], ["exch", "addmul", "addmul", "exch"]);
}

#[test]
fn spans_come_in_pairs_with_names_of_their_own() {
    let mut b = Build::new("f");
    let (x, y) = (b.param("x", Ty::Int, true), b.param("y", Ty::Int, false));
    let [t, u] = b.vars(Ty::Int);
    let inner = |body| with("in ner", vec![alloc(u, AncillaChecks::FULL), add(u, v(y))], body);
    let compute = vec![alloc(t, AncillaChecks::FULL), inner(vec![add(t, v(u))])];
    let span = |undo, stmt| at(Stmt::Span { name: "part".into(), undo, body: vec![stmt] });
    let body = vec![
        with("outer", compute, vec![add(x, v(t))]),
        span(false, add(x, c(2))),
        span(true, sub(x, c(2))),
        inner(vec![]),
    ];
    let module = one(b, body, &[int("x", 0), int("y", 3)]);
    let names = |undo| {
        let mut out: Vec<&str> = module.spans.iter().filter(|s| s.undo == undo).map(|s| s.name.as_str()).collect();
        out.sort_unstable();
        out
    };
    assert_eq!(names(false), ["in_ner", "in_ner.2", "in_ner.3", "outer", "part"]);
    assert_eq!(names(true), names(false));
    for undo in module.spans.iter().filter(|s| s.undo) {
        let span = module.spans.iter().find(|s| !s.undo && s.name == undo.name).expect("its other half");
        assert!(span.end <= undo.start);
    }
}

#[test]
fn data_symbols_and_names() {
    let mut b = Build::new("main");
    let x = b.param("main", Ty::Q, true);
    let a = b.param("stack", Ty::Int, false);
    let n = b.param("n", Ty::Int, false);
    let k = b.param("k", Ty::Int, false);
    let ra = b.region(Ty::Int);
    let body = vec![
        update(INT, place(mem(ra, Some(a), Some(n), -1)), &[v(k)]),
        update(QID, Place::Var(x), &[Operand::Const(q(1.0))]),
    ];
    let mut p = program(vec![b.body(body)]);
    p.stack = 10;
    let arguments = [
        word_of("main", Ty::Q, q(1.5)),
        ints("stack", &[1, 2, 3], &[3]),
        pendula_compiler::lower::Argument {
            name: "k".into(),
            kind: pendula_compiler::lower::ArgumentKind::Constant(40),
        },
    ];
    let ran = run(&p, &arguments);
    assert_eq!(ran.words("stack"), [1, 2, 43]);
    let module = lowered(&p, &arguments).expect("a module");
    let of = |name: &str| module.symbol(name).map(|s| (s.value, s.kind));
    assert_eq!(of("stack.2"), Some((0, SymbolKind::Data { ty: Ty::Int, len: 10, import: false, export: false })));
    assert_eq!(of("main"), Some((10, SymbolKind::Data { ty: Ty::Q, len: 1, import: true, export: true })));
    assert_eq!(of("stack"), Some((11, SymbolKind::Data { ty: Ty::Int, len: 3, import: true, export: true })));
    assert_eq!(of("main.2"), Some((0, SymbolKind::Label)));
    assert!(matches!(of("main.3"), Some((_, SymbolKind::Proc))));
}

#[test]
fn a_library_has_no_start() {
    let mut b = Build::new("f");
    let x = b.param("x", Ty::Int, true);
    let mut p = program(vec![b.body(vec![add(x, c(1))])]);
    p.entry = None;
    let module = lowered(&p, &[]).expect("a library");
    assert_eq!(mnemonics(&module), ["proc", "inc", "ret"]);
}

/// Inlining may show that two words are the same, although they must be different. Such a statement traps when it runs.
#[test]
fn a_word_that_reads_itself_traps() {
    let module = |make: fn(Var) -> LocatedStmt| {
        let mut b = Build::new("f");
        let x = b.param("x", Ty::Int, true);
        let body = vec![make(x)];
        lowered(&program(vec![b.body(body)]), &[int("x", 0)]).expect("a module")
    };
    for module in [module(|x| add(x, v(x))), module(|x| swap(v(x), v(x)))] {
        assert_eq!(inside(&module), ["assert.ne"]);
    }
}

/// A pass may find that a step is 0 in code that never runs.
#[test]
fn a_loop_by_a_step_of_0_traps() {
    let mut b = Build::new("f");
    let (x, i) = (b.param("x", Ty::Int, true), b.var("i", Ty::Int));
    let body = vec![each(i, c(1), v(x), Step::Const(0), vec![])];
    let module = lowered(&program(vec![b.body(body)]), &[int("x", 0)]).expect("a module");
    assert_eq!(inside(&module), ["assert.ne"]);
}

#[test]
fn broken_code_is_an_error() {
    let malformed = |make: fn(&mut Build, Var) -> Block| {
        let mut b = Build::new("f");
        let x = b.param("x", Ty::Int, true);
        let body = make(&mut b, x);
        match lowered(&program(vec![b.body(body)]), &[int("x", 0)]) {
            Err(LowerError::Malformed { what, .. }) => what,
            other => panic!("{other:?}"),
        }
    };
    let said = |what: String, part: &str| assert!(what.contains(part), "{what}");
    said(
        malformed(|b, x| {
            let t = b.var("t", Ty::Int);
            vec![add(x, v(t))]
        }),
        "used before",
    );
    said(
        malformed(|b, _| {
            let t = b.var("t", Ty::Int);
            vec![alloc(t, AncillaChecks::FULL)]
        }),
        "does not end",
    );
    said(
        malformed(|b, _| {
            let t = b.var("t", Ty::Int);
            vec![alloc(t, NONE), alloc(t, NONE)]
        }),
        "begun before",
    );
    said(malformed(|_, x| vec![add(Var(77), v(x))]), "used before");
    said(malformed(|_, x| vec![alloc(Var(77), NONE), add(x, c(1))]), "no such variable");
    said(malformed(|_, x| vec![free(x, NONE)]), "a parameter ends");
    said(malformed(|_, _| vec![call(9, &[])]), "no such function");
    said(malformed(|_, _| vec![call(0, &[])]), "too few");
    said(malformed(|_, x| vec![update(MUL, Place::Var(x), &[c(1)])]), "arguments");
    said(malformed(|_, x| vec![permute(Row::Exch, Ty::Int, &[v(x), c(1)])]), "no permutation");
    said(malformed(|_, x| vec![swap(v(x), c(1))]), "constant");
    said(malformed(|_, x| vec![permute(Row::Neg, Ty::Int, &[c(1)]), add(x, c(1))]), "constant is written");
    said(malformed(|_, _| vec![at(Stmt::Print(9))]), "no such text");
    said(
        malformed(|b, x| {
            let t = b.var("t", Ty::Int);
            let test = || when(Cond::Eq, v(x), c(0));
            vec![branch(test(), test(), vec![alloc(t, NONE)], vec![]), free(t, NONE)]
        }),
        "variables that it finds",
    );
    said(
        malformed(|b, x| {
            let t = b.var("t", Ty::Int);
            let test = || when(Cond::Eq, v(x), c(0));
            vec![branch(test(), test(), vec![alloc(t, NONE)], vec![add(x, c(0)), add(x, c(1))]), free(t, NONE)]
        }),
        "same variables",
    );
    let deep = (0..400).fold(Vec::new(), |body, _| vec![with("w", vec![], body)]);
    let b = Build::new("f");
    assert!(matches!(lowered(&program(vec![b.body(deep)]), &[]), Err(LowerError::TooLarge(_))));
    let b = Build::new("f");
    let none = program(vec![b.body(vec![])]);
    assert!(matches!(lowered(&none, &[int("x", 0)]), Err(LowerError::Arguments { expected: 0, found: 1, .. })));
    assert!(matches!(lowered(&none, &[int("r1", 0)]), Err(LowerError::Name(_))));
    assert!(matches!(lowered(&none, &[int("x", 0), int("x", 0)]), Err(LowerError::Name(_))));
}
