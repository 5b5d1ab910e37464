//! No expectation, session or snapshot mentions internals of the compiler and the machine.

use super::*;

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The output of the sessions of a page that concern programs in Nil and Janus; what shows instructions is asked for.
fn sessions(page: &str) -> Vec<String> {
    let (mut out, mut within, mut ours) = (Vec::new(), false, false);
    for line in page.lines() {
        if line.starts_with("```") {
            (within, ours) = (line == "```console", false);
        } else if let (true, Some(command)) = (within, line.strip_prefix("$ ")) {
            let asked = ["compile", "--emit", "disasm", "--trace=asm", "--listing", "import"];
            let compiled = [".nil", ".ja", ".jl"].iter().any(|end| command.contains(end));
            ours = compiled && !asked.iter().any(|word| command.contains(word));
        } else if ours {
            out.push(line.to_string());
        }
    }
    out
}

#[test]
fn no_expectation_names_what_is_internal() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut look = |path: &Path, expected: &str, program: &str| {
        if let Some(inner) = internal(expected, program) {
            found.push(format!("{}: {inner}: {expected}", path.display()));
        }
    };
    let mut programs = files(&root.join("tests/filetests/nil"));
    programs.extend(files(&root.join("tests/filetests/janus")));
    assert!(programs.len() > 300);
    for path in &programs {
        let text = fs::read_to_string(path).unwrap();
        let Some(language) = Language::of(path) else { continue };
        let code: String = text.lines().map(|line| format!("{}\n", language.code(line))).collect();
        let expected = text.lines().filter_map(|line| language.comment(line)).filter(|c| c.starts_with('!'));
        expected.for_each(|expected| look(path, expected, &code));
    }
    for path in files(&root.join("docs/src")).iter().chain([&root.join("README.md")]) {
        let page = fs::read_to_string(path).unwrap_or_default();
        sessions(&page).iter().for_each(|line| look(path, line, ""));
    }
    for path in files(&root.join("tests/snapshots")) {
        let text = fs::read_to_string(&path).unwrap();
        if [".nil:", ".ja:"].iter().any(|end| text.contains(end)) {
            look(&path, &text, "");
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
