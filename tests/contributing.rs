//! CONTRIBUTING.md says which edits add an instruction. This makes exactly these edits to a copy of the workspace,
//! builds it, and tries the new instructions there: by tests of the crates, and by the program.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An edit that the document describes.
struct Edit {
    file: String,
    before: String,
    block: String,
}

/// The fenced blocks behind `<!-- edit: FILE, before: MARKER -->`.
fn edits(document: &str) -> Vec<Edit> {
    document
        .split("<!-- edit: ")
        .skip(1)
        .map(|part| {
            let (header, rest) = part.split_once(" -->").expect("the comment ends");
            let (file, before) = header.split_once(", before: ").expect("FILE, before: MARKER");
            let (_, rest) = rest.split_once("```rust\n").expect("a block of Rust");
            let (block, _) = rest.split_once("```").expect("the block ends");
            Edit { file: file.to_string(), before: before.to_string(), block: block.to_string() }
        })
        .collect()
}

/// Inserts the block before the first line that contains the marker.
fn apply(root: &Path, edit: &Edit) {
    let path = root.join(&edit.file);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", edit.file));
    let marker = text.find(&edit.before).unwrap_or_else(|| panic!("{}: no `{}`", edit.file, edit.before));
    let line = text[..marker].rfind('\n').map_or(0, |n| n + 1);
    fs::write(&path, format!("{}{}{}", &text[..line], edit.block, &text[line..])).expect("a file to write");
}

/// Copies a crate. Files that are the same already keep their times, so that nothing is compiled twice.
fn copy(from: &Path, to: &Path, keep: &dyn Fn(&Path) -> bool) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").map(|e| e.expect("an entry").path()) {
        let target = to.join(entry.file_name().expect("a name"));
        if entry.is_dir() {
            if !entry.ends_with("target") {
                copy(&entry, &target, keep);
            }
        } else if !keep(&target) {
            put(&target, &fs::read(&entry).expect("a file"));
        }
    }
}

/// Writes a file unless it holds these bytes.
fn put(path: &Path, bytes: &[u8]) {
    if fs::read(path).ok().as_deref() != Some(bytes) {
        fs::write(path, bytes).expect("a file to write");
    }
}

fn cargo(root: &Path, arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).current_dir(root).env("CARGO_TARGET_DIR", root.join("target"));
    // What belongs to the build of this test says nothing about the copy.
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTDOCFLAGS", "RUSTC_WORKSPACE_WRAPPER"] {
        command.env_remove(name);
    }
    let output = command.output().expect("cargo");
    let text = [output.stdout, output.stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
    assert!(output.status.success(), "cargo {}\n{}\n{}", arguments.join(" "), text[0], text[1]);
    assert!(!text[1].contains("\nwarning:"), "{}", text[1]);
}

/// What belongs to the build beside the members of the workspace.
const BESIDE: [&str; 6] = ["Cargo.toml", "Cargo.lock", "benches", "src", "docs", "examples"];

/// The members of the workspace.
fn members(root: &Path) -> Vec<String> {
    let text = fs::read_to_string(root.join("Cargo.toml")).expect("Cargo.toml");
    let manifest: toml::Table = text.parse().expect("TOML");
    let all = manifest["workspace"]["members"].as_array().expect("members");
    all.iter().map(|name| name.as_str().expect("a name").to_string()).collect()
}

/// Each crate of others that a manifest names has a line in CONTRIBUTING.md, and each line there has a crate.
#[test]
fn each_dependency_has_a_line() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("CONTRIBUTING.md")).expect("CONTRIBUTING.md");
    let (_, table) = text.split_once("| crate | what for |\n|---|---|\n").expect("a table of dependencies");
    let rows = table.lines().map_while(|l| l.strip_prefix("| ")?.split(" | ").next());
    let described: BTreeSet<String> =
        rows.flat_map(|row| row.split(" (").next().unwrap_or(row).split(", ").map(str::to_string)).collect();
    let mut folders = members(root);
    folders.extend([".", "accuracy", "benches/parts", "fuzz"].map(String::from));
    let mut used = BTreeSet::new();
    for folder in folders {
        let text = fs::read_to_string(root.join(&folder).join("Cargo.toml")).expect("a manifest");
        let manifest: toml::Table = text.parse().expect("TOML");
        add_dependencies(&manifest, &mut used);
    }
    assert_eq!(described, used);
}

/// The names of crates that are not the workspace's own, in all tables of dependencies of a manifest.
fn add_dependencies(table: &toml::Table, used: &mut BTreeSet<String>) {
    for (key, value) in table {
        let Some(inner) = value.as_table() else { continue };
        if key.ends_with("dependencies") {
            used.extend(inner.keys().filter(|name| !name.starts_with("pendula")).cloned());
        } else {
            add_dependencies(inner, used);
        }
    }
}

