//! Reading programs.

use std::collections::HashMap;

use pendula_isa::budget::{Budget, Exceeded};
use pendula_isa::num::decimal::{parse_f, parse_l, parse_q};
use pendula_isa::table::{Row, TableFn};
use pendula_isa::{Acc, Cond, Format, Ty};

use super::lex::{Placed, Token, words};
use super::print::{self, REASONS, param_type, row_type};
use super::{TextError, WORDS};
use crate::ir::{
    AncillaChecks, At, Block, Condition, FunctionId, IrFunction, Loc, Mem, Operand, Param, Place, Program, Region,
    RegionInfo, Step, Stmt, Test, Var, VarInfo, Why,
};

type Read<T> = Result<T, TextError>;

/// Names, each with the number of what it stands for; `None` where it stands for several.
type Table = HashMap<String, Option<u32>>;

fn table<'a>(names: impl Iterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    for (n, name) in (0u32..).zip(names) {
        table.entry(name.to_owned()).and_modify(|e| *e = None).or_insert(Some(n));
    }
    table
}

struct Reader {
    words: Vec<Placed>,
    at: usize,
    budget: Budget,
    nesting: u32,
    statements: u64,
    format: Format,
    program: Program,
    functions: Table,
    vars: Table,
    regions: Table,
    funcs: HashMap<String, TableFn>,
    rows: HashMap<String, Row>,
    reasons: HashMap<String, u32>,
}

/// The word of a number of a type.
pub(super) fn constant(text: &str, ty: Ty, format: Format) -> Option<u64> {
    match ty {
        Ty::Int => text.parse::<i64>().ok().map(i64::cast_unsigned).or_else(|| {
            let digits = text.strip_prefix("0x")?.strip_suffix('w')?;
            u64::from_str_radix(digits, 16).ok()
        }),
        Ty::Q => parse_q(text, format).ok(),
        Ty::L => parse_l(text).ok(),
        Ty::F => parse_f(text).ok(),
    }
}

/// The error that the budget is spent.
fn spent(exceeded: Exceeded, line: u32, column: u32) -> TextError {
    TextError { line, column, message: exceeded.to_string(), exceeded: Some(Box::new(exceeded)) }
}

pub(super) fn program(text: &str, budget: &Budget) -> Read<Program> {
    budget.large(text.len() as u64, || "the text".to_string()).map_err(|e| spent(e, 1, 1))?;
    let mut r = Reader {
        words: words(text)?,
        at: 0,
        budget: *budget,
        nesting: 0,
        statements: 0,
        format: Format::default(),
        program: Program::default(),
        functions: Table::new(),
        vars: Table::new(),
        regions: Table::new(),
        funcs: TableFn::ALL.iter().map(|f| (print::func(*f), *f)).collect(),
        rows: Row::ALL.iter().map(|row| (print::row(*row), *row)).collect(),
        reasons: HashMap::new(),
    };
    r.word("program")?;
    let format = r.any_word()?;
    r.format = Format::from_name(&format).ok_or_else(|| r.error("no such format"))?;
    r.program.format = r.format;
    let (mut entry, mut bodies) = (None, Vec::new());
    loop {
        if r.is_word("stack") {
            r.program.stack = r.natural()?;
        } else if r.is_word("file") {
            let file = r.quoted()?;
            r.program.files.push(file);
        } else if r.is_word("text") {
            let text = r.quoted()?;
            r.program.texts.push(text);
        } else if r.is_word("reason") {
            r.reason()?;
        } else if r.is_word("entry") {
            entry = Some(r.at);
            r.spelled()?;
            r.numbered()?;
        } else if r.is_word("fun") {
            let function = r.head()?;
            r.program.functions.push(function);
            bodies.push(r.at);
            r.skip_body()?;
        } else {
            break;
        }
    }
    if r.token() != &Token::End {
        return Err(r.error("a declaration is expected here"));
    }
    // Calls go to functions that are declared anywhere: bodies are read once all are known.
    r.functions = table(r.program.functions.iter().map(|f| f.name.as_str()));
    if let Some(at) = entry {
        r.at = at;
        r.program.entry = Some(FunctionId(r.function()?));
    }
    for (n, at) in bodies.into_iter().enumerate() {
        r.at = at;
        let f = &r.program.functions[n];
        r.vars = table(f.vars.iter().map(|v| v.name.as_str()));
        r.regions = table(f.regions.iter().map(|v| v.name.as_str()));
        let body = r.statements()?;
        r.program.functions[n].body = body;
    }
    Ok(r.program)
}

