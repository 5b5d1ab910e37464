//! What words carry beyond tangents: the coefficients of jets, or all second derivatives of a loss. The rules are the table's, by way of
//! [`Series`]; here they meet registers, memory and lanes.
//!
//! Jets run in [`AdMode::Tangent`]: the tangent is the first coefficient, and the others have lanes of their own. A sweep for all second
//! derivatives runs in [`AdMode::GradientTangent`]: gradient words are as usual, and the tangent's lane has the numbers of rows in
//! [`Curvature`]. Only the interpreter runs either.
//!
//! [`AdMode::Tangent`]: pendula_isa::adjoint::AdMode::Tangent
//! [`AdMode::GradientTangent`]: pendula_isa::adjoint::AdMode::GradientTangent

use std::marker::PhantomData;

use pendula_isa::Fault;
use pendula_isa::adjoint::{GRADIENT, LANES, SECOND, VALUE};
use pendula_isa::arith::Arith;
use pendula_isa::calculus::share;
use pendula_isa::kernels::{fixed, int};
use pendula_isa::num::convert::to_f64;
use pendula_isa::operand::Slot;
use pendula_isa::series::{MAX_ORDER, Series, Turn};
use pendula_isa::table::{ARITY, Adjoint, TableFn, accumulate};
use pendula_isa::types::{Acc, Reg, Ty};

use crate::context::{Ctx, Operands};
use crate::curvature::{Curvature, RowId};
use crate::decode::Op;
use crate::gradient::Cell;
use crate::lanes::Lane;
use crate::machine::Machine;
use crate::state::Core;

/// What words carry.
pub(crate) enum Orders {
    /// Jets, of as many coefficients as there are lanes for.
    Jets(Box<Series>),
    /// The numbers of the words' rows.
    Sweep(Box<Series>, Curvature),
}

/// The lane of coefficient `k` of jets, from the first on.
pub const fn jet_lane(k: usize) -> usize {
    if k <= 1 { SECOND } else { LANES + k - 2 }
}

/// Where an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A constant.
    Nowhere,
    Register(u8),
    Word(u64),
}

/// A context for arithmetic alone.
struct NoOperands;

impl Operands for NoOperands {
    fn slot(_: &Op, _: usize) -> Slot {
        Slot::None
    }
}

/// An instruction with its operands, at work on what words carry.
pub(crate) struct Work<'a> {
    pub(crate) core: &'a mut Core,
    pub(crate) op: &'a Op,
    pub(crate) places: [Place; 4],
}

/// Runs a row: with or without its effect on gradient words.
pub(crate) type RunRow<'a> = &'a mut dyn FnMut(&mut Core, bool) -> Result<(), Fault>;

/// A row that changes words: its adjoint, the type of the words, and whether it runs backward.
#[derive(Clone, Copy)]
pub(crate) struct Change {
    pub(crate) adjoint: Adjoint,
    pub(crate) ty: Ty,
    pub(crate) back: bool,
}

