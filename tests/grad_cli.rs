//! `pendula grad` as a person or a script meets it: what it prints, its options, and what it refuses.

use crate::common::command;

use assert_cmd::Command;
use serde_json::{Value, json};

fn grad(args: &[&str], input: &str) -> (i32, String, String) {
    command::run(&[&["grad"], args].concat(), input)
}

fn prints(args: &[&str], input: &str, expected: &str) {
    let (code, out, err) = grad(args, input);
    assert_eq!((code, out.as_str(), err.as_str()), (0, expected, ""), "{args:?}");
}

fn refuses(args: &[&str], input: &str, status: i32, message: &str) {
    let (code, out, err) = grad(args, input);
    assert_eq!((code, err.contains(message)), (status, true), "{args:?}: {err}");
    assert!(out.is_empty() || (status == 1 && out.starts_with("stopped after ")), "{args:?}: {out}");
}

fn as_json(args: &[&str], input: &str) -> (i32, Value) {
    let (code, out, err) = grad(args, input);
    (code, serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}\n{err}")))
}

/// y += a² b of logarithmic numbers.
const LOGARITHMS: &str = "
        .data
        .import a, b, n
        .export y
a:      .log    3
b:      .log    -2
n:      .word   3
y:      .fixed  0
        .text
main:   start
        mul.l   r1, [a]
        mul.l   r1, [a]
        mul.l   r1, [b]
        addcvt.q.l [y], r1
        div.l   r1, [b]
        div.l   r1, [a]
        div.l   r1, [a]
        finish
";

/// r1 += r2 r3 + r2²; nothing is imported or exported.
const REGISTERS: &str = "main: start\n addmul.q r1, r2, r3\n addmul.q r1, r2, r2\n finish\n";

/// y += 1/x², with an ancilla for x², whose gradient word `zero` drops.
const INVERSE: &str = "
        .data
        .import x
        .export y
x:      .double 2
y:      .double 0
        .text
main:   start
        exch    r2, [x]
        zero    r1
        addmul.f r1, r2, r2
        addinv.f [y], r1
        submul.f r1, r2, r2
        exch    r2, [x]
        finish
";

#[test]
fn what_the_examples_say_is_what_they_print() {
    prints(
        &["examples/complex-log.rasm", "--loss", "re"],
        "",
        "re   = 1.6094379124341003\n∂/∂x = 0.12\n∂/∂y = 0.16000000000000003\n",
    );
    prints(&["examples/power.rasm"], "", "y    = 57.6650390625\n∂/∂x = 384.4335937499781\n");
    // An accuracy that the formats allow: 10⁻⁹ in doubles, 10⁻¹⁰ in Q21.43.
    for (file, bound) in [("examples/bessel.rasm", 1e-9), ("examples/bessel-q.rasm", 1e-10)] {
        let (code, out, err) = grad(&[file, "--hessian"], "");
        assert_eq!((code, err.as_str()), (0, ""), "{err}");
        let numbers: Vec<f64> =
            out.lines().filter_map(|l| l.split(" = ").nth(1)).map(|t| t.parse().expect("a number")).collect();
        let published = [0.114_903_484_931_9, 0.210_243_615_881_1, 0.134_466_838_9];
        assert_eq!(numbers.len(), 3, "{out}");
        for (found, published) in numbers.iter().zip(published) {
            assert!((found - published).abs() < bound, "{file}: {found} {published}");
        }
    }
    let names: Vec<String> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"))
        .expect("examples")
        .map(|f| f.expect("a file").path().display().to_string())
        .filter(|f| f.ends_with(".rasm"))
        .collect();
    for file in names {
        // The command that its header gives works.
        let text = std::fs::read_to_string(&file).expect("text");
        let Some(at) = text.find("pendula grad examples/") else { continue };
        let command = text[at..].lines().next().expect("a line");
        let args: Vec<&str> = command.split_whitespace().skip(2).collect();
        let (code, out, err) = grad(&args, "");
        assert_eq!((code, err.as_str()), (0, ""), "{command}");
        // Each number that the header gives for a derivative is printed.
        let given = text[at..].lines().take_while(|l| !l.contains("and ") && !l.contains("Backward")).flat_map(|l| {
            let words = l.split(['[', ']', ',', ' ', '=']).filter(|w| w.contains('.') && w.len() > 5);
            words.filter(|w| w.parse::<f64>().is_ok()).map(str::to_string).collect::<Vec<_>>()
        });
        for number in given {
            let published = ["0.12", "384.43359375"].contains(&number.as_str());
            assert!(published || out.contains(&number), "{command}: no {number} in\n{out}");
        }
    }
}

#[test]
fn logarithmic_inputs_have_derivatives_with_respect_to_the_numbers() {
    // -18 = 9·(-2): ∂/∂a = 2ab = -12, ∂/∂b = a² = 9.
    prints(&["-"], LOGARITHMS, "y    = -18.0\n∂/∂a = -12.0\n∂/∂b = 9.0\n");
    // The words themselves: with respect to ln|a| and ln|b|, 2y = -36 and y = -18, in Q32.32.
    let (_, value) = as_json(&["-", "--json", "--hex"], LOGARITHMS);
    assert_eq!(
        value["losses"][0],
        json!({ "name": "y", "value": "0xffffffee00000000",
            "gradient": { "a": "0xffffffdc00000000", "b": "0xffffffee00000000" } })
    );
    let (code, out, _) = grad(&["-", "--check", "--hessian"], LOGARITHMS);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("\n∂²/∂…∂…\n      a   b\n  a  -4   6\n  b   6   0\n"), "{out}");
    assert!(out.contains("  ∂/∂ln|a|    -3.600000000e1    -3.600000000e1"), "{out}");
    // A factor of zero cannot be divided out again.
    refuses(&["-", "--set", "a=0"], LOGARITHMS, 1, "error[P0118]");
}

