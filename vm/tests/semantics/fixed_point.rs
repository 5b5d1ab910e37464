//! Functions whose result is a fixed-point number, and overflow.

use fixed::FixedI64;
use fixed::types::extra::{LeEqU64, U32, U43, U48};
use pendula_isa::Fault;
use pendula_isa::counts::Direction;
use pendula_isa::num::Format;
use pendula_isa::operand::Operand;
use pendula_vm::{Config, Machine, Outcome};

use crate::common::{between, inst, program, reg};
use crate::semantics::oracle::{Oracle, checked, fault};
use crate::semantics::{L_BAD, L_ZERO, MAX, MIN, Value, f, hex, i, l, q, set};

const E: u64 = hex(2, 0xb7e1_5162_8aed_2a6a);
const LN_2: u64 = hex(0, 0xb172_17f7_d1cf_79ab);
const SQRT_2: u64 = hex(1, 0x6a09_e667_f3bc_c908);
const PI: u64 = hex(3, 0x243f_6a88_85a3_08d3);
const HALF_PI: u64 = hex(1, 0x921f_b544_42d1_8469);
const QUARTER_PI: u64 = hex(0, 0xc90f_daa2_2168_c234);
const THREE_QUARTERS_PI: u64 = hex(2, 0x5b2f_8fe6_643a_469e);

