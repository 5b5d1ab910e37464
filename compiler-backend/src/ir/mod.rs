//! The reversible intermediate representation: structured, typed, between the
//! front ends and the machine.
//!
//! A function's variables are single words with a number type; arrays are runs
//! of words in memory that variables point to. Every statement is a partial
//! bijection on variables and memory, and [`invert`](mod@invert) turns any of them around by
//! its structure alone. What an update or a permutation does is said by the
//! instruction table: [`Stmt::Update`] names a pure function and an accumulator of
//! it, [`Stmt::Permute`] a row.
//!
//! Neighbours: front ends build it, `passes` rewrite it with the help of [`effects`], [`eval`] runs it, [`text`]
//! prints and reads it, and `lower` makes instructions of it.

pub mod effects;
pub mod eval;
pub mod invert;
pub mod source;
pub mod statements;
pub mod text;

use std::collections::HashMap;

use pendula_isa::table::{Row, TableFn};
use pendula_isa::{Acc, Cond, Format, Ty};

/// A variable of a function: an index into [`IrFunction::vars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// A stretch of memory of which a function knows that it does not overlap others: an array of its own, or one that it was given.
/// An index into [`IrFunction::regions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Region(pub u32);

/// A function: an index into [`Program::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A compiled program: functions, and where a run begins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// The functions, in no order.
    pub functions: Vec<IrFunction>,
    /// What a run calls.
    pub entry: Option<FunctionId>,
    /// The fixed-point format.
    pub format: Format,
    /// What [`Stmt::Print`] shows.
    pub texts: Vec<String>,
    /// What assertions say where they fail.
    pub reasons: Vec<String>,
    /// What is said where a divisor is 0, by where that was written: indices into [`Program::reasons`]. Not in [`text`].
    pub divisors: HashMap<Loc, u32>,
    /// Conditions as they are written, by the branch or loop whose they are. Not in [`text`].
    pub clauses: HashMap<Loc, Option<source::Clauses>>,
    /// What is only a part of a statement, as an operand of an expression is: where, and where the statement begins. Not in [`text`].
    pub parts: HashMap<Loc, Loc>,
    /// Source files, which [`Loc::file`] names.
    pub files: Vec<String>,
    /// Words of memory for the program's own stack, which lies at address 0; 0 if it uses none. The first word counts the words in use,
    /// which follow it.
    pub stack: u64,
}

impl Program {
    /// Notes the conditions of a branch or loop as they are written. Of one that is there both ways around nothing can be said.
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
    /// Its name, unique in the program: `dot`, `dot.2` for another set of argument types.
    pub name: String,
    /// Its parameters: all are variables, some of which the function does not change in the end.
    pub params: Vec<Param>,
    /// Its variables, parameters first.
    pub vars: Vec<VarInfo>,
    /// The stretches of memory that it tells apart.
    pub regions: Vec<RegionInfo>,
    /// What it does.
    pub body: Block,
    /// Where it was written.
    pub loc: Loc,
    /// Whether it asks to be inlined.
    pub inline: bool,
    /// Its variables in the source, parameters first. Not in [`text`], and passes do not keep them true.
    pub names: Vec<source::Named>,
}

/// A parameter: a word that the caller lends to the function, and takes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// The variable.
    pub var: Var,
    /// Whether the function may leave it changed. One that it does not may be given as a constant, or shared.
    pub written: bool,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VarInfo {
    /// The name in the source, or one that the compiler gave; need not be unique. Where its end is checked, a name with a point in it is
    /// the compiler's: `i.bound` for a bound of the loop over `i`, `x.len1` and `x.words` for lengths of `x`, `x.argument` for what a call is given,
    /// or a word that is a part of a variable: `z.re`.
    pub name: String,
    /// How its word is read.
    pub ty: Ty,
    /// The stretch of memory that it holds an address in, if it is known to be an address. A caller must know it of what it lends to a parameter
    /// that is one.
    pub points: Option<Region>,
}

/// A stretch of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionInfo {
    /// The array's name in the source.
    pub name: String,
    /// How its words are read; of several types, that of the first.
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
    /// What is done.
    pub stmt: Stmt,
    /// Where it was written.
    pub loc: Loc,
}

/// A word of memory: at address `base` + `index` + `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mem {
    /// An integer variable.
    pub base: Option<Var>,
    /// Another.
    pub index: Option<Var>,
    /// Words to be added.
    pub offset: i64,
    /// The stretch of memory that the word lies in: words of different ones are different words.
    pub region: Region,
}

/// Something that is written: a variable or a word of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A variable.
    Var(Var),
    /// A word of memory.
    Mem(Mem),
}

/// Something that is read. A constant's type is that of the place where it stands.
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
    /// How the words are read.
    pub ty: Ty,
    /// The left side.
    pub a: Operand,
    /// The right side.
    pub b: Operand,
}

/// A condition: what it computes, a comparison, and what it computes undone again.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Run before the comparison, and undone after it. Ancillas that it allocates and leaves live may be compared.
    pub compute: Block,
    /// The comparison.
    pub test: Test,
}

/// The step of a `for`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A number other than 0.
    Const(i64),
    /// The value of a variable, or minus it.
    Var {
        /// The variable, an integer other than 0.
        var: Var,
        /// Whether it is taken with the other sign.
        negated: bool,
    },
}

/// Why something is asserted, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// The program says so.
    User,
    /// An index must lie within its array.
    Bounds,
    /// Two words that are exchanged, or one written and one read, must be different words.
    Alias,
    /// Shapes must agree.
    Shape,
}

