//! Operations over virtual registers, to which a function is lowered.

use pendula_isa::extension::Extension;
use pendula_isa::table::{Row, TableFn};
use pendula_isa::{Acc, Cond, Ty};

use crate::ir::{AncillaChecks, Loc};

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct VReg(pub(super) u32);

/// The stack pointer as a virtual register.
pub(super) const SP: VReg = VReg(0);

/// A word of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) base: Option<VReg>,
    pub(super) index: Option<VReg>,
    pub(super) offset: i64,
    pub(super) region: u32,
}

impl Word {
    /// Whether the two may be the same word at run time.
    pub(super) fn may_be(&self, other: &Word) -> bool {
        let same = |a: &Word, b: &Word| a.base == b.base && a.index == b.index;
        let swapped = Word { base: self.index, index: self.base, ..*self };
        let alike = same(self, other) || same(&swapped, other);
        self.region == other.region && (!alike || self.offset == other.offset)
    }
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arg {
    Const(u64),
    Reg(VReg),
    Mem(Word),
}

impl Arg {
    /// The virtual registers that the operand names.
    pub(super) fn regs(&self) -> impl Iterator<Item = VReg> {
        let pair = match *self {
            Arg::Const(_) => [None, None],
            Arg::Reg(v) => [Some(v), None],
            Arg::Mem(w) => [w.base, w.index],
        };
        pair.into_iter().flatten()
    }
}

/// Up to four operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Args {
    len: u8,
    words: [Arg; 4],
}

impl Args {
    pub(super) fn new(args: &[Arg]) -> Option<Args> {
        let mut words = [Arg::Const(0); 4];
        words.get_mut(..args.len())?.copy_from_slice(args);
        Some(Args { len: args.len() as u8, words })
    }

    pub(super) fn get(&self) -> &[Arg] {
        self.words.get(..usize::from(self.len)).unwrap_or(&[])
    }
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cmp {
    pub(super) cond: Cond,
    pub(super) ty: Ty,
    pub(super) a: Arg,
    pub(super) b: Arg,
}

impl Cmp {
    pub(super) fn new(cond: Cond, a: Arg, b: Arg) -> Cmp {
        Cmp { cond, ty: Ty::Int, a, b }
    }

    pub(super) fn negated(self) -> Cmp {
        Cmp { cond: self.cond.negated(), ..self }
    }
}

/// A jump and its target: the comparison of each half, if there is one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pair {
    pub(super) jmp: Option<Cmp>,
    pub(super) from: Option<Cmp>,
}

/// How a word is checked to be zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ZeroCheck {
    /// Not at all.
    None,
    /// By `zero`.
    Zero,
    /// By `zero.f` with a tolerance.
    Within,
}

impl ZeroCheck {
    pub(super) fn of(ty: Ty, checks: AncillaChecks) -> ZeroCheck {
        match ty {
            Ty::Int if checks.check => ZeroCheck::Zero,
            Ty::Int => ZeroCheck::None,
            Ty::F if checks.check => ZeroCheck::Within,
            Ty::Q | Ty::L | Ty::F if checks.check || checks.drop => ZeroCheck::Zero,
            Ty::Q | Ty::L | Ty::F => ZeroCheck::None,
        }
    }
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    /// The destination stands first.
    Update {
        acc: Acc,
        inverse: bool,
        func: TableFn,
        args: Args,
    },
    Permute {
        row: Row,
        inverse: bool,
        ty: Ty,
        args: Args,
    },
    Begin(VReg, ZeroCheck),
    End(VReg, ZeroCheck),
    ZeroCheck(VReg, ZeroCheck),
    Erase(Arg),
    /// A half of a pair: the `from`, or the `jmp`.
    Half {
        pair: u32,
        from: bool,
    },
    /// An index into [`Linear::calls`].
    Call(u32),
    /// An index into [`Linear::extensions`].
    Extension(u32),
    Assert(Cmp),
    Show(Ty, Arg),
    Print(u32),
    /// The beginning or end of a span: an index into [`Linear::spans`].
    Span {
        span: u32,
        end: bool,
    },
}

/// An operation, its place in the source, and the reason of its check.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) op: Op,
    pub(super) loc: Loc,
    pub(super) check_reason: Option<CheckReason>,
}

/// Why a check fails; [`CheckReason::text`](super::reasons) makes a message of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CheckReason {
    /// The message of an assertion: an index into [`Program::reasons`](crate::ir::Program::reasons).
    Text(u32),
    /// A variable does not end as zero.
    Variable(u32),
    /// A word of a region does not end as zero.
    Words(u32),
    /// An array's length is negative.
    Length(u32),
    /// The conditions of an `if` disagree.
    Branch,
    /// The conditions of a `while` disagree.
    Turn,
}

/// An extension with its operands.
#[derive(Clone, Debug)]
pub(super) struct Extended {
    pub(super) extension: Extension,
    pub(super) inverse: bool,
    pub(super) args: Vec<Arg>,
}

/// A call.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) func: u32,
    pub(super) inverse: bool,
    pub(super) args: Vec<Arg>,
    /// The operation.
    pub(super) at: u32,
    pub(super) weight: u64,
}

/// A virtual register's life.
#[derive(Clone, Debug)]
pub(super) struct Life {
    /// The first and the last operation of its life.
    pub(super) start: u32,
    pub(super) end: u32,
    /// The estimated number of uses, with a fixed factor for each loop.
    pub(super) weight: u64,
    /// The nesting depth in branches and loops at its beginning.
    pub(super) level: u32,
    /// The index of the parameter, if it is one.
    pub(super) param: Option<u32>,
    /// The calls that it is passed to, each with the index of the argument.
    pub(super) passed_as: Vec<(u32, u32)>,
    /// True if the beginning and end of an array begin and end it.
    pub(super) by_array: bool,
    /// The region that it is known to point into.
    pub(super) points: Option<u32>,
}

/// A function as a list of operations.
#[derive(Debug, Default)]
pub(super) struct Linear {
    pub(super) ops: Vec<Item>,
    pub(super) pairs: Vec<Pair>,
    pub(super) calls: Vec<Call>,
    pub(super) extensions: Vec<Extended>,
    pub(super) lives: Vec<Life>,
    /// The name of each span, and whether it undoes.
    pub(super) spans: Vec<(String, bool)>,
    /// True if the stack pointer moves, so that the frame pointer addresses the frame.
    pub(super) moves_sp: bool,
    pub(super) erases: bool,
    /// The parts of the lives of variables: variable, virtual register, the first operation before which it is alive, and the last.
    pub(super) parts: Vec<(u32, VReg, u32, u32)>,
}
