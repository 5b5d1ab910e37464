//! Entry points for compiled code to call kernels that have a function on words.
//!
//! `status = f(env, out, x…)`: `env` is the packed [`Env`]; the results go to `out`, which has room for two words; the status is
//! 0, [`FAULT`] (nothing was written), or [`WRAPPED`].
//!
//! A kernel with one result has a second function that accesses no memory. It returns the result in the low word and the
//! status in the high word.

#![expect(unsafe_code, reason = "the functions that compiled code calls take pointers")]

use pendula_isa::Env;
use pendula_isa::kernels::{FormVisitor, Kernel};
use pendula_isa::num::Format;

/// The kernel has no value.
pub const FAULT: u64 = 1;
/// The value has wrapped.
pub const WRAPPED: u64 = 2;

/// The environment of kernels, packed into a word.
pub fn pack(env: Env) -> u64 {
    u64::from(env.format.frac()) | u64::from(env.ieee) << 8
}

fn unpack(word: u64) -> Env {
    let format = Format::ALL.into_iter().find(|f| u64::from(f.frac()) == word & 0xff);
    Env { format: format.unwrap_or_default(), ieee: word >> 8 != 0 }
}

/// Computes a kernel's results into `out`; returns the status.
#[inline(always)]
fn write_results<K: Kernel>(env: u64, out: *mut u64, x: [u64; 4]) -> u64 {
    match K::words(unpack(env), x) {
        Ok(([first, second], wrapped)) => {
            // SAFETY: compiled code passes two words in its frame, which nothing else accesses until this returns.
            unsafe { out.write(first) };
            if K::INFO.results == 2 {
                // SAFETY: as above.
                unsafe { out.add(1).write(second) };
            }
            if wrapped { WRAPPED } else { 0 }
        }
        Err(_) => FAULT,
    }
}

/// A kernel's result in the low word and its status in the high word.
#[inline(always)]
fn result_and_status<K: Kernel>(env: u64, x: [u64; 4]) -> u128 {
    match K::words(unpack(env), x) {
        Ok(([word, _], wrapped)) => u128::from(if wrapped { WRAPPED } else { 0 }) << 64 | u128::from(word),
        Err(_) => u128::from(FAULT) << 64,
    }
}

/// The entry points of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The address of the function that writes results and returns the status.
    pub(crate) address: usize,
    /// The address of the function that returns result and status, for a kernel with one result.
    pub(crate) result: Option<usize>,
}

/// Makes the entry points of a kernel.
pub(crate) struct EntryOf;

macro_rules! entries {
    ($( $name:ident($($x:ident),+) [$($all:expr),+]; )*) => { $(
        /// The function that calls kernels of this form.
        ///
        /// # Safety
        /// `out` has room for two words.
        unsafe extern "C" fn $name<K: Kernel>(env: u64, out: *mut u64, $($x: u64),+) -> u64 {
            write_results::<K>(env, out, [$($all),+])
        }
    )* };
}

entries! {
    call1(a) [a, a, a, a];
    call2(a, b) [a, b, b, b];
    call3(a, b, c) [a, b, c, c];
    call4(a, b, c, d) [a, b, c, d];
}

macro_rules! results {
    ($( $name:ident($($x:ident),+) [$($all:expr),+]; )*) => { $(
        /// The function that returns result and status of kernels of this form.
        extern "C" fn $name<K: Kernel>(env: u64, $($x: u64),+) -> u128 {
            result_and_status::<K>(env, [$($all),+])
        }
    )* };
}

results! {
    result1(a) [a, a, a, a];
    result2(a, b) [a, b, b, b];
    result3(a, b, c) [a, b, c, c];
}

type Call1 = unsafe extern "C" fn(u64, *mut u64, u64) -> u64;
type Call2 = unsafe extern "C" fn(u64, *mut u64, u64, u64) -> u64;
type Call3 = unsafe extern "C" fn(u64, *mut u64, u64, u64, u64) -> u64;
type Call4 = unsafe extern "C" fn(u64, *mut u64, u64, u64, u64, u64) -> u64;
type Result1 = extern "C" fn(u64, u64) -> u128;
type Result2 = extern "C" fn(u64, u64, u64) -> u128;
type Result3 = extern "C" fn(u64, u64, u64, u64) -> u128;

impl FormVisitor for EntryOf {
    type Out = Entry;

    fn unary<K: Kernel>(self) -> Entry {
        Entry { address: call1::<K> as Call1 as usize, result: Some(result1::<K> as Result1 as usize) }
    }

    fn binary<K: Kernel>(self) -> Entry {
        Entry { address: call2::<K> as Call2 as usize, result: Some(result2::<K> as Result2 as usize) }
    }

    fn ternary<K: Kernel>(self) -> Entry {
        Entry { address: call3::<K> as Call3 as usize, result: Some(result3::<K> as Result3 as usize) }
    }

    fn pair<K: Kernel>(self) -> Entry {
        Entry { address: call4::<K> as Call4 as usize, result: None }
    }
}
