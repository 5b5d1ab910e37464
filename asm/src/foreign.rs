//! Words of other assemblers that this one does not have, and what to write instead.
//!
//! The lists contain words of other languages. The words of this assembler are in the table and in
//! [`DIRECTIVES`](crate::head::DIRECTIVES).

use pendula_isa::inst::Kind;
use pendula_isa::mnemonic::lookup;
use pendula_isa::types::{Acc, Cond, Ty};

/// The purpose of a word of another assembler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    Copy,
    Constant,
    Address,
    Load,
    Store,
    Exchange,
    Clear,
    Jump,
    Branch(Cond),
    Compare,
    /// A function of the table.
    Function(&'static str),
    Call,
    Return,
    Halt,
    Nothing,
    Output,
    Input,
    Data,
    /// A data directive of this assembler, without its point.
    Directive(&'static str),
    /// A statement of languages above assembly.
    Statement,
}

/// Mnemonics of RISC-V, MIPS, ARM, x86, AVR and teaching machines, with their purposes.
const WORDS: &[(&[&str], Intent)] = &[
    (&["mov", "move", "movq", "movl", "mv", "cp", "copy", "cpy", "dup", "assign", "cmov"], Intent::Copy),
    (&["li", "ldi", "lui", "movi", "mvi", "loadi", "const", "set", "let"], Intent::Constant),
    (&["la", "lea", "leaq", "adr"], Intent::Address),
    (&["load", "lw", "ld", "ldr", "lb", "lbu", "lh", "ldb", "ldw", "lda", "fetch", "peek"], Intent::Load),
    (&["store", "sw", "sd", "st", "str", "sb", "sh", "stb", "stw", "sta", "poke"], Intent::Store),
    (&["xchg", "exg", "swp", "exchange", "xch"], Intent::Exchange),
    (&["clr", "clear", "reset"], Intent::Clear),
    (&["j", "b", "ba", "br", "jump", "goto", "rjmp", "jp"], Intent::Jump),
    (&["beq", "beqz", "je", "jz", "jeq", "bz", "cbz", "breq"], Intent::Branch(Cond::Eq)),
    (&["bne", "bnez", "jne", "jnz", "bnz", "cbnz", "brne"], Intent::Branch(Cond::Ne)),
    (&["blt", "bltz", "jl", "jlt", "bmi", "js", "brlt"], Intent::Branch(Cond::Lt)),
    (&["ble", "blez", "jle"], Intent::Branch(Cond::Le)),
    (&["bgt", "bgtz", "jg", "jgt"], Intent::Branch(Cond::Gt)),
    (&["bge", "bgez", "jge", "bpl", "jns", "brge"], Intent::Branch(Cond::Ge)),
    (&["bltu", "jb", "jc", "blo", "bcc", "brlo"], Intent::Branch(Cond::Ltu)),
    (&["bgeu", "jae", "jnc", "bhs", "bcs", "brsh"], Intent::Branch(Cond::Geu)),
    (&["cmp", "cmpq", "cmpl", "cpi", "test", "tst", "cmn", "teq"], Intent::Compare),
    (&["sll", "slli", "sllv", "lsl", "shli", "sal"], Intent::Function("shl")),
    (&["srl", "srli", "srlv", "lsr", "shri"], Intent::Function("shr")),
    (&["sra", "srai", "srav", "asr"], Intent::Function("sar")),
    (&["andi", "bic"], Intent::Function("and")),
    (&["ori", "orr", "orn"], Intent::Function("or")),
    (&["imul", "mult", "multu", "muli", "umul", "smul"], Intent::Function("mul")),
    (&["idiv", "sdiv", "divu", "divi"], Intent::Function("quot")),
    (&["slt", "slti", "setl"], Intent::Function("lt")),
    (&["sltu", "sltiu", "setb"], Intent::Function("ltu")),
    (&["seq", "sete"], Intent::Function("eq")),
    (&["jal", "jalr", "bl", "blx", "blr", "jsr", "callq", "gosub"], Intent::Call),
    (&["return", "rts", "retq", "jr", "bx"], Intent::Return),
    (&["halt", "hlt", "exit", "end", "stop", "quit", "syscall", "ecall", "swi", "svc", "int"], Intent::Halt),
    (&["nop", "noop"], Intent::Nothing),
    (&["out", "output", "write", "puts", "printf", "putc", "display"], Intent::Output),
    (&["in", "input", "scan", "scanf", "getc", "get"], Intent::Input),
    (&["db", "dw", "dd", "dq", "dc", "dcd", "byte"], Intent::Data),
    (&["define"], Intent::Directive(".equ NAME, value")),
    (&["section", "segment"], Intent::Directive(".data")),
    (&["extern"], Intent::Directive(".include \"file\"")),
    (&["if", "else", "while", "for", "do", "until", "repeat", "loop", "endif"], Intent::Statement),
];

/// Directives of other assemblers, and what to write here.
const DIRECTIVES: &[(&[&str], &str)] = &[
    (&[".word.i", ".int64"], "words hold integers as they are: `.word 3`"),
    (&[".word.q", ".q"], "fixed-point numbers are `.fixed 1.5`"),
    (&[".word.f", ".f"], "floating-point numbers are `.double 1.5`"),
    (&[".word.l", ".l"], "logarithmic numbers are `.log 1.5`"),
    (
        &[".byte", ".half", ".short", ".hword", ".int", ".long", ".dword", ".4byte", ".8byte", ".dw", ".db"],
        "memory holds words of 64 bits: `.word 1, 2, 3`",
    ),
    (
        &[".float", ".real", ".single", ".f64"],
        "numbers with a fraction are `.double`, or `.fixed`, which a run back restores to the bit",
    ),
    (
        &[".string", ".ascii", ".asciz", ".asciiz"],
        "a word holds one number: write characters one by one, `.word 'a', 'b'`; `print \"text\"` prints a text",
    ),
    (
        &[".align", ".balign", ".p2align", ".even", ".org"],
        "addresses count words, and nothing needs aligning: leave it out",
    ),
    (&[".set", ".define", ".eqv", ".const", ".assign"], "a constant is defined by `.equ NAME, value`"),
    (&[".globl", ".public"], "write `.global NAME`"),
    (&[".extern"], "write `.include \"file\"`, which reads another file in its place"),
    (&[".bss", ".rodata", ".section", ".sdata"], "data stands behind `.data`, and instructions behind `.text`"),
    (&[".code"], "instructions stand behind `.text`"),
    (&[".skip", ".zero", ".fill", ".resb", ".resw", ".comm", ".res"], "zero words are `.space N`"),
    (&[".end", ".ends"], "a run ends at `finish`; a source file needs no end"),
    (
        &[".func", ".proc", ".endproc", ".endp", ".ent", ".endfunc"],
        "a procedure begins with the instruction `proc NAME` and ends with `ret NAME`",
    ),
    (&[".endmacro", ".endmac"], "a macro ends with `.endm`"),
    (
        &[".if", ".ifdef", ".ifndef", ".else", ".endif", ".rept"],
        "there is no conditional assembly: a macro takes parameters",
    ),
];

/// Names of registers of other machines.
const REGISTERS: &[&str] = &[
    "eax", "ebx", "ecx", "edx", "esi", "edi", "esp", "ebp", "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rsp", "rbp",
    "ax", "bx", "cx", "dx", "al", "bl", "cl", "dl", "acc", "fp", "gp", "tp", "ra", "lr", "pc", "ip", "xzr",
];

/// The purpose of a lower-case word, if it is a mnemonic of another assembler.
pub(crate) fn intent(word: &str) -> Option<Intent> {
    WORDS.iter().find(|(words, _)| words.contains(&word)).map(|(_, intent)| *intent)
}

/// What to write instead of a directive of another assembler.
pub(crate) fn directive(word: &str) -> Option<&'static str> {
    DIRECTIVES.iter().find(|(words, _)| words.contains(&word)).map(|(_, help)| *help)
}

