//! VLAD programs: reader, expansion to the core, and the basis.
//!
//! VLAD is the language of Pearlmutter and Siskind: Scheme's notation without assignment, functions of one parameter with patterns, and
//! operators of forward and reverse mode.

use std::rc::Rc;

use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::{Diagnostic, Sources};

use crate::core::{GroupId, Program, Var};

mod basis;
mod expand;
mod sexp;

pub use sexp::{Form, Sexp, read as forms};

/// What a definition at the top defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// A function without free variables: the only member of a group.
    Function(GroupId),
    /// A variable.
    Variable(Var),
}

/// A program that was read.
#[derive(Debug, Default)]
pub struct Reading {
    /// The program. An item with a mistake is one that fails.
    pub program: Program,
    /// The definitions, in order.
    pub definitions: Vec<(Rc<str>, Definition)>,
    /// For each expression, what stands behind `===>`.
    pub expected: Vec<Option<Sexp>>,
    /// The mistakes, in order.
    pub mistakes: Vec<Diagnostic>,
}

/// Finds the text of a file to include: the including file's name and the name that is written give the file's name and its text.
pub type Include<'a> = dyn FnMut(&str, &str) -> Result<(String, String), String> + 'a;

/// Reads a program from a source.
///
/// # Errors
/// If it has mistakes.
pub fn read(
    sources: &mut Sources,
    file: u16,
    budget: &Budget,
    include: &mut Include<'_>,
) -> Result<Program, Vec<Diagnostic>> {
    let reading = read_all(sources, file, budget, include).map_err(|d| vec![*d])?;
    if reading.mistakes.is_empty() { Ok(reading.program) } else { Err(reading.mistakes) }
}

/// Reads a program with its expectations. A mistake in one expression leaves the others as they are.
///
/// # Errors
/// If the text is not made of forms, a file is missing, or the budget does not suffice.
pub fn read_all(
    sources: &mut Sources,
    file: u16,
    budget: &Budget,
    include: &mut Include<'_>,
) -> Result<Reading, Box<Diagnostic>> {
    expand::program(sources, file, budget, include)
}
