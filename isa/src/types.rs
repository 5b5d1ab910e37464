//! The basic types that every other module uses: registers, number types, accumulators and conditions.

use std::fmt;

/// A register, `r0` to `r31`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Reg(u8);

impl Reg {
    /// The number of registers.
    pub const COUNT: usize = 32;
    /// `r0`: reads 0, is never written.
    pub const ZERO: Reg = Reg(0);
    /// `r31`, the stack pointer.
    pub const SP: Reg = Reg(31);

    /// The number of places for registers: with the local ones, which the steps of extensions work on.
    pub const PLACES: usize = 64;

    /// The local register with this number.
    pub const fn local(number: u8) -> Reg {
        Reg(Reg::COUNT as u8 + (number & 31))
    }

    /// The number of a local register.
    pub const fn local_number(self) -> Option<u8> {
        self.0.checked_sub(Reg::COUNT as u8)
    }

    /// The register with this number, if there is one.
    pub const fn new(number: u8) -> Option<Reg> {
        if (number as usize) < Reg::COUNT { Some(Reg(number)) } else { None }
    }

    /// The number, 0 to 31; of a local register, 32 and on.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The number as an index; always below [`Reg::COUNT`]. Not for local registers.
    #[inline(always)]
    pub const fn index(self) -> usize {
        (self.0 & 31) as usize
    }

    /// Reads `r0`…`r31` or `sp`, in any case.
    pub fn parse(text: &str) -> Option<Reg> {
        if text.eq_ignore_ascii_case("sp") {
            return Some(Reg::SP);
        }
        let digits = text.strip_prefix(['r', 'R'])?;
        let plain = !digits.is_empty() && digits.len() <= 2 && digits.bytes().all(|b| b.is_ascii_digit());
        let canonical = digits.len() == 1 || !digits.starts_with('0');
        if plain && canonical { Reg::new(digits.parse().ok()?) } else { None }
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Reg::SP { f.write_str("sp") } else { write!(f, "r{}", self.0) }
    }
}

impl fmt::Debug for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The profile of a module: its instruction subset and execution model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(u8)]
pub enum Profile {
    /// Paired jumps, procedures, a stack, memory separate from the code; `r0` reads 0.
    #[default]
    Native = 0,
    /// The machine of the Pendulum processor: a branch register, one space of 2^32 cells for instructions and data, and 32 equal registers.
    /// Words have 32 bits and are stored sign-extended.
    Pisa = 1,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Profile; 2] = [Profile::Native, Profile::Pisa];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Native => "native",
            Profile::Pisa => "pisa",
        }
    }

    /// Bits in a word.
    pub const fn width(self) -> u32 {
        match self {
            Profile::Native => 64,
            Profile::Pisa => 32,
        }
    }
}

/// How an instruction reads a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(u8)]
pub enum Ty {
    /// 64-bit two's-complement integer; no suffix (`.i` in conversions).
    #[default]
    Int = 0,
    /// Fixed point, `.q`.
    Q = 1,
    /// Signed logarithmic, `.l`.
    L = 2,
    /// IEEE 754 double, `.f`.
    F = 3,
}

impl Ty {
    /// Every number type.
    pub const ALL: [Ty; 4] = [Ty::Int, Ty::Q, Ty::L, Ty::F];

    /// The type whose encoding is the low two bits of `bits`.
    pub const fn from_bits(bits: u16) -> Ty {
        match bits & 3 {
            0 => Ty::Int,
            1 => Ty::Q,
            2 => Ty::L,
            _ => Ty::F,
        }
    }

    /// The suffix of mnemonics: empty, `.q`, `.l` or `.f`.
    pub const fn suffix(self) -> &'static str {
        match self {
            Ty::Int => "",
            Ty::Q => ".q",
            Ty::L => ".l",
            Ty::F => ".f",
        }
    }

    /// The suffix that names a conversion's source: as [`Ty::suffix`], but `.i` for integers.
    pub const fn source_suffix(self) -> &'static str {
        match self {
            Ty::Int => ".i",
            _ => self.suffix(),
        }
    }

    /// The letter: `i`, `q`, `l` or `f`.
    pub const fn letter(self) -> char {
        match self {
            Ty::Int => 'i',
            Ty::Q => 'q',
            Ty::L => 'l',
            Ty::F => 'f',
        }
    }

    /// The type with this letter.
    pub const fn from_letter(letter: char) -> Option<Ty> {
        match letter {
            'i' => Some(Ty::Int),
            'q' => Some(Ty::Q),
            'l' => Some(Ty::L),
            'f' => Some(Ty::F),
            _ => None,
        }
    }

    /// The type's name in prose.
    pub const fn name(self) -> &'static str {
        match self {
            Ty::Int => "integer",
            Ty::Q => "fixed point",
            Ty::L => "logarithmic",
            Ty::F => "floating point",
        }
    }
}

/// The operation of an accumulate instruction on its destination. The partner
/// (`sub`, `div`) is the same accumulator with the inverse bit set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Acc {
    /// `add` / `sub`.
    Add = 0,
    /// `xor`, its own inverse.
    Xor = 1,
    /// `mul` / `div`, on `.l` only.
    Mul = 2,
}

