//! Large blocks pass through all passes in time that grows with their size.

mod common;

use std::time::{Duration, Instant};

use common::build::*;
use pendula_compiler::ir::*;
use pendula_compiler::passes::{Pass, Switches, run};
use pendula_isa::{Cond, Ty};

const SIZE: usize = 100_000;

/// Half a second with optimisation; what tests are built with takes longer, and machines are busy.
const LIMIT: Duration = Duration::from_millis(if cfg!(debug_assertions) { 6000 } else { 500 });

fn timed(what: &str, b: Builder) {
    let before = program(vec![b.function]);
    for pass in Pass::ALL {
        let mut p = before.clone();
        let start = Instant::now();
        pass.run(&mut p);
        let taken = start.elapsed();
        if std::env::var_os("SHOW_TIMES").is_some() {
            println!("{what} {} {taken:?}", pass.name());
        }
        assert!(taken < LIMIT, "{what}: {} took {taken:?}", pass.name());
    }
    let mut p = before;
    let start = Instant::now();
    run(&mut p, &Switches::default());
    let taken = start.elapsed();
    if std::env::var_os("SHOW_TIMES").is_some() {
        println!("{what} all {taken:?}");
    }
    assert!(taken < 3 * LIMIT, "{what}: all took {taken:?}");
}

fn ints(n: usize) -> (Builder, Vec<Var>) {
    let mut b = Builder::new("f");
    let x = (0..4).map(|k| b.param(&format!("x{k}"), Ty::Int, true)).collect();
    b.param("n", Ty::Int, false);
    for k in 0..n {
        b.var(&format!("t{k}"), Ty::Int);
    }
    (b, x)
}

fn ancilla(k: usize) -> Var {
    Var(5 + k as u32)
}

#[test]
fn updates() {
    let (mut b, x) = ints(0);
    b.function.body = (0..SIZE).map(|k| update(mul(Ty::Int), to(x[k % 3]), &[var(x[3]), int(k as i64)])).collect();
    timed("updates", b);
}

#[test]
fn pairs() {
    let (mut b, x) = ints(0);
    let half = |f: &dyn Fn(usize) -> At| (0..SIZE / 2).map(f).collect::<Vec<At>>();
    b.function.body = half(&|k| update(id(Ty::Int), to(x[k % 3]), &[int(k as i64)]));
    let undone = invert::block(&b.function.body);
    b.function.body.extend(undone);
    timed("pairs", b);
}

#[test]
fn computations() {
    let n = SIZE / 4;
    for same in [false, true] {
        let (mut b, x) = ints(n);
        b.function.body = (0..n)
            .map(|k| {
                let t = ancilla(if same { 0 } else { k });
                let k = if same { 3 } else { k as i64 };
                let compute = vec![alloc(t), update(mul(Ty::Int), to(t), &[var(x[3]), int(k)])];
                with(compute, vec![update(id(Ty::Int), to(x[0]), &[var(t)])])
            })
            .collect();
        timed("computations", b);
    }
}

#[test]
fn one_large_computation() {
    // Each ancilla depends on the one before it, in a loop.
    let n = SIZE / 2;
    for varies in [false, true] {
        let (mut b, x) = ints(n);
        let i = b.var("i", Ty::Int);
        let first = if varies { var(i) } else { var(x[3]) };
        let compute = (0..n)
            .flat_map(|k| {
                let from = if k == 0 { first } else { var(ancilla(k - 1)) };
                [alloc(ancilla(k)), update(id(Ty::Int), to(ancilla(k)), &[from])]
            })
            .collect();
        let body = vec![update(id(Ty::Int), to(x[0]), &[var(ancilla(n - 1))])];
        b.function.body = vec![count(i, int(1), var(Var(4)), 1, vec![with(compute, body)])];
        timed("one large computation", b);
    }
}

#[test]
fn assertions_and_branches() {
    let (mut b, x) = ints(0);
    let n = SIZE / 2;
    b.function.body = (0..n)
        .flat_map(|k| {
            let t = test(Cond::Lt, Ty::Int, var(x[k % 4]), int((k % 1000) as i64));
            let body = vec![update(id(Ty::Int), to(x[(k + 1) % 4]), &[int(1)])];
            [at(Stmt::Assert { test: t, why: Why::User }), branch(t, body, vec![])]
        })
        .collect();
    timed("assertions and branches", b);
}

#[test]
fn lives_in_a_row() {
    let n = SIZE / 4;
    let (mut b, x) = ints(n);
    let begin = (0..n).flat_map(|k| [alloc(ancilla(k)), update(id(Ty::Int), to(ancilla(k)), &[var(x[3])])]);
    b.function.body = begin.collect();
    let undone = invert::block(&b.function.body);
    b.function.body.push(update(id(Ty::Int), to(x[0]), &[var(ancilla(n / 2))]));
    b.function.body.extend(undone);
    timed("lives in a row", b);
}

#[test]
fn nested_loops() {
    let (mut b, x) = ints(0);
    let loops: Vec<Var> = (0..30).map(|k| b.var(&format!("i{k}"), Ty::Int)).collect();
    let body: Vec<At> = (0..SIZE / 40).map(|k| update(id(Ty::Int), to(x[k % 3]), &[var(x[3])])).collect();
    let nested = loops.iter().fold(body, |body, i| vec![count(*i, int(1), var(Var(4)), 1, body)]);
    b.function.body = nested;
    timed("nested loops", b);
}

#[test]
fn many_functions() {
    let mut functions: Vec<Function> = vec![];
    for k in 0..SIZE / 20 {
        let mut b = Builder::new(&format!("f{k}"));
        let (x, y) = (b.param("x", Ty::Int, true), b.param("y", Ty::Int, false));
        b.function.body = (0..10).map(|k| update(mul(Ty::Int), to(x), &[var(y), int(k)])).collect();
        if let Some(callee) = k.checked_sub(1) {
            let args = vec![var(x), var(y)];
            b.function.body.push(at(Stmt::Call { func: Fun(callee as u32), inverse: k % 2 == 0, args }));
        }
        functions.push(b.function);
    }
    let mut p = program(functions);
    let start = Instant::now();
    run(&mut p, &Switches::default());
    let taken = start.elapsed();
    assert!(taken < 3 * LIMIT, "{taken:?}");
}
