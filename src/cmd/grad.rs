//! `pendula grad`.

use anyhow::bail;
use pendula::asm::check::{At, Rule, check};
use pendula::asm::diagnostic::Diagnostic;
use pendula::grad::{Check, GradError, Gradient, Options, Report, grad, names};
use pendula::hw_model::Technology;
use pendula::isa::counts::Direction;
use pendula::isa::module::Module;
use pendula::isa::num::convert::f_to_q;
use pendula::isa::num::{Env, Format};
use pendula::isa::text::number;
use pendula::isa::types::Ty;
use pendula::load::display_name;
use pendula::values::{self, Location};
use pendula::vm::gradient::{Refused, reached};
use pendula::vm::{Carriage, Machine, Outcome};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

use crate::Status;
use crate::cli::Grad;
use crate::cmd::run::{stats_json, stats_text};
use crate::cmd::{Intended, Program, load, report};
use crate::columns::{blanks, left, length, right};
use crate::drift::{Drift, drift};
use crate::outcome::{ended, flags_json, in_source, noticed, outcome_json, overflow_of, ran_by, rests, there, wrong};
use crate::report::{Reporter, print, print_json, to_json};
use crate::session::{self, Session};
use crate::trapped;

/// How many elements are printed of an array that is not named.
pub(super) const ELEMENTS: usize = 64;

/// The loss and the inputs as the command line names them. Of a program in Nil, `1` is the first argument, and all numbers but the loss are
/// inputs if none are named.
fn arguments(args: &Grad, loaded: &Program) -> anyhow::Result<(Option<String>, Vec<String>)> {
    let Some(nil) = &loaded.nil else { return Ok((args.loss.clone(), args.wrt.clone())) };
    anyhow::ensure!(
        nil.janus.is_none(),
        "{}: a program in Janus computes with integers, which carry no gradient",
        args.source.file
    );
    let position = |name: &str| -> anyhow::Result<String> {
        let Ok(n) = name.trim().parse::<usize>() else { return Ok(name.trim().to_string()) };
        match n.checked_sub(1).and_then(|n| nil.parameters.get(n)).map(Vec::as_slice) {
            Some([one]) => Ok(one.clone()),
            Some(several) if !several.is_empty() => {
                bail!("argument {n} has several parts: name one of {}", several.join(", "))
            }
            Some(_) | None => bail!("there is no argument {n}: the program has {}", nil.parameters.len()),
        }
    };
    let loss = args.loss.as_deref().map(position).transpose()?;
    let mut wrt = args.wrt.iter().map(|name| position(name)).collect::<anyhow::Result<Vec<_>>>()?;
    if let (Some(loss), true) = (&loss, wrt.is_empty()) {
        let own = loss.split('[').next().unwrap_or(loss);
        let numbers = values::marked(&loaded.module, |import, _| import);
        wrt = numbers.into_iter().filter(|p| p.ty.gradient().is_some() && p.name != own).map(|p| p.name).collect();
    }
    Ok((loss, wrt))
}

/// What to differentiate, and how.
pub(super) fn options(args: &Grad, loaded: &Program) -> anyhow::Result<Options> {
    let (loss, wrt) = arguments(args, loaded)?;
    Ok(Options {
        loss,
        wrt,
        seed: args.seed.clone(),
        hessian: args.hessian,
        jacobian: args.jacobian,
        check: args.check,
        keep_dropped: args.keep_dropped,
    })
}

/// Why a run stopped: the program, or a file.
pub(super) enum Stop {
    Outcome(Outcome),
    Trouble(anyhow::Error),
}

