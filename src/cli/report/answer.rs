//! The JSON objects of `--json`: the keys that all commands share, and the form of arrays in them.

use std::sync::atomic::{AtomicBool, Ordering};

use pendula::layout::Layout;
use serde_json::{Map, Value, json};

use pendula::report::{Reporter, complaint, print_json};

/// The version of all schemas. It is raised when a key changes its meaning or is removed.
const VERSION: u32 = 1;

/// True once an object that is printed part by part has been started.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// Notes that an object has been started: no other one can be printed.
pub(crate) fn begun() {
    BEGUN.store(true, Ordering::Relaxed);
}

/// True if JSON is requested and an object can still be printed.
pub(crate) fn is_json(reporter: &Reporter) -> bool {
    reporter.is_json() && !BEGUN.load(Ordering::Relaxed)
}

/// The name and the version of the schema of a command's answer.
pub(crate) fn schema(reporter: &Reporter) -> Value {
    json!(match reporter.command() {
        "" => format!("pendula/{VERSION}"),
        command => format!("pendula.{command}/{VERSION}"),
    })
}

/// The version of the elementary functions of `.f`, on which the last bits of results depend.
pub(crate) fn numerics() -> Value {
    json!(pendula_isa::num::raw::VERSION)
}

/// The outcome of a command that succeeded.
pub(crate) fn finished() -> Value {
    json!({ "kind": "finished" })
}

/// The outcome of a command that failed, with the reason.
pub(crate) fn failed(error: &anyhow::Error) -> Value {
    let (message, code, help) = complaint(error);
    json!({ "kind": "failed", "message": message, "code": code, "help": help })
}

/// Prints the answer of a command; `ok` says whether its exit status is 0.
pub(crate) fn answer(reporter: &Reporter, ok: bool, outcome: Value, rest: Map<String, Value>) -> std::io::Result<()> {
    print_json(&Value::Object(object(reporter, ok, outcome, rest)))
}

/// The answer of a command.
pub(crate) fn object(reporter: &Reporter, ok: bool, outcome: Value, rest: Map<String, Value>) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("diagnostics".into(), json!([]));
    object.extend(rest);
    object.insert("schema".into(), schema(reporter));
    object.insert("numerics".into(), numerics());
    object.insert("ok".into(), json!(ok));
    object.insert("outcome".into(), outcome);
    object
}

/// The entries of an object.
pub(crate) fn fields(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(fields) => fields,
        value => Map::from_iter([("value".to_string(), value)]),
    }
}

/// Reports why a command failed: as JSON on standard output if requested, else on standard error.
pub(crate) fn failure(reporter: &Reporter, error: &anyhow::Error) {
    if !(is_json(reporter) && answer(reporter, false, failed(error), Map::new()).is_ok()) {
        reporter.failure(error);
    }
}

/// The answer for an error of the command line's parser.
pub(crate) fn usage(reporter: &Reporter, said: &str) -> std::io::Result<()> {
    let said = said.trim().strip_prefix("error: ").unwrap_or(said.trim());
    let (message, help) = said.split_once("\n\n").unwrap_or((said, ""));
    let help = (!help.is_empty()).then(|| help.trim());
    let outcome = json!({ "kind": "failed", "message": message.trim(), "code": null, "help": help });
    answer(reporter, false, outcome, Map::new())
}

/// The elements of an array with these lengths, as nested arrays.
pub(crate) fn nested(lens: &[usize], list: &[Value]) -> Value {
    match lens {
        [] => list.first().cloned().unwrap_or_default(),
        [n, rest @ ..] => {
            let size: usize = rest.iter().product();
            (0..*n).map(|i| nested(rest, list.get(i * size..(i + 1) * size).unwrap_or(&[]))).collect()
        }
    }
}

/// The words of an array in row-major order, in a form that `--args` can read.
pub(crate) fn array(layout: &Layout, words: &[Value]) -> Value {
    let word = |at: &usize| words.get(*at).cloned().unwrap_or_default();
    let in_order: Vec<Value> = layout.order.iter().map(word).collect();
    let elements: Vec<Value> = match layout.per {
        0 | 1 => in_order,
        _ if layout.complex => {
            in_order.as_chunks::<2>().0.iter().map(|[re, im]| json!({ "re": re, "im": im })).collect()
        }
        per => in_order.chunks(per).map(|parts| Value::Array(parts.to_vec())).collect(),
    };
    nested(&layout.lens, &elements)
}
