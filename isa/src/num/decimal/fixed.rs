//! Decimal text of `.q` words: exact, in integers.

use std::cmp::Ordering;

use super::{Decimal, NumberError, parse_raw};
use crate::num::Format;

/// Ten to the number of digits in a limb.
const LIMB: u64 = 10u64.pow(LIMB_DIGITS as u32);
const LIMB_DIGITS: usize = 18;
/// Limbs of a fraction. Halfway between two words lie decimals of 49 places at most.
const LIMBS: usize = 3;

/// The `.q` word nearest to the number, ties to even.
///
/// # Errors
/// [`NumberError::Syntax`]; [`NumberError::OutOfRange`] when it rounds to a number
/// outside the format.
pub fn parse_q(text: &str, format: Format) -> Result<u64, NumberError> {
    if let Some(word) = parse_raw(text) {
        return word;
    }
    let number = Decimal::scan(text)?;
    let out_of_range = NumberError::OutOfRange(match format {
        Format::Q32_32 => "Q32.32 (from -2147483648 to just below 2147483648)",
        Format::Q21_43 => "Q21.43 (from -1048576 to just below 1048576)",
        Format::Q16_48 => "Q16.48 (from -32768 to just below 32768)",
    });
    let bits = match number.magnitude() {
        None | Some(..-20) => return Ok(0),
        Some(20..) => return Err(out_of_range),
        Some(magnitude) => nearest(&number, magnitude as i32, format.frac()),
    };
    let limit = i64::MAX as u128 + u128::from(number.negative);
    if bits > limit {
        return Err(out_of_range);
    }
    let bits = bits as u64;
    Ok(if number.negative { bits.wrapping_neg() } else { bits })
}

/// The number's magnitude in units of 2^-frac, to nearest, ties to even. Its first digit that is not 0 stands at 10^magnitude.
fn nearest(number: &Decimal<'_>, magnitude: i32, frac: u32) -> u128 {
    let zeros = (-1 - magnitude).max(0) as usize;
    let significant = number.digits().skip_while(|&digit| digit == 0);
    let mut digits = std::iter::repeat_n(0, zeros).chain(significant);
    // Digits that are not written are zeros.
    let mut take = |count: usize| (0..count).map(|_| digits.next().unwrap_or(0)).collect::<Vec<u8>>();
    let value = |digits: &[u8]| digits.iter().fold(0u128, |n, &digit| n * 10 + u128::from(digit));
    let whole = value(&take((magnitude + 1).max(0) as usize));
    let mut fraction = [(); LIMBS].map(|()| value(&take(LIMB_DIGITS)) as u64);
    let more = digits.any(|digit| digit != 0);
    // The fraction times 2^frac: what passes its point, and what is left.
    let mut carry = 0;
    for limb in fraction.iter_mut().rev() {
        let product = (u128::from(*limb) << frac) + carry;
        carry = product / u128::from(LIMB);
        *limb = (product % u128::from(LIMB)) as u64;
    }
    let bits = (whole << frac) + carry;
    let half = [LIMB / 2, 0, 0];
    let up = match fraction.cmp(&half) {
        Ordering::Less => false,
        Ordering::Equal => more || bits & 1 == 1,
        Ordering::Greater => true,
    };
    bits + u128::from(up)
}

/// The shortest decimal that [`parse_q`] reads as this word, and of these the nearest one, always with a point: `2.0`, `-0.25`.
pub fn format_q(word: u64, format: Format) -> String {
    let frac = format.frac();
    let bits = word as i64;
    let magnitude = bits.unsigned_abs();
    let one = 1u64 << frac;
    // What the digits so far leave, in units of 2^-frac·10^-places, and half a word in the same units: what is nearer than that reads as the
    // word, and of what is as near, what reads as an even word. At 15 places half a word is more than half a unit of the last digit.
    let (mut rest, mut half) = (magnitude & (one - 1), 1u64);
    let (mut digits, mut places) = (0u64, 0);
    let within = |distance: u64, half: u64| match (2 * distance).cmp(&half) {
        Ordering::Less => true,
        Ordering::Equal => magnitude & 1 == 0,
        Ordering::Greater => false,
    };
    while !within(rest.min(one - rest), half) {
        rest *= 10;
        half *= 10;
        digits = digits * 10 + (rest >> frac);
        rest &= one - 1;
        places += 1;
    }
    if 2 * rest > one {
        digits += 1;
    }
    let sign = if bits < 0 { "-" } else { "" };
    format!("{sign}{}.{digits:0>width$}", magnitude >> frac, width = places.max(1))
}

#[cfg(test)]
mod tests {
    use ::fixed::FixedI64;
    use ::fixed::types::extra::{U32, U43, U48};

    use super::*;
    use crate::num::decimal::tests::{short_decimals, words};
    use crate::num::sample::Random;

    #[test]
    fn fixed_point_reads_back() {
        for format in Format::ALL {
            for word in words(20_000).into_iter().chain(0..70_000) {
                let text = format_q(word, format);
                assert_eq!(parse_q(&text, format), Ok(word), "{text}");
                assert!(text.contains('.'));
            }
        }
    }

    /// No decimal with fewer fraction digits reads as the same word.
    #[test]
    fn fixed_point_is_shortest() {
        for format in Format::ALL {
            for word in words(10_000) {
                let text = format_q(word, format);
                let (integer, fraction) = text.split_once('.').unwrap();
                if fraction == "0" {
                    continue;
                }
                let digits: i128 = format!("{integer}{fraction}").parse().unwrap();
                let places = fraction.len() - 1;
                for shorter in [digits.abs() / 10, digits.abs() / 10 + 1] {
                    let padded = format!("{shorter:0>width$}", width = places + 1);
                    let (integer, fraction) = padded.split_at(padded.len() - places);
                    let sign = if text.starts_with('-') { "-" } else { "" };
                    let shorter = format!("{sign}{integer}.{fraction}");
                    assert_ne!(parse_q(&shorter, format), Ok(word), "{text} {shorter}");
                }
            }
        }
    }

