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

/// Adiabatic CMOS: the energy of charging and discharging a capacitance, as a function of the speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adiabatic {
    /// Supply voltage in volts.
    pub volt: f64,
    /// τ = R·C of a gate in seconds.
    pub time_constant: f64,
    /// r = I_off/I_on.
    pub leakage: f64,
    /// κ: the number of ramps per operation.
    pub ticks: f64,
    /// λ: powered capacitance over switched capacitance.
    pub powered: f64,
    /// The shape of the ramps.
    pub ramp: Ramp,
    /// How voltage changes τ and r, if known.
    pub scaling: Option<Scaling>,
}

/// How a transistor's current depends on the supply: the alpha-power law (Sakurai and Newton 1990).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// Threshold voltage in volts.
    pub threshold: f64,
    /// The exponent: 2 for long channels, near 1 for short ones.
    pub alpha: f64,
}

/// The energy of switching, in joules, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Switching {
    /// Resistive loss of the ramps.
    pub adiabatic: f64,
    /// Loss by currents through transistors that are off.
    pub leakage: f64,
}

impl Switching {
    /// Both.
    pub fn total(self) -> f64 {
        self.adiabatic + self.leakage
    }
}

impl Adiabatic {
    /// The energy of an operation that switches `farad` at `hertz` operations a second: E_ad = 2·min(σφ(T/τ), ½)·C·V² and
    /// E_leak = λ·C·V²·r·κ·T/τ, with the ramp's duration T = 1/(κf).
    pub fn switching(&self, farad: f64, hertz: f64) -> Switching {
        let x = self.ramp_time(hertz) / self.time_constant;
        let cv2 = farad * self.volt * self.volt;
        Switching {
            adiabatic: 2.0 * cv2 * (self.ramp.shape() * ramp_loss(x)).min(0.5),
            leakage: self.powered * cv2 * self.leakage * self.ticks * x,
        }
    }

    /// T = 1/(κf), in seconds.
    pub fn ramp_time(&self, hertz: f64) -> f64 {
        1.0 / (self.ticks * hertz)
    }

    /// The frequency in hertz where an operation costs least, for slow ramps (φ(x) = 1/x): f* = 1/(κT*), T* = τ·√(2σ/(λκr)).
    pub fn best_frequency(&self) -> f64 {
        let x = (2.0 * self.ramp.shape() / (self.powered * self.ticks * self.leakage)).sqrt();
        1.0 / (self.ticks * self.time_constant * x)
    }

    /// The energy of an operation at this frequency, for slow ramps: E* = 2·C·V²·√(2σλκr), in joules.
    pub fn best_energy(&self, farad: f64) -> f64 {
        let root = (2.0 * self.ramp.shape() * self.powered * self.ticks * self.leakage).sqrt();
        2.0 * farad * self.volt * self.volt * root
    }

    /// The true optimum, found numerically with the exact φ: the frequency in hertz, and joules per farad.
    pub fn numeric_best(&self) -> (f64, f64) {
        let energy = |log_f: f64| self.switching(1.0, log_f.exp()).total();
        let middle = self.best_frequency().ln();
        let (at, energy) = minimum(energy, middle - 5.0, middle + 5.0);
        (at.exp(), energy)
    }

    /// The same technology at another supply voltage; `None` if its scaling is unknown or the voltage is not above the
    /// threshold.
    ///
    /// τ ∝ V/(V − V_t)^α, and I_off/I_on ∝ 1/(V − V_t)^α, with a constant current of transistors that are off.
    pub fn at_voltage(&self, volt: f64) -> Option<Adiabatic> {
        let Scaling { threshold, alpha } = self.scaling?;
        if volt <= threshold {
            return None;
        }
        let drive = ((volt - threshold) / (self.volt - threshold)).powf(alpha);
        Some(Adiabatic {
            volt,
            time_constant: self.time_constant * volt / self.volt / drive,
            leakage: self.leakage / drive,
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

    /// The presets of the literature, with λ = 1 and linear ramps.
    fn adiabatic(volt: f64, time_constant: f64, leakage: f64, ticks: f64) -> Adiabatic {
        Adiabatic { volt, time_constant, leakage, ticks, powered: 1.0, ramp: Ramp::Linear, scaling: None }
    }

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

    #[test]
    fn the_best_frequency_is_where_the_energy_is_least() {
        for (tech, hertz, gain) in [
            (adiabatic(1.8, 100e-12, 1e-7, 4.0), 1.12e6, 559.0),
            (adiabatic(0.8, 12e-12, 1e-6, 8.0), 20.8e6, 125.0),
            (adiabatic(0.8, 12e-12, 1e-10, 8.0), 208e3, 12_500.0),
            (adiabatic(0.9, 20e-12, 1e-4, 8.0), 125e6, 12.5),
        ] {
            assert!(near(tech.best_frequency(), hertz, 0.005), "{}", tech.best_frequency());
            assert!(near(tech.volt.powi(2) / tech.best_energy(1.0), gain, 0.005));
            let within = if tech.leakage > 1e-5 { 0.025 } else { 0.01 };
            let (at, energy) = tech.numeric_best();
            assert!(near(at, tech.best_frequency(), within), "{at}");
            assert!(near(energy, tech.best_energy(1.0), 0.05));
            for off in [0.9, 1.1] {
                assert!(tech.switching(1.0, at * off).total() > energy);
            }
        }
    }

    #[test]
    fn energy_falls_with_slowness_and_rises_with_leakage() {
        // Slopes of log E over log f: +1 above the optimum, -1 below.
        for tech in [adiabatic(1.8, 100e-12, 1e-7, 4.0), adiabatic(0.8, 12e-12, 1e-10, 8.0)] {
            let slope = |f: f64| {
                let e = |f: f64| tech.switching(1.0, f).total().ln();
                (e(f * 1.01) - e(f / 1.01)) / (2.0 * 1.01f64.ln())
            };
            let best = tech.best_frequency();
            for f in [best / 12.0, best / 100.0] {
                assert!((slope(f) + 1.0).abs() < 0.02, "{}", slope(f));
            }
            let mut f = 12.0 * best;
            while tech.ramp_time(f) / tech.time_constant >= 100.0 {
                assert!((slope(f) - 1.0).abs() < 0.02, "{}", slope(f));
                f *= 1.5;
            }
            assert!(f > 12.0 * best, "the range is not empty");
        }
    }

    #[test]
    fn a_higher_voltage_is_faster_and_dearer() {
        let scaling = Some(Scaling { threshold: 0.35, alpha: 1.3 });
        let tech = Adiabatic { scaling, ..adiabatic(0.8, 12e-12, 1e-6, 8.0) };
        assert_eq!(tech.at_voltage(0.8), Some(tech));
        let high = tech.at_voltage(1.0).unwrap();
        assert!(high.time_constant < tech.time_constant && high.leakage < tech.leakage);
        assert!(high.switching(1e-15, 1e6).total() > 0.0);
        assert_eq!(tech.at_voltage(0.3), None);
        assert_eq!(adiabatic(0.8, 12e-12, 1e-6, 8.0).at_voltage(1.0), None);
    }
}
