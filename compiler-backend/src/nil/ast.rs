//! The syntax tree of Nil: what was written, before anything is known of it.

pub use crate::syntax::{Name, Span};

/// A source file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// What it declares, in order.
    pub items: Vec<Item>,
    /// Host code that was skipped: what it is (`using Plots`, a plain `function`, …) and where.
    pub skipped: Vec<(String, Span)>,
    /// Names whose beginning is in error, which has been said.
    pub faulty: Vec<String>,
}

/// A declaration.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `@i function … end`.
    Function(Function),
    /// `struct … end`, with or without `@i` or `mutable`.
    Struct(Struct),
    /// `using a, b`.
    Using(Vec<Name>),
    /// `const x = e` or `x = e` outside of functions, where `e` is pure arithmetic on numbers.
    Const(Name, Expr),
}

/// A reversible function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// `f`; or `(:+=)(f)`, `:(+=)(f)`, which defines the statement `y += f(args…)` for the types of its parameters, the first being y.
    pub name: Name,
    /// The statement that it defines, if it does.
    pub instruction: Option<AssignOp>,
    /// Positional parameters.
    pub params: Vec<Param>,
    /// Keyword parameters, after `;`.
    pub keywords: Vec<Param>,
    /// Type parameters of `where`.
    pub type_params: Vec<TypeParam>,
    /// Whether `@inline` was written.
    pub inline: bool,
    /// The text before it, in `"""`.
    pub doc: Option<String>,
    /// The statements.
    pub body: Vec<Stmt>,
    /// From `@i` to `end`.
    pub span: Span,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// The name.
    pub name: Name,
    /// After `::`.
    pub ty: Option<TypeExpr>,
    /// After `=`.
    pub default: Option<Expr>,
}

/// `T`, or `T <: Bound`.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeParam {
    /// The name.
    pub name: Name,
    /// The bound.
    pub bound: Option<TypeExpr>,
}

/// A type as written: `Complex{T}`, `Array{Float64,2}`.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeExpr {
    /// The name; of `Base.Real` the last part. `<:` before it is dropped.
    pub name: Name,
    /// What stands in braces.
    pub args: Vec<TypeArg>,
    /// Where.
    pub span: Span,
}

/// An argument of a type.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeArg {
    /// A type.
    Type(TypeExpr),
    /// A number, as of dimensions.
    Number(i64, Span),
}

/// A struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// The name.
    pub name: Name,
    /// In braces.
    pub type_params: Vec<TypeParam>,
    /// The fields; those without a type have `None`.
    pub fields: Vec<(Name, Option<TypeExpr>)>,
    /// From `struct` to `end`.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What.
    pub kind: StmtKind,
    /// Where.
    pub span: Span,
}

/// The accumulators of statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AssignOp {
    /// `+=`
    Add,
    /// `-=`
    Sub,
    /// `⊻=`, `xor=`, `$=`
    Xor,
    /// `*=`
    Mul,
    /// `/=`
    Div,
}

impl AssignOp {
    /// What undoes it.
    pub const fn partner(self) -> AssignOp {
        match self {
            AssignOp::Add => AssignOp::Sub,
            AssignOp::Sub => AssignOp::Add,
            AssignOp::Xor => AssignOp::Xor,
            AssignOp::Mul => AssignOp::Div,
            AssignOp::Div => AssignOp::Mul,
        }
    }

    /// As it is written.
    pub const fn text(self) -> &'static str {
        match self {
            AssignOp::Add => "+=",
            AssignOp::Sub => "-=",
            AssignOp::Xor => "⊻=",
            AssignOp::Mul => "*=",
            AssignOp::Div => "/=",
        }
    }
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `y += e`, `y .+= e`.
    Assign {
        /// The accumulator.
        op: AssignOp,
        /// Whether a point stands before it.
        dot: bool,
        /// y
        target: Expr,
        /// e
        value: Expr,
    },
    /// `x ← e` (`x <- e`, `@anc x = e`), or `x → e` (`x -> e`, `@deanc x = e`). Also `(a, b) ← (e, f)`. Also `d[k] ← e` for dictionaries.
    Alloc {
        /// x
        target: Expr,
        /// e
        value: Expr,
        /// Whether it is `→`.
        free: bool,
    },
    /// `@zeros T a b`, `@ones T a b`; with `~` before it, `free`.
    Zeros {
        /// Whether it is `@ones`.
        ones: bool,
        /// T
        ty: TypeExpr,
        /// The variables.
        names: Vec<Name>,
        /// Whether they end.
        free: bool,
    },
    /// `f(a, b; k = c)`, `f.(a, b)`, `~f(a)`, `(~f)(a)`: a call as a statement.
    Call {
        /// f: a name, or a parameter that stands for a function.
        callee: Expr,
        /// Whether it is `~f`.
        inverse: bool,
        /// Whether a point stands after f.
        dot: bool,
        /// The arguments.
        args: Vec<Expr>,
        /// Keyword arguments.
        keywords: Vec<(Name, Expr)>,
    },
    /// `if (pre, post) … elseif … else … end`.
    If {
        /// The branches with their conditions.
        branches: Vec<(Condition, Vec<Stmt>)>,
        /// After `else`; empty if there is none.
        otherwise: Vec<Stmt>,
    },
    /// `while (pre, post) … end`, `@from entry while pre … end`, where post is `!entry`.
    While {
        /// pre and post.
        condition: Condition,
        /// One turn.
        body: Vec<Stmt>,
    },
    /// `for i = a:s:b … end`, `for i in …`.
    For {
        /// i
        var: Name,
        /// The range, as an expression: [`ExprKind::Range`], or a call such as `eachindex(x)`.
        range: Expr,
        /// One turn.
        body: Vec<Stmt>,
    },
    /// `begin … end`, `( … ; … )`.
    Block(Vec<Stmt>),
    /// `@routine [name] stmt`.
    Routine {
        /// The name.
        name: Option<Name>,
        /// What is done, and undone at `~@routine`.
        body: Vec<Stmt>,
    },
    /// `~@routine [name]`.
    Unroutine {
        /// The name.
        name: Option<Name>,
    },
    /// `~stmt`.
    Inverse(Box<Stmt>),
    /// `@invcheckoff`, `@inbounds`, `@inline`, `@simd` before a statement.
    Marked(Mark, Box<Stmt>),
    /// `@safe …`.
    Safe(Safe),
    /// `(T1 => T2)(x)`.
    Convert {
        /// T1
        from: TypeExpr,
        /// T2
        to: TypeExpr,
        /// x
        target: Expr,
    },
}

