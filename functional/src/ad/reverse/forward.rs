//! The forward phase, which computes what the source computes, and makes the backpropagators of what it calls.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Back, Backs, Notes, Wanted, Written, Zero, backpropagator};
use crate::ad::raised;
use crate::core::{Bind, Body, Builder, Op, Rhs, Store, Transform, Var, View, Word, deep};
use crate::errors::Failure;

/// The forward phase.
pub(super) struct Forward<'a> {
    pub(super) store: &'a mut Store,
    pub(super) notes: Notes<'a>,
    pub(super) back: Backs,
    /// Variables of the source that have no sensitivity.
    pub(super) inactive: &'a mut FxHashSet<Var>,
}

impl Forward<'_> {
    fn twin(&mut self, var: Var) -> Var {
        self.store.twin(var, Transform::Reverse)
    }

    pub(super) fn binds(&mut self, body: &Body) -> Result<Vec<Bind>, Failure> {
        let mut binds = Vec::with_capacity(body.binds.len());
        for bind in &body.binds {
            self.bind(bind, &mut binds)?;
        }
        Ok(binds)
    }

    fn bind(&mut self, bind: &Bind, binds: &mut Vec<Bind>) -> Result<(), Failure> {
        let level = raised(bind.level, View::Reverse)?;
        let place = bind.place.clone();
        if self.is_inactive(&bind.rhs) {
            self.inactive.insert(bind.var);
        }
        let rhs = match &bind.rhs {
            Rhs::Apply(f, x) => {
                let call = Rhs::Apply(self.twin(*f), self.twin(*x));
                return self.two(bind, call, Vec::new(), binds);
            }
            Rhs::If(c, yes, no) => {
                let mut of: Vec<Var> = self.store.free_vars(yes);
                of.extend(self.store.free_vars(no));
                let of = self.wanted(of);
                let c = self.twin(*c);
                let (yes, no) = (self.branch(yes, None, &of)?, self.branch(no, None, &of)?);
                let rhs = Rhs::If(c, Box::new(yes), Box::new(no));
                return self.two(bind, rhs, of, binds);
            }
            Rhs::Case(s, arms) => {
                let mut of = Vec::new();
                for (_, payload, body) in arms {
                    of.extend(self.store.free_vars(body).into_iter().filter(|v| v != payload));
                }
                let of = self.wanted(of);
                let s = self.twin(*s);
                let mut made = Vec::with_capacity(arms.len());
                for (number, payload, body) in arms {
                    let twin = self.twin(*payload);
                    made.push((*number, twin, self.branch(body, Some((*number, *payload)), &of)?));
                }
                return self.two(bind, Rhs::Case(s, made), of, binds);
            }
            Rhs::Op(op @ (Op::Map | Op::Scan | Op::ScanBack), args) => {
                let args: Vec<Var> = args.iter().map(|v| self.twin(*v)).collect();
                return self.loops(bind, op, args, level, binds);
            }
            Rhs::Op(Op::Custom, args) => {
                // The function itself runs; the way back is another's.
                let (f, x) = (self.twin(args[0]), self.twin(args[2]));
                let mut b = Builder { store: self.store, binds: Vec::new(), level: bind.level, place: place.clone() };
                b.level = Word::NONE;
                let (f, x) = (b.view(View::Unreverse, f), b.view(View::Unreverse, x));
                b.level = bind.level;
                let value = b.apply(f, x);
                binds.append(&mut b.binds);
                let var = self.twin(bind.var);
                binds.push(Bind { var, rhs: Rhs::View(View::Reverse, value), level: Word::NONE, place });
                return Ok(());
            }
            Rhs::Closure(group, member) => {
                Rhs::Closure(crate::ad::transform(self.store, *group, Transform::Reverse)?, *member)
            }
            Rhs::Const(value) => Rhs::Const(value.clone()),
            Rhs::Op(op, args) => Rhs::Op(op.clone(), args.iter().map(|v| self.twin(*v)).collect()),
            Rhs::View(view, a) => Rhs::View(*view, self.twin(*a)),
            Rhs::Bundle(a, b) => Rhs::Bundle(self.twin(*a), self.twin(*b)),
            Rhs::Plus(a, b) => Rhs::Plus(self.twin(*a), self.twin(*b)),
            Rhs::Product(one, a, other, b) => {
                let (one, other) = (raised(*one, View::Reverse)?, raised(*other, View::Reverse)?);
                Rhs::Product(one, self.twin(*a), other, self.twin(*b))
            }
            Rhs::Tuple(all) => Rhs::Tuple(all.iter().map(|v| self.twin(*v)).collect()),
            Rhs::Part(a, index, of) => Rhs::Part(self.twin(*a), *index, *of),
            Rhs::Captured(a, index, of) => Rhs::Captured(self.twin(*a), *index, *of),
            Rhs::Inject(number, a) => Rhs::Inject(*number, self.twin(*a)),
            Rhs::Alias(a) => Rhs::Alias(self.twin(*a)),
            Rhs::Sibling(member) => Rhs::Sibling(*member),
        };
        let var = self.twin(bind.var);
        binds.push(Bind { var, rhs, level, place });
        Ok(())
    }

    /// Whether what a right-hand side gives has no sensitivity, whatever its operands are.
    fn is_inactive(&self, rhs: &Rhs) -> bool {
        match rhs {
            Rhs::Const(_) | Rhs::View(View::Zero, _) => true,
            Rhs::Closure(group, _) => self.store.get(*group).free.is_empty(),
            Rhs::Sibling(_) => self.notes.free.is_empty(),
            Rhs::Alias(a) | Rhs::View(_, a) | Rhs::Part(a, ..) | Rhs::Captured(a, ..) | Rhs::Inject(_, a) => {
                self.inactive.contains(a)
            }
            Rhs::Tuple(all) => all.iter().all(|v| self.inactive.contains(v)),
            Rhs::Bundle(a, b) | Rhs::Plus(a, b) | Rhs::Product(_, a, _, b) => {
                self.inactive.contains(a) && self.inactive.contains(b)
            }
            Rhs::Op(op, args) => match op {
                Op::Compare(_) | Op::Not | Op::Test(_) | Op::Read | Op::Iota(_) | Op::Length => true,
                Op::IntUnary(f) => !f.has_derivative() || self.inactive.contains(&args[0]),
                Op::IntBinary(f) => !f.has_derivative() || args.iter().all(|v| self.inactive.contains(v)),
                Op::ToReal | Op::ToInt(_) => self.inactive.contains(&args[0]),
                Op::Like => self.inactive.contains(&args[1]),
                Op::Map | Op::Scan | Op::ScanBack | Op::Ladder(_) => false,
                Op::ToBits(_) | Op::FromBits(_) => true,
                // What the functions captured has no sensitivity.
                Op::Custom => self.inactive.contains(&args[2]),
                Op::Unary(_) | Op::Binary(_) | Op::AsReal | Op::Write | Op::Check(_) | Op::Array | Op::Replicate => {
                    args.iter().all(|v| self.inactive.contains(v))
                }
                Op::Index | Op::Update | Op::Concat | Op::Slice | Op::Flip | Op::Zip | Op::Unzip(..) | Op::Flatten => {
                    args.iter().all(|v| self.inactive.contains(v))
                }
                Op::Unflatten | Op::Transpose | Op::Gather | Op::Scatter | Op::ScatterAdd | Op::Sum | Op::Bump => {
                    args.iter().all(|v| self.inactive.contains(v))
                }
            },
            Rhs::Case(..) | Rhs::If(..) | Rhs::Apply(..) => false,
        }
    }

    /// Of these variables, those that can have a sensitivity, each once.
    fn wanted(&self, vars: Vec<Var>) -> Vec<Var> {
        let mut seen = FxHashSet::default();
        vars.into_iter().filter(|v| !self.inactive.contains(v) && seen.insert(*v)).collect()
    }

    /// Binds a pair of a result and its backpropagator, and both parts.
    fn two(&mut self, bind: &Bind, rhs: Rhs, of: Vec<Var>, binds: &mut Vec<Bind>) -> Result<(), Failure> {
        let level = raised(bind.level, View::Reverse)?;
        let place = bind.place.clone();
        let pair = self.store.var("p", place.clone());
        let bp = self.store.var("b", place.clone());
        let var = self.twin(bind.var);
        binds.push(Bind { var: pair, rhs, level, place: place.clone() });
        binds.push(Bind { var, rhs: Rhs::Part(pair, 0, 2), level, place: place.clone() });
        binds.push(Bind { var: bp, rhs: Rhs::Part(pair, 1, 2), level, place });
        self.back.insert(bind.var, Back { bp, of });
        Ok(())
    }

    /// A branch: its forward phase, and a backpropagator that gives the sensitivities of some variables, and of the payload.
    fn branch(&mut self, body: &Body, payload: Option<(u32, Var)>, of: &[Var]) -> Result<Body, Failure> {
        deep(|| self.branch_inside(body, payload, of))
    }

    fn branch_inside(&mut self, body: &Body, payload: Option<(u32, Var)>, of: &[Var]) -> Result<Body, Failure> {
        let outer = std::mem::take(&mut self.back);
        let mut binds = self.binds(body)?;
        let back = std::mem::replace(&mut self.back, outer);
        let wanted = Wanted::Branch { of, payload };
        let forward = Written { binds: &mut binds, back: &back, inactive: self.inactive };
        let group = backpropagator(self.store, &self.notes, forward, body, "branch", wanted)?;
        let result = self.twin(body.result);
        let mut builder = Builder::new(self.store);
        let closure = builder.bind("b", Rhs::Closure(group, 0));
        let pair = builder.tuple(&[result, closure]);
        binds.append(&mut builder.binds);
        crate::ad::sweep(self.store, &mut binds, pair);
        Ok(Body { binds, result: pair })
    }

    /// A loop over an array keeps the backpropagators of all turns in an array.
    fn loops(
        &mut self,
        bind: &Bind,
        op: &Op,
        args: Vec<Var>,
        level: Word,
        binds: &mut Vec<Bind>,
    ) -> Result<(), Failure> {
        let twin = self.twin(bind.var);
        let mut b = Builder { store: self.store, binds: Vec::new(), level, place: bind.place.clone() };
        let bp = if *op == Op::Map {
            let pairs = b.op(Op::Map, &args);
            b.bind_to(twin, Rhs::Op(Op::Unzip(0, 2), vec![pairs]));
            b.op(Op::Unzip(1, 2), &[pairs])
        } else {
            // The function gives ((s, y), b); the scan wants (s, (y, b)).
            let function = args[0];
            let turned = b.lambda("turn", |b, x| {
                let pair = b.apply(function, x);
                let (result, back) = (b.part(pair, 0, 2), b.part(pair, 1, 2));
                let (s, y) = (b.part(result, 0, 2), b.part(result, 1, 2));
                let second = b.tuple(&[y, back]);
                b.tuple(&[s, second])
            });
            let both = b.op(op.clone(), &[turned, args[1], args[2]]);
            let (s, pairs) = (b.part(both, 0, 2), b.part(both, 1, 2));
            let ys = b.op(Op::Unzip(0, 2), &[pairs]);
            b.bind_to(twin, Rhs::Tuple(vec![s, ys]));
            b.op(Op::Unzip(1, 2), &[pairs])
        };
        binds.append(&mut b.binds);
        self.back.insert(bind.var, Back { bp, of: Vec::new() });
        Ok(())
    }
}

/// Makes zeros right behind what they are zeros of, where that is not updated yet.
pub(super) fn insert(store: &mut Store, binds: &mut Vec<Bind>, zeros: Vec<Zero>) {
    if zeros.is_empty() {
        return;
    }
    let bound: FxHashSet<Var> = binds.iter().map(|bind| bind.var).collect();
    let mut behind: FxHashMap<Option<Var>, Vec<Bind>> = FxHashMap::default();
    for Zero { of, part, var } in zeros {
        let twin = store.twin(of, Transform::Reverse);
        let bound = bound.contains(&twin).then_some(twin);
        let mut b = Builder::new(store);
        let mut value = b.view(View::Unreverse, twin);
        if let Some(part) = part {
            value = b.bind("q", part.rhs(value));
        }
        b.bind_to(var, Rhs::View(View::Zero, value));
        behind.entry(bound).or_default().append(&mut b.binds);
    }
    let mut all = behind.remove(&None).unwrap_or_default();
    for bind in std::mem::take(binds) {
        let var = bind.var;
        all.push(bind);
        all.extend(behind.remove(&Some(var)).unwrap_or_default());
    }
    *binds = all;
}
