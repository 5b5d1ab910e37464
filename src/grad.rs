//! Gradients of a program by name: what `pendula grad` does, as a library.
//!
//! The program runs forward, the loss's gradient word is seeded, and the program runs backward with gradients. No tape
//! is kept. Results name each input. The implementation is in [`pendula_vm::gradient`].
//!
//! ```
//! use pendula::grad::{Options, grad, to_end};
//! let source = "
//!         .data
//!         .import x
//! x:      .double 3
//!         .export y
//! y:      .double 0
//!         .text
//! main:   start
//!         add.f   r1, [x]
//!         addmul.f [y], r1, r1
//!         sub.f   r1, [x]
//!         finish
//! ";
//! let assembly = pendula::asm::assemble::assemble("square.rasm", source.to_string(), &Default::default());
//! let program = pendula::vm::Program::new(assembly.module.expect("no errors"), true)?;
//! let mut machine = pendula::vm::Machine::new(&program, &Default::default())?;
//! let options = Options { hessian: true, ..Options::default() };
//! let report = grad(&mut machine, &options, to_end)?;
//! assert_eq!(report.losses[0].gradients[0].input.name, "x");
//! assert_eq!(report.losses[0].gradients[0].number(), Some(6.0));
//! assert_eq!(report.hessian.expect("asked for")[0][0], Some(2.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ops::Range;

use pendula_isa::Env;
use pendula_isa::module::Module;
use pendula_isa::num::convert::to_f64;
use pendula_isa::num::log;
use pendula_isa::types::{Reg, Ty};
use pendula_vm::gradient::{self, Cell, Variable, gradient_to_f64};
use pendula_vm::{AdMode, Machine, Outcome, Snapshot};

use crate::state::values::{self, Location, Place, ValueError};

mod defaults;
mod driver;
mod error;
pub mod taylor;

pub use defaults::with_defaults;
use driver::Driver;
pub use error::GradError;

/// The maximum number of inputs that [`Options::check`] compares. If there are more, it takes this many at equal
/// distances.
pub const CHECKED: usize = 100;

/// The maximum number of derivatives of a Jacobian or a Hessian.
pub const MOST: u64 = 10_000_000;

/// The options of a gradient: what to differentiate, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The loss, as [`values::find`] takes it. The default is the only exported number. It may be an array only with
    /// `jacobian`.
    pub loss: Option<String>,
    /// The inputs. The default is all imported numbers.
    pub wrt: Vec<String>,
    /// The factor for all derivatives, a number of the loss's type. The default is 1.
    pub seed: Option<String>,
    /// Also compute second derivatives.
    pub hessian: bool,
    /// Compute them all in one run back, and report those that are not zero, in [`Report::sweep`].
    pub sweep: bool,
    /// Compute the gradient of every element of the loss.
    pub jacobian: bool,
    /// Compare the derivatives with those of forward mode and of finite differences, and the second derivatives with
    /// those computed in the other way.
    pub check: bool,
    /// Keep the gradient words that `zero` drops, run forward again with gradients, and check that everything comes
    /// back.
    pub keep_dropped: bool,
    /// Do not keep what the first gradient run did not restore, [`Report::drift`].
    pub forget_drift: bool,
}

/// One input's part of a gradient.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// The input: a register, a word, or an array.
    pub input: Place,
    /// Its values at the start.
    pub values: Vec<u64>,
    /// Its gradient words as the machine holds them. For a `.l` loss, they belong to the logarithm of its magnitude,
    /// without the seed.
    pub words: Vec<u64>,
    /// The derivatives with respect to the values, each with its type: the gradient word's type, or a double for `.l`
    /// inputs and for a `.l` loss. `None` at a logarithmic zero, where there is no derivative.
    pub derivatives: Vec<Option<(u64, Ty)>>,
    env: Env,
}

impl Gradient {
    /// The derivatives as doubles.
    pub fn numbers(&self) -> Vec<Option<f64>> {
        self.derivatives.iter().map(|d| d.map(|(w, ty)| gradient_to_f64(self.env, ty, w))).collect()
    }

    /// The first derivative as a double.
    pub fn number(&self) -> Option<f64> {
        self.numbers().first().copied().flatten()
    }
}

/// A loss and its gradient.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The name, with its index if it is an element.
    pub name: String,
    /// Its location and type.
    pub variable: Variable,
    /// Its value.
    pub value: u64,
    /// The gradient, by input.
    pub gradients: Vec<Gradient>,
}

