//! Steps of definitions: instructions on operands, temporaries and constants.

use std::collections::HashMap;

use pendula_isa::extension::{TEMPORARIES, Temporary, may_be_step, operand_register, temporary_register};
use pendula_isa::operand::{OPERANDS, Operand, OperandKind};
use pendula_isa::table::Adjoint;
use pendula_isa::{Inst, Kind, Profile, Reg, Ty};

use super::Draft;
use crate::ast::{Arg, ArgKind, NodeKind, Span};
use crate::codes;
use crate::intern::Sym;
use crate::parser::Parser;
use crate::session::{Parsed, Reported};
use crate::symbols::Symbols;
use crate::value::Value;

/// Reads a step.
pub(super) fn step(
    p: &mut Parser<'_>,
    draft: &mut Draft,
    kind: Kind,
    span: Span,
    constants: &mut Symbols,
) -> Parsed<Inst> {
    let mnemonic = kind.mnemonic();
    if !may_be_step(kind) {
        let message = format!("`{mnemonic}` cannot be a step of an instruction");
        let help = "steps can be undone, and work on operands, temporaries and constants alone: no jumps, calls, memory, input or output";
        return Err(p.fail(codes::STEP, message, span, help));
    }
    let args = p.arguments()?;
    let mut operands = Vec::with_capacity(args.len());
    for (n, arg) in args.iter().enumerate() {
        operands.push(step_operand(p, draft, kind, (n, *arg), constants)?);
    }
    let place = |position: usize| position.checked_sub(1).and_then(|n| args.get(n)).map_or(span, |arg| arg.span);
    let inst = Inst::build_in(Profile::Native, kind, &operands).map_err(|error| {
        let message = match &error {
            // The register is one of the definition's.
            pendula_isa::OperandError::Aliased { .. } => {
                "an operand is written by this step and may not occur in it again".to_string()
            }
            error => error.to_string(),
        };
        p.fail(error.code(), message, place(error.position()), error.help())
    })?;
    for (n, (slot, operand)) in inst.operands().enumerate() {
        let Operand::Reg(register) = operand else { continue };
        let number = register.local_number().map(usize::from).filter(|n| *n < OPERANDS);
        if let Some(parameter) = number.and_then(|n| draft.parameters.get(n))
            && slot.is_written()
            && !parameter.written
        {
            let message = format!("this step changes `{}`, which the instruction only reads", parameter.name);
            let help = format!(
                "list it among the operands that change, before `|`: `.instr {} {}, …`",
                draft.name, parameter.name
            );
            return Err(p.fail(codes::READ_ONLY, message, place(n + 1), &help));
        }
        let Some(ty) = typed(inst.kind, n) else { continue };
        let first = *draft.types.entry(register).or_insert((ty, place(n + 1)));
        match first.0 {
            // Whole words and their bits are those of any number.
            known if known == ty || ty == Ty::Int => {}
            Ty::Int => _ = draft.types.insert(register, (ty, place(n + 1))),
            known => {
                let message = format!("a number of type {} here, and of type {} before", ty.name(), known.name());
                let d = p.s.error(codes::STEP_TYPE, message, place(n + 1)).also(p.s.place(first.1), "here");
                return Err(p.s.report(d.help("convert it: `addcvt…` into a temporary"), p.via));
            }
        }
    }
    Ok(inst)
}

/// The type as which a step uses operand `n`; `None` if any serves.
fn typed(kind: Kind, n: usize) -> Option<Ty> {
    match kind {
        Kind::Row { row, .. } if row.info().adjoint == Adjoint::Moves || row.info().adjoint == Adjoint::Drops => None,
        _ => Some(kind.constant_type(n)),
    }
}

