//! Every program in Nil under `examples/`, by the command line: forward, backward from its outputs alone, round trip, gradients
//! against what is known of them, the sessions in the headers, and the table in README.md.
//!
//! A header's session is a line with two blanks before `pendula`, a `\` at its end to go on, and below it what is printed, standard
//! output first. `…` stands for anything in a line, or alone for any lines. With `PENDULA_BLESS=1` they are written anew.

use crate::common::command;

use std::collections::BTreeSet;
use std::f64::consts::PI;
use std::fs;
use std::ops::{Add, Div, Mul, Sub};
use std::path::{Path, PathBuf};

use serde_json::Value;

#[allow(dead_code)]
#[path = "../examples/petersen.rs"]
mod petersen;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn pendula(args: &[String]) -> (i32, String, String) {
    command::run(args, "")
}

#[derive(Clone, Copy)]
struct Call {
    name: &'static str,
    /// The entry, if not the last function.
    entry: &'static str,
    args: &'static str,
    types: &'static str,
}

impl Call {
    fn command(self, before: &[&str], after: &[&str]) -> Vec<String> {
        let file = format!("examples/{}.nil", self.name);
        let given = [("--entry", self.entry), ("--args", self.args), ("--types", self.types)];
        let given = given.iter().filter(|(_, value)| !value.is_empty()).flat_map(|(option, value)| [*option, *value]);
        before
            .iter()
            .copied()
            .chain([file.as_str()])
            .chain(given)
            .chain(after.iter().copied())
            .map(String::from)
            .collect()
    }

    /// Runs, and returns standard output. There is nothing to complain about.
    fn output(self, before: &[&str], after: &[&str]) -> String {
        let command = self.command(before, after);
        let (code, out, err) = pendula(&command);
        assert_eq!(code, 0, "{command:?}: {err}");
        let complaint = err.lines().find(|l| l.contains("warning"));
        assert!(complaint.is_none(), "{command:?}: {err}");
        out
    }
}

struct Example {
    call: Call,
    /// What a forward run prints, among other things.
    forward: &'static [&'static str],
    /// What a backward run, given what the forward run printed, prints among other things.
    backward: &'static [&'static str],
}

const fn example(
    name: &'static str,
    entry: &'static str,
    args: &'static str,
    types: &'static str,
    forward: &'static [&'static str],
    backward: &'static [&'static str],
) -> Example {
    Example { call: Call { name, entry, args, types }, forward, backward }
}

const SPARSE: &str = "0.0,(3,2,[1,3,4],[1,3,2],[1.0,2.0,3.0]),(3,2,[1,3,5],[2,3,1,2],[4.0,5.0,6.0,7.0])";
/// A column that is empty in one matrix; the row number read beyond it is one that the other has.
const EMPTY: &str = "0.0,(3,2,[1,1,3],[2,3],[1.0,2.0]),(3,2,[1,3,5],[2,3,1,2],[4.0,5.0,6.0,7.0])";
const PRODUCT: &str = "[(0.0,0.0) (0.0,0.0); (0.0,0.0) (0.0,0.0)],\
    (2,3,[1,2,4,5],[1,1,2,2],[(1.0,1.0),(0.0,2.0),(3.0,0.0),(1.0,-1.0)]),\
    [(1.0,0.0) (1.0,1.0); (2.0,1.0) (0.0,0.0); (0.0,1.0) (0.5,-2.0)],(1.0,0.5),1";
const MATRIX: &str = "[0.0 0.0 0.0; 0.0 0.0 0.0; 0.0 0.0 0.0],[0.0 0.0 0.0; 0.0 0.0 0.0; 0.0 0.0 0.0],\
    [2.0 -1.0 0.0; 1.0 3.0 1.0; 2.0 0.5 -2.0]";
const AFFINE: &str = "[0.0,0.0],[1.0 2.0 3.0; 4.0 5.0 6.0],[0.5,-0.5],[1.0,-1.0,2.0]";
const TURNED: &str = "[1.0 2.0; 2.0 0.0; 3.0 -1.0],[0.1,0.2,0.3]";
const POINTS: &str = "0,[0 1 2 3 4 0 1 2 3 4; 0 0 1 0 0 2 2 3 2 2]";
const NO_PLANETS: &str = "[0,0,0,0,0,0,0,0],0.01,100";
const PLANETS: &str = "Vector{Fixed43},Fixed43,Int";
const LEARN: &str = "Fixed,Fixed,Fixed,Fixed,Int";

