//! The form between the table and a code generator: what a basic block computes,
//! in single assignment, without control but for short conditionals and without
//! a word of any code generator.
//!
//! A value is named by the place of the operation that makes it. Every value is a
//! word of 64 bits; what is a double or a truth value is so by the operations
//! that make and use it. Operations that may *leave* stop the block before the
//! instruction that they belong to: the state is then that of before it, and the
//! interpreter goes on there, which runs the instruction or traps at it.

use pendula_isa::types::Cond;

/// A value: the place of the operation that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct V(pub u32);

/// Integer operations of two words.
#[expect(missing_docs, reason = "the names say it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bin {
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
    /// What a register carries in a lane when the block begins, or in the condition of an edge that follows a call, after that; never `r0`.
    Get(u8, u8),
    /// An integer operation of two words.
    Bin(Bin, V, V),
    /// All bits turned round.
    Not(V),
    /// 1 if the condition holds between two integers, else 0.
    Compare(Cond, V, V),
    /// The second value if the first is not zero, else the third.
    Select(V, V, V),
    /// An operation of two doubles.
    Float(Float, V, V),
    /// The square root of a double.
    Sqrt(V),
    /// The magnitude of a double.
    Abs(V),
    /// The double nearest to a signed integer, ties to even.
    FromInt(V),
    /// 1 if the condition holds between two doubles, a NaN being unordered; else 0.
    CompareFloat(Cond, V, V),
    /// A double, the NaN that operations make if it is one.
    Canonical(V),
    /// The memory word in a lane at an address that has been checked.
    Load(u8, V),
    /// The (first) result of a kernel, which may leave: the kernel's number, and the arguments.
    Kernel(u32, [V; 4]),
    /// The second result of the kernel.
    Second(V),
    /// The first value if the conditional that ends just before was run, else the second.
    Phi(V, V),

    /// Writes a register in a lane; never `r0`.
    Set(u8, u8, V),
    /// Writes the memory word in a lane at an address that has been checked.
    Store(u8, V, V),
    /// Leaves unless this is an address of the memory.
    Bound(V),
    /// Leaves unless this is a finite double.
    Finite(V),
    /// Leaves if one of two doubles is a NaN.
    Ordered(V, V),
    /// Leaves if the word is zero.
    Require(V),
    /// A fixed-point number overflows if the word is not zero: leaves, unless an overflow has been noted before and is no trap.
    Overflow(V),
    /// Begins operations that are run if the word is not zero.
    If(V),
    /// Ends them.
    End,
    /// The interpreter runs the instruction; it may leave.
    Interpret,
    /// What a register carries in a lane after the interpreter has run the instruction; the register is then as it stands in the machine.
    Reload(u8, u8),
}

impl Op {
    /// Whether the operation only makes a value, and the same whenever its arguments are the same.
    pub const fn is_pure(&self) -> bool {
        match self {
            Op::Const(_)
            | Op::Bin(..)
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

    /// Whether the block may be left by the operation.
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

    /// Whether the operation may be left out where nothing uses its value.
    pub const fn is_idle(&self) -> bool {
        self.is_pure() || matches!(self, Op::Get(..) | Op::Load(..) | Op::Second(_) | Op::Phi(..))
    }

    /// The same operation on other values.
    #[must_use]
    pub fn map(self, f: impl Fn(V) -> V) -> Op {
        match self {
            Op::Const(_) | Op::Get(..) | Op::End | Op::Interpret | Op::Reload(..) => self,
            Op::Bin(op, a, b) => Op::Bin(op, f(a), f(b)),
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
    pub fn uses(&self) -> impl Iterator<Item = V> {
        let four = |a: [Option<V>; 4]| a.into_iter().flatten();
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
            Op::Bin(_, a, b)
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

/// The operations of one instruction, or of a way out of the block.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// How many instructions of the block have run before it.
    pub k: u32,
    /// Where its operations begin and end.
    pub first: u32,
    /// Behind the last.
    pub last: u32,
}

impl Part {
    /// The places of its operations.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..self.last as usize
    }
}

/// A condition of a way out: the operations that find it out, and the word that is not zero if it holds.
#[derive(Clone, Copy, Debug)]
pub enum Test {
    /// It never holds.
    Never,
    /// It always holds.
    Always,
    /// It holds if the word that the operations make is not zero.
    If(Part, V),
}

/// How a block ends, where that needs operations.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    /// Whether the jump is taken.
    pub test: Test,
    /// What must hold where the jump is taken.
    pub confirm: Test,
    /// What must not hold where it is not.
    pub unless: Test,
}

/// What a block computes.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The operations.
    pub ops: Vec<Op>,
    /// Those of each instruction.
    pub parts: Vec<Part>,
    /// How the block ends.
    pub branch: Option<Branch>,
}

/// A kernel that code calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The name of its type: the same in every build from the same sources.
    pub name: &'static str,
    /// Where it is called, as [`super::kernel`] says.
    pub address: usize,
    /// Where it is called so that it gives result and status at once, as [`super::kernel`] says, if it has one result.
    pub result: Option<usize>,
    /// How many arguments it has.
    pub arity: usize,
    /// Whether its status may say that it wrapped, rather than that it has no value.
    pub wraps: bool,
}
