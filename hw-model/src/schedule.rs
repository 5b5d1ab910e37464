//! Schedules for running a long computation of N similar steps reversibly, and their costs in time (step executions),
//! space (stored states) and erased states: Bennett's, its hybrid with erasing, Knill's optimal pebble game and
//! treeverse. This module counts states and steps; the caller converts them to joules.

/// The cost of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Step executions, forward and backward, saturating at the maximum.
    pub steps: u128,
    /// The maximum number of states stored at the same time, including input and output.
    pub states: u128,
    /// States erased.
    pub erased: u128,
}

/// Keeps every state to the end, and then erases all but the first and the last, so that all schedules end alike: one execution of each of n steps,
/// n + 1 states, n − 1 erasures.
pub fn keep_all(n: u128) -> Cost {
    Cost { steps: n, states: n.saturating_add(1), erased: n.saturating_sub(1) }
}

/// Erases every state as soon as its successor exists: one execution of each step, two states, n − 1 erasures.
pub fn erase_all(n: u128) -> Cost {
    Cost { steps: n, states: 2, erased: n.saturating_sub(1) }
}

/// Bennett's recursion over k^n steps (Bennett 1989): (2k−1)^n step executions, n(k−1)+2 states at the peak, nothing erased.
pub fn bennett(k: u128, n: u32) -> Cost {
    hybrid(k, n, n)
}

/// Bennett's recursion in the lowest m of n levels, above which states are erased: k^(n−m)·(2k−1)^m step executions and k^(n−m) − 1
/// erasures.
pub fn hybrid(k: u128, n: u32, m: u32) -> Cost {
    assert!(k >= 2 && m <= n, "k is at least 2, and m at most n");
    let blocks = k.saturating_pow(n - m);
    let steps = blocks.saturating_mul((2 * k - 1).saturating_pow(m));
    // Beside the states of the recursion, the input and output of one block.
    let states = u128::from(m) * (k - 1) + 2;
    Cost { steps, states, erased: blocks - 1 }
}

/// The number of reversible levels at which the hybrid is cheapest, for the prices of a step execution and of erasing a
/// state (in the same unit): the smallest m at which another level would cost more in steps than it saves in erasures.
pub fn best_hybrid(k: u128, n: u32, step: f64, erase: f64) -> u32 {
    let price = |m: u32| {
        let cost = hybrid(k, n, m);
        cost.steps as f64 * step + cost.erased as f64 * erase
    };
    (0..=n).min_by(|a, b| price(*a).total_cmp(&price(*b))).unwrap_or(0)
}

/// Knill's optimal pebble game on a line of `n` steps with `pebbles` beside that of the input (Knill 1995): the minimum
/// number of step executions that place a pebble on the last state and clear all others; `None` if that many pebbles do
/// not suffice.
///
/// F(n, p) = min over m of F(m, p) + F(m, p − 1) + F(n − m, p − 1): reach m, continue from there, clear m.
pub fn knill(n: usize, pebbles: usize) -> Option<Cost> {
    if n == 0 {
        return Some(Cost { steps: 0, states: 1, erased: 0 });
    }
    // More than n pebbles are not needed.
    let pebbles = pebbles.min(n);
    // One row for each number of pebbles: executions for 0 to n steps.
    let mut row: Vec<Option<u128>> = vec![None; n + 1];
    row[0] = Some(0);
    for p in 1..=pebbles {
        let fewer = row.clone();
        let mut new = vec![None; n + 1];
        new[0] = Some(0u128);
        new[1] = Some(1);
        for length in 2..=n {
            if p <= 64 && length as u128 > 1 << (p - 1) {
                // The maximum distance that p pebbles can reach without leaving anything behind.
                break;
            }
            new[length] = (1..length)
                .filter_map(|m| {
                    let there: u128 = new[m]?;
                    Some(there.saturating_add(fewer[m]?).saturating_add(fewer[length - m]?))
                })
                .min();
        }
        row = new;
    }
    row[n].map(|steps| Cost { steps, states: pebbles as u128 + 1, erased: 0 })
}

/// Treeverse, checkpointing for a gradient (Griewank 1992; Griewank and Walther 2000, revolve): reverses `n` steps with
/// `snapshots` states stored beside the input by re-executing steps forward. It overwrites every state that it computes
/// except one, which counts as erasing. Without a snapshot every step is computed from the start.
///
/// Steps: with r the smallest number with binom(s + r, s) ≥ n, t = r·n − binom(s + r, s + 1) forward executions beside
/// the n of the reversal.
pub fn treeverse(n: u128, snapshots: u32) -> Cost {
    let s = u128::from(snapshots) + 1;
    let mut repetitions = 0;
    while binomial(s + repetitions, s) < n {
        repetitions += 1;
    }
    let extra = (repetitions.saturating_mul(n)).saturating_sub(binomial(s + repetitions, s + 1));
    let steps = extra.saturating_add(n);
    // The input, the snapshots and the current state. Of the computed states only the input remains.
    Cost { steps, states: s + 1, erased: extra }
}