impl Reader {
    fn token(&self) -> &Token {
        self.words.get(self.at).map_or(&Token::End, |w| &w.token)
    }

    fn second(&self) -> &Token {
        self.words.get(self.at + 1).map_or(&Token::End, |w| &w.token)
    }

    fn error(&self, message: impl Into<String>) -> TextError {
        let (line, column) = self.words.get(self.at).or(self.words.last()).map_or((1, 1), |w| (w.line, w.column));
        TextError { line, column, message: message.into(), exceeded: None }
    }

    fn spent(&self, exceeded: Exceeded) -> TextError {
        let at = self.error("");
        spent(exceeded, at.line, at.column)
    }

    fn next(&mut self) -> Token {
        let token = self.token().clone();
        if token != Token::End {
            self.at += 1;
        }
        token
    }

    fn sees(&self, word: &str) -> bool {
        matches!(self.token(), Token::Word(w) if w == word)
    }

    /// Passes a word of the grammar if it stands here.
    fn is_word(&mut self, word: &str) -> bool {
        let here = self.sees(word);
        self.at += usize::from(here);
        here
    }

    fn is_sign(&mut self, sign: &str) -> bool {
        let here = matches!(self.token(), Token::Sign(s) if *s == sign);
        self.at += usize::from(here);
        here
    }

    fn word(&mut self, word: &str) -> Read<()> {
        if self.is_word(word) { Ok(()) } else { Err(self.error(format!("`{word}` is expected here"))) }
    }

    fn sign(&mut self, sign: &str) -> Read<()> {
        if self.is_sign(sign) { Ok(()) } else { Err(self.error(format!("`{sign}` is expected here"))) }
    }

    fn any_word(&mut self) -> Read<String> {
        match self.token().clone() {
            Token::Word(w) => {
                self.at += 1;
                Ok(w)
            }
            Token::Text(_) | Token::Number(_) | Token::Sign(_) | Token::End => {
                Err(self.error("a word is expected here"))
            }
        }
    }

    fn reason(&mut self) -> Read<u32> {
        let text = self.quoted()?;
        let next = self.program.reasons.len() as u32;
        let n = *self.reasons.entry(text).or_insert_with_key(|text| {
            self.program.reasons.push(text.clone());
            next
        });
        Ok(n)
    }

    fn quoted(&mut self) -> Read<String> {
        match self.token().clone() {
            Token::Text(t) => {
                self.at += 1;
                Ok(t)
            }
            Token::Word(_) | Token::Number(_) | Token::Sign(_) | Token::End => {
                Err(self.error("a text in quotes is expected here"))
            }
        }
    }

    fn number(&mut self) -> Read<String> {
        match self.token().clone() {
            Token::Number(n) => {
                self.at += 1;
                Ok(n)
            }
            Token::Word(_) | Token::Text(_) | Token::Sign(_) | Token::End => {
                Err(self.error("a number is expected here"))
            }
        }
    }

    fn parsed<T: std::str::FromStr>(&mut self) -> Read<T> {
        let error = self.error("a whole number in range is expected here");
        self.number()?.parse().map_err(|_| error)
    }

    fn natural(&mut self) -> Read<u64> {
        self.parsed()
    }

    /// A name as it is declared.
    fn spelled(&mut self) -> Read<String> {
        match self.token().clone() {
            Token::Word(w) if !WORDS.contains(&w.as_str()) => {
                self.at += 1;
                Ok(w)
            }
            Token::Text(t) => {
                self.at += 1;
                Ok(t)
            }
            Token::Word(_) | Token::Number(_) | Token::Sign(_) | Token::End => {
                Err(self.error("a name is expected here"))
            }
        }
    }

    fn numbered(&mut self) -> Read<Option<u32>> {
        if self.is_sign("%") { self.parsed().map(Some) } else { Ok(None) }
    }

