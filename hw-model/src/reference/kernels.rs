//! Kernels on words of other formats than the machine's.
//!
//! Integers are those of the machine, extended. Fixed-point and logarithmic numbers have their functions for words of any width
//! ([`elementary`](pendula_isa::num::elementary), [`gauss`](pendula_isa::num::gauss)), of which the machine's kernels are one case.

use pendula_isa::kernels::circuits::Formats;
use pendula_isa::kernels::{Kernel, convert, fixed, float, int, log};
use pendula_isa::num::elementary::{self, Fixed};
use pendula_isa::num::gauss::{Logarithmic, Number};
use pendula_isa::{Env, Fault};

use super::float as few;

type Results = Result<[u64; 2], Fault>;

/// A kernel on words of these formats. `None` if there is none.
type Narrow = fn(&Formats, [u64; 4]) -> Option<Results>;

/// The low bits of a word, sign-extended.
pub(super) fn signed(word: u64, bits: u32) -> i64 {
    (word << (64 - bits)).cast_signed() >> (64 - bits)
}

fn one(word: Result<i64, Fault>) -> Option<Results> {
    Some(word.map(|word| [word.cast_unsigned(); 2]))
}

fn word(word: Result<u64, Fault>) -> Option<Results> {
    Some(word.map(|word| [word; 2]))
}

/// A number that must fit into a fixed-point word or an integer of this width.
fn fit(bits: u32, n: i128) -> Result<i64, Fault> {
    let word = signed(n as u64, bits);
    if i128::from(word) == n { Ok(word) } else { Err(Fault::Range) }
}

/// A whole double that must fit.
fn fit_whole(bits: u32, x: f64) -> Result<i64, Fault> {
    // Beyond ±2^100, a conversion would saturate, which does not fit either.
    fit(bits, x as i128)
}

/// A kernel of integers: the machine's, on extended words.
fn integer<K: Kernel>(f: &Formats, x: [u64; 4], is_signed: [bool; 4]) -> Option<Results> {
    let bits = f.fixed.width;
    let extended = std::array::from_fn(|n| if is_signed[n] { signed(x[n], bits).cast_unsigned() } else { x[n] });
    Some(K::words(Env::default(), extended).map(|(words, _)| words))
}

/// Results that must fit.
fn fitting(f: &Formats, results: Option<Results>) -> Option<Results> {
    results.map(|results| {
        let [a, b] = results?.map(|word| fit(f.fixed.width, word.cast_signed().into()));
        Ok([a?.cast_unsigned(), b?.cast_unsigned()])
    })
}

type Unary = fn(Fixed, i64) -> Result<i64, Fault>;
type Binary = fn(Fixed, i64, i64) -> Result<i64, Fault>;

fn fixed1(f: &Formats, x: [u64; 4], function: Unary) -> Option<Results> {
    one(function(f.fixed, signed(x[0], f.fixed.width)))
}

fn fixed2(f: &Formats, x: [u64; 4], function: Binary) -> Option<Results> {
    one(function(f.fixed, signed(x[0], f.fixed.width), signed(x[1], f.fixed.width)))
}

fn turned(f: &Formats, x: [u64; 4], function: fn(Fixed, i64, i64, i64) -> ([i64; 2], bool)) -> Option<Results> {
    let [a, b, angle, _] = x.map(|x| signed(x, f.fixed.width));
    Some(Ok(function(f.fixed, a, b, angle).0.map(i64::cast_unsigned)))
}

/// The product of logarithmic numbers, or with `divide` their quotient.
fn product(t: Logarithmic, [a, b]: [u64; 2], divide: bool) -> Result<u64, Fault> {
    let (a, b) = (t.number(a)?, t.number(b)?);
    let number = match (a.logarithm, b.logarithm) {
        (_, None) if divide => return Err(Fault::DivideByZero),
        (Some(x), Some(y)) => {
            let sum = if divide { x - y } else { x + y };
            if sum.abs() > t.max_log() {
                return Err(Fault::Range);
            }
            Number { negative: a.negative != b.negative, logarithm: Some(sum) }
        }
        _ => Number::ZERO,
    };
    Ok(t.word(number))
}

/// The same where the second is not zero, as in the accumulator.
fn scaled(t: Logarithmic, x: [u64; 4], divide: bool) -> Option<Results> {
    let by = t.number(x[1]).and_then(|by| by.logarithm.ok_or(Fault::DivideByZero));
    word(by.and_then(|_| product(t, [x[0], x[1]], divide)))
}

fn logarithmic(t: Logarithmic, number: Result<Number, Fault>) -> Option<Results> {
    word(number.map(|number| t.word(number)))
}

