//! `--taylor` and `--hessian=sweep`.

use super::*;

/// y += exp(x)·x, z += x/(1 − x) with ancillas.
const SERIES: &str = "
        .data
        .import x, w
        .export y, z
x:      .double 0
w:      .double 2, 3
y:      .double 0
z:      .double 0
        .text
main:   start
        add.f   r1, [x]
        addexp.f r2, r1
        addmul.f [y], r1, r2
        subexp.f r2, r1
        add.f   r3, 1
        sub.f   r3, r1
        adddiv.f [z], r1, r3
        add.f   r3, r1
        sub.f   r3, 1
        sub.f   r1, [x]
        finish
";

/// y += a² in fixed point.
const SQUARE: &str = "
        .data
        .import a
        .export y
a:      .fixed  3
y:      .fixed  0
        .text
main:   start
        add.q   r1, [a]
        addmul.q [y], r1, r1
        sub.q   r1, [a]
        finish
";

#[test]
fn series_along_a_direction() {
    // x·eˣ: 1/(k − 1)!; x/(1 − x): 1.
    let expected = "along x = 1.0
y
  t^0  0
  t^1  1
  t^2  1
  t^3  0.5
  t^4  0.16666666666666666
z
  t^0  0
  t^1  1
  t^2  1
  t^3  1
  t^4  1
";
    prints(&["-", "--taylor", "4", "--wrt", "x"], SERIES, expected);
    prints(&["-", "--taylor", "4", "--direction", "x=1"], SERIES, expected);
    prints(
        &["-", "--taylor", "2", "--loss", "z", "--direction", "x=-2", "--direction", "w=[1, 0]"],
        SERIES,
        "along x = -2.0, w[0] = 1.0, w[1] = 0.0\nz\n  t^0  0\n  t^1  -2\n  t^2  4\n",
    );
    prints(&["-", "--taylor", "3"], SQUARE, "along a = 1.0\ny\n  t^0  9.0\n  t^1  6.0\n  t^2  1.0\n  t^3  0.0\n");
    let (code, value) = as_json(&["-", "--taylor", "2", "--direction", "a=0.5", "--json", "--drift"], SQUARE);
    assert_eq!((code, &value["restored"], &value["ran_by"]), (0, &json!(true), &json!(["interpreter"])), "{value}");
    let expected = json!({
        "order": 2, "direction": [{ "name": "a", "rate": "0.5" }], "restored": true,
        "results": [{ "name": "y", "coefficients": ["9.0", "3.0", "0.25"] }],
    });
    assert_eq!(value["taylor"], expected);
    assert!(value.get("losses").is_none() && value.get("drift").is_none(), "{value}");
}

/// Coefficients of logarithmic numbers are those of the numbers, not of their logarithms.
#[test]
fn series_of_logarithmic_numbers() {
    // y = a²·b with a = 3 + 2t, b = −2.
    let (code, value) = as_json(&["-", "--taylor", "3", "--direction", "a=2", "--json"], LOGARITHMS);
    assert_eq!(code, 0, "{value}");
    let found = value["taylor"]["results"][0]["coefficients"].as_array().expect("coefficients");
    let numbers: Vec<f64> = found.iter().map(|c| c.as_str().expect("fixed point").parse().expect("a number")).collect();
    for (a, b) in numbers.iter().zip([-18.0, -24.0, -8.0, 0.0]) {
        assert!((a - b).abs() < 1e-7, "{numbers:?}");
    }
    // A product of logarithmic numbers: y = a·b along both.
    let product = "
        .data
        .import a, b
        .export y
a:      .log    3
b:      .log    -2
y:      .log    1
        .text
main:   start
        exch    r1, [a]
        mul.l   [y], r1
        exch    r1, [a]
        exch    r1, [b]
        mul.l   [y], r1
        exch    r1, [b]
        finish
";
    let args = ["-", "--taylor", "3", "--direction", "a=1", "--direction", "b=0.5", "--json"];
    let (code, value) = as_json(&args, product);
    assert_eq!(code, 0, "{value}");
    let found = value["taylor"]["results"][0]["coefficients"].as_array().expect("coefficients");
    for (a, b) in found[1..].iter().zip([-0.5, 0.5, 0.0]) {
        assert!((a.as_f64().expect("a double") - b).abs() < 1e-7, "{value}");
    }
}