    fn find(&mut self, what: &str, table: fn(&Reader) -> &Table) -> Read<u32> {
        let from = self.at;
        let name = self.spelled()?;
        if let Some(n) = self.numbered()? {
            return Ok(n);
        }
        match table(self).get(&name) {
            Some(Some(n)) => Ok(*n),
            found => {
                let message = match found {
                    None => format!("no {what} has this name"),
                    Some(_) => format!("more than one {what} has this name: `%` and its number must follow"),
                };
                self.at = from;
                Err(self.error(message))
            }
        }
    }

    fn function(&mut self) -> Read<u32> {
        self.find("function", |r| &r.functions)
    }

    fn var(&mut self) -> Read<Var> {
        self.find("variable", |r| &r.vars).map(Var)
    }

    fn region(&mut self) -> Read<Region> {
        self.find("region", |r| &r.regions).map(Region)
    }

    fn ty(&mut self) -> Read<Ty> {
        let error = self.error("a type is expected here: `i`, `q`, `l` or `f`");
        let word = self.any_word()?;
        letter(&word).ok_or(error)
    }

    fn loc(&mut self) -> Read<Loc> {
        if !self.is_sign("@") {
            return Ok(Loc::default());
        }
        let file = self.parsed()?;
        self.sign(":")?;
        let line = self.parsed()?;
        self.sign(":")?;
        Ok(Loc { file, line, column: self.parsed()? })
    }

    /// A function up to its statements.
    fn head(&mut self) -> Read<IrFunction> {
        let name = self.spelled()?;
        let inline = self.is_word("inline");
        let loc = self.loc()?;
        self.sign("{")?;
        let mut f = IrFunction {
            name,
            params: vec![],
            vars: vec![],
            regions: vec![],
            body: vec![],
            loc,
            inline,
            names: vec![],
        };
        // The regions follow the variables that point into them.
        let mut pointers = Vec::new();
        loop {
            let kind = match self.token() {
                Token::Word(w) if matches!(w.as_str(), "in" | "out" | "var" | "region") => w.clone(),
                _ => break,
            };
            self.at += 1;
            let name = self.spelled()?;
            self.sign(":")?;
            let ty = self.ty()?;
            let var = Var(u32::try_from(f.vars.len()).map_err(|_| self.error("too many variables"))?);
            match kind.as_str() {
                "region" => f.regions.push(RegionInfo { name, ty }),
                kind => {
                    if self.is_sign("->") {
                        pointers.push((var, self.at));
                        self.spelled()?;
                        self.numbered()?;
                    }
                    f.vars.push(VarInfo { name, ty, points: None });
                    if kind != "var" {
                        f.params.push(Param { var, written: kind == "out" });
                    }
                }
            }
        }
        self.regions = table(f.regions.iter().map(|r| r.name.as_str()));
        let rest = self.at;
        for (var, at) in pointers {
            self.at = at;
            let region = self.region()?;
            f.vars[var.0 as usize].points = Some(region);
        }
        self.at = rest;
        if self.is_word("params") {
            self.vars = table(f.vars.iter().map(|v| v.name.as_str()));
            f.params.clear();
            self.sign("(")?;
            while !self.is_sign(")") {
                let var = self.var()?;
                f.params.push(Param { var, written: self.is_sign("!") });
            }
        }
        Ok(f)
    }

    /// Passes a function's statements and the brace that ends them.
    fn skip_body(&mut self) -> Read<()> {
        let mut open = 1usize;
        while open > 0 {
            match self.next() {
                Token::Sign("{") => open += 1,
                Token::Sign("}") => open -= 1,
                Token::End => return Err(self.error("`}` is expected here")),
                Token::Word(_) | Token::Text(_) | Token::Number(_) | Token::Sign(_) => {}
            }
        }
        Ok(())
    }

    fn block(&mut self) -> Read<Block> {
        self.sign("{")?;
        let within = self.budget.nested(self.nesting + 1, || "this block".to_string());
        within.map_err(|e| self.spent(e.instead("take a part of it into a function")))?;
        self.nesting += 1;
        let block = self.statements();
        self.nesting -= 1;
        block
    }

    /// Statements and the brace that ends them.
    fn statements(&mut self) -> Read<Block> {
        let mut block = Block::new();
        while !self.is_sign("}") {
            self.statements += 1;
            let within = self.budget.program(self.statements, || "the program".to_string());
            within.map_err(|e| self.spent(e.instead("use loops and functions")))?;
            block.push(self.statement()?);
        }
        Ok(block)
    }

