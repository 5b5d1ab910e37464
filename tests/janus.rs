//! Diagnostics of programs in Janus that are too long for a file, or that concern several places of one.

use std::fmt::Write as _;

use pendula::compiler::compile::{Options, compile_janus};

/// The codes of what a compilation says.
fn said(text: &str) -> Vec<String> {
    let compiled = compile_janus("many.ja", text, &Options::default());
    compiled.diagnostics.iter().map(|d| format!("{} {}", d.code, d.message)).collect()
}

#[test]
fn there_may_be_many_procedures() {
    let mut text = String::new();
    let mut calls = String::new();
    for n in 0..20_000 {
        let _ = writeln!(text, "procedure p{n}(int x) x += {n}");
        let _ = writeln!(calls, "    call p{n}(x)");
    }
    let _ = writeln!(text, "procedure main()\n    int x\n{calls}");
    assert_eq!(said(&text), Vec::<String>::new());
}

#[test]
fn a_procedure_may_not_be_called_in_too_many_ways() {
    let program = |ways: usize| {
        let arrays: String = (1..=ways).map(|n| format!("    int a{n}[{n}]\n")).collect();
        let calls: String = (1..=ways).map(|n| format!("    call f(a{n})\n")).collect();
        format!("procedure f(int a[]) a[0] += 1\nprocedure main()\n{arrays}{calls}")
    };
    assert_eq!(said(&program(1000)), Vec::<String>::new());
    // One complaint, not one for each call.
    assert_eq!(said(&program(1010)), ["P0522 `f` is called in more than 1000 ways"]);
}

#[test]
fn what_lacks_its_end_is_shown_where_it_began() {
    let text = "procedure main()\n    int x\n    if x = 0 then\n        x += 1\n\nprocedure p(int y)\n    y += 1\n";
    let compiled = compile_janus("open.ja", text, &Options::default());
    let [d] = compiled.diagnostics.as_slice() else { panic!("{:?}", compiled.diagnostics) };
    let at = |l: &pendula::isa::diagnostic::Label| (text[l.place.span.clone()].to_string(), l.text.clone());
    let here = d.primary.as_ref().map(at);
    assert_eq!(here, Some(("procedure".to_string(), "`fi` was expected here, found `procedure`".to_string())));
    let began: Vec<_> = d.secondary.iter().map(at).collect();
    assert_eq!(began, [("if".to_string(), "this `if` is open".to_string())]);

    let text = "procedure main()\n    local int a = 1\n        skip\n    delocal int b = 1\n";
    let compiled = compile_janus("delocal.ja", text, &Options::default());
    let [d] = compiled.diagnostics.as_slice() else { panic!("{:?}", compiled.diagnostics) };
    let began: Vec<_> = d.secondary.iter().map(|l| text[l.place.span.clone()].to_string()).collect();
    assert_eq!((d.code, began), ("P0517", vec!["local int a = 1".to_string()]));
}

/// The help line of the first message.
fn help(text: &str) -> String {
    let compiled = compile_janus("help.ja", text, &Options::default());
    compiled.diagnostics.first().and_then(|d| d.help.clone()).unwrap_or_default()
}

#[test]
fn what_beginners_write_gets_the_words_to_write_instead() {
    for (body, wanted) in [
        ("if x == 0 then skip fi x = 0", "`x = 0`"),
        ("while x < 3 x += 1", "`from x = 0 loop … until x = 10`"),
        ("for i = 0 x += 1", "`iterate int i = 0 to 9 … end`"),
        ("x += 1 return x", "its parameters"),
        ("x += 1 int t = 3", "before the first statement of `main`; or `local int x = 0 … delocal int x = 0`"),
        ("if x = 0 then int t = 3 fi x = 0", "write `local int x = 0 … delocal int x = 0`"),
        ("x = 3", "`x += e`, `x -= e` or `x ^= e`"),
        ("x := 3", "`x += e`, `x -= e` or `x ^= e`"),
        ("if x = 0 & x < 3 then skip fi x = 0", "`a && b`"),
        ("if x = 0 | x < 3 then skip fi x = 0", "`a || b`"),
        ("if x = 0 x += 1 fi x = 1", "`if e then … else … fi e`"),
        ("if x = 0 { x += 1 }", "words stand where other languages have braces"),
        ("{ x += 1 }", "no braces around statements"),
    ] {
        let help = help(&format!("procedure main()\n    int x\n    {body}\n"));
        assert!(help.contains(wanted), "{body}: {help}");
    }
    let right = "procedure main()\n    int x\n    if x != 0 then skip fi x != 0\n";
    assert_eq!(said(right), Vec::<String>::new());
}

#[test]
fn what_no_run_reaches_is_warned_of() {
    use pendula::isa::diagnostic::Severity::{Error, Warning};
    let severities = |text: &str| {
        let compiled = compile_janus("reached.ja", text, &Options::default());
        let found: Vec<_> = compiled.diagnostics.iter().map(|d| d.severity).collect();
        (found, compiled.module.is_some())
    };
    let wrong = "procedure wrong(int x)\n    x += y\nprocedure over(int x)\n    uncall wrong(x)\n";
    let with = |main: &str| severities(&format!("{wrong}{main}"));
    assert_eq!(with("procedure main()\n    int x\n    x += 1\n"), (vec![Warning], true));
    assert_eq!(with("procedure main()\n    int x\n    call over(x)\n"), (vec![Error], false));
    // An argument too many: what is called is reached all the same.
    assert_eq!(with("procedure main()\n    int x\n    call over(x, x)\n"), (vec![Error, Error], false));
    // Nothing is reached where there is no `main`, and then all of it is looked at.
    assert_eq!(with("").0, [Error, Error]);
    // What is reached is an error once, and no warning, too.
    let twice = "procedure p(int x, int y)\n    x += z\nprocedure q(int x)\n    call p(x, x)\nprocedure main()\n    int x\n    int y\n    call p(x, y)\n";
    assert_eq!(severities(twice), (vec![Error], false));
}