fn step_operand(
    p: &mut Parser<'_>,
    draft: &Draft,
    kind: Kind,
    (n, arg): (usize, Arg),
    constants: &mut Symbols,
) -> Parsed<Operand> {
    let wanted = "an operand of the instruction, a temporary, or a constant";
    match arg.kind {
        ArgKind::Name(name) => match draft.locals.get(&name) {
            Some(register) => Ok(Operand::Reg(*register)),
            None => Err(unknown_local(p, draft, name, arg.span)),
        },
        ArgKind::Reg(register) => {
            let message = format!("the register {register} in a definition");
            let help = format!("steps work on {wanted}");
            Err(p.fail(codes::STEP, message, arg.span, &help))
        }
        ArgKind::Mem { .. } => {
            let help = format!("steps work on {wanted}; a program brings words of memory to registers before");
            Err(p.fail(codes::STEP, "a word of memory in a definition", arg.span, &help))
        }
        ArgKind::Text(_) => Ok(Operand::Text(0)),
        ArgKind::Int { negative, magnitude } => {
            let n_value = i128::from(magnitude);
            let value = Value::Int(if negative { -n_value } else { n_value });
            let ty = constant_type(kind, n);
            let word = constants.word(p.s, value, ty, arg.span, p.via)?;
            Ok(Operand::Imm(word, ty))
        }
        ArgKind::Expr(expr) => {
            let named = p.s.ast.nodes(expr).iter().find_map(|node| match node.kind {
                NodeKind::Name(name) => Some((name, node.span)),
                _ => None,
            });
            let ty = constant_type(kind, n);
            if let Some((name, span)) = named.filter(|(name, _)| !constants.is_literal(*name, ty)) {
                return Err(unknown_local(p, draft, name, span));
            }
            let value = constants.eval(p.s, expr, ty, p.via)?;
            let word = constants.word(p.s, value, ty, arg.span, p.via)?;
            Ok(Operand::Imm(word, ty))
        }
    }
}

/// Refuses a name that is none of a definition's.
pub(in crate::expand) fn unknown_local(p: &mut Parser<'_>, draft: &Draft, name: Sym, span: Span) -> Reported {
    let text = p.s.names.text(name).to_string();
    let mut names: Vec<&str> = draft.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    names.extend(draft.temporaries.iter().map(|temporary| temporary.name.as_str()));
    let help = match draft.is_function {
        true => format!("its arguments are {}", names.join(", ")),
        false => format!(
            "it has {}; `.temp {text}` makes a temporary; operands that are read stand behind `|`; `.equ` names no constants here",
            names.join(", ")
        ),
    };
    p.fail(codes::UNDEFINED, format!("the definition of `{}` has no `{text}`", draft.name), span, &help)
}

/// The type of a constant in the place of a step's operand.
fn constant_type(kind: Kind, n: usize) -> Ty {
    match kind.operand_kind(n) {
        Some(OperandKind::Amount | OperandKind::Factor | OperandKind::Small) => Ty::Int,
        _ => kind.constant_type(n),
    }
}

/// The steps of an extension in another definition: its operands are those of the step, and its temporaries are added.
pub(super) fn inlined(p: &mut Parser<'_>, draft: &mut Draft, step: &Inst, span: Span) -> Parsed<Vec<Inst>> {
    let Kind::Extension { extension, .. } = step.kind else { return Ok(Vec::new()) };
    let info = extension.info();
    let mut places: HashMap<Reg, Reg> = HashMap::new();
    for (n, (_, operand)) in step.operands().enumerate() {
        match operand {
            Operand::Reg(register) => _ = places.insert(operand_register(n), register),
            _ => {
                let help = "bring the constant into a temporary first";
                let message = "a constant as an operand of another definition";
                return Err(p.fail(codes::STEP, message, span, help));
            }
        }
    }
    for (n, temporary) in info.definition.temporaries.iter().enumerate() {
        if draft.temporaries.len() >= TEMPORARIES {
            let message = format!("the definition of `{}` has more than {TEMPORARIES} temporaries", draft.name);
            return Err(p.fail(codes::LIMIT, message, span, "divide it into several instructions"));
        }
        places.insert(temporary_register(n), temporary_register(draft.temporaries.len()));
        let mut name = format!("{}.{}", temporary.name, draft.temporaries.len());
        while p.s.names.find(&name).is_some_and(|known| draft.locals.contains_key(&known)) {
            name.push('_');
        }
        let symbol = p.s.names.intern(&name);
        draft.locals.insert(symbol, temporary_register(draft.temporaries.len()));
        draft.temporaries.push(Temporary { name, ty: temporary.ty });
    }
    let mut steps = step.steps(false);
    for register in steps.iter_mut().flat_map(|step| &mut step.regs) {
        *register = places.get(register).copied().unwrap_or(*register);
    }
    Ok(steps)
}
