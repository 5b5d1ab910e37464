//! The evaluator: both directions, gradients against finite differences, and errors.

use crate::common;

use common::Random;
use common::build::*;
use common::generate::{Case, Profile, generate};
use pendula_compiler::ir::eval::{Config, Direction, EvalError, Evaluation, MAX_CALLS, Shown, run};
use pendula_compiler::ir::*;
use pendula_isa::table::{Row, TableFn, int_fn};
use pendula_isa::{Cond, Fault, Ty};

const CONFIG: Config = Config { memory: 1 << 10, max_steps: 200_000, until: None, ieee: false, trap_overflow: false };

fn go(case: &Case, direction: Direction) -> Result<Evaluation, EvalError> {
    let entry = case.program.entry.unwrap();
    run(&case.program, entry, direction, case.params.clone(), case.memory.clone(), None, &CONFIG)
}

fn f(x: f64) -> u64 {
    x.to_bits()
}

fn close(ty: Ty, a: u64, b: u64) -> bool {
    a == b || (ty == Ty::F && (f64::from_bits(a) - f64::from_bits(b)).abs() < 1e-7)
}

#[test]
fn forward_then_backward_restores_everything() {
    let mut ran = 0;
    for seed in 0..1500 {
        let profile = if seed % 2 == 0 { Profile::EXACT } else { Profile::ALL };
        let case = generate(seed, profile);
        let there = match go(&case, Direction::Forward) {
            Ok(there) => there,
            Err(EvalError::Fault { .. } | EvalError::NotZero { .. } | EvalError::Steps { .. }) => continue,
            Err(e) => panic!("{seed}: {e:?}"),
        };
        ran += 1;
        let entry = case.program.entry.unwrap();
        let (params, memory) = (there.params.clone(), there.memory.clone());
        let back = run(&case.program, entry, Direction::Backward, params.clone(), memory.clone(), None, &CONFIG)
            .unwrap_or_else(|e| panic!("{seed}: {e:?}"));
        for (n, ty) in case.types.iter().enumerate() {
            assert!(close(*ty, back.params[n], case.params[n]), "{seed}: parameter {n}");
        }
        for (n, ty) in case.memory_types.iter().enumerate() {
            assert!(close(*ty, back.memory[n], case.memory[n]), "{seed}: memory {n}");
        }
        // The inverter and the evaluator agree on what the inverse is.
        let mut inverted = case.program.clone();
        let body = &mut inverted.functions[entry.0 as usize].body;
        *body = invert::block(body);
        let other = run(&inverted, entry, Direction::Forward, params, memory, None, &CONFIG).unwrap();
        assert_eq!((other.params, other.memory), (back.params, back.memory), "{seed}");
        assert_eq!(there.unchecked, None, "{seed}");
    }
    assert!(ran > 1200, "only {ran} programs ran");
}

