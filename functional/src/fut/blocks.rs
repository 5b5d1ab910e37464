//! Tests in comments: `-- ==`, then `-- entry: f g`, `-- input { … }`, `-- output { … }`.

use std::ops::Range;

/// What a case expects.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// These values, as text.
    Values(String),
    /// The values in a file.
    File(String),
    /// An error that has this text somewhere.
    Error(String),
    /// Nothing in particular: it runs.
    Runs,
}

/// Where the arguments come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// Values, as text.
    Values(String),
    /// The values in a file.
    File(String),
    /// Random values of these types.
    Random(String),
    /// The result of a script.
    Script(String),
}

/// One case: an entry point with arguments, and what it gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The entry point.
    pub entry: String,
    /// The arguments.
    pub input: Input,
    /// The result.
    pub expected: Expected,
    /// Where it stands.
    pub span: Range<usize>,
}

/// The lines of a block, without the marks of comments, and the offset of each.
struct Lines {
    text: String,
    /// For each line: its offset in `text` and in the file.
    starts: Vec<(usize, usize)>,
}

impl Lines {
    fn place(&self, at: usize) -> usize {
        let n = self.starts.partition_point(|(own, _)| *own <= at).saturating_sub(1);
        self.starts.get(n).map_or(0, |(own, file)| file + at.saturating_sub(*own))
    }
}

/// The blocks of a file. A block begins with `-- ==` and ends where the comment does or another begins.
fn blocks(text: &str) -> Vec<Lines> {
    let mut found: Vec<Lines> = Vec::new();
    let (mut inside, mut at) = (false, 0);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        match trimmed.strip_prefix("--") {
            Some(rest) if rest.trim() == "==" => {
                found.push(Lines { text: String::new(), starts: Vec::new() });
                inside = true;
            }
            Some(rest) if inside => {
                if let Some(block) = found.last_mut() {
                    let indent = line.len() - line.trim_start().len() + 2;
                    block.starts.push((block.text.len(), at + indent));
                    block.text.push_str(rest);
                    block.text.push('\n');
                }
            }
            _ => inside = false,
        }
        at += line.len();
    }
    found
}

/// The text between braces, which may be nested, and what follows.
fn braces(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start().strip_prefix('{')?;
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&text[..at], &text[at + 1..]));
        }
    }
    None
}

fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(|c: char| c.is_whitespace() || c == '{').unwrap_or(text.len());
    text.split_at(end)
}

/// The arguments behind `input`.
fn input(text: &str) -> Option<(Input, &str)> {
    let start = text.trim_start();
    if let Some((values, rest)) = braces(start) {
        return Some((Input::Values(values.to_string()), rest));
    }
    if let Some(rest) = start.strip_prefix('@') {
        let (name, rest) = word(rest);
        return Some((Input::File(name.to_string()), rest));
    }
    let (_, rest) = word(start);
    // `script input { f x }` and the like come with the word before.
    braces(rest).map(|(script, rest)| (Input::Script(script.to_string()), rest))
}

fn output(text: &str) -> (Expected, &str) {
    let start = text.trim_start();
    if let Some(rest) = start.strip_prefix("output") {
        if let Some((values, rest)) = braces(rest) {
            return (Expected::Values(values.to_string()), rest);
        }
        if let Some(name) = rest.trim_start().strip_prefix('@') {
            let (name, rest) = word(name);
            return (Expected::File(name.to_string()), rest);
        }
    }
    if let Some(rest) = start.strip_prefix("auto").map(str::trim_start).and_then(|r| r.strip_prefix("output")) {
        return (Expected::Runs, rest);
    }
    if let Some(rest) = start.strip_prefix("error:") {
        let end = rest.find('\n').unwrap_or(rest.len());
        return (Expected::Error(rest[..end].trim().to_string()), &rest[end..]);
    }
    (Expected::Runs, text)
}

/// The cases of a file.
pub fn cases(text: &str) -> Vec<Case> {
    let mut found = Vec::new();
    for block in blocks(text) {
        let mut entries = vec!["main".to_string()];
        let mut rest = block.text.as_str();
        let mut random = false;
        while !rest.trim_start().is_empty() {
            let start = block.text.len() - rest.trim_start().len();
            let (first, after) = word(rest);
            match first {
                "" => rest = after.strip_prefix('{').unwrap_or_else(|| after.get(1..).unwrap_or("")),
                "entry:" => {
                    let end = after.find('\n').unwrap_or(after.len());
                    entries = after[..end].split_whitespace().map(str::to_string).collect();
                    rest = &after[end..];
                }
                "random" => {
                    random = true;
                    rest = after;
                }
                "input" => {
                    let Some((given, after)) = input(after) else { break };
                    let given = match given {
                        Input::Values(types) if random => Input::Random(types),
                        other => other,
                    };
                    random = false;
                    let (expected, after) = output(after);
                    let end = block.text.len() - after.len();
                    let span = block.place(start)..block.place(end.saturating_sub(1)).max(block.place(start));
                    found.extend(entries.iter().map(|entry| Case {
                        entry: entry.clone(),
                        input: given.clone(),
                        expected: expected.clone(),
                        span: span.clone(),
                    }));
                    rest = after;
                }
                "tags" | "structure" | "script" => rest = braces(after).map_or(after, |(_, after)| after),
                // Words that choose compilers or machines.
                _ => rest = after,
            }
        }
    }
    found
}
