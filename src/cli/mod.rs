//! The command line. All output of Pendula is printed from here.
//!
//! `args` holds the types of the arguments, `commands` has one file per subcommand, and `report` makes their output. The
//! other modules set up one run of a command: progress, Ctrl-C, the memory limit, `--trace-json`.

mod args;
mod chrome_trace;
mod commands;
mod definitions;
mod interrupt;
mod julia;
mod memory;
mod output;
mod program;
mod progress;
mod report;
mod rerun;
mod session;
mod status;

use std::borrow::Cow;
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{CommandFactory as _, Parser as _};
use pendula::native::{stop_compilers, wait_for_compiler};
use pendula::report::{Reporter, print};
use pendula::visible::visible;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use commands::functional::is_functional;

use args::{Cli, Colour, Command, LabCommand};
use report::answer;
use status::{Status, broken_pipe, settled, traced};

/// A command that takes longer than this waits for the C compiler in the end.
const LONG: Duration = Duration::from_millis(100);

/// Runs the command that the arguments name.
pub(crate) fn run() -> ExitCode {
    let started = Instant::now();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return print_parser_error(&error),
    };
    let level = match cli.verbose {
        0 => tracing::Level::WARN,
        1 => tracing::Level::INFO,
        _ => tracing::Level::DEBUG,
    };
    let styled = is_styled(cli.color);
    let (name, json) = answer_name(&cli.command);
    let reporter = Reporter::new(styled).of(name, json);
    let result = log(level, styled, cli.trace_json.as_deref(), &reporter)
        .and_then(|()| memory::watch(cli.memory_limit, &reporter))
        .and_then(|()| settled(command(&cli.command, &reporter)));
    let status = match result {
        Ok(status) => status,
        Err(error) if broken_pipe(&error) => Status::Done,
        Err(error) => {
            answer::failure(&reporter, &error);
            Status::Usage
        }
    };
    let status = traced(status);
    status::settle(status);
    if started.elapsed() > LONG && status <= Status::Fault {
        wait_for_compiler();
    }
    stop_compilers();
    ExitCode::from(status as u8)
}

/// Sets up logging to standard error, and to the file of `--trace-json`.
fn log(level: tracing::Level, styled: bool, trace_json: Option<&str>, reporter: &Reporter) -> anyhow::Result<()> {
    use tracing_subscriber::fmt;
    let asked = std::env::var("RUST_LOG").ok().and_then(|targets| targets.parse::<Targets>().ok());
    let filter = asked.unwrap_or_else(|| Targets::new().with_default(level));
    // For spans, their ends are logged with their durations; events have no times.
    let text =
        fmt::layer().with_ansi(styled).with_writer(std::io::stderr).with_span_events(fmt::format::FmtSpan::CLOSE);
    let text = text.event_format(fmt::format().without_time()).with_filter(filter);
    let registry = tracing_subscriber::registry().with(text);
    let Some(path) = trace_json else {
        registry.init();
        return Ok(());
    };
    let trace = chrome_trace::begin(path);
    let own = Targets::new().with_target("pendula", tracing::Level::DEBUG);
    match trace {
        Ok(trace) => registry.with(trace.with_filter(own)).init(),
        Err(error) => {
            registry.init();
            return Err(error);
        }
    }
    // However the process ends, the file is completed.
    interrupt::listen(reporter);
    Ok(())
}

fn command(command: &Command, reporter: &Reporter) -> anyhow::Result<Status> {
    match command {
        Command::Run(args) if args.expect => commands::expect::run(args, reporter),
        Command::Run(args) if is_functional(&args.source.file) => commands::functional::run::run(args, reporter),
        Command::Run(args) if !args.many.batch.is_empty() => commands::batch::run::run(args, reporter),
        Command::Run(args) => commands::run::run(args, reporter),
        Command::Debug(args) => commands::debug::run(args, reporter),
        Command::Dap(args) => commands::dap::run(args),
        Command::Grad(args) if is_functional(&args.source.file) => commands::functional::grad::run(args, reporter),
        Command::Grad(args) if !args.many.batch.is_empty() => commands::batch::grad::run(args, reporter),
        Command::Grad(args) => commands::grad::run(args, reporter),
        Command::Energy(args) => commands::energy::run(args, reporter),
        Command::Level(args) => commands::level::run(args, reporter),
        Command::Asm(args) => commands::asm::run(args, reporter),
        Command::Compile(args) if is_functional(&args.source.file) => {
            commands::functional::compile::run(args, reporter)
        }
        Command::Compile(args) => commands::compile::run(args, reporter),
        Command::Disasm(args) => commands::disasm::run(args, reporter),
        Command::Check(args) => commands::check::run(args, reporter),
        Command::Invert(args) => commands::invert::run(args, reporter),
        Command::Fmt(args) => commands::fmt::run(args, reporter),
        Command::Import(args) => commands::import::run(args, reporter),
        Command::Explain(args) => commands::explain::run(args, reporter),
        Command::Isa(args) => commands::isa::run(args, reporter),
        Command::Circuit(args) => commands::circuit::run(args, reporter),
        Command::Prove(args) => commands::prove::run(args, reporter),
        Command::Lab(args) => commands::lab::run(args, reporter),
        Command::Bench(args) => commands::bench::run(args, reporter),
        Command::Cache(args) => commands::cache::run(args, reporter),
        Command::Completions(args) => commands::completions::run(args),
        Command::Man(args) => commands::man::run(args),
    }
}

