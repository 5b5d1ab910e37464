//! The lexer: text to tokens.

use pendula_isa::diagnostic::{Diagnostic, Place};

use super::ast::Span;
use super::codes;

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tok {
    /// The end of the text.
    End,
    /// A word: a name, or a reserved word.
    Word,
    /// A number.
    Number(i128),
    /// A text.
    Text(String),
    /// An operator or a bracket.
    Sign(&'static str),
}

/// A token and its source range.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) tok: Tok,
    pub(super) span: Span,
}

/// Operators and brackets. Longer ones come before their prefixes.
const SIGNS: &[&str] = &[
    "<=>", "==", "**", "<<", ">>", "<=", ">=", "!=", "+=", "-=", "^=", "*=", "/=", "&&", "||", "+", "-", "*", "/", "%",
    "&", "|", "^", "!", "~", "=", "<", ">", "(", ")", "[", "]", "{", "}", ",",
];

/// Additional operators of classic programs.
const CLASSIC: &[&str] = &["*/", "!=", "#", ":", "\\"];

/// The number of errors that are reported.
const MAX_ERRORS: usize = 100;

/// The tokens of a text with an end token, and the errors. In classic programs `;` begins a comment. Reading stops
/// after [`MAX_ERRORS`] errors.
pub(super) fn tokens(file: u16, text: &str, classic: bool) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer { file, text, at: 0, classic, out: Vec::new(), found: Vec::new() };
    while lexer.found.len() < MAX_ERRORS && lexer.next() {}
    let end = text.trim_end().len();
    lexer.out.push(Token { tok: Tok::End, span: end..end });
    (lexer.out, lexer.found)
}

/// The names of control characters, from 0 on.
const CONTROL: [&str; 33] = [
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR", "SO", "SI", "DLE",
    "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US", "SP",
];

/// The control character at the beginning of a text, and the length of its name: `ESC`, `^A`. The longest name counts.
fn control(text: &str) -> Option<(usize, char)> {
    if let Some(c) = text.strip_prefix('^').and_then(|t| t.bytes().next()) {
        return (b'@'..=b'_').contains(&c).then(|| (2, char::from(c - b'@')));
    }
    let names = CONTROL.iter().zip(0..).chain([(&"DEL", 127)]);
    let found = names.filter(|(name, _)| text.starts_with(**name)).max_by_key(|(name, _)| name.len())?;
    Some((found.0.len(), char::from(found.1)))
}

/// The beginning of a text, as far as a message shows it.
pub(super) fn visible_part(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((n, _)) => format!("{}…", text.get(..n).unwrap_or("")),
        None => text.to_string(),
    }
}

/// The number of characters of a word that messages show.
const SHOWN: usize = 60;

