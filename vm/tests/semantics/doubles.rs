//! Functions whose result is a double, and the behaviour under `--ieee`.

use std::f64::consts;

use pendula_isa::Fault;
use pendula_isa::num::{Env, Format};
use pendula_isa::{scalar, table::TableFn};
use pendula_vm::{Config, Machine, Outcome};

use crate::common::{between, inst, program, reg};
use crate::semantics::functions::named;
use crate::semantics::oracle::{Oracle, fault};
use crate::semantics::{L_BAD, L_ZERO, MAX, MIN, Value, f, i, l, q, set};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
/// The least positive double, and the next double above 1.
const TINY: f64 = 5e-324;
const ABOVE_ONE: f64 = 1.0 + f64::EPSILON;

/// Exact values, those that IEEE 754 defines to the bit, and faults.
pub(crate) const VALUES: &[Value] = &[
    (".f", &[f(1.5)], Ok(f(1.5))),
    ("mul.f", &[f(1.5), f(-3.0)], Ok(f(-4.5))),
    ("mul.f", &[f(1e300), f(1e300)], Err(Fault::NotFinite)),
    ("mul.f", &[f(f64::NAN), f(1.0)], Err(Fault::NotFinite)),
    ("div.f", &[f(1.0), f(-4.0)], Ok(f(-0.25))),
    ("div.f", &[f(1.0), f(-0.0)], Err(Fault::DivideByZero)),
    ("div.f", &[f(0.0), f(0.0)], Err(Fault::DivideByZero)),
    ("cvt.f.i", &[i(-3)], Ok(f(-3.0))),
    ("cvt.f.i", &[(1 << 53) + 1], Ok(f(9007199254740992.0))),
    ("cvt.f.q", &[q(-1.25)], Ok(f(-1.25))),
    ("cvt.f.q", &[1], Ok(f(1.0 / 4294967296.0))),
    ("cvt.f.l", &[l(true, -3.0)], Ok(f(-0.125))),
    ("cvt.f.l", &[L_ZERO], Ok(f(0.0))),
    ("cvt.f.l", &[L_BAD], Err(Fault::BadLog)),
    // (1 + 2^-30)(1 - 2^-30) - 1, rounded once.
    (
        "muladd.f",
        &[f(1.0 + 1.0 / 1073741824.0), f(1.0 - 1.0 / 1073741824.0), f(-1.0)],
        Ok(f(-1.0 / 1152921504606846976.0)),
    ),
    ("muladd.f", &[f(2.0), f(3.0), f(0.5)], Ok(f(6.5))),
    ("muladd.f", &[f(1e300), f(1e300), f(-1e300)], Err(Fault::NotFinite)),
    ("muladd.f", &[f(1.0), f(1.0), f(NAN)], Err(Fault::NotFinite)),
    ("inv.f", &[f(-4.0)], Ok(f(-0.25))),
    ("inv.f", &[f(3.0)], Ok(0x3fd5_5555_5555_5555)),
    ("inv.f", &[f(0.0)], Err(Fault::DivideByZero)),
    ("inv.f", &[f(-0.0)], Err(Fault::DivideByZero)),
    ("inv.f", &[f(TINY)], Err(Fault::NotFinite)),
    ("inv.f", &[f(INF)], Err(Fault::NotFinite)),
    ("pow.f", &[f(2.0), f(10.0)], Ok(f(1024.0))),
    ("pow.f", &[f(2.0), f(-1074.0)], Ok(f(TINY))),
    ("pow.f", &[f(-2.0), f(3.0)], Ok(f(-8.0))),
    ("pow.f", &[f(4.0), f(0.5)], Ok(f(2.0))),
    ("pow.f", &[f(-2.0), f(0.5)], Err(Fault::Domain)),
    ("pow.f", &[f(-0.0), f(3.0)], Ok(f(-0.0))),
    ("pow.f", &[f(0.0), f(0.0)], Ok(f(1.0))),
    ("pow.f", &[f(-7.5), f(-0.0)], Ok(f(1.0))),
    ("pow.f", &[f(0.0), f(-1.0)], Err(Fault::DivideByZero)),
    ("pow.f", &[f(-0.0), f(-0.5)], Err(Fault::DivideByZero)),
    ("pow.f", &[f(10.0), f(309.0)], Err(Fault::NotFinite)),
    ("pow.f", &[f(0.5), f(2000.0)], Ok(f(0.0))),
    ("powi.f", &[f(1.5), 2], Ok(f(2.25))),
    ("powi.f", &[f(-2.0), 63], Ok(f(-9223372036854775808.0))),
    ("powi.f", &[f(2.0), i(-1074)], Ok(f(TINY))),
    ("powi.f", &[f(2.0), 1024], Err(Fault::NotFinite)),
    // As a double, the greatest integer would be even.
    ("powi.f", &[f(-1.0), i(MAX)], Ok(f(-1.0))),
    ("powi.f", &[f(-1.0), i(MIN)], Ok(f(1.0))),
    ("powi.f", &[f(-0.0), 3], Ok(f(-0.0))),
    ("powi.f", &[f(0.0), 0], Ok(f(1.0))),
    ("powi.f", &[f(-0.0), i(-1)], Err(Fault::DivideByZero)),
    ("exp.f", &[f(-0.0)], Ok(f(1.0))),
    ("exp.f", &[f(-746.0)], Ok(f(0.0))),
    ("exp.f", &[f(710.0)], Err(Fault::NotFinite)),
    ("log.f", &[f(1.0)], Ok(f(0.0))),
    ("log.f", &[f(0.0)], Err(Fault::Domain)),
    ("log.f", &[f(-0.0)], Err(Fault::Domain)),
    ("log.f", &[f(-1.0)], Err(Fault::Domain)),
    ("log2.f", &[f(8.0)], Ok(f(3.0))),
    ("log2.f", &[f(TINY)], Ok(f(-1074.0))),
    ("log2.f", &[f(0.0)], Err(Fault::Domain)),
    ("sqrt.f", &[f(2.0)], Ok(f(consts::SQRT_2))),
    ("sqrt.f", &[f(0.5)], Ok(f(consts::FRAC_1_SQRT_2))),
    ("sqrt.f", &[f(-0.0)], Ok(f(-0.0))),
    ("sqrt.f", &[f(-TINY)], Err(Fault::Domain)),
    ("sin.f", &[f(-0.0)], Ok(f(-0.0))),
    ("sin.f", &[f(TINY)], Ok(f(TINY))),
    ("cos.f", &[f(-0.0)], Ok(f(1.0))),
    ("tan.f", &[f(-0.0)], Ok(f(-0.0))),
    ("asin.f", &[f(1.0)], Ok(f(consts::FRAC_PI_2))),
    ("asin.f", &[f(-1.0)], Ok(f(-consts::FRAC_PI_2))),
    ("asin.f", &[f(ABOVE_ONE)], Err(Fault::Domain)),
    ("acos.f", &[f(1.0)], Ok(f(0.0))),
    ("acos.f", &[f(-1.0)], Ok(f(consts::PI))),
    ("acos.f", &[f(-ABOVE_ONE)], Err(Fault::Domain)),
    ("atan.f", &[f(1e300)], Ok(f(consts::FRAC_PI_2))),
    ("atan.f", &[f(-0.0)], Ok(f(-0.0))),
    ("atan2.f", &[f(1.0), f(1.0)], Ok(f(consts::FRAC_PI_4))),
    ("atan2.f", &[f(-1.0), f(1.0)], Ok(f(-consts::FRAC_PI_4))),
    ("atan2.f", &[f(1.0), f(0.0)], Ok(f(consts::FRAC_PI_2))),
    ("atan2.f", &[f(-1.0), f(-0.0)], Ok(f(-consts::FRAC_PI_2))),
    ("atan2.f", &[f(0.0), f(-1.0)], Ok(f(consts::PI))),
    ("atan2.f", &[f(-0.0), f(-1.0)], Ok(f(-consts::PI))),
    ("atan2.f", &[f(0.0), f(1.0)], Ok(f(0.0))),
    ("atan2.f", &[f(0.0), f(0.0)], Ok(f(0.0))),
    ("atan2.f", &[f(-0.0), f(-0.0)], Ok(f(-consts::PI))),
    ("sinh.f", &[f(-0.0)], Ok(f(-0.0))),
    ("sinh.f", &[f(711.0)], Err(Fault::NotFinite)),
    ("cosh.f", &[f(0.0)], Ok(f(1.0))),
    ("cosh.f", &[f(-711.0)], Err(Fault::NotFinite)),
    ("tanh.f", &[f(-0.0)], Ok(f(-0.0))),
    ("tanh.f", &[f(-30.0)], Ok(f(-1.0))),
    ("abs.f", &[f(-1.5)], Ok(f(1.5))),
    ("abs.f", &[f(-0.0)], Ok(f(0.0))),
    ("sign.f", &[f(TINY)], Ok(f(1.0))),
    ("sign.f", &[f(-0.0)], Ok(f(0.0))),
    ("sign.f", &[f(-1e300)], Ok(f(-1.0))),
    ("min.f", &[f(-1.0), f(2.0)], Ok(f(-1.0))),
    ("min.f", &[f(0.0), f(-0.0)], Ok(f(-0.0))),
    ("min.f", &[f(NAN), f(1.0)], Err(Fault::NotFinite)),
    ("max.f", &[f(-1.0), f(2.0)], Ok(f(2.0))),
    ("max.f", &[f(-0.0), f(0.0)], Ok(f(0.0))),
    ("max.f", &[f(1.0), f(INF)], Err(Fault::NotFinite)),
    ("relu.f", &[f(2.5)], Ok(f(2.5))),
    ("relu.f", &[f(-2.5)], Ok(f(0.0))),
    ("relu.f", &[f(-0.0)], Ok(f(0.0))),
    ("floor.f", &[f(2.75)], Ok(f(2.0))),
    ("floor.f", &[f(-0.5)], Ok(f(-1.0))),
    ("floor.f", &[f(-0.0)], Ok(f(-0.0))),
    ("floor.f", &[f(-1e300)], Ok(f(-1e300))),
    ("hypot.f", &[f(3.0), f(-4.0)], Ok(f(5.0))),
    ("hypot.f", &[f(1.7e308), f(1.7e308)], Err(Fault::NotFinite)),
    ("plus.f", &[f(1.5), f(-0.25)], Ok(f(1.25))),
    // Ties to even, once.
    ("plus.f", &[f(9007199254740992.0), f(1.0)], Ok(f(9007199254740992.0))),
    ("plus.f", &[f(9007199254740992.0), f(3.0)], Ok(f(9007199254740996.0))),
    ("plus.f", &[f(-0.0), f(-0.0)], Ok(f(-0.0))),
    ("plus.f", &[f(1.7e308), f(1.7e308)], Err(Fault::NotFinite)),
    ("plus.f", &[f(NAN), f(1.0)], Err(Fault::NotFinite)),
    ("minus.f", &[f(1.5), f(-0.25)], Ok(f(1.75))),
    ("minus.f", &[f(ABOVE_ONE), f(1.0)], Ok(f(f64::EPSILON))),
    ("minus.f", &[f(-0.0), f(0.0)], Ok(f(-0.0))),
    ("minus.f", &[f(3.0), f(3.0)], Ok(f(0.0))),
    ("minus.f", &[f(-1.7e308), f(1.7e308)], Err(Fault::NotFinite)),
    ("minus.f", &[f(INF), f(INF)], Err(Fault::NotFinite)),
    // What is not finite stops every function.
    ("inv.f", &[f(NAN)], Err(Fault::NotFinite)),
    ("inv.f", &[f(-INF)], Err(Fault::NotFinite)),
    ("exp.f", &[f(NAN)], Err(Fault::NotFinite)),
    ("exp.f", &[f(-INF)], Err(Fault::NotFinite)),
    ("log.f", &[f(NAN)], Err(Fault::NotFinite)),
    ("log.f", &[f(-INF)], Err(Fault::NotFinite)),
    ("log2.f", &[f(NAN)], Err(Fault::NotFinite)),
    ("log2.f", &[f(-INF)], Err(Fault::NotFinite)),
    ("sqrt.f", &[f(NAN)], Err(Fault::NotFinite)),
    ("sqrt.f", &[f(-INF)], Err(Fault::NotFinite)),
    ("sin.f", &[f(NAN)], Err(Fault::NotFinite)),
    ("sin.f", &[f(-INF)], Err(Fault::NotFinite)),
    ("cos.f", &[f(NAN)], Err(Fault::NotFinite)),
    ("cos.f", &[f(-INF)], Err(Fault::NotFinite)),
    ("tan.f", &[f(NAN)], Err(Fault::NotFinite)),
    ("tan.f", &[f(-INF)], Err(Fault::NotFinite)),
    ("asin.f", &[f(NAN)], Err(Fault::NotFinite)),
    ("asin.f", &[f(-INF)], Err(Fault::NotFinite)),
    ("acos.f", &[f(NAN)], Err(Fault::NotFinite)),
    ("acos.f", &[f(-INF)], Err(Fault::NotFinite)),
    ("atan.f", &[f(NAN)], Err(Fault::NotFinite)),
    ("atan.f", &[f(-INF)], Err(Fault::NotFinite)),
    ("sinh.f", &[f(NAN)], Err(Fault::NotFinite)),
    ("sinh.f", &[f(-INF)], Err(Fault::NotFinite)),
    ("cosh.f", &[f(NAN)], Err(Fault::NotFinite)),
    ("cosh.f", &[f(-INF)], Err(Fault::NotFinite)),
    ("tanh.f", &[f(NAN)], Err(Fault::NotFinite)),
    ("tanh.f", &[f(-INF)], Err(Fault::NotFinite)),
    ("abs.f", &[f(NAN)], Err(Fault::NotFinite)),
    ("abs.f", &[f(-INF)], Err(Fault::NotFinite)),
    ("sign.f", &[f(NAN)], Err(Fault::NotFinite)),
    ("sign.f", &[f(-INF)], Err(Fault::NotFinite)),
    ("relu.f", &[f(NAN)], Err(Fault::NotFinite)),
    ("relu.f", &[f(-INF)], Err(Fault::NotFinite)),
    ("floor.f", &[f(NAN)], Err(Fault::NotFinite)),
    ("floor.f", &[f(-INF)], Err(Fault::NotFinite)),
    ("pow.f", &[f(1.0), f(INF)], Err(Fault::NotFinite)),
    ("powi.f", &[f(INF), 0], Err(Fault::NotFinite)),
    ("atan2.f", &[f(INF), f(1.0)], Err(Fault::NotFinite)),
    ("hypot.f", &[f(INF), f(1.0)], Err(Fault::NotFinite)),
];

