//! The transformation of a stage: constants and operators on reals change, everything else stays as it is.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Stage;
use super::state::LadderOp;
use crate::ad::partial::{Partial, of_binary, of_unary};
use crate::core::{
    Binary, Bind, Body, Builder, Compare, GroupId, IntType, Member, Op, Rhs, Store, Test, Transform, Unary, Value, Var,
};
use crate::errors::{Failure, LADDER};

/// The transforms of groups, and the functions that they share.
#[derive(Debug)]
pub(super) struct Ladder {
    stage: Stage,
    groups: FxHashMap<GroupId, GroupId>,
    /// The groups of backpropagators.
    pub(super) backs: FxHashSet<GroupId>,
    /// The backpropagator of constants, in the stages that have some.
    pub(super) constant: Option<GroupId>,
    /// The backpropagator of an input, whose number is its free variable.
    pub(super) input: Option<GroupId>,
}

/// The room that must be left on the host's stack, and the size of its next piece.
const ROOM: usize = 128 << 10;
const PIECE: usize = 1 << 20;

fn ladder(op: LadderOp) -> Op {
    Op::Ladder(op)
}

impl Ladder {
    pub(super) fn new(stage: Stage, store: &mut Store) -> Ladder {
        let mut out =
            Ladder { stage, groups: FxHashMap::default(), backs: FxHashSet::default(), constant: None, input: None };
        if stage == Stage::D5 {
            return out;
        }
        let number = store.var("i", None);
        let mut b = Builder::new(store);
        let constant = b.lambda("∂constant", |b, _| match stage {
            Stage::D1 => b.op(ladder(LadderOp::Zero), &[]),
            Stage::D2 => b.op(ladder(LadderOp::StagedZero), &[]),
            Stage::D3 | Stage::D4 | Stage::D5 => b.lambda("same", |_, s| s),
        });
        out.constant = out.noted(&b, constant);
        let input = b.lambda("∂input", |b, z| match stage {
            Stage::D1 => b.op(ladder(LadderOp::OneHot), &[number, z]),
            Stage::D2 => b.op(ladder(LadderOp::StagedInput), &[number, z]),
            Stage::D3 | Stage::D4 | Stage::D5 => b.lambda("add", |b, s| b.op(ladder(LadderOp::Input), &[number, z, s])),
        });
        out.input = out.noted(&b, input);
        out
    }

    /// Notes the group of a backpropagator that was bound last.
    fn noted(&mut self, b: &Builder<'_>, back: Var) -> Option<GroupId> {
        let bind = b.binds.iter().rev().find(|bind| bind.var == back)?;
        let Rhs::Closure(group, _) = bind.rhs else { return None };
        self.backs.insert(group);
        Some(group)
    }

    /// The transform of a group.
    pub(super) fn group(&mut self, store: &mut Store, id: GroupId) -> Result<GroupId, Failure> {
        if let Some(known) = self.groups.get(&id) {
            return Ok(*known);
        }
        let source = std::rc::Rc::clone(store.get(id));
        if let Some((Transform::Reverse | Transform::Forward, _)) = source.origin {
            return Err(Failure::new(LADDER, "a function that a derivative made is differentiated by the ladder")
                .help("use `--method transform`, which nests"));
        }
        // Functions at the top may name each other in circles.
        let made = store.reserve();
        store.get_mut(made).free.clone_from(&source.free);
        self.groups.insert(id, made);
        let mut members = Vec::with_capacity(source.members.len());
        for member in &source.members {
            let body = self.body(store, &member.body)?;
            members.push(Member { name: member.name.clone(), param: member.param, body, place: member.place.clone() });
        }
        store.fill(made, members);
        Ok(made)
    }

    fn body(&mut self, store: &mut Store, body: &Body) -> Result<Body, Failure> {
        stacker::maybe_grow(ROOM, PIECE, || {
            let mut b = Builder::new(store);
            for bind in &body.binds {
                b.place.clone_from(&bind.place);
                self.bind(&mut b, bind).map_err(|f| f.at(bind.place.as_ref()))?;
            }
            Ok(b.finish(body.result))
        })
    }

