//! Expressions that are known where the program is compiled.

use std::collections::HashMap;

use super::body::Width;
use crate::janus::ast::{BinOp, Expr, ExprKind, UnOp};

/// The number that an expression is, if it is one and names no variable.
pub(super) fn known(e: &Expr) -> Option<i128> {
    value(e, &HashMap::new())
}

/// The number that an expression is, given those that variables have.
pub(super) fn value(e: &Expr, of: &HashMap<String, i128>) -> Option<i128> {
    let fits = |n: i128| (-(1 << 63)..1 << 64).contains(&n).then_some(n);
    fold(e, &|name| of.get(name).copied(), &fits)
}

/// The number that an expression of a type is, if it is one and names no variable. Of a type that wraps, what is computed wraps on the way.
///
/// # Errors
/// A number that the type has no room for.
pub(super) fn typed(e: &Expr, width: Width) -> Result<Option<i128>, &Expr> {
    // Numbers may be written with a sign or without one, as those that have the same bits.
    let bits = u32::from(width.bits);
    let (least, most) = if width.noted { width.range() } else { (-(1 << (bits - 1)), (1 << bits) - 1) };
    if known(e).is_none() {
        return Ok(None);
    }
    if let Some(leaf) = leaf(e, &|n| !(least..=most).contains(&n)) {
        return Err(leaf);
    }
    let wrap = |n: i128| {
        let wrapped = width.wrap(n);
        let n = if width.noted { n } else { width.number(wrapped) };
        (-(1 << 63)..1 << 64).contains(&n).then_some(n)
    };
    let value = fold(e, &|_| None, &wrap);
    match value {
        Some(n) if width.noted && !(least..=most).contains(&n) => Err(e),
        value => Ok(value),
    }
}

/// The first number of an expression of which something holds.
fn leaf<'e>(e: &'e Expr, is: &impl Fn(i128) -> bool) -> Option<&'e Expr> {
    match &e.kind {
        ExprKind::Num(n) => is(*n).then_some(e),
        ExprKind::Unary(_, a) | ExprKind::Cast(_, a) => leaf(a, is),
        // How far is shifted is of any type.
        ExprKind::Binary(BinOp::Shl | BinOp::Shr, a, _) => leaf(a, is),
        ExprKind::Binary(_, a, b) => leaf(a, is).or_else(|| leaf(b, is)),
        _ => None,
    }
}

fn fold(e: &Expr, of: &dyn Fn(&str) -> Option<i128>, fits: &dyn Fn(i128) -> Option<i128>) -> Option<i128> {
    let value = |e| fold(e, of, fits);
    match &e.kind {
        ExprKind::Num(n) => fits(*n),
        ExprKind::Place(l) if l.indices.is_empty() => of(&l.name.text),
        ExprKind::Unary(UnOp::Minus, a) => fits(-value(a)?),
        ExprKind::Unary(UnOp::Complement, a) => fits(-1 - value(a)?),
        ExprKind::Cast(_, a) => value(a),
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (value(a)?, value(b)?);
            fits(match op {
                BinOp::Add => a + b,
                BinOp::Sub => a - b,
                BinOp::Mul => a.checked_mul(b)?,
                BinOp::Div => floor(a, b)?.0,
                BinOp::Mod => floor(a, b)?.1,
                BinOp::Pow => a.checked_pow(u32::try_from(b).ok()?)?,
                BinOp::Shl => a.checked_mul(1i128.checked_shl(u32::try_from(b).ok().filter(|b| *b < 64)?)?)?,
                BinOp::Shr => a >> u32::try_from(b).ok().filter(|b| *b < 64)?,
                BinOp::And => a & b,
                BinOp::Or => a | b,
                BinOp::Xor => a ^ b,
                BinOp::Fraction
                | BinOp::Le
                | BinOp::Lt
                | BinOp::Ge
                | BinOp::Gt
                | BinOp::Eq
                | BinOp::Ne
                | BinOp::Both
                | BinOp::Either => return None,
            })
        }
        ExprKind::Place(_)
        | ExprKind::Bool(_)
        | ExprKind::Nil
        | ExprKind::Unary(UnOp::Not, _)
        | ExprKind::Empty(_)
        | ExprKind::Top(_)
        | ExprKind::Size(_)
        | ExprKind::List(_) => None,
    }
}

/// Quotient and remainder, rounded down.
fn floor(a: i128, b: i128) -> Option<(i128, i128)> {
    if b == 0 {
        return None;
    }
    let (q, r) = (a / b, a % b);
    Some(if r != 0 && (r < 0) != (b < 0) { (q - 1, r + b) } else { (q, r) })
}
