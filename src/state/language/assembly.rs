//! Assembly, and what else has no names of its own.

use pendula_asm::assemble::{Options, assemble};
use pendula_asm::diagnostic::Diagnostic;
use pendula_asm::fmt::format_source;
use pendula_compiler::compile;

use super::Language;
use crate::state::compiled::{Loaded, plain};

/// Assembly.
pub(crate) struct Assembly;

impl Language for Assembly {
    fn name(&self) -> &'static str {
        "assembly"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["rasm"]
    }

    fn is_text(&self, _: &[u8]) -> bool {
        true
    }

    fn load(&self, name: &str, text: String, options: &Options, _: &compile::Options) -> Loaded {
        let a = assemble(name, text, options);
        Loaded { named: a.named, ..plain(a.module, a.diagnostics, a.sources) }
    }

    fn format(&self, name: &str, text: &str) -> Option<Result<String, Vec<Diagnostic>>> {
        Some(format_source(name, text))
    }
}
