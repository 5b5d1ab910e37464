//! Reads the host's part of a file in Julia: what it computes and tests with reversible functions.

mod operands;
mod operators;

use super::lexer::{Kind, Token, tokens};
use super::syntax::{Binary, Expr, Stmt, StmtKind, Target, Test};

/// Words that are no names.
const RESERVED: [&str; 26] = [
    "begin",
    "end",
    "function",
    "if",
    "else",
    "elseif",
    "for",
    "while",
    "let",
    "return",
    "struct",
    "mutable",
    "module",
    "baremodule",
    "using",
    "import",
    "export",
    "const",
    "try",
    "catch",
    "finally",
    "quote",
    "macro",
    "do",
    "global",
    "local",
];

/// Words that begin blocks.
const OPENERS: [&str; 12] =
    ["begin", "function", "if", "for", "while", "let", "struct", "module", "baremodule", "try", "quote", "macro"];

/// Statements and expressions within one another, at most.
const DEPTH: usize = 200;

/// Operands of one level of operators side by side, at most.
const CHAIN: usize = 1_000;

pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// Why something is not read.
type Why = String;

type Parsed<T> = Result<T, Why>;

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    /// Whether line ends do not end an expression.
    joined: bool,
    /// Whether blanks separate elements.
    row: bool,
    /// Whether `:` is no range here.
    no_range: bool,
    depth: usize,
}

/// The statements of a text.
pub(super) fn statements(text: &str) -> Vec<Stmt> {
    let tokens = tokens(text);
    let mut p = Parser { text, tokens, at: 0, joined: false, row: false, no_range: false, depth: 0 };
    let mut out = Vec::new();
    loop {
        out.extend(p.block(&[]));
        if p.at_end() {
            return out;
        }
        // An `end` too many.
        p.at += 1;
    }
}

