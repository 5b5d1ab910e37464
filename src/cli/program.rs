//! A program that a command works with.

use pendula::asm::assemble::NamedOperand;
use pendula::asm::diagnostic::{Diagnostic, Sources};
use pendula::compiler::janus::store::Variable;
use pendula::isa::Module;
use pendula::load;

/// A program that was loaded without errors.
pub(crate) struct Program {
    pub(crate) module: Module,
    pub(crate) sources: Sources,
    pub(crate) warnings: Vec<Diagnostic>,
    /// The operands that are written as names.
    pub(crate) named: Vec<NamedOperand>,
    /// The other results of compiling a program in Nil or Janus.
    pub(crate) compiled: Option<load::CompiledSource>,
}

impl Program {
    /// The variables of a program in Janus.
    pub(crate) fn variables(&self) -> Option<&[Variable]> {
        self.compiled.as_ref().and_then(load::CompiledSource::variables)
    }
}
