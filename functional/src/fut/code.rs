//! Programs after inference: names are resolved, operators and sections are applications and lambdas, and types are at hand where their meaning
//! depends on them.

use super::lex::Name;
use super::syntax::{Lit, RangeEnd, Span};
use super::types::{Scheme, Size, Type, VarId};

/// A node's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Id(pub(super) u32);

/// Part of an index.
#[derive(Clone, Debug)]
pub(super) enum At {
    Point(Id),
    Slice(Option<Id>, Option<Id>, Option<Id>),
}

/// A step from a value to a part of it that is replaced.
#[derive(Clone, Debug)]
pub(super) struct FieldStep {
    pub(super) record: Type,
    pub(super) name: Name,
}

/// A function with its parameters.
#[derive(Clone, Debug)]
pub(super) struct Fun {
    /// Its size parameters, which hold for the body.
    pub(super) sizes: Vec<VarId>,
    pub(super) params: Vec<(Pattern, Type)>,
    pub(super) body: Id,
}

/// A binding.
#[derive(Clone, Debug)]
pub(super) enum Bind {
    /// A pattern with the sizes that it names, and the type.
    Pattern(Vec<VarId>, Pattern, Type, Id),
    Function(VarId, Fun),
}

/// How a loop goes on.
#[derive(Clone, Debug)]
pub(super) enum Turn {
    Below(VarId, Id),
    Each(Pattern, Type, Id),
    While(Id),
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Lit(Lit, Type),
    /// A number with a sign before it: the smallest integers have no other notation.
    NegativeLit(Lit, Type),
    Var(VarId),
    /// A definition with what its size parameters are here.
    Instance(VarId, Vec<Size>),
    Builtin(Name, Type),
    /// A record's fields in their order.
    Tuple(Vec<Id>),
    Array(Vec<Id>, Type),
    Range(Id, Option<Id>, RangeEnd, Id, Type),
    Field(Id, FieldStep),
    Index(Id, Vec<At>),
    Apply(Id, Vec<Id>),
    /// `a && b` or `a || b`: the second is computed if it matters.
    And(Id, Id),
    Or(Id, Id),
    If(Id, Id, Id),
    Lets(Vec<(Bind, Span)>, Id),
    Loop(Vec<VarId>, Pattern, Type, Id, Turn, Id),
    Lambda(Fun),
    Match(Id, Vec<(Pattern, Id)>, Type),
    Constr(Type, Name, Vec<Id>),
    Assert(Id, Id),
    With(Id, Vec<At>, Id),
    WithField(Id, Vec<FieldStep>, Id),
    /// A value whose sizes must be those of a type.
    Coerce(Id, Type),
}

/// A pattern.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    Wild,
    Var(VarId),
    /// A record's fields in their order.
    Tuple(Vec<Pattern>),
    Lit(Lit, bool, Type),
    Constr(Type, Name, Vec<Pattern>),
}

/// What is known of a variable.
#[derive(Clone, Debug)]
pub(super) struct Var {
    pub(super) name: Name,
    pub(super) span: Span,
    pub(super) ty: Type,
}

/// What a definition stands for.
#[derive(Debug)]
pub(super) enum Body {
    Value(Id),
    Function(Fun),
}

/// A definition.
#[derive(Debug)]
pub(super) struct Def {
    pub(super) var: VarId,
    pub(super) body: Body,
    /// For how many sizes, those of `implicit` first, it holds.
    pub(super) scheme: Scheme,
    /// Its size parameters that no argument tells: they are arguments of their own.
    pub(super) implicit: Vec<(usize, VarId)>,
    /// Whether its body speaks of it.
    pub(super) recursive: bool,
}

/// All nodes, variables and definitions.
#[derive(Debug, Default)]
pub(super) struct Code {
    pub(super) nodes: Vec<Node>,
    pub(super) spans: Vec<Span>,
    pub(super) vars: Vec<Var>,
    pub(super) defs: Vec<Def>,
    /// Entry points: a name and its definition.
    pub(super) entries: Vec<(Name, VarId, Span)>,
}

impl Code {
    pub(super) fn add(&mut self, node: Node, span: Span) -> Id {
        self.nodes.push(node);
        self.spans.push(span);
        Id(self.nodes.len() as u32 - 1)
    }

    pub(super) fn get(&self, id: Id) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub(super) fn span(&self, id: Id) -> Span {
        self.spans[id.0 as usize]
    }

    pub(super) fn var(&self, var: VarId) -> &Var {
        &self.vars[var.0 as usize]
    }

    pub(super) fn new_var(&mut self, name: Name, span: Span, ty: Type) -> VarId {
        self.vars.push(Var { name, span, ty });
        VarId(self.vars.len() as u32 - 1)
    }

    /// The nodes right inside a node.
    pub(super) fn children(&self, id: Id, found: &mut Vec<Id>) {
        let at = |at: &[At], found: &mut Vec<Id>| {
            for part in at {
                match part {
                    At::Point(id) => found.push(*id),
                    At::Slice(a, b, c) => found.extend([a, b, c].into_iter().flatten()),
                }
            }
        };
        match self.get(id) {
            Node::Lit(..) | Node::NegativeLit(..) | Node::Var(_) | Node::Instance(..) | Node::Builtin(..) => {}
            Node::Tuple(parts) | Node::Array(parts, _) | Node::Constr(_, _, parts) => found.extend(parts),
            Node::Range(a, b, _, c, _) => {
                found.extend([a, c]);
                found.extend(b);
            }
            Node::Field(a, _) | Node::Coerce(a, _) => found.push(*a),
            Node::Index(a, parts) => {
                found.push(*a);
                at(parts, found);
            }
            Node::Apply(f, args) => {
                found.push(*f);
                found.extend(args);
            }
            Node::And(a, b) | Node::Or(a, b) | Node::Assert(a, b) | Node::WithField(a, _, b) => found.extend([a, b]),
            Node::If(a, b, c) => found.extend([a, b, c]),
            Node::Lets(binds, body) => {
                for (bind, _) in binds {
                    match bind {
                        Bind::Pattern(_, _, _, id) => found.push(*id),
                        Bind::Function(_, fun) => found.push(fun.body),
                    }
                }
                found.push(*body);
            }
            Node::Loop(_, _, _, init, turn, body) => {
                found.extend([init, body]);
                match turn {
                    Turn::Below(_, id) | Turn::Each(_, _, id) | Turn::While(id) => found.push(*id),
                }
            }
            Node::Lambda(fun) => found.push(fun.body),
            Node::Match(a, cases, _) => {
                found.push(*a);
                found.extend(cases.iter().map(|(_, id)| *id));
            }
            Node::With(a, parts, b) => {
                found.extend([a, b]);
                at(parts, found);
            }
        }
    }
}
