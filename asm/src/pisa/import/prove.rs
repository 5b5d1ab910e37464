//! Proves that certain jumps between the branches of a pair never happen.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pendula_isa::types::Reg;

use super::flow::Routine;
use super::native::registers;
use super::shape::{Code, Shape};

/// The maximum length of a stretch that is analysed, to limit the time.
const MAX_STRETCH: u32 = 2048;

/// A set of registers: a bit for each.
pub(super) type Set = u32;

pub(super) const fn bit(reg: Reg) -> Set {
    1 << reg.number()
}

/// The call graph.
pub(super) struct Calls {
    /// By number: the procedures in the order of addresses, then a node that calls all procedures that may be called by
    /// their distance.
    callees: Vec<Vec<usize>>,
    numbers: HashMap<u32, usize>,
}

impl Calls {
    pub(super) fn of(units: &BTreeMap<Option<u32>, Routine>, candidates: &BTreeSet<u32>) -> Calls {
        let numbers: HashMap<u32, usize> = units.keys().copied().flatten().zip(0..).collect();
        let number = |entry: &u32| numbers.get(entry).copied();
        let of_unit = |unit: &Routine| {
            let by_distance = (!unit.swaps.is_empty()).then_some(numbers.len());
            unit.calls.iter().filter_map(number).chain(by_distance).collect()
        };
        let mut callees: Vec<Vec<usize>> = units.values().filter(|unit| !unit.main).map(of_unit).collect();
        callees.push(candidates.iter().filter_map(number).collect());
        Calls { callees, numbers }
    }

    /// For each procedure, by number, the union of the register sets of the procedure and of all procedures that it
    /// calls, directly or indirectly.
    fn gather(&self, registers_of: impl Fn(u32) -> Set) -> Vec<Set> {
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); self.callees.len()];
        for (caller, callees) in self.callees.iter().enumerate() {
            callees.iter().for_each(|callee| callers[*callee].push(caller));
        }
        let mut sets = vec![0; self.callees.len()];
        for (entry, number) in &self.numbers {
            sets[*number] = registers_of(*entry);
        }
        let mut queue: Vec<usize> = (0..sets.len()).collect();
        while let Some(callee) = queue.pop() {
            for &caller in &callers[callee] {
                let set = sets[caller] | sets[callee];
                if set != sets[caller] {
                    sets[caller] = set;
                    queue.push(caller);
                }
            }
        }
        sets
    }

    /// The same for the callees alone, direct and indirect. They include the procedure itself if it is recursive.
    pub(super) fn below(&self, registers_of: impl Fn(u32) -> Set) -> impl Fn(u32) -> Set {
        let sets = self.gather(registers_of);
        move |entry| {
            let callees = self.numbers.get(&entry).map_or(&[][..], |number| &self.callees[*number]);
            callees.iter().fold(0, |set, callee| set | sets[*callee])
        }
    }
}

/// Removes the backward jump of each pair of branches with the same condition, if nothing between them changes its
/// operands: if the condition holds at the first branch, the code between them is skipped; if it does not, the second
/// branch does not jump back.
pub(super) fn directions(code: &Code<'_>, units: &mut BTreeMap<Option<u32>, Routine>, calls: &Calls) {
    let registers_of = |entry: u32| {
        let places = units.get(&Some(entry)).into_iter().flat_map(|unit| unit.places().chain([entry]));
        let registers = places.filter_map(|at| code.get(at)).flat_map(registers);
        registers.filter(|(_, written)| *written).fold(0, |set, (reg, _)| set | bit(reg))
    };
    let sets = calls.gather(registers_of);
    let by_swap = sets.last().copied().unwrap_or_default();
    let written = |entry: u32| calls.numbers.get(&entry).map(|number| sets[*number]);
    for unit in units.values_mut() {
        let ends: Vec<u32> = unit.nodes.keys().copied().collect();
        for top in ends {
            let Ok(Shape::Pair(bottom)) = code.shape(top) else { continue };
            let test = code.test(top);
            if bottom < top || bottom - top > MAX_STRETCH || test.is_always() || test != code.test(bottom) {
                continue;
            }
            if !unit.main && (top..=bottom).contains(&unit.entry)
                || unit.main && (top + 1..=bottom).contains(&unit.entry)
            {
                continue;
            }
            let tested = test.reads().fold(0, |bits, r| bits | bit(r));
            let stays = (top + 1..bottom).filter(|at| {
                // Code that control does not reach has no effect.
                unit.nodes.contains_key(at) || unit.reversed.range(..*at).next_back().is_some_and(|(_, q)| at < q)
            });
            let mut stays = stays.map(|at| match code.shape(at) {
                Ok(Shape::Pair(to)) => (top + 1..bottom).contains(&to),
                Ok(Shape::Call { entry, .. }) => written(entry).is_some_and(|w| w & tested == 0),
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
