//! Options of `dap`.

use clap::Args;

/// Options of `dap`.
#[derive(Args, Debug)]
pub(crate) struct Dap {
    /// Wait for the editor on this port of this machine, instead of standard input and output.
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
}
