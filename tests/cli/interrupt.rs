//! Runs that are stopped by Ctrl-C, a limit or a trap report how far they came, and with which values.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};

use serde_json::Value;

use super::{folder, json, run};

/// Counts in r1 without end.
const ENDLESS: &str = "main: start\ntop: from.ne r1, r0, end\n inc r1\nend: jmp.ne r1, r0, top\n finish\n";

/// A program that is told to begin, and heeds Ctrl-C.
fn begun(args: &[&str], input: &str) -> (Child, BufReader<std::process::ChildStderr>) {
    // Tests may be run in the background, where the signal is ignored.
    let mut command = std::process::Command::new("env");
    command.args(["--default-signal=INT", env!("CARGO_BIN_EXE_pendula")]);
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(args).env("RUST_LOG", "pendula=debug").env("NO_COLOR", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it begins");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
    let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains("from here on, Ctrl-C") {
        line.clear();
        assert!(err.read_line(&mut line).expect("text") > 0, "{args:?} has ended before");
    }
    (child, err)
}

fn press(child: &Child) {
    let status = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.expect("kill runs").success());
}

/// A limit that no run comes to: steps are counted then, as they are on a terminal.
const COUNTED: [&str; 2] = ["--max-steps", "1000000000000000"];

/// Exit status, standard output and standard error of a program that is interrupted half a second after it has begun.
fn interrupted(args: &[&str], input: &str) -> (Option<i32>, String, String) {
    ended(&[args, &COUNTED].concat(), input)
}

fn ended(args: &[&str], input: &str) -> (Option<i32>, String, String) {
    let (mut child, mut err) = begun(args, input);
    std::thread::sleep(std::time::Duration::from_millis(500));
    press(&child);
    let (mut out, mut said) = (String::new(), String::new());
    child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("text");
    err.read_to_string(&mut said).expect("text");
    (child.wait().expect("it ends").code(), out, said)
}

#[test]
fn ctrl_c_ends_a_run_with_its_state() {
    for engine in ["interp", "jit"] {
        let (code, out, err) = interrupted(&["run", "-", "--engine", engine], ENDLESS);
        assert_eq!(code, Some(130), "{out}{err}");
        assert!(err.contains("error[P0146]: the run was interrupted"), "{err}");
        assert!(err.contains("<stdin>:") && err.contains("the next instruction"), "{err}");
        assert!(
            out.starts_with("stopped after ") && out.contains("instructions, on the way forward, with:\nr1 = "),
            "{out}"
        );
    }
    let (code, out, err) = interrupted(&["run", "-", "--json", "--show", "r1"], ENDLESS);
    let value: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
    assert_eq!((code, &value["outcome"]["kind"]), (Some(130), &"interrupted".into()), "{out}");
    assert_eq!(
        (&value["outcome"]["code"], &value["outcome"]["direction"]),
        (&"P0146".into(), &"forward".into()),
        "{out}"
    );
    let (ran, counted) = (value["outcome"]["executed"].as_u64(), value["values"]["r1"].as_u64());
    assert!(ran.is_some_and(|n| n > 1000) && counted.is_some_and(|n| 3 * n + 10 > ran.unwrap_or(0)), "{out}");
    // Each turn is of three instructions; the run back is one, too.
    let back = ".data\n.export x\nx: .word 7\n.text\nmain: start\ntop: from.ne r1, r0, end\n inc r1\nend: jmp.ne r1, r5, top\n finish\n";
    let (code, out, err) = interrupted(&["run", "-", "--reverse", "--set", "r1=-1", "--set", "r5=-1"], back);
    assert_eq!((code, out.contains("on the way backward, with:\nx = 7\n")), (Some(130), true), "{out}{err}");
}

/// Where nobody looks on, a run looks at nothing, either.
#[test]
fn ctrl_c_ends_the_program_where_steps_are_not_counted() {
    for engine in ["interp", "jit"] {
        let (code, out, err) = ended(&["run", "-", "--engine", engine], ENDLESS);
        assert_eq!((code, out.as_str()), (Some(130), ""), "{err}");
        assert!(
            err.contains("error[P0146]: the run was interrupted; its steps are counted on a terminal only"),
            "{err}"
        );
        assert!(err.contains("with `--max-steps N` the program runs in parts"), "{err}");
    }
}

