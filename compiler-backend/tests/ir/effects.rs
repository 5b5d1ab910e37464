use pendula_isa::table::Row;

use crate::common::small::{INTS, REALS, program, read};
use pendula_compiler::ir::effects::*;
use pendula_compiler::ir::{FunctionId, Operand, Step};

/// The effects of statements, with the variables `x`, `y`, `a`, `n`, `t`, `u`, `i` and `j` as 0 to 7.
fn effects(declarations: &str, body: &str) -> Effects {
    let p = program(declarations, body);
    Effects::of_block(&Summaries::new(&p), &p.functions[0].body)
}

fn set(of: &[u32]) -> Set {
    of.iter().copied().collect()
}

#[test]
fn an_update_reads_its_arguments_and_writes_its_place() {
    let e = effects(INTS, "x += mul.i(a, n)");
    assert_eq!((e.reads, e.writes, e.traps), (set(&[2, 3]), set(&[0]), false));
}

#[test]
fn an_address_is_read_and_may_trap() {
    let e = effects(INTS, "m[a + n] += id.i(x)");
    assert_eq!((e.reads, e.writes), (set(&[0, 2, 3]), set(&[])));
    assert_eq!((e.regions_read, e.regions_written, e.traps), (set(&[]), set(&[0]), true));
}

#[test]
fn a_division_traps_unless_the_divisor_is_known() {
    assert!(effects(INTS, "x += div.i(y, a)").traps);
    assert!(effects(INTS, "x += div.i(y, 0)").traps);
    assert!(!effects(INTS, "x += div.i(y, 3)").traps);
}

#[test]
fn sums_of_floats_are_inexact() {
    assert!(effects(REALS, "x += id.f(a)").inexact);
    assert!(!effects(REALS, "x ^= id.f(a)").inexact);
    assert!(!effects(REALS, "w += id.q(b)").inexact);
}

#[test]
fn a_checked_life_may_trap_at_either_end() {
    assert!(effects(INTS, "begin t check\nend t").traps);
    let e = effects(INTS, "begin t\nend t drop");
    assert_eq!((e.traps, e.writes), (false, set(&[4])));
}

#[test]
fn statements_disturb_what_reads_their_results() {
    let (first, second) = (effects(INTS, "x += id.i(a)"), effects(INTS, "y += id.i(x)"));
    assert!(first.disturbs(&second));
    assert!(!second.disturbs(&first));
    assert!(!effects(INTS, "m[a] += id.i(1)").disturbs(&second));
    assert!(effects(INTS, "m[a] += id.i(1)").disturbs(&effects(INTS, "y += id.i(m[n])")));
}

#[test]
fn a_call_does_what_its_function_does() {
    let of = |body: &str| {
        let p = read(&format!(
            "program Q32.32\nfun f {{\nout y: i\nin p: i\nvar b: i\nregion p: i\nregion own: i\n{body}\n}}\n\
             fun main {{\nout x: i\nin a: i\ncall f(x, a)\n}}"
        ));
        Effects::of_block(&Summaries::new(&p), &p.functions[1].body)
    };
    let e = of("y += id.i(p)");
    assert_eq!((e.reads, e.writes), (set(&[1]), set(&[0])));
    assert!(!e.reads_memory && !e.writes_memory && !e.traps);
    assert!(of("y += id.i(p[p])").reads_memory);
    assert!(of("p[p] += id.i(y)").writes_memory);
    // An array of its own is nobody else's.
    assert!(!of("array b: i[3] in own\nown[b] += id.i(1)\nown[b] -= id.i(1)\nunarray b: i[3] in own").writes_memory);
    assert!(of("print 0").shows);
    // It may not come to an end.
    assert!(of("call f(y, p)").traps);
}

#[test]
fn callees_come_before_callers() {
    let p = read(
        "program Q32.32\nfun a { in n: i\ncall b(n)\n}\nfun b { in n: i\ncall c(n)\ncall d(n) }\n\
         fun c { in n: i\ncall b(n) }\nfun d { in n: i }",
    );
    let mut order = callees_first(&p);
    order.iter_mut().for_each(|component| component.sort_unstable());
    assert_eq!(order, [vec![3], vec![1, 2], vec![0]]);
    let summaries = Summaries::new(&p);
    let recursive = [0, 1, 2, 3].map(|n| summaries.get(FunctionId(n)).recursive);
    assert_eq!(recursive, [false, true, true, false]);
}

#[test]
fn turns_of_a_loop_with_known_bounds() {
    let of = |first: i64, last: i64, step| {
        let word = |k: i64| Operand::Const(k.cast_unsigned());
        trip_count(word(first), word(last), Step::Const(step))
    };
    assert_eq!(of(1, 10, 1), Some(10));
    assert_eq!(of(10, 1, -3), Some(4));
    assert_eq!(of(5, 5, -1), Some(1));
    assert_eq!(of(1, 0, 1), Some(0));
    // The last value is not reached; a step of 0; more turns than a word counts.
    assert_eq!(of(1, 10, 2), None);
    assert_eq!(of(1, 1, 0), None);
    assert_eq!(of(i64::MIN, i64::MAX, 1), None);
}

#[test]
fn the_first_operands_of_a_row_are_written() {
    assert_eq!([Row::Swap, Row::Neg, Row::Rol, Row::Rot].map(written_operands), [2, 1, 1, 2]);
}
