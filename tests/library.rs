//! The library of Nil, function by function: values and derivatives against the same mathematics written here in doubles, and back again
//! from every result, bit for bit where numbers are fixed-point.

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
use pendula::vm::{Config, Machine, Outcome, Program, Stepped};

// Programs and their runs.

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
        self.there_and_back("Float64", FLOAT, &oracle);
        self.there_and_back("Fixed", FIXED, &oracle);
    }

    /// At the least and the most optimisation.
    fn there_and_back(&self, t: &str, tolerance: Tolerance, oracle: &dyn Fn(&mut [Vec<f64>])) {
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
                    t == "Float64" || report.restored,
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

// vectors

#[test]
fn sums_and_norms() {
    for n in SIZES {
        let x = reals(n, 1);
        let of_one = |f: &str| case("vectors", f, [("s!", Arg::Real(0.5)), ("x", x.clone())]);
        of_one("vsum!(s!, x)").differentiates(&["s!"], |a| a[0][0] += a[1].iter().sum::<f64>());
        of_one("norm1!(s!, x)").differentiates(&["s!"], |a| a[0][0] += a[1].iter().map(|x| x.abs()).sum::<f64>());
        of_one("norm2!(s!, x)").differentiates(&["s!"], |a| a[0][0] += a[1].iter().map(|x| x * x).sum::<f64>());
        let norm = |a: &mut [Vec<f64>]| a[0][0] += a[1].iter().map(|x| x * x).sum::<f64>().sqrt();
        if n == 0 {
            of_one("norm!(s!, x)").agrees(norm);
        } else {
            of_one("norm!(s!, x)").differentiates(&["s!"], norm);
        }
        let of_two = |f: &str| case("vectors", f, [("s!", Arg::Real(-1.5)), ("x", x.clone()), ("y", reals(n, 2))]);
        let dot = |a: &mut [Vec<f64>]| a[0][0] += a[1].iter().zip(&a[2]).map(|(x, y)| x * y).sum::<f64>();
        of_two("dot!(s!, x, y)").differentiates(&["s!"], dot);
        of_two("dot!(s!, x, x)").differentiates(&["s!"], |a| a[0][0] += a[1].iter().map(|x| x * x).sum::<f64>());
        let distance = |a: &mut [Vec<f64>]| {
            a[0][0] += a[1].iter().zip(&a[2]).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt();
        };
        if n == 0 {
            of_two("distance!(s!, x, y)").agrees(distance);
        } else {
            of_two("distance!(s!, x, y)").differentiates(&["s!"], distance);
        }
    }
    let sum = case("vectors", "vsum!(s!, A)", [("s!", Arg::Real(0.5)), ("A", matrix(3, 2, 4))]);
    sum.differentiates(&["s!"], |a| a[0][0] += a[1].iter().sum::<f64>());
    // A row of a matrix is a vector, too.
    let row = case("vectors", "vsum!(s!, A[2, :])", [("s!", Arg::Real(0.5)), ("A", matrix(3, 2, 4))]);
    row.differentiates(&["s!"], |a| a[0][0] += a[1][1] + a[1][4]);
}

#[test]
fn vectors_in_place() {
    for n in SIZES {
        let one = |f: &str| case("vectors", f, [("x!", reals(n, 3))]);
        one("cumsum!(x!)").differentiates(&["x!"], |a| {
            let sums = (1..=n).map(|k| a[0][..k].iter().sum()).collect();
            a[0] = sums;
        });
        one("reverse!(x!)").differentiates(&["x!"], |a| a[0].reverse());
        one("reverse!(x!)\n    reverse!(x!)").agrees(|_| ());
        let axpy = |y: Arg, x: Arg| {
            let case = case("vectors", "axpy!(y!, a, x)", [("y!", y), ("a", Arg::Real(-1.25)), ("x", x)]);
            case.differentiates(&["y!"], |a| {
                let sum: Vec<f64> = a[2].iter().map(|x| a[1][0] * x).collect();
                add(&mut a[0], &sum);
            });
        };
        axpy(reals(n, 4), reals(n, 5));
        axpy(matrix(n, 2, 4), matrix(n, 2, 5));
    }
}

#[test]
fn vectors_of_complex_numbers() {
    let (x, y) = (some(6, 11), some(6, 12));
    let args = [("s!", Arg::Complex(0.5, 1.0)), ("x", Arg::Complexes(x.clone())), ("y", Arg::Complexes(y.clone()))];
    case("vectors", "dot!(s!, x, y)", args).agrees(|a| {
        for (x, y) in x.chunks(2).zip(y.chunks(2)) {
            a[0][0] += x[0] * y[0] + x[1] * y[1];
            a[0][1] += x[0] * y[1] - x[1] * y[0];
        }
    });
    let square = x.iter().map(|x| x * x).sum::<f64>();
    let one = |f: &str| case("vectors", f, [("s!", Arg::Real(0.5)), ("x", Arg::Complexes(x.clone()))]);
    one("norm2!(s!, x)").agrees(|a| a[0][0] += square);
    one("norm!(s!, x)").agrees(|a| a[0][0] += square.sqrt());
    one("norm1!(s!, x)").agrees(|a| a[0][0] += x.chunks(2).map(|x| x[0].hypot(x[1])).sum::<f64>());
    let args = [("y!", Arg::Complexes(y)), ("a", Arg::Complex(0.5, -2.0)), ("x", Arg::Complexes(x))];
    case("vectors", "axpy!(y!, a, x)", args).agrees(|a| {
        for k in 0..3 {
            let (re, im) = (a[2][2 * k], a[2][2 * k + 1]);
            add(&mut a[0][2 * k..2 * k + 2], &[0.5 * re + 2.0 * im, 0.5 * im - 2.0 * re]);
        }
    });
}

#[test]
fn products_of_logarithmic_numbers() {
    for x in [vec![], vec![3.0], vec![3.0, -5.0, 0.25]] {
        let case = case("vectors", "vprod!(p!, x)", [("p!", Arg::Log(2.0)), ("x", Arg::Reals(x))]);
        let oracle = |a: &mut [Vec<f64>]| a[0][0] *= a[1].iter().product::<f64>();
        // Gradient words of logarithmic numbers are fixed-point numbers.
        let tolerance = Tolerance { derivative: 1e-8, ..FLOAT };
        case.there_and_back("Float64", FLOAT, &oracle);
        case.there_and_back("Fixed", FIXED, &oracle);
        case.derivatives("Float64", tolerance, &["p!"], &oracle);
        case.derivatives("Fixed", FIXED, &["p!"], &oracle);
    }
    let zero = case("vectors", "vprod!(p!, x)", [("p!", Arg::Log(2.0)), ("x", Arg::Reals(vec![1.0, 0.0]))]);
    assert_eq!(zero.traps("Float64"), Fault::LogZero);
}

#[test]
fn shapes_must_fit() {
    let (x, y) = (("x", reals(3, 1)), ("y", reals(2, 2)));
    for body in ["dot!(s!, x, y)", "distance!(s!, x, y)"] {
        let fault = case("vectors", body, [("s!", Arg::Real(0.0)), x.clone(), y.clone()]).traps("Fixed");
        assert!(matches!(fault, Fault::Assert), "{body}: {fault:?}");
    }
    for (module, body) in [
        ("matrices", "matvec!(x, A!, y)"),
        ("matrices", "outer!(A!, x, x)"),
        ("matrices", "unitary!(x, y)"),
        ("sorting", "permute!(x, k)"),
        ("dynamics", "leapfrog!(x, y, spring!, 1.0, 0.5, 1)"),
    ] {
        let args = [x.clone(), y.clone(), ("A!", matrix(2, 2, 3)), ("k", Arg::Ints(vec![1, 2]))];
        let fault = case(module, body, args).traps("Float64");
        assert!(matches!(fault, Fault::Assert), "{body}: {fault:?}");
    }
}

/// Indices that come from data, and records that are undone, are checked: nothing outside of an array is changed.
#[test]
fn indices_from_data_are_checked() {
    let matrix = |colptr: &[i64], rowval: &[i64]| {
        let nzval = vec![5.0, 6.0];
        Arg::Sparse(Sparse { m: 2, n: 2, colptr: colptr.to_vec(), rowval: rowval.to_vec(), nzval, complex: false })
    };
    let (row, below, columns) = (matrix(&[1, 2, 3], &[1, 7]), matrix(&[1, 2, 3], &[0, 1]), matrix(&[1, 2, 9], &[1, 2]));
    for a in [row, below, columns.clone()] {
        for body in ["sparse_mul!(y!, A, x)", "sparse_tmul!(y!, A, x)"] {
            let args = [("y!", reals(2, 1)), ("A", a.clone()), ("x", reals(2, 2))];
            let fault = case("sparse", body, args).traps("Float64");
            assert!(matches!(fault, Fault::Assert), "{body}: {fault:?}");
        }
    }
    let good = matrix(&[1, 2, 3], &[1, 2]);
    for (module, body) in [
        ("sparse", "sparse_dot!(r!, A, B)"),
        ("sparse", "sparse_dot!(r!, B, A)"),
        ("sparse", "sparse_column_dot!(r!, k, x, j, x)"),
        ("sorting", "merge_runs!(x, k, y, k2, 1)"),
        ("sorting", "merge_runs!(x, j, x2, k, 1)"),
        ("sorting", "(~merge_runs!)(x, ones, x2, k, 1)"),
        ("statistics", "greatest_record!(n, k, y)"),
        ("statistics", "greatest_record!(five, k, x)"),
    ] {
        let args = [
            ("r!", Arg::Real(0.0)),
            ("A", columns.clone()),
            ("B", good.clone()),
            ("x", reals(2, 1)),
            ("x2", Arg::Reals(vec![0.0, 0.0])),
            ("y", reals(3, 2)),
            ("k", Arg::Ints(vec![0, 0])),
            ("k2", Arg::Ints(vec![1, 2])),
            ("j", Arg::Ints(vec![1])),
            ("ones", Arg::Ints(vec![1, 1])),
            ("n", Arg::Int(0)),
            ("five", Arg::Int(5)),
        ];
        let fault = case(module, body, args).traps("Float64");
        assert!(matches!(fault, Fault::Assert), "{body}: {fault:?}");
    }
}

// matrices

#[test]
fn products_of_matrices() {
    for (m, n) in [(0, 0), (1, 1), (2, 3), (3, 2), (4, 4), (1, 5), (0, 3), (3, 0)] {
        let (a, x, y) = (("A", matrix(m, n, 1)), ("x", reals(n, 2)), ("y!", reals(m, 3)));
        case("matrices", "matvec!(y!, A, x)", [y.clone(), a.clone(), x.clone()]).differentiates(&["y!"], |a| {
            let p = product(&a[1], &a[2], m, n, 1);
            add(&mut a[0], &p);
        });
        let args = [("y!", reals(n, 3)), a.clone(), ("x", reals(m, 2))];
        case("matrices", "matvec!(y!, A', x)", args).differentiates(&["y!"], |a| {
            let p = product(&transposed(&a[1], m, n), &a[2], n, m, 1);
            add(&mut a[0], &p);
        });
        let args = [y, a, ("b", reals(m, 4)), x];
        case("matrices", "affine!(y!, A, b, x)", args).differentiates(&["y!"], |a| {
            let p = product(&a[1], &a[3], m, n, 1);
            add(&mut a[0], &p);
            let b = a[2].clone();
            add(&mut a[0], &b);
        });
        let args = [("A!", matrix(m, n, 5)), ("x", reals(m, 6)), ("y", reals(n, 7))];
        case("matrices", "outer!(A!, x, y)", args).differentiates(&["A!"], |a| {
            let p = product(&a[1], &a[2], m, 1, n);
            add(&mut a[0], &p);
        });
    }
    for (m, k, n) in [(1, 1, 1), (2, 3, 2), (3, 1, 4), (2, 0, 2), (0, 2, 1)] {
        let args = [("C!", matrix(m, n, 1)), ("A", matrix(m, k, 2)), ("B", matrix(k, n, 3))];
        case("matrices", "matmul!(C!, A, B)", args).differentiates(&["C!"], |a| {
            let p = product(&a[1], &a[2], m, k, n);
            add(&mut a[0], &p);
        });
        let args = [("C!", matrix(m, n, 1)), ("A", matrix(k, m, 2)), ("B", matrix(n, k, 3))];
        case("matrices", "matmul!(C!, A', B')", args).differentiates(&["C!"], |a| {
            let p = product(&transposed(&a[1], k, m), &transposed(&a[2], n, k), m, k, n);
            add(&mut a[0], &p);
        });
    }
}

#[test]
fn products_of_complex_matrices() {
    let body = "A ← zeros(T, 2, 2)
    for i = 1:4
        A[i] += a[i]
    end
    matvec!(y!, A, x)
    for i = 1:4
        A[i] -= a[i]
    end
    A → zeros(T, 2, 2)";
    for t in ["Float64", "Fixed"] {
        let body = body.replace('T', &format!("Complex{{{t}}}"));
        let (a, x) = (some(8, 1), some(4, 2));
        let args =
            [("y!", Arg::Complexes(vec![0.5; 4])), ("a", Arg::Complexes(a.clone())), ("x", Arg::Complexes(x.clone()))];
        let tolerance = if t == "Fixed" { FIXED } else { FLOAT };
        case("matrices", &body, args).there_and_back(t, tolerance, &|args| {
            for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let (ar, ai) = (a[2 * (i + 2 * j)], a[2 * (i + 2 * j) + 1]);
                let (xr, xi) = (x[2 * j], x[2 * j + 1]);
                add(&mut args[0][2 * i..2 * i + 2], &[ar * xr - ai * xi, ar * xi + ai * xr]);
            }
        });
    }
}

