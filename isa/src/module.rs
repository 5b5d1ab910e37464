//! An assembled program: code, data, symbols, spans and the line table.
//! It is what the assembler makes, objects hold, and the machine runs.

use std::collections::HashMap;
use std::sync::Arc;

use crate::inst::Inst;
use crate::num::Format;
use crate::types::{Profile, Reg, Ty};
use crate::words::SparseWords;

/// How files in Janus are named.
const JANUS: [&str; 2] = [".janus", ".ja"];

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
    /// What data is in a source that counts elements from 1, as that of Nil does.
    pub variables: Vec<Variable>,
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

/// What a data symbol is in the source that it was compiled from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variable {
    /// The data symbol.
    pub symbol: String,
    /// What the source calls it.
    pub name: String,
    /// The lengths of an array's dimensions, of which the first runs fastest; none of a single value.
    pub dims: Vec<u64>,
    /// What an element's words are called, where it has several: the parts of a complex number, the fields of a struct.
    pub parts: Vec<String>,
    /// Which of an element's words are true or false; empty where none is.
    pub truths: Vec<bool>,
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

/// What the procedure `main` of a program in classic Janus becomes: a `main` that takes the variables of the program calls it.
pub const CLASSIC_MAIN: &str = "main.entry";

/// The name of a procedure of Nil or Janus as its source has it: without the number that tells those apart which are compiled from one, and without
/// what tells it from names that are taken.
pub fn name_in_source(name: &str) -> &str {
    let numbered = |number: &str| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let own = match name.rsplit_once('.') {
        Some(_) if name == CLASSIC_MAIN => "main",
        Some((own, number)) if !own.is_empty() && numbered(number) => own,
        Some(_) | None => name,
    };
    let taken = |name: &&str| *name == "main" || Reg::parse(name).is_some();
    own.strip_suffix('_').filter(taken).or_else(|| own.strip_prefix('_').filter(taken)).unwrap_or(own)
}

impl Variable {
    /// How many words an element has.
    pub fn width(&self) -> u64 {
        self.parts.len().max(1) as u64
    }

    /// Whether word number `n`, counted from 0, is true or false.
    pub fn is_truth(&self, n: u64) -> bool {
        self.truths.get((n % self.width()) as usize).is_some_and(|truth| *truth)
    }

    /// How many elements there are.
    pub fn count(&self) -> u64 {
        self.dims.iter().fold(1, |n, len| n.saturating_mul(*len))
    }

    /// Element number `n`, counted from 0, as the source names it: `x[1]`, `A[2,1]`.
    pub fn element(&self, n: u64) -> String {
        if self.dims.is_empty() {
            return self.name.clone();
        }
        let mut rest = n;
        let index = |len: &u64| {
            let len = (*len).max(1);
            let i = rest % len + 1;
            rest /= len;
            i.to_string()
        };
        format!("{}[{}]", self.name, self.dims.iter().map(index).collect::<Vec<_>>().join(","))
    }

    /// Word number `n`, counted from 0, as the source names it: `x[1]`, `z[3].im`.
    pub fn word(&self, n: u64) -> String {
        let element = self.element(n / self.width());
        match self.parts.get((n % self.width()) as usize) {
            Some(part) => format!("{element}.{part}"),
            None => element,
        }
    }
}

impl Module {
    /// What data symbols are in the source, by their names.
    pub fn variables_by_symbol(&self) -> HashMap<&str, &Variable> {
        self.variables.iter().map(|v| (v.symbol.as_str(), v)).collect()
    }

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

    /// Whether an instruction was made of a program in Nil or Janus, by the name of its file.
    pub fn is_compiled(&self, at: usize) -> bool {
        self.is_janus(at) || self.is_of(at, &[".nil", ".jl"])
    }

    /// Whether it was made of one in Janus.
    pub fn is_janus(&self, at: usize) -> bool {
        self.is_of(at, &JANUS)
    }

    /// Whether all of it was made of programs in Janus.
    pub fn is_all_janus(&self) -> bool {
        !self.files.is_empty() && self.files.iter().all(|file| JANUS.iter().any(|end| file.ends_with(end)))
    }

    fn is_of(&self, at: usize, extensions: &[&str]) -> bool {
        self.loc(at).is_some_and(|(file, _)| extensions.iter().any(|end| file.ends_with(end)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        let names = [
            ("dot.2", "dot"),
            ("main.3", "main"),
            ("main_", "main"),
            ("r1_.2", "r1"),
            ("_r7", "r7"),
            ("f.x", "f.x"),
            ("x_", "x_"),
        ];
        for (name, own) in names {
            assert_eq!(name_in_source(name), own);
        }
    }

    #[test]
    fn words_go_by_elements_counted_from_1() {
        let v = Variable { name: "A".into(), dims: vec![2, 3], ..Variable::default() };
        assert_eq!(
            (v.word(0), v.word(1), v.word(2), v.word(5)),
            ("A[1,1]".into(), "A[2,1]".into(), "A[1,2]".into(), "A[2,3]".into())
        );
        let v =
            Variable { name: "z".into(), dims: vec![2], parts: vec!["re".into(), "im".into()], ..Variable::default() };
        assert_eq!((v.word(1), v.word(2)), ("z[1].im".to_string(), "z[2].re".to_string()));
    }
}
