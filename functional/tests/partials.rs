//! The partial derivatives of all operators on reals, against differences.

use pendula_functional::ad::ladder::{Stage, gradient};
use pendula_functional::core::{Binary, Builder, Op, Store, Unary, Value, Var, Word};
use pendula_functional::eval::{Limits, Machine};
use pendula_functional::fut;
use pendula_functional::value::Env;
use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::Sources;
use pendula_isa::num::raw::polygamma;

/// The derivatives of a function that `body` writes, with respect to the numbers of its argument.
fn derivative(body: impl FnOnce(&mut Builder<'_>, Var) -> Var, argument: Value) -> Value {
    let mut store = Store::default();
    let mut b = Builder::new(&mut store);
    let mut group = None;
    let f = b.lambda("f", body);
    for bind in &b.binds {
        if let (true, pendula_functional::core::Rhs::Closure(id, _)) = (bind.var == f, &bind.rhs) {
            group = Some(*id);
        }
    }
    let group = group.expect("a group");
    let mut machine = Machine::new(store, Limits::default());
    let function = Value::Closure(0, Word::NONE, Env::new(group, Box::new([])));
    gradient(&mut machine, Stage::D5, &function, &argument, None).expect("a gradient").gradient
}

fn agree(name: &str, found: f64, by: &dyn Fn(f64) -> f64, x: f64) -> bool {
    let h = 1e-5;
    let expected = (by(x - 2.0 * h) - 8.0 * by(x - h) + 8.0 * by(x + h) - by(x + 2.0 * h)) / (12.0 * h);
    if !expected.is_finite() {
        return false;
    }
    assert!((found - expected).abs() <= 1e-8 * expected.abs().max(1.0), "{name} at {x}: {found}, not {expected}");
    true
}

#[test]
fn derivatives_of_functions_of_one_number_agree_with_differences() {
    for op in Unary::ALL.iter().copied() {
        let tried = [-1.7, -0.4, 0.3, 1.6]
            .into_iter()
            .filter(|x| {
                let found = derivative(|b, x| b.op(Op::Unary(op), &[x]), Value::real(*x)).plain_real();
                agree(op.name(), found.expect("a number"), &|x| op.of(x), *x)
            })
            .count();
        assert!(tried > 0, "{} at no point", op.name());
    }
}

#[test]
fn derivatives_of_functions_of_two_numbers_agree_with_differences() {
    for op in Binary::ALL.iter().copied() {
        // The order of a polygamma function is a whole number, which no derivative is taken by.
        let second = if op == Binary::Polygamma { 2.0 } else { 0.7 };
        for (x, y) in [(1.6, second), (0.3, 2.0)] {
            let all = derivative(
                |b, pair| {
                    let (x, y) = (b.part(pair, 0, 2), b.part(pair, 1, 2));
                    b.op(Op::Binary(op), &[x, y])
                },
                Value::pair(Value::real(x), Value::real(y)),
            );
            let part = |n| all.part(n).expect("a pair").and_then(|v| v.plain_real()).expect("a number");
            assert!(agree(op.name(), part(0), &|x| op.of(x, y), x));
            if op != Binary::Polygamma {
                assert!(agree(op.name(), part(1), &|y| op.of(x, y), y));
            }
        }
    }
}

#[test]
fn the_logarithm_of_the_gamma_function_has_derivatives_of_every_order() {
    let text = "def d (f: f64 -> f64) (x: f64): f64 = vjp f x 1\n\
                def t (f: f64 -> f64) (x: f64): f64 = jvp f x 1\n\
                entry fourth (x: f64): f64 = d (t (d (t f64.lgamma))) x";
    let mut none = |name: &str| Err(format!("no file `{name}`"));
    let module = fut::read("test.fut", text, &mut Sources::default(), &mut none, Budget::default()).expect("a program");
    let entry = module.entry("fourth").expect("an entry point");
    let (value, _) = module.call(entry, vec![Value::real(2.5)], Limits::default()).expect("a value");
    let (found, expected) = (value.plain_real().expect("a number"), polygamma(2.5, 3));
    assert!((found - expected).abs() <= 1e-12 * expected, "{found}, not {expected}");
}
