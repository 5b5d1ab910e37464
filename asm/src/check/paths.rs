//! Which instructions of a region control can reach, and from which it can reach the end. Both outcomes of every
//! condition are assumed to be possible.

use std::collections::VecDeque;

use pendula_isa::inst::{Inst, Kind};
use pendula_isa::table::Row;
use pendula_isa::types::Cond;
use pendula_isa::verify::{Region, target};

use super::{Findings, Rule, Subject, instructions, is_row, runs};

/// Whether the instruction is an unconditional `jmp`, or with `partner` an unconditional `from`.
fn unconditional(inst: &Inst, partner: bool) -> bool {
    is_row(inst, Row::Jmp, partner) && matches!(inst.kind, Kind::Row { cond: Cond::Always, .. })
}

/// The successors of `at` in forward direction, within the region: the next instruction, and the target of a jump.
pub(super) fn next(code: &[Inst], region: Region, at: u32) -> [Option<u32>; 2] {
    let inst = &code[at as usize];
    let on = Some(at + 1)
        .filter(|&to| to <= region.last && !unconditional(inst, false) && !unconditional(&code[to as usize], true));
    let jump = target(code, at, inst)
        .map(|(to, _)| to)
        .filter(|&to| is_row(inst, Row::Jmp, false) && region.start <= to && to <= region.last);
    [on, jump]
}

pub(super) fn check(code: &[Inst], region: Region, found: &mut Findings) {
    let len = (region.last - region.start + 1) as usize;
    let index = |at: u32| (at - region.start) as usize;
    let mut predecessors: Vec<[Option<u32>; 2]> = vec![[None; 2]; len];
    let mut reached = vec![false; len];
    reached[0] = true;
    let mut worklist = VecDeque::from([region.start]);
    while let Some(at) = worklist.pop_front() {
        for (edge, to) in next(code, region, at).into_iter().enumerate() {
            let Some(to) = to else { continue };
            // There is at most one instruction before, and a `from` has exactly one jump.
            predecessors[index(to)][edge] = Some(at);
            if !std::mem::replace(&mut reached[index(to)], true) {
                worklist.push_back(to);
            }
        }
    }
    let mut reaches_end = vec![false; len];
    if reached[len - 1] {
        reaches_end[len - 1] = true;
        worklist.push_back(region.last);
    }
    while let Some(at) = worklist.pop_front() {
        for from in predecessors[index(at)].into_iter().flatten() {
            if !std::mem::replace(&mut reaches_end[index(from)], true) {
                worklist.push_back(from);
            }
        }
    }

    let all = |predicate: &dyn Fn(usize) -> bool| {
        (region.start..=region.last).filter(|&at| predicate(index(at))).collect::<Vec<_>>()
    };
    runs(&all(&|n| !reached[n]), |at, n| {
        found.add(Rule::Unreachable, Subject::Inst(at), None, format!("{} never reached", instructions(n)));
    });
    let end = if region.main { "finish" } else { "ret" };
    runs(&all(&|n| reached[n] && !reaches_end[n]), |at, _| {
        found.add(
            Rule::Endless,
            Subject::Inst(at),
            Some(region.last),
            format!("from here, no path leads to the `{end}`"),
        );
    });
    for at in region.start..region.last {
        let inst = &code[at as usize];
        if reached[index(at)] && !unconditional(inst, false) && unconditional(&code[at as usize + 1], true) {
            let message = "going on from here always traps: the `from` below is entered by its jump only".to_string();
            found.add(Rule::Wall, Subject::Inst(at), Some(at + 1), message);
        }
    }
}
