//! Reading files line by line, with what changes the text that is read:
//! `.include`, `.macro` and uses of macros.
//!
//! A macro is expanded as text, which is then read like a file's; its pieces
//! remember where they were written. Statements are read by
//! [`parser`](crate::parser); routines are inverted later, in
//! [`routine`](crate::routine).

use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;

use pendula_isa::budget::{Exceeded, Resource};

use crate::assemble::Options;
use crate::ast::{Directive, Head, Span, Via};
use crate::codes;
use crate::diagnostic::plural;
use crate::files::{Files, Found, Refusal};
use crate::intern::Sym;
use crate::lexer::{self, LexError, Tok, Token, line_end, name_end};
use crate::literal::quote_end;
pub(crate) use crate::origin::Origin;
use crate::origin::{Piece, add_other};
use crate::parser::{Parser, duplicate, head_of};
use crate::session::{Parsed, Reported, Session};

/// How many parameters a macro has.
const MAX_PARAMS: usize = 64;
/// How many files a place can name.
const MAX_FILES: usize = 1 << 16;

/// A macro.
#[derive(Debug)]
struct Macro {
    span: Span,
    params: Vec<Param>,
    body: Fragment,
}

#[derive(Debug)]
struct Param {
    name: String,
    default: Option<Fragment>,
}

/// Text and where it was written.
#[derive(Debug)]
struct Fragment {
    text: String,
    origin: Origin,
}

impl Fragment {
    fn new(text: &str, range: Range<usize>, origin: &Origin) -> Fragment {
        let mut pieces = Vec::new();
        origin.copy(range.clone(), 0, &mut pieces);
        Fragment { text: text.get(range).unwrap_or("").to_string(), origin: Origin::Pieces(pieces) }
    }
}

/// A text being read.
struct Input<'t> {
    text: &'t str,
    origin: &'t Origin,
    via: Via,
    depth: u32,
}

/// The reader.
pub(crate) struct Expander<'o> {
    pub(crate) s: Session,
    pub(crate) files: Files,
    options: &'o Options,
    macros: Vec<Rc<Macro>>,
    /// The files being read, each included by the one before.
    open: Vec<usize>,
    /// Bytes read so far, expansions included.
    spent: usize,
    /// Bytes of expansions so far.
    expanded: usize,
    uses: u64,
    stopped: bool,
    /// Whether uses of macros nested too deep: the outermost is left.
    runaway: bool,
}

impl<'o> Expander<'o> {
    /// Reads a program into a session's statements.
    pub(crate) fn read(name: &str, text: String, options: &'o Options) -> (Session, Files) {
        let files = Files::new(name, options);
        let (s, macros, open) = (Session::new(), Vec::new(), Vec::new());
        let mut e = Expander {
            s,
            files,
            options,
            macros,
            open,
            spent: 0,
            expanded: 0,
            uses: 0,
            stopped: false,
            runaway: false,
        };
        // Offsets are of 32 bits; a text beyond them is not read.
        let fits = text.len() <= e.limit();
        let base = if fits { e.s.add_file(text.len()) } else { e.s.add_file(0) };
        e.files.put_back(0, text);
        if fits && base.is_some() {
            e.defines();
            e.file(0);
        } else {
            e.too_large(Span::default(), Via::default());
        }
        (e.s, e.files)
    }

    /// Reads the definitions that come with the program, as a file of their own.
    fn defines(&mut self) {
        let line = |(name, value): &(String, String)| format!(".equ {name}, {value}\n");
        let text: String = self.options.defines.iter().map(line).collect();
        if text.is_empty() {
            return;
        }
        match self.s.add_file(text.len()) {
            Some(base) => {
                let file = self.files.add("--define".to_string(), text, PathBuf::new(), base);
                self.s.given = u16::try_from(file).ok();
                self.file(file);
            }
            None => self.too_large(Span::default(), Via::default()),
        }
    }

    /// The bytes that may be read, expansions included.
    fn limit(&self) -> usize {
        usize::try_from(self.options.budget.bytes).unwrap_or(usize::MAX).min(u32::MAX as usize / 2)
    }

