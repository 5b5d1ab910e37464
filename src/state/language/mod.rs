//! What source languages differ in, one file per language. A new language is a file here and a row in [`FileKind`].

mod assembly;
mod janus;
mod nil;
mod pisa;

use std::borrow::Cow;

use pendula_asm::assemble::Options;
use pendula_asm::diagnostic::Diagnostic;
use pendula_compiler::compile;
use pendula_compiler::janus::store::Variable;
use pendula_isa::Module;
use pendula_isa::types::{Profile, Reg, Ty};
use pendula_vm::Machine;

use crate::state::compiled::{CompiledSource, Loaded};
use crate::state::names;
use crate::state::values::error::ValueError;
use crate::state::values::place::{Location, Place, WORDS};

pub(crate) use assembly::Assembly;
pub(crate) use janus::Janus;
pub(crate) use nil::Nil;
pub(crate) use pisa::Pisa;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Assembly text.
    Assembly,
    /// An assembled object.
    Object,
    /// A program in Nil.
    Nil,
    /// A program in Janus.
    Janus,
    /// PISA, as PendVM reads it.
    Pisa,
    /// A functional program in VLAD.
    Vlad,
    /// A functional program in Futhark.
    Futhark,
}

impl FileKind {
    /// The kinds of source text that become code of the machine, in the order in which a text is recognised.
    pub const SOURCES: [FileKind; 4] = [FileKind::Pisa, FileKind::Nil, FileKind::Janus, FileKind::Assembly];

    /// The language of the text; `None` for an object, and for a functional program, which is evaluated.
    pub fn language(self) -> Option<&'static dyn Language> {
        match self {
            FileKind::Assembly => Some(&Assembly),
            FileKind::Object | FileKind::Vlad | FileKind::Futhark => None,
            FileKind::Nil => Some(&Nil),
            FileKind::Janus => Some(&Janus),
            FileKind::Pisa => Some(&Pisa),
        }
    }

    /// The kind in words, for messages.
    pub fn name(self) -> &'static str {
        match self {
            FileKind::Vlad => "a program in VLAD",
            FileKind::Futhark => "a program in Futhark",
            _ => self.language().map_or("an object", Language::name),
        }
    }

    /// True if it is compiled to instructions.
    pub fn is_compiled(self) -> bool {
        matches!(self, FileKind::Nil | FileKind::Janus)
    }

    /// True if it holds a functional program, which is evaluated.
    pub fn is_functional(self) -> bool {
        matches!(self, FileKind::Vlad | FileKind::Futhark)
    }
}

/// A program's code, and its variables if it is in Janus.
pub type Names<'a> = (&'a Module, Option<&'a [Variable]>);

/// The places that show a machine's state, and single cells without names with their words.
pub type Shown = (Vec<Place>, Vec<(u32, u64)>);

/// What source languages differ in. Where nothing else is said, it is as in assembly.
pub trait Language: Sync {
    /// A program of this language in words, for messages.
    fn name(&self) -> &'static str;

