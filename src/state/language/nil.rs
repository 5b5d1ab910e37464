//! Nil.

use pendula_asm::assemble::Options;
use pendula_asm::definitions;
use pendula_asm::diagnostic::Diagnostic;
use pendula_compiler::compile::{self, compile};
use pendula_compiler::nil::fmt::format_source;
use pendula_compiler::nil::sema::format_of;

use super::{Language, Terms, has_line};
use crate::state::compiled::{Loaded, compiled, plain};

/// Nil.
pub(crate) struct Nil;

impl Language for Nil {
    fn name(&self) -> &'static str {
        "a program in Nil"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["nil", "jl"]
    }

    fn is_text(&self, text: &[u8]) -> bool {
        // Programs have functions: `@i function f(…)`.
        has_line(text, "@i")
    }

    fn load(&self, name: &str, text: String, options: &Options, compiler: &compile::Options) -> Loaded {
        if options.extensions.is_empty() {
            return compiled(compile(name, text, compiler));
        }
        let format = format_of(&text, &compiler.types, compiler.format);
        match definitions::read("", String::new(), format, options) {
            Ok(extensions) => compiled(compile(name, text, &compile::Options { extensions, ..compiler.clone() })),
            Err((diagnostics, sources)) => plain(None, diagnostics, sources),
        }
    }

    fn format(&self, _: &str, text: &str) -> Option<Result<String, Vec<Diagnostic>>> {
        Some(format_source(text))
    }

    fn has_arguments(&self) -> bool {
        true
    }
}

/// How explanations speak of Nil.
pub(super) static TERMS: Terms = Terms {
    branches: ["the first branch", "the `else` branch"],
    branch: "give a second condition, which holds afterwards exactly when the first one held before: `(before, after)`",
    turn: ["the second condition of a `while` must be false before the first iteration, and true after each: `(before, after)`";
        2],
    ends: ["it is deallocated with", "run backward, it is deallocated with"],
    first: 1,
    comment: "#",
    brackets: ['[', ']'],
    array,
};

/// A matrix: `[1 2; 3 4]`.
fn array(items: &[String], dims: &[u64], by_column: bool) -> Option<String> {
    let [rows, columns] = *dims else { return None };
    if rows == 0 || columns == 0 {
        return None;
    }
    let at = |r: u64, c: u64| if by_column { r + c * rows } else { r * columns + c };
    let cell = |r, c| items.get(at(r, c) as usize).map_or("", String::as_str);
    let row = |r| (0..columns).map(|c| cell(r, c)).collect::<Vec<_>>().join(" ");
    Some(format!("[{}]", (0..rows).map(row).collect::<Vec<_>>().join("; ")))
}
