//! The book under `docs/src` and README.md say what is so: generated pages are up to date, every program assembles and
//! runs, every console session shows what the program really prints, and links lead somewhere.
//!
//! With `PENDULA_BLESS=1` in the environment, generated pages and the outputs in console sessions are written anew.
//!
//! A program is a block marked `rasm`. One that has `start` must run to its end, and back to the state it began in.
//! Comments at its beginning say otherwise:
//!
//! - `; docs: fragment`: instructions from the middle of a program, which are only assembled.
//! - `; docs: traps P0107`: the run stops with this trap.
//! - `; docs: error P0032`: does not assemble, for exactly these reasons.
//! - `; docs: drift`: floating-point words need not come back exactly.
//! - `; docs: input 1,2`: what stands on the input tape.
//! - `; docs: file NAME`: is not run, but can be included by the programs after it.
//!
//! A comment `; after the run: r1 = 5 and x = 7` anywhere in a program is checked.
//!
//! A session is a block marked `console`: commands after `$ `, each followed by what it prints, standard output first. `…` alone
//! on a line stands for any number of lines. Where the text has the reader save a block, by words that end in ``as `NAME`:``, the
//! test does so, too.

mod sessions;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::common::expectations::{Expectations, Language};

use pendula::asm::assemble::{Options, assemble};
use pendula::asm::check::Rule;
use pendula::asm::diagnostic::{Diagnostic, Severity};
use pendula::asm::{codes, invert, object, pisa};
use pendula::compiler::compile::{Options as NilOptions, compile, compile_janus};
use pendula::compiler::{janus, nil};
use pendula::isa::budget::{self, Exceeded, Resource};
use pendula::isa::counts::Direction;
use pendula::isa::verify::Problem;
use pendula::isa::{Fault, manual};
use pendula::values;
use pendula::vm::{Config, Machine, Outcome, Program};

/// Writes the expected instead of comparing.
fn blessing() -> bool {
    std::env::var_os("PENDULA_BLESS").is_some_and(|v| v == "1")
}

const HOW: &str = "PENDULA_BLESS=1 cargo test --test suite docs::";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// README.md and the pages of the book, in the order of the names.
fn documents() -> Vec<String> {
    let mut out = vec!["README.md".to_string()];
    let pages = fs::read_dir(root().join("docs/src")).expect("docs/src");
    let mut names: Vec<String> =
        pages.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.retain(|n| n.ends_with(".md"));
    names.sort();
    out.extend(names.into_iter().map(|n| format!("docs/src/{n}")));
    out
}

// Files in full.

#[test]
fn files_that_pages_show_are_as_they_stand() {
    for document in documents() {
        let text = read(&document);
        for part in text.split("<!-- file: ").skip(1) {
            let (path, rest) = part.split_once(" -->\n```rust\n").expect("a path and a block of Rust");
            let shown = rest.split_once("\n```").map_or(rest, |(shown, _)| shown);
            assert_eq!(shown.trim_end(), read(path).trim_end(), "{document} shows {path}");
        }
    }
}

// Generated pages.

#[test]
fn the_manual_is_up_to_date() {
    for (path, text) in [("docs/src/instructions.md", manual::markdown()), ("docs/src/errors.md", errors())] {
        let there = fs::read_to_string(root().join(path)).unwrap_or_default();
        if there == text {
            continue;
        }
        if blessing() {
            fs::write(root().join(path), text).expect("a page to write");
            continue;
        }
        let line = there.lines().zip(text.lines()).take_while(|(a, b)| a == b).count() + 1;
        panic!("{path} is out of date from line {line} on; to write it anew, run\n\n    {HOW}\n");
    }
}

