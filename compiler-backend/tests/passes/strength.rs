use crate::common::small::{INTS, becomes, stays};
use pendula_compiler::passes::Pass;

#[test]
fn a_product_with_the_index_is_stepped() {
    becomes(
        Pass::Strength,
        INTS,
        "for i = 1 to 9 step 1 { with \"\" { begin t check\n t += id.i(a)\n t += mul.i(i, n) } do { m[t] += id.i(1) } }",
        "with \"stepped\" {
            begin t
            t += id.i(a)
        } do {
            for i = 1 to 9 step 1 {
                t += id.i(n)
                m[t] += id.i(1)
            }
            t -= mul.i(n, 9)
        }",
    );
}

#[test]
fn an_index_in_an_ancilla_is_stepped() {
    // The loop may not run.
    becomes(
        Pass::Strength,
        INTS,
        "for i = 1 to n step 2 { with \"\" { begin u\n u += id.i(i)\n u -= id.i(1)\n begin t\n t += mul.i(n, u) } do { m[t] += id.i(u) } }",
        "if 1 le.i n {
            with \"stepped\" {
                begin t
                t += mul.i(n, -1)
            } do {
                t -= id.i(n)
                for i = 1 to n step 2 {
                    t += mul.i(n, 2)
                    with \"\" {
                        begin u
                        u += id.i(i)
                        u -= id.i(1)
                    } do {
                        m[t] += id.i(u)
                    }
                }
                t -= mul.i(n, n)
            }
        } post 1 le.i n",
    );
}

#[test]
fn what_is_no_sum_of_products_stays() {
    // Nothing to be saved, or not a sum.
    stays(
        Pass::Strength,
        INTS,
        "for i = 1 to 9 step 1 { with \"\" { begin t\n t += id.i(i) } do { m[t] += id.i(1) } }",
    );
    stays(
        Pass::Strength,
        INTS,
        "for i = 1 to 9 step 1 { with \"\" { begin t\n t += mul.i(i, i) } do { m[t] += id.i(1) } }",
    );
    stays(
        Pass::Strength,
        INTS,
        "for i = 1 to 9 step 1 { with \"\" { begin t\n t ^= mul.i(i, n) } do { m[t] += id.i(1) } }",
    );
    stays(
        Pass::Strength,
        INTS,
        "for i = 1 to 9 step 1 { with \"\" { begin t\n t += mul.i(i, n) } do { t += id.i(1)\n t -= id.i(1) } }",
    );
    stays(
        Pass::Strength,
        INTS,
        "for i = 1 to 9 step 1 { with \"\" { begin t\n t += mul.i(i, x) } do { x += id.i(1)\n x -= id.i(1) } }",
    );
    // It is read before it is complete.
    stays(
        Pass::Strength,
        INTS,
        "for i = 1 to 9 step 1 { with \"\" { begin t\n t += mul.i(i, n)\n y += id.i(t)\n t += id.i(a) } do { m[t] += id.i(1) } }",
    );
}
