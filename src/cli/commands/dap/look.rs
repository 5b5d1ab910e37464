//! What an editor asks to see of a run that has stopped.

use std::fs::canonicalize;
use std::path::Path;

use pendula::debug::{Arrival, Halt, Statement};
use pendula::isa::types::Ty;
use pendula::language;
use pendula::values::{Location as At, Place};
use serde_json::{Value, json};

use super::adapter::{Adapter, address, reference};
use crate::cli::commands::debug::complete::{Kind, complete};
use crate::cli::commands::debug::text;

/// What a reference that the editor has names.
#[derive(Clone, Debug)]
pub(super) enum Seen {
    /// The variables.
    Variables,
    /// The registers.
    Registers,
    /// The words of an array.
    Words(Place),
}

/// The greatest number of variables that are given at once.
const PAGE: usize = 10_000;

impl Adapter<'_, '_, '_> {
    /// Answers a request that only looks.
    pub(super) fn look(&mut self, command: &str, arguments: &Value) -> Result<Value, String> {
        match command {
            "stackTrace" => Ok(self.stack(arguments)),
            "scopes" => Ok(self.scopes()),
            "variables" => self.variables(arguments),
            "setVariable" => {
                let reference = arguments["variablesReference"].as_u64().unwrap_or(0);
                let name = arguments["name"].as_str().unwrap_or("");
                let name = self.evaluate_name(reference, name).ok_or("this cannot be changed")?;
                self.set(&name, arguments["value"].as_str().unwrap_or(""))
            }
            "setExpression" => {
                let name = arguments["expression"].as_str().unwrap_or("").to_string();
                self.set(&name, arguments["value"].as_str().unwrap_or(""))
            }
            "exceptionInfo" => self.exception(),
            "gotoTargets" => self.targets(arguments),
            "disassemble" => self.disassemble(arguments),
            "readMemory" => self.read_memory(arguments),
            "loadedSources" => {
                let files = self.session().code().module().files.clone();
                Ok(json!({ "sources": files.iter().map(|f| source(f)).collect::<Vec<_>>() }))
            }
            "source" => {
                let path = arguments["source"]["path"].as_str().unwrap_or("");
                let n = (0..self.sources.len() as u16).find(|n| self.sources.name(*n) == path);
                n.map(|n| json!({ "content": self.sources.text(n) }))
                    .ok_or_else(|| format!("the text of {path} is not there"))
            }
            "breakpointLocations" => self.locations(arguments),
            "completions" => Ok(self.completions(arguments)),
            other => Err(format!("`{other}` is not done here")),
        }
    }

    /// The file of the program that a path means.
    pub(super) fn file_of(&self, path: &str) -> Option<String> {
        let files = &self.session().code().module().files;
        let wanted = canonicalize(path).ok();
        let same = |file: &&String| file.as_str() == path || wanted.is_some() && canonicalize(file).ok() == wanted;
        files.iter().find(same).cloned()
    }

    fn stack(&self, arguments: &Value) -> Value {
        let session = self.session();
        let frame = |n: usize, name: &str, at: u32, statement: Option<Statement>| {
            let mut out = json!({ "id": n + 1, "name": name, "line": 0, "column": 0, "instructionPointerReference": reference(at) });
            if let Some(s) = statement
                && let Some(file) = session.code().module().files.get(s.file as usize)
            {
                out["source"] = source(file);
                (out["line"], out["column"]) = (json!(s.line), json!(s.column.max(1)));
            }
            out
        };
        let back = |name: &str, back: bool| if back { format!("{name}, backward") } else { name.to_string() };
        let mut all: Vec<Value> = session
            .frames()
            .iter()
            .enumerate()
            .map(|(n, f)| frame(n, &back(&f.name, f.back), f.at, f.statement))
            .collect();
        if all.is_empty() {
            // PISA has no procedures; and a run that has ended is after its last instruction.
            let last = session.code().module().code.len().saturating_sub(1) as u32;
            let (name, at) = match session.machine().pc() {
                Some(at) => (back("run", session.is_backward()), at),
                None if session.is_backward() => ("the end of the run, backward".to_string(), 0),
                None => ("the end of the run".to_string(), last),
            };
            all.push(frame(0, &name, at, session.code().statement(at)));
        }
        let total = all.len();
        let start = arguments["startFrame"].as_u64().unwrap_or(0) as usize;
        let levels = arguments["levels"].as_u64().filter(|n| *n > 0).map_or(total, |n| n as usize);
        let some: Vec<Value> = all.into_iter().skip(start).take(levels).collect();
        json!({ "stackFrames": some, "totalFrames": total })
    }

    fn reference(&mut self, seen: Seen) -> usize {
        self.seen.push(seen);
        self.seen.len()
    }

    fn scopes(&mut self) -> Value {
        let variables = self.reference(Seen::Variables);
        let mut scopes = vec![
            json!({ "name": "Variables", "presentationHint": "locals", "variablesReference": variables, "expensive": false }),
        ];
        if self.session().has_registers() {
            let registers = self.reference(Seen::Registers);
            scopes.push(json!({ "name": "Registers", "presentationHint": "registers", "variablesReference": registers, "expensive": false }));
        }
        json!({ "scopes": scopes })
    }

    /// The name by which an expression can name a variable of a reference.
    pub(super) fn evaluate_name(&self, reference: u64, name: &str) -> Option<String> {
        match self.seen.get(usize::try_from(reference).ok()?.checked_sub(1)?)? {
            Seen::Variables | Seen::Registers => Some(name.to_string()),
            Seen::Words(place) => place.words().into_iter().find(|word| word == name),
        }
    }

    fn variables(&mut self, arguments: &Value) -> Result<Value, String> {
        let number = arguments["variablesReference"].as_u64().and_then(|n| usize::try_from(n).ok()?.checked_sub(1));
        let seen = number.and_then(|n| self.seen.get(n)).cloned().ok_or("the run has moved since")?;
        let start = arguments["start"].as_u64().unwrap_or(0) as usize;
        let count = arguments["count"].as_u64().filter(|n| *n > 0).map_or(PAGE, |n| (n as usize).min(PAGE));
        let out = match seen {
            Seen::Variables => {
                let named = text::visible_variables(self.session())?;
                named.into_iter().skip(start).take(count).map(|(name, value)| self.variable(&name, value)).collect()
            }
            Seen::Registers => {
                let places = self.session().registers();
                places.iter().map(|p| self.variable(&p.name, self.session().text(p, false))).collect()
            }
            Seen::Words(place) => {
                let words = place.words();
                words
                    .iter()
                    .skip(start)
                    .take(count)
                    .map(|name| {
                        let value = self.session().place(name).map_or_else(|e| e, |p| self.session().text(&p, false));
                        json!({ "name": name, "value": value, "variablesReference": 0, "evaluateName": name })
                    })
                    .collect::<Vec<Value>>()
            }
        };
        Ok(json!({ "variables": out }))
    }

    /// A variable with its value; an array can be opened.
    fn variable(&mut self, name: &str, value: String) -> Value {
        let mut out = json!({ "name": name, "value": value, "variablesReference": 0, "evaluateName": name });
        let Ok(place) = self.session().place(name) else { return out };
        out["type"] = json!(match place.ty {
            Ty::Int => "integer",
            Ty::Q => "fixed point",
            Ty::L => "logarithmic",
            Ty::F => "double",
        });
        if let At::Memory { start, len, array } = place.at {
            out["memoryReference"] = json!(format!("{start:#x}"));
            if array && len > 0 && place.variable.is_none() {
                out["variablesReference"] = json!(self.reference(Seen::Words(place)));
                out["indexedVariables"] = json!(len);
            }
        }
        out
    }

    /// The value of an expression.
    pub(super) fn value_of(&mut self, expression: &str) -> Result<Value, String> {
        let shown = text::value(self.session(), expression, false)?;
        let value = shown.split_once(" = ").map_or("", |(_, value)| value).trim_end().to_string();
        let mut out = self.variable(expression, value.clone());
        out["result"] = json!(value);
        Ok(out)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<Value, String> {
        self.interpreter.session.set(&format!("{name}={value}"))?;
        let place = self.session().place(name)?;
        Ok(json!({ "value": self.session().text(&place, false), "variablesReference": 0 }))
    }

    fn exception(&self) -> Result<Value, String> {
        let Halt::Arrived(Arrival::Trap(trap)) = &self.halt else { return Err("the run is at no trap".to_string()) };
        let why = text::trap(self.session(), self.sources, trap);
        let first = why.lines().next().unwrap_or("");
        let code = first.split(['[', ']']).nth(1).unwrap_or("trap");
        Ok(
            json!({ "exceptionId": code, "description": first, "breakMode": "always", "details": { "message": first, "stackTrace": why } }),
        )
    }

    /// The instructions of a line, each as a moment to go to: the next time that it runs, and the last time.
    fn targets(&self, arguments: &Value) -> Result<Value, String> {
        let (line, addresses) = self.line(&arguments["source"], &arguments["line"])?;
        let at = *addresses.first().ok_or("there is no code")?;
        let target = |back: bool, label: &str| json!({ "id": 2 * u64::from(at) + u64::from(back), "label": label, "line": line, "instructionPointerReference": reference(at) });
        Ok(json!({ "targets": [target(false, "the next time here"), target(true, "the last time here")] }))
    }

    fn line(&self, source: &Value, line: &Value) -> Result<(u32, Vec<u32>), String> {
        let path = source["path"].as_str().ok_or("the source has no path")?;
        let file = self.file_of(path).ok_or_else(|| format!("{path} is no file of this program"))?;
        let line = line.as_u64().and_then(|line| u32::try_from(line).ok()).ok_or("a line is missing")?;
        self.session().code().line(&file, line).ok_or_else(|| format!("{file} has no code at or after line {line}"))
    }

    /// The lines with code.
    fn locations(&self, arguments: &Value) -> Result<Value, String> {
        let first = arguments["line"].as_u64().unwrap_or(1);
        let last = arguments["endLine"].as_u64().unwrap_or(first).min(first + PAGE as u64);
        let mut out: Vec<u32> = Vec::new();
        let mut from = first;
        while from <= last {
            let Ok((line, _)) = self.line(&arguments["source"], &json!(from)) else { break };
            if u64::from(line) > last {
                break;
            }
            out.push(line);
            from = u64::from(line) + 1;
        }
        Ok(json!({ "breakpoints": out.iter().map(|line| json!({ "line": line })).collect::<Vec<_>>() }))
    }

    fn disassemble(&self, arguments: &Value) -> Result<Value, String> {
        let session = self.session();
        let base = address(&arguments["memoryReference"]).ok_or("this is no address")?.cast_signed();
        let first =
            base + arguments["offset"].as_i64().unwrap_or(0) + arguments["instructionOffset"].as_i64().unwrap_or(0);
        let count = arguments["instructionCount"].as_i64().unwrap_or(0).clamp(0, PAGE as i64);
        let code = session.code().module().code.len() as i64;
        let one = |at: i64| {
            let Some(here) = u32::try_from(at).ok().filter(|_| at < code) else {
                return json!({ "address": format!("{:#x}", at.max(0)), "instruction": "", "presentationHint": "invalid" });
            };
            let mut out = json!({ "address": reference(here), "instruction": session.instruction(here).trim() });
            if let Some(s) = session.code().statement(here) {
                out["line"] = json!(s.line);
                if let Some(file) = session.code().module().files.get(s.file as usize) {
                    out["location"] = source(file);
                }
            }
            out
        };
        Ok(json!({ "instructions": (first..first + count).map(one).collect::<Vec<_>>() }))
    }

    /// Words of the memory, as the bytes of each, the lowest first.
    fn read_memory(&self, arguments: &Value) -> Result<Value, String> {
        let start = address(&arguments["memoryReference"]).ok_or("this is no address")?;
        let offset = arguments["offset"].as_i64().unwrap_or(0);
        let count = arguments["count"].as_u64().unwrap_or(0).min(1 << 20);
        let language = language::of((self.session().code().module(), None));
        let machine = self.session().machine();
        // An address is that of a word; offsets and counts are of bytes.
        let first = start.saturating_mul(8).saturating_add_signed(offset);
        let byte = |at: u64| Some(language.word_at(machine, at / 8)?.to_le_bytes()[(at % 8) as usize]);
        let bytes: Vec<u8> = (first..first.saturating_add(count)).map_while(byte).collect();
        let data = base64(&bytes);
        Ok(
            json!({ "address": format!("{:#x}", first / 8), "data": data, "unreadableBytes": count - bytes.len() as u64 }),
        )
    }

    fn completions(&self, arguments: &Value) -> Value {
        let typed = arguments["text"].as_str().unwrap_or("");
        let column = arguments["column"].as_u64().unwrap_or(1).saturating_sub(1) as usize;
        let before: String = typed.chars().take(column).collect();
        let (begun, all) = complete(self.session(), &before);
        let length = begun.chars().count();
        let one = |(name, kind): (String, Kind)| {
            let kind = match kind {
                Kind::Variable => "variable",
                Kind::Procedure => "function",
                Kind::Keyword => "keyword",
            };
            json!({ "label": name, "type": kind, "start": before.chars().count() - length, "length": length })
        };
        json!({ "targets": all.into_iter().map(one).collect::<Vec<_>>() })
    }
}

/// Bytes as text of 64 characters (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let three = |part: &[u8]| {
        let bits = (0..3).fold(0u32, |bits, n| bits << 8 | u32::from(part.get(n).copied().unwrap_or(0)));
        let digit =
            |n: usize| if n > part.len() { '=' } else { char::from(DIGITS[(bits >> (18 - 6 * n)) as usize % 64]) };
        [digit(0), digit(1), digit(2), digit(3)]
    };
    bytes.chunks(3).flat_map(three).collect()
}

/// A file as the protocol has it.
fn source(file: &str) -> Value {
    let path = canonicalize(file).map_or_else(|_| file.to_string(), |path| path.display().to_string());
    let name = Path::new(file).file_name().map_or_else(|| file.to_string(), |name| name.to_string_lossy().into_owned());
    json!({ "name": name, "path": path })
}
