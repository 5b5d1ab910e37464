//! What a command that has been begun may go on with.

use pendula::debug::Session;

use super::text;
use super::words::{self, Word};

/// What a word stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Variable,
    Procedure,
    Keyword,
}

/// The part of a line that is being written, and the words that begin with it.
pub(crate) fn complete<'t>(session: &Session<'_>, line: &'t str) -> (&'t str, Vec<(String, Kind)>) {
    let own = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '!' | '.'));
    let begun = line.rsplit(own).next().unwrap_or("");
    let keywords = |all: Vec<&str>| all.into_iter().map(|name| (name.to_string(), Kind::Keyword)).collect::<Vec<_>>();
    let commands = || keywords(words::ALL.iter().map(|entry| entry.names[0]).collect());
    let variables = || {
        let all = text::visible_variables(session).unwrap_or_default();
        all.into_iter().map(|(name, _)| (name, Kind::Variable)).collect::<Vec<_>>()
    };
    let procedures = || session.code().names().into_iter().map(|name| (name, Kind::Procedure)).collect::<Vec<_>>();
    let before = line.strip_suffix(begun).unwrap_or(line).trim_start();
    let word = before.split_whitespace().next().and_then(|name| words::find(name).ok()).map(|entry| entry.word);
    let all = match word {
        _ if before.is_empty() => [variables(), procedures(), commands()].concat(),
        Some(Word::Help) => commands(),
        Some(Word::Info) => keywords(super::interpreter::TOPICS.to_vec()),
        Some(Word::Goto) => session.bookmarks().keys().map(|name| (name.clone(), Kind::Variable)).collect(),
        Some(Word::Break | Word::Tbreak | Word::Advance | Word::AdvanceBack | Word::List | Word::Disassemble)
            if !before.contains(" if ") =>
        {
            procedures()
        }
        _ => [variables(), procedures()].concat(),
    };
    (begun, all.into_iter().filter(|(name, _)| name.starts_with(begun)).collect())
}

/// The longest beginning that all these words share.
pub(super) fn shared(words: &[(String, Kind)]) -> String {
    let Some((first, _)) = words.first() else { return String::new() };
    let mut shared = first.as_str();
    for (word, _) in words {
        while !word.starts_with(shared) {
            shared = shared.char_indices().last().map_or("", |(at, _)| &shared[..at]);
        }
    }
    shared.to_string()
}
