//! Reads files line by line, and handles what changes the text that is read: `.include`, `.macro` and uses of macros.
//!
//! A macro is expanded as text, which is then read like that of a file; its pieces remember where they were written.
//! [`parser`](crate::parser) reads statements; [`routine`](crate::routine) inverts routines later.

mod definitions;
mod functions;
mod macros;
mod trial;

use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use pendula_isa::Format;
use pendula_isa::budget::{Exceeded, Resource};

use crate::ast::{ArgKind, Op, Span, Via};
use crate::codes;
use crate::diagnostic::{Diagnostic, plural};
use crate::files::{Files, Found, Refusal};
use crate::head::{Directive, Head};
use crate::intern::Sym;
use crate::lexer;
use crate::options::Options;
pub(crate) use crate::origin::Origin;
use crate::parser::{Parser, duplicate, head_of};
use crate::session::{Parsed, Reported, Session};
use crate::symbols::Symbols;
use crate::token::{LexError, Tok, Token};
use macros::{Fragment, Macro, Param, macro_body, macro_header, split_args, substitute};

/// What stands in a file of definitions.
const DEFINITIONS: &str = "these have `.instr` … `.endinstr`, `.function` … `.endfunction` and `.extension \"FILE\"`";

/// Whether a statement may stand in a file of definitions.
fn is_definition(head: Head) -> bool {
    matches!(head, Head::Directive(Directive::Extension | Directive::Instr | Directive::Function))
}

/// The format that a text names in its first `.format`, if it has one.
fn first_format(text: &str) -> Option<Format> {
    let name = text.lines().find_map(|line| line.trim_start().strip_prefix(".format"))?;
    Format::from_name(name.split([';', '#']).next().unwrap_or("").trim())
}

/// The maximum number of files. Places name files with 16 bits.
const MAX_FILES: usize = 1 << 16;

/// A text that is being read.
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
    /// The files that are being read, each included by the one before.
    open: Vec<usize>,
    /// Bytes read so far, expansions included.
    spent: usize,
    /// Bytes of expansions so far.
    expanded: usize,
    uses: u64,
    stopped: bool,
    /// Whether uses of macros are nested too deep. All of them up to the outermost are abandoned.
    runaway: bool,
    /// What constants in definitions are evaluated with.
    constants: Symbols,
    /// The functions that have been defined.
    functions: HashMap<String, functions::Function>,
    /// The number of files of definitions that are open: in these, nothing else stands.
    definitions_only: usize,
}

impl<'o> Expander<'o> {
    fn new(name: &str, options: &'o Options) -> Expander<'o> {
        let files = Files::new(name, options);
        let mut s = Session::new();
        let mut constants = Symbols::new(&mut s);
        constants.complete = true;
        Expander {
            s,
            files,
            options,
            macros: Vec::new(),
            open: Vec::new(),
            spent: 0,
            expanded: 0,
            uses: 0,
            stopped: false,
            runaway: false,
            constants,
            functions: HashMap::new(),
            definitions_only: 0,
        }
    }

    /// Reads a program into a session's statements.
    pub(crate) fn read(name: &str, text: String, options: &'o Options) -> (Session, Files) {
        let mut e = Expander::new(name, options);
        if !options.extensions.is_empty() {
            e.constants.format = first_format(&text).unwrap_or_default();
        }
        // Offsets have 32 bits; a text beyond them is not read.
        let fits = text.len() <= e.limit();
        let base = if fits { e.s.add_file(text.len()) } else { e.s.add_file(0) };
        e.files.put_back(0, text);
        if fits && base.is_some() {
            e.defines();
            e.given_definitions();
            e.file(0);
        } else {
            e.too_large(Span::default(), Via::default());
        }
        (e.s, e.files)
    }

    /// Reads a text of definitions alone.
    pub(crate) fn read_definitions(name: &str, text: String, format: Format, options: &'o Options) -> (Session, Files) {
        let mut e = Expander::new(name, options);
        e.constants.format = format;
        let base = if text.len() <= e.limit() { e.s.add_file(text.len()) } else { None };
        e.files.put_back(0, text);
        if base.is_some() {
            e.given_definitions();
            e.definition_file(0);
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
                self.s.define_file = u16::try_from(file).ok();
                self.file(file);
            }
            None => self.too_large(Span::default(), Via::default()),
        }
    }

    /// Reads the files of definitions that come with the program.
    fn given_definitions(&mut self) {
        for name in &self.options.extensions {
            let text = match self.files.read_given(name, self.limit(), self.options) {
                Ok(text) => text,
                Err(Refusal::TooLarge) => return self.too_large(Span::default(), Via::default()),
                Err(Refusal::Unreadable(why)) => {
                    let message = format!("cannot read the definitions in `{name}`: {why}");
                    let help = "the name is relative to the folder where the command runs";
                    self.s.report(Diagnostic::error(codes::INCLUDE, message).help(help), Via::default());
                    continue;
                }
                Err(Refusal::Outside { .. }) => continue,
            };
            let Some(base) = self.s.add_file(text.len()) else {
                return self.too_large(Span::default(), Via::default());
            };
            let file = self.files.add(name.clone(), text, PathBuf::from(name), base);
            self.definition_file(file);
        }
    }

