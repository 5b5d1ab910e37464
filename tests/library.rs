//! The library of Nil, function by function: values and derivatives against the same mathematics written here in doubles, and back again
//! from every result, bit for bit where numbers are fixed-point.

mod dynamics;
mod matrices;
mod page;
mod scheduling;
mod sorting;
mod sparse;
mod special;
mod statistics;
mod vectors;

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::PI;

use pendula::arguments;
use pendula::compiler::compile::{Options, compile};
use pendula::compiler::nil::library::MODULES;
use pendula::compiler::nil::sema::{Argument, Number};
use pendula::compiler::passes::Switches;
use pendula::grad::{self, grad, to_end};
use pendula::isa::counts::Direction;
use pendula::isa::module::{Symbol, SymbolKind};
use pendula::isa::num::convert::to_f64;
use pendula::isa::text::{NoNames, display};
use pendula::isa::{Env, Fault, Module, Ty};
use pendula::values;
use pendula::vm::{Config, Machine, Outcome, Program, StepOutcome};

/// An argument of a program under test. Real numbers are tried as `Float64` and as `Fixed`.
#[derive(Clone, Debug)]
enum Arg {
    Real(f64),
    Reals(Vec<f64>),
    /// Rows, columns, and elements column by column.
    Matrix(usize, usize, Vec<f64>),
    Complex(f64, f64),
    /// Real and imaginary parts in turn.
    Complexes(Vec<f64>),
    Log(f64),
    Int(i64),
    Ints(Vec<i64>),
    Sparse(Sparse),
}

/// A matrix in compressed columns.
#[derive(Clone, Debug)]
struct Sparse {
    m: usize,
    n: usize,
    colptr: Vec<i64>,
    rowval: Vec<i64>,
    /// For complex elements, real and imaginary parts in turn.
    nzval: Vec<f64>,
    complex: bool,
}

fn floats(x: &[f64]) -> Vec<Number> {
    x.iter().map(|x| Number::Float(*x)).collect()
}

fn ints(x: &[i64]) -> Vec<Number> {
    x.iter().map(|x| Number::Int(*x)).collect()
}

impl Arg {
    fn argument(&self) -> Argument {
        match self {
            Arg::Real(x) | Arg::Log(x) => Argument::Number(Number::Float(*x)),
            Arg::Reals(x) => Argument::Array(vec![x.len()], floats(x)),
            Arg::Matrix(m, n, x) => Argument::Array(vec![*m, *n], floats(x)),
            Arg::Complex(re, im) => Argument::Tuple(vec![Arg::Real(*re).argument(), Arg::Real(*im).argument()]),
            Arg::Complexes(x) => Argument::Array(vec![x.len() / 2], floats(x)),
            Arg::Int(k) => Argument::Number(Number::Int(*k)),
            Arg::Ints(k) => Argument::Array(vec![k.len()], ints(k)),
            Arg::Sparse(a) => {
                let values = if a.complex { Arg::Complexes(a.nzval.clone()) } else { Arg::Reals(a.nzval.clone()) };
                let parts = [
                    Arg::Int(a.m as i64),
                    Arg::Int(a.n as i64),
                    Arg::Ints(a.colptr.clone()),
                    Arg::Ints(a.rowval.clone()),
                    values,
                ];
                Argument::Tuple(parts.iter().map(Arg::argument).collect())
            }
        }
    }

    fn ty(&self, t: &str) -> String {
        match self {
            Arg::Real(_) => t.to_string(),
            Arg::Reals(_) => format!("Vector{{{t}}}"),
            Arg::Matrix(..) => format!("Matrix{{{t}}}"),
            Arg::Complex(..) => format!("Complex{{{t}}}"),
            Arg::Complexes(_) => format!("Vector{{Complex{{{t}}}}}"),
            Arg::Log(_) => "ULogarithmic".to_string(),
            Arg::Int(_) => "Int".to_string(),
            Arg::Ints(_) => "Vector{Int}".to_string(),
            Arg::Sparse(a) if a.complex => format!("SparseMatrixCSC{{Complex{{{t}}}}}"),
            Arg::Sparse(_) => format!("SparseMatrixCSC{{{t}}}"),
        }
    }

