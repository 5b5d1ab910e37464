//! What the program writes: files are complete or unchanged, an output that cannot be written is an error, and no input can control the
//! terminal.
#![cfg(target_os = "linux")]

mod json;
mod trace_json;

use std::path::Path;
use std::process::{Command, Stdio};

use assert_cmd::cargo::CommandCargoExt as _;

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("pendula").expect("the binary");
    command.current_dir(folder).args(args).env_remove("RUST_LOG").env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

/// Exit status, standard output, standard error.
fn pendula(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let output = command(folder, args).output().expect("runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("no signal"), text(output.stdout), text(output.stderr))
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// One call of every command that writes to standard output.
const CALLS: &[&[&str]] = &[
    &["run", "examples/fib.rasm"],
    &["run", "examples/fib.rasm", "--json"],
    &["run", "tests/data/shows.rasm"],
    &["run", "examples/fib.pisa"],
    &["run", "examples/fib.rasm", "--batch", "n=tests/data/items.csv"],
    &["run", "examples/fib.rasm", "--batch", "n=tests/data/items.csv", "--json"],
    &["grad", "examples/bessel.rasm"],
    &["grad", "examples/bessel.rasm", "--json"],
    &["grad", "examples/bessel.rasm", "--batch", "z=tests/data/items.csv"],
    &["energy", "examples/fib.rasm"],
    &["energy", "examples/fib.rasm", "--csv", "--tech", "cmos45"],
    &["level", "examples/fib.rasm"],
    &["asm", "examples/fib.rasm", "--listing"],
    &["asm", "examples/fib.rasm", "-o", "-"],
    &["asm", "examples/fib.rasm", "-o", "/dev/full"],
    &["compile", "examples/exp.nil", "--args", "0.0,1.0"],
    &["compile", "examples/exp.nil", "--args", "0.0,1.0", "--emit", "obj", "-o", "-"],
    &["disasm", "examples/fib.rasm"],
    &["disasm", "examples/fib.rasm", "--listing"],
    &["check", "examples/fib.rasm"],
    &["check", "examples/fib.rasm", "--json"],
    &["invert", "examples/fib.rasm"],
    &["import", "examples/fib.pisa"],
    &["fmt", "examples/fib.rasm"],
    &["isa"],
    &["circuit", "add", "--width", "8"],
    &["circuit", "add", "--width", "8", "--format", "verilog"],
    &["bench", "--list"],
    &["cache", "list"],
    &["completions", "bash"],
    &["man"],
    &["--help"],
    &["run", "--help"],
    &["--version"],
];

#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    for call in CALLS {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("the device");
        let output = command(repository(), call).stdout(full).output().expect("runs");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{call:?}: {err}");
        assert!(err.contains("No space left on device"), "{call:?}: {err}");
    }
}

#[test]
fn a_pipe_that_nobody_reads_is_none() {
    for call in CALLS.iter().filter(|call| !call.contains(&"/dev/full")) {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = command(repository(), call).stdout(writer).output().expect("runs");
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{call:?}: {output:?}");
    }
}

