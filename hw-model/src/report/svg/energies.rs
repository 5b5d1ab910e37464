//! Energies with their ranges: for each technology a bar for the sum, and a bar for each part of the device.

use plotters::style::text_anchor::{HPos, VPos};

use super::bars::FILLS;
use super::canvas::{GREY, Hatch, INK, Pen, TEXT, render, text_width};
use super::chart::{Axis, Legend, LegendKey};
use super::{bounds, explain, marked, nothing};
use crate::price::{Cause, Part};
use crate::report::PricedRun;
use crate::technology::Status;
use crate::units::si;

const LEFT: f64 = 84.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 404.0;
/// The widths of the bar of a sum, and of one of a part.
const WIDE: f64 = 30.0;
const NARROW: f64 = 12.0;
/// The least part of a sum that has a bar.
const SHOWN: f64 = 1e-4;

/// Plots the energy of bills in joules on a logarithmic axis: for each technology a grey bar for what is drawn at the plug, with a line from the
/// 5th to the 95th percentile of its range, and beside it a bar for each part of the device, at the plug, too.
pub fn energies(priced: &[PricedRun<'_>]) -> String {
    let plug = |p: &PricedRun<'_>| p.bill.total().total() * p.device.plug();
    let parts: Vec<Vec<(Part, f64)>> = priced
        .iter()
        .map(|p| {
            let all = p.bill.parts().into_iter().map(|(part, joules)| (part, joules * p.device.plug()));
            all.filter(|(_, joules)| *joules > SHOWN * plug(p)).collect()
        })
        .collect();
    let ranges = priced.iter().flat_map(|p| {
        let range = p.range_at_the_plug();
        [range.low, range.high]
    });
    let all = parts.iter().flatten().map(|(_, joules)| *joules).chain(priced.iter().map(plug)).chain(ranges);
    let Some((low, high)) = bounds(all) else { return nothing("nothing costs energy") };
    // Bars begin below the least of them.
    let axis = Axis::whole(low / 3.0, high, BOTTOM, TOP);
    let group = WIDE + 6.0 + NARROW * Part::ALL.len() as f64;
    let names: Vec<String> = priced
        .iter()
        .map(|p| marked(p.device.technology().name(), p.status(&p.bill.items) == Some(Status::Assumed)))
        .collect();
    let slot = names.iter().map(|n| text_width(n, TEXT) + 14.0).fold(group + 18.0, f64::max);
    let right = LEFT + slot * names.len().max(1) as f64;
    let assumed = |p: &PricedRun<'_>, part: Part| {
        let of = p.bill.items.iter().map(|item| {
            let mut joules = item.joules;
            Cause::ALL.into_iter().filter(|c| item.subject.part(*c) != part).for_each(|c| joules[c] = 0.0);
            (item.subject, joules)
        });
        p.basis.of_sum(of) == Some(Status::Assumed)
    };
    let mut legend = Legend::default();
    legend.add(LegendKey::Fill(GREY, Hatch::Plain), "all, at the plug");
    for (n, part) in Part::ALL.into_iter().enumerate() {
        if parts.iter().flatten().any(|(p, _)| *p == part) {
            legend.add(LegendKey::Fill(FILLS[n].0, FILLS[n].1), part.name());
        }
    }
    legend.add(LegendKey::Line(Pen::new(INK, 1.6), None), "5 to 95 % of draws");
    let any = priced
        .iter()
        .zip(&names)
        .any(|(p, name)| name.ends_with('*') || Part::ALL.into_iter().any(|part| assumed(p, part)));
    explain(&mut legend, any);
    let height = (BOTTOM + 46.0).max(TOP + legend.height() + 10.0);
    render(right + 24.0 + legend.width() + 12.0, height, |canvas| {
        axis.draw_upward(canvas, LEFT, right);
        for (n, (p, name)) in priced.iter().zip(&names).enumerate() {
            let middle = LEFT + slot * (n as f64 + 0.5);
            let from = middle - group / 2.0;
            if plug(p) > 0.0 {
                let top = axis.at(plug(p));
                canvas.rectangle((from, top), (from + WIDE, BOTTOM), GREY);
                let range = p.range_at_the_plug();
                let mut above = top;
                if range.is_wide() {
                    let (x, ends) = (from + WIDE / 2.0, [axis.at(range.low), axis.at(range.high)]);
                    canvas.line(&[(x, ends[0]), (x, ends[1])], Pen::new(INK, 1.6));
                    for y in ends {
                        canvas.line(&[(x - 6.0, y), (x + 6.0, y)], Pen::new(INK, 1.6));
                    }
                    above = above.min(ends[1]);
                }
                canvas.text(
                    &si(plug(p), "J"),
                    (from + WIDE / 2.0, above - 9.0),
                    12.0,
                    (HPos::Center, VPos::Center),
                    INK,
                );
            }
            for (part, joules) in &parts[n] {
                let place = Part::ALL.iter().position(|p| p == part).unwrap_or_default();
                let x = from + WIDE + 6.0 + NARROW * place as f64;
                let y = axis.at(*joules);
                canvas.hatched((x, y), (x + NARROW - 2.0, BOTTOM), FILLS[place].0, FILLS[place].1);
                if assumed(p, *part) {
                    canvas.text("*", (x + NARROW / 2.0 - 1.0, y - 3.0), TEXT, (HPos::Center, VPos::Center), INK);
                }
            }
            canvas.text(name, (middle, BOTTOM + 17.0), TEXT, (HPos::Center, VPos::Center), INK);
        }
        canvas.line(&[(LEFT, TOP), (LEFT, BOTTOM), (right, BOTTOM)], Pen::new(INK, 1.0));
        canvas.upward("Energy of the run, at the plug (J)", (LEFT - 54.0, (TOP + BOTTOM) / 2.0), TEXT + 2.0);
        legend.draw(canvas, (right + 24.0, TOP));
    })
}