/// The rotations of `unitary!`.
fn rotate(x: &mut [f64], angles: &[f64]) {
    let mut angles = angles.iter();
    for j in 0..x.len().saturating_sub(1) {
        for i in (j..x.len() - 1).rev() {
            let (s, c) = angles.next().expect("an angle").sin_cos();
            (x[i], x[i + 1]) = (x[i] * c - x[i + 1] * s, x[i] * s + x[i + 1] * c);
        }
    }
}

#[test]
fn products_of_rotations() {
    for m in [0_usize, 1, 2, 3, 5] {
        let angles = reals(m * m.saturating_sub(1) / 2, 1);
        let vector = case("matrices", "unitary!(x!, θ)", [("x!", reals(m, 2)), ("θ", angles.clone())]);
        vector.differentiates(&["x!"], |a| {
            let angles = a[1].clone();
            rotate(&mut a[0], &angles);
        });
        let columns = case("matrices", "unitary!(x!, θ)", [("x!", matrix(m, 2, 3)), ("θ", angles)]);
        columns.differentiates(&["x!"], |a| {
            let angles = a[1].clone();
            for column in a[0].chunks_mut(m.max(1)) {
                rotate(column, &angles);
            }
        });
    }
}

/// R of the QR decomposition with det Q = 1 and a diagonal that is not negative, but for its last element: by
/// Gram and Schmidt's orthogonal vectors.
fn upper(a: &[f64], m: usize, n: usize) -> Vec<f64> {
    let k = m.min(n);
    let column = |j: usize| a[j * m..(j + 1) * m].to_vec();
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let mut q: Vec<Vec<f64>> = Vec::new();
    for j in 0..k {
        let mut v = column(j);
        for u in &q {
            let c = dot(u, &v);
            v.iter_mut().zip(u).for_each(|(v, u)| *v -= c * u);
        }
        let norm = dot(&v, &v).sqrt();
        q.push(v.iter().map(|v| v / norm).collect());
    }
    if m == k && determinant(&q) < 0.0 {
        q[k - 1].iter_mut().for_each(|x| *x = -*x);
    }
    let mut r = vec![0.0; m * n];
    for j in 0..n {
        for (i, u) in q.iter().enumerate().take(j + 1) {
            r[i + j * m] = dot(u, &column(j));
        }
    }
    r
}

