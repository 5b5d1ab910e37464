//! How time grows with size: the same case at 1, 4 and 16 times the base size, all timed in turn.

use pendula_codegen::cc::Compiler;
use pendula_vm::Engine;
use serde_json::{Value, json};

use crate::Surroundings;
use crate::cases::{Case, SCALED, Size, case};
use crate::json::surroundings;
use crate::measure::{Effort, Measured, measure};
use crate::objective::{Contraction, Kind};
use crate::reference::Check;
use crate::table::{Table, digits, duration};

/// The sizes, relative to the base size.
pub const TIMES: [usize; 3] = [1, 4, 16];

/// The maximum relative growth of the time per element. That time decreases while start-up costs matter.
pub const MOST: f64 = 0.15;

/// A case at each size.
#[derive(Debug)]
pub struct Scaled(Vec<Measured>);

/// Those of these cases that can be scaled.
pub fn scalable(names: &[&'static str]) -> Vec<&'static str> {
    names.iter().copied().filter(|n| SCALED.contains(n)).collect()
}

/// Measures one case.
pub fn scale(name: &str, compilers: &[Compiler], engines: &[Engine], effort: Effort) -> anyhow::Result<Scaled> {
    let cases: Vec<Case> = TIMES.iter().map(|n| case(name, Size::Times(*n))).collect();
    Ok(Scaled(measure(&cases, compilers, engines, effort)?))
}

/// One measured quantity, with the seconds per element at each size.
struct Line {
    engine: String,
    what: &'static str,
    seconds: Vec<f64>,
}

impl Line {
    /// The ratios to the time at the first size.
    fn ratios(&self) -> impl Iterator<Item = f64> {
        self.seconds.iter().skip(1).map(|s| s / self.seconds[0])
    }

    fn is_linear(&self) -> bool {
        self.ratios().all(|r| r <= 1.0 + MOST)
    }
}

impl Scaled {
    pub(crate) fn all_checks(&self) -> impl Iterator<Item = &Check> {
        self.0.iter().flat_map(Measured::all_checks)
    }

    /// The measurements.
    pub fn cases(&self) -> &[Measured] {
        &self.0
    }

    fn lines(&self) -> Vec<Line> {
        let each = |seconds: &dyn Fn(&Measured) -> Option<f64>| -> Option<Vec<f64>> {
            self.0.iter().map(|m| Some(seconds(m)? / m.elements as f64)).collect()
        };
        let mut out = Vec::new();
        let mut add = |engine: &str, what, seconds: Option<Vec<f64>>| {
            out.extend(seconds.map(|seconds| Line { engine: engine.to_string(), what, seconds }));
        };
        add("C", "O", each(&|m| m.objective(Contraction::Allowed).map(|o| o.seconds)));
        add("C", "H", each(&|m: &Measured| m.by_hand(Kind::Gradient)));
        let engines = self.0.first().map_or(0, |m| m.engines.len());
        for e in 0..engines {
            let name = self.0[0].engines[e].engine;
            add(name, "F", each(&|m| Some(m.engines[e].forward)));
            add(name, "U", each(&|m| Some(m.engines[e].backward)));
            add(name, "G", each(&|m| m.engines[e].gradient));
        }
        out
    }
}

/// The measurements as a table.
pub fn table(all: &[Scaled]) -> Table {
    let mut table = Table::new(&["workload", "size", "", "", "an element", "4 times the size", "16 times"], 4);
    for scaled in all {
        let Some(first) = scaled.0.first() else { continue };
        for line in scaled.lines() {
            let mut row = vec![first.name.clone(), first.size.clone(), line.engine.clone(), line.what.to_string()];
            row.push(duration(line.seconds[0]));
            let mark = |r: f64| if r > 1.0 + MOST { "!" } else { "" };
            row.extend(line.ratios().map(|r| format!("{}{}", digits(r), mark(r))));
            table.row(row);
        }
    }
    table
}

/// The explanation of the table's columns.
pub const LEGEND: &str = "\
Time for an element (a number, an entry, a point, an observation, a step), and its ratio to that at larger sizes; ! is more than 15 % more.
O: the objective in C; H: its gradient in C, written by hand; F: forward; U: back, without gradients; G: a whole gradient.
";

/// The measurements as JSON.
pub fn json(s: &Surroundings, all: &[Scaled]) -> Value {
    let case = |scaled: &Scaled| {
        let lines: Vec<Value> = scaled
            .lines()
            .iter()
            .map(
                |l| json!({ "by": l.engine, "what": l.what, "seconds_an_element": l.seconds, "linear": l.is_linear() }),
            )
            .collect();
        json!({
            "name": scaled.0.first().map(|m| m.name.clone()),
            "sizes": scaled.0.iter().map(|m| m.size.clone()).collect::<Vec<_>>(),
            "elements": scaled.0.iter().map(|m| m.elements).collect::<Vec<_>>(),
            "times": lines,
            "right": scaled.all_checks().all(Check::is_met),
        })
    };
    json!({
        "surroundings": surroundings(s),
        "scaling": all.iter().map(case).collect::<Vec<_>>(),
        "right": all.iter().flat_map(Scaled::all_checks).all(Check::is_met),
    })
}
