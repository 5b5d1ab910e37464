//! Gradients of numbers of every type, and of numbers near the ends of their range.

use super::*;

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
