//! `pendula grad` as a person or a script meets it: what it prints, its options, and what it refuses.

use assert_cmd::Command;
use serde_json::{Value, json};

/// Exit status, standard output, standard error.
fn grad(args: &[&str], input: &str) -> (i32, String, String) {
    let mut command = Command::cargo_bin("pendula").expect("the binary");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("grad").args(args);
    command.env_remove("RUST_LOG").env("NO_COLOR", "1");
    let output = command.write_stdin(input).output().expect("runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("no signal"), text(output.stdout), text(output.stderr))
}

fn prints(args: &[&str], input: &str, expected: &str) {
    let (code, out, err) = grad(args, input);
    assert_eq!((code, out.as_str(), err.as_str()), (0, expected, ""), "{args:?}");
}

fn refuses(args: &[&str], input: &str, status: i32, message: &str) {
    let (code, out, err) = grad(args, input);
    assert_eq!((code, out.as_str(), err.contains(message)), (status, "", true), "{args:?}: {err}");
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
                "schema": 1,
                "outcome": { "kind": "finished" },
                "losses": [{ "name": "y", "value": 0.25, "gradient": { "x": -0.25 } }],
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
    assert!((check["difference"].as_f64().expect("a number") + 0.25).abs() < 1e-6, "{check}");
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
        assert_eq!((code, &value["checks"][0]["difference"]), (0, &Value::Null), "{x}");
    }
    // Not where the function is only curved, or steep.
    for (f, x) in [("relu", "x=0.5"), ("cos", "x=0"), ("exp", "x=20"), ("cosh", "x=0"), ("gauss", "x=0")] {
        let smooth = if f == "gauss" {
            kink.replace("addrelu.f [y], r1", "addmul.f r2, r1, r1\n addexp.f [y], r2\n submul.f r2, r1, r1")
        } else {
            kink.replace("relu", f)
        };
        let (code, value) = as_json(&["-", "--check", "--json", "--set", x], &smooth);
        assert_eq!((code, value["checks"][0]["difference"].is_number()), (0, true), "{f} {x}: {value}");
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
        refuses(&["examples/norm.rasm", place, "x[8]"], "", 2, "`x` has 8 words; there is no `x[8]`");
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
        "`one` is no value for `norm`, which is read as fixed point",
    );
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

#[test]
fn a_seed_that_fits_no_gradient_word() {
    // The gradient word of a logarithmic loss is the seed times its value, in fixed point.
    let large = "
        .data
        .import a
        .export y
a:      .log    1e6
y:      .log    1e6
        .text
main:   start
        mul.l   r1, [a]
        mul.l   [y], r1
        div.l   r1, [a]
        finish
";
    let (code, out, err) = grad(&["-"], large);
    assert_eq!((code, out.as_str(), err.contains("give a smaller `--seed`")), (1, "", true), "{err}");
    let (code, out, err) = grad(&["-", "--seed", "1e-6"], large);
    assert_eq!(code, 0, "{err}");
    let slope: f64 = out.lines().last().and_then(|l| l.split(" = ").nth(1)).expect("a line").parse().expect("a number");
    assert!((slope - 1.0).abs() < 1e-9, "{out}");
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
