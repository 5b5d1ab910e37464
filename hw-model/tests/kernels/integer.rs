//! Unsigned division, and powers of integers.

use pendula_hw_model::circuit::kernels::Formats;
use pendula_isa::table::{TableFn, int_fn};

use crate::kernels::harness::{check, edges, mask, some};

#[test]
fn division_and_powers() {
    for width in [8, 13] {
        let formats = Formats::of_width(width as usize);
        let mut cases: Vec<[u64; 3]> =
            edges(width).into_iter().flat_map(|a| [[a, 0, 0], [a, 3, 0], [a, a, 0]]).collect();
        cases.extend(some(41, 300, |r| r.sized(width)));
        let power = |[a, b, _]: [u64; 3]| {
            let times = |x: u64, y: u64| x.wrapping_mul(y) & mask(width);
            Some((0..b).fold(1, |power, _| times(power, a)))
        };
        check(TableFn::Int(int_fn::Name::Udiv), &formats, &cases, |[a, b, _]| a.checked_div(b));
        check(TableFn::Int(int_fn::Name::Umod), &formats, &cases, |[a, b, _]| a.checked_rem(b));
        check(TableFn::Int(int_fn::Name::Pow), &formats, &cases, power);
    }
}
