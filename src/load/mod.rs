//! Loads files of any kind as modules: assembly text, objects, and programs in Nil, Janus and PISA. The extension
//! determines the kind; if it does not, the content does.

pub(crate) mod source_moment;

use std::io::Read;
use std::path::Path;
use std::sync::OnceLock;

use pendula_asm::assemble::{NamedOperand, Options, assemble};
use pendula_asm::diagnostic::{Diagnostic, Sources};
use pendula_asm::object::{self, ObjectError};
use pendula_asm::pisa;
use pendula_compiler::compile::{self, Compiled, Janus, compile, compile_janus};
use pendula_compiler::ir;
use pendula_compiler::janus::store::Variable;
use pendula_compiler::lower::Argument;
use pendula_compiler::nil::sema::Input;
use pendula_compiler::nil::types::Type;
use pendula_compiler::passes::Switches;
use pendula_isa::Module;
use pendula_isa::budget::{Budget, Exceeded};

use source_moment::Counted;

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
}

impl FileKind {
    /// The kind in words, for messages.
    pub fn name(self) -> &'static str {
        match self {
            FileKind::Assembly => "assembly",
            FileKind::Object => "an object",
            FileKind::Nil => "a program in Nil",
            FileKind::Janus => "a program in Janus",
            FileKind::Pisa => "a program in PISA",
        }
    }
}

/// A loaded file.
#[derive(Debug)]
pub struct Loaded {
    /// The module; `None` if there were errors.
    pub module: Option<Module>,
    /// The assembler's or the compiler's messages.
    pub diagnostics: Vec<Diagnostic>,
    /// The source texts; empty for an object.
    pub sources: Sources,
    /// The operands of assembly text that name data objects.
    pub named: Vec<NamedOperand>,
    /// The other results of compiling a program in Nil or Janus.
    pub compiled: Option<CompiledSource>,
}

/// A compiled program, in Nil or Janus.
#[derive(Debug)]
pub struct CompiledSource {
    /// The arguments of its entry point, as data symbols in order.
    pub arguments: Vec<Argument>,
    /// The data symbols of each parameter of its entry point.
    pub parameters: Vec<Vec<String>>,
    /// The types of these parameters.
    pub types: Vec<Type>,
    /// True if there is nothing to run because the entry point's arguments are missing.
    pub wants_arguments: bool,
    /// The optimised IR, from which the instructions were made; `None` if there were errors.
    pub program: Option<ir::Program>,
    /// The IR before the optimisations.
    pub source: Option<ir::Program>,
    /// The IR from which C is generated, if [`compile::Options::native`] asks for it.
    pub native: Option<ir::Program>,
    /// The passes that were selected.
    pub switches: Switches,
    /// The files as they were read, the program first; empty for a program in Janus.
    pub inputs: Vec<Input>,
    /// The parts that only a program in Janus has.
    pub janus: Option<Janus>,
    /// The statements whose execution counts are known; computed when a stop is first reported.
    counted: OnceLock<Counted>,
}

impl CompiledSource {
    /// The variables of a program in Janus.
    pub fn variables(&self) -> Option<&[Variable]> {
        self.janus.as_ref().map(|janus| janus.store.as_slice())
    }

    /// The statements whose execution counts follow from the counts of this code; `None` if the program was not
    /// compiled.
    pub(crate) fn counted(&self, module: &Module) -> Option<&Counted> {
        let (source, program) = (self.source.as_ref()?, self.program.as_ref()?);
        Some(self.counted.get_or_init(|| Counted::of(module, source, program)))
    }
}

/// Why a file cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It cannot be read.
    #[error("cannot read {path}: {error}")]
    Read {
        /// The file.
        path: String,
        /// The reason.
        error: std::io::Error,
    },
    /// It is larger than allowed.
    #[error(transparent)]
    TooLarge(Box<Exceeded>),
    /// It is neither an object nor UTF-8 text.
    #[error("{path} is neither an object nor UTF-8 text (byte {offset})")]
    NotText {
        /// The file.
        path: String,
        /// The offset of the first byte that is not UTF-8.
        offset: usize,
    },
    /// It is an invalid object.
    #[error("{path}: {error}")]
    Object {
        /// The file.
        path: String,
        /// What is wrong.
        error: ObjectError,
    },
}

/// Reads a file's bytes, at most as many as the budget allows; `-` is standard input.
pub fn read_bytes(path: &str, budget: &Budget) -> Result<Vec<u8>, LoadError> {
    let _span = tracing::debug_span!("read", file = display_name(path)).entered();
    let fail = |error| LoadError::Read { path: path.to_string(), error };
    let mut bytes = Vec::new();
    let most = budget.bytes.saturating_add(1);
    if path == "-" {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(fail)?;
    } else {
        std::fs::File::open(path).map_err(fail)?.take(most).read_to_end(&mut bytes).map_err(fail)?;
    }
    let what = || format!("`{}`", display_name(path));
    budget.large(bytes.len() as u64, what).map_err(|e| LoadError::TooLarge(Box::new(e)))?;
    Ok(bytes)
}

