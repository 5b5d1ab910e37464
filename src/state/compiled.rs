//! A program as it was loaded: the module, and the other results of compiling a source.

use std::sync::OnceLock;

use pendula_asm::assemble::NamedOperand;
use pendula_asm::diagnostic::{Diagnostic, Sources};
use pendula_compiler::compile::{Compiled, Janus};
use pendula_compiler::ir;
use pendula_compiler::janus::store::Variable;
use pendula_compiler::lower::{Argument, Places};
use pendula_compiler::nil::sema::Input;
use pendula_compiler::nil::types::Type;
use pendula_compiler::passes::Switches;
use pendula_isa::Module;

use crate::state::source_moment::Counted;

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
    /// Where its variables are in the code.
    pub places: Places,
    /// The IR before the optimisations.
    pub source: Option<ir::Program>,
    /// True if results are erased instead of undone, as `--uncompute` asks for.
    pub erases: bool,
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

/// A loaded file that was not compiled.
pub(crate) fn plain(module: Option<Module>, diagnostics: Vec<Diagnostic>, sources: Sources) -> Loaded {
    Loaded { module, diagnostics, sources, named: Vec::new(), compiled: None }
}

pub(crate) fn compiled(c: Compiled) -> Loaded {
    let source = CompiledSource {
        arguments: c.arguments,
        parameters: c.parameters,
        types: c.types,
        wants_arguments: c.wants_arguments,
        program: c.program,
        places: c.places,
        source: c.source,
        erases: c.erases,
        switches: c.switches,
        inputs: c.inputs,
        janus: c.janus,
        counted: OnceLock::new(),
    };
    Loaded { compiled: Some(source), ..plain(c.module, c.diagnostics, c.sources) }
}
