//! An assembled program: code, data, symbols, spans and the line table.
//! It is what the assembler makes, objects hold, and the machine runs.

use std::sync::Arc;

use crate::inst::Inst;
use crate::num::Format;
use crate::types::{Profile, Ty};
use crate::words::SparseWords;

/// A program, or a library without `start`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// The instructions; an instruction's address is its index.
    pub code: Vec<Inst>,
    /// Where each instruction was written: empty (unknown), or as long as `code`.
    pub locs: Vec<Loc>,
    /// The source files that `locs` name.
    pub files: Vec<String>,
    /// The data segment, from address 0.
    pub data: SparseWords,
    /// Labels, procedures and data objects.
    pub symbols: Vec<Symbol>,
    /// The texts that `print` shows.
    pub texts: Vec<String>,
    /// Compute and uncompute spans.
    pub spans: Vec<Span>,
    /// What checks are for, where something is said: at most one for an instruction, by address.
    pub reasons: Vec<Reason>,
    /// What holds for the whole module.
    pub flags: Flags,
}

/// Where an instruction was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc {
    /// Index into [`Module::files`].
    pub file: u16,
    /// Column in characters, from 1.
    pub column: u16,
    /// Line, from 1; 0 for unknown.
    pub line: u32,
}

/// A name for an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// What it names.
    pub kind: SymbolKind,
    /// The address: of an instruction, or of a data word.
    pub value: u64,
    /// Whether `.global` exports the name to other objects.
    pub global: bool,
    /// What `.proc-doc` says of it.
    pub doc: String,
}

/// What a symbol names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A place in the code.
    Label,
    /// A procedure; the address is that of its `proc`.
    Proc,
    /// A data object.
    Data {
        /// How its words are read, when they are printed or set.
        ty: Ty,
        /// How many words.
        len: u64,
        /// Whether the host writes it before a run.
        import: bool,
        /// Whether the host reads it after a run.
        export: bool,
    },
}

/// A run of instructions between routine marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The routine's name.
    pub name: String,
    /// Whether the span undoes the routine.
    pub undo: bool,
    /// The first instruction.
    pub start: u32,
    /// One past the last instruction.
    pub end: u32,
}

/// What an instruction checks, in words: what is wrong when it traps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The instruction.
    pub at: u32,
    /// The text, which others may share.
    pub text: Arc<str>,
}

/// What holds for a whole module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// The fixed-point format.
    pub format: Format,
    /// Whether the module may erase; it cannot run backward then.
    pub irreversible: bool,
    /// Memory size in words, where `.mem` gives it.
    pub mem: Option<u64>,
    /// The instructions that the code is made of.
    pub profile: Profile,
    /// Where a run begins in the profile `pisa`; elsewhere it begins at `start`, and this is 0.
    pub entry: u32,
    /// Whether the machine does as PendVM does, in the profile `pisa`: control may come to `start` and `finish` by the branch register, and
    /// `show` shows in both directions.
    pub loose: bool,
}

impl Module {
    /// The symbol with this name.
    pub fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols.iter().find(|s| s.name == name)
    }

    /// Where an instruction was written, if known.
    pub fn loc(&self, at: usize) -> Option<(&str, Loc)> {
        let loc = *self.locs.get(at)?;
        let file = self.files.get(loc.file as usize)?;
        (loc.line > 0).then_some((file.as_str(), loc))
    }

    /// What is said of the check that an instruction makes.
    pub fn reason(&self, at: u32) -> Option<&str> {
        let n = self.reasons.binary_search_by_key(&at, |r| r.at).ok()?;
        Some(&self.reasons.get(n)?.text)
    }

    /// The code symbol at or before an address, for messages: its name and the distance.
    pub fn nearest_label(&self, at: u64) -> Option<(&str, u64)> {
        self.symbols
            .iter()
            .filter(|s| !matches!(s.kind, SymbolKind::Data { .. }) && s.value <= at)
            .max_by_key(|s| s.value)
            .map(|s| (s.name.as_str(), at - s.value))
    }
}
