//! Every example is tried; the table in its README and the sessions in headers are real.

use super::*;

fn files() -> Vec<PathBuf> {
    let folder = fs::read_dir(Path::new(ROOT).join("examples")).expect("examples");
    let mut out: Vec<PathBuf> = folder.map(|f| f.expect("a file").path()).collect();
    out.retain(|f| f.extension().is_some_and(|e| e == "nil"));
    out.sort();
    out
}

#[test]
fn every_example_is_tried() {
    let there: BTreeSet<String> =
        files().iter().filter_map(|f| Some(f.file_stem()?.to_string_lossy().into_owned())).collect();
    let tried: BTreeSet<String> = EXAMPLES.iter().map(|e| e.call.name.to_string()).collect();
    assert_eq!(there, tried);
}

#[test]
fn the_table_in_the_readme_is_true() {
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).expect("text");
    let mut listed = BTreeSet::new();
    for row in readme.lines().filter(|l| l.starts_with("| [") && l.contains(".nil) |")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, _, command, printed] = cells[..] else { panic!("{row}") };
        listed.insert(name.trim_start_matches('[').split(']').next().unwrap_or_default().to_string());
        let command: Vec<String> = words(command.trim_matches('`').trim_start_matches("pendula "))
            .into_iter()
            .map(|w| if w.ends_with(".nil") { format!("examples/{w}") } else { w })
            .collect();
        let (code, out, err) = pendula(&command);
        assert_eq!(code, 0, "{command:?}: {err}");
        assert!(out.lines().any(|l| l == printed.trim_matches('`')), "{command:?}: {out}");
    }
    assert_eq!(listed, EXAMPLES.iter().map(|e| e.call.name.to_string()).collect());
}

/// Before what a session prints.
const MARGIN: &str = "#                      ";

#[test]
fn sessions_in_the_headers_are_real() {
    let mut failed = String::new();
    for file in files() {
        let text = fs::read_to_string(&file).expect("text");
        let mut out: Vec<String> = Vec::new();
        let mut lines = text.lines().peekable();
        let mut count = 0;
        while let Some(line) = lines.next() {
            out.push(line.to_string());
            let Some((_, command)) = line.split_once("  pendula ").filter(|_| line.starts_with('#')) else { continue };
            let mut command = command.to_string();
            while let (true, Some(next)) = (command.ends_with('\\'), lines.peek()) {
                command = command.trim_end_matches('\\').to_string() + next.trim_start_matches('#').trim();
                out.extend(lines.next().map(String::from));
            }
            count += 1;
            let mut shown = Vec::new();
            while let Some(line) = lines.next_if(|l| l.starts_with(MARGIN)) {
                shown.push(&line[MARGIN.len()..]);
            }
            let (_, stdout, stderr) = pendula(&words(&command));
            let real: Vec<&str> = stdout.lines().chain(stderr.lines()).map(str::trim_end).collect();
            let right = matches(&shown, &real);
            if !right {
                failed += &format!("{}: pendula {command}\n{}\n\n", file.display(), real.join("\n"));
            }
            let lines = if right { shown } else { real };
            out.extend(lines.iter().map(|l| format!("{MARGIN}{l}").trim_end().to_string()));
        }
        assert!(count >= 2, "{} shows {count} commands", file.display());
        let out = out.join("\n") + "\n";
        if std::env::var_os("PENDULA_BLESS").is_some_and(|v| v == "1") && out != text {
            fs::write(&file, out).expect("written");
        }
    }
    assert!(failed.is_empty(), "these headers show something else:\n\n{failed}");
}

/// A command's words; quotes hold blanks together.
fn words(command: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (n, part) in command.split('"').enumerate() {
        if n % 2 == 1 {
            out.push(part.to_string());
        } else {
            out.extend(part.split_whitespace().map(String::from));
        }
    }
    out
}

/// True if lines are those shown, where `…` stands for anything.
fn matches(shown: &[&str], real: &[&str]) -> bool {
    match shown {
        [] => real.is_empty(),
        ["…", rest @ ..] => (0..=real.len()).any(|n| matches(rest, &real[n..])),
        [line, rest @ ..] => real.first().is_some_and(|r| like(line, r)) && matches(rest, &real[1..]),
    }
}

fn like(shown: &str, real: &str) -> bool {
    let Some((before, after)) = shown.split_once('…') else { return shown == real };
    real.strip_prefix(before).is_some_and(|rest| {
        let ends = rest.char_indices().map(|(n, _)| n).chain([rest.len()]);
        ends.into_iter().any(|n| like(after, &rest[n..]))
    })
}