fn determinant(rows: &[Vec<f64>]) -> f64 {
    match rows {
        [] => 1.0,
        [first, rest @ ..] => (0..first.len())
            .map(|j| {
                let minor: Vec<Vec<f64>> = rest
                    .iter()
                    .map(|r| r.iter().enumerate().filter(|(l, _)| *l != j).map(|(_, x)| *x).collect())
                    .collect();
                let sign = if j % 2 == 0 { 1.0 } else { -1.0 };
                sign * first[j] * determinant(&minor)
            })
            .sum(),
    }
}

#[test]
fn qr_decomposition() {
    // Well-conditioned matrices, so that derivatives stay small.
    let regular = |m: usize, n: usize| {
        let mut a = some(m * n, 7);
        (0..m.min(n)).for_each(|i| a[i + i * m] += 4.0);
        Arg::Matrix(m, n, a)
    };
    for (m, n) in [(1, 1), (2, 2), (3, 2), (2, 3), (4, 4), (1, 3), (5, 1), (0, 0), (0, 2)] {
        let args = [("A!", regular(m, n)), ("θ!", Arg::Matrix(m, n, vec![0.0; m * n]))];
        // What the angles are is seen in what they do: Q R is A again.
        let of = |body: &str| Case { constant: vec!["θ!"], ..case("matrices", body, args.clone()) };
        of("qr!(A!, θ!)").differentiates(&["A!"], |a| {
            a[0] = upper(&a[0], m, n);
            a[1].fill(f64::NAN);
        });
        of("qr!(A!, θ!)\n    q_mul!(A!, θ!)").differentiates(&["A!"], |a| a[1].fill(f64::NAN));
        let args = [args[0].clone(), args[1].clone(), ("x!", reals(m, 3))];
        case("matrices", "qr!(A!, θ!)\n    q_mul!(x!, θ!)\n    (~qr!)(A!, θ!)", args).agrees(|a| {
            // Qᵀ A = R, so that Q times column j of R is column j of A: of x, a combination of the columns of Q.
            let (a0, x) = (a[0].clone(), a[2].clone());
            if m > 0 && m <= n {
                let r = upper(&a0, m, n);
                let mut y = x;
                // R z = x by back substitution; then Q x = A z.
                for i in (0..m).rev() {
                    y[i] = (y[i] - (i + 1..m).map(|j| r[i + j * m] * y[j]).sum::<f64>()) / r[i + i * m];
                }
                a[2] = product(&a0[..m * m], &y, m, m, 1);
            } else {
                a[2].fill(f64::NAN);
            }
        });
    }
}

// sparse

/// A sparse matrix with about this share of its elements.
fn sparse(m: usize, n: usize, share: f64, seed: u64, complex: bool) -> Sparse {
    let (chance, values) = (some(m * n, seed), some(2 * m * n, seed + 100));
    let mut out = Sparse { m, n, colptr: vec![1], rowval: Vec::new(), nzval: Vec::new(), complex };
    for j in 0..n {
        for i in 0..m {
            let k = i + j * m;
            if (chance[k] + 2.0) / 4.0 < share {
                out.rowval.push(i as i64 + 1);
                let width = if complex { 2 } else { 1 };
                out.nzval.extend(&values[2 * k..2 * k + width]);
            }
        }
        out.colptr.push(out.rowval.len() as i64 + 1);
    }
    out
}

