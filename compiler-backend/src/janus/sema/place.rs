//! Places of variables and elements of arrays, and whether two of them are the same.

use pendula_isa::diagnostic::plural;
use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::{Acc, Cond};

use super::body::{Body, ID, Sink};
use super::scope::{Binding, Dim, Kind, Location};
use super::{Done, OUTSIDE, constant};
use crate::ir::{AssertKind, Mem, Operand, Place, Region, Test, Var};
use crate::janus::ast::{BinOp, Expr, ExprKind, IntTy, Lval, Name, Span};
use crate::janus::codes;

/// An index: the sum of an optional variable and a number.
#[derive(Clone, Copy, Debug)]
struct Index {
    var: Option<Var>,
    add: i64,
}

impl Body<'_, '_> {
    /// The place of an integer or an element, to be read or changed.
    pub(super) fn place(&mut self, l: &Lval) -> Done<(Place, IntTy)> {
        let b = self.binding(&l.name)?;
        match &b.kind {
            Kind::Scalar(ty) if l.indices.is_empty() => Ok((self.word(&b)?, *ty)),
            Kind::Array(ty, dims) if dims.len() == l.indices.len() => {
                let (ty, dims) = (*ty, dims.clone());
                let (base, region) = self.memory(&b)?;
                let mem = self.element(&l.name, (base, region), &dims, &l.indices)?;
                Ok((Place::Mem(mem), ty))
            }
            Kind::Array(_, dims) if l.indices.len() > dims.len() => {
                let sizes = plural(dims.len(), "size");
                let message = format!("`{}` has {sizes}, and {} indices are given", l.name.text, l.indices.len());
                self.fail(&l.span, codes::INDEX, message, "an array has as many indices as it has sizes")
            }
            Kind::Array(..) => {
                let message = format!("`{}` is {}, where an integer is expected", l.name.text, b.kind.describe());
                self.fail(&l.span, codes::TYPE, message, "give an index for each of its sizes")
            }
            Kind::Scalar(_) | Kind::Stack if l.indices.is_empty() => {
                let message = format!("`{}` is {}, where an integer is expected", l.name.text, b.kind.describe());
                self.fail(&l.span, codes::TYPE, message, "stacks are changed by `push` and `pop`, and read by `top`")
            }
            Kind::Scalar(_) | Kind::Stack => {
                let message = format!("`{}` is {}, and has no elements", l.name.text, b.kind.describe());
                self.fail(&l.span, codes::TYPE, message, "only arrays have indices")
            }
        }
    }

    /// The word of an integer.
    fn word(&mut self, b: &Binding) -> Done<Place> {
        match b.location {
            Location::Word(v) => Ok(Place::Var(v)),
            Location::Ref { address, region } => {
                Ok(Place::Mem(Mem { base: Some(address), index: None, offset: 0, region }))
            }
            Location::Memory { .. } => {
                self.fail(&b.name.span, codes::TYPE, "an array is not an integer", "give an index")
            }
        }
    }

    /// The word of a scalar variable.
    pub(super) fn scalar(&mut self, name: &Name) -> Done<Place> {
        let l = Lval { name: name.clone(), indices: Vec::new(), span: name.span.clone() };
        Ok(self.place(&l)?.0)
    }

    /// The address of an array or a stack.
    pub(super) fn memory(&mut self, b: &Binding) -> Done<(Var, Region)> {
        match b.location {
            Location::Memory { base, region } => Ok((base, region)),
            Location::Word(_) | Location::Ref { .. } => {
                let message = format!("`{}` is {}", b.name.text, b.kind.describe());
                self.fail(&b.name.span, codes::TYPE, message, "an array or a stack is expected here")
            }
        }
    }

    /// A place as an operand; records the read.
    pub(super) fn read(&mut self, place: Place) -> Operand {
        match place {
            Place::Var(v) => self.reads.vars.push(v),
            Place::Mem(m) => self.reads.words.push(m),
        }
        place.into()
    }

    /// An index as a variable and a number. If it must not change with other variables, it is copied.
    fn index(&mut self, e: &Expr) -> Done<Index> {
        let index = self.index_now(e)?;
        let Some(v) = index.var.filter(|_| self.frozen.is_some()) else { return Ok(index) };
        match self.copy(Operand::Var(v)) {
            Operand::Var(v) => Ok(Index { var: Some(v), ..index }),
            Operand::Const(_) | Operand::Mem(_) => Ok(index),
        }
    }

