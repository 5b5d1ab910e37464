//! Register allocation: a linear scan over the lives of virtual registers.
//!
//! Every life gets one location. The cost of calls decides between registers: words in registers that a callee uses are
//! exchanged to the frame around the call, and arguments of calls are best in the registers of these arguments. If there
//! are more lives at a time than registers, those that are used least, weighted by loops, are in the frame. Then some
//! registers stay free for bringing such words in.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::call::{FIRST_ARGUMENT, IN_REGISTERS};
use super::ops::{Linear, VReg};

/// Where a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// In this register.
    Reg(u8),
    /// In this word of the frame.
    Slot(i64),
}

/// The number of registers for variables and temporaries: `r1` to `r29`.
pub(super) const REGISTERS: usize = 29;
/// The number of registers that stay free if some words are in the frame.
const RESERVED: usize = 3;

/// The locations of all lives, and the number of frame words that they take.
pub(super) struct Allocation {
    pub(super) of: Vec<Location>,
    pub(super) slots: i64,
}

/// Allocates locations. `clobbers` has the registers that each function uses, as a bit mask; `stack_slot` gives the frame
/// word of a parameter that is not passed in a register.
pub(super) fn allocate(linear: &Linear, clobbers: &[u32], stack_slot: impl Fn(usize) -> i64) -> Allocation {
    let costs = Costs::new(linear, clobbers);
    let (mut places, spilled) = scan(linear, &costs, REGISTERS);
    if spilled {
        places = scan(linear, &costs, REGISTERS - RESERVED).0;
    }
    let mut locations = vec![Location::Reg(31); linear.lives.len()];
    let mut free = Vec::new();
    let mut taken: BinaryHeap<Reverse<(u32, i64)>> = BinaryHeap::new();
    let mut slots = 0;
    for (n, life) in linear.lives.iter().enumerate().skip(1) {
        locations[n] = match (places[n], life.param) {
            (Some(reg), _) => Location::Reg(reg),
            (None, Some(p)) if p as usize >= IN_REGISTERS => Location::Slot(stack_slot(p as usize)),
            (None, _) => {
                while let Some(&Reverse((end, slot))) = taken.peek()
                    && end < life.start
                {
                    taken.pop();
                    free.push(slot);
                }
                let slot = free.pop().unwrap_or_else(|| {
                    slots += 1;
                    slots - 1
                });
                taken.push(Reverse((life.end, slot)));
                Location::Slot(slot)
            }
        };
    }
    Allocation { of: locations, slots }
}

/// The costs that calls cause for words in each register, as prefix sums over the calls.
struct Costs {
    /// The operations that are calls.
    at: Vec<u32>,
    sums: Vec<[u64; REGISTERS + 1]>,
    clobbers: Vec<u32>,
}

impl Costs {
    fn new(linear: &Linear, clobbers: &[u32]) -> Costs {
        let mut sums = vec![[0; REGISTERS + 1]];
        let mut used = Vec::new();
        let mut sum = [0u64; REGISTERS + 1];
        for call in &linear.calls {
            let mask = clobbers.get(call.func as usize).copied().unwrap_or(u32::MAX);
            let passed = call.args.len().min(IN_REGISTERS);
            for (r, s) in sum.iter_mut().enumerate() {
                if mask & (1 << r) != 0 {
                    *s = s.saturating_add(2 * call.weight);
                }
                // The register of an argument, which would have to be moved.
                if (1..=passed).contains(&r) {
                    *s = s.saturating_add(2 * call.weight);
                }
            }
            sums.push(sum);
            used.push(mask);
        }
        Costs { at: linear.calls.iter().map(|c| c.at).collect(), sums, clobbers: used }
    }

    /// The cost of each register for this life.
    fn of(&self, linear: &Linear, n: usize) -> [u64; REGISTERS + 1] {
        let life = &linear.lives[n];
        let first = self.at.partition_point(|at| *at < life.start);
        let last = self.at.partition_point(|at| *at <= life.end);
        let mut cost = [0u64; REGISTERS + 1];
        for (r, c) in cost.iter_mut().enumerate() {
            *c = self.sums[last.max(first)][r].saturating_sub(self.sums[first][r]);
        }
        let mut passed_as = |argument: usize, weight: u64, mask: u32| {
            for (r, c) in cost.iter_mut().enumerate() {
                if mask & (1 << r) != 0 {
                    *c = c.saturating_sub(2 * weight);
                }
                if argument < IN_REGISTERS && r == argument + usize::from(FIRST_ARGUMENT) {
                    *c = c.saturating_sub(2 * weight);
                } else {
                    *c = c.saturating_add(2 * weight);
                }
            }
        };
        for &(call, argument) in &life.passed_as {
            let weight = linear.calls.get(call as usize).map_or(1, |c| c.weight);
            passed_as(argument as usize, weight, self.clobbers.get(call as usize).copied().unwrap_or(0));
        }
        if let Some(param) = life.param {
            for (r, c) in cost.iter_mut().enumerate() {
                if r != param as usize + usize::from(FIRST_ARGUMENT) {
                    *c = c.saturating_add(2);
                }
            }
        }
        cost
    }
}

/// A register for each life, or none; and whether some life has none.
fn scan(linear: &Linear, costs: &Costs, registers: usize) -> (Vec<Option<u8>>, bool) {
    let mut places: Vec<Option<u8>> = vec![None; linear.lives.len()];
    let mut active: [Option<VReg>; REGISTERS + 1] = [None; REGISTERS + 1];
    let mut spilled = false;
    for (n, life) in linear.lives.iter().enumerate().skip(1) {
        for place in active.iter_mut() {
            if place.is_some_and(|v| linear.lives[v.0 as usize].end < life.start) {
                *place = None;
            }
        }
        let cost = costs.of(linear, n);
        let free = (1..=registers).filter(|r| active[*r].is_none()).min_by_key(|r| (cost[*r], *r));
        let reg = free.or_else(|| {
            spilled = true;
            // The life that is used least goes to the frame; of several, the one that lasts longest.
            let rank = |v: usize| (linear.lives[v].weight, Reverse(linear.lives[v].end));
            let worst = (1..=registers).min_by_key(|r| active[*r].map(|v| rank(v.0 as usize)))?;
            let victim = active[worst]?;
            if rank(victim.0 as usize) >= rank(n) {
                return None;
            }
            places[victim.0 as usize] = None;
            Some(worst)
        });
        if let Some(reg) = reg {
            active[reg] = Some(VReg(n as u32));
            places[n] = Some(reg as u8);
        }
    }
    (places, spilled)
}
