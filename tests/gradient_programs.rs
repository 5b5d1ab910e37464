//! Gradients, tangents and second derivatives of whole programs: against
//! closed forms, there and back again, by the host and by the program itself.
//! What single instructions do is in `vm/tests/gradient_rows.rs`.

use std::fmt::Write;
use std::ops::{Add, Div, Mul, Neg, Sub};

use pendula::asm::assemble::{Options, assemble};
use pendula::isa::adjoint::{GRADIENT, LANES, MIXED, SECOND, VALUE};
use pendula::isa::counts::Direction;
use pendula::isa::num::convert;
use pendula::isa::sample::{Draft, Source, word};
use pendula::isa::types::{Reg, Ty};
use pendula::isa::{Env, Fault, Module};
use pendula::values::{Location, find};
use pendula::vm::gradient::{self, Cell, Variable};
use pendula::vm::{AdMode, Config, Machine, Outcome, Program, Stepped};

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
            Stepped::Ran(_) => {}
            Stepped::Finished => return Outcome::Finished,
            Stepped::Trap(trap) => return Outcome::Trap(trap),
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
    /// Whether everything comes back bit for bit.
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
        m.carry(AdMode::Gradient);
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
        m.turn_dropped();
        m.begin(Direction::Forward);
        end(&mut m).unwrap_or_else(|e| panic!("{}: {e:?}", self.name));
        assert_eq!(m.dropped_words(), 0, "{}", self.name);
        m.lose_dropped();
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
                m.carry(ad_mode);
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
                runs.iter_mut().for_each(Machine::turn_dropped);
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

#[test]
fn a_square() {
    let body = "
main:   start
        add.T   r1, [x]
        addmul.T [y], r1, r1
        sub.T   r1, [x]
        finish
";
    check_both("square", body, &[("x", 1.75)], |x| x[0] * x[0]);
}

#[test]
fn an_operand_used_many_times() {
    let body = "
main:   start
        add.T   r1, [x]
        .routine all
        addmul.T r2, r1, r1             ; x²
        addmul.T r3, r2, r1             ; x³
        addsin.T r4, r1
        addmuladd.T r5, r3, r1, r4      ; x⁴ + sin x
        addmul.T r5, r2, r4             ; + x² sin x
        adddiv.T r5, r4, r3             ; + sin x / x³
        .endroutine
        add.T   [y], r5
        add.T   [y], r1
        .unroutine all
        sub.T   r1, [x]
        finish
";
    check_both("many", body, &[("x", 1.25)], |x| {
        let (x, s) = (x[0], x[0].sin());
        x * x * x * x + s + x * x * s + s / (x * x * x) + x
    });
}

#[test]
fn moves() {
    let body = "
main:   start
        exch    r1, [x]
        add.T   r2, [z]
        swap    r1, r2
        push    r1                      ; z
        push    r2                      ; x
        add.T   r5, [sp-1]
        addmul.T [y], r5, r5            ; x²
        sub.T   r5, [sp-1]
        pop     r7                      ; x
        emit    r7
        pop     r8                      ; z
        unemit  r6                      ; x
        exch    r8, [a+3]
        adddiv.T r9, r6, [a+3]          ; x/z
        addmul.T [y], r9, r6            ; x²/z
        subdiv.T r9, r6, [a+3]
        exch    r8, [a+3]
        emit    r6
        push    r8
        unemit  r7
        push    r7
        pop     r2
        pop     r1
        swap    r1, r2
        sub.T   r2, [z]
        exch    r1, [x]
        finish
";
    let cases = Case::both("moves", body, &[("x", 0.75), ("z", 1.5)], "a: .WORDS 0, 0, 0, 0\n", |x| {
        x[0] * x[0] + x[0] * x[0] / x[1]
    });
    cases.iter().for_each(Case::check);
}

#[test]
fn negations() {
    let body = "
main:   start
        add.T   r1, [x]
        neg.T   r1
        addexp.T r2, r1
        neg.T   r2
        addmul.T r3, r2, r1             ; x·exp(−x)
        neg.T   r3
        add.T   [y], r3                 ; −x·exp(−x)
        neg.T   r3
        submul.T r3, r2, r1
        neg.T   r2
        subexp.T r2, r1
        neg.T   r1
        sub.T   r1, [x]
        finish
";
    check_both("negations", body, &[("x", 0.5)], |x| -x[0] * (-x[0]).exp());
}