/// A macro before a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// Without checks.
    InvCheckOff,
    /// Without bounds checks.
    Inbounds,
    /// A hint.
    Inline,
    /// A hint that changes nothing: `@simd`, `@threads`, ….
    Hint,
}

/// What is kept of a host statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Safe {
    /// `@assert e ["message"]`, `e || throw(…)`, `e || error(…)`.
    Assert {
        /// What must hold.
        condition: Expr,
        /// What is said if it does not.
        message: Option<Expr>,
    },
    /// `error(…)`, `throw(…)`.
    Error(Option<Expr>),
    /// `@show a b`, `println(a, b)`, `print(…)`: what is shown; texts are [`ExprKind::Text`].
    Show(Vec<Expr>),
    /// Anything else: refused, with what it is.
    Other(String),
}

/// The conditions of `if` and `while`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The precondition.
    pub pre: Expr,
    /// The postcondition; `None` for `~`, and where only one condition is written.
    pub post: Option<Expr>,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `-x`
    Minus,
    /// `+x`
    Plus,
    /// `!x`
    Not,
    /// `~x`: of integers, or of functions.
    Tilde,
    /// `√x`
    Root,
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    /// `÷`
    Quot,
    /// `%`
    Rem,
    /// `^`
    Pow,
    /// `&`
    And,
    /// `|`
    Or,
    /// `⊻`, `xor`
    Xor,
    /// `<<`
    Shl,
    /// `>>`
    Sar,
    /// `>>>`
    Shr,
    /// `&&`
    Both,
    /// `||`
    Either,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Unary {
    /// As it is written.
    pub const fn text(self) -> &'static str {
        match self {
            Unary::Minus => "-",
            Unary::Plus => "+",
            Unary::Not => "!",
            Unary::Tilde => "~",
            Unary::Root => "√",
        }
    }
}

impl Binary {
    /// As it is written.
    pub const fn text(self) -> &'static str {
        match self {
            Binary::Add => "+",
            Binary::Sub => "-",
            Binary::Mul => "*",
            Binary::Div => "/",
            Binary::Quot => "÷",
            Binary::Rem => "%",
            Binary::Pow => "^",
            Binary::And => "&",
            Binary::Or => "|",
            Binary::Xor => "⊻",
            Binary::Shl => "<<",
            Binary::Sar => ">>",
            Binary::Shr => ">>>",
            Binary::Both => "&&",
            Binary::Either => "||",
            Binary::Eq => "==",
            Binary::Ne => "!=",
            Binary::Lt => "<",
            Binary::Le => "<=",
            Binary::Gt => ">",
            Binary::Ge => ">=",
        }
    }
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A whole number, as written, without separators.
    Int(String),
    /// A number with a fraction or an exponent, as written, without separators.
    Real(String),
    /// `true`, `false`
    Bool(bool),
    /// A text; interpolated parts are texts and expressions in turn.
    Text(Vec<TextPart>),
    /// A name. `π`, `pi`, `ℯ`, `im` are names, too.
    Name(String),
    /// `f(a, b; k = c)`, `f.(a)`; and a type as a callee, `Complex{T}(a, b)`.
    Call {
        /// f
        callee: Box<Expr>,
        /// Whether a point stands after it.
        dot: bool,
        /// The arguments.
        args: Vec<Expr>,
        /// Keyword arguments.
        keywords: Vec<(Name, Expr)>,
    },
    /// A type with arguments: `Complex{T}`. Without arguments it is a name.
    Type(TypeExpr),
    /// `-x`
    Unary(Unary, Box<Expr>),
    /// `a + b`, `a .+ b`. Of `a < b < c`, the conjunction with `b` twice.
    Binary {
        /// The operator.
        op: Binary,
        /// Whether a point stands before it.
        dot: bool,
        /// The left side.
        left: Box<Expr>,
        /// The right side.
        right: Box<Expr>,
    },
    /// `c ? a : b`
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `x[i, j]`; `:` is [`ExprKind::Colon`], `end` the name `end`.
    Index(Box<Expr>, Vec<Expr>),
    /// `x.name`
    Field(Box<Expr>, Name),
    /// `x'`
    Adjoint(Box<Expr>),
    /// `x |> view`
    Pipe(Box<Expr>, Box<Expr>),
    /// `a:b`, `a:s:b`
    Range {
        /// a
        first: Box<Expr>,
        /// s
        step: Option<Box<Expr>>,
        /// b
        last: Box<Expr>,
    },
    /// `:` as an index.
    Colon,
    /// `(a, b)`
    Tuple(Vec<Expr>),
    /// `[a, b]`
    Array(Vec<Expr>),
    /// `@const e`
    Const(Box<Expr>),
    /// `@skip! e`
    Skip(Box<Expr>),
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum TextPart {
    /// Text.
    Plain(String),
    /// `$x`, `$(e)`
    Value(Expr),
}
