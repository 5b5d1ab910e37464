//! The expression of a `.function`: read to a tree, and turned to steps that compute it in temporaries. Equal parts are computed once.

use std::collections::HashMap;

use pendula_isa::extension::{TEMPORARIES, Temporary, identity, sum_of, temporary_register};
use pendula_isa::operand::{Operand, Shape};
use pendula_isa::table::TableFn;
use pendula_isa::text::number;
use pendula_isa::{Acc, Inst, Kind, Reg, Ty, mnemonic};

use super::definitions::step::unknown_local;
use super::definitions::{Draft, suffix};
use super::{Expander, Input};
use crate::ast::{Binary, Span};
use crate::codes;
use crate::parser::Parser;
use crate::session::{Parsed, Reported};
use crate::symbols::Symbols;
use crate::token::{Tok, Token};
use crate::value::Value;

/// The most parts of an expression.
const PARTS: usize = 1024;

/// An expression.
#[derive(Clone, Debug)]
enum Expr {
    Argument(usize),
    Constant(u64, Ty),
    Call(TableFn, Vec<Expr>),
}

impl Expr {
    fn parts(&self) -> usize {
        match self {
            Expr::Argument(_) | Expr::Constant(..) => 1,
            Expr::Call(_, args) => 1 + args.iter().map(Expr::parts).sum::<usize>(),
        }
    }

    /// The expression with others in the place of its arguments.
    fn with(&self, arguments: &[Expr]) -> Expr {
        match self {
            Expr::Argument(n) => arguments.get(*n).unwrap_or(self).clone(),
            Expr::Constant(..) => self.clone(),
            Expr::Call(func, args) => Expr::Call(*func, args.iter().map(|arg| arg.with(arguments)).collect()),
        }
    }

    /// Its text, which reads back to the same expression.
    fn text(&self, names: &[&str], format: pendula_isa::Format) -> String {
        match self {
            Expr::Argument(n) => names.get(*n).copied().unwrap_or("y").to_string(),
            Expr::Constant(word, ty) => number(*word, *ty, format),
            Expr::Call(func, args) => {
                let info = func.info();
                let source = if info.from == info.ty { "" } else { info.from.source_suffix() };
                let args: Vec<String> = args.iter().map(|arg| arg.text(names, format)).collect();
                format!("{}{source}({})", info.name, args.join(", "))
            }
        }
    }
}

impl Expander<'_> {
    /// Turns the lines of a function's body to steps; the local register of the value, and the expression's text.
    pub(super) fn function_body(
        &mut self,
        input: &Input<'_>,
        lines: &[(Vec<Token>, usize)],
        draft: &mut Draft,
    ) -> Parsed<(Reg, String)> {
        let mut tokens: Vec<Token> =
            lines.iter().flat_map(|(tokens, _)| tokens.iter().filter(|t| t.tok != Tok::End)).copied().collect();
        let span = draft.span;
        let Some(last) = tokens.last().copied() else {
            let message = format!("the function `{}` has no expression", draft.name);
            return Err(self.s.fail(codes::DEFINITION, message, span, input.via, "write one: `mul(a, a)`"));
        };
        tokens.push(Token { start: last.end(), len: 0, tok: Tok::End });
        let p = Parser::new(&mut self.s, &tokens, input.origin, input.via, &self.options.budget);
        let mut reader = Reader { p, draft, constants: &mut self.constants, functions: &self.functions };
        let ty = reader.draft.ty;
        let tree = reader.sum(ty, 0)?;
        reader.p.end()?;
        if tree.parts() > PARTS {
            let message = format!(
                "the expression has more than {PARTS} parts, equal ones and those of the functions that it calls counted each time"
            );
            let help = "write an `.instr` instead, with temporaries for what occurs more than once";
            return Err(reader.p.fail(codes::LIMIT, message, span, help));
        }
        let mut steps = Steps { steps: Vec::new(), temporaries: Vec::new(), known: HashMap::new() };
        let value = steps.value(&tree, ty);
        let value = value.and_then(|value| match value {
            Operand::Reg(register) => Some(register),
            constant => steps.named(constant, ty),
        });
        let Some(value) = value.filter(|_| steps.steps.len() <= pendula_isa::extension::STEPS) else {
            let message = format!(
                "the function `{}` takes more than {TEMPORARIES} temporaries or {} steps",
                reader.draft.name,
                pendula_isa::extension::STEPS
            );
            return Err(reader.p.fail(codes::LIMIT, message, span, "divide it into several functions"));
        };
        let names: Vec<&str> = reader.draft.parameters.iter().map(|p| p.name.as_str()).collect();
        let text = tree.text(&names, reader.constants.format);
        (reader.draft.steps, reader.draft.temporaries) = (steps.steps, steps.temporaries);
        let name = reader.draft.name.clone();
        self.functions.insert(name, Function { ty, tree, arguments: draft.parameters.iter().map(|p| p.ty).collect() });
        Ok((value, text))
    }
}

/// A function that has been defined.
#[derive(Debug)]
pub(super) struct Function {
    ty: Ty,
    arguments: Vec<Ty>,
    tree: Expr,
}

