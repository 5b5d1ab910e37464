//! The parts of instructions, each with its circuit.
//!
//! | instruction | parts |
//! |---|---|
//! | an accumulate | [`Part::Accumulate`] of a [`CircuitFn`] by an [`Accumulator`] |
//! | one that exchanges, complements, counts, rotates, scales, calls, talks to the host or erases | the part of that name; for a negation [`Part::Negate`], [`Part::NegateLog`] |
//! | `rol`, `rot` | [`Part::Rotate`], [`Part::RotateBy`]; [`Part::Rotation`], whose shears alone are [`Part::Shears`] |
//! | sums, negations, rotations of integers of fewer bits than a word | [`Part::Narrow`] |
//! | a jump, a check | [`Part::Branch`], [`Part::BranchRegister`], [`Part::BranchTurn`], [`Part::BranchSwap`], [`Part::Check`], [`Part::CheckLog`], [`Part::CheckFloat`], [`Part::CheckZero`] |
//!
//! The circuits of functions come from the table (see `lifted.rs`). Every value enters its target by [`accumulate`].

use pendula_isa::table::TableFn;
use pendula_isa::{Cond, Ty};

use super::kernels::{self, Formats, Outcome, ValueCircuit, compare, log};
use super::lifted::Lifted;
use super::{Bit, Builder, Circuit, GateCounts, Role, Word};

mod control;
mod fixed;
mod function;
mod integer;

pub use function::CircuitFn;

/// How a function's value enters the target: ⊕ of `y ⊕= f(x…)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accumulator {
    /// `y ^= f`.
    Xor,
    /// `y += f`; backward `y -= f`.
    Add,
    /// `y += f`, or `y -= f` if the register `direction` is 1: the machine's adder, which works in both directions.
    AddOrSubtract,
    /// `y *= f` of logarithmic numbers, or `y /= f` if the register `direction` is 1.
    MultiplyLog,
}

/// One half of a pair of jumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// `jmp`: the condition goes into the bit `taken`, which then controls the update of `pc`.
    Jump,
    /// `from`: the condition goes into the bit `taken`, which it clears if the pair is consistent.
    From,
}

/// An operation on a narrow integer in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InPlace {
    /// `y += a`, or `y -= a` if `direction` is 1.
    Add,
    /// `y = -y`.
    Negate,
    /// Rotates `y` to the left by the amount in `a`. Backward, to the right.
    Rotate,
    /// Rotates `y` to the left by a constant.
    RotateBy(usize),
}

/// A part of an instruction that has its own circuit.
///
/// For an accumulate, `y ⊕= f(x…)`, the part is the whole instruction except for its access to memory: the function is
/// computed, accumulated and computed backward. [`shares`] divides the cost among the gate classes of the function and
/// of the accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// `y ⊕= f(a[, b[, c]])`.
    Accumulate(Accumulator, CircuitFn),
    /// Complements every bit of `y`.
    Not,
    /// `y += 1`, or `y -= 1` if `direction` is 1.
    Increment,
    /// `y = -y`.
    Negate,
    /// Changes the sign of a logarithmic number `y`, unless it is zero. Traps if the word is not a number.
    NegateLog,
    /// Exchanges `x` and `y`.
    Swap,
    /// Rotates `y` to the left by the amount in `a`, modulo the width. Backward, to the right.
    Rotate,
    /// Rotates `y` to the left by a constant: wiring.
    RotateBy(usize),
    /// An operation on the integer in the low bits of `y`, or in the whole word if that has fewer bits. If the integer
    /// is signed, the bits above take up its old sign and its new one.
    Narrow {
        /// The number of bits of the integer.
        bits: usize,
        /// Whether it is signed.
        signed: bool,
        /// The operation.
        what: InPlace,
    },
    /// Multiplies `x` by `num`/`den` with the information buffer `buf`, all signed; backward it divides. Traps if a
    /// factor is not positive or a result does not fit.
    Scale,
    /// Adds to each of `x` and `y` a multiple of the other, three times, after quarter turns. These are the shears of a
    /// rotation, whose coefficients are operands.
    Shears,
    /// Rotates the point (`x`, `y`) of fixed-point numbers by `angle`. The sine of the angle and the tangent of its
    /// half are computed, used in quarter turns and shears, and computed backward. Backward it rotates back.
    Rotation {
        /// Fraction bits.
        frac: usize,
    },
    /// Exchanges `r` with one of this many words of memory, by the address in `a`. Traps if there is no such word.
    Memory {
        /// Words of memory.
        words: usize,
    },
    /// One half of a pair of jumps, which compares `a` and `b`.
    Branch(Half, Cond),
    /// A jump that compares `a` and `b`, and the `from` at its target, which compares `c` and `d`. Traps if they do not
    /// agree.
    BranchPair(Cond, Cond),
    /// Adds `offset` to the branch register `br` if the condition holds between `a` and `b`, and `br` to `pc`.
    BranchRegister(Cond),
    /// Adds `offset` to the branch register `br`, and `br` to `pc`, and complements the direction `dir`.
    BranchTurn,
    /// Exchanges `r` with the branch register `br`, and adds the latter to `pc`.
    BranchSwap,
    /// Enters the procedure `to`: exchanges `pc` with `link`, which becomes the address after the call. Traps unless
    /// `link` is clear. Backward it returns.
    Call,
    /// Traps unless the condition holds between `a` and `b`.
    Check(Cond),
    /// As [`Part::Check`], for logarithmic numbers. Also traps for words that are not numbers.
    CheckLog(Cond),
    /// As [`Part::Check`], for floating-point numbers of the width's format. Also traps for NaN.
    CheckFloat(Cond),
    /// Traps unless `a` is zero.
    CheckZero,
    /// Copies a word onto the lines of a link to the host.
    Host,
    /// Erases a word. There is no circuit: each of its bits is information lost.
    Erase,
}