pub(crate) const VALUES: &[Value] = &[
    (".q", &[q(1.5)], Ok(q(1.5))),
    ("mul.q", &[q(1.5), q(-2.5)], Ok(q(-3.75))),
    ("prod.q.i", &[i(-7), 6], Ok(i(-42))),
    ("prod.q.i", &[1 << 62, 4], Ok(0)),
    ("ipow.q.i", &[i(-3), 5], Ok(i(-243))),
    ("ipow.q.i", &[2, 64], Ok(0)),
    ("mul.q", &[1, 1], Ok(0)),
    ("mul.q", &[i(-1), 1], Ok(i(-1))),
    ("mul.q", &[q(65536.0), q(32768.0)], Ok(q(-2147483648.0))),
    ("div.q", &[q(1.0), q(4.0)], Ok(q(0.25))),
    ("div.q", &[q(-1.0), q(3.0)], Ok(i(-0x5555_5555))),
    ("div.q", &[q(1.0), 0], Err(Fault::DivideByZero)),
    ("div.q", &[q(2147483647.0), q(0.5)], Err(Fault::Range)),
    ("cvt.q.i", &[i(-3)], Ok(q(-3.0))),
    ("cvt.q.i", &[i(1 << 31)], Err(Fault::Range)),
    ("cvt.q.l", &[l(true, -2.0)], Ok(q(-0.25))),
    ("cvt.q.l", &[l(false, -33.0)], Ok(0)),
    ("cvt.q.l", &[L_ZERO], Ok(0)),
    ("cvt.q.l", &[l(false, 31.0)], Err(Fault::Range)),
    ("cvt.q.f", &[f(-1.25)], Ok(q(-1.25))),
    ("cvt.q.f", &[f(1.5 / 4294967296.0)], Ok(2)),
    ("cvt.q.f", &[f(2.5 / 4294967296.0)], Ok(2)),
    ("cvt.q.f", &[f(1e10)], Err(Fault::Range)),
    ("muladd.q", &[q(1.5), q(2.0), q(0.25)], Ok(q(3.25))),
    // The product is rounded down, the sum is exact.
    ("muladd.q", &[1, 1, q(1.0)], Ok(q(1.0))),
    ("muladd.q", &[i(-1), 1, q(1.0)], Ok(q(1.0) - 1)),
    ("muladd.q", &[q(65536.0), q(32768.0), q(-1.0)], Ok(q(2147483647.0))),
    ("muladd.q", &[q(65536.0), q(32768.0), 0], Ok(q(-2147483648.0))),
    ("inv.q", &[q(4.0)], Ok(q(0.25))),
    ("inv.q", &[q(3.0)], Ok(0x5555_5555)),
    ("inv.q", &[q(-3.0)], Ok(i(-0x5555_5555))),
    ("inv.q", &[0], Err(Fault::DivideByZero)),
    ("inv.q", &[2], Err(Fault::Range)),
    ("inv.q", &[i(-2)], Ok(i(MIN))),
    ("pow.q", &[q(2.0), q(0.5)], Ok(SQRT_2)),
    ("pow.q", &[q(10.0), q(-2.0)], Ok(hex(0, 0x028f_5c28_f5c2_8f5c))),
    ("pow.q", &[q(-2.0), q(3.0)], Ok(q(-8.0))),
    ("pow.q", &[q(-2.0), q(-2.0)], Ok(q(0.25))),
    ("pow.q", &[q(-2.0), q(0.5)], Err(Fault::Domain)),
    ("pow.q", &[0, q(0.5)], Ok(0)),
    ("pow.q", &[0, 0], Ok(q(1.0))),
    ("pow.q", &[q(-7.5), 0], Ok(q(1.0))),
    ("pow.q", &[0, q(-1.0)], Err(Fault::DivideByZero)),
    ("pow.q", &[q(2.0), q(30.0)], Ok(q(1073741824.0))),
    ("pow.q", &[q(2.0), q(31.0)], Err(Fault::Range)),
    ("pow.q", &[q(-2.0), q(31.0)], Ok(i(MIN))),
    ("pow.q", &[q(2.0), q(-40.0)], Ok(0)),
    ("powi.q", &[q(3.0), 4], Ok(q(81.0))),
    ("powi.q", &[q(-3.0), 3], Ok(q(-27.0))),
    ("powi.q", &[q(1.5), 2], Ok(q(2.25))),
    ("powi.q", &[q(2.0), i(-3)], Ok(q(0.125))),
    ("powi.q", &[q(-1.0), i(MIN)], Ok(q(1.0))),
    ("powi.q", &[q(-1.0), i(MAX)], Ok(q(-1.0))),
    ("powi.q", &[0, 0], Ok(q(1.0))),
    ("powi.q", &[0, i(-1)], Err(Fault::DivideByZero)),
    ("powi.q", &[q(2.0), 31], Err(Fault::Range)),
    ("exp.q", &[0], Ok(q(1.0))),
    ("exp.q", &[q(1.0)], Ok(E)),
    ("exp.q", &[q(-1.0)], Ok(hex(0, 0x5e2d_58d8_b3bc_df1a))),
    ("exp.q", &[q(21.0)], Ok(hex(0x4e9b_87f6, 0x7bb3_f559_76a7_206a))),
    // The last whole number above half a unit, 2^-33, and the first below.
    ("exp.q", &[q(-22.0)], Ok(1)),
    ("exp.q", &[q(-23.0)], Ok(0)),
    ("exp.q", &[i(MIN)], Ok(0)),
    ("exp.q", &[q(22.0)], Err(Fault::Range)),
    ("exp.q", &[i(MAX)], Err(Fault::Range)),
    ("log.q", &[q(1.0)], Ok(0)),
    ("log.q", &[q(2.0)], Ok(LN_2)),
    ("log.q", &[q(0.5)], Ok(LN_2.wrapping_neg())),
    ("log.q", &[q(10.0)], Ok(hex(2, 0x4d76_3776_aaa2_b05b))),
    // 2^-32.
    ("log.q", &[1], Ok(hex(0x16, 0x2e42_fefa_39ef_3579).wrapping_neg())),
    ("log.q", &[0], Err(Fault::Domain)),
    ("log.q", &[q(-1.0)], Err(Fault::Domain)),
    ("log2.q", &[q(8.0)], Ok(q(3.0))),
    ("log2.q", &[1], Ok(q(-32.0))),
    ("log2.q", &[q(10.0)], Ok(hex(3, 0x5269_e12f_346e_2bf9))),
    ("log2.q", &[0], Err(Fault::Domain)),
    ("log2.q", &[i(MIN)], Err(Fault::Domain)),
    ("sqrt.q", &[0], Ok(0)),
    ("sqrt.q", &[q(2.0)], Ok(SQRT_2)),
    ("sqrt.q", &[q(0.5)], Ok(hex(0, 0xb504_f333_f9de_6484))),
    ("sqrt.q", &[q(49.0)], Ok(q(7.0))),
    ("sqrt.q", &[1], Ok(q(1.0 / 65536.0))),
    ("sqrt.q", &[i(-1)], Err(Fault::Domain)),
    ("sin.q", &[0], Ok(0)),
    ("sin.q", &[q(1.0)], Ok(hex(0, 0xd76a_a478_4867_7020))),
    ("sin.q", &[q(-1.0)], Ok(hex(0, 0xd76a_a478_4867_7020).wrapping_neg())),
    ("sin.q", &[q(1073741824.0)], Ok(hex(0, 0x9e09_1a9b_9465_7ace).wrapping_neg())),
    ("cos.q", &[0], Ok(q(1.0))),
    ("cos.q", &[q(-1.0)], Ok(hex(0, 0x8a51_407d_a834_5c91))),
    ("cos.q", &[q(1073741824.0)], Ok(hex(0, 0xc965_a354_900a_1ccf))),
    ("cos.q", &[PI], Ok(q(-1.0))),
    ("tan.q", &[q(1.0)], Ok(hex(1, 0x8eb2_45cb_ee3a_5b8a))),
    ("tan.q", &[q(1073741824.0)], Ok(hex(0, 0xc8e1_e093_7ce8_9435).wrapping_neg())),
    // 0.26 units from the pole.
    ("tan.q", &[HALF_PI], Err(Fault::Range)),
    ("asin.q", &[q(1.0)], Ok(HALF_PI)),
    ("asin.q", &[q(-0.5)], Ok(hex(0, 0x860a_91c1_6b9b_2c23).wrapping_neg())),
    ("asin.q", &[q(0.75)], Ok(hex(0, 0xd91a_98ae_3406_e040))),
    ("asin.q", &[q(1.0) + 1], Err(Fault::Domain)),
    ("asin.q", &[q(-1.0) - 1], Err(Fault::Domain)),
    ("acos.q", &[q(1.0)], Ok(0)),
    ("acos.q", &[q(0.5)], Ok(hex(1, 0x0c15_2382_d736_5846))),
    ("acos.q", &[q(-0.5)], Ok(hex(2, 0x182a_4705_ae6c_b08c))),
    ("acos.q", &[q(-1.0)], Ok(PI)),
    ("acos.q", &[q(2.0)], Err(Fault::Domain)),
    ("atan.q", &[0], Ok(0)),
    ("atan.q", &[q(1.0)], Ok(QUARTER_PI)),
    ("atan.q", &[q(-1.0)], Ok(QUARTER_PI.wrapping_neg())),
    // 2^-31 short of π/2, which is two units.
    ("atan.q", &[i(MAX)], Ok(HALF_PI - 2)),
    ("atan2.q", &[q(1.0), q(1.0)], Ok(QUARTER_PI)),
    ("atan2.q", &[q(1.0), q(-1.0)], Ok(THREE_QUARTERS_PI)),
    ("atan2.q", &[q(-1.0), q(-1.0)], Ok(THREE_QUARTERS_PI.wrapping_neg())),
    ("atan2.q", &[q(-1.0), q(1.0)], Ok(QUARTER_PI.wrapping_neg())),
    ("atan2.q", &[0, q(5.0)], Ok(0)),
    ("atan2.q", &[0, q(-5.0)], Ok(PI)),
    ("atan2.q", &[1, 0], Ok(HALF_PI)),
    ("atan2.q", &[i(MIN), 0], Ok(HALF_PI.wrapping_neg())),
    ("atan2.q", &[0, 0], Ok(0)),
    ("atan2.q", &[q(3.0), q(6.0)], Ok(hex(0, 0x76b1_9c15_86ed_3da2))),
    ("sinh.q", &[q(1.0)], Ok(hex(1, 0x2cd9_fc44_eb98_25a8))),
    ("sinh.q", &[q(-1.0)], Ok(hex(1, 0x2cd9_fc44_eb98_25a8).wrapping_neg())),
    ("sinh.q", &[1], Ok(1)),
    ("sinh.q", &[q(23.0)], Err(Fault::Range)),
    ("cosh.q", &[0], Ok(q(1.0))),
    ("cosh.q", &[q(-1.0)], Ok(hex(1, 0x8b07_551d_9f55_04c2))),
    ("cosh.q", &[i(MIN)], Err(Fault::Range)),
    ("tanh.q", &[q(1.0)], Ok(hex(0, 0xc2f7_d5a8_a79c_a2ac))),
    ("tanh.q", &[i(MIN)], Ok(q(-1.0))),
    ("tanh.q", &[0], Ok(0)),
    ("abs.q", &[q(-1.5)], Ok(q(1.5))),
    ("abs.q", &[i(MAX)], Ok(i(MAX))),
    ("abs.q", &[i(MIN)], Err(Fault::Range)),
    ("sign.q", &[q(7.5)], Ok(q(1.0))),
    ("sign.q", &[0], Ok(0)),
    ("sign.q", &[i(-1)], Ok(q(-1.0))),
    ("min.q", &[q(-0.5), q(0.25)], Ok(q(-0.5))),
    ("min.q", &[i(MAX), i(MIN)], Ok(i(MIN))),
    ("max.q", &[q(-0.5), q(0.25)], Ok(q(0.25))),
    ("max.q", &[q(2.0), q(2.0)], Ok(q(2.0))),
    ("relu.q", &[q(1.25)], Ok(q(1.25))),
    ("relu.q", &[0], Ok(0)),
    ("relu.q", &[i(MIN)], Ok(0)),
    ("floor.q", &[q(2.75)], Ok(q(2.0))),
    ("floor.q", &[q(-0.5)], Ok(q(-1.0))),
    ("floor.q", &[i(-1)], Ok(q(-1.0))),
    ("floor.q", &[q(-3.0)], Ok(q(-3.0))),
    ("floor.q", &[i(MIN)], Ok(i(MIN))),
    ("hypot.q", &[q(3.0), q(-4.0)], Ok(q(5.0))),
    ("hypot.q", &[q(-1.0), q(1.0)], Ok(SQRT_2)),
    ("hypot.q", &[0, 1], Ok(1)),
    ("hypot.q", &[i(MIN), 0], Err(Fault::Range)),
    ("plus.q", &[q(1.5), q(-2.25)], Ok(q(-0.75))),
    ("plus.q", &[i(MAX), i(MIN)], Ok(i(-1))),
    ("plus.q", &[i(MAX), 1], Ok(i(MIN))),
    ("minus.q", &[q(1.5), q(-2.25)], Ok(q(3.75))),
    ("minus.q", &[i(MIN), 1], Ok(i(MAX))),
    ("minus.q", &[0, i(MIN)], Ok(i(MIN))),
    ("log.q.l", &[l(false, 0.0)], Ok(0)),
    // Of the magnitude.
    ("log.q.l", &[l(true, 1.0)], Ok(LN_2)),
    ("log.q.l", &[l(false, -1.0)], Ok(LN_2.wrapping_neg())),
    ("log.q.l", &[l(false, 1023.0)], Ok(hex(0x2c5, 0x16ed_c74f_6c17_357b))),
    ("log.q.l", &[L_ZERO], Err(Fault::Domain)),
    ("log.q.l", &[L_BAD], Err(Fault::BadLog)),
];

