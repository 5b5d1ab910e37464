//! Expressions of C: how operations on words are written, for every generator of C.

use pendula_isa::adjoint::LANES;
use pendula_isa::types::Cond;

use crate::cc::operator;
use crate::ops::{BinaryOp, Float};

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer of 64 bits.
    Word,
    /// A double.
    Double,
    /// A vector of doubles.
    Vector,
    /// An `int`, 0 or 1.
    Truth,
}

/// How tightly an expression holds together, from loose to tight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Prec {
    /// Comparisons, shifts, choices and operations of bits.
    Other,
    /// Sums and differences.
    Sum,
    /// Products and quotients.
    Product,
    /// Casts and other operators of one operand.
    Unary,
    /// Constants.
    Literal,
    /// Names, calls and elements.
    Atom,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its text.
    pub text: String,
    /// Its type.
    pub kind: Kind,
    /// How tightly it holds together.
    pub prec: Prec,
    /// The word that it is, if it is a constant.
    pub constant: Option<u64>,
    /// Where the operator of a sum or difference stands in the text.
    operator: Option<usize>,
    /// The registers that it reads, for each lane.
    pub reads: [u32; LANES],
    /// Whether it reads memory.
    pub loads: bool,
    /// The number of operators in it.
    pub size: u32,
}

impl Expr {
    /// A name, or other text that needs no parentheses.
    pub fn atom(text: impl Into<String>, kind: Kind) -> Expr {
        let (prec, reads) = (Prec::Atom, [0; LANES]);
        Expr { text: text.into(), kind, prec, constant: None, operator: None, reads, loads: false, size: 0 }
    }

    /// The text of an expression with these parts.
    pub fn of(parts: &[&Expr], text: String, kind: Kind, prec: Prec) -> Expr {
        let mut out = Expr { size: 1, prec, ..Expr::atom(text, kind) };
        for part in parts {
            out.size += part.size;
            out.loads |= part.loads;
            for (all, reads) in out.reads.iter_mut().zip(part.reads) {
                *all |= reads;
            }
        }
        out
    }

    /// The call of a function.
    pub fn call(name: &str, args: &[&Expr], kind: Kind) -> Expr {
        let list: Vec<&str> = args.iter().map(|a| a.text.as_str()).collect();
        Expr::of(args, format!("{name}({})", list.join(", ")), kind, Prec::Atom)
    }

    /// Its text, in parentheses unless it holds at least so tightly.
    pub fn at(&self, prec: Prec) -> String {
        let negative = self.prec == Prec::Literal && self.text.starts_with('-') && prec >= Prec::Product;
        if self.prec < prec || negative { format!("({})", self.text) } else { self.text.clone() }
    }

    /// Whether it is a double.
    pub fn is_double(&self) -> bool {
        self.kind == Kind::Double
    }

    /// Two operands with an operator between them, which holds as tightly as `prec`.
    fn infix(sign: &str, a: &Expr, b: &Expr, kind: Kind, prec: Prec) -> Expr {
        let (left, right) = match prec {
            Prec::Sum => (Prec::Sum, Prec::Product),
            Prec::Product => (Prec::Product, Prec::Unary),
            Prec::Other | Prec::Unary | Prec::Literal | Prec::Atom => (Prec::Unary, Prec::Unary),
        };
        let left = a.at(left);
        let operator = (prec == Prec::Sum).then_some(left.len());
        Expr { operator, ..Expr::of(&[a, b], format!("{left} {sign} {}", b.at(right)), kind, prec) }
    }

    /// The operator and the other operand, if it is a sum or difference of which this is the text of the first operand.
    pub fn added_to(&self, first: &str) -> Option<(&str, &str)> {
        let (left, rest) = self.text.split_at(self.operator?);
        let (sign, other) = rest.trim_start().split_once(' ')?;
        (left == first).then_some((sign, other))
    }

    /// The complement of its bits.
    pub fn not(&self) -> Expr {
        Expr::of(&[self], format!("~{}", self.at(Prec::Unary)), Kind::Word, Prec::Unary)
    }

    /// The negation of a truth value.
    pub fn negated(&self) -> Expr {
        Expr::of(&[self], format!("!{}", self.at(Prec::Atom)), Kind::Truth, Prec::Unary)
    }

    /// An operation of two doubles.
    pub fn float(op: Float, a: &Expr, b: &Expr) -> Expr {
        let (sign, prec) = match op {
            Float::Add => ("+", Prec::Sum),
            Float::Sub => ("-", Prec::Sum),
            Float::Mul => ("*", Prec::Product),
            Float::Div => ("/", Prec::Product),
        };
        let vector = a.kind == Kind::Vector || b.kind == Kind::Vector;
        Expr::infix(sign, a, b, if vector { Kind::Vector } else { Kind::Double }, prec)
    }

