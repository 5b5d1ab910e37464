//! `pendula lab discover`.

use std::fmt::Write as _;
use std::sync::Arc;

use pendula::hw_model::Technology;
use pendula::isa::extension::Definition;
use pendula::report::{Reporter, print};
use pendula_lab::discover::{Limits, Ran, proposals};
use pendula_lab::rewrite::rewrite;
use serde_json::{Map, Value, json};

use super::definition_text;
use super::subject::{Subject, subjects, technologies};
use super::tried::{Costs, Tried, attempt, costs, run_both};
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
    let subjects = subjects(args.sources.each(), &args.programs, reporter)?;
    let limits = Limits { inputs: args.inputs.into(), outputs: args.outputs.into(), steps: args.steps.into() };
    let mut found: Vec<Found> = Vec::new();
    let search = Search { args, subjects: &subjects, technologies: &technologies, limits };
    while found.len() < usize::from(args.count) {
        let Some(one) = search.next(&found)? else { break };
        found.push(one);
    }
    let definitions: Vec<Arc<Definition>> = found.iter().map(|f| Arc::clone(&f.definition)).collect();
    let mut tried: Vec<(&Subject, Tried)> = Vec::new();
    for subject in &subjects {
        tried.push((subject, attempt(subject, &definitions, &technologies, &args.programs.given)?));
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

impl Search<'_> {
    /// The programs as they are with the instructions found so far.
    fn now(&self, found: &[Found]) -> anyhow::Result<Vec<Subject>> {
        let definitions: Vec<Arc<Definition>> = found.iter().map(|f| Arc::clone(&f.definition)).collect();
        let mut out = Vec::new();
        for subject in self.subjects {
            let module = rewrite(&subject.module, &definitions, true)?.module;
            out.push(Subject { name: subject.name.clone(), module, variables: subject.variables.clone() });
        }
        Ok(out)
    }

    /// The instruction that saves most; `None` if none saves anything.
    fn next(&self, found: &[Found]) -> anyhow::Result<Option<Found>> {
        let first = &self.technologies[..1];
        let now = self.now(found)?;
        let (mut ran, mut before) = (Vec::new(), 0.0);
        for subject in &now {
            let compared = run_both(subject, &subject.module, &self.args.programs.given)?;
            let counts = &compared.counts[0];
            let mut executions = vec![0u64; subject.module.code.len()];
            for mode in &counts.modes {
                let all = counts.per_instruction(mode, subject.module.code.len());
                executions.iter_mut().zip(all).for_each(|(sum, n)| *sum += n);
            }
            let words = subject.module.data.len() as u64 + 64;
            before += cost(&costs(&subject.module, counts, first, words, false)?, self.args.by);
            ran.push(Ran { module: &subject.module, executions });
        }
        let mut best: Option<Found> = None;
        let all = proposals(&ran, self.limits);
        for proposal in all.iter().filter(|p| p.is_within(self.limits)).take(TRIALS) {
            let (program, at) = proposal.at;
            let place =
                now[program].module.loc(at).map_or(String::new(), |(file, loc)| format!(" at {file}:{}", loc.line));
            let docs = vec![
                format!("Found in {}{place}.", now[program].name),
                format!("Its steps ran {} times together.", proposal.executions),
            ];
            let definition = proposal.named(&format!("lab{}", found.len() + 1), docs);
            let (mut after, mut agrees) = (0.0, true);
            for subject in &now {
                let with = rewrite(&subject.module, std::slice::from_ref(&definition), true)?;
                let compared = run_both(subject, &with.module, &self.args.programs.given)?;
                agrees &= compared.differs.is_none();
                let words = subject.module.data.len() as u64 + 64;
                after += cost(&costs(&with.module, &compared.counts[1], first, words, false)?, self.args.by);
            }
            let saves = before - after;
            if agrees && saves > 0.0 && best.as_ref().is_none_or(|b| saves > b.saves) {
                let text = definition_text(&definition, &now[program]);
                best = Some(Found { definition, text, saves });
            }
        }
        Ok(best)
    }
}
