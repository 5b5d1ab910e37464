//! Programs that are run for what they say or make, with a limit to the time
//! they take and to what is kept of what they say.
//!
//! A program gets a process group of its own where the system has such, and all
//! of the group is ended with it: a compiler is a driver that starts others.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many bytes are kept of what a program says; the rest is read and forgotten, so that it need not wait for a reader.
const KEPT: usize = 64 << 10;

/// The longest that is waited between two looks at a program that runs.
const NAP: Duration = Duration::from_millis(5);

/// How long the end of what a program says is waited for when it has ended.
const STRAGGLERS: Duration = Duration::from_secs(2);

/// How a program has ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// What it has said on the stream that was asked for, the beginning.
    pub(crate) said: String,
}

/// Which stream is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Output,
    Errors,
}

/// Runs a program to its end, without input; `None` if it has not come to it within `limit` and was stopped.
pub(crate) fn run(command: &mut Command, stream: Stream, limit: Duration) -> io::Result<Option<Ended>> {
    let (output, errors) = match stream {
        Stream::Output => (Stdio::piped(), Stdio::null()),
        Stream::Errors => (Stdio::null(), Stdio::piped()),
    };
    command.stdin(Stdio::null()).stdout(output).stderr(errors);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn()?;
    let ran = wait(&mut child, limit);
    // What the program has started may outlive it, and would keep the stream open.
    let status = end(&mut child);
    let (in_time, said) = ran?;
    let status = status?;
    if !in_time {
        return Ok(None);
    }
    // What has left the group may have the stream still; it is not waited for.
    let _ = said.whole.recv_timeout(STRAGGLERS);
    let said = said.kept.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Some(Ended { status, said: String::from_utf8_lossy(&said).into_owned() }))
}

/// What a program says, while it does.
struct Output {
    kept: Arc<Mutex<Vec<u8>>>,
    /// Hears of the end.
    whole: Receiver<()>,
}

/// Waits for the end of a program; gives whether it has come in time.
fn wait(child: &mut Child, limit: Duration) -> io::Result<(bool, Output)> {
    let output = child.stdout.take().map(|p| Box::new(p) as Box<dyn Read + Send>);
    let pipe = output.or_else(|| child.stderr.take().map(|p| Box::new(p) as _));
    let kept = Arc::new(Mutex::new(Vec::new()));
    let (ended, whole) = channel();
    let to = Arc::clone(&kept);
    std::thread::Builder::new().spawn(move || {
        pipe.into_iter().for_each(|pipe| keep(pipe, &to));
        // Where nobody waits any more, nobody need know.
        let _ = ended.send(());
    })?;
    let started = Instant::now();
    let mut nap = Duration::from_millis(1);
    while !has_ended(child)? {
        if started.elapsed() >= limit {
            return Ok((false, Output { kept, whole }));
        }
        std::thread::sleep(nap);
        nap = (nap * 2).min(NAP);
    }
    Ok((true, Output { kept, whole }))
}

/// Reads to the end, and keeps the beginning.
fn keep(mut from: Box<dyn Read + Send>, to: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(n) => {
                let mut kept = to.lock().unwrap_or_else(PoisonError::into_inner);
                let room = KEPT.saturating_sub(kept.len()).min(n);
                kept.extend_from_slice(&buffer[..room]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Whether a program has ended. It is not yet forgotten by the system then, so that its number is not another's.
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

/// Ends a program with all of its group, and waits for it.
fn end(child: &mut Child) -> io::Result<ExitStatus> {
    #[cfg(unix)]
    if let Some(group) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
        // Nothing is left of a group of which all have ended.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = child.kill();
    child.wait()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Option<Ended> {
        run(Command::new("/bin/sh").args(["-c", script]), Stream::Errors, limit).expect("runs")
    }

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn the_beginning_is_kept() {
        let ended = shell("head -c 10000000 /dev/zero | tr '\\0' x >&2; exit 3", LONG).expect("ends");
        assert_eq!((ended.status.code(), ended.said.len()), (Some(3), KEPT));
    }

    #[test]
    fn what_hangs_is_stopped_with_all_it_started() {
        assert!(shell("sleep 1000 & sleep 1000", Duration::from_millis(50)).is_none());
    }

    #[test]
    fn what_stays_behind_is_not_waited_for() {
        let ended = shell("sleep 1000 & echo done >&2", LONG).expect("ends");
        assert_eq!(ended.said, "done\n");
    }

    #[test]
    fn nor_what_leaves_the_group() {
        let ended = shell("setsid sleep 20 & echo done >&2", LONG).expect("ends");
        assert_eq!(ended.said, "done\n");
    }
}
