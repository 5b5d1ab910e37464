//! Modules as source text. What [`disassemble`] prints assembles to the same code, data, flags, symbols and spans. It
//! uses the module's names, and makes up labels where a jump needs one. It does not restore comments, macros or names
//! of constants; [`listing`] shows the original lines beside the words. The text of a single instruction comes from
//! [`pendula_isa::text`].

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;

use pendula_isa::encode::{Pool, encode};
use pendula_isa::inst::{Inst, Kind};
use pendula_isa::module::{Module, Span, Symbol, SymbolKind};
use pendula_isa::num::Format;
use pendula_isa::operand::{Operand, Slot};
use pendula_isa::table::Row;
use pendula_isa::text::{ModuleNames, Names, display, number, quote};
use pendula_isa::types::{Profile, Reg, Ty};

use crate::assemble::NamedOperand;
use crate::object::{as_name, is_name};

/// The column of mnemonics, and the distance from there to the operands.
const COLUMN: usize = 8;
/// Runs of at least this many zero words become `.space`.
const SPACE_FROM: usize = 8;
/// Data directives end before this column.
const WIDTH: usize = 100;

/// A module as source text.
pub fn disassemble(module: &Module) -> String {
    disassemble_named(module, &[])
}

/// The same, with the names of data objects in the operands that are known to be written with them, in the order of the
/// instructions.
pub fn disassemble_named(module: &Module, named: &[NamedOperand]) -> String {
    let mut names = Known::new(module);
    names.named = named.iter().map(|n| ((n.at, n.operand), n.object)).collect();
    let mut out = Text::default();
    let flags = &module.flags;
    if flags.format != Format::default() {
        out.statement(".format", flags.format.name());
    }
    if flags.irreversible {
        out.statement(".irreversible", "");
    }
    if let Some(mem) = flags.mem {
        out.statement(".mem", &mem.to_string());
    }
    if flags.profile != Profile::default() {
        out.statement(".profile", flags.profile.name());
        if flags.entry != 0 {
            out.statement(".start", &names.label(i64::from(flags.entry)));
        }
        if flags.loose {
            out.statement(".loose", "");
        }
    }
    for definition in crate::definitions::of_module(module) {
        out.0.push_str(&crate::definitions::text(&definition, flags.format));
    }
    data(module, &mut out);
    code(module, &names, &mut out);
    out.0
}

/// Addresses, encoded words and source lines side by side. An instruction is disassembled if `source` (called with the
/// file index and the line, from 1) does not give its line, or if the line has been shown already.
pub fn listing(module: &Module, source: impl Fn(u16, u32) -> Option<String>) -> String {
    let names = Known::new(module);
    let digits = module.code.len().to_string().len().max(4);
    let mut pool = Pool::default();
    let mut out = String::new();
    let mut shown = None;
    for (at, inst) in module.code.iter().enumerate() {
        let word = encode(inst, &mut pool);
        let loc = module.loc(at).map(|(_, loc)| (loc.file, loc.line));
        let line = loc.filter(|_| loc != shown).and_then(|(file, line)| source(file, line));
        let text = match line {
            Some(line) => line,
            None => format!("{:COLUMN$}{}", "", names.display(inst, at)),
        };
        shown = loc;
        let _ = writeln!(out, "{at:0digits$}  {word:016x}  {}", text.trim_end());
    }
    out
}

/// Lines in the layout of the assembler's own formatter.
#[derive(Default)]
struct Text(String);

impl Text {
    fn line(&mut self, text: &str) {
        self.0.push_str(text.trim_end());
        self.0.push('\n');
    }

    /// `name` in the mnemonic column, `rest` in the operand column.
    fn statement(&mut self, name: &str, rest: &str) {
        self.labelled(None, name, rest);
    }

    /// A statement after its label, which has a line of its own if it is long.
    fn labelled(&mut self, label: Option<&str>, name: &str, rest: &str) {
        let mut head = String::new();
        if let Some(label) = label {
            head = format!("{label}:");
            if head.chars().count() >= COLUMN {
                self.line(&head);
                head.clear();
            }
        }
        self.line(&format!("{head:COLUMN$}{name:<7} {rest}"));
    }

