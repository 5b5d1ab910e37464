//! The words and signs of Julia's text.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A name or a reserved word.
    Word(String),
    /// A macro's name, with `@`.
    Macro(String),
    Int(i64),
    Float(f64),
    /// A text, without what is interpolated.
    Text(String),
    /// `:name`.
    Symbol(String),
    /// An operator or a bracket.
    Sign(&'static str),
    /// Something that is not read here.
    Unknown(String),
    End,
}

/// A token, and what stands before it.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Range<usize>,
    /// Whether a line ended before it.
    pub(super) line: bool,
    /// Whether there is white space before it.
    pub(super) space: bool,
}

/// The operators and brackets, those that begin with others first.
const SIGNS: [&str; 90] = [
    "...", "===", "!==", ".+=", ".-=", ".*=", "./=", ".==", ".!=", ".<=", ".>=", ".÷=", "⊻=", "&&", "||", "==", "!=",
    "<=", ">=", "+=", "-=", "*=", "/=", "^=", "÷=", "%=", "|=", "&=", "->", "=>", "|>", "<|", "::", "<:", ">:", ".+",
    ".-", ".*", "./", ".^", ".<", ".>", ".÷", ".%", ".≈", ".⊻", ".&", ".|", ".!", ".=", "=", "+", "-", "*", "/", "^",
    "\\", "%", "÷", "⊻", "&", "|", "!", "~", "<", ">", "≤", "≥", "≈", "≉", "≠", "≡", "∈", "∉", "(", ")", "[", "]", "{",
    "}", ",", ";", ":", ".", "?", "'", "$", "↔", "←", "→",
];

fn is_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '∅' || c == '∂' || c == '∇' || c == '∑'
}

