//! What is priced: a run that was measured, and the conditions of a sweep.

use anyhow::Context;
use pendula::hw_model::breakeven::SpanEffects;
use pendula::hw_model::price::{Activity, Conditions, Device, Dirty, Totals};
use pendula::hw_model::{Logic, Technology};

use crate::cli::args::End;

/// The maximum number of points of a sweep.
const POINTS: usize = 10_000;

/// The observations of a program's runs.
pub(crate) struct MeasuredRun {
    pub(crate) activities: Vec<Activity>,
    /// The words that the run forward changed: the state that a step hands to the next.
    pub(crate) state: Dirty,
    /// Gradient words of inputs that were not asked for.
    pub(crate) gradient_words_left: u64,
    /// What each of the module's spans left behind.
    pub(crate) leaves: Vec<SpanEffects>,
    /// Words that are left neither zero nor as they were.
    pub(crate) left: Dirty,
    /// What becomes of them.
    pub(crate) end: End,
    /// Whether the contents of words were followed to the end of the run; if not, all that were written count as left.
    pub(crate) followed: bool,
    /// Bits in a word.
    pub(crate) width: u64,
    /// The words of memory that the run touches.
    pub(crate) touched: u64,
    /// Whether these are all.
    pub(crate) complete: bool,
    /// The words of memory that are billed.
    pub(crate) billed: u64,
}

/// A range of frequencies or voltages.
pub(crate) struct Sweep {
    pub(crate) voltage: bool,
    pub(crate) values: Vec<f64>,
}

/// The result of a sweep: for each technology, its name and the energy in joules at each point; `None` where it does
/// not support the voltage.
pub(crate) type Swept = Vec<(String, Vec<Option<f64>>)>;

impl Sweep {
    /// Parses `frequency=1e5..1e9:41` (points at equal ratios) or `voltage=0.4..1:13` (points at equal distances).
    pub(crate) fn parse(text: &str) -> anyhow::Result<Sweep> {
        let form = || format!("--sweep {text}: the form is `frequency=1e5..1e9:41` or `voltage=0.4..1:13`");
        let (what, range) = text.split_once('=').with_context(form)?;
        let voltage = match what.trim() {
            "frequency" => false,
            "voltage" => true,
            other => anyhow::bail!("--sweep goes over `frequency` or `voltage`, and not `{other}`"),
        };
        let (low, rest) = range.split_once("..").with_context(form)?;
        let (high, points) = rest.split_once(':').with_context(form)?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| (1e-3..=1e18).contains(x));
        let (low, high) = (number(low).with_context(form)?, number(high).with_context(form)?);
        let points: usize = points.trim().parse().with_context(form)?;
        anyhow::ensure!(low < high, "--sweep {text}: the range must rise");
        anyhow::ensure!((2..=POINTS).contains(&points), "--sweep {text}: from 2 to {POINTS} points");
        let at = |n: usize| {
            let part = n as f64 / (points - 1) as f64;
            if voltage { low + (high - low) * part } else { low * (high / low).powf(part) }
        };
        Ok(Sweep { voltage, values: (0..points).map(at).collect() })
    }

    /// The energies of these technologies at each point.
    pub(crate) fn run(
        &self,
        technologies: &[Technology],
        conditions: Conditions,
        totals: &Totals,
    ) -> anyhow::Result<Swept> {
        let applies = |t: &&Technology| match t.energy().map(|e| &e.logic) {
            Some(Logic::Ramped(ramped)) => !self.voltage || ramped.physics.scaling.is_some(),
            Some(Logic::Junctions(_)) => !self.voltage,
            Some(Logic::Ideal | Logic::Static(_) | Logic::Cells(_)) | None => false,
        };
        let what = if self.voltage { "voltage" } else { "frequency" };
        let swept: Vec<&Technology> = technologies.iter().filter(applies).collect();
        anyhow::ensure!(!swept.is_empty(), "--sweep: the costs of these technologies do not depend on the {what}");
        Ok(swept
            .into_iter()
            .map(|technology| {
                let price = |value: &f64| {
                    let conditions = if self.voltage {
                        Conditions { volt: Some(*value), ..conditions }
                    } else {
                        Conditions { hertz: Some(*value), ..fitting(technology, conditions, true) }
                    };
                    Device::for_run(technology, conditions, totals).ok().map(|d| d.total(totals).total() * d.plug())
                };
                (technology.name().to_string(), self.values.iter().map(price).collect())
            })
            .collect())
    }
}

/// The conditions that a technology supports. If there are several technologies, unsupported frequencies or voltages
/// are ignored.
pub(crate) fn fitting(technology: &Technology, asked: Conditions, several: bool) -> Conditions {
    let mut out = asked;
    if let (Some(energy), true) = (technology.energy(), several) {
        match energy.logic {
            Logic::Ideal => (out.hertz, out.volt) = (None, None),
            Logic::Static(_) | Logic::Cells(_) => (out.hertz, out.volt, out.kelvin) = (None, None, None),
            Logic::Junctions(_) => (out.volt, out.kelvin) = (None, None),
            Logic::Ramped(ramped) if ramped.physics.scaling.is_none() => (out.volt, out.kelvin) = (None, None),
            Logic::Ramped(_) => {}
        }
    }
    out
}