#[test]
fn gradients_agree_with_finite_differences() {
    let (mut tried, mut moved) = (0, 0);
    for seed in 0..800 {
        let case = generate(seed, Profile::SMOOTH);
        let Ok(there) = go(&case, Direction::Forward) else { continue };
        tried += 1;
        let mut random = Random(seed);
        let mut weights = |types: &[Ty]| -> Vec<f64> {
            types.iter().map(|t| if *t == Ty::F { random.unit() - 0.5 } else { 0.0 }).collect()
        };
        let weights = [weights(&case.types), weights(&case.memory_types)];
        let seeds = weights.clone().map(|w| w.into_iter().map(f).collect::<Vec<u64>>());
        let [a, b] = seeds;
        let entry = case.program.entry.unwrap();
        let back = run(
            &case.program,
            entry,
            Direction::Backward,
            there.params.clone(),
            there.memory.clone(),
            Some((a, b)),
            &CONFIG,
        )
        .unwrap_or_else(|e| panic!("{seed}: {e:?}"));
        assert_eq!(back.undropped, None, "{seed}");
        let (of_params, of_memory) = back.gradients.unwrap();
        let value = |params: &[u64], memory: &[u64]| -> Option<f64> {
            let out =
                run(&case.program, entry, Direction::Forward, params.to_vec(), memory.to_vec(), None, &CONFIG).ok()?;
            let sum = |w: &[f64], x: &[u64]| -> f64 {
                w.iter().zip(x).filter(|(w, _)| **w != 0.0).map(|(w, x)| w * f64::from_bits(*x)).sum()
            };
            Some(sum(&weights[0], &out.params) + sum(&weights[1], &out.memory))
        };
        for n in 0..6 {
            let in_memory = n >= 3 && !case.memory.is_empty();
            let types = if in_memory { &case.memory_types } else { &case.types };
            let at = random.below(types.len());
            if types[at] != Ty::F {
                continue;
            }
            let h = 1e-5;
            let shifted = |by: f64| {
                let (mut p, mut m) = (case.params.clone(), case.memory.clone());
                let word = if in_memory { &mut m[at] } else { &mut p[at] };
                *word = f(f64::from_bits(*word) + by);
                value(&p, &m)
            };
            let (Some(up), Some(down)) = (shifted(h), shifted(-h)) else { continue };
            let expected = (up - down) / (2.0 * h);
            let got = f64::from_bits(if in_memory { of_memory[at] } else { of_params[at] });
            let scale = 1.0 + expected.abs().max(got.abs());
            if scale > 1e4 {
                continue;
            }
            moved += usize::from((expected - if in_memory { weights[1][at] } else { weights[0][at] }).abs() > 1e-3);
            assert!((expected - got).abs() / scale < 1e-4, "{seed}: {expected} and {got}");
        }
    }
    assert!(tried > 700 && moved > 200, "{tried} programs, {moved} gradients worth a look");
}

#[test]
fn gradients_are_undone_by_the_way_back() {
    // Without dropped gradient words the run with gradients is a bijection on fixed point.
    let mut n = 0;
    for seed in 0..600 {
        let case = generate(seed, Profile { types: &[Ty::Q], ..Profile::EXACT });
        let entry = case.program.entry.unwrap();
        let mut random = Random(seed);
        let seeds = |len: usize, random: &mut Random| (0..len).map(|_| random.word() >> 30).collect::<Vec<u64>>();
        let a: Vec<u64> = seeds(case.types.len(), &mut random)
            .iter()
            .zip(&case.types)
            .map(|(s, t)| if *t == Ty::Q { *s } else { 0 })
            .collect();
        let b: Vec<u64> = seeds(case.memory.len(), &mut random)
            .iter()
            .zip(&case.memory_types)
            .map(|(s, t)| if *t == Ty::Q { *s } else { 0 })
            .collect();
        let Ok(there) = run(
            &case.program,
            entry,
            Direction::Forward,
            case.params.clone(),
            case.memory.clone(),
            Some((a.clone(), b.clone())),
            &CONFIG,
        ) else {
            continue;
        };
        if there.dropped > 0 {
            continue;
        }
        let back = run(&case.program, entry, Direction::Backward, there.params, there.memory, there.gradients, &CONFIG)
            .unwrap();
        if back.dropped > 0 {
            continue;
        }
        n += 1;
        assert_eq!(back.gradients, Some((a, b)), "{seed}");
    }
    assert!(n > 100, "{n}");
}

/// `y += x·z` with an ancilla in between, and a loop over an array.
fn dot() -> Program {
    let mut b = Builder::new("dot");
    let y = b.param("y", Ty::F, true);
    let a = b.param("a", Ty::Int, false);
    let n = b.param("n", Ty::Int, false);
    let ra = b.region("a", Ty::F);
    let (i, t) = (b.var("i", Ty::Int), b.var("t", Ty::F));
    let body = vec![
        alloc(t),
        update(id(Ty::F), to(t), &[Operand::Mem(word(a, Some(i), -1, ra))]),
        update(mul(Ty::F), to(y), &[var(t), var(t)]),
        undo(id(Ty::F), to(t), &[Operand::Mem(word(a, Some(i), -1, ra))]),
        free(t),
    ];
    b.function.body = vec![count(i, int(1), var(n), 1, body)];
    program(vec![b.function])
}