struct Lexer<'a> {
    file: u16,
    text: &'a str,
    at: usize,
    classic: bool,
    out: Vec<Token>,
    found: Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn fail(&mut self, code: &'static str, span: Span, message: String, help: &str) {
        let place = Place { file: self.file, span };
        self.found.push(Diagnostic::error(code, message).at(place, "").help(help));
    }

    fn push(&mut self, tok: Tok, start: usize) {
        self.out.push(Token { tok, span: start..self.at });
    }

    /// Reads a token or white space; `false` at the end.
    fn next(&mut self) -> bool {
        let start = self.at;
        let rest = self.rest();
        let Some(c) = rest.chars().next() else { return false };
        if c.is_whitespace() || c == '\u{feff}' {
            self.at += c.len_utf8();
        } else if rest.starts_with("//") || (self.classic && c == ';') {
            self.at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            match rest.get(2..).and_then(|r| r.find("*/")) {
                Some(n) => self.at += n + 4,
                None => {
                    self.at = self.text.len();
                    let message = "this comment does not end".to_string();
                    self.fail(codes::TEXT, start..start + 2, message, "a comment ends with `*/`");
                }
            }
        } else if c == '"' {
            self.string();
        } else if c.is_ascii_digit() {
            self.number();
        } else if c.is_alphabetic() || (c == '_' && self.classic) {
            let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
            self.at += rest.find(|c| !inside(c)).unwrap_or(rest.len());
            self.push(Tok::Word, start);
        } else {
            let classic = CLASSIC.iter().filter(|_| self.classic).chain(SIGNS);
            match classic.into_iter().find(|s| rest.starts_with(**s)) {
                Some(sign) => {
                    self.at += sign.len();
                    self.push(Tok::Sign(sign), start);
                }
                None => {
                    self.at += c.len_utf8();
                    let help = match c {
                        ';' => "statements need no separator",
                        ':' => {
                            "a variable is changed by `x += e`, `x -= e` or `x ^= e`: an assignment would forget what was there before"
                        }
                        '\'' | '_' => "a name begins with a letter",
                        '#' => "comments are `// …` to the end of the line, and `/* … */`",
                        '.' => "numbers are whole",
                        _ => "names, numbers, operators and comments `// …`, `/* … */` are what a program is made of",
                    };
                    self.fail(codes::CHARACTER, start..self.at, format!("`{c}` means nothing here"), help);
                }
            }
        }
        true
    }

    fn number(&mut self) {
        let start = self.at;
        let rest = self.rest();
        let len = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let text = rest.get(..len).unwrap_or("");
        let lower = text.to_lowercase();
        let (radix, digits) = [("0x", 16), ("0o", 8), ("0b", 2)]
            .into_iter()
            .find_map(|(p, r)| lower.strip_prefix(p).map(|d| (r, d)))
            .unwrap_or((10, lower.as_str()));
        let number = i128::from_str_radix(digits, radix).ok().filter(|n| *n < 1 << 64);
        let well = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
        let text = visible_part(text);
        let message =
            if well { format!("{text} does not fit in 64 bits") } else { format!("`{text}` is not a number") };
        self.at += len;
        match number {
            Some(n) if well => self.push(Tok::Number(n), start),
            _ => {
                let help = "numbers are written `12`, `0xff`, `0o17`, `0b101`, and fit in 64 bits";
                self.fail(codes::NUMBER, start..self.at, message, help);
                self.push(Tok::Number(0), start);
            }
        }
    }

    fn string(&mut self) {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let mut chars = rest.chars();
            match chars.next() {
                None | Some('\n') => {
                    let message = "this text does not end".to_string();
                    self.fail(codes::TEXT, start..start + 1, message, "a text ends with `\"` on its own line");
                    break;
                }
                Some('"') => {
                    self.at += 1;
                    break;
                }
                Some('\\') => self.escape(&mut out),
                Some(c) => {
                    self.at += c.len_utf8();
                    out.push(c);
                }
            }
        }
        self.push(Tok::Text(out), start);
    }

    /// An escape, as in Haskell.
    fn escape(&mut self, out: &mut String) {
        let start = self.at;
        self.at += 1;
        let rest = self.rest();
        let Some(c) = rest.chars().next() else { return };
        let simple = match c {
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            'a' => Some('\u{7}'),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'v' => Some('\u{b}'),
            '\\' | '"' | '\'' => Some(c),
            _ => None,
        };
        if let Some(c) = simple {
            self.at += 1;
            out.push(c);
            return;
        }
        if c == '&' {
            self.at += 1;
            return;
        }
        if c.is_whitespace() {
            // A gap: white space between two backslashes.
            let blanks = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
            if rest.get(blanks..).is_some_and(|r| r.starts_with('\\')) {
                self.at += blanks + 1;
                return;
            }
        }
        if let Some((len, code)) = control(rest) {
            self.at += len;
            out.push(code);
            return;
        }
        let (skip, radix) = match c {
            'x' => (1, 16),
            'o' => (1, 8),
            _ => (0, 10),
        };
        let digits: String = rest.get(skip..).unwrap_or("").chars().take_while(|c| c.is_digit(radix)).collect();
        match u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32) {
            Some(c) => {
                self.at += skip + digits.len();
                out.push(c);
            }
            None => {
                self.at += c.len_utf8();
                let message = format!("`\\{c}` is not an escape");
                self.fail(
                    codes::TEXT,
                    start..self.at,
                    message,
                    "escapes are `\\n`, `\\t`, `\\\"`, `\\\\`, `\\65`, `\\x41`, `\\ESC`, `\\^A` and the like",
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Tok, tokens};

    fn text(source: &str) -> Option<String> {
        let (list, found) = tokens(0, source, false);
        match list.first().map(|t| &t.tok) {
            Some(Tok::Text(text)) if found.is_empty() => Some(text.clone()),
            _ => None,
        }
    }

    #[test]
    fn escapes_are_those_of_haskell() {
        let control = "\"\\SOHH|\\SO|\\DEL|\\ESC[|\\^A|\\^@|\\NUL|\\US|\\SP|\\DC4\"";
        assert_eq!(text(control).as_deref(), Some("\u{1}H|\u{e}|\u{7f}|\u{1b}[|\u{1}|\0|\0|\u{1f}| |\u{14}"));
        let plain = "\"\\65\\&1\\x42\\o103 a\\\n    \\b\\\"\\\\\"";
        assert_eq!(text(plain).as_deref(), Some("A1BC ab\"\\"));
        for wrong in ["\"\\q\"", "\"\\^a\"", "\"\\^\"", "\"\\X41\"", "\"\\NU\"", "\"\\x110000\""] {
            assert_eq!(text(wrong), None, "{wrong}");
        }
    }

    /// The tokens of a text that has no faults, without the end.
    fn kinds(source: &str, classic: bool) -> Vec<Tok> {
        let (list, found) = tokens(0, source, classic);
        assert!(found.is_empty(), "{source}: {found:?}");
        list.into_iter().map(|t| t.tok).take_while(|t| *t != Tok::End).collect()
    }

    #[test]
    fn operators_take_as_many_characters_as_they_can() {
        use Tok::{Sign, Word};
        assert_eq!(kinds("a<=>b<=c", false), [Word, Sign("<=>"), Word, Sign("<="), Word]);
        assert_eq!(kinds("x^=~y**z", false), [Word, Sign("^="), Sign("~"), Word, Sign("**"), Word]);
        // Classic programs have more of them.
        assert_eq!(kinds("a : b # c", true), [Word, Sign(":"), Word, Sign("#"), Word]);
    }

    #[test]
    fn comments_are_no_tokens() {
        assert_eq!(kinds("// to the end\nx /* over\nlines */ y", false), [Tok::Word, Tok::Word]);
        assert_eq!(kinds("x ; to the end\ny", true), [Tok::Word, Tok::Word]);
        let codes = |source| tokens(0, source, false).1.into_iter().map(|d| d.code).collect::<Vec<_>>();
        assert_eq!(codes("x /* open"), [super::codes::TEXT]);
        assert_eq!(codes("x ; y"), [super::codes::CHARACTER]);
    }

    #[test]
    fn numbers_have_radices_and_64_bits() {
        let all = "12 0xfF 0o17 0b101 18446744073709551615";
        assert_eq!(kinds(all, false), [12, 255, 15, 5, (1 << 64) - 1].map(Tok::Number));
        for wrong in ["18446744073709551616", "0x", "0b12", "12ab", "0o8"] {
            let (_, found) = tokens(0, wrong, false);
            assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), [super::codes::NUMBER], "{wrong}");
        }
    }
}
