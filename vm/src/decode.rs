//! A module decoded for running: handlers and operands for straight-line
//! instructions, basic blocks with their exits for control, once for each
//! direction. Running backward is running the second half, in which every
//! instruction is replaced by its inverse and the order is reversed; the
//! interpreter does not know the difference.

use std::sync::OnceLock;

use pendula_isa::adjoint::AdMode;
use pendula_isa::counts::Block;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::Module;
use pendula_isa::num::{compare, convert};
use pendula_isa::table::{Flow, Row, Variant};
use pendula_isa::types::{Cond, Profile, Ty};
use pendula_isa::{Env, Fault};

use crate::branch::{self, PisaBranch};
use crate::core::Core;
use crate::dispatch::{Handler, handler, undo};

/// A straight-line instruction, ready to run.
#[derive(Clone, Copy)]
pub(crate) struct Op {
    pub(crate) run: Handler,
    pub(crate) imm: i64,
    pub(crate) regs: [u8; 4],
    pub(crate) variant: Variant,
    /// The shape of an accumulate, and [`Op::INVERSE`].
    pub(crate) shape: u8,
}

impl Op {
    /// The bit of `shape` that says that an accumulate undoes its family's first instruction: `sub`, `div`.
    pub(crate) const INVERSE: u8 = 1 << 7;
}

/// A condition, ready to be tested: register `a` against register `b` + `imm`, one of which is 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Test {
    /// Flips the sign bits where the comparison is unsigned.
    bias: u64,
    pub(crate) imm: u64,
    pub(crate) a: u8,
    pub(crate) b: u8,
    /// For words compared as integers: whether the condition holds if a > b (bit 0), a < b (bit 1), a = b (bit 2).
    mask: u8,
    pub(crate) cond: Cond,
    pub(crate) ty: Ty,
}

impl Test {
    /// The test of register `a` against register `b` + `imm`.
    fn new(cond: Cond, ty: Ty, a: u8, b: u8, imm: u64) -> Test {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let orders = [Greater, Less, Equal];
        let mask = orders.iter().enumerate().map(|(n, o)| u8::from(cond.holds(Some(*o))) << n).sum();
        let bias = if matches!(cond, Cond::Ltu | Cond::Geu) { 1 << 63 } else { 0 };
        Test { bias, imm, a, b, mask, cond, ty }
    }

    /// The test that always holds.
    fn always() -> Test {
        Test::new(Cond::Always, Ty::Int, 0, 0, 0)
    }

    /// The test that never holds.
    fn never() -> Test {
        Test { mask: 0, ..Test::always() }
    }

    /// Whether it is the test that never holds, whatever the registers hold.
    #[inline(always)]
    pub(crate) fn is_never(&self) -> bool {
        self.mask == 0
    }

    #[inline(always)]
    pub(crate) fn holds(&self, core: &Core) -> Result<bool, Fault> {
        let (a, b) = (core.reg(self.a), core.reg(self.b).wrapping_add(self.imm));
        if matches!(self.ty, Ty::Int | Ty::Q) {
            let (a, b) = (a ^ self.bias, b ^ self.bias);
            let order = u8::from(a.cast_signed() < b.cast_signed()) | u8::from(a == b) << 1;
            return Ok((self.mask >> order) & 1 == 1);
        }
        self.compare(core, a, b)
    }

    #[cold]
    #[inline(never)]
    fn compare(&self, core: &Core, a: u64, b: u64) -> Result<bool, Fault> {
        compare(core.env, self.cond, self.ty, a, b)
    }
}

/// A way from one block into the next: control falls into it, unless `unless` holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) block: u32,
    /// The condition of the half jump at the next block's head; holds never where there is none,
    /// and always where control may not fall in at all.
    pub(crate) unless: Test,
}

/// A jump and falling through: `to` if `test` holds, when `confirm` must hold, too; else along `fall`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Branch {
    pub(crate) test: Test,
    pub(crate) confirm: Test,
    pub(crate) fall: Edge,
    pub(crate) to: u32,
}

/// How a block is left.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Exit {
    /// By a jump, or by falling into a block that a half jump heads (a jump that is never taken).
    Branch(Branch),
    /// By falling into a block that may always be entered.
    Fall(u32),
    /// By a call: `link` is pushed; with `flip` the direction changes, with `lift` the gradient level rises. `to` is the procedure's entry in the new direction.
    Call { to: u32, link: u64, flip: bool, lift: bool },
    /// By a call of the procedure at the address in a register.
    CallRegister { reg: u8, link: u64, flip: bool },
    /// By returning from the procedure whose `proc` is at `proc`.
    Return { proc: u32 },
    /// The run ends.
    Halt,
    /// By the branch register: a `bra`, `rbra` or `swapbr`.
    PisaBranch(PisaBranch),
    /// The run ends, at an instruction that does not count as a step: in the profile `pisa`.
    End,
    /// By nothing: the instruction cannot run.
    Stop(Fault),
    /// By running off the code, or into nothing, after the instruction.
    Edge,
}

