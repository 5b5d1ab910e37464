//! The operators of the core.

use std::rc::Rc;

use crate::ad::ladder::LadderOp;
use crate::value::IntType;

/// Declares an enum of operators with their names.
macro_rules! operators {
    ($(#[$doc:meta])* $Name:ident { $( $Op:ident $text:literal; )* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $Name {
            $( #[doc = concat!("`", $text, "`")] $Op, )*
        }

        impl $Name {
            /// All of them.
            pub const ALL: &[$Name] = &[$($Name::$Op),*];

            /// The name.
            pub const fn name(self) -> &'static str {
                match self { $( $Name::$Op => $text, )* }
            }
        }
    };
}

operators! {
    /// Functions of one real number.
    Unary {
        Neg "neg"; Abs "abs"; Sign "sign"; Sqrt "sqrt"; Cbrt "cbrt"; Exp "exp"; Exp2 "exp2"; Expm1 "expm1"; Log "log"; Log2 "log2";
        Log1p "log1p"; Sin "sin"; Cos "cos"; Tan "tan"; Asin "asin"; Acos "acos"; Atan "atan"; Sinh "sinh"; Cosh "cosh"; Tanh "tanh";
        Asinh "asinh"; Acosh "acosh"; Atanh "atanh"; Erf "erf"; Erfc "erfc"; Lgamma "lgamma"; Digamma "digamma";
        Floor "floor"; Ceil "ceil"; Round "round"; Trunc "trunc";
    }
}

operators! {
    /// Functions of two real numbers.
    Binary {
        Add "+"; Sub "-"; Mul "*"; Div "/"; Atan2 "atan2"; Pow "pow"; Min "min"; Max "max"; Hypot "hypot"; Rem "rem"; Polygamma "polygamma";
    }
}

operators! {
    /// Comparisons of two reals, two integers of one type, or two truth values.
    Compare {
        Eq "="; Ne "!="; Lt "<"; Le "<="; Gt ">"; Ge ">=";
    }
}

operators! {
    /// Functions of two integers of one type; they wrap. A shift takes its count modulo the width.
    IntBinary {
        Add "i+"; Sub "i-"; Mul "i*"; Div "idiv"; Mod "imod"; Quot "iquot"; Rem "irem"; Pow "ipow"; Min "imin"; Max "imax";
        And "iand"; Or "ior"; Xor "ixor"; Shl "ishl"; Shr "ishr"; Lshr "ilshr";
    }
}

operators! {
    /// Functions of one integer.
    IntUnary {
        Neg "ineg"; Not "inot"; Abs "iabs"; Sign "isign"; Less "iless"; Ones "iones"; LeadingZeros "iclz"; TrailingZeros "ictz";
    }
}

operators! {
    /// Questions about a value.
    Test {
        Unit "null?"; Bool "boolean?"; Real "real?"; Pair "pair?"; Function "procedure?"; Perturbation "perturbation?";
        Forward "forward?"; Sensitivity "sensitivity?"; Reverse "reverse?"; Nan "nan?"; Infinite "infinite?";
    }
}

