//! The parts of instructions, each with its circuit.
//!
//! | instruction | parts |
//! |---|---|
//! | an accumulate | [`Part::Accumulate`] of a [`CircuitFn`] by an [`Accumulator`] |
//! | another straight-line instruction | [`Part::Row`]; one that moves the stack pointer, [`Part::Increment`] and [`Part::CheckZero`] |
//! | an access to memory, to the host | [`Part::Memory`], [`Part::Host`] |
//! | a jump, a call | [`Part::Branch`], [`Part::BranchRegister`], [`Part::BranchTurn`], [`Part::BranchSwap`], [`Part::Call`] |
//!
//! The circuits of functions and of straight-line instructions come from the table (see `lifted.rs` and `row.rs`). Every value enters its target by [`accumulate`].

use pendula_isa::extension::Extension;
use pendula_isa::table::{Row, TableFn, Test, Variant};
use pendula_isa::{Cond, Ty};

use super::kernels::{Formats, Outcome, ValueCircuit, log};
use super::lifted::{Lifted, width_of_floats, width_of_kernels};
use super::lookup::{self, Algorithm, Lookup};
use super::row::LiftedRow;
use super::{Adder, Bit, Builder, Circuit, GateCounts, Role, Word};

mod control;
mod function;

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

/// A part of an instruction that has its own circuit.
///
/// For an accumulate, `y ⊕= f(x…)`, the part is the whole instruction except for its access to memory: the function is
/// computed, accumulated and computed backward. [`shares`] divides the cost among the gate classes of the function and
/// of the accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// `y ⊕= f(a[, b[, c]])`.
    Accumulate(Accumulator, CircuitFn),
    /// A straight-line instruction that is no accumulate, or its inverse, except for its access to memory. The registers have the names of the
    /// operands.
    Row {
        /// The instruction.
        row: Row,
        /// Its type, condition and form.
        variant: Variant,
        /// Fraction bits of fixed-point numbers.
        frac: usize,
    },
    /// `y ^= f(a[, b[, c]])` of a function by definition, by the circuits of its steps. The registers have the names of its arguments.
    Defined {
        /// An extension that the definition gives.
        extension: Extension,
        /// Fraction bits of fixed-point numbers.
        frac: usize,
    },
    /// `y += 1`, or `y -= 1` if `direction` is 1.
    Increment,
    /// Exchanges `x` and `y`.
    Swap,
    /// Exchanges `r` with one of this many words of memory, by the address in `a`. Traps if there is no such word.
    Memory {
        /// Words of memory.
        words: usize,
    },
    /// One half of a pair of jumps, which compares the numbers `a` and `b`.
    Branch(Half, Ty, Cond),
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
    /// Traps unless `a` is zero.
    CheckZero,
    /// Copies a word onto the lines of a link to the host.
    Host,
}

/// Which of several circuits is built. The default has carries that ripple, and for each function the algorithm with the fewest Toffoli gates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Choice {
    /// How words are added.
    pub adder: Adder,
    /// How functions are computed of which there are several circuits; `None` for the one with the fewest Toffoli gates.
    pub algorithm: Option<Algorithm>,
}

impl Choice {
    /// This adder, and for each function the algorithm with the fewest Toffoli gates.
    pub const fn of_adder(adder: Adder) -> Choice {
        Choice { adder, algorithm: None }
    }
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
    /// A table that is asked for where there is none.
    #[error("{part:?} has no table for words of {width} bits: {why}")]
    NoTable {
        /// The part.
        part: Part,
        /// The width.
        width: usize,
        /// Why.
        why: &'static str,
    },
}

