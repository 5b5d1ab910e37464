//! The one list of functions: their kernels, what each should compute, and what
//! its documentation promises. [`cases`](crate::cases) makes measurements of it.

use pendula_isa::fault::Fault;
use pendula_isa::kernels::{Kernel, fixed, float};
use pendula_isa::num::elementary::{self, Fixed};
use pendula_isa::num::gauss::{self, Logarithmic, Number};
use pendula_isa::num::{Env, Word};
use rug::Float;
use rug::ops::Pow;

use crate::measure::Bound::{Exactly, Near, Within};
use crate::measure::{Bound, Oracle};
use crate::pairs::Kind;
use crate::shape::Rounding::{Floor, Nearest, Zero};
use crate::shape::{PRECISION, Shape};

/// The bound of the functions of `.q` that are computed from series and tables.
const SERIES: f64 = 0.5 + 1.0 / 1024.0;
/// That of `powi.q`.
const POWI: f64 = 0.5 + 1.0 / 64.0;

/// That of the elementary functions of `.f`.
const ULP: f64 = 1.0;

/// A kernel of one argument on machine words.
pub type One = fn(Env, u64) -> Word;
/// One of two.
pub type Two = fn(Env, u64, u64) -> Word;
/// One of three.
pub type Three = fn(Env, u64, u64, u64) -> Word;
/// The result of a kernel of fixed point at any width.
pub type Small = Result<i64, Fault>;

/// The kernels of a function: of fixed point at any width, of `.q`, of `.f`.
pub enum Kernels {
    /// One argument.
    One(fn(Fixed, i64) -> Small, One, One),
    /// Two.
    Two(fn(Fixed, i64, i64) -> Small, Two, Two),
    /// One, of `.f` only.
    Double(One),
    /// A double and an integer, of `.f` only.
    DoubleAndInt(Two),
    /// Three. `.f` may have none.
    Three(fn(Fixed, i64, i64, i64) -> Small, Three, Option<Three>),
}

/// A function of `.q` and `.f`.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// What computes it.
    pub kernels: Kernels,
    /// What it is tried on, if it has several arguments.
    pub kind: Kind,
    /// The type of its second argument, if that is not the first's.
    pub second: Option<Shape>,
    /// The bounds of `.q` and `.f`.
    pub bounds: [Bound; 2],
    /// What both should compute.
    pub oracles: [Oracle; 2],
}

macro_rules! functions {
    (@kernels $name:ident $Kernel:ident $x:ident) => {
        Kernels::One(
            elementary::$name,
            |env, x| word::<fixed::$Kernel>(env, [x; 4]),
            |env, x| word::<float::$Kernel>(env, [x; 4]),
        )
    };
    (@kernels $name:ident $Kernel:ident $x:ident $y:ident) => {
        Kernels::Two(
            elementary::$name,
            |env, x, y| word::<fixed::$Kernel>(env, [x, y, y, y]),
            |env, x, y| word::<float::$Kernel>(env, [x, y, y, y]),
        )
    };
    (@double $oracle:ident) => { $oracle };
    (@double $oracle:ident $double:ident) => { $double };
    ($(
        $name:ident $Kernel:ident($($x:ident),+) $(on $kind:ident $(of $second:ident)?)? q $q:expr, f $f:expr $(, as $double:ident)? => $value:expr;
    )+) => {
        /// Functions of one and two arguments.
        pub const FUNCTIONS: &[Function] = &[$( Function {
            name: stringify!($name),
            kernels: functions!(@kernels $name $Kernel $($x)+),
            kind: [$(Kind::$kind,)? Kind::Plain][0],
            second: [$($(Some(Shape::$second),)?)? None][0],
            bounds: [$q, $f],
            oracles: {
                fn oracle(values: &[Float]) -> Result<Float, Fault> {
                    let mut values = values.iter().cloned();
                    $( let $x = values.next().expect("an argument"); )+
                    $value
                }
                [oracle, functions!(@double oracle $($double)?)]
            },
        }, )+];
    };
}

