//! Loops of the host around `@eval`: `for f in [:sin, :cos] … end`. What they define is read once for each value.

use super::super::ast::{Item, Span};
use super::super::codes;
use super::super::lexer::{Given, MOST_GIVEN};
use super::super::token::{Kw, Tok, Token};
use super::{Cursor, Failed, Parsed, Parser};

/// The greatest number of turns of such a loop, and of loops one within the other.
const MOST: (usize, usize) = (256, MOST_GIVEN);

/// The greatest number of turns of all such loops of a file.
const MOST_TURNS: usize = 4096;

/// Where a name or a value is written.
type At = (usize, usize);

impl<'a> Parser<'a> {
    /// Reads a loop over a list of names or operators, if a reversible function in it has `@eval`.
    pub(super) fn eval_loop(&mut self) -> bool {
        let opener = self.token();
        if opener.kind != Tok::Kw(Kw::For) || self.eval_loops >= MOST.1 {
            return false;
        }
        let before = (self.cursor, self.last_end);
        let Some((names, turns)) = self.attempt(Self::eval_head) else { return false };
        let body = self.cursor;
        self.muted += 1;
        let unbalanced = self.unbalanced;
        self.skip_block(&(opener.start..opener.end));
        self.muted -= 1;
        let after = (self.cursor, self.last_end, self.last_kind);
        let closed = self.last_kind == Tok::Kw(Kw::End) && self.unbalanced == unbalanced;
        self.unbalanced = unbalanced;
        if !closed || turns.len() > MOST.0 || !self.evaluates(body.token.start..self.last_end) {
            (self.cursor, self.last_end) = before;
            return false;
        }
        let end = self.last_end - "end".len();
        let (verbatim, skipped) = (self.notes.verbatim.len(), self.tree.skipped.len());
        self.eval_loops += 1;
        let mut first = None;
        for values in &turns {
            self.eval_turns += 1;
            if self.eval_turns > MOST_TURNS {
                if self.eval_turns == MOST_TURNS + 1 {
                    let message = format!("the loops around `@eval` have more than {MOST_TURNS} turns");
                    let help = "the functions of further turns are left out: write one for all types, or fewer";
                    self.error(codes::MACRO, opener.start..opener.end, message, help);
                }
                break;
            }
            self.eval_turn(body, end, &names, values);
            // The statements that are skipped are the same in each turn.
            let count = *first.get_or_insert(self.tree.skipped.len());
            self.tree.skipped.truncate(count.max(skipped));
        }
        self.eval_loops -= 1;
        self.notes.verbatim.truncate(verbatim);
        self.notes.verbatim.push(opener.start..after.1);
        if !self.stopped {
            (self.cursor, self.last_end, self.last_kind) = after;
        }
        true
    }

    /// The items of the loop's body, which ends at `end`, with these values of its variables.
    fn eval_turn(&mut self, body: Cursor<'a>, end: usize, names: &[At], values: &[At]) {
        let Token { start, column, .. } = body.token;
        // Names of the loops around this one have their values.
        let mut lexer = body.lexer.again(start, column);
        for (name, value) in names.iter().zip(values) {
            match lexer.with(Given { name: *name, value: *value }) {
                Some(with) => lexer = with,
                None => return,
            }
        }
        self.cursor = Cursor::new(lexer);
        while self.token().start < end && !self.at(Tok::Eof) {
            self.begin_item();
            let before = self.tree.items.len();
            self.values.clear();
            self.item();
            self.note_values(before);
        }
    }

    /// Notes the values of `$name` in the items from number `first` on.
    fn note_values(&mut self, first: usize) {
        let values = std::mem::take(&mut self.values);
        for item in self.tree.items.iter_mut().skip(first) {
            let (own, span) = match item {
                Item::Function(f) => (&mut f.values, &f.span),
                Item::Host(f) => (&mut f.values, &f.span),
                Item::Struct(s) => (&mut s.values, &s.span),
                Item::Using(_) | Item::Alias(_) | Item::Const(..) => continue,
            };
            // Those of a loop inside of this one have theirs.
            if own.is_empty() {
                let inside = values.iter().filter(|(at, _)| span.start <= at.start && at.end <= span.end);
                own.extend(inside.cloned());
                own.dedup();
            }
        }
    }

    /// Whether a piece of the file has `@i` and `@eval`.
    fn evaluates(&self, span: Span) -> bool {
        let mut lexer = self.cursor.lexer.again(span.start, 0);
        let (mut eval, mut reversible) = (false, false);
        loop {
            let token = lexer.token();
            if token.kind == Tok::Eof || token.start >= span.end {
                return eval && reversible;
            }
            if token.kind == Tok::Macro {
                let text = self.slice(token.start..token.end);
                eval |= text == "@eval";
                reversible |= text == "@i";
            }
        }
    }

    /// `for f in [:sin, :cos]`, `for (f, g) in [(:sin, :cos), …]`: the names, and their values in each turn.
    fn eval_head(&mut self) -> Parsed<(Vec<At>, Vec<Vec<At>>)> {
        self.bump();
        let names = self.names_or_one(Self::eval_name)?;
        if !matches!(self.kind(), Tok::Kw(Kw::In) | Tok::Equals | Tok::Elem) {
            return Err(Failed);
        }
        self.bump();
        let (open, close) = (self.kind(), if self.at(Tok::LParen) { Tok::RParen } else { Tok::RBrack });
        if !matches!(open, Tok::LParen | Tok::LBrack) {
            return Err(Failed);
        }
        let turns = self.bracketed(false, |p| p.list_until(close, |p| p.names_or_one(Self::eval_value)))?;
        if !self.token().line_before && !self.at(Tok::Semi) || turns.iter().any(|turn| turn.len() != names.len()) {
            return Err(Failed);
        }
        Ok((names, turns))
    }

    /// One name, or several in parentheses.
    fn names_or_one(&mut self, one: fn(&mut Self) -> Parsed<At>) -> Parsed<Vec<At>> {
        match self.kind() {
            Tok::LParen => self.bracketed(false, |p| p.list_until(Tok::RParen, one)),
            _ => Ok(vec![one(self)?]),
        }
    }

    /// What stands between brackets, with commas between.
    fn list_until<T>(&mut self, close: Tok, mut one: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.bump();
        let mut all = Vec::new();
        while !self.eat(close) {
            all.push(one(self)?);
            if !self.eat(Tok::Comma) && !self.at(close) {
                return Err(Failed);
            }
        }
        Ok(all)
    }

    fn eval_name(&mut self) -> Parsed<At> {
        let name = self.name("a name")?;
        Ok((name.span.start, name.span.end))
    }

    /// `:sin`, `:+`, `:(+)`, `Float64`: a name or an operator.
    fn eval_value(&mut self) -> Parsed<At> {
        if self.eat(Tok::Colon) && self.at(Tok::LParen) {
            return self.bracketed(false, |p| {
                p.bump();
                let at = p.eval_token()?;
                p.expect(Tok::RParen, "`)`")?;
                Ok(at)
            });
        }
        self.eval_token()
    }

    fn eval_token(&mut self) -> Parsed<At> {
        match self.kind() {
            Tok::Ident | Tok::Op(..) | Tok::Assign(..) => {
                let token = self.bump();
                Ok((token.start, token.end))
            }
            _ => Err(Failed),
        }
    }
}
