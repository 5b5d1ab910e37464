//! Reads the top level: functions, structs, `using` and constants. Everything else is host code.

use super::super::ast::{AssignOp, Binary, Expr, ExprKind, Function, Item, Name, Param, Span, Struct, Unary};
use super::super::codes;
use super::super::token::{Kw, Tok, Token};
use super::text::documentation;
use super::{Failed, Parsed, Parser};

/// The help text for a faulty function head.
const HEAD: &str = "a head is `@i function f(x, y::T; k = 1) where T`, or `@i function (:+=)(f)(y, x)` for `y += f(x)`";

impl Parser<'_> {
    /// Reads all items of the file.
    pub(super) fn items(&mut self) {
        while !self.at(Tok::Eof) {
            (self.lines, self.in_index, self.in_choice) = (true, false, false);
            (self.depth, self.brackets, self.end_missing) = (0, 0, false);
            (self.suspect, self.else_if) = (None, None);
            self.stmt_start = self.token().start;
            self.item();
            if !matches!(self.kind(), Tok::Str { .. } | Tok::Macro) {
                self.doc = None;
            }
        }
        if let Some(opener) = self.modules.pop() {
            self.block_without_end(opener);
        }
    }

    fn item(&mut self) {
        let token = self.token();
        let doc = self.doc.take();
        match token.kind {
            Tok::Semi => {
                self.bump();
            }
            Tok::Macro if self.starts_item() => self.doc_item(doc),
            Tok::Str { .. } => {
                let next = self.cursor.second();
                if next.kind == Tok::Macro && matches!(self.text_of(next), "@i" | "@inline") {
                    self.doc = Some(documentation(self.text_of(token)));
                    self.bump();
                } else {
                    self.host("a text");
                }
            }
            Tok::Kw(Kw::Using | Kw::Import) => self.using(),
            Tok::Kw(Kw::Struct) => self.struct_item(token.start),
            Tok::Ident if self.text_of(token) == "mutable" && self.cursor.second().kind == Tok::Kw(Kw::Struct) => {
                self.bump();
                self.struct_item(token.start);
            }
            Tok::Kw(Kw::Const) => self.constant(),
            Tok::Ident if self.cursor.second().kind == Tok::Equals => self.constant(),
            Tok::Kw(Kw::Module | Kw::Baremodule) => {
                self.bump();
                self.modules.push(token.start..token.end);
                if self.name("the module's name").is_err() {
                    self.recover(0);
                }
            }
            Tok::Kw(Kw::End) if self.modules.pop().is_some() => {
                self.bump();
            }
            Tok::Kw(Kw::End | Kw::Else | Kw::Elseif) => {
                let text = self.text_of(token);
                let help = "remove it, or write the beginning of its block";
                let message = format!("this `{text}` belongs to no block");
                self.error(codes::STRAY, token.start..token.end, message, help);
                self.bump();
                if !self.new_line() {
                    self.recover(0);
                }
            }
            kind => {
                let what = match kind {
                    Tok::Kw(Kw::Function) => "a plain `function`".to_owned(),
                    Tok::Kw(Kw::Macro) => "a `macro`".to_owned(),
                    Tok::Kw(Kw::For | Kw::While) => "a loop".to_owned(),
                    Tok::Kw(_) => format!("`{}`", self.text_of(token)),
                    Tok::Macro => format!("`{}`", self.text_of(token)),
                    _ => "a statement outside of functions".to_owned(),
                };
                self.host(&what);
            }
        }
    }

    /// Skips a host statement.
    fn host(&mut self, what: &str) {
        let begins = self.kind();
        let span = self.skip_statement();
        if matches!(begins, Tok::OpenText | Tok::OpenComment) {
            return;
        }
        if span.is_empty() {
            self.bump();
            return;
        }
        self.note_skipped(what.to_owned(), span);
    }

    fn note_skipped(&mut self, what: String, span: Span) {
        if self.muted == 0 {
            self.notes.verbatim.push(span.clone());
            self.tree.skipped.push((what, span));
        }
    }

    /// Whether the next tokens are `@i`, or `@inline @i`.
    pub(super) fn starts_item(&mut self) -> bool {
        let token = self.token();
        match self.text_of(token) {
            "@i" => true,
            "@inline" => {
                let next = self.cursor.second();
                next.kind == Tok::Macro && self.text_of(next) == "@i"
            }
            _ => false,
        }
    }

    /// Reads the item after `@i`.
    fn doc_item(&mut self, doc: Option<String>) {
        let start = self.token().start;
        self.item_column = self.token().column;
        let mut inline = false;
        while self.at(Tok::Macro) {
            let token = self.token();
            match self.text_of(token) {
                "@inline" => inline = true,
                "@i" => {}
                name => {
                    let message = format!("`{name}` cannot stand before a function");
                    self.error(codes::MACRO, token.start..token.end, message, "only `@inline` can: remove it");
                }
            }
            self.bump();
        }
        let token = self.token();
        match token.kind {
            Tok::Kw(Kw::Function) => self.function(start, inline, doc),
            Tok::Kw(Kw::Struct) => self.struct_item(start),
            Tok::Ident if self.text_of(token) == "mutable" => {
                self.bump();
                self.struct_item(start);
            }
            Tok::Ident => {
                let span = token.start..token.end;
                self.error(codes::HEADER, span, "expected `function` or `struct` after `@i`", HEAD);
                self.skip_statement();
            }
            _ => {
                self.unexpected("`function` or `struct`");
                if !self.at(Tok::Eof) && !self.token().line_before {
                    self.skip_statement();
                }
            }
        }
    }

    fn function(&mut self, start: usize, inline: bool, doc: Option<String>) {
        let opener = self.bump();
        let span = opener.start..opener.end;
        let mut function = Function {
            name: Name { text: String::new(), span: span.clone() },
            instruction: None,
            params: Vec::new(),
            keywords: Vec::new(),
            type_params: Vec::new(),
            inline,
            doc,
            body: Vec::new(),
            span: span.clone(),
        };
        if self.head(&mut function).is_err() {
            self.lines = true;
            self.in_index = false;
            self.brackets = 0;
            self.skip_block(&span);
            return;
        }
        function.body = self.block();
        self.block_end(opener, start);
        function.span = start..self.last_end;
        self.tree.items.push(Item::Function(function));
    }

    /// The head of a function up to its body.
    fn head(&mut self, function: &mut Function) -> Parsed<()> {
        let token = self.token();
        match token.kind {
            Tok::Ident => function.name = self.dotted_name()?,
            Tok::LParen | Tok::Colon => {
                function.instruction = Some(self.instruction(token)?);
                self.expect(Tok::LParen, "`(` and the name of a function")?;
                function.name = self.operator_name()?;
                self.expect(Tok::RParen, "`)`")?;
            }
            _ => return Err(self.unexpected("the name of a function")),
        }
        if !self.goes_on(Tok::LParen) {
            return Err(self.unexpected("`(` and the parameters"));
        }
        let (params, keywords) = self.bracketed(false, Self::params)?;
        (function.params, function.keywords) = (params, keywords);
        if self.at(Tok::Typed) {
            let span = self.token().start..self.token().end;
            let help = "remove it: a reversible function gives back its arguments";
            return Err(self.error(codes::HEADER, span, "a reversible function has no result type", help));
        }
        self.where_clauses(&mut function.type_params)
    }

    /// `A.b.f`: the last part is the name.
    fn dotted_name(&mut self) -> Parsed<Name> {
        let mut name = self.name("a name")?;
        while self.at(Tok::Dot) {
            self.bump();
            name = self.name("a name")?;
        }
        Ok(name)
    }

    /// The name of a function, or an operator.
    fn operator_name(&mut self) -> Parsed<Name> {
        let token = self.token();
        match token.kind {
            Tok::Op(..) | Tok::Not | Tok::Tilde | Tok::Root => {
                self.bump();
                Ok(Name { text: self.text_of(token).to_owned(), span: token.start..token.end })
            }
            _ => self.dotted_name(),
        }
    }

    /// `(:+=)` or `:(+=)`.
    fn instruction(&mut self, first: Token) -> Parsed<AssignOp> {
        let second = self.cursor.second();
        let third = self.cursor.third();
        let (Tok::LParen | Tok::Colon, Tok::Assign(op, false)) = (second.kind, third.kind) else {
            if first.kind == Tok::LParen && second.kind != Tok::Colon {
                let span = first.start..second.end;
                return Err(self.error(
                    codes::HEADER,
                    span,
                    "a function must have a name; objects cannot be called",
                    HEAD,
                ));
            }
            self.bump();
            self.bump();
            let token = self.token();
            return Err(self.error(
                codes::HEADER,
                token.start..token.end,
                "expected one of `+=`, `-=`, `⊻=`, `*=`, `/=`",
                HEAD,
            ));
        };
        self.bump();
        self.bump();
        self.bump();
        self.expect(Tok::RParen, "`)`")?;
        Ok(op)
    }

    /// `(a, b::T; c = 1)`
    fn params(&mut self) -> Parsed<(Vec<Param>, Vec<Param>)> {
        self.bump();
        let (mut params, mut keywords) = (Vec::new(), Vec::new());
        let mut after = false;
        loop {
            if self.eat(Tok::RParen) {
                return Ok((params, keywords));
            }
            if self.at(Tok::Semi) && !after {
                self.bump();
                after = true;
                continue;
            }
            let param = self.param()?;
            if after { &mut keywords } else { &mut params }.push(param);
            if !matches!(self.kind(), Tok::RParen | Tok::Semi) {
                self.expect(Tok::Comma, "`,` or `)`")?;
            }
        }
    }

    fn param(&mut self) -> Parsed<Param> {
        let token = self.token();
        if token.kind == Tok::Typed {
            let span = token.start..token.end;
            return Err(self.error(codes::HEADER, span, "this parameter has no name", "write a name before `::`"));
        }
        let name = self.name("a parameter")?;
        let ty = if self.eat(Tok::Typed) { Some(self.type_expr()?) } else { None };
        if self.at(Tok::Splat) {
            self.splat();
            self.bump();
        }
        let default = if self.eat(Tok::Equals) { Some(self.expr()?) } else { None };
        Ok(Param { name, ty, default })
    }

    /// Reports `...`, which is the next token.
    pub(super) fn splat(&mut self) -> Failed {
        let span = self.token().start..self.token().end;
        let help = "write the arguments one by one, or pass an array or a struct";
        self.error(codes::SPLAT, span, "the number of arguments must be known: `...` cannot be used", help)
    }

    fn struct_item(&mut self, start: usize) {
        let opener = self.bump();
        let span = opener.start..opener.end;
        let mut item = Struct {
            name: Name { text: String::new(), span: span.clone() },
            type_params: Vec::new(),
            fields: Vec::new(),
            span,
        };
        if self.struct_head(&mut item).is_err() {
            self.lines = true;
            self.brackets = 0;
            self.skip_block(&item.span);
            return;
        }
        loop {
            let token = self.token();
            match token.kind {
                Tok::Semi | Tok::Kw(Kw::Const) => {
                    self.bump();
                }
                Tok::Kw(Kw::End) | Tok::Eof => break,
                Tok::Ident if self.cursor.second().kind != Tok::LParen && self.cursor.second().kind != Tok::LBrace => {
                    if self.field(&mut item).is_err() {
                        self.recover(0);
                    }
                }
                Tok::Macro if token.column == 0 && self.text_of(token) == "@i" => break,
                Tok::Kw(Kw::Function) | Tok::Macro | Tok::Ident | Tok::Str { .. } => {
                    let span = self.skip_statement();
                    self.note_skipped("a constructor or text inside of a `struct`".to_owned(), span);
                }
                _ => {
                    self.unexpected("a field");
                    self.bump();
                    self.recover(0);
                }
            }
        }
        self.block_end(opener, start);
        item.span = start..self.last_end;
        self.tree.items.push(Item::Struct(item));
    }

    fn struct_head(&mut self, item: &mut Struct) -> Parsed<()> {
        item.name = self.name("the name of the struct")?;
        if self.at(Tok::LBrace) {
            self.type_params(&mut item.type_params)?;
        }
        if self.goes_on(Tok::Subtype) {
            self.type_expr()?;
        }
        Ok(())
    }

    fn field(&mut self, item: &mut Struct) -> Parsed<()> {
        let name = self.name("a field")?;
        let ty = if self.eat(Tok::Typed) { Some(self.type_expr()?) } else { None };
        item.fields.push((name, ty));
        self.statement_end()
    }

    /// `using A, B.C`, `using A: f, g`, `import A as B`: the names of the modules.
    fn using(&mut self) {
        let start = self.bump().start;
        let mut names: Vec<Name> = Vec::new();
        // The names after `:` are names in the module; the name after `as` is an alias.
        let (mut more, mut inside, mut renamed) = (true, false, false);
        while !self.at(Tok::Eof) && (more || !self.token().line_before) && !self.at(Tok::Semi) {
            let token = self.bump();
            more = matches!(token.kind, Tok::Comma | Tok::Colon);
            inside |= token.kind == Tok::Colon;
            renamed &= token.kind != Tok::Comma;
            let text = self.text_of(token);
            renamed |= token.kind == Tok::Ident && text == "as" && token.space_before;
            if more || inside || renamed {
                continue;
            }
            match names.last_mut() {
                Some(last) if last.span.end == token.start => {
                    last.text.push_str(text);
                    last.span.end = token.end;
                }
                _ => names.push(Name { text: text.to_owned(), span: token.start..token.end }),
            }
        }
        // A module of the same file, which is read already.
        names.retain(|name| !name.text.starts_with('.'));
        self.notes.verbatim.push(start..self.last_end);
        self.tree.items.push(Item::Using(names));
    }

    /// `x = 3` or `const x = 3`, if the value is a number; otherwise host code.
    fn constant(&mut self) {
        let before = (self.cursor, self.last_end);
        let found = self.attempt(|p| {
            p.eat(Tok::Kw(Kw::Const));
            let name = p.name("a name")?;
            p.expect(Tok::Equals, "`=`")?;
            let value = p.expr()?;
            p.statement_end()?;
            if p.is_number(&value) { Ok((name, value)) } else { Err(Failed) }
        });
        match found {
            Some((name, value)) => {
                self.constants.insert(name.text.clone());
                self.tree.items.push(Item::Const(name, value));
            }
            None => {
                (self.cursor, self.last_end) = before;
                let token = if self.at(Tok::Kw(Kw::Const)) { self.cursor.second() } else { self.token() };
                let what = format!("the assignment to `{}`", self.text_of(token));
                self.host(&what);
            }
        }
    }

    /// Whether an expression is arithmetic on numbers and constants.
    fn is_number(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Real(_) | ExprKind::Bool(_) => true,
            ExprKind::Name(name) => {
                matches!(name.as_str(), "π" | "pi" | "ℯ" | "im" | "Inf" | "NaN") || self.constants.contains(name)
            }
            ExprKind::Unary(Unary::Minus | Unary::Plus | Unary::Root, inner) => self.is_number(inner),
            ExprKind::Binary { op, dot: false, left, right } => {
                use Binary::{Eq, Ge, Gt, Le, LogicalAnd, LogicalOr, Lt, Ne};
                let decides = matches!(op, LogicalAnd | LogicalOr | Eq | Ne | Lt | Le | Gt | Ge);
                !decides && self.is_number(left) && self.is_number(right)
            }
            _ => false,
        }
    }
}
