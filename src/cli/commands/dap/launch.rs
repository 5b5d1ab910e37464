//! Starts a session: the attributes of `launch` are the options of `pendula debug`.

use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;

use clap::Parser;
use serde_json::{Map, Value};

use super::adapter::{Adapter, After};
use super::quiet;
use super::wire::Editor;
use crate::cli::args::{Cli, Command, Debug};
use crate::cli::commands::debug::with_session;
use crate::cli::status::Reported;

/// Attributes that editors add, and those that are the adapter's own.
const OWN: [&str; 10] = [
    "program",
    "stopOnEntry",
    "noDebug",
    "name",
    "type",
    "request",
    "cwd",
    "presentation",
    "preLaunchTask",
    "postDebugTask",
];

/// Loads the program that a request names, and debugs it until the editor leaves or begins again.
pub(super) fn launch(editor: &Editor, requests: &Receiver<Value>, request: &Value) -> anyhow::Result<After> {
    let none = Map::new();
    let attributes = request["arguments"].as_object().unwrap_or(&none);
    editor.pause.store(false, Ordering::Relaxed);
    let args = match options(attributes) {
        Ok(args) => args,
        Err(error) => {
            editor.answer(request, Err(error))?;
            return Ok(After::Stay);
        }
    };
    let reporter = quiet();
    let result = with_session(
        &args,
        &reporter,
        |moment| editor.is_to_pause(moment),
        |session, sources| Adapter::new(editor, session, sources, attributes).run(requests, request),
    );
    match result {
        Ok(after) => Ok(after),
        Err(error) if error.is::<Reported>() => {
            editor.answer(request, Err(reporter.collected()))?;
            Ok(After::Stay)
        }
        Err(error) if error.is::<std::io::Error>() => Err(error),
        Err(error) => {
            editor.answer(request, Err(format!("{error:#}")))?;
            Ok(After::Stay)
        }
    }
}

/// The options of `pendula debug` that these attributes stand for: `roundTrip` for `--round-trip`, a list for an option that is given several times.
fn options(attributes: &Map<String, Value>) -> Result<Debug, String> {
    let program =
        attributes.get("program").and_then(Value::as_str).ok_or("`program` is missing: the path of a file")?;
    let mut words = vec!["pendula".to_string(), "debug".to_string()];
    for (name, value) in attributes {
        if OWN.contains(&name.as_str()) || name.starts_with("__") {
            continue;
        }
        let option = match name.as_str() {
            "optimise" | "O" => "-O".to_string(),
            name => format!("--{}", kebab(name)),
        };
        let all = match value {
            Value::Array(all) => &all[..],
            one => std::slice::from_ref(one),
        };
        for value in all {
            match value {
                Value::Bool(false) | Value::Null => {}
                Value::Bool(true) => words.push(option.clone()),
                Value::String(text) => words.push(joined(&option, text)),
                Value::Number(n) => words.push(joined(&option, &n.to_string())),
                Value::Array(_) | Value::Object(_) => return Err(format!("`{name}`: write it as on the command line")),
            }
        }
    }
    words.extend(["--".to_string(), program.to_string()]);
    match Cli::try_parse_from(words) {
        Ok(Cli { command: Command::Debug(args), .. }) => Ok(*args),
        Ok(_) => Err("these attributes are not those of a program".to_string()),
        Err(error) => Err(error.render().to_string()),
    }
}

fn joined(option: &str, value: &str) -> String {
    if option.starts_with("--") { format!("{option}={value}") } else { format!("{option}{value}") }
}

fn kebab(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() {
            out.push('-');
        }
        out.extend(c.to_lowercase());
    }
    out
}
