//! Lowered local arrays, and erasing of what need not be undone.

use crate::lower::common::*;
use pendula_compiler::ir::*;
use pendula_compiler::lower::{Erase, Options, lower};
use pendula_isa::Ty;

#[test]
fn local_arrays() {
    let mut b = Build::new("f");
    let (x, n) = (b.param("x", Ty::Int, true), b.param("n", Ty::Int, false));
    let [s, t, i] = b.vars(Ty::Int);
    let (rs, rt) = (b.region(Ty::Int), b.region(Ty::Int));
    let make =
        |base, len, region, free| at(Stmt::Array { base, len, region, ty: Ty::Int, free, checks: AncillaChecks::FULL });
    let fill = |base, region| {
        let square = update(MUL, place(mem(region, Some(base), Some(i), -1)), &[v(i), v(i)]);
        each(i, c(1), v(n), Step::Const(1), vec![square])
    };
    let compute = vec![
        make(s, v(n), rs, false),
        make(t, c(3), rt, false),
        fill(s, rs),
        update(INT, place(mem(rt, Some(t), None, 2)), &[word(mem(rs, Some(s), None, 1))]),
    ];
    let body = vec![
        each(i, c(1), v(n), Step::Const(1), vec![update(INT, Place::Var(x), &[word(mem(rs, Some(s), Some(i), -1))])]),
        update(INT, Place::Var(x), &[word(mem(rt, Some(t), None, 2))]),
    ];
    let f = b.body(vec![with("w", compute, body)]);
    let p = program(vec![f]);
    assert_eq!(run(&p, &[int("x", 0), int("n", 4)]).word("x"), 30 + 4);
    // Of no length: the second array's word has nothing to add, but the first array's word 1 is in the second array.
    let mut b = Build::new("f");
    let (x, n) = (b.param("x", Ty::Int, true), b.param("n", Ty::Int, false));
    let s = b.var("s", Ty::Int);
    let rs = b.region(Ty::Int);
    let body = vec![
        alloc(s, AncillaChecks::FULL),
        make(s, v(n), rs, false),
        add(x, c(1)),
        make(s, v(n), rs, true),
        free(s, AncillaChecks::FULL),
    ];
    let p = program(vec![b.body(body)]);
    assert_eq!(run(&p, &[int("x", 0), int("n", 0)]).word("x"), 1);
    let module = lowered(&p, &[int("x", 0), int("n", -1)]).expect("a module");
    assert!(try_run(&module).is_err_and(|e| e.contains("Assert")));
}

#[test]
fn an_array_that_is_not_clear_traps() {
    for (ty, value, fine) in
        [(Ty::Int, 1u64, false), (Ty::Q, 1, false), (Ty::F, 1e-9f64.to_bits(), true), (Ty::F, 1e-3f64.to_bits(), false)]
    {
        let mut b = Build::new("f");
        let n = b.param("n", Ty::Int, false);
        let s = b.var("s", Ty::Int);
        let rs = b.region(ty);
        let make = |free| at(Stmt::Array { base: s, len: v(n), region: rs, ty, free, checks: AncillaChecks::FULL });
        let left = update(INT, place(mem(rs, Some(s), None, 1)), &[Operand::Const(value)]);
        let p = program(vec![b.body(vec![make(false), left, make(true)])]);
        let mut module = lowered(&p, &[int("n", 3)]).expect("a module");
        // What is near zero is forgotten: no run backward.
        module.flags.irreversible = fine;
        assert_eq!(try_run(&module).is_ok(), fine, "{ty:?}");
    }
}

