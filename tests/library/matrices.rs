//! The module `matrices`.

use super::*;

#[test]
fn products_of_matrices() {
    for (m, n) in [(0, 0), (1, 1), (2, 3), (3, 2), (4, 4), (1, 5), (0, 3), (3, 0)] {
        let (a, x, y) = (("A", matrix(m, n, 1)), ("x", reals(n, 2)), ("y!", reals(m, 3)));
        case("matrices", "matvec!(y!, A, x)", [y.clone(), a.clone(), x.clone()]).differentiates(&["y!"], |a| {
            let p = product(&a[1], &a[2], m, n, 1);
            add(&mut a[0], &p);
        });
        let args = [("y!", reals(n, 3)), a.clone(), ("x", reals(m, 2))];
        case("matrices", "matvec!(y!, A', x)", args).differentiates(&["y!"], |a| {
            let p = product(&transposed(&a[1], m, n), &a[2], n, m, 1);
            add(&mut a[0], &p);
        });
        let args = [y, a, ("b", reals(m, 4)), x];
        case("matrices", "affine!(y!, A, b, x)", args).differentiates(&["y!"], |a| {
            let p = product(&a[1], &a[3], m, n, 1);
            add(&mut a[0], &p);
            let b = a[2].clone();
            add(&mut a[0], &b);
        });
        let args = [("A!", matrix(m, n, 5)), ("x", reals(m, 6)), ("y", reals(n, 7))];
        case("matrices", "outer!(A!, x, y)", args).differentiates(&["A!"], |a| {
            let p = product(&a[1], &a[2], m, 1, n);
            add(&mut a[0], &p);
        });
    }
    for (m, k, n) in [(1, 1, 1), (2, 3, 2), (3, 1, 4), (2, 0, 2), (0, 2, 1)] {
        let args = [("C!", matrix(m, n, 1)), ("A", matrix(m, k, 2)), ("B", matrix(k, n, 3))];
        case("matrices", "matmul!(C!, A, B)", args).differentiates(&["C!"], |a| {
            let p = product(&a[1], &a[2], m, k, n);
            add(&mut a[0], &p);
        });
        let args = [("C!", matrix(m, n, 1)), ("A", matrix(k, m, 2)), ("B", matrix(n, k, 3))];
        case("matrices", "matmul!(C!, A', B')", args).differentiates(&["C!"], |a| {
            let p = product(&transposed(&a[1], k, m), &transposed(&a[2], n, k), m, k, n);
            add(&mut a[0], &p);
        });
    }
}

#[test]
fn products_of_complex_matrices() {
    let body = "A ← zeros(T, 2, 2)
    for i = 1:4
        A[i] += a[i]
    end
    matvec!(y!, A, x)
    for i = 1:4
        A[i] -= a[i]
    end
    A → zeros(T, 2, 2)";
    for t in ["Float64", "Fixed"] {
        let body = body.replace('T', &format!("Complex{{{t}}}"));
        let (a, x) = (some(8, 1), some(4, 2));
        let args =
            [("y!", Arg::Complexes(vec![0.5; 4])), ("a", Arg::Complexes(a.clone())), ("x", Arg::Complexes(x.clone()))];
        let tolerance = if t == "Fixed" { FIXED } else { FLOAT };
        case("matrices", &body, args).run_forward_and_back(t, tolerance, &|args| {
            for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let (ar, ai) = (a[2 * (i + 2 * j)], a[2 * (i + 2 * j) + 1]);
                let (xr, xi) = (x[2 * j], x[2 * j + 1]);
                add(&mut args[0][2 * i..2 * i + 2], &[ar * xr - ai * xi, ar * xi + ai * xr]);
            }
        });
    }
}

/// The rotations of `unitary!`.
fn rotate(x: &mut [f64], angles: &[f64]) {
    let mut angles = angles.iter();
    for j in 0..x.len().saturating_sub(1) {
        for i in (j..x.len() - 1).rev() {
            let (s, c) = angles.next().expect("an angle").sin_cos();
            (x[i], x[i + 1]) = (x[i] * c - x[i + 1] * s, x[i] * s + x[i + 1] * c);
        }
    }
}