    /// The extensions of files, in small letters.
    fn extensions(&self) -> &'static [&'static str];

    /// True if a text, which may be cut off, is in this language.
    fn is_text(&self, text: &[u8]) -> bool;

    /// Assembles or compiles a text.
    fn load(&self, name: &str, text: String, options: &Options, compiler: &compile::Options) -> Loaded;

    /// The formatted text; `None` if programs cannot be formatted, which [`Language::unformatted`] explains.
    fn format(&self, _: &str, _: &str) -> Option<Result<String, Vec<Diagnostic>>> {
        None
    }

    /// Why programs cannot be formatted, to be said after the file's name.
    fn unformatted(&self) -> &'static str {
        ""
    }

    /// True if the entry point has arguments.
    fn has_arguments(&self) -> bool {
        false
    }

    /// True if gradients can be computed.
    fn has_gradients(&self) -> bool {
        true
    }

    /// Finds a part of the state by its name.
    ///
    /// # Errors
    /// There is nothing of this name.
    fn find(&self, (module, _): Names<'_>, name: &str) -> Result<Place, ValueError> {
        names::find(module, name)
    }

    /// A value for a place, in the common notation.
    fn value<'v>(&self, _: &Place, value: &'v str) -> Cow<'v, str> {
        Cow::Borrowed(value)
    }

    /// The results of a run: the exports; after a run backward, also the imports.
    fn results(&self, (module, _): Names<'_>, reverse: bool) -> Vec<Place> {
        names::marked(module, |import, export| export || (reverse && import))
    }

    /// The inputs of a run.
    fn inputs(&self, (module, _): Names<'_>, reverse: bool) -> Vec<Place> {
        names::marked(module, |import, export| if reverse { export } else { import })
    }

    /// What is shown of a machine's state after a run that began with the registers `before`.
    fn shown(&self, names: Names<'_>, machine: &Machine<'_>, before: &[u64; Reg::COUNT], reverse: bool) -> Shown {
        let mut places = self.results(names, reverse);
        let registers = (0..Reg::COUNT as u8).filter_map(Reg::new);
        let changed = registers.filter(|r| machine.registers()[r.index()] != before[r.index()]);
        places.extend(changed.map(|r| Place::new(r.to_string(), Ty::Int, Location::Register(r))));
        (places, Vec::new())
    }

    /// The least and the greatest integer of a word.
    fn range(&self) -> (i128, i128) {
        WORDS
    }

    /// A register as text.
    fn register(&self, reg: Reg) -> String {
        reg.to_string()
    }

    /// The register that is always zero.
    fn zero(&self) -> Option<Reg> {
        Some(Reg::ZERO)
    }

    /// The word at an address.
    fn word_at(&self, machine: &Machine<'_>, address: u64) -> Option<u64> {
        machine.memory().get(usize::try_from(address).ok()?).copied()
    }

    /// An instruction as text, if it is not written as in assembly.
    fn line(&self, _: &Module, _: u32) -> Option<String> {
        None
    }

    /// True if shown words say themselves how they are printed, as PendVM does, and the length of the output is told in
    /// bits.
    fn shows_headers(&self) -> bool {
        false
    }
}

/// How explanations of stops speak of a language. Of two texts, the first is for a run forward, the second for one
/// backward, if nothing else is said.
pub struct Terms {
    /// The branches of an `if`: the one whose condition holds, and the other.
    pub(crate) branches: [&'static str; 2],
    /// The advice if the conditions of a branch disagree.
    pub(crate) branch: &'static str,
    /// The advice if the conditions of a loop disagree.
    pub(crate) turn: [&'static str; 2],
    /// What determines the value that a variable should end with.
    pub(crate) ends: [&'static str; 2],
    /// The index of the first element.
    pub(crate) first: i64,
    /// What begins a comment.
    pub(crate) comment: &'static str,
    /// The brackets of an array.
    pub(crate) brackets: [char; 2],
    /// A whole array as text: its elements, its lengths, and whether they are in column-major order. `None` if it is a
    /// plain list.
    pub(crate) array: fn(&[String], &[u64], bool) -> Option<String>,
}

/// The language of a module, with the variables of a program in Janus.
pub fn of((module, store): Names<'_>) -> &'static dyn Language {
    match (module.flags.profile, store) {
        (Profile::Pisa, _) => &Pisa,
        (Profile::Native, Some(_)) => &Janus,
        (Profile::Native, None) if module.variables.is_empty() => &Assembly,
        (Profile::Native, None) => &Nil,
    }
}

/// How explanations speak of a compiled program's language.
pub fn terms_of(source: &CompiledSource) -> &'static Terms {
    if source.janus.is_some() { &janus::TERMS } else { &nil::TERMS }
}

/// True if a line of a text begins with a word.
fn has_line(text: &[u8], word: &str) -> bool {
    let is = |line: &[u8]| line.strip_prefix(word.as_bytes()).is_some_and(|rest| rest.starts_with(b" "));
    text.split(|b| matches!(b, b'\n' | b'\r')).any(|line| is(line.trim_ascii_start()))
}
