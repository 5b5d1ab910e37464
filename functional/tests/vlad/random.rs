//! Random programs: both modes agree with each other and with differences, and second derivatives in all mixtures.

use proptest::prelude::*;

use super::{MODES, number};

/// An expression in x, with functions, structures and choices in it.
fn expression() -> impl Strategy<Value = String> {
    let leaf =
        prop_oneof![Just("x".to_owned()), Just("1.5".to_owned()), Just("0.25".to_owned()), Just("(k x)".to_owned())];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            two.clone().prop_map(|(a, b)| format!("(+ {a} {b})")),
            two.clone().prop_map(|(a, b)| format!("(* {a} {b})")),
            two.clone().prop_map(|(a, b)| format!("(- {a} {b})")),
            two.clone().prop_map(|(a, b)| format!("(/ {a} (+ 2 (* {b} {b})))")),
            inner.clone().prop_map(|a| format!("(sin {a})")),
            inner.clone().prop_map(|a| format!("(exp (- 0 (* {a} {a})))")),
            inner.clone().prop_map(|a| format!("(sqrt (+ 1 (* {a} {a})))")),
            two.clone().prop_map(|(a, b)| format!("(let ((x {a})) {b})")),
            two.clone().prop_map(|(a, b)| format!("((lambda (y) (* y {b})) {a})")),
            two.clone().prop_map(|(a, b)| format!("(car (cdr (list {a} {b} x)))")),
            two.clone().prop_map(|(a, b)| format!("(let (((cons p q) (cons {a} {b}))) (* p (+ q p)))")),
            (inner.clone(), two).prop_map(|(c, (a, b))| format!("(if (< {c} 0.3) {a} {b})")),
            inner
                .clone()
                .prop_map(|a| format!("(letrec ((f (lambda (n y) (if (zero? n) x (* y (f (- n 1) y)))))) (f 2 {a}))")),
            inner.prop_map(|a| format!("((lambda (g) (+ (g g) x)) (lambda (h) {a}))")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_modes_agree_with_differences(body in expression(), at in -2.0..2.0_f64) {
        let text = |e: &str| format!("{MODES}(define (k x) (* 0.5 (sin x)))(define (f x) {body}){e}");
        let forward = number(&text(&format!("((dt f) {at})")));
        let reverse = number(&text(&format!("((ds f) {at})")));
        prop_assert!((forward - reverse).abs() <= 1e-9 * forward.abs().max(1.0), "{} and {}", forward, reverse);
        let h = 1e-6;
        let difference = (number(&text(&format!("(f {})", at + h))) - number(&text(&format!("(f {})", at - h)))) / (2.0 * h);
        let other = (number(&text(&format!("(f {})", at + 2.0 * h))) - number(&text(&format!("(f {})", at - 2.0 * h)))) / (4.0 * h);
        // Where both differences agree, no choice lies between.
        if (difference - other).abs() < 1e-6 * difference.abs().max(1.0) {
            prop_assert!((forward - difference).abs() <= 1e-4 * forward.abs().max(1.0), "{} and {}", forward, difference);
        }
    }

    #[test]
    fn second_derivatives_agree_in_every_mixture(body in expression(), at in -2.0..2.0_f64) {
        let text = |e: &str| format!("{MODES}(define (k x) (* 0.5 (sin x)))(define (f x) {body}){e}");
        let first = number(&text(&format!("((dt (dt f)) {at})")));
        for (outer, inner) in [("dt", "ds"), ("ds", "dt"), ("ds", "ds")] {
            let found = number(&text(&format!("(({outer} ({inner} f)) {at})")));
            prop_assert!((found - first).abs() <= 1e-8 * first.abs().max(1.0), "{} of {}: {} and {}", outer, inner, found, first);
        }
    }
}
