//! What instructions do to words of any width: the table's bodies and kernels, run on the words of a circuit's registers.
//!
//! Circuits are verified beside it, and the vectors of testbenches come from it. Jumps, calls and the access to memory are directed by the machine and have no
//! body in the table; their meaning is written here.

use pendula_isa::arith::Arith as _;
use pendula_isa::extension::{Extension, operand_register};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::kernels::circuits::Formats;
use pendula_isa::operand::Operand;
use pendula_isa::table::{self, Function, FunctionVisitor, Instruction, InstructionVisitor, Row, TableFn, Variant};
use pendula_isa::types::{Acc, Cond, Reg, Ty};

use words::{Stop, Words};

mod float;
mod kernels;
mod words;

/// Where the body of an instruction has the word of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// An operand.
    Operand(usize),
    /// The gradient word of an operand.
    Gradient(usize),
    /// The cell.
    Cell,
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// `y ⊕= f(x…)`.
    Accumulate(Acc, TableFn, Vec<Place>),
    /// Another straight-line instruction.
    Row(Row, Variant, Vec<Place>),
    /// An extension, on its operands.
    Extension(Extension),
    /// `taken ^= a ? b; pc += taken ? offset : 0`, on a, b, taken, offset, pc.
    Jump(Ty, Cond),
    /// `taken ^= a ? b`, on a, b, taken.
    From(Ty, Cond),
    /// `br += a ? b ? offset : 0; pc += br`, on a, b, offset, br, pc.
    Branch(Cond),
    /// `br += offset; pc += br; dir = ¬dir`, on offset, br, pc, dir.
    Turn,
    /// `r ↔ br; pc += br`, on r, br, pc.
    SwapBranch,
    /// `link ^= to; pc ↔ link; link += 1`, on to, pc, link, which must be clear.
    Call,
    /// Exchanges a word with that at an address, on address, word, memory….
    Exchange,
    /// Exchanges a word with that at the stack pointer, which must be clear, and moves the pointer up, on sp, word, memory….
    Push,
    /// `link ^= a`, on a, link.
    Host,
}

/// There is nothing to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("on words of {width} bits there is nothing to compare with to the last bit: {what}")]
pub struct NoReference {
    /// The width.
    pub width: usize,
    /// The kernel or operation.
    pub what: &'static str,
}

/// An instruction on words of a width.
#[derive(Clone, Debug)]
pub struct Reference {
    meaning: Meaning,
    /// Whether the instruction is the second of its pair.
    inverse: bool,
    formats: Formats,
}

struct OfFunction<'a>(&'a mut Words, Acc, bool);

impl FunctionVisitor for OfFunction<'_> {
    type Out = Result<(), Stop>;
    fn visit<F: Function>(self) -> Self::Out {
        table::run_accumulate::<_, F>(self.0, self.1, self.2)
    }
}

struct OfRow<'a>(&'a mut Words, bool, Variant);

impl InstructionVisitor for OfRow<'_> {
    type Out = Result<(), Stop>;
    fn visit<I: Instruction>(self) -> Self::Out {
        if self.1 { I::undo(self.0, self.2) } else { I::run(self.0, self.2) }
    }
}

impl Reference {
    pub(crate) const fn new(meaning: Meaning, inverse: bool, formats: Formats) -> Reference {
        Reference { meaning, inverse, formats }
    }

    /// Bits of a word.
    pub fn width(&self) -> usize {
        self.formats.width()
    }

    /// Runs the instruction, or with `back` undoes it, on the words of the circuit's registers: in their order, without traps, ancillas and the control
    /// `backward`. False if it traps; then the words mean nothing.
    ///
    /// # Errors
    /// If what it computes is not known to the last bit.
    pub fn run(&self, back: bool, x: &mut [u64]) -> Result<bool, NoReference> {
        let mut words = Words::new(self.formats);
        match self.step(self.inverse != back, &mut words, x) {
            Ok(()) => Ok(words.fault.is_none()),
            Err(Stop::Fault(_)) => Ok(false),
            Err(Stop::Unknown(what)) => Err(NoReference { width: self.width(), what }),
        }
    }

