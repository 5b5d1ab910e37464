//! What stages cost when programs grow.

use pendula_functional::ad::ladder::Gradient;
use pendula_functional::ad::ladder::Stage;
use pendula_functional::eval::Limits;
use pendula_functional::source::{Method, Notation, Source, read};
use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::Sources;
use pendula_isa::sample;

/// A chain of n products and sums, in which each number is used twice; a scalar product of two lists; n steps of a rotation.
const PROGRAMS: &str = "
(define (car (cons x y)) x)
(define (cdr (cons x y)) y)
(define (times n) (if (= n 0) '() (cons #t (times (- n 1)))))
(define (chain steps x y) (if (null? steps) (+ x y) (chain (cdr steps) (* x y) (+ x y))))
(define (chain-100 x y) (chain (times 100) x y))
(define (dot a b) (if (null? a) 0 (+ (* (car a) (car b)) (dot (cdr a) (cdr b)))))
(define (turns steps x y)
  (if (null? steps) (* x y)
    (turns (cdr steps) (- (* 0.8 x) (* 0.6 y)) (+ (* 0.6 x) (* 0.8 y)))))
(define (turn steps) (lambda (x y) (turns steps x y)))
(define turn-250 (turn (times 250)))
(define turn-500 (turn (times 500)))
(define turn-1000 (turn (times 1000)))
(define turn-2000 (turn (times 2000)))
(define turn-4000 (turn (times 4000)))
(define turn-8000 (turn (times 8000)))
";

fn program() -> Source {
    let mut sources = Sources::default();
    let read =
        read(Notation::Vlad, ("programs", PROGRAMS), &mut sources, &mut |_, _| Err("no".into()), &Budget::default());
    read.unwrap_or_else(|diagnostics| panic!("{diagnostics:?}"))
}

fn cost(program: &Source, entry: &str, arguments: &str, stage: Stage) -> Gradient {
    let budget = Budget::default();
    let mut call = program.call(Some(entry), arguments, Limits::default(), &budget).unwrap_or_else(|f| panic!("{f:?}"));
    call.gradient(None, Method::Ladder(stage)).unwrap_or_else(|f| panic!("{entry} by {stage:?}: {f:?}"))
}

/// The calls of two series: lists of 250 to 2000 elements, and 1000 to 8000 turns.
fn series(program: &Source, stage: Stage) -> [Vec<Gradient>; 2] {
    let dot = |n: u32| cost(program, "dot", &format!("[1...{n}],[1...{n}]"), stage);
    let turn = |n: u32| cost(program, &format!("turn-{n}"), "1,2", stage);
    [[250, 500, 1000, 2000].map(dot).into(), [1000, 2000, 4000, 8000].map(turn).into()]
}

/// Checks that counts at n, 2n, 4n, 8n grow as n does, within 5 %.
fn linear(what: &str, counts: &[u64]) {
    for pair in counts.windows(2) {
        let ratio = pair[1] as f64 / pair[0] as f64;
        assert!((1.9..=2.1).contains(&ratio), "{what}: {counts:?}");
    }
}

fn all(series: &[Gradient], count: impl Fn(&Gradient) -> u64) -> Vec<u64> {
    series.iter().map(count).collect()
}

fn steps(gradient: &Gradient) -> u64 {
    gradient.passes[0].steps + gradient.passes[1].steps
}

fn arithmetic(gradient: &Gradient) -> u64 {
    gradient.passes[0].arithmetic() + gradient.passes[1].arithmetic()
}

#[test]
fn arrays_and_the_tape_take_time_in_proportion_to_the_program() {
    let program = program();
    for stage in [Stage::D4, Stage::D5] {
        for series in series(&program, stage) {
            linear("steps", &all(&series, steps));
            linear("arithmetic", &all(&series, arithmetic));
            linear("writes", &all(&series, |g| g.counts.array_writes));
            linear("IDs", &all(&series, |g| g.counts.ids));
        }
    }
}

#[test]
fn cayleys_functions_visit_a_logarithm_of_nodes_for_each_operation_on_maps() {
    let program = program();
    for series in series(&program, Stage::D3) {
        linear("steps", &all(&series, steps));
        linear("operations", &all(&series, |g| g.counts.maps.operations));
        for gradient in &series {
            let counts = &gradient.counts;
            let n = counts.ids as f64;
            assert!((counts.maps.visits as f64) <= 4.0 * n * n.log2(), "{counts:?}");
            assert_eq!(counts.gradient_numbers, 0);
        }
    }
}

#[test]
fn without_cayleys_functions_each_call_writes_gradients_of_all_inputs() {
    let program = program();
    let dot = |n: u32| cost(&program, "dot", &format!("[1...{n}],[1...{n}]"), Stage::D2);
    let counts: Vec<u64> = [50, 100, 200].map(|n| dot(n).counts.gradient_numbers).into();
    for pair in counts.windows(2) {
        let ratio = pair[1] as f64 / pair[0] as f64;
        assert!((3.8..=4.2).contains(&ratio), "{counts:?}");
    }
}

#[test]
fn deep_recursion_and_long_lists_need_no_stack_of_the_host() {
    let program = program();
    let n = if sample::all() { 200_000 } else { 100_000 };
    let list = format!("[1...{n}],[1...{n}]");
    let gradient = cost(&program, "dot", &list, Stage::D5);
    assert_eq!(gradient.counts.nodes, 4 * n + 1);
    let gradient = cost(&program, "dot", &list, Stage::D4);
    assert_eq!(gradient.counts.backpropagators, 4 * n + 1);
}