/// Values from tables that are not exactly doubles: the nearest double, or a neighbour of it, is accepted.
pub(crate) const NEAR: &[(&str, &[u64], f64)] = &[
    ("pow.f", &[f(2.0), f(0.5)], consts::SQRT_2),
    ("pow.f", &[f(10.0), f(-2.0)], 0.01),
    ("powi.f", &[f(10.0), i(-2)], 0.01),
    ("exp.f", &[f(1.0)], consts::E),
    ("exp.f", &[f(-1.0)], 0.36787944117144233),
    ("exp.f", &[f(700.0)], 1.0142320547350045e304),
    ("exp.f", &[f(-745.0)], TINY),
    ("log.f", &[f(2.0)], consts::LN_2),
    ("log.f", &[f(10.0)], consts::LN_10),
    ("log2.f", &[f(10.0)], consts::LOG2_10),
    ("sin.f", &[f(1.0)], 0.8414709848078965),
    ("sin.f", &[f(1e22)], -0.8522008497671888),
    ("cos.f", &[f(1.0)], 0.5403023058681398),
    ("cos.f", &[f(1e22)], 0.523214785395139),
    ("cos.f", &[f(consts::FRAC_PI_2)], 6.123233995736766e-17),
    ("tan.f", &[f(1.0)], 1.5574077246549023),
    ("tan.f", &[f(consts::FRAC_PI_2)], 1.633123935319537e16),
    ("asin.f", &[f(0.5)], consts::FRAC_PI_6),
    ("acos.f", &[f(0.5)], consts::FRAC_PI_3),
    ("atan.f", &[f(1.0)], consts::FRAC_PI_4),
    ("atan.f", &[f(0.5)], 0.4636476090008061),
    ("atan2.f", &[f(1.0), f(-1.0)], 3.0 * consts::FRAC_PI_4),
    ("atan2.f", &[f(-1.0), f(-1.0)], -3.0 * consts::FRAC_PI_4),
    ("sinh.f", &[f(1.0)], 1.1752011936438014),
    ("cosh.f", &[f(1.0)], 1.5430806348152437),
    ("tanh.f", &[f(1.0)], 0.7615941559557649),
    ("hypot.f", &[f(1.0), f(1.0)], consts::SQRT_2),
    ("hypot.f", &[f(1e300), f(1e300)], 1.4142135623730952e300),
    ("hypot.f", &[f(3e200), f(4e200)], 5e200),
    ("expm1.f", &[f(1e-10)], 1.00000000005e-10),
    ("expm1.f", &[f(1.0)], 1.718281828459045),
    ("log1p.f", &[f(1e-10)], 9.9999999995e-11),
    ("exp2.f", &[f(0.5)], consts::SQRT_2),
    ("asinh.f", &[f(1.0)], 0.881373587019543),
    ("acosh.f", &[f(2.0)], 1.3169578969248168),
    ("atanh.f", &[f(0.5)], 0.5493061443340549),
    ("cbrt.f", &[f(-2.0)], -1.2599210498948732),
    ("erf.f", &[f(1.0)], 0.8427007929497149),
    ("erfc.f", &[f(5.0)], 1.5374597944280347e-12),
    ("lgamma.f", &[f(0.5)], 0.5723649429247001),
    ("lgamma.f", &[f(-0.5)], 1.2655121234846454),
    ("lgamma.f", &[f(100.0)], 359.1342053695754),
    ("digamma.f", &[f(1.0)], -0.5772156649015329),
    ("digamma.f", &[f(-0.5)], 0.03648997397857652),
    ("digamma.f", &[f(10.0)], 2.251752589066721),
    ("polygamma.f", &[f(1.0), 0], -0.5772156649015329),
    ("polygamma.f", &[f(1.0), 1], 1.6449340668482264),
    ("polygamma.f", &[f(0.5), 2], -16.82879664423432),
    ("polygamma.f", &[f(-0.5), 1], 8.934802200544679),
    ("polygamma.f", &[f(-1.5), 2], -0.2362040516417274),
    ("polygamma.f", &[f(3.25), 5], 0.13160608578097313),
];

