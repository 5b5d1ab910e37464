//! Definitions of extensions: `.instr` and `.function`, each up to its end. They are read where they stand, so that the lines after them may
//! use what they define. A faulty definition is left out; the errors of its lines are reported one by one.

use std::collections::HashMap;
use std::sync::Arc;

use pendula_isa::extension::{
    Defines, Definition, Parameter, STEPS, TEMPORARIES, Temporary, operand_register, temporary_register,
};
use pendula_isa::operand::{OPERANDS, Operand};
use pendula_isa::{Env, Inst, Kind, Reg, Ty, mnemonic};

use super::{Expander, Input};
use crate::ast::{Binary, Span};
use crate::codes;
use crate::head::{Directive, Head};
use crate::intern::Sym;
use crate::lexer;
use crate::parser::{Parser, head_of};
use crate::session::{Parsed, Reported, Session};
use crate::token::{Tok, Token};
use step::{inlined, step};

pub(super) mod step;

/// A definition that is being read.
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) span: Span,
    partner: Option<String>,
    /// The type of a function's value.
    pub(super) ty: Ty,
    pub(super) is_function: bool,
    pub(super) parameters: Vec<Parameter>,
    pub(super) temporaries: Vec<Temporary>,
    pub(super) locals: HashMap<Sym, Reg>,
    docs: Vec<String>,
    pub(super) steps: Vec<Inst>,
    /// Where a local register was first used as a number of a type.
    types: HashMap<Reg, (Ty, Span)>,
    pub(super) faulty: bool,
    /// Whether it has too many steps: no more are read.
    full: bool,
}

/// The type that a mnemonic's suffix names, and the mnemonic without it.
pub(super) fn suffix(name: &str) -> (&str, Ty) {
    for ty in [Ty::Q, Ty::L, Ty::F] {
        if let Some(stem) = name.strip_suffix(ty.suffix()) {
            return (stem, ty);
        }
    }
    (name, Ty::Int)
}

