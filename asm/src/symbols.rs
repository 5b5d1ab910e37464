//! The meanings of names, and the evaluation of constant expressions.
//!
//! Constants of `.equ` are evaluated when they are first needed, with an explicit stack, so that a long chain of them
//! needs no recursion. This module also converts values to words of the type that an operand expects.
//! [`assemble`](crate::assemble) assigns addresses.

use std::collections::HashSet;

use pendula_isa::num::decimal::{self, NumberError};
use pendula_isa::{Format, Ty};

use crate::ast::{ArgKind, ExprRef, Node, NodeKind, Span, Via};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::foreign;
use crate::intern::Sym;
use crate::parser::{duplicate, near};
use crate::session::{Parsed, Reported, Session};
use crate::value::{EvalError, Mode, Value, apply, fits, int_word, report};

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Def {
    Undefined,
    Code {
        at: u32,
        proc: bool,
    },
    Data {
        address: u64,
        object: u32,
    },
    /// Index into the constants.
    Const(u32),
}

/// A name's entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) def: Def,
    pub(crate) span: Span,
    pub(crate) global: bool,
    pub(crate) import: bool,
    pub(crate) export: bool,
}

const NONE: Entry =
    Entry { def: Def::Undefined, span: Span { start: 0, len: 0 }, global: false, import: false, export: false };

#[derive(Clone, Copy, Debug)]
enum State {
    New,
    Active,
    Done {
        whole: Value,
        /// The same where numbers with a fraction are expected.
        exact: Result<Value, EvalError>,
    },
    Failed,
}

#[derive(Clone, Copy, Debug)]
struct Const {
    name: Sym,
    expr: ExprRef,
    span: Span,
    via: Via,
    state: State,
}

/// The names of a program.
#[derive(Debug)]
pub(crate) struct Symbols {
    entries: Vec<Entry>,
    consts: Vec<Const>,
    /// The constants that the program defines, and those that come with it.
    overridden: HashSet<Sym>,
    /// The names of code and data, in the order of their definition.
    pub(crate) order: Vec<Sym>,
    pub(crate) format: Format,
    /// Whether every name has been seen. Before that, an unknown name may be defined later.
    pub(crate) complete: bool,
    inf: Sym,
    nan: Sym,
    /// The operands of the expression that is being evaluated.
    stack: Vec<(Value, Span)>,
}

/// The number of names that an unknown one is compared with.
const MAX_COMPARED: usize = 20_000;

impl Symbols {
    pub(crate) fn new(s: &mut Session) -> Symbols {
        let (inf, nan) = (s.names.intern("inf"), s.names.intern("nan"));
        Symbols {
            entries: vec![NONE; s.names.len()],
            consts: Vec::new(),
            overridden: HashSet::new(),
            order: Vec::new(),
            format: Format::default(),
            complete: false,
            inf,
            nan,
            stack: Vec::new(),
        }
    }

    pub(crate) fn get(&self, name: Sym) -> Entry {
        self.entries.get(name.index()).copied().unwrap_or(NONE)
    }

    pub(crate) fn entry(&mut self, name: Sym) -> &mut Entry {
        if self.entries.len() <= name.index() {
            self.entries.resize(name.index() + 1, NONE);
        }
        &mut self.entries[name.index()]
    }

    /// Defines a name; false if it is already defined.
    pub(crate) fn define(&mut self, s: &mut Session, name: Sym, def: Def, span: Span, via: Via) -> bool {
        let entry = self.entry(name);
        if entry.def != Def::Undefined {
            let first = entry.span;
            let diagnostic = duplicate(s, name, "the name", span, first);
            s.report(diagnostic, via);
            return false;
        }
        (entry.def, entry.span) = (def, span);
        if !matches!(def, Def::Const(_)) {
            self.order.push(name);
        }
        true
    }

    /// Defines the name of a constant.
    pub(crate) fn define_const(&mut self, s: &mut Session, name: Sym, expr: ExprRef, span: Span, via: Via) {
        let before = self.get(name);
        if matches!(before.def, Def::Const(_)) && s.is_from_define(before.span) && !s.is_from_define(span) {
            // The `.equ` is a default, which a definition that comes with the program overrides.
            self.overridden.insert(name);
            return;
        }
        let def = Def::Const(self.consts.len() as u32);
        self.consts.push(Const { name, expr, span, via, state: State::New });
        let _ = self.define(s, name, def, span, via);
    }