pub(crate) fn oracle(name: &str, [a, b, c]: [u64; 3], format: Format) -> Option<Oracle> {
    let [u, v, w] = [a, b, c].map(f64::from_bits);
    let n = b.cast_signed();
    let exact = |x: f64| if x.is_finite() { Oracle::Exactly(Ok(x.to_bits())) } else { fault(Fault::NotFinite) };
    let near = |x: f64| if x.is_finite() { Oracle::Near(x) } else { fault(Fault::NotFinite) };
    let sign = f64::from(i8::from(u > 0.0) - i8::from(u < 0.0));
    let doubles = match named(name).info().args.iter().filter(|a| a.ty == pendula_isa::Ty::F).count() {
        0 => &[][..],
        1 => &[u],
        2 => &[u, v],
        _ => &[u, v, w],
    };
    Some(match name {
        ".f" => Oracle::Exactly(Ok(a)),
        _ if !name.starts_with('.') && doubles.iter().any(|x| !x.is_finite()) => fault(Fault::NotFinite),
        "mul.f" => exact(u * v),
        "div.f" if v == 0.0 => fault(Fault::DivideByZero),
        "div.f" => exact(u / v),
        "muladd.f" => exact(u.mul_add(v, w)),
        "cvt.f.i" => exact(n_of(a) as f64),
        "cvt.f.q" => exact(n_of(a) as f64 * 2f64.powi(-(format.frac() as i32))),
        "cvt.f.l" => crate::semantics::logarithms::number(a, 1.0),
        "inv.f" if u == 0.0 => fault(Fault::DivideByZero),
        "inv.f" => exact(u.recip()),
        "pow.f" if u == 0.0 && v < 0.0 => fault(Fault::DivideByZero),
        "pow.f" if u < 0.0 && v % 1.0 != 0.0 => fault(Fault::Domain),
        "pow.f" => near(u.powf(v)),
        "powi.f" if u == 0.0 && n < 0 => fault(Fault::DivideByZero),
        "powi.f" => near(u.abs().powf(n as f64) * if n % 2 == 0 { 1.0 } else { 1f64.copysign(u) }),
        "exp.f" => near(u.exp()),
        "log.f" | "log2.f" if u <= 0.0 => fault(Fault::Domain),
        "log.f" => near(u.ln()),
        "log2.f" => near(u.log2()),
        "expm1.f" => near(u.exp_m1()),
        "log1p.f" if u <= -1.0 => fault(Fault::Domain),
        "log1p.f" => near(u.ln_1p()),
        "exp2.f" => near(u.exp2()),
        "asinh.f" => near(libm::asinh(u)),
        "acosh.f" if u < 1.0 => fault(Fault::Domain),
        "acosh.f" => near(libm::acosh(u)),
        "atanh.f" if u.abs() >= 1.0 => fault(Fault::Domain),
        "atanh.f" => near(libm::atanh(u)),
        "cbrt.f" => near(u.cbrt()),
        "erf.f" => near(libm::erf(u)),
        "erfc.f" => near(libm::erfc(u)),
        "lgamma.f" | "digamma.f" | "polygamma.f" if u <= 0.0 && u.floor() == u => fault(Fault::Domain),
        "polygamma.f" if !(0..=120).contains(&n) => fault(Fault::Domain),
        "lgamma.f" | "digamma.f" | "polygamma.f" if u < -1e3 => Oracle::Anything,
        "lgamma.f" if u < 3.0 => {
            // ln |Γ(u)| = ln Γ(u + k) − Σ ln |u + j|.
            let k = (3.0 - u).ceil();
            let (sum, size) = sums(u, k, |x| x.abs().ln());
            Oracle::Around(libm::lgamma(u + k) - sum, size + 1.0)
        }
        "lgamma.f" => near(libm::lgamma(u)),
        "digamma.f" => polygamma(0, u),
        "polygamma.f" => polygamma(n as i32, u),
        "sqrt.f" if u < 0.0 => fault(Fault::Domain),
        "sqrt.f" => exact(u.sqrt()),
        "sin.f" => near(u.sin()),
        "cos.f" => near(u.cos()),
        "tan.f" => near(u.tan()),
        "asin.f" | "acos.f" if u.abs() > 1.0 => fault(Fault::Domain),
        "asin.f" => near(u.asin()),
        "acos.f" => near(u.acos()),
        "atan.f" => near(u.atan()),
        "atan2.f" => near(u.atan2(v)),
        "sinh.f" => near(u.sinh()),
        "cosh.f" => near(u.cosh()),
        "tanh.f" => near(u.tanh()),
        "abs.f" => exact(f64::from_bits(a & !(1 << 63))),
        "sign.f" => exact(sign),
        "min.f" => exact(if u.total_cmp(&v).is_lt() { u } else { v }),
        "max.f" => exact(if u.total_cmp(&v).is_gt() { u } else { v }),
        "relu.f" => exact(if sign > 0.0 { u } else { 0.0 }),
        "floor.f" => {
            let toward_zero = u.trunc();
            exact(if toward_zero > u { toward_zero - 1.0 } else { toward_zero })
        }
        "hypot.f" => near(u.hypot(v)),
        "plus.f" => exact(u + v),
        "minus.f" => exact(u - v),
        _ => return None,
    })
}

