//! Parses numbers on the command line.

/// Parses a number of instructions or words: decimal, with `_`, or like `1e6`.
pub(super) fn count(text: &str) -> Result<u64, String> {
    let plain = text.replace('_', "");
    if let Ok(n) = plain.parse() {
        return Ok(n);
    }
    let (digits, exponent) = plain.split_once(['e', 'E']).ok_or("not a whole number")?;
    let (digits, exponent): (u64, u32) =
        (digits.parse().map_err(|_| "not a whole number")?, exponent.parse().map_err(|_| "not a whole number")?);
    10u64.checked_pow(exponent).and_then(|p| p.checked_mul(digits)).ok_or_else(|| "too large".to_string())
}

/// Parses a number of bytes.
pub(super) fn size(text: &str) -> Result<usize, String> {
    usize::try_from(count(text)?).map_err(|_| "too large".to_string())
}

/// Parses a number of cells.
pub(super) fn cells(text: &str) -> Result<u32, String> {
    u32::try_from(count(text)?).map_err(|_| "too large".to_string())
}
