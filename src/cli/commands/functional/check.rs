//! `pendula check` of a functional program.

use pendula::load::display_name;
use pendula::report::{Reporter, print};
use serde_json::Map;

use crate::cli::args::Source;
use crate::cli::commands::functional::loaded;
use crate::cli::output::answer_diagnostics;
use crate::cli::status::{Reported, Status};

/// Reads a program and tells whether it is right; `several` says whether there are others.
pub(crate) fn one(source: &Source, (json, several): (bool, bool), reporter: &Reporter) -> anyhow::Result<Status> {
    let loaded = loaded(source, json, reporter);
    let name = display_name(&source.file);
    if several && !json && loaded.as_ref().is_err_and(|error| error.is::<Reported>()) {
        print(&format!("{name}: cannot be read\n"))?;
    }
    let loaded = loaded?;
    if json {
        answer_diagnostics(&loaded.warnings, &loaded.sources, Map::new(), reporter)?;
    } else {
        print(&format!("{name}: no problems found\n"))?;
    }
    Ok(Status::Done)
}
