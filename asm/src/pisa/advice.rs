//! Help for words that PISA does not have.

use super::grammar::{NumberError, number};
use super::mnemonic::{self, MNEMONICS, Mnemonic, Operand};
use crate::foreign::{self, Intent};

/// Mnemonics of Pendula's own assembly that PISA does not have, and how to write the same in PISA.
const NATIVE: &[(&[&str], &str)] = &[
    (&["subi"], "subtract by adding: `ADDI $1 -5`"),
    (&["inc"], "write `ADDI $1 1`"),
    (&["dec"], "write `ADDI $1 -1`"),
    (&["not"], "`XORI $1 -1` turns every bit over"),
    (&["uncall"], "`RBRA NAME` undoes the routine that `BRA NAME` calls"),
    (&["zero", "assert"], "PISA checks nothing by itself; what is not zero at the end is printed after the run"),
    (
        &["push", "pop"],
        "a stack is cells and a register that counts: `EXCH $3 $1` and `ADDI $1 1` push $3, `ADDI $1 -1` and `EXCH $3 $1` pop it",
    ),
    (&["proc"], "a routine is `top: BRA bottom`, `NAME: SWAPBR $2`, `NEG $2`, …, `bottom: BRA top`"),
];

/// The intents of mnemonics of Pendula's own assembly, or of parts of these.
const LIKE_OTHERS: &[(&[&str], Intent)] = &[
    (&["swap"], Intent::Exchange),
    (&["jmp", "from"], Intent::Jump),
    (&["call"], Intent::Call),
    (&["ret"], Intent::Return),
    (&["print"], Intent::Output),
    (&["and"], Intent::Function("and")),
    (&["or"], Intent::Function("or")),
    (&["shl"], Intent::Function("shl")),
    (&["shr", "sar"], Intent::Function("shr")),
    (&["mul", "div", "mod", "rem", "quot"], Intent::Function("mul")),
    (&[".word", ".data", ".space"], Intent::Data),
];

/// Help for a word that is not an instruction; `next` is the word after it.
pub(super) fn instruction(word: &str, next: Option<&str>) -> String {
    let lower = word.to_ascii_lowercase();
    if word.ends_with(':') {
        return "a line has one label, at its beginning".to_string();
    }
    if word.starts_with(['#', '/', '{']) || word.starts_with("--") {
        return "a comment begins with `;`".to_string();
    }
    if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        return Intent::Data.pisa().to_string();
    }
    if mnemonic::is_of_hardware(word) {
        return "it is of Vieri's dialect, that of the processor, which PendVM does not run either".to_string();
    }
    if let Some((_, help)) = NATIVE.iter().find(|(words, _)| words.contains(&lower.as_str())) {
        return (*help).to_string();
    }
    let like = LIKE_OTHERS.iter().find(|(words, _)| words.contains(&lower.as_str())).map(|(_, intent)| *intent);
    let intent = like.or_else(|| foreign::intent(&lower));
    let near = mnemonic::suggest(word);
    // The word is a label if an instruction follows, or if nothing follows although the similar instruction takes
    // operands.
    let followed = next.is_some_and(|next| mnemonic::find(next).is_some());
    let takes_operands = || near.and_then(mnemonic::find).is_none_or(|m| !m.operands.kinds().is_empty());
    let is_label = followed || next.is_none() && takes_operands();
    let colon = || format!("a label ends in a colon: `{word}:`");
    match (intent, near) {
        _ if followed => colon(),
        (Some(Intent::Statement), _) if is_label => format!("{}; {}", colon(), Intent::Statement.pisa()),
        (Some(intent), _) => intent.pisa().to_string(),
        (None, Some(near)) if is_label => format!("{}; or did you mean `{near}`?", colon()),
        (None, None) if is_label => colon(),
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) => "labels end in `:`, and instructions stand one on a line".to_string(),
    }
}