    fn bind(&mut self, b: &mut Builder<'_>, bind: &Bind) -> Result<(), Failure> {
        let rhs = match &bind.rhs {
            Rhs::Const(value) => return self.constant(b, bind.var, value),
            Rhs::Op(op, args) => return self.op(b, bind.var, op, args),
            Rhs::Plus(v, w) => return self.plus(b, bind.var, [*v, *w]),
            Rhs::If(c, yes, no) => {
                let yes = self.body(b.store, yes)?;
                Rhs::If(*c, Box::new(yes), Box::new(self.body(b.store, no)?))
            }
            Rhs::Case(of, arms) => {
                let mut made = Vec::with_capacity(arms.len());
                for (constructor, payload, body) in arms {
                    made.push((*constructor, *payload, self.body(b.store, body)?));
                }
                Rhs::Case(*of, made)
            }
            Rhs::Closure(group, member) => Rhs::Closure(self.group(b.store, *group)?, *member),
            Rhs::Alias(_) | Rhs::Tuple(_) | Rhs::Part(..) | Rhs::Inject(..) | Rhs::Sibling(_) | Rhs::Apply(..) => {
                bind.rhs.clone()
            }
            Rhs::View(view, _) => return Err(nested(view.name())),
            Rhs::Bundle(..) => return Err(nested("bundle")),
            Rhs::Product(..) | Rhs::Captured(..) => return Err(nested("a derivative")),
        };
        b.bind_to(bind.var, rhs);
        Ok(())
    }

    /// A constant's backpropagator, or `()` in the stage that has none.
    fn no_back(&self, b: &mut Builder<'_>) -> Var {
        match self.constant {
            Some(group) => b.bind("d", Rhs::Closure(group, 0)),
            None => b.constant(Value::UNIT),
        }
    }

    fn constant(&mut self, b: &mut Builder<'_>, var: Var, value: &Value) -> Result<(), Failure> {
        let c = b.constant(value.clone());
        if value.plain_real().is_some() {
            self.dual_of(b, var, c);
        } else if value.is_flat() {
            b.bind_to(var, Rhs::Alias(c));
        } else {
            let back = self.no_back(b);
            b.bind_to(var, Rhs::Op(ladder(LadderOp::Lift), vec![c, back]));
        }
        Ok(())
    }

    /// A dual number of a number that no input influences.
    fn dual_of(&mut self, b: &mut Builder<'_>, var: Var, number: Var) {
        let back = self.no_back(b);
        let id = self.id(b);
        b.bind_to(var, Rhs::Tuple(vec![number, id, back]));
    }

    /// A new ID. In the stage with a tape it is that of an empty node.
    fn id(&self, b: &mut Builder<'_>) -> Var {
        match self.stage {
            Stage::D1 => b.constant(Value::UNIT),
            Stage::D2 | Stage::D3 | Stage::D4 => b.op(ladder(LadderOp::Fresh), &[]),
            Stage::D5 => b.op(ladder(LadderOp::Node), &[]),
        }
    }

    fn primal(b: &mut Builder<'_>, of: Var) -> Var {
        b.op(ladder(LadderOp::Primal), &[of])
    }

    fn op(&mut self, b: &mut Builder<'_>, var: Var, op: &Op, args: &[Var]) -> Result<(), Failure> {
        match op {
            Op::Unary(_) | Op::Binary(_) => return self.arithmetic(b, var, op, args),
            Op::Test(Test::Real) => b.bind_to(var, Rhs::Op(ladder(LadderOp::IsDual), args.to_vec())),
            // These ask, or give back, numbers only.
            Op::Compare(_) | Op::Not | Op::Test(_) | Op::ToInt(_) | Op::ToBits(_) => {
                let args = args.iter().map(|a| Self::primal(b, *a)).collect();
                b.bind_to(var, Rhs::Op(op.clone(), args));
            }
            Op::AsReal => {
                let number = Self::primal(b, args[0]);
                b.op(Op::AsReal, &[number]);
                b.bind_to(var, Rhs::Alias(args[0]));
            }
            Op::ToReal | Op::Read | Op::Like | Op::FromBits(_) => {
                let args: Vec<Var> = args.iter().map(|a| Self::primal(b, *a)).collect();
                let number = b.op(op.clone(), &args);
                self.dual_of(b, var, number);
            }
            Op::Write => {
                let lowered = b.op(ladder(LadderOp::Lower), args);
                b.op(Op::Write, &[lowered]);
                b.bind_to(var, Rhs::Alias(args[0]));
            }
            Op::Check(_) => {
                let mut all = args.to_vec();
                for a in all.iter_mut().skip(2) {
                    *a = b.op(ladder(LadderOp::Lower), &[*a]);
                }
                b.bind_to(var, Rhs::Op(op.clone(), all));
            }
            Op::Sum => self.sum(b, var, args)?,
            Op::Bump => {
                let old = b.op(Op::Index, &args[..2]);
                let sum = b.store.var("t", b.place.clone());
                self.plus(b, sum, [old, args[2]])?;
                b.bind_to(var, Rhs::Op(Op::Update, vec![args[0], args[1], sum]));
            }
            Op::ScatterAdd => self.scatter_add(b, var, args)?,
            Op::IntUnary(_) | Op::IntBinary(_) | Op::Array | Op::Iota(_) | Op::Replicate | Op::Length | Op::Index => {
                b.bind_to(var, Rhs::Op(op.clone(), args.to_vec()));
            }
            Op::Update | Op::Concat | Op::Slice | Op::Flip | Op::Zip | Op::Unzip(..) | Op::Flatten | Op::Unflatten => {
                b.bind_to(var, Rhs::Op(op.clone(), args.to_vec()));
            }
            Op::Transpose | Op::Gather | Op::Scatter | Op::Map | Op::Scan | Op::ScanBack => {
                b.bind_to(var, Rhs::Op(op.clone(), args.to_vec()));
            }
            // The stages follow the function itself.
            Op::Custom => b.bind_to(var, Rhs::Apply(args[0], args[2])),
            Op::Ladder(op) => return Err(nested(op.name())),
        }
        Ok(())
    }

