//! Gradients, tangents and second derivatives of whole programs: against
//! closed forms, there and back again, by the host and by the program itself.
//! What single instructions do is in `vm/tests/gradient_rows.rs`.

mod losses;
mod nested;
mod number_systems;
mod orders;
mod random;
mod values;

use std::fmt::Write;
use std::ops::{Add, Div, Mul, Neg, Sub};

use pendula::asm::assemble::{Options, assemble};
use pendula::isa::adjoint::{GRADIENT, LANES, MIXED, SECOND, VALUE};
use pendula::isa::counts::Direction;
use pendula::isa::num::convert;
use pendula::isa::sample::{RandomProgram, Source, word};
use pendula::isa::types::{Reg, Ty};
use pendula::isa::{Env, Fault, Module};
use pendula::values::{Location, find};
use pendula::vm::gradient::{self, Cell, Variable};
use pendula::vm::{AdMode, Config, Machine, Outcome, Program, StepOutcome};

/// Words of memory.
const MEMORY: u64 = 256;

// ---------------------------------------------------------------------------
// Two derivatives at once

/// A number with its derivatives in two directions and the second derivative in both: another way to differentiate than the machine's.
#[derive(Clone, Copy, Debug)]
struct Hyper {
    v: f64,
    a: f64,
    b: f64,
    ab: f64,
}

impl Hyper {
    const fn constant(v: f64) -> Hyper {
        Hyper { v, a: 0.0, b: 0.0, ab: 0.0 }
    }
    /// A function with its first two derivatives.
    fn map(self, [f, first, second]: [f64; 3]) -> Hyper {
        Hyper { v: f, a: first * self.a, b: first * self.b, ab: first * self.ab + second * self.a * self.b }
    }
    fn sin(self) -> Hyper {
        self.map([self.v.sin(), self.v.cos(), -self.v.sin()])
    }
    fn cos(self) -> Hyper {
        self.map([self.v.cos(), -self.v.sin(), -self.v.cos()])
    }
    fn exp(self) -> Hyper {
        self.map([self.v.exp(); 3])
    }
    fn powf(self, k: f64) -> Hyper {
        let v = self.v;
        self.map([v.powf(k), k * v.powf(k - 1.0), k * (k - 1.0) * v.powf(k - 2.0)])
    }
}

impl Add for Hyper {
    type Output = Hyper;
    fn add(self, o: Hyper) -> Hyper {
        Hyper { v: self.v + o.v, a: self.a + o.a, b: self.b + o.b, ab: self.ab + o.ab }
    }
}

impl Neg for Hyper {
    type Output = Hyper;
    fn neg(self) -> Hyper {
        self.map([-self.v, -1.0, 0.0])
    }
}

impl Sub for Hyper {
    type Output = Hyper;
    fn sub(self, o: Hyper) -> Hyper {
        self + -o
    }
}

impl Mul for Hyper {
    type Output = Hyper;
    fn mul(self, o: Hyper) -> Hyper {
        let ab = self.ab * o.v + self.a * o.b + self.b * o.a + self.v * o.ab;
        Hyper { v: self.v * o.v, a: self.a * o.v + self.v * o.a, b: self.b * o.v + self.v * o.b, ab }
    }
}

impl Div for Hyper {
    type Output = Hyper;
    fn div(self, o: Hyper) -> Hyper {
        self * o.map([1.0 / o.v, -1.0 / (o.v * o.v), 2.0 / (o.v * o.v * o.v)])
    }
}

/// A closed form of what a program computes.
type Closed = fn(&[Hyper]) -> Hyper;

/// Value, gradient and Hessian of a closed form.
fn derivatives(f: Closed, x: &[f64]) -> (f64, Vec<f64>, Vec<Vec<f64>>) {
    let at = |i: usize, j: usize| {
        let x = x.iter().enumerate().map(|(n, v)| Hyper { v: *v, a: f64::from(n == i), b: f64::from(n == j), ab: 0.0 });
        f(&x.collect::<Vec<Hyper>>())
    };
    let gradient = (0..x.len()).map(|i| at(i, i).a).collect();
    let hessian = (0..x.len()).map(|i| (0..x.len()).map(|j| at(i, j).ab).collect()).collect();
    (f(&x.iter().map(|v| Hyper::constant(*v)).collect::<Vec<Hyper>>()).v, gradient, hessian)
}

