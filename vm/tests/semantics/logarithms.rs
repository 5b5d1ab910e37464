//! Functions whose result is a logarithmic number.

use pendula_isa::Fault;
use pendula_isa::num::Format;

use crate::semantics::oracle::{Oracle, fault};
use crate::semantics::{L_BAD, L_ZERO, Value, Want, f, i, l, q};

/// log2 3, and log2 (1 + 2^-10), as far as the word goes.
const LOG2_3: u64 = 0x0019_5c01_a39f_bd68;
const LOG2_1025_1024: u64 = 0x5c4_994d_d0fd;
/// The greatest and the least magnitude.
const L_MAX: u64 = 0x3fff_ffff_ffff_ffff;
const L_MIN: u64 = 0x4000_0000_0000_0001;

pub(crate) const VALUES: &[Value] = &[
    (".l", &[l(true, 2.5)], Ok(l(true, 2.5))),
    ("mul.l", &[l(true, 2.5), l(false, 0.5)], Ok(l(true, 3.0))),
    ("mul.l", &[l(true, 1.0), l(true, -4.0)], Ok(l(false, -3.0))),
    ("mul.l", &[l(true, 1.0), L_ZERO], Ok(L_ZERO)),
    ("mul.l", &[l(false, 1000.0), l(false, 24.0)], Err(Fault::Range)),
    ("mul.l", &[L_BAD, 0], Err(Fault::BadLog)),
    ("div.l", &[l(true, 2.5), l(false, 0.5)], Ok(l(true, 2.0))),
    ("div.l", &[L_ZERO, l(true, 1.0)], Ok(L_ZERO)),
    ("div.l", &[l(true, 1.0), L_ZERO], Err(Fault::DivideByZero)),
    ("cvt.l.i", &[1024], Ok(l(false, 10.0))),
    ("cvt.l.i", &[i(-1)], Ok(l(true, 0.0))),
    ("cvt.l.i", &[0], Ok(L_ZERO)),
    ("cvt.l.i", &[3], Ok(0x0019_5c01_a39f_bd68)),
    ("cvt.l.q", &[q(-0.25)], Ok(l(true, -2.0))),
    ("cvt.l.q", &[0], Ok(L_ZERO)),
    ("cvt.l.q", &[1], Ok(l(false, -32.0))),
    ("cvt.l.f", &[f(-0.125)], Ok(l(true, -3.0))),
    ("cvt.l.f", &[f(-0.0)], Ok(L_ZERO)),
    ("cvt.l.f", &[f(5e-324)], Err(Fault::Range)),
    ("cvt.l.f", &[f(f64::INFINITY)], Err(Fault::NotFinite)),
    ("inv.l", &[l(true, 2.5)], Ok(l(true, -2.5))),
    ("inv.l", &[L_MIN], Ok(L_MAX)),
    ("inv.l", &[L_ZERO], Err(Fault::DivideByZero)),
    ("inv.l", &[L_BAD], Err(Fault::BadLog)),
    ("pow.l", &[l(false, 1.0), q(0.5)], Ok(l(false, 0.5))),
    ("pow.l", &[l(true, 1.5), q(3.0)], Ok(l(true, 4.5))),
    ("pow.l", &[l(true, 1.5), q(-2.0)], Ok(l(false, -3.0))),
    ("pow.l", &[l(true, 1.0), q(0.5)], Err(Fault::Domain)),
    ("pow.l", &[L_ZERO, q(1.5)], Ok(L_ZERO)),
    ("pow.l", &[L_ZERO, 0], Ok(l(false, 0.0))),
    ("pow.l", &[l(true, 700.0), 0], Ok(l(false, 0.0))),
    ("pow.l", &[L_ZERO, q(-0.5)], Err(Fault::DivideByZero)),
    ("pow.l", &[L_BAD, 0], Err(Fault::BadLog)),
    ("pow.l", &[l(false, 512.0), q(2.0)], Err(Fault::Range)),
    ("pow.l", &[l(false, 512.0), q(-2.0)], Err(Fault::Range)),
    ("pow.l", &[l(false, 512.0), q(1.5)], Ok(l(false, 768.0))),
    // Halves of a unit of the logarithm, to even.
    ("pow.l", &[1, q(0.5)], Ok(0)),
    ("pow.l", &[3, q(0.5)], Ok(2)),
    ("pow.l", &[3, q(-0.5)], Ok(i(-2) & i(i64::MAX))),
    ("plus.l", &[l(false, 0.0), l(false, 0.0)], Ok(l(false, 1.0))),
    ("plus.l", &[l(true, 7.5), l(true, 7.5)], Ok(l(true, 8.5))),
    ("plus.l", &[l(false, 0.0), l(false, 1.0)], Ok(LOG2_3)),
    ("plus.l", &[l(true, 2.0), l(false, 0.0)], Ok(LOG2_3 | 1 << 63)),
    ("plus.l", &[l(false, -10.0), l(false, 0.0)], Ok(LOG2_1025_1024)),
    ("plus.l", &[l(false, 2.5), l(true, 2.5)], Ok(L_ZERO)),
    ("plus.l", &[l(false, 2.0), l(true, 1.0)], Ok(l(false, 1.0))),
    // 1 + 2^-53 has the logarithm 0.72 units, 1 + 2^-54 has 0.36.
    ("plus.l", &[l(false, 0.0), l(false, -53.0)], Ok(1)),
    ("plus.l", &[l(false, 0.0), l(false, -54.0)], Ok(0)),
    ("plus.l", &[L_ZERO, l(true, 3.25)], Ok(l(true, 3.25))),
    ("plus.l", &[L_MIN, L_ZERO], Ok(L_MIN)),
    ("plus.l", &[L_ZERO, L_ZERO], Ok(L_ZERO)),
    ("plus.l", &[L_MAX, L_MAX], Err(Fault::Range)),
    ("plus.l", &[L_BAD, L_ZERO], Err(Fault::BadLog)),
    ("minus.l", &[l(false, 2.0), l(false, 0.0)], Ok(LOG2_3)),
    ("minus.l", &[l(false, 0.0), l(false, 2.0)], Ok(LOG2_3 | 1 << 63)),
    ("minus.l", &[l(false, 3.0), l(true, 3.0)], Ok(l(false, 4.0))),
    ("minus.l", &[L_MAX, L_MAX], Ok(L_ZERO)),
    ("minus.l", &[L_ZERO, l(false, 3.25)], Ok(l(true, 3.25))),
    ("minus.l", &[L_MIN, L_MIN + 1], Err(Fault::Range)),
    ("minus.l", &[0, L_BAD], Err(Fault::BadLog)),
];

