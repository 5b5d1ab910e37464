//! `pendula grad`.

use pendula::asm::diagnostic::Diagnostic;
use pendula::grad::{Check, GradError, Gradient, Options, Report, grad, names};
use pendula::hw_model::Technology;
use pendula::isa::module::Module;
use pendula::isa::num::Format;
use pendula::isa::text::number;
use pendula::isa::types::Ty;
use pendula::load::display_name;
use pendula::values::Location;
use pendula::vm::{Machine, Outcome};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

use crate::Status;
use crate::cli::Grad;
use crate::cmd::run::{stats_json, stats_text};
use crate::cmd::{Program, load, report};
use crate::drift::{Drift, drift};
use crate::outcome::{explain, flags_json, outcome_json};
use crate::report::{Reporter, print, print_json, to_json};
use crate::session::{self, Session};
use crate::trapped;

/// How many elements of an array are printed, and how many comparisons.
const ELEMENTS: usize = 64;

/// Why a run stopped: the program, or a file.
enum Stop {
    Outcome(Outcome),
    Trouble(anyhow::Error),
}

pub(crate) fn run(args: &Grad, reporter: &Reporter) -> anyhow::Result<Status> {
    let given = &args.given;
    let loaded = match load(&args.source, given.mem, args.json, reporter)? {
        Ok(program) => program,
        Err(status) => return Ok(status),
    };
    if !args.json {
        reporter.diagnostics(&loaded.warnings, &loaded.sources);
    }
    let program = match session::program(&loaded, &args.source, given, true, args.json, reporter)? {
        Ok(program) => program,
        Err(status) => return Ok(status),
    };
    let mut machine = session::machine(&program, given)?;
    if let Some(tape) = &args.input {
        session::input(&mut machine, tape, None, false)?;
    }
    let options = Options {
        loss: args.loss.clone(),
        wrt: args.wrt.clone(),
        seed: args.seed.clone(),
        hessian: args.hessian,
        jacobian: args.jacobian,
        check: args.check,
        keep_dropped: args.keep_dropped,
    };
    let mut session = Session::new(given, false);
    let outcome = grad(&mut machine, &options, |m| match session.go(m) {
        Ok(Outcome::Finished) => Ok(()),
        Ok(other) => Err(Stop::Outcome(other)),
        Err(error) => Err(Stop::Trouble(error)),
    });
    let found = match outcome {
        Ok(found) => found,
        Err(error) => return stopped(error, args, &loaded, &machine, reporter),
    };
    let drift = found.drift.as_ref().map(|(a, b)| drift(program.module(), (&a.regs, &a.mem), (&b.regs, &b.mem)));
    // Fixed-point and logarithmic numbers and integers come back; only rounding may stay.
    let broken = drift.as_ref().is_some_and(|d| !d.only_rounding && !uses_floats(program.module()));
    let kept = found.kept.is_none_or(|(_, back)| back || uses_floats(program.module()));
    let ok = !broken && kept && found.agrees();
    let technology = Technology::default_technology();
    if args.json {
        let mut object = to_object(&found, program.module().flags.format, args.hex);
        object.insert("flags".into(), flags_json(&machine));
        let warnings: Vec<Value> = loaded.warnings.iter().map(|d| to_json(d, &loaded.sources)).collect();
        object.insert("diagnostics".into(), Value::Array(warnings));
        if let Some(drift) = drift.filter(|_| args.drift) {
            object.insert("drift".into(), drift.json);
        }
        if args.stats {
            object.insert("stats".into(), stats_json(&machine, &technology, session.started.elapsed()));
        }
        print_json(&Value::Object(object))?;
    } else {
        print(&text(&found, program.module().flags.format, args.hex))?;
        print(&state_text(&found, drift.as_ref(), args.drift, broken))?;
        if args.stats {
            print(&stats_text(&machine, &technology, session.started.elapsed()))?;
        }
        explain(&Outcome::Finished, &machine, &loaded.sources, reporter, None);
    }
    Ok(if ok { Status::Done } else { Status::Fault })
}

/// Whether a module computes with floating-point numbers, whose sums round.
fn uses_floats(module: &Module) -> bool {
    use pendula::isa::inst::Kind;
    module.code.iter().any(|i| match i.kind {
        Kind::Accumulate { func, .. } => func.info().ty == Ty::F,
        Kind::Row { ty, .. } => ty == Ty::F,
    })
}