#[test]
fn turns() {
    let body = "
main:   start
        add.T   r1, [u]
        add.T   r2, [v]
        add.T   r3, [w]
        rot.T   r1, r2, r3
        irot.T  r2, r1, 0.25
        addmul.T r4, r1, r2
        addmul.T [y], r4, r1
        submul.T r4, r1, r2
        rot.T   r2, r1, 0.25
        irot.T  r1, r2, r3
        sub.T   r3, [w]
        sub.T   r2, [v]
        sub.T   r1, [u]
        finish
";
    let closed = |x: &[Hyper]| {
        let turn = |a: Hyper, b: Hyper, t: Hyper| (a * t.cos() - b * t.sin(), a * t.sin() + b * t.cos());
        let (a, b) = turn(x[0], x[1], x[2]);
        let (b, a) = turn(b, a, K(-0.25));
        a * b * a
    };
    check_both("turns", body, &[("u", 1.0), ("v", -0.5), ("w", 2.5)], closed);
}

/// `rmul` scales fixed-point words; the gradient words go through `rdiv`'s ratio with a buffer of their own.
#[test]
fn scalings() {
    let body = "
main:   start
        add.q   r1, [x]
        rmul    r1, r2, 3, 7
        add     r5, 5
        add     r6, 4
        rdiv    r1, r2, r5, r6          ; 12/35 of x
        addmul.q r3, r1, r1
        addmul.q [y], r3, r1
        submul.q r3, r1, r1
        rmul    r1, r2, r5, r6
        sub     r6, 4
        sub     r5, 5
        rdiv    r1, r2, 3, 7
        sub.q   r1, [x]
        finish
";
    let [q, _] = Case::both("scalings", body, &[("x", 2.75)], "", |x| {
        let x = x[0] * K(12.0 / 35.0);
        x * x * x
    });
    q.check();
}

#[test]
fn recursion() {
    let body = "
        proc    power                   ; a[k] += x^k for k up to r3
choose: jmp.eq  r3, r0, base
        dec     r3
        call    power
        inc     r3
        add.T   r7, [a+r3-1]
        addmul.T [a+r3], r7, r1
        sub.T   r7, [a+r3-1]
leave:  jmp     over
base:   from.eq r3, r0, choose
        add.T   r8, 1
        add.T   [a], r8
        sub.T   r8, 1
over:   from.ne r3, r0, leave
        ret     power
main:   start
        add.T   r1, [x]
        add     r3, 5
        call    power
        add.T   r2, [a+r3]
        add.T   r2, [a+r3-2]
        add.T   [y], r2                 ; x⁵ + x³
        sub.T   r2, [a+r3-2]
        sub.T   r2, [a+r3]
        uncall  power
        sub     r3, 5
        sub.T   r1, [x]
        finish
";
    let cases = Case::both("recursion", body, &[("x", 1.125)], "a: .WORDS 0, 0, 0, 0, 0, 0\n", |x| {
        x[0].powf(5.0) + x[0].powf(3.0)
    });
    cases.iter().for_each(Case::check);
}

/// A procedure, its undoing, and procedures by register.
#[test]
fn calls_there_and_back() {
    let body = "
        proc    square
        addmul.T r2, r1, r1
        ret     square
        proc    wave
        add     r20, square
        callr   r20
        addsin.T r4, r2
        uncallr r20
        sub     r20, square
        ret     wave
main:   start
        add.T   r1, [x]
        call    square
        addmul.T [y], r2, r2            ; x⁴
        uncall  square
        call    wave
        add.T   [y], r4                 ; + sin x²
        uncall  wave
        sub.T   r1, [x]
        finish
";
    check_both("calls", body, &[("x", 0.875)], |x| x[0].powf(4.0) + (x[0] * x[0]).sin());
}

