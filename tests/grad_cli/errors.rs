//! What cannot be differentiated, and runs that stop.

use super::*;

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

    // The arc sine of 1 is π/2 and has no derivative.
    let arc = "
        .data
        .import x
        .export y
x:      .double 1
y:      .double 0
        .text
main:   start
        exch    r1, [x]
        addasin.f [y], r1
        exch    r1, [x]
        finish
";
    let (code, _, err) = grad(&["-"], arc);
    assert_eq!((code, err.contains("error[P0113]")), (1, true), "{err}");
    assert!(err.contains("running backward with gradients: [y] at 1 = 1.5707963267948966, r1 = 1.0"), "{err}");
    assert!(err.contains("or the derivative does not exist here, as that of an arc sine at 1"), "{err}");
    let (code, value) = as_json(&["-", "--json"], arc);
    let trap = &value["outcome"]["trap"];
    assert_eq!(
        (code, &trap["code"], &trap["direction"], &trap["level"]),
        (1, &json!("P0113"), &json!("backward"), &json!(1))
    );
    // Where no gradient comes to it, it does not matter.
    prints(&["-", "--seed", "0"], arc, "y    = 1.5707963267948966\n∂/∂x = 0.0\n");
    // That of a root at 0 is taken as 0.
    prints(
        &["examples/norm.rasm", "--set", "x=[0,0,0,0,0,0,0,0]"],
        "",
        "norm = 0.0\n∂/∂x = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]\n",
    );
}

#[test]
#[ignore = "takes seconds: part of .ci/full"]
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