macro_rules! doubles {
    ($( $name:ident $Kernel:ident($x:ident $(, $n:ident)?) $(on $kind:ident)? $bound:expr => $value:expr; )+) => {
        /// Functions of `.f` only.
        pub const DOUBLES: &[Function] = &[$( Function {
            name: stringify!($name),
            kernels: doubles!(@kernels $Kernel $($n)?),
            kind: [$(Kind::$kind,)? Kind::Plain][0],
            second: doubles!(@second $($n)?),
            bounds: [$bound; 2],
            oracles: {
                fn oracle(values: &[Float]) -> Result<Float, Fault> {
                    let mut values = values.iter().cloned();
                    let $x = values.next().expect("an argument");
                    $( let $n = values.next().expect("an argument"); )?
                    $value
                }
                [oracle; 2]
            },
        }, )+];
    };
    (@kernels $Kernel:ident) => { Kernels::Double(|env, x| word::<float::$Kernel>(env, [x; 4])) };
    (@kernels $Kernel:ident $n:ident) => { Kernels::DoubleAndInt(|env, x, n| word::<float::$Kernel>(env, [x, n, n, n])) };
    (@second) => { None };
    (@second $n:ident) => { Some(Shape::Int) };
}

/// Whether the gamma function has a pole.
fn is_pole(x: &Float) -> bool {
    *x <= 0 && x.is_integer()
}

doubles! {
    exp2 Exp2(x) Within(ULP) => Ok(x.exp2());
    expm1 Expm1(x) Within(ULP) => Ok(x.exp_m1());
    log1p Log1p(x) Within(ULP) => {
        require(x > -1, Fault::Domain)?;
        Ok(x.ln_1p())
    };
    asinh Asinh(x) Within(ULP) => Ok(x.asinh());
    acosh Acosh(x) Within(ULP) => {
        require(x >= 1, Fault::Domain)?;
        Ok(x.acosh())
    };
    atanh Atanh(x) Within(ULP) => {
        require(x.clone().abs() < 1, Fault::Domain)?;
        Ok(x.atanh())
    };
    cbrt Cbrt(x) Within(ULP) => Ok(x.cbrt());
    erf Erf(x) Within(ULP) => Ok(x.erf());
    erfc Erfc(x) Within(ULP) => Ok(x.erfc());
    lgamma Lgamma(x) Near(ULP, 1e-15) => {
        require(!is_pole(&x), Fault::Domain)?;
        Ok(x.ln_abs_gamma().0)
    };
    digamma Digamma(x) Near(ULP, 1e-15) => {
        require(!is_pole(&x), Fault::Domain)?;
        Ok(x.digamma())
    };
}

/// One word of what a rotation makes of two. Doubles have none: where the products
/// cancel, the error has no bound in units of what is left.
macro_rules! turn {
    ($name:literal, $function:ident, $word:literal, $kind:ident, $bound:literal, $oracle:ident) => {
        Function {
            name: $name,
            kernels: Kernels::Three(
                |t, a, b, c| unwrapped(elementary::$function(t, a, b, c)).map(|words| words[$word]),
                |env, a, b, c| unwrapped(pendula_isa::num::fixed::$function(env, a, b, c)).map(|words| words[$word]),
                None,
            ),
            kind: Kind::$kind,
            second: None,
            bounds: [Within($bound); 2],
            oracles: [$oracle; 2],
        }
    };
}

/// Functions of three arguments.
pub const TRIPLES: &[Function] = &[
    Function {
        name: "muladd",
        kernels: Kernels::Three(
            |t, a, b, c| unwrapped(elementary::muladd(t, a, b, c)),
            |env, a, b, c| word::<fixed::Muladd>(env, [a, b, c, c]),
            Some(|env, a, b, c| word::<float::Muladd>(env, [a, b, c, c])),
        ),
        kind: Kind::Product,
        second: None,
        bounds: [Exactly(Floor), Exactly(Nearest)],
        oracles: [product_and_sum; 2],
    },
    turn!("rot, word 1", rot, 0, ShortTurn, 1.3, first),
    turn!("rot, word 2", rot, 1, ShortTurn, 1.3, second),
    turn!("irot, word 1", irot, 0, ShortTurn, 1.3, first_back),
    turn!("irot, word 2", irot, 1, ShortTurn, 1.3, second_back),
    turn!("rot, word 1, any size", rot, 0, Turn, 2.5, first),
    turn!("rot, word 2, any size", rot, 1, Turn, 2.5, second),
    turn!("irot, word 1, any size", irot, 0, Turn, 2.5, first_back),
    turn!("irot, word 2, any size", irot, 1, Turn, 2.5, second_back),
];

