//! One program with and without extensions: both run, compared and priced.

use std::fmt::Write as _;
use std::sync::Arc;

use anyhow::Context as _;
use pendula::hw_model::Technology;
use pendula::hw_model::price::{Activity, Conditions, Device, Phase, Totals, billed_memory};
use pendula::hw_model::uncertainty::{Outcome as Bill, Range, Uncertain, ratio};
use pendula::hw_model::units::si;
use pendula::isa::Module;
use pendula::isa::counts::Counts;
use pendula::isa::extension::Definition;
use pendula::vm::{Machine, Outcome, Program};
use pendula_lab::compare::{Compared, compare};
use pendula_lab::rewrite::{Rewritten, rewrite};
use serde_json::{Value, json};

use super::subject::Subject;
use crate::cli::args::Conditions as Given;
use crate::cli::report::columns::{left, right};
use crate::cli::session;

/// What a program costs.
pub(super) struct Costs {
    pub(super) instructions: u64,
    pub(super) code: usize,
    /// For each technology: cycles of its clock, if it has one, and seconds.
    pub(super) cycles: Vec<Option<f64>>,
    seconds: Vec<Option<f64>>,
    /// For each technology: by its nominal figures, and by others drawn from their ranges.
    pub(super) bills: Vec<(Bill, Vec<Bill>)>,
}

/// A program before and after.
pub(super) struct Tried {
    pub(super) rewritten: Module,
    /// For each extension that is used: its mnemonic, at how many places, and how often it ran.
    pub(super) uses: Vec<(String, usize, u64)>,
    /// Whether extensions with temporaries were left out because the programs did not agree with them.
    pub(super) without_temporaries: bool,
    pub(super) compared: Compared,
    pub(super) costs: [Costs; 2],
    technologies: Vec<String>,
}

/// The costs of a run forward; `draws` also by figures from their ranges.
pub(super) fn costs(
    module: &Module,
    counts: &Counts,
    technologies: &[Technology],
    words: u64,
    draws: bool,
) -> anyhow::Result<Costs> {
    let activities = [Activity::new(Phase::Forward, counts.clone())];
    let totals = Totals::new(module, &activities);
    let conditions = Conditions {
        hertz: None,
        volt: None,
        kelvin: None,
        memory_words: billed_memory(words),
        frac: module.flags.format.frac().min(module.flags.profile.width() / 2),
        width: module.flags.profile.width(),
    };
    let (mut bills, mut cycles, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
    for technology in technologies {
        let device = Device::for_run(technology, conditions, &totals)?;
        seconds.push(device.seconds(&totals));
        cycles.push(device.seconds(&totals).zip(device.hertz()).map(|(s, hertz)| s * hertz));
        let uncertain = Uncertain { technology, conditions, totals: &totals };
        let drawn = if draws { uncertain.draws()? } else { Vec::new() };
        bills.push((uncertain.nominal()?, drawn));
    }
    Ok(Costs { instructions: totals.instructions, code: module.code.len(), cycles, seconds, bills })
}

/// Runs a program with and without extensions.
pub(super) fn run_both(subject: &Subject, other: &Module, given: &Given) -> anyhow::Result<Compared> {
    let programs = [&subject.module, other].map(|module| Program::new(module.clone(), true));
    let [first, second] = programs;
    let (first, second) = (first?, second.context("the rewritten program is not valid")?);
    let machine =
        |program| -> anyhow::Result<Machine<'_>> { session::machine(program, given, subject.variables.as_deref()) };
    let (mut a, mut b) = (machine(&first)?, machine(&second)?);
    Ok(compare([&mut a, &mut b], [&subject.module, other]))
}

/// Rewrites a program to use these definitions, runs both and compares them, and prices both.
pub(super) fn attempt(
    subject: &Subject,
    definitions: &[Arc<Definition>],
    technologies: &[Technology],
    given: &Given,
) -> anyhow::Result<Tried> {
    let mut with = rewrite(&subject.module, definitions, true)?;
    let mut compared = run_both(subject, &with.module, given)?;
    let uses_temporaries = with.sites.iter().any(|site| !site.temporaries.is_empty());
    let without_temporaries = compared.differs.is_some() && uses_temporaries;
    if without_temporaries {
        with = rewrite(&subject.module, definitions, false)?;
        compared = run_both(subject, &with.module, given)?;
    }
    let Rewritten { module, sites, addresses } = with;
    let per = |counts: &Counts, module: &Module| {
        let mut all = vec![0u64; module.code.len()];
        for mode in &counts.modes {
            for (sum, n) in all.iter_mut().zip(counts.per_instruction(mode, module.code.len())) {
                *sum += n;
            }
        }
        all
    };
    let executions = per(&compared.counts[1], &module);
    let mut uses: Vec<(String, usize, u64)> = Vec::new();
    for (site, at) in sites.iter().zip(&addresses) {
        let name = site.inst.kind.mnemonic();
        let times = executions.get(*at).copied().unwrap_or(0);
        match uses.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, places, sum)) => (*places, *sum) = (*places + 1, *sum + times),
            None => uses.push((name, 1, times)),
        }
    }
    let words = subject.module.data.len() as u64 + 64;
    let before = costs(&subject.module, &compared.counts[0], technologies, words, true)?;
    let after = costs(&module, &compared.counts[1], technologies, words, true)?;
    Ok(Tried {
        rewritten: module,
        uses,
        without_temporaries,
        compared,
        costs: [before, after],
        technologies: technologies.iter().map(|t| t.name().to_string()).collect(),
    })
}