pub(crate) fn run(args: &Grad, reporter: &Reporter) -> anyhow::Result<Status> {
    if !args.many.batch.is_empty() {
        return super::batch::grad::run(args, reporter);
    }
    let given = &args.given;
    let run = Intended { given, input: args.input.as_deref() };
    let loaded = match load(&args.source, Some(run), args.json, reporter)? {
        Ok(program) => program,
        Err(status) => return Ok(status),
    };
    let mut warnings = loaded.warnings.clone();
    warnings.extend(blocked(&loaded));
    if !args.json {
        reporter.diagnostics(&warnings, &loaded.sources);
    }
    let program = match session::program(&loaded, &args.source, given, true, args.json, reporter)? {
        Ok(program) => program,
        Err(status) => return Ok(status),
    };
    let mut machine = session::machine(&program, given, loaded.variables())?;
    if let Some(tape) = &args.input {
        session::input(&mut machine, tape, None, false)?;
    }
    let options = options(args, &loaded)?;
    session::allow_whole(&mut machine, given, args.stats || args.keep_dropped);
    let mut session = Session::new(given, false).of(&loaded);
    let mut seen = Seen::default();
    let outcome = grad(&mut machine, &options, |m| {
        let carriage = m.carriage();
        if m.direction() == Direction::Backward {
            session.turned(m);
        }
        session.go(m).map_err(Stop::Trouble).and_then(|outcome| seen.ended(outcome, carriage, m))
    });
    let found = match outcome {
        // Of a comparison that is not to be had for want of steps nothing can be said.
        Ok(_) if seen.limit => {
            return stopped(
                GradError::Stopped(Stop::Outcome(Outcome::Limit)),
                args,
                &loaded,
                (&machine, &seen),
                reporter,
            );
        }
        Ok(found) => found,
        // What came out is shown, with what is wrong about it.
        Err(GradError::Overflow(_)) if seen.limit => {
            let limit = GradError::Stopped(Stop::Outcome(Outcome::Limit));
            return stopped(limit, args, &loaded, (&machine, &seen), reporter);
        }
        Err(GradError::Overflow(found)) => *found,
        Err(error) => return stopped(error, args, &loaded, (&machine, &seen), reporter),
    };
    let drift = found.drift.as_ref().map(|(a, b)| drift(program.module(), a, b));
    // Fixed-point and logarithmic numbers and integers come back; only rounding may stay.
    let floats = uses_floats(program.module());
    let broken = drift.as_ref().is_some_and(|d| !d.only_rounding && !floats);
    let kept = found.kept.is_none_or(|(_, back)| back || floats);
    let ok = !broken && kept && found.agrees();
    let technology = Technology::default_technology();
    if args.json {
        let mut object = to_object(&found, program.module().flags.format, args.hex);
        object.insert("flags".into(), seen_flags(&machine, found.overflow));
        object.insert("ran_by".into(), json!(ran_by(&machine)));
        let wrong = found.wrong.map(|at| wrong(program.module(), &loaded.sources, at));
        let warnings: Vec<Value> = warnings.iter().chain(&wrong).map(|d| to_json(d, &loaded.sources)).collect();
        object.insert("diagnostics".into(), Value::Array(warnings));
        if let Some(drift) = drift.filter(|_| args.drift) {
            object.insert("drift".into(), drift.json);
        }
        if args.stats {
            object.insert("stats".into(), stats_json(&machine, &technology, session.started.elapsed()));
        }
        print_json(&Value::Object(object))?;
    } else {
        // What is asked for is shown in full.
        let elements = if args.wrt.is_empty() && !args.jacobian { ELEMENTS } else { usize::MAX };
        print(&text(&found, program.module().flags.format, args.hex, elements, &|_| true))?;
        print(&state_text(&found, drift.as_ref(), args.drift, broken, floats))?;
        print(&rests(program.module(), machine.flags(), args.drift))?;
        if args.stats {
            print(&stats_text(&machine, &technology, session.started.elapsed()))?;
        }
        noticed(program.module(), &loaded.sources, reporter, found.overflow);
        if let Some(at) = found.wrong {
            reporter.diagnostic(&wrong(program.module(), &loaded.sources, at), &loaded.sources);
        }
    }
    Ok(if ok { Status::Done } else { Status::Fault })
}

/// Whether a module computes with floating-point numbers, whose sums round.
pub(super) fn uses_floats(module: &Module) -> bool {
    use pendula::isa::inst::Kind;
    module.code.iter().any(|i| match i.kind {
        Kind::Accumulate { func, .. } => func.info().ty == Ty::F || func.info().args.iter().any(|a| a.ty == Ty::F),
        Kind::Row { ty, .. } => ty == Ty::F,
    })
}

/// What the runs were seen to do.
#[derive(Default)]
pub(super) struct Seen {
    /// Where a fixed-point number first overflowed, and what words carried then.
    pub(super) overflow: Option<(u32, Carriage)>,
    /// Whether a run came to the step limit.
    pub(super) limit: bool,
}

impl Seen {
    /// Notes how a run ended.
    pub(super) fn ended(&mut self, outcome: Outcome, carriage: Carriage, machine: &Machine<'_>) -> Result<(), Stop> {
        self.overflow = self.overflow.or_else(|| machine.flags().overflow.map(|at| (at, carriage)));
        self.limit |= outcome == Outcome::Limit;
        if outcome == Outcome::Finished { Ok(()) } else { Err(Stop::Outcome(outcome)) }
    }
}