    /// Warns of definitions that come with the program and that it does not use.
    pub(crate) fn check_defines(&self, s: &mut Session) {
        if s.define_file.is_none() || s.failed() {
            return;
        }
        let in_expressions = s.ast.nodes.iter().filter_map(|node| match node.kind {
            NodeKind::Name(name) => Some(name),
            _ => None,
        });
        let alone = s.ast.args.iter().filter_map(|arg| match arg.kind {
            ArgKind::Name(name) => Some(name),
            _ => None,
        });
        let used: HashSet<Sym> = in_expressions.chain(alone).chain(self.overridden.iter().copied()).collect();
        let unused: Vec<Const> =
            self.consts.iter().filter(|c| s.is_from_define(c.span) && !used.contains(&c.name)).copied().collect();
        for Const { name, span, via, .. } in unused {
            let text = s.names.text(name).to_string();
            let known = self.consts.iter().filter(|c| c.name != name).map(|c| s.names.text(c.name));
            let help = match known
                .filter(|k| near(&text, k) || k.eq_ignore_ascii_case(&text))
                .min_by_key(|k| k.len().abs_diff(text.len()))
            {
                Some(similar) => format!("did you mean `{similar}`?"),
                None => format!("use it, or give it a value with `.equ {text}, …`, which this passes over"),
            };
            let message = format!("the program does not use `{text}`");
            let d = Diagnostic::warning(codes::UNUSED_DEFINE, message).at(s.place(span), "");
            s.report(d.help(help), via);
        }
    }

    /// Evaluates every constant, in order to report its errors.
    pub(crate) fn check_consts(&mut self, s: &mut Session) {
        for n in 0..self.consts.len() {
            self.resolve(s, vec![n]);
        }
    }

    /// The value of a name. `ty` is the type that the context expects.
    pub(crate) fn name(&mut self, s: &mut Session, name: Sym, ty: Ty, span: Span, via: Via) -> Parsed<Value> {
        if let Def::Const(n) = self.get(name).def {
            self.resolve(s, vec![n as usize]);
        }
        self.value_of(s, name, Mode::of(ty), span, via).map_err(|error| report(s, error, via))
    }

    /// The value of an expression. `ty` is the type that the context expects.
    pub(crate) fn eval(&mut self, s: &mut Session, expr: ExprRef, ty: Ty, via: Via) -> Parsed<Value> {
        let mut dependencies = Vec::new();
        for node in s.ast.nodes(expr) {
            self.unresolved(node, &mut dependencies);
        }
        if !dependencies.is_empty() {
            self.resolve(s, dependencies);
        }
        let value = self.compute(s, expr, (Mode::of(ty), ty == Ty::F), via);
        value.map_err(|error| report(s, error, via))
    }

    fn unresolved(&self, node: &Node, out: &mut Vec<usize>) {
        if let NodeKind::Name(name) = node.kind
            && let Def::Const(n) = self.get(name).def
            && matches!(self.consts.get(n as usize), Some(Const { state: State::New | State::Active, .. }))
        {
            out.push(n as usize);
        }
    }

    /// Evaluates constants, after those that they depend on.
    fn resolve(&mut self, s: &mut Session, mut stack: Vec<usize>) {
        while let Some(&top) = stack.last() {
            let Some(&Const { name, expr, span, via, state }) = self.consts.get(top) else { return };
            match state {
                State::Done { .. } | State::Failed => {
                    stack.pop();
                }
                State::New => {
                    self.consts[top].state = State::Active;
                    let mut dependencies = Vec::new();
                    for node in s.ast.nodes(expr) {
                        self.unresolved(node, &mut dependencies);
                    }
                    let active = |n: &&usize| matches!(self.consts[**n].state, State::Active);
                    if let Some(&n) = dependencies.iter().find(active) {
                        let message = format!("the constant `{}` depends on itself", s.names.text(name));
                        let mut diagnostic = s.error(codes::CYCLE, message, span);
                        if n != top {
                            diagnostic = diagnostic.also(s.place(self.consts[n].span), "through this one");
                        }
                        let help = if n == top {
                            "give it a value that does not need it"
                        } else {
                            "give one of them a value that does not need the other"
                        };
                        s.report(diagnostic.help(help), via);
                        self.consts[top].state = State::Failed;
                        continue;
                    }
                    stack.extend(dependencies);
                }
                State::Active => {
                    self.consts[top].state = self.both(s, expr, via);
                    stack.pop();
                }
            }
        }
    }

