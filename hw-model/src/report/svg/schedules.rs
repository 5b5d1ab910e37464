//! Time, space and energy of schedules.

use plotters::style::RGBColor;

use super::canvas::{COLOURS, GREY, INK, Mark, Pen, render};
use super::chart::{Axis, Frame, Labels, Legend, LegendKey};
use super::{bounds, nothing};
use crate::schedule::{self, Cost};
use crate::units::si;

/// A computation of many similar steps that is to be scheduled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedules {
    /// The number of steps.
    pub steps: u64,
    /// The cost of executing a step, in joules.
    pub step_joules: f64,
    /// The cost of erasing a state, in joules.
    pub erase_joules: f64,
    /// The number of blocks into which the hybrid divides a level, at least 2.
    pub base: u32,
}

impl Schedules {
    /// The cost of a schedule, in joules.
    pub fn joules(&self, cost: Cost) -> f64 {
        cost.steps as f64 * self.step_joules + cost.erased as f64 * self.erase_joules
    }
}

/// A kind of schedule, with its cost for each value of its parameter.
struct Family {
    name: String,
    mark: Mark,
    colour: RGBColor,
    /// The parameter and the cost.
    points: Vec<(String, Cost)>,
    /// The points that the line goes through.
    line: Vec<Cost>,
}

/// The maximum number of pairs of a step and its pebbles in Knill's recursion.
const PEBBLING: u128 = 100_000_000;

/// The smallest k whose nth power is not below a number.
fn root(number: u128, n: u32) -> u128 {
    let guess = (number as f64).powf(1.0 / f64::from(n)).round() as u128;
    (guess.saturating_sub(1).max(2)..).find(|k| k.saturating_pow(n) >= number).unwrap_or(2)
}

/// The number of levels of a recursion that divides by `k` until single steps are left.
fn levels(number: u128, k: u128) -> u32 {
    (1..128).find(|n| k.saturating_pow(*n) >= number).unwrap_or(1)
}

/// 1, 2, 4, 8 … from one number to another, which is included, too.
fn doubling(from: u128, to: u128) -> impl Iterator<Item = u128> {
    let powers = (0..127).map(|i| 1u128 << i).take_while(move |step| from + step < to);
    std::iter::once(from).chain(powers.map(move |step| from + step)).chain((to > from).then_some(to))
}

fn families(of: &Schedules) -> Vec<Family> {
    let n = u128::from(of.steps.max(2));
    let base = u128::from(of.base.max(2));
    let family = |name: String, look: usize, points: Vec<(String, Cost)>| Family {
        name,
        mark: [Mark::Square, Mark::Down, Mark::Triangle, Mark::Disc, Mark::Diamond, Mark::Cross][look],
        colour: [COLOURS[6], COLOURS[1], COLOURS[2], COLOURS[0], COLOURS[3], COLOURS[4]][look],
        line: points.iter().map(|(_, cost)| *cost).collect(),
        points,
    };
    // A recursion with more than a quarter of padding is left out, since the comparison would be about the padding.
    let bennett = (2..=levels(n, 2)).map(|levels| (root(n, levels), levels));
    let bennett = bennett.filter(|(k, levels)| k.saturating_pow(*levels) <= n + n / 4);
    let depth = levels(n, base);
    let hybrid = (0..=depth).map(|m| (format!("m = {m}"), schedule::hybrid(base, depth, m)));
    let least = u128::from(levels(n, 2)) + 1;
    let pebbles = doubling(least, n).filter(|p| p.saturating_mul(n * n / 2) <= PEBBLING);
    let knill = pebbles.filter_map(|p| Some((format!("p = {p}"), schedule::knill(n as usize, p as usize)?)));
    let snapshots = doubling(1, (n - 1).min(u128::from(u32::MAX)));
    let treeverse = snapshots.map(|s| (format!("s = {s}"), schedule::treeverse(n, s as u32)));
    let mut out = vec![
        family("keep all".into(), 0, vec![("keep all".into(), schedule::keep_all(n))]),
        family("erase all".into(), 1, vec![("erase all".into(), schedule::erase_all(n))]),
        family(
            "Bennett, kⁿ steps".into(),
            2,
            bennett.map(|(k, n)| (format!("k = {k}, n = {n}"), schedule::bennett(k, n))).collect(),
        ),
        family(format!("hybrid, k = {base}, m of {depth}"), 3, hybrid.collect()),
        family("Knill, p pebbles".into(), 4, knill.collect()),
        family("treeverse, s snapshots".into(), 5, treeverse.collect()),
    ];
    // The hybrid ranges from erasing everything to Bennett's schedule, and is drawn where it is neither.
    let others: Vec<Cost> = out[..3].iter().flat_map(|f| f.line.clone()).collect();
    out[3].points.retain(|(_, cost)| !others.contains(cost));
    out.retain(|f| !f.points.is_empty());
    out
}