    /// An operator on reals: the number, and what leads back from it.
    fn arithmetic(&mut self, b: &mut Builder<'_>, var: Var, op: &Op, args: &[Var]) -> Result<(), Failure> {
        let xs: Vec<Var> = args.iter().map(|a| Self::primal(b, *a)).collect();
        let y = b.op(op.clone(), &xs);
        if self.stage == Stage::D5 {
            let mut edges = Vec::new();
            for (a, partial) in args.iter().zip(partials(b, op, &xs, y)?) {
                if let Some(p) = number(b, partial) {
                    edges.push(p);
                    edges.push(b.part(*a, 1, 3));
                }
            }
            let id = b.op(ladder(LadderOp::Node), &edges);
            let none = b.constant(Value::UNIT);
            b.bind_to(var, Rhs::Tuple(vec![y, id, none]));
            return Ok(());
        }
        let named = self.stage != Stage::D1;
        let ids: Vec<Option<Var>> = args.iter().map(|a| named.then(|| b.part(*a, 1, 3))).collect();
        let backs: Vec<Var> = args.iter().map(|a| b.part(*a, 2, 3)).collect();
        let mut failed = None;
        let stage = self.stage;
        let back = b.lambda(&format!("∂{}", op.name()), |b, z| {
            let partials = partials(b, op, &xs, y).unwrap_or_else(|failure| {
                failed = Some(failure);
                Vec::new()
            });
            let mut calls = Vec::new();
            for ((partial, id), f) in partials.into_iter().zip(&ids).zip(&backs) {
                if let Some(z) = times(b, partial, z) {
                    calls.push(Call { id: *id, f: *f, z });
                }
            }
            body_of(b, stage, &calls)
        });
        if let Some(failure) = failed {
            return Err(failure);
        }
        self.noted(b, back);
        let id = self.id(b);
        b.bind_to(var, Rhs::Tuple(vec![y, id, back]));
        Ok(())
    }

    /// A sum of two values: of numbers as `+`, of integers as they are.
    fn plus(&mut self, b: &mut Builder<'_>, var: Var, [v, w]: [Var; 2]) -> Result<(), Failure> {
        let is_dual = b.op(ladder(LadderOp::IsDual), &[v]);
        let mut inner = Builder::new(b.store);
        inner.place.clone_from(&b.place);
        let sum = inner.store.var("t", None);
        self.arithmetic(&mut inner, sum, &Op::Binary(Binary::Add), &[v, w])?;
        let yes = inner.finish(sum);
        let no = b.block(|b| {
            let (v, w) = (b.op(ladder(LadderOp::Whole), &[v]), b.op(ladder(LadderOp::Whole), &[w]));
            b.bind("t", Rhs::Plus(v, w))
        });
        b.bind_to(var, Rhs::If(is_dual, Box::new(yes), Box::new(no)));
        Ok(())
    }

    /// The sum of an array, from the first element to the last.
    fn sum(&mut self, b: &mut Builder<'_>, var: Var, args: &[Var]) -> Result<(), Failure> {
        let step = self.step(b, |out, b, [s, x]| {
            let sum = b.store.var("t", None);
            out.plus(b, sum, [s, x])?;
            Ok(sum)
        })?;
        let both = b.op(Op::Scan, &[step, args[0], args[1]]);
        b.bind_to(var, Rhs::Part(both, 0, 2));
        Ok(())
    }

