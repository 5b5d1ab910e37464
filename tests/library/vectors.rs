//! The module `vectors`.

use super::*;

#[test]
fn sums_and_norms() {
    for n in SIZES {
        let x = reals(n, 1);
        let of_one = |f: &str| case("vectors", f, [("s!", Arg::Real(0.5)), ("x", x.clone())]);
        of_one("vsum!(s!, x)").differentiates(&["s!"], |a| a[0][0] += a[1].iter().sum::<f64>());
        of_one("norm1!(s!, x)").differentiates(&["s!"], |a| a[0][0] += a[1].iter().map(|x| x.abs()).sum::<f64>());
        of_one("norm2!(s!, x)").differentiates(&["s!"], |a| a[0][0] += a[1].iter().map(|x| x * x).sum::<f64>());
        let norm = |a: &mut [Vec<f64>]| a[0][0] += a[1].iter().map(|x| x * x).sum::<f64>().sqrt();
        if n == 0 {
            of_one("norm!(s!, x)").agrees(norm);
        } else {
            of_one("norm!(s!, x)").differentiates(&["s!"], norm);
        }
        let of_two = |f: &str| case("vectors", f, [("s!", Arg::Real(-1.5)), ("x", x.clone()), ("y", reals(n, 2))]);
        let dot = |a: &mut [Vec<f64>]| a[0][0] += a[1].iter().zip(&a[2]).map(|(x, y)| x * y).sum::<f64>();
        of_two("dot!(s!, x, y)").differentiates(&["s!"], dot);
        of_two("dot!(s!, x, x)").differentiates(&["s!"], |a| a[0][0] += a[1].iter().map(|x| x * x).sum::<f64>());
        let distance = |a: &mut [Vec<f64>]| {
            a[0][0] += a[1].iter().zip(&a[2]).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt();
        };
        if n == 0 {
            of_two("distance!(s!, x, y)").agrees(distance);
        } else {
            of_two("distance!(s!, x, y)").differentiates(&["s!"], distance);
        }
    }
    let sum = case("vectors", "vsum!(s!, A)", [("s!", Arg::Real(0.5)), ("A", matrix(3, 2, 4))]);
    sum.differentiates(&["s!"], |a| a[0][0] += a[1].iter().sum::<f64>());
    // A row of a matrix is a vector, too.
    let row = case("vectors", "vsum!(s!, A[2, :])", [("s!", Arg::Real(0.5)), ("A", matrix(3, 2, 4))]);
    row.differentiates(&["s!"], |a| a[0][0] += a[1][1] + a[1][4]);
}

#[test]
fn vectors_in_place() {
    for n in SIZES {
        let one = |f: &str| case("vectors", f, [("x!", reals(n, 3))]);
        one("cumsum!(x!)").differentiates(&["x!"], |a| {
            let sums = (1..=n).map(|k| a[0][..k].iter().sum()).collect();
            a[0] = sums;
        });
        one("reverse!(x!)").differentiates(&["x!"], |a| a[0].reverse());
        one("reverse!(x!)\n    reverse!(x!)").agrees(|_| ());
        let axpy = |y: Arg, x: Arg| {
            let case = case("vectors", "axpy!(y!, a, x)", [("y!", y), ("a", Arg::Real(-1.25)), ("x", x)]);
            case.differentiates(&["y!"], |a| {
                let sum: Vec<f64> = a[2].iter().map(|x| a[1][0] * x).collect();
                add(&mut a[0], &sum);
            });
        };
        axpy(reals(n, 4), reals(n, 5));
        axpy(matrix(n, 2, 4), matrix(n, 2, 5));
    }
}

#[test]
fn vectors_of_complex_numbers() {
    let (x, y) = (some(6, 11), some(6, 12));
    let args = [("s!", Arg::Complex(0.5, 1.0)), ("x", Arg::Complexes(x.clone())), ("y", Arg::Complexes(y.clone()))];
    case("vectors", "dot!(s!, x, y)", args).agrees(|a| {
        for (x, y) in x.chunks(2).zip(y.chunks(2)) {
            a[0][0] += x[0] * y[0] + x[1] * y[1];
            a[0][1] += x[0] * y[1] - x[1] * y[0];
        }
    });
    let square = x.iter().map(|x| x * x).sum::<f64>();
    let one = |f: &str| case("vectors", f, [("s!", Arg::Real(0.5)), ("x", Arg::Complexes(x.clone()))]);
    one("norm2!(s!, x)").agrees(|a| a[0][0] += square);
    one("norm!(s!, x)").agrees(|a| a[0][0] += square.sqrt());
    one("norm1!(s!, x)").agrees(|a| a[0][0] += x.chunks(2).map(|x| x[0].hypot(x[1])).sum::<f64>());
    let args = [("y!", Arg::Complexes(y)), ("a", Arg::Complex(0.5, -2.0)), ("x", Arg::Complexes(x))];
    case("vectors", "axpy!(y!, a, x)", args).agrees(|a| {
        for k in 0..3 {
            let (re, im) = (a[2][2 * k], a[2][2 * k + 1]);
            add(&mut a[0][2 * k..2 * k + 2], &[0.5 * re + 2.0 * im, 0.5 * im - 2.0 * re]);
        }
    });
}

