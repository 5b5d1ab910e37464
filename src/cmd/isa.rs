//! `pendula isa`.

use pendula::isa::{manual, mnemonic};

use crate::Status;
use crate::answer::{answer, fields, finished};
use crate::cli::Isa;
use crate::report::{Reporter, print};

pub(crate) fn run(args: &Isa, reporter: &Reporter) -> anyhow::Result<Status> {
    match &args.mnemonic {
        Some(name) => match manual::find(name) {
            Some(entry) if args.json => answer(reporter, true, finished(), fields(manual::json_of(&entry)))?,
            Some(entry) => print(&manual::text_of(&entry))?,
            None => {
                let near = mnemonic::suggest(&name.to_ascii_lowercase());
                let hint = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
                anyhow::bail!("there is no instruction `{name}`{hint}");
            }
        },
        None if args.json => answer(reporter, true, finished(), fields(manual::json()))?,
        None if args.markdown => print(&manual::markdown())?,
        None => print(&manual::summary())?,
    }
    Ok(Status::Done)
}
