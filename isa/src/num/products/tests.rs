//! Sums by tiles of all kinds, beside loops.

use super::*;
use crate::sample;

/// Numbers that are no multiples of each other.
fn numbers(n: usize, seed: usize) -> Vec<f64> {
    (0..n).map(|k| ((k * k * 37 + (k + seed) * 11) % 1009) as f64 / 530.0 - 0.9).collect()
}

/// What loops make: whether something is to be noted.
fn expected(sums: &Sums, x: &mut [f64], y: &[f64], z: &[f64]) -> bool {
    let [p, q, r] = sums.counts.map(|n| n as i64);
    let mut noted = false;
    for (i, j, k) in (0..p).flat_map(|i| (0..q).flat_map(move |j| (0..r).map(move |k| (i, j, k)))) {
        let at = |n: usize, steps: [(i64, i64); 2]| {
            (sums.first[n] + steps[0].0 * steps[0].1 + steps[1].0 * steps[1].1) as usize
        };
        let term = y[at(1, [(i, sums.rows[1]), (k, sums.products[0])])]
            * z[at(2, [(k, sums.products[1]), (j, sums.columns[1])])];
        let to = &mut x[at(0, [(i, sums.rows[0]), (j, sums.columns[0])])];
        *to = if sums.flags & SUBTRACT != 0 { *to - term } else { *to + term };
        noted |= sums.flags & FINITE != 0 && !to.is_finite();
        noted |= sums.limit != 0 && (to.is_nan() || to.abs() > f64::from_bits(sums.limit));
    }
    noted
}

/// A way of making a sum.
type Maker = unsafe fn(&Sums) -> bool;

unsafe fn add_scalars(sums: &Sums) -> bool {
    // SAFETY: all words lie in the memories.
    unsafe { add_in::<f64, 4>(sums, [scalar::<false>, scalar::<true>]) }
}

/// All that this host has.
fn makers() -> Vec<(&'static str, Maker)> {
    let mut out: Vec<(&str, Maker)> = vec![("scalars", add_scalars)];
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            out.push(("AVX-512", x86_64::add_512::<false>));
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            out.push(("AVX2", x86_64::add_256::<false>));
        }
    }
    out
}

/// X, Y and Z by columns or by rows, forward or backward, with gaps or without.
fn layouts([p, q, r]: [usize; 3]) -> Vec<Sums> {
    let mut out = Vec::new();
    // Steps along the one side and the other, and where the first word is.
    let ways = |a: usize, b: usize, gap: usize| {
        let (a, b, by) = (a as i64, b as i64, gap as i64);
        let last = |s: i64, t: i64| s * (a - 1) + t * (b - 1);
        [(by, by * a, 0), (by * b, by, 0), (-by, -by * a, last(by, by * a)), (by * b, -by, by * (b - 1))]
    };
    for (n, x) in ways(p, q, 1).into_iter().chain(ways(p, q, 2)).enumerate() {
        let (y, z) = (ways(p, r, 1 + n % 3)[(n + 1) % 4], ways(r, q, 1)[(n + n / 4) % 4]);
        let null = std::ptr::null_mut();
        out.push(Sums {
            memories: [null; 3],
            first: [x.2, y.2, z.2],
            rows: [x.0, y.0],
            columns: [x.1, z.1],
            products: [y.1, z.0],
            counts: [p, q, r].map(|n| n as u64),
            flags: 0,
            limit: 0,
        });
    }
    out
}

#[test]
fn tiles_give_the_bits_of_loops() {
    let sizes = [[33, 9, 20], [64, 4, 130], [7, 13, 300], [1, 40, 17], [40, 1, 17], [32, 8, 1], [65, 66, 67]];
    for size in sample::some(sizes) {
        for (n, layout) in layouts(size).into_iter().enumerate() {
            for (name, make) in makers() {
                for (flags, limit) in [(0, 0.0), (SUBTRACT | FINITE, 0.0), (0, 1e9), (SUBTRACT, 8.0), (0, 1e-300)] {
                    let [mut x, mut y, mut z] = [size[0] * size[1], size[0] * size[2], size[1] * size[2]]
                        .map(|words| numbers(4 * words, words + n));
                    let infinite = n % 3 == 2;
                    if infinite {
                        y[layout.first[1] as usize] = f64::INFINITY;
                        z[layout.first[2] as usize] = 0.0;
                    }
                    let mut wanted = x.clone();
                    let sums = Sums {
                        memories: [x.as_mut_ptr(), y.as_mut_ptr(), z.as_mut_ptr()],
                        flags,
                        limit: f64::to_bits(limit),
                        ..layout
                    };
                    let what = format!("{name}, {size:?}, layout {n}, {flags}, {limit}");
                    let noted = expected(&sums, &mut wanted, &y, &z);
                    // SAFETY: all words lie in the vectors.
                    let found = unsafe { make(&sums.with_rows_in_order()) };
                    assert_eq!(found, noted, "{what}");
                    let bits =
                        |x: &[f64]| x.iter().map(|x| if x.is_nan() { 0 } else { x.to_bits() }).collect::<Vec<_>>();
                    assert!(bits(&x) == bits(&wanted), "{what}");
                }
            }
        }
    }
}

#[test]
fn nothing_is_done_where_words_lie_outside_or_in_each_other() {
    let mut words = numbers(4096, 1);
    let before = words.clone();
    let at = words.as_mut_ptr();
    let sums = Sums {
        memories: [at; 3],
        first: [0, 256, 512],
        rows: [1, 1],
        columns: [16, 16],
        products: [16, 1],
        counts: [16; 3],
        flags: 0,
        limit: 0,
    };
    let make = |all: &[Sums]| {
        // SAFETY: the memory has so many words.
        unsafe { add_products(all.as_ptr(), all.len() as u64, 4096) }
    };
    let moved = |n: usize, by: i64| {
        let mut out = sums;
        out.first[n] += by;
        out
    };
    let cases = [
        moved(0, -1),
        moved(1, 4096 - 256 - 255),
        moved(2, i64::MAX - 512),
        moved(0, 250),
        Sums { columns: [15, 16], ..sums },
        Sums { columns: [0, 16], ..sums },
        Sums { rows: [i64::MIN, 1], ..sums },
        Sums { counts: [16, 0, 16], ..sums },
        Sums { counts: [u64::MAX, 16, 16], ..sums },
        Sums { counts: [4, 4, 4], ..sums },
    ];
    for (n, case) in cases.iter().enumerate() {
        assert_eq!(make(&[*case]), NOT_DONE, "case {n}");
        // And no other sum either.
        assert_eq!(make(&[sums, *case]), NOT_DONE, "case {n}");
    }
    assert!(words == before);
    assert_eq!(make(&[sums]), DONE);
    assert!(words != before);
}
