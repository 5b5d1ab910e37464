//! Finds the steps of an extension among instructions: up to the names of registers, the order of steps that do not depend on each other, and
//! the order of arguments that may change places.

use pendula_isa::inst::{Inst, Kind};
use pendula_isa::operand::{OPERANDS, Operand};
use pendula_isa::types::Reg;

use crate::effects::{Effects, effects};

/// How far apart the instructions of a match may be.
const WINDOW: usize = 32;

/// The most ways in which one place is tried.
const TRIED: usize = 20_000;

/// An extension, and steps by which it may stand in a program.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    family: Kind,
    steps: Vec<Inst>,
    effects: Vec<Effects>,
    operands: usize,
}

/// A place where an extension does what instructions do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// The addresses of the instructions, in order.
    pub matched: Vec<usize>,
    /// The others between the first and the last of them: those that go before the extension, and those that go after it.
    pub(crate) before: Vec<usize>,
    pub(crate) after: Vec<usize>,
    /// The extension.
    pub inst: Inst,
    /// The registers in the place of its temporaries, which must be zero there.
    pub temporaries: Vec<Reg>,
}

/// The patterns of an extension's family.
pub(crate) fn patterns(family: Kind) -> Vec<Pattern> {
    let Kind::Extension { extension, inverse } = family else { return Vec::new() };
    let info = extension.info();
    let operands = info.definition.operands();
    let steps = info.circuit_steps(inverse).to_vec();
    let mut all = vec![steps.clone()];
    all.extend(info.entered_at_once(inverse));
    let pattern = |steps: Vec<Inst>| Pattern { family, effects: steps.iter().map(effects).collect(), steps, operands };
    all.into_iter().filter(|steps| !steps.is_empty()).map(pattern).collect()
}

/// A search in progress.
struct Search<'a> {
    pattern: &'a Pattern,
    code: &'a [Inst],
    effects: &'a [Effects],
    places: [Option<Operand>; 64],
    chosen: Vec<usize>,
    tried: usize,
}

/// The ways in which the operands of an instruction may be written.
fn orders(inst: &Inst) -> Vec<Vec<Operand>> {
    let own: Vec<Operand> = inst.operands().map(|(_, operand)| operand).collect();
    let mut out = vec![own.clone()];
    let swapped = |a: usize, b: usize| {
        let mut other = own.clone();
        other.swap(a, b);
        other
    };
    match inst.kind {
        Kind::Accumulate { func, .. } => {
            let commutes = ["mul", "plus", "and", "or", "nor", "min", "max", "eq", "ne", "hypot", "muladd"]
                .contains(&func.info().name);
            if commutes && own.len() > 2 && own[1] != own[2] {
                out.push(swapped(1, 2));
            }
        }
        Kind::Row { row: pendula_isa::table::Row::Swap, .. } => out.push(swapped(0, 1)),
        Kind::Row { .. } | Kind::Extension { .. } => {}
    }
    out
}

/// Whether two instructions are the same but for their operands.
fn alike(a: Kind, b: Kind) -> bool {
    match (a, b) {
        (
            Kind::Accumulate { acc, inverse, func, .. },
            Kind::Accumulate { acc: acc2, inverse: inverse2, func: func2, .. },
        ) => (acc, inverse, func) == (acc2, inverse2, func2),
        (
            Kind::Row { row, inverse, ty, cond, .. },
            Kind::Row { row: row2, inverse: inverse2, ty: ty2, cond: cond2, .. },
        ) => (row, inverse, ty, cond) == (row2, inverse2, ty2, cond2),
        _ => false,
    }
}

impl Pattern {
    /// The number of steps.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }
}

