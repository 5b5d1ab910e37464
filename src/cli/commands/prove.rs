//! `pendula prove`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use pendula::isa::Format;
use pendula::isa::inst::Kind;
use pendula::isa::table::Flow;
use pendula::isa::text::{NoNames, display};
use pendula::report::{Reporter, print};
use pendula_prove::run::{Job, run as prove};
use pendula_prove::solver::Solver;
use pendula_prove::{Claim, Counterexample, Finding, Settings, Verdict, straight};
use serde_json::{Map, Value, json};

use crate::cli::args::{ClaimName, Prove};
use crate::cli::definitions::Instructions;
use crate::cli::report::answer::{answer, finished};
use crate::cli::status::Status;

pub(crate) fn run(args: &Prove, reporter: &Reporter) -> anyhow::Result<Status> {
    let known = args.isa.read(Format::default(), reporter)?;
    let (kinds, control) = kinds(&args.mnemonic, &known)?;
    let solvers = solvers(args)?;
    let versions = solvers.iter().map(|s| s.version()).collect::<Result<Vec<String>, _>>()?;
    if let Some(folder) = &args.smt2 {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {folder}"))?;
    }
    let settings = Settings {
        solver: solvers[0],
        width: args.width,
        frac: args.width / 2,
        limit: Duration::from_secs(args.timeout),
        scripts: args.smt2.as_ref().map(PathBuf::from),
    };
    let jobs = |claim: Claim| {
        let job = move |kind: &Kind| if claim == Claim::Circuit { Job::Circuit(*kind) } else { Job::Undone(*kind) };
        kinds.iter().map(job).collect::<Vec<Job>>()
    };
    let mut claims: Vec<ClaimName> = Vec::new();
    args.claim.iter().for_each(|claim| {
        if !claims.contains(claim) {
            claims.push(*claim);
        }
    });
    let mut jobs: Vec<Job> = claims.iter().flat_map(|claim| jobs(claim.claim())).collect();
    if args.claim.contains(&ClaimName::Undone) {
        jobs.extend(control);
    } else if kinds.is_empty() {
        bail!("of instructions that direct control only `--claim undone` is made");
    }
    let tells = !args.json && !args.markdown;
    let mut failed = None;
    let findings = prove(&settings, &solvers, &jobs, |finding| {
        if tells {
            failed = print(&line(finding)).err();
        }
        failed.is_none()
    })?;
    failed.map_or(Ok(()), Err)?;
    let refuted = findings.iter().any(|f| matches!(f.verdict, Verdict::Refuted(_)));
    if args.json {
        let mut rest = Map::new();
        rest.insert("width".into(), json!(args.width));
        rest.insert("solvers".into(), json!(versions));
        rest.insert("findings".into(), findings.iter().map(finding_json).collect());
        answer(reporter, !refuted, finished(), rest)?;
    } else if args.markdown {
        print(&markdown(&findings, &versions))?;
    } else {
        print(&summary(&findings, &versions))?;
    }
    Ok(if refuted { Status::Fault } else { Status::Done })
}

/// The instructions of these names that go on to the next, or all, and what is claimed of those that direct control.
fn kinds(names: &[String], known: &Instructions) -> anyhow::Result<(Vec<Kind>, Vec<Job>)> {
    if names.is_empty() && !known.definitions.is_empty() {
        return Ok((known.added().collect(), Vec::new()));
    }
    if names.is_empty() {
        return Ok((straight().collect(), vec![Job::Control(false), Job::Control(true)]));
    }
    let (mut out, mut control): (Vec<Kind>, [bool; 2]) = (Vec::new(), [false; 2]);
    for name in names {
        let kind = known.lookup(name)?;
        match kind.flow() {
            Flow::Straight => {}
            Flow::Jump => {
                control[0] = true;
                continue;
            }
            Flow::Procedure | Flow::Call | Flow::GradientCall | Flow::CallRegister => {
                control[1] = true;
                continue;
            }
            Flow::Run => bail!("`{name}` only marks where a run begins and ends"),
            Flow::Branch(_) | Flow::Cell => bail!("of `{name}` there is no proof: it is an instruction of PISA"),
        }
        // Each pair once.
        let kind = straight().chain(known.added()).find(|k| *k == kind || *k == kind.inverse()).unwrap_or(kind);
        if !out.contains(&kind) {
            out.push(kind);
        }
    }
    let control = [false, true].into_iter().filter(|procedures| control[usize::from(*procedures)]);
    Ok((out, control.map(Job::Control).collect()))
}

fn solvers(args: &Prove) -> anyhow::Result<Vec<Solver>> {
    if args.solver.is_empty() {
        // The first error says what to install.
        let first = Solver::find()?;
        let others = Solver::ALL.into_iter().filter(|s| *s != first && s.version().is_ok());
        return Ok(std::iter::once(first).chain(others).collect());
    }
    let mut asked: Vec<Solver> = Vec::new();
    for solver in args.solver.iter().map(|s| s.solver()) {
        if !asked.contains(&solver) {
            asked.push(solver);
        }
    }
    asked.iter().try_for_each(|s| s.version().map(drop))?;
    Ok(asked)
}

