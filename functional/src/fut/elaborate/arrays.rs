//! Arrays: making, indexing, replacing, and functions on all elements.

use super::{Arg, Callee, Elaborator, Id, Made};
use crate::core::{Compare, IntBinary, IntType, Op, Rhs, Value, Var};
use crate::fut::code::At;
use crate::fut::syntax::RangeEnd;
use crate::fut::types::{Prim, Type};

/// Part of an index, computed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spot {
    Point(Var),
    Slice(Option<Var>, Option<Var>, Option<(Var, Option<i64>)>),
}

impl Elaborator<'_> {
    pub(super) fn array(&mut self, parts: &[Id], ty: &Type) -> Made<Var> {
        if parts.is_empty() {
            let array = match self.unifier.head(ty) {
                Type::Prim(Prim::Bool) => crate::value::Array::bools(Vec::new()),
                Type::Prim(prim) => match super::scalars::int_type(prim) {
                    Some(int) => crate::value::Array::ints(int, Vec::new()),
                    None => crate::value::Array::reals(Vec::new()),
                },
                _ => crate::value::Array::of(Vec::new()),
            };
            return Ok(self.constant(Value::array(array)));
        }
        let parts = parts.iter().map(|p| self.exp(*p)).collect::<Made<Vec<_>>>()?;
        Ok(self.op(Op::Array, &parts))
    }

    /// `first..second..<last` and the like.
    pub(super) fn range(&mut self, (first, second, last): (Id, Option<Id>, Id), end: RangeEnd, ty: &Type) -> Made<Var> {
        let prim = self.prim(ty)?;
        let (first, last) = (self.exp(first)?, self.exp(last)?);
        let step = match second {
            Some(second) => {
                let second = self.exp(second)?;
                self.int_op(IntBinary::Sub, second, first)
            }
            None => self.constant(self.number(prim, if end == RangeEnd::Above { -1 } else { 1 })),
        };
        let span = self.int_op(IntBinary::Sub, last, first);
        let one = self.constant(self.number(prim, 1));
        let zero = self.constant(self.number(prim, 0));
        // The number of steps, rounded up where the end is left out.
        let counted = match end {
            RangeEnd::Inclusive => {
                let steps = self.int_op(IntBinary::Div, span, step);
                self.int_op(IntBinary::Add, steps, one)
            }
            RangeEnd::Below | RangeEnd::Above => {
                let reach = self.int_op(IntBinary::Add, span, step);
                let reach =
                    self.int_op(if end == RangeEnd::Below { IntBinary::Sub } else { IntBinary::Add }, reach, one);
                self.int_op(IntBinary::Div, reach, step)
            }
        };
        let enough = self.op(Op::Compare(Compare::Ge), &[counted, zero]);
        let enough = match end {
            RangeEnd::Inclusive => enough,
            RangeEnd::Below | RangeEnd::Above => {
                let compare = if end == RangeEnd::Below { Compare::Gt } else { Compare::Lt };
                let ahead = self.op(Op::Compare(compare), &[step, zero]);
                self.choose(ahead, |_| Ok(enough), |this| Ok(this.constant(Value::bool(false))))?
            }
        };
        let text = "a range does not reach its end";
        let counted = self.bind("n", Rhs::Op(Op::Check(text.into()), vec![enough, counted, first, last]));
        let n = self.convert(prim, Prim::I64, counted)?;
        let int = super::scalars::int_type(prim).unwrap_or(IntType::I64);
        let all = self.op(Op::Iota(int), &[n]);
        let each = self.lambda("range", |this, i| {
            let reach = this.int_op(IntBinary::Mul, i, step);
            Ok(this.int_op(IntBinary::Add, first, reach))
        })?;
        Ok(self.op(Op::Map, &[each, all]))
    }

    pub(super) fn indices(&mut self, at: &[At]) -> Made<Vec<Spot>> {
        let mut found = Vec::new();
        for part in at {
            found.push(match part {
                At::Point(id) => Spot::Point(self.exp(*id)?),
                At::Slice(from, to, step) => {
                    let known = step.and_then(|id| self.known_int(id));
                    let from = from.map(|id| self.exp(id)).transpose()?;
                    let to = to.map(|id| self.exp(id)).transpose()?;
                    let step = step.map(|id| self.exp(id)).transpose()?;
                    Spot::Slice(from, to, step.map(|step| (step, known)))
                }
            });
        }
        Ok(found)
    }

    /// A literal, perhaps with a sign.
    fn known_int(&self, id: Id) -> Option<i64> {
        use crate::fut::code::Node;
        match self.code.get(id) {
            Node::Lit(crate::fut::syntax::Lit::Int(n, _), _) => i64::try_from(*n).ok(),
            Node::Apply(function, args) => match (self.code.get(*function), args.as_slice()) {
                (Node::Builtin(name, _), [arg]) if &**name == "neg" => self.known_int(*arg).map(|n| -n),
                _ => None,
            },
            _ => None,
        }
    }

    fn slice(&mut self, array: Var, from: Option<Var>, to: Option<Var>, step: Option<(Var, Option<i64>)>) -> Made<Var> {
        if let (None, None, Some((_, Some(-1)))) = (from, to, step) {
            return Ok(self.op(Op::Flip, &[array]));
        }
        let length = self.length(array);
        let zero = self.int64(0);
        let one = self.int64(1);
        let (step, known) = step.unwrap_or((one, Some(1)));
        let last = self.int_op(IntBinary::Sub, length, one);
        let minus = self.int64(-1);
        let (first, end) = match known {
            Some(n) if n > 0 => (zero, length),
            Some(_) => (last, minus),
            None => {
                let up = self.op(Op::Compare(Compare::Gt), &[step, zero]);
                (self.choose(up, |_| Ok(zero), |_| Ok(last))?, self.choose(up, |_| Ok(length), |_| Ok(minus))?)
            }
        };
        let (from, to) = (from.unwrap_or(first), to.unwrap_or(end));
        Ok(self.op(Op::Slice, &[array, from, to, step]))
    }

    pub(super) fn index(&mut self, array: Var, at: &[Spot]) -> Made<Var> {
        let Some((first, rest)) = at.split_first() else { return Ok(array) };
        match *first {
            Spot::Point(i) => {
                let element = self.op(Op::Index, &[array, i]);
                self.index(element, rest)
            }
            Spot::Slice(from, to, step) => {
                let part = if from.is_none() && to.is_none() && step.is_none() {
                    array
                } else {
                    self.slice(array, from, to, step)?
                };
                if rest.is_empty() {
                    return Ok(part);
                }
                let each = self.lambda("rows", |this, row| this.index(row, rest))?;
                Ok(self.op(Op::Map, &[each, part]))
            }
        }
    }

    /// The array with a part replaced.
    pub(super) fn with(&mut self, array: Var, at: &[Spot], value: Var) -> Made<Var> {
        let Some((first, rest)) = at.split_first() else { return Ok(value) };
        match *first {
            Spot::Point(i) => {
                let new = if rest.is_empty() {
                    value
                } else {
                    let old = self.op(Op::Index, &[array, i]);
                    self.with(old, rest, value)?
                };
                Ok(self.op(Op::Update, &[array, i, new]))
            }
            Spot::Slice(from, to, step) => {
                let length = self.length(array);
                let all = self.op(Op::Iota(IntType::I64), &[length]);
                let places = self.slice(all, from, to, step)?;
                let new = if rest.is_empty() {
                    value
                } else {
                    let old = self.op(Op::Gather, &[array, places]);
                    let pairs = self.op(Op::Zip, &[old, value]);
                    let each = self.lambda("rows", |this, pair| {
                        let (old, new) = (this.part(pair, 0, 2), this.part(pair, 1, 2));
                        this.with(old, rest, new)
                    })?;
                    self.op(Op::Map, &[each, pairs])
                };
                Ok(self.op(Op::Scatter, &[array, places, new]))
            }
        }
    }

    pub(super) fn rotate(&mut self, r: Var, xs: Var) -> Made<Var> {
        let n = self.length(xs);
        let zero = self.int64(0);
        let empty = self.op(Op::Compare(Compare::Eq), &[n, zero]);
        self.choose(
            empty,
            |_| Ok(xs),
            |this| {
                let one = this.int64(1);
                let first = this.int_op(IntBinary::Mod, r, n);
                let head = this.op(Op::Slice, &[xs, first, n, one]);
                let tail = this.op(Op::Slice, &[xs, zero, first, one]);
                Ok(this.op(Op::Concat, &[head, tail]))
            },
        )
    }

    /// `n` rows of `m` elements; one of them may be not known.
    pub(super) fn unflatten(&mut self, n: Var, m: Var, xs: Var) -> Made<Var> {
        let length = self.length(xs);
        let zero = self.int64(0);
        let rows_known = self.op(Op::Compare(Compare::Ge), &[n, zero]);
        let columns_known = self.op(Op::Compare(Compare::Ge), &[m, zero]);
        let some = |this: &mut Self, x: Var| {
            let one = this.int64(1);
            this.int_op(IntBinary::Max, x, one)
        };
        let rows = self.choose(
            rows_known,
            |_| Ok(n),
            |this| {
                let checked = this.op(
                    Op::Check("the sizes of `unflatten` cannot be told: write the type of its result".into()),
                    &[columns_known, m],
                );
                let columns = some(this, checked);
                Ok(this.int_op(IntBinary::Quot, length, columns))
            },
        )?;
        let columns = self.choose(
            columns_known,
            |_| Ok(m),
            |this| {
                let rows = some(this, n);
                Ok(this.int_op(IntBinary::Quot, length, rows))
            },
        )?;
        Ok(self.op(Op::Unflatten, &[rows, columns, xs]))
    }

    /// A scatter into an array of two or three dimensions: rows one after another.
    pub(super) fn scatter_flat(&mut self, xs: Var, is: Var, vs: Var, n: usize) -> Made<Var> {
        let pairs = self.op(Op::Zip, &[is, vs]);
        let step = self.lambda("scatter", |this, x| {
            let (state, pair) = (this.part(x, 0, 2), this.part(x, 1, 2));
            let (place, value) = (this.part(pair, 0, 2), this.part(pair, 1, 2));
            let at: Vec<Var> = (0..n).map(|k| this.part(place, k, n)).collect();
            let next = this.placed(state, &at, &mut |_, _| Ok(value))?;
            let unit = this.constant(Value::UNIT);
            Ok(this.tuple(&[next, unit]))
        })?;
        let done = self.op(Op::Scan, &[step, xs, pairs]);
        Ok(self.part(done, 0, 2))
    }

    /// The array with what `new` makes of an element, if the index is inside.
    fn placed(&mut self, array: Var, at: &[Var], new: &mut dyn FnMut(&mut Self, Var) -> Made<Var>) -> Made<Var> {
        let Some((first, rest)) = at.split_first() else { return new(self, array) };
        let first = *first;
        let zero = self.int64(0);
        let length = self.length(array);
        let above = self.op(Op::Compare(Compare::Ge), &[first, zero]);
        let inside = self.choose(
            above,
            |this| Ok(this.op(Op::Compare(Compare::Lt), &[first, length])),
            |this| Ok(this.constant(Value::bool(false))),
        )?;
        self.choose(
            inside,
            |this| {
                let old = this.op(Op::Index, &[array, first]);
                let value = this.placed(old, rest, new)?;
                Ok(this.op(Op::Update, &[array, first, value]))
            },
            |_| Ok(array),
        )
    }

    /// One array, or an array of tuples.
    fn zipped(&mut self, arrays: &[Var]) -> Var {
        if let [only] = arrays { *only } else { self.op(Op::Zip, arrays) }
    }

    /// `map` of one to five arrays.
    pub(super) fn map(&mut self, args: Vec<Arg>) -> Made<Var> {
        let (function, arrays) = self.split_args(args)?;
        let n = arrays.len();
        let zipped = self.zipped(&arrays);
        let each = match function {
            Callee::Value(value) if n == 1 => value,
            Callee::Known(value, 1, given) if n == 1 && given.is_empty() => value,
            function => self.lambda("map", |this, x| {
                let args = this.unpack(x, n);
                this.call_with(&function, &args)
            })?,
        };
        Ok(self.op(Op::Map, &[each, zipped]))
    }

    pub(super) fn tabulate(&mut self, args: Vec<Arg>) -> Made<Var> {
        let mut args = args.into_iter();
        let (Some(n), Some(function)) = (args.next(), args.next()) else {
            return Err(self.unread("calls without arguments", "give the arguments"));
        };
        let n = self.value(n)?;
        let all = self.op(Op::Iota(IntType::I64), &[n]);
        self.map(vec![function, Arg::Var(all)])
    }

    /// Whether a function adds two numbers.
    fn adds(&self, function: &Callee) -> Option<Prim> {
        match function {
            Callee::Builtin(name, ty, given) if &**name == "add" && given.is_empty() => {
                self.prim(&self.operand(ty)).ok()
            }
            _ => None,
        }
    }

    pub(super) fn reduce(&mut self, ty: &Type, args: Vec<Arg>) -> Made<Var> {
        let _ = ty;
        let (function, rest) = self.split_args(args)?;
        let (first, array) = (rest[0], rest[1]);
        if let Some(prim) = self.adds(&function) {
            let zero = self.constant(self.number(prim, 0));
            let sum = self.op(Op::Sum, &[zero, array]);
            return Ok(self.arithmetic("add", prim, first, sum).unwrap_or(sum));
        }
        let step = self.lambda("reduce", |this, x| {
            let (state, element) = (this.part(x, 0, 2), this.part(x, 1, 2));
            let next = this.call_with(&function, &[state, element])?;
            let unit = this.constant(Value::UNIT);
            Ok(this.tuple(&[next, unit]))
        })?;
        let done = self.op(Op::Scan, &[step, first, array]);
        Ok(self.part(done, 0, 2))
    }

    pub(super) fn scan(&mut self, args: Vec<Arg>) -> Made<Var> {
        let (function, rest) = self.split_args(args)?;
        let step = self.lambda("scan", |this, x| {
            let (state, element) = (this.part(x, 0, 2), this.part(x, 1, 2));
            let next = this.call_with(&function, &[state, element])?;
            Ok(this.tuple(&[next, next]))
        })?;
        let done = self.op(Op::Scan, &[step, rest[0], rest[1]]);
        Ok(self.part(done, 1, 2))
    }

    /// A histogram: elements of an array are combined with values that belong to them.
    pub(super) fn hist(&mut self, ty: &Type, args: Vec<Arg>) -> Made<Var> {
        let _ = ty;
        let mut args = args.into_iter();
        let (Some(dest), Some(function), Some(_)) = (args.next(), args.next(), args.next()) else {
            return Err(self.unread("calls without arguments", "give the arguments"));
        };
        let (Some(is), Some(vs)) = (args.next(), args.next()) else {
            return Err(self.unread("calls without arguments", "give the arguments"));
        };
        let (dest, is, vs) = (self.value(dest)?, self.value(is)?, self.value(vs)?);
        let function = Self::function(function);
        if self.adds(&function).is_some() {
            return Ok(self.op(Op::ScatterAdd, &[dest, is, vs]));
        }
        let pairs = self.op(Op::Zip, &[is, vs]);
        let step = self.lambda("histogram", |this, x| {
            let (state, pair) = (this.part(x, 0, 2), this.part(x, 1, 2));
            let (place, value) = (this.part(pair, 0, 2), this.part(pair, 1, 2));
            let next = this.placed(state, &[place], &mut |this, old| this.call_with(&function, &[old, value]))?;
            let unit = this.constant(Value::UNIT);
            Ok(this.tuple(&[next, unit]))
        })?;
        let done = self.op(Op::Scan, &[step, dest, pairs]);
        Ok(self.part(done, 0, 2))
    }
}
