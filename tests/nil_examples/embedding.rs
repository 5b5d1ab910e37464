//! The graph embedding of the Petersen graph.

use pendula_isa::sample;

use super::*;

#[allow(dead_code)]
#[path = "../../examples/petersen.rs"]
mod petersen;

/// x after n steps of a fixed sequence between -1 and 1.
fn scattered(n: usize) -> f64 {
    ((n as f64 + 1.0) * 0.754_877_666_246_692_8).fract() * 2.0 - 1.0
}

/// The gradient of the loss of `embedding.nil` by its formula; `x` holds the points one after the other.
fn embedding_gradient(x: &[f64], k: usize) -> Vec<f64> {
    let distance = |i: usize, j: usize| (0..k).map(|c| (x[i * k + c] - x[j * k + c]).powi(2)).sum::<f64>().sqrt();
    let pairs = |near: bool| -> Vec<(usize, usize)> {
        let all = (0..10).flat_map(|i| (i + 1..10).map(move |j| (i, j)));
        all.filter(|(i, j)| petersen::connected(*i, *j) == near).collect()
    };
    let mean = |pairs: &[(usize, usize)]| pairs.iter().map(|(i, j)| distance(*i, *j)).sum::<f64>() / pairs.len() as f64;
    let (near, far) = (pairs(true), pairs(false));
    let gap = mean(&near) - mean(&far) + 0.1;
    let slope = if gap > 0.0 { gap.exp() } else { 0.0 };
    let mut out = vec![0.0; x.len()];
    for (pairs, sign) in [(&near, 1.0), (&far, -1.0)] {
        let (m, n) = (mean(pairs), pairs.len() as f64);
        for &(i, j) in pairs {
            let d = distance(i, j);
            let weight = (2.0 * (d - m) / (n - 1.0) + sign * slope / n) / d;
            for c in 0..k {
                let part = weight * (x[i * k + c] - x[j * k + c]);
                out[i * k + c] += part;
                out[j * k + c] -= part;
            }
        }
    }
    out
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
fn gradients_of_the_graph_embedding() {
    for k in sample::some(2..=9) {
        let x: Vec<f64> = (0..10 * k).map(scattered).collect();
        let rows: Vec<String> =
            (0..k).map(|c| (0..10).map(|i| format!("{:?}", x[i * k + c])).collect::<Vec<_>>().join(" ")).collect();
        let args: &'static str = format!("0.0,[{}]", rows.join("; ")).leak();
        let embedding = call("embedding", args, "");
        let expected = embedding_gradient(&x, k);
        has_gradient(embedding, "loss!", &[("x", &expected)]);
        for report in gradient(embedding, &["--loss", "loss!", "--wrt", "x", "--check"]) {
            let checks = report["checks"].as_array().expect("checks");
            assert_eq!(checks.len(), 10 * k);
            for check in checks {
                close(&numbers(&check["adjoint"]), &numbers(&check["tangent"]), &check.to_string());
            }
        }
        if k == 2 {
            for report in gradient(embedding, &["--loss", "loss!", "--wrt", "x", "--hessian", "--check"]) {
                let difference = report["hessian_difference"].as_f64().expect("a number");
                assert!(difference < 1e-8, "{difference}");
                // Row by row it is the gradient's derivative.
                let rows = report["hessian"]["rows"].as_array().expect("rows");
                for (n, row) in rows.iter().enumerate() {
                    let beside = |step: f64| {
                        let mut x = x.clone();
                        x[n] += step;
                        embedding_gradient(&x, k)
                    };
                    let differences = [1.0, 2.0].map(|width| {
                        let (above, below) = (beside(1e-4 * width), beside(-1e-4 * width));
                        above.iter().zip(below).map(|(a, b)| (a - b) / (2e-4 * width)).collect::<Vec<_>>()
                    });
                    // By Richardson's extrapolation.
                    let quotient = differences[0].iter().zip(&differences[1]).map(|(one, two)| (4.0 * one - two) / 3.0);
                    for (found, expected) in numbers(row).iter().zip(quotient) {
                        assert!((found - expected).abs() < 1e-8, "{found} {expected}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_petersen_graph_needs_five_dimensions() {
    let trained = petersen::Embedding::new(5).expect("compiles").train(1, 600).expect("trains");
    assert!(trained.loss < petersen::FITS, "{trained:?}");
    assert!((trained.ratio - 2.0_f64.sqrt()).abs() < 1e-3, "{trained:?}");
    let four = petersen::Embedding::new(4).expect("compiles");
    for seed in 1..=3 {
        let trained = four.train(seed, 300).expect("trains");
        assert!(trained.loss > 0.01, "{trained:?}");
    }
}
