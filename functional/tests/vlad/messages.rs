//! Failures in terms of the user's program.

use super::{failure, mistakes};

/// A failure's code, and the text at its place.
fn check(text: &str, code: &str, at: &str, says: &str) {
    let failure = failure(text);
    let place = failure.place.clone().unwrap_or_else(|| panic!("a place: {failure:?}"));
    assert_eq!((failure.code, &text[place.span]), (code, at), "{failure:?}");
    let whole = format!("{} {}", failure.message, failure.values.join(" "));
    assert!(whole.contains(says), "{whole}");
}

#[test]
fn what_is_no_function_is_not_applied() {
    check("(define (f x) (x 1)) (f 2)", "P0610", "(x 1)", "a number is applied as a function 2");
}

#[test]
fn operators_say_which_value_they_do_not_take() {
    check("(define (f x) (+ x 1)) (f '())", "P0611", "(+ x 1)", "`+` does not take the empty list ()");
    // A tail call: the function that makes it no longer waits.
    check("(define (f x) (* x x x)) (f 2)", "P0611", "(* x x x)", "`*` does not take a pair (2 . 2)");
    check(
        "(define (f x) (g (* x x x))) (define (g x) x) (f 2)",
        "P0611",
        "(* x x x)",
        "`*` does not take a pair (2 . 2)",
    );
    check("(< 1 #t)", "P0611", "(< 1 #t)", "`<`");
    check("(sqrt (list 1 2))", "P0611", "(sqrt (list 1 2))", "(1 2)");
}

#[test]
fn patterns_say_what_does_not_fit() {
    check("(define (f (cons a b)) a) (f 3)", "P0612", "(cons a b)", "a number does not have the shape of a pair 3");
    check("(car '())", "P0612", "(car '())", "the empty list");
}

#[test]
fn layers_must_match() {
    check("(define (f x) (* x x)) ((*j f) 3)", "P0613", "(* x x)", "reverse");
    check("(+ 1 (*j 2))", "P0613", "(+ 1 (*j 2))", "(reverse 2)");
    check("(*j-inverse 1)", "P0613", "(*j-inverse 1)", "reverse");
    check("(tangent 1)", "P0613", "(tangent 1)", "forward");
}

#[test]
fn sensitivities_must_match_the_result() {
    let call = "((cdr ((*j f) (*j 4))) (sensitize (list 1)))";
    let text = format!("(define (f x) (* x x)) {call}");
    check(&text, "P0614", "(* x x)", "the sensitivity does not match the result of `*` (sensitivity (1))");
    // A function of the basis has no place in the program: the call has.
    let call = "((cdr ((*j sqrt) (*j 4))) (sensitize (list 1)))";
    check(call, "P0614", call, "the sensitivity does not match");
    check("(define (f x) (* x x)) ((cdr ((*j f) (*j 4))) 1)", "P0614", "(* x x)", "sensitivity");
}

#[test]
fn tangents_and_sums_must_have_one_shape() {
    check("(bundle 1 (perturb '()))", "P0616", "(bundle 1 (perturb '()))", "the tangent does not match");
    check("(plus 1 '())", "P0615", "(plus 1 '())", "different shapes");
}

#[test]
fn mistakes_in_the_text_have_places() {
    for (text, code, at) in [
        ("(define (f x) y)", "P0602", "y"),
        ("(let ((x 1) (x 2)) x)", "P0603", "x"),
        ("(lambda (x x) x)", "P0603", "x"),
        ("()", "P0601", "()"),
        ("(if 1 2)", "P0601", "(if 1 2)"),
        ("(cond (1 2))", "P0601", "(1 2)"),
        ("(letrec ((f 1)) f)", "P0601", "1"),
        ("(set! x 1)", "P0601", "(set! x 1)"),
        ("(define x)", "P0601", "(define x)"),
        ("(include \"nothing\")", "P0604", "\"nothing\""),
        ("(+ 1", "P0600", "("),
        ("1)", "P0600", ")"),
        ("#z", "P0600", "#z"),
    ] {
        let found = mistakes(text);
        let first = found.first().unwrap_or_else(|| panic!("a mistake in {text}"));
        let place = &first.primary.as_ref().unwrap_or_else(|| panic!("a place: {first:?}")).place;
        assert_eq!((first.code, &text[place.span.clone()]), (code, at), "{first:?}");
    }
}