struct Reader<'r, 'a> {
    p: Parser<'a>,
    draft: &'r mut Draft,
    constants: &'r mut Symbols,
    functions: &'r HashMap<String, Function>,
}

impl Reader<'_, '_> {
    fn table(ty: Ty, name: &str) -> Option<TableFn> {
        let (stem, source) = match name.split_once('.') {
            Some((stem, source)) => (stem, format!(".{source}")),
            None => (name, String::new()),
        };
        let acc = sum_of(ty).name(false);
        match mnemonic::lookup(&format!("{acc}{stem}{}{source}", ty.suffix()))
            .or_else(|| mnemonic::lookup(&format!("{acc}{stem}{}{source}", ty.source_suffix())))
        {
            Some(Kind::Accumulate { func, acc, .. }) if acc == sum_of(ty) && func.info().ty == ty => Some(func),
            _ => None,
        }
    }

    fn operator(&mut self, ty: Ty, name: &str, span: Span, args: Vec<Expr>) -> Parsed<Expr> {
        match Reader::table(ty, name) {
            Some(func) => Ok(Expr::Call(func, args)),
            None => {
                let message = format!("numbers of type {} have no `{name}`", ty.name());
                Err(self.p.fail(codes::UNDEFINED, message, span, "`pendula isa WORD` finds functions"))
            }
        }
    }

    fn sum(&mut self, ty: Ty, depth: u32) -> Parsed<Expr> {
        let mut left = self.product(ty, depth)?;
        while let Tok::Operator(op @ (Binary::Add | Binary::Sub)) = self.p.tok() {
            let span = self.p.span();
            self.p.advance();
            let right = self.product(ty, depth)?;
            let name = if op == Binary::Add { "plus" } else { "minus" };
            left = self.operator(ty, name, span, vec![left, right])?;
        }
        Ok(left)
    }

    fn product(&mut self, ty: Ty, depth: u32) -> Parsed<Expr> {
        let mut left = self.factor(ty, depth)?;
        while let Tok::Operator(op @ (Binary::Mul | Binary::Div)) = self.p.tok() {
            let span = self.p.span();
            self.p.advance();
            let right = self.factor(ty, depth)?;
            let name = if op == Binary::Mul { "mul" } else { "div" };
            left = self.operator(ty, name, span, vec![left, right])?;
        }
        Ok(left)
    }

    fn factor(&mut self, ty: Ty, depth: u32) -> Parsed<Expr> {
        let span = self.p.span();
        if let Err(exceeded) = self.p.budget.nested(depth, || "this expression".to_string()) {
            let exceeded = exceeded.instead("make functions of its parts");
            return Err(self.p.s.exceeded(&exceeded, span, self.p.via));
        }
        match self.p.tok() {
            Tok::OpenParen => {
                self.p.advance();
                let inner = self.sum(ty, depth + 1)?;
                self.close()?;
                Ok(inner)
            }
            Tok::Operator(Binary::Sub) => {
                self.p.advance();
                if let Tok::Int(_) | Tok::Real(..) = self.p.tok() {
                    return self.number(ty, true, span);
                }
                let inner = self.factor(ty, depth + 1)?;
                self.operator(ty, "neg", span, vec![inner])
            }
            Tok::Int(_) | Tok::Real(..) | Tok::Raw(_) => self.number(ty, false, span),
            Tok::Name(name) if self.p.peek(1) == Tok::OpenParen => {
                let text = self.p.s.names.text(name).to_ascii_lowercase();
                self.p.advance();
                self.p.advance();
                self.call(&text, ty, span, depth)
            }
            Tok::Name(name) => {
                let Some(register) = self.draft.locals.get(&name).and_then(|r| r.local_number()) else {
                    return Err(unknown_local(&mut self.p, self.draft, name, span));
                };
                self.p.advance();
                let n = usize::from(register) - 1;
                let own = self.draft.parameters.get(n).map_or(ty, |p| p.ty);
                if own != ty {
                    let text = self.p.s.names.text(name).to_string();
                    let message =
                        format!("`{text}` is a number of type {}, and one of type {} is needed", own.name(), ty.name());
                    let help =
                        format!("convert it, `cvt{}({text})`, or give the argument another type", own.source_suffix());
                    return Err(self.p.fail(codes::STEP_TYPE, message, span, &help));
                }
                Ok(Expr::Argument(n))
            }
            _ => Err(self.p.expected(
                "a function, an argument or a number",
                "an expression is like `sqrt(muladd(b, b, mul(a, a)))`",
            )),
        }
    }

    fn close(&mut self) -> Parsed<()> {
        if self.p.tok() != Tok::CloseParen {
            return Err(self.p.expected("a comma or `)`", "close what `(` has opened"));
        }
        self.p.advance();
        Ok(())
    }

