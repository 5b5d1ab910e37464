//! `pendula lab discover`.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use pendula::hw_model::Technology;
use pendula::isa::Module;
use pendula::isa::counts::Counts;
use pendula::isa::extension::Definition;
use pendula::report::{Reporter, print};
use pendula_lab::discover::{Limits, Ran, does_what_one_of, proposals};
use serde_json::{Map, Value, json};

use super::definition_text;
use super::subject::{Subject, subjects, technologies};
use super::tried::{Costs, Settled, Tried, attempt, costs, executions, settle};
use crate::cli::args::{LabDiscover, Saves};
use crate::cli::output::write_file;
use crate::cli::report::answer::{answer, finished};
use crate::cli::status::Status;

/// How many proposals are tried for each instruction that is found.
const TRIALS: usize = 8;

/// An instruction that was found, and what it saves on all programs, beside those found before it.
struct Found {
    definition: Arc<Definition>,
    text: String,
    saves: f64,
}

fn definitions(found: &[Found]) -> Vec<Arc<Definition>> {
    found.iter().map(|f| Arc::clone(&f.definition)).collect()
}

/// The cost by which instructions are chosen.
fn cost(costs: &Costs, by: Saves) -> f64 {
    match by {
        Saves::Energy => costs.bills.first().map_or(0.0, |(bill, _)| bill.plug),
        Saves::Cycles => costs.cycles.first().copied().flatten().unwrap_or(costs.instructions as f64),
        Saves::Size => costs.code as f64,
    }
}

pub(super) fn run(args: &LabDiscover, reporter: &Reporter) -> anyhow::Result<Status> {
    let technologies = technologies(&args.programs.tech)?;
    let subjects = subjects(args.sources.each(), None, &args.programs, reporter)?;
    let limits = Limits { inputs: args.inputs.into(), outputs: args.outputs.into(), steps: args.steps.into() };
    let mut found: Vec<Found> = Vec::new();
    let search = Search { args, subjects: &subjects, technologies: &technologies, limits };
    while found.len() < usize::from(args.count) {
        let Some(one) = search.next(&found)? else { break };
        found.push(one);
    }
    let attempts = |found: &[Found]| -> anyhow::Result<Vec<(&Subject, Tried)>> {
        let definitions = definitions(found);
        let tried = |subject| Ok((subject, attempt(subject, &definitions, &technologies, &args.programs.given)?));
        subjects.iter().map(tried).collect()
    };
    let mut tried = attempts(&found)?;
    // Later ones may have taken all places of an earlier one.
    let all = found.len();
    let used: HashSet<&String> = tried.iter().flat_map(|(_, t)| t.uses.iter().map(|(name, ..)| name)).collect();
    found.retain(|f| f.definition.mnemonics().iter().any(|(name, ..)| used.contains(name)));
    if found.len() < all {
        search.measure_again(&mut found)?;
        tried = attempts(&found)?;
    }
    let agree = tried.iter().all(|(_, tried)| tried.compared.differs.is_none());
    let file = found.iter().map(|f| f.text.as_str()).collect::<Vec<_>>().join("\n");
    if let Some(path) = args.output.as_deref().filter(|path| *path != "-") {
        write_file(path, file.as_bytes())?;
    }
    if args.programs.json {
        let list: Vec<Value> = found
            .iter()
            .map(|f| json!({ "mnemonic": f.definition.name, "definition": f.text, "saves": f.saves }))
            .collect();
        let mut rest = Map::new();
        rest.insert("found".into(), json!(list));
        rest.insert("programs".into(), tried.iter().map(|(subject, tried)| tried.json(subject)).collect());
        answer(reporter, agree, finished(), rest)?;
    } else {
        let mut out = String::new();
        if found.is_empty() {
            out.push_str("no instruction within these limits saves anything\n");
        }
        if args.output.as_deref().is_none_or(|path| path == "-") {
            out.push_str(&file);
        } else {
            found.iter().for_each(|f| _ = writeln!(out, "{}", f.definition.name));
        }
        if !found.is_empty() {
            for (subject, tried) in &tried {
                out.push('\n');
                out.push_str(&tried.text(subject));
            }
        }
        print(&out)?;
    }
    Ok(if agree { Status::Done } else { Status::Fault })
}

