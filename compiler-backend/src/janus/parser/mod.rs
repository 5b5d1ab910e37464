//! The parser: tokens to a tree. It stops at the first error, because it could only guess what follows.

pub mod classic;
mod expr;
mod habit;
mod open;
mod stmt;

use std::collections::HashMap;

use pendula_isa::budget::{Budget, Exceeded, Resource};
use pendula_isa::diagnostic::{Diagnostic, Place};

use super::ast::{Decl, DeclTy, Expr, IntTy, Mode, Name, Procedure, Span, Tree};
use super::codes;
use super::lexer::{Tok, Token, tokens};
use open::Open;

/// The greatest nesting depth of statements and expressions, and the greatest height of an expression tree. A thread's
/// stack must last for them.
const MOST: (u32, u32) = (200, 2000);

/// The reserved words.
const RESERVED: &[&str] = &[
    "procedure",
    "int",
    "stack",
    "bool",
    "true",
    "false",
    "if",
    "then",
    "else",
    "fi",
    "from",
    "do",
    "loop",
    "until",
    "push",
    "pop",
    "local",
    "delocal",
    "call",
    "uncall",
    "error",
    "skip",
    "empty",
    "top",
    "size",
    "show",
    "print",
    "printf",
    "nil",
];

/// Words that are reserved only in some places, and may be names elsewhere.
const SOFT: &[&str] = &[
    "assert", "iterate", "by", "to", "end", "ancilla", "constant", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
];

/// An error was reported.
pub(super) struct Stop;

type Parsed<T> = Result<T, Stop>;

/// The tree of the procedures that could be read, and the diagnostics.
pub fn parse(file: u16, text: &str) -> (Tree, Vec<Diagnostic>) {
    parse_within(file, text, &Budget::default())
}

/// The same as [`parse`], within a budget.
pub fn parse_within(file: u16, text: &str, budget: &Budget) -> (Tree, Vec<Diagnostic>) {
    let mut parser = Parser::new(file, text, false, budget);
    let failed = !parser.found.is_empty();
    let mut tree = Tree::default();
    if !failed {
        while !parser.is_end() {
            match parser.procedure() {
                Ok(p) => tree.procedures.push(p),
                Err(Stop) => break,
            }
        }
    }
    (tree, parser.found)
}

#[derive(Default)]
struct Parser<'a> {
    file: u16,
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    found: Vec<Diagnostic>,
    budget: Budget,
    depth: u32,
    /// The height of the last expression.
    height: u32,
    statements: u64,
    /// The open constructs, the innermost last.
    open: Vec<Open>,
    /// Whether the statements are those of `main`.
    in_main: bool,
    /// The spelling of names in classic programs by their lower case, and the same for procedures.
    spelling: HashMap<String, String>,
    procedures: HashMap<String, String>,
    /// Variables whose names are operators in other languages; computed when the first such word is found.
    own_words: Option<Vec<&'static str>>,
}

impl<'a> Parser<'a> {
    fn new(file: u16, text: &'a str, classic: bool, budget: &Budget) -> Parser<'a> {
        let (tokens, found) = tokens(file, text, classic);
        Parser { file, text, tokens, found, budget: budget.at_most(MOST.0, MOST.1), ..Parser::default() }
    }

    fn token(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn ahead(&self, n: usize) -> &Token {
        &self.tokens[(self.at + n).min(self.tokens.len() - 1)]
    }

    fn is_end(&self) -> bool {
        self.token().tok == Tok::End
    }

    fn start(&self) -> usize {
        self.token().span.start
    }

    /// The range from `start` to the end of the last token.
    fn since(&self, start: usize) -> Span {
        let end = self.at.checked_sub(1).and_then(|n| self.tokens.get(n)).map_or(start, |t| t.span.end);
        start..end.max(start)
    }

    fn word_of(&self, token: &Token) -> &'a str {
        if token.tok == Tok::Word { self.text.get(token.span.clone()).unwrap_or("") } else { "" }
    }

    fn is_word(&self, word: &str) -> bool {
        self.word_of(self.token()) == word
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.token().tok, Tok::Sign(s) if s == sign)
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        self.at += usize::from(is);
        is
    }

    fn eat_sign(&mut self, sign: &str) -> bool {
        let is = self.is_sign(sign);
        self.at += usize::from(is);
        is
    }

    fn fail<T>(&mut self, code: &'static str, span: Span, message: String, help: &str) -> Parsed<T> {
        let place = Place { file: self.file, span };
        self.found.push(Diagnostic::error(code, message).at(place, "").help(help));
        Err(Stop)
    }

    /// Reports that the next token is not the expected one.
    fn expected<T>(&mut self, what: &str, help: &str) -> Parsed<T> {
        let (span, found) = (self.token().span.clone(), self.found_here());
        self.fail(codes::SYNTAX, span, format!("{what} was expected here, found {found}"), help)
    }

    fn sign(&mut self, sign: &'static str, help: &str) -> Parsed<()> {
        if self.eat_sign(sign) { Ok(()) } else { self.expected(&format!("`{sign}`"), help) }
    }

    fn word(&mut self, word: &'static str, help: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.expected(&format!("`{word}`"), help) }
    }

