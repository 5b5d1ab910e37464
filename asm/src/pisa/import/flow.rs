//! The effects of PISA's branches, as far as the code alone determines them, and the flow of control within the main
//! program and within a procedure.

use std::collections::{BTreeMap, BTreeSet};

use pendula_isa::inst::Kind;
use pendula_isa::table::{By, Flow, Row};
use pendula_isa::types::{Cond, Reg};
use pendula_isa::verify::is_row;
use pendula_isa::{Inst, Module};

use super::problem::{Problem, Reason};
use super::reach::{Arrival, arrivals};

/// A condition at which control may divide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Test {
    pub(super) cond: Cond,
    pub(super) a: Reg,
    /// The register that `a` is compared with; if `None`, `a` is compared with `k`.
    pub(super) b: Option<Reg>,
    pub(super) k: i16,
}

impl Test {
    /// The test of a branch.
    pub(super) fn of(inst: &Inst) -> Test {
        let always = Test { cond: Cond::Always, a: Reg::ZERO, b: None, k: 0 };
        match inst.kind {
            Kind::Row { row: Row::Bra, cond, form, .. } if cond != Cond::Always => {
                Test { cond, a: inst.regs[0], b: (!form).then_some(inst.regs[1]), k: inst.small }
            }
            Kind::Row { .. } | Kind::Accumulate { .. } => always,
        }
    }

    pub(super) fn is_always(self) -> bool {
        self.cond == Cond::Always
    }

    /// The registers that are compared.
    pub(super) fn reads(self) -> impl Iterator<Item = Reg> {
        let a = (!self.is_always()).then_some(self.a);
        a.into_iter().chain(self.b)
    }
}

/// The effect of an instruction on control, wherever control comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Control continues.
    Straight,
    /// `START`.
    Start,
    /// `FINISH`.
    Finish,
    /// A word of data.
    Cell,
    /// A branch onto itself, which does nothing.
    Idle,
    /// A branch onto another that names it.
    Pair(u32),
    /// One end of a stretch that runs in the opposite direction, and the address of its other end.
    Reversed(u32),
    /// A call of the procedure that begins at the `SWAPBR` at this address; with `back` an uncall.
    Call { entry: u32, back: bool },
    /// `SWAPBR`.
    Swap(Reg),
    /// A branch onto `FINISH`, at which PendVM ends the run.
    End(u32),
}

/// A PISA program that is analysed.
pub(super) struct Code<'a> {
    pub(super) module: &'a Module,
}

impl Code<'_> {
    pub(super) fn len(&self) -> u32 {
        self.module.code.len() as u32
    }

    pub(super) fn get(&self, at: u32) -> Option<&Inst> {
        self.module.code.get(at as usize)
    }

    /// Whether an instruction is the one that replaces an aliased instruction and does nothing.
    pub(super) fn is_nothing(inst: &Inst) -> bool {
        inst.regs[0] == Reg::ZERO && inst.imm == 0 && *inst == crate::pisa::mnemonic::nothing()
    }

    /// The target of the branch at an address.
    fn target(inst: &Inst, at: u32) -> u32 {
        at.cast_signed().wrapping_add(inst.imm as i32).cast_unsigned()
    }

    /// The effect on control of the instruction at an address.
    pub(super) fn shape(&self, at: u32) -> Result<Shape, Problem> {
        let Some(inst) = self.get(at) else { return Err(Problem::new(at, Reason::Edge)) };
        let turns = match inst.kind.flow() {
            Flow::Cell => return Ok(Shape::Cell),
            Flow::Run if is_row(inst, Row::Start, false) => return Ok(Shape::Start),
            Flow::Run => return Ok(Shape::Finish),
            Flow::Branch(By::Register) => return Ok(Shape::Swap(inst.regs[0])),
            Flow::Branch(By::Turn) => true,
            Flow::Branch(By::Distance) => false,
            Flow::Straight | Flow::Jump | Flow::Procedure | Flow::Call | Flow::GradientCall | Flow::CallRegister => {
                return Ok(Shape::Straight);
            }
        };
        let to = Code::target(inst, at);
        if to == at {
            return if turns { Err(Problem::new(at, Reason::TurnsOnItself)) } else { Ok(Shape::Idle) };
        }
        let Some(other) = self.get(to) else { return Err(Problem::new(at, Reason::LandsNowhere)) };
        let refuse = |reason| Err(Problem { other: Some(to), ..Problem::new(at, reason) });
        if other.kind.flow() == Flow::Branch(By::Register) {
            return Ok(Shape::Call { entry: to, back: turns });
        }
        if other.kind.flow() == Flow::Run && self.module.flags.loose && !turns {
            let ends = Test::of(inst).is_always() && !is_row(other, Row::Start, false);
            return if ends { Ok(Shape::End(to)) } else { refuse(Reason::LandsOnBound) };
        }
        let Flow::Branch(by) = other.kind.flow() else {
            return refuse(Reason::LandsOnNone);
        };
        if Code::target(other, to) != at {
            return refuse(Reason::NotNamed);
        }
        match (turns, by == By::Turn) {
            (false, false) => Ok(Shape::Pair(to)),
            (true, true) => refuse(Reason::TurnsTwice),
            _ if Test::of(inst).is_always() && Test::of(other).is_always() => Ok(Shape::Reversed(to)),
            _ => refuse(Reason::TurnsMaybe),
        }
    }

    /// The test of the branch at an address.
    pub(super) fn test(&self, at: u32) -> Test {
        self.get(at).map_or(Test { cond: Cond::Always, a: Reg::ZERO, b: None, k: 0 }, Test::of)
    }
}

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
