//! Options of `cache`.

use clap::{Args, ValueEnum};

/// Options of `cache`.
#[derive(Args, Debug)]
pub(crate) struct Cache {
    /// What to do.
    #[arg(value_enum)]
    pub(crate) action: CacheAction,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to do with the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheAction {
    /// List the libraries in the cache, those used last first.
    List,
    /// Remove them.
    Clear,
}
