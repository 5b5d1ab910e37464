//! The language of 1982 to 2007: global variables, procedures without parameters, no reserved `local` or `stack`.
//!
//! Its variables become variables of `main` and parameters of the procedures that use them, so that the result is a
//! tree of today's language.

use pendula_isa::module::CLASSIC_MAIN;
use std::collections::{BTreeSet, HashMap};

use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::Diagnostic;

use super::{Parsed, Parser, Stop};
use crate::janus::ast::{
    AssignOp, BinOp, Decl, DeclTy, Expr, ExprKind, IntTy, Lval, Mode, Name, Procedure, Span, Stmt, StmtKind, Tree, UnOp,
};
use crate::janus::codes;
use crate::janus::lexer::Tok;

/// The reserved words.
const RESERVED: &[&str] = &[
    "procedure",
    "if",
    "then",
    "else",
    "fi",
    "from",
    "do",
    "loop",
    "until",
    "call",
    "uncall",
    "error",
    "skip",
    "read",
    "write",
];

/// The operators, from loose to tight.
const LEVELS: &[&[(&str, BinOp)]] = &[
    &[("&&", BinOp::LogicalAnd), ("||", BinOp::LogicalOr)],
    &[("&", BinOp::And), ("|", BinOp::Or), ("^", BinOp::Xor)],
    &[
        ("<=", BinOp::Le),
        ("<", BinOp::Lt),
        (">=", BinOp::Ge),
        (">", BinOp::Gt),
        ("=", BinOp::Eq),
        ("!=", BinOp::Ne),
        ("#", BinOp::Ne),
    ],
    &[("+", BinOp::Add), ("-", BinOp::Sub)],
    &[("*", BinOp::Mul), ("/", BinOp::Div), ("%", BinOp::Mod), ("\\", BinOp::Mod), ("*/", BinOp::Fraction)],
    &[("<<", BinOp::Shl), (">>", BinOp::Shr)],
];

const STATEMENTS: &str = "statements are `x += e`, `x -= e`, `x ^= e`, `x <=> y`, `if … fi`, `from … until`, `call`, `uncall`, `error`, `skip`";

/// The tree of a text. The entry procedure is `entry` if given, otherwise `main`, otherwise the last procedure.
pub fn parse(file: u16, text: &str, entry: Option<&str>, budget: &Budget) -> (Tree, Vec<Diagnostic>) {
    let mut p = Parser::new(file, text, true, budget);
    let failed = !p.found.is_empty();
    let tree = if failed { Err(Stop) } else { p.classic(entry) };
    (tree.unwrap_or_default(), p.found)
}

/// A procedure of a classic program.
struct Plain {
    name: Name,
    body: Vec<Stmt>,
    span: Span,
}

