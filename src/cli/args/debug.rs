//! Options of `debug`.

use clap::Args;

use super::{Conditions, Source};

/// Options of `debug`.
#[derive(Args, Debug)]
#[command(mut_arg("optimise", |arg| arg.default_value("0")))]
pub(crate) struct Debug {
    /// Run this command first (repeatable): `-x 'break 12' -x continue`.
    #[arg(short = 'x', long = "execute", value_name = "COMMAND")]
    pub(crate) execute: Vec<String>,
    /// Run the commands in this file, a line each, after those of `-x`; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<String>,
    /// End after the commands of `-x` and `--script`, also on a terminal.
    #[arg(long)]
    pub(crate) batch: bool,
    /// Ask for commands in a line each; otherwise, on a terminal, the view fills the screen.
    #[arg(long)]
    pub(crate) plain: bool,
    /// Debug the run back, from `finish` to `start`.
    #[arg(long, conflicts_with = "round_trip")]
    pub(crate) reverse: bool,
    /// Debug the run there and back.
    #[arg(long)]
    pub(crate) round_trip: bool,
    /// Debug the run of a gradient, there and back: this is the loss.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["reverse", "round_trip"])]
    pub(crate) loss: Option<String>,
    /// Words for the input tape, which `read` takes: `1,2,3` or `@file`.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) input: Option<String>,
    /// The conditions of the run.
    #[command(flatten)]
    pub(crate) given: Conditions,
    /// The program.
    #[command(flatten)]
    pub(crate) source: Source,
}
