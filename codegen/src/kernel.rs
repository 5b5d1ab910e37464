//! Entry points for compiled code to call the kernels of the number types: for each kernel a function with the C calling
//! convention, which finds the kernel by its type.
//!
//! `status = f(env, out, x…)`: `env` is the packed [`Env`]; the results go to `out`, which has room for two words; the status is
//! 0, [`FAULT`] (nothing was written), or [`WRAPPED`].
//!
//! A kernel with one result has a second function that accesses no memory. It returns the result in the low word and the
//! status in the high word.

#![expect(unsafe_code, reason = "the functions that compiled code calls take pointers")]

use std::any::TypeId;
use std::ptr::NonNull;

use pendula_isa::num::{Format, Word, convert, fixed, float, int};
use pendula_isa::{Env, Fault};

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

/// The only value of a zero-sized kernel type.
fn zero_sized<K: Copy + 'static>() -> K {
    const { assert!(size_of::<K>() == 0, "a kernel holds nothing") };
    // SAFETY: a zero-sized value can be read from any aligned address. The type is inhabited: the functions of `EntryOf` took a
    // value of it before they took the address of the function that calls this.
    unsafe { NonNull::<K>::dangling().as_ptr().read() }
}

/// Writes a kernel's results to `out`; returns the status.
fn write_results<const N: usize>(out: &mut [u64; 2], result: Result<([u64; N], bool), Fault>) -> u64 {
    match result {
        Ok((words, wrapped)) => {
            out.iter_mut().zip(words).for_each(|(to, word)| *to = word);
            if wrapped { WRAPPED } else { 0 }
        }
        Err(_) => FAULT,
    }
}

macro_rules! entries {
    ($( $name:ident ($($x:ident),+) [$($K:tt)+] $k:ident => |$env:ident| $value:expr; )*) => { $(
        /// The function that calls kernels of this form.
        ///
        /// # Safety
        /// `out` has room for two words.
        unsafe extern "C" fn $name<K: Copy + 'static + $($K)+>(env: u64, out: *mut u64, $($x: u64),+) -> u64 {
            let ($k, $env) = (zero_sized::<K>(), unpack(env));
            // SAFETY: compiled code passes the two words in its frame, which nothing else accesses until this returns.
            let out = unsafe { &mut *out.cast::<[u64; 2]>() };
            write_results(out, $value)
        }
    )* };
}

macro_rules! results {
    ($( $name:ident ($($x:ident),+) [$($K:tt)+] $k:ident => |$env:ident| $value:expr; )*) => { $(
        /// The function that returns result and status of kernels of this form.
        extern "C" fn $name<K: Copy + 'static + $($K)+>(env: u64, $($x: u64),+) -> u128 {
            let ($k, $env) = (zero_sized::<K>(), unpack(env));
            let result: Result<(u64, bool), Fault> = $value;
            match result {
                Ok((word, wrapped)) => u128::from(if wrapped { WRAPPED } else { 0 }) << 64 | u128::from(word),
                Err(_) => u128::from(FAULT) << 64,
            }
        }
    )* };
}

results! {
    result1(a) [Fn(Env, u64) -> Word] k => |env| k(env, a).map(|w| (w, false));
    result2(a, b) [Fn(Env, u64, u64) -> Word] k => |env| k(env, a, b).map(|w| (w, false));
    result3(a, b, c) [Fn(Env, u64, u64, u64) -> Word] k => |env| k(env, a, b, c).map(|w| (w, false));
    result_wrap2(a, b) [Fn(Env, u64, u64) -> (u64, bool)] k => |env| Ok(k(env, a, b));
    result_wrap3(a, b, c) [Fn(Env, u64, u64, u64) -> (u64, bool)] k => |env| Ok(k(env, a, b, c));
}

entries! {
    call1(a) [Fn(Env, u64) -> Word] k => |env| k(env, a).map(|w| ([w], false));
    call2(a, b) [Fn(Env, u64, u64) -> Word] k => |env| k(env, a, b).map(|w| ([w], false));
    call3(a, b, c) [Fn(Env, u64, u64, u64) -> Word] k => |env| k(env, a, b, c).map(|w| ([w], false));
    call_pair(a, b, c, d) [Fn(Env, [u64; 4]) -> Result<[u64; 2], Fault>] k => |env| k(env, [a, b, c, d]).map(|w| (w, false));
    wrap2(a, b) [Fn(Env, u64, u64) -> (u64, bool)] k => |env| { let (w, o) = k(env, a, b); Ok(([w], o)) };
    wrap3(a, b, c) [Fn(Env, u64, u64, u64) -> (u64, bool)] k => |env| { let (w, o) = k(env, a, b, c); Ok(([w], o)) };
    wrap_pair(a, b, c, d) [Fn(Env, [u64; 4]) -> ([u64; 2], bool)] k => |env| Ok(k(env, [a, b, c, d]));
}

