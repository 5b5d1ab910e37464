//! `pendula isa`.

use std::fmt::Write as _;

use pendula::asm::definitions;
use pendula::isa::inst::Kind;
use pendula::isa::manual::Entry;
use pendula::isa::{Format, manual, mnemonic};
use pendula::report::{Reporter, print};
use serde_json::{Value, json};

use crate::cli::args::Isa;
use crate::cli::report::answer::{answer, fields, finished};
use crate::cli::report::columns::{folded, left, length};
use crate::cli::status::Status;

/// The maximum number of search results listed.
const LISTED: usize = 40;

/// The maximum width of an instruction's description in a line.
const MEANING: usize = 50;

pub(crate) fn run(args: &Isa, reporter: &Reporter) -> anyhow::Result<Status> {
    let name = args.mnemonic.join(" ");
    let known = args.isa.read(Format::default(), reporter)?;
    let find = |name: &str| known.find(name).map(|kind| (kind, manual::entry(kind)));
    match Some(name.as_str()).filter(|name| !name.is_empty()) {
        // A name may also be a complete instruction; its mnemonic is looked up then.
        Some(name) => match find(name).or_else(|| find(name.split_once(' ')?.0)) {
            Some((Kind::Extension { extension, .. }, entry)) => {
                let definition = definitions::text(&extension.info().definition, Format::default());
                if args.json {
                    let mut rest = fields(manual::json_of(&entry));
                    rest.insert("definition".into(), json!(definition));
                    answer(reporter, true, finished(), rest)?;
                } else {
                    print(&(folded(&manual::text_of(&entry), 2) + "\n" + &definition))?;
                }
            }
            Some((_, entry)) if args.json => answer(reporter, true, finished(), fields(manual::json_of(&entry)))?,
            Some((_, entry)) => print(&folded(&manual::text_of(&entry), 2))?,
            None => {
                let found = manual::search(name);
                if found.is_empty() {
                    let near = mnemonic::suggest(&name.to_ascii_lowercase());
                    let hint = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
                    anyhow::bail!("there is no instruction `{name}`, nor is it in any documentation{hint}");
                }
                if args.json {
                    let list: Vec<Value> = found.iter().map(manual::json_of).collect();
                    let rest = fields(json!({ "search": name, "instructions": list }));
                    answer(&reporter.clone().of("isa.search", true), true, finished(), rest)?;
                } else {
                    print(&list(name, &found))?;
                }
            }
        },
        None if !known.definitions.is_empty() && !args.json => {
            let texts = known.definitions.iter().map(|d| definitions::text(d, Format::default()));
            print(&texts.collect::<Vec<_>>().join("\n"))?;
        }
        None if args.json => answer(reporter, true, finished(), fields(manual::json()))?,
        None if args.markdown => print(&manual::markdown())?,
        None => print(&folded(&manual::summary(), 11))?,
    }
    Ok(Status::Done)
}

/// The search results, a line each.
fn list(name: &str, found: &[Entry]) -> String {
    let n = found.len();
    let these = if n == 1 { "This one has" } else { "These have" };
    let mut out = format!("There is no instruction `{name}`.\n{these} it in the name, else in the documentation:\n\n");
    let head = |e: &Entry| format!("{} {}", e.mnemonic, e.operands);
    let shown = &found[..n.min(LISTED)];
    let width = shown.iter().map(|e| length(&head(e))).max().unwrap_or(0);
    for e in shown {
        let meaning = if e.formula.is_empty() { &e.docs } else { &e.formula };
        let meaning = meaning.split_once(". ").map_or(meaning.as_str(), |(first, _)| first);
        let short: String = meaning.chars().take(MEANING).collect();
        let more = if length(meaning) > MEANING { "…" } else { "" };
        let _ = writeln!(out, "  {}  {short}{more}", left(&head(e), width));
    }
    if n > LISTED {
        let _ = writeln!(out, "  … {} more; say more of what is looked for", n - LISTED);
    }
    out.push_str("\n`pendula isa MNEMONIC` says more of one.\n");
    out
}
