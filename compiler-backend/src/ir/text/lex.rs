//! The words of a text.

use super::TextError;

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name or a word of the grammar.
    Word(String),
    /// Something in quotes.
    Text(String),
    /// A number, with its sign.
    Number(String),
    /// Punctuation.
    Sign(&'static str),
    /// The end.
    End,
}

/// A word and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) line: u32,
    pub(super) column: u32,
}

/// Longer ones first.
const SIGNS: &[&str] = &[
    "^~=", "->", "+=", "-=", "^=", "*=", "/=", "{", "}", "(", ")", "[", "]", ",", ":", "=", "+", "-", "~", "%", "@",
    "!",
];

struct Lexer<'a> {
    rest: &'a str,
    line: u32,
    column: u32,
}

/// The words of a text, the last of which is its end.
pub(super) fn words(text: &str) -> Result<Vec<Placed>, TextError> {
    let mut lexer = Lexer { rest: text, line: 1, column: 1 };
    let mut out = Vec::new();
    loop {
        lexer.skip();
        let (line, column) = (lexer.line, lexer.column);
        let token = lexer.token()?;
        let ended = token == Token::End;
        out.push(Placed { token, line, column });
        if ended {
            return Ok(out);
        }
    }
}

impl Lexer<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        if c == '\n' {
            self.line = self.line.saturating_add(1);
            self.column = 1;
        } else {
            self.column = self.column.saturating_add(1);
        }
        Some(c)
    }

    fn error(&self, message: &str) -> TextError {
        TextError { line: self.line, column: self.column, message: message.to_owned(), exceeded: None }
    }

    fn skip(&mut self) {
        while let Some(c) = self.peek() {
            if c == ';' {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.next();
                }
            } else if c.is_whitespace() {
                self.next();
            } else {
                return;
            }
        }
    }

    fn token(&mut self) -> Result<Token, TextError> {
        let Some(c) = self.peek() else { return Ok(Token::End) };
        let second = self.rest.chars().nth(1);
        if c == '"' {
            self.next();
            return self.quoted();
        }
        if c.is_ascii_digit() || (c == '-' && second.is_some_and(|c| c.is_ascii_digit())) {
            return Ok(Token::Number(self.number()));
        }
        if c.is_alphabetic() || c == '_' {
            let mut word = String::new();
            while let Some(c) = self.peek().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '.')) {
                word.push(c);
                self.next();
            }
            return Ok(Token::Word(word));
        }
        for sign in SIGNS {
            if self.rest.starts_with(sign) {
                for _ in 0..sign.len() {
                    self.next();
                }
                return Ok(Token::Sign(sign));
            }
        }
        Err(self.error("a character that begins no word"))
    }

    fn number(&mut self) -> String {
        let mut text = String::new();
        while let Some(c) = self.peek() {
            let raw = text.starts_with("0x");
            let exponent = matches!(c, '+' | '-') && text.ends_with(['e', 'E']) && !raw;
            let first = c == '-' && text.is_empty();
            if !(c.is_ascii_alphanumeric() || c == '.' || exponent || first) {
                break;
            }
            text.push(c);
            self.next();
        }
        text
    }

    fn quoted(&mut self) -> Result<Token, TextError> {
        let mut text = String::new();
        loop {
            match self.next() {
                None => return Err(self.error("a text that does not end")),
                Some('"') => return Ok(Token::Text(text)),
                Some('\\') => text.push(self.escape()?),
                Some(c) => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, TextError> {
        Ok(match self.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('0') => '\0',
            Some('"') => '"',
            Some('\\') => '\\',
            Some('u') => {
                let end = self.rest.find('}').filter(|_| self.rest.starts_with('{'));
                let digits = end.map(|end| &self.rest[1..end]).unwrap_or("");
                let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                let c = code.ok_or_else(|| self.error("no such character"))?;
                for _ in 0..digits.len() + 2 {
                    self.next();
                }
                c
            }
            _ => return Err(self.error("no such escape")),
        })
    }
}
