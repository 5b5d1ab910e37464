//! The first pass of the assembler: gives every name its address and every object its size.

use std::collections::{HashMap, HashSet, VecDeque};

use pendula_isa::budget::{Exceeded, Resource};
use pendula_isa::module::{Flags, Reason, Span as RoutineSpan, Symbol, SymbolKind};
use pendula_isa::table::Row;
use pendula_isa::{Format, Kind, Profile, Ty};

use crate::ast::{ArgKind, Mark, Op, Span, Stmt, Via};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::intern::Sym;
use crate::options::Options;
use crate::parser::near;
use crate::session::{Parsed, Session};
use crate::symbols::{Def, Symbols};
use crate::value::Value;

/// A data object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object {
    pub(crate) ty: Option<Ty>,
    pub(crate) start: u64,
    len: u64,
}

/// The results of the first pass.
pub(crate) struct Program {
    pub(crate) symbols: Symbols,
    pub(crate) objects: Vec<Object>,
    /// The address of each procedure's `ret`.
    pub(crate) rets: HashMap<Sym, u32>,
    /// The sizes of `.space`, in the order of the statements.
    pub(crate) spaces: VecDeque<u64>,
    /// The index of each instruction's statement.
    pub(crate) stmt_of: Vec<u32>,
    pub(crate) flags: Flags,
    /// Bounds of procedures for which an error was reported.
    pub(crate) faulty_bounds: HashSet<u32>,
    pub(crate) spans: Vec<RoutineSpan>,
    pub(crate) reasons: Vec<Reason>,
    docs: HashMap<Sym, String>,
    data_len: u64,
}

impl Program {
    pub(crate) fn new(s: &mut Session) -> Program {
        Program {
            symbols: Symbols::new(s),
            objects: Vec::new(),
            rets: HashMap::new(),
            spaces: VecDeque::new(),
            stmt_of: Vec::new(),
            flags: Flags::default(),
            faulty_bounds: HashSet::new(),
            spans: Vec::new(),
            reasons: Vec::new(),
            docs: HashMap::new(),
            data_len: 0,
        }
    }

    fn code_len(&self) -> u32 {
        self.stmt_of.len() as u32
    }

