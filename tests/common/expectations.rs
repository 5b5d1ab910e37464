//! The comments by which a program under `tests/filetests` says what is expected of it. The directives are the same in all languages;
//! only the mark that begins a comment differs: `;` in assembly, PISA and VLAD, `#` in Nil, `//` in Janus, `--` in Futhark.
//!
//! A directive stands directly behind that mark; a comment that begins with a blank, or repeats the mark, is an ordinary one.
//!
//! - `;! P0007 text @ source`: a diagnostic or trap with this code whose message contains the text, at this line. The source under its caret
//!   must be exactly this one, where one is given; of several lines of source, the first one counts.
//!   `;!^ P0007` is expected at the line above, `;!^^ P0007` at the line above that one; `;!10 P0410` stands for ten of them.
//!   A diagnostic that has no place in the file is expected at its first line.
//! - `;? text`: the help of the problem before it contains the text. Several problems and helps may share a line: `;! P0001 a ;? b ;! P0002`.
//! - `;value: x = 5`: after the run forward, this variable, register or data symbol has this value.
//! - `;shown: 5`: what the run shows, one directive for each line, in order; nothing unless said. In assembly and Nil each number and each text
//!   counts as a line, and texts stand in quotes.
//! - `;set: n=4`, `;args: 2,[1,2]` and so on: what the program is given, as by the options of the command line.
//!
//! [`Language::directives`] lists the directives of each language. Any other is an error.

use std::path::Path;

/// A language of test programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Assembly,
    Nil,
    Janus,
    Pisa,
    Vlad,
    Futhark,
}

/// How often a directive may stand in a file, and whether it has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Once, without a value.
    Flag,
    /// Once, with a value.
    One,
    /// Any number of times, each with a value.
    Many,
}

/// A directive: its name, its shape, and what it means.
type Entry = (&'static str, Shape, &'static str);

const EVERYWHERE: &[Entry] = &[
    ("value", Shape::Many, "`x = 5`: a value after the run forward"),
    ("shown", Shape::Many, "a line that the run shows"),
];

const ASSEMBLY: &[Entry] = &[
    ("set", Shape::Many, "`n=4`: a register or data symbol at the start"),
    ("input", Shape::One, "the input tape"),
    ("output", Shape::One, "the output tape at the start"),
    ("emitted", Shape::One, "the output tape after the run"),
    ("mem", Shape::One, "words of memory"),
    ("max-steps", Shape::One, "instructions after which a run is stopped"),
    ("backward", Shape::Flag, "run from `finish` to `start` first"),
    ("unchecked", Shape::Flag, "leave checks out"),
    ("ieee", Shape::Flag, "floating-point results need not be finite"),
    ("trap-overflow", Shape::Flag, "overflow is a trap"),
    ("drift", Shape::Flag, "the run back need not restore the state bit for bit"),
    ("check", Shape::Flag, "do not run; the problems are those that the checker finds"),
    ("lost", Shape::One, "bits lost in the run forward; none unless said"),
    ("flag", Shape::Many, "`overflow` or `inexact`: the flag that this line is the first to raise"),
];

const NIL: &[Entry] = &[
    ("args", Shape::One, "`2,[1,2]`: arguments"),
    ("types", Shape::One, "types of the arguments"),
    ("entry", Shape::One, "the function that is run"),
    ("format", Shape::One, "the fixed-point format"),
    ("set", Shape::Many, "`x=3`: an argument at the start"),
    ("grad", Shape::Many, "`y! x=0.5 a[1]=2`: derivatives of the first symbol with respect to the others"),
    ("drift", Shape::Flag, "floating-point words of the start come back rounded"),
    ("backward", Shape::Flag, "in `trap`: run from the end to the start"),
];

const JANUS: &[Entry] = &[
    ("set", Shape::Many, "`x=3`: a variable at the start"),
    ("int", Shape::One, "bits of an integer"),
    ("stack", Shape::One, "words of a stack"),
    ("entry", Shape::One, "the procedure that is run"),
    ("classic", Shape::Flag, "the program is one of the first language"),
    ("backward", Shape::Flag, "in `trap`: run from the end to the start"),
];

