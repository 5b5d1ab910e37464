//! Energy against frequency.

use super::canvas::{Canvas, GREY, INK, Pen, Point, render};
use super::chart::{Axis, Curve, Frame, Labels, Legend, LegendKey, MARK};
use super::{Swept, bounds, cooling, curve, entry, explain, nothing, style};
use crate::price::{Cause, Joules, PriceError};
use crate::technology::Status;
use crate::units::si;

/// The quantity that is plotted against frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole run, with traffic and erasures.
    Run,
    /// The operations alone.
    Operations,
}

impl Scope {
    fn of(self, joules: Joules) -> f64 {
        match self {
            Scope::Run => joules.total(),
            Scope::Operations => joules.total() - fixed(joules),
        }
    }

    fn title(self) -> &'static str {
        match self {
            Scope::Run => "Energy of the run",
            Scope::Operations => "Energy of the operations",
        }
    }
}

/// The part that does not depend on the frequency and does not belong to operations.
fn fixed(joules: Joules) -> f64 {
    joules[Cause::Link] + joules[Cause::Erasure]
}

/// The curves of one technology.
struct Curves {
    all: Curve,
    adiabatic: Curve,
    leakage: Curve,
    fixed: Option<f64>,
    /// Frequency, energy, and the energy of the adiabatic part.
    best: Option<(f64, f64, f64)>,
}

const ADIABATIC: &[f64] = &[7.0, 4.0];
const LEAKAGE: &[f64] = &[1.6, 3.2];
const FIXED: &[f64] = &[12.0, 3.0, 1.6, 3.0];

