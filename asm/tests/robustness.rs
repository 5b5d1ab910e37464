//! For any text: no panic, and formatting keeps the meaning.

use crate::common;

use common::run;
use pendula_asm::assemble::{Options, assemble};
use pendula_asm::fmt::format_source;
use pendula_isa::Module;
use pendula_isa::budget::Budget;
use pendula_isa::mnemonic::families;
use proptest::prelude::*;

/// Fragments of programs, which find more errors than random letters.
fn random_fragments() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "add",
        "add.q",
        "jmp",
        "jmp.ne",
        "from",
        "from.eq",
        "proc",
        "ret",
        "call",
        "start",
        "finish",
        "push",
        "print",
        "inc",
        "exch",
        "rmul",
        "zero.f",
        ".data",
        ".text",
        ".word",
        ".fixed",
        ".log",
        ".space",
        ".import",
        ".export",
        ".global",
        ".mem",
        ".format",
        "Q16.48",
        ".include",
        ".equ",
        ".macro",
        ".endm",
        ".routine",
        ".endroutine",
        ".unroutine",
        ".endunroutine",
        ".proc-doc",
        ".irreversible",
        "r1",
        "r2",
        "sp",
        "r0",
        "a",
        "b",
        "m",
        "\\a",
        "\\@",
        "a:",
        "b:",
        "m:",
        ",",
        ",",
        ",",
        "[",
        "]",
        "(",
        ")",
        "+",
        "-",
        "*",
        "/",
        "<<",
        ">>",
        "&",
        "|",
        "^",
        "~",
        "=",
        "1",
        "0x7",
        "1.5",
        "2q",
        "3w",
        "1e9",
        "99999999999999999999",
        "'x'",
        "'",
        "\"t\"",
        "\"",
        "\\",
        ";",
        "#",
        "\n",
        "\n",
        "\n",
        "\n ",
        "é",
        "\u{feff}",
        "\r\n",
        "inf",
        "nan",
        ":",
    ]);
    prop::collection::vec((words, prop::bool::weighted(0.8)), 0..80).prop_map(|words| {
        words.iter().map(|(w, space)| if *space { format!("{w} ") } else { (*w).to_string() }).collect()
    })
}

/// Lines most of which assemble.
fn lines() -> impl Strategy<Value = String> {
    let kinds: Vec<String> = families().map(|k| k.mnemonic()).collect();
    let operand = prop::sample::select(vec![
        "r1",
        "r2",
        "r3",
        "sp",
        "5",
        "-1",
        "[r4]",
        "[r5+r6]",
        "[ d + r7 ]",
        "[d]",
        "1.5",
        "l",
        "p",
        "\"t\"",
        "N",
        "N * 2",
        "0x7w",
        "(3)",
    ]);
    let line = (prop::sample::select(kinds), prop::collection::vec(operand, 0..4))
        .prop_map(|(k, o)| format!("{k} {}\n", o.join(" , ")));
    prop::collection::vec(line, 0..30)
        .prop_map(|lines| format!(".data\nd:.word 1\n.text\n.equ N,3\nl:proc p\nret p\n{}", lines.concat()))
}

fn without_places(module: Option<Module>) -> Option<Module> {
    module.map(|m| Module { locs: Vec::new(), ..m })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        let _ = run(&text);
        let _ = format_source("x", &text);
    }

    #[test]
    fn any_characters(text in prop::collection::vec(any::<char>(), 0..100)) {
        let text: String = text.into_iter().collect();
        let _ = run(&text);
        let _ = format_source("x", &text);
    }

    #[test]
    fn pieces_of_programs(text in random_fragments()) {
        let options = Options { budget: Budget { statements: 10_000, bytes: 1 << 20, ..Budget::default() }, ..Options::default() };
        let a = assemble("x", text.clone(), &options);
        prop_assert_eq!(a.module.is_none(), a.diagnostics.iter().any(|d| d.code < "P0200"));
        for d in &a.diagnostics {
            for label in d.primary.iter().chain(&d.secondary) {
                prop_assert!(a.sources.text(label.place.file).get(label.place.span.clone()).is_some(), "{:?}", d);
            }
        }
        if let Ok(once) = format_source("x", &text) {
            let twice = format_source("x", &once);
            prop_assert_eq!(twice.as_ref(), Ok(&once));
            let b = assemble("x", once.clone(), &options);
            prop_assert_eq!(without_places(a.module), without_places(b.module), "{}", once);
        }
    }

    #[test]
    fn formatting_keeps_the_module(text in lines()) {
        let once = format_source("x", &text).unwrap();
        let twice = format_source("x", &once);
        prop_assert_eq!(twice.as_ref(), Ok(&once));
        let codes = |text: &str| run(text).diagnostics.iter().map(|d| d.code).collect::<Vec<_>>();
        prop_assert_eq!(codes(&text), codes(&once));
        prop_assert_eq!(without_places(run(&text).module), without_places(run(&once).module));
    }
}

#[test]
fn examples_survive_formatting() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "rasm") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let once = format_source("x", &text).unwrap();
        assert_eq!(format_source("x", &once).as_ref(), Ok(&once));
        assert_eq!(without_places(run(&text).module), without_places(run(&once).module), "{}", path.display());
    }
}

/// Every line of a program separately, so that all lines are tested.
#[test]
fn instructions_survive_formatting() {
    for line in ["add r1,[ r2 - 3 ]", "xorand.x r1", "rmul r1 ,r2, 9,10", "add.q r1,- 1.5", "jmp.lt.q r1 , - 5 , a"] {
        let formatted = format_source("x", line).unwrap();
        assert_eq!(common::errors(&run(line)).len(), common::errors(&run(&formatted)).len(), "{formatted}");
    }
}