/// Sign and logarithm of a `.l` word that is neither zero nor invalid.
pub(crate) fn log_of(a: u64) -> (bool, i128) {
    (a >> 63 == 1, i128::from((a << 1).cast_signed() >> 1))
}

pub(crate) fn log_word(sign: bool, log: i128) -> Want {
    if log.abs() < 1 << 62 {
        Ok((log as i64).cast_unsigned() & (u64::MAX >> 1) | u64::from(sign) << 63)
    } else {
        Err(Fault::Range)
    }
}

/// The number of a word, times a scale.
pub(crate) fn number(a: u64, scale: f64) -> Oracle {
    if a == L_BAD {
        return fault(Fault::BadLog);
    }
    if a == L_ZERO {
        return Oracle::Exactly(Ok(0));
    }
    let (sign, log) = log_of(a);
    let size = (log as f64 * 2f64.powi(-52)).exp2() * scale;
    Oracle::Near(if sign { -size } else { size })
}

/// The sum of two numbers that are not zero.
fn plus(a: u64, b: u64) -> Oracle {
    let (mut greater, mut less) = (log_of(a), log_of(b));
    if greater.1 < less.1 {
        (greater, less) = (less, greater);
    }
    let distance = (greater.1 - less.1) as f64 * 2f64.powi(-52);
    let ratio =
        if greater.0 == less.0 { 1.0 + (-distance).exp2() } else { -(-distance * std::f64::consts::LN_2).exp_m1() };
    if ratio == 0.0 {
        return Oracle::Exactly(Ok(L_ZERO));
    }
    Oracle::Log(greater.0, greater.1 as f64 * 2f64.powi(-52) + ratio.log2())
}

