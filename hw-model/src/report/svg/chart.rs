//! Charts on two logarithmic axes: the frame, lines within it, labels that avoid them, and the legend beside it.

use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{RGBColor, WHITE};

use super::canvas::{Canvas, GREY, Hatch, INK, Mark, PALE, Pen, Point, TEXT, text_width};

/// Samples of a curve, in the units of the axes.
pub(super) type Curve = Vec<(f64, f64)>;

/// A logarithmic axis.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    /// Logarithms to base 10 of the ends.
    low: f64,
    high: f64,
    /// The positions of the ends, in pixels.
    from: f64,
    to: f64,
}

impl Axis {
    /// From one value to another, widened to powers of ten if it would show fewer than two.
    pub(super) fn new(low: f64, high: f64, from: f64, to: f64) -> Axis {
        let axis = Axis { low: low.log10(), high: high.log10(), from, to };
        if axis.decades().count() >= 2 { axis } else { Axis::whole(low, high, from, to) }
    }

    /// From one power of ten to another, enclosing two values.
    pub(super) fn whole(low: f64, high: f64, from: f64, to: f64) -> Axis {
        let (low, mut high) = ((low.log10() + 1e-9).floor(), (high.log10() - 1e-9).ceil());
        if high <= low {
            high = low + 1.0;
        }
        Axis { low, high, from, to }
    }

    /// The position of a value.
    pub(super) fn at(&self, value: f64) -> f64 {
        self.from + (value.log10() - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// The exponents of the powers of ten on the axis.
    fn decades(&self) -> std::ops::RangeInclusive<i32> {
        (self.low - 1e-9).ceil() as i32..=(self.high + 1e-9).floor() as i32
    }

    /// The number of powers of ten between labels that are at least so many pixels apart.
    fn step(&self, apart: f64) -> i32 {
        let decade = (self.to - self.from).abs() / (self.high - self.low);
        [1, 2, 3, 5, 10].into_iter().find(|n| decade * f64::from(*n) >= apart).unwrap_or(20)
    }

    /// Draws the grid and the labels of an upward axis, from one side of the chart to the other.
    pub(super) fn draw_upward(&self, canvas: &Canvas<'_>, left: f64, right: f64) {
        let step = self.step(26.0);
        for decade in self.decades() {
            let y = self.at(10f64.powi(decade));
            canvas.line(&[(left, y), (right, y)], Pen::new(PALE, 0.8));
            canvas.line(&[(left, y), (left + 6.0, y)], Pen::new(INK, 1.0));
            if decade.rem_euclid(step) == 0 {
                canvas.power(decade, (left - 8.0, y), false);
            }
        }
    }

    /// The positions of the values between powers of ten.
    fn between(&self) -> Vec<f64> {
        let (first, last) = (self.low.floor() as i32, self.high.ceil() as i32);
        let values = (first..last).flat_map(|d| (2..10).map(move |m| f64::from(m) * 10f64.powi(d)));
        let inside = |v: &f64| (self.low..=self.high).contains(&v.log10());
        values.filter(inside).map(|v| self.at(v)).collect()
    }
}

/// A chart's frame.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) x: Axis,
    pub(super) y: Axis,
}

impl Frame {
    /// The position of a point.
    pub(super) fn at(&self, (x, y): (f64, f64)) -> Point {
        (self.x.at(x), self.y.at(y))
    }

    /// Draws grid, ticks and titles.
    pub(super) fn draw(&self, canvas: &Canvas<'_>, x_title: &str, y_title: &str) {
        let (left, right, top, bottom) = (self.x.from, self.x.to, self.y.to, self.y.from);
        let (grid, tick) = (Pen::new(PALE, 0.8), Pen::new(INK, 1.0));
        let (step, half) = (self.x.step(44.0), TEXT / 2.0);
        for decade in self.x.decades() {
            let x = self.x.at(10f64.powi(decade));
            canvas.line(&[(x, top), (x, bottom)], grid);
            canvas.line(&[(x, bottom), (x, bottom - 6.0)], tick);
            if decade.rem_euclid(step) == 0 {
                canvas.power(decade, (x, bottom + 10.0 + half), true);
            }
        }
        self.y.draw_upward(canvas, left, right);
        let fine = Pen::new(INK, 0.6);
        if self.x.step(20.0) == 1 {
            self.x.between().iter().for_each(|x| canvas.line(&[(*x, bottom), (*x, bottom - 3.0)], fine));
        }
        if self.y.step(20.0) == 1 {
            self.y.between().iter().for_each(|y| canvas.line(&[(left, *y), (left + 3.0, *y)], fine));
        }
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
        canvas.line(&corners, Pen::new(INK, 1.0));
        let middle = ((left + right) / 2.0, (top + bottom) / 2.0);
        canvas.text(x_title, (middle.0, bottom + 46.0), TEXT + 2.0, (HPos::Center, VPos::Center), INK);
        canvas.upward(y_title, (left - 58.0, middle.1), TEXT + 2.0);
    }

