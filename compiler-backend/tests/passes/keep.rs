use crate::common::small::{becomes, stays};
use pendula_compiler::passes::Pass;

const WORDS: &str = "in a: i\nin n: i\nvar i: i\nregion m: i\nregion o: i";

#[test]
fn a_word_that_each_turn_uses_is_kept() {
    becomes(
        Pass::Keep,
        WORDS,
        "for i = 1 to 9 step 1 { m[a] += mul.i(o[n + 8], i) }",
        "with \"kept\" {
            begin m
            apply swap.i(m, m[a])
        } do {
            for i = 1 to 9 step 1 {
                m += mul.i(o[n + 8], i)
            }
        }",
    );
}

#[test]
fn a_word_is_kept_only_where_there_is_a_turn() {
    // The exchange may trap.
    becomes(
        Pass::Keep,
        WORDS,
        "for i = 1 to n step 1 { m[a] += mul.i(o[n + 8], i) }",
        "if 1 le.i n {
            with \"kept\" {
                begin m
                apply swap.i(m, m[a])
            } do {
                for i = 1 to n step 1 {
                    m += mul.i(o[n + 8], i)
                }
            }
        } post 1 le.i n",
    );
}

#[test]
fn words_that_may_be_another_stay() {
    for body in [
        // One word of memory for an instruction: nothing is saved.
        "m[a] += id.i(i)",
        // Other words in each turn.
        "m[i] += id.i(o[i + 8])",
        // Two addresses in one region may be the same.
        "m[a] += id.i(m[n])",
        // Not in each turn.
        "if i lt.i n { m[a] += id.i(o[n]) } post i lt.i n",
    ] {
        stays(Pass::Keep, WORDS, &format!("for i = 1 to 9 step 1 {{ {body} }}"));
    }
    // A single turn.
    stays(Pass::Keep, WORDS, "for i = 1 to 1 step 1 { m[a] += id.i(o[n]) }");
}
