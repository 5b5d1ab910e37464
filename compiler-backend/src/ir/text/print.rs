//! Writes programs as text.

use std::collections::HashMap;
use std::fmt::Write;

use pendula_isa::table::{Row, TableFn};
use pendula_isa::text::{number, quote};
use pendula_isa::{Acc, Format, Ty};

use super::is_plain;
use crate::ir::{
    AncillaChecks, AssertKind, Blocks, Condition, FunctionId, IrFunction, Loc, LocatedStmt, Mem, Operand, Param, Place,
    Program, Step, Stmt, Test, Var,
};

/// The names of declarations as text, with numbers where they are ambiguous.
struct Names {
    texts: Vec<String>,
}

impl Names {
    fn new<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Names {
        let mut count: HashMap<&str, u32> = HashMap::new();
        for name in names.clone() {
            *count.entry(name).or_default() += 1;
        }
        let text = |(n, name): (usize, &str)| {
            let text = spelled(name);
            if count.get(name) == Some(&1) { text } else { format!("{text}%{n}") }
        };
        Names { texts: names.enumerate().map(text).collect() }
    }

    fn get(&self, index: u32) -> String {
        self.texts.get(index as usize).cloned().unwrap_or_else(|| format!("\"\"%{index}"))
    }
}

pub(super) fn spelled(name: &str) -> String {
    if is_plain(name) { name.to_owned() } else { quote(name) }
}

struct Printer<'a> {
    program: &'a Program,
    functions: Names,
    vars: Names,
    regions: Names,
    format: Format,
    out: String,
    indent: usize,
}

pub(super) fn program(program: &Program) -> String {
    let functions = Names::new(program.functions.iter().map(|f| f.name.as_str()));
    let none = || Names { texts: Vec::new() };
    let (format, out) = (program.format, String::new());
    let mut p = Printer { program, functions, vars: none(), regions: none(), format, out, indent: 0 };
    p.line(&format!("program {}", format.name()));
    if program.stack != 0 {
        p.line(&format!("stack {}", program.stack));
    }
    for file in &program.files {
        p.line(&format!("file {}", quote(file)));
    }
    for text in &program.texts {
        p.line(&format!("text {}", quote(text)));
    }
    for reason in &program.reasons {
        p.line(&format!("reason {}", quote(reason)));
    }
    if let Some(FunctionId(entry)) = program.entry {
        p.line(&format!("entry {}", p.functions.get(entry)));
    }
    for function in &program.functions {
        p.function(function);
    }
    p.out
}

fn loc(loc: Loc) -> String {
    if loc == Loc::default() { String::new() } else { format!(" @{}:{}:{}", loc.file, loc.line, loc.column) }
}

fn checks(checks: AncillaChecks) -> &'static str {
    match (checks.check, checks.drop) {
        (false, false) => "",
        (true, false) => " check",
        (false, true) => " drop",
        (true, true) => " check drop",
    }
}

/// The name of a function of the instruction table.
pub(super) fn func(func: TableFn) -> String {
    let info = func.info();
    let name = if info.name.is_empty() { "id" } else { info.name };
    let from = if info.from == info.ty { String::new() } else { format!(".{}", info.from.letter()) };
    format!("{name}.{}{from}", info.ty.letter())
}

/// The name of a row of the instruction table.
pub(super) fn row(row: Row) -> String {
    format!("{row:?}").to_lowercase()
}

/// The type of a constant operand of a row.
pub(super) fn row_type(row: Row, ty: Ty) -> Ty {
    if row == Row::Rol { Ty::Int } else { ty }
}

/// The words for why something is asserted.
pub(super) const REASONS: [(AssertKind, &str); 4] = [
    (AssertKind::User, "user"),
    (AssertKind::Bounds, "bounds"),
    (AssertKind::Alias, "alias"),
    (AssertKind::Shape, "shape"),
];

