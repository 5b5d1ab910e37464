//! Variables to which a turn of a loop adds several times. Where gcc makes vectors of such turns, it must not change the order of the additions; gcc 12 does,
//! and even adds other numbers, if the turn goes through words of memory downward.

use std::collections::{HashMap, HashSet};

use crate::loops::{Bound, Count, Local, Step, Stmt};
use crate::ops::{Float, Op};

/// How many turns a loop within may have that is written out for a loop around it, at most.
const SHORT: u64 = 64;

/// The words of variables to which a turn of a loop adds several times.
pub(super) fn chained(count: &Count) -> HashSet<(Local, usize)> {
    let mut times = HashMap::new();
    for body in std::iter::once(&count.body).chain(count.jammed.as_ref().map(|jammed| &jammed.body)) {
        let mut here = HashMap::new();
        add(body, 1, &mut here);
        times.extend(here.into_iter().filter(|(_, n)| *n > 1));
    }
    times.into_keys().collect()
}

fn add(body: &[Stmt], weight: u32, times: &mut HashMap<(Local, usize), u32>) {
    for s in body {
        if let Stmt::Block(block) = s {
            for op in &block.ops {
                let Op::Set(lane, reg, v) = *op else { continue };
                if !matches!(block.ops[v.0 as usize], Op::Float(Float::Add | Float::Sub, ..) | Op::Select(..)) {
                    continue;
                }
                if let Some(word) = block.local_word(lane, reg) {
                    *times.entry(word).or_default() += weight;
                }
            }
        }
        // A loop with a small known number of turns may be written out.
        let weight = if matches!(s, Stmt::Count(count) if is_short(count)) { 2 * weight.min(1 << 16) } else { weight };
        s.inner().into_iter().for_each(|inner| add(inner, weight, times));
    }
}

fn is_short(count: &Count) -> bool {
    match (count.first, count.last, count.step) {
        (Bound::Const(first), Bound::Const(last), Step::Const(_)) => first.abs_diff(last) < SHORT,
        _ => false,
    }
}
