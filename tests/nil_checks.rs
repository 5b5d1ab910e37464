//! Run-time checks of compiled programs that do not change in a loop: they are hoisted out of it, or left out where they certainly hold, and trap as
//! they would within it.

use crate::common::{command, folder};

use std::fs;

fn pendula(args: &[&str]) -> (i32, String, String) {
    command::run(args, "")
}

fn written(name: &str, text: &str) -> String {
    let path = folder("nil-checks").join(name);
    fs::write(&path, text).expect("a file to write");
    path.to_str().expect("UTF-8").to_string()
}

fn compiled(file: &str, more: &[&str]) -> String {
    let (code, out, err) = pendula(&[&["compile", file, "--emit", "rasm"], more].concat());
    assert_eq!(code, 0, "{file}: {err}");
    out
}

/// The instructions of the innermost loop around an instruction: from the landing place before it to the jump after it.
fn turn<'t>(text: &'t str, within: &str) -> Vec<&'t str> {
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|l| l.contains(within)).unwrap_or_else(|| panic!("no {within} in {text}"));
    let from = lines[..at].iter().rposition(|l| l.contains("from.")).expect("a landing place");
    let jump = at + lines[at..].iter().position(|l| l.contains("jmp.")).expect("a jump");
    lines[from..=jump].to_vec()
}

/// Neighbouring columns are a length apart, which is not 0 where there is a row to turn; others are a multiple of it apart, which is compared
/// once.
#[test]
fn different_columns_are_compared_once_at_most() {
    for (column, compared) in [(2, false), (3, true)] {
        let text = format!(
            "@i function f(x!::Matrix{{Float64}}, θ::Float64)
    for l = 1:size(x!, 1)
        ROT(x![l, 1], x![l, {column}], θ)
    end
end
"
        );
        let file = written(&format!("columns{column}.nil"), &text);
        let text = compiled(&file, &["--args", "[1.0 2.0 5.0; 3.0 4.0 6.0],0.5"]);
        assert!(!turn(&text, "rot.f").iter().any(|l| l.contains("assert")), "{text}");
        assert_eq!(text.contains("of which one is changed"), compared, "{text}");
    }
}

#[test]
fn the_inner_loop_of_unitary_checks_nothing() {
    let args = ["--args", "[1.0 2.0 5.0; 3.0 4.0 6.0],[0.1,0.2,0.3]"];
    let text = compiled("benches/workloads/unitary.nil", &args);
    assert!(!turn(&text, "rot.f").iter().any(|l| l.contains("assert")), "{text}");
    let unmoved = compiled("benches/workloads/unitary.nil", &[&args[..], &["--passes=-hoist"]].concat());
    assert!(turn(&unmoved, "rot.f").iter().any(|l| l.contains("assert")), "the check is there to be moved: {unmoved}");
}

/// The message of a trap, without the numbers that are compared.
fn trap(file: &str, args: &str, more: &[&str]) -> (i32, Vec<String>) {
    let (code, _, err) = pendula(&[&["run", file, "--args", args], more].concat());
    (code, err.lines().take(2).map(str::to_string).collect())
}

/// Columns `a` and `b` of the first `n` rows.
const ALIAS: &str = "@i function f(x!::Matrix{Float64}, θ::Float64, a::Int, b::Int, n::Int)
    @invcheckoff for l = 1:n
        ROT(x![l, a], x![l, b], θ)
    end
end
";

#[test]
fn a_check_that_was_moved_traps_as_before() {
    let file = written("alias.nil", ALIAS);
    let text = compiled(&file, &["--args", "[1.0 2.0; 3.0 4.0],0.5,1,2,2"]);
    assert!(!turn(&text, "rot.f").iter().any(|l| l.contains("assert.ne")), "{text}");
    for direction in [&[][..], &["--reverse"]] {
        for passes in ["--passes=hoist", "--passes=-hoist", "-O0"] {
            let more = [direction, &[passes]].concat();
            let (code, said) = trap(&file, "[1.0 2.0; 3.0 4.0],0.5,2,2,2", &more);
            assert_eq!(code, 1, "{more:?}: {said:?}");
            let what = "two elements of `x!`, of which one is changed, are the same";
            assert!(said[0].starts_with("error[P0102]") && said[0].contains(what), "{more:?}: {said:?}");
            assert!(said[1].ends_with("alias.nil:3:9"), "{more:?}: {said:?}");
            // A loop without turns compares nothing.
            assert_eq!(trap(&file, "[1.0 2.0; 3.0 4.0],0.5,2,2,0", &more).0, 0, "{more:?}");
            assert_eq!(trap(&file, "[1.0 2.0; 3.0 4.0],0.5,1,2,2", &more).0, 0, "{more:?}");
        }
    }
}

/// Output before a check stays before it.
#[test]
fn what_is_shown_is_shown_before_the_trap() {
    let text = ALIAS.replace("        ROT", "        @safe println(l)\n        ROT");
    let file = written("shown.nil", &text);
    for passes in ["--passes=hoist", "--passes=-hoist"] {
        let (code, out, err) = pendula(&["run", &file, "--args", "[1.0 2.0; 3.0 4.0],0.5,2,2,2", passes]);
        assert_eq!(code, 1, "{err}");
        assert!(out.starts_with("1\n"), "{passes}: {out}");
    }
}
