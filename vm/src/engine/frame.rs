//! What compiled code is given of a machine, and how it is called.

#![expect(unsafe_code, reason = "compiled code is called here, and calls back")]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::AtomicUsize;

use pendula_codegen::stack::room;

use crate::core::Core;
use crate::decode::Op;

/// A machine as compiled code sees it. Offsets are those of C.
#[repr(C)]
pub(crate) struct Frame {
    pub(crate) regs: *mut u64,
    pub(crate) mem: *mut u64,
    /// Words of memory; every lane in use has as many.
    pub(crate) len: u64,
    pub(crate) lane_regs: [*mut u64; 3],
    pub(crate) lane_mem: [*mut u64; 3],
    /// The counters of the plan's edges.
    pub(crate) counters: *mut u64,
    /// The addresses of the units' code, 0 for those that have none.
    pub(crate) table: *const AtomicUsize,
    /// Where calls may no longer take of the host's stack.
    pub(crate) stack: u64,
    /// Results of kernels.
    pub(crate) out: [u64; 2],
    /// Not zero where a fixed-point number that wraps is nothing to stop for.
    pub(crate) quiet: u64,
    /// Instructions that may still run, where that is limited.
    pub(crate) budget: u64,
    /// For each unit, how often drafts may still come to its heads.
    pub(crate) heat: *mut i64,
    core: *mut Core,
    ops: *const Op,
    ops_len: usize,
    /// What a listener has panicked with. Compiled code cannot be unwound: it leaves, and the panic goes on from there.
    panic: Option<Box<dyn Any + Send>>,
}

/// The most bytes of the host's stack that compiled code may take for calls, if there is [room](pendula_codegen::stack::room) for as many; the
/// test for it comes before a call, and a unit's own frame is at most a few thousand bytes.
const STACK: usize = 512 << 10;

/// Where control is when compiled code comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SideExit {
    /// In a block of which `k` instructions have run.
    At { block: u32, k: u32 },
    /// Before a block, which may be entered by compiled code.
    Before(u32),
}

const BEFORE: u64 = 1 << 63;

impl SideExit {
    /// The status that says so: never zero, which is a return to compiled code. C has macros for it.
    #[cfg(feature = "jit")]
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

/// What beside the machine's state a run of compiled code needs.
pub(crate) struct Surroundings<'a> {
    pub(crate) counters: &'a mut [u64],
    pub(crate) table: &'a [AtomicUsize],
    pub(crate) ops: &'a [Op],
    pub(crate) budget: &'a mut u64,
    pub(crate) heat: &'a mut [i64],
}

/// Runs a unit's code from one of its entries until it leaves.
///
/// # Safety
/// `code` is the address of a unit's code, made for the AD mode and the setting of `core`, and so are those in the table; they stay
/// as long as this runs. `counters` has one for each of the plan, `heat` one for each unit.
pub(crate) unsafe fn enter(core: &mut Core, s: Surroundings<'_>, code: usize, entry: u64) -> SideExit {
    let here = 0u8;
    let core: *mut Core = core;
    // SAFETY: `core` has just been made from a reference, and nothing else uses what it refers to until this function returns.
    let mut frame = unsafe {
        Frame {
            regs: (&raw mut (*core).regs).cast(),
            mem: (*core).mem.as_mut_ptr(),
            len: (*core).mem.len() as u64,
            lane_regs: [0, 1, 2].map(|n| (&raw mut (*core).lanes[n].regs).cast()),
            lane_mem: [0, 1, 2].map(|n| (*core).lanes[n].mem.as_mut_ptr()),
            counters: s.counters.as_mut_ptr(),
            table: s.table.as_ptr(),
            // Where nothing is known of the stack, nothing is called.
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
    // SAFETY: the caller vouches that this is the address of code that follows this signature.
    let code = unsafe { std::mem::transmute::<usize, unsafe extern "C" fn(*mut Frame, u64, u64) -> u64>(code) };
    // SAFETY: the code reads and writes what the frame points to within its bounds: registers by number, memory and lanes at
    // addresses below `len` (the lanes in use have that many words), the counters of its unit and how hot it is, and the table.
    let status = unsafe { code(&raw mut frame, entry, 0) };
    *s.budget = frame.budget;
    if let Some(panic) = frame.panic.take() {
        resume_unwind(panic);
    }
    SideExit::from_status(status)
}

/// Has a library of compiled code take the addresses of what it calls: of [`interpret`], then of kernels; and give those of its units, each
/// at its place in `units`.
///
/// # Safety
/// `code` is the address of `pendula_init` of a library that [`c`](super::c) wrote: it calls kernels as those here are to be called, of which
/// it takes as many as are given, and it writes within `units`.
#[cfg(feature = "native")]
pub(crate) unsafe fn initialise(code: usize, kernels: &[usize], units: &mut [usize]) {
    let entry: unsafe extern "C" fn(*mut Frame, u64) -> u64 = interpret;
    let all: Vec<usize> = std::iter::once(entry as usize).chain(kernels.iter().copied()).collect();
    // SAFETY: the caller vouches for the signature, and for what is read and written.
    unsafe {
        let code = std::mem::transmute::<usize, unsafe extern "C" fn(*const usize, *mut usize)>(code);
        code(all.as_ptr(), units.as_mut_ptr());
    }
}

/// Whether a fixed-point number that wraps is nothing to stop for.
fn quiet(core: &Core) -> u64 {
    u64::from(core.is_quiet())
}

/// Has the interpreter run a straight-line instruction, by its number among the decoded ones: what compiled code calls. Not zero if it
/// could not run, or a listener has panicked.
///
/// # Safety
/// `frame` is that of [`enter`].
pub(crate) unsafe extern "C" fn interpret(frame: *mut Frame, op: u64) -> u64 {
    // SAFETY: compiled code hands on the frame that it was given, and touches nothing of the machine before this returns.
    let frame = unsafe { &mut *frame };
    // SAFETY: `enter` has put there what its caller lent it until it returns; nothing else refers to it.
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