/// The comparison of one derivative. The numbers are derivatives of the loss times the seed with respect to the input;
/// for a logarithmic input, with respect to the logarithm of its magnitude.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The loss.
    pub loss: String,
    /// The input.
    pub input: String,
    /// True if the input is logarithmic; the derivatives compared are then those with respect to ln|input|.
    pub logarithmic: bool,
    /// The derivative by the run backward.
    pub adjoint: f64,
    /// The derivative by the run over dual numbers; `None` if that run stops or overflows.
    pub tangent: Option<f64>,
    /// The derivative by finite differences; `None` if they cannot be taken, or if two widths disagree: at a kink, or
    /// next to a trap.
    pub finite_difference: Option<f64>,
    /// True if the derivatives that exist agree.
    pub agrees: bool,
}

/// The gradients of a run, and the results of the checks.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The losses with their gradients.
    pub losses: Vec<Loss>,
    /// Second derivatives of the loss times the seed, with respect to all input words in their order; `None` at a
    /// logarithmic zero.
    pub hessian: Option<Vec<Vec<Option<f64>>>>,
    /// The second derivatives that are not zero, with [`Options::sweep`].
    pub sweep: Option<SparseHessian>,
    /// The comparisons, if requested.
    pub checks: Option<Vec<Check>>,
    /// The largest difference between the Hessian's elements computed in two ways, if a check was requested; for
    /// logarithmic inputs, with respect to their logarithms.
    pub hessian_difference: Option<f64>,
    /// True if that difference is small enough.
    pub hessian_agrees: bool,
    /// Whether the first gradient run restored the initial state bit for bit; `None` if that is not known, because a program that computes with doubles was
    /// run by code for whole runs, which gives words the values that they had.
    pub restored: Option<bool>,
    /// The values at the start and after the first gradient run, if they differ; none with [`Options::forget_drift`].
    pub drift: Option<(Snapshot, Snapshot)>,
    /// With [`Options::keep_dropped`]: how many nonzero gradient words were kept, and whether running forward again
    /// with gradients restored the state and the seeded gradient words.
    pub kept: Option<(usize, bool)>,
    /// Where a fixed-point number first overflowed and wrapped, and what words carried then: at [`AdMode::Plain`] it
    /// was a value, at [`AdMode::Gradient`] a gradient word, at [`AdMode::Tangent`] a tangent, else a second
    /// derivative. Runs on other inputs do not count.
    pub overflow: Option<(u32, AdMode)>,
    /// Where a gradient word, or one of a second derivative, first overflowed, even if values did so before: see
    /// [`GradError::Overflow`].
    pub wrong: Option<(u32, AdMode)>,
}

/// Second derivatives, where they are not zero: the numbers of two input words, the first of which is not the greater, and the
/// derivative; `None` at a logarithmic zero.
pub type SparseHessian = Vec<(usize, usize, Option<f64>)>;

impl Report {
    /// True if all requested checks agree, and no gradient word or second derivative overflowed.
    pub fn agrees(&self) -> bool {
        self.checks.iter().flatten().all(|c| c.agrees) && self.hessian_agrees && self.wrong.is_none()
    }

    /// Names the kind of word whose overflow made the derivatives wrong.
    pub fn what_is_wrong(&self) -> &'static str {
        match self.wrong {
            Some((_, AdMode::SecondGradient | AdMode::GradientTangent)) => "a second derivative",
            Some((_, AdMode::Plain | AdMode::Gradient | AdMode::Tangent)) | None => "a gradient word",
        }
    }

    /// All second derivatives, those that are zero included, however they were computed.
    pub fn dense_hessian(&self) -> Option<Vec<Vec<Option<f64>>>> {
        let Some(sweep) = &self.sweep else { return self.hessian.clone() };
        let count = self.input_words().len();
        let mut rows = vec![vec![Some(0.0); count]; count];
        for &(i, j, x) in sweep {
            rows[i][j] = x;
            rows[j][i] = x;
        }
        Some(rows)
    }

    /// The names of all input words, in the order of the Hessian's rows.
    pub fn input_words(&self) -> Vec<String> {
        self.losses.first().into_iter().flat_map(|l| &l.gradients).flat_map(|g| g.input.words()).collect()
    }
}

/// Runs a machine to its end: the usual argument of [`grad`].
///
/// # Errors
/// The outcome, if the run did not finish.
pub fn to_end(machine: &mut Machine<'_>) -> Result<(), Outcome> {
    match machine.run(None) {
        Outcome::Finished => Ok(()),
        other => Err(other),
    }
}

/// The words of a place that can carry gradients, one by one.
pub fn variables(place: &Place) -> Vec<Variable> {
    match place.at {
        Location::Register(r) => vec![Variable { cell: Cell::Register(r), ty: place.ty }],
        // Integers have no gradients.
        Location::Cell(_) => Vec::new(),
        Location::Memory { start, len, .. } => {
            let cell = |n| Variable { cell: Cell::Word((start + n) as usize), ty: place.ty };
            (0..len).map(cell).collect()
        }
    }
}

