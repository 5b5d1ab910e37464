//! `.include`: the files that it may reach, and those that it may not.

use crate::common;

use std::fs;
use std::io;
use std::path::Path;

use common::errors;
use pendula_asm::assemble::{Assembly, Options, assemble};
use pendula_isa::budget::Budget;

/// Files that are only in memory.
fn with_files(root: &str, text: &str, files: &'static [(&str, &str)], include_outside: bool) -> Assembly {
    let loader = move |path: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| (*text).to_string()).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    };
    let options = Options { include_outside, loader: Some(Box::new(loader)), ..Options::default() };
    assemble(root, text.to_string(), &options)
}

fn codes(a: &Assembly) -> Vec<(&'static str, String, u16)> {
    let place = |n: usize| a.diagnostics[n].primary.as_ref().map_or(u16::MAX, |l| l.place.file);
    errors(a).into_iter().enumerate().map(|(n, (code, covered, _))| (code, covered, place(n))).collect()
}

#[test]
fn files_are_read_in_their_place() {
    let files = &[
        ("p/lib/a.rasm", " .include \"b.rasm\"\n add r1, N\n .equ M, 4\n"),
        ("p/lib/b.rasm", "; a comment\n .equ N, 3\n"),
    ];
    let a = with_files("p/main.rasm", " .include \"lib/../lib/a.rasm\"\n add r2, M\n", files, false);
    let m = a.module.as_ref().unwrap();
    assert_eq!(m.code.iter().map(|i| i.imm).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(m.files, ["p/main.rasm", "p/lib/a.rasm", "p/lib/b.rasm"]);
    assert_eq!((m.locs[0].file, m.locs[0].line, m.locs[1].file, m.locs[1].line), (1, 2, 0, 2));
    assert_eq!((a.sources.len(), a.sources.name(2)), (3, "p/lib/b.rasm"));
}

#[test]
fn a_file_may_be_included_twice() {
    let files = &[("x.rasm", " inc r1\n")];
    let a = with_files("main.rasm", " .include \"x.rasm\"\n .include \"./x.rasm\"\n", files, false);
    assert_eq!(a.module.unwrap().code.len(), 2);
    assert_eq!(a.sources.len(), 2);
}

#[test]
fn errors_name_the_file() {
    let files = &[("x.rasm", " inc r1\n bad r1\n")];
    let a = with_files("main.rasm", " .include \"x.rasm\"\n worse r2\n", files, false);
    assert_eq!(codes(&a), [("P0006", "worse".to_string(), 0), ("P0006", "bad".to_string(), 1)]);
}

#[test]
fn what_cannot_be_read() {
    let a = with_files("main.rasm", " .include \"no.rasm\"\n", &[], false);
    assert_eq!(codes(&a), [("P0027", "\"no.rasm\"".to_string(), 0)]);
}

#[test]
fn outside_is_refused_unless_allowed() {
    let files = &[("q/x.rasm", " inc r1\n"), ("/etc/x.rasm", " inc r2\n")];
    let text = " .include \"../q/x.rasm\"\n .include \"/etc/x.rasm\"\n .include \"sub/../../q/x.rasm\"\n";
    let refused = with_files("p/main.rasm", text, files, false);
    assert_eq!(codes(&refused).iter().map(|c| c.0).collect::<Vec<_>>(), ["P0028"; 3]);
    let allowed = with_files("p/main.rasm", text, files, true);
    assert_eq!(allowed.module.unwrap().code.len(), 3);
    // Without a folder, the root is the current one.
    let refused = with_files("main.rasm", " .include \"../q/x.rasm\"\n", files, false);
    assert_eq!(codes(&refused)[0].0, "P0028");
}

#[test]
fn cycles_and_deep_includes() {
    let files = &[("a.rasm", " .include \"b.rasm\"\n"), ("b.rasm", " .include \"a.rasm\"\n")];
    let a = with_files("main.rasm", " .include \"a.rasm\"\n", files, false);
    assert_eq!(codes(&a), [("P0029", "\"a.rasm\"".to_string(), 2)]);
    let including_itself = with_files("main.rasm", " .include \"main.rasm\"\n", &[], false);
    assert_eq!(codes(&including_itself)[0].0, "P0029");
    let loader = |path: &Path| {
        let n: u32 = path.to_str().and_then(|p| p.strip_prefix('f')).and_then(|p| p.parse().ok()).unwrap_or(0);
        Ok(format!(" .include \"f{}\"\n", n + 1))
    };
    let options = Options { loader: Some(Box::new(loader)), ..Options::default() };
    let tower = assemble("main.rasm", " .include \"f0\"\n".into(), &options);
    assert_eq!(codes(&tower)[0].0, "P0090");
    assert_eq!(tower.sources.len(), 201);
}

#[test]
fn the_file_system() {
    let folder = std::env::temp_dir().join(format!("pendula-includes-{}", std::process::id()));
    let inside = folder.join("p");
    fs::create_dir_all(inside.join("sub")).unwrap();
    fs::write(folder.join("outside.rasm"), " inc r1\n").unwrap();
    fs::write(inside.join("sub/ok.rasm"), " inc r2\n").unwrap();
    fs::write(inside.join("bytes.rasm"), [0xff, 0xfe]).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.join("outside.rasm"), inside.join("link.rasm")).unwrap();
    let root = inside.join("main.rasm");
    let run = |text: &str, options: Options| assemble(root.to_str().unwrap(), text.to_string(), &options);
    let first = |text: &str| codes(&run(text, Options::default())).first().map(|c| c.0);
    assert_eq!(first(" .include \"sub/ok.rasm\"\n"), None);
    assert_eq!(first(" .include \"../outside.rasm\"\n"), Some("P0028"));
    #[cfg(unix)]
    assert_eq!(first(" .include \"link.rasm\"\n"), Some("P0028"));
    assert_eq!(first(" .include \"sub\"\n"), Some("P0027"));
    assert_eq!(first(" .include \"none\"\n"), Some("P0027"));
    assert_eq!(first(" .include \"bytes.rasm\"\n"), Some("P0027"));
    let small = Options { budget: Budget { bytes: 30, ..Budget::default() }, ..Options::default() };
    assert_eq!(codes(&run(" .include \"sub/ok.rasm\"\n", small))[0].0, "P0092");
    fs::remove_dir_all(&folder).unwrap();
}