/// The sum of a function at u, u + 1, … up to u + k − 1, and that of the magnitudes.
fn sums(u: f64, k: f64, f: impl Fn(f64) -> f64) -> (f64, f64) {
    let terms = (0..k.max(0.0) as i32).map(|j| f(u + f64::from(j)));
    terms.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()))
}

/// The derivative of the digamma function, n times: Σ n!/(u + j)ⁿ⁺¹ up to where the Euler–Maclaurin formula gives the rest, with sign.
fn polygamma(n: i32, u: f64) -> Oracle {
    let m = f64::from(n);
    let k = (m + 200.0 - u).ceil().max(0.0);
    let factorial: f64 = (1..=n).map(f64::from).product();
    let (sum, size) = sums(u, k, |x| factorial / x.powi(n / 2) / x.powi(n + 1 - n / 2));
    let y = u + k;
    let scale = factorial / y.powi(n / 2) / y.powi(n - n / 2);
    let integral = if n == 0 { -y.ln() } else { scale / m };
    let (a, b) = ((m + 1.0) / y, (m + 2.0) * (m + 3.0) / (y * y));
    let c = b * (m + 4.0) * (m + 5.0) / (y * y);
    let rest = scale * (0.5 / y + a / y / 12.0 - a / y * b / 720.0 + a / y * c / 30240.0);
    let value = (sum + integral + rest) * if n % 2 == 0 { -1.0 } else { 1.0 };
    if value.is_finite() { Oracle::Around(value, size + integral.abs()) } else { fault(Fault::NotFinite) }
}