const EXAMPLES: &[Example] = &[
    example("multiplier", "", "2,3,5", "", &["y! = 17"], &["y! = 2", "a = 3", "b = 5"]),
    example("multiplier", "", "0,0.1,0.3", "Fixed,Fixed,Fixed", &["y! = 0.03"], &["y! = 0.0"]),
    example(
        "complex-log",
        "",
        "(0.0,0.0),(3.0,4.0)",
        "",
        &["y!.re = 1.6094379124341003", "y!.im = 0.9272952180016122"],
        &["y!.re = 0.0", "y!.im = 0.0"],
    ),
    // The other half plane: log(-1) = iπ.
    example(
        "complex-log",
        "",
        "(0.0,0.0),(-1.0,0.0)",
        "",
        &["y!.re = 0.0", "y!.im = 3.141592653589793"],
        &["y!.im = 0.0"],
    ),
    example("fib", "", "0,100", "", &["n! = 12"], &["n! = 0"]),
    example("fib", "", "0,145", "", &["n! = 13"], &["n! = 0"]),
    example("fib", "rfib", "0,10", "", &["out! = 55"], &["out! = 0"]),
    example("fib", "rrfib", "0,10", "", &["out! = 89"], &["out! = 0"]),
    example("fib", "rrfib", "0,0", "", &["out! = 1"], &["out! = 0"]),
    example("factorial", "", "0,10", "", &["out! = 3628800"], &["out! = 0"]),
    example("factorial", "", "0,20", "", &["out! = 2432902008176640000"], &["out! = 0"]),
    example("factorial", "", "0,0", "", &["out! = 1"], &["out! = 0"]),
    // J₂(1) = 0.11490348493190048, J₀(2.4) = 0.0025076832972438…
    example("bessel", "", "0.0,2,1.0", "", &["out! = 0.1149034849319004"], &["out! = 0.0"]),
    example("bessel-log", "", "0,2,1", "Fixed43,Int,Fixed43", &["y! = 0.1149034849319"], &["y! = 0.0"]),
    example("bessel-log", "", "0,0,2.4", "Fixed43,Int,Fixed43", &["y! = 0.0025076832974"], &["y! = 0.0"]),
    example("exp", "", "0.0,0.5", "", &["out! = 1.6487212707001278"], &["out! = 0.0"]),
    example("exp", "", "0.0,1.6", "", &["out! = 4.953032424395115"], &["out! = 0.0"]),
    example(
        "norm",
        "",
        "0.0,0.0,[1.0,2.0,3.0,4.0,5.0,5.0,1.0]",
        "",
        &["out = 9.0", "out2 = 81.0"],
        &["out = 0.0", "out2 = 0.0"],
    ),
    example("power", "", "0,1.5,10", "Fixed,Fixed,Int", &["out! = 57.6650390625"], &["out! = 0.0"]),
    example("power", "", "0,-0.5,3", "Fixed,Fixed,Int", &["out! = -0.125"], &["out! = 0.0"]),
    example("power", "", "0,0,3", "Fixed,Fixed,Int", &["out! = 0.0"], &["out! = 0.0"]),
    example("affine", "", AFFINE, "", &["y! = [5.5, 10.5]"], &["y! = [0.0, 0.0]"]),
    example("unitary", "", TURNED, "", &["x! = [0.644214468761703"], &[]),
    example(
        "unitary",
        "",
        "[1 2; 2 0; 3 -1],[0.1,0.2,0.3]",
        "Matrix{Fixed},Vector{Fixed}",
        &["x! = [0.6442144688, 0.8314704641, 3.5907721436,"],
        &["x! = [1.0, 2.0, 3.0, 2.0, 0.0, -1.0]"],
    ),
    example("sparse-dot", "", SPARSE, "", &["r = 31.0"], &["r = 0.0"]),
    example("sparse-dot", "", EMPTY, "", &["r = 7.0"], &["r = 0.0"]),
    // conj(2+i) (5+i) + conj(3+i) (7+i)
    example(
        "sparse-dot",
        "",
        "(0.0,0.0),(3,2,[1,3,4],[1,3,2],[(1.0,1.0),(2.0,1.0),(3.0,1.0)]),\
         (3,2,[1,3,5],[2,3,1,2],[(4.0,-1.0),(5.0,1.0),(6.0,2.0),(7.0,1.0)])",
        "",
        &["r.re = 33.0", "r.im = -7.0"],
        &["r.re = 0.0", "r.im = 0.0"],
    ),
    example(
        "sparse-product",
        "",
        PRODUCT,
        "",
        &["C = [-3.5, 4.5, 5.0, 7.5, -1.0, 2.0, -0.25, -3.25]"],
        &["C = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]"],
    ),
    example(
        "embedding",
        "",
        POINTS,
        "Fixed43,Matrix{Fixed43}",
        &["loss! = 1.5896515324569"],
        &["loss! = 0.0", "x = [0.0, 0.0, 1.0, 0.0, 2.0, 1.0, "],
    ),
    example(
        "qr",
        "",
        MATRIX,
        "Matrix{Fixed43},Matrix{Fixed43},Matrix{Fixed43}",
        &["Q = [0.6666666666666, 0.3333333333333,", "R = [3.0, 0.0, 0.0, 0.6666666666664,"],
        &["R = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]", "Q = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]"],
    ),
    example(
        "bennett",
        "",
        "0.0,0,0,1.0,4,4",
        "",
        &["y! = 1.157920892373162e77", "steps! = 2401", "peak! = 14"],
        &["y! = 0.0", "steps! = 0", "peak! = 0"],
    ),
    example("bennett", "", "0.0,0,0,1.0,2,8", "", &["steps! = 6561", "peak! = 10"], &["steps! = 0", "peak! = 0"]),
    example(
        "planets",
        "",
        NO_PLANETS,
        PLANETS,
        &["r! = [0.310863495894", "18.3299460696898, 29.8384527190285]"],
        &["r! = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]"],
    ),
    example(
        "planets",
        "solar_inplace",
        NO_PLANETS,
        PLANETS,
        &["r! = [0.310863495894", "18.3299460696898, 29.8384527190285]"],
        &["r! = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]"],
    ),
    example("consistency", "", "0,1.6,0.3,1,100", LEARN, &["y! = 0.5543552446"], &["y! = 0.0"]),
    example("consistency", "learn1", "0,1.6,0.3,1,100", LEARN, &["y! = 1.6\n"], &["y! = 0.0"]),
];

