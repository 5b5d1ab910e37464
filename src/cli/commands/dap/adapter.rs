//! A session with an editor: its requests, and what is told it of the run.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;

use pendula::debug::{Arrival, BreakpointKind, Calls, Halt, Location, Session};
use serde_json::{Map, Value, json};

use super::look::Seen;
use super::wire::Editor;
use crate::cli::commands::debug::{Interpreter, Texts, text};

/// The only thread.
const THREAD: u64 = 1;

/// What comes after a session.
pub(super) enum After {
    /// The editor has left.
    Leave,
    /// Another program may be launched.
    Stay,
    /// The same program again, for this request.
    Again(Value),
}

/// How breakpoints are told apart by the requests that set them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Source(String),
    Functions,
    Instructions,
    Data,
}

/// A session with an editor.
pub(super) struct Adapter<'e, 'p, 's> {
    editor: &'e Editor,
    pub(super) interpreter: Interpreter<'s, 'p>,
    pub(super) sources: Texts<'s>,
    pub(super) attributes: &'e Map<String, Value>,
    /// The numbers of the breakpoints of each group.
    groups: BTreeMap<Group, Vec<u32>>,
    /// What the editor has been shown since the run stopped, by its reference.
    pub(super) seen: Vec<Seen>,
    /// Whether a trap stops the run as such.
    traps: bool,
    /// The last halt, for `exceptionInfo`.
    pub(super) halt: Halt,
}

/// The result of a request: what it answers, and whether the run has moved.
type Answer = Result<(Value, Option<Halt>), String>;