#[test]
fn directions_that_do_not_fit() {
    let base = |more: &[&'static str]| [&["-", "--taylor", "3"], more].concat();
    refuses(
        &base(&[]),
        SERIES,
        2,
        "error: --direction: the direction is not given, and the inputs have several words (x, w): say how they move, as `x=1`\n",
    );
    for (given, why) in [
        ("x", "`x` is not of the form NAME=NUMBER"),
        ("x=one", "`x=one` has `one`, which is no floating-point number"),
        ("x=inf", "has `inf`, which is"),
        ("w=[1]", "`w=[1]` has 1 numbers for 2 words"),
        ("q=1", "there is no register or data symbol `q`"),
        ("r1=1", "`r1` is read as an integer, which has no gradient"),
    ] {
        refuses(&base(&["--direction", given]), SERIES, 2, why);
    }
    refuses(&base(&["--direction", "x=1", "--direction", "x=2"]), SERIES, 2, "the direction names `x` twice");
    refuses(&["-", "--taylor", "0"], SERIES, 2, "0 is not in 1..=64");
    refuses(&["-", "--taylor", "65"], SERIES, 2, "65 is not in 1..=64");
    refuses(&["-", "--direction", "x=1"], SERIES, 2, "--taylor");
    refuses(&["-", "--taylor", "2", "--hessian"], SERIES, 2, "cannot be used with");
    refuses(&["-", "--hessian=backward"], SERIES, 2, "invalid value 'backward'");
    // A derivative that does not exist stops the run as those of gradients do.
    let arc = SQUARE.replace("addmul.q [y], r1, r1", "addasin.q [y], r1").replace(".fixed  3", ".fixed  1");
    refuses(&["-", "--taylor", "2"], &arc, 1, "error[P0113]: division by zero");
    refuses(&["-"], &arc, 1, "error[P0113]: division by zero");
}

#[test]
fn coefficients_that_overflow() {
    let (code, out, err) = grad(&["-", "--taylor", "1", "--direction", "a=2e9"], SQUARE);
    assert_eq!(code, 1, "{out}\n{err}");
    assert!(err.contains("error[P0131]") && out.contains("FAILED: a coefficient overflowed"), "{out}\n{err}");
    let (code, value) = as_json(&["-", "--taylor", "1", "--direction", "a=2e9", "--json"], SQUARE);
    assert_eq!((code, &value["outcome"]["kind"]), (1, &json!("overflow")), "{value}");
}

/// Words of which only neighbours interact: the matrix is sparse, and so is what is printed.
#[test]
fn sweeps_print_what_is_not_zero() {
    let chain = "
        .data
        .import x
        .export y
x:      .double 1, 2, 3, 4
y:      .double 0
        .text
main:   start
        exch    r1, [x]
        exch    r2, [x+1]
        addmul.f [y], r1, r2
        exch    r1, [x]
        exch    r1, [x+2]
        addmul.f [y], r1, r2
        addmul.f [y], r1, r1
        exch    r1, [x+2]
        exch    r2, [x+1]
        finish
";
    prints(
        &["-", "--hessian=sweep"],
        chain,
        "y    = 17.0
∂/∂x = [2.0, 4.0, 8.0, 0.0]
∂²/∂x[0]∂x[1] = 1
∂²/∂x[1]∂x[2] = 1
∂²/∂x[2]²     = 2
3 of 10 second derivatives are not zero
",
    );
    let (code, value) = as_json(&["-", "--hessian=sweep", "--json", "--check"], chain);
    assert_eq!((code, &value["hessian_difference"]), (0, &json!(0.0)), "{value}");
    let entries = json!([
        { "row": 0, "column": 1, "value": 1.0 }, { "row": 1, "column": 2, "value": 1.0 },
        { "row": 2, "column": 2, "value": 2.0 },
    ]);
    assert_eq!(value["hessian"], json!({ "words": ["x[0]", "x[1]", "x[2]", "x[3]"], "entries": entries }));
}

/// On the examples, the two ways agree, whatever the number system: what one prints in rows, the other has in entries.
#[test]
fn sweeps_agree_with_forward_over_reverse_on_examples() {
    let examples: &[&[&str]] = &[
        &["examples/bessel.rasm"],
        &["examples/bessel-q.rasm"],
        &["examples/norm.rasm"],
        &["examples/power.rasm"],
        &["examples/sparse-dot.rasm"],
        &["examples/bessel.nil", "--args", "0.0,2,1.0"],
        &["examples/bessel-log.nil", "--args", "0.0,2,1.0"],
        &["examples/norm.nil", "--args", "0.0,0.0,[3.0,4.0,1.0]", "--loss", "out", "--wrt", "x"],
        &["examples/complex-log.rasm", "--loss", "re"],
        &["examples/network.rasm"],
        &["examples/rotations.rasm"],
        &["examples/affine.nil"],
        &["-"],
    ];
    let mut met = 0;
    for args in examples {
        let (code, rows) = as_json(&[args, &["--hessian", "--json"][..]].concat(), LOGARITHMS);
        if code != 0 {
            continue;
        }
        met += 1;
        let (code, sweep) = as_json(&[args, &["--hessian=sweep", "--json", "--check"][..]].concat(), LOGARITHMS);
        assert_eq!(code, 0, "{args:?}: {sweep}");
        let rows = rows["hessian"]["rows"].as_array().expect("rows").clone();
        let mut found = vec![vec![json!(0.0); rows.len()]; rows.len()];
        for entry in sweep["hessian"]["entries"].as_array().expect("entries") {
            let at = |key: &str| entry[key].as_u64().expect("an index") as usize;
            found[at("row")][at("column")] = entry["value"].clone();
            found[at("column")][at("row")] = entry["value"].clone();
        }
        let scale = rows.iter().flat_map(|r| r.as_array().expect("a row")).filter_map(Value::as_f64);
        let scale = scale.fold(1.0, |s: f64, x| s.max(x.abs()));
        for (row, found) in rows.iter().zip(&found) {
            for (a, b) in row.as_array().expect("a row").iter().zip(found) {
                let near = a == b || (a.as_f64().unwrap_or(0.0) - b.as_f64().unwrap_or(f64::NAN)).abs() <= 1e-5 * scale;
                assert!(near, "{args:?}: {a} {b}");
            }
        }
    }
    assert!(met >= 7, "{met}");
}

/// With a space, the value would be the file.
#[test]
fn a_value_of_hessian_behind_a_space() {
    for args in [["--hessian", "sweep", "-"], ["-", "--hessian", "sweep"]] {
        let (code, _, err) = grad(&args, SQUARE);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("tip: the value of `--hessian` follows an equals sign: `--hessian=sweep`"), "{err}");
    }
}