impl Sparse {
    /// Row, column, and where in `nzval` the value is.
    fn entries(&self) -> Vec<(usize, usize, usize)> {
        let column = |j: usize| self.colptr[j] as usize - 1..self.colptr[j + 1] as usize - 1;
        (0..self.n).flat_map(|j| column(j).map(move |k| (self.rowval[k] as usize - 1, j, k))).collect()
    }

    /// Pairs of places where two matrices hold the same element.
    fn common(&self, other: &Sparse) -> Vec<(usize, usize)> {
        let places: BTreeMap<(usize, usize), usize> =
            other.entries().into_iter().map(|(i, j, k)| ((i, j), k)).collect();
        self.entries().into_iter().filter_map(|(i, j, k)| Some((k, *places.get(&(i, j))?))).collect()
    }
}

const SPARSE: [(usize, usize, f64, f64); 9] = [
    (0, 0, 1.0, 1.0),
    (1, 1, 1.0, 1.0),
    (3, 0, 1.0, 1.0),
    (4, 3, 0.0, 1.0),
    (4, 3, 1.0, 1.0),
    (6, 4, 0.5, 0.5),
    (6, 4, 0.2, 0.7),
    (7, 3, 0.7, 0.2),
    (9, 5, 0.3, 0.3),
];

#[test]
fn inner_products_of_sparse_matrices() {
    for (seed, (m, n, p, q)) in SPARSE.into_iter().enumerate() {
        let (a, b) = (sparse(m, n, p, seed as u64, false), sparse(m, n, q, seed as u64 + 50, false));
        let common = a.common(&b);
        let args = [("r!", Arg::Real(0.5)), ("A", Arg::Sparse(a)), ("B", Arg::Sparse(b))];
        case("sparse", "sparse_dot!(r!, A, B)", args)
            .differentiates(&["r!"], |a| a[0][0] += common.iter().map(|(k, l)| a[1][*k] * a[2][*l]).sum::<f64>());
        let (a, b) = (sparse(m, n, p, seed as u64, true), sparse(m, n, q, seed as u64 + 50, true));
        let common = a.common(&b);
        let args = [("r!", Arg::Complex(0.5, 1.0)), ("A", Arg::Sparse(a)), ("B", Arg::Sparse(b))];
        case("sparse", "sparse_dot!(r!, A, B)", args).agrees(|a| {
            for (k, l) in &common {
                let (x, y) = (a[1][2 * k..2 * k + 2].to_vec(), a[2][2 * l..2 * l + 2].to_vec());
                add(&mut a[0], &[x[0] * y[0] + x[1] * y[1], x[0] * y[1] - x[1] * y[0]]);
            }
        });
    }
}

#[test]
fn products_of_sparse_matrices() {
    for (seed, (m, n, share, _)) in SPARSE.into_iter().enumerate() {
        let a = sparse(m, n, share, seed as u64, false);
        let entries = a.entries();
        let args = [("y!", reals(m, 1)), ("A", Arg::Sparse(a.clone())), ("x", reals(n, 2))];
        case("sparse", "sparse_mul!(y!, A, x)", args)
            .differentiates(&["y!"], |a| entries.iter().for_each(|(i, j, k)| a[0][*i] += a[1][*k] * a[2][*j]));
        let args = [("y!", reals(n, 1)), ("A", Arg::Sparse(a.clone())), ("x", reals(m, 2))];
        case("sparse", "sparse_tmul!(y!, A, x)", args)
            .differentiates(&["y!"], |a| entries.iter().for_each(|(i, j, k)| a[0][*j] += a[1][*k] * a[2][*i]));
        let args = [("y!", matrix(m, 2, 1)), ("A", Arg::Sparse(a)), ("x", matrix(n, 2, 2))];
        case("sparse", "sparse_mul!(y!, A, x)", args).differentiates(&["y!"], |a| {
            for (i, j, k) in &entries {
                for l in 0..2 {
                    a[0][i + l * m] += a[1][*k] * a[2][j + l * n];
                }
            }
        });
    }
    let a = sparse(4, 3, 0.6, 3, true);
    let entries = a.entries();
    let args = [("y!", Arg::Complexes(some(6, 1))), ("A", Arg::Sparse(a)), ("x", Arg::Complexes(some(8, 2)))];
    case("sparse", "sparse_tmul!(y!, A, x)", args).agrees(|a| {
        for (i, j, k) in &entries {
            let (v, x) = (a[1][2 * k..2 * k + 2].to_vec(), a[2][2 * i..2 * i + 2].to_vec());
            add(&mut a[0][2 * j..2 * j + 2], &[v[0] * x[0] + v[1] * x[1], v[0] * x[1] - v[1] * x[0]]);
        }
    });
}

// statistics

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn variance(x: &[f64]) -> f64 {
    let m = mean(x);
    x.iter().map(|x| (x - m) * (x - m)).sum::<f64>() / (x.len() - 1) as f64
}

fn log_sum_exp(x: &[f64]) -> f64 {
    let most = x.iter().copied().fold(f64::MIN, f64::max);
    most + x.iter().map(|x| (x - most).exp()).sum::<f64>().ln()
}

#[test]
fn means_and_variances() {
    for n in [1, 2, 3, 8] {
        let of = |body: &str| case("statistics", body, [("m!", Arg::Real(0.5)), ("x", reals(n, 1))]);
        of("mean!(m!, x)").differentiates(&["m!"], |a| a[0][0] += mean(&a[1]));
        if n == 1 {
            assert!(matches!(of("variance!(m!, x)").traps("Fixed"), Fault::Assert));
            continue;
        }
        of("variance!(m!, x)").differentiates(&["m!"], |a| a[0][0] += variance(&a[1]));
        let args = [("m!", Arg::Real(0.5)), ("v!", Arg::Real(-1.0)), ("x", reals(n, 1))];
        case("statistics", "mean_variance!(m!, v!, x)", args).differentiates(&["m!", "v!"], |a| {
            a[0][0] += mean(&a[2]);
            a[1][0] += variance(&a[2]);
        });
    }
    let nothing = case("statistics", "mean!(m!, x)", [("m!", Arg::Real(0.5)), ("x", reals(0, 1))]);
    assert!(matches!(nothing.traps("Float64"), Fault::Assert));
}