#[test]
fn a_disk_that_is_full_leaves_files_as_they_were() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = format!("main: start\n{}finish\n", "   add r1,1\n".repeat(2000));
    let laid = "main: start\n  finish\n";
    let old = [("a.rasm", source.as_str()), ("b.rasm", laid), ("a.o", "old"), ("out.rasm", "old"), ("out.csv", "old")];
    for (name, text) in old {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    let items: String = (0..3000).map(|n| format!("{n}\n")).collect();
    std::fs::write(folder.path().join("items.csv"), &items).expect("a file");
    let fib = repository().join("examples/fib.rasm").display().to_string();
    let calls: [&[&str]; 6] = [
        &["fmt", "--write", "a.rasm"],
        &["asm", "a.rasm"],
        &["disasm", "a.rasm", "-o", "out.rasm"],
        &["run", &fib, "--batch", "r9=items.csv", "--show", "r9", "--save", "out.csv"],
        &["run", &fib, "--batch", "r9=items.csv", "--show", "r9", "--save", "out.npy"],
        &["man", "--dir", "pages"],
    ];
    for call in calls {
        let program = assert_cmd::cargo::cargo_bin("pendula");
        // Files of at most a kilobyte; a signal that is ignored stays so, and to write more is an error.
        let limited = "trap '' XFSZ; ulimit -f 2; exec \"$0\" \"$@\"";
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(limited).arg(program).args(call).current_dir(folder.path());
        let output = shell.stdin(Stdio::null()).stdout(Stdio::null()).output().expect("runs");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), err.contains("too large")), (Some(2), true), "{call:?}: {err}");
        for (name, text) in old {
            assert_eq!(std::fs::read_to_string(folder.path().join(name)).expect(name), text, "{call:?}: {name}");
        }
        for entry in std::fs::read_dir(folder.path()).expect("the folder") {
            let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
            let known = old.iter().any(|(n, _)| *n == name) || ["items.csv", "pages"].contains(&name.as_str());
            assert!(known, "{call:?}: {name}");
        }
    }
    let pages = std::fs::read_dir(folder.path().join("pages")).expect("a folder");
    assert!(pages.flatten().all(|p| !p.file_name().to_string_lossy().ends_with(".tmp")));
}

#[test]
fn a_result_goes_to_standard_output_by_a_dash() {
    let folder = tempfile::tempdir().expect("a folder");
    for (args, object) in [
        (&["asm", "examples/fib.rasm", "-o"][..], true),
        (&["compile", "examples/exp.nil", "--args", "0.0,1.0", "--emit", "obj", "-o"], true),
        (&["compile", "examples/exp.nil", "--args", "0.0,1.0", "--emit", "ir", "-o"], false),
        (&["disasm", "examples/fib.rasm", "-o"], false),
        (&["invert", "examples/fib.rasm", "-o"], false),
        (&["import", "examples/fib.pisa", "-o"], false),
    ] {
        let path = folder.path().join("out").display().to_string();
        let to = |output: &str| {
            let args: Vec<&str> = args.iter().copied().chain([output]).collect();
            command(repository(), &args).output().expect("runs")
        };
        let (file, dash) = (to(&path), to("-"));
        assert!(file.status.success() && dash.status.success(), "{args:?}: {dash:?}");
        assert_eq!(dash.stdout, std::fs::read(&path).expect("the file"), "{args:?}");
        assert_eq!((dash.stdout.starts_with(b"\x7fELF"), file.stdout.len()), (object, 0), "{args:?}");
    }
    assert!(!repository().join("-").exists());
    let (code, _, err) = pendula(repository(), &["asm", "examples/fib.rasm", "--listing", "-o", "-"]);
    assert_eq!((code, err.contains("both write to standard output")), (2, true), "{err}");
}

/// What a terminal would obey: to set its title, to ring, to overwrite a line, to turn the direction of writing.
const TRICKS: &str = "\x1b]0;a\x07\r\u{202e}b";

/// The same, as people may see it.
const SHOWN: &str = "\\x1b]0;a\\x07\\r\\u{202e}b";

fn harmless(call: &[&str], text: &str) {
    let obeyed = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || matches!(c, '\u{202a}'..='\u{202e}');
    assert!(!text.contains(obeyed), "{call:?}: {text:?}");
}

