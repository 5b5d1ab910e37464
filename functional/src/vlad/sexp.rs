//! Text as forms: symbols, constants and lists.

use std::rc::Rc;

use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::{Diagnostic, Place};

use crate::errors::SYNTAX;

/// A form with its place.
#[derive(Clone, Debug)]
pub struct Sexp {
    /// What it is.
    pub form: Form,
    /// Where it is written.
    pub place: Place,
}

/// What a form is.
#[derive(Clone, Debug)]
pub enum Form {
    /// A symbol.
    Symbol(Rc<str>),
    /// A number.
    Number(f64),
    /// `#t` or `#f`.
    Bool(bool),
    /// A text in quotes.
    Text(String),
    /// A list, and what stands behind a dot.
    List(Vec<Sexp>, Option<Box<Sexp>>),
}

impl Sexp {
    /// The symbol's name.
    pub fn symbol(&self) -> Option<&str> {
        match &self.form {
            Form::Symbol(name) => Some(name),
            Form::Number(_) | Form::Bool(_) | Form::Text(_) | Form::List(..) => None,
        }
    }

    /// The elements of a list without a dot.
    pub fn list(&self) -> Option<&[Sexp]> {
        match &self.form {
            Form::List(all, None) => Some(all),
            Form::List(_, Some(_)) | Form::Symbol(_) | Form::Number(_) | Form::Bool(_) | Form::Text(_) => None,
        }
    }

    /// The parts behind the head, if it is a list with this symbol as head.
    pub fn headed(&self, head: &str) -> Option<&[Sexp]> {
        let all = self.list()?;
        (all.first()?.symbol()? == head).then(|| &all[1..])
    }
}

/// A list that is being read.
struct Open {
    start: usize,
    all: Vec<Sexp>,
    /// A quote ends with its first form.
    quote: bool,
    /// Whether a dot was read, and the form behind it.
    dot: Option<Option<Sexp>>,
}

struct Reader<'a> {
    text: &'a str,
    file: u16,
    at: usize,
    budget: &'a Budget,
    open: Vec<Open>,
    done: Vec<Sexp>,
    parts: u64,
}

/// Reads all forms of a text.
///
/// # Errors
/// If it is not made of forms, or exceeds the budget.
pub fn read(text: &str, file: u16, budget: &Budget) -> Result<Vec<Sexp>, Box<Diagnostic>> {
    let mut reader = Reader { text, file, at: 0, budget, open: Vec::new(), done: Vec::new(), parts: 0 };
    while reader.token()? {}
    match reader.open.pop() {
        None => Ok(reader.done),
        Some(open) => {
            let place = Place { file, span: open.start..open.start + 1 };
            let open = Diagnostic::error(SYNTAX, "a list is not closed").at(place, "it begins here");
            Err(Box::new(open.help("add `)`")))
        }
    }
}

