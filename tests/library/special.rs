//! The module `special`.

use super::*;

#[test]
fn factorials() {
    for n in [0, 1, 2, 5, 12, 20] {
        let exact: i64 = (1..=n).product();
        let of = |y: Arg| case("special", "factorial!(y!, n)", [("y!", y), ("n", Arg::Int(n))]);
        of(Arg::Log(2.0)).agrees(|a| a[0][0] *= exact as f64);
        if n <= 12 {
            of(Arg::Real(0.5)).agrees(|a| a[0][0] += exact as f64);
        }
        let case = of(Arg::Int(0));
        let program = program(case.module("Fixed", 2));
        let mut machine = machine(&program);
        assert_eq!(machine.run(None), Outcome::Finished);
        assert_eq!(machine.memory()[symbol(program.module(), "y!")], exact.cast_unsigned(), "every digit");
        case.agrees(|a| a[0][0] = exact as f64);
    }
}

/// Tolerances of series whose terms are of this size.
fn series(size: f64, oracle: impl Fn(&mut [Vec<f64>]), case: &Case) {
    let float = Tolerance { value: 1e-15 * size + 1e-15, derivative: 1e-9 + 1e-14 * size };
    let fixed = Tolerance { value: 1e-8 + 1e-13 * size, derivative: 1e-6 + 1e-8 * size };
    for (t, tolerance) in [("Float64", float), ("Fixed", fixed)] {
        let tolerance = Tolerance { value: tolerance.value.max(1e-14), ..tolerance };
        case.run_forward_and_back(t, tolerance, &oracle);
        case.derivatives(t, tolerance, &["y!"], &oracle);
    }
}

#[test]
fn exponential_by_its_series() {
    for x in [0.0, 1e-3, 1.0, -1.0, 0.5, -3.5, 6.0] {
        let case = case("special", "exp_series!(y!, x)", [("y!", Arg::Real(0.5)), ("x", Arg::Real(x))]);
        series(f64::abs(x).exp(), |a| a[0][0] += a[1][0].exp(), &case);
    }
}

/// J_n(z), by its integral ∫ cos(n t − z sin t) dt/π from 0 to π: for periodic functions the trapezoidal rule is exact.
fn bessel(n: i64, z: f64) -> f64 {
    let at = |k: i32| {
        let t = PI * f64::from(k) / 64.0;
        (n as f64 * t - z * t.sin()).cos()
    };
    ((at(0) + at(64)) / 2.0 + (1..64).map(at).sum::<f64>()) / 64.0
}

#[test]
fn bessel_by_its_series() {
    assert!((bessel(2, 1.0) - 0.114_903_484_931_900_48).abs() < 1e-15);
    for n in [0, 1, 2, 3, 7] {
        for z in [0.0, 1.0, 0.125, -2.5, 5.0, 11.0] {
            let args = [("y!", Arg::Real(0.5)), ("ν", Arg::Int(n)), ("z", Arg::Real(z))];
            let case = case("special", "besselj!(y!, ν, z)", args);
            series(f64::abs(z).exp(), |a| a[0][0] += bessel(n, a[2][0]), &case);
        }
    }
    let negative =
        case("special", "besselj!(y!, ν, z)", [("y!", Arg::Real(0.0)), ("ν", Arg::Int(-1)), ("z", Arg::Real(1.0))]);
    assert!(matches!(negative.traps("Float64"), Fault::Assert));
}
