//! Values of constant expressions, the operations on them, and the errors of these.
//!
//! Where an integer is expected, expressions compute with integers. Where a number with a fraction is expected, they
//! are exact, and rounded once.

use pendula_isa::Ty;

use crate::ast::{Binary, Span, Via};
use crate::codes;
use crate::exact::Ratio;
use crate::intern::Sym;
use crate::session::{Parsed, Reported, Session};

/// The integers that a word holds, signed or unsigned.
const WORD: std::ops::RangeInclusive<i128> = i64::MIN as i128..=u64::MAX as i128;

/// A constant's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Int(i128),
    /// A number as it is written.
    Real {
        text: Sym,
        negative: bool,
        ty: Option<Ty>,
    },
    /// The value of an expression that is not an integer.
    Ratio {
        ratio: Ratio,
        ty: Option<Ty>,
    },
    Raw(u64),
}

/// How an expression is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// With integers: quotients truncate.
    Whole,
    /// Without rounding: quotients are fractions.
    Exact,
}

impl Mode {
    /// The mode for expressions that become a word of this type.
    pub(crate) const fn of(ty: Ty) -> Mode {
        match ty {
            Ty::Int => Mode::Whole,
            Ty::Q | Ty::L | Ty::F => Mode::Exact,
        }
    }
}

/// Why an expression has no value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EvalError {
    /// It has been reported.
    Reported,
    DivideByZero(Span),
    Shift(Span, i128),
    Overflow(Span),
    /// The computation is with integers, and this is not one.
    Fraction(Span),
    /// An operator that is for integers only.
    Bits(Span, &'static str),
    Raw(Span),
    /// Infinity, or not a number.
    NotFinite(Span),
    /// A fraction of too large numbers.
    Large(Span),
    Types(Span, Ty, Ty),
}

impl From<Reported> for EvalError {
    fn from(_: Reported) -> EvalError {
        EvalError::Reported
    }
}

/// An integer as a word.
pub(crate) fn int_word(s: &mut Session, n: i128, span: Span, via: Via) -> Parsed<u64> {
    if WORD.contains(&n) { Ok(n as u64) } else { Err(report(s, EvalError::Overflow(span), via)) }
}

/// Whether a number with a fraction, or of its own type if it has one, is accepted where another type is expected.
pub(crate) fn fits(s: &mut Session, literal_ty: Option<Ty>, ty: Ty, span: Span, via: Via) -> Parsed<()> {
    if let Some(literal_ty) = literal_ty.filter(|literal_ty| *literal_ty != ty) {
        let message = format!("this number is {}, and {} is expected", article(literal_ty), article(ty));
        let help = format!("leave the suffix out, write a raw word (`0x…w`), or convert by `{}`", cvt(ty, literal_ty));
        return Err(s.fail(codes::TYPE, message, span, via, help));
    }
    if ty == Ty::Int {
        let help = "write a whole number; a number with a fraction goes into a register, or to an instruction \
                    with a suffix: `.q`, `.l` or `.f`";
        return Err(s.fail(codes::REAL, "an integer is expected here", span, via, help));
    }
    Ok(())
}

/// The result of an operation on two numbers, each with its place.
pub(crate) fn apply(
    s: &Session,
    op: Binary,
    mode: Mode,
    a: (Value, Span),
    b: (Value, Span),
) -> Result<Value, EvalError> {
    let whole = a.1.to(b.1);
    match (a, b) {
        ((Value::Int(_), _), (Value::Int(0), at)) if matches!(op, Binary::Div | Binary::Rem) => {
            Err(EvalError::DivideByZero(at))
        }
        ((Value::Int(_), _), (Value::Int(y), at))
            if matches!(op, Binary::Shl | Binary::Shr) && !(0..64).contains(&y) =>
        {
            Err(EvalError::Shift(at, y))
        }
        ((Value::Int(x), _), (Value::Int(y), _)) if mode == Mode::Whole || op != Binary::Div => {
            Ok(Value::Int(binary(op, x, y).ok_or(EvalError::Overflow(whole))?))
        }
        ((Value::Raw(_), at), _) | (_, (Value::Raw(_), at)) => Err(EvalError::Raw(at)),
        ((Value::Int(_), _), (_, at)) | ((_, at), _) if mode == Mode::Whole => Err(EvalError::Fraction(at)),
        _ => exact(s, op, a, b),
    }
}