fn stopped(
    error: GradError<Stop>,
    args: &Grad,
    loaded: &Program,
    machine: &Machine<'_>,
    reporter: &Reporter,
) -> anyhow::Result<Status> {
    let module = machine.program().module();
    match error {
        GradError::Stopped(Stop::Trouble(error)) => Err(error),
        GradError::Stopped(Stop::Outcome(outcome)) => {
            if args.json {
                let outcome = outcome_json(&outcome, machine, args.given.max_steps);
                print_json(&json!({ "schema": 1, "outcome": outcome, "flags": flags_json(machine) }))?;
            } else {
                explain(&outcome, machine, &loaded.sources, reporter, args.given.max_steps);
            }
            Ok(Status::Fault)
        }
        GradError::Refused(refused) => {
            let mut d =
                Diagnostic::error("P0144", format!("{}: {}", display_name(&args.source.file), error_text(refused)));
            if let pendula::vm::gradient::Refused::UsesGradients(at) = refused
                && let Some(place) = trapped::place(module, &loaded.sources, at)
            {
                d = d.at(place, "here");
            }
            let d = d.help("such a program makes its own gradients: `pendula run` runs it");
            report(&[d], &loaded.sources, args.json, reporter)?;
            Ok(Status::Fault)
        }
        GradError::Seed(fault) => {
            let message = format!("the gradient word of the loss, the seed times its value: {fault}");
            let d = Diagnostic::error(fault.code(), message).help("give a smaller `--seed`");
            report(&[d], &loaded.sources, args.json, reporter)?;
            Ok(Status::Fault)
        }
        error @ (GradError::Value(_)
        | GradError::Integer(..)
        | GradError::Array { .. }
        | GradError::NoLoss(_)
        | GradError::NoInputs) => {
            let message = match error {
                GradError::Value(e) => e.to_string(),
                GradError::Integer(name, why) => format!("`{name}` is read as an integer, which has no gradient{why}"),
                GradError::Array { name, len } => format!(
                    "the loss `{name}` has {len} words: name one, such as `{name}[0]`, or take the gradient of each with `--jacobian`"
                ),
                GradError::NoLoss(why) => format!("name the loss with `--loss NAME`: {why}"),
                _ => "name the inputs with `--wrt NAMES`: the program imports no fixed-point, logarithmic or floating-point number".to_string(),
            };
            anyhow::bail!(message)
        }
    }
}

fn error_text(refused: pendula::vm::gradient::Refused) -> String {
    GradError::<Stop>::Refused(refused).to_string()
}

/// A derivative as text; what does not exist says why.
fn derivative_text(d: Option<(u64, Ty)>, format: Format) -> String {
    d.map_or_else(|| "undefined (the number is a logarithmic zero)".to_string(), |(w, ty)| number(w, ty, format))
}

fn gradient_text(g: &Gradient, format: Format, hex: bool) -> String {
    let one = |n: usize| {
        if hex { format!("{:#018x}", g.words[n]) } else { derivative_text(g.derivatives[n], format) }
    };
    match g.input.at {
        Location::Memory { array: true, .. } => {
            let mut items: Vec<String> = (0..g.words.len().min(ELEMENTS)).map(one).collect();
            if g.words.len() > ELEMENTS {
                items.push(format!("… {} words in all", g.words.len()));
            }
            format!("[{}]", items.join(", "))
        }
        Location::Memory { .. } | Location::Register(_) => one(0),
    }
}

fn text(found: &Report, format: Format, hex: bool) -> String {
    let mut lines: Vec<(String, String)> = Vec::new();
    for loss in &found.losses {
        let value = if hex { format!("{:#018x}", loss.value) } else { number(loss.value, loss.variable.ty, format) };
        lines.push((loss.name.clone(), value));
        let top = if found.losses.len() > 1 { loss.name.as_str() } else { "" };
        for g in &loss.gradients {
            lines.push((format!("∂{top}/∂{}", g.input.name), gradient_text(g, format, hex)));
        }
    }
    let width = lines.iter().map(|(n, _)| n.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for (name, value) in lines {
        let pad = width - name.chars().count();
        let _ = writeln!(out, "{name}{:pad$} = {value}", "");
    }
    if let Some(hessian) = &found.hessian {
        out.push_str(&hessian_text(hessian, &found.input_words()));
    }
    if let Some(checks) = &found.checks {
        out.push_str(&checks_text(checks, found));
    }
    out
}

fn hessian_text(hessian: &[Vec<Option<f64>>], names: &[String]) -> String {
    let show = |x: &Option<f64>| x.map_or_else(|| "undefined".to_string(), |x| format!("{x}"));
    if let ([row], [name]) = (hessian, names) {
        return format!("∂²/∂{name}² = {}\n", row.first().map(show).unwrap_or_default());
    }
    let mut out = String::from("∂²/∂…∂…\n");
    let cells: Vec<Vec<String>> = hessian.iter().map(|row| row.iter().map(show).collect()).collect();
    let lengths = cells.iter().flatten().chain(names).map(|c| c.chars().count());
    let width = lengths.max().unwrap_or(0);
    let side = names.iter().map(|n| n.chars().count()).max().unwrap_or(0);
    let line = |name: &str, cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|c| format!("{c:>width$}")).collect();
        format!("  {name:<side$}  {}\n", cells.join("  "))
    };
    out.push_str(&line("", names));
    for (name, row) in names.iter().zip(&cells) {
        out.push_str(&line(name, row));
    }
    out
}

