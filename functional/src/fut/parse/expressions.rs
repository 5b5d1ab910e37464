//! Expressions: operators, `let`, `if`, `loop`, `match`, lambdas.

use pendula_isa::diagnostic::Diagnostic;

use super::{Parsed, Parser};
use crate::errors;
use crate::fut::lex::Tok;
use crate::fut::syntax::{Exp, ExpId, Function, Ident, Index, Let, LoopForm, Operator, RangeEnd, Span};

/// The levels of operators, by how their names begin; a longer beginning counts before a shorter one.
const LEVELS: [(&str, u8); 23] = [
    ("|>", 1),
    ("<|", 2),
    ("||", 3),
    ("&&", 4),
    ("<=", 5),
    (">=", 5),
    ("==", 5),
    ("!=", 5),
    ("<<", 7),
    (">>", 7),
    ("**", 10),
    ("//", 9),
    ("%%", 9),
    ("<", 5),
    (">", 5),
    ("!", 5),
    ("=", 5),
    ("&", 6),
    ("^", 6),
    ("|", 6),
    ("+", 8),
    ("-", 8),
    ("", 9),
];

/// A step from a value to a part of it.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Fields(Vec<Ident>),
    Index(Vec<Index>),
}

/// The level of `<|`, which groups to the right.
const RIGHT: u8 = 2;

/// How tightly an operator binds.
fn level(operator: &Operator) -> u8 {
    let name = operator.path.last().map_or("", |ident| &ident.name);
    if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return 0;
    }
    LEVELS.iter().find(|(begin, _)| name.starts_with(begin)).map_or(9, |(_, level)| *level)
}