    /// A function for `scan` that only gives a new state.
    fn step(
        &mut self,
        b: &mut Builder<'_>,
        state: impl FnOnce(&mut Ladder, &mut Builder<'_>, [Var; 2]) -> Result<Var, Failure>,
    ) -> Result<Var, Failure> {
        let mut result = Ok(Var(0));
        let step = b.lambda("step", |b, both| {
            let (s, x) = (b.part(both, 0, 2), b.part(both, 1, 2));
            result = state(self, b, [s, x]);
            let none = b.constant(Value::UNIT);
            match result {
                Ok(next) => b.tuple(&[next, none]),
                Err(_) => none,
            }
        });
        result.map(|_| step)
    }

    /// Values that are added to elements of an array; an index outside of it is ignored.
    fn scatter_add(&mut self, b: &mut Builder<'_>, var: Var, args: &[Var]) -> Result<(), Failure> {
        let length = b.op(Op::Length, &args[..1]);
        let step = self.step(b, |out, b, [xs, x]| {
            let (i, v) = (b.part(x, 0, 2), b.part(x, 1, 2));
            let nought = b.constant(Value::int(IntType::I64, 0));
            let i = b.op(Op::ToInt(IntType::I64), &[i]);
            let above = b.op(Op::Compare(Compare::Ge), &[i, nought]);
            let below = b.op(Op::Compare(Compare::Lt), &[i, length]);
            let mut inner = Builder::new(b.store);
            let changed = inner.store.var("a", None);
            out.op(&mut inner, changed, &Op::Bump, &[xs, i, v])?;
            let changed = inner.finish(changed);
            let same = b.block(|_| xs);
            let inside = b.block(|b| b.bind("a", Rhs::If(below, Box::new(changed), Box::new(same))));
            let outside = b.block(|_| xs);
            Ok(b.bind("a", Rhs::If(above, Box::new(inside), Box::new(outside))))
        })?;
        let pairs = b.op(Op::Zip, &args[1..3]);
        let both = b.op(Op::Scan, &[step, args[0], pairs]);
        b.bind_to(var, Rhs::Part(both, 0, 2));
        Ok(())
    }
}

/// A call of an operand's backpropagator.
struct Call {
    id: Option<Var>,
    f: Var,
    z: Var,
}

/// What a backpropagator does: calls those of the operands, or stages these calls.
fn body_of(b: &mut Builder<'_>, stage: Stage, calls: &[Call]) -> Var {
    match stage {
        Stage::D1 | Stage::D2 | Stage::D5 => {
            let (zero, add) = if stage == Stage::D1 {
                (LadderOp::Zero, LadderOp::Add)
            } else {
                (LadderOp::StagedZero, LadderOp::StagedAdd)
            };
            let mut sum = None;
            for call in calls {
                let one = match call.id {
                    None => b.apply(call.f, call.z),
                    Some(id) => b.op(ladder(LadderOp::StagedCall), &[id, call.f, call.z]),
                };
                sum = Some(match sum {
                    None => one,
                    Some(sum) => b.op(ladder(add), &[sum, one]),
                });
            }
            sum.unwrap_or_else(|| b.op(ladder(zero), &[]))
        }
        Stage::D3 | Stage::D4 => b.lambda("add", |b, s| {
            calls.iter().rev().fold(s, |s, call| match call.id {
                Some(id) => b.op(ladder(LadderOp::Call), &[id, call.f, call.z, s]),
                None => s,
            })
        }),
    }
}

/// A partial derivative times a number; `None` if it is nought everywhere.
fn times(b: &mut Builder<'_>, partial: Partial, z: Var) -> Option<Var> {
    match partial {
        Partial::Zero => None,
        Partial::One => Some(z),
        Partial::Minus => Some(b.op(Op::Unary(Unary::Neg), &[z])),
        Partial::Is(p) => Some(b.op(Op::Binary(Binary::Mul), &[p, z])),
    }
}

/// A partial derivative itself; `None` if it is nought everywhere.
fn number(b: &mut Builder<'_>, partial: Partial) -> Option<Var> {
    match partial {
        Partial::Zero => None,
        Partial::One => Some(b.real(1.0)),
        Partial::Minus => Some(b.real(-1.0)),
        Partial::Is(p) => Some(p),
    }
}

/// The partial derivatives of an operator.
fn partials(b: &mut Builder<'_>, op: &Op, xs: &[Var], y: Var) -> Result<Vec<Partial>, Failure> {
    match (op, xs) {
        (Op::Unary(op), [x]) => Ok(vec![of_unary(b, *op, *x, y)?]),
        (Op::Binary(op), [v, w]) => Ok(of_binary(b, *op, (*v, *w, y), [true; 2])?.to_vec()),
        _ => Err(nested(op.name())),
    }
}

fn nested(what: &str) -> Failure {
    Failure::new(LADDER, format!("the ladder does not differentiate `{what}`: a derivative of the program's own"))
        .help("use `--method transform`, which nests")
}