#[test]
fn ctrl_c_ends_gradients_and_batches() {
    let differentiated = ".data\n.import x\nx: .fixed 2\n.export y\ny: .fixed 0\n.text\nmain: start\n add.q r2, 1\n exch r2, [y]\n\
                          top: from.ne r1, r0, end\n inc r1\nend: jmp.ne r1, r0, top\n finish\n";
    let (code, out, err) = interrupted(&["grad", "-"], differentiated);
    assert_eq!(code, Some(130), "{out}{err}");
    assert!(err.contains("error[P0146]") && out.contains("on the way forward, with:\ny = 1.0\nr1 = "), "{out}{err}");
    let (code, out, err) = interrupted(&["grad", "-", "--json"], differentiated);
    let value: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
    assert_eq!(
        (code, &value["outcome"]["kind"], &value["values"]["y"]),
        (Some(130), &"interrupted".into(), &"1.0".into())
    );

    let folder = folder("interrupted");
    let path = |name: &str| folder.join(name).to_str().expect("UTF-8").to_string();
    // The first item ends at once, the others never do.
    let program = ".data\n.import n\nn: .word 0\n.export m\nm: .word 5\n.text\nmain: start\n exch r2, [n]\n\
                   top: from.ne r1, r0, end\n inc r1\nend: jmp.ne r1, r2, top\n finish\n";
    std::fs::write(path("p.rasm"), program).expect("written");
    std::fs::write(path("n.csv"), "1\n0\n0\n0\n").expect("written");
    let batch = ["run", &path("p.rasm"), "--batch", &path("n.csv"), "--jobs", "2"];
    let (code, out, err) = interrupted(&batch, "");
    assert_eq!(code, Some(130), "{out}{err}");
    assert!(out.contains("\n0 ") && out.contains("error[P0146]: interrupted"), "{out}{err}");
    assert!(err.contains("interrupted when 1 of 4 items were done"), "{err}");
    let (code, out, err) = interrupted(&[&batch[..], &["--json"]].concat(), "");
    let value: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
    assert_eq!((code, &value["outcome"]["kind"]), (Some(130), &"interrupted".into()), "{out}");
    assert_eq!((&value["outcome"]["done"], &value["outcome"]["of"]), (&1.into(), &4.into()), "{out}");
    let saved = path("out.csv");
    let (code, _, err) = interrupted(&[&batch[..], &["--save", &saved]].concat(), "");
    assert_eq!((code, err.contains("no file was written")), (Some(130), true), "{err}");
    assert!(!std::path::Path::new(&saved).exists());
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn ctrl_c_ends_a_compiled_run_with_what_can_be_told() {
    let janus = "procedure main()\n    int n\n    int twice\n    from n = 0 do\n        n += 1\n        twice += 2\n    until n < 0\n";
    let folder = folder("compiled");
    let file = folder.join("p.ja");
    std::fs::write(&file, janus).expect("written");
    let file = file.to_str().expect("UTF-8");
    let (code, out, err) = interrupted(&["run", file], "");
    assert_eq!((code, err.contains("error[P0146]")), (Some(130), true), "{out}{err}");
    let number = |name: &str| -> i64 {
        let line = out.lines().find_map(|l| l.strip_prefix(&format!("{name} = ")));
        line.and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{out}"))
    };
    let (n, twice) = (number("n"), number("twice"));
    assert!(n > 1000 && (twice == 2 * n || twice == 2 * n - 2), "{out}");
    assert!(out.starts_with("stopped after ") && out.contains("p.ja:") && out.contains(" times, with:\n"), "{out}");
    let (code, out, _) = interrupted(&["run", file, "--json"], "");
    let value: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}"));
    let reached = &value["outcome"]["stop"]["reached"];
    let values = if reached["of"].is_null() { &value["values"] } else { &value["earlier"]["values"] };
    assert_eq!((code, values["n"].as_i64().is_some_and(|n| n > 1000)), (Some(130), true), "{out}");
    std::fs::remove_dir_all(&folder).expect("removed");
}

