//! Units of work from parts that have circuits of their own: what is measured of the parts, gates or a netlist, adds up to that of the unit.

use std::iter::Sum;
use std::ops::Add;

use pendula_isa::extension::Extension;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::operand::OperandKind;
use pendula_isa::table::{By, Flow, Row, TableFn, Variant};
use pendula_isa::types::{Acc, Ty};

use crate::circuit::GateCounts;
use crate::circuit::kernels::{self, ValueCircuit};
use crate::circuit::part::{self, Accumulator, CircuitFn, Half, Part};
use crate::gate_counts::Shape;
use crate::work::CircuitKind;

/// What is measured of a circuit.
pub(crate) trait Measure: Copy + Default + Sum + Add<Output = Self> {
    /// This without a part of it, but never less than nothing.
    fn without(self, part: Self) -> Self;

    /// The fraction `part`/`whole` of it, rounded down.
    fn scaled(self, part: u64, whole: u64) -> Self;

    /// What decides which of two is less.
    fn size(&self) -> u64;
}

/// n · `part` / `whole`, rounded down.
pub(crate) fn scaled(n: u64, part: u64, whole: u64) -> u64 {
    u64::try_from(u128::from(n) * u128::from(part) / u128::from(whole.max(1))).unwrap_or(u64::MAX)
}

impl Measure for GateCounts {
    fn without(self, part: GateCounts) -> GateCounts {
        GateCounts {
            not: self.not.saturating_sub(part.not),
            cnot: self.cnot.saturating_sub(part.cnot),
            toffoli: self.toffoli.saturating_sub(part.toffoli),
            cswap: self.cswap.saturating_sub(part.cswap),
        }
    }

    fn scaled(self, part: u64, whole: u64) -> GateCounts {
        GateCounts {
            not: scaled(self.not, part, whole),
            cnot: scaled(self.cnot, part, whole),
            toffoli: scaled(self.toffoli, part, whole),
            cswap: scaled(self.cswap, part, whole),
        }
    }

    fn size(&self) -> u64 {
        self.total()
    }
}

/// Measures a unit by its parts. In conventional logic, a function is what stands before the exclusive or into its target.
pub(crate) fn measure<M: Measure>(unit: CircuitKind, shape: Shape, conventional: bool, of: &dyn Fn(Part) -> M) -> M {
    match unit {
        CircuitKind::Function { func, xor } => function(func, (xor, conventional), shape, of),
        CircuitKind::Defined { extension, .. } => defined(extension, conventional, shape, of),
        CircuitKind::Accumulator(acc, ty) => match (acc, ty) {
            (Acc::Xor, _) => of(Part::Accumulate(Accumulator::Xor, CircuitFn::Wire)),
            (Acc::Add, Ty::Int | Ty::Q | Ty::L) => of(Part::Accumulate(Accumulator::AddOrSubtract, CircuitFn::Wire)),
            // The sum into a clear word, an exchange, and the difference from the old one, which clears it except for
            // rounding.
            (Acc::Add, Ty::F) => kernel(kernels::FLOAT_ADD, shape, of).scaled(2, 1) + of(Part::Swap),
            (Acc::Mul, _) => of(Part::Accumulate(Accumulator::MultiplyLog, CircuitFn::Wire)),
        },
        CircuitKind::Row { row, ty, cond, form, inverse } => {
            instruction(row, Variant { ty, cond, form }, inverse, (shape, of))
        }
        CircuitKind::Memory => memory(shape, of),
    }
}

/// The sum of two doubles.
pub(crate) fn float_sum<M: Measure>(shape: Shape, of: &dyn Fn(Part) -> M) -> M {
    kernel(kernels::FLOAT_ADD, shape, of)
}

/// How a value enters the target of an instruction.
pub(crate) const fn accumulator(xor: bool) -> Accumulator {
    if xor { Accumulator::Xor } else { Accumulator::AddOrSubtract }
}

/// The unit by which the value of a function's unit enters the target, if it is one.
pub(crate) fn accumulator_unit(unit: CircuitKind) -> Option<CircuitKind> {
    let (ty, xor) = match unit {
        CircuitKind::Function { func, xor } => (func.info().ty, xor),
        CircuitKind::Defined { extension, xor } => (extension.info().definition.operand_type(0), xor),
        CircuitKind::Accumulator(..) | CircuitKind::Row { .. } | CircuitKind::Memory => return None,
    };
    let acc = match ty {
        _ if xor => Acc::Xor,
        Ty::L => Acc::Mul,
        Ty::Int | Ty::Q | Ty::F => Acc::Add,
    };
    Some(CircuitKind::Accumulator(acc, ty))
}

fn kernel<M: Measure>(kernel: ValueCircuit, shape: Shape, of: &dyn Fn(Part) -> M) -> M {
    of(Part::Accumulate(Accumulator::Xor, CircuitFn::Kernel { kernel, frac: shape.frac as usize }))
}

