//! The progress of runs by C code, which a thread beside them asks for: such a run does nothing else before its end.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use pendula::native;

use crate::cli::session::on_terminal;

/// How long a command runs before its progress is shown.
const BEGINS: Duration = Duration::from_secs(1);

/// The time between two questions.
const INTERVAL: Duration = Duration::from_millis(200);

/// Shows the progress of such runs on the terminal, as long as it exists.
pub(crate) struct WholeProgress {
    /// Its end ends the thread.
    ends: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl WholeProgress {
    /// Begins to show it, if runs that begin now take long; `None` if there is no terminal.
    pub(crate) fn begin() -> Option<WholeProgress> {
        if !on_terminal() {
            return None;
        }
        let (ends, ended) = channel();
        let show = move || {
            let mut bar: Option<indicatif::ProgressBar> = None;
            let mut wait = BEGINS;
            while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = INTERVAL;
                if let Some(turn) = native::where_runs_are(INTERVAL).first() {
                    let bar = bar.get_or_insert_with(indicatif::ProgressBar::new_spinner);
                    bar.set_message(turn.to_string());
                    bar.tick();
                }
            }
            bar.iter().for_each(indicatif::ProgressBar::finish_and_clear);
        };
        // Without a thread, nothing is shown.
        Some(WholeProgress { ends: Some(ends), thread: std::thread::Builder::new().spawn(show).ok() })
    }
}

impl Drop for WholeProgress {
    fn drop(&mut self) {
        self.ends = None;
        // The bar must be gone before anything else is printed.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
