//! `pendula level`.

use std::fmt::Write as _;
use std::ops::Range;

use pendula::hw_model::level::{Levels, Role, Roles};
use pendula::isa::counts::Direction;
use pendula::isa::module::Module;
use pendula::report::{Reporter, print};
use pendula::vm::Outcome;
use serde_json::{Map, Value, json};

use crate::cli::args::{Level, Source};
use crate::cli::commands::{RunConditions, each, prepared, stopped, warnings};
use crate::cli::report::answer::{answer, finished};
use crate::cli::report::columns::{left, length};
use crate::cli::session::{self, Session};
use crate::cli::status::Status;

pub(crate) fn run(args: &Level, reporter: &Reporter) -> anyhow::Result<Status> {
    each(args.sources.each(), (true, args.json), reporter, |source| one(source, args, reporter))
}

fn one(source: &Source, args: &Level, reporter: &Reporter) -> anyhow::Result<Status> {
    let run = RunConditions { given: &args.given, input: args.input.as_deref() };
    let (loaded, program) = prepared(source, run, false, args.json, reporter)?;
    let mut machine = session::machine(&program, &args.given, loaded.variables())?;
    if let Some(tape) = &args.input {
        session::input(&mut machine, tape, None, false)?;
    }
    machine.begin(Direction::Forward);
    let outcome = Session::new(&args.given, false).go(&mut machine)?;
    if outcome != Outcome::Finished {
        return stopped(&outcome, (&args.given, args.json), &machine, &loaded, reporter);
    }
    let levels = Levels::new(program.module(), &machine.counts());
    if args.json {
        let mut rest = to_json(&levels);
        rest.extend(warnings(&loaded, &[]));
        answer(reporter, true, finished(), rest)?;
    } else {
        print(&text(&levels, program.module()))?;
    }
    Ok(Status::Done)
}

fn number(level: Option<f64>) -> String {
    level.map_or_else(|| "-".to_string(), |x| format!("{x:.2}"))
}

/// The source lines that a block comes from, or its addresses.
fn lines(block: Range<u32>, module: &Module) -> String {
    let lines = || block.clone().filter_map(|at| module.loc(at as usize)).map(|(_, loc)| loc.line);
    let file = block.clone().find_map(|at| Some(module.loc(at as usize)?.0));
    match (file, lines().min(), lines().max()) {
        (Some(file), Some(first), Some(last)) if first == last => format!("{file}:{first}"),
        (Some(file), Some(first), Some(last)) => format!("{file}:{first}-{last}"),
        _ => format!("@{}..{}", block.start, block.end.saturating_sub(1)),
    }
}

fn text(levels: &Levels, module: &Module) -> String {
    let all = &levels.all;
    let mut out = String::new();
    let _ = writeln!(out, "{:<20} {:>12} {:>8}", "instructions", "executed", "share");
    for role in Role::ALL {
        let n = all.get(role);
        if n > 0 {
            let whole = all.total() + all.get(Role::Gradient);
            let _ = writeln!(out, "  {:<18} {:>12} {:>6.1} %", role.name(), n, n as f64 / whole as f64 * 100.0);
        }
    }
    let _ = writeln!(out, "\nuncomputing level");
    let _ = writeln!(
        out,
        "  {:<18} {:>12}   log2({} / {}), against the program without undoing and checks",
        "paired",
        number(all.paired()),
        all.total(),
        all.counterpart()
    );
    let _ = writeln!(
        out,
        "  {:<18} {:>12}   log2({} / {}), against what computes",
        "attributed",
        number(all.attributed()),
        all.total(),
        all.essential()
    );
    let hottest = levels.hottest.as_ref().map(|(block, function, roles)| {
        (format!("hottest block: {function}, {}", lines(block.start..block.end, module)), roles)
    });
    let names = levels.functions.iter().map(|(name, _)| name).chain(hottest.iter().map(|(name, _)| name));
    let width = names.map(|name| length(name)).max().unwrap_or(0).max(20);
    let _ = writeln!(out, "\n{} {:>12} {:>8} {:>10}", left("function", width), "executed", "paired", "attributed");
    let mut row = |name: &str, roles: &Roles| {
        let (paired, attributed) = (number(roles.paired()), number(roles.attributed()));
        let name = left(name, width);
        let _ = writeln!(out, "{name} {:>12} {paired:>8} {attributed:>10}", roles.total());
    };
    for (name, roles) in &levels.functions {
        row(name, roles);
    }
    if let Some((name, roles)) = &hottest {
        row(name, roles);
    }
    out
}

fn roles_json(roles: &Roles) -> Map<String, Value> {
    let mut out: Map<String, Value> = Role::ALL.iter().map(|r| (r.name().to_string(), json!(roles.get(*r)))).collect();
    out.insert("total".into(), json!(roles.total()));
    out.insert("paired".into(), json!(roles.paired()));
    out.insert("attributed".into(), json!(roles.attributed()));
    out
}

fn to_json(levels: &Levels) -> Map<String, Value> {
    let functions: Vec<Value> = levels
        .functions
        .iter()
        .map(|(name, roles)| {
            let mut object = roles_json(roles);
            object.insert("name".into(), json!(name));
            Value::Object(object)
        })
        .collect();
    let hottest = levels.hottest.as_ref().map(|(block, function, roles)| {
        let mut object = roles_json(roles);
        object.insert("function".into(), json!(function));
        object.insert("start".into(), json!(block.start));
        object.insert("end".into(), json!(block.end));
        Value::Object(object)
    });
    let all = Value::Object(roles_json(&levels.all));
    let parts = [("all", all), ("functions", json!(functions)), ("hottest_block", json!(hottest))];
    parts.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
}
