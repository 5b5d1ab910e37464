//! Sizes of arrays, indices, and names for one word.

use super::{analysed, codes, run};
use crate::ir::AssertKind;
use crate::ir::eval::EvalError;
use crate::janus::codes::{ALIAS, DELOCAL, INDEX, SIZE};

/// A `main` with the variables `x` and `n`, and these statements.
fn main(n: i64, statements: &[&str]) -> String {
    format!("procedure main()\n    int x\n    int n = {n}\n    {}\n", statements.join("\n    "))
}

fn faults(statements: &[&str]) -> Vec<&'static str> {
    codes(&main(3, statements))
}

fn fails(n: i64, statements: &[&str], kind: AssertKind) -> bool {
    matches!(run(&main(n, statements)), Err(EvalError::Assert { why, .. }) if why == kind)
}

#[test]
fn a_local_array_has_the_size_of_its_declaration() {
    assert_eq!(run(&main(3, &["local int a[n * 2]", "x += size(a)", "delocal int a[n * 2]"])), Ok(vec![6, 3]));
    assert_eq!(
        run(&main(3, &["local int a[] = {4, 5, 6}", "x += size(a) * a[2]", "delocal int a[] = {4, 5, 6}"])),
        Ok(vec![18, 3])
    );
    // Where one end says a number, the size is known, and the other must come to it.
    assert_eq!(run(&main(3, &["local int a[n]", "x += size(a)", "delocal int a[3]"])), Ok(vec![3, 3]));
    assert!(run(&main(4, &["local int a[n]", "x += size(a)", "delocal int a[3]"])).is_err());
}

#[test]
fn sizes_that_cannot_be_are_refused() {
    assert_eq!(faults(&["local int a[3]", "x += 1", "delocal int a[4]"]), [DELOCAL]);
    assert_eq!(faults(&["local int a[0]", "x += 1", "delocal int a[0]"]), [SIZE]);
    assert_eq!(faults(&["local int a[]", "x += 1", "delocal int a[]"]), [SIZE]);
    assert_eq!(faults(&["local int a[1 << 40][1 << 40]", "x += 1", "delocal int a[1 << 40][1 << 40]"]), [SIZE]);
    // A size that is computed is seen in the run.
    assert!(fails(0, &["local int a[n]", "x += 1", "delocal int a[n]"], AssertKind::Shape));
}

#[test]
fn constant_indices_lie_inside_their_array() {
    let update = |index: &str| {
        [
            "local int a[3]".to_string(),
            format!("a[{index}] += 1"),
            format!("a[{index}] -= 1"),
            "delocal int a[3]".to_string(),
        ]
    };
    let codes_of = |index: &str| faults(&update(index).each_ref().map(String::as_str));
    for inside in ["0", "2", "1 + 1", "7 % 4 - 1"] {
        assert_eq!(codes_of(inside), [] as [&str; 0], "{inside}");
    }
    for outside in ["3", "0 - 1", "1 << 40"] {
        assert!(codes_of(outside).iter().all(|code| *code == INDEX), "{outside}");
        assert!(!codes_of(outside).is_empty(), "{outside}");
    }
}

#[test]
fn computed_indices_are_checked_in_the_run() {
    let read = ["local int a[3] = {7, 8, 9}", "x += a[n - 1]", "delocal int a[3] = {7, 8, 9}"];
    assert_eq!(run(&main(1, &read)), Ok(vec![7, 1]));
    assert_eq!(run(&main(3, &read)), Ok(vec![9, 3]));
    assert!(fails(0, &read, AssertKind::Bounds));
    assert!(fails(4, &read, AssertKind::Bounds));
}

#[test]
fn a_matrix_lies_row_by_row() {
    let text = main(
        1,
        &[
            "local int a[2][3] = {{1, 2, 3}, {4, 5, 6}}",
            "x += a[n][2] * 10 + a[0][n]",
            "delocal int a[2][3] = {{1, 2, 3}, {4, 5, 6}}",
        ],
    );
    assert_eq!(run(&text), Ok(vec![62, 1]));
    assert_eq!(faults(&["local int a[2][3]", "a[1][3] += 1", "delocal int a[2][3]"]), [INDEX]);
}

#[test]
fn a_statement_does_not_read_what_it_changes() {
    assert_eq!(faults(&["x += x * 2"]), [ALIAS]);
    assert_eq!(faults(&["local int a[3]", "a[1] += a[1]", "delocal int a[3]"]), [ALIAS]);
    // Two elements by computed indices may be one: the run compares them.
    let exchange = ["local int a[3] = {1, 2, 3}", "a[n] += a[x]", "a[n] -= a[x]", "delocal int a[3] = {1, 2, 3}"];
    assert_eq!(run(&main(1, &exchange)), Ok(vec![0, 1]));
    assert!(fails(0, &exchange, AssertKind::Alias));
}

#[test]
fn a_procedure_is_compiled_for_each_way_of_sharing() {
    let add = "procedure add(int a, int b)\n    a += b\n";
    let call =
        |arguments: &str| format!("{add}\nprocedure main()\n    int x = 1\n    int y = 2\n    call add({arguments})\n");
    assert_eq!(run(&call("x, y")), Ok(vec![3, 2]));
    let shared = analysed(&call("x, x"));
    assert_eq!(shared.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), [] as [&str; 0]);
    assert!(matches!(run(&call("x, x")), Err(EvalError::Assert { why: AssertKind::Alias, .. })));
}