/// What is done: a partial bijection.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// `dst ⊕= func(args…)`, an accumulate instruction. No argument is `dst`'s word, nor does `dst`'s address depend on `dst`.
    Update {
        /// ⊕.
        acc: Acc,
        /// Whether it is the accumulator's partner.
        inverse: bool,
        /// The function, which also gives the types.
        func: TableFn,
        /// What is written.
        dst: Place,
        /// As many as the function takes.
        args: Vec<Operand>,
    },
    /// A straight-line row of the table on words: `swap`, `neg`, `not`, `rol`, `inc`, `rmul`, `rot` and their partners. No `exch`: `swap` takes
    /// memory, too. The operands that the row writes are places, no two of which are one word, nor one that another's address depends on.
    Permute {
        /// The row.
        row: Row,
        /// Whether it is the row's partner.
        inverse: bool,
        /// The type that the row is used with.
        ty: Ty,
        /// The operands.
        args: Vec<Operand>,
    },
    /// A variable begins its life as the all-zero word, or (`free`) ends it so.
    Ancilla {
        /// The variable.
        var: Var,
        /// Whether it ends.
        free: bool,
        /// What is made sure of.
        care: AncillaChecks,
    },
    /// `len` all-zero words begin their lives on top of the stack, and `base`, which was zero, is their address; or (`free`) they end so.
    /// What was allocated last ends first.
    Array {
        /// An integer variable.
        base: Var,
        /// How many words: not negative.
        len: Operand,
        /// The words' stretch of memory.
        region: Region,
        /// How the words are read.
        ty: Ty,
        /// Whether they end.
        free: bool,
        /// What is made sure of.
        care: AncillaChecks,
    },
    /// A call, or (`inverse`) an uncall. An argument of a parameter that is not written may be a constant, and may be given twice.
    Call {
        /// The function.
        func: FunctionId,
        /// Whether it is run backward.
        inverse: bool,
        /// One for each parameter.
        args: Vec<Operand>,
    },
    /// Runs `then` if `pre` holds, else `otherwise`. Afterwards `post` holds just if `pre` held.
    If {
        /// Decides, forward.
        pre: Condition,
        /// Decides, backward.
        post: Condition,
        /// One branch.
        then: Block,
        /// The other.
        otherwise: Block,
    },
    /// Runs `first`; then, while `pre` holds, `body` and `first` again. `post` is false before the first `first`, and true where `body` has ended.
    While {
        /// Holds before each turn.
        pre: Condition,
        /// Holds after each turn.
        post: Condition,
        /// What is done once more than there are turns; empty for a loop that is left where it is entered.
        first: Block,
        /// One turn, but for `first`.
        body: Block,
    },
    /// Runs `body` with `var` = `first`, `first` + `step`, …, `last`; not at all if `last` lies on the other side of `first`. Otherwise `last` is one
    /// of the values. `var` lives in the body only, which changes none of the four.
    For {
        /// An integer variable.
        var: Var,
        /// Its first value.
        first: Operand,
        /// Its last value.
        last: Operand,
        /// The step.
        step: Step,
        /// One turn.
        body: Block,
    },
    /// `compute`, `body`, and `compute` undone. What `compute` allocates and does not free lives through `body`.
    With {
        /// The name, for spans in the assembly.
        name: String,
        /// What is done and undone.
        compute: Block,
        /// What is done between.
        body: Block,
    },
    /// A part with a name: one that computes what another, with the same name and `undo`, undoes elsewhere.
    Span {
        /// The name.
        name: String,
        /// Whether it undoes.
        undo: bool,
        /// What is done.
        body: Block,
    },
    /// Traps unless the comparison holds, in both directions.
    Assert {
        /// The comparison.
        test: Test,
        /// Why.
        why: Why,
        /// What is said where it does not hold: an index into [`Program::reasons`].
        says: Option<u32>,
    },
    /// Shows a number, when run forward.
    Show {
        /// How it is read.
        ty: Ty,
        /// The number.
        value: Operand,
    },
    /// Shows a text, when run forward: an index into [`Program::texts`].
    Print(u32),
}

/// What is made sure of where words begin or end their lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AncillaChecks {
    /// Whether the word is checked: to be zero, for floating-point numbers within a tolerance, beyond which it traps.
    pub check: bool,
    /// Whether its gradient word, if it has one, is dropped. It may be nonzero where the life began, when run backward with gradients.
    pub drop: bool,
}

impl AncillaChecks {
    /// Both.
    pub const FULL: AncillaChecks = AncillaChecks { check: true, drop: true };
}

/// How far from zero a floating-point ancilla may be where it ends: 1e-8, as in NiLang.
pub const TOLERANCE: f64 = 1e-8;

/// Whether a row is one that [`Stmt::Permute`] stands for: it changes words by themselves, or exchanges them, and nothing else.
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
    /// The statement, written there.
    pub fn at(self, loc: Loc) -> At {
        At { stmt: self, loc }
    }
}

impl Test {
    /// The comparison that holds where this one does not; NaN aside.
    pub fn negated(self) -> Test {
        Test { cond: self.cond.negated(), ..self }
    }
}

impl Condition {
    /// A comparison alone.
    pub fn of(test: Test) -> Condition {
        Condition { compute: Vec::new(), test }
    }
}

impl Step {
    /// The step the other way.
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

    /// The stretch of memory that a variable is known to hold an address in.
    pub fn points(&self, var: Var) -> Option<Region> {
        self.vars.get(var.0 as usize)?.points
    }
}
