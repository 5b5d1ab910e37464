//! Which updates and permutations may trap, and which cannot be undone bit for bit.

use pendula_isa::table::{Row, TableFn, int_fn, q_fn};
use pendula_isa::{Acc, Ty};

use crate::ir::Operand;

/// Whether undoing an update may leave bits other than the original ones.
pub fn is_inexact(acc: Acc, func: TableFn) -> bool {
    func.info().ty == Ty::F && !acc.self_inverse()
}

/// Whether an update may trap, apart from its addresses, and from fixed-point overflow in runs that trap on it.
pub fn update_traps(acc: Acc, func: TableFn, args: &[Operand]) -> bool {
    let nonzero = |n: usize| matches!(args.get(n), Some(Operand::Const(k)) if *k != 0);
    match func {
        TableFn::Int(f) => match f {
            int_fn::Name::Id
            | int_fn::Name::Plus
            | int_fn::Name::Minus
            | int_fn::Name::Mul
            | int_fn::Name::Pow
            | int_fn::Name::And
            | int_fn::Name::Or
            | int_fn::Name::Nor
            | int_fn::Name::Shl
            | int_fn::Name::Shr
            | int_fn::Name::Sar
            | int_fn::Name::Shl32
            | int_fn::Name::Shr32
            | int_fn::Name::Sar32
            | int_fn::Name::Lt
            | int_fn::Name::Ltu
            | int_fn::Name::Eq
            | int_fn::Name::Min
            | int_fn::Name::Max
            | int_fn::Name::LtQ
            | int_fn::Name::EqQ
            | int_fn::Name::CvtQ => false,
            int_fn::Name::Quot | int_fn::Name::Rem | int_fn::Name::Div | int_fn::Name::Mod => !nonzero(1),
            int_fn::Name::Udiv | int_fn::Name::Umod => !nonzero(1),
            // A word that is not a logarithmic number has no order, and neither has a NaN.
            int_fn::Name::LtL | int_fn::Name::EqL | int_fn::Name::LtF | int_fn::Name::EqF => true,
            int_fn::Name::CvtL | int_fn::Name::CvtF => true,
        },
        TableFn::Q(f) => !matches!(
            f,
            q_fn::Name::Id
                | q_fn::Name::Plus
                | q_fn::Name::Minus
                | q_fn::Name::Prod
                | q_fn::Name::IntPow
                | q_fn::Name::Mul
                | q_fn::Name::Muladd
                | q_fn::Name::Min
                | q_fn::Name::Max
                | q_fn::Name::Sign
                | q_fn::Name::Relu
        ),
        TableFn::L(_) => !(acc == Acc::Xor && func.info().name.is_empty()),
        TableFn::F(_) => !(acc == Acc::Xor && func.info().name.is_empty()),
    }
}

/// Whether a permutation may trap.
pub(super) fn row_traps(row: Row, ty: Ty) -> bool {
    match row {
        Row::Swap
        | Row::Not
        | Row::Rol
        | Row::Inc
        | Row::Add8
        | Row::Add16
        | Row::Add32
        | Row::Addu8
        | Row::Addu16
        | Row::Addu32
        | Row::Neg32
        | Row::Rol32 => false,
        Row::Neg => ty == Ty::L,
        Row::Rot => ty != Ty::Q,
        Row::Exch
        | Row::Rmul
        | Row::Push
        | Row::Assert
        | Row::Zero
        | Row::ZeroWithin
        | Row::Emit
        | Row::Read
        | Row::Show
        | Row::Print
        | Row::Erase
        | Row::Gswap
        | Row::Start
        | Row::Jmp
        | Row::Proc
        | Row::Call
        | Row::Callr
        | Row::Gcall
        | Row::Exch32
        | Row::Bra
        | Row::Rbra
        | Row::Swapbr
        | Row::Cell => true,
    }
}
