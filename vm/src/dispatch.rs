//! From an instruction to the function that runs it: every combination of the
//! table's rows with operand shapes is compiled to a handler of its own. There
//! is no list of instructions here; the table's visitors name the types.

use std::marker::PhantomData;

use pendula_isa::Fault;
use pendula_isa::inst::Kind;
use pendula_isa::operand::{Layout, Shape, layout};
use pendula_isa::table::{self, Function, FunctionVisitor, Instruction, InstructionVisitor};
use pendula_isa::types::Acc;

use crate::core::{Core, Ctx, Operands};
use crate::decode::Op;

/// Runs the first instruction of a slice, then hands over to the second one's handler, and so on to the end of the
/// slice: optimised builds make that a jump, others a call. Whether or not it is, the stack stays bounded, because
/// the interpreter hands out at most [`CHAIN`] instructions at a time.
///
/// On an error the state is that of before the instruction that failed, and [`Core::pending`] says how many
/// instructions of the slice had not run.
pub(crate) type Handler = fn(&mut Core, &[Op]) -> Result<(), Fault>;

/// How many instructions handlers chain at most.
pub(crate) const CHAIN: usize = 128;

/// Hands over to the next instruction.
#[inline(always)]
fn proceed(core: &mut Core, done: Result<(), Fault>, ops: &[Op]) -> Result<(), Fault> {
    match done {
        Ok(()) => match ops {
            [_, next, ..] => (next.run)(core, &ops[1..]),
            [_] | [] => Ok(()),
        },
        Err(fault) => stop(core, fault, ops),
    }
}

#[cold]
#[inline(never)]
fn stop(core: &mut Core, fault: Fault, ops: &[Op]) -> Result<(), Fault> {
    core.pending = ops.len();
    Err(fault)
}

/// The handler of a straight-line instruction; `None` for control.
pub(crate) fn handler(kind: Kind) -> Option<Handler> {
    match kind {
        Kind::Accumulate { acc, inverse, func, shape } => Some(func.visit(PickAccumulate { acc, inverse, shape })),
        Kind::Row { row, inverse, form, .. } => row.visit(PickRow { inverse, form }),
    }
}

macro_rules! shapes {
    ($($S:ident),+) => {
        #[expect(clippy::upper_case_acronyms, reason = "the names of the shapes")]
    mod shape {
            use super::{Layout, Operands, Shape};
            $( pub(super) struct $S; impl Operands for $S { const SLOTS: Layout = Shape::$S.layout(); } )+
        }

        /// The handler for a shape, among those that fit the function's arity.
        fn by_shape<F: Function, const ACC: u8, const INVERSE: bool>(shape: Shape) -> Handler {
            match shape {
                // Shapes of another arity never come with F; their handlers would be compiled for nothing.
                $( Shape::$S => {
                    if const { Shape::$S.arity() == F::INFO.args.len() } {
                        run_accumulate::<F, shape::$S, ACC, INVERSE>
                    } else {
                        mismatched
                    }
                } )+
            }
        }
    };
}
shapes!(RR, RI, RM, MR, MI, RRR, RRI, RIR, RRM, RMR, RIM, RMI, MRR, MRI, MIR);

/// Stands where the table allows no instruction; modules that hold one are refused before they run.
fn mismatched(core: &mut Core, ops: &[Op]) -> Result<(), Fault> {
    stop(core, Fault::OffCode, ops)
}

/// The handler that undoes a straight-line instruction; `None` for control.
///
/// Not that of [`Kind::inverse`]: an instruction without a partner is its own inverse there, and `erase` is not.
pub(crate) fn undo(kind: Kind) -> Option<Handler> {
    match kind {
        Kind::Accumulate { .. } => handler(kind.inverse()),
        Kind::Row { row, inverse, form, .. } => row.visit(PickRow { inverse: !inverse, form }),
    }
}

struct PickAccumulate {
    acc: Acc,
    inverse: bool,
    shape: Shape,
}

impl FunctionVisitor for PickAccumulate {
    type Out = Handler;

    fn visit<F: Function>(self) -> Handler {
        const ADD: u8 = Acc::Add as u8;
        const XOR: u8 = Acc::Xor as u8;
        const MUL: u8 = Acc::Mul as u8;
        match (self.acc, self.inverse) {
            (Acc::Xor, _) => by_shape::<F, XOR, false>(self.shape),
            (Acc::Add, false) if const { Acc::Add.accepts(F::INFO.ty) } => by_shape::<F, ADD, false>(self.shape),
            (Acc::Add, true) if const { Acc::Add.accepts(F::INFO.ty) } => by_shape::<F, ADD, true>(self.shape),
            (Acc::Mul, false) if const { Acc::Mul.accepts(F::INFO.ty) } => by_shape::<F, MUL, false>(self.shape),
            (Acc::Mul, true) if const { Acc::Mul.accepts(F::INFO.ty) } => by_shape::<F, MUL, true>(self.shape),
            (Acc::Add | Acc::Mul, _) => mismatched,
        }
    }
}

fn run_accumulate<F: Function, O: Operands, const ACC: u8, const INVERSE: bool>(
    core: &mut Core,
    ops: &[Op],
) -> Result<(), Fault> {
    let acc = const { Acc::ALL[ACC as usize] };
    let Some(op) = ops.first() else { return Ok(()) };
    let mut ctx = Ctx::<O> { core, op, operands: PhantomData };
    let done = table::run_accumulate::<_, F>(&mut ctx, acc, INVERSE);
    proceed(core, done, ops)
}

struct PickRow {
    inverse: bool,
    form: bool,
}

struct RowOperands<I, const FORM: bool>(PhantomData<I>);

impl<I: Instruction, const FORM: bool> Operands for RowOperands<I, FORM> {
    const SLOTS: Layout = layout(I::INFO.operands, FORM);
}

impl InstructionVisitor for PickRow {
    type Out = Handler;

    fn visit<I: Instruction>(self) -> Handler {
        match (self.inverse, self.form) {
            (false, false) => run_row::<I, false, false>,
            (false, true) => run_row::<I, false, true>,
            (true, false) => run_row::<I, true, false>,
            (true, true) => run_row::<I, true, true>,
        }
    }
}

fn run_row<I: Instruction, const INVERSE: bool, const FORM: bool>(core: &mut Core, ops: &[Op]) -> Result<(), Fault> {
    let Some(op) = ops.first() else { return Ok(()) };
    let mut ctx = Ctx::<RowOperands<I, FORM>> { core, op, operands: PhantomData };
    let done = if INVERSE { I::undo(&mut ctx, op.variant) } else { I::run(&mut ctx, op.variant) };
    proceed(core, done, ops)
}
