//! `pendula dap`, driven as an editor drives it.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// An editor with an adapter.
struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    seq: u64,
    /// Events that came before what was waited for.
    events: VecDeque<Value>,
}

impl Editor {
    fn new() -> Editor {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("pendula"))
            .arg("dap")
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let mut editor = Editor { child, input, output, seq: 0, events: VecDeque::new() };
        let body = editor.request(
            "initialize",
            json!({ "adapterID": "pendula", "linesStartAt1": true, "supportsProgressReporting": true }),
        );
        assert_eq!(body["supportsStepBack"], true);
        editor
    }

    fn send(&mut self, command: &str, arguments: Value) -> u64 {
        self.seq += 1;
        let text =
            json!({ "seq": self.seq, "type": "request", "command": command, "arguments": arguments }).to_string();
        let input = self.input.as_mut().expect("open");
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("it listens");
        input.flush().expect("it listens");
        self.seq
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("a header") > 0, "the adapter has left");
            match line.trim_end() {
                "" => break,
                header => {
                    length = header.strip_prefix("Content-Length: ").expect("a length").parse().expect("a number")
                }
            }
        }
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).expect("a message");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    /// The response to a request.
    fn response(&mut self, seq: u64) -> Value {
        loop {
            let message = self.read();
            if message["type"] == "response" && message["request_seq"] == seq {
                return message;
            }
            self.events.push_back(message);
        }
    }

    #[track_caller]
    fn request(&mut self, command: &str, arguments: Value) -> Value {
        let seq = self.send(command, arguments.clone());
        let response = self.response(seq);
        assert_eq!(response["success"], true, "{command} {arguments}: {response}");
        response["body"].clone()
    }

    /// The message of a request that is refused.
    #[track_caller]
    fn refused(&mut self, command: &str, arguments: Value) -> String {
        let seq = self.send(command, arguments);
        let response = self.response(seq);
        assert_eq!(response["success"], false, "{response}");
        response["body"]["error"]["format"].as_str().expect("a message").to_string()
    }

    /// The next event of this name.
    fn event(&mut self, name: &str) -> Value {
        loop {
            let message = match self.events.pop_front() {
                Some(message) => message,
                None => self.read(),
            };
            if message["event"] == name {
                return message["body"].clone();
            }
        }
    }

    /// Launches a program; the run stops on entry.
    fn launch(&mut self, arguments: Value) {
        let mut all = json!({ "stopOnEntry": true });
        all.as_object_mut().expect("an object").extend(arguments.as_object().expect("an object").clone());
        self.request("launch", all);
        self.event("initialized");
        self.request("configurationDone", json!({}));
        assert_eq!(self.event("stopped")["reason"], "entry");
    }

    /// Moves the run: the reason why it stopped, and the line.
    #[track_caller]
    fn moved(&mut self, command: &str, arguments: Value) -> (String, u64) {
        self.request(command, arguments);
        let body = self.event("stopped");
        (body["reason"].as_str().expect("a reason").to_string(), self.line())
    }

    fn line(&mut self) -> u64 {
        self.request("stackTrace", json!({ "threadId": 1 }))["stackFrames"][0]["line"].as_u64().expect("a line")
    }

    fn value(&mut self, expression: &str) -> String {
        let body = self.request("evaluate", json!({ "expression": expression }));
        body["result"].as_str().expect("a value").to_string()
    }

    fn variables(&mut self, scope: usize) -> Vec<(String, String)> {
        let scopes = self.request("scopes", json!({ "frameId": 1 }));
        let reference = scopes["scopes"][scope]["variablesReference"].clone();
        let all = self.request("variables", json!({ "variablesReference": reference }));
        let text = |v: &Value| v.as_str().expect("a text").to_string();
        all["variables"].as_array().expect("a list").iter().map(|v| (text(&v["name"]), text(&v["value"]))).collect()
    }

    fn leave(mut self) {
        self.request("disconnect", json!({}));
        drop(self.input.take());
        assert!(self.child.wait().expect("it ends").success());
    }
}