/// What the checker has to say about gradients in code that is differentiated.
pub(super) fn blocked(loaded: &Program) -> Vec<Diagnostic> {
    let reached = reached(&loaded.module);
    let differentiated = |at: &At| matches!(at, At::Inst(at) if reached.iter().any(|r| r.contains(at)));
    let found = check(&loaded.module);
    let found = found.iter().filter(|f| f.rule == Rule::NoGradient && differentiated(&f.at));
    found.map(|f| super::check::diagnostic(f, &loaded.module, &loaded.sources)).collect()
}

/// The flags as JSON, with what overflowed.
pub(super) fn seen_flags(machine: &Machine<'_>, overflow: Option<(u32, Carriage)>) -> Value {
    let mut flags = flags_json(machine);
    flags["overflow"] = overflow.map_or(Value::Null, |(at, carriage)| {
        let mut place = trapped::address_json(at, machine.program().module());
        place["of"] = json!(overflow_of(carriage));
        place
    });
    flags
}

pub(super) fn stopped(
    error: GradError<Stop>,
    args: &Grad,
    loaded: &Program,
    (machine, seen): (&Machine<'_>, &Seen),
    reporter: &Reporter,
) -> anyhow::Result<Status> {
    let module = machine.program().module();
    match error {
        GradError::Stopped(Stop::Trouble(error)) => Err(error),
        GradError::Stopped(Stop::Outcome(outcome)) => {
            let told = in_source(&outcome, machine, loaded, &args.given, &there(machine));
            if args.json {
                let outcome = outcome_json(&outcome, machine, (args.given.max_steps, told.as_ref()));
                print_json(&json!({ "schema": 1, "outcome": outcome, "flags": seen_flags(machine, seen.overflow) }))?;
            } else {
                ended(&outcome, machine, &loaded.sources, reporter, (args.given.max_steps, told.as_ref()));
                noticed(module, &loaded.sources, reporter, seen.overflow);
            }
            Ok(Status::Fault)
        }
        GradError::Refused(refused) => {
            let mut d =
                Diagnostic::error("P0144", format!("{}: {}", display_name(&args.source.file), error_text(refused)));
            if let Refused::UsesGradients(at) = refused
                && let Some(place) = trapped::place(module, &loaded.sources, at)
            {
                d = d.at(place, "here");
            }
            let d = d.help("such a program makes its own gradients: `pendula run` runs it");
            report(&[d], &loaded.sources, args.json, reporter)?;
            Ok(Status::Fault)
        }
        error @ (GradError::Value(_)
        | GradError::Integer(..)
        | GradError::Array { .. }
        | GradError::NoLoss(_)
        | GradError::NoInputs
        | GradError::NoName(_)
        | GradError::Seed { .. }
        | GradError::TooGreat { .. }
        | GradError::Overflow(_)
        | GradError::TooMany { .. }) => {
            anyhow::bail!(message(error))
        }
    }
}

/// What is wrong with what is asked for.
pub(super) fn message(error: GradError<Stop>) -> String {
    match error {
        GradError::Value(e) => e.to_string(),
        GradError::Integer(name, why) => format!("`{name}` is read as an integer, which has no gradient{why}"),
        GradError::Array { name, len } => format!(
            "the loss `{name}` has {len} words: name one, such as `{name}[0]`, or take the gradient of each with `--jacobian`"
        ),
        GradError::NoLoss(why) => format!("name the loss with `--loss NAME`: {why}"),
        GradError::NoName(what) => {
            let option = if what == "the loss" { "--loss: the" } else { "--wrt: a" };
            format!("{option} name is empty; give data symbols, or registers with their types (`r3.q`)")
        }
        GradError::Seed { text, why } => format!("--seed: `{text}` {why}"),
        GradError::TooGreat { text, loss } => format!("--seed: `{text}` times the loss `{loss}` is more than 1.79e308"),
        error @ GradError::TooMany { .. } => format!("{error}; name fewer with `--wrt`"),
        error @ GradError::Overflow(_) => error.to_string(),
        _ => "name the inputs with `--wrt NAMES`: the program imports no fixed-point, logarithmic or floating-point number".to_string(),
    }
}

fn error_text(refused: Refused) -> String {
    GradError::<Stop>::Refused(refused).to_string()
}

/// A derivative as text; what does not exist says why.
fn derivative_text(d: Option<(u64, Ty)>, format: Format) -> String {
    d.map_or_else(|| "undefined (the number is a logarithmic zero)".to_string(), |(w, ty)| number(w, ty, format))
}

pub(super) fn gradient_text(g: &Gradient, format: Format, hex: bool, limit: usize) -> String {
    let one = |n: usize| {
        if hex { format!("{:#018x}", g.words[n]) } else { derivative_text(g.derivatives[n], format) }
    };
    match g.input.at {
        Location::Memory { array: true, .. } => {
            let mut items: Vec<String> = (0..g.words.len().min(limit)).map(one).collect();
            if g.words.len() > limit {
                items.push(format!("… {} words in all", g.words.len()));
            }
            format!("[{}]", items.join(", "))
        }
        Location::Memory { .. } | Location::Register(_) | Location::Cell(_) => one(0),
    }
}

/// What was found, as text. Results are printed that `shown` lets through: the loss is number 0, then come the derivatives and the Hessian.
pub(super) fn text(found: &Report, format: Format, hex: bool, limit: usize, shown: &dyn Fn(usize) -> bool) -> String {
    let mut lines: Vec<(String, String)> = Vec::new();
    for loss in &found.losses {
        let value = if hex { format!("{:#018x}", loss.value) } else { number(loss.value, loss.variable.ty, format) };
        lines.extend(shown(0).then(|| (loss.name.clone(), value)));
        let top = if found.losses.len() > 1 { loss.name.as_str() } else { "" };
        for (_, g) in (1..).zip(&loss.gradients).filter(|(n, _)| shown(*n)) {
            lines.push((format!("∂{top}/∂{}", g.input.name), gradient_text(g, format, hex, limit)));
        }
    }
    let width = lines.iter().map(|(n, _)| length(n)).max().unwrap_or(0);
    let mut out = String::new();
    for (name, value) in lines {
        let _ = writeln!(out, "{} = {value}", left(&name, width));
    }
    let inputs = found.losses.first().map_or(0, |loss| loss.gradients.len());
    if let Some(hessian) = found.hessian.as_ref().filter(|_| shown(1 + inputs)) {
        out.push_str(&hessian_text(hessian, &found.input_words(), &formats(found, format)));
    }
    if let Some(checks) = &found.checks {
        out.push_str(&checks_text(checks, found));
    }
    if found.wrong.is_some() {
        let _ =
            writeln!(out, "FAILED: {} overflowed and wrapped, so that what is printed is wrong", found.what_is_wrong());
    }
    out
}

/// For each input word, the format of second derivatives that are numbers of it; `None` where they are doubles.
fn formats(found: &Report, format: Format) -> Vec<Option<Format>> {
    let Some(loss) = found.losses.first() else { return Vec::new() };
    let of = |g: &Gradient| (loss.variable.ty == Ty::Q && g.input.ty == Ty::Q).then_some(format);
    loss.gradients.iter().flat_map(|g| std::iter::repeat_n(of(g), g.words.len())).collect()
}

/// A second derivative: of fixed-point numbers with the digits that tell it from its neighbours, else as a double.
fn second_text(x: f64, format: Option<Format>) -> String {
    let fixed = format.and_then(|format| f_to_q(Env { format, ieee: false }, x.to_bits()).ok().map(|w| (w, format)));
    match fixed {
        Some((word, format)) if word != 0 || x == 0.0 => number(word, Ty::Q, format),
        _ => double_text(x),
    }
}

/// A double that is easy to read: with an exponent where it is large or small.
fn double_text(x: f64) -> String {
    if x == 0.0 || !x.is_finite() || (1e-6..1e6).contains(&x.abs()) { format!("{x}") } else { format!("{x:e}") }
}

fn hessian_text(hessian: &[Vec<Option<f64>>], names: &[String], formats: &[Option<Format>]) -> String {
    let one =
        |x: &Option<f64>, format: Option<Format>| x.map_or_else(|| "undefined".to_string(), |x| second_text(x, format));
    if let ([row], [name]) = (hessian, names) {
        return format!(
            "∂²/∂{name}² = {}\n",
            row.first().map(|x| one(x, formats.first().copied().flatten())).unwrap_or_default()
        );
    }
    // A number is in a format if both inputs are.
    let show = |row: usize, column: usize, x: &Option<f64>| one(x, formats[row].and(formats[column]));
    let mut out = String::from("∂²/∂…∂…\n");
    let cells: Vec<Vec<String>> = hessian
        .iter()
        .enumerate()
        .map(|(i, row)| row.iter().enumerate().map(|(j, x)| show(i, j, x)).collect())
        .collect();
    let lengths = cells.iter().flatten().chain(names).map(|c| length(c));
    let width = lengths.max().unwrap_or(0);
    let side = names.iter().map(|n| length(n)).max().unwrap_or(0);
    let line = |name: &str, cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|c| right(c, width)).collect();
        format!("  {}  {}\n", left(name, side), cells.join("  "))
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
    let width = checks.iter().map(|c| length(&input(c))).max().unwrap_or(0);
    let many = found.losses.len() > 1;
    for c in checks {
        let input = input(c);
        let pad = blanks(width - length(&input));
        let top = if many { c.loss.as_str() } else { "" };
        let no = || "not sound here".to_string();
        let tangent = c.tangent.map_or_else(no, |t| format!("{t:.9e}"));
        let difference = c.finite_difference.map_or_else(no, |d| format!("{d:.8e}"));
        let verdict = if c.agrees { "" } else { "   DISAGREE" };
        let _ = writeln!(out, "  ∂{top}/∂{input}{pad}  {:>16.9e}  {tangent:>16}  {difference:>16}{verdict}", c.adjoint);
    }
    let words: usize = found.losses.iter().flat_map(|l| &l.gradients).map(|g| names(&g.input).len()).sum();
    if words > checks.len() {
        let _ = writeln!(out, "  {} of {words} derivatives compared", checks.len());
    }
    if let Some(d) = found.hessian_difference {
        let verdict = if found.hessian_agrees { "" } else { "   DISAGREE" };
        let _ =
            writeln!(out, "second derivatives by dual numbers and by reversing twice differ by at most {d:e}{verdict}");
    }
    out
}

