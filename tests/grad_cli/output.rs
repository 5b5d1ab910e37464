//! What `pendula grad` prints, as text and as JSON.

use super::*;

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
                "numerics": pendula::isa::num::raw::VERSION,
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
