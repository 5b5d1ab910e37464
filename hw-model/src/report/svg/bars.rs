//! Breakdowns: a bar for each technology, by cause or by gate class.

use std::collections::BTreeMap;

use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{RGBColor, WHITE};

use super::canvas::{COLOURS, Hatch, INK, PALE, Pen, TEXT, render, text_width};
use super::chart::{Legend, LegendKey};
use crate::price::Cause;
use crate::report::PricedRun;
use crate::units::si;

/// The maximum number of gate classes that are distinguished.
const CLASSES: usize = 8;

/// The fills of the parts, the last for the rest.
const FILLS: [(RGBColor, Hatch); CLASSES + 1] = [
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

/// Plots the energy of bills by cause: for each bill a bar with parts in percent, and the sum in joules above it.
pub fn breakdown_by_cause(priced: &[PricedRun<'_>]) -> String {
    let bars: Vec<Vec<f64>> = priced
        .iter()
        .map(|p| {
            let total = p.bill.total();
            Cause::ALL.iter().map(|cause| total[*cause]).collect()
        })
        .collect();
    let parts: Vec<(String, usize)> = Cause::ALL.iter().enumerate().map(|(n, c)| (c.name().to_string(), n)).collect();
    plot(priced, &parts, &bars)
}

/// Plots the energy of bills by gate class, traffic with the host, and lost information: for each bill a bar with parts
/// in percent, and the sum in joules above it. The eight largest are distinguished; the remainder is `other`.
pub fn breakdown_by_class(priced: &[PricedRun<'_>]) -> String {
    let sums: Vec<BTreeMap<&'static str, f64>> = priced
        .iter()
        .map(|p| {
            let mut out = BTreeMap::new();
            for item in &p.bill.items {
                *out.entry(item.subject.name()).or_default() += item.joules.total();
            }
            out
        })
        .collect();
    let mut shares: BTreeMap<&'static str, f64> = BTreeMap::new();
    for bill in &sums {
        let total: f64 = bill.values().sum();
        for (class, joules) in bill.iter().filter(|(_, joules)| **joules > 0.0) {
            *shares.entry(class).or_default() += joules / total;
        }
    }
    let mut order: Vec<(&'static str, f64)> = shares.into_iter().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    let rest = order.split_off(order.len().min(CLASSES));
    let mut parts: Vec<(String, usize)> =
        order.iter().enumerate().map(|(n, (class, _))| ((*class).to_string(), n)).collect();
    if !rest.is_empty() {
        parts.push(("other".to_string(), CLASSES));
    }
    let joules = |bill: &BTreeMap<&'static str, f64>, class: &str| bill.get(class).copied().unwrap_or(0.0);
    let bars: Vec<Vec<f64>> = sums
        .iter()
        .map(|bill| {
            let mut bar: Vec<f64> = order.iter().map(|(class, _)| joules(bill, class)).collect();
            if !rest.is_empty() {
                bar.push(rest.iter().map(|(class, _)| joules(bill, class)).sum());
            }
            bar
        })
        .collect();
    plot(priced, &parts, &bars)
}

/// Bars with parts. Each part has a name and the number of its fill.
fn plot(priced: &[PricedRun<'_>], parts: &[(String, usize)], bars: &[Vec<f64>]) -> String {
    const LEFT: f64 = 84.0;
    const TOP: f64 = 44.0;
    const BOTTOM: f64 = 404.0;
    const WIDTH: f64 = 62.0;
    let names: Vec<&str> = priced.iter().map(|p| p.device.technology().name()).collect();
    let slot = names.iter().map(|n| text_width(n, TEXT) + 12.0).fold(104.0, f64::max);
    let right = LEFT + slot * names.len().max(1) as f64;
    let mut legend = Legend::default();
    // Parts that are too small to be seen are not in the legend.
    let used = |n: usize| bars.iter().any(|bar| bar[n] > 1e-3 * bar.iter().sum::<f64>());
    for (_, (name, fill)) in parts.iter().enumerate().rev().filter(|(n, _)| used(*n)) {
        legend.add(LegendKey::Fill(FILLS[*fill].0, FILLS[*fill].1), name);
    }
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
            let total: f64 = bar.iter().sum();
            let mut y = BOTTOM;
            for (joules, (_, fill)) in bar.iter().zip(parts).filter(|(joules, _)| **joules > 0.0) {
                let top = y + (TOP - BOTTOM) * joules / total;
                canvas.hatched((left, top), (right, y), FILLS[*fill].0, FILLS[*fill].1);
                if y - top >= 20.0 {
                    let text = format!("{:.0} %", 100.0 * joules / total);
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
