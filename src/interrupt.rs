//! Ctrl-C: a run stops at the next chance, so that it can be told how far it has come; a second time it ends the program at once.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pendula::asm::diagnostic::{Diagnostic, Sources};
use pendula::diagnosis::INTERRUPTED;
use pendula::native;
use serde_json::{Map, json};

use crate::report::Reporter;
use crate::{Status, answer};

/// Its code.
pub(crate) const CODE: &str = INTERRUPTED;

/// How long what looks at nothing before its end may go on.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long to wait between looks whether it has come to its end.
const LOOK: Duration = Duration::from_millis(20);

/// Whether Ctrl-C was pressed while runs heeded it.
static CAME: AtomicBool = AtomicBool::new(false);

/// How many there are that heed it.
static HEEDED: AtomicUsize = AtomicUsize::new(0);

/// While there is one, Ctrl-C ends runs, and not the program.
pub(crate) struct Heed(());

impl Heed {
    /// Begins to heed Ctrl-C. Where a run cannot, the program ends, and says so.
    pub(crate) fn begin(reporter: &Reporter) -> Heed {
        listen(reporter);
        HEEDED.fetch_add(1, Ordering::Relaxed);
        tracing::debug!("from here on, Ctrl-C ends the run and not the program");
        Heed(())
    }
}

/// Has Ctrl-C end the runs that heed it, and where there is none, the program.
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

impl Drop for Heed {
    fn drop(&mut self) {
        HEEDED.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How many runs there are that look at nothing before their end.
static BLIND: AtomicUsize = AtomicUsize::new(0);

/// While there is one, a run looks at nothing before its end.
pub(crate) struct Blind(());

impl Blind {
    /// Begins such a run.
    pub(crate) fn begin() -> Blind {
        BLIND.fetch_add(1, Ordering::Relaxed);
        Blind(())
    }
}

impl Drop for Blind {
    fn drop(&mut self) {
        BLIND.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether runs are heeding Ctrl-C.
fn is_heeded() -> bool {
    HEEDED.load(Ordering::Relaxed) > 0
}

/// Whether Ctrl-C has come, and runs end.
pub(crate) fn came() -> bool {
    CAME.load(Ordering::Relaxed)
}

/// Ends the program.
fn leave() -> ! {
    crate::exit(Status::Interrupted)
}

fn pressed(reporter: &Reporter) {
    if CAME.swap(true, Ordering::Relaxed) || !is_heeded() {
        leave();
    }
    // The next time must find this thread waiting for it.
    let reporter = reporter.clone();
    let waits = std::thread::Builder::new().spawn(move || outlast(&reporter));
    if waits.is_err() {
        leave();
    }
}

/// Ends the program where what looks at nothing does not end soon.
fn outlast(reporter: &Reporter) {
    let mut since = None;
    loop {
        let whole = native::is_under_way();
        if whole || BLIND.load(Ordering::Relaxed) > 0 {
            if since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                unseen(reporter, whole);
                leave();
            }
        } else {
            since = None;
        }
        std::thread::sleep(LOOK);
    }
}

/// Tells that nothing can be told, of code for a whole run or of one whose steps are not counted.
fn unseen(reporter: &Reporter, whole: bool) {
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
        // Who would hear of an error here?
        let _ = answer::answer(reporter, false, outcome, Map::new());
        return;
    }
    let d = Diagnostic::error(CODE, format!("the run was interrupted; {why}")).help(help);
    reporter.diagnostic(&d, &Sources::default());
}