/// What to write instead of a name that denotes a register on other machines, or would denote one if there were more
/// registers; and whether the name can hardly be anything else.
pub(crate) fn register(name: &str) -> Option<(&'static str, bool)> {
    let lower = name.to_ascii_lowercase();
    let lower = lower.strip_prefix('$').filter(|rest| !rest.is_empty()).unwrap_or(&lower);
    if lower == "zero" {
        return Some(("`r0` is always 0", false));
    }
    let numbered = |prefix: &str| {
        let digits = lower.strip_prefix(prefix).unwrap_or("");
        !digits.is_empty() && digits.len() < 4 && digits.bytes().all(|b| b.is_ascii_digit())
    };
    let help = "the registers are `r0` to `r31`; `r0` is always 0, and `r31` is also called `sp`";
    let certain = name.starts_with('$') || numbered("r") || REGISTERS.contains(&lower);
    let possible = ["", "x", "t", "s", "a", "v", "w"].into_iter().any(numbered);
    (certain || possible).then_some((help, certain))
}

impl Intent {
    /// What to write in Pendula's assembly.
    pub(crate) fn native(self) -> String {
        let text = match self {
            Intent::Copy => {
                "nothing is overwritten: `add r2, r1` copies r1 into a register that is 0, and `swap r1, r2` exchanges two"
            }
            Intent::Constant => "nothing is overwritten: `add r1, 5` puts a constant into a register that is 0",
            Intent::Address => "`add r1, NAME` puts the address of data into a register that is 0",
            Intent::Load => {
                "`exch r1, [a]` exchanges a register and a word of memory; `add r1, [a]` copies the word into a register that is 0"
            }
            Intent::Store => {
                "`exch r1, [a]` exchanges a register and a word of memory; `add [a], r1` adds the register to the word"
            }
            Intent::Exchange => "`swap r1, r2` exchanges two registers, `exch r1, [a]` a register and a word of memory",
            Intent::Clear => {
                "nothing can be cleared, because its value would be lost: undo what computed it; `zero r1` checks that it is 0"
            }
            Intent::Jump => {
                "a jump and its landing place name each other: `here: jmp there`, and `there: from here` where it lands"
            }
            Intent::Branch(cond) => return branch(cond),
            Intent::Compare => {
                "there are no flags: `jmp.lt r1, r2, LABEL` compares and jumps, `addlt r3, r1, r2` adds 1 to r3 if r1 < r2"
            }
            Intent::Function(name) => return function(name).unwrap_or_default(),
            Intent::Call => {
                "`call NAME` runs the procedure from `proc NAME` to `ret NAME`; `callr r1` one whose address is in r1"
            }
            Intent::Return => "a procedure begins with `proc NAME` and ends with `ret NAME`, and nowhere else",
            Intent::Halt => "a run ends at `finish`",
            Intent::Nothing => "leave it out: nothing waits for it",
            Intent::Output => {
                "`emit r1` moves a word to the output tape, `show r1` prints a number, `print \"text\"` a text"
            }
            Intent::Input => {
                "`read r1` takes the next word of the input tape; data marked `.import` is set before the run"
            }
            Intent::Data => "data stands behind `.data`: `NAME: .word 1, 2, 3`",
            Intent::Directive(directive) => return format!("a directive begins with a point: `{directive}`"),
            Intent::Statement => {
                "choices and loops are made of jumps in pairs, `jmp` and `from`; the languages Janus and Nil have such statements"
            }
        };
        text.to_string()
    }