/// What the command line and the machine's setting up say, apart from the lists below: code, title, help.
const RUNNING: &[(&str, &str, &str)] = &[
    (
        "P0109",
        "conditions disagree: those before and after the branches or turns of a program in Nil or Janus (a trap)",
        "give the condition that holds afterwards just where the first one held before",
    ),
    (
        "P0130",
        "the run did not end within the given number of instructions",
        "raise the limit with `--max-steps`, or look where it is with `pendula run --trace`",
    ),
    (
        "P0131",
        "a fixed-point number overflowed and wrapped, or an `int` of Janus did (a warning); a gradient word did, so that derivatives are wrong (an error)",
        "scale the values, or derivatives by `--seed`, or choose a format with more integer bits: `.format` in assembly, `--format` elsewhere; `--trap overflow` stops here. Integers that are to wrap are declared `i64` or `u64` in Janus, or all of them have 32 bits with `--int 32`; an `Int` of Nil wraps without notice",
    ),
    (
        "P0132",
        "`zero.f` cleared rests of rounding (no warning; in one line with `--drift` or `-v`)",
        "nothing is to be done: a rest within the bound is let go, a run back does not restore it, and 64 bits are counted as lost each time. What lies beyond the bound is P0103",
    ),
    ("P0140", "a routine span lies outside the code", "assemble the source again"),
    ("P0141", "the module has no `start`: it is a library", "write `start` and `finish` around what shall run"),
    ("P0142", "the module has more than 2^30 instructions", "use loops and procedures"),
    (
        "P0143",
        "a program that erases cannot run backward: in assembly it says `.irreversible`, in Nil and Janus it was compiled with `--uncompute never` or `auto`",
        "run it forward, or uncompute instead of erasing: in Nil and Janus with `--uncompute always`, as without this option",
    ),
    (
        "P0144",
        "a program that uses gradients itself cannot be differentiated by `pendula grad`",
        "run it with `pendula run`: it makes its own gradients",
    ),
    (
        "P0145",
        "a run back from the last of several `FINISH` (a warning)",
        "if the run forward ends at another one, let a branch lead from there to the last",
    ),
    (
        "P0146",
        "a run that Ctrl-C ended",
        "what the run had come to is told, as at a trap; a second Ctrl-C ends the command at once",
    ),
    (
        "P0147",
        "a technology says nothing of memory, which the program uses (a warning)",
        "add a table `[memory]` to its file, or give the program less memory with `--mem`",
    ),
];

/// Help for errors of the assembler whose example is too long for the page, or names a folder.
const LONG: &[(&str, &str)] = &[
    ("P0028", "move the file into the folder, or allow includes from outside with `--include-outside`"),
    ("P0045", "mend those that are shown, and assemble again"),
    ("P0202", "look whether the name is the one that the program means"),
];

/// Help for codes of Nil that have no example among the test programs, or say nothing for themselves.
const NIL: &[(&str, &str)] = &[
    ("P0454", "divide it into smaller functions, or keep less in memory"),
    ("P0461", "nothing is to be done: the host's own code has no meaning here"),
];