/// Plots the costs of schedules: executions of steps on one axis, stored states on the other, both logarithmic. The
/// larger a mark, the more energy. The schedules are keeping or erasing everything, Bennett's recursion for each number
/// of levels (padded by at most a quarter), its hybrid with erasing, Knill's pebbling if the number of steps is
/// moderate, and treeverse, which computes a gradient.
pub fn time_space_energy(of: &Schedules) -> String {
    let families = families(of);
    let costs = || families.iter().flat_map(|f| f.points.iter().map(|(_, cost)| *cost));
    let (Some(steps), Some(states)) =
        (bounds(costs().map(|c| c.steps as f64)), bounds(costs().map(|c| c.states as f64)))
    else {
        return nothing("there are no schedules");
    };
    let energy = bounds(costs().map(|c| of.joules(c)));
    let radius = |joules: f64| match energy {
        Some((low, high)) if high > low * 1.001 && joules > 0.0 => 3.2 + 6.8 * (joules / low).ln() / (high / low).ln(),
        _ => 4.0,
    };
    let mut legend = Legend::default();
    for f in &families {
        legend.add(LegendKey::Mark(f.mark, 5.5, f.colour), &f.name);
    }
    legend.add(LegendKey::None, "");
    if let Some((low, high)) = energy {
        legend.add(LegendKey::None, "energy, by size:");
        let middle = (low * high).sqrt();
        for joules in if high > low * 1.001 { vec![low, middle, high] } else { vec![low] } {
            legend.add(LegendKey::Mark(Mark::Disc, radius(joules), GREY), si(joules, "J"));
        }
    }
    legend.add(LegendKey::Ring(Pen::new(INK, 1.5)), "least energy");
    let frame = Frame {
        x: Axis::whole(steps.0 / 1.3, steps.1 * 1.3, 84.0, 604.0),
        y: Axis::whole(states.0 / 1.3, states.1 * 1.3, 440.0, 20.0),
    };
    let place = |cost: &Cost| frame.at((cost.steps as f64, cost.states as f64));
    render(604.0 + 24.0 + legend.width() + 12.0, 506.0, |canvas| {
        frame.draw(canvas, "Time (step executions)", "Space (states held)");
        let mut labels = Labels::new(&frame);
        for f in families.iter().filter(|f| f.line.len() > 1) {
            let line: Vec<_> = f.line.iter().map(place).collect();
            canvas.line(&line, Pen::new(f.colour, 1.2));
            labels.avoid(&line, 1.0);
        }
        // Large marks first, so that none is hidden.
        let mut marks: Vec<_> = families.iter().flat_map(|f| f.points.iter().map(move |p| (f, p.1))).collect();
        marks.sort_by(|a, b| of.joules(b.1).total_cmp(&of.joules(a.1)));
        for (f, cost) in &marks {
            canvas.mark(f.mark, place(cost), radius(of.joules(*cost)), f.colour);
            labels.avoid_mark(place(cost), radius(of.joules(*cost)) + 2.0);
        }
        if let Some((_, least)) = marks.iter().min_by(|a, b| {
            let states = a.1.states.cmp(&b.1.states);
            of.joules(a.1).total_cmp(&of.joules(b.1)).then(states)
        }) {
            let ring = radius(of.joules(*least)) + 4.5;
            canvas.ring(place(least), ring, Pen::new(INK, 1.5));
            labels.write(canvas, &si(of.joules(*least), "J"), place(least), ring, INK);
        }
        for f in families.iter().filter(|f| f.line.len() > 1) {
            let ends = [f.points.first(), f.points.last().filter(|_| f.points.len() > 1)];
            for (text, cost) in ends.into_iter().flatten() {
                labels.write(canvas, text, place(cost), radius(of.joules(*cost)), INK);
            }
        }
        legend.draw(canvas, (628.0, 20.0));
    })
}