/// The mnemonic of the same instruction with a constant (`constant`) or a register as this operand.
fn other_form(of: &Mnemonic, operand: usize, constant: bool) -> Option<&'static Mnemonic> {
    let fits = |kind: &Operand| match kind {
        Operand::Immediate | Operand::Amount => constant,
        Operand::Read => !constant,
        Operand::Written | Operand::Target(_) | Operand::Data => false,
    };
    MNEMONICS.iter().find(|m| {
        let kinds = m.operands.kinds();
        m.name != of.name
            && m.stands_for == of.stands_for
            && kinds.len() == of.operands.kinds().len()
            && kinds.get(operand).is_some_and(fits)
    })
}

/// A mnemonic with the names of its operands.
fn usage(m: &Mnemonic) -> String {
    [&[m.name], m.operands.names()].concat().join(" ")
}

/// What to write instead of a word that is not a register.
pub(super) fn register(word: &str, of: &Mnemonic, operand: usize, is_label: bool) -> String {
    let digits = word.trim_start_matches(['r', 'R', 'x', 'X', '%']);
    if digits.len() < word.len() && digits.parse::<u8>().is_ok_and(|n| n < 32) {
        return format!("registers are `$0` to `$31`: write `${digits}`");
    }
    let is_number = is_label || !matches!(number(word, false), Err(NumberError::Name | NumberError::Malformed));
    if !is_number {
        return "registers are `$0` to `$31`".to_string();
    }
    if of.operands.kinds().get(operand) == Some(&Operand::Written) {
        return format!("the register that is written stands first: `{}`", usage(of));
    }
    if let Some(other) = other_form(of, operand, true) {
        return format!("`{}` takes a number", usage(other));
    }
    let opposite = word.strip_prefix('-').map_or_else(|| format!("-{word}"), str::to_string);
    match of.name {
        "SUB" => format!("subtract a number by adding its opposite: `ADDI $d {opposite}`"),
        "EXCH" if operand == 1 => {
            format!("the address is in a register: `ADDI $2 {word}` before, and `ADDI $2 {opposite}` after")
        }
        "BEQ" | "BNE" if word == "0" => format!("`{} $a $0 L` compares with 0, as long as `$0` is 0", of.name),
        _ => format!(
            "bring the number into a register that is 0: `ADDI $9 {word}` before, and `ADDI $9 {opposite}` after"
        ),
    }
}

/// What to write instead of a malformed number.
pub(super) fn malformed(word: &str, of: Option<(&Mnemonic, usize)>) -> String {
    let branches =
        |(of, operand): (&Mnemonic, usize)| matches!(of.operands.kinds().get(operand), Some(Operand::Target(_)));
    match of.and_then(|(of, operand)| other_form(of, operand, false)) {
        Some(other) if word.starts_with('$') => format!("`{}` takes a register", usage(other)),
        None if word.starts_with('$') && of.is_some_and(branches) => {
            format!("a branch names a label; `SWAPBR {word}` exchanges a register and the branch register")
        }
        _ => "numbers are whole, and written as in C: `10`, `-10`, `0xA`, `012` (octal)".to_string(),
    }
}

/// What to write instead of a word that is not a label; `near` is a label that differs only by case.
pub(super) fn label(word: &str, near: Option<&str>, known: bool) -> String {
    match near {
        Some(name) => format!("labels are case-sensitive: there is `{name}`"),
        None if word.starts_with('#') => format!("numbers are written without `#`: `{}`", word.trim_start_matches('#')),
        None if known => format!("where a label is named it has no colon: `{}`", word.trim_end_matches(':')),
        None => format!("define it: `{word}:` before an instruction; PendVM takes 0 (`--pendvm-bugs`)"),
    }
}

/// What to write instead of an instruction that reads the register which it writes.
pub(super) fn alias(of: &Mnemonic) -> &'static str {
    match of.name {
        "SUB" | "XOR" => {
            "a register cannot be cleared, because its value would be lost: undo what computed it; `--alias=noop` lets it do nothing"
        }
        _ => "the instruction could not be undone: copy the register first; `--alias=noop` lets it do nothing",
    }
}