/// The page of error codes.
fn errors() -> String {
    let mut out = String::from(
        "# Errors\n\n<!-- Generated by the test `the_manual_is_up_to_date` from the lists in the sources. Do not edit. -->\n\n\
         Every message has a code. Codes stay the same when messages are worded anew.\n\n",
    );
    let chapters = [
        ("the-assembler", "The assembler", "P0001–P0082, P0201, P0202"),
        ("budgets", "Budgets", "P0090–P0093"),
        ("the-machine", "The machine", "P0101–P0136"),
        ("running", "Running", "P0109, P0130–P0147"),
        ("the-checker", "The checker", "P0210–P0235"),
        ("objects", "Objects", "P0301–P0315"),
        ("the-inverter", "The inverter", "P0320–P0325"),
        ("programs-in-pisa", "Programs in PISA", "P0330–P0350"),
        ("programs-in-nil", "Programs in Nil", "P0401–P0462"),
        ("programs-in-janus", "Programs in Janus", "P0501–P0530"),
    ];
    for (anchor, title, range) in chapters {
        let _ = writeln!(out, "- [{title}](#{anchor}): {range}");
    }

    out.push_str(
        "\n## The assembler\n\nProblems in source text. A program with any of them does not assemble, except that P0201 and P0202 are warnings. \
         Below the title stand an example's line, the message for it, and its help.\n",
    );
    let samples = samples();
    for (code, title) in codes::codes() {
        entry(&mut out, code, title);
        if let Some(sample) = samples.get(code) {
            sample_entry(&mut out, sample);
        } else {
            let problem = Problem::ALL.iter().find(|p| p.code() == code).map(|p| p.help());
            let long = LONG.iter().find(|(c, _)| *c == code).map(|(_, help)| *help);
            let help = problem.or(long).unwrap_or_else(|| panic!("{code} has neither an example nor help"));
            let _ = write!(out, "\nHelp: {help}\n");
        }
    }

    out.push_str(
        "\n## Budgets\n\nWhat is read may take so much and no more. One budget holds for every front end and reader: how deep things are nested, of how many \
         parts they are made, how large they are, and in how many steps what is constant is computed. Each message says what reached which limit, \
         and which option raises it, if one does. Nothing is measured by the clock, so that what is refused here is refused everywhere. \
         These codes have taken the place of P0026, P0043, P0044, P0305, P0341, P0407 and P0505, which are not given any more.\n",
    );
    for (code, title) in budget::codes() {
        let resource =
            [Resource::Depth, Resource::Nodes, Resource::Bytes, Resource::Steps].into_iter().find(|r| r.code() == code);
        let resource = resource.unwrap_or_else(|| panic!("{code} is of no resource"));
        let exceeded = Exceeded::new(resource, 0, "");
        full_entry(&mut out, code, title, &exceeded.help());
    }

    out.push_str(
        "\n## The machine\n\nTraps. The instruction has not run: the state is that of before it, and the message shows its operands.\n",
    );
    for fault in Fault::ALL {
        full_entry(&mut out, fault.code(), fault.title(), fault.help());
    }
    out.push_str("\n## Running\n\nOther ends of a run, and what is noted during it.\n");
    for (code, title, help) in RUNNING {
        full_entry(&mut out, code, title, help);
    }
    out.push_str(
        "\n## The checker\n\nWhat `pendula check` finds in a program that assembles. Warnings are of what cannot work or is of no use, notes of \
         what may be meant.\n",
    );
    for rule in Rule::ALL {
        full_entry(&mut out, rule.code(), &format!("{} ({})", rule.title(), rule.severity().name()), rule.help());
    }
    out.push_str("\n## Objects\n\nWhy a file is no object, or a module cannot become one.\n");
    for (code, title, help) in object::CODES {
        full_entry(&mut out, code, title, help);
    }
    out.push_str("\n## The inverter\n\nWhy `pendula invert` refuses a program.\n");
    for (code, title, help) in invert::CODES {
        full_entry(&mut out, code, title, help);
    }
    out.push_str(
        "\n## Programs in PISA\n\nWhy a `.pisa` file cannot be read, and from P0345 on, why `pendula import` does not translate it. Below the title stand an example's line, the message for it, and its help.\n",
    );
    let samples = pisa_samples();
    for (code, title) in pisa::codes().chain(pisa::import::codes()) {
        entry(&mut out, code, title);
        match samples.get(code) {
            Some(sample) => sample_entry(&mut out, sample),
            None => drop(write!(out, "\nHelp: divide the program\n")),
        }
    }
    out.push_str(
        "\n## Programs in Nil\n\nProblems in programs that are compiled. P0460 is a warning, P0461 and P0462 are notes. Below the title stand \
         an example's line, the message for it, and its help.\n",
    );
    let samples = nil_samples();
    for (code, title) in nil::codes::codes() {
        entry(&mut out, code, title);
        let help = NIL.iter().find(|(c, _)| *c == code).map(|(_, help)| *help);
        match (samples.get(code), help) {
            (Some(sample), _) => sample_entry(&mut out, sample),
            (None, Some(help)) => drop(write!(out, "\nHelp: {help}\n")),
            (None, None) => panic!("{code} has neither an example nor help"),
        }
    }
    out.push_str(
        "\n## Programs in Janus\n\nProblems in programs that are compiled. P0530 is a warning. Below the title stand an example's line, the message \
         for it, and its help.\n",
    );
    let samples = janus_samples();
    for (code, title) in janus::codes::codes() {
        entry(&mut out, code, title);
        let help = JANUS.iter().find(|(c, _)| *c == code).map(|(_, help)| *help);
        match (samples.get(code), help) {
            (Some(sample), _) => sample_entry(&mut out, sample),
            (None, Some(help)) => drop(write!(out, "\nHelp: {help}\n")),
            (None, None) => panic!("{code} has neither an example nor help"),
        }
    }
    out
}