/// The name of the schema of a command's answer, and whether it answers in JSON.
fn answer_name(command: &Command) -> (&'static str, bool) {
    match command {
        Command::Run(args) if args.expect && args.others.is_empty() => ("run.expect", args.json),
        Command::Run(args) if args.expect => ("run.expect.files", args.json),
        Command::Run(args) if is_functional(&args.source.file) => ("run.functional", args.json),
        Command::Run(args) if args.many.batch.is_empty() => ("run", args.json),
        Command::Run(args) => ("run.batch", args.json),
        Command::Grad(args) if is_functional(&args.source.file) => ("grad.functional", args.json),
        Command::Grad(args) if args.many.batch.is_empty() => ("grad", args.json),
        Command::Grad(args) => ("grad.batch", args.json),
        Command::Energy(args) if args.list_tech => ("energy.list", args.json),
        Command::Energy(args) => (if args.files.len() > 1 { "energy.files" } else { "energy" }, args.json),
        Command::Level(args) => (if args.sources.files.len() > 1 { "level.files" } else { "level" }, args.json),
        Command::Asm(args) => ("asm", args.json),
        Command::Compile(args) => ("compile", args.json),
        Command::Disasm(args) => ("disasm", args.json),
        Command::Check(args) => (if args.sources.files.len() > 1 { "check.files" } else { "check" }, args.json),
        Command::Invert(args) => ("invert", args.json),
        Command::Fmt(args) => ("fmt", args.json),
        Command::Import(args) => ("import", args.json),
        Command::Explain(args) => (if args.code.is_some() { "explain.entry" } else { "explain" }, args.json),
        Command::Isa(args) => (if !args.mnemonic.is_empty() { "isa.entry" } else { "isa" }, args.json),
        Command::Circuit(args) => ("circuit", args.json),
        Command::Prove(args) => ("prove", args.json),
        Command::Lab(args) => match &args.what {
            LabCommand::Try(args) => ("lab.try", args.programs.json),
            LabCommand::Discover(args) => ("lab.discover", args.programs.json),
            LabCommand::Sweep(args) => ("lab.sweep", args.programs.json),
        },
        Command::Bench(args) if args.list => ("bench.list", args.json),
        Command::Bench(args) if args.scale => ("bench.scale", args.json),
        Command::Bench(args) => ("bench", args.json),
        Command::Cache(args) => ("cache", args.json),
        Command::Completions(_) => ("completions", false),
        Command::Debug(_) => ("debug", false),
        Command::Dap(_) => ("dap", false),
        Command::Man(_) => ("man", false),
    }
}

/// True if standard error is coloured.
fn is_styled(colour: Colour) -> bool {
    match colour {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
    }
}

/// The command named by invalid arguments, if they ask for JSON; an empty name if they name no command with `--json`.
fn in_json() -> Option<String> {
    let given: Vec<_> = std::env::args_os().skip(1).take_while(|arg| arg != "--").collect();
    let cli = Cli::command();
    let answers = |command: &&clap::Command| command.get_arguments().any(|arg| arg.get_id() == "json");
    let names = || cli.get_subcommands().filter(answers).map(clap::Command::get_name);
    let named = given.iter().find_map(|arg| names().find(|name| arg == name));
    given.iter().any(|arg| arg == "--json").then(|| named.unwrap_or_default().to_string())
}

/// What to write instead, where an option that may stand alone has its value behind a space: that would be the file.
fn tip(arguments: &[std::ffi::OsString]) -> Option<String> {
    let value =
        arguments.windows(2).find(|pair| pair[0] == "--hessian" && (pair[1] == "forward" || pair[1] == "sweep"))?;
    Some(format!("the value of `--hessian` follows an equals sign: `--hessian={}`", value[1].to_string_lossy()))
}

/// Prints the output of the command line's parser: an error, or the requested help or version.
fn print_parser_error(output: &clap::Error) -> ExitCode {
    let mut text = output.render().to_string();
    let tip = tip(&std::env::args_os().collect::<Vec<_>>()).filter(|_| output.use_stderr());
    if let Some(tip) = &tip {
        text = text.replacen("\n\nUsage:", &format!("\n\n  tip: {tip}\n\nUsage:"), 1);
    }
    if let (true, Some(command)) = (output.use_stderr(), in_json())
        && answer::usage(&Reporter::new(false).of(command, true), &text).is_ok()
    {
        return ExitCode::from(Status::Usage as u8);
    }
    // A list that an option asks for also comes as an error.
    let list = text.strip_prefix("error: ").filter(|_| output.kind() == clap::error::ErrorKind::DisplayHelp);
    let written = match visible(&text) {
        _ if list.is_some() => print(list.unwrap_or_default()),
        // The message repeats arguments, which may contain control characters.
        Cow::Owned(text) if output.use_stderr() => write!(std::io::stderr().lock(), "{text}"),
        Cow::Borrowed(text) if tip.is_some() => write!(std::io::stderr().lock(), "{text}"),
        Cow::Owned(_) | Cow::Borrowed(_) => output.print().and_then(|()| std::io::stdout().flush()),
    };
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe && !output.use_stderr() => {
            let _ = writeln!(std::io::stderr().lock(), "error: cannot write to standard output: {error}");
            ExitCode::from(Status::Usage as u8)
        }
        Ok(()) | Err(_) => ExitCode::from(u8::try_from(output.exit_code()).unwrap_or(Status::Usage as u8)),
    }
}
