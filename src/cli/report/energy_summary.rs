//! What an energy report begins with: what ran, a row for each technology with its range, what decides it, how it compares with another, and
//! the list of technologies.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pendula::asm::diagnostic::plural;
use pendula::hw_model::price::{Item, Part, Subject};
use pendula::hw_model::report::PricedRun;
use pendula::hw_model::uncertainty::{Outcome, Range, Swing, Uncertain, ratio};
use pendula::hw_model::units::si;
use pendula::hw_model::{Clock, Figure, Logic, Status, Technology};

use crate::cli::args::End;
use crate::cli::report::energy_run::MeasuredRun;
use crate::cli::report::energy_text::joules;
use crate::cli::report::table::Table;

/// The number of figures in a tornado.
const FIGURES: usize = 12;

/// What the mark means.
const NOTE: &str = "* rests on assumed figures; `--list-tech` has every figure with its range and source, `--tornado` those that decide";

/// An energy, with a mark if most of it rests on assumed figures.
pub(crate) fn marked(energy: f64, status: Option<Status>) -> String {
    let mark = if status == Some(Status::Assumed) && energy > 0.0 { "*" } else { "" };
    format!("{}{mark}", joules(energy))
}

/// A range of energies.
fn range(range: Range) -> String {
    if range.is_wide() { format!("{} – {}", joules(range.low), joules(range.high)) } else { "-".to_string() }
}

/// What ran, and what it left.
pub(crate) fn activities(ran: &MeasuredRun) -> String {
    let mut out = String::new();
    for activity in &ran.activities {
        let mut parts = Vec::new();
        let mut part = |n: u64, one: &str, many: &str| {
            if n > 0 {
                parts.push(format!("{n} {}", if n == 1 { one } else { many }));
            }
        };
        part(activity.counts.instructions(), "instruction", "instructions");
        part(activity.words_in, "word from the host", "words from the host");
        part(activity.words_out, "word to the host", "words to the host");
        part(activity.counts.lost_bits(), "bit lost", "bits lost");
        if !parts.is_empty() {
            let _ = writeln!(out, "{:<14} {}", activity.phase.name(), parts.join(", "));
        }
    }
    if ran.left.words() > 0 {
        let what = match ran.end {
            End::Keep => "kept; erasing them is not billed",
            End::Erase | End::Return => "erased",
        };
        let about =
            if ran.followed { "" } else { ", all that it wrote, since the run is too long to follow what they hold" };
        let _ = writeln!(
            out,
            "{:<14} {} left dirty, {} bits at most{about}: {what}",
            "end",
            plural(ran.left.words(), "word"),
            ran.left.words().saturating_mul(ran.width),
        );
    }
    if ran.touched > 0 {
        let least = if ran.complete { "" } else { ", and more after what was followed" };
        let _ = writeln!(out, "{:<14} {} touched{least}, {} billed", "memory", plural(ran.touched, "word"), ran.billed);
    }
    out
}

/// The joules of a part of a bill, and how they are known.
pub(crate) fn part(priced: &PricedRun<'_>, part: Part) -> (f64, Option<Status>) {
    let of = |item: &Item| {
        let mut joules = item.joules;
        pendula::hw_model::price::Cause::ALL
            .into_iter()
            .filter(|cause| item.subject.part(*cause) != part)
            .for_each(|cause| joules[cause] = 0.0);
        (item.subject, joules)
    };
    let parts: Vec<(Subject, _)> = priced.bill.items.iter().map(of).collect();
    (parts.iter().map(|(_, joules)| joules.total()).sum(), priced.basis.of_sum(parts))
}

