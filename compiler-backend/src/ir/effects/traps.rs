//! Which updates may trap, and which cannot be undone bit for bit.

use pendula_codegen::properties::{Traps, accumulator_traps, function_traps};
use pendula_isa::table::TableFn;
use pendula_isa::{Acc, Ty};

use crate::ir::Operand;

/// Whether undoing an update may leave bits other than the original ones.
pub fn is_inexact(acc: Acc, func: TableFn) -> bool {
    func.info().ty == Ty::F && !acc.self_inverse()
}

/// Whether an update may trap, apart from its addresses, and from fixed-point overflow in runs that trap on it.
pub fn update_traps(acc: Acc, func: TableFn, args: &[Operand]) -> bool {
    let traps = match function_traps(func) {
        Traps::Never => false,
        Traps::AtZero(n) => !matches!(args.get(n), Some(Operand::Const(k)) if *k != 0),
        Traps::Possibly => true,
    };
    traps || accumulator_traps(acc, func.info().ty)
}