    fn definition_file(&mut self, file: usize) {
        self.definitions_only += 1;
        self.file(file);
        self.definitions_only -= 1;
    }

    /// Notes the fixed-point format when a `.format` has been read.
    fn note_format(&mut self) {
        let Some(stmt) = self.s.ast.stmts.last().filter(|stmt| stmt.op == Op::Format) else { return };
        if let Some(ArgKind::Name(name)) = self.s.ast.arg(stmt, 0).map(|arg| arg.kind)
            && let Some(format) = Format::from_name(self.s.names.text(name))
        {
            self.constants.format = format;
        }
    }

    /// The number of bytes that may be read, including expansions.
    fn limit(&self) -> usize {
        usize::try_from(self.options.budget.bytes).unwrap_or(usize::MAX).min(u32::MAX as usize / 2)
    }

    /// The number of bytes that macros may expand to.
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

    /// Reports that the budget is spent, and stops reading.
    fn stop(&mut self, exceeded: &Exceeded, span: Span, via: Via) {
        self.s.exceeded(exceeded, span, via);
        self.stopped = true;
    }

    /// Counts bytes that are about to be read.
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
            if self.definitions_only > 0 && p.peek(1) == Tok::Colon {
                let span = p.span();
                p.fail(codes::DEFINITION_FILE, "a label in a file of extensions", span, DEFINITIONS);
                // It is another kind of file: one error says so.
                return;
            }
            if let Some((head, name, span)) = p.head() {
                if self.definitions_only > 0 && !is_definition(head) {
                    let message = "only definitions stand in a file of extensions";
                    p.fail(codes::DEFINITION_FILE, message, span, DEFINITIONS);
                    return;
                }
                match head {
                    Head::Inst(kind) => p.instruction(kind, span),
                    Head::Directive(Directive::Macro) => {
                        let header = macro_header(&mut p, input.text);
                        next = self.define(input, header, span, next);
                    }
                    Head::Directive(Directive::Include) => {
                        let file_name = p.text("the name of a file").and_then(|text| p.end().map(|()| text));
                        if let Ok((file_name, span)) = file_name {
                            self.include(file_name, span, input.via);
                        }
                    }
                    Head::Directive(Directive::Extension) => {
                        let file_name = p.text("the name of a file").and_then(|text| p.end().map(|()| text));
                        if let Ok((file_name, span)) = file_name {
                            self.definitions_only += 1;
                            self.include(file_name, span, input.via);
                            self.definitions_only -= 1;
                        }
                    }
                    Head::Directive(directive @ (Directive::Instr | Directive::Function)) => {
                        let read = p.position();
                        let line = std::mem::take(&mut tokens);
                        next = self.definition(input, (directive, span), (&line, read), next);
                    }
                    Head::Directive(directive) => {
                        p.directive(directive, span);
                        if directive == Directive::Format {
                            self.note_format();
                        }
                    }
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
        self.stopped |= self.s.has_too_many_errors();
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
                let help = "choose a name that is not an instruction and does not begin with a point";
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
            self.s.report(diagnostic.help("leave the others out; put an argument with commas in brackets"), input.via);
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
        // One more byte, so that empty macros are not free.
        let bytes = expansion.text.len() + 1;
        self.expanded = self.expanded.saturating_add(bytes);
        if self.spend(bytes, span, input.via).is_err() {
            return;
        }
        let via = self.s.add_use(name, span, input.via);
        self.lines(&Input { text: &expansion.text, origin: &expansion.origin, via, depth: input.depth + 1 });
        self.runaway &= input.depth > 0;
    }

    fn include(&mut self, file_name: Sym, span: Span, via: Via) {
        let from = self.open.last().copied().unwrap_or(0);
        let file_name = self.s.names.text(file_name).to_string();
        let deep = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
        if let Err(exceeded) = self.options.budget.nested(deep, || format!("the inclusion of `{file_name}`")) {
            let help = "include the file from one that is included earlier";
            self.s.exceeded(&exceeded.instead(help), span, via);
            return;
        }
        let room = self.limit().saturating_sub(self.spent);
        let file = match self.files.find(from, &file_name, room, self.options) {
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
                let message = format!("cannot read `{file_name}`: {why}");
                let help = "the name is relative to the file that contains this line";
                self.s.fail(codes::INCLUDE, message, span, via, help);
                return;
            }
            Err(Refusal::Outside { root }) => {
                let message = format!("`{file_name}` lies outside the program's folder, `{}`", root.display());
                let help = "move the file into the folder, or allow includes from outside (`--include-outside`)";
                self.s.fail(codes::INCLUDE_OUTSIDE, message, span, via, help);
                return;
            }
        };
        if self.open.contains(&file) {
            let message = format!("`{file_name}` includes itself, directly or through others");
            let help = "move what both files need into a third";
            self.s.fail(codes::INCLUDE_CYCLE, message, span, via, help);
            return;
        }
        self.s.included(file, span);
        self.file(file);
    }
}
