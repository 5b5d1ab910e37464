//! Numbers that the host's own code assigns once in a block, such as `k = 3` in a testset: functions of the block read them.
//! A name that the host binds again there is none of these, and hides a constant of the file from the functions in blocks.

use std::collections::HashMap;

use super::super::ast::{Expr, ExprKind, Item, Name, Span, inside};
use super::super::lexer::Lexer;
use super::super::token::{Kw, Tok, Token};
use super::{Failed, Parser};

/// An assignment in a block of the host.
pub(super) struct Assignment {
    /// The innermost block around it.
    scope: usize,
    /// The statement at the top of the file that it is a part of: nothing outside of it changes the variable.
    pub(super) within: Span,
    name: Name,
    value: Expr,
}

impl Parser<'_> {
    /// Notes the numbers that the statement which begins here assigns, and goes back to its beginning.
    pub(super) fn note_assignments(&mut self, scope: usize) {
        if !matches!(self.cursor.second().kind, Tok::Equals | Tok::Comma) {
            return;
        }
        let before = (self.cursor, self.last_end);
        let found = self.attempt(Self::numbers_assigned).unwrap_or_default();
        (self.cursor, self.last_end) = before;
        self.assignments.extend(found.into_iter().map(|(name, value)| Assignment { scope, within: 0..0, name, value }));
    }

    /// `k = 3`, or `k, n = 3, 4`.
    fn numbers_assigned(&mut self) -> Result<Vec<(Name, Expr)>, Failed> {
        let mut names = vec![self.name("a name")?];
        while self.eat(Tok::Comma) {
            names.push(self.name("a name")?);
        }
        self.expect(Tok::Equals, "`=`")?;
        let mut values = vec![self.expr()?];
        while self.eat(Tok::Comma) {
            values.push(self.expr()?);
        }
        self.statement_end()?;
        if names.len() != values.len() {
            return Err(Failed);
        }
        Ok(names.into_iter().zip(values).filter(|(_, e)| self.is_constant(e)).collect())
    }

    /// Makes the numbers constants that are bound once in a statement of the file, and says which names of constants are bound
    /// more often in the file.
    pub(super) fn end_of_assignments(&mut self) {
        let all = std::mem::take(&mut self.assignments);
        // How often each constant of the file is defined.
        let mut constants: HashMap<String, usize> = HashMap::new();
        for item in &self.tree.items {
            // A function, `const add = PlusEq(identity)`, is no number that a statement changes.
            if let Item::Const(name, value) = item
                && !matches!(value.kind, ExprKind::Call { .. })
            {
                *constants.entry(name.text.clone()).or_default() += 1;
            }
        }
        if all.is_empty() && constants.is_empty() {
            return;
        }
        let times = |bound: &HashMap<String, Bound>, name: &str| bound.get(name).map_or(0, |b| b.times);
        let mut parts: HashMap<usize, HashMap<String, Bound>> = HashMap::new();
        for a in &all {
            parts.entry(a.within.start).or_insert_with(|| self.bound(a.within.clone()));
        }
        let once = |a: &Assignment| parts.get(&a.within.start).is_some_and(|bound| times(bound, &a.name.text) == 1);
        let items: Vec<Item> = all
            .into_iter()
            .filter(once)
            .map(|a| Item::Const(Name { text: inside(&a.name.text, a.scope), span: a.name.span.clone() }, a.value))
            .collect();
        self.tree.items.extend(items);
        let bound = self.bound(0..self.cursor.lexer.text().len());
        let rebound = constants.into_iter().filter(|(name, own)| times(&bound, name) > *own);
        self.tree.rebound = rebound.map(|(name, _)| name).collect();
        // An array whose elements the host changes is no constant.
        let stored = |name: &str| bound.get(name).is_some_and(|b| b.stored);
        self.tree.items.retain(|item| !matches!(item, Item::Const(name, _) if stored(&name.text)));
    }

    /// The names that the host binds, outside of reversible functions. It is better to count one too many.
    fn bound(&self, within: Span) -> HashMap<String, Bound> {
        let span = |item: &Item| if let Item::Function(f) = item { Some(f.span.clone()) } else { None };
        let mut spans: Vec<_> = self.tree.items.iter().filter_map(span).collect();
        spans.sort_by_key(|span| span.start);
        let text = self.slice(0..within.end);
        let mut search = Search { text, found: HashMap::new(), open: Vec::new(), heads: Vec::new(), line: Line::Plain };
        let mut spans = spans.into_iter().peekable();
        let mut lexer = Lexer::new(text, within.start, text.len());
        let (mut last, mut token) = (Tok::Semi, lexer.token());
        while !matches!(token.kind, Tok::Eof | Tok::OpenText | Tok::OpenComment) {
            while spans.next_if(|span| span.end <= token.start).is_some() {}
            let next = lexer.token();
            if spans.peek().is_none_or(|span| token.start < span.start) {
                search.token(token, (last, next.kind));
            }
            (last, token) = (token.kind, next);
        }
        search.found
    }
}