fn path(file: &str) -> String {
    format!("{}/{file}", env!("CARGO_MANIFEST_DIR"))
}

fn step(reason: &str, line: u64) -> (String, u64) {
    (reason.to_string(), line)
}

#[test]
fn a_run_in_assembly_there_and_back() {
    let mut editor = Editor::new();
    let fib = path("examples/fib.rasm");
    editor.launch(json!({ "program": fib, "set": ["n=6"] }));
    let source = json!({ "path": fib });
    let set = editor.request(
        "setBreakpoints",
        json!({ "source": source, "breakpoints": [{ "line": 31, "condition": "r4 >= 2" }, { "line": 999 }] }),
    );
    assert_eq!((&set["breakpoints"][0]["verified"], &set["breakpoints"][0]["line"]), (&json!(true), &json!(31)));
    assert_eq!(set["breakpoints"][1]["verified"], false);
    assert_eq!(editor.moved("continue", json!({ "threadId": 1 })), step("breakpoint", 31));
    assert_eq!(editor.value("r4"), "2");
    assert_eq!(editor.value("r4 * 10 + 1"), "21");
    assert_eq!(editor.moved("next", json!({})), step("step", 32));
    assert_eq!(editor.moved("stepBack", json!({})), step("step", 31));
    assert_eq!(editor.moved("stepBack", json!({ "granularity": "instruction" })), step("step", 30));
    assert_eq!(editor.moved("stepIn", json!({ "granularity": "instruction" })), step("step", 31));
    let registers = editor.variables(1);
    assert!(registers.contains(&("r4".to_string(), "2".to_string())), "{registers:?}");
    // Going back to the start, then with other kinds of breakpoints.
    assert_eq!(editor.moved("reverseContinue", json!({})), step("step", 25));
    editor.request("setBreakpoints", json!({ "source": source, "breakpoints": [] }));
    let set =
        editor.request("setFunctionBreakpoints", json!({ "breakpoints": [{ "name": "top", "hitCondition": "3" }] }));
    assert_eq!(set["breakpoints"][0]["line"], 29);
    assert_eq!(editor.moved("continue", json!({})), step("function breakpoint", 29));
    assert_eq!(editor.value("r4"), "2");
    editor.request("setFunctionBreakpoints", json!({ "breakpoints": [] }));
    let info = editor.request("dataBreakpointInfo", json!({ "name": "r1" }));
    let id = info["dataId"].as_str().expect("an identity").to_string();
    editor.request("setDataBreakpoints", json!({ "breakpoints": [{ "dataId": id }] }));
    assert_eq!(editor.moved("continue", json!({})), step("data breakpoint", 31));
    assert_eq!(editor.moved("reverseContinue", json!({})), step("data breakpoint", 30));
    editor.request("setDataBreakpoints", json!({ "breakpoints": [] }));
    editor.request(
        "setInstructionBreakpoints",
        json!({ "breakpoints": [{ "instructionReference": "0x4", "offset": 3 }] }),
    );
    assert_eq!(editor.moved("continue", json!({})), step("instruction breakpoint", 32));
    editor.request("setInstructionBreakpoints", json!({ "breakpoints": [] }));
    let targets = editor.request("gotoTargets", json!({ "source": source, "line": 33 }));
    let last = targets["targets"][1]["id"].clone();
    assert_eq!(editor.moved("goto", json!({ "threadId": 1, "targetId": last })), step("goto", 33));
    assert_eq!(editor.value("r4"), "2");
    editor.leave();
}

