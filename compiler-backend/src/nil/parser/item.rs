//! Reads the top level: functions, structs, `using` and constants. Everything else is host code.

use pendula_isa::diagnostic::Severity;

use super::super::ast::{AssignOp, Binary, Expr, ExprKind, Function, Item, Name, Param, Span, Struct, Unary, Unread};
use super::super::codes;
use super::super::token::{Kw, Tok};
use super::text::documentation;
use super::{Failed, Parsed, Parser};

/// The help text for a faulty function head.
const HEAD: &str = "a head is `@i function f(x, y::T; k = 1) where T`, or `@i function (:+=)(f)(y, x)` for `y += f(x)`";

/// The name of the functions that a call of an object of this type reaches.
pub(crate) fn called(ty: &str) -> String {
    format!("(::{ty})")
}

impl Parser<'_> {
    /// Reads all items of the file.
    pub(super) fn items(&mut self) {
        while !self.at(Tok::Eof) {
            self.begin_item();
            let found = self.diagnostics.len();
            self.item();
            // What cannot be read of the host's own code is skipped, too.
            if self.host && !self.stopped {
                self.diagnostics.iter_mut().skip(found).for_each(|d| d.severity = d.severity.min(Severity::Warning));
            }
            if !matches!(self.kind(), Tok::Str { .. } | Tok::Macro) {
                self.doc = None;
            }
        }
        if let Some(opener) = self.modules.pop() {
            self.block_without_end(opener);
        }
        self.end_of_assignments();
        self.end_of_duals();
    }

    /// Resets what belongs to one item.
    pub(super) fn begin_item(&mut self) {
        (self.lines, self.in_index, self.in_choice) = (true, false, false);
        (self.depth, self.brackets, self.end_missing) = (0, 0, false);
        (self.suspect, self.else_if) = (None, None);
        self.stmt_start = self.token().start;
    }

    pub(super) fn item(&mut self) {
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
                if self.host && self.eval_loop() || self.host_function() {
                    return;
                }
                if self.host && self.duals() {
                    return;
                }
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
        let span = self.skip_top_statement();
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

    /// Whether the next tokens are `@i`, or `@inline @i`; in a file of the host, also with `@eval` among them.
    pub(super) fn starts_item(&mut self) -> bool {
        let mut ahead = self.cursor;
        loop {
            let token = ahead.token;
            match self.text_of(token) {
                "@i" => return true,
                "@inline" => {}
                "@eval" if self.host => {}
                _ => return false,
            }
            ahead.bump();
        }
    }

    /// Takes `@i` and `@inline`, and tells whether `@inline` was among them.
    pub(super) fn skip_marks(&mut self) -> bool {
        let mut inline = false;
        while self.at(Tok::Macro) {
            inline |= self.text_of(self.token()) == "@inline";
            self.bump();
        }
        inline
    }

    pub(super) fn marked_item(&mut self, doc: Option<String>) {
        let start = self.token().start;
        self.item_column = self.token().column;
        let mut inline = false;
        while self.at(Tok::Macro) {
            let token = self.token();
            match self.text_of(token) {
                "@inline" => inline = true,
                "@i" => {}
                // What it defines belongs to the module.
                "@eval" if self.host => self.scope.clear(),
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
        let mut function = Function::new(Name { text: String::new(), span: span.clone() }, inline, doc);
        function.scope.clone_from(&self.scope);
        let found = self.diagnostics.len();
        if self.head(&mut function).is_err() {
            self.lines = true;
            self.in_index = false;
            self.brackets = 0;
            self.skip_block(&span);
            if let (true, Some(reason)) = (self.host, self.diagnostics.get(found)) {
                function.unread = Some(Unread { reason: Box::new(reason.clone()), head: false });
                self.tree.items.push(Item::Function(function));
            }
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
        let mut callee = None;
        match token.kind {
            Tok::Ident => function.name = self.dotted_name()?,
            Tok::LParen | Tok::Colon => {
                if token.kind == Tok::LParen && self.cursor.second().kind != Tok::Colon {
                    callee = Some(self.callee()?);
                } else {
                    function.instruction = Some(self.instruction()?);
                    // `(:+=(f))` is the same as `(:+=)(f)`.
                    let inside = token.kind == Tok::LParen && self.at(Tok::LParen);
                    if !inside {
                        self.expect(Tok::RParen, "`)`")?;
                    }
                    self.expect(Tok::LParen, "`(` and the name of a function")?;
                    function.name = self.operator_name()?;
                    self.expect(Tok::RParen, "`)`")?;
                    if inside {
                        self.expect(Tok::RParen, "`)`")?;
                    }
                }
            }
            _ => return Err(self.unexpected("the name of a function")),
        }
        if !self.goes_on(Tok::LParen) {
            return Err(self.unexpected("`(` and the parameters"));
        }
        let (params, keywords) = self.bracketed(false, Self::params)?;
        (function.params, function.keywords) = (params, keywords);
        if let Some(callee) = callee {
            let of = callee.ty.as_ref().map_or("", |ty| ty.name.text.as_str());
            function.name = Name { text: called(of), span: callee.name.span.clone() };
            function.params.insert(0, callee);
        }
        if self.at(Tok::Typed) {
            let span = self.token().start..self.token().end;
            let help = "remove it: a reversible function gives back its arguments";
            return Err(self.error(codes::HEADER, span, "a reversible function has no result type", help));
        }
        self.where_clauses(&mut function.type_params)
    }

    /// `A.b.f`: the last part is the name.
    pub(super) fn dotted_name(&mut self) -> Parsed<Name> {
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

    /// `(f::T)`: the object that is called.
    fn callee(&mut self) -> Parsed<Param> {
        let open = self.bump();
        let named = self.at(Tok::Ident) && self.cursor.second().kind == Tok::Typed || self.at(Tok::Typed);
        if !named {
            let span = open.start..self.token().end;
            return Err(self.error(codes::HEADER, span, "a function must have a name, or an object `(f::T)`", HEAD));
        }
        let param = self.param()?;
        self.expect(Tok::RParen, "`)`")?;
        Ok(param)
    }

    /// `(:+=` or `:(+=`.
    fn instruction(&mut self) -> Parsed<AssignOp> {
        let second = self.cursor.second();
        let third = self.cursor.third();
        let (Tok::LParen | Tok::Colon, Tok::Assign(op, false)) = (second.kind, third.kind) else {
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
        Ok(op)
    }

    /// `(a, b::T; c = 1)`
    pub(super) fn struct_item(&mut self, start: usize) {
        let opener = self.bump();
        let span = opener.start..opener.end;
        let mut item = Struct {
            name: Name { text: String::new(), span: span.clone() },
            type_params: Vec::new(),
            fields: Vec::new(),
            constructor: None,
            span,
            values: Vec::new(),
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
                    if !matches!(token.kind, Tok::Str { .. }) {
                        item.constructor = Some(span.clone());
                    }
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

    /// `x = 3` or `const x = 3`, if the value is a number, or an array or a tuple of such; otherwise host code.
    fn constant(&mut self) {
        let before = (self.cursor, self.last_end);
        let found = self.attempt(|p| {
            p.eat(Tok::Kw(Kw::Const));
            let name = p.name("a name")?;
            p.expect(Tok::Equals, "`=`")?;
            let value = p.expr()?;
            p.statement_end()?;
            if p.is_constant(&value) || is_accumulating(&value) { Ok((name, value)) } else { Err(Failed) }
        });
        match found {
            Some((name, value)) => {
                self.constants.insert(name.text.clone());
                self.tree.items.push(Item::Const(name, value));
            }
            None if self.type_alias() => {}
            None => {
                (self.cursor, self.last_end) = before;
                let token = if self.at(Tok::Kw(Kw::Const)) { self.cursor.second() } else { self.token() };
                let what = format!("the assignment to `{}`", self.text_of(token));
                self.host(&what);
            }
        }
    }

    /// Whether an expression is made of numbers: arithmetic, an array, a tuple.
    pub(super) fn is_constant(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Array(parts) | ExprKind::Tuple(parts) => {
                !parts.is_empty() && parts.iter().all(|part| self.is_constant(part))
            }
            _ => self.is_number(expr),
        }
    }

    /// Whether an expression is arithmetic on numbers and constants.
    pub(super) fn is_number(&self, expr: &Expr) -> bool {
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

/// `PlusEq(f)`: a function.
fn is_accumulating(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Call { callee, dot: false, args, keywords } => {
            let of = matches!(&callee.kind, ExprKind::Name(name) if AssignOp::of_type(name).is_some());
            of && keywords.is_empty() && matches!(&args[..], [Expr { kind: ExprKind::Name(_), .. }])
        }
        _ => false,
    }
}