/// The result of an operation without rounding.
fn exact(s: &Session, op: Binary, a: (Value, Span), b: (Value, Span)) -> Result<Value, EvalError> {
    let whole = a.1.to(b.1);
    let ((x, first), (y, second)) = (fraction(s, a)?, fraction(s, b)?);
    let ty = match (first, second) {
        (Some(first), Some(second)) if first != second => return Err(EvalError::Types(b.1, second, first)),
        _ => first.or(second),
    };
    let ratio = match op {
        Binary::Add => x.plus(y),
        Binary::Sub => x.plus(y.negated()),
        Binary::Mul => x.times(y),
        Binary::Div if y.is_zero() => return Err(EvalError::DivideByZero(b.1)),
        Binary::Div => x.over(y),
        Binary::Rem | Binary::Shl | Binary::Shr | Binary::And | Binary::Xor | Binary::Or => {
            let at = if matches!(a.0, Value::Int(_)) { b.1 } else { a.1 };
            return Err(EvalError::Bits(at, op.sign()));
        }
    };
    let ratio = ratio.ok_or(EvalError::Large(whole))?;
    Ok(match ratio.integer() {
        Some(n) if ty.is_none() => Value::Int(n),
        _ => Value::Ratio { ratio, ty },
    })
}

/// A number as a fraction, and its own type, if it has one.
fn fraction(s: &Session, (value, at): (Value, Span)) -> Result<(Ratio, Option<Ty>), EvalError> {
    match value {
        Value::Int(n) => Ok((Ratio::whole(n).ok_or(EvalError::Large(at))?, None)),
        Value::Ratio { ratio, ty } => Ok((ratio, ty)),
        Value::Raw(_) => Err(EvalError::Raw(at)),
        Value::Real { text, negative, ty } => {
            let digits = s.names.text(text);
            if matches!(digits, "inf" | "nan") {
                return Err(EvalError::NotFinite(at));
            }
            let ratio = Ratio::decimal(digits).ok_or(EvalError::Large(at))?;
            Ok((if negative { ratio.negated() } else { ratio }, ty))
        }
    }
}

fn binary(op: Binary, x: i128, y: i128) -> Option<i128> {
    match op {
        Binary::Mul => x.checked_mul(y),
        Binary::Div => x.checked_div(y),
        Binary::Rem => x.checked_rem(y),
        Binary::Add => x.checked_add(y),
        Binary::Sub => x.checked_sub(y),
        Binary::Shl => x.checked_mul(1i128.checked_shl(u32::try_from(y).ok()?)?),
        Binary::Shr => x.checked_shr(u32::try_from(y).ok()?),
        Binary::And => Some(x & y),
        Binary::Xor => Some(x ^ y),
        Binary::Or => Some(x | y),
    }
}

/// Reports why an expression has no value.
pub(crate) fn report(s: &mut Session, error: EvalError, via: Via) -> Reported {
    let no = codes::REAL_ARITHMETIC;
    let (code, span, message, help) = match error {
        EvalError::Reported => return Reported,
        EvalError::DivideByZero(at) => {
            (codes::ARITHMETIC, at, "this divides by zero".to_string(), "give the divisor another value")
        }
        EvalError::Shift(at, y) => {
            (codes::ARITHMETIC, at, format!("a shift by {y} is outside 0 to 63"), "shift by 0 to 63 bits")
        }
        EvalError::Overflow(at) => {
            (codes::OVERFLOW, at, "this value does not fit 64 bits".to_string(), "integers go from -2^63 to 2^64 - 1")
        }
        EvalError::Fraction(at) => (
            no,
            at,
            "where an integer is expected, expressions compute with integers only".to_string(),
            "write the integer that comes out, or use an instruction with a suffix: `.q`, `.l` or `.f`",
        ),
        EvalError::Bits(at, sign) => (
            no,
            at,
            format!("`{sign}` takes integers only"),
            "write the result as a number; `+`, `-`, `*` and `/` compute with fractions, too",
        ),
        EvalError::Raw(at) => {
            (no, at, "there is no arithmetic on raw words".to_string(), "leave the `w` out and write an integer")
        }
        EvalError::NotFinite(at) => {
            (no, at, "there is no arithmetic on `inf` and `nan`".to_string(), "write the result as a number")
        }
        EvalError::Large(at) => (
            codes::OVERFLOW,
            at,
            "this expression needs numbers of more than 120 bits".to_string(),
            "write the result as a number",
        ),
        EvalError::Types(at, found, expected) => (
            codes::TYPE,
            at,
            format!("this number is {}, and {} stands beside it", article(found), article(expected)),
            "leave one of the suffixes out",
        ),
    };
    s.fail(code, message, span, via, help)
}

fn article(ty: Ty) -> &'static str {
    match ty {
        Ty::Int => "an integer",
        Ty::Q => "a fixed-point number (`q`)",
        Ty::L => "a logarithmic number (`l`)",
        Ty::F => "a floating-point number (`f`)",
    }
}

fn cvt(to: Ty, from: Ty) -> String {
    format!("addcvt.{}.{}", to.letter(), from.letter()).replace("addcvt.l", "mulcvt.l")
}
