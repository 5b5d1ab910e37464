//! The number of gates of each [`CircuitKind`], counted in the circuit that [`crate::circuit`] generates.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use pendula_isa::table::{Row, TableFn, f_fn, int_fn, l_fn, q_fn};
use pendula_isa::types::{Acc, Cond, Ty};

use crate::circuit::kernels::{Formats, Kernel};
use crate::circuit::part::{Accumulator, CircuitFn, Half, InPlace, Part, generate, is_fused as fused, shares};
use crate::circuit::{Circuit, GateCounts};
use crate::work::CircuitKind;
use Implementation::{Kernel as K, Part as P};

/// The parameters of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Bits in a word.
    pub width: u32,
    /// Fraction bits of fixed-point numbers.
    pub frac: u32,
    /// Words of memory.
    pub memory: u64,
}

/// How a function of the table is implemented.
enum Implementation {
    /// As a part.
    Part(CircuitFn),
    /// As a kernel.
    Kernel(Kernel),
    /// As several kernels, one after the other. They stand for a function of doubles that has no circuit of its own.
    Kernels(&'static [Kernel]),
}

/// Whether a function is computed directly into its target, so that there is no separate accumulator.
pub(crate) fn is_fused(func: TableFn, xor: bool) -> bool {
    let accumulator = if xor { Accumulator::Xor } else { Accumulator::AddOrSubtract };
    match implementation(func, 0) {
        Implementation::Part(function) => fused(accumulator, function),
        Implementation::Kernel(_) | Implementation::Kernels(_) => false,
    }
}

fn implementation(func: TableFn, frac: usize) -> Implementation {
    match func {
        TableFn::Int(f) => int_implementation(f),
        TableFn::Q(f) => fixed_implementation(f, frac),
        TableFn::L(f) => log_implementation(f),
        TableFn::F(f) => float_implementation(f, frac),
    }
}

fn int_implementation(f: int_fn::Name) -> Implementation {
    match f {
        int_fn::Name::Id => P(CircuitFn::Wire),
        int_fn::Name::Plus => P(CircuitFn::Sum),
        int_fn::Name::Minus => P(CircuitFn::Difference),
        int_fn::Name::Mul => P(CircuitFn::Multiply),
        int_fn::Name::Udiv => K(Kernel::UnsignedQuotient),
        int_fn::Name::Umod => K(Kernel::UnsignedRemainder),
        int_fn::Name::Pow => K(Kernel::IntPower),
        int_fn::Name::Quot => P(CircuitFn::Quotient),
        int_fn::Name::Rem => P(CircuitFn::Remainder),
        int_fn::Name::Div => P(CircuitFn::QuotientDown),
        int_fn::Name::Mod => P(CircuitFn::Modulo),
        int_fn::Name::And => P(CircuitFn::And),
        int_fn::Name::Or => P(CircuitFn::Or),
        int_fn::Name::Nor => P(CircuitFn::Nor),
        int_fn::Name::Shl => P(CircuitFn::ShiftLeft),
        int_fn::Name::Shr => P(CircuitFn::ShiftRight),
        int_fn::Name::Sar => P(CircuitFn::ShiftRightSigned),
        int_fn::Name::Shl32 => P(CircuitFn::ShiftLeft32),
        int_fn::Name::Shr32 => P(CircuitFn::ShiftRight32),
        int_fn::Name::Sar32 => P(CircuitFn::ShiftRightSigned32),
        int_fn::Name::Lt | int_fn::Name::LtQ => P(CircuitFn::Less),
        int_fn::Name::Ltu => P(CircuitFn::LessUnsigned),
        int_fn::Name::Eq | int_fn::Name::EqQ => P(CircuitFn::Equal),
        int_fn::Name::LtL => P(CircuitFn::LogLess),
        int_fn::Name::EqL => P(CircuitFn::LogEqual),
        int_fn::Name::LtF => P(CircuitFn::FloatLess),
        int_fn::Name::EqF => P(CircuitFn::FloatEqual),
        int_fn::Name::Min => P(CircuitFn::Min),
        int_fn::Name::Max => P(CircuitFn::Max),
        int_fn::Name::CvtQ => K(Kernel::FixedToInt),
        int_fn::Name::CvtL => K(Kernel::LogToInt),
        int_fn::Name::CvtF => K(Kernel::FloatToInt),
    }
}

fn fixed_implementation(f: q_fn::Name, frac: usize) -> Implementation {
    match f {
        q_fn::Name::Id => P(CircuitFn::Wire),
        q_fn::Name::Plus => P(CircuitFn::Sum),
        q_fn::Name::Minus => P(CircuitFn::Difference),
        q_fn::Name::Prod => P(CircuitFn::Multiply),
        q_fn::Name::IntPow => K(Kernel::IntPower),
        q_fn::Name::Mul => P(CircuitFn::FixedMultiply { frac }),
        q_fn::Name::Div => P(CircuitFn::FixedDivide { frac }),
        q_fn::Name::Muladd => P(CircuitFn::FixedMultiplyAdd { frac }),
        q_fn::Name::CvtI => K(Kernel::IntToFixed),
        q_fn::Name::CvtL => K(Kernel::LogToFixed),
        q_fn::Name::CvtF => K(Kernel::FloatToFixed),
        q_fn::Name::LogL => K(Kernel::LogOfLog),
        q_fn::Name::Inv => P(CircuitFn::FixedInverse { frac }),
        q_fn::Name::Pow => K(Kernel::FixedPow),
        q_fn::Name::Powi => K(Kernel::FixedPowi),
        q_fn::Name::Exp => K(Kernel::FixedExp),
        q_fn::Name::Log => K(Kernel::FixedLog),
        q_fn::Name::Log2 => K(Kernel::FixedLog2),
        q_fn::Name::Sqrt => K(Kernel::FixedSqrt),
        q_fn::Name::Sin => K(Kernel::FixedSin),
        q_fn::Name::Cos => K(Kernel::FixedCos),
        q_fn::Name::Tan => K(Kernel::FixedTan),
        q_fn::Name::Asin => K(Kernel::FixedAsin),
        q_fn::Name::Acos => K(Kernel::FixedAcos),
        q_fn::Name::Atan => K(Kernel::FixedAtan),
        q_fn::Name::Atan2 => K(Kernel::FixedAtan2),
        q_fn::Name::Sinh => K(Kernel::FixedSinh),
        q_fn::Name::Cosh => K(Kernel::FixedCosh),
        q_fn::Name::Tanh => K(Kernel::FixedTanh),
        q_fn::Name::Abs => P(CircuitFn::Magnitude),
        q_fn::Name::Sign => P(CircuitFn::Sign { frac }),
        q_fn::Name::Min => P(CircuitFn::Min),
        q_fn::Name::Max => P(CircuitFn::Max),
        q_fn::Name::Relu => P(CircuitFn::Positive),
        q_fn::Name::Floor => P(CircuitFn::Floor { frac }),
        q_fn::Name::Hypot => K(Kernel::FixedHypot),
    }
}

fn log_implementation(f: l_fn::Name) -> Implementation {
    match f {
        l_fn::Name::Id => P(CircuitFn::Wire),
        l_fn::Name::Mul => P(CircuitFn::LogProduct),
        l_fn::Name::Div => P(CircuitFn::LogQuotient),
        l_fn::Name::Inv => P(CircuitFn::LogInverse),
        l_fn::Name::Pow => K(Kernel::LogPow),
        l_fn::Name::Plus => K(Kernel::LogPlus),
        l_fn::Name::Minus => K(Kernel::LogMinus),
        l_fn::Name::CvtI => K(Kernel::IntToLog),
        l_fn::Name::CvtQ => K(Kernel::FixedToLog),
        l_fn::Name::CvtF => K(Kernel::FloatToLog),
    }
}

fn float_implementation(f: f_fn::Name, frac: usize) -> Implementation {
    match f {
        f_fn::Name::Id => P(CircuitFn::Wire),
        // A difference is a sum except for the sign of b: two NOT gates.
        f_fn::Name::Plus | f_fn::Name::Minus => K(Kernel::FloatAdd),
        f_fn::Name::Mul => K(Kernel::FloatMultiply),
        f_fn::Name::Div | f_fn::Name::Inv => K(Kernel::FloatDivide),
        f_fn::Name::Muladd => K(Kernel::FloatMultiplyAdd),
        f_fn::Name::CvtI => K(Kernel::IntToFloat),
        f_fn::Name::CvtQ => K(Kernel::FixedToFloat),
        f_fn::Name::CvtL => K(Kernel::LogToFloat),
        f_fn::Name::Sqrt => K(Kernel::FloatSqrt),
        f_fn::Name::Exp => K(Kernel::FloatExp),
        f_fn::Name::Log => K(Kernel::FloatLog),
        f_fn::Name::Sin => K(Kernel::FloatSin),
        f_fn::Name::Cos => K(Kernel::FloatCos),
        // The others follow their definitions. Arc functions are priced as the sine, whose tables and polynomials
        // have the same size.
        f_fn::Name::Hypot => {
            Implementation::Kernels(&[Kernel::FloatMultiply, Kernel::FloatMultiplyAdd, Kernel::FloatSqrt])
        }
        f_fn::Name::Sinh | f_fn::Name::Cosh | f_fn::Name::Tanh => {
            Implementation::Kernels(&[Kernel::FloatExp, Kernel::FloatDivide, Kernel::FloatAdd])
        }
        f_fn::Name::Log2 => Implementation::Kernels(&[Kernel::FloatLog, Kernel::FloatMultiply]),
        f_fn::Name::Pow | f_fn::Name::Powi => {
            Implementation::Kernels(&[Kernel::FloatLog, Kernel::FloatMultiply, Kernel::FloatExp])
        }
        f_fn::Name::Tan => Implementation::Kernels(&[Kernel::FloatSin, Kernel::FloatCos, Kernel::FloatDivide]),
        f_fn::Name::Asin | f_fn::Name::Acos => {
            Implementation::Kernels(&[Kernel::FloatMultiplyAdd, Kernel::FloatSqrt, Kernel::FloatSin])
        }
        f_fn::Name::Atan => K(Kernel::FloatSin),
        f_fn::Name::Atan2 => Implementation::Kernels(&[Kernel::FloatDivide, Kernel::FloatSin]),
        f_fn::Name::Floor => Implementation::Kernels(&[Kernel::FloatToInt, Kernel::IntToFloat]),
        f_fn::Name::Abs => P(CircuitFn::Magnitude),
        f_fn::Name::Sign => P(CircuitFn::Sign { frac }),
        f_fn::Name::Min => P(CircuitFn::Min),
        f_fn::Name::Max => P(CircuitFn::Max),
        f_fn::Name::Relu => P(CircuitFn::Positive),
    }
}

/// The gates of a unit's circuit.
///
/// A unit that consists of several circuits has the sum of their gates. The gates of a memory that is too large to lay
/// out gate by gate are extrapolated from two smaller ones: the number is linear in the number of words.
pub fn gates(unit: CircuitKind, shape: Shape) -> GateCounts {
    static KNOWN: OnceLock<Mutex<HashMap<(CircuitKind, Shape), GateCounts>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    // The size of the memory matters only for accesses.
    let shape = if unit == CircuitKind::Memory { shape } else { Shape { memory: 0, ..shape } };
    if let Ok(known) = known.lock()
        && let Some(counts) = known.get(&(unit, shape))
    {
        return *counts;
    }
    let counts = tracing::debug_span!("gate counts", ?unit).in_scope(|| count(unit, shape));
    if let Ok(mut known) = known.lock() {
        known.insert((unit, shape), counts);
    }
    counts
}

fn part(part: Part, shape: Shape) -> GateCounts {
    generate(part, shape.width as usize).map(|c| c.counts()).unwrap_or_default()
}

fn narrow(bits: usize, signed: bool, what: InPlace, shape: Shape) -> GateCounts {
    part(Part::Narrow { bits, signed, what }, shape)
}

fn kernel(kernel: Kernel, shape: Shape) -> Circuit {
    let mut formats = Formats::of_width(shape.width as usize);
    formats.fixed.frac = shape.frac;
    kernel.circuit(&formats, Accumulator::Xor)
}

/// A kernel without the copy of its result.
fn value(k: Kernel, shape: Shape) -> GateCounts {
    kernel(k, shape).counts() - GateCounts { cnot: u64::from(shape.width), ..GateCounts::default() }
}

/// The check of a condition between numbers of a type.
const fn check(ty: Ty, cond: Cond) -> Part {
    match ty {
        Ty::Int | Ty::Q => Part::Check(cond),
        Ty::L => Part::CheckLog(cond),
        Ty::F => Part::CheckFloat(cond),
    }
}

fn count(unit: CircuitKind, shape: Shape) -> GateCounts {
    let nothing = GateCounts::default();
    let width = shape.width as usize;
    match unit {
        CircuitKind::Function { func, xor } => match implementation(func, shape.frac as usize) {
            Implementation::Part(CircuitFn::Wire) => nothing,
            Implementation::Part(function) => {
                let accumulator = if xor { Accumulator::Xor } else { Accumulator::AddOrSubtract };
                shares(accumulator, function, width).map(|s| s.function).unwrap_or_default()
            }
            Implementation::Kernel(k) => value(k, shape),
            Implementation::Kernels(all) => all.iter().map(|k| value(*k, shape)).sum(),
        },
        CircuitKind::Accumulator(acc, ty) => match (acc, ty) {
            (Acc::Xor, _) => part(Part::Accumulate(Accumulator::Xor, CircuitFn::Wire), shape),
            (Acc::Add, Ty::Int | Ty::Q | Ty::L) => {
                part(Part::Accumulate(Accumulator::AddOrSubtract, CircuitFn::Wire), shape)
            }
            // The sum into a clear word, an exchange, and the difference from the old one, which clears it except for
            // rounding.
            (Acc::Add, Ty::F) => kernel(Kernel::FloatAdd, shape).counts() * 2 + part(Part::Swap, shape),
            (Acc::Mul, _) => part(Part::Accumulate(Accumulator::MultiplyLog, CircuitFn::Wire), shape),
        },
        CircuitKind::Row { row, ty, cond, form, inverse } => match row {
            Row::Swap | Row::Gswap => part(Part::Swap, shape),
            // The access to memory itself exchanges.
            Row::Exch | Row::Exch32 => nothing,
            // The stack pointer moves, and the new top of the stack is clear.
            Row::Push => part(Part::Increment, shape) + part(Part::CheckZero, shape),
            Row::Neg => match ty {
                Ty::Int | Ty::Q => part(Part::Negate, shape),
                Ty::L => part(Part::NegateLog, shape),
                Ty::F => GateCounts { not: 1, ..nothing },
            },
            Row::Not => part(Part::Not, shape),
            Row::Rol => part(if form { Part::RotateBy(1) } else { Part::Rotate }, shape),
            Row::Inc => part(Part::Increment, shape),
            Row::Add8 => narrow(8, true, InPlace::Add, shape),
            Row::Add16 => narrow(16, true, InPlace::Add, shape),
            Row::Add32 => narrow(32, true, InPlace::Add, shape),
            Row::Addu8 => narrow(8, false, InPlace::Add, shape),
            Row::Addu16 => narrow(16, false, InPlace::Add, shape),
            Row::Addu32 => narrow(32, false, InPlace::Add, shape),
            Row::Neg32 => narrow(32, true, InPlace::Negate, shape),
            Row::Rol32 => narrow(32, true, if form { InPlace::RotateBy(1) } else { InPlace::Rotate }, shape),
            Row::Rmul => part(Part::Scale, shape),
            Row::Assert => part(check(ty, cond), shape),
            Row::Zero => part(Part::CheckZero, shape),
            // |x| ≤ tolerance, as a comparison of two words.
            Row::ZeroWithin => part(Part::Check(Cond::Le), shape),
            Row::Emit | Row::Read | Row::Show => part(Part::Host, shape),
            Row::Print | Row::Erase | Row::Start => nothing,
            Row::Rot => match ty {
                Ty::Q => part(Part::Rotation { frac: shape.frac as usize }, shape),
                Ty::Int | Ty::L | Ty::F => {
                    // Sine and cosine, four products, two sums, and the same again to clear the old coordinates.
                    let product = value(Kernel::FloatMultiply, shape) * 4;
                    let sum = value(Kernel::FloatAdd, shape) * 2;
                    let angle = value(Kernel::FloatSin, shape) + value(Kernel::FloatCos, shape);
                    angle + (product + sum + part(Part::Swap, shape)) * 2
                }
            },
            Row::Jmp => {
                let half = if inverse { Half::From } else { Half::Jump };
                // A branch compares integers.
                part(Part::Branch(half, cond), shape) + part(check(ty, cond), shape) - part(Part::Check(cond), shape)
            }
            Row::Proc | Row::Call | Row::Callr | Row::Gcall => part(Part::Call, shape),
            Row::Bra => part(Part::BranchRegister(cond), shape),
            Row::Rbra => part(Part::BranchTurn, shape),
            Row::Swapbr => part(Part::BranchSwap, shape),
            // Control never reaches it.
            Row::Cell => nothing,
        },
        CircuitKind::Memory => memory(shape),
    }
}

/// The maximum number of words for which an access is laid out.
const LAID_OUT: u64 = 256;

fn memory(shape: Shape) -> GateCounts {
    let of = |words: u64| part(Part::Memory { words: words as usize }, shape);
    let words = shape.memory.max(1);
    if words <= LAID_OUT {
        return of(words);
    }
    let (half, whole) = (of(LAID_OUT / 2), of(LAID_OUT));
    // A few gates at the top of the tree do not depend on the number of words.
    let more = |whole: u64, half: u64| {
        let each = u128::from(whole.saturating_sub(half));
        let grown = each * u128::from(words - LAID_OUT) / u128::from(LAID_OUT / 2);
        whole.saturating_add(u64::try_from(grown).unwrap_or(u64::MAX))
    };
    GateCounts {
        not: more(whole.not, half.not),
        cnot: more(whole.cnot, half.cnot),
        toffoli: more(whole.toffoli, half.toffoli),
        cswap: more(whole.cswap, half.cswap),
    }
}
