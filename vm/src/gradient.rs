//! Derivatives of a whole run: the host's part of the gradient mode.
//!
//! A gradient is a forward run, a seed in the gradient word of the loss, and a backward run with gradient words ([`gradient`]); it
//! needs no tape. Tangents are the same program over dual numbers ([`tangent`]). There are two ways to second derivatives, which
//! share only the table: dual numbers at gradient level 1 ([`hessian_row`]), and the gradient of the gradient run itself, at
//! level 2 ([`hessian_row_by_reversing_twice`]).
//!
//! The gradient word of a loss y is a number of its gradient type: for a `.q` or `.f` loss the derivative with respect to y, for
//! a `.l` loss the derivative with respect to ln |y|. With the seed [`one`], the results are derivatives of y, or of ln |y|:
//! ∂y = y·∂ln |y|, and ∂²y/∂a∂b = y·(∂²ln |y|/∂a∂b + ∂ln |y|/∂a·∂ln |y|/∂b). The host multiplies by y, since y may be far outside
//! the range of fixed point.
//!
//! This module works on cells and machine words. Names and reports are in the root crate (`pendula::grad`). The caller decides how
//! long to run: every function takes a callback that runs the machine to its end.

use std::ops::RangeInclusive;

use pendula_isa::Env;
use pendula_isa::adjoint::{AdMode, GRADIENT, MIXED, SECOND, TANGENTS, VALUE};
use pendula_isa::counts::Direction;
use pendula_isa::inst::Kind;
use pendula_isa::module::Module;
use pendula_isa::num::{convert, log};
use pendula_isa::table::{Flow, Row};
use pendula_isa::types::{Reg, Ty};
use pendula_isa::verify::{target, verify};

use crate::machine::Machine;
pub use crate::orders::jet_lane;
pub use pendula_isa::series::MAX_ORDER;

/// A word of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cell {
    /// A register.
    Register(Reg),
    /// The memory word at this address.
    Word(usize),
}

/// A word of the state and its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variable {
    /// Its location.
    pub cell: Cell,
    /// Its type, which must have gradients: not an integer.
    pub ty: Ty,
}

impl Machine<'_> {
    /// The word in a lane (0 to 3, see [`pendula_isa::adjoint`]) of a cell.
    pub fn get(&self, lane: usize, cell: Cell) -> u64 {
        match cell {
            Cell::Register(r) => self.lane_register(lane, r),
            Cell::Word(a) => self.lane_word(lane, a),
        }
    }

    /// Writes the word in a lane of a cell.
    pub fn put(&mut self, lane: usize, cell: Cell, word: u64) {
        match cell {
            Cell::Register(r) => self.set_lane_register(lane, r, word),
            Cell::Word(a) => self.set_lane_word(lane, a, word),
        }
    }

    fn clear_lanes(&mut self) {
        for lane in [GRADIENT, SECOND, MIXED] {
            self.clear_lane(lane);
        }
        self.carry_nothing_more();
    }
}

/// The number 1 as a gradient word of a variable of this type.
pub fn one(env: Env, ty: Ty) -> u64 {
    match ty.gradient() {
        Some(Ty::F) => 1f64.to_bits(),
        Some(Ty::Q | Ty::L | Ty::Int) | None => 1 << env.format.frac(),
    }
}

/// Why a program cannot be differentiated by the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It destroys information at this address, so it cannot run backward.
    Irreversible,
    /// It uses gradients itself, at this address: its forward pass at level 0 would differ from its backward pass at level 1.
    UsesGradients(u32),
}

/// Checks that the host can differentiate a program: it can run backward, and no reachable code uses gradients itself.
pub fn differentiable(module: &Module) -> Result<(), Refused> {
    if module.flags.irreversible {
        return Err(Refused::Irreversible);
    }
    let is_gswap = |at: u32| matches!(module.code[at as usize].kind, Kind::Row { row: Row::Gswap, .. });
    for at in reached(module).into_iter().flatten() {
        match module.code[at as usize].kind.flow() {
            Flow::GradientCall => return Err(Refused::UsesGradients(at)),
            Flow::Straight if is_gswap(at) => return Err(Refused::UsesGradients(at)),
            Flow::Straight
            | Flow::Call
            | Flow::CallRegister
            | Flow::Jump
            | Flow::Procedure
            | Flow::Run
            | Flow::Branch(_)
            | Flow::Cell => {}
        }
    }
    Ok(())
}