#[test]
fn nothing_that_comes_from_input_is_obeyed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |extension: &str, text: &str| {
        let name = format!("f{TRICKS}.{extension}");
        std::fs::write(folder.path().join(&name), text).expect("a file");
        name
    };
    let wrong = format!("main: start ; {TRICKS}\n  add r1, 0.{TRICKS}\n  finish\n");
    let (rasm, nil) = (file("rasm", &wrong), file("nil", &format!("@i function f(x!) {TRICKS}\nend\n")));
    let (jl, pisa) =
        (file("janus", &format!("procedure main() {TRICKS}")), file("pisa", ";; pendulum pal file\n FOO $1\n"));
    let missing = format!("missing{TRICKS}.rasm");
    let said = format!("main: start\n print \"x{TRICKS}\"\n finish\n").replace(['\x1b', '\x07', '\r'], "?");
    let fine = file("said.rasm", &said);
    let table = file("csv", "1\nx\n");
    let tech = file("toml", &format!("name = \"{}\"", "\\u001b\\u202e"));
    let example = repository().join("examples/fib.rasm").display().to_string();
    let calls: &[&[&str]] = &[
        &["run", &rasm],
        &["run", &nil],
        &["run", &jl],
        &["run", &pisa],
        &["run", &missing],
        &["run", &fine],
        &["run", &fine, "-v"],
        &["run", &fine, "--trace"],
        &["run", &example, "--show", TRICKS],
        &["run", &example, "--set", TRICKS],
        &["run", &example, "--tech", &tech],
        &["run", &example, "--batch", &table],
        &["run", &example, "--batch", &missing],
        &["run", &example, "--engine", TRICKS],
        &["run", &example, &format!("--{TRICKS}")],
        &["grad", &rasm],
        &["grad", &example, "--loss", TRICKS],
        &["energy", &rasm],
        &["energy", &example, "--tech", &tech],
        &["energy", &example, "--tech", TRICKS],
        &["level", &rasm],
        &["asm", &rasm],
        &["asm", &fine, "--listing"],
        &["disasm", &rasm],
        &["disasm", &fine, "--listing"],
        &["compile", &nil],
        &["compile", &rasm],
        &["check", &rasm],
        &["check", &fine],
        &["invert", &rasm],
        &["invert", &jl],
        &["import", &pisa],
        &["import", &rasm],
        &["fmt", &rasm],
        &["fmt", "--check", &fine],
        &["isa", TRICKS],
        &["bench", TRICKS],
        &["completions", TRICKS],
        &["man", "--dir", &format!("{example}/{TRICKS}")],
        &[TRICKS],
    ];
    for call in calls {
        let (code, out, err) = pendula(folder.path(), call);
        harmless(call, &out);
        harmless(call, &err);
        assert!(code != 101, "{call:?}: {err}");
    }
    let (_, _, err) = pendula(folder.path(), &["run", &rasm]);
    assert!(err.contains(&format!("--> f{SHOWN}.rasm:2")), "{err}");
    // What programs read is exact.
    let (_, out, _) = pendula(folder.path(), &["check", &rasm, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(json["diagnostics"][0]["place"]["file"], rasm.as_str());
}

#[test]
fn a_technologys_name_is_no_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let toml = std::fs::read_to_string(repository().join("hw-model/technologies/cmos45.toml")).expect("the file");
    let name = toml.lines().find(|line| line.starts_with("name")).expect("a name");
    let tech = toml.replacen(name, "name = \"../a\\u001b\\u202e/b-1\"", 1);
    std::fs::write(folder.path().join("t.toml"), tech).expect("a file");
    let example = repository().join("examples/fib.rasm").display().to_string();
    let call = ["energy", &example, "--tech", "t.toml,t.toml", "--svg", "plots"];
    let (code, out, err) = pendula(folder.path(), &call);
    assert_eq!(code, 0, "{err}");
    harmless(&call, &out);
    let names: Vec<String> = std::fs::read_dir(folder.path().join("plots"))
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .filter(|name| name.starts_with("schedules"))
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let known = |name: &String| ["schedules-___a___b-1.svg", "schedules-___a___b-1-2.svg"].contains(&name.as_str());
    assert!(names.iter().all(known), "{names:?}");
}

/// A program whose input and output are so many doubles.
fn copies(len: usize) -> String {
    format!(
        " .data\n .import x\n .export y\nx: .space {len}, f\ny: .space 1, f\n .text\nmain: start\n add.f r1, [x]\n add.f [y], r1\n sub.f r1, [x]\n finish\n"
    )
}