fn is_part(c: char) -> bool {
    is_start(c) || c.is_numeric() || c == '!' || matches!(c, '′' | '\u{300}'..='\u{36f}')
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

/// The tokens of a text; the last one is its end.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer { text, at: 0 };
    let mut out: Vec<Token> = Vec::new();
    loop {
        let before = lexer.at;
        let line = lexer.blank() || out.is_empty();
        let start = lexer.at;
        // After an operand, `'` transposes, and `:` begins no symbol.
        let operand = out.last().is_some_and(|t| match &t.kind {
            Kind::Word(word) => !super::parser::is_reserved(word) || word == "end",
            Kind::Int(_) | Kind::Float(_) | Kind::Text(_) | Kind::Symbol(_) => true,
            Kind::Sign(sign) => [")", "]", "}", "'"].contains(sign),
            Kind::Macro(_) | Kind::Unknown(_) | Kind::End => false,
        });
        let kind = lexer.token(operand, start > before);
        let end = kind == Kind::End;
        out.push(Token { kind, span: start..lexer.at, line, space: start > before });
        if end {
            return out;
        }
    }
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes characters while they are such, and returns them.
    fn take(&mut self, is: impl Fn(char) -> bool) -> String {
        let taken: String = self.rest().chars().take_while(|c| is(*c)).collect();
        self.at += taken.len();
        taken
    }

    /// Skips white space and comments; whether a line ended.
    fn blank(&mut self) -> bool {
        let mut line = false;
        loop {
            let white = self.take(char::is_whitespace);
            line |= white.contains('\n');
            if self.rest().starts_with("#=") {
                let mut depth = 0usize;
                loop {
                    let rest = self.rest();
                    if rest.is_empty() {
                        break;
                    } else if rest.starts_with("#=") {
                        (depth, self.at) = (depth + 1, self.at + 2);
                    } else if rest.starts_with("=#") {
                        (depth, self.at) = (depth - 1, self.at + 2);
                        if depth == 0 {
                            break;
                        }
                    } else {
                        self.at += self.peek().map_or(0, char::len_utf8);
                    }
                }
            } else if self.rest().starts_with('#') {
                self.take(|c| c != '\n');
            } else if white.is_empty() {
                return line;
            }
        }
    }

    fn token(&mut self, operand: bool, space: bool) -> Kind {
        let Some(c) = self.peek() else { return Kind::End };
        if c.is_ascii_digit() || c == '.' && self.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) {
            return self.number();
        }
        if is_start(c) {
            return Kind::Word(self.word());
        }
        match c {
            '@' => {
                self.at += 1;
                let mut name = self.word();
                while self.rest().starts_with('.') {
                    self.at += 1;
                    name = self.word();
                }
                return Kind::Macro(format!("@{name}"));
            }
            '"' => return self.text(),
            // A character.
            '\'' if !operand || space => {
                let rest = self.rest();
                let end = rest[1..].char_indices().find(|(n, c)| *c == '\'' && !rest[1..1 + n].ends_with('\\'));
                let Some((end, _)) = end.filter(|(n, _)| *n > 0 && *n < 12) else { return self.unknown() };
                self.at += end + 2;
                return Kind::Unknown("a character".to_string());
            }
            ':' if (!operand || space) && self.rest()[1..].starts_with(is_start) => {
                self.at += 1;
                return Kind::Symbol(self.word());
            }
            _ => {}
        }
        match SIGNS.iter().find(|sign| self.rest().starts_with(**sign)) {
            Some(sign) => {
                self.at += sign.len();
                Kind::Sign(sign)
            }
            None => self.unknown(),
        }
    }

    fn unknown(&mut self) -> Kind {
        let c = self.peek().unwrap_or(' ');
        self.at += c.len_utf8();
        Kind::Unknown(format!("`{c}`"))
    }

    /// A name. `!` is its last character only where no `=` follows: `x!=y` compares.
    fn word(&mut self) -> String {
        let mut word = self.take(is_part);
        if let Some(n) = word.find('!') {
            let bangs = word[n..].chars().take_while(|c| *c == '!').count();
            self.at -= word.len() - n - bangs;
            word.truncate(n + bangs);
            if self.rest().starts_with('=') && !self.rest().starts_with("==") && bangs == 1 {
                self.at -= 1;
                word.pop();
            }
        }
        word
    }

    fn number(&mut self) -> Kind {
        let start = self.at;
        if ["0x", "0b", "0o"].iter().any(|p| self.rest().starts_with(p)) {
            self.at += 2;
            let digits = self.take(|c| c.is_ascii_alphanumeric() || c == '_').replace('_', "");
            let radix = match &self.text[start..start + 2] {
                "0x" => 16,
                "0b" => 2,
                _ => 8,
            };
            return i64::from_str_radix(&digits, radix).map_or(Kind::Unknown("a large number".into()), Kind::Int);
        }
        let digits = |l: &mut Self| l.take(|c| c.is_ascii_digit() || c == '_');
        digits(self);
        let mut float = false;
        let rest = self.rest();
        // `1.` is a number, `1.+x`, `1:3` and `x.1.y` are not.
        let after = rest.get(1..).and_then(|r| r.chars().next());
        if rest.starts_with('.') && !after.is_some_and(|c| is_start(c) || "+-*/^.=<>'".contains(c)) {
            self.at += 1;
            digits(self);
            float = true;
        }
        let mut single = false;
        if self.rest().starts_with(['e', 'E', 'f']) {
            let sign = usize::from(self.rest()[1..].starts_with(['+', '-']));
            if self.rest()[1 + sign..].starts_with(|c: char| c.is_ascii_digit()) {
                single = self.rest().starts_with('f');
                self.at += 1 + sign;
                digits(self);
                float = true;
            }
        }
        let text = self.text[start..self.at].replace('_', "").replace('f', "e");
        if float {
            let x: Option<f64> = text.parse().ok();
            let x = if single { x.map(|x| f64::from(x as f32)) } else { x };
            return x.map_or(Kind::Unknown("a number".into()), Kind::Float);
        }
        text.parse().map_or(Kind::Unknown("a large number".into()), Kind::Int)
    }

    fn text(&mut self) -> Kind {
        let long = self.rest().starts_with("\"\"\"");
        let quote = if long { "\"\"\"" } else { "\"" };
        self.at += quote.len();
        let mut out = String::new();
        while let Some(c) = self.peek() {
            if self.rest().starts_with(quote) {
                self.at += quote.len();
                return if out.contains(['\\', '$']) {
                    Kind::Unknown("a text with escapes".into())
                } else {
                    Kind::Text(out)
                };
            }
            self.at += c.len_utf8();
            out.push(c);
            if c == '\\' {
                self.at += self.peek().map_or(0, char::len_utf8);
            }
        }
        Kind::Unknown("a text without an end".to_string())
    }
}
