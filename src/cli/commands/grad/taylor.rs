//! `pendula grad --taylor`.

use std::fmt::Write as _;

use pendula::asm::diagnostic::Diagnostic;
use pendula::diagnosis;
use pendula::grad::taylor::{Jet, Options, Report, taylor};
use pendula::grad::{GradError, uses_doubles};
use pendula::hw_model::Technology;
use pendula::isa::counts::Direction;
use pendula::isa::num::Format;
use pendula::isa::text::number;
use pendula::isa::types::Ty;
use pendula::report::{Reporter, print};
use pendula::vm::{AdMode, Outcome};
use serde_json::{Map, Value, json};

use super::output::{double_text, state_line, value_json};
use super::{Seen, Stop, machine, options, read, seen_flags, stopped};
use crate::cli::args::Grad;
use crate::cli::interrupt::InterruptGuard;
use crate::cli::output::as_json;
use crate::cli::report::answer::{answer, finished};
use crate::cli::report::drift::drift;
use crate::cli::report::outcome::{noticed, ran_by, rests};
use crate::cli::report::stats::{stats_json, stats_text};
use crate::cli::session::{self, Session};
use crate::cli::status::Status;

pub(super) fn run(args: &Grad, order: usize, reporter: &Reporter) -> anyhow::Result<Status> {
    let given = &args.given;
    let source = args.source.in_full();
    let (loaded, mut warnings) = read(args, &source, reporter)?;
    let program = session::program(&loaded, &source, given, true, args.json, reporter)?;
    let mut machine = machine(args, &program, &loaded)?;
    let asked = options(args, &loaded)?;
    let options = Options { order, loss: asked.loss, wrt: asked.wrt, direction: args.direction.clone() };
    let mut session = Session::new(given, false);
    let mut seen = Seen { before: Some(*machine.registers()), ..Seen::default() };
    let guard = InterruptGuard::begin(reporter);
    let outcome = taylor(&mut machine, &options, |m| {
        if m.direction() == Direction::Backward {
            session.turned(m);
        }
        let outcome = session.go(m).map_err(Stop::Trouble)?;
        let ad_mode = if m.flags().carried.is_some() { AdMode::Tangent } else { AdMode::Plain };
        seen.ended(outcome, ad_mode, m)
    });
    drop(guard);
    let found = match outcome {
        Ok(_) if seen.limit => Err(GradError::Stopped(Stop::Outcome(Outcome::Limit))),
        other => other,
    };
    let found = match found {
        Ok(found) => found,
        Err(error) => return stopped(error, args, &loaded, (&machine, &seen), reporter),
    };
    let module = program.module();
    let drift = found.drift.as_ref().map(|(a, b)| drift(module, a, b));
    let floats = uses_doubles(module);
    let broken = drift.as_ref().is_some_and(|d| !d.only_rounding && !floats);
    let ok = !broken && (found.jets_restored || floats) && found.wrong.is_none();
    let technology = Technology::default_technology();
    let overflow = found.wrong.map(|at| {
        let d = Diagnostic::error("P0131", "a coefficient overflowed and wrapped: the series are wrong");
        let help = "choose a `.format` with more integer bits, or a smaller `--direction`";
        diagnosis::placed(d.help(help), module, &loaded.sources, at)
    });
    if args.json {
        let mut object = to_object(&found, order, module.flags.format);
        object.insert("flags".into(), seen_flags(&machine, found.overflow));
        object.insert("ran_by".into(), json!(ran_by(&machine)));
        let outcome = if let Some(diagnostic) = overflow {
            let message = diagnostic.message.clone();
            warnings.push(diagnostic);
            json!({ "kind": "overflow", "code": "P0131", "message": message })
        } else {
            finished()
        };
        object.insert("diagnostics".into(), as_json(&warnings, &loaded.sources));
        if let Some(drift) = drift.filter(|_| args.drift) {
            object.insert("drift".into(), drift.json);
        }
        if args.stats {
            object.insert("stats".into(), stats_json(&machine, &technology, session.started.elapsed()));
        }
        answer(reporter, ok, outcome, object)?;
    } else {
        print(&text(&found, module.flags.format))?;
        print(&state_line(drift.as_ref(), args.drift, broken))?;
        if !found.jets_restored && !floats {
            print("the coefficients of the inputs were NOT restored by the run backward\n")?;
        }
        print(&rests(module, machine.flags(), args.drift))?;
        if args.stats {
            print(&stats_text(&machine, &technology, session.started.elapsed()))?;
        }
        if let Some(diagnostic) = overflow {
            reporter.diagnostic(&diagnostic, &loaded.sources);
        } else {
            noticed(module, &loaded.sources, reporter, found.overflow);
        }
    }
    Ok(if ok { Status::Done } else { Status::Fault })
}

/// The direction as `x = 1, y = 2`.
fn direction(found: &Report, format: Format) -> String {
    let one = |r: &pendula::grad::taylor::Rate| format!("{} = {}", r.name, number(r.rate, rate_type(r), format));
    found.direction.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn rate_type(rate: &pendula::grad::taylor::Rate) -> Ty {
    if rate.variable.ty == Ty::L { Ty::F } else { rate.variable.ty }
}

fn text(found: &Report, format: Format) -> String {
    let mut out = format!("along {}\n", direction(found, format));
    for jet in &found.results {
        let _ = writeln!(out, "{}", jet.name);
        let width = (jet.coefficients.len() - 1).to_string().len();
        for (k, coefficient) in jet.coefficients.iter().enumerate() {
            let value = match coefficient {
                None => "undefined (the number is a logarithmic zero)".to_string(),
                Some((word, Ty::F)) => double_text(f64::from_bits(*word)),
                Some((word, ty)) => number(*word, *ty, format),
            };
            let _ = writeln!(out, "  t^{k:<width$}  {value}");
        }
    }
    if found.wrong.is_some() {
        out.push_str("FAILED: a coefficient overflowed and wrapped, so that what is printed is wrong\n");
    }
    out
}

fn to_object(found: &Report, order: usize, format: Format) -> Map<String, Value> {
    let rates =
        found.direction.iter().map(|r| json!({ "name": r.name, "rate": value_json(r.rate, rate_type(r), format) }));
    let one = |jet: &Jet| {
        let coefficient = |c: &Option<(u64, Ty)>| c.map_or(Value::Null, |(word, ty)| value_json(word, ty, format));
        let coefficients: Vec<Value> = jet.coefficients.iter().map(coefficient).collect();
        json!({ "name": jet.name, "coefficients": coefficients })
    };
    let taylor = json!({
        "order": order,
        "direction": rates.collect::<Vec<_>>(),
        "results": found.results.iter().map(one).collect::<Vec<_>>(),
        "restored": found.jets_restored,
    });
    let mut object = Map::new();
    object.insert("taylor".into(), taylor);
    object.insert("restored".into(), json!(found.restored));
    object
}
