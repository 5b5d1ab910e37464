//! Items in a file of the host language: functions that cannot be read are left out, functions and structs stand inside of
//! blocks, and some of the host's own definitions have a meaning.

use super::super::ast::{
    Alias, AssignOp, Binary, Expr, ExprKind, Function, HostFunction, Item, Name, Span, Stmt, StmtKind, Unary, Unread,
};
use super::super::token::{Kw, Tok};
use super::{Failed, Parser};

impl Parser<'_> {
    /// Reads the item after `@i`.
    pub(super) fn doc_item(&mut self, doc: Option<String>) {
        if !self.host {
            return self.marked_item(doc);
        }
        let before = (self.cursor, self.last_end);
        let (found, faulty, items) = (self.diagnostics.len(), self.tree.faulty.len(), self.tree.items.len());
        self.marked_item(doc);
        // Nothing is left out where reading stopped because the file is too large.
        if self.diagnostics.len() == found || self.stopped {
            return;
        }
        let mut errors = self.diagnostics.split_off(found);
        self.tree.faulty.truncate(faulty);
        let function = self.tree.items.drain(items..).find_map(|item| match item {
            Item::Function(f) => Some(f),
            Item::Struct(_) | Item::Using(_) | Item::Host(_) | Item::Alias(_) | Item::Const(..) => None,
        });
        let reason = Box::new(errors.swap_remove(0));
        // What follows begins where its brackets and blocks end, and not where reading it failed.
        (self.cursor, self.last_end) = before;
        self.begin_item();
        let start = self.token().start;
        let inline = self.skip_marks();
        let opener = self.token();
        self.muted += 1;
        let unbalanced = self.unbalanced;
        if matches!(opener.kind, Tok::Kw(Kw::Function | Kw::Struct)) {
            self.bump();
            self.skip_block(&(opener.start..opener.end));
        } else {
            self.skip_statement();
        }
        self.unbalanced = unbalanced;
        self.muted -= 1;
        let head = function.as_ref().is_some_and(|f| f.unread.is_none());
        let unread = Some(Unread { reason, head });
        let none = || Name { text: String::new(), span: opener.start..opener.end };
        let function = function.unwrap_or_else(|| Function::new(none(), inline, None));
        self.notes.verbatim.push(start..self.last_end);
        let span = start..self.last_end;
        self.tree.items.push(Item::Function(Function { body: Vec::new(), span, unread, ..function }));
    }

    /// Reads a function of the host if it is one expression.
    pub(super) fn host_function(&mut self) -> bool {
        let before = (self.cursor, self.last_end, self.diagnostics.len(), self.tree.faulty.len());
        let before_span = self.token().start;
        while self.at(Tok::Macro)
            && (self.text_of(self.token()) == "@inline" || self.host && self.text_of(self.token()) == "@eval")
        {
            self.bump();
        }
        let token = self.token();
        // Elsewhere, a plain `function` may be a reversible one without its `@i`.
        let whole = self.host && token.kind == Tok::Kw(Kw::Function);
        if !(whole || token.kind == Tok::Ident && self.cursor.second().kind == Tok::LParen) {
            (self.cursor, self.last_end) = (before.0, before.1);
            return false;
        }
        let found = self.attempt(|p| {
            if whole {
                p.bump();
            }
            let name = p.dotted_name()?;
            if !p.goes_on(Tok::LParen) {
                return Err(Failed);
            }
            let (params, keywords) = p.bracketed(false, Self::params)?;
            let mut type_params = Vec::new();
            p.where_clauses(&mut type_params)?;
            if params.iter().chain(&keywords).any(|p| p.rest) {
                return Err(Failed);
            }
            if whole {
                p.eat(Tok::Kw(Kw::Return));
            } else {
                p.expect(Tok::Equals, "`=`")?;
            }
            let mut results = vec![p.expr()?];
            while p.eat(Tok::Comma) {
                results.push(p.expr()?);
            }
            if whole {
                p.expect(Tok::Kw(Kw::End), "`end`")?;
            }
            p.statement_end()?;
            let body = results.first().ok_or(Failed)?.clone();
            let (span, scope, values) = (before_span..p.last_end, Vec::new(), Vec::new());
            Ok((HostFunction { name, params, keywords, type_params, body, span, scope, values }, results))
        });
        match found {
            Some((function, results)) if self.diagnostics.len() == before.2 => {
                let span = function.span.clone();
                self.notes.verbatim.push(span.clone());
                self.primitives.extend(primitive(&function, &results, span));
                if results.len() == 1 {
                    self.tree.items.push(Item::Host(function));
                }
                true
            }
            _ => {
                (self.cursor, self.last_end) = (before.0, before.1);
                self.diagnostics.truncate(before.2);
                self.tree.faulty.truncate(before.3);
                false
            }
        }
    }

    /// Takes `@dual f g` or `@selfdual f`: functions of the host that undo each other.
    pub(super) fn duals(&mut self) -> bool {
        if !matches!(self.text_of(self.token()), "@dual" | "@selfdual") {
            return false;
        }
        let span = self.skip_top_statement();
        let names = self.slice(span.clone()).split_whitespace().skip(1);
        let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_string();
        self.dual_names.extend(names.map(last));
        self.notes.verbatim.push(span);
        true
    }

    /// Makes the functions of the host reversible that are said to undo each other.
    pub(super) fn end_of_duals(&mut self) {
        let names = std::mem::take(&mut self.dual_names);
        let all = std::mem::take(&mut self.primitives);
        let named = all.into_iter().filter(|f| names.contains(&f.name.text));
        // Before the functions of the file, which may be told from them by the types only.
        let items: Vec<Item> = named.map(Item::Function).collect();
        self.tree.items.splice(0..0, items);
    }

    /// `const T{S} = Vector{S}`, or `const T = Vector{Int}`.
    pub(super) fn type_alias(&mut self) -> bool {
        let start = self.token().start;
        let found = self.attempt(|p| {
            p.eat(Tok::Kw(Kw::Const));
            let name = p.name("a name")?;
            let mut type_params = Vec::new();
            if p.at(Tok::LBrace) {
                p.type_params(&mut type_params)?;
            }
            p.expect(Tok::Equals, "`=`")?;
            let ty = p.type_expr()?;
            p.statement_end()?;
            let is_type = ty.name.text.starts_with(char::is_uppercase);
            if is_type { Ok(Alias { name, type_params, ty }) } else { Err(Failed) }
        });
        let is = found.is_some();
        if is {
            self.notes.verbatim.push(start..self.last_end);
        }
        self.tree.items.extend(found.map(Item::Alias));
        is
    }

    /// Reads a struct that stands inside of the host's blocks.
    pub(super) fn inner_struct(&mut self) {
        let flags = (self.lines, self.in_index, self.in_choice);
        let (found, items) = (self.diagnostics.len(), self.tree.items.len());
        let before = (self.cursor, self.last_end);
        self.begin_item();
        let token = self.token();
        if self.text_of(token) == "mutable" {
            self.bump();
        }
        self.struct_item(token.start);
        if self.diagnostics.len() > found && !self.stopped {
            self.diagnostics.truncate(found);
            self.tree.items.truncate(items);
            (self.cursor, self.last_end) = before;
            self.muted += 1;
            self.skip_statement();
            self.muted -= 1;
        }
        (self.lines, self.in_index, self.in_choice) = flags;
    }

    /// Reads a function that stands inside of the host's blocks `scope`.
    pub(super) fn inner_item(&mut self, scope: Vec<usize>) {
        let flags = (self.lines, self.in_index, self.in_choice);
        let outer = std::mem::replace(&mut self.scope, scope);
        self.begin_item();
        self.doc_item(None);
        self.scope = outer;
        (self.lines, self.in_index, self.in_choice) = flags;
    }
}

