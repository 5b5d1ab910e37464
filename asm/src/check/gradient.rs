//! Integer instructions on words that hold real numbers: what they do is
//! right, but no gradient flows through them. Within a block, a register holds
//! a real number from the accumulate that adds one to it to whatever else
//! writes it; a word of memory by the type of its symbol.

use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::{Module, SymbolKind};
use pendula_isa::operand::{Operand, Slot};
use pendula_isa::table::{Flow, Row};
use pendula_isa::types::{Acc, Reg, Ty};

use super::{At, Findings, Rule};

/// What is known of the registers: the types of real numbers that they hold.
type Held = [Option<Ty>; Reg::COUNT];

pub(super) fn check(module: &Module, found: &mut Findings) {
    let mut held: Held = [None; Reg::COUNT];
    for (at, inst) in module.code.iter().enumerate() {
        if inst.kind.flow() != Flow::Straight {
            held = [None; Reg::COUNT];
            continue;
        }
        if let Some((operand, ty)) = touched(module, inst, &held) {
            let message = format!(
                "an integer instruction where `{operand}` holds a {} number: no gradient flows through it",
                ty.name().replace(' ', "-")
            );
            found.add(Rule::NoGradient, At::Inst(at as u32), None, message);
        }
        follow(module, inst, &mut held);
    }
}

/// The type of the real number in an operand, if it holds one.
fn real(module: &Module, operand: Operand, held: &Held) -> Option<(String, Ty)> {
    match operand {
        Operand::Reg(r) => held[r.index()].map(|ty| (r.to_string(), ty)),
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

/// An operand that an integer accumulate should leave to one of the operand's type.
fn touched(module: &Module, inst: &Inst, held: &Held) -> Option<(String, Ty)> {
    let Kind::Accumulate { acc: Acc::Add, func, .. } = inst.kind else { return None };
    let f = func.info();
    if f.ty != Ty::Int || f.args.iter().any(|a| a.ty != Ty::Int) {
        return None;
    }
    inst.operands().find_map(|(_, operand)| real(module, operand, held))
}

fn follow(module: &Module, inst: &Inst, held: &mut Held) {
    let written = |inst: &Inst| -> Vec<Reg> {
        let slots = inst.kind.layout().into_iter();
        slots.filter_map(|s| if let Slot::Target(f) = s { Some(inst.regs[f as usize]) } else { None }).collect()
    };
    match inst.kind {
        Kind::Accumulate { acc, inverse, func, .. } => {
            let ty = func.info().ty;
            for r in written(inst) {
                // What is taken away again may leave nothing.
                let adds = ty != Ty::Int && acc != Acc::Xor && !inverse;
                held[r.index()] = if adds { Some(ty) } else { held[r.index()].filter(|_| ty == Ty::Int) };
            }
        }
        Kind::Row { row: Row::Swap, .. } => held.swap(inst.regs[0].index(), inst.regs[1].index()),
        Kind::Row { row: Row::Exch, .. } => {
            let memory = inst.operands().nth(1).and_then(|(_, operand)| real(module, operand, held));
            held[inst.regs[0].index()] = memory.map(|(_, ty)| ty);
        }
        Kind::Row { .. } => {
            for r in written(inst) {
                held[r.index()] = None;
            }
        }
    }
}
