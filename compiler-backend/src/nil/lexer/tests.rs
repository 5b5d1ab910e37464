use super::Lexer;
use crate::nil::ast::{AssignOp, Binary};
use crate::nil::token::Tok;

/// The tokens of a text, without the end.
fn kinds(text: &str) -> Vec<Tok> {
    let mut lexer = Lexer::new(text, 0, text.len());
    std::iter::from_fn(|| Some(lexer.token().kind).filter(|kind| *kind != Tok::Eof)).collect()
}

const fn op(op: Binary) -> Tok {
    Tok::Op(op, false)
}

#[test]
fn whole_numbers_have_separators_and_radices() {
    for good in ["0", "1_000", "0x1F", "0o17", "0b101"] {
        assert_eq!(kinds(good), [Tok::Int], "{good}");
    }
    for bad in ["1__0", "0b12", "0x", "0o8", "0xfg", "1_"] {
        assert_eq!(kinds(bad), [Tok::BadNumber], "{bad}");
    }
}

#[test]
fn numbers_with_a_fraction_or_an_exponent_are_real() {
    for real in ["1.5", ".5", "1.", "1.5e-3", "2e10", "1_0.2_5"] {
        assert_eq!(kinds(real), [Tok::Real], "{real}");
    }
    assert_eq!(kinds("1.2.3"), [Tok::BadNumber]);
    // A point before an operator belongs to the operator.
    assert_eq!(kinds("1.+2"), [Tok::Int, Tok::Op(Binary::Add, true), Tok::Int]);
}

#[test]
fn an_exclamation_mark_ends_a_name_unless_it_compares() {
    assert_eq!(kinds("y! += x"), [Tok::Ident, Tok::Assign(AssignOp::Add, false), Tok::Ident]);
    assert_eq!(kinds("x!=y"), [Tok::Ident, op(Binary::Ne), Tok::Ident]);
    assert_eq!(kinds("!x"), [Tok::Not, Tok::Ident]);
}

#[test]
fn a_quote_is_an_adjoint_after_an_operand() {
    assert_eq!(kinds("x'"), [Tok::Ident, Tok::Prime]);
    assert_eq!(kinds("x[1]'"), [Tok::Ident, Tok::LBrack, Tok::Int, Tok::RBrack, Tok::Prime]);
    assert_eq!(kinds("x 'a'"), [Tok::Ident, Tok::Char]);
    assert_eq!(kinds("'ab'"), [Tok::Unknown, Tok::Ident, Tok::Prime]);
}

#[test]
fn operators_take_as_many_characters_as_they_can() {
    assert_eq!(kinds("a >>> b >> c"), [Tok::Ident, op(Binary::Shr), Tok::Ident, op(Binary::Sar), Tok::Ident]);
    assert_eq!(kinds("x .*= y"), [Tok::Ident, Tok::Assign(AssignOp::Mul, true), Tok::Ident]);
    assert_eq!(kinds("x ⊻= y"), [Tok::Ident, Tok::Assign(AssignOp::Xor, false), Tok::Ident]);
    assert_eq!(kinds("x ← 1 → y"), [Tok::Ident, Tok::Alloc, Tok::Int, Tok::Free, Tok::Ident]);
    // Assignments that cannot be undone are tokens of their own, for the parser's message.
    for bad in ["÷=", "%=", "<<=", ".=", ":="] {
        assert_eq!(kinds(bad), [Tok::BadAssign], "{bad}");
    }
}

#[test]
fn comments_nest_and_columns_start_after_their_last_line() {
    assert_eq!(kinds("#= a #= b =# c =# x # to the end"), [Tok::Ident]);
    let text = "a #= over\n two lines =# b\n  c";
    let mut lexer = Lexer::new(text, 0, text.len());
    let tokens: Vec<_> = (0..3).map(|_| lexer.token()).collect();
    let columns: Vec<_> = tokens.iter().map(|t| (t.column, t.line_before)).collect();
    // A comment over two lines does not end the statement: `b` stands in byte 14 of the second line.
    assert_eq!(columns, [(0, false), (14, false), (2, true)]);
    assert_eq!(kinds("x #= open"), [Tok::Ident, Tok::OpenComment]);
}

#[test]
fn texts_hold_interpolated_texts() {
    assert_eq!(kinds(r#""a $(f("b")) c" x"#), [Tok::Str { triple: false }, Tok::Ident]);
    assert_eq!(kinds("\"\"\"a \"b\" c\"\"\""), [Tok::Str { triple: true }]);
    assert_eq!(kinds(r#"r"\d" x"#), [Tok::Ident, Tok::HostText, Tok::Ident]);
    // A text without an end takes the rest of its line only.
    assert_eq!(kinds("\"open\nx"), [Tok::OpenText, Tok::Ident]);
}