    /// A double, as all parts of a vector.
    pub fn as_vector(self) -> Expr {
        if self.kind == Kind::Vector { self } else { Expr::call("ALL", &[&self], Kind::Vector) }
    }

    /// Whether a condition holds between two doubles, a NaN being unordered.
    pub fn compare_floats(cond: Cond, a: &Expr, b: &Expr) -> Expr {
        let text = format!("{} {} {}", a.at(Prec::Sum), operator(cond), b.at(Prec::Sum));
        Expr::of(&[a, b], text, Kind::Truth, Prec::Other)
    }

    /// The square root of a double.
    pub fn sqrt(&self) -> Expr {
        Expr::call("sqrt", &[self], Kind::Double)
    }

    /// The magnitude of a double.
    pub fn abs(&self) -> Expr {
        Expr::call("fabs", &[self], Kind::Double)
    }

    /// A double, or the canonical NaN.
    pub fn canonical(&self) -> Expr {
        Expr::call("canonical", &[self], Kind::Double)
    }
}

/// How a file writes words.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// Whether they are signed.
    pub signed: bool,
    /// Their type, and that of the other signedness.
    pub types: [&'static str; 2],
    /// The function that gives the bits of a double as a word.
    pub as_word: &'static str,
    /// The function that gives those of a word as a double.
    pub as_double: &'static str,
}

impl Words {
    /// A constant.
    pub fn constant(&self, word: u64, kind: Kind) -> Expr {
        let signed = word.cast_signed();
        let (text, prec) = match kind {
            Kind::Double | Kind::Vector => return self.double(word),
            _ if self.signed && signed == i64::MIN => ("INT64_MIN".to_string(), Prec::Literal),
            _ if self.signed => (signed.to_string(), Prec::Literal),
            _ => match i32::try_from(signed) {
                Ok(k) if k < 0 => (format!("({}){k}", self.types[0]), Prec::Unary),
                Ok(k) => (k.to_string(), Prec::Atom),
                Err(_) => (format!("0x{word:x}u"), Prec::Atom),
            },
        };
        Expr { prec, constant: Some(word), ..Expr::atom(text, kind) }
    }

    /// A double, exactly.
    fn double(&self, word: u64) -> Expr {
        let x = f64::from_bits(word);
        let (text, prec) = match (x.is_finite(), self.signed) {
            (true, true) => (format!("{x:?}"), Prec::Literal),
            (true, false) => (format!("{x:?}"), if x.is_sign_negative() { Prec::Unary } else { Prec::Atom }),
            (false, true) => (format!("{}(({}){word:#x})", self.as_double, self.types[0]), Prec::Atom),
            (false, false) => (format!("{}(0x{word:x}u)", self.as_double), Prec::Atom),
        };
        Expr { prec, constant: Some(word), ..Expr::atom(text, Kind::Double) }
    }

    /// In another type: the same bits, or a truth value as a word.
    pub fn convert(&self, x: Expr, kind: Kind) -> Expr {
        match (x.kind, kind) {
            (Kind::Word, Kind::Double) => Expr::call(self.as_double, &[&x], kind),
            (Kind::Double, Kind::Word) => Expr::call(self.as_word, &[&x], kind),
            // An `int` becomes a signed word by itself.
            (Kind::Truth, Kind::Word) if self.signed => x,
            (Kind::Truth, Kind::Word) => self.cast(0, &x),
            (Kind::Truth, Kind::Double) => {
                let word = Expr { kind: Kind::Word, ..self.convert(x, Kind::Word) };
                self.convert(word, kind)
            }
            (Kind::Word | Kind::Double, Kind::Truth) => {
                let word = self.convert(x, Kind::Word);
                Expr::of(&[&word], format!("{} != 0", word.at(Prec::Sum)), kind, Prec::Other)
            }
            // Vectors are doubles where they stand for numbers, and nothing else; see [`crate::loops::can_carry_vectors`].
            (Kind::Vector, _) | (_, Kind::Vector) => x,
            (Kind::Word, Kind::Word) | (Kind::Double, Kind::Double) | (Kind::Truth, Kind::Truth) => x,
        }
    }

    /// A word as its own type, or as the one of the other signedness.
    fn cast(&self, to: usize, x: &Expr) -> Expr {
        Expr::of(&[x], format!("({}){}", self.types[to], x.at(Prec::Unary)), Kind::Word, Prec::Unary)
    }

