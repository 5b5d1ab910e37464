//! The command that is being written in the full-screen view.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_input::{Input, InputRequest};

use super::super::complete::{Kind, complete, shared};
use super::super::interpreter::Next;
use super::View;
use super::state::State;

impl View<'_, '_, '_> {
    /// A key while a command is being written.
    pub(super) fn write(&mut self, key: KeyEvent) -> anyhow::Result<Next> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let request = match key.code {
            KeyCode::Enter => {
                let line = self.display.with(|inner| inner.state.take_command())?;
                return self.typed(&line);
            }
            KeyCode::Esc => return self.display.with(|inner| inner.state.leave_command()).map(|()| Next::Command),
            KeyCode::Char('c' | 'g') if control => {
                return self.display.with(|inner| inner.state.leave_command()).map(|()| Next::Command);
            }
            KeyCode::Tab => return self.complete().map(|()| Next::Command),
            KeyCode::Up => return self.display.with(|inner| inner.state.recall(-1)).map(|()| Next::Command),
            KeyCode::Down => return self.display.with(|inner| inner.state.recall(1)).map(|()| Next::Command),
            KeyCode::Char('p') if control => {
                return self.display.with(|inner| inner.state.recall(-1)).map(|()| Next::Command);
            }
            KeyCode::Char('n') if control => {
                return self.display.with(|inner| inner.state.recall(1)).map(|()| Next::Command);
            }
            KeyCode::Char('a') if control => InputRequest::GoToStart,
            KeyCode::Char('e') if control => InputRequest::GoToEnd,
            KeyCode::Char('u') if control => InputRequest::DeleteFromStart,
            KeyCode::Char('k') if control => InputRequest::DeleteTillEnd,
            KeyCode::Char('w') if control => InputRequest::DeletePrevWord,
            KeyCode::Char('y') if control => InputRequest::Yank,
            KeyCode::Char('b') if alt => InputRequest::GoToPrevWord,
            KeyCode::Char('f') if alt => InputRequest::GoToNextWord,
            KeyCode::Char(_) if control || alt => return Ok(Next::Command),
            KeyCode::Char(c) => InputRequest::InsertChar(c),
            KeyCode::Backspace if control || alt => InputRequest::DeletePrevWord,
            KeyCode::Backspace => {
                // What was begun by a key is left as it was entered.
                let empty =
                    self.display.with(|inner| inner.state.input.as_ref().is_some_and(|i| i.value().is_empty()))?;
                if empty {
                    return self.display.with(|inner| inner.state.leave_command()).map(|()| Next::Command);
                }
                InputRequest::DeletePrevChar
            }
            KeyCode::Delete => InputRequest::DeleteNextChar,
            KeyCode::Left if control => InputRequest::GoToPrevWord,
            KeyCode::Right if control => InputRequest::GoToNextWord,
            KeyCode::Left => InputRequest::GoToPrevChar,
            KeyCode::Right => InputRequest::GoToNextChar,
            KeyCode::Home => InputRequest::GoToStart,
            KeyCode::End => InputRequest::GoToEnd,
            _ => return Ok(Next::Command),
        };
        self.display.with(|inner| inner.state.edit(request))?;
        Ok(Next::Command)
    }

    /// Goes on with the word before the cursor, or shows how it may go on.
    fn complete(&mut self) -> anyhow::Result<()> {
        let Some((line, at)) =
            self.display.with(|inner| inner.state.input.as_ref().map(|i| (i.value().to_string(), i.cursor())))?
        else {
            return Ok(());
        };
        let before: String = line.chars().take(at).collect();
        let (begun, all) = complete(&self.interpreter.session, &before);
        // A command comes first on a line.
        let all: Vec<_> = match before.trim_start() == begun {
            true => all.into_iter().filter(|(_, kind)| *kind == Kind::Keyword).collect(),
            false => all,
        };
        let more = shared(&all);
        let added: String = more.chars().skip(begun.chars().count()).collect();
        self.display.with(|inner| {
            for c in added.chars() {
                inner.state.edit(InputRequest::InsertChar(c));
            }
            match all.len() {
                0 => {}
                1 => inner.state.edit(InputRequest::InsertChar(' ')),
                _ if added.is_empty() => {
                    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
                    inner.state.say(&names.join("  "));
                }
                _ => {}
            }
        })
    }
}

/// Adds pasted text to the command that is being written.
pub(super) fn paste(state: &mut State, text: &str) {
    if state.input.is_none() {
        state.input = Some(Input::default());
    }
    for c in text.split(['\r', '\n']).next().unwrap_or("").chars().filter(|c| !c.is_control()) {
        state.edit(InputRequest::InsertChar(c));
    }
}
