//! C expressions: their text, their type, and what they read.

use pendula_codegen::cc::operator;
use pendula_codegen::ops::{Bin, Float};
use pendula_isa::adjoint::LANES;
use pendula_isa::types::{Cond, Reg};

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `u64`.
    Word,
    /// `f64`.
    Double,
    /// `int`, 0 or 1.
    Truth,
}

/// How tightly the outermost operator binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Atom,
    Unary,
    Product,
    Sum,
    Other,
}

/// Registers of each lane.
pub(super) type Registers = [u32; LANES];

/// An expression.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) kind: Kind,
    level: Level,
    /// The registers that it reads.
    pub(super) reads: Registers,
    /// Whether it reads memory.
    pub(super) loads: bool,
    /// The number of operators in it.
    pub(super) size: u32,
}

impl Text {
    pub(super) fn atom(text: String, kind: Kind) -> Text {
        Text { text, kind, level: Level::Atom, reads: [0; LANES], loads: false, size: 0 }
    }

    /// A register's variable.
    pub(super) fn register(lane: u8, reg: u8, kind: Kind) -> Text {
        let mut text = Text::atom(register(lane, reg), kind);
        text.reads[usize::from(lane)] = 1 << reg;
        text
    }

    /// A constant.
    pub(super) fn constant(word: u64, kind: Kind) -> Text {
        let level = |text: &str| if text.starts_with(['-', '(']) { Level::Unary } else { Level::Atom };
        let text = match (kind, i32::try_from(word.cast_signed())) {
            (Kind::Double, _) => double(word),
            (_, Ok(k)) if k < 0 => format!("(u64){k}"),
            (_, Ok(k)) => k.to_string(),
            (_, Err(_)) => format!("0x{word:x}u"),
        };
        Text { level: level(&text), ..Text::atom(text, kind) }
    }

    /// Combines several expressions.
    fn of(parts: &[&Text], text: String, kind: Kind, level: Level) -> Text {
        let mut out = Text { size: 1, ..Text::atom(text, kind) };
        out.level = level;
        for part in parts {
            out.size += part.size;
            out.loads |= part.loads;
            for (all, reads) in out.reads.iter_mut().zip(part.reads) {
                *all |= reads;
            }
        }
        out
    }

    /// In parentheses, unless it binds at least as tightly.
    fn within(&self, most: Level) -> String {
        if self.level > most { format!("({})", self.text) } else { self.text.clone() }
    }

    /// The call of a function.
    pub(super) fn call(name: &str, args: &[&Text], kind: Kind) -> Text {
        let list: Vec<&str> = args.iter().map(|a| a.text.as_str()).collect();
        Text::of(args, format!("{name}({})", list.join(", ")), kind, Level::Atom)
    }

    /// The word at an address.
    pub(super) fn load(lane: u8, at: &Text) -> Text {
        let text = Text::of(&[at], format!("{}mem[{}]", PREFIX[usize::from(lane)], at.text), Kind::Word, Level::Atom);
        Text { loads: true, ..text }
    }

    /// In another type: the same bits, or a truth value as a word.
    pub(super) fn to(self, kind: Kind) -> Text {
        match (self.kind, kind) {
            (Kind::Word, Kind::Double) => Text::call("as_f64", &[&self], kind),
            (Kind::Double, Kind::Word) => Text::call("as_u64", &[&self], kind),
            (Kind::Truth, Kind::Word) => {
                Text::of(&[&self], format!("(u64){}", self.within(Level::Unary)), kind, Level::Unary)
            }
            (Kind::Truth, Kind::Double) => self.to(Kind::Word).to(kind),
            (Kind::Word | Kind::Double, Kind::Truth) => {
                let word = self.to(Kind::Word);
                Text::of(&[&word], format!("{} != 0", word.within(Level::Sum)), kind, Level::Other)
            }
            _ => self,
        }
    }

    /// The negation of a truth value.
    pub(super) fn negated(&self) -> Text {
        Text::of(&[self], format!("!{}", self.within(Level::Atom)), Kind::Truth, Level::Unary)
    }

    /// The conjunction or disjunction of two truth values.
    pub(super) fn both(op: char, a: &Text, b: &Text) -> Text {
        let side = |t: &Text| {
            if t.level == Level::Other && !t.text.contains(" & ") { t.within(Level::Sum) } else { t.text.clone() }
        };
        Text::of(&[a, b], format!("{} {op} {}", side(a), side(b)), Kind::Truth, Level::Other)
    }

