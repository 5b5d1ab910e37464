//! Child processes with a time limit and captured output.
//!
//! A child gets its own process group where the system has such, and the whole group is killed with it: a compiler is a driver
//! that starts other programs.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The maximum number of captured bytes. The rest is read and discarded, so that the program does not block on a full pipe.
const CAPTURE_LIMIT: usize = 64 << 10;

/// The maximum interval between two checks whether a program has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// How long to wait for the rest of the output after a program has ended.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// The process groups of the children that run.
#[cfg(unix)]
static GROUPS: Mutex<std::collections::BTreeSet<i32>> = Mutex::new(std::collections::BTreeSet::new());

/// Kills all children that run, with their process groups. What waits for them goes on as if they had failed.
pub(crate) fn end_all() {
    #[cfg(unix)]
    for group in GROUPS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        if let Some(group) = rustix::process::Pid::from_raw(*group) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

/// The result of a program.
pub(crate) struct ProgramResult {
    pub(crate) status: ExitStatus,
    /// The beginning of its output on the captured stream.
    pub(crate) output: String,
}

/// The stream to capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Output,
    Errors,
}

/// Runs a program without input until it ends; `None` if it was stopped at the time limit.
pub(crate) fn run(command: &mut Command, stream: Stream, limit: Duration) -> io::Result<Option<ProgramResult>> {
    let (output, errors) = match stream {
        Stream::Output => (Stdio::piped(), Stdio::null()),
        Stream::Errors => (Stdio::null(), Stdio::piped()),
    };
    command.stdin(Stdio::null()).stdout(output).stderr(errors);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn()?;
    #[cfg(unix)]
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner).insert(child.id().cast_signed());
    let ran = wait(&mut child, limit);
    // Processes that the program started may outlive it and would keep the stream open.
    let status = end(&mut child);
    let (in_time, output) = ran?;
    let status = status?;
    if !in_time {
        return Ok(None);
    }
    // A process that has left the group may still hold the stream; do not wait for it.
    let _ = output.done.recv_timeout(DRAIN_TIMEOUT);
    let output = output.captured.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Some(ProgramResult { status, output: String::from_utf8_lossy(&output).into_owned() }))
}

/// The output of a running program.
struct Output {
    captured: Arc<Mutex<Vec<u8>>>,
    /// Receives a message when the stream has ended.
    done: Receiver<()>,
}

/// Waits for a program to end; returns true if it ended within the limit.
fn wait(child: &mut Child, limit: Duration) -> io::Result<(bool, Output)> {
    let output = child.stdout.take().map(|p| Box::new(p) as Box<dyn Read + Send>);
    let pipe = output.or_else(|| child.stderr.take().map(|p| Box::new(p) as _));
    let captured = Arc::new(Mutex::new(Vec::new()));
    let (ended, done) = channel();
    let to = Arc::clone(&captured);
    std::thread::Builder::new().spawn(move || {
        pipe.into_iter().for_each(|pipe| capture(pipe, &to));
        // The receiver may be gone already.
        let _ = ended.send(());
    })?;
    let started = Instant::now();
    let mut interval = Duration::from_millis(1);
    while !has_ended(child)? {
        if started.elapsed() >= limit {
            return Ok((false, Output { captured, done }));
        }
        std::thread::sleep(interval);
        interval = (interval * 2).min(POLL_INTERVAL);
    }
    Ok((true, Output { captured, done }))
}

/// Reads to the end and captures the beginning.
fn capture(mut from: Box<dyn Read + Send>, to: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(n) => {
                let mut captured = to.lock().unwrap_or_else(PoisonError::into_inner);
                let room = CAPTURE_LIMIT.saturating_sub(captured.len()).min(n);
                captured.extend_from_slice(&buffer[..room]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Whether a program has ended. It is not reaped, so that its process id is not reused.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match Pid::from_raw(child.id().cast_signed()) {
        Some(pid) => match waitid(WaitId::Pid(pid), options) {
            Ok(status) => Ok(status.is_some()),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        },
        None => child.try_wait().map(|s| s.is_some()),
    }
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    child.try_wait().map(|s| s.is_some())
}

/// Kills a program with its process group, and reaps it.
fn end(child: &mut Child) -> io::Result<ExitStatus> {
    // It is not reaped yet, so that no other process has its number.
    #[cfg(unix)]
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner).remove(&child.id().cast_signed());
    #[cfg(unix)]
    if let Some(group) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
        // This fails if the whole group has ended.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = child.kill();
    child.wait()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Option<ProgramResult> {
        run(Command::new("/bin/sh").args(["-c", script]), Stream::Errors, limit).expect("runs")
    }

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn the_beginning_is_kept() {
        let ended = shell("head -c 10000000 /dev/zero | tr '\\0' x >&2; exit 3", LONG).expect("ends");
        assert_eq!((ended.status.code(), ended.output.len()), (Some(3), CAPTURE_LIMIT));
    }

    #[test]
    fn what_hangs_is_stopped_with_all_it_started() {
        assert!(shell("sleep 1000 & sleep 1000", Duration::from_millis(50)).is_none());
    }

    #[test]
    fn what_stays_behind_is_not_waited_for() {
        let ended = shell("sleep 1000 & echo done >&2", LONG).expect("ends");
        assert_eq!(ended.output, "done\n");
    }

    #[test]
    fn nor_what_leaves_the_group() {
        let ended = shell("setsid sleep 20 & echo done >&2", LONG).expect("ends");
        assert_eq!(ended.output, "done\n");
    }
}