/// Codes of Janus that no example shows.
const JANUS: &[(&str, &str)] =
    &[("P0522", "take a part of it into a procedure, or call procedures with arrays of fewer sizes")];

fn entry(out: &mut String, code: &str, title: &str) {
    let mut letters = title.chars();
    let title: String =
        letters.next().map(|c| c.to_uppercase().collect::<String>() + letters.as_str()).unwrap_or_default();
    let _ = write!(out, "\n### {code}\n\n**{title}**\n");
}

fn full_entry(out: &mut String, code: &str, title: &str, help: &str) {
    entry(out, code, title);
    let _ = write!(out, "\nHelp: {help}\n");
}

fn sample_entry(out: &mut String, sample: &Sample) {
    // What is wrong with a program as a whole has no line.
    if sample.line.is_empty() {
        let _ = write!(out, "\n{}  \nHelp: {}\n", sample.message, sample.help);
        return;
    }
    let _ = write!(out, "\n```text\n{}\n```\n\n{}  \nHelp: {}\n", sample.line, sample.message, sample.help);
}

/// An example of an error.
struct Sample {
    line: String,
    message: String,
    help: String,
}

/// For each code of the assembler, the first example among the test programs.
fn samples() -> BTreeMap<&'static str, Sample> {
    let mut out = BTreeMap::new();
    for (file, text) in test_programs("tests/filetests/asm", "rasm") {
        let assembly = assemble(&file.to_string_lossy(), text, &Options::default());
        sample(&mut out, &file, &assembly.diagnostics, assembly.sources.text(0), |line| {
            Some(Language::Assembly.code(line)).filter(|line| line.is_ascii())
        });
    }
    out
}

/// For each code of Nil, the first example among the test programs.
fn nil_samples() -> BTreeMap<&'static str, Sample> {
    let mut out = BTreeMap::new();
    for (file, text) in test_programs("tests/filetests/nil/error", "nil") {
        let expected = expectations(Language::Nil, &text);
        let arguments = expected.option("args").map(|a| pendula::arguments::parse(a).expect("arguments"));
        let types = expected.option("types").map(|t| pendula::arguments::split(t, ',').expect("types"));
        let types = types.unwrap_or_default().into_iter().map(str::to_string).collect();
        let (arguments, entry) = (arguments.unwrap_or_default(), expected.option("entry").map(str::to_string));
        let options = NilOptions { arguments, types, entry, ..NilOptions::default() };
        let compiled = compile(&file.to_string_lossy(), text.clone(), &options);
        sample(&mut out, &file, &compiled.diagnostics, &text, |line| Some(Language::Nil.code(line)));
    }
    for (code, help) in NIL {
        if let Some(sample) = out.get_mut(code).filter(|s| s.help.is_empty()) {
            sample.help = help.to_string();
        }
    }
    out
}

/// For each code of Janus, the first example among the test programs.
fn janus_samples() -> BTreeMap<&'static str, Sample> {
    let mut out = BTreeMap::new();
    for (file, text) in test_programs("tests/filetests/janus/error", "ja") {
        let compiled = compile_janus(&file.to_string_lossy(), &text, &NilOptions::default());
        sample(&mut out, &file, &compiled.diagnostics, &text, |line| Some(Language::Janus.code(line)));
    }
    out
}