    /// Its numbers; of a sparse matrix the values.
    fn numbers(&self) -> Vec<f64> {
        match self {
            Arg::Real(x) | Arg::Log(x) => vec![*x],
            Arg::Reals(x) | Arg::Matrix(_, _, x) | Arg::Complexes(x) => x.clone(),
            Arg::Complex(re, im) => vec![*re, *im],
            Arg::Int(k) => vec![*k as f64],
            Arg::Ints(k) => k.iter().map(|k| *k as f64).collect(),
            Arg::Sparse(a) => a.nzval.clone(),
        }
    }

    /// The data symbols that hold these numbers.
    fn symbols(&self, name: &str) -> Vec<String> {
        match self {
            Arg::Complex(..) => vec![format!("{name}.re"), format!("{name}.im")],
            Arg::Sparse(_) => vec![format!("{name}.nzval")],
            _ => vec![name.to_string()],
        }
    }

    fn is_integer(&self) -> bool {
        matches!(self, Arg::Int(_) | Arg::Ints(_))
    }
}

/// A program: what it uses, what it does, and its arguments by name. Names of those that change end in `!`.
#[derive(Clone)]
struct Case {
    module: &'static str,
    /// Statements of the entry function.
    body: String,
    /// Other functions.
    more: &'static str,
    args: Vec<(&'static str, Arg)>,
    /// Arguments by which nothing is differentiated.
    constant: Vec<&'static str>,
}

fn case<const N: usize>(module: &'static str, body: &str, args: [(&'static str, Arg); N]) -> Case {
    Case { module, body: body.to_string(), more: "", args: args.to_vec(), constant: Vec::new() }
}

/// How far numbers may be off, in units of their size, or of 1 if they are less.
#[derive(Clone, Copy)]
struct Tolerance {
    value: f64,
    derivative: f64,
}

const FLOAT: Tolerance = Tolerance { value: 1e-13, derivative: 1e-9 };

const FIXED: Tolerance = Tolerance { value: 1e-8, derivative: 1e-6 };

fn close(found: f64, wanted: f64, tolerance: f64) -> bool {
    (found - wanted).abs() <= tolerance * wanted.abs().max(1.0)
}

impl Case {
    fn source(&self) -> String {
        let names: Vec<&str> = self.args.iter().map(|(n, _)| *n).collect();
        format!(
            "using {}\n{}\n@i function main!({})\n    {}\nend\n",
            self.module,
            self.more,
            names.join(", "),
            self.body
        )
    }

    fn module(&self, t: &str, level: u8) -> Module {
        let options = Options {
            arguments: self.args.iter().map(|(_, a)| a.argument()).collect(),
            types: self.args.iter().map(|(_, a)| a.ty(t)).collect(),
            switches: Switches::level(level),
            ..Options::default()
        };
        build(&self.source(), &options)
    }

    /// The values of an argument, as a machine holds them.
    fn values(&self, machine: &Machine<'_>, k: usize) -> Vec<f64> {
        let (name, arg) = &self.args[k];
        arg.symbols(name).iter().flat_map(|symbol| numbers(machine, symbol)).collect()
    }

    /// Runs forward, compares with what the oracle makes of the arguments (what it makes NaN is not compared), and runs back: both as
    /// `Float64` and as `Fixed`.
    fn agrees(&self, oracle: impl Fn(&mut [Vec<f64>])) {
        self.run_forward_and_back("Float64", FLOAT, &oracle);
        self.run_forward_and_back("Fixed", FIXED, &oracle);
    }

    /// At the least and the most optimisation.
    fn run_forward_and_back(&self, t: &str, tolerance: Tolerance, oracle: &dyn Fn(&mut [Vec<f64>])) {
        for level in [0, 2] {
            self.runs(&program(self.module(t, level)), t, tolerance, oracle);
        }
    }

