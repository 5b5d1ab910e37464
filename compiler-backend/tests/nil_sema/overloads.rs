use super::code::{AMBIGUOUS, ARGUMENTS, METHOD};
use super::{analysed, codes, run};

/// A call of `g(y!, x)`, where `x` is a parameter of `f` after these definitions of `g`.
fn calling(definitions: &[&str]) -> String {
    let mut text: String = definitions.iter().map(|d| format!("@i function g{d}\nend\n")).collect();
    text.push_str("@i function f(y!, x)\n    g(y!, x)\nend\n");
    text
}

#[test]
fn the_most_specific_definition_is_called() {
    let text =
        calling(&["(y!, x)\n    y! += 1", "(y!::Int, x::Integer)\n    y! += 3", "(y!::Int, x::Real)\n    y! += 2"]);
    assert_eq!(run(&text, &["Int", "Int"], &[0, 0]), Ok(vec![3, 0]));
    assert_eq!(run(&text, &["Int", "Float64"], &[0, 0]), Ok(vec![2, 0]));
    assert_eq!(run(&text, &["Float64", "Int"], &[0, 0]), Ok(vec![1f64.to_bits(), 0]));
}

#[test]
fn a_repeated_type_variable_asks_for_equal_types() {
    let text = calling(&["(y!, x)\n    y! += 1", "(y!::T, x::T) where T\n    y! += 2"]);
    assert_eq!(run(&text, &["Int", "Int"], &[0, 0]), Ok(vec![2, 0]));
    assert_eq!(run(&text, &["Int", "Float64"], &[0, 0]), Ok(vec![1, 0]));
}

#[test]
fn definitions_that_each_say_more_are_ambiguous() {
    let text = calling(&["(y!::Int, x)\n    y! += 1", "(y!, x::Int)\n    y! += 2"]);
    assert_eq!(codes(&text, &["Int", "Int"]), [AMBIGUOUS]);
    // Where only one is for the arguments, there is no doubt.
    assert_eq!(run(&text, &["Int", "Float64"], &[0, 0]), Ok(vec![1, 0]));
}

#[test]
fn a_call_that_no_definition_is_for_is_refused() {
    let text = calling(&["(y!::Int, x::Int)\n    y! += x"]);
    assert_eq!(codes(&text, &["Int", "Float64"]), [METHOD]);
    let analysis = analysed(&text, &["Int", "Float64"]);
    assert!(analysis.program.is_none());
    assert_eq!(analysis.diagnostics[0].message, "`g` is not for (Int, Float64)");
    let text = calling(&["(y!::Int)\n    y! += 1"]);
    assert_eq!(codes(&text, &["Int", "Int"]), [ARGUMENTS]);
}

#[test]
fn a_literal_takes_the_type_of_the_parameter() {
    let text = "@i function g(y!::Float64, x::Float64)\n    y! += x\nend\n\
                @i function f(y!::Float64)\n    g(y!, 2)\nend\n";
    assert_eq!(run(text, &["Float64"], &[0]), Ok(vec![2f64.to_bits()]));
}
