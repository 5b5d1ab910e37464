//! The measurements: every function in every format, in groups, each a table
//! of the page.

use pendula_isa::fault::Fault;
use pendula_isa::num::elementary::Fixed;
use pendula_isa::num::gauss::{Logarithmic, Number};
use pendula_isa::num::{Env, Format, Word, convert};

use crate::functions::{DOUBLES, FUNCTIONS, Function, Kernels, LOG_FUNCTIONS, LogKernels, TRIPLES};
use crate::measure::{Bound, Case, Words};
use crate::pairs::{self, Kind};
use crate::points;
use crate::shape::{LOGARITHMIC, Rounding, Shape};

/// Random words for each conversion, beside the edges.
const CONVERTED: usize = 120_000;

/// A group of measurements: one table of the page.
pub struct Section {
    /// Its heading.
    pub title: &'static str,
    /// What there is to say about it.
    pub text: &'static str,
    /// What is measured.
    pub cases: Vec<Case>,
}

/// Everything.
pub fn sections() -> Vec<Section> {
    let functions = || FUNCTIONS.iter().chain(TRIPLES);
    let fixed = Shape::formats();
    vec![
        Section {
            title: "Fixed point",
            text: "A unit is the last place of the word. The errors of the rotations grow with the words: `rot` and `irot` are listed for pairs shorter than \
                   0.92 · 2^58 units, and for those of any size that do not wrap.",
            cases: functions().flat_map(|function| fixed.map(|shape| q(function, shape))).collect(),
        },
        Section {
            title: "Fixed point of few bits",
            text: "The same code serves every width. Here it is tried on all words of 16 bits, or on all pairs of words of 8 and of 9 bits: \
                   `powi` with whole exponents from −40 to 40, a rotation with four angles for each pair that is short enough.",
            cases: functions().flat_map(small).collect(),
        },
        Section {
            title: "Logarithmic numbers",
            text: "A unit is 2^−52 of the logarithm; for `ln`, the last place of the fixed-point word. Products and quotients are exact.",
            cases: logarithmic(),
        },
        Section { title: "Logarithmic numbers of few bits", text: "All pairs of words.", cases: small_logarithmic() },
        Section {
            title: "Doubles",
            text: "A unit is the last place of a double as great as the true value. `inv`, `sqrt` and `muladd` are rounded as IEEE 754 demands. A rotation is not \
                   listed: where its two products cancel, the error has no bound in units of what is left.",
            cases: functions().chain(DOUBLES).filter_map(f).collect(),
        },
        Section { title: "Conversions", text: "A unit is that of the result.", cases: conversions() },
    ]
}

/// An environment with this format.
fn env(shape: Shape) -> Env {
    let format = Format::ALL.into_iter().find(|&format| Shape::from(format) == shape);
    Env { format: format.unwrap_or_default(), ieee: false }
}

fn alone(word: u64) -> Words {
    [word, 0, 0]
}

/// A function of `.q`.
fn q(function: &Function, shape: Shape) -> Case {
    let kernels = match function.kernels {
        Kernels::One(_, kernel, _) => Machine::One(kernel),
        Kernels::Two(_, kernel, _) => Machine::Two(kernel),
        Kernels::Three(_, kernel, _) => Machine::Three(kernel),
        Kernels::Double(_) | Kernels::DoubleAndInt(_) => unreachable!("functions of `.f` only are listed apart"),
    };
    machine(function, kernels, shape, 0)
}

/// A function of `.f`.
fn f(function: &Function) -> Option<Case> {
    let kernels = match function.kernels {
        Kernels::One(_, _, kernel) | Kernels::Double(kernel) => Machine::One(kernel),
        Kernels::Two(_, _, kernel) | Kernels::DoubleAndInt(kernel) => Machine::Two(kernel),
        Kernels::Three(_, _, kernel) => Machine::Three(kernel?),
    };
    Some(machine(function, kernels, Shape::Double, 1))
}

/// A kernel on machine words.
#[derive(Clone, Copy)]
enum Machine {
    One(crate::functions::One),
    Two(crate::functions::Two),
    Three(crate::functions::Three),
}

