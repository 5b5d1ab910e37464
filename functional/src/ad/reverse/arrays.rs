//! The way back through operators on arrays.

use super::Reverse;
use crate::core::{Bind, Compare, IntBinary, IntType, Op, Rhs, Value, Var, View, Word};

impl Reverse<'_> {
    /// An integer that the source computed, with the layers of the way back.
    fn index(&mut self, var: Var) -> Var {
        let value = self.value(var);
        let level = std::mem::replace(&mut self.builder.level, Word::NONE);
        let index = self.builder.view(View::Sense, value);
        self.builder.level = level;
        index
    }

    fn int(&mut self, value: i64) -> Var {
        self.builder.constant(Value::int(IntType::I64, value))
    }

    fn length(&mut self, array: Var) -> Var {
        self.builder.op(Op::Length, &[array])
    }

    /// An operator that adds something to an array's sensitivity, in place if there is one already.
    fn add_into(&mut self, xs: Var, op: Op, more: &[Var]) {
        if self.inactive.contains(&xs) {
            return;
        }
        let sum = match self.sum(xs) {
            Some(sum) => sum,
            None => self.zero(xs, None),
        };
        let mut args = vec![sum];
        args.extend(more);
        let sum = self.builder.op(op, &args);
        self.add(xs, sum);
    }

    pub(super) fn loops(&mut self, op: &Op, args: &[Var], bind: &Bind, z: Var) {
        let Some(bps) = self.back.get(&bind.var).map(|b| b.bp) else { return };
        let function_zero = self.zero(args[0], None);
        if *op == Op::Map {
            let pairs = self.builder.op(Op::Zip, &[bps, z]);
            let call = self.builder.lambda("back", |b, x| {
                let (bp, y) = (b.part(x, 0, 2), b.part(x, 1, 2));
                b.apply(bp, y)
            });
            let both = self.builder.op(Op::Map, &[call, pairs]);
            if !self.inactive.contains(&args[0]) {
                let functions = self.builder.op(Op::Unzip(0, 2), &[both]);
                let function = self.builder.op(Op::Sum, &[function_zero, functions]);
                self.add(args[0], function);
            }
            let elements = self.builder.op(Op::Unzip(1, 2), &[both]);
            self.add(args[1], elements);
            return;
        }
        let (s, ys) = (self.builder.part(z, 0, 2), self.builder.part(z, 1, 2));
        let pairs = self.builder.op(Op::Zip, &[bps, ys]);
        let call = self.builder.lambda("back", |b, x| {
            let (state, pair) = (b.part(x, 0, 2), b.part(x, 1, 2));
            let (s, function) = (b.part(state, 0, 2), b.part(state, 1, 2));
            let (bp, y) = (b.part(pair, 0, 2), b.part(pair, 1, 2));
            let result = b.tuple(&[s, y]);
            let both = b.apply(bp, result);
            let (more, argument) = (b.part(both, 0, 2), b.part(both, 1, 2));
            let (s, x) = (b.part(argument, 0, 2), b.part(argument, 1, 2));
            let function = b.bind("s", Rhs::Plus(function, more));
            let state = b.tuple(&[s, function]);
            b.tuple(&[state, x])
        });
        let start = self.builder.tuple(&[s, function_zero]);
        let against = if *op == Op::Scan { Op::ScanBack } else { Op::Scan };
        let both = self.builder.op(against, &[call, start, pairs]);
        let (state, elements) = (self.builder.part(both, 0, 2), self.builder.part(both, 1, 2));
        let (s, function) = (self.builder.part(state, 0, 2), self.builder.part(state, 1, 2));
        self.add(args[0], function);
        self.add(args[1], s);
        self.add(args[2], elements);
    }

    pub(super) fn array(&mut self, op: &Op, args: &[Var], bind: &Bind, z: Var) {
        match op {
            Op::Array => {
                for (n, var) in (0..).zip(args) {
                    let n = self.int(n);
                    let element = self.builder.op(Op::Index, &[z, n]);
                    self.add(*var, element);
                }
            }
            Op::Replicate => {
                let zero = self.zero(args[1], None);
                let sum = self.builder.op(Op::Sum, &[zero, z]);
                self.add(args[1], sum);
            }
            Op::Index => {
                let i = self.index(args[1]);
                self.add_into(args[0], Op::Bump, &[i, z]);
            }
            Op::Update => {
                let i = self.index(args[1]);
                let element = self.builder.op(Op::Index, &[z, i]);
                self.add(args[2], element);
                let zero = self.zero(args[2], None);
                let rest = self.builder.op(Op::Update, &[z, i, zero]);
                self.add(args[0], rest);
            }
            Op::Concat => self.concat(args, bind, z),
            Op::Slice => {
                let zero = self.zero(args[0], None);
                let n = self.length(zero);
                let all = self.builder.op(Op::Iota(IntType::I64), &[n]);
                let (from, to, step) = (self.index(args[1]), self.index(args[2]), self.index(args[3]));
                let chosen = self.builder.op(Op::Slice, &[all, from, to, step]);
                self.add_into(args[0], Op::ScatterAdd, &[chosen, z]);
            }
            Op::Flip => {
                let flipped = self.builder.op(Op::Flip, &[z]);
                self.add(args[0], flipped);
            }
            Op::Zip => {
                for (n, var) in (0..).zip(args) {
                    let column = self.builder.op(Op::Unzip(n, args.len() as u32), &[z]);
                    self.add(*var, column);
                }
            }
            Op::Unzip(index, of) => {
                let zero = self.zero(args[0], None);
                let columns: Vec<Var> = (0..*of)
                    .map(|n| if n == *index { z } else { self.builder.op(Op::Unzip(n, *of), &[zero]) })
                    .collect();
                let zipped = self.builder.op(Op::Zip, &columns);
                self.add(args[0], zipped);
            }
            Op::Flatten => self.flatten(args[0], z),
            Op::Unflatten => {
                let flat = self.builder.op(Op::Flatten, &[z]);
                self.add(args[2], flat);
            }
            Op::Transpose => {
                let zero = self.zero(args[0], None);
                let n = self.length(zero);
                let back = self.builder.op(Op::Transpose, &[z, n]);
                self.add(args[0], back);
            }
            Op::Gather => {
                let is = self.index(args[1]);
                self.add_into(args[0], Op::ScatterAdd, &[is, z]);
            }
            Op::Scatter | Op::ScatterAdd => self.scatter(op, args, z),
            Op::Sum => {
                let zero = self.zero(args[1], None);
                let n = self.length(zero);
                let same = self.builder.op(Op::Replicate, &[n, z]);
                self.add(args[1], same);
            }
            Op::Bump => {
                let i = self.index(args[1]);
                let element = self.builder.op(Op::Index, &[z, i]);
                self.add(args[2], element);
                self.add(args[0], z);
            }
            Op::Unary(_) | Op::Binary(_) | Op::Compare(_) | Op::IntUnary(_) | Op::IntBinary(_) | Op::Not => {}
            Op::Test(_) | Op::AsReal | Op::ToReal | Op::ToInt(_) | Op::Write | Op::Read | Op::Check(_) | Op::Like => {}
            Op::Iota(_) | Op::Length | Op::Map | Op::Scan | Op::ScanBack | Op::Ladder(_) => {}
            Op::Custom | Op::ToBits(_) | Op::FromBits(_) => {}
        }
    }

    fn concat(&mut self, args: &[Var], bind: &Bind, z: Var) {
        let values = [self.value(args[0]), self.value(args[1])];
        let level = std::mem::replace(&mut self.builder.level, bind.level);
        let lengths = values.map(|v| self.length(v));
        let all = self.builder.op(Op::IntBinary(IntBinary::Add), &lengths);
        self.builder.level = Word::NONE;
        let first = self.builder.view(View::Sense, lengths[0]);
        let all = self.builder.view(View::Sense, all);
        self.builder.level = level;
        let (start, one) = (self.int(0), self.int(1));
        let a = self.builder.op(Op::Slice, &[z, start, first, one]);
        let b = self.builder.op(Op::Slice, &[z, first, all, one]);
        self.add(args[0], a);
        self.add(args[1], b);
    }

    /// The sensitivity of an array of arrays from that of all its elements in one.
    fn flatten(&mut self, rows: Var, z: Var) {
        let zero = self.zero(rows, None);
        let start = self.int(0);
        let cut = self.builder.lambda("cut", |b, x| {
            let (from, row) = (b.part(x, 0, 2), b.part(x, 1, 2));
            let n = b.op(Op::Length, &[row]);
            let to = b.op(Op::IntBinary(IntBinary::Add), &[from, n]);
            let one = b.constant(Value::int(IntType::I64, 1));
            let part = b.op(Op::Slice, &[z, from, to, one]);
            b.tuple(&[to, part])
        });
        let both = self.builder.op(Op::Scan, &[cut, start, zero]);
        let parts = self.builder.part(both, 1, 2);
        self.add(rows, parts);
    }

    fn scatter(&mut self, op: &Op, args: &[Var], z: Var) {
        let is = self.index(args[1]);
        let zeros = self.zero(args[2], None);
        // Of several values for one element, the last stays.
        let last = if *op == Op::Scatter { self.last_writers(z, is) } else { is };
        let replaced = self.safe_gather(z, last, zeros);
        self.add(args[2], replaced);
        if *op == Op::ScatterAdd {
            self.add(args[0], z);
        } else {
            let rest = self.builder.op(Op::Scatter, &[z, is, zeros]);
            self.add(args[0], rest);
        }
    }

    /// The indices, with -1 for each that comes again later.
    fn last_writers(&mut self, z: Var, is: Var) -> Var {
        let (n, m) = (self.length(z), self.length(is));
        let places = self.builder.op(Op::Iota(IntType::I64), &[m]);
        let none = self.int(-1);
        let nobody = self.builder.op(Op::Replicate, &[n, none]);
        let owners = self.builder.op(Op::Scatter, &[nobody, is, places]);
        let own = self.safe_gather(owners, is, places);
        let triples = self.builder.op(Op::Zip, &[is, places, own]);
        let keep = self.builder.lambda("keep", |b, x| {
            let (i, place, own) = (b.part(x, 0, 3), b.part(x, 1, 3), b.part(x, 2, 3));
            let i = b.op(Op::ToInt(IntType::I64), &[i]);
            let same = b.op(Op::Compare(Compare::Eq), &[place, own]);
            let yes = b.block(|_| i);
            let no = b.block(|b| b.constant(Value::int(IntType::I64, -1)));
            b.bind("i", Rhs::If(same, Box::new(yes), Box::new(no)))
        });
        self.builder.op(Op::Map, &[keep, triples])
    }

    /// Elements by index; for an index outside, the element of another array.
    fn safe_gather(&mut self, z: Var, is: Var, others: Var) -> Var {
        let n = self.length(z);
        let pairs = self.builder.op(Op::Zip, &[is, others]);
        let pick = self.builder.lambda("pick", |b, x| {
            let (i, other) = (b.part(x, 0, 2), b.part(x, 1, 2));
            let i = b.op(Op::ToInt(IntType::I64), &[i]);
            let zero = b.constant(Value::int(IntType::I64, 0));
            let below = b.op(Op::Compare(Compare::Lt), &[i, zero]);
            let beyond = b.op(Op::Compare(Compare::Ge), &[i, n]);
            let inner = b.block(|b| b.op(Op::Index, &[z, i]));
            let outer = b.block(|_| other);
            let checked = b.block(|b| b.bind("e", Rhs::If(beyond, Box::new(outer.clone()), Box::new(inner))));
            b.bind("e", Rhs::If(below, Box::new(outer), Box::new(checked)))
        });
        self.builder.op(Op::Map, &[pick, pairs])
    }
}
