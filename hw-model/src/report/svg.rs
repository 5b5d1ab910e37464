//! Plots as SVG, suitable for printing: energy against frequency, breakdowns, energy against run time, and time against
//! space of schedules.
//!
//! Curves differ in colours that colour-blind people can distinguish, and in marks or hatching, so that they also
//! differ in greyscale. Legends are beside the charts.

mod bars;
mod canvas;
mod chart;
mod delay;
mod energies;
mod frequency;
mod gains;
mod roles;
mod schedules;

use crate::price::{Conditions, Device, Joules, PriceError, Totals};
use crate::technology::{Status, Technology};

pub use bars::{breakdown_by_cause, breakdown_by_class, breakdown_by_part};
pub use delay::energy_delay;
pub use energies::energies;
pub use frequency::{Scope, energy_against_frequency};
pub use gains::{Gain, gains};
pub use roles::{RoleBar, roles};
pub use schedules::{Schedules, time_space_energy};

use canvas::{COLOURS, Canvas, GREY, INK, Mark, Pen, Point, TEXT};
use chart::{Legend, LegendKey, MARK};
use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};

/// Samples of a curve.
const SAMPLES: usize = 240;

/// A run on a technology with varying frequency.
#[derive(Clone, Copy, Debug)]
pub struct Swept<'a> {
    /// The technology.
    pub technology: &'a Technology,
    /// The conditions; their frequency is ignored.
    pub conditions: Conditions,
    /// What the run did.
    pub totals: &'a Totals,
    /// How most of the energy is known, if anything costs energy.
    pub status: Option<Status>,
}

impl<'a> Swept<'a> {
    /// The device at a frequency in hertz, or without one if its energy does not depend on it.
    fn device(&self, hertz: Option<f64>) -> Result<Device<'a>, PriceError> {
        let at = |hertz| Device::for_run(self.technology, Conditions { hertz, ..self.conditions }, self.totals);
        match at(hertz) {
            Err(PriceError::Frequency(_)) => at(None),
            device => device,
        }
    }

    /// The cost of the run in joules at a frequency in hertz, including cooling.
    fn price(&self, hertz: f64) -> Result<Joules, PriceError> {
        let device = self.device(Some(hertz))?;
        Ok(device.total(self.totals) * device.plug())
    }

    /// Energy in joules at frequencies in hertz that are spaced evenly by their logarithms.
    ///
    /// A ramp shorter than the time constant charges nothing, so the frequencies of adiabatic logic end there.
    fn samples(&self, (low, high): (f64, f64)) -> Result<Vec<(f64, Joules)>, PriceError> {
        let fastest = self.device(None)?.frequencies().map(|(_, highest)| highest);
        if !(low > 0.0 && high.is_finite()) {
            return Ok(Vec::new());
        }
        let high = fastest.map_or(high, |fastest| high.min(fastest));
        if high <= low {
            return Ok(Vec::new());
        }
        let at = |i: usize| low * (high / low).powf(i as f64 / (SAMPLES - 1) as f64);
        (0..SAMPLES).map(|i| Ok((at(i), self.price(at(i))?))).collect()
    }

    /// The frequency in hertz at which the run is cheapest; `None` unless the logic is adiabatic CMOS.
    fn best(&self) -> Result<Option<f64>, PriceError> {
        let device = self.device(None)?;
        Ok(device.physics().and(device.hertz()))
    }
}

/// The minimum and the maximum of the positive values.
fn bounds(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values
        .filter(|v| v.is_finite() && *v > 0.0)
        .fold(None, |b, v| b.map_or(Some((v, v)), |(low, high): (f64, f64)| Some((low.min(v), high.max(v)))))
}

/// A note for the energy axis if some devices are cooled.
fn cooling(runs: &[Swept<'_>]) -> &'static str {
    let cooled = |run: &Swept<'_>| run.technology.energy().is_some_and(|e| e.cooling > 0.0);
    if runs.iter().any(cooled) { ", with cooling (J)" } else { " (J)" }
}

/// Adds the legend entry of a technology. If it has no curve, it says why: because it is out of range, or for another reason.
fn entry(legend: &mut Legend, n: usize, run: &Swept<'_>, hertz: (f64, f64), pen: Pen, without: Option<&str>) {
    let name = run.technology.name();
    let Some(why) = without else {
        let name = marked(name, run.status == Some(Status::Assumed));
        legend.add(LegendKey::Line(pen, Some(style(n).1)), name);
        return;
    };
    if run.samples(hertz).is_ok_and(|s| s.is_empty()) {
        legend.add(LegendKey::None, format!("{name}: out of range"));
    } else {
        legend.add(LegendKey::None, format!("{name}: {why}"));
    }
}

/// What the mark of an assumed figure means.
const MARKED: &str = "* rests on assumed figures";

/// A text, with a mark if most of what it stands for rests on assumed figures.
fn marked(text: &str, assumed: bool) -> String {
    if assumed { format!("{text}*") } else { text.to_string() }
}

/// Adds the meaning of the mark to a legend, if something has it.
fn explain(legend: &mut Legend, assumed: bool) {
    if assumed {
        legend.add(LegendKey::None, "");
        legend.add(LegendKey::None, MARKED);
    }
}

/// Colour and mark of a curve.
fn style(n: usize) -> (RGBColor, Mark) {
    // The last colour is too pale for a line.
    let colour = if n % 8 == 7 { GREY } else { COLOURS[n % 8] };
    (colour, Mark::ALL[n % Mark::ALL.len()])
}

/// Draws a curve's pieces with a few marks, though not near a point that has to stay clear. Returns the places of the
/// marks.
fn curve(canvas: &Canvas<'_>, pieces: &[Vec<Point>], n: usize, pen: Pen, clear: Option<Point>) -> Vec<Point> {
    const APART: f64 = 84.0;
    let (colour, mark) = style(n);
    for piece in pieces {
        canvas.line(piece, pen);
    }
    let covered = |p: Point| clear.is_some_and(|c| (p.0 - c.0).hypot(p.1 - c.1) < 16.0);
    let mut marks = Vec::new();
    for piece in pieces {
        let mut left = 22.0 + (n as f64 * 31.0) % APART;
        for pair in piece.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            let mut at = left;
            while at <= length {
                let part = at / length;
                let point = (from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1));
                if !covered(point) {
                    canvas.mark(mark, point, MARK, colour);
                    marks.push(point);
                }
                at += APART;
            }
            left = at - length;
        }
    }
    marks
}

/// A sheet that says why there is nothing to plot.
fn nothing(why: &str) -> String {
    canvas::render(480.0, 120.0, |canvas| {
        canvas.text(why, (240.0, 60.0), TEXT, (HPos::Center, VPos::Center), INK);
    })
}