    /// A curve's pieces within the frame, in pixels.
    pub(super) fn clip(&self, curve: &[(f64, f64)]) -> Vec<Vec<Point>> {
        let mut out: Vec<Vec<Point>> = Vec::new();
        let mut open: Option<Point> = None;
        for pair in curve.windows(2) {
            let Some((from, to)) = self.segment(self.at(pair[0]), self.at(pair[1])) else { continue };
            match out.last_mut() {
                Some(piece) if open == Some(from) => piece.push(to),
                _ => out.push(vec![from, to]),
            }
            open = Some(to);
        }
        out
    }

    /// The part of a line that lies within the frame (Liang and Barsky 1984).
    fn segment(&self, a: Point, b: Point) -> Option<(Point, Point)> {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let (mut enter, mut leave) = (0f64, 1f64);
        for (p, q) in [(-dx, a.0 - self.x.from), (dx, self.x.to - a.0), (-dy, a.1 - self.y.to), (dy, self.y.from - a.1)]
        {
            if p == 0.0 {
                if q < 0.0 {
                    return None;
                }
            } else if p < 0.0 {
                enter = enter.max(q / p);
            } else {
                leave = leave.min(q / p);
            }
        }
        let at = |t: f64| {
            if t == 0.0 {
                a
            } else if t == 1.0 {
                b
            } else {
                (a.0 + t * dx, a.1 + t * dy)
            }
        };
        (enter < leave).then(|| (at(enter), at(leave)))
    }
}

/// A rectangle, as its upper left and lower right corners.
type Area = (Point, Point);

/// Finds space for labels.
pub(super) struct Labels {
    frame: Area,
    /// Points to avoid, with weights.
    points: Vec<(Point, f64)>,
    taken: Vec<Area>,
}

impl Labels {
    pub(super) fn new(frame: &Frame) -> Labels {
        let inside = ((frame.x.from + 3.0, frame.y.to + 3.0), (frame.x.to - 3.0, frame.y.from - 7.0));
        Labels { frame: inside, points: Vec::new(), taken: Vec::new() }
    }

    /// Avoids a line, with a weight.
    pub(super) fn avoid(&mut self, line: &[Point], weight: f64) {
        for pair in line.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let n = ((to.0 - from.0).hypot(to.1 - from.1) / 3.0).ceil().max(1.0);
            for i in 0..=n as usize {
                let part = i as f64 / n;
                let point = (from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1));
                self.points.push((point, weight));
            }
        }
    }

    /// Avoids a mark.
    pub(super) fn avoid_mark(&mut self, (x, y): Point, radius: f64) {
        self.taken.push(((x - radius, y - radius), (x + radius, y + radius)));
    }

    /// Writes a text as close to a mark as space permits.
    pub(super) fn write(&mut self, canvas: &Canvas<'_>, text: &str, at: Point, radius: f64, colour: RGBColor) {
        self.write_at_one(canvas, text, &[at], radius, colour);
    }

    /// Writes a text at one of several marks, where there is most space; the first ones are preferred.
    pub(super) fn write_at_one(
        &mut self,
        canvas: &Canvas<'_>,
        text: &str,
        marks: &[Point],
        radius: f64,
        colour: RGBColor,
    ) {
        const SIZE: f64 = 12.0;
        let (w, h) = (text_width(text, SIZE), SIZE * 1.2);
        let mut best: Option<(f64, Point, Area)> = None;
        for (n, mark) in marks.iter().enumerate() {
            for (rank, corner) in corners(*mark, radius, w, h) {
                let area = (corner, (corner.0 + w, corner.1 + h));
                let score = self.score(*mark, radius, area) + rank + n as f64;
                if best.is_none_or(|(least, ..)| score < least) {
                    best = Some((score, *mark, area));
                }
            }
        }
        let Some((_, (x, y), ((left, top), far))) = best else { return };
        if self.points.iter().any(|(p, _)| within(*p, (left, top), far)) {
            canvas.rectangle((left - 1.0, top), (far.0 + 1.0, far.1), WHITE);
        }
        // The text may be narrower than the space for it.
        let (at, anchor) = if far.0 <= x {
            (far.0, HPos::Right)
        } else if left >= x {
            (left, HPos::Left)
        } else {
            (left + w / 2.0, HPos::Center)
        };
        canvas.text(text, (at, top + h / 2.0), SIZE, (anchor, VPos::Center), colour);
        if let Some((from, to)) = leader((x, y), radius, ((left, top), far)) {
            canvas.line(&[from, to], Pen::new(GREY, 0.8));
            self.avoid(&[from, to], 1.0);
        }
        self.taken.push(((left, top), far));
    }

    /// A score for the place of a label; lower is better.
    fn score(&self, mark: Point, radius: f64, area: Area) -> f64 {
        let (corner, far) = area;
        let ((left, top), (right, bottom)) = self.frame;
        let outside = corner.0 < left || corner.1 < top || far.0 > right || far.1 > bottom;
        let hits: f64 = self.points.iter().filter(|(p, _)| within(*p, corner, far)).map(|(_, weight)| weight).sum();
        let overlaps = self.taken.iter().filter(|t| overlap(**t, area)).count();
        let crossed = leader(mark, radius, area).map_or(0, |(from, to)| {
            let point = |i: u8| {
                let part = f64::from(i) / 8.0;
                (from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1))
            };
            let hit = |t: &Area| (1..8).any(|i| overlap(*t, (point(i), point(i))));
            self.taken.iter().filter(|t| hit(t)).count()
        });
        f64::from(u8::from(outside)) * 1e6 + overlaps as f64 * 4000.0 + crossed as f64 * 800.0 + hits * 10.0
    }
}

