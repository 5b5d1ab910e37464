//! What compiled code calls.

use pendula_codegen::{loops, whole};
use pendula_isa::num::products;

/// A function that code calls with words. It returns a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    /// `clear(at, n)`: sets words to zero.
    Clear,
    /// `copy(to, from, n)`: copies words.
    Copy,
    /// `end_doubles(at, n)`: sets doubles to zero; not zero if one of them is not close to it.
    EndDoubles,
    /// `any(at, n)`: not zero if a word is not.
    Any,
    /// `not_finite(at, n)`: not zero if one of these doubles is not finite.
    NotFinite,
    /// `leaves(first, span, step, turns, len)`: not zero if addresses leave the memory.
    Leaves,
    /// `uneven(first, last, step)`: not zero if a loop does not end at its last turn, or close to where integers end.
    Uneven,
    /// `apart(further, by, step)`: not zero if one loop as a whole goes on less far, by `by` a turn, than another in a single step.
    Apart,
    /// `tell(watch, mark, first, at, last, step)`: answers where a run is; not zero if the run is to give up.
    Tell,
    /// `add_products(all, n, len)`: makes [sums of products](products).
    AddProducts,
}

impl Helper {
    pub(super) const ALL: [Helper; 10] = [
        Helper::Clear,
        Helper::Copy,
        Helper::EndDoubles,
        Helper::Any,
        Helper::NotFinite,
        Helper::Leaves,
        Helper::Uneven,
        Helper::Apart,
        Helper::Tell,
        Helper::AddProducts,
    ];

    /// The address of the function, and how many words it is given.
    pub(super) fn function(self) -> (usize, usize) {
        match self {
            Helper::Clear => (clear as unsafe extern "C" fn(_, _) -> _ as usize, 2),
            Helper::Copy => (copy as unsafe extern "C" fn(_, _, _) -> _ as usize, 3),
            Helper::EndDoubles => (end_doubles as unsafe extern "C" fn(_, _) -> _ as usize, 2),
            Helper::Any => (any as unsafe extern "C" fn(_, _) -> _ as usize, 2),
            Helper::NotFinite => (not_finite as unsafe extern "C" fn(_, _) -> _ as usize, 2),
            Helper::Leaves => (leaves as extern "C" fn(_, _, _, _, _) -> _ as usize, 5),
            Helper::Uneven => (uneven as extern "C" fn(_, _, _) -> _ as usize, 3),
            Helper::Apart => (apart as extern "C" fn(_, _, _) -> _ as usize, 3),
            Helper::AddProducts => (products::add_products as unsafe extern "C" fn(_, _, _) -> _ as usize, 3),
            Helper::Tell => (whole::tell as unsafe extern "C" fn(_, _, _, _, _, _) -> _ as usize, 6),
        }
    }
}

/// # Safety
/// There are `n` words, which nothing else accesses.
unsafe extern "C" fn clear(at: *mut u64, n: u64) -> u64 {
    // SAFETY: as above.
    unsafe { at.write_bytes(0, n as usize) };
    0
}

/// # Safety
/// There are `n` words at both places, which do not overlap.
unsafe extern "C" fn copy(to: *mut u64, from: *const u64, n: u64) -> u64 {
    // SAFETY: as above.
    unsafe { to.copy_from_nonoverlapping(from, n as usize) };
    0
}

/// # Safety
/// There are `n` words, which nothing else accesses.
unsafe extern "C" fn end_doubles(at: *mut u64, n: u64) -> u64 {
    // SAFETY: as above.
    let words = unsafe { std::slice::from_raw_parts_mut(at, n as usize) };
    // Without signs, doubles are in the order of their bits, and what is no number is the largest. A fold is made of vectors.
    let limit = loops::NEAR_ZERO.to_bits();
    let odd = words.iter().fold(0, |odd, word| odd | limit.wrapping_sub(word & (u64::MAX >> 1)));
    words.fill(0);
    odd >> 63
}

/// # Safety
/// There are `n` words.
unsafe extern "C" fn any(at: *const u64, n: u64) -> u64 {
    // SAFETY: as above.
    let words = unsafe { std::slice::from_raw_parts(at, n as usize) };
    words.iter().fold(0, |any, word| any | word)
}

/// # Safety
/// There are `n` words.
unsafe extern "C" fn not_finite(at: *const u64, n: u64) -> u64 {
    // SAFETY: as above.
    let words = unsafe { std::slice::from_raw_parts(at, n as usize) };
    // Where the exponent is all ones, one more carries into the sign.
    let of = |word: &u64| (word & 0x7ff0_0000_0000_0000) + 0x0010_0000_0000_0000;
    words.iter().fold(0, |odd, word| odd | of(word)) >> 63
}

extern "C" fn leaves(first: u64, span: u64, step: i64, turns: u64, len: u64) -> u64 {
    let is_outside = |at: u64| at >= len || span >= len - at;
    if is_outside(first) {
        return 1;
    }
    let last = || step.checked_mul(i64::try_from(turns.wrapping_sub(1)).ok()?)?.checked_add(first.cast_signed());
    u64::from(step != 0 && (turns > len || last().is_none_or(|last| is_outside(last.cast_unsigned()))))
}

extern "C" fn uneven(first: i64, last: i64, step: i64) -> u64 {
    let (Some(way), Some(_)) = (last.checked_sub(first), last.checked_add(step)) else { return 1 };
    if step == 0 {
        return 1;
    }
    u64::from(way != 0 && (way < 0) == (step < 0) && way.wrapping_rem(step) != 0)
}

extern "C" fn apart(further: i64, by: i64, step: i64) -> u64 {
    u64::from((i128::from(further) * i128::from(by)).abs() < i128::from(step).abs())
}