fn numbers(t: Logarithmic, x: [u64; 4]) -> Result<[Number; 2], Fault> {
    Ok([t.number(x[0])?, t.number(x[1])?])
}

/// −1, 0 or 1, as the first is less than, equal to or greater than the second.
pub(super) fn order(t: Logarithmic, a: u64, b: u64) -> Result<std::cmp::Ordering, Fault> {
    let place = |word| {
        let number = t.number(word)?;
        Ok(match (number.negative, number.logarithm) {
            (_, None) => (0, 0),
            (false, Some(log)) => (1, log),
            (true, Some(log)) => (-1, -log),
        })
    };
    Ok(place(a)?.cmp(&place(b)?))
}

/// The widest words whose conversions doubles give exactly, as the tests of the circuits have it.
const DOUBLES: u32 = 16;

/// A double as a logarithmic number.
fn to_log(t: Logarithmic, x: f64) -> Option<Results> {
    let unit = 2f64.powi(t.frac as i32);
    if x == 0.0 {
        return logarithmic(t, Ok(Number::ZERO));
    }
    let logarithm = (x.abs().log2() * unit).round() as i64;
    let fits = logarithm.abs() <= t.max_log();
    let number = Number { negative: x < 0.0, logarithm: Some(logarithm) };
    (t.width <= DOUBLES).then(|| logarithmic(t, if fits { Ok(number) } else { Err(Fault::Range) })).flatten()
}

fn from_log(t: Logarithmic, word: u64) -> Result<f64, Fault> {
    let number = t.number(word)?;
    let magnitude = number.logarithm.map_or(0.0, |log| (log as f64 / 2f64.powi(t.frac as i32)).exp2());
    Ok(if number.negative { -magnitude } else { magnitude })
}

fn if_few<T>(f: &Formats, value: T) -> Option<T> {
    (f.fixed.width <= DOUBLES).then_some(value)
}

/// A function of a floating-point number, by that of doubles.
fn float1(f: &Formats, x: [u64; 4], function: fn(f64) -> f64) -> Option<Results> {
    (f.float.mantissa < few::SIGNIFICAND)
        .then(|| word(few::finite(f.float, x[0]).and_then(|a| few::rounded(f.float, function(a)))))
        .flatten()
}

fn float2(f: &Formats, x: [u64; 4], function: fn(f64, f64) -> f64) -> Option<Results> {
    let both = || Ok((few::finite(f.float, x[0])?, few::finite(f.float, x[1])?));
    (f.float.mantissa < few::SIGNIFICAND)
        .then(|| word(both().and_then(|(a, b)| few::rounded(f.float, function(a, b)))))
        .flatten()
}

fn unit(f: &Formats) -> f64 {
    2f64.powi(f.fixed.frac as i32)
}