impl Work<'_> {
    fn get(&self, lane: usize, n: usize) -> u64 {
        match (self.places[n], lane) {
            (Place::Nowhere, _) => 0,
            (Place::Register(r), VALUE) => self.core.reg(r),
            (Place::Register(r), _) => self.core.lane(lane).regs[usize::from(r) % Reg::PLACES],
            (Place::Word(a), VALUE) => self.core.load(a).unwrap_or(0),
            (Place::Word(a), _) => self.core.lane_load(lane, a),
        }
    }

    fn put(&mut self, lane: usize, n: usize, word: u64) {
        match self.places[n] {
            // `r0` carries nothing.
            Place::Nowhere | Place::Register(0) => {}
            Place::Register(r) => self.core.lane_mut(lane).regs[usize::from(r) % Reg::PLACES] = word,
            Place::Word(a) => self.core.lane_store(lane, a, word),
        }
    }

    /// Whether an operand carries something.
    fn carries(&self, n: usize) -> bool {
        !matches!(self.places[n], Place::Nowhere | Place::Register(0))
    }

    fn arithmetic(&mut self) -> Ctx<'_, NoOperands> {
        Ctx { core: self.core, op: self.op, lane: VALUE, derived: true, sp: 0, operands: PhantomData }
    }

    fn order(&self) -> usize {
        self.core.more.len() + 1
    }

    fn jet(&self, n: usize, out: &mut [u64]) {
        let lanes = std::iter::once(&self.core.lanes[SECOND - 1]).chain(&self.core.more);
        match self.places[n] {
            Place::Nowhere => out.fill(0),
            Place::Register(r) => {
                let r = usize::from(r) % Reg::PLACES;
                out.iter_mut().zip(lanes).for_each(|(out, lane)| *out = lane.regs[r]);
            }
            Place::Word(a) => {
                let at = usize::try_from(a).unwrap_or(usize::MAX);
                out.iter_mut().zip(lanes).for_each(|(out, lane)| *out = lane.mem.get(at).copied().unwrap_or(0));
            }
        }
    }

    /// Runs `f` with what words carry.
    fn with<T>(&mut self, f: impl FnOnce(&mut Self, &mut Orders) -> Result<T, Fault>) -> Result<T, Fault> {
        let Some(mut orders) = self.core.orders.take() else { return Err(Fault::GradientLevel) };
        let out = f(self, &mut orders);
        self.core.orders = Some(orders);
        out
    }

    /// The effect of an accumulate, given the arguments and the function's value.
    pub(crate) fn function(&mut self, func: TableFn, inverse: bool, x: [u64; ARITY], f: u64) -> Result<(), Fault> {
        self.with(|work, orders| match orders {
            Orders::Jets(series) => work.jets_of_function(series, func, inverse, (x, f)),
            Orders::Sweep(series, curvature) => work.push_function((series, curvature), func, inverse, (x, f)),
        })
    }

    fn jets_of_function(
        &mut self,
        series: &mut Series,
        func: TableFn,
        inverse: bool,
        (x, f): ([u64; ARITY], u64),
    ) -> Result<(), Fault> {
        let (order, info) = (self.order(), func.info());
        series.begin(self.core.env, order);
        let mut any = false;
        let mut jet = [0; MAX_ORDER];
        let jet = &mut jet[..order];
        for (n, arg) in info.args.iter().enumerate() {
            let mut varies = n < info.partials && self.carries(n + 1);
            if varies {
                self.jet(n + 1, jet);
                varies = jet.iter().any(|w| is_some(arg.ty, *w));
            }
            series.argument(arg.ty, x[n], !varies);
            if varies {
                series.coefficients_mut(n).copy_from_slice(jet);
            }
            any |= varies;
        }
        if !any {
            return Ok(());
        }
        let ty = info.ty.gradient().unwrap_or(Ty::Q);
        self.jet(0, jet);
        series.run(func, f)?;
        let overflowed = u64::from(series.overflowed());
        let mut d = self.arithmetic();
        d.overflow(overflowed)?;
        for (word, change) in jet.iter_mut().zip(series.result()) {
            *word = accumulate(&mut d, Acc::Add, inverse, ty, *word, *change)?;
        }
        jet.iter().zip(1..).for_each(|(word, k)| self.put(jet_lane(k), 0, *word));
        Ok(())
    }

    /// The number of the row of operand `n`, which is created if it has none.
    fn row_of(&mut self, curvature: &mut Curvature, n: usize) -> RowId {
        let id = self.get(SECOND, n);
        if id != 0 {
            return id;
        }
        let id = curvature.create();
        self.put(SECOND, n, id);
        id
    }

    fn push_function(
        &mut self,
        (series, curvature): (&mut Series, &mut Curvature),
        func: TableFn,
        inverse: bool,
        (x, f): ([u64; ARITY], u64),
    ) -> Result<(), Fault> {
        let info = func.info();
        let value_type = info.ty.gradient().unwrap_or(Ty::Q);
        let (gradient, z) = (self.get(GRADIENT, 0), self.get(SECOND, 0));
        let has_gradient = is_some(info.ty, gradient);
        if !has_gradient && curvature.row(z).is_empty() {
            return Ok(());
        }
        let env = self.core.env;
        series.begin(env, 2);
        for (n, arg) in info.args.iter().enumerate() {
            series.argument(arg.ty, x[n], n >= info.partials || !self.carries(n + 1));
        }
        let derivatives = series.derivatives(func, f, has_gradient)?;
        self.arithmetic().overflow(u64::from(series.overflowed()))?;
        // Gradient words change as they do without second derivatives. Two arguments may be one word.
        let arguments = info.args.iter().enumerate().take(info.partials);
        let carrying = arguments.filter(|(n, _)| self.places[n + 1] != Place::Register(0) && self.carries(n + 1));
        let carrying: Vec<(usize, Ty)> = carrying.map(|(n, a)| (n, a.ty.gradient().unwrap_or(Ty::Q))).collect();
        let mut new: Vec<(usize, u64)> = Vec::with_capacity(ARITY);
        for (n, ty) in carrying.iter().copied().filter(|(_, _)| has_gradient) {
            let earlier = new.iter().rev().find(|(m, _)| self.places[m + 1] == self.places[n + 1]);
            let old = earlier.map_or_else(|| self.get(GRADIENT, n + 1), |(_, word)| *word);
            let partial = (ty, derivatives.words[n]);
            let mut d = self.arithmetic();
            let part = share(&mut d, info.calculus(), (value_type, gradient), partial)?;
            new.push((n, accumulate(&mut d, Acc::Add, !inverse, ty, old, part)?));
        }
        new.into_iter().for_each(|(n, word)| self.put(GRADIENT, n + 1, word));
        // What is undone is the inverse of what runs.
        let sign = if inverse { 1.0 } else { -1.0 };
        let g = sign * to_f64(env, value_type, gradient);
        let (mut shares, mut second) = (Vec::with_capacity(ARITY), [[0.0; 3]; 3]);
        let live: Vec<usize> = carrying.iter().map(|(n, _)| *n).filter(|n| derivatives.matters(*n)).collect();
        for (at, &n) in live.iter().enumerate() {
            shares.push((self.row_of(curvature, n + 1), sign * derivatives.first[n]));
            live.iter().enumerate().for_each(|(bt, &m)| second[at][bt] = g * derivatives.second[n][m]);
        }
        curvature.push(z, &shares, &second);
        Ok(())
    }

    /// Runs a row that does not only move words.
    pub(crate) fn row(&mut self, change: Change, run: RunRow<'_>) -> Result<(), Fault> {
        if change.adjoint == Adjoint::Drops {
            run(self.core, false)?;
            return self.drop_row();
        }
        self.with(|work, orders| match orders {
            Orders::Jets(series) => {
                let new = work.jets_of_row(series, change)?;
                run(work.core, false)?;
                for (n, jet) in new.iter().enumerate() {
                    jet.iter().zip(1..).for_each(|(word, k)| work.put(jet_lane(k), n, *word));
                }
                Ok(())
            }
            Orders::Sweep(_, curvature) => {
                let after = work.point();
                run(work.core, true)?;
                work.push_row(curvature, change, after);
                Ok(())
            }
        })
    }

    fn drop_row(&mut self) -> Result<(), Fault> {
        let id = self.get(SECOND, 0);
        let gradient = self.get(GRADIENT, 0);
        self.with(|work, orders| {
            if let Orders::Sweep(_, curvature) = orders {
                curvature.remove(id);
                if gradient != 0 {
                    work.core.lose(work.op);
                }
                work.put(GRADIENT, 0, 0);
            }
            for k in 1..=work.order() {
                work.put(jet_lane(k), 0, 0);
            }
            Ok(())
        })
    }

    /// The new coefficients of the operands that a row changes.
    fn jets_of_row(&mut self, series: &mut Series, change: Change) -> Result<Vec<Vec<u64>>, Fault> {
        let Change { adjoint, ty, back } = change;
        let read = |work: &Work<'_>, n: usize| (1..=work.order()).map(|k| work.get(jet_lane(k), n)).collect::<Vec<_>>();
        match adjoint {
            Adjoint::Negates => {
                let mut jet = read(self, 0);
                for word in &mut jet {
                    *word = match ty {
                        Ty::Int | Ty::L => *word,
                        Ty::Q => self.arithmetic().kernel2::<fixed::Sub>(0, *word)?,
                        Ty::F => *word ^ (1 << 63),
                    };
                }
                Ok(vec![jet])
            }
            Adjoint::Scales => {
                let (mut jet, mut buffer) = (read(self, 0), read(self, 1));
                let (num, den) = self.ratio(back);
                for (word, rest) in jet.iter_mut().zip(&mut buffer) {
                    [*word, *rest] = self.arithmetic().kernel_pair::<int::Scale>([*word, *rest, num, den])?;
                }
                Ok(vec![jet, buffer])
            }
            Adjoint::Rotates => {
                let whole = |work: &Work<'_>, n: usize, value: u64| {
                    let mut all = vec![value];
                    all.extend(read(work, n));
                    all
                };
                let [a, b, angle] = self.point();
                let mut turn = Turn { a: whole(self, 0, a), b: whole(self, 1, b), angle: whole(self, 2, angle) };
                turn.run(&mut self.arithmetic(), series, ty, back)?;
                Ok(vec![turn.a.split_off(1), turn.b.split_off(1)])
            }
            Adjoint::Discrete | Adjoint::Moves | Adjoint::Drops => Ok(Vec::new()),
        }
    }

    /// The factors of a row that scales, as it scales values: both in the immediate, or in registers.
    fn ratio(&self, back: bool) -> (u64, u64) {
        const FACTOR: u64 = pendula_isa::inst::FACTOR_MAX.cast_unsigned();
        let imm = self.op.imm.cast_unsigned();
        let factor = |n: usize, constant: u64| match self.places[n] {
            Place::Nowhere => constant & FACTOR,
            Place::Register(_) | Place::Word(_) => self.get(VALUE, n),
        };
        let (num, den) = (factor(2, imm), factor(3, imm >> 14));
        if back { (den, num) } else { (num, den) }
    }

    /// The values of the first three operands; the third may be a constant.
    fn point(&self) -> [u64; 3] {
        [0, 1, 2]
            .map(|n| if self.places[n] == Place::Nowhere { self.op.imm.cast_unsigned() } else { self.get(VALUE, n) })
    }

    /// The effect of a row on second derivatives, after it has run. `after` are the operands before that: what the instruction that is
    /// undone had made of them.
    fn push_row(&mut self, curvature: &mut Curvature, change: Change, after: [u64; 3]) {
        let Change { adjoint, ty, back } = change;
        match adjoint {
            Adjoint::Negates if matches!(ty, Ty::Q | Ty::F) => curvature.scale(self.get(SECOND, 0), -1.0),
            Adjoint::Scales => {
                let (num, den) = self.ratio(back);
                curvature.scale(self.get(SECOND, 0), den as f64 / num as f64);
            }
            Adjoint::Rotates => self.push_rotation(curvature, (ty, back), after),
            Adjoint::Negates | Adjoint::Discrete | Adjoint::Moves | Adjoint::Drops => {}
        }
    }

    fn push_rotation(&mut self, curvature: &mut Curvature, (ty, back): (Ty, bool), after: [u64; 3]) {
        let env = self.core.env;
        let number = |word: u64| to_f64(env, ty, word);
        let [a, b, angle] = after.map(number);
        // A rotation leaves the lengths of gradients, so that those before it follow from those after it.
        let turn = if back { 1.0 } else { -1.0 };
        let (sin, cos) = (turn * angle).sin_cos();
        let (ga, gb) = (number(self.get(GRADIENT, 0)), number(self.get(GRADIENT, 1)));
        let (ga, gb) = (cos * ga - sin * gb, sin * ga + cos * gb);
        let jacobian = [[cos, -sin, -turn * b], [sin, cos, turn * a], [0.0, 0.0, 1.0]];
        let (by_a, by_b) = (turn * (cos * gb - sin * ga), turn * (-cos * ga - sin * gb));
        let second = [[0.0, 0.0, by_a], [0.0, 0.0, by_b], [by_a, by_b, -a * ga - b * gb]];
        let any = ga != 0.0 || gb != 0.0;
        let ids =
            [0, 1, 2].map(|n| if self.carries(n) && any { self.row_of(curvature, n) } else { self.get(SECOND, n) });
        if ids.iter().any(|id| *id != 0) {
            let ids =
                [0, 1, 2].map(|n| if self.carries(n) && ids[n] == 0 { self.row_of(curvature, n) } else { ids[n] });
            curvature.transform(ids, &jacobian, &second);
        }
    }
}

