use super::code::{LITERAL, TWICE};
use super::{analysed, codes, integer, run};
use pendula_compiler::ir::{Operand, Stmt};

#[test]
fn constants_are_computed_when_the_program_is_compiled() {
    let text = "const a = 3\nb = a * a - 1\n@i function f(y!::Int)\n    y! += b\nend\n";
    let program = analysed(text, &["Int"]).program.expect("the program is right");
    let body = &program.functions[0].body;
    assert_eq!(body.len(), 1, "{body:?}");
    assert!(matches!(&body[0].stmt, Stmt::Update { args, .. } if args == &[Operand::Const(8)]), "{body:?}");
}

#[test]
fn a_constant_takes_the_type_of_its_place() {
    let text = "const half = 1 / 2\n@i function f(y!::Float64, z!::Fixed43)\n    y! += half\n    z! += half\nend\n";
    // Of 43 bits of fraction, one half is the highest.
    assert_eq!(run(text, &["Float64", "Fixed43"], &[0, 0]), Ok(vec![0.5f64.to_bits(), 1 << 42]));
}

#[test]
fn constants_that_are_made_of_each_other_are_refused() {
    let text = "a = 1\nb = a\na = b\n@i function f(y!::Int)\n    y! += b\nend\n";
    assert_eq!(codes(text, &["Int"]), [TWICE]);
}

#[test]
fn literals_must_fit_their_type() {
    let of = |n: &str| codes(&format!("@i function f(y!::Int)\n    y! += {n}\nend\n"), &["Int"]);
    assert_eq!(of("9223372036854775807"), [] as [&str; 0]);
    assert_eq!(of("9223372036854775808"), [LITERAL]);
    assert_eq!(of("0.5"), [LITERAL]);
}

#[test]
fn divisions_round_as_their_names_say() {
    for (e, value) in [
        ("x ÷ 2", -3),
        ("x % 3", -1),
        ("fld(x, 2)", -4),
        ("mod(x, 3)", 2),
        ("div(x, 2)", -3),
        ("rem(x, 3)", -1),
        ("abs(x)", 7),
        ("sign(x)", -1),
        ("x ^ 3", -343),
        ("x ⊻ 5", -4),
    ] {
        assert_eq!(integer(e, -7), value, "{e}");
    }
}

#[test]
fn shifts_take_any_amount() {
    // By constants, and by a variable: 64 or more leaves signs only, a negative amount goes the other way.
    for (e, x, value) in [
        ("3 << 4", 0, 48),
        ("x << 64", 5, 0),
        ("x >> 64", -5, -1),
        ("x >>> 64", -5, 0),
        ("x << -1", 7, 3),
        ("x >> -1", 7, 14),
        ("5 << x", 64, 0),
        ("-5 >> x", 70, -1),
        ("5 << x", -1, 2),
        ("-1 >>> x", 60, 15),
    ] {
        assert_eq!(integer(e, x), value, "{e} with x = {x}");
    }
}

#[test]
fn an_integer_division_leaves_no_remainder() {
    assert_eq!(integer("x / 3", 12), 4);
    let text = "@i function f(y!::Int, x::Int)\n    y! += x / 3\nend\n";
    assert!(run(text, &["Int", "Int"], &[0, 13]).is_err());
}
