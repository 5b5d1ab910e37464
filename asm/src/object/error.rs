//! Why a file is not an object, or a module cannot become one: one enum, with a stable code and a help line for each
//! variant. It is not a [`Diagnostic`](crate::diagnostic::Diagnostic), because an object has no source text to refer
//! to, only sections and addresses.

use pendula_isa::budget::{Exceeded, Resource};
use pendula_isa::encode::DecodeError;
use pendula_isa::verify::Problem;

/// An error in an object, or in a module that is to become one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// Not an ELF file, or one for another machine.
    #[error("this is not a Pendula object: {0}")]
    NotObject(&'static str),
    /// ELF headers, sections or symbol tables that are inconsistent.
    #[error("the ELF file is damaged: {0}")]
    Elf(String),
    /// Written by a later version of this crate.
    #[error("the object has version {found} of the format; this program reads version {known}")]
    Version {
        /// The version found.
        found: u8,
        /// The version that is supported.
        known: u8,
    },
    /// Made for other elementary functions.
    #[error(
        "the object was made for version {found} of the elementary functions, and this program has version {known}; constants in it may differ in their last bits from what the machine computes: make it again from its source"
    )]
    Numerics {
        /// The version found.
        found: u64,
        /// The version that is supported.
        known: u32,
    },
    /// A section is missing, doubled or of the wrong kind.
    #[error("section `{section}` {problem}")]
    Section {
        /// The section.
        section: &'static str,
        /// The problem.
        problem: &'static str,
    },
    /// A section or the whole file is larger than this program accepts.
    #[error(transparent)]
    TooLarge(Box<Exceeded>),
    /// Bytes without meaning in a section of Pendula's own.
    #[error("section `{section}`, byte {offset}: {problem}")]
    Malformed {
        /// The section.
        section: &'static str,
        /// The offset in the section.
        offset: usize,
        /// The problem.
        problem: &'static str,
    },
    /// A word of code that no assembler could have written.
    #[error("instruction {address}: the word {word:#018x} is not an instruction: {error}")]
    Word {
        /// The instruction's address.
        address: u32,
        /// The word.
        word: u64,
        /// Why it is invalid.
        error: DecodeError,
    },
    /// A constant pool that does not belong to the code.
    #[error("constant {index} of `.rodata` is not the one that the code uses")]
    Pool {
        /// The first word that differs.
        index: usize,
    },
    /// Code that breaks the rules for whole modules.
    #[error("instruction {address}: {}", problem.title())]
    Structure {
        /// The instruction.
        address: u32,
        /// The rule that it breaks.
        problem: Problem,
        /// Another instruction that is concerned.
        other: Option<u32>,
    },
    /// A `print` of a text that does not exist.
    #[error("instruction {address}: there is no text {index}, only {count}")]
    Text {
        /// The instruction.
        address: u32,
        /// The text's index.
        index: i64,
        /// The number of texts.
        count: usize,
    },
    /// An invalid symbol.
    #[error("symbol `{}` {problem}", name.escape_debug())]
    Symbol {
        /// Its name.
        name: String,
        /// The problem.
        problem: &'static str,
    },
    /// An invalid span.
    #[error("span `{}` from instruction {start} {problem}", name.escape_debug())]
    Span {
        /// Its name.
        name: String,
        /// Its first instruction.
        start: u32,
        /// The problem.
        problem: &'static str,
    },
    /// A line table that does not belong to the code.
    #[error("the line table {problem}, at entry {entry}")]
    Lines {
        /// The entry: an instruction's address, or a file's index.
        entry: usize,
        /// The problem.
        problem: &'static str,
    },
    /// An instruction that has no encoding: fields that no assembler sets.
    #[error("instruction {address} has no encoding")]
    Inst {
        /// The instruction.
        address: u32,
    },
    /// Extensions that are not those of the code, or whose definitions cannot be read.
    #[error("the object's extensions cannot be read: {0}")]
    Extensions(String),
    /// The crate that writes ELF failed.
    #[error("the object cannot be written: {0}")]
    Write(String),
}