/// A run in C tells the turn of its outermost loop, of any kind.
#[test]
fn ctrl_c_ends_a_run_in_c_with_the_turn_of_its_loop() {
    let folder = folder("turns");
    let file = folder.join("p.nil");
    let nil = "@i function sums(y!, n::Int)\n    for i = 1:n\n        y! += 1.0 / i\n    end\nend\n\
               @i function downward(y!, n::Int)\n    for i = n:-2:2\n        y! += 1.0 / i\n    end\nend\n\
               @i function nested(y!, n::Int)\n    for twice = 1:2\n        for i = 1:n, j = 1:1000\n            y! += 1.0 / (i + j)\n        end\n    end\nend\n\
               @i function endless(k!, n::Int)\n    @from k! == 0 while k! < n\n        k! += 1\n        for j = 1:1000\n            k! ⊻= j\n            k! ⊻= j\n        end\n    end\nend\n";
    std::fs::write(&file, nil).expect("written");
    let file = file.to_str().expect("UTF-8");
    const N: u64 = 4_000_000_000_000;
    for (name, first, line, of) in [
        ("sums", "0.0", 2, Some(N)),
        ("downward", "0.0", 7, Some(N / 2)),
        ("nested", "0.0", 13, Some(N)),
        ("endless", "0", 19, None),
    ] {
        let given = format!("{first},{N}");
        let args = ["run", file, "--entry", name, "--args", &given, "--engine", "native"];
        let (code, out, err) = ended(&args, "");
        let (_, told) = err.split_once(", and was in turn ").unwrap_or_else(|| panic!("{name}: {out}{err}"));
        let turn: u64 = told.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{told}"));
        let of_text = of.map_or(String::new(), |of| format!(" of {of}"));
        assert!(told.starts_with(&format!("{turn}{of_text} of the loop at {file}:{line}\n")), "{name}: {told}");
        assert_eq!((code, turn > 1 && turn < N / 4), (Some(130), true), "{name}: {err}");
        let (code, out, err) = ended(&[&args[..], &["--json"]].concat(), "");
        let value: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
        let told = &value["outcome"]["loop"];
        let expected = (Some(130), u64::from(line as u32), of);
        assert_eq!((code, told["line"].as_u64().unwrap_or(0), told["of"].as_u64()), expected, "{name}: {out}");
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn a_second_ctrl_c_ends_the_program_at_once() {
    let janus = "procedure main()\n    int n\n    from n = 0 do\n        n += 1\n    until n < 0\n";
    let folder = folder("twice");
    let file = folder.join("p.ja");
    std::fs::write(&file, janus).expect("written");
    // Between the first and the second, the run is made once more for its variables.
    let (mut child, mut err) = begun(&["run", file.to_str().expect("UTF-8"), COUNTED[0], COUNTED[1]], "");
    std::thread::sleep(std::time::Duration::from_millis(300));
    press(&child);
    std::thread::sleep(std::time::Duration::from_millis(300));
    press(&child);
    let mut said = String::new();
    err.read_to_string(&mut said).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{said}");
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn a_compiled_program_tells_its_variables_at_a_limit() {
    let folder = folder("limit");
    let path = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("written");
        path.to_str().expect("UTF-8").to_string()
    };
    let janus = path(
        "p.ja",
        "procedure main()\n    int n\n    int twice\n    from n = 0 do\n        n += 1\n        twice += 2\n    until n = 1000\n",
    );
    for level in ["-O0", "-O2"] {
        let (code, out, err) = run(&["run", &janus, "--max-steps", "600", level], "");
        assert_eq!((code, err.contains("error[P0130]")), (1, true), "{err}");
        let head = out.lines().next().unwrap_or("");
        assert!(head.starts_with("stopped after 600 instructions, on the way forward, before "), "{out}");
        assert!(head.ends_with(" times, with:") && head.contains("p.ja:"), "{out}");
        let number = |name: &str| -> i64 {
            let line = out.lines().find_map(|l| l.strip_prefix(&format!("{name} = ")));
            line.and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{out}"))
        };
        let (n, twice) = (number("n"), number("twice"));
        assert!(n > 20 && (twice == 2 * n || twice == 2 * n - 2), "{out}");
        assert!(err.contains("in `main`: n = "), "{err}");
    }
    let (code, value) = json(&["run", &janus, "--max-steps", "600", "--json"], "");
    assert_eq!((code, &value["outcome"]["kind"]), (1, &"limit".into()));
    assert!(value["values"]["n"].as_i64().is_some_and(|n| n > 20), "{value}");
    assert!(value["outcome"]["stop"]["reached"]["line"].as_u64().is_some_and(|n| (4..8).contains(&n)), "{value}");
    // The run back stops, too: the results of the run forward are there, and where the other one is.
    let (_, full) = json(&["run", &janus, "--stats", "--json"], "");
    let steps = full["stats"]["instructions"].as_u64().expect("a number") + 300;
    let (code, value) = json(&["run", &janus, "--round-trip", "--max-steps", &steps.to_string(), "--json"], "");
    assert_eq!((code, &value["values"]["n"], &value["outcome"]["direction"]), (1, &1000.into(), &"backward".into()));
    assert!(value["at_stop"]["values"]["n"].as_i64().is_some_and(|n| (850..1000).contains(&n)), "{value}");

    let nil = path("f.nil", "@i function f(y!, x)\n    for i in 1:1000\n        y! += x * i\n    end\nend\n");
    let (code, out, err) = run(&["run", &nil, "--args", "0,3", "--max-steps", "500"], "");
    assert_eq!((code, err.contains("error[P0130]")), (1, true), "{err}");
    let y = out.lines().find_map(|l| l.strip_prefix("y! = ")).and_then(|n| n.parse::<i64>().ok());
    assert!(y.is_some_and(|y| y > 0 && y % 3 == 0), "{out}{err}");
    assert!(err.contains("in `f`: ") && err.contains("the values are those before this"), "{err}");

    // A trap tells them exactly.
    let traps =
        path("t.ja", "procedure main()\n    int n\n    n += 5\n    if n = 5 then\n        n += 1\n    fi n = 5\n");
    let (code, out, _) = run(&["run", &traps], "");
    assert_eq!((code, out.contains("on the way forward, with:\nn = 6\n")), (1, true), "{out}");
    std::fs::remove_dir_all(&folder).expect("removed");
}