    /// The bytes that macros may expand to.
    fn expansion(&self) -> usize {
        usize::try_from(self.options.budget.expansion).unwrap_or(usize::MAX)
    }

    fn too_large(&mut self, span: Span, via: Via) {
        let what = "the source, with what it includes and what macros expand to,";
        let exceeded = Exceeded::new(Resource::Bytes, self.limit() as u64, what).instead("divide the program");
        self.stop(&exceeded.raised_by("--max-source"), span, via);
    }

    fn expands_too_far(&mut self, span: Span, via: Via) {
        let exceeded = Exceeded::new(Resource::Bytes, self.options.budget.expansion, "what macros expand to");
        let exceeded = exceeded.instead("a loop or a procedure takes less room").raised_by("--max-expansion");
        self.stop(&exceeded, span, via);
    }

    /// Reports that the budget is spent, and reads no more.
    fn stop(&mut self, exceeded: &Exceeded, span: Span, via: Via) {
        self.s.exceeded(exceeded, span, via);
        self.stopped = true;
    }

    /// Counts bytes to be read.
    fn spend(&mut self, bytes: usize, span: Span, via: Via) -> Parsed<()> {
        self.spent = self.spent.saturating_add(bytes);
        if self.spent <= self.limit() {
            return Ok(());
        }
        if !self.stopped {
            self.too_large(span, via);
        }
        Err(Reported)
    }

    fn file(&mut self, file: usize) {
        let text = self.files.take(file);
        let base = self.files.list.get(file).map_or(0, |f| f.base);
        let span = Span { start: base, len: 0 };
        if self.spend(text.len(), span, Via::default()).is_ok() {
            self.open.push(file);
            let origin = Origin::File(base);
            self.lines(&Input { text: &text, origin: &origin, via: Via::default(), depth: 0 });
            self.open.pop();
        }
        self.files.put_back(file, text);
    }

    fn lines(&mut self, input: &Input<'_>) {
        let mut tokens: Vec<Token> = Vec::new();
        let mut errors: Vec<LexError> = Vec::new();
        let mut next = 0;
        while next < input.text.len() && !self.stopped && !self.runaway {
            let line = lexer::line(input.text, next, &mut self.s.names, &mut tokens, &mut errors);
            next = line.next;
            if !errors.is_empty() {
                self.lex_errors(input, &mut errors);
            }
            if tokens.len() <= 1 {
                continue;
            }
            let mut p = Parser::new(&mut self.s, &tokens, input.origin, input.via, &self.options.budget);
            p.hash = line.hides_constant(input.text);
            if let Some((head, name, span)) = p.head() {
                match head {
                    Head::Inst(kind) => p.instruction(kind, span),
                    Head::Directive(Directive::Macro) => {
                        let header = macro_header(&mut p, input.text);
                        next = self.define(input, header, span, next);
                    }
                    Head::Directive(Directive::Include) => {
                        let wanted = p.text("the name of a file").and_then(|text| p.end().map(|()| text));
                        if let Ok((wanted, span)) = wanted {
                            self.include(wanted, span, input.via);
                        }
                    }
                    Head::Directive(directive) => p.directive(directive, span),
                    Head::Macro(index) => {
                        let from = p.position();
                        self.use_macro(input, index as usize, name, span, &tokens[from.min(tokens.len())..]);
                    }
                    Head::UnknownDirective | Head::UnknownMnemonic => p.unknown(head, name, span),
                }
            }
            self.check_limits(input, &tokens);
        }
    }

    fn check_limits(&mut self, input: &Input<'_>, tokens: &[Token]) {
        let within = self.options.budget.program(self.s.ast.stmts.len() as u64, || "the program".to_string());
        if let (Err(exceeded), false) = (within, self.stopped) {
            let span = tokens.first().map_or(Span::default(), |t| input.origin.span(t.start, t.len));
            let help = "use loops and procedures instead of so many copies";
            self.stop(&exceeded.instead(help), span, input.via);
        }
        self.stopped |= self.s.overwhelmed();
    }