/// A map that is undone without anything beside it, in a loop; the sum of an array's elements by index.
#[test]
fn loops_and_arrays() {
    let body = "
        proc    steps
top:    from.ne r6, r0, again
test:   jmp.eq  r6, r5, done
        addmul.T r1, r2, 0.25
        submul.T r2, r1, r1
        add.T   r3, [a+r6]
        addmul.T r4, r3, r3
        addmul.T [s], r4, r1            ; s += a[i]²·r1
        submul.T r4, r3, r3
        sub.T   r3, [a+r6]
        inc     r6
again:  jmp     top
done:   from    test
        ret     steps
main:   start
        add.T   r1, [u]
        add.T   r2, [v]
        add     r5, 3
        call    steps
        exch    r4, [s]
        add.T   [y], r4
        addmul.T [y], r1, r2
        exch    r4, [s]
        uncall  steps
        sub     r5, 3
        sub.T   r2, [v]
        sub.T   r1, [u]
        finish
";
    let cases = Case::both("loops", body, &[("u", 0.5), ("v", 1.25)], "a: .WORDS 1, 0.5, -2\ns: .WORDS 0\n", |x| {
        let (mut u, mut v, mut s) = (x[0], x[1], K(0.0));
        for a in [1.0, 0.5, -2.0] {
            u = u + v * K(0.25);
            v = v - u * u;
            s = s + K(a * a) * u;
        }
        s + u * v
    });
    cases.iter().for_each(Case::check);
    // The array's elements as inputs.
    for mut case in cases {
        case.inputs = vec![("a", 1.0), ("a[1]", 0.5), ("a[2]", -2.0), ("u", 0.5)];
        case.text = case.text.replace("v: .fixed 0", "v: .fixed 1.25").replace("v: .double 0", "v: .double 1.25");
        case.closed = |x| {
            let (mut u, mut v, mut s) = (x[3], K(1.25), K(0.0));
            for a in &x[..3] {
                u = u + v * K(0.25);
                v = v - u * u;
                s = s + *a * *a * u;
            }
            s + u * v
        };
        case.check();
    }
}

/// `zero` at the beginning of ancillas that have gradients when the run backward comes there, in a loop, so that words dropped at one
/// instruction must come back in the right order.
#[test]
fn ancillas() {
    let body = "
main:   start
        add.T   r1, [x]
        add     r5, 3
top:    from.ne r6, r0, again
test:   jmp.eq  r6, r5, done
        zero    r3
        add.T   r3, r1
        zero    r4
        addmul.T r4, r3, r3
        zero    r7
        addsin.T r7, r4
        addmul.T [y], r7, r4            ; sin(x²)·x²
        add.T   r1, 0.5
        subsin.T r7, r4
        zero    r7
        submul.T r4, r3, r3
        sub.T   r3, r1
        add.T   r3, 0.5
        inc     r6
again:  jmp     top
done:   from    test
        sub     r6, r5
        sub     r5, 3
        sub.T   r1, 1.5
        sub.T   r1, [x]
        finish
";
    check_both("ancillas", body, &[("x", 0.375)], |x| {
        let f = |x: Hyper| (x * x).sin() * x * x;
        f(x[0]) + f(x[0] + K(0.5)) + f(x[0] + K(1.0))
    });
}

/// The same with `zero.f`, where a word is not clear to the last bit: multiplication in place, as in `bessel.rasm`.
#[test]
fn ancillas_that_are_nearly_clear() {
    let text = "
        .data
x:      .double 0
y:      .double 0
        .text
main:   start
        add.f   r1, [x]
        addsin.f r9, r1
        .routine series
        zero.f  r10, 1e-10
        add.f   r10, r1                 ; s = x
        zero.f  r12, 1e-10
        add     r5, 4
top:    from.ne r6, r0, again
test:   jmp.eq  r6, r5, done
        addmul.f r12, r10, r9           ; s := s·sin x
        subdiv.f r10, r12, r9
        zero.f  r10, 1e-10
        swap    r10, r12
        add.f   r11, r10
        inc     r6
again:  jmp     top
done:   from    test
        .endroutine
        add.f   [y], r11
        .unroutine series
        subsin.f r9, r1
        sub.f   r1, [x]
        finish
"
    .to_string();
    let closed: Closed = |x| {
        let s = x[0].sin();
        x[0] * (s + s * s + s * s * s + s * s * s * s)
    };
    let case = Case {
        name: "nearly clear",
        text,
        loss: "y",
        inputs: vec![("x", 0.7)],
        closed,
        tolerance: 1e-12,
        exact: false,
    };
    case.check();
}

#[test]
fn logarithmic_numbers() {
    let text = "
        .data
x:      .log 1
z:      .log 1
y:      .log 1
        .text
main:   start
        mul.l   r1, [x]
        mul.l   r2, [z]
        zero    r3
        mulplus.l r3, r1, r2            ; x + z
        zero    r4
        mulminus.l r4, r1, r3           ; −z, by way of the difference
        mulmul.l [y], r3, r1            ; (x + z)·x
        add.q   r8, 1.5
        mulpow.l [y], r3, r8            ; (x + z)^1.5
        sub.q   r8, 1.5
        div.l   [y], r4
        neg.l   r4
        mulinv.l [y], r2
        neg.l   r4
        divminus.l r4, r1, r3
        divplus.l r3, r1, r2
        div.l   r2, [z]
        div.l   r1, [x]
        finish
"
    .to_string();
    let closed: Closed = |x| -((x[0] + x[1]) * x[0] * (x[0] + x[1]).powf(1.5) / (x[1] * x[1]));
    let inputs = vec![("x", 1.25), ("z", 0.75)];
    Case { name: "logarithms", text, loss: "y", inputs, closed, tolerance: 1e-7, exact: true }.check();
}

