//! Constant folding.

use super::TOO_FAR;
use super::body::Width;
use crate::janus::ast::{BinOp, Expr, ExprKind, IntTy, Lval, Name, UnOp};

/// The known values of variables.
pub(super) trait Store {
    /// The value of a variable or an element.
    fn number(&self, l: &Lval) -> Option<i128>;
    /// Whether Booleans are computed, too, as 1 and 0.
    fn computes_truth(&self) -> bool {
        false
    }
    /// The first size of an array.
    fn size(&self, name: &Name) -> Option<i128>;
}

/// No variable has a known value.
struct Nothing;

impl Store for Nothing {
    fn number(&self, _: &Lval) -> Option<i128> {
        None
    }

    fn size(&self, _: &Name) -> Option<i128> {
        None
    }
}

/// The value of an expression without variables, if it has one.
pub(super) fn known(e: &Expr) -> Option<i128> {
    value(e, &Nothing)
}

/// The value of an expression with these variables.
pub(super) fn value(e: &Expr, store: &dyn Store) -> Option<i128> {
    Folder { store, width: None }.value(e)
}

/// The value of an expression of a type, without variables. If the type wraps, intermediate results wrap, too.
///
/// # Errors A number that does not fit the type.
pub(super) fn typed(e: &Expr, width: Width) -> Result<Option<i128>, &Expr> {
    // The operand of a cast may have another type.
    if casts(e) { Ok(None) } else { typed_value(e, width, &Nothing) }
}

/// The same with these variables.
///
/// # Errors A number that does not fit the type.
pub(super) fn typed_value<'e>(e: &'e Expr, width: Width, store: &dyn Store) -> Result<Option<i128>, &'e Expr> {
    // A number may be written with or without a sign, if it has the same bits.
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

/// Whether an expression contains a cast.
fn casts(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Cast(..) => true,
        ExprKind::Unary(_, a) => casts(a),
        ExprKind::Binary(_, a, b) => casts(a) || casts(b),
        _ => false,
    }
}

/// The first number of an expression that satisfies `is`.
fn leaf<'e>(e: &'e Expr, is: &impl Fn(i128) -> bool) -> Option<&'e Expr> {
    match &e.kind {
        ExprKind::Num(n) => is(*n).then_some(e),
        ExprKind::Unary(_, a) | ExprKind::Cast(_, a) => leaf(a, is),
        // The amount of a shift may have any type.
        ExprKind::Binary(BinOp::Shl | BinOp::Shr, a, _) => leaf(a, is),
        ExprKind::Binary(_, a, b) => leaf(a, is).or_else(|| leaf(b, is)),
        _ => None,
    }
}

/// Evaluates expressions of a type, or of no type.
struct Folder<'s> {
    store: &'s dyn Store,
    width: Option<Width>,
}

impl Folder<'_> {
    /// A number, wrapped if the type wraps. Where wrapping is reported, the number is computed at run time.
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

    /// The amount of a shift: a number of any type, less than the number of bits.
    fn shift(&self, e: &Expr) -> Option<u32> {
        let bits = self.width.map_or(64, |w| u32::from(w.bits));
        let by = Folder { store: self.store, width: None }.value(e)?;
        u32::try_from(by).ok().filter(|by| *by < bits)
    }

    /// A Boolean, if Booleans are computed.
    fn truth(&self, e: &Expr) -> Option<bool> {
        if !self.store.computes_truth() {
            return None;
        }
        match &e.kind {
            ExprKind::Bool(is) => Some(*is),
            ExprKind::Unary(UnOp::Not, a) => self.truth(a).map(|is| !is),
            ExprKind::Binary(BinOp::LogicalAnd, a, b) => Some(self.truth(a)? && self.truth(b)?),
            ExprKind::Binary(BinOp::LogicalOr, a, b) => Some(self.truth(a)? || self.truth(b)?),
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
            ExprKind::Binary(BinOp::LogicalAnd | BinOp::LogicalOr, ..) => self.truth(e).map(i128::from),
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
                    | BinOp::LogicalAnd
                    | BinOp::LogicalOr => return None,
                })
            }
            ExprKind::Bool(_) | ExprKind::Unary(UnOp::Not, _) => self.truth(e).map(i128::from),
            ExprKind::Nil | ExprKind::Empty(_) | ExprKind::Top(_) | ExprKind::List(_) => None,
        }
    }
}

/// The part of an expression that has no value, although its operands are known, and the message.
pub(super) fn fault_in<'e>(e: &'e Expr, width: Width, store: &dyn Store) -> Option<(&'e Expr, String)> {
    let folder = Folder { store, width: Some(width) };
    match &e.kind {
        ExprKind::Place(l) => l.indices.iter().find_map(|i| fault_in(i, width, store)),
        ExprKind::Unary(_, a) | ExprKind::Cast(_, a) => fault_in(a, width, store),
        ExprKind::Binary(op, a, b) => {
            if let Some(found) = fault_in(a, width, store).or_else(|| fault_in(b, width, store)) {
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

/// The message for a shift by too many bits.
pub(super) fn shifted_too_far(width: Width) -> String {
    format!("{TOO_FAR}{} bits or more", width.bits)
}

/// Quotient and remainder of a division that rounds down.
fn floor(a: i128, b: i128) -> Option<(i128, i128)> {
    if b == 0 {
        return None;
    }
    let (q, r) = (a / b, a % b);
    Some(if r != 0 && (r < 0) != (b < 0) { (q - 1, r + b) } else { (q, r) })
}
