//! Division of code into basic blocks, and their exits in each direction.

use pendula_isa::Env;
use pendula_isa::counts::Block;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::Module;
use pendula_isa::num::convert;
use pendula_isa::table::{Flow, Row};
use pendula_isa::types::Ty;

use super::{Branch, CallSite, Callee, Code, Edge, Exit, Test, partner};

/// Divides the code into basic blocks: in either direction they are entered only at one end and left only at the other. Boundaries of
/// routine spans also divide blocks.
pub(super) fn divide(module: &Module) -> Vec<Block> {
    let code = &module.code;
    let mut leads = vec![false; code.len() + 1];
    leads[0] = true;
    leads[code.len()] = true;
    for (at, inst) in code.iter().enumerate() {
        let (before, after) = match (inst.kind.flow(), partner(inst)) {
            (Flow::Straight, _) => (false, false),
            // Verified code of the native profile has none.
            (Flow::Branch(_) | Flow::Cell, _) => (true, true),
            (Flow::Jump | Flow::Procedure | Flow::Run, ends) => {
                // `jmp`, `ret` and `finish` end a block; `from`, `proc` and `start` begin one.
                let ends = ends != (inst.kind.flow() == Flow::Jump);
                (!ends, ends)
            }
            (Flow::Call | Flow::GradientCall | Flow::CallRegister, _) => (true, true),
        };
        leads[at] |= before;
        leads[at + 1] |= after;
    }
    for span in &module.spans {
        leads[span.start as usize] = true;
        leads[span.end as usize] = true;
    }
    let mut blocks = Vec::new();
    let mut start = 0;
    for (at, _) in leads.iter().enumerate().skip(1).filter(|(_, l)| **l) {
        blocks.push(Block { start, end: at as u32 });
        start = at as u32;
    }
    blocks
}

pub(super) struct Builder<'a> {
    pub(super) code: &'a [Inst],
    pub(super) env: Env,
    pub(super) checks: bool,
    pub(super) blocks: &'a [Block],
    pub(super) block_of: &'a [u32],
}