#[test]
fn values_of_any_length_stand_in_a_table() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("p.rasm"), copies(10_000)).expect("a file");
    let row = |n: usize| format!("{}\n", vec![format!("{n}.0625"); 10_000].join(","));
    std::fs::write(folder.path().join("x.csv"), row(1) + &row(2)).expect("a file");
    let call = ["grad", "p.rasm", "--batch", "x=x.csv", "--loss", "y", "--wrt", "x,x[1]"];
    let (code, out, err) = pendula(folder.path(), &call);
    assert_eq!((code, err.as_str()), (0, ""));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 3, "{} lines", lines.len());
    // Whole, and the next column follows at once.
    let whole = |line: &&str| line.contains("[1.0, 0.0, 0.0, ") && line.ends_with(", 0.0]  0.0") && line.len() > 50_000;
    assert!(lines[1..].iter().all(whole), "{}", &lines[1][..100]);
}

#[test]
fn what_is_saved_is_not_printed_too() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("p.rasm"), copies(1).replace(".export y", ".export x, y")).expect("a file");
    // Several parts, of which the last is the widest.
    let count = 40_000;
    let items: String = (0..count).map(|n| format!("{}\n", n as f64 / 4.0)).collect();
    std::fs::write(folder.path().join("x.csv"), items).expect("a file");
    let run = |more: &[&str]| {
        let call: Vec<&str> = ["run", "p.rasm", "--batch", "x=x.csv"].into_iter().chain(more.iter().copied()).collect();
        pendula(folder.path(), &call)
    };
    let (code, out, err) = run(&["--save", "all.csv"]);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
    let saved = std::fs::read_to_string(folder.path().join("all.csv")).expect("the file");
    assert_eq!(run(&["-o", "-"]), (0, saved.clone(), String::new()));
    assert_eq!(run(&["-o", "-", "--json"]).0, 2);
    assert_eq!(saved.lines().count(), count + 1);
    let (_, out, _) = run(&["--save", "y=y.npy"]);
    assert!(out.starts_with("item   x\n0      0.0\n1      0.25\n"), "{}", &out[..100]);
    let bytes = std::fs::read(folder.path().join("y.npy")).expect("the file");
    let y: Vec<f64> = npyz::NpyFile::new(&bytes[..]).expect("an array").into_vec().expect("doubles");
    assert!(y.iter().enumerate().all(|(n, y)| *y == n as f64 / 4.0) && y.len() == count);
    // The whole table has each item once, whatever part it is in.
    let (_, out, _) = run(&[]);
    for (n, (line, wanted)) in out.lines().skip(1).zip(saved.lines().skip(1)).enumerate() {
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells.join(",") + ",", wanted, "item {n}");
    }
    assert_eq!(out.lines().count(), count + 1);
    let (_, out, _) = run(&["--json", "--jobs", "3"]);
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let items = json["items"].as_array().expect("items");
    assert!(items.iter().enumerate().all(|(n, item)| item["item"] == n && item["values"]["y"] == n as f64 / 4.0));
    assert_eq!(items.len(), count);
}

#[test]
fn memory_does_not_grow_with_the_items() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("p.rasm"), copies(1)).expect("a file");
    let items: String = (0..200_000).map(|n| format!("{n}.125\n")).collect();
    std::fs::write(folder.path().join("x.csv"), items).expect("a file");
    let program = assert_cmd::cargo::cargo_bin("pendula");
    // Results of all these items took 150 megabytes more than the program alone.
    let limited = "ulimit -d 120000; exec \"$0\" \"$@\"";
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(limited).arg(program).args(["run", "p.rasm", "--batch", "x=x.csv", "--jobs", "1"]);
    shell.args(["--engine", "interp", "--save", "out.csv"]).current_dir(folder.path());
    let output = shell.stdin(Stdio::null()).output().expect("runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