    fn lex_errors(&mut self, input: &Input<'_>, errors: &mut Vec<LexError>) {
        for error in errors.drain(..) {
            let span = input.origin.span(error.range.start as u32, error.range.len() as u32);
            self.s.fail(error.code, error.message, span, input.via, error.help);
        }
    }

    /// Reads a macro's body and returns where the line after `.endm` begins.
    fn define(&mut self, input: &Input<'_>, header: Parsed<(Sym, Span, Vec<Param>)>, span: Span, from: usize) -> usize {
        let Some((body, next)) = macro_body(input.text, from) else {
            let help = "end the macro's body with a line `.endm`";
            self.s.fail(codes::MACRO, "this macro has no `.endm`", span, input.via, help);
            return input.text.len();
        };
        let Ok((name, name_span, params)) = header else { return next };
        match head_of(&mut self.s, name) {
            Head::UnknownMnemonic => {
                let head = Head::Macro(self.macros.len() as u32);
                self.s.names.set_head(name, head);
                let body = Fragment::new(input.text, body, input.origin);
                self.macros.push(Rc::new(Macro { span: name_span, params, body }));
            }
            Head::Macro(first) => {
                let first = self.macros.get(first as usize).map_or(name_span, |m| m.span);
                let diagnostic = duplicate(&self.s, name, "the macro", name_span, first);
                self.s.report(diagnostic, input.via);
            }
            Head::Inst(_) | Head::Directive(_) | Head::UnknownDirective => {
                let message = format!("a macro cannot be called `{}`", self.s.names.text(name));
                let help = "choose a name that is no instruction and does not begin with a point";
                self.s.fail(codes::RESERVED, message, name_span, input.via, help);
            }
        }
        next
    }

    fn use_macro(&mut self, input: &Input<'_>, index: usize, name: Sym, span: Span, tokens: &[Token]) {
        let Some(definition) = self.macros.get(index).cloned() else { return };
        if tokens.iter().any(|t| t.tok == Tok::Error) {
            return;
        }
        let what = || format!("this use of the macro `{}`", self.s.names.text(name));
        if let Err(exceeded) = self.options.budget.nested(input.depth + 1, what) {
            let help = "a macro cannot use itself: nothing would end it; use a loop";
            self.s.exceeded(&exceeded.instead(help), span, input.via);
            self.runaway = true;
            return;
        }
        let args = split_args(tokens);
        if let Some(extra) = args.get(definition.params.len()) {
            let span = input.origin.span(extra.start as u32, extra.len() as u32);
            let count = definition.params.len();
            let count = plural(count as u64, "argument");
            let message = format!("the macro `{}` takes {count}, found {}", self.s.names.text(name), args.len());
            let place = self.s.place(definition.span);
            let diagnostic = self.s.error(codes::MACRO_USE, message, span).also(place, "defined here");
            self.s
                .report(diagnostic.help("leave the others out; an argument with commas stands in brackets"), input.via);
            return;
        }
        for param in definition.params.iter().skip(args.len()) {
            if param.default.is_none() {
                let message = format!("the macro `{}` needs its argument `{}`", self.s.names.text(name), param.name);
                let place = self.s.place(definition.span);
                let diagnostic = self.s.error(codes::MACRO_USE, message, span).also(place, "defined here");
                let help =
                    format!("write it, or give it a default: `.macro {} …, {}=0`", self.s.names.text(name), param.name);
                self.s.report(diagnostic.help(help), input.via);
                return;
            }
        }
        self.uses += 1;
        let left = self.limit().saturating_sub(self.spent);
        let most = self.expansion().saturating_sub(self.expanded);
        let Some(expansion) = substitute(&definition, input, &args, self.uses, left.min(most)) else {
            if most < left {
                self.expands_too_far(span, input.via);
            } else {
                self.too_large(span, input.via);
            }
            return;
        };
        // One more, so that empty macros do not come for nothing.
        let bytes = expansion.text.len() + 1;
        self.expanded = self.expanded.saturating_add(bytes);
        if self.spend(bytes, span, input.via).is_err() {
            return;
        }
        let via = self.s.add_use(name, span, input.via);
        self.lines(&Input { text: &expansion.text, origin: &expansion.origin, via, depth: input.depth + 1 });
        self.runaway &= input.depth > 0;
    }

