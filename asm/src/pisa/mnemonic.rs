//! PISA's mnemonics and the instructions of the table that they stand for. Reading and writing share this list.

use pendula_isa::inst::{Inst, Kind};
use pendula_isa::mnemonic::lookup;
use pendula_isa::operand::{Operand as Argument, Shape};
use pendula_isa::table::{TableFn, int_fn};
use pendula_isa::types::{Acc, Profile, Reg, Ty};
use pendula_isa::{OperandError, mnemonic};

/// The kind of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register that is written.
    Written,
    /// A register that is only read.
    Read,
    /// A number, or a label's address.
    Immediate,
    /// An amount, modulo 32.
    Amount,
    /// A label or an address. The distance to it has this many bits in an instruction word.
    Target(u32),
    /// The content of a cell.
    Data,
}

impl Operand {
    /// The number of bits that the operand has in an instruction word.
    pub(super) fn bits(self) -> Option<u32> {
        match self {
            Operand::Immediate => Some(16),
            Operand::Target(bits) => Some(bits),
            Operand::Written | Operand::Read | Operand::Amount | Operand::Data => None,
        }
    }
}

macro_rules! operands {
    ($( $(#[doc = $doc:literal])+ $Name:ident $text:literal [$($kind:expr),*] [$($name:literal),*]; )*) => {
        /// The operands of a mnemonic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Operands { $( $(#[doc = $doc])+ $Name, )* }

        impl Operands {
            /// The kind of each operand.
            pub const fn kinds(self) -> &'static [Operand] {
                use Operand::{Amount, Data, Immediate, Read, Target, Written};
                match self { $( Operands::$Name => { const KINDS: &[Operand] = &[$($kind),*]; KINDS } )* }
            }

            /// The names of the operands.
            pub const fn names(self) -> &'static [&'static str] {
                match self { $( Operands::$Name => &[$($name),*], )* }
            }

            /// The number of operands, in words.
            pub const fn doc(self) -> &'static str {
                match self { $( Operands::$Name => $text, )* }
            }
        }
    };
}

operands! {
    /// None.
    None "no operands" [] [];
    /// A register that is written.
    One "one register" [Written] ["$d"];
    /// A register that is read.
    Shown "one register" [Read] ["$s"];
    /// Two registers.
    Two "two registers" [Written, Read] ["$d", "$s"];
    /// A register and an immediate.
    Immediate "a register and a number" [Written, Immediate] ["$d", "i"];
    /// A register and an amount.
    Amount "a register and an amount" [Written, Amount] ["$d", "a"];
    /// Three registers.
    Three "three registers" [Written, Read, Read] ["$d", "$s", "$t"];
    /// Two registers and an immediate.
    TwoImmediate "two registers and a number" [Written, Read, Immediate] ["$d", "$s", "i"];
    /// Two registers and an amount.
    TwoAmount "two registers and an amount" [Written, Read, Amount] ["$d", "$s", "a"];
    /// Two registers that are compared, and a target.
    Compare "two registers and a label" [Read, Read, Target(16)] ["$a", "$b", "L"];
    /// A register that is compared with 0, and a target.
    Sign "a register and a label" [Read, Target(16)] ["$a", "L"];
    /// A target.
    Jump "a label" [Target(26)] ["L"];
    /// The content of a cell.
    Data "a number" [Data] ["c"];
}

/// A mnemonic.
#[derive(Clone, Copy, Debug)]
pub struct Mnemonic {
    /// Its spelling.
    pub name: &'static str,
    /// Its operands.
    pub operands: Operands,
    /// The mnemonic of the table that it stands for.
    pub stands_for: &'static str,
    /// The mnemonic of the table that it stands for in PendVM, if that differs.
    pub in_pendvm: Option<&'static str>,
}

macro_rules! mnemonics {
    ($( $name:literal $Operands:ident $native:literal $(bug $bug:literal)?; )*) => {
        /// Every mnemonic. Of several with the same meaning, the first is used for writing.
        pub const MNEMONICS: &[Mnemonic] = &[$( Mnemonic {
            name: $name,
            operands: Operands::$Operands,
            stands_for: $native,
            in_pendvm: bug!($($bug)?),
        }, )*];
    };
}

macro_rules! bug {
    () => {
        None
    };
    ($bug:literal) => {
        Some($bug)
    };
}

