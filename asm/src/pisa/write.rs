//! Writes modules of the profile `pisa` in the dialect of PISA that PendVM reads, too.

use std::collections::BTreeMap;
use std::fmt::Write;

use pendula_isa::operand::Operand as Argument;
use pendula_isa::types::{Profile, Reg};
use pendula_isa::{Inst, Module};

use super::HEADER;
use super::mnemonic::{MNEMONICS, Mnemonic, Operand};

/// Why a module cannot be written as PISA.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PisaWriteError {
    /// It is of another profile.
    #[error("the program is of the profile `native`: PISA has neither procedures nor jumps in pairs")]
    Profile,
    /// An instruction that PISA does not have.
    #[error("instruction {at}: PISA has no `{mnemonic}` with such operands")]
    Instruction {
        /// Its address.
        at: u32,
        /// Its mnemonic in the table.
        mnemonic: String,
    },
}

/// A module as PISA. Reading the text gives the same code.
///
/// # Errors
/// A module of another profile, or one with instructions that PISA does not have.
pub fn write(module: &Module) -> Result<String, PisaWriteError> {
    if module.flags.profile != Profile::Pisa {
        return Err(PisaWriteError::Profile);
    }
    let mut labels: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for symbol in &module.symbols {
        labels.entry(symbol.value).or_default().push(&symbol.name);
    }
    let name_of = |at: i64| u64::try_from(at).ok().and_then(|at| labels.get(&at)?.first().copied());
    let mut out = format!("{HEADER}\n");
    if module.flags.entry != 0 {
        let at = i64::from(module.flags.entry);
        let _ = writeln!(out, ".start {}", name_of(at).map_or_else(|| at.to_string(), String::from));
    }
    for (at, inst) in module.code.iter().enumerate() {
        let refused = || PisaWriteError::Instruction { at: at as u32, mnemonic: inst.kind.mnemonic() };
        let (mnemonic, words) = spelled(inst, at as i64, name_of).ok_or_else(refused)?;
        let names = labels.get(&(at as u64)).map_or(&[][..], |names| names);
        let (last, others) = names.split_last().map_or((None, &[][..]), |(last, others)| (Some(last), others));
        for name in others {
            let _ = writeln!(out, "{name}:");
        }
        let head = last.map_or(String::new(), |name| format!("{name}:"));
        let line = format!("{head:<8}{:<7} {}", mnemonic.name, words.join(" "));
        let glued = if head.len() >= 8 { format!("{head} {:<7} {}", mnemonic.name, words.join(" ")) } else { line };
        out.push_str(glued.trim_end());
        out.push('\n');
    }
    for name in labels.range(module.code.len() as u64..).flat_map(|(_, names)| names) {
        let _ = writeln!(out, "{name}:");
    }
    Ok(out)
}

/// An instruction of a module as PISA; `None` if PISA does not have it.
pub fn line(module: &Module, at: u32) -> Option<String> {
    let inst = module.code.get(at as usize)?;
    let name_of = |to: i64| {
        let symbol = module.symbols.iter().find(|s| i64::try_from(s.value) == Ok(to))?;
        Some(symbol.name.as_str())
    };
    let (mnemonic, words) = spelled(inst, i64::from(at), name_of)?;
    Some(format!("{:<7} {}", mnemonic.name, words.join(" ")).trim_end().to_string())
}

/// The mnemonic of an instruction and its operands.
fn spelled<'a>(
    inst: &Inst,
    at: i64,
    name_of: impl Fn(i64) -> Option<&'a str>,
) -> Option<(&'static Mnemonic, Vec<String>)> {
    let mut arguments: Vec<Argument> = inst.operands().map(|(_, o)| o).collect();
    let name = inst.kind.mnemonic();
    // A branch on the sign compares with the constant 0, which is not written.
    let by_sign = arguments.get(1) == Some(&Argument::Small(0));
    if by_sign {
        arguments.remove(1);
    }
    let fits = |m: &&Mnemonic| {
        let kinds = m.operands.kinds();
        let each = kinds.iter().zip(&arguments).all(|(kind, argument)| {
            matches!(
                (kind, argument),
                (Operand::Written | Operand::Read, Argument::Reg(_))
                    | (Operand::Immediate | Operand::Amount | Operand::Data, Argument::Imm(..))
                    | (Operand::Target(_), Argument::Label(_))
            )
        });
        m.stands_for == name
            && kinds.len() == arguments.len()
            && each
            && by_sign == (m.operands == super::Operands::Sign)
    };
    let mnemonic = MNEMONICS.iter().find(fits)?;
    let words = arguments.iter().map(|argument| match argument {
        Argument::Reg(r) => format!("${}", Reg::number(*r)),
        Argument::Imm(word, _) => word.cast_signed().to_string(),
        Argument::Label(distance) => {
            let to = at + distance;
            name_of(to).map_or_else(|| i64::from(to as i32).to_string(), String::from)
        }
        Argument::Mem { .. } | Argument::Small(_) | Argument::Factor(_) | Argument::Text(_) => String::new(),
    });
    Some((mnemonic, words.collect()))
}
