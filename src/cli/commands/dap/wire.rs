//! The messages of the Debug Adapter Protocol: reading, writing, numbering.

use std::io::{BufRead, BufReader, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::{Value, json};

/// The greatest size of a message in bytes.
const LARGEST: usize = 1 << 24;

/// The way to the editor.
#[derive(Clone)]
pub(super) struct Editor {
    out: Arc<Mutex<(Box<dyn Write + Send>, u64)>>,
    /// Whether the editor wants the run to pause.
    pub(super) pause: Arc<AtomicBool>,
    progress: Arc<Mutex<Progress>>,
}

/// What the editor is told of a movement that takes long.
#[derive(Default)]
struct Progress {
    /// Whether it wants to be told.
    wanted: bool,
    /// The number of the movement, and when it began, while it goes on.
    number: u64,
    began: Option<Instant>,
    /// When the editor was told of it last.
    told: Option<Instant>,
}

/// After which time a movement takes long, and how often the editor is told of it.
const LONG: Duration = Duration::from_millis(500);
const EVERY: Duration = Duration::from_millis(250);

impl Editor {
    /// An editor, and the requests that come from it until it leaves.
    pub(super) fn new(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> (Editor, Receiver<Value>) {
        let editor = Editor {
            out: Arc::new(Mutex::new((Box::new(output), 0))),
            pause: Arc::new(AtomicBool::new(false)),
            progress: Arc::default(),
        };
        let pause = Arc::clone(&editor.pause);
        let (sender, requests) = channel();
        // A request to pause comes while the run goes on.
        std::thread::spawn(move || {
            let mut input = BufReader::new(input);
            loop {
                let message = match read(&mut input) {
                    Ok(Some(message)) => message,
                    Ok(None) => break,
                    Err(error) => {
                        tracing::warn!(target: "pendula::dap", "{error:#}");
                        break;
                    }
                };
                if matches!(
                    message["command"].as_str(),
                    Some("pause" | "disconnect" | "terminate" | "cancel" | "restart")
                ) {
                    pause.store(true, Ordering::Relaxed);
                }
                if sender.send(message).is_err() {
                    break;
                }
            }
            pause.store(true, Ordering::Relaxed);
        });
        (editor, requests)
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes whether the editor wants to be told of movements that take long.
    pub(super) fn set_progress(&self, wanted: bool) {
        self.progress().wanted = wanted;
    }

    /// Notes that a movement begins.
    pub(super) fn begin_movement(&self) {
        let mut progress = self.progress();
        progress.number += 1;
        (progress.began, progress.told) = (Some(Instant::now()), None);
    }

    /// Notes that it has ended.
    pub(super) fn end_movement(&self) -> anyhow::Result<()> {
        let mut progress = self.progress();
        progress.began = None;
        match progress.told.take() {
            Some(_) => self.event("progressEnd", json!({ "progressId": progress.number.to_string() })),
            None => Ok(()),
        }
    }

    /// Whether a movement that is at this moment is to pause; the editor is told of one that takes long.
    pub(super) fn is_to_pause(&self, moment: u64) -> bool {
        let mut progress = self.progress();
        let long = progress.began.is_some_and(|began| began.elapsed() > LONG);
        if progress.wanted && long && progress.told.is_none_or(|told| told.elapsed() > EVERY) {
            let mut body = json!({ "progressId": progress.number.to_string(), "message": format!("step {moment}") });
            let name = if progress.told.is_none() { "progressStart" } else { "progressUpdate" };
            if progress.told.is_none() {
                (body["title"], body["cancellable"]) = (json!("Running"), json!(true));
            }
            progress.told = Some(Instant::now());
            // An editor that has left is noticed where it is answered.
            let _ = self.event(name, body);
        }
        self.pause.load(Ordering::Relaxed)
    }

    fn send(&self, mut message: Value) -> anyhow::Result<()> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.1 += 1;
        message["seq"] = json!(out.1);
        let text = message.to_string();
        let (writer, _) = &mut *out;
        write!(writer, "Content-Length: {}\r\n\r\n{text}", text.len())
            .and_then(|()| writer.flush())
            .context("the editor does not listen")
    }

    /// Sends an event.
    pub(super) fn event(&self, name: &str, body: Value) -> anyhow::Result<()> {
        self.send(json!({ "type": "event", "event": name, "body": body }))
    }

    /// Answers a request: with what it asks for, or with why it cannot be had.
    pub(super) fn answer(&self, request: &Value, result: Result<Value, String>) -> anyhow::Result<()> {
        let mut message = json!({ "type": "response", "request_seq": request["seq"], "command": request["command"] });
        match result {
            Ok(body) => {
                message["success"] = json!(true);
                message["body"] = body;
            }
            Err(error) => {
                message["success"] = json!(false);
                message["message"] = json!(error.lines().next().unwrap_or(""));
                message["body"] = json!({ "error": { "id": 1, "format": error, "showUser": true } });
            }
        }
        self.send(message)
    }
}

/// Reads a message; `None` at the end.
fn read(input: &mut impl BufRead) -> anyhow::Result<Option<Value>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        // A header is short, whoever writes it.
        if input.by_ref().take(4096).read_line(&mut line).context("the editor cannot be read")? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("Content-Length")
        {
            length = Some(value.trim().parse::<usize>().context("a message says no length")?);
        }
    }
    let Some(length) = length else { bail!("a message does not begin with `Content-Length`") };
    if length > LARGEST {
        bail!("a message of {length} bytes is larger than {LARGEST}");
    }
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes).context("a message is cut off")?;
    serde_json::from_slice(&bytes).map(Some).context("a message is no JSON")
}
