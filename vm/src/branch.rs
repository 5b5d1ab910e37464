//! Control by a branch register: the profile `pisa`.
//!
//! After each instruction, control continues at the distance that the branch register holds; if it holds 0, at the next instruction
//! in the direction of the run. A branch adds a distance to the register. The branch that it lands on names the first one as its
//! target and so brings the register back to 0.
//!
//! Here every branch is a block of its own, as are `start`, `finish` and words of data; blocks of straight-line instructions lie
//! between them. [`Decoded::code`] has three parts, each forward and backward:
//!
//! 1. blocks that control falls into: straight-line instructions with the branch that follows them, if there is one;
//! 2. branches that their partner has landed on, so that the branch register is 0, with the instructions after them;
//! 3. branches, `start` and `finish` that the branch register has led to: they determine its new value.

use pendula_isa::Fault;
use pendula_isa::counts::Block;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::Module;
use pendula_isa::table::{By, Flow};
use pendula_isa::types::Cond;

use crate::decode::{Code, Decoded, Exit, partner};
use crate::run::ExitFault;
use crate::state::Core;

/// Stands for no block.
const NOWHERE: u32 = u32::MAX;

/// A condition between register `a` and a second word: register `b`, or the constant `k`.
#[derive(Clone, Copy, Debug)]
struct Compare {
    /// Selects the bits of register `b`: all, or none if the second word is `k`.
    mask: u64,
    /// The constant; 0 if the second word is register `b`.
    k: u64,
    /// Flips the sign bits for unsigned comparison.
    bias: u64,
    a: u8,
    b: u8,
    /// The orders in which the condition holds, as bits: 1 for greater, 2 for less, 4 for equal.
    holds: u8,
}

impl Compare {
    /// The condition that never holds.
    const NEVER: Compare = Compare { mask: 0, k: 0, bias: 0, a: 0, b: 0, holds: 0 };

    #[inline(always)]
    fn holds(&self, core: &Core) -> bool {
        let (a, b) = (core.reg(self.a), (core.reg(self.b) & self.mask) | self.k);
        let (a, b) = (a ^ self.bias, b ^ self.bias);
        let order = u8::from(a.cast_signed() < b.cast_signed()) | u8::from(a == b) << 1;
        self.holds >> order & 1 == 1
    }
}

/// What a branch does to the branch register.
#[derive(Clone, Copy, Debug)]
enum BranchEffect {
    /// Adds its distance if the condition holds. The branch register holds 0 before, an instruction follows the branch, and its target
    /// is a branch back to it.
    Pair(Compare),
    /// Adds its distance if the condition holds.
    Branch(Compare),
    /// Adds its distance and reverses the direction.
    Turn,
    /// Exchanges the branch register with a register.
    Exchange(u8),
    /// Nothing: a `start` or `finish` that does not end the run.
    Pass,
}

/// A branch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PisaBranch {
    what: BranchEffect,
    /// The distance to its label.
    distance: i32,
    /// Its address.
    at: u32,
    /// The blocks that follow it, forward and backward.
    next: [u32; 2],
    /// For a pair: the condition of the other branch.
    partner: Compare,
    /// For a pair: the code of the other branch when landed on, in this direction.
    land: u32,
    /// For a pair: the block that follows in this direction.
    fall: u32,
}

impl PisaBranch {
    /// A branch that is not part of a pair.
    fn new(what: BranchEffect, distance: i32, at: u32, next: [u32; 2]) -> PisaBranch {
        PisaBranch { what, distance, at, next, partner: Compare::NEVER, land: NOWHERE, fall: NOWHERE }
    }
}

/// The next block after a branch of a pair, if both branches are taken or this one is not. [`take_branch`] handles the other cases.
#[inline(always)]
pub(crate) fn take_paired_branch(core: &Core, take_branch: &PisaBranch) -> Option<u32> {
    let BranchEffect::Pair(compare) = &take_branch.what else { return None };
    if !compare.holds(core) {
        return Some(take_branch.fall);
    }
    take_branch.partner.holds(core).then_some(take_branch.land)
}

