//! The reader: a recursive descent over the tokens.

use pendula_isa::budget::{Budget, Exceeded};
use pendula_isa::diagnostic::Diagnostic;

use super::lex::{Name, Tok, Token, first_of, tokens};
use super::syntax::{Ast, Dec, ExpId, Function, Ident, ModExp, Operator, Path, Span, TypeParam};
use super::types::Prim;
use crate::errors;

mod expressions;
mod patterns;
mod terms;
mod types;

type Parsed<T> = Result<T, Box<Diagnostic>>;

/// The state of the reader.
pub(super) struct Parser<'a> {
    ast: &'a mut Ast,
    file: u16,
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    budget: Budget,
}

/// Reads the declarations of a file.
pub(super) fn program(ast: &mut Ast, file: u16, text: &str, budget: Budget) -> Parsed<Vec<Dec>> {
    budget.large(text.len() as u64, || "the source".to_string()).map_err(|e| Box::new(e.diagnostic()))?;
    if text.len() >= u32::MAX as usize {
        return Err(Box::new(
            Exceeded::new(pendula_isa::budget::Resource::Bytes, u32::MAX.into(), "the source").diagnostic(),
        ));
    }
    let tokens = tokens(file, text)?;
    ast.single = first_of(Prim::F32, &tokens).map(|token| Span { file, from: token.from as u32, to: token.to as u32 });
    let mut parser = Parser { ast, file, tokens, at: 0, depth: 0, budget };
    let decs = parser.decs()?;
    if *parser.peek() != Tok::End {
        return Err(parser.unexpected("a declaration"));
    }
    Ok(decs)
}