#[test]
fn products_of_logarithmic_numbers() {
    for x in [vec![], vec![3.0], vec![3.0, -5.0, 0.25]] {
        let case = case("vectors", "vprod!(p!, x)", [("p!", Arg::Log(2.0)), ("x", Arg::Reals(x))]);
        let oracle = |a: &mut [Vec<f64>]| a[0][0] *= a[1].iter().product::<f64>();
        // Gradient words of logarithmic numbers are fixed-point numbers.
        let tolerance = Tolerance { derivative: 1e-8, ..FLOAT };
        case.run_forward_and_back("Float64", FLOAT, &oracle);
        case.run_forward_and_back("Fixed", FIXED, &oracle);
        case.derivatives("Float64", tolerance, &["p!"], &oracle);
        case.derivatives("Fixed", FIXED, &["p!"], &oracle);
    }
    let zero = case("vectors", "vprod!(p!, x)", [("p!", Arg::Log(2.0)), ("x", Arg::Reals(vec![1.0, 0.0]))]);
    assert_eq!(zero.traps("Float64"), Fault::LogZero);
}

#[test]
fn shapes_must_fit() {
    let (x, y) = (("x", reals(3, 1)), ("y", reals(2, 2)));
    for body in ["dot!(s!, x, y)", "distance!(s!, x, y)"] {
        let fault = case("vectors", body, [("s!", Arg::Real(0.0)), x.clone(), y.clone()]).traps("Fixed");
        assert!(matches!(fault, Fault::Assert), "{body}: {fault:?}");
    }
    for (module, body) in [
        ("matrices", "matvec!(x, A!, y)"),
        ("matrices", "outer!(A!, x, x)"),
        ("matrices", "unitary!(x, y)"),
        ("sorting", "permute!(x, k)"),
        ("dynamics", "leapfrog!(x, y, spring!, 1.0, 0.5, 1)"),
    ] {
        let args = [x.clone(), y.clone(), ("A!", matrix(2, 2, 3)), ("k", Arg::Ints(vec![1, 2]))];
        let fault = case(module, body, args).traps("Float64");
        assert!(matches!(fault, Fault::Assert), "{body}: {fault:?}");
    }
}

/// Indices that come from data, and records that are undone, are checked: nothing outside of an array is changed.
#[test]
fn indices_from_data_are_checked() {
    let matrix = |colptr: &[i64], rowval: &[i64]| {
        let nzval = vec![5.0, 6.0];
        Arg::Sparse(Sparse { m: 2, n: 2, colptr: colptr.to_vec(), rowval: rowval.to_vec(), nzval, complex: false })
    };
    let (row, below, columns) = (matrix(&[1, 2, 3], &[1, 7]), matrix(&[1, 2, 3], &[0, 1]), matrix(&[1, 2, 9], &[1, 2]));
    for a in [row, below, columns.clone()] {
        for body in ["sparse_mul!(y!, A, x)", "sparse_tmul!(y!, A, x)"] {
            let args = [("y!", reals(2, 1)), ("A", a.clone()), ("x", reals(2, 2))];
            let fault = case("sparse", body, args).traps("Float64");
            assert!(matches!(fault, Fault::Assert), "{body}: {fault:?}");
        }
    }
    let good = matrix(&[1, 2, 3], &[1, 2]);
    for (module, body) in [
        ("sparse", "sparse_dot!(r!, A, B)"),
        ("sparse", "sparse_dot!(r!, B, A)"),
        ("sparse", "sparse_column_dot!(r!, k, x, j, x)"),
        ("sorting", "merge_runs!(x, k, y, k2, 1)"),
        ("sorting", "merge_runs!(x, j, x2, k, 1)"),
        ("sorting", "(~merge_runs!)(x, ones, x2, k, 1)"),
        ("statistics", "greatest_record!(n, k, y)"),
        ("statistics", "greatest_record!(five, k, x)"),
    ] {
        let args = [
            ("r!", Arg::Real(0.0)),
            ("A", columns.clone()),
            ("B", good.clone()),
            ("x", reals(2, 1)),
            ("x2", Arg::Reals(vec![0.0, 0.0])),
            ("y", reals(3, 2)),
            ("k", Arg::Ints(vec![0, 0])),
            ("k2", Arg::Ints(vec![1, 2])),
            ("j", Arg::Ints(vec![1])),
            ("ones", Arg::Ints(vec![1, 1])),
            ("n", Arg::Int(0)),
            ("five", Arg::Int(5)),
        ];
        let fault = case(module, body, args).traps("Float64");
        assert!(matches!(fault, Fault::Assert), "{body}: {fault:?}");
    }
}