// ---------------------------------------------------------------------------
// Programs

fn module(text: &str) -> Module {
    let assembly = assemble("test.rasm", text.to_string(), &Options::default());
    assembly.module.unwrap_or_else(|| panic!("{:#?}\n{text}", assembly.diagnostics))
}

fn load(text: &str) -> Program {
    Program::new(module(text), true).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn machine(program: &Program) -> Machine<'_> {
    Machine::new(program, &Config { mem: Some(MEMORY), ..Config::default() }).expect("a small memory")
}

fn end(m: &mut Machine<'_>) -> Result<(), Outcome> {
    match m.run(None) {
        Outcome::Finished => Ok(()),
        other => Err(other),
    }
}

fn variable(module: &Module, name: &str) -> Variable {
    let place = find(module, name).unwrap_or_else(|e| panic!("{e}"));
    let cell = match place.at {
        Location::Register(r) => Cell::Register(r),
        Location::Memory { start, .. } => Cell::Word(start as usize),
        Location::Cell(at) => panic!("{name} is in the cell [{at}], which has no gradient"),
    };
    Variable { cell, ty: place.ty }
}

fn word_of(env: Env, ty: Ty, x: f64) -> u64 {
    convert::from_f64(env, ty, x).expect("a moderate number")
}

fn per_instruction(m: &Machine) -> Vec<(pendula::isa::counts::Mode, Vec<u64>)> {
    let counts = m.counts();
    let len = m.program().module().code.len();
    counts.modes.iter().map(|mode| (mode.mode, counts.per_instruction(mode, len))).collect()
}

/// By single steps, as [`Machine::run`].
fn step(m: &mut Machine) -> Outcome {
    loop {
        match m.step() {
            StepOutcome::Executed(_) => {}
            StepOutcome::Finished => return Outcome::Finished,
            StepOutcome::Trap(trap) => return Outcome::Trap(trap),
        }
    }
}