fn checks_text(checks: &[Check], found: &Report) -> String {
    let mut out = String::from("\nby the run backward, by dual numbers, by finite differences:\n");
    let input = |c: &Check| if c.logarithmic { format!("ln|{}|", c.input) } else { c.input.clone() };
    let width = checks.iter().map(|c| input(c).chars().count()).max().unwrap_or(0);
    let many = found.losses.len() > 1;
    for c in checks {
        let input = input(c);
        let pad = width - input.chars().count();
        let top = if many { c.loss.as_str() } else { "" };
        let difference = c.difference.map_or_else(|| "not sound here".to_string(), |d| format!("{d:.8e}"));
        let verdict = if c.agrees { "" } else { "   DISAGREE" };
        let _ = writeln!(
            out,
            "  ∂{top}/∂{input}{:pad$}  {:>16.9e}  {:>16.9e}  {difference:>16}{verdict}",
            "", c.adjoint, c.tangent
        );
    }
    let words: usize = found.losses.iter().flat_map(|l| &l.gradients).map(|g| names(&g.input).len()).sum();
    if words > checks.len() {
        let _ = writeln!(out, "  {} of {words} derivatives compared", checks.len());
    }
    if let Some(d) = found.hessian_difference {
        let verdict = if found.hessian_agrees() { "" } else { "   DISAGREE" };
        let _ =
            writeln!(out, "second derivatives by dual numbers and by reversing twice differ by at most {d:e}{verdict}");
    }
    out
}

/// What became of the state.
fn state_text(found: &Report, drift: Option<&Drift>, asked: bool, broken: bool) -> String {
    let mut out = String::new();
    if let Some((words, back)) = found.kept {
        let what = if back { "every word came back" } else { "NOT everything came back" };
        let _ = writeln!(out, "dropped gradient words kept: {words}; run forward again with gradients: {what}");
    }
    match drift {
        None if asked => out.push_str("drift: none, every bit is as it was\n"),
        Some(drift) if asked || broken => out.push_str(&drift.text),
        _ => {}
    }
    if broken {
        out.push_str("the start was NOT restored by the run backward\n");
    }
    out
}

/// A number as JSON: doubles as numbers, the others as decimal strings, which are exact.
fn value_json(word: u64, ty: Ty, format: Format) -> Value {
    match ty {
        Ty::F if f64::from_bits(word).is_finite() => json!(f64::from_bits(word)),
        Ty::F | Ty::Q | Ty::L | Ty::Int => json!(number(word, ty, format)),
    }
}

fn to_object(found: &Report, format: Format, hex: bool) -> Map<String, Value> {
    let value = |word: u64, ty: Ty| if hex { json!(format!("{word:#018x}")) } else { value_json(word, ty, format) };
    let losses: Vec<Value> = found
        .losses
        .iter()
        .map(|loss| {
            let gradient: Map<String, Value> = loss
                .gradients
                .iter()
                .map(|g| {
                    let one = |n: usize| match g.derivatives[n] {
                        _ if hex => json!(format!("{:#018x}", g.words[n])),
                        Some((w, ty)) => value_json(w, ty, format),
                        None => Value::Null,
                    };
                    let all = match g.input.at {
                        Location::Memory { array: true, .. } => (0..g.words.len()).map(one).collect(),
                        Location::Memory { .. } | Location::Register(_) => one(0),
                    };
                    (g.input.name.clone(), all)
                })
                .collect();
            json!({ "name": loss.name, "value": value(loss.value, loss.variable.ty), "gradient": gradient })
        })
        .collect();
    let mut object = Map::new();
    object.insert("schema".into(), json!(1));
    object.insert("outcome".into(), json!({ "kind": "finished" }));
    object.insert("losses".into(), Value::Array(losses));
    object.insert("restored".into(), json!(found.restored));
    if let Some(hessian) = &found.hessian {
        object.insert("hessian".into(), json!({ "words": found.input_words(), "rows": hessian }));
    }
    if let Some(checks) = &found.checks {
        let checks: Vec<Value> = checks
            .iter()
            .map(|c| {
                json!({
                    "loss": c.loss, "input": c.input, "logarithmic": c.logarithmic, "adjoint": c.adjoint, "tangent": c.tangent,
                    "difference": c.difference, "agrees": c.agrees,
                })
            })
            .collect();
        object.insert("checks".into(), Value::Array(checks));
    }
    if let Some(d) = found.hessian_difference {
        object.insert("hessian_difference".into(), json!(d));
    }
    if let Some((words, back)) = found.kept {
        object.insert("kept".into(), json!({ "words": words, "restored": back }));
    }
    object
}