/// From doubles through every other type and back.
#[test]
fn conversions() {
    let text = "
        .data
x:      .double 0
w:      .fixed 0
v:      .log 1
y:      .double 0
        .text
main:   start
        addcvt.q.f r1, [x]
        addmul.q r2, r1, [w]
        zero    r3
        mulcvt.l.q r3, r2
        mul.l   r3, [v]                 ; x·w·v
        addcvt.f.l r4, r3
        addmul.f r5, r4, [x]
        addlog.q.l r6, r3
        addcvt.f.q r7, r6               ; ln(x·w·v)
        addmul.f [y], r5, r7
        subcvt.f.q r7, r6
        sublog.q.l r6, r3
        submul.f r5, r4, [x]
        subcvt.f.l r4, r3
        div.l   r3, [v]
        divcvt.l.q r3, r2
        zero    r3
        submul.q r2, r1, [w]
        subcvt.q.f r1, [x]
        finish
"
    .to_string();
    let closed: Closed = |x| {
        let p = x[0] * x[1] * x[2];
        x[0] * p * p.map([p.v.ln(), 1.0 / p.v, -1.0 / (p.v * p.v)])
    };
    let inputs = vec![("x", 1.5), ("w", 1.25), ("v", 0.875)];
    Case { name: "conversions", text, loss: "y", inputs, closed, tolerance: 1e-6, exact: false }.check();
}

// ---------------------------------------------------------------------------
// The host's engine on an example that once disagreed

#[test]
fn bessel_functions_twice() {
    let text = std::fs::read_to_string("examples/bessel.rasm").expect("the example");
    let program = load(&text);
    for (v, z) in [(2, 2.5), (0, 1.0), (5, 7.0), (1, -3.25)] {
        let mut m = Machine::new(&program, &Config::default()).expect("memory");
        let word = |name| variable(program.module(), name).cell;
        m.put(VALUE, word("v"), v);
        m.put(VALUE, word("z"), f64::to_bits(z));
        let options = pendula::grad::Options { hessian: true, check: true, ..Default::default() };
        let options = pendula::grad::Options { wrt: vec!["z".to_string()], ..options };
        let report = pendula::grad::grad(&mut m, &options, pendula::grad::to_end).expect("derivatives");
        assert!(report.agrees(), "{:?}", report.checks);
        assert!(report.hessian_difference.expect("asked for") < 1e-10, "{v} {z}: {:?}", report.hessian_difference);
        // Bessel's equation: z² y″ + z y′ + (z² − v²) y = 0.
        let y = f64::from_bits(report.losses[0].value);
        let first = report.losses[0].gradients[0].number().expect("a derivative");
        let second = report.hessian.expect("asked for")[0][0].expect("a derivative");
        let rest = z * z * second + z * first + (z * z - (v * v) as f64) * y;
        assert!(rest.abs() < 1e-10, "{v} {z}: {rest:e}");
    }
}

// ---------------------------------------------------------------------------
// Programs that differentiate themselves

/// f(x) = sin x · x², and a procedure that computes f′.
const SLOPE: &str = "
        .data
x: .WORDS 0
        .text
        proc    f                       ; r2 += f(r1)
        addsin.T r7, r1
        addmul.T r8, r1, r1
        addmul.T r2, r7, r8
        submul.T r8, r1, r1
        subsin.T r7, r1
        ret     f
        proc    slope                   ; r4 += f'(r1)
        call    f
        add.T   r3, 1
        gswap   r3, r2
        guncall f
        gswap   r4, r1
        gswap   r3, r2
        sub.T   r3, 1
        ret     slope
main:   start
        add.T   r1, [x]
";
const PLAIN: &str = "        call    f\n        finish\n";
const FIRST: &str = "        call    slope\n        finish\n";
const SECOND_OWN: &str = "
        call    slope
        add.T   r5, 1
        gswap   r5, r4
        guncall slope                   ; f at level 2 within
        gswap   r6, r1                  ; f''(r1)
        finish
";

fn cell(n: u8) -> Cell {
    Cell::Register(Reg::new(n).expect("a register"))
}

