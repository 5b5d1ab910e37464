//! Breakdowns: a bar for each technology, by cause, by part of the device, or by gate class.

use std::collections::BTreeMap;

use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{RGBColor, WHITE};

use super::canvas::{COLOURS, Hatch, INK, PALE, Pen, TEXT, render, text_width};
use super::chart::{Legend, LegendKey};
use super::{explain, marked};
use crate::price::{Cause, Joules, Part, Subject};
use crate::report::PricedRun;
use crate::technology::Status;
use crate::units::si;

/// The maximum number of gate classes that are distinguished.
const CLASSES: usize = 8;

/// The fills of the parts, the last for the rest.
pub(super) const FILLS: [(RGBColor, Hatch); CLASSES + 1] = [
    (COLOURS[0], Hatch::Plain),
    (COLOURS[4], Hatch::Rising),
    (COLOURS[2], Hatch::Upright),
    (COLOURS[5], Hatch::Plain),
    (COLOURS[1], Hatch::Falling),
    (COLOURS[7], Hatch::Level),
    (COLOURS[3], Hatch::Crossed),
    (RGBColor(0x33, 0x33, 0x33), Hatch::Plain),
    (RGBColor(0xE0, 0xE0, 0xE0), Hatch::Plain),
];

/// A part of a bar: joules, and whether they rest on assumed figures.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    joules: f64,
    assumed: bool,
}

