//! The first words of statements: mnemonics, directives, and names of macros.

use pendula_isa::{Kind, Ty};

/// The meaning of the first word of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    Inst(Kind),
    Directive(Directive),
    /// Index into the macros.
    Macro(u32),
    UnknownDirective,
    UnknownMnemonic,
}

/// A directive's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directive {
    Text,
    Data,
    Words(Ty),
    Space,
    Import,
    Export,
    Global,
    Mem,
    Format,
    Include,
    Equ,
    Macro,
    Endm,
    Routine,
    EndRoutine,
    Unroutine,
    EndUnroutine,
    ProcDoc,
    Reason,
    Irreversible,
    Profile,
    Start,
    Loose,
    Extension,
    Instr,
    EndInstr,
    Function,
    EndFunction,
    Temp,
    Repeat,
    EndRepeat,
}

/// Every directive.
pub(crate) const DIRECTIVES: &[(&str, Directive)] = &[
    (".text", Directive::Text),
    (".data", Directive::Data),
    (".word", Directive::Words(Ty::Int)),
    (".quad", Directive::Words(Ty::Int)),
    (".fixed", Directive::Words(Ty::Q)),
    (".log", Directive::Words(Ty::L)),
    (".double", Directive::Words(Ty::F)),
    (".space", Directive::Space),
    (".import", Directive::Import),
    (".export", Directive::Export),
    (".global", Directive::Global),
    (".mem", Directive::Mem),
    (".format", Directive::Format),
    (".include", Directive::Include),
    (".equ", Directive::Equ),
    (".macro", Directive::Macro),
    (".endm", Directive::Endm),
    (".routine", Directive::Routine),
    (".endroutine", Directive::EndRoutine),
    (".unroutine", Directive::Unroutine),
    (".endunroutine", Directive::EndUnroutine),
    (".proc-doc", Directive::ProcDoc),
    (".why", Directive::Reason),
    (".irreversible", Directive::Irreversible),
    (".profile", Directive::Profile),
    (".start", Directive::Start),
    (".loose", Directive::Loose),
    (".extension", Directive::Extension),
    (".instr", Directive::Instr),
    (".endinstr", Directive::EndInstr),
    (".function", Directive::Function),
    (".endfunction", Directive::EndFunction),
    (".temp", Directive::Temp),
    (".repeat", Directive::Repeat),
    (".endrepeat", Directive::EndRepeat),
];
