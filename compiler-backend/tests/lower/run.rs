//! Lowered programs, run forward and backward: every statement, many variables.

use crate::lower::common::{self, *};
use pendula_compiler::ir::*;
use pendula_isa::table::{Row, TableFn, int_fn};
use pendula_isa::{Acc, Cond, Ty};

/// `t` computed in a condition, and the condition on it.
fn computed(t: Var, compute: Block, cond: Cond, b: Operand) -> Condition {
    let mut all = vec![alloc(t, AncillaChecks::FULL)];
    all.extend(compute);
    Condition { compute: all, test: test(cond, v(t), b) }
}

#[test]
fn a_condition_that_the_branches_change() {
    // If x is even then x += 7, tell afterwards by y = x mod 2.
    for x in 0..6 {
        let mut b = Build::new("f");
        let p = b.param("x", Ty::Int, true);
        let [s, t] = b.vars(Ty::Int);
        let modulo = TableFn::Int(int_fn::Name::Mod);
        let of = |t| vec![update(modulo, Place::Var(t), &[v(p), c(2)])];
        let pre = computed(s, of(s), Cond::Eq, c(0));
        let post = computed(t, of(t), Cond::Ne, c(0));
        let then = vec![add(p, c(7))];
        let otherwise = vec![add(p, c(3)), sub(p, c(4))];
        let body = vec![branch(pre, post, then, otherwise)];
        // Odd numbers stay even ones less 1: that would not be told apart, so only even numbers are right.
        let p = program(vec![b.body(body)]);
        let module = lowered(&p, &[int("x", x)]).expect("a module");
        match try_run(&module) {
            Ok(ran) => assert_eq!((x % 2, ran.word("x")), if x % 2 == 0 { (0, x + 7) } else { (1, x - 1) }),
            Err(e) => panic!("{e}"),
        }
    }
}

#[test]
fn a_wrong_condition_afterwards_traps() {
    let mut b = Build::new("f");
    let p = b.param("x", Ty::Int, true);
    let t = b.var("t", Ty::Int);
    let pre = computed(t, vec![add(t, v(p))], Cond::Gt, c(0));
    let post = computed(t, vec![add(t, v(p))], Cond::Gt, c(100));
    let module = lowered(&program(vec![b.body(vec![branch(pre, post, vec![add(p, c(1))], vec![])])]), &[int("x", 5)]);
    assert!(try_run(&module.expect("a module")).is_err());
    let mut b = Build::new("f");
    let p = b.param("x", Ty::Int, true);
    let (pre, post) = (when(Cond::Gt, v(p), c(0)), when(Cond::Gt, v(p), c(100)));
    let module = lowered(&program(vec![b.body(vec![branch(pre, post, vec![add(p, c(1))], vec![])])]), &[int("x", 5)]);
    assert!(try_run(&module.expect("a module")).is_err());
}

#[test]
fn floating_point_conditions_with_computation() {
    for (x, expected) in [(0.5, 1.5), (2.0, 102.0), (-3.0, -2.0)] {
        let mut b = Build::new("f");
        let p = b.param("x", Ty::F, true);
        let t = b.var("t", Ty::F);
        let twice = vec![update(FMUL, Place::Var(t), &[v(p), fl(2.0)])];
        let cond = |limit: f64| {
            let mut c = computed(t, twice.clone(), Cond::Lt, fl(limit));
            c.test.ty = Ty::F;
            c
        };
        let then = vec![update(FID, Place::Var(p), &[fl(1.0)])];
        let otherwise = vec![update(FID, Place::Var(p), &[fl(100.0)])];
        let p = program(vec![b.body(vec![branch(cond(2.5), cond(50.0), then, otherwise)])]);
        assert_eq!(run(&p, &[word_of("x", Ty::F, f64::to_bits(x))]).float("x"), expected);
    }
}