    /// The first pass.
    pub(crate) fn lay_out(&mut self, s: &mut Session, options: &Options) {
        let mut text = true;
        let mut format: Option<(Format, Span)> = None;
        let mut open_spans: Vec<usize> = Vec::new();
        let mut docs: Vec<(Sym, Span, Via)> = Vec::new();
        let mut taken = HashSet::new();
        let mut why: Option<(Sym, Span, Via)> = None;
        for n in 0..s.ast.stmts.len() {
            let stmt = s.ast.stmts[n];
            match stmt.op {
                Op::Text => text = true,
                Op::Data => text = false,
                Op::Label(name) if text => {
                    let def = Def::Code { at: self.code_len(), proc: false };
                    // If the name is taken, an error is reported.
                    let _ = self.symbols.define(s, name, def, stmt.span, stmt.via);
                }
                Op::Label(name) => self.data_label(s, name, &stmt),
                Op::Bad if !text => {}
                Op::Bad => self.stmt_of.push(n as u32),
                Op::Inst(kind) => {
                    if !text {
                        let help = "say `.text` before instructions";
                        s.fail(codes::SECTION, "an instruction in the data section", stmt.span, stmt.via, help);
                        continue;
                    }
                    if let Kind::Row { row: Row::Proc, inverse, .. } = kind {
                        self.procedure(s, &stmt, inverse, &mut docs, &mut taken);
                    }
                    if let Some((text, ..)) = why.take() {
                        self.reasons.push(Reason { at: self.code_len(), text: s.names.text(text).into() });
                    }
                    self.stmt_of.push(n as u32);
                }
                Op::Words(_) | Op::Space(_) if text => {
                    let help = "write `.data` before data; instructions take constants as operands";
                    s.fail(codes::SECTION, "data in the text section", stmt.span, stmt.via, help);
                }
                Op::Words(_) => self.add_data(s, &stmt, s.ast.args(&stmt).len() as u64, options),
                Op::Space(_) => {
                    let size = self.size(s, &stmt).unwrap_or(0);
                    let before = self.data_len;
                    self.add_data(s, &stmt, size, options);
                    self.spaces.push_back(self.data_len - before);
                }
                Op::Equ(name) => {
                    if let Some(ArgKind::Expr(expr)) = s.ast.arg(&stmt, 0).map(|a| a.kind) {
                        self.symbols.define_const(s, name, expr, stmt.span, stmt.via);
                    }
                }
                Op::Format => self.set_format(s, &stmt, &mut format),
                Op::Mark(Mark::Begin { name, undo }) => {
                    open_spans.push(self.spans.len());
                    let name = s.names.text(name).to_string();
                    self.spans.push(RoutineSpan { name, undo, start: self.code_len(), end: self.code_len() });
                }
                Op::Mark(Mark::End { .. }) => {
                    let end = self.code_len();
                    if let Some(span) = open_spans.pop().and_then(|n| self.spans.get_mut(n)) {
                        span.end = end;
                    }
                }
                Op::ProcDoc(text) => docs.push((text, stmt.span, stmt.via)),
                Op::Reason(text) => {
                    if let Some((_, span, via)) = why.replace((text, stmt.span, stmt.via)) {
                        unused_reason(s, span, via, "another follows");
                    }
                }
                Op::Irreversible => self.flags.irreversible = true,
                Op::Loose => self.flags.loose = true,
                Op::Profile => self.set_profile(s, &stmt),
                // The second pass and the end of the program.
                Op::Import | Op::Export | Op::Global | Op::Mem | Op::Start => {}
            }
            if s.has_too_many_errors() {
                break;
            }
        }
        if let Some((written, span)) = s.fixed.filter(|(written, _)| *written != self.flags.format) {
            let (written, own) = (written.name(), self.flags.format.name());
            let message =
                format!("this definition has fixed-point numbers in the format {written}, and the program's is {own}");
            s.fail(codes::DEFINITION_FORMAT, message, span, Via::default(), "say `.format` before the definition");
        }
        if let Some((_, span, via)) = why {
            unused_reason(s, span, via, "no instruction follows");
        }
        for (_, span, via) in docs {
            let place = s.place(span);
            let d = Diagnostic::warning(codes::UNUSED_DOC, "this documents nothing").at(place, "no `proc` follows");
            s.report(d.help("put it before the `proc` that it describes"), via);
        }
        self.symbols.format = self.flags.format;
    }

    /// Handles a `proc`, or a `ret` (`ends`). Names that belong to something else are put into `taken`.
    fn procedure(
        &mut self,
        s: &mut Session,
        stmt: &Stmt,
        ends: bool,
        docs: &mut Vec<(Sym, Span, Via)>,
        taken: &mut HashSet<Sym>,
    ) {
        let at = self.code_len();
        let Some((ArgKind::Name(name), span)) = s.ast.arg(stmt, 0).map(|a| (a.kind, a.span)) else { return };
        if !ends {
            if !self.symbols.define(s, name, Def::Code { at, proc: true }, span, stmt.via) {
                taken.insert(name);
                self.faulty_bounds.insert(at);
            }
            if !docs.is_empty() {
                let lines: Vec<&str> = docs.iter().map(|(text, ..)| s.names.text(*text)).collect();
                self.docs.insert(name, lines.join("\n"));
                docs.clear();
            }
            return;
        }
        if taken.contains(&name) {
            self.faulty_bounds.insert(at);
            return;
        }
        if let Some(&first) = self.rets.get(&name) {
            let first =
                self.stmt_of.get(first as usize).and_then(|n| s.ast.stmts.get(*n as usize)).map_or(span, |f| f.span);
            let message = format!("the procedure `{}` has ended above", s.names.text(name));
            let d = s.error(codes::SECOND_RET, message, span).also(s.place(first), "here");
            let help = "a procedure has one `ret`; other paths reach it by jumps to a `from` before it";
            s.report(d.help(help), stmt.via);
            self.faulty_bounds.insert(at);
            return;
        }
        self.rets.insert(name, at);
    }