/// Places about a mark for a label of some width and height, as upper left corners with a penalty that grows with the
/// distance.
fn corners((x, y): Point, radius: f64, w: f64, h: f64) -> impl Iterator<Item = (f64, Point)> {
    [3.0, 9.0, 16.0, 25.0, 36.0, 50.0].into_iter().enumerate().flat_map(move |(ring, away)| {
        let d = radius + away;
        let slant = d * 0.75;
        // Right, left, below, above, and between them.
        let places = [
            (x + d, y - h / 2.0),
            (x - d - w, y - h / 2.0),
            (x - w / 2.0, y + d),
            (x - w / 2.0, y - d - h),
            (x + slant, y + slant),
            (x + slant, y - slant - h),
            (x - slant - w, y + slant),
            (x - slant - w, y - slant - h),
        ];
        places.into_iter().enumerate().map(move |(n, place)| (ring as f64 * 4.0 + n as f64 * 0.1, place))
    })
}

/// The line from a mark to its label, if they are far apart.
fn leader((x, y): Point, radius: f64, (from, to): Area) -> Option<(Point, Point)> {
    let near = (x.clamp(from.0 - 2.0, to.0 + 2.0), y.clamp(from.1, to.1));
    let distance = (near.0 - x).hypot(near.1 - y);
    let part = radius / distance;
    (distance > radius + 10.0).then_some(((x + part * (near.0 - x), y + part * (near.1 - y)), near))
}

fn within((x, y): Point, from: Point, to: Point) -> bool {
    const ROOM: f64 = 2.0;
    x > from.0 - ROOM && x < to.0 + ROOM && y > from.1 - ROOM && y < to.1 + ROOM
}

fn overlap(a: Area, b: Area) -> bool {
    a.0.0 < b.1.0 && b.0.0 < a.1.0 && a.0.1 < b.1.1 && b.0.1 < a.1.1
}

/// The symbol before a legend entry.
pub(super) enum LegendKey {
    Line(Pen, Option<Mark>),
    Mark(Mark, f64, RGBColor),
    Ring(Pen),
    Fill(RGBColor, Hatch),
    /// A heading.
    None,
}

/// The entries of a legend beside a chart.
#[derive(Default)]
pub(super) struct Legend(Vec<(LegendKey, String)>);

/// The space before an entry's text, in pixels.
const KEY: f64 = 40.0;
/// The height of an entry, in pixels.
const ROW: f64 = 22.0;

impl Legend {
    pub(super) fn add(&mut self, key: LegendKey, text: impl Into<String>) {
        self.0.push((key, text.into()));
    }

    /// The width in pixels.
    pub(super) fn width(&self) -> f64 {
        let width = |(key, text): &(LegendKey, String)| {
            text_width(text, TEXT) + if matches!(key, LegendKey::None) { 0.0 } else { KEY }
        };
        self.0.iter().map(width).fold(0.0, f64::max)
    }

    /// The height in pixels.
    pub(super) fn height(&self) -> f64 {
        self.0.len() as f64 * ROW
    }

    pub(super) fn draw(&self, canvas: &Canvas<'_>, (left, top): Point) {
        for (n, (key, text)) in self.0.iter().enumerate() {
            let y = top + (n as f64 + 0.5) * ROW;
            let middle = (left + KEY / 2.0 - 4.0, y);
            let mut indent = KEY;
            match key {
                LegendKey::Line(pen, mark) => {
                    canvas.line(&[(left, y), (left + KEY - 8.0, y)], *pen);
                    if let Some(mark) = mark {
                        canvas.mark(*mark, middle, MARK, pen.colour);
                    }
                }
                LegendKey::Mark(mark, radius, colour) => canvas.mark(*mark, middle, *radius, *colour),
                LegendKey::Ring(pen) => canvas.ring(middle, 7.0, *pen),
                LegendKey::Fill(colour, hatch) => {
                    canvas.hatched((left + 4.0, y - 7.0), (left + KEY - 10.0, y + 7.0), *colour, *hatch);
                }
                LegendKey::None => indent = 0.0,
            }
            let colour = if matches!(key, LegendKey::None) { GREY } else { INK };
            canvas.text(text, (left + indent, y), TEXT, (HPos::Left, VPos::Center), colour);
        }
    }
}

/// The radius of a curve's marks, in pixels.
pub(super) const MARK: f64 = 4.0;