/// For each code of PISA, the first example among the test programs.
fn pisa_samples() -> BTreeMap<&'static str, Sample> {
    let mut out = BTreeMap::new();
    for (_, text) in test_programs("tests/filetests/pisa/errors", "pisa") {
        let expected = expectations(Language::Pisa, &text);
        let options = pisa::Options { strict: expected.has("strict"), ..Default::default() };
        for d in pisa::read("example.pisa", &text, &options).diagnostics {
            let Some(place) = d.primary.as_ref().map(|l| &l.place) else { continue };
            let start = text[..place.span.start].rfind('\n').map_or(0, |n| n + 1);
            let line = Language::Pisa.code(text[start..].lines().next().unwrap_or("")).trim();
            if line.is_empty() || !line.is_ascii() {
                continue;
            }
            let sample =
                Sample { line: line.to_string(), message: sentence(&d.message), help: d.help.unwrap_or_default() };
            out.entry(d.code).or_insert(sample);
        }
    }
    for (_, text) in test_programs("tests/filetests/pisa/import", "pisa") {
        let expected = expectations(Language::Pisa, &text);
        let cells = expected.number("cells").expect("a number").map_or(1 << 16, |n| u32::try_from(n).expect("cells"));
        let read = pisa::Options { pendvm_bugs: expected.has("pendvm-bugs"), ..Default::default() };
        let options = pisa::import::Options { read, cells, ..Default::default() };
        for d in pisa::import::import("example.pisa", &text, &options).diagnostics {
            let line = d.primary.as_ref().map_or("", |l| &text[l.place.span.clone()]).to_string();
            let sample = Sample { line, message: sentence(&d.message), help: d.help.unwrap_or_default() };
            out.entry(d.code).or_insert(sample);
        }
    }
    out
}

/// The expectations of a test program.
fn expectations(language: Language, text: &str) -> Expectations {
    Expectations::read(language, text).unwrap_or_else(|(line, message)| panic!("line {line}: {message}"))
}

/// The programs of a folder, in order.
fn test_programs(folder: &str, extension: &str) -> Vec<(PathBuf, String)> {
    let files = fs::read_dir(root().join(folder)).expect("the tests").map(|e| e.expect("an entry").path());
    let mut files: Vec<PathBuf> = files.filter(|f| f.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    files.into_iter().map(|f| (f.clone(), fs::read_to_string(f).expect("UTF-8"))).collect()
}

/// Takes the diagnostics of a test program that its name announces as examples, where there are none yet. `shown` gives a line as it is
/// shown, without what it expects, if it is.
fn sample(
    out: &mut BTreeMap<&'static str, Sample>,
    file: &Path,
    diagnostics: &[Diagnostic],
    source: &str,
    shown: impl Fn(&str) -> Option<&str>,
) {
    let name = file.file_stem().map_or(String::new(), |n| n.to_string_lossy().to_uppercase());
    for d in diagnostics {
        let Some(place) = d.primary.as_ref().map(|l| &l.place).filter(|p| p.file == 0) else { continue };
        // A message that names a folder differs from one machine to the next.
        if out.contains_key(d.code) || !name.starts_with(d.code) || d.message.contains(env!("CARGO_MANIFEST_DIR")) {
            continue;
        }
        let start = source[..place.span.start].rfind('\n').map_or(0, |n| n + 1);
        let line = shown(source[start..].lines().next().unwrap_or("")).map(str::trim);
        if let Some(line) = line.filter(|l| l.chars().count() < 100) {
            let help = d.help.clone().unwrap_or_default();
            out.insert(d.code, Sample { line: line.to_string(), message: sentence(&d.message), help });
        }
    }
}

fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map(|c| c.to_uppercase().collect::<String>() + letters.as_str() + ".").unwrap_or_default()
}

