//! Taylor series of a program's results along a direction of its inputs: what `pendula grad --taylor` does.
//!
//! The inputs become x(t) = x + v·t, and each result y its series y₀ + y₁t + … + yₙtⁿ; y_k is the k-th derivative along v, divided
//! by k!. The program runs forward once and carries all coefficients of every word, and then backward, which must bring back the
//! state and the coefficients of the inputs.
//!
//! ```
//! use pendula::grad::{taylor::{Options, taylor}, to_end};
//! let source = "
//!         .data
//!         .import x
//! x:      .double 0
//!         .export y
//! y:      .double 0
//!         .text
//! main:   start
//!         addexp.f [y], r1
//!         finish
//! ";
//! let source = source.replace("addexp.f [y], r1", "add.f r1, [x]\n        addexp.f [y], r1\n        sub.f r1, [x]");
//! let assembly = pendula::asm::assemble::assemble("exp.rasm", source, &Default::default());
//! let program = pendula::vm::Program::new(assembly.module.expect("no errors"), true)?;
//! let mut machine = pendula::vm::Machine::new(&program, &Default::default())?;
//! let report = taylor(&mut machine, &Options { order: 3, ..Options::default() }, to_end)?;
//! assert_eq!(report.results[0].numbers(), [1.0, 1.0, 0.5, 1.0 / 6.0].map(Some));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use pendula_isa::Env;
use pendula_isa::adjoint::{SECOND, VALUE};
use pendula_isa::module::Module;
use pendula_isa::num::convert::{f_to_q, to_f64};
use pendula_isa::num::log;
use pendula_isa::types::Ty;
use pendula_vm::gradient::{self, Cell, MAX_ORDER, Variable, gradient_to_f64, jet_lane};
use pendula_vm::{AdMode, Machine, Snapshot};

use super::{GradError, find, places, variables};
use crate::state::values::{self, Place};

/// The options of a Taylor series.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The highest order, from 1 to [`MAX_ORDER`].
    pub order: usize,
    /// The result, as [`values::find`] takes it; it may be an array. The default is all exported numbers.
    pub loss: Option<String>,
    /// The inputs among which the default direction is looked for. The default is all imported numbers.
    pub wrt: Vec<String>,
    /// The direction: `x=1`, `w[2]=-0.5`, `w=[1, 0, 2]`. A single number for an array stands for each of its elements. The default is 1
    /// for the only input.
    pub direction: Vec<String>,
}

/// A part of a direction: an input word, and the rate by which it changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    /// The name of the word.
    pub name: String,
    /// Its location and type.
    pub variable: Variable,
    /// The rate, of the input's type; a double for a logarithmic input.
    pub rate: u64,
}

/// The series of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Jet {
    /// The name, with its index if it is an element.
    pub name: String,
    /// Its location and type.
    pub variable: Variable,
    /// The coefficients from order 0 on, each with its type: that of the result, but doubles for a logarithmic one from order 1 on.
    /// `None` at a logarithmic zero, which has no derivatives.
    pub coefficients: Vec<Option<(u64, Ty)>>,
    env: Env,
}

impl Jet {
    /// The coefficients as doubles.
    pub fn numbers(&self) -> Vec<Option<f64>> {
        self.coefficients.iter().map(|c| c.map(|(word, ty)| to_f64(self.env, ty, word))).collect()
    }
}

/// The series of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The direction.
    pub direction: Vec<Rate>,
    /// The series of the results.
    pub results: Vec<Jet>,
    /// True if the run backward restored the initial state bit for bit.
    pub restored: bool,
    /// True if it also left the coefficients with which the run forward had begun, and no others.
    pub jets_restored: bool,
    /// The values at the start and after the run backward, if they differ.
    pub drift: Option<(Snapshot, Snapshot)>,
    /// Where a fixed-point number first overflowed and wrapped, and what words carried then.
    pub overflow: Option<(u32, AdMode)>,
    /// Where a coefficient first overflowed and wrapped: the series are wrong then.
    pub wrong: Option<u32>,
}