    fn is_name(&self, token: &Token) -> bool {
        token.tok == Tok::Word && !RESERVED.contains(&self.word_of(token))
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        if !self.is_name(self.token()) {
            let word = self.word_of(self.token());
            let help = if !word.is_empty() {
                format!("`{word}` is reserved and names nothing")
            } else {
                "a name begins with a letter".to_string()
            };
            return self.expected(what, &help);
        }
        let token = self.token();
        let name = Name { text: self.word_of(token).to_string(), span: token.span.clone() };
        self.at += 1;
        Ok(name)
    }

    /// Runs a part one level deeper.
    fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if let Err(exceeded) = self.budget.nested(self.depth + 1, || "this".to_string()) {
            return self.exceeded(&exceeded.instead("move a part of it into a procedure or a local variable"));
        }
        self.depth += 1;
        let out = part(self);
        self.depth -= 1;
        out
    }

    /// Checks the height of the last expression. Operators side by side each add a level.
    fn high(&mut self, height: u32) -> Parsed<()> {
        self.height = height;
        let limit = u64::from(self.budget.height);
        match Resource::Depth.within(limit, height.into(), || "this expression, operator upon operator,".to_string()) {
            Ok(()) => Ok(()),
            Err(exceeded) => self.exceeded(&exceeded.instead("put a part of it into a local variable")),
        }
    }

    /// Counts one more statement.
    fn counted(&mut self) -> Parsed<()> {
        self.statements += 1;
        match self.budget.program(self.statements, || "the program".to_string()) {
            Ok(()) => Ok(()),
            Err(exceeded) => self.exceeded(&exceeded.instead("use loops and procedures instead of so many copies")),
        }
    }

    /// Reports that the budget is exceeded here.
    fn exceeded<T>(&mut self, exceeded: &Exceeded) -> Parsed<T> {
        let place = Place { file: self.file, span: self.token().span.clone() };
        self.found.push(exceeded.diagnostic().at(place, ""));
        Err(Stop)
    }

    /// A list in parentheses.
    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut out = Vec::new();
        self.sign("(", "a list is in parentheses")?;
        if self.eat_sign(")") {
            return Ok(out);
        }
        loop {
            out.push(one(self)?);
            if self.eat_sign(")") {
                return Ok(out);
            }
            self.sign(",", "what a list has is separated by commas, and it ends with `)`")?;
        }
    }

    fn procedure(&mut self) -> Parsed<Procedure> {
        let start = self.start();
        self.word("procedure", "a program is a list of procedures: `procedure main() … `")?;
        let name = self.name("the name of a procedure")?;
        let mut decls = self.list(Self::decl)?;
        if name.text == "main" {
            if let Some(d) = decls.first() {
                let span = d.span.clone();
                let help = "its variables are declared behind the parentheses";
                return self.fail(codes::MAIN, span, "`main` has no parameters".to_string(), help);
            }
            while self.declares().is_some() {
                decls.push(self.decl()?);
            }
        }
        self.in_main = name.text == "main";
        let body = self.statements("a statement", &["procedure"])?;
        Ok(Procedure { name, decls, body, span: self.since(start) })
    }

    /// The type of a declaration, if one begins here. A missing name after the type is reported later.
    fn declares(&self) -> Option<DeclTy> {
        let mode = matches!(self.word_of(self.token()), "ancilla" | "constant");
        let (n, next) = if mode { (1, 2) } else { (0, 1) };
        let word = self.word_of(self.ahead(n));
        let ty = if word == "stack" { DeclTy::Stack } else { DeclTy::Int(IntTy::named(word)?) };
        let reserved = RESERVED.contains(&word);
        (reserved || self.ahead(next).tok == Tok::Word).then_some(ty)
    }

    /// `int a[3] = {1, 2, 3}`
    fn decl(&mut self) -> Parsed<Decl> {
        let start = self.start();
        let Some(ty) = self.declares() else {
            let help = "variables are declared `int x`, `int a[10]`, `stack s`; with a size `i8` to `u64`";
            return self.expected("a declaration", help);
        };
        let mode = match self.word_of(self.token()) {
            "ancilla" => Mode::Ancilla,
            "constant" => Mode::Constant,
            _ => Mode::Plain,
        };
        self.at += 1 + usize::from(mode != Mode::Plain);
        let name = self.name("the name of a variable")?;
        let mut dims = Vec::new();
        while ty != DeclTy::Stack && self.eat_sign("[") {
            let dim = if self.is_sign("]") { None } else { Some(self.expr()?) };
            self.sign("]", "a size is in brackets: `int a[10]`")?;
            dims.push(dim);
        }
        let init = if self.eat_sign("=") { Some(self.initial()?) } else { None };
        Ok(Decl { mode, ty, name, dims, init, span: self.since(start) })
    }

    /// An expression, or an array `{…}`.
    fn initial(&mut self) -> Parsed<Expr> {
        if !self.is_sign("{") {
            return self.expr();
        }
        self.nested(|p| {
            let start = p.start();
            p.at += 1;
            let mut list = Vec::new();
            while !p.eat_sign("}") {
                if !list.is_empty() {
                    p.sign(",", "elements are separated by commas, and end with `}`")?;
                }
                list.push(p.initial()?);
            }
            Ok(Expr { kind: super::ast::ExprKind::List(list), span: p.since(start), closed: true })
        })
    }
}