    fn data_label(&mut self, s: &mut Session, name: Sym, stmt: &Stmt) {
        // Labels without data between them are names of the same object.
        if self.objects.last().is_none_or(|o| o.len > 0) {
            self.objects.push(Object { ty: None, start: self.data_len, len: 0 });
        }
        let def = Def::Data { address: self.data_len, object: self.objects.len() as u32 - 1 };
        let _ = self.symbols.define(s, name, def, stmt.span, stmt.via);
    }

    fn add_data(&mut self, s: &mut Session, stmt: &Stmt, words: u64, options: &Options) {
        if self.flags.profile == Profile::Pisa {
            let message = "the profile `pisa` has no data segment".to_string();
            s.fail(codes::SECTION, message, stmt.span, stmt.via, "write `cell` among the instructions for each word");
            return;
        }
        if words > options.budget.words.saturating_sub(self.data_len) {
            let exceeded = Exceeded::new(Resource::Nodes, options.budget.words, "the program");
            let exceeded = exceeded.of("data word").instead("bring the data from outside").raised_by("--mem");
            s.exceeded(&exceeded, stmt.span, stmt.via);
            return;
        }
        self.data_len += words;
        if let Some(object) = self.objects.last_mut() {
            object.len += words;
        }
    }

    /// The size of a `.space`.
    fn size(&mut self, s: &mut Session, stmt: &Stmt) -> Parsed<u64> {
        let Some(arg) = s.ast.arg(stmt, 0) else { return Ok(0) };
        let ArgKind::Expr(expr) = arg.kind else { return Ok(0) };
        let value = self.symbols.eval(s, expr, Ty::Int, stmt.via)?;
        count(s, &self.symbols, value, "a size", arg.span, stmt.via)
    }

    fn set_format(&mut self, s: &mut Session, stmt: &Stmt, before: &mut Option<(Format, Span)>) {
        let Some((ArgKind::Name(name), span)) = s.ast.arg(stmt, 0).map(|a| (a.kind, a.span)) else { return };
        let text = s.names.text(name).to_string();
        let Some(format) = Format::from_name(&text) else {
            let upper = text.to_uppercase();
            let like = Format::ALL.iter().find(|f| near(f.name(), &upper));
            let help = match like {
                Some(format) => format!("did you mean `{}`?", format.name()),
                None => "the formats are `Q32.32`, `Q21.43` and `Q16.48`".to_string(),
            };
            s.fail(codes::FORMAT, format!("there is no fixed-point format `{text}`"), span, stmt.via, help);
            return;
        };
        match *before {
            Some((first, place)) if first != format => {
                let message = format!("the format is {} already", first.name());
                let d = s.error(codes::FORMAT, message, span).also(s.place(place), "given here");
                s.report(d.help("a program has one fixed-point format"), stmt.via);
            }
            _ => {
                *before = Some((format, span));
                self.flags.format = format;
            }
        }
    }

    fn set_profile(&mut self, s: &mut Session, stmt: &Stmt) {
        let Some((ArgKind::Name(name), span)) = s.ast.arg(stmt, 0).map(|a| (a.kind, a.span)) else { return };
        let text = s.names.text(name);
        let Some(profile) = Profile::ALL.into_iter().find(|p| p.name() == text) else {
            let message = format!("there is no profile `{text}`");
            s.fail(codes::ARGUMENT, message, span, stmt.via, "the profiles are `native` and `pisa`");
            return;
        };
        if self.code_len() > 0 && profile != self.flags.profile {
            let help = "say it before the first instruction";
            s.fail(codes::ARGUMENT, "the profile is that of all the code".to_string(), span, stmt.via, help);
            return;
        }
        self.flags.profile = profile;
    }

