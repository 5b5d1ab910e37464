//! Records the names that variables and conditions have in the source, for messages about runs.

use pendula_isa::Ty;

use super::alias::names;
use super::body::Body;
use super::scope::{Binding, Kind, Location};
use crate::ir::Mem;
use crate::ir::source::{Clause, Clauses, NamedOperand, Number, Place, Shape};
use crate::janus::ast::{Expr, IntTy};

impl Body<'_, '_> {
    /// Records the parameters.
    pub(super) fn note_parameters(&mut self) {
        for binding in self.scope.clone() {
            self.note(&binding);
        }
    }

    /// Records a variable.
    pub(super) fn note(&mut self, binding: &Binding) {
        let number = |ty: IntTy| match ty {
            IntTy::Sized { signed: false, .. } => Number::Unsigned,
            IntTy::Int | IntTy::Sized { .. } => Number::Plain(Ty::Int),
        };
        let word = |base, region| Mem { base: Some(base), index: None, offset: 0, region };
        let shape = match (&binding.kind, binding.location) {
            (Kind::Scalar(ty), Location::Word(v)) => Shape::Number(number(*ty), Place::Var(v)),
            (Kind::Scalar(ty), Location::Ref { address, region }) => {
                Shape::Number(number(*ty), Place::Mem(word(address, region)))
            }
            (Kind::Array(ty, dims), Location::Memory { base, region }) => {
                let dims = dims.iter().map(|d| d.operand()).collect();
                Shape::Array { element: vec![number(*ty)], start: word(base, region), dims, by_column: false }
            }
            (Kind::Stack, Location::Memory { base, region }) => Shape::Stack { start: word(base, region) },
            (Kind::Scalar(_) | Kind::Array(..) | Kind::Stack, _) => return,
        };
        self.f.names.push(NamedOperand { name: binding.name.text.clone(), shape });
    }

    /// Records the conditions of a branch or loop, the forward one first. If `negated`, they hold where those of the
    /// representation do not hold.
    pub(super) fn clauses(&mut self, both: [(&'static str, &Expr); 2], negated: bool) {
        let [pre, post] = both.map(|(keyword, e)| Clause {
            keyword,
            text: self.s.text.get(e.span.clone()).unwrap_or("").to_string(),
            loc: self.s.loc(&e.span),
            negated,
            names: names(e).into_iter().map(|n| n.text.clone()).collect(),
        });
        self.s.program.note(self.loc, Clauses { pre, post });
    }
}
