//! C code for whole runs: loaded, given the kernels that it calls, and called.

#![expect(unsafe_code, reason = "compiled code is called here")]

use crate::cc::{CcError, Compiler, Library, Rounding};
use crate::ops::Kernel;
use crate::stack;

/// A function of compiled code that runs a program from one end to the other.
#[derive(Debug)]
pub struct Code {
    entry: usize,
    /// What the function is part of.
    _library: Library,
}

/// `entry(mem, lanes, len, top, turned, stack)`; see [`Code::run`].
type Entry = unsafe extern "C" fn(*mut u64, *const *mut u64, u64, u64, *mut u64, u64) -> i64;

/// The most bytes of the host's stack that a run takes for calls.
const STACK: usize = 1 << 20;

/// `init(kernels)`.
type Init = unsafe extern "C" fn(*const usize);

impl Code {
    /// Compiles a source text, of which `init` takes the addresses of the kernels and `entry` runs the program.
    ///
    /// The text is C that Pendula wrote: that it keeps to the memory it is given is for its writer to see to.
    pub fn new(source: &str, kernels: &[Kernel], (init, entry): (&str, &str), how: Rounding) -> Result<Code, CcError> {
        let library = Compiler::find()?.library("pendula", source, how)?;
        let (init, entry) = (library.address(init)?, library.address(entry)?);
        let addresses: Vec<usize> = kernels.iter().map(|k| k.result.unwrap_or(k.address)).collect();
        // SAFETY: the source declares this function with this signature; it copies as many addresses as there are kernels.
        unsafe { std::mem::transmute::<usize, Init>(init)(addresses.as_ptr()) };
        Ok(Code { entry, _library: library })
    }

    /// Runs it on the memory, of which the words from `top` on are zero and may be used, and lanes as long as the memory; those that
    /// its AD mode has not may be empty. `turned` has room for all data that it writes there. Gives whether it came to the end; if not,
    /// anything may be in the memory, the lanes and `turned`. It does not where the host's stack is too small.
    ///
    /// # Panics
    /// Where a lane is neither empty nor as long as the memory.
    pub fn run(&self, memory: &mut [u64], lanes: [&mut [u64]; 3], top: usize, turned: &mut [u64]) -> bool {
        let Some(stack) = stack::room(STACK) else { return false };
        let len = memory.len();
        assert!(lanes.iter().all(|l| l.is_empty() || l.len() == len), "lanes are as long as the memory");
        let lanes = lanes.map(|l| if l.is_empty() { std::ptr::null_mut() } else { l.as_mut_ptr() });
        // SAFETY: the function has this signature. It reads and writes the words below `len` of the memory and of the lanes of its
        // AD mode only, which are there; missing lanes are null, and code for AD modes that have them is not called without. Code that
        // turns round is given room for what it writes to `turned`, other code does not touch it. Its calls take no more than `stack` bytes of
        // the host's stack, which has twice as many.
        let status = unsafe {
            let entry = std::mem::transmute::<usize, Entry>(self.entry);
            entry(
                memory.as_mut_ptr(),
                lanes.as_ptr(),
                len as u64,
                top.min(len) as u64,
                turned.as_mut_ptr(),
                stack as u64,
            )
        };
        status == 0
    }
}
