//! The engines that make code: programs compiled to the host's code while they
//! run, by Cranelift (feature `jit`) or by the system's C compiler (`native`).
//!
//! # From the table to code
//!
//! Nothing here knows what an instruction does. [`lift`](pendula_codegen::lift)
//! runs the table's bodies, and the rules of gradient words, on a
//! [`Domain`](pendula_isa::domain::Domain) that writes
//! [operations](pendula_codegen::ops) down; [`plan`] divides the program; [`job`]
//! finds out what code can be spared; `clif` makes code by Cranelift, which is
//! named nowhere else; `x64`, where the host is one, makes drafts, which is worse
//! code in a fraction of the time; and `c` writes C. Kernels of the number types are
//! [called](pendula_codegen::kernel), but for those that have an operation. An
//! instruction that has none (tapes, what shows, words that are lost) is run by
//! the interpreter, called from the code.
//!
//! # What is compiled, and when
//!
//! A machine begins with the interpreter, since most programs that are short end
//! sooner than they are compiled ([`Config::warm_up`](crate::Config)). Then a unit
//! (see [`plan`]) is compiled when it is first entered in a AD mode (plain, with
//! gradient words, second gradients or tangents) and a setting of the run; in C
//! with all that may be entered next. Under `jit` that is a draft at first, where
//! the host has them; the unit is compiled by Cranelift once it has been gone round
//! often enough to be worth it ([`Config::tier_up`](crate::Config)): the draft
//! leaves then, and the next entry is into the other code.
//!
//! In drafts, registers are in the machine between instructions. Otherwise they live in values of the code,
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
#[cfg(all(feature = "jit", target_arch = "x86_64", unix))]
mod x64;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub(crate) use drive::Local;
use pendula_codegen::lift::Setting;
use plan::Plan;

use crate::config::Engine;
use crate::program::{CompiledUnits, Program};

/// The units' code in one setting.
type Table = Arc<Codes>;

struct Codes {
    /// The addresses: 0 for what has none.
    code: Box<[AtomicUsize]>,
    /// Whether it is more than a draft.
    finished: Box<[AtomicBool]>,
}

impl Codes {
    /// The address of a unit's code, if it has some, and with `finished`, more than a draft.
    fn made(&self, unit: u32, finished: bool) -> Option<usize> {
        let n = unit as usize;
        // In this order: what is finished has been put there before it is said to be.
        let found = !finished || self.finished[n].load(Ordering::Acquire);
        let address = self.code[n].load(Ordering::Acquire);
        (address != 0 && found).then_some(address)
    }
}

/// Whether drafts can be made for this host.
#[cfg(feature = "jit")]
const DRAFTS: bool = cfg!(all(target_arch = "x86_64", unix));

#[cfg(all(feature = "jit", target_arch = "x86_64", unix))]
use x64::unit as sketch;

#[cfg(all(feature = "jit", not(all(target_arch = "x86_64", unix))))]
fn sketch(_: &job::Job<'_>) -> Option<Vec<u8>> {
    None
}

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
pub(crate) struct EngineCode {
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
        Engine::Native => pendula_codegen::cc::Compiler::find().map(drop).map_err(|e| e.to_string()),
        #[cfg(not(all(feature = "jit", feature = "native")))]
        _ => Err(format!("it wants a build with the feature `{}`", engine.name())),
    }
}

impl EngineCode {
    fn plan(&self, program: &Program) -> &Plan {
        self.plan.get_or_init(|| Plan::new(&program.module, &program.decoded))
    }

    /// How many units have code, over all settings.
    pub(crate) fn made(&self) -> CompiledUnits {
        let mut made = CompiledUnits::default();
        for table in self.tables.lock().unwrap_or_else(PoisonError::into_inner).values() {
            for unit in 0..table.code.len() as u32 {
                let finished = table.made(unit, true).is_some();
                made.finished += usize::from(finished);
                made.drafts += usize::from(!finished && table.made(unit, false).is_some());
            }
        }
        made
    }

    fn table(&self, mode: Mode, units: usize) -> Table {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let codes = || Codes {
            code: (0..units).map(|_| AtomicUsize::new(0)).collect(),
            finished: (0..units).map(|_| AtomicBool::new(false)).collect(),
        };
        Arc::clone(tables.entry(mode).or_insert_with(|| Arc::new(codes())))
    }

    /// The address of a unit's code, which is made if there is none yet, or only a draft where that is too hot; `None` if it cannot be.
    ///
    /// # Errors
    /// What the C compiler says.
    fn code(
        &self,
        program: &Program,
        mode: Mode,
        table: &Codes,
        given_up: &mut Vec<u32>,
        unit: u32,
        heat: &mut i64,
    ) -> Result<Option<usize>, String> {
        let hot = mode.engine == Engine::Jit && *heat < 0;
        if let Some(address) = table.made(unit, hot) {
            return Ok(Some(address));
        }
        if !given_up.contains(&unit) {
            match mode.engine {
                Engine::Interpreter => {}
                #[cfg(feature = "jit")]
                Engine::Jit => self.compile(program, mode, table, unit, hot),
                #[cfg(feature = "native")]
                Engine::Native => {
                    let made = self.libraries.make((program, self.plan(program)), mode, &table.code, unit);
                    made.map_err(|e| e.to_string())?;
                }
                #[cfg(not(all(feature = "jit", feature = "native")))]
                _ => {}
            }
            if table.made(unit, hot).is_none() {
                given_up.push(unit);
                // A draft, if there is one, will have to do.
                *heat = i64::MAX;
            }
        }
        Ok(table.made(unit, false))
    }

    /// Has a unit drafted, or where it is hot, or there are no drafts for this host, compiled by Cranelift.
    #[cfg(feature = "jit")]
    fn compile(&self, program: &Program, mode: Mode, table: &Codes, unit: u32, hot: bool) {
        let mut compiler = self.compiler.lock().unwrap_or_else(PoisonError::into_inner);
        // Another machine may have been quicker.
        if table.made(unit, hot).is_some() {
            return;
        }
        if compiler.is_none() {
            *compiler = clif::Compiler::new();
        }
        let _span = tracing::debug_span!("compile unit", unit, optimised = hot).entered();
        let n = unit as usize;
        let parts = (&program.module, &program.decoded, self.plan(program));
        let job = |draft| job::Job::new(parts, n, mode, draft);
        let draft = if DRAFTS && !hot { sketch(&job(true)) } else { None };
        let made = compiler.as_mut().and_then(|c| match &draft {
            Some(code) => c.place(code),
            None => c.compile(&job(false)),
        });
        if let Some(address) = made {
            table.code[n].store(address, Ordering::Release);
            table.finished[n].store(draft.is_none(), Ordering::Release);
        }
    }
}
