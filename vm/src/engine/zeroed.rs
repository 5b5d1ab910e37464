//! Loops of one block whose scratch registers are zero between turns.
//!
//! Reversible code makes an intermediate result, uses it, and clears it again by computing the same once more. A register that begins a
//! turn as zero then ends it as zero, whatever the others hold. If that follows from the operations, a second body of the
//! block can take the register to be zero, and needs no operations to clear it. Code enters that body only if the register is zero.

use pendula_codegen::lift::bits;
use pendula_codegen::ops::{Body, Op, Test, ValueId};
use pendula_isa::adjoint::VALUE;
use pendula_isa::types::Reg;

/// The body of a block that begins with some registers zero, and leaves them zero.
pub(crate) struct Zeroed {
    pub(crate) registers: u32,
    pub(crate) body: Body,
}

/// The registers that a loop of one block changes, and leaves zero if they are zero when it begins, with the body for that case. What such
/// a register holds is computed, used and uncomputed again, and the last of these needs no operations then. `None` if that saves
/// nothing. `lift` lifts the block with registers that are zero, and says which of them are zero when it ends.
pub(super) fn zero_registers(body: &Body, mut lift: impl FnMut(u32) -> (u32, Body)) -> Option<Zeroed> {
    let sets = |body: &Body| -> Vec<(u8, ValueId)> {
        let set = |op: &Op| match *op {
            Op::Set(lane, reg, v) if usize::from(lane) == VALUE && reg != Reg::SP.number() => Some((reg, v)),
            _ => None,
        };
        body.ops.iter().filter_map(set).collect()
    };
    if body.ops.contains(&Op::Interpret) {
        return None;
    }
    let written = sets(body).iter().fold(0, |all, (reg, _)| all | 1 << reg);
    // A register that is zero all the time, once it is, holds no intermediate result.
    let scratch = |reg: &u8| {
        let (kept, body) = lift(1 << reg);
        let zero = |v: ValueId| body.ops[v.0 as usize] == Op::Const(0);
        kept != 0 && sets(&body).iter().any(|&(r, v)| r == *reg && !zero(v))
    };
    let registers = bits(written).filter(scratch).fold(0, |all, reg| all | 1 << reg);
    let (kept, zeroed) = lift(registers);
    let saves = registers != 0 && kept == registers && needed(&zeroed) < needed(body);
    saves.then_some(Zeroed { registers, body: zeroed })
}

/// The number of operations of a body that compute something which is needed.
fn needed(body: &Body) -> usize {
    let mut last = [None; Reg::COUNT];
    for (n, op) in body.ops.iter().enumerate() {
        if let Op::Set(lane, reg, _) = *op
            && usize::from(lane) == VALUE
        {
            last[usize::from(reg)] = Some(n);
        }
    }
    let mut needed = vec![false; body.ops.len()];
    for test in body.branch.iter().flat_map(|b| [b.test, b.confirm, b.unless]) {
        if let Test::If(_, v) = test {
            needed[v.0 as usize] = true;
        }
    }
    for (n, op) in body.ops.iter().enumerate().rev() {
        needed[n] |= match *op {
            Op::Set(lane, reg, _) => usize::from(lane) != VALUE || last[usize::from(reg)] == Some(n),
            _ => !op.is_idle(),
        };
        if needed[n] {
            op.uses().for_each(|v| needed[v.0 as usize] = true);
        }
    }
    body.ops.iter().zip(&needed).filter(|(op, needed)| **needed && !matches!(op, Op::Const(_) | Op::Get(..))).count()
}
