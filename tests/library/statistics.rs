//! The module `statistics`.

use super::*;

fn log_sum_exp(x: &[f64]) -> f64 {
    let most = x.iter().copied().fold(f64::MIN, f64::max);
    most + x.iter().map(|x| (x - most).exp()).sum::<f64>().ln()
}

#[test]
fn means_and_variances() {
    for n in [1, 2, 3, 8] {
        let of = |body: &str| case("statistics", body, [("m!", Arg::Real(0.5)), ("x", reals(n, 1))]);
        of("mean!(m!, x)").differentiates(&["m!"], |a| a[0][0] += mean(&a[1]));
        if n == 1 {
            assert!(matches!(of("variance!(m!, x)").traps("Fixed"), Fault::Assert));
            continue;
        }
        of("variance!(m!, x)").differentiates(&["m!"], |a| a[0][0] += variance(&a[1]));
        let args = [("m!", Arg::Real(0.5)), ("v!", Arg::Real(-1.0)), ("x", reals(n, 1))];
        case("statistics", "mean_variance!(m!, v!, x)", args).differentiates(&["m!", "v!"], |a| {
            a[0][0] += mean(&a[2]);
            a[1][0] += variance(&a[2]);
        });
    }
    let nothing = case("statistics", "mean!(m!, x)", [("m!", Arg::Real(0.5)), ("x", reals(0, 1))]);
    assert!(matches!(nothing.traps("Float64"), Fault::Assert));
}

#[test]
fn greatest_elements() {
    for n in [1, 2, 3, 8, 20] {
        for seed in 0..5 {
            let x = some(n, seed);
            let greatest = x.iter().copied().fold(f64::MIN, f64::max);
            let at = x.iter().position(|x| *x == greatest).expect("one");
            let args = [("k!", Arg::Int(10)), ("x", Arg::Reals(x.clone()))];
            case("statistics", "argmax!(k!, x)", args).agrees(|a| a[0][0] += at as f64 + 1.0);
            // The gradient goes to the first of several.
            let args = [("m!", Arg::Real(0.5)), ("x", Arg::Reals(x))];
            case("statistics", "maximum!(m!, x)", args).differentiates(&["m!"], |a| a[0][0] += a[1][at]);
        }
    }
    let rising =
        case("statistics", "argmax!(k!, x)", [("k!", Arg::Int(0)), ("x", Arg::Reals((0..9).map(f64::from).collect()))]);
    rising.agrees(|a| a[0][0] = 9.0);
    let integers = case("statistics", "argmax!(k!, x)", [("k!", Arg::Int(0)), ("x", Arg::Ints(vec![3, 7, 7, -1]))]);
    integers.agrees(|a| a[0][0] = 2.0);
}

#[test]
fn log_sum_exp_and_softmax() {
    for n in [0, 1, 2, 8] {
        let softmax = case("statistics", "softmax!(p!, x)", [("p!", reals(n, 1)), ("x", reals(n, 2))]);
        softmax.differentiates(&["p!"], |a| {
            let p: Vec<f64> = a[1].iter().map(|x| (x - log_sum_exp(&a[1])).exp()).collect();
            add(&mut a[0], &p);
        });
        if n > 0 {
            let sum = case("statistics", "logsumexp!(s!, x)", [("s!", Arg::Real(0.5)), ("x", reals(n, 2))]);
            sum.differentiates(&["s!"], |a| a[0][0] += log_sum_exp(&a[1]));
        }
    }
    // Far beyond what an exponential can hold.
    let sum = case(
        "statistics",
        "logsumexp!(s!, x)",
        [("s!", Arg::Real(0.0)), ("x", Arg::Reals(vec![1000.0, -1000.0, 1001.0]))],
    );
    sum.differentiates(&["s!"], |a| a[0][0] += log_sum_exp(&a[1]));
}

/// A sum that carries what rounding drops.
fn exact_sum(x: impl Iterator<Item = f64>) -> f64 {
    let (sum, rest) = x.fold((0.0_f64, 0.0_f64), |(sum, rest), x| {
        let new = sum + x;
        let lost = if sum.abs() >= x.abs() { (sum - new) + x } else { (x - new) + sum };
        (new, rest + lost)
    });
    sum + rest
}

#[test]
fn the_gradient_of_log_sum_exp_is_the_softmax_of_many_too() {
    let n = 100_000;
    let x: Vec<f64> = (0..n).map(|i| 3.0 * f64::from(i).sin()).collect();
    let sum = case("statistics", "logsumexp!(s!, x)", [("s!", Arg::Real(0.0)), ("x", Arg::Reals(x.clone()))]);
    let program = program(sum.module("Float64", 2));
    let options = grad::Options { loss: Some("s!".into()), wrt: vec!["x".into()], ..grad::Options::default() };
    let mut machine = Machine::new(&program, &Config::default()).expect("a machine");
    let report = grad(&mut machine, &options, to_end).expect("a gradient");
    let found: Vec<f64> = report.losses[0].gradients[0].numbers().into_iter().flatten().collect();
    let greatest = x.iter().copied().fold(f64::MIN, f64::max);
    let whole = exact_sum(x.iter().map(|x| (x - greatest).exp()));
    assert_eq!(found.len(), x.len());
    for (x, found) in x.iter().zip(found) {
        let wanted = (x - greatest).exp() / whole;
        // Of the greatest, too, each derivative is right in its own size.
        assert!((found - wanted).abs() <= 1e-11 * wanted, "at {x}: {found:e}, not {wanted:e}");
    }
}