const fn n_of(a: u64) -> i64 {
    a.cast_signed()
}

/// The results of IEEE 754 where a run without `--ieee` stops; a NaN result is always the canonical one.
#[test]
fn values_under_ieee() {
    let values: &[(&str, &[f64], f64)] = &[
        ("inv.f", &[-0.0], -INF),
        ("inv.f", &[-INF], -0.0),
        ("exp.f", &[INF], INF),
        ("exp.f", &[-INF], 0.0),
        ("exp.f", &[1e4], INF),
        ("log.f", &[0.0], -INF),
        ("log.f", &[-1.0], NAN),
        ("log2.f", &[INF], INF),
        ("sqrt.f", &[-1.0], NAN),
        ("sqrt.f", &[INF], INF),
        ("sin.f", &[INF], NAN),
        ("cos.f", &[-INF], NAN),
        ("tan.f", &[NAN], NAN),
        ("asin.f", &[2.0], NAN),
        ("acos.f", &[-2.0], NAN),
        ("atan.f", &[-INF], -consts::FRAC_PI_2),
        ("atan2.f", &[INF, -INF], 3.0 * consts::FRAC_PI_4),
        ("sinh.f", &[-INF], -INF),
        ("cosh.f", &[-INF], INF),
        ("tanh.f", &[-INF], -1.0),
        ("pow.f", &[-8.0, 1.0 / 3.0], NAN),
        ("pow.f", &[0.0, -1.0], INF),
        ("pow.f", &[1.0, NAN], 1.0),
        ("pow.f", &[NAN, 0.0], 1.0),
        ("hypot.f", &[INF, NAN], INF),
        ("expm1.f", &[-INF], -1.0),
        ("log1p.f", &[-1.0], -INF),
        ("exp2.f", &[-INF], 0.0),
        ("asinh.f", &[-INF], -INF),
        ("acosh.f", &[0.5], NAN),
        ("atanh.f", &[-1.0], -INF),
        ("cbrt.f", &[-INF], -INF),
        ("erf.f", &[-INF], -1.0),
        ("erfc.f", &[-INF], 2.0),
        ("lgamma.f", &[-3.0], INF),
        ("digamma.f", &[INF], INF),
        ("muladd.f", &[INF, 0.0, 1.0], NAN),
        ("muladd.f", &[INF, 1.0, -INF], NAN),
        ("plus.f", &[INF, 1.0], INF),
        ("minus.f", &[INF, INF], NAN),
        ("minus.f", &[-1.7e308, 1.7e308], -INF),
        ("abs.f", &[-INF], INF),
        ("sign.f", &[-INF], -1.0),
        ("sign.f", &[NAN], NAN),
        ("min.f", &[NAN, 1.0], NAN),
        ("min.f", &[1.0, -INF], -INF),
        ("max.f", &[1.0, NAN], NAN),
        ("relu.f", &[NAN], 0.0),
        ("relu.f", &[INF], INF),
        ("floor.f", &[-INF], -INF),
    ];
    let env = Env { ieee: true, ..Env::default() };
    for (name, arguments, want) in values {
        let func: TableFn = named(name);
        let mut x = [0; 3];
        x.iter_mut().zip(*arguments).for_each(|(x, a)| *x = f(*a));
        assert_eq!(scalar::value(env, func, x), Ok(f(*want)), "{name} {arguments:?}");
    }
    let powi = named("powi.f");
    assert_eq!(scalar::value(env, powi, [f(-0.0), i(-1), 0]), Ok(f(-INF)));
    assert_eq!(scalar::value(env, powi, [f(NAN), 0, 0]), Ok(f(1.0)));
}

#[test]
fn infinities_travel_only_when_asked() {
    let program = program(between([inst("add.f", &[reg(1), reg(2)]), inst("xormul.f", &[reg(3), reg(1), reg(2)])]));
    let words = [f(1.7e308), f(1.7e308), 0, 0];
    for ieee in [false, true] {
        let mut m = Machine::new(&program, &Config { mem: Some(8), ieee, ..Config::default() }).unwrap();
        set(&mut m, words);
        let outcome = m.run(None);
        if ieee {
            assert_eq!(outcome, Outcome::Finished);
            assert_eq!(m.registers()[1..4], [f(f64::INFINITY), words[1], f(f64::INFINITY)]);
        } else {
            assert!(matches!(outcome, Outcome::Trap(t) if t.fault == Fault::NotFinite && t.at == 1));
            assert_eq!(m.registers()[1..5], words);
        }
    }
}
