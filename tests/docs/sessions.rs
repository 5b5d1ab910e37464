//! Sessions in the documents show what the commands print.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use pendula_isa::sample;

use super::{HOW, blessing, documents, read, root};
use crate::common::builds_circuits;

/// README.md and the pages of the book, in the order in which they are read.
fn in_order() -> Vec<String> {
    let summary = read("docs/src/SUMMARY.md");
    let place = |page: &String| {
        let name = page.strip_prefix("docs/src/").unwrap_or("");
        summary.find(&format!("]({name})")).unwrap_or(0)
    };
    let mut pages = documents();
    pages.sort_by_key(place);
    pages
}

/// The file as which a reader saves the block that follows, if the line says so: ``Save this as `sum.rasm`:``.
fn saved_as(line: &str) -> Option<&str> {
    line.strip_suffix("`:")?.rsplit_once("as `").map(|(_, name)| name)
}

/// Where the sessions of a page are run: in the repository, but where the reader saves files, in the folder where these are, beside the
/// examples.
fn folder_of(text: &str) -> PathBuf {
    let saves = text.lines().any(|l| saved_as(l).is_some());
    root().join(if saves { "target/book" } else { "" })
}

/// A page as it should be, with what commands print, and those that print something else.
struct Checked {
    text: String,
    failed: String,
    /// The files that the reader has saved.
    saved: BTreeSet<String>,
}

fn checked(path: &str) -> Checked {
    let text = read(path);
    let folder = folder_of(&text);
    let mut costly = 0;
    // Those that build circuits, and that no later one needs, are tried in part.
    let mut tried = |command: &str| {
        let writes = command.replace("2> /dev/null", "").contains(" > ") || command.contains(" -o ");
        let costs = builds_circuits(command) && !writes;
        costly += usize::from(costs);
        !costs || blessing() || sample::all() || costly % 8 == 2
    };
    let mut out = Checked { text: String::new(), failed: String::new(), saved: BTreeSet::new() };
    let mut lines = text.lines().enumerate().peekable();
    // The file that the next block becomes, and the fence of the block that is open.
    let mut file: Option<String> = None;
    let mut fence: Option<&str> = None;
    let mut block = String::new();
    while let Some((n, line)) = lines.next() {
        let _ = writeln!(out.text, "{line}");
        if line.starts_with("```") {
            if let (Some(_), Some(name)) = (fence, &file) {
                fs::write(folder.join(name), std::mem::take(&mut block)).expect("a file to save");
                out.saved.insert(name.clone());
                file = None;
            }
            fence = if fence.is_some() { None } else { Some(line) };
            continue;
        }
        if fence.is_none() && !line.is_empty() {
            file = saved_as(line).map(String::from);
        } else if fence.is_some() && file.is_some() {
            block.push_str(line);
            block.push('\n');
        }
        let Some(command) = line.strip_prefix("$ ").filter(|_| fence == Some("```console")) else { continue };
        let mut command = command.to_string();
        while command.ends_with('\\') {
            let (_, line) = lines.next().expect("more of the command");
            let _ = writeln!(out.text, "{line}");
            command = format!("{}{}", command.trim_end_matches('\\'), line.trim_start_matches("> "));
        }
        let mut shown = String::new();
        while let Some((_, line)) = lines.next_if(|(_, l)| !l.starts_with("$ ") && *l != "```") {
            let _ = writeln!(shown, "{line}");
        }
        let real = tried(&command).then(|| run(&command, &folder)).flatten().filter(|real| !matches(&shown, real));
        let _ = match real {
            None => write!(out.text, "{shown}"),
            Some(real) => {
                let _ = writeln!(out.failed, "{path}:{}: $ {command}\n{real}", n + 1);
                write!(out.text, "{}", lasting(&real))
            }
        };
    }
    out
}