impl Parser<'_> {
    fn classic(&mut self, entry: Option<&str>) -> Parsed<Tree> {
        self.note_procedures();
        let mut globals: Vec<Decl> = Vec::new();
        while self.is_plain_name() {
            let start = self.start();
            let name = self.plain_name("a variable")?;
            let mut dims = Vec::new();
            if self.eat_sign("[") {
                if self.is_sign("]") {
                    let help = format!("give a size: `{}[10]`", name.text);
                    return self.fail(codes::SIZE, self.since(start), format!("`{}` has no size", name.text), &help);
                }
                let size = self.plain_expr(0)?;
                self.sign("]", "a size is in brackets: `a[10]`")?;
                dims.push(Some(size));
            }
            let span = self.since(start);
            globals.push(Decl { mode: Mode::Plain, ty: DeclTy::Int(IntTy::Int), name, dims, init: None, span });
        }
        let mut procedures: Vec<Plain> = Vec::new();
        while !self.is_end() {
            let start = self.start();
            if !self.eat_plain("procedure") {
                return self.expected("`procedure`", "a program is a list of variables, and then one of procedures");
            }
            let name = self.plain_procedure()?;
            let body = self.plain_statements()?;
            procedures.push(Plain { name, body, span: self.since(start) });
        }
        let chosen = match entry {
            Some(name) => procedures.iter().position(|p| p.name.text.to_lowercase() == name.to_lowercase()),
            None => procedures
                .iter()
                .position(|p| p.name.text.eq_ignore_ascii_case("main"))
                .or(procedures.len().checked_sub(1)),
        };
        let Some(chosen) = chosen else {
            let what = entry.map_or("a procedure".to_string(), |name| format!("the procedure `{name}`"));
            let end = self.token().span.clone();
            let help = "a run begins with the procedure `main`, or else the last, or the one that `--entry` names";
            return self.fail(codes::MAIN, end, format!("there is not {what}"), help);
        };
        Ok(tree(globals, procedures, chosen))
    }

    pub(super) fn lower(&self) -> String {
        self.word_of(self.token()).to_lowercase()
    }

    fn is_plain(&self, word: &str) -> bool {
        self.lower() == word
    }

    fn eat_plain(&mut self, word: &str) -> bool {
        let is = self.is_plain(word);
        self.at += usize::from(is);
        is
    }

    fn is_plain_name(&self) -> bool {
        self.token().tok == Tok::Word && !RESERVED.contains(&self.lower().as_str())
    }

    /// A name. Case does not matter; the name is spelled as in its first occurrence, which is its declaration for a
    /// variable.
    fn plain_name(&mut self, what: &str) -> Parsed<Name> {
        if !self.is_plain_name() {
            return self.expected(what, "a name begins with a letter, and is not a reserved word");
        }
        let lower = self.lower();
        let written = self.word_of(self.token()).to_string();
        let text = self.spelling.entry(lower).or_insert(written).clone();
        let name = Name { text, span: self.token().span.clone() };
        self.at += 1;
        Ok(name)
    }

    /// The name of a procedure, spelled as in its declaration.
    fn plain_procedure(&mut self) -> Parsed<Name> {
        let variables = std::mem::take(&mut self.spelling);
        if let Some(spelled) = self.procedures.get(&self.lower()) {
            let spelled = spelled.clone();
            self.spelling.insert(self.lower(), spelled);
        }
        let name = self.plain_name("the name of a procedure");
        self.spelling = variables;
        name
    }

    /// The name of the procedure after `call` or `uncall`; it has no arguments.
    fn plain_callee(&mut self, word: &str) -> Parsed<Name> {
        let help = format!("procedures of this language have no parameters: `{word} f`");
        if self.token().tok != Tok::Word {
            return self.expected("the name of a procedure", &help);
        }
        let name = self.plain_procedure()?;
        if self.is_sign("(") {
            return self.expected("a statement", &help);
        }
        Ok(name)
    }

    /// Records how procedures are spelled in their declarations.
    fn note_procedures(&mut self) {
        for pair in self.tokens.windows(2) {
            let [word, name] = pair else { continue };
            if self.word_of(word).eq_ignore_ascii_case("procedure") {
                let name = self.word_of(name).to_string();
                self.procedures.entry(name.to_lowercase()).or_insert(name);
            }
        }
    }

    /// The statements up to a word that ends them; there may be none.
    fn plain_statements(&mut self) -> Parsed<Vec<Stmt>> {
        let mut out = Vec::new();
        while !self.is_end() && !self.is_plain("procedure") {
            match Self::belongs(&self.lower()).filter(|_| !self.is_plain_name()) {
                Some(opener) if self.is_open(opener) => break,
                Some(opener) => return self.stray(opener),
                None => {}
            }
            self.counted()?;
            out.push(self.nested(Self::plain_statement)?);
        }
        Ok(out)
    }

    fn plain_statement(&mut self) -> Parsed<Stmt> {
        let start = self.start();
        let word = self.lower();
        let kind = match word.as_str() {
            "if" => self.construct("if", Self::plain_branch)?,
            "from" => self.construct("from", Self::plain_loop)?,
            "call" | "uncall" => {
                self.at += 1;
                let name = self.plain_callee(&word)?;
                StmtKind::Call { inverse: word == "uncall", name, args: Vec::new() }
            }
            "error" => {
                self.at += 1;
                StmtKind::Error(self.plain_name("what the error is called")?.text)
            }
            "skip" => {
                self.at += 1;
                StmtKind::Skip
            }
            "read" | "write" => {
                let word = Name { text: word, span: self.token().span.clone() };
                self.at += 1;
                StmtKind::Terminal { word, name: self.plain_name("a variable")? }
            }
            _ if self.is_plain_name() => self.plain_change()?,
            _ => return self.expected("a statement", STATEMENTS),
        };
        Ok(Stmt { kind, span: self.since(start) })
    }

    fn plain_branch(&mut self) -> Parsed<StmtKind> {
        let pre = self.plain_expr(0)?;
        self.eat_plain("then");
        let then = self.plain_statements()?;
        let after = self.eat_plain("else").then_some(self.at);
        let otherwise = if after.is_some() { self.plain_statements()? } else { Vec::new() };
        if !self.eat_plain("fi") {
            let help = self.else_if(after);
            return self.lacks("`fi`", help.as_deref().unwrap_or("a branch is `if e then … else … fi e`"));
        }
        Ok(StmtKind::If { pre, then, otherwise, post: self.plain_expr(0)? })
    }

    fn plain_loop(&mut self) -> Parsed<StmtKind> {
        let pre = self.plain_expr(0)?;
        self.eat_plain("do");
        let first = self.plain_statements()?;
        let body = if self.eat_plain("loop") { self.plain_statements()? } else { Vec::new() };
        if !self.eat_plain("until") {
            return self.lacks("`until`", "a loop is `from e do … loop … until e`");
        }
        Ok(StmtKind::From { pre, first, body, post: self.plain_expr(0)? })
    }

    fn plain_change(&mut self) -> Parsed<StmtKind> {
        let target = self.plain_lval()?;
        for (sign, op) in [("+=", AssignOp::Add), ("-=", AssignOp::Sub), ("^=", AssignOp::Xor), ("!=", AssignOp::Xor)] {
            if self.eat_sign(sign) {
                return Ok(StmtKind::Update { op, target, value: self.plain_expr(0)? });
            }
        }
        if self.eat_sign("<=>") || self.eat_sign(":") {
            return Ok(StmtKind::Swap(target, self.plain_lval()?));
        }
        self.expected("`+=`, `-=`, `^=` or `<=>`", STATEMENTS)
    }

    fn plain_lval(&mut self) -> Parsed<Lval> {
        let start = self.start();
        let name = self.plain_name("a variable")?;
        let mut indices = Vec::new();
        self.height = 0;
        if self.eat_sign("[") {
            indices.push(self.plain_expr(0)?);
            self.sign("]", "an index is in brackets: `a[i]`")?;
        }
        self.high(self.height + 1)?;
        Ok(Lval { name, indices, span: self.since(start) })
    }

    fn plain_expr(&mut self, level: usize) -> Parsed<Expr> {
        let Some(signs) = LEVELS.get(level) else { return self.nested(Self::plain_term) };
        let start = self.start();
        let mut left = self.plain_expr(level + 1)?;
        while let Tok::Sign(sign) = self.token().tok
            && let Some((_, op)) = signs.iter().find(|(s, _)| *s == sign)
        {
            let height = self.height;
            self.no_pair()?;
            self.at += 1;
            let right = self.plain_expr(level + 1)?;
            self.high(height.max(self.height) + 1)?;
            let kind = ExprKind::Binary(*op, Box::new(left), Box::new(right));
            left = Expr { kind, span: self.since(start), closed: false };
        }
        if level == 0 {
            self.no_operator(true)?;
        }
        Ok(left)
    }

    fn plain_term(&mut self) -> Parsed<Expr> {
        let start = self.start();
        self.no_not(true)?;
        let kind = match self.token().tok {
            Tok::Sign("(") => {
                self.at += 1;
                let mut inner = self.plain_expr(0)?;
                self.sign(")", "a parenthesis is not closed")?;
                inner.closed = true;
                return Ok(inner);
            }
            Tok::Sign(sign @ ("-" | "!" | "~")) => {
                self.at += 1;
                let op = match sign {
                    "-" => UnOp::Minus,
                    "!" => UnOp::Not,
                    _ => UnOp::Complement,
                };
                let of = self.nested(Self::plain_term)?;
                self.high(self.height + 1)?;
                ExprKind::Unary(op, Box::new(of))
            }
            Tok::Number(n) => {
                self.at += 1;
                self.height = 1;
                ExprKind::Num(n)
            }
            _ if self.is_plain_name() => {
                self.no_function(true)?;
                ExprKind::Place(self.plain_lval()?)
            }
            _ => {
                return self
                    .expected("an expression", "an expression is made of numbers, variables, `(…)` and operators");
            }
        };
        Ok(Expr { kind, span: self.since(start), closed: false })
    }
}