/// A kernel without the copy of its result.
fn value<M: Measure>(circuit: ValueCircuit, shape: Shape, of: &dyn Fn(Part) -> M) -> M {
    kernel(circuit, shape, of).without(of(Part::Accumulate(Accumulator::Xor, CircuitFn::Wire)))
}

/// A function without its accumulator, unless it is computed into the target.
fn function<M: Measure>(func: TableFn, (xor, conventional): (bool, bool), shape: Shape, of: &dyn Fn(Part) -> M) -> M {
    let (width, frac) = (shape.width as usize, shape.frac as usize);
    let others: M = part::stand_ins(func, width, frac).iter().map(|circuit| value(*circuit, shape, of)).sum();
    let computed = CircuitFn::Table { func, frac };
    let share = |accumulator| {
        let whole = of(Part::Accumulate(accumulator, computed));
        match part::is_fused(accumulator, computed, width) {
            true => whole,
            false => whole.without(of(Part::Accumulate(accumulator, CircuitFn::Wire))),
        }
    };
    // Doubles and logarithmic numbers are not added as integers are.
    let entered = if matches!(func.info().ty, Ty::F | Ty::L) { Accumulator::Xor } else { accumulator(xor) };
    if conventional && !part::is_fused(entered, computed, width) {
        let alone = of(Part::Accumulate(Accumulator::Xor, computed));
        return alone.without(of(Part::Accumulate(Accumulator::Xor, CircuitFn::Wire))) + others;
    }
    if part::is_fused(entered, computed, width) || part::is_fused(Accumulator::Xor, computed, width) {
        return share(entered) + others;
    }
    // What an adder of integers spends on a bit that occurs twice is not the function's.
    let own = [share(entered), share(Accumulator::Xor)].into_iter().min_by_key(Measure::size);
    own.unwrap_or_default() + others
}

/// A function by definition without its accumulator: the joined circuit of its steps. If one has no circuit, the circuits of the functions that
/// compute the value, and in reversible logic once more to undo it.
fn defined<M: Measure>(extension: Extension, conventional: bool, shape: Shape, of: &dyn Fn(Part) -> M) -> M {
    let whole = Part::Defined { extension, frac: shape.frac as usize };
    if part::generate(whole, shape.width as usize).is_ok() {
        return of(whole).without(of(Part::Accumulate(Accumulator::Xor, CircuitFn::Wire)));
    }
    let step = |step: &Inst| match step.kind {
        Kind::Accumulate { func, .. } => function(func, (true, conventional), shape, of),
        Kind::Row { .. } | Kind::Extension { .. } => M::default(),
    };
    let there: M = extension.info().definition.steps.iter().map(step).sum();
    if conventional { there } else { there + there }
}

/// An instruction that is no accumulate, without its access to memory.
fn instruction<M: Measure>(row: Row, variant: Variant, inverse: bool, (shape, of): (Shape, &dyn Fn(Part) -> M)) -> M {
    let info = row.info();
    match info.flow {
        // The new top of the stack is clear.
        Flow::Straight if info.moves_sp => of(Part::Increment) + of(Part::CheckZero),
        Flow::Straight => {
            let frac = shape.frac as usize;
            match part::row_stand_ins(row, variant, shape.width as usize, frac) {
                Some(others) => {
                    let others: M = others.iter().map(|c| value(*c, shape, of)).sum();
                    of(Part::Row { row, variant, frac }) + others
                }
                // What goes to the host or comes from it are words, not texts.
                None => {
                    let words = info.operands.iter().filter(|kind| **kind != OperandKind::Text).count();
                    of(Part::Host).scaled(words as u64, 1)
                }
            }
        }
        Flow::Run | Flow::Cell => M::default(),
        Flow::Jump => {
            let half = if inverse { Half::From } else { Half::Jump };
            of(Part::Branch(half, variant.ty, variant.cond))
        }
        Flow::Procedure | Flow::Call | Flow::GradientCall | Flow::CallRegister => of(Part::Call),
        Flow::Branch(By::Distance) => of(Part::BranchRegister(variant.cond)),
        Flow::Branch(By::Turn) => of(Part::BranchTurn),
        Flow::Branch(By::Register) => of(Part::BranchSwap),
    }
}

/// The maximum number of words for which an access is laid out.
const LAID_OUT: u64 = 256;

/// An access to a memory. If it is too large to lay out, it is extrapolated from two smaller ones: a few gates at the top of the tree do not
/// depend on the number of words, the others are proportional to it. So are the levels, which iterate over the addresses.
fn memory<M: Measure>(shape: Shape, of: &dyn Fn(Part) -> M) -> M {
    let of = |words: u64| of(Part::Memory { words: words as usize });
    let words = shape.memory.max(1);
    if words <= LAID_OUT {
        return of(words);
    }
    let (half, whole) = (of(LAID_OUT / 2), of(LAID_OUT));
    whole + whole.without(half).scaled(words - LAID_OUT, LAID_OUT / 2)
}
