//! The effects of instructions on the words that values carry with them: gradient words and tangents. There is one rule for all
//! accumulates, which uses the partial derivatives of the table, and one for each [`Adjoint`] of the other rows.
//!
//! A value has up to three companion words, in *lanes*:
//!
//! | AD mode | lane 1 | lane 2 | lane 3 |
//! |---|---|---|---|
//! | [`AdMode::Gradient`] | gradient g(x) | | |
//! | [`AdMode::Tangent`] | | tangent t(x) | |
//! | [`AdMode::GradientTangent`] | gradient | tangent | tangent of the gradient |
//! | [`AdMode::SecondGradient`] | gradient | second gradient G(x) | second gradient G(g(x)) of the gradient |
//!
//! Rules apply to the *effective* instruction, which takes the direction of the run into account. The inverse instruction also undoes the
//! effects on lanes: bit for bit for fixed-point gradients, since each lane's word changes by an amount that depends on other words only.
//!
//! Level 2 needs no separate rule for accumulates. At level 1, `y −= f(x)` is the program `y −= f(x); g(x) += g(y)·f′(x)`. Its adjoint
//! adds G(y)·f′(x) − g(y)·f″(x)·G(g(x)) to G(x) and subtracts G(g(x))·f′(x) from G(g(y)): the lane G(g(·)) changes as a tangent does,
//! and f″ is the tangent of f′ along it, computed by [`Dual`](crate::calculus::Dual).

mod rotation;

use crate::calculus::{FunctionOver, SecondOrderFunction, apply_to_dual, pull, push_one, some};
use crate::domain::Domain;
use crate::fault::Fault;
use crate::kernels::{fixed, int};
use crate::table::{self, ARITY, Adjoint, Function, FunctionInfo, Instruction, TableFn, Variant, accumulate};
use crate::types::{Acc, Ty};

/// The value's own lane.
pub const VALUE: usize = 0;
/// The gradient's lane.
pub const GRADIENT: usize = 1;
/// The lane of the tangent, or of the second gradient.
pub const SECOND: usize = 2;
/// The lane of the gradient's tangent, or of its second gradient.
pub const MIXED: usize = 3;
/// The number of lanes.
pub const LANES: usize = 4;

/// The number of tangents, each along a direction of its own, that code for whole runs carries at once.
pub const TANGENTS: usize = 8;

/// The arguments of a program that are independent variables, with respect to which it is differentiated, and those that are
/// dependent variables, which are differentiated: one bit for each argument. The last bit stands for all further ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ActiveArguments {
    /// The independent variables.
    pub independent: u64,
    /// The dependent variables.
    pub dependent: u64,
}

impl ActiveArguments {
    /// Every argument is both.
    pub const ALL: ActiveArguments = ActiveArguments { independent: u64::MAX, dependent: u64::MAX };

    /// The bit of an argument.
    pub const fn bit(argument: usize) -> u64 {
        1 << if argument < 63 { argument } else { 63 }
    }

    /// Whether an argument is an independent variable.
    pub const fn is_independent(self, argument: usize) -> bool {
        self.independent & ActiveArguments::bit(argument) != 0
    }

    /// Whether an argument is a dependent variable.
    pub const fn is_dependent(self, argument: usize) -> bool {
        self.dependent & ActiveArguments::bit(argument) != 0
    }
}

/// The AD mode: what values carry with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AdMode {
    /// Nothing: gradient level 0.
    Plain,
    /// Gradient words: level 1.
    Gradient,
    /// Gradient words of values and of their gradient words: level 2.
    SecondGradient,
    /// FunctionOver, at level 0: the program over dual numbers.
    Tangent,
    /// Gradient words and the tangents of both: the program over dual numbers at level 1.
    GradientTangent,
}

impl AdMode {
    /// Every AD mode.
    pub const ALL: [AdMode; 5] =
        [AdMode::Plain, AdMode::Gradient, AdMode::SecondGradient, AdMode::Tangent, AdMode::GradientTangent];

    /// The gradient level.
    pub const fn level(self) -> u8 {
        match self {
            AdMode::Plain | AdMode::Tangent => 0,
            AdMode::Gradient | AdMode::GradientTangent => 1,
            AdMode::SecondGradient => 2,
        }
    }