#[test]
fn while_loops_with_every_kind_of_condition() {
    for (computes_pre, computes_post) in [(false, false), (true, false), (false, true), (true, true)] {
        for n in 0..4 {
            let mut b = Build::new("f");
            let (k, limit) = (b.param("k", Ty::Int, true), b.param("n", Ty::Int, false));
            let [s, t] = b.vars(Ty::Int);
            let pre = if computes_pre {
                computed(s, vec![add(s, v(limit)), sub(s, v(k))], Cond::Gt, c(0))
            } else {
                when(Cond::Lt, v(k), v(limit))
            };
            let post = if computes_post {
                computed(t, vec![update(MUL, Place::Var(t), &[v(k), c(2)])], Cond::Ne, c(0))
            } else {
                when(Cond::Ne, v(k), c(0))
            };
            let p = program(vec![b.body(vec![repeat(pre, post, vec![add(k, c(1))])])]);
            assert_eq!(run(&p, &[int("k", 0), int("n", n)]).word("k"), n);
        }
    }
}

#[test]
fn loops_that_are_left_in_their_middle() {
    // do: sum += k; k += 1. while k < n. loop: sum += 100. The loop is entered with k = 0 only.
    for (computes_pre, computes_post, short) in (0..8).map(|way| (way & 1 == 1, way & 2 == 2, way & 4 == 4)) {
        for n in 1..4 {
            let mut b = Build::new("f");
            let (k, limit) = (b.param("k", Ty::Int, true), b.param("n", Ty::Int, false));
            let sum = b.param("sum", Ty::Int, true);
            let [s, t] = b.vars(Ty::Int);
            let pre = if computes_pre {
                computed(s, vec![add(s, v(limit)), sub(s, v(k))], Cond::Gt, c(0))
            } else {
                when(Cond::Lt, v(k), v(limit))
            };
            let post = if computes_post {
                computed(t, vec![update(MUL, Place::Var(t), &[v(k), c(2)])], Cond::Ne, c(0))
            } else {
                when(Cond::Ne, v(k), c(0))
            };
            let first = vec![add(sum, v(k)), add(k, c(1))];
            let body = if short { Vec::new() } else { vec![add(sum, c(100))] };
            let p = program(vec![b.body(vec![repeat_from(post, first, pre, body)])]);
            let ran = run(&p, &[int("k", 0), int("n", n), int("sum", 0)]);
            let turns = if short { 0 } else { n - 1 };
            assert_eq!((ran.word("k"), ran.word("sum")), (n, n * (n - 1) / 2 + 100 * turns));
        }
    }
}

#[test]
fn conditions_on_memory() {
    // while a[k] != 0: sum += a[k]; k += 1; told by k afterwards. And a branch on two words of one array.
    for i in 0..3 {
        let mut b = Build::new("f");
        let (sum, k) = (b.param("sum", Ty::Int, true), b.param("k", Ty::Int, true));
        let (a, i_param) = (b.param("a", Ty::Int, false), b.param("i", Ty::Int, false));
        let ra = b.region(Ty::Int);
        let ak = word(mem(ra, Some(a), Some(k), 0));
        let body = vec![update(INT, Place::Var(sum), &[ak]), add(k, c(1))];
        let cond = || when(Cond::Lt, word(mem(ra, Some(a), Some(i_param), 0)), word(mem(ra, Some(a), None, 1)));
        let body = vec![
            repeat(when(Cond::Ne, ak, c(0)), when(Cond::Gt, v(k), c(0)), body),
            branch(cond(), cond(), vec![add(sum, c(1000))], vec![add(sum, c(2000))]),
        ];
        let p = program(vec![b.body(body)]);
        let words = [5, 7, 9, 0];
        let ran = run(&p, &[int("sum", 0), int("k", 0), ints("a", &words, &[]), int("i", i)]);
        let more = if words[i as usize] < words[1] { 1000 } else { 2000 };
        assert_eq!((ran.word("sum"), ran.word("k")), (21 + more, 3));
    }
}

