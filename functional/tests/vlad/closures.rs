//! Derivatives of functions that give functions, structures or other functions' captures.

use super::{MODES, last};

#[test]
fn the_derivative_of_a_curried_sum_is_a_function_of_the_other_number() {
    // The tangent of `adder` at 3 is taken where its result is applied to 4.
    let text = |second: &str| {
        format!(
            "(define (up x) (bundle x (perturb (zero x))))
             (define ((adder n) x) (+ x n))
             (define ((d-adder n) x) (unperturb (tangent (((up adder) (bundle n (perturb 1))) (up x)))))
             {second}"
        )
    };
    assert_eq!(last(&text("((d-adder 3) 4)")), "1");
    assert_eq!(
        last(&text(
            "(define ((twice n) x) (unperturb (tangent (((up d-adder) (bundle n (perturb 1))) (up x))))) ((twice 3) 4)"
        )),
        "0"
    );
}

#[test]
fn the_derivative_of_a_pair_is_a_pair() {
    assert_eq!(last(&format!("{MODES}((dt (lambda (x) (cons x (* x x)))) 3)")), "(1 . 6)");
}

#[test]
fn a_letrec_passes_sensitivities_to_what_it_captured() {
    let text = format!("{MODES}((ds (lambda (x) (letrec ((f (lambda (y) x))) (f 1)))) 4)");
    assert_eq!(last(&text), "1");
    let mutual = format!(
        "{MODES}((ds (lambda (x) (letrec ((even (lambda (n) (if (zero? n) x (odd (- n 1)))))
                                          (odd (lambda (n) (if (zero? n) 0 (* x (even (- n 1)))))))
                                   (even 4)))) 3)"
    );
    // x·x·x at 3
    assert_eq!(last(&mutual), "27");
}

#[test]
fn a_function_and_its_argument_may_be_one_variable() {
    // Both halves of the sensitivity count: d/dx of x·x, where the function is its own argument.
    let text = format!("{MODES}((ds (lambda (x) (let ((f (lambda (g) x))) (* (f f) x)))) 3)");
    assert_eq!(last(&text), "6");
}

#[test]
fn the_sensitivity_of_a_function_is_what_it_captured() {
    let text = "(define (f x) (lambda (y) (* x y)))
                (let (((cons y back) ((*j f) (*j 3))))
                  (unsensitize (cdr (back (sensitize (list 5))))))";
    let failure = super::run(text);
    // A tuple of one is no list: a pair does not stand for it.
    assert!(failure.values[0].is_err());
}

#[test]
fn a_transform_taken_back_is_the_function_itself() {
    assert_eq!(last("((*j-inverse (*j (lambda (x) (* x x)))) 3)"), "9");
    assert_eq!(last("(*j-inverse (*j (list 1 2 #t)))"), "(1 2 #t)");
    assert_eq!(last("((primal (bundle sqrt (perturb (zero sqrt)))) 16)"), "4");
}

#[test]
fn layers_are_shown_and_asked_for() {
    assert_eq!(last("(*j 1)"), "(reverse 1)");
    assert_eq!(last("(bundle 1 (perturb 2))"), "(forward 1 (perturbation 2))");
    assert_eq!(last("(sensitize (cons 1 2))"), "(sensitivity (1 . 2))");
    assert_eq!(
        last("(list (reverse? (*j 1)) (reverse? 1) (forward? (bundle 1 (perturb 2))) (sensitivity? (sensitize 1)))"),
        "(#t #f #t #t)"
    );
    assert_eq!(
        last("(list (real? (*j 1)) (real? 1) (procedure? (*j sqrt)) (perturbation? (perturb (cons 1 2))))"),
        "(#f #t #t #t)"
    );
}
