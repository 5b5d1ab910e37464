//! What a user has chosen to see in the full-screen view.

use tui_input::{Input, InputRequest};

use super::draw::Places;
use super::picture::{Corner, Values};

/// The greatest number of lines that are kept of what commands said.
const LOG: usize = 2000;

/// A part of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pane {
    Code,
    Commands,
    Variables,
    Calls,
    Corner(Corner),
}

/// What a user has chosen to see.
#[derive(Default)]
pub(super) struct State {
    pub(super) corner: Corner,
    /// Whether registers are shown apart from the variables.
    pub(super) registers: bool,
    /// The pane in focus, by its number on the screen.
    focus: usize,
    /// The file that is shown, its first line, and the marked line.
    pub(super) file: u16,
    pub(super) top: u32,
    pub(super) cursor: u32,
    /// The first address of the memory that is shown.
    pub(super) memory: u64,
    /// How far panes are scrolled: from their first line, or from the last one where lines are added.
    scrolled: Vec<(Pane, usize)>,
    /// What commands said.
    pub(super) log: Vec<String>,
    pub(super) help: bool,
    pub(super) scrolled_help: usize,
    /// The command that is being written.
    pub(super) input: Option<Input>,
    /// The commands that were written before, and which of them is being looked at.
    history: Vec<String>,
    recalled: Option<usize>,
    /// Whether the next key goes backward.
    pub(super) reverse: bool,
    /// Whether the mouse holds the time line.
    pub(super) dragging: bool,
    /// Why the run is where it is, and whether that is an error.
    pub(super) reason: String,
    pub(super) failed: bool,
    /// The values before the last movement.
    pub(super) before: Option<Values>,
}

impl State {
    /// The pane in focus.
    pub(super) fn focus(&self, places: &Places) -> Pane {
        let own = places.panes.get(self.focus % places.panes.len().max(1));
        own.map_or(Pane::Code, |(pane, _)| *pane)
    }

    /// Brings the next pane into focus, or the last one.
    pub(super) fn move_focus(&mut self, by: i8, places: &Places) {
        let count = places.panes.len().max(1);
        self.focus = (self.focus % count).wrapping_add_signed(isize::from(by)).wrapping_add(count) % count;
    }

    /// Brings a pane into focus.
    pub(super) fn set_focus(&mut self, pane: Pane, places: &Places) {
        self.focus = places.panes.iter().position(|(own, _)| *own == pane).unwrap_or(0);
    }

    pub(super) fn next_corner(&mut self) {
        let all = &Corner::ALL[..Corner::ALL.len() - usize::from(!self.registers)];
        let at = all.iter().position(|corner| *corner == self.corner).unwrap_or(0);
        self.corner = all[(at + 1) % all.len()];
    }

    /// How far a pane is scrolled.
    pub(super) fn scrolled(&self, pane: Pane) -> usize {
        self.scrolled.iter().find(|(own, _)| *own == pane).map_or(0, |(_, lines)| *lines)
    }

    /// Scrolls a pane, which may be scrolled by so many lines.
    pub(super) fn scroll(&mut self, pane: Pane, by: i32, most: usize) {
        let lines = self.scrolled(pane).saturating_add_signed(by as isize).min(most);
        self.scrolled.retain(|(own, _)| *own != pane);
        self.scrolled.push((pane, lines));
    }

    /// Shows the last lines of the panes to which lines are added.
    pub(super) fn show_last_lines(&mut self) {
        self.scrolled.retain(|(pane, _)| !matches!(pane, Pane::Commands | Pane::Corner(Corner::Output)));
    }

    /// Adds what a command said.
    pub(super) fn say(&mut self, text: &str) {
        self.log.extend(text.lines().map(super::picture::spaced));
        let much = self.log.len().saturating_sub(LOG);
        self.log.drain(..much);
    }

    /// Ends the command that is being written, and gives it.
    pub(super) fn take_command(&mut self) -> String {
        let line = self.input.take().map_or(String::new(), |input| input.value().trim().to_string());
        self.recalled = None;
        if !line.is_empty() && self.history.last() != Some(&line) {
            self.history.push(line.clone());
        }
        line
    }

    /// Leaves the command that is being written.
    pub(super) fn leave_command(&mut self) {
        (self.input, self.recalled) = (None, None);
    }

    /// Brings back a command that was written before.
    pub(super) fn recall(&mut self, by: i8) {
        let at = self.recalled.unwrap_or(self.history.len());
        let to = at.saturating_add_signed(isize::from(by)).min(self.history.len());
        self.recalled = Some(to);
        self.input = Some(Input::new(self.history.get(to).cloned().unwrap_or_default()));
    }

    /// Changes the command that is being written.
    pub(super) fn edit(&mut self, request: InputRequest) {
        if let Some(input) = &mut self.input {
            input.handle(request);
        }
    }

    /// Shows a line of the code and marks it, so that it is not at the edge of what is shown; `last` is the last line of the file.
    pub(super) fn follow(&mut self, line: u32, last: u32, height: u16) {
        self.cursor = line;
        let (height, margin) = (u32::from(height.max(1)), u32::from(height / 4).min(3));
        if line < self.top + margin || line + margin >= self.top + height {
            self.top = line.saturating_sub(height / 3);
        }
        self.top = self.top.min((last + 1).saturating_sub(height)).max(1);
    }

    /// Moves the mark through the code.
    pub(super) fn move_cursor(&mut self, by: i32, last: u32, height: u16) {
        self.cursor = self.cursor.saturating_add_signed(by).clamp(1, last.max(1));
        let height = u32::from(height.max(1));
        self.top = self.top.clamp((self.cursor + 1).saturating_sub(height).max(1), self.cursor.max(1));
    }
}
