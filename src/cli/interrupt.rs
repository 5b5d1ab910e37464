//! Ctrl-C: the first ends the run at the next check, so that its state can be reported; the second ends the process at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Once};
use std::time::{Duration, Instant};

use pendula::asm::diagnostic::{Diagnostic, Sources};
use pendula::diagnosis::INTERRUPTED;
use pendula::native::{self, LoopTurn};
use pendula::report::Reporter;
use serde_json::{Map, json};

use crate::cli::report::answer;
use crate::cli::status::Status;

/// The error code.
pub(crate) const CODE: &str = INTERRUPTED;

/// How long a run that does not check the flag may continue after Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(300);

/// The time between checks of whether such a run has ended.
const LOOK: Duration = Duration::from_millis(20);

/// True once Ctrl-C was pressed.
static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The number of existing [`InterruptGuard`]s.
static GUARDS: AtomicUsize = AtomicUsize::new(0);

/// While a guard exists, Ctrl-C ends runs instead of the process.
pub(crate) struct InterruptGuard(());

impl InterruptGuard {
    /// Makes Ctrl-C end runs while the guard exists. If a run does not check the flag, the process ends with a message.
    pub(crate) fn begin(reporter: &Reporter) -> InterruptGuard {
        listen(reporter);
        GUARDS.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(target: "pendula::interrupt", "from here on, Ctrl-C ends the run and not the program");
        InterruptGuard(())
    }
}

/// Installs the handler of Ctrl-C, which ends guarded runs, or else the process.
pub(crate) fn listen(reporter: &Reporter) {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        let reporter = reporter.clone();
        // If the signal is already ignored or handled, as may be for a program in the background, it stays so.
        if let Err(error) = ctrlc::try_set_handler(move || pressed(&reporter)) {
            tracing::debug!(target: "pendula::interrupt", "Ctrl-C is not heeded: {error}");
        }
    });
}

impl Drop for InterruptGuard {
    fn drop(&mut self) {
        GUARDS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The number of runs that do not check the flag.
static UNRESPONSIVE: AtomicUsize = AtomicUsize::new(0);

/// While this exists, a run is active that does not check the flag before its end.
pub(crate) struct Unresponsive(());

impl Unresponsive {
    /// Marks the beginning of such a run.
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

/// True if Ctrl-C ends runs instead of the process.
fn is_guarded() -> bool {
    GUARDS.load(Ordering::Relaxed) > 0
}

/// True if Ctrl-C was pressed, so that runs must end.
pub(crate) fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Heeds the next Ctrl-C as the first: what the last one ended is over.
pub(crate) fn rearm() {
    REQUESTED.store(false, Ordering::Relaxed);
}

/// The flag that is set once Ctrl-C was pressed.
pub(crate) fn flag() -> Arc<AtomicBool> {
    Arc::clone(&REQUESTED)
}

/// Ends the process.
fn leave() -> ! {
    crate::cli::status::exit(Status::Interrupted)
}

fn pressed(reporter: &Reporter) {
    if REQUESTED.swap(true, Ordering::Relaxed) || !is_guarded() {
        leave();
    }
    // The next Ctrl-C must find this thread waiting.
    let reporter = reporter.clone();
    let waits = std::thread::Builder::new().spawn(move || exit_if_unresponsive(&reporter));
    if waits.is_err() {
        leave();
    }
}

/// Ends the process if a run that does not check the flag does not end soon.
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

/// Reports that the state is unknown: code for a whole run is active, or a run whose steps are not counted.
fn report_without_state(reporter: &Reporter, whole: bool) {
    let reached = if whole { native::where_runs_are(PATIENCE).into_iter().next() } else { None };
    let why = match (whole, &reached) {
        (true, Some(turn)) => format!("it runs as a single piece of compiled code, and was in {turn}"),
        (true, None) => "it runs as a single piece of compiled code, whose state is unknown before its end".to_string(),
        (false, _) => "its steps are counted on a terminal only, and it looks at nothing before its end".to_string(),
    };
    let help = "with `--max-steps N` the program runs in parts, and stops with its state";
    if answer::is_json(reporter) {
        let mut outcome = json!({ "kind": "interrupted", "code": CODE, "message": why });
        if let Some(LoopTurn { place, turn, of }) = reached {
            outcome["loop"] = json!({ "file": place.file, "line": place.line, "turn": turn, "of": of });
        }
        // An error here cannot be reported to anybody.
        let _ = answer::answer(reporter, false, outcome, Map::new());
        return;
    }
    let d = Diagnostic::error(CODE, format!("the run was interrupted; {why}")).help(help);
    reporter.diagnostic(&d, &Sources::default());
}
