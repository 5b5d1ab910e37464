//! How sure a bill is: its range, the figures that decide it, and how these are known.
//!
//! A figure is drawn from two log-uniform pieces with its nominal value as the median ([`Figure::quantile`]). Draws are stratified (a Latin
//! hypercube): each figure takes one value from each of as many strata as there are draws, in an order that depends on its key alone. So the
//! same figure, such as the energy of the link, goes through the same sequence in all technologies that are compared, and a ratio's range is
//! that of the ratio and not of two independent energies.
//!
//! Each draw is priced at its own cheapest frequency, unless the conditions say one.

use std::collections::BTreeMap;

use crate::price::{Cause, Conditions, Device, Joules, PriceError, Subject, Totals};
use crate::technology::{Figure, Status, Technology};
use crate::work::CircuitKind;

/// The number of draws.
pub const DRAWS: usize = 400;

/// The part of a range below its low end, and above its high one.
const TAIL: f64 = 0.05;

/// The elasticity from which on a figure counts as behind a sum: a change of it by 1 % changes the sum by 0.1 %.
const BEHIND: f64 = 0.1;

/// The relative change by which elasticities are found.
const CHANGE: f64 = 0.01;

/// A range of values: the 5th and the 95th percentile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The 5th percentile.
    pub low: f64,
    /// The 95th percentile.
    pub high: f64,
}

impl Range {
    /// The range of some values, in any order; zero for none.
    pub fn of(mut values: Vec<f64>) -> Range {
        values.sort_by(f64::total_cmp);
        let at = |part: f64| {
            let place = part * values.len().saturating_sub(1) as f64;
            let (below, above) = (place.floor() as usize, place.ceil() as usize);
            match (values.get(below), values.get(above)) {
                (Some(a), Some(b)) => a + (b - a) * (place - below as f64),
                _ => 0.0,
            }
        };
        Range { low: at(TAIL), high: at(1.0 - TAIL) }
    }

    /// Whether it is more than a point.
    pub fn is_wide(self) -> bool {
        self.high > self.low * (1.0 + 1e-6)
    }
}

/// A run whose price is uncertain.
#[derive(Clone, Copy, Debug)]
pub struct Uncertain<'a> {
    /// The technology.
    pub technology: &'a Technology,
    /// The conditions.
    pub conditions: Conditions,
    /// What the run did.
    pub totals: &'a Totals,
}

/// What a draw, or the nominal figures, give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Joules of the run in the device.
    pub joules: f64,
    /// Joules at the plug.
    pub plug: f64,
    /// Of these, joules for accesses to memory.
    pub memory: f64,
    /// Joules on the link to the host.
    pub link: f64,
    /// Joules at the plug for each joule in the device.
    pub cooled: f64,
    /// The duration of the run in seconds, if something says it.
    pub seconds: Option<f64>,
}

/// A figure, and what a bill would be with it at each end of its range.
#[derive(Clone, Debug, PartialEq)]
pub struct Swing {
    /// The figure.
    pub figure: Figure,
    /// Joules at the plug with the figure at its low end, and all others nominal.
    pub low: f64,
    /// The same at its high end.
    pub high: f64,
}

/// How the figures behind each subject and cause of a bill are known: the weakest status among those that it depends on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Basis(BTreeMap<(Subject, Cause), Status>);

impl Basis {
    /// Of a subject and a cause; [`Status::Measured`] if it depends on no figure of the technology, such as kT ln 2.
    pub fn of(&self, subject: Subject, cause: Cause) -> Status {
        self.0.get(&(subject, cause)).copied().unwrap_or(Status::Measured)
    }

    /// The status of a sum: the weakest one that, with those that are weaker, is behind at least half of it. `None` if it is zero.
    pub fn of_sum(&self, parts: impl IntoIterator<Item = (Subject, Joules)>) -> Option<Status> {
        let mut shares = [0.0; Status::ALL.len()];
        for (subject, joules) in parts {
            for cause in Cause::ALL {
                shares[self.of(subject, cause) as usize] += joules[cause];
            }
        }
        let whole: f64 = shares.iter().sum();
        let mut sum = 0.0;
        Status::ALL.into_iter().rev().find(|status| {
            sum += shares[*status as usize];
            whole > 0.0 && sum >= 0.5 * whole
        })
    }
}