impl Builder<'_> {
    /// The index of a block's code in one direction.
    pub(super) fn side(&self, block: u32, back: bool) -> u32 {
        if back { block + self.blocks.len() as u32 } else { block }
    }

    fn inst(&self, at: u32) -> &Inst {
        &self.code[at as usize]
    }

    fn is_control(&self, at: u32) -> bool {
        self.inst(at).kind.flow() != Flow::Straight
    }

    /// The target address of a verified label operand.
    fn target(&self, at: u32) -> u32 {
        (i64::from(at) + self.inst(at).imm) as u32
    }

    fn test(&self, inst: &Inst) -> Test {
        let Kind::Row { cond, ty, form, .. } = inst.kind else {
            return Test::always();
        };
        let [a, b, ..] = inst.regs.map(|r| r.number());
        if !form {
            return Test::new(cond, ty, a, b, 0);
        }
        let k = i64::from(inst.small).cast_unsigned();
        // Integers of 15 bits are in the range of every type; the smallest range of a format is ±2^15.
        let imm = match ty {
            Ty::Int => k,
            Ty::Q => convert::int_to_q(self.env, k).unwrap_or(0),
            Ty::L => convert::int_to_l(self.env, k).unwrap_or(0),
            Ty::F => convert::int_to_f(self.env, k).unwrap_or(0),
        };
        Test::new(cond, ty, a, 0, imm)
    }

    /// The first and the last instruction in the direction of the run.
    fn ends(&self, block: usize, back: bool) -> (u32, u32) {
        let b = self.blocks[block];
        if back { (b.end - 1, b.start) } else { (b.start, b.end - 1) }
    }

    pub(super) fn block(&self, n: usize, back: bool) -> Code {
        let b = self.blocks[n];
        let (head, tail) = self.ends(n, back);
        let single = head == tail;
        // A single control instruction is the block's tail if it transfers control in this direction.
        let tail_control = self.is_control(tail) && (!single || self.transfers(tail, back));
        let head_control = self.is_control(head) && (!single || !tail_control);
        let (skip_first, skip_last) = if back { (tail_control, head_control) } else { (head_control, tail_control) };
        let (lo, hi) = (b.start + u32::from(skip_first), b.end - u32::from(skip_last));
        let total = self.code.len() as u32;
        let (first, last) = if back { (2 * total - hi, 2 * total - lo) } else { (lo, hi) };
        let exit = if tail_control { self.exit(tail, back) } else { self.fall(tail, back) };
        Code { first, last, len: b.end - b.start, head: u32::from(head_control), exit }
    }

    /// Whether a control instruction transfers control when reached in this direction, rather than being a landing place.
    fn transfers(&self, at: u32, back: bool) -> bool {
        let inst = self.inst(at);
        match inst.kind.flow() {
            Flow::Straight | Flow::Branch(_) | Flow::Cell => false,
            Flow::Jump => partner(inst) == back,
            Flow::Procedure | Flow::Run => partner(inst) != back,
            Flow::Call | Flow::GradientCall | Flow::CallRegister => true,
        }
    }

    fn exit(&self, at: u32, back: bool) -> Exit {
        let inst = self.inst(at);
        let link = u64::from(at) + 1;
        match inst.kind.flow() {
            Flow::Straight | Flow::Branch(_) | Flow::Cell => self.fall(at, back),
            Flow::Jump => {
                let to = self.target(at);
                let confirm = self.test(self.inst(to));
                let confirm = if self.checks { confirm } else { Test::always() };
                let to = self.side(self.block_of[to as usize], back);
                Exit::Branch(Branch { test: self.test(inst), confirm, fall: self.edge_after(at, back), to })
            }
            flow @ (Flow::Call | Flow::GradientCall) => {
                let lift = flow == Flow::GradientCall;
                let flip = partner(inst);
                Exit::Call { to: self.entry(self.target(at), back != flip), link, flip, lift }
            }
            Flow::CallRegister => Exit::CallRegister { reg: inst.regs[0].number(), link, flip: partner(inst) },
            Flow::Procedure => Exit::Return { proc: if back { at } else { self.target(at) } },
            Flow::Run => Exit::Halt,
        }
    }

    /// The exit of a block that ends in a straight-line instruction.
    fn fall(&self, at: u32, back: bool) -> Exit {
        let fall = self.edge_after(at, back);
        if fall.unless.is_never() {
            return Exit::Fall(fall.block);
        }
        Exit::Branch(Branch { test: Test::never(), confirm: Test::always(), fall, to: fall.block })
    }

    /// The entry block of the procedure at address `proc`.
    fn entry(&self, proc: u32, back: bool) -> u32 {
        let at = if back { self.target(proc) } else { proc };
        self.side(self.block_of[at as usize], back)
    }

    /// The edge from an instruction to the one that follows it in the direction of the run.
    fn edge_after(&self, at: u32, back: bool) -> Edge {
        let next = if back { at.checked_sub(1) } else { Some(at + 1).filter(|n| (*n as usize) < self.code.len()) };
        // Verified code never falls off its end or into another region.
        let next = next.unwrap_or(at);
        let inst = self.inst(next);
        let unless = match inst.kind.flow() {
            Flow::Straight | Flow::Call | Flow::GradientCall | Flow::CallRegister | Flow::Branch(_) | Flow::Cell => {
                Test::never()
            }
            _ if self.transfers(next, back) => Test::never(),
            Flow::Jump if self.checks => self.test(inst),
            Flow::Jump => Test::never(),
            Flow::Procedure | Flow::Run => Test::always(),
        };
        Edge { block: self.side(self.block_of[next as usize], back), unless }
    }

    pub(super) fn call_site(&self, at: usize, inst: &Inst) -> Option<CallSite> {
        let callee = match inst.kind {
            Kind::Row { row: Row::Callr, .. } => Callee::Register(inst.regs[0].number()),
            Kind::Row { .. } | Kind::Accumulate { .. } | Kind::Extension { .. } => {
                Callee::Known(self.target(at as u32))
            }
        };
        let at = at as u32;
        let lift = inst.kind.flow() == Flow::GradientCall;
        Some(CallSite {
            callee,
            flip: partner(inst),
            lift,
            after: [self.edge_after(at, false), self.edge_after(at, true)],
        })
    }
}
