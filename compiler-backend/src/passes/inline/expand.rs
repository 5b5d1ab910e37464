//! Expands one call: rewrites the callee's body with the caller's variables.

use pendula_isa::num::log;
use pendula_isa::table::{Row, TableFn};
use pendula_isa::{Acc, Ty};

use super::regions::{Origin, origins};
use crate::ir::effects::{Effects, Summaries, blocks};
use crate::ir::{
    AncillaChecks, Block, IrFunction, Loc, LocatedStmt, Mem, Operand, Place, Region, Stmt, Var, VarInfo, identity,
    invert,
};
use crate::passes::rewrite::{Slot, Substitution, slots};
use crate::passes::table::{FastMap, FastSet};

/// How often a word of memory may replace a parameter.
const MAX_USES: usize = 2;
/// The weight of a use in a loop.
const LOOP_WEIGHT: usize = 100;

/// What replaces a parameter in the caller.
enum Replacement {
    /// The argument.
    Argument(Operand),
    /// A new variable that holds a copy of the argument during the call.
    Copy(Operand),
    /// A new variable that is exchanged with the word of memory.
    Lent(Mem),
}

/// The body that replaces a call of a function; `None` if the call cannot be inlined.
pub(super) fn expand(
    caller: &mut IrFunction,
    callee: &IrFunction,
    inverse: bool,
    args: &[Operand],
    loc: Loc,
    summaries: &Summaries,
) -> Option<Block> {
    let unknown = callee.params.iter().any(|p| p.var.0 as usize >= callee.vars.len());
    if unknown || args.len() != callee.params.len() {
        return None;
    }
    let effects = Effects::of_block(summaries, &callee.body);
    let written: FastSet<Var> = callee
        .params
        .iter()
        .zip(args)
        .filter(|(p, _)| p.written || effects.writes.has(p.var))
        .filter_map(|(_, a)| if let Operand::Var(v) = a { Some(*v) } else { None })
        .collect();
    let uses = uses(callee, summaries);
    let mut stands = Vec::new();
    for (n, (param, arg)) in callee.params.iter().zip(args).enumerate() {
        // Addresses must not change, and a word that is written must have one name.
        let free = |v: Var| !written.contains(&v);
        let ok = match arg {
            Operand::Const(_) => !param.written,
            Operand::Var(v) => effects.writes.has(param.var) || param.written || free(*v),
            Operand::Mem(m) => m.vars().all(free),
        };
        let repeated = |a: &Operand| args.iter().enumerate().any(|(m, b)| m != n && a == b);
        if !ok || (param.written && repeated(arg)) {
            return None;
        }
        let ty = callee.ty(param.var);
        let touched = effects.writes.has(param.var);
        let used = uses.get(&param.var).copied().unwrap_or_default();
        stands.push(replacement(param.written, *arg, ty, touched, repeated(arg), used)?);
    }
    let regions = map_regions(caller, callee, args, summaries)?;
    let mut vars: FastMap<Var, Operand> = FastMap::default();
    let mut wraps = Vec::new();
    for (param, replacement) in callee.params.iter().zip(stands) {
        let info = &callee.vars[param.var.0 as usize];
        let operand = match replacement {
            Replacement::Argument(operand) => operand,
            Replacement::Copy(_) | Replacement::Lent(_) => Operand::Var(local(caller, info, &regions)),
        };
        vars.insert(param.var, operand);
        wraps.push((operand, info.ty, replacement));
    }
    for (n, info) in (0u32..).zip(&callee.vars) {
        vars.entry(Var(n)).or_insert_with(|| Operand::Var(local(caller, info, &regions)));
    }
    let mut body = if inverse { invert::block(&callee.body) } else { callee.body.clone() };
    let substitution = Substitution {
        var: &|v| vars.get(&v).copied().unwrap_or(Operand::Var(v)),
        region: &|r| regions.get(r.0 as usize).copied().flatten().unwrap_or(r),
    };
    if !substitution.apply(&mut body, summaries) {
        return None;
    }
    for (operand, ty, replacement) in wraps {
        if let Operand::Var(v) = operand {
            body = wrap(v, ty, &replacement, body, loc);
        }
    }
    Some(body)
}

/// A new variable of the caller for one of the callee.
fn local(caller: &mut IrFunction, info: &VarInfo, regions: &[Option<Region>]) -> Var {
    let points = info.points.and_then(|r| regions.get(r.0 as usize).copied().flatten());
    caller.vars.push(VarInfo { points, ..info.clone() });
    Var(caller.vars.len() as u32 - 1)
}

/// How a parameter is used.
#[derive(Clone, Copy, Default)]
struct Uses {
    /// The number of uses, weighted by loops.
    weight: usize,
    /// True if it is used in an address or a step, where a word of memory is not possible.
    address: bool,
    /// True if logarithmic numbers are multiplied or divided by it, where a zero is not possible.
    factor: bool,
}

