//! The reader and the forms.

use pendula_functional::vlad;
use pendula_isa::budget::Budget;
use pendula_isa::sample;
use proptest::prelude::*;

use super::{last, mistakes, reading};

#[test]
fn forms_mean_what_scheme_says() {
    for (text, value) in [
        ("(let ((x 1) (y 2)) (+ x y))", "3"),
        ("(let* ((x 1) (x (+ x 1))) x)", "2"),
        ("(let loop ((n 5) (x 1)) (if (zero? n) x (loop (- n 1) (* x n))))", "120"),
        ("(cond ((< 2 1) 1) ((< 1 2) 2) (else 3))", "2"),
        ("(cons (and 1 2) (cons (and) (cons (or #f 3) (or))))", "(2 #t 3 . #f)"),
        ("((lambda ((cons x y) (list z w)) (list x y z w)) (cons 1 2) (list 3 4))", "(1 2 3 4)"),
        ("((lambda () 7))", "7"),
        ("(cons* 1 2 3)", "(1 2 . 3)"),
        ("'(a (b . 1) #t \"\")", ""),
        ("'(a (b . 1) #t)", "(a (b . 1) #t)"),
        ("(+ (cons 3 4))", "7"),
        ("(let ((f +)) (f 1 2))", "3"),
        ("(let ((+ -)) (+ 3 1))", "2"),
        ("(define ((add x) y) (+ x y)) ((add 1) 2)", "3"),
        ("(define (f x) (g x)) (define (g x) (* 2 x)) (f 4)", "8"),
        ("(define two 2) (define (f x) (* two x)) (f 4)", "8"),
        ("(list #b101 #o17 #xff .5 5. -1e-3)", "(5 15 255 0.5 5 -0.001)"),
        ("(if '() 1 2)", "1"),
        ("#| a #| comment |# |# 1 ; and another", "1"),
        ("(list (null? '()) (pair? '(1)) (boolean? #f) (real? 1) (procedure? car))", "(#t #t #t #t #t)"),
    ] {
        if value.is_empty() {
            assert!(!mistakes(text).is_empty(), "{text}");
        } else {
            assert_eq!(last(text), value, "{text}");
        }
    }
}

#[test]
fn a_mistake_leaves_other_expressions_alone() {
    let reading = reading("(+ 1 2) ===> 3\n(+ x 1)\n(* 2 3) ===> 6");
    assert_eq!(reading.mistakes.len(), 1);
    assert_eq!(reading.expected.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true]);
    let mut machine = pendula_functional::eval::Machine::new(reading.program.store.clone(), Default::default());
    let values = machine.run(&reading.program).expect("no definition fails").values;
    assert_eq!(values.iter().map(|v| v.value.is_ok()).collect::<Vec<_>>(), [true, false, true]);
}

#[test]
fn depth_is_limited() {
    let deep = format!("{}1{}", "(list ".repeat(100_000), ")".repeat(100_000));
    assert_eq!(mistakes(&deep)[0].code, "P0090");
    let quotes = "'".repeat(100_000);
    assert_eq!(mistakes(&quotes)[0].code, "P0090");
    // As deep as the budget allows.
    let depth = Budget::default().depth as usize - 1;
    let deep = format!("{}1{}", "(sqrt ".repeat(depth), ")".repeat(depth));
    assert_eq!(last(&deep), "1");
}

#[test]
fn long_chains_of_choices_are_evaluated_and_differentiated() {
    let count = if sample::all() { 600 } else { 200 };
    let clauses: String = (0..count).map(|n| format!("((< x {n}) (* {n} x)) ")).collect();
    let text = format!("{}(define (f x) (cond {clauses} (else x)))", super::MODES);
    let (slope, x) = (f64::from(count - 1), f64::from(count) - 1.5);
    assert_eq!(last(&format!("{text}(f {x})")), (slope * x).to_string());
    assert_eq!(last(&format!("{text}((dt f) {x})")), slope.to_string());
    assert_eq!(last(&format!("{text}((ds f) {x})")), slope.to_string());
    assert_eq!(last(&format!("{text}((ds (ds f)) {x})")), "0");
    let program = reading(&format!("{text}(f 1)")).program;
    assert!(pendula_functional::print::program(&program).len() > 17 * count as usize);
}

/// Texts that look like programs, more than random ones.
fn soup() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "(",
        ")",
        "(",
        ")",
        "'",
        "define",
        "lambda",
        "let",
        "letrec",
        "if",
        "cond",
        "cons",
        "list",
        "x",
        "f",
        "1",
        "#t",
        "===>",
        ".",
        "*j",
        "bundle",
        "perturb",
        "+",
        "(x)",
        "((x 1))",
        "multiform",
        "include",
        "\"a\"",
        "else",
        "and",
        "or",
        "let*",
        "cons*",
        "zero",
        "sensitize",
    ]);
    prop::collection::vec(word, 0..60).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        let _ = vlad::forms(&text, 0, &Budget::default());
        mistakes(&text);
    }

    #[test]
    fn no_program_makes_the_evaluator_panic(text in soup()) {
        if let Ok(all) = vlad::forms(&text, 0, &Budget::default()) {
            prop_assert!(all.iter().all(|form| form.place.span.end <= text.len()));
            let reading = std::panic::catch_unwind(|| super::mistakes(&text)).map_err(|_| TestCaseError::fail("panic"))?;
            if reading.is_empty() {
                let limits = pendula_functional::eval::Limits { steps: 100_000, memory: 1 << 26, ..Default::default() };
                let program = super::reading(&text).program;
                let _ = pendula_functional::eval::run(&program, limits);
            }
        }
    }
}
