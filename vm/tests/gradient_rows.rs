//! What every row of the table does to gradient words and tangents: against
//! closed forms written down here, against each other (a gradient is the
//! transpose of the tangents), against finite differences, and back again bit
//! for bit. Whole programs are in the root crate's `gradient_programs.rs`.

use crate::common;

use common::{between, imm, inst, kind, machine, mem, module, program, r, reg};
use pendula_isa::adjoint::{AdMode, GRADIENT, LANES, MIXED, SECOND, VALUE};
use pendula_isa::counts::Direction;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::mnemonic::families;
use pendula_isa::num::{Format, convert, fixed, int};
use pendula_isa::operand::{Operand, Shape, Slot};
use pendula_isa::sample::{Source, instruction, number, word};
use pendula_isa::scalar;
use pendula_isa::table::{Adjoint, Flow, Row, TableFn};
use pendula_isa::types::{Acc, Profile, Reg, Ty};
use pendula_isa::{Env, Fault};
use pendula_vm::gradient::Cell;
use pendula_vm::{Config, Machine, Outcome};

/// Random points for each function and shape.
const POINTS: usize = 1_000;
/// Words of memory.
const MEMORY: u64 = 24;
/// Points that share a constant operand.
const PER_CONSTANT: usize = 25;

const CARRIAGES: [AdMode; 4] = [AdMode::Gradient, AdMode::SecondGradient, AdMode::Tangent, AdMode::GradientTangent];

// ---------------------------------------------------------------------------
// Numbers

/// The number that a word stands for.
fn real(env: Env, ty: Ty, word: u64) -> f64 {
    convert::to_f64(env, ty, word)
}

/// The word nearest to a number.
fn nearest(env: Env, ty: Ty, x: f64) -> u64 {
    convert::from_f64(env, ty, x).expect("a moderate number")
}

/// The type of the gradient words of a type; that of integers stands for something that is never read.
fn lane_type(ty: Ty) -> Ty {
    if ty == Ty::F { Ty::F } else { Ty::Q }
}

/// Uniform between two numbers.
fn uniform(s: &mut Source, min: f64, max: f64) -> f64 {
    min + (max - min) * (s.word() >> 11) as f64 / (1u64 << 53) as f64
}

/// Either sign, and a magnitude between two numbers.
fn signed(s: &mut Source, min: f64, max: f64) -> f64 {
    let x = uniform(s, min, max);
    if s.once_in(2) { -x } else { x }
}

// ---------------------------------------------------------------------------
// The mathematics of the functions, written down once more

/// The differentiable functions of which something holds.
fn functions(wanted: impl Fn(Ty, Ty) -> bool) -> Vec<TableFn> {
    let all = TableFn::ALL.iter().copied().filter(|f| f.info().partials > 0);
    all.filter(|f| wanted(f.info().ty, f.info().from)).collect()
}

/// Numbers at which the function is smooth and of moderate size.
fn point(func: TableFn, s: &mut Source) -> [f64; 3] {
    let info = func.info();
    let mut any = || signed(s, 0.0, 4.0);
    let x = [any(), any(), any()];
    match (info.ty, info.name) {
        (_, "cvt") | (_, "inv") => [signed(s, 0.25, 4.0), 0.0, 0.0],
        (Ty::Q, "log") if info.from == Ty::L => [signed(s, 0.25, 4.0), 0.0, 0.0],
        (Ty::L, "plus" | "minus") => loop {
            let [a, b] = [signed(s, 0.125, 8.0), signed(s, 0.125, 8.0)];
            let y = if info.name == "plus" { a + b } else { a - b };
            if y.abs() > 0.25 {
                return [a, b, 0.0];
            }
        },
        (_, "pow") if s.once_in(8) => [-uniform(s, 0.5, 3.0), s.between(-3, 3) as f64, 0.0],
        (_, "pow") => [uniform(s, 0.25, 4.0), x[1] * 0.75, 0.0],
        (Ty::L, _) => [signed(s, 0.125, 8.0), signed(s, 0.125, 8.0), 0.0],
        (_, "div") => [x[0], signed(s, 0.25, 4.0), 0.0],
        (_, "powi") => [signed(s, 0.25, 3.0), s.between(-5, 5) as f64, 0.0],
        (_, "log" | "log2" | "sqrt") => [uniform(s, 0.25, 16.0), 0.0, 0.0],
        (_, "tan") => [x[0] * 0.35, 0.0, 0.0],
        (_, "asin" | "acos") => [x[0] * 0.2375, 0.0, 0.0],
        (_, "hypot" | "atan2") => [signed(s, 0.25, 4.0), signed(s, 0.25, 4.0), 0.0],
        _ => x,
    }
}

