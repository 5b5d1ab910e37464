//! What names stand for, and the values of constant expressions.
//!
//! Constants of `.equ` are evaluated when they are first needed, with a stack
//! of our own, so that a long chain of them costs no recursion. Which word a
//! value is in the type that an operand wants is decided here too. Addresses
//! are given out by [`assemble`](crate::assemble).

use std::collections::HashSet;

use pendula_isa::num::decimal::{self, NumberError};
use pendula_isa::{Format, Ty};

use crate::ast::{ArgKind, Binary, ExprRef, Node, NodeKind, Span, Via};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::foreign;
use crate::intern::Sym;
use crate::parser::{duplicate, near};
use crate::session::{Parsed, Reported, Session};

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

/// A constant's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Int(i128),
    Real { text: Sym, negative: bool, ty: Option<Ty> },
    Raw(u64),
}

#[derive(Clone, Copy, Debug)]
enum State {
    New,
    Active,
    Done(Value),
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
    /// Constants that the program defines, and that come with it.
    passed_over: HashSet<Sym>,
    /// Names of code and data, in the order of their definition.
    pub(crate) order: Vec<Sym>,
    pub(crate) format: Format,
    /// Whether every name has been seen: before, an unknown one may be defined later.
    pub(crate) complete: bool,
    inf: Sym,
    nan: Sym,
    /// Operands of the expression being evaluated.
    stack: Vec<(Value, Span)>,
}

/// The integers that a word holds, signed or unsigned.
const WORD: std::ops::RangeInclusive<i128> = i64::MIN as i128..=u64::MAX as i128;
/// How many names are compared with an unknown one.
const MAX_COMPARED: usize = 20_000;