    /// Whether words carry tangents.
    pub const fn has_tangents(self) -> bool {
        matches!(self, AdMode::Tangent | AdMode::GradientTangent)
    }

    /// The AD mode of this level, with or without tangents; `None` if there is none.
    pub const fn new(level: u8, tangents: bool) -> Option<AdMode> {
        match (level, tangents) {
            (0, false) => Some(AdMode::Plain),
            (0, true) => Some(AdMode::Tangent),
            (1, false) => Some(AdMode::Gradient),
            (1, true) => Some(AdMode::GradientTangent),
            (2, false) => Some(AdMode::SecondGradient),
            _ => None,
        }
    }

    /// The AD mode without gradient words.
    pub const fn without_gradients(self) -> AdMode {
        if self.has_tangents() { AdMode::Tangent } else { AdMode::Plain }
    }

    /// The lanes in use beside the value's.
    pub const fn lanes(self) -> &'static [usize] {
        match self {
            AdMode::Plain => &[],
            AdMode::Gradient => &[GRADIENT],
            AdMode::Tangent => &[SECOND],
            AdMode::SecondGradient | AdMode::GradientTangent => &[GRADIENT, SECOND, MIXED],
        }
    }

    /// The lane of the gradient words of the words in `lane`, one gradient level higher; `None` if there is no higher level.
    pub const fn gradient_of(self, lane: usize) -> Option<usize> {
        match self {
            AdMode::Plain | AdMode::Tangent => Some(lane + GRADIENT),
            AdMode::Gradient => Some(lane + SECOND),
            AdMode::SecondGradient | AdMode::GradientTangent => None,
        }
    }
}

/// A domain whose words have lanes.
pub trait Carrier: Domain {
    /// Whether operand `n` has lanes: a register or a memory word, not a constant. Writes to lanes of `r0` have no effect.
    fn carries(&self, n: usize) -> bool;
    /// Whether two operands with lanes are the same word.
    fn same(&self, n: usize, m: usize) -> bool;
    /// The word in a lane of operand `n`. Only after [`Domain::operand`] of the same `n`.
    fn lane(&mut self, lane: usize, n: usize) -> Self::V;
    /// Writes the word in a lane of operand `n`.
    fn set_lane(&mut self, lane: usize, n: usize, v: Self::V);
    /// Runs `f` if the word `c` is not zero.
    fn when(&mut self, c: Self::V, f: impl FnOnce(&mut Self) -> Result<(), Self::Stop>) -> Result<(), Self::Stop>;
    /// Runs a row's body (`back`: its inverse) on the operands, the memory and the tapes of a lane, without checks. The stack pointer is `sp`
    /// and stays unchanged. Only after the body has run on the values.
    fn run_lane<I: Instruction>(&mut self, lane: usize, back: bool, v: Variant, sp: Self::V) -> Result<(), Self::Stop>;
    /// Clears the words in all lanes of operand `n` except the value.
    fn drop_lanes(&mut self, n: usize);
    /// Marks the following computations as for lanes beside the value's, or, if `on` is false, for the value again. Overflow is noted
    /// separately for each.
    fn derive(&mut self, on: bool) {
        let _ = on;
    }
    /// Whether words carry more than the lanes of an AD mode with tangents hold: the coefficients of jets, or all second derivatives. Then
    /// the methods below do what the rules for tangents do otherwise.
    fn has_orders(&self) -> bool {
        false
    }
    /// Further lanes, which move as the tangent does: the coefficients of jets from the second on.
    fn more_lanes(&self) -> std::ops::Range<usize> {
        0..0
    }
    /// The effect of an accumulate on these, given the arguments and the function's value.
    fn carry_function(&mut self, _: TableFn, _: bool, _: [Self::V; ARITY], _: Self::V) -> Result<(), Self::Stop> {
        Err(self.missing(Fault::GradientLevel))
    }
    /// Runs a row that does not only move words, with its effect on these; with `back`, its inverse.
    fn carry_row<I: Instruction>(&mut self, _back: bool, _: Variant) -> Result<(), Self::Stop> {
        Err(self.missing(Fault::GradientLevel))
    }
}