    /// Applies `.import`, `.export` and `.global`, after every name is known.
    pub(crate) fn mark_symbols(&mut self, s: &mut Session) {
        for n in 0..s.ast.stmts.len() {
            let stmt = s.ast.stmts[n];
            if !matches!(stmt.op, Op::Import | Op::Export | Op::Global) {
                continue;
            }
            for k in 0..s.ast.args(&stmt).len() {
                let Some(arg) = s.ast.arg(&stmt, k) else { break };
                let ArgKind::Name(name) = arg.kind else { continue };
                let def = self.symbols.get(name).def;
                let entry = self.symbols.entry(name);
                match (stmt.op, def) {
                    (_, Def::Undefined) => {
                        self.symbols.undefined(s, name, arg.span, stmt.via);
                    }
                    (Op::Import, Def::Data { .. }) => entry.import = true,
                    (Op::Export, Def::Data { .. }) => entry.export = true,
                    (Op::Global, Def::Data { .. } | Def::Code { .. }) => entry.global = true,
                    (_, def) => {
                        let first = entry.span;
                        let what =
                            if stmt.op == Op::Global { "a label, procedure or data object" } else { "a data object" };
                        let message = format!("`{}` is {}, not {what}", s.names.text(name), sort(def));
                        let d = s.error(codes::SORT, message, arg.span).also(s.place(first), "defined here");
                        s.report(d.help(format!("name {what}")), stmt.via);
                    }
                }
            }
        }
    }

    /// The symbols: data first, then code, each sorted by address.
    pub(crate) fn module_symbols(&mut self, s: &Session) -> Vec<Symbol> {
        let mut out = Vec::with_capacity(self.symbols.order.len());
        for &name in &self.symbols.order {
            let entry = self.symbols.get(name);
            let (kind, value) = match entry.def {
                Def::Code { at, proc } => (if proc { SymbolKind::Proc } else { SymbolKind::Label }, u64::from(at)),
                Def::Data { address, object } => {
                    let object = self.objects.get(object as usize);
                    let ty = object.and_then(|o| o.ty).unwrap_or_default();
                    let len = object.map_or(0, |o| o.len);
                    (SymbolKind::Data { ty, len, import: entry.import, export: entry.export }, address)
                }
                Def::Undefined | Def::Const(_) => continue,
            };
            let doc = self.docs.remove(&name).unwrap_or_default();
            out.push(Symbol { name: s.names.text(name).to_string(), kind, value, global: entry.global, doc });
        }
        // Data first, by address. A disassembly defines them in this order, so that objects survive the round trip byte
        // for byte.
        out.sort_by_key(|s| (!matches!(s.kind, SymbolKind::Data { .. }), s.value));
        out
    }

    pub(crate) fn data_len(&self) -> u64 {
        self.data_len
    }
}

fn unused_reason(s: &mut Session, span: Span, via: Via, because: &str) {
    let place = s.place(span);
    let d = Diagnostic::warning(codes::UNUSED_DOC, "this is the reason of nothing").at(place, because);
    s.report(d.help("put it before the instruction whose check it explains"), via);
}

/// A value as a number of words.
pub(crate) fn count(s: &mut Session, symbols: &Symbols, value: Value, what: &str, span: Span, via: Via) -> Parsed<u64> {
    match value {
        Value::Int(n) => match u64::try_from(n) {
            Ok(n) => Ok(n),
            Err(_) => {
                let message = format!("{what} cannot be {n}");
                Err(s.fail(codes::ARGUMENT, message, span, via, "write a number of words, 0 or more"))
            }
        },
        Value::Real { .. } | Value::Ratio { .. } | Value::Raw(_) => symbols.word(s, value, Ty::Int, span, via),
    }
}

/// The kind of a name, for messages.
pub(crate) fn sort(def: Def) -> &'static str {
    match def {
        Def::Undefined => "nothing",
        Def::Code { proc: true, .. } => "a procedure",
        Def::Code { proc: false, .. } => "a label",
        Def::Data { .. } => "a data object",
        Def::Const(_) => "a constant",
    }
}
