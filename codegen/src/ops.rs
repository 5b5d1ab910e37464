//! The intermediate form between the table and the code generators: the computation of a basic block in static single
//! assignment form. The only control in it is short conditionals, and it is independent of any code generator.
//!
//! A value is named by the index of the operation that defines it. Every value is a 64-bit word; whether it is a double or a truth
//! value depends on the operations that define and use it. An operation that may take a *side exit* stops the block before the
//! instruction that it belongs to. The state is then the one before that instruction, and the interpreter continues there: it
//! runs the instruction or traps at it.

use pendula_isa::kernels::Faults;
use pendula_isa::kernels::circuits::{InPlaceCircuit, ValueCircuit};
use pendula_isa::types::Cond;

/// A value: the index of the operation that defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueId(pub u32);

/// Integer operations of two words.
#[expect(missing_docs, reason = "the names say it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// The high word of the signed product.
    MulHigh,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Sar,
    Rol,
    Ror,
}

/// Operations of two doubles, rounded to nearest.
#[expect(missing_docs, reason = "the names say it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Float {
    Add,
    Sub,
    Mul,
    Div,
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A constant.
    Const(u64),
    /// The word of a register in a lane when the block begins; in the condition of an edge after a call, the word after the call.
    /// Never `r0`.
    Get(u8, u8),
    /// An integer operation of two words.
    BinaryOp(BinaryOp, ValueId, ValueId),
    /// The bitwise complement.
    Not(ValueId),
    /// 1 if the condition holds between two integers, else 0.
    Compare(Cond, ValueId, ValueId),
    /// The second value if the first is not zero, else the third.
    Select(ValueId, ValueId, ValueId),
    /// An operation of two doubles.
    Float(Float, ValueId, ValueId),
    /// The square root of a double.
    Sqrt(ValueId),
    /// The magnitude of a double.
    Abs(ValueId),
    /// The double nearest to a signed integer, ties to even.
    FromInt(ValueId),
    /// 1 if the condition holds between two doubles, a NaN being unordered; else 0.
    CompareFloat(Cond, ValueId, ValueId),
    /// The double itself, or the canonical NaN if it is a NaN.
    Canonical(ValueId),
    /// The memory word in a lane at a checked address.
    Load(u8, ValueId),
    /// The (first) result of a kernel: its number and its arguments. May take a side exit.
    Kernel(u32, [ValueId; 4]),
    /// The second result of the kernel.
    Second(ValueId),
    /// The first value if the conditional that ended just before was run, else the second.
    Phi(ValueId, ValueId),

    /// Writes the word of a register in a lane; never `r0`.
    Set(u8, u8, ValueId),
    /// Writes the memory word in a lane at a checked address.
    Store(u8, ValueId, ValueId),
    /// Takes a side exit unless the value is an address of the memory.
    Bound(ValueId),
    /// Takes a side exit unless the double is finite.
    Finite(ValueId),
    /// Takes a side exit if one of two doubles is a NaN.
    Ordered(ValueId, ValueId),
    /// Takes a side exit if the word is zero.
    Require(ValueId),
    /// A fixed-point number overflows if the word is not zero. Takes a side exit then, unless an overflow has been noted before and
    /// is no trap.
    Overflow(ValueId),
    /// Begins operations that only run if the word is not zero.
    If(ValueId),
    /// Ends the operations of the innermost [`Op::If`].
    End,
    /// The interpreter runs the instruction. May take a side exit.
    Interpret,
    /// The word of a register in a lane after the interpreter has run the instruction; the machine then holds the same word.
    Reload(u8, u8),
}

impl Op {
    /// Whether the operation has no effect and depends on its arguments only.
    pub const fn is_pure(&self) -> bool {
        match self {
            Op::Const(_)
            | Op::BinaryOp(..)
            | Op::Not(_)
            | Op::Compare(..)
            | Op::Select(..)
            | Op::Float(..)
            | Op::Sqrt(_)
            | Op::Abs(_)
            | Op::FromInt(_)
            | Op::CompareFloat(..)
            | Op::Canonical(_) => true,
            Op::Get(..)
            | Op::Load(..)
            | Op::Kernel(..)
            | Op::Second(_)
            | Op::Phi(..)
            | Op::Set(..)
            | Op::Store(..)
            | Op::Bound(_)
            | Op::Finite(_)
            | Op::Ordered(..)
            | Op::Require(_)
            | Op::Overflow(_)
            | Op::If(_)
            | Op::End
            | Op::Interpret
            | Op::Reload(..) => false,
        }
    }

    /// Whether the operation may take a side exit.
    pub const fn may_exit(&self) -> bool {
        matches!(
            self,
            Op::Kernel(..)
                | Op::Bound(_)
                | Op::Finite(_)
                | Op::Ordered(..)
                | Op::Require(_)
                | Op::Overflow(_)
                | Op::Interpret
        )
    }

    /// Whether the operation may be omitted if nothing uses its value.
    pub const fn is_idle(&self) -> bool {
        self.is_pure() || matches!(self, Op::Get(..) | Op::Load(..) | Op::Second(_) | Op::Phi(..))
    }