/// The places of the results.
fn results<E>(module: &Module, options: &Options) -> Result<Vec<Place>, GradError<E>> {
    if let Some(name) = &options.loss {
        return Ok(vec![find(module, name, "the loss")?]);
    }
    let exported = values::marked(module, |_, export| export);
    let numbers: Vec<Place> = exported.into_iter().filter(|p| p.ty.gradient().is_some()).collect();
    if numbers.is_empty() {
        return Err(GradError::NoLoss("the program exports no number that has gradients".to_string()));
    }
    Ok(numbers)
}

/// The inputs that move by default.
fn default_direction<E>(module: &Module, env: Env, options: &Options) -> Result<Vec<Rate>, GradError<E>> {
    // Only the inputs are looked up: a loss that is an array does not matter here.
    let loss = results(module, options)?.first().map(|place| place.name.clone());
    let given = super::Options { wrt: options.wrt.clone(), loss, jacobian: true, ..super::Options::default() };
    let (_, inputs) = places(module, &given)?;
    let mut words = inputs.iter().flat_map(|place| place.words().into_iter().zip(variables(place)));
    match (words.next(), words.next()) {
        (Some((name, variable)), None) => {
            let rate = if variable.ty == Ty::L { 1f64.to_bits() } else { gradient::one(env, variable.ty) };
            Ok(vec![Rate { name, variable, rate }])
        }
        _ => {
            let names: Vec<&str> = inputs.iter().map(|place| place.name.as_str()).collect();
            let names = names.join(", ");
            let why = format!("is not given, and the inputs have several words ({names}): say how they move, as `x=1`");
            Err(GradError::Direction(why))
        }
    }
}

/// A part of a direction as given.
fn rates<E>(module: &Module, env: Env, text: &str) -> Result<Vec<Rate>, GradError<E>> {
    let wrong = |why: &str| GradError::Direction(format!("`{text}` {why}"));
    let (name, value) = text.split_once('=').ok_or_else(|| wrong("is not of the form NAME=NUMBER"))?;
    let place = find(module, name, "an input")?;
    let words: Vec<(String, Variable)> = place.words().into_iter().zip(variables(&place)).collect();
    let value = value.trim();
    let list = value.strip_prefix('[').and_then(|v| v.strip_suffix(']'));
    let numbers: Vec<&str> = list.map_or_else(|| vec![value; words.len()], |l| l.split(',').map(str::trim).collect());
    if numbers.len() != words.len() {
        return Err(wrong(&format!("has {} numbers for {} words", numbers.len(), words.len())));
    }
    // The rate of a logarithmic number is an ordinary number.
    let ty = if place.ty == Ty::L { Ty::F } else { place.ty };
    let rate = |((name, variable), number): ((String, Variable), &str)| {
        let rate = values::parse_number(&name, number, ty, env.format)
            .map_err(|_| wrong(&format!("has `{number}`, which is no {} number", ty.name().replace(' ', "-"))))?;
        if !to_f64(env, ty, rate).is_finite() {
            return Err(wrong(&format!("has `{number}`, which is not finite")));
        }
        Ok(Rate { name, variable, rate })
    };
    words.into_iter().zip(numbers).map(rate).collect()
}

/// The coefficients with which an input begins.
fn beginning<E>(env: Env, order: usize, start: u64, rate: &Rate) -> Result<(Cell, Vec<u64>), GradError<E>> {
    let cell = rate.variable.cell;
    if rate.variable.ty != Ty::L {
        return Ok((cell, vec![rate.rate]));
    }
    // ln|x + v·t| = ln|x| + ln(1 + r·t), with r = v/x.
    let x = to_f64(env, Ty::L, start);
    let ratio = f64::from_bits(rate.rate) / x;
    let mut jet = Vec::with_capacity(order);
    let mut power = -1.0;
    for k in 1..=order {
        power *= -ratio;
        let word = f_to_q(env, (power / k as f64).to_bits());
        jet.push(word.map_err(|_| {
            let why = "is too great for the number: the derivatives of its logarithm do not fit fixed point";
            GradError::Direction(format!("of `{}` {why}", rate.name))
        })?);
    }
    Ok((cell, jet))
}

