//! `pendula grad` as a person or a script uses it: what it prints, its options, and what it refuses.

mod checks;
mod errors;
mod numbers;
mod orders;
mod output;

use crate::common::command;

use assert_cmd::Command;
use serde_json::{Value, json};

fn grad(args: &[&str], input: &str) -> (i32, String, String) {
    command::run(&[&["grad"], args].concat(), input)
}

fn prints(args: &[&str], input: &str, expected: &str) {
    let (code, out, err) = grad(args, input);
    assert_eq!((code, out.as_str(), err.as_str()), (0, expected, ""), "{args:?}");
}

fn refuses(args: &[&str], input: &str, status: i32, message: &str) {
    let (code, out, err) = grad(args, input);
    assert_eq!((code, err.contains(message)), (status, true), "{args:?}: {err}");
    assert!(out.is_empty() || (status == 1 && out.starts_with("stopped after ")), "{args:?}: {out}");
}

fn as_json(args: &[&str], input: &str) -> (i32, Value) {
    let (code, out, err) = grad(args, input);
    (code, serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}\n{err}")))
}

/// y += a² b of logarithmic numbers.
const LOGARITHMS: &str = "
        .data
        .import a, b, n
        .export y
a:      .log    3
b:      .log    -2
n:      .word   3
y:      .fixed  0
        .text
main:   start
        mul.l   r1, [a]
        mul.l   r1, [a]
        mul.l   r1, [b]
        addcvt.q.l [y], r1
        div.l   r1, [b]
        div.l   r1, [a]
        div.l   r1, [a]
        finish
";

/// r1 += r2 r3 + r2²; nothing is imported or exported.
const REGISTERS: &str = "main: start\n addmul.q r1, r2, r3\n addmul.q r1, r2, r2\n finish\n";

/// y += 1/x², with an ancilla for x², whose gradient word `zero` drops.
const INVERSE: &str = "
        .data
        .import x
        .export y
x:      .double 2
y:      .double 0
        .text
main:   start
        exch    r2, [x]
        zero    r1
        addmul.f r1, r2, r2
        addinv.f [y], r1
        submul.f r1, r2, r2
        exch    r2, [x]
        finish
";
