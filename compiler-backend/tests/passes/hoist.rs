use crate::common::small::{INTS, REALS, becomes, program, stays};
use pendula_compiler::ir::Stmt;
use pendula_compiler::passes::Pass;

#[test]
fn what_is_the_same_in_each_turn_is_computed_before() {
    becomes(
        Pass::Hoist,
        INTS,
        "for i = 1 to n step 1 { with \"\" { begin t\n t += id.i(a)\n t += mul.i(n, 3) } do { x += mul.i(t, i) } }",
        "with \"hoisted\" {
            begin t
            t += id.i(a)
            t += mul.i(n, 3)
        } do {
            for i = 1 to n step 1 {
                x += mul.i(t, i)
            }
        }",
    );
    let from = "with \"\" { begin t\n t += id.i(a) } do {";
    // From the inner loop out of both.
    let mut p =
        program(INTS, &format!("for i = 1 to n step 1 {{ for j = 1 to n step 1 {{ {from} x += id.i(t) }} }} }}"));
    Pass::Hoist.run(&mut p);
    assert!(matches!(&p.functions[0].body[0].stmt, Stmt::With { .. }));
}

#[test]
fn the_invariant_terms_of_a_sum_are_hoisted() {
    becomes(
        Pass::Hoist,
        INTS,
        "for i = 1 to n step 1 { with \"\" { begin t\n t += id.i(a)\n t += id.i(i)\n t += mul.i(n, 3) } do { m[t] += id.i(1) } }",
        "with \"hoisted\" {
            begin t.base
            t.base += id.i(a)
            t.base += mul.i(n, 3)
        } do {
            for i = 1 to n step 1 {
                with \"\" {
                    begin t
                    t += id.i(t.base)
                    t += id.i(i)
                } do {
                    m[t] += id.i(1)
                }
            }
        }",
    );
}

#[test]
fn a_load_is_hoisted_only_where_there_is_a_turn() {
    // It may trap.
    becomes(
        Pass::Hoist,
        REALS,
        "for i = 1 to n step 1 { with \"\" { begin t check drop\n t += id.f(m[n]) } do { x += mul.f(t, a) } }",
        "if 1 le.i n {
            with \"hoisted\" {
                begin t check drop
                t += id.f(m[n])
            } do {
                for i = 1 to n step 1 {
                    x += mul.f(t, a)
                }
            }
        } post 1 le.i n",
    );
}

#[test]
fn what_changes_from_turn_to_turn_stays() {
    for body in [
        // It changes from turn to turn, by the loop or what it does.
        "t += id.i(i) } do { x += id.i(t) }",
        "t += id.i(x) } do { x += id.i(1) }",
        "t += id.i(m[a]) } do { m[n] += id.i(1) }",
        // It is changed, or has another life.
        "t += id.i(a) } do { t += id.i(1)\n t -= id.i(1) }",
        "t += id.i(a) } do { x += id.i(t) }\n begin t\n t += id.i(i)\n t -= id.i(i)\n end t",
        // It is read before it is complete.
        "t += id.i(a)\n begin u\n u += mul.i(t, i)\n t += id.i(n) } do { x += mul.i(u, t) }",
        "t += id.i(a)\n y += mul.i(t, i)\n t += id.i(n) } do { x += mul.i(y, t) }",
    ] {
        stays(Pass::Hoist, INTS, &format!("for i = 1 to n step 1 {{ with \"\" {{ begin t check\n {body} }}"));
    }
}

#[test]
fn a_sum_of_two_floats_needs_its_check() {
    // Two numbers added up are not restored to the last bit: without a check it stays.
    let two = |c: &str| {
        format!(
            "for i = 1 to 9 step 1 {{ with \"\" {{ begin t{c}\n t += id.f(a)\n t += id.f(a) }} do {{ x += id.f(t) }} }}"
        )
    };
    stays(Pass::Hoist, REALS, &two(""));
    let mut p = program(REALS, &two(" check"));
    Pass::Hoist.run(&mut p);
    assert!(matches!(&p.functions[0].body[0].stmt, Stmt::With { .. }));
}
