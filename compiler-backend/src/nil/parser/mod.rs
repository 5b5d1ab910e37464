//! Reads Nil: text to syntax tree, with all syntax errors.
//!
//! A recursive descent parser with bounded depth. An error is reported, and the text up to the next statement is
//! skipped. Names and types are checked later.

mod control;
mod eval_loop;
mod expr;
mod host;
mod host_constants;
mod host_item;
mod inverse;
mod item;
mod operand;
mod params;
mod stmt;
mod text;
mod types;

pub(crate) use item::called;
pub(crate) use text::documentation;

use pendula_isa::budget::{Budget, Exceeded, Resource};
use pendula_isa::diagnostic::{Diagnostic, Place};

use super::ast::{Expr, ExprKind, File, Name, Span};
use super::codes;
use super::lexer::Lexer;
use super::token::{Kw, Tok, Token};

/// The greatest nesting depth of statements and expressions, and the greatest height of the tree of one expression (a
/// sum `1 + 1 + 1 + …` is high, too). A thread's stack must last for them.
const MOST: (u32, u32) = (200, 500);

/// The number of errors that are shown.
const MAX_ERRORS: usize = 100;

/// A syntax error, which has been reported.
#[derive(Debug)]
struct Failed;

type Parsed<T> = Result<T, Failed>;

/// What the formatter needs besides the tokens.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// The positions of `<-`, `->` and `xor=` that mean `←`, `→` and `⊻=`, in order.
    pub(crate) spellings: Vec<usize>,
    /// The text that stays unchanged, in order.
    pub(crate) verbatim: Vec<Span>,
}

/// The next token and the tokens of the lookahead. A copy continues from the same position.
#[derive(Clone, Copy, Default)]
struct Cursor<'a> {
    lexer: Lexer<'a>,
    token: Token,
    ahead: [Option<Token>; 2],
}

impl<'a> Cursor<'a> {
    fn new(mut lexer: Lexer<'a>) -> Cursor<'a> {
        let token = lexer.token();
        Cursor { lexer, token, ahead: [None; 2] }
    }

    fn bump(&mut self) {
        self.token = match self.ahead[0].take() {
            Some(token) => {
                self.ahead[0] = self.ahead[1].take();
                token
            }
            None => self.lexer.token(),
        };
    }

    /// The token after the next.
    fn second(&mut self) -> Token {
        *self.ahead[0].get_or_insert_with(|| self.lexer.token())
    }

    /// The second token after the next.
    fn third(&mut self) -> Token {
        self.second();
        *self.ahead[1].get_or_insert_with(|| self.lexer.token())
    }
}

/// The state of the parser.
#[derive(Default)]
struct Parser<'a> {
    file: u16,
    cursor: Cursor<'a>,
    /// The end of the last token, and its kind.
    last_end: usize,
    last_kind: Tok,
    /// The last line end after an operator in this statement: the statement may have ended there, with one operator too
    /// many.
    broken: Option<(Cursor<'a>, usize)>,
    /// Whether an expression was too long to be read: it continues after lines that end with operators.
    too_long: bool,
    /// The beginning of this statement.
    stmt_start: usize,
    diagnostics: Vec<Diagnostic>,
    tree: File,
    notes: Notes,
    /// The documentation text before the next item.
    doc: Option<String>,
    /// Above 0, nothing is reported: the text may be host code.
    muted: usize,
    /// The number of errors that were suppressed for this reason.
    lost: usize,
    /// Whether there were too many errors.
    stopped: bool,
    budget: Budget,
    statements: u64,
    depth: usize,
    /// The height of the last expression.
    height: usize,
    /// Whether a line end ends a statement here: it does outside of brackets.
    lines: bool,
    /// Whether `end` is an index here.
    in_index: bool,
    /// Whether a `:` with white space around it belongs to `? :`.
    in_choice: bool,
    /// The bracket in which `~` may stand for a condition, and whether it was found there.
    tilde: Option<usize>,
    /// Whether the last condition was a pair with `~` as the second.
    repeated: bool,
    /// The number of open brackets in this statement.
    brackets: usize,
    /// The number of chains of comparisons so far.
    chains: usize,
    /// Whether a missing `end` has been reported: the blocks around it are then not reported.
    end_missing: bool,
    /// The column at which this function begins: a function that begins further right is inside of it.
    item_column: usize,
    /// The first `else if` of this function, if there is one.
    else_if: Option<Span>,
    /// A block of this function whose `end` stands further left than its beginning, if there is one.
    suspect: Option<Span>,
    /// Whether host code without an end was found. It then ends at the next `@i`.
    unbalanced: bool,
    /// The open `module … end`.
    modules: Vec<Span>,
    /// Whether the file belongs to the host language: functions stand also inside of its blocks, and one that cannot be
    /// read is left out.
    host: bool,
    /// The host's scopes around this function.
    scope: Vec<usize>,
    /// The number of loops around this place whose turns are read one by one.
    eval_loops: usize,
    /// The number of turns so far.
    eval_turns: usize,
    /// Whether an argument may be a pair, `k => v`.
    in_dict: bool,
    /// The names of the constants so far.
    constants: std::collections::HashSet<String>,
    /// Functions of the host that can be reversible, and the names of those that are said to be.
    primitives: Vec<super::ast::Function>,
    dual_names: Vec<String>,
    /// The values of `$name` in this turn of a loop.
    values: super::ast::Values,
    /// The assignments in the host's blocks.
    assignments: Vec<host_constants::Assignment>,
}

/// Reads a file. It always gives a tree of the parts that could be read, and at most a hundred errors.
pub fn parse(file: u16, text: &str) -> (File, Vec<Diagnostic>) {
    parse_within(file, text, &Budget::default())
}

/// The same as [`parse`], within a budget.
pub fn parse_within(file: u16, text: &str, budget: &Budget) -> (File, Vec<Diagnostic>) {
    let (tree, diagnostics, _) = parse_with_notes(file, text, budget, false);
    (tree, diagnostics)
}

/// Reads a file of the host language. Functions that cannot be read are in the tree, with their first errors.
pub fn parse_host(file: u16, text: &str, budget: &Budget) -> (File, Vec<Diagnostic>) {
    let (tree, diagnostics, _) = parse_with_notes(file, text, budget, true);
    (tree, diagnostics)
}

/// Reads a file, and records what the formatter needs.
pub(crate) fn parse_with_notes(file: u16, text: &str, budget: &Budget, host: bool) -> (File, Vec<Diagnostic>, Notes) {
    let mut parser = Parser {
        file,
        cursor: Cursor::new(Lexer::new(text, 0, text.len())),
        last_kind: Tok::Semi,
        budget: budget.at_most(MOST.0, MOST.1),
        lines: true,
        host,
        ..Parser::default()
    };
    parser.items();
    (parser.tree, parser.diagnostics, parser.notes)
}

impl<'a> Parser<'a> {
    fn token(&self) -> Token {
        self.cursor.token
    }