/// An operator. Its operands are values, so that it neither binds variables nor chooses.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// A function of a real.
    Unary(Unary),
    /// A function of two reals.
    Binary(Binary),
    /// A comparison.
    Compare(Compare),
    /// A function of an integer.
    IntUnary(IntUnary),
    /// A function of two integers.
    IntBinary(IntBinary),
    /// The other truth value.
    Not,
    /// A question about a value.
    Test(Test),
    /// A real as itself: of another value it is an error.
    AsReal,
    /// An integer or truth value as a real.
    ToReal,
    /// A real (towards zero), an integer or a truth value as an integer.
    ToInt(IntType),
    /// Operands x, y: the second, a number, as a number of the kind of the first.
    Like,
    /// Writes a value and gives it back.
    Write,
    /// Reads a real from the input; the operand is ignored.
    Read,
    /// Gives the second operand if the first, a truth value, is true; otherwise an error with this text, and the other operands as its values.
    Check(Rc<str>),
    /// An array of the operands.
    Array,
    /// The integers from 0 to below the operand.
    Iota(IntType),
    /// Operands n, v: n times v.
    Replicate,
    /// The number of elements of an array, as `i64`.
    Length,
    /// Operands xs, i: an element.
    Index,
    /// Operands xs, i, v: the array with another element; in place if nobody else has it.
    Update,
    /// Two arrays, one behind the other.
    Concat,
    /// Operands xs, from, to, step: elements from `from` to before `to` in steps (which may be negative).
    Slice,
    /// The last element first.
    Flip,
    /// As many arrays as operands: an array of tuples.
    Zip,
    /// An array of tuples of `of` parts: the array of the parts with this index.
    Unzip(u32, u32),
    /// An array of arrays as one array.
    Flatten,
    /// Operands n, m, xs: an array of n arrays of m elements.
    Unflatten,
    /// An array of arrays of one length with the roles of rows and columns exchanged; the second operand is the length of rows.
    Transpose,
    /// Operands xs, is: elements by index; an index outside gives an error.
    Gather,
    /// Operands xs, is, vs: the array with elements replaced; an index outside is ignored.
    Scatter,
    /// Operands xs, is, vs: values are added to elements; an index outside is ignored.
    ScatterAdd,
    /// Operands zero, xs: the sum of all elements, as [`Plus`](crate::core::Rhs::Plus) adds; the zero if there are none.
    Sum,
    /// Operands xs, i, v: v is added to an element.
    Bump,
    /// Operands f, g, x: f applied to x, and on the way back g, applied to the result and its sensitivity one after another, gives that of x.
    Custom,
    /// A real of 32 or 64 bits as an unsigned integer with its bits. It has no derivative.
    ToBits(u32),
    /// The reverse of `ToBits`.
    FromBits(u32),
    /// Operands f, xs: the function of each element.
    Map,
    /// Operands f, s, xs: f maps (s, x) to (s, y), from the first element to the last; gives (s, ys).
    Scan,
    /// The same from the last element to the first.
    ScanBack,
    /// An operator of programs that a stage of the ladder has transformed.
    Ladder(LadderOp),
}

impl Op {
    /// The name.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Unary(op) => op.name(),
            Op::Binary(op) => op.name(),
            Op::Compare(op) => op.name(),
            Op::IntUnary(op) => op.name(),
            Op::IntBinary(op) => op.name(),
            Op::Test(op) => op.name(),
            Op::Not => "not",
            Op::AsReal => "real",
            Op::ToReal => "to-real",
            Op::ToInt(ty) => ty.name(),
            Op::Like => "like",
            Op::Write => "write",
            Op::Read => "read-real",
            Op::Check(_) => "check",
            Op::Array => "array",
            Op::Iota(_) => "iota",
            Op::Replicate => "replicate",
            Op::Length => "length",
            Op::Index => "index",
            Op::Update => "update",
            Op::Concat => "concat",
            Op::Slice => "slice",
            Op::Flip => "flip",
            Op::Zip => "zip",
            Op::Unzip(..) => "unzip",
            Op::Flatten => "flatten",
            Op::Unflatten => "unflatten",
            Op::Transpose => "transpose",
            Op::Gather => "gather",
            Op::Scatter => "scatter",
            Op::ScatterAdd => "scatter-add",
            Op::Sum => "sum",
            Op::Bump => "bump",
            Op::Custom => "with-reverse",
            Op::ToBits(_) => "to-bits",
            Op::FromBits(_) => "from-bits",
            Op::Map => "map",
            Op::Scan => "scan",
            Op::ScanBack => "scan-back",
            Op::Ladder(op) => op.name(),
        }
    }
}

impl IntUnary {
    /// Whether it has a derivative as a polynomial has. Operators on bits, quotients and remainders have none.
    pub const fn has_derivative(self) -> bool {
        match self {
            IntUnary::Neg | IntUnary::Abs | IntUnary::Less => true,
            IntUnary::Not | IntUnary::Sign | IntUnary::Ones | IntUnary::LeadingZeros | IntUnary::TrailingZeros => false,
        }
    }
}

impl IntBinary {
    /// Whether it has a derivative as a polynomial has. Operators on bits, quotients and remainders have none.
    pub const fn has_derivative(self) -> bool {
        match self {
            IntBinary::Add | IntBinary::Sub | IntBinary::Mul | IntBinary::Pow | IntBinary::Min | IntBinary::Max => true,
            IntBinary::Div | IntBinary::Mod | IntBinary::Quot | IntBinary::Rem => false,
            IntBinary::And | IntBinary::Or | IntBinary::Xor | IntBinary::Shl | IntBinary::Shr | IntBinary::Lshr => {
                false
            }
        }
    }
}
