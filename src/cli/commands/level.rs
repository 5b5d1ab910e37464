//! `pendula level`.

use std::fmt::Write as _;
use std::ops::Range;

use pendula::asm::diagnostic::plural;
use pendula::hw_model::breakeven::Choice;
use pendula::hw_model::level::{Candidates, FunctionLevel, Levels, Role, Roles, SpanLevel};
use pendula::hw_model::price::Device;
use pendula::hw_model::report::svg::{RoleBar, roles};
use pendula::hw_model::units::si;
use pendula::isa::counts::Direction;
use pendula::isa::module::{Module, name_in_source};
use pendula::report::{Reporter, print};
use pendula::vm::Outcome;
use pendula::{leftovers, uncompute};
use serde_json::{Map, Value, json};

use crate::cli::args::{Level, Source};
use crate::cli::commands::{RunConditions, each, prepared, stopped, warnings};
use crate::cli::output::write_file;
use crate::cli::report::answer::{answer, finished};
use crate::cli::report::table::Table;
use crate::cli::session::{self, Session};
use crate::cli::status::Status;

pub(crate) fn run(args: &Level, reporter: &Reporter) -> anyhow::Result<Status> {
    let several = args.sources.each().count() > 1;
    anyhow::ensure!(args.svg.is_none() || !several, "--svg needs exactly one program: name one");
    each(args.sources.each(), (true, args.json), reporter, |source| one(source, args, reporter))
}

fn one(source: &Source, args: &Level, reporter: &Reporter) -> anyhow::Result<Status> {
    let technology = session::technology(args.tech.trim())?;
    let run = RunConditions { given: &args.given, input: args.input.as_deref() };
    let (loaded, program) = prepared(source, run, false, args.json, reporter)?;
    let mut machine = session::machine(&program, &args.given, loaded.variables())?;
    if let Some(tape) = &args.input {
        session::input(&mut machine, tape, None, false)?;
    }
    let start = machine.snapshot();
    machine.begin(Direction::Forward);
    let outcome = Session::new(&args.given, false).go(&mut machine)?;
    if outcome != Outcome::Finished {
        return stopped(&outcome, (&args.given, args.json), &machine, &loaded, reporter);
    }
    let counts = machine.counts();
    let candidates = Candidates::new(program.module());
    let places = uncompute::places(program.module(), loaded.variables());
    let found = leftovers::footprint(&mut machine, &start, candidates.module(), places.as_refs())?;
    let levels = Levels::new(&candidates, &counts, &found.seen);
    let (totals, conditions) = uncompute::bill(program.module(), &counts, &found);
    let device = Device::for_run(&technology, conditions, &totals)?;
    let report = Report { levels: &levels, module: program.module(), device: &device };
    if let Some(path) = &args.svg {
        write_file(path, report.svg().as_bytes())?;
    }
    if args.json {
        let mut rest = report.json();
        rest.extend(warnings(&loaded, &[]));
        answer(reporter, true, finished(), rest)?;
    } else {
        print(&report.text())?;
    }
    Ok(Status::Done)
}

/// What is reported.
struct Report<'a> {
    levels: &'a Levels,
    module: &'a Module,
    device: &'a Device<'a>,
}

fn number(level: Option<f64>) -> String {
    level.map_or_else(|| "-".to_string(), |x| format!("{x:.2}"))
}

