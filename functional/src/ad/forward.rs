//! The forward transformation: every value with its tangent.
//!
//! A function maps bundles to bundles. Arithmetic takes its operands apart, computes on both parts, and bundles the results.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::partial::{Partial, of_binary, of_unary};
use crate::core::{
    Binary, Bind, Body, Builder, Compare, GroupId, IntBinary, IntUnary, Member, Op, Rhs, Store, Transform, Unary, Var,
    View, Word, deep,
};
use crate::errors::Failure;

/// The functions of a group's forward transform.
pub(super) fn members(store: &mut Store, id: GroupId) -> Result<Vec<Member>, Failure> {
    let source = Rc::clone(store.get(id));
    let mut members = Vec::with_capacity(source.members.len());
    for member in &source.members {
        let mut forward =
            Forward { builder: Builder::new(store), parts: FxHashMap::default(), constant: FxHashSet::default() };
        let body = forward.body(&member.body)?;
        let param = store.twin(member.param, Transform::Forward);
        let name = member.name.clone();
        members.push(Member { name, param, body, place: member.place.clone() });
    }
    Ok(members)
}

struct Forward<'s> {
    builder: Builder<'s>,
    /// The primal and the tangent of variables of the source, where they are known.
    parts: FxHashMap<Var, (Var, Option<Var>)>,
    /// Variables of the source whose tangent is zero.
    constant: FxHashSet<Var>,
}

fn raised(level: Word) -> Result<Word, Failure> {
    super::raised(level, View::Forward)
}