/// The coefficients of a result, from the words of its jet.
fn coefficients(env: Env, variable: Variable, value: u64, words: &[u64]) -> Vec<Option<(u64, Ty)>> {
    let ty = variable.ty;
    let mut out = vec![Some((value, ty))];
    if ty != Ty::L {
        out.extend(words.iter().map(|word| Some((*word, ty.gradient().unwrap_or(Ty::Q)))));
        return out;
    }
    if value == log::ZERO {
        out.extend(words.iter().map(|_| None));
        return out;
    }
    // y = y₀·exp(u), where u are the coefficients of ln|y| from the first on: k·e_k = Σ j·u_j·e_{k−j}.
    let u: Vec<f64> = words.iter().map(|word| gradient_to_f64(env, Ty::L, *word)).collect();
    let mut e = vec![1.0];
    for k in 1..=u.len() {
        let sum: f64 = (1..=k).map(|j| j as f64 * u[j - 1] * e[k - j]).sum();
        e.push(sum / k as f64);
    }
    let y = to_f64(env, Ty::L, value);
    out.extend(e[1..].iter().map(|e| Some(((y * e).to_bits(), Ty::F))));
    out
}

/// The Taylor series of a program whose inputs are set in the machine. `run` runs the machine to its end, as [`super::to_end`] does: once
/// forward and once backward. The machine is left at its start.
///
/// # Errors
/// Names or numbers do not fit; the program cannot be differentiated; `run` fails.
pub fn taylor<E>(
    machine: &mut Machine<'_>,
    options: &Options,
    mut run: impl FnMut(&mut Machine<'_>) -> Result<(), E>,
) -> Result<Report, GradError<E>> {
    let (module, env) = (machine.program().module(), machine.env());
    gradient::differentiable(module).map_err(GradError::Refused)?;
    let order = options.order.clamp(1, MAX_ORDER);
    let results = results(module, options)?;
    let direction = if options.direction.is_empty() {
        default_direction(module, env, options)?
    } else {
        let parts = options.direction.iter().map(|text| rates(module, env, text));
        parts.collect::<Result<Vec<_>, _>>()?.concat()
    };
    let is_again = |(n, r): &(usize, &Rate)| direction[..*n].iter().any(|o| o.variable.cell == r.variable.cell);
    if let Some((_, rate)) = direction.iter().enumerate().find(is_again) {
        return Err(GradError::Direction(format!("names `{}` twice", rate.name)));
    }
    let start = machine.snapshot();
    let jets = direction.iter().map(|rate| {
        let word = machine.get(VALUE, rate.variable.cell);
        if rate.variable.ty == Ty::L && word == log::ZERO {
            let why = "is a logarithmic zero, which has no derivatives";
            return Err(GradError::Direction(format!("names `{}`, which {why}", rate.name)));
        }
        beginning(env, order, word, rate)
    });
    let jets = jets.collect::<Result<Vec<_>, _>>()?;
    let (mut overflow, mut wrong) = (None, None);
    let mut observed = |m: &mut Machine<'_>| {
        let outcome = run(m);
        let flags = m.flags();
        let ad_mode = if flags.overflow == flags.carried { AdMode::Tangent } else { AdMode::Plain };
        overflow = overflow.or_else(|| flags.overflow.map(|at| (at, ad_mode)));
        wrong = wrong.or(flags.carried);
        outcome
    };
    gradient::jets(machine, &jets, order, &mut observed).map_err(GradError::Stopped)?;
    let jet = |(name, variable): (String, Variable)| {
        let words: Vec<u64> = (1..=order).map(|k| machine.get(jet_lane(k), variable.cell)).collect();
        let coefficients = coefficients(env, variable, machine.get(VALUE, variable.cell), &words);
        Jet { name, variable, coefficients, env }
    };
    let results = results.iter().flat_map(|place| place.words().into_iter().zip(variables(place))).map(jet).collect();
    gradient::jets_back(machine, &mut observed).map_err(GradError::Stopped)?;
    let end = machine.snapshot();
    let restored = end == start;
    let jets_restored = restored && {
        let now = machine.digest();
        machine.restore(&start);
        machine.carry_jets(order);
        machine.clear_lane(SECOND);
        gradient::put_jets(machine, &jets, order);
        machine.digest() == now
    };
    machine.restore(&start);
    machine.carry_nothing_more();
    machine.set_ad_mode(AdMode::Plain);
    let drift = (!restored).then_some((start, end));
    Ok(Report { direction, results, restored, jets_restored, drift, overflow, wrong })
}