struct Search<'a> {
    args: &'a LabDiscover,
    subjects: &'a [Subject],
    technologies: &'a [Technology],
    limits: Limits,
}

/// The programs as they are with some instructions, how often each of their instructions runs, and the cost of all.
struct Now {
    programs: Vec<(Subject, Vec<u64>)>,
    cost: f64,
}

impl Search<'_> {
    /// The programs with the instructions found so far.
    fn now(&self, found: &[Found]) -> anyhow::Result<Now> {
        let definitions = definitions(found);
        let mut now = Now { programs: Vec::new(), cost: 0.0 };
        for subject in self.subjects {
            let Settled { with, compared, .. } = settle(subject, &definitions, &self.args.programs.given)?;
            now.cost += self.cost(&with.module, &compared.counts[1])?;
            let executions = executions(&compared.counts[1], &with.module);
            let Subject { name, variables, .. } = subject;
            let subject = Subject { name: name.clone(), module: with.module, variables: variables.clone() };
            now.programs.push((subject, executions));
        }
        Ok(now)
    }

    /// The cost of a run by which instructions are chosen.
    fn cost(&self, module: &Module, counts: &Counts) -> anyhow::Result<f64> {
        let words = module.data.len() as u64 + 64;
        Ok(cost(&costs(module, counts, &self.technologies[..1], words, false)?, self.args.by))
    }

    /// What each instruction saves beside those before it.
    fn measure_again(&self, found: &mut [Found]) -> anyhow::Result<()> {
        let mut before = self.now(&[])?.cost;
        for n in 0..found.len() {
            let after = self.now(&found[..=n])?.cost;
            found[n].saves = before - after;
            before = after;
        }
        Ok(())
    }

    /// The instruction that saves most; `None` if none saves anything.
    fn next(&self, found: &[Found]) -> anyhow::Result<Option<Found>> {
        let Now { programs, cost: before } = self.now(found)?;
        let ran: Vec<Ran> = programs
            .iter()
            .map(|(subject, executions)| Ran { module: &subject.module, executions: executions.clone() })
            .collect();
        let mut best: Option<Found> = None;
        // Those that were tried, and those that were found before.
        let mut known = definitions(found);
        let mut trials = 0;
        for proposal in proposals(&ran, self.limits).iter().filter(|p| p.is_within(self.limits)) {
            if trials == TRIALS {
                break;
            }
            let (program, at) = proposal.at;
            let of = &programs[program].0;
            let place = of.module.loc(at).map_or(String::new(), |(file, loc)| format!(" at {file}:{}", loc.line));
            let docs = vec![
                format!("Found in {}{place}.", of.name),
                format!("Its steps ran {} times together.", proposal.executions),
            ];
            let definition = proposal.named(&format!("lab{}", found.len() + 1), docs);
            if does_what_one_of(&known, &definition)? {
                continue;
            }
            known.push(Arc::clone(&definition));
            trials += 1;
            let (mut after, mut agrees) = (0.0, true);
            for (subject, _) in &programs {
                let one = std::slice::from_ref(&definition);
                let Settled { with, compared, .. } = settle(subject, one, &self.args.programs.given)?;
                agrees &= compared.differs.is_none();
                after += self.cost(&with.module, &compared.counts[1])?;
            }
            let saves = before - after;
            if agrees && saves > 0.0 && best.as_ref().is_none_or(|b| saves > b.saves) {
                let text = definition_text(&definition, of);
                best = Some(Found { definition, text, saves });
            }
        }
        Ok(best)
    }
}
