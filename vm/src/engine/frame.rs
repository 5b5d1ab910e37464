//! The frame that compiled code works on, and the entry into compiled code.

#![expect(unsafe_code, reason = "compiled code is called here, and calls back")]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::AtomicUsize;

use pendula_codegen::stack::room;

use crate::decode::Op;
use crate::state::Core;

/// The view of a machine for compiled code, with the layout of C.
#[repr(C)]
pub(crate) struct Frame {
    pub(crate) regs: *mut u64,
    pub(crate) mem: *mut u64,
    /// The number of words of memory; every lane in use has as many.
    pub(crate) len: u64,
    pub(crate) lane_regs: [*mut u64; 3],
    pub(crate) lane_mem: [*mut u64; 3],
    /// The counters of the plan's edges.
    pub(crate) counters: *mut u64,
    /// The addresses of the units' code, 0 for those that have none.
    pub(crate) table: *const AtomicUsize,
    /// The lowest address of the host's stack at which calls are allowed.
    pub(crate) stack: u64,
    /// Results of kernels.
    pub(crate) out: [u64; 2],
    /// Not zero if overflow of a fixed-point number needs no side exit.
    pub(crate) quiet: u64,
    /// The number of instructions that may still run, in metered code.
    pub(crate) budget: u64,
    /// For each unit, how many more times baseline code may reach its heads.
    pub(crate) heat: *mut i64,
    core: *mut Core,
    ops: *const Op,
    ops_len: usize,
    /// The panic of an event callback. Compiled code cannot be unwound: it takes a side exit, and the panic resumes there.
    panic: Option<Box<dyn Any + Send>>,
}

/// The maximum number of bytes of the host's stack that compiled code may use for calls, if [available](pendula_codegen::stack::room). The
/// check comes before a call, and the frame of a unit has at most a few thousand bytes.
const STACK: usize = 512 << 10;

/// The position at which compiled code returns to the interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SideExit {
    /// In a block, after `k` instructions.
    At { block: u32, k: u32 },
    /// Before a block, which compiled code may enter.
    Before(u32),
}

const BEFORE: u64 = 1 << 63;

impl SideExit {
    /// The status word for the exit. It is never zero, which means a return to compiled code.
    pub(crate) const fn status(self) -> u64 {
        match self {
            SideExit::At { block, k } => (block as u64) << 32 | (k as u64 + 1),
            SideExit::Before(block) => BEFORE | (block as u64) << 32 | 1,
        }
    }

    fn from_status(status: u64) -> SideExit {
        let block = ((status & !BEFORE) >> 32) as u32;
        if status & BEFORE != 0 { SideExit::Before(block) } else { SideExit::At { block, k: status as u32 - 1 } }
    }
}

/// The data that a run of compiled code needs beside the machine's state.
pub(crate) struct Surroundings<'a> {
    pub(crate) counters: &'a mut [u64],
    pub(crate) table: &'a [AtomicUsize],
    pub(crate) ops: &'a [Op],
    pub(crate) budget: &'a mut u64,
    pub(crate) heat: &'a mut [i64],
}

/// Runs a unit's code from one of its entries until a side exit.
///
/// # Safety
/// `code` and the addresses in the table must be code of units generated for the AD mode and the setting of `core`, and must stay
/// valid during the call. `counters` must have an element for each counter of the plan, and `heat` one for each unit.
pub(crate) unsafe fn enter(core: &mut Core, s: Surroundings<'_>, code: usize, entry: u64) -> SideExit {
    let here = 0u8;
    let core: *mut Core = core;
    // SAFETY: `core` was just made from a mutable reference, and nothing else uses the referenced value until this function returns.
    let mut frame = unsafe {
        Frame {
            regs: (&raw mut (*core).regs).cast(),
            mem: (*core).mem.as_mut_ptr(),
            len: (*core).mem.len() as u64,
            lane_regs: [0, 1, 2].map(|n| (&raw mut (*core).lanes[n].regs).cast()),
            lane_mem: [0, 1, 2].map(|n| (*core).lanes[n].mem.as_mut_ptr()),
            counters: s.counters.as_mut_ptr(),
            table: s.table.as_ptr(),
            // If the size of the stack is unknown, compiled code makes no calls.
            stack: (&raw const here).addr().saturating_sub(room(STACK).unwrap_or(0)) as u64,
            out: [0; 2],
            quiet: quiet(&*core),
            budget: *s.budget,
            heat: s.heat.as_mut_ptr(),
            core,
            ops: s.ops.as_ptr(),
            ops_len: s.ops.len(),
            panic: None,
        }
    };
    // SAFETY: the caller guarantees that this is the address of code with this signature.
    let code = unsafe { std::mem::transmute::<usize, unsafe extern "C" fn(*mut Frame, u64, u64) -> u64>(code) };
    // SAFETY: the code only accesses what the frame points to, within bounds: registers by number, memory and lanes at addresses
    // below `len` (the lanes in use have that many words), the counters and the heat of its unit, and the table.
    let status = unsafe { code(&raw mut frame, entry, 0) };
    *s.budget = frame.budget;
    if let Some(panic) = frame.panic.take() {
        resume_unwind(panic);
    }
    SideExit::from_status(status)
}

/// The value of [`Frame::quiet`].
fn quiet(core: &Core) -> u64 {
    u64::from(core.is_quiet())
}

/// Runs a straight-line instruction in the interpreter, by its number among the decoded ones; compiled code calls this. The result is not
/// zero if the instruction could not run or an event callback panicked.
///
/// # Safety
/// `frame` must be the frame that [`enter`] passed to the code.
pub(crate) unsafe extern "C" fn interpret(frame: *mut Frame, op: u64) -> u64 {
    // SAFETY: compiled code passes the frame that it was given, and accesses nothing of the machine before this returns.
    let frame = unsafe { &mut *frame };
    // SAFETY: `enter` stored pointers made from references that live until it returns; nothing else uses the referenced values.
    let (core, ops) = unsafe { (&mut *frame.core, std::slice::from_raw_parts(frame.ops, frame.ops_len)) };
    let op = op as usize;
    core.forward = op < ops.len() / 2;
    let done = catch_unwind(AssertUnwindSafe(|| ops.get(op).map(|o| (o.run)(core, &ops[op..=op]))));
    frame.quiet = quiet(core);
    match done {
        Ok(done) => u64::from(!matches!(done, Some(Ok(())))),
        Err(panic) => {
            frame.panic = Some(panic);
            1
        }
    }
}