    /// The same operation with each operand replaced by `f`.
    #[must_use]
    pub fn map(self, f: impl Fn(ValueId) -> ValueId) -> Op {
        match self {
            Op::Const(_) | Op::Get(..) | Op::End | Op::Interpret | Op::Reload(..) => self,
            Op::BinaryOp(op, a, b) => Op::BinaryOp(op, f(a), f(b)),
            Op::Not(a) => Op::Not(f(a)),
            Op::Compare(c, a, b) => Op::Compare(c, f(a), f(b)),
            Op::Select(a, b, c) => Op::Select(f(a), f(b), f(c)),
            Op::Float(op, a, b) => Op::Float(op, f(a), f(b)),
            Op::Sqrt(a) => Op::Sqrt(f(a)),
            Op::Abs(a) => Op::Abs(f(a)),
            Op::FromInt(a) => Op::FromInt(f(a)),
            Op::CompareFloat(c, a, b) => Op::CompareFloat(c, f(a), f(b)),
            Op::Canonical(a) => Op::Canonical(f(a)),
            Op::Load(lane, a) => Op::Load(lane, f(a)),
            Op::Kernel(k, x) => Op::Kernel(k, x.map(f)),
            Op::Second(a) => Op::Second(f(a)),
            Op::Phi(a, b) => Op::Phi(f(a), f(b)),
            Op::Set(lane, reg, a) => Op::Set(lane, reg, f(a)),
            Op::Store(lane, a, b) => Op::Store(lane, f(a), f(b)),
            Op::Bound(a) => Op::Bound(f(a)),
            Op::Finite(a) => Op::Finite(f(a)),
            Op::Ordered(a, b) => Op::Ordered(f(a), f(b)),
            Op::Require(a) => Op::Require(f(a)),
            Op::Overflow(a) => Op::Overflow(f(a)),
            Op::If(a) => Op::If(f(a)),
        }
    }

    /// The values that the operation uses.
    pub fn uses(&self) -> impl Iterator<Item = ValueId> {
        let four = |a: [Option<ValueId>; 4]| a.into_iter().flatten();
        match *self {
            Op::Const(_) | Op::Get(..) | Op::End | Op::Interpret | Op::Reload(..) => four([None; 4]),
            Op::Not(a)
            | Op::Sqrt(a)
            | Op::Abs(a)
            | Op::FromInt(a)
            | Op::Canonical(a)
            | Op::Load(_, a)
            | Op::Second(a)
            | Op::Set(_, _, a)
            | Op::Bound(a)
            | Op::Finite(a)
            | Op::Require(a)
            | Op::Overflow(a)
            | Op::If(a) => four([Some(a), None, None, None]),
            Op::BinaryOp(_, a, b)
            | Op::Compare(_, a, b)
            | Op::Float(_, a, b)
            | Op::CompareFloat(_, a, b)
            | Op::Phi(a, b)
            | Op::Store(_, a, b)
            | Op::Ordered(a, b) => four([Some(a), Some(b), None, None]),
            Op::Select(a, b, c) => four([Some(a), Some(b), Some(c), None]),
            Op::Kernel(_, x) => four(x.map(Some)),
        }
    }
}

/// The operations of one instruction, or of one exit of the block.
#[derive(Clone, Copy, Debug)]
pub struct InstructionOps {
    /// The number of instructions of the block that run before it.
    pub k: u32,
    /// The index of its first operation.
    pub first: u32,
    /// The index after its last operation.
    pub last: u32,
}

impl InstructionOps {
    /// The indices of its operations.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..self.last as usize
    }
}

/// A condition of an exit: the operations that compute it, and the word that is not zero if it holds.
#[derive(Clone, Copy, Debug)]
pub enum Test {
    /// It never holds.
    Never,
    /// It always holds.
    Always,
    /// It holds if the computed word is not zero.
    If(InstructionOps, ValueId),
}

/// The conditions at the end of a block.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    /// The condition under which the jump is taken.
    pub test: Test,
    /// The condition that must hold if the jump is taken.
    pub confirm: Test,
    /// The condition that must not hold if it is not taken.
    pub unless: Test,
}

/// The computation of a block.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The operations.
    pub ops: Vec<Op>,
    /// The operations of each instruction.
    pub parts: Vec<InstructionOps>,
    /// How the block ends.
    pub branch: Option<Branch>,
}

/// A kernel that compiled code calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The name, an identifier.
    pub name: &'static str,
    /// The address of its entry point (see [`super::kernel`]).
    pub address: usize,
    /// The address of the entry point that returns result and status at once (see [`super::kernel`]), if it has one result.
    pub result: Option<usize>,
    /// The number of arguments.
    pub arity: usize,
    /// Whether its status can be [`WRAPPED`](super::kernel::WRAPPED) rather than [`FAULT`](super::kernel::FAULT).
    pub wraps: bool,
    /// When it has no results.
    pub faults: Faults,
    /// Its circuits.
    pub circuits: &'static [ValueCircuit],
    /// Its circuit that replaces the first arguments by the results.
    pub in_place: Option<InPlaceCircuit>,
}
