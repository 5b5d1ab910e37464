//! The syntax tree of Nil: the program as written, before names and types are checked.

use pendula_isa::diagnostic::Diagnostic;

pub use crate::syntax::{Name, Span};

/// A source file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// Its declarations, in order.
    pub items: Vec<Item>,
    /// Skipped host code: a description (`using Plots`, a plain `function`, …) and where it is.
    pub skipped: Vec<(String, Span)>,
    /// The constants whose names the host binds again: functions in blocks do not know which is meant.
    pub rebound: std::collections::BTreeSet<String>,
    /// Names whose declaration has a reported error.
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
    /// `const T{S} = Vector{S}`: another name for a type.
    Alias(Alias),
    /// `f(x) = e` or `function f(x) e end`: a function of the host that is one expression.
    Host(HostFunction),
    /// `const x = e` or `x = e` outside of functions, where `e` is pure arithmetic on numbers.
    Const(Name, Expr),
}

/// Another name for a type.
#[derive(Clone, Debug, PartialEq)]
pub struct Alias {
    /// The name.
    pub name: Name,
    /// The type parameters in braces.
    pub type_params: Vec<TypeParam>,
    /// The type.
    pub ty: TypeExpr,
}

/// What stands for `$name` in an item: where it is, and its value in this turn of the loop around it.
pub type Values = Vec<(Span, String)>;

/// A function of the host language that is one expression.
#[derive(Clone, Debug, PartialEq)]
pub struct HostFunction {
    /// The name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its keyword parameters.
    pub keywords: Vec<Param>,
    /// Type parameters of `where`.
    pub type_params: Vec<TypeParam>,
    /// The expression.
    pub body: Expr,
    /// The source range, without white space.
    pub span: Span,
    /// Where the host's scopes around it begin, as for [`Function::scope`].
    pub scope: Vec<usize>,
    /// The values of `$name` in it.
    pub values: Values,
}

/// A reversible function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// `f`; or `(:+=)(f)`, `:(+=)(f)`, which defines the statement `y += f(args…)`: y is the first parameter.
    pub name: Name,
    /// The operator of the statement that the function defines, if it defines one.
    pub instruction: Option<AssignOp>,
    /// Positional parameters.
    pub params: Vec<Param>,
    /// Keyword parameters, after `;`.
    pub keywords: Vec<Param>,
    /// Type parameters of `where`.
    pub type_params: Vec<TypeParam>,
    /// Whether `@inline` was written.
    pub inline: bool,
    /// The documentation text in `"""` before it.
    pub doc: Option<String>,
    /// The statements.
    pub body: Vec<Stmt>,
    /// From `@i` to `end`.
    pub span: Span,
    /// Where the host's scopes around it begin, the outermost first: it can be called only from within them.
    pub scope: Vec<usize>,
    /// The values of `$name` in it.
    pub values: Values,
    /// Set if it could not be read: no call may reach it.
    pub unread: Option<Unread>,
}

impl Function {
    /// Whether it takes this number of positional arguments.
    pub fn takes(&self, count: usize) -> bool {
        match self.params.last() {
            Some(Param { rest: true, count: Some(n), .. }) => count + 1 == self.params.len() + n,
            Some(last) if last.rest => count + 1 >= self.params.len(),
            _ => {
                let missing = self.params.get(count..);
                missing.is_some_and(|missing| missing.iter().all(|p| p.default.is_some()))
            }
        }
    }

    /// A function of which nothing but the name is known yet.
    pub(crate) fn new(name: Name, inline: bool, doc: Option<String>) -> Function {
        Function {
            span: name.span.clone(),
            name,
            instruction: None,
            params: Vec::new(),
            keywords: Vec::new(),
            type_params: Vec::new(),
            inline,
            doc,
            body: Vec::new(),
            scope: Vec::new(),
            values: Vec::new(),
            unread: None,
        }
    }
}

/// What is known of a function that could not be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Unread {
    /// The first error in it.
    pub reason: Box<Diagnostic>,
    /// Whether its head was read, so that its parameters are known.
    pub head: bool,
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
    /// Whether it takes all further arguments, as a tuple: `x...`.
    pub rest: bool,
    /// How many these are, if that is said: `x::Vararg{T,2}`.
    pub count: Option<usize>,
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
    /// The name; the last part of a path such as `Base.Real`. A `<:` before it is dropped.
    pub name: Name,
    /// The arguments in braces.
    pub args: Vec<TypeArg>,
    /// The source range.
    pub span: Span,
}