/// A program, its inputs, and what it computes.
struct Case {
    name: &'static str,
    text: String,
    loss: &'static str,
    inputs: Vec<(&'static str, f64)>,
    closed: Closed,
    /// How far derivatives may be off, as part of the greatest of their row.
    tolerance: f64,
    /// True if everything is restored bit for bit.
    exact: bool,
}

impl Case {
    /// The program with `.T` for `.q` and for `.f`, and its data: words of that type.
    fn both(name: &'static str, body: &str, inputs: &[(&'static str, f64)], extra: &str, closed: Closed) -> [Case; 2] {
        [(".q", ".fixed", 1e-7, true), (".f", ".double", 1e-12, false)].map(|(suffix, directive, tolerance, exact)| {
            let mut text = String::from("        .data\n");
            for (name, _) in inputs {
                let _ = writeln!(text, "{name}: {directive} 0");
            }
            let _ = writeln!(text, "y: {directive} 0\n{extra}        .text\n{body}");
            let text = text.replace(".T", suffix).replace(".WORDS", directive);
            Case { name, text, loss: "y", inputs: inputs.to_vec(), closed, tolerance, exact }
        })
    }

    /// Everything that must hold of a program that the host can differentiate.
    fn check(&self) {
        let program = load(&self.text);
        let module = program.module();
        gradient::differentiable(module).unwrap_or_else(|e| panic!("{}: {e:?}", self.name));
        let mut m = machine(&program);
        let env = m.env();
        let loss = variable(module, self.loss);
        let inputs: Vec<Variable> = self.inputs.iter().map(|(name, _)| variable(module, name)).collect();
        for (variable, (_, x)) in inputs.iter().zip(&self.inputs) {
            m.put(VALUE, variable.cell, word_of(env, variable.ty, *x));
        }
        let start = m.snapshot();
        let x: Vec<f64> = inputs.iter().map(|v| convert::to_f64(env, v.ty, m.get(VALUE, v.cell))).collect();
        let (value, mut gradient, mut hessian) = derivatives(self.closed, &x);
        // With respect to logarithms where numbers are logarithmic.
        let scale = |n: usize| if inputs[n].ty == Ty::L { x[n] } else { 1.0 };
        for i in 0..x.len() {
            for (j, h) in hessian[i].iter_mut().enumerate() {
                *h = *h * scale(i) * scale(j) + if i == j && inputs[i].ty == Ty::L { gradient[i] * x[i] } else { 0.0 };
            }
        }
        (0..x.len()).for_each(|n| gradient[n] *= scale(n));
        if loss.ty == Ty::L {
            // Those of the logarithm of the loss.
            gradient.iter_mut().for_each(|g| *g /= value);
            for (row, a) in hessian.iter_mut().zip(&gradient) {
                row.iter_mut().zip(&gradient).for_each(|(h, b)| *h = *h / value - a * b);
            }
        }
        let word = gradient::one(env, loss.ty);
        let near = |found: &[f64], wanted: &[f64], tolerance: f64, what: &str| {
            let scale = wanted.iter().fold(1.0, |s: f64, x| s.max(x.abs()));
            for (a, b) in found.iter().zip(wanted) {
                assert!((a - b).abs() <= tolerance * scale, "{}: {what}: {found:?}, wanted {wanted:?}", self.name);
            }
        };
        let read = |m: &Machine, lane: usize| -> Vec<f64> {
            inputs.iter().map(|v| gradient::gradient_to_f64(env, v.ty, m.get(lane, v.cell))).collect()
        };

        // Forward, and backward with gradients.
        gradient::forward(&mut m, &mut end).unwrap_or_else(|e| panic!("{}: {e:?}", self.name));
        near(&[convert::to_f64(env, loss.ty, m.get(VALUE, loss.cell))], &[value], self.tolerance, "value");
        let forward = m.executed();
        m.set_ad_mode(AdMode::Gradient);
        m.put(GRADIENT, loss.cell, word);
        let seeded = m.digest();
        m.keep_dropped();
        gradient::gradient(&mut m, loss, word, &mut end).unwrap_or_else(|e| panic!("{}: {e:?}", self.name));
        near(&read(&m, GRADIENT), &gradient, self.tolerance, "gradient");
        // A gradient word that is not kept is lost, no other.
        assert_eq!(m.counts().lost_bits() == 0, self.exact || m.flags().inexact.is_none(), "{}", self.name);
        if self.exact {
            assert!(m.snapshot() == start, "{} does not come back", self.name);
        }
        // Each direction has its own counts, and they are the same.
        let counts = per_instruction(&m);
        let modes: Vec<_> = counts.iter().map(|(mode, _)| (mode.direction, mode.level, mode.tangents)).collect();
        let backwards = self.text.contains("uncall");
        if !backwards {
            assert_eq!(modes, [(Direction::Forward, 0, false), (Direction::Backward, 1, false)], "{}", self.name);
            assert_eq!(counts[0].1, counts[1].1, "{}", self.name);
        }
        assert_eq!(counts.iter().flat_map(|(_, n)| n).sum::<u64>(), m.executed(), "{}", self.name);
        assert_eq!(m.executed(), 2 * forward, "{}", self.name);
        for level in [0, 1] {
            let of_level = counts.iter().filter(|(mode, _)| mode.level == level).flat_map(|(_, n)| n);
            assert_eq!(of_level.sum::<u64>(), forward, "{} at level {level}", self.name);
        }
        // Forward again: everything is as it was seeded.
        m.reverse_dropped();
        m.begin(Direction::Forward);
        end(&mut m).unwrap_or_else(|e| panic!("{}: {e:?}", self.name));
        assert_eq!(m.dropped_words(), 0, "{}", self.name);
        m.discard_dropped();
        if self.exact {
            assert_eq!(m.digest(), seeded, "{}", self.name);
        }
        let g = gradient::gradient_to_f64(env, loss.ty, m.get(GRADIENT, loss.cell));
        near(&[g], &[gradient::gradient_to_f64(env, loss.ty, word)], self.tolerance, "the seed");

        for (n, of) in inputs.iter().enumerate() {
            // Dual numbers.
            m.restore(&start);
            gradient::tangent(&mut m, *of, &mut end).unwrap_or_else(|e| panic!("{}: {e:?}", self.name));
            let t = gradient::gradient_to_f64(env, loss.ty, m.get(SECOND, loss.cell));
            near(&[t], &[gradient[n]], self.tolerance * gradient[n].abs().max(1.0), "tangent");
            // Second derivatives, in two ways.
            m.restore(&start);
            gradient::hessian_row(&mut m, loss, word, *of, &mut end).unwrap_or_else(|e| panic!("{}: {e:?}", self.name));
            let row = read(&m, MIXED);
            near(&row, &hessian[n], 10.0 * self.tolerance, "Hessian");
            near(&read(&m, GRADIENT), &gradient, self.tolerance, "gradient with tangents");
            m.restore(&start);
            gradient::hessian_row_by_reversing_twice(&mut m, loss, word, *of, &mut end)
                .unwrap_or_else(|e| panic!("{}: {e:?}", self.name));
            let twice = read(&m, GRADIENT);
            near(
                &twice,
                &row,
                if loss.ty == Ty::F && self.tolerance < 1e-9 { 1e-10 } else { 10.0 * self.tolerance },
                "twice",
            );
        }
        m.restore(&start);
        self.check_orders(&mut m, (loss, &inputs), (&gradient, &hessian));
        self.check_steps(&program, loss, &inputs);
    }

    /// In every AD mode, single steps do what a run does; what they leave in the lanes, they take back.
    fn check_steps(&self, program: &Program, loss: Variable, inputs: &[Variable]) {
        for ad_mode in AdMode::ALL {
            let mut runs = [machine(program), machine(program)];
            let env = runs[0].env();
            for m in &mut runs {
                for (variable, (_, x)) in inputs.iter().zip(&self.inputs) {
                    m.put(VALUE, variable.cell, word_of(env, variable.ty, *x));
                }
                m.run(None);
                m.set_ad_mode(ad_mode);
                for &lane in ad_mode.lanes() {
                    m.put(lane, loss.cell, word_of(env, if loss.ty == Ty::F { Ty::F } else { Ty::Q }, 0.5));
                }
                m.keep_dropped();
            }
            let before = runs[0].digest();
            for direction in [Direction::Backward, Direction::Forward] {
                let [whole, steps] = &mut runs;
                whole.begin(direction);
                steps.begin(direction);
                assert_eq!(whole.run(None), Outcome::Finished, "{} {ad_mode:?}", self.name);
                assert_eq!(step(steps), Outcome::Finished, "{} {ad_mode:?}", self.name);
                assert_eq!(whole.digest(), steps.digest(), "{} {ad_mode:?}", self.name);
                assert_eq!(whole.executed(), steps.executed(), "{} {ad_mode:?}", self.name);
                assert_eq!(per_instruction(whole), per_instruction(steps), "{} {ad_mode:?}", self.name);
                assert_eq!(whole.counts().lost_bits(), steps.counts().lost_bits(), "{} {ad_mode:?}", self.name);
                runs.iter_mut().for_each(Machine::reverse_dropped);
            }
            if self.exact {
                assert_eq!(runs[0].digest(), before, "{} {ad_mode:?}", self.name);
            }
        }
    }
}

fn check_both(name: &'static str, body: &str, inputs: &[(&'static str, f64)], closed: Closed) {
    Case::both(name, body, inputs, "", closed).iter().for_each(Case::check);
}

const K: fn(f64) -> Hyper = Hyper::constant;

fn cell(n: u8) -> Cell {
    Cell::Register(Reg::new(n).expect("a register"))
}