/// The partial derivatives, of ln|y| where the value is logarithmic and with respect to ln|x| where the argument is.
fn closed(func: TableFn, [a, b, _]: [f64; 3], y: f64) -> [f64; 3] {
    let info = func.info();
    let one = |p: f64| [p, 0.0, 0.0];
    let below = if a <= b { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let above = if a >= b { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    match (info.ty, info.from, info.name) {
        (Ty::Q | Ty::F, Ty::L, "cvt") => one(y),
        (Ty::Q, Ty::L, "log") => one(1.0),
        (Ty::L, Ty::Q | Ty::F, "cvt") => one(1.0 / a),
        (_, _, "cvt") => one(1.0),
        (Ty::L, _, "mul") => [1.0, 1.0, 0.0],
        (Ty::L, _, "div") => [1.0, -1.0, 0.0],
        (Ty::L, _, "inv") => one(-1.0),
        (Ty::L, _, "pow") => [b, a.abs().ln(), 0.0],
        (Ty::L, _, "plus") => [a / (a + b), b / (a + b), 0.0],
        (Ty::L, _, "minus") => [a / (a - b), -b / (a - b), 0.0],
        (_, _, "") => one(1.0),
        (_, _, "mul") => [b, a, 0.0],
        (_, _, "div") => [1.0 / b, -a / (b * b), 0.0],
        (_, _, "muladd") => [b, a, 1.0],
        (_, _, "plus") => [1.0, 1.0, 0.0],
        (_, _, "minus") => [1.0, -1.0, 0.0],
        (_, _, "inv") => one(-1.0 / (a * a)),
        (_, _, "pow") if a <= 0.0 => [b * a.powi(b as i32 - 1), 0.0, 0.0],
        (_, _, "pow") => [b * a.powf(b - 1.0), a.powf(b) * a.ln(), 0.0],
        (_, _, "powi") => one(b * a.powi(b as i32 - 1)),
        (_, _, "exp") => one(a.exp()),
        (_, _, "log") => one(1.0 / a),
        (_, _, "log2") => one(1.0 / (a * std::f64::consts::LN_2)),
        (_, _, "sqrt") => one(0.5 / a.sqrt()),
        (_, _, "sin") => one(a.cos()),
        (_, _, "cos") => one(-a.sin()),
        (_, _, "tan") => one(1.0 / (a.cos() * a.cos())),
        (_, _, "asin") => one(1.0 / (1.0 - a * a).sqrt()),
        (_, _, "acos") => one(-1.0 / (1.0 - a * a).sqrt()),
        (_, _, "atan") => one(1.0 / (1.0 + a * a)),
        (_, _, "atan2") => [b / (a * a + b * b), -a / (a * a + b * b), 0.0],
        (_, _, "sinh") => one((a.exp() + (-a).exp()) / 2.0),
        (_, _, "cosh") => one((a.exp() - (-a).exp()) / 2.0),
        (_, _, "tanh") => one(4.0 / (a.exp() + (-a).exp()).powi(2)),
        (_, _, "abs") => one(if a > 0.0 { 1.0 } else { -1.0 }),
        (_, _, "min") => below,
        (_, _, "max") => above,
        (_, _, "relu") => one(f64::from(a > 0.0)),
        (_, _, "hypot") => [a / (a * a + b * b).sqrt(), b / (a * a + b * b).sqrt(), 0.0],
        (ty, _, name) => panic!("no closed form of the derivative of {name}{}", ty.suffix()),
    }
}

/// How far a partial derivative computed in fixed point may be from its closed form, in units of 2^-frac.
///
/// Every operation of the format is off by at most one unit (docs, "Numbers"), sums and products with ±1 by none; an error e in the
/// operand of g becomes |g′|·e. So 1/b is off by 1; y/b, where y is off by 1, by 1/|b| + 1; and so on. Twice the bound, for what
/// is of second order in the errors.
fn units(func: TableFn, [a, b, _]: [f64; 3], y: f64) -> [f64; 3] {
    let info = func.info();
    let h = a.hypot(b);
    let bound = match (info.ty, info.from, info.name) {
        // One rounding of y.
        (Ty::Q, Ty::L, "cvt") => [1.0, 0.0, 0.0],
        (Ty::L, Ty::Q, "cvt") => [1.0, 0.0, 0.0],
        // A logarithm of 52 bits: below a unit of any format. The conversion rounds once.
        (Ty::L, _, "plus" | "minus") => [1.0; 3],
        (Ty::L, _, "pow") => [0.0, 1.0, 0.0],
        (Ty::L, ..) => [0.0; 3],
        (_, _, "" | "cvt" | "mul" | "muladd" | "plus" | "minus" | "abs" | "min" | "max" | "relu") => [0.0; 3],
        (Ty::Q, Ty::L, "log") => [0.0; 3],
        (_, _, "div") => [1.0, 1.0 / b.abs() + 1.0, 0.0],
        (_, _, "inv") => [2.0 * y.abs() + 1.0, 0.0, 0.0],
        (_, _, "pow") => [b.abs() + 1.0, y.abs() + a.abs().ln().abs() + 1.0, 0.0],
        (_, _, "powi") => [b.abs() + 1.0, 0.0, 0.0],
        (_, _, "exp" | "log" | "sin" | "cos" | "sinh" | "cosh") => [1.0, 0.0, 0.0],
        (_, _, "log2") => [0.5 / a + 1.0, 0.0, 0.0],
        (_, _, "sqrt") => [0.5 / (y * y) + 1.0, 0.0, 0.0],
        (_, _, "tan") => [2.0 * y.abs() + 1.0, 0.0, 0.0],
        (_, _, "asin" | "acos") => {
            let s = 1.0 - a * a;
            [(0.5 / s.sqrt() + 1.0) / s + 1.0, 0.0, 0.0]
        }
        (_, _, "atan") => {
            let h = a.hypot(1.0);
            [2.0 / h * (1.0 / (h * h) + 1.0) + 1.0, 0.0, 0.0]
        }
        (_, _, "atan2") => {
            let of = |x: f64| (x.abs() / (h * h) + 1.0) / h + x.abs() / (h * h) + 1.0;
            [of(b), of(a), 0.0]
        }
        (_, _, "tanh") => [3.0, 0.0, 0.0],
        (_, _, "hypot") => [a.abs() / (h * h) + 1.0, b.abs() / (h * h) + 1.0, 0.0],
        (ty, _, name) => panic!("no bound for {name}{}", ty.suffix()),
    };
    bound.map(|units| 2.0 * units)
}

// ---------------------------------------------------------------------------
// One instruction, and where its operands lie

/// An accumulate of one shape, with fixed registers, in one effective direction.
struct Site {
    func: TableFn,
    inst: Inst,
    /// Where each operand lies, the destination first; constants lie nowhere.
    cells: Vec<Option<Cell>>,
    /// How the instruction runs to have the effect wanted.
    direction: Direction,
    /// Whether the function is effectively subtracted.
    minus: bool,
}

/// The type of an argument.
fn argument(func: TableFn, n: usize) -> Ty {
    func.info().args[n].ty
}

impl Site {
    fn new(func: TableFn, shape: Shape, twice: bool, constant: u64, s: &mut Source) -> Site {
        let acc = if func.info().ty == Ty::L { Acc::Mul } else { Acc::Add };
        let (inverse, direction) = (s.once_in(2), s.pick(&[Direction::Forward, Direction::Backward]));
        let family = Kind::Accumulate { acc, inverse, func, shape };
        let (mut operands, mut cells) = (Vec::new(), Vec::new());
        let mut next = 5;
        for (n, slot) in shape.layout().into_iter().enumerate() {
            let (operand, cell) = match slot {
                Slot::None => continue,
                Slot::Target(_) => (reg(1), Some(Cell::Register(r(1)))),
                Slot::Reg(_) => {
                    let number = next;
                    next += u8::from(!twice);
                    (reg(number), Some(Cell::Register(r(number))))
                }
                Slot::Mem(_) | Slot::TargetMem(_) => (mem(8, 9, 5), Some(Cell::Word(12))),
                Slot::MemPlain(_) | Slot::TargetMemPlain(_) => (mem(8, 9, 0), Some(Cell::Word(7))),
                Slot::Imm => (Operand::Imm(constant, family.constant_type(n)), None),
                other => panic!("{shape:?} has {other:?}"),
            };
            operands.push(operand);
            cells.push(cell);
        }
        let inst = Inst::build(family, &operands).unwrap_or_else(|e| panic!("{family:?} {operands:?}: {e}"));
        assert!(matches!(inst.kind, Kind::Accumulate { shape: built, .. } if built == shape), "{inst:?}");
        let minus = inverse != (direction == Direction::Backward);
        Site { func, inst, cells, direction, minus }
    }

    /// The argument that is a constant.
    fn constant(&self) -> Option<usize> {
        self.cells[1..].iter().position(Option::is_none)
    }

    /// Writes an operand in a lane.
    fn put(&self, m: &mut Machine, lane: usize, n: usize, word: u64) {
        if let Some(cell) = self.cells[n] {
            m.put(lane, cell, word);
        }
    }

    fn get(&self, m: &Machine, lane: usize, n: usize) -> u64 {
        self.cells[n].map_or(0, |cell| m.get(lane, cell))
    }

    /// The arguments that carry, one for each word: the first argument that lies there, with all of them that do.
    fn words(&self) -> Vec<(usize, Vec<usize>)> {
        let mut out: Vec<(usize, Vec<usize>)> = Vec::new();
        for n in 0..self.func.info().partials {
            if self.cells[n + 1].is_some() {
                match out.iter_mut().find(|(m, _)| self.cells[m + 1] == self.cells[n + 1]) {
                    Some((_, all)) => all.push(n),
                    None => out.push((n, vec![n])),
                }
            }
        }
        out
    }
}

/// The address registers of memory operands.
fn addresses(m: &mut Machine) {
    m.set_register(r(8), 3);
    m.set_register(r(9), 4);
}

/// Runs the program from one of its ends.
fn run(m: &mut Machine, ad_mode: AdMode, direction: Direction) -> Result<(), Fault> {
    m.carry(ad_mode);
    m.begin(direction);
    match m.run(None) {
        Outcome::Finished => Ok(()),
        Outcome::Trap(trap) => Err(trap.fault),
        Outcome::Limit | Outcome::NoCode(_) => unreachable!("no limit"),
    }
}

/// Every word in every lane that has an address.
fn everything(m: &Machine) -> Vec<u64> {
    let registers = (0..Reg::COUNT as u8).map(|n| Cell::Register(r(n)));
    let words = (0..MEMORY as usize).map(Cell::Word);
    let cells: Vec<Cell> = registers.chain(words).collect();
    (0..LANES).flat_map(|lane| cells.iter().map(move |c| (lane, *c))).map(|(lane, c)| m.get(lane, c)).collect()
}

/// The shapes of a function, each with all registers different and, where there are two, with one register for all arguments
/// (if they are of one type).
fn shapes(func: TableFn) -> Vec<(Shape, bool)> {
    let args = func.info().args;
    let mut out = Vec::new();
    for shape in Shape::ALL.into_iter().filter(|shape| shape.arity() == args.len()) {
        out.push((shape, false));
        let registers = shape.layout().iter().filter(|slot| matches!(slot, Slot::Reg(_))).count();
        if registers > 1 && args.iter().all(|a| a.ty == args[0].ty) {
            out.push((shape, true));
        }
    }
    out
}

/// Values for the operands of a site at which its function is smooth: words, and the numbers that they stand for.
struct Values {
    words: [u64; 3],
    numbers: [f64; 3],
    /// The function's value.
    y: f64,
}

/// A point for a function; all arguments alike if `twice`, the constant one given.
fn values(env: Env, func: TableFn, twice: bool, constant: Option<(usize, u64)>, s: &mut Source) -> Values {
    loop {
        let mut x = point(func, s);
        if twice {
            x = [if func.info().name == "pow" { uniform(s, 0.25, 3.0) } else { x[1] }; 3];
        }
        let mut words = [0; 3];
        for n in 0..func.info().args.len() {
            words[n] = nearest(env, argument(func, n), x[n]);
        }
        if let Some((n, word)) = constant {
            words[n] = word;
        }
        let mut numbers = [0.0; 3];
        for n in 0..func.info().args.len() {
            numbers[n] = real(env, argument(func, n), words[n]);
        }
        let Ok(y) = scalar::value(env, func, words) else { continue };
        let y = real(env, func.info().ty, y);
        if (func.info().ty != Ty::L || y.abs() > 0.1) && y.abs() < 1e4 {
            return Values { words, numbers, y };
        }
    }
}

/// Calls a test for every shape of a function at many points, with a machine that holds the point's values, the destination's included.
fn at_points(
    env: Env,
    func: TableFn,
    points: usize,
    seed: u64,
    mut test: impl FnMut(&mut Machine, &Site, &Values, &mut Source),
) {
    for (shape, twice) in shapes(func) {
        // The only function without a derivative where its arguments are the same: the logarithm of x − x.
        if twice && func.info().ty == Ty::L && func.info().name == "minus" {
            continue;
        }
        let mut s = Source::seeded(seed ^ (shape as u64) << 32 ^ u64::from(twice) << 40);
        for _ in 0..points / PER_CONSTANT {
            let fixed_words = values(env, func, twice, None, &mut s).words;
            let constant = Site::new(func, shape, twice, fixed_words[0], &mut s).constant();
            let constant = constant.map(|n| (n, fixed_words[n]));
            let site = Site::new(func, shape, twice, constant.map_or(0, |(_, w)| w), &mut s);
            let mut module = between([site.inst]);
            module.flags.format = env.format;
            let program = program(module);
            let mut m = machine(&program, MEMORY);
            for _ in 0..PER_CONSTANT {
                let v = values(env, func, twice, constant, &mut s);
                (1..LANES).for_each(|lane| m.clear_lane(lane));
                addresses(&mut m);
                let y = nearest(env, func.info().ty, signed(&mut s, 0.5, 4.0));
                site.put(&mut m, VALUE, 0, y);
                for n in 0..v.words.len().min(func.info().args.len()) {
                    site.put(&mut m, VALUE, n + 1, v.words[n]);
                }
                test(&mut m, &site, &v, &mut s);
            }
        }
    }
}

fn name(func: TableFn) -> String {
    let info = func.info();
    let from = if info.from == info.ty { "" } else { info.from.source_suffix() };
    format!("{}{}{from}", info.name, info.ty.suffix())
}

fn close(a: f64, b: f64, tolerance: f64, scale: f64, what: impl Fn() -> String) {
    assert!((a - b).abs() <= tolerance * scale, "{}: {a:e} and {b:e}, scale {scale:e}", what());
}

// ---------------------------------------------------------------------------
// First derivatives

/// At every point: the gradient words that an effective `y −= f(x)` leaves are those that the closed forms say, its tangents are
/// their transpose, and finite differences of the values say so, too.
#[test]
fn gradients_tangents_and_differences_of_doubles() {
    let env = Env::default();
    for (seed, func) in functions(|ty, from| ty == Ty::F && from == Ty::F).into_iter().enumerate() {
        let (mut met, mut compared) = (0, 0);
        at_points(env, func, POINTS, seed as u64, |m, site, v, s| {
            let p = closed(func, v.numbers, v.y);
            let minus = if site.minus { -1.0 } else { 1.0 };
            let start = m.snapshot();
            let describe = |n: usize| format!("{} {:?} ∂{n} at {:?}", name(func), site.inst, v.numbers);
            // The run without gradients does the same to the values.
            run(m, AdMode::Plain, site.direction).expect("a value");
            let there = m.snapshot();
            m.restore(&start);
            let g = signed(s, 0.1, 2.0);
            site.put(m, GRADIENT, 0, g.to_bits());
            let mut before = [0.0; 3];
            for (n, _) in site.words() {
                before[n] = if s.once_in(2) { 0.0 } else { signed(s, 0.0, 2.0) };
                site.put(m, GRADIENT, n + 1, before[n].to_bits());
            }
            run(m, AdMode::Gradient, site.direction).expect("a gradient");
            assert!(m.snapshot() == there, "{}", describe(0));
            assert_eq!(site.get(m, GRADIENT, 0), g.to_bits(), "{}", describe(0));
            let gained: Vec<(usize, f64, f64)> = site
                .words()
                .into_iter()
                .map(|(n, all)| {
                    let after = f64::from_bits(site.get(m, GRADIENT, n + 1));
                    let sum: f64 = all.iter().map(|k| p[*k]).sum();
                    let size: f64 = all.iter().map(|k| (g * p[*k]).abs()).sum();
                    close(after, before[n] - minus * g * sum, 1e-9, size + 1e-6 * before[n].abs() + 4e-7, || {
                        describe(n)
                    });
                    (n, after - before[n], size + before[n].abs() + after.abs())
                })
                .collect();
            for (n, gained, size) in gained {
                m.restore(&start);
                (1..LANES).for_each(|lane| m.clear_lane(lane));
                let direction = signed(s, 0.5, 2.0);
                site.put(m, SECOND, n + 1, direction.to_bits());
                run(m, AdMode::Tangent, site.direction).expect("a tangent");
                assert!(m.snapshot() == there, "{}", describe(n));
                assert_eq!(site.get(m, SECOND, n + 1), direction.to_bits());
                let t = f64::from_bits(site.get(m, SECOND, 0));
                close(gained * direction, -g * t, 1e-12, size * direction.abs(), || describe(n));
                met += 1;
                // The same by differences.
                let shared: Vec<usize> =
                    (0..3).filter(|k| k + 1 < site.cells.len() && site.cells[k + 1] == site.cells[n + 1]).collect();
                let at = |h: f64| {
                    let mut words = v.words;
                    shared.iter().for_each(|k| words[*k] = (v.numbers[*k] + h).to_bits());
                    scalar::value(env, func, words).map(f64::from_bits)
                };
                let slope = |h: f64| Some((at(h).ok()? - at(-h).ok()?) / (2.0 * h));
                if let (Some(wide), Some(narrow)) = (slope(2e-3), slope(1e-3)) {
                    let scale = 1.0 + narrow.abs() + v.y.abs();
                    if (wide - narrow).abs() <= 1e-3 * scale {
                        compared += 1;
                        let limit = 1e-8 * scale + 1e-2 * (wide - narrow).abs();
                        close((4.0 * narrow - wide) / 3.0, minus * t / direction, 1.0, limit, || describe(n));
                    }
                }
            }
        });
        // With respect to the exponent of a negative number there are no differences.
        let least = if func.info().name == "pow" { 0.8 } else { 0.95 };
        assert!(met >= POINTS && f64::from(compared) >= least * met as f64, "{}: {compared} of {met}", name(func));
    }
}

/// Gradient words of fixed-point and logarithmic numbers and of conversions, in every format, within what the format's roundings
/// explain ([`units`]): each share is g times a partial derivative that is off by so many units, and is rounded once more, twice
/// where it goes from doubles to fixed point.
#[test]
fn gradients_of_fixed_point_and_logarithmic_numbers() {
    for (seed, func) in functions(|ty, from| ty != Ty::F || from != Ty::F).into_iter().enumerate() {
        let format = Format::ALL[seed % 3];
        let env = Env { format, ieee: false };
        let unit = (-f64::from(format.frac())).exp2();
        let mut met = 0;
        at_points(env, func, POINTS, 100 + seed as u64, |m, site, v, s| {
            let p = closed(func, v.numbers, v.y);
            let error = units(func, v.numbers, v.y);
            let minus = if site.minus { -1.0 } else { 1.0 };
            let describe = |n: usize| format!("{} {:?} ∂{n} at {:?}", name(func), site.inst, v.numbers);
            let seed_type = lane_type(func.info().ty);
            let word = nearest(env, seed_type, signed(s, 0.1, 2.0));
            let g = real(env, seed_type, word);
            site.put(m, GRADIENT, 0, word);
            let mut before = [0.0; 3];
            for (n, _) in site.words() {
                let ty = lane_type(argument(func, n));
                let word = nearest(env, ty, signed(s, 0.0, 2.0));
                before[n] = real(env, ty, word);
                site.put(m, GRADIENT, n + 1, word);
            }
            run(m, AdMode::Gradient, site.direction).unwrap_or_else(|e| panic!("{}: {e:?}", describe(0)));
            assert_eq!(site.get(m, GRADIENT, 0), word, "{}", describe(0));
            for (n, all) in site.words() {
                let after = real(env, lane_type(argument(func, n)), site.get(m, GRADIENT, n + 1));
                let sum: f64 = all.iter().map(|k| p[*k]).sum();
                let limit: f64 =
                    all.iter().map(|k| (g.abs() * error[*k] + 2.0) * unit + 1e-12 * (g * p[*k]).abs()).sum();
                close(after, before[n] - minus * g * sum, 1.0, limit, || describe(n));
                met += 1;
            }
        });
        assert!(met >= POINTS, "{}", name(func));
    }
}

// ---------------------------------------------------------------------------
// Second derivatives, and the transpose at both levels

/// A double in a lane of a cell.
fn double(m: &Machine, lane: usize, cell: Cell) -> f64 {
    f64::from_bits(m.get(lane, cell))
}

/// How often [`transposed`] met something to compare.
#[derive(Default)]
struct Met {
    points: usize,
    numbers: usize,
    compared: usize,
}

/// One instruction on doubles, at the state in the machine: values and gradient words of `cells` are its variables.
///
/// What it does to tangents is the derivative of what it does to values (by finite differences), and what its undoing does to gradient
/// words is the transpose of that. The same holds one level up, of the instruction with gradient words: tangents by
/// [`AdMode::GradientTangent`], the transpose by [`AdMode::SecondGradient`].
fn transposed(
    m: &mut Machine,
    cells: &[Cell],
    direction: Direction,
    s: &mut Source,
    met: &mut Met,
    what: &dyn Fn() -> String,
) {
    let start = m.snapshot();
    for level in [0, 1] {
        // The lanes of the program that is differentiated, and those above them.
        let (lanes, tangents, gradients): (&[usize], _, _) = match level {
            0 => (&[VALUE], AdMode::Tangent, AdMode::Gradient),
            _ => (&[VALUE, GRADIENT], AdMode::GradientTangent, AdMode::SecondGradient),
        };
        let plain = if level == 0 { AdMode::Plain } else { AdMode::Gradient };
        let above = |ad_mode: AdMode, lane: usize| {
            if ad_mode == AdMode::Gradient { lane + GRADIENT } else { lane + SECOND }
        };
        let variables: Vec<(usize, Cell)> = lanes.iter().flat_map(|lane| cells.iter().map(|c| (*lane, *c))).collect();
        m.restore(&start);
        let before: Vec<f64> = variables
            .iter()
            .map(|(lane, cell)| if *lane == VALUE { double(m, VALUE, *cell) } else { signed(s, 0.1, 2.0) })
            .collect();
        let set = |m: &mut Machine, at: &[f64]| {
            m.restore(&start);
            (1..LANES).for_each(|lane| m.clear_lane(lane));
            variables.iter().zip(at).for_each(|((lane, cell), x)| m.put(*lane, *cell, x.to_bits()));
        };
        let read = |m: &Machine| -> Vec<f64> { variables.iter().map(|(lane, cell)| double(m, *lane, *cell)).collect() };
        let u: Vec<f64> = before.iter().map(|_| signed(s, 0.2, 1.0)).collect();
        let w: Vec<f64> = before.iter().map(|_| signed(s, 0.2, 1.0)).collect();
        // J·u.
        set(m, &before);
        variables.iter().zip(&u).for_each(|((lane, cell), x)| m.put(lane + SECOND, *cell, x.to_bits()));
        run(m, tangents, direction).unwrap_or_else(|e| panic!("{}: {e:?}", what()));
        let after = read(m);
        let pushed: Vec<f64> = variables.iter().map(|(lane, cell)| double(m, lane + SECOND, *cell)).collect();
        // Jᵀ·w, from there.
        (1..LANES).for_each(|lane| m.clear_lane(lane));
        variables.iter().zip(&after).for_each(|((lane, cell), x)| m.put(*lane, *cell, x.to_bits()));
        variables.iter().zip(&w).for_each(|((lane, cell), x)| m.put(above(gradients, *lane), *cell, x.to_bits()));
        run(m, gradients, direction.flip()).unwrap_or_else(|e| panic!("{}: {e:?}", what()));
        let pulled: Vec<f64> = variables.iter().map(|(lane, cell)| double(m, above(gradients, *lane), *cell)).collect();
        let back = read(m);
        for (was, is) in before.iter().zip(&back) {
            close(*was, *is, 1e-14, 20.0 * (1.0 + after.iter().fold(0.0, |s: f64, x| s.max(x.abs()))), what);
        }
        let dot = |a: &[f64], b: &[f64]| -> (f64, f64) {
            let terms = a.iter().zip(b).map(|(a, b)| a * b);
            terms.fold((0.0, 0.0), |(sum, size), t| (sum + t, size + t.abs()))
        };
        let ((left, a), (right, b)) = (dot(&w, &pushed), dot(&pulled, &u));
        close(left, right, 1e-12, a + b, || format!("transpose at level {level} of {}", what()));
        // Finite differences of the run itself.
        let mut slope = |h: f64| -> Option<Vec<f64>> {
            let mut ends = Vec::new();
            for sign in [h, -h] {
                let at: Vec<f64> = before.iter().zip(&u).map(|(x, u)| x + sign * u).collect();
                set(m, &at);
                run(m, plain, direction).ok()?;
                ends.push(read(m));
            }
            Some(ends[0].iter().zip(&ends[1]).map(|(a, b)| (a - b) / (2.0 * h)).collect())
        };
        let slopes = (slope(2e-3), slope(1e-3));
        for n in 0..variables.len() {
            met.numbers += 1;
            let (Some(wide), Some(narrow)) = (&slopes.0, &slopes.1) else { continue };
            let (wide, narrow) = (wide[n], narrow[n]);
            let scale = 1.0 + narrow.abs() + after[n].abs();
            if (wide - narrow).abs() <= 1e-3 * scale {
                met.compared += 1;
                let limit = 1e-8 * scale + 1e-2 * (wide - narrow).abs();
                close((4.0 * narrow - wide) / 3.0, pushed[n], 1.0, limit, || {
                    format!("differences at level {level}, {:?}, of {}", variables[n], what())
                });
            }
        }
    }
    m.restore(&start);
    met.points += 1;
}

#[test]
fn second_derivatives_of_doubles() {
    let env = Env::default();
    for (seed, func) in functions(|ty, from| ty == Ty::F && from == Ty::F).into_iter().enumerate() {
        let mut met = Met::default();
        at_points(env, func, POINTS, 200 + seed as u64, |m, site, v, s| {
            let mut cells: Vec<Cell> = site.cells[..=func.info().partials].iter().flatten().copied().collect();
            cells.dedup();
            transposed(m, &cells, site.direction, s, &mut met, &|| format!("{} at {:?}", name(func), v.numbers));
        });
        let least = if func.info().name == "pow" { 0.8 } else { 0.95 };
        assert!(met.points >= POINTS && met.compared as f64 >= least * met.numbers as f64, "{}", name(func));
    }
}

/// The rows that do something to doubles: turns with an angle in a register and as a constant, changes of sign, exchanges.
#[test]
fn second_derivatives_of_other_rows() {
    let mut s = Source::seeded(300);
    let mut met = Met::default();
    let cells = [Cell::Register(r(1)), Cell::Register(r(2)), Cell::Register(r(3)), Cell::Word(12)];
    let angle = Operand::Imm(0.7f64.to_bits(), Ty::F);
    let rows = [
        inst("rot.f", &[reg(1), reg(2), reg(3)]),
        inst("irot.f", &[reg(1), reg(2), reg(3)]),
        inst("rot.f", &[reg(1), reg(2), angle]),
        inst("irot.f", &[reg(1), reg(2), angle]),
        inst("neg.f", &[reg(1)]),
        inst("swap", &[reg(1), reg(2)]),
        inst("exch", &[reg(1), mem(8, 9, 5)]),
    ];
    for row in rows {
        let program = program(between([row]));
        let mut m = machine(&program, MEMORY);
        for direction in [Direction::Forward, Direction::Backward] {
            for _ in 0..POINTS {
                addresses(&mut m);
                cells.iter().for_each(|cell| m.put(VALUE, *cell, signed(&mut s, 0.1, 4.0).to_bits()));
                transposed(&mut m, &cells, direction, &mut s, &mut met, &|| format!("{row:?}"));
            }
        }
    }
    assert_eq!(met.compared, met.numbers);
}

// ---------------------------------------------------------------------------
// There and back

/// A word for a lane of a type: any word where gradients are fixed-point, a moderate double else.
fn lane_word(ty: Ty, s: &mut Source) -> u64 {
    match lane_type(ty) {
        Ty::F => signed(s, 0.0, 2.0).to_bits(),
        _ => word(s),
    }
}

/// Fixed-point and logarithmic numbers, conversions from and to doubles included: what an instruction does to values and to every
/// lane, its inverse undoes bit for bit, in each AD mode, whatever the lanes hold. Only a double that was added to comes back
/// within its roundings.
#[test]
fn lanes_come_back_bit_for_bit() {
    for (seed, func) in functions(|ty, from| ty != Ty::F || from != Ty::F).into_iter().enumerate() {
        let format = Format::ALL[(seed + 1) % 3];
        let env = Env { format, ieee: false };
        let info = func.info();
        let doubles = info.args.iter().any(|a| a.ty == Ty::F) || info.ty == Ty::F;
        let mut changed = 0;
        at_points(env, func, POINTS, 400 + seed as u64, |m, site, v, s| {
            let start = m.snapshot();
            for ad_mode in CARRIAGES {
                m.restore(&start);
                (1..LANES).for_each(|lane| m.clear_lane(lane));
                let types: Vec<Ty> = std::iter::once(info.ty).chain(info.args.iter().map(|a| a.ty)).collect();
                for &lane in ad_mode.lanes() {
                    for (n, ty) in types.iter().enumerate() {
                        // A double must find room in fixed point and the other way.
                        let word =
                            if doubles { nearest(env, lane_type(*ty), signed(s, 0.0, 2.0)) } else { lane_word(*ty, s) };
                        site.put(m, lane, n, word);
                    }
                }
                let describe = || format!("{ad_mode:?}: {} {:?} at {:?}", name(func), site.inst, v.numbers);
                let (before, digest) = (everything(m), m.digest());
                run(m, ad_mode, site.direction).unwrap_or_else(|e| panic!("{}: {e:?}", describe()));
                let there = everything(m);
                changed += usize::from(there[before.len() / LANES..] != before[before.len() / LANES..]);
                run(m, ad_mode, site.direction.flip()).unwrap_or_else(|e| panic!("{}: {e:?}", describe()));
                if !doubles {
                    assert_eq!(m.digest(), digest, "{}", describe());
                    continue;
                }
                let is_double = |n: usize| {
                    let at = n % (before.len() / LANES);
                    let cell = if at < Reg::COUNT { Cell::Register(r(at as u8)) } else { Cell::Word(at - Reg::COUNT) };
                    site.cells.iter().zip(&types).any(|(c, ty)| *c == Some(cell) && *ty == Ty::F)
                };
                for (n, word) in everything(m).into_iter().enumerate() {
                    if is_double(n) {
                        let [was, far, is] = [before[n], there[n], word].map(f64::from_bits);
                        // Second gradients are the sum of two shares: two roundings each way.
                        close(was, is, f64::EPSILON, 2.0 * (was.abs() + far.abs()), describe);
                    } else {
                        assert_eq!(word, before[n], "word {n} of {}", describe());
                    }
                }
            }
        });
        // A logarithm's share is g or −g; of a kink it may be 0.
        assert!(changed > 2 * POINTS, "{}: {changed}", name(func));
    }
}

/// The families of straight-line instructions, with `erase` or without.
fn straight(erase: bool) -> Vec<Kind> {
    families()
        .filter(|k| k.flow() == Flow::Straight && k.belongs_to(Profile::Native) && (erase || !k.is_irreversible()))
        .collect()
}

/// Whether the instruction does nothing to lanes.
fn is_discrete(kind: Kind) -> bool {
    match kind {
        Kind::Row { row, .. } => row.info().adjoint == Adjoint::Discrete,
        Kind::Accumulate { acc, func, .. } => acc == Acc::Xor || func.info().partials == 0,
    }
}

/// Whether the instruction adds to doubles, in any lane.
fn rounds(kind: Kind) -> bool {
    match kind {
        Kind::Row { row, ty, .. } => ty == Ty::F && row == Row::Rot,
        Kind::Accumulate { acc, func, .. } => {
            let info = func.info();
            let doubles = info.ty == Ty::F || info.args.iter().any(|a| a.ty == Ty::F && info.partials > 0);
            acc == Acc::Add && doubles || acc == Acc::Mul && info.from == Ty::F
        }
    }
}

fn types(kind: Kind) -> [Ty; 2] {
    match kind {
        Kind::Accumulate { func, .. } => [func.info().ty, func.info().from],
        Kind::Row { ty, .. } => [ty, ty],
    }
}

/// A random state, in which the instruction often can run, with random words in every lane of the AD mode.
fn randomize(m: &mut Machine, inst: &Inst, ad_mode: AdMode, s: &mut Source) {
    let types = types(inst.kind);
    let state_word = |s: &mut Source| match s.below(8) {
        0..=2 => 0,
        3 | 4 => number(types[s.below(2) as usize], Format::default(), s),
        5 => s.below(MEMORY),
        6 => nearest(Env::default(), types[1], 1.0 + s.below(3) as f64),
        _ => word(s),
    };
    (1..LANES).for_each(|lane| m.clear_lane(lane));
    let cells = (0..Reg::COUNT as u8).map(|n| Cell::Register(r(n))).chain((0..MEMORY as usize).map(Cell::Word));
    for cell in cells {
        let w = state_word(s);
        m.put(VALUE, cell, w);
        for &lane in ad_mode.lanes() {
            let w = match s.below(4) {
                0 => 0,
                1 => word(s),
                _ => number(lane_type(types[s.below(2) as usize]), Format::default(), s),
            };
            m.put(lane, cell, w);
        }
    }
    if s.once_in(4) {
        // Equal words are rare otherwise.
        let word = m.registers()[1 + s.below(31) as usize];
        inst.regs.iter().for_each(|reg| m.set_register(*reg, word));
    }
    m.set_register(Reg::SP, s.below(MEMORY));
    for (_, operand) in inst.operands() {
        if let Operand::Mem { base, index, offset } = operand
            && base != Reg::ZERO
        {
            let wanted = s.below(MEMORY).wrapping_sub(offset.cast_unsigned());
            if index == base {
                m.set_register(base, wanted >> 1);
            } else {
                m.set_register(base, wanted.wrapping_sub(m.registers()[index.index()]));
            }
        }
    }
    m.set_output((0..s.below(3)).map(|_| state_word(s)).collect());
    m.set_input(vec![state_word(s), state_word(s)], s.below(3) as usize);
}

/// Every instruction of the table, in every AD mode, on random states with random words in all lanes: a trap changes nothing in any
/// lane; what has no adjoint leaves the lanes alone; the inverse brings everything back, what `zero` drops being kept.
#[test]
fn every_row_comes_back_or_traps_without_a_trace() {
    let mut traps = 0;
    for (n, family) in straight(false).into_iter().enumerate() {
        let mut s = Source::seeded(500 + n as u64);
        let (mut ran, mut trapped) = ([0; CARRIAGES.len()], 0);
        for _ in 0..40 {
            let mut row = instruction(family, &mut s);
            for slot in row.kind.layout() {
                if let Slot::Mem(f) | Slot::TargetMem(f) = slot
                    && row.regs[f as usize] == Reg::ZERO
                {
                    row.imm = s.below(MEMORY) as i64;
                }
            }
            let program = program(between([row]));
            let config = Config { mem: Some(MEMORY), trap_overflow: s.once_in(4), ..Config::default() };
            let mut m = Machine::new(&program, &config).expect("a small memory");
            for _ in 0..25 {
                let k = s.below(4) as usize;
                let ad_mode = CARRIAGES[k];
                randomize(&mut m, &row, ad_mode, &mut s);
                let (before, digest, lost) = (everything(&m), m.digest(), m.counts().lost_bits());
                let first = s.pick(&[Direction::Forward, Direction::Backward]);
                m.keep_dropped();
                if run(&mut m, ad_mode, first).is_err() {
                    trapped += 1;
                    assert!(m.digest() == digest, "{row:?} {ad_mode:?}");
                    assert_eq!((m.dropped_words(), m.counts().lost_bits()), (0, lost), "{row:?} {ad_mode:?}");
                    continue;
                }
                ran[k] += 1;
                let there = everything(&m);
                let values = before.len() / LANES;
                if is_discrete(family) {
                    assert_eq!(there[values..], before[values..], "{row:?} {ad_mode:?}");
                }
                if config.trap_overflow || rounds(family) {
                    // A word that wraps in the other direction only would trap there.
                    continue;
                }
                m.turn_dropped();
                run(&mut m, ad_mode, first.flip()).unwrap_or_else(|e| panic!("{row:?} {ad_mode:?}: {e:?}"));
                if matches!(family, Kind::Row { row: Row::ZeroWithin, .. }) {
                    assert_eq!(everything(&m)[values..], before[values..], "{row:?} {ad_mode:?}");
                } else {
                    assert!(m.digest() == digest, "{row:?} {ad_mode:?}");
                }
            }
        }
        let gswap = matches!(family, Kind::Row { row: Row::Gswap, .. });
        for (ran, ad_mode) in ran.into_iter().zip(CARRIAGES) {
            let none = gswap && ad_mode.gradient_of(VALUE).is_none();
            assert!((ran == 0) == none && (none || ran > 20), "{} {ad_mode:?}: {ran}", family.mnemonic());
        }
        traps += usize::from(trapped > 0);
    }
    assert!(traps > 200, "{traps} families trapped");
}

// ---------------------------------------------------------------------------
// The other rows, one by one

/// All words, to be changed as an instruction is expected to.
struct Words(Vec<u64>);

impl Words {
    fn index(lane: usize, cell: Cell) -> usize {
        let at = match cell {
            Cell::Register(reg) => reg.index(),
            Cell::Word(a) => Reg::COUNT + a,
        };
        lane * (Reg::COUNT + MEMORY as usize) + at
    }
    fn get(&self, lane: usize, cell: Cell) -> u64 {
        self.0[Words::index(lane, cell)]
    }
    fn set(&mut self, lane: usize, cell: Cell, word: u64) {
        self.0[Words::index(lane, cell)] = word;
    }
    fn swap(&mut self, a: (usize, Cell), b: (usize, Cell)) {
        self.0.swap(Words::index(a.0, a.1), Words::index(b.0, b.1));
    }
}

const fn register(n: u8) -> Cell {
    Cell::Register(match Reg::new(n) {
        Some(reg) => reg,
        None => Reg::ZERO,
    })
}
const A: Cell = register(1);
const B: Cell = register(2);
const C: Cell = register(3);

/// Runs an instruction on random words in all lanes and compares every word with what `change` makes of them. Gives the bits lost.
fn expect(
    row: &str,
    operands: &[Operand],
    ad_mode: AdMode,
    prepare: &[(Cell, u64)],
    change: impl Fn(&mut Words),
) -> u64 {
    let mut module = between([inst(row, operands)]);
    module.flags.irreversible = row == "erase";
    let program = program(module);
    let mut m = machine(&program, MEMORY);
    let mut s = Source::seeded(ad_mode as u64);
    let cells = (1..Reg::COUNT as u8).map(register).chain((0..MEMORY as usize).map(Cell::Word));
    for cell in cells {
        for lane in 0..LANES {
            // Lanes that are not in use must be left alone, too. Moderate words, of which none is zero.
            m.put(lane, cell, (s.between(-(1 << 40), 1 << 40) | 1).cast_unsigned());
        }
    }
    addresses(&mut m);
    prepare.iter().for_each(|(cell, word)| m.put(VALUE, *cell, *word));
    let mut words = Words(everything(&m));
    change(&mut words);
    run(&mut m, ad_mode, Direction::Forward).unwrap_or_else(|e| panic!("{row} {ad_mode:?}: {e:?}"));
    let found = everything(&m);
    let n = Reg::COUNT + MEMORY as usize;
    for (at, (a, b)) in found.iter().zip(&words.0).enumerate() {
        assert_eq!(a, b, "{row} {ad_mode:?}: lane {} of cell {}", at / n, at % n);
    }
    m.counts().lost_bits()
}

fn with_value(ad_mode: AdMode) -> impl Iterator<Item = usize> {
    std::iter::once(VALUE).chain(ad_mode.lanes().iter().copied())
}

#[test]
fn moves() {
    let memory = (mem(8, 9, 5), Cell::Word(12));
    for ad_mode in CARRIAGES {
        let all = |a, b| move |w: &mut Words| with_value(ad_mode).for_each(|lane| w.swap((lane, a), (lane, b)));
        expect("swap", &[reg(1), reg(2)], ad_mode, &[], all(A, B));
        expect("exch", &[reg(1), memory.0], ad_mode, &[], all(A, memory.1));
        let sp = register(31);
        expect("push", &[reg(1)], ad_mode, &[(sp, 16), (Cell::Word(16), 0)], |w| {
            all(A, Cell::Word(16))(w);
            w.set(VALUE, sp, 17);
        });
        expect("pop", &[reg(1)], ad_mode, &[(sp, 16), (A, 0)], |w| {
            all(A, Cell::Word(15))(w);
            w.set(VALUE, sp, 15);
        });
        expect("emit", &[reg(1)], ad_mode, &[], |w| with_value(ad_mode).for_each(|lane| w.set(lane, A, 0)));
    }
}

/// What is emitted takes its lanes along, each word its own, and `unemit` brings them back from the last to the first.
#[test]
fn tapes_carry_lanes() {
    let program = program(between(
        [1, 2, 3].map(|n| inst("emit", &[reg(n)])).into_iter().chain([3, 2, 1].map(|n| inst("unemit", &[reg(n + 3)]))),
    ));
    for ad_mode in CARRIAGES {
        let mut m = machine(&program, MEMORY);
        for (n, cell) in [A, B, C].into_iter().enumerate() {
            with_value(ad_mode).for_each(|lane| m.put(lane, cell, (10 * n + lane + 1) as u64));
        }
        let digest = m.digest();
        run(&mut m, ad_mode, Direction::Forward).expect("room");
        for (n, cell) in [A, B, C].into_iter().enumerate() {
            for lane in with_value(ad_mode) {
                assert_eq!((m.get(lane, cell), m.get(lane, register(n as u8 + 4))), (0, (10 * n + lane + 1) as u64));
            }
        }
        run(&mut m, ad_mode, Direction::Backward).expect("words");
        assert_eq!(m.digest(), digest);
    }
}

#[test]
fn negations() {
    for ad_mode in CARRIAGES {
        let lanes = || ad_mode.lanes().iter().copied();
        let change = |value: fn(u64) -> u64, other: fn(u64) -> u64| {
            move |w: &mut Words| {
                w.set(VALUE, A, value(w.get(VALUE, A)));
                lanes().for_each(|lane| w.set(lane, A, other(w.get(lane, A))));
            }
        };
        let sign = |w: u64| w ^ 1 << 63;
        expect("neg", &[reg(1)], ad_mode, &[], change(u64::wrapping_neg, |g| g));
        expect("neg.q", &[reg(1)], ad_mode, &[], change(u64::wrapping_neg, u64::wrapping_neg));
        expect("neg.l", &[reg(1)], ad_mode, &[], change(sign, |g| g));
        expect("neg.f", &[reg(1)], ad_mode, &[(A, 1.5f64.to_bits())], change(sign, sign));
    }
}

/// A gradient word is multiplied by the inverse ratio, exactly, with the buffer's lane as its buffer; a tangent and the gradient of a
/// gradient word as the value is.
#[test]
fn scalings() {
    let env = Env::default();
    let (num, den) = (7, 12);
    for ad_mode in CARRIAGES {
        for (row, up) in [("rmul", true), ("rdiv", false)] {
            for registers in [false, true] {
                let mut operands = vec![reg(1), reg(2), imm(num), imm(den)];
                let mut prepare = Vec::new();
                if registers {
                    operands = vec![reg(1), reg(2), reg(5), reg(6)];
                    prepare = vec![(register(5), num.cast_unsigned()), (register(6), den.cast_unsigned())];
                }
                expect(row, &operands, ad_mode, &prepare, |w| {
                    for lane in with_value(ad_mode) {
                        let with = matches!(
                            (ad_mode, lane),
                            (_, VALUE)
                                | (AdMode::Tangent | AdMode::GradientTangent, SECOND)
                                | (AdMode::SecondGradient, MIXED)
                        );
                        let ratio = if with == up { [num, den] } else { [den, num] }.map(i64::cast_unsigned);
                        let words = [w.get(lane, A), w.get(lane, B), ratio[0], ratio[1]];
                        let [x, buf] = int::scale(env, words).expect("room");
                        // The ratio itself, within the bits that went to the buffer.
                        let wanted = words[0].cast_signed() as f64 * ratio[0] as f64 / ratio[1] as f64;
                        assert!((x.cast_signed() as f64 - wanted).abs() <= ratio[0] as f64);
                        w.set(lane, A, x);
                        w.set(lane, B, buf);
                    }
                });
            }
        }
    }
}

/// The word goes to the gradient words one level up, and its own gradient word with it.
#[test]
fn exchanges_with_gradient_words() {
    for (operand, cell) in [(reg(2), B), (mem(8, 9, 5), Cell::Word(12)), (reg(1), A)] {
        // The register itself is written, and may not occur twice.
        if cell == A {
            assert!(Inst::build(kind("gswap"), &[reg(1), reg(1)]).is_err());
            continue;
        }
        expect("gswap", &[reg(1), operand], AdMode::Plain, &[], |w| w.swap((VALUE, A), (GRADIENT, cell)));
        expect("gswap", &[reg(1), operand], AdMode::Gradient, &[], |w| {
            w.swap((VALUE, A), (SECOND, cell));
            w.swap((GRADIENT, A), (MIXED, cell));
        });
        expect("gswap", &[reg(1), operand], AdMode::Tangent, &[], |w| {
            w.swap((VALUE, A), (GRADIENT, cell));
            w.swap((SECOND, A), (MIXED, cell));
        });
    }
}

/// `zero`, `zero.f` and `erase` clear what a word carries, and count it: 64 bits for every word other than zero, tangents apart.
#[test]
fn drops() {
    for ad_mode in CARRIAGES {
        let clear = |w: &mut Words| with_value(ad_mode).for_each(|lane| w.set(lane, A, 0));
        let counted = match ad_mode {
            AdMode::Plain | AdMode::Tangent => 0,
            AdMode::Gradient | AdMode::GradientTangent => 1,
            AdMode::SecondGradient => 3,
        };
        assert_eq!(expect("zero", &[reg(1)], ad_mode, &[(A, 0)], clear), 64 * counted);
        assert_eq!(expect("zero.f", &[reg(1)], ad_mode, &[(A, 0)], clear), 64 * counted);
        let tolerance = Operand::Imm(1f64.to_bits(), Ty::F);
        assert_eq!(
            expect("zero.f", &[reg(1), tolerance], ad_mode, &[(A, 0.5f64.to_bits())], clear),
            64 * (counted + 1)
        );
        assert_eq!(expect("erase", &[reg(1)], ad_mode, &[], clear), 64 * (counted + 1));
        let memory = |w: &mut Words| with_value(ad_mode).for_each(|lane| w.set(lane, Cell::Word(12), 0));
        assert_eq!(expect("erase", &[mem(8, 9, 5)], ad_mode, &[], memory), 64 * (counted + 1));
    }
    // A gradient word that is zero is not lost.
    let program = program(between([inst("zero", &[reg(1)])]));
    let mut m = machine(&program, MEMORY);
    run(&mut m, AdMode::SecondGradient, Direction::Forward).expect("a clear register");
    assert_eq!(m.counts().lost_bits(), 0);
}

/// Level 1 of a turn, by the kernels: effective `irot` adds g(b)·a − g(a)·b of the words before it to the angle's gradient word,
/// `rot` takes away that of the words after it.
#[test]
fn turns_of_fixed_point() {
    let env = Env::default();
    let q = |x: f64| nearest(env, Ty::Q, x);
    let angle = q(0.7);
    for constant in [false, true] {
        let operands = [reg(1), reg(2), if constant { Operand::Imm(angle, Ty::Q) } else { reg(3) }];
        for (row, turn) in
            [("rot.q", fixed::rot as fn(Env, u64, u64, u64) -> ([u64; 2], bool)), ("irot.q", fixed::irot)]
        {
            expect(row, &operands, AdMode::Gradient, &[(C, angle)], |w| {
                let share = |w: &Words| {
                    let product = |x: Cell, y: Cell| fixed::mul(env, w.get(GRADIENT, x), w.get(VALUE, y)).0;
                    product(B, A).wrapping_sub(product(A, B))
                };
                let before = share(w);
                for lane in [VALUE, GRADIENT] {
                    let ([a, b], _) = turn(env, w.get(lane, A), w.get(lane, B), angle);
                    w.set(lane, A, a);
                    w.set(lane, B, b);
                }
                let after = share(w);
                if !constant {
                    let g = w.get(GRADIENT, C);
                    w.set(GRADIENT, C, if row == "rot.q" { g.wrapping_sub(after) } else { g.wrapping_add(before) });
                }
            });
        }
    }
}

/// In every AD mode a turn does to fixed-point words what it does to doubles, but for roundings, and they come back bit for bit.
/// Of words up to 4, each of at most eight steps is off by at most 16 units.
#[test]
fn turns_of_fixed_point_are_those_of_doubles() {
    let env = Env::default();
    let mut s = Source::seeded(600);
    for (row, back) in [("rot", false), ("rot", true), ("irot", false), ("irot", true)] {
        for ad_mode in CARRIAGES {
            let programs =
                [".q", ".f"].map(|ty| program(between([inst(&format!("{row}{ty}"), &[reg(1), reg(2), reg(3)])])));
            let mut machines = programs.each_ref().map(|p| machine(p, MEMORY));
            for _ in 0..POINTS {
                for cell in [A, B, C] {
                    for lane in with_value(ad_mode) {
                        let word = nearest(env, Ty::Q, signed(&mut s, 0.0, 4.0));
                        machines[0].put(lane, cell, word);
                        machines[1].put(lane, cell, real(env, Ty::Q, word).to_bits());
                    }
                }
                let direction = if back { Direction::Backward } else { Direction::Forward };
                let digest = machines[0].digest();
                for m in &mut machines {
                    run(m, ad_mode, direction).expect("a turn");
                }
                for cell in [A, B, C] {
                    for lane in with_value(ad_mode) {
                        let [x, y] = [real(env, Ty::Q, machines[0].get(lane, cell)), double(&machines[1], lane, cell)];
                        close(x, y, 1.0, 128.0 / f64::from(32).exp2(), || {
                            format!("{row} {ad_mode:?}: lane {lane} of {cell:?}")
                        });
                    }
                }
                run(&mut machines[0], ad_mode, direction.flip()).expect("a turn");
                assert_eq!(machines[0].digest(), digest);
            }
        }
    }
}

// ---------------------------------------------------------------------------
// Traps, zeros, and what carries nothing

/// Where a derivative does not exist or has no room, an instruction that runs without gradients traps with them, and changes nothing.
/// Where no gradient comes, it runs.
#[test]
fn derivatives_that_trap() {
    let f = |x: f64| x.to_bits();
    let q = |x: f64| nearest(Env::default(), Ty::Q, x);
    let (tiny, one) = (1u64, q(1.0));
    let cases: &[(&str, &[u64], Fault)] = &[
        ("addsqrt.f", &[f(0.0)], Fault::DivideByZero),
        ("addsqrt.f", &[f(-0.0)], Fault::DivideByZero),
        ("addsqrt.q", &[0], Fault::DivideByZero),
        ("addasin.f", &[f(1.0)], Fault::DivideByZero),
        ("addacos.f", &[f(-1.0)], Fault::DivideByZero),
        ("addasin.q", &[one], Fault::DivideByZero),
        ("addhypot.f", &[f(0.0), f(0.0)], Fault::DivideByZero),
        ("addatan2.q", &[0, 0], Fault::DivideByZero),
        // 2^32 has no room in Q32.32, 1/2^-1074 none among the doubles.
        ("addlog.q", &[tiny], Fault::Range),
        ("addlog2.q", &[tiny], Fault::Range),
        ("addlog.f", &[1], Fault::NotFinite),
        ("addpow.f", &[f(0.0), f(0.5)], Fault::DivideByZero),
        ("addpow.q", &[0, q(0.5)], Fault::DivideByZero),
        // The logarithm of a fixed-point zero exists; its derivative does not.
        ("mulcvt.l.q", &[tiny], Fault::Range),
    ];
    for &(mnemonic, x, _) in cases {
        let mut operands = vec![reg(1)];
        operands.extend((0..x.len() as u8).map(|n| reg(5 + n)));
        let program = program(between([inst(mnemonic, &operands)]));
        for direction in [Direction::Forward, Direction::Backward] {
            let mut m = machine(&program, MEMORY);
            x.iter().enumerate().for_each(|(n, word)| m.put(VALUE, register(5 + n as u8), *word));
            run(&mut m, AdMode::Plain, direction).unwrap_or_else(|e| panic!("{mnemonic}: {e:?}"));
            run(&mut m, AdMode::Plain, direction.flip()).unwrap_or_else(|e| panic!("{mnemonic}: {e:?}"));
            let bits = if mnemonic.ends_with(".f") { [f(0.75), f(-0.5)] } else { [q(0.75), q(-0.5)] };
            for ad_mode in CARRIAGES {
                // Which operand brings the derivative in: the value for gradients, the argument for tangents.
                for from_value in [true, false] {
                    for lane in [GRADIENT, SECOND, MIXED] {
                        m.clear_lane(lane);
                    }
                    let lanes = ad_mode.lanes();
                    let cell = if from_value { A } else { register(5) };
                    lanes.iter().for_each(|lane| m.put(*lane, cell, bits[0]));
                    // Elsewhere, to be left alone.
                    lanes.iter().for_each(|lane| m.put(*lane, Cell::Word(3), bits[1]));
                    let digest = m.digest();
                    let done = run(&mut m, ad_mode, direction);
                    let traps = match ad_mode {
                        AdMode::Plain => false,
                        AdMode::Gradient => from_value,
                        AdMode::Tangent => !from_value,
                        AdMode::SecondGradient | AdMode::GradientTangent => true,
                    };
                    assert_eq!(done.is_err(), traps, "{mnemonic} {ad_mode:?} {from_value}: {done:?}");
                    if traps {
                        assert_eq!(m.digest(), digest, "{mnemonic} {ad_mode:?} {from_value}");
                    } else {
                        run(&mut m, ad_mode, direction.flip()).expect("what ran");
                        assert_eq!(m.digest(), digest, "{mnemonic} {ad_mode:?} {from_value}");
                    }
                }
            }
        }
    }
    for &(mnemonic, x, fault) in cases {
        let mut operands = vec![reg(1)];
        operands.extend((0..x.len() as u8).map(|n| reg(5 + n)));
        let program = program(between([inst(mnemonic, &operands)]));
        let mut m = machine(&program, MEMORY);
        x.iter().enumerate().for_each(|(n, word)| m.put(VALUE, register(5 + n as u8), *word));
        m.put(GRADIENT, A, if mnemonic.ends_with(".f") { f(0.75) } else { q(0.75) });
        assert_eq!(run(&mut m, AdMode::Gradient, Direction::Forward), Err(fault), "{mnemonic}");
    }
}

/// A negated zero is a zero: no gradient comes to a root at 0 from −0.0.
#[test]
fn minus_zero_contributes_nothing() {
    let program = program(between([inst("addsqrt.f", &[reg(1), reg(5)]), inst("neg.f", &[reg(1)])]));
    for ad_mode in CARRIAGES {
        let mut m = machine(&program, MEMORY);
        run(&mut m, AdMode::Plain, Direction::Forward).expect("a root");
        run(&mut m, ad_mode, Direction::Backward).unwrap_or_else(|e| panic!("{ad_mode:?}: {e:?}"));
        // A tangent's sign is turned in the argument.
        let program = self::program(between([inst("neg.f", &[reg(5)]), inst("addsqrt.f", &[reg(1), reg(5)])]));
        let mut m = machine(&program, MEMORY);
        run(&mut m, ad_mode, Direction::Forward).unwrap_or_else(|e| panic!("{ad_mode:?}: {e:?}"));
    }
}

/// `r0` and constants have no lanes: nothing is added to them, and nothing comes from them.
#[test]
fn constants_and_r0_carry_nothing() {
    let two = 2f64.to_bits();
    for ad_mode in CARRIAGES {
        let cases: [&[Operand]; 3] =
            [&[reg(1), reg(0), reg(2)], &[reg(1), reg(0), reg(0)], &[reg(1), Operand::Imm(two, Ty::F), reg(2)]];
        for operands in cases {
            let program = program(between([inst("addmul.f", operands)]));
            let mut m = machine(&program, MEMORY);
            m.put(VALUE, B, 3f64.to_bits());
            for &lane in ad_mode.lanes() {
                m.put(lane, A, 1f64.to_bits());
            }
            run(&mut m, ad_mode, Direction::Backward).expect("a product");
            for lane in 0..LANES {
                assert_eq!(m.get(lane, register(0)), 0, "{operands:?} {ad_mode:?}");
            }
            // The other factor's derivative is the constant's value.
            let constant = if matches!(operands[1], Operand::Imm(..)) { 2.0 } else { 0.0 };
            let wanted = if ad_mode == AdMode::Tangent { 0.0 } else { constant };
            assert_eq!(double(&m, ad_mode.lanes()[0], B), wanted, "{operands:?} {ad_mode:?}");
        }
        // Writing to the lanes of r0 through the interface does nothing either.
        let program = program(module([inst("start", &[]), inst("finish", &[])]));
        let mut m = machine(&program, MEMORY);
        (0..LANES).for_each(|lane| m.put(lane, register(0), 5));
        assert!((0..LANES).all(|lane| m.get(lane, register(0)) == 0));
    }
    // What is accumulated to may not be an argument: there is no rule for it, and none is needed.
    for operands in [&[reg(1), reg(1), reg(2)], &[reg(1), reg(2), reg(1)], &[reg(0), reg(1), reg(2)]] {
        assert!(Inst::build(kind("addmul.f"), operands).is_err(), "{operands:?}");
    }
    assert!(Inst::build(kind("addmul.f"), &[mem(5, 0, 1), mem(5, 0, 1), reg(2)]).is_err());
}
