//! The reversible intermediate representation (IR): structured and typed, between the front ends and the machine.
//!
//! A function's variables are single words with a number type. Arrays are sequences of words in memory that variables
//! point to. Every statement is a partial bijection on variables and memory, and [`invert`](mod@invert) inverts any
//! statement by its structure alone. The instruction table defines what an update or a permutation does:
//! [`Stmt::Update`] names a pure function and the accumulator that adds its value, [`Stmt::Permute`] names a row.
//!
//! Front ends build the IR, `passes` rewrite it with the help of [`effects`], [`eval`] runs it, [`text`] prints and
//! reads it, and `lower` makes instructions of it.

pub mod effects;
pub mod eval;
pub mod invert;
pub mod source;
pub mod statements;
#[cfg(test)]
mod tests;
pub mod text;

use std::collections::HashMap;

use pendula_isa::table::{Row, TableFn};
use pendula_isa::{Acc, Cond, Format, Ty};

/// A variable of a function: an index into [`IrFunction::vars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// A region of memory that does not overlap the function's other regions: an array of its own, or one that its caller passed.
/// An index into [`IrFunction::regions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Region(pub u32);

/// A function: an index into [`Program::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A compiled program: its functions, and the one that a run calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// The functions, in no particular order.
    pub functions: Vec<IrFunction>,
    /// The function that a run calls; `None` for a library.
    pub entry: Option<FunctionId>,
    /// The fixed-point format.
    pub format: Format,
    /// The texts that [`Stmt::Print`] shows.
    pub texts: Vec<String>,
    /// The messages of assertions that fail.
    pub reasons: Vec<String>,
    /// The messages for divisors that are 0, by the place of the division: indices into [`Program::reasons`]. [`text`] leaves
    /// them out.
    pub divisors: HashMap<Loc, u32>,
    /// Conditions as the source has them, by the place of their branch or loop. [`text`] leaves them out.
    pub clauses: HashMap<Loc, Option<source::Clauses>>,
    /// The places of parts of statements, such as operands of expressions, each with the place where its statement begins.
    /// [`text`] leaves them out.
    pub parts: HashMap<Loc, Loc>,
    /// Source files, which [`Loc::file`] names.
    pub files: Vec<String>,
    /// The number of words of the program's own stack, which begins at address 0; 0 if the program has none. The first word
    /// counts the words in use, which follow it.
    pub stack: u64,
}

impl Program {
    /// Records the conditions of a branch or loop as the source has them. If a place is recorded with two different
    /// conditions, because the code also occurs inverted, it has none.
    pub fn note(&mut self, loc: Loc, clauses: source::Clauses) {
        let noted = self.clauses.entry(loc).or_insert_with(|| Some(clauses.clone()));
        if noted.as_ref() != Some(&clauses) {
            *noted = None;
        }
    }
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct IrFunction {
    /// The name, unique in the program: `dot`, or `dot.2` for another set of argument types.
    pub name: String,
    /// The parameters. Each is a variable.
    pub params: Vec<Param>,
    /// The variables, parameters first.
    pub vars: Vec<VarInfo>,
    /// The regions of memory that the function distinguishes.
    pub regions: Vec<RegionInfo>,
    /// The statements.
    pub body: Block,
    /// Where it was written.
    pub loc: Loc,
    /// True if the source asks for inlining.
    pub inline: bool,
    /// The source's variables, parameters first. [`text`] leaves them out, and passes do not update them.
    pub names: Vec<source::Named>,
}

/// A parameter: a word that the caller passes to the function, and gets back when the function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// The variable.
    pub var: Var,
    /// True if the function may leave it changed. The argument of an unwritten parameter may be a constant, and may be passed
    /// more than once.
    pub written: bool,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VarInfo {
    /// The name in the source or one that the compiler made; names need not be unique. If the variable's end is checked, a
    /// name with a dot is one that the compiler made: `i.bound` for a bound of the loop over `i`, `x.len1` and `x.words`
    /// for lengths of `x`, `x.argument` for an argument of a call, or `z.re` for a word of a variable.
    pub name: String,
    /// The type of its word.
    pub ty: Ty,
    /// The region that it points into, if it is known to hold an address. The argument of a parameter with a region must be
    /// known to point into a region, too.
    pub points: Option<Region>,
}

/// A region of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionInfo {
    /// The array's name in the source.
    pub name: String,
    /// The type of its words; if they have several types, that of the first.
    pub ty: Ty,
}

