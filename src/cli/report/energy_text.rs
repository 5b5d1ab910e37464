//! Energy reports as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pendula::asm::diagnostic::plural;
use pendula::hw_model::breakeven::{Undoing, undoings};
use pendula::hw_model::price::{Activity, Cause, Item, Joules, Phase, Subject};
use pendula::hw_model::report::{PricedRun, Program};
use pendula::hw_model::schedule::{self, Cost};
use pendula::hw_model::units::si;
use pendula::isa::counts::Counts;
use pendula::isa::module::name_in_source;
use pendula::isa::text::{ModuleNames, display};
use pendula::isa::types::{Acc, Ty};
use pendula::isa::{Inst, Kind};

use crate::cli::args::Breakdown;
use crate::cli::report::energy_run::{MeasuredRun, Sweep, Swept};
use crate::cli::report::energy_summary;
use crate::cli::report::table::Table;

/// The maximum number of rows in a table by line.
const LINES: usize = 12;

pub(crate) fn joules(x: f64) -> String {
    si(x, "J")
}

/// A part of a whole in percent.
fn share(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.1} %", part / whole * 100.0) } else { "-".to_string() }
}

/// The causes that cost something with at least one of the technologies.
pub(crate) fn causes(priced: &[PricedRun<'_>]) -> Vec<Cause> {
    let totals: Vec<Joules> = priced.iter().map(|p| p.bill.total()).collect();
    Cause::ALL.into_iter().filter(|c| totals.iter().any(|t| t[*c] > 0.0)).collect()
}

/// The whole report.
pub(crate) fn text(program: &Program<'_>, priced: &[PricedRun<'_>], ran: &MeasuredRun, by: &[Breakdown]) -> String {
    let mut out = energy_summary::activities(ran);
    out.push('\n');
    out.push_str(&energy_summary::summary(priced));
    for priced in priced {
        let name = priced.device.technology().name();
        for what in by {
            let table = match what {
                Breakdown::Phase => phases(priced),
                Breakdown::Cause => causes_apart(priced),
                Breakdown::Class => classes(priced),
                Breakdown::Function => by_function(program, priced),
                Breakdown::Line => lines(program, priced),
                Breakdown::Routine => routines(program, priced, ran),
            };
            if let Some((title, table)) = table {
                let _ = write!(out, "\n{name}, {title}\n{table}");
            }
        }
    }
    out.push_str(&lost(program, ran));
    out
}

/// The order of a table's rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// The order of the keys.
    Natural,
    /// Decreasing cost.
    Falling,
    /// Decreasing cost, and only the first rows.
    Most,
}

