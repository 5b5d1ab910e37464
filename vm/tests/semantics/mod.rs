//! The results of each function and instruction: against values worked out by hand or known from tables, and against oracles on random
//! operands (128-bit integers, the crate `fixed`, the system's doubles).
//!
//! | module | what it holds |
//! |---|---|
//! | `functions` | the tests of functions: every accumulator and operand shape |
//! | `integers`, `fixed_point`, `logarithms`, `doubles` | values and oracles, by the type of the result |
//! | `oracle` | what an oracle may say |
//! | `rows`, `rotations`, `gradient_words` | the other straight-line instructions |

use crate::common;

mod doubles;
mod fixed_point;
mod functions;
mod gradient_words;
mod integers;
mod logarithms;
mod oracle;
mod rotations;
mod rows;

use common::r;
use pendula_isa::Fault;
use pendula_vm::Machine;

const fn i(x: i64) -> u64 {
    x.cast_unsigned()
}

/// A multiple of 2^-16 as `Q32.32`.
const fn q(x: f64) -> u64 {
    (((x * 65536.0) as i64) << 16).cast_unsigned()
}

/// The `Q32.32` nearest to a number given by its whole part and the first sixteen hexadecimal digits of its fraction.
const fn hex(whole: u64, fraction: u64) -> u64 {
    (whole << 32) + (fraction >> 32) + (fraction >> 31 & 1)
}

const fn f(x: f64) -> u64 {
    x.to_bits()
}

/// ± 2^`log`, where `log` is a multiple of 2^-10.
const fn l(sign: bool, log: f64) -> u64 {
    ((((log * 1024.0) as i64) << 42).cast_unsigned() & (u64::MAX >> 1)) | (sign as u64) << 63
}

const L_ZERO: u64 = 0x4000_0000_0000_0000;
const L_BAD: u64 = 0xc000_0000_0000_0000;
const MIN: i64 = i64::MIN;
const MAX: i64 = i64::MAX;

type Want = Result<u64, Fault>;

/// Function, arguments, value.
type Value = (&'static str, &'static [u64], Want);

fn set(m: &mut Machine, words: [u64; 4]) {
    for (n, w) in words.into_iter().enumerate() {
        m.set_register(r(n as u8 + 1), w);
    }
}