/// π/2 in units of 2^-96.
const HALF_PI_96: i128 = 0x1_921f_b544_42d1_8469_898c_c517;

/// An angle as quarter turns and a remainder from -π/4 to π/4, as precise as a double can be.
fn reduced(x: i128, format: Format) -> (i128, f64) {
    let x = x << (96 - format.frac());
    let (mut quarters, mut rest) = (x.div_euclid(HALF_PI_96), x.rem_euclid(HALF_PI_96));
    if 2 * rest > HALF_PI_96 {
        (quarters, rest) = (quarters + 1, rest - HALF_PI_96);
    }
    (quarters.rem_euclid(4), rest as f64 * 2f64.powi(-96))
}

/// The integer nearest to the square root.
fn root(n: u128) -> Oracle {
    let below = n.isqrt();
    let up = n - below * below > below;
    checked::<i64>((below + u128::from(up)) as i128, |z| z.cast_unsigned())
}

pub(crate) fn oracle(name: &str, [a, b, c]: [u64; 3], format: Format) -> Option<Oracle> {
    let [x, y, z] = [a, b, c].map(|w| i128::from(w.cast_signed()));
    let frac = format.frac();
    let unit = 2f64.powi(-(frac as i32));
    let one = 1i128 << frac;
    let (u, v) = (x as f64 * unit, y as f64 * unit);
    // A real number.
    let near = |x: f64| Oracle::Near(x / unit);
    let exact = |x: i128| checked::<i64>(x, |z| z.cast_unsigned());
    let power = |exponent: f64, odd: bool| {
        let magnitude = u.abs().powf(exponent);
        near(if x < 0 && odd { -magnitude } else { magnitude })
    };
    let float = f64::from_bits(a);
    Some(match name {
        ".q" => Oracle::Exactly(Ok(a)),
        "mul.q" | "div.q" | "plus.q" | "minus.q" | "cvt.q.i" => by_the_crate_fixed(name, a, b, format),
        "prod.q.i" => Oracle::Exactly(Ok((x * y) as u64)),
        "ipow.q.i" => crate::semantics::integers::oracle("pow", [a, b, c], format)?,
        "cvt.q.f" if !float.is_finite() => fault(Fault::NotFinite),
        "cvt.q.f" => {
            // Scaling by a power of two is exact here: where it is not, the result is 0 or out of range.
            let z = (float / unit).round_ties_even();
            let inside = (-9223372036854775808.0..9223372036854775808.0).contains(&z);
            exact(if inside { z as i128 } else { i128::MAX })
        }
        "cvt.q.l" => crate::semantics::logarithms::number(a, unit.recip()),
        "muladd.q" => Oracle::Exactly(Ok(((x * y).div_euclid(one) + z) as u64)),
        "inv.q" if x == 0 => fault(Fault::DivideByZero),
        "inv.q" => exact((1 << (2 * frac)) / x),
        "pow.q" | "powi.q" if x == 0 && y < 0 => fault(Fault::DivideByZero),
        "pow.q" if x < 0 && y % one != 0 => fault(Fault::Domain),
        "pow.q" => power(v, y / one % 2 != 0),
        "powi.q" => power(y as f64, y % 2 != 0),
        "exp.q" => near(u.exp()),
        "log.q" | "log2.q" if x <= 0 => fault(Fault::Domain),
        "log.q" => near(u.ln()),
        "log2.q" => near(u.log2()),
        "sqrt.q" if x < 0 => fault(Fault::Domain),
        "sqrt.q" => root((x as u128) << frac),
        "hypot.q" => root((x * x) as u128 + (y * y) as u128),
        "sin.q" | "cos.q" | "tan.q" => {
            let (quarters, rest) = reduced(x, format);
            let (sin, cos) = match quarters {
                0 => (rest.sin(), rest.cos()),
                1 => (rest.cos(), -rest.sin()),
                2 => (-rest.sin(), -rest.cos()),
                _ => (-rest.cos(), rest.sin()),
            };
            near(match name {
                "sin.q" => sin,
                "cos.q" => cos,
                _ => sin / cos,
            })
        }
        "asin.q" | "acos.q" if x.abs() > one => fault(Fault::Domain),
        "asin.q" => near(u.asin()),
        "acos.q" => near(u.acos()),
        "atan.q" => near(u.atan()),
        "atan2.q" => near(u.atan2(v)),
        "sinh.q" => near(u.sinh()),
        "cosh.q" => near(u.cosh()),
        "tanh.q" => near(u.tanh()),
        "abs.q" => exact(if x < 0 { -x } else { x }),
        "sign.q" => exact(if x == 0 { 0 } else { x / x.abs() * one }),
        "min.q" => exact(x - (x - y).max(0)),
        "max.q" => exact(x + (y - x).max(0)),
        "relu.q" => exact((x + x.abs()) / 2),
        "floor.q" => exact(x - x.rem_euclid(one)),
        "log.q.l" if a == L_BAD => fault(Fault::BadLog),
        "log.q.l" if a == L_ZERO => fault(Fault::Domain),
        "log.q.l" => near(crate::semantics::logarithms::log_of(a).1 as f64 * 2f64.powi(-52) * std::f64::consts::LN_2),
        _ => return None,
    })
}