/// The addresses of the reachable procedures, and of the beginning of the run.
pub fn reached(module: &Module) -> Vec<RangeInclusive<u32>> {
    let (structure, _) = verify(module);
    let code = &module.code;
    let is = |at: u32, row: Row| matches!(code[at as usize].kind, Kind::Row { row: r, .. } if r == row);
    // The beginning of the run; a call by register may reach any procedure.
    let mut todo: Vec<u32> = structure.regions.iter().map(|r| r.start).filter(|at| is(*at, Row::Start)).collect();
    let mut seen = vec![false; code.len()];
    let mut out = Vec::new();
    while let Some(start) = todo.pop() {
        let Some(region) = structure.regions.iter().find(|r| r.start == start) else { continue };
        if std::mem::replace(&mut seen[start as usize], true) {
            continue;
        }
        out.push(region.start..=region.last);
        for at in region.start..=region.last {
            let inst = &code[at as usize];
            match inst.kind.flow() {
                Flow::Call | Flow::GradientCall => todo.extend(target(code, at, inst).map(|(to, _)| to)),
                Flow::CallRegister => {
                    todo.extend(structure.regions.iter().map(|r| r.start).filter(|at| is(*at, Row::Proc)));
                }
                Flow::Straight | Flow::Jump | Flow::Procedure | Flow::Run | Flow::Branch(_) | Flow::Cell => {}
            }
        }
    }
    out
}

/// One of several runs: the AD mode, the direction, and a word that is written to a lane of a cell before it.
fn leg<E>(
    m: &mut Machine<'_>,
    ad_mode: AdMode,
    direction: Direction,
    seed: Option<(usize, Cell, u64)>,
    run: &mut impl FnMut(&mut Machine<'_>) -> Result<(), E>,
) -> Result<(), E> {
    m.set_ad_mode(ad_mode);
    if let Some((lane, cell, word)) = seed {
        m.put(lane, cell, word);
    }
    m.begin(direction);
    run(m)
}

/// Runs forward from the start, without derivatives.
pub fn forward<E>(m: &mut Machine<'_>, run: &mut impl FnMut(&mut Machine<'_>) -> Result<(), E>) -> Result<(), E> {
    m.clear_lanes();
    leg(m, AdMode::Plain, Direction::Forward, None, run)
}