/// The next block after a branch that [`take_paired_branch`] does not handle.
#[inline(never)]
pub(crate) fn take_branch(core: &mut Core, d: &Decoded, take_branch: &PisaBranch) -> Result<u32, ExitFault> {
    let (mut br, mut forward, mut exchanged) = (core.br, core.forward, None);
    match take_branch.what {
        BranchEffect::Pair(_) => br = take_branch.distance,
        BranchEffect::Branch(compare) => {
            if compare.holds(core) {
                br = br.wrapping_add(take_branch.distance);
            }
        }
        BranchEffect::Turn => {
            br = br.wrapping_add(take_branch.distance);
            forward = !forward;
        }
        BranchEffect::Pass => {}
        BranchEffect::Exchange(register) => {
            let in_direction = |distance: i32| if forward { distance } else { distance.wrapping_neg() };
            exchanged = Some((register, i64::from(in_direction(br)).cast_unsigned()));
            br = in_direction(core.reg(register) as i32);
        }
    }
    let next = if br == 0 { take_branch.next[usize::from(!forward)] } else { d.landing(take_branch.at, br, forward) };
    if next == NOWHERE {
        return Err(branch_fault_pisa(d, take_branch.at, br));
    }
    if let Some((register, word)) = exchanged {
        core.regs[usize::from(register)] = word;
    }
    (core.br, core.forward) = (br, forward);
    Ok(next)
}

/// The fault of a branch that leads nowhere.
#[cold]
#[inline(never)]
fn branch_fault_pisa(d: &Decoded, at: u32, br: i32) -> ExitFault {
    if br == 0 {
        return ExitFault::Tail(Fault::OffCode, None);
    }
    let to = at.wrapping_add_signed(br);
    ExitFault::Tail(Fault::NoBranch, Some(to).filter(|to| (*to as usize) < d.block_of.len()))
}

impl Decoded {
    /// The block of the branch at a distance from an address, when reached by the branch register.
    #[inline(always)]
    fn landing(&self, at: u32, br: i32, forward: bool) -> u32 {
        let n = self.blocks.len() as u32;
        let to = at.wrapping_add_signed(br);
        match self.block_of.get(to as usize) {
            Some(&block) => {
                let code = block + if forward { 4 * n } else { 5 * n };
                let may_land = matches!(self.code[code as usize].exit, Exit::PisaBranch(_) | Exit::End);
                if may_land { code } else { NOWHERE }
            }
            None => NOWHERE,
        }
    }
}

/// Decodes verified code of the profile `pisa`.
pub(crate) fn decode(module: &Module) -> Decoded {
    let code = &module.code;
    let has_start = code.iter().any(|i| i.kind.flow() == Flow::Run && !partner(i));
    let blocks = divide(code, module.flags.entry, has_start);
    let mut block_of = vec![0; code.len()];
    for (n, b) in blocks.iter().enumerate() {
        block_of[b.start as usize..b.end as usize].fill(n as u32);
    }
    let ends_before = (!has_start).then_some(module.flags.entry);
    let builder = Builder { code, ends_before, blocks: &blocks, block_of: &block_of };
    let both = [false, true].into_iter().flat_map(|back| (0..blocks.len()).map(move |n| (n, back)));
    let reached_by_fall = both.clone().map(|(n, back)| builder.reached_by_fall(n, back));
    let landed = both.clone().map(|(n, back)| builder.landed(n, back));
    let reached_by_branch = both.clone().map(|(n, back)| builder.reached_by_branch(n, back, module.flags.loose));
    let out = reached_by_fall.chain(landed).chain(reached_by_branch).collect();
    let finish = code.iter().rposition(|i| i.kind.flow() == Flow::Run && partner(i));
    let back = block_of.get(finish.unwrap_or(code.len().saturating_sub(1))).map_or(0, |b| builder.side(*b, true));
    let entry = block_of.get(module.flags.entry as usize).map(|&start| [start, back]);
    let calls = vec![None; code.len()];
    Decoded::new(out, blocks, block_of, calls, entry)
}