    /// Labels, then a statement; all labels but the last have a line of their own.
    fn all_labelled(&mut self, labels: &[&str], name: &str, rest: &str) {
        let (last, others) = labels.split_last().map_or((None, &[][..]), |(l, o)| (Some(*l), o));
        for label in others {
            self.line(&format!("{label}:"));
        }
        self.labelled(last, name, rest);
    }

    fn comment(&mut self, text: &str) {
        for line in text.lines() {
            let clean: String = line.chars().filter(|c| !c.is_control()).collect();
            self.line(&format!("{:COLUMN$}; {clean}", ""));
        }
    }
}

/// The names that a module has or needs.
struct Known<'a> {
    module: &'a Module,
    /// Labels by address, including those that were made up.
    labels: BTreeMap<u64, Vec<String>>,
    /// The names of procedures, by the address of their `proc`.
    procs: HashMap<u64, String>,
    /// Data objects by address.
    data: HashMap<u64, &'a str>,
    /// The objects that operands are written with, by instruction and operand.
    named: HashMap<(u32, u8), u64>,
}

impl<'a> Known<'a> {
    fn new(module: &'a Module) -> Known<'a> {
        let (labels, procs, data, named) = Default::default();
        let mut known = Known { module, labels, procs, data, named };
        let mut taken: HashSet<String> = module.symbols.iter().map(|s| s.name.clone()).collect();
        for symbol in &module.symbols {
            if !is_name(&symbol.name) {
                // A label of PISA.
                let name = as_name(&symbol.name, &mut taken);
                known.labels.entry(symbol.value).or_default().push(name);
                continue;
            }
            let proc = symbol.kind == SymbolKind::Proc && is_proc(module, symbol.value);
            match symbol.kind {
                SymbolKind::Data { .. } => {
                    known.data.entry(symbol.value).or_insert(&symbol.name);
                }
                SymbolKind::Proc if proc && !known.procs.contains_key(&symbol.value) => {
                    known.procs.insert(symbol.value, symbol.name.clone());
                }
                SymbolKind::Proc | SymbolKind::Label => {
                    known.labels.entry(symbol.value).or_default().push(symbol.name.clone());
                }
            }
        }
        let mut make = |letter: char, at: u64| {
            let mut name = format!("{letter}{at:04}");
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            name
        };
        if module.flags.entry != 0 {
            let at = u64::from(module.flags.entry);
            known.labels.entry(at).or_insert_with(|| vec![make('L', at)]);
        }
        for (at, inst) in module.code.iter().enumerate() {
            let at = at as u64;
            if is_proc(module, at) {
                known.procs.entry(at).or_insert_with(|| make('P', at));
            } else if inst.kind.layout().contains(&Slot::Label) {
                let to = at.checked_add_signed(inst.imm).filter(|&to| to <= module.code.len() as u64);
                if let Some(to) = to.filter(|&to| !is_proc(module, to)) {
                    known.labels.entry(to).or_insert_with(|| vec![make('L', to)]);
                }
            }
        }
        known
    }

    /// The text of an instruction. A `proc` has its own name where others have that of their target.
    fn display(&self, inst: &Inst, at: usize) -> String {
        match self.procs.get(&(at as u64)) {
            Some(name) => format!("{:<7} {name}", inst.kind.mnemonic()),
            None if self.named.is_empty() => display(inst, at as u64, self),
            None => self.with_names(inst, at),
        }
    }

    /// The text of an instruction, with names in the operands that are known to be written with them.
    fn with_names(&self, inst: &Inst, at: usize) -> String {
        let texts = inst.operands().enumerate().map(|(n, (_, operand))| {
            let name = u32::try_from(at).ok().and_then(|at| self.named.get(&(at, u8::try_from(n).ok()?)));
            let text = name.and_then(|object| self.by_name(operand, *object));
            text.unwrap_or_else(|| pendula_isa::text::operand(operand, at as u64, self))
        });
        let texts: Vec<String> = texts.collect();
        format!("{:<7} {}", inst.kind.mnemonic(), texts.join(", ")).trim_end().to_string()
    }

    /// An operand written with the name of the data object at this address.
    fn by_name(&self, operand: Operand, object: u64) -> Option<String> {
        let name = self.data.get(&object)?;
        let from = |number: i64| match number.wrapping_sub(object.cast_signed()) {
            0 => (*name).to_string(),
            beyond => format!("{name}{beyond:+}"),
        };
        match operand {
            Operand::Mem { base, index, offset } => {
                let mut out = format!("[{}", from(offset));
                for reg in [base, index].into_iter().filter(|reg| *reg != Reg::ZERO) {
                    let _ = write!(out, "+{}", self.register(reg));
                }
                out.push(']');
                Some(out)
            }
            Operand::Imm(word, Ty::Int) => Some(from(word.cast_signed())),
            Operand::Imm(..) | Operand::Reg(_) | Operand::Small(_) | Operand::Factor(_) => None,
            Operand::Label(_) | Operand::Text(_) => None,
        }
    }
}

impl Names for Known<'_> {
    fn label(&self, at: i64) -> String {
        let known = u64::try_from(at).ok().and_then(|at| self.procs.get(&at).or_else(|| self.labels.get(&at)?.first()));
        known.cloned().unwrap_or_else(|| format!("@{at}"))
    }