impl Acc {
    /// Every accumulator.
    pub const ALL: [Acc; 3] = [Acc::Add, Acc::Xor, Acc::Mul];

    /// The mnemonic's first part.
    pub const fn name(self, inverse: bool) -> &'static str {
        match (self, inverse) {
            (Acc::Add, false) => "add",
            (Acc::Add, true) => "sub",
            (Acc::Xor, _) => "xor",
            (Acc::Mul, false) => "mul",
            (Acc::Mul, true) => "div",
        }
    }

    /// Whether words of type `ty` can be accumulated this way without losing bits.
    pub const fn accepts(self, ty: Ty) -> bool {
        match self {
            Acc::Add => !matches!(ty, Ty::L),
            Acc::Xor => true,
            Acc::Mul => matches!(ty, Ty::L),
        }
    }

    /// Whether the instruction is its own inverse.
    pub const fn self_inverse(self) -> bool {
        matches!(self, Acc::Xor)
    }
}

/// The condition of a `jmp`, `from` or `assert`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(u8)]
pub enum Cond {
    /// No condition.
    #[default]
    Always = 0,
    /// `a = b`
    Eq = 1,
    /// `a ≠ b`
    Ne = 2,
    /// `a < b`
    Lt = 3,
    /// `a ≤ b`
    Le = 4,
    /// `a > b`
    Gt = 5,
    /// `a ≥ b`
    Ge = 6,
    /// `a < b` as unsigned integers
    Ltu = 7,
    /// `a ≥ b` as unsigned integers
    Geu = 8,
}

impl Cond {
    /// Every condition except [`Cond::Always`].
    pub const TESTS: [Cond; 8] = [Cond::Eq, Cond::Ne, Cond::Lt, Cond::Le, Cond::Gt, Cond::Ge, Cond::Ltu, Cond::Geu];

    /// The condition with this encoding.
    pub const fn from_bits(bits: u16) -> Option<Cond> {
        Some(match bits {
            0 => Cond::Always,
            1 => Cond::Eq,
            2 => Cond::Ne,
            3 => Cond::Lt,
            4 => Cond::Le,
            5 => Cond::Gt,
            6 => Cond::Ge,
            7 => Cond::Ltu,
            8 => Cond::Geu,
            _ => return None,
        })
    }

    /// The mnemonic's part after the dot; empty for [`Cond::Always`].
    pub const fn name(self) -> &'static str {
        match self {
            Cond::Always => "",
            Cond::Eq => "eq",
            Cond::Ne => "ne",
            Cond::Lt => "lt",
            Cond::Le => "le",
            Cond::Gt => "gt",
            Cond::Ge => "ge",
            Cond::Ltu => "ltu",
            Cond::Geu => "geu",
        }
    }

    /// The mathematical sign, for messages.
    pub const fn symbol(self) -> &'static str {
        match self {
            Cond::Always => "always",
            Cond::Eq => "=",
            Cond::Ne => "≠",
            Cond::Lt => "<",
            Cond::Le => "≤",
            Cond::Gt => ">",
            Cond::Ge => "≥",
            Cond::Ltu => "<ᵤ",
            Cond::Geu => "≥ᵤ",
        }
    }

    /// Whether words of type `ty` can be compared this way.
    pub const fn accepts(self, ty: Ty) -> bool {
        matches!(ty, Ty::Int) || !matches!(self, Cond::Ltu | Cond::Geu)
    }

    /// The negated condition, for operands that are not NaN. [`Cond::Always`] has none and stays.
    pub const fn negated(self) -> Cond {
        match self {
            Cond::Always => Cond::Always,
            Cond::Eq => Cond::Ne,
            Cond::Ne => Cond::Eq,
            Cond::Lt => Cond::Ge,
            Cond::Le => Cond::Gt,
            Cond::Gt => Cond::Le,
            Cond::Ge => Cond::Lt,
            Cond::Ltu => Cond::Geu,
            Cond::Geu => Cond::Ltu,
        }
    }

    /// The condition for swapped operands; `None` for conditions on unsigned integers.
    pub const fn exchanged(self) -> Option<Cond> {
        Some(match self {
            Cond::Always => Cond::Always,
            Cond::Eq => Cond::Eq,
            Cond::Ne => Cond::Ne,
            Cond::Lt => Cond::Gt,
            Cond::Le => Cond::Ge,
            Cond::Gt => Cond::Lt,
            Cond::Ge => Cond::Le,
            Cond::Ltu | Cond::Geu => return None,
        })
    }

    /// Whether the condition holds for operands in this order; `None` is "unordered" (a NaN).
    #[inline(always)]
    pub fn holds(self, order: Option<std::cmp::Ordering>) -> bool {
        use std::cmp::Ordering::{Equal, Greater, Less};
        match self {
            Cond::Always => true,
            Cond::Eq => order == Some(Equal),
            Cond::Ne => order != Some(Equal),
            Cond::Lt | Cond::Ltu => order == Some(Less),
            Cond::Le => matches!(order, Some(Less | Equal)),
            Cond::Gt => order == Some(Greater),
            Cond::Ge | Cond::Geu => matches!(order, Some(Greater | Equal)),
        }
    }
}