#[test]
fn products_of_rotations() {
    for m in [0_usize, 1, 2, 3, 5] {
        let angles = reals(m * m.saturating_sub(1) / 2, 1);
        let vector = case("matrices", "unitary!(x!, θ)", [("x!", reals(m, 2)), ("θ", angles.clone())]);
        vector.differentiates(&["x!"], |a| {
            let angles = a[1].clone();
            rotate(&mut a[0], &angles);
        });
        let columns = case("matrices", "unitary!(x!, θ)", [("x!", matrix(m, 2, 3)), ("θ", angles)]);
        columns.differentiates(&["x!"], |a| {
            let angles = a[1].clone();
            for column in a[0].chunks_mut(m.max(1)) {
                rotate(column, &angles);
            }
        });
    }
}

/// R of the QR decomposition with det Q = 1 and a diagonal that is not negative, but for its last element: by
/// Gram and Schmidt's orthogonal vectors.
fn upper(a: &[f64], m: usize, n: usize) -> Vec<f64> {
    let k = m.min(n);
    let column = |j: usize| a[j * m..(j + 1) * m].to_vec();
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let mut q: Vec<Vec<f64>> = Vec::new();
    for j in 0..k {
        let mut v = column(j);
        for u in &q {
            let c = dot(u, &v);
            v.iter_mut().zip(u).for_each(|(v, u)| *v -= c * u);
        }
        let norm = dot(&v, &v).sqrt();
        q.push(v.iter().map(|v| v / norm).collect());
    }
    if m == k && determinant(&q) < 0.0 {
        q[k - 1].iter_mut().for_each(|x| *x = -*x);
    }
    let mut r = vec![0.0; m * n];
    for j in 0..n {
        for (i, u) in q.iter().enumerate().take(j + 1) {
            r[i + j * m] = dot(u, &column(j));
        }
    }
    r
}

fn determinant(rows: &[Vec<f64>]) -> f64 {
    match rows {
        [] => 1.0,
        [first, rest @ ..] => (0..first.len())
            .map(|j| {
                let minor: Vec<Vec<f64>> = rest
                    .iter()
                    .map(|r| r.iter().enumerate().filter(|(l, _)| *l != j).map(|(_, x)| *x).collect())
                    .collect();
                let sign = if j % 2 == 0 { 1.0 } else { -1.0 };
                sign * first[j] * determinant(&minor)
            })
            .sum(),
    }
}

#[test]
fn qr_decomposition() {
    // Well-conditioned matrices, so that derivatives stay small.
    let regular = |m: usize, n: usize| {
        let mut a = some(m * n, 7);
        (0..m.min(n)).for_each(|i| a[i + i * m] += 4.0);
        Arg::Matrix(m, n, a)
    };
    for (m, n) in [(1, 1), (2, 2), (3, 2), (2, 3), (4, 4), (1, 3), (5, 1), (0, 0), (0, 2)] {
        let args = [("A!", regular(m, n)), ("θ!", Arg::Matrix(m, n, vec![0.0; m * n]))];
        // What the angles are is seen in what they do: Q R is A again.
        let of = |body: &str| Case { constant: vec!["θ!"], ..case("matrices", body, args.clone()) };
        of("qr!(A!, θ!)").differentiates(&["A!"], |a| {
            a[0] = upper(&a[0], m, n);
            a[1].fill(f64::NAN);
        });
        of("qr!(A!, θ!)\n    q_mul!(A!, θ!)").differentiates(&["A!"], |a| a[1].fill(f64::NAN));
        let args = [args[0].clone(), args[1].clone(), ("x!", reals(m, 3))];
        case("matrices", "qr!(A!, θ!)\n    q_mul!(x!, θ!)\n    (~qr!)(A!, θ!)", args).agrees(|a| {
            // Qᵀ A = R, so that Q times column j of R is column j of A: of x, a combination of the columns of Q.
            let (a0, x) = (a[0].clone(), a[2].clone());
            if m > 0 && m <= n {
                let r = upper(&a0, m, n);
                let mut y = x;
                // R z = x by back substitution; then Q x = A z.
                for i in (0..m).rev() {
                    y[i] = (y[i] - (i + 1..m).map(|j| r[i + j * m] * y[j]).sum::<f64>()) / r[i + i * m];
                }
                a[2] = product(&a0[..m * m], &y, m, m, 1);
            } else {
                a[2].fill(f64::NAN);
            }
        });
    }
}
