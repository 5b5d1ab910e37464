//! `--trace-json`: the spans of the libraries as a file in Chrome's trace event format, which Perfetto and `chrome://tracing` open.
//!
//! The file is an array of events in chronological order: `M` is the name of the process, `B` and `E` are where a
//! thread enters and leaves a span, `i` is a log message.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::Context as _;
use pendula::files::Output;
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// The file that is being written, if there is one. However the process ends, it completes the file.
static TRACE: Mutex<Option<Trace>> = Mutex::new(None);

struct Trace {
    path: String,
    file: Output,
    started: Instant,
    /// The number of open spans of each thread.
    open: BTreeMap<u64, usize>,
    /// The first write error, which is reported at the end.
    failed: io::Result<()>,
}

/// Begins a file for the events of this process.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn begin(path: &str) -> anyhow::Result<ChromeTrace> {
    let mut file = Output::create(path).with_context(|| format!("cannot write {path}"))?;
    let process =
        json!({ "ph": "M", "name": "process_name", "pid": std::process::id(), "args": { "name": "pendula" } });
    let (path, failed) = (path.to_string(), write!(file, "[\n{process}"));
    *lock() = Some(Trace { path, file, started: Instant::now(), open: BTreeMap::new(), failed });
    Ok(ChromeTrace)
}

/// Completes the file, if there is one; open spans end here.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn finish() -> anyhow::Result<()> {
    let Some(mut trace) = lock().take() else { return Ok(()) };
    for (thread, open) in std::mem::take(&mut trace.open) {
        (0..open).for_each(|_| trace.event(json!({ "ph": "E", "tid": thread })));
    }
    let Trace { path, mut file, failed, .. } = trace;
    let written = failed.and_then(|()| file.write_all(b"\n]\n")).and_then(|()| file.finish());
    written.with_context(|| format!("cannot write {path}"))
}

fn lock() -> MutexGuard<'static, Option<Trace>> {
    TRACE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Trace {
    /// Writes an event with the current time, in a line of its own.
    fn event(&mut self, mut event: Value) {
        event["ts"] = json!(self.started.elapsed().as_nanos() as f64 / 1000.0);
        event["pid"] = json!(std::process::id());
        if self.failed.is_ok() {
            self.failed = write!(self.file, ",\n{event}");
        }
    }
}

/// The layer that writes the file.
pub(crate) struct ChromeTrace;

/// The fields of a span.
struct Fields(Map<String, Value>);

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for ChromeTrace {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Map::new();
        attributes.record(&mut Arguments(&mut fields));
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(Fields(fields));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(Fields(fields)) = span.extensions_mut().get_mut() {
            values.record(&mut Arguments(fields));
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        let (Some(span), Some(trace)) = (context.span(id), &mut *lock()) else { return };
        let extensions = span.extensions();
        let fields = extensions.get().map(|Fields(fields)| fields);
        // If there are several spans of a kind, each has its own name as a field.
        let own = fields.and_then(|fields| fields.get("name")?.as_str());
        let name = own.map_or_else(|| span.name().to_string(), |own| format!("{} {own}", span.name()));
        let category = span.metadata().target();
        trace.event(json!({ "ph": "B", "name": name, "cat": category, "tid": thread(), "args": fields }));
        *trace.open.entry(thread()).or_default() += 1;
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let (Some(span), Some(trace)) = (context.span(id), &mut *lock()) else { return };
        if let Some(open) = trace.open.get_mut(&thread()).filter(|open| **open > 0) {
            *open -= 1;
            // The fields include those that were recorded after the span was entered.
            let extensions = span.extensions();
            let fields = extensions.get().map(|Fields(fields)| fields);
            trace.event(json!({ "ph": "E", "tid": thread(), "args": fields }));
        }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let Some(trace) = &mut *lock() else { return };
        let mut fields = Map::new();
        event.record(&mut Arguments(&mut fields));
        let name = fields.remove("message").unwrap_or_else(|| event.metadata().name().into());
        let category = event.metadata().target();
        trace.event(json!({ "ph": "i", "s": "t", "name": name, "cat": category, "tid": thread(), "args": fields }));
    }
}

/// The number of this thread, counted from 1.
fn thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|n| *n)
}

/// Collects fields as JSON.
struct Arguments<'a>(&'a mut Map<String, Value>);

impl Visit for Arguments<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        // Numbers, `true` and `false` are already valid JSON.
        let text = format!("{value:?}");
        self.0.insert(field.name().to_string(), serde_json::from_str(&text).unwrap_or(Value::String(text)));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_string(), value.into());
    }
}