    fn mem(&mut self) -> Read<Mem> {
        let region = self.region()?;
        self.sign("[")?;
        let mut mem = Mem { base: None, index: None, offset: 0, region };
        if matches!(self.token(), Token::Word(_) | Token::Text(_)) {
            if !self.is_word("_") {
                mem.base = Some(self.var()?);
            }
            if matches!(self.token(), Token::Sign("+")) && !matches!(self.second(), Token::Number(_)) {
                self.at += 1;
                mem.index = Some(self.var()?);
            }
            let plus = self.is_sign("+");
            if plus || matches!(self.token(), Token::Number(_)) {
                mem.offset = self.parsed()?;
            }
        } else {
            mem.offset = self.parsed()?;
        }
        self.sign("]")?;
        Ok(mem)
    }

    fn place(&mut self) -> Read<Place> {
        let after = match self.second() {
            Token::Sign("%") => self.at + 3,
            _ => self.at + 1,
        };
        let bracket = matches!(self.words.get(after), Some(Placed { token: Token::Sign("["), .. }));
        if bracket { self.mem().map(Place::Mem) } else { self.var().map(Place::Var) }
    }

    fn operand(&mut self, ty: Ty) -> Read<Operand> {
        if let Token::Number(_) = self.token() {
            let error = self.error(format!("no {} number", ty.name()));
            let text = self.number()?;
            return constant(&text, ty, self.format).map(Operand::Const).ok_or(error);
        }
        self.place().map(Operand::from)
    }

    fn operands(&mut self, ty: impl Fn(usize) -> Ty) -> Read<Vec<Operand>> {
        self.sign("(")?;
        let mut out = Vec::new();
        if self.is_sign(")") {
            return Ok(out);
        }
        loop {
            out.push(self.operand(ty(out.len()))?);
            if self.is_sign(")") {
                return Ok(out);
            }
            self.sign(",")?;
        }
    }

    fn test(&mut self) -> Read<Test> {
        // The type stands behind the left side, which may be a number.
        let from = self.at;
        self.operand(Ty::Int).or_else(|e| {
            if matches!(self.words[from].token, Token::Number(_)) { Ok(Operand::Const(0)) } else { Err(e) }
        })?;
        let error = self.error("a comparison is expected here, as `lt.i`");
        let word = self.any_word()?;
        let (name, ty) = word.rsplit_once('.').ok_or(error.clone())?;
        let cond = Cond::TESTS.into_iter().find(|c| c.name() == name).ok_or(error.clone())?;
        let ty = letter(ty).ok_or(error)?;
        let after = self.at;
        self.at = from;
        let a = self.operand(ty)?;
        self.at = after;
        Ok(Test { cond, ty, a, b: self.operand(ty)? })
    }

    fn condition(&mut self) -> Read<Condition> {
        let compute = if self.is_word("given") { self.block()? } else { Block::new() };
        Ok(Condition { compute, test: self.test()? })
    }

    fn care(&mut self) -> AncillaChecks {
        AncillaChecks { check: self.is_word("check"), drop: self.is_word("drop") }
    }

