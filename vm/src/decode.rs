//! A module decoded for running: handlers and operands for straight-line instructions, and basic blocks with their exits, once per
//! direction. The second half is the inverse program: every instruction is replaced by its inverse, in reverse order. A backward
//! run runs the second half, so the interpreter needs no notion of direction.

mod blocks;

use std::sync::{Arc, OnceLock};

use pendula_isa::adjoint::AdMode;
use pendula_isa::counts::Block;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::Module;
use pendula_isa::num::compare;
use pendula_isa::table::{Flow, Variant};
use pendula_isa::types::{Cond, Profile, Ty};
use pendula_isa::{Env, Fault};

use blocks::{Builder, divide};

use crate::branch::{self, PisaBranch};
use crate::dispatch::{Handler, handler, undo};
use crate::extension::{Extensions, Shared};
use crate::state::Core;

/// A straight-line instruction, ready to run.
#[derive(Clone, Copy)]
pub(crate) struct Op {
    pub(crate) run: Handler,
    pub(crate) imm: i64,
    pub(crate) regs: [u8; 4],
    pub(crate) variant: Variant,
    /// The shape of an accumulate, and [`Op::INVERSE`]; 0 for other instructions.
    pub(crate) shape: u8,
}

impl Op {
    /// The bit of `shape` that says that an accumulate is the inverse one of its family: `sub`, `div`.
    pub(crate) const INVERSE: u8 = 1 << 7;
}

/// A decoded condition: compares register `a` with register `b` + `imm`; one of `b` and `imm` is 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Test {
    /// Flips the sign bits for unsigned comparison.
    bias: u64,
    pub(crate) imm: u64,
    pub(crate) a: u8,
    pub(crate) b: u8,
    /// For words compared as integers: the orders in which the condition holds, a > b (bit 0), a < b (bit 1), a = b (bit 2).
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

    /// Whether it is the test that never holds.
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

/// A fall-through edge from one block into the next. It may not be taken if `unless` holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) block: u32,
    /// The condition of the half jump at the next block's head. It never holds if there is none, and always holds if control may not
    /// fall in at all.
    pub(crate) unless: Test,
}

/// A conditional jump: to `to` if `test` holds, when `confirm` must hold, too; else along `fall`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Branch {
    pub(crate) test: Test,
    pub(crate) confirm: Test,
    pub(crate) fall: Edge,
    pub(crate) to: u32,
}

/// The exit of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Exit {
    /// A jump, or a fall into a block that begins with a half jump (then the jump itself is never taken).
    Branch(Branch),
    /// A fall into a block that may always be entered.
    Fall(u32),
    /// A call: pushes `link`; `flip` reverses the direction, `lift` raises the gradient level. `to` is the procedure's entry in the new
    /// direction.
    Call { to: u32, link: u64, flip: bool, lift: bool },
    /// A call of the procedure whose address is in a register.
    CallRegister { reg: u8, link: u64, flip: bool },
    /// A return from the procedure whose `proc` instruction is at address `proc`.
    Return { proc: u32 },
    /// The run ends.
    Halt,
    /// A branch by the branch register: `bra`, `rbra` or `swapbr`.
    PisaBranch(PisaBranch),
    /// The run ends at an instruction that does not count as a step, in the profile `pisa`.
    End,
    /// None: the instruction cannot run.
    Stop(Fault),
    /// Control runs off the code after the instruction.
    OffCode,
}

/// A basic block in one direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code {
    /// The straight-line instructions, as indices into [`Decoded::ops`].
    pub(crate) first: u32,
    pub(crate) last: u32,
    /// The number of instructions of the block, including control instructions at its ends.
    pub(crate) len: u32,
    /// The number of instructions before the straight-line ones: 0 or 1.
    pub(crate) head: u32,
    pub(crate) exit: Exit,
}

/// A call instruction, for the return to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallSite {
    /// The address of the called procedure's `proc`, or the register that holds it.
    pub(crate) callee: Callee,
    /// Whether the direction changes.
    pub(crate) flip: bool,
    /// Whether the procedure runs one gradient level higher.
    pub(crate) lift: bool,
    /// The edge to continue along, forward and backward.
    pub(crate) after: [Edge; 2],
}

impl CallSite {
    /// The edge to continue along in the direction of the run.
    #[inline(always)]
    pub(crate) fn after(&self, core: &Core) -> &Edge {
        &self.after[usize::from(!core.forward)]
    }
}

/// The procedure that a call calls.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callee {
    Known(u32),
    Register(u8),
}

/// The decoded program.
pub(crate) struct Decoded {
    /// For each AD mode that has been used: the code, then its inverse in reverse order.
    ops: [OnceLock<(Vec<Op>, Shared)>; AdMode::ALL.len()],
    /// The forward blocks, then the backward ones in the same order. In the profile `pisa`, two more such pairs follow, for blocks that
    /// the branch register leads to (see `branch`).
    pub(crate) code: Vec<Code>,
    /// The addresses of the blocks.
    pub(crate) blocks: Vec<Block>,
    /// The block of every instruction.
    pub(crate) block_of: Vec<u32>,
    /// Indexed by address; `None` if the instruction is not a call.
    pub(crate) calls: Vec<Option<CallSite>>,
    /// The blocks where runs begin: that of `start`, and backward that of `finish`.
    pub(crate) entry: Option<[u32; 2]>,
}

/// The handler in the place of a control instruction; it never runs.
fn control(_: &mut Core, _: &[Op]) -> Result<(), Fault> {
    Err(Fault::OffCode)
}

/// Decodes verified code; with `checks` off, without the checks at the heads of blocks.
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

/// An instruction with its handler.
pub(crate) fn operation(inst: &Inst, kind: Kind, run: Option<Handler>) -> Op {
    let [a, b, c, d, ..] = inst.regs.map(|r| r.number());
    Op {
        run: run.unwrap_or(control),
        imm: inst.imm,
        regs: [a, b, c, d],
        variant: inst.variant(),
        shape: match kind {
            Kind::Accumulate { shape, inverse, .. } => shape as u8 | if inverse { Op::INVERSE } else { 0 },
            Kind::Row { .. } | Kind::Extension { .. } => 0,
        },
    }
}

/// The straight-line instructions for an AD mode: the code, then its inverse in reverse order; and the uses of extensions.
fn operations(code: &[Inst], ad_mode: AdMode) -> (Vec<Op>, Shared) {
    let mut extensions = Extensions::default();
    let mut ops: Vec<Op> = Vec::with_capacity(2 * code.len());
    ops.extend(
        code.iter().map(|i| {
            extensions.add(i, false, ad_mode).unwrap_or_else(|| operation(i, i.kind, handler(i.kind, ad_mode)))
        }),
    );
    ops.extend(code.iter().rev().map(|i| {
        extensions.add(i, true, ad_mode).unwrap_or_else(|| operation(i, i.kind.inverse(), undo(i.kind, ad_mode)))
    }));
    let extensions = (!extensions.is_empty()).then(|| Arc::new(extensions));
    (ops, extensions)
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
        &self.ops[ad_mode as usize].get_or_init(|| operations(&module.code, ad_mode)).0
    }

    /// The uses of extensions, for an AD mode.
    pub(crate) fn extensions(&self, module: &Module, ad_mode: AdMode) -> Shared {
        self.ops[ad_mode as usize].get_or_init(|| operations(&module.code, ad_mode)).1.clone()
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
