//! The drawing surface of the plots: lines, marks and text on a white sheet, with plotters' SVG backend. The backend
//! has whole pixels, so everything is drawn ten times as large and shown at a tenth of the size.

use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::prelude::SVGBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, FontTransform, RGBColor, WHITE};

/// Units of the drawing per pixel.
const SCALE: f64 = 10.0;

/// The ratio of plotters' font sizes to those of SVG.
const FONT: f64 = 1.24;

/// The size of most text, in pixels.
pub(super) const TEXT: f64 = 13.0;

/// A place on the sheet in pixels, from the upper left corner.
pub(super) type Point = (f64, f64);

/// Black, of axes and text.
pub(super) const INK: RGBColor = RGBColor(0x1A, 0x1A, 0x1A);
/// Grey, for secondary elements.
pub(super) const GREY: RGBColor = RGBColor(0x66, 0x66, 0x66);
/// Grey, of grids.
pub(super) const PALE: RGBColor = RGBColor(0xE2, 0xE2, 0xE2);

/// Colours that colour-blind people can distinguish (Okabe and Ito 2008), those for thin lines first.
pub(super) const COLOURS: [RGBColor; 8] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x56, 0xB4, 0xE9),
    RGBColor(0x00, 0x00, 0x00),
    RGBColor(0xF0, 0xE4, 0x42),
];

/// The style of a line.
#[derive(Clone, Copy)]
pub(super) struct Pen {
    pub(super) colour: RGBColor,
    /// In pixels.
    pub(super) width: f64,
    /// Lengths of dashes and gaps in pixels; empty for a line without gaps.
    pub(super) dash: &'static [f64],
}

impl Pen {
    pub(super) const fn new(colour: RGBColor, width: f64) -> Pen {
        Pen { colour, width, dash: &[] }
    }

    pub(super) const fn dashed(colour: RGBColor, width: f64, dash: &'static [f64]) -> Pen {
        Pen { colour, width, dash }
    }
}

/// The shape of a mark.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Disc,
    Square,
    Triangle,
    Diamond,
    Down,
    Plus,
    Cross,
    Star,
}

impl Mark {
    pub(super) const ALL: [Mark; 8] =
        [Mark::Disc, Mark::Square, Mark::Triangle, Mark::Diamond, Mark::Down, Mark::Plus, Mark::Cross, Mark::Star];

    /// The corners about the origin, for a radius of 1; none for the disc.
    fn corners(self) -> Vec<Point> {
        let ring = |n: usize, turn: f64, radius: &dyn Fn(usize) -> f64| -> Vec<Point> {
            (0..n)
                .map(|i| {
                    let angle = std::f64::consts::TAU * (i as f64 / n as f64 + turn);
                    (radius(i) * angle.sin(), -radius(i) * angle.cos())
                })
                .collect()
        };
        // Arms of this half width and length.
        let plus = |turn: f64| -> Vec<Point> {
            let (w, l) = (0.36, 1.1);
            let arm = [(-w, -w), (-w, -l), (w, -l)];
            let (sin, cos) = (std::f64::consts::TAU * turn).sin_cos();
            let mut out = Vec::new();
            for quarter in 0..4 {
                for (x, y) in arm {
                    let (x, y) = (0..quarter).fold((x, y), |(x, y), _| (-y, x));
                    out.push((x * cos - y * sin, x * sin + y * cos));
                }
            }
            out
        };
        match self {
            Mark::Disc => Vec::new(),
            Mark::Square => ring(4, 0.125, &|_| 1.25),
            Mark::Triangle => ring(3, 0.0, &|_| 1.3),
            Mark::Diamond => ring(4, 0.0, &|_| 1.3),
            Mark::Down => ring(3, 0.5, &|_| 1.3),
            Mark::Plus => plus(0.0),
            Mark::Cross => plus(0.125),
            Mark::Star => ring(10, 0.0, &|i| if i % 2 == 0 { 1.5 } else { 0.65 }),
        }
    }
}