/// A program's own gradient is the host's, to the last bit, and its own second derivative, but for a few units, the host's of reversing
/// twice; both come back.
#[test]
fn programs_that_differentiate_themselves() {
    let f: Closed = |x| x[0].sin() * x[0] * x[0];
    for (suffix, directive, ty, tolerance) in [(".q", ".fixed", Ty::Q, 1e-7), (".f", ".double", Ty::F, 1e-12)] {
        let program = |main: &str| load(&format!("{SLOPE}{main}").replace(".T", suffix).replace(".WORDS", directive));
        let [plain, first, second] = [PLAIN, FIRST, SECOND_OWN].map(program);
        for x in [0.5, -1.25, 2.0, 0.0] {
            let (_, gradient, hessian) = derivatives(f, &[x]);
            let (loss, of) = (Variable { cell: cell(2), ty }, Variable { cell: Cell::Word(0), ty });
            let at = |m: &mut Machine| m.put(VALUE, of.cell, word_of(m.env(), ty, x));
            // The host, of the plain program.
            assert_eq!(gradient::differentiable(plain.module()), Ok(()));
            let mut host = machine(&plain);
            at(&mut host);
            let one = gradient::one(host.env(), ty);
            gradient::forward(&mut host, &mut end).expect("a value");
            gradient::gradient(&mut host, loss, one, &mut end).expect("a gradient");
            // The register was loaded from the memory word.
            let by_host = host.get(GRADIENT, of.cell);
            gradient::hessian_row_by_reversing_twice(&mut host, loss, one, of, &mut end).expect("a row");
            let twice = host.get(GRADIENT, of.cell);
            gradient::hessian_row(&mut host, loss, one, of, &mut end).expect("a row");
            let row = gradient::gradient_to_f64(host.env(), ty, host.get(MIXED, of.cell));
            assert!((row - hessian[0][0]).abs() < 10.0 * tolerance, "{row} {hessian:?}");

            for (program, register, by_host, wanted) in
                [(&first, 4, by_host, gradient[0]), (&second, 6, twice, hessian[0][0])]
            {
                assert!(matches!(gradient::differentiable(program.module()), Err(gradient::Refused::UsesGradients(_))));
                let mut m = machine(program);
                at(&mut m);
                let start = m.digest();
                m.keep_dropped();
                end(&mut m).expect("a derivative");
                let own = m.get(VALUE, cell(register));
                let level = m.counts().modes.iter().map(|m| m.mode.level).max();
                assert_eq!(level, Some(if register == 4 { 1 } else { 2 }));
                if ty == Ty::Q {
                    // At level 2 the gradient words that ancillas are left with are not those that the host keeps apart: their shares
                    // cancel, but for a unit where each is rounded.
                    let units = own.abs_diff(by_host);
                    assert!(units <= if register == 4 { 0 } else { 16 }, "{x}: {units}");
                }
                let own = convert::to_f64(m.env(), ty, own);
                assert!((own - wanted).abs() < 10.0 * tolerance, "{x}: {own} {wanted}");
                let mut steps = machine(program);
                at(&mut steps);
                assert_eq!(step(&mut steps), Outcome::Finished);
                assert_eq!(steps.digest(), m.digest());
                assert_eq!((per_instruction(&steps), steps.executed()), (per_instruction(&m), m.executed()));
                m.turn_dropped();
                m.begin(Direction::Backward);
                end(&mut m).expect("the way back");
                if ty == Ty::Q {
                    assert_eq!(m.digest(), start, "{x}");
                }
            }
        }
    }
}

/// What `zero` drops is counted, word by word, and only where it is not kept.
#[test]
fn dropped_gradient_words_are_lost() {
    let text = "
        .data
x:      .fixed 1.5
y:      .fixed 0
l:      .log 1.25
        .text
main:   start
        zero    r1
        add.q   r1, [x]
        zero    r2
        mulcvt.l.q r2, r1
        zero    r3
        addcvt.q.l r3, r2
        addmul.q [y], r3, r1
        subcvt.q.l r3, r2
        zero    r3
        divcvt.l.q r2, r1
        sub.q   r1, [x]
        zero    r5
        finish
";
    let program = load(text);
    let loss = variable(program.module(), "y");
    for (keep, lost, kept) in [(false, 3, 0), (true, 0, 3)] {
        let mut m = machine(&program);
        gradient::forward(&mut m, &mut end).expect("a value");
        m.carry(AdMode::Gradient);
        let one = gradient::one(m.env(), Ty::Q);
        m.put(GRADIENT, loss.cell, one);
        let seeded = m.digest();
        if keep {
            m.keep_dropped();
        }
        gradient::gradient(&mut m, loss, one, &mut end).expect("a gradient");
        // Those of r1, r2 and r3, where they begin; not those of r3 where it ends, nor of r5.
        assert_eq!((m.counts().lost_bits(), m.dropped_words()), (64 * lost, kept));
        m.turn_dropped();
        m.begin(Direction::Forward);
        end(&mut m).expect("the way back");
        assert_eq!(m.digest() == seeded, keep);
    }
}