fn binomial(n: u128, k: u128) -> u128 {
    let k = k.min(n.saturating_sub(k));
    (0..k).fold(1u128, |product, i| product.saturating_mul(n - i) / (i + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeSet, HashMap};

    #[test]
    fn bennett_by_formula_and_by_doing_it() {
        for (k, n, steps, states) in [(4, 4, 2401, 14), (3, 3, 125, 8), (10, 2, 361, 20)] {
            assert_eq!(bennett(k, n), Cost { steps, states, erased: 0 });
        }
        // The recursion itself, with the states that it stores.
        fn go(
            k: usize,
            n: u32,
            base: usize,
            forward: bool,
            held: &mut BTreeSet<usize>,
            steps: &mut u128,
            peak: &mut usize,
        ) {
            if n == 0 {
                assert!(held.contains(&base), "a step from a state that is not there");
                *steps += 1;
                if forward {
                    assert!(held.insert(base + 1));
                } else {
                    assert!(held.remove(&(base + 1)));
                }
                *peak = (*peak).max(held.len());
                return;
            }
            let size = k.pow(n - 1);
            for i in 0..k {
                go(k, n - 1, base + i * size, if i + 1 == k { forward } else { true }, held, steps, peak);
            }
            for i in (0..k - 1).rev() {
                go(k, n - 1, base + i * size, false, held, steps, peak);
            }
        }
        for (k, n) in [(2, 1), (2, 5), (3, 3), (4, 4), (10, 2)] {
            let (mut held, mut steps, mut peak) = (BTreeSet::from([0]), 0, 0);
            go(k, n, 0, true, &mut held, &mut steps, &mut peak);
            assert_eq!(held, BTreeSet::from([0, k.pow(n)]));
            let cost = bennett(k as u128, n);
            assert_eq!((cost.steps, cost.states), (steps, peak as u128), "{k} {n}");
        }
    }

    #[test]
    fn the_hybrid_erases_what_the_recursion_does_not_reach() {
        assert_eq!(hybrid(4, 4, 0), Cost { steps: 256, states: 2, erased: 255 });
        assert_eq!(hybrid(4, 4, 4), bennett(4, 4));
        assert_eq!(hybrid(4, 4, 2), Cost { steps: 16 * 49, states: 8, erased: 15 });
        // The closed form: the smallest m with (2k−1)^m ≥ B·e_erase/e_step, up to the whole number around it.
        for ratio in [0.1, 1.0, 3.0, 10.0, 60.0, 400.0, 1e5] {
            let m = best_hybrid(4, 6, 1.0, ratio);
            let closed = (0..6).find(|m| 7f64.powi(*m) >= ratio).unwrap_or(6) as u32;
            assert!(m.abs_diff(closed) <= 1, "{ratio}: {m} {closed}");
        }
    }

    #[test]
    fn knill_against_the_published_and_against_search() {
        for (n, steps) in [(4, 9), (8, 25), (16, 71), (32, 193)] {
            let pebbles = (n as f64).log2() as usize + 1;
            assert_eq!(knill(n, pebbles).map(|c| c.steps), Some(steps), "{n}");
        }
        assert_eq!((knill(4, 2), knill(8, 3)), (None, None));
        assert_eq!(knill(5, 9).map(|c| c.steps), Some(9), "out and back");
        // Breadth-first search over all positions of the game.
        for n in 1usize..=7 {
            for pebbles in 1..=n {
                let mut distance = HashMap::from([(0u32, 0u128)]);
                let mut edge = vec![0u32];
                while !edge.is_empty() {
                    let mut next = Vec::new();
                    for position in edge {
                        for at in 0..n {
                            let ready = at == 0 || position >> (at - 1) & 1 == 1;
                            let moved = position ^ 1 << at;
                            if ready && moved.count_ones() as usize <= pebbles && !distance.contains_key(&moved) {
                                distance.insert(moved, distance[&position] + 1);
                                next.push(moved);
                            }
                        }
                    }
                    edge = next;
                }
                let found = distance.get(&(1 << (n - 1))).copied();
                assert_eq!(knill(n, pebbles).map(|c| c.steps), found, "{n} {pebbles}");
            }
        }
    }

    #[test]
    fn treeverse_against_dynamic_programming() {
        // t(n, s): forward executions to reverse n steps with s states available: advance m steps and store the state,
        // reverse the rest with one state fewer, then the first m.
        let mut table: HashMap<(u128, u128), u128> = HashMap::new();
        fn t(n: u128, s: u128, table: &mut HashMap<(u128, u128), u128>) -> u128 {
            if n <= 1 {
                return 0;
            }
            if s == 1 {
                return n * (n - 1) / 2;
            }
            if let Some(found) = table.get(&(n, s)) {
                return *found;
            }
            let best = (1..n).map(|m| m + t(n - m, s - 1, table) + t(m, s, table)).min().unwrap();
            table.insert((n, s), best);
            best
        }
        for n in 1..40 {
            for snapshots in 0..6u32 {
                let cost = treeverse(n, snapshots);
                assert_eq!(cost.steps, n + t(n, u128::from(snapshots) + 1, &mut table), "{n} {snapshots}");
                assert_eq!(cost.states, u128::from(snapshots) + 2);
            }
        }
    }
}
