//! Exact fractions: the values of expressions where a number with a fraction is expected. They are rounded once, when
//! they become a word.

/// The upper bound of denominators, so that ten times a remainder does not overflow.
const LIMIT: i128 = 1 << 120;

/// The number of digits that are written after the point. Words round at multiples of a power of two; for fractions
/// with such denominators these have fewer digits than this. One more digit tells that the fraction goes on.
const DIGITS: usize = 200;

/// A fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ratio {
    num: i128,
    /// Above zero.
    den: i128,
}

impl Ratio {
    /// A quotient; `None` if it overflows or is undefined.
    pub(crate) fn new(num: i128, den: i128) -> Option<Ratio> {
        let gcd = gcd(num, den);
        if den == 0 || gcd == 0 {
            return None;
        }
        let (num, den) = (num.checked_div(gcd)?, den.checked_div(gcd)?);
        let (num, den) = if den < 0 { (num.checked_neg()?, den.checked_neg()?) } else { (num, den) };
        (den < LIMIT && num.unsigned_abs() < LIMIT.unsigned_abs()).then_some(Ratio { num, den })
    }

    /// A whole number.
    pub(crate) fn whole(n: i128) -> Option<Ratio> {
        Ratio::new(n, 1)
    }

    /// The number with these digits, with an optional point and exponent.
    pub(crate) fn decimal(text: &str) -> Option<Ratio> {
        let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        let mut num = 0i128;
        for digit in integer.chars().chain(fraction.chars()) {
            num = num.checked_mul(10)?.checked_add(digit.to_digit(10)?.into())?;
        }
        if num == 0 {
            return Ratio::whole(0);
        }
        let power = power.parse::<i64>().ok()?.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        let scale = 10i128.checked_pow(u32::try_from(power.unsigned_abs()).ok()?)?;
        if power < 0 { Ratio::new(num, scale) } else { Ratio::whole(num.checked_mul(scale)?) }
    }

    /// The integer, if it is one.
    pub(crate) fn integer(self) -> Option<i128> {
        (self.den == 1).then_some(self.num)
    }

    pub(crate) fn negated(self) -> Ratio {
        Ratio { num: -self.num, ..self }
    }

    pub(crate) fn is_zero(self) -> bool {
        self.num == 0
    }

    pub(crate) fn plus(self, b: Ratio) -> Option<Ratio> {
        let num = self.num.checked_mul(b.den)?.checked_add(b.num.checked_mul(self.den)?)?;
        Ratio::new(num, self.den.checked_mul(b.den)?)
    }

    pub(crate) fn times(self, b: Ratio) -> Option<Ratio> {
        Ratio::new(self.num.checked_mul(b.num)?, self.den.checked_mul(b.den)?)
    }

    pub(crate) fn over(self, b: Ratio) -> Option<Ratio> {
        Ratio::new(self.num.checked_mul(b.den)?, self.den.checked_mul(b.num)?)
    }

    /// The fraction as decimal digits that round to the same word.
    pub(crate) fn text(self) -> String {
        let (num, den) = (self.num.unsigned_abs(), self.den.unsigned_abs());
        let mut out = format!("{}{}.", if self.num < 0 { "-" } else { "" }, num / den);
        let mut rest = num % den;
        for _ in 0..DIGITS {
            if rest == 0 {
                break;
            }
            rest *= 10;
            out.push(char::from(b'0' + (rest / den) as u8));
            rest %= den;
        }
        out.push(if rest == 0 { '0' } else { '1' });
        out
    }
}

/// The greatest common divisor.
fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::Ratio;

    #[test]
    fn fractions_are_exact() {
        let third = Ratio::new(1, 3).unwrap();
        assert_eq!(third.plus(third).and_then(|r| r.plus(third)).and_then(Ratio::integer), Some(1));
        assert_eq!(third.times(Ratio::new(-3, -6).unwrap()), Ratio::new(1, 6));
        assert_eq!(third.over(Ratio::new(-1, 6).unwrap()).and_then(Ratio::integer), Some(-2));
        assert_eq!(third.negated(), Ratio::new(1, -3).unwrap());
        assert_eq!(third.over(Ratio::whole(0).unwrap()), None);
        assert_eq!(Ratio::whole(i128::MIN), None);
        assert_eq!(Ratio::new(i128::MIN, i128::MIN).and_then(Ratio::integer), None);
    }

    #[test]
    fn decimals() {
        for (text, num, den) in
            [("1.5", 3, 2), (".25", 1, 4), ("2.", 2, 1), ("12e-1", 6, 5), ("1.20E+2", 120, 1), ("0e999999", 0, 1)]
        {
            assert_eq!(Ratio::decimal(text), Ratio::new(num, den), "{text}");
        }
        for text in ["1e40", "1e-40", "inf", "1e99999999999999999999"] {
            assert_eq!(Ratio::decimal(text), None, "{text}");
        }
    }

    #[test]
    fn text_rounds_as_the_fraction() {
        assert_eq!(Ratio::new(-7, 2).unwrap().text(), "-3.50");
        assert_eq!(Ratio::whole(7).unwrap().text(), "7.0");
        let third = Ratio::new(1, 3).unwrap().text();
        assert_eq!((third.len(), third.ends_with("31")), (203, true), "{third}");
        // Half way between two doubles, and beyond it by as little as a denominator allows.
        let half = (1i128 << 53) + 1;
        let of = |r: Ratio| r.text().parse::<f64>().unwrap();
        assert_eq!(of(Ratio::whole(half).unwrap()), (1i128 << 53) as f64);
        let more = Ratio::new(1, (1 << 62) - 1).and_then(|r| r.plus(Ratio::whole(half)?)).unwrap();
        assert_eq!(of(more), ((1i128 << 53) + 2) as f64);
    }
}