const PISA: &[Entry] = &[
    ("input", Shape::One, "the words that `READ` reads"),
    ("emitted", Shape::One, "the words that `EMIT` emits"),
    ("steps", Shape::One, "how many instructions run, `FINISH` not counted"),
    ("steps-back", Shape::One, "how many run on the way back, where that is another number"),
    ("pendvm-bugs", Shape::Flag, "do what PendVM does"),
    ("show-raw", Shape::Flag, "`SHOW` prints words"),
    ("strict", Shape::Flag, "immediates and offsets as the paper has them"),
    ("alias", Shape::One, "`noop`: what names one register twice does nothing"),
    ("cells", Shape::One, "cells of a translation"),
];

const FUNCTIONAL: &[Entry] = &[
    ("entry", Shape::One, "the function that is called"),
    ("args", Shape::One, "`2,[1,2]`: its arguments"),
    ("stage", Shape::One, "`d1` to `d5` or `transform`: how it is differentiated"),
    ("seed", Shape::One, "what the numbers of the result count"),
    ("max-steps", Shape::One, "steps after which an evaluation is stopped"),
];

impl Language {
    /// The language of a program, by the extension of its name.
    pub(crate) fn of(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "rasm" => Some(Language::Assembly),
            "nil" | "jl" => Some(Language::Nil),
            "ja" | "janus" => Some(Language::Janus),
            "pisa" => Some(Language::Pisa),
            "vlad" => Some(Language::Vlad),
            "fut" => Some(Language::Futhark),
            _ => None,
        }
    }

    /// The mark that begins a comment.
    fn mark(self) -> &'static str {
        match self {
            Language::Assembly | Language::Pisa | Language::Vlad => ";",
            Language::Futhark => "--",
            Language::Nil => "#",
            Language::Janus => "//",
        }
    }

    /// The quotes around text, in which no comment begins.
    fn quotes(self) -> &'static [char] {
        match self {
            Language::Assembly => &['"', '\''],
            Language::Nil | Language::Janus | Language::Vlad | Language::Futhark => &['"'],
            Language::Pisa => &[],
        }
    }

    /// The directives of the language, beside those for problems and helps.
    fn directives(self) -> impl Iterator<Item = &'static Entry> {
        let special = match self {
            Language::Assembly => ASSEMBLY,
            Language::Nil => NIL,
            Language::Janus => JANUS,
            Language::Pisa => PISA,
            Language::Vlad | Language::Futhark => FUNCTIONAL,
        };
        EVERYWHERE.iter().chain(special)
    }

    /// Splits a line into code and the text of its first comment.
    fn split(self, line: &str) -> Option<(&str, &str)> {
        let mark = self.mark();
        let mut quote = None;
        let mut chars = line.char_indices();
        while let Some((at, c)) = chars.next() {
            match (c, quote) {
                (_, None) if line[at..].starts_with(mark) => return Some((&line[..at], &line[at + mark.len()..])),
                // The other mark of a comment in assembly, which no directive follows.
                ('#', None) if self == Language::Assembly => return None,
                (c, None) if self.quotes().contains(&c) => quote = Some(c),
                ('\\', Some(_)) => _ = chars.next(),
                (c, Some(q)) if c == q => quote = None,
                _ => {}
            }
        }
        // A quote that is not closed reaches to the end of the line.
        let at = quote.and_then(|_| line.find(&format!("{mark}!")))?;
        Some((&line[..at], &line[at + mark.len()..]))
    }

    /// Splits a line into code and the text of the expectations in its comment, if there are any.
    fn expectation(self, line: &str) -> Option<(&str, &str)> {
        let (code, comment) = self.split(line)?;
        let first = comment.chars().next()?;
        // In Nil `#=` begins a comment of several lines.
        let ordinary = first.is_whitespace() || self.mark().starts_with(first) || self == Language::Nil && first == '=';
        (!ordinary).then_some((code, comment))
    }

    /// A line without the expectations that it bears.
    pub(crate) fn code(self, line: &str) -> &str {
        self.expectation(line).map_or(line, |(code, _)| code).trim_end()
    }

    /// What the expectations on a line say, if it bears any.
    pub(crate) fn comment(self, line: &str) -> Option<&str> {
        self.expectation(line).map(|(_, comment)| comment)
    }
}