/// How the host binds a name.
#[derive(Default)]
struct Bound {
    times: usize,
    /// Whether an element is changed.
    stored: bool,
}

/// What the names of a line are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Plain,
    /// All are bound up to `in` or `=`: those of a `for`.
    For,
    /// All are bound: after `let`, `do`, `global`, `local`, and `@instr`.
    All,
}

/// The search for bound names.
struct Search<'t> {
    text: &'t str,
    found: HashMap<String, Bound>,
    /// The open brackets: where each is, the names in it, and whether a default value stands here, which binds nothing.
    open: Vec<(usize, Tok, Vec<&'t str>, bool)>,
    /// The names with which the statement begins, as far as nothing else stands between them than commas.
    heads: Vec<&'t str>,
    line: Line,
}

impl<'t> Search<'t> {
    fn bind(&mut self, name: &str) {
        self.found.entry(name.to_string()).or_default().times += 1;
    }

    /// The name directly before a place: `f` of `f(`.
    fn before(&self, at: usize) -> &'t str {
        let head = self.text.get(..at).unwrap_or("");
        let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '!');
        let begin = head.char_indices().rev().take_while(|(_, c)| part(*c)).last().map_or(at, |(n, _)| n);
        self.text.get(begin..at).unwrap_or("")
    }

    fn token(&mut self, token: Token, (last, next): (Tok, Tok)) {
        let own = self.text.get(token.start..token.end).unwrap_or("");
        if token.line_before && self.open.is_empty() || last == Tok::Semi {
            (self.line, self.heads) = (Line::Plain, Vec::new());
        }
        let assigns = matches!(next, Tok::Equals | Tok::Assign(..) | Tok::BadAssign);
        match token.kind {
            Tok::Kw(Kw::For) => self.line = Line::For,
            Tok::Kw(Kw::In) | Tok::Elem | Tok::Equals if self.line == Line::For => self.line = Line::Plain,
            Tok::Kw(Kw::Let | Kw::Do) => self.line = Line::All,
            Tok::Macro if own == "@instr" => self.line = Line::All,
            Tok::Ident if matches!(own, "global" | "local") => self.line = Line::All,
            Tok::LParen | Tok::LBrack | Tok::LBrace => self.open.push((token.start, token.kind, Vec::new(), false)),
            Tok::RParen | Tok::RBrack | Tok::RBrace => self.close(assigns, next),
            Tok::Ident => {
                let (in_call, inside) = match self.open.last() {
                    Some((at, Tok::LParen, ..)) => (!self.before(*at).is_empty(), true),
                    other => (false, other.is_some()),
                };
                // `x -> e` binds x, and `k = 3`; but not `f(a; k = 3)`.
                let binds = self.line != Line::Plain || next == Tok::Arrow || assigns && !in_call;
                if binds && last != Tok::Dot {
                    self.bind(own);
                } else if let Some((_, _, names, false)) = self.open.last_mut()
                    && last != Tok::Typed
                {
                    names.push(own);
                }
                if !inside && !binds {
                    self.heads.push(own);
                }
            }
            // `a, b = e`
            Tok::Equals if self.open.is_empty() => {
                for name in std::mem::take(&mut self.heads) {
                    self.bind(name);
                }
            }
            Tok::Equals | Tok::Comma | Tok::Semi if !self.open.is_empty() => {
                if let Some((_, _, _, default)) = self.open.last_mut() {
                    *default = token.kind == Tok::Equals;
                }
            }
            Tok::Comma | Tok::Typed => {}
            _ if self.open.is_empty() => self.heads.clear(),
            _ => {}
        }
    }

    /// A bracket closes; what follows may assign.
    fn close(&mut self, assigns: bool, next: Tok) {
        let Some((at, kind, names, _)) = self.open.pop() else { return };
        let name = self.before(at);
        let head = self.text.get(..at.saturating_sub(name.len())).unwrap_or("").trim_end();
        // The parameters of a function, `(a, b) = e`, and `(a, b) -> e`.
        let binds = match kind {
            Tok::LParen => head.ends_with("function") || assigns || next == Tok::Arrow,
            _ => false,
        };
        if binds {
            names.iter().for_each(|name| self.bind(name));
        } else if kind == Tok::LBrack && assigns && !name.is_empty() {
            self.found.entry(name.to_string()).or_default().stored = true;
            self.bind(name);
        } else if let Some((_, _, outer, false)) = self.open.last_mut() {
            outer.extend(names);
        }
        if self.open.is_empty() {
            self.heads.clear();
        }
    }
}
