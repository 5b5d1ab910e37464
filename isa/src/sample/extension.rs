//! Random definitions of extensions.

use std::sync::Arc;

use super::{Source, number};
use crate::extension::{
    Defines, Definition, Extension, Form, Parameter, Temporary, identity, may_be_step, operand_register, sum_of,
    temporary_register,
};
use crate::inst::{Inst, Kind};
use crate::mnemonic::families;
use crate::num::Format;
use crate::operand::{Shape, Slot};
use crate::table::{Row, TableFn};
use crate::types::{Profile, Reg, Ty};

/// A random extension, as it may stand in code: an instruction with as many operands as there can be, or an accumulate with a function.
/// Its temporaries are mostly clear at the end.
pub fn extension(s: &mut Source) -> Option<Kind> {
    let definition = Arc::new(if s.once_in(3) { function(s)? } else { instruction(s) });
    let form = if definition.is_function() {
        let arity = definition.parameters.len();
        let shapes: Vec<Shape> = Shape::ALL.into_iter().filter(|shape| shape.arity() == arity).collect();
        let ty = definition.operand_type(0);
        let acc = if s.once_in(4) { crate::Acc::Xor } else { sum_of(ty) };
        Form::Function { acc, shape: s.pick(&shapes) }
    } else {
        let read: Vec<u8> =
            (0..definition.parameters.len()).filter(|n| !definition.parameters[*n].written).map(|n| n as u8).collect();
        let few = definition.parameters.len() <= 5;
        let constant = (!read.is_empty() && few && s.once_in(3)).then(|| s.pick(&read));
        Form::Instruction { constant }
    };
    let extension = Extension::new(&definition, form).ok()?;
    let inverse = extension.info().partner.is_some() && s.once_in(3);
    Some(Kind::Extension { extension, inverse })
}

fn parameter(name: char, ty: Ty, written: bool) -> Parameter {
    Parameter { name: name.to_string(), ty, written }
}

fn instruction(s: &mut Source) -> Definition {
    let (written, read) = (1 + s.below(4) as usize, s.below(4) as usize);
    let temporaries = s.below(4) as usize;
    let ty = s.pick(&[Ty::Int, Ty::Q, Ty::F]);
    let writable: Vec<Reg> = (0..written).map(operand_register).collect();
    let scratch: Vec<Reg> = (0..temporaries).map(temporary_register).collect();
    let sources: Vec<Reg> = (0..written + read).map(operand_register).collect();
    let mut steps = Vec::new();
    // What is computed into temporaries is undone in the end, most of the time.
    let from_read: Vec<Reg> = sources[written..].to_vec();
    let mut computed = Vec::new();
    if !scratch.is_empty() && !from_read.is_empty() {
        for _ in 0..1 + s.below(4) {
            computed.extend(step(s, &scratch, &[&from_read[..], &scratch].concat()));
        }
    }
    steps.extend_from_slice(&computed);
    for _ in 0..1 + s.below(6) {
        steps.extend(step(s, &writable, &[&sources[..], &scratch].concat()));
    }
    if !s.once_in(6) {
        steps.extend(computed.iter().rev().map(|step| step.inverse()));
    }
    let parameters = (0..written + read).map(|n| parameter((b'a' + n as u8) as char, ty, n < written)).collect();
    let temporaries = (0..temporaries).map(|n| Temporary { name: format!("t{n}"), ty: Ty::Int }).collect();
    let defines = Defines::Instruction { partner: Some("undo".to_string()) };
    Definition { name: "sample".to_string(), defines, docs: Vec::new(), parameters, temporaries, steps }
}

/// A random step that writes some of these registers and reads others.
fn step(s: &mut Source, writable: &[Reg], all: &[Reg]) -> Option<Inst> {
    let steps: Vec<Kind> = families().filter(|k| may_be_step(*k) && !k.is_irreversible()).collect();
    for _ in 0..20 {
        let kind = super::variant(s.pick(&steps), s);
        // Checks mostly fail.
        if matches!(kind, Kind::Row { row: Row::Assert | Row::Zero | Row::ZeroWithin, .. }) && !s.once_in(16) {
            continue;
        }
        let mut inst = Inst { kind, regs: Inst::registers(&[]), imm: 0, small: 0 };
        let mut fits = true;
        for (n, slot) in kind.layout().into_iter().enumerate() {
            match slot {
                Slot::Target(f) => inst.regs[usize::from(f)] = s.pick(writable),
                Slot::Reg(f) => inst.regs[usize::from(f)] = s.pick(all),
                Slot::Imm => inst.imm = number(kind.constant_type(n), Format::default(), s).cast_signed(),
                Slot::FactorNum => inst.imm |= 1 + s.below(9) as i64,
                Slot::FactorDen => inst.imm |= (1 + s.below(9) as i64) << 14,
                Slot::None => {}
                _ => fits = false,
            }
        }
        if matches!(kind, Kind::Row { row: Row::Rol | Row::Rol32, form: true, .. }) {
            inst.imm &= 63;
        }
        if fits && inst.validate(Profile::Native).is_ok() {
            return Some(inst);
        }
    }
    None
}

fn function(s: &mut Source) -> Option<Definition> {
    let ty = s.pick(&[Ty::Int, Ty::Q, Ty::L, Ty::F]);
    let arity = 1 + s.below(3) as usize;
    let parameters: Vec<Parameter> = (0..arity).map(|n| parameter((b'a' + n as u8) as char, ty, false)).collect();
    let of_type = |func: &&TableFn| {
        let info = func.info();
        info.ty == ty && info.args.iter().all(|arg| arg.ty == ty)
    };
    let functions: Vec<TableFn> = TableFn::ALL.iter().filter(of_type).copied().collect();
    let mut known: Vec<Reg> = (0..arity).map(|n| operand_register(n + 1)).collect();
    let (mut steps, mut temporaries) = (Vec::new(), Vec::new());
    for n in 0..1 + s.below(4) as usize {
        let func = if s.once_in(8) { identity(ty) } else { s.pick(&functions) };
        let target = temporary_register(n);
        let mut regs = Inst::registers(&[target]);
        let count = func.info().args.len();
        for register in regs.iter_mut().skip(1).take(count) {
            *register = s.pick(&known);
        }
        let kind = Kind::Accumulate { acc: sum_of(ty), inverse: false, func, shape: Shape::of_registers(count) };
        steps.push(Inst { kind, regs, imm: 0, small: 0 });
        temporaries.push(Temporary { name: format!("t{n}"), ty });
        known.push(target);
    }
    let value = *known.last()?;
    let defines = Defines::Function { ty, value, expression: "sample".to_string() };
    Some(Definition {
        name: format!("sample{}", ty.suffix()),
        defines,
        docs: Vec::new(),
        parameters,
        temporaries,
        steps,
    })
}