    fn text(&self, index: u32) -> String {
        self.module.texts.get(index as usize).cloned().unwrap_or_default()
    }

    fn data(&self, address: i64) -> Option<String> {
        self.data.get(&u64::try_from(address).ok()?).map(|name| (*name).to_string())
    }

    fn format(&self) -> Format {
        self.module.flags.format
    }

    fn constant(&self, word: u64, ty: Ty) -> String {
        ModuleNames(self.module).constant(word, ty)
    }

    fn register(&self, reg: Reg) -> String {
        ModuleNames(self.module).register(reg)
    }
}

fn is_proc(module: &Module, at: u64) -> bool {
    let inst = usize::try_from(at).ok().and_then(|at| module.code.get(at));
    inst.is_some_and(|inst| matches!(inst.kind, Kind::Row { row: Row::Proc, inverse: false, .. }))
}

fn data(module: &Module, out: &mut Text) {
    let mut objects: Vec<(&Symbol, Ty, u64)> = Vec::new();
    for symbol in &module.symbols {
        if let SymbolKind::Data { ty, len, .. } = symbol.kind {
            objects.push((symbol, ty, len));
        }
    }
    if objects.is_empty() && module.data.is_empty() {
        return;
    }
    objects.sort_by_key(|o| o.0.value);
    out.statement(".data", "");
    let size = module.data.len();
    let clamp = |address: u64| usize::try_from(address).unwrap_or(size).min(size);
    let first = objects.first().map_or(size, |o| clamp(o.0.value));
    words(module, 0..first, Ty::Int, &[], out);
    let mut groups = objects.chunk_by(|a, b| a.0.value == b.0.value).peekable();
    while let Some(group) = groups.next() {
        // Names of the same address are names of the same object.
        let Some(&(symbol, ty, len)) = group.iter().max_by_key(|(_, _, len)| *len) else { continue };
        for (symbol, ..) in group {
            marks(symbol, out);
        }
        let labels: Vec<&str> = group.iter().map(|(symbol, ..)| symbol.name.as_str()).collect();
        let start = clamp(symbol.value);
        let next = groups.peek().and_then(|g| g.first()).map_or(size, |o| clamp(o.0.value));
        let end = clamp(symbol.value.saturating_add(len)).min(next);
        if start == end {
            // The type is that of the first directive, so at least one is needed.
            out.all_labelled(&labels, ".space", &space(0, ty));
        } else {
            words(module, start..end, ty, &labels, out);
        }
        words(module, end..next, Ty::Int, &[], out);
    }
}

/// The directives of a data object before its label.
fn marks(symbol: &Symbol, out: &mut Text) {
    let SymbolKind::Data { import, export, .. } = symbol.kind else { return };
    for (marked, directive) in [(symbol.global, ".global"), (import, ".import"), (export, ".export")] {
        if marked {
            out.statement(directive, &symbol.name);
        }
    }
    out.comment(&symbol.doc);
}