impl Expander<'_> {
    /// Reads a definition whose first line has been read up to its directive, and returns where the line after its end begins.
    pub(super) fn definition(
        &mut self,
        input: &Input<'_>,
        (directive, span): (Directive, Span),
        (tokens, read): (&[Token], usize),
        from: usize,
    ) -> usize {
        let is_function = directive == Directive::Function;
        let mut p = Parser::new(&mut self.s, tokens, input.origin, input.via, &self.options.budget);
        p.skip(read);
        let header = header(&mut p, is_function, span);
        let mut draft = header
            .unwrap_or_else(|Reported| Draft { faulty: true, ..Draft::new(String::new(), span, Ty::Int, is_function) });
        let unreadable = draft.name.is_empty();
        let mut expression: Vec<(Vec<Token>, usize)> = Vec::new();
        // The starts of the blocks that `.repeat` repeats, with the number of times.
        let mut repeats: Vec<(usize, u64, Span)> = Vec::new();
        let (mut tokens, mut errors) = (Vec::new(), Vec::new());
        let mut next = from;
        let (end, other) = if is_function { (".endfunction", ".endinstr") } else { (".endinstr", ".endfunction") };
        loop {
            if next >= input.text.len() {
                let help = format!("end it with a line `{end}`");
                self.s.fail(codes::DEFINITION, "this definition has no end", span, input.via, help);
                return input.text.len();
            }
            let line = lexer::line(input.text, next, &mut self.s.names, &mut tokens, &mut errors);
            let start = next;
            next = line.next;
            if !errors.is_empty() {
                self.lex_errors(input, &mut errors);
                draft.faulty = true;
                continue;
            }
            if tokens.len() <= 1 {
                let comment = line.comment.and_then(|range| input.text.get(range)).unwrap_or("");
                if let Some(doc) = comment.strip_prefix(";;").filter(|_| draft.steps.is_empty()) {
                    draft.docs.push(doc.trim().to_string());
                }
                continue;
            }
            let word = match tokens[0].tok {
                Tok::Name(name) => self.s.names.text(name).to_ascii_lowercase(),
                _ => String::new(),
            };
            let place = input.origin.span(tokens[0].start, tokens[0].len);
            if word == end {
                break;
            }
            if word == other {
                let message = format!("`{other}` does not end this definition");
                self.s.fail(codes::DEFINITION, message, place, input.via, format!("end it with a line `{end}`"));
                draft.faulty = true;
                break;
            }
            if unreadable {
                continue;
            }
            if is_function {
                expression.push((tokens.clone(), start));
            } else if !draft.full && self.body_line(input, &tokens, &mut draft, &mut repeats).is_err() {
                draft.faulty = true;
            }
        }
        if let Some((.., span)) = repeats.last().filter(|_| !draft.full) {
            let help = "end it with a line `.endrepeat`";
            self.s.fail(codes::DEFINITION, "this `.repeat` has no end", *span, input.via, help);
            draft.faulty = true;
        }
        if draft.faulty {
            return next;
        }
        if is_function {
            let value = self.function_body(input, &expression, &mut draft);
            if let Ok((value, text)) = value {
                let defines = Defines::Function { ty: draft.ty, value, expression: text };
                let _ = self.define_extension(input, draft, defines);
            }
        } else {
            let defines = Defines::Instruction { partner: draft.partner.take() };
            let _ = self.define_extension(input, draft, defines);
        }
        next
    }

    /// Reads a line of an instruction's body.
    fn body_line(
        &mut self,
        input: &Input<'_>,
        tokens: &[Token],
        draft: &mut Draft,
        repeats: &mut Vec<(usize, u64, Span)>,
    ) -> Parsed<()> {
        let mut p = Parser::new(&mut self.s, tokens, input.origin, input.via, &self.options.budget);
        let (head, name, span) = match p.tok() {
            Tok::Name(name) if p.peek(1) == Tok::Colon => {
                let help = "a definition has no jumps; `.repeat N` repeats steps";
                let text = p.s.names.text(name).to_string();
                return Err(p.fail(codes::STEP, format!("the label `{text}` in a definition"), p.span(), help));
            }
            _ => p.head().ok_or(Reported)?,
        };
        match head {
            Head::Inst(kind) => {
                let step = step(&mut p, draft, kind, span, &mut self.constants)?;
                let own = match kind {
                    Kind::Extension { .. } => inlined(&mut p, draft, &step, span)?,
                    Kind::Accumulate { .. } | Kind::Row { .. } => vec![step],
                };
                draft.steps.extend(own);
                too_many_steps(&mut p, draft, span)
            }
            Head::Directive(Directive::Temp) => loop {
                let (name, at) = p.name("a temporary")?;
                temporary(&mut p, draft, name, at)?;
                if p.tok() != Tok::Comma {
                    return p.end();
                }
                p.advance();
            },
            Head::Directive(Directive::Repeat) => {
                let count = match p.tok() {
                    Tok::Int(count) => count,
                    _ => return Err(p.expected("the number of repetitions", "write `.repeat 8`")),
                };
                p.advance();
                p.end()?;
                if repeats.len() >= STEPS {
                    return Err(p.fail(codes::LIMIT, "`.repeat` in so many others", span, "write the steps out"));
                }
                repeats.push((draft.steps.len(), count, span));
                Ok(())
            }
            Head::Directive(Directive::EndRepeat) => {
                p.end()?;
                let Some((first, count, _)) = repeats.pop() else {
                    let help = "begin the steps that it repeats with `.repeat N`";
                    return Err(p.fail(codes::DEFINITION, "this `.endrepeat` ends nothing", span, help));
                };
                let block = draft.steps.split_off(first.min(draft.steps.len()));
                let times = if block.is_empty() { 0 } else { count.min(STEPS as u64 + 1) };
                for _ in 0..times {
                    draft.steps.extend_from_slice(&block);
                    too_many_steps(&mut p, draft, span)?;
                }
                Ok(())
            }
            Head::UnknownMnemonic if names_itself(p.s.names.text(name), draft) => {
                let help = "a definition may use others that stand before it, never itself: use `.repeat N`";
                let message = format!("the definition of `{}` uses itself", draft.name);
                Err(p.fail(codes::RECURSION, message, span, help))
            }
            Head::UnknownDirective | Head::UnknownMnemonic => {
                p.unknown(head, name, span);
                p.s.ast.stmts.pop();
                Err(Reported)
            }
            Head::Directive(_) | Head::Macro(_) => {
                let message = format!("`{}` in a definition", p.s.names.text(name));
                let help = "a definition has steps, `.temp`, and `.repeat` … `.endrepeat`; macros stand outside";
                Err(p.fail(codes::STEP, message, span, help))
            }
        }
    }

    /// Checks a definition as a whole, and gives its names their meaning.
    fn define_extension(&mut self, input: &Input<'_>, mut draft: Draft, defines: Defines) -> Parsed<()> {
        for (n, parameter) in draft.parameters.iter_mut().enumerate() {
            let register = operand_register(n);
            if let (false, Some((ty, _))) = (draft.is_function, draft.types.get(&register)) {
                parameter.ty = *ty;
            }
        }
        for (n, temporary) in draft.temporaries.iter_mut().enumerate() {
            if let Some((ty, _)) = draft.types.get(&temporary_register(n)) {
                temporary.ty = *ty;
            }
        }
        let Draft { name, span, parameters, temporaries, docs, steps, .. } = draft;
        let definition = Arc::new(Definition { name, defines, docs, parameters, temporaries, steps });
        let fail = |s: &mut Session, (code, message, help): (&'static str, String, String)| {
            Err(s.fail(code, message, span, input.via, help))
        };
        let env = Env { format: self.constants.format, ieee: false };
        if let Some(problem) = super::trial::problem(&definition, env) {
            return fail(&mut self.s, problem);
        }
        let Ok(kinds) = definition.kinds() else {
            let error = pendula_isa::OperandError::TooManyExtensions;
            return fail(&mut self.s, (error.code(), error.to_string(), error.help().to_string()));
        };
        for (name, kind) in kinds {
            if let Some((first, place)) = self.s.extensions.get(&name)
                && **first != *definition
            {
                let message = format!("`{name}` is defined twice, and not alike");
                let d = self.s.error(codes::TAKEN, message, span).also(self.s.place(*place), "first defined here");
                return Err(self.s.report(d.help("give one of them another name"), input.via));
            }
            if mnemonic::lookup(&name).is_some() {
                let message = format!("`{name}` is an instruction already");
                let help = "choose a name for which `pendula isa NAME` shows nothing".to_string();
                return fail(&mut self.s, (codes::TAKEN, message, help));
            }
            let symbol = self.s.names.intern(&name);
            if matches!(head_of(&mut self.s, symbol), Head::Macro(_)) {
                let help = "give one of them another name".to_string();
                return fail(&mut self.s, (codes::TAKEN, format!("`{name}` is a macro already"), help));
            }
            self.s.names.set_head(symbol, Head::Inst(kind));
            self.s.extensions.insert(name, (Arc::clone(&definition), span));
        }
        self.s.definitions.push(Arc::clone(&definition));
        let is_fixed = |step: &Inst| step.operands().any(|(_, o)| matches!(o, Operand::Imm(word, Ty::Q) if word != 0));
        if definition.steps.iter().any(is_fixed) {
            self.s.fixed.get_or_insert((env.format, span));
        }
        Ok(())
    }
}