/// A function that the crate `fixed` has, too.
pub(crate) fn by_the_crate_fixed(name: &str, a: u64, b: u64, format: Format) -> Oracle {
    match format {
        Format::Q32_32 => fixed_oracle::<U32>(name, a, b),
        Format::Q21_43 => fixed_oracle::<U43>(name, a, b),
        Format::Q16_48 => fixed_oracle::<U48>(name, a, b),
    }
}

fn fixed_oracle<F: LeEqU64>(name: &str, a: u64, b: u64) -> Oracle {
    let (x, y) = (FixedI64::<F>::from_bits(a as i64), FixedI64::<F>::from_bits(b as i64));
    Oracle::Exactly(match name {
        "mul.q" => Ok(x.wrapping_mul(y).to_bits() as u64),
        "plus.q" => Ok(x.wrapping_add(y).to_bits() as u64),
        "minus.q" => Ok(x.wrapping_sub(y).to_bits() as u64),
        "div.q" if b == 0 => Err(Fault::DivideByZero),
        "div.q" => x.checked_div(y).map(|z| z.to_bits() as u64).ok_or(Fault::Range),
        "cvt.i.q" => Ok(x.floor_to_i64()),
        "lt.i.q" => Ok(u64::from(x < y)),
        "eq.i.q" => Ok(u64::from(x == y)),
        _ => FixedI64::<F>::checked_from_num(a as i64).map(|z| z.to_bits() as u64).ok_or(Fault::Range),
    })
}

