//! `pendula explain`: shows an error's entry in the book. That page of the book is generated from the lists in the
//! sources; a test keeps it current.

use std::fmt::Write as _;

use pendula::report::{Reporter, print};
use serde_json::{Value, json};

use crate::cli::args::Explain;
use crate::cli::report::answer::{answer, fields, finished};
use crate::cli::report::columns::wrapped;
use crate::cli::status::Status;

/// The page of errors in the book.
const PAGE: &str = include_str!("../../../docs/src/errors.md");

/// The number of similar codes that are suggested for an unknown one.
const NEAR: usize = 3;

/// An error's entry.
#[derive(Debug, Default, PartialEq, Eq)]
struct Entry<'a> {
    code: &'a str,
    chapter: &'a str,
    title: &'a str,
    /// Lines of source with the error.
    example: Vec<&'a str>,
    /// The explanation of the example, or of the error.
    text: Vec<&'a str>,
    help: Option<&'a str>,
}

pub(crate) fn run(args: &Explain, reporter: &Reporter) -> anyhow::Result<Status> {
    let entries = entries(PAGE);
    let Some(wanted) = &args.code else {
        if args.json {
            let list: Vec<Value> = entries.iter().map(Entry::short_json).collect();
            answer(reporter, true, finished(), fields(json!({ "errors": list })))?;
        } else {
            print(&list(&entries))?;
        }
        return Ok(Status::Done);
    };
    let code = written(wanted);
    let Some(entry) = entries.iter().find(|e| Some(e.code) == code.as_deref()) else {
        let near: Vec<String> =
            near(&entries, code.as_deref()).map(|e| format!("\n  {}  {}", e.code, e.title)).collect();
        let near = if near.is_empty() {
            "; codes are written `P0107`".into()
        } else {
            format!("; near it are{}", near.concat())
        };
        anyhow::bail!("there is no error `{wanted}`{near}");
    };
    if args.json {
        answer(reporter, true, finished(), fields(entry.json()))?;
    } else {
        print(&entry.text())?;
    }
    Ok(Status::Done)
}

/// The canonical form of a code: `p107`, `107` and `error[P0107]` mean `P0107`.
fn written(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches(']');
    let text = text.rsplit_once('[').map_or(text, |(_, code)| code);
    let digits = text.strip_prefix(['P', 'p']).unwrap_or(text);
    let number = digits.parse::<u16>().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()))?;
    Some(format!("P{number:04}"))
}

/// The entries with the nearest numbers, in their order.
fn near<'e, 'a>(entries: &'e [Entry<'a>], code: Option<&str>) -> impl Iterator<Item = &'e Entry<'a>> {
    let number = |code: &str| code.get(1..).and_then(|digits| digits.parse::<u16>().ok());
    let wanted = code.and_then(number);
    let mut all: Vec<&Entry<'a>> = entries.iter().filter(|_| wanted.is_some()).collect();
    all.sort_by_key(|e| number(e.code).unwrap_or_default().abs_diff(wanted.unwrap_or_default()));
    all.truncate(NEAR);
    all.sort_by_key(|e| e.code);
    all.into_iter()
}

/// Parses the entries of the page.
fn entries(page: &str) -> Vec<Entry<'_>> {
    let mut out: Vec<Entry<'_>> = Vec::new();
    let mut chapter = "";
    let mut within = false;
    let mut fenced = false;
    for line in page.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if !fenced && let Some(title) = line.strip_prefix("## ") {
            (chapter, within) = (title, false);
            continue;
        }
        if !fenced && let Some(code) = line.strip_prefix("### ") {
            out.push(Entry { code, chapter, ..Entry::default() });
            within = true;
            continue;
        }
        let Some(entry) = out.last_mut().filter(|_| within) else { continue };
        if fenced {
            entry.example.push(line);
        } else if let Some(help) = line.strip_prefix("Help: ") {
            entry.help = Some(help.trim_end());
        } else if let Some(title) = line.strip_prefix("**").and_then(|l| l.strip_suffix("**")) {
            entry.title = title;
        } else if !line.trim().is_empty() {
            entry.text.push(line.trim_end());
        }
    }
    out
}

impl Entry<'_> {
    fn text(&self) -> String {
        let mut out = wrapped(&format!("{}: {}", self.code, self.title), "", "  ");
        if !self.example.is_empty() {
            out.push('\n');
        }
        for line in &self.example {
            let _ = writeln!(out, "    {}", line.trim_end());
        }
        if !self.text.is_empty() {
            out.push('\n');
        }
        for line in &self.text {
            out.push_str(&wrapped(line, "", ""));
        }
        if let Some(help) = self.help {
            out.push('\n');
            out.push_str(&wrapped(&format!("Help: {help}"), "", "  "));
        }
        out
    }

    fn short_json(&self) -> Value {
        json!({ "code": self.code, "title": self.title, "chapter": self.chapter })
    }

    fn json(&self) -> Value {
        let mut object = self.short_json();
        object["example"] = json!((!self.example.is_empty()).then(|| self.example.join("\n")));
        object["text"] = json!(self.text.join("\n"));
        object["help"] = json!(self.help);
        object
    }
}

/// All codes with their titles.
fn list(entries: &[Entry<'_>]) -> String {
    let mut out = String::new();
    let mut chapter = "";
    for entry in entries {
        if entry.chapter != chapter {
            let gap = if chapter.is_empty() { "" } else { "\n" };
            let _ = writeln!(out, "{gap}{}", entry.chapter);
            chapter = entry.chapter;
        }
        out.push_str(&wrapped(&format!("{}  {}", entry.code, entry.title), "  ", "         "));
    }
    out.push_str("\n`pendula explain CODE` says more of one.\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_the_page_has_its_parts() {
        let entries = entries(PAGE);
        let headings = PAGE.lines().filter(|l| l.starts_with("### P")).count();
        assert_eq!(entries.len(), headings);
        for entry in &entries {
            assert!(entry.code.len() == 5 && !entry.title.is_empty() && !entry.chapter.is_empty(), "{entry:?}");
            assert!(entry.help.is_some() || !entry.text.is_empty(), "{entry:?}");
        }
    }

    #[test]
    fn codes_are_read_as_people_write_them() {
        for text in ["P0107", "p0107", "107", "P107", " error[P0107] ", "[P0107]"] {
            assert_eq!(written(text).as_deref(), Some("P0107"), "{text}");
        }
        for text in ["", "P", "x107", "P0107x", "+7", "99999999"] {
            assert_eq!(written(text), None, "{text}");
        }
    }
}