#[test]
fn greatest_elements() {
    for n in [1, 2, 3, 8, 20] {
        for seed in 0..5 {
            let x = some(n, seed);
            let greatest = x.iter().copied().fold(f64::MIN, f64::max);
            let at = x.iter().position(|x| *x == greatest).expect("one");
            let args = [("k!", Arg::Int(10)), ("x", Arg::Reals(x.clone()))];
            case("statistics", "argmax!(k!, x)", args).agrees(|a| a[0][0] += at as f64 + 1.0);
            // The gradient goes to the first of several.
            let args = [("m!", Arg::Real(0.5)), ("x", Arg::Reals(x))];
            case("statistics", "maximum!(m!, x)", args).differentiates(&["m!"], |a| a[0][0] += a[1][at]);
        }
    }
    let rising =
        case("statistics", "argmax!(k!, x)", [("k!", Arg::Int(0)), ("x", Arg::Reals((0..9).map(f64::from).collect()))]);
    rising.agrees(|a| a[0][0] = 9.0);
    let integers = case("statistics", "argmax!(k!, x)", [("k!", Arg::Int(0)), ("x", Arg::Ints(vec![3, 7, 7, -1]))]);
    integers.agrees(|a| a[0][0] = 2.0);
}

#[test]
fn log_sum_exp_and_softmax() {
    for n in [0, 1, 2, 8] {
        let softmax = case("statistics", "softmax!(p!, x)", [("p!", reals(n, 1)), ("x", reals(n, 2))]);
        softmax.differentiates(&["p!"], |a| {
            let p: Vec<f64> = a[1].iter().map(|x| (x - log_sum_exp(&a[1])).exp()).collect();
            add(&mut a[0], &p);
        });
        if n > 0 {
            let sum = case("statistics", "logsumexp!(s!, x)", [("s!", Arg::Real(0.5)), ("x", reals(n, 2))]);
            sum.differentiates(&["s!"], |a| a[0][0] += log_sum_exp(&a[1]));
        }
    }
    // Far beyond what an exponential can hold.
    let sum = case(
        "statistics",
        "logsumexp!(s!, x)",
        [("s!", Arg::Real(0.0)), ("x", Arg::Reals(vec![1000.0, -1000.0, 1001.0]))],
    );
    sum.differentiates(&["s!"], |a| a[0][0] += log_sum_exp(&a[1]));
}

/// A sum that carries what rounding drops.
fn exact_sum(x: impl Iterator<Item = f64>) -> f64 {
    let (sum, rest) = x.fold((0.0_f64, 0.0_f64), |(sum, rest), x| {
        let new = sum + x;
        let lost = if sum.abs() >= x.abs() { (sum - new) + x } else { (x - new) + sum };
        (new, rest + lost)
    });
    sum + rest
}

#[test]
fn the_gradient_of_log_sum_exp_is_the_softmax_of_many_too() {
    let n = 100_000;
    let x: Vec<f64> = (0..n).map(|i| 3.0 * f64::from(i).sin()).collect();
    let sum = case("statistics", "logsumexp!(s!, x)", [("s!", Arg::Real(0.0)), ("x", Arg::Reals(x.clone()))]);
    let program = program(sum.module("Float64", 2));
    let options = grad::Options { loss: Some("s!".into()), wrt: vec!["x".into()], ..grad::Options::default() };
    let mut machine = Machine::new(&program, &Config::default()).expect("a machine");
    let report = grad(&mut machine, &options, to_end).expect("a gradient");
    let found: Vec<f64> = report.losses[0].gradients[0].numbers().into_iter().flatten().collect();
    let greatest = x.iter().copied().fold(f64::MIN, f64::max);
    let whole = exact_sum(x.iter().map(|x| (x - greatest).exp()));
    assert_eq!(found.len(), x.len());
    for (x, found) in x.iter().zip(found) {
        let wanted = (x - greatest).exp() / whole;
        // Of the greatest, too, each derivative is right in its own size.
        assert!((found - wanted).abs() <= 1e-11 * wanted, "at {x}: {found:e}, not {wanted:e}");
    }
}

// sorting

#[test]
fn sorting_keeps_a_record() {
    for n in [0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 33] {
        for seed in [1, 2] {
            // With many elements some are equal: their order stays.
            let x = some(n, seed);
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by(|i, j| x[*i].total_cmp(&x[*j]));
            let case = case("sorting", "sort!(x!, perm!)", [("x!", Arg::Reals(x)), ("perm!", Arg::Ints(vec![0; n]))]);
            case.agrees(|a| {
                a[0] = order.iter().map(|i| a[0][*i]).collect();
                a[1] = order.iter().map(|i| *i as f64 + 1.0).collect();
            });
            if n <= 9 {
                // Gradients go the way of the elements.
                case.differentiates(&["x!"], |a| {
                    a[0] = order.iter().map(|i| a[0][*i]).collect();
                    a[1] = order.iter().map(|i| *i as f64 + 1.0).collect();
                });
            }
            let args = [("x!", reals(n, 9)), ("perm", Arg::Ints(order.iter().map(|i| *i as i64 + 1).collect()))];
            self::case("sorting", "permute!(x!, perm)", args)
                .differentiates(&["x!"], |a| a[0] = order.iter().map(|i| a[0][*i]).collect());
        }
    }
    for x in [(0..10).collect::<Vec<i64>>(), (0..10).rev().collect(), vec![3; 6]] {
        let args = [("x!", Arg::Ints(x.clone())), ("perm!", Arg::Ints(vec![0; x.len()]))];
        let mut order: Vec<usize> = (0..x.len()).collect();
        order.sort_by_key(|i| x[*i]);
        case("sorting", "sort!(x!, perm!)", args).agrees(|a| {
            a[0] = order.iter().map(|i| x[*i] as f64).collect();
            a[1] = order.iter().map(|i| *i as f64 + 1.0).collect();
        });
    }
}

// dynamics

/// Leapfrog steps: half a drift, a kick, half a drift.
fn leapfrog(x: &mut [f64], v: &mut [f64], dt: f64, n: usize, kick: impl Fn(&mut [f64], &[f64])) {
    for _ in 0..n {
        x.iter_mut().zip(&*v).for_each(|(x, v)| *x += v * dt / 2.0);
        kick(v, x);
        x.iter_mut().zip(&*v).for_each(|(x, v)| *x += v * dt / 2.0);
    }
}

