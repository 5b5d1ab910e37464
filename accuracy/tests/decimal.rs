//! Reading decimal text, against exact rationals (`.q`) and MPFR (`.l`, `.f`).

use pendula_accuracy::points::{Random, words};
use pendula_accuracy::shape::{LOGARITHMIC, Rounding, Shape};
use pendula_isa::fault::Fault;
use pendula_isa::num::decimal::{self, NumberError};
use pendula_isa::num::{Format, Word};
use rug::ops::Pow;
use rug::{Float, Integer, Rational};

/// Enough for a decimal of 40 digits about 10^±330 to be told from a tie.
const PRECISION: u32 = 400;

/// A decimal as digits · 10^power.
fn text(random: &mut Random, powers: i64) -> (String, Integer, i64) {
    let length = 1 + random.word() % 40;
    let digits: String = (0..length).map(|_| char::from(b'0' + (random.word() % 10) as u8)).collect();
    let power = (random.word() % (2 * powers as u64 + 1)) as i64 - powers - length as i64 / 2;
    let sign = if random.word() & 1 == 1 { "-" } else { "" };
    let value = format!("{sign}{digits}").parse().unwrap();
    let point = (random.word() % (length + 1)) as usize;
    let (integer, fraction) = digits.split_at(point);
    (format!("{sign}{integer}.{fraction}e{}", power + fraction.len() as i64), value, power)
}

fn rational(digits: &Integer, power: i64) -> Rational {
    let scale = Integer::from(10).pow(power.unsigned_abs() as u32);
    if power < 0 { Rational::from((digits.clone(), scale)) } else { Rational::from(digits * scale) }
}

fn check_q(text: &str, exact: Rational, format: Format) {
    let scaled: Rational = exact << format.frac();
    let (rest, floor) = scaled.fract_floor(Integer::new());
    let up = match rest.cmp(&Rational::from((1, 2))) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => floor.is_odd(),
        std::cmp::Ordering::Greater => true,
    };
    let expected = (floor + u32::from(up)).to_i64().map(|bits| bits as u64);
    let got = decimal::parse_q(text, format);
    assert_eq!(got.ok(), expected, "{text} in {}", format.name());
    assert!(!matches!(got, Err(NumberError::Syntax)), "{text}");
}

#[test]
fn fixed_point() {
    let mut random = Random(21);
    for format in Format::ALL {
        for _ in 0..30_000 {
            let (text, digits, power) = text(&mut random, 12);
            check_q(&text, rational(&digits, power), format);
        }
        // Halfway between two words, and a hair to either side.
        for _ in 0..10_000 {
            let word = random.sized() as i64;
            let half = Rational::from((Integer::from(word) * 2 + 1, 2)) >> format.frac();
            let places = format.frac() + 1;
            let digits = (half * Integer::from(10).pow(places)).into_numer_denom().0;
            for near in [-1, 0, 1] {
                let digits = Integer::from(&digits * 1000u32) + near;
                let power = -i64::from(places) - 3;
                check_q(&format!("{digits}e{power}"), rational(&digits, power), format);
            }
        }
    }
}

fn word(parsed: Result<u64, NumberError>) -> Word {
    parsed.map_err(|error| {
        assert!(matches!(error, NumberError::OutOfRange(_)));
        Fault::Range
    })
}

fn check_real(shape: Shape, parse: fn(&str) -> Result<u64, NumberError>) {
    let mut random = Random(22);
    let mut worst: f64 = 0.0;
    for i in 0..200_000 {
        let (text, digits, power) = text(&mut random, if i % 2 == 0 { 20 } else { 330 });
        if digits == 0 {
            continue;
        }
        let x = Float::with_val(PRECISION, rational(&digits, power));
        let got = word(parse(&text));
        assert_eq!(got, shape.round(Rounding::Nearest, &x), "{text}");
        if let Ok(word) = got {
            worst = worst.max(shape.error(word, &x));
        }
    }
    println!("{} from text: worst error {worst:.12} ulp", shape.name());
    assert!(worst <= 0.5);
}

#[test]
fn logarithmic() {
    check_real(LOGARITHMIC, decimal::parse_l);
}

#[test]
fn doubles() {
    check_real(Shape::Double, decimal::parse_f);
}

/// What `format_l` writes is within half a unit of the word's number.
#[test]
fn written_logarithms() {
    for word in words(LOGARITHMIC, 50_000) {
        let Ok(x) = LOGARITHMIC.value(word) else {
            continue;
        };
        let text = decimal::format_l(word);
        let written = Float::with_val(PRECISION, Float::parse(&text).unwrap());
        let nearest = LOGARITHMIC.round(Rounding::Nearest, &written);
        assert_eq!(nearest, Ok(word), "{text} for {x}");
    }
}
