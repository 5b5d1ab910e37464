//! Statements and what they consist of: steps, checks and reasons of assertions.

use pendula_isa::table::{Row, TableFn};
use pendula_isa::{Acc, Ty};

use super::{Block, Condition, FunctionId, Loc, LocatedStmt, Operand, Place, Region, Test, Var};

/// The step of a `for`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A constant other than 0.
    Const(i64),
    /// The value of a variable, or its negation.
    Var {
        /// The variable, an integer other than 0.
        var: Var,
        /// True if the step is the negated value.
        negated: bool,
    },
}

/// Which turns of a `for` are added up in blocks of [`BLOCK`]: the last turns beyond the last whole block, or the first ones, are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Blocks {
    /// Blocks begin with the first turn.
    FromFirst,
    /// Blocks end with the last turn: the loop is the inverse of one whose blocks begin with the first.
    FromLast,
}

impl Blocks {
    /// The blocks of the inverse loop.
    pub fn inverse(self) -> Blocks {
        match self {
            Blocks::FromFirst => Blocks::FromLast,
            Blocks::FromLast => Blocks::FromFirst,
        }
    }
}

/// The number of turns that are added up at a time.
pub const BLOCK: usize = 8;

/// Why something is asserted. Messages depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AssertKind {
    /// The source has an assertion.
    User,
    /// An index must lie within its array.
    Bounds,
    /// Two words must be different words, because they are exchanged, or because one is written and the other is read.
    Alias,
    /// Shapes must agree.
    Shape,
}

/// A statement: a partial bijection on variables and memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// `dst ⊕= func(args…)`, an accumulate instruction. No argument is the word `dst`, and the address of `dst` does not
    /// depend on `dst`.
    Update {
        /// The accumulator ⊕.
        acc: Acc,
        /// True for the accumulator's partner, which is its inverse.
        inverse: bool,
        /// The function, which also gives the types.
        func: TableFn,
        /// What is written.
        dst: Place,
        /// As many as the function takes.
        args: Vec<Operand>,
    },
    /// A straight-line row of the table on words: `swap`, `neg`, `not`, `rol`, `inc`, `rmul`, `rot` and their partners.
    /// `exch` is not among them, since `swap` takes memory, too. The operands that the row writes are places. No two of
    /// them are the same word, and none is a variable that another's address depends on.
    Permute {
        /// The row.
        row: Row,
        /// True for the row's partner, which is its inverse.
        inverse: bool,
        /// The type that the row is used with.
        ty: Ty,
        /// The operands.
        args: Vec<Operand>,
    },
    /// A variable begins its life as the all-zero word, or (if `free`) ends its life as the all-zero word.
    Ancilla {
        /// The variable.
        var: Var,
        /// True if the life ends.
        free: bool,
        /// What is checked.
        checks: AncillaChecks,
    },
    /// `len` all-zero words begin their lives on top of the stack, and `base`, which was zero, becomes their address; or (if
    /// `free`) they end their lives as zeros. The array that was allocated last ends first.
    Array {
        /// An integer variable.
        base: Var,
        /// The number of words, not negative.
        len: Operand,
        /// The region of the words.
        region: Region,
        /// The type of the words.
        ty: Ty,
        /// True if the lives end.
        free: bool,
        /// What is checked.
        checks: AncillaChecks,
    },
    /// A call, or (if `inverse`) an uncall. The argument of an unwritten parameter may be a constant, and may be passed more
    /// than once.
    Call {
        /// The function.
        func: FunctionId,
        /// True if the function runs backward.
        inverse: bool,
        /// One for each parameter.
        args: Vec<Operand>,
    },
    /// Runs `then` if `pre` holds, else `otherwise`. Afterwards `post` holds if and only if `pre` held.
    If {
        /// The condition that decides in a forward run.
        pre: Condition,
        /// The condition that decides in a backward run.
        post: Condition,
        /// The branch that runs if the condition holds.
        then: Block,
        /// The branch that runs if it does not hold.
        otherwise: Block,
    },
    /// Runs `first`; then, while `pre` holds, runs `body` and `first` again. `post` is false before `first` runs for the
    /// first time, and true after every `body`.
    While {
        /// Holds before each iteration of `body`.
        pre: Condition,
        /// Holds after each iteration of `body`.
        post: Condition,
        /// Runs once more often than `body`. It is empty for a loop that is left where it is entered.
        first: Block,
        /// One iteration without `first`.
        body: Block,
    },
    /// Runs `body` with `var` = `first`, `first` + `step`, …, `last`. It does not run at all if `last` comes before `first`
    /// in the direction of `step`; otherwise `last` must be one of the values. `var` lives in `body` only. `body` changes
    /// neither `var` nor `first`, `last` or `step`.
    For {
        /// An integer variable.
        var: Var,
        /// The first value.
        first: Operand,
        /// The last value.
        last: Operand,
        /// The step.
        step: Step,
        /// One iteration.
        body: Block,
        /// Whether what the iterations of a block add is added up before it is added to a word. Then `body` changes nothing
        /// in the end but such words, which it does not read, and to each of which it adds at most once
        /// ([`passes::blocks`](crate::passes::blocks)).
        blocks: Option<Blocks>,
    },
    /// Runs `compute` and `body`, and then undoes `compute`. What `compute` allocates and does not free lives through `body`.
    With {
        /// The name, for spans in the assembly.
        name: String,
        /// The statements that run first and are undone at the end.
        compute: Block,
        /// The statements in between.
        body: Block,
    },
    /// Statements with a name. A span with `undo` undoes what a span with the same name and without `undo` computes.
    Span {
        /// The name.
        name: String,
        /// True if it undoes.
        undo: bool,
        /// The statements.
        body: Block,
    },
    /// Traps unless the comparison holds, in either direction.
    Assert {
        /// The comparison.
        test: Test,
        /// Why this is asserted.
        why: AssertKind,
        /// The message if it does not hold: an index into [`Program::reasons`](super::Program::reasons).
        reason: Option<u32>,
    },
    /// Shows a number in a forward run.
    Show {
        /// The number's type.
        ty: Ty,
        /// The number.
        value: Operand,
    },
    /// Shows a text in a forward run: an index into [`Program::texts`](super::Program::texts).
    Print(u32),
}

