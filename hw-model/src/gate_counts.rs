//! The number of gates of each [`CircuitKind`], counted in the circuit that [`crate::circuit`] generates.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use pendula_isa::operand::OperandKind;
use pendula_isa::table::{By, Flow, Row, TableFn, Variant};
use pendula_isa::types::{Acc, Ty};

use crate::circuit::GateCounts;
use crate::circuit::kernels::{self, ValueCircuit};
use crate::circuit::part::{self, Accumulator, CircuitFn, Half, Part, generate, shares};
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

fn count(unit: CircuitKind, shape: Shape) -> GateCounts {
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
        CircuitKind::Row { row, ty, cond, form, inverse } => {
            instruction(row, Variant { ty, cond, form }, inverse, shape)
        }
        CircuitKind::Memory => memory(shape),
    }
}

/// An instruction that is no accumulate, without its access to memory.
fn instruction(row: Row, variant: Variant, inverse: bool, shape: Shape) -> GateCounts {
    let info = row.info();
    match info.flow {
        // The new top of the stack is clear.
        Flow::Straight if info.moves_sp => part(Part::Increment, shape) + part(Part::CheckZero, shape),
        Flow::Straight => {
            let frac = shape.frac as usize;
            match part::row_stand_ins(row, variant, shape.width as usize, frac) {
                Some(others) => {
                    let others: GateCounts = others.iter().map(|c| value(*c, shape)).sum();
                    part(Part::Row { row, variant, frac }, shape) + others
                }
                // What goes to the host or comes from it are words, not texts.
                None => {
                    let words = info.operands.iter().filter(|kind| **kind != OperandKind::Text).count();
                    part(Part::Host, shape) * words as u64
                }
            }
        }
        Flow::Run | Flow::Cell => GateCounts::default(),
        Flow::Jump => {
            let half = if inverse { Half::From } else { Half::Jump };
            part(Part::Branch(half, variant.ty, variant.cond), shape)
        }
        Flow::Procedure | Flow::Call | Flow::GradientCall | Flow::CallRegister => part(Part::Call, shape),
        Flow::Branch(By::Distance) => part(Part::BranchRegister(variant.cond), shape),
        Flow::Branch(By::Turn) => part(Part::BranchTurn, shape),
        Flow::Branch(By::Register) => part(Part::BranchSwap, shape),
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