    /// The value of a constant where integers are expected, and where other numbers are.
    fn both(&mut self, s: &mut Session, expr: ExprRef, via: Via) -> State {
        let whole = self.compute(s, expr, (Mode::Whole, false), via);
        let exact = match whole {
            Err(EvalError::Reported) => Err(EvalError::Reported),
            _ => self.compute(s, expr, (Mode::Exact, false), via),
        };
        match (whole, exact) {
            (Ok(whole), exact) => State::Done { whole, exact },
            // This is an error only where an integer is expected.
            (Err(EvalError::Fraction(_)), Ok(value)) => State::Done { whole: value, exact },
            (Err(error), _) => {
                report(s, error, via);
                // A name that is not yet defined may be defined later.
                if self.complete { State::Failed } else { State::New }
            }
        }
    }

    /// Evaluates an expression whose constants have been evaluated. `double` says whether `inf` and `nan` are numbers
    /// in it.
    fn compute(
        &mut self,
        s: &mut Session,
        expr: ExprRef,
        (mode, double): (Mode, bool),
        via: Via,
    ) -> Result<Value, EvalError> {
        self.stack.clear();
        for n in 0..expr.count {
            let Some(&Node { kind, span }) = s.ast.nodes.get((expr.first + n) as usize) else {
                return Err(EvalError::Reported);
            };
            let entry = match kind {
                NodeKind::Int(n) => (Value::Int(i128::from(n)), span),
                NodeKind::Raw(n) => (Value::Raw(n), span),
                NodeKind::Real(text, ty) => (Value::Real { text, negative: false, ty }, span),
                NodeKind::Name(name) if double && (name == self.inf || name == self.nan) => {
                    (Value::Real { text: name, negative: false, ty: Some(Ty::F) }, span)
                }
                NodeKind::Name(name) => (self.value_of(s, name, mode, span, via)?, span),
                NodeKind::Neg => {
                    let Some((value, at)) = self.stack.pop() else { return Err(EvalError::Reported) };
                    let span = span.to(at);
                    let value = match value {
                        Value::Int(n) => Value::Int(n.checked_neg().ok_or(EvalError::Overflow(span))?),
                        Value::Real { text, negative, ty } => Value::Real { text, negative: !negative, ty },
                        Value::Ratio { ratio, ty } => Value::Ratio { ratio: ratio.negated(), ty },
                        Value::Raw(_) => return Err(EvalError::Raw(at)),
                    };
                    (value, span)
                }
                NodeKind::Not => {
                    let Some((value, at)) = self.stack.pop() else { return Err(EvalError::Reported) };
                    match value {
                        Value::Int(n) => (Value::Int(!n), span.to(at)),
                        Value::Raw(_) => return Err(EvalError::Raw(at)),
                        Value::Real { .. } | Value::Ratio { .. } => return Err(EvalError::Bits(at, "~")),
                    }
                }
                NodeKind::Binary(op) => {
                    let (Some(b), Some(a)) = (self.stack.pop(), self.stack.pop()) else {
                        return Err(EvalError::Reported);
                    };
                    (apply(s, op, mode, a, b)?, a.1.to(b.1))
                }
            };
            self.stack.push(entry);
        }
        match self.stack.pop() {
            Some((value, _)) => Ok(value),
            None => Ok(Value::Int(0)),
        }
    }

    fn value_of(&self, s: &mut Session, name: Sym, mode: Mode, span: Span, via: Via) -> Result<Value, EvalError> {
        match self.get(name).def {
            Def::Code { at, .. } => Ok(Value::Int(i128::from(at))),
            Def::Data { address, .. } => Ok(Value::Int(i128::from(address))),
            Def::Const(n) => match self.consts.get(n as usize).map(|c| c.state) {
                Some(State::Done { whole, .. }) if mode == Mode::Whole => Ok(whole),
                Some(State::Done { exact, .. }) => exact,
                // The error was reported at the definition.
                _ => Err(EvalError::Reported),
            },
            Def::Undefined => Err(self.undefined(s, name, span, via).into()),
        }
    }

