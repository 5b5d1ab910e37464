//! `pendula run --expect`: whether expressions have the values that programs say they have, and tests in Julia hold.

use pendula::asm::diagnostic::{Sources, plural};
use pendula::compiler::nil::is_host;
use pendula::load::{display_name, read_source, text_of};
use pendula::report::{Reporter, line_and_column, print};
use pendula_functional::expect::Verdict;
use pendula_functional::source::expectations;
use serde_json::{Map, Value, json};

use crate::cli::args::{Run, Source};
use crate::cli::commands::functional::{found, limits, run, text};
use crate::cli::commands::{budget, each};
use crate::cli::interrupt::{InterruptGuard, is_requested};
use crate::cli::julia;
use crate::cli::report::answer;
use crate::cli::status::{Reported, Status};

/// What became of a file's expectations.
#[derive(Default)]
struct Counted {
    met: u64,
    /// Those that could be checked.
    all: u64,
    /// What was not met, as JSON.
    unmet: Vec<Value>,
    /// Tests in Julia that could not be evaluated without it, as JSON.
    left_out: Vec<Value>,
}

pub(crate) fn run(args: &Run, reporter: &Reporter) -> anyhow::Result<Status> {
    let files = std::iter::once(&args.source.file).chain(&args.others);
    let sources: Vec<Source> =
        files.map(|file| Source { file: file.clone(), options: args.source.options.clone() }).collect();
    let (mut met, mut all, mut left_out) = (0, 0, 0);
    let several = sources.len() > 1;
    let guard = InterruptGuard::begin(reporter);
    let status = each(sources.into_iter(), (false, args.json), reporter, |source| {
        run::refuse_others(args, &source.file)?;
        let host = is_host(&source.file);
        let counted = if host { tested(args, source)? } else { one(args, source, reporter)? };
        met += counted.met;
        all += counted.all;
        left_out += counted.left_out.len() as u64;
        let status = if counted.met == counted.all { Status::Done } else { Status::Fault };
        if args.json {
            let mut rest = Map::from_iter([
                ("expected".to_string(), json!(counted.all)),
                ("met".to_string(), json!(counted.met)),
                ("unmet".to_string(), Value::Array(counted.unmet)),
            ]);
            if host {
                rest.insert("left_out".to_string(), Value::Array(counted.left_out));
            }
            answer::answer(reporter, status == Status::Done, answer::finished(), rest)?;
        }
        Ok(status)
    })?;
    drop(guard);
    if several && !args.json {
        print(&format!("{met} of {} met{}\n", plural(all, "expectation"), and_left_out(left_out)))?;
    }
    Ok(status)
}

/// How many tests were not evaluated.
fn and_left_out(count: u64) -> String {
    if count == 0 { String::new() } else { format!(", {count} not evaluated") }
}

/// Evaluates the tests of a file in Julia, and prints which do not hold; `-v` lists those that are not evaluated.
fn tested(args: &Run, source: &Source) -> anyhow::Result<Counted> {
    source.check()?;
    let budget = budget(&source.options);
    let text = text_of(&source.file, read_source(&source.file, &budget)?)?;
    let name = display_name(&source.file);
    let mut out = Counted::default();
    for julia::Tested { file, line, verdict } in julia::tests(name, &text, &budget) {
        match verdict {
            julia::Verdict::Met => {
                out.all += 1;
                out.met += 1;
            }
            julia::Verdict::Unmet(why) => {
                out.all += 1;
                if !args.json {
                    print(&format!("{file}:{line}: {why}\n"))?;
                }
                out.unmet.push(json!({ "file": file, "line": line, "why": why }));
            }
            julia::Verdict::Unknown(why) => {
                tracing::info!("{file}:{line}: not evaluated: {why}");
                out.left_out.push(json!({ "file": file, "line": line, "why": why }));
            }
        }
        if is_requested() {
            return Err(Reported(Status::Interrupted).into());
        }
    }
    if !args.json {
        let left_out = and_left_out(out.left_out.len() as u64);
        print(&format!("{name}: {} of {} met{left_out}\n", out.met, plural(out.all, "test")))?;
    }
    Ok(out)
}

/// Checks the expectations of one program, and prints which are not met.
fn one(args: &Run, source: &Source, reporter: &Reporter) -> anyhow::Result<Counted> {
    source.check()?;
    let budget = budget(&source.options);
    let (text, notation) = text(&source.file, &budget)?;
    let mut sources = Sources::default();
    let name = display_name(&source.file);
    let (mut load, limits) = (found(&budget), limits(&args.given));
    let expected = match expectations(notation, (name, &text), &mut sources, &mut load, (&budget, &limits)) {
        Ok(expected) => expected,
        Err(diagnostics) => {
            crate::cli::output::report(&diagnostics, &sources, args.json, reporter)?;
            return Err(Reported(Status::Fault).into());
        }
    };
    let mut out = Counted::default();
    for expectation in expected {
        out.all += 1;
        let Some(why) = unmet(&expectation.verdict) else {
            out.met += 1;
            continue;
        };
        let place = expectation.place.as_ref();
        let line = place.map_or(1, |p| line_and_column(sources.text(p.file), p.span.start).0);
        if !args.json {
            print(&format!("{}:{line}: {why}\n", place.map_or(name, |p| sources.name(p.file))))?;
        }
        out.unmet.push(json!({ "line": line, "why": why }));
    }
    if is_requested() {
        return Err(Reported(Status::Interrupted).into());
    }
    if !args.json {
        print(&format!("{name}: {} of {} met\n", out.met, plural(out.all, "expectation")))?;
    }
    Ok(out)
}

/// Why an expectation is not met; `None` if it is.
fn unmet(verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Met => None,
        Verdict::Differs(expected, found) => Some(format!("expected {expected}, found {found}")),
        Verdict::Failed(failure) => {
            let d = failure.diagnostic();
            Some(format!("{}: {}", d.code, d.message))
        }
        Verdict::Wrong(why) => Some(why.clone()),
        Verdict::Skipped(why) => Some(format!("not checked: {why}")),
    }
}