/// A diagnostic, finding or trap: one that a file expects, or one that was found.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) line: usize,
    pub(crate) code: String,
    pub(crate) message: String,
    /// The source under the caret.
    pub(crate) source: Option<String>,
    /// Parts of the help that are expected; the whole help of a problem that was found, where it is to be compared.
    pub(crate) help: Vec<String>,
}

impl Problem {
    /// Reads what follows the mark of an expectation: `P0102 text @ source`.
    fn of(line: usize, text: &str) -> Problem {
        let (text, source) = match text.rsplit_once(" @ ") {
            Some((text, source)) => (text.trim(), Some(source.trim().to_string())),
            None => (text.trim(), None),
        };
        let (code, message) = text.split_once(' ').unwrap_or((text, ""));
        Problem { line, code: code.to_string(), message: message.trim().to_string(), source, help: Vec::new() }
    }

    /// True if this expectation is met by the problem that was found.
    fn matches(&self, found: &Problem) -> bool {
        let same = self.line == found.line && self.code == found.code && found.message.contains(&self.message);
        same && (self.source.is_none() || self.source == found.source) && self.missing_help(found).next().is_none()
    }

    /// The parts of the help that a problem does not have.
    fn missing_help<'p>(&'p self, found: &'p Problem) -> impl Iterator<Item = &'p String> {
        self.help
            .iter()
            .filter(|part| found.help.iter().all(|help| !help.contains(part.as_str())) && !found.help.is_empty())
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.code, self.message)?;
        self.source.iter().try_for_each(|source| write!(f, " @ {source}"))?;
        self.help.iter().try_for_each(|help| write!(f, " ? {help}"))
    }
}

/// Compares the problems that are expected with those that were found: the differences, each with its line.
pub(crate) fn differences(expected: &[Problem], mut found: Vec<Problem>) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    for problem in expected {
        match found.iter().position(|f| problem.matches(f)) {
            Some(n) => drop(found.remove(n)),
            None => out.push((problem.line, format!("expected {problem}"))),
        }
    }
    out.extend(found.into_iter().map(|problem| (problem.line, format!("found {problem}, which is not expected"))));
    out
}

/// A directive with a name.
#[derive(Clone, Debug)]
pub(crate) struct Directive {
    pub(crate) line: usize,
    name: String,
    /// The text behind the colon and one blank.
    value: String,
}

/// The expectations of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expectations {
    pub(crate) problems: Vec<Problem>,
    directives: Vec<Directive>,
}

impl Expectations {
    /// Reads the expectations of a program. Errors: what cannot be read, with its line.
    pub(crate) fn read(language: Language, text: &str) -> Result<Expectations, (usize, String)> {
        let mut out = Expectations::default();
        for (n, line) in text.lines().enumerate() {
            let n = n + 1;
            if let Some(comment) = language.comment(line) {
                out.comment(language, n, comment).map_err(|message| (n, message))?;
            } else if let Some((_, comment)) = language.split(line)
                && ["! P0", "? "].iter().any(|d| comment.contains(&format!(" {}{d}", language.mark())))
            {
                return Err((n, "an expectation stands within an ordinary comment".to_string()));
            }
        }
        Ok(out)
    }

