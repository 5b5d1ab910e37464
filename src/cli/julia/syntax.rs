//! Statements and expressions of Julia, as far as tests of reversible functions use them.

use std::ops::Range;

pub(super) type Span = Range<usize>;

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    /// `\`.
    Solve,
    Pow,
    Quotient,
    Rest,
    Xor,
    BitAnd,
    BitOr,
    Equal,
    Different,
    Same,
    NotSame,
    Near,
    NotNear,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    Isa,
    Pair,
}

#[derive(Clone, Debug)]
pub(super) enum Expr {
    Int(i64),
    Float(f64),
    Text(String),
    Symbol(String),
    Name(String),
    Tuple(Vec<Expr>),
    /// The rows of an array in brackets, and the type before them. One row with commas, and one column, are vectors.
    Array(Option<Box<Expr>>, Vec<Vec<Expr>>, bool),
    Range(Box<Expr>, Option<Box<Expr>>, Box<Expr>),
    Call {
        f: Box<Expr>,
        args: Vec<Expr>,
        keywords: Vec<(String, Expr)>,
        dotted: bool,
    },
    Index(Box<Expr>, Vec<Expr>),
    Field(Box<Expr>, String),
    /// `T{S}`: the parameters are not looked at.
    Curly(Box<Expr>),
    Binary {
        op: Binary,
        dotted: bool,
        a: Box<Expr>,
        b: Box<Expr>,
    },
    Not(Box<Expr>),
    Negative(Box<Expr>),
    /// `~f`.
    Inverse(Box<Expr>),
    Transpose(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Lambda(Vec<String>, Box<Expr>),
    /// `[body for x in xs if condition]`.
    Comprehension(Box<Expr>, Vec<(Vec<String>, Expr)>, Option<Box<Expr>>),
    Splat(Box<Expr>),
    /// `@instr` and the text of its statement.
    Instr(Span),
    /// `:(@i function … end)`: the text of the function.
    Quoted(Span),
    /// `(a; b)`.
    Block(Vec<Stmt>),
    /// An operator as a function: `+`.
    Operator(String),
}

/// What is assigned to.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Name(String),
    Index(Expr, Vec<Expr>),
}

#[derive(Clone, Debug)]
pub(super) struct Stmt {
    pub(super) span: Span,
    pub(super) kind: StmtKind,
}

/// The kinds of tests.
#[derive(Clone, Debug)]
pub(super) enum Test {
    /// `@test e`.
    Holds(Expr),
    /// `@test_throws E e`.
    Throws(String, Expr),
}

#[derive(Clone, Debug)]
pub(super) enum StmtKind {
    Assign(Vec<Target>, Expr),
    Expr(Expr),
    Test(Test),
    /// A scope with statements: `let`, `@testset`.
    Scope(Vec<Stmt>),
    For(Vec<(Vec<String>, Expr)>, Vec<Stmt>),
    While(Expr, Vec<Stmt>),
    If(Vec<(Expr, Vec<Stmt>)>, Vec<Stmt>),
    Function(String, Vec<String>, Vec<Stmt>),
    Return(Option<Expr>),
    Nothing,
    /// A statement that is not read: why, the names that it may change, and the number of tests in it.
    Skipped {
        why: String,
        names: Vec<String>,
        tests: Vec<usize>,
    },
}
