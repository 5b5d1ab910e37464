//! One program with and without extensions: both run, compared and priced.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use anyhow::Context as _;
use pendula::asm::diagnostic::plural;
use pendula::hw_model::Technology;
use pendula::hw_model::price::{Activity, Conditions, Device, Phase, Totals, billed_memory};
use pendula::hw_model::uncertainty::{Outcome as Bill, Range, Uncertain, ratio};
use pendula::hw_model::units::si;
use pendula::isa::Module;
use pendula::isa::counts::Counts;
use pendula::isa::extension::Definition;
use pendula::vm::{Machine, Outcome, Program};
use pendula_lab::clear::counting;
use pendula_lab::compare::{Compared, compare};
use pendula_lab::rewrite::{Rewritten, Site, rewrite};
use rayon::prelude::*;
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
    pub(super) places: Places,
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
    // Their circuits take most of the time.
    let priced = technologies.par_iter().map(|technology| {
        let device = Device::for_run(technology, conditions, &totals)?;
        let seconds = device.seconds(&totals);
        let cycles = seconds.zip(device.hertz()).map(|(s, hertz)| s * hertz);
        let uncertain = Uncertain { technology, conditions, totals: &totals };
        let drawn = if draws { uncertain.draws()? } else { Vec::new() };
        Ok((cycles, seconds, (uncertain.nominal()?, drawn)))
    });
    let (mut bills, mut cycles, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
    for (ticks, time, bill) in priced.collect::<anyhow::Result<Vec<_>>>()? {
        cycles.push(ticks);
        seconds.push(time);
        bills.push(bill);
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

/// How many places have registers for temporaries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Places {
    /// Those that assume that the registers are zero, as they were in these runs.
    pub(super) assume: usize,
    /// Those that were left out because a register was not zero.
    pub(super) not_clear: usize,
    /// Those that were left out because the programs differ with them.
    pub(super) differing: usize,
}

/// A program and its rewriting, after both ran.
pub(super) struct Settled {
    pub(super) with: Rewritten,
    pub(super) compared: Compared,
    pub(super) places: Places,
}

/// How often places are looked for anew without those that were left out.
const ROUNDS: usize = 8;

/// Rewrites a program to use these definitions, and runs both. Places are left out where a register in the place of a temporary is not zero.
pub(super) fn settle(subject: &Subject, definitions: &[Arc<Definition>], given: &Given) -> anyhow::Result<Settled> {
    let (mut clear, mut not_clear): (HashSet<Site>, HashSet<Site>) = (HashSet::new(), HashSet::new());
    let mut round = 0;
    let with = loop {
        let last = round == ROUNDS;
        let allows =
            |site: &Site| site.temporaries.is_empty() || !not_clear.contains(site) && (!last || clear.contains(site));
        let with = rewrite(&subject.module, definitions, &allows)?;
        let new = |site: &&Site| !site.temporaries.is_empty() && !clear.contains(*site);
        let new: Vec<Site> = with.sites.iter().filter(new).cloned().collect();
        if new.is_empty() {
            break with;
        }
        for (site, is_clear) in new.iter().zip(are_clear(subject, &new, given)?) {
            let all = if is_clear { &mut clear } else { &mut not_clear };
            all.insert(site.clone());
        }
        round += 1;
    };
    let assuming = |with: &Rewritten| with.sites.iter().filter(|site| !site.temporaries.is_empty()).count();
    let compared = run_both(subject, &with.module, given)?;
    let places = Places { assume: assuming(&with), not_clear: not_clear.len(), differing: 0 };
    if compared.differs.is_none() || places.assume == 0 {
        return Ok(Settled { with, compared, places });
    }
    // What is rounded in gradient words that a register carries may differ.
    let with = rewrite(&subject.module, definitions, &|site| site.temporaries.is_empty())?;
    let compared = run_both(subject, &with.module, given)?;
    let places = Places { assume: 0, differing: places.assume, ..places };
    Ok(Settled { with, compared, places })
}

/// For each of these places whether the registers for its temporaries are zero there, whenever the program comes by.
fn are_clear(subject: &Subject, sites: &[Site], given: &Given) -> anyhow::Result<Vec<bool>> {
    let original = Program::new(subject.module.clone(), true)?;
    let words = session::machine(&original, given, subject.variables.as_deref())?.memory().len();
    let counting = Program::new(counting(&subject.module, sites, words as u64)?, true)?;
    let given = Given { mem: Some((words + sites.len()) as u64), ..given.clone() };
    let mut machine = session::machine(&counting, &given, subject.variables.as_deref())?;
    machine.run(None);
    Ok(machine.memory()[words..].iter().map(|times| *times == 0).collect())
}

/// How often each instruction of a program ran.
pub(super) fn executions(counts: &Counts, module: &Module) -> Vec<u64> {
    let mut all = vec![0u64; module.code.len()];
    for mode in &counts.modes {
        let ran = counts.per_instruction(mode, module.code.len());
        all.iter_mut().zip(ran).for_each(|(sum, n)| *sum += n);
    }
    all
}

/// Rewrites a program to use these definitions, runs both and compares them, and prices both.
pub(super) fn attempt(
    subject: &Subject,
    definitions: &[Arc<Definition>],
    technologies: &[Technology],
    given: &Given,
) -> anyhow::Result<Tried> {
    let Settled { with: Rewritten { module, sites, addresses }, compared, places } =
        settle(subject, definitions, given)?;
    let executions = executions(&compared.counts[1], &module);
    let mut uses: Vec<(String, usize, u64)> = Vec::new();
    for (site, at) in sites.iter().zip(&addresses) {
        let name = site.inst.kind.mnemonic();
        let times = executions.get(*at).copied().unwrap_or(0);
        match uses.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, places, sum)) => (*places, *sum) = (*places + 1, *sum + times),
            None => uses.push((name, 1, times)),
        }
    }
    // What stays as it was has no other price.
    let technologies = if sites.is_empty() { &[] } else { technologies };
    let words = subject.module.data.len() as u64 + 64;
    let before = costs(&subject.module, &compared.counts[0], technologies, words, true)?;
    let after = costs(&module, &compared.counts[1], technologies, words, true)?;
    Ok(Tried {
        rewritten: module,
        uses,
        places,
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
        if self.uses.is_empty() && self.places.not_clear + self.places.differing == 0 {
            out.push_str("  no instruction of the definitions does what its instructions do\n");
        }
        let Places { assume, not_clear, differing } = self.places;
        let left_out = |n: usize| format!("  {} left out", plural(n as u64, "place"));
        if assume > 0 {
            let assumes = if assume == 1 { "assumes" } else { "assume" };
            let places = plural(assume as u64, "place");
            let _ = writeln!(out, "  {places} {assumes} that registers are zero, which is known for these inputs only");
        }
        if not_clear > 0 {
            let _ = writeln!(out, "{}: a register would have to be zero and is not", left_out(not_clear));
        }
        if differing > 0 {
            let _ = writeln!(out, "{}: registers are zero there, but the programs differ", left_out(differing));
        }
        if self.uses.is_empty() {
            return out;
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
            "assume_clear": self.places.assume,
            "not_clear": self.places.not_clear,
            "differing": self.places.differing,
            "agrees": self.compared.differs.is_none(),
            "differs": self.compared.differs,
            "compared": self.compared.compared,
            "before": cost(&self.costs[0]),
            "after": cost(&self.costs[1]),
            "technologies": technologies,
        })
    }
}