    fn include(&mut self, wanted: Sym, span: Span, via: Via) {
        let from = self.open.last().copied().unwrap_or(0);
        let wanted = self.s.names.text(wanted).to_string();
        let deep = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
        if let Err(exceeded) = self.options.budget.nested(deep, || format!("the inclusion of `{wanted}`")) {
            let help = "include the file from one that is included earlier";
            self.s.exceeded(&exceeded.instead(help), span, via);
            return;
        }
        let room = self.limit().saturating_sub(self.spent);
        let file = match self.files.find(from, &wanted, room, self.options) {
            Ok(Found::Known(file)) => file,
            Ok(Found::New { name, text, path }) => {
                if self.files.list.len() >= MAX_FILES {
                    let exceeded = Exceeded::new(Resource::Nodes, MAX_FILES as u64, "the program").of("file");
                    return self.stop(&exceeded.instead("put several of them into one"), span, via);
                }
                let Some(base) = self.s.add_file(text.len()) else { return self.too_large(span, via) };
                self.files.add(name, text, path, base)
            }
            Err(Refusal::TooLarge) => return self.too_large(span, via),
            Err(Refusal::Unreadable(why)) => {
                let message = format!("cannot read `{wanted}`: {why}");
                let help = "the name is relative to the file that says `.include`";
                self.s.fail(codes::INCLUDE, message, span, via, help);
                return;
            }
            Err(Refusal::Outside { root }) => {
                let message = format!("`{wanted}` lies outside the program's folder, `{}`", root.display());
                let help = "move the file into the folder, or allow includes from outside (`--include-outside`)";
                self.s.fail(codes::INCLUDE_OUTSIDE, message, span, via, help);
                return;
            }
        };
        if self.open.contains(&file) {
            let message = format!("`{wanted}` includes itself, directly or through others");
            let help = "move what both files need into a third";
            self.s.fail(codes::INCLUDE_CYCLE, message, span, via, help);
            return;
        }
        self.s.included(file, span);
        self.file(file);
    }
}

/// Reads `NAME a, b=default`.
fn macro_header(p: &mut Parser<'_>, text: &str) -> Parsed<(Sym, Span, Vec<Param>)> {
    let (name, span) = p.name("a macro")?;
    let mut params: Vec<Param> = Vec::new();
    while p.tok() != Tok::End {
        if !params.is_empty() {
            if p.tok() != Tok::Comma {
                return Err(p.expected("a comma", "parameters are separated by commas"));
            }
            p.advance();
        }
        let span = p.span();
        let Tok::Name(param) = p.tok() else {
            return Err(p.expected("the name of a parameter", "write `.macro NAME a, b=default`"));
        };
        let param = p.s.names.text(param).to_string();
        if params.iter().any(|other| other.name == param) {
            let message = format!("the parameter `{param}` is there twice");
            return Err(p.fail(codes::MACRO, message, span, "give one of them another name"));
        }
        if params.len() >= MAX_PARAMS {
            let message = format!("a macro has at most {MAX_PARAMS} parameters");
            return Err(p.fail(codes::MACRO, message, span, "divide the macro"));
        }
        p.advance();
        let mut default = None;
        if p.tok() == Tok::Equals {
            p.advance();
            let range = argument(&p.tokens[p.position().min(p.tokens.len())..], &mut 0);
            default = Some(Fragment::new(text, range.clone(), p.origin));
            while p.tok() != Tok::End && p.tokens.get(p.position()).is_some_and(|t| t.range().start < range.end) {
                p.advance();
            }
        }
        params.push(Param { name: param, default });
    }
    Ok((name, span, params))
}

/// The body that begins at `from`, and where the line after its `.endm` begins. `None` without `.endm`.
fn macro_body(text: &str, from: usize) -> Option<(Range<usize>, usize)> {
    let mut at = from;
    let mut inner = 0usize;
    while at < text.len() {
        let end = line_end(text, at);
        let line = text.get(at..end)?.trim_start();
        let word = line.get(..name_end(line, 0))?;
        if word.eq_ignore_ascii_case(".macro") {
            inner += 1;
        } else if word.eq_ignore_ascii_case(".endm") {
            match inner.checked_sub(1) {
                Some(less) => inner = less,
                None => return Some((from..at, end + 1)),
            }
        }
        at = end + 1;
    }
    None
}

