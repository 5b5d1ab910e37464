//! The syntax tree. Expressions live in one vector, so that long chains neither nest boxes nor recurse when they are dropped.

use super::lex::Name;
use super::types::Prim;

/// Where something stands: a file and offsets into its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Span {
    pub(super) file: u16,
    pub(super) from: u32,
    pub(super) to: u32,
}

impl Span {
    /// From the beginning of this to the end of that.
    pub(super) fn to(self, end: Span) -> Span {
        Span { to: end.to, ..self }
    }

    pub(super) fn place(self) -> pendula_isa::diagnostic::Place {
        pendula_isa::diagnostic::Place { file: self.file, span: self.from as usize..self.to as usize }
    }
}

/// A name with its place.
#[derive(Clone, Debug)]
pub(super) struct Ident {
    pub(super) name: Name,
    pub(super) span: Span,
}

/// An expression's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ExpId(pub(super) u32);

/// All expressions.
#[derive(Debug, Default)]
pub(super) struct Ast {
    pub(super) exps: Vec<Exp>,
    pub(super) spans: Vec<Span>,
    /// Where single precision is first spoken of.
    pub(super) single: Option<Span>,
}

impl Ast {
    pub(super) fn add(&mut self, exp: Exp, span: Span) -> ExpId {
        let id = ExpId(u32::try_from(self.exps.len()).unwrap_or(u32::MAX));
        self.exps.push(exp);
        self.spans.push(span);
        id
    }

    pub(super) fn get(&self, id: ExpId) -> &Exp {
        &self.exps[id.0 as usize]
    }

    pub(super) fn span(&self, id: ExpId) -> Span {
        self.spans[id.0 as usize]
    }
}

/// A name with the modules it is in; the dots behind may be fields.
pub(super) type Path = Vec<Ident>;

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Lit {
    Int(u128, Option<Prim>),
    Float(f64, Option<Prim>),
    Bool(bool),
}

/// Part of an index.
#[derive(Clone, Debug)]
pub(super) enum Index {
    At(ExpId),
    Slice(Option<ExpId>, Option<ExpId>, Option<ExpId>),
}

/// How a range ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RangeEnd {
    /// `...`
    Inclusive,
    /// `..<`
    Below,
    /// `..>`
    Above,
}

/// The parts of a function: of a lambda or of a definition.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) type_params: Vec<TypeParam>,
    pub(super) params: Vec<Pat>,
    pub(super) result: Option<TypeExp>,
    pub(super) body: ExpId,
}

/// One binding of a `let`.
#[derive(Clone, Debug)]
pub(super) enum Let {
    /// `let pattern = e`, with sizes that it binds.
    Pattern(Vec<Ident>, Pat, ExpId),
    /// `let f x = e`.
    Function(Ident, Function),
    /// `let a[i] = e`.
    Update(Ident, Vec<Index>, ExpId),
}

/// How a loop goes on.
#[derive(Clone, Debug)]
pub(super) enum LoopForm {
    /// `for i < n`.
    Below(Ident, ExpId),
    /// `for x in xs`.
    Each(Pat, ExpId),
    /// `while e`.
    While(ExpId),
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Exp {
    Lit(Lit),
    Path(Path),
    Tuple(Vec<ExpId>),
    Record(Vec<(Ident, ExpId)>),
    Array(Vec<ExpId>),
    Range(ExpId, Option<ExpId>, RangeEnd, ExpId),
    Field(ExpId, Ident),
    Index(ExpId, Vec<Index>),
    /// `module.(e)`.
    Open(Path, ExpId),
    Apply(ExpId, Vec<ExpId>),
    Binary(Operator, ExpId, ExpId),
    Negate(ExpId),
    Not(ExpId),
    /// `(op)`.
    Section(Operator),
    /// `(e op)`.
    LeftSection(ExpId, Operator),
    /// `(op e)`.
    RightSection(Operator, ExpId),
    /// `(.a.b)`.
    FieldSection(Vec<Ident>),
    /// `(.[i])`.
    IndexSection(Vec<Index>),
    If(ExpId, ExpId, ExpId),
    Lets(Vec<(Let, Span)>, ExpId),
    Loop(Vec<Ident>, Pat, Option<ExpId>, LoopForm, ExpId),
    Lambda(Function),
    Match(ExpId, Vec<(Pat, ExpId)>),
    Constr(Ident, Vec<ExpId>),
    Assert(ExpId, ExpId),
    /// `e with [i] = v`.
    With(ExpId, Vec<Index>, ExpId),
    /// `e with a.b = v`.
    WithField(ExpId, Vec<Ident>, ExpId),
    /// `e : t`.
    Ascribe(ExpId, TypeExp),
    /// `e :> t`.
    Coerce(ExpId, TypeExp),
}

/// An operator between two expressions.
#[derive(Clone, Debug)]
pub(super) struct Operator {
    /// Modules and the symbol, or the name between backquotes.
    pub(super) path: Path,
    pub(super) span: Span,
}

/// A pattern.
#[derive(Clone, Debug)]
pub(super) enum Pat {
    Wild(Span),
    Name(Ident),
    Tuple(Vec<Pat>, Span),
    Record(Vec<(Ident, Pat)>, Span),
    /// A literal; `true` if it is negated.
    Lit(Lit, bool, Span),
    Constr(Ident, Vec<Pat>),
    Ascribe(Box<Pat>, TypeExp),
}

impl Pat {
    pub(super) fn span(&self) -> Span {
        match self {
            Pat::Wild(span) | Pat::Tuple(_, span) | Pat::Record(_, span) | Pat::Lit(_, _, span) => *span,
            Pat::Name(ident) | Pat::Constr(ident, _) => ident.span,
            Pat::Ascribe(pat, _) => pat.span(),
        }
    }
}

/// A size in a type.
#[derive(Clone, Debug)]
pub(super) enum SizeExp {
    /// `[]`.
    Any,
    Is(ExpId),
}

/// A type as it is written.
#[derive(Clone, Debug)]
pub(super) enum TypeExp {
    Name(Path),
    Array(SizeExp, Box<TypeExp>),
    Tuple(Vec<TypeExp>),
    Record(Vec<(Ident, TypeExp)>),
    Sum(Vec<(Ident, Vec<TypeExp>)>),
    Fun(Option<Ident>, Box<TypeExp>, Box<TypeExp>),
    Unique(Box<TypeExp>),
    Apply(Path, Vec<TypeArg>),
    /// `?[n].t`.
    Exists(Vec<Ident>, Box<TypeExp>),
}

/// An argument of a type.
#[derive(Clone, Debug)]
pub(super) enum TypeArg {
    Size(SizeExp),
    Type(TypeExp),
}

/// A parameter for sizes or types.
#[derive(Clone, Debug)]
pub(super) enum TypeParam {
    Size(Ident),
    Type(Ident),
}

/// A declaration.
#[derive(Debug)]
pub(super) enum Dec {
    Def {
        name: Ident,
        entry: bool,
        function: Function,
    },
    /// `val name 'a : t`: what the core provides; only in the prelude.
    Val {
        name: Ident,
        params: Vec<TypeParam>,
        is: TypeExp,
    },
    Type {
        name: Ident,
        params: Vec<TypeParam>,
        is: TypeExp,
    },
    Module {
        name: Ident,
        is: ModExp,
    },
    Open(ModExp),
    Import(Name, Span),
    Local(Box<Dec>),
}

/// A module.
#[derive(Debug)]
pub(super) enum ModExp {
    Path(Path),
    Decs(Vec<Dec>),
    Import(Name, Span),
}
