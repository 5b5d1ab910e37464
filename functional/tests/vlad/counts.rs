//! What derivatives cost, by counts.

use pendula_functional::core::{Binary, Unary};

use super::{MODES, run};

/// The arithmetic of the expression at the end of a program, without what comes before.
fn arithmetic(text: &str) -> (u64, [u64; Unary::ALL.len()], [u64; Binary::ALL.len()]) {
    let counts = run(text).counts;
    (counts.arithmetic(), counts.unary, counts.binary)
}

const POWER: &str = "(define (power x n) (if (zero? n) 1 (* x (power x (- n 1)))))
(define (wave x) (+ (sin (power x 5)) (/ (exp x) (sqrt x))))";

#[test]
fn the_forward_phase_computes_what_the_function_computes() {
    let plain = arithmetic(&format!("{POWER}(wave 1.5)"));
    let forward = arithmetic(&format!("{POWER}(car ((*j wave) (*j 1.5)))"));
    assert_eq!(plain, forward);
    assert!(plain.0 > 10, "something is computed: {}", plain.0);
}

#[test]
fn the_way_back_takes_a_small_multiple() {
    let plain = run(&format!("{POWER}(wave 1.5)")).counts;
    let both = run(&format!("{MODES}{POWER}((ds wave) 1.5)")).counts;
    assert!(both.arithmetic() <= 5 * plain.arithmetic(), "{} of {}", both.arithmetic(), plain.arithmetic());
    assert!(both.steps <= 12 * plain.steps, "{} of {}", both.steps, plain.steps);
}

/// Steps of a program at n, 2n, 4n, 8n grow linearly: all differences per n are nearly the same.
fn linear(program: impl Fn(u64) -> String, n: u64) {
    let steps: Vec<f64> = [n, 2 * n, 4 * n, 8 * n].map(|n| run(&program(n)).counts.steps as f64).to_vec();
    let first = (steps[1] - steps[0]) / n as f64;
    for k in 1..3 {
        let slope = (steps[k + 1] - steps[k]) / (n << k) as f64;
        assert!((slope / first - 1.0).abs() < 0.05, "{slope} against {first} a turn: {steps:?}");
    }
}

#[test]
fn gradients_of_recursions_are_linear() {
    let loops = "(define (turn x n) (if (zero? n) x (turn (sin (* x 1.1)) (- n 1))))";
    linear(|n| format!("{MODES}{loops}((ds (lambda (x) (turn x {n}))) 0.3)"), 50);
    linear(|n| format!("{MODES}{loops}((dt (lambda (x) (turn x {n}))) 0.3)"), 50);
    let list = "(define (count n) (if (zero? n) '() (cons n (count (- n 1)))))
                (define (sum l) (if (null? l) 0 (+ (car l) (sum (cdr l)))))";
    linear(|n| format!("{MODES}{list}(car ((ds sum) (count {n})))"), 50);
    linear(|n| format!("{MODES}{loops}((ds (ds (lambda (x) (turn x {n})))) 0.3)"), 20);
    linear(|n| format!("{MODES}{loops}((dt (ds (lambda (x) (turn x {n})))) 0.3)"), 20);
}

/// xₙ₊₁ = (xₙ, xₙ): a tree of 2ⁿ leaves in n pairs.
const SHARED: &str = "(define (grow x n) (if (zero? n) x (grow (cons x x) (- n 1))))
(define (deep x n) (if (zero? n) x (deep (car x) (- n 1))))";

#[test]
fn shared_structures_are_transformed_once() {
    let program = |n: u64| format!("{SHARED}(deep (*j (grow (cons 0 0) {n})) {n})");
    linear(program, 15);
    linear(|n| format!("{SHARED}(deep (zero (grow (cons 0 0) {n})) {n})"), 15);
}

#[test]
fn sensitivities_of_shared_structures_are_added_once() {
    // 2⁶⁰ leaves: a sum that does not know what is shared never ends.
    let program = |n: u64| {
        format!(
            "{MODES}{SHARED}
            (deep (unsensitize (cdr ((cdr ((*j (lambda (x) (grow x {n}))) (*j (cons 1 2))))
                                     (sensitize (grow (cons 1 1) {n}))))) 0)"
        )
    };
    linear(program, 15);
    let found = super::last(&program(60));
    let leaves = (1_u64 << 60) as f64;
    assert_eq!(found, format!("({leaves} . {leaves})"));
}
