//! Numbers that the host's own code assigns once in a block, such as `k = 3` in a testset: functions of the block read them.

use std::collections::HashSet;

use super::super::ast::{Expr, Item, Name, inside};
use super::super::token::Tok;
use super::{Failed, Parser};

/// An assignment in a block of the host.
pub(super) struct Assignment {
    /// The blocks around it, the outermost first.
    scope: Vec<usize>,
    name: Name,
    /// The number; `None` if it is something else.
    value: Option<Expr>,
}

impl Parser<'_> {
    /// Notes what the statement that begins here assigns, and goes back to its beginning.
    pub(super) fn note_assignments(&mut self, scope: &[usize]) {
        let before = (self.cursor, self.last_end);
        let token = self.token();
        let found = match token.kind {
            // `@instr f(x, y)` changes its arguments.
            Tok::Macro if self.text_of(token) == "@instr" => self.names_in_line(),
            Tok::Ident if matches!(self.cursor.second().kind, Tok::Equals | Tok::Comma) => {
                let numbers = self.attempt(Self::numbers_assigned);
                numbers.unwrap_or_else(|| {
                    (self.cursor, self.last_end) = before;
                    self.targets()
                })
            }
            Tok::Ident if matches!(self.cursor.second().kind, Tok::Assign(..)) => self.targets(),
            _ => return,
        };
        (self.cursor, self.last_end) = before;
        let of = |(name, value)| Assignment { scope: scope.to_vec(), name, value };
        self.assignments.extend(found.into_iter().map(of));
    }

    /// `k = 3`, or `k, n = 3, 4`.
    fn numbers_assigned(&mut self) -> Result<Vec<(Name, Option<Expr>)>, Failed> {
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
        let number = |e: Expr| self.is_constant(&e).then_some(e);
        Ok(names.into_iter().zip(values.into_iter().map(number)).collect())
    }

    /// The names before `=` and the like, without their values.
    fn targets(&mut self) -> Vec<(Name, Option<Expr>)> {
        let mut all = Vec::new();
        loop {
            let token = self.token();
            if token.kind != Tok::Ident {
                return all;
            }
            all.push((Name { text: self.text_of(token).to_string(), span: token.start..token.end }, None));
            self.bump();
            if !self.at(Tok::Comma) {
                // `a, b` without `=` is no assignment.
                return if matches!(self.kind(), Tok::Equals | Tok::Assign(..)) { all } else { Vec::new() };
            }
            self.bump();
        }
    }

    /// All names up to the end of the line.
    fn names_in_line(&mut self) -> Vec<(Name, Option<Expr>)> {
        let mut all = Vec::new();
        self.bump();
        while !self.token().line_before && !self.at(Tok::Eof) {
            let token = self.token();
            if token.kind == Tok::Ident {
                all.push((Name { text: self.text_of(token).to_string(), span: token.start..token.end }, None));
            }
            self.bump();
        }
        all
    }

    /// Makes the numbers constants that are assigned once, and changed nowhere around.
    pub(super) fn end_of_assignments(&mut self) {
        let all = std::mem::take(&mut self.assignments);
        let mut names: HashSet<&str> = HashSet::new();
        let mut several: HashSet<&str> = HashSet::new();
        for a in &all {
            if !names.insert(&a.name.text) {
                several.insert(&a.name.text);
            }
        }
        let is_alone = |n: usize, a: &Assignment| {
            !several.contains(a.name.text.as_str())
                || !all.iter().enumerate().any(|(m, b)| {
                    let touch = a.scope.starts_with(&b.scope) || b.scope.starts_with(&a.scope);
                    m != n && b.name.text == a.name.text && touch
                })
        };
        let constants = all.iter().enumerate().filter(|(n, a)| a.value.is_some() && is_alone(*n, a));
        let item = |a: &Assignment| {
            let (at, value) = (a.scope.last()?, a.value.clone()?);
            Some(Item::Const(Name { text: inside(&a.name.text, *at), span: a.name.span.clone() }, value))
        };
        let items: Vec<Item> = constants.filter_map(|(_, a)| item(a)).collect();
        self.tree.items.extend(items);
    }
}