/// A function of the host that gives back its parameters, one of them changed by an addition, a subtraction, an exclusive or, or a sign: as a
/// reversible function that does that.
fn primitive(function: &HostFunction, results: &[Expr], span: Span) -> Option<Function> {
    let is = |e: &Expr, name: &Name| matches!(&e.kind, ExprKind::Name(own) if *own == name.text);
    if results.len() != function.params.len() {
        return None;
    }
    let mut changed = function.params.iter().zip(results).filter(|(p, e)| !is(e, &p.name));
    let ((param, result), None) = (changed.next()?, changed.next()) else { return None };
    let target = || Expr { kind: ExprKind::Name(param.name.text.clone()), span: result.span.clone() };
    let assign =
        |op: AssignOp, value: &Expr| StmtKind::Assign { op, dot: false, target: target(), value: value.clone() };
    let kind = match &result.kind {
        ExprKind::Binary { op: Binary::Add, dot: false, left, right } if is(left, &param.name) => {
            assign(AssignOp::Add, right)
        }
        ExprKind::Binary { op: Binary::Sub, dot: false, left, right } if is(left, &param.name) => {
            assign(AssignOp::Sub, right)
        }
        ExprKind::Binary { op: Binary::Xor, dot: false, left, right } if is(left, &param.name) => {
            assign(AssignOp::Xor, right)
        }
        ExprKind::Call { callee, dot: false, args, keywords } if keywords.is_empty() => match (&callee.kind, &args[..])
        {
            (ExprKind::Name(f), [left, right]) if f == "xor" && is(left, &param.name) => assign(AssignOp::Xor, right),
            _ => return None,
        },
        ExprKind::Unary(Unary::Minus, e) if is(e, &param.name) => StmtKind::Call {
            callee: Expr { kind: ExprKind::Name("NEG".to_string()), span: result.span.clone() },
            inverse: false,
            dot: false,
            args: vec![target()],
            keywords: Vec::new(),
        },
        _ => return None,
    };
    let body = vec![Stmt { kind, span: result.span.clone() }];
    let (params, type_params) = (function.params.clone(), function.type_params.clone());
    Some(Function { params, type_params, body, span, ..Function::new(function.name.clone(), false, None) })
}
