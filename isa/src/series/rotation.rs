//! Jets of points that are turned.

use super::Series;
use crate::calculus::product;
use crate::domain::Domain;
use crate::fault::Fault;
use crate::table::{self, TableFn, accumulate, f_fn, q_fn};
use crate::types::{Acc, Ty};

/// A point and the angle by which it is turned: their values, and their coefficients from the first on.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// The first coordinate.
    pub a: Vec<u64>,
    /// The second coordinate.
    pub b: Vec<u64>,
    /// The angle.
    pub angle: Vec<u64>,
}

impl Turn {
    /// Turns the point by the angle; `back` turns it back, and undoes the effect on fixed-point numbers to the last bit.
    ///
    /// The angle is θ₀ + δ(t). Each coefficient is turned by θ₀, as the values are, and the jet by δ(t): coefficient k changes by an
    /// amount that depends on lower coefficients only.
    ///
    /// # Errors
    /// A coefficient does not fit.
    pub fn run<D: Domain<V = u64, Stop = Fault>>(
        &mut self,
        d: &mut D,
        series: &mut Series,
        ty: Ty,
        back: bool,
    ) -> Result<(), Fault> {
        let order = self.a.len() - 1;
        let varies = self.angle[1..].iter().any(|w| *w != 0 && !(ty == Ty::F && *w << 1 == 0));
        let one = if ty == Ty::F { 1f64.to_bits() } else { 1 << d.env().format.frac() };
        let mut of = |name: (TableFn, TableFn), value: u64, series: &mut Series| -> Result<Vec<u64>, Fault> {
            series.begin(d.env(), order);
            series.argument(ty, 0, false);
            series.coefficients_mut(0).copy_from_slice(&self.angle[1..]);
            let out = series.run(if ty == Ty::F { name.1 } else { name.0 }, value)?.to_vec();
            d.overflow(u64::from(series.overflowed()))?;
            Ok(out)
        };
        let (mut cos, mut sin) = (Vec::new(), Vec::new());
        if varies {
            cos = of((TableFn::Q(q_fn::Name::Cos), TableFn::F(f_fn::Name::Cos)), one, series)?;
            sin = of((TableFn::Q(q_fn::Name::Sin), TableFn::F(f_fn::Name::Sin)), 0, series)?;
        }
        if back && varies {
            (1..=order).try_for_each(|k| self.along(d, ty, true, k, (&cos, &sin)))?;
        }
        for k in 0..=order {
            [self.a[k], self.b[k]] = table::rotate(d, ty, back, [self.a[k], self.b[k], self.angle[0]])?;
        }
        if !back && varies {
            (1..=order).rev().try_for_each(|k| self.along(d, ty, false, k, (&cos, &sin)))?;
        }
        Ok(())
    }

    /// Adds to coefficients `k` what turning by δ(t) makes of the lower ones, or subtracts it.
    fn along<D: Domain<V = u64, Stop = Fault>>(
        &mut self,
        d: &mut D,
        ty: Ty,
        minus: bool,
        k: usize,
        (cos, sin): (&[u64], &[u64]),
    ) -> Result<(), Fault> {
        for j in 1..=k {
            let (c, s) = (cos[j - 1], sin[j - 1]);
            let (a, b) = (self.a[k - j], self.b[k - j]);
            let shares =
                [(product(d, ty, c, a)?, product(d, ty, s, b)?), (product(d, ty, s, a)?, product(d, ty, c, b)?)];
            self.a[k] = accumulate(d, Acc::Add, minus, ty, self.a[k], shares[0].0)?;
            self.a[k] = accumulate(d, Acc::Add, !minus, ty, self.a[k], shares[0].1)?;
            self.b[k] = accumulate(d, Acc::Add, minus, ty, self.b[k], shares[1].0)?;
            self.b[k] = accumulate(d, Acc::Add, minus, ty, self.b[k], shares[1].1)?;
        }
        Ok(())
    }
}