#[test]
fn forward_and_back_from_the_outputs() {
    for e in EXAMPLES {
        let name = e.call.name;
        for level in ["-O0", "-O2"] {
            let forward = e.call.output(&["run", level], &[]);
            for line in e.forward {
                assert!(forward.contains(line), "{name} {level}: no `{line}` in\n{forward}");
            }
            let set: Vec<String> =
                forward.lines().flat_map(|l| ["--set".to_string(), l.replacen(" = ", "=", 1)]).collect();
            let set: Vec<&str> = set.iter().map(String::as_str).collect();
            let backward = e.call.output(&["run", level, "--reverse"], &set);
            for line in e.backward {
                assert!(backward.contains(line), "{name} {level} --reverse: no `{line}` in\n{backward}");
            }
        }
    }
}

#[test]
fn round_trips_restore_the_state() {
    for e in EXAMPLES {
        for level in ["-O0", "-O2"] {
            let text = e.call.output(&["run", "--round-trip", "--drift", level], &[]);
            let exact = text.contains("the state was restored, all");
            let rounded = e.call.types.is_empty() && text.contains("restored but for the rounding");
            assert!(exact || rounded, "{} {level}: {text}", e.call.name);
        }
    }
}

/// `pendula grad --json`, at both levels of optimisation.
fn gradient(call: Call, more: &[&str]) -> Vec<Value> {
    let one = |level| {
        let out = call.output(&["grad", "--json", level], more);
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{}: {e}: {out}", call.name))
    };
    vec![one("-O0"), one("-O2")]
}