#[test]
fn every_code_in_the_sources_is_explained() {
    let page = errors();
    let mut files = Vec::new();
    for folder in ["isa/src", "asm/src", "vm/src", "hw-model/src", "compiler-backend/src", "src"] {
        sources(&root().join(folder), &mut files);
    }
    assert!(files.len() > 50);
    for file in files {
        let text = fs::read_to_string(&file).expect("UTF-8");
        let code = |part: &str| {
            let code = part.get(..5)?;
            (part.get(5..6) == Some("\"") && code[1..].bytes().all(|b| b.is_ascii_digit())).then(|| code.to_string())
        };
        for (at, _) in text.match_indices("\"P") {
            if let Some(code) = code(&text[at + 1..]) {
                assert!(page.contains(&format!("### {code}\n")), "{}: {code} is not in errors.md", file.display());
            }
        }
    }
    let mut met = BTreeSet::new();
    for code in page.lines().filter_map(|l| l.strip_prefix("### ")) {
        assert!(met.insert(code), "{code} is explained twice");
    }
}

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

// Programs.

/// A fenced block: its first line's number, and its text.
struct Block {
    line: usize,
    text: String,
}

fn blocks(text: &str, language: &str) -> Vec<Block> {
    let mut out = Vec::new();
    let mut open: Option<(bool, Block)> = None;
    for (n, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((info.trim() == language, Block { line: n + 2, text: String::new() })),
            (Some(_), Some("")) => {
                out.extend(open.take().filter(|(wanted, _)| *wanted).map(|(_, block)| block));
            }
            (Some((_, block)), _) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block without an end");
    out
}

/// The comments `; docs:` of a block.
fn marks(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().map_while(|l| l.strip_prefix("; docs: "));
    lines.map(|l| l.split_once(' ').unwrap_or((l, ""))).map(|(a, b)| (a.to_string(), b.to_string())).collect()
}

#[test]
fn programs_in_the_documents_work() {
    let mut failed = String::new();
    let mut count = 0;
    for path in documents() {
        let mut files: BTreeMap<PathBuf, String> = BTreeMap::new();
        for block in blocks(&read(&path), "rasm") {
            count += 1;
            if let Err(why) = program(&block.text, &mut files) {
                let _ = writeln!(failed, "{path}:{}: {why}\n{}", block.line, block.text);
            }
        }
    }
    assert!(failed.is_empty(), "\n{failed}");
    assert!(count > 20, "only {count} programs");
}

fn program(text: &str, files: &mut BTreeMap<PathBuf, String>) -> Result<(), String> {
    let marks = marks(text);
    let mark = |name: &str| marks.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
    let known = ["fragment", "traps", "error", "drift", "input", "file"];
    if let Some((name, _)) = marks.iter().find(|(n, _)| !known.contains(&n.as_str())) {
        return Err(format!("`; docs: {name}` means nothing"));
    }
    if let Some(name) = mark("file") {
        files.insert(PathBuf::from(name), text.to_string());
        return Ok(());
    }
    let files = files.clone();
    let loader = move |path: &Path| files.get(path).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound));
    let options = Options { loader: Some(Box::new(loader)), ..Options::default() };
    let whole = match mark("fragment") {
        Some(_) => format!("        .text\nfragment.start: start\n{text}        finish\n"),
        None => text.to_string(),
    };
    let assembly = assemble("block.rasm", whole, &options);
    let mut found: Vec<&str> =
        assembly.diagnostics.iter().filter(|d| d.severity == Severity::Error).map(|d| d.code).collect();
    let wanted: Vec<&str> = mark("error").map_or(Vec::new(), |codes| codes.split(' ').collect());
    found.dedup();
    if found != wanted {
        return Err(format!("errors {found:?}, expected {wanted:?}: {:#?}", assembly.diagnostics));
    }
    let Some(module) = assembly.module else { return Ok(()) };
    if mark("fragment").is_some() {
        return Ok(());
    }
    let irreversible = module.flags.irreversible;
    let program = match Program::new(module, true) {
        Err(error) if error.code() == "P0141" && mark("traps").is_none() => return Ok(()),
        program => program.map_err(|e| e.to_string())?,
    };
    let mut machine = Machine::new(&program, &Config::default()).map_err(|e| e.to_string())?;
    if let Some(input) = mark("input") {
        machine.set_input(values::tape(program.module(), input).map_err(|e| e.to_string())?, 0);
    }
    let start = machine.digest();
    let mut go = |direction| {
        machine.begin(direction);
        let outcome = machine.run(Some(10_000_000));
        (outcome, machine.digest())
    };
    match (go(Direction::Forward).0, mark("traps")) {
        (Outcome::Finished, None) => {}
        (Outcome::Trap(trap), Some(code)) if trap.fault.code() == code => return Ok(()),
        (outcome, _) => return Err(format!("{outcome:?}")),
    }
    for line in text.lines().filter_map(|l| l.split_once("; after the run: ")).map(|(_, l)| l) {
        for (name, value) in line.split(" and ").filter_map(|part| part.split_once(" = ")) {
            let place = values::find(program.module(), name.trim()).map_err(|e| e.to_string())?;
            let is = values::text(&machine, &place, false, usize::MAX);
            if is != value.trim() {
                return Err(format!("{name} is {is}"));
            }
        }
    }
    if irreversible {
        return Ok(());
    }
    machine.begin(Direction::Backward);
    match machine.run(Some(10_000_000)) {
        Outcome::Finished if machine.digest() == start || mark("drift").is_some() => Ok(()),
        Outcome::Finished => Err("the run back does not restore the state".to_string()),
        outcome => Err(format!("running back: {outcome:?}")),
    }
}

