//! An assembled program: code, data, symbols, spans and the line table. The assembler makes it, object files store it, and the machine
//! runs it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::inst::Inst;
use crate::num::Format;
use crate::types::{Profile, Reg, Ty};
use crate::words::SparseWords;

/// The extension of Janus files.
const JANUS: [&str; 2] = [".janus", ".ja"];

/// A program, or a library without `start`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// The instructions; an instruction's address is its index.
    pub code: Vec<Inst>,
    /// The source location of each instruction: empty (unknown), or as long as `code`.
    pub locs: Vec<Loc>,
    /// The source files that `locs` refers to.
    pub files: Vec<String>,
    /// The data segment, from address 0.
    pub data: SparseWords,
    /// Labels, procedures and data objects.
    pub symbols: Vec<Symbol>,
    /// How sources that count elements from 1, such as Nil, name the data.
    pub variables: Vec<Variable>,
    /// The texts of `print`.
    pub texts: Vec<String>,
    /// Compute and uncompute spans.
    pub spans: Vec<Span>,
    /// The reasons of checks, ordered by address: at most one per instruction.
    pub reasons: Vec<Reason>,
    /// The flags of the module.
    pub flags: Flags,
}

/// The source location of an instruction.
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
    /// The kind of the named object.
    pub kind: SymbolKind,
    /// The address: of an instruction, or of a data word.
    pub value: u64,
    /// Whether `.global` exports the name to other objects.
    pub global: bool,
    /// Its documentation from `.proc-doc`.
    pub doc: String,
}

/// The kind of the object that a symbol names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A place in the code.
    Label,
    /// A procedure; the address is that of its `proc`.
    Proc,
    /// A data object.
    Data {
        /// The type by which its words are printed and set.
        ty: Ty,
        /// The number of words.
        len: u64,
        /// Whether the host writes it before a run.
        import: bool,
        /// Whether the host reads it after a run.
        export: bool,
    },
}

/// A sequence of instructions between routine marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The routine's name.
    pub name: String,
    /// Whether the span is the inverse of the routine.
    pub undo: bool,
    /// The first instruction.
    pub start: u32,
    /// One past the last instruction.
    pub end: u32,
}

/// The reason of a check: what is wrong if the instruction traps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The instruction.
    pub at: u32,
    /// The text, which may be shared.
    pub text: Arc<str>,
}

/// The source's view of a data symbol of a compiled program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variable {
    /// The data symbol.
    pub symbol: String,
    /// Its name in the source.
    pub name: String,
    /// The lengths of an array's dimensions in column-major order; empty for a single value.
    pub dims: Vec<u64>,
    /// The names of an element's words, if it has several: the parts of a complex number, the fields of a struct.
    pub parts: Vec<String>,
    /// Which of an element's words are booleans; empty if none is.
    pub truths: Vec<bool>,
}

/// The flags of a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// The fixed-point format.
    pub format: Format,
    /// Whether the module may use `erase`; it cannot run backward then.
    pub irreversible: bool,
    /// The memory size in words from `.mem`, if given.
    pub mem: Option<u64>,
    /// The profile of the code.
    pub profile: Profile,
    /// The address where a run begins in the profile `pisa`. It is 0 in the native profile, where runs begin at `start`.
    pub entry: u32,
    /// In the profile `pisa`, whether the machine behaves like PendVM: the branch register may lead to `start` and `finish`, and `show` shows
    /// in both directions.
    pub loose: bool,
}

/// The compiled name of the procedure `main` of a program in classic Janus. A generated `main` calls it with the program's variables.
pub const CLASSIC_MAIN: &str = "main.entry";

/// The source name of a procedure of Nil or Janus: without the number that distinguishes instances compiled from one procedure, and without
/// the suffix that avoids reserved names.
pub fn name_in_source(name: &str) -> &str {
    let numbered = |number: &str| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let base = match name.rsplit_once('.') {
        Some(_) if name == CLASSIC_MAIN => "main",
        Some((base, number)) if !base.is_empty() && numbered(number) => base,
        Some(_) | None => name,
    };
    let taken = |name: &&str| *name == "main" || Reg::parse(name).is_some();
    base.strip_suffix('_').filter(taken).or_else(|| base.strip_prefix('_').filter(taken)).unwrap_or(base)
}

/// The data symbol that holds the length of a vector that grows, whose elements are in the data symbol `symbol`.
pub fn length_of(symbol: &str) -> String {
    format!("{symbol}.count")
}

impl Variable {
    /// The number of words of an element.
    pub fn width(&self) -> u64 {
        self.parts.len().max(1) as u64
    }

    /// Whether word number `n`, counted from 0, is a boolean.
    pub fn is_truth(&self, n: u64) -> bool {
        self.truths.get((n % self.width()) as usize).is_some_and(|truth| *truth)
    }

    /// The number of elements.
    pub fn count(&self) -> u64 {
        self.dims.iter().fold(1, |n, len| n.saturating_mul(*len))
    }

    /// The source name of element number `n`, counted from 0: `x[1]`, `A[2,1]`.
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

    /// The source name of word number `n`, counted from 0: `x[1]`, `z[3].im`.
    pub fn word(&self, n: u64) -> String {
        let element = self.element(n / self.width());
        match self.parts.get((n % self.width()) as usize) {
            Some(part) => format!("{element}.{part}"),
            None => element,
        }
    }
}

impl Module {
    /// The source's views of data symbols, by symbol name.
    pub fn variables_by_symbol(&self) -> HashMap<&str, &Variable> {
        self.variables.iter().map(|v| (v.symbol.as_str(), v)).collect()
    }

    /// The symbol with this name.
    pub fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols.iter().find(|s| s.name == name)
    }

    /// The source location of an instruction, if known.
    pub fn loc(&self, at: usize) -> Option<(&str, Loc)> {
        let loc = *self.locs.get(at)?;
        let file = self.files.get(loc.file as usize)?;
        (loc.line > 0).then_some((file.as_str(), loc))
    }

    /// Whether an instruction was compiled from Nil or Janus, by the name of its file.
    pub fn is_compiled(&self, at: usize) -> bool {
        self.is_janus(at) || self.is_of(at, &[".nil", ".jl"])
    }

    /// Whether an instruction was compiled from Janus.
    pub fn is_janus(&self, at: usize) -> bool {
        self.is_of(at, &JANUS)
    }

    /// Whether all code was compiled from Janus.
    pub fn is_all_janus(&self) -> bool {
        !self.files.is_empty() && self.files.iter().all(|file| JANUS.iter().any(|end| file.ends_with(end)))
    }

    fn is_of(&self, at: usize, extensions: &[&str]) -> bool {
        self.loc(at).is_some_and(|(file, _)| extensions.iter().any(|end| file.ends_with(end)))
    }

    /// The reason of the check that an instruction makes, if given.
    pub fn reason(&self, at: u32) -> Option<&str> {
        let n = self.reasons.binary_search_by_key(&at, |r| r.at).ok()?;
        Some(&self.reasons.get(n)?.text)
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