#[test]
fn registers_elements_and_arrays() {
    let given = ["-", "--loss", "r1.q", "--set", "r2.q=1.5", "--set", "r3.q=4"];
    prints(
        &[&given[..], &["--wrt", "r2.q,r3.q"]].concat(),
        REGISTERS,
        "r1.q    = 8.25\n∂/∂r2.q = 7.0\n∂/∂r3.q = 1.5\n",
    );
    prints(
        &[&given[..], &["--wrt", "r3.q", "--wrt", "r2.q", "--seed", "-2"]].concat(),
        REGISTERS,
        "r1.q    = 8.25\n∂/∂r3.q = -3.0\n∂/∂r2.q = -14.0\n",
    );
    prints(
        &[&given[..], &["--wrt", "r2.q", "--hex"]].concat(),
        REGISTERS,
        "r1.q    = 0x0000000840000000\n∂/∂r2.q = 0x0000000700000000\n",
    );
    let norm = ["examples/norm.rasm", "--set", "x=[0,3,0,0,-4,0,0,0]"];
    prints(&norm, "", "norm = 5.0\n∂/∂x = [0.0, 0.5999999992, 0.0, 0.0, -0.7999999989, 0.0, 0.0, 0.0]\n");
    let (_, out, _) = grad(&[&norm[..], &["--wrt", "x[1],x[4]"]].concat(), "");
    assert!(out.starts_with("norm    = 5.0\n∂/∂x[1] = 0.5") && out.contains("\n∂/∂x[4] = -0.7"), "{out}");
    // An input that the loss is, and one on which it does not depend.
    prints(
        &["examples/norm.rasm", "--loss", "x[2]", "--wrt", "x[2],norm"],
        "",
        "x[2]    = 1.5\n∂/∂x[2] = 1.0\n∂/∂norm = 0.0\n",
    );
}

#[test]
fn the_json_object() {
    let (code, value) = as_json(&["-", "--json"], INVERSE);
    assert_eq!(
        (code, &value),
        (
            0,
            &json!({
                "schema": "pendula.grad/1",
                "ok": true,
                "outcome": { "kind": "finished" },
                "losses": [{ "name": "y", "value": 0.25, "gradient": { "x": -0.25 } }],
                "ran_by": ["interpreter"],
                "restored": true,
                "flags": { "overflow": null, "inexact": null },
                "diagnostics": [],
            })
        )
    );
    let all = ["-", "--json", "--hessian", "--check", "--keep-dropped", "--drift", "--stats"];
    let (code, value) = as_json(&all, INVERSE);
    assert_eq!(code, 0, "{value}");
    // y'' = 6/x⁴
    assert_eq!(value["hessian"], json!({ "words": ["x"], "rows": [[0.375]] }));
    let check = &value["checks"][0];
    assert_eq!(value["checks"].as_array().map(Vec::len), Some(1));
    assert_eq!((&check["loss"], &check["input"], &check["logarithmic"]), (&json!("y"), &json!("x"), &json!(false)));
    assert_eq!((&check["adjoint"], &check["tangent"], &check["agrees"]), (&json!(-0.25), &json!(-0.25), &json!(true)));
    assert!((check["finite_difference"].as_f64().expect("a number") + 0.25).abs() < 1e-6, "{check}");
    assert!(value["hessian_difference"].as_f64().expect("a number") < 1e-12, "{value}");
    // The ancilla r1 had the gradient word of x².
    assert_eq!(value["kept"], json!({ "words": 1, "restored": true }));
    assert_eq!(value["drift"], Value::Null, "nothing differs");
    let modes: Vec<String> = value["stats"]["modes"]
        .as_array()
        .expect("modes")
        .iter()
        .map(|m| format!("{} {} {}", m["direction"].as_str().unwrap_or("?"), m["level"], m["tangents"]))
        .collect();
    for mode in [
        "forward 0 false",
        "backward 1 false",
        "forward 1 false",
        "forward 0 true",
        "backward 1 true",
        "forward 2 false",
    ] {
        assert!(modes.iter().any(|m| m == mode), "{mode}: {modes:?}");
    }
    // An array is an array, a logarithmic zero's derivative is null, fixed-point numbers are exact strings.
    let (_, value) = as_json(&["examples/matmul.rasm", "--json", "--loss", "c", "--jacobian", "--wrt", "a,b[4]"], "");
    let losses = value["losses"].as_array().expect("losses");
    assert_eq!((losses.len(), &losses[3]["name"]), (16, &json!("c[3]")));
    assert_eq!(losses[0]["gradient"]["a"][1], json!("0.75"));
    assert_eq!(losses[0]["gradient"]["b[4]"], json!("2.0"));
    let (_, value) =
        as_json(&["-", "--json", "--loss", "y", "--wrt", "z"], &LOGARITHMS.replace("n:  ", "z: .log 0\nn:  "));
    assert_eq!(value["losses"][0]["gradient"]["z"], Value::Null);
}