/// The circuit of a part for words of `width` bits. Its registers have the names that the parts' descriptions use. Where there are
/// several, it is the one with the fewest Toffoli gates, as [`generate_by`] has it.
///
/// # Errors
/// A width below 1, one that is not a power of two for shifts and rotations, one below 4 for logarithmic numbers or
/// below 2 for signed division and scaling; fraction bits that are not fewer than the width; for kernels and
/// floating-point numbers, a width that is not from 8 to 64.
pub fn generate(part: Part, width: usize) -> Result<Circuit, PartError> {
    Ok(generate_by(part, width, None)?.0)
}

/// As [`generate`], by the algorithm that is asked for, with the one that was taken: for functions of one word by kernels, of which small words
/// have a table, too. Other parts have one circuit.
///
/// # Errors
/// As [`generate`]; a table where there is none.
pub fn generate_by(
    part: Part,
    width: usize,
    wanted: Option<Algorithm>,
) -> Result<(Circuit, Option<Algorithm>), PartError> {
    generate_with(part, width, Choice { adder: Adder::Ripple, algorithm: wanted })
}

/// As [`generate_by`], with the adder that is asked for. Without one, carries ripple.
///
/// # Errors
/// As [`generate_by`].
pub fn generate_with(part: Part, width: usize, choice: Choice) -> Result<(Circuit, Option<Algorithm>), PartError> {
    let Choice { adder, algorithm: wanted } = choice;
    let machine = |part: Part, width: usize| machine(part, width, adder);
    let no_table = |why| PartError::NoTable { part, width, why };
    let Part::Accumulate(accumulator, CircuitFn::Table { func, frac }) = part else {
        if let Part::Defined { extension, frac } = part {
            let circuit = crate::instruction::value_circuit(extension, (width, frac), choice);
            let requirement = "each step has a circuit";
            return Ok((circuit.ok_or(PartError::Width { part, width, requirement })?, None));
        }
        return match wanted {
            Some(Algorithm::Table) => Err(no_table(lookup::ONLY)),
            Some(Algorithm::Machine) | None => Ok((machine(part, width)?, None)),
        };
    };
    if let Some(requirement) = width_problem(part, width) {
        return Err(PartError::Width { part, width, requirement });
    }
    let formats = Formats::new(width, frac);
    let table =
        || Lookup::new(func, formats).map(|table| table.circuit(Builder::with_adder(&part.name(), adder), accumulator));
    match wanted {
        Some(Algorithm::Table) => Ok((table().map_err(no_table)?, wanted)),
        Some(Algorithm::Machine) => Ok((machine(part, width)?, wanted)),
        None if lookup::problem(func, formats).is_some() => Ok((machine(part, width)?, None)),
        None => {
            let machine = machine(part, width)?;
            let (circuit, algorithm) = match table() {
                Ok(table) => lookup::less(machine, table),
                Err(_) => (machine, Algorithm::Machine),
            };
            Ok((circuit, Some(algorithm)))
        }
    }
}

/// The circuit of a part, for a function by its operations and kernels.
fn machine(part: Part, width: usize, adder: Adder) -> Result<Circuit, PartError> {
    if let Some(requirement) = width_problem(part, width) {
        return Err(PartError::Width { part, width, requirement });
    }
    let mut b = Builder::with_adder(&part.name(), adder);
    match part {
        Part::Accumulate(accumulator, function) => accumulate_function(&mut b, accumulator, function, width),
        Part::Row { row, variant, frac } => {
            if let Some(row) = LiftedRow::new(row, variant, Formats::new(width, frac)) {
                row.build(&mut b);
            }
        }
        // It is made of circuits, not of operations.
        Part::Defined { .. } => {}
        Part::Increment => {
            let y = b.register("y", Role::Target, width);
            let direction = b.register("direction", Role::Control, 1);
            b.add_or_subtract(direction[0], &[Bit::ONE], &y);
        }
        Part::Swap => {
            let x = b.register("x", Role::Target, width);
            let y = b.register("y", Role::Target, width);
            b.swap(&x, &y);
        }
        Part::Memory { words } => control::memory(&mut b, words, width),
        Part::Branch(half, ty, cond) => control::branch(&mut b, half, (ty, cond), width),
        Part::BranchPair(jump, from) => control::branch_pair(&mut b, jump, from, width),
        Part::BranchRegister(cond) => control::branch_register(&mut b, cond, width),
        Part::BranchTurn => control::branch_turn(&mut b, width),
        Part::BranchSwap => control::branch_swap(&mut b, width),
        Part::Call => control::call(&mut b, width),
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
    }
    Ok(b.finish())
}

