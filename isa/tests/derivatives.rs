//! Partial derivatives against finite differences, and second derivatives by dual numbers against differences of the first.

use pendula_isa::calculus::{Calculus, Constant, Dual};
use pendula_isa::num::{Env, Format, log};
use pendula_isa::sample::{Source, share};
use pendula_isa::scalar::ScalarDomain;
use pendula_isa::table::{ARITY, Function, FunctionVisitor, TableFn};
use pendula_isa::types::Ty;

/// The numbers of a type as doubles: for `.l`, the logarithms of magnitudes.
#[derive(Clone, Copy)]
struct Reading {
    ty: Ty,
    format: Format,
}

impl Reading {
    fn word(self, x: f64, negative: bool) -> u64 {
        match self.ty {
            Ty::F => x.to_bits(),
            Ty::Q => ((x / self.unit()).round() as i64).cast_unsigned(),
            Ty::L => ((x / self.unit()).round() as i64).cast_unsigned() & (u64::MAX >> 1) | u64::from(negative) << 63,
            Ty::Int => (x as i64).cast_unsigned(),
        }
    }

    /// `None` for a logarithmic zero.
    fn number(self, word: u64) -> Option<f64> {
        match self.ty {
            Ty::F => Some(f64::from_bits(word)),
            Ty::Q => Some(word.cast_signed() as f64 * self.unit()),
            Ty::L => (word != log::ZERO).then(|| ((word << 1).cast_signed() >> 1) as f64 * self.unit()),
            Ty::Int => Some(word.cast_signed() as f64),
        }
    }

    /// The number that a word has room for.
    fn nearest(self, x: f64) -> f64 {
        self.number(self.word(x, false)).unwrap_or(x)
    }

    fn unit(self) -> f64 {
        match self.ty {
            Ty::Q => 2f64.powi(-(self.format.frac() as i32)),
            Ty::L => 2f64.powi(-52) * std::f64::consts::LN_2,
            Ty::F | Ty::Int => 1.0,
        }
    }

    /// The error of a number near `x` from rounding and from reading it as a double.
    fn noise(self, x: f64) -> f64 {
        match self.ty {
            Ty::Q => self.unit() + x.abs() * f64::EPSILON,
            Ty::L => 2f64.powi(-48) + x.abs() * f64::EPSILON,
            Ty::F | Ty::Int => x.abs() * f64::EPSILON,
        }
    }

    /// A sample point: mostly moderate, sometimes whole.
    fn sample(self, s: &mut Source) -> f64 {
        let size = s.pick(if self.ty == Ty::L { &[0.25, 1.0, 4.0, 12.0] } else { &[0.25, 1.0, 4.0, 100.0] });
        let x = ((s.word() >> 11) as f64 * 2f64.powi(-53) * 2.0 - 1.0) * size;
        // Exactly representable, so that differences are exact.
        self.nearest(if self.ty == Ty::Int || s.once_in(8) { x.round() } else { x })
    }
}

/// Which derivatives are compared with differences.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Those of a function, with differences of its values.
    First,
    /// Those of its partial derivatives, computed with dual numbers, with differences of these.
    Second,
}

/// Compares derivatives with finite differences; returns the number of points that could be compared.
struct Differences<'a, 'b> {
    format: Format,
    order: Order,
    s: &'a mut Source<'b>,
}

/// The words of a point.
fn words(readings: &[Reading; ARITY], x: [f64; ARITY], negative: [bool; ARITY]) -> [u64; ARITY] {
    [0, 1, 2].map(|n| readings[n].word(x[n], negative[n]))
}

/// The value, or partial derivative `partial`, unless it wrapped.
fn evaluate<F: Function>(format: Format, x: [u64; ARITY], partial: Option<usize>) -> Option<u64> {
    let mut scalar = ScalarDomain::new(Env { format, ieee: false });
    let y = F::value(&mut scalar, x).ok()?;
    let out = match partial {
        None => y,
        Some(n) => F::partial(&mut scalar, n, x, y).ok()?,
    };
    (!scalar.overflowed).then_some(out)
}

/// The derivative of partial derivative `n` along argument `m`, by dual numbers.
fn second<F: Function>(format: Format, x: [u64; ARITY], n: usize, m: usize) -> Option<u64> {
    let mut scalar = ScalarDomain::new(Env { format, ieee: false });
    let along = F::INFO.args[m].ty.gradient()?;
    let one = Constant::ONE.word(scalar.env, along);
    let dual = [0, 1, 2].map(|k| [x[k], if k == m { one } else { 0 }]);
    let mut calculus = Dual(&mut scalar);
    let y = calculus.apply::<F>(dual).ok()?;
    let [_, tangent] = F::partial(&mut calculus, n, dual, y).ok()?;
    (!scalar.overflowed).then_some(tangent)
}

impl FunctionVisitor for Differences<'_, '_> {
    type Out = usize;