impl Search<'_> {
    /// Matches the steps from number `k` on; true if all have their instructions.
    fn step(&mut self, k: usize, from: usize, end: usize) -> bool {
        // Each place is found from its first instruction on.
        let Some(step) = self.pattern.steps.get(k) else { return self.chosen.contains(&from) && self.holds() };
        let wanted: Vec<Operand> = step.operands().map(|(_, operand)| operand).collect();
        for at in from..end {
            self.tried += 1;
            if self.tried > TRIED {
                return false;
            }
            let inst = &self.code[at];
            if self.chosen.contains(&at) || !alike(step.kind, inst.kind) {
                continue;
            }
            // Steps that depend on each other keep their order.
            let ordered = self.chosen.iter().enumerate().all(|(earlier, place)| {
                *place < at || !self.pattern.effects[earlier].conflict(&self.pattern.effects[k])
            });
            if !ordered {
                continue;
            }
            for operands in orders(inst) {
                let saved = self.places;
                if operands.len() == wanted.len() && wanted.iter().zip(&operands).all(|(w, o)| self.fits(*w, *o)) {
                    self.chosen.push(at);
                    if self.step(k + 1, from, end) {
                        return true;
                    }
                    self.chosen.pop();
                }
                self.places = saved;
            }
        }
        false
    }

    /// Whether an operand may stand for that of a step.
    fn fits(&mut self, wanted: Operand, found: Operand) -> bool {
        let Operand::Reg(local) = wanted else { return wanted == found };
        let place = &mut self.places[usize::from(local.number()) % 64];
        match place {
            Some(known) => *known == found,
            None => {
                *place = Some(found);
                true
            }
        }
    }

    /// Whether different operands that change, and temporaries, are different registers.
    fn holds(&self) -> bool {
        let temporaries = self.places.iter().skip(32 + OPERANDS).flatten();
        let registers: Vec<&Operand> = self.places.iter().flatten().collect();
        temporaries.into_iter().all(|t| {
            matches!(t, Operand::Reg(r) if *r != Reg::ZERO && *r != Reg::SP)
                && registers.iter().filter(|other| **other == t).count() == 1
        })
    }

    /// The extension in the place of the instructions; `None` if its operands do not make one, or another instruction is in the way.
    fn site(&self) -> Option<Site> {
        let operands: Option<Vec<Operand>> =
            (0..self.pattern.operands).map(|n| self.places[32 + n].or(Some(Operand::Reg(Reg::ZERO)))).collect();
        let inst = Inst::build(self.pattern.family, &operands?).ok()?;
        let mut matched = self.chosen.clone();
        matched.sort_unstable();
        let (before, after) = arrange(self.effects, &matched)?;
        let temporaries = self.places.iter().skip(32 + OPERANDS).flatten().copied().filter_map(register_of).collect();
        Some(Site { matched, before, after, inst, temporaries })
    }
}

/// The register that an operand is.
pub(crate) fn register_of(operand: Operand) -> Option<Reg> {
    match operand {
        Operand::Reg(register) => Some(register),
        _ => None,
    }
}

/// Which of the others between instructions go before and which after them, if they come to stand together; `None` if one can do neither.
pub(crate) fn arrange(effects: &[Effects], matched: &[usize]) -> Option<(Vec<usize>, Vec<usize>)> {
    let (first, last) = (*matched.first()?, *matched.last()?);
    let (mut before, mut after): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for at in (first..=last).filter(|at| !matched.contains(at)) {
        let own = &effects[at];
        let follows = |other: &usize| effects[*other].conflict(own);
        let bound = matched.iter().filter(|m| **m < at).any(follows) || after.iter().any(follows);
        if !bound {
            before.push(at);
        } else if matched.iter().filter(|m| **m > at).any(follows) {
            return None;
        } else {
            after.push(at);
        }
    }
    Some((before, after))
}

/// The places in a stretch of instructions where one of the patterns matches and `allows` does not refuse it, without overlaps, from the left;
/// where several do, the first one.
pub(crate) fn sites(
    patterns: &[Pattern],
    code: &[Inst],
    stretch: std::ops::Range<usize>,
    allows: &dyn Fn(&Site) -> bool,
) -> Vec<Site> {
    let all: Vec<Effects> = code[..stretch.end].iter().map(effects).collect();
    let mut out: Vec<Site> = Vec::new();
    let mut at = stretch.start;
    while at < stretch.end {
        let end = stretch.end.min(at + WINDOW);
        let found = patterns.iter().find_map(|pattern| {
            let mut search = Search { pattern, code, effects: &all, places: [None; 64], chosen: Vec::new(), tried: 0 };
            (search.step(0, at, end)).then(|| search.site()).flatten().filter(|site| allows(site))
        });
        match found {
            Some(site) => {
                at = site.matched.last().copied().unwrap_or(at) + 1;
                out.push(site);
            }
            None => at += 1,
        }
    }
    out
}
