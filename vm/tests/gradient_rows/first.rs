//! First derivatives: gradient words and tangents against closed forms, each other and finite differences.

use pendula_isa::Env;
use pendula_isa::adjoint::{AdMode, GRADIENT, LANES, SECOND};
use pendula_isa::num::Format;
use pendula_isa::sample::share;
use pendula_isa::scalar;
use pendula_isa::types::Ty;

use super::closed_forms::{closed, units};
use super::site::{argument, at_points, functions, name};
use super::{POINTS, close, lane_type, nearest, real, run, signed};

/// At every point, the gradient words after an effective `y −= f(x)` agree with the closed forms, its tangents are their transpose, and
/// both agree with finite differences of the values.
#[test]
fn gradients_tangents_and_differences_of_doubles() {
    let env = Env::default();
    for (seed, func) in functions(|ty, from| ty == Ty::F && from == Ty::F).into_iter().enumerate() {
        let (mut met, mut compared) = (0, 0);
        at_points(env, func, share(POINTS), seed as u64, |m, site, v, s| {
            let p = closed(func, v.numbers, v.y);
            let minus = if site.minus { -1.0 } else { 1.0 };
            let start = m.snapshot();
            let describe = |n: usize| format!("{} {:?} ∂{n} at {:?}", name(func), site.inst, v.numbers);
            // The run without gradients has the same effect on the values.
            run(m, AdMode::Plain, site.direction).expect("a value");
            let there = m.snapshot();
            m.restore(&start);
            let g = signed(s, 0.1, 2.0);
            site.put(m, GRADIENT, 0, g.to_bits());
            let mut before = [0.0; 3];
            for (n, _) in site.words() {
                before[n] = if s.once_in(2) { 0.0 } else { signed(s, 0.0, 2.0) };
                site.put(m, GRADIENT, n + 1, before[n].to_bits());
            }
            run(m, AdMode::Gradient, site.direction).expect("a gradient");
            assert!(m.snapshot() == there, "{}", describe(0));
            assert_eq!(site.get(m, GRADIENT, 0), g.to_bits(), "{}", describe(0));
            let gained: Vec<(usize, f64, f64)> = site
                .words()
                .into_iter()
                .map(|(n, all)| {
                    let after = f64::from_bits(site.get(m, GRADIENT, n + 1));
                    let sum: f64 = all.iter().map(|k| p[*k]).sum();
                    let size: f64 = all.iter().map(|k| (g * p[*k]).abs()).sum();
                    close(after, before[n] - minus * g * sum, 1e-9, size + 1e-6 * before[n].abs() + 4e-7, || {
                        describe(n)
                    });
                    (n, after - before[n], size + before[n].abs() + after.abs())
                })
                .collect();
            for (n, gained, size) in gained {
                m.restore(&start);
                (1..LANES).for_each(|lane| m.clear_lane(lane));
                let direction = signed(s, 0.5, 2.0);
                site.put(m, SECOND, n + 1, direction.to_bits());
                run(m, AdMode::Tangent, site.direction).expect("a tangent");
                assert!(m.snapshot() == there, "{}", describe(n));
                assert_eq!(site.get(m, SECOND, n + 1), direction.to_bits());
                let t = f64::from_bits(site.get(m, SECOND, 0));
                close(gained * direction, -g * t, 1e-12, size * direction.abs(), || describe(n));
                met += 1;
                // The same by differences.
                let shared: Vec<usize> =
                    (0..3).filter(|k| k + 1 < site.cells.len() && site.cells[k + 1] == site.cells[n + 1]).collect();
                let at = |h: f64| {
                    let mut words = v.words;
                    shared.iter().for_each(|k| words[*k] = (v.numbers[*k] + h).to_bits());
                    scalar::value(env, func, words).map(f64::from_bits)
                };
                let slope = |h: f64| Some((at(h).ok()? - at(-h).ok()?) / (2.0 * h));
                if let (Some(wide), Some(narrow)) = (slope(2e-3), slope(1e-3)) {
                    let scale = 1.0 + narrow.abs() + v.y.abs();
                    if (wide - narrow).abs() <= 1e-3 * scale {
                        compared += 1;
                        let limit = 1e-8 * scale + 1e-2 * (wide - narrow).abs();
                        close((4.0 * narrow - wide) / 3.0, minus * t / direction, 1.0, limit, || describe(n));
                    }
                }
            }
        });
        // There are no differences with respect to the exponent of a negative number.
        let least = if func.info().name == "pow" { 0.8 } else { 0.95 };
        assert!(
            met >= share(POINTS) && f64::from(compared) >= least * met as f64,
            "{}: {compared} of {met}",
            name(func)
        );
    }
}

/// Gradient words of fixed-point and logarithmic numbers and of conversions, in every format, within what the format's roundings
/// explain ([`units`]): each share is g times a partial derivative that is off by so many units, and is rounded once more, twice
/// where it goes from doubles to fixed point.
#[test]
fn gradients_of_fixed_point_and_logarithmic_numbers() {
    for (seed, func) in functions(|ty, from| ty != Ty::F || from != Ty::F).into_iter().enumerate() {
        let format = Format::ALL[seed % 3];
        let env = Env { format, ieee: false };
        let unit = (-f64::from(format.frac())).exp2();
        let mut met = 0;
        at_points(env, func, share(POINTS), 100 + seed as u64, |m, site, v, s| {
            let p = closed(func, v.numbers, v.y);
            let error = units(func, v.numbers, v.y);
            let minus = if site.minus { -1.0 } else { 1.0 };
            let describe = |n: usize| format!("{} {:?} ∂{n} at {:?}", name(func), site.inst, v.numbers);
            let seed_type = lane_type(func.info().ty);
            let word = nearest(env, seed_type, signed(s, 0.1, 2.0));
            let g = real(env, seed_type, word);
            site.put(m, GRADIENT, 0, word);
            let mut before = [0.0; 3];
            for (n, _) in site.words() {
                let ty = lane_type(argument(func, n));
                let word = nearest(env, ty, signed(s, 0.0, 2.0));
                before[n] = real(env, ty, word);
                site.put(m, GRADIENT, n + 1, word);
            }
            run(m, AdMode::Gradient, site.direction).unwrap_or_else(|e| panic!("{}: {e:?}", describe(0)));
            assert_eq!(site.get(m, GRADIENT, 0), word, "{}", describe(0));
            for (n, all) in site.words() {
                let after = real(env, lane_type(argument(func, n)), site.get(m, GRADIENT, n + 1));
                let sum: f64 = all.iter().map(|k| p[*k]).sum();
                let limit: f64 =
                    all.iter().map(|k| (g.abs() * error[*k] + 2.0) * unit + 1e-12 * (g * p[*k]).abs()).sum();
                close(after, before[n] - minus * g * sum, 1.0, limit, || describe(n));
                met += 1;
            }
        });
        assert!(met >= share(POINTS), "{}", name(func));
    }
}