impl Symbols {
    pub(crate) fn new(s: &mut Session) -> Symbols {
        let (inf, nan) = (s.names.intern("inf"), s.names.intern("nan"));
        Symbols {
            entries: vec![NONE; s.names.len()],
            consts: Vec::new(),
            passed_over: HashSet::new(),
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

    /// Gives a name its meaning; false if it has one.
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

    /// Gives a name to a constant.
    pub(crate) fn define_const(&mut self, s: &mut Session, name: Sym, expr: ExprRef, span: Span, via: Via) {
        let before = self.get(name);
        if matches!(before.def, Def::Const(_)) && s.is_given(before.span) && !s.is_given(span) {
            // The value where none is given.
            self.passed_over.insert(name);
            return;
        }
        let def = Def::Const(self.consts.len() as u32);
        self.consts.push(Const { name, expr, span, via, state: State::New });
        let _ = self.define(s, name, def, span, via);
    }

    /// Warns of definitions that come with the program, and that it has no use for.
    pub(crate) fn check_given(&self, s: &mut Session) {
        if s.given.is_none() || s.failed() {
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
        let used: HashSet<Sym> = in_expressions.chain(alone).chain(self.passed_over.iter().copied()).collect();
        let unused: Vec<Const> =
            self.consts.iter().filter(|c| s.is_given(c.span) && !used.contains(&c.name)).copied().collect();
        for Const { name, span, via, .. } in unused {
            let text = s.names.text(name).to_string();
            let known = self.consts.iter().filter(|c| c.name != name).map(|c| s.names.text(c.name));
            let help = match known.filter(|k| near(&text, k)).min_by_key(|k| k.len().abs_diff(text.len())) {
                Some(similar) => format!("did you mean `{similar}`?"),
                None => format!("use it, or give it a value with `.equ {text}, …`, which this passes over"),
            };
            let message = format!("the program has no use for `{text}`");
            let d = Diagnostic::warning(codes::UNUSED_DEFINE, message).at(s.place(span), "");
            s.report(d.help(help), via);
        }
    }

    /// Evaluates every constant, for what is wrong with it.
    pub(crate) fn check_consts(&mut self, s: &mut Session) {
        for n in 0..self.consts.len() {
            self.resolve(s, vec![n]);
        }
    }

    /// The value of a name.
    pub(crate) fn name(&mut self, s: &mut Session, name: Sym, span: Span, via: Via) -> Parsed<Value> {
        if let Def::Const(n) = self.get(name).def {
            self.resolve(s, vec![n as usize]);
        }
        self.value_of(s, name, span, via)
    }

    /// The value of an expression. `ty` is the type that the context wants.
    pub(crate) fn eval(&mut self, s: &mut Session, expr: ExprRef, ty: Option<Ty>, via: Via) -> Parsed<Value> {
        let mut wanted = Vec::new();
        for node in s.ast.nodes(expr) {
            self.unresolved(node, &mut wanted);
        }
        if !wanted.is_empty() {
            self.resolve(s, wanted);
        }
        self.compute(s, expr, ty, via)
    }

    fn unresolved(&self, node: &Node, out: &mut Vec<usize>) {
        if let NodeKind::Name(name) = node.kind
            && let Def::Const(n) = self.get(name).def
            && matches!(self.consts.get(n as usize), Some(Const { state: State::New | State::Active, .. }))
        {
            out.push(n as usize);
        }
    }

    /// Evaluates constants, and before them those that they are made of.
    fn resolve(&mut self, s: &mut Session, mut stack: Vec<usize>) {
        while let Some(&top) = stack.last() {
            let Some(&Const { name, expr, span, via, state }) = self.consts.get(top) else { return };
            match state {
                State::Done(_) | State::Failed => {
                    stack.pop();
                }
                State::New => {
                    self.consts[top].state = State::Active;
                    let mut wanted = Vec::new();
                    for node in s.ast.nodes(expr) {
                        self.unresolved(node, &mut wanted);
                    }
                    let active = |n: &&usize| matches!(self.consts[**n].state, State::Active);
                    if let Some(&n) = wanted.iter().find(active) {
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
                    stack.extend(wanted);
                }
                State::Active => {
                    self.consts[top].state = match self.compute(s, expr, None, via) {
                        Ok(value) => State::Done(value),
                        // What is not yet defined may be later.
                        Err(Reported) if !self.complete => State::New,
                        Err(Reported) => State::Failed,
                    };
                    stack.pop();
                }
            }
        }
    }

    /// Evaluates an expression whose constants have been.
    fn compute(&mut self, s: &mut Session, expr: ExprRef, ty: Option<Ty>, via: Via) -> Parsed<Value> {
        self.stack.clear();
        for n in 0..expr.count {
            let Some(&Node { kind, span }) = s.ast.nodes.get((expr.first + n) as usize) else { return Err(Reported) };
            let entry = match kind {
                NodeKind::Int(n) => (Value::Int(i128::from(n)), span),
                NodeKind::Raw(n) => (Value::Raw(n), span),
                NodeKind::Real(text, ty) => (Value::Real { text, negative: false, ty }, span),
                NodeKind::Name(name) if ty == Some(Ty::F) && (name == self.inf || name == self.nan) => {
                    (Value::Real { text: name, negative: false, ty: Some(Ty::F) }, span)
                }
                NodeKind::Name(name) => (self.value_of(s, name, span, via)?, span),
                NodeKind::Neg => {
                    let Some((value, at)) = self.stack.pop() else { return Err(Reported) };
                    let span = span.to(at);
                    match value {
                        Value::Int(n) => (Value::Int(checked(s, n.checked_neg(), span, via)?), span),
                        Value::Real { text, negative, ty } => (Value::Real { text, negative: !negative, ty }, span),
                        Value::Raw(_) => return Err(no_arithmetic(s, value, at, via)),
                    }
                }
                NodeKind::Not => {
                    let Some((value, at)) = self.stack.pop() else { return Err(Reported) };
                    let Value::Int(n) = value else { return Err(no_arithmetic(s, value, at, via)) };
                    (Value::Int(!n), span.to(at))
                }
                NodeKind::Binary(op) => {
                    let (Some(b), Some(a)) = (self.stack.pop(), self.stack.pop()) else { return Err(Reported) };
                    let whole = a.1.to(b.1);
                    match (a, b) {
                        ((Value::Int(x), _), (Value::Int(y), at)) => {
                            if matches!(op, Binary::Div | Binary::Rem) && y == 0 {
                                let message = "this divides by zero";
                                let help = "give the divisor another value";
                                return Err(s.fail(codes::ARITHMETIC, message, at, via, help));
                            }
                            if matches!(op, Binary::Shl | Binary::Shr) && !(0..64).contains(&y) {
                                let message = format!("a shift by {y} is outside 0 to 63");
                                return Err(s.fail(codes::ARITHMETIC, message, at, via, "shift by 0 to 63 bits"));
                            }
                            (Value::Int(checked(s, binary(op, x, y), whole, via)?), whole)
                        }
                        ((Value::Int(_), _), (other, at)) | ((other, at), _) => {
                            return Err(no_arithmetic(s, other, at, via));
                        }
                    }
                }
            };
            self.stack.push(entry);
        }
        match self.stack.pop() {
            Some((value, _)) => Ok(value),
            None => Ok(Value::Int(0)),
        }
    }

    fn value_of(&self, s: &mut Session, name: Sym, span: Span, via: Via) -> Parsed<Value> {
        match self.get(name).def {
            Def::Code { at, .. } => Ok(Value::Int(i128::from(at))),
            Def::Data { address, .. } => Ok(Value::Int(i128::from(address))),
            Def::Const(n) => match self.consts.get(n as usize).map(|c| c.state) {
                Some(State::Done(value)) => Ok(value),
                // Reported where it is defined.
                _ => Err(Reported),
            },
            Def::Undefined => Err(self.undefined(s, name, span, via)),
        }
    }

    /// Reports a name that nothing defines, or nothing yet.
    pub(crate) fn undefined(&self, s: &mut Session, name: Sym, span: Span, via: Via) -> Reported {
        let text = s.names.text(name);
        let how = format!("as a label `{text}:`, or by `.equ {text}, value`");
        self.undefined_but(s, name, span, via, &how)
    }

    /// Reports a name that nothing defines; `how` says how it is to be defined here.
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
            // Every name of one letter is near to every other.
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
            Value::Real { text, negative, ty: own } => {
                let digits = s.names.text(text);
                if let Some(own) = own.filter(|own| *own != ty) {
                    let message = format!("this number is {}, and {} is wanted", article(own), article(ty));
                    let help =
                        format!("leave the suffix out, write a raw word (`0x…w`), or convert by `{}`", cvt(ty, own));
                    return Err(s.fail(codes::TYPE, message, span, via, help));
                }
                if ty == Ty::Int {
                    let help = "write a whole number; what has a fraction goes into a register, or to an instruction \
                                with a suffix: `.q`, `.l` or `.f`";
                    return Err(s.fail(codes::REAL, "an integer is wanted here", span, via, help));
                }
                let nan = text == self.nan;
                if negative && !nan { self.parse(&format!("-{digits}"), ty) } else { self.parse(digits, ty) }
            }
        };
        number.map_err(|error| {
            let help = match ty {
                Ty::Q => "choose another `.format`, a smaller number, or another type",
                Ty::L => "write a number of a magnitude between these, or use another type",
                Ty::Int | Ty::F => "write a number of smaller magnitude",
            };
            s.fail(codes::NUMBER_RANGE, error.to_string(), span, via, help)
        })
    }

    fn parse(&self, text: &str, ty: Ty) -> Result<u64, NumberError> {
        match ty {
            // Integers do not come here.
            Ty::Int => Err(NumberError::Syntax),
            Ty::Q => decimal::parse_q(text, self.format),
            Ty::L => decimal::parse_l(text),
            Ty::F => decimal::parse_f(text),
        }
    }

    /// Whether the name is a literal where numbers of this type stand.
    pub(crate) fn is_literal(&self, name: Sym, ty: Ty) -> bool {
        ty == Ty::F && (name == self.inf || name == self.nan)
    }

    /// The value of a literal like `inf`.
    pub(crate) fn literal(&self, name: Sym) -> Value {
        Value::Real { text: name, negative: false, ty: Some(Ty::F) }
    }
}

/// An integer as a word.
pub(crate) fn int_word(s: &mut Session, n: i128, span: Span, via: Via) -> Parsed<u64> {
    if WORD.contains(&n) { Ok(n as u64) } else { checked(s, None, span, via).map(|n| n as u64) }
}

fn checked(s: &mut Session, n: Option<i128>, span: Span, via: Via) -> Parsed<i128> {
    n.ok_or_else(|| {
        let message = "this value does not fit 64 bits";
        s.fail(codes::OVERFLOW, message, span, via, "integers go from -2^63 to 2^64 - 1")
    })
}

fn binary(op: Binary, x: i128, y: i128) -> Option<i128> {
    match op {
        Binary::Mul => x.checked_mul(y),
        Binary::Div => x.checked_div(y),
        Binary::Rem => x.checked_rem(y),
        Binary::Add => x.checked_add(y),
        Binary::Sub => x.checked_sub(y),
        Binary::Shl => x.checked_mul(1i128.checked_shl(u32::try_from(y).ok()?)?),
        Binary::Shr => x.checked_shr(u32::try_from(y).ok()?),
        Binary::And => Some(x & y),
        Binary::Xor => Some(x ^ y),
        Binary::Or => Some(x | y),
    }
}

fn no_arithmetic(s: &mut Session, value: Value, span: Span, via: Via) -> Reported {
    let (message, help) = match value {
        Value::Raw(_) => ("there is no arithmetic on raw words", "leave the `w` out and write an integer"),
        Value::Int(_) | Value::Real { .. } => (
            "expressions compute with integers only",
            "write the number that comes out; a minus before a number is fine",
        ),
    };
    s.fail(codes::REAL_ARITHMETIC, message, span, via, help)
}

fn article(ty: Ty) -> &'static str {
    match ty {
        Ty::Int => "an integer",
        Ty::Q => "a fixed-point number (`q`)",
        Ty::L => "a logarithmic number (`l`)",
        Ty::F => "a floating-point number (`f`)",
    }
}

fn cvt(to: Ty, from: Ty) -> String {
    format!("addcvt.{}.{}", to.letter(), from.letter()).replace("addcvt.l", "mulcvt.l")
}
