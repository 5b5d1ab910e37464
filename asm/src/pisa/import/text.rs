//! Writes a translation as a file: constants, macros for calls, cells, and the code with the comments of the original
//! program.

mod cells;
mod comments;
mod macros;

use std::collections::{BTreeMap, HashMap, HashSet};

use pendula_isa::module::Module;
use pendula_isa::table::Flow;
use pendula_isa::text::{NoNames, display};
use pendula_isa::types::Reg;

use super::flow::Routine;
use super::native::{Guard, Item, Op};
use super::shape::Test;
use super::{Options, Translation};
use crate::object::as_name;
use comments::SourceComments;
use macros::exchange;

/// The column of mnemonics.
const COLUMN: usize = 8;
/// The column of comments.
const COMMENTS: usize = 40;
/// The number of words of data in a line.
const WORDS: usize = 10;

/// Names that the file itself defines.
const RESERVED: &[&str] = &[
    "CELLS",
    "CODE",
    "MARK",
    "FIRST",
    "LAST",
    "below",
    "cells",
    "above",
    "procedures",
    "linkcall",
    "linkuncall",
    "distcall",
    "distuncall",
    "exchange",
    "exchfirst",
    "exchlast",
    "code10",
    "code100",
    "code1000",
];

/// An end of a jump: the index of the routine, the address of the branch in PISA, and whether it is the `from`.
type End = (usize, u32, bool);

struct Writer<'a> {
    module: &'a Module,
    translation: &'a Translation,
    options: &'a Options,
    notes: SourceComments<'a>,
    /// Labels of PISA by address.
    labels: HashMap<u32, &'a str>,
    taken: HashSet<String>,
    ends: HashMap<End, String>,
    procedures: BTreeMap<u32, String>,
    data: BTreeMap<u32, Vec<String>>,
    out: String,
}

/// The translation as text.
pub(super) fn write(module: &Module, translation: &Translation, source: &str, options: &Options) -> String {
    let mut labels = HashMap::new();
    for symbol in &module.symbols {
        if let Ok(at) = u32::try_from(symbol.value) {
            labels.entry(at).or_insert(symbol.name.as_str());
        }
    }
    let mut writer = Writer {
        module,
        translation,
        options,
        notes: SourceComments::of(source, module),
        labels,
        taken: RESERVED.iter().map(|n| (*n).to_string()).collect(),
        ends: HashMap::new(),
        procedures: BTreeMap::new(),
        data: BTreeMap::new(),
        out: String::new(),
    };
    writer.name_all();
    writer.head();
    writer.macros();
    writer.cells();
    writer.code();
    writer.out
}

