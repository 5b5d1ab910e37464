//! The program `pendula`: the command line in `cli`, on a thread with enough stack.

mod cli;

use std::process::ExitCode;

/// The stack size that parsers, compilers and engines require: the usual default of systems (`ulimit -s`).
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    if pendula_codegen::stack::left().is_some_and(|left| left >= STACK / 2) {
        return cli::run();
    }
    match std::thread::Builder::new().stack_size(STACK).spawn(cli::run) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        // The thread cannot be started; small programs run without it.
        Err(_) => cli::run(),
    }
}