#[test]
fn what_an_editor_looks_at() {
    let mut editor = Editor::new();
    let fib = path("examples/fib.rasm");
    let early = editor.refused("stackTrace", json!({}));
    assert!(early.contains("launch"), "{early}");
    editor.launch(json!({ "program": fib, "maxSteps": 1000 }));
    let threads = editor.request("threads", json!({}));
    assert_eq!(threads["threads"][0]["id"], 1);
    let sources = editor.request("loadedSources", json!({}));
    assert_eq!(sources["sources"][0]["name"], "fib.rasm");
    let code = editor
        .request("disassemble", json!({ "memoryReference": "0x0", "instructionOffset": -2, "instructionCount": 5 }));
    let all = code["instructions"].as_array().expect("a list");
    assert_eq!((all.len(), &all[0]["presentationHint"]), (5, &json!("invalid")));
    assert!(all[3]["instruction"].as_str().expect("a text").starts_with("add"), "{all:?}");
    let memory = editor.request("readMemory", json!({ "memoryReference": "0x0", "count": 8 }));
    assert_eq!(memory["data"], "EgAAAAAAAAA=");
    let lines = editor.request("breakpointLocations", json!({ "source": { "path": fib }, "line": 20, "endLine": 28 }));
    assert_eq!(lines["breakpoints"], json!([{ "line": 25 }, { "line": 26 }, { "line": 27 }, { "line": 28 }]));
    let completed = editor.request("completions", json!({ "text": "rcon", "column": 5 }));
    assert_eq!(completed["targets"][0]["label"], "rcontinue");
    let changed = editor.request("setExpression", json!({ "expression": "n", "value": "3" }));
    assert_eq!(changed["value"], "3");
    let scopes = editor.request("scopes", json!({ "frameId": 1 }));
    let reference = scopes["scopes"][0]["variablesReference"].clone();
    let changed = editor.request("setVariable", json!({ "variablesReference": reference, "name": "n", "value": "4" }));
    assert_eq!(changed["value"], "4");
    // The console takes the commands of `pendula debug`; one that moves is told as a stop.
    editor.request("evaluate", json!({ "expression": "end", "context": "repl" }));
    assert_eq!(editor.event("stopped")["reason"], "step");
    assert_eq!(editor.value("r1"), "3");
    let wrong = editor.refused("evaluate", json!({ "expression": "q", "context": "watch" }));
    assert!(wrong.contains('q'), "{wrong}");
    assert!(editor.refused("exceptionInfo", json!({})).contains("no trap"));
    assert!(editor.refused("attach", json!({})).contains("attach"));
    editor.leave();
}

#[test]
fn variables_calls_and_output_of_a_compiled_program() {
    let mut editor = Editor::new();
    let ja = path("examples/fib.ja");
    editor.launch(json!({ "program": ja }));
    let source = json!({ "path": ja });
    editor.request("setBreakpoints", json!({ "source": source, "breakpoints": [{ "line": 9 }] }));
    assert_eq!(editor.moved("continue", json!({})), step("breakpoint", 9));
    editor.request("setBreakpoints", json!({ "source": source, "breakpoints": [] }));
    assert_eq!(editor.moved("stepIn", json!({})), step("step", 4));
    let stack = editor.request("stackTrace", json!({ "threadId": 1, "startFrame": 1, "levels": 1 }));
    assert_eq!((&stack["totalFrames"], &stack["stackFrames"][0]["name"]), (&json!(3), &json!("fib")));
    assert_eq!(editor.moved("stepOut", json!({})), step("step", 10));
    assert!(editor.variables(0).iter().any(|(name, _)| name == "x1"));
    // A vector can be opened.
    let nil = path("examples/affine.nil");
    let launched = editor.request(
        "restart",
        json!({ "arguments": { "program": nil, "args": "[0.0,0.0],[1.0 2.0; 3.0 4.0],[5.0,6.0],[7.0,8.0]", "stopOnEntry": true } }),
    );
    assert_eq!(launched, json!({}));
    editor.event("initialized");
    editor.request("configurationDone", json!({}));
    editor.event("stopped");
    editor.moved("stepIn", json!({}));
    let scopes = editor.request("scopes", json!({ "frameId": 1 }));
    let all = editor.request("variables", json!({ "variablesReference": scopes["scopes"][0]["variablesReference"] }));
    let array = all["variables"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|v| v["variablesReference"] != 0)
        .expect("an array")
        .clone();
    let words = editor
        .request("variables", json!({ "variablesReference": array["variablesReference"], "start": 1, "count": 1 }));
    assert_eq!(words["variables"].as_array().expect("a list").len(), 1, "{array}: {words}");
    editor.leave();
}

