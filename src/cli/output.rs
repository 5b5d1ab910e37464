//! Where the results of a command go: diagnostics, texts and objects, to standard output or to files.

use std::io::IsTerminal as _;
use std::path::Path;

use anyhow::Context;
use pendula::asm::diagnostic::{Diagnostic, Severity, Sources};
use pendula::files;
use pendula::report::{Reporter, print_bytes, print_source, to_json};
use serde_json::{Map, Value, json};

use crate::cli::report::answer;

/// Reports diagnostics: as text on standard error, or as one JSON object on standard output.
pub(crate) fn report(
    diagnostics: &[Diagnostic],
    sources: &Sources,
    json: bool,
    reporter: &Reporter,
) -> anyhow::Result<()> {
    if json {
        answer_diagnostics(diagnostics, sources, Map::new(), reporter)?;
    } else {
        reporter.diagnostics(diagnostics, sources);
    }
    Ok(())
}

/// Prints the answer of a command that reports diagnostics, with additional entries.
pub(crate) fn answer_diagnostics(
    diagnostics: &[Diagnostic],
    sources: &Sources,
    mut rest: Map<String, Value>,
    reporter: &Reporter,
) -> anyhow::Result<()> {
    let failed = diagnostics.iter().any(|d| d.severity == Severity::Error);
    let outcome = if failed { json!({ "kind": "rejected" }) } else { answer::finished() };
    rest.insert("diagnostics".into(), as_json(diagnostics, sources));
    Ok(answer::answer(reporter, !failed, outcome, rest)?)
}

/// Diagnostics as a JSON list.
pub(crate) fn as_json(diagnostics: &[Diagnostic], sources: &Sources) -> Value {
    diagnostics.iter().map(|d| to_json(d, sources)).collect()
}

/// Outputs source text: as part of the JSON answer if JSON is requested and no file is named, else like [`write`].
pub(crate) fn output_text(
    (source, output): (&str, Option<&str>),
    text: String,
    (diagnostics, sources): (&[Diagnostic], &Sources),
    json: bool,
    reporter: &Reporter,
) -> anyhow::Result<()> {
    if !json {
        return write(source, output, &text);
    }
    let mut rest = Map::new();
    match output.filter(|o| *o != "-") {
        Some(path) => {
            write(source, Some(path), &text)?;
            rest.insert("output".into(), json!(path));
        }
        None => {
            rest.insert("text".into(), json!(text));
        }
    }
    answer_diagnostics(diagnostics, sources, rest, reporter)
}

/// True if a result goes to standard output.
pub(crate) fn is_stdout(output: Option<&str>) -> bool {
    matches!(output, None | Some("-"))
}

/// Writes source text to a file, or to standard output.
pub(crate) fn write(source: &str, output: Option<&str>, text: &str) -> anyhow::Result<()> {
    match output.filter(|o| *o != "-") {
        None => Ok(print_source(text)?),
        Some(path) => {
            ensure_not_source(source, path)?;
            write_file(path, text.as_bytes())
        }
    }
}

/// Writes an object to the named file, to standard output if requested, or beside the source. Returns the name of the
/// file.
pub(crate) fn write_object(source: &str, output: Option<&str>, bytes: &[u8]) -> anyhow::Result<Option<String>> {
    let path = match output {
        Some("-") => {
            let terminal = std::io::stdout().is_terminal();
            anyhow::ensure!(
                !terminal,
                "an object is not a text for a terminal: name a file, `-o FILE`, or redirect the output"
            );
            print_bytes(bytes)?;
            return Ok(None);
        }
        Some(path) => path.to_string(),
        None if source == "-" => anyhow::bail!("name a file for the object: -o OUT"),
        None => Path::new(source).with_extension("o").display().to_string(),
    };
    ensure_not_source(source, &path)?;
    write_file(&path, bytes)?;
    Ok(Some(path))
}

/// Writes an object like [`write_object`], and answers in JSON if requested.
pub(crate) fn output_object(
    (source, output): (&str, Option<&str>),
    bytes: &[u8],
    (diagnostics, sources): (&[Diagnostic], &Sources),
    mut rest: Map<String, Value>,
    (json, reporter): (bool, &Reporter),
) -> anyhow::Result<()> {
    anyhow::ensure!(
        !(json && output == Some("-")),
        "--json and `-o -` both write to standard output: name a file for the object"
    );
    let path = write_object(source, output, bytes)?;
    if json {
        rest.insert("output".into(), json!(path));
        answer_diagnostics(diagnostics, sources, rest, reporter)?;
    }
    Ok(())
}

/// Writes a file completely, or not at all.
pub(crate) fn write_file(path: &str, bytes: &[u8]) -> anyhow::Result<()> {
    files::write(path, bytes).with_context(|| format!("cannot write {path}"))
}

/// Refuses to write a result over its own source.
pub(crate) fn ensure_not_source(source: &str, output: &str) -> anyhow::Result<()> {
    let same = match (std::fs::canonicalize(source), std::fs::canonicalize(output)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    };
    anyhow::ensure!(!same, "{output} is the source itself, which would be lost; give another file");
    Ok(())
}
