//! Writes the units of the plain form.

use std::collections::HashSet;

use super::edits::{Edits, Tokens, dedented, head_end};
use super::leave_out::{has_stub, structs};
use super::names::{Meaning, Names, base, host_key, key};
use super::unit::{Unit, values};
use super::walk::Usage;
use super::{CHECKED, Ranges};
use crate::nil::ast::{ExprKind, File, Function, HostFunction, Item, StmtKind, TypeArg};
use crate::nil::lexer::continues_name;
use crate::nil::library;
use crate::nil::parser::documentation;
use crate::nil::sema::concerns;
use crate::nil::token::{Kw, Tok};

/// What a plain form is made of.
pub(super) struct Writer<'w, 'a> {
    pub(super) text: &'a str,
    pub(super) tree: &'a File,
    pub(super) tokens: &'w Tokens<'a>,
    pub(super) names: &'w Names<'a>,
    pub(super) units: &'w [Unit<'a>],
}

impl<'a> Writer<'_, 'a> {
    /// The whole text, and where the units are in it.
    pub(super) fn write(&self) -> (String, Ranges) {
        let (mut out, mut ranges) = (String::new(), Vec::new());
        // The comments that are written: in a loop around `@eval` they are the same in each turn.
        let mut gaps: HashSet<usize> = HashSet::new();
        let begins = self.tokens.from(0).map_or(self.text.len(), |t| t.start);
        if self.units.iter().all(|u| u.dropped || u.span.start != begins) {
            gaps.insert(0);
            self.add(&mut out, self.text.get(..begins).unwrap_or(""), true);
        }
        self.add(&mut out, &self.imports(), false);
        let mut small = true;
        for (n, unit) in self.units.iter().enumerate() {
            let Some(own) = self.unit(unit) else { continue };
            let comments = self.comments(unit, &mut gaps);
            let now_small = !own.contains('\n') && !matches!(unit.item, Item::Function(_));
            let joined = small && now_small && comments.trim().is_empty();
            if !joined && !out.is_empty() {
                out.push('\n');
            }
            small = now_small;
            out.push_str(comments.trim_start_matches(['\n', '\r']));
            let start = out.len();
            out.push_str(&own);
            ranges.push((start..out.len(), n));
            let after = self.tokens.comment_after(unit.span.end);
            if !after.is_empty() && unit.out.is_none() && !matches!(unit.item, Item::Using(_)) {
                out.push(' ');
                out.push_str(after);
            }
            out.push('\n');
        }
        self.add(&mut out, self.tokens.comments_at_end(), true);
        (out, ranges)
    }

    /// Adds a piece that stands for itself.
    fn add(&self, out: &mut String, text: &str, apart: bool) {
        let text = text.trim();
        if !text.is_empty() {
            if apart && !out.is_empty() {
                out.push('\n');
            }
            out.push_str(text);
            out.push('\n');
            if apart {
                out.push('\n');
            }
        }
    }

    /// What the program must be told that the file of the host says by its kind: arrays may have more indices than
    /// dimensions, and `Fixed` has the format that the file names somewhere.
    fn imports(&self) -> String {
        let mut out = String::new();
        let used = |name: &str| self.units.iter().filter(|u| !u.dropped && u.out.is_none()).any(|u| u.has(name));
        let written = self.units.iter().filter(|u| !u.dropped && u.out.is_none());
        let imported = self
            .tree
            .items
            .iter()
            .any(|item| matches!(item, Item::Using(all) if all.iter().any(|n| n.text == "NiLang")));
        if !imported && written.into_iter().any(|u| u.found.indices) && !library::functions("NiLang").any(used) {
            out.push_str("using NiLang\n");
        }
        let all = self
            .tokens
            .within(&(0..self.text.len()))
            .any(|t| t.kind == Tok::Ident && self.tokens.text_of(t) == "Fixed43");
        if all && !used("Fixed43") {
            out.push_str("# `Fixed` has this format.\nconst FixedFormat = Fixed43\n");
        }
        out
    }

    /// The comments and the documentation before a unit.
    fn comments(&self, unit: &Unit<'a>, gaps: &mut HashSet<usize>) -> String {
        let mut out = String::new();
        let doc = self.tokens.documentation(unit.span.start);
        let first = doc.as_ref().map_or(unit.span.start, |doc| doc.start);
        for at in [first, unit.span.start] {
            let gap = self.tokens.comments_before(at);
            let gap_text = self.text.get(gap.clone()).unwrap_or("");
            if gap_text.contains('#') && gaps.insert(gap.start) {
                out.push_str(gap_text.trim_end_matches([' ', '\t']));
            }
            if let Some(doc) = doc.as_ref().filter(|doc| doc.start == at) {
                let text = dedented(self.text.get(doc.clone()).unwrap_or(""), unit.column);
                let text = self.with_values(text, unit);
                if unit.function().is_some() && unit.out.is_none() {
                    out.push_str(&text);
                    out.push('\n');
                } else if unit.out.is_none() {
                    out.extend(documentation(&text).lines().map(|line| format!("# {line}\n")));
                }
            }
        }
        out
    }

    /// What is written for a unit; `None` if nothing is.
    fn unit(&self, unit: &Unit<'a>) -> Option<String> {
        if let Some(reason) = &unit.out {
            let name = match base(&unit.name().text) {
                "" => "a function".to_string(),
                name => format!("`{name}`"),
            };
            let comment = format!("# left out: {name} (line {}): {}", unit.line, reason.replace('\n', " "));
            let f = unit.function().filter(|f| !unit.dropped && has_stub(f, self.units, self.names));
            return Some(f.map_or(comment.clone(), |f| self.stub(unit, f, reason, &comment)));
        }
        if unit.dropped {
            return None;
        }
        Some(match unit.item {
            Item::Function(f) if unit.is_primitive() => self.primitive(unit, f),
            Item::Function(_) | Item::Struct(_) => self.edits(unit).applied(self.text, &unit.span),
            Item::Host(f) => self.host(unit, f),
            Item::Alias(_) => dedented(&self.edits(unit).applied(self.text, &unit.span), unit.column),
            Item::Using(all) => {
                let known = all.iter().filter(|n| library::find(&n.text).is_some());
                format!("using {}", known.map(|n| n.text.as_str()).collect::<Vec<_>>().join(", "))
            }
            Item::Const(name, value) => {
                let key = name.text.as_str();
                let (name, edits) = (self.names.new_name(key).unwrap_or(base(key)), self.edits(unit));
                let constant =
                    unit.tokens.first().is_some_and(|(kind, _)| *kind == Tok::Kw(Kw::Const)) || key.contains('@');
                let word = if constant { "const " } else { "" };
                format!("{word}{name} = {}", edits.applied(self.text, &value.span))
            }
        })
    }

    /// A function of the host that is one expression.
    fn host(&self, unit: &Unit<'a>, f: &HostFunction) -> String {
        let edits = self.edits(unit);
        let at = f.name.span.end;
        let params = edits.applied(self.text, &(at..head_end(self.text, at)));
        let mut out: String = self.tokens.comments_in(&unit.span).iter().map(|line| format!("{line}\n")).collect();
        let body = edits.applied(self.text, &f.body.span);
        let name = self.names.new_name(&host_key(&f.name.text)).unwrap_or(&f.name.text);
        out.push_str(&dedented(&format!("{name}{params} = {body}"), unit.column));
        out
    }

    /// The new name of a function, if it has one.
    fn new_name(&self, f: &Function) -> Option<&str> {
        self.names.new_name(&key(f)?)
    }

    /// The changes in a unit.
    fn edits(&self, unit: &Unit<'a>) -> Edits {
        let mut edits = Edits::default();
        for (mention, meaning) in unit.meanings(self.names) {
            let Meaning::Own(key) = meaning else { continue };
            let Some(new) = self.names.new_name(&key) else { continue };
            match mention.usage {
                Usage::Short => edits.replace(mention.span.clone(), format!("{} = {new}", mention.name)),
                _ => edits.replace(mention.span.clone(), new),
            }
        }
        self.values(unit, &mut edits);
        let all: Vec<_> = self.tokens.within(&unit.span).take_while(|t| t.kind == Tok::Macro).collect();
        for mark in all.iter().filter(|t| self.tokens.text_of(t) == "@eval") {
            let end = self.tokens.from(mark.end).map_or(mark.end, |t| t.start);
            edits.replace(mark.start..end, "");
        }
        let Item::Function(f) = unit.item else { return edits };
        if let Some(new) = self.new_name(f) {
            edits.replace(f.name.span.clone(), new);
        }
        self.logarithms(f, &mut edits);
        for span in &unit.found.conditions {
            let next = self.tokens.from(span.end);
            if next.is_some_and(|t| t.kind == Tok::Comma) {
                continue;
            }
            if self.tokens.is_enclosed(span) {
                edits.replace(span.end - 1..span.end - 1, ", ~");
            } else {
                edits.replace(span.start..span.start, "(");
                edits.replace(span.end..span.end, ", ~)");
            }
        }
        for (span, text) in &unit.found.safe {
            if !concerns(text, &|name| unit.found.locals.contains(name)) {
                match self.tokens.whole_line(span) {
                    Some(line) => edits.replace(line, ""),
                    // Its comment stays.
                    None if self.tokens.is_last(span) => edits.replace(span.clone(), ""),
                    None => edits.replace(span.clone(), "nothing"),
                }
            }
        }
        edits
    }

    /// A text with the values of `$name`.
    fn with_values(&self, mut text: String, unit: &Unit<'a>) -> String {
        for (at, value) in values(unit.item) {
            let name = self.text.get(at.clone()).unwrap_or("");
            let parts: Vec<&str> = text.split(name).collect();
            let mut out = String::new();
            for (n, part) in parts.iter().enumerate() {
                if n > 0 {
                    out.push_str(if part.starts_with(continues_name) { name } else { value });
                }
                out.push_str(part);
            }
            text = out;
        }
        text
    }

    /// The values of `$name`.
    fn values(&self, unit: &Unit<'a>, edits: &mut Edits) {
        for (at, value) in values(unit.item) {
            edits.replace(at.clone(), value.clone());
        }
    }

    /// `x::ULogarithmic`: in files of the host, the logarithm of an argument is a double.
    fn logarithms(&self, f: &Function, edits: &mut Edits) {
        let structs = structs(self.tree, pendula_isa::budget::Budget::default());
        for ty in f.params.iter().filter_map(|p| p.ty.as_ref()) {
            let expanded = structs.expanded(ty);
            let of = expanded.as_ref().unwrap_or(ty);
            let free = f.type_params.iter().any(|p| p.name.text == ty.name.text);
            if free || !matches!(of.name.text.as_str(), "ULogarithmic" | "Logarithmic") {
                continue;
            }
            match &of.args[..] {
                [] => edits.replace(ty.span.clone(), format!("{}{{Float64}}", of.name.text)),
                // `T` stands for doubles, and for nothing narrower if the bound says so.
                [TypeArg::Type(of)] => {
                    let Some(param) = f.type_params.iter().find(|p| p.name.text == of.name.text) else { continue };
                    match &param.bound {
                        None => edits.replace(param.name.span.clone(), format!("{} <: AbstractFloat", param.name.text)),
                        Some(b) if matches!(b.name.text.as_str(), "Real" | "Number" | "Any") => {
                            edits.replace(b.span.clone(), "<: AbstractFloat");
                        }
                        Some(_) => {}
                    }
                }
                _ => {}
            }
        }
    }

    /// The head of a function, from its name on.
    fn head(&self, unit: &Unit<'a>, f: &Function) -> String {
        let edits = self.edits(unit);
        let word = self.tokens.within(&unit.span).find(|t| t.kind == Tok::Kw(Kw::Function));
        let start = word.map_or(f.name.span.start, |t| t.end);
        edits.applied(self.text, &(start..head_end(self.text, start))).trim().to_string()
    }

    /// A function that stops the run, in the place of one that is left out.
    fn stub(&self, unit: &Unit<'a>, f: &Function, reason: &str, comment: &str) -> String {
        let mut text = format!("`{}` is left out: {reason}", f.name.text);
        for (from, to) in [("\\", "\\\\"), ("\"", "\\\""), ("$", "\\$"), ("\n", " ")] {
            text = text.replace(from, to);
        }
        format!("{comment}\n@i function {}\n@safe error(\"{text}\")\nend", self.head(unit, f))
    }

    /// A function of the host that is said to be reversible.
    fn primitive(&self, unit: &Unit<'a>, f: &Function) -> String {
        let edits = self.edits(unit);
        let head = self.head(unit, f);
        let params = head.find('(').and_then(|at| head.get(at..)).unwrap_or("()");
        let statement = match f.body.first().map(|s| &s.kind) {
            Some(StmtKind::Assign { op, target, value, .. }) => {
                let ExprKind::Name(target) = &target.kind else { return String::new() };
                format!("{target} {} {}", op.text(), edits.applied(self.text, &value.span))
            }
            Some(StmtKind::Call { args, .. }) => {
                let name = args.first().map(|a| &a.kind);
                let Some(ExprKind::Name(target)) = name else { return String::new() };
                format!("NEG({target})")
            }
            _ => CHECKED.to_string(),
        };
        format!("@i function {}{params}\n{statement}\nend", f.name.text)
    }
}