type Titled = Option<(&'static str, String)>;

fn breakdown<K: Ord>(
    priced: &PricedRun<'_>,
    title: &'static str,
    key: impl Fn(&Item) -> K,
    name: impl Fn(&K) -> String,
    order: Order,
) -> Titled {
    let whole = priced.bill.total().total();
    let mut groups: BTreeMap<K, Vec<(Subject, Joules)>> = BTreeMap::new();
    for item in priced.bill.items.iter().filter(|item| item.joules.total() > 0.0) {
        groups.entry(key(item)).or_default().push((item.subject, item.joules));
    }
    let mut rows: Vec<(K, Vec<(Subject, Joules)>)> = groups.into_iter().collect();
    if rows.is_empty() {
        return None;
    }
    let sum = |parts: &[(Subject, Joules)]| parts.iter().map(|(_, j)| *j).sum::<Joules>();
    if order != Order::Natural {
        rows.sort_by(|a, b| sum(&b.1).total().total_cmp(&sum(&a.1).total()));
    }
    let causes = causes(std::slice::from_ref(priced));
    let mut header = vec![""];
    header.extend(causes.iter().map(|c| c.name()));
    header.extend(["total", "share"]);
    let mut table = Table::new(&header);
    let mut line = |name: String, parts: &[(Subject, Joules)]| {
        let j = sum(parts);
        let status = |parts: Vec<(Subject, Joules)>| priced.basis.of_sum(parts);
        let mut row = vec![format!("  {name}")];
        row.extend(causes.iter().map(|c| {
            let of = parts.iter().map(|(subject, j)| (*subject, Joules::of(*c, j[*c]))).collect();
            energy_summary::marked(j[*c], status(of))
        }));
        row.extend([energy_summary::marked(j.total(), status(parts.to_vec())), share(j.total(), whole)]);
        table.row(row);
    };
    let shown = if order == Order::Most { LINES } else { rows.len() };
    for (key, parts) in rows.iter().take(shown) {
        line(name(key), parts);
    }
    if rows.len() > shown {
        let rest: Vec<(Subject, Joules)> = rows.iter().skip(shown).flat_map(|(_, parts)| parts.clone()).collect();
        line(plural(rows.len() - shown, "other"), &rest);
    }
    Some((title, table.text()))
}

fn phases(priced: &PricedRun<'_>) -> Titled {
    breakdown(priced, "by phase", |i| i.phase, |p| p.name().to_string(), Order::Natural)
}

/// One row for each cause.
fn causes_apart(priced: &PricedRun<'_>) -> Titled {
    let whole = priced.bill.total().total();
    let mut table = Table::new(&["", "energy", "share"]);
    for cause in causes(std::slice::from_ref(priced)) {
        let parts = priced.bill.items.iter().map(|item| (item.subject, Joules::of(cause, item.joules[cause])));
        let energy = priced.bill.total()[cause];
        let cell = energy_summary::marked(energy, priced.basis.of_sum(parts));
        table.row(vec![format!("  {}", cause.name()), cell, share(energy, whole)]);
    }
    (whole > 0.0).then(|| ("by cause", table.text()))
}

fn classes(priced: &PricedRun<'_>) -> Titled {
    breakdown(priced, "by subject", |i| i.subject, |s| s.name().to_string(), Order::Falling)
}

fn by_function(program: &Program<'_>, priced: &PricedRun<'_>) -> Titled {
    let key = |i: &Item| i.at.map(|at| program.functions[at as usize].as_str());
    breakdown(priced, "by function", key, |k| k.unwrap_or("(host)").to_string(), Order::Falling)
}

/// The source line of an instruction.
pub(crate) fn place(program: &Program<'_>, at: u32) -> String {
    match program.module.loc(at as usize) {
        Some((file, loc)) => format!("{file}:{}", loc.line),
        None => format!("@{at}"),
    }
}

fn lines(program: &Program<'_>, priced: &PricedRun<'_>) -> Titled {
    let key = |i: &Item| i.at.map_or_else(|| "(host)".to_string(), |at| place(program, at));
    breakdown(priced, "by source line", key, Clone::clone, Order::Most)
}

/// A routine's name. For compiled code it is the name of the function, because the compiler numbers routines.
fn in_source<'u>(program: &Program<'_>, undoing: &'u Undoing) -> &'u str {
    let compiled = program.module.is_compiled(undoing.routine as usize);
    if compiled { name_in_source(&undoing.name) } else { &undoing.name }
}

/// The cost of undoing each routine, and that of erasing instead.
fn routines(program: &Program<'_>, priced: &PricedRun<'_>, ran: &MeasuredRun) -> Titled {
    let found = undoings(program.module, forward(ran), &ran.leaves);
    if found.is_empty() {
        return None;
    }
    let mut table = Table::new(&["  routine", "at", "undone", "to uncompute", "to erase", "words", "cheaper", ""]);
    for undoing in &found {
        let choice = undoing.choice(&priced.device);
        let cheaper = if choice.uncompute <= choice.erase { "uncompute" } else { "erase" };
        let mut note = match choice.between {
            Some((low, high)) if low > 0.0 && high.is_finite() => {
                format!("uncompute from {} to {}", si(low, "Hz"), si(high, "Hz"))
            }
            Some((_, high)) if high.is_finite() => format!("erase above {}", si(high, "Hz")),
            Some((low, _)) if low > 0.0 => format!("erase below {}", si(low, "Hz")),
            Some(_) => "at any frequency".to_string(),
            None if priced.device.hertz().is_some() => "at any frequency".to_string(),
            None => String::new(),
        };
        if undoing.calls {
            note += if note.is_empty() { "" } else { "; " };
            note += &format!("without what it calls {}", joules(choice.own));
        }
        if undoing.unknown {
            note += "; what it calls by address is left out";
        }
        table.row(vec![
            format!("  {}", in_source(program, undoing)),
            place(program, undoing.routine),
            plural(undoing.times, "time"),
            joules(choice.uncompute),
            joules(choice.erase),
            undoing.words.to_string(),
            cheaper.to_string(),
            note,
        ]);
    }
    Some(("routines that are undone", table.text()))
}

/// The counts of the run forward, the first phase of every run.
pub(crate) fn forward(ran: &MeasuredRun) -> &Counts {
    &ran.activities[0].counts
}

/// Bits destroyed by an instruction in a phase.
pub(crate) struct Lost {
    /// The source line.
    pub(crate) place: String,
    /// The instruction.
    pub(crate) instruction: String,
    /// The phase.
    pub(crate) phase: &'static str,
    /// The number of bits.
    pub(crate) bits: u64,
}

/// The bits destroyed, by phase and source line.
pub(crate) fn lost_by_line(program: &Program<'_>, ran: &MeasuredRun) -> Vec<Lost> {
    let mut by: BTreeMap<(Phase, u32), u64> = BTreeMap::new();
    for Activity { phase, counts, .. } in &ran.activities {
        for (at, bits) in &counts.lost {
            *by.entry((*phase, *at)).or_default() += bits;
        }
    }
    let instruction = |at: u32| {
        let inst = program.module.code.get(at as usize);
        inst.map_or_else(String::new, |inst| display(inst, u64::from(at), &ModuleNames(program.module)))
    };
    by.into_iter()
        .map(|((phase, at), bits)| Lost {
            place: place(program, at),
            instruction: instruction(at).split_whitespace().collect::<Vec<_>>().join(" "),
            phase: phase.name(),
            bits,
        })
        .collect()
}

/// How often a sum of doubles was, or may have been, rounded. The loss of information by rounding is not counted in
/// bits.
pub(crate) fn roundings(program: &Program<'_>, ran: &MeasuredRun) -> u64 {
    let code = &program.module.code;
    let rounds =
        |inst: &Inst| matches!(inst.kind, Kind::Accumulate { acc: Acc::Add, func, .. } if func.info().ty == Ty::F);
    let modes =
        ran.activities.iter().flat_map(|a| a.counts.modes.iter().map(|m| a.counts.per_instruction(m, code.len())));
    modes.map(|counts| code.iter().zip(counts).filter(|(inst, _)| rounds(inst)).map(|(_, n)| n).sum::<u64>()).sum()
}

fn lost(program: &Program<'_>, ran: &MeasuredRun) -> String {
    let mut out = String::new();
    let lines = lost_by_line(program, ran);
    if !lines.is_empty() {
        let mut table = Table::new(&["information lost at", "by", "phase", "bits"]);
        for Lost { place, instruction, phase, bits } in lines {
            table.row(vec![format!("  {place}"), instruction, phase.to_string(), bits.to_string()]);
        }
        let _ = write!(out, "\n{}", table.text());
    }
    let roundings = roundings(program, ran);
    if roundings > 0 {
        let _ = writeln!(
            out,
            "\n{} of doubles may have been rounded; what that loses is not counted in bits",
            plural(roundings, "sum")
        );
    }
    out
}

/// A sweep as text.
pub(crate) fn sweep_text(sweep: &Sweep, swept: &Swept) -> String {
    let mut header = vec![if sweep.voltage { "voltage" } else { "frequency" }];
    header.extend(swept.iter().map(|(name, _)| name.as_str()));
    let mut table = Table::new(&header);
    for (n, value) in sweep.values.iter().enumerate() {
        let mut row = vec![si(*value, if sweep.voltage { "V" } else { "Hz" })];
        row.extend(swept.iter().map(|(_, points)| points[n].map_or_else(|| "-".to_string(), joules)));
        table.row(row);
    }
    format!("\nEnergy with cooling\n{}", table.text())
}

/// The schedules to compare for this number of steps.
fn schedules(steps: u64, step: f64, erase: f64) -> Vec<(String, Cost)> {
    let n = u128::from(steps);
    let mut out = vec![
        ("keep every state, erase at the end".to_string(), schedule::keep_all(n)),
        ("erase every state at once".to_string(), schedule::erase_all(n)),
    ];
    // The exponent of the least power of k that is no less than the number of steps.
    let levels = |k: u128| (1u32..).find(|l| k.saturating_pow(*l) >= n).unwrap_or(1);
    let power = |k: u128| {
        let l = levels(k);
        if k.saturating_pow(l) == n { format!("{k}^{l}") } else { format!("{k}^{l} ≥ {n}") }
    };
    // A recursion that needs more than a quarter of padding would be compared for work that it does not do.
    let fits = |k: &u128| k.saturating_pow(levels(*k)) <= n + n / 4;
    for k in [2, 3, 4, 5, 8, 10, 16].into_iter().filter(fits) {
        out.push((format!("Bennett, {}", power(k)), schedule::bennett(k, levels(k))));
    }
    if let Some(k) = [4, 2, 3, 5, 10].into_iter().find(fits) {
        let m = schedule::best_hybrid(k, levels(k), step, erase);
        out.push((
            format!("hybrid, {}, lowest {} reversible", power(k), plural(m, "level")),
            schedule::hybrid(k, levels(k), m),
        ));
    }
    let least = (u64::BITS - steps.saturating_sub(1).leading_zeros() + 1) as usize;
    for pebbles in [least, 2 * least] {
        // Beyond some thousand steps, the dynamic program takes too long.
        let few = usize::try_from(steps).ok().filter(|n| *n <= 4096);
        if let Some(cost) = few.and_then(|n| schedule::knill(n, pebbles)) {
            out.push((format!("Knill, {}", plural(pebbles, "pebble")), cost));
        }
    }
    for snapshots in [4, 16].into_iter().filter(|s| u128::from(*s) < n) {
        out.push((format!("treeverse, {snapshots} snapshots"), schedule::treeverse(n, snapshots)));
    }
    out
}

/// A program as a step of a longer computation.
pub(crate) struct Steps {
    /// The cost of a step in joules.
    pub(crate) step: f64,
    /// The cost of erasing a state in joules.
    pub(crate) erase: f64,
    /// The schedules, and the cost of each in joules.
    pub(crate) schedules: Vec<(String, Cost, f64)>,
}

/// Prices the schedules.
pub(crate) fn priced_schedules(priced: &PricedRun<'_>, ran: &MeasuredRun, steps: u64) -> Steps {
    let step = priced.bill.by(|i| i.phase).get(&Phase::Forward).copied().unwrap_or_default();
    // A step takes its state from the previous step, not from the host.
    let step = step.total() - step[Cause::Link];
    let erase = priced.device.dirty(ran.state).total();
    let price = |cost: &Cost| cost.steps as f64 * step + cost.erased as f64 * erase;
    let schedules = schedules(steps, step, erase).into_iter().map(|(name, cost)| (name, cost, price(&cost))).collect();
    Steps { step, erase, schedules }
}

/// The comparison of the schedules as text.
pub(crate) fn schedule_text(priced: &[PricedRun<'_>], ran: &MeasuredRun, steps: u64) -> String {
    let mut out = String::new();
    for p in priced {
        let Steps { step, erase, schedules } = priced_schedules(p, ran, steps);
        let _ = writeln!(
            out,
            "\n{}, {} of {}; the state, {} that a run changes, costs {} to erase",
            p.device.technology().name(),
            plural(steps, "step"),
            joules(step),
            plural(ran.state.words(), "word"),
            joules(erase)
        );
        let mut table = Table::new(&["  schedule", "steps run", "states held", "states erased", "energy"]);
        for (name, cost, energy) in schedules {
            let cells = [cost.steps.to_string(), cost.states.to_string(), cost.erased.to_string(), joules(energy)];
            table.row(std::iter::once(format!("  {name}")).chain(cells).collect());
        }
        out.push_str(&table.text());
    }
    out
}
