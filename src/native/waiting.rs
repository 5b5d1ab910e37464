//! Threads that make code beside runs, and how long a command waits for them at its end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long a command waits at its end for the compiler, at most, so that the next one finds the code: longer if the compiler was not done the
/// last time.
const PATIENCE: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];

/// Whether a compiler is at work that was not done the last time.
pub(super) static AGAIN: AtomicBool = AtomicBool::new(false);

/// The number of threads that make code beside runs.
static WORKING: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// Counts such a thread as long as it lives.
pub(super) struct Working;

impl Working {
    pub(super) fn begin() -> Working {
        *WORKING.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Working
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        *WORKING.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        WORKING.1.notify_all();
    }
}

/// Waits until all code that is being made beside runs is in the cache, for a second at most, or four if it was not done the last time. A
/// process that ends before ends the compiler as well.
pub fn wait_for_compiler() {
    let longest = PATIENCE[usize::from(AGAIN.load(Ordering::Relaxed))];
    let working = WORKING.0.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = WORKING.1.wait_timeout_while(working, longest, |working| *working > 0);
}
