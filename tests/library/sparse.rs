//! The module `sparse`.

use super::*;

/// A sparse matrix with about this share of its elements.
fn sparse(m: usize, n: usize, share: f64, seed: u64, complex: bool) -> Sparse {
    let (chance, values) = (some(m * n, seed), some(2 * m * n, seed + 100));
    let mut out = Sparse { m, n, colptr: vec![1], rowval: Vec::new(), nzval: Vec::new(), complex };
    for j in 0..n {
        for i in 0..m {
            let k = i + j * m;
            if (chance[k] + 2.0) / 4.0 < share {
                out.rowval.push(i as i64 + 1);
                let width = if complex { 2 } else { 1 };
                out.nzval.extend(&values[2 * k..2 * k + width]);
            }
        }
        out.colptr.push(out.rowval.len() as i64 + 1);
    }
    out
}

impl Sparse {
    /// Row, column, and where in `nzval` the value is.
    fn entries(&self) -> Vec<(usize, usize, usize)> {
        let column = |j: usize| self.colptr[j] as usize - 1..self.colptr[j + 1] as usize - 1;
        (0..self.n).flat_map(|j| column(j).map(move |k| (self.rowval[k] as usize - 1, j, k))).collect()
    }

    /// Pairs of places where two matrices hold the same element.
    fn common(&self, other: &Sparse) -> Vec<(usize, usize)> {
        let places: BTreeMap<(usize, usize), usize> =
            other.entries().into_iter().map(|(i, j, k)| ((i, j), k)).collect();
        self.entries().into_iter().filter_map(|(i, j, k)| Some((k, *places.get(&(i, j))?))).collect()
    }
}

const SPARSE: [(usize, usize, f64, f64); 9] = [
    (0, 0, 1.0, 1.0),
    (1, 1, 1.0, 1.0),
    (3, 0, 1.0, 1.0),
    (4, 3, 0.0, 1.0),
    (4, 3, 1.0, 1.0),
    (6, 4, 0.5, 0.5),
    (6, 4, 0.2, 0.7),
    (7, 3, 0.7, 0.2),
    (9, 5, 0.3, 0.3),
];

#[test]
fn inner_products_of_sparse_matrices() {
    for (seed, (m, n, p, q)) in SPARSE.into_iter().enumerate() {
        let (a, b) = (sparse(m, n, p, seed as u64, false), sparse(m, n, q, seed as u64 + 50, false));
        let common = a.common(&b);
        let args = [("r!", Arg::Real(0.5)), ("A", Arg::Sparse(a)), ("B", Arg::Sparse(b))];
        case("sparse", "sparse_dot!(r!, A, B)", args)
            .differentiates(&["r!"], |a| a[0][0] += common.iter().map(|(k, l)| a[1][*k] * a[2][*l]).sum::<f64>());
        let (a, b) = (sparse(m, n, p, seed as u64, true), sparse(m, n, q, seed as u64 + 50, true));
        let common = a.common(&b);
        let args = [("r!", Arg::Complex(0.5, 1.0)), ("A", Arg::Sparse(a)), ("B", Arg::Sparse(b))];
        case("sparse", "sparse_dot!(r!, A, B)", args).agrees(|a| {
            for (k, l) in &common {
                let (x, y) = (a[1][2 * k..2 * k + 2].to_vec(), a[2][2 * l..2 * l + 2].to_vec());
                add(&mut a[0], &[x[0] * y[0] + x[1] * y[1], x[0] * y[1] - x[1] * y[0]]);
            }
        });
    }
}

#[test]
fn products_of_sparse_matrices() {
    for (seed, (m, n, share, _)) in SPARSE.into_iter().enumerate() {
        let a = sparse(m, n, share, seed as u64, false);
        let entries = a.entries();
        let args = [("y!", reals(m, 1)), ("A", Arg::Sparse(a.clone())), ("x", reals(n, 2))];
        case("sparse", "sparse_mul!(y!, A, x)", args)
            .differentiates(&["y!"], |a| entries.iter().for_each(|(i, j, k)| a[0][*i] += a[1][*k] * a[2][*j]));
        let args = [("y!", reals(n, 1)), ("A", Arg::Sparse(a.clone())), ("x", reals(m, 2))];
        case("sparse", "sparse_tmul!(y!, A, x)", args)
            .differentiates(&["y!"], |a| entries.iter().for_each(|(i, j, k)| a[0][*j] += a[1][*k] * a[2][*i]));
        let args = [("y!", matrix(m, 2, 1)), ("A", Arg::Sparse(a)), ("x", matrix(n, 2, 2))];
        case("sparse", "sparse_mul!(y!, A, x)", args).differentiates(&["y!"], |a| {
            for (i, j, k) in &entries {
                for l in 0..2 {
                    a[0][i + l * m] += a[1][*k] * a[2][j + l * n];
                }
            }
        });
    }
    let a = sparse(4, 3, 0.6, 3, true);
    let entries = a.entries();
    let args = [("y!", Arg::Complexes(some(6, 1))), ("A", Arg::Sparse(a)), ("x", Arg::Complexes(some(8, 2)))];
    case("sparse", "sparse_tmul!(y!, A, x)", args).agrees(|a| {
        for (i, j, k) in &entries {
            let (v, x) = (a[1][2 * k..2 * k + 2].to_vec(), a[2][2 * i..2 * i + 2].to_vec());
            add(&mut a[0][2 * j..2 * j + 2], &[v[0] * x[0] + v[1] * x[1], v[0] * x[1] - v[1] * x[0]]);
        }
    });
}
