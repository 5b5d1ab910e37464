use super::super::body::Width;
use super::super::constant::{fault_in, known, typed, value};
use crate::janus::ast::{Expr, Lval, Name, StmtKind};
use crate::janus::parser::parse;

/// The expression that a text stands for.
fn expression(text: &str) -> Expr {
    let (mut tree, found) = parse(0, &format!("procedure main()\n    x += {text}\n"));
    assert!(found.is_empty(), "{text}: {found:?}");
    match tree.procedures.remove(0).body.remove(0).kind {
        StmtKind::Update { value, .. } => value,
        other => panic!("{text}: {other:?}"),
    }
}

const U8: Width = Width { bits: 8, signed: false, noted: false };
const I8: Width = Width { bits: 8, signed: true, noted: false };
const INT: Width = Width { bits: 64, signed: true, noted: true };

#[test]
fn expressions_of_numbers_are_known() {
    for (text, number) in [
        ("2 + 3 * 4", 14),
        ("2 ** 10 - 1", 1023),
        // `|` and `&` have the same level, and associate to the left.
        ("1 << 3 | 5 & 4", 4),
        ("~0", -1),
        ("6 ^ 3", 5),
        // Quotients and remainders are rounded down.
        ("(0 - 7) / 2", -4),
        ("(0 - 7) % 2", 1),
        ("7 / (0 - 2)", -4),
        ("7 % (0 - 2)", -1),
        ("(u8) 300", 44),
        ("(i8) 200", -56),
        ("18446744073709551615", u64::MAX.into()),
    ] {
        assert_eq!(known(&expression(text)), Some(number), "{text}");
    }
}

#[test]
fn expressions_without_a_value_are_not_known() {
    for text in ["y", "1 / 0", "1 % 0", "1 << 64", "2 ** 64", "2 ** (0 - 1)", "18446744073709551615 + 1", "1 < 2"] {
        assert_eq!(known(&expression(text)), None, "{text}");
    }
}

#[test]
fn numbers_wrap_where_their_type_does() {
    assert_eq!(typed(&expression("200 + 100"), U8), Ok(Some(44)));
    assert_eq!(typed(&expression("100 + 100"), I8), Ok(Some(-56)));
    assert_eq!(typed(&expression("0 - 1"), U8), Ok(Some(255)));
    // A shift is by less than the type has bits.
    assert_eq!(typed(&expression("1 << 7"), U8), Ok(Some(128)));
    assert_eq!(typed(&expression("1 << 8"), U8), Ok(None));
    // Where a run tells of numbers that wrap, it does so when it comes to them.
    assert_eq!(typed(&expression("9223372036854775807 + 1"), INT), Ok(None));
}

#[test]
fn numbers_that_a_type_has_no_room_for_are_found() {
    for (text, width) in [("256", U8), ("1 + 300", U8), ("256", I8), ("9223372036854775808", INT)] {
        assert!(typed(&expression(text), width).is_err(), "{text}");
    }
    // With or without a sign, it is a number of as many bits.
    assert_eq!(typed(&expression("255"), I8), Ok(Some(-1)));
}

/// Variables that have a value: `n` is 5, and arrays have 3 elements.
struct Five;

impl super::super::constant::Store for Five {
    fn number(&self, l: &Lval) -> Option<i128> {
        (l.name.text == "n" && l.indices.is_empty()).then_some(5)
    }

    fn size(&self, _: &Name) -> Option<i128> {
        Some(3)
    }
}

#[test]
fn variables_may_have_values() {
    assert_eq!(value(&expression("n * n - size(a)"), &Five), Some(22));
    assert_eq!(value(&expression("n + m"), &Five), None);
}

#[test]
fn what_has_no_value_says_why() {
    let why = |text: &str| fault_in(&expression(text), U8, &Five).map(|(_, why)| why);
    assert_eq!(why("1 / (n - 5)").as_deref(), Some("division by zero"));
    assert_eq!(why("n ** (3 - n)").as_deref(), Some("the exponent is negative"));
    assert_eq!(why("1 << (n + 3)").as_deref(), Some("shifted by less than 0, or by 8 bits or more"));
    assert_eq!(why("n / 2 << 7"), None);
}