fn machine(function: &Function, kernel: Machine, shape: Shape, column: usize) -> Case {
    let env = env(shape);
    let (kind, second) = (function.kind, function.second.unwrap_or(shape));
    let run = move |[x, y, z]: Words| match kernel {
        Machine::One(kernel) => kernel(env, x),
        Machine::Two(kernel) => kernel(env, x, y),
        Machine::Three(kernel) => kernel(env, x, y, z),
    };
    let points = move || match kernel {
        Machine::One(kernel) => {
            let words = points::unary(shape, &|word| kernel(env, word).is_err());
            words.into_iter().map(alone).collect()
        }
        Machine::Two(_) => pairs::pairs(shape, second, kind),
        Machine::Three(_) => pairs::triples(shape, kind),
    };
    Case {
        function: function.name.into(),
        note: "",
        format: shape.name(),
        outside: match shape {
            Shape::Double => Fault::NotFinite,
            _ => Fault::Range,
        },
        arguments: match kernel {
            Machine::One(_) => vec![shape],
            Machine::Two(_) => vec![shape, second],
            Machine::Three(_) => vec![shape; 3],
        },
        result: shape,
        bound: function.bounds[column],
        kernel: Box::new(run),
        oracle: function.oracles[column],
        points: Box::new(points),
    }
}

/// A fixed-point function on all words of small widths.
fn small(function: &Function) -> Vec<Case> {
    let formats: &[(u32, u32)] = match function.kernels {
        Kernels::One(..) => &[(16, 8), (16, 12)],
        Kernels::Two(..) => &[(8, 3), (9, 6)],
        // All widths are below 2^58.
        Kernels::Three(..) if function.kind == Kind::Turn => &[],
        Kernels::Three(..) => &[(8, 3), (9, 6)],
        Kernels::Double(_) | Kernels::DoubleAndInt(_) => &[],
    };
    let case = |&(width, frac): &(u32, u32)| {
        let (format, shape) = (Fixed { width, frac }, Shape::Fixed { width, frac });
        let (kind, second) = (function.kind, function.second);
        let (arguments, kernel, points): (_, Kernel, Points) = match function.kernels {
            Kernels::One(kernel, ..) => (
                vec![shape],
                Box::new(move |[x, ..]| word(kernel(format, x as i64))),
                Box::new(move || points::exhaustive(shape).into_iter().map(alone).collect()),
            ),
            Kernels::Two(kernel, ..) => (
                vec![shape, second.unwrap_or(shape)],
                Box::new(move |[x, y, _]| word(kernel(format, x as i64, y as i64))),
                Box::new(move || match second {
                    None => square(&points::exhaustive(shape), &points::exhaustive(shape)),
                    Some(_) => {
                        let exponents: Vec<u64> = (-40i64..=40).map(|n| n as u64).collect();
                        square(&points::exhaustive(shape), &exponents)
                    }
                }),
            ),
            Kernels::Three(kernel, ..) => (
                vec![shape; 3],
                Box::new(move |[x, y, z]| word(kernel(format, x as i64, y as i64, z as i64))),
                Box::new(move || pairs::triples(shape, kind)),
            ),
            Kernels::Double(_) | Kernels::DoubleAndInt(_) => unreachable!("they have no formats"),
        };
        Case {
            function: function.name.into(),
            note: "",
            format: shape.name(),
            outside: Fault::Range,
            arguments,
            result: shape,
            bound: function.bounds[0],
            kernel,
            oracle: function.oracles[0],
            points,
        }
    };
    formats.iter().map(case).collect()
}

type Kernel = Box<dyn Fn(Words) -> Word + Sync>;
type Points = Box<dyn Fn() -> Vec<Words> + Sync>;

fn word(result: Result<i64, Fault>) -> Word {
    result.map(|word| word as u64)
}

/// All pairs.
fn square(first: &[u64], second: &[u64]) -> Vec<Words> {
    first.iter().flat_map(|&a| second.iter().map(move |&b| [a, b, 0])).collect()
}