/// The reason why a width is not supported, if there is one.
fn width_problem(part: Part, width: usize) -> Option<&'static str> {
    let least = |n, requirement| (width < n).then_some(requirement);
    let fraction = |frac: usize| (frac >= width).then_some("the fraction must be shorter than the word");
    let logarithm = || least(4, "a logarithmic number has 4 bits or more");
    let special = match part {
        Part::Accumulate(_, CircuitFn::Kernel { frac, .. }) => width_of_kernels(width, frac),
        Part::Accumulate(_, CircuitFn::Table { func, frac }) => {
            let fixed = [func.info().ty, func.info().from].contains(&Ty::Q);
            let floats = [func.info().ty, func.info().from].contains(&Ty::F);
            if let Some(problem) = width_of_floats(width).filter(|_| floats) {
                return Some(problem);
            }
            match frac < width && (1..=64).contains(&width) && !(fixed && frac == 0) {
                true => Lifted::new(func, Formats::new(width, frac)).width_problem(),
                false if fixed && frac == 0 => Some("a fixed-point number has fraction bits"),
                false => fraction(frac).or(width_of_floats(width)),
            }
        }
        Part::Row { row, variant, frac } => match frac < width && (1..=64).contains(&width) {
            true => match LiftedRow::new(row, variant, Formats::new(width, frac)) {
                Some(row) => row.operations().width_problem(),
                None => Some("it is more than operations on words"),
            },
            false => fraction(frac).or(Some("a word has 1 to 64 bits")),
        },
        Part::Branch(_, Ty::F, _) => width_of_floats(width),
        Part::Branch(_, Ty::L, _) | Part::Accumulate(Accumulator::MultiplyLog, _) => logarithm(),
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
        let text = match self {
            Part::Row { row, variant: Variant { ty, cond, form }, .. } => {
                let info = row.info();
                let cond = if info.test == Test::None { String::new() } else { format!("{cond:?}") };
                format!("{} {cond} {ty:?} {}", info.mnemonic, if form { "constant" } else { "" })
            }
            other => format!("{other:?}"),
        };
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

/// As [`stand_ins`], for kernels of a straight-line instruction and of its inverse; `None` if the instruction is more than operations on words,
/// and so has no [`Part::Row`].
pub fn row_stand_ins(row: Row, variant: Variant, width: usize, frac: usize) -> Option<Vec<ValueCircuit>> {
    Some(LiftedRow::new(row, variant, Formats::new(width, frac))?.stand_ins())
}

/// A kernel without a circuit of its own, and the circuits whose cost stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandIns {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The circuits.
    pub circuits: &'static [ValueCircuit],
}

/// The kernels whose value the circuit of a function does not have: it is of use for counting only.
pub fn without_own(func: TableFn, width: usize, frac: usize) -> Vec<StandIns> {
    Lifted::new(func, Formats::new(width, frac)).without_own()
}

/// As [`without_own`], for a straight-line instruction; `None` if it is more than operations on words.
pub fn row_without_own(row: Row, variant: Variant, width: usize, frac: usize) -> Option<Vec<StandIns>> {
    Some(LiftedRow::new(row, variant, Formats::new(width, frac))?.without_own())
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

/// Puts faults into trap bits.
pub(super) fn add_traps(b: &mut Builder, faults: &[Bit]) {
    for fault in faults {
        let trap = b.trap();
        b.cnot(*fault, trap);
    }
}

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
        add_traps(b, &value.faults);
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