/// Runs an accumulate instruction with its effects on the lanes.
pub fn run_accumulate<D: Carrier>(
    d: &mut D,
    f: &SecondOrderFunction<D>,
    ad_mode: AdMode,
    acc: Acc,
    inverse: bool,
) -> Result<(), D::Stop> {
    let of = f.function;
    run_and_carry(d, of.info, of.value, ad_mode != AdMode::Plain, acc, inverse, |d, x, y| match ad_mode {
        _ if ad_mode.has_tangents() && d.has_orders() => d.carry_function(of.info.func, inverse, x, y),
        AdMode::Plain => Ok(()),
        AdMode::Gradient => gradient(d, of.info, of.partial, inverse, x, y),
        AdMode::Tangent => {
            let t = tangent(d, of, SECOND, inverse, x, y)?;
            d.set_lane(SECOND, 0, t);
            Ok(())
        }
        AdMode::GradientTangent => second_order(d, f, [SECOND, MIXED], false, inverse, x, y),
        AdMode::SecondGradient => second_order(d, f, [MIXED, SECOND], true, inverse, x, y),
    })
}

/// The same without tangents and second derivatives: plain, or with gradients.
pub fn run_accumulate_first_order<D: Carrier>(
    d: &mut D,
    f: FunctionOver<D>,
    gradients: bool,
    acc: Acc,
    inverse: bool,
) -> Result<(), D::Stop> {
    run_and_carry(d, f.info, f.value, gradients, acc, inverse, |d, x, y| gradient(d, f.info, f.partial, inverse, x, y))
}

/// The same with gradients, compiled for the function `F` alone, which takes long to compile and a short time to run.
#[inline(always)]
pub fn run_accumulate_with_gradients<D: Carrier, F: Function>(
    d: &mut D,
    acc: Acc,
    inverse: bool,
) -> Result<(), D::Stop> {
    run_and_carry(d, const { &F::INFO }, F::value, true, acc, inverse, |d, x, y| {
        gradient(d, const { &F::INFO }, F::partial, inverse, x, y)
    })
}

/// Runs an accumulate on the values and, if there are lanes that it affects, `carry` on them, with the arguments and the function's value.
#[inline(always)]
fn run_and_carry<D: Carrier>(
    d: &mut D,
    info: &'static FunctionInfo,
    value: impl FnOnce(&mut D, [D::V; ARITY]) -> Result<D::V, D::Stop>,
    lanes: bool,
    acc: Acc,
    inverse: bool,
    carry: impl FnOnce(&mut D, [D::V; ARITY], D::V) -> Result<(), D::Stop>,
) -> Result<(), D::Stop> {
    let y = d.operand(0)?;
    let x = table::arguments(d, info)?;
    let f = value(d, x)?;
    let z = accumulate(d, acc, inverse, info.ty, y, f)?;
    if info.partials > 0 && !acc.self_inverse() && lanes {
        d.derive(true);
        carry(d, x, f)?;
        d.derive(false);
    }
    d.set(0, z)
}

/// `g(x_i) ±= g(y)·∂f/∂x_i`: added if f is effectively subtracted from y.
#[inline(always)]
fn gradient<D: Carrier>(
    d: &mut D,
    info: &'static FunctionInfo,
    partial: impl Fn(&mut D, usize, [D::V; ARITY], D::V) -> Result<D::V, D::Stop>,
    inverse: bool,
    x: [D::V; ARITY],
    f: D::V,
) -> Result<(), D::Stop> {
    let gy = d.lane(GRADIENT, 0);
    let any = some(d, info.value_gradient(), gy);
    d.when(any, |d| {
        let mut new = [gy; ARITY];
        for n in 0..info.partials {
            if d.carries(n + 1) {
                let p = partial(d, n, x, f)?;
                let share = pull(d, info, n, p, gy)?;
                let old = current(d, GRADIENT, n, &new);
                new[n] = accumulate(d, Acc::Add, !inverse, info.argument_gradient(n), old, share)?;
            }
        }
        write(d, info, GRADIENT, &new);
        Ok(())
    })
}

