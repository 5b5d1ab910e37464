//! The terminal that shows the view, and what the user does in it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::stdout;
#[cfg(unix)]
use std::sync::Once;
use std::time::{Duration, Instant};

use ratatui::DefaultTerminal;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, Event, KeyCode, KeyEvent,
    KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind, poll, read,
};
use ratatui::crossterm::execute;

use super::draw::{self, Places};
use super::picture::Picture;
use super::state::State;
use crate::cli::status::{restore_terminal, set_restore};

/// After which time a run that goes on is shown as such, and how often.
const PATIENCE: Duration = Duration::from_millis(150);
const EVERY: Duration = Duration::from_millis(60);

/// The screen, as the session's movements and the view share it.
#[derive(Default)]
pub(in crate::cli::commands::debug) struct Display(RefCell<Option<Inner>>);

pub(super) struct Inner {
    pub(super) terminal: DefaultTerminal,
    /// What the user has done, and nobody has looked at yet.
    pub(super) waiting: VecDeque<Event>,
    pub(super) state: State,
    pub(super) picture: Picture,
    /// When the command that is running began, and when the screen was drawn last.
    began: Instant,
    drawn: Instant,
    /// Whether a command is running.
    running: bool,
    /// When it is to end.
    deadline: Option<Instant>,
    /// Whether the user has stopped it.
    stopped: bool,
}

/// While it exists, the terminal shows the full-screen view.
pub(super) struct Shown<'d>(&'d Display);

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        *self.0.0.borrow_mut() = None;
        restore_terminal();
    }
}

/// Brings the terminal back as it was.
fn leave() {
    // Nothing can be done where the terminal is gone.
    let _ = execute!(stdout(), DisableMouseCapture, DisableBracketedPaste, Show);
    ratatui::restore();
}

/// Brings the terminal back before a signal ends the process.
#[cfg(unix)]
fn restore_at_signals() {
    use signal_hook::consts::{SIGHUP, SIGTERM};
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGTERM, SIGHUP]) else { return };
        std::thread::spawn(move || {
            for signal in signals.forever() {
                restore_terminal();
                // Nothing is left to do if it cannot be.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        });
    });
}

#[cfg(not(unix))]
fn restore_at_signals() {}

impl Display {
    /// Begins the full-screen view.
    pub(super) fn show(&self) -> std::io::Result<Shown<'_>> {
        let terminal = ratatui::try_init().inspect_err(|_| ratatui::restore())?;
        set_restore(Some(leave));
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore_terminal();
            hook(info);
        }));
        restore_at_signals();
        let shown = Shown(self);
        execute!(stdout(), EnableMouseCapture, EnableBracketedPaste)?;
        let (now, waiting) = (Instant::now(), VecDeque::new());
        let (state, picture) = (State::default(), Picture::default());
        let (began, drawn, running, deadline, stopped) = (now, now, false, None, false);
        *self.0.borrow_mut() =
            Some(Inner { terminal, waiting, state, picture, began, drawn, running, deadline, stopped });
        Ok(shown)
    }

    /// Whether a movement that is at this moment is to pause.
    pub(in crate::cli::commands::debug) fn pause(&self, moment: u64) -> bool {
        let Ok(mut inner) = self.0.try_borrow_mut() else { return false };
        let Some(inner) = inner.as_mut() else { return false };
        // An error of the terminal is met again where events are awaited.
        let _ = inner.gather();
        let now = Instant::now();
        if inner.deadline.is_none() && now - inner.began > PATIENCE && now - inner.drawn > EVERY {
            let _ = inner.draw(Some(moment));
        }
        inner.stopped || inner.deadline.is_some_and(|deadline| now > deadline)
    }

    pub(super) fn with<T>(&self, then: impl FnOnce(&mut Inner) -> T) -> anyhow::Result<T> {
        let mut inner = self.0.borrow_mut();
        inner.as_mut().map(then).ok_or_else(|| anyhow::anyhow!("the screen is not shown"))
    }

    /// Notes that a command begins.
    pub(super) fn begin(&self, deadline: Option<Instant>) -> anyhow::Result<()> {
        self.with(|inner| {
            (inner.running, inner.began) = (true, Instant::now());
            (inner.deadline, inner.stopped) = (deadline, false);
        })
    }

    /// Notes that it has ended.
    pub(super) fn end(&self) -> anyhow::Result<()> {
        self.with(|inner| inner.running = false)
    }
}

impl Inner {
    /// Takes in what the user has done. Escape and Ctrl-C stop what is running, and so does the mouse, which has moved on.
    pub(super) fn gather(&mut self) -> std::io::Result<()> {
        while poll(Duration::ZERO)? {
            let event = read()?;
            match event {
                Event::Key(key) if key.kind == KeyEventKind::Release => {}
                Event::Key(key) if self.running && is_stop(key) => self.stopped = true,
                Event::Mouse(mouse) if self.running && is_grip(mouse) => {
                    self.stopped = true;
                    self.waiting.push_back(event);
                }
                _ => self.waiting.push_back(event),
            }
        }
        Ok(())
    }

    pub(super) fn draw(&mut self, running: Option<u64>) -> std::io::Result<()> {
        self.drawn = Instant::now();
        self.terminal.draw(|frame| draw::draw(frame, &self.picture, &self.state, running)).map(|_| ())
    }

    /// Where things are on the screen; a screen that is too small has no panes.
    pub(super) fn places(&mut self) -> Places {
        self.terminal.autoresize().ok();
        Places::of(self.terminal.get_frame().area(), self.state.corner, self.state.registers).unwrap_or_default()
    }
}

/// Whether a key stops a run that goes on.
fn is_stop(key: KeyEvent) -> bool {
    key.code == KeyCode::Esc || is_control_c(key)
}

pub(super) fn is_control_c(key: KeyEvent) -> bool {
    key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL)
}

/// Whether the mouse may have moved the time line.
fn is_grip(mouse: MouseEvent) -> bool {
    matches!(mouse.kind, MouseEventKind::Down(MouseButton::Left) | MouseEventKind::Drag(MouseButton::Left))
}