/// An argument of a type.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeArg {
    /// A type.
    Type(TypeExpr),
    /// A number, such as a number of dimensions.
    Number(i64, Span),
    /// The variable, element or field whose type it is: the argument of `typeof(x)`.
    Of(Box<Expr>),
}

/// A struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// The name.
    pub name: Name,
    /// The type parameters in braces.
    pub type_params: Vec<TypeParam>,
    /// The fields, each with its type if one is written.
    pub fields: Vec<(Name, Option<TypeExpr>)>,
    /// Where a constructor of its own stands in it, which takes the place of the one that takes the fields.
    pub constructor: Option<Span>,
    /// From `struct` to `end`.
    pub span: Span,
    /// The values of `$name` in it.
    pub values: Values,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// The kind.
    pub kind: StmtKind,
    /// The source range.
    pub span: Span,
}

/// The operators of assignment statements.
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
    /// The operator that undoes it.
    pub const fn partner(self) -> AssignOp {
        match self {
            AssignOp::Add => AssignOp::Sub,
            AssignOp::Sub => AssignOp::Add,
            AssignOp::Xor => AssignOp::Xor,
            AssignOp::Mul => AssignOp::Div,
            AssignOp::Div => AssignOp::Mul,
        }
    }

    /// The operator of `PlusEq(f)` and the like, which the host has for `y += f(x)` as a function.
    pub fn of_type(name: &str) -> Option<AssignOp> {
        Some(match name {
            "PlusEq" => AssignOp::Add,
            "MinusEq" => AssignOp::Sub,
            "XorEq" => AssignOp::Xor,
            "MulEq" => AssignOp::Mul,
            "DivEq" => AssignOp::Div,
            _ => return None,
        })
    }

    /// The operator as it is written.
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

/// The name, inside of a scope of the host, of what its source calls `name`.
pub(crate) fn inside(name: &str, scope: usize) -> String {
    format!("{name}@{scope}")
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `y += e`, `y .+= e`.
    Assign {
        /// The accumulator.
        op: AssignOp,
        /// Whether it is broadcast: a dot stands before the operator.
        dot: bool,
        /// y
        target: Expr,
        /// e
        value: Expr,
    },
    /// `x ← e` (`x <- e`, `@anc x = e`), or `x → e` (`x -> e`, `@deanc x = e`). The target may also be a tuple, `(a, b)
    /// ← (e, f)`, or an entry of a dictionary, `d[k] ← e`.
    Alloc {
        /// x
        target: Expr,
        /// e
        value: Expr,
        /// Whether it deallocates: `→`.
        free: bool,
    },
    /// `x ↔ y`; `x::∅ ↔ y`, where `y` becomes the value of the new variable `x` and is gone; `x ↔ y::∅`, the other way.
    Exchange {
        /// x
        left: Side,
        /// y
        right: Side,
    },
    /// `@zeros T a b`, `@ones T a b`; with `~` before it, they are deallocated.
    Zeros {
        /// Whether it is `@ones`.
        ones: bool,
        /// T
        ty: TypeExpr,
        /// The variables.
        names: Vec<Name>,
        /// Whether they are deallocated.
        free: bool,
    },
    /// `f(a, b; k = c)`, `f.(a, b)`, `~f(a)`, `(~f)(a)`: a call as a statement.
    Call {
        /// f: a name, or a parameter that is a function.
        callee: Expr,
        /// Whether it is `~f`.
        inverse: bool,
        /// Whether it is broadcast: a dot stands after f.
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
        /// The statements after `else`; empty if there is none.
        otherwise: Vec<Stmt>,
    },
    /// `while (pre, post) … end`, `@from entry while pre … end`, where post is `!entry`.
    While {
        /// pre and post.
        condition: Condition,
        /// The loop body.
        body: Vec<Stmt>,
    },
    /// `for i = a:s:b … end`, `for i in …`.
    For {
        /// i
        var: Name,
        /// The range, as an expression: [`ExprKind::Range`], or a call such as `eachindex(x)`.
        range: Expr,
        /// The loop body.
        body: Vec<Stmt>,
    },
    /// `begin … end`, `( … ; … )`.
    Block(Vec<Stmt>),
    /// `@routine [name] stmt`.
    Routine {
        /// The name.
        name: Option<Name>,
        /// The statements that are done here and undone at `~@routine`.
        body: Vec<Stmt>,
    },
    /// `~@routine [name]`.
    Unroutine {
        /// The name.
        name: Option<Name>,
    },
    /// `~stmt`.
    Inverse(Box<Stmt>),
    /// `@invcheckoff`, `@inbounds`, `@inline`, `@simd` and the like before a statement.
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

/// A side of an exchange.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// What is exchanged: a variable, an element, a field, or a tuple of them.
    pub place: Expr,
    /// Whether it has no value before the exchange: `x::∅`.
    pub empty: bool,
}

