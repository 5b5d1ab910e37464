//! Lowered calls: many arguments, recursion, uncalls.

use crate::lower::common::{self, *};
use pendula_compiler::ir::*;
use pendula_isa::{Cond, Ty};

#[test]
fn calls_with_up_to_forty_arguments() {
    for count in 1..=40 {
        // g adds to each word its number, times the word before it; every third is only read.
        let mut g = Build::new("g");
        let params: Vec<Var> = (0..count).map(|n| g.param(&format!("p{n}"), Ty::Int, n % 3 != 2)).collect();
        let mut body = Vec::new();
        for n in (1..count).filter(|n| n % 3 != 2) {
            body.push(update(MUL, Place::Var(params[n]), &[v(params[n - 1]), c(n as i64)]));
        }
        let g = g.body(body);
        let mut b = Build::new("f");
        let (out, a) = (b.param("out", Ty::Int, true), b.param("a", Ty::Int, false));
        let ra = b.region(Ty::Int);
        let locals: Vec<Var> = (0..count).map(|n| b.var(&format!("l{n}"), Ty::Int)).collect();
        let mut compute: Block = locals.iter().map(|l| alloc(*l, AncillaChecks::FULL)).collect();
        compute.extend(locals.iter().enumerate().map(|(n, l)| add(*l, c(n as i64 + 1))));
        // In reverse order; words of the array, constants and one variable twice are among them.
        let args: Vec<Operand> = (0..count)
            .map(|n| match n % 6 {
                2 => c(n as i64 * 1000),
                5 => v(locals[2 % count]),
                3 => word(mem(ra, Some(a), None, n as i64)),
                _ => v(locals[count - 1 - n]),
            })
            .collect();
        // A written word must not be passed twice.
        let twice = |n: usize| args.iter().enumerate().any(|(k, a)| k != n && *a == args[n]);
        let fine = (0..count).all(|n| n % 3 == 2 || matches!(args[n], Operand::Mem(_)) || !twice(n));
        let args = if fine { args } else { (0..count).map(|n| v(locals[count - 1 - n])).collect() };
        compute.extend([call(1, &args), call(1, &args), uncall(1, &args)]);
        let mut outs: Block = locals.iter().map(|l| add(out, v(*l))).collect();
        outs.push(update(INT, Place::Var(out), &[word(mem(ra, Some(a), None, 3))]));
        let p = program(vec![b.body(vec![with("w", compute, outs)]), g]);
        let data: Vec<i64> = (0..41).collect();
        let ran = run(&p, &[int("out", 0), ints("a", &data, &[])]);
        let memory: Vec<u64> = std::iter::once(0).chain(data.iter().map(|w| w.cast_unsigned())).collect();
        let mut interp = common::interp::Interp { program: &p, top: memory.len(), memory, steps: 0 };
        let mut args = [0, 1];
        interp.call(FunctionId(0), false, &mut args).expect("a run");
        assert_eq!(ran.word("out").cast_unsigned(), args[0], "{count}");
    }
}

#[test]
fn an_entry_with_many_arguments() {
    let mut b = Build::new("f");
    let params: Vec<Var> = (0..50).map(|n| b.param(&format!("p{n}"), Ty::Int, true)).collect();
    let body = (1..50).map(|n| add(params[n], v(params[n - 1]))).collect();
    let arguments: Vec<_> = (0..50).map(|n| int(&format!("x{n}"), n)).collect();
    let ran = run(&program(vec![b.body(body)]), &arguments);
    assert_eq!(ran.word("x49"), (0..50).sum::<i64>());
}

/// fib(out!, n): out! += fib(n), by recursion.
fn fib() -> IrFunction {
    let mut b = Build::new("fib");
    let (out, n) = (b.param("out!", Ty::Int, true), b.param("n", Ty::Int, false));
    let [a, m] = b.vars(Ty::Int);
    let test = || when(Cond::Lt, v(n), c(2));
    let compute = vec![
        alloc(a, AncillaChecks::FULL),
        alloc(m, AncillaChecks::FULL),
        add(m, v(n)),
        sub(m, c(1)),
        call(0, &[v(a), v(m)]),
    ];
    let body = vec![add(out, v(a))];
    let second = vec![with("one", compute.clone(), body.clone()), {
        let mut compute = compute;
        compute.insert(4, sub(m, c(1)));
        with("two", compute, body)
    }];
    b.body(vec![branch(test(), test(), vec![add(out, v(n))], second)])
}

#[test]
fn recursion() {
    let ran = run(&program(vec![fib()]), &[int("out!", 100), int("n", 10)]);
    assert_eq!(ran.word("out!"), 155);
}

#[test]
fn deep_recursion() {
    // f(n): if n > 0 then n -= 1; f(n); n += 1; out += n.
    let mut b = Build::new("f");
    let (out, n) = (b.param("out!", Ty::Int, true), b.param("n", Ty::Int, true));
    let test = || when(Cond::Gt, v(n), c(0));
    let then = vec![sub(n, c(1)), call(0, &[v(out), v(n)]), add(n, c(1)), add(out, v(n))];
    let ran =
        run(&program(vec![b.body(vec![branch(test(), test(), then, vec![])])]), &[int("out!", 0), int("n", 20_000)]);
    assert_eq!(ran.word("out!"), 20_000 * 20_001 / 2);
}

#[test]
fn uncalls_undo_calls() {
    let mut b = Build::new("f");
    let (x, n) = (b.param("x", Ty::Int, true), b.param("n", Ty::Int, false));
    let body = vec![call(1, &[v(x), v(n)]), uncall(1, &[v(x), v(n)]), uncall(1, &[v(x), v(n)])];
    let mut fib = fib();
    for at in &mut fib.body {
        rename(at);
    }
    // Calls of fib are calls of function 1 now.
    fn rename(at: &mut LocatedStmt) {
        match &mut at.stmt {
            Stmt::Call { func, .. } => *func = FunctionId(1),
            Stmt::If { then, otherwise, .. } => then.iter_mut().chain(otherwise).for_each(rename),
            Stmt::With { compute, body, .. } => compute.iter_mut().chain(body).for_each(rename),
            _ => {}
        }
    }
    let ran = run(&program(vec![b.body(body), fib]), &[int("x", 7), int("n", 9)]);
    assert_eq!(ran.word("x"), 7 - 34);
}