impl Parser<'_> {
    fn token(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn at_end(&self) -> bool {
        self.token().kind == Kind::End
    }

    fn is(&self, sign: &str) -> bool {
        matches!(&self.token().kind, Kind::Sign(s) if *s == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(&self.token().kind, Kind::Word(w) if w == word)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        self.at += usize::from(is);
        is
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.eat(sign) { Ok(()) } else { Err(format!("expected `{sign}`, found {}", self.found())) }
    }

    fn found(&self) -> String {
        let token = self.token();
        match &token.kind {
            Kind::End => "the end of the file".to_string(),
            _ => format!("`{}`", &self.text[token.span.clone()]),
        }
    }

    fn last_end(&self) -> usize {
        self.at.checked_sub(1).map_or(0, |n| self.tokens[n].span.end)
    }

    /// Whether the expression goes on with the next token.
    fn goes_on(&self) -> bool {
        !self.at_end() && (self.joined || !self.token().line)
    }

    /// Reads with other rules for lines, rows and ranges.
    fn with<T>(
        &mut self,
        (joined, row, no_range): (bool, bool, bool),
        read: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        let before = (self.joined, self.row, self.no_range);
        (self.joined, self.row, self.no_range) = (joined, row, no_range);
        self.depth += 1;
        let out = if self.depth > DEPTH { Err("it is nested too deeply".to_string()) } else { read(self) };
        self.depth -= 1;
        (self.joined, self.row, self.no_range) = before;
        out
    }

    /// Counts the operands of a chain.
    fn link(count: &mut usize) -> Parsed<()> {
        *count += 1;
        if *count > CHAIN { Err("it has too many operands".to_string()) } else { Ok(()) }
    }

    /// Statements up to `end` or one of these words, which is not taken.
    fn block(&mut self, until: &[&str]) -> Vec<Stmt> {
        let before = (self.joined, self.row, self.no_range);
        (self.joined, self.row, self.no_range) = (false, false, false);
        let mut out = Vec::new();
        loop {
            while self.eat(";") {}
            let stops = |w: &String| w == "end" || until.contains(&w.as_str());
            if self.at_end() || matches!(&self.token().kind, Kind::Word(w) if stops(w)) {
                break;
            }
            let (start, begin) = (self.at, self.token().span.start);
            let found = self.with((false, false, false), Self::statement).and_then(|kind| {
                let ended = self.at_end()
                    || self.token().line
                    || self.is(";")
                    || matches!(&self.token().kind, Kind::Word(w) if stops(w));
                if ended { Ok(kind) } else { Err(format!("{} is not read here", self.found())) }
            });
            let kind = found.unwrap_or_else(|why| {
                self.at = start;
                self.skipped(why)
            });
            out.push(Stmt { span: begin..self.last_end().max(begin), kind });
        }
        (self.joined, self.row, self.no_range) = before;
        out
    }

    /// Skips a statement with the blocks in it.
    fn skipped(&mut self, why: Why) -> StmtKind {
        let (mut brackets, mut blocks, mut tests, mut names) = (0usize, 0usize, Vec::new(), Vec::new());
        let start = self.at;
        while !self.at_end() {
            let token = self.token().clone();
            if self.at > start && brackets == 0 && blocks == 0 && (token.line || self.is(";")) {
                break;
            }
            match &token.kind {
                Kind::Sign("(" | "[" | "{") => brackets += 1,
                Kind::Sign(")" | "]" | "}") => brackets = brackets.saturating_sub(1),
                Kind::Sign("=" | "+=" | "-=" | "*=" | "/=" | ".=") if self.at > start => {
                    if let Kind::Word(name) = &self.tokens[self.at - 1].kind {
                        names.push(name.clone());
                    }
                }
                Kind::Word(word) if word == "end" && brackets == 0 => {
                    if blocks == 0 {
                        break;
                    }
                    blocks -= 1;
                }
                // In brackets, `for` and `if` belong to comprehensions, and `begin` to indices.
                Kind::Word(word) if brackets == 0 && (word == "do" || OPENERS.contains(&word.as_str())) => blocks += 1,
                Kind::Macro(name) if name == "@test" || name == "@test_throws" => tests.push(token.span.start),
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.at.max(start + 1);
        StmtKind::Skipped { why, names, tests }
    }

    fn statement(&mut self) -> Parsed<StmtKind> {
        let token = self.token().clone();
        match &token.kind {
            Kind::Word(word) => match word.as_str() {
                "using" | "import" | "export" => {
                    self.at += 1;
                    while !self.at_end()
                        && (!self.token().line || matches!(self.tokens[self.at - 1].kind, Kind::Sign("," | ":")))
                    {
                        self.at += 1;
                    }
                    return Ok(StmtKind::Nothing);
                }
                "return" => {
                    self.at += 1;
                    let value = if self.goes_on() && !self.is_word("end") { Some(self.tuple()?) } else { None };
                    return Ok(StmtKind::Return(value));
                }
                "begin" | "module" => {
                    self.at += if word == "module" { 2 } else { 1 };
                    let body = self.block(&[]);
                    self.end()?;
                    // What a block defines goes on after it.
                    return Ok(StmtKind::If(Vec::new(), body));
                }
                "let" => {
                    self.at += 1;
                    let mut body = Vec::new();
                    while !self.token().line && !self.is(";") {
                        let start = self.token().span.start;
                        let kind = self.assignment()?;
                        body.push(Stmt { span: start..self.last_end(), kind });
                        if !self.eat(",") {
                            break;
                        }
                    }
                    body.extend(self.block(&[]));
                    self.end()?;
                    return Ok(StmtKind::Scope(body));
                }
                "for" => {
                    self.at += 1;
                    let ranges = self.ranges()?;
                    let body = self.block(&[]);
                    self.end()?;
                    return Ok(StmtKind::For(ranges, body));
                }
                "while" => {
                    self.at += 1;
                    let condition = self.expr()?;
                    let body = self.block(&[]);
                    self.end()?;
                    return Ok(StmtKind::While(condition, body));
                }
                "if" => return self.choice(),
                "function" => return self.function(),
                "const" | "local" | "global" => self.at += 1,
                _ => {}
            },
            Kind::Macro(name) => match name.as_str() {
                "@test" => {
                    self.at += 1;
                    let e = self.pair_or_expr()?;
                    // `@test a ≈ b atol=1e-8`: more than the expression says.
                    return Ok(StmtKind::Test(Test::Holds(self.with_keywords(e)?)));
                }
                "@test_throws" => {
                    self.at += 1;
                    let kind = self.error_type()?;
                    return Ok(StmtKind::Test(Test::Throws(kind, self.assigned()?)));
                }
                "@testset" => {
                    self.at += 1;
                    while self.goes_on() && !self.is_word("begin") && !self.is_word("for") {
                        self.at += 1;
                    }
                    if self.is_word("for") {
                        let StmtKind::For(ranges, body) = self.statement()? else {
                            return Err("a loop is expected".into());
                        };
                        return Ok(StmtKind::For(ranges, body));
                    }
                    if !self.eat_word("begin") {
                        return Err("`begin` is expected".to_string());
                    }
                    let body = self.block(&[]);
                    self.end()?;
                    return Ok(StmtKind::Scope(body));
                }
                // What is known to fail there, and what only tells something.
                "@test_broken" | "@test_skip" | "@info" | "@warn" => {
                    self.at += 1;
                    self.tuple()?;
                    return Ok(StmtKind::Nothing);
                }
                "@time" | "@inbounds" | "@show" => {
                    self.at += 1;
                    return self.statement();
                }
                _ => {}
            },
            _ => {}
        }
        self.assignment()
    }

    fn end(&mut self) -> Parsed<()> {
        if self.eat_word("end") { Ok(()) } else { Err(format!("expected `end`, found {}", self.found())) }
    }

    /// The type of an error: `DomainError`, `Base.DomainError`.
    fn error_type(&mut self) -> Parsed<String> {
        match self.postfix()? {
            Expr::Name(name) | Expr::Field(_, name) => Ok(name),
            _ => Err("the type of an error is expected".to_string()),
        }
    }

    /// After `@test e`: keywords of the comparison, as of a call of `isapprox`.
    fn with_keywords(&mut self, e: Expr) -> Parsed<Expr> {
        let mut keywords = Vec::new();
        while self.goes_on() {
            let Kind::Word(name) = self.token().kind.clone() else { break };
            if !matches!(self.tokens[self.at + 1].kind, Kind::Sign("=")) {
                break;
            }
            self.at += 2;
            keywords.push((name, self.expr()?));
        }
        if keywords.is_empty() {
            return Ok(e);
        }
        let Expr::Binary { op: Binary::Near, dotted: false, a, b } = e else {
            return Err("keywords of a test are read after `≈` only".to_string());
        };
        Ok(Expr::Call { f: Box::new(Expr::Name("isapprox".into())), args: vec![*a, *b], keywords, dotted: false })
    }

    fn choice(&mut self) -> Parsed<StmtKind> {
        let (mut arms, mut rest) = (Vec::new(), Vec::new());
        self.at += 1;
        loop {
            let condition = self.expr()?;
            arms.push((condition, self.block(&["else", "elseif"])));
            if self.eat_word("elseif") {
                continue;
            }
            if self.eat_word("else") {
                rest = self.block(&[]);
            }
            self.end()?;
            return Ok(StmtKind::If(arms, rest));
        }
    }

    /// `i = 1:3, (a, b) in c`.
    fn ranges(&mut self) -> Parsed<Vec<(Vec<String>, Expr)>> {
        let mut out = Vec::new();
        loop {
            let bracket = self.eat("(");
            let mut names = vec![self.name()?];
            while bracket && self.eat(",") {
                names.push(self.name()?);
            }
            if bracket {
                self.expect(")")?;
                if names.len() == 1 {
                    return Err("a tuple of one part".to_string());
                }
            }
            if !(self.eat("=") || self.eat("∈") || self.eat_word("in")) {
                return Err(format!("expected `in`, found {}", self.found()));
            }
            out.push((names, self.expr()?));
            if !self.eat(",") {
                return Ok(out);
            }
        }
    }

    fn name(&mut self) -> Parsed<String> {
        match self.token().kind.clone() {
            Kind::Word(name) if !is_reserved(&name) => {
                self.at += 1;
                Ok(name)
            }
            _ => Err(format!("expected a name, found {}", self.found())),
        }
    }

    /// Parameters in brackets, without types.
    fn parameters(&mut self) -> Parsed<Vec<String>> {
        let mut out = Vec::new();
        self.with((true, false, false), |p| {
            while !p.eat(")") {
                out.push(p.name()?);
                if p.eat("::") {
                    p.postfix()?;
                }
                if p.is("=") || p.is("...") || p.is(";") {
                    return Err("parameters with defaults, and any number of them, are not read".to_string());
                }
                if !p.eat(",") && !p.is(")") {
                    return Err(format!("expected `)`, found {}", p.found()));
                }
            }
            Ok(())
        })?;
        Ok(out)
    }

    fn function(&mut self) -> Parsed<StmtKind> {
        self.at += 1;
        let name = self.name()?;
        self.expect("(")?;
        let parameters = self.parameters()?;
        self.where_clause()?;
        let body = self.block(&[]);
        self.end()?;
        Ok(StmtKind::Function(name, parameters, body))
    }

    fn where_clause(&mut self) -> Parsed<()> {
        while self.eat_word("where") {
            self.postfix()?;
            if self.eat("<:") {
                self.postfix()?;
            }
        }
        Ok(())
    }

    /// An assignment, a function of one line, or an expression.
    fn assignment(&mut self) -> Parsed<StmtKind> {
        let start = self.at;
        // `f(x) = …`
        if let Kind::Word(name) = self.token().kind.clone()
            && matches!(self.tokens[self.at + 1].kind, Kind::Sign("("))
            && !self.tokens[self.at + 1].space
        {
            self.at += 2;
            let parameters = self.parameters().and_then(|p| self.where_clause().map(|()| p));
            if let Ok(parameters) = parameters
                && self.eat("=")
            {
                let begin = self.token().span.start;
                let body = self.tuple()?;
                let value = Stmt { span: begin..self.last_end(), kind: StmtKind::Return(Some(body)) };
                return Ok(StmtKind::Function(name, parameters, vec![value]));
            }
            self.at = start;
        }
        let left = self.tuple()?;
        let change = match &self.token().kind {
            Kind::Sign(sign) if self.goes_on() => *sign,
            _ => return Ok(StmtKind::Expr(left)),
        };
        let op = match change {
            "=" => None,
            "+=" => Some((Binary::Add, false)),
            "-=" => Some((Binary::Sub, false)),
            "*=" => Some((Binary::Mul, false)),
            "/=" => Some((Binary::Div, false)),
            "^=" => Some((Binary::Pow, false)),
            _ => return Ok(StmtKind::Expr(left)),
        };
        self.at += 1;
        let right = self.chained()?;
        let targets = match &left {
            Expr::Tuple(parts) => parts.iter().map(target).collect::<Parsed<Vec<_>>>()?,
            one => vec![target(one)?],
        };
        let value = match op {
            None => right,
            Some((op, dotted)) => Expr::Binary { op, dotted, a: Box::new(left), b: Box::new(right) },
        };
        // `x, = f()` is not read: a tuple of one has a comma.
        Ok(StmtKind::Assign(targets, value))
    }

    /// The right side of an assignment.
    fn chained(&mut self) -> Parsed<Expr> {
        let value = self.tuple()?;
        if self.goes_on() && self.is("=") {
            Err("several assignments in one are not read".to_string())
        } else {
            Ok(value)
        }
    }

    /// What `@test_throws` evaluates: an expression, or a block.
    fn assigned(&mut self) -> Parsed<Expr> {
        if self.eat_word("begin") {
            let body = self.block(&[]);
            self.end()?;
            return Ok(Expr::Block(body));
        }
        self.expr()
    }
}

/// Whether a name is that of a type of numbers.
pub(super) fn is_type(name: &str) -> bool {
    name.starts_with("Float")
        || name.starts_with("Int")
        || name.starts_with("UInt")
        || ["Bool", "Any", "ComplexF64", "ComplexF32"].contains(&name)
}

fn target(e: &Expr) -> Parsed<Target> {
    match e {
        Expr::Name(name) => Ok(Target::Name(name.clone())),
        Expr::Index(array, indices) => Ok(Target::Index((**array).clone(), indices.clone())),
        _ => Err("this is not assigned to".to_string()),
    }
}
