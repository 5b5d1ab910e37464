//! Helpers for the tests of the assembler.
#![allow(dead_code, unreachable_pub, reason = "no test file uses all of it, and each is a crate")]

use pendula_asm::assemble::{Assembly, Options, assemble};
use pendula_asm::diagnostic::Severity;
use pendula_isa::Module;
use pendula_isa::text::{NoNames, display};

/// Assembles a text.
pub fn run(text: &str) -> Assembly {
    assemble("test.rasm", text.to_string(), &Options::default())
}

/// Codes, covered source text and messages of the errors.
pub fn errors(assembly: &Assembly) -> Vec<(&'static str, String, String)> {
    let errors = assembly.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    errors
        .map(|d| {
            let place = d.primary.as_ref().map(|l| l.place.clone()).expect("an error has a place");
            let covered = &assembly.sources.text(place.file)[place.span];
            assert!(d.help.as_ref().is_some_and(|h| !h.is_empty()), "{d:?} has no help");
            (d.code, covered.to_string(), d.message.clone())
        })
        .collect()
}

/// The module of a text without errors.
pub fn module(text: &str) -> Module {
    let assembly = run(text);
    let found = errors(&assembly);
    assembly.module.unwrap_or_else(|| panic!("{found:#?}\n{text}"))
}

/// The code of a text as the ISA prints it, one instruction per line, with single blanks.
pub fn code(text: &str) -> Vec<String> {
    let show = |(n, i)| display(i, n as u64, &NoNames).split_whitespace().collect::<Vec<_>>().join(" ");
    module(text).code.iter().enumerate().map(show).collect()
}

/// The data of a text.
pub fn data(text: &str) -> Vec<u64> {
    module(&format!("        .data\n{text}")).data.iter().collect()
}

/// Asserts the codes of a text's errors, each with the source text that it covers.
#[track_caller]
pub fn fails(text: &str, expected: &[(&str, &str)]) {
    let assembly = run(text);
    let found = errors(&assembly);
    let short: Vec<(&str, &str)> = found.iter().map(|(code, covered, _)| (*code, covered.as_str())).collect();
    assert_eq!(short, expected, "{found:#?}\n{text}");
    assert!(assembly.module.is_none());
}
