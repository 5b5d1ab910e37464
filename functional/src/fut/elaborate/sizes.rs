//! Sizes at run time.

use super::{Bound, Elaborator, Into, Made};
use crate::core::{Compare, IntBinary, Op, Rhs, Value, Var};
use crate::fut::types::{Size, Type};

/// The argument for a size that nothing tells.
pub(super) const UNKNOWN: i64 = -1;

impl Elaborator<'_> {
    /// Where in values of a type an array has a size as its length.
    pub(super) fn path_to(&self, ty: &Type, size: &Size) -> Option<Vec<Into>> {
        match self.unifier.head(ty) {
            Type::Array(length, of) => {
                let length = self.unifier.size(&length);
                if length == *size {
                    return Some(Vec::new());
                }
                if length == Size::Const(0) {
                    return None;
                }
                let mut path = self.path_to(&of, size)?;
                path.insert(0, Into::Element);
                Some(path)
            }
            Type::Record(fields) => fields.iter().enumerate().find_map(|(n, (_, t))| {
                let mut path = self.path_to(t, size)?;
                path.insert(0, Into::Field(n, fields.len()));
                Some(path)
            }),
            Type::Prim(_) | Type::Var(_) | Type::Rigid(..) | Type::Gen(_) | Type::Sum(_) | Type::Fun(..) => None,
        }
    }

    /// The length of a part of a value; 0 if an array on the way has no elements.
    pub(super) fn measured(&mut self, value: Var, path: &[Into]) -> Made<Var> {
        let Some((first, rest)) = path.split_first() else {
            let length = self.length(value);
            self.spare.insert(length);
            return Ok(length);
        };
        match first {
            Into::Field(index, of) => {
                let part = self.part(value, *index, *of);
                self.measured(part, rest)
            }
            Into::Element => {
                let length = self.length(value);
                let zero = self.int64(0);
                let some = self.op(Op::Compare(Compare::Gt), &[length, zero]);
                let found = self.choose(
                    some,
                    |this| {
                        let zero = this.int64(0);
                        let element = this.op(Op::Index, &[value, zero]);
                        this.measured(element, rest)
                    },
                    |this| Ok(this.int64(0)),
                )?;
                self.spare.extend([length, zero, some, found]);
                Ok(found)
            }
        }
    }

    /// What a size is here, if that can be told.
    pub(super) fn size(&mut self, size: &Size) -> Made<Option<Var>> {
        let size = self.unifier.size(size);
        match &size {
            Size::Const(n) => return Ok(Some(self.int64(*n))),
            Size::Name(var) => {
                if self.scope.contains(var)
                    && let Some(Bound::Value(found)) = self.bound.get(var)
                {
                    return Ok(Some(*found));
                }
            }
            Size::Op(op, parts) => {
                let (Some(a), Some(b)) = (self.size(&parts.0)?, self.size(&parts.1)?) else { return Ok(None) };
                let op = match op {
                    '+' => IntBinary::Add,
                    '-' => IntBinary::Sub,
                    _ => IntBinary::Mul,
                };
                return Ok(Some(self.int_op(op, a, b)));
            }
            Size::Var(_) | Size::Gen(_) => {}
        }
        // The length of something in scope.
        for n in (0..self.scope.len()).rev() {
            let var = self.scope[n];
            let Some(Bound::Value(value)) = self.bound.get(&var).copied() else { continue };
            if let Some(path) = self.path_to(&self.code.var(var).ty, &size) {
                return self.measured(value, &path).map(Some);
            }
        }
        Ok(None)
    }

    /// Sizes as arguments.
    pub(super) fn sizes_for(&mut self, sizes: &[Size]) -> Made<Vec<Var>> {
        let mut found = Vec::new();
        for size in sizes {
            found.push(match self.size(size)? {
                Some(var) => var,
                None => self.int64(UNKNOWN),
            });
        }
        Ok(found)
    }

    /// A value whose arrays must have the sizes of a type.
    pub(super) fn coerce(&mut self, of: super::Id, ty: &Type) -> Made<Var> {
        let value = self.exp(of)?;
        let Type::Array(size, _) = self.unifier.head(ty) else { return Ok(value) };
        let Some(wanted) = self.size(&size)? else { return Ok(value) };
        let found = self.length(value);
        let same = self.op(Op::Compare(Compare::Eq), &[found, wanted]);
        let zero = self.int64(0);
        let unknown = self.op(Op::Compare(Compare::Lt), &[wanted, zero]);
        let fits = self.choose(unknown, |this| Ok(this.constant(Value::bool(true))), |_| Ok(same))?;
        let text = "the length of an array is not what the program says";
        Ok(self.bind("checked", Rhs::Op(Op::Check(text.into()), vec![fits, value, found, wanted])))
    }
}