fn gravity(v: &mut [f64], x: &[f64], m: &[f64], dt: f64) {
    for i in 0..m.len() {
        for j in (0..m.len()).filter(|j| *j != i) {
            let d = [x[2 * j] - x[2 * i], x[2 * j + 1] - x[2 * i + 1]];
            let r = d[0].hypot(d[1]);
            add(&mut v[2 * i..2 * i + 2], &d.map(|d| m[j] * d / r.powi(3) * dt));
        }
    }
}

fn energy(x: &[f64], v: &[f64], m: &[f64]) -> f64 {
    let motion: f64 = (0..m.len()).map(|i| m[i] * (v[2 * i].powi(2) + v[2 * i + 1].powi(2)) / 2.0).sum();
    let pairs = (0..m.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    motion - pairs.map(|(i, j)| m[i] * m[j] / (x[2 * i] - x[2 * j]).hypot(x[2 * i + 1] - x[2 * j + 1])).sum::<f64>()
}

#[test]
fn leapfrog_of_springs() {
    for (n, steps) in [(1, 0), (1, 1), (2, 10), (0, 3)] {
        let args = [
            ("x!", reals(n, 1)),
            ("v!", reals(n, 2)),
            ("k", Arg::Real(1.5)),
            ("dt", Arg::Real(0.125)),
            ("n", Arg::Int(steps)),
        ];
        case("dynamics", "leapfrog!(x!, v!, spring!, k, dt, n)", args).differentiates(&["x!", "v!"], |a| {
            let [x, v, k, dt, _] = a else { unreachable!() };
            let (k, dt) = (k[0], dt[0]);
            leapfrog(x, v, dt, steps as usize, |v, x| v.iter_mut().zip(x).for_each(|(v, x)| *v -= k * x * dt));
        });
    }
}

#[test]
fn leapfrog_of_bodies() {
    let x = Arg::Matrix(2, 3, vec![0.0, 0.0, 1.0, 0.0, -2.0, 0.25]);
    let v = Arg::Matrix(2, 3, vec![0.0, 0.0, 0.0, 1.0, 0.0, -0.75]);
    let m = Arg::Reals(vec![1.0, 0.125, 0.0625]);
    let energies = [("e!", Arg::Real(0.5)), ("x", x.clone()), ("v", v.clone()), ("m", m.clone())];
    case("dynamics", "gravity_energy!(e!, x, v, m)", energies)
        .differentiates(&["e!"], |a| a[0][0] += energy(&a[1], &a[2], &a[3]));
    let args = [("x!", x), ("v!", v), ("m", m), ("dt", Arg::Real(1.0 / 64.0)), ("n", Arg::Int(30))];
    let orbit = case("dynamics", "leapfrog!(x!, v!, gravity!, m, dt, n)", args);
    let oracle = |a: &mut [Vec<f64>]| {
        let [x, v, m, dt, _] = a else { unreachable!() };
        leapfrog(x, v, dt[0], 30, |v, x| gravity(v, x, m, dt[0]));
    };
    // Fixed-point numbers are rounded in every step.
    for (t, tolerance) in [("Float64", FLOAT), ("Fixed", Tolerance { value: 1e-7, derivative: 1e-5 })] {
        orbit.there_and_back(t, tolerance, &oracle);
        orbit.derivatives(t, tolerance, &["x!", "v!"], &oracle);
    }
    // The energy is kept up to a small error, over many steps.
    let body = "leapfrog!(x!, v!, gravity!, m, dt, n)\n    gravity_energy!(e!, x!, v!, m)";
    let mut long = Case { body: body.to_string(), ..orbit };
    long.args.push(("e!", Arg::Real(0.0)));
    long.args[4].1 = Arg::Int(1000);
    for t in ["Float64", "Fixed"] {
        let program = program(long.module(t, 2));
        let mut machine = machine(&program);
        let before = machine.digest();
        assert_eq!(machine.run(None), Outcome::Finished);
        let [x, v, m] = [0, 1, 2].map(|k| long.args[k].1.numbers());
        let (found, wanted) = (numbers(&machine, "e!")[0], energy(&x, &v, &m));
        assert!((found - wanted).abs() < 2e-3, "{t}: {found}, {wanted}");
        machine.begin(Direction::Backward);
        assert_eq!(machine.run(None), Outcome::Finished);
        assert!(t == "Float64" || machine.digest() == before, "many steps back");
    }
    // One body, and none.
    for n in [0, 1] {
        let args = [
            ("x!", matrix(2, n, 1)),
            ("v!", matrix(2, n, 2)),
            ("m", reals(n, 3)),
            ("dt", Arg::Real(0.5)),
            ("n", Arg::Int(4)),
        ];
        case("dynamics", "leapfrog!(x!, v!, gravity!, m, dt, n)", args).agrees(|a| {
            let moved: Vec<f64> = a[1].iter().map(|v| 2.0 * v).collect();
            add(&mut a[0], &moved);
        });
    }
}

// scheduling

/// 256 steps, each of which doubles.
const DOUBLING: &str = "using scheduling
@i function double!(y!, x)
    y! *= x
    y! *= 2
end
@i function main!(y!, x, k, n)
    bennett!(y!, x, double!, k, n)
end
";

#[test]
fn bennett_as_published() {
    let numbers_of = |x: &[&str]| x.iter().map(|x| Argument::Number(Number::Text((*x).to_string()))).collect();
    let types = ["ULogarithmic", "ULogarithmic", "Int", "Int"].map(String::from).to_vec();
    let options = Options { arguments: numbers_of(&["1", "1", "4", "256"]), types, ..Options::default() };
    let program_ = program(build(DOUBLING, &options));
    let mut m = machine(&program_);
    let digest = m.digest();
    assert_eq!(m.run(None), Outcome::Finished);
    assert!((numbers(&m, "y!")[0] / 2f64.powi(256) - 1.0).abs() < 1e-12);
    // Logarithms to base 2, in units of 2⁻⁵².
    assert_eq!(m.memory()[symbol(program_.module(), "y!")], 256 << 52, "exactly 2^256");
    m.begin(Direction::Backward);
    assert_eq!(m.run(None), Outcome::Finished);
    assert_eq!(m.digest(), digest);
    // The step is called (2k − 1)ᵈ = 2401 times, forward and backward: so often its line `y! *= 2` runs.
    let line = 1 + DOUBLING.lines().position(|l| l == "    y! *= 2").expect("the line") as u32;
    let module = program_.module();
    let factor: Vec<usize> = (0..module.code.len())
        .filter(|at| module.loc(*at).is_some_and(|(file, loc)| file == "test.nil" && loc.line == line))
        .filter(|at| {
            let text = display(&module.code[*at], *at as u64, &NoNames);
            text.starts_with("mul.l") || text.starts_with("div.l")
        })
        .collect();
    assert!(!factor.is_empty());
    // If the first state is 3, all are words with the low 52 bits of its logarithm.
    let options = Options { arguments: numbers_of(&["1", "3", "4", "256"]), ..options };
    let program_ = program(build(DOUBLING, &options));
    let mut m = machine(&program_);
    let x = m.memory()[symbol(program_.module(), "x")];
    // The states that a machine holds. (A call may hand over a copy of one.)
    let states = |m: &Machine<'_>| {
        let held = m.registers().iter().chain(&m.memory()[..program_.module().data.len() + 200]);
        held.filter(|w| **w % (1 << 52) == x % (1 << 52)).collect::<BTreeSet<_>>().len()
    };
    let (mut calls, mut most) = (0, 0);
    loop {
        match m.step() {
            Stepped::Ran(at) if factor.contains(&(at as usize)) => {
                calls += 1;
                most = most.max(states(&m));
            }
            Stepped::Ran(_) => {}
            Stepped::Finished => break,
            Stepped::Trap(trap) => panic!("{trap:?}"),
        }
    }
    assert_eq!(calls, 2401);
    // x and y! count as well.
    assert_eq!(most, 14, "d (k − 1) + 2 states");
    assert_eq!(states(&m), 2, "only x and y! are left");
}