/// The kernels that are functions on words, by name.
const NARROW: &[(&str, Narrow)] = &[
    (int::Quot::INFO.name, |f, x| integer::<int::Quot>(f, x, [true; 4])),
    (int::Rem::INFO.name, |f, x| integer::<int::Rem>(f, x, [true; 4])),
    (int::Div::INFO.name, |f, x| integer::<int::Div>(f, x, [true; 4])),
    (int::Mod::INFO.name, |f, x| integer::<int::Mod>(f, x, [true; 4])),
    (int::Udiv::INFO.name, |f, x| integer::<int::Udiv>(f, x, [false; 4])),
    (int::Umod::INFO.name, |f, x| integer::<int::Umod>(f, x, [false; 4])),
    (int::Pow::INFO.name, |f, x| integer::<int::Pow>(f, x, [true, false, false, false])),
    (int::IntPow::INFO.name, |f, x| integer::<int::IntPow>(f, x, [true, false, false, false])),
    (int::Scale::INFO.name, |f, x| fitting(f, integer::<int::Scale>(f, x, [true; 4]))),
    (fixed::Div::INFO.name, |f, x| {
        fixed2(f, x, |t, a, b| match b {
            0 => Err(Fault::DivideByZero),
            _ => fit(t.width, (i128::from(a) << t.frac) / i128::from(b)),
        })
    }),
    (fixed::Inv::INFO.name, |f, x| fixed1(f, x, elementary::inv)),
    (fixed::Pow::INFO.name, |f, x| fixed2(f, x, elementary::pow)),
    (fixed::Powi::INFO.name, |f, x| fixed2(f, x, elementary::powi)),
    (fixed::Exp::INFO.name, |f, x| fixed1(f, x, elementary::exp)),
    (fixed::Log::INFO.name, |f, x| fixed1(f, x, elementary::log)),
    (fixed::Log2::INFO.name, |f, x| fixed1(f, x, elementary::log2)),
    (fixed::Sqrt::INFO.name, |f, x| fixed1(f, x, elementary::sqrt)),
    (fixed::Hypot::INFO.name, |f, x| fixed2(f, x, elementary::hypot)),
    (fixed::Sin::INFO.name, |f, x| fixed1(f, x, elementary::sin)),
    (fixed::Cos::INFO.name, |f, x| fixed1(f, x, elementary::cos)),
    (fixed::Tan::INFO.name, |f, x| fixed1(f, x, elementary::tan)),
    (fixed::Asin::INFO.name, |f, x| fixed1(f, x, elementary::asin)),
    (fixed::Acos::INFO.name, |f, x| fixed1(f, x, elementary::acos)),
    (fixed::Atan::INFO.name, |f, x| fixed1(f, x, elementary::atan)),
    (fixed::Atan2::INFO.name, |f, x| fixed2(f, x, elementary::atan2)),
    (fixed::Sinh::INFO.name, |f, x| fixed1(f, x, elementary::sinh)),
    (fixed::Cosh::INFO.name, |f, x| fixed1(f, x, elementary::cosh)),
    (fixed::Tanh::INFO.name, |f, x| fixed1(f, x, elementary::tanh)),
    (fixed::Rot::INFO.name, |f, x| turned(f, x, elementary::rot)),
    (fixed::Irot::INFO.name, |f, x| turned(f, x, elementary::irot)),
    (log::Scale::INFO.name, |f, x| scaled(f.logarithmic, x, false)),
    (log::Unscale::INFO.name, |f, x| scaled(f.logarithmic, x, true)),
    (log::Mul::INFO.name, |f, x| word(product(f.logarithmic, [x[0], x[1]], false))),
    (log::Div::INFO.name, |f, x| word(product(f.logarithmic, [x[0], x[1]], true))),
    (log::Neg::INFO.name, |f, x| logarithmic(f.logarithmic, f.logarithmic.number(x[0]).map(|n| -n))),
    (log::Order::INFO.name, |f, x| one(order(f.logarithmic, x[0], x[1]).map(|order| order as i64))),
    (log::Inv::INFO.name, |f, x| {
        let t = f.logarithmic;
        logarithmic(t, t.number(x[0]).and_then(|n| t.inv(n)))
    }),
    (log::Pow::INFO.name, |f, x| {
        let t = f.logarithmic;
        logarithmic(t, t.number(x[0]).and_then(|n| t.pow(n, signed(x[1], f.fixed.width), f.fixed.frac)))
    }),
    (log::Plus::INFO.name, |f, x| {
        let t = f.logarithmic;
        logarithmic(t, numbers(t, x).and_then(|[a, b]| t.plus(a, b)))
    }),
    (log::Minus::INFO.name, |f, x| {
        let t = f.logarithmic;
        logarithmic(t, numbers(t, x).and_then(|[a, b]| t.minus(a, b)))
    }),
    (log::Ln::INFO.name, |f, x| {
        let t = f.logarithmic;
        one(t.number(x[0]).and_then(|n| t.ln(n, f.fixed.frac)).and_then(|ln| fit(f.fixed.width, ln.into())))
    }),
    (float::Muladd::INFO.name, |f, x| few::muladd(f.float, [x[0], x[1], x[2]]).and_then(word)),
    (float::Sign::INFO.name, |f, x| float1(f, x, |a| if a == 0.0 { 0.0 } else { a.signum() })),
    (float::Min::INFO.name, |f, x| float2(f, x, |a, b| if a < b || (a == b && a.is_sign_negative()) { a } else { b })),
    (float::Max::INFO.name, |f, x| float2(f, x, |a, b| if a > b || (a == b && a.is_sign_positive()) { a } else { b })),
    (float::Relu::INFO.name, |f, x| float1(f, x, |a| if a > 0.0 { a } else { 0.0 })),
    (float::Within::INFO.name, |f, x| {
        (f.float.mantissa < few::SIGNIFICAND).then(|| Ok([u64::from(few::within(f.float, x[0], x[1])); 2]))
    }),
    (float::Exp::INFO.name, |f, x| if_few(f, ()).and_then(|()| float1(f, x, f64::exp))),
    (float::Log::INFO.name, |f, x| if_few(f, ()).and_then(|()| float1(f, x, f64::ln))),
    (float::Sin::INFO.name, |f, x| if_few(f, ()).and_then(|()| float1(f, x, f64::sin))),
    (float::Cos::INFO.name, |f, x| if_few(f, ()).and_then(|()| float1(f, x, f64::cos))),
    (convert::IntToFixed::INFO.name, |f, x| {
        let t = f.fixed;
        one(fit(t.width, i128::from(signed(x[0], t.width)) << t.frac))
    }),
    (convert::IntToLog::INFO.name, |f, x| to_log(f.logarithmic, signed(x[0], f.fixed.width) as f64)),
    (convert::FixedToLog::INFO.name, |f, x| to_log(f.logarithmic, signed(x[0], f.fixed.width) as f64 / unit(f))),
    (convert::FloatToLog::INFO.name, |f, x| match few::finite(f.float, x[0]) {
        Ok(a) => to_log(f.logarithmic, a),
        Err(fault) => Some(Err(fault)),
    }),
    (convert::LogToInt::INFO.name, |f, x| {
        let whole = from_log(f.logarithmic, x[0]).map(f64::round_ties_even);
        if_few(f, whole.and_then(|a| fit_whole(f.fixed.width, a))).and_then(one)
    }),
    (convert::LogToFixed::INFO.name, |f, x| {
        let whole = from_log(f.logarithmic, x[0]).map(|a| (a * unit(f)).round_ties_even());
        if_few(f, whole.and_then(|a| fit_whole(f.fixed.width, a))).and_then(one)
    }),
    (convert::LogToFloat::INFO.name, |f, x| {
        if_few(f, from_log(f.logarithmic, x[0]).and_then(|a| few::rounded(f.float, a))).and_then(word)
    }),
    (convert::FloatToInt::INFO.name, |f, x| {
        one(few::finite(f.float, x[0]).and_then(|a| fit_whole(f.fixed.width, a.floor())))
    }),
    (convert::FloatToFixed::INFO.name, |f, x| {
        one(few::finite(f.float, x[0]).and_then(|a| fit_whole(f.fixed.width, (a * unit(f)).round_ties_even())))
    }),
];

