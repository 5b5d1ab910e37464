//! The book under `docs/src` and README.md are correct: generated pages are up to date, every program assembles and
//! runs, every console session shows what the program prints, and links lead somewhere.
//!
//! With `PENDULA_BLESS=1` in the environment, generated pages and the outputs in console sessions are rewritten.
//!
//! A program is a block marked `rasm`. One that has `start` must run to its end, and back to the state it began in.
//! Comments at its beginning say otherwise:
//!
//! - `; docs: fragment`: instructions from the middle of a program, which are only assembled.
//! - `; docs: traps P0107`: the run stops with this trap.
//! - `; docs: error P0032`: does not assemble, for exactly these reasons.
//! - `; docs: drift`: floating-point words need not come back exactly.
//! - `; docs: input 1,2`: what stands on the input tape.
//! - `; docs: file NAME`: is not run, but can be included by the programs after it.
//!
//! A comment `; after the run: r1 = 5 and x = 7` anywhere in a program is checked.
//!
//! A session is a block marked `console`: commands after `$ `, each followed by what it prints, standard output first. `…` alone
//! on a line stands for any number of lines. Where the text has the reader save a block, by words that end in ``as `NAME`:``, the
//! test does so, too.

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

/// True if expected outputs are to be rewritten instead of compared.
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
    for (path, text) in
        [("docs/src/instructions.md", manual::markdown()), ("docs/src/errors.md", errors_page::errors())]
    {
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