fn symbol(module: &Module, name: &str) -> usize {
    module.symbol(name).expect("a symbol").value as usize
}

#[test]
fn bennett_of_any_number_of_steps() {
    const MAP: &str = "@i function map!(y!, x)
    y! += x
    y! -= x * x / 8
end";
    let map = |x: f64| x - x * x / 8.0;
    for (k, n) in [(2, 1), (2, 2), (2, 7), (2, 8), (3, 9), (3, 10), (3, 17), (4, 5), (5, 3), (7, 20)] {
        let args = [("y!", Arg::Real(0.5)), ("x", Arg::Real(0.25)), ("k", Arg::Int(k)), ("n", Arg::Int(n))];
        let case = Case { more: MAP, ..case("scheduling", "bennett!(y!, x, map!, k, n)", args) };
        let oracle = |a: &mut [Vec<f64>]| a[0][0] += (0..n).fold(a[1][0], |x, _| map(x));
        case.there_and_back("Float64", FLOAT, &oracle);
        case.there_and_back("Fixed", Tolerance { value: 1e-7, ..FIXED }, &oracle);
        case.derivatives("Float64", FLOAT, &["y!"], &oracle);
        case.derivatives("Fixed", FIXED, &["y!"], &oracle);
    }
    // Steps with a parameter and their number; vectors as states.
    const SWING: &str = "@i function swing!(y!, x, p, i)
    y![1] += x[1] + p * x[2]
    y![2] += x[2] - p * sin(x[1])
    y![2] += i * p / 8
end";
    for (k, n) in [(2, 1), (2, 4), (3, 9), (3, 11), (4, 16)] {
        let args =
            [("y!", reals(2, 1)), ("x", reals(2, 2)), ("p", Arg::Real(0.125)), ("k", Arg::Int(k)), ("n", Arg::Int(n))];
        let case = Case { more: SWING, ..case("scheduling", "bennett!(y!, x, swing!, p, k, n)", args) };
        case.differentiates(&["y!"], |a| {
            let p = a[2][0];
            let step = |x: [f64; 2], i: i64| [x[0] + p * x[1], x[1] - p * x[0].sin() + i as f64 * p / 8.0];
            let last = (1..=n).fold([a[1][0], a[1][1]], step);
            add(&mut a[0], &last);
        });
    }
    let args = [("y!", Arg::Real(0.0)), ("x", Arg::Real(0.25)), ("k", Arg::Int(1)), ("n", Arg::Int(4))];
    let one = Case { more: MAP, ..case("scheduling", "bennett!(y!, x, map!, k, n)", args) };
    assert!(matches!(one.traps("Fixed"), Fault::Assert), "a schedule of one part would not end");
}

// special

#[test]
fn factorials() {
    for n in [0, 1, 2, 5, 12, 20] {
        let exact: i64 = (1..=n).product();
        let of = |y: Arg| case("special", "factorial!(y!, n)", [("y!", y), ("n", Arg::Int(n))]);
        of(Arg::Log(2.0)).agrees(|a| a[0][0] *= exact as f64);
        if n <= 12 {
            of(Arg::Real(0.5)).agrees(|a| a[0][0] += exact as f64);
        }
        let case = of(Arg::Int(0));
        let program = program(case.module("Fixed", 2));
        let mut machine = machine(&program);
        assert_eq!(machine.run(None), Outcome::Finished);
        assert_eq!(machine.memory()[symbol(program.module(), "y!")], exact.cast_unsigned(), "every digit");
        case.agrees(|a| a[0][0] = exact as f64);
    }
}

/// Tolerances of series whose terms are of this size.
fn series(size: f64, oracle: impl Fn(&mut [Vec<f64>]), case: &Case) {
    let float = Tolerance { value: 1e-15 * size + 1e-15, derivative: 1e-9 + 1e-14 * size };
    let fixed = Tolerance { value: 1e-8 + 1e-13 * size, derivative: 1e-6 + 1e-8 * size };
    for (t, tolerance) in [("Float64", float), ("Fixed", fixed)] {
        let tolerance = Tolerance { value: tolerance.value.max(1e-14), ..tolerance };
        case.there_and_back(t, tolerance, &oracle);
        case.derivatives(t, tolerance, &["y!"], &oracle);
    }
}

#[test]
fn exponential_by_its_series() {
    for x in [0.0, 1e-3, 1.0, -1.0, 0.5, -3.5, 6.0] {
        let case = case("special", "exp_series!(y!, x)", [("y!", Arg::Real(0.5)), ("x", Arg::Real(x))]);
        series(f64::abs(x).exp(), |a| a[0][0] += a[1][0].exp(), &case);
    }
}