impl Report<'_> {
    /// The source lines that a block comes from, or its addresses.
    fn lines(&self, block: Range<u32>) -> String {
        let lines = || block.clone().filter_map(|at| self.module.loc(at as usize)).map(|(_, loc)| loc.line);
        let file = block.clone().find_map(|at| Some(self.module.loc(at as usize)?.0));
        match (file, lines().min(), lines().max()) {
            (Some(file), Some(first), Some(last)) if first == last => format!("{file}:{first}"),
            (Some(file), Some(first), Some(last)) => format!("{file}:{first}-{last}"),
            _ => format!("@{}..{}", block.start, block.end.saturating_sub(1)),
        }
    }

    /// A routine's name; what was written by hand has none.
    fn name<'s>(&self, span: &'s SpanLevel) -> &'s str {
        match (span.by_hand, self.module.is_compiled(span.routine.start as usize)) {
            (true, _) => "by hand",
            (false, true) => name_in_source(&span.undoing.name),
            (false, false) => &span.undoing.name,
        }
    }

    fn text(&self) -> String {
        let all = &self.levels.all;
        let mut out = String::new();
        let _ = writeln!(out, "{:<20} {:>12} {:>8}", "instructions", "executed", "share");
        for role in Role::ALL {
            let n = all.get(role);
            if n > 0 {
                let share = n as f64 / all.all() as f64 * 100.0;
                let _ = writeln!(out, "  {:<18} {:>12} {share:>6.1} %", role.name(), n);
            }
        }
        let _ = writeln!(out, "\nuncomputing level");
        for (name, level, whole, of) in [
            ("paired", all.paired(), all.counterpart(), "against the program without undoing and checks"),
            ("attributed", all.attributed(), all.essential(), "against what computes"),
        ] {
            let _ = writeln!(out, "  {name:<18} {:>12}   log2({} / {whole}), {of}", number(level), all.total());
        }
        out.push('\n');
        out.push_str(&self.functions());
        out.push_str(&self.spans());
        out
    }

    fn functions(&self) -> String {
        let roles = [Role::Compute, Role::Uncompute, Role::Copy];
        let mut header = vec!["function", "entries", "executed"];
        header.extend(roles.iter().map(|r| r.name()));
        header.extend(["paired", "attributed"]);
        let mut table = Table::new(&header);
        let mut row = |name: String, entries: Option<u64>, of: &Roles| {
            let mut cells = vec![name, entries.map_or_else(String::new, |n| n.to_string()), of.total().to_string()];
            cells.extend(roles.iter().map(|r| of.get(*r).to_string()));
            cells.extend([number(of.paired()), number(of.attributed())]);
            table.row(cells);
        };
        for FunctionLevel { name, entries, roles } in &self.levels.functions {
            row(name.clone(), Some(*entries), roles);
        }
        if let Some((block, function, roles)) = &self.levels.hottest {
            row(format!("hottest block: {function}, {}", self.lines(block.start..block.end)), None, roles);
        }
        table.text()
    }

    fn spans(&self) -> String {
        if self.levels.spans.is_empty() {
            return String::new();
        }
        let technology = self.device.technology().name();
        let mut table =
            Table::new(&["routine that is undone", "at", "entries", "compute", "uncompute", "copy", "paired", "words"]);
        let mut advice = String::new();
        for span in &self.levels.spans {
            let of = &span.roles;
            let place = self.lines(span.undo.clone());
            table.row(vec![
                self.name(span).to_string(),
                place.clone(),
                span.undoing.times.to_string(),
                of.get(Role::Compute).to_string(),
                of.get(Role::Uncompute).to_string(),
                of.get(Role::Copy).to_string(),
                number(of.paired()),
                span.undoing.words.to_string(),
            ]);
            let _ = writeln!(advice, "  {}, {place}: {}", self.name(span), self.advice(span));
        }
        format!("\n{}\non {technology}\n{advice}", table.text())
    }

    /// What is cheaper, by how much, and what to do about it.
    fn advice(&self, span: &SpanLevel) -> String {
        let Choice { uncompute, erase, between, .. } = span.undoing.choice(self.device);
        let words = plural(span.undoing.words, "word");
        let joules = |x: f64| si(x, "J");
        if span.undoing.words == 0 {
            return format!("it leaves nothing to erase, and undoing it takes {}", joules(uncompute));
        }
        let range = match between {
            Some((low, high)) if low > 0.0 && high.is_finite() => {
                format!("; undoing is cheaper from {} to {}", si(low, "Hz"), si(high, "Hz"))
            }
            Some((_, high)) if high.is_finite() => format!("; undoing is cheaper below {}", si(high, "Hz")),
            Some((low, _)) if low > 0.0 => format!("; undoing is cheaper above {}", si(low, "Hz")),
            Some(_) => "; undoing is cheaper at any frequency".to_string(),
            None if self.device.energy().logic.is_clocked_at_will() => {
                "; erasing is cheaper at any frequency".to_string()
            }
            None => String::new(),
        };
        if uncompute <= erase {
            return format!(
                "undo it: that takes {} in all, and erasing {words} each time would take {}{range}",
                joules(uncompute),
                joules(erase)
            );
        }
        let how = match (self.module.is_compiled(span.routine.start as usize), span.by_hand) {
            (true, _) => "compile with `--uncompute auto`",
            (false, false) => "write `erase` for each word instead of `.unroutine`, and `.irreversible`",
            (false, true) => "write `erase` for each word instead, and `.irreversible`",
        };
        format!(
            "erase it: {} in all for {words} each time, against {} for undoing{range}; {how}, or keep the words for later",
            joules(erase),
            joules(uncompute)
        )
    }

    fn json(&self) -> Map<String, Value> {
        let with = |roles: &Roles, more: Value| {
            let mut object = roles_json(roles);
            if let Value::Object(more) = more {
                object.extend(more);
            }
            Value::Object(object)
        };
        let functions: Vec<Value> = self
            .levels
            .functions
            .iter()
            .map(|f| with(&f.roles, json!({ "name": f.name, "entries": f.entries })))
            .collect();
        let spans: Vec<Value> = self
            .levels
            .spans
            .iter()
            .map(|span| {
                let choice = span.undoing.choice(self.device);
                let between = choice.between.map(|(low, high)| [Some(low), Some(high).filter(|h| h.is_finite())]);
                let more = json!({
                    "name": self.name(span), "by_hand": span.by_hand, "place": self.lines(span.undo.clone()),
                    "routine": self.lines(span.routine.clone()), "entries": span.undoing.times,
                    "words": span.undoing.words, "uncompute_joules": choice.uncompute, "erase_joules": choice.erase,
                    "uncompute_between_hertz": between, "advice": self.advice(span),
                });
                with(&span.roles, more)
            })
            .collect();
        let hottest = self.levels.hottest.as_ref().map(|(block, function, roles)| {
            with(roles, json!({ "function": function, "start": block.start, "end": block.end }))
        });
        let all = Value::Object(roles_json(&self.levels.all));
        let parts = [
            ("all", all),
            ("functions", json!(functions)),
            ("spans", json!(spans)),
            ("technology", json!(self.device.technology().name())),
            ("hottest_block", json!(hottest)),
        ];
        parts.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
    }

    /// A bar for each function and each routine that is undone.
    fn svg(&self) -> String {
        let functions = self.levels.functions.iter().map(|f| RoleBar { name: f.name.clone(), roles: f.roles });
        let spans = self.levels.spans.iter().map(|span| RoleBar {
            name: format!("{}, {}", self.name(span), self.lines(span.undo.clone())),
            roles: span.roles,
        });
        roles(&functions.chain(spans).collect::<Vec<_>>())
    }
}

fn roles_json(roles: &Roles) -> Map<String, Value> {
    let mut out: Map<String, Value> = Role::ALL.iter().map(|r| (r.name().to_string(), json!(roles.get(*r)))).collect();
    out.insert("total".into(), json!(roles.total()));
    out.insert("paired".into(), json!(roles.paired()));
    out.insert("attributed".into(), json!(roles.attributed()));
    out
}
