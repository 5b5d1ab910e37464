//! `pendula man`.

use anyhow::Context;
use clap::CommandFactory;

use crate::Status;
use crate::cli::{Cli, Man};
use crate::report::print;

pub(crate) fn run(args: &Man) -> anyhow::Result<Status> {
    match &args.dir {
        Some(dir) => {
            std::fs::create_dir_all(dir).with_context(|| format!("cannot make {dir}"))?;
            clap_mangen::generate_to(Cli::command(), dir).with_context(|| format!("cannot write to {dir}"))?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            print(&String::from_utf8_lossy(&page))?;
        }
    }
    Ok(Status::Done)
}