/// A basic block in one direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code {
    /// The straight-line instructions, as indices into [`Decoded::ops`].
    pub(crate) first: u32,
    pub(crate) last: u32,
    /// How many instructions the block has, control at its ends included.
    pub(crate) len: u32,
    /// How many instructions stand before the straight-line ones: 0 or 1.
    pub(crate) head: u32,
    pub(crate) exit: Exit,
}

/// A call instruction, as a return finds it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallSite {
    /// The address of the called procedure's `proc`, or the register that holds it.
    pub(crate) callee: Callee,
    /// Whether the direction changes.
    pub(crate) flip: bool,
    /// Whether the gradient level is one higher in the procedure.
    pub(crate) lift: bool,
    /// Where to go on, forward and backward.
    pub(crate) after: [Edge; 2],
}

impl CallSite {
    /// Where to go on in the direction of the run.
    #[inline(always)]
    pub(crate) fn after(&self, core: &Core) -> &Edge {
        &self.after[usize::from(!core.forward)]
    }
}

/// Who is called.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callee {
    Known(u32),
    Register(u8),
}

/// The decoded program.
pub(crate) struct Decoded {
    /// For each AD mode, once it is asked for: the code, then its inverse in reverse order.
    ops: [OnceLock<Vec<Op>>; AdMode::ALL.len()],
    /// The forward blocks, then the backward ones in the same order. Where there is a branch register, then both again, as they are where
    /// control comes to them by it.
    pub(crate) code: Vec<Code>,
    /// Where the blocks lie.
    pub(crate) blocks: Vec<Block>,
    /// The block of every instruction.
    pub(crate) block_of: Vec<u32>,
    /// Indexed by address; `None` for what is no call.
    pub(crate) calls: Vec<Option<CallSite>>,
    /// The blocks where runs begin: of `start`, and of `finish` backward.
    pub(crate) entry: Option<[u32; 2]>,
}

/// What stands for a control instruction among the ops; it is never run.
fn control(_: &mut Core, _: &[Op]) -> Result<(), Fault> {
    Err(Fault::OffCode)
}

/// Decodes verified code; `checks` off leaves out the checks at the heads of blocks.
pub(crate) fn decode(module: &Module, checks: bool) -> Decoded {
    if module.flags.profile == Profile::Pisa {
        return branch::decode(module);
    }
    let code = &module.code;
    let env = Env { format: module.flags.format, ieee: false };
    let blocks = divide(module);
    let mut block_of = vec![0; code.len()];
    for (n, b) in blocks.iter().enumerate() {
        block_of[b.start as usize..b.end as usize].fill(n as u32);
    }
    let builder = Builder { code, env, checks, blocks: &blocks, block_of: &block_of };
    let mut out = Vec::with_capacity(2 * blocks.len());
    for back in [false, true] {
        out.extend((0..blocks.len()).map(|n| builder.block(n, back)));
    }
    let mut calls = vec![None; code.len()];
    let mut entry = [None; 2];
    for (at, inst) in code.iter().enumerate() {
        match inst.kind.flow() {
            Flow::Call | Flow::GradientCall | Flow::CallRegister => calls[at] = builder.call_site(at, inst),
            Flow::Run => entry[usize::from(partner(inst))] = Some(builder.side(block_of[at], partner(inst))),
            Flow::Straight | Flow::Jump | Flow::Procedure | Flow::Branch(_) | Flow::Cell => {}
        }
    }
    let entry = match entry {
        [Some(start), Some(finish)] => Some([start, finish]),
        _ => None,
    };
    Decoded::new(out, blocks, block_of, calls, entry)
}

/// Whether the instruction is its row's partner: `from`, `ret`, `uncall`, `finish`.
pub(crate) fn partner(inst: &Inst) -> bool {
    matches!(inst.kind, Kind::Row { inverse: true, .. })
}

/// Divides the code into blocks: entered only at their first instruction, left only at their last, in either
/// direction, and on one side of every routine mark.
fn divide(module: &Module) -> Vec<Block> {
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
                // `jmp` ends a block and `from` begins one; `ret` and `finish` end, `proc` and `start` begin.
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

struct Builder<'a> {
    code: &'a [Inst],
    env: Env,
    checks: bool,
    blocks: &'a [Block],
    block_of: &'a [u32],
}