    fn number(&mut self, ty: Ty, negative: bool, span: Span) -> Parsed<Expr> {
        let value = match self.p.tok() {
            Tok::Int(n) => Value::Int(if negative { -i128::from(n) } else { i128::from(n) }),
            Tok::Real(text, own) => Value::Real { text, negative, ty: own },
            Tok::Raw(word) => Value::Raw(word),
            _ => return Err(Reported),
        };
        self.p.advance();
        let word = self.constants.word(self.p.s, value, ty, span, self.p.via)?;
        Ok(Expr::Constant(word, ty))
    }

    /// Reads a call after its `(`.
    fn call(&mut self, name: &str, ty: Ty, span: Span, depth: u32) -> Parsed<Expr> {
        let own = format!("{}{}", suffix(name).0, ty.suffix());
        if own == self.draft.name {
            let message = format!("the definition of `{own}` uses itself");
            let help = "a definition may use others that stand before it, never itself";
            return Err(self.p.fail(codes::RECURSION, message, span, help));
        }
        let (types, func) = match (self.functions.get(&own), Reader::table(ty, name)) {
            (Some(function), _) if function.ty == ty => (function.arguments.clone(), None),
            (_, Some(func)) => (func.info().args.iter().map(|a| a.ty).collect(), Some(func)),
            _ => {
                let message = format!("there is no function `{name}` of numbers of type {}", ty.name());
                let help =
                    "`pendula isa WORD` finds the table's; a function of your own stands before those that use it";
                return Err(self.p.fail(codes::UNDEFINED, message, span, help));
            }
        };
        let mut args = Vec::new();
        loop {
            let Some(&wanted) = types.get(args.len()) else {
                let message = format!("`{name}` takes {}", crate::diagnostic::plural(types.len() as u64, "argument"));
                return Err(self.p.fail(codes::STEP_TYPE, message, self.p.span(), "leave the others out"));
            };
            args.push(self.sum(wanted, depth + 1)?);
            if self.p.tok() != Tok::Comma {
                break;
            }
            self.p.advance();
        }
        if args.len() < types.len() {
            let found = args.len();
            let message =
                format!("`{name}` takes {}, found {found}", crate::diagnostic::plural(types.len() as u64, "argument"));
            return Err(self.p.fail(codes::STEP_TYPE, message, self.p.span(), "add the others, separated by commas"));
        }
        self.close()?;
        Ok(match func {
            Some(func) => Expr::Call(func, args),
            None => self.functions.get(&own).map_or(Expr::Argument(0), |function| function.tree.with(&args)),
        })
    }
}

/// A call of a function: its arguments as registers, or else as constants.
type Call = (TableFn, Vec<(Option<Reg>, u64)>);

/// The steps of an expression.
struct Steps {
    steps: Vec<Inst>,
    temporaries: Vec<Temporary>,
    known: HashMap<Call, Reg>,
}

impl Steps {
    /// The value of an expression: a local register or a constant; `None` if there are too many temporaries.
    fn value(&mut self, expr: &Expr, ty: Ty) -> Option<Operand> {
        match expr {
            Expr::Argument(n) => Some(Operand::Reg(pendula_isa::extension::operand_register(n + 1))),
            Expr::Constant(word, _) => Some(Operand::Imm(*word, ty)),
            Expr::Call(func, args) => {
                let info = func.info();
                let mut operands = Vec::with_capacity(args.len());
                for (arg, parameter) in args.iter().zip(info.args) {
                    let value = self.value(arg, parameter.ty)?;
                    // An instruction takes one constant, and none beside three registers.
                    let constant = |o: &Operand| matches!(o, Operand::Imm(..));
                    let full = operands.iter().any(constant) || args.len() > 2;
                    let value =
                        if constant(&value) && full { Operand::Reg(self.named(value, parameter.ty)?) } else { value };
                    operands.push(value);
                }
                self.apply(*func, &operands)
            }
        }
    }

    /// A temporary that holds a constant.
    fn named(&mut self, constant: Operand, ty: Ty) -> Option<Reg> {
        match self.apply(identity(ty), &[constant])? {
            Operand::Reg(register) => Some(register),
            _ => None,
        }
    }

    fn apply(&mut self, func: TableFn, operands: &[Operand]) -> Option<Operand> {
        let part = |operand: &Operand| match operand {
            Operand::Reg(register) => (Some(*register), 0),
            Operand::Imm(word, _) => (None, *word),
            _ => (None, 0),
        };
        let key = (func, operands.iter().map(part).collect::<Vec<_>>());
        if let Some(register) = self.known.get(&key) {
            return Some(Operand::Reg(*register));
        }
        if self.temporaries.len() >= TEMPORARIES {
            return None;
        }
        let register = temporary_register(self.temporaries.len());
        let ty = func.info().ty;
        self.temporaries.push(Temporary { name: format!("t{}", self.temporaries.len() + 1), ty });
        let acc: Acc = sum_of(ty);
        let family = Kind::Accumulate { acc, inverse: false, func, shape: Shape::of_registers(operands.len()) };
        let all: Vec<Operand> = std::iter::once(Operand::Reg(register)).chain(operands.iter().copied()).collect();
        self.steps.push(Inst::build(family, &all).ok()?);
        self.known.insert(key, register);
        Some(Operand::Reg(register))
    }
}
