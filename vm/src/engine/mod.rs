//! The engines that make code: programs compiled to the host's code while they
//! run, by Cranelift (feature `jit`) or by the system's C compiler (`native`).
//!
//! # From the table to code
//!
//! Nothing here knows what an instruction does. [`record`](pendula_native::record)
//! runs the table's bodies, and the rules of gradient words, on a
//! [`Domain`](pendula_isa::domain::Domain) that writes
//! [operations](pendula_native::ops) down; [`plan`] divides the program; [`job`]
//! finds out what code can be spared; `clif` makes code by Cranelift, which is
//! named nowhere else, and `c` writes C. Kernels of the number types are
//! [called](pendula_native::kernel), but for those that have an operation. An
//! instruction that has none (tapes, what shows, words that are lost) is run by
//! the interpreter, called from the code.
//!
//! # What is compiled, and when
//!
//! A machine begins with the interpreter, since most programs that are short end
//! sooner than they are compiled ([`Config::warm_up`](crate::Config)). Then a unit
//! (see [`plan`]) is compiled when it is first entered in a carriage (plain, with
//! gradient words, second gradients or tangents) and a setting of the run; in C
//! with all that may be entered next. Registers live in values of the code, not in the machine,
//! and are written back where the code is left and for what a called procedure
//! touches. Calls between compiled procedures are the host's calls, under the
//! machine's protocol: the link is on the machine's stack, and a procedure returns
//! to its caller only if it finds the link that it was called with. Where it finds
//! another, and where the host's stack has no more room, the code leaves.
//!
//! # Leaving
//!
//! Code traps nowhere: it *leaves*, and the interpreter goes on from the very
//! instruction, with the state of before it, to the end of the block, or to the
//! trap. Then compiled code is entered again: at the next head of a loop,
//! procedure, or block after a call. So whatever is rare or difficult may be left
//! out of the code: traps, `callr`, a change of gradient level, a fixed-point
//! number that wraps for the first time, links that were exchanged.
//!
//! A block is left before the first of a group of instructions, up to which all it
//! has done is done. Checks of a group are made together, those of addresses at
//! the beginning of the block if they are known there. The registers as they are
//! before a group are in the machine (then they are written back before it) or,
//! in loops, in values until the checks are past (then they are written back
//! where the code leaves, which costs the loop nothing); see
//! `clif/upkeep.rs`. C has variables for them.
//!
//! # Counts
//!
//! Edges of the graph of control are counted, as few as can be, and the
//! executions of blocks follow from them when the run stops: they are the
//! interpreter's, to the last one.

mod bounds;
#[cfg(feature = "native")]
mod c;
#[cfg(feature = "jit")]
mod clif;
mod drive;
mod frame;
mod job;
mod plan;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub(crate) use drive::Local;
use pendula_native::record::Setting;
use plan::Plan;

use crate::machine::Engine;
use crate::program::Program;

/// The addresses of the units' code in one setting: 0 for what has none.
type Table = Arc<[AtomicUsize]>;

/// What code depends on beside the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Mode {
    engine: Engine,
    setting: Setting,
    /// Whether blocks are run only as long as the budget lasts.
    metered: bool,
}

/// The code of a program.
#[derive(Default)]
pub(crate) struct Native {
    plan: OnceLock<Plan>,
    tables: Mutex<HashMap<Mode, Table>>,
    #[cfg(feature = "jit")]
    compiler: Mutex<Option<clif::Compiler>>,
    #[cfg(feature = "native")]
    libraries: c::Libraries,
}

/// Whether an engine that makes code can make any here; else why not.
pub(crate) fn is_supported(engine: Engine) -> Result<(), String> {
    match engine {
        Engine::Interpreter => Ok(()),
        #[cfg(feature = "jit")]
        Engine::Jit => {
            static SUPPORTED: OnceLock<bool> = OnceLock::new();
            let supported = *SUPPORTED.get_or_init(clif::Compiler::is_supported);
            if supported { Ok(()) } else { Err("it makes no code for this host".into()) }
        }
        #[cfg(feature = "native")]
        Engine::Native => pendula_native::cc::Compiler::find().map(drop).map_err(|e| e.to_string()),
        #[cfg(not(all(feature = "jit", feature = "native")))]
        _ => Err(format!("it wants a build with the feature `{}`", engine.name())),
    }
}

impl Native {
    fn plan(&self, program: &Program) -> &Plan {
        self.plan.get_or_init(|| Plan::new(&program.module, &program.decoded))
    }

    fn table(&self, mode: Mode, units: usize) -> Table {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(tables.entry(mode).or_insert_with(|| (0..units).map(|_| AtomicUsize::new(0)).collect()))
    }

    /// The address of a unit's code, which is made if there is none yet; `None` if it cannot be.
    ///
    /// # Errors
    /// What the C compiler says.
    fn code(
        &self,
        program: &Program,
        mode: Mode,
        table: &Table,
        given_up: &mut Vec<u32>,
        unit: u32,
    ) -> Result<Option<usize>, String> {
        let cell = &table[unit as usize];
        match cell.load(Ordering::Acquire) {
            0 if given_up.contains(&unit) => return Ok(None),
            0 => {}
            address => return Ok(Some(address)),
        }
        match mode.engine {
            Engine::Interpreter => {}
            #[cfg(feature = "jit")]
            Engine::Jit => self.compile(program, mode, cell, unit),
            #[cfg(feature = "native")]
            Engine::Native => {
                let made = self.libraries.make((program, self.plan(program)), mode, table, unit);
                made.map_err(|e| e.to_string())?;
            }
            #[cfg(not(all(feature = "jit", feature = "native")))]
            _ => {}
        }
        match cell.load(Ordering::Acquire) {
            0 => {
                given_up.push(unit);
                Ok(None)
            }
            address => Ok(Some(address)),
        }
    }

    /// Has Cranelift make a unit's code.
    #[cfg(feature = "jit")]
    fn compile(&self, program: &Program, mode: Mode, cell: &AtomicUsize, unit: u32) {
        let mut compiler = self.compiler.lock().unwrap_or_else(PoisonError::into_inner);
        // Another machine may have been quicker.
        if cell.load(Ordering::Acquire) != 0 {
            return;
        }
        let plan = self.plan(program);
        let parts = (&program.module, &program.decoded, plan);
        let job = job::Job::new(parts, &plan.units[unit as usize], mode.setting, mode.metered);
        if compiler.is_none() {
            *compiler = clif::Compiler::new();
        }
        if let Some(address) = compiler.as_mut().and_then(|c| c.compile(&job)) {
            cell.store(address, Ordering::Release);
        }
    }
}