/// Whether a definition's step names the definition.
fn names_itself(word: &str, draft: &Draft) -> bool {
    word.eq_ignore_ascii_case(&draft.name) || draft.partner.as_ref().is_some_and(|p| word.eq_ignore_ascii_case(p))
}

fn too_many_steps(p: &mut Parser<'_>, draft: &mut Draft, span: Span) -> Parsed<()> {
    if draft.steps.len() <= STEPS {
        return Ok(());
    }
    draft.steps.truncate(STEPS);
    draft.full = true;
    let message = format!("the definition of `{}` has more than {STEPS} steps", draft.name);
    Err(p.fail(codes::LIMIT, message, span, "divide it into several instructions"))
}

/// Adds a temporary.
fn temporary(p: &mut Parser<'_>, draft: &mut Draft, name: Sym, span: Span) -> Parsed<()> {
    if draft.temporaries.len() >= TEMPORARIES {
        let message = format!("the definition of `{}` has more than {TEMPORARIES} temporaries", draft.name);
        return Err(p.fail(codes::LIMIT, message, span, "use one again after it is cleared"));
    }
    let register = temporary_register(draft.temporaries.len());
    draft.temporaries.push(Temporary { name: p.s.names.text(name).to_string(), ty: Ty::Int });
    local(p, draft, name, register, span)
}

/// Gives a name of a definition its local register.
fn local(p: &mut Parser<'_>, draft: &mut Draft, name: Sym, register: Reg, span: Span) -> Parsed<()> {
    if draft.locals.insert(name, register).is_some() {
        let message = format!("`{}` names two operands or temporaries", p.s.names.text(name));
        return Err(p.fail(codes::DUPLICATE, message, span, "give one of them another name"));
    }
    Ok(())
}