/// Code, title and help of each variant, in the order of the codes.
pub const CODES: [(&str, &str, &str); 15] = [
    ("P0301", "not a Pendula object", "give an object that `pendula asm` wrote, or a source file ending in `.rasm`"),
    ("P0302", "damaged ELF file", "assemble the source again; `readelf -a` shows what is left of the file"),
    ("P0303", "unknown version of the object format", "assemble the source again with this program"),
    (
        "P0304",
        "a section is missing, doubled or of the wrong kind",
        "assemble the source again; `readelf -S` lists the sections",
    ),
    ("P0306", "damaged section", "assemble the source again"),
    (
        "P0307",
        "a word of code is not an instruction",
        "the file is damaged, or written for another version of the instruction set; assemble the source again",
    ),
    ("P0308", "the constant pool does not belong to the code", "the file is damaged; assemble the source again"),
    (
        "P0309",
        "the code breaks a rule for whole programs",
        "correct the program that made the module; `pendula check` on its source shows the place",
    ),
    ("P0310", "`print` of a missing text", "the file is damaged; assemble the source again"),
    (
        "P0311",
        "bad symbol",
        "names consist of letters, digits, `_`, `.` and `$`, do not begin with a digit, are not those of registers, and occur once",
    ),
    ("P0312", "bad routine span", "spans lie within the code, and are nested or disjoint"),
    ("P0313", "bad line table", "the file is damaged; assemble the source again"),
    (
        "P0314",
        "instruction without encoding",
        "construct instructions with `Inst::build`, which sets only the fields that an instruction has",
    ),
    ("P0315", "the object cannot be written", "this is a bug in Pendula, or the module is too large for an ELF file"),
    ("P0316", "bad extensions", "assemble the source again with its definitions"),
];

/// The codes of this module with a title each.
pub fn codes() -> impl Iterator<Item = (&'static str, &'static str)> {
    CODES.iter().map(|&(code, title, _)| (code, title))
}

impl ObjectError {
    /// A section with more parts than the limit.
    pub(super) fn too_large(section: &'static str, limit: u64, unit: &'static str) -> ObjectError {
        let help = "use less `.space`, or let the program compute what it keeps";
        let exceeded = Exceeded::new(Resource::Nodes, limit, format!("section `{section}`"));
        ObjectError::TooLarge(Box::new(exceeded.of(unit).instead(help)))
    }

    fn row(&self) -> (&'static str, &'static str, &'static str) {
        CODES[match self {
            ObjectError::NotObject(_) => 0,
            ObjectError::Elf(_) => 1,
            ObjectError::Version { .. } | ObjectError::Numerics { .. } => 2,
            // An error that a budget is exceeded has the code of that budget.
            ObjectError::Section { .. } | ObjectError::TooLarge(_) => 3,
            ObjectError::Malformed { .. } => 4,
            ObjectError::Word { .. } => 5,
            ObjectError::Pool { .. } => 6,
            ObjectError::Structure { .. } => 7,
            ObjectError::Text { .. } => 8,
            ObjectError::Symbol { .. } => 9,
            ObjectError::Span { .. } => 10,
            ObjectError::Lines { .. } => 11,
            ObjectError::Inst { .. } => 12,
            ObjectError::Write(_) => 13,
            ObjectError::Extensions(_) => 14,
        }]
    }

    /// The code that messages and test files use.
    pub fn code(&self) -> &'static str {
        match self {
            ObjectError::TooLarge(exceeded) => exceeded.code(),
            _ => self.row().0,
        }
    }

    /// How to fix it.
    pub fn help(&self) -> String {
        match self {
            ObjectError::TooLarge(exceeded) => exceeded.help(),
            ObjectError::Structure { problem, .. } => problem.help().to_string(),
            _ => self.row().2.to_string(),
        }
    }
}

impl From<object::read::Error> for ObjectError {
    fn from(error: object::read::Error) -> ObjectError {
        ObjectError::Elf(error.to_string())
    }
}

impl From<object::write::Error> for ObjectError {
    fn from(error: object::write::Error) -> ObjectError {
        ObjectError::Write(error.to_string())
    }
}
