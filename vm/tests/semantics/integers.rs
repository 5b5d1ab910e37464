//! Functions whose result is an integer.

use pendula_isa::Fault;
use pendula_isa::num::Format;

use crate::semantics::fixed_point::by_the_crate_fixed;
use crate::semantics::logarithms::log_of;
use crate::semantics::oracle::{Oracle, checked};
use crate::semantics::{L_BAD, L_ZERO, MAX, MIN, Value, f, i, l, q};

pub(crate) const VALUES: &[Value] = &[
    ("", &[42], Ok(42)),
    ("", &[i(-1)], Ok(u64::MAX)),
    ("mul", &[6, 7], Ok(42)),
    ("mul", &[i(-3), 5], Ok(i(-15))),
    ("mul", &[1 << 63, 2], Ok(0)),
    ("mul", &[u64::MAX, u64::MAX], Ok(1)),
    ("quot", &[i(-7), 2], Ok(i(-3))),
    ("quot", &[7, i(-2)], Ok(i(-3))),
    ("quot", &[i(-7), i(-2)], Ok(3)),
    ("quot", &[i(MIN), i(-1)], Ok(i(MIN))),
    ("quot", &[1, 0], Err(Fault::DivideByZero)),
    ("rem", &[i(-7), 2], Ok(i(-1))),
    ("rem", &[7, i(-2)], Ok(1)),
    ("rem", &[i(MIN), i(-1)], Ok(0)),
    ("rem", &[0, 0], Err(Fault::DivideByZero)),
    ("div", &[i(-7), 2], Ok(i(-4))),
    ("div", &[7, i(-2)], Ok(i(-4))),
    ("div", &[i(-7), i(-2)], Ok(3)),
    ("div", &[i(MIN), i(-1)], Ok(i(MIN))),
    ("div", &[i(-6), 3], Ok(i(-2))),
    ("div", &[5, 0], Err(Fault::DivideByZero)),
    ("udiv", &[i(-1), 2], Ok(i64::MAX as u64)),
    ("udiv", &[7, 2], Ok(3)),
    ("udiv", &[5, 0], Err(Fault::DivideByZero)),
    ("umod", &[i(-1), 10], Ok(5)),
    ("umod", &[5, 0], Err(Fault::DivideByZero)),
    ("pow", &[i(-3), 5], Ok(i(-243))),
    ("pow", &[0, 0], Ok(1)),
    ("pow", &[2, 63], Ok(1 << 63)),
    ("pow", &[3, i(-1)], Ok(0xaaaa_aaaa_aaaa_aaab)),
    ("mod", &[i(-7), 2], Ok(1)),
    ("mod", &[7, i(-2)], Ok(i(-1))),
    ("mod", &[i(-6), 3], Ok(0)),
    ("mod", &[i(MIN), i(-1)], Ok(0)),
    ("mod", &[5, 0], Err(Fault::DivideByZero)),
    ("and", &[0b1100, 0b1010], Ok(0b1000)),
    ("or", &[0b1100, 0b1010], Ok(0b1110)),
    ("nor", &[0b1100, 0b1010], Ok(!0b1110)),
    ("nor", &[0, 0], Ok(u64::MAX)),
    ("shl", &[3, 4], Ok(48)),
    ("shl", &[1, 63], Ok(1 << 63)),
    ("shl", &[1, 64], Ok(1)),
    ("shl", &[1, u64::MAX], Ok(1 << 63)),
    ("shr", &[1 << 63, 63], Ok(1)),
    ("shr", &[i(-1), 60], Ok(15)),
    ("shr", &[5, 65], Ok(2)),
    ("sar", &[i(-1), 60], Ok(i(-1))),
    ("sar", &[i(-5), 1], Ok(i(-3))),
    ("sar", &[i(MAX), 62], Ok(1)),
    ("shl32", &[3, 4], Ok(48)),
    ("shl32", &[1, 31], Ok(i(-(1 << 31)))),
    ("shl32", &[1, 32], Ok(1)),
    ("shl32", &[1, u64::MAX], Ok(i(-(1 << 31)))),
    ("shr32", &[i(-1), 28], Ok(15)),
    ("shr32", &[i(-1), 32], Ok(i(-1))),
    ("shr32", &[0xf_8000_0000, 31], Ok(1)),
    ("sar32", &[0x8000_0000, 30], Ok(i(-2))),
    ("sar32", &[i(-5), 33], Ok(i(-3))),
    ("lt", &[i(-1), 0], Ok(1)),
    ("lt", &[0, i(-1)], Ok(0)),
    ("lt", &[3, 3], Ok(0)),
    ("ltu", &[i(-1), 0], Ok(0)),
    ("ltu", &[0, i(-1)], Ok(1)),
    ("eq", &[5, 5], Ok(1)),
    ("eq", &[5, i(-5)], Ok(0)),
    ("min", &[i(-1), 1], Ok(i(-1))),
    ("min", &[i(MAX), i(MIN)], Ok(i(MIN))),
    ("max", &[i(-1), 1], Ok(1)),
    ("max", &[i(MAX), i(MIN)], Ok(i(MAX))),
    ("plus", &[i(-7), 5], Ok(i(-2))),
    ("plus", &[i(MAX), 1], Ok(i(MIN))),
    ("plus", &[1 << 63, 1 << 63], Ok(0)),
    ("minus", &[5, 7], Ok(i(-2))),
    ("minus", &[i(MIN), 1], Ok(i(MAX))),
    ("minus", &[0, i(MIN)], Ok(i(MIN))),
    ("cvt.i.q", &[q(2.75)], Ok(2)),
    ("cvt.i.q", &[q(-2.25)], Ok(i(-3))),
    ("cvt.i.q", &[i(-1)], Ok(i(-1))),
    ("cvt.i.l", &[l(false, 3.0)], Ok(8)),
    ("cvt.i.l", &[l(true, 0.0)], Ok(i(-1))),
    ("cvt.i.l", &[l(false, -1.0)], Ok(0)),
    ("cvt.i.l", &[L_ZERO], Ok(0)),
    ("cvt.i.l", &[l(true, 63.0)], Ok(i(MIN))),
    ("cvt.i.l", &[l(false, 63.0)], Err(Fault::Range)),
    ("cvt.i.l", &[L_BAD], Err(Fault::BadLog)),
    ("cvt.i.f", &[f(2.75)], Ok(2)),
    ("cvt.i.f", &[f(-2.25)], Ok(i(-3))),
    ("cvt.i.f", &[f(-0.0)], Ok(0)),
    ("cvt.i.f", &[f(9.3e18)], Err(Fault::Range)),
    ("cvt.i.f", &[f(f64::NAN)], Err(Fault::NotFinite)),
    ("lt.i.q", &[q(-0.5), q(0.25)], Ok(1)),
    ("lt.i.q", &[q(0.25), q(-0.5)], Ok(0)),
    ("lt.i.q", &[i(MIN), i(MAX)], Ok(1)),
    ("lt.i.q", &[q(0.25), q(0.25)], Ok(0)),
    ("eq.i.q", &[q(0.25), q(0.25)], Ok(1)),
    ("eq.i.q", &[q(0.25), q(-0.25)], Ok(0)),
    ("lt.i.l", &[l(true, 3.0), l(true, 2.0)], Ok(1)),
    ("lt.i.l", &[l(true, -3.0), L_ZERO], Ok(1)),
    ("lt.i.l", &[L_ZERO, l(false, -1023.0)], Ok(1)),
    ("lt.i.l", &[l(false, 2.0), l(false, 2.0)], Ok(0)),
    ("lt.i.l", &[l(false, 2.0), L_BAD], Err(Fault::BadLog)),
    ("eq.i.l", &[l(true, 2.5), l(true, 2.5)], Ok(1)),
    ("eq.i.l", &[l(true, 2.5), l(false, 2.5)], Ok(0)),
    ("eq.i.l", &[L_ZERO, L_ZERO], Ok(1)),
    ("eq.i.l", &[L_BAD, L_BAD], Err(Fault::BadLog)),
    ("lt.i.f", &[f(-0.5), f(0.25)], Ok(1)),
    ("lt.i.f", &[f(-0.25), f(-0.5)], Ok(0)),
    ("lt.i.f", &[f(-0.0), f(0.0)], Ok(0)),
    ("lt.i.f", &[f(f64::NEG_INFINITY), f(-1e308)], Ok(1)),
    ("lt.i.f", &[f(f64::NAN), f(1.0)], Err(Fault::NotFinite)),
    ("eq.i.f", &[f(-0.0), f(0.0)], Ok(1)),
    ("eq.i.f", &[f(0.5), f(-0.5)], Ok(0)),
    ("eq.i.f", &[f(f64::INFINITY), f(f64::INFINITY)], Ok(1)),
    ("eq.i.f", &[f(1.0), f(f64::NAN)], Err(Fault::NotFinite)),
];

