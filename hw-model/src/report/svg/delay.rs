//! Energy against run time.

use plotters::style::RGBColor;

use super::canvas::{Canvas, Pen, Point, render};
use super::chart::{Axis, Curve, Frame, Legend, LegendKey};
use super::{MARK, Swept, bounds, cooling, curve, entry, explain, nothing, style};
use crate::price::PriceError;
use crate::technology::Status;

/// The background of the Pareto front.
const FRONT: Pen = Pen::new(RGBColor(0xC4, 0xC4, 0xC4), 10.0);

/// Plots the energy of a run in joules against its time in seconds, both on logarithmic axes: a curve for each technology as its frequency goes
/// from one value in hertz to another, or a point if it has but one speed. The time is that of one operation after the other, by the depth of
/// their netlists. The Pareto front, where no other point is both as fast and as cheap, has a grey background.
///
/// The cost of cooling is included. A technology that says nothing of time has neither.
///
/// # Errors
/// If a technology cannot be priced under its conditions.
pub fn energy_delay(runs: &[Swept<'_>], hertz: (f64, f64)) -> Result<String, PriceError> {
    let mut curves: Vec<Curve> = Vec::new();
    for run in runs {
        let mut points = Curve::new();
        for (hertz, joules) in run.samples(hertz)? {
            let seconds = run.device(Some(hertz))?.seconds(run.totals).unwrap_or(0.0);
            let point = (seconds, joules.total());
            if point.0 > 0.0 && point.1 > 0.0 && points.last() != Some(&point) {
                points.push(point);
            }
        }
        curves.push(points);
    }
    let points = || curves.iter().flatten();
    let (Some(time), Some(energy)) = (bounds(points().map(|p| p.0)), bounds(points().map(|p| p.1))) else {
        return Ok(nothing("nothing takes time and energy at these frequencies"));
    };
    let mut legend = Legend::default();
    let pen = |n: usize| Pen::new(style(n).0, 2.2);
    for (n, (run, points)) in runs.iter().zip(&curves).enumerate() {
        entry(&mut legend, n, run, hertz, pen(n), points.is_empty().then_some("no time known"));
    }
    legend.add(LegendKey::None, "");
    legend.add(LegendKey::Line(FRONT, None), "Pareto front");
    explain(&mut legend, runs.iter().any(|run| run.status == Some(Status::Assumed)));
    let frame = Frame { x: Axis::new(time.0, time.1, 84.0, 604.0), y: Axis::whole(energy.0, energy.1, 440.0, 20.0) };
    Ok(render(604.0 + 24.0 + legend.width() + 12.0, f64::max(506.0, 30.0 + legend.height()), |canvas| {
        frame.draw(canvas, "Run time (s)", &format!("Energy of the run{}", cooling(runs)));
        let swept: Vec<&Curve> = curves.iter().collect();
        front(canvas, &swept, &frame);
        for (n, points) in curves.iter().enumerate() {
            match &points[..] {
                [point] => canvas.mark(style(n).1, frame.at(*point), MARK, style(n).0),
                _ => {
                    curve(canvas, &frame.clip(points), n, pen(n), None);
                }
            }
        }
        legend.draw(canvas, (628.0, 20.0));
    }))
}

/// Draws the background of the points for which no other is both as fast and as cheap.
fn front(canvas: &Canvas<'_>, curves: &[&Curve], frame: &Frame) {
    let mut order: Vec<(usize, usize)> =
        curves.iter().enumerate().flat_map(|(n, c)| (0..c.len()).map(move |i| (n, i))).collect();
    order.sort_by(|a, b| {
        let (p, q) = (curves[a.0][a.1], curves[b.0][b.1]);
        p.0.total_cmp(&q.0).then(p.1.total_cmp(&q.1))
    });
    let mut least = f64::INFINITY;
    let mut best: Vec<Vec<bool>> = curves.iter().map(|c| vec![false; c.len()]).collect();
    for (n, i) in order {
        if curves[n][i].1 < least {
            least = curves[n][i].1;
            best[n][i] = true;
        }
    }
    for (points, best) in curves.iter().zip(best) {
        let mut stretch: Vec<Point> = Vec::new();
        for (point, best) in points.iter().zip(best.iter().copied().chain([false])) {
            if best {
                stretch.push(frame.at(*point));
            } else {
                underlay(canvas, &std::mem::take(&mut stretch));
            }
        }
        underlay(canvas, &stretch);
    }
}

fn underlay(canvas: &Canvas<'_>, stretch: &[Point]) {
    canvas.line(stretch, FRONT);
    for end in stretch.first().into_iter().chain(stretch.last()) {
        canvas.mark_plain(*end, FRONT.width / 2.0, FRONT.colour);
    }
}