/// The fill of an area, which also differs in greyscale.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hatch {
    Plain,
    Rising,
    Falling,
    Level,
    Upright,
    Crossed,
}

/// A sheet.
pub(super) struct Canvas<'s> {
    area: DrawingArea<SVGBackend<'s>, Shift>,
}

fn unit(length: f64) -> i32 {
    (length * SCALE).round() as i32
}

fn units((x, y): Point) -> (i32, i32) {
    (unit(x), unit(y))
}

/// Creates a sheet of a size in pixels, lets `paint` draw on it, and returns it as SVG.
pub(super) fn render(width: f64, height: f64, paint: impl FnOnce(&Canvas<'_>)) -> String {
    let mut out = String::new();
    let size = ((width * SCALE) as u32, (height * SCALE) as u32);
    {
        let canvas = Canvas { area: SVGBackend::with_string(&mut out, size).into_drawing_area() };
        // Drawing into a string cannot fail.
        let _ = canvas.area.fill(&WHITE);
        paint(&canvas);
        let _ = canvas.area.present();
    }
    let large = format!("width=\"{}\" height=\"{}\"", size.0, size.1);
    out.replacen(&large, &format!("width=\"{width:.0}\" height=\"{height:.0}\""), 1)
}

/// The maximum width of a text in a common sans-serif font, in pixels.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let ems: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | '.' | ',' | ':' | '\'' | '|' | 'J' | 'I' | ' ' => 0.33,
            'f' | 't' | 'r' | '-' | '(' | ')' => 0.42,
            'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.98,
            'A'..='Z' | '−' | '+' | '=' => 0.75,
            _ => 0.64,
        })
        .sum();
    ems * size
}