#[test]
fn sessions_in_the_documents_are_real() {
    // Objects made in sessions go to `target`. What readers save, they save in a new folder.
    let book = root().join("target/book");
    if book.exists() {
        fs::remove_dir_all(&book).expect("an old folder");
    }
    fs::create_dir_all(&book).expect("a folder");
    symlink(root().join("examples"), book.join("examples")).expect("a link");
    let mut failed = String::new();
    for path in in_order() {
        let page = checked(&path);
        failed.push_str(&page.failed);
        // Where a command looks for a file in another folder than the reader, the test is wrong, and its error must not be written into a page.
        for line in page.text.lines().filter_map(|l| l.strip_prefix("error: cannot read ")) {
            let file = line.split(": ").next().unwrap_or_default();
            assert!(!root().join(file).exists(), "{path} says of a file that is there: {line}");
        }
        if blessing() && page.text != read(&path) {
            fs::write(root().join(&path), page.text).expect("a page to write");
        }
        let least = match path.as_str() {
            "docs/src/tutorial.md" => 12,
            "docs/src/answers.md" => 10,
            _ => 0,
        };
        assert!(page.saved.len() >= least, "{path} has the reader save {:?}", page.saved);
    }
    assert!(
        failed.is_empty() || blessing(),
        "these sessions show something else; to write them anew, run\n\n    {HOW}\n\n{failed}"
    );
}

/// Runs a command line as a shell does, and returns what it prints; `None` where a foreign program is not installed.
fn run(command: &str, folder: &Path) -> Option<String> {
    let tool = command.split_whitespace().next().unwrap_or_default();
    let own = Path::new(env!("CARGO_BIN_EXE_pendula")).parent().expect("a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    if tool == "readelf" && !std::env::split_paths(&path).any(|folder| folder.join(tool).is_file()) {
        return None;
    }
    let path = std::env::join_paths([own.to_path_buf()].into_iter().chain(std::env::split_paths(&path)));
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", path.expect("a search path"))
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C")
        .env_remove("RUST_LOG")
        .output()
        .expect("a shell");
    let mut text = String::from_utf8(output.stdout).expect("UTF-8");
    text.push_str(&String::from_utf8(output.stderr).expect("UTF-8"));
    // Markdown shows no blanks at the ends of lines.
    Some(text.lines().map(|l| l.trim_end().to_string() + "\n").collect())
}

/// Output with `…` in the place of lines that are different each time.
fn lasting(real: &str) -> String {
    let timed = |line: &str| line.starts_with("time  ") || line.trim_start().starts_with("\"seconds\":");
    real.lines().map(|line| if timed(line) { "…\n".to_string() } else { format!("{line}\n") }).collect()
}

/// True if the output is what is shown, where `…` stands for any lines.
fn matches(shown: &str, real: &str) -> bool {
    fn at(shown: &[&str], real: &[&str]) -> bool {
        match shown.split_first() {
            None => real.is_empty(),
            Some((&"…", rest)) => (0..=real.len()).any(|n| at(rest, &real[n..])),
            Some((line, rest)) => real.split_first().is_some_and(|(first, others)| first == line && at(rest, others)),
        }
    }
    at(&shown.lines().collect::<Vec<_>>(), &real.lines().collect::<Vec<_>>())
}

#[test]
fn an_ellipsis_stands_for_any_lines() {
    assert!(matches("a\n…\nd\n", "a\nb\nc\nd\n") && matches("a\n…\n", "a\n") && matches("", ""));
    assert!(!matches("a\n…\nd\n", "a\nb\n") && !matches("a\n", "a\nb\n") && !matches("", "a\n"));
}

#[test]
fn a_line_says_as_what_a_block_is_saved() {
    assert_eq!(saved_as("Replace it. Save this as `sum.rasm`:"), Some("sum.rasm"));
    assert_eq!(saved_as("Save the program as `mov.rasm`:"), Some("mov.rasm"));
    assert_eq!((saved_as("With `sum.rasm`:"), saved_as("Save this as `sum.rasm`.")), (None, None));
}
