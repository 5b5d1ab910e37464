//! Options of `level`.

use clap::Args;

use super::{Conditions, Options, SourcesOf};

/// Options of `level`.
#[derive(Args, Debug)]
pub(crate) struct Level {
    /// The technology on which undoing is compared with erasing: a name (see `energy --list-tech`) or a TOML file.
    #[arg(long, value_name = "NAME", default_value = "acmos22-fdsoi")]
    pub(crate) tech: String,
    /// Write a plot of the instructions of each function and routine, by what they are for.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Words for the input tape, which `read` takes: `1,2,3` or `@file`.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) input: Option<String>,
    /// The conditions of the run.
    #[command(flatten)]
    pub(crate) given: Conditions,
    /// The programs.
    #[command(flatten)]
    pub(crate) sources: SourcesOf<Options>,
}
