//! Elementary functions as C: their bodies are recorded and printed, so that C compilers inline and vectorise them.
//!
//! A body of [`raw`] fixes every rounding. C may be compiled with options that allow other ones: sums in another order, products and sums
//! contracted, quotients by reciprocals, zeros without signs. Under those, sums and products are printed as fused multiply-adds with 1 and
//! with −0, which are rounded as they are and which no such rule knows. (gcc's `__builtin_assoc_barrier` would be simpler, but its
//! vectoriser drops it.) To clang, `EXACT` says the same.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Sub};

use pendula_isa::kernels::float as kernels;
use pendula_isa::kernels::{Kernel, KernelInfo};
use pendula_isa::num::raw::{self, Double, LIMIT};

/// What functions need. [`Rounding`](crate::cc::Rounding) decides whether roundings are `LOOSE`.
const PRELUDE: &str = r#"/* Elementary functions, the same as the machine's to the last bit, whatever liberties the compiler may take. */
#if defined(__clang__)
#define EXACT _Pragma("float_control(precise, on)") _Pragma("clang fp contract(off)")
#else
#define EXACT
#endif
#if defined(LOOSE) && !defined(__clang__)
#define ADD(a, b) __builtin_fma(a, 1.0, b)
#define SUB(a, b) __builtin_fma(b, -1.0, a)
#define MUL(a, b) __builtin_fma(a, b, -0.0)
#else
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#endif
#define INLINED static inline __attribute__((always_inline))
"#;

/// Beyond so many calls, the compiler decides what it inlines: code would grow too much.
const CALLS: usize = 48;

/// How a kernel is printed.
pub(super) struct Inline {
    /// Of the second argument, too, whether it is a double.
    pub(super) doubles: [bool; 2],
    /// The arguments that are to be checked for being finite.
    pub(super) check: &'static [usize],
    /// What must hold of `a` and `b` for there to be a value, if anything.
    pub(super) condition: Option<String>,
    /// Whether the result may be infinite.
    pub(super) overflows: bool,
}

/// How a kernel is printed, if its function is recorded.
pub(super) fn inline(kernel: &str, a: &str, b: &str) -> Option<Inline> {
    let is = |infos: &[&KernelInfo]| infos.iter().any(|i| i.name == kernel);
    macro_rules! any {
        ($($Name:ident)|+) => { is(&[$(&<kernels::$Name as Kernel>::INFO),+]) };
    }
    let mut out = Inline { doubles: [true; 2], check: &[0], condition: None, overflows: false };
    let condition = |text: String| Some(text);
    if any!(Exp | Exp2 | Expm1 | Sinh | Cosh) {
        out.overflows = true;
    } else if any!(Tanh | Asinh | Cbrt | Atan | Erf | Erfc) {
    } else if any!(Log | Log2) {
        out.condition = condition(format!("{a} > 0.0"));
    } else if any!(Log1p) {
        out.condition = condition(format!("{a} > -1.0"));
    } else if any!(Acosh) {
        out.condition = condition(format!("{a} >= 1.0"));
    } else if any!(Asin | Acos | Atanh | Sin | Cos | Tan) {
        // None of these is infinite. Beyond the limit of angles the interpreter knows more.
        out.check = &[];
        let strictly = if any!(Atanh) { "" } else { "=" };
        let limit = if any!(Sin | Cos | Tan) { LIMIT } else { 1.0 };
        out.condition = condition(format!("fabs({a}) <{strictly} {limit:?}"));
    } else if any!(Atan2) {
        out.check = &[0, 1];
    } else if any!(Hypot) {
        out.check = &[0, 1];
        out.overflows = true;
    } else if any!(Pow) {
        out.check = &[0, 1];
        out.condition =
            condition(format!("(({a} != 0.0) | ({b} >= 0.0)) & (({a} >= 0.0) | (__builtin_floor({b}) == {b}))"));
        out.overflows = true;
    } else if any!(Powi) {
        out.doubles[1] = false;
        out.condition = condition(format!("({a} != 0.0) | ({b} >= 0)"));
        out.overflows = true;
    } else {
        return None;
    }
    Some(out)
}