/// The result of a kernel; overflow is a fault.
fn word<K: Kernel>(env: Env, x: [u64; 4]) -> Word {
    K::words(env, x).and_then(unwrapped).map(|[word, _]| word)
}

/// Overflow as a fault, as the other functions have it.
fn unwrapped<T>((result, wrapped): (T, bool)) -> Result<T, Fault> {
    if wrapped { Err(Fault::Range) } else { Ok(result) }
}

fn require(condition: bool, fault: Fault) -> Result<(), Fault> {
    if condition { Ok(()) } else { Err(fault) }
}

functions! {
    inv Inv(x) q Exactly(Zero), f Exactly(Nearest) => {
        require(!x.is_zero(), Fault::DivideByZero)?;
        Ok(x.recip())
    };
    exp Exp(x) q Within(SERIES), f Within(ULP) => Ok(x.exp());
    log Log(x) q Within(SERIES), f Within(ULP) => {
        require(x > 0, Fault::Domain)?;
        Ok(x.ln())
    };
    log2 Log2(x) q Within(SERIES), f Within(ULP) => {
        require(x > 0, Fault::Domain)?;
        Ok(x.log2())
    };
    sqrt Sqrt(x) q Exactly(Nearest), f Exactly(Nearest) => {
        require(x >= 0, Fault::Domain)?;
        Ok(x.sqrt())
    };
    sin Sin(x) q Within(SERIES), f Within(ULP) => Ok(x.sin());
    cos Cos(x) q Within(SERIES), f Within(ULP) => Ok(x.cos());
    tan Tan(x) q Within(SERIES), f Within(ULP) => Ok(x.tan());
    asin Asin(x) q Within(SERIES), f Within(ULP) => {
        require(x.clone().abs() <= 1, Fault::Domain)?;
        Ok(x.asin())
    };
    acos Acos(x) q Within(SERIES), f Within(ULP) => {
        require(x.clone().abs() <= 1, Fault::Domain)?;
        Ok(x.acos())
    };
    atan Atan(x) q Within(SERIES), f Within(ULP) => Ok(x.atan());
    sinh Sinh(x) q Within(SERIES), f Within(ULP) => Ok(x.sinh());
    cosh Cosh(x) q Within(SERIES), f Within(ULP) => Ok(x.cosh());
    tanh Tanh(x) q Within(SERIES), f Within(ULP) => Ok(x.tanh());
    abs Abs(x) q Exactly(Nearest), f Exactly(Nearest) => Ok(x.abs());
    sign Sign(x) q Exactly(Nearest), f Exactly(Nearest) => {
        Ok(if x.is_zero() { x.abs() } else { x.signum() })
    };
    relu Relu(x) q Exactly(Nearest), f Exactly(Nearest) => {
        Ok(if x > 0 { x } else { Float::new(PRECISION) })
    };
    floor Floor(x) q Exactly(Floor), f Exactly(Floor) => Ok(x.floor());
    pow Pow(x, y) on Power q Within(SERIES), f Within(ULP) => {
        require(!x.is_zero() || y >= 0, Fault::DivideByZero)?;
        require(x >= 0 || y.is_integer(), Fault::Domain)?;
        Ok(x.pow(y))
    };
    powi Powi(x, n) on Power of Int q Within(POWI), f Within(ULP), as power_of_double => {
        require(!x.is_zero() || n >= 0, Fault::DivideByZero)?;
        Ok(x.pow(n))
    };
    atan2 Atan2(y, x) on Angle q Within(SERIES), f Within(ULP) => Ok(y.atan2(&x));
    hypot Hypot(x, y) on Distance q Exactly(Nearest), f Within(ULP) => Ok(x.hypot(&y));
    min Min(x, y) q Exactly(Nearest), f Exactly(Nearest) => Ok(x.min(&y));
    max Max(x, y) q Exactly(Nearest), f Exactly(Nearest) => Ok(x.max(&y));
}