/// Where in the data these places are.
pub fn data(places: &[Place]) -> Vec<Range<usize>> {
    let of = |place: &Place| match place.at {
        Location::Register(_) | Location::Cell(_) => None,
        Location::Memory { start, len, .. } => Some(start as usize..(start + len) as usize),
    };
    places.iter().filter_map(of).collect()
}

fn find<E>(module: &Module, name: &str, what: &'static str) -> Result<Place, GradError<E>> {
    let name = name.trim();
    if name.is_empty() {
        return Err(GradError::NoName(what));
    }
    let place = values::find(module, name)?;
    match (place.ty.gradient(), place.at) {
        (_, Location::Register(Reg::ZERO)) => Err(GradError::Value(ValueError::Zero)),
        (Some(_), _) => Ok(place),
        (None, Location::Register(_)) => {
            Err(GradError::Integer(place.name, "; say how it is read: `.q`, `.l` or `.f` after its name"))
        }
        (None, Location::Memory { .. } | Location::Cell(_)) => Err(GradError::Integer(place.name, "")),
    }
}

/// The loss and the inputs that the options name, or else the defaults.
///
/// # Errors
/// The names do not fit.
pub fn places<E>(module: &Module, options: &Options) -> Result<(Place, Vec<Place>), GradError<E>> {
    let numbers = |import: bool| -> Vec<Place> {
        let marked = values::marked(module, |i, e| if import { i } else { e });
        marked.into_iter().filter(|p| p.ty.gradient().is_some()).collect()
    };
    let loss = match &options.loss {
        Some(name) => find(module, name, "the loss")?,
        None => match &numbers(false)[..] {
            [one] => one.clone(),
            [] => return Err(GradError::NoLoss("the program exports no number that has gradients".to_string())),
            many => {
                let names: Vec<&str> = many.iter().map(|p| p.name.as_str()).collect();
                return Err(GradError::NoLoss(format!("the program exports {}", names.join(", "))));
            }
        },
    };
    if let Location::Memory { len, array: true, .. } = loss.at
        && len != 1
        && !options.jacobian
    {
        let one = loss.words().into_iter().next().unwrap_or_default();
        return Err(GradError::Array { name: loss.name, len, one });
    }
    let inputs = if options.wrt.is_empty() {
        let inputs = numbers(true);
        if inputs.is_empty() {
            return Err(GradError::NoInputs);
        }
        inputs
    } else {
        options.wrt.iter().map(|n| find(module, n, "an input")).collect::<Result<_, _>>()?
    };
    Ok((loss, inputs))
}

/// The seed as a word of the loss's type.
fn seed<E>(text: &str, loss: &Place, env: Env) -> Result<u64, GradError<E>> {
    let no = |why: String| GradError::Seed { text: text.to_string(), why };
    let word = values::parse_number(&loss.name, text, loss.ty, env.format).map_err(|e| {
        let more = if let ValueError::Number { why, .. } = e { why } else { String::new() };
        no(format!("is no {} number, as the loss `{}` is{more}", loss.ty.name().replace(' ', "-"), loss.name))
    })?;
    if !to_f64(env, loss.ty, word).is_finite() {
        return Err(no("is not a finite number".to_string()));
    }
    Ok(word)
}

/// Refuses Jacobians and Hessians that are too large for the memory.
fn room<E>(options: &Options, loss: &Place, inputs: &[Place]) -> Result<(), GradError<E>> {
    let len = |place: &Place| u128::from(if let Location::Memory { len, .. } = place.at { len } else { 1 });
    let words: u128 = inputs.iter().map(len).sum();
    let refuse = |what, count| if count > u128::from(MOST) { Err(GradError::TooMany { what, count }) } else { Ok(()) };
    if options.jacobian {
        refuse("Jacobian", len(loss) * words)?;
    }
    if options.hessian && !options.sweep {
        refuse("Hessian", len(loss) * words * words)?;
    }
    Ok(())
}

