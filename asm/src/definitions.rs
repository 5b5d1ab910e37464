//! Definitions of extensions as text, in both directions: what [`text`] prints, [`read`] reads to the same definition.

use std::sync::Arc;

use pendula_isa::extension::{Defines, Definition, OPERAND_SEPARATOR};
use pendula_isa::num::Format;
use pendula_isa::text::{Names, display, number};
use pendula_isa::{Module, Reg, Ty};

use crate::diagnostic::{Diagnostic, Sources};
use crate::expand::Expander;
use crate::options::Options;

/// The names of a definition's operands and temporaries.
struct Locals<'a>(&'a Definition, Format);

impl Names for Locals<'_> {
    fn label(&self, at: i64) -> String {
        format!("@{at}")
    }
    fn text(&self, _: u32) -> String {
        String::new()
    }
    fn data(&self, _: i64) -> Option<String> {
        None
    }
    fn format(&self) -> Format {
        self.1
    }
    fn constant(&self, word: u64, ty: Ty) -> String {
        number(word, ty, self.1)
    }
    fn register(&self, register: Reg) -> String {
        self.0.local_name(register)
    }
}

/// A step of a definition as text.
pub fn step(definition: &Definition, step: &pendula_isa::Inst, format: Format) -> String {
    display(step, 0, &Locals(definition, format))
}

/// A definition as it would be written. Fixed-point constants are read back in the same format.
pub fn text(definition: &Definition, format: Format) -> String {
    let mut out = String::new();
    let names = |written: bool| -> Vec<&str> {
        definition.parameters.iter().filter(|p| p.written == written).map(|p| p.name.as_str()).collect()
    };
    let docs = |out: &mut String| definition.docs.iter().for_each(|line| out.push_str(&format!(";; {line}\n")));
    match &definition.defines {
        Defines::Function { ty, expression, .. } => {
            let argument = |p: &pendula_isa::extension::Parameter| match p.ty {
                own if own == *ty => p.name.clone(),
                other => format!("{}: {}", p.name, other.letter()),
            };
            let arguments: Vec<String> = definition.parameters.iter().map(argument).collect();
            out.push_str(&format!(".function {} ({})\n", definition.name, arguments.join(", ")));
            docs(&mut out);
            out.push_str(&format!("        {expression}\n.endfunction\n"));
        }
        Defines::Instruction { partner } => {
            let pair = partner.as_ref().map_or(String::new(), |p| format!(" / {p}"));
            let (written, read) = (names(true).join(", "), names(false).join(", "));
            let read = if read.is_empty() { read } else { format!(" {OPERAND_SEPARATOR} {read}") };
            out.push_str(&format!(".instr  {}{pair}  {written}{read}\n", definition.name));
            docs(&mut out);
            let temporaries: Vec<&str> = definition.temporaries.iter().map(|t| t.name.as_str()).collect();
            if !temporaries.is_empty() {
                out.push_str(&format!("        .temp   {}\n", temporaries.join(", ")));
            }
            for one in &definition.steps {
                out.push_str(&format!("        {}\n", step(definition, one, format)));
            }
            out.push_str(".endinstr\n");
        }
    }
    out
}

/// The definitions of the options' files, and then of a text; with errors in them, these.
///
/// # Errors
/// The diagnostics, and the texts that they refer to.
pub fn read(
    name: &str,
    text: String,
    format: Format,
    options: &Options,
) -> Result<Vec<Arc<Definition>>, (Vec<Diagnostic>, Sources)> {
    let (s, files) = Expander::read_definitions(name, text, format, options);
    let definitions = s.definitions.clone();
    let failed = s.failed();
    let diagnostics = s.finish();
    if failed { Err((diagnostics, files.into_sources())) } else { Ok(definitions) }
}

/// The definitions of the extensions that a module uses, in the order of their first use.
pub fn of_module(module: &Module) -> Vec<Arc<Definition>> {
    let mut out: Vec<Arc<Definition>> = Vec::new();
    for inst in &module.code {
        if let pendula_isa::Kind::Extension { extension, .. } = inst.kind {
            let definition = &extension.info().definition;
            if !out.iter().any(|d| Arc::ptr_eq(d, definition) || d == definition) {
                out.push(Arc::clone(definition));
            }
        }
    }
    out
}
