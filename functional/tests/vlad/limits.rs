//! Deep recursion, long lists, and limits.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pendula_functional::eval::Limits;

use super::{MODES, number, run_with};

const COUNT: &str = "(define (count n) (if (zero? n) '() (cons n (count (- n 1)))))
(define (sum l) (if (null? l) 0 (+ (car l) (sum (cdr l)))))
(define (deep n) (if (zero? n) 0 (+ 1 (deep (- n 1)))))";

#[test]
fn a_million_calls_wait_for_each_other() {
    assert_eq!(number(&format!("{COUNT}(deep 1000000)")), 1e6);
}

#[test]
fn a_list_of_a_million_is_built_summed_and_dropped() {
    let before = pendula_functional::value::held();
    assert_eq!(number(&format!("{COUNT}(sum (count 1000000))")), 500_000_500_000.0);
    assert_eq!(pendula_functional::value::held(), before, "all is given back");
}

#[test]
fn the_gradient_of_a_deep_recursion() {
    assert_eq!(
        number(&format!(
            "{MODES}{COUNT}(define (f x) (letrec ((g (lambda (n) (if (zero? n) x (+ x (g (- n 1))))))) (g 100000))) ((ds f) 2)"
        )),
        100_001.0
    );
}

#[test]
fn loops_take_no_room() {
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    let ran = run_with("(define (loop n x) (if (zero? n) x (loop (- n 1) (+ x 1)))) (loop 300000 0)", limits);
    assert_eq!(ran.values[0].as_ref().map(|v| v.show()).ok().as_deref(), Some("300000"));
}

#[test]
fn too_little_memory_is_a_failure_with_a_place() {
    let limits = Limits { memory: 8 << 20, ..Limits::default() };
    let ran = run_with(&format!("{COUNT}(deep 10000000) (+ 1 2)"), limits);
    let failure = ran.values[0].as_ref().expect_err("the memory does not suffice");
    assert_eq!(failure.code, "P0621");
    assert!(failure.place.is_some() && failure.help.is_some());
    assert!(ran.values[1].is_ok(), "the next expression has its memory back");
}

#[test]
fn steps_and_interrupts_end_an_evaluation() {
    let forever = "(define (loop x) (loop x)) (loop 1)";
    let ran = run_with(forever, Limits { steps: 100_000, ..Limits::default() });
    assert_eq!(ran.values[0].as_ref().expect_err("it never ends").code, "P0622");
    let flag = Some(Arc::new(AtomicBool::new(true)));
    let ran = run_with(forever, Limits { interrupt: flag, ..Limits::default() });
    assert_eq!(ran.values[0].as_ref().expect_err("it never ends").code, "P0623");
}
