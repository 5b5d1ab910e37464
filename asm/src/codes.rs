//! The list of all diagnostic codes, which messages, documentation and tests refer to.
//!
//! The codes of operands and of whole programs come from `isa`, which also words their messages; here they are only
//! listed beside the assembler's own. No messages are built here.

use pendula_isa::verify::Problem;

pendula_isa::diagnostic_codes! {
    CHARACTER "P0001" "a character that means nothing here";
    NUMBER "P0002" "a number that cannot be read";
    QUOTES "P0003" "a text or character that does not end, or an unknown escape in it";
    SYNTAX "P0004" "something else was expected here";
    MISSING "P0005" "an operand is missing";
    MNEMONIC "P0006" "no such instruction";
    DIRECTIVE "P0007" "no such directive";
    UNDEFINED "P0008" "no such name";
    DUPLICATE "P0009" "a name defined twice";
    RESERVED "P0010" "a name that may not be defined";
    SECTION "P0011" "in the wrong section";
    OVERFLOW "P0012" "an integer that does not fit its word";
    ARITHMETIC "P0013" "a constant expression without a value";
    CYCLE "P0014" "a constant that depends on itself";
    REAL "P0015" "a number with a fraction where an integer is expected";
    TYPE "P0016" "a number of another type";
    NUMBER_RANGE "P0017" "a number that does not fit its type";
    REAL_ARITHMETIC "P0018" "arithmetic on numbers that are not integers";
    SORT "P0019" "a name of something else";
    ADDRESS "P0020" "a register where none can be, or an address that no instruction has";
    NOT_YET "P0021" "a size that depends on what comes later";
    FORMAT "P0022" "fixed-point formats that do not agree";
    ARGUMENT "P0023" "a directive's argument out of range";
    MACRO "P0024" "a macro's definition is faulty";
    MACRO_USE "P0025" "a macro's use does not fit its definition";
    INCLUDE "P0027" "a file that cannot be included";
    INCLUDE_OUTSIDE "P0028" "a file outside the program's folder";
    INCLUDE_CYCLE "P0029" "files that include each other";
    MARKS "P0040" "routine marks that do not match";
    NO_INVERSE "P0041" "a routine that cannot be inverted";
    SECOND_RET "P0042" "a procedure with two ends";
    TOO_MANY "P0045" "more errors than are shown";
    TWICE "P0046" "a directive given twice";
    DEFINITION "P0062" "a definition of an extension is incomplete";
    STEP "P0063" "not a step of a definition";
    READ_ONLY "P0064" "a step changes what the instruction only reads";
    STEP_TYPE "P0065" "a number of another type in a definition";
    UNCLEAN "P0066" "a temporary that is not zero at the end of a definition";
    OWN_INVERSE "P0067" "an instruction that is not its own inverse";
    RECURSION "P0068" "a definition that uses itself";
    TAKEN "P0069" "a definition of a name that is taken";
    LIMIT "P0070" "a definition beyond its limits";
    DEFINITION_FORMAT "P0071" "a definition with numbers of another fixed-point format";
    DEFINITION_FILE "P0072" "a statement in a file of definitions";
    UNUSED_DOC "P0201" "documentation or a reason without a subject";
    UNUSED_DEFINE "P0202" "a definition on the command line that the program does not use";
}

/// The codes of [`OperandError`](pendula_isa::OperandError).
const OPERANDS: &[(&str, &str)] = &[
    ("P0030", "too few or too many operands"),
    ("P0031", "an operand of the wrong kind"),
    ("P0032", "a register that is written and used again in the same instruction"),
    ("P0033", "a write to r0"),
    ("P0034", "sp where the instruction moves it"),
    ("P0035", "more than one memory operand"),
    ("P0036", "more than one constant or memory offset"),
    ("P0037", "multiplying or dividing by zero"),
    ("P0038", "a number outside the instruction's range"),
    ("P0039", "one factor a register, the other a constant"),
    ("P0060", "no room for a constant beside so many registers"),
    ("P0061", "too many different extensions in one process"),
];

/// Every code with its title, in the order of the codes.
pub fn codes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let problems = Problem::ALL.iter().map(|p| (p.code(), p.title()));
    let mut all: Vec<_> = OWN.iter().copied().chain(OPERANDS.iter().copied()).chain(problems).collect();
    all.sort_unstable_by_key(|(code, _)| *code);
    all.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pendula_isa::{OperandError, Reg};

    #[test]
    fn every_code_is_there_once() {
        let all: Vec<_> = codes().map(|(code, _)| code).collect();
        assert!(all.is_sorted_by(|a, b| a < b), "{all:?}");
        assert!(all.iter().all(|code| code.len() == 5 && code.starts_with('P')));
        let position = 1;
        let range = OperandError::OutOfRange { position, what: "", min: 0, max: 0, found: 0 };
        for error in [
            OperandError::Count { mnemonic: String::new(), wanted: String::new(), found: 0 },
            OperandError::Kind { position, wanted: "", found: "" },
            OperandError::Aliased { reg: Reg::SP, position },
            OperandError::WritesZero { position },
            OperandError::StackPointer { position },
            OperandError::TwoMemory { position },
            OperandError::TwoImmediates { position },
            OperandError::ZeroFactor { position },
            range,
            OperandError::MixedFactors { position },
            OperandError::NoRoom { position },
            OperandError::TooManyExtensions,
        ] {
            assert!(all.contains(&error.code()), "{error:?}");
        }
    }
}