/// Where a statement was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc {
    /// Index into [`Program::files`].
    pub file: u16,
    /// Column in characters, from 1.
    pub column: u16,
    /// Line, from 1; 0 for unknown.
    pub line: u32,
}

/// Statements, one after the other.
pub type Block = Vec<At>;

/// A statement and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct At {
    /// The statement.
    pub stmt: Stmt,
    /// Where it was written.
    pub loc: Loc,
}

/// A word of memory, at address `base` + `index` + `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mem {
    /// An integer variable.
    pub base: Option<Var>,
    /// Another integer variable.
    pub index: Option<Var>,
    /// A constant number of words.
    pub offset: i64,
    /// The region that the word lies in. Words of different regions are different words.
    pub region: Region,
}

/// A place that is written: a variable or a word of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A variable.
    Var(Var),
    /// A word of memory.
    Mem(Mem),
}

/// An operand that is read. The context determines the type of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A word.
    Const(u64),
    /// A variable.
    Var(Var),
    /// A word of memory.
    Mem(Mem),
}

impl From<Place> for Operand {
    fn from(place: Place) -> Operand {
        match place {
            Place::Var(v) => Operand::Var(v),
            Place::Mem(m) => Operand::Mem(m),
        }
    }
}

/// A comparison `a` cond `b` of two words read as `ty`. [`Cond::Always`] does not occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    /// The condition.
    pub cond: Cond,
    /// The type of the words.
    pub ty: Ty,
    /// The left side.
    pub a: Operand,
    /// The right side.
    pub b: Operand,
}

/// A condition: a computation, a comparison of its results, and the computation undone.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Runs before the comparison and is undone after it. The comparison may read ancillas that it allocates and leaves live.
    pub compute: Block,
    /// The comparison.
    pub test: Test,
}

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

/// Why something is asserted. Messages depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
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
        care: AncillaChecks,
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
        care: AncillaChecks,
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
        why: Why,
        /// The message if it does not hold: an index into [`Program::reasons`].
        says: Option<u32>,
    },
    /// Shows a number in a forward run.
    Show {
        /// The number's type.
        ty: Ty,
        /// The number.
        value: Operand,
    },
    /// Shows a text in a forward run: an index into [`Program::texts`].
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
}

/// The greatest magnitude of a floating-point ancilla at its end: 1e-8, as in NiLang.
pub const TOLERANCE: f64 = 1e-8;

/// Whether a row may be that of a [`Stmt::Permute`]: one that changes words in place or exchanges them, and nothing else.
pub fn permutes(row: Row) -> bool {
    match row {
        Row::Swap
        | Row::Neg
        | Row::Not
        | Row::Rol
        | Row::Inc
        | Row::Rmul
        | Row::Rot
        | Row::Add8
        | Row::Add16
        | Row::Add32
        | Row::Addu8
        | Row::Addu16
        | Row::Addu32
        | Row::Neg32
        | Row::Rol32 => true,
        Row::Exch
        | Row::Push
        | Row::Assert
        | Row::Zero
        | Row::ZeroWithin
        | Row::Emit
        | Row::Read
        | Row::Show
        | Row::Print
        | Row::Erase
        | Row::Gswap
        | Row::Start
        | Row::Jmp
        | Row::Proc
        | Row::Call
        | Row::Callr
        | Row::Gcall
        | Row::Exch32
        | Row::Bra
        | Row::Rbra
        | Row::Swapbr
        | Row::Cell => false,
    }
}

impl Stmt {
    /// The statement with its place in the source.
    pub fn at(self, loc: Loc) -> At {
        At { stmt: self, loc }
    }
}

impl Test {
    /// The comparison that holds if this one does not, apart from NaN.
    pub fn negated(self) -> Test {
        Test { cond: self.cond.negated(), ..self }
    }
}

impl Condition {
    /// A condition that computes nothing.
    pub fn of(test: Test) -> Condition {
        Condition { compute: Vec::new(), test }
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

impl IrFunction {
    /// A variable's type.
    pub fn ty(&self, var: Var) -> Ty {
        self.vars[var.0 as usize].ty
    }

    /// A new variable.
    pub fn fresh(&mut self, name: impl Into<String>, ty: Ty) -> Var {
        self.vars.push(VarInfo { name: name.into(), ty, points: None });
        Var(self.vars.len() as u32 - 1)
    }

    /// The region that a variable is known to point into.
    pub fn points(&self, var: Var) -> Option<Region> {
        self.vars.get(var.0 as usize)?.points
    }
}
