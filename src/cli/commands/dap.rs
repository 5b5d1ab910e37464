//! `pendula dap`: the debug session for editors, by the Debug Adapter Protocol, version 1.68.

mod adapter;
mod launch;
mod look;
mod wire;

use std::net::{Ipv4Addr, TcpListener};
use std::sync::mpsc::Receiver;

use anyhow::Context;
use pendula::report::Reporter;
use serde_json::{Value, json};

use crate::cli::args::Dap;
use crate::cli::status::Status;

use adapter::After;
use wire::Editor;

pub(crate) fn run(args: &Dap) -> anyhow::Result<Status> {
    let (editor, requests) = match args.port {
        None => Editor::new(std::io::stdin(), std::io::stdout()),
        Some(port) => {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).with_context(|| format!("--port {port}"))?;
            let (stream, _) = listener.accept().context("no editor has come")?;
            Editor::new(stream.try_clone().context("the connection")?, stream)
        }
    };
    serve(&editor, &requests)?;
    Ok(Status::Done)
}

/// Answers requests until the editor leaves.
fn serve(editor: &Editor, requests: &Receiver<Value>) -> anyhow::Result<()> {
    while let Ok(mut request) = requests.recv() {
        match request["command"].as_str().unwrap_or("") {
            "initialize" => {
                editor.set_progress(request["arguments"]["supportsProgressReporting"] == true);
                editor.answer(&request, Ok(capabilities()))?;
            }
            "launch" => loop {
                match launch::launch(editor, requests, &request)? {
                    After::Leave => return Ok(()),
                    After::Stay => break,
                    After::Again(with) => {
                        // What the editor does not say again is as before.
                        if let Some(arguments) = with["arguments"]["arguments"].as_object() {
                            request["arguments"] = json!(arguments);
                        }
                        request["seq"] = with["seq"].clone();
                        request["command"] = with["command"].clone();
                    }
                }
            },
            "disconnect" | "terminate" => {
                editor.answer(&request, Ok(json!({})))?;
                return Ok(());
            }
            "attach" => {
                let error = "a program is launched here: there is nothing to attach to".to_string();
                editor.answer(&request, Err(error))?;
            }
            other => {
                let error = format!("`{other}` needs a program: `launch` comes first");
                editor.answer(&request, Err(error))?;
            }
        }
    }
    Ok(())
}

/// What the adapter can do.
fn capabilities() -> Value {
    let filter =
        json!({ "filter": "trap", "label": "Traps", "description": "Instructions that cannot run", "default": true });
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsStepBack": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsInstructionBreakpoints": true,
        "supportsDataBreakpoints": true,
        "supportsEvaluateForHovers": true,
        "supportsSetVariable": true,
        "supportsSetExpression": true,
        "supportsGotoTargetsRequest": true,
        "supportsSteppingGranularity": true,
        "supportsExceptionInfoRequest": true,
        "exceptionBreakpointFilters": [filter],
        "supportsDisassembleRequest": true,
        "supportsReadMemoryRequest": true,
        "supportsLoadedSourcesRequest": true,
        "supportsBreakpointLocationsRequest": true,
        "supportsCompletionsRequest": true,
        "completionTriggerCharacters": [],
        "supportsRestartRequest": true,
        "supportsTerminateRequest": true,
        "supportsCancelRequest": true,
    })
}

/// A reporter whose messages become the error of a request.
fn quiet() -> Reporter {
    Reporter::collecting().of("dap", false)
}