    /// An operation of two words.
    pub fn bin(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Expr {
        let infix = |sign, prec| Expr::infix(sign, a, b, Kind::Word, prec);
        let call = |name| Expr::call(name, &[a, b], Kind::Word);
        match op {
            BinaryOp::Add => match b.constant.map(u64::cast_signed) {
                Some(k) if k < 0 && k != i64::MIN && (self.signed || i32::try_from(k).is_ok()) => {
                    let magnitude = Expr::atom((-k).to_string(), Kind::Word);
                    Expr::infix("-", a, &magnitude, Kind::Word, Prec::Sum)
                }
                _ => infix("+", Prec::Sum),
            },
            BinaryOp::Sub => infix("-", Prec::Sum),
            BinaryOp::Mul => infix("*", Prec::Product),
            BinaryOp::And => infix("&", Prec::Other),
            BinaryOp::Or => infix("|", Prec::Other),
            BinaryOp::Xor => infix("^", Prec::Other),
            BinaryOp::Shl => self.unsigned_shift("<<", a, b),
            BinaryOp::Shr => self.unsigned_shift(">>", a, b),
            BinaryOp::Sar if self.signed => {
                let text = format!("{} >> {}", a.at(Prec::Unary), shift_count(b));
                Expr::of(&[a, b], text, Kind::Word, Prec::Other)
            }
            BinaryOp::Sar => call("sar"),
            BinaryOp::MulHigh => call("mulhigh"),
            BinaryOp::Rol => call("rol"),
            BinaryOp::Ror => call("ror"),
        }
    }

    fn unsigned_shift(&self, sign: &str, a: &Expr, b: &Expr) -> Expr {
        let count = shift_count(b);
        if self.signed {
            let shifted = format!("{} {sign} {count}", self.cast(1, a).text);
            return Expr::of(&[a, b], format!("({})({shifted})", self.types[0]), Kind::Word, Prec::Unary);
        }
        // The cast is of the constant with which a product or sum begins.
        let narrow = begins_with_constant(a) && a.prec >= Prec::Sum;
        let left = if narrow { format!("({}){}", self.types[0], a.text) } else { a.at(Prec::Unary) };
        Expr::of(&[a, b], format!("{left} {sign} {count}"), Kind::Word, Prec::Other)
    }

    /// Whether a condition holds between two words.
    pub fn compare(&self, cond: Cond, a: &Expr, b: &Expr) -> Expr {
        let signed = match cond {
            Cond::Always | Cond::Eq | Cond::Ne => self.signed,
            Cond::Lt | Cond::Le | Cond::Gt | Cond::Ge => true,
            Cond::Ltu | Cond::Geu => false,
        };
        let side = |x: &Expr| match x.constant.map(|k| i32::try_from(k.cast_signed())) {
            _ if signed == self.signed => x.at(Prec::Sum),
            Some(Ok(k)) if signed => k.to_string(),
            _ => self.cast(1, x).text,
        };
        let text = format!("{} {} {}", side(a), operator(cond), side(b));
        Expr::of(&[a, b], text, Kind::Truth, Prec::Other)
    }

    /// One of two values: the first if a condition holds.
    pub fn select(&self, c: &Expr, a: &Expr, b: &Expr, kind: Kind) -> Expr {
        // Two constants would make an `int`.
        let first = a.at(Prec::Sum);
        let narrow = kind == Kind::Word && !self.signed && begins_with_constant(a);
        let first = if narrow { format!("({}){first}", self.types[0]) } else { first };
        let text = format!("{} ? {first} : {}", c.at(Prec::Sum), b.at(Prec::Sum));
        Expr::of(&[c, a, b], text, kind, Prec::Other)
    }

    /// The double nearest to a signed word.
    pub fn from_int(&self, a: &Expr) -> Expr {
        if self.signed {
            return Expr::of(&[a], format!("(double){}", a.at(Prec::Unary)), Kind::Double, Prec::Unary);
        }
        Expr::call("from_int", &[a], Kind::Double)
    }
}

/// The number of bits of a shift.
fn shift_count(b: &Expr) -> String {
    match b.constant {
        Some(k) => (k & 63).to_string(),
        None => format!("({} & 63)", b.at(Prec::Unary)),
    }
}

/// Whether an expression begins with a constant, which would be an `int`.
fn begins_with_constant(x: &Expr) -> bool {
    x.text.starts_with(|c: char| c.is_ascii_digit())
}