/// A number or an array of them, a matrix's column by column, as programs have them; fixed-point numbers are texts.
fn numbers(value: &Value) -> Vec<f64> {
    let one = |v: &Value| {
        let number = v.as_f64().or_else(|| v.as_str()?.parse().ok());
        number.unwrap_or_else(|| panic!("{v} is no number"))
    };
    let element = |v: &Value| if v.is_object() { vec![one(&v["re"]), one(&v["im"])] } else { vec![one(v)] };
    match value.as_array() {
        None => element(value),
        Some(rows) if rows.first().is_some_and(Value::is_array) => {
            let columns = rows[0].as_array().map_or(0, Vec::len);
            (0..columns).flat_map(|c| rows.iter().flat_map(move |row| element(&row[c]))).collect()
        }
        Some(list) => list.iter().flat_map(element).collect(),
    }
}

/// Numbers agree up to 1e-9, or as much of themselves.
fn close(found: &[f64], expected: &[f64], what: &str) {
    within(1e-9, found, expected, what);
}

fn within(bound: f64, found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: {found:?}, not {expected:?}");
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() <= bound * e.abs().max(1.0), "{what}: {found:?}, not {expected:?}");
    }
}

/// The gradient with respect to each of `inputs`.
fn has_gradient(call: Call, loss: &str, inputs: &[(&str, &[f64])]) {
    let names: Vec<&str> = inputs.iter().map(|(name, _)| *name).collect();
    for report in gradient(call, &["--loss", loss, "--wrt", &names.join(",")]) {
        for (name, expected) in inputs {
            let found = numbers(&report["losses"][0]["gradient"][name]);
            close(&found, expected, &format!("{}: d {loss}/d {name}", call.name));
        }
    }
}

/// The first derivative and the second with respect to one number.
fn has_derivatives(call: Call, loss: &str, input: &str, bound: f64, expected: [f64; 2]) {
    for report in gradient(call, &["--loss", loss, "--wrt", input, "--hessian"]) {
        let found = [&report["losses"][0]["gradient"][input], &report["hessian"]["rows"][0][0]].map(numbers).concat();
        within(bound, &found, &expected, call.name);
    }
}

