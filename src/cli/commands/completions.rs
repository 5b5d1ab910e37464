//! `pendula completions`.

use clap::CommandFactory;
use pendula::report::print;

use crate::cli::args::{Cli, Completions};
use crate::cli::status::Status;

pub(crate) fn run(args: &Completions) -> anyhow::Result<Status> {
    // The script is first generated in memory: the generator panics if it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "pendula", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Status::Done)
}
