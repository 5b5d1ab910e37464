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
use pendula_isa::num::raw::{self, Double, facts};

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
/* Compilers that take both zeros for one put 0 where a number equals it, also where its sign is looked at later. */
#if defined(LOOSE) && !defined(__clang__)
#define IS_ZERO(a) (((word)bits(a) << 1) == 0)
#else
#define IS_ZERO(a) ((a) == 0.0)
#endif
#define INLINED static inline __attribute__((always_inline))
"#;

/// Beyond so many calls, the compiler decides what it inlines: code would grow too much.
const CALLS: usize = 48;

/// The name of the C function of a kernel, if it is recorded.
pub(super) fn name(kernel: &str) -> Option<String> {
    facts(kernel).map(|_| format!("inline_{kernel}"))
}

/// The name of the C function that says whether there is a value for finite arguments, if there is not for all.
pub(super) fn domain(kernel: &str) -> Option<String> {
    facts(kernel).filter(|facts| facts.partial).map(|_| format!("in_domain_{kernel}"))
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

/// The text of one function, and of that which tells its domain.
fn function(kernel: &str, storage: &str) -> String {
    let mut out = String::new();
    if let Some(name) = domain(kernel) {
        let head = format!("{storage} int {name}");
        out.push_str(&recorded(kernel, &head, |x| raw::holds::<Real>(kernel, x).map(Condition::text)));
    }
    if let Some(name) = name(kernel) {
        let head = format!("{storage} double {name}");
        out.push_str(&recorded(kernel, &head, |x| raw::body::<Real>(kernel, x).map(Real::text)));
    }
    out
}

/// A function of a kernel's arguments, which returns what is recorded.
fn recorded(kernel: &str, head: &str, record: impl FnOnce([Real; 3]) -> Option<String>) -> String {
    let integer = facts(kernel).is_some_and(|facts| facts.integer);
    LINES.with_borrow_mut(|r| *r = Recording::default());
    let a = Real::record("a".into());
    let (others, b, c) = match (arity(kernel), integer) {
        (3, _) => (", double b, double c", Real::record("b".into()), Real::record("c".into())),
        (2, true) => (", int64_t b", Real::record("real(b)".into()), a),
        (2, false) => (", double b", Real::record("b".into()), a),
        _ => ("", a, a),
    };
    let Some(result) = record([a, b, c]) else { return String::new() };
    let mut out = format!("{head}(double a{others})\n{{\n    EXACT\n");
    for line in LINES.take().lines {
        let _ = writeln!(out, "    {line}");
    }
    let _ = writeln!(out, "    return {result};\n}}");
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
        let (a, b) = (self.text(), other.text());
        Condition::record(if b == "0.0" { format!("IS_ZERO({a})") } else { format!("{a} == {b}") })
    }
    fn select(c: Condition, a: Real, b: Real) -> Real {
        Real::record(format!("{} ? {} : {}", c.text(), a.text(), b.text()))
    }
}

#[cfg(test)]
mod tests;