/// Divides the code into blocks. Control instructions and the first and last instructions are blocks of their own; the straight-line
/// instructions between them form blocks, and a block begins where runs begin. Without `start`, a backward run ends after the
/// instruction where the forward run began.
fn divide(code: &[Inst], entry: u32, has_start: bool) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for (at, inst) in code.iter().enumerate() {
        let begins = at == entry as usize;
        let alone = inst.kind.flow() != Flow::Straight || at == 0 || at + 1 == code.len() || (begins && !has_start);
        match blocks.last_mut() {
            Some(last) if open && !alone && !begins => last.end += 1,
            _ => blocks.push(Block { start: at as u32, end: at as u32 + 1 }),
        }
        open = !alone;
    }
    blocks
}

struct Builder<'a> {
    code: &'a [Inst],
    /// The instruction after which a backward run ends if there is no `start`.
    ends_before: Option<u32>,
    blocks: &'a [Block],
    block_of: &'a [u32],
}

impl Builder<'_> {
    /// The index of a block's code in one direction.
    fn side(&self, block: u32, back: bool) -> u32 {
        if back { block + self.blocks.len() as u32 } else { block }
    }

    /// The instruction after (`back`: before) another.
    fn next(&self, at: u32, back: bool) -> Option<u32> {
        let next = if back { at.checked_sub(1) } else { at.checked_add(1) };
        next.filter(|at| (*at as usize) < self.code.len())
    }

    /// The block after (`back`: before) an instruction.
    fn after(&self, at: u32, back: bool) -> u32 {
        self.next(at, back).map_or(NOWHERE, |at| self.side(self.block_of[at as usize], back))
    }

    fn flow(&self, at: u32) -> Flow {
        self.code[at as usize].kind.flow()
    }

    /// The exit by which control falls through after an instruction.
    fn fall(&self, at: u32, back: bool) -> Exit {
        match self.after(at, back) {
            // A program without `start` ends where it began.
            _ if back && self.ends_before == Some(at) => Exit::Halt,
            NOWHERE => Exit::OffCode,
            next => Exit::Fall(next),
        }
    }

    /// The straight-line instructions of the block that begins at instruction `at` in this direction, with the branch that follows them,
    /// if there is one.
    fn straight(&self, at: u32, back: bool) -> Code {
        let total = self.code.len() as u32;
        let b = self.blocks[self.block_of[at as usize] as usize];
        let tail = if back { b.start } else { b.end - 1 };
        let (first, last) = if back { (2 * total - b.end, 2 * total - b.start) } else { (b.start, b.end) };
        let (len, exit) = self.fall_or_hop(tail, back);
        Code { first, last, len: b.end - b.start + len, head: 0, exit }
    }

    /// How control continues after an instruction: by the branch that follows it, which is one more instruction, or into another block.
    fn fall_or_hop(&self, at: u32, back: bool) -> (u32, Exit) {
        let exit = self.fall(at, back);
        let next = self.next(at, back).filter(|_| matches!(exit, Exit::Fall(_)));
        match next.map(|next| (next, self.flow(next))) {
            Some((next, Flow::Branch(by))) => (1, Exit::PisaBranch(self.take_branch(next, by, back, true))),
            _ => (0, exit),
        }
    }

    /// A block that control falls into.
    fn reached_by_fall(&self, n: usize, back: bool) -> Code {
        let b = self.blocks[n];
        let at = if back { b.end - 1 } else { b.start };
        let alone = Code { first: 0, last: 0, len: 1, head: 0, exit: self.fall(at, back) };
        match self.flow(at) {
            Flow::Branch(by) => Code { exit: Exit::PisaBranch(self.take_branch(at, by, back, true)), ..alone },
            Flow::Cell => Code { exit: Exit::Stop(Fault::RunsData), ..alone },
            Flow::Run if partner(&self.code[at as usize]) != back => Code { exit: Exit::End, ..alone },
            Flow::Run => alone,
            // Verified code has no control instructions of the native profile.
            Flow::Straight | Flow::Jump | Flow::Procedure | Flow::Call | Flow::GradientCall | Flow::CallRegister => {
                self.straight(at, back)
            }
        }
    }

    /// A branch that its partner has landed on, and the instructions after it.
    fn landed(&self, n: usize, back: bool) -> Code {
        let at = self.blocks[n].start;
        let nothing = Code { first: 0, last: 0, len: 1, head: 0, exit: Exit::Stop(Fault::NoBranch) };
        if !matches!(self.flow(at), Flow::Branch(_)) {
            return nothing;
        }
        match (self.fall_or_hop(at, back), self.next(at, back)) {
            ((0, Exit::Fall(_)), Some(next)) if self.flow(next) == Flow::Straight => {
                let after = self.straight(next, back);
                Code { len: after.len + 1, head: 1, ..after }
            }
            ((more, exit), _) => Code { len: 1 + more, head: 1, exit, ..nothing },
        }
    }

    /// A block to which the branch register has led.
    fn reached_by_branch(&self, n: usize, back: bool, anywhere: bool) -> Code {
        let at = self.blocks[n].start;
        let exit = match self.flow(at) {
            Flow::Branch(by) => Exit::PisaBranch(self.take_branch(at, by, back, false)),
            Flow::Run if anywhere && partner(&self.code[at as usize]) != back => Exit::End,
            Flow::Run if anywhere => Exit::PisaBranch(PisaBranch::new(BranchEffect::Pass, 0, at, [NOWHERE; 2])),
            Flow::Run
            | Flow::Cell
            | Flow::Straight
            | Flow::Jump
            | Flow::Procedure
            | Flow::Call
            | Flow::GradientCall
            | Flow::CallRegister => Exit::Stop(Fault::NoBranch),
        };
        Code { first: 0, last: 0, len: 1, head: 0, exit }
    }

    /// The comparison of a branch; it always holds for an unconditional one.
    fn compare(&self, inst: &Inst) -> Compare {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let Kind::Row { cond, form, .. } = inst.kind else { return Compare::NEVER };
        let [a, b, ..] = inst.regs.map(|r| r.number());
        let holds = [Greater, Less, Equal].iter().enumerate().map(|(n, o)| u8::from(cond.holds(Some(*o))) << n).sum();
        let bias = if matches!(cond, Cond::Ltu | Cond::Geu) { 1 << 63 } else { 0 };
        let (mask, k) = if form { (0, i64::from(inst.small).cast_unsigned()) } else { (u64::MAX, 0) };
        Compare { mask, k, bias, a, b, holds }
    }

    /// A branch; `idle` if the branch register is known to hold 0 before it.
    fn take_branch(&self, at: u32, by: By, back: bool, idle: bool) -> PisaBranch {
        let inst = &self.code[at as usize];
        let (what, distance) = match by {
            By::Distance => (BranchEffect::Branch(self.compare(inst)), inst.imm as i32),
            By::Turn => (BranchEffect::Turn, inst.imm as i32),
            By::Register => (BranchEffect::Exchange(inst.regs[0].number()), 0),
        };
        let mut take_branch = PisaBranch::new(what, distance, at, [self.after(at, false), self.after(at, true)]);
        let to = at.wrapping_add_signed(distance);
        let fall = take_branch.next[usize::from(back)];
        if let BranchEffect::Branch(compare) = what
            && let Some(other) = self.code.get(to as usize)
            && other.kind.flow() == Flow::Branch(By::Distance)
            && other.imm as i32 == distance.wrapping_neg()
            && idle
            && distance != 0
            && fall != NOWHERE
        {
            take_branch.what = BranchEffect::Pair(compare);
            take_branch.partner = self.compare(other);
            take_branch.land = 2 * self.blocks.len() as u32 + self.side(self.block_of[to as usize], back);
            take_branch.fall = fall;
        }
        take_branch
    }
}