/// Runs backward from the end of [`forward`] with gradient words; the loss's gradient word is `seed`. Afterwards the machine is at its
/// start, and lane [`GRADIENT`] holds every cell's gradient word: the derivative with respect to its number, or for a logarithmic
/// number with respect to the logarithm of its magnitude, as a fixed-point number.
pub fn gradient<E>(
    m: &mut Machine<'_>,
    loss: Variable,
    seed: u64,
    run: &mut impl FnMut(&mut Machine<'_>) -> Result<(), E>,
) -> Result<(), E> {
    leg(m, AdMode::Gradient, Direction::Backward, Some((GRADIENT, loss.cell, seed)), run)
}

/// Runs [`forward`] and [`gradient`]; returns the value of the loss in between. If the machine allows whole runs and the program has
/// code for them, that code does both at once, and `run` is not called. If such code comes while `run` runs, `run` returns before the
/// end, and both runs begin again with it.
pub fn run_forward_and_back<E>(
    m: &mut Machine<'_>,
    loss: Variable,
    seed: u64,
    run: &mut impl FnMut(&mut Machine<'_>) -> Result<(), E>,
) -> Result<u64, E> {
    let Cell::Word(at) = loss.cell else { return run_both(m, loss, seed, run) };
    loop {
        if m.run_forward_and_back(&[(at, seed)]) {
            return Ok(m.midpoint_word(at));
        }
        // Code that gives up may be followed by other code. Where none is left, all is counted: the run may stop.
        m.plan_forward_and_back(at);
        let whole = m.allows_whole();
        m.allow_whole(whole && m.is_planned());
        let value = run_both(m, loss, seed, run);
        m.allow_whole(whole);
        if !(value.is_err() && m.begins_again_after_trap() || m.begins_again()) {
            return value;
        }
    }
}

/// Runs [`forward`] and [`gradient`], unless code comes that does both at once ([`Machine::run`]).
fn run_both<E>(
    m: &mut Machine<'_>,
    loss: Variable,
    seed: u64,
    run: &mut impl FnMut(&mut Machine<'_>) -> Result<(), E>,
) -> Result<u64, E> {
    forward(m, run)?;
    let value = m.get(VALUE, loss.cell);
    if !m.is_stopped() {
        gradient(m, loss, seed, run)?;
    }
    Ok(value)
}

/// Runs forward over dual numbers from the start; the tangent of `of` is 1. Afterwards lane [`SECOND`] holds every cell's tangent.
pub fn tangent<E>(
    m: &mut Machine<'_>,
    of: Variable,
    run: &mut impl FnMut(&mut Machine<'_>) -> Result<(), E>,
) -> Result<(), E> {
    m.clear_lanes();
    let one = one(m.env(), of.ty);
    leg(m, AdMode::Tangent, Direction::Forward, Some((SECOND, of.cell, one)), run)
}

/// Computes the row of the Hessian for `of`: runs forward and backward over dual numbers; the loss's gradient word is `seed`.
/// Afterwards lane [`MIXED`] holds every cell's second derivative, and lane [`GRADIENT`] the gradient.
pub fn hessian_row<E>(
    m: &mut Machine<'_>,
    loss: Variable,
    seed: u64,
    of: Variable,
    run: &mut impl FnMut(&mut Machine<'_>) -> Result<(), E>,
) -> Result<(), E> {
    tangent(m, of, run)?;
    leg(m, AdMode::GradientTangent, Direction::Backward, Some((GRADIENT, loss.cell, seed)), run)
}

/// The first rows of those of the Hessian for `of`, several in one run forward and back, by code for whole runs, from the start: the
/// second derivatives with respect to `columns`. The loss's gradient word is the seed that comes with it. `None` if there is no code for
/// that, or if it failed; the machine is as it was in any case.
pub fn hessian_rows(
    m: &mut Machine<'_>,
    (loss, seed): (Variable, u64),
    of: &[Variable],
    columns: &[Variable],
) -> Option<Vec<Vec<f64>>> {
    let place = |v: &Variable| match (v.cell, v.ty) {
        (Cell::Word(at), Ty::F) => Some(at),
        _ => None,
    };
    let of: Vec<usize> = of.iter().take(TANGENTS).map(place).collect::<Option<_>>()?;
    let columns: Vec<usize> = columns.iter().map(place).collect::<Option<_>>()?;
    m.hessian_rows((place(&loss)?, seed), &of, &columns)
}

/// Runs forward from the start with jets: `direction` has coefficients of the inputs' jets, from the first on; all others are zero.
/// Afterwards lane [`jet_lane`]`(k)` holds coefficient k of every cell's jet, as a number of the cell's gradient type; for a logarithmic
/// number, that of the logarithm of its magnitude.
pub fn jets<E>(
    m: &mut Machine<'_>,
    direction: &[(Cell, Vec<u64>)],
    order: usize,
    run: &mut impl FnMut(&mut Machine<'_>) -> Result<(), E>,
) -> Result<(), E> {
    m.clear_lanes();
    m.carry_jets(order);
    m.set_ad_mode(AdMode::Tangent);
    put_jets(m, direction, order);
    m.begin(Direction::Forward);
    run(m)
}

/// Writes the jets with which [`jets`] begins.
pub fn put_jets(m: &mut Machine<'_>, direction: &[(Cell, Vec<u64>)], order: usize) {
    for (cell, jet) in direction {
        jet.iter().take(order).zip(1..).for_each(|(word, k)| m.put(jet_lane(k), *cell, *word));
    }
}

/// Runs backward from the end of [`jets`], which undoes the effect on the jets, too.
pub fn jets_back<E>(m: &mut Machine<'_>, run: &mut impl FnMut(&mut Machine<'_>) -> Result<(), E>) -> Result<(), E> {
    leg(m, AdMode::Tangent, Direction::Backward, None, run)
}

/// Computes all second derivatives in one run back: forward, then backward with gradients, where every instruction that is undone
/// pushes the second derivatives of the loss on to its arguments. Afterwards [`Machine::second_derivatives`] has them, and lane
/// [`GRADIENT`] the gradient.
pub fn hessian_sweep<E>(
    m: &mut Machine<'_>,
    loss: Variable,
    seed: u64,
    run: &mut impl FnMut(&mut Machine<'_>) -> Result<(), E>,
) -> Result<(), E> {
    forward(m, run)?;
    m.carry_second_derivatives();
    leg(m, AdMode::GradientTangent, Direction::Backward, Some((GRADIENT, loss.cell, seed)), run)
}

/// Computes a row of the Hessian as the gradient of the gradient: forward, backward at level 1, back over that run at level 2 with
/// the gradient word of `of` as the loss, and back over the first run at level 1. Afterwards lane [`GRADIENT`] holds every cell's
/// second derivative. The gradient words that `zero` drops are recorded and restored.
pub fn hessian_row_by_reversing_twice<E>(
    m: &mut Machine<'_>,
    loss: Variable,
    seed: u64,
    of: Variable,
    run: &mut impl FnMut(&mut Machine<'_>) -> Result<(), E>,
) -> Result<(), E> {
    forward(m, run)?;
    m.keep_dropped();
    gradient(m, loss, seed, run)?;
    m.reverse_dropped();
    let one = one(m.env(), of.ty);
    leg(m, AdMode::SecondGradient, Direction::Forward, Some((MIXED, of.cell, one)), run)?;
    m.discard_dropped();
    m.exchange_lanes(GRADIENT, SECOND);
    m.clear_lane(SECOND);
    m.clear_lane(MIXED);
    leg(m, AdMode::Gradient, Direction::Backward, None, run)
}

/// The derivative of a loss with respect to a number, from the number's gradient word: a word and its type. `None` at a logarithmic
/// zero, where the derivative does not exist.
///
/// `factor` is a logarithmic number that multiplies the gradient words: y for a `.l` loss y, whose gradient words are derivatives of
/// ln |y|. Without a factor, the derivative with respect to a `.q` or `.f` number is its gradient word. With a factor, and for a
/// `.l` number, whose gradient word is with respect to its logarithm, the derivative is a double.
pub fn derivative(env: Env, ty: Ty, value: u64, gradient: u64, factor: Option<u64>) -> Option<(u64, Ty)> {
    let gradient_type = ty.gradient().unwrap_or(Ty::Q);
    let number = |word| convert::to_f64(env, Ty::L, word);
    let g = convert::to_f64(env, gradient_type, gradient);
    let times = factor.map_or(g, |y| g * number(y));
    let d = match (ty, factor) {
        (Ty::Q | Ty::Int | Ty::F, None) => return Some((gradient, gradient_type)),
        (Ty::Q | Ty::Int | Ty::F, Some(_)) => times,
        (Ty::L, _) if value == log::ZERO => return None,
        // Either factor alone may be outside the range of a double.
        (Ty::L, Some(y)) if g != 0.0 && !times.is_normal() => {
            g * log::quotient(y, value).map_or_else(|_| number(y) / number(value), number)
        }
        (Ty::L, _) => times / number(value),
    };
    Some((d.to_bits(), Ty::F))
}

/// The gradient word of a number of this type as a double.
pub fn gradient_to_f64(env: Env, ty: Ty, word: u64) -> f64 {
    convert::to_f64(env, ty.gradient().unwrap_or(Ty::Q), word)
}
