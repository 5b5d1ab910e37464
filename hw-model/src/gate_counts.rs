//! The circuit of each [`CircuitKind`]: how many gates it has, read off the circuit
//! that [`crate::circuit`] generates.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use pendula_isa::table::{Func, Row, f_fn, int_fn, l_fn, q_fn};
use pendula_isa::types::{Acc, Cond, Ty};

use crate::circuit::kernels::{Formats, Kernel};
use crate::circuit::part::{Accumulator, Function, Half, InPlace, Part, generate, is_fused as fused, shares};
use crate::circuit::{Circuit, GateCounts};
use crate::work::CircuitKind;

/// What decides a circuit beside its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Bits in a word.
    pub width: u32,
    /// Fraction bits of fixed-point numbers.
    pub frac: u32,
    /// Words of memory.
    pub memory: u64,
}

/// How a function of the table is built.
enum Built {
    /// As a part.
    Part(Function),
    /// As a kernel.
    Kernel(Kernel),
    /// Of several kernels, one after the other: what stands in for a function of doubles that has no circuit of its own.
    Kernels(&'static [Kernel]),
}

/// Whether a function goes straight into its target, so that there is no accumulator apart from it.
pub(crate) fn is_fused(func: Func, xor: bool) -> bool {
    let accumulator = if xor { Accumulator::Xor } else { Accumulator::AddOrSubtract };
    match built(func, 0) {
        Built::Part(function) => fused(accumulator, function),
        Built::Kernel(_) | Built::Kernels(_) => false,
    }
}

fn built(func: Func, frac: usize) -> Built {
    use Built::{Kernel as K, Part as P};
    match func {
        Func::Int(f) => match f {
            int_fn::Fn::Id => P(Function::Wire),
            int_fn::Fn::Plus => P(Function::Sum),
            int_fn::Fn::Minus => P(Function::Difference),
            int_fn::Fn::Mul => P(Function::Multiply),
            int_fn::Fn::Udiv => K(Kernel::UnsignedQuotient),
            int_fn::Fn::Umod => K(Kernel::UnsignedRemainder),
            int_fn::Fn::Pow => K(Kernel::IntPower),
            int_fn::Fn::Quot => P(Function::Quotient),
            int_fn::Fn::Rem => P(Function::Remainder),
            int_fn::Fn::Div => P(Function::QuotientDown),
            int_fn::Fn::Mod => P(Function::Modulo),
            int_fn::Fn::And => P(Function::And),
            int_fn::Fn::Or => P(Function::Or),
            int_fn::Fn::Nor => P(Function::Nor),
            int_fn::Fn::Shl => P(Function::ShiftLeft),
            int_fn::Fn::Shr => P(Function::ShiftRight),
            int_fn::Fn::Sar => P(Function::ShiftRightSigned),
            int_fn::Fn::Shl32 => P(Function::ShiftLeft32),
            int_fn::Fn::Shr32 => P(Function::ShiftRight32),
            int_fn::Fn::Sar32 => P(Function::ShiftRightSigned32),
            int_fn::Fn::Lt | int_fn::Fn::LtQ => P(Function::Less),
            int_fn::Fn::Ltu => P(Function::LessUnsigned),
            int_fn::Fn::Eq | int_fn::Fn::EqQ => P(Function::Equal),
            int_fn::Fn::LtL => P(Function::LogLess),
            int_fn::Fn::EqL => P(Function::LogEqual),
            int_fn::Fn::LtF => P(Function::FloatLess),
            int_fn::Fn::EqF => P(Function::FloatEqual),
            int_fn::Fn::Min => P(Function::Min),
            int_fn::Fn::Max => P(Function::Max),
            int_fn::Fn::CvtQ => K(Kernel::FixedToInt),
            int_fn::Fn::CvtL => K(Kernel::LogToInt),
            int_fn::Fn::CvtF => K(Kernel::FloatToInt),
        },
        Func::Q(f) => match f {
            q_fn::Fn::Id => P(Function::Wire),
            q_fn::Fn::Plus => P(Function::Sum),
            q_fn::Fn::Minus => P(Function::Difference),
            q_fn::Fn::Prod => P(Function::Multiply),
            q_fn::Fn::IntPow => K(Kernel::IntPower),
            q_fn::Fn::Mul => P(Function::FixedMultiply { frac }),
            q_fn::Fn::Div => P(Function::FixedDivide { frac }),
            q_fn::Fn::Muladd => P(Function::FixedMultiplyAdd { frac }),
            q_fn::Fn::CvtI => K(Kernel::IntToFixed),
            q_fn::Fn::CvtL => K(Kernel::LogToFixed),
            q_fn::Fn::CvtF => K(Kernel::FloatToFixed),
            q_fn::Fn::LogL => K(Kernel::LogOfLog),
            q_fn::Fn::Inv => P(Function::FixedInverse { frac }),
            q_fn::Fn::Pow => K(Kernel::FixedPow),
            q_fn::Fn::Powi => K(Kernel::FixedPowi),
            q_fn::Fn::Exp => K(Kernel::FixedExp),
            q_fn::Fn::Log => K(Kernel::FixedLog),
            q_fn::Fn::Log2 => K(Kernel::FixedLog2),
            q_fn::Fn::Sqrt => K(Kernel::FixedSqrt),
            q_fn::Fn::Sin => K(Kernel::FixedSin),
            q_fn::Fn::Cos => K(Kernel::FixedCos),
            q_fn::Fn::Tan => K(Kernel::FixedTan),
            q_fn::Fn::Asin => K(Kernel::FixedAsin),
            q_fn::Fn::Acos => K(Kernel::FixedAcos),
            q_fn::Fn::Atan => K(Kernel::FixedAtan),
            q_fn::Fn::Atan2 => K(Kernel::FixedAtan2),
            q_fn::Fn::Sinh => K(Kernel::FixedSinh),
            q_fn::Fn::Cosh => K(Kernel::FixedCosh),
            q_fn::Fn::Tanh => K(Kernel::FixedTanh),
            q_fn::Fn::Abs => P(Function::Magnitude),
            q_fn::Fn::Sign => P(Function::Sign { frac }),
            q_fn::Fn::Min => P(Function::Min),
            q_fn::Fn::Max => P(Function::Max),
            q_fn::Fn::Relu => P(Function::Positive),
            q_fn::Fn::Floor => P(Function::Floor { frac }),
            q_fn::Fn::Hypot => K(Kernel::FixedHypot),
        },
        Func::L(f) => match f {
            l_fn::Fn::Id => P(Function::Wire),
            l_fn::Fn::Mul => P(Function::LogProduct),
            l_fn::Fn::Div => P(Function::LogQuotient),
            l_fn::Fn::Inv => P(Function::LogInverse),
            l_fn::Fn::Pow => K(Kernel::LogPow),
            l_fn::Fn::Plus => K(Kernel::LogPlus),
            l_fn::Fn::Minus => K(Kernel::LogMinus),
            l_fn::Fn::CvtI => K(Kernel::IntToLog),
            l_fn::Fn::CvtQ => K(Kernel::FixedToLog),
            l_fn::Fn::CvtF => K(Kernel::FloatToLog),
        },
        Func::F(f) => match f {
            f_fn::Fn::Id => P(Function::Wire),
            // A difference is a sum but for the sign of b: two NOT.
            f_fn::Fn::Plus | f_fn::Fn::Minus => K(Kernel::FloatAdd),
            f_fn::Fn::Mul => K(Kernel::FloatMultiply),
            f_fn::Fn::Div | f_fn::Fn::Inv => K(Kernel::FloatDivide),
            f_fn::Fn::Muladd => K(Kernel::FloatMultiplyAdd),
            f_fn::Fn::CvtI => K(Kernel::IntToFloat),
            f_fn::Fn::CvtQ => K(Kernel::FixedToFloat),
            f_fn::Fn::CvtL => K(Kernel::LogToFloat),
            f_fn::Fn::Sqrt => K(Kernel::FloatSqrt),
            f_fn::Fn::Exp => K(Kernel::FloatExp),
            f_fn::Fn::Log => K(Kernel::FloatLog),
            f_fn::Fn::Sin => K(Kernel::FloatSin),
            f_fn::Fn::Cos => K(Kernel::FloatCos),
            // The others by their definitions; arc functions as the sine, whose tables and polynomials are of their size.
            f_fn::Fn::Hypot => Built::Kernels(&[Kernel::FloatMultiply, Kernel::FloatMultiplyAdd, Kernel::FloatSqrt]),
            f_fn::Fn::Sinh | f_fn::Fn::Cosh | f_fn::Fn::Tanh => {
                Built::Kernels(&[Kernel::FloatExp, Kernel::FloatDivide, Kernel::FloatAdd])
            }
            f_fn::Fn::Log2 => Built::Kernels(&[Kernel::FloatLog, Kernel::FloatMultiply]),
            f_fn::Fn::Pow | f_fn::Fn::Powi => {
                Built::Kernels(&[Kernel::FloatLog, Kernel::FloatMultiply, Kernel::FloatExp])
            }
            f_fn::Fn::Tan => Built::Kernels(&[Kernel::FloatSin, Kernel::FloatCos, Kernel::FloatDivide]),
            f_fn::Fn::Asin | f_fn::Fn::Acos => {
                Built::Kernels(&[Kernel::FloatMultiplyAdd, Kernel::FloatSqrt, Kernel::FloatSin])
            }
            f_fn::Fn::Atan => K(Kernel::FloatSin),
            f_fn::Fn::Atan2 => Built::Kernels(&[Kernel::FloatDivide, Kernel::FloatSin]),
            f_fn::Fn::Floor => Built::Kernels(&[Kernel::FloatToInt, Kernel::IntToFloat]),
            f_fn::Fn::Abs => P(Function::Magnitude),
            f_fn::Fn::Sign => P(Function::Sign { frac }),
            f_fn::Fn::Min => P(Function::Min),
            f_fn::Fn::Max => P(Function::Max),
            f_fn::Fn::Relu => P(Function::Positive),
        },
    }
}

/// The gates of a unit's circuit.
///
/// A unit that is made of several circuits has the sum of their gates. A memory too large to lay out gate by gate has
/// those of two smaller ones, extended: their number is linear in the number of words.
pub fn gates(unit: CircuitKind, shape: Shape) -> GateCounts {
    static KNOWN: OnceLock<Mutex<HashMap<(CircuitKind, Shape), GateCounts>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    // A memory's size matters to an access only.
    let shape = if unit == CircuitKind::Memory { shape } else { Shape { memory: 0, ..shape } };
    if let Ok(known) = known.lock()
        && let Some(counts) = known.get(&(unit, shape))
    {
        return *counts;
    }
    let counts = count(unit, shape);
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
        CircuitKind::Function { func, xor } => match built(func, shape.frac as usize) {
            Built::Part(Function::Wire) => nothing,
            Built::Part(function) => {
                let accumulator = if xor { Accumulator::Xor } else { Accumulator::AddOrSubtract };
                shares(accumulator, function, width).map(|s| s.function).unwrap_or_default()
            }
            Built::Kernel(k) => value(k, shape),
            Built::Kernels(all) => all.iter().map(|k| value(*k, shape)).sum(),
        },
        CircuitKind::Accumulator(acc, ty) => match (acc, ty) {
            (Acc::Xor, _) => part(Part::Accumulate(Accumulator::Xor, Function::Wire), shape),
            (Acc::Add, Ty::Int | Ty::Q | Ty::L) => {
                part(Part::Accumulate(Accumulator::AddOrSubtract, Function::Wire), shape)
            }
            // The sum into a clear word, an exchange, and the difference from the old one, which clears it but for the rounding.
            (Acc::Add, Ty::F) => kernel(Kernel::FloatAdd, shape).counts() * 2 + part(Part::Swap, shape),
            (Acc::Mul, _) => part(Part::Accumulate(Accumulator::MultiplyLog, Function::Wire), shape),
        },
        CircuitKind::Row { row, ty, cond, form, inverse } => match row {
            Row::Swap | Row::Gswap => part(Part::Swap, shape),
            // The access to memory exchanges.
            Row::Exch | Row::Exch32 => nothing,
            // The stack pointer moves, and the word that is pushed onto is clear.
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
            // |x| ≤ tolerance, as the comparison of two words.
            Row::ZeroWithin => part(Part::Check(Cond::Le), shape),
            Row::Emit | Row::Read | Row::Show => part(Part::Host, shape),
            Row::Print | Row::Erase | Row::Start => nothing,
            Row::Rot => match ty {
                Ty::Q => part(Part::Rotation { frac: shape.frac as usize }, shape),
                Ty::Int | Ty::L | Ty::F => {
                    // Sine and cosine, four products, two sums, and as much again to clear the old coordinates.
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
            // Control never comes to it.
            Row::Cell => nothing,
        },
        CircuitKind::Memory => memory(shape),
    }
}

/// Words of memory up to which an access is laid out.
const LAID_OUT: u64 = 256;

fn memory(shape: Shape) -> GateCounts {
    let of = |words: u64| part(Part::Memory { words: words as usize }, shape);
    let words = shape.memory.max(1);
    if words <= LAID_OUT {
        return of(words);
    }
    let (half, whole) = (of(LAID_OUT / 2), of(LAID_OUT));
    // A few gates at the top of the tree do not grow.
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
