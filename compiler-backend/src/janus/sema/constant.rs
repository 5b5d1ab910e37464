//! Expressions that are known where the program is compiled.

use super::TOO_FAR;
use super::body::Width;
use crate::janus::ast::{BinOp, Expr, ExprKind, IntTy, Lval, Name, UnOp};

/// What is known of variables.
pub(super) trait Store {
    /// The number that a variable or an element has.
    fn number(&self, l: &Lval) -> Option<i128>;
    /// Whether truth values are computed here, too, as 1 and 0.
    fn computes_truth(&self) -> bool {
        false
    }
    /// An array's first size.
    fn size(&self, name: &Name) -> Option<i128>;
}

/// Nothing is.
struct Nothing;

impl Store for Nothing {
    fn number(&self, _: &Lval) -> Option<i128> {
        None
    }

    fn size(&self, _: &Name) -> Option<i128> {
        None
    }
}

/// The number that an expression is, if it is one and names no variable.
pub(super) fn known(e: &Expr) -> Option<i128> {
    value(e, &Nothing)
}

/// The number that an expression is, given those that variables have.
pub(super) fn value(e: &Expr, store: &dyn Store) -> Option<i128> {
    Folder { store, width: None }.value(e)
}

/// The number that an expression of a type is, if it is one and names no variable. Of a type that wraps, what is computed wraps on the way.
///
/// # Errors
/// A number that the type has no room for.
pub(super) fn typed(e: &Expr, width: Width) -> Result<Option<i128>, &Expr> {
    // What a cast is of may be of another type.
    if casts(e) { Ok(None) } else { typed_value(e, width, &Nothing) }
}

/// The same, given the numbers that variables have.
///
/// # Errors
/// A number that the type has no room for.
pub(super) fn typed_value<'e>(e: &'e Expr, width: Width, store: &dyn Store) -> Result<Option<i128>, &'e Expr> {
    // Numbers may be written with a sign or without one, as those that have the same bits.
    let bits = u32::from(width.bits);
    let (least, most) = if width.noted { width.range() } else { (-(1 << (bits - 1)), (1 << bits) - 1) };
    if value(e, store).is_none() {
        return Ok(None);
    }
    if let Some(leaf) = leaf(e, &|n| !(least..=most).contains(&n)) {
        return Err(leaf);
    }
    Ok(Folder { store, width: Some(width) }.value(e))
}

/// Whether an expression has a cast in it.
fn casts(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Cast(..) => true,
        ExprKind::Unary(_, a) => casts(a),
        ExprKind::Binary(_, a, b) => casts(a) || casts(b),
        _ => false,
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

/// Expressions as numbers: of a type, or of none.
struct Folder<'s> {
    store: &'s dyn Store,
    width: Option<Width>,
}

