//! The number of gates of each [`CircuitKind`], counted in the circuit that [`crate::circuit`] generates.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use pendula_isa::table::TableFn;

use crate::circuit::GateCounts;
use crate::circuit::part::{self, CircuitFn, generate};
use crate::compose;
use crate::work::CircuitKind;

/// The parameters of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Bits in a word.
    pub width: u32,
    /// Fraction bits of fixed-point numbers.
    pub frac: u32,
    /// Words of memory.
    pub memory: u64,
}

/// Whether a function is computed directly into its target, so that there is no separate accumulator.
pub(crate) fn is_fused(func: TableFn, xor: bool) -> bool {
    static KNOWN: OnceLock<Mutex<HashMap<(TableFn, bool), bool>>> = OnceLock::new();
    let fused = || part::is_fused(compose::accumulator(xor), CircuitFn::Table { func, frac: 32 }, 64);
    match KNOWN.get_or_init(Mutex::default).lock() {
        Ok(mut known) => *known.entry((func, xor)).or_insert_with(fused),
        Err(_) => fused(),
    }
}

/// The gates of a unit's circuit.
///
/// A unit that consists of several circuits has the sum of their gates. The gates of a memory that is too large to lay
/// out gate by gate are extrapolated from two smaller ones: the number is linear in the number of words.
pub fn gates(unit: CircuitKind, shape: Shape) -> GateCounts {
    static KNOWN: OnceLock<Mutex<HashMap<(CircuitKind, Shape), GateCounts>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    // The size of the memory matters only for accesses.
    let shape = if unit == CircuitKind::Memory { shape } else { Shape { memory: 0, ..shape } };
    if let Ok(known) = known.lock()
        && let Some(counts) = known.get(&(unit, shape))
    {
        return *counts;
    }
    let counts = tracing::debug_span!("gate counts", ?unit).in_scope(|| {
        let of = |part| generate(part, shape.width as usize).map(|c| c.counts()).unwrap_or_default();
        compose::measure(unit, shape, false, &of)
    });
    if let Ok(mut known) = known.lock() {
        known.insert((unit, shape), counts);
    }
    counts
}
