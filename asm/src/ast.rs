//! The program between the passes: a flat list of statements, without macros and includes, in vectors with 32-bit
//! indices.
//!
//! Nothing here owns a string: names, texts and real numbers are [`Sym`]s, and places are [`Span`]s.
//! [`parser`](crate::parser) makes statements, and [`layout`](crate::layout) reads them.

use pendula_isa::{Kind, Reg, Ty};

use crate::intern::Sym;

/// A range of source text. Offsets are counted over all files: those of a file begin at its base.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

impl Span {
    /// The span from here to the end of `other`, if that ends after this one and on the same line or nearly so; else
    /// this span.
    pub(crate) fn to(self, other: Span) -> Span {
        let end = other.start.saturating_add(other.len);
        match end.checked_sub(self.start) {
            Some(len) if len >= self.len && len < 1 << 12 => Span { start: self.start, len },
            _ => self,
        }
    }
}

/// The macro use that a statement comes from: its index in the session's list, plus 1; 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Via(pub(crate) u32);

/// A routine mark between statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// `.routine NAME`; `undo` is `.unroutine NAME`.
    Begin { name: Sym, undo: bool },
    /// `.endroutine` or `.endunroutine`, perhaps with a name.
    End { name: Option<Sym>, undo: bool },
}

/// The kind of a statement. Its arguments are in [`Ast::args`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Label(Sym),
    Inst(Kind),
    /// An instruction or data for which an error was reported. It keeps an address for its labels.
    Bad,
    Text,
    Data,
    Words(Ty),
    Space(Option<Ty>),
    Import,
    Export,
    Global,
    Mem,
    Format,
    Equ(Sym),
    Mark(Mark),
    ProcDoc(Sym),
    /// The reason of the check that follows.
    Reason(Sym),
    Irreversible,
    Profile,
    /// Where a run begins.
    Start,
    Loose,
}

/// A statement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stmt {
    pub(crate) op: Op,
    pub(crate) via: Via,
    /// The span of the label, mnemonic or directive.
    pub(crate) span: Span,
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// An argument and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arg {
    pub(crate) span: Span,
    pub(crate) kind: ArgKind,
}

/// The kind of an argument.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ArgKind {
    Reg(Reg),
    /// A plain integer literal, with an optional minus sign.
    Int {
        negative: bool,
        magnitude: u64,
    },
    /// A plain name.
    Name(Sym),
    /// Any other constant.
    Expr(ExprRef),
    /// `base + index + offset`; an empty offset is 0.
    Mem {
        base: Reg,
        index: Reg,
        offset: ExprRef,
    },
    Text(Sym),
}

/// An expression: a range of [`Ast::nodes`] in postfix order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExprRef {
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// One step of an expression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) kind: NodeKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    Int(u64),
    /// Digits without sign, separators and suffix.
    Real(Sym, Option<Ty>),
    /// A word of whichever type is expected.
    Raw(u64),
    Name(Sym),
    Neg,
    Not,
    Binary(Binary),
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    And,
    Xor,
    Or,
}

impl Binary {
    /// The precedence of the operator, as in C.
    pub(crate) const fn precedence(self) -> u8 {
        match self {
            Binary::Mul | Binary::Div | Binary::Rem => 6,
            Binary::Add | Binary::Sub => 5,
            Binary::Shl | Binary::Shr => 4,
            Binary::And => 3,
            Binary::Xor => 2,
            Binary::Or => 1,
        }
    }

    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Binary::Mul => "*",
            Binary::Div => "/",
            Binary::Rem => "%",
            Binary::Add => "+",
            Binary::Sub => "-",
            Binary::Shl => "<<",
            Binary::Shr => ">>",
            Binary::And => "&",
            Binary::Xor => "^",
            Binary::Or => "|",
        }
    }
}

/// The statements of a program.
#[derive(Debug, Default)]
pub(crate) struct Ast {
    pub(crate) stmts: Vec<Stmt>,
    pub(crate) args: Vec<Arg>,
    pub(crate) nodes: Vec<Node>,
}

impl Ast {
    /// Adds a statement. Its arguments are those from `first` on.
    pub(crate) fn push(&mut self, op: Op, span: Span, via: Via, first: usize) {
        let count = self.args.len().saturating_sub(first) as u32;
        self.stmts.push(Stmt { op, via, span, first: first as u32, count });
    }

    /// A statement's arguments.
    pub(crate) fn args(&self, stmt: &Stmt) -> &[Arg] {
        let first = stmt.first as usize;
        self.args.get(first..first + stmt.count as usize).unwrap_or(&[])
    }

    /// The `n`th argument of a statement.
    pub(crate) fn arg(&self, stmt: &Stmt, n: usize) -> Option<Arg> {
        self.args(stmt).get(n).copied()
    }

    /// The steps of an expression.
    pub(crate) fn nodes(&self, expr: ExprRef) -> &[Node] {
        let first = expr.first as usize;
        self.nodes.get(first..first + expr.count as usize).unwrap_or(&[])
    }
}
