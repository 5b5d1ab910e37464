//! Accumulates, rows and comparisons on symbolic operands instead of registers and memory of a machine. The compiler's statements
//! consist of them. [`Op::Get`](crate::ops::Op::Get) and [`Op::Set`](crate::ops::Op::Set) then name operands by their numbers.

use pendula_isa::adjoint::VALUE;
use pendula_isa::calculus::FunctionOver;
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::operand::{OPERANDS, Slot};
use pendula_isa::table::{Instruction, InstructionVisitor, Row, TableFn, Variant};
use pendula_isa::types::{Acc, Cond, Reg, Ty};
use pendula_isa::{Env, Extension};

use super::{Condition, LiftConfig, LiftRow, Lifter, Unsupported};
use crate::ops::{Body, Kernel, Test, ValueId};

/// The most operands that an instruction has.
pub const MOST_OPERANDS: usize = OPERANDS;

/// The number by which operations for circuits name the cell of an instruction.
pub const CELL: u8 = Reg::COUNT as u8 - 1;

/// A symbolic operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A constant word.
    Const(u64),
    /// A variable: the number, 1 to 31, by which operations name it. Operands that are the same word have the same number.
    Word(u8),
}

fn lifter<'a>(env: Env, setting: LiftConfig, kernels: &'a mut Vec<Kernel>, operands: &[Operand]) -> Lifter<'a> {
    let mut lifter = Lifter::new(env, setting, 0, kernels);
    for (n, operand) in operands.iter().enumerate().take(MOST_OPERANDS) {
        match operand {
            Operand::Const(k) => lifter.constants[n] = Some(*k),
            Operand::Word(number) => {
                lifter.layout[n] = Slot::Reg(n as u8);
                lifter.fields[n] = *number % Reg::COUNT as u8;
            }
        }
    }
    lifter
}

/// The operations of `operands[0] ⊕= func(operands[1..])`; `None` if it cannot be lifted.
pub fn accumulate(
    (env, setting): (Env, LiftConfig),
    kernels: &mut Vec<Kernel>,
    (acc, inverse, func): (Acc, bool, TableFn),
    operands: &[Operand],
) -> Option<Body> {
    let mut lifter = lifter(env, setting, kernels, operands);
    let done = lifter.accumulate(func, acc, inverse && !acc.self_inverse());
    lifter.finish_statement(done)
}

/// The operations of a function of the table on operands that are variables 1 and on, and its value; `None` if it cannot be lifted.
pub fn function(
    (env, setting): (Env, LiftConfig),
    kernels: &mut Vec<Kernel>,
    func: TableFn,
) -> Option<(Body, ValueId)> {
    let mut lifter = lifter(env, setting, kernels, &[1, 2, 3].map(Operand::Word));
    let function = FunctionOver::new(func);
    let x = [0, 1, 2].map(|n: usize| lifter.operand_in(VALUE, n.min(func.info().args.len() - 1)));
    let value = (function.value)(&mut lifter, x).ok()?;
    Some((lifter.finish_statement(Ok(()))?, value))
}

/// The operations of a row, or with `inverse` of its inverse; `None` if it cannot be lifted.
pub fn row(
    (env, setting): (Env, LiftConfig),
    kernels: &mut Vec<Kernel>,
    (row, inverse, ty): (Row, bool, Ty),
    operands: &[Operand],
) -> Option<Body> {
    let mut lifter = lifter(env, setting, kernels, operands);
    let variant = Variant { ty, cond: Cond::Always, form: false };
    let done = row.visit(LiftRow { lifter: &mut lifter, back: inverse, variant }).unwrap_or(Err(Unsupported));
    lifter.finish_statement(done)
}

/// The operations of a variant of an instruction, or with `inverse` of its inverse; `None` if it cannot be lifted.
pub fn instruction<I: Instruction>(
    (env, setting): (Env, LiftConfig),
    kernels: &mut Vec<Kernel>,
    (inverse, variant): (bool, Variant),
    operands: &[Operand],
) -> Option<Body> {
    let mut lifter = lifter(env, setting, kernels, operands);
    let done = LiftRow { lifter: &mut lifter, back: inverse, variant }.visit::<I>();
    lifter.finish_statement(done)
}

/// The operations of an extension, or with `inverse` of its inverse; `None` if it cannot be lifted. An operand is written if it is a word.
pub fn extension(
    (env, setting): (Env, LiftConfig),
    kernels: &mut Vec<Kernel>,
    (extension, inverse): (Extension, bool),
    operands: &[Operand],
) -> Option<Body> {
    let mut lifter = lifter(env, setting, kernels, operands);
    let mut inst = Inst { kind: Kind::Extension { extension, inverse }, regs: Inst::registers(&[]), imm: 0, small: 0 };
    for ((slot, own), (n, operand)) in
        lifter.layout.iter_mut().zip(extension.info().layout).zip(operands.iter().enumerate())
    {
        if let Operand::Word(number) = operand {
            inst.regs[n] = Reg::new(*number % Reg::COUNT as u8).unwrap_or_default();
            *slot = if own.is_written() { Slot::Target(n as u8) } else { Slot::Reg(n as u8) };
        }
    }
    let done = lifter.extension(&inst, false);
    lifter.finish_statement(done)
}

/// The operations of a comparison, and the word that is not zero if it holds; `None` if it cannot be lifted, or always or never
/// holds.
pub fn compare(
    (env, setting): (Env, LiftConfig),
    kernels: &mut Vec<Kernel>,
    (cond, ty): (Cond, Ty),
    operands: [Operand; 2],
) -> Option<(Body, ValueId)> {
    let mut lifter = lifter(env, setting, kernels, &operands);
    for (n, operand) in operands.iter().enumerate() {
        if let Operand::Const(k) = operand {
            // Registers that no operand uses.
            let (number, word) = (Reg::COUNT as u8 - 2 + n as u8, lifter.fixed(*k));
            lifter.regs[VALUE][usize::from(number)] = Some(word);
        }
    }
    let register = |n: usize| match operands[n] {
        Operand::Const(_) => Reg::COUNT as u8 - 2 + n as u8,
        Operand::Word(number) => number,
    };
    let test = lifter.test(Some(Condition { cond, ty, a: register(0), b: register(1), imm: 0 }), 0);
    match test {
        Test::If(_, v) => Some((lifter.finish_statement(Ok(()))?, v)),
        Test::Never | Test::Always => None,
    }
}
