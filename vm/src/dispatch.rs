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

/// Runs one instruction. On an error the state is as before.
pub(crate) type Handler = fn(&mut Core, &Op) -> Result<(), Fault>;

/// The handler of a straight-line instruction; `None` for control.
pub(crate) fn handler(kind: Kind) -> Option<Handler> {
    match kind {
        Kind::Accumulate { acc, inverse, func, shape } => Some(func.visit(PickAccumulate { acc, inverse, shape })),
        Kind::Row { row, inverse, form, .. } => row.visit(PickRow { inverse, form }),
    }
}

macro_rules! shapes {
    ($($S:ident),+) => {
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
fn mismatched(_: &mut Core, _: &Op) -> Result<(), Fault> {
    Err(Fault::Domain)
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
    op: &Op,
) -> Result<(), Fault> {
    const { assert!(ACC < 3) };
    let acc = const { Acc::ALL[ACC as usize] };
    let mut ctx = Ctx::<O> { core, op, operands: PhantomData };
    table::run_accumulate::<_, F>(&mut ctx, acc, INVERSE)
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

fn run_row<I: Instruction, const INVERSE: bool, const FORM: bool>(core: &mut Core, op: &Op) -> Result<(), Fault> {
    let mut ctx = Ctx::<RowOperands<I, FORM>> { core, op, operands: PhantomData };
    if INVERSE { I::undo(&mut ctx, op.variant) } else { I::run(&mut ctx, op.variant) }
}