#[test]
fn a_known_gradient() {
    let p = dot();
    let x = [1.0, 2.0, 3.0].map(f).to_vec();
    let there = run(&p, FunctionId(0), Direction::Forward, vec![0, 0, 3], x.clone(), None, &CONFIG).unwrap();
    assert_eq!(f64::from_bits(there.params[0]), 14.0);
    let seed = (vec![f(1.0), 0, 0], vec![]);
    let back = run(&p, FunctionId(0), Direction::Backward, there.params, there.memory, Some(seed), &CONFIG).unwrap();
    assert_eq!(back.memory, x);
    assert_eq!(back.gradients.unwrap().1, [2.0, 4.0, 6.0].map(f));
    // The ancilla's gradient is dropped once in each iteration.
    assert_eq!((back.dropped, back.undropped), (3, None));
    // A loop whose last value is before its first has no iteration.
    let none = run(&p, FunctionId(0), Direction::Forward, vec![0, 0, 0], x, None, &CONFIG).unwrap();
    assert_eq!(none.params[0], 0);
}

#[test]
fn what_is_left_is_noticed() {
    let mut p = dot();
    let Stmt::For { body, .. } = &mut p.functions[0].body[0].stmt else { panic!() };
    for s in body.iter_mut() {
        if let Stmt::Ancilla { checks, .. } = &mut s.stmt {
            *checks = AncillaChecks { check: false, drop: false };
        }
    }
    let x = [1.0, 2.0].map(f).to_vec();
    let run =
        |direction, params| run(&p, FunctionId(0), direction, params, x.clone(), Some((vec![f(1.0)], vec![])), &CONFIG);
    assert!(run(Direction::Backward, vec![0, 0, 2]).unwrap().undropped.is_some());
    let mut q = p.clone();
    let Stmt::For { body, .. } = &mut q.functions[0].body[0].stmt else { panic!() };
    body.remove(3);
    let out =
        pendula_compiler::ir::eval::run(&q, FunctionId(0), Direction::Forward, vec![0, 0, 2], x.clone(), None, &CONFIG);
    assert!(out.unwrap().unchecked.is_some());
}

fn refuses(b: Builder, params: Vec<u64>) -> EvalError {
    run(&program(vec![b.function]), FunctionId(0), Direction::Forward, params, vec![0; 4], None, &CONFIG).unwrap_err()
}