/// Why a part has no circuit of some width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// A width that the part does not support.
    #[error("{part:?} has no circuit for words of {width} bits: {requirement}")]
    Width {
        /// The part.
        part: Part,
        /// The width.
        width: usize,
        /// The supported widths.
        requirement: &'static str,
    },
}

/// The circuit of a part for words of `width` bits. Its registers have the names that the parts' descriptions use.
///
/// # Errors
/// A width below 1, one that is not a power of two for shifts and rotations, one below 4 for logarithmic numbers or
/// below 2 for signed division and scaling; fraction bits that are not fewer than the width; for kernels and
/// floating-point numbers, a width that is not from 8 to 64.
pub fn generate(part: Part, width: usize) -> Result<Circuit, PartError> {
    if let Some(requirement) = width_problem(part, width) {
        return Err(PartError::Width { part, width, requirement });
    }
    let mut b = Builder::new(&part.name());
    match part {
        Part::Accumulate(accumulator, function) => accumulate_function(&mut b, accumulator, function, width),
        Part::Not => {
            let y = b.register("y", Role::Target, width);
            b.complement(&y);
        }
        Part::Increment => {
            let y = b.register("y", Role::Target, width);
            let direction = b.register("direction", Role::Control, 1);
            b.add_or_subtract(direction[0], &[Bit::ONE], &y);
        }
        Part::Negate => {
            let y = b.register("y", Role::Target, width);
            b.negate(&y);
        }
        Part::NegateLog => log::negate(&mut b, width),
        Part::Swap => {
            let x = b.register("x", Role::Target, width);
            let y = b.register("y", Role::Target, width);
            b.swap(&x, &y);
        }
        Part::Rotate => {
            let a = b.register("a", Role::Operand, width);
            let y = b.register("y", Role::Target, width);
            b.rotate_left(&a, &y);
        }
        Part::RotateBy(amount) => {
            let y = b.register("y", Role::Target, width);
            b.ends_at("y", &y.rotated_left(amount));
        }
        Part::Narrow { bits, signed, what } => integer::narrow(&mut b, bits, signed, what, width),
        Part::Scale => integer::scale(&mut b, width),
        Part::Shears => fixed::shears(&mut b, width),
        Part::Rotation { frac } => kernels::rotation(&mut b, Formats::new(width, frac).fixed),
        Part::Memory { words } => control::memory(&mut b, words, width),
        Part::Branch(half, cond) => control::branch(&mut b, half, cond, width),
        Part::BranchPair(jump, from) => control::branch_pair(&mut b, jump, from, width),
        Part::BranchRegister(cond) => control::branch_register(&mut b, cond, width),
        Part::BranchTurn => control::branch_turn(&mut b, width),
        Part::BranchSwap => control::branch_swap(&mut b, width),
        Part::Call => control::call(&mut b, width),
        Part::Check(cond) => control::check(&mut b, cond, width),
        Part::CheckLog(cond) => log::COMPARISON.check(&mut b, cond, width),
        Part::CheckFloat(cond) => compare::COMPARISON.check(&mut b, cond, width),
        Part::CheckZero => {
            let a = b.register("a", Role::Operand, width);
            let trap = b.register("trap", Role::Trap, 1);
            b.xor_none(&a, trap[0]);
            b.not(trap[0]);
        }
        Part::Host => {
            let a = b.register("a", Role::Operand, width);
            let link = b.register("link", Role::Target, width);
            b.xor(&a, &link);
        }
        Part::Erase => {
            b.register("a", Role::Lost, width);
        }
    }
    Ok(b.finish())
}

