//! The conditions of a device.

/// The conditions of a device, beside the technology's file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conditions {
    /// Operations per second; if `None`, those at which the cost is lowest.
    pub hertz: Option<f64>,
    /// The supply voltage; if `None`, that of the file.
    pub volt: Option<f64>,
    /// The temperature in kelvin; if `None`, that of the file.
    pub kelvin: Option<f64>,
    /// The size of the memory in words, see [`billed_memory`].
    pub memory_words: u64,
    /// Fraction bits of fixed-point numbers.
    pub frac: u32,
    /// Bits in a word: [`WORD`](super::WORD), or fewer if the program's profile has fewer.
    pub width: u32,
}

/// The words of the memory that is billed to a program which touches some: the next power of two, since addresses are decoded by their bits.
pub const fn billed_memory(touched: u64) -> u64 {
    match touched.checked_next_power_of_two() {
        Some(words) => words,
        None => u64::MAX,
    }
}

/// Why a technology cannot be priced under these conditions.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PriceError {
    /// It has only latencies.
    #[error("technology `{0}` gives latencies only, no energies")]
    NoEnergy(String),
    /// A frequency for a technology whose energy does not depend on it, or one that is not a positive number in range.
    #[error("{0}")]
    Frequency(String),
    /// A voltage that the technology does not support.
    #[error("{0}")]
    Voltage(String),
    /// A temperature that the technology does not support.
    #[error("{0}")]
    Temperature(String),
}

/// Conditions that no technology supports.
pub(super) fn check(conditions: Conditions) -> Result<(), PriceError> {
    if let Some(hertz) = conditions.hertz
        && !(1e-3..=1e18).contains(&hertz)
    {
        let message = format!("a frequency must be above zero, from 1e-3 to 1e18 Hz, and not {hertz}");
        return Err(PriceError::Frequency(message));
    }
    if let Some(volt) = conditions.volt
        && !(1e-3..=100.0).contains(&volt)
    {
        return Err(PriceError::Voltage(format!("a voltage must be from 0.001 to 100 V, and not {volt}")));
    }
    if let Some(kelvin) = conditions.kelvin
        && !(0.01..=1000.0).contains(&kelvin)
    {
        return Err(PriceError::Temperature(format!("a temperature must be from 0.01 to 1000 K, and not {kelvin}")));
    }
    Ok(())
}