    fn statement(&mut self) -> Read<At> {
        let word = match self.token() {
            Token::Word(w) => w.clone(),
            Token::Text(_) => String::new(),
            Token::Number(_) | Token::Sign(_) | Token::End => return Err(self.error("a statement is expected here")),
        };
        let from = self.at;
        self.at += 1;
        let structured = matches!(word.as_str(), "if" | "while" | "for" | "with" | "span" | "unspan");
        let early = if structured { self.loc()? } else { Loc::default() };
        let stmt = match word.as_str() {
            "apply" => self.permute()?,
            "begin" | "end" => Stmt::Ancilla { var: self.var()?, free: word == "end", care: self.care() },
            "array" | "unarray" => self.array(word == "unarray")?,
            "call" | "uncall" => {
                let func = self.function()?;
                let callee = self.program.functions.get(func as usize);
                let types: Vec<Ty> = (0..callee.map_or(0, |f| f.params.len())).map(|n| param_type(callee, n)).collect();
                let args = self.operands(|n| types.get(n).copied().unwrap_or(Ty::Int))?;
                Stmt::Call { func: FunctionId(func), inverse: word == "uncall", args }
            }
            "if" => {
                let (pre, then) = (self.condition()?, self.block()?);
                let otherwise = if self.is_word("else") { self.block()? } else { Block::new() };
                self.word("post")?;
                Stmt::If { pre, post: self.condition()?, then, otherwise }
            }
            "while" => {
                let pre = self.condition()?;
                let first = if self.is_word("first") { self.block()? } else { Block::new() };
                let body = self.block()?;
                self.word("post")?;
                Stmt::While { pre, post: self.condition()?, first, body }
            }
            "for" => self.count()?,
            "with" => {
                let (name, compute) = (self.quoted()?, self.block()?);
                self.word("do")?;
                Stmt::With { name, compute, body: self.block()? }
            }
            "span" | "unspan" => Stmt::Span { undo: word == "unspan", name: self.quoted()?, body: self.block()? },
            "assert" => {
                let why: Option<Why> = REASONS.iter().find(|(_, name)| self.sees(name)).map(|(why, _)| *why);
                let why = why.ok_or_else(|| self.error("a reason is expected here"))?;
                self.at += 1;
                let test = self.test()?;
                let says = if self.is_sign(":") { Some(self.reason()?) } else { None };
                Stmt::Assert { test, why, says }
            }
            "print" => Stmt::Print(self.parsed()?),
            _ => match word.strip_prefix("show.").map(letter) {
                Some(Some(ty)) => Stmt::Show { ty, value: self.operand(ty)? },
                _ => {
                    self.at = from;
                    self.update()?
                }
            },
        };
        let loc = if structured { early } else { self.loc()? };
        Ok(At { stmt, loc })
    }

    fn update(&mut self) -> Read<Stmt> {
        let dst = self.place()?;
        let (acc, inverse) = match self.token() {
            Token::Sign("+=") => (Acc::Add, false),
            Token::Sign("-=") => (Acc::Add, true),
            Token::Sign("^=") => (Acc::Xor, false),
            Token::Sign("^~=") => (Acc::Xor, true),
            Token::Sign("*=") => (Acc::Mul, false),
            Token::Sign("/=") => (Acc::Mul, true),
            _ => return Err(self.error("`+=` or the like is expected here")),
        };
        self.at += 1;
        let error = self.error("no such function");
        let func = self.any_word()?;
        let func = *self.funcs.get(&func).ok_or(error)?;
        let args = self.operands(|n| func.info().args.get(n).map_or(Ty::Int, |a| a.ty))?;
        Ok(Stmt::Update { acc, inverse, func, dst, args })
    }

    fn permute(&mut self) -> Read<Stmt> {
        let inverse = self.is_sign("~");
        let error = self.error("no such row");
        let word = self.any_word()?;
        let (name, ty) = word.rsplit_once('.').ok_or(error.clone())?;
        let (row, ty) = (*self.rows.get(name).ok_or(error.clone())?, letter(ty).ok_or(error)?);
        let args = self.operands(|_| row_type(row, ty))?;
        Ok(Stmt::Permute { row, inverse, ty, args })
    }

    fn array(&mut self, free: bool) -> Read<Stmt> {
        let base = self.var()?;
        self.sign(":")?;
        let ty = self.ty()?;
        self.sign("[")?;
        let len = self.operand(Ty::Int)?;
        self.sign("]")?;
        self.word("in")?;
        let region = self.region()?;
        Ok(Stmt::Array { base, len, region, ty, free, care: self.care() })
    }

    fn count(&mut self) -> Read<Stmt> {
        let var = self.var()?;
        self.sign("=")?;
        let first = self.operand(Ty::Int)?;
        self.word("to")?;
        let last = self.operand(Ty::Int)?;
        self.word("step")?;
        let step = if let Token::Number(_) = self.token() {
            Step::Const(self.parsed()?)
        } else {
            let negated = self.is_sign("-");
            Step::Var { var: self.var()?, negated }
        };
        Ok(Stmt::For { var, first, last, step, body: self.block()? })
    }
}

fn letter(word: &str) -> Option<Ty> {
    let mut chars = word.chars();
    let ty = Ty::from_letter(chars.next()?);
    if chars.next().is_some() { None } else { ty }
}
