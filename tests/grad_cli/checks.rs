//! `--check`: the comparison with finite differences.

use super::*;

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

/// A run over dual numbers may need more than the run backward: where nothing asks for a derivative, it has none.
#[test]
fn a_check_that_traps_spoils_no_gradient() {
    // The arc sine of 1 is used by nothing.
    let source = "
        .data
        .import x
        .export y
x:      .double 1
y:      .double 0
        .text
main:   start
        exch    r1, [x]
        addasin.f r2, r1
        addmul.f [y], r1, 3.0
        subasin.f r2, r1
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
