//! The command line. Everything that Pendula prints is printed here.

mod bench;
mod cli;
mod cmd;
mod drift;
mod energy_json;
mod energy_text;
mod outcome;
mod report;
mod session;
mod trapped;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Done.
    Done = 0,
    /// The user's program is at fault: assembly errors, a trap, a failed round trip.
    Fault = 1,
    /// Usage, or trouble with files.
    Usage = 2,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let level = match cli.verbose {
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    let filter = tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| level.into());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).without_time().init();
    let reporter = report::Reporter::new(cli.color);
    let result = match &cli.command {
        Command::Run(args) => cmd::run::run(args, &reporter),
        Command::Grad(args) => cmd::grad::run(args, &reporter),
        Command::Energy(args) => cmd::energy::run(args, &reporter),
        Command::Level(args) => cmd::level::run(args, &reporter),
        Command::Asm(args) => cmd::asm::run(args, &reporter),
        Command::Compile(args) => cmd::compile::run(args, &reporter),
        Command::Disasm(args) => cmd::disasm::run(args, &reporter),
        Command::Check(args) => cmd::check::run(args, &reporter),
        Command::Invert(args) => cmd::invert::run(args, &reporter),
        Command::Fmt(args) => cmd::fmt::run(args, &reporter),
        Command::Import(args) => cmd::import::run(args, &reporter),
        Command::Isa(args) => cmd::isa::run(args),
        Command::Bench(args) => cmd::bench::run(args, &reporter),
        Command::Completions(args) => cmd::completions::run(args),
        Command::Man(args) => cmd::man::run(args),
    };
    let status = match result {
        Ok(status) => status,
        Err(error) if broken_pipe(&error) => Status::Done,
        Err(error) => {
            reporter.failure(&error);
            Status::Usage
        }
    };
    ExitCode::from(status as u8)
}

/// Whether the error is that nobody reads our output any more, which is no error.
fn broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|e| e.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe))
}