/// The word in a lane of argument `n` after the updates of earlier arguments, which may be the same word.
#[inline(always)]
fn current<D: Carrier>(d: &mut D, lane: usize, n: usize, new: &[D::V; ARITY]) -> D::V {
    for m in (0..n).rev() {
        if d.carries(m + 1) && d.same(m + 1, n + 1) {
            return new[m];
        }
    }
    d.lane(lane, n + 1)
}

#[inline(always)]
fn write<D: Carrier>(d: &mut D, info: &'static FunctionInfo, lane: usize, new: &[D::V; ARITY]) {
    for (n, &word) in new.iter().enumerate().take(info.partials) {
        if d.carries(n + 1) {
            d.set_lane(lane, n + 1, word);
        }
    }
}

/// The words in a lane of the arguments; zero for constants.
fn directions<D: Carrier>(d: &mut D, info: &'static FunctionInfo, lane: usize) -> [D::V; ARITY] {
    let zero = d.word(0);
    let mut v = [zero; ARITY];
    for (n, v) in v.iter_mut().enumerate().take(info.partials) {
        if d.carries(n + 1) {
            *v = d.lane(lane, n + 1);
        }
    }
    v
}

/// The new tangent of y: `t(y) ±= Σ ∂f/∂x_i·t(x_i)`.
fn tangent<D: Carrier>(
    d: &mut D,
    f: FunctionOver<D>,
    lane: usize,
    inverse: bool,
    x: [D::V; ARITY],
    y: D::V,
) -> Result<D::V, D::Stop> {
    let v = directions(d, f.info, lane);
    let mut t = d.word(0);
    for (n, v) in v.into_iter().enumerate().take(f.info.partials) {
        t = push_one(d, f, n, t, v, x, y)?;
    }
    let old = d.lane(lane, 0);
    accumulate(d, Acc::Add, inverse, f.info.value_gradient(), old, t)
}

/// Gradients with a direction in the lane `along`. The gradient's lane changes as at level 1, and `along` as a tangent. The lane `second`
/// changes by `second(y)·∂f/∂x_i ± g(y)·(the derivative of ∂f/∂x_i in the direction)`.
fn second_order<D: Carrier>(
    d: &mut D,
    f: &SecondOrderFunction<D>,
    [along, second]: [usize; 2],
    minus: bool,
    inverse: bool,
    x: [D::V; ARITY],
    y: D::V,
) -> Result<(), D::Stop> {
    let info = f.function.info;
    let t = tangent(d, f.function, along, inverse, x, y)?;
    let (gy, sy) = (d.lane(GRADIENT, 0), d.lane(second, 0));
    let any = d.or(gy, sy);
    let any = some(d, info.value_gradient(), any);
    d.when(any, |d| {
        let v = directions(d, info, along);
        let dual = [[x[0], v[0]], [x[1], v[1]], [x[2], v[2]]];
        let y = apply_to_dual(d, f.function, dual)?;
        let (mut first, mut other) = ([gy; ARITY], [sy; ARITY]);
        for n in 0..info.partials {
            if d.carries(n + 1) {
                let ty = info.argument_gradient(n);
                let [p, dp] = (f.dual_partial)(d, n, dual, y)?;
                let share = pull(d, info, n, p, gy)?;
                let old = current(d, GRADIENT, n, &first);
                first[n] = accumulate(d, Acc::Add, !inverse, ty, old, share)?;
                let (a, b) = (pull(d, info, n, p, sy)?, pull(d, info, n, dp, gy)?);
                let share = accumulate(d, Acc::Add, minus, ty, a, b)?;
                let old = current(d, second, n, &other);
                other[n] = accumulate(d, Acc::Add, !inverse, ty, old, share)?;
            }
        }
        write(d, info, GRADIENT, &first);
        write(d, info, second, &other);
        Ok(())
    })?;
    d.set_lane(along, 0, t);
    Ok(())
}

