//! The runs of a gradient: forward and backward, with dual numbers, and on nearby inputs for finite differences.

use std::collections::VecDeque;
use std::time::Instant;

use pendula_isa::Env;
use pendula_isa::adjoint::{GRADIENT, MIXED, SECOND, TANGENTS};
use pendula_isa::counts::Direction;
use pendula_isa::num::convert::to_f64;
use pendula_isa::num::log;
use pendula_isa::types::Ty;
use pendula_vm::gradient::{self, Cell, Variable, gradient_to_f64};
use pendula_vm::{AdMode, Machine, Snapshot};

mod sweep;

use super::{CHECKED, Check, Gradient, Loss, Report, variables};
use crate::state::values::Place;

/// True if the gradient words of doubles are finite.
fn are_finite(m: &Machine<'_>, words: &[Variable]) -> bool {
    words.iter().all(|v| v.ty != Ty::F || f64::from_bits(m.get(GRADIENT, v.cell)).is_finite())
}

/// The machine, the settings and the observations of a gradient's runs.
pub(super) struct Driver<'m, 'p, R> {
    pub(super) machine: &'m mut Machine<'p>,
    pub(super) run: R,
    pub(super) start: Snapshot,
    /// Whether the machine is there.
    pub(super) fresh: bool,
    pub(super) seed: u64,
    pub(super) inputs: &'m [Place],
    pub(super) env: Env,
    /// Where a fixed-point number first overflowed, and what words carried then.
    pub(super) overflow: Option<(u32, AdMode)>,
    /// Where a gradient word, or one of a second derivative, first overflowed.
    pub(super) wrong: Option<(u32, AdMode)>,
}

/// The number of gradient words that were kept, and whether everything was restored.
pub(super) type Kept = (usize, bool);

