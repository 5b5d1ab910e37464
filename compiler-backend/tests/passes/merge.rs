use crate::common::small::{INTS, REALS, becomes, program, stays};
use pendula_compiler::ir::text::print;
use pendula_compiler::passes::Pass;

#[test]
fn neighbours_that_compute_the_same_are_joined() {
    let two = |b: &str, c: &str, second: &str| {
        format!(
            "with \"\" {{ begin t\n t += id.i(y) }} do {{ {b} }}\nwith \"\" {{ begin {second}\n {second} += id.i(y) }} do {{ {c} }}"
        )
    };
    let after = "with \"\" {\nbegin t\nt += id.i(y)\n} do {\nx += id.i(t)\nx += mul.i(t, t)\n}";
    becomes(Pass::Merge, INTS, &two("x += id.i(t)", "x += mul.i(t, t)", "t"), after);
    becomes(Pass::Merge, INTS, &two("x += id.i(t)", "x += mul.i(u, u)", "u"), after);
    stays(Pass::Merge, INTS, &two("y += id.i(1)\n y -= id.i(1)", "x += id.i(t)", "t"));
    // The second one disturbs what the third one computes.
    let mut three = program(
        INTS,
        &(two("x += id.i(t)", "y += id.i(1)\n y -= id.i(1)", "t") + "\n" + &two("x += id.i(t)", "x += id.i(1)", "t")),
    );
    Pass::Merge.run(&mut three);
    assert_eq!(three.functions[0].body.len(), 2, "{}", print(&three));
    stays(Pass::Merge, INTS, &two("x += id.i(t)", "begin t\n x += mul.i(u, t)\n end t", "u"));
    let float = |more: &str| {
        let one = |x: &str| format!("with \"\" {{ begin t check\n t += id.f(a)\n {more} }} do {{ {x} += id.f(t) }}\n");
        one("x") + &one("y")
    };
    let mut p = program(REALS, &float(""));
    Pass::Merge.run(&mut p);
    assert_eq!(p.functions[0].body.len(), 1);
    stays(Pass::Merge, REALS, &float("t += id.f(a)"));
}
