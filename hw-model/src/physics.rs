//! The physics of the energy model: Landauer's limit, and charging a capacitance through a resistance by a slow ramp.
//! This module has formulas only; the numbers come from a [`Technology`](crate::Technology).

use std::f64::consts::LN_2;

/// Boltzmann's constant in joules per kelvin (SI Brochure, 9th edition: exact).
pub const BOLTZMANN: f64 = 1.380_649e-23;

/// kT ln 2: the minimum energy in joules for erasing a bit at a temperature in kelvin (Landauer 1961).
pub fn landauer(kelvin: f64) -> f64 {
    BOLTZMANN * kelvin * LN_2
}

/// φ(x) = (1/x)·(1 − (1/x)(1 − e^−x)): the fraction of C·V² that is dissipated when a capacitance is charged through a
/// resistance by a linear ramp of duration x = T/RC. It tends to 1/2 for a step (x → 0) and to 1/x for a slow ramp
/// (Younis and Knight 1994; Hänninen, Snider and Lent 2014).
pub fn ramp_loss(x: f64) -> f64 {
    if x < 1e-3 {
        // The series of (e^−x − 1 + x)/x², which would suffer from cancellation here.
        return 0.5 - x / 6.0 + x * x / 24.0;
    }
    (1.0 + (-x).exp_m1() / x) / x
}

/// The shape of the clocked supply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ramp {
    /// A trapezoid.
    Linear,
    /// The sine of a resonator.
    Sine,
}

impl Ramp {
    /// σ: the loss of this ramp relative to a linear one of the same duration, for slow ramps.
    pub fn shape(self) -> f64 {
        match self {
            Ramp::Linear => 1.0,
            Ramp::Sine => std::f64::consts::PI.powi(2) / 8.0,
        }
    }
}

/// The transistors of adiabatic CMOS at a supply voltage and a temperature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adiabatic {
    /// Supply voltage in volts.
    pub volt: f64,
    /// Temperature in kelvin.
    pub kelvin: f64,
    /// τ = R·C of a gate in seconds.
    pub time_constant: f64,
    /// r = I_off/I_on.
    pub leakage: f64,
    /// The shape of the ramps.
    pub ramp: Ramp,
    /// How voltage and temperature change τ and r, if known.
    pub scaling: Option<Scaling>,
}

/// How a transistor's currents depend on the supply and the temperature: the alpha-power law when it is on (Sakurai and Newton 1990), an exponential
/// of the threshold when it is off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// Threshold voltage in volts, at the temperature of the file.
    pub threshold: f64,
    /// α: 2 for long channels, near 1 for short ones.
    pub alpha: f64,
    /// n: the subthreshold current falls by e for every n·kT/q of the threshold.
    pub slope: f64,
    /// κ: by how many volts the threshold falls per kelvin.
    pub per_kelvin: f64,
    /// η: by how many volts the threshold falls per volt of the supply.
    pub barrier: f64,
    /// The part of the leakage that depends on neither: gate and tunnelling currents.
    pub floor: f64,
}

/// k/q in volts per kelvin.
const THERMAL_VOLT: f64 = BOLTZMANN / 1.602_176_634e-19;

impl Adiabatic {
    /// The same technology at another supply voltage and temperature; `None` if its scaling is unknown, or the voltage is not above the
    /// threshold there.
    ///
    /// I_on ∝ (V − V_t(T))^α, τ ∝ V/I_on, and I_off(T, V) = I₀·(T/T₀)²·exp[−(V_t(T) − ηV)/(n·kT/q)], normalised here, above a floor.
    pub fn at(&self, volt: f64, kelvin: f64) -> Option<Adiabatic> {
        if volt == self.volt && kelvin == self.kelvin {
            return Some(*self);
        }
        let s = self.scaling?;
        let threshold = s.threshold - s.per_kelvin * (kelvin - self.kelvin);
        if volt <= threshold {
            return None;
        }
        let drive = ((volt - threshold) / (self.volt - s.threshold)).powf(s.alpha);
        let exponent = |threshold: f64, volt: f64, kelvin: f64| {
            -(threshold - s.barrier * volt) / (s.slope * THERMAL_VOLT * kelvin)
        };
        let subthreshold = (kelvin / self.kelvin).powi(2)
            * (exponent(threshold, volt, kelvin) - exponent(s.threshold, self.volt, self.kelvin)).exp();
        let off = s.floor + (1.0 - s.floor) * subthreshold;
        Some(Adiabatic {
            volt,
            kelvin,
            time_constant: self.time_constant * volt / self.volt / drive,
            leakage: self.leakage * off / drive,
            ..*self
        })
    }
}

