//! Derivatives that do not exist. Those of a root and of a distance at 0 are taken as 0; with `--strict-derivatives` a run stops there
//! instead: each such function is preceded by an assertion.

use pendula_isa::table::{TableFn, f_fn, q_fn};
use pendula_isa::{Acc, Cond, Ty};

use crate::ir::effects::blocks_mut;
use crate::ir::{AncillaChecks, AssertKind, Block, IrFunction, LocatedStmt, Operand, Place, Program, Stmt, Test};

/// The functions whose derivatives do not exist at 0.
#[derive(Clone, Copy)]
enum Kink {
    /// Of one argument, at 0.
    Root(Ty),
    /// Of two arguments, at the origin, where the function itself is 0.
    Distance(Ty),
}

fn kink(func: TableFn) -> Option<Kink> {
    Some(match func {
        TableFn::F(f_fn::Name::Sqrt) => Kink::Root(Ty::F),
        TableFn::Q(q_fn::Name::Sqrt) => Kink::Root(Ty::Q),
        TableFn::F(f_fn::Name::Hypot) => Kink::Distance(Ty::F),
        TableFn::Q(q_fn::Name::Hypot) => Kink::Distance(Ty::Q),
        _ => return None,
    })
}

/// Puts an assertion before each function of the program that has no derivative at 0.
pub(crate) fn refuse(program: &mut Program) {
    let mut reasons = std::mem::take(&mut program.reasons);
    for f in &mut program.functions {
        let body = std::mem::take(&mut f.body);
        f.body = refuse_in(f, &mut reasons, body);
    }
    program.reasons = reasons;
}

fn refuse_in(f: &mut IrFunction, reasons: &mut Vec<String>, list: Block) -> Block {
    let mut out = Block::with_capacity(list.len());
    for mut at in list {
        for inner in blocks_mut(&mut at.stmt) {
            let block = std::mem::take(inner);
            *inner = refuse_in(f, reasons, block);
        }
        if let Stmt::Update { func, args, .. } = &at.stmt
            && let Some(kink) = kink(*func)
        {
            let stmt = assertion(f, reasons, kink, *func, args, &at);
            out.push(stmt.at(at.loc));
        }
        out.push(at);
    }
    out
}

fn assertion(
    f: &mut IrFunction,
    reasons: &mut Vec<String>,
    kink: Kink,
    func: TableFn,
    args: &[Operand],
    at: &LocatedStmt,
) -> Stmt {
    let text = match kink {
        Kink::Root(_) => "the square root has no derivative at 0",
        Kink::Distance(_) => "the distance from the origin has no derivative there",
    };
    let known = reasons.iter().position(|r| r == text).unwrap_or_else(|| {
        reasons.push(text.to_string());
        reasons.len() - 1
    });
    let reason = u32::try_from(known).ok();
    let zero = Operand::Const(0);
    let assert = |ty: Ty, a: Operand| {
        let test = Test { cond: Cond::Ne, ty, a, b: zero };
        Stmt::Assert { test, why: AssertKind::User, reason }
    };
    match kink {
        Kink::Root(ty) => assert(ty, args.first().copied().unwrap_or(zero)),
        Kink::Distance(ty) => {
            let var = f.fresh("distance", ty);
            let checks = AncillaChecks { check: false, drop: true };
            let dst = Place::Var(var);
            let compute = vec![
                Stmt::Ancilla { var, free: false, checks }.at(at.loc),
                Stmt::Update { acc: Acc::Add, inverse: false, func, dst, args: args.to_vec() }.at(at.loc),
            ];
            let body = vec![assert(ty, Operand::Var(var)).at(at.loc)];
            Stmt::With { name: format!("{}.{}", f.name, at.loc.line), compute, body }
        }
    }
}
