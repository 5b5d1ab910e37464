//! Which of the ways that a pair of branches could lead it never does.

use std::collections::{BTreeMap, BTreeSet};

use pendula_isa::types::Reg;

use super::flow::{Code, Shape, Unit};
use super::native::registers;

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

/// The registers that a procedure may write, with those that it calls.
fn writes(
    code: &Code<'_>,
    units: &BTreeMap<Option<u32>, Unit>,
    candidates: &BTreeSet<u32>,
    entry: u32,
) -> BTreeSet<Reg> {
    let all = reached(units, candidates, entry).into_iter().chain([entry]);
    let places = all.filter_map(|e| units.get(&Some(e))).flat_map(|u| u.places().chain([u.entry]));
    places.filter_map(|at| code.get(at)).flat_map(registers).filter(|(_, w)| *w).map(|(r, _)| r).collect()
}

/// Takes away the way back of each pair of branches that stand under one condition, of which nothing between them changes the
/// operands: what is left out where it holds at the first of them is not come back to from the second, where it does not.
pub(super) fn directions(code: &Code<'_>, units: &mut BTreeMap<Option<u32>, Unit>, candidates: &BTreeSet<u32>) {
    let entries: Vec<u32> = units.keys().copied().flatten().collect();
    let written: BTreeMap<u32, BTreeSet<Reg>> =
        entries.into_iter().map(|e| (e, writes(code, units, candidates, e))).collect();
    let by_swap: BTreeSet<Reg> = candidates.iter().filter_map(|c| written.get(c)).flatten().copied().collect();
    for unit in units.values_mut() {
        let ends: Vec<u32> = unit.nodes.keys().copied().collect();
        for top in ends {
            let Ok(Shape::Pair(bottom)) = code.shape(top) else { continue };
            let test = code.test(top);
            if bottom < top || test.is_always() || test != code.test(bottom) {
                continue;
            }
            if !unit.main && (top..=bottom).contains(&unit.entry)
                || unit.main && (top + 1..=bottom).contains(&unit.entry)
            {
                continue;
            }
            let changes = |reg: Reg| test.reads().any(|r| r == reg);
            let stays = (top + 1..bottom).filter(|at| {
                // What control does not come to does nothing.
                unit.nodes.contains_key(at) || unit.turned.range(..*at).next_back().is_some_and(|(_, q)| at < q)
            });
            let mut stays = stays.map(|at| match code.shape(at) {
                Ok(Shape::Pair(to)) => (top + 1..bottom).contains(&to),
                Ok(Shape::Call { entry, .. }) => !written.get(&entry).is_none_or(|w| w.iter().any(|r| changes(*r))),
                Ok(Shape::Swap(reg)) => !changes(reg) && !by_swap.iter().any(|r| changes(*r)),
                Ok(Shape::End(_)) | Err(_) => false,
                Ok(_) => !code.get(at).into_iter().flat_map(registers).any(|(r, w)| w && changes(r)),
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