/// A logarithmic number's place in the order: 0 for zero, else its logarithm above the least one, with the number's sign.
fn place(a: u64) -> i128 {
    let (negative, log) = log_of(a);
    let size = if a == L_ZERO { 0 } else { log + (1 << 62) };
    if negative { -size } else { size }
}

pub(crate) fn oracle(name: &str, [a, b, _]: [u64; 3], format: Format) -> Option<Oracle> {
    let (x, y) = (i128::from(a.cast_signed()), i128::from(b.cast_signed()));
    let (u, v) = (f64::from_bits(a), f64::from_bits(b));
    let wrapped = |z: i128| Oracle::Exactly(Ok(z as u64));
    let divided = |f: fn(i128, i128) -> i128| {
        if b == 0 { Oracle::Exactly(Err(Fault::DivideByZero)) } else { wrapped(f(x, y)) }
    };
    let floor_div = |x: i128, y: i128| {
        let q = x / y;
        if x % y != 0 && (x < 0) != (y < 0) { q - 1 } else { q }
    };
    let bits = |f: fn(bool, bool) -> bool| {
        let z = (0..64).filter(|k| f(a >> k & 1 == 1, b >> k & 1 == 1)).fold(0u64, |z, k| z | 1 << k);
        Oracle::Exactly(Ok(z))
    };
    let n = (b % 64) as u32;
    Some(match name {
        "" => Oracle::Exactly(Ok(a)),
        "mul" => wrapped(x.wrapping_mul(y)),
        "udiv" | "umod" if b == 0 => Oracle::Exactly(Err(Fault::DivideByZero)),
        "udiv" => wrapped(i128::from(a) / i128::from(b)),
        "umod" => wrapped(i128::from(a) - i128::from(a) / i128::from(b) * i128::from(b)),
        "pow" => {
            // From the top of the exponent down.
            let one = |power: u64, k: u32| {
                let square = (u128::from(power) * u128::from(power)) as u64;
                if b >> k & 1 == 1 { (u128::from(square) * u128::from(a)) as u64 } else { square }
            };
            Oracle::Exactly(Ok((0..64).rev().fold(1, one)))
        }
        "quot" => divided(|x, y| x / y),
        "rem" => divided(|x, y| x % y),
        "div" if b != 0 => wrapped(floor_div(x, y)),
        "mod" if b != 0 => wrapped(x - y * floor_div(x, y)),
        "div" | "mod" => Oracle::Exactly(Err(Fault::DivideByZero)),
        "and" => bits(|p, q| p && q),
        "or" => bits(|p, q| p || q),
        "nor" => bits(|p, q| !p && !q),
        "shl" => wrapped(x << n),
        "shr" => wrapped((i128::from(a)) >> n),
        "sar" => wrapped(x.div_euclid(1 << n)),
        "shl32" => wrapped(i128::from((a as i32) << (b % 32))),
        "shr32" => wrapped(i128::from(((a as u32) >> (b % 32)).cast_signed())),
        "sar32" => wrapped(i128::from(a as i32).div_euclid(1 << (b % 32))),
        "lt" => wrapped(i128::from(x < y)),
        "ltu" => wrapped(i128::from(a < b)),
        "eq" => wrapped(i128::from(a ^ b == 0)),
        "min" => wrapped(x.min(y)),
        "max" => wrapped(x.max(y)),
        "plus" => wrapped(x + y),
        "minus" => wrapped(x - y),
        "cvt.i.q" | "lt.i.q" | "eq.i.q" => by_the_crate_fixed(name, a, b, format),
        "lt.i.l" | "eq.i.l" if a == L_BAD || b == L_BAD => Oracle::Exactly(Err(Fault::BadLog)),
        "lt.i.l" => wrapped(i128::from(place(a) < place(b))),
        "eq.i.l" => wrapped(i128::from(place(a) == place(b))),
        "lt.i.f" | "eq.i.f" if u.is_nan() || v.is_nan() => Oracle::Exactly(Err(Fault::NotFinite)),
        "lt.i.f" => wrapped(i128::from(u < v)),
        "eq.i.f" => wrapped(i128::from(u == v)),
        "cvt.i.f" if !u.is_finite() => Oracle::Exactly(Err(Fault::NotFinite)),
        "cvt.i.f" => {
            let z = u.floor();
            let inside = (-9223372036854775808.0..9223372036854775808.0).contains(&z);
            checked::<i64>(if inside { z as i128 } else { i128::MAX }, |z| z.cast_unsigned())
        }
        "cvt.i.l" => crate::semantics::logarithms::number(a, 1.0),
        _ => return None,
    })
}