#[test]
fn a_trap_is_an_exception() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("stops.rasm");
    std::fs::write(&file, "main: start\n print \"here\"\n inc r1\n assert.eq r1, 2\n finish\n").expect("written");
    let mut editor = Editor::new();
    editor.request("launch", json!({ "program": file }));
    editor.event("initialized");
    editor.request("setExceptionBreakpoints", json!({ "filters": ["trap"] }));
    editor.request("configurationDone", json!({}));
    assert_eq!(editor.event("output")["output"], "here\n");
    let stopped = editor.event("stopped");
    assert_eq!((&stopped["reason"], editor.line()), (&json!("exception"), 4));
    let info = editor.request("exceptionInfo", json!({ "threadId": 1 }));
    assert!(info["exceptionId"].as_str().expect("a code").starts_with('P'), "{info}");
    editor.request("stepBack", json!({}));
    editor.event("stopped");
    editor.request("stepBack", json!({}));
    assert_eq!(editor.event("output")["output"], "(output taken back)\n");
    // Without the debugger, the run ends with an exit status.
    editor.request("restart", json!({ "arguments": { "program": file, "noDebug": true } }));
    editor.event("initialized");
    editor.request("configurationDone", json!({}));
    assert_eq!(editor.event("exited")["exitCode"], 1);
    editor.event("terminated");
    let wrong = editor.send("launch", json!({ "program": "nowhere.rasm" }));
    // The session goes on until the editor leaves.
    assert_eq!(editor.response(wrong)["success"], false);
    editor.leave();
}

#[test]
fn a_long_run_pauses_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("long.rasm");
    let text = "main: start\n inc r2\ntop: from.ne r1, 0, bottom\n inc r1\nbottom: jmp.ne r1, r3, top\n finish\n";
    std::fs::write(&file, text).expect("written");
    let mut editor = Editor::new();
    editor.launch(json!({ "program": file }));
    editor.request("continue", json!({ "threadId": 1 }));
    std::thread::sleep(std::time::Duration::from_millis(50));
    editor.request("pause", json!({ "threadId": 1 }));
    assert_eq!(editor.event("stopped")["reason"], "pause");
    let reached: u64 = editor.value("r1").parse().expect("a number");
    assert!(reached > 0);
    assert_eq!(editor.moved("reverseContinue", json!({})), step("step", 1));
    let wrong = editor.refused("launch", json!({ "program": file, "maxStep": 1 }));
    assert!(wrong.contains("launch") || wrong.contains("maxStep"), "{wrong}");
    // An editor is told of a run that takes long, and may end it.
    editor.request("continue", json!({ "threadId": 1 }));
    let begun = editor.event("progressStart");
    assert_eq!((&begun["title"], &begun["cancellable"]), (&json!("Running"), &json!(true)));
    let more = editor.event("progressUpdate");
    assert_eq!(more["progressId"], begun["progressId"]);
    assert!(more["message"].as_str().is_some_and(|m| m.starts_with("step ")), "{more}");
    editor.request("cancel", json!({ "progressId": begun["progressId"] }));
    assert_eq!(editor.event("progressEnd")["progressId"], begun["progressId"]);
    assert_eq!(editor.event("stopped")["reason"], "pause");
    editor.leave();
}

#[test]
fn messages_that_are_none_end_the_session() {
    for text in [
        "hello\r\n\r\n",
        "Content-Length: 99999999999\r\n\r\n",
        "Content-Length: 4\r\n\r\n{{{{",
        "Content-Length: 10\r\n\r\n{}",
    ] {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("pendula"))
            .arg("dap")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary");
        child.stdin.take().expect("its input").write_all(text.as_bytes()).expect("it listens");
        assert!(child.wait().expect("it ends").success());
    }
}
