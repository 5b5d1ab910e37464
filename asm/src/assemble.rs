//! Assembles source text to a [`Module`] in two passes.
//!
//! The source is read and expanded before (`expand`, `routine`). The first pass, in `layout`, gives every name its
//! address and every object its size. The second pass, in `resolve`, turns operands into instructions and words.
//! `pairs` then checks the rules that hold between instructions.

use pendula_isa::Module;

pub use crate::assembly::{Assembly, NamedOperand};
use crate::expand::Expander;
use crate::layout::Program;
pub use crate::options::{Loader, Options};
use crate::{pairs, resolve, routine};

/// Assembles a program. `name` is the name of the root file; includes are relative to it.
pub fn assemble(name: &str, text: String, options: &Options) -> Assembly {
    let _span = tracing::debug_span!("assemble", file = name, bytes = text.len()).entered();
    let (mut s, files) = tracing::debug_span!("parse").in_scope(|| Expander::read(name, text, options));
    if !s.has_too_many_errors() {
        routine::expand(&mut s, options);
    }
    let mut program = Program::new(&mut s);
    program.lay_out(&mut s, options);
    program.symbols.complete = true;
    program.symbols.check_consts(&mut s);
    program.symbols.check_defines(&mut s);
    let mut module = Module {
        flags: program.flags,
        spans: std::mem::take(&mut program.spans),
        reasons: std::mem::take(&mut program.reasons),
        ..Module::default()
    };
    let (faulty, named) = resolve::resolve(&mut s, &mut program, &files, &mut module);
    module.flags = program.flags;
    tracing::debug_span!("check").in_scope(|| pairs::check(&mut s, &program, &module, &faulty));
    program.mark_symbols(&mut s);
    if !s.failed() {
        module.symbols = program.module_symbols(&s);
        module.files = files.list.iter().map(|f| f.name.clone()).collect();
    }
    let module = (!s.failed()).then_some(module);
    Assembly { module, diagnostics: s.finish(), sources: files.into_sources(), named }
}