    /// What to write in PISA.
    pub(crate) fn pisa(self) -> &'static str {
        match self {
            Intent::Copy => {
                "nothing is overwritten: `XOR $2 $1` copies $1 into a register that is 0, and `XORI $1 5` puts a number into one"
            }
            Intent::Constant => "nothing is overwritten: `XORI $1 5` puts a number into a register that is 0",
            Intent::Address => "`ADDI $1 LABEL` puts an address into a register that is 0",
            Intent::Load | Intent::Store => "`EXCH $1 $2` exchanges $1 and the cell whose address is in $2",
            Intent::Exchange => {
                "`XOR $1 $2`, `XOR $2 $1`, `XOR $1 $2` exchange two registers; `EXCH $1 $2` exchanges $1 and the cell at $2"
            }
            Intent::Clear => "nothing can be cleared, because its value would be lost: undo what computed it",
            Intent::Jump => "branches come in pairs that name each other: `here: BRA there` lands on `there: BRA here`",
            Intent::Branch(Cond::Eq) => "two registers are compared by `BEQ $1 $2 LABEL`, with 0 by `BEQ $1 $0 LABEL`",
            Intent::Branch(Cond::Ne) => "two registers are compared by `BNE $1 $2 LABEL`, with 0 by `BNE $1 $0 LABEL`",
            Intent::Branch(Cond::Always | Cond::Lt | Cond::Le | Cond::Gt | Cond::Ge | Cond::Ltu | Cond::Geu) => {
                "`BLTZ`, `BLEZ`, `BGTZ` and `BGEZ` compare a register with 0; `SLTX $3 $1 $2` computes whether $1 < $2"
            }
            Intent::Compare => {
                "there are no flags: `BEQ $1 $2 LABEL` compares and branches, `SLTX $3 $1 $2` computes whether $1 < $2"
            }
            Intent::Function("shl") => {
                "`SLLX $3 $1 4` exclusive-ors the shifted word into $3; `RL $1 4` rotates in place"
            }
            Intent::Function("shr" | "sar") => {
                "`SRLX $3 $1 4` exclusive-ors the shifted word into $3, `SRAX` copies the sign; `RR $1 4` rotates in place"
            }
            Intent::Function("and") => "`ANDX $3 $1 $2` exclusive-ors the bits of both into $3",
            Intent::Function("or") => "`ORX $3 $1 $2` exclusive-ors the bits of either into $3",
            Intent::Function("lt" | "ltu" | "eq") => {
                "`SLTX $3 $1 $2` changes the last bit of $3 if $1 < $2; `BEQ` and `BNE` compare, too"
            }
            Intent::Function(_) => "PISA has no such instruction: make it of additions, shifts and loops",
            Intent::Call => "`BRA NAME` calls a routine `NAME: SWAPBR $2`, and `RBRA NAME` undoes it",
            Intent::Return => {
                "a routine is `top: BRA bottom`, `NAME: SWAPBR $2`, `NEG $2`, …, `bottom: BRA top`; it returns at its end"
            }
            Intent::Halt => "a run ends at `FINISH`",
            Intent::Nothing => "leave it out, or write `XORI $0 0`",
            Intent::Output => "`SHOW $1` shows a word, `EMIT $1` moves one to the output",
            Intent::Input => "`READ $1` exclusive-ors the next word of the input into $1",
            Intent::Data | Intent::Directive(_) => "a cell of data is `NAME: DATA 5`",
            Intent::Statement => {
                "PISA has branches only, in pairs that name each other: `here: BRA there` lands on `there: BRA here`"
            }
        }
    }
}

