//! C code for whole runs: loads it, passes it the kernels that it calls, and runs it.

#![expect(unsafe_code, reason = "compiled code is called here")]

use crate::cc::{CcError, Compiler, Library, Rounding};
use crate::ops::Kernel;
use crate::stack;

/// A function of compiled code that runs a program from one end to the other.
#[derive(Debug)]
pub struct Code {
    entry: usize,
    /// The library that contains the function.
    _library: Library,
}

/// `entry(mem, lanes, len, top, midpoint, room, stack)`; see [`Code::run`].
type Entry = unsafe extern "C" fn(*mut u64, *const *mut u64, u64, u64, *mut u64, u64, u64) -> i64;

/// The name of the libraries.
const NAME: &str = "pendula";

/// The maximum number of bytes of the host's stack that a run uses for calls.
const STACK: usize = 1 << 20;

/// `init(kernels)`.
type Init = unsafe extern "C" fn(*const usize);

impl Code {
    /// Compiles a source text. Its function `init` takes the addresses of the kernels, and `entry` runs the program.
    ///
    /// The text is C that Pendula generated. The generator must ensure that it only accesses the memory passed to it.
    pub fn new(
        source: &str,
        kernels: &[Kernel],
        (init, entry): (&str, &str),
        rounding: Rounding,
    ) -> Result<Code, CcError> {
        Code::of(Compiler::find()?.library(NAME, source, rounding)?, kernels, (init, entry))
    }

    /// Like [`Code::new`], but only if the library is cached: the compiler is not called.
    pub fn cached(
        source: &str,
        kernels: &[Kernel],
        names: (&str, &str),
        rounding: Rounding,
    ) -> Result<Option<Code>, CcError> {
        let library = Compiler::find()?.cached_library(NAME, source, rounding)?;
        library.map(|library| Code::of(library, kernels, names)).transpose()
    }

    /// The functions of a library that was made from such a text.
    fn of(library: Library, kernels: &[Kernel], (init, entry): (&str, &str)) -> Result<Code, CcError> {
        let (init, entry) = (library.address(init)?, library.address(entry)?);
        let addresses: Vec<usize> = kernels.iter().map(|k| k.result.unwrap_or(k.address)).collect();
        // SAFETY: the source declares this function with this signature. It copies as many addresses as there are kernels.
        unsafe { std::mem::transmute::<usize, Init>(init)(addresses.as_ptr()) };
        Ok(Code { entry, _library: library })
    }

    /// Runs the code on the memory and its lanes. The words from `top` on are zero and may be used. Lanes are as long as the
    /// memory; lanes that the AD mode does not use may be empty. `midpoint` has room for all data that the code writes there, and one
    /// word more; the words from `top` on are for logs.
    ///
    /// Returns true if the run reached its end. If not, for instance because the host's stack is too small, the contents of the
    /// memory, the lanes and `midpoint` are unspecified, except for the last word of `midpoint`: how many words there must be before
    /// it, if a log needs more, and else zero.
    ///
    /// # Panics
    /// If a lane is neither empty nor as long as the memory.
    #[inline]
    pub fn run(&self, memory: &mut [u64], lanes: [&mut [u64]; 3], top: usize, midpoint: &mut [u64]) -> bool {
        let Some(stack) = stack::room(STACK) else { return false };
        let len = memory.len();
        assert!(lanes.iter().all(|l| l.is_empty() || l.len() == len), "lanes are as long as the memory");
        let room = midpoint.len().saturating_sub(1);
        midpoint.last_mut().into_iter().for_each(|need| *need = 0);
        let lanes = lanes.map(|l| if l.is_empty() { std::ptr::null_mut() } else { l.as_mut_ptr() });
        // SAFETY: the function has this signature. It accesses words below `len` of the memory, of the lanes of its AD mode, which are
        // there (missing ones are null), and of `midpoint`, which has room if the code runs forward and back. Its calls take at most
        // `stack` bytes of the host's stack; twice as many remain.
        let status = unsafe {
            let entry = std::mem::transmute::<usize, Entry>(self.entry);
            entry(
                memory.as_mut_ptr(),
                lanes.as_ptr(),
                len as u64,
                top.min(len) as u64,
                midpoint.as_mut_ptr(),
                room as u64,
                stack as u64,
            )
        };
        status == 0
    }
}
