//! The declarations of a file, as units of the plain form.

use super::edits::Tokens;
use super::names::{Meaning, Names, key};
use super::walk::{Found, Mention, Usage};
use crate::nil::ast::{Function, HostFunction, Item, Name, Span, Values};
use crate::nil::token::Tok;

/// A declaration.
pub(super) struct Unit<'a> {
    pub(super) item: &'a Item,
    /// Where it is, with `const` before it.
    pub(super) span: Span,
    /// The line in which it begins.
    pub(super) line: usize,
    /// The column in which it begins.
    pub(super) column: usize,
    /// The host's scopes around it.
    pub(super) scope: Vec<usize>,
    /// What is found in it.
    pub(super) found: Found<'a>,
    /// Its tokens.
    pub(super) tokens: Vec<(Tok, &'a str)>,
    /// Why it is left out, if it is.
    pub(super) out: Option<String>,
    /// Whether it is left out because it has no meaning.
    pub(super) dropped: bool,
}

impl<'a> Unit<'a> {
    /// The reversible function.
    pub(super) fn function(&self) -> Option<&'a Function> {
        if let Item::Function(f) = self.item { Some(f) } else { None }
    }

    /// The name of what it declares.
    pub(super) fn name(&self) -> &'a Name {
        match self.item {
            Item::Function(f) => &f.name,
            Item::Struct(s) => &s.name,
            Item::Alias(alias) => &alias.name,
            Item::Host(f) => &f.name,
            Item::Const(name, _) => name,
            Item::Using(names) => names.first().unwrap_or(&NO_NAME),
        }
    }

    /// The key of the function or the constant.
    pub(super) fn key(&self) -> Option<String> {
        match self.item {
            Item::Function(f) => key(f),
            Item::Const(name, _) => Some(name.text.clone()),
            Item::Struct(_) | Item::Using(_) | Item::Host(_) | Item::Alias(_) => None,
        }
    }

    /// The names in it that are no variables, with what they stand for.
    pub(super) fn meanings<'n>(&'n self, names: &'n Names<'a>) -> impl Iterator<Item = (&'n Mention<'a>, Meaning)> {
        let outer = self.found.mentions.iter().filter(|m| !self.found.locals.contains(m.name));
        outer.map(move |m| (m, names.meaning(m, &self.scope)))
    }

    /// Whether all uses of a name in it stand for what has this key.
    pub(super) fn means_only(&self, names: &Names<'a>, name: &str, key: &str) -> bool {
        self.dropped
            || self.meanings(names).all(|(m, meaning)| m.name != name || meaning == Meaning::Own(key.to_string()))
    }

    /// Whether it calls a function of this name for its value.
    pub(super) fn calls(&self, name: &str) -> bool {
        self.found.mentions.iter().any(|m| m.name == name && matches!(m.usage, Usage::Call(_)))
    }

    /// Whether a name is in it.
    pub(super) fn has(&self, name: &str) -> bool {
        self.tokens.iter().any(|(kind, text)| *kind == Tok::Ident && *text == name)
    }

    /// Whether it is a function of the host that is said to be reversible.
    pub(super) fn is_primitive(&self) -> bool {
        let marked = self.tokens.iter().take_while(|(kind, _)| *kind == Tok::Macro).any(|(_, text)| *text == "@i");
        self.function().is_some() && !marked
    }

    /// Leaves it out, unless it is left out already.
    pub(super) fn leave_out(&mut self, reason: impl Into<String>) {
        self.out.get_or_insert_with(|| reason.into());
    }
}

static NO_NAME: Name = Name { text: String::new(), span: 0..0 };

/// The values of `$name` in a declaration.
pub(super) fn values(item: &Item) -> &Values {
    const NONE: &Values = &Vec::new();
    match item {
        Item::Function(f) => &f.values,
        Item::Host(f) => &f.values,
        Item::Struct(s) => &s.values,
        Item::Using(_) | Item::Alias(_) | Item::Const(..) => NONE,
    }
}

/// The units of a file, in the order in which they are written.
pub(super) fn units<'a>(items: &'a [Item], tokens: &Tokens<'a>) -> Vec<Unit<'a>> {
    let mut all: Vec<Unit<'a>> = Vec::new();
    // The functions without names in the declaration that follows.
    let mut lambdas: Vec<&'a HostFunction> = Vec::new();
    for item in items {
        let (span, scope, mut found) = match item {
            Item::Function(f) => (f.span.clone(), f.scope.clone(), Found::of(f)),
            Item::Host(f) if f.name.text.contains("->") => {
                lambdas.push(f);
                continue;
            }
            Item::Host(f) => (f.span.clone(), f.scope.clone(), Found::of_host(f)),
            Item::Struct(s) => (s.span.clone(), Vec::new(), Found::default()),
            Item::Alias(alias) => (alias.name.span.start..alias.ty.span.end, Vec::new(), Found::default()),
            Item::Using(names) => {
                let span = names.first().map_or(0..0, |first| first.span.clone());
                (span, Vec::new(), Found::default())
            }
            Item::Const(name, value) => {
                let scope = name.text.split_once('@').and_then(|(_, at)| at.parse().ok());
                let span = name.span.start..value.span.end;
                (span, scope.into_iter().collect(), Found::of_value(value))
            }
        };
        std::mem::take(&mut lambdas).into_iter().for_each(|lambda| found.join(lambda));
        let word = tokens.before(span.start).filter(|t| matches!(tokens.text_of(t), "const" | "using" | "import"));
        let start = word.map_or(span.start, |t| t.start);
        let span = start..span.end;
        let mut own: Vec<(Tok, &'a str)> = tokens.within(&span).map(|t| (t.kind, tokens.text_of(t))).collect();
        own.extend(values(item).iter().map(|(_, value)| (Tok::Ident, value.as_str())));
        let unit = Unit {
            item,
            line: tokens.line(start),
            column: tokens.from(start).map_or(0, |t| t.column),
            scope,
            found,
            tokens: own,
            out: None,
            dropped: false,
            span,
        };
        // The constants of blocks are at the end of the tree, and functions of the host before the others.
        let inner = matches!(item, Item::Const(..)) && !unit.scope.is_empty();
        let place = all.iter().position(|other| inner && other.span.start > unit.span.start && !other.is_primitive());
        all.insert(place.unwrap_or(all.len()), unit);
    }
    all
}
