//! A translation as a file: constants, macros for calls, cells, and the code with the comments of the program that it was made of.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use pendula_isa::module::Module;
use pendula_isa::table::Flow;
use pendula_isa::text::{NoNames, display};
use pendula_isa::types::Reg;

use super::flow::{Routine, Test};
use super::native::{Checks, Guard, Item, Op};
use super::{Options, Translation};
use crate::object::as_name;
use crate::pisa::HEADER;

/// Where mnemonics begin.
const COLUMN: usize = 8;
/// Where comments begin.
const COMMENTS: usize = 40;
/// How many words of data stand in a line.
const WORDS: usize = 10;

/// Names that the file defines itself.
const OWN: &[&str] = &[
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

/// A jump's end: the unit, the branch of PISA, and whether it is the `from`.
type End = (usize, u32, bool);

struct Writer<'a> {
    module: &'a Module,
    translation: &'a Translation,
    options: &'a Options,
    notes: Notes<'a>,
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
        notes: Notes::of(source, module),
        labels,
        taken: OWN.iter().map(|n| (*n).to_string()).collect(),
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
    /// A name that is not taken, as near as can be to one of PISA.
    fn name(&mut self, wanted: &str) -> String {
        as_name(wanted, &mut self.taken)
    }

    fn wanted(&self, at: u32, letter: char) -> String {
        self.labels.get(&at).map_or_else(|| format!("{letter}{at:04}"), |name| (*name).to_string())
    }

    /// Gives names to procedures, data, and ends of jumps.
    fn name_all(&mut self) {
        for (unit, _) in &self.translation.units {
            if !unit.main {
                let name = self.name(&self.wanted(unit.entry, 'P'));
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
                        let base = if ends { "end".to_string() } else { self.wanted(item.at, 'L') };
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
        let has = |wanted: fn(&Op) -> bool| {
            self.translation.units.iter().flat_map(|(_, items)| items).flat_map(|i| &i.ops).any(wanted)
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

    fn define(&mut self, head: &str, comment: &str, body: &[String]) {
        self.line("");
        self.statement(None, &format!(".macro  {head}"), Some(comment));
        for line in body {
            self.statement(None, line, None);
        }
        self.statement(None, ".endm", None);
    }

    /// Macros for exchanges with checks, and for calls that keep what PISA keeps.
    fn macros(&mut self) {
        let (mut linked, mut swapped) = ([false; 2], [false; 2]);
        let mut exchanges: BTreeSet<Checks> = BTreeSet::new();
        for op in self.translation.units.iter().flat_map(|(_, items)| items).flat_map(|i| &i.ops) {
            match op {
                Op::Call { back, link: Some(_), .. } => linked[usize::from(*back)] = true,
                Op::Swap { back, .. } => swapped[usize::from(*back)] = true,
                Op::Exch(_, _, checks) => drop(exchanges.insert(*checks)),
                _ => {}
            }
        }
        let longest = self.longest();
        for (n, name, unit, times) in
            [(10, "code10", ".word   MARK", 10), (100, "code100", "code10", 10), (1000, "code1000", "code100", 10)]
        {
            if longest >= n {
                let body: Vec<String> = match n {
                    10 => vec![format!("{unit}{}", ", MARK".repeat(times - 1))],
                    _ => vec![unit.to_string(); times],
                };
                self.define(name, &format!("{n} words that are none of PISA's"), &body);
            }
        }
        let callee = self.translation.registers.callee.unwrap_or_default();
        for checks in exchanges {
            let Some((name, comment)) = exchange(checks) else { continue };
            let mut body = Vec::new();
            if checks.address {
                if let Guard::From(code) = self.translation.guard
                    && code > 0
                {
                    body.push("assert.geu \\address, CODE".to_string());
                }
                if self.translation.stack {
                    body.push("assert.lt \\address, CELLS".to_string());
                }
            }
            let word = || "assert.lt \\word, MARK".to_string();
            body.extend(checks.before.then(word));
            body.push("exch    \\word, [cells+\\address]".to_string());
            body.extend(checks.after.then(word));
            self.define(&format!("{name} word, address"), comment, &body);
        }
        for (back, name, call, add) in [(0, "linkcall", "call", "add32"), (1, "linkuncall", "uncall", "sub32")] {
            if linked[back] {
                let body = [
                    "assert.eq \\link, 0".to_string(),
                    format!("{add:<7} \\link, \\distance"),
                    format!("{call:<7} \\name"),
                    format!("{add:<7} \\link, \\distance"),
                    "assert.eq \\link, 0".to_string(),
                ];
                self.define(&format!("{name} link, distance, name"), "the link stands in a register, too", &body);
            }
        }
        let entry = |mnemonic: &str| format!("{mnemonic:<7} {callee}, [procedures+\\reg+\\at-FIRST]");
        let range = || ["assert.ge \\reg, FIRST-\\at".to_string(), "assert.le \\reg, LAST-\\at".to_string()];
        let there = |mnemonic: &str| {
            [
                "swap    \\link, \\reg".to_string(),
                format!("{mnemonic:<7} {callee}"),
                "swap    \\link, \\reg".to_string(),
            ]
        };
        let one = |text: &str| [text.to_string()];
        let (push, pop) = (format!("push    {callee}"), format!("pop     {callee}"));
        let (free, negate) = (one("assert.eq \\link, 0"), one("neg32   \\reg"));
        let mut forward: Vec<String> = Vec::new();
        for part in [&free[..], &range(), &[push.clone(), entry("add")], &there("callr"), &negate, &range()] {
            forward.extend_from_slice(part);
        }
        for part in [&[entry("sub")][..], &negate, std::slice::from_ref(&pop), &free] {
            forward.extend_from_slice(part);
        }
        let mut backward: Vec<String> = Vec::new();
        for part in [&free[..], &[push], &negate, &range(), &[entry("add")], &negate, &there("uncallr")] {
            backward.extend_from_slice(part);
        }
        for part in [&[entry("sub")][..], &[pop], &range(), &free] {
            backward.extend_from_slice(part);
        }
        for (back, name, body) in [(0, "distcall", forward), (1, "distuncall", backward)] {
            if swapped[back] {
                self.define(&format!("{name} reg, link, at"), "calls the procedure at a distance", &body);
            }
        }
    }

    /// The data segment.
    fn cells(&mut self) {
        let exchanges = self.translation.units.iter().flat_map(|(_, i)| i).flat_map(|i| &i.ops);
        let any = exchanges.clone().any(|op| matches!(op, Op::Exch(..)));
        let swaps = exchanges.clone().any(|op| matches!(op, Op::Swap { .. }));
        let marked = self.translation.guard == Guard::Marked;
        let words = self.module.code.iter().any(|i| i.kind.flow() == Flow::Cell);
        if !any && !words && !swaps {
            return;
        }
        self.line("");
        self.statement(None, ".data", None);
        let exported: Vec<String> = self.data.values().flatten().cloned().collect();
        for names in exported.chunks(WORDS) {
            self.statement(None, &format!(".export {}", names.join(", ")), None);
        }
        if self.options.below > 0 {
            let text = format!(".space  {}", self.options.below);
            self.statement(Some("below"), &text, Some("cells with addresses below 0"));
        }
        self.statement(Some("cells"), "", None);
        let code = &self.module.code;
        let mut at = 0;
        while at < code.len() {
            let is_cell = |at: usize| code[at].kind.flow() == Flow::Cell;
            let kind = is_cell(at);
            let end = (at + 1..code.len())
                .find(|n| is_cell(*n) != kind || kind && (self.data.contains_key(&(*n as u32)) || *n - at == WORDS))
                .unwrap_or(code.len());
            if kind {
                let names = self.data.get(&(at as u32)).cloned().unwrap_or_default();
                let words: Vec<String> = code[at..end].iter().map(|i| i.imm.to_string()).collect();
                let comment = self.notes.of_data(at as u32);
                let (last, others) = names.split_last().map_or((None, &[][..]), |(l, o)| (Some(l), o));
                for name in others {
                    self.statement(Some(name), "", None);
                }
                let text = format!(".word   {}", words.join(", "));
                self.statement(last.map(String::as_str), &text, comment.as_deref());
            } else {
                // Data ends where its label's cells do.
                if at > 0 && !self.data.is_empty() {
                    let name = self.name("code");
                    self.statement(Some(&name), "", None);
                }
                if marked {
                    self.fill(end - at);
                } else {
                    self.statement(None, &format!(".space  {}", end - at), Some("where the instructions were"));
                }
            }
            at = end;
        }
        let above = self.options.cells as usize - code.len();
        if above > 0 {
            self.statement(Some("above"), &format!(".space  {above}"), None);
        }
        if swaps {
            let first = self.translation.candidates.first().copied().unwrap_or(0);
            let mut comment = Some("by their addresses in PISA");
            let mut next = first;
            for &at in &self.translation.candidates {
                self.fill((at - next) as usize);
                next = at + 1;
                let text = format!(".word   {}", self.procedures.get(&at).map_or("MARK", String::as_str));
                self.statement(comment.map(|_| "procedures"), &text, comment.take());
            }
        }
    }

    /// Words that are none of PISA's, and no procedure's address.
    fn fill(&mut self, mut words: usize) {
        for n in [1000, 100, 10] {
            for _ in 0..words / n {
                self.statement(None, &format!("code{n}"), None);
            }
            words %= n;
        }
        if words > 0 {
            self.statement(None, &format!(".word   {}", vec!["MARK"; words].join(", ")), None);
        }
    }

    /// The longest stretch that [`fill`](Self::fill) has to fill.
    fn longest(&self) -> usize {
        let mut longest = 0;
        if self.translation.guard == Guard::Marked {
            let mut run = 0;
            for inst in &self.module.code {
                run = if inst.kind.flow() == Flow::Cell { 0 } else { run + 1 };
                longest = longest.max(run);
            }
        }
        let candidates = &self.translation.candidates;
        let gaps = candidates.iter().zip(candidates.iter().skip(1)).map(|(a, b)| (b - a - 1) as usize);
        gaps.max().unwrap_or(0).max(longest)
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
                // What is said of the branch before the entry is said of the procedure.
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
        // Instructions of a turned stretch stand here, too, unless they are a procedure.
        if let Some(end) = unit.turned.get(&item.at) {
            let apart = self.procedures.contains_key(&item.at);
            for at in if apart { *end } else { item.at + 1 }..=*end {
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
                    let wanted = self.wanted(item.at, 'L');
                    let named = self.labels.contains_key(&item.at) && !self.ends.contains_key(&(n, item.at, false));
                    let wanted = if named { wanted } else { "main".to_string() };
                    (Some(self.name(&wanted)), "start".to_string())
                }
                Op::Finish => (None, "finish".to_string()),
            };
            self.statement(label.as_deref(), &text, beside.take().as_deref());
        }
    }
}

/// The macro for an exchange with these checks, and what it is for.
fn exchange(checks: Checks) -> Option<(&'static str, &'static str)> {
    match checks {
        Checks { address: false, before: false, after: false } => None,
        Checks { before: false, after: true, .. } => Some(("exchfirst", "the first of several at one address")),
        Checks { address: false, before: true, after: false } => {
            Some(("exchlast", "the last of several at one address"))
        }
        Checks { .. } => Some(("exchange", "with a cell")),
    }
}

/// A jump or its landing place as text.
fn jump(mnemonic: &str, test: Test, label: &str) -> String {
    if test.is_always() {
        return format!("{mnemonic:<7} {label}");
    }
    let name = format!("{mnemonic}.{}", test.cond.name());
    let b = test.b.map_or_else(|| test.k.to_string(), |b| b.to_string());
    format!("{name:<7} {}, {b}, {label}", test.a)
}

/// The comments of a program of PISA.
struct Notes<'a> {
    /// Those at the file's beginning.
    head: Vec<String>,
    /// Those on lines of their own before an instruction, and that beside it.
    at: HashMap<u32, (Vec<&'a str>, Option<&'a str>)>,
}

impl<'a> Notes<'a> {
    fn of(source: &'a str, module: &Module) -> Notes<'a> {
        let mut places: BTreeMap<usize, u32> = BTreeMap::new();
        for (at, loc) in module.locs.iter().enumerate() {
            places.insert(loc.line as usize, at as u32);
        }
        let (mut head, mut open, mut at) = (Vec::new(), Vec::new(), HashMap::new());
        let mut begun = false;
        for (n, line) in source.trim_start_matches('\u{feff}').lines().enumerate() {
            let (written, comment) = line.split_once(';').map_or((line, None), |(w, c)| (w, Some(c.trim())));
            let comment = comment.filter(|c| !c.is_empty());
            let blank = written.trim().is_empty();
            if n == 0 && line.starts_with(HEADER) {
                continue;
            }
            begun |= !blank;
            match places.get(&(n + 1)) {
                Some(address) => {
                    at.insert(*address, (std::mem::take(&mut open), comment));
                }
                None if blank && !begun => head.extend(comment.map(str::to_string)),
                None => open.extend(comment),
            }
        }
        Notes { head, at }
    }

    /// The comments before an instruction and beside it; they are given once.
    fn take(&mut self, at: u32) -> (Vec<String>, Option<String>) {
        let (before, beside) = self.at.remove(&at).unwrap_or_default();
        let clean = |text: &str| text.chars().filter(|c| !c.is_control()).collect::<String>();
        (before.into_iter().map(clean).collect(), beside.map(clean))
    }

    /// The comment beside a word of data.
    fn of_data(&mut self, at: u32) -> Option<String> {
        self.take(at).1
    }
}
