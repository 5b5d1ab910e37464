//! Real arithmetic by functions of the table. Partial derivatives are written in it, so that they can be differentiated again.
//!
//! Any [`Domain`] computes with plain words; [`Dual`] computes with dual numbers over any domain, with tangents from the partial
//! derivatives of the table. The effects of instructions on gradient words are in [`adjoint`](crate::adjoint).

use std::marker::PhantomData;

use crate::arith::Arith;
use crate::domain::Domain;
use crate::num::{Env, convert, log};
use crate::table::{ARITY, Function, FunctionInfo, FunctionVisitor, TableFn, accumulate, f_fn, q_fn};
use crate::types::{Acc, Cond, Ty};

/// A constant of the table's partial derivatives, in units of 2^-64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant(i128);

impl Constant {
    /// 0.
    pub const ZERO: Constant = Constant(0);
    /// 1.
    pub const ONE: Constant = Constant(1 << 64);
    /// −1.
    pub const MINUS_ONE: Constant = Constant(-1 << 64);
    /// 1/2.
    pub const HALF: Constant = Constant(1 << 63);
    /// log2 e.
    pub const LOG2_E: Constant = Constant(0x1_7154_7652_b82f_e177);

    /// ln 2.
    pub const LN_2: Constant = Constant(0xb172_17f7_d1cf_79ac);
    /// 2/√π.
    pub const TWO_OVER_ROOT_PI: Constant = Constant(0x1_20dd_7504_29b6_d11b);
    /// −2/√π.
    pub const MINUS_TWO_OVER_ROOT_PI: Constant = Constant(-0x1_20dd_7504_29b6_d11b);

    /// The constant as a word of a type, rounded to the nearest; as an integer, rounded down.
    pub fn word(self, env: Env, ty: Ty) -> u64 {
        match ty {
            Ty::Q => {
                let shift = 64 - env.format.frac();
                ((self.0 + (1 << (shift - 1))) >> shift) as u64
            }
            Ty::F => self.float(),
            // All constants are in its range.
            Ty::L => convert::f_to_l(env, self.float()).unwrap_or(log::ONE),
            Ty::Int => (self.0 >> 64) as u64,
        }
    }

    fn float(self) -> u64 {
        (self.0 as f64 / 18_446_744_073_709_551_616.0).to_bits()
    }
}

impl Ty {
    /// The type of the gradient word of a word of this type. For a logarithmic number, that is the derivative with respect to the
    /// logarithm of its magnitude, a fixed-point number; an integer has none.
    pub const fn gradient(self) -> Option<Ty> {
        match self {
            Ty::Int => None,
            Ty::Q | Ty::L => Some(Ty::Q),
            Ty::F => Some(Ty::F),
        }
    }
}

/// An arithmetic in which partial derivatives can be computed.
pub trait Calculus {
    /// The representation of a number.
    type V: Copy;
    /// The error that stops a computation.
    type Stop;

    /// The value of a function of the table.
    fn apply<F: Function>(&mut self, x: [Self::V; ARITY]) -> Result<Self::V, Self::Stop>;
    /// A constant of this type.
    fn constant(&mut self, ty: Ty, c: Constant) -> Self::V;
    /// The integer `n + k`.
    fn offset(&mut self, n: Self::V, k: i64) -> Self::V;
    /// `then` if `a ≤ b` as numbers of this type, else `other`.
    fn if_le(&mut self, ty: Ty, a: Self::V, b: Self::V, then: Self::V, other: Self::V) -> Result<Self::V, Self::Stop>;

    /// `then` if `a = b` as numbers of this type, else `other`.
    fn if_eq(&mut self, ty: Ty, a: Self::V, b: Self::V, then: Self::V, other: Self::V) -> Result<Self::V, Self::Stop> {
        let below = self.if_le(ty, a, b, then, other)?;
        self.if_le(ty, b, a, below, other)
    }

    /// The first constant if `a ≤ b` as numbers of this type, else the second.
    fn choose(&mut self, ty: Ty, a: Self::V, b: Self::V, c: [Constant; 2]) -> Result<Self::V, Self::Stop> {
        let [then, other] = c.map(|c| self.constant(ty, c));
        self.if_le(ty, a, b, then, other)
    }

    /// A function of one argument.
    fn of1<F: Function>(&mut self, a: Self::V) -> Result<Self::V, Self::Stop> {
        self.apply::<F>([a; ARITY])
    }

    /// A function of two arguments.
    fn of2<F: Function>(&mut self, a: Self::V, b: Self::V) -> Result<Self::V, Self::Stop> {
        self.apply::<F>([a, b, b])
    }

    /// A function of three arguments.
    fn of3<F: Function>(&mut self, a: Self::V, b: Self::V, c: Self::V) -> Result<Self::V, Self::Stop> {
        self.apply::<F>([a, b, c])
    }