#[test]
fn a_jacobian_is_a_gradient_of_each_element() {
    let (code, out, err) = grad(&["examples/rotations.rasm", "--loss", "v", "--jacobian", "--wrt", "v", "--check"], "");
    assert_eq!((code, err.as_str()), (0, ""));
    let rows: Vec<Vec<f64>> = out
        .lines()
        .filter_map(|l| l.strip_prefix("∂v[").and_then(|l| l.split(" = [").nth(1)))
        .map(|l| l.trim_end_matches(']').split(", ").map(|t| t.parse().expect("a number")).collect())
        .collect();
    assert_eq!(rows.len(), 4, "{out}");
    // A product of rotations is orthogonal.
    for (i, a) in rows.iter().enumerate() {
        for (j, b) in rows.iter().enumerate() {
            let dot: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-12, "{dot}");
        }
    }
    assert_eq!(out.lines().filter(|l| l.starts_with("  ∂v[")).count(), 16, "{out}");
}

#[test]
fn what_became_of_the_state() {
    let (code, out, _) = grad(&["examples/network.rasm", "--drift", "--keep-dropped", "--wrt", "b2"], "");
    assert_eq!(code, 0);
    assert!(out.contains("drift: none, every bit is as it was\n"), "{out}");
    let kept = out.lines().find(|l| l.starts_with("dropped gradient words kept: ")).expect("told");
    assert!(kept.ends_with("; run forward again with gradients: every word came back"), "{kept}");
    // Doubles: 0.3 is added to a number at which it is rounded, and taken from it in another order.
    let drifting = "
        .data
        .import x
        .export y
x:      .double 1e-3
y:      .double 0
        .text
main:   start
        add.f   r1, 1e10
        add.f   [x], r1
        sub.f   r1, 1e10
        exch    r1, [x]
        add.f   [y], r1
        exch    r1, [x]
        finish
";
    let (code, out, _) = grad(&["-", "--drift"], drifting);
    assert_eq!(code, 0, "rounding of doubles is told, not failed: {out}");
    assert!(out.contains("drift: 1 floating-point word differs, most in x: by "), "{out}");
    assert_eq!(as_json(&["-", "--json"], drifting).1["restored"], false);
    // Gradient words that `zero` drops count as lost.
    let (_, out, _) = grad(&["-", "--stats"], INVERSE);
    assert!(out.contains("bits lost                   64\n"), "{out}");
    assert!(out.contains("  backward (level 1)                           8\n"), "{out}");
}

#[test]
fn checks_tell_kinks() {
    let kink = "
        .data
        .import x
        .export y
x:      .double 0
y:      .double 0
        .text
main:   start
        exch    r1, [x]
        addrelu.f [y], r1
        exch    r1, [x]
        finish
";
    // At the kink, and next to it.
    for x in ["x=0", "x=1e-9", "x=-1e-7"] {
        let (code, out, _) = grad(&["-", "--check", "--set", x], kink);
        assert_eq!((code, out.contains("not sound here")), (0, true), "{x}: {out}");
        let (code, value) = as_json(&["-", "--check", "--json", "--set", x], kink);
        assert_eq!((code, &value["checks"][0]["finite_difference"]), (0, &Value::Null), "{x}");
    }
    // Not where the function is only curved, or steep.
    for (f, x) in [("relu", "x=0.5"), ("cos", "x=0"), ("exp", "x=20"), ("cosh", "x=0"), ("gauss", "x=0")] {
        let smooth = if f == "gauss" {
            kink.replace("addrelu.f [y], r1", "addmul.f r2, r1, r1\n addexp.f [y], r2\n submul.f r2, r1, r1")
        } else {
            kink.replace("relu", f)
        };
        let (code, value) = as_json(&["-", "--check", "--json", "--set", x], &smooth);
        assert_eq!((code, value["checks"][0]["finite_difference"].is_number()), (0, true), "{f} {x}: {value}");
    }
}