impl Canvas<'_> {
    /// A line through points.
    pub(super) fn line(&self, points: &[Point], pen: Pen) {
        let style = pen.colour.stroke_width(unit(pen.width).max(1) as u32);
        let draw = |points: &[Point]| {
            let points: Vec<(i32, i32)> = points.iter().map(|p| units(*p)).collect();
            let _ = self.area.draw(&PathElement::new(points, style));
        };
        if pen.dash.is_empty() {
            draw(points);
        } else {
            dashes(points, pen.dash).iter().for_each(|dash| draw(dash));
        }
    }

    /// A filled polygon.
    pub(super) fn polygon(&self, points: &[Point], colour: RGBColor) {
        let points: Vec<(i32, i32)> = points.iter().map(|p| units(*p)).collect();
        let _ = self.area.draw(&Polygon::new(points, colour.filled()));
    }

    /// A filled rectangle.
    pub(super) fn rectangle(&self, upper_left: Point, lower_right: Point, colour: RGBColor) {
        let _ = self.area.draw(&Rectangle::new([units(upper_left), units(lower_right)], colour.filled()));
    }

    /// A filled and hatched rectangle with an outline.
    pub(super) fn hatched(&self, upper_left: Point, lower_right: Point, colour: RGBColor, hatch: Hatch) {
        self.rectangle(upper_left, lower_right, colour);
        let RGBColor(red, green, blue) = colour;
        let light = u32::from(red) + 2 * u32::from(green) + u32::from(blue) > 700;
        let pen = if light { Pen::new(GREY, 0.8) } else { Pen::new(WHITE, 1.1) };
        let ((left, top), (right, bottom)) = (upper_left, lower_right);
        let slanted = |rising: bool| {
            let mut c = left - (bottom - top);
            while c < right {
                // From the lower edge up, clipped at the sides.
                let (from, to) = (c.max(left), (c + bottom - top).min(right));
                if from < to {
                    let y = |x: f64| if rising { bottom - (x - c) } else { top + (x - c) };
                    self.line(&[(from, y(from)), (to, y(to))], pen);
                }
                c += 8.0;
            }
        };
        let spaced = |low: f64, high: f64| {
            let n = ((high - low) / 5.0) as usize;
            (1..=n).map(move |i| low + 5.0 * i as f64 - 2.5)
        };
        match hatch {
            Hatch::Plain => {}
            Hatch::Rising => slanted(true),
            Hatch::Falling => slanted(false),
            Hatch::Crossed => {
                slanted(true);
                slanted(false);
            }
            Hatch::Level => spaced(top, bottom).for_each(|y| self.line(&[(left, y), (right, y)], pen)),
            Hatch::Upright => spaced(left, right).for_each(|x| self.line(&[(x, top), (x, bottom)], pen)),
        }
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
        self.line(&corners, Pen::new(INK, 0.6));
    }

    /// A mark with a white edge.
    pub(super) fn mark(&self, mark: Mark, at: Point, radius: f64, colour: RGBColor) {
        for (radius, colour) in [(radius + 1.2, WHITE), (radius, colour)] {
            if mark == Mark::Disc {
                let _ = self.area.draw(&Circle::new(units(at), unit(radius), colour.filled()));
            } else {
                let corners: Vec<Point> =
                    mark.corners().iter().map(|(x, y)| (at.0 + radius * x, at.1 + radius * y)).collect();
                self.polygon(&corners, colour);
            }
        }
    }

    /// A disc without an edge.
    pub(super) fn mark_plain(&self, at: Point, radius: f64, colour: RGBColor) {
        let _ = self.area.draw(&Circle::new(units(at), unit(radius), colour.filled()));
    }

    /// The outline of a circle.
    pub(super) fn ring(&self, at: Point, radius: f64, pen: Pen) {
        let style = pen.colour.stroke_width(unit(pen.width) as u32);
        let _ = self.area.draw(&Circle::new(units(at), unit(radius), style));
    }

    /// Text beside a point.
    pub(super) fn text(&self, text: &str, at: Point, size: f64, anchor: (HPos, VPos), colour: RGBColor) {
        self.write_transformed(text, at, size, anchor, colour, FontTransform::None);
    }

    /// A text about a point, rotated to be read from below upward.
    pub(super) fn upward(&self, text: &str, at: Point, size: f64) {
        self.write_transformed(text, at, size, (HPos::Center, VPos::Center), INK, FontTransform::Rotate270);
    }

    fn write_transformed(
        &self,
        text: &str,
        at: Point,
        size: f64,
        (h, v): (HPos, VPos),
        colour: RGBColor,
        transform: FontTransform,
    ) {
        let font = FontDesc::new(FontFamily::SansSerif, size * SCALE * FONT, FontStyle::Normal).transform(transform);
        let _ = self.area.draw(&Text::new(text, units(at), font.color(&colour).pos(Pos::new(h, v))));
    }

    /// A power of ten, to the left of a point or about it.
    pub(super) fn power(&self, exponent: i32, (x, y): Point, centred: bool) {
        let small = TEXT * 0.72;
        let raised = exponent.to_string().replace('-', "−");
        let digits = raised.chars().count() as f64 * 0.6 * small;
        let right = if centred { x + (digits + 1.2 * TEXT) / 2.0 } else { x };
        self.text("10", (right - digits, y), TEXT, (HPos::Right, VPos::Center), INK);
        self.text(&raised, (right - digits + 0.5, y - 0.42 * TEXT), small, (HPos::Left, VPos::Center), INK);
    }
}

/// The dashes of a line.
fn dashes(points: &[Point], pattern: &[f64]) -> Vec<Vec<Point>> {
    let mut out = Vec::new();
    let mut n = 0;
    let mut left = pattern[0];
    let mut dash: Vec<Point> = points.first().copied().into_iter().collect();
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            if length <= left {
                left -= length;
                dash.push(to);
                break;
            }
            let part = left / length;
            from = (from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1));
            dash.push(from);
            if n % 2 == 0 {
                out.push(dash);
            }
            dash = vec![from];
            n += 1;
            left = pattern[n % pattern.len()];
        }
    }
    if n % 2 == 0 && dash.len() > 1 {
        out.push(dash);
    }
    out
}