/// The minimum of a function with a single minimum between two points, and its place, by golden section.
pub fn minimum(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> (f64, f64) {
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let (mut a, mut b) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut fa, mut fb) = (f(a), f(b));
    while high - low > 1e-9 * (1.0 + low.abs()) {
        if fa < fb {
            (high, b, fb) = (b, a, fa);
            a = high - ratio * (high - low);
            fa = f(a);
        } else {
            (low, a, fa) = (a, b, fb);
            b = low + ratio * (high - low);
            fb = f(b);
        }
    }
    let at = (low + high) / 2.0;
    (at, f(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, relative: f64) -> bool {
        (a - b).abs() <= relative * b.abs()
    }

    #[test]
    fn published_values() {
        assert!(near(landauer(300.0), 2.870979e-21, 1e-6));
        for (x, y) in [(1.0, 0.367879), (10.0, 0.0900005), (100.0, 0.0099)] {
            assert!((ramp_loss(x) - y).abs() < 1e-6, "{x}");
        }
        // Abrupt switching loses ½CV² each way. Both branches of the code meet there.
        assert!(near(ramp_loss(1e-12), 0.5, 1e-9));
        assert!(near(ramp_loss(0.999e-3), ramp_loss(1.001e-3), 1e-6));
    }

    fn node() -> Adiabatic {
        Adiabatic { volt: 0.8, kelvin: 300.0, time_constant: 12e-12, leakage: 1e-6, ramp: Ramp::Linear, scaling: None }
    }

    const SCALING: Scaling =
        Scaling { threshold: 0.35, alpha: 1.3, slope: 1.3, per_kelvin: 7e-4, barrier: 0.1, floor: 0.05 };

    #[test]
    fn a_higher_voltage_is_faster() {
        let tech = Adiabatic { scaling: Some(SCALING), ..node() };
        assert_eq!(tech.at(0.8, 300.0), Some(tech));
        let high = tech.at(1.0, 300.0).unwrap();
        assert!(high.time_constant < tech.time_constant);
        // The barrier is lower: 0.02 V of 1.3 kT/q, against 1.44^1.3 more current when on.
        let off = 0.05 + 0.95 * (0.02f64 / (1.3 * 0.025_852)).exp();
        assert!(near(high.leakage, 1e-6 * off / (0.65f64 / 0.45).powf(1.3), 1e-4), "{}", high.leakage);
        assert_eq!(tech.at(0.3, 300.0), None);
        assert_eq!(node().at(1.0, 300.0), None);
    }

    #[test]
    fn heat_leaks_and_cold_does_not() {
        let tech = Adiabatic { scaling: Some(SCALING), ..node() };
        let (hot, cold) = (tech.at(0.8, 360.0).unwrap(), tech.at(0.8, 77.0).unwrap());
        assert!(hot.leakage > 3.0 * tech.leakage, "{}", hot.leakage);
        // Only the floor is left.
        let drive = ((0.8f64 - (0.35 + 7e-4 * 223.0)) / 0.45).powf(1.3);
        assert!(near(cold.leakage, 1e-6 * 0.05 / drive, 1e-3), "{}", cold.leakage);
        assert_eq!(tech.at(0.4, 77.0), None, "the threshold rises with the cold");
    }
}