impl Draft {
    fn new(name: String, span: Span, ty: Ty, is_function: bool) -> Draft {
        Draft {
            name,
            span,
            partner: None,
            ty,
            is_function,
            parameters: Vec::new(),
            temporaries: Vec::new(),
            locals: HashMap::new(),
            docs: Vec::new(),
            steps: Vec::new(),
            types: HashMap::new(),
            faulty: false,
            full: false,
        }
    }
}

/// Reads the first line of a definition after its directive.
fn header(p: &mut Parser<'_>, is_function: bool, span: Span) -> Parsed<Draft> {
    let what = if is_function { "a function" } else { "an instruction" };
    let (name, at) = p.name(what)?;
    let text = p.s.names.text(name).to_ascii_lowercase();
    let (stem, ty) = suffix(&text);
    if stem.is_empty() || stem.contains('.') {
        let help = "a name is a word, with the suffix `.q`, `.l` or `.f` for numbers that are no integers";
        return Err(p.fail(codes::RESERVED, format!("{what} cannot be called `{text}`"), at, help));
    }
    let mut draft = Draft::new(text.clone(), span.to(at), ty, is_function);
    if is_function {
        arguments(p, &mut draft)?;
    } else {
        if p.tok() == Tok::Operator(Binary::Div) {
            p.advance();
            let (partner, at) = p.name("the inverse")?;
            let partner = p.s.names.text(partner).to_ascii_lowercase();
            let (own, other) = suffix(&partner);
            if own.is_empty() || own.contains('.') || (other != ty && other != Ty::Int) {
                let help = "it is a word, and has the suffix of the other one, which may be left out";
                return Err(p.fail(codes::RESERVED, format!("the inverse cannot be called `{partner}`"), at, help));
            }
            let whole = format!("{own}{}", ty.suffix());
            // `x / x` says that it is its own inverse, as no partner does.
            draft.partner = (whole != text).then_some(whole);
        }
        operands(p, &mut draft)?;
    }
    p.end()?;
    Ok(draft)
}

/// Reads `x, y | a, b`.
fn operands(p: &mut Parser<'_>, draft: &mut Draft) -> Parsed<()> {
    let mut written = true;
    loop {
        let what = if written { "an operand that changes" } else { "an operand that is read" };
        let (name, span) = p.name(what)?;
        parameter(p, draft, (name, span), draft.ty, written)?;
        match p.tok() {
            Tok::Comma => p.advance(),
            Tok::Operator(Binary::Or) if written => {
                p.advance();
                written = false;
            }
            _ => return Ok(()),
        }
    }
}

fn parameter(p: &mut Parser<'_>, draft: &mut Draft, (name, span): (Sym, Span), ty: Ty, written: bool) -> Parsed<()> {
    let most = if draft.is_function { pendula_isa::table::ARITY } else { OPERANDS };
    if draft.parameters.len() >= most {
        let what = if draft.is_function { "arguments" } else { "operands" };
        let message = format!("the definition of `{}` has more than {most} {what}", draft.name);
        return Err(p.fail(codes::LIMIT, message, span, "divide it into several definitions"));
    }
    let register = operand_register(draft.parameters.len() + usize::from(draft.is_function));
    draft.parameters.push(Parameter { name: p.s.names.text(name).to_string(), ty, written });
    local(p, draft, name, register, span)
}

/// Reads `(a, n: i)`.
fn arguments(p: &mut Parser<'_>, draft: &mut Draft) -> Parsed<()> {
    let help = "write the arguments in parentheses: `.function half.q (a)`";
    if p.tok() != Tok::OpenParen {
        return Err(p.expected("`(`", help));
    }
    p.advance();
    loop {
        let argument = p.name("an argument")?;
        let mut ty = draft.ty;
        if p.tok() == Tok::Colon {
            p.advance();
            let letter = match p.tok() {
                Tok::Name(name) => p.s.names.text(name).to_ascii_lowercase(),
                _ => String::new(),
            };
            let mut chars = letter.chars();
            ty = match (chars.next().and_then(Ty::from_letter), chars.next()) {
                (Some(ty), None) => ty,
                _ => return Err(p.expected("a number type", "the types are `i`, `q`, `l` and `f`: `(a, n: i)`")),
            };
            p.advance();
        }
        parameter(p, draft, argument, ty, false)?;
        match p.tok() {
            Tok::Comma => p.advance(),
            Tok::CloseParen => {
                p.advance();
                return Ok(());
            }
            _ => return Err(p.expected("a comma or `)`", help)),
        }
    }
}
