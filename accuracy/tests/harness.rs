//! The harness itself: it finds what is wrong with a kernel that is wrong.

use pendula_accuracy::cases::sections;
use pendula_accuracy::measure::{Case, settle};
use pendula_isa::fault::Fault;
use pendula_isa::num::Word;

fn case(function: &str, format: &str) -> Case {
    sections()
        .into_iter()
        .flat_map(|section| section.cases)
        .find(|case| case.function == function && case.format == format)
        .expect("a case")
}

/// The case with its kernel's results changed.
fn changed(case: Case, change: fn(Word) -> Word) -> Case {
    let kernel = case.kernel;
    Case { kernel: Box::new(move |words| change(kernel(words))), ..case }
}

fn off_by_one(word: Word) -> Word {
    word.map(|word| word ^ 1)
}

const FUNCTIONS: [(&str, &str); 5] = [
    ("exp", "16 bits, 8 of fraction"),
    ("inv", "16 bits, 12 of fraction"),
    ("hypot", "8 bits, 3 of fraction"),
    ("plus", "8 bits, 3 of fraction"),
    ("tan", ".f"),
];

#[test]
fn right_kernels_pass() {
    for (function, format) in &FUNCTIONS[..4] {
        let report = case(function, format).measure();
        assert_eq!(report.failed, 0, "{function} {format}");
        assert!(settle(&[report]).is_ok());
    }
}

#[test]
fn a_wrong_last_bit_is_seen() {
    for (function, format) in FUNCTIONS {
        let report = changed(case(function, format), off_by_one).measure();
        // Of a double, 1.0 would forgive some.
        assert!(report.failed > report.results / 3, "{function} {format}");
        assert!(settle(&[report]).is_err());
    }
}

#[test]
fn a_missing_result_is_seen() {
    for (function, format) in FUNCTIONS {
        let case = changed(case(function, format), |_| Err(Fault::Range));
        assert!(case.measure().failed > 500, "{function} {format}");
    }
}

#[test]
fn a_missing_fault_is_seen() {
    for (function, format) in &FUNCTIONS[..4] {
        let case = changed(case(function, format), |word| word.or(Ok(0)));
        assert!(case.measure().failed > 0, "{function} {format}");
    }
}

#[test]
fn the_wrong_fault_is_seen() {
    let case = changed(case("inv", "16 bits, 12 of fraction"), |word| word.map_err(|_| Fault::Range));
    assert_eq!(case.measure().failed, 1);
}