/// A trap in a gradient run: it tells what words carried, the machine stands before the instruction, and every word is as the
/// instructions up to there have left it.
#[test]
fn traps_in_a_gradient_run() {
    let text = "
        .data
a:      .double 4, 1, 0, 9
y:      .double 0
        .text
main:   start
top:    from.ne r6, r0, again
test:   jmp.eq  r6, r5, done
        exch    r1, [a+r6]
        addsqrt.f r2, r1
        add.f   [y], r2
        subsqrt.f r2, r1
        exch    r1, [a+r6]
        inc     r6
again:  jmp     top
done:   from    test
        sub     r6, r5
        finish
";
    let program = load(text);
    let loss = variable(program.module(), "y");
    let five = Reg::new(5).expect("a register");
    let mut m = machine(&program);
    m.set_register(five, 4);
    let start = m.snapshot();
    gradient::forward(&mut m, &mut end).expect("roots");
    assert_eq!(convert::to_f64(m.env(), Ty::F, m.get(VALUE, loss.cell)), 6.0);
    let (forward, there) = (m.executed(), m.snapshot());
    let one = gradient::one(m.env(), Ty::F);
    let Err(outcome) = gradient::gradient(&mut m, loss, one, &mut end) else { panic!("a root has no derivative at 0") };
    let Outcome::Trap(trap) = &outcome else { panic!("{outcome:?}") };
    let at = trap.at as usize;
    assert_eq!(
        (trap.fault, trap.ad_mode, trap.direction),
        (Fault::DivideByZero, AdMode::Gradient, Direction::Backward)
    );
    // r2 still has the gradient word of the element behind: it is not the word that ends its life that says so, but `zero`.
    assert_eq!(program.module().code[at].kind.mnemonic(), "subsqrt.f");
    // It stays there.
    let (digest, executed) = (m.digest(), m.executed());
    assert_eq!(m.run(None), outcome);
    assert_eq!((m.digest(), m.executed(), m.pc()), (digest, executed, Some(trap.at)));
    assert_eq!(per_instruction(&m).iter().flat_map(|(_, n)| n).sum::<u64>(), executed);
    // The one behind it has its derivative, the ones before have none yet.
    let a = |m: &Machine, n: usize| f64::from_bits(m.get(GRADIENT, Cell::Word(n)));
    assert_eq!([a(&m, 3), a(&m, 1), a(&m, 0)], [1.0 / 6.0, 0.0, 0.0]);
    // The same by steps, and by a limit.
    for limited in [false, true] {
        let mut again = machine(&program);
        again.restore(&there);
        again.carry(AdMode::Gradient);
        again.put(GRADIENT, loss.cell, one);
        again.begin(Direction::Backward);
        if limited {
            assert_eq!(again.run(Some(executed - forward)), Outcome::Limit);
            assert_eq!(again.pc(), Some(trap.at));
        } else {
            assert_eq!(step(&mut again), outcome);
        }
        assert_eq!((again.digest(), again.executed()), (digest, executed - forward));
    }
    // Values alone go on to the start.
    m.carry(AdMode::Plain);
    end(&mut m).expect("values have no traps here");
    assert!(m.snapshot() == start);
}

// ---------------------------------------------------------------------------
// Random programs

/// Every word in every lane; −0.0 as +0.0, for a sum of the two forgets which it was.
fn everything(m: &Machine) -> Vec<u64> {
    let registers = (0..Reg::COUNT as u8).map(cell);
    let cells: Vec<Cell> = registers.chain((0..MEMORY as usize).map(Cell::Word)).collect();
    let words = (0..LANES).flat_map(|lane| cells.iter().map(move |c| m.get(lane, *c)));
    words.map(|w| if w == (-0f64).to_bits() { 0 } else { w }).collect()
}

