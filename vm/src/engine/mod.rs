//! The engine that generates code (feature `jit`): programs compiled to machine code while they run.
//!
//! # From the table to code
//!
//! Nothing here knows what an instruction does. [`lift`](pendula_codegen::lift) runs the table's bodies, and the rules for gradient
//! words, on a [`Domain`](pendula_isa::domain::Domain) that records [operations](pendula_codegen::ops). [`plan`] divides the program
//! into units. [`job`] analyses a unit, to find out which code can be omitted. Two code generators follow:
//!
//! - `clif` uses Cranelift;
//! - `x64`, on x86-64 hosts, is the baseline compiler: it generates slower code in a fraction of the time, of Cranelift only with its
//!   assembler.
//!
//! Kernels of the number types are [called](pendula_codegen::kernel), unless they have an operation. An instruction without operations
//! (tapes, events, destroyed words) is run by the interpreter, which the code calls.
//!
//! # What is compiled, and when
//!
//! A machine begins with the interpreter, since most short programs end before they could be compiled
//! ([`Config::warm_up`](crate::Config)). Then a unit (see [`plan`]) is compiled when it is first entered in an AD mode and a setting of
//! the run. The first code is baseline code, if the host has it.
//! After enough iterations ([`Config::tier_up`](crate::Config)), the baseline code takes a side exit and the unit is compiled by
//! Cranelift for its next entry.
//!
//! In baseline code, registers are in the machine between instructions. Otherwise they live in values of the code and are written back
//! in side exits and, for calls, as far as the callee touches them. Calls between compiled procedures are calls of the host, under the
//! machine's protocol: the link is on the machine's stack, and a procedure returns to its caller only if it finds the link that it was
//! called with. If it finds another link, or the host's stack has no more room, the code takes a side exit.
//!
//! # Loops
//!
//! Cranelift's code keeps innermost loops apart from the rest of a unit: they have copies of what they only read, and the registers that
//! they do not use stay in the machine meanwhile (`clif/leaf_loops.rs`). A loop of one block has a second body that takes scratch
//! registers to be zero, so that it need not clear them (`zeroed.rs`); operations that undo each other are left out
//! (`lift/simplify.rs` of `pendula-codegen`).
//!
//! # Side exits
//!
//! Compiled code never traps. It takes a *side exit* instead: the interpreter continues at exactly the same instruction, with the state
//! before it, to the end of the block or to the trap. Compiled code is entered again at the next loop head, procedure, or block after a
//! call. So code need not handle anything rare or difficult: traps, `callr`, changes of the gradient level, a fixed-point number that
//! wraps for the first time, exchanged links.
//!
//! A side exit is before the first instruction of a group; everything before the group has been executed. The checks of a group are made
//! together, and those of addresses at the beginning of the block if the addresses are known there. The registers before a group are
//! either in the machine (written back before the group) or, in loops, in values until the checks have passed (written back in the
//! exit, which costs the loop nothing); see `clif/write_back_plan.rs`.
//!
//! # Counts
//!
//! As few edges of the control flow graph as possible are counted. The executions of blocks are computed from them when the run stops,
//! and equal the interpreter's counts exactly.

mod bounds;
mod clif;
mod drive;
mod frame;
mod job;
mod loops;
mod plan;
#[cfg(all(target_arch = "x86_64", unix))]
mod x64;
mod zeroed;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub(crate) use drive::Local;
pub use loops::{WholeCodeError, compile_whole};
use pendula_codegen::lift::LiftConfig;
use plan::Plan;

use crate::program::{CompiledUnits, Program};

/// The units' code in one setting.
type Table = Arc<Codes>;

struct Codes {
    /// The address of each unit's code; 0 if there is none.
    code: Box<[AtomicUsize]>,
    /// Whether each unit's code is optimized, not baseline code.
    finished: Box<[AtomicBool]>,
}