mnemonics! {
    "ADD" Two "add32";
    "SUB" Two "sub32";
    "ADDI" Immediate "add32";
    "XOR" Two "xor";
    "XORI" Immediate "xor";
    "NEG" One "neg32";
    "ANDX" Three "xorand";
    "ORX" Three "xoror";
    "NORX" Three "xornor";
    "ANDIX" TwoImmediate "xorand";
    "ORIX" TwoImmediate "xoror";
    "SLTX" Three "xorlt";
    "SLTIX" TwoImmediate "xorlt" bug "xorltu";
    "RL" Amount "rol32";
    "RR" Amount "ror32";
    "RLV" Two "rol32";
    "RRV" Two "ror32";
    "SLLX" TwoAmount "xorshl32";
    "SRLX" TwoAmount "xorshr32" bug "xorsar32";
    "SRAX" TwoAmount "xorsar32";
    "SLLVX" Three "xorshl32";
    "SRLVX" Three "xorshr32" bug "xorsar32";
    "SRAVX" Three "xorsar32";
    "BEQ" Compare "bra.eq";
    "BNE" Compare "bra.ne";
    "BGEZ" Sign "bra.ge";
    "BGTZ" Sign "bra.gt";
    "BLEZ" Sign "bra.le";
    "BLTZ" Sign "bra.lt";
    "BRA" Jump "bra";
    "RBRA" Jump "rbra";
    "SWAPBR" One "swapbr";
    "EXCH" Two "exch32";
    "SHOW" Shown "show";
    "OUT" Shown "show";
    "OUTPUT" Shown "show";
    "EMIT" One "emit";
    "READ" One "read";
    "START" None "start";
    "FINISH" None "finish";
    "DATA" Data "cell";
}

/// The mnemonic with this spelling, in any case.
pub(super) fn find(text: &str) -> Option<&'static Mnemonic> {
    MNEMONICS.iter().find(|m| m.name.eq_ignore_ascii_case(text))
}

/// Whether it is a mnemonic of the hardware's own dialect (Vieri's), which has the same name and first line.
pub(super) fn is_of_hardware(text: &str) -> bool {
    ["BEZ", "RBEZ"].iter().any(|m| m.eq_ignore_ascii_case(text))
}

/// A similar mnemonic.
pub(super) fn suggest(text: &str) -> Option<&'static str> {
    let text = text.to_ascii_uppercase();
    let near = MNEMONICS.iter().map(|m| (mnemonic::distance(m.name.as_bytes(), text.as_bytes()), m.name));
    near.filter(|(d, name)| *d <= 1 + name.len() / 4).min().map(|(_, name)| name)
}

/// An instruction that does nothing: `XORI $0 0`.
pub(super) fn nothing() -> Inst {
    let func = TableFn::Int(int_fn::Name::Id);
    let kind = Kind::Accumulate { acc: Acc::Xor, inverse: false, func, shape: Shape::RI };
    Inst { kind, regs: Inst::registers(&[]), imm: 0, small: 0 }
}

impl Mnemonic {
    /// The index of an operand that names the register which the instruction writes, if it occurs again.
    pub(super) fn alias(&self, values: &[i64]) -> Option<usize> {
        let kinds = self.operands.kinds();
        if kinds.first() != Some(&Operand::Written) {
            return None;
        }
        (1..values.len()).find(|&n| kinds[n] == Operand::Read && values[n] == values[0])
    }

    /// The instruction with these operands: numbers of registers, words, and distances.
    pub(super) fn inst(&self, values: &[i64], pendvm: bool) -> Result<Inst, OperandError> {
        let name = self.in_pendvm.filter(|_| pendvm).unwrap_or(self.stands_for);
        let kind = lookup(name).ok_or_else(|| OperandError::Count {
            mnemonic: name.to_string(),
            wanted: "an instruction".to_string(),
            found: 0,
        })?;
        let mut arguments: Vec<Argument> = Vec::with_capacity(3);
        for (operand, &value) in self.operands.kinds().iter().zip(values) {
            arguments.push(match operand {
                Operand::Written | Operand::Read => Argument::Reg(Reg::new(value as u8).unwrap_or_default()),
                Operand::Immediate | Operand::Data => Argument::Imm(value.cast_unsigned(), Ty::Int),
                Operand::Amount => Argument::Imm(value.cast_unsigned() & 31, Ty::Int),
                Operand::Target(_) => Argument::Label(value),
            });
        }
        if self.operands == Operands::Sign {
            arguments.insert(1, Argument::Small(0));
        }
        Inst::build_in(Profile::Pisa, kind, &arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mnemonic_stands_for_an_instruction() {
        for m in MNEMONICS {
            let values: Vec<i64> = m.operands.kinds().iter().enumerate().map(|(n, _)| n as i64 + 1).collect();
            for pendvm in [false, true] {
                let inst = m.inst(&values, pendvm).unwrap_or_else(|e| panic!("{}: {e}", m.name));
                assert!(inst.kind.belongs_to(Profile::Pisa), "{}", m.name);
            }
        }
    }
}