impl Parser<'_> {
    /// Any expression.
    pub(super) fn exp(&mut self) -> Parsed<ExpId> {
        self.nested(|p| {
            let from = p.span();
            let mut exp = p.range()?;
            loop {
                if p.eat_word("with") {
                    exp = p.with(from, exp)?;
                } else if p.eat_mark(":") {
                    let is = p.type_exp()?;
                    exp = p.add(Exp::Ascribe(exp, is), from);
                } else if p.eat_mark(":>") {
                    let is = p.type_exp()?;
                    exp = p.add(Exp::Coerce(exp, is), from);
                } else {
                    return Ok(exp);
                }
            }
        })
    }

    /// `with [i].a = v`, behind the word.
    fn with(&mut self, from: Span, exp: ExpId) -> Parsed<ExpId> {
        let steps = self.steps()?;
        self.op("=")?;
        let value = self.range()?;
        Ok(self.replaced(from, exp, steps, value))
    }

    /// Indices and fields that lead to a part of a value.
    pub(super) fn steps(&mut self) -> Parsed<Vec<Step>> {
        let mut steps = Vec::new();
        loop {
            if self.is_mark("[") && (steps.is_empty() || self.close()) {
                steps.push(Step::Index(self.nested(Self::indices)?));
                continue;
            }
            if !steps.is_empty() && !matches!(self.peek(), Tok::Dot) {
                return Ok(steps);
            }
            if !steps.is_empty() || matches!(self.peek(), Tok::Dot) {
                self.advance();
            }
            let field = self.field()?;
            match steps.last_mut() {
                Some(Step::Fields(fields)) => fields.push(field),
                _ => steps.push(Step::Fields(vec![field])),
            }
        }
    }

    /// A value with the part that steps lead to replaced. Where fields and indices mix, the value gets a name that no program can write.
    fn replaced(&mut self, from: Span, exp: ExpId, mut steps: Vec<Step>, value: ExpId) -> ExpId {
        if steps.len() == 1 {
            return match steps.pop() {
                Some(Step::Index(indices)) => self.add(Exp::With(exp, indices, value), from),
                Some(Step::Fields(fields)) => self.add(Exp::WithField(exp, fields, value), from),
                None => exp,
            };
        }
        let first = steps.remove(0);
        let whole = Ident { name: "the value".into(), span: from };
        let (one, other) =
            (self.add(Exp::Path(vec![whole.clone()]), from), self.add(Exp::Path(vec![whole.clone()]), from));
        let part = self.reached(from, one, &first);
        let part = self.replaced(from, part, steps, value);
        let body = self.replaced(from, other, vec![first], part);
        let bound = Let::Pattern(Vec::new(), crate::fut::syntax::Pat::Name(whole), exp);
        self.add(Exp::Lets(vec![(bound, from)], body), from)
    }

    /// The part of a value that a step leads to.
    pub(super) fn reached(&mut self, from: Span, exp: ExpId, step: &Step) -> ExpId {
        match step {
            Step::Index(indices) => self.add(Exp::Index(exp, indices.clone()), from),
            Step::Fields(fields) => {
                let mut exp = exp;
                for field in fields {
                    exp = self.add(Exp::Field(exp, field.clone()), from);
                }
                exp
            }
        }
    }

    /// Operators, perhaps a range of them: `a..b..<c`.
    fn range(&mut self) -> Parsed<ExpId> {
        let from = self.span();
        let first = self.binary(0)?;
        let second = if self.eat_mark("..") { Some(self.binary(0)?) } else { None };
        let end = match self.peek() {
            Tok::Mark("...") => RangeEnd::Inclusive,
            Tok::Mark("..<") => RangeEnd::Below,
            Tok::Mark("..>") => RangeEnd::Above,
            _ if second.is_some() => return Err(self.unexpected("`...`, `..<` or `..>`")),
            _ => return Ok(first),
        };
        self.advance();
        let last = self.binary(0)?;
        Ok(self.add(Exp::Range(first, second, end, last), from))
    }

    /// Operators of a level and above.
    fn binary(&mut self, least: u8) -> Parsed<ExpId> {
        let from = self.span();
        let mut left = self.operand()?;
        let mut height = 0;
        loop {
            let begin = self.at;
            let Some(operator) = self.operator()? else { return Ok(left) };
            let level = level(&operator);
            if level < least || self.is_mark(")") {
                self.at = begin;
                return Ok(left);
            }
            height += 1;
            if height > self.budget.height {
                let what = Diagnostic::error(
                    pendula_isa::budget::Resource::Depth.code(),
                    format!("more than {} operators in one expression", self.budget.height),
                );
                let help = "write it in several named parts";
                return Err(Box::new(what.at(operator.span.place(), "too many").help(help)));
            }
            let right = if level == RIGHT { self.nested(|p| p.binary(RIGHT))? } else { self.binary(level + 1)? };
            left = self.add(Exp::Binary(operator, left, right), from);
        }
    }

    /// What stands between operators: a sign, an application, or a form that goes on to the end.
    fn operand(&mut self) -> Parsed<ExpId> {
        self.attributes()?;
        let from = self.span();
        match self.peek() {
            Tok::Op(op) if &**op == "-" => {
                self.advance();
                let exp = self.nested(Self::operand)?;
                Ok(self.add(Exp::Negate(exp), from))
            }
            Tok::Op(op) if &**op == "!" => {
                self.advance();
                let exp = self.nested(Self::operand)?;
                Ok(self.add(Exp::Not(exp), from))
            }
            Tok::Word("if") => {
                self.advance();
                let condition = self.exp()?;
                self.word("then")?;
                let yes = self.exp()?;
                self.word("else")?;
                let no = self.exp()?;
                Ok(self.add(Exp::If(condition, yes, no), from))
            }
            Tok::Word("let" | "def") => self.lets(),
            Tok::Word("loop") => self.loop_(),
            Tok::Word("match") => self.match_(),
            Tok::Mark("\\") => self.lambda(),
            _ => self.application(),
        }
    }

    /// A row of `let`s.
    fn lets(&mut self) -> Parsed<ExpId> {
        let from = self.span();
        let mut lets = Vec::new();
        loop {
            let start = self.span();
            if !self.eat_word("let") && !self.eat_word("def") {
                let body = self.exp()?;
                return Ok(self.add(Exp::Lets(lets, body), from));
            }
            let bound = self.let_()?;
            lets.push((bound, start.to(self.last_span())));
            self.eat_word("in");
            self.attributes()?;
        }
    }

    /// One binding, behind `let`.
    fn let_(&mut self) -> Parsed<Let> {
        self.attributes()?;
        let sizes = self.sizes()?;
        if sizes.is_empty() {
            if let Some((first, name, second)) = self.infix_head()? {
                return Ok(Let::Function(name, self.function_rest(Vec::new(), vec![first, second])?));
            }
            let part =
                matches!(self.peek_at(1), Tok::Mark("[")) && self.close_at(1) || matches!(self.peek_at(1), Tok::Dot);
            if matches!(self.peek(), Tok::Name(_)) && part {
                let from = self.span();
                let name = self.ident("an array or record")?;
                let mut steps = self.steps()?;
                self.op("=")?;
                let value = self.exp()?;
                if let [Step::Index(_)] = steps.as_slice()
                    && let Some(Step::Index(indices)) = steps.pop()
                {
                    return Ok(Let::Update(name, indices, value));
                }
                let old = self.add(Exp::Path(vec![name.clone()]), from);
                let new = self.replaced(from, old, steps, value);
                return Ok(Let::Pattern(Vec::new(), crate::fut::syntax::Pat::Name(name), new));
            }
            let operator = self.is_mark("(") && matches!(self.peek_at(1), Tok::Op(_));
            let function = matches!(self.peek(), Tok::Name(_))
                && matches!(self.peek_at(1), Tok::Name(_) | Tok::Word("_") | Tok::Mark("(" | "{" | "[" | "'"));
            if operator || function {
                let name = self.binder()?;
                let (type_params, params) = self.function_head()?;
                return Ok(Let::Function(name, self.function_rest(type_params, params)?));
            }
        }
        let pat = self.pattern()?;
        self.op("=")?;
        Ok(Let::Pattern(sizes, pat, self.exp()?))
    }

    /// Sizes that a pattern binds: `[n] [m]`.
    fn sizes(&mut self) -> Parsed<Vec<Ident>> {
        let mut sizes = Vec::new();
        while self.eat_mark("[") {
            sizes.push(self.ident("a size")?);
            self.mark("]")?;
        }
        Ok(sizes)
    }

    fn loop_(&mut self) -> Parsed<ExpId> {
        let from = self.span();
        self.advance();
        self.attributes()?;
        let sizes = self.sizes()?;
        let pat = self.pattern()?;
        let init = if self.eat_op("=") { Some(self.exp()?) } else { None };
        let form = if self.eat_word("while") {
            LoopForm::While(self.exp()?)
        } else {
            self.word("for")?;
            if matches!(self.peek(), Tok::Name(_)) && matches!(self.peek_at(1), Tok::Op(op) if &**op == "<") {
                let counter = self.ident("a counter")?;
                self.advance();
                LoopForm::Below(counter, self.exp()?)
            } else {
                let each = self.pattern()?;
                self.word("in")?;
                LoopForm::Each(each, self.exp()?)
            }
        };
        self.word("do")?;
        let body = self.exp()?;
        Ok(self.add(Exp::Loop(sizes, pat, init, form, body), from))
    }

    fn match_(&mut self) -> Parsed<ExpId> {
        let from = self.span();
        self.advance();
        let of = self.exp()?;
        let mut cases = Vec::new();
        while self.eat_word("case") {
            let pat = self.pattern()?;
            self.op("->")?;
            cases.push((pat, self.exp()?));
        }
        if cases.is_empty() {
            return Err(self.unexpected("`case`"));
        }
        Ok(self.add(Exp::Match(of, cases), from))
    }

    /// `\x y : t -> e`.
    pub(super) fn lambda(&mut self) -> Parsed<ExpId> {
        let from = self.span();
        self.mark("\\")?;
        let (type_params, params) = self.function_head()?;
        if params.is_empty() {
            return Err(self.unexpected("a parameter"));
        }
        let result = if self.eat_mark(":") { Some(self.type_term()?) } else { None };
        self.op("->")?;
        let body = self.exp()?;
        Ok(self.add(Exp::Lambda(Function { type_params, params, result, body }), from))
    }

    /// `[i, a:b, ::-1]`.
    pub(super) fn indices(&mut self) -> Parsed<Vec<Index>> {
        self.mark("[")?;
        let found = self.separated("]", Self::index)?;
        if found.is_empty() {
            return Err(Box::new(
                Diagnostic::error(errors::FUT_SYNTAX, "an index is missing")
                    .at(self.last_span().place(), "nothing between the brackets"),
            ));
        }
        Ok(found)
    }

    fn index(&mut self) -> Parsed<Index> {
        let part = |p: &mut Self| {
            if p.is_mark(":") || p.is_mark(",") || p.is_mark("]") { Ok(None) } else { p.range().map(Some) }
        };
        let first = part(self)?;
        if !self.eat_mark(":") {
            return first.map(Index::At).ok_or_else(|| self.unexpected("an index"));
        }
        let second = part(self)?;
        let third = if self.eat_mark(":") { part(self)? } else { None };
        Ok(Index::Slice(first, second, third))
    }
}