impl Codes {
    /// The address of a unit's code, if there is any; with `finished`, only of optimized code.
    fn made(&self, unit: u32, finished: bool) -> Option<usize> {
        let n = unit as usize;
        // In this order: the address is stored before `finished` is set.
        let found = !finished || self.finished[n].load(Ordering::Acquire);
        let address = self.code[n].load(Ordering::Acquire);
        (address != 0 && found).then_some(address)
    }
}

/// Whether this host has a baseline compiler.
const HAS_BASELINE: bool = cfg!(all(target_arch = "x86_64", unix));

#[cfg(all(target_arch = "x86_64", unix))]
use x64::unit as baseline_unit;

#[cfg(not(all(target_arch = "x86_64", unix)))]
fn baseline_unit(_: &job::Job<'_>) -> Option<Vec<u8>> {
    None
}

/// The properties, beside the program, that code depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Mode {
    setting: LiftConfig,
    /// Whether code checks the budget before each block.
    metered: bool,
}

/// The compiled code of a program.
#[derive(Default)]
pub(crate) struct EngineCode {
    /// The blocks before which code leaves; none if empty.
    stops: Vec<bool>,
    plan: OnceLock<Plan>,
    tables: Mutex<HashMap<Mode, Table>>,
    compiler: Mutex<Option<clif::Compiler>>,
}

/// Whether code can be generated for this host.
pub(crate) fn is_supported() -> bool {
    static SUPPORTED: OnceLock<bool> = OnceLock::new();
    *SUPPORTED.get_or_init(clif::Compiler::is_supported)
}

impl EngineCode {
    /// Code that leaves before some blocks.
    pub(crate) fn leaving_before(blocks: Vec<bool>) -> EngineCode {
        EngineCode { stops: blocks, ..EngineCode::default() }
    }

    fn plan(&self, program: &Program) -> &Plan {
        self.plan.get_or_init(|| Plan::new(&program.module, &program.decoded))
    }

    /// The number of units with code, over all settings.
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

    /// The address of a unit's code. Compiles the unit if there is no code, or only baseline code for a hot unit; `None` if that fails.
    fn code(
        &self,
        program: &Program,
        mode: Mode,
        table: &Codes,
        given_up: &mut Vec<u32>,
        unit: u32,
        heat: &mut i64,
    ) -> Option<usize> {
        let hot = *heat < 0;
        if let Some(address) = table.made(unit, hot) {
            return Some(address);
        }
        if !given_up.contains(&unit) {
            self.compile(program, mode, table, unit, hot);
            if table.made(unit, hot).is_none() {
                given_up.push(unit);
                // Stay with baseline code, if there is any.
                *heat = i64::MAX;
            }
        }
        table.made(unit, false)
    }

    /// Compiles a unit with the baseline compiler; with Cranelift if the unit is hot or the host has no baseline compiler.
    fn compile(&self, program: &Program, mode: Mode, table: &Codes, unit: u32, hot: bool) {
        let mut compiler = self.compiler.lock().unwrap_or_else(PoisonError::into_inner);
        // Another machine may have compiled it meanwhile.
        if table.made(unit, hot).is_some() {
            return;
        }
        if compiler.is_none() {
            *compiler = clif::Compiler::new();
        }
        let _span = tracing::debug_span!("compile unit", unit, optimised = hot).entered();
        let n = unit as usize;
        let parts = (&program.module, &program.decoded, self.plan(program));
        let job = |baseline| job::Job { stops: &self.stops, ..job::Job::new(parts, n, mode, baseline) };
        let baseline = if HAS_BASELINE && !hot { baseline_unit(&job(true)) } else { None };
        let made = compiler.as_mut().and_then(|c| match &baseline {
            Some(code) => c.place(code),
            None => c.compile(&job(false)),
        });
        if let Some(address) = made {
            table.code[n].store(address, Ordering::Release);
            table.finished[n].store(baseline.is_none(), Ordering::Release);
        }
    }
}