/// The programs of the sampler that do not use gradients themselves, at every level and over dual numbers, from random words in all
/// lanes: backward and forward again, bit for bit. Doubles have gradient words of ±0 there, and the sampler's programs add only
/// sums of doubles that are exact, but not of random tangents: theirs begin as zero.
#[test]
fn random_programs_come_back_with_their_lanes() {
    let (mut ran, mut kept) = ([0; 5], 0);
    for seed in 0..400 {
        let size = [3, 12, 40, 120][seed as usize % 4];
        let text = Draft::new(&mut Source::seeded(seed), size).text();
        let program = load(&text);
        if gradient::differentiable(program.module()).is_err() {
            continue;
        }
        let mut s = Source::seeded(seed);
        for ad_mode in AdMode::ALL {
            let mut m = machine(&program);
            if m.run(Some(200_000)) != Outcome::Finished {
                continue;
            }
            m.carry(ad_mode);
            for &lane in ad_mode.lanes() {
                // Those that hold words of any kind, and the arrays of integers and of fixed-point numbers.
                (1..=11).for_each(|n| m.put(lane, cell(n), word(&mut s)));
                (0..16).for_each(|n| m.put(lane, Cell::Word(n), word(&mut s)));
            }
            let before = everything(&m);
            m.keep_dropped();
            m.begin(Direction::Backward);
            if m.run(Some(200_000)) != Outcome::Finished {
                // A wrapped gradient word met a conversion.
                continue;
            }
            kept += m.dropped_words();
            m.turn_dropped();
            m.begin(Direction::Forward);
            assert_eq!(m.run(Some(200_000)), Outcome::Finished, "seed {seed} {ad_mode:?}\n{text}");
            assert!(everything(&m) == before, "seed {seed} {ad_mode:?}\n{text}");
            ran[ad_mode as usize] += 1;
        }
    }
    assert!(ran.iter().all(|n| *n > 100) && kept > 100, "{ran:?} {kept}");
}

/// A random program on doubles: bounded functions, exchanges, turns, the stack, loops and procedures, on registers 1 to 8 and the
/// words `a[0]` to `a[7]`.
fn floating(s: &mut Source) -> String {
    fn statement(s: &mut Source, out: &mut String, depth: u64, labels: &mut u64) {
        let mut taken = Vec::new();
        let mut reg = |s: &mut Source| loop {
            let n = 1 + s.below(8);
            if !taken.contains(&n) {
                taken.push(n);
                return format!("r{n}");
            }
        };
        let sub = s.pick(&["add", "sub"]);
        let (y, a, b) = (reg(s), reg(s), reg(s));
        let at = s.below(8);
        let _ = match s.below(if depth == 0 { 18 } else { 15 }) {
            0 | 1 => {
                writeln!(out, "        {sub}{}.f {y}, {a}", s.pick(&["sin", "cos", "tanh", "atan", "abs", "relu"]))
            }
            2 => writeln!(out, "        {sub}{}.f [a+{at}], {a}", s.pick(&["sin", "cos", "tanh", "atan"])),
            3 => writeln!(out, "        {sub}{}.f {y}, [a+{at}]", s.pick(&["sin", "tanh", ""])),
            4 => writeln!(out, "        {sub}mul.f {y}, {a}, 0.25"),
            5 => writeln!(out, "        {sub}{}.f {y}, {a}, {b}", s.pick(&["atan2", "hypot", "min", "max"])),
            // A product of bounded numbers, undone at once.
            6 => writeln!(
                out,
                "        addtanh.f r9, {a}\n        addsin.f r10, {b}\n        {sub}mul.f {y}, r9, r10\n        subsin.f r10, {b}\n        subtanh.f r9, {a}"
            ),
            7 => writeln!(
                out,
                "        addtanh.f r9, {a}\n        add.f r10, 3\n        {sub}div.f {y}, r9, r10\n        {sub}exp.f {y}, r9\n        {sub}muladd.f {y}, r9, r9, {b}\n        sub.f r10, 3\n        subtanh.f r9, {a}"
            ),
            8 => writeln!(out, "        swap {y}, {a}"),
            9 => writeln!(out, "        exch {y}, [a+{at}]"),
            10 => writeln!(out, "        neg.f {y}"),
            11 => writeln!(out, "        {} {y}, {a}, {b}", s.pick(&["rot.f", "irot.f"])),
            12 => writeln!(
                out,
                "        push {y}\n        push {a}\n        {sub}sin.f {b}, [sp-1]\n        pop {a}\n        pop {y}"
            ),
            13 => writeln!(out, "        emit {y}\n        emit {a}\n        unemit {y}\n        unemit {a}"),
            14 => writeln!(out, "        {} part", s.pick(&["call", "uncall"])),
            _ => {
                *labels += 1;
                let (n, count) = (*labels, 1 + s.below(3));
                let _ = writeln!(out, "t{n}: from.ne r20, r0, g{n}\nj{n}: jmp.eq r20, {count}, d{n}");
                for _ in 0..1 + s.below(4) {
                    statement(s, out, 1, labels);
                }
                writeln!(out, "        inc r20\ng{n}: jmp t{n}\nd{n}: from j{n}\n        sub r20, {count}")
            }
        };
    }
    let mut out = String::from("        .data\na: .double 1, -0.5, 0.25, 2, -1.5, 0.75, 0.1, -2\n        .text\n");
    let mut labels = 0;
    let mut part = String::new();
    for _ in 0..3 {
        statement(s, &mut part, 1, &mut labels);
    }
    // It does not call itself.
    let part = part.replace("        call part\n", "").replace("        uncall part\n", "");
    let _ = write!(out, "        proc part\n{part}        ret part\nmain: start\n");
    for _ in 0..5 + s.below(20) {
        statement(s, &mut out, 0, &mut labels);
    }
    out.push_str("        finish\n");
    out
}