/// The type of a function's parameter.
pub(super) fn param_type(function: Option<&IrFunction>, n: usize) -> Ty {
    let of = |f: &IrFunction| Some(f.vars.get(f.params.get(n)?.var.0 as usize)?.ty);
    function.and_then(of).unwrap_or(Ty::Int)
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.out.push_str("    ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn function(&mut self, f: &IrFunction) {
        self.vars = Names::new(f.vars.iter().map(|v| v.name.as_str()));
        self.regions = Names::new(f.regions.iter().map(|r| r.name.as_str()));
        let inline = if f.inline { " inline" } else { "" };
        self.out.push('\n');
        self.line(&format!("fun {}{inline}{} {{", spelled(&f.name), loc(f.loc)));
        self.indent += 1;
        let in_order: Vec<Param> = {
            let mut params: Vec<Param> = f.params.clone();
            params.sort_by_key(|p| p.var);
            params.dedup_by_key(|p| p.var);
            params.retain(|p| (p.var.0 as usize) < f.vars.len());
            params
        };
        let mut next = in_order.iter().peekable();
        for (n, var) in f.vars.iter().enumerate() {
            let kind = match next.next_if(|p| p.var.0 as usize == n) {
                Some(Param { written: true, .. }) => "out",
                Some(Param { written: false, .. }) => "in",
                None => "var",
            };
            let points = var.points.map_or(String::new(), |r| format!(" -> {}", self.regions.get(r.0)));
            self.line(&format!("{kind} {}: {}{points}", spelled(&var.name), var.ty.letter()));
        }
        for region in &f.regions {
            self.line(&format!("region {}: {}", spelled(&region.name), region.ty.letter()));
        }
        if in_order != f.params {
            let param = |p: &Param| format!("{}{}", self.vars.get(p.var.0), if p.written { "!" } else { "" });
            let params: Vec<String> = f.params.iter().map(param).collect();
            self.line(&format!("params({})", params.join(" ")));
        }
        self.statements(&f.body);
        self.indent -= 1;
        self.line("}");
    }

    fn var(&self, v: Var) -> String {
        self.vars.get(v.0)
    }

    fn mem(&self, m: Mem) -> String {
        let mut text = format!("{}[", self.regions.get(m.region.0));
        match (m.base, m.index) {
            (Some(base), None) => text.push_str(&self.var(base)),
            (Some(base), Some(index)) => {
                let _ = write!(text, "{} + {}", self.var(base), self.var(index));
            }
            (None, Some(index)) => {
                let _ = write!(text, "_ + {}", self.var(index));
            }
            (None, None) => {
                let _ = write!(text, "{}]", m.offset);
                return text;
            }
        }
        match m.offset {
            0 => {}
            k if k < 0 => {
                let _ = write!(text, " {k}");
            }
            k => {
                let _ = write!(text, " + {k}");
            }
        }
        text.push(']');
        text
    }

    fn place(&self, p: Place) -> String {
        match p {
            Place::Var(v) => self.var(v),
            Place::Mem(m) => self.mem(m),
        }
    }

    fn operand(&self, o: Operand, ty: Ty) -> String {
        match o {
            Operand::Var(v) => self.var(v),
            Operand::Mem(m) => self.mem(m),
            Operand::Const(k) => constant(k, ty, self.format),
        }
    }

    fn operands(&self, list: impl Iterator<Item = (Operand, Ty)>) -> String {
        let texts: Vec<String> = list.map(|(o, ty)| self.operand(o, ty)).collect();
        texts.join(", ")
    }

    fn test(&self, t: &Test) -> String {
        format!("{} {}.{} {}", self.operand(t.a, t.ty), t.cond.name(), t.ty.letter(), self.operand(t.b, t.ty))
    }

    /// Writes a condition between the beginning and the end of a line.
    fn condition(&mut self, before: &str, c: &Condition, after: &str) {
        if c.compute.is_empty() {
            return self.line(&format!("{before} {}{after}", self.test(&c.test)));
        }
        self.line(&format!("{before} given {{"));
        self.inner(&c.compute);
        self.line(&format!("}} {}{after}", self.test(&c.test)));
    }

    fn inner(&mut self, block: &[LocatedStmt]) {
        self.indent += 1;
        self.statements(block);
        self.indent -= 1;
    }

    fn statements(&mut self, block: &[LocatedStmt]) {
        for s in block {
            self.statement(&s.stmt, &loc(s.loc));
        }
    }

    fn statement(&mut self, stmt: &Stmt, loc: &str) {
        match stmt {
            Stmt::Update { acc, inverse, func: f, dst, args } => {
                let op = match (acc, inverse) {
                    (Acc::Add, false) => "+=",
                    (Acc::Add, true) => "-=",
                    (Acc::Xor, false) => "^=",
                    (Acc::Xor, true) => "^~=",
                    (Acc::Mul, false) => "*=",
                    (Acc::Mul, true) => "/=",
                };
                let types = f.info().args.iter().map(|a| a.ty).chain(std::iter::repeat(Ty::Int));
                let args = self.operands(args.iter().copied().zip(types));
                self.line(&format!("{} {op} {}({args}){loc}", self.place(*dst), func(*f)));
            }
            Stmt::Permute { row: r, inverse, ty, args } => {
                let sign = if *inverse { "~" } else { "" };
                let args = self.operands(args.iter().map(|a| (*a, row_type(*r, *ty))));
                self.line(&format!("apply {sign}{}.{}({args}){loc}", row(*r), ty.letter()));
            }
            Stmt::Ancilla { var, free, checks: c } => {
                let word = if *free { "end" } else { "begin" };
                self.line(&format!("{word} {}{}{loc}", self.var(*var), checks(*c)));
            }
            Stmt::Array { base, len, region, ty, free, checks: c } => {
                let word = if *free { "unarray" } else { "array" };
                let (base, len) = (self.var(*base), self.operand(*len, Ty::Int));
                let region = self.regions.get(region.0);
                self.line(&format!("{word} {base}: {}[{len}] in {region}{}{loc}", ty.letter(), checks(*c)));
            }
            Stmt::Call { func, inverse, args } => {
                let word = if *inverse { "uncall" } else { "call" };
                let callee = self.program.functions.get(func.0 as usize);
                let args = self.operands(args.iter().enumerate().map(|(n, a)| (*a, param_type(callee, n))));
                self.line(&format!("{word} {}({args}){loc}", self.functions.get(func.0)));
            }
            Stmt::If { pre, post, then, otherwise } => {
                self.condition(&format!("if{loc}"), pre, " {");
                self.inner(then);
                if !otherwise.is_empty() {
                    self.line("} else {");
                    self.inner(otherwise);
                }
                self.condition("} post", post, "");
            }
            Stmt::While { pre, post, first, body } => {
                if first.is_empty() {
                    self.condition(&format!("while{loc}"), pre, " {");
                } else {
                    self.condition(&format!("while{loc}"), pre, " first {");
                    self.inner(first);
                    self.line("} {");
                }
                self.inner(body);
                self.condition("} post", post, "");
            }
            Stmt::For { var, first, last, step, body, blocks } => {
                let (first, last) = (self.operand(*first, Ty::Int), self.operand(*last, Ty::Int));
                let step = match step {
                    Step::Const(k) => k.to_string(),
                    Step::Var { var, negated } => format!("{}{}", if *negated { "-" } else { "" }, self.var(*var)),
                };
                let blocks = match blocks {
                    None => "",
                    Some(Blocks::FromFirst) => " blocks",
                    Some(Blocks::FromLast) => " blocks_from_last",
                };
                self.line(&format!("for{loc} {} = {first} to {last} step {step}{blocks} {{", self.var(*var)));
                self.inner(body);
                self.line("}");
            }
            Stmt::With { name, compute, body } => {
                self.line(&format!("with{loc} {} {{", quote(name)));
                self.inner(compute);
                self.line("} do {");
                self.inner(body);
                self.line("}");
            }
            Stmt::Span { name, undo, body } => {
                let word = if *undo { "unspan" } else { "span" };
                self.line(&format!("{word}{loc} {} {{", quote(name)));
                self.inner(body);
                self.line("}");
            }
            Stmt::Assert { test, why, reason } => {
                let kind = REASONS.iter().find(|(w, _)| w == why).map_or("user", |(_, name)| name);
                let text = reason.and_then(|n| self.program.reasons.get(n as usize));
                let text = text.map_or(String::new(), |text| format!(" : {}", quote(text)));
                self.line(&format!("assert {kind} {}{text}{loc}", self.test(test)));
            }
            Stmt::Show { ty, value } => {
                self.line(&format!("show.{} {}{loc}", ty.letter(), self.operand(*value, *ty)));
            }
            Stmt::Print(text) => self.line(&format!("print {text}{loc}")),
        }
    }
}

/// A constant as a number, which begins with a digit or a minus sign.
fn constant(word: u64, ty: Ty, format: Format) -> String {
    let text = number(word, ty, format);
    let digits = text.strip_prefix('-').unwrap_or(&text);
    if digits.starts_with(|c: char| c.is_ascii_digit()) && super::read::constant(&text, ty, format) == Some(word) {
        text
    } else {
        format!("0x{word:016x}w")
    }
}