    fn runs(&self, program: &Program, t: &str, tolerance: Tolerance, oracle: &dyn Fn(&mut [Vec<f64>])) {
        let mut machine = machine(program);
        let (before, digest) = (machine.snapshot(), machine.digest());
        assert_eq!(machine.run(None), Outcome::Finished, "{t}\n{}", self.source());
        let mut wanted: Vec<Vec<f64>> = self.args.iter().map(|(_, a)| a.numbers()).collect();
        oracle(&mut wanted);
        for (k, wanted) in wanted.iter().enumerate() {
            let found = self.values(&machine, k);
            let same = found.len() == wanted.len()
                && found.iter().zip(wanted).all(|(f, w)| w.is_nan() || close(*f, *w, tolerance.value));
            assert!(same, "{t}: {} is {found:?}, not {wanted:?}\n{}", self.args[k].0, self.source());
        }
        // Nothing is left over: neither in registers nor where local arrays and frames were.
        let data = program.module().data.len();
        assert!(
            machine.memory()[data..].iter().all(|w| *w == 0),
            "{t}: something is left in memory\n{}",
            self.source()
        );
        machine.begin(Direction::Backward);
        assert_eq!(machine.run(None), Outcome::Finished, "back, {t}\n{}", self.source());
        if t == "Float64" {
            let float = |at: usize| {
                let holds = |s: &&Symbol| matches!(s.kind, SymbolKind::Data { ty: Ty::F, len, .. } if (s.value..s.value + len).contains(&(at as u64)));
                program.module().symbols.iter().any(|s| holds(&s))
            };
            for (at, (found, wanted)) in machine.memory()[..data].iter().copied().zip(before.mem.iter()).enumerate() {
                let [f, w] = [found, wanted].map(f64::from_bits);
                assert!(
                    if float(at) { close(f, w, 1e-12) } else { found == wanted },
                    "back: {f} is not {w}\n{}",
                    self.source()
                );
            }
        } else {
            assert!(machine.digest() == digest, "{t}: a run back does not restore every bit\n{}", self.source());
        }
    }

    /// Besides, compares the derivatives of every element of these arguments with respect to all real arguments.
    fn differentiates(&self, losses: &[&str], oracle: impl Fn(&mut [Vec<f64>])) {
        self.agrees(&oracle);
        self.derivatives("Float64", FLOAT, losses, &oracle);
        self.derivatives("Fixed", FIXED, losses, &oracle);
    }

    fn derivatives(&self, t: &str, tolerance: Tolerance, losses: &[&str], oracle: &dyn Fn(&mut [Vec<f64>])) {
        let program = program(self.module(t, 2));
        let start: Vec<Vec<f64>> = self.args.iter().map(|(_, a)| a.numbers()).collect();
        let counts = |k: &usize| {
            let (name, arg) = &self.args[*k];
            !arg.is_integer() && !start[*k].is_empty() && !self.constant.contains(name)
        };
        let inputs: Vec<usize> = (0..start.len()).filter(counts).collect();
        let wrt: Vec<String> = inputs.iter().flat_map(|k| self.args[*k].1.symbols(self.args[*k].0)).collect();
        for loss in losses {
            let at = self.args.iter().position(|(n, _)| n == loss).expect("an argument");
            for (i, symbol) in elements(&self.args[at].1, loss).into_iter().enumerate() {
                let mut machine = machine(&program);
                let options =
                    grad::Options { loss: Some(symbol.clone()), wrt: wrt.clone(), ..grad::Options::default() };
                let report = match grad(&mut machine, &options, to_end) {
                    Ok(report) => report,
                    Err(error) => panic!("{t}, {symbol}: {error:?}\n{}", self.source()),
                };
                assert!(
                    t == "Float64" || report.restored == Some(true),
                    "{symbol}: the run with gradients changes something\n{}",
                    self.source()
                );
                let found: Vec<f64> = report.losses[0]
                    .gradients
                    .iter()
                    .flat_map(|g| g.numbers())
                    .map(|x| x.expect("a derivative"))
                    .collect();
                let wanted: Vec<f64> = inputs
                    .iter()
                    .flat_map(|k| (0..start[*k].len()).map(move |j| (*k, j)))
                    .map(|(k, j)| {
                        slope(&start, k, j, &|args| {
                            oracle(args);
                            args[at][i]
                        })
                    })
                    .collect();
                // Where one derivative is great, rounding is of its size.
                let size = wanted.iter().fold(1.0_f64, |a, b| a.max(b.abs()));
                let same = found.len() == wanted.len()
                    && found.iter().zip(&wanted).all(|(f, w)| (f - w).abs() <= tolerance.derivative * size);
                assert!(same, "{t}: ∂{symbol} is {found:?}, not {wanted:?}\n{}", self.source());
            }
        }
    }

