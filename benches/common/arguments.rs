//! Arguments of elementary functions.

use pendula::isa::num::Format;

/// So many words of a format from `low` to `high`, from a fixed stream.
pub(crate) fn arguments(count: usize, low: f64, high: f64, format: Format) -> Vec<i64> {
    let one = 2f64.powi(format.frac() as i32);
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 11) as f64 / 2f64.powi(53)
    };
    (0..count).map(|_| ((low + (high - low) * next()) * one) as i64).collect()
}