trait FloorToInteger {
    fn floor_to_i64(self) -> u64;
}

impl<F: LeEqU64> FloorToInteger for FixedI64<F> {
    fn floor_to_i64(self) -> u64 {
        self.wrapping_floor().wrapping_to_num::<i64>() as u64
    }
}

#[test]
fn overflow_is_noted_or_traps() {
    let big = q(2147483647.0);
    let cases: [(&str, Vec<Operand>, [u64; 4], bool); 17] = [
        ("add.q", vec![reg(1), reg(2)], [big, q(1.0), 0, 0], true),
        ("sub.q", vec![reg(1), reg(2)], [1 << 63, 1, 0, 0], true),
        ("addmul.q", vec![reg(1), reg(2), reg(3)], [0, big, q(2.0), 0], true),
        ("addmuladd.q", vec![reg(1), reg(2), reg(3), reg(4)], [0, big, q(1.0), q(1.0)], true),
        ("addmuladd.q", vec![reg(1), reg(2), reg(3), reg(4)], [0, big, q(2.0), big.wrapping_neg()], false),
        ("addplus.q", vec![reg(1), reg(2), reg(3)], [0, big, q(1.0), 0], true),
        // The sum overflows although the result does not.
        ("addplus.q", vec![reg(1), reg(2), reg(3)], [q(-2.0), big, q(1.0), 0], true),
        ("addplus.q", vec![reg(1), reg(2), reg(3)], [big, big, big.wrapping_neg(), 0], false),
        ("xorplus.q", vec![reg(1), reg(2), reg(3)], [0, big, q(1.0), 0], true),
        ("subminus.q", vec![reg(1), reg(2), reg(3)], [0, 1 << 63, 1, 0], true),
        ("subminus.q", vec![reg(1), reg(2), reg(3)], [0, big, big, 0], false),
        ("addplus", vec![reg(1), reg(2), reg(3)], [0, 1 << 63, 1 << 63, 0], false),
        ("rot.q", vec![reg(1), reg(2), reg(3)], [big, big, HALF_PI >> 1, 0], true),
        ("neg.q", vec![reg(1)], [1 << 63, 0, 0, 0], true),
        ("add.q", vec![reg(1), reg(2)], [big, q(0.5), 0, 0], false),
        ("xor.q", vec![reg(1), reg(2)], [big, u64::MAX, 0, 0], false),
        ("add", vec![reg(1), reg(2)], [1 << 63, 1 << 63, 0, 0], false),
    ];
    for (name, operands, words, overflows) in cases {
        let program = program(between([inst("inc", &[reg(9)]), inst(name, &operands)]));
        for direction in [Direction::Forward, Direction::Backward] {
            for trap_overflow in [false, true] {
                let config = Config { mem: Some(8), trap_overflow, ..Config::default() };
                let mut m = Machine::new(&program, &config).unwrap();
                set(&mut m, words);
                if direction == Direction::Backward {
                    // What the forward run would leave.
                    m.run(None);
                    if trap_overflow && overflows {
                        continue;
                    }
                    m.begin(direction);
                }
                let before = m.digest();
                let outcome = m.run(None);
                if overflows && trap_overflow {
                    assert!(matches!(&outcome, Outcome::Trap(t) if t.fault == Fault::FixedOverflow && t.at == 2));
                    assert_eq!(m.registers()[1..5], words, "{name}");
                    assert_ne!(m.digest(), before, "`inc` has run");
                } else {
                    assert_eq!(outcome, Outcome::Finished, "{name}");
                    assert_eq!(m.flags().overflow, overflows.then_some(2), "{name} {direction:?}");
                }
            }
        }
    }
}
