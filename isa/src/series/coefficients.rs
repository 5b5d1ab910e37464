//! One more coefficient of every node of a graph.

use super::{Id, Node, Rule, Series};
use crate::fault::Fault;
use crate::num::{convert, float};
use crate::types::Ty;

/// Bits below those of the format that sums of fixed-point products keep, where the format has them.
const GUARD: u32 = 16;

fn double(word: u64) -> f64 {
    f64::from_bits(word)
}

impl Series {
    /// Computes coefficient `k` of all nodes that need it, from the first on: arguments stand before functions of them, and what partial
    /// derivatives contribute is of order `k` − 1.
    pub(super) fn step(&mut self, k: usize) -> Result<(), Fault> {
        for at in 0..self.nodes.len() {
            let node = self.nodes[at];
            if node.wanted < k || matches!(node.rule, Rule::Given | Rule::Constant) {
                continue;
            }
            let id = Id(at as u16);
            let floating = match node.rule {
                Rule::Derivative => node.func.is_some_and(|f| f.info().calculus() == Ty::F),
                Rule::Given | Rule::Constant | Rule::Product { .. } | Rule::Quotient(..) => node.ty == Ty::F,
            };
            let word = if floating { self.floating(id, &node, k)? } else { self.fixed_point(id, &node, k)? };
            let stride = self.stride();
            self.words[at * stride + k] = word;
        }
        Ok(())
    }

    fn floating(&mut self, id: Id, node: &Node, k: usize) -> Result<u64, Fault> {
        let sum = match node.rule {
            Rule::Given | Rule::Constant => 0.0,
            Rule::Product { plus } => {
                let [a, b, c] = node.args.map(|id| self.jet(id));
                let product = match (self.is_constant(node.args[0]), self.is_constant(node.args[1])) {
                    (true, _) => double(a[0]) * double(b[k]),
                    (_, true) => double(a[k]) * double(b[0]),
                    (false, false) => {
                        a[..=k].iter().zip(b[..=k].iter().rev()).map(|(a, b)| double(*a) * double(*b)).sum()
                    }
                };
                product + if plus { double(c[k]) } else { 0.0 }
            }
            Rule::Quotient(a, b) => {
                let (a, y, b) = (self.jet(a), self.jet(id), self.jet(b));
                let known: f64 = b[1..=k].iter().zip(y[..k].iter().rev()).map(|(b, y)| double(*b) * double(*y)).sum();
                (double(a[k]) - known) / double(b[0])
            }
            Rule::Derivative => self.by_derivatives(node, k),
        };
        if !sum.is_finite() && !self.env.ieee {
            return Err(Fault::NotFinite);
        }
        match node.ty.gradient() {
            Some(Ty::F) | None => Ok(if sum.is_nan() { float::NAN } else { sum.to_bits() }),
            Some(Ty::Q | Ty::L | Ty::Int) => convert::f_to_q(self.env, sum.to_bits()),
        }
    }

    /// Σ p·x of constant partial derivatives, and (Σ j·x_j·p_{k−j})/k of the others.
    fn by_derivatives(&self, node: &Node, k: usize) -> f64 {
        let (mut direct, mut weighted) = (0.0, 0.0);
        for (arg, p) in node.args.into_iter().zip(node.partials) {
            let Some(p) = p else { continue };
            let (x, series) = (self.jet(arg), self.jet(p));
            let floats = self.node(arg).ty == Ty::F;
            let number = |word: u64| if floats { double(word) } else { convert::to_f64(self.env, Ty::Q, word) };
            if self.is_constant(p) {
                direct += number(x[k]) * double(series[0]);
                continue;
            }
            let mut weight = 0.0;
            if floats {
                for (x, p) in x[1..=k].iter().zip(series[..k].iter().rev()) {
                    weight += 1.0;
                    weighted += weight * double(*x) * double(*p);
                }
            } else {
                for (x, p) in x[1..=k].iter().zip(series[..k].iter().rev()) {
                    weight += 1.0;
                    weighted += weight * number(*x) * double(*p);
                }
            }
        }
        // The weights of order 1 are 1.
        direct + weighted / k as f64
    }

    fn fixed_point(&mut self, id: Id, node: &Node, k: usize) -> Result<u64, Fault> {
        let frac = self.env.format.frac();
        let guard = frac.min(GUARD);
        // Products with `guard` bits more than the format.
        let product = |a: u64, b: u64| (i128::from(a.cast_signed()) * i128::from(b.cast_signed())) >> (frac - guard);
        let word = |a: u64| i128::from(a.cast_signed()) << guard;
        let sum = match node.rule {
            Rule::Given | Rule::Constant => 0,
            Rule::Product { plus } => {
                let [a, b, c] = node.args.map(|id| self.jet(id));
                let products = a[..=k].iter().zip(b[..=k].iter().rev()).map(|(a, b)| product(*a, *b));
                let sum = products.fold(0i128, i128::saturating_add);
                sum.saturating_add(if plus { word(c[k]) } else { 0 })
            }
            Rule::Quotient(a, b) => {
                let (a, y, b) = (self.jet(a), self.jet(id), self.jet(b));
                let products = b[1..=k].iter().zip(y[..k].iter().rev()).map(|(b, y)| product(*b, *y));
                let rest = products.fold(word(a[k]), i128::saturating_sub);
                let divisor = i128::from(b[0].cast_signed());
                if divisor == 0 {
                    return Err(Fault::DivideByZero);
                }
                // Where the dividend has no room for all its bits, the last ones do not matter.
                let room = rest.unsigned_abs().leading_zeros().saturating_sub(1).min(frac);
                let quotient = (rest << room) / divisor;
                let missing = frac - room;
                quotient.checked_mul(1i128 << missing).unwrap_or(i128::MAX)
            }
            Rule::Derivative => {
                let (mut direct, mut weighted) = (0i128, 0i128);
                for (arg, p) in node.args.into_iter().zip(node.partials) {
                    let Some(p) = p else { continue };
                    let (x, series) = (self.jet(arg), self.jet(p));
                    if self.is_constant(p) {
                        direct = direct.saturating_add(product(x[k], series[0]));
                    } else {
                        for j in 1..=k {
                            let term = product(x[j], series[k - j]).saturating_mul(j as i128);
                            weighted = weighted.saturating_add(term);
                        }
                    }
                }
                direct.saturating_add(weighted.div_euclid(k as i128))
            }
        };
        // Rounded down, as products are; it wraps on overflow.
        let rounded = sum >> guard;
        self.overflowed |= i64::try_from(rounded).is_err();
        Ok((rounded as i64).cast_unsigned())
    }
}
