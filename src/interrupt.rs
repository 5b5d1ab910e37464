//! Ctrl-C: the first ends the run at the next check, so that its state can be reported; the second ends the process at once.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pendula::asm::diagnostic::{Diagnostic, Sources};
use pendula::diagnosis::INTERRUPTED;
use pendula::native;
use serde_json::{Map, json};

use crate::report::Reporter;
use crate::{Status, answer};

/// The code of the error.
pub(crate) const CODE: &str = INTERRUPTED;

/// How long a run that does not look at the flag may go on after Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(300);

/// The time between checks of whether such a run has ended.
const LOOK: Duration = Duration::from_millis(20);

/// True once Ctrl-C was pressed.
static REQUESTED: AtomicBool = AtomicBool::new(false);

/// The number of [`InterruptGuard`]s.
static GUARDS: AtomicUsize = AtomicUsize::new(0);

/// While one exists, Ctrl-C ends runs, not the process.
pub(crate) struct InterruptGuard(());

impl InterruptGuard {
    /// From now on, Ctrl-C ends runs. Where a run does not look at the flag, the process ends with a message.
    pub(crate) fn begin(reporter: &Reporter) -> InterruptGuard {
        listen(reporter);
        GUARDS.fetch_add(1, Ordering::Relaxed);
        tracing::debug!("from here on, Ctrl-C ends the run and not the program");
        InterruptGuard(())
    }
}

/// Handles Ctrl-C from now on: it ends runs that are guarded, else the process.
pub(crate) fn listen(reporter: &Reporter) {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        let reporter = reporter.clone();
        // Where the signal is ignored or handled already, as that of a program in the background may be, it stays so.
        if let Err(error) = ctrlc::try_set_handler(move || pressed(&reporter)) {
            tracing::debug!("Ctrl-C is not heeded: {error}");
        }
    });
}

impl Drop for InterruptGuard {
    fn drop(&mut self) {
        GUARDS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The number of runs that do not look at the flag.
static UNRESPONSIVE: AtomicUsize = AtomicUsize::new(0);

/// While one exists, a run is under way that does not look at the flag before its end.
pub(crate) struct Unresponsive(());

impl Unresponsive {
    /// Begins such a run.
    pub(crate) fn begin() -> Unresponsive {
        UNRESPONSIVE.fetch_add(1, Ordering::Relaxed);
        Unresponsive(())
    }
}

impl Drop for Unresponsive {
    fn drop(&mut self) {
        UNRESPONSIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

/// True if Ctrl-C ends runs, not the process.
fn is_guarded() -> bool {
    GUARDS.load(Ordering::Relaxed) > 0
}

/// True if Ctrl-C was pressed: runs end.
pub(crate) fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Ends the process.
fn leave() -> ! {
    crate::exit(Status::Interrupted)
}

fn pressed(reporter: &Reporter) {
    if REQUESTED.swap(true, Ordering::Relaxed) || !is_guarded() {
        leave();
    }
    // The next time must find this thread waiting for it.
    let reporter = reporter.clone();
    let waits = std::thread::Builder::new().spawn(move || exit_if_unresponsive(&reporter));
    if waits.is_err() {
        leave();
    }
}

/// Ends the process if a run that does not look at the flag does not end soon.
fn exit_if_unresponsive(reporter: &Reporter) {
    let mut since = None;
    loop {
        let whole = native::is_under_way();
        if whole || UNRESPONSIVE.load(Ordering::Relaxed) > 0 {
            if since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                report_without_state(reporter, whole);
                leave();
            }
        } else {
            since = None;
        }
        std::thread::sleep(LOOK);
    }
}

/// Reports that the state is not known: of C code for a whole run, or of a run whose steps are not counted.
fn report_without_state(reporter: &Reporter, whole: bool) {
    let (why, help) = if whole {
        (
            "it is one piece of C, of whose state nothing is known before its end",
            "with `--engine jit` or `--stats` the program runs in parts, and stops with its state",
        )
    } else {
        (
            "its steps are counted on a terminal only, and it looks at nothing before its end",
            "with `--max-steps N` the program runs in parts, and stops with its state",
        )
    };
    if answer::is_json(reporter) {
        let outcome = json!({ "kind": "interrupted", "code": CODE, "message": why });
        // An error here has nobody to report to.
        let _ = answer::answer(reporter, false, outcome, Map::new());
        return;
    }
    let d = Diagnostic::error(CODE, format!("the run was interrupted; {why}")).help(help);
    reporter.diagnostic(&d, &Sources::default());
}