/// Adds parameters to the procedures: the variables that a procedure uses, directly or through others.
fn tree(globals: Vec<Decl>, procedures: Vec<Plain>, entry: usize) -> Tree {
    let mut used: Vec<BTreeSet<String>> = Vec::new();
    let mut calls: Vec<Vec<String>> = Vec::new();
    for p in &procedures {
        let (mut names, mut called) = (BTreeSet::new(), Vec::new());
        statements(&p.body, &mut names, &mut called);
        used.push(names);
        calls.push(called);
    }
    let number: HashMap<&str, usize> = procedures.iter().enumerate().map(|(n, p)| (p.name.text.as_str(), n)).collect();
    loop {
        let mut more = false;
        for n in 0..procedures.len() {
            for callee in calls[n].iter().filter_map(|c| number.get(c.as_str())) {
                let others: Vec<String> = used[*callee].difference(&used[n]).cloned().collect();
                more |= !others.is_empty();
                used[n].extend(others);
            }
        }
        if !more {
            break;
        }
    }
    let (globals, used) = (&globals, &used);
    let parameters = |n: usize| globals.iter().filter(move |d| used[n].contains(&d.name.text));
    let arguments = |n: usize, span: &Span| -> Vec<Expr> {
        let lent = |d: &Decl| {
            let l =
                Lval { name: Name { span: span.clone(), ..d.name.clone() }, indices: Vec::new(), span: span.clone() };
            Expr { kind: ExprKind::Place(l), span: span.clone(), closed: false }
        };
        parameters(n).map(&lent).collect()
    };
    let renamed =
        |name: &str| if name.eq_ignore_ascii_case("main") { CLASSIC_MAIN.to_string() } else { name.to_string() };
    let give = |name: &mut Name, args: &mut Vec<Expr>| {
        if let Some(n) = number.get(name.text.as_str()) {
            *args = arguments(*n, &name.span);
        }
        name.text = renamed(&name.text);
    };
    let first = &procedures[entry];
    let mut call = StmtKind::Call { inverse: false, name: first.name.clone(), args: Vec::new() };
    if let StmtKind::Call { name, args, .. } = &mut call {
        give(name, args);
    }
    let mut out = vec![Procedure {
        name: Name { text: "main".to_string(), span: first.name.span.clone() },
        decls: globals.clone(),
        body: vec![Stmt { kind: call, span: first.name.span.clone() }],
        span: first.span.clone(),
    }];
    for (n, p) in procedures.iter().enumerate() {
        let mut body = p.body.clone();
        each_call(&mut body, &give);
        let decls = parameters(n).cloned().collect();
        let name = Name { text: renamed(&p.name.text), span: p.name.span.clone() };
        out.push(Procedure { name, decls, body, span: p.span.clone() });
    }
    Tree { procedures: out }
}