/// Like [`read_bytes`] for a program; the error names the command-line option that raises the limit.
pub fn read_source(path: &str, budget: &Budget) -> Result<Vec<u8>, LoadError> {
    read_bytes(path, budget).map_err(|e| match e {
        LoadError::TooLarge(e) => {
            LoadError::TooLarge(Box::new(e.instead("divide the program").raised_by("--max-source")))
        }
        e => e,
    })
}

/// Determines what a file holds from its name, or else from its content.
pub fn kind_of(path: &str, bytes: &[u8]) -> FileKind {
    let bytes = &bytes[..bytes.len().min(LOOKED_AT)];
    let extension = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or("");
    match extension.to_ascii_lowercase().as_str() {
        "rasm" => FileKind::Assembly,
        "nil" | "jl" => FileKind::Nil,
        "janus" | "ja" => FileKind::Janus,
        "pisa" | "pal" => FileKind::Pisa,
        _ if object::is_object(bytes) => FileKind::Object,
        _ => by_content(bytes),
    }
}

/// Determines what a text is if its name does not tell: Nil programs have functions, `@i function f(…)`, and Janus
/// programs have procedures.
fn by_content(bytes: &[u8]) -> FileKind {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    if bytes.starts_with(pisa::HEADER.as_bytes()) {
        return FileKind::Pisa;
    }
    let begins = |word: &str| {
        let is = |line: &[u8]| line.strip_prefix(word.as_bytes()).is_some_and(|rest| rest.starts_with(b" "));
        bytes.split(|b| matches!(b, b'\n' | b'\r')).any(|line| is(line.trim_ascii_start()))
    };
    match (begins("@i"), begins("procedure")) {
        (true, _) => FileKind::Nil,
        (false, true) => FileKind::Janus,
        (false, false) => FileKind::Assembly,
    }
}

/// The number of bytes of a file that are inspected to see what it holds.
const LOOKED_AT: usize = 1 << 16;

/// Determines what a file holds before it is read; `None` for standard input, and for a file that cannot be read.
pub fn kind_at(path: &str) -> Option<FileKind> {
    let mut bytes = Vec::new();
    if path == "-" {
        return None;
    }
    std::fs::File::open(path).ok()?.take(LOOKED_AT as u64).read_to_end(&mut bytes).ok()?;
    Some(kind_of(path, &bytes))
}

/// Converts a file's bytes to text.
pub fn text_of(path: &str, bytes: Vec<u8>) -> Result<String, LoadError> {
    String::from_utf8(bytes)
        .map_err(|e| LoadError::NotText { path: path.to_string(), offset: e.utf8_error().valid_up_to() })
}

/// The name of a file in messages.
pub fn display_name(path: &str) -> &str {
    if path == "-" { "<stdin>" } else { path }
}

/// Loads a file: assembles it, reads it as an object, or compiles it.
pub fn load(path: &str, options: &Options, nil: &compile::Options) -> Result<Loaded, LoadError> {
    load_bytes(path, read_source(path, &options.budget)?, options, nil)
}

/// Like [`load`] for the bytes of a file; `path` is its path, or the name that messages use.
pub fn load_bytes(path: &str, bytes: Vec<u8>, options: &Options, nil: &compile::Options) -> Result<Loaded, LoadError> {
    match kind_of(path, &bytes) {
        FileKind::Object => {
            let module = object::read_within(&bytes, &options.budget)
                .map_err(|error| LoadError::Object { path: path.to_string(), error })?;
            Ok(plain(Some(module), Vec::new(), Sources::default()))
        }
        FileKind::Assembly => {
            let text = text_of(path, bytes)?;
            let a = assemble(display_name(path), text, options);
            Ok(Loaded { named: a.named, ..plain(a.module, a.diagnostics, a.sources) })
        }
        FileKind::Nil => Ok(compiled(compile(display_name(path), text_of(path, bytes)?, nil))),
        FileKind::Janus => Ok(compiled(compile_janus(display_name(path), &text_of(path, bytes)?, nil))),
        FileKind::Pisa => {
            let text = text_of(path, bytes)?;
            let a = pisa::read(display_name(path), &text, &options.pisa);
            Ok(plain(a.module, a.diagnostics, a.sources))
        }
    }
}

/// A loaded file that was not compiled.
fn plain(module: Option<Module>, diagnostics: Vec<Diagnostic>, sources: Sources) -> Loaded {
    Loaded { module, diagnostics, sources, named: Vec::new(), compiled: None }
}

fn compiled(c: Compiled) -> Loaded {
    let source = CompiledSource {
        arguments: c.arguments,
        parameters: c.parameters,
        types: c.types,
        wants_arguments: c.wants_arguments,
        program: c.program,
        source: c.source,
        native: c.native,
        switches: c.switches,
        inputs: c.inputs,
        janus: c.janus,
        counted: OnceLock::new(),
    };
    Loaded { compiled: Some(source), ..plain(c.module, c.diagnostics, c.sources) }
}