#[test]
fn errors() {
    let ints = |body: fn(Var, Var, &mut Builder) -> Vec<LocatedStmt>| {
        let mut b = Builder::new("f");
        let (x, y) = (b.param("x", Ty::Int, true), b.param("y", Ty::Int, false));
        b.function.body = body(x, y, &mut b);
        refuses(b, vec![3, 5])
    };
    let left = ints(|_, _, b| {
        let t = b.var("t", Ty::Int);
        vec![alloc(t), update(id(Ty::Int), to(t), &[int(1)]), free(t)]
    });
    assert_eq!(left, EvalError::NotZero { loc: Loc::default(), name: "t".into(), word: 1, index: None });
    let branch = ints(|x, _, _| {
        let t = test(Cond::Eq, Ty::Int, var(x), int(3));
        vec![branch(t, vec![update(id(Ty::Int), to(x), &[int(1)])], vec![])]
    });
    assert!(matches!(branch, EvalError::Branch { .. }));
    let looped = ints(|x, _, _| {
        let c = |k| Condition::of(test(Cond::Ne, Ty::Int, var(x), int(k)));
        vec![at(Stmt::While {
            pre: c(9),
            post: c(0),
            first: Vec::new(),
            body: vec![update(id(Ty::Int), to(x), &[int(1)])],
        })]
    });
    assert!(matches!(looped, EvalError::Loop { .. }));
    let range = ints(|_, _, b| {
        let i = b.var("i", Ty::Int);
        vec![count(i, int(0), int(3), 2, vec![])]
    });
    assert!(matches!(range, EvalError::Range { first: 0, last: 3, step: 2, .. }));
    let bound = ints(|x, _, b| {
        let i = b.var("i", Ty::Int);
        vec![count(i, int(0), var(x), 1, vec![update(id(Ty::Int), to(x), &[int(1)])])]
    });
    assert!(matches!(bound, EvalError::Changed { .. }));
    let param = ints(|_, y, _| vec![update(id(Ty::Int), to(y), &[int(1)])]);
    assert!(matches!(param, EvalError::Changed { name, .. } if name == "y"));
    let memory = ints(|x, _, b| {
        let r = b.region("r", Ty::Int);
        vec![update(id(Ty::Int), to_mem(word(x, None, 5000, r)), &[int(1)])]
    });
    assert!(matches!(memory, EvalError::Fault { fault: Fault::Memory, .. }));
    let alias = ints(|x, _, b| {
        let r = b.region("r", Ty::Int);
        let m = |k| Operand::Mem(word(x, None, k, r));
        vec![permute(Row::Swap, false, Ty::Int, &[m(0), m(0)])]
    });
    assert!(matches!(alias, EvalError::Alias { .. }));
    let zero = ints(|x, _, _| vec![update(TableFn::Int(int_fn::Name::Div), to(x), &[int(1), int(0)])]);
    assert!(matches!(zero, EvalError::Fault { fault: Fault::DivideByZero, .. }));
    let assert = ints(|x, y, _| {
        vec![at(Stmt::Assert { test: test(Cond::Gt, Ty::Int, var(x), var(y)), why: AssertKind::User, reason: None })]
    });
    assert_eq!(assert, EvalError::Assert { loc: Loc::default(), why: AssertKind::User, reason: None, a: 3, b: 5 });
    let leak = ints(|_, _, b| {
        let t = b.var("t", Ty::Int);
        vec![alloc(t), update(id(Ty::Int), to(t), &[int(1)])]
    });
    assert!(matches!(leak, EvalError::Leak { .. }));
    let order = ints(|_, _, b| {
        let r = b.region("r", Ty::Int);
        let (p, q) = (b.var("p", Ty::Int), b.var("q", Ty::Int));
        let array = |base, free| {
            at(Stmt::Array { base, len: int(2), region: r, ty: Ty::Int, free, checks: AncillaChecks::FULL })
        };
        vec![array(p, false), array(q, false), array(p, true), array(q, true)]
    });
    assert!(matches!(order, EvalError::Order { .. }));
    let endless = ints(|x, _, b| {
        let i = b.var("i", Ty::Int);
        vec![count(i, int(0), int(i64::MAX), 1, vec![]), update(id(Ty::Int), to(x), &[int(1)])]
    });
    assert!(matches!(endless, EvalError::Steps { .. }));
}

#[test]
fn recursion_has_a_limit() {
    // f(x, n): if n ≠ 0 { with m = n − 1 { f(x, m) }; x += n }
    let mut b = Builder::new("f");
    let (x, n) = (b.param("x", Ty::Int, true), b.param("n", Ty::Int, false));
    let m = b.var("m", Ty::Int);
    let call = at(Stmt::Call { func: FunctionId(0), inverse: false, args: vec![var(x), var(m)] });
    let compute = vec![alloc(m), update(id(Ty::Int), to(m), &[var(n)]), undo(id(Ty::Int), to(m), &[int(1)])];
    let then = vec![with(compute, vec![call]), update(id(Ty::Int), to(x), &[var(n)])];
    b.function.body = vec![branch(test(Cond::Ne, Ty::Int, var(n), int(0)), then, vec![])];
    let p = program(vec![b.function]);
    let config = Config { max_steps: 10 * MAX_CALLS as u64, ..CONFIG };
    let run = |direction, params: Vec<u64>| run(&p, FunctionId(0), direction, params, vec![], None, &config);
    let deep = MAX_CALLS as u64 - 1;
    let there = run(Direction::Forward, vec![0, deep]).unwrap();
    assert_eq!(there.params[0], deep * (deep + 1) / 2);
    assert_eq!(run(Direction::Backward, there.params).unwrap().params, [0, deep]);
    assert!(matches!(run(Direction::Forward, vec![0, deep + 1]), Err(EvalError::Depth { .. })));
}

