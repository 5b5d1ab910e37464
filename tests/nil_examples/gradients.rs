//! Gradients of the examples, against the mathematics written here in doubles.

use super::*;

#[test]
fn gradients_of_scalars() {
    has_gradient(call("multiplier", "2.0,3.0,5.0", ""), "y!", &[("a", &[5.0]), ("b", &[3.0])]);
    let log = call("complex-log", "(0.0,0.0),(3.0,4.0)", "");
    has_gradient(log, "y!.re", &[("x.re", &[0.12]), ("x.im", &[0.16])]);
    has_gradient(log, "y!.im", &[("x.re", &[-0.16]), ("x.im", &[0.12])]);
    // Published: J₂'(1), J₂''(1).
    let published = [0.210_243_615_881_132_6, 0.134_466_838_914_568_8];
    has_derivatives(call("bessel", "0.0,2,1.0", ""), "out!", "z", 1e-11, published);
    has_derivatives(call("bessel-log", "0,2,1", "Fixed43,Int,Fixed43"), "y!", "z", 1e-11, published);
    has_derivatives(call("exp", "0.0,0.5", ""), "out!", "x", 1e-11, [0.5_f64.exp(); 2]);
    has_derivatives(call("exp", "0.0,1.6", ""), "out!", "x", 1e-11, [1.6_f64.exp(); 2]);
    has_derivatives(call("power", "0.0,1.5,10", ""), "out!", "x", 1e-9, [384.43359375, 2306.6015625]);
    has_gradient(call("bennett", "0.0,0,0,1.0,4,4", ""), "y!", &[("x", &[2.0_f64.powi(256)])]);
    // The fixed point y = log(target + e^x) - x, whatever the guess was.
    let sum = 1.0 + 0.3_f64.exp();
    let expected: [(&str, &[f64]); 3] =
        [("guess", &[0.0]), ("x", &[0.3_f64.exp() / sum - 1.0]), ("target", &[1.0 / sum])];
    has_gradient(call("consistency", "0.0,1.6,0.3,1.0,100", ""), "y!", &expected);
}

#[test]
fn gradients_of_vectors_and_matrices() {
    has_gradient(call("norm", "0.0,0.0,[3.0,0.0,-4.0]", ""), "out", &[("x", &[0.6, 0.0, -0.8])]);
    let expected: [(&str, &[f64]); 3] =
        [("W", &[0.0, 1.0, 0.0, -1.0, 0.0, 2.0]), ("b", &[0.0, 1.0]), ("x", &[4.0, 5.0, 6.0])];
    has_gradient(call("affine", AFFINE, ""), "y![2]", &expected);
    // A rotation's derivative is a rotation by a quarter turn more; nothing of the other coordinate is left.
    let turn = |derived: usize| {
        let (mut x, angles) = ([1.0, 2.0, 3.0], [0.1, 0.2, 0.3]);
        for (n, i) in [1, 0, 1].into_iter().enumerate() {
            let (s, c) = f64::sin_cos(angles[n] + if n == derived { PI / 2.0 } else { 0.0 });
            let turned = (x[i] * c - x[i + 1] * s, x[i] * s + x[i + 1] * c);
            if n == derived {
                x = [0.0; 3];
            }
            (x[i], x[i + 1]) = turned;
        }
        x
    };
    let unitary = call("unitary", TURNED, "");
    for element in 0..3 {
        let expected: Vec<f64> = (0..3).map(|n| turn(n)[element]).collect();
        has_gradient(unitary, &format!("x![{},1]", element + 1), &[("θ", &expected)]);
    }
    // The second column does not depend on the first, and its length is what it was.
    for report in gradient(unitary, &["--loss", "x!", "--jacobian", "--wrt", "x!", "--check"]) {
        let rows: Vec<Vec<f64>> =
            report["losses"].as_array().expect("losses").iter().map(|l| numbers(&l["gradient"]["x!"])).collect();
        for (n, row) in rows.iter().enumerate() {
            let product = |other: &[f64]| row.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
            let expected: Vec<f64> = (0..6).map(|k| if k == n { 1.0 } else { 0.0 }).collect();
            close(
                &rows.iter().map(|other| product(other)).collect::<Vec<_>>(),
                &expected,
                "rows of the unitary matrix",
            );
        }
    }
}

#[test]
fn gradients_of_sparse_matrices() {
    let expected: [(&str, &[f64]); 2] = [("A.nzval", &[0.0, 5.0, 7.0]), ("B.nzval", &[0.0, 2.0, 0.0, 3.0])];
    has_gradient(call("sparse-dot", SPARSE, ""), "r", &expected);
    // Re C₁₂ with a = α A: of z = a b, dz.re/db.re = a.re, dz.re/db.im = -a.im. The entries of A in row 1 are 1+i in column 1
    // and 2i in column 2; α = 1 + i/2; column 2 of B is (1+i, 0, 1/2-2i).
    let b: [f64; 12] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, -1.5, -1.0, -2.0, 0.0, 0.0];
    // α B₁₂ = 1/2 + 3i/2
    let a: [f64; 8] = [0.5, -1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    has_gradient(call("sparse-product", PRODUCT, ""), "C[1,2].re", &[("A.nzval", &a), ("B", &b)]);
}

#[test]
fn gradients_of_the_qr_decomposition() {
    let qr = call("qr", MATRIX, "");
    let (a1, a2) = ([2.0, 1.0, 2.0], [-1.0, 3.0, 0.5]);
    // R₁₂ = a₁·a₂/|a₁|: its gradient is (a₂ - R₁₂ q₁)/|a₁| with respect to a₁, and q₁ with respect to a₂.
    let r12 = 2.0 / 3.0;
    let mut expected = [0.0; 9];
    for n in 0..3 {
        expected[n] = (a2[n] - r12 * a1[n] / 3.0) / 3.0;
        expected[n + 3] = a1[n] / 3.0;
    }
    has_gradient(qr, "R[1,2]", &[("A", &expected)]);
    for loss in ["Q", "R"] {
        for report in gradient(qr, &["--loss", loss, "--jacobian", "--wrt", "A", "--check"]) {
            let checks = report["checks"].as_array().expect("checks");
            assert_eq!(checks.len(), 81);
            for check in checks {
                close(&numbers(&check["adjoint"]), &numbers(&check["tangent"]), &check.to_string());
            }
        }
    }
}