#[test]
fn a_condition_afterwards_on_another_word() {
    // if a[0] > 0 then a[k] += 1 and k += 2; told by a[k] = 9, where k may be beyond the array otherwise.
    for first in [0, 1] {
        let mut b = Build::new("f");
        let (x, a) = (b.param("x", Ty::Int, true), b.param("a", Ty::Int, false));
        let ra = b.region(Ty::Int);
        let at = |n| word(mem(ra, Some(a), None, n));
        let pre = when(Cond::Gt, at(0), c(0));
        let post = when(Cond::Eq, word(mem(ra, Some(a), Some(x), 0)), c(9));
        let body = vec![branch(pre.clone(), post.clone(), vec![add(x, c(2))], vec![])];
        let ran = run(&program(vec![b.body(body)]), &[int("x", 0), ints("a", &[first, 5, 9], &[])]);
        assert_eq!(ran.word("x"), 2 * first);
    }
}

#[test]
fn what_is_undone_is_the_inverse() {
    // A `with` is the same as its computation, its body and the inverse of the computation.
    let mut rng = common::random::Rng(77);
    let shape = common::random::Shape { functions: 1, locals: 4, params: 2, statements: 6, depth: 2 };
    for _ in 0..20 {
        let (mut p, arguments) = common::random::random_program(&mut rng, shape);
        let with = lowered(&p, &arguments).expect("a module");
        let f = &mut p.functions[0];
        let Stmt::With { compute, body, .. } = f.body[0].stmt.clone() else { panic!("not a computation") };
        f.body = [compute.clone(), body, invert::block(&compute)].concat();
        assert_eq!(lowered(&p, &arguments).expect("a module").code, with.code);
    }
}

#[test]
fn bounds_and_steps_in_memory() {
    let mut b = Build::new("f");
    let (sum, a) = (b.param("sum", Ty::Int, true), b.param("a", Ty::Int, false));
    let ra = b.region(Ty::Int);
    let [i, j] = b.vars(Ty::Int);
    let at = |n| word(mem(ra, Some(a), None, n));
    let inner = each(j, v(i), at(1), Step::Const(1), vec![update(MUL, Place::Var(sum), &[v(i), v(j)])]);
    let body = vec![each(i, at(0), at(1), Step::Const(2), vec![inner])];
    let ran = run(&program(vec![b.body(body)]), &[int("sum", 0), ints("a", &[-3, 5], &[])]);
    let expected: i64 = (-3..=5).step_by(2).flat_map(|i| (i..=5).map(move |j| i * j)).sum();
    assert_eq!(ran.word("sum"), expected);
}

#[test]
fn great_numbers_and_odd_operands() {
    let mut b = Build::new("f");
    let (x, y) = (b.param("x", Ty::Int, true), b.param("y", Ty::Int, true));
    let a = b.param("a", Ty::Int, false);
    let ra = b.region(Ty::Int);
    let big = 0x1234_5678_9abc_def0;
    let lt = TableFn::Int(int_fn::Name::Lt);
    let far = 1 << 40;
    let body = vec![
        add(x, c(big)),
        at(Stmt::Update { acc: Acc::Xor, inverse: false, func: INT, dst: Place::Var(x), args: vec![c(-1)] }),
        update(MUL, Place::Var(y), &[c(3), c(5)]),
        update(lt, place(mem(ra, Some(a), None, 1)), &[c(big), v(x)]),
        permute(Row::Rol, Ty::Int, &[word(mem(ra, Some(a), None, 0)), c(65)]),
        permute(Row::Rmul, Ty::Int, &[v(y), word(mem(ra, Some(a), None, 2)), c(100_000), c(7)]),
        permute(Row::Rmul, Ty::Int, &[v(y), word(mem(ra, Some(a), None, 2)), c(7), c(5)]),
        at(Stmt::Assert {
            test: test(Cond::Gt, c(100), word(mem(ra, Some(a), None, 0))),
            why: AssertKind::User,
            reason: None,
        }),
        at(Stmt::Assert { test: test(Cond::Lt, c(3), c(4)), why: AssertKind::User, reason: None }),
        at(Stmt::Show { ty: Ty::Int, value: word(mem(ra, Some(a), None, 0)) }),
        at(Stmt::Show { ty: Ty::Int, value: c(3) }),
        at(Stmt::Print(0)),
        add(a, c(far)),
        update(INT, place(mem(ra, Some(a), None, -far)), &[c(1)]),
        sub(a, c(far)),
    ];
    let ran = run(&program(vec![b.body(body)]), &[int("x", 0), int("y", 0), ints("a", &[3, 0, 0], &[])]);
    assert_eq!(ran.word("x"), !big);
    assert_eq!(ran.words("a")[..2], [7, i64::from(big < !big)]);
}

