//! Help for operands that an instruction does not accept, where more can be said than the error alone knows.

use pendula_isa::inst::Kind;
use pendula_isa::mnemonic::lookup;
use pendula_isa::operand::OperandKind;
use pendula_isa::table::Row;
use pendula_isa::types::{Acc, Cond};
use pendula_isa::{OperandError, Reg};

use crate::ast::{Arg, ArgKind};

/// Help for operands that are not accepted; `None` if the error's own help suffices.
pub(crate) fn help(kind: Kind, error: &OperandError, args: &[Arg]) -> Option<String> {
    let operand = error.position().checked_sub(1).and_then(|n| args.get(n)).map(|a| a.kind);
    match error {
        OperandError::Count { .. } => help_for_count(kind, args),
        OperandError::Kind { position, wanted, .. } => help_for_kind(kind, operand?, *position, wanted),
        OperandError::Aliased { reg, .. } => help_for_alias(kind, *reg, args),
        OperandError::WritesZero { .. }
        | OperandError::StackPointer { .. }
        | OperandError::TwoMemory { .. }
        | OperandError::TwoImmediates { .. }
        | OperandError::ZeroFactor { .. }
        | OperandError::OutOfRange { .. }
        | OperandError::MixedFactors { .. }
        | OperandError::NoRoom { .. }
        | OperandError::TooManyExtensions => None,
    }
}

/// The accumulator of an instruction that adds, subtracts or the like an operand itself, and whether it is the inverse.
fn unary_accumulate(kind: Kind) -> Option<(Acc, bool)> {
    match kind {
        Kind::Accumulate { acc, inverse, func, .. } if func.info().name.is_empty() => Some((acc, inverse)),
        Kind::Accumulate { .. } | Kind::Row { .. } | Kind::Extension { .. } => None,
    }
}

fn help_for_count(kind: Kind, args: &[Arg]) -> Option<String> {
    let (mnemonic, found) = (kind.mnemonic(), args.len());
    if let (Some((acc, inverse)), 3) = (unary_accumulate(kind), found) {
        // `add r1, r2, r3`, which means r1 = r2 + r3 in other assemblers.
        let (name, rest) = mnemonic.split_at(acc.name(inverse).len());
        if let (ArgKind::Reg(first), ArgKind::Reg(second)) = (args[0].kind, args[1].kind)
            && first == second
        {
            return Some(format!("the destination takes part: leave the second {first} out, `{mnemonic} {first}, a`"));
        }
        let both = match acc {
            Acc::Add => format!("add{}{rest}", if inverse { "minus" } else { "plus" }),
            Acc::Mul => format!("mul{}{rest}", if inverse { "div" } else { "mul" }),
            Acc::Xor => {
                return Some(format!("the destination takes part: `{name}{rest} y, a` is y ^= a; write two of them"));
            }
        };
        let sign = if inverse { "−" } else { "+" };
        lookup(&both)?;
        return Some(match acc {
            Acc::Add => format!("`{both} y, a, b` adds a {sign} b to y; `{mnemonic} y, a` has one source"),
            Acc::Mul | Acc::Xor => format!("`{both} y, a, b` takes two sources; `{mnemonic} y, a` has one"),
        });
    }
    let Kind::Row { row, inverse, cond, .. } = kind else { return None };
    match (row, inverse) {
        (Row::Jmp, _) if cond == Cond::Always && found > 1 => {
            Some(format!("a condition is part of the mnemonic: `{mnemonic}.eq r1, r2, LABEL`"))
        }
        (Row::Jmp, true) if cond == Cond::Always => {
            Some("a `from` names the label of the `jmp` that lands on it: `from LABEL`".to_string())
        }
        (Row::Jmp, false) if cond == Cond::Always => {
            Some("a `jmp` names the label of the `from` on which it lands: `jmp LABEL`".to_string())
        }
        (Row::Jmp, _) => Some(format!("two operands are compared, and a label follows: `{mnemonic} r1, r2, LABEL`")),
        (Row::Print, _) => Some("`print \"text\"` prints one text, `show r1` the number in a register".to_string()),
        (Row::Proc, true) if found == 0 => {
            Some("a `ret` names the procedure that it ends: `proc NAME` … `ret NAME`".to_string())
        }
        (Row::Proc, false) if found == 0 => Some("a procedure has a name: `proc NAME` … `ret NAME`".to_string()),
        (Row::Call | Row::Gcall, _) => {
            Some(format!("a call names a procedure, `{mnemonic} NAME`; its data is in registers and in memory"))
        }
        (Row::Inc, _) if found == 2 => {
            let by = if inverse { "sub" } else { "add" };
            Some(format!("`{mnemonic}` counts by 1; `{by} r1, 5` by any number"))
        }
        _ if found > 1 && row.info().operands == [OperandKind::Target] => {
            Some(format!("`{mnemonic} r1` takes one register, and changes it in place"))
        }
        _ => None,
    }
}

fn help_for_kind(kind: Kind, operand: ArgKind, position: usize, wanted: &str) -> Option<String> {
    let memory = matches!(operand, ArgKind::Mem { .. });
    let register = matches!(operand, ArgKind::Reg(_));
    let constant = matches!(operand, ArgKind::Int { .. } | ArgKind::Expr(_));
    let row = match kind {
        Kind::Row { row, inverse, .. } => Some((row, inverse)),
        Kind::Accumulate { .. } | Kind::Extension { .. } => None,
    };
    let text = match row {
        Some((Row::Exch, _)) if register && position == 2 => "`swap r1, r2` exchanges two registers",
        Some((Row::Exch, _)) if memory && position == 1 => "the register stands first: `exch r1, [a]`",
        Some((Row::Exch, _)) if constant && position == 2 => "a word of memory is in brackets: `[a]`, `[100]`",
        Some((Row::Swap, _)) if memory => "`exch r1, [a]` exchanges a register and a word of memory",
        Some((Row::Print, _)) if register => "`show r1` prints the number in a register, `print \"text\"` a text",
        Some((Row::Print, _)) => "write the text in double quotes",
        Some((Row::Call, inverse)) if register => {
            let through = if inverse { "uncallr" } else { "callr" };
            return Some(format!("`{through} r1` calls the procedure whose address is in r1"));
        }
        Some((Row::Inc, _)) if memory => "`add [a], r1` adds to a word of memory; `inc` counts in a register",
        None if position == 1 && constant => {
            "the destination comes first, and is a register or a word of memory: `add r1, 5`"
        }
        _ if constant && wanted.starts_with("register") => {
            "bring the constant into a register that is 0: `add r9, 5` before, and `sub r9, 5` after"
        }
        _ if memory && wanted == "register" => "bring the word into a register: `exch r9, [a]` before and after",
        _ => return None,
    };
    Some(text.to_string())
}

/// `sub r1, r1` and `xor r1, r1`, which clear a register in other assemblers.
fn help_for_alias(kind: Kind, reg: Reg, args: &[Arg]) -> Option<String> {
    let clears = matches!(unary_accumulate(kind), Some((Acc::Add, true) | (Acc::Xor, _)));
    let itself = |a: &Arg| matches!(a.kind, ArgKind::Reg(r) if r == reg);
    (clears && args.iter().all(itself)).then(|| {
        format!("a register cannot be cleared, because its value would be lost: undo what computed it; `zero {reg}` checks that it is 0")
    })
}