/// The operands of `.space`.
fn space(words: usize, ty: Ty) -> String {
    match ty {
        Ty::Int => words.to_string(),
        Ty::Q | Ty::L | Ty::F => format!("{words}, {}", ty.letter()),
    }
}

const fn directive(ty: Ty) -> &'static str {
    match ty {
        Ty::Int => ".word",
        Ty::Q => ".fixed",
        Ty::L => ".log",
        Ty::F => ".double",
    }
}

/// Data directives for a range of the data segment. The labels go before the first.
fn words(module: &Module, range: std::ops::Range<usize>, ty: Ty, mut labels: &[&str], out: &mut Text) {
    let data = &module.data;
    let zeros_from = |at: usize| data.next_nonzero(at).map_or(range.end, |n| n.min(range.end)) - at;
    let mut at = range.start;
    while at < range.end {
        let zeros = zeros_from(at);
        if zeros >= SPACE_FROM || (zeros > 1 && zeros == range.len()) {
            out.all_labelled(std::mem::take(&mut labels), ".space", &space(zeros, ty));
            at += zeros;
            continue;
        }
        let mut line = String::new();
        let mut taken = 0;
        for n in 0..range.end - at {
            if zeros_from(at + n) >= SPACE_FROM {
                break;
            }
            let text = number(data.get(at + n).unwrap_or(0), ty, module.flags.format);
            if n > 0 && (n == 8 || 2 * COLUMN + line.len() + 2 + text.len() > WIDTH) {
                break;
            }
            if n > 0 {
                line.push_str(", ");
            }
            line.push_str(&text);
            taken = n + 1;
        }
        out.all_labelled(std::mem::take(&mut labels), directive(ty), &line);
        at += taken;
    }
}

fn code(module: &Module, names: &Known<'_>, out: &mut Text) {
    if module.code.is_empty() && names.labels.is_empty() && module.spans.is_empty() {
        return;
    }
    out.statement(".text", "");
    let symbols: HashMap<&str, &Symbol> = module.symbols.iter().map(|s| (s.name.as_str(), s)).collect();
    let mut spans: Vec<_> = module.spans.iter().collect();
    // Spans without instructions come first: they end before the next begins.
    spans.sort_by_key(|s| (s.start, s.start < s.end, Reverse(s.end)));
    let mut spans = spans.into_iter().peekable();
    let mut open: Vec<&Span> = Vec::new();
    for at in 0..=module.code.len() {
        // The names help the reader to see what ends.
        let close = |span: &Span, out: &mut Text| {
            out.statement(if span.undo { ".endunroutine" } else { ".endroutine" }, &span.name);
        };
        while let Some(span) = open.pop_if(|span| span.end as usize <= at) {
            close(span, out);
        }
        while let Some(span) = spans.next_if(|s| s.start as usize <= at) {
            out.statement(if span.undo { ".unroutine" } else { ".routine" }, &span.name);
            if span.start < span.end {
                open.push(span);
            } else {
                close(span, out);
            }
        }
        let labels: Vec<&str> = names.labels.get(&(at as u64)).into_iter().flatten().map(String::as_str).collect();
        let proc = names.procs.get(&(at as u64)).map(String::as_str);
        for name in labels.iter().copied().chain(proc) {
            let Some(symbol) = symbols.get(name) else { continue };
            if symbol.global {
                out.statement(".global", name);
            }
            if proc == Some(name) && !symbol.doc.is_empty() {
                out.statement(".proc-doc", &quote(&symbol.doc));
            } else {
                out.comment(&symbol.doc);
            }
        }
        match module.code.get(at) {
            Some(inst) => {
                if let Some(reason) = module.reason(at as u32) {
                    out.statement(".why", &quote(reason));
                }
                let text = names.display(inst, at);
                let (mnemonic, operands) = text.split_once(' ').unwrap_or((&text, ""));
                out.all_labelled(&labels, mnemonic, operands.trim_start());
            }
            None => labels.iter().for_each(|label| out.line(&format!("{label}:"))),
        }
    }
}