/// What is checked where words begin or end their lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AncillaChecks {
    /// True if the word must be zero, or within a tolerance of zero for floating-point numbers. Otherwise it traps.
    pub check: bool,
    /// True if the gradient word, if there is one, is dropped. In a backward run with gradients it may be nonzero where the
    /// life began.
    pub drop: bool,
}

impl AncillaChecks {
    /// Both checks.
    pub const FULL: AncillaChecks = AncillaChecks { check: true, drop: true };
    /// No check.
    pub const NONE: AncillaChecks = AncillaChecks { check: false, drop: false };
}

/// The greatest magnitude of a floating-point ancilla at its end: 1e-8, as in NiLang.
pub const TOLERANCE: f64 = pendula_codegen::loops::NEAR_ZERO;

impl Stmt {
    /// The statement with its place in the source.
    pub fn at(self, loc: Loc) -> LocatedStmt {
        LocatedStmt { stmt: self, loc }
    }

    /// A branch that the same condition decides before and after.
    pub fn branch(condition: Condition, then: Block, otherwise: Block) -> Stmt {
        Stmt::If { pre: condition.clone(), post: condition, then, otherwise }
    }

    /// The variable whose life it begins or ends, or that it updates.
    pub fn own_var(&self) -> Option<Var> {
        match self {
            Stmt::Ancilla { var, .. } | Stmt::Update { dst: Place::Var(var), .. } => Some(*var),
            _ => None,
        }
    }

    /// Whether it is a single operation: it has no statements within it, calls nothing and allocates no array.
    pub fn is_operation(&self) -> bool {
        match self {
            Stmt::Update { .. }
            | Stmt::Permute { .. }
            | Stmt::Ancilla { .. }
            | Stmt::Assert { .. }
            | Stmt::Show { .. }
            | Stmt::Print(_) => true,
            Stmt::Array { .. }
            | Stmt::Call { .. }
            | Stmt::If { .. }
            | Stmt::While { .. }
            | Stmt::For { .. }
            | Stmt::With { .. }
            | Stmt::Span { .. } => false,
        }
    }
}

impl Step {
    /// The step in the opposite direction.
    pub fn negated(self) -> Step {
        match self {
            Step::Const(k) => Step::Const(k.wrapping_neg()),
            Step::Var { var, negated } => Step::Var { var, negated: !negated },
        }
    }
}
