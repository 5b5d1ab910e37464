//! Selects the handler that runs an instruction. Every combination of a row of the table with an operand shape is compiled to its own
//! handler; with gradient words, those of registers are. Slow functions, what is rare, and the other AD modes have one handler for all shapes:
//! handlers are most of what a build of this crate compiles.
//! There is no list of instructions here: the table's visitors name the types.

use std::marker::PhantomData;

use pendula_isa::adjoint::{self, AdMode};
use pendula_isa::calculus::SecondOrderFunction;
use pendula_isa::inst::Kind;
use pendula_isa::operand::{Layout, Shape, Slot, layout};
use pendula_isa::table::{self, Adjoint, Function, FunctionVisitor, Instruction, InstructionVisitor};
use pendula_isa::types::{Acc, Ty};
use pendula_isa::{Fault, GateClass};

use crate::context::{Ctx, Operands};
use crate::decode::Op;
use crate::state::Core;

/// Runs the first instruction of a slice, then calls the handler of the second one, and so on to the end of the slice. Optimised builds
/// turn these calls into jumps. The stack stays bounded in any case, because a slice has at most [`CHAIN`] instructions.
///
/// On an error the state is the one before the instruction that failed, and [`Core::pending`] is the number of instructions of the
/// slice that have not run.
pub(crate) type Handler = fn(&mut Core, &[Op]) -> Result<(), Fault>;

/// The maximum number of chained instructions.
pub(crate) const CHAIN: usize = 128;