/// A pair of jumps with a condition.
fn branch(cond: Cond) -> String {
    let name = cond.name();
    format!(
        "a jump and its landing place name each other: `here: jmp.{name} r1, r2, there` and, where it lands, \
         `there: from.{name} r1, r2, here`"
    )
}

/// How to write a function of the table, which is part of the names of instructions but not an instruction. `word` may
/// have the suffix of a type.
pub(crate) fn function(word: &str) -> Option<String> {
    let (name, typed) = match word.split_once('.') {
        Some((name, _)) => (name, &word[name.len()..]),
        None => (word, ""),
    };
    if name.is_empty() {
        return None;
    }
    let suffixes = Ty::ALL.map(Ty::suffix);
    let suffix = if typed.is_empty() { suffixes.into_iter().find(|s| known(Acc::Add, name, s)) } else { Some(typed) };
    let suffix = suffix.unwrap_or(typed);
    let bitwise = ["and", "or", "nor"].contains(&name);
    let acc = [Acc::Add, Acc::Mul, Acc::Xor].into_iter().find(|acc| known(*acc, name, suffix))?;
    let acc = if bitwise && typed.is_empty() { Acc::Xor } else { acc };
    let first = format!("{}{name}{suffix}", acc.name(false));
    let Some(Kind::Accumulate { func, .. }) = lookup(&first) else { return None };
    let operands = ["y", "a", "b", "c"].get(..=func.info().args.len()).unwrap_or(&["y"]).join(", ");
    let second = format!("{}{name}{suffix}", acc.name(true));
    let does = match acc {
        Acc::Add => format!("adds the result to y, and `{second}` takes it away again"),
        Acc::Xor => "exclusive-ors the result into y, and once more takes it away again".to_string(),
        Acc::Mul => format!("multiplies y by the result, and `{second}` divides by it again"),
    };
    Some(format!("in place it would forget: `{first} {operands}` {does}"))
}

/// Whether such an instruction exists.
fn known(acc: Acc, name: &str, suffix: &str) -> bool {
    matches!(lookup(&format!("{}{name}{suffix}", acc.name(false))), Some(Kind::Accumulate { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head;

    #[test]
    fn words_of_others_are_not_ours_and_each_is_there_once() {
        let words: Vec<&str> = WORDS.iter().flat_map(|(words, _)| words.iter().copied()).collect();
        for (n, word) in words.iter().enumerate() {
            assert_eq!(lookup(word), None, "{word} is an instruction");
            assert!(!words[..n].contains(word), "{word} is there twice");
            assert_eq!(*word, word.to_ascii_lowercase());
        }
        for (words, _) in DIRECTIVES {
            for word in *words {
                assert!(head::DIRECTIVES.iter().all(|(name, _)| name != word), "{word} is a directive");
            }
        }
    }

    #[test]
    fn every_word_has_help_that_names_instructions_there_are() {
        for (words, intent) in WORDS {
            let help = intent.native();
            assert!(!help.is_empty(), "{words:?}");
            assert!(!intent.pisa().is_empty());
            let quoted = help.split('`').skip(1).step_by(2);
            for part in quoted.filter(|part| !part.starts_with('.')) {
                let part = part.rsplit(": ").next().unwrap_or(part);
                let word = part.split([' ', ',']).next().unwrap_or("");
                let ours = lookup(word).is_some() || word.starts_with('.');
                assert!(ours, "{words:?}: {word} in {help}");
            }
        }
    }

    #[test]
    fn functions_are_parts_of_instructions() {
        let says = |word: &str, wanted: &str| {
            let help = function(word).unwrap_or_default();
            assert!(help.contains(wanted), "{word}: {help}");
        };
        says("shr", "`addshr y, a, b` adds the result to y, and `subshr`");
        says("sqrt", "`addsqrt.q y, a`");
        says("sqrt.f", "`addsqrt.f y, a`");
        says("and", "`xorand y, a, b`");
        says("mul", "`addmul y, a, b`");
        says("plus.l", "`mulplus.l y, a, b` multiplies y");
        assert_eq!((function("frob"), function(""), function(".q")), (None, None, None));
    }
}
