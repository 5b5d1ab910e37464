//! Control by a branch register, in the profile `pisa`: where branches lead, and to which instructions.

use std::collections::HashSet;

use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::Module;
use pendula_isa::table::{By, Flow, Row};
use pendula_isa::types::Cond;
use pendula_isa::verify::is_row;

use super::{Findings, Rule, Subject, instructions, runs};

/// The number of states per instruction after which the search for reachable instructions gives up.
const STATES: usize = 16;

/// The possible contents of the branch register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum BranchRegister {
    /// This distance.
    Known(i32),
    /// What a register held, which is unknown.
    Any,
}

impl BranchRegister {
    fn plus(self, distance: i32) -> BranchRegister {
        match self {
            BranchRegister::Known(br) => BranchRegister::Known(br.wrapping_add(distance)),
            BranchRegister::Any => BranchRegister::Any,
        }
    }
}

/// A state of a run: the address and the direction of the next instruction, and the branch register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct State {
    at: u32,
    back: bool,
    br: BranchRegister,
}

pub(super) fn check(module: &Module, found: &mut Findings) {
    let code = &module.code;
    if !code.iter().any(|inst| is_row(inst, Row::Start, true)) {
        let at = Subject::Inst(module.flags.entry);
        found.add(Rule::NoFinish, at, None, "the run begins here, and no instruction ends it".to_string());
    }
    for (at, inst) in code.iter().enumerate() {
        let at = at as u32;
        if matches!(inst.kind.flow(), Flow::Branch(By::Distance | By::Turn)) {
            landing(module, at, inst, found);
        }
    }
    late_starts(module, found);
    if let Some(reached) = reached(module) {
        for (at, inst) in code.iter().enumerate() {
            let continues = inst.kind.flow() == Flow::Straight || is_row(inst, Row::Start, false);
            if continues && reached[at].0 {
                into_data(code, at as u32, found);
            }
        }
        let is_dead = |at: &u32| {
            let at = *at as usize;
            reached[at] == (false, false) && code[at].kind.flow() != Flow::Cell
        };
        let dead: Vec<u32> = (0..code.len() as u32).filter(is_dead).collect();
        runs(&dead, |at, n| {
            found.add(Rule::Dead, Subject::Inst(at), None, format!("{} never run", instructions(n)));
        });
    }
}

/// Checks that a branch leads to a branch.
fn landing(module: &Module, at: u32, inst: &Inst, found: &mut Findings) {
    let to = at.wrapping_add_signed(inst.imm as i32);
    let message = match module.code.get(to as usize).map(|inst| inst.kind.flow()) {
        Some(Flow::Branch(_)) => return,
        Some(Flow::Run) if module.flags.loose => return,
        Some(Flow::Cell) => "this branch leads to data".to_string(),
        Some(_) => "this branch leads to an instruction that is not a branch".to_string(),
        None => format!("this branch leads out of the program, to the empty cell {to}"),
    };
    let other = Some(to).filter(|to| (*to as usize) < module.code.len());
    found.add(Rule::NoLanding, Subject::Inst(at), other, message);
}

/// Checks that control does not fall from an instruction into data or off the end.
fn into_data(code: &[Inst], at: u32, found: &mut Findings) {
    let message = match code.get(at as usize + 1).map(|next| next.kind.flow()) {
        Some(Flow::Cell) => "after this instruction, control falls into data",
        None => "after this instruction, control falls off the end of the program",
        Some(_) => return,
    };
    found.add(Rule::IntoData, Subject::Inst(at), None, message.to_string());
}