/// The reason why a width is not supported, if there is one.
fn width_problem(part: Part, width: usize) -> Option<&'static str> {
    let power = (!width.is_power_of_two()).then_some("the width must be a power of two");
    let least = |n, requirement| (width < n).then_some(requirement);
    let fraction = |frac: usize| (frac >= width).then_some("the fraction must be shorter than the word");
    let logarithm = || least(4, "a logarithmic number has 4 bits or more");
    let float = || (!(8..=64).contains(&width)).then_some("a floating-point number has 8 to 64 bits");
    let kernel = |frac: usize| {
        let format =
            "a kernel's words have 8 to 64 bits, of which 1 to 48, and no more than the width less 2, are fraction";
        (!(8..=64).contains(&width) || !(1..=48.min(width - 2)).contains(&frac)).then_some(format)
    };
    let special = match part {
        Part::Accumulate(_, CircuitFn::Kernel { frac, .. }) | Part::Rotation { frac } => kernel(frac),
        Part::Accumulate(_, CircuitFn::Table { func, frac }) => {
            let fixed = [func.info().ty, func.info().from].contains(&Ty::Q);
            let valid = frac < width && (1..=64).contains(&width) && !(fixed && frac == 0);
            let lifted = valid.then(|| Lifted::new(func, Formats::new(width, frac)));
            match lifted {
                None if fixed && frac == 0 => Some("a fixed-point number has fraction bits"),
                None => fraction(frac).or(float()),
                Some(lifted) if lifted.has_formats() => kernel(frac),
                Some(lifted) if lifted.compares_doubles() => float(),
                Some(lifted) if lifted.has_kernels() => least(4, "a kernel's words have 4 bits or more"),
                Some(lifted) if lifted.shifts() => power,
                Some(_) => None,
            }
        }
        Part::Rotate => power,
        Part::Narrow { bits, what: InPlace::Rotate, .. } => {
            (!bits.min(width).is_power_of_two()).then_some("the integer's bits must be a power of two")
        }
        Part::Narrow { bits: 0, .. } => Some("an integer has a bit"),
        Part::CheckFloat(_) => float(),
        Part::NegateLog | Part::CheckLog(_) => logarithm(),
        Part::Accumulate(Accumulator::MultiplyLog, _) => logarithm(),
        Part::Scale => least(2, "signed words have 2 bits or more"),
        Part::Memory { words } => {
            let many = words.checked_next_power_of_two().is_none_or(|n| n.ilog2() as usize > width);
            (words == 0 || many).then_some("an address must be able to say each word of memory")
        }
        _ => None,
    };
    least(1, "a word has a bit").or(special)
}

impl Part {
    /// The circuit's name, an identifier.
    fn name(self) -> String {
        let text = format!("{self:?}");
        let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
        words.collect::<Vec<_>>().join("_").to_lowercase()
    }
}

/// The cost of an accumulate, `y ⊕= f(x…)`, by gate class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// The cost of the function's class: computing it and computing it backward.
    pub function: GateCounts,
    /// The cost of the accumulator's class.
    pub accumulator: GateCounts,
}

/// Divides the cost of an accumulate. The shares add up to the circuit of the whole.
///
/// Usually the function is computed on ancillas, accumulated and computed backward. Then the share of the accumulator
/// is its circuit for an existing word ([`CircuitFn::Wire`]), but of no kind of gate more than the whole has (a bit or
/// a word with known zeros is cheaper to add); the rest is the share of the function. If the function is computed
/// directly into the target ([`is_fused`]), there is no separate accumulator, and the whole is the share of the
/// function.
///
/// # Errors
/// As [`generate`].
pub fn shares(accumulator: Accumulator, function: CircuitFn, width: usize) -> Result<Shares, PartError> {
    let whole = generate(Part::Accumulate(accumulator, function), width)?.counts();
    if is_fused(accumulator, function, width) {
        return Ok(Shares { function: whole, accumulator: GateCounts::default() });
    }
    let alone = generate(Part::Accumulate(accumulator, CircuitFn::Wire), width)?.counts();
    let accumulator = GateCounts {
        not: alone.not.min(whole.not),
        cnot: alone.cnot.min(whole.cnot),
        toffoli: alone.toffoli.min(whole.toffoli),
        cswap: alone.cswap.min(whole.cswap),
    };
    Ok(Shares { function: whole - accumulator, accumulator })
}