/// What became of the state.
pub(super) fn state_text(found: &Report, drift: Option<&Drift>, asked: bool, broken: bool, floats: bool) -> String {
    let mut out = String::new();
    if let Some((words, back)) = found.kept {
        let what = match (back, floats) {
            (true, _) => "every word came back",
            (false, true) => "every word came back but for the rounding of floating-point numbers",
            (false, false) => "NOT everything came back",
        };
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
        Ty::F => double_json(f64::from_bits(word)),
        Ty::Q | Ty::L | Ty::Int => json!(number(word, ty, format)),
    }
}

/// A double as JSON, which has no numbers for those that are not finite.
fn double_json(x: f64) -> Value {
    match x {
        x if x.is_nan() => json!("nan"),
        f64::INFINITY => json!("inf"),
        f64::NEG_INFINITY => json!("-inf"),
        x => json!(x),
    }
}

/// A double, or `null` where there is none.
fn some_json(x: Option<f64>) -> Value {
    x.map_or(Value::Null, double_json)
}

pub(super) fn to_object(found: &Report, format: Format, hex: bool) -> Map<String, Value> {
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
                        Location::Memory { .. } | Location::Register(_) | Location::Cell(_) => one(0),
                    };
                    (g.input.name.clone(), all)
                })
                .collect();
            json!({ "name": loss.name, "value": value(loss.value, loss.variable.ty), "gradient": gradient })
        })
        .collect();
    let mut object = Map::new();
    object.insert("schema".into(), json!(1));
    let kind = if found.wrong.is_some() {
        json!({ "kind": "overflow", "code": "P0131", "message": format!("{} overflowed and wrapped: the derivatives are wrong", found.what_is_wrong()) })
    } else {
        json!({ "kind": "finished" })
    };
    object.insert("outcome".into(), kind);
    object.insert("losses".into(), Value::Array(losses));
    object.insert("restored".into(), json!(found.restored));
    if let Some(hessian) = &found.hessian {
        let rows: Vec<Value> = hessian.iter().map(|row| row.iter().map(|x| some_json(*x)).collect()).collect();
        object.insert("hessian".into(), json!({ "words": found.input_words(), "rows": rows }));
    }
    if let Some(checks) = &found.checks {
        let checks: Vec<Value> = checks
            .iter()
            .map(|c| {
                json!({
                    "loss": c.loss, "input": c.input, "logarithmic": c.logarithmic, "adjoint": double_json(c.adjoint),
                    "tangent": some_json(c.tangent), "finite_difference": some_json(c.finite_difference), "agrees": c.agrees,
                })
            })
            .collect();
        object.insert("checks".into(), Value::Array(checks));
    }
    if let Some(d) = found.hessian_difference {
        object.insert("hessian_difference".into(), double_json(d));
    }
    if let Some((words, back)) = found.kept {
        object.insert("kept".into(), json!({ "words": words, "restored": back }));
    }
    object
}