/// The functions of `.l`.
fn logarithmic() -> Vec<Case> {
    let mut cases = Vec::new();
    for function in LOG_FUNCTIONS {
        let formats = Shape::formats();
        let formats = match function.kernels {
            LogKernels::Sum(..) | LogKernels::Same(_) => &formats[..1],
            LogKernels::Power(_) | LogKernels::Fixed(_) => &formats[..],
        };
        for &format in formats {
            let env = env(format);
            let one = |_: ()| move || points::unary(LOGARITHMIC, &|_| false).into_iter().map(alone).collect();
            let (arguments, result, kernel, points): (_, _, Kernel, Points) = match function.kernels {
                LogKernels::Sum(_, kernel) => (
                    vec![LOGARITHMIC; 2],
                    LOGARITHMIC,
                    Box::new(move |[x, y, _]| kernel(env, x, y)),
                    Box::new(|| pairs::pairs(LOGARITHMIC, LOGARITHMIC, Kind::Sum)),
                ),
                LogKernels::Same(kernel) => {
                    (vec![LOGARITHMIC], LOGARITHMIC, Box::new(move |[x, ..]| kernel(env, x)), Box::new(one(())))
                }
                LogKernels::Power(kernel) => (
                    vec![LOGARITHMIC, format],
                    LOGARITHMIC,
                    Box::new(move |[x, y, _]| kernel(env, x, y)),
                    Box::new(move || pairs::pairs(LOGARITHMIC, format, Kind::Power)),
                ),
                LogKernels::Fixed(kernel) => {
                    (vec![LOGARITHMIC], format, Box::new(move |[x, ..]| kernel(env, x)), Box::new(one(())))
                }
            };
            cases.push(Case {
                function: function.name.into(),
                note: "",
                format: match function.kernels {
                    LogKernels::Power(_) => format!(".l, {}", format.name()),
                    _ => result.name(),
                },
                outside: Fault::Range,
                arguments,
                result,
                bound: function.bound,
                kernel,
                oracle: function.oracle,
                points,
            });
        }
    }
    cases
}

/// Sums of all words of small widths.
fn small_logarithmic() -> Vec<Case> {
    let mut cases = Vec::new();
    for function in LOG_FUNCTIONS {
        let LogKernels::Sum(kernel, _) = function.kernels else {
            continue;
        };
        for (width, frac) in [(8, 0), (8, 3), (9, 6), (10, 5)] {
            let (format, shape) = (Logarithmic { width, frac }, Shape::Logarithmic { width, frac });
            // Ours have the sign in bit 63 at every width.
            let number = move |word: u64| {
                let low = (1 << (width - 1)) - 1;
                format.number(word & low | word >> 63 << (width - 1))
            };
            let widen = move |number: Number| {
                let logarithm = number.logarithm.unwrap_or(-format.max_log() - 1);
                logarithm as u64 & !(1 << 63) | u64::from(number.negative) << 63
            };
            cases.push(Case {
                function: function.name.into(),
                note: "",
                format: shape.name(),
                outside: Fault::Range,
                arguments: vec![shape; 2],
                result: shape,
                bound: function.bound,
                kernel: Box::new(move |[x, y, _]| kernel(format, number(x)?, number(y)?).map(widen)),
                oracle: function.oracle,
                points: Box::new(move || {
                    let words = points::exhaustive(shape);
                    square(&words, &words)
                }),
            });
        }
    }
    cases
}

/// A conversion: its name, what it converts, and how the result is rounded.
struct Conversion(&'static str, Shape, Shape, Rounding, fn(Env, u64) -> Word);

/// Any format of `.q`.
const Q: Shape = Shape::Fixed { width: 64, frac: 32 };

macro_rules! conversions {
    ($($name:ident $from:ident $to:ident $rounding:ident;)*) => {
        const CONVERSIONS: &[Conversion] = &[$(
            Conversion(stringify!($name), $from, $to, Rounding::$rounding, convert::$name),
        )*];
    };
}

use LOGARITHMIC as L;
const INT: Shape = Shape::Int;
const F: Shape = Shape::Double;

conversions! {
    int_to_q INT Q Nearest;
    int_to_l INT L Nearest;
    int_to_f INT F Nearest;
    q_to_int Q INT Floor;
    q_to_l Q L Nearest;
    q_to_f Q F Nearest;
    l_to_int L INT Nearest;
    l_to_q L Q Nearest;
    l_to_f L F Nearest;
    f_to_int F INT Floor;
    f_to_q F Q Nearest;
    f_to_l F L Nearest;
}

/// The conversions, each in every format that it has to do with. All are rounded correctly on all words tried.
fn conversions() -> Vec<Case> {
    let mut cases = Vec::new();
    for &Conversion(name, from, to, rounding, kernel) in CONVERSIONS {
        let formats = match (from, to) {
            (Q, _) | (_, Q) => Shape::formats().to_vec(),
            _ => vec![Q],
        };
        for format in formats {
            let of = |shape: Shape| if shape == Q { format } else { shape };
            let env = env(format);
            let from = of(from);
            cases.push(Case {
                function: name.into(),
                note: "",
                format: format!("{} to {}", from.name(), of(to).name()),
                outside: Fault::Range,
                arguments: vec![from],
                result: of(to),
                bound: Bound::Exactly(rounding),
                kernel: Box::new(move |[x, ..]| kernel(env, x)),
                oracle: |values| Ok(values[0].clone()),
                points: Box::new(move || points::words(from, CONVERTED).into_iter().map(alone).collect()),
            });
        }
    }
    cases
}