/// A macro before a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// Without checks.
    InvCheckOff,
    /// Without bounds checks.
    Inbounds,
    /// A hint to inline.
    Inline,
    /// Sums of a loop are made in blocks.
    Simd,
    /// A hint without effect: `@threads`, ….
    Hint,
}

/// A host statement that has a meaning here.
#[derive(Clone, Debug, PartialEq)]
pub enum Safe {
    /// `@assert e ["message"]`, `e || throw(…)`, `e || error(…)`.
    Assert {
        /// The condition that must hold.
        condition: Expr,
        /// The message if it does not hold.
        message: Option<Expr>,
    },
    /// `error(…)`, `throw(…)`.
    Error(Option<Expr>),
    /// `@show a b`, `println(a, b)`, `print(…)`: the values to print; texts are [`ExprKind::Text`].
    Show(Vec<Expr>),
    /// `x .= 0`, `x = zero(T)`: what is left in `x`, a rounding error at most, is cleared.
    Clear(Expr),
    /// Any other statement, with a description for the error.
    Other(String),
}

/// The conditions of an `if` or a `while`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The precondition.
    pub pre: Expr,
    /// The postcondition; `None` if only one condition is written, or if it is `~` in a `while`. In an `if`, `~` repeats the precondition.
    pub post: Option<Expr>,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The kind.
    pub kind: ExprKind,
    /// The source range.
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
    /// `~x`: the complement of an integer, or the inverse of a function.
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
    LogicalAnd,
    /// `||`
    LogicalOr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Unary {
    /// The operator as it is written.
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
    /// The operator as it is written.
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
            Binary::LogicalAnd => "&&",
            Binary::LogicalOr => "||",
            Binary::Eq => "==",
            Binary::Ne => "!=",
            Binary::Lt => "<",
            Binary::Le => "<=",
            Binary::Gt => ">",
            Binary::Ge => ">=",
        }
    }
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A whole number, as written, without separators.
    Int(String),
    /// A number with a fraction or an exponent, as written, without separators.
    Real(String),
    /// `true`, `false`
    Bool(bool),
    /// A text, as a sequence of plain text and interpolated expressions.
    Text(Vec<TextPart>),
    /// A name. The constants `π`, `pi`, `ℯ` and `im` are names, too.
    Name(String),
    /// `f(a, b; k = c)`, `f.(a)`. The callee may be a type: `Complex{T}(a, b)`.
    Call {
        /// f
        callee: Box<Expr>,
        /// Whether it is broadcast: a dot stands after f.
        dot: bool,
        /// The arguments.
        args: Vec<Expr>,
        /// Keyword arguments.
        keywords: Vec<(Name, Expr)>,
    },
    /// A type with arguments: `Complex{T}`. A type without arguments is a name.
    Type(TypeExpr),
    /// `-x`
    Unary(Unary, Box<Expr>),
    /// `a + b`, `a .+ b`. A chain `a < b < c` is the conjunction of its comparisons, in which `b` stands twice.
    Binary {
        /// The operator.
        op: Binary,
        /// Whether it is broadcast: a dot stands before the operator.
        dot: bool,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
    },
    /// `c ? a : b`
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `x[i, j]`. The index `:` is [`ExprKind::Colon`], and `end` is the name `end`.
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
    /// `e::T`: the value of `e`, which must have the type.
    Typed(Box<Expr>, TypeExpr),
    /// `@fields e`: the fields of a struct or a complex number, as a tuple.
    Fields(Box<Expr>),
    /// `e...` among arguments: the parts of a tuple.
    Splat(Box<Expr>),
    /// `@const e`
    Const(Box<Expr>),
    /// `@skip! e`
    Skip(Box<Expr>),
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum TextPart {
    /// Plain text.
    Plain(String),
    /// `$x`, `$(e)`
    Value(Expr),
}
