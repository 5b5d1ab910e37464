//! The exit status, and how the process ends.

use std::io::Write as _;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

use pendula::native::stop_compilers;
use pendula::visible::visible;

use crate::cli::chrome_trace;

/// The exit status of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    /// Success.
    Done = 0,
    /// The user's program is at fault: an assembly error, a trap, a failed round trip.
    Fault = 1,
    /// Wrong usage, or a problem with files.
    Usage = 2,
    /// Ended by Ctrl-C: 128 plus the number of the signal, as in shells.
    Interrupted = 130,
}

/// Ends a command with this exit status; the error has been reported.
#[derive(Debug, thiserror::Error)]
#[error("the error has been reported")]
pub(crate) struct Reported(pub(crate) Status);

/// The exit status of a command, if its error, if any, has been reported.
pub(crate) fn settled(result: anyhow::Result<Status>) -> anyhow::Result<Status> {
    result.or_else(|error| error.downcast().map(|Reported(status)| status))
}

/// Completes the file of `--trace-json`, and returns the exit status.
pub(crate) fn traced(status: Status) -> Status {
    let Err(error) = chrome_trace::finish() else { return status };
    let _ = writeln!(std::io::stderr().lock(), "error: {}", visible(&format!("{error:#}")));
    status.max(Status::Usage)
}

/// The exit status of the command once it has ended, and a number that is none before.
static SETTLED: AtomicI32 = AtomicI32::new(-1);

/// Notes that the command has ended with this status: only code for later commands is waited for.
pub(crate) fn settle(status: Status) {
    SETTLED.store(status as i32, Ordering::Relaxed);
}

/// What brings back the terminal, while something else than lines is shown on it.
static RESTORE: Mutex<Option<fn()>> = Mutex::new(None);

/// Sets what is done to the terminal before the process ends anywhere, or an error is printed that ends it.
pub(crate) fn set_restore(restore: Option<fn()>) {
    *RESTORE.lock().unwrap_or_else(PoisonError::into_inner) = restore;
}

/// Brings back the terminal.
pub(crate) fn restore_terminal() {
    let restore = RESTORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(restore) = restore {
        restore();
    }
}

/// Ends the process with this status, or with that of the command if it has ended.
pub(crate) fn exit(status: Status) -> ! {
    restore_terminal();
    stop_compilers();
    let settled = SETTLED.load(Ordering::Relaxed);
    std::process::exit(if settled < 0 { traced(status) as i32 } else { settled })
}

/// True if the error is a closed pipe: the reader of our output has ended, which is not a failure.
pub(crate) fn broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|e| e.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe))
}
