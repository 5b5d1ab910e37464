//! Programs of a few lines, or of many alike, that would take memory, time or the stack without bound: each is refused with the resource that
//! it would have spent, or is no more work than its length.

use std::fmt::Write as _;

use pendula::compiler::compile::{Compiled, Options, compile};
use pendula::compiler::nil::sema::{Argument, Number};
use pendula::isa::budget::Budget;

const BODY: &str = "    y! += 1\nend\n";

fn with(budget: Budget, source: &str) -> Compiled {
    let arguments = vec![Argument::Number(Number::Int(0))];
    compile("test.nil", source.to_string(), &Options { arguments, budget, ..Options::default() })
}

/// The codes and messages of what is wrong.
fn nil(source: &str) -> Vec<(&'static str, String)> {
    with(Budget::default(), source).diagnostics.into_iter().map(|d| (d.code, d.message)).collect()
}

fn chain(mut out: String, n: usize, line: impl Fn(usize) -> String) -> String {
    for k in 1..=n {
        let _ = writeln!(out, "{}", line(k));
    }
    out
}

#[test]
fn chains_of_structs_are_refused_with_the_depth() {
    let structs = chain("struct A0\n x::Int\nend\n".into(), 10_000, |k| format!("struct A{k}\n x::A{}\nend", k - 1));
    for order in [false, true] {
        // From either end.
        let mut parts: Vec<&str> = structs.split_inclusive("end\n").collect();
        if order {
            parts.reverse();
        }
        let found = nil(&format!("{}@i function f(y!::Int)\n{BODY}", parts.concat()));
        assert!(found.iter().all(|(code, _)| *code == "P0090"), "{found:?}");
        let first = found.first().map(|(_, message)| message.as_str());
        assert!(first.is_some_and(|m| m.ends_with("is nested more than 200 deep")), "{found:?}");
    }
    // Within the budget they are no trouble.
    let few = chain("struct A0\n x::Int\nend\n".into(), 150, |k| format!("struct A{k}\n x::A{}\nend", k - 1));
    assert_eq!(nil(&format!("{few}@i function f(y!::Int)\n{BODY}")), []);
}

#[test]
fn structs_that_double_are_refused_with_their_parts() {
    let line = |k: usize| format!("struct A{k}\n x::A{}\n y::A{}\nend", k - 1, k - 1);
    for first in ["struct A0\n x::Int\nend\n", "struct A0\nend\n"] {
        let found = nil(&format!("{}@i function f(y!::Int)\n{BODY}", chain(first.into(), 100, line)));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, "P0091");
        assert!(found[0].1.ends_with("is made of more than 65536 parts"), "{found:?}");
    }
    let tuple = format!("{}Int{}", "NTuple{64,".repeat(6), "}".repeat(6));
    let found = nil(&format!("@i function g(x::{tuple})\nend\n@i function f(y!::Int)\n y! += g\nend\n"));
    assert!(!found.is_empty());
    let found = nil(&format!("@i function f(y!::{tuple})\nend\n"));
    assert_eq!(found, [("P0091", "a tuple is made of more than 65536 parts".to_string())]);
}

#[test]
fn constants_take_no_more_than_their_lines() {
    let long = chain("const A0 = 1\n".into(), 30_000, |k| format!("const A{k} = A{} + 1", k - 1));
    assert_eq!(nil(&format!("{long}@i function f(y!::Int)\n    y! += A30000\nend\n")), []);
    let doubling = chain("const A0 = 1\n".into(), 60, |k| format!("const A{k} = A{} + A{}", k - 1, k - 1));
    assert_eq!(nil(&format!("{doubling}@i function f(y!::Int)\n    y! += A60\nend\n")), []);
    let real = chain("const A0 = 1.5\n".into(), 500, |k| format!("const A{k} = A{} * A{} - A{}", k - 1, k - 1, k - 1));
    let found = nil(&format!("{real}@i function f(y!::Int)\n    y! += floor(Int, A3)\nend\n"));
    assert_eq!(found, []);
    // What is not whole stays to be computed where it stands.
    let shifted =
        chain("const A0 = -1\n".into(), 300, |k| format!("const A{k} = (A{} >> 1) - (A{} >> 1)", k - 1, k - 1));
    assert_eq!(nil(&format!("{shifted}@i function f(y!::Int)\n    y! += A300\nend\n")), []);
    // A constant of its own name.
    let found = nil("const A = 1\nconst A = A + 1\n@i function f(y!::Int)\n    y! += A\nend\n");
    assert_eq!(found, [("P0453", "the constant `A` is made of itself".to_string())]);
    // The budget can be set from outside.
    let found = with(Budget { bytes: 10, ..Budget::default() }, &doubling).diagnostics;
    assert_eq!(
        found.iter().map(|d| (d.code, d.message.as_str())).collect::<Vec<_>>(),
        [("P0092", "`test.nil` has more than 10 bytes")]
    );
    let few = Budget { steps: 10, ..Budget::default() };
    let found = with(few, &format!("{doubling}@i function f(y!::Int)\n    y! += A60\nend\n")).diagnostics;
    assert!(found.iter().any(|d| d.code == "P0093" && d.message.ends_with("takes more than 10 steps to compute")));
}