/// Plots energy in joules against frequency in hertz, both on logarithmic axes, from one frequency to another: a curve
/// for each technology, level if the energy does not depend on the frequency. For adiabatic CMOS the losses in ramps
/// and by leakage are shown separately, too, with slopes +1 and −1, and the optimum if it lies within the range.
/// Technologies that cost nothing are named without a curve. The cost of cooling is included.
///
/// # Errors
/// If a technology cannot be priced under its conditions.
pub fn energy_against_frequency(runs: &[Swept<'_>], hertz: (f64, f64), scope: Scope) -> Result<String, PriceError> {
    let mut all = Vec::new();
    for run in runs {
        let samples = run.samples(hertz)?;
        let pick = |of: &dyn Fn(Joules) -> f64| -> Curve {
            samples.iter().map(|(f, j)| (*f, of(*j))).filter(|(_, e)| *e > 0.0).collect()
        };
        let best = match run.best()?.filter(|best| !samples.is_empty() && (hertz.0..=hertz.1).contains(best)) {
            Some(best) => {
                let joules = run.price(best)?;
                Some((best, scope.of(joules), joules[Cause::Adiabatic])).filter(|(_, e, _)| *e > 0.0)
            }
            None => None,
        };
        let parts = run.best()?.is_some();
        let none = Curve::new;
        all.push(Curves {
            all: pick(&|j| scope.of(j)),
            adiabatic: if parts { pick(&|j| j[Cause::Adiabatic]) } else { none() },
            leakage: if parts { pick(&|j| j[Cause::Leakage]) } else { none() },
            fixed: samples.first().map(|(_, j)| fixed(*j)).filter(|e| *e > 0.0 && parts && scope == Scope::Run),
            best,
        });
    }
    Ok(plot(runs, &all, hertz, scope))
}

fn plot(runs: &[Swept<'_>], all: &[Curves], hertz: (f64, f64), scope: Scope) -> String {
    let values = all.iter().flat_map(|c| {
        let parts = c.best.map(|(_, _, part)| part / 1.5);
        c.all.iter().map(|(_, e)| *e).chain(parts).chain(c.fixed)
    });
    let Some((low, high)) = bounds(values) else { return nothing("nothing costs energy at these frequencies") };
    let mut legend = Legend::default();
    for (n, (run, curves)) in runs.iter().zip(all).enumerate() {
        entry(&mut legend, n, run, hertz, Pen::new(style(n).0, 2.2), curves.all.is_empty().then_some("0 J"));
    }
    if all.iter().any(|c| !c.adiabatic.is_empty()) {
        legend.add(LegendKey::None, "");
        legend.add(LegendKey::Line(Pen::dashed(INK, 1.1, ADIABATIC), None), "adiabatic part");
        legend.add(LegendKey::Line(Pen::dashed(INK, 1.4, LEAKAGE), None), "leakage part");
        if all.iter().any(|c| c.fixed.is_some()) {
            legend.add(LegendKey::Line(Pen::dashed(INK, 1.1, FIXED), None), "link and erasure");
        }
        if all.iter().any(|c| c.best.is_some()) {
            legend.add(LegendKey::Ring(Pen::new(INK, 1.5)), "optimum");
        }
    }
    explain(&mut legend, runs.iter().any(|run| run.status == Some(Status::Assumed)));
    let frame = Frame { x: Axis::new(hertz.0, hertz.1, 84.0, 604.0), y: Axis::whole(low, high, 440.0, 20.0) };
    render(604.0 + 24.0 + legend.width() + 12.0, f64::max(506.0, 30.0 + legend.height()), |canvas| {
        frame.draw(canvas, "Frequency (Hz)", &format!("{}{}", scope.title(), cooling(runs)));
        draw(canvas, all, &frame);
        legend.draw(canvas, (628.0, 20.0));
    })
}

fn draw(canvas: &Canvas<'_>, all: &[Curves], frame: &Frame) {
    let mut labels = Labels::new(frame);
    let mut thin = |curve: &[(f64, f64)], pen: Pen| -> Vec<Vec<Point>> {
        let pieces = frame.clip(curve);
        for piece in &pieces {
            canvas.line(piece, pen);
            labels.avoid(piece, 1.0);
        }
        pieces
    };
    // Places where slopes may be written: along the parts, away from the optimum.
    let mut slopes: [Vec<Vec<Point>>; 2] = Default::default();
    for (n, curves) in all.iter().enumerate() {
        let (colour, _) = style(n);
        let rising = thin(&curves.adiabatic, Pen::dashed(colour, 1.1, ADIABATIC));
        let falling = thin(&curves.leakage, Pen::dashed(colour, 1.4, LEAKAGE));
        if let Some(fixed) = curves.fixed {
            let level: Curve = curves.all.iter().map(|(f, _)| (*f, fixed)).collect();
            thin(&level, Pen::dashed(colour, 1.1, FIXED));
        }
        if let Some((f, _, part)) = curves.best {
            let best = frame.at((f, part));
            let ends = [rising.first().and_then(|p| p.first()), falling.last().and_then(|p| p.last())];
            for (places, end) in slopes.iter_mut().zip(ends) {
                let along =
                    |part: f64, end: Point| (best.0 + part * (end.0 - best.0), best.1 + part * (end.1 - best.1));
                let parts = [0.55, 0.65, 0.45, 0.75, 0.35, 0.85, 0.95];
                places.push(end.map(|end| parts.map(|part| along(part, *end)).to_vec()).unwrap_or_default());
            }
        }
    }
    let mut thick: Vec<Point> = Vec::new();
    for (n, curves) in all.iter().enumerate() {
        let pieces = frame.clip(&curves.all);
        pieces.iter().for_each(|piece| labels.avoid(piece, 5.0));
        thick.extend(pieces.iter().flatten());
        let best = curves.best.map(|(f, e, _)| frame.at((f, e)));
        for mark in curve(canvas, &pieces, n, Pen::new(style(n).0, 2.2), best) {
            labels.avoid_mark(mark, MARK + 2.0);
        }
    }
    let mut optima = Vec::new();
    for (n, curves) in all.iter().enumerate() {
        if let Some((f, e, _)) = curves.best {
            let (at, (colour, _)) = (frame.at((f, e)), style(n));
            canvas.mark(super::Mark::Disc, at, 3.4, colour);
            canvas.ring(at, 7.0, Pen::new(INK, 1.5));
            labels.avoid_mark(at, 8.0);
            optima.push((at, format!("{} at {}", si(e, "J"), si(f, "Hz"))));
        }
    }
    for (at, text) in optima {
        labels.write(canvas, &text, at, 8.0, INK);
    }
    for (text, places) in ["slope +1", "slope −1"].into_iter().zip(slopes) {
        // Of the first technology that has a visible part which does not coincide with another curve.
        let apart = |p: &Point| thick.iter().all(|t| (t.0 - p.0).hypot(t.1 - p.1) > 9.0);
        let mut shown = places.into_iter().map(|of| of.into_iter().filter(apart).collect::<Vec<Point>>());
        if let Some(places) = shown.find(|places| !places.is_empty()) {
            labels.write_at_one(canvas, text, &places, 2.0, GREY);
        }
    }
}