impl Folder<'_> {
    /// A number, wrapped if the type does. Where wrapping is noted, that is done when the program runs.
    fn fits(&self, n: i128) -> Option<i128> {
        match self.width {
            Some(width) if width.noted => {
                let (least, most) = width.range();
                (least..=most).contains(&n).then_some(n)
            }
            Some(width) => Some(width.number(width.wrap(n))),
            None => (-(1 << 63)..1 << 64).contains(&n).then_some(n),
        }
    }

    /// By how much is shifted: a number of any type, less than there are bits.
    fn shift(&self, e: &Expr) -> Option<u32> {
        let bits = self.width.map_or(64, |w| u32::from(w.bits));
        let by = Folder { store: self.store, width: None }.value(e)?;
        u32::try_from(by).ok().filter(|by| *by < bits)
    }

    /// A truth value, where these are computed.
    fn truth(&self, e: &Expr) -> Option<bool> {
        if !self.store.computes_truth() {
            return None;
        }
        match &e.kind {
            ExprKind::Bool(is) => Some(*is),
            ExprKind::Unary(UnOp::Not, a) => self.truth(a).map(|is| !is),
            ExprKind::Binary(BinOp::Both, a, b) => Some(self.truth(a)? && self.truth(b)?),
            ExprKind::Binary(BinOp::Either, a, b) => Some(self.truth(a)? || self.truth(b)?),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                match op {
                    BinOp::Le => Some(a <= b),
                    BinOp::Lt => Some(a < b),
                    BinOp::Ge => Some(a >= b),
                    BinOp::Gt => Some(a > b),
                    BinOp::Eq => Some(a == b),
                    BinOp::Ne => Some(a != b),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn value(&self, e: &Expr) -> Option<i128> {
        match &e.kind {
            ExprKind::Num(n) => self.fits(*n),
            ExprKind::Place(l) => self.store.number(l),
            ExprKind::Size(name) => self.store.size(name),
            ExprKind::Unary(UnOp::Minus, a) => self.fits(-self.value(a)?),
            ExprKind::Unary(UnOp::Complement, a) => self.fits(-1 - self.value(a)?),
            ExprKind::Cast(to, a) => {
                let n = Folder { store: self.store, width: None }.value(a)?;
                Some(match *to {
                    IntTy::Int => n,
                    IntTy::Sized { bits, signed } => {
                        let width = Width { bits, signed, noted: false };
                        width.number(width.wrap(n))
                    }
                })
            }
            ExprKind::Binary(op, ..) if super::truth::cond(*op, false).is_some() => self.truth(e).map(i128::from),
            ExprKind::Binary(BinOp::Both | BinOp::Either, ..) => self.truth(e).map(i128::from),
            ExprKind::Binary(op, a, b) => {
                if let BinOp::Shl | BinOp::Shr = op {
                    let (a, by) = (self.value(a)?, self.shift(b)?);
                    return self.fits(if *op == BinOp::Shl { a.checked_mul(1 << by)? } else { a >> by });
                }
                let (a, b) = (self.value(a)?, self.value(b)?);
                self.fits(match op {
                    BinOp::Add => a + b,
                    BinOp::Sub => a - b,
                    BinOp::Mul => a.checked_mul(b)?,
                    BinOp::Div => floor(a, b)?.0,
                    BinOp::Mod => floor(a, b)?.1,
                    BinOp::Pow => a.checked_pow(u32::try_from(b).ok()?)?,
                    BinOp::And => a & b,
                    BinOp::Or => a | b,
                    BinOp::Xor => a ^ b,
                    BinOp::Shl
                    | BinOp::Shr
                    | BinOp::Fraction
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
            ExprKind::Bool(_) | ExprKind::Unary(UnOp::Not, _) => self.truth(e).map(i128::from),
            ExprKind::Nil | ExprKind::Empty(_) | ExprKind::Top(_) | ExprKind::List(_) => None,
        }
    }
}

/// What is wrong with an expression that would be known if it had a value: with which part of it, and what.
pub(super) fn trouble<'e>(e: &'e Expr, width: Width, store: &dyn Store) -> Option<(&'e Expr, String)> {
    let folder = Folder { store, width: Some(width) };
    match &e.kind {
        ExprKind::Place(l) => l.indices.iter().find_map(|i| trouble(i, width, store)),
        ExprKind::Unary(_, a) | ExprKind::Cast(_, a) => trouble(a, width, store),
        ExprKind::Binary(op, a, b) => {
            if let Some(found) = trouble(a, width, store).or_else(|| trouble(b, width, store)) {
                return Some(found);
            }
            let known = value(b, store)?;
            match op {
                BinOp::Shl | BinOp::Shr if folder.shift(b).is_none() => Some((b, shifted_too_far(width))),
                BinOp::Div | BinOp::Mod if known == 0 => Some((b, "division by zero".to_string())),
                BinOp::Pow if known < 0 => Some((b, "the exponent is negative".to_string())),
                _ => None,
            }
        }
        _ => None,
    }
}

/// What is wrong with a shift by more than there are bits.
pub(super) fn shifted_too_far(width: Width) -> String {
    format!("{TOO_FAR}{} bits or more", width.bits)
}

/// Quotient and remainder, rounded down.
fn floor(a: i128, b: i128) -> Option<(i128, i128)> {
    if b == 0 {
        return None;
    }
    let (q, r) = (a / b, a % b);
    Some(if r != 0 && (r < 0) != (b < 0) { (q - 1, r + b) } else { (q, r) })
}