/// Sixty live variables in nested loops.
fn many_variables(count: usize) -> Program {
    let mut b = Build::new("f");
    let (out, a) = (b.param("out", Ty::Int, true), b.param("a", Ty::Int, false));
    let ra = b.region(Ty::Int);
    let vars: Vec<Var> = (0..count).map(|n| b.var(&format!("v{n}"), Ty::Int)).collect();
    let [i, j] = b.vars(Ty::Int);
    let mut compute: Block = vars.iter().map(|x| alloc(*x, AncillaChecks::FULL)).collect();
    for (n, x) in vars.iter().enumerate() {
        compute.push(add(*x, c(n as i64)));
    }
    let mut inner = Vec::new();
    for (n, x) in vars.iter().enumerate() {
        let other = vars[(n + 1) % count];
        inner.push(update(MUL, Place::Var(*x), &[v(other), v(j)]));
        if n % 7 == 0 {
            inner.push(swap(v(*x), v(other)));
            inner.push(update(INT, Place::Var(*x), &[word(mem(ra, Some(a), Some(i), 0))]));
        }
        if n % 11 == 0 {
            let test = || when(Cond::Gt, v(vars[(n + 5) % count]), v(vars[(n + 9) % count]));
            inner.push(branch(test(), test(), vec![add(*x, v(i))], vec![sub(*x, v(j))]));
        }
    }
    compute.push(each(i, c(0), c(2), Step::Const(1), vec![each(j, v(i), c(3), Step::Const(1), inner)]));
    let body = vars.iter().map(|x| add(out, v(*x))).collect();
    program(vec![b.body(vec![with("all", compute, body)])])
}

#[test]
fn sixty_live_variables() {
    let arguments = [int("out", 0), ints("a", &[3, 1, 4], &[])];
    for count in [20, 27, 28, 29, 30, 31, 60, 300] {
        let p = many_variables(count);
        let ran = run(&p, &arguments);
        let mut interp = common::interp::Interp { program: &p, memory: vec![0, 3, 1, 4], top: 4, steps: 0 };
        let mut args = [0, 1];
        interp.call(FunctionId(0), false, &mut args).expect("a run");
        assert_eq!(ran.word("out").cast_unsigned(), args[0], "{count}");
    }
}

#[test]
fn a_long_function_takes_no_time() {
    let mut b = Build::new("f");
    let (x, a) = (b.param("x", Ty::Int, true), b.param("a", Ty::Int, false));
    let ra = b.region(Ty::Int);
    let vars: Vec<Var> = (0..1000).map(|n| b.var(&format!("v{n}"), Ty::Int)).collect();
    let mut body = Vec::new();
    for n in 0..100 {
        let own = &vars[n * 10..n * 10 + 10];
        let mut compute: Block = own.iter().map(|o| alloc(*o, AncillaChecks::FULL)).collect();
        for k in 0..500 {
            let (s, t) = (own[k % 10], own[(k + 3) % 10]);
            compute.push(update(MUL, Place::Var(s), &[v(t), word(mem(ra, Some(a), None, (k % 4) as i64))]));
        }
        body.push(with("w", compute, vec![add(x, v(own[0]))]));
    }
    let p = program(vec![b.body(body)]);
    let arguments = [int("x", 0), ints("a", &[1, 2, 3, 4], &[])];
    let start = std::time::Instant::now();
    let module = lowered(&p, &arguments).expect("a module");
    let took = start.elapsed();
    assert!(module.code.len() > 100_000);
    // A hundred thousand operations; in release builds it takes a tenth of this.
    assert!(took.as_secs() < 5, "{took:?}");
    println!("{} instructions in {took:?}", module.code.len());
    try_run(&module).unwrap_or_else(|e| panic!("{e}"));
}