/// `powi.f` as documented: the sign of x^n, the magnitude for the double nearest to n.
fn power_of_double(values: &[Float]) -> Result<Float, Fault> {
    let [x, n] = values else { unreachable!("two arguments") };
    require(!x.is_zero() || *n >= 0, Fault::DivideByZero)?;
    let odd = n.to_integer().is_some_and(|n| n.is_odd());
    let magnitude = x.clone().abs().pow(n.to_f64());
    Ok(if odd && x.is_sign_negative() { -magnitude } else { magnitude })
}

fn product_and_sum(values: &[Float]) -> Result<Float, Fault> {
    // Enough for the product and the sum of any doubles to be exact.
    let x = Float::with_val(4400, &values[0]);
    Ok(x.mul_add(&values[1], &values[2]))
}

fn turned(values: &[Float], back: bool) -> [Float; 2] {
    let [x, y, angle] = values else { unreachable!("three arguments") };
    let (mut sin, cos) = angle.clone().sin_cos(Float::new(PRECISION));
    if back {
        sin = -sin;
    }
    [cos.clone() * x - sin.clone() * y, sin * x + cos * y]
}

fn first(values: &[Float]) -> Result<Float, Fault> {
    let [first, _] = turned(values, false);
    Ok(first)
}

fn second(values: &[Float]) -> Result<Float, Fault> {
    let [_, second] = turned(values, false);
    Ok(second)
}

fn first_back(values: &[Float]) -> Result<Float, Fault> {
    let [first, _] = turned(values, true);
    Ok(first)
}

fn second_back(values: &[Float]) -> Result<Float, Fault> {
    let [_, second] = turned(values, true);
    Ok(second)
}

/// Sums and differences of logarithmic numbers.
type Sum = fn(Logarithmic, Number, Number) -> Result<Number, Fault>;

/// The kernels of a function of logarithmic numbers.
pub enum LogKernels {
    /// Of two, at any width and of `.l`.
    Sum(Sum, Two),
    /// The inverse.
    Same(One),
    /// To a power in fixed point.
    Power(Two),
    /// Fixed point of a logarithmic number.
    Fixed(One),
}

/// A function of `.l`.
pub struct LogFunction {
    /// Its name.
    pub name: &'static str,
    /// What computes it.
    pub kernels: LogKernels,
    /// Its bound.
    pub bound: Bound,
    /// What it should compute.
    pub oracle: Oracle,
}

/// The bound of sums.
const SUM: f64 = 0.5 + 1.0 / 65536.0;
/// Half a unit, and what the oracle's own rounding adds to a tie. Which way ties go is tested apart.
const HALF: f64 = 0.5 + 1e-15;

/// Functions of logarithmic numbers.
pub const LOG_FUNCTIONS: &[LogFunction] = &[
    LogFunction {
        name: "plus",
        kernels: LogKernels::Sum(Logarithmic::plus, gauss::plus),
        bound: Within(SUM),
        oracle: |values| Ok(Float::with_val(PRECISION, &values[0] + &values[1])),
    },
    LogFunction {
        name: "minus",
        kernels: LogKernels::Sum(Logarithmic::minus, gauss::minus),
        bound: Within(SUM),
        oracle: |values| Ok(Float::with_val(PRECISION, &values[0] - &values[1])),
    },
    LogFunction {
        name: "inv",
        kernels: LogKernels::Same(gauss::inv),
        bound: Exactly(Nearest),
        oracle: |values| {
            require(!values[0].is_zero(), Fault::DivideByZero)?;
            Ok(values[0].clone().recip())
        },
    },
    LogFunction {
        name: "pow",
        kernels: LogKernels::Power(gauss::pow),
        bound: Within(HALF),
        oracle: |values| {
            let [x, y] = values else { unreachable!("two arguments") };
            require(!x.is_zero() || *y >= 0, Fault::DivideByZero)?;
            require(*x >= 0 || y.is_integer(), Fault::Domain)?;
            let power = x.clone().pow(y);
            // Below what MPFR can hold.
            require(x.is_zero() || !power.is_zero(), Fault::Range)?;
            Ok(power)
        },
    },
    LogFunction {
        name: "ln",
        kernels: LogKernels::Fixed(gauss::ln),
        bound: Within(HALF),
        oracle: |values| {
            require(!values[0].is_zero(), Fault::Domain)?;
            Ok(values[0].clone().abs().ln())
        },
    },
];
