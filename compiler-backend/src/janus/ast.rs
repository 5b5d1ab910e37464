//! The syntax tree of Janus programs.

pub use crate::syntax::{Name, Span};

/// A type of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntTy {
    /// `int`.
    Int,
    /// `i8` to `i64` and `u8` to `u64`.
    Sized {
        /// 8, 16, 32 or 64.
        bits: u8,
        /// Whether it has a sign.
        signed: bool,
    },
}

/// A type of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeclTy {
    /// An integer, or an array of them.
    Int(IntTy),
    /// A stack.
    Stack,
}

/// The modifier before the type of a declaration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Nothing.
    #[default]
    Plain,
    /// `constant`: it may not be changed.
    Constant,
    /// `ancilla`: it is zero at the beginning and at the end.
    Ancilla,
}

/// A variable's declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Decl {
    /// The modifier.
    pub mode: Mode,
    /// The type.
    pub ty: DeclTy,
    /// The name.
    pub name: Name,
    /// The sizes of an array; `None` for empty brackets.
    pub dims: Vec<Option<Expr>>,
    /// The initial value, or the final one in a `delocal`.
    pub init: Option<Expr>,
    /// The source range.
    pub span: Span,
}

impl Decl {
    /// The number of listed values at this depth of an array's initial or final value, as its first element at each
    /// outer depth has them.
    pub fn listed(&self, depth: usize) -> Option<usize> {
        let mut e = self.init.as_ref()?;
        for _ in 0..depth {
            let ExprKind::List(items) = &e.kind else { return None };
            e = items.first()?;
        }
        if let ExprKind::List(items) = &e.kind { Some(items.len()) } else { None }
    }
}

/// A procedure.
#[derive(Clone, Debug, PartialEq)]
pub struct Procedure {
    /// The name.
    pub name: Name,
    /// The parameters; of `main`, its variables.
    pub decls: Vec<Decl>,
    /// The statements.
    pub body: Vec<Stmt>,
    /// The source range.
    pub span: Span,
}

/// A program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    /// The procedures, in order.
    pub procedures: Vec<Procedure>,
}

/// The procedures that statements call or uncall.
pub(super) fn called(list: &[Stmt]) -> Vec<&Name> {
    let mut out = Vec::new();
    for s in list {
        match &s.kind {
            StmtKind::Call { name, .. } => out.push(name),
            StmtKind::If { then: one, otherwise: other, .. } | StmtKind::From { first: one, body: other, .. } => {
                out.extend(called(one));
                out.extend(called(other));
            }
            StmtKind::Local { body, .. } | StmtKind::Iterate { body, .. } => out.extend(called(body)),
            _ => {}
        }
    }
    out
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// The kind.
    pub kind: StmtKind,
    /// The source range.
    pub span: Span,
}

/// An assignment operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignOp {
    /// `+=`
    Add,
    /// `-=`
    Sub,
    /// `^=`
    Xor,
    /// `*=`
    Mul,
    /// `/=`
    Div,
}

impl AssignOp {
    /// The operator as it is written.
    pub fn text(self) -> &'static str {
        match self {
            AssignOp::Add => "+=",
            AssignOp::Sub => "-=",
            AssignOp::Xor => "^=",
            AssignOp::Mul => "*=",
            AssignOp::Div => "/=",
        }
    }

    /// The operator that undoes it.
    pub fn partner(self) -> AssignOp {
        match self {
            AssignOp::Add => AssignOp::Sub,
            AssignOp::Sub => AssignOp::Add,
            AssignOp::Xor => AssignOp::Xor,
            AssignOp::Mul => AssignOp::Div,
            AssignOp::Div => AssignOp::Mul,
        }
    }
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `x += e`
    Update {
        /// The operator.
        op: AssignOp,
        /// The target.
        target: Lval,
        /// The value.
        value: Expr,
    },
    /// `x <=> y`
    Swap(Lval, Lval),
    /// `if e then … else … fi e`
    If {
        /// The entry condition.
        pre: Expr,
        /// The statements if it holds.
        then: Vec<Stmt>,
        /// The statements if it does not hold.
        otherwise: Vec<Stmt>,
        /// The exit condition.
        post: Expr,
    },
    /// `from e do … loop … until e`
    From {
        /// Holds only when the loop is entered.
        pre: Expr,
        /// The statements before the test of `until`.
        first: Vec<Stmt>,
        /// The statements after it.
        body: Vec<Stmt>,
        /// Holds only when the loop is left.
        post: Expr,
    },
    /// `push(e, s)`, or `pop`.
    Push {
        /// Whether it is `pop`.
        pop: bool,
        /// The value that is pushed.
        value: Expr,
        /// The stack.
        stack: Name,
    },
    /// `local … delocal …`
    Local {
        /// The variables that are allocated.
        begin: Vec<Decl>,
        /// The statements between.
        body: Vec<Stmt>,
        /// The variables that are deallocated.
        end: Vec<Decl>,
    },
    /// `call p(…)`, or `uncall`.
    Call {
        /// Whether it is `uncall`.
        inverse: bool,
        /// The procedure.
        name: Name,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `iterate int i = a by c to b … end`
    Iterate {
        /// The counter's type.
        ty: IntTy,
        /// The counter.
        name: Name,
        /// Its first value.
        from: Expr,
        /// The step; 1 if left out.
        by: Option<Expr>,
        /// Its last value.
        to: Expr,
        /// The loop body.
        body: Vec<Stmt>,
    },
    /// `assert e`
    Assert(Expr),
    /// `error("…")`
    Error(String),
    /// `print("…")`
    Print(String),
    /// `printf("…", …)`
    Printf(String, Vec<Lval>),
    /// `show(…)`
    Show(Vec<Lval>),
    /// `skip`
    Skip,
    /// `read x` or `write x` of the first language. There is no terminal, so a run that reaches it is refused.
    Terminal {
        /// `read` or `write`.
        word: Name,
        /// The variable.
        name: Name,
    },
}

