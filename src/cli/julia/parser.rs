//! Reads the host's part of a file in Julia: what it computes and tests with reversible functions.

use super::lexer::{Kind, Token, tokens};
use super::syntax::{Binary, Expr, Span, Stmt, StmtKind, Target, Test};

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
                Kind::Sign("=" | "+=" | "-=" | "*=" | "/=") if self.at > start => {
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
                    self.postfix()?;
                    return Ok(StmtKind::Test(Test::Throws(self.assigned()?)));
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

    /// Expressions with commas between them, without brackets.
    fn tuple(&mut self) -> Parsed<Expr> {
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

    fn pair_or_expr(&mut self) -> Parsed<Expr> {
        let a = self.expr()?;
        if self.goes_on() && self.eat("=>") {
            let b = self.expr()?;
            return Ok(Expr::Binary { op: Binary::Pair, dotted: false, a: Box::new(a), b: Box::new(b) });
        }
        Ok(a)
    }

    fn expr(&mut self) -> Parsed<Expr> {
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

    fn or(&mut self) -> Parsed<Expr> {
        let mut a = self.and()?;
        while self.goes_on() && self.eat("||") {
            a = Expr::Or(Box::new(a), Box::new(self.and()?));
        }
        Ok(a)
    }

    fn and(&mut self) -> Parsed<Expr> {
        let mut a = self.comparison()?;
        while self.goes_on() && self.eat("&&") {
            a = Expr::And(Box::new(a), Box::new(self.comparison()?));
        }
        Ok(a)
    }

    fn comparison(&mut self) -> Parsed<Expr> {
        let mut a = self.piped()?;
        let mut all: Option<Expr> = None;
        while let Some((op, dotted)) = self.comparing() {
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
    fn comparing(&mut self) -> Option<(Binary, bool)> {
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
            _ => return None,
        };
        self.at += 1;
        Some(found)
    }

    fn piped(&mut self) -> Parsed<Expr> {
        let mut a = self.range()?;
        while self.goes_on() && self.eat("|>") {
            let f = self.range()?;
            a = Expr::Call { f: Box::new(f), args: vec![a], keywords: Vec::new(), dotted: false };
        }
        Ok(a)
    }

    fn range(&mut self) -> Parsed<Expr> {
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

    fn sum(&mut self) -> Parsed<Expr> {
        let mut a = self.product()?;
        loop {
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

    fn product(&mut self) -> Parsed<Expr> {
        let mut a = self.unary()?;
        while let Some((op, dotted)) = self.operator(&[
            ("*", Binary::Mul),
            ("/", Binary::Div),
            ("\\", Binary::Solve),
            ("÷", Binary::Quotient),
            ("%", Binary::Rest),
            ("&", Binary::BitAnd),
        ]) {
            let b = self.unary()?;
            a = Expr::Binary { op, dotted, a: Box::new(a), b: Box::new(b) };
        }
        Ok(a)
    }

    /// Takes one of these operators, or the same with a dot.
    fn operator(&mut self, all: &[(&str, Binary)]) -> Option<(Binary, bool)> {
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

    fn unary(&mut self) -> Parsed<Expr> {
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

    fn power(&mut self) -> Parsed<Expr> {
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

    fn postfix(&mut self) -> Parsed<Expr> {
        let mut e = self.primary()?;
        loop {
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
    fn list(&mut self, close: &str) -> Parsed<Vec<Expr>> {
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
    fn call(&mut self, f: Expr, dotted: bool) -> Parsed<Expr> {
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

    fn comprehension(&mut self, body: Expr, close: &str) -> Parsed<Expr> {
        self.at += 1;
        let mut ranges = self.ranges()?;
        while self.eat_word("for") {
            ranges.extend(self.ranges()?);
        }
        let condition = if self.eat_word("if") { Some(Box::new(self.expr()?)) } else { None };
        self.expect(close)?;
        Ok(Expr::Comprehension(Box::new(body), ranges, condition))
    }

    fn primary(&mut self) -> Parsed<Expr> {
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
            Kind::Sign(sign) => Err(format!("`{sign}` is not read here")),
            Kind::Unknown(what) => Err(format!("{what} is not read")),
            Kind::End => Err("the file ends here".to_string()),
        }
    }

    /// The statement after `@instr`: its text, up to the line's end or a closing bracket.
    fn instr(&mut self) -> Parsed<Expr> {
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
                Kind::Sign(")" | "]" | "}") => depth -= 1,
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
    fn bracketed(&mut self) -> Parsed<Expr> {
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
    fn array(&mut self) -> Parsed<Expr> {
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
                    while p.eat(";") {}
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
                return Ok(Expr::Array(None, vec![rows.into_iter().flatten().collect()], true));
            }
            Ok(Expr::Array(None, rows, false))
        })
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

/// The place of a statement for messages.
pub(super) fn line_of(text: &str, span: &Span) -> usize {
    1 + text[..span.start.min(text.len())].matches('\n').count()
}