impl<'e, 'p, 's> Adapter<'e, 'p, 's> {
    pub(super) fn new(
        editor: &'e Editor,
        session: Session<'p>,
        sources: Texts<'s>,
        attributes: &'e Map<String, Value>,
    ) -> Adapter<'e, 'p, 's> {
        Adapter {
            editor,
            interpreter: Interpreter::new(session, sources, None),
            sources,
            attributes,
            groups: BTreeMap::new(),
            seen: Vec::new(),
            traps: true,
            halt: Halt::Arrived(Arrival::Start),
        }
    }

    pub(super) fn session(&self) -> &Session<'p> {
        &self.interpreter.session
    }

    fn flag(&self, name: &str) -> bool {
        self.attributes.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Answers requests until the editor leaves, or begins again.
    pub(super) fn run(&mut self, requests: &Receiver<Value>, launch: &Value) -> anyhow::Result<After> {
        self.editor.answer(launch, Ok(json!({})))?;
        self.editor.event("initialized", json!({}))?;
        while let Ok(request) = requests.recv() {
            let command = request["command"].as_str().unwrap_or("").to_string();
            match command.as_str() {
                "disconnect" | "terminate" => {
                    self.editor.answer(&request, Ok(json!({})))?;
                    if command == "terminate" {
                        self.editor.event("terminated", json!({}))?;
                        continue;
                    }
                    return Ok(After::Leave);
                }
                "restart" => return Ok(After::Again(request)),
                "configurationDone" => {
                    self.editor.answer(&request, Ok(json!({})))?;
                    self.begin()?;
                }
                "pause" | "cancel" => {
                    self.editor.answer(&request, Ok(json!({})))?;
                    // The run has stopped before this is read; what asked it to has been heeded.
                    self.editor.pause.store(false, Ordering::Relaxed);
                }
                command => {
                    let moves = is_movement(command);
                    if moves {
                        // An editor expects the answer before the run goes on.
                        self.editor.answer(&request, Ok(json!({ "allThreadsContinued": true })))?;
                    }
                    self.editor.begin_movement();
                    let result = self.request(command, &request["arguments"]);
                    self.editor.end_movement()?;
                    match result {
                        Ok((body, halt)) => {
                            if !moves {
                                self.editor.answer(&request, Ok(body))?;
                            }
                            if let Some(halt) = halt {
                                self.stopped(&halt, moved_by(command))?;
                            }
                        }
                        Err(error) if moves => {
                            self.editor.event("output", json!({ "category": "important", "output": error + "\n" }))?;
                            self.stopped(&Halt::Arrived(Arrival::There), "step")?;
                        }
                        Err(error) => self.editor.answer(&request, Err(error))?,
                    }
                }
            }
        }
        Ok(After::Leave)
    }

    /// Begins the run: to its end, to the first breakpoint, or not yet.
    fn begin(&mut self) -> anyhow::Result<()> {
        if self.flag("noDebug") {
            self.interpreter.session.delete_all();
            let halt = self.go_on()?;
            self.show_output()?;
            let failed = match &halt {
                Halt::Arrived(Arrival::Trap(trap)) => {
                    let why = text::trap(self.session(), self.sources, trap);
                    self.editor.event("output", json!({ "category": "stderr", "output": why }))?;
                    true
                }
                _ => false,
            };
            self.editor.event("exited", json!({ "exitCode": i32::from(failed) }))?;
            return self.editor.event("terminated", json!({}));
        }
        if self.flag("stopOnEntry") {
            return self.stopped(&Halt::Arrived(Arrival::Start), "entry");
        }
        let halt = self.go_on()?;
        self.stopped(&halt, "step")
    }

    /// Runs on to a breakpoint, or to the end.
    fn go_on(&mut self) -> anyhow::Result<Halt> {
        self.editor.begin_movement();
        let halt = self.interpreter.session.go_on();
        self.editor.end_movement()?;
        Ok(halt)
    }

    /// Tells that the run has stopped, and what the program has shown.
    fn stopped(&mut self, halt: &Halt, reason: &str) -> anyhow::Result<()> {
        self.seen.clear();
        if matches!(halt, Halt::Arrived(Arrival::Trap(_))) {
            self.interpreter.session.to_statement();
        }
        self.halt = halt.clone();
        self.show_output()?;
        let mut body = json!({ "threadId": THREAD, "allThreadsStopped": true });
        let (reason, description) = match halt {
            Halt::Arrived(Arrival::There | Arrival::Stop) => (reason, String::new()),
            Halt::Arrived(Arrival::Start) if reason == "entry" => ("entry", String::new()),
            Halt::Arrived(Arrival::Start) => ("step", "At the start of the run".to_string()),
            Halt::Arrived(Arrival::End) => ("step", "At the end of the run".to_string()),
            Halt::Arrived(Arrival::Paused) => ("pause", String::new()),
            Halt::Arrived(Arrival::Limit) => ("step", "As far as maxSteps lets the run go".to_string()),
            Halt::Arrived(Arrival::Trap(trap)) => {
                let why = text::trap(self.session(), self.sources, trap);
                body["text"] = json!(why.lines().next().unwrap_or(""));
                if !self.traps {
                    self.editor.event("output", json!({ "category": "stderr", "output": why }))?;
                }
                (if self.traps { "exception" } else { "step" }, "At a trap".to_string())
            }
            Halt::Breakpoint(number) => {
                body["hitBreakpointIds"] = json!([number]);
                let data = |b: &&pendula::debug::Breakpoint| b.number == *number;
                let kind = self.session().breakpoints().iter().find(data).map(|b| &b.kind);
                let reason = match kind {
                    Some(BreakpointKind::Code { location: Location::Name(_), .. }) => "function breakpoint",
                    Some(BreakpointKind::Code { location: Location::Address(_), .. }) => "instruction breakpoint",
                    _ => "breakpoint",
                };
                (reason, String::new())
            }
            Halt::Changed { number, before, after } => {
                body["hitBreakpointIds"] = json!([number]);
                ("data breakpoint", format!("Changed from {before} to {after}"))
            }
        };
        body["reason"] = json!(reason);
        if !description.is_empty() {
            body["description"] = json!(description);
        }
        self.editor.event("stopped", body)?;
        // What asked for a pause has been heeded.
        self.editor.pause.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Sends what the program has shown since the last time, or says what was taken back.
    fn show_output(&mut self) -> anyhow::Result<()> {
        let out = self.interpreter.events();
        if out.is_empty() {
            return Ok(());
        }
        let category = if out.starts_with('(') { "console" } else { "stdout" };
        self.editor.event("output", json!({ "category": category, "output": out }))
    }

    fn request(&mut self, command: &str, arguments: &Value) -> Answer {
        let session = &mut self.interpreter.session;
        let instruction = arguments["granularity"] == "instruction";
        let moved = |halt: Halt| Ok((json!({}), Some(halt)));
        match command {
            "continue" => moved(session.go_on()),
            "reverseContinue" => moved(session.go_back()),
            "next" if instruction => moved(session.step_instruction(Calls::Over)),
            "next" => moved(session.step(Calls::Over)),
            "stepIn" if instruction => moved(session.step_instruction(Calls::Into)),
            "stepIn" => moved(session.step(Calls::Into)),
            "stepOut" => session.step_out().and_then(moved),
            "stepBack" if instruction => moved(session.step_instruction_back(Calls::Over)),
            "stepBack" => moved(session.step_back(Calls::Over)),
            "goto" => self.go_to(arguments).and_then(moved),
            "setBreakpoints" => self.set_breakpoints(arguments).map(still),
            "setFunctionBreakpoints" => Ok(still(self.set_functions(arguments))),
            "setInstructionBreakpoints" => Ok(still(self.set_instructions(arguments))),
            "dataBreakpointInfo" => Ok(still(self.data_info(arguments))),
            "setDataBreakpoints" => Ok(still(self.set_data(arguments))),
            "setExceptionBreakpoints" => {
                let filters = arguments["filters"].as_array();
                self.traps = filters.is_some_and(|all| all.iter().any(|f| f == "trap"));
                Ok(still(
                    json!({ "breakpoints": filters.into_iter().flatten().map(|_| json!({ "verified": true })).collect::<Vec<_>>() }),
                ))
            }
            "threads" => Ok(still(json!({ "threads": [{ "id": THREAD, "name": "the run" }] }))),
            "evaluate" => self.evaluate(arguments),
            command => self.look(command, arguments).map(still),
        }
    }

    /// Sets the breakpoints of a group anew; each is set by a function, or gives why it cannot be.
    fn set_all(
        &mut self,
        group: Group,
        all: &[Value],
        set: impl Fn(&mut Session<'p>, &Value) -> Result<u32, String>,
    ) -> Value {
        for number in self.groups.remove(&group).unwrap_or_default() {
            // One that is gone already is no error.
            let _ = self.interpreter.session.delete(number);
        }
        let mut numbers = Vec::new();
        let mut told = Vec::new();
        for wanted in all {
            let number = set(&mut self.interpreter.session, wanted).and_then(|number| {
                refine(&mut self.interpreter.session, number, wanted).inspect_err(|_| {
                    let _ = self.interpreter.session.delete(number);
                })?;
                Ok(number)
            });
            told.push(match number {
                Ok(number) => {
                    numbers.push(number);
                    self.told(number)
                }
                Err(why) => json!({ "verified": false, "message": why }),
            });
        }
        self.groups.insert(group, numbers);
        json!({ "breakpoints": told })
    }

    /// A breakpoint that is set.
    fn told(&self, number: u32) -> Value {
        let mut out = json!({ "id": number, "verified": true });
        let found = self.session().breakpoints().iter().find(|b| b.number == number);
        if let Some(BreakpointKind::Code { addresses, line, .. }) = found.map(|b| &b.kind)
            && let Some(first) = addresses.first()
        {
            out["instructionReference"] = json!(reference(*first));
            if let Some(line) = line.or_else(|| self.session().code().statement(*first).map(|s| s.line)) {
                out["line"] = json!(line);
            }
        }
        out
    }

    fn set_breakpoints(&mut self, arguments: &Value) -> Result<Value, String> {
        let path = arguments["source"]["path"].as_str().ok_or("the source has no path")?;
        let file = self.file_of(path).ok_or_else(|| format!("{path} is no file of this program"));
        let none = Vec::new();
        let all = arguments["breakpoints"].as_array().unwrap_or(&none);
        Ok(self.set_all(Group::Source(path.to_string()), all, move |session, wanted| {
            let line = wanted["line"].as_u64().and_then(|line| u32::try_from(line).ok()).ok_or("a line is missing")?;
            session.break_at(Location::Line(Some(file.clone()?), line))
        }))
    }

    fn set_functions(&mut self, arguments: &Value) -> Value {
        let none = Vec::new();
        let all = arguments["breakpoints"].as_array().unwrap_or(&none);
        self.set_all(Group::Functions, all, |session, wanted| {
            let location = session.location(wanted["name"].as_str().unwrap_or(""))?;
            session.break_at(location)
        })
    }

    fn set_instructions(&mut self, arguments: &Value) -> Value {
        let none = Vec::new();
        let all = arguments["breakpoints"].as_array().unwrap_or(&none);
        self.set_all(Group::Instructions, all, |session, wanted| {
            let offset = wanted["offset"].as_i64().unwrap_or(0);
            let at = address(&wanted["instructionReference"])
                .and_then(|at| u32::try_from(at.checked_add_signed(offset)?).ok());
            let at = at.ok_or("this is no address")?;
            let location = session.location(&format!("*{at}"))?;
            session.break_at(location)
        })
    }

    fn data_info(&self, arguments: &Value) -> Value {
        let name = arguments["name"].as_str().unwrap_or("");
        let reference = arguments["variablesReference"].as_u64();
        let name =
            reference.and_then(|reference| self.evaluate_name(reference, name)).unwrap_or_else(|| name.to_string());
        match self.session().can_watch(&name) {
            Ok(()) => json!({ "dataId": name, "description": name, "accessTypes": ["write"], "canPersist": true }),
            Err(why) => json!({ "dataId": null, "description": why }),
        }
    }

    fn set_data(&mut self, arguments: &Value) -> Value {
        let none = Vec::new();
        let all = arguments["breakpoints"].as_array().unwrap_or(&none);
        self.set_all(Group::Data, all, |session, wanted| session.watch(wanted["dataId"].as_str().unwrap_or("")))
    }

    /// Goes to a target of `gotoTargets`: the next or the last time that the run is at an instruction.
    fn go_to(&mut self, arguments: &Value) -> Result<Halt, String> {
        let id = arguments["targetId"].as_u64().ok_or("a target is missing")?;
        let at = u32::try_from(id / 2).map_err(|_| "there is no such target")?;
        let session = &mut self.interpreter.session;
        let location = session.location(&format!("*{at}"))?;
        let number = session.break_at(location)?;
        let halt = if id % 2 == 0 { session.go_on() } else { session.go_back() };
        session.delete(number)?;
        Ok(if halt == Halt::Breakpoint(number) { Halt::Arrived(Arrival::There) } else { halt })
    }

    /// Shows a value; in the console, a command of `pendula debug` is run.
    fn evaluate(&mut self, arguments: &Value) -> Answer {
        let text = arguments["expression"].as_str().unwrap_or("").trim().to_string();
        let value = self.value_of(&text, &arguments["frameId"]);
        if value.is_ok() || arguments["context"] != "repl" {
            return value.map(still);
        }
        let before = self.session().timeline().now();
        let out = self
            .interpreter
            .answer(&text)
            .map_err(|error| if is_one_word(&text) { error } else { value.err().unwrap_or(error) })?;
        let moved = self.session().timeline().now() != before;
        let halt = moved.then_some(Halt::Arrived(Arrival::There));
        Ok((json!({ "result": out.trim_end(), "variablesReference": 0 }), halt))
    }
}

/// Whether a text may be the name of a command.
fn is_one_word(text: &str) -> bool {
    text.chars().next().is_some_and(char::is_alphabetic)
}

/// The answer of a request that does not move the run.
fn still(body: Value) -> (Value, Option<Halt>) {
    (body, None)
}

/// Whether a request moves the run.
fn is_movement(command: &str) -> bool {
    matches!(command, "continue" | "reverseContinue" | "next" | "stepIn" | "stepOut" | "stepBack" | "goto")
}

/// The reason to stop that a request has.
fn moved_by(command: &str) -> &'static str {
    if command == "goto" { "goto" } else { "step" }
}

/// Gives a breakpoint its condition, and how often it is passed over.
fn refine(session: &mut Session<'_>, number: u32, wanted: &Value) -> Result<(), String> {
    let condition = wanted["condition"].as_str().map(str::trim).filter(|c| !c.is_empty());
    let ignore = match wanted["hitCondition"].as_str().map(str::trim).filter(|c| !c.is_empty()) {
        None => 0,
        Some(count) => {
            let digits = count.trim_start_matches(['=', '>']).trim();
            let count: u64 =
                digits.parse().map_err(|_| format!("`{count}` says no number of hits: write 3 for the third"))?;
            count.saturating_sub(1)
        }
    };
    let breakpoint = session.breakpoint(number)?;
    breakpoint.condition = condition.map(str::to_string);
    breakpoint.ignore = ignore;
    Ok(())
}

/// An address as the protocol has it.
pub(super) fn reference(at: u32) -> String {
    format!("{at:#x}")
}

/// The address that a reference names.
pub(super) fn address(reference: &Value) -> Option<u64> {
    let text = reference.as_str()?;
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