impl<R: FnMut(&mut Machine<'_>) -> Result<(), E>, E> Driver<'_, '_, R> {
    /// The words with respect to which the loss is differentiated.
    fn words(&self) -> Vec<Variable> {
        self.inputs.iter().flat_map(variables).collect()
    }

    /// Runs `f` from the initial state and notes where a number overflows; `f` receives a function that runs the
    /// machine.
    fn afresh<T>(
        &mut self,
        f: impl FnOnce(&mut Machine<'_>, &mut dyn FnMut(&mut Machine<'_>) -> Result<(), E>) -> Result<T, E>,
    ) -> Result<T, E> {
        if !std::mem::take(&mut self.fresh) {
            self.machine.restore(&self.start);
        }
        let (run, overflow, wrong) = (&mut self.run, &mut self.overflow, &mut self.wrong);
        f(self.machine, &mut |m| {
            let ad_mode = m.ad_mode();
            let outcome = run(m);
            if overflow.is_none() {
                *overflow = m.flags().overflow.map(|at| (at, ad_mode));
            }
            // Tangents are used only for comparison.
            if wrong.is_none() && ad_mode.level() > 0 {
                *wrong = m.flags().carried.map(|at| (at, ad_mode));
            }
            outcome
        })
    }

    /// The seed of a loss's gradient word.
    fn word(&self, loss: Variable) -> u64 {
        if loss.ty == Ty::L { gradient::one(self.env, Ty::L) } else { self.seed }
    }

    /// The factor for the gradient words of a `.l` loss: the loss times the seed; `None` for other losses.
    fn factor(&self, loss: Variable, value: u64) -> Option<u64> {
        // A product that is too large is refused elsewhere; one that is too small is 0.
        (loss.ty == Ty::L).then(|| log::product(self.seed, value).unwrap_or(log::ZERO))
    }

    /// Runs forward and backward with gradients. Returns the loss; with `keep`, also a digest of the state between the
    /// two runs.
    fn run_forward_and_back(&mut self, loss: Variable, word: u64, keep: bool) -> Result<(u64, Option<u128>), E> {
        if keep {
            return self.afresh(|m, mut run| {
                gradient::forward(m, &mut run)?;
                let value = m.get(0, loss.cell);
                // The state before the run backward, with its gradient word seeded: the copy of the outputs.
                m.set_ad_mode(AdMode::Gradient);
                m.put(GRADIENT, loss.cell, word);
                let before = m.digest();
                m.keep_dropped();
                gradient::gradient(m, loss, word, &mut run)?;
                Ok((value, Some(before)))
            });
        }
        let mut value = self.afresh(|m, mut run| gradient::run_forward_and_back(m, loss, word, &mut run))?;
        if self.machine.allows_whole() && !are_finite(self.machine, &self.words()) {
            // Code for whole runs does not check its results and came to the end. Other code finds where it went wrong.
            self.machine.allow_whole(false);
            let again = self.afresh(|m, mut run| gradient::run_forward_and_back(m, loss, word, &mut run));
            self.machine.allow_whole(true);
            value = again?;
        }
        Ok((value, None))
    }

    /// The gradient of one loss word; with `keep`, also the outcome of running forward again with gradients.
    pub(super) fn loss(&mut self, name: String, variable: Variable, keep: bool) -> Result<(Loss, Option<Kept>), E> {
        let word = self.word(variable);
        let (value, before) = self.run_forward_and_back(variable, word, keep)?;
        let factor = self.factor(variable, value);
        let gradients = self.inputs.iter().map(|input| self.gradient(input, factor)).collect();
        let kept = match before {
            None => None,
            Some(before) => {
                let at_start = self.machine.snapshot();
                let words = self.machine.dropped_words();
                self.machine.reverse_dropped();
                self.machine.begin(Direction::Forward);
                (self.run)(self.machine)?;
                self.machine.discard_dropped();
                let restored = self.machine.digest() == before;
                self.machine.restore(&at_start);
                Some((words, restored))
            }
        };
        Ok((Loss { name, variable, value, gradients }, kept))
    }

    fn gradient(&self, input: &Place, factor: Option<u64>) -> Gradient {
        let variables = variables(input);
        let lane = |lane| variables.iter().map(|v| self.machine.get(lane, v.cell)).collect::<Vec<u64>>();
        let (values, words) = (lane(0), lane(GRADIENT));
        let derivatives =
            values.iter().zip(&words).map(|(x, g)| gradient::derivative(self.env, input.ty, *x, *g, factor)).collect();
        Gradient { input: input.clone(), values, words, derivatives, env: self.env }
    }

    /// Two factors. The first one converts a derivative of the loss (of the logarithm of its magnitude if it is
    /// logarithmic) to the contents of gradient words; the second one converts these contents to the reported
    /// derivative.
    fn weights(&self, loss: Variable, value: u64) -> (f64, f64) {
        match self.factor(loss, value) {
            Some(factor) => (1.0, to_f64(self.env, Ty::L, factor)),
            None => (to_f64(self.env, loss.ty, self.seed), 1.0),
        }
    }

    /// The comparisons: first all tangents, then all differences, because these run on other inputs.
    pub(super) fn checks(&mut self, losses: &[Loss]) -> Vec<Check> {
        let mut found = Vec::new();
        for loss in losses {
            let inputs: Vec<(String, Variable, f64)> = loss
                .gradients
                .iter()
                .flat_map(|g| {
                    let adjoints = g.words.iter().map(|w| gradient_to_f64(self.env, g.input.ty, *w));
                    g.input.words().into_iter().zip(variables(&g.input)).zip(adjoints).map(|((n, v), a)| (n, v, a))
                })
                .collect();
            let scale = inputs.iter().fold(0.0, |s: f64, (.., a)| s.max(a.abs()));
            let step = inputs.len().div_ceil(CHECKED).max(1);
            for (input, variable, adjoint) in inputs.into_iter().step_by(step) {
                let tangent = self.tangent(loss, variable);
                found.push((loss, input, variable, scale, adjoint, tangent));
            }
        }
        // A tangent that may have overflowed proves nothing.
        let overflowed = self.overflow.is_some_and(|(_, ad_mode)| ad_mode == AdMode::Tangent);
        let unit = (-f64::from(self.env.format.frac())).exp2();
        let compare =
            |(loss, input, variable, scale, adjoint, tangent): (&Loss, String, Variable, f64, f64, Option<f64>)| {
                // The bound for fixed point allows a rounding at each of some thousand steps.
                let fixed = variable.ty != Ty::F || loss.variable.ty != Ty::F;
                // If all derivatives are zero, the rounding error is proportional to the loss.
                let size = to_f64(self.env, loss.variable.ty, loss.value).abs();
                let rest = if fixed || !size.is_finite() { 0.0 } else { size };
                let bound = if fixed { 1e-6 * scale + 1e4 * unit } else { 1e-9 * scale + 1e-13 * rest };
                let same = |x: f64, bound: f64| (x - adjoint).abs() <= bound || x.to_bits() == adjoint.to_bits();
                let tangent = tangent.filter(|t| !overflowed || same(*t, bound));
                let difference = self.difference(loss, variable);
                let agrees = tangent.is_none_or(|t| same(t, bound))
                    && difference.is_none_or(|d| same(d, 1e-3 * scale.max(adjoint.abs()) + 1e5 * unit + 1e-9 * rest));
                let (_, times) = self.weights(loss.variable, loss.value);
                Check {
                    loss: loss.name.clone(),
                    input,
                    logarithmic: variable.ty == Ty::L,
                    adjoint: times * adjoint,
                    tangent: tangent.map(|t| times * t),
                    finite_difference: difference.map(|d| times * d),
                    agrees,
                }
            };
        found.into_iter().map(compare).collect()
    }

    /// The derivative by dual numbers, in the units of gradient words; `None` if the run stops.
    fn tangent(&mut self, loss: &Loss, of: Variable) -> Option<f64> {
        self.afresh(|m, mut run| gradient::tangent(m, of, &mut run)).ok()?;
        let t = gradient_to_f64(self.env, loss.variable.ty, self.machine.get(SECOND, loss.variable.cell));
        Some(self.weights(loss.variable, loss.value).0 * t)
    }

    /// The derivative by differences of two widths, in the units of gradient words. `None` if the widths disagree, if
    /// the differences to the right and to the left disagree by more than the function's curvature explains, or if a
    /// run stops.
    fn difference(&mut self, loss: &Loss, of: Variable) -> Option<f64> {
        let (weight, _) = self.weights(loss.variable, loss.value);
        let loss = loss.variable;
        let unit =
            if of.ty == Ty::F && loss.ty == Ty::F { f64::EPSILON } else { (-f64::from(self.env.format.frac())).exp2() };
        let x = self.start_word(of.cell);
        let size = if of.ty == Ty::L { 1.0 } else { to_f64(self.env, of.ty, x).abs().max(1.0) };
        let h = size * unit.cbrt();
        let here = self.value_at(loss, of, x)?;
        let (wide, wide_bend) = self.slope(loss, of, (x, here), 2.0 * h)?;
        let (narrow, narrow_bend) = self.slope(loss, of, (x, here), h)?;
        let slope = (4.0 * narrow - wide) / 3.0;
        // The bend that remains as the width goes to 0; it is nonzero at a kink.
        let kink = 2.0 * narrow_bend - wide_bend;
        let bound = 1e-2 * slope.abs() + 1e3 * unit / h;
        let sound = (narrow - wide).abs() <= bound && kink.abs() <= bound;
        sound.then_some(weight * slope)
    }

    fn start_word(&self, cell: Cell) -> u64 {
        match cell {
            Cell::Register(r) => self.start.regs[r.index()],
            Cell::Word(a) => self.start.mem.get(a).unwrap_or(0),
        }
    }

    /// The slope around a word and its value, and by how much the slope to the right exceeds that to the left.
    fn slope(&mut self, loss: Variable, of: Variable, (x, here): (u64, f64), h: f64) -> Option<(f64, f64)> {
        let frac = f64::from(self.env.format.frac()).exp2();
        let moved = |sign: f64| match of.ty {
            Ty::F => (f64::from_bits(x) + sign * h).to_bits(),
            Ty::Q | Ty::Int => x.wrapping_add_signed((sign * h * frac) as i64),
            Ty::L => {
                let step = (sign * h * std::f64::consts::LOG2_E * f64::from(log::FRAC).exp2()) as i64;
                log::from_parts(log::is_negative(x), log::logarithm(x) + step).unwrap_or(x)
            }
        };
        let place = |word: u64| if of.ty == Ty::L { logarithm(word) } else { to_f64(self.env, of.ty, word) };
        let (up, down) = (moved(1.0), moved(-1.0));
        let (right, left) = (place(up) - place(x), place(x) - place(down));
        let (a, b) = (self.value_at(loss, of, up)?, self.value_at(loss, of, down)?);
        Some(((a - b) / (right + left), (a - here) / right - (here - b) / left))
    }

    /// The loss if an input is another word; for a logarithmic loss, the logarithm of its magnitude. `None` if the run
    /// stops.
    fn value_at(&mut self, loss: Variable, of: Variable, word: u64) -> Option<f64> {
        self.machine.restore(&self.start);
        self.machine.put(0, of.cell, word);
        gradient::forward(self.machine, &mut self.run).ok()?;
        let value = self.machine.get(0, loss.cell);
        match loss.ty {
            Ty::L => (value != log::ZERO && log::valid(value)).then(|| logarithm(value)),
            ty => Some(to_f64(self.env, ty, value)),
        }
    }

    /// The Hessian of loss number `n`.
    pub(super) fn hessian(&mut self, n: usize, check: bool, report: &mut Report) -> Result<(), E> {
        let loss = &report.losses[n];
        let (variable, seed) = (loss.variable, self.word(loss.variable));
        let words = self.words();
        let mut rows = Vec::with_capacity(words.len());
        let mut worst = 0.0f64;
        // Rows that have been computed, several in one run, and up to where they are computed one by one.
        let (mut at_once, mut one_by_one): (VecDeque<Vec<f64>>, usize) = (VecDeque::new(), 0);
        let loss_at = if let Cell::Word(at) = variable.cell { at } else { usize::MAX };
        for (done, &of) in words.iter().enumerate() {
            if at_once.is_empty() && done >= one_by_one {
                match self.rows_at_once((variable, seed), &words[done..], &words) {
                    Some(rows) => at_once.extend(rows),
                    // It failed for one of these rows.
                    None if self.machine.has_hessian_rows(loss_at) => one_by_one = done + TANGENTS,
                    None => {}
                }
            }
            let row = match at_once.pop_front() {
                Some(row) => row,
                None => {
                    let (begun, noted) = (Instant::now(), (self.overflow, self.wrong));
                    let ran = self.afresh(|m, mut run| gradient::hessian_row(m, variable, seed, of, &mut run));
                    let row = self.row(&words, MIXED);
                    // Code that computes several rows makes no gradient words that nobody asks for, so that they do not stop it. Whether
                    // that counts must not depend on when the code comes.
                    if (ran.is_err() || (self.overflow, self.wrong) != noted)
                        && self.machine.make_hessian_rows(loss_at)
                        && let Some(rows) = self.rows_at_once((variable, seed), &words[done..], &words)
                    {
                        (self.overflow, self.wrong) = noted;
                        at_once.extend(rows);
                    } else {
                        ran?;
                        self.machine.spent_on_hessian_row(loss_at, begun.elapsed(), words.len() - done - 1);
                    }
                    at_once.pop_front().unwrap_or(row)
                }
            };
            if check {
                self.afresh(|m, mut run| gradient::hessian_row_by_reversing_twice(m, variable, seed, of, &mut run))?;
                let other = self.row(&words, GRADIENT);
                let apart = |a: &f64, b: &f64| {
                    let d = if a.to_bits() == b.to_bits() { 0.0 } else { (a - b).abs() };
                    if d.is_nan() { f64::INFINITY } else { d }
                };
                worst = row.iter().zip(&other).fold(worst, |w, (a, b)| w.max(apart(a, b)));
            }
            rows.push(row);
        }
        let (_, times) = self.weights(variable, loss.value);
        if check {
            let scale = rows.iter().flatten().fold(1.0, |s: f64, x| s.max(x.abs()));
            report.hessian_agrees &= worst <= 1e-6 * scale;
            let worst = worst * times.abs();
            report.hessian_difference = Some(report.hessian_difference.unwrap_or(0.0).max(worst));
        }
        let gradient: Vec<f64> = loss
            .gradients
            .iter()
            .flat_map(|g| g.words.iter().map(|w| gradient_to_f64(self.env, g.input.ty, *w)))
            .collect();
        if variable.ty == Ty::L {
            // Converts derivatives of ln |y| to those of y, except for the factor y.
            for (row, a) in rows.iter_mut().zip(&gradient) {
                row.iter_mut().zip(&gradient).for_each(|(h, b)| *h += a * b);
            }
        }
        let one = |i: usize, j: usize| self.second(&words, rows[i][j], &gradient, times, (i, j));
        let rows: Vec<Vec<Option<f64>>> =
            (0..words.len()).map(|i| (0..words.len()).map(|j| one(i, j)).collect()).collect();
        report.hessian.get_or_insert_default().extend(rows);
        Ok(())
    }

    /// The first rows of those for `of`, several in one run, if there is code for that.
    fn rows_at_once(&mut self, loss: (Variable, u64), of: &[Variable], words: &[Variable]) -> Option<Vec<Vec<f64>>> {
        self.machine.restore(&self.start);
        gradient::hessian_rows(self.machine, loss, of, words)
    }

    fn row(&self, words: &[Variable], lane: usize) -> Vec<f64> {
        words.iter().map(|v| gradient_to_f64(self.env, v.ty, self.machine.get(lane, v.cell))).collect()
    }

    /// A second derivative with respect to the numbers themselves, from those with respect to logarithms if the numbers
    /// are logarithmic: ∂²/∂x∂y = (∂²/∂ln x ∂ln y − δ ∂/∂ln x)/(x·y), multiplied by `times`.
    fn second(
        &self,
        words: &[Variable],
        derivative: f64,
        gradient: &[f64],
        times: f64,
        (i, j): (usize, usize),
    ) -> Option<f64> {
        let scale = |v: Variable| match v.ty {
            Ty::L => Some(to_f64(self.env, Ty::L, self.start_word(v.cell))).filter(|x| *x != 0.0),
            Ty::Int | Ty::Q | Ty::F => Some(1.0),
        };
        let own = if i == j && words[i].ty == Ty::L { gradient[i] } else { 0.0 };
        let (x, y) = (scale(words[i])?, scale(words[j])?);
        let all = times * (derivative - own);
        Some(if (x * y).is_normal() && all.is_normal() { all / (x * y) } else { (derivative - own) / x * times / y })
    }
}

/// The natural logarithm of a logarithmic number's magnitude.
fn logarithm(word: u64) -> f64 {
    log::logarithm(word) as f64 / f64::from(log::FRAC).exp2() / std::f64::consts::LOG2_E
}
