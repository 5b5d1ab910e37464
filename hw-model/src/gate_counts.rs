//! The number of gates of each [`CircuitKind`], counted in the circuit that [`crate::circuit`] generates.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use pendula_isa::table::{Row, TableFn};
use pendula_isa::types::{Acc, Cond, Ty};

use crate::circuit::GateCounts;
use crate::circuit::kernels::{self, ValueCircuit};
use crate::circuit::part::{self, Accumulator, CircuitFn, Half, InPlace, Part, generate, shares};
use crate::work::CircuitKind;

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

/// Whether a function is computed directly into its target, so that there is no separate accumulator.
pub(crate) fn is_fused(func: TableFn, xor: bool) -> bool {
    static KNOWN: OnceLock<Mutex<HashMap<(TableFn, bool), bool>>> = OnceLock::new();
    let fused = || part::is_fused(accumulator(xor), CircuitFn::Table { func, frac: 32 }, 64);
    match KNOWN.get_or_init(Mutex::default).lock() {
        Ok(mut known) => *known.entry((func, xor)).or_insert_with(fused),
        Err(_) => fused(),
    }
}

const fn accumulator(xor: bool) -> Accumulator {
    if xor { Accumulator::Xor } else { Accumulator::AddOrSubtract }
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

fn kernel(kernel: ValueCircuit, shape: Shape) -> GateCounts {
    part(Part::Accumulate(Accumulator::Xor, CircuitFn::Kernel { kernel, frac: shape.frac as usize }), shape)
}

/// A kernel without the copy of its result.
fn value(circuit: ValueCircuit, shape: Shape) -> GateCounts {
    kernel(circuit, shape) - GateCounts { cnot: u64::from(shape.width), ..GateCounts::default() }
}

/// A function without its accumulator, unless it is computed into the target.
fn function(func: TableFn, xor: bool, shape: Shape) -> GateCounts {
    let (width, frac) = (shape.width as usize, shape.frac as usize);
    let others: GateCounts = part::stand_ins(func, width, frac).iter().map(|circuit| value(*circuit, shape)).sum();
    let of = CircuitFn::Table { func, frac };
    let share = |accumulator| shares(accumulator, of, width).map(|s| s.function).unwrap_or_default();
    // Doubles and logarithmic numbers are not added as integers are.
    let entered = if matches!(func.info().ty, Ty::F | Ty::L) { Accumulator::Xor } else { accumulator(xor) };
    if part::is_fused(entered, of, width) || part::is_fused(Accumulator::Xor, of, width) {
        return share(entered) + others;
    }
    // What an adder of integers spends on a bit that occurs twice is not the function's.
    let own = [share(entered), share(Accumulator::Xor)].into_iter().min_by_key(|gates| gates.total());
    own.unwrap_or_default() + others
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
    match unit {
        CircuitKind::Function { func, xor } => function(func, xor, shape),
        CircuitKind::Accumulator(acc, ty) => match (acc, ty) {
            (Acc::Xor, _) => part(Part::Accumulate(Accumulator::Xor, CircuitFn::Wire), shape),
            (Acc::Add, Ty::Int | Ty::Q | Ty::L) => {
                part(Part::Accumulate(Accumulator::AddOrSubtract, CircuitFn::Wire), shape)
            }
            // The sum into a clear word, an exchange, and the difference from the old one, which clears it except for
            // rounding.
            (Acc::Add, Ty::F) => kernel(kernels::FLOAT_ADD, shape) * 2 + part(Part::Swap, shape),
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
                    let product = value(kernels::FLOAT_MULTIPLY, shape) * 4;
                    let sum = value(kernels::FLOAT_ADD, shape) * 2;
                    let angle = value(kernels::FLOAT_SIN, shape) + value(kernels::FLOAT_COS, shape);
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
