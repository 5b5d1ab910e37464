//! What a change of a program saves, against a parameter.

use plotters::style::text_anchor::{HPos, VPos};

use super::canvas::{GREY, INK, PALE, Pen, Point, TEXT, render};
use super::chart::{Legend, LegendKey, MARK};
use super::{nothing, style};

/// The curve of a technology.
#[derive(Clone, Debug)]
pub struct Gain {
    /// The technology.
    pub name: String,
    /// Values of the parameter, and the change in per cent there: negative if energy is saved.
    pub points: Vec<(f64, f64)>,
}

/// Values between two others that have few digits, about as many as asked for.
fn ticks(low: f64, high: f64, count: f64) -> Vec<f64> {
    let raw = (high - low) / count;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|s| *s >= raw).unwrap_or(raw);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last).map(|n| n as f64 * step).collect()
}

/// A number without digits that say nothing.
fn short(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Plots the change of an energy in per cent against a parameter: a curve for each technology. The parameter's axis is logarithmic if `log`.
pub fn gains(all: &[Gain], parameter: &str, log: bool) -> String {
    let points = || all.iter().flat_map(|g| &g.points).filter(|(x, y)| x.is_finite() && y.is_finite());
    let ends = |pick: fn(&(f64, f64)) -> f64| {
        points().map(pick).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)))
    };
    let ((left, right), (low, high)) = (ends(|p| p.0), ends(|p| p.1));
    if left >= right {
        return nothing("nothing costs energy for these values");
    }
    // Zero is always there: what is above it is lost.
    let (low, high) = (low.min(0.0), high.max(0.0));
    let margin = (high - low).max(1e-9) * 0.06;
    let (low, high) = (low - margin, high + margin);
    let scale = |x: f64| if log { x.log10() } else { x };
    let at = |(x, y): (f64, f64)| -> Point {
        let along = (scale(x) - scale(left)) / (scale(right) - scale(left));
        (84.0 + 520.0 * along, 440.0 - 420.0 * (y - low) / (high - low))
    };
    let mut legend = Legend::default();
    for (n, gain) in all.iter().enumerate() {
        legend.add(LegendKey::Line(Pen::new(style(n).0, 2.2), Some(style(n).1)), gain.name.clone());
    }
    render(628.0 + legend.width() + 12.0, f64::max(506.0, 30.0 + legend.height()), |canvas| {
        for y in ticks(low, high, 8.0) {
            let (_, place) = at((left, y));
            canvas.line(&[(84.0, place), (604.0, place)], Pen::new(if y == 0.0 { GREY } else { PALE }, 0.8));
            canvas.text(&short(y), (76.0, place), TEXT, (HPos::Right, VPos::Center), INK);
        }
        let across: Vec<f64> = if log {
            let decades = (left.log10() - 1e-9).ceil() as i32..=(right.log10() + 1e-9).floor() as i32;
            decades.map(|n| 10f64.powi(n)).collect()
        } else {
            ticks(left, right, 8.0)
        };
        for x in across {
            let (place, _) = at((x, low));
            canvas.line(&[(place, 20.0), (place, 440.0)], Pen::new(PALE, 0.8));
            if log {
                canvas.power(x.log10().round() as i32, (place, 458.0), true);
            } else {
                canvas.text(&short(x), (place, 458.0), TEXT, (HPos::Center, VPos::Center), INK);
            }
        }
        canvas.line(&[(84.0, 20.0), (604.0, 20.0), (604.0, 440.0), (84.0, 440.0), (84.0, 20.0)], Pen::new(INK, 1.0));
        canvas.text(parameter, (344.0, 488.0), TEXT, (HPos::Center, VPos::Center), INK);
        canvas.upward("Change of the energy at the plug (%)", (24.0, 230.0), TEXT);
        for (n, gain) in all.iter().enumerate() {
            let (colour, mark) = style(n);
            let line: Vec<Point> = gain.points.iter().map(|p| at(*p)).collect();
            canvas.line(&line, Pen::new(colour, 2.2));
            line.iter().for_each(|point| canvas.mark(mark, *point, MARK, colour));
        }
        legend.draw(canvas, (628.0, 20.0));
    })
}