/// The gradient of a program whose inputs are set in the machine. `run` runs the machine to its end, as [`to_end`]
/// does; it is called for every run forward or backward. The machine is left at its start, restored as far as the
/// program restores it.
///
/// # Errors
/// Names, types or seeds do not fit; the program cannot be differentiated; or `run` fails. A failure of `run` in a
/// check of first derivatives is not an error: the check records that the run stopped.
pub fn grad<E>(
    machine: &mut Machine<'_>,
    options: &Options,
    run: impl FnMut(&mut Machine<'_>) -> Result<(), E>,
) -> Result<Report, GradError<E>> {
    let request = Request::new(machine.program().module(), machine.env(), options)?;
    differentiate(machine, &request, run)
}

/// A gradient that has been looked up in a program, for any number of runs of it.
#[derive(Clone, Debug)]
pub struct Request {
    options: Options,
    loss: Place,
    inputs: Vec<Place>,
    seed: u64,
}

impl Request {
    /// Looks up what to differentiate.
    ///
    /// # Errors
    /// Names, types or seeds do not fit, or the program cannot be differentiated.
    pub fn new<E>(module: &Module, env: Env, options: &Options) -> Result<Request, GradError<E>> {
        gradient::differentiable(module).map_err(GradError::Refused)?;
        let (loss, inputs) = places(module, options)?;
        room(options, &loss, &inputs)?;
        let seed = match &options.seed {
            Some(text) => seed(text, &loss, env)?,
            None if loss.ty == Ty::L => log::ONE,
            None => gradient::one(env, loss.ty),
        };
        Ok(Request { options: options.clone(), loss, inputs, seed })
    }
}

/// [`grad`] of a program in which the request was looked up.
///
/// # Errors
/// `run` fails, derivatives overflow, or the seed is too large for the loss.
pub fn differentiate<E>(
    machine: &mut Machine<'_>,
    request: &Request,
    run: impl FnMut(&mut Machine<'_>) -> Result<(), E>,
) -> Result<Report, GradError<E>> {
    // Nobody looks at the gradient words of other inputs.
    machine.set_independent(Some(&data(&request.inputs)));
    let report = gradients(machine, request, run);
    machine.set_independent(None);
    report
}

fn gradients<E>(
    machine: &mut Machine<'_>,
    request: &Request,
    run: impl FnMut(&mut Machine<'_>) -> Result<(), E>,
) -> Result<Report, GradError<E>> {
    let Request { options, loss, inputs, seed } = request;
    let _span = tracing::debug_span!("gradient", loss = loss.name, inputs = inputs.len()).entered();
    let (start, env) = (machine.snapshot(), machine.env());
    let fresh = true;
    let whole = machine.engine_counts().whole;
    let mut driver = Driver { start, fresh, machine, run, seed: *seed, inputs, env, overflow: None, wrong: None };
    let mut report = Report {
        losses: Vec::new(),
        hessian: None,
        sweep: None,
        checks: None,
        hessian_difference: None,
        hessian_agrees: true,
        restored: Some(true),
        drift: None,
        kept: None,
        overflow: None,
        wrong: None,
    };
    for (n, (name, variable)) in loss.words().into_iter().zip(variables(loss)).enumerate() {
        let (loss, kept) = driver.loss(name, variable, options.keep_dropped && n == 0).map_err(GradError::Stopped)?;
        if loss.variable.ty == Ty::L && loss.value != log::ZERO && *seed != log::ZERO {
            let great = log::logarithm(*seed) + log::logarithm(loss.value) > log::MAX_LOG;
            if let (true, Some(text)) = (great, &options.seed) {
                return Err(GradError::TooGreat { text: text.clone(), loss: loss.name });
            }
        }
        if n == 0 {
            let restored = driver.machine.has_values(&driver.start);
            let is_known =
                driver.machine.engine_counts().whole == whole || !uses_doubles(driver.machine.program().module());
            report.restored = (is_known || !restored).then_some(restored);
            let told = !restored && !options.forget_drift;
            report.drift = told.then(|| (driver.start.clone(), driver.machine.snapshot()));
            report.kept = kept;
        }
        report.losses.push(loss);
    }
    // Computations that only compare come last: their runs may overflow where the others do not.
    if options.hessian {
        for n in 0..report.losses.len() {
            let done = if options.sweep {
                driver.sweep(n, options.check, &mut report)
            } else {
                driver.hessian(n, options.check, &mut report)
            };
            done.map_err(GradError::Stopped)?;
        }
    }
    if options.check {
        report.checks = Some(driver.checks(&report.losses));
    }
    (report.overflow, report.wrong) = (driver.overflow, driver.wrong);
    driver.machine.restore(&driver.start);
    driver.machine.carry_nothing_more();
    driver.machine.set_ad_mode(AdMode::Plain);
    if report.wrong.is_some() { Err(GradError::Overflow(Box::new(report))) } else { Ok(report) }
}

/// Whether a program computes with doubles, which may be rounded.
pub fn uses_doubles(module: &Module) -> bool {
    use pendula_isa::inst::Kind;
    fn uses(kind: Kind) -> bool {
        match kind {
            Kind::Accumulate { func, .. } => func.info().ty == Ty::F || func.info().args.iter().any(|a| a.ty == Ty::F),
            Kind::Row { ty, .. } => ty == Ty::F,
            Kind::Extension { extension, .. } => extension.info().steps[0].iter().any(|step| uses(step.kind)),
        }
    }
    module.code.iter().any(|inst| uses(inst.kind))
}