/// The name of the C function of a kernel, if it is recorded.
pub(super) fn name(kernel: &str) -> Option<String> {
    inline(kernel, "", "").map(|_| format!("inline_{kernel}"))
}

/// The functions that stand in a text.
pub(super) fn functions<'k>(kernels: impl Iterator<Item = &'k str>, text: &str) -> String {
    let mut out = String::new();
    for kernel in kernels {
        let Some(name) = name(kernel) else { continue };
        let calls = text.matches(&format!("{name}(")).count();
        if calls > 0 {
            if out.is_empty() {
                out.push_str(PRELUDE);
            }
            out.push_str(&function(kernel, if calls > CALLS { "static inline" } else { "INLINED" }));
        }
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// The text of one function.
fn function(kernel: &str, storage: &str) -> String {
    let binary = inline(kernel, "", "").map(|i| i.doubles);
    let arity = arity(kernel);
    LINES.with_borrow_mut(|r| *r = Recording::default());
    let a = Real::record("a".into());
    let b = match binary {
        Some([_, false]) => Real::record("real(b)".into()),
        _ if arity == 2 => Real::record("b".into()),
        _ => a,
    };
    let Some(result) = raw::body::<Real>(kernel, [a, b]) else { return String::new() };
    let recording = LINES.take();
    let second = match binary {
        Some([_, false]) => ", int64_t b",
        _ if arity == 2 => ", double b",
        _ => "",
    };
    let mut out = format!("{storage} double inline_{kernel}(double a{second})\n{{\n    EXACT\n");
    for line in &recording.lines {
        let _ = writeln!(out, "    {line}");
    }
    let _ = writeln!(out, "    return {};\n}}", result.text());
    out
}

/// The number of arguments of a kernel.
pub(super) fn arity(kernel: &str) -> usize {
    kernels::ALL.iter().find(|info| info.name == kernel).map_or(1, |info| info.arity)
}

/// What is being recorded.
#[derive(Debug, Default)]
struct Recording {
    lines: Vec<String>,
    conditions: Vec<String>,
}

thread_local! {
    static LINES: RefCell<Recording> = RefCell::default();
}

/// Adds a line that defines a value; gives its number.
fn define(ty: &str, text: &str) -> u32 {
    LINES.with_borrow_mut(|r| {
        let n = r.lines.len() as u32;
        r.lines.push(format!("const {ty} v{n} = {text};"));
        n
    })
}

/// A recorded double.
#[derive(Clone, Copy, Debug)]
enum Real {
    Constant(f64),
    Value(u32),
}

/// Recorded bits.
#[derive(Clone, Copy, Debug)]
enum Word {
    Constant(u64),
    Value(u32),
}

/// A recorded condition.
#[derive(Clone, Copy, Debug)]
struct Condition(u32);

impl Real {
    fn record(text: String) -> Real {
        Real::Value(define("double", &text))
    }

    fn text(self) -> String {
        match self {
            Real::Constant(x) if x.is_sign_negative() => format!("({x:?})"),
            Real::Constant(x) => format!("{x:?}"),
            Real::Value(n) => format!("v{n}"),
        }
    }
}

impl Word {
    fn record(text: &str) -> Word {
        Word::Value(define("word", text))
    }

    fn text(self) -> String {
        match self {
            Word::Constant(w) => format!("0x{w:x}u"),
            Word::Value(n) => format!("v{n}"),
        }
    }
}

impl Condition {
    fn record(text: String) -> Condition {
        LINES.with_borrow_mut(|r| {
            r.conditions.push(text);
            Condition(r.conditions.len() as u32 - 1)
        })
    }

    fn text(self) -> String {
        LINES.with_borrow(|r| r.conditions[self.0 as usize].clone())
    }
}

macro_rules! operators {
    ($($Trait:ident $method:ident $format:literal;)*) => { $(
        impl $Trait for Real {
            type Output = Real;
            fn $method(self, other: Real) -> Real {
                Real::record(format!($format, self.text(), other.text()))
            }
        }
        impl $Trait<f64> for Real {
            type Output = Real;
            fn $method(self, other: f64) -> Real {
                $Trait::$method(self, Real::Constant(other))
            }
        }
    )* };
}

operators! {
    Add add "ADD({}, {})";
    Sub sub "SUB({}, {})";
    Mul mul "MUL({}, {})";
    Div div "{} / {}";
}

macro_rules! word_operators {
    ($($Trait:ident $method:ident $sign:literal;)*) => { $(
        impl $Trait for Word {
            type Output = Word;
            fn $method(self, other: Word) -> Word {
                Word::record(&format!(concat!("{} ", $sign, " {}"), self.text(), other.text()))
            }
        }
    )* };
}

word_operators! {
    Add add "+";
    Sub sub "-";
    BitAnd bitand "&";
    BitOr bitor "|";
    BitXor bitxor "^";
}

impl Neg for Real {
    type Output = Real;
    fn neg(self) -> Real {
        match self {
            Real::Constant(x) => Real::Constant(-x),
            Real::Value(_) => Real::record(format!("-{}", self.text())),
        }
    }
}

impl BitAnd for Condition {
    type Output = Condition;
    fn bitand(self, other: Condition) -> Condition {
        Condition::record(format!("({}) & ({})", self.text(), other.text()))
    }
}

impl BitOr for Condition {
    type Output = Condition;
    fn bitor(self, other: Condition) -> Condition {
        Condition::record(format!("({}) | ({})", self.text(), other.text()))
    }
}

impl Double for Real {
    type Bits = Word;
    type Truth = Condition;

    fn of(x: f64) -> Real {
        Real::Constant(x)
    }
    fn fma(self, b: Real, c: Real) -> Real {
        Real::record(format!("__builtin_fma({}, {}, {})", self.text(), b.text(), c.text()))
    }
    fn sqrt(self) -> Real {
        Real::record(format!("__builtin_sqrt({})", self.text()))
    }
    fn abs(self) -> Real {
        Real::record(format!("__builtin_fabs({})", self.text()))
    }
    fn rint(self) -> Real {
        Real::record(format!("__builtin_rint({})", self.text()))
    }
    fn bits(self) -> Word {
        match self {
            Real::Constant(x) => Word::Constant(x.to_bits()),
            Real::Value(_) => Word::record(&format!("(word)bits({})", self.text())),
        }
    }
    fn from_bits(bits: Word) -> Real {
        match bits {
            Word::Constant(w) => Real::Constant(f64::from_bits(w)),
            Word::Value(_) => Real::record(format!("real((int64_t){})", bits.text())),
        }
    }
    fn from_signed(bits: Word) -> Real {
        Real::record(format!("(double)(int64_t){}", bits.text()))
    }
    fn word(word: u64) -> Word {
        Word::Constant(word)
    }
    fn shl(bits: Word, by: u32) -> Word {
        Word::record(&format!("{} << {by}", bits.text()))
    }
    fn shr(bits: Word, by: u32) -> Word {
        Word::record(&format!("{} >> {by}", bits.text()))
    }
    fn is_zero(bits: Word) -> Condition {
        Condition::record(format!("{} == 0", bits.text()))
    }
    fn lt(self, other: Real) -> Condition {
        Condition::record(format!("{} < {}", self.text(), other.text()))
    }
    fn le(self, other: Real) -> Condition {
        Condition::record(format!("{} <= {}", self.text(), other.text()))
    }
    fn equals(self, other: Real) -> Condition {
        Condition::record(format!("{} == {}", self.text(), other.text()))
    }
    fn select(c: Condition, a: Real, b: Real) -> Real {
        Real::record(format!("{} ? {} : {}", c.text(), a.text(), b.text()))
    }
}

#[cfg(test)]
mod tests;