impl Uncertain<'_> {
    fn outcome(&self, technology: &Technology) -> Result<Outcome, PriceError> {
        let device = Device::for_run(technology, self.conditions, self.totals)?;
        let total = device.total(self.totals);
        let (joules, link) = (total.total(), total[Cause::Link]);
        let uses: u64 = self.totals.work.uses().filter(|(unit, _)| *unit == CircuitKind::Memory).map(|(_, n)| n).sum();
        let memory = device.unit(CircuitKind::Memory).total() * uses as f64 * device.plug();
        Ok(Outcome {
            joules,
            plug: joules * device.plug(),
            memory,
            link,
            cooled: device.plug(),
            seconds: device.seconds(self.totals),
        })
    }

    /// The run with the nominal figures.
    ///
    /// # Errors
    /// If the technology cannot be priced under the conditions.
    pub fn nominal(&self) -> Result<Outcome, PriceError> {
        self.outcome(self.technology)
    }

    /// The draws. A draw with which the technology cannot be priced, such as a threshold above the voltage that is asked for, is the nominal one.
    ///
    /// # Errors
    /// If the technology cannot be priced under the conditions.
    pub fn draws(&self) -> Result<Vec<Outcome>, PriceError> {
        let _span = tracing::debug_span!("draws", technology = self.technology.name()).entered();
        let nominal = self.nominal()?;
        if !self.technology.figures().iter().any(Figure::is_uncertain) {
            return Ok(vec![nominal; DRAWS]);
        }
        Ok(drawn(self.technology).iter().map(|technology| self.outcome(technology).unwrap_or(nominal)).collect())
    }

    /// The figures with a range, the one that changes the bill most first. Figures that change nothing are left out.
    ///
    /// # Errors
    /// If the technology cannot be priced under the conditions.
    pub fn tornado(&self) -> Result<Vec<Swing>, PriceError> {
        let nominal = self.nominal()?.plug;
        let mut out = Vec::new();
        for figure in self.technology.figures().into_iter().filter(Figure::is_uncertain) {
            let at = |end: f64| {
                let value = |key: &str, nominal: f64| if key == figure.key { end } else { nominal };
                let changed = self.technology.with_figures(&value).ok();
                changed.and_then(|technology| self.outcome(&technology).ok()).map_or(nominal, |outcome| outcome.plug)
            };
            let (low, high) = (at(figure.low), at(figure.high));
            if (high - low).abs() > 1e-9 * nominal {
                out.push(Swing { figure, low, high });
            }
        }
        let swing = |s: &Swing| (s.high - s.low).abs();
        out.sort_by(|a, b| swing(b).total_cmp(&swing(a)).then_with(|| a.figure.key.cmp(&b.figure.key)));
        Ok(out)
    }

    /// How the figures behind the parts of the bill are known.
    ///
    /// # Errors
    /// If the technology cannot be priced under the conditions.
    pub fn basis(&self) -> Result<Basis, PriceError> {
        let device = Device::for_run(self.technology, self.conditions, self.totals)?;
        // Figures change the bill at the frequency that it is for, not the frequency as well.
        let conditions = match self.technology.energy().is_some_and(|e| e.logic.is_clocked_at_will()) {
            true => Conditions { hertz: device.hertz(), ..self.conditions },
            false => self.conditions,
        };
        let nominal = device.by_subject(self.totals);
        let mut out = Basis::default();
        for figure in self.technology.figures() {
            let at = |factor: f64| {
                let value = |key: &str, nominal: f64| if key == figure.key { nominal * factor } else { nominal };
                let technology = self.technology.with_figures(&value).ok()?;
                let device = Device::for_run(&technology, conditions, self.totals).ok()?;
                Some(device.by_subject(self.totals))
            };
            // One of the two may be out of what the figure allows.
            let Some(changed) = at(1.0 + CHANGE).or_else(|| at(1.0 - CHANGE)) else { continue };
            for (subject, joules) in &nominal {
                let other = changed.get(subject).copied().unwrap_or_default();
                for cause in Cause::ALL {
                    if (other[cause] - joules[cause]).abs() >= BEHIND * CHANGE * joules[cause] && joules[cause] > 0.0 {
                        let status = out.0.entry((*subject, cause)).or_insert(Status::Measured);
                        *status = (*status).max(figure.status);
                    }
                }
            }
        }
        Ok(out)
    }
}

/// The range of the ratios of two series of draws.
pub fn ratio(of: &[Outcome], to: &[Outcome], pick: impl Fn(&Outcome) -> f64) -> Range {
    Range::of(of.iter().zip(to).map(|(a, b)| pick(a) / pick(b)).filter(|r| r.is_finite()).collect())
}

/// The technologies of all draws, in their order; where a draw is out of what a figure allows, the nominal one.
pub(crate) fn drawn(technology: &Technology) -> Vec<Technology> {
    let figures: BTreeMap<String, (Figure, Vec<f64>)> = technology
        .figures()
        .into_iter()
        .filter(Figure::is_uncertain)
        .map(|figure| (figure.key.clone(), (figure.clone(), strata(&identity(&figure)))))
        .collect();
    let draw = |n: usize| {
        let value =
            |key: &str, nominal: f64| figures.get(key).map_or(nominal, |(figure, strata)| figure.quantile(strata[n]));
        technology.with_figures(&value).unwrap_or_else(|_| technology.clone())
    };
    (0..DRAWS).map(draw).collect()
}

/// What two technologies must have in common to share a figure: its key, its value and its range.
fn identity(figure: &Figure) -> String {
    format!("{} {:e} {:e} {:e}", figure.key, figure.low, figure.nominal, figure.high)
}

/// The middles of [`DRAWS`] strata of the unit interval, in an order that depends on the key.
fn strata(key: &str) -> Vec<f64> {
    // FNV-1a (Fowler, Noll, Vo) of the key seeds SplitMix64 (Steele, Lea and Flood 2014).
    let seed =
        key.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3));
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let a = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let b = (a ^ (a >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        b ^ (b >> 31)
    };
    let mut order: Vec<usize> = (0..DRAWS).collect();
    for n in (1..DRAWS).rev() {
        order.swap(n, (next() % (n as u64 + 1)) as usize);
    }
    order.into_iter().map(|n| (n as f64 + 0.5) / DRAWS as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strata_are_a_permutation_that_depends_on_the_key() {
        let mut sorted = strata("link.joule_per_bit");
        assert_ne!(sorted, strata("memory.scale"));
        assert_eq!(sorted, strata("link.joule_per_bit"));
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.iter().enumerate().all(|(n, u)| *u == (n as f64 + 0.5) / DRAWS as f64));
    }

    #[test]
    fn ranges_are_percentiles() {
        let range = Range::of((0..=100).rev().map(f64::from).collect());
        assert_eq!((range.low, range.high), (5.0, 95.0));
        assert!(!Range::of(vec![2.0; 7]).is_wide());
    }
}
