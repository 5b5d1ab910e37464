//! `--trace-json`: a file of Chrome trace events, whole and properly nested however the command ends.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{pendula, repository};

/// The events of a file, whose spans are seen to be properly nested on each thread.
fn events(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("the file");
    let events: Vec<Value> = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    let (mut open, mut last): (BTreeMap<u64, u64>, f64) = (BTreeMap::new(), 0.0);
    assert_eq!((&events[0]["ph"], &events[0]["name"]), (&"M".into(), &"process_name".into()));
    for event in &events[1..] {
        let time = event["ts"].as_f64().expect("a time");
        assert!(time >= last && event["pid"].is_u64(), "{event}");
        last = time;
        let open = open.entry(event["tid"].as_u64().expect("a thread")).or_default();
        match event["ph"].as_str() {
            Some("B") => {
                assert!(event["name"].is_string() && event["cat"].is_string() && event["args"].is_object(), "{event}");
                *open += 1;
            }
            Some("E") => *open = open.checked_sub(1).unwrap_or_else(|| panic!("nothing is open: {event}")),
            Some("i") => assert!(event["name"].is_string(), "{event}"),
            _ => panic!("{event}"),
        }
    }
    assert!(open.values().all(|n| *n == 0), "{text}");
    events
}

/// The names of the spans, in their order.
fn spans(events: &[Value]) -> Vec<&str> {
    events.iter().filter(|e| e["ph"] == "B").filter_map(|e| e["name"].as_str()).collect()
}

#[test]
fn a_run_is_traced_from_the_source_to_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.json");
    let name = path.display().to_string();
    let plain = ["run", "examples/exp.nil", "--args", "0.0,1.0"];
    let expected = pendula(repository(), &plain);
    assert_eq!(pendula(repository(), &[&plain[..], &["--trace-json", &name]].concat()), expected);
    let events = events(&path);
    let spans = spans(&events);
    let at = |name: &str| spans.iter().position(|s| *s == name).unwrap_or_else(|| panic!("{name}: {spans:?}"));
    let order = ["read", "compile", "parse", "check", "optimise", "pass fold", "lower", "run"].map(at);
    assert!(order.is_sorted(), "{spans:?}");
    let end = events.iter().find(|e| e["ph"] == "E" && e["args"]["name"] == "fold").expect("the end of a pass");
    assert!(end["args"]["statements"].as_u64() > Some(0) && end["args"]["after"].is_u64(), "{end}");
    let run = events.iter().find(|e| e["name"] == "run").expect("a run");
    assert_eq!(run["args"]["direction"], "Forward", "{run}");
    // Nothing else lies beside it.
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn what_fails_is_traced_to_where_it_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, trap) = (folder.path().join("t.json"), folder.path().join("trap.rasm"));
    std::fs::write(&trap, "main: start\n assert.eq r1, 1\n finish\n").expect("a file");
    let (name, trap) = (path.display().to_string(), trap.display().to_string());
    let (code, _, err) = pendula(repository(), &["run", &trap, "--trace-json", &name]);
    assert!(code == 1 && err.contains("error["), "{err}");
    let found = events(&path);
    assert!(["parse", "assemble", "run"].iter().all(|name| spans(&found).contains(name)), "{found:?}");
    let (code, _, _) = pendula(repository(), &["run", "missing.rasm", "--trace-json", &name]);
    assert_eq!((code, spans(&events(&path))), (2, vec!["read"]));
}

#[test]
fn items_of_a_batch_are_traced() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("batch.json");
    let args = ["run", "examples/fib.rasm", "--batch", "n=tests/data/items.csv", "--trace-json"];
    let (code, _, err) = pendula(repository(), &[&args[..], &[&path.display().to_string()]].concat());
    assert_eq!(code, 0, "{err}");
    let events = events(&path);
    let batch = events.iter().find(|e| e["name"] == "batch").expect("a batch");
    let items = spans(&events).iter().filter(|name| **name == "item").count();
    assert!(items > 0 && batch["args"]["items"] == items, "{items}: {batch}");
}

#[test]
fn a_trace_that_cannot_be_written_is_an_error() {
    let (code, out, err) = pendula(repository(), &["run", "examples/fib.rasm", "--trace-json", "/dev/full"]);
    assert!(code == 2 && out.contains("r1 = ") && err.contains("cannot write /dev/full"), "{code}: {out}{err}");
    let (code, _, err) = pendula(repository(), &["run", "examples/fib.rasm", "--trace-json", "/no/folder/t.json"]);
    assert!(code == 2 && err.contains("cannot write /no/folder/t.json"), "{code}: {err}");
}

#[test]
fn ctrl_c_leaves_a_whole_trace() {
    const ENDLESS: &str = "main: start\ntop: from.ne r1, r0, end\n inc r1\nend: jmp.ne r1, r0, top\n finish\n";
    let folder = tempfile::tempdir().expect("a folder");
    // Where steps are not counted, the process ends in the middle of the run.
    for more in [&["--max-steps", "1000000000000000"][..], &[]] {
        let path = folder.path().join("t.json");
        // Tests may be run in the background, where the signal is ignored.
        let mut command = Command::new("env");
        command.args(["--default-signal=INT", env!("CARGO_BIN_EXE_pendula"), "run", "-", "--trace-json"]).arg(&path);
        command.args(more).env("RUST_LOG", "pendula=debug").stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it begins");
        child.stdin.take().expect("a pipe").write_all(ENDLESS.as_bytes()).expect("it reads");
        let mut err = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
        assert!(err.any(|line| line.contains("from here on, Ctrl-C")), "it has ended before");
        std::thread::sleep(std::time::Duration::from_millis(500));
        let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(status.expect("kill runs").success());
        let rest: Vec<String> = err.collect();
        assert_eq!(child.wait().expect("it ends").code(), Some(130), "{rest:?}");
        assert!(spans(&events(&path)).contains(&"run"));
    }
}