    /// The fault at which a run ends.
    fn traps(&self, t: &str) -> Fault {
        let program = program(self.module(t, 2));
        match machine(&program).run(None) {
            Outcome::Trap(trap) => trap.fault,
            other => panic!("{other:?}\n{}", self.source()),
        }
    }
}

/// The derivative of a function with respect to one number, by differences of the sixth order.
fn slope(start: &[Vec<f64>], k: usize, j: usize, f: &dyn Fn(&mut [Vec<f64>]) -> f64) -> f64 {
    let h = 1e-3;
    let at = |steps: f64| {
        let mut args = start.to_vec();
        args[k][j] += steps * h;
        f(&mut args)
    };
    let difference = |steps: f64| at(steps) - at(-steps);
    (45.0 * difference(1.0) - 9.0 * difference(2.0) + difference(3.0)) / (60.0 * h)
}

/// The names of an argument's words.
fn elements(arg: &Arg, name: &str) -> Vec<String> {
    match arg {
        Arg::Reals(x) | Arg::Matrix(_, _, x) => (0..x.len()).map(|i| format!("{name}[{}]", i + 1)).collect(),
        other => other.symbols(name),
    }
}

fn build(source: &str, options: &Options) -> Module {
    let compiled = compile("test.nil", source.to_string(), options);
    assert!(compiled.diagnostics.is_empty(), "{:#?}\n{source}", compiled.diagnostics);
    compiled.module.expect("a module")
}

fn program(module: Module) -> Program {
    Program::new(module, true).expect("a sound module")
}

fn machine(program: &Program) -> Machine<'_> {
    let mem = program.module().data.len() as u64 + 10_000;
    Machine::new(program, &Config { mem: Some(mem), ..Config::default() }).expect("a machine")
}

/// The numbers of a data symbol.
fn numbers(machine: &Machine<'_>, symbol: &str) -> Vec<f64> {
    let place = values::find(machine.program().module(), symbol).unwrap_or_else(|e| panic!("{symbol}: {e}"));
    let env = Env { format: machine.program().module().flags.format, ..Env::default() };
    values::words(machine, &place)
        .iter()
        .map(|w| if place.ty == Ty::Int { w.cast_signed() as f64 } else { to_f64(env, place.ty, *w) })
        .collect()
}

/// Numbers between −2 and 2, different for every seed: multiples of 1/64, which all types hold.
fn some(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let one = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 20) % 257) as f64 / 64.0 - 2.0
    };
    (0..count).map(one).collect()
}

fn reals(count: usize, seed: u64) -> Arg {
    Arg::Reals(some(count, seed))
}

fn matrix(m: usize, n: usize, seed: u64) -> Arg {
    Arg::Matrix(m, n, some(m * n, seed))
}

/// Adds y to x, element by element.
fn add(x: &mut [f64], y: &[f64]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += y;
    }
}

/// A·B, of an m×k and a k×n matrix.
fn product(a: &[f64], b: &[f64], m: usize, k: usize, n: usize) -> Vec<f64> {
    let element = |i: usize, j: usize| (0..k).map(|l| a[i + l * m] * b[l + j * k]).sum();
    (0..n).flat_map(|j| (0..m).map(move |i| (i, j))).map(|(i, j)| element(i, j)).collect()
}

fn transposed(a: &[f64], m: usize, n: usize) -> Vec<f64> {
    (0..m).flat_map(|i| (0..n).map(move |j| a[i + j * m])).collect()
}

const SIZES: [usize; 5] = [0, 1, 2, 3, 8];

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn variance(x: &[f64]) -> f64 {
    let m = mean(x);
    x.iter().map(|x| (x - m) * (x - m)).sum::<f64>() / (x.len() - 1) as f64
}

fn symbol(module: &Module, name: &str) -> usize {
    module.symbol(name).expect("a symbol").value as usize
}