/// One row for each technology.
pub(crate) fn summary(priced: &[PricedRun<'_>]) -> String {
    let sums: Vec<BTreeMap<Part, (f64, Option<Status>)>> =
        priced.iter().map(|p| Part::ALL.into_iter().map(|at| (at, part(p, at))).collect()).collect();
    let parts: Vec<Part> = Part::ALL.into_iter().filter(|at| sums.iter().any(|s| s[at].0 > 0.0)).collect();
    let cooled = priced.iter().any(|p| p.device.plug() > 1.0);
    let mut header = vec!["technology", "frequency", "time"];
    header.extend(parts.iter().map(|at| at.name()));
    header.push("total");
    if cooled {
        header.push("at the plug");
    }
    header.extend(["5 to 95 %", "figures"]);
    let mut table = Table::new(&header);
    let mut assumed = false;
    for (p, sums) in priced.iter().zip(&sums) {
        let total = p.bill.total().total();
        let status = p.status(&p.bill.items);
        assumed |= sums.values().any(|(energy, status)| *energy > 0.0 && *status == Some(Status::Assumed));
        let mut row = vec![p.device.technology().name().to_string()];
        row.push(p.device.hertz().map_or_else(|| "-".to_string(), |f| si(f, "Hz")));
        row.push(p.device.seconds(&p.totals).map_or_else(|| "-".to_string(), |t| si(t, "s")));
        row.extend(parts.iter().map(|at| marked(sums[at].0, sums[at].1)));
        row.push(marked(total, status));
        if cooled {
            row.push(marked(total * p.device.plug(), status));
        }
        row.push(range(if cooled { p.range_at_the_plug() } else { p.range() }));
        row.push(status.map_or("-", Status::name).to_string());
        table.row(row);
    }
    let mut out = table.text();
    if cooled {
        out += "the range is that at the plug\n";
    }
    if assumed {
        let _ = writeln!(out, "{NOTE}");
    }
    for p in priced {
        if let Some(part) = p.device.utilisation(&p.totals) {
            let name = p.device.technology().name();
            let _ = writeln!(
                out,
                "utilisation of the pipelines of {name}: {:.3} %, as operations wait for each other",
                100.0 * part
            );
        }
    }
    out + &clocks(priced)
}

/// The technologies whose clocks cost nothing in the bill.
fn clocks(priced: &[PricedRun<'_>]) -> String {
    let ideal = |p: &&PricedRun<'_>| match &p.device.energy().logic {
        Logic::Ramped(ramped) => ramped.clock == Clock::Ideal,
        Logic::Junctions(_) | Logic::Cells(_) => true,
        Logic::Ideal | Logic::Static(_) => false,
    };
    let names: Vec<&str> = priced.iter().filter(ideal).map(|p| p.device.technology().name()).collect();
    if names.is_empty() {
        return String::new();
    }
    format!("clock = \"ideal\" for {}: what the supply itself loses is left out\n", names.join(", "))
}

/// The figures that change a bill most.
pub(crate) fn tornado_text(priced: &PricedRun<'_>, swings: &[Swing]) -> String {
    let name = priced.device.technology().name();
    if swings.is_empty() {
        return format!("\n{name}: no figure with a range changes the costs\n");
    }
    let cooled = if priced.device.plug() > 1.0 { ", at the plug" } else { "" };
    let nominal = joules(priced.bill.total().total() * priced.device.plug());
    let mut table = Table::new(&["  figure", "low", "nominal", "high", "energy at low", "at high", "known"]);
    for Swing { figure, low, high } in swings.iter().take(FIGURES) {
        table.row(vec![
            format!("  {}", figure.key),
            short(figure.low),
            short(figure.nominal),
            short(figure.high),
            joules(*low),
            joules(*high),
            figure.status.name().to_string(),
        ]);
    }
    let mut out = format!("\n{name}, what decides the {nominal}{cooled}\n{}", table.text());
    if swings.len() > FIGURES {
        let _ = writeln!(out, "  {} more change it less", plural(swings.len() - FIGURES, "figure"));
    }
    out
}

/// A number as in a technology file, with few digits.
fn short(value: f64) -> String {
    if value == 0.0 || (1e-3..1e5).contains(&value.abs()) { format!("{value}") } else { format!("{value:e}") }
}

/// A technology beside the one that it is compared with.
pub(crate) struct Compared {
    pub(crate) name: String,
    /// With the nominal figures.
    pub(crate) outcome: Outcome,
    pub(crate) range: Range,
    /// The copies of the program that together have the throughput of the reference.
    pub(crate) copies: Option<f64>,
    /// The energy at the plug as a multiple of the reference's, and its range.
    pub(crate) ratio: (f64, Range),
    /// The same without memory.
    pub(crate) ratio_without_memory: (f64, Range),
}

/// Compares technologies with one of them.
///
/// # Errors
/// Nothing says how long the reference takes.
pub(crate) fn compared(priced: &[PricedRun<'_>], to: &PricedRun<'_>) -> anyhow::Result<Vec<Compared>> {
    let one = |p: &PricedRun<'_>| -> anyhow::Result<(Outcome, Vec<Outcome>)> {
        // The same link as the reference's.
        let technology = p.device.technology().with_link_of(to.device.technology())?;
        let uncertain = Uncertain { technology: &technology, conditions: p.device.conditions(), totals: &p.totals };
        Ok((uncertain.nominal()?, uncertain.draws()?))
    };
    let (reference, drawn) = one(to)?;
    let name = to.device.technology().name();
    let Some(seconds) = reference.seconds.filter(|s| *s > 0.0) else {
        anyhow::bail!(
            "--against {name}: nothing says how long its operations take, so it has no throughput; name another technology"
        )
    };
    let logic = |o: &Outcome| o.plug - o.memory;
    // The link is as warm as the reference's, too.
    let warmed = |o: &Outcome, to: &Outcome| Outcome { plug: o.plug + o.link * (to.cooled - o.cooled), ..*o };
    priced
        .iter()
        .map(|p| {
            let (outcome, draws) = one(p)?;
            let outcome = warmed(&outcome, &reference);
            let draws: Vec<Outcome> = draws.iter().zip(&drawn).map(|(o, to)| warmed(o, to)).collect();
            Ok(Compared {
                name: p.device.technology().name().to_string(),
                outcome,
                range: Range::of(draws.iter().map(|d| d.plug).collect()),
                copies: outcome.seconds.map(|s| s / seconds),
                ratio: (outcome.plug / reference.plug, ratio(&draws, &drawn, |o| o.plug)),
                ratio_without_memory: (logic(&outcome) / logic(&reference), ratio(&draws, &drawn, logic)),
            })
        })
        .collect()
}

/// The comparison as text.
pub(crate) fn compared_text(all: &[Compared], to: &PricedRun<'_>) -> String {
    let name = to.device.technology().name();
    let ratio = |(nominal, range): (f64, Range)| match (nominal.is_finite(), range.is_wide()) {
        (false, _) => "-".to_string(),
        (true, false) => digits(nominal),
        (true, true) => format!("{} ({} – {})", digits(nominal), digits(range.low), digits(range.high)),
    };
    let times = format!("times {name}");
    let mut table = Table::new(&[
        "  technology",
        "time of a run",
        "copies",
        "energy of a run",
        "of it memory",
        &times,
        "without memory",
    ]);
    for c in all {
        let copies = match c.copies {
            Some(n) if n > 1.0 => format!("{:.0}", n.ceil()),
            Some(n) => format!("1, idle {:.0} %", 100.0 * (1.0 - n)),
            None => "-".to_string(),
        };
        table.row(vec![
            format!("  {}", c.name),
            c.outcome.seconds.map_or_else(|| "-".to_string(), |s| si(s, "s")),
            copies,
            joules(c.outcome.plug),
            joules(c.outcome.memory),
            ratio(c.ratio),
            ratio(c.ratio_without_memory),
        ]);
    }
    format!(
        "\nagainst {name}, at its throughput, by independent copies of the program; at the plug, with its link, and each with its own memory\n{}  \
         in brackets: 5 to 95 % of draws; figures that technologies share are drawn once; a copy that waits costs nothing here\n",
        table.text()
    )
}

/// A ratio with three digits.
fn digits(x: f64) -> String {
    match x {
        0.0 => "0".to_string(),
        x if (0.1..100.0).contains(&x) => format!("{x:.2}"),
        x if (100.0..1e5).contains(&x) => format!("{x:.0}"),
        x if (1e-3..0.1).contains(&x) => format!("{x:.4}"),
        x => format!("{x:.2e}"),
    }
}

/// Technologies, with every figure.
pub(crate) fn technologies(all: impl Iterator<Item = Technology>) -> String {
    let mut out = String::new();
    for technology in all {
        let _ = writeln!(out, "{}: {}", technology.name(), technology.title());
        if let Some(energy) = technology.energy() {
            let _ = write!(out, "  discipline: {}", energy.logic.discipline());
            if let Logic::Ramped(ramped) = &energy.logic {
                let ideal = if ramped.clock == Clock::Ideal { ", clock = \"ideal\"" } else { "" };
                let _ = write!(out, ", {} ramps in a cycle{ideal}", ramped.ticks_per_cycle);
            }
            out.push('\n');
        }
        let figures = technology.figures();
        for (table, source) in technology.sources() {
            let _ = writeln!(out, "  {table}: {source}");
            out.push_str(&figures_of(table, source, &figures));
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// The figures of a table.
fn figures_of(table: &str, source: &str, figures: &[Figure]) -> String {
    let of: Vec<&Figure> = figures.iter().filter(|f| f.key.split('.').next() == Some(table)).collect();
    let mut text = String::new();
    let width = of.iter().map(|f| f.key.len()).max().unwrap_or(0);
    for figure in of {
        let key = figure.key.split_once('.').map_or("", |(_, key)| key);
        let range = if figure.is_uncertain() {
            format!(" ({} – {})", short(figure.low), short(figure.high))
        } else {
            String::new()
        };
        let own = if figure.source == source { String::new() } else { format!("  {}", figure.source) };
        let value = format!("{}{range}", short(figure.nominal));
        let _ = writeln!(text, "    {key:<width$}  {value:<34}  {}{own}", figure.status.name());
    }
    text
}