/// Runs an instruction other than an accumulate with its effects on the lanes; with `back`, its inverse.
#[inline(always)]
pub fn run_row<D: Carrier, I: Instruction>(d: &mut D, ad_mode: AdMode, back: bool, v: Variant) -> Result<(), D::Stop> {
    // Each row is compiled with the code of its own kind only.
    macro_rules! only {
        ($kind:ident, $run:expr) => {
            if const { matches!(I::INFO.adjoint, Adjoint::$kind) } { $run } else { Ok(()) }
        };
    }
    let has_orders = ad_mode.has_tangents() && d.has_orders();
    match I::INFO.adjoint {
        Adjoint::Discrete => values::<D, I>(d, back, v),
        Adjoint::Moves => only!(Moves, moves::<D, I>(d, (ad_mode, has_orders), back, v)),
        Adjoint::Negates | Adjoint::Rotates | Adjoint::Scales | Adjoint::Drops if has_orders => {
            d.carry_row::<I>(back, v)
        }
        Adjoint::Negates => only!(Negates, negates::<D, I>(d, ad_mode, back, v)),
        Adjoint::Rotates => only!(Rotates, rotation::rotate(d, ad_mode, v.ty, back)),
        Adjoint::Scales => only!(Scales, scales::<D, I>(d, ad_mode, back, v)),
        Adjoint::Drops => only!(Drops, {
            values::<D, I>(d, back, v)?;
            d.drop_lanes(0);
            Ok(())
        }),
    }
}

/// The instruction on the values.
#[inline(always)]
fn values<D: Carrier, I: Instruction>(d: &mut D, back: bool, v: Variant) -> Result<(), D::Stop> {
    if back { I::undo(d, v) } else { I::run(d, v) }
}

#[inline(always)]
fn moves<D: Carrier, I: Instruction>(
    d: &mut D,
    (ad_mode, has_orders): (AdMode, bool),
    back: bool,
    v: Variant,
) -> Result<(), D::Stop> {
    let sp = d.sp();
    values::<D, I>(d, back, v)?;
    for &lane in ad_mode.lanes() {
        d.run_lane::<I>(lane, back, v, sp)?;
    }
    if has_orders {
        for lane in d.more_lanes() {
            d.run_lane::<I>(lane, back, v, sp)?;
        }
    }
    Ok(())
}

#[inline(always)]
fn negates<D: Carrier, I: Instruction>(d: &mut D, ad_mode: AdMode, back: bool, v: Variant) -> Result<(), D::Stop> {
    let mut new = [d.operand(0)?; LANES];
    d.derive(true);
    for &lane in ad_mode.lanes() {
        let g = d.lane(lane, 0);
        new[lane] = match v.ty {
            Ty::Int | Ty::L => g,
            Ty::Q => {
                let zero = d.word(0);
                d.kernel2::<fixed::Sub>(zero, g)?
            }
            Ty::F => {
                let sign = d.word(1 << 63);
                d.xor(g, sign)
            }
        };
    }
    d.derive(false);
    values::<D, I>(d, back, v)?;
    for &lane in ad_mode.lanes() {
        d.set_lane(lane, 0, new[lane]);
    }
    Ok(())
}

#[inline(always)]
fn scales<D: Carrier, I: Instruction>(d: &mut D, ad_mode: AdMode, back: bool, v: Variant) -> Result<(), D::Stop> {
    let (num, den) = (d.operand(2)?, d.operand(3)?);
    let mut new = [[num; 2]; LANES];
    for &lane in ad_mode.lanes() {
        let _ = (d.operand(0)?, d.operand(1)?);
        let (x, buf) = (d.lane(lane, 0), d.lane(lane, 1));
        // A gradient is scaled by the inverse ratio, the gradient of a gradient as the value is.
        let as_value = match ad_mode {
            AdMode::Tangent | AdMode::GradientTangent => lane == SECOND,
            AdMode::Plain | AdMode::Gradient | AdMode::SecondGradient => lane == MIXED,
        };
        let (num, den) = if as_value == back { (den, num) } else { (num, den) };
        new[lane] = d.kernel_pair::<int::Scale>([x, buf, num, den])?;
    }
    values::<D, I>(d, back, v)?;
    for &lane in ad_mode.lanes() {
        d.set_lane(lane, 0, new[lane][0]);
        d.set_lane(lane, 1, new[lane][1]);
    }
    Ok(())
}
