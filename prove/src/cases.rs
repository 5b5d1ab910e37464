//! The forms in which an instruction stands in code: shapes of operands, and which of its registers are the same.

use pendula_isa::extension::{Extension, Form};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::operand::Shape;
use pendula_isa::types::{Profile, Reg};

/// All forms of an instruction's family that code may have. Which registers they are matters only as far as they are the same, are `r0`, or are the
/// stack pointer of an instruction that moves it.
pub fn cases(family: Kind) -> Vec<Inst> {
    forms(family).into_iter().flat_map(|kind| aliases(kind, profile(family))).collect()
}

/// The profile whose code an instruction is tried in.
pub(crate) fn profile(family: Kind) -> Profile {
    if family.belongs_to(Profile::Native) { Profile::Native } else { Profile::Pisa }
}

/// The shapes of operands.
fn forms(family: Kind) -> Vec<Kind> {
    match family {
        Kind::Accumulate { acc, inverse, func, .. } => {
            let shapes = Shape::ALL.into_iter().filter(|s| s.arity() == func.info().args.len());
            shapes.map(|shape| Kind::Accumulate { acc, inverse, func, shape }).collect()
        }
        Kind::Row { row, inverse, ty, cond, .. } => {
            let both = row.info().operands.iter().any(|kind| kind.has_alternative());
            let forms = if both { &[false, true][..] } else { &[false] };
            forms.iter().map(|form| Kind::Row { row, inverse, ty, cond, form: *form }).collect()
        }
        Kind::Extension { extension, inverse } => {
            let info = extension.info();
            let forms: Vec<Form> = match info.form {
                Form::Function { acc, .. } => {
                    let arity = info.definition.parameters.len();
                    let shapes = Shape::ALL.into_iter().filter(|s| s.arity() == arity);
                    shapes.map(|shape| Form::Function { acc, shape }).collect()
                }
                form @ Form::Instruction { .. } => vec![form],
            };
            let made = forms.into_iter().filter_map(|form| Extension::new(&info.definition, form).ok());
            made.map(|extension| Kind::Extension { extension, inverse }).collect()
        }
    }
}

/// The valid instructions of a kind, up to a renaming of registers.
fn aliases(kind: Kind, profile: Profile) -> Vec<Inst> {
    let fields: Vec<u8> = kind.layout().into_iter().flat_map(|slot| slot.register_fields()).collect();
    let moves_sp = matches!(kind, Kind::Row { row, .. } if row.info().moves_sp);
    let mut out = Vec::new();
    let mut chosen = Vec::new();
    assign(&fields, moves_sp, &mut chosen, &mut |registers| {
        let mut inst = Inst { kind, regs: Inst::registers(&[]), imm: 1 | 1 << 14, small: 1 };
        if !kind.layout().contains(&pendula_isa::operand::Slot::Small) {
            inst.small = 0;
        }
        if !kind.layout().contains(&pendula_isa::operand::Slot::FactorNum) {
            inst.imm = 1;
        }
        for (field, register) in fields.iter().zip(registers) {
            inst.regs[usize::from(*field)] = *register;
        }
        if inst.validate(profile).is_ok() {
            out.push(inst);
        }
    });
    out
}

/// Gives each field `r0`, the stack pointer if it matters, a register that an earlier one has, or the next one.
fn assign(fields: &[u8], moves_sp: bool, chosen: &mut Vec<Reg>, done: &mut impl FnMut(&[Reg])) {
    if chosen.len() == fields.len() {
        done(chosen);
        return;
    }
    let most = chosen.iter().filter(|r| **r != Reg::SP).map(|r| r.number()).max().unwrap_or(0);
    let special = moves_sp.then_some(Reg::SP);
    for register in (0..=most + 1).filter_map(Reg::new).chain(special) {
        chosen.push(register);
        assign(fields, moves_sp, chosen, done);
        chosen.pop();
    }
}