/// Whether a number of the gradient type of `ty` is not zero.
fn is_some(ty: Ty, word: u64) -> bool {
    if ty == Ty::F { word << 1 != 0 } else { word != 0 }
}

impl Machine<'_> {
    /// Has words carry jets with coefficients up to `order`, which is from 1 to [`MAX_ORDER`], in runs with tangents; all are zero.
    /// [`jet_lane`] says where they are.
    pub fn carry_jets(&mut self, order: usize) {
        self.carry_nothing_more();
        let order = order.clamp(1, MAX_ORDER);
        self.core.more = (1..order).map(|_| Lane::EMPTY).collect();
        self.core.orders = Some(Box::new(Orders::Jets(Box::default())));
        self.core.allocate(self.core.ad_mode);
    }

    /// Has a run back with gradients and tangents compute all second derivatives, instead of those along a tangent.
    pub fn carry_second_derivatives(&mut self) {
        self.carry_nothing_more();
        self.core.orders = Some(Box::new(Orders::Sweep(Box::default(), Curvature::default())));
    }

    /// Ends what the two methods above began.
    pub fn carry_nothing_more(&mut self) {
        self.drop_planned_run();
        self.core.more = Vec::new();
        self.core.orders = None;
    }

    /// The second derivatives that are not zero, after a run with [`Machine::carry_second_derivatives`]: for pairs of these cells, as
    /// indices, the first of which is not the greater.
    pub fn second_derivatives(&self, cells: &[Cell]) -> Vec<(usize, usize, f64)> {
        let Some(Orders::Sweep(_, curvature)) = self.core.orders.as_deref() else { return Vec::new() };
        let mut ids: Vec<(RowId, usize)> = cells.iter().enumerate().map(|(n, c)| (self.get(SECOND, *c), n)).collect();
        ids.retain(|(id, _)| *id != 0);
        ids.sort_unstable();
        let mut out = Vec::new();
        for &(id, i) in &ids {
            for &(column, x) in curvature.row(id) {
                let first = ids.partition_point(|e| e.0 < column);
                let same = ids[first..].iter().take_while(|e| e.0 == column);
                out.extend(same.filter(|(_, j)| i <= *j).map(|&(_, j)| (i, j, x)));
            }
        }
        out.sort_by_key(|e| (e.0, e.1));
        out
    }
}