/// The entry points of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The kernel's name.
    pub(crate) name: &'static str,
    /// The address of the function that calls it.
    pub(crate) address: usize,
    /// The address of the function that returns result and status, for a kernel with one result.
    pub(crate) result: Option<usize>,
}

/// Makes the entry points of kernels of each form. Each function takes a kernel as proof that its type is inhabited.
pub(crate) struct EntryOf;

macro_rules! addresses {
    ($( $name:ident [$($K:tt)+] fn($($x:ty),+) $(, $result:ident as $form:ty)?; )*) => {
        impl EntryOf { $(
            pub(crate) fn $name<K: Copy + 'static + $($K)+>(_: K) -> Entry {
                let entry: unsafe extern "C" fn(u64, *mut u64, $($x),+) -> u64 = $name::<K>;
                let result = [$( $result::<K> as $form as usize )?].first().copied();
                Entry { name: std::any::type_name::<K>(), address: entry as usize, result }
            }
        )* }
    };
}

addresses! {
    call1 [Fn(Env, u64) -> Word] fn(u64), result1 as extern "C" fn(u64, u64) -> u128;
    call2 [Fn(Env, u64, u64) -> Word] fn(u64, u64), result2 as extern "C" fn(u64, u64, u64) -> u128;
    call3 [Fn(Env, u64, u64, u64) -> Word] fn(u64, u64, u64), result3 as extern "C" fn(u64, u64, u64, u64) -> u128;
    call_pair [Fn(Env, [u64; 4]) -> Result<[u64; 2], Fault>] fn(u64, u64, u64, u64);
    wrap2 [Fn(Env, u64, u64) -> (u64, bool)] fn(u64, u64), result_wrap2 as extern "C" fn(u64, u64, u64) -> u128;
    wrap3 [Fn(Env, u64, u64, u64) -> (u64, bool)] fn(u64, u64, u64), result_wrap3 as extern "C" fn(u64, u64, u64, u64) -> u128;
    wrap_pair [Fn(Env, [u64; 4]) -> ([u64; 2], bool)] fn(u64, u64, u64, u64);
}

/// The kernels that the lifter replaces by operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownKernel {
    FloatAdd,
    FloatSub,
    FloatMul,
    FloatDiv,
    FloatInv,
    FloatSqrt,
    FloatAbs,
    FixedAdd,
    FixedSub,
    FixedMul,
    FixedMuladd,
    IntProd,
    IntToFloat,
    FixedToFloat,
    FixedToInt,
}

/// The known kernel with this type, if there is one.
pub(crate) fn known<K: 'static>() -> Option<KnownKernel> {
    fn id<T: 'static>(_: T) -> TypeId {
        TypeId::of::<T>()
    }
    let this = TypeId::of::<K>();
    let table = [
        (id(float::add), KnownKernel::FloatAdd),
        (id(float::sub), KnownKernel::FloatSub),
        (id(float::mul), KnownKernel::FloatMul),
        (id(float::div), KnownKernel::FloatDiv),
        (id(float::inv), KnownKernel::FloatInv),
        (id(float::sqrt), KnownKernel::FloatSqrt),
        (id(float::abs), KnownKernel::FloatAbs),
        (id(fixed::add), KnownKernel::FixedAdd),
        (id(fixed::sub), KnownKernel::FixedSub),
        (id(fixed::mul), KnownKernel::FixedMul),
        (id(fixed::muladd), KnownKernel::FixedMuladd),
        (id(int::prod), KnownKernel::IntProd),
        (id(convert::int_to_f), KnownKernel::IntToFloat),
        (id(convert::q_to_f), KnownKernel::FixedToFloat),
        (id(convert::q_to_int), KnownKernel::FixedToInt),
    ];
    table.into_iter().find(|(t, _)| *t == this).map(|(_, k)| k)
}