    fn kind(&self) -> Tok {
        self.cursor.token.kind
    }

    fn at(&self, kind: Tok) -> bool {
        self.cursor.token.kind == kind
    }

    /// Whether the next token is `kind`, with no line end before it where line ends matter.
    fn goes_on(&self, kind: Tok) -> bool {
        self.at(kind) && !self.new_line()
    }

    /// Whether a line end stands before the next token, where line ends matter.
    fn new_line(&self) -> bool {
        self.lines && self.cursor.token.line_before
    }

    /// Whether the next token follows the last without space.
    fn adjacent(&self) -> bool {
        !self.cursor.token.space_before
    }

    fn slice(&self, span: Span) -> &'a str {
        self.cursor.lexer.text().get(span).unwrap_or("")
    }

    /// The text of a token; of `$name`, its value.
    fn text_of(&self, token: Token) -> &'a str {
        let text = self.slice(token.start..token.end);
        match text.strip_prefix('$').and_then(|name| self.cursor.lexer.given(name)) {
            Some((start, end)) if token.kind != Tok::Unknown => self.slice(start..end),
            _ => text,
        }
    }

    /// Takes the next token.
    fn bump(&mut self) -> Token {
        let token = self.cursor.token;
        if self.eval_loops > 0 && token.kind != Tok::Unknown && self.slice(token.start..token.end).starts_with('$') {
            self.values.push((token.start..token.end, self.text_of(token).to_owned()));
        }
        self.last_end = token.end;
        self.last_kind = token.kind;
        self.cursor.bump();
        token
    }

    /// Takes the next token if it is `kind`.
    fn eat(&mut self, kind: Tok) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, kind: Tok, what: &str) -> Parsed<Token> {
        if self.at(kind) { Ok(self.bump()) } else { Err(self.unexpected(what)) }
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        let token = self.expect(Tok::Ident, what)?;
        Ok(Name { text: self.text_of(token).to_owned(), span: token.start..token.end })
    }

    fn place(&self, span: Span) -> Place {
        Place { file: self.file, span }
    }

    /// Reports an error, unless the text may be host code or enough errors were reported.
    fn report(&mut self, diagnostic: Diagnostic) -> Failed {
        if self.muted > 0 {
            self.lost += 1;
        } else if !self.stopped {
            self.diagnostics.push(diagnostic);
            if self.diagnostics.len() >= MAX_ERRORS {
                self.stop();
            }
        }
        Failed
    }

    /// Reports an error at a place, with help.
    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>, help: &str) -> Failed {
        let place = self.place(span);
        self.report(Diagnostic::error(code, message).at(place, "").help(help))
    }

    /// Reports that there are too many errors, and goes to the end of the file.
    fn stop(&mut self) {
        let place = self.place(self.cursor.token.start..self.cursor.token.end);
        let more = Diagnostic::error(codes::TOO_MANY, format!("there may be more than these {MAX_ERRORS} errors"))
            .at(place, "reading stopped here")
            .help("correct the first ones and try again; later ones often follow from them");
        self.diagnostics.push(more);
        self.stopped = true;
        self.leave();
    }

    /// Reports that the next token is not the expected one.
    fn unexpected(&mut self, what: &str) -> Failed {
        let token = self.token();
        let span = token.start..token.end;
        let text = self.text_of(token);
        let (found, help) = match token.kind {
            Tok::Unknown => return self.unknown_character(token),
            Tok::BadNumber => return self.bad_number(token),
            Tok::OpenText | Tok::OpenComment => return self.open_text(token),
            Tok::Eof => ("the end of the file".to_owned(), "the program is cut off here: complete it"),
            // The error belongs to the line before.
            _ if token.line_before && token.start != self.stmt_start => {
                let message = format!("expected {what}, found the end of the line");
                let help = match self.slice(0..self.last_end) {
                    text if text.ends_with("++") => "to count, write `x += 1` or `INC(x)`",
                    text if text.ends_with("--") => "to count down, write `x -= 1` or `DEC(x)`",
                    _ => "complete the line; lines continue after operators and commas, and inside brackets",
                };
                return self.error(codes::SYNTAX, self.last_end..self.last_end, message, help);
            }
            Tok::Kw(Kw::Isa) | Tok::Arrow | Tok::Pair | Tok::HostOp | Tok::HostText | Tok::Char => {
                return self.host_expression(span, &format!("`{text}`"));
            }
            Tok::Kw(Kw::For | Kw::If) if !self.lines => return self.host_expression(span, "a comprehension"),
            Tok::Kw(_) => (format!("`{text}`"), "this is a reserved word: it cannot stand here, nor be a name"),
            Tok::Equals => ("`=`".to_owned(), "compare with `==`; allocate with `x ← e`; add with `y += e`"),
            Tok::Str { .. } => ("a text".to_owned(), "texts belong into messages: `@safe @assert e \"message\"`"),
            _ if text == "{" => ("`{`".to_owned(), "blocks have no braces here: they end with `end`"),
            _ if text == "*" && self.slice(0..token.start).ends_with('*') => ("`*`".to_owned(), "a power is `x^n`"),
            _ => (format!("`{text}`"), "complete the statement before it, or put it on a line of its own"),
        };
        self.error(codes::SYNTAX, span, format!("expected {what}, found {found}"), help)
    }

    fn unknown_character(&mut self, token: Token) -> Failed {
        let text = self.text_of(token);
        let help = match text {
            "≈" => "compare with bounds: `abs(a - b) < 1e-8`",
            "∨" => "write `⊻` for exclusive or, `||` for or",
            "∧" => "write `&&`",
            "×" | "·" | "⋅" => "write `*`",
            "−" | "–" | "—" => "this looks like a minus sign but is another character: write `-`",
            "“" | "”" | "„" => "write `\"`",
            "‘" | "’" | "\u{b4}" => "write `'`",
            "'" => "an adjoint follows its operand directly: `x'`",
            "$" => "`$` has a meaning only in texts and as `$=`",
            _ => "remove it",
        };
        let message = match text.chars().next() {
            Some(c) if !c.is_control() => format!("the character `{c}` means nothing here"),
            Some(c) => format!("the character U+{:04X} means nothing here", u32::from(c)),
            None => "this means nothing here".to_owned(),
        };
        self.error(codes::CHARACTER, token.start..token.end, message, help)
    }

    fn bad_number(&mut self, token: Token) -> Failed {
        let text: String = self.text_of(token).chars().take(40).collect();
        let help = "numbers are written 42, 1_000, 0x1f, 0b101, 1.5 or 1e-8";
        self.error(codes::NUMBER, token.start..token.end, format!("`{text}` is not a number"), help)
    }

    fn open_text(&mut self, token: Token) -> Failed {
        let span = token.start..token.end;
        if token.kind == Tok::OpenComment {
            self.error(codes::TEXT, span, "this comment does not end", "end it with `=#`")
        } else {
            self.error(codes::TEXT, span, "this text does not end", "end it with the quotes that it begins with")
        }
    }

    fn host_expression(&mut self, span: Span, what: &str) -> Failed {
        let message = format!("{what} is an expression of the host language, not of Nil");
        let help = "compute it in statements, define an `@i function`, or put `@safe` before the host statement";
        self.error(codes::HOST_EXPRESSION, span, message, help)
    }

    /// Runs `inner` one level deeper.
    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.is_deepest(0) {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn too_deep(&mut self) -> Failed {
        let token = self.token();
        let help = "compute a part into an ancilla, or move a part into a function of its own";
        let exceeded = Exceeded::new(Resource::Depth, self.budget.depth.into(), "this").instead(help);
        let place = self.place(token.start..token.end);
        self.report(exceeded.diagnostic().at(place, ""))
    }

    /// Counts one more statement. When there are too many, reading stops.
    fn counted(&mut self) {
        self.statements += 1;
        let Err(exceeded) = self.budget.program(self.statements, || "the program".to_string()) else { return };
        let place = self.place(self.stmt_start..self.last_end.max(self.stmt_start));
        let exceeded = exceeded.instead("use loops and functions instead of so many copies");
        self.report(exceeded.diagnostic().at(place, ""));
        self.stopped = true;
        self.leave();
    }

    /// Goes to the end of the file.
    fn leave(&mut self) {
        let end = self.cursor.lexer.text().len();
        self.cursor = Cursor::new(Lexer::new(self.cursor.lexer.text(), end, end));
    }

    /// Whether nothing may be nested this many levels deeper.
    fn is_deepest(&self, more: usize) -> bool {
        (self.depth + more) as u64 >= u64::from(self.budget.depth)
    }

    /// Builds an expression from its parts, the highest of which has this height.
    fn build(&mut self, kind: ExprKind, span: Span, height: usize) -> Parsed<Expr> {
        self.height = height + 1;
        let limit = u64::from(self.budget.height);
        let what = || "this expression, operator upon operator,".to_string();
        if let Err(exceeded) = Resource::Depth.within(limit, self.height as u64, what) {
            let help = "compute a part into an ancilla: `a ← 0.0`, `a += …`";
            let end = span.end;
            let start = span.start.max(end.saturating_sub(1));
            self.too_long = true;
            let place = self.place(start..end);
            return Err(self.report(exceeded.instead(help).diagnostic().at(place, "")));
        }
        Ok(Expr { kind, span })
    }

    /// Takes the operator of a statement or an expression. A line may end after it.
    fn operator(&mut self) {
        self.bump();
        if self.lines && self.token().line_before {
            self.broken = Some((self.cursor, self.last_end));
        }
    }

    /// Runs `inner` inside brackets, where lines do not end statements.
    fn bracketed<T>(&mut self, in_index: bool, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let before = (self.lines, self.in_index, self.in_choice);
        (self.lines, self.in_index, self.in_choice) = (false, in_index || before.1, false);
        self.brackets += 1;
        let result = inner(self);
        (self.lines, self.in_index, self.in_choice) = before;
        if result.is_ok() {
            self.brackets -= 1;
        }
        result
    }

    /// Tries to read something that may be host code: nothing is reported, and if it is not accepted, the parser goes
    /// back to its beginning. If it is accepted but has errors, it is read again and the errors are reported.
    fn attempt<T>(&mut self, inner: impl Fn(&mut Self) -> Parsed<T>) -> Option<T> {
        let before = (self.cursor, self.last_end, self.brackets);
        self.muted += 1;
        let lost = std::mem::take(&mut self.lost);
        let mut result = inner(self);
        let faulty = std::mem::replace(&mut self.lost, lost) > 0;
        self.muted -= 1;
        if result.is_ok() && faulty {
            (self.cursor, self.last_end, self.brackets) = before;
            result = inner(self);
        }
        if result.is_err() && !self.stopped {
            (self.cursor, self.last_end, self.brackets) = before;
        }
        result.ok()
    }
}