    fn comment(&mut self, language: Language, line: usize, comment: &str) -> Result<(), String> {
        let mark = language.mark();
        if !comment.starts_with(['!', '?']) {
            return self.directive(language, line, comment);
        }
        let (problem, help) = (format!(" {mark}!"), format!(" {mark}? "));
        let mut rest = comment;
        while !rest.is_empty() {
            let end = [&problem, &help].iter().filter_map(|next| rest.find(next.as_str())).min().unwrap_or(rest.len());
            let part = &rest[..end];
            if let Some(text) = part.strip_prefix("? ") {
                let problem = self.problems.last_mut().ok_or("a help without a problem before it")?;
                problem.help.push(text.trim().to_string());
            } else {
                self.problem(
                    line,
                    part.strip_prefix('!').ok_or_else(|| format!("`{mark}{part}` is not a directive"))?,
                )?;
            }
            rest = rest.get(end + 1 + mark.len()..).unwrap_or("");
        }
        Ok(())
    }

    /// Reads what follows `!`: carets or a number, and the problem.
    fn problem(&mut self, line: usize, text: &str) -> Result<(), String> {
        let (how, problem) = text.split_once(' ').ok_or("an expectation without a code")?;
        let up = how.bytes().take_while(|b| *b == b'^').count();
        let count = match &how[up..] {
            "" => Some(1),
            number => number.parse::<usize>().ok().filter(|n| up == 0 && *n > 1),
        };
        let count = count.ok_or_else(|| format!("`!{how}` is not a directive"))?;
        let line = line.checked_sub(up).filter(|line| *line > 0).ok_or("no line stands there")?;
        self.problems.extend((0..count).map(|_| Problem::of(line, problem)));
        Ok(())
    }

    fn directive(&mut self, language: Language, line: usize, text: &str) -> Result<(), String> {
        let (name, value) = match text.split_once(':') {
            Some((name, value)) => (name, Some(value.strip_prefix(' ').unwrap_or(value))),
            None => (text.trim_end(), None),
        };
        let Some((name, shape, _)) = language.directives().find(|(known, ..)| *known == name) else {
            let known: Vec<&str> = language.directives().map(|(name, ..)| *name).collect();
            let mark = language.mark();
            return Err(format!("`{mark}{text}` is not a directive of {language:?}; there are {}", known.join(", ")));
        };
        match (shape, value) {
            (Shape::Flag, Some(_)) => return Err(format!("`{name}` has no value")),
            (Shape::One | Shape::Many, None) => return Err(format!("`{name}` needs a value")),
            (Shape::Flag | Shape::One, _) if self.has(name) => return Err(format!("`{name}` stands twice")),
            _ => {}
        }
        let value = value.unwrap_or("").to_string();
        self.directives.push(Directive { line, name: (*name).to_string(), value });
        Ok(())
    }

    /// True if a directive stands in the file.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.directives.iter().any(|d| d.name == name)
    }

    /// The value of a directive that stands once.
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        self.directives.iter().find(|d| d.name == name).map(|d| d.value.trim())
    }

    /// The values of a directive.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.placed(name).map(|(_, value)| value)
    }

    /// The values of a directive with their lines.
    pub(crate) fn placed<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
        self.directives.iter().filter(move |d| d.name == name).map(|d| (d.line, d.value.trim()))
    }

    /// The value of a directive as a number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, String> {
        let number = |value: &str| value.parse().map_err(|_| format!("`{name}: {value}` is not a number"));
        self.option(name).map(number).transpose()
    }

    /// The lines that the run shows.
    pub(crate) fn shown(&self) -> Vec<&str> {
        self.directives.iter().filter(|d| d.name == "shown").map(|d| d.value.as_str()).collect()
    }

    /// The values after the run: line, name and value.
    pub(crate) fn values(&self) -> Result<Vec<(usize, &str, &str)>, String> {
        self.placed("value")
            .map(|(line, text)| {
                let (name, value) = text.split_once(" = ").ok_or_else(|| format!("`value: {text}` has no ` = `"))?;
                Ok((line, name.trim(), value.trim()))
            })
            .collect()
    }

    /// The named directives as options of the command line.
    pub(crate) fn command_line(&self, names: &[&str]) -> Vec<String> {
        let given = |d: &&Directive| names.contains(&d.name.as_str());
        let one = |d: &Directive| match d.value.trim() {
            "" => format!("--{}", d.name),
            value => format!("--{}={value}", d.name),
        };
        self.directives.iter().filter(given).map(one).collect()
    }
}
