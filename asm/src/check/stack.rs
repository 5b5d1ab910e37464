//! The height of the stack along the paths of each procedure, in words from its entry. The height is unknown where `sp`
//! is written directly, where paths disagree, and after a call of a procedure whose effect on `sp` is unknown. Nothing
//! is reported there.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use pendula_isa::inst::{Inst, Kind};
use pendula_isa::operand::{Operand, Slot};
use pendula_isa::table::{Flow, Row};
use pendula_isa::types::{Acc, Reg, Ty};
use pendula_isa::verify::{Region, Structure, target};

use super::paths::next;
use super::{Findings, Rule, Subject};
use crate::diagnostic::plural;

#[derive(Clone, Copy, PartialEq)]
enum Depth {
    Known(i64),
    Unknown,
}

/// How heights are computed.
#[derive(Clone, Copy)]
struct HeightRules {
    /// Whether constants that are added to `sp` change the height. Else it is unknown after them.
    count_constants: bool,
}

/// The heights in one region.
struct Heights {
    /// Before each instruction; `None` if no path reaches it.
    before: Vec<Option<Depth>>,
    /// Instructions where paths with these two heights meet.
    conflicts: BTreeMap<u32, (i64, i64)>,
}

impl Heights {
    fn at_end(&self) -> Option<Depth> {
        self.before.last().copied().flatten()
    }

    /// Whether a call leaves `sp` unchanged, if it returns.
    fn preserves_sp(&self) -> bool {
        matches!(self.at_end(), None | Some(Depth::Known(0)))
    }
}

/// The number of words on the stack since the entry of the procedure, before and after each instruction; `None` if it
/// is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackHeights {
    /// Before each instruction, in the order of the code.
    pub before: Vec<Option<i64>>,
    /// After each instruction.
    pub after: Vec<Option<i64>>,
}

/// The heights in a module's code, as far as they are known.
pub(super) fn known(code: &[Inst], structure: &Structure) -> StackHeights {
    let rules = HeightRules { count_constants: true };
    let (heights, unbalanced) = solve(code, structure, rules);
    let mut out = StackHeights { before: vec![None; code.len()], after: vec![None; code.len()] };
    let words = |depth| if let Depth::Known(d) = depth { Some(d) } else { None };
    for (region, heights) in structure.regions.iter().zip(&heights) {
        for (at, depth) in (region.start..).zip(&heights.before) {
            let Some(depth) = *depth else { continue };
            out.before[at as usize] = words(depth);
            out.after[at as usize] = words(step(code, *region, at, depth, &unbalanced, rules));
        }
    }
    out
}

/// The heights of each region, and the first addresses of the regions that are not known to leave `sp` unchanged.
fn solve(code: &[Inst], structure: &Structure, rules: HeightRules) -> (Vec<Heights>, HashSet<u32>) {
    let regions = &structure.regions;
    let mut unbalanced: HashSet<u32> = HashSet::new();
    let mut heights: Vec<Heights> = regions.iter().map(|r| walk(code, *r, &unbalanced, rules)).collect();
    let callees: Vec<(HashSet<u32>, bool)> = regions.iter().map(|r| calls(code, *r)).collect();
    loop {
        let new: HashSet<u32> = regions
            .iter()
            .zip(&heights)
            .filter(|(r, h)| !h.preserves_sp() && !unbalanced.contains(&r.start))
            .map(|(r, _)| r.start)
            .collect();
        if new.is_empty() {
            break;
        }
        unbalanced.extend(&new);
        for ((region, heights), (callees, indirect)) in regions.iter().zip(&mut heights).zip(&callees) {
            if *indirect || !callees.is_disjoint(&new) {
                *heights = walk(code, *region, &unbalanced, rules);
            }
        }
    }

    (heights, unbalanced)
}

/// Reports what is certain. Returns whether no instruction can take words below the start of its region's stack.
pub(super) fn check(code: &[Inst], structure: &Structure, found: &mut Findings) -> bool {
    // A program that adds to `sp` may intend to keep the words.
    let (heights, _) = solve(code, structure, HeightRules { count_constants: false });
    let mut stays_above_base = true;
    for (region, heights) in structure.regions.iter().zip(&heights) {
        report(code, *region, heights, found);
        stays_above_base &=
            heights.before.iter().zip(&code[region.start as usize..]).all(|(depth, inst)| match depth {
                None => true,
                Some(Depth::Known(d)) => !is_pop(inst) || *d > 0,
                Some(Depth::Unknown) => false,
            });
    }
    stays_above_base
}

