//! Programs as C: the [loop form](crate::loop_form), printed by [`pendula_codegen::c`].

use std::ops::Range;

use pendula_codegen::loops;
use pendula_codegen::ops::Kernel;

use crate::ir::{Loc, Program};
use crate::loop_form;
use crate::lower::Argument;

pub use crate::loop_form::{Certify, Mode, Refused, Settings, carries, changes, floats, places, results};
pub use pendula_codegen::c::KERNELS;

/// What is known of code for whole runs, in whatever way it is made from the loop form.
#[derive(Clone, Debug)]
pub struct Facts {
    /// For each mode, the data of which it may change what the words carry.
    pub carried: Vec<Vec<Range<usize>>>,
    /// Whether it gives up where partial sums are too large for their rounding to be forgotten, or where there is no room for what
    /// turns of loops add to results ([`Settings::certify`]).
    pub limits: bool,
    /// Whether that may help which forgets only sums in arrays ([`Certify::Arrays`]).
    pub limits_variables: bool,
    /// Whether it keeps values for the way back ([`Settings::keep`]), and gives up where there is no room for them.
    pub keeps: bool,
    /// Where loops stand in the source, by the marks by which a run tells where it is.
    pub loops: Vec<Loc>,
}

/// A program in C.
#[derive(Clone, Debug)]
pub struct Source {
    /// The text.
    pub text: String,
    /// The kernels that it calls, in the order in which it wants their addresses.
    pub kernels: Vec<Kernel>,
    /// What is known of it.
    pub facts: Facts,
    /// The numbers of its table ([`write_with_table`]).
    pub table: Vec<i64>,
}

/// A program, run with these arguments, in the loop form, without what helps C compilers to make vectors.
///
/// # Errors
/// What has no loop form.
pub fn form(
    program: &Program,
    arguments: &[Argument],
    modes: &[Mode],
    settings: Settings,
) -> Result<(loops::Program, Facts), Refused> {
    let (program, loops) = loop_form::build(program, arguments, modes, settings)?;
    let carried = program.entries.iter().map(|entry| entry.carried.clone()).collect();
    let (limits, limits_variables, keeps) = (program.limits, program.limits_variables, program.keeps);
    let facts = Facts { carried, loops, limits, limits_variables, keeps };
    Ok((program, facts))
}

/// Writes a program, run with these arguments, in C.
///
/// # Errors
/// What cannot be written in C.
pub fn write(program: &Program, arguments: &[Argument], modes: &[Mode], settings: Settings) -> Result<Source, Refused> {
    let (program, facts) = form_for_c(program, arguments, modes, settings)?;
    let text = pendula_codegen::c::print(&program);
    Ok(Source { text, kernels: program.kernels, facts, table: Vec::new() })
}

/// The same, with where data is and how long it is in a table, so that the text does not depend on it.
///
/// # Errors
/// What cannot be written in C.
pub fn write_with_table(
    program: &Program,
    arguments: &[Argument],
    modes: &[Mode],
    settings: Settings,
) -> Result<Source, Refused> {
    let (program, facts) = form_for_c(program, arguments, modes, settings)?;
    let (text, table) = pendula_codegen::c::print_with_table(&program);
    Ok(Source { text, kernels: program.kernels, facts, table })
}

fn form_for_c(
    program: &Program,
    arguments: &[Argument],
    modes: &[Mode],
    settings: Settings,
) -> Result<(loops::Program, Facts), Refused> {
    let (mut program, facts) = form(program, arguments, modes, settings)?;
    loops::find_products(&mut program);
    loops::jam_loops(&mut program);
    loops::make_strips(&mut program);
    loops::find_searches(&mut program);
    Ok((program, facts))
}
