//! Integer instructions on words that hold real numbers: their results are right, but no gradient flows through them.
//! Within a block, a register holds a real number from the accumulate that adds one to it until another instruction
//! writes it. The type of a word of memory is that of its symbol.

use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::{Module, SymbolKind};
use pendula_isa::operand::{Operand, Slot};
use pendula_isa::table::{Flow, Row};
use pendula_isa::types::{Acc, Reg, Ty};

use super::{Findings, Rule, Subject};

/// The types of the real numbers that registers are known to hold.
type RealTypes = [Option<Ty>; Reg::COUNT];

pub(super) fn check(module: &Module, found: &mut Findings) {
    let mut types: RealTypes = [None; Reg::COUNT];
    for (at, inst) in module.code.iter().enumerate() {
        if inst.kind.flow() != Flow::Straight {
            types = [None; Reg::COUNT];
            continue;
        }
        if let Some((operand, ty)) = real_in_integer_add(module, inst, &types) {
            let message = format!(
                "an integer instruction where `{operand}` holds a {} number: no gradient flows through it",
                ty.name().replace(' ', "-")
            );
            found.add(Rule::NoGradient, Subject::Inst(at as u32), None, message);
        }
        update(module, inst, &mut types);
    }
}

/// The type of the real number in an operand, if it holds one.
fn real(module: &Module, operand: Operand, types: &RealTypes) -> Option<(String, Ty)> {
    match operand {
        Operand::Reg(r) => types[r.index()].map(|ty| (r.to_string(), ty)),
        Operand::Mem { base: Reg::ZERO, index: Reg::ZERO, offset } => {
            let at = u64::try_from(offset).ok()?;
            module.symbols.iter().find_map(|s| match s.kind {
                SymbolKind::Data { ty, len, .. } if ty != Ty::Int && s.value <= at && at - s.value < len => {
                    Some((format!("[{}]", s.name), ty))
                }
                SymbolKind::Data { .. } | SymbolKind::Label | SymbolKind::Proc => None,
            })
        }
        Operand::Mem { .. }
        | Operand::Imm(..)
        | Operand::Small(_)
        | Operand::Factor(_)
        | Operand::Label(_)
        | Operand::Text(_) => None,
    }
}

/// An operand with a real number, if the instruction is an integer accumulate. An accumulate of the operand's type
/// should be used instead.
fn real_in_integer_add(module: &Module, inst: &Inst, types: &RealTypes) -> Option<(String, Ty)> {
    let Kind::Accumulate { acc: Acc::Add, func, .. } = inst.kind else { return None };
    let f = func.info();
    if f.ty != Ty::Int || f.args.iter().any(|a| a.ty != Ty::Int) {
        return None;
    }
    inst.operands().find_map(|(_, operand)| real(module, operand, types))
}

fn update(module: &Module, inst: &Inst, types: &mut RealTypes) {
    let written = |inst: &Inst| -> Vec<Reg> {
        let slots = inst.kind.layout().into_iter();
        slots.filter_map(|s| if let Slot::Target(f) = s { Some(inst.regs[f as usize]) } else { None }).collect()
    };
    match inst.kind {
        Kind::Accumulate { acc, inverse, func, .. } => {
            let ty = func.info().ty;
            for r in written(inst) {
                // After a subtraction the register may be zero.
                let adds = ty != Ty::Int && acc != Acc::Xor && !inverse;
                types[r.index()] = if adds { Some(ty) } else { types[r.index()].filter(|_| ty == Ty::Int) };
            }
        }
        Kind::Row { row: Row::Swap, .. } => types.swap(inst.regs[0].index(), inst.regs[1].index()),
        Kind::Row { row: Row::Exch, .. } => {
            let memory = inst.operands().nth(1).and_then(|(_, operand)| real(module, operand, types));
            types[inst.regs[0].index()] = memory.map(|(_, ty)| ty);
        }
        Kind::Row { .. } | Kind::Extension { .. } => {
            for r in written(inst) {
                types[r.index()] = None;
            }
        }
    }
}
