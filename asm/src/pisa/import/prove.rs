//! Which of the ways that a pair of branches could lead it never does.

use std::collections::{BTreeMap, BTreeSet};

use pendula_isa::types::Reg;

use super::flow::{Code, Shape, Unit};
use super::native::registers;

/// With more procedures nothing is proved of calls, and of longer stretches than this nothing either: it would take long.
pub(super) const MANY: usize = 2048;

/// The procedures that may be called, directly or not, while this one is at work.
pub(super) fn reached(units: &BTreeMap<Option<u32>, Unit>, candidates: &BTreeSet<u32>, entry: u32) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut queue = vec![entry];
    while let Some(entry) = queue.pop() {
        let Some(unit) = units.get(&Some(entry)) else { continue };
        let swapped = if unit.swaps.is_empty() { None } else { Some(candidates.iter()) };
        for &to in unit.calls.iter().chain(swapped.into_iter().flatten()) {
            if found.insert(to) {
                queue.push(to);
            }
        }
    }
    found
}

/// The registers that each procedure may write, with those that it calls, a bit for each.
fn writes(code: &Code<'_>, units: &BTreeMap<Option<u32>, Unit>, candidates: &BTreeSet<u32>) -> BTreeMap<u32, u32> {
    let own = |unit: &Unit| {
        let insts = unit.places().chain([unit.entry]).filter_map(|at| code.get(at));
        insts.flat_map(registers).filter(|(_, w)| *w).fold(0, |bits, (r, _)| bits | bit(r))
    };
    let own: BTreeMap<u32, u32> = units.iter().filter_map(|(e, u)| Some(((*e)?, own(u)))).collect();
    let with_called = |entry: u32| {
        let called = reached(units, candidates, entry);
        called.iter().chain([&entry]).filter_map(|e| own.get(e)).fold(0, |bits, b| bits | b)
    };
    own.keys().map(|e| (*e, with_called(*e))).collect()
}

const fn bit(reg: Reg) -> u32 {
    1 << reg.number()
}

/// Takes away the way back of each pair of branches that stand under one condition, of which nothing between them changes the
/// operands: what is left out where it holds at the first of them is not come back to from the second, where it does not.
pub(super) fn directions(code: &Code<'_>, units: &mut BTreeMap<Option<u32>, Unit>, candidates: &BTreeSet<u32>) {
    if units.len() > MANY {
        return;
    }
    let written = writes(code, units, candidates);
    let by_swap = candidates.iter().filter_map(|c| written.get(c)).fold(0, |bits, b| bits | b);
    for unit in units.values_mut() {
        let ends: Vec<u32> = unit.nodes.keys().copied().collect();
        for top in ends {
            let Ok(Shape::Pair(bottom)) = code.shape(top) else { continue };
            let test = code.test(top);
            if bottom < top || (bottom - top) as usize > MANY || test.is_always() || test != code.test(bottom) {
                continue;
            }
            if !unit.main && (top..=bottom).contains(&unit.entry)
                || unit.main && (top + 1..=bottom).contains(&unit.entry)
            {
                continue;
            }
            let tested = test.reads().fold(0, |bits, r| bits | bit(r));
            let stays = (top + 1..bottom).filter(|at| {
                // What control does not come to does nothing.
                unit.nodes.contains_key(at) || unit.turned.range(..*at).next_back().is_some_and(|(_, q)| at < q)
            });
            let mut stays = stays.map(|at| match code.shape(at) {
                Ok(Shape::Pair(to)) => (top + 1..bottom).contains(&to),
                Ok(Shape::Call { entry, .. }) => written.get(&entry).is_some_and(|w| w & tested == 0),
                Ok(Shape::Swap(reg)) => (bit(reg) | by_swap) & tested == 0,
                Ok(Shape::End(_)) | Err(_) => false,
                Ok(_) => !code.get(at).into_iter().flat_map(registers).any(|(r, w)| w && bit(r) & tested != 0),
            });
            if stays.all(|stays| stays) {
                if let Some(node) = unit.nodes.get_mut(&bottom) {
                    node.jumps = false;
                }
                if let Some(node) = unit.nodes.get_mut(&top) {
                    node.landed = false;
                }
            }
        }
    }
}
