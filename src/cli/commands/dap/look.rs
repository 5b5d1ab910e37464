//! What an editor asks to see of a run that has stopped.

use std::fs::canonicalize;
use std::path::Path;

use pendula::debug::{Arrival, Halt, Session, Statement};
use pendula::isa::types::Ty;
use pendula::language;
use pendula::values::{Location as At, Place};
use serde_json::{Value, json};

use super::adapter::{Adapter, address, reference};
use crate::cli::commands::debug::complete::{Kind, complete};
use crate::cli::commands::debug::text;

/// What a reference that the editor has names, and at which moment.
#[derive(Clone, Debug)]
pub(super) enum Seen {
    /// The variables.
    Variables(u64),
    /// The registers.
    Registers(u64),
    /// The words of an array.
    Words(Place, u64),
}

/// The greatest number of variables that are given at once.
const PAGE: usize = 10_000;

/// Why a variable of an outer call cannot be changed.
const INNERMOST: &str = "only what the innermost procedure sees can be changed";

/// What is shown of a variable, and where it is.
struct Shown {
    name: String,
    value: String,
    place: Option<Place>,
}

impl Shown {
    fn of(session: &Session<'_>, name: String, value: String) -> Shown {
        let place = session.place(&name).ok();
        Shown { name, value, place }
    }
}

impl Adapter<'_, '_, '_> {
    /// Whether a reference is to what there is at the present moment.
    ///
    /// # Errors
    /// It is to another one.
    fn is_now(&self, reference: u64) -> Result<(), String> {
        let seen = usize::try_from(reference).ok().and_then(|n| self.seen.get(n.checked_sub(1)?));
        match seen {
            Some(Seen::Variables(at) | Seen::Registers(at) | Seen::Words(_, at))
                if *at == self.session().timeline().now() =>
            {
                Ok(())
            }
            Some(_) => Err(INNERMOST.to_string()),
            None => Err("this cannot be changed".to_string()),
        }
    }

    /// Answers a request that only looks.
    pub(super) fn look(&mut self, command: &str, arguments: &Value) -> Result<Value, String> {
        match command {
            "stackTrace" => Ok(self.stack(arguments)),
            "scopes" => self.scopes(arguments),
            "variables" => self.variables(arguments),
            "setVariable" => {
                let reference = arguments["variablesReference"].as_u64().unwrap_or(0);
                self.is_now(reference)?;
                let name = arguments["name"].as_str().unwrap_or("");
                let name = self.evaluate_name(reference, name).ok_or("this cannot be changed")?;
                self.set(&name, arguments["value"].as_str().unwrap_or(""))
            }
            "setExpression" => {
                if self.moment(&arguments["frameId"])? != self.session().timeline().now() {
                    return Err(INNERMOST.to_string());
                }
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

    /// The moment of a frame: that of its call, if the procedure has called another one.
    fn moment(&mut self, frame: &Value) -> Result<u64, String> {
        let n = frame.as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(1).saturating_sub(1);
        self.interpreter.session.moment_of_frame(n)
    }

    fn scopes(&mut self, arguments: &Value) -> Result<Value, String> {
        let moment = self.moment(&arguments["frameId"])?;
        let variables = self.reference(Seen::Variables(moment));
        let mut scopes = vec![
            json!({ "name": "Variables", "presentationHint": "locals", "variablesReference": variables, "expensive": false }),
        ];
        if self.session().has_registers() {
            let registers = self.reference(Seen::Registers(moment));
            scopes.push(json!({ "name": "Registers", "presentationHint": "registers", "variablesReference": registers, "expensive": false }));
        }
        Ok(json!({ "scopes": scopes }))
    }

    /// The name by which an expression can name a variable of a reference.
    pub(super) fn evaluate_name(&self, reference: u64, name: &str) -> Option<String> {
        match self.seen.get(usize::try_from(reference).ok()?.checked_sub(1)?)? {
            Seen::Variables(_) | Seen::Registers(_) => Some(name.to_string()),
            Seen::Words(place, _) => place.words().into_iter().find(|word| word == name),
        }
    }

    fn variables(&mut self, arguments: &Value) -> Result<Value, String> {
        let number = arguments["variablesReference"].as_u64().and_then(|n| usize::try_from(n).ok()?.checked_sub(1));
        let seen = number.and_then(|n| self.seen.get(n)).cloned().ok_or("the run has moved since")?;
        let start = arguments["start"].as_u64().unwrap_or(0) as usize;
        let count = arguments["count"].as_u64().filter(|n| *n > 0).map_or(PAGE, |n| (n as usize).min(PAGE));
        let page = |all: Vec<Shown>| all.into_iter().skip(start).take(count).collect::<Vec<Shown>>();
        let (moment, all) = match seen {
            Seen::Variables(moment) => {
                let all = self.interpreter.session.at(moment, |session| {
                    let named = text::visible_variables(session)?;
                    Ok::<_, String>(named.into_iter().map(|(name, value)| Shown::of(session, name, value)).collect())
                })?;
                (moment, page(all))
            }
            Seen::Registers(moment) => {
                let all = self.interpreter.session.at(moment, |session| {
                    let places = session.registers();
                    places.iter().map(|p| Shown::of(session, p.name.clone(), session.text(p, false))).collect()
                });
                (moment, page(all))
            }
            Seen::Words(place, moment) => {
                let words = place.words();
                let some = words.iter().skip(start).take(count);
                let all = self.interpreter.session.at(moment, |session| {
                    let value = |name: &str| session.place(name).map_or_else(|e| e, |p| session.text(&p, false));
                    some.map(|name| Shown { name: name.clone(), value: value(name), place: None }).collect()
                });
                (moment, all)
            }
        };
        let out: Vec<Value> = all.into_iter().map(|shown| self.variable(shown, moment)).collect();
        Ok(json!({ "variables": out }))
    }

    /// A variable with its value; an array can be opened.
    fn variable(&mut self, Shown { name, value, place }: Shown, moment: u64) -> Value {
        let mut out = json!({ "name": name, "value": value, "variablesReference": 0, "evaluateName": name });
        let Some(place) = place else { return out };
        out["type"] = json!(match place.ty {
            Ty::Int => "integer",
            Ty::Q => "fixed point",
            Ty::L => "logarithmic",
            Ty::F => "double",
        });
        if let At::Memory { start, len, array } = place.at {
            out["memoryReference"] = json!(format!("{start:#x}"));
            if array && len > 0 && place.variable.is_none() {
                out["variablesReference"] = json!(self.reference(Seen::Words(place, moment)));
                out["indexedVariables"] = json!(len);
            }
        }
        out
    }

    /// The value of an expression.
    pub(super) fn value_of(&mut self, expression: &str, frame: &Value) -> Result<Value, String> {
        let moment = self.moment(frame)?;
        let shown = self.interpreter.session.at(moment, |session| {
            let shown = text::value(session, expression, false)?;
            let value = shown.split_once(" = ").map_or("", |(_, value)| value).trim_end().to_string();
            Ok::<_, String>(Shown::of(session, expression.to_string(), value))
        })?;
        let value = shown.value.clone();
        let mut out = self.variable(shown, moment);
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
