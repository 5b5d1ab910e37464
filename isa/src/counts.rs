//! Execution counts: plain data made by the machine, from which per-instruction counts, cycles and energy are computed elsewhere.

use std::collections::BTreeMap;

use crate::class::GateClass;
use crate::inst::Inst;

/// The direction of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Direction {
    /// From `start` to `finish`.
    #[default]
    Forward,
    /// From `finish` to `start`.
    Backward,
}

impl Direction {
    /// The other direction.
    pub const fn flip(self) -> Direction {
        match self {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
        }
    }

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Forward => "forward",
            Direction::Backward => "backward",
        }
    }
}

/// The mode of execution; counts are kept per mode. The module's spans tell whether an instruction belongs to a routine or its inverse;
/// blocks do not cross the boundaries of spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Mode {
    /// The direction.
    pub direction: Direction,
    /// The gradient level.
    pub level: u8,
    /// Whether every word carried a tangent.
    pub tangents: bool,
}

/// A basic block: a maximal sequence of instructions that is entered at one end and left at the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block {
    /// The first instruction's address.
    pub start: u32,
    /// One past the last instruction's.
    pub end: u32,
}

/// The counts of one mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeCounts {
    /// The mode.
    pub mode: Mode,
    /// The complete executions of each block; as long as [`Counts::blocks`].
    pub blocks: Vec<u64>,
    /// Executions of single instructions in blocks that did not run completely (because of a trap, a step limit or single steps): address
    /// and number, ordered by address.
    pub singles: Vec<(u32, u64)>,
}

/// The execution counts of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The basic blocks.
    pub blocks: Vec<Block>,
    /// Counts of each mode that ran.
    pub modes: Vec<ModeCounts>,
    /// Destroyed bits: by `erase`, by `zero.f`, and with gradient words that `zero` dropped.
    ///
    /// The address of the instruction and the number of bits, ordered by address.
    pub lost: Vec<(u32, u64)>,
}

impl Counts {
    /// Executions of each instruction in one mode; `len` is the number of instructions.
    pub fn per_instruction(&self, counts: &ModeCounts, len: usize) -> Vec<u64> {
        let mut out = vec![0; len];
        for (block, &n) in self.blocks.iter().zip(&counts.blocks) {
            for x in out.get_mut(block.start as usize..block.end as usize).into_iter().flatten() {
                *x += n;
            }
        }
        for &(at, n) in &counts.singles {
            if let Some(x) = out.get_mut(at as usize) {
                *x += n;
            }
        }
        out
    }

    /// The total number of destroyed bits.
    pub fn lost_bits(&self) -> u64 {
        self.lost.iter().map(|(_, bits)| bits).sum()
    }

    /// The difference to earlier counts of the same machine.
    #[must_use]
    pub fn since(&self, earlier: &Counts) -> Counts {
        let less = |now: &[(u32, u64)], then: &[(u32, u64)]| -> Vec<(u32, u64)> {
            let then: BTreeMap<u32, u64> = then.iter().copied().collect();
            let left = now.iter().map(|&(at, n)| (at, n - then.get(&at).copied().unwrap_or(0).min(n)));
            left.filter(|(_, n)| *n > 0).collect()
        };
        let modes = self.modes.iter().map(|m| match earlier.modes.iter().find(|e| e.mode == m.mode) {
            None => m.clone(),
            Some(e) => ModeCounts {
                mode: m.mode,
                blocks: m.blocks.iter().zip(&e.blocks).map(|(now, then)| now.saturating_sub(*then)).collect(),
                singles: less(&m.singles, &e.singles),
            },
        });
        let modes = modes.filter(|m| !m.singles.is_empty() || m.blocks.iter().any(|n| *n > 0)).collect();
        Counts { blocks: self.blocks.clone(), modes, lost: less(&self.lost, &earlier.lost) }
    }

    /// Adds the counts of another run of the same program. The order of additions does not matter.
    pub fn add(&mut self, other: &Counts) {
        let more = |sums: &mut Vec<(u32, u64)>, new: &[(u32, u64)]| {
            if new.is_empty() {
                return;
            }
            let mut all: BTreeMap<u32, u64> = sums.iter().copied().collect();
            new.iter().for_each(|&(at, n)| *all.entry(at).or_insert(0) += n);
            *sums = all.into_iter().collect();
        };
        if self.blocks.is_empty() {
            self.blocks.clone_from(&other.blocks);
        }
        for new in &other.modes {
            match self.modes.iter_mut().find(|m| m.mode == new.mode) {
                Some(sum) => {
                    sum.blocks.iter_mut().zip(&new.blocks).for_each(|(sum, n)| *sum += n);
                    more(&mut sum.singles, &new.singles);
                }
                None => self.modes.push(new.clone()),
            }
        }
        // In the machine's order: gradient levels, then the modes with tangents, each forward before backward.
        self.modes.sort_by_key(|m| (m.mode.tangents, m.mode.level, m.mode.direction));
        more(&mut self.lost, &other.lost);
    }

    /// Instructions executed in one mode.
    pub fn instructions_in(&self, counts: &ModeCounts) -> u64 {
        let whole: u64 = self.blocks.iter().zip(&counts.blocks).map(|(b, n)| u64::from(b.end - b.start) * n).sum();
        whole + counts.singles.iter().map(|(_, n)| n).sum::<u64>()
    }

    /// Instructions executed in all modes.
    pub fn instructions(&self) -> u64 {
        self.modes.iter().map(|m| self.instructions_in(m)).sum()
    }

    /// The uses of each gate class in one mode, in the order of [`GateClass::ALL`].
    pub fn classes(&self, counts: &ModeCounts, code: &[Inst]) -> Vec<(GateClass, u64)> {
        let mut out: Vec<(GateClass, u64)> = GateClass::ALL.iter().map(|&c| (c, 0)).collect();
        for (inst, n) in code.iter().zip(self.per_instruction(counts, code.len())) {
            for class in inst.classes() {
                out[class as usize].1 += n;
            }
        }
        out
    }
}