/// Whether the function is computed directly into the target, so that there is no separate accumulator.
pub fn is_fused(accumulator: Accumulator, function: CircuitFn, width: usize) -> bool {
    match function {
        CircuitFn::Table { func, frac } => Lifted::new(func, Formats::new(width, frac)).is_fused(accumulator),
        CircuitFn::Wire | CircuitFn::Kernel { .. } => false,
    }
}

/// Circuits that stand for kernels of a function that have none of their own. In the circuit of the function, the values of these
/// kernels are meaningless and have no gates.
pub fn stand_ins(func: TableFn, width: usize, frac: usize) -> Vec<ValueCircuit> {
    Lifted::new(func, Formats::new(width, frac)).stand_ins()
}

/// The circuit of `y ⊕= f(a[, b[, c]])` for a function of the table, on words of any formats.
pub fn function_circuit(func: TableFn, accumulator: Accumulator, formats: Formats) -> Circuit {
    let mut b = Builder::new(func.info().name);
    Lifted::new(func, formats).accumulate(&mut b, accumulator, formats.width());
    b.finish()
}

/// `y ⊕= f(a[, b[, c]])`.
fn accumulate_function(b: &mut Builder, accumulator: Accumulator, function: CircuitFn, width: usize) {
    match function {
        CircuitFn::Wire => {
            let a = b.register("a", Role::Operand, width);
            accumulate(b, accumulator, width, |_| a.into());
        }
        CircuitFn::Table { func, frac } => {
            Lifted::new(func, Formats::new(width, frac)).accumulate(b, accumulator, width)
        }
        CircuitFn::Kernel { kernel, frac } => {
            let names = &["a", "b", "c"][..kernel.arity];
            let x: Vec<Word> = names.iter().map(|name| b.register(name, Role::Operand, width)).collect();
            accumulate(b, accumulator, width, |b| kernel.value(b, &Formats::new(width, frac), &x));
        }
    }
}

/// The names of trap bits, in the order of a function's faults.
const TRAPS: [&str; 8] = ["trap", "trap_2", "trap_3", "trap_4", "trap_5", "trap_6", "trap_7", "trap_8"];

/// Declares the target and the other registers of the accumulator, and puts a value into the target.
///
/// Every accumulate is built by this function. `value` computes the function of the operands, which are registers
/// ([`Builder::register`]).
pub fn accumulate(
    b: &mut Builder,
    accumulator: Accumulator,
    width: usize,
    value: impl FnOnce(&mut Builder) -> Outcome,
) {
    let y = b.register("y", Role::Target, width);
    let direction = match accumulator {
        Accumulator::Xor | Accumulator::Add => Word::default(),
        Accumulator::AddOrSubtract | Accumulator::MultiplyLog => b.register("direction", Role::Control, 1),
    };
    b.with(value, |b, value| {
        assert!(value.faults.len() <= TRAPS.len(), "more faults than trap bits have names");
        for (name, bit) in TRAPS.iter().zip(&value.faults) {
            let trap = b.register(name, Role::Trap, 1);
            b.cnot(*bit, trap[0]);
        }
        match accumulator {
            Accumulator::Xor => b.xor(&value.word, &y),
            Accumulator::Add => b.add(&value.word, &y),
            Accumulator::AddOrSubtract => b.add_or_subtract(direction[0], &value.word, &y),
            Accumulator::MultiplyLog => log::multiply_into(b, direction[0], &value.word, &y),
        }
    });
}

/// A circuit that reads a table, accumulates the entry, and reads the table again: `y ⊕= table[index]` if `on` is 1.
/// For L entries 4(L − 1) Toffoli beside those of the accumulator.
///
/// # Panics
/// If the table is empty.
pub fn table_lookup(accumulator: Accumulator, table: &[u128], width: usize) -> Circuit {
    let mut b = Builder::new("table_lookup");
    let index = b.register("index", Role::Operand, table.len().next_power_of_two().ilog2() as usize);
    let on = b.register("on", Role::Control, 1);
    accumulate(&mut b, accumulator, width, |b| {
        let y = b.word(width);
        b.xor_lookup(on[0], &index, table, &y);
        y.into()
    });
    b.finish()
}