/// Gradients are the transpose of tangents, of the run forward and of the gradient run backward.
#[test]
fn random_programs_on_doubles_are_transposed() {
    let mut s = Source::seeded(7);
    let mut cells: Vec<Cell> = (1..=8).map(cell).collect();
    cells.extend((0..8).map(Cell::Word));
    let (mut met, mut moved) = (0, 0);
    for _ in 0..300 {
        let text = floating(&mut s);
        let program = load(&text);
        let uniform = |s: &mut Source| s.between(-1000, 1000) as f64 / 500.0 + 1e-3;
        let mut m = machine(&program);
        for n in 1..=8 {
            m.put(VALUE, cell(n), uniform(&mut s).to_bits());
        }
        let start = m.snapshot();
        if m.run(Some(100_000)) != Outcome::Finished {
            continue;
        }
        let finish = m.snapshot();
        let double = |m: &Machine, lane: usize, cell: Cell| f64::from_bits(m.get(lane, cell));
        for level in [0, 1] {
            // The program that is differentiated: forward on values, or backward on values and gradient words.
            let (lanes, tangents, gradients, first): (&[usize], _, _, _) = match level {
                0 => (&[VALUE], AdMode::Tangent, AdMode::Gradient, Direction::Forward),
                _ => (&[VALUE, GRADIENT], AdMode::GradientTangent, AdMode::SecondGradient, Direction::Backward),
            };
            let up = if level == 0 { GRADIENT } else { SECOND };
            let variables: Vec<(usize, Cell)> = lanes.iter().flat_map(|l| cells.iter().map(|c| (*l, *c))).collect();
            m.restore(if level == 0 { &start } else { &finish });
            (1..LANES).for_each(|lane| m.clear_lane(lane));
            variables.iter().filter(|v| v.0 != VALUE).for_each(|v| m.put(v.0, v.1, uniform(&mut s).to_bits()));
            let u: Vec<f64> = variables.iter().map(|_| uniform(&mut s)).collect();
            let w: Vec<f64> = variables.iter().map(|_| uniform(&mut s)).collect();
            variables.iter().zip(&u).for_each(|(v, x)| m.put(v.0 + SECOND, v.1, x.to_bits()));
            m.carry(tangents);
            m.begin(first);
            if end(&mut m).is_err() {
                break;
            }
            let pushed: Vec<f64> = variables.iter().map(|v| double(&m, v.0 + SECOND, v.1)).collect();
            let lower: Vec<f64> = variables.iter().map(|v| double(&m, v.0, v.1)).collect();
            (1..LANES).for_each(|lane| m.clear_lane(lane));
            variables.iter().zip(&lower).for_each(|(v, x)| m.put(v.0, v.1, x.to_bits()));
            variables.iter().zip(&w).for_each(|(v, x)| m.put(v.0 + up, v.1, x.to_bits()));
            m.carry(gradients);
            m.begin(first.flip());
            if end(&mut m).is_err() {
                break;
            }
            let pulled: Vec<f64> = variables.iter().map(|v| double(&m, v.0 + up, v.1)).collect();
            let dot = |a: &[f64], b: &[f64]| {
                let terms = a.iter().zip(b).map(|(a, b)| a * b);
                terms.fold((0.0, 0.0), |(sum, size), t| (sum + t, size + t.abs()))
            };
            let ((left, a), (right, b)) = (dot(&w, &pushed), dot(&pulled, &u));
            assert!((left - right).abs() <= 1e-9 * (a + b), "level {level}: {left:e} {right:e} of {a:e}\n{text}");
            met += 1;
            moved += usize::from(pulled.iter().zip(&w).filter(|(a, b)| a != b).count() > 4);
        }
    }
    assert!(met > 500 && moved > 450, "{met} {moved}");
}
