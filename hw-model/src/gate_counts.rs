//! The circuit of each [`CircuitKind`]: how many gates it has, read off the circuit
//! that [`crate::circuit`] generates.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use pendula_isa::table::{Row, TableFn, f_fn, int_fn, l_fn, q_fn};
use pendula_isa::types::{Acc, Cond, Ty};

use crate::circuit::kernels::{Formats, Kernel};
use crate::circuit::part::{Accumulator, CircuitFn, Half, InPlace, Part, generate, is_fused as fused, shares};
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
    Part(CircuitFn),
    /// As a kernel.
    Kernel(Kernel),
    /// Of several kernels, one after the other: what stands in for a function of doubles that has no circuit of its own.
    Kernels(&'static [Kernel]),
}

/// Whether a function goes straight into its target, so that there is no accumulator apart from it.
pub(crate) fn is_fused(func: TableFn, xor: bool) -> bool {
    let accumulator = if xor { Accumulator::Xor } else { Accumulator::AddOrSubtract };
    match built(func, 0) {
        Built::Part(function) => fused(accumulator, function),
        Built::Kernel(_) | Built::Kernels(_) => false,
    }
}

fn built(func: TableFn, frac: usize) -> Built {
    use Built::{Kernel as K, Part as P};
    match func {
        TableFn::Int(f) => match f {
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
        },
        TableFn::Q(f) => match f {
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
        },
        TableFn::L(f) => match f {
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
        },
        TableFn::F(f) => match f {
            f_fn::Name::Id => P(CircuitFn::Wire),
            // A difference is a sum but for the sign of b: two NOT.
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
            // The others by their definitions; arc functions as the sine, whose tables and polynomials are of their size.
            f_fn::Name::Hypot => Built::Kernels(&[Kernel::FloatMultiply, Kernel::FloatMultiplyAdd, Kernel::FloatSqrt]),
            f_fn::Name::Sinh | f_fn::Name::Cosh | f_fn::Name::Tanh => {
                Built::Kernels(&[Kernel::FloatExp, Kernel::FloatDivide, Kernel::FloatAdd])
            }
            f_fn::Name::Log2 => Built::Kernels(&[Kernel::FloatLog, Kernel::FloatMultiply]),
            f_fn::Name::Pow | f_fn::Name::Powi => {
                Built::Kernels(&[Kernel::FloatLog, Kernel::FloatMultiply, Kernel::FloatExp])
            }
            f_fn::Name::Tan => Built::Kernels(&[Kernel::FloatSin, Kernel::FloatCos, Kernel::FloatDivide]),
            f_fn::Name::Asin | f_fn::Name::Acos => {
                Built::Kernels(&[Kernel::FloatMultiplyAdd, Kernel::FloatSqrt, Kernel::FloatSin])
            }
            f_fn::Name::Atan => K(Kernel::FloatSin),
            f_fn::Name::Atan2 => Built::Kernels(&[Kernel::FloatDivide, Kernel::FloatSin]),
            f_fn::Name::Floor => Built::Kernels(&[Kernel::FloatToInt, Kernel::IntToFloat]),
            f_fn::Name::Abs => P(CircuitFn::Magnitude),
            f_fn::Name::Sign => P(CircuitFn::Sign { frac }),
            f_fn::Name::Min => P(CircuitFn::Min),
            f_fn::Name::Max => P(CircuitFn::Max),
            f_fn::Name::Relu => P(CircuitFn::Positive),
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
        CircuitKind::Function { func, xor } => match built(func, shape.frac as usize) {
            Built::Part(CircuitFn::Wire) => nothing,
            Built::Part(function) => {
                let accumulator = if xor { Accumulator::Xor } else { Accumulator::AddOrSubtract };
                shares(accumulator, function, width).map(|s| s.function).unwrap_or_default()
            }
            Built::Kernel(k) => value(k, shape),
            Built::Kernels(all) => all.iter().map(|k| value(*k, shape)).sum(),
        },
        CircuitKind::Accumulator(acc, ty) => match (acc, ty) {
            (Acc::Xor, _) => part(Part::Accumulate(Accumulator::Xor, CircuitFn::Wire), shape),
            (Acc::Add, Ty::Int | Ty::Q | Ty::L) => {
                part(Part::Accumulate(Accumulator::AddOrSubtract, CircuitFn::Wire), shape)
            }
            // The sum into a clear word, an exchange, and the difference from the old one, which clears it but for the rounding.
            (Acc::Add, Ty::F) => kernel(Kernel::FloatAdd, shape).counts() * 2 + part(Part::Swap, shape),
            (Acc::Mul, _) => part(Part::Accumulate(Accumulator::MultiplyLog, CircuitFn::Wire), shape),
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