#[test]
fn names_that_cannot_be_differentiated() {
    let exports = "name the loss with `--loss NAME`: the program exports ";
    refuses(&["examples/complex-log.rasm"], "", 2, &format!("error: {exports}re, im\n"));
    refuses(&["examples/fib.rasm"], "", 2, &format!("{exports}no number that has gradients"));
    refuses(&["-"], REGISTERS, 2, &format!("{exports}no number that has gradients"));
    refuses(
        &["-", "--loss", "r1.q"],
        REGISTERS,
        2,
        "name the inputs with `--wrt NAMES`: the program imports no fixed-point,",
    );
    let integer = "`v` is read as an integer, which has no gradient\n";
    refuses(&["examples/bessel.rasm", "--wrt", "z,v"], "", 2, integer);
    refuses(&["examples/bessel.rasm", "--loss", "v"], "", 2, integer);
    refuses(
        &["-", "--loss", "r1"],
        REGISTERS,
        2,
        "`r1` is read as an integer, which has no gradient; say how it is read: `.q`, `.l` or `.f` after its name",
    );
    for place in ["--loss", "--wrt"] {
        refuses(
            &["examples/norm.rasm", place, "length"],
            "",
            2,
            "there is no register or data symbol `length`; the data symbols are norm, x",
        );
        refuses(&["examples/norm.rasm", place, "x[8]"], "", 2, "`x` has 8 words, counted from 0; there is no `x[8]`");
        refuses(&["examples/norm.rasm", place, "x[i]"], "", 2, "`x[i]`: an index is a whole number");
        refuses(&["examples/norm.rasm", place, "r0.q"], "", 2, "r0 always reads 0");
    }
    refuses(
        &["examples/norm.rasm", "--loss", "x"],
        "",
        2,
        "the loss `x` has 8 words: name one, such as `x[0]`, or take the gradient of each with `--jacobian`",
    );
    refuses(
        &["examples/norm.rasm", "--seed", "one"],
        "",
        2,
        "error: --seed: `one` is no fixed-point number, as the loss `norm` is: not a number: ",
    );
    refuses(&["examples/norm.rasm", "--seed", "1e20"], "", 2, "--seed: `1e20` is no fixed-point number");
    for seed in ["inf", "-inf", "nan"] {
        refuses(
            &["examples/bessel.rasm", "--seed", seed],
            "",
            2,
            &format!("--seed: `{seed}` is not a finite number\n"),
        );
    }
    refuses(&["examples/norm.rasm", "--wrt", ""], "", 2, "--wrt: a name is empty; give data symbols, or registers");
    refuses(&["examples/norm.rasm", "--wrt", "x,,norm"], "", 2, "--wrt: a name is empty");
    refuses(&["examples/norm.rasm", "--loss", ""], "", 2, "--loss: the name is empty");
    refuses(&["examples/norm.rasm", "--hessian", "--jacobian"], "", 2, "cannot be used with");
    refuses(&["examples/norm.rasm", "--set", "y=1"], "", 2, "there is no register or data symbol `y`");
}

#[test]
fn programs_that_cannot_be_differentiated() {
    let forgets = ".irreversible\nmain: start\n add r1, 5\n erase r1\n finish\n";
    refuses(&["-"], forgets, 1, "error[P0143]: <stdin> says `.irreversible`: it cannot run backward");
    let own = "
main:   start
        add.q   r1, 3
        gcall   square
        guncall square
        sub.q   r1, 3
        finish
        proc    square
        addmul.q r2, r1, r1
        ret     square
";
    refuses(
        &["-", "--loss", "r2.q", "--wrt", "r1.q"],
        own,
        1,
        "error[P0144]: <stdin>: the program uses gradients itself",
    );
    refuses(&["-", "--loss", "r2.q", "--wrt", "r1.q"], own, 1, "--> <stdin>:4:9");
    let (code, value) = as_json(&["-", "--json", "--loss", "r2.q", "--wrt", "r1.q"], own);
    assert_eq!((code, &value["diagnostics"][0]["code"]), (1, &json!("P0144")));
    // What never runs does not matter.
    let never = own.replace("        gcall   square\n        guncall square\n", "        call    square\n")
        + "        proc    other\n        gcall   square\n        ret     other\n";
    prints(&["-", "--loss", "r2.q", "--wrt", "r1.q"], &never, "r2.q    = 9.0\n∂/∂r1.q = 6.0\n");
}

#[test]
fn limits_and_traps_on_the_way_there_and_back() {
    // norm takes 103 instructions one way.
    refuses(
        &["examples/norm.rasm", "--max-steps", "20"],
        "",
        1,
        "error[P0130]: the run did not end within 20 instructions",
    );
    let (code, _, err) = grad(&["examples/norm.rasm", "--max-steps", "150"], "");
    assert_eq!((code, err.contains("the next instruction, running backward with gradients")), (1, true), "{err}");
    let (code, value) = as_json(&["examples/norm.rasm", "--max-steps", "150", "--json"], "");
    assert_eq!((code, &value["outcome"]["code"], &value["outcome"]["max_steps"]), (1, &json!("P0130"), &json!(150)));
    assert_eq!(grad(&["examples/norm.rasm", "--max-steps", "206"], "").0, 0);

    let (code, _, err) = grad(&["examples/complex-log.rasm", "--loss", "re", "--set", "x=0", "--set", "y=0"], "");
    assert_eq!((code, err.contains("error[P0114]"), err.contains("backward")), (1, true, false), "{err}");

    // The root of 0 is 0 and has no derivative.
    let zero = ["examples/norm.rasm", "--set", "x=[0,0,0,0,0,0,0,0]"];
    let (code, _, err) = grad(&zero, "");
    assert_eq!((code, err.contains("error[P0113]")), (1, true), "{err}");
    assert!(err.contains("running backward with gradients: [norm] at 0 = 0.0, r3 = 0.0"), "{err}");
    assert!(err.contains("or it is the derivative that does not exist here, as that of a root at 0"), "{err}");
    let (code, value) = as_json(&[&zero[..], &["--json"]].concat(), "");
    let trap = &value["outcome"]["trap"];
    assert_eq!(
        (code, &trap["code"], &trap["direction"], &trap["level"]),
        (1, &json!("P0113"), &json!("backward"), &json!(1))
    );
    // Where no gradient comes to it, it does not matter.
    prints(
        &[&zero[..], &["--seed", "0"]].concat(),
        "",
        "norm = 0.0\n∂/∂x = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]\n",
    );
}