fn each_call(list: &mut [Stmt], give: &impl Fn(&mut Name, &mut Vec<Expr>)) {
    for s in list {
        match &mut s.kind {
            StmtKind::Call { name, args, .. } => give(name, args),
            StmtKind::If { then, otherwise, .. } => [then, otherwise].into_iter().for_each(|b| each_call(b, give)),
            StmtKind::From { first, body, .. } => [first, body].into_iter().for_each(|b| each_call(b, give)),
            _ => {}
        }
    }
}

/// The variables and procedures that statements name.
fn statements(list: &[Stmt], names: &mut BTreeSet<String>, calls: &mut Vec<String>) {
    for s in list {
        match &s.kind {
            StmtKind::Update { target, value, .. } => {
                place(target, names);
                expression(value, names);
            }
            StmtKind::Swap(a, b) => [a, b].into_iter().for_each(|l| place(l, names)),
            StmtKind::If { pre, then, otherwise, post } => {
                [pre, post].into_iter().for_each(|e| expression(e, names));
                [then, otherwise].into_iter().for_each(|b| statements(b, names, calls));
            }
            StmtKind::From { pre, first, body, post } => {
                [pre, post].into_iter().for_each(|e| expression(e, names));
                [first, body].into_iter().for_each(|b| statements(b, names, calls));
            }
            StmtKind::Terminal { name, .. } => drop(names.insert(name.text.clone())),
            StmtKind::Call { name, .. } => calls.push(name.text.clone()),
            _ => {}
        }
    }
}

fn place(l: &Lval, names: &mut BTreeSet<String>) {
    names.insert(l.name.text.clone());
    l.indices.iter().for_each(|e| expression(e, names));
}

fn expression(e: &Expr, names: &mut BTreeSet<String>) {
    match &e.kind {
        ExprKind::Place(l) => place(l, names),
        ExprKind::Unary(_, a) => expression(a, names),
        ExprKind::Binary(_, a, b) => [a, b].into_iter().for_each(|e| expression(e, names)),
        _ => {}
    }
}