/// The stretch of text that the tokens up to a comma outside brackets take; `at` goes to that comma or the end.
fn argument(tokens: &[Token], at: &mut usize) -> Range<usize> {
    let first = *at;
    let mut depth = 0usize;
    while let Some(token) = tokens.get(*at) {
        match token.tok {
            Tok::End => break,
            Tok::Comma if depth == 0 => break,
            Tok::Open | Tok::OpenParen => depth += 1,
            Tok::Close | Tok::CloseParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        *at += 1;
    }
    let start = tokens.get(first).map_or(0, |t| t.start as usize);
    let end = at.checked_sub(1).filter(|last| *last >= first).and_then(|last| tokens.get(last));
    start..end.map_or(start, |t| t.end() as usize)
}

/// Where the arguments of a macro's use lie.
fn split_args(tokens: &[Token]) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut at = 0;
    if matches!(tokens.first(), None | Some(Token { tok: Tok::End, .. })) {
        return out;
    }
    loop {
        out.push(argument(tokens, &mut at));
        match tokens.get(at) {
            Some(Token { tok: Tok::Comma, .. }) => at += 1,
            _ => return out,
        }
    }
}

/// An expansion in the making.
struct Writer {
    text: String,
    pieces: Vec<Piece>,
    room: usize,
}

impl Writer {
    /// Adds a stretch of a text; `None` when it becomes too long.
    fn copy(&mut self, text: &str, range: Range<usize>, origin: &Origin) -> Option<()> {
        let part = text.get(range.clone())?;
        self.room = self.room.checked_sub(part.len())?;
        origin.copy(range, self.text.len(), &mut self.pieces);
        self.text.push_str(part);
        Some(())
    }
}

/// A macro's body with its parameters replaced; `None` if it is longer than `room`.
fn substitute(
    definition: &Macro,
    input: &Input<'_>,
    args: &[Range<usize>],
    unique: u64,
    room: usize,
) -> Option<Fragment> {
    let Fragment { text: body, origin } = &definition.body;
    let bytes = body.as_bytes();
    let mut out = Writer { text: String::new(), pieces: Vec::new(), room };
    // What has not been copied begins at `from`; quotes and comments are copied as they are.
    let (mut from, mut at) = (0, 0);
    while let Some(&b) = bytes.get(at) {
        match b {
            b'"' | b'\'' => at = quote_end(body, at).0,
            b';' | b'#' => at = line_end(body, at),
            b'\\' => {
                let end = name_end(body, at + 1);
                let number = bytes.get(at + 1) == Some(&b'@');
                let name = body.get(at + 1..end).unwrap_or("");
                // The longest parameter that the name begins with, so that `\op.q` can follow.
                let param = definition.params.iter().enumerate().filter(|(_, p)| name.starts_with(p.name.as_str()));
                let param = param.max_by_key(|(_, p)| p.name.len());
                if !number && param.is_none() {
                    at += 1;
                    continue;
                }
                out.copy(body, from..at, origin)?;
                if let Some((n, param)) = param {
                    match (args.get(n), &param.default) {
                        // An empty argument stands for the default.
                        (Some(range), default) if !range.is_empty() || default.is_none() => {
                            out.copy(input.text, range.clone(), input.origin)?;
                        }
                        (_, Some(default)) => out.copy(&default.text, 0..default.text.len(), &default.origin)?,
                        (_, None) => {}
                    }
                    at += 1 + param.name.len();
                } else {
                    let digits = unique.to_string();
                    out.room = out.room.checked_sub(digits.len())?;
                    add_other(&mut out.pieces, out.text.len(), digits.len(), origin.span(at as u32, 2));
                    out.text.push_str(&digits);
                    at += 2;
                }
                from = at;
            }
            _ => at += 1,
        }
    }
    out.copy(body, from..body.len(), origin)?;
    Some(Fragment { text: out.text, origin: Origin::Pieces(out.pieces) })
}