#[test]
fn the_glossary_has_terms_that_the_book_uses_in_their_order() {
    let glossary = read("docs/src/glossary.md");
    let terms: Vec<String> = glossary
        .lines()
        .filter_map(|l| Some(l.strip_prefix("**")?.split_once(".**")?.0.to_lowercase().replace(',', "")))
        .collect();
    assert!(terms.len() > 60, "only {} terms", terms.len());
    for pair in terms.windows(2) {
        assert!(pair[0] < pair[1], "{} stands before {}", pair[0], pair[1]);
    }
    let others = documents().into_iter().filter(|d| !d.ends_with("/glossary.md") && !d.ends_with("/errors.md"));
    let book: String = others.map(|d| read(&d).to_lowercase()).collect();
    for term in &terms {
        let missing = term.split([' ', '-']).find(|word| !book.contains(word));
        assert_eq!(missing, None, "{term} is not in the book");
    }
}

// Links.

#[test]
fn links_lead_somewhere() {
    if blessing() {
        // Pages are being written.
        return;
    }
    let mut documents = documents();
    documents.extend(["ARCHITECTURE.md", "CONTRIBUTING.md"].map(String::from));
    let mut count = 0;
    for path in &documents {
        let folder = Path::new(path).parent().unwrap_or(Path::new(""));
        for link in links(&read(path)) {
            if link.contains("://") {
                continue;
            }
            count += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { PathBuf::from(path) } else { folder.join(file) };
            assert!(root().join(&target).exists(), "{path}: there is no {link}");
            if !anchor.is_empty() {
                let text = read(&target.to_string_lossy());
                assert!(anchors(&text).contains(anchor), "{path}: there is no heading for {link}");
            }
        }
    }
    assert!(count > 20, "only {count} links");
    let summary = read("docs/src/SUMMARY.md");
    for page in documents.iter().filter_map(|d| d.strip_prefix("docs/src/")).filter(|p| *p != "SUMMARY.md") {
        assert!(summary.contains(&format!("({page})")), "{page} is not in SUMMARY.md");
    }
}

/// The targets of a document's links, outside of code.
fn links(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut code = false;
    for line in text.lines() {
        if line.starts_with("```") {
            code = !code;
        }
        if code {
            continue;
        }
        // Every other stretch between backticks is code; the text of a link may be code, its target is not.
        let plain: String =
            line.split('`').enumerate().map(|(n, part)| if n % 2 == 0 { part } else { "code" }).collect();
        for part in plain.split("](").skip(1) {
            out.extend(part.split_once(')').map(|(target, _)| target.to_string()));
        }
    }
    out
}

/// The anchors that a document's headings make.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|l| l.starts_with('#')).map(|l| l.trim_start_matches('#').trim().to_lowercase());
    headings
        .map(|h| h.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>().replace(' ', "-"))
        .collect()
}