    /// The product of a constant and a number, by the function `Mul` of the table.
    fn times<Mul: Function>(&mut self, ty: Ty, c: Constant, a: Self::V) -> Result<Self::V, Self::Stop> {
        let c = self.constant(ty, c);
        self.of2::<Mul>(c, a)
    }
}

impl<D: Domain> Calculus for D {
    type V = D::V;
    type Stop = D::Stop;

    #[inline(always)]
    fn apply<F: Function>(&mut self, x: [D::V; ARITY]) -> Result<D::V, D::Stop> {
        F::value(self, x)
    }

    #[inline(always)]
    fn constant(&mut self, ty: Ty, c: Constant) -> D::V {
        let word = c.word(self.env(), ty);
        self.word(word)
    }

    #[inline(always)]
    fn offset(&mut self, n: D::V, k: i64) -> D::V {
        let k = self.word(k.cast_unsigned());
        self.add(n, k)
    }

    #[inline(always)]
    fn if_le(&mut self, ty: Ty, a: D::V, b: D::V, then: D::V, other: D::V) -> Result<D::V, D::Stop> {
        let c = self.compare(Cond::Le, ty, a, b)?;
        Ok(self.select(c, then, other))
    }
}

/// Dual numbers over a domain: a value and a tangent, which is a number of the value's gradient type.
pub struct Dual<'a, D>(pub &'a mut D);

impl<D: Domain> Calculus for Dual<'_, D> {
    type V = [D::V; 2];
    type Stop = D::Stop;

    fn apply<F: Function>(&mut self, x: [[D::V; 2]; ARITY]) -> Result<[D::V; 2], D::Stop> {
        apply_to_dual(self.0, FunctionOver::<D>::of::<F>(), x)
    }

    fn constant(&mut self, ty: Ty, c: Constant) -> [D::V; 2] {
        [self.0.constant(ty, c), self.0.word(0)]
    }

    fn offset(&mut self, n: [D::V; 2], k: i64) -> [D::V; 2] {
        [self.0.offset(n[0], k), n[1]]
    }

    fn if_le(
        &mut self,
        ty: Ty,
        a: [D::V; 2],
        b: [D::V; 2],
        then: [D::V; 2],
        other: [D::V; 2],
    ) -> Result<[D::V; 2], D::Stop> {
        let c = self.0.compare(Cond::Le, ty, a[0], b[0])?;
        Ok([self.0.select(c, then[0], other[0]), self.0.select(c, then[1], other[1])])
    }
}

/// A function of the table over a domain, as a value: what takes it is compiled once for each domain, not once for each function.
pub struct FunctionOver<D: Domain> {
    /// The row.
    pub info: &'static FunctionInfo,
    /// [`Function::value`].
    pub value: Value<D>,
    /// [`Function::partial`].
    pub partial: Partial<D>,
}

/// The value of a function over a domain.
pub type Value<D> = fn(&mut D, [<D as Arith>::V; ARITY]) -> Result<<D as Arith>::V, <D as Arith>::Stop>;

/// The partial derivative of a function over a domain with respect to an argument.
pub type Partial<D> =
    fn(&mut D, usize, [<D as Arith>::V; ARITY], <D as Arith>::V) -> Result<<D as Arith>::V, <D as Arith>::Stop>;

impl<D: Domain> Clone for FunctionOver<D> {
    fn clone(&self) -> FunctionOver<D> {
        *self
    }
}

impl<D: Domain> Copy for FunctionOver<D> {}

impl<D: Domain> FunctionOver<D> {
    /// The function `F`.
    pub fn of<F: Function>() -> FunctionOver<D> {
        FunctionOver { info: const { &F::INFO }, value: F::value::<D>, partial: F::partial::<D> }
    }

    /// A function by its name.
    pub fn new(function: TableFn) -> FunctionOver<D> {
        struct Of<D>(PhantomData<D>);
        impl<D: Domain> FunctionVisitor for Of<D> {
            type Out = FunctionOver<D>;
            fn visit<F: Function>(self) -> FunctionOver<D> {
                FunctionOver::of::<F>()
            }
        }
        function.visit(Of(PhantomData))
    }
}

/// A function of the table over a domain, and its partial derivatives over dual numbers, as a value.
pub struct SecondOrderFunction<D: Domain> {
    pub(crate) function: FunctionOver<D>,
    pub(crate) dual_partial: DualPartial<D>,
}

type DualPartial<D> = fn(
    &mut D,
    usize,
    [[<D as Arith>::V; 2]; ARITY],
    [<D as Arith>::V; 2],
) -> Result<[<D as Arith>::V; 2], <D as Arith>::Stop>;

impl<D: Domain> SecondOrderFunction<D> {
    /// The function `F`.
    pub fn of<F: Function>() -> SecondOrderFunction<D> {
        SecondOrderFunction {
            function: FunctionOver::of::<F>(),
            dual_partial: |d, n, x, y| F::partial(&mut Dual(d), n, x, y),
        }
    }