    fn step(&self, back: bool, w: &mut Words, x: &mut [u64]) -> Result<(), Stop> {
        const TRAP: Stop = Stop::Fault(pendula_isa::Fault::Memory);
        let holds = |w: &mut Words, cond: Cond, ty, a, b| w.compare(cond, ty, a, b);
        let plus = |w: &mut Words, back: bool, y, x| if back { w.sub(y, x) } else { w.add(y, x) };
        match (&self.meaning, x) {
            (Meaning::Accumulate(acc, func, places), x) => {
                let inverse = back && !acc.self_inverse();
                on_places(w, places, x, |w| func.visit(OfFunction(w, *acc, inverse)))?;
            }
            (Meaning::Row(row, variant, places), x) => {
                // Only straight-line rows have this meaning.
                on_places(w, places, x, |w| row.visit(OfRow(w, back, *variant)).unwrap_or(Err(TRAP)))?;
            }
            (Meaning::Extension(extension), x) => run_steps(w, &extension.info().steps[usize::from(back)], x)?,
            (Meaning::Jump(ty, cond), [a, b, taken, offset, pc]) => {
                let holds = holds(w, *cond, *ty, *a, *b)?;
                if !back {
                    *taken ^= holds;
                }
                *pc = plus(w, back, *pc, if *taken == 1 { *offset } else { 0 });
                if back {
                    *taken ^= holds;
                }
            }
            (Meaning::From(ty, cond), [a, b, taken]) => *taken ^= holds(w, *cond, *ty, *a, *b)?,
            (Meaning::Branch(cond), [a, b, offset, br, pc]) => {
                let by = if holds(w, *cond, Ty::Int, *a, *b)? == 1 { *offset } else { 0 };
                if !back {
                    *br = w.add(*br, by);
                }
                *pc = plus(w, back, *pc, *br);
                if back {
                    *br = w.sub(*br, by);
                }
            }
            (Meaning::Turn, [offset, br, pc, dir]) => {
                *dir ^= 1;
                if !back {
                    *br = w.add(*br, *offset);
                }
                *pc = plus(w, back, *pc, *br);
                if back {
                    *br = w.sub(*br, *offset);
                }
            }
            (Meaning::SwapBranch, [r, br, pc]) => {
                if !back {
                    std::mem::swap(r, br);
                }
                *pc = plus(w, back, *pc, *br);
                if back {
                    std::mem::swap(r, br);
                }
            }
            (Meaning::Call, [to, pc, link]) if back => {
                let returned = w.sub(*link, 1);
                if *pc != *to {
                    return Err(TRAP);
                }
                (*pc, *link) = (returned, 0);
            }
            (Meaning::Call, [to, pc, link]) => {
                if *link != 0 {
                    return Err(TRAP);
                }
                (*pc, *link) = (*to, w.add(*pc, 1));
            }
            (Meaning::Exchange, [address, word, memory @ ..]) => {
                std::mem::swap(word, memory.get_mut(*address as usize).ok_or(TRAP)?);
            }
            (Meaning::Push, [sp, word, memory @ ..]) => {
                let top = if back { w.sub(*sp, 1) } else { *sp };
                let cell = memory.get_mut(top as usize).ok_or(TRAP)?;
                if (if back { *word } else { *cell }) != 0 {
                    return Err(TRAP);
                }
                std::mem::swap(word, cell);
                *sp = if back { top } else { w.add(top, 1) };
            }
            (Meaning::Host, [a, link]) => *link ^= *a,
            _ => return Err(Stop::Unknown("registers of another circuit")),
        }
        Ok(())
    }
}

/// The value of a function of one word; `None` if it traps.
///
/// # Errors
/// If it is not known to the last bit.
pub(crate) fn value(func: TableFn, formats: Formats, x: u64) -> Result<Option<u64>, NoReference> {
    let places = vec![Place::Operand(1), Place::Operand(0)];
    let mut words = [x, 0];
    let reference = Reference::new(Meaning::Accumulate(Acc::Xor, func, places), false, formats);
    Ok(reference.run(false, &mut words)?.then_some(words[1]))
}

/// Fraction bits of the fixed-point constants in definitions.
const FRACTION: u32 = 32;

/// A constant of a definition as a word of another width.
pub(crate) fn constant(word: u64, ty: Ty, width: u32, frac: u32) -> u64 {
    let word = match ty {
        Ty::Q => word.cast_signed() >> FRACTION.saturating_sub(frac),
        Ty::Int | Ty::L | Ty::F => word.cast_signed(),
    };
    word.cast_unsigned() & (u64::MAX >> (64 - width.min(64)))
}

/// Runs the steps of an extension on the words of its operands, and the checks of its temporaries.
fn run_steps(w: &mut Words, steps: &[Inst], x: &mut [u64]) -> Result<(), Stop> {
    let mut locals = [0; Reg::PLACES];
    let index = |r: Reg| usize::from(r.number()) % Reg::PLACES;
    for (n, word) in x.iter().enumerate() {
        locals[index(operand_register(n))] = *word;
    }
    for step in steps {
        for (n, (_, operand)) in step.operands().enumerate() {
            *w.at(Place::Operand(n)) = match operand {
                Operand::Reg(r) => locals[index(r)],
                Operand::Imm(word, ty) => constant(word, ty, w.width(), w.frac()),
                Operand::Factor(k) => u64::from(k),
                _ => 0,
            };
        }
        match step.kind {
            Kind::Accumulate { acc, inverse, func, .. } => func.visit(OfFunction(w, acc, inverse))?,
            Kind::Row { row, inverse, .. } => row
                .visit(OfRow(w, inverse, step.variant()))
                .unwrap_or(Err(Stop::Unknown("a step that is no straight-line instruction")))?,
            Kind::Extension { .. } => return Err(Stop::Unknown("an extension within another")),
        }
        for (n, (slot, operand)) in step.operands().enumerate() {
            if let (true, Operand::Reg(r)) = (slot.is_written(), operand) {
                locals[index(r)] = *w.at(Place::Operand(n));
            }
        }
    }
    for (n, word) in x.iter_mut().enumerate() {
        *word = locals[index(operand_register(n))];
    }
    Ok(())
}

/// Runs a body on the words of registers.
fn on_places(
    w: &mut Words,
    places: &[Place],
    x: &mut [u64],
    body: impl FnOnce(&mut Words) -> Result<(), Stop>,
) -> Result<(), Stop> {
    for (place, x) in places.iter().zip(&*x) {
        *w.at(*place) = *x;
    }
    body(w)?;
    for (place, x) in places.iter().zip(x) {
        *x = *w.at(*place);
    }
    Ok(())
}
