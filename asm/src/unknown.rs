//! Help for a first word of a statement that has no meaning here.

use pendula_isa::{Acc, Kind, mnemonic};

use crate::ast::{Op, Span};
use crate::codes;
use crate::foreign::{self, Intent};
use crate::head::{DIRECTIVES, Head};
use crate::intern::Sym;
use crate::parser::{Parser, head_of, near};
use crate::token::Tok;

impl Parser<'_> {
    /// Reports a first word that has no meaning.
    pub(crate) fn unknown(&mut self, head: Head, name: Sym, span: Span) {
        let word = self.s.names.text(name).to_string();
        let lower = word.to_ascii_lowercase();
        let (code, message, help) = if head == Head::UnknownDirective {
            (codes::DIRECTIVE, format!("there is no directive `{word}`"), directive(&lower))
        } else {
            (codes::MNEMONIC, format!("there is no instruction `{word}`"), self.guess_instruction(name, &word, &lower))
        };
        self.s.fail(code, message, span, self.via, help);
        self.s.ast.push(Op::Bad, span, self.via, usize::MAX);
    }

    /// What an unknown instruction may be intended to be.
    fn guess_instruction(&mut self, name: Sym, word: &str, lower: &str) -> String {
        if self.s.names.register(name).is_some() {
            let help = "an instruction stands first: `add r1, 5` adds, `sub` subtracts, `swap` and `exch` exchange; nothing is \
                        overwritten";
            return help.to_string();
        }
        if self.tok() == Tok::Equals {
            return "a constant is defined by `.equ NAME, value`".to_string();
        }
        let directive = format!(".{lower}");
        if DIRECTIVES.iter().any(|(name, _)| *name == directive) {
            return format!("a directive begins with a point: `{directive}`");
        }
        let colon = format!("a label ends with a colon: `{word}:`");
        if self.is_followed() {
            return colon;
        }
        if let Some(help) = foreign::function(lower) {
            return help;
        }
        let stem = lower.split('.').next().unwrap_or(lower);
        let accumulates = other_accumulators(lower);
        if let Some(own) = self.s.near_extension(lower) {
            return format!("did you mean `{own}`?");
        }
        let near = mnemonic::suggest(lower);
        let is_label =
            self.tok() == Tok::End && near.and_then(mnemonic::lookup).is_none_or(|kind| kind.operand_kind(0).is_some());
        match (foreign::intent(stem), near) {
            (Some(intent @ Intent::Statement), _) if is_label => format!("{colon}; {}", intent.native()),
            (Some(Intent::Copy), _) => self.copied().native(),
            (Some(intent), _) => intent.native(),
            _ if !accumulates.is_empty() => {
                format!("there are {}; the others would lose bits or be meaningless", accumulates.join(", "))
            }
            (None, Some(near)) if is_label => format!("{colon}; or did you mean `{near}`?"),
            (None, None) if is_label => colon,
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => {
                "`pendula isa` lists the instructions; a label ends with a colon, and a macro is defined before its use"
                    .to_string()
            }
        }
    }

    /// The purpose of a `mov`, by its operands.
    fn copied(&self) -> Intent {
        let operands = self.tokens.get(self.position()..).unwrap_or(&[]);
        let memory = operands.iter().any(|t| t.tok == Tok::Open);
        let constant = operands.iter().any(|t| matches!(t.tok, Tok::Int(_) | Tok::Real(..) | Tok::Raw(_)));
        match (memory, constant) {
            (true, _) => Intent::Load,
            (false, true) => Intent::Constant,
            (false, false) => Intent::Copy,
        }
    }

    /// Whether an instruction, a directive, or data in the notation of others follows. Then the word before it is a
    /// label.
    fn is_followed(&mut self) -> bool {
        let Tok::Name(next) = self.tok() else { return false };
        let known = matches!(head_of(self.s, next), Head::Inst(_) | Head::Directive(_));
        known || foreign::intent(&self.s.names.text(next).to_ascii_lowercase()) == Some(Intent::Data)
    }
}

/// What an unknown directive may be intended to be.
fn directive(lower: &str) -> String {
    let near = || {
        let names = DIRECTIVES.iter().map(|(n, _)| *n).filter(|n| near(n, lower));
        names.min_by_key(|n| n.len().abs_diff(lower.len()))
    };
    match foreign::directive(lower) {
        Some(help) => help.to_string(),
        None => match near() {
            Some(near) => format!("did you mean `{near}`?"),
            None => "the directives are listed in the book, under \"Writing programs\"".to_string(),
        },
    }
}

/// The accumulate instructions that differ from a word only in the accumulator, in backquotes.
fn other_accumulators(word: &str) -> Vec<String> {
    let names = Acc::ALL.iter().flat_map(|acc| [acc.name(false), acc.name(true)]);
    let known = |rest: &str| {
        let is_accumulate = |w: &String| matches!(mnemonic::lookup(w), Some(Kind::Accumulate { .. }));
        let mut out: Vec<String> = names.clone().map(|name| format!("{name}{rest}")).filter(is_accumulate).collect();
        out.dedup();
        out.iter().map(|w| format!("`{w}`")).collect()
    };
    let rest = names.clone().find_map(|name| word.strip_prefix(name));
    rest.map_or_else(Vec::new, known)
}