fn erased(names: &[&str], compute: fn(&mut Build, Var) -> (Block, Var)) -> (bool, i64) {
    let mut b = Build::new("f");
    let (x, y) = (b.param("x", Ty::Int, true), b.param("y", Ty::Int, true));
    let (compute, t) = compute(&mut b, y);
    let p = program(vec![b.body(vec![with("w", compute, vec![add(x, v(t))])])]);
    let erase = Erase::Some(names.iter().map(|n| n.to_string()).collect());
    let module = lower(&p, &[int("x", 0), int("y", 3)], &Options { erase }).expect("a module");
    let ran = try_run(&module).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(ran.word("y"), 3);
    (module.flags.irreversible, ran.word("x"))
}

#[test]
fn erasing_takes_only_what_the_computation_has_made() {
    let plain: fn(&mut Build, Var) -> (Block, Var) = |b, y| {
        let t = b.var("t", Ty::Int);
        (vec![alloc(t, AncillaChecks::FULL), update(MUL, Place::Var(t), &[v(y), v(y)])], t)
    };
    assert_eq!(erased(&["w"], plain), (true, 9));
    assert_eq!(erased(&["other"], plain), (false, 9));
    // A parameter is written: it is undone.
    let writes: fn(&mut Build, Var) -> (Block, Var) = |b, y| {
        let t = b.var("t", Ty::Int);
        (vec![alloc(t, AncillaChecks::FULL), add(y, c(1)), add(t, v(y))], t)
    };
    assert_eq!(erased(&["w"], writes), (false, 4));
    // Words of an array.
    let array: fn(&mut Build, Var) -> (Block, Var) = |b, y| {
        let [t, s] = b.vars(Ty::Int);
        let region = b.region(Ty::Int);
        let make =
            at(Stmt::Array { base: s, len: v(y), region, ty: Ty::Int, free: false, checks: AncillaChecks::FULL });
        let cell = mem(region, Some(s), Some(y), -1);
        (
            vec![
                make,
                alloc(t, AncillaChecks::FULL),
                update(INT, place(cell), &[c(5)]),
                update(INT, Place::Var(t), &[word(cell)]),
            ],
            t,
        )
    };
    assert_eq!(erased(&["w"], array), (true, 5));
}

#[test]
fn known_zeros_are_erased_too() {
    let mut b = Build::new("f");
    let (x, y) = (b.param("x", Ty::Int, true), b.param("y", Ty::Int, false));
    let [t, i] = b.vars(Ty::Int);
    let body = vec![
        alloc(t, AncillaChecks::FULL),
        // Each turn finds t as the turn before has left it: zero.
        each(
            i,
            c(1),
            c(3),
            Step::Const(1),
            vec![with("w", vec![update(MUL, Place::Var(t), &[v(y), v(i)])], vec![add(x, v(t))])],
        ),
        with("w", vec![add(t, v(y))], vec![add(x, v(t))]),
        free(t, AncillaChecks::FULL),
    ];
    let p = program(vec![b.body(body)]);
    let module = lower(&p, &[int("x", 0), int("y", 2)], &Options { erase: Erase::Always }).expect("a module");
    assert!(module.flags.irreversible);
    assert_eq!(mnemonics(&module).iter().filter(|m| *m == "erase").count(), 2);
    assert_eq!(try_run(&module).expect("a run").word("x"), 2 + 4 + 6 + 2);
}

#[test]
fn what_may_run_backward_does_not_erase() {
    let mut g = Build::new("g");
    let (x, y) = (g.param("x", Ty::Int, true), g.param("y", Ty::Int, false));
    let t = g.var("t", Ty::Int);
    let g = g.body(vec![with("w", vec![alloc(t, AncillaChecks::FULL), add(t, v(y))], vec![add(x, v(t))])]);
    let mut b = Build::new("f");
    let (x, y) = (b.param("x", Ty::Int, true), b.param("y", Ty::Int, false));
    let p = program(vec![b.body(vec![uncall(1, &[v(x), v(y)])]), g]);
    let module = lower(&p, &[int("x", 0), int("y", 2)], &Options { erase: Erase::Always }).expect("a module");
    assert!(!module.flags.irreversible);
    assert_eq!(try_run(&module).expect("a run").word("x"), -2);
}
