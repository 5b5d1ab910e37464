//! Reads operands: numbers, names, texts, brackets, and what follows an operand directly.

use super::super::ast::{Expr, ExprKind, HostFunction, Item, Name, Param, Span};
use super::super::codes;
use super::super::token::{Kw, Tok, Token};
use super::{Cursor, Parsed, Parser};

/// Positional and keyword arguments.
pub(super) type Args = (Vec<Expr>, Vec<(Name, Expr)>);

impl Parser<'_> {
    /// An operand with its suffixes.
    pub(super) fn operand(&mut self) -> Parsed<Expr> {
        let primary = self.primary()?;
        self.postfix(primary)
    }

    fn leaf(&mut self, token: Token, kind: ExprKind) -> Parsed<Expr> {
        self.height = 1;
        Ok(Expr { kind, span: token.start..token.end })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let token = self.token();
        let kind = match token.kind {
            Tok::Ident => ExprKind::Name(self.text_of(token).to_owned()),
            // `⊻(a, b)`
            Tok::Op(_, false) if self.operator_call() => ExprKind::Name(self.text_of(token).to_owned()),
            Tok::Int => ExprKind::Int(self.text_of(token).replace('_', "")),
            Tok::Real => ExprKind::Real(self.text_of(token).replace('_', "")),
            Tok::Kw(Kw::True) => ExprKind::Bool(true),
            Tok::Kw(Kw::False) => ExprKind::Bool(false),
            // `PlusEq(*)`
            Tok::Op(_, false) if self.operator_alone() => ExprKind::Name(self.text_of(token).to_owned()),
            Tok::Kw(Kw::End) if self.in_index => ExprKind::Name("end".to_owned()),
            Tok::Kw(Kw::Begin) if self.in_index => ExprKind::Name("begin".to_owned()),
            Tok::BadNumber => {
                self.bad_number(token);
                ExprKind::Int("0".to_owned())
            }
            Tok::OpenText => {
                self.bump();
                return Err(self.open_text(token));
            }
            Tok::Str { triple } => {
                self.bump();
                return self.text_expr(token, triple);
            }
            Tok::LParen => return self.parens(),
            Tok::LBrack => return self.array(),
            Tok::Macro => return self.macro_expr(token),
            Tok::Colon => return self.colon(token),
            Tok::Typed => return Err(self.asserted_type(token)),
            Tok::Kw(Kw::Function | Kw::Begin | Kw::If | Kw::Let | Kw::Do | Kw::Quote | Kw::Try) => {
                let what = format!("`{}`", self.text_of(token));
                return Err(self.host_expression(token.start..token.end, &what));
            }
            _ => return Err(self.unexpected("an expression")),
        };
        self.bump();
        self.leaf(token, kind)
    }

    /// Whether the next token is a name or operator that a call may begin with.
    pub(super) fn operator_call(&mut self) -> bool {
        let next = self.cursor.second();
        next.kind == Tok::LParen && !next.space_before
    }

    /// Whether the next token is an operator that is itself an argument.
    pub(super) fn operator_alone(&mut self) -> bool {
        matches!(self.token().kind, Tok::Op(_, false)) && matches!(self.cursor.second().kind, Tok::RParen | Tok::Comma)
    }

    /// `@const e`, `@skip! e`
    fn macro_expr(&mut self, token: Token) -> Parsed<Expr> {
        let wrap: fn(Box<Expr>) -> ExprKind = match self.text_of(token) {
            "@const" => ExprKind::Const,
            "@skip!" => ExprKind::Skip,
            "@fields" => ExprKind::Fields,
            name => {
                let message = format!("the macro `{name}` cannot stand in an expression");
                let help = "only `@const` and `@skip!` can; other macros belong to the host language";
                return Err(self.error(codes::MACRO, token.start..token.end, message, help));
            }
        };
        self.bump();
        let one = self.at(Tok::LParen) && self.adjacent() || self.text_of(token) == "@fields";
        let inner = if one { self.deeper(Self::operand)? } else { self.function_or_expr()? };
        let span = token.start..inner.span.end;
        self.build(wrap(Box::new(inner)), span, self.height)
    }

    /// `:` as an index.
    fn colon(&mut self, token: Token) -> Parsed<Expr> {
        let next = self.cursor.second();
        if matches!(next.kind, Tok::Comma | Tok::RBrack | Tok::RParen) {
            self.bump();
            return self.leaf(token, ExprKind::Colon);
        }
        // `Val(:name)`
        if next.kind == Tok::Ident && !next.space_before && self.slice(0..token.start).ends_with("Val(") {
            self.bump();
            let text = format!(":{}", self.text_of(next));
            self.bump();
            return self.build(ExprKind::Name(text), token.start..next.end, 0);
        }
        let quoted = !next.space_before
            && matches!(next.kind, Tok::Ident | Tok::LParen | Tok::Kw(_) | Tok::Op(..) | Tok::Assign(..));
        if quoted {
            return Err(self.host_expression(token.start..next.end, "a quoted name"));
        }
        let help = "an index is a number, a range `a:b`, or `:` for all";
        Err(self.error(codes::SYNTAX, token.start..token.end, "a range needs a beginning", help))
    }

    fn asserted_type(&mut self, token: Token) -> super::Failed {
        let help = "remove it; types are written at parameters: `@i function f(x::T)`";
        let message = "an expression cannot have its type written to it";
        self.error(codes::ASSERTED_TYPE, token.start..token.end, message, help)
    }

    /// `(e)`, `(a, b)`, `()`
    fn parens(&mut self) -> Parsed<Expr> {
        let open = self.token();
        let inner = self.bracketed(false, |p| {
            p.bump();
            if p.at(Tok::RParen) {
                p.height = 0;
                p.bump();
                return Ok(None);
            }
            let first = p.function_or_expr()?;
            if !p.at(Tok::Comma) {
                p.expect(Tok::RParen, "`,` or `)`")?;
                return Ok(Some((first, None)));
            }
            let rest = p.tuple_rest(open.start)?;
            Ok(Some((first, Some(rest))))
        })?;
        let span = open.start..self.last_end;
        let height = self.height;
        match inner {
            None => self.build(ExprKind::Tuple(Vec::new()), span, height),
            Some((first, None)) => Ok(Expr { kind: first.kind, span }),
            Some((first, Some(mut rest))) => {
                rest.insert(0, first);
                self.build(ExprKind::Tuple(rest), span, height)
            }
        }
    }

    /// The elements of a tuple after the first, and `)`. In the brackets of a condition, `~` is an element.
    pub(super) fn tuple_rest(&mut self, open: usize) -> Parsed<Vec<Expr>> {
        let mut rest = Vec::new();
        let mut height = self.height;
        while self.eat(Tok::Comma) {
            let token = self.token();
            if token.kind == Tok::RParen {
                break;
            }
            if token.kind == Tok::Tilde && self.tilde == Some(open) && self.cursor.second().kind == Tok::RParen {
                self.bump();
                rest.push(Expr { kind: ExprKind::Name("~".to_owned()), span: token.start..token.end });
            } else {
                rest.push(self.expr()?);
                height = height.max(self.height);
            }
        }
        self.expect(Tok::RParen, "`,` or `)`")?;
        self.height = height;
        Ok(rest)
    }

    /// `[a, b]`
    fn array(&mut self) -> Parsed<Expr> {
        let open = self.token();
        let items = self.bracketed(false, |p| {
            let (items, height) = p.listed()?;
            let token = p.token();
            if token.kind == Tok::Semi
                || (token.space_before && matches!(token.kind, Tok::Ident | Tok::Int | Tok::Real))
            {
                let help = "write the elements with commas between them, and fill matrices element by element";
                let message = "an array is written with commas; matrices cannot be written out";
                return Err(p.error(codes::SYNTAX, token.start..token.end, message, help));
            }
            p.expect(Tok::RBrack, "`,` or `]`")?;
            p.height = height;
            Ok(items)
        })?;
        self.build(ExprKind::Array(items), open.start..self.last_end, self.height)
    }

    /// The suffixes of an operand: `(…)`, `.(…)`, `[…]`, `.name`, `'`, `{…}`.
    pub(super) fn postfix(&mut self, mut expr: Expr) -> Parsed<Expr> {
        loop {
            let token = self.token();
            if token.kind == Tok::Typed && !self.new_line() {
                // `x::∅`
                if self.cursor.second().kind == Tok::Empty {
                    return Ok(expr);
                }
                self.bump();
                let (start, height) = (expr.span.start, self.height);
                let ty = self.type_expr()?;
                expr = self.build(ExprKind::Typed(Box::new(expr), ty), start..self.last_end, height)?;
                continue;
            }
            if token.space_before {
                return Ok(expr);
            }
            // `2(x + 1)` is a product.
            if token.kind == Tok::LParen && matches!(expr.kind, ExprKind::Int(_) | ExprKind::Real(_)) {
                return Ok(expr);
            }
            let start = expr.span.start;
            let height = self.height;
            let kind = match token.kind {
                Tok::LParen => self.call(expr, false)?,
                Tok::LBrack => {
                    let index = self.index()?;
                    ExprKind::Index(Box::new(expr), index)
                }
                Tok::LBrace => self.applied_type(expr)?,
                Tok::Prime => {
                    self.bump();
                    ExprKind::Adjoint(Box::new(expr))
                }
                Tok::Dot => {
                    self.bump();
                    let name = self.token();
                    match name.kind {
                        Tok::LParen if self.adjacent() => self.call(expr, true)?,
                        Tok::Ident | Tok::Kw(_) if self.adjacent() => {
                            self.bump();
                            let span = name.start..name.end;
                            ExprKind::Field(Box::new(expr), Name { text: self.text_of(name).to_owned(), span })
                        }
                        // `x.:1`
                        Tok::Colon if self.adjacent() && self.cursor.second().kind == Tok::Int => {
                            self.bump();
                            let number = self.bump();
                            let span = number.start..number.end;
                            ExprKind::Field(Box::new(expr), Name { text: self.text_of(number).to_owned(), span })
                        }
                        _ => return Err(self.unexpected("a field's name")),
                    }
                }
                _ => return Ok(expr),
            };
            let height = height.max(self.height);
            expr = self.build(kind, start..self.last_end, height)?;
        }
    }

    fn call(&mut self, callee: Expr, dot: bool) -> Parsed<ExprKind> {
        let outer = std::mem::replace(&mut self.in_dict, is_dict(&callee));
        let read = self.bracketed(false, Self::args);
        self.in_dict = outer;
        let (args, keywords) = read?;
        Ok(ExprKind::Call { callee: Box::new(callee), dot, args, keywords })
    }

    /// `(a, b; k = c)`
    fn args(&mut self) -> Parsed<Args> {
        let open = self.bump();
        let (mut args, mut keywords) = (Vec::new(), Vec::new());
        let (mut after, mut height) = (false, 0);
        loop {
            if self.at(Tok::Semi) && !after {
                self.bump();
                after = true;
                continue;
            }
            if self.eat(Tok::RParen) {
                self.height = height;
                return Ok((args, keywords));
            }
            let token = self.token();
            if token.kind == Tok::Ident && self.cursor.second().kind == Tok::Equals {
                let name = self.name("a keyword")?;
                self.bump();
                keywords.push((name, self.expr()?));
            } else {
                let mut arg = self.function_or_expr()?;
                // `Dict(k => v)`: a pair.
                if self.in_dict && self.eat(Tok::Pair) {
                    let (start, height, value) = (arg.span.start, self.height, self.expr()?);
                    let height = height.max(self.height);
                    arg = self.build(ExprKind::Tuple(vec![arg, value]), start..self.last_end, height)?;
                }
                // `f(x; k...)`: all keywords in k.
                if after && self.at(Tok::Splat) {
                    let dots = self.bump();
                    keywords.push((Name { text: "...".to_owned(), span: dots.start..dots.end }, arg));
                    if !self.at(Tok::RParen) {
                        self.expect(Tok::Comma, "`,` or `)`")?;
                    }
                    continue;
                }
                match arg.kind {
                    // `f(x; k)` is short for `f(x; k = k)`.
                    ExprKind::Name(ref text) if after => {
                        keywords.push((Name { text: text.clone(), span: arg.span.clone() }, arg));
                    }
                    _ if after || (!keywords.is_empty() && !self.at(Tok::Splat)) => {
                        let help = "write `name = value` for keywords, and positional arguments before them";
                        self.error(codes::ARGUMENT, arg.span, "a positional argument follows keywords", help);
                    }
                    _ => args.push(arg),
                }
            }
            height = height.max(self.height);
            if self.at(Tok::Splat) {
                if let Some(last) = args.pop() {
                    let span = last.span.start..self.token().end;
                    args.push(Expr { kind: ExprKind::Splat(Box::new(last)), span });
                }
                self.bump();
            }
            match self.kind() {
                Tok::Comma => {
                    self.bump();
                }
                Tok::Semi | Tok::RParen => {}
                Tok::Eof => {
                    let help = "close it where the arguments end";
                    return Err(self.error(codes::SYNTAX, open.start..open.end, "this `(` is not closed", help));
                }
                _ => return Err(self.unexpected("`,` or `)`")),
            }
            if self.at(Tok::Semi) && after {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
    }

    /// An expression, or a function without a name: `x -> x^2`. That is a function of the host, and its text is its name.
    fn function_or_expr(&mut self) -> Parsed<Expr> {
        let start = self.token().start;
        let Some(params) = self.lambda_params() else { return self.expr() };
        let body = self.deeper(Self::expr)?;
        let span = start..body.span.end;
        let text = self.slice(span.clone()).split_whitespace().collect::<Vec<_>>().join(" ");
        let name = Name { text: text.clone(), span: span.clone() };
        if self.muted == 0 {
            let (type_params, scope, values) = (Vec::new(), self.scope.clone(), Vec::new());
            let function = HostFunction {
                name,
                params,
                keywords: Vec::new(),
                type_params,
                body,
                span: span.clone(),
                scope,
                values,
            };
            self.tree.items.push(Item::Host(function));
        }
        Ok(Expr { kind: ExprKind::Name(text), span })
    }

    /// Takes `x ->` or `(x, y) ->`, if that comes next.
    fn lambda_params(&mut self) -> Option<Vec<Param>> {
        let mut ahead = self.cursor;
        let mut params = Vec::new();
        let mut name = |ahead: &mut Cursor<'_>| {
            let token = ahead.token;
            let is = token.kind == Tok::Ident;
            if is {
                let name = Name { text: self.text_of(token).to_owned(), span: token.start..token.end };
                params.push(Param { name, ty: None, default: None, rest: false, count: None });
                ahead.bump();
            }
            is
        };
        if ahead.token.kind == Tok::LParen {
            ahead.bump();
            while name(&mut ahead) && ahead.token.kind == Tok::Comma {
                ahead.bump();
            }
            if ahead.token.kind != Tok::RParen {
                return None;
            }
            ahead.bump();
        } else if !name(&mut ahead) {
            return None;
        }
        if ahead.token.kind != Tok::Arrow {
            return None;
        }
        while self.token().start < ahead.token.start {
            self.bump();
        }
        self.bump();
        Some(params)
    }

    /// What is listed after `[`, and its height.
    fn listed(&mut self) -> Parsed<(Vec<Expr>, usize)> {
        self.bump();
        let (mut items, mut height) = (Vec::new(), 0);
        while !self.at(Tok::RBrack) {
            items.push(self.expr()?);
            height = height.max(self.height);
            // `x[i...]`: the parts of a tuple.
            if let (true, Some(last)) = (self.in_index && self.at(Tok::Splat), items.last_mut()) {
                let span = last.span.start..self.token().end;
                let inner = std::mem::replace(last, Expr { kind: ExprKind::Colon, span: span.clone() });
                *last = Expr { kind: ExprKind::Splat(Box::new(inner)), span };
                self.bump();
            }
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        Ok((items, height))
    }

    /// `[i, j]`
    fn index(&mut self) -> Parsed<Vec<Expr>> {
        self.bracketed(true, |p| {
            let (items, height) = p.listed()?;
            p.expect(Tok::RBrack, "`,` or `]`")?;
            p.height = height;
            Ok(items)
        })
    }

    /// `Complex{T}`: the operand before the brace must be the name of a type.
    fn applied_type(&mut self, expr: Expr) -> Parsed<ExprKind> {
        let start = expr.span.start;
        let name = match expr.kind {
            ExprKind::Name(text) => Name { text, span: expr.span },
            ExprKind::Field(_, name) => name,
            _ => return Err(self.unexpected("an operator or the end of the statement")),
        };
        let ty = self.deeper(|p| p.type_rest(start, name))?;
        self.height = 1;
        Ok(ExprKind::Type(ty))
    }

    /// The text between two positions, without white space around it.
    pub(super) fn trimmed(&self, span: Span) -> String {
        self.slice(span).trim().to_owned()
    }
}

/// Whether an expression is `Dict` or `Dict{K,V}`.
fn is_dict(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Name(name) => name == "Dict",
        ExprKind::Type(t) => t.name.text == "Dict",
        _ => false,
    }
}