fn verdict(of: &Verdict) -> &'static str {
    match of {
        Verdict::Proved => "proved",
        Verdict::Refuted(_) => "refuted",
        Verdict::Undecided => "undecided",
        Verdict::NotClaimed(_) => "not claimed",
    }
}

/// A claim in one line, and a counterexample below it.
fn line(finding: &Finding) -> String {
    let Finding { name, claim, cases, uninterpreted, verdict: found, solver, time, .. } = finding;
    let mut out = format!("{:<8} {name:<24} {:<11}", claim.name(), verdict(found));
    match found {
        Verdict::NotClaimed(why) => {
            let _ = write!(out, "  {why}");
        }
        _ => {
            let forms = if *cases == 1 { "form" } else { "forms" };
            let _ = write!(out, "  {cases:>3} {forms:<5}  {:>7.2} s  {}", time.as_secs_f64(), solver.program());
            if !uninterpreted.is_empty() {
                let _ = write!(out, "  whatever {} does", uninterpreted.join(", "));
            }
        }
    }
    let mut out = out.trim_end().to_string() + "\n";
    if let Verdict::Refuted(example) = found {
        out += &counterexample(example);
    }
    out
}

fn counterexample(example: &Counterexample) -> String {
    let mut out = format!("  {}", example.what);
    if let Some(inst) = &example.inst {
        let _ = write!(out, ": `{}`", display(inst, 0, &NoNames));
    }
    let words: Vec<String> = example.before.iter().map(|(name, word)| format!("{name} = {word:#x}")).collect();
    if !words.is_empty() {
        let _ = write!(out, " with {}", words.join(", "));
    }
    out + "\n"
}

/// How many findings there are of each kind.
fn counts(findings: &[Finding]) -> [usize; 4] {
    let mut counts = [0; 4];
    for finding in findings {
        counts[match finding.verdict {
            Verdict::Proved => 0,
            Verdict::Refuted(_) => 1,
            Verdict::Undecided => 2,
            Verdict::NotClaimed(_) => 3,
        }] += 1;
    }
    counts
}

fn summary(findings: &[Finding], versions: &[String]) -> String {
    let [proved, refuted, undecided, not_claimed] = counts(findings);
    format!(
        "{proved} proved, {refuted} refuted, {undecided} undecided, {not_claimed} not claimed, by {}\n",
        versions.join(" and ")
    )
}

fn finding_json(finding: &Finding) -> Value {
    let mut out = json!({
        "name": finding.name,
        "claim": finding.claim.name(),
        "width": finding.width,
        "forms": finding.cases,
        "uninterpreted": finding.uninterpreted,
        "verdict": verdict(&finding.verdict),
        "solver": finding.solver.program(),
        "seconds": finding.time.as_secs_f64(),
    });
    match &finding.verdict {
        Verdict::NotClaimed(why) => out["why"] = json!(why),
        Verdict::Refuted(example) => {
            let words: Map<String, Value> =
                example.before.iter().map(|(name, word)| (name.clone(), json!(word))).collect();
            out["counterexample"] = json!({
                "what": example.what,
                "instruction": example.inst.as_ref().map(|inst| display(inst, 0, &NoNames)),
                "words": words,
            });
        }
        Verdict::Proved | Verdict::Undecided => {}
    }
    out
}

/// The table of the book.
fn markdown(findings: &[Finding], versions: &[String]) -> String {
    let mut out = summary(findings, versions);
    out += "\n| claim | instruction or kernel | bits | forms | whatever these do | solver | seconds |\n|---|---|---|---|---|---|---|\n";
    for f in findings.iter().filter(|f| f.verdict == Verdict::Proved) {
        let bits = f.width.map_or("any".to_string(), |w| w.to_string());
        let kernels: Vec<String> = f.uninterpreted.iter().map(|k| format!("`{k}`")).collect();
        let names = f.name.replace('/', "` / `");
        let _ = writeln!(
            out,
            "| {} | `{names}` | {bits} | {} | {} | {} | {:.2} |",
            f.claim.name(),
            f.cases,
            kernels.join(", "),
            f.solver.program(),
            f.time.as_secs_f64(),
        );
    }
    let mut others: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for f in findings {
        let why = match &f.verdict {
            Verdict::Proved => continue,
            Verdict::NotClaimed(why) => format!("Not claimed, because {why}"),
            Verdict::Undecided => "Undecided".to_string(),
            Verdict::Refuted(example) => format!("Refuted: {}", example.what),
        };
        others.entry(why).or_default().push(format!("`{}`", f.name.replace('/', "` / `")));
    }
    for (why, names) in others {
        let _ = writeln!(out, "\n{why}: {}.", names.join(", "));
    }
    out
}