impl Builder<'_> {
    /// The index of a block's code in one direction.
    fn side(&self, block: u32, back: bool) -> u32 {
        if back { block + self.blocks.len() as u32 } else { block }
    }

    fn inst(&self, at: u32) -> &Inst {
        &self.code[at as usize]
    }

    fn is_control(&self, at: u32) -> bool {
        self.inst(at).kind.flow() != Flow::Straight
    }

    /// The address that a verified label operand means.
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
        // Whole numbers of 15 bits lie in the range of every type; the formats' smallest is ±2^15.
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

    fn block(&self, n: usize, back: bool) -> Code {
        let b = self.blocks[n];
        let (head, tail) = self.ends(n, back);
        let single = head == tail;
        // A lone control instruction is the block's tail if it transfers control in this direction.
        let tail_control = self.is_control(tail) && (!single || self.transfers(tail, back));
        let head_control = self.is_control(head) && (!single || !tail_control);
        let (skip_first, skip_last) = if back { (tail_control, head_control) } else { (head_control, tail_control) };
        let (lo, hi) = (b.start + u32::from(skip_first), b.end - u32::from(skip_last));
        let total = self.code.len() as u32;
        let (first, last) = if back { (2 * total - hi, 2 * total - lo) } else { (lo, hi) };
        let exit = if tail_control { self.exit(tail, back) } else { self.fall(tail, back) };
        Code { first, last, len: b.end - b.start, head: u32::from(head_control), exit }
    }

    /// Whether a control instruction decides where to go when it is reached in this direction, rather than being landed on.
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

    /// The way out of a block that ends in a straight-line instruction.
    fn fall(&self, at: u32, back: bool) -> Exit {
        let fall = self.edge_after(at, back);
        if fall.unless.is_never() {
            return Exit::Fall(fall.block);
        }
        Exit::Branch(Branch { test: Test::never(), confirm: Test::always(), fall, to: fall.block })
    }

    /// The block at which the procedure at address `proc` is entered.
    fn entry(&self, proc: u32, back: bool) -> u32 {
        let at = if back { self.target(proc) } else { proc };
        self.side(self.block_of[at as usize], back)
    }

    /// The edge from an instruction to the one that follows it in the direction of the run.
    fn edge_after(&self, at: u32, back: bool) -> Edge {
        let next = if back { at.checked_sub(1) } else { Some(at + 1).filter(|n| (*n as usize) < self.code.len()) };
        // Verified code never falls off its end, or into another region.
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

    fn call_site(&self, at: usize, inst: &Inst) -> Option<CallSite> {
        let callee = match inst.kind {
            Kind::Row { row: Row::Callr, .. } => Callee::Register(inst.regs[0].number()),
            Kind::Row { .. } | Kind::Accumulate { .. } => Callee::Known(self.target(at as u32)),
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

/// The straight-line instructions for an AD mode: the code, then its inverse in reverse order.
fn operations(code: &[Inst], ad_mode: AdMode) -> Vec<Op> {
    let op = |inst: &Inst, kind: Kind, run: Option<Handler>| Op {
        run: run.unwrap_or(control),
        imm: inst.imm,
        regs: inst.regs.map(|r| r.number()),
        variant: inst.variant(),
        shape: match kind {
            Kind::Accumulate { shape, inverse, .. } => shape as u8 | if inverse { Op::INVERSE } else { 0 },
            Kind::Row { .. } => 0,
        },
    };
    let mut ops: Vec<Op> = Vec::with_capacity(2 * code.len());
    ops.extend(code.iter().map(|i| op(i, i.kind, handler(i.kind, ad_mode))));
    ops.extend(code.iter().rev().map(|i| op(i, i.kind.inverse(), undo(i.kind, ad_mode))));
    ops
}

impl Decoded {
    pub(crate) fn new(
        code: Vec<Code>,
        blocks: Vec<Block>,
        block_of: Vec<u32>,
        calls: Vec<Option<CallSite>>,
        entry: Option<[u32; 2]>,
    ) -> Decoded {
        Decoded { ops: Default::default(), code, blocks, block_of, calls, entry }
    }

    /// The straight-line instructions for an AD mode, decoded on first use.
    pub(crate) fn ops(&self, module: &Module, ad_mode: AdMode) -> &[Op] {
        self.ops[ad_mode as usize].get_or_init(|| operations(&module.code, ad_mode))
    }

    /// Whether a block's code is that of the forward direction.
    pub(crate) fn is_forward(&self, block: u32) -> bool {
        let n = self.blocks.len();
        block as usize % (2 * n) < n
    }

    /// The block of the instruction at address `at`, in one direction.
    pub(crate) fn side(&self, at: usize, forward: bool) -> u32 {
        self.block_of[at] + if forward { 0 } else { self.blocks.len() as u32 }
    }

    /// The address of instruction number `k` of a block, counted in the direction of the run.
    pub(crate) fn address(&self, block: u32, k: u32) -> u32 {
        let within = self.blocks[block as usize % self.blocks.len()];
        if self.is_forward(block) { within.start + k } else { within.end - 1 - k }
    }

    /// The entry of the procedure whose `proc` is at address `at`, if there is one, in one direction.
    pub(crate) fn procedure(&self, module: &Module, at: u64, back: bool) -> Option<u32> {
        let proc = usize::try_from(at).ok()?;
        let inst = module.code.get(proc)?;
        let is_proc = inst.kind.flow() == Flow::Procedure && !partner(inst);
        let entry = if back { (proc as i64 + inst.imm) as usize } else { proc };
        let block = *self.block_of.get(entry)?;
        is_proc.then_some(if back { block + self.blocks.len() as u32 } else { block })
    }
}