/// y *= a + b, of logarithmic numbers, with an ancilla for the sum.
const SUM: &str = "
        .data
        .import a, b
        .export y
a:      .log    1e-12
b:      .log    2e-12
y:      .log    1
        .text
main:   start
        exch    r1, [a]
        exch    r2, [b]
        mulplus.l r3, r1, r2
        exch    r2, [b]
        exch    r1, [a]
        mul.l   [y], r3
        exch    r1, [a]
        exch    r2, [b]
        divplus.l r3, r1, r2
        exch    r2, [b]
        exch    r1, [a]
        finish
";

/// The gradient word of a logarithmic loss y is that of ln|y|: how small or great y is does not matter.
#[test]
fn logarithmic_losses_of_any_size() {
    for (a, b, seed) in
        [(1e-12, 2e-12, 1.0), (1e-100, 3e-100, 1.0), (1e100, 3e100, -2.0), (-3.0, 5.0, 1e-20), (1e-308, 2e-308, 1.0)]
    {
        let (set_a, set_b, seed_text) = (format!("a={a:e}"), format!("b={b:e}"), format!("{seed:e}"));
        let args = ["-", "--json", "--check", "--hessian", "--set", &set_a, "--set", &set_b, "--seed", &seed_text];
        let (code, value) = as_json(&args, SUM);
        assert_eq!(code, 0, "{a} {b}: {value}");
        for name in ["a", "b"] {
            let d = value["losses"][0]["gradient"][name].as_f64().expect("a double");
            assert!((d / seed - 1.0).abs() < 1e-9, "{a} {b}: {d}");
        }
        // ∂y/∂ln a = a.
        for (n, x) in [a, b].into_iter().enumerate() {
            let check = &value["checks"][n];
            for (way, tolerance) in [("adjoint", 1e-9), ("tangent", 1e-9), ("finite_difference", 1e-3)] {
                let d = check[way].as_f64().expect("a double");
                assert!((d / (x * seed) - 1.0).abs() < tolerance, "{a} {b} {way}: {d}");
            }
        }
        // The second derivatives of a sum are 0, to a unit of the format in terms of y/(a b).
        for (row, x) in value["hessian"]["rows"].as_array().expect("rows").iter().zip([a, b]) {
            for (h, z) in row.as_array().expect("a row").iter().zip([a, b]) {
                let h = h.as_f64().expect("a double");
                assert!((h * x * (z / (a + b) / seed)).abs() < 1e-8, "{a} {b}: {h}");
            }
        }
    }
    // What the words are: those of ln y, without the seed.
    let (code, out, _) = grad(&["-", "--hex", "--seed", "3"], SUM);
    assert_eq!(code, 0);
    assert!(out.ends_with("∂/∂a = 0x0000000055555555\n∂/∂b = 0x00000000aaaaaaab\n"), "{out}");
    // Of a fixed-point input the derivative is a double: y = x², times y.
    let square = "
        .data
        .import x
        .export y
x:      .fixed  3
y:      .log    0.5
        .text
main:   start
        exch    r1, [x]
        mulcvt.l.q r3, r1
        mul.l   [y], r3
        mul.l   [y], r3
        divcvt.l.q r3, r1
        exch    r1, [x]
        finish
";
    for y in [0.5, 1e-100, 1e100] {
        let (code, value) = as_json(&["-", "--json", "--check", "--hessian", "--set", &format!("y={y:e}")], square);
        assert_eq!(code, 0, "{value}");
        let near = |found: &Value, wanted: f64| {
            let found = found.as_f64().expect("a double");
            assert!((found / wanted - 1.0).abs() < 1e-8, "{y}: {found}, wanted {wanted}");
        };
        near(&value["losses"][0]["gradient"]["x"], 6.0 * y);
        near(&value["hessian"]["rows"][0][0], 2.0 * y);
        near(&value["checks"][0]["finite_difference"], 6.0 * y);
    }
    // A zero loss: nothing that it is multiplied by changes it.
    let (code, out, _) = grad(&["-", "--set", "y=0"], square);
    assert_eq!((code, out.as_str()), (0, "y    = 0.0\n∂/∂x = 0.0\n"));
    // A seed for a double loss, and for a logarithmic one, beyond what fixed point holds.
    let (code, out, _) = grad(&["-", "--set", "y=1e6", "--seed", "1e200"], square);
    assert_eq!(code, 0);
    let slope: f64 = out.lines().last().and_then(|l| l.split(" = ").nth(1)).expect("a line").parse().expect("a number");
    assert!((slope / 6e206 - 1.0).abs() < 1e-9, "{out}");
    let great = ["-", "--set", "y=1e200", "--seed", "1e200"];
    refuses(&great, square, 2, "error: --seed: `1e200` times the loss `y` is more than 1.79e308\n");
}

/// y += 3 x + x².
const STEEP: &str = "
        .data
        .import x
        .export y
x:      .fixed  0.5
y:      .fixed  0
        .text
main:   start
        exch    r1, [x]
        addmul.q [y], r1, r1
        addmul.q [y], r1, r2
        exch    r1, [x]
        finish
";