    /// An operation of two words.
    pub(super) fn bin(op: Bin, a: &Text, b: &Text, constant: Option<u64>) -> Text {
        let infix = |sign: &str, left: Level, right: Level, level: Level| {
            Text::of(&[a, b], format!("{} {sign} {}", a.within(left), b.within(right)), Kind::Word, level)
        };
        let shift = |sign: &str| {
            // A constant would be an `int`.
            let left = if a.text.starts_with(|c: char| c.is_ascii_digit()) {
                format!("(u64){}", a.text)
            } else {
                a.within(Level::Unary)
            };
            let right = match constant {
                Some(k) => (k & 63).to_string(),
                None => format!("({} & 63)", b.within(Level::Unary)),
            };
            Text::of(&[a, b], format!("{left} {sign} {right}"), Kind::Word, Level::Other)
        };
        match op {
            Bin::Add => match constant.map(u64::cast_signed) {
                Some(k) if k < 0 && i32::try_from(k).is_ok() => {
                    Text::of(&[a], format!("{} - {}", a.within(Level::Sum), -k), Kind::Word, Level::Sum)
                }
                _ => infix("+", Level::Sum, Level::Product, Level::Sum),
            },
            Bin::Sub => infix("-", Level::Sum, Level::Product, Level::Sum),
            Bin::Mul => infix("*", Level::Product, Level::Unary, Level::Product),
            Bin::And => infix("&", Level::Unary, Level::Unary, Level::Other),
            Bin::Or => infix("|", Level::Unary, Level::Unary, Level::Other),
            Bin::Xor => infix("^", Level::Unary, Level::Unary, Level::Other),
            Bin::Shl => shift("<<"),
            Bin::Shr => shift(">>"),
            Bin::MulHigh => Text::call("mulhigh", &[a, b], Kind::Word),
            Bin::Sar => Text::call("sar", &[a, b], Kind::Word),
            Bin::Rol => Text::call("rol", &[a, b], Kind::Word),
            Bin::Ror => Text::call("ror", &[a, b], Kind::Word),
        }
    }

    pub(super) fn not(a: &Text) -> Text {
        Text::of(&[a], format!("~{}", a.within(Level::Unary)), Kind::Word, Level::Unary)
    }

    pub(super) fn float(op: Float, a: &Text, b: &Text) -> Text {
        let (sign, left, right, level) = match op {
            Float::Add => ('+', Level::Sum, Level::Product, Level::Sum),
            Float::Sub => ('-', Level::Sum, Level::Product, Level::Sum),
            Float::Mul => ('*', Level::Product, Level::Unary, Level::Product),
            Float::Div => ('/', Level::Product, Level::Unary, Level::Product),
        };
        Text::of(&[a, b], format!("{} {sign} {}", a.within(left), b.within(right)), Kind::Double, level)
    }

    /// A word as a signed integer, for a comparison.
    fn signed(&self, constant: Option<u64>) -> String {
        match constant.map(|k| i32::try_from(k.cast_signed())) {
            Some(Ok(k)) => k.to_string(),
            _ => format!("(i64){}", self.within(Level::Unary)),
        }
    }

    /// Whether a condition holds between two words, which may be constants.
    pub(super) fn compare(cond: Cond, (a, j): (&Text, Option<u64>), (b, k): (&Text, Option<u64>)) -> Text {
        let text = match cond {
            Cond::Always | Cond::Eq | Cond::Ne | Cond::Ltu | Cond::Geu => {
                format!("{} {} {}", a.within(Level::Sum), operator(cond), b.within(Level::Sum))
            }
            Cond::Lt | Cond::Le | Cond::Gt | Cond::Ge => format!("{} {} {}", a.signed(j), operator(cond), b.signed(k)),
        };
        Text::of(&[a, b], text, Kind::Truth, Level::Other)
    }

    /// Whether a condition holds between two doubles, a NaN being unordered.
    pub(super) fn compare_floats(cond: Cond, a: &Text, b: &Text) -> Text {
        let text = format!("{} {} {}", a.within(Level::Sum), operator(cond), b.within(Level::Sum));
        Text::of(&[a, b], text, Kind::Truth, Level::Other)
    }

    pub(super) fn select(c: &Text, a: &Text, b: &Text, kind: Kind) -> Text {
        // Two constants would make an `int`.
        let cast = if a.text.starts_with(|c: char| c.is_ascii_digit()) && kind == Kind::Word { "(u64)" } else { "" };
        let text = format!("{} ? {cast}{} : {}", c.within(Level::Sum), a.within(Level::Sum), b.within(Level::Sum));
        Text::of(&[c, a, b], text, kind, Level::Other)
    }

    /// A number that is to be an address or more, below a bound.
    pub(super) fn below(&self, bound: &str) -> Text {
        Text::of(&[self], format!("{} < {bound}", self.within(Level::Sum)), Kind::Truth, Level::Other)
    }
}

/// The prefix of the names of a lane's registers and memory.
pub(super) const PREFIX: [&str; LANES] = ["", "g", "s", "x"];

/// The variable of a register in a lane: `r5`, `g5` its gradient word.
pub(super) fn register(lane: u8, reg: u8) -> String {
    match (PREFIX[usize::from(lane)], Reg::SP.number() == reg) {
        ("", false) => format!("r{reg}"),
        (prefix, true) => format!("{prefix}sp"),
        (prefix, false) => format!("{prefix}{reg}"),
    }
}

/// A double, exactly.
fn double(word: u64) -> String {
    let x = f64::from_bits(word);
    if x.is_finite() { format!("{x:?}") } else { format!("as_f64(0x{word:x}u)") }
}
