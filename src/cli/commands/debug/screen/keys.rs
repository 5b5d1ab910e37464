//! The keys of the full-screen view.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Runs a command.
    Command(&'static str),
    /// Begins a command, to which an argument is to be written.
    Begin(&'static str),
    /// Lets the next key go backward.
    Back,
    /// Moves along the time line, by cells.
    Time(i8),
    /// Moves by instructions.
    Instruction(i8),
    /// Sets a breakpoint at the marked line, or deletes it.
    Breakpoint,
    /// Moves what is shown in the pane that is in focus, by lines.
    Scroll(i8),
    /// The same by pages.
    Page(i8),
    /// The next pane comes into focus, or the last one.
    Focus(i8),
    /// Shows something else in the lower right corner.
    Corner,
    /// Shows the keys.
    Help,
    /// Draws everything anew.
    Redraw,
    /// Leaves.
    Quit,
}

/// A key, how it is written, and what it does.
pub(super) struct Key {
    codes: &'static [(KeyCode, KeyModifiers)],
    pub(super) shown: &'static str,
    pub(super) action: Action,
    pub(super) help: &'static str,
}

const fn key(
    codes: &'static [(KeyCode, KeyModifiers)],
    shown: &'static str,
    action: Action,
    help: &'static str,
) -> Key {
    Key { codes, shown, action, help }
}

const NONE: KeyModifiers = KeyModifiers::NONE;
const CONTROL: KeyModifiers = KeyModifiers::CONTROL;

/// All keys, in the order of the help.
pub(super) const ALL: &[Key] = &[
    key(&[(KeyCode::Char('n'), NONE)], "n", Action::Command("next"), "to the next statement, over calls"),
    key(&[(KeyCode::Char('N'), NONE)], "N", Action::Command("rnext"), "back to the last statement, over calls"),
    key(&[(KeyCode::Char('s'), NONE)], "s", Action::Command("step"), "to the next statement, into calls"),
    key(&[(KeyCode::Char('S'), NONE)], "S", Action::Command("rstep"), "back to the last statement, into calls"),
    key(&[(KeyCode::Char('f'), NONE)], "f", Action::Command("finish"), "until this procedure has returned"),
    key(&[(KeyCode::Char('F'), NONE)], "F", Action::Command("rfinish"), "back to the call of this procedure"),
    key(&[(KeyCode::Char('c'), NONE)], "c", Action::Command("continue"), "to the next breakpoint, or to the end"),
    key(
        &[(KeyCode::Char('C'), NONE)],
        "C",
        Action::Command("rcontinue"),
        "back to the last breakpoint, or to the start",
    ),
    key(&[(KeyCode::Char('r'), NONE)], "r", Action::Back, "backward: `rn` is `N`, `rs` is `S`, `rc` is `C`"),
    key(&[(KeyCode::Char('i'), NONE), (KeyCode::Char('.'), NONE)], "i .", Action::Instruction(1), "one instruction on"),
    key(
        &[(KeyCode::Char('I'), NONE), (KeyCode::Char(','), NONE)],
        "I ,",
        Action::Instruction(-1),
        "one instruction back",
    ),
    key(&[(KeyCode::Left, NONE)], "←", Action::Time(-1), "back along the time line"),
    key(&[(KeyCode::Right, NONE)], "→", Action::Time(1), "on along the time line"),
    key(&[(KeyCode::Home, NONE)], "Home", Action::Command("start"), "to the start of the run"),
    key(&[(KeyCode::End, NONE)], "End", Action::Command("end"), "to the end of the run"),
    key(&[(KeyCode::Char('g'), NONE)], "g", Action::Begin("goto "), "to a moment: `12345`, `+10`, `-10`, a bookmark"),
    key(&[(KeyCode::Char('b'), NONE)], "b", Action::Breakpoint, "set a breakpoint at the marked line, or delete it"),
    key(
        &[(KeyCode::Char('w'), NONE)],
        "w",
        Action::Begin("watch "),
        "stop where a variable, a register or a word changes",
    ),
    key(&[(KeyCode::Char('l'), NONE)], "l", Action::Begin("last "), "back to before something was changed last"),
    key(&[(KeyCode::Char('u'), NONE)], "u", Action::Command("return"), "return to where `last` was called"),
    key(&[(KeyCode::Char('p'), NONE)], "p", Action::Begin("print "), "show a value: `a[3]*2`"),
    key(
        &[(KeyCode::Char(':'), NONE), (KeyCode::Enter, NONE)],
        ": Enter",
        Action::Begin(""),
        "any command; `help` lists them, Tab completes, ↑ and ↓ bring back earlier ones",
    ),
    key(&[(KeyCode::Tab, NONE)], "Tab", Action::Focus(1), "the next pane: arrows, Page Up and Page Down move in it"),
    key(&[(KeyCode::BackTab, NONE)], "Shift+Tab", Action::Focus(-1), "the last pane"),
    key(&[(KeyCode::Up, NONE)], "↑", Action::Scroll(-1), "up by a line"),
    key(&[(KeyCode::Down, NONE)], "↓", Action::Scroll(1), "down by a line"),
    key(&[(KeyCode::PageUp, NONE)], "Page Up", Action::Page(-1), "up by a page"),
    key(&[(KeyCode::PageDown, NONE)], "Page Down", Action::Page(1), "down by a page"),
    key(
        &[(KeyCode::Char('v'), NONE)],
        "v",
        Action::Corner,
        "the lower right pane shows output, instructions, memory, or registers",
    ),
    key(&[(KeyCode::Char('l'), CONTROL)], "Ctrl+L", Action::Redraw, "draw the screen anew"),
    key(&[(KeyCode::Char('?'), NONE), (KeyCode::Char('h'), NONE)], "?", Action::Help, "show the keys"),
    key(&[(KeyCode::Char('q'), NONE), (KeyCode::Char('d'), CONTROL)], "q", Action::Quit, "leave"),
];

/// What a key does.
pub(super) fn action(event: KeyEvent) -> Option<Action> {
    let held = event.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT);
    let is = |(code, own): &(KeyCode, KeyModifiers)| *code == event.code && *own == held;
    ALL.iter().find(|key| key.codes.iter().any(is)).map(|key| key.action)
}

/// What a key does after `r`: the same backward.
pub(super) fn backward(action: Action) -> Option<Action> {
    match action {
        Action::Command("next") => Some(Action::Command("rnext")),
        Action::Command("step") => Some(Action::Command("rstep")),
        Action::Command("finish") => Some(Action::Command("rfinish")),
        Action::Command("continue") => Some(Action::Command("rcontinue")),
        Action::Instruction(n) => Some(Action::Instruction(-n.abs())),
        Action::Command(_)
        | Action::Begin(_)
        | Action::Back
        | Action::Time(_)
        | Action::Breakpoint
        | Action::Scroll(_)
        | Action::Page(_)
        | Action::Focus(_)
        | Action::Corner
        | Action::Help
        | Action::Redraw
        | Action::Quit => None,
    }
}