#[test]
fn gradient_words_that_overflow_are_told() {
    let given = ["-", "--seed", "2e9", "--set", "r2.q=3"];
    let (code, out, err) = grad(&given, STEEP);
    assert_eq!((code, out.lines().count()), (1, 3), "{out}");
    assert!(
        out.ends_with("FAILED: a gradient word overflowed and wrapped, so that what is printed is wrong\n"),
        "{out}"
    );
    for part in [
        "error[P0131]: a gradient word overflowed and wrapped: derivatives are wrong",
        "<stdin>:11:9",
        "choose a `.format` with more integer bits, or scale by `--seed`",
    ] {
        assert!(err.contains(part), "{part}: {err}");
    }
    let (code, out, _) = grad(&[&given[..], &["--check"]].concat(), STEEP);
    assert_eq!(code, 1);
    assert!(out.contains("   DISAGREE\nFAILED: a gradient word overflowed and wrapped"), "{out}");
    let (code, value) = as_json(&[&given[..], &["--json", "--check"]].concat(), STEEP);
    let flag = &value["flags"]["overflow"];
    assert_eq!((code, &flag["of"], &flag["place"]["line"]), (1, &json!("gradient"), &json!(11)), "{value}");
    assert_eq!(
        (&value["outcome"]["kind"], &value["outcome"]["code"]),
        (&json!("overflow"), &json!("P0131")),
        "{value}"
    );
    assert_eq!(
        (&value["diagnostics"][0]["code"], &value["diagnostics"][0]["severity"]),
        (&json!("P0131"), &json!("error"))
    );
    let (code, value) = as_json(&[&given[..], &["--json", "--jacobian"]].concat(), STEEP);
    assert_eq!((code, &value["outcome"]["kind"]), (1, &json!("overflow")), "{value}");
    // A second derivative alone.
    let (code, out, err) = grad(&["-", "--seed", "1.5e9", "--hessian", "--check"], STEEP);
    assert_eq!((code, err.contains("error[P0131]: a second derivative overflowed and wrapped")), (1, true), "{err}");
    assert!(out.contains("FAILED: a second derivative overflowed and wrapped"), "{out}");
    // A value.
    let (code, _, err) = grad(&["-", "--set", "x=1e5"], STEEP);
    assert_eq!((code, err.contains("warning[P0131]: a fixed-point number overflowed and wrapped")), (0, true), "{err}");
    let value = as_json(&["-", "--set", "x=1e5", "--json"], STEEP).1;
    assert_eq!(value["flags"]["overflow"]["of"], "value");
    // A value, and after it a gradient word: neither hides the other, whatever runs the program.
    for engine in ["interp", "jit"] {
        let both = ["-", "--set", "x=1e5", "--seed", "2e9", "--set", "r2.q=3", "--engine", engine];
        let (code, _, err) = grad(&both, STEEP);
        assert_eq!(code, 1, "{err}");
        for part in ["warning[P0131]: a fixed-point number", "error[P0131]: a gradient word"] {
            assert!(err.contains(part), "{engine}: {part}: {err}");
        }
    }
    // A value next to the input, in finite differences: that says nothing of this run.
    let (code, _, err) = grad(&["-", "--set", "x=46340.95", "--check"], STEEP);
    assert_eq!((code, err.as_str()), (0, ""));
    // Where there is room, none.
    let narrow = STEEP.replace("        .data\n", "        .format Q16.48\n        .data\n");
    let given = ["-", "--seed", "2e4", "--set", "r2.q=3"];
    assert!(grad(&given, &narrow).2.contains("a gradient word overflowed"));
    prints(&given, STEEP, "y    = 1.75\n∂/∂x = 80000.0\n");
}

/// Doubles round, in gradient words too: what does not come back for that is no fault.
#[test]
fn keeping_what_is_dropped_in_doubles() {
    let source = "
        .data
        .import x
        .export y
x:      .double 0.3
y:      .double 0
        .text
main:   start
        exch    r1, [x]
        add.f   r2, 1e17
        addmul.f [y], r2, r1
        addsin.f [y], r1
        sub.f   r2, 1e17
        exch    r1, [x]
        finish
";
    let (code, out, _) = grad(&["-", "--keep-dropped"], source);
    assert_eq!(code, 0);
    assert!(
        out.contains(
            "run forward again with gradients: every word came back but for the rounding of floating-point numbers\n"
        ),
        "{out}"
    );
    assert_eq!(as_json(&["-", "--keep-dropped", "--json"], source).1["kept"]["restored"], false);
}

#[test]
fn too_many_derivatives() {
    let large = ".data\n .import x\nx: .space 10000, q\n .text\nmain: start\n add.q r1, [x]\n finish\n";
    let hessian = ["-", "--loss", "r1.q", "--hessian"];
    refuses(
        &hessian,
        large,
        2,
        "error: the Hessian asks for 100000000 derivatives, more than 10000000; name fewer with `--wrt`\n",
    );
    refuses(
        &["-", "--loss", "x", "--jacobian"],
        large,
        2,
        "the Jacobian asks for 100000000 derivatives, more than 10000000",
    );
    assert_eq!(grad(&[&hessian[..], &["--wrt", "x[0],x[9]"]].concat(), large).0, 0);
    assert_eq!(grad(&["-", "--loss", "x", "--jacobian", "--wrt", "x[3],r1.q"], large).0, 0);
}

