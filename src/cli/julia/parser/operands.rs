//! Operands: numbers, names, calls, indices, arrays, tuples.

use super::super::lexer::Kind;
use super::super::syntax::{Expr, Stmt, StmtKind};
use super::{OPENERS, Parsed, Parser, is_reserved, is_type};

impl Parser<'_> {
    pub(super) fn postfix(&mut self) -> Parsed<Expr> {
        let (mut e, mut count) = (self.primary()?, 0);
        loop {
            Self::link(&mut count)?;
            let token = self.token();
            if !self.goes_on() || token.space && !matches!(token.kind, Kind::Sign("::")) {
                return Ok(e);
            }
            match token.kind.clone() {
                Kind::Sign("(") => {
                    self.at += 1;
                    e = self.call(e, false)?;
                }
                Kind::Sign("[") => {
                    self.at += 1;
                    // `Float64[1, 2]` is an array of a type.
                    if matches!(&e, Expr::Name(name) if is_type(name)) {
                        let Expr::Array(_, rows, vector) = self.array()? else {
                            return Err("an array is expected".into());
                        };
                        e = Expr::Array(Some(Box::new(e)), rows, vector);
                    } else {
                        let indices = self.with((true, false, false), |p| p.list("]"))?;
                        e = Expr::Index(Box::new(e), indices);
                    }
                }
                Kind::Sign("{") => {
                    self.at += 1;
                    let mut depth = 1;
                    while depth > 0 && !self.at_end() {
                        depth += usize::from(self.is("{"));
                        depth -= usize::from(self.is("}"));
                        self.at += 1;
                    }
                    e = Expr::Curly(Box::new(e));
                }
                Kind::Sign("'") => {
                    self.at += 1;
                    e = Expr::Transpose(Box::new(e));
                }
                Kind::Sign("::") => {
                    self.at += 1;
                    self.primary()?;
                }
                Kind::Sign("...") => {
                    self.at += 1;
                    return Ok(Expr::Splat(Box::new(e)));
                }
                Kind::Sign(".") => {
                    self.at += 1;
                    if self.eat("(") {
                        e = self.call(e, true)?;
                    } else if let Kind::Word(name) = self.token().kind.clone() {
                        self.at += 1;
                        e = Expr::Field(Box::new(e), name);
                    } else {
                        return Err(format!("{} is not read after `.`", self.found()));
                    }
                }
                _ => return Ok(e),
            }
        }
    }

    /// Expressions up to a closing bracket, which is taken.
    pub(super) fn list(&mut self, close: &str) -> Parsed<Vec<Expr>> {
        let mut out = Vec::new();
        while !self.eat(close) {
            if self.is(":") {
                self.at += 1;
                out.push(Expr::Name(":".to_string()));
            } else {
                out.push(self.pair_or_expr()?);
            }
            if !self.eat(",") && !self.is(close) {
                return Err(format!("expected `{close}`, found {}", self.found()));
            }
        }
        Ok(out)
    }

    /// The arguments of a call after `(`.
    pub(super) fn call(&mut self, f: Expr, dotted: bool) -> Parsed<Expr> {
        let (mut args, mut keywords) = (Vec::new(), Vec::new());
        self.with((true, false, false), |p| {
            let mut after = false;
            while !p.eat(")") {
                if p.eat(";") {
                    after = true;
                    continue;
                }
                let keyword = match &p.token().kind {
                    Kind::Word(name) if matches!(p.tokens[p.at + 1].kind, Kind::Sign("=")) => Some(name.clone()),
                    _ => None,
                };
                match keyword {
                    Some(name) => {
                        p.at += 2;
                        keywords.push((name, p.expr()?));
                    }
                    None if after => return Err("what stands after `;` is not read".to_string()),
                    None => {
                        let e = p.pair_or_expr()?;
                        if p.is_word("for") {
                            args.push(p.comprehension(e, ")")?);
                            return Ok(());
                        }
                        args.push(e);
                    }
                }
                if !p.eat(",") && !p.is(")") && !p.is(";") {
                    return Err(format!("expected `)`, found {}", p.found()));
                }
            }
            Ok(())
        })?;
        Ok(Expr::Call { f: Box::new(f), args, keywords, dotted })
    }

    pub(super) fn comprehension(&mut self, body: Expr, close: &str) -> Parsed<Expr> {
        self.at += 1;
        let mut ranges = self.ranges()?;
        while self.eat_word("for") {
            ranges.extend(self.ranges()?);
        }
        let condition = if self.eat_word("if") { Some(Box::new(self.expr()?)) } else { None };
        self.expect(close)?;
        Ok(Expr::Comprehension(Box::new(body), ranges, condition))
    }

    pub(super) fn primary(&mut self) -> Parsed<Expr> {
        let token = self.token().clone();
        self.at += 1;
        match token.kind {
            Kind::Int(k) => Ok(Expr::Int(k)),
            Kind::Float(x) => Ok(Expr::Float(x)),
            Kind::Text(text) => Ok(Expr::Text(text)),
            Kind::Symbol(name) => Ok(Expr::Symbol(name)),
            Kind::Word(word) if word == "end" && self.joined => Ok(Expr::Name(word)),
            Kind::Word(word) if word == "function" => {
                self.expect("(")?;
                let parameters = self.parameters()?;
                let body = self.block(&[]);
                self.end()?;
                Ok(Expr::Lambda(parameters, Box::new(Expr::Block(body))))
            }
            Kind::Word(word) if is_reserved(&word) => Err(format!("`{word}` is not read here")),
            Kind::Word(word) => Ok(Expr::Name(word)),
            Kind::Macro(name) if name == "@instr" => self.instr(),
            Kind::Macro(name) if name == "@const" => self.postfix(),
            Kind::Macro(name) => Err(format!("the macro `{name}` is not evaluated")),
            Kind::Sign("(") => self.bracketed(),
            Kind::Sign("[") => self.array(),
            Kind::Sign(":")
                if self.is("(") && matches!(&self.tokens[self.at + 1].kind, Kind::Macro(m) if m == "@i") =>
            {
                self.quoted()
            }
            Kind::Sign(sign) => Err(format!("`{sign}` is not read here")),
            Kind::Unknown(what) => Err(format!("{what} is not read")),
            Kind::End => Err("the file ends here".to_string()),
        }
    }

    /// After `:`, a reversible function in brackets.
    pub(super) fn quoted(&mut self) -> Parsed<Expr> {
        self.at += 1;
        let start = self.token().span.start;
        let mut depth = 0usize;
        while !self.at_end() {
            match self.token().kind {
                Kind::Sign(")") if depth == 0 => {
                    let end = self.last_end();
                    self.at += 1;
                    return Ok(Expr::Quoted(start..end));
                }
                Kind::Sign("(" | "[" | "{") => depth += 1,
                Kind::Sign(")" | "]" | "}") => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
        Err("this bracket is not closed".to_string())
    }

    /// The statement after `@instr`: its text, up to the line's end or a closing bracket.
    pub(super) fn instr(&mut self) -> Parsed<Expr> {
        let start = self.token().span.start;
        let first = self.at;
        let mut depth = 0usize;
        while !self.at_end() {
            let token = self.token();
            if depth == 0 && (self.at > first && token.line || matches!(token.kind, Kind::Sign(")" | "]" | ";"))) {
                break;
            }
            match token.kind {
                Kind::Sign("(" | "[" | "{") => depth += 1,
                Kind::Sign(")" | "]" | "}") => depth = depth.saturating_sub(1),
                _ => {}
            }
            if let Kind::Word(word) = &token.kind
                && OPENERS.contains(&word.as_str())
            {
                return Err("`@instr` before a block is not evaluated".to_string());
            }
            self.at += 1;
        }
        Ok(Expr::Instr(start..self.last_end()))
    }

    /// After `(`: a tuple, a block, or an expression.
    pub(super) fn bracketed(&mut self) -> Parsed<Expr> {
        self.with((true, false, false), |p| {
            if p.eat(")") {
                return Ok(Expr::Tuple(Vec::new()));
            }
            let start = p.token().span.start;
            let first = p.pair_or_expr()?;
            if p.is_word("for") {
                return p.comprehension(first, ")");
            }
            if p.is(";") {
                let stmt = |e, end| Stmt { span: start..end, kind: StmtKind::Expr(e) };
                let mut all = vec![stmt(first, p.last_end())];
                while p.eat(";") {
                    if p.is(")") {
                        break;
                    }
                    let e = p.pair_or_expr()?;
                    all.push(stmt(e, p.last_end()));
                }
                p.expect(")")?;
                return Ok(Expr::Block(all));
            }
            if p.eat(")") {
                return Ok(if matches!(first, Expr::Splat(_)) { Expr::Tuple(vec![first]) } else { first });
            }
            let mut parts = vec![first];
            p.expect(",")?;
            parts.extend(p.list(")")?);
            Ok(Expr::Tuple(parts))
        })
    }

    /// After `[`: elements with commas, rows, or a comprehension.
    pub(super) fn array(&mut self) -> Parsed<Expr> {
        self.with((true, true, false), |p| {
            if p.eat("]") {
                return Ok(Expr::Array(None, Vec::new(), true));
            }
            let first = p.pair_or_expr()?;
            if p.is_word("for") {
                return p.with((true, false, false), |p| p.comprehension(first, "]"));
            }
            if p.is(",") {
                p.at += 1;
                let mut row = vec![first];
                row.extend(p.with((true, false, false), |p| p.list("]"))?);
                return Ok(Expr::Array(None, vec![row], true));
            }
            let mut rows = vec![vec![first]];
            loop {
                let line = p.token().line;
                if p.eat("]") {
                    break;
                }
                if p.eat(";") || line {
                    if p.is(";") {
                        return Err("arrays of more dimensions are not read".to_string());
                    }
                    if p.eat("]") {
                        break;
                    }
                    rows.push(Vec::new());
                }
                let e = p.pair_or_expr()?;
                if let Some(row) = rows.last_mut() {
                    row.push(e);
                }
            }
            // One column is a vector.
            let column = rows.iter().all(|row| row.len() == 1);
            if column {
                return Ok(Expr::Array(None, rows, true));
            }
            Ok(Expr::Array(None, rows, false))
        })
    }
}
