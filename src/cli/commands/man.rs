//! `pendula man`.

use std::path::Path;

use anyhow::Context;
use clap::{Command, CommandFactory};
use pendula::report::print;

use crate::cli::args::{Cli, Man};
use crate::cli::output::write_file;
use crate::cli::status::Status;

pub(crate) fn run(args: &Man) -> anyhow::Result<Status> {
    match &args.dir {
        Some(dir) => {
            std::fs::create_dir_all(dir).with_context(|| format!("cannot make {dir}"))?;
            let mut cli = Cli::command().disable_help_subcommand(true);
            cli.build();
            pages(cli, Path::new(dir))?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            print(&String::from_utf8_lossy(&page))?;
        }
    }
    Ok(Status::Done)
}

/// Writes the pages of a command and of its subcommands.
fn pages(command: Command, dir: &Path) -> anyhow::Result<()> {
    for inner in command.get_subcommands().filter(|c| !c.is_hide_set()).cloned() {
        pages(inner, dir)?;
    }
    let man = clap_mangen::Man::new(command);
    let mut page = Vec::new();
    man.render(&mut page)?;
    write_file(&dir.join(man.get_filename()).display().to_string(), &page)
}
