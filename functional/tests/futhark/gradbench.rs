//! GradBench's programs: `GRADBENCH=dir`, the folder of its Futhark programs.

use pendula_functional::core::Value;
use pendula_functional::fut::{self, Module};
use pendula_functional::value::Array;
use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::Sources;

use super::{call, int, near, reals, vector};

fn program(folder: &str, name: &str) -> Module {
    let folder = std::path::Path::new(folder);
    let mut load = |name: &str| std::fs::read_to_string(folder.join(format!("{name}.fut"))).map_err(|e| e.to_string());
    let text = load(name).unwrap_or_else(|e| panic!("{name}: {e}"));
    fut::read(name, &text, &mut Sources::default(), &mut load, Budget::default()).unwrap_or_else(|e| panic!("{e:#?}"))
}

/// Numbers between 0 and 1.
fn random(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        })
        .collect()
}

fn matrix(rows: &[Vec<f64>]) -> Value {
    Value::array(Array::of(rows.iter().map(|r| reals(r)).collect()))
}

fn number(value: &Value) -> f64 {
    value.plain_real().expect("a number")
}

/// A few partial derivatives by differences.
fn checked(x: &[f64], gradient: &[f64], f: &mut dyn FnMut(&[f64]) -> f64, what: &str) {
    for n in (0..x.len()).step_by(x.len().div_ceil(5)) {
        let wanted = super::difference(x, n, &mut |y| vec![f(y)])[0];
        near(&[gradient[n]], &[wanted], 1e-6, what);
    }
}

#[test]
#[ignore = "needs programs of GradBench: set GRADBENCH to their directory"]
fn gradbench_gives_its_own_values() {
    let Ok(folder) = std::env::var("GRADBENCH") else { return println!("not run: GRADBENCH names no directory") };
    let saddle = program(&folder, "saddle");
    for entry in ["ff", "fr", "rf", "rr"] {
        let result = call(&saddle, entry, vec![reals(&[1.0, 1.0])]);
        for n in 0..2 {
            let row = vector(&result.element(n).expect("a row").expect("a row"));
            near(&row, &[8.246_324_826_140_356e-6; 2], 1e-12, &format!("saddle, {entry}"));
            println!("saddle {entry}: {row:?}");
        }
    }
    let particle = program(&folder, "particle");
    for entry in ["ff", "fr", "rf", "rr"] {
        let row = vector(&call(&particle, entry, vec![Value::real(0.0)]));
        near(&row, &[0.207_191_874_648_611_6], 1e-9, &format!("particle, {entry}"));
        println!("particle {entry}: {row:?}");
    }
}

#[test]
#[ignore = "needs programs of GradBench: set GRADBENCH to their directory"]
fn gradients_of_gradbench_agree_with_differences() {
    let Ok(folder) = std::env::var("GRADBENCH") else { return println!("not run: GRADBENCH names no directory") };
    let x = random(20, 1);
    let ode = program(&folder, "ode");
    let gradient = vector(&call(&ode, "gradient", vec![reals(&x), int(10)]));
    let last = |y: &[f64]| *vector(&call(&ode, "primal", vec![reals(y), int(10)])).last().expect("a number");
    checked(&x, &gradient, &mut |y| last(y), "ode");

    let lse = program(&folder, "lse");
    let x = random(50, 2);
    let wanted = x.iter().map(|x| x.exp()).sum::<f64>().ln();
    near(&[number(&call(&lse, "primal", vec![reals(&x)]))], &[wanted], 1e-12, "lse");
    let gradient = vector(&call(&lse, "gradient", vec![reals(&x)]));
    checked(&x, &gradient, &mut |y| number(&call(&lse, "primal", vec![reals(y)])), "lse");

    let llsq = program(&folder, "llsq");
    let x = random(8, 3);
    let gradient = vector(&call(&llsq, "gradient", vec![reals(&x), int(30)]));
    checked(&x, &gradient, &mut |y| number(&call(&llsq, "primal", vec![reals(y), int(30)])), "llsq");

    kmeans(&folder);
}

/// The gradient of k-means divided by the diagonal of its Hessian, by formula.
fn kmeans(folder: &str) {
    let kmeans = program(folder, "kmeans");
    let points: Vec<Vec<f64>> = (0..40).map(|n| random(3, 100 + n)).collect();
    let centroids: Vec<Vec<f64>> = points[..4].to_vec();
    let distance = |p: &[f64], q: &[f64]| p.iter().zip(q).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let nearest: Vec<usize> = points
        .iter()
        .map(|p| (0..4).min_by(|a, b| distance(p, &centroids[*a]).total_cmp(&distance(p, &centroids[*b]))).unwrap_or(0))
        .collect();
    let cost: f64 = points.iter().zip(&nearest).map(|(p, c)| distance(p, &centroids[*c])).sum();
    let found = call(&kmeans, "cost", vec![matrix(&points), matrix(&centroids)]);
    near(&[number(&found)], &[cost], 1e-12, "kmeans");
    let found = call(&kmeans, "dir", vec![matrix(&points), matrix(&centroids)]);
    for (c, centroid) in centroids.iter().enumerate() {
        let own: Vec<&Vec<f64>> = points.iter().zip(&nearest).filter(|(_, n)| **n == c).map(|(p, _)| p).collect();
        let wanted: Vec<f64> =
            (0..3).map(|k| centroid[k] - own.iter().map(|p| p[k]).sum::<f64>() / own.len() as f64).collect();
        let row = vector(&found.element(c).expect("a row").expect("a row"));
        near(&row, &wanted, 1e-9, "kmeans, dir");
    }
}
