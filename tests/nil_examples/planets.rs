//! The example `planets` moves planets as an independent model does that is written here.

use crate::common::dual::Dual;
use pendula_isa::sample;

use super::*;

/// The distances that `planets.nil` computes, and their derivatives with respect to the step.
fn distances(step: f64, count: usize) -> Vec<Dual> {
    let bodies: [[f64; 4]; 8] = [
        [1.6601e-7, 0.387098, 0.20563, 77.46],
        [2.4478e-6, 0.723332, 0.00677, 131.53],
        [3.0404e-6, 1.0, 0.01671, 102.95],
        [3.2272e-7, 1.52368, 0.0934, 336.04],
        [9.5479e-4, 5.2044, 0.0489, 14.75],
        [2.8589e-4, 9.5826, 0.0565, 92.43],
        [4.3662e-5, 19.2184, 0.0464, 170.96],
        [5.1514e-5, 30.11, 0.0090, 44.97],
    ];
    let g = 4.0 * PI * PI;
    let constant = |x: f64| Dual(x, 0.0);
    let mut masses = vec![constant(g)];
    let (mut r, mut v) = (vec![[Dual::default(); 2]], vec![[Dual::default(); 2]]);
    for [mass, axis, e, degrees] in bodies {
        let (s, c) = (degrees * PI / 180.0).sin_cos();
        let (far, speed) = (axis * (1.0 - e), (g / axis * (1.0 + e) / (1.0 - e)).sqrt());
        masses.push(constant(g * mass));
        r.push([constant(far * c), constant(far * s)]);
        v.push([constant(-speed * s), constant(speed * c)]);
    }
    let kick = |v: &mut Vec<[Dual; 2]>, r: &[[Dual; 2]], step: Dual| {
        for i in 0..r.len() {
            let mut a = [Dual::default(); 2];
            for j in (0..r.len()).filter(|j| *j != i) {
                let d = [r[j][0] - r[i][0], r[j][1] - r[i][1]];
                let square = d[0] * d[0] + d[1] * d[1];
                let factor = masses[j] / (square * square.sqrt());
                a = [a[0] + factor * d[0], a[1] + factor * d[1]];
            }
            v[i] = [v[i][0] + step * a[0], v[i][1] + step * a[1]];
        }
    };
    let step = Dual(step, 1.0);
    kick(&mut v, &r, step * constant(0.5));
    for _ in 0..count {
        for i in 0..r.len() {
            r[i] = [r[i][0] + step * v[i][0], r[i][1] + step * v[i][1]];
        }
        kick(&mut v, &r, step);
    }
    (1..r.len())
        .map(|i| {
            let d = [r[i][0] - r[0][0], r[i][1] - r[0][1]];
            (d[0] * d[0] + d[1] * d[1]).sqrt()
        })
        .collect()
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn planets_move_as_in_an_independent_model() {
    let model = distances(0.01, 100);
    let entries = ["solar", "solar_inplace"];
    let planets = |entry, args, types| Call { name: "planets", entry, args, types };
    let zeros = "[0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0],0.01,100";
    for (n, expected) in sample::some(model.iter().enumerate()) {
        for entry in entries {
            for report in gradient(planets(entry, zeros, ""), &["--loss", &format!("r![{}]", n + 1), "--wrt", "dt"]) {
                close(&numbers(&report["losses"][0]["value"]), &[expected.0], "distance");
                close(&numbers(&report["losses"][0]["gradient"]["dt"]), &[expected.1], "speed");
            }
        }
    }
    // In fixed point both ways are the same, to the bit; with doubles they part.
    let results = |args, types| entries.map(|entry| planets(entry, args, types).output(&["run"], &[]));
    let [clean, inplace] = results("[0,0,0,0,0,0,0,0],0.01,500", PLANETS);
    assert_eq!(clean, inplace);
    let [clean, inplace] = results("[0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0],0.01,500", "");
    assert_ne!(clean, inplace);
}

// Headers.
