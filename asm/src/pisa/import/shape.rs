//! The effects of PISA's branches on control, as far as the code alone determines them.

use pendula_isa::inst::Kind;
use pendula_isa::table::{By, Flow, Row};
use pendula_isa::types::{Cond, Reg};
use pendula_isa::verify::is_row;
use pendula_isa::{Inst, Module};

use super::problem::{Problem, Reason};

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
            Kind::Row { .. } | Kind::Accumulate { .. } | Kind::Extension { .. } => always,
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
