use crate::common::small::{INTS, program, read};
use pendula_compiler::ir::FunctionId;
use pendula_compiler::ir::eval::*;
use pendula_isa::Ty;

const CONFIG: Config = Config { memory: 64, max_steps: 1000, until: None, ieee: false, trap_overflow: false };

/// Runs a body over integers on `x`, `y`, `a` and `n`.
fn go(body: &str, direction: Direction, params: [u64; 4]) -> Result<Evaluation, EvalError> {
    let p = program(INTS, body);
    run(&p, FunctionId(0), direction, params.to_vec(), vec![10, 20, 30], None, &CONFIG)
}

fn forward(body: &str, params: [u64; 4]) -> Result<Evaluation, EvalError> {
    go(body, Direction::Forward, params)
}

#[test]
fn a_run_backward_undoes_a_run_forward() {
    let body = "for i = 0 to 2 step 1 { x += id.i(m[i]) }\nm[1] += id.i(a)\napply swap.i(x, y)";
    let there = forward(body, [1, 2, 3, 4]).unwrap();
    assert_eq!((&there.params[..], &there.memory[..]), (&[2, 61, 3, 4][..], &[10, 23, 30][..]));
    let p = program(INTS, body);
    let back = run(&p, FunctionId(0), Direction::Backward, there.params, there.memory, None, &CONFIG).unwrap();
    assert_eq!((&back.params[..], &back.memory[..]), (&[1, 2, 3, 4][..], &[10, 20, 30][..]));
}

#[test]
fn an_ancilla_must_end_as_zero_where_that_is_checked() {
    let found = forward("begin t check\nt += id.i(5)\nend t check", [0; 4]);
    assert!(matches!(found, Err(EvalError::NotZero { word: 5, .. })), "{found:?}");
    let kept = forward("begin t\nt += id.i(5)\nend t", [0; 4]).unwrap();
    assert_eq!(kept.lost_bits, 64);
    assert!(kept.unchecked.is_some());
}

#[test]
fn the_condition_after_a_branch_must_agree() {
    let body = "if x lt.i 3 { x += id.i(5) } post x gt.i 3";
    assert_eq!(forward(body, [1, 0, 0, 0]).unwrap().params[0], 6);
    assert!(matches!(forward(body, [4, 0, 0, 0]), Err(EvalError::Branch { first: false, .. })));
}

#[test]
fn a_while_loop_is_entered_where_its_second_condition_is_false() {
    let body = "while x lt.i n { x += id.i(1) } post x ne.i 0";
    let there = forward(body, [0, 0, 0, 3]).unwrap();
    assert_eq!(there.params[0], 3);
    assert!(matches!(forward(body, [1, 0, 0, 3]), Err(EvalError::Loop { entered: true, .. })));
    assert_eq!(go(body, Direction::Backward, [3, 0, 0, 3]).unwrap().params[0], 0);
}

#[test]
fn the_last_value_of_a_loop_must_be_reached() {
    let body = "for i = 1 to n step 2 { x += id.i(i) }";
    assert_eq!(forward(body, [0, 0, 0, 5]).unwrap().params[0], 1 + 3 + 5);
    assert_eq!(forward(body, [0, 0, 0, 0]).unwrap().params[0], 0);
    assert!(matches!(forward(body, [0, 0, 0, 4]), Err(EvalError::Range { first: 1, last: 4, step: 2, .. })));
}

#[test]
fn a_word_is_not_its_own_argument() {
    assert!(matches!(forward("m[a] += id.i(m[n])", [0, 0, 1, 1]), Err(EvalError::Alias { .. })));
    assert_eq!(forward("m[a] += id.i(m[n])", [0, 0, 1, 2]).unwrap().memory, [10, 50, 30]);
}

#[test]
fn a_step_too_many_stops_a_run() {
    assert!(matches!(forward("for i = 1 to 2000 step 1 { }", [0; 4]), Err(EvalError::Steps { .. })));
}

#[test]
fn what_is_shown_is_shown_forward_only() {
    let body = "show.i x\nx += id.i(1)\nshow.i x";
    assert_eq!(forward(body, [7, 0, 0, 0]).unwrap().shown, [7, 8].map(|word| Shown::Number(Ty::Int, word)));
    assert_eq!(go(body, Direction::Backward, [8, 0, 0, 0]).unwrap().shown, []);
}

#[test]
fn an_uncall_undoes_what_a_call_does() {
    let p = read(
        "program Q32.32\nfun f {\nout y: i\nin k: i\ny += mul.i(k, 3)\n}\n\
         fun main {\nout x: i\nin n: i\ncall f(x, n)\ncall f(x, 5)\nuncall f(x, n)\n}",
    );
    let out = run(&p, FunctionId(1), Direction::Forward, vec![1, 2], vec![], None, &CONFIG).unwrap();
    assert_eq!(out.params, [16, 2]);
}

#[test]
fn gradients_flow_backward() {
    let p = program("out y: f\nin a: f", "y += mul.f(a, a)");
    let word = f64::to_bits;
    let gradients = Some((vec![word(1.0), word(0.0)], vec![]));
    let out = run(&p, FunctionId(0), Direction::Backward, vec![word(9.0), word(3.0)], vec![], gradients, &CONFIG);
    let out = out.unwrap();
    assert_eq!(out.params, [word(0.0), word(3.0)]);
    assert_eq!(out.gradients.unwrap().0, [word(1.0), word(6.0)]);
}