pub(crate) fn oracle(name: &str, [a, b, _]: [u64; 3], format: Format) -> Option<Oracle> {
    let u = f64::from_bits(a);
    let unit = 2f64.powi(-(format.frac() as i32));
    let to_log = |x: f64| {
        if x == 0.0 { Oracle::Exactly(Ok(L_ZERO)) } else { Oracle::Log(x < 0.0, x.abs().log2()) }
    };
    Some(match name {
        ".l" => Oracle::Exactly(Ok(a)),
        "mul.l" | "div.l" | "plus.l" | "minus.l" if a == L_BAD || b == L_BAD => fault(Fault::BadLog),
        "div.l" if b == L_ZERO => fault(Fault::DivideByZero),
        "mul.l" | "div.l" if a == L_ZERO || b == L_ZERO => Oracle::Exactly(Ok(L_ZERO)),
        "mul.l" | "div.l" => {
            let ((s, x), (t, y)) = (log_of(a), log_of(b));
            Oracle::Exactly(log_word(s != t, if name == "mul.l" { x + y } else { x - y }))
        }
        "plus.l" | "minus.l" if b == L_ZERO => Oracle::Exactly(Ok(a)),
        "plus.l" if a == L_ZERO => Oracle::Exactly(Ok(b)),
        "minus.l" if a == L_ZERO => Oracle::Exactly(Ok(b ^ 1 << 63)),
        "plus.l" => plus(a, b),
        "minus.l" => plus(a, b ^ 1 << 63),
        "inv.l" | "pow.l" if a == L_BAD => fault(Fault::BadLog),
        "inv.l" if a == L_ZERO => fault(Fault::DivideByZero),
        "inv.l" => {
            let (sign, log) = log_of(a);
            Oracle::Exactly(log_word(sign, -log))
        }
        "pow.l" if a == L_ZERO => match b.cast_signed() {
            0 => Oracle::Exactly(Ok(0)),
            b if b < 0 => fault(Fault::DivideByZero),
            _ => Oracle::Exactly(Ok(L_ZERO)),
        },
        "pow.l" => {
            let ((sign, log), exponent) = (log_of(a), i128::from(b.cast_signed()));
            let one = 1i128 << format.frac();
            if sign && exponent % one != 0 {
                return Some(fault(Fault::Domain));
            }
            let product = log * exponent;
            let (below, rest) = (product.div_euclid(one), product.rem_euclid(one));
            let up = 2 * rest > one || (2 * rest == one && below % 2 != 0);
            Oracle::Exactly(log_word(sign && exponent / one % 2 != 0, below + i128::from(up)))
        }
        "cvt.l.i" => to_log(a.cast_signed() as f64),
        "cvt.l.q" => to_log(a.cast_signed() as f64 * unit),
        "cvt.l.f" if !u.is_finite() => fault(Fault::NotFinite),
        "cvt.l.f" if u != 0.0 && u.abs() <= 2f64.powi(-1023) / 2.0 => fault(Fault::Range),
        // The logarithm of a subnormal number, by one that is not.
        "cvt.l.f" if u != 0.0 && u.abs() < 1.0 => Oracle::Log(u < 0.0, (u.abs() * 2f64.powi(100)).log2() - 100.0),
        "cvt.l.f" => to_log(u),
        _ => return None,
    })
}
