//! The ladder from naive dual numbers to a tape: values, derivatives and counts of each stage.

mod arrays;
mod complexity;
mod programs;

use pendula_functional::ad::ladder::LadderOp;
use pendula_functional::ad::ladder::{Stage, gradient, staging};
use pendula_functional::core::{Binary, Builder, GroupId, IntType, Op, Rhs, Store, Value, Var, Word};
use pendula_functional::eval::{Limits, Machine};
use pendula_functional::value::Env;

/// A function of one argument, without free variables.
fn function(store: &mut Store, body: impl FnOnce(&mut Builder<'_>, Var) -> Var) -> Value {
    let mut b = Builder::new(store);
    b.lambda("f", body);
    let Some(Rhs::Closure(group, _)) = b.binds.last().map(|bind| bind.rhs.clone()) else { panic!("a closure") };
    Value::Closure(0, Word::NONE, Env::new(group, Box::new([])))
}

fn add(b: &mut Builder<'_>, x: Var, y: Var) -> Var {
    b.op(Op::Binary(Binary::Add), &[x, y])
}

fn mul(b: &mut Builder<'_>, x: Var, y: Var) -> Var {
    b.op(Op::Binary(Binary::Mul), &[x, y])
}

#[test]
fn every_stage_differentiates_the_first_example() {
    for stage in Stage::ALL {
        let mut store = Store::default();
        let f = function(&mut store, |b, both| {
            let (x, y) = (b.part(both, 0, 2), b.part(both, 1, 2));
            let z = add(b, x, y);
            mul(b, x, z)
        });
        let mut machine = Machine::new(store, Limits::default());
        let point = Value::pair(Value::real(3.0), Value::real(4.0));
        let found = gradient(&mut machine, stage, &f, &point, None).expect("a gradient");
        assert_eq!(found.value.show(), "21", "{stage:?}");
        assert_eq!(found.gradient.show(), "(10 . 3)", "{stage:?}");
        let tape = found.tape.as_ref().map(|tape| tape.text());
        let wanted = "#0 []\n#1 []\n#2 [(1, #0), (1, #1)]\n#3 [(7, #0), (3, #2)]\n";
        assert_eq!(tape.as_deref(), (stage == Stage::D5).then_some(wanted));
        // x is used twice: in D1 its backpropagator is called twice.
        let calls = [5, 4, 4, 4, 0][stage as usize];
        assert_eq!(found.counts.backpropagators, calls, "{stage:?}");
    }
}

#[test]
fn calls_are_staged_as_in_the_paper() {
    let mut store = Store::default();
    let mut machine = {
        // f1 puts its argument into the second of three inputs, f2 = f1 (2 z) + f1 (3 z), f3 = f2 (4 z) + f1 (5 z), f4 = f2 z + f3 (2 z).
        let input = group(&mut store, |b, z| {
            let i = b.constant(Value::int(IntType::I64, 1));
            b.op(Op::Ladder(LadderOp::StagedInput), &[i, z])
        });
        assert_eq!(input, GroupId(0));
        Machine::new(store, Limits::default())
    };
    let mut backs = vec![Value::Closure(0, Word::NONE, Env::new(GroupId(0), Box::new([])))];
    for calls in [[(1, 2.0), (1, 3.0)], [(2, 4.0), (1, 5.0)], [(2, 1.0), (3, 2.0)]] {
        let store = machine.store_mut();
        let free: Vec<Var> = (0..2).map(|_| store.var("f", None)).collect();
        let made = group(store, |b, z| {
            let staged: Vec<Var> = calls
                .iter()
                .zip(&free)
                .map(|((id, factor), f)| {
                    let id = b.constant(Value::int(IntType::I64, *id));
                    let factor = b.real(*factor);
                    let z = mul(b, factor, z);
                    b.op(Op::Ladder(LadderOp::StagedCall), &[id, *f, z])
                })
                .collect();
            b.op(Op::Ladder(LadderOp::StagedAdd), &staged)
        });
        let captured: Vec<Value> = machine
            .store()
            .get(made)
            .free
            .iter()
            .map(|var| {
                let n = free.iter().position(|f| f == var).expect("one of the two");
                backs[calls[n].0 as usize - 1].clone()
            })
            .collect();
        backs.push(Value::Closure(0, Word::NONE, Env::new(made, captured.into_boxed_slice())));
    }
    let (gradient, trace) = staging(&mut machine, 3, &backs[3], 4, 1.0).expect("it resolves");
    let wanted: [&[(u64, f64)]; 5] = [&[(4, 1.0)], &[(2, 1.0), (3, 2.0)], &[(1, 10.0), (2, 9.0)], &[(1, 55.0)], &[]];
    assert_eq!(trace, wanted);
    assert_eq!(gradient, [0.0, 55.0, 0.0]);
}

fn group(store: &mut Store, body: impl FnOnce(&mut Builder<'_>, Var) -> Var) -> GroupId {
    let mut b = Builder::new(store);
    b.lambda("f", body);
    match b.binds.last().map(|bind| bind.rhs.clone()) {
        Some(Rhs::Closure(group, _)) => group,
        other => panic!("{other:?}"),
    }
}
