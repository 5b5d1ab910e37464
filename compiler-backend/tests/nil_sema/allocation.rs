use super::code::{BRANCHES, ENDED, FORGOTTEN, REDEFINED, UNKNOWN};
use super::{codes, run};
use pendula_compiler::ir::eval::EvalError;

/// A function of integers with these statements.
fn function(statements: &[&str]) -> String {
    format!("@i function f(y!::Int, x::Int)\n    {}\nend\n", statements.join("\n    "))
}

fn faults(statements: &[&str]) -> Vec<&'static str> {
    codes(&function(statements), &["Int", "Int"])
}

#[test]
fn a_variable_ends_with_the_value_that_it_ends_as() {
    let text = function(&["a ← x", "a += 2", "y! += a", "a → x + 2"]);
    assert_eq!(run(&text, &["Int", "Int"], &[1, 5]), Ok(vec![8, 5]));
    let text = function(&["a ← x", "a += 2", "y! += a", "a → x + 3"]);
    let Err(EvalError::NotZero { name, word, .. }) = run(&text, &["Int", "Int"], &[1, 5]) else {
        panic!("a wrong value is let through");
    };
    // x + 2 − (x + 3) = −1
    assert_eq!((name.as_str(), word.cast_signed()), ("a", -1));
}

#[test]
fn arrays_begin_with_their_elements() {
    let text = function(&[
        "a ← ones(Int, x)",
        "a[x] += 4",
        "for i = 1:x",
        "y! += a[i]",
        "end",
        "a[x] -= 4",
        "a → ones(Int, x)",
    ]);
    assert_eq!(run(&text, &["Int", "Int"], &[0, 3]), Ok(vec![7, 3]));
    let text = function(&["a ← [5, x, 7]", "b ← copy(a)", "y! += b[2] * b[3]", "b → copy(a)", "a → [5, x, 7]"]);
    assert_eq!(run(&text, &["Int", "Int"], &[0, 6]), Ok(vec![42, 6]));
}

#[test]
fn an_array_ends_with_the_length_that_it_has() {
    let text = function(&["n ← x", "a ← zeros(Int, n)", "a → zeros(Int, x + 1)", "n → x"]);
    assert!(run(&text, &["Int", "Int"], &[0, 3]).is_err());
    let text = function(&["n ← x", "a ← zeros(Int, n)", "a → zeros(Int, n)", "n → x"]);
    assert_eq!(run(&text, &["Int", "Int"], &[0, 3]), Ok(vec![0, 3]));
}

#[test]
fn names_are_allocated_once_and_deallocated_once() {
    assert_eq!(faults(&["a ← 1", "a ← 2", "a → 1"]), [REDEFINED]);
    assert_eq!(faults(&["a ← 1", "a → 1", "a → 1"]), [ENDED]);
    assert_eq!(faults(&["a → 1"]), [UNKNOWN]);
    // A warning: the variable is deallocated with the value that it began with.
    assert_eq!(faults(&["a ← 1", "y! += a"]), [FORGOTTEN]);
}

#[test]
fn branches_and_loops_deallocate_alike() {
    assert!(faults(&["a ← x", "if x > 0", "a → x", "end"]).contains(&BRANCHES));
    assert!(faults(&["a ← x", "for i = 1:2", "a → x", "end"]).contains(&BRANCHES));
}
