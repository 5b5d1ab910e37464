//! Help for expressions and calls that are written as in other languages.

use super::{Parsed, Parser};
use crate::janus::ast::{IntTy, Name};
use crate::janus::codes;
use crate::janus::lexer::Tok;

/// Words that are operators in other languages.
const WORDS: &[(&str, &str)] = &[
    ("not", "`!` goes before a condition: `!(x = 1)`; that a number is 0 is written `x = 0`"),
    ("and", "both conditions hold: `a && b`"),
    ("or", "one condition holds at least: `a || b`"),
    ("xor", "the bits that differ are `x ^ y`; that two numbers differ is `x != y`"),
    ("mod", "the remainder is `x % y`"),
    ("div", "the quotient is `x / y`"),
];

/// Two-character operators of other languages.
const SIGNS: &[(&str, &str, &str, &str)] = &[
    ("<", ">", "<>", "numbers that differ are compared with `!=`: `x != 0`"),
    ("=", "<", "=<", "compare with `<=`: `x <= 0`"),
    ("=", ">", "=>", "compare with `>=`: `x >= 0`"),
];

/// Functions of other languages, besides those that are operators here.
const FUNCTIONS: &[(&str, &str)] = &[
    ("length", "how many elements an array or a stack has is `size(a)`"),
    ("len", "how many elements an array or a stack has is `size(a)`"),
    ("sizeof", "how many elements an array or a stack has is `size(a)`"),
    ("count", "how many elements an array or a stack has is `size(a)`"),
    ("abs", "change a variable by one of two values: `if x < 0 then y -= x else y += x fi x < 0`"),
    ("peek", "the last number of a stack is `top(s)`"),
    ("is_empty", "whether a stack is empty is `empty(s)`"),
    ("isempty", "whether a stack is empty is `empty(s)`"),
];

impl Parser<'_> {
    /// The help text for a word of another language, unless a variable has this name.
    fn foreign_word(&mut self, classic: bool) -> Option<&'static str> {
        let word = if classic { self.lower() } else { self.word_of(self.token()).to_string() };
        let (word, help) = WORDS.iter().find(|(w, _)| *w == word)?;
        let own = self.own_words.take().unwrap_or_else(|| {
            let words = WORDS.iter().map(|(word, _)| *word);
            words.filter(|word| if classic { self.is_global(word) } else { self.is_declared(word) }).collect()
        });
        let is_own = own.contains(word);
        self.own_words = Some(own);
        (!is_own).then_some(help)
    }

    /// Whether any declaration has this name.
    fn is_declared(&self, name: &str) -> bool {
        let is_type = |word: &str| word == "stack" || IntTy::named(word).is_some();
        self.tokens.windows(2).any(|pair| self.word_of(&pair[1]) == name && is_type(self.word_of(&pair[0])))
    }

    /// Whether a variable of a classic program has this name.
    fn is_global(&self, name: &str) -> bool {
        let words = self.tokens.iter().map(|t| self.word_of(t).to_lowercase());
        words.take_while(|word| word != "procedure").any(|word| word == name)
    }

    /// Reports `not` at the beginning of an expression.
    pub(super) fn no_not(&mut self, classic: bool) -> Parsed<()> {
        if !self.word_of(self.token()).eq_ignore_ascii_case("not") {
            return Ok(());
        }
        self.no_word(classic)
    }

    /// Reports `==` or a word where an operator could follow.
    pub(super) fn no_operator(&mut self, classic: bool) -> Parsed<()> {
        if self.is_sign("==") {
            let span = self.token().span.clone();
            return self.fail(
                codes::SYNTAX,
                span,
                "`==` is not an operator of Janus".to_string(),
                "compare with `=`: `x = 0`",
            );
        }
        self.no_word(classic)
    }

    fn no_word(&mut self, classic: bool) -> Parsed<()> {
        let Some(help) = self.foreign_word(classic) else { return Ok(()) };
        let message = format!("{} is not an operator of Janus", self.found_here());
        let span = self.token().span.clone();
        self.fail(codes::SYNTAX, span, message, help)
    }

    /// Reports two operators side by side that are one operator of another language.
    pub(super) fn no_pair(&mut self) -> Parsed<()> {
        let (here, next) = (self.token(), self.ahead(1));
        let (Tok::Sign(first), Tok::Sign(second)) = (&here.tok, &next.tok) else { return Ok(()) };
        let span = here.span.start..next.span.end;
        let found = SIGNS.iter().find(|(a, b, ..)| a == first && b == second);
        match found.filter(|_| here.span.end == next.span.start) {
            Some((_, _, sign, help)) => {
                self.fail(codes::SYNTAX, span, format!("`{sign}` is not an operator of Janus"), help)
            }
            None => Ok(()),
        }
    }

    /// Reports a function call in an expression.
    pub(super) fn no_function(&mut self, classic: bool) -> Parsed<()> {
        if !matches!(self.ahead(1).tok, Tok::Sign("(")) {
            return Ok(());
        }
        let word = self.word_of(self.token());
        let span = self.token().span.clone();
        let own = WORDS.iter().chain(FUNCTIONS.iter().filter(|_| !classic)).find(|(w, _)| word.eq_ignore_ascii_case(w));
        let help = match own {
            Some((_, help)) => help,
            None if classic => {
                "an expression calls nothing: a procedure changes variables, and `call f` is a statement"
            }
            None => "an expression calls nothing: pass the variable that should change to a procedure, `call f(x, y)`",
        };
        self.fail(codes::SYNTAX, span, format!("`{word}(…)` is not an expression"), help)
    }

    /// The name of the procedure after `call` or `uncall`.
    pub(super) fn callee(&mut self, word: &str) -> Parsed<Name> {
        if self.token().tok != Tok::Word {
            let help = format!("the procedure stands behind `{word}`: `{word} f(x)`");
            return self.expected("the name of a procedure", &help);
        }
        self.name("the name of a procedure")
    }

    /// The help text for a branch without `fi`; the part after `else` begins at `after`.
    pub(super) fn else_if(&self, after: Option<usize>) -> Option<String> {
        let (word, next) = (self.tokens.get(after?.checked_sub(1)?)?, self.tokens.get(after?)?);
        let line = self.line(&word.span);
        let is = self.word_of(next).eq_ignore_ascii_case("if") && line == self.line(&next.span);
        is.then(|| {
            format!("`else if` in line {line} begins a branch of its own, which has its own `fi`: write one more, `fi e`, for the `if` that is open")
        })
    }
}
