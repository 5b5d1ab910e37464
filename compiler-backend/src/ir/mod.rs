//! The reversible intermediate representation (IR): structured and typed, between the front ends and the machine.
//!
//! A function's variables are single words with a number type. Arrays are sequences of words in memory that variables
//! point to. Every statement is a partial bijection on variables and memory, and [`invert`](mod@invert) inverts any
//! statement by its structure alone. The instruction table defines what an update or a permutation does:
//! [`Stmt::Update`] names a pure function and the accumulator that adds its value, [`Stmt::Permute`] names a row.
//!
//! Front ends build the IR, `passes` rewrite it with the help of [`effects`], [`eval`] runs it, [`text`] prints and
//! reads it, and `lower` makes instructions of it.

pub(crate) mod copies;
pub mod effects;
#[cfg(any(test, feature = "eval"))]
pub mod eval;
mod extension;
pub mod invert;
pub mod source;
mod statement;
pub mod statements;
pub mod text;

use std::collections::HashMap;

use pendula_isa::extension::Extension;
use pendula_isa::table::{TableFn, f_fn, int_fn, l_fn, q_fn};
use pendula_isa::{Cond, Format, Ty};

pub use extension::NotCallable;
pub use pendula_codegen::properties::permutes;
pub use statement::{AncillaChecks, AssertKind, BLOCK, Blocks, Step, Stmt, TOLERANCE};

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
    /// The extension that its calls become, if it is one. [`text`] leaves it out.
    pub extension: Option<Extension>,
    /// The source's variables, parameters first. [`text`] leaves them out, and passes do not update them.
    pub names: Vec<source::NamedOperand>,
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
pub type Block = Vec<LocatedStmt>;

/// A statement and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedStmt {
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

/// The identity of a type.
pub const fn identity(ty: Ty) -> TableFn {
    match ty {
        Ty::Int => TableFn::Int(int_fn::Name::Id),
        Ty::Q => TableFn::Q(q_fn::Name::Id),
        Ty::L => TableFn::L(l_fn::Name::Id),
        Ty::F => TableFn::F(f_fn::Name::Id),
    }
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

impl Test {
    /// A comparison of integers.
    pub const fn int(cond: Cond, a: Operand, b: Operand) -> Test {
        Test { cond, ty: Ty::Int, a, b }
    }

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

impl IrFunction {
    /// A function without parameters and statements.
    pub fn new(name: impl Into<String>, loc: Loc) -> IrFunction {
        IrFunction {
            name: name.into(),
            params: Vec::new(),
            vars: Vec::new(),
            regions: Vec::new(),
            body: Vec::new(),
            loc,
            inline: false,
            extension: None,
            names: Vec::new(),
        }
    }

    /// A new region.
    pub fn region(&mut self, name: impl Into<String>, ty: Ty) -> Region {
        self.regions.push(RegionInfo { name: name.into(), ty });
        Region(self.regions.len() as u32 - 1)
    }

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