    fn visit<F: Function>(self) -> usize {
        let Differences { format, order, s } = self;
        let of = |ty| Reading { ty, format };
        let info = F::INFO;
        let readings = [0, 1, 2].map(|n| of(info.args.get(n).map_or(Ty::Int, |a| a.ty)));
        let calculus = of(info.calculus());
        let differentiable = 0..info.partials;
        let cases: Vec<(Option<usize>, usize)> = match order {
            Order::First => differentiable.map(|m| (None, m)).collect(),
            Order::Second => {
                differentiable.clone().flat_map(|n| differentiable.clone().map(move |m| (Some(n), m))).collect()
            }
        };
        let mut compared = 0;
        for _ in 0..share(4_000 * 4) {
            let x = readings.map(|r| r.sample(s));
            let negative = readings.map(|r| r.ty == Ty::L && s.once_in(2));
            let here = words(&readings, x, negative);
            let mut partials = Vec::new();
            for n in 0..info.partials {
                partials.extend(evaluate::<F>(format, here, Some(n)).and_then(|p| calculus.number(p)));
            }
            if partials.len() < info.partials {
                continue;
            }
            for &(n, m) in &cases {
                let output = if n.is_some() { calculus } else { of(info.ty) };
                let at = |x| evaluate::<F>(format, words(&readings, x, negative), n).and_then(|y| output.number(y));
                let Some(y) = at(x) else { continue };
                let slope = |h: f64| {
                    let (mut up, mut down) = (x, x);
                    up[m] = readings[m].nearest(x[m] + h);
                    down[m] = readings[m].nearest(x[m] - h);
                    Some((at(up)? - at(down)?) / (up[m] - down[m]))
                };
                let h = (x[m].abs() * 2f64.powi(-8)).max(2f64.powi(-9));
                // If the one-sided slopes disagree, this is a kink, for which the table chooses a side.
                let side = |h: f64| {
                    let mut there = x;
                    there[m] = readings[m].nearest(x[m] + h);
                    Some((at(there)? - y) / (there[m] - x[m]))
                };
                let (Some(left), Some(right)) = (side(-h), side(h)) else { continue };
                if (left - right).abs() > 0.25 * (left.abs() + right.abs()).max(1.0) {
                    continue;
                }
                let (Some(wide), Some(narrow)) = (slope(h), slope(h / 2.0)) else { continue };
                let slope = (4.0 * narrow - wide) / 3.0;
                // The error of a derivative computed from rounded numbers, which grows with the slope.
                let spread = 1.0 + y.abs() + slope * slope + partials.iter().map(|p| p * p).sum::<f64>();
                let loss = 4.0 * calculus.noise(1.0) * if n.is_some() { spread * spread } else { spread };
                // The rounding of values, after cancellation. A partial derivative of a power is multiplied by the exponent.
                let exponent = readings.iter().zip(x).filter(|(r, _)| r.ty == Ty::Int).map(|(_, x)| x.abs());
                let factor = exponent.fold(1.0, f64::max);
                let rounding = if n.is_some() { 4.0 * calculus.noise(1.0) * spread * factor } else { output.noise(y) };
                let bound = 4.0 * (narrow - wide).abs() + 16.0 * rounding / h + loss + 1e-9 * slope.abs();
                // If two widths disagree, or their difference overflows, a kink or a pole is near.
                if !bound.is_finite() || bound > 1e-3 * (slope.abs() + 1.0) {
                    continue;
                }
                let found = match n {
                    None => Some(partials[m]),
                    Some(n) => second::<F>(format, here, n, m).and_then(|t| calculus.number(t)),
                };
                let Some(found) = found else { continue };
                assert!(
                    (found - slope).abs() <= bound,
                    "{:?} {n:?} at {x:?} {negative:?} in {format:?}: ∂/∂{} is {found}, differences give {slope} ± {bound}",
                    info.func,
                    info.args[m].name
                );
                compared += 1;
            }
        }
        compared
    }
}

/// Step functions: real functions without derivatives.
const STEPS: [&str; 2] = ["sign", "floor"];

fn compare_with_differences(order: Order, least: usize) {
    let mut met = 0;
    for func in TableFn::ALL {
        let info = func.info();
        if info.partials == 0 {
            let discrete = info.ty == Ty::Int || info.from == Ty::Int || STEPS.contains(&info.name);
            assert!(discrete, "{func:?} has no partial derivatives");
            continue;
        }
        let real = info.args.iter().filter(|a| a.ty != Ty::Int).count();
        assert_eq!(info.partials, real, "{func:?}: one for each argument that is a real number, and those first");
        let formats: &[Format] =
            if info.args.iter().any(|a| a.ty != Ty::F) || info.ty != Ty::F { &Format::ALL } else { &[Format::Q32_32] };
        for &format in formats {
            let mut s = Source::seeded(met);
            let compared = func.visit(Differences { format, order, s: &mut s });
            assert!(compared > least, "{func:?} {format:?}: only {compared} points");
        }
        met += 1;
    }
    assert!(met > 60, "{met}");
}

#[test]
fn partial_derivatives_agree_with_differences() {
    compare_with_differences(Order::First, share(300));
}

/// The partial derivatives over dual numbers are derivatives of the partial derivatives.
#[test]
fn second_derivatives_agree_with_differences_of_the_first() {
    compare_with_differences(Order::Second, share(300));
}