fn report(code: &[Inst], region: Region, heights: &Heights, found: &mut Findings) {
    for (&at, &(a, b)) in &heights.conflicts {
        let message = format!("the stack is {} high on one path to here, and {b} on another", plural(a, "word"));
        found.add(Rule::Depths, Subject::Inst(at), None, message);
    }
    for (at, depth) in (region.start..).zip(&heights.before) {
        if is_pop(&code[at as usize])
            && let Some(Depth::Known(d)) = depth
            && *d <= 0
        {
            let what = match (region.main, d) {
                (true, _) => "a word of the data segment",
                (false, 0) => "the procedure's own link",
                (false, _) => "a word of its caller",
            };
            found.add(Rule::Below, Subject::Inst(at), None, format!("this `pop` takes {what}"));
        }
    }
    if let Some(Depth::Known(d)) = heights.at_end()
        && d != 0
    {
        let side = if d > 0 { "higher" } else { "lower" };
        let n = plural(d.unsigned_abs(), "word");
        let message = match region.main {
            true => format!("the stack is {n} {side} at this `finish` than at the `start`"),
            false => {
                format!("the stack is {n} {side} at this `ret` than at its `proc`: the link is not on top")
            }
        };
        found.add(Rule::Unbalanced, Subject::Inst(region.last), Some(region.start), message);
    }
}

fn is_pop(inst: &Inst) -> bool {
    super::is_row(inst, Row::Push, true)
}

/// The procedures that a region calls by name, and whether it calls addresses.
fn calls(code: &[Inst], region: Region) -> (HashSet<u32>, bool) {
    let mut out = (HashSet::new(), false);
    for at in region.start..=region.last {
        let inst = &code[at as usize];
        match inst.kind.flow() {
            Flow::Call | Flow::GradientCall => out.0.extend(target(code, at, inst).map(|(to, _)| to)),
            Flow::CallRegister => out.1 = true,
            Flow::Straight | Flow::Jump | Flow::Procedure | Flow::Run | Flow::Branch(_) | Flow::Cell => {}
        }
    }
    out
}

fn walk(code: &[Inst], region: Region, unbalanced: &HashSet<u32>, rules: HeightRules) -> Heights {
    let len = (region.last - region.start + 1) as usize;
    let index = |at: u32| (at - region.start) as usize;
    let mut before = vec![None; len];
    let mut conflicts = BTreeMap::new();
    before[0] = Some(Depth::Known(0));
    let mut worklist = BTreeSet::from([region.start]);
    while let Some(at) = worklist.pop_first() {
        let Some(depth) = before[index(at)] else { continue };
        let after = step(code, region, at, depth, unbalanced, rules);
        for to in next(code, region, at).into_iter().flatten() {
            let old = before[index(to)];
            let new = match (old, after) {
                (None, new) => new,
                (Some(Depth::Known(a)), Depth::Known(b)) if a == b => continue,
                (Some(Depth::Known(a)), Depth::Known(b)) => {
                    conflicts.insert(to, (a, b));
                    Depth::Unknown
                }
                (Some(Depth::Known(_)), Depth::Unknown) => Depth::Unknown,
                (Some(Depth::Unknown), _) => continue,
            };
            before[index(to)] = Some(new);
            worklist.insert(to);
        }
    }
    Heights { before, conflicts }
}

/// The number of words by which an instruction raises `sp`, if that is a constant.
fn sp_increment(inst: &Inst) -> Option<i64> {
    let Kind::Accumulate { acc: Acc::Add, inverse, func, .. } = inst.kind else { return None };
    let constant = inst.operands().find_map(|(_, operand)| match operand {
        Operand::Imm(word, Ty::Int) if func.info().name.is_empty() => Some(word.cast_signed()),
        _ => None,
    })?;
    if inverse { constant.checked_neg() } else { Some(constant) }
}

/// The height after an instruction.
fn step(code: &[Inst], region: Region, at: u32, depth: Depth, unbalanced: &HashSet<u32>, rules: HeightRules) -> Depth {
    let inst = &code[at as usize];
    let Depth::Known(d) = depth else { return depth };
    let writes_sp =
        inst.kind.layout().iter().any(|s| matches!(s, Slot::Target(f) if inst.regs[*f as usize] == Reg::SP));
    if writes_sp {
        return sp_increment(inst)
            .filter(|_| rules.count_constants)
            .and_then(|n| d.checked_add(n))
            .map_or(Depth::Unknown, Depth::Known);
    }
    match inst.kind.flow() {
        Flow::Straight => match inst.kind {
            Kind::Row { row: Row::Push, inverse, .. } => Depth::Known(if inverse { d - 1 } else { d + 1 }),
            Kind::Row { row, .. } if row.info().moves_sp => Depth::Unknown,
            Kind::Row { .. } | Kind::Accumulate { .. } | Kind::Extension { .. } => depth,
        },
        // If a procedure calls itself, the innermost call decides, since it follows paths without such a call.
        Flow::Call | Flow::GradientCall => match target(code, at, inst) {
            Some((to, _)) if to == region.start || !unbalanced.contains(&to) => depth,
            _ => Depth::Unknown,
        },
        Flow::CallRegister => {
            if unbalanced.is_empty() {
                depth
            } else {
                Depth::Unknown
            }
        }
        Flow::Jump | Flow::Procedure | Flow::Run | Flow::Branch(_) | Flow::Cell => depth,
    }
}