impl Parser<'_> {
    fn peek(&self) -> &Tok {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &Tok {
        self.tokens.get(self.at + ahead).map_or(&Tok::End, |t| &t.tok)
    }

    /// Whether the next token stands right behind the last.
    fn close(&self) -> bool {
        self.tokens.get(self.at).is_some_and(|t| t.close)
    }

    fn close_at(&self, ahead: usize) -> bool {
        self.tokens.get(self.at + ahead).is_some_and(|t| t.close)
    }

    fn span_at(&self, at: usize) -> Span {
        let token = &self.tokens[at.min(self.tokens.len() - 1)];
        Span { file: self.file, from: token.from as u32, to: token.to as u32 }
    }

    /// The place of the next token.
    fn span(&self) -> Span {
        self.span_at(self.at)
    }

    /// The place of the last token.
    fn last_span(&self) -> Span {
        self.span_at(self.at.saturating_sub(1))
    }

    fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    /// An error that says what was expected instead of the next token.
    fn unexpected(&self, what: &str) -> Box<Diagnostic> {
        let found = match self.peek() {
            Tok::Name(name) => format!("the name `{name}`"),
            Tok::Word(word) => format!("`{word}`"),
            Tok::Int(..) | Tok::Float(..) => "a number".to_string(),
            Tok::Op(op) => format!("`{op}`"),
            Tok::Constr(name) => format!("`#{name}`"),
            Tok::Mark(mark) => format!("`{mark}`"),
            Tok::Text(text) => format!("`\"{text}\"`"),
            Tok::Dot => "`.`".to_string(),
            Tok::End => "the end of the file".to_string(),
        };
        Box::new(
            Diagnostic::error(errors::FUT_SYNTAX, format!("expected {what}, found {found}"))
                .at(self.span().place(), format!("not {what}")),
        )
    }

    /// An error about something that is not read, with its name.
    fn unread(&self, span: Span, what: &str, instead: &str) -> Box<Diagnostic> {
        Box::new(
            Diagnostic::error(errors::FUT_UNREAD, format!("{what} are not read"))
                .at(span.place(), "not read")
                .help(instead.to_string()),
        )
    }

    fn is_mark(&self, mark: &str) -> bool {
        matches!(self.peek(), Tok::Mark(m) if *m == mark)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Tok::Word(w) if *w == word)
    }

    fn is_op(&self, op: &str) -> bool {
        matches!(self.peek(), Tok::Op(o) if &**o == op)
    }

    fn eat_mark(&mut self, mark: &str) -> bool {
        let is = self.is_mark(mark);
        if is {
            self.advance();
        }
        is
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        if is {
            self.advance();
        }
        is
    }

    fn eat_op(&mut self, op: &str) -> bool {
        let is = self.is_op(op);
        if is {
            self.advance();
        }
        is
    }

    fn mark(&mut self, mark: &str) -> Parsed<()> {
        if self.eat_mark(mark) { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    fn word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    fn op(&mut self, op: &str) -> Parsed<()> {
        if self.eat_op(op) { Ok(()) } else { Err(self.unexpected(&format!("`{op}`"))) }
    }

    fn ident(&mut self, what: &str) -> Parsed<Ident> {
        let Tok::Name(name) = self.peek() else { return Err(self.unexpected(what)) };
        let ident = Ident { name: name.clone(), span: self.span() };
        self.advance();
        Ok(ident)
    }

    /// A field's name: a name or a number.
    fn field(&mut self) -> Parsed<Ident> {
        if let Tok::Int(n, None) = self.peek() {
            let ident = Ident { name: n.to_string().into(), span: self.span() };
            self.advance();
            return Ok(ident);
        }
        self.ident("a field")
    }

    /// Runs `read` one level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        self.budget
            .nested(self.depth, || "this expression".to_string())
            .map_err(|e| Box::new(e.diagnostic().at(self.span().place(), "too deep")))?;
        let found = stacker::maybe_grow(128 << 10, 1 << 20, || read(self))?;
        self.depth -= 1;
        Ok(found)
    }

    /// Items between commas, up to a closing mark, which is read.
    fn separated<T>(&mut self, end: &str, mut read: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut found = Vec::new();
        while !self.eat_mark(end) {
            found.push(read(self)?);
            if !self.eat_mark(",") {
                self.mark(end)?;
                break;
            }
        }
        Ok(found)
    }

    fn add(&mut self, exp: super::syntax::Exp, from: Span) -> ExpId {
        let span = from.to(self.last_span());
        self.ast.add(exp, span)
    }

    /// Skips attributes, `#[…]`.
    fn attributes(&mut self) -> Parsed<()> {
        while self.eat_mark("#[") {
            let mut open = 1;
            while open > 0 {
                match self.peek() {
                    Tok::Mark("[" | "#[") => open += 1,
                    Tok::Mark("]") => open -= 1,
                    Tok::End => return Err(self.unexpected("`]`")),
                    _ => {}
                }
                self.advance();
            }
        }
        Ok(())
    }

    fn decs(&mut self) -> Parsed<Vec<Dec>> {
        let mut decs = Vec::new();
        loop {
            self.attributes()?;
            if matches!(self.peek(), Tok::End) || self.is_mark("}") {
                return Ok(decs);
            }
            decs.push(self.nested(Self::dec)?);
        }
    }

    fn dec(&mut self) -> Parsed<Dec> {
        let from = self.span();
        match self.peek() {
            Tok::Word("def" | "let") => {
                self.advance();
                self.def(false)
            }
            Tok::Word("entry") => {
                self.advance();
                self.def(true)
            }
            Tok::Word("val") => {
                self.advance();
                let name = self.binder()?;
                let params = self.type_params()?;
                self.mark(":")?;
                Ok(Dec::Val { name, params, is: self.type_exp()? })
            }
            Tok::Word("type") => {
                self.advance();
                self.type_dec()
            }
            Tok::Word("module") => {
                self.advance();
                self.module_dec(from)
            }
            Tok::Word("open") => {
                self.advance();
                Ok(Dec::Open(self.mod_exp()?))
            }
            Tok::Word("import") => {
                self.advance();
                let (name, span) = self.text()?;
                Ok(Dec::Import(name, span))
            }
            Tok::Word("local") => {
                self.advance();
                self.attributes()?;
                Ok(Dec::Local(Box::new(self.nested(Self::dec)?)))
            }
            _ => Err(self.unexpected("a declaration")),
        }
    }

    /// A module's declaration, behind the word.
    fn module_dec(&mut self, from: Span) -> Parsed<Dec> {
        if self.is_word("type") {
            let instead = "leave the module type out; a module without one shows all its members";
            return Err(self.unread(from.to(self.span()), "module types", instead));
        }
        let name = self.ident("the module's name")?;
        if self.is_mark("(") {
            let instead = "write the module without parameters, or make its members functions of what differs";
            return Err(self.unread(name.span, "modules with parameters", instead));
        }
        if self.is_mark(":") {
            let instead = "leave the module type out; a module without one shows all its members";
            return Err(self.unread(self.span(), "module types", instead));
        }
        self.op("=")?;
        Ok(Dec::Module { name, is: self.mod_exp()? })
    }

    fn mod_exp(&mut self) -> Parsed<ModExp> {
        if self.eat_mark("{") {
            let decs = self.decs()?;
            self.mark("}")?;
            return Ok(ModExp::Decs(decs));
        }
        if self.eat_word("import") {
            let (name, span) = self.text()?;
            return Ok(ModExp::Import(name, span));
        }
        Ok(ModExp::Path(self.path("a module")?))
    }

    /// A text between quotation marks.
    fn text(&mut self) -> Parsed<(Name, Span)> {
        let Tok::Text(text) = self.peek() else { return Err(self.unexpected("a name between quotation marks")) };
        let found = (text.clone(), self.span());
        self.advance();
        Ok(found)
    }

    /// A name with modules before it; the dots behind a value are read, too.
    fn path(&mut self, what: &str) -> Parsed<Path> {
        let mut path = vec![self.ident(what)?];
        while matches!(self.peek(), Tok::Dot) && matches!(self.peek_at(1), Tok::Name(_)) {
            self.advance();
            path.push(self.ident(what)?);
        }
        Ok(path)
    }

    /// Size and type parameters: `[n] 'a '^b`.
    fn type_params(&mut self) -> Parsed<Vec<TypeParam>> {
        let mut params = Vec::new();
        loop {
            if self.is_mark("[") && matches!(self.peek_at(1), Tok::Name(_)) && matches!(self.peek_at(2), Tok::Mark("]"))
            {
                self.advance();
                params.push(TypeParam::Size(self.ident("a size")?));
                self.mark("]")?;
            } else if self.eat_mark("'") {
                if !self.eat_op("^") {
                    self.eat_mark("~");
                }
                params.push(TypeParam::Type(self.ident("a type")?));
            } else {
                return Ok(params);
            }
        }
    }

    fn type_dec(&mut self) -> Parsed<Dec> {
        if !self.eat_op("^") {
            self.eat_mark("~");
        }
        let name = self.ident("the type's name")?;
        let params = self.type_params()?;
        self.op("=")?;
        Ok(Dec::Type { name, params, is: self.type_exp()? })
    }

    /// A definition, behind its word.
    fn def(&mut self, entry: bool) -> Parsed<Dec> {
        // `def x op y = …` defines an operator.
        if let Some((first, operator, second)) = self.infix_head()? {
            let params = vec![first, second];
            let function = self.function_rest(Vec::new(), params)?;
            return Ok(Dec::Def { name: operator, entry, function });
        }
        let name = self.binder()?;
        let (type_params, params) = self.function_head()?;
        let function = self.function_rest(type_params, params)?;
        Ok(Dec::Def { name, entry, function })
    }

    /// What a definition binds: a name or an operator in parentheses.
    fn binder(&mut self) -> Parsed<Ident> {
        if self.is_mark("(") && matches!(self.peek_at(1), Tok::Op(_)) && matches!(self.peek_at(2), Tok::Mark(")")) {
            self.advance();
            let Tok::Op(op) = self.peek() else { return Err(self.unexpected("an operator")) };
            let ident = Ident { name: op.clone(), span: self.span() };
            self.advance();
            self.mark(")")?;
            return Ok(ident);
        }
        self.ident("a name")
    }

    /// The parameters of a function.
    fn function_head(&mut self) -> Parsed<(Vec<TypeParam>, Vec<super::syntax::Pat>)> {
        let type_params = self.type_params()?;
        let mut params = Vec::new();
        while self.begins_pattern() {
            params.push(self.simple_pattern()?);
        }
        Ok((type_params, params))
    }

    /// `: type = body`.
    fn function_rest(&mut self, type_params: Vec<TypeParam>, params: Vec<super::syntax::Pat>) -> Parsed<Function> {
        let result = if self.eat_mark(":") { Some(self.type_exp()?) } else { None };
        self.op("=")?;
        let body = self.exp()?;
        Ok(Function { type_params, params, result, body })
    }

    /// `x op y` before `=`; nothing is read if it is not that.
    fn infix_head(&mut self) -> Parsed<Option<(super::syntax::Pat, Ident, super::syntax::Pat)>> {
        let (begin, depth) = (self.at, self.depth);
        if !self.begins_pattern() {
            return Ok(None);
        }
        let Ok(first) = self.simple_pattern() else {
            (self.at, self.depth) = (begin, depth);
            return Ok(None);
        };
        let operator = match self.peek() {
            Tok::Op(op) if &**op != "=" => Ident { name: op.clone(), span: self.span() },
            Tok::Mark("`") => {
                self.advance();
                let ident = self.ident("a function")?;
                Ident { name: ident.name, span: ident.span }
            }
            _ => {
                self.at = begin;
                return Ok(None);
            }
        };
        self.advance();
        let second = self.simple_pattern()?;
        Ok(Some((first, operator, second)))
    }

    /// An operator between two expressions, if one comes: a symbol, one of a module, or a name between backquotes.
    fn operator(&mut self) -> Parsed<Option<Operator>> {
        let from = self.span();
        match self.peek() {
            Tok::Op(op) if &**op != "=" && &**op != "->" => {
                let path = vec![Ident { name: op.clone(), span: from }];
                self.advance();
                Ok(Some(Operator { path, span: from }))
            }
            Tok::Mark("`") => {
                self.advance();
                let path = self.path("a function")?;
                self.mark("`")?;
                Ok(Some(Operator { path, span: from.to(self.last_span()) }))
            }
            Tok::Name(_) => {
                let Some(names) = self.qualified_symbol() else { return Ok(None) };
                let mut path = Vec::new();
                for _ in 0..names {
                    path.push(self.ident("a module")?);
                    self.advance();
                }
                let Tok::Op(op) = self.peek() else { return Err(self.unexpected("an operator")) };
                path.push(Ident { name: op.clone(), span: self.span() });
                self.advance();
                Ok(Some(Operator { path, span: from.to(self.last_span()) }))
            }
            _ => Ok(None),
        }
    }

    /// The number of modules before a symbol, `f64.-`, if that comes.
    fn qualified_symbol(&self) -> Option<usize> {
        let mut names = 0;
        loop {
            if !matches!(self.peek_at(2 * names), Tok::Name(_)) || !matches!(self.peek_at(2 * names + 1), Tok::Dot) {
                return None;
            }
            names += 1;
            if matches!(self.peek_at(2 * names), Tok::Op(_)) && self.close_at(2 * names) {
                return Some(names);
            }
        }
    }
}