/// Copies the workspace with the edits made.
fn edited_copy(original: &Path, root: &Path, edits: &[Edit]) {
    // Edited files are made anew each time, in a place apart, and put in place only if they changed.
    let scratch = root.join("edited");
    let _ = fs::remove_dir_all(&scratch);
    for edit in edits {
        let copied = scratch.join(&edit.file);
        fs::create_dir_all(copied.parent().expect("a folder")).expect("a folder");
        if !copied.exists() {
            fs::copy(original.join(&edit.file), &copied).expect("a file to copy");
        }
        apply(&scratch, edit);
    }
    let edited = |path: &Path| path.strip_prefix(root).is_ok_and(|p| scratch.join(p).is_file());
    let members = members(original);
    for part in BESIDE.into_iter().chain(members.iter().map(String::as_str)) {
        let (from, to) = (original.join(part), root.join(part));
        if from.is_dir() {
            // What a colleague has deleted since the last run must not stay.
            prune(&to, &from);
            copy(&from, &to, &edited);
        } else {
            put(&to, &fs::read(&from).expect("a file"));
        }
    }
    for edit in edits {
        put(&root.join(&edit.file), &fs::read(scratch.join(&edit.file)).expect("the edited file"));
    }
}

/// What the built program prints.
fn pendula(root: &Path, arguments: &[&str]) -> String {
    let output = Command::new(root.join("target/debug/pendula"))
        .args(arguments)
        .current_dir(root)
        .output()
        .expect("the program of the copy");
    let text = [output.stdout, output.stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
    assert!(output.status.success(), "pendula {}\n{}\n{}", arguments.join(" "), text[0], text[1]);
    text[0].clone()
}

const GRAY: &str = "        start
        gray r1
        ungray r2
        finish
";

const LORENTZ: &str = "        .data
        .import x
        .export y
x:      .double -3
y:      .double 0
        .text
        start
        exch    r1, [x]
        addlorentz.f [y], r1
        exch    r1, [x]
        finish
";

#[test]
#[ignore = "builds the workspace anew: part of .ci/full"]
fn the_edits_that_add_instructions_suffice() {
    let original = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = fs::read_to_string(original.join("CONTRIBUTING.md")).expect("CONTRIBUTING.md");
    let edits = edits(&document);
    let mut files: Vec<&str> = edits.iter().map(|edit| edit.file.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    let said = [
        "isa/src/kernels/int.rs",
        "isa/src/table.rs",
        "vm/tests/gradient_rows/closed_forms.rs",
        "vm/tests/semantics/rows.rs",
    ];
    assert_eq!((files, edits.len()), (said.to_vec(), 5), "the edits that the document says");

    let root: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("contributing");
    edited_copy(original, &root, &edits);
    for (part, name, text) in [
        ("vm", "lorentz", include_str!("contributing/lorentz.rs")),
        ("hw-model", "gates", include_str!("contributing/gates.rs")),
    ] {
        put(&root.join(part).join(format!("tests/{name}.rs")), text.as_bytes());
        let main = root.join(part).join("tests/main.rs");
        let tests = fs::read_to_string(original.join(part).join("tests/main.rs")).expect("main.rs");
        put(&main, format!("{tests}mod {name};\n").as_bytes());
        cargo(&root, &["test", "--offline", "-p", "pendula-testing", "--test", part, &format!("{name}::")]);
    }
    // Every row, of which two are new.
    cargo(
        &root,
        &["test", "--offline", "-p", "pendula-testing", "--test", "isa", "partial_derivatives_agree_with_differences"],
    );
    cargo(&root, &["test", "--offline", "-p", "pendula-testing", "--test", "vm", "rows::"]);

    cargo(&root, &["build", "--offline", "-p", "pendula"]);
    put(&root.join("gray.rasm"), GRAY.as_bytes());
    put(&root.join("lorentz.rasm"), LORENTZ.as_bytes());
    for engine in ["interp", "jit", "native"] {
        let run = ["run", "--engine", engine, "--round-trip"];
        let printed = pendula(&root, &[&run[..], &["--set", "r1=5", "--set", "r2=7", "gray.rasm"]].concat());
        assert!(printed.contains("r1 = 7\nr2 = 5\n"), "{printed}");
        let printed = pendula(&root, &[&run[..], &["lorentz.rasm"]].concat());
        assert!(printed.contains("y = 0.1\n"), "{printed}");
        let printed = pendula(&root, &["grad", "--engine", engine, "--check", "lorentz.rasm"]);
        assert!(printed.contains("0.06"), "{printed}");
    }
    assert!(pendula(&root, &["disasm", "gray.rasm"]).contains("ungray  r2"));
    assert!(pendula(&root, &["isa", "gray"]).contains("Gray code"));
    assert!(pendula(&root, &["energy", "--tech", "cmos45", "lorentz.rasm"]).contains("J"));
    cargo(&root, &["clippy", "--offline", "-p", "pendula-isa", "--all-targets", "--", "-D", "warnings"]);
}

/// Removes files that the original does not have.
fn prune(folder: &Path, original: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.map(|e| e.expect("an entry").path()) {
        let there = original.join(entry.file_name().expect("a name"));
        match (entry.is_dir(), there.exists()) {
            (true, true) => prune(&entry, &there),
            (true, false) => fs::remove_dir_all(&entry).expect("a folder to remove"),
            (false, true) => {}
            (false, false) => fs::remove_file(&entry).expect("a file to remove"),
        }
    }
}
