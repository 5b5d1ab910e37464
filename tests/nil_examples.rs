//! Every program in Nil under `examples/`, by the command line: forward, backward from its outputs alone, round trip, gradients
//! against what is known of them, the sessions in the headers, and the table in README.md.
//!
//! A header's session is a line with two blanks before `pendula`, a `\` at its end to go on, and below it what is printed, standard
//! output first. `…` stands for anything in a line, or alone for any lines. With `PENDULA_BLESS=1` they are written anew.

mod embedding;
mod gradients;
mod planets;
mod sessions;

use crate::common::command;

use std::collections::BTreeSet;
use std::f64::consts::PI;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

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
        number.unwrap_or_else(|| panic!("{v} is not a number"))
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
