//! Expressions of C that only units have, and names of registers.

use pendula_codegen::c::expr::{Expr, Kind, Prec, Words};
use pendula_isa::adjoint::LANES;
use pendula_isa::types::Reg;

/// Words of units are unsigned.
pub(super) const WORDS: Words = Words { signed: false, types: ["u64", "i64"], as_word: "as_u64", as_double: "as_f64" };

/// A register's variable.
pub(super) fn variable(lane: u8, reg: u8, kind: Kind) -> Expr {
    let mut expr = Expr::atom(register(lane, reg), kind);
    expr.reads[usize::from(lane)] = 1 << reg;
    expr
}

/// The word at an address.
pub(super) fn load(lane: u8, at: &Expr) -> Expr {
    let text = format!("{}mem[{}]", PREFIX[usize::from(lane)], at.text);
    let mut expr = Expr::of(&[at], text, Kind::Word, Prec::Atom);
    expr.loads = true;
    expr
}

/// The conjunction or disjunction of two truth values.
pub(super) fn both(op: char, a: &Expr, b: &Expr) -> Expr {
    let side = |x: &Expr| {
        if x.prec == Prec::Other && !x.text.contains(" & ") { x.at(Prec::Sum) } else { x.text.clone() }
    };
    Expr::of(&[a, b], format!("{} {op} {}", side(a), side(b)), Kind::Truth, Prec::Other)
}

/// Whether a number that is to be an address or more is below a bound.
pub(super) fn below(x: &Expr, bound: &str) -> Expr {
    Expr::of(&[x], format!("{} < {bound}", x.at(Prec::Sum)), Kind::Truth, Prec::Other)
}

/// The prefix of the names of a lane's registers and memory.
pub(super) const PREFIX: [&str; LANES] = ["", "g", "s", "x"];

/// The variable of a register in a lane: `r5`, `g5` its gradient word.
pub(super) fn register(lane: u8, reg: u8) -> String {
    match (PREFIX[usize::from(lane)], Reg::SP.number() == reg) {
        ("", false) => format!("r{reg}"),
        (prefix, true) => format!("{prefix}sp"),
        (prefix, false) => format!("{prefix}{reg}"),
    }
}