/// The results of a kernel on words of these formats, which are not the machine's. `None` if it has none to the last bit.
pub(super) fn narrow(name: &str, f: &Formats, x: [u64; 4]) -> Option<Results> {
    let (_, function) = NARROW.iter().find(|(known, _)| *known == name)?;
    function(f, x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kernels whose circuits are those of other functions, or are not the machine's to the last bit at any width.
    const WITHOUT: [&str; 28] = [
        float::Floor::INFO.name,
        float::Pow::INFO.name,
        float::Powi::INFO.name,
        float::Log2::INFO.name,
        float::Hypot::INFO.name,
        float::Tan::INFO.name,
        float::Asin::INFO.name,
        float::Acos::INFO.name,
        float::Atan::INFO.name,
        float::Atan2::INFO.name,
        float::Sinh::INFO.name,
        float::Cosh::INFO.name,
        float::Tanh::INFO.name,
        float::Expm1::INFO.name,
        float::Log1p::INFO.name,
        float::Exp2::INFO.name,
        float::Asinh::INFO.name,
        float::Acosh::INFO.name,
        float::Atanh::INFO.name,
        float::Cbrt::INFO.name,
        float::Erf::INFO.name,
        float::Erfc::INFO.name,
        float::Lgamma::INFO.name,
        float::Digamma::INFO.name,
        float::Polygamma::INFO.name,
        float::Inv::INFO.name,
        float::Sqrt::INFO.name,
        float::Abs::INFO.name,
    ];

    #[test]
    fn every_kernel_on_words_is_known() {
        for kernel in pendula_isa::kernels::all() {
            let known = NARROW.iter().filter(|(name, _)| *name == kernel.name).count();
            let generic = kernel.circuits.is_empty() && !kernel.name.starts_with("log_") && kernel.name != "int_scale";
            let other = generic || WITHOUT.contains(&kernel.name);
            assert!(
                known == 1 || other && known == 0 || kernel.name.ends_with("rot"),
                "{} needs a line in NARROW",
                kernel.name
            );
        }
    }

    /// At 64 bits, the functions for any formats are the machine's.
    #[test]
    fn the_machine_is_one_case() {
        let formats = Formats::of_width(64);
        let one = |x: i64| (x << 32).cast_unsigned();
        let x = [one(3), one(2), one(1), 0];
        let machine = |words: Result<([u64; 2], bool), Fault>| words.map(|(words, _)| words);
        assert_eq!(narrow("fixed_div", &formats, x), Some(machine(fixed::Div::words(Env::default(), x))));
        assert_eq!(narrow("fixed_exp", &formats, x), Some(machine(fixed::Exp::words(Env::default(), x))));
        assert_eq!(narrow("log_mul", &formats, x), Some(machine(log::Mul::words(Env::default(), x))));
        assert_eq!(narrow("log_scale", &formats, [1 << 62, 1 << 62, 0, 0]).map(|r| r.is_err()), Some(true));
    }
}
