//! Quantities as text, with SI prefixes.

/// A quantity with three significant digits and a suitable prefix: `2.87 zJ`, `41.9 fJ`, `20.8 MHz`; `0 J` for zero.
pub fn si(value: f64, unit: &str) -> String {
    const PREFIXES: [&str; 17] = ["q", "r", "y", "z", "a", "f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E"];
    if value == 0.0 || !value.is_finite() {
        return format!("{value} {unit}");
    }
    // Rounded first, so that 999.7 becomes 1.00 k and not 1000.
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    let power = (rounded.abs().log10() + 1e-9).div_euclid(3.0).clamp(-10.0, 6.0);
    let scaled = rounded / 1000f64.powf(power);
    let digits = if scaled.abs() >= 99.95 {
        0
    } else if scaled.abs() >= 9.995 {
        1
    } else {
        2
    };
    format!("{scaled:.digits$} {}{unit}", PREFIXES[(power + 10.0) as usize])
}

#[cfg(test)]
mod tests {
    use super::si;

    #[test]
    fn three_digits_and_a_prefix() {
        for (value, text) in [
            (0.0, "0 J"),
            (1.0, "1.00 J"),
            (999.7, "1.00 kJ"),
            (-12.34, "-12.3 J"),
            (2.870979e-21, "2.87 zJ"),
            (41.87e-15, "41.9 fJ"),
            (1e-15, "1.00 fJ"),
            (1e-3, "1.00 mJ"),
            (123.4e-6, "123 µJ"),
            (1e-40, "0.00 qJ"),
            (20.83e6, "20.8 MJ"),
            (1e21, "1000 EJ"),
        ] {
            assert_eq!(si(value, "J"), text);
        }
    }
}
