//! The code generator of `--engine native`: emits units as C, has the system's compiler compile them, and loads the result.
//!
//! A unit's function has the convention of the other engines: it takes the machine's [`Frame`](super::frame::Frame), the number of the
//! entry, and the link that its return must find (0 if it must take a side exit instead). It returns 0 if the procedure has returned,
//! else the status of a [side exit](super::frame::SideExit).
//!
//! Registers are variables, assigned where the instruction writes them. In a group of instructions with side exits before the first one
//! only, they are assigned after all checks. So one place at the end of a function serves all side exits: it writes the variables to
//! the machine.
//!
//! # Files
//!
//! Calling a C compiler for each unit would cost too much. Everything that a forward run may reach is compiled when such a run first
//! enters compiled code; what else a backward run may reach, when one of those does; and the rest when part of it is entered. Each time
//! the code is divided into as many [files](mod@file) as needed. Code that was compiled earlier is found in the [cache](pendula_codegen::cc).

mod edges;
mod emit;
mod file;
mod names;
mod ops;
mod text;
mod values;

use std::collections::HashSet;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use pendula_codegen::cc::{CcError, Compiler, Library, Rounding};

use self::file::File;
use super::Mode;
use super::frame::initialise;
use super::plan::{NONE, Plan};
use crate::decode::Exit;
use crate::program::Program;

/// The maximum number of instructions in a file: compilers take more than linear time.
const MAX_INSTRUCTIONS: u32 = 3000;

/// Disables vectorization of register writes: registers are written together but read one by one, which is slower after vector stores.
const OPTIONS: &[&str] = &["-fno-tree-slp-vectorize"];

/// The libraries of a program.
#[derive(Default)]
pub(crate) struct Libraries {
    /// The units of each file, by what is compiled at once.
    files: OnceLock<Vec<Vec<Vec<u32>>>>,
    loaded: Mutex<Vec<Library>>,
}

impl Libraries {
    /// Compiles a unit and all units that are compiled with it; stores their addresses in the table.
    pub(crate) fn make(
        &self,
        (program, plan): (&Program, &Plan),
        mode: Mode,
        table: &[AtomicUsize],
        unit: u32,
    ) -> Result<(), CcError> {
        let compiler = Compiler::find()?;
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        // Another machine may have compiled it meanwhile.
        if table[unit as usize].load(Ordering::Acquire) != 0 {
            return Ok(());
        }
        let all = self.files.get_or_init(|| files(program, plan));
        let Some(files) = all.iter().find(|group| group.iter().flatten().any(|n| *n == unit)) else { return Ok(()) };
        let files: Vec<File> = files.iter().map(|units| file::file(program, plan, mode, units)).collect();
        let libraries = compile(compiler, program.module.files.first().map_or("program", String::as_str), &files)?;
        let mut addresses = vec![0; plan.units.len()];
        for (file, library) in files.iter().zip(libraries) {
            load(&library, file, &mut addresses)?;
            loaded.push(library);
        }
        for (cell, address) in table.iter().zip(addresses) {
            if address != 0 {
                cell.store(address, Ordering::Release);
            }
        }
        Ok(())
    }
}

/// Compiles files, as many at a time as there are processors.
fn compile(compiler: &Compiler, name: &str, files: &[File]) -> Result<Vec<Library>, CcError> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(files.len());
    let made: Vec<OnceLock<Result<Library, CcError>>> = files.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((file, made)) = {
            let n = next.fetch_add(1, Ordering::Relaxed);
            files.get(n).zip(made.get(n))
        } {
            made.get_or_init(|| compiler.library_with_extra(name, &file.text, Rounding::Strict, OPTIONS));
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| {
            scope.spawn(work);
        });
        work();
    });
    made.into_iter().filter_map(OnceLock::into_inner).collect()
}

#[expect(unsafe_code, reason = "compiled code is called")]
fn load(library: &Library, file: &File, addresses: &mut [usize]) -> Result<(), CcError> {
    let init = library.address("pendula_init")?;
    // SAFETY: the library was made from this file. Its units belong to the plan, and `addresses` has an element for each unit of the plan.
    unsafe { initialise(init, &file.kernels, addresses) };
    Ok(())
}

/// Divides a program's units into files: first those that a forward run reaches, then the others that a backward run reaches, then the rest.
fn files(program: &Program, plan: &Plan) -> Vec<Vec<Vec<u32>>> {
    let d = &program.decoded;
    let mut seen = HashSet::new();
    let roots = d.entry.into_iter().flatten().map(|block| plan.unit_of[block as usize]);
    let mut groups: Vec<Vec<u32>> = roots.map(|root| reach(program, plan, root, &mut seen)).collect();
    groups.push((0..plan.units.len() as u32).filter(|unit| !seen.contains(unit)).collect());
    let len = |unit: u32| plan.units[unit as usize].blocks.iter().map(|b| d.code[*b as usize].len).sum::<u32>();
    let divide = |group: Vec<u32>| {
        let mut files: Vec<Vec<u32>> = Vec::new();
        let mut size = 0;
        for unit in group {
            size += len(unit);
            match files.last_mut() {
                Some(file) if size <= MAX_INSTRUCTIONS => file.push(unit),
                _ => {
                    size = len(unit);
                    files.push(vec![unit]);
                }
            }
        }
        files
    };
    groups.into_iter().filter(|g| !g.is_empty()).map(divide).collect()
}

/// The units reachable from one that have not been seen.
fn reach(program: &Program, plan: &Plan, root: u32, seen: &mut HashSet<u32>) -> Vec<u32> {
    let d = &program.decoded;
    let mut out = Vec::new();
    let mut stack = vec![root];
    while let Some(unit) = stack.pop() {
        if unit == NONE || !seen.insert(unit) {
            continue;
        }
        out.push(unit);
        for &b in &plan.units[unit as usize].blocks {
            let code = &d.code[b as usize];
            let mut lead = |to: u32| stack.push(plan.unit_of[to as usize]);
            match &code.exit {
                Exit::Branch(branch) => {
                    lead(branch.to);
                    lead(branch.fall.block);
                }
                Exit::Fall(to) => lead(*to),
                exit @ (Exit::Call { .. } | Exit::CallRegister { .. }) => {
                    if let Exit::Call { to, .. } = exit {
                        lead(*to);
                    }
                    if let Some(site) = &d.calls[d.address(b, code.len - 1) as usize] {
                        lead(site.after[usize::from(!d.is_forward(b))].block);
                    }
                }
                Exit::Return { .. } | Exit::Halt | Exit::PisaBranch(_) | Exit::End | Exit::Stop(_) | Exit::OffCode => {}
            }
        }
    }
    out
}
