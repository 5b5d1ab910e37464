//! Every function in every format, against MPFR, and what the page of the book says about it.
//!
//! One test for each table of `docs/src/accuracy.md`. It prints what was measured, fails with the
//! first words at which a kernel does not keep its promise, and fails if the table is stale.

use pendula_accuracy::cases::sections;
use pendula_accuracy::measure::{measure, settle};
use pendula_accuracy::page::{COMMAND, page, path, table};

fn check(title: &str) {
    let section = sections().into_iter().find(|section| section.title == title).expect("a section of this title");
    let reports = measure(&section.cases);
    let table = table(&section, &reports);
    println!("{table}");
    if let Err(failures) = settle(&reports) {
        panic!("{failures}");
    }
    let page = std::fs::read_to_string(path()).expect("the page");
    assert!(page.contains(&table), "{} is stale: run {COMMAND}", path().display());
}

/// The text before the tables, and the list of tables.
#[test]
fn the_page() {
    let written = std::fs::read_to_string(path()).expect("the page");
    let head = page(&[]);
    assert!(written.starts_with(&head) && head.contains(COMMAND));
    let titles: Vec<&str> = written.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let sections = sections();
    assert!(titles.into_iter().eq(sections.iter().map(|section| section.title)));
}

#[test]
fn fixed_point() {
    check("Fixed point");
}

#[test]
fn fixed_point_of_few_bits() {
    check("Fixed point of few bits");
}

#[test]
fn logarithmic_numbers() {
    check("Logarithmic numbers");
}

#[test]
fn logarithmic_numbers_of_few_bits() {
    check("Logarithmic numbers of few bits");
}

#[test]
fn doubles() {
    check("Doubles");
}

#[test]
fn conversions() {
    check("Conversions");
}