fn uses(callee: &IrFunction, summaries: &Summaries) -> FastMap<Var, Uses> {
    let mut out = FastMap::default();
    count(&callee.body, 1, summaries, &mut out);
    out
}

fn count(block: &[LocatedStmt], weight: usize, summaries: &Summaries, out: &mut FastMap<Var, Uses>) {
    for s in block {
        let factor = matches!(&s.stmt, Stmt::Update { func: TableFn::L(_), .. });
        slots(&s.stmt, summaries, &mut |slot| {
            let Some(operand) = slot.operand() else { return };
            let address = matches!(operand, Operand::Mem(_)) || matches!(slot, Slot::Life(_) | Slot::Step(_));
            for v in operand.vars() {
                let uses: &mut Uses = out.entry(v).or_default();
                uses.weight += weight;
                uses.address |= address;
                uses.factor |= factor;
            }
        });
        let is_loop = matches!(s.stmt, Stmt::For { .. } | Stmt::While { .. });
        let inner = if is_loop { LOOP_WEIGHT } else { weight };
        for b in blocks(&s.stmt) {
            count(b, inner.max(weight), summaries, out);
        }
    }
}

fn replacement(written: bool, arg: Operand, ty: Ty, touched: bool, repeated: bool, uses: Uses) -> Option<Replacement> {
    let plain = matches!(ty, Ty::Int | Ty::Q);
    Some(match (written, arg) {
        (_, Operand::Var(_)) if written || !touched => Replacement::Argument(arg),
        (true, Operand::Mem(m)) if uses.address || uses.weight > MAX_USES => Replacement::Lent(m),
        (true, arg) => Replacement::Argument(arg),
        // A parameter that is changed temporarily: afterwards the argument has its old value, unless it is a float.
        (false, Operand::Var(_)) if plain && !repeated => Replacement::Argument(arg),
        (false, Operand::Var(_)) if ty == Ty::L => return None,
        (false, Operand::Var(_)) => Replacement::Copy(arg),
        (false, Operand::Const(k)) => {
            let zero = ty == Ty::L && uses.factor && k == log::ZERO;
            if touched || zero { Replacement::Copy(arg) } else { Replacement::Argument(arg) }
        }
        (false, Operand::Mem(_)) if plain && (touched || uses.address || uses.weight > MAX_USES) => {
            Replacement::Copy(arg)
        }
        (false, Operand::Mem(_)) if touched => return None,
        (false, Operand::Mem(_)) => Replacement::Argument(arg),
    })
}

/// Wraps a body in which a variable holds an argument.
fn wrap(v: Var, ty: Ty, replacement: &Replacement, body: Block, loc: Loc) -> Block {
    match replacement {
        Replacement::Argument(_) => body,
        Replacement::Copy(arg) => {
            // A constant is added by its bits, and no gradient flows to it.
            let acc = if matches!(arg, Operand::Const(_)) { Acc::Xor } else { Acc::Add };
            let (func, dst, args) = (identity(ty), Place::Var(v), vec![*arg]);
            let compute = vec![
                Stmt::Ancilla { var: v, free: false, checks: AncillaChecks::FULL }.at(loc),
                Stmt::Update { acc, inverse: false, func, dst, args }.at(loc),
            ];
            vec![Stmt::With { name: "argument".into(), compute, body }.at(loc)]
        }
        Replacement::Lent(m) => {
            let checks = AncillaChecks::NONE;
            let args = vec![Operand::Var(v), Operand::Mem(*m)];
            let swap = Stmt::Permute { row: Row::Swap, inverse: false, ty: Ty::Int, args }.at(loc);
            let mut out = vec![Stmt::Ancilla { var: v, free: false, checks }.at(loc), swap.clone()];
            out.extend(body);
            out.push(swap);
            out.push(Stmt::Ancilla { var: v, free: true, checks }.at(loc));
            out
        }
    }
}

/// The caller's regions that correspond to the callee's.
fn map_regions(
    caller: &mut IrFunction,
    callee: &IrFunction,
    args: &[Operand],
    summaries: &Summaries,
) -> Option<Vec<Option<Region>>> {
    let mut out = Vec::new();
    for (origin, info) in origins(callee, summaries).into_iter().zip(&callee.regions) {
        out.push(match origin {
            Origin::Unused => None,
            Origin::Own => {
                caller.regions.push(info.clone());
                Some(Region(caller.regions.len() as u32 - 1))
            }
            Origin::Given(list) => {
                let given = list.iter().map(|v| {
                    let n = callee.params.iter().position(|p| p.var == *v)?;
                    if let Operand::Var(arg) = args.get(n)? { caller.points(*arg) } else { None }
                });
                let regions: Option<Vec<Region>> = given.collect();
                let regions = regions?;
                let first = *regions.first()?;
                // If there are several, all must point into one region.
                Some(regions.iter().all(|r| *r == first).then_some(first)?)
            }
            Origin::Unknown => return None,
        });
    }
    Some(out)
}