/// A place that can be changed: a variable or a part of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Lval {
    /// The variable.
    pub name: Name,
    /// The indices.
    pub indices: Vec<Expr>,
    /// The source range.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The kind.
    pub kind: ExprKind,
    /// The source range.
    pub span: Span,
    /// Whether it is in parentheses.
    pub closed: bool,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number.
    Num(i128),
    /// `true` or `false`.
    Bool(bool),
    /// `nil`, the empty stack.
    Nil,
    /// A variable or an element.
    Place(Lval),
    /// `!e` or `~e`.
    Unary(UnOp, Box<Expr>),
    /// `e + e` and the like.
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// `(u8) e`.
    Cast(IntTy, Box<Expr>),
    /// `empty(s)`
    Empty(Name),
    /// `top(s)`
    Top(Name),
    /// `size(s)`
    Size(Name),
    /// `{e, …}`: an array's elements.
    List(Vec<Expr>),
}

/// A prefix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnOp {
    /// `!`
    Not,
    /// `~`
    Complement,
    /// `-`
    Minus,
}

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinOp {
    /// `**`
    Pow,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Mod,
    /// `*/`, the product of fractions, in classic programs.
    Fraction,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `<=`
    Le,
    /// `<`
    Lt,
    /// `>=`
    Ge,
    /// `>`
    Gt,
    /// `=`
    Eq,
    /// `!=`
    Ne,
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `&&`
    LogicalAnd,
    /// `||`
    LogicalOr,
}

impl BinOp {
    /// The operator as it is written, and its level: operators of a higher level bind more loosely.
    pub fn spelling(self) -> (&'static str, u8) {
        match self {
            BinOp::Pow => ("**", 1),
            BinOp::Mul => ("*", 2),
            BinOp::Div => ("/", 2),
            BinOp::Mod => ("%", 2),
            BinOp::Fraction => ("*/", 2),
            BinOp::Add => ("+", 3),
            BinOp::Sub => ("-", 3),
            BinOp::Shl => ("<<", 4),
            BinOp::Shr => (">>", 4),
            BinOp::Le => ("<=", 5),
            BinOp::Lt => ("<", 5),
            BinOp::Ge => (">=", 5),
            BinOp::Gt => (">", 5),
            BinOp::Eq => ("=", 5),
            BinOp::Ne => ("!=", 5),
            BinOp::And => ("&", 6),
            BinOp::Or => ("|", 6),
            BinOp::Xor => ("^", 6),
            BinOp::LogicalAnd => ("&&", 7),
            BinOp::LogicalOr => ("||", 7),
        }
    }
}

impl IntTy {
    /// The type as it is written.
    pub fn name(self) -> &'static str {
        match self {
            IntTy::Int => "int",
            IntTy::Sized { bits: 8, signed: true } => "i8",
            IntTy::Sized { bits: 16, signed: true } => "i16",
            IntTy::Sized { bits: 32, signed: true } => "i32",
            IntTy::Sized { signed: true, .. } => "i64",
            IntTy::Sized { bits: 8, signed: false } => "u8",
            IntTy::Sized { bits: 16, signed: false } => "u16",
            IntTy::Sized { bits: 32, signed: false } => "u32",
            IntTy::Sized { signed: false, .. } => "u64",
        }
    }

    /// The type with this name.
    pub fn named(text: &str) -> Option<IntTy> {
        let sized = |bits, signed| Some(IntTy::Sized { bits, signed });
        match text {
            "int" => Some(IntTy::Int),
            "i8" => sized(8, true),
            "i16" => sized(16, true),
            "i32" => sized(32, true),
            "i64" => sized(64, true),
            "u8" => sized(8, false),
            "u16" => sized(16, false),
            "u32" => sized(32, false),
            "u64" => sized(64, false),
            _ => None,
        }
    }
}
