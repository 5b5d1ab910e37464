//! What the bodies of the table say about functions and instructions. It is found once, by lifting the bodies.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, OnceLock};

use pendula_isa::Env;
use pendula_isa::adjoint::AdMode;
use pendula_isa::kernels::Faults;
use pendula_isa::operand::OperandKind;
use pendula_isa::table::{Adjoint, Flow, Row, TableFn};
use pendula_isa::types::{Acc, Ty};

use crate::lift::symbolic::{self, Operand};
use crate::lift::{LiftConfig, symbolic::MOST_OPERANDS};
use crate::ops::{Body, Kernel, Op};

/// When a function has no value. Overflow that only raises a flag does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traps {
    /// Never: it has one for all arguments.
    Never,
    /// If this argument is zero.
    AtZero(usize),
    /// For some arguments.
    Possibly,
}

const SETTING: LiftConfig =
    LiftConfig { ad_mode: AdMode::Plain, checks: true, trap_overflow: false, ieee: false, narrow: None };

/// A fact that is found once for each key.
fn known<K: Copy + Eq + Hash, T: Copy>(facts: &OnceLock<Mutex<HashMap<K, T>>>, key: K, find: impl FnOnce() -> T) -> T {
    match facts.get_or_init(Mutex::default).lock() {
        Ok(mut facts) => *facts.entry(key).or_insert_with(find),
        Err(_) => find(),
    }
}

/// When the operations of a body trap.
fn body_traps(body: &Body, kernels: &[Kernel]) -> Traps {
    let mut traps = Traps::Never;
    for op in &body.ops {
        let found = match op {
            Op::Kernel(n, x) => {
                let kernel = &kernels[*n as usize];
                match (kernel.faults, x[kernel.arity - 1]) {
                    (Faults::Never, _) => Traps::Never,
                    (Faults::AtZero, v) => match body.ops[v.0 as usize] {
                        Op::Get(_, n) => Traps::AtZero(usize::from(n) - 1),
                        _ => Traps::Possibly,
                    },
                    (Faults::Possibly, _) => Traps::Possibly,
                }
            }
            Op::Overflow(_) => Traps::Never,
            op if op.may_exit() => Traps::Possibly,
            _ => Traps::Never,
        };
        traps = match (traps, found) {
            (Traps::Never, other) | (other, Traps::Never) => other,
            (a, b) if a == b => a,
            _ => Traps::Possibly,
        };
    }
    traps
}

/// When a function of the table has no value.
pub fn function_traps(func: TableFn) -> Traps {
    static FACTS: OnceLock<Mutex<HashMap<TableFn, Traps>>> = OnceLock::new();
    known(&FACTS, func, || {
        let mut kernels = Vec::new();
        match symbolic::function((Env::default(), SETTING), &mut kernels, func) {
            Some((body, _)) => body_traps(&body, &kernels),
            None => Traps::Possibly,
        }
    })
}

/// Whether an accumulator of words of a type may trap.
pub const fn accumulator_traps(acc: Acc, ty: Ty) -> bool {
    match acc {
        Acc::Xor => false,
        Acc::Add => matches!(ty, Ty::F),
        Acc::Mul => true,
    }
}

/// The operations of a row on variables; `None` if it has none.
fn lift(row: Row, ty: Ty) -> Option<(Body, Vec<Kernel>)> {
    let operands = (1..=MOST_OPERANDS as u8).map(Operand::Word).collect::<Vec<_>>();
    let operands = operands.get(..row.info().operands.len())?;
    let mut kernels = Vec::new();
    let body = symbolic::row((Env::default(), SETTING), &mut kernels, (row, false, ty), operands)?;
    Some((body, kernels))
}

/// Whether a row on words may trap, apart from addresses.
pub fn row_traps(row: Row, ty: Ty) -> bool {
    static FACTS: OnceLock<Mutex<HashMap<(Row, Ty), bool>>> = OnceLock::new();
    known(&FACTS, (row, ty), || match lift(row, ty) {
        Some((body, kernels)) => body_traps(&body, &kernels) != Traps::Never,
        None => true,
    })
}

/// Whether a row is a permutation of registers: it changes them in place or exchanges them, and nothing else.
pub fn permutes(row: Row) -> bool {
    static FACTS: OnceLock<Mutex<HashMap<Row, bool>>> = OnceLock::new();
    known(&FACTS, row, || {
        let info = row.info();
        let operands = |kind: &OperandKind| {
            matches!(kind, OperandKind::Target | OperandKind::Value | OperandKind::Amount | OperandKind::Factor)
        };
        let straight = info.flow == Flow::Straight && !info.moves_sp && info.adjoint != Adjoint::Drops;
        let writes =
            |ty: &Ty| lift(row, *ty).is_some_and(|(body, _)| body.ops.iter().any(|op| matches!(op, Op::Set(..))));
        straight && info.operands.iter().all(operands) && info.types.iter().all(writes)
    })
}

#[cfg(test)]
mod tests {
    use pendula_isa::table::{f_fn, int_fn, l_fn, q_fn};

    use super::*;

    #[test]
    fn traps_of_functions() {
        let traps = |func| function_traps(func);
        for f in [int_fn::Name::Mul, int_fn::Name::Pow, int_fn::Name::Shl32, int_fn::Name::Max, int_fn::Name::CvtQ] {
            assert_eq!(traps(TableFn::Int(f)), Traps::Never, "{f:?}");
        }
        for f in [int_fn::Name::Quot, int_fn::Name::Mod, int_fn::Name::Udiv] {
            assert_eq!(traps(TableFn::Int(f)), Traps::AtZero(1), "{f:?}");
        }
        for f in [int_fn::Name::LtL, int_fn::Name::EqF, int_fn::Name::CvtF] {
            assert_eq!(traps(TableFn::Int(f)), Traps::Possibly, "{f:?}");
        }
        for f in [q_fn::Name::Plus, q_fn::Name::Mul, q_fn::Name::Muladd, q_fn::Name::IntPow, q_fn::Name::Floor] {
            assert_eq!(traps(TableFn::Q(f)), Traps::Never, "{f:?}");
        }
        for f in [q_fn::Name::Abs, q_fn::Name::Div, q_fn::Name::Exp, q_fn::Name::CvtI] {
            assert_eq!(traps(TableFn::Q(f)), Traps::Possibly, "{f:?}");
        }
        assert_eq!(traps(TableFn::L(l_fn::Name::Plus)), Traps::Possibly);
        assert_eq!(traps(TableFn::F(f_fn::Name::Mul)), Traps::Possibly);
    }

    #[test]
    fn permutations() {
        use Row::{Add8, Add16, Add32, Addu8, Addu16, Addu32, Inc, Neg, Neg32, Not, Rmul, Rol, Rol32, Rot, Swap};
        let all = [Swap, Neg, Not, Rol, Inc, Rmul, Rot, Add8, Add16, Add32, Addu8, Addu16, Addu32, Neg32, Rol32];
        let found: Vec<Row> = Row::ALL.iter().copied().filter(|row| permutes(*row)).collect();
        assert_eq!(found, all);
        assert!(row_traps(Neg, Ty::L) && row_traps(Rot, Ty::F) && row_traps(Rmul, Ty::Int));
        assert!(!row_traps(Neg, Ty::Q) && !row_traps(Rot, Ty::Q) && !row_traps(Add8, Ty::Int));
    }
}