/// A run over dual numbers may need more than the run backward: where nothing asks for a derivative, it has none.
#[test]
fn a_check_that_traps_spoils_no_gradient() {
    // The root of 0 is used by nothing.
    let source = "
        .data
        .import x
        .export y
x:      .double 0
y:      .double 0
        .text
main:   start
        exch    r1, [x]
        addsqrt.f r2, r1
        addmul.f [y], r1, 3.0
        subsqrt.f r2, r1
        exch    r1, [x]
        finish
";
    let source = source
        .replace("addmul.f [y], r1, 3.0", "addmul.f r3, r1, 3.0\n        add.f [y], r3\n        submul.f r3, r1, 3.0");
    let (code, out, err) = grad(&["-", "--check"], &source);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("  ∂/∂x     3.000000000e0    not sound here    not sound here\n"), "{out}");
    let (code, value) = as_json(&["-", "--check", "--json"], &source);
    let check = &value["checks"][0];
    assert_eq!((code, &check["tangent"], &check["agrees"]), (0, &Value::Null, &json!(true)));
    // Second derivatives do not exist here.
    assert_eq!(grad(&["-", "--hessian"], &source).0, 1);
    // A step limit is no trap: the comparison was not made.
    refuses(&["examples/norm.rasm", "--check", "--max-steps", "250"], "", 1, "error[P0130]");
}

#[test]
fn integer_instructions_on_real_numbers_are_told() {
    let source = "
        .data
        .import x
        .export y
x:      .fixed  2
y:      .fixed  0
        .text
main:   start
        add     r1, [x]
        addmul.q [y], r1, r1
        sub     r1, [x]
        finish
        proc    unused
        add     r1, [x]
        ret     unused
";
    let (code, out, err) = grad(&["-"], source);
    assert_eq!(
        (code, out.as_str(), err.matches("warning[P0230]").count()),
        (0, "y    = 4.0\n∂/∂x = 0.0\n", 2),
        "{err}"
    );
    assert!(err.contains("<stdin>:9:9") && err.contains("<stdin>:11:9"), "{err}");
    let (_, value) = as_json(&["-", "--json"], source);
    let codes: Vec<&Value> = value["diagnostics"].as_array().expect("a list").iter().map(|d| &d["code"]).collect();
    assert_eq!(codes, ["P0230", "P0230"]);
}

#[test]
fn arrays_that_are_asked_for_are_shown_in_full() {
    let source =
        ".data\n .import x\n .export y\nx: .space 70, f\ny: .double 0\n .text\nmain: start\n add.f [y], r1\n finish\n";
    let cut = "… 70 words in all]\n";
    assert!(grad(&["-"], source).1.ends_with(cut));
    for args in [&["-", "--wrt", "x"][..], &["-", "--jacobian"]] {
        let (code, out, _) = grad(args, source);
        assert_eq!((code, out.contains('…'), out.matches("0.0").count()), (0, false, 71), "{out}");
    }
}

#[test]
fn what_is_not_finite_is_text_in_json() {
    let source = ".data\n .import x\n .export y\nx: .double 1e200\ny: .double 0\n .text\nmain: start\n exch r1, [x]\n addmul.f r2, r1, r1\n addmul.f [y], r2, r1\n submul.f r2, r1, r1\n exch r1, [x]\n finish\n";
    let (_, value) = as_json(&["-", "--ieee", "--json", "--hessian", "--check"], source);
    let text = value.to_string();
    assert_eq!(value["losses"][0]["value"], "inf", "{text}");
    let known = |v: &Value| v.is_number() || ["inf", "-inf", "nan"].iter().any(|t| v == t);
    let check = &value["checks"][0];
    for v in
        [&value["losses"][0]["gradient"]["x"], &value["hessian"]["rows"][0][0], &check["adjoint"], &check["tangent"]]
    {
        assert!(known(v), "{v}: {text}");
    }
    assert!(!known(&json!("NaN")) && known(&value["hessian_difference"]), "{text}");
}

#[test]
fn second_derivatives_are_easy_to_read() {
    let source = ".data\n .import a, b\n .export y\na: .double 1e-8\nb: .double 1e5\ny: .double 0\n .text\nmain: start\n exch r1, [a]\n exch r2, [b]\n addinv.f r3, r1\n addmul.f [y], r3, r2\n subinv.f r3, r1\n exch r2, [b]\n exch r1, [a]\n finish\n";
    let (code, out, _) = grad(&["-", "--hessian"], source);
    assert_eq!(code, 0);
    let rows: Vec<&str> = out.lines().skip_while(|l| !l.starts_with("∂²")).skip(2).collect();
    let [first, second] = rows[..] else { panic!("{out}") };
    let cells: Vec<&str> = first.split_whitespace().collect();
    assert!(cells[1].starts_with("2e29") || cells[1].contains("e29"), "{out}");
    assert_eq!((second.split_whitespace().nth(2), first.len()), (Some("0"), second.len()), "{out}");
    // Those of fixed-point numbers have the digits of the format.
    let (_, out, _) = grad(&["examples/norm.rasm", "--hessian", "--wrt", "x[0]"], "");
    let last = out.lines().last().and_then(|l| l.split(" = ").nth(1)).expect("a line");
    assert!(last.len() <= 13 && last.parse::<f64>().is_ok_and(|h| (h - 0.110_768_175).abs() < 1e-8), "{last}");
}

