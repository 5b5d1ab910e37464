//! Operators, from those that bind least to those that bind most.

use super::super::lexer::Kind;
use super::super::syntax::{Binary, Expr};
use super::{Parsed, Parser, is_reserved};

impl Parser<'_> {
    /// Expressions with commas between them, without brackets.
    pub(super) fn tuple(&mut self) -> Parsed<Expr> {
        let first = self.pair_or_expr()?;
        if !(self.goes_on() && self.is(",")) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.goes_on() && self.eat(",") {
            if !self.goes_on() || self.is("=") {
                break;
            }
            parts.push(self.pair_or_expr()?);
        }
        Ok(Expr::Tuple(parts))
    }

    pub(super) fn pair_or_expr(&mut self) -> Parsed<Expr> {
        let a = self.expr()?;
        if self.goes_on() && self.eat("=>") {
            let b = self.expr()?;
            return Ok(Expr::Binary { op: Binary::Pair, dotted: false, a: Box::new(a), b: Box::new(b) });
        }
        Ok(a)
    }

    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        let rules = (self.joined, self.row, self.no_range);
        self.with(rules, |p| {
            let condition = p.or()?;
            if p.goes_on() && p.token().space && p.eat("?") {
                let yes = p.with((p.joined, p.row, true), Self::expr)?;
                p.expect(":")?;
                let no = p.expr()?;
                return Ok(Expr::If(Box::new(condition), Box::new(yes), Box::new(no)));
            }
            if p.goes_on() && p.eat("->") {
                let parameters = match condition {
                    Expr::Name(name) => vec![name],
                    Expr::Tuple(parts) => {
                        let name =
                            |e| if let Expr::Name(n) = e { Ok(n) } else { Err("a parameter is a name".to_string()) };
                        parts.into_iter().map(name).collect::<Parsed<_>>()?
                    }
                    _ => return Err("a parameter is a name".to_string()),
                };
                let body = if p.eat_word("begin") {
                    let body = p.block(&[]);
                    p.end()?;
                    Expr::Block(body)
                } else {
                    p.expr()?
                };
                return Ok(Expr::Lambda(parameters, Box::new(body)));
            }
            Ok(condition)
        })
    }

    pub(super) fn or(&mut self) -> Parsed<Expr> {
        let (mut a, mut count) = (self.and()?, 0);
        while self.goes_on() && self.eat("||") {
            Self::link(&mut count)?;
            a = Expr::Or(Box::new(a), Box::new(self.and()?));
        }
        Ok(a)
    }

    pub(super) fn and(&mut self) -> Parsed<Expr> {
        let (mut a, mut count) = (self.comparison()?, 0);
        while self.goes_on() && self.eat("&&") {
            Self::link(&mut count)?;
            a = Expr::And(Box::new(a), Box::new(self.comparison()?));
        }
        Ok(a)
    }

    pub(super) fn comparison(&mut self) -> Parsed<Expr> {
        let (mut a, mut count) = (self.piped()?, 0);
        let mut all: Option<Expr> = None;
        while let Some((op, dotted)) = self.comparing() {
            Self::link(&mut count)?;
            let b = self.piped()?;
            let one = Expr::Binary { op, dotted, a: Box::new(a), b: Box::new(b.clone()) };
            all = Some(match all {
                None => one,
                Some(before) => Expr::And(Box::new(before), Box::new(one)),
            });
            a = b;
        }
        Ok(all.unwrap_or(a))
    }

    /// Takes an operator that compares.
    pub(super) fn comparing(&mut self) -> Option<(Binary, bool)> {
        if !self.goes_on() {
            return None;
        }
        let found = match &self.token().kind {
            Kind::Sign(sign) => {
                let dotted = sign.starts_with('.');
                let op = match sign.trim_start_matches('.') {
                    "==" => Binary::Equal,
                    "!=" | "≠" => Binary::Different,
                    "===" | "≡" => Binary::Same,
                    "!==" => Binary::NotSame,
                    "≈" => Binary::Near,
                    "≉" => Binary::NotNear,
                    "<" => Binary::Less,
                    "<=" | "≤" => Binary::LessEqual,
                    ">" => Binary::Greater,
                    ">=" | "≥" => Binary::GreaterEqual,
                    "∈" => Binary::In,
                    _ => return None,
                };
                (op, dotted)
            }
            Kind::Word(word) if word == "in" => (Binary::In, false),
            Kind::Word(word) if word == "isa" => (Binary::Isa, false),
            _ => return None,
        };
        self.at += 1;
        Some(found)
    }

    pub(super) fn piped(&mut self) -> Parsed<Expr> {
        let (mut a, mut count) = (self.range()?, 0);
        while self.goes_on() && self.eat("|>") {
            Self::link(&mut count)?;
            let f = self.range()?;
            a = Expr::Call { f: Box::new(f), args: vec![a], keywords: Vec::new(), dotted: false };
        }
        Ok(a)
    }

    pub(super) fn range(&mut self) -> Parsed<Expr> {
        let a = self.sum()?;
        if self.no_range || !(self.goes_on() && self.is(":")) {
            return Ok(a);
        }
        self.at += 1;
        let b = self.sum()?;
        if self.goes_on() && self.eat(":") {
            let c = self.sum()?;
            return Ok(Expr::Range(Box::new(a), Some(Box::new(b)), Box::new(c)));
        }
        Ok(Expr::Range(Box::new(a), None, Box::new(b)))
    }

    pub(super) fn sum(&mut self) -> Parsed<Expr> {
        let (mut a, mut count) = (self.product()?, 0);
        loop {
            Self::link(&mut count)?;
            // In a row of an array, ` -b` begins an element.
            let element =
                self.row && self.token().space && !self.tokens[(self.at + 1).min(self.tokens.len() - 1)].space;
            let Some((op, dotted)) =
                self.operator(&[("+", Binary::Add), ("-", Binary::Sub), ("⊻", Binary::Xor), ("|", Binary::BitOr)])
            else {
                return Ok(a);
            };
            if element {
                self.at -= 1;
                return Ok(a);
            }
            let b = self.product()?;
            a = Expr::Binary { op, dotted, a: Box::new(a), b: Box::new(b) };
        }
    }

    pub(super) fn product(&mut self) -> Parsed<Expr> {
        let (mut a, mut count) = (self.unary()?, 0);
        while let Some((op, dotted)) = self.operator(&[
            ("*", Binary::Mul),
            ("/", Binary::Div),
            ("\\", Binary::Solve),
            ("÷", Binary::Quotient),
            ("%", Binary::Rest),
            ("&", Binary::BitAnd),
        ]) {
            Self::link(&mut count)?;
            let b = self.unary()?;
            a = Expr::Binary { op, dotted, a: Box::new(a), b: Box::new(b) };
        }
        Ok(a)
    }

    /// Takes one of these operators, or the same with a dot.
    pub(super) fn operator(&mut self, all: &[(&str, Binary)]) -> Option<(Binary, bool)> {
        let Kind::Sign(sign) = &self.token().kind else { return None };
        if !self.goes_on() {
            return None;
        }
        let dotted = sign.len() > 1 && sign.starts_with('.');
        let bare = if dotted { &sign[1..] } else { sign };
        let (_, op) = all.iter().find(|(name, _)| *name == bare)?;
        self.at += 1;
        Some((*op, dotted))
    }

    pub(super) fn unary(&mut self) -> Parsed<Expr> {
        let rules = (self.joined, self.row, self.no_range);
        self.with(rules, |p| {
            // An operator as a function: `+`, `(+)`, `PlusEq(*)`.
            let next = &p.tokens[(p.at + 1).min(p.tokens.len() - 1)].kind;
            if let Kind::Sign(sign @ ("+" | "-" | "*" | "/" | "^" | "⊻" | "÷" | "%" | "==" | "<" | ">" | "≈")) =
                &p.token().kind
                && matches!(next, Kind::Sign(")" | "," | "]"))
            {
                let sign = sign.to_string();
                p.at += 1;
                return Ok(Expr::Operator(sign));
            }
            for (sign, make) in [
                ("-", Expr::Negative as fn(Box<Expr>) -> Expr),
                ("!", Expr::Not as fn(Box<Expr>) -> Expr),
                ("~", Expr::Inverse as fn(Box<Expr>) -> Expr),
            ] {
                if p.eat(sign) {
                    return p.unary().map(|e| make(Box::new(e)));
                }
            }
            if p.eat("+") {
                return p.unary();
            }
            p.power()
        })
    }

    pub(super) fn power(&mut self) -> Parsed<Expr> {
        // `2x`, `3im`, `2π`: what stands after a number without a blank.
        let number = matches!(self.token().kind, Kind::Int(_) | Kind::Float(_));
        let a = self.postfix()?;
        if number
            && !self.token().space
            && !self.token().line
            && (matches!(&self.token().kind, Kind::Word(w) if !is_reserved(w)) || self.is("("))
        {
            let b = self.power()?;
            return Ok(Expr::Binary { op: Binary::Mul, dotted: false, a: Box::new(a), b: Box::new(b) });
        }
        match self.operator(&[("^", Binary::Pow)]) {
            Some((op, dotted)) => {
                let b = self.unary()?;
                Ok(Expr::Binary { op, dotted, a: Box::new(a), b: Box::new(b) })
            }
            None => Ok(a),
        }
    }
}
