//! The options of the assembler.

use std::io;
use std::path::Path;

use pendula_isa::budget::Budget;

/// Reads a file for `.include`.
pub type Loader = Box<dyn Fn(&Path) -> io::Result<String>>;

/// The limits of a program, and how its files are found.
#[derive(Default)]
pub struct Options {
    /// Whether `.include` may reach outside the folder of the root file.
    pub include_outside: bool,
    /// Constants that are defined before the program, by name and value, in the program's own notation. An `.equ` of
    /// the program for the same name is ignored.
    pub defines: Vec<(String, String)>,
    /// The names of files of definitions that are read before the program.
    pub extensions: Vec<String>,
    /// The limits of reading. They include the bytes of all files together with what macros expand to; of these, at
    /// most 2 GiB are read, whatever the budget says.
    pub budget: Budget,
    /// How files are read; `None` for the file system.
    pub loader: Option<Loader>,
    /// The options for PISA.
    pub pisa: crate::pisa::Options,
}