    #[test]
    fn fixed_point_texts() {
        let q = |text: &str| parse_q(text, Format::Q32_32);
        let one = 1u64 << 32;
        assert_eq!(q("1.5"), Ok(3 << 31));
        assert_eq!(q("+1"), Ok(one));
        assert_eq!(q("1."), Ok(one));
        assert_eq!(q("-.25"), Ok((1u64 << 30).wrapping_neg()));
        assert_eq!(q("100E-2"), Ok(one));
        assert_eq!(q("-0"), Ok(0));
        assert_eq!(q("0e99999999999999999999"), Ok(0));
        assert_eq!(q("1e-99999999999999999999"), Ok(0));
        assert_eq!(q(&format!("0.{}1e1000", "0".repeat(999))), Ok(one));
        assert_eq!(q(&format!("1{}e-1000", "0".repeat(1000))), Ok(one));
        assert_eq!(q("0x00000001_0w"), Err(NumberError::Syntax));
        assert_eq!(q("0x100000000w"), Ok(one));
        // Half a unit is a tie, to even; just above it is not.
        assert_eq!(q("0.000000000116415321826934814453125"), Ok(0));
        assert_eq!(q("0.000000000116415321826934814453125000000000000001"), Ok(1));
        assert_eq!(q("0.000000000349245965480804443359375"), Ok(2));
        assert_eq!(q("2147483647.99999999988"), Ok(i64::MAX as u64));
        assert_eq!(q("-2147483648.0000000001"), Ok(i64::MIN as u64));
        for text in ["2147483648", "2147483647.9999999999", "-2147483648.1", "1e99999999999999999999"] {
            assert!(matches!(q(text), Err(NumberError::OutOfRange(_))), "{text}");
        }
        assert_eq!(format_q(3 << 31, Format::Q32_32), "1.5");
        assert_eq!(format_q(2 << 32, Format::Q32_32), "2.0");
        assert_eq!(format_q((1u64 << 30).wrapping_neg(), Format::Q32_32), "-0.25");
        assert_eq!(format_q(0, Format::Q16_48), "0.0");
        assert_eq!(format_q(i64::MIN as u64, Format::Q32_32), "-2147483648.0");
    }

    /// The number halfway between a word and the next, in full.
    fn halfway(word: i64, frac: u32) -> String {
        let twice = (2 * i128::from(word) + 1).unsigned_abs();
        let sign = if word < 0 { "-" } else { "" };
        let mut rest = twice & ((1 << (frac + 1)) - 1);
        let mut text = format!("{sign}{}.", twice >> (frac + 1));
        while rest != 0 {
            rest *= 10;
            text.push(char::from(b'0' + (rest >> (frac + 1)) as u8));
            rest &= (1 << (frac + 1)) - 1;
        }
        text
    }

    #[test]
    fn reading_rounds_to_nearest_and_ties_to_even() {
        let mut random = Random(31);
        for format in Format::ALL {
            for _ in 0..3_000 {
                let word = random.sized() as i64;
                if word == i64::MAX {
                    continue;
                }
                let text = halfway(word, format.frac());
                let even = if word & 1 == 0 { word } else { word + 1 };
                let q = |text: &str| parse_q(text, format).map(|w| w as i64);
                assert_eq!(q(&text), Ok(even), "{text}");
                // A hair to either side, of which the digits tell only far behind the point. The last digit is a 5.
                let farther = if word < 0 { word } else { word + 1 };
                let nearer = if word < 0 { word + 1 } else { word };
                assert_eq!(q(&format!("{text}{}1", "0".repeat(70))), Ok(farther), "{text}");
                let less = text.strip_suffix('5').expect("a five");
                assert_eq!(q(&format!("{less}4{}", "9".repeat(70))), Ok(nearer), "{text}");
            }
        }
    }

    #[test]
    fn reading_agrees_with_the_crate_fixed() {
        for text in short_decimals(20_000) {
            let theirs = [
                text.parse::<FixedI64<U32>>().map(FixedI64::to_bits),
                text.parse::<FixedI64<U43>>().map(FixedI64::to_bits),
                text.parse::<FixedI64<U48>>().map(FixedI64::to_bits),
            ];
            for (theirs, format) in theirs.into_iter().zip([Format::Q32_32, Format::Q21_43, Format::Q16_48]) {
                assert_eq!(parse_q(&text, format).ok(), theirs.ok().map(|bits| bits as u64), "{text}");
            }
        }
    }

    /// Of the decimals that are as short, the nearest is written.
    #[test]
    fn fixed_point_is_nearest() {
        for format in Format::ALL {
            for word in words(5_000) {
                let text = format_q(word, format);
                let (integer, fraction) = text.strip_prefix('-').unwrap_or(&text).split_once('.').unwrap();
                let digits: u128 = format!("{integer}{fraction}").parse().unwrap();
                let scale = 10u128.pow(fraction.len() as u32);
                // |digits/scale − word/2^frac| ≤ 1/(2·scale), in units that all have.
                let (written, exact) = (digits << format.frac(), u128::from((word as i64).unsigned_abs()) * scale);
                assert!(2 * written.abs_diff(exact) <= 1 << format.frac(), "{text}");
            }
        }
    }

    #[test]
    fn what_once_did_not_read_back() {
        assert_eq!(format_q(0xe666_6666, Format::Q32_32), "0.9");
        assert_eq!(format_q(0xe666_6667, Format::Q32_32), "0.9000000001");
    }
}