    fn index_now(&mut self, e: &Expr) -> Done<Index> {
        if let Some(k) = constant::known(e) {
            return Ok(Index { var: None, add: i64::try_from(k).unwrap_or(i64::MAX) });
        }
        if let ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) = &e.kind {
            let small = |k: i128| i64::try_from(k).ok().filter(|k| (-1 << 40..1 << 40).contains(k));
            let (of, add) = match (constant::known(a), constant::known(b)) {
                (None, Some(k)) => (Some(a), small(if *op == BinOp::Sub { -k } else { k })),
                (Some(k), None) if *op == BinOp::Add => (Some(b), small(k)),
                _ => (None, None),
            };
            if let (Some(of), Some(add)) = (of, add)
                && let ExprKind::Place(l) = &of.kind
                && l.indices.is_empty()
                && let (Place::Var(v), _) = self.place(l)?
            {
                self.reads.vars.push(v);
                return Ok(Index { var: Some(v), add });
            }
        }
        let ty = self.int_type(e)?.unwrap_or(IntTy::Int);
        match self.operand(e, ty)? {
            Operand::Const(k) => Ok(Index { var: None, add: k.cast_signed() }),
            Operand::Var(v) => Ok(Index { var: Some(v), add: 0 }),
            word @ Operand::Mem(_) => match self.copy(word) {
                Operand::Var(v) => Ok(Index { var: Some(v), add: 0 }),
                Operand::Const(_) | Operand::Mem(_) => Ok(Index { var: None, add: 0 }),
            },
        }
    }

    /// Checks that an index is in range.
    fn inside(&mut self, name: &Name, span: &Span, index: Index, dim: Dim) -> Done<Index> {
        let test = |cond, a, b| Test::int(cond, a, b);
        match (index.var, dim) {
            (None, Dim::Known(n)) => {
                if u64::try_from(index.add).is_ok_and(|k| k < n) {
                    return Ok(index);
                }
                let message = format!(
                    "the index {} lies outside `{}`, which has {} there",
                    index.add,
                    name.text,
                    plural(n, "element")
                );
                self.fail_when_reached(span, codes::INDEX, message, "indices go from 0 to one less than the size")?;
                let reason = format!("{OUTSIDE}`{}`, which has {} there", name.text, plural(n, "element"));
                // It is in a variable, to be compared with other indices at run time.
                let t = self.temporary("index");
                let add = Operand::Const(index.add.cast_unsigned());
                self.update(Sink::Pre, (Acc::Add, false), ID, Place::Var(t), vec![add]);
                let (a, b) = (Operand::Var(t), self.compared(Operand::Const(n)));
                self.assert(Sink::Pre, test(Cond::Ltu, a, b), AssertKind::Bounds, &reason);
                Ok(Index { var: Some(t), add: 0 })
            }
            (var, dim) => {
                let reason = match dim {
                    Dim::Known(n) => format!("{OUTSIDE}`{}`, which has {} there", name.text, plural(n, "element")),
                    Dim::Var(_) => format!("{OUTSIDE}`{}`", name.text),
                };
                match (var, dim) {
                    (Some(v), Dim::Known(n)) if index.add != 0 => {
                        let (low, high) = (index.add.wrapping_neg(), n.cast_signed().wrapping_sub(index.add));
                        let low = self.compared(Operand::Const(low.cast_unsigned()));
                        self.assert(Sink::Pre, test(Cond::Ge, Operand::Var(v), low), AssertKind::Bounds, &reason);
                        let high = self.compared(Operand::Const(high.cast_unsigned()));
                        self.assert(Sink::Pre, test(Cond::Lt, Operand::Var(v), high), AssertKind::Bounds, &reason);
                    }
                    (var, dim) => {
                        let parts: Vec<Operand> = var
                            .map(Operand::Var)
                            .into_iter()
                            .chain([Operand::Const(index.add.cast_unsigned())])
                            .collect();
                        let a = self.sum(&parts);
                        let (a, b) = (self.compared(a), self.compared(dim.operand()));
                        self.assert(Sink::Pre, test(Cond::Ltu, a, b), AssertKind::Bounds, &reason);
                    }
                }
                Ok(index)
            }
        }
    }

    /// The place of an element; with fewer indices than dimensions, of the first element of that part.
    pub(super) fn element(
        &mut self,
        name: &Name,
        (base, region): (Var, Region),
        dims: &[Dim],
        indices: &[Expr],
    ) -> Done<Mem> {
        // The index so far, in elements of the current dimension.
        let mut sum = Index { var: None, add: 0 };
        for (n, dim) in dims.iter().enumerate() {
            if n > 0 {
                sum = self.times(sum, *dim);
            }
            let Some(e) = indices.get(n) else { continue };
            let index = self.index(e)?;
            let index = self.at(&e.span, |s| s.inside(name, &e.span, index, *dim))?;
            sum = match (sum.var, index.var) {
                (var, None) | (None, var) => Index { var, add: sum.add.wrapping_add(index.add) },
                (Some(a), Some(b)) => match self.sum(&[Operand::Var(a), Operand::Var(b)]) {
                    Operand::Var(v) => Index { var: Some(v), add: sum.add.wrapping_add(index.add) },
                    Operand::Const(_) | Operand::Mem(_) => sum,
                },
            };
        }
        Ok(Mem { base: Some(base), index: sum.var, offset: sum.add, region })
    }

    /// An index times a size.
    fn times(&mut self, index: Index, dim: Dim) -> Index {
        match (index, dim) {
            (Index { var: None, add: 0 }, _) | (_, Dim::Known(1)) => index,
            (Index { var: None, add }, Dim::Known(n)) => Index { var: None, add: add.wrapping_mul(n.cast_signed()) },
            (Index { var, add }, dim) => {
                let t = self.temporary("index");
                let mul = TableFn::Int(int_fn::Name::Mul);
                let mut rest = 0;
                if let Some(v) = var {
                    let args = vec![Operand::Var(v), dim.operand()];
                    self.update(Sink::Pre, (Acc::Add, false), mul, Place::Var(t), args);
                }
                match dim {
                    Dim::Known(n) => rest = add.wrapping_mul(n.cast_signed()),
                    Dim::Var(_) if add == 0 => {}
                    Dim::Var(v) => {
                        let args = vec![Operand::Var(v), Operand::Const(add.cast_unsigned())];
                        self.update(Sink::Pre, (Acc::Add, false), mul, Place::Var(t), args);
                    }
                }
                Index { var: Some(t), add: rest }
            }
        }
    }

    /// The address of a word, in a variable that has its region.
    pub(super) fn address(&mut self, m: Mem) -> Var {
        let t = self.temporary("address");
        self.f.vars[t.0 as usize].points = Some(m.region);
        for var in m.vars() {
            self.update(Sink::Pre, (Acc::Add, false), ID, Place::Var(t), vec![Operand::Var(var)]);
        }
        if m.offset != 0 {
            let offset = Operand::Const(m.offset.cast_unsigned());
            self.update(Sink::Pre, (Acc::Add, false), ID, Place::Var(t), vec![offset]);
        }
        t
    }

    /// Checks that two words are different. `false` if they are certainly the same.
    pub(super) fn apart(&mut self, a: Mem, b: Mem, reason: &str) -> bool {
        if a.region != b.region {
            return true;
        }
        if (a.base, a.index) == (b.base, b.index) {
            return a.offset != b.offset;
        }
        let parts = |m: Mem, base: bool, add: i64| -> Vec<Operand> {
            let base = m.base.filter(|_| base).map(Operand::Var);
            let rest = m.index.map(Operand::Var).into_iter().chain([Operand::Const(add.cast_unsigned())]);
            base.into_iter().chain(rest).collect()
        };
        let base = a.base != b.base;
        let (x, y) = if a.index.is_none() && !base {
            (parts(b, base, 0), parts(a, base, a.offset.wrapping_sub(b.offset)))
        } else {
            (parts(a, base, 0), parts(b, base, b.offset.wrapping_sub(a.offset)))
        };
        let (x, y) = (self.sum(&x), self.sum(&y));
        let (x, y) = (self.compared(x), self.compared(y));
        self.assert(Sink::Pre, Test::int(Cond::Ne, x, y), AssertKind::Alias, reason);
        true
    }

    /// Emits a check that a word is outside of `count` words from `base` on.
    pub(super) fn assert_outside(&mut self, word: Mem, (base, region): (Var, Region), count: Operand, reason: &str) {
        if word.region != region {
            return;
        }
        let address = self.address(word);
        let distance = self.copy(Operand::Var(address));
        if let Operand::Var(v) = distance {
            self.update(Sink::Pre, (Acc::Add, true), ID, Place::Var(v), vec![Operand::Var(base)]);
        }
        let count = self.compared(count);
        self.assert(Sink::Pre, Test::int(Cond::Geu, distance, count), AssertKind::Alias, reason);
    }
}
