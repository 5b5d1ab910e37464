//! The module `dynamics`.

use super::*;

/// Leapfrog steps: half a drift, a kick, half a drift.
fn leapfrog(x: &mut [f64], v: &mut [f64], dt: f64, n: usize, kick: impl Fn(&mut [f64], &[f64])) {
    for _ in 0..n {
        x.iter_mut().zip(&*v).for_each(|(x, v)| *x += v * dt / 2.0);
        kick(v, x);
        x.iter_mut().zip(&*v).for_each(|(x, v)| *x += v * dt / 2.0);
    }
}

fn gravity(v: &mut [f64], x: &[f64], m: &[f64], dt: f64) {
    for i in 0..m.len() {
        for j in (0..m.len()).filter(|j| *j != i) {
            let d = [x[2 * j] - x[2 * i], x[2 * j + 1] - x[2 * i + 1]];
            let r = d[0].hypot(d[1]);
            add(&mut v[2 * i..2 * i + 2], &d.map(|d| m[j] * d / r.powi(3) * dt));
        }
    }
}

fn energy(x: &[f64], v: &[f64], m: &[f64]) -> f64 {
    let motion: f64 = (0..m.len()).map(|i| m[i] * (v[2 * i].powi(2) + v[2 * i + 1].powi(2)) / 2.0).sum();
    let pairs = (0..m.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    motion - pairs.map(|(i, j)| m[i] * m[j] / (x[2 * i] - x[2 * j]).hypot(x[2 * i + 1] - x[2 * j + 1])).sum::<f64>()
}

#[test]
fn leapfrog_of_springs() {
    for (n, steps) in [(1, 0), (1, 1), (2, 10), (0, 3)] {
        let args = [
            ("x!", reals(n, 1)),
            ("v!", reals(n, 2)),
            ("k", Arg::Real(1.5)),
            ("dt", Arg::Real(0.125)),
            ("n", Arg::Int(steps)),
        ];
        case("dynamics", "leapfrog!(x!, v!, spring!, k, dt, n)", args).differentiates(&["x!", "v!"], |a| {
            let [x, v, k, dt, _] = a else { unreachable!() };
            let (k, dt) = (k[0], dt[0]);
            leapfrog(x, v, dt, steps as usize, |v, x| v.iter_mut().zip(x).for_each(|(v, x)| *v -= k * x * dt));
        });
    }
}

#[test]
fn leapfrog_of_bodies() {
    let x = Arg::Matrix(2, 3, vec![0.0, 0.0, 1.0, 0.0, -2.0, 0.25]);
    let v = Arg::Matrix(2, 3, vec![0.0, 0.0, 0.0, 1.0, 0.0, -0.75]);
    let m = Arg::Reals(vec![1.0, 0.125, 0.0625]);
    let energies = [("e!", Arg::Real(0.5)), ("x", x.clone()), ("v", v.clone()), ("m", m.clone())];
    case("dynamics", "gravity_energy!(e!, x, v, m)", energies)
        .differentiates(&["e!"], |a| a[0][0] += energy(&a[1], &a[2], &a[3]));
    let args = [("x!", x), ("v!", v), ("m", m), ("dt", Arg::Real(1.0 / 64.0)), ("n", Arg::Int(30))];
    let orbit = case("dynamics", "leapfrog!(x!, v!, gravity!, m, dt, n)", args);
    let oracle = |a: &mut [Vec<f64>]| {
        let [x, v, m, dt, _] = a else { unreachable!() };
        leapfrog(x, v, dt[0], 30, |v, x| gravity(v, x, m, dt[0]));
    };
    // Fixed-point numbers are rounded in every step.
    for (t, tolerance) in [("Float64", FLOAT), ("Fixed", Tolerance { value: 1e-7, derivative: 1e-5 })] {
        orbit.run_forward_and_back(t, tolerance, &oracle);
        orbit.derivatives(t, tolerance, &["x!", "v!"], &oracle);
    }
    // The energy is kept up to a small error, over many steps.
    let body = "leapfrog!(x!, v!, gravity!, m, dt, n)\n    gravity_energy!(e!, x!, v!, m)";
    let mut long = Case { body: body.to_string(), ..orbit };
    long.args.push(("e!", Arg::Real(0.0)));
    long.args[4].1 = Arg::Int(1000);
    for t in ["Float64", "Fixed"] {
        let program = program(long.module(t, 2));
        let mut machine = machine(&program);
        let before = machine.digest();
        assert_eq!(machine.run(None), Outcome::Finished);
        let [x, v, m] = [0, 1, 2].map(|k| long.args[k].1.numbers());
        let (found, wanted) = (numbers(&machine, "e!")[0], energy(&x, &v, &m));
        assert!((found - wanted).abs() < 2e-3, "{t}: {found}, {wanted}");
        machine.begin(Direction::Backward);
        assert_eq!(machine.run(None), Outcome::Finished);
        assert!(t == "Float64" || machine.digest() == before, "many steps back");
    }
    // One body, and none.
    for n in [0, 1] {
        let args = [
            ("x!", matrix(2, n, 1)),
            ("v!", matrix(2, n, 2)),
            ("m", reals(n, 3)),
            ("dt", Arg::Real(0.5)),
            ("n", Arg::Int(4)),
        ];
        case("dynamics", "leapfrog!(x!, v!, gravity!, m, dt, n)", args).agrees(|a| {
            let moved: Vec<f64> = a[1].iter().map(|v| 2.0 * v).collect();
            add(&mut a[0], &moved);
        });
    }
}
