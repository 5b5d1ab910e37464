//! The book under `docs/src` and README.md are correct: generated pages are up to date, every program assembles and
//! runs, every console session shows what the program prints, and links lead somewhere.
//!
//! With `PENDULA_BLESS=1` in the environment, generated pages and the outputs in console sessions are rewritten.
//!
//! A program is a block marked `rasm`. If it has `start`, it must run to its end, and back to its initial state.
//! Comments at its beginning change this:
//!
//! - `; docs: fragment`: instructions from the middle of a program, which are only assembled.
//! - `; docs: traps P0107`: the run stops with this trap.
//! - `; docs: error P0032`: assembling the program reports exactly these errors.
//! - `; docs: drift`: floating-point words need not be restored exactly.
//! - `; docs: input 1,2`: the words on the input tape.
//! - `; docs: file NAME`: the program is not run, but later programs can include it under this name.
//!
//! A comment `; after the run: r1 = 5 and x = 7` anywhere in a program is checked.
//!
//! A session is a block marked `console`: commands after `$ `, each followed by what it prints, standard output first. `…` alone
//! on a line stands for any number of lines. If the text before a block ends in ``as `NAME`:``, the reader
//! is told to save the block, and the test saves it, too.

mod errors_page;
mod links;
mod programs;

mod sessions;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::common::expectations::{Expectations, Language};
use crate::common::functional::outcome;

use pendula::asm::assemble::{Options, assemble};
use pendula::asm::check::Rule;
use pendula::asm::diagnostic::{Diagnostic, Severity};
use pendula::asm::{codes, invert, object, pisa};
use pendula::compiler::compile::{Options as NilOptions, compile, compile_janus};
use pendula::compiler::{janus, nil};
use pendula::isa::budget::{self, Exceeded, Resource};
use pendula::isa::counts::Direction;
use pendula::isa::verify::Problem;
use pendula::isa::{Fault, manual};
use pendula::values;
use pendula::vm::{Config, Machine, Outcome, Program};

/// True if expected outputs should be rewritten instead of compared.
fn blessing() -> bool {
    std::env::var_os("PENDULA_BLESS").is_some_and(|v| v == "1")
}

const HOW: &str = "PENDULA_BLESS=1 cargo test --test suite docs::";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// README.md and the pages of the book, in the order of the names.
fn documents() -> Vec<String> {
    let mut out = vec!["README.md".to_string()];
    let pages = fs::read_dir(root().join("docs/src")).expect("docs/src");
    let mut names: Vec<String> =
        pages.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.retain(|n| n.ends_with(".md"));
    names.sort();
    out.extend(names.into_iter().map(|n| format!("docs/src/{n}")));
    out
}

// Files in full.

#[test]
fn files_that_pages_show_are_as_they_stand() {
    for document in documents() {
        let text = read(&document);
        for part in text.split("<!-- file: ").skip(1) {
            let (path, rest) = part.split_once(" -->\n```rust\n").expect("a path and a block of Rust");
            let shown = rest.split_once("\n```").map_or(rest, |(shown, _)| shown);
            assert_eq!(shown.trim_end(), read(path).trim_end(), "{document} shows {path}");
        }
    }
}

// Generated pages.

#[test]
fn the_manual_is_up_to_date() {
    for (path, text) in [
        ("docs/src/instructions.md", manual::markdown()),
        ("docs/src/errors.md", errors_page::errors()),
        ("docs/src/published.md", pendula::hw_model::published::markdown()),
    ] {
        let there = fs::read_to_string(root().join(path)).unwrap_or_default();
        if there == text {
            continue;
        }
        if blessing() {
            fs::write(root().join(path), text).expect("a page to write");
            continue;
        }
        let line = there.lines().zip(text.lines()).take_while(|(a, b)| a == b).count() + 1;
        panic!("{path} is out of date from line {line} on; to write it anew, run\n\n    {HOW}\n");
    }
}
