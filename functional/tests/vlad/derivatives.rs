//! Derivatives of numbers, nested in all mixtures of modes.

use super::{MODES, last, mixes, near, number};

fn all_mixes(program: &str, expected: f64) {
    for (name, text) in mixes(program) {
        let found = number(&text);
        assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{name}: {found} instead of {expected}");
    }
}

#[test]
fn a_constant_function_inside_does_not_see_the_outer_perturbation() {
    // A naive rule gives 0: the sensitivity of what a function captured is lost.
    let text =
        format!("{MODES}(define ((keep b) c) b) (define (f a) ((keep a) 1)) (cons (f 4) (cons ((dt f) 4) ((ds f) 4)))");
    assert_eq!(last(&text), "(4 1 . 1)");
}

#[test]
fn the_derivative_of_a_derivative_of_a_sum_is_zero() {
    all_mixes("(({1} (lambda (x) (({2} (lambda (y) (+ x y))) 3))) 7)", 0.0);
}

#[test]
fn perturbations_of_two_derivatives_are_not_confused() {
    all_mixes("(({1} (lambda (x) (* x (({2} (lambda (y) (+ x y))) 3)))) 7)", 1.0);
    all_mixes("(({1} (lambda (x) (* x (({2} (lambda (y) (* x y))) 3)))) 7)", 14.0);
    all_mixes("(({1} (lambda (y) (({2} (lambda (x) (* x (* x y)))) (* 2 y)))) 2)", 16.0);
    all_mixes("(({1} (lambda (x) (* x (({2} (lambda (y) (* x y))) 1)))) 4)", 8.0);
}

#[test]
fn three_derivatives_nest_in_every_mixture() {
    for (outer, text) in mixes("(({1} ({2} ({3} sqrt))) 4)") {
        for inner in ["dt", "ds"] {
            let found = number(&text.replace("{3}", inner));
            assert!((found - 0.01171875).abs() < 1e-15, "{outer} of {inner}: {found}");
        }
    }
}

#[test]
fn the_derivative_of_a_curried_sum_in_every_mixture() {
    // `d-adder` is the derivative of a function that gives a function, applied to what that function is applied to.
    let text = |of: &str| {
        format!("(define ((adder n) x) (+ x n)) (define ((d-adder n) x) (({{2}} (lambda (m) ((adder m) x))) n)) {of}")
    };
    all_mixes(&text("((d-adder 3) 4)"), 1.0);
    all_mixes(&text("(({1} (lambda (n) ((d-adder n) 4))) 3)"), 0.0);
    all_mixes(&text("(({1} (lambda (n) (* n ((d-adder n) n)))) 3)"), 1.0);
}

#[test]
fn derivatives_of_the_square_root() {
    all_mixes("(({1} sqrt) 4)", 0.25);
    all_mixes("(({1} ({2} sqrt)) 4)", -0.03125);
}

#[test]
fn the_exponential_is_its_own_derivative() {
    let e4 = 54.598_150_033_144_24;
    let mut forward = String::from("exp");
    for _ in 0..7 {
        forward = format!("(dt {forward})");
        near(number(&format!("{MODES}({forward} 4)")), e4);
    }
    let mut reverse = String::from("exp");
    for _ in 0..3 {
        reverse = format!("(ds {reverse})");
        near(number(&format!("{MODES}({reverse} 4)")), e4);
    }
}

#[test]
fn every_elementary_function_has_its_derivative_in_both_modes() {
    for (f, x, expected) in [
        ("sin", 0.7, 0.7_f64.cos()),
        ("cos", 0.7, -0.7_f64.sin()),
        ("exp", 0.7, 0.7_f64.exp()),
        ("log", 0.7, 1.0 / 0.7),
        ("sqrt", 0.7, 0.5 / 0.7_f64.sqrt()),
        ("(lambda (x) (- 3 x))", 0.7, -1.0),
        ("(lambda (x) (- x 3))", 0.7, 1.0),
        ("(lambda (x) (/ 3 x))", 0.7, -3.0 / 0.49),
        ("(lambda (x) (/ x 3))", 0.7, 1.0 / 3.0),
        ("(lambda (x) (atan x 3))", 0.7, 3.0 / 9.49),
        ("(lambda (x) (atan 3 x))", 0.7, -3.0 / 9.49),
        ("(lambda (x) (if (< x 1) (* x x) x))", 0.7, 1.4),
    ] {
        for mode in ["dt", "ds"] {
            near(number(&format!("{MODES}(({mode} {f}) {x})")), expected);
        }
    }
}

const QUADRATIC: &str = "
(define (q (list x y)) (+ (* 2 (* x x)) (+ (* 3 (* x y)) (* 4 (* y y)))))
(define ((along f v) x) (unperturb (tangent ((bundle f (perturb (zero f))) (bundle x (perturb v))))))
(define ((gradient f) x) (cdr (unsensitize ((cdr ((*j f) (*j x))) (sensitize 1)))))
(define (dot (list a b) (list c d)) (+ (* a c) (* b d)))
";

#[test]
fn gradient_and_hessian_of_a_quadratic_form() {
    let at = |e: &str| last(&format!("{QUADRATIC}{e}"));
    assert_eq!(at("(q '(3 4))"), "118");
    assert_eq!(at("((gradient q) '(3 4))"), "(24 41)");
    assert_eq!(at("((along (gradient q) '(1 0)) '(3 4))"), "(4 3)");
    assert_eq!(at("((along (gradient q) '(0 1)) '(3 4))"), "(3 8)");
    assert_eq!(at("((along (gradient q) '(7 8)) '(3 4))"), "(52 85)");
}

#[test]
fn a_hessian_between_two_vectors_in_every_mixture() {
    let at = |e: &str| last(&format!("{QUADRATIC}{e}"));
    let (u, v) = ("'(7 8)", "'(9 10)");
    assert_eq!(at(&format!("((along (along q {v}) {u}) '(3 4))")), "1318");
    assert_eq!(at(&format!("((along (lambda (x) (dot ((gradient q) x) {v})) {u}) '(3 4))")), "1318");
    assert_eq!(at(&format!("(dot {u} ((gradient (along q {v})) '(3 4)))")), "1318");
    assert_eq!(at(&format!("(dot {u} ((gradient (lambda (x) (dot ((gradient q) x) {v}))) '(3 4)))")), "1318");
}

#[test]
fn the_hessian_as_a_transformed_transform() {
    // Two bundles inside each other: curried, without another lambda between.
    let text = format!(
        "{QUADRATIC}
        (define (up x) (bundle x (perturb (zero x))))
        (unperturb (tangent (unperturb (tangent ((up (up q))
          (bundle (bundle '(3 4) (perturb '(7 8))) (perturb (bundle '(9 10) (perturb '(0 0))))))))))"
    );
    assert_eq!(last(&text), "1318");
}
