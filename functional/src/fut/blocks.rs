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

/// The rest of a line, and what stands below it.
fn line(text: &str) -> (&str, &str) {
    text.split_at(text.find('\n').unwrap_or(text.len()))
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
        let (text, rest) = line(rest);
        return (Expected::Error(text.trim().to_string()), rest);
    }
    (Expected::Runs, text)
}

/// What a block holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// A case to run.
    Case(Case),
    /// The program is to be refused, with an error.
    Refused(Range<usize>),
    /// Something that is no test: where, and why.
    Unread(Range<usize>, String),
}

/// The tests of a file, and what stands in their place.
pub fn tests(text: &str) -> Vec<Test> {
    blocks(text).iter().flat_map(tests_of).collect()
}

fn tests_of(block: &Lines) -> Vec<Test> {
    let mut found = Vec::new();
    let mut entries = vec!["main".to_string()];
    let mut rest = block.text.as_str();
    let mut random = false;
    // The first of the words before `input`, which choose compilers or machines.
    let mut words: Option<(usize, &str)> = None;
    while !rest.trim_start().is_empty() {
        let start = block.text.len() - rest.trim_start().len();
        let (first, after) = word(rest);
        let span = |after: &str| {
            let end = (block.text.len() - after.len()).saturating_sub(1);
            block.place(start)..block.place(end).max(block.place(start))
        };
        let unread = |why: String| Test::Unread(span(after), why);
        if let (Some((at, word)), "entry:" | "tags" | "structure" | "error:" | "") = (words, first) {
            found.push(Test::Unread(block.place(at)..block.place(at), no_test(word)));
            return found;
        }
        match first {
            "" => {
                found.push(unread("`{` without `input` or `output` before it".to_string()));
                return found;
            }
            "entry:" => {
                let (names, below) = line(after);
                entries = names.split_whitespace().map(str::to_string).collect();
                rest = below;
            }
            "error:" => {
                rest = line(after).1;
                found.push(Test::Refused(span(rest)));
            }
            "warning:" => rest = line(after).1,
            "random" => {
                random = true;
                rest = after;
            }
            "input" => {
                words = None;
                let Some((given, after)) = input(after) else {
                    found.push(unread(
                        "`input` without values in `{ … }`, or with a brace that is not closed".to_string(),
                    ));
                    return found;
                };
                let given = match given {
                    Input::Values(types) if random => Input::Random(types),
                    other => other,
                };
                random = false;
                let (expected, after) = output(after);
                let span = span(after);
                found.extend(entries.iter().map(|entry| {
                    let (entry, input, expected) = (entry.clone(), given.clone(), expected.clone());
                    Test::Case(Case { entry, input, expected, span: span.clone() })
                }));
                rest = after;
            }
            "tags" | "structure" => rest = braces(after).map_or(after, |(_, after)| after),
            word => {
                words = words.or(Some((start, word)));
                rest = after;
            }
        }
    }
    if let Some((at, word)) = words {
        found.push(Test::Unread(block.place(at)..block.place(at), no_test(word)));
    }
    found
}

fn no_test(word: &str) -> String {
    let word: String = word.chars().take(40).collect();
    format!("`{word}` begins no test: expected `input {{ … }} output {{ … }}`, `entry:`, `error:` or `tags {{ … }}`")
}
