//! Results as tables, either aligned or in Markdown.

use std::fmt::Write as _;

use crate::Surroundings;
use crate::measure::{EngineTimes, Measured};
use crate::memory::Peaks;
use crate::objective::{Contraction, Kind};
use crate::reference::Check;

/// A table of text.
pub struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    /// The number of columns on the left that hold text instead of numbers.
    words: usize,
}

impl Table {
    /// A table with this head.
    pub fn new(head: &[&str], words: usize) -> Table {
        Table { head: head.iter().map(|h| (*h).to_string()).collect(), rows: Vec::new(), words }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table without empty columns.
    fn filled(&self) -> Table {
        let keep: Vec<bool> = (0..self.head.len())
            .map(|i| i < self.words || self.rows.iter().any(|r| r.get(i).is_some_and(|c| !c.is_empty())))
            .collect();
        let take = |row: &[String]| row.iter().zip(&keep).filter(|(_, k)| **k).map(|(c, _)| c.clone()).collect();
        Table { head: take(&self.head), rows: self.rows.iter().map(|r| take(r)).collect(), words: self.words }
    }

    /// The table with aligned columns.
    pub fn aligned(&self) -> String {
        let table = self.filled();
        let all = || std::iter::once(&table.head).chain(&table.rows);
        let width = |i: usize| all().filter_map(|r| r.get(i)).map(|c| c.chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..table.head.len()).map(width).collect();
        let mut out = String::new();
        for row in all() {
            let mut line = String::new();
            for (i, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let gap = if i == 0 { "" } else { "  " };
                let cell = if i < table.words { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
                let _ = write!(line, "{gap}{cell}");
            }
            let _ = writeln!(out, "{}", line.trim_end());
        }
        out
    }

    /// The table in Markdown.
    pub fn markdown(&self) -> String {
        let table = self.filled();
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule: String = (0..table.head.len()).map(|i| if i < table.words { "|---" } else { "|--:" }).collect();
        let rows: String = table.rows.iter().map(|r| line(r)).collect();
        format!("{}{rule}|\n{rows}", line(&table.head))
    }
}

/// A duration with three digits and a unit.
pub fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// A number with three digits, or with all digits before the point.
pub fn digits(x: f64) -> String {
    match x.abs() {
        a if a < 9.995 => format!("{x:.2}"),
        a if a < 99.95 => format!("{x:.1}"),
        _ => format!("{x:.0}"),
    }
}

/// A number of bytes with three digits and a unit.
fn bytes(n: u64) -> String {
    match n as f64 {
        b if b < 1e6 => format!("{} kB", digits(b / 1e3)),
        b => format!("{} MB", digits(b / 1e6)),
    }
}

/// The ratios of a time to C's, compiled in both ways; the time itself without C.
fn ratios(case: &Measured, seconds: f64) -> [String; 2] {
    match Contraction::ALL.map(|way| case.objective(way)) {
        [Some(a), Some(b)] => [digits(seconds / a.seconds), digits(seconds / b.seconds)],
        _ => [duration(seconds), String::new()],
    }
}

fn verdict<'a>(mut checks: impl Iterator<Item = &'a Check>) -> String {
    if checks.all(Check::is_met) { "met".into() } else { "WRONG".into() }
}

/// A row for each engine of each case. It begins with the case's name, followed by the engine's if there are several
/// engines.
fn rows(cases: &[Measured], head: &[&str], cells: impl Fn(&Measured, &EngineTimes) -> Vec<String>) -> Table {
    let several = cases.iter().any(|c| c.engines.len() > 1);
    let first: &[&str] = if several { &["workload", "engine"] } else { &["workload"] };
    let mut table = Table::new(&[first, head].concat(), first.len());
    for case in cases {
        for ran in &case.engines {
            let mut row = vec![case.name.clone()];
            row.extend(several.then(|| ran.engine.to_string()));
            row.extend(cells(case, ran));
            table.row(row);
        }
    }
    table
}

/// The table of times.
pub fn times(cases: &[Measured]) -> Table {
    let head = ["O", "O off", "H", "H off", "F/O", "U/O", "G/O", "G/H", "J/O", "Hess/O", "Hess/H2", "checks"];
    rows(cases, &head, |case, ran| {
        let compiled = |kind| {
            Contraction::ALL.map(|way| case.fastest(kind, way).map_or(String::new(), |f| duration(f.seconds))).to_vec()
        };
        let both = |seconds: Option<f64>| match seconds.map(|s| ratios(case, s)) {
            None => String::new(),
            Some([a, b]) if b.is_empty() => a,
            Some([a, b]) => format!("{a} ({b})"),
        };
        let mut row = [compiled(Kind::Objective), compiled(Kind::Gradient)].concat();
        row.extend([Some(ran.forward), Some(ran.backward), ran.gradient].map(both));
        let over = |seconds: Option<f64>, kind| {
            let pair = seconds.zip(case.by_hand(kind));
            pair.map_or(String::new(), |(seconds, hand)| digits(seconds / hand))
        };
        row.push(over(ran.gradient, Kind::Gradient));
        row.extend([ran.jacobian, ran.hessian].map(both));
        row.push(over(ran.hessian, Kind::Hessian));
        row.push(verdict(case.checks.iter().chain(&ran.checks)));
        row
    })
}

/// The table of instructions and memory.
pub fn sizes(cases: &[Measured]) -> Table {
    let head = ["instructions F", "G", "peak memory F", "G", "G/F", "size"];
    rows(cases, &head, |case, ran| {
        let count = |n: Option<u64>| n.map_or(String::new(), |n| n.to_string());
        let memory = |of: fn(Peaks) -> String| ran.memory.map_or(String::new(), of);
        vec![
            count(ran.instructions.map(|i| i.forward)),
            count(ran.instructions.and_then(|i| i.gradient)),
            memory(|m| bytes(m.forward)),
            memory(|m| bytes(m.gradient)),
            memory(|m| digits(m.ratio())),
            case.size.clone(),
        ]
    })
}

/// The checks that failed.
pub fn complaints(cases: &[Measured]) -> String {
    let mut out = String::new();
    let mut tell = |case: &Measured, engine: &str, checks: &[Check]| {
        for c in checks.iter().filter(|c| !c.is_met()) {
            let _ = writeln!(
                out,
                "{} {engine}: {}: {} instead of {}, {:.1e} apart where {:.1e} is allowed",
                case.name, c.what, c.found, c.wanted, c.error, c.tolerance
            );
        }
    };
    for case in cases {
        tell(case, "C", &case.checks);
        case.engines.iter().for_each(|r| tell(case, r.engine, &r.checks));
    }
    out
}

/// The text above a table.
pub fn heading(s: &Surroundings, engines: &[&str]) -> String {
    let compiler = s.compiler.as_deref().unwrap_or("no C compiler");
    let rounds = if s.rounds == 1 { "one round".to_string() } else { format!("medians of {} rounds", s.rounds) };
    let options = if s.options.is_empty() { String::new() } else { format!(" with {}", s.options.join(" ")) };
    format!("{}; {compiler}; engine {}{options}; {rounds}", s.processor, engines.join(", "))
}

/// The explanation of the columns.
pub const LEGEND: &str = "\
O: the objective in C, -O3 -march=native; off: with -ffp-contract=off, too. H: its gradient in C, written by hand; G/H is over the faster one.
F: forward; U: back, without gradients; G: a whole gradient; J: the sparse Jacobian; Hess: the Hessian: each over O, and in parentheses over O off.
H2: the Hessian in C, written by hand; Hess/H2 is over the faster one.
";