/// A change in per cent.
pub(super) fn change(before: f64, after: f64) -> String {
    if before == after {
        return "same".to_string();
    }
    if before == 0.0 {
        return String::new();
    }
    format!("{:+.2} %", 100.0 * (after / before - 1.0))
}

impl Tried {
    /// The range of the ratio of energies at the plug, after to before.
    fn range(&self, n: usize) -> Range {
        if self.costs[0].bills[n].0.plug == self.costs[1].bills[n].0.plug {
            return Range { low: 1.0, high: 1.0 };
        }
        ratio(&self.costs[1].bills[n].1, &self.costs[0].bills[n].1, |bill| bill.plug)
    }

    pub(super) fn text(&self, subject: &Subject) -> String {
        let mut out = format!("{}\n", subject.name);
        for (name, places, times) in &self.uses {
            let places = if *places == 1 { "1 place".to_string() } else { format!("{places} places") };
            let _ = writeln!(out, "  {name} at {places}, {times} times");
        }
        if self.uses.is_empty() {
            out.push_str("  no instruction of the definitions does what its instructions do\n");
        }
        if self.without_temporaries {
            out.push_str("  left out where a register would have to be zero and is not\n");
        }
        match (&self.compared.differs, &self.compared.stopped) {
            (Some(differs), _) => {
                let _ = writeln!(out, "  DIFFERS: {differs}");
            }
            (None, Some(Outcome::Trap(trap))) => {
                let _ = writeln!(out, "  both stop alike: {}", trap.fault.title());
            }
            (None, _) => {
                let _ = writeln!(out, "  agrees in every bit: {}", self.compared.compared.join(", "));
            }
        }
        let [before, after] = &self.costs;
        let mut line = |name: &str, a: String, b: String, change: String, range: String| {
            let row =
                format!("  {} {} {} {}  {range}", left(name, 24), right(&a, 12), right(&b, 12), right(&change, 10));
            let _ = writeln!(out, "{}", row.trim_end());
        };
        line("", "before".into(), "after".into(), "change".into(), "5 to 95 % of the change".into());
        let number =
            |name: &str, a: u64, b: u64| (name.to_string(), a.to_string(), b.to_string(), change(a as f64, b as f64));
        let (name, a, b, c) = number("instructions", before.instructions, after.instructions);
        line(&name, a, b, c, String::new());
        let (name, a, b, c) = number("code, in words", before.code as u64, after.code as u64);
        line(&name, a, b, c, String::new());
        for (n, technology) in self.technologies.iter().enumerate() {
            let times = [(before.cycles[n], after.cycles[n]), (before.seconds[n], after.seconds[n])];
            let unit = |x: f64, clocked: bool| if clocked { format!("{x:.0}") } else { si(x, "s") };
            for ((a, b), clocked) in times.into_iter().zip([true, false]) {
                if let (Some(a), Some(b)) = (a, b) {
                    let what = if clocked { "cycles" } else { "time" };
                    line(
                        &format!("{technology}, {what}"),
                        unit(a, clocked),
                        unit(b, clocked),
                        change(a, b),
                        String::new(),
                    );
                }
            }
            let (old, new) = (before.bills[n].0, after.bills[n].0);
            let Range { low, high } = self.range(n);
            let range = if new.plug == old.plug {
                String::new()
            } else {
                format!("{} to {}", change(1.0, low), change(1.0, high))
            };
            line(
                &format!("{technology}, at the plug"),
                si(old.plug, "J"),
                si(new.plug, "J"),
                change(old.plug, new.plug),
                range,
            );
        }
        out
    }

    pub(super) fn json(&self, subject: &Subject) -> Value {
        let cost = |costs: &Costs| json!({ "instructions": costs.instructions, "code": costs.code });
        let technologies: Vec<Value> = self
            .technologies
            .iter()
            .enumerate()
            .map(|(n, name)| {
                let Range { low, high } = self.range(n);
                let [before, after] = &self.costs;
                let mut out = json!({
                    "technology": name,
                    "joules": [before.bills[n].0.joules, after.bills[n].0.joules],
                    "plug": [before.bills[n].0.plug, after.bills[n].0.plug],
                    "ratio": { "low": low, "high": high },
                });
                for (key, a, b) in
                    [("cycles", before.cycles[n], after.cycles[n]), ("seconds", before.seconds[n], after.seconds[n])]
                {
                    if let (Some(a), Some(b)) = (a, b) {
                        out[key] = json!([a, b]);
                    }
                }
                out
            })
            .collect();
        let uses: Vec<Value> = self
            .uses
            .iter()
            .map(|(name, places, times)| json!({ "mnemonic": name, "places": places, "times": times }))
            .collect();
        json!({
            "file": subject.name,
            "uses": uses,
            "agrees": self.compared.differs.is_none(),
            "differs": self.compared.differs,
            "compared": self.compared.compared,
            "before": cost(&self.costs[0]),
            "after": cost(&self.costs[1]),
            "technologies": technologies,
        })
    }
}