/// Plots the energy of bills by cause: for each bill a bar with parts in percent, and the sum in joules above it. Parts that rest on assumed
/// figures are marked.
pub fn breakdown_by_cause(priced: &[PricedRun<'_>]) -> String {
    let names: Vec<&'static str> = Cause::ALL.iter().map(|c| c.name()).collect();
    breakdown(priced, &names, |_, cause| cause.name())
}

/// The same by part of the device: logic, control, memory, clock, link, erasure, and what is left dirty.
pub fn breakdown_by_part(priced: &[PricedRun<'_>]) -> String {
    let names: Vec<&'static str> = Part::ALL.iter().map(|p| p.name()).collect();
    breakdown(priced, &names, |subject, cause| subject.part(cause).name())
}

/// The same by gate class, fetching, registers, traffic with the host, and lost information. The eight largest are distinguished; the remainder
/// is `other`.
pub fn breakdown_by_class(priced: &[PricedRun<'_>]) -> String {
    let mut shares: BTreeMap<&'static str, f64> = BTreeMap::new();
    for p in priced {
        let total = p.bill.total().total();
        for item in p.bill.items.iter().filter(|item| item.joules.total() > 0.0) {
            *shares.entry(item.subject.name()).or_default() += item.joules.total() / total;
        }
    }
    let mut order: Vec<(&'static str, f64)> = shares.into_iter().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    let rest = order.split_off(order.len().min(CLASSES));
    let mut names: Vec<&'static str> = order.into_iter().map(|(name, _)| name).collect();
    if !rest.is_empty() {
        names.push("other");
    }
    breakdown(priced, &names, |subject, _| {
        if rest.iter().any(|(name, _)| *name == subject.name()) { "other" } else { subject.name() }
    })
}

/// A bar for each bill with a part for each of the names.
fn breakdown(
    priced: &[PricedRun<'_>],
    names: &[&'static str],
    name: impl Fn(Subject, Cause) -> &'static str,
) -> String {
    let bar = |p: &PricedRun<'_>| -> Vec<Piece> {
        let piece = |part: &&'static str| {
            let mut of: BTreeMap<Subject, Joules> = BTreeMap::new();
            for item in &p.bill.items {
                for cause in Cause::ALL.into_iter().filter(|cause| name(item.subject, *cause) == *part) {
                    of.entry(item.subject).or_default()[cause] += item.joules[cause];
                }
            }
            let joules = of.values().map(|j| j.total()).sum();
            Piece { joules, assumed: p.basis.of_sum(of) == Some(Status::Assumed) }
        };
        names.iter().map(piece).collect()
    };
    let bars: Vec<Vec<Piece>> = priced.iter().map(bar).collect();
    let fill =
        |(n, name): (usize, &&'static str)| ((*name).to_string(), if *name == "other" { CLASSES } else { n % CLASSES });
    plot(priced, &names.iter().enumerate().map(fill).collect::<Vec<_>>(), &bars)
}

/// Bars with parts. Each part has a name and the number of its fill.
fn plot(priced: &[PricedRun<'_>], parts: &[(String, usize)], bars: &[Vec<Piece>]) -> String {
    const LEFT: f64 = 84.0;
    const TOP: f64 = 44.0;
    const BOTTOM: f64 = 404.0;
    const WIDTH: f64 = 62.0;
    let names: Vec<&str> = priced.iter().map(|p| p.device.technology().name()).collect();
    let slot = names.iter().map(|n| text_width(n, TEXT) + 12.0).fold(104.0, f64::max);
    let right = LEFT + slot * names.len().max(1) as f64;
    let mut legend = Legend::default();
    // Parts that are too small to be seen are not in the legend.
    let sum = |bar: &[Piece]| bar.iter().map(|piece| piece.joules).sum::<f64>();
    let used = |n: usize| bars.iter().any(|bar| bar[n].joules > 1e-3 * sum(bar));
    for (_, (name, fill)) in parts.iter().enumerate().rev().filter(|(n, _)| used(*n)) {
        legend.add(LegendKey::Fill(FILLS[*fill].0, FILLS[*fill].1), name);
    }
    explain(&mut legend, bars.iter().flatten().any(|piece| piece.assumed));
    let height = (BOTTOM + 62.0).max(TOP + legend.height() + 10.0);
    render(right + 24.0 + legend.width() + 12.0, height, |canvas| {
        for percent in (0..=100).step_by(20) {
            let y = BOTTOM + (TOP - BOTTOM) * f64::from(percent) / 100.0;
            canvas.line(&[(LEFT, y), (right, y)], Pen::new(PALE, 0.8));
            canvas.line(&[(LEFT, y), (LEFT + 6.0, y)], Pen::new(INK, 1.0));
            canvas.text(&percent.to_string(), (LEFT - 8.0, y), TEXT, (HPos::Right, VPos::Center), INK);
        }
        for (n, (bar, name)) in bars.iter().zip(&names).enumerate() {
            let middle = LEFT + slot * (n as f64 + 0.5);
            let (left, right) = (middle - WIDTH / 2.0, middle + WIDTH / 2.0);
            let total = sum(bar);
            let mut y = BOTTOM;
            for (Piece { joules, assumed }, (_, fill)) in bar.iter().zip(parts).filter(|(p, _)| p.joules > 0.0) {
                let top = y + (TOP - BOTTOM) * joules / total;
                canvas.hatched((left, top), (right, y), FILLS[*fill].0, FILLS[*fill].1);
                if y - top >= 20.0 {
                    let text = marked(&format!("{:.0} %", 100.0 * joules / total), *assumed);
                    let (half, centre) = (text_width(&text, 12.0) / 2.0, (top + y) / 2.0);
                    canvas.rectangle((middle - half - 2.0, centre - 8.0), (middle + half + 2.0, centre + 8.0), WHITE);
                    canvas.text(&text, (middle, centre), 12.0, (HPos::Center, VPos::Center), INK);
                }
                y = top;
            }
            canvas.text(&si(total, "J"), (middle, TOP - 14.0), TEXT, (HPos::Center, VPos::Center), INK);
            canvas.text(name, (middle, BOTTOM + 17.0), TEXT, (HPos::Center, VPos::Center), INK);
            if let Some(hertz) = priced[n].device.hertz() {
                let text = format!("at {}", si(hertz, "Hz"));
                canvas.text(&text, (middle, BOTTOM + 36.0), 12.0, (HPos::Center, VPos::Center), INK);
            }
        }
        let corners = [(LEFT, TOP), (LEFT, BOTTOM), (right, BOTTOM)];
        canvas.line(&corners, Pen::new(INK, 1.0));
        canvas.upward("Energy of the run (%)", (LEFT - 50.0, (TOP + BOTTOM) / 2.0), TEXT + 2.0);
        legend.draw(canvas, (right + 24.0, TOP));
    })
}