/// Which instructions a run may reach forward, and which after its direction has changed; `None` if there are too many
/// states to follow.
fn reached(module: &Module) -> Option<Vec<(bool, bool)>> {
    let code = &module.code;
    let limit = STATES * code.len() + 64;
    let mut reached = vec![(false, false); code.len()];
    let mut seen: HashSet<State> = HashSet::new();
    let mut worklist = vec![State { at: module.flags.entry, back: false, br: BranchRegister::Known(0) }];
    // Whether control has continued with unknown contents of the branch register, for each direction. Then it may have
    // reached any branch.
    let mut anywhere = [false; 2];
    while let Some(state) = worklist.pop() {
        let Some(inst) = code.get(state.at as usize) else { continue };
        if !seen.insert(state) {
            continue;
        }
        if seen.len() > limit {
            return None;
        }
        let (forward, backward) = &mut reached[state.at as usize];
        *if state.back { backward } else { forward } = true;
        let mut go = |back: bool, br: BranchRegister| {
            let next = if back { state.at.checked_sub(1) } else { state.at.checked_add(1) };
            let next_state = next.map(|at| State { at, back, br: BranchRegister::Known(0) });
            match br {
                BranchRegister::Known(0) => worklist.extend(next_state),
                BranchRegister::Known(distance) => {
                    worklist.push(State { at: state.at.wrapping_add_signed(distance), back, br })
                }
                BranchRegister::Any => {
                    worklist.extend(next_state);
                    if !std::mem::replace(&mut anywhere[usize::from(back)], true) {
                        let branches = (0..code.len() as u32).filter(|at| is_branch(&code[*at as usize]));
                        worklist.extend(branches.map(|at| State { at, back, br }));
                    }
                }
            }
        };
        let State { back, br, .. } = state;
        let distance = inst.imm as i32;
        match inst.kind.flow() {
            Flow::Branch(By::Distance) => {
                go(back, br.plus(distance));
                if !matches!(inst.kind, Kind::Row { cond: Cond::Always, .. }) {
                    go(back, br);
                }
            }
            Flow::Branch(By::Turn) => go(!back, br.plus(distance)),
            Flow::Branch(By::Register) => go(back, BranchRegister::Any),
            // `start` ends a run that goes backward, `finish` one that goes forward.
            Flow::Run if is_row(inst, Row::Start, !back) => {}
            Flow::Run if module.flags.loose => go(back, br),
            Flow::Run | Flow::Straight if br != BranchRegister::Known(0) => {}
            Flow::Run | Flow::Straight => go(back, br),
            Flow::Cell | Flow::Jump | Flow::Procedure | Flow::Call | Flow::GradientCall | Flow::CallRegister => {}
        }
    }
    Some(reached)
}

/// Reports each `start` that a forward run reaches after it has changed something: a backward run ends there, and does
/// not undo that. Only paths that certainly exist are followed, not those by a distance that a register held.
fn late_starts(module: &Module, found: &mut Findings) {
    let code = &module.code;
    let limit = STATES * code.len() + 64;
    // With each state, the first instruction on the path that changes something, if there is one.
    let mut seen: HashSet<(u32, i32, bool)> = HashSet::new();
    let mut worklist: Vec<(u32, i32, Option<u32>)> = vec![(module.flags.entry, 0, None)];
    let mut late: Vec<(u32, u32)> = Vec::new();
    while let Some((at, br, mut changed)) = worklist.pop() {
        let Some(inst) = code.get(at as usize) else { continue };
        if !seen.insert((at, br, changed.is_some())) {
            continue;
        }
        if seen.len() > limit {
            break;
        }
        let stays = br != 0 && !module.flags.loose;
        if let (Some(first), true, false) = (changed, is_row(inst, Row::Start, false), stays) {
            late.push((at, first));
        }
        let mut go = |br: i32, changed: Option<u32>| {
            let to = if br == 0 { at.checked_add(1) } else { Some(at.wrapping_add_signed(br)) };
            worklist.extend(to.map(|to| (to, br, changed)));
        };
        match inst.kind.flow() {
            Flow::Branch(By::Distance) => {
                go(br.wrapping_add(inst.imm as i32), changed);
                // If a branch that is landed on does not branch itself, control leaps on: either an error, or dependent
                // on what registers hold.
                if br == 0 && !matches!(inst.kind, Kind::Row { cond: Cond::Always, .. }) {
                    go(br, changed);
                }
            }
            // The end, or a place where only a branch may stand.
            Flow::Run if is_row(inst, Row::Start, true) || stays => {}
            Flow::Run => go(br, changed),
            Flow::Straight if br != 0 => {}
            Flow::Straight => {
                changed.get_or_insert(at);
                go(br, changed);
            }
            Flow::Branch(By::Turn | By::Register)
            | Flow::Cell
            | Flow::Jump
            | Flow::Procedure
            | Flow::Call
            | Flow::GradientCall
            | Flow::CallRegister => {}
        }
    }
    late.sort_unstable();
    late.dedup_by_key(|(at, _)| *at);
    for (at, first) in late {
        let message = "a run back ends at this `START`, and does not undo what was done before it".to_string();
        found.add(Rule::LateStart, Subject::Inst(at), Some(first), message);
    }
}

fn is_branch(inst: &Inst) -> bool {
    matches!(inst.kind.flow(), Flow::Branch(_))
}