    /// A function by its name.
    pub fn new(function: TableFn) -> SecondOrderFunction<D> {
        struct Of<D>(PhantomData<D>);
        impl<D: Domain> FunctionVisitor for Of<D> {
            type Out = SecondOrderFunction<D>;
            fn visit<F: Function>(self) -> SecondOrderFunction<D> {
                SecondOrderFunction::of::<F>()
            }
        }
        function.visit(Of(PhantomData))
    }
}

/// The value of a function of dual numbers, and its tangent.
pub(crate) fn apply_to_dual<D: Domain>(
    d: &mut D,
    f: FunctionOver<D>,
    x: [[D::V; 2]; ARITY],
) -> Result<[D::V; 2], D::Stop> {
    let [[a, _], [b, _], [c, _]] = x;
    let values = [a, b, c];
    let y = (f.value)(d, values)?;
    let mut t = d.word(0);
    for (n, [_, tangent]) in x.into_iter().enumerate().take(f.info.partials) {
        t = push_one(d, f, n, t, tangent, values, y)?;
    }
    Ok([y, t])
}

/// Converts a number between additive types.
#[inline(always)]
fn convert<D: Domain>(d: &mut D, from: Ty, to: Ty, x: D::V) -> Result<D::V, D::Stop> {
    match (from, to) {
        (Ty::Q, Ty::F) => d.of1::<f_fn::CvtQ>(x),
        (Ty::F, Ty::Q) => d.of1::<q_fn::CvtF>(x),
        // Gradient words have no other types.
        (Ty::Q | Ty::F | Ty::Int | Ty::L, _) => Ok(x),
    }
}

/// The product of two numbers of an additive type.
#[inline(always)]
pub(crate) fn product<D: Domain>(d: &mut D, ty: Ty, a: D::V, b: D::V) -> Result<D::V, D::Stop> {
    match ty {
        Ty::F => d.of2::<f_fn::Mul>(a, b),
        Ty::Q | Ty::Int | Ty::L => d.of2::<q_fn::Mul>(a, b),
    }
}

/// The type of the gradient word of a number of a type; fixed point for an integer, which has none.
const fn gradient_type(ty: Ty) -> Ty {
    match ty.gradient() {
        Some(ty) => ty,
        None => Ty::Q,
    }
}

impl FunctionInfo {
    /// The type of the gradient word of argument `n`.
    pub(crate) const fn argument_gradient(&self, n: usize) -> Ty {
        gradient_type(self.args[n].ty)
    }

    /// The type of the gradient word of the value.
    pub(crate) const fn value_gradient(&self) -> Ty {
        gradient_type(self.ty)
    }
}

/// A word that is zero if and only if this number of an additive type is zero, including −0.0.
#[inline(always)]
pub(crate) fn some<D: Domain>(d: &mut D, ty: Ty, x: D::V) -> D::V {
    match ty {
        Ty::F => {
            let one = d.word(1);
            d.shl(x, one)
        }
        Ty::Q | Ty::Int | Ty::L => x,
    }
}

/// Adds the contribution of argument `n` to a function's tangent `sum`: the argument's tangent times the partial derivative. If the
/// tangent is zero, the partial derivative is not computed and cannot trap.
pub(crate) fn push_one<D: Domain>(
    d: &mut D,
    f: FunctionOver<D>,
    n: usize,
    sum: D::V,
    tangent: D::V,
    x: [D::V; ARITY],
    y: D::V,
) -> Result<D::V, D::Stop> {
    let (argument, value) = (f.info.argument_gradient(n), f.info.value_gradient());
    let any = some(d, argument, tangent);
    d.guarded(any, sum, |d| {
        let calculus = f.info.calculus();
        let p = (f.partial)(d, n, x, y)?;
        let t = convert(d, argument, calculus, tangent)?;
        let term = product(d, calculus, p, t)?;
        let term = convert(d, calculus, value, term)?;
        accumulate(d, Acc::Add, false, value, sum, term)
    })
}

/// The contribution of the gradient word `g` of a function's value to the gradient word of argument `n`: the partial derivative times `g`.
#[inline(always)]
pub(crate) fn pull<D: Domain>(
    d: &mut D,
    f: &'static FunctionInfo,
    n: usize,
    partial: D::V,
    g: D::V,
) -> Result<D::V, D::Stop> {
    share(d, f.calculus(), (f.value_gradient(), g), (f.argument_gradient(n), partial))
}

/// The product of a partial derivative, which is of the type `calculus`, and a gradient word, as a gradient word of the argument. The
/// types are those of the value's and of the argument's gradient word.
#[inline(always)]
pub fn share<D: Domain>(
    d: &mut D,
    calculus: Ty,
    (value, g): (Ty, D::V),
    (argument, partial): (Ty, D::V),
) -> Result<D::V, D::Stop> {
    let g = convert(d, value, calculus, g)?;
    let term = product(d, calculus, partial, g)?;
    convert(d, calculus, argument, term)
}