    /// Reports a name that is not defined, or not yet.
    pub(crate) fn undefined(&self, s: &mut Session, name: Sym, span: Span, via: Via) -> Reported {
        let text = s.names.text(name);
        let how = format!("as a label `{text}:`, or by `.equ {text}, value`");
        self.undefined_but(s, name, span, via, &how)
    }

    /// Reports a name that is not defined; `how` says how to define it here.
    pub(crate) fn undefined_but(&self, s: &mut Session, name: Sym, span: Span, via: Via, how: &str) -> Reported {
        let text = s.names.text(name).to_string();
        if !self.complete {
            let message = format!("`{text}` has no value yet, and a size is needed here");
            return s.fail(
                codes::NOT_YET,
                message,
                span,
                via,
                "sizes use numbers and names defined above: move the definition up",
            );
        }
        let consts = self.consts.iter().map(|c| c.name);
        let known = self.order.iter().copied().chain(consts).take(MAX_COMPARED).map(|n| s.names.text(n));
        let similar = known
            // Every name of one letter is similar to every other.
            .filter(|k| (text.len() > 1 && near(&text, k)) || k.eq_ignore_ascii_case(&text))
            .min_by_key(|k| k.len().abs_diff(text.len()));
        let help = match similar {
            Some(similar) if similar.eq_ignore_ascii_case(&text) => {
                format!("names are case-sensitive: did you mean `{similar}`?")
            }
            Some(similar) => format!("did you mean `{similar}`?"),
            None if text == "inf" || text == "nan" => "`inf` and `nan` are numbers of the type `f` only".to_string(),
            None => match foreign::register(&text) {
                Some((help, true)) => help.to_string(),
                Some((help, false)) => format!("define it: {how}; {help}"),
                None => format!("define it: {how}"),
            },
        };
        s.fail(codes::UNDEFINED, format!("`{text}` is not defined"), span, via, help)
    }

    /// A value as a word of a type.
    pub(crate) fn word(&self, s: &mut Session, value: Value, ty: Ty, span: Span, via: Via) -> Parsed<u64> {
        let number = match value {
            Value::Raw(word) => return Ok(word),
            Value::Int(n) if ty == Ty::Int => return int_word(s, n, span, via),
            Value::Int(n) => self.parse(&n.to_string(), ty),
            Value::Ratio { ratio, ty: literal_ty } => {
                fits(s, literal_ty, ty, span, via)?;
                self.parse(&ratio.text(), ty)
            }
            Value::Real { text, negative, ty: literal_ty } => {
                fits(s, literal_ty, ty, span, via)?;
                let digits = s.names.text(text);
                let nan = text == self.nan;
                if negative && !nan { self.parse(&format!("-{digits}"), ty) } else { self.parse(digits, ty) }
            }
        };
        number.map_err(|error| {
            let help = match ty {
                Ty::Q => "choose another `.format`, a smaller number, or another type",
                Ty::L => "write a number with a magnitude in this range, or use another type",
                Ty::Int | Ty::F => "write a number of smaller magnitude",
            };
            s.fail(codes::NUMBER_RANGE, error.to_string(), span, via, help)
        })
    }

    fn parse(&self, text: &str, ty: Ty) -> Result<u64, NumberError> {
        match ty {
            // Integers are handled above.
            Ty::Int => Err(NumberError::Syntax),
            Ty::Q => decimal::parse_q(text, self.format),
            Ty::L => decimal::parse_l(text),
            Ty::F => decimal::parse_f(text),
        }
    }

    /// Whether the name is a literal where numbers of this type are expected.
    pub(crate) fn is_literal(&self, name: Sym, ty: Ty) -> bool {
        ty == Ty::F && (name == self.inf || name == self.nan)
    }

    /// The value of a literal like `inf`.
    pub(crate) fn literal(&self, name: Sym) -> Value {
        Value::Real { text: name, negative: false, ty: Some(Ty::F) }
    }
}
