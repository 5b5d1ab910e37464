//! The flow of control within the main program and within a procedure of PISA.

use std::collections::{BTreeMap, BTreeSet};

use super::problem::{Problem, Reason};
use super::reach::{Arrival, arrivals};
use super::shape::{Code, Shape};

/// How control reaches an instruction, and how it continues.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node {
    /// From the previous instruction.
    pub(super) falls: bool,
    /// The branch may jump to its partner.
    pub(super) jumps: bool,
    /// The partner may jump here.
    pub(super) landed: bool,
}

/// The main program, or a procedure.
#[derive(Debug)]
pub(super) struct Routine {
    /// The first instruction. A procedure begins at its `SWAPBR`.
    pub(super) entry: u32,
    pub(super) main: bool,
    /// The instructions that control reaches.
    pub(super) nodes: BTreeMap<u32, Node>,
    /// Stretches that run in the opposite direction: the last address by the first.
    pub(super) reversed: BTreeMap<u32, u32>,
    /// The procedures that it calls by name.
    pub(super) calls: BTreeSet<u32>,
    /// The addresses of calls by `SWAPBR`.
    pub(super) swaps: BTreeSet<u32>,
    /// Whether control returns to the entry of a procedure.
    pub(super) returns: bool,
    /// The ends of the main program.
    pub(super) ends: BTreeSet<u32>,
    pub(super) problems: Vec<Problem>,
}

impl Routine {
    fn new(entry: u32, main: bool) -> Routine {
        Routine {
            entry,
            main,
            nodes: BTreeMap::new(),
            reversed: BTreeMap::new(),
            calls: BTreeSet::new(),
            swaps: BTreeSet::new(),
            returns: false,
            ends: BTreeSet::new(),
            problems: Vec::new(),
        }
    }

    /// The code between two addresses, as a procedure.
    pub(super) fn between(at: u32, to: u32) -> Routine {
        let passed = Node { falls: true, ..Node::default() };
        Routine { nodes: (at + 1..to).map(|inner| (inner, passed)).collect(), ..Routine::new(at, false) }
    }

    /// All instructions of the routine, including those of reversed stretches.
    pub(super) fn places(&self) -> impl Iterator<Item = u32> {
        let reversed = self.reversed.iter().flat_map(|(&p, &q)| p + 1..q);
        self.nodes.keys().copied().chain(reversed)
    }

    /// The instructions in the order in which they are written: from the entry on, then those before it.
    pub(super) fn order(&self) -> impl Iterator<Item = (u32, Node)> {
        let (before, after): (Vec<_>, Vec<_>) = self.nodes.iter().partition(|(at, _)| **at < self.entry);
        after.into_iter().chain(before).map(|(at, node)| (*at, *node))
    }
}

/// Follows control from an entry.
pub(super) fn walk(code: &Code<'_>, entry: u32, main: bool) -> Routine {
    let mut unit = Routine::new(entry, main);
    let arrivals = arrivals(code, entry, main);
    for arrival in &arrivals {
        let node = unit.nodes.entry(arrival.at).or_default();
        if arrival.landed {
            node.landed = true;
        } else {
            node.falls = true;
        }
    }
    let mut walk = Walk { code, unit };
    if !main {
        walk.fall(entry, entry + 1);
    } else if entry >= code.len() {
        walk.refuse(entry, Reason::Edge);
    }
    for arrival in arrivals {
        walk.step(arrival);
    }
    let mut unit = walk.unit;
    let refused = |at, reason| Problem::new(at, reason);
    if main {
        let mut ends = unit.ends.iter().copied();
        match (ends.next(), ends.next()) {
            (None, _) if unit.problems.is_empty() => unit.problems.push(refused(entry, Reason::NoFinish)),
            (Some(first), Some(second)) => {
                unit.problems.push(Problem { other: Some(first), ..refused(second, Reason::SecondFinish) });
            }
            (Some(end), None) => {
                let node = unit.nodes.get(&end).copied().unwrap_or_default();
                if node.falls && node.landed {
                    unit.problems.push(refused(end, Reason::SecondFinish));
                }
            }
            (None, _) => {}
        }
    } else if !unit.returns && unit.problems.is_empty() {
        unit.problems.push(refused(entry, Reason::NoReturn));
    }
    unit.problems.sort_by_key(|p| p.at);
    unit.problems.dedup();
    unit
}

struct Walk<'a> {
    code: &'a Code<'a>,
    unit: Routine,
}

impl Walk<'_> {
    fn refuse(&mut self, at: u32, reason: Reason) {
        self.unit.problems.push(Problem::new(at, reason));
    }

    /// Control falls through from one instruction to another.
    fn fall(&mut self, from: u32, to: u32) {
        if to == self.unit.entry {
            if self.unit.main {
                self.refuse(from, Reason::AgainAtEntry);
            } else {
                self.unit.returns = true;
            }
        } else if to >= self.code.len() {
            self.refuse(from, Reason::Edge);
        }
    }

    /// Control reaches an instruction.
    fn step(&mut self, Arrival { at, landed }: Arrival) {
        let next = at + 1;
        if landed {
            self.fall(at, next);
            return;
        }
        match self.code.shape(at) {
            Err(problem) => {
                self.unit.problems.push(problem);
                if !self.code.test(at).is_always() {
                    self.fall(at, next);
                }
            }
            Ok(Shape::Cell) => self.refuse(at, Reason::RunsData),
            Ok(Shape::Straight | Shape::Idle) => self.fall(at, next),
            Ok(Shape::Start) if self.unit.main => self.fall(at, next),
            Ok(Shape::Finish) if self.unit.main => {
                self.unit.ends.insert(at);
            }
            Ok(Shape::Start | Shape::Finish) => self.refuse(at, Reason::BoundInProcedure),
            Ok(Shape::End(_)) if !self.unit.main => self.refuse(at, Reason::BoundInProcedure),
            Ok(Shape::End(to)) => {
                self.unit.nodes.entry(at).or_default().jumps = true;
                self.unit.nodes.entry(to).or_default().landed = true;
                self.unit.ends.insert(to);
            }
            Ok(Shape::Call { entry, .. }) => {
                self.unit.calls.insert(entry);
                self.fall(at, next);
            }
            Ok(Shape::Swap(_)) => {
                self.unit.swaps.insert(at);
                self.fall(at, next);
            }
            Ok(Shape::Reversed(to)) => self.turn(at, to),
            Ok(Shape::Pair(to)) => {
                let jumps = self.unit.nodes.get(&to).is_some_and(|n| n.landed);
                self.unit.nodes.entry(at).or_default().jumps = jumps;
                if !self.code.test(at).is_always() {
                    self.fall(at, next);
                }
            }
        }
    }

    /// A stretch between two branches of which one changes the direction. It runs from its end to its beginning.
    fn turn(&mut self, at: u32, to: u32) {
        if to < at {
            self.unit.problems.push(Problem { other: Some(to), ..Problem::new(at, Reason::TurnsBack) });
            return;
        }
        for inner in at + 1..to {
            match self.code.shape(inner) {
                Ok(Shape::Straight | Shape::Idle) => {}
                Ok(Shape::Call { entry, .. }) if self.code.test(inner).is_always() => {
                    self.unit.calls.insert(entry);
                }
                Ok(Shape::Swap(_)) => {
                    self.unit.swaps.insert(inner);
                }
                Ok(_) | Err(_) => {
                    self.unit.problems.push(Problem { other: Some(at), ..Problem::new(inner, Reason::InTurn) });
                }
            }
        }
        self.unit.reversed.insert(at, to);
        self.fall(to, to + 1);
    }
}