const fn call(name: &'static str, args: &'static str, types: &'static str) -> Call {
    Call { name, entry: "", args, types }
}

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
fn gradients_of_the_graph_embedding() {
    for k in 2..=10 {
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

/// A number with a derivative.
#[derive(Clone, Copy, Default)]
struct Dual(f64, f64);

impl Add for Dual {
    type Output = Dual;
    fn add(self, o: Dual) -> Dual {
        Dual(self.0 + o.0, self.1 + o.1)
    }
}

impl Sub for Dual {
    type Output = Dual;
    fn sub(self, o: Dual) -> Dual {
        Dual(self.0 - o.0, self.1 - o.1)
    }
}

impl Mul for Dual {
    type Output = Dual;
    fn mul(self, o: Dual) -> Dual {
        Dual(self.0 * o.0, self.1 * o.0 + self.0 * o.1)
    }
}

impl Div for Dual {
    type Output = Dual;
    fn div(self, o: Dual) -> Dual {
        Dual(self.0 / o.0, (self.1 - self.0 / o.0 * o.1) / o.0)
    }
}

impl Dual {
    fn sqrt(self) -> Dual {
        Dual(self.0.sqrt(), self.1 / (2.0 * self.0.sqrt()))
    }
}

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
fn planets_move_as_in_an_independent_model() {
    let model = distances(0.01, 100);
    let entries = ["solar", "solar_inplace"];
    let planets = |entry, args, types| Call { name: "planets", entry, args, types };
    let zeros = "[0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0],0.01,100";
    for (n, expected) in model.iter().enumerate() {
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

fn files() -> Vec<PathBuf> {
    let folder = fs::read_dir(Path::new(ROOT).join("examples")).expect("examples");
    let mut out: Vec<PathBuf> = folder.map(|f| f.expect("a file").path()).collect();
    out.retain(|f| f.extension().is_some_and(|e| e == "nil"));
    out.sort();
    out
}

#[test]
fn every_example_is_tried() {
    let there: BTreeSet<String> =
        files().iter().filter_map(|f| Some(f.file_stem()?.to_string_lossy().into_owned())).collect();
    let tried: BTreeSet<String> = EXAMPLES.iter().map(|e| e.call.name.to_string()).collect();
    assert_eq!(there, tried);
}

#[test]
fn the_table_in_the_readme_is_true() {
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).expect("text");
    let mut listed = BTreeSet::new();
    for row in readme.lines().filter(|l| l.starts_with("| [") && l.contains(".nil) |")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, _, command, printed] = cells[..] else { panic!("{row}") };
        listed.insert(name.trim_start_matches('[').split(']').next().unwrap_or_default().to_string());
        let command: Vec<String> = words(command.trim_matches('`').trim_start_matches("pendula "))
            .into_iter()
            .map(|w| if w.ends_with(".nil") { format!("examples/{w}") } else { w })
            .collect();
        let (code, out, err) = pendula(&command);
        assert_eq!(code, 0, "{command:?}: {err}");
        assert!(out.lines().any(|l| l == printed.trim_matches('`')), "{command:?}: {out}");
    }
    assert_eq!(listed, EXAMPLES.iter().map(|e| e.call.name.to_string()).collect());
}

/// Before what a session prints.
const MARGIN: &str = "#                      ";

#[test]
fn sessions_in_the_headers_are_real() {
    let mut failed = String::new();
    for file in files() {
        let text = fs::read_to_string(&file).expect("text");
        let mut out: Vec<String> = Vec::new();
        let mut lines = text.lines().peekable();
        let mut count = 0;
        while let Some(line) = lines.next() {
            out.push(line.to_string());
            let Some((_, command)) = line.split_once("  pendula ").filter(|_| line.starts_with('#')) else { continue };
            let mut command = command.to_string();
            while let (true, Some(next)) = (command.ends_with('\\'), lines.peek()) {
                command = command.trim_end_matches('\\').to_string() + next.trim_start_matches('#').trim();
                out.extend(lines.next().map(String::from));
            }
            count += 1;
            let mut shown = Vec::new();
            while let Some(line) = lines.next_if(|l| l.starts_with(MARGIN)) {
                shown.push(&line[MARGIN.len()..]);
            }
            let (_, stdout, stderr) = pendula(&words(&command));
            let real: Vec<&str> = stdout.lines().chain(stderr.lines()).map(str::trim_end).collect();
            let right = matches(&shown, &real);
            if !right {
                failed += &format!("{}: pendula {command}\n{}\n\n", file.display(), real.join("\n"));
            }
            let lines = if right { shown } else { real };
            out.extend(lines.iter().map(|l| format!("{MARGIN}{l}").trim_end().to_string()));
        }
        assert!(count >= 2, "{} shows {count} commands", file.display());
        let out = out.join("\n") + "\n";
        if std::env::var_os("PENDULA_BLESS").is_some_and(|v| v == "1") && out != text {
            fs::write(&file, out).expect("written");
        }
    }
    assert!(failed.is_empty(), "these headers show something else:\n\n{failed}");
}

/// A command's words; quotes hold blanks together.
fn words(command: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (n, part) in command.split('"').enumerate() {
        if n % 2 == 1 {
            out.push(part.to_string());
        } else {
            out.extend(part.split_whitespace().map(String::from));
        }
    }
    out
}

/// Whether lines are those shown, where `…` stands for anything.
fn matches(shown: &[&str], real: &[&str]) -> bool {
    match shown {
        [] => real.is_empty(),
        ["…", rest @ ..] => (0..=real.len()).any(|n| matches(rest, &real[n..])),
        [line, rest @ ..] => real.first().is_some_and(|r| like(line, r)) && matches(rest, &real[1..]),
    }
}

fn like(shown: &str, real: &str) -> bool {
    let Some((before, after)) = shown.split_once('…') else { return shown == real };
    real.strip_prefix(before).is_some_and(|rest| {
        let ends = rest.char_indices().map(|(n, _)| n).chain([rest.len()]);
        ends.into_iter().any(|n| like(after, &rest[n..]))
    })
}