impl Reader<'_> {
    fn error(&self, message: impl Into<String>, start: usize) -> Box<Diagnostic> {
        let end = self.at.max(start + 1).min(self.text.len());
        Box::new(Diagnostic::error(SYNTAX, message).at(Place { file: self.file, span: start.min(end)..end }, ""))
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Passes white space and comments.
    fn skip(&mut self) -> Result<(), Box<Diagnostic>> {
        while let Some(c) = self.peek() {
            if c.is_whitespace() {
                self.next();
            } else if c == ';' {
                while self.next().is_some_and(|c| c != '\n') {}
            } else if self.text[self.at..].starts_with("#|") {
                let start = self.at;
                let mut depth = 0_u64;
                loop {
                    let rest = &self.text[self.at..];
                    if rest.starts_with("#|") {
                        depth += 1;
                        self.at += 2;
                    } else if rest.starts_with("|#") {
                        depth -= 1;
                        self.at += 2;
                    } else if self.next().is_none() {
                        return Err(self.error("a comment is not closed", start));
                    }
                    if depth == 0 {
                        break;
                    }
                }
            } else {
                break;
            }
        }
        Ok(())
    }

    /// Reads one token; false at the end.
    fn token(&mut self) -> Result<bool, Box<Diagnostic>> {
        self.skip()?;
        let start = self.at;
        let Some(c) = self.next() else { return Ok(false) };
        match c {
            '(' | '[' => self.begin(start, false)?,
            '\'' => self.begin(start, true)?,
            ')' | ']' => self.end(start)?,
            '"' => {
                let text = self.quoted(start)?;
                self.put(Form::Text(text), start)?;
            }
            _ => {
                while self
                    .peek()
                    .is_some_and(|c| !c.is_whitespace() && !matches!(c, '(' | ')' | '[' | ']' | '"' | ';' | '\''))
                {
                    self.next();
                }
                self.word(start)?;
            }
        }
        Ok(true)
    }

    fn begin(&mut self, start: usize, quote: bool) -> Result<(), Box<Diagnostic>> {
        let place = Place { file: self.file, span: start..start + 1 };
        let depth = u32::try_from(self.open.len() + 1).unwrap_or(u32::MAX);
        self.budget.nested(depth, || "this form".into()).map_err(|e| Box::new(e.diagnostic().at(place.clone(), "")))?;
        let all = if quote { vec![Sexp { form: Form::Symbol("quote".into()), place }] } else { Vec::new() };
        self.open.push(Open { start, all, quote, dot: None });
        Ok(())
    }

    fn end(&mut self, start: usize) -> Result<(), Box<Diagnostic>> {
        match self.open.pop() {
            None => Err(self.error("a list is closed that was not opened", start)),
            Some(open) if open.quote => Err(self.error("nothing is quoted", open.start)),
            Some(open) => match open.dot {
                Some(None) => Err(self.error("nothing stands behind the dot", start)),
                Some(Some(tail)) => self.put(Form::List(open.all, Some(Box::new(tail))), open.start),
                None => self.put(Form::List(open.all, None), open.start),
            },
        }
    }

    /// Adds a form to the list that is being read.
    fn put(&mut self, form: Form, start: usize) -> Result<(), Box<Diagnostic>> {
        let mut sexp = Sexp { form, place: Place { file: self.file, span: start..self.at } };
        loop {
            self.parts += 1;
            if self.parts > self.budget.statements {
                let message = format!("more than {} forms", self.budget.statements);
                return Err(self.error(message, start));
            }
            match self.open.last_mut() {
                None => {
                    self.done.push(sexp);
                    return Ok(());
                }
                Some(open) if open.quote => {
                    open.all.push(sexp);
                    let (start, all) = (open.start, std::mem::take(&mut open.all));
                    self.open.pop();
                    sexp = Sexp { form: Form::List(all, None), place: Place { file: self.file, span: start..self.at } };
                }
                Some(open) => {
                    match &mut open.dot {
                        None => open.all.push(sexp),
                        Some(tail @ None) => *tail = Some(sexp),
                        Some(Some(_)) => return Err(self.error("two forms stand behind a dot", start)),
                    }
                    return Ok(());
                }
            }
        }
    }

    fn quoted(&mut self, start: usize) -> Result<String, Box<Diagnostic>> {
        let mut text = String::new();
        loop {
            match self.next() {
                None => return Err(self.error("a text is not closed", start)),
                Some('"') => return Ok(text),
                Some('\\') => match self.next() {
                    None => return Err(self.error("a text is not closed", start)),
                    Some('n') => text.push('\n'),
                    Some(c) => text.push(c),
                },
                Some(c) => text.push(c),
            }
        }
    }

    fn word(&mut self, start: usize) -> Result<(), Box<Diagnostic>> {
        let word = &self.text[start..self.at];
        let form = match word {
            "#t" | "#true" => Form::Bool(true),
            "#f" | "#false" => Form::Bool(false),
            "." => {
                return match self.open.last_mut() {
                    Some(open) if !open.quote && !open.all.is_empty() && open.dot.is_none() => {
                        open.dot = Some(None);
                        Ok(())
                    }
                    _ => Err(self.error("a dot stands where none can stand", start)),
                };
            }
            _ if word.starts_with('#') => match based(word) {
                Some(x) => Form::Number(x),
                None => return Err(self.error(format!("`{word}` is not understood"), start)),
            },
            _ => match number(word) {
                Some(x) => Form::Number(x),
                None => Form::Symbol(word.into()),
            },
        };
        self.put(form, start)
    }
}

/// A number with a base: `#b100`, `#o17`, `#d10`, `#xff`.
fn based(word: &str) -> Option<f64> {
    let radix = match word.get(..2)? {
        "#b" | "#B" => 2,
        "#o" | "#O" => 8,
        "#d" | "#D" => return number(&word[2..]),
        "#x" | "#X" => 16,
        _ => return None,
    };
    let digits = &word[2..];
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, digits),
    };
    if digits.is_empty() {
        return None;
    }
    digits
        .chars()
        .try_fold(0.0, |x, c| Some(x * f64::from(radix) + f64::from(c.to_digit(radix)?)))
        .map(|x: f64| sign * x)
}

/// A decimal number, or a fraction.
fn number(word: &str) -> Option<f64> {
    if let Some((a, b)) = word.split_once('/') {
        let (a, b): (i64, i64) = (a.parse().ok()?, b.parse().ok()?);
        return (b > 0).then(|| a as f64 / b as f64);
    }
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    let first = digits.strip_prefix('.').unwrap_or(digits).chars().next()?;
    if !first.is_ascii_digit()
        || !digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'))
    {
        return None;
    }
    word.parse().ok()
}