impl Forward<'_> {
    fn twin(&mut self, var: Var) -> Var {
        self.builder.store.twin(var, Transform::Forward)
    }

    fn twins(&mut self, vars: &[Var]) -> Vec<Var> {
        vars.iter().map(|v| self.twin(*v)).collect()
    }

    /// A body in place; what is known outside is known inside, but not the other way round.
    fn body(&mut self, body: &Body) -> Result<Body, Failure> {
        deep(|| self.body_inside(body))
    }

    fn body_inside(&mut self, body: &Body) -> Result<Body, Failure> {
        let outer = std::mem::take(&mut self.builder.binds);
        let (parts, constant) = (self.parts.clone(), self.constant.clone());
        for bind in &body.binds {
            self.bind(bind)?;
        }
        let result = self.twin(body.result);
        let mut binds = std::mem::replace(&mut self.builder.binds, outer);
        (self.parts, self.constant) = (parts, constant);
        super::sweep(self.builder.store, &mut binds, result);
        Ok(Body { binds, result })
    }

    fn primal(&mut self, var: Var) -> Var {
        if let Some((primal, _)) = self.parts.get(&var) {
            return *primal;
        }
        let twin = self.twin(var);
        let level = std::mem::replace(&mut self.builder.level, Word::NONE);
        let primal = self.builder.view(View::Primal, twin);
        self.builder.level = level;
        self.parts.insert(var, (primal, None));
        primal
    }

    fn tangent(&mut self, var: Var) -> Var {
        if let Some((_, Some(tangent))) = self.parts.get(&var) {
            return *tangent;
        }
        let twin = self.twin(var);
        let level = std::mem::replace(&mut self.builder.level, Word::NONE);
        let tangent = self.builder.view(View::Tangent, twin);
        self.builder.level = level;
        let primal = self.primal(var);
        self.parts.insert(var, (primal, Some(tangent)));
        tangent
    }

    /// Binds the twin of a variable to a primal with its tangent, or with zero.
    fn bundle(&mut self, var: Var, primal: Var, tangent: Option<Var>) {
        let twin = self.twin(var);
        self.builder.level = Word::NONE;
        match tangent {
            Some(tangent) => self.builder.bind_to(twin, Rhs::Bundle(primal, tangent)),
            None => {
                self.builder.bind_to(twin, Rhs::View(View::Forward, primal));
                self.constant.insert(var);
            }
        }
        self.parts.insert(var, (primal, tangent));
    }

    fn bind(&mut self, bind: &Bind) -> Result<(), Failure> {
        self.builder.place.clone_from(&bind.place);
        self.builder.level = bind.level;
        let (var, level) = (bind.var, bind.level);
        let rhs = match &bind.rhs {
            Rhs::Op(op, args) => return self.op(var, op, args, level),
            Rhs::Bundle(a, b) => {
                let (ap, bp) = (self.primal(*a), self.primal(*b));
                let (at, bt) = (self.tangent(*a), self.tangent(*b));
                self.builder.level = level;
                let primal = self.builder.bind("t", Rhs::Bundle(ap, bp));
                let tangent = self.builder.bind("t", Rhs::Bundle(at, bt));
                self.bundle(var, primal, Some(tangent));
                return Ok(());
            }
            Rhs::Product(one, a, other, b) => {
                let (ap, bp) = (self.primal(*a), self.primal(*b));
                let (at, bt) = (self.tangent(*a), self.tangent(*b));
                self.builder.level = level;
                let primal = self.builder.bind("t", Rhs::Product(*one, ap, *other, bp));
                let first = self.builder.bind("t", Rhs::Product(*one, at, *other, bp));
                let second = self.builder.bind("t", Rhs::Product(*one, ap, *other, bt));
                let tangent = self.builder.op(Op::Binary(Binary::Add), &[first, second]);
                self.bundle(var, primal, Some(tangent));
                return Ok(());
            }
            Rhs::Const(value) => {
                self.constant.insert(var);
                self.builder.level = raised(level)?;
                Rhs::Const(value.clone())
            }
            Rhs::View(view, a) => {
                self.builder.level = raised(level)?;
                Rhs::View(*view, self.twin(*a))
            }
            Rhs::If(c, yes, no) => {
                let c = self.twin(*c);
                let (yes, no) = (self.body(yes)?, self.body(no)?);
                self.builder.level = raised(level)?;
                Rhs::If(c, Box::new(yes), Box::new(no))
            }
            Rhs::Case(s, arms) => {
                let s = self.twin(*s);
                let mut made = Vec::with_capacity(arms.len());
                for (number, payload, body) in arms {
                    made.push((*number, self.twin(*payload), self.body(body)?));
                }
                Rhs::Case(s, made)
            }
            Rhs::Closure(group, member) => {
                Rhs::Closure(super::transform(self.builder.store, *group, Transform::Forward)?, *member)
            }
            Rhs::Alias(a) => Rhs::Alias(self.twin(*a)),
            Rhs::Plus(a, b) => Rhs::Plus(self.twin(*a), self.twin(*b)),
            Rhs::Tuple(all) => Rhs::Tuple(self.twins(all)),
            Rhs::Part(a, index, of) => Rhs::Part(self.twin(*a), *index, *of),
            Rhs::Captured(a, index, of) => Rhs::Captured(self.twin(*a), *index, *of),
            Rhs::Inject(number, a) => Rhs::Inject(*number, self.twin(*a)),
            Rhs::Sibling(member) => Rhs::Sibling(*member),
            Rhs::Apply(f, x) => Rhs::Apply(self.twin(*f), self.twin(*x)),
        };
        self.builder.place.clone_from(&bind.place);
        let twin = self.twin(var);
        self.builder.bind_to(twin, rhs);
        Ok(())
    }

    fn op(&mut self, var: Var, op: &Op, args: &[Var], level: Word) -> Result<(), Failure> {
        match op {
            Op::Unary(f) => self.unary(var, *f, args, level),
            Op::Binary(f) => {
                self.binary(var, *f, args, level)?;
                Ok(())
            }
            // The primal decides; there is no tangent.
            Op::Compare(_) | Op::Test(_) | Op::Read | Op::ToBits(_) | Op::FromBits(_) => {
                let args: Vec<Var> = args.iter().map(|v| self.primal(*v)).collect();
                self.builder.level = level;
                let primal = self.builder.op(op.clone(), &args);
                self.bundle(var, primal, None);
                Ok(())
            }
            // The primal is checked or written; the value stays.
            Op::AsReal | Op::Write => {
                let primal = self.primal(args[0]);
                self.builder.level = level;
                let primal = self.builder.op(op.clone(), &[primal]);
                let tangent = self.tangent(args[0]);
                self.bundle(var, primal, Some(tangent));
                Ok(())
            }
            Op::Ladder(_) => Err(super::staged(op)),
            // The tangent is that of the function itself.
            Op::Custom => {
                let (f, x) = (self.twin(args[0]), self.twin(args[2]));
                self.builder.level = raised(level)?;
                let twin = self.twin(var);
                self.builder.bind_to(twin, Rhs::Apply(f, x));
                Ok(())
            }
            Op::IntUnary(_) | Op::IntBinary(_) | Op::ToReal | Op::ToInt(_) | Op::Like => {
                self.integers(var, op, args, level);
                Ok(())
            }
            Op::Not | Op::Check(_) => self.same(var, op, args, level),
            Op::Array | Op::Iota(_) | Op::Replicate | Op::Length | Op::Index | Op::Update => {
                self.same(var, op, args, level)
            }
            Op::Concat | Op::Slice | Op::Flip | Op::Zip | Op::Unzip(..) => self.same(var, op, args, level),
            Op::Flatten | Op::Unflatten | Op::Transpose | Op::Gather => self.same(var, op, args, level),
            Op::Scatter | Op::ScatterAdd | Op::Sum | Op::Bump => self.same(var, op, args, level),
            Op::Map | Op::Scan | Op::ScanBack => self.same(var, op, args, level),
        }
    }

    /// The operator itself on bundles; numbers that it consumes have one layer more.
    fn same(&mut self, var: Var, op: &Op, args: &[Var], level: Word) -> Result<(), Failure> {
        let args = self.twins(args);
        self.builder.level = raised(level)?;
        let twin = self.twin(var);
        self.builder.bind_to(twin, Rhs::Op(op.clone(), args));
        Ok(())
    }

    fn unary(&mut self, var: Var, op: Unary, args: &[Var], level: Word) -> Result<(), Failure> {
        let x = self.primal(args[0]);
        self.builder.level = level;
        let z = self.builder.op(Op::Unary(op), &[x]);
        if self.constant.contains(&args[0]) {
            self.bundle(var, z, None);
            return Ok(());
        }
        let dx = self.tangent(args[0]);
        self.builder.level = level;
        let partial = of_unary(&mut self.builder, op, x, z)?;
        let tangent = self.scaled(partial, dx);
        self.bundle(var, z, tangent);
        Ok(())
    }

    fn binary(&mut self, var: Var, op: Binary, args: &[Var], level: Word) -> Result<(), Failure> {
        let (x, y) = (self.primal(args[0]), self.primal(args[1]));
        self.builder.level = level;
        let z = self.builder.op(Op::Binary(op), &[x, y]);
        let wanted = [0, 1].map(|n| !self.constant.contains(&args[n]));
        let mut tangent = None;
        let partials = of_binary(&mut self.builder, op, (x, y, z), wanted)?;
        for n in [0, 1] {
            if !wanted[n] {
                continue;
            }
            let d = self.tangent(args[n]);
            self.builder.level = level;
            if op == Binary::Sub && n == 1 && tangent.is_some() {
                tangent = tangent.map(|first| self.builder.op(Op::Binary(Binary::Sub), &[first, d]));
                continue;
            }
            let Some(term) = self.scaled(partials[n], d) else { continue };
            tangent = Some(match tangent {
                None => term,
                Some(first) => self.builder.op(Op::Binary(Binary::Add), &[first, term]),
            });
        }
        self.bundle(var, z, tangent);
        Ok(())
    }

    /// Operators on integers and conversions. Their tangents are integers, too.
    fn integers(&mut self, var: Var, op: &Op, args: &[Var], level: Word) {
        let values: Vec<Var> = args.iter().map(|v| self.primal(*v)).collect();
        self.builder.level = level;
        let z = self.builder.op(op.clone(), &values);
        let (first, last) = (args[0], args[args.len() - 1]);
        let tangent = match op {
            Op::ToReal | Op::ToInt(_) if !self.constant.contains(&first) => {
                let d = self.tangent(first);
                self.builder.level = level;
                Some(self.builder.op(op.clone(), &[d]))
            }
            Op::Like if !self.constant.contains(&last) => {
                let d = self.tangent(last);
                self.builder.level = level;
                Some(self.builder.op(op.clone(), &[values[0], d]))
            }
            Op::IntUnary(f) if f.has_derivative() && !self.constant.contains(&first) => {
                let d = self.tangent(first);
                self.builder.level = level;
                match f {
                    IntUnary::Neg => Some(self.builder.op(op.clone(), &[d])),
                    IntUnary::Abs => {
                        let sign = self.builder.op(Op::IntUnary(IntUnary::Sign), &[values[0]]);
                        Some(self.builder.op(Op::IntBinary(IntBinary::Mul), &[sign, d]))
                    }
                    IntUnary::Less => Some(d),
                    IntUnary::Not | IntUnary::Sign | IntUnary::Ones => None,
                    IntUnary::LeadingZeros | IntUnary::TrailingZeros => None,
                }
            }
            Op::IntBinary(f) if f.has_derivative() => self.int_tangent(*f, args, &values, level),
            _ => None,
        };
        self.bundle(var, z, tangent);
    }

    fn int_tangent(&mut self, f: IntBinary, args: &[Var], values: &[Var], level: Word) -> Option<Var> {
        let mut terms = [None, None];
        for n in [0, 1] {
            // The exponent of a power counts as constant.
            let constant = self.constant.contains(&args[n]) || f == IntBinary::Pow && n == 1;
            if !constant {
                terms[n] = Some(self.tangent(args[n]));
            }
        }
        self.builder.level = level;
        let b = &mut self.builder;
        let int = |b: &mut Builder<'_>, f: IntBinary, x: Var, y: Var| b.op(Op::IntBinary(f), &[x, y]);
        match (f, terms) {
            (_, [None, None]) => None,
            (IntBinary::Add | IntBinary::Sub, [Some(dx), Some(dy)]) => Some(int(b, f, dx, dy)),
            (IntBinary::Add, [Some(d), None] | [None, Some(d)]) | (IntBinary::Sub, [Some(d), None]) => Some(d),
            (IntBinary::Sub, [None, Some(d)]) => Some(b.op(Op::IntUnary(IntUnary::Neg), &[d])),
            (IntBinary::Mul, _) => {
                let first = terms[0].map(|d| int(b, IntBinary::Mul, d, values[1]));
                let second = terms[1].map(|d| int(b, IntBinary::Mul, values[0], d));
                match (first, second) {
                    (Some(x), Some(y)) => Some(int(b, IntBinary::Add, x, y)),
                    (x, y) => x.or(y),
                }
            }
            (IntBinary::Pow, [Some(d), _]) => {
                let partial = super::reverse::power(b, values[0], values[1]);
                Some(int(b, IntBinary::Mul, partial, d))
            }
            (IntBinary::Min | IntBinary::Max, _) => {
                let compare = if f == IntBinary::Min { Compare::Le } else { Compare::Ge };
                let first = b.op(Op::Compare(compare), &[values[0], values[1]]);
                // The zero of a tangent that is known to be zero.
                let [dx, dy] = terms;
                let some = dx.or(dy)?;
                let zero = b.view(View::Zero, some);
                let (dx, dy) = (dx.unwrap_or(zero), dy.unwrap_or(zero));
                let (yes, no) = (b.block(|_| dx), b.block(|_| dy));
                Some(b.bind("d", Rhs::If(first, Box::new(yes), Box::new(no))))
            }
            (IntBinary::Pow, [None, Some(_)]) => None,
            (IntBinary::Div | IntBinary::Mod | IntBinary::Quot | IntBinary::Rem, _) => None,
            (IntBinary::And | IntBinary::Or | IntBinary::Xor, _) => None,
            (IntBinary::Shl | IntBinary::Shr | IntBinary::Lshr, _) => None,
        }
    }

    fn scaled(&mut self, partial: Partial, d: Var) -> Option<Var> {
        Some(match partial {
            Partial::Zero => return None,
            Partial::One => d,
            Partial::Minus => self.builder.op(Op::Unary(Unary::Neg), &[d]),
            Partial::Is(by) => self.builder.op(Op::Binary(Binary::Mul), &[by, d]),
        })
    }
}