/// An ancilla that is passed round without `zero`: what is left in its gradient word grows, until nothing else can be seen.
#[test]
fn ancillas_begin_with_zero() {
    let power = |zero: &str| {
        format!(
            ".data\n .import x\n .export y\nx: .double 0.5\ny: .double 0\n .text\nmain: start\n exch r1, [x]\n add r2, 30\n .routine power\n add.f r5, 1
top: from.ne r3, r0, again\ntest: jmp.eq r3, r2, done\n {zero}\n addmul.f r6, r5, r1\n subdiv.f r5, r6, r1\n swap r5, r6\n inc r3\nagain: jmp top\ndone: from test
 .endroutine\n add.f [y], r5\n .unroutine power\n sub r2, 30\n exch r1, [x]\n finish\n"
        )
    };
    let slope = |zero: &str, of: &str| -> f64 {
        let (code, value) = as_json(&["-", "--json", "--wrt", "x,r6.f"], &power(zero));
        assert_eq!(code, 0, "{value}");
        value["losses"][0]["gradient"][of].as_f64().expect("a double")
    };
    let wanted = 30.0 * 0.5f64.powi(29);
    assert!((slope("zero r6", "x") / wanted - 1.0).abs() < 1e-12);
    assert!(slope("", "r6.f").abs() > 1e8 && (slope("", "x") / wanted - 1.0).abs() > 0.01);
}

/// Traps in instructions whose operands are of several types tell each as what it is.
#[test]
fn operands_of_several_types() {
    let run = |text: &str, args: &[&str]| {
        let mut command = Command::cargo_bin("pendula").expect("the binary");
        command.args(["run", "-"]).args(args).env("NO_COLOR", "1");
        let output = command.write_stdin(format!("main: start\n {text}\n finish\n")).output().expect("runs");
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    for (text, args, told) in [
        ("addcvt.q.f r1, r2", &["--set", "r1.q=0.5", "--set", "r2.f=1e300"][..], "r1 = 0.5, r2 = 1e300"),
        ("addpowi.q r1, r2, r3", &["--set", "r2.q=2.5", "--set", "r3=100"], "r1 = 0.0, r2 = 2.5, r3 = 100"),
        ("mulpow.l r1, r2, r3", &["--set", "r2.l=-2.5", "--set", "r3.q=1.5"], "r1 = 1.0, r2 = -2.5, r3 = 1.5"),
        ("addlog.q.l r1, r2", &["--set", "r2.l=0", "--set", "r1.q=1.5"], "r1 = 1.5, r2 = 0.0"),
        ("addcvt.f.q r3, r1", &["--reverse", "--set", "r3.f=inf", "--set", "r1.q=1.5"], "r3 = inf, r1 = 1.5"),
        ("addpowi.q r1, r2, r2", &["--set", "r2=0x3ffffffffw"], "r2 = 3.9999999998, r2 = 17179869183"),
    ] {
        let err = run(text, args);
        assert!(err.contains(told), "{text}: {err}");
    }
    let infinite = ["--set", "r1.f=inf"];
    assert!(run("addmul.f r2, r1, r1", &infinite).contains("help: `--ieee` lets infinities and NaN through"));
    let err = run("addcvt.q.f r2, r1", &[&infinite[..], &["--ieee"]].concat());
    assert!(err.contains("error[P0119]") && !err.contains("`--ieee`"), "{err}");
}

/// Near ±1, where 1 − x² has few digits in fixed point.
#[test]
fn arc_functions_near_their_ends() {
    for (function, x, sign) in [("asin", "0.999999", 1.0), ("asin", "-0.999999", 1.0), ("acos", "0.999999", -1.0)] {
        for (ty, wanted) in [("q", 707.104_265_85), ("f", 707.106_957_953)] {
            let program = format!("main: start\n add{function}.{ty} r1, r2\n finish\n");
            let (loss, wrt, set) = (format!("r1.{ty}"), format!("r2.{ty}"), format!("r2.{ty}={x}"));
            let (_, out, _) = grad(&["-", "--loss", &loss, "--wrt", &wrt, "--set", &set], &program);
            let slope = out.lines().last().and_then(|l| l.split(" = ").nth(1)).and_then(|t| t.parse::<f64>().ok());
            let slope = slope.unwrap_or_else(|| panic!("{out}"));
            assert!((slope - sign * wanted).abs() < 1e-4, "{function}.{ty} {x}: {slope}");
        }
    }
}

#[test]
fn tapes_are_read_and_written() {
    let program = "main: start\n read r2\n emit r3\n addmul.q r1, r2, r4\n finish\n";
    let args = ["-", "--input", "0x80000000", "--loss", "r1.q", "--wrt", "r4.q", "--set", "r4.q=3"];
    prints(&args, program, "r1.q    = 1.5\n∂/∂r4.q = 0.5\n");
}

#[test]
fn help_names_every_option() {
    let (code, out, _) = grad(&["--help"], "");
    assert_eq!(code, 0);
    for option in [
        "--loss",
        "--wrt",
        "--seed",
        "--hessian",
        "--jacobian",
        "--check",
        "--keep-dropped",
        "--drift",
        "--hex",
        "--stats",
        "--json",
    ] {
        assert!(out.contains(option), "{option}");
    }
}