#[test]
fn arguments_by_reference_copy_and_constant() {
    // g(y, a, b): with a -= b, temporarily { y += a }; `a` has its old value at the end.
    let mut g = Builder::new("g");
    let (y, a, b) = (g.param("y", Ty::Q, true), g.param("a", Ty::Q, false), g.param("b", Ty::Q, false));
    g.function.body =
        vec![with(vec![update(id(Ty::Q), to(a), &[var(b)])], vec![update(mul(Ty::Q), to(y), &[var(a), var(a)])])];
    let mut main = Builder::new("main");
    let (u, v) = (main.param("u", Ty::Q, true), main.param("v", Ty::Q, false));
    let one = Operand::Const(1 << 32);
    main.function.body = vec![
        at(Stmt::Call { func: FunctionId(0), inverse: false, args: vec![var(u), var(v), var(v)] }),
        at(Stmt::Call { func: FunctionId(0), inverse: false, args: vec![var(u), one, var(v)] }),
    ];
    let p = program(vec![g.function, main.function]);
    let q = |x: f64| (x * 4294967296.0) as i64 as u64;
    // (2v)² + (1 + v)² at v = 3; its derivative is 8v + 2(1 + v).
    let there = run(&p, FunctionId(1), Direction::Forward, vec![0, q(3.0)], vec![], None, &CONFIG).unwrap();
    assert_eq!(there.params, [q(52.0), q(3.0)]);
    let seed = Some((vec![q(1.0), 0], vec![]));
    let back = run(&p, FunctionId(1), Direction::Backward, there.params, vec![], seed, &CONFIG).unwrap();
    assert_eq!(back.gradients.unwrap().0[1], q(32.0));
}

#[test]
fn shows_when_the_machine_runs_forward() {
    let mut g = Builder::new("g");
    let y = g.param("y", Ty::Int, true);
    g.function.body = vec![at(Stmt::Show { ty: Ty::Int, value: var(y) }), update(id(Ty::Int), to(y), &[int(1)])];
    let mut main = Builder::new("main");
    let u = main.param("u", Ty::Int, true);
    let call = |inverse| at(Stmt::Call { func: FunctionId(0), inverse, args: vec![var(u)] });
    main.function.body = vec![call(false), call(true), at(Stmt::Print(0))];
    let p = program(vec![g.function, main.function]);
    let run = |direction| run(&p, FunctionId(1), direction, vec![7], vec![], None, &CONFIG).unwrap().shown;
    assert_eq!(run(Direction::Forward), [Shown::Number(Ty::Int, 7), Shown::Text(0)]);
    // Backward, the uncall is undone by a call.
    assert_eq!(run(Direction::Backward), [Shown::Number(Ty::Int, 7)]);
}

#[test]
fn ancillas_of_floats_may_miss_zero_by_a_little() {
    let leave = |k: f64| {
        let mut b = Builder::new("f");
        let t = b.var("t", Ty::F);
        b.function.body = vec![alloc(t), update(id(Ty::F), to(t), &[Operand::Const(f(k))]), free(t)];
        run(&program(vec![b.function]), FunctionId(0), Direction::Forward, vec![], vec![], None, &CONFIG)
    };
    assert_eq!(leave(1e-9).unwrap().lost_bits, 64);
    assert_eq!(leave(0.0).unwrap().lost_bits, 0);
    assert!(matches!(leave(1e-7), Err(EvalError::NotZero { .. })));
}