/// J_n(z), by its integral ∫ cos(n t − z sin t) dt/π from 0 to π: for periodic functions the trapezoidal rule is exact.
fn bessel(n: i64, z: f64) -> f64 {
    let at = |k: i32| {
        let t = PI * f64::from(k) / 64.0;
        (n as f64 * t - z * t.sin()).cos()
    };
    ((at(0) + at(64)) / 2.0 + (1..64).map(at).sum::<f64>()) / 64.0
}

#[test]
fn bessel_by_its_series() {
    assert!((bessel(2, 1.0) - 0.114_903_484_931_900_48).abs() < 1e-15);
    for n in [0, 1, 2, 3, 7] {
        for z in [0.0, 1.0, 0.125, -2.5, 5.0, 11.0] {
            let args = [("y!", Arg::Real(0.5)), ("ν", Arg::Int(n)), ("z", Arg::Real(z))];
            let case = case("special", "besselj!(y!, ν, z)", args);
            series(f64::abs(z).exp(), |a| a[0][0] += bessel(n, a[2][0]), &case);
        }
    }
    let negative =
        case("special", "besselj!(y!, ν, z)", [("y!", Arg::Real(0.0)), ("ν", Arg::Int(-1)), ("z", Arg::Real(1.0))]);
    assert!(matches!(negative.traps("Float64"), Fault::Assert));
}

// The modules and their page.

#[test]
fn functions_are_values_in_expressions() {
    let body = "y! += 2 * norm(x) + dot(x, x)";
    let more = "@i function norm(s!, x)
    norm!(s!, x)
end
@i function dot(s!, x, y)
    dot!(s!, x, y)
end";
    let case = Case { more, ..case("vectors", body, [("y!", Arg::Real(0.5)), ("x", reals(3, 1))]) };
    case.differentiates(&["y!"], |a| {
        let square: f64 = a[1].iter().map(|x| x * x).sum();
        a[0][0] += 2.0 * square.sqrt() + square;
    });
}

#[test]
fn all_modules_at_once_and_own_names_first() {
    // A program's function of the same name takes the place of the library's where the program calls it, not inside the library.
    let more = "@i function mean!(m!, x::AbstractVector)
    m! += x[1]
end";
    let body = "mean!(m!, x)\n    variance!(v!, x)";
    let args = [("m!", Arg::Real(0.0)), ("v!", Arg::Real(0.0)), ("x", reals(4, 1))];
    Case { more, ..case("Pendula", body, args.clone()) }.agrees(|a| {
        a[0][0] += a[2][0];
        a[1][0] += variance(&a[2]);
    });
    case("Pendula", body, args).agrees(|a| {
        a[0][0] += mean(&a[2]);
        a[1][0] += variance(&a[2]);
    });
}

/// The functions of a module that have a docstring, by name, with it.
fn documented(text: &str) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let mut parts = text.split("\"\"\"\n");
    let _head = parts.next();
    while let (Some(doc), Some(code)) = (parts.next(), parts.next()) {
        let name = code
            .strip_prefix("@i function ")
            .and_then(|c| c.split('(').next())
            .expect("a function after its docstring");
        out.insert(name.to_string(), doc.to_string());
    }
    out
}

#[test]
fn the_page_names_every_function_and_its_examples_are_real() {
    let page = include_str!("../docs/src/library.md");
    let mut examples = 0;
    for (module, text) in MODULES {
        let section = page.split("\n## ").find(|s| s.starts_with(&format!("`{module}`"))).expect("a section");
        let rows: BTreeMap<&str, Vec<&str>> = section
            .lines()
            .filter(|l| l.starts_with("| `"))
            .map(|l| l.split(" | ").map(|c| c.trim_matches(['|', ' '])).collect::<Vec<_>>())
            .map(|cells| (cells[0].trim_matches('`').split('(').next().unwrap_or(""), cells))
            .collect();
        let documented = documented(text);
        let (named, defined): (Vec<&str>, Vec<&str>) =
            (rows.keys().copied().collect(), documented.keys().map(String::as_str).collect());
        assert_eq!(named, defined, "{module}");
        for (name, doc) in &documented {
            assert!(doc.contains("nverse"), "{name}: its docstring does not tell its inverse");
            examples += example(module, rows[name.as_str()][2]);
        }
    }
    assert!(examples > 25, "only {examples}");
}

/// Runs an example, `f!(0.0, [1.0, 2.0])` gives `3.0`: a call with literal arguments, and what the first ones become.
fn example(module: &str, cell: &str) -> usize {
    let Some((call, results)) = cell.split_once(" gives ") else { return 0 };
    let call = call.trim_matches('`');
    let (name, args) = call.split_once('(').expect("a call");
    let args = arguments::split(args.strip_suffix(')').expect("a call"), ',').expect("arguments");
    let is_value = |a: &&str| a.trim().starts_with(|c: char| c.is_ascii_digit() || "-[(".contains(c));
    let mut parameters = Vec::new();
    let mut given = Vec::new();
    for (k, arg) in args.iter().enumerate() {
        if is_value(arg) {
            parameters.push(format!("a{k}{}", if arg.trim().starts_with('(') { "::SparseMatrixCSC" } else { "" }));
            given.push(arg.trim());
        }
    }
    let passed: Vec<String> = args
        .iter()
        .enumerate()
        .map(|(k, a)| if is_value(a) { format!("a{k}") } else { a.trim().to_string() })
        .collect();
    let source = format!(
        "using {module}\n@i function double!(y!, x)\n    y! += 2 * x\nend\n@i function main!({})\n    {name}({})\nend\n",
        parameters.join(", "),
        passed.join(", ")
    );
    let options = Options { arguments: arguments::parse(&given.join(",")).expect("arguments"), ..Options::default() };
    let program = program(build(&source, &options));
    let mut machine = machine(&program);
    assert_eq!(machine.run(None), Outcome::Finished, "{call}");
    for (k, result) in results.split("`, `").enumerate() {
        let wanted: Vec<f64> = result
            .trim_matches(['`', '[', ']'])
            .split([',', ';', ' '])
            .filter(|t| !t.is_empty())
            .map(|t| t.parse().unwrap_or_else(|e| panic!("{call}: {t}: {e}")))
            .collect();
        let found = numbers(&machine, &format!("a{k}"));
        let same = found.len() == wanted.len() && found.iter().zip(&wanted).all(|(f, w)| close(*f, *w, 1e-4));
        assert!(same, "{call}: {found:?}, not {wanted:?}");
    }
    1
}
