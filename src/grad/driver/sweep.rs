//! All second derivatives in one run back.

use std::collections::BTreeMap;

use pendula_isa::adjoint::MIXED;
use pendula_isa::types::Ty;
use pendula_vm::Machine;
use pendula_vm::gradient::{self, Cell, gradient_to_f64};

use super::{Driver, Report};

impl<R: FnMut(&mut Machine<'_>) -> Result<(), E>, E> Driver<'_, '_, R> {
    /// The Hessian of loss number `n` where it is not zero.
    pub(in super::super) fn sweep(&mut self, n: usize, check: bool, report: &mut Report) -> Result<(), E> {
        let loss = &report.losses[n];
        let (variable, seed) = (loss.variable, self.word(loss.variable));
        let words = self.words();
        let cells: Vec<Cell> = words.iter().map(|v| v.cell).collect();
        let found = self.afresh(|m, mut run| {
            gradient::hessian_sweep(m, variable, seed, &mut run)?;
            Ok(m.second_derivatives(&cells))
        })?;
        let mut entries: BTreeMap<(usize, usize), f64> = found.into_iter().map(|(i, j, x)| ((i, j), x)).collect();
        let (_, times) = self.weights(variable, loss.value);
        if check {
            let (mut worst, mut scale) = (0.0f64, 1.0f64);
            for (i, &of) in words.iter().enumerate() {
                self.afresh(|m, mut run| gradient::hessian_row(m, variable, seed, of, &mut run))?;
                for (j, other) in self.row(&words, MIXED).into_iter().enumerate() {
                    let here = entries.get(&(i.min(j), i.max(j))).copied().unwrap_or(0.0);
                    let apart = if here.to_bits() == other.to_bits() { 0.0 } else { (here - other).abs() };
                    worst = worst.max(if apart.is_nan() { f64::INFINITY } else { apart });
                    scale = scale.max(other.abs());
                }
            }
            // The bound for fixed point allows a rounding at each of some thousand steps.
            let fixed = words.iter().any(|v| v.ty != Ty::F) || variable.ty != Ty::F;
            let unit = if fixed { 1e4 * (-f64::from(self.env.format.frac())).exp2() } else { 0.0 };
            report.hessian_agrees &= worst <= 1e-6 * scale + unit;
            report.hessian_difference = Some(report.hessian_difference.unwrap_or(0.0).max(worst * times.abs()));
        }
        let loss = &report.losses[n];
        let gradient: Vec<f64> = loss
            .gradients
            .iter()
            .flat_map(|g| g.words.iter().map(|w| gradient_to_f64(self.env, g.input.ty, *w)))
            .collect();
        let logarithmic = |i: usize| words[i].ty == Ty::L;
        if variable.ty == Ty::L {
            // Converts derivatives of ln |y| to those of y, except for the factor y.
            let some: Vec<usize> = (0..words.len()).filter(|i| gradient[*i] != 0.0).collect();
            for (at, &i) in some.iter().enumerate() {
                for &j in &some[at..] {
                    *entries.entry((i, j)).or_insert(0.0) += gradient[i] * gradient[j];
                }
            }
        }
        for i in (0..words.len()).filter(|i| logarithmic(*i) && gradient[*i] != 0.0) {
            entries.entry((i, i)).or_insert(0.0);
        }
        let one = |((i, j), x): ((usize, usize), f64)| (i, j, self.second(&words, x, &gradient, times, (i, j)));
        let all = entries.into_iter().map(one).filter(|(.., x)| *x != Some(0.0)).collect();
        report.sweep = Some(all);
        Ok(())
    }
}