impl Writer<'_> {
    /// A name that is not taken, as similar as possible to a name in PISA.
    fn name(&mut self, preferred_name: &str) -> String {
        as_name(preferred_name, &mut self.taken)
    }

    fn preferred_name(&self, at: u32, letter: char) -> String {
        self.labels.get(&at).map_or_else(|| format!("{letter}{at:04}"), |name| (*name).to_string())
    }

    /// Gives names to procedures, data, and ends of jumps.
    fn name_all(&mut self) {
        for (unit, _) in &self.translation.units {
            if !unit.main {
                let name = self.name(&self.preferred_name(unit.entry, 'P'));
                self.procedures.insert(unit.entry, name);
            }
        }
        for symbol in &self.module.symbols {
            let cell = |at: u32| self.module.code.get(at as usize).is_some_and(|i| i.kind.flow() == Flow::Cell);
            if let Some(at) = u32::try_from(symbol.value).ok().filter(|at| cell(*at)) {
                let name = self.name(&symbol.name);
                self.data.entry(at).or_default().push(name);
            }
        }
        for (n, (_, items)) in self.translation.units.iter().enumerate() {
            for item in items {
                let has = |land: bool| {
                    item.ops.iter().any(|op| match op {
                        Op::Jump { .. } => !land,
                        Op::Land { .. } => land,
                        _ => false,
                    })
                };
                for (land, both) in [(false, false), (true, has(false))] {
                    let end = (n, item.at, land);
                    if has(land) && !self.ends.contains_key(&end) {
                        let ends = item.ops.last() == Some(&Op::Finish) && !self.labels.contains_key(&item.at);
                        let base = if ends { "end".to_string() } else { self.preferred_name(item.at, 'L') };
                        let name = self.name(&if both { format!("{base}.in") } else { base });
                        self.ends.insert(end, name);
                    }
                }
            }
        }
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    /// A statement with its label and its comment.
    fn statement(&mut self, label: Option<&str>, text: &str, comment: Option<&str>) {
        let mut head = label.map_or(String::new(), |l| format!("{l}:"));
        if head.chars().count() >= COLUMN {
            self.line(&head);
            head.clear();
        }
        let line = format!("{head:COLUMN$}{text}");
        match comment {
            Some(comment) => self.line(&format!("{line:<width$} ; {comment}", width = COMMENTS - 1)),
            None => self.line(&line),
        }
    }

    fn head(&mut self) {
        let file = self.module.files.first().map_or("", String::as_str);
        let file = file.rsplit(['/', '\\']).next().unwrap_or("");
        let clean: String = file.chars().filter(|c| !c.is_control()).collect();
        self.line(&format!("; from {clean}"));
        let renamed: Vec<String> = self.translation.registers.renamed().map(|(n, r)| format!("${n} is {r}")).collect();
        if !renamed.is_empty() {
            self.line(&format!("; {}", renamed.join(", ")));
        }
        for comment in std::mem::take(&mut self.notes.head) {
            self.line(&format!("; {comment}").replace("; ;", ";;"));
        }
        self.line("");
        let has = |predicate: fn(&Op) -> bool| {
            self.translation.units.iter().flat_map(|(_, items)| items).flat_map(|i| &i.ops).any(predicate)
        };
        let checked = has(|op| matches!(op, Op::Exch(..)));
        let swaps = has(|op| matches!(op, Op::Swap { .. }));
        let mut constants: Vec<(&str, String, &str)> = Vec::new();
        if checked && self.translation.stack {
            constants.push(("CELLS", self.options.cells.to_string(), "cells from address 0 on; links lie behind them"));
        }
        match self.translation.guard {
            Guard::From(code) if checked && code > 0 => {
                constants.push(("CODE", code.to_string(), "cells before this one were instructions"));
            }
            Guard::Marked | Guard::From(_) => {}
        }
        if swaps || self.translation.guard == Guard::Marked {
            constants.push(("MARK", "0x80000000".to_string(), "no word of PISA: there were instructions"));
        }
        if swaps {
            let first = self.translation.candidates.first().copied().unwrap_or(0);
            let last = self.translation.candidates.last().copied().unwrap_or(0);
            constants.push(("FIRST", first.to_string(), "the first procedure that is called by its distance"));
            constants.push(("LAST", last.to_string(), "the last"));
        }
        for (name, value, comment) in constants {
            self.statement(None, &format!(".equ    {name}, {value}"), Some(comment));
        }
    }

    fn code(&mut self) {
        self.line("");
        self.statement(None, ".text", None);
        let units = &self.translation.units;
        for (n, (unit, items)) in units.iter().enumerate() {
            if n > 0 {
                self.line("");
            }
            let name = self.procedures.get(&unit.entry).cloned().filter(|_| !unit.main);
            if let Some(name) = &name {
                // Comments on the branch before the entry become comments on the procedure.
                for item in items.iter().filter(|i| i.at < unit.entry && i.ops.is_empty()) {
                    let (before, beside) = self.notes.take(item.at);
                    self.comments(&before);
                    self.comments(beside.as_slice());
                }
                let (before, beside) = self.notes.take(unit.entry);
                self.comments(&before);
                self.statement(None, &format!("proc    {name}"), beside.as_deref());
            }
            for item in items {
                self.item(n, unit, item);
            }
            if let Some(name) = &name {
                self.statement(None, &format!("ret     {name}"), None);
            }
        }
    }

    fn comments(&mut self, comments: &[String]) {
        for comment in comments {
            self.statement(None, &format!("; {comment}"), None);
        }
    }

    fn item(&mut self, n: usize, unit: &Routine, item: &Item) {
        let (before, mut beside) = self.notes.take(item.at);
        self.comments(&before);
        // The comments of a reversed stretch are written here, too, unless it becomes a procedure.
        if let Some(end) = unit.reversed.get(&item.at) {
            let is_procedure = self.procedures.contains_key(&item.at);
            for at in if is_procedure { *end } else { item.at + 1 }..=*end {
                let (before, beside) = self.notes.take(at);
                self.comments(&before);
                self.comments(beside.as_slice());
            }
        }
        if item.ops.is_empty() {
            self.comments(beside.take().as_slice());
        }
        for op in &item.ops {
            let end = |at: u32, land: bool| self.ends.get(&(n, at, land)).cloned().unwrap_or_default();
            let (label, text) = match op {
                Op::Inst(inst) => (None, display(inst, 0, &NoNames)),
                Op::Exch(d, s, checks) => (
                    None,
                    match exchange(*checks) {
                        Some((name, _)) => format!("{name} {d}, {s}"),
                        None if *s == Reg::ZERO => format!("exch    {d}, [cells]"),
                        None => format!("exch    {d}, [cells+{s}]"),
                    },
                ),
                Op::Check(text) => (None, text.clone()),
                Op::Call { entry, back, link } => {
                    let name = self.procedures.get(entry).cloned().unwrap_or_default();
                    let call = if *back { "uncall" } else { "call" };
                    (
                        None,
                        match link {
                            Some((link, distance)) => format!("link{call} {link}, {distance}, {name}"),
                            None => format!("{call:<7} {name}"),
                        },
                    )
                }
                Op::Swap { reg, link, at, back } => {
                    let call = if *back { "uncall" } else { "call" };
                    (None, format!("dist{call} {reg}, {link}, {at}"))
                }
                Op::Jump { to, test } => {
                    let name = end(item.at, false);
                    (Some(name), jump("jmp", *test, &end(*to, true)))
                }
                Op::Land { from, test } => {
                    let name = end(item.at, true);
                    (Some(name), jump("from", *test, &end(*from, false)))
                }
                Op::Start => {
                    let preferred_name = self.preferred_name(item.at, 'L');
                    let named = self.labels.contains_key(&item.at) && !self.ends.contains_key(&(n, item.at, false));
                    let preferred_name = if named { preferred_name } else { "main".to_string() };
                    (Some(self.name(&preferred_name)), "start".to_string())
                }
                Op::Finish => (None, "finish".to_string()),
            };
            self.statement(label.as_deref(), &text, beside.take().as_deref());
        }
    }
}

/// A `jmp` or a `from` as text.
fn jump(mnemonic: &str, test: Test, label: &str) -> String {
    if test.is_always() {
        return format!("{mnemonic:<7} {label}");
    }
    let name = format!("{mnemonic}.{}", test.cond.name());
    let b = test.b.map_or_else(|| test.k.to_string(), |b| b.to_string());
    format!("{name:<7} {}, {b}, {label}", test.a)
}