/// Continues with the handler of the next instruction.
#[inline(always)]
pub(crate) fn proceed(core: &mut Core, done: Result<(), Fault>, ops: &[Op]) -> Result<(), Fault> {
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
pub(crate) fn handler(kind: Kind, ad_mode: AdMode) -> Option<Handler> {
    match kind {
        Kind::Accumulate { acc, inverse, func, shape } => {
            Some(func.visit(PickAccumulate { acc, inverse, shape, ad_mode }))
        }
        Kind::Row { row, inverse, form, .. } => row.visit(PickRow { inverse, form, ad_mode }),
        // Its handler belongs to a program's uses of it.
        Kind::Extension { .. } => None,
    }
}

/// The handler that undoes a straight-line instruction; `None` for control.
///
/// This is not the handler of [`Kind::inverse`]: there an instruction without a partner is its own inverse, which `erase` is not.
pub(crate) fn undo(kind: Kind, ad_mode: AdMode) -> Option<Handler> {
    match kind {
        Kind::Accumulate { .. } => handler(kind.inverse(), ad_mode),
        Kind::Row { row, inverse, form, .. } => row.visit(PickRow { inverse: !inverse, form, ad_mode }),
        Kind::Extension { .. } => None,
    }
}

/// The layouts of all shapes.
const LAYOUTS: [Layout; Shape::ALL.len()] = {
    let mut layouts = [Shape::RR.layout(); Shape::ALL.len()];
    let mut n = 0;
    while n < layouts.len() {
        layouts[n] = Shape::ALL[n].layout();
        n += 1;
    }
    layouts
};

/// Operands of an accumulate whose shape is looked up at run time.
struct AnyShape;

// The bits of a shape are those of the index.
const _: () = assert!(Shape::ALL.len().is_power_of_two() && Shape::ALL.len() <= Op::INVERSE as usize);

impl Operands for AnyShape {
    #[inline(always)]
    fn slot(op: &Op, n: usize) -> Slot {
        LAYOUTS[usize::from(op.shape) % LAYOUTS.len()][n % 4]
    }
}

/// Whether a function is so slow that the look-up of its shape does not matter.
const fn is_long(class: GateClass) -> bool {
    matches!(
        class,
        GateClass::Elementary
            | GateClass::FloatElementary
            | GateClass::Root
            | GateClass::Power
            | GateClass::LogSum
            | GateClass::LogConvert
            | GateClass::Divide
            | GateClass::FixedDivide
    )
}

macro_rules! shapes {
    ($($S:ident),+) => {
        #[expect(clippy::upper_case_acronyms, reason = "the names of the shapes")]
        mod shape {
            use super::{Op, Operands, Shape, Slot};
            $(
                pub(super) struct $S;
                impl Operands for $S {
                    #[inline(always)]
                    fn slot(_: &Op, n: usize) -> Slot {
                        (const { Shape::$S.layout() })[n]
                    }
                }
            )+
        }

        /// The handlers of a function for all shapes.
        struct ByShape<F, const ACC: u8, const INVERSE: bool, const GRADIENTS: bool>(PhantomData<F>);

        impl<F: Function, const ACC: u8, const INVERSE: bool, const GRADIENTS: bool>
            ByShape<F, ACC, INVERSE, GRADIENTS>
        {
            const HANDLERS: [Handler; Shape::ALL.len()] = {
                let mut handlers: [Handler; Shape::ALL.len()] = [mismatched; Shape::ALL.len()];
                // Shapes of another arity never occur with F; do not compile handlers for them.
                $( if const { Shape::$S.arity() == F::INFO.args.len() } {
                    handlers[Shape::$S as usize] = if const { GRADIENTS && !Shape::$S.is_of_registers() } {
                        run_long::<F, ACC>
                    } else {
                        run_accumulate::<F, shape::$S, ACC, INVERSE, GRADIENTS>
                    };
                } )+
                handlers
            };
        }
    };
}
shapes!(RR, RI, RM, MR, MI, RRR, RRI, RIR, RRM, RMR, RIM, RMI, MRR, MRI, MIR, RRRR);

/// The handler for combinations that the table does not allow. Modules with such an instruction are rejected before they run.
fn mismatched(core: &mut Core, ops: &[Op]) -> Result<(), Fault> {
    stop(core, Fault::OffCode, ops)
}

struct PickAccumulate {
    acc: Acc,
    inverse: bool,
    shape: Shape,
    ad_mode: AdMode,
}

impl FunctionVisitor for PickAccumulate {
    type Out = Handler;

    fn visit<F: Function>(self) -> Handler {
        const ADD: u8 = Acc::Add as u8;
        const XOR: u8 = Acc::Xor as u8;
        const MUL: u8 = Acc::Mul as u8;
        match (self.acc, self.inverse) {
            (Acc::Xor, _) => self.for_ad_mode::<F, XOR, false>(),
            (Acc::Add, false) if const { Acc::Add.accepts(F::INFO.ty) } => self.for_ad_mode::<F, ADD, false>(),
            (Acc::Add, true) if const { Acc::Add.accepts(F::INFO.ty) } => self.for_ad_mode::<F, ADD, true>(),
            (Acc::Mul, false) if const { Acc::Mul.accepts(F::INFO.ty) } => self.for_ad_mode::<F, MUL, false>(),
            (Acc::Mul, true) if const { Acc::Mul.accepts(F::INFO.ty) } => self.for_ad_mode::<F, MUL, true>(),
            (Acc::Add | Acc::Mul, _) => mismatched,
        }
    }
}

impl PickAccumulate {
    fn for_ad_mode<F: Function, const ACC: u8, const INVERSE: bool>(&self) -> Handler {
        if const { is_long(F::INFO.class) } {
            return run_long::<F, ACC>;
        }
        // Few programs exclusive-or anything but integers.
        if const { Acc::ALL[ACC as usize].self_inverse() && !matches!(F::INFO.ty, Ty::Int) } {
            return run_long::<F, ACC>;
        }
        // An instruction that does not change lanes has one handler for all AD modes.
        if const { F::INFO.partials == 0 || Acc::ALL[ACC as usize].self_inverse() } {
            return ByShape::<F, ACC, INVERSE, false>::HANDLERS[self.shape as usize];
        }
        match self.ad_mode {
            AdMode::Plain => ByShape::<F, ACC, INVERSE, false>::HANDLERS[self.shape as usize],
            AdMode::Gradient => ByShape::<F, ACC, INVERSE, true>::HANDLERS[self.shape as usize],
            AdMode::SecondGradient | AdMode::Tangent | AdMode::GradientTangent => run_long::<F, ACC>,
        }
    }
}

fn run_accumulate<F: Function, O: Operands, const ACC: u8, const INVERSE: bool, const GRADIENTS: bool>(
    core: &mut Core,
    ops: &[Op],
) -> Result<(), Fault> {
    let acc = const { Acc::ALL[ACC as usize] };
    let Some(op) = ops.first() else { return Ok(()) };
    let mut ctx = Ctx::<O>::new(core, op);
    let done = if const { GRADIENTS } {
        adjoint::run_accumulate_with_gradients::<_, F>(&mut ctx, acc, INVERSE)
    } else {
        table::run_accumulate::<_, F>(&mut ctx, acc, INVERSE)
    };
    proceed(core, done, ops)
}

/// Runs functions, and AD modes, that take so long that looking up shape, direction and AD mode does not matter: one handler for all.
fn run_long<F: Function, const ACC: u8>(core: &mut Core, ops: &[Op]) -> Result<(), Fault> {
    let acc = const { Acc::ALL[ACC as usize] };
    let Some(op) = ops.first() else { return Ok(()) };
    let (ad_mode, inverse) = (core.ad_mode, op.shape & Op::INVERSE != 0);
    let mut ctx = Ctx::<AnyShape>::new(core, op);
    let done = adjoint::run_accumulate(&mut ctx, &SecondOrderFunction::of::<F>(), ad_mode, acc, inverse);
    proceed(core, done, ops)
}

struct PickRow {
    inverse: bool,
    form: bool,
    ad_mode: AdMode,
}

struct RowOperands<I, const FORM: bool>(PhantomData<I>);

impl<I: Instruction, const FORM: bool> Operands for RowOperands<I, FORM> {
    #[inline(always)]
    fn slot(_: &Op, n: usize) -> Slot {
        (const { layout(I::INFO.operands, FORM) })[n]
    }
}

impl InstructionVisitor for PickRow {
    type Out = Handler;

    fn visit<I: Instruction>(self) -> Handler {
        match (self.inverse, self.form) {
            (false, false) => self.for_ad_mode::<I, false, false>(),
            (false, true) => self.for_ad_mode::<I, false, true>(),
            (true, false) => self.for_ad_mode::<I, true, false>(),
            (true, true) => self.for_ad_mode::<I, true, true>(),
        }
    }
}

impl PickRow {
    fn for_ad_mode<I: Instruction, const INVERSE: bool, const FORM: bool>(&self) -> Handler {
        const PLAIN: u8 = AdMode::Plain as u8;
        const GRADIENT: u8 = AdMode::Gradient as u8;
        if const { matches!(I::INFO.adjoint, Adjoint::Discrete) } {
            return run_row::<I, INVERSE, FORM, PLAIN>;
        }
        match self.ad_mode {
            AdMode::Plain => run_row::<I, INVERSE, FORM, PLAIN>,
            AdMode::Gradient => run_row::<I, INVERSE, FORM, GRADIENT>,
            AdMode::SecondGradient | AdMode::Tangent | AdMode::GradientTangent => run_carrying_row::<I, INVERSE, FORM>,
        }
    }
}

fn run_row<I: Instruction, const INVERSE: bool, const FORM: bool, const AD_MODE: u8>(
    core: &mut Core,
    ops: &[Op],
) -> Result<(), Fault> {
    let Some(op) = ops.first() else { return Ok(()) };
    let mut ctx = Ctx::<RowOperands<I, FORM>>::new(core, op);
    let done = if AD_MODE != AdMode::Plain as u8 {
        adjoint::run_row::<_, I>(&mut ctx, const { AdMode::ALL[AD_MODE as usize] }, INVERSE, op.variant)
    } else if INVERSE {
        I::undo(&mut ctx, op.variant)
    } else {
        I::run(&mut ctx, op.variant)
    };
    proceed(core, done, ops)
}

/// A row whose AD mode is looked up as it runs.
fn run_carrying_row<I: Instruction, const INVERSE: bool, const FORM: bool>(
    core: &mut Core,
    ops: &[Op],
) -> Result<(), Fault> {
    let Some(op) = ops.first() else { return Ok(()) };
    let ad_mode = core.ad_mode;
    let mut ctx = Ctx::<RowOperands<I, FORM>>::new(core, op);
    let done = adjoint::run_row::<_, I>(&mut ctx, ad_mode, INVERSE, op.variant);
    proceed(core, done, ops)
}
