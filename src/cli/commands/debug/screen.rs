//! The full-screen view of `debug`.

mod command_line;
mod display;
mod draw;
mod keys;
mod picture;
mod state;

use std::time::{Duration, Instant};

use pendula::debug::{Arrival, Calls, Halt, Location};
use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, MouseButton, MouseEvent, MouseEventKind, read,
};
use ratatui::layout::Rect;
use tui_input::Input;

use super::interpreter::{Interpreter, Next};
use super::{PROMPT, text};
use command_line::paste;
use display::{Inner, is_control_c};
use draw::Places;
use keys::Action;
use picture::{Corner, Picture, Wanted};
use state::Pane;

pub(super) use display::Display;

/// How long the end of a run is looked for at the beginning, so that the time line has one.
const LOOK: Duration = Duration::from_millis(400);

/// Shows a session until the user leaves; the commands run first.
pub(super) fn run(interpreter: &mut Interpreter<'_, '_>, display: &Display, commands: &[String]) -> anyhow::Result<()> {
    let _shown = display.show()?;
    interpreter.set_brief();
    let mut view = View { interpreter, display };
    view.find_end()?;
    for command in commands {
        if view.typed(command)? == Next::Quit {
            return Ok(());
        }
    }
    view.converse()
}

/// The view of a session.
struct View<'v, 's, 'p> {
    interpreter: &'v mut Interpreter<'s, 'p>,
    display: &'v Display,
}

impl View<'_, '_, '_> {
    /// Looks for the end of the run, if that does not take long.
    fn find_end(&mut self) -> anyhow::Result<()> {
        let shows = self.look_for_end()?;
        self.display.end()?;
        let registers = !self.interpreter.session.has_registers();
        self.display.with(|inner| {
            inner.state.registers = registers;
            inner.state.corner = if shows { Corner::Output } else { Corner::Instructions };
        })?;
        self.follow()
    }

    /// Runs to the end, if that does not take long, and comes back. Says whether the program has shown something.
    fn look_for_end(&mut self) -> anyhow::Result<bool> {
        let now = self.interpreter.session.timeline().now();
        self.display.begin(Some(Instant::now() + LOOK))?;
        let session = &mut self.interpreter.session;
        session.go_to_end();
        let shows = !session.timeline().shown().is_empty() || !text::tapes(session).is_empty();
        session.come_back(now);
        Ok(shows)
    }

    /// Shows the present moment, and does what the user wants, until that is to leave.
    fn converse(&mut self) -> anyhow::Result<()> {
        let mut leaving = false;
        loop {
            self.picture()?;
            self.display.with(|inner| inner.draw(None))??;
            let event = match self.display.with(|inner| inner.waiting.pop_front())? {
                Some(event) => event,
                None => read()?,
            };
            self.display.with(Inner::gather)??;
            let again = self.display.with(|inner| inner.waiting.front().is_some_and(|next| same_drag(&event, next)))?;
            if again {
                // The mouse is elsewhere already.
                continue;
            }
            let was_leaving = std::mem::take(&mut leaving);
            match event {
                Event::Key(key) if key.kind == KeyEventKind::Release => leaving = was_leaving,
                Event::Key(key) if is_control_c(key) && self.display.with(|inner| inner.state.input.is_none())? => {
                    if was_leaving {
                        return Ok(());
                    }
                    leaving = true;
                    self.say("Ctrl+C once more leaves, and so does q", false)?;
                }
                // What cannot be seen is not moved.
                Event::Key(key) if self.display.with(|inner| inner.places().panes.is_empty())? => {
                    if keys::action(key) == Some(Action::Quit) {
                        return Ok(());
                    }
                }
                Event::Key(key) => {
                    if self.key(key)? == Next::Quit {
                        return Ok(());
                    }
                }
                Event::Mouse(mouse) => {
                    leaving = was_leaving;
                    self.mouse(mouse)?;
                }
                Event::Paste(text) => self.display.with(|inner| paste(&mut inner.state, &text))?,
                Event::Resize(..) | Event::FocusGained | Event::FocusLost => {}
            }
        }
    }

    /// Looks at the session.
    fn picture(&mut self) -> anyhow::Result<()> {
        let session = &self.interpreter.session;
        let lines = self.has_source();
        let last = session.code().module().code.len() as u32;
        let (wanted, before) = self.display.with(|inner| {
            let places = inner.places();
            let state = &inner.state;
            let height = places.height(|pane| pane == Pane::Code);
            let instructions = places.height(|pane| pane == Pane::Corner(Corner::Instructions));
            let memory = places.height(|pane| pane == Pane::Corner(Corner::Memory));
            let source = lines.then_some((state.file, state.top, height));
            let cursor = if lines { state.cursor } else { state.cursor.min(last) };
            let wanted = Wanted { source, cursor, code: height, instructions, memory: (state.memory, memory) };
            (wanted, state.before.clone())
        })?;
        let picture = Picture::of(self.interpreter, &wanted, before.as_ref());
        self.display.with(|inner| inner.picture = picture)
    }

    /// Brings the statement at which the run is onto the screen.
    fn follow(&mut self) -> anyhow::Result<()> {
        let session = &self.interpreter.session;
        let frame = self.interpreter.frame();
        let chosen = session.frames().get(frame).filter(|_| frame > 0).and_then(|frame| frame.statement);
        let at = chosen.or_else(|| session.statement()).and_then(|statement| {
            let name = session.code().module().files.get(statement.file as usize)?;
            let texts = self.interpreter.texts();
            let file = (0..texts.len() as u16).find(|n| texts.name(*n) == name)?;
            Some((file, statement.line, texts.text(file).lines().count() as u32))
        });
        let pc = session.machine().pc().filter(|_| !self.has_source());
        self.display.with(|inner| {
            let height = inner.places().height(|pane| pane == Pane::Code);
            match (at, pc) {
                (Some((file, line, last)), _) => {
                    if file != inner.state.file {
                        (inner.state.file, inner.state.top) = (file, 1);
                    }
                    inner.state.follow(line, last, height);
                }
                (None, Some(pc)) => inner.state.cursor = pc,
                (None, None) => inner.state.top = inner.state.top.max(1),
            }
            inner.state.show_last_lines();
        })
    }

    /// Whether the text of the program is there; an object has none.
    fn has_source(&self) -> bool {
        let (texts, files) = (self.interpreter.texts(), &self.interpreter.session.code().module().files);
        let is = |n: u16| !texts.text(n).is_empty() && files.iter().any(|file| file == texts.name(n));
        self.interpreter.session.code().has_lines() && (0..texts.len() as u16).any(is)
    }

    /// Says something in a line.
    fn say(&mut self, text: &str, failed: bool) -> anyhow::Result<()> {
        self.display.with(|inner| {
            inner.state.reason = text.lines().next().unwrap_or("").to_string();
            inner.state.failed = failed;
        })
    }

    /// Runs a command that a user has written.
    fn typed(&mut self, line: &str) -> anyhow::Result<Next> {
        if line.trim().is_empty() {
            return Ok(Next::Command);
        }
        let prompt = format!("{PROMPT}{}", line.trim());
        self.display.with(|inner| inner.state.say(&prompt))?;
        let next = self.command(line)?;
        // A long answer is shown from its beginning.
        self.display.with(|inner| {
            let places = inner.places();
            let rect = places.panes.iter().find(|(pane, _)| *pane == Pane::Commands).map(|(_, rect)| *rect);
            let Some(rect) = rect else { return };
            let state = &mut inner.state;
            let from = state.log.iter().rposition(|line| *line == prompt).unwrap_or(0);
            let lines: usize = state.log[from..].iter().map(|line| draw::folded(line, rect.width).len()).sum();
            let hidden = lines.saturating_sub(rect.height.saturating_sub(2) as usize);
            state.scroll(Pane::Commands, hidden as i32, hidden);
        })?;
        Ok(next)
    }

    /// Runs a command, and notes what it says.
    fn command(&mut self, line: &str) -> anyhow::Result<Next> {
        let before = self.interpreter.session.timeline().now();
        self.display.begin(None)?;
        let ends = self.interpreter.session.timeline().end().is_some();
        let (reply, next) = self.interpreter.reply(line);
        if ends && self.interpreter.session.timeline().end().is_none() {
            // The run has been changed: it ends elsewhere.
            self.look_for_end()?;
        }
        self.display.end()?;
        self.display.with(|inner| inner.state.say(&reply))?;
        let now = self.interpreter.session.timeline().now();
        self.say(if now == before && !reply.starts_with("error") { "" } else { &reply }, reply.starts_with("error"))?;
        self.moved(before)?;
        if self.interpreter.frame() > 0 {
            self.follow()?;
        }
        Ok(next)
    }

    /// After a movement from this moment.
    fn moved(&mut self, before: u64) -> anyhow::Result<()> {
        if self.interpreter.session.timeline().now() != before {
            self.display.with(|inner| {
                // Values that are not known for a while are compared with those that were seen last.
                let values = inner.picture.values();
                inner.state.before.get_or_insert_default().extend(values);
            })?;
            self.follow()?;
        }
        self.display.with(|inner| inner.state.show_last_lines())
    }

    /// Goes to a moment.
    fn go_to(&mut self, moment: u64) -> anyhow::Result<()> {
        let before = self.interpreter.session.timeline().now();
        self.display.begin(None)?;
        let halt = self.interpreter.session.go_to(moment);
        self.interpreter.leave_frame();
        self.snap(moment < before);
        self.display.end()?;
        let paused = halt == Halt::Arrived(Arrival::Paused);
        self.say(if paused { "interrupted" } else { "" }, false)?;
        self.moved(before)
    }

    /// Goes to a statement of the function that is running, where its variables are known: the one before this moment, or the next one.
    fn snap(&mut self, back: bool) {
        let session = &mut self.interpreter.session;
        if !session.has_locals() || session.locals().is_ok() {
            return;
        }
        let from = session.timeline().now();
        if back {
            session.step_back(Calls::Into);
        } else {
            session.step(Calls::Into);
        }
        if session.locals().is_err() {
            session.go_to(from);
        }
    }

    fn key(&mut self, key: KeyEvent) -> anyhow::Result<Next> {
        if self.display.with(|inner| inner.state.input.is_some())? {
            return self.write(key);
        }
        let action = keys::action(key);
        let help = self.display.with(|inner| {
            let closes = matches!(action, Some(Action::Help | Action::Quit)) || key.code == KeyCode::Esc;
            let help = inner.state.help;
            if help && closes {
                (inner.state.help, inner.state.scrolled_help) = (false, 0);
            }
            help
        })?;
        if help {
            let by = match action {
                Some(Action::Scroll(n)) => isize::from(n),
                Some(Action::Page(n)) => 10 * isize::from(n),
                _ => 0,
            };
            self.display.with(|inner| {
                let most = draw::help_lines();
                inner.state.scrolled_help = inner.state.scrolled_help.saturating_add_signed(by).min(most);
            })?;
            return Ok(Next::Command);
        }
        let reverse = self.display.with(|inner| std::mem::take(&mut inner.state.reverse))?;
        let action = if reverse { action.and_then(keys::backward) } else { action };
        match action {
            Some(action) => self.act(action),
            None => Ok(Next::Command),
        }
    }

    fn act(&mut self, action: Action) -> anyhow::Result<Next> {
        match action {
            Action::Command(name) => return self.command(name),
            Action::Begin(text) => self.display.with(|inner| inner.state.input = Some(Input::new(text.to_string())))?,
            Action::Back => self.display.with(|inner| inner.state.reverse = true)?,
            Action::Time(by) => self.along(by)?,
            Action::Instruction(by) => {
                return self.command(if by < 0 { "rstepi" } else { "stepi" });
            }
            Action::Breakpoint => self.toggle()?,
            Action::Scroll(by) => self.scroll(None, i32::from(by))?,
            Action::Page(by) => {
                let height = self.display.with(|inner| {
                    let places = inner.places();
                    let focus = inner.state.focus(&places);
                    places.height(|pane| pane == focus)
                })?;
                self.scroll(None, i32::from(by) * i32::from(height.saturating_sub(1).max(1)))?;
            }
            Action::Focus(by) => self.display.with(|inner| {
                let places = inner.places();
                inner.state.move_focus(by, &places);
            })?,
            Action::Corner => self.display.with(|inner| inner.state.next_corner())?,
            Action::Help => self.display.with(|inner| inner.state.help = true)?,
            Action::Redraw => self.display.with(|inner| inner.terminal.clear())??,
            Action::Quit => return Ok(Next::Quit),
        }
        Ok(Next::Command)
    }

    /// Moves along the time line by cells; each is at least one instruction.
    fn along(&mut self, by: i8) -> anyhow::Result<()> {
        let (time, last) = self.display.with(|inner| (inner.places().time, inner.picture.last()))?;
        let now = self.interpreter.session.timeline().now();
        let cell = (last / u64::from(time.width.max(2) - 1)).max(1);
        let to = if by < 0 { now.saturating_sub(cell) } else { now.saturating_add(cell) };
        let end = self.interpreter.session.timeline().end();
        self.go_to(end.map_or(to, |end| to.min(end)))
    }

    /// Scrolls a pane; `None` is the one in focus.
    fn scroll(&mut self, pane: Option<Pane>, by: i32) -> anyhow::Result<()> {
        let texts = self.interpreter.texts();
        let code = self.interpreter.session.code();
        let (lines, count) = (self.has_source(), code.module().code.len() as u32);
        let words = self.interpreter.session.machine().memory().len() as u64;
        self.display.with(|inner| {
            let places = inner.places();
            let pane = pane.unwrap_or_else(|| inner.state.focus(&places));
            let rect = places.panes.iter().find(|(own, _)| *own == pane).map_or(Rect::default(), |(_, rect)| *rect);
            let height = rect.height.saturating_sub(2);
            let state = &mut inner.state;
            match pane {
                Pane::Code if lines => {
                    let last = texts.text(state.file).lines().count() as u32;
                    state.move_cursor(by, last, height);
                }
                Pane::Code => state.cursor = state.cursor.saturating_add_signed(by).min(count.saturating_sub(1)),
                Pane::Corner(Corner::Memory) => {
                    let most = words.saturating_sub(u64::from(height));
                    state.memory = state.memory.saturating_add_signed(i64::from(by)).min(most);
                }
                Pane::Corner(Corner::Instructions) => {}
                Pane::Commands | Pane::Corner(Corner::Output) => {
                    let all = if pane == Pane::Commands { &state.log } else { &inner.picture.output };
                    let lines: usize = all.iter().map(|line| draw::folded(line, rect.width).len()).sum();
                    state.scroll(pane, -by, lines.saturating_sub(height as usize));
                }
                Pane::Variables | Pane::Calls | Pane::Corner(Corner::Registers) => {
                    let lines = match pane {
                        Pane::Variables => draw::rows(&inner.picture.variables, rect.width).len(),
                        Pane::Calls => inner.picture.calls.len(),
                        _ => draw::rows(&inner.picture.registers, rect.width).len(),
                    };
                    state.scroll(pane, by, lines.saturating_sub(height as usize));
                }
            }
        })
    }

    /// Sets a breakpoint at the marked line, or deletes it.
    fn toggle(&mut self) -> anyhow::Result<()> {
        let (file, line) = self.display.with(|inner| (inner.state.file, inner.state.cursor))?;
        let file = self.interpreter.texts().name(file).to_string();
        let lines = self.has_source();
        let session = &mut self.interpreter.session;
        let location = match lines {
            true => Location::Line(Some(file), line),
            false => Location::Address(line),
        };
        let done = match picture::breakpoint_of(session, &location) {
            Some(number) => session.delete(number).map(|()| format!("breakpoint {number} is deleted")),
            None => session.break_at(location).map(|number| self.interpreter.breakpoint_text(number)),
        };
        match done {
            Ok(text) => {
                self.display.with(|inner| inner.state.say(&text))?;
                self.say("", false)
            }
            Err(error) => self.say(&format!("error: {error}"), true),
        }
    }

    fn mouse(&mut self, mouse: MouseEvent) -> anyhow::Result<()> {
        let (x, y) = (mouse.column, mouse.row);
        let (places, last) = self.display.with(|inner| (inner.places(), inner.picture.last()))?;
        let along = |x: u16| draw::moment_at(places.time, x, last);
        match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                let on_time = places.time.height > 0 && (y == places.time.y || y == places.labels.y);
                self.display.with(|inner| inner.state.dragging = on_time)?;
                if on_time {
                    return self.go_to(along(x));
                }
                self.click(&places, x, y)
            }
            MouseEventKind::Drag(MouseButton::Left) if self.display.with(|inner| inner.state.dragging)? => {
                self.go_to(along(x))
            }
            MouseEventKind::Up(_) => self.display.with(|inner| inner.state.dragging = false),
            MouseEventKind::ScrollUp | MouseEventKind::ScrollDown => {
                let by = if mouse.kind == MouseEventKind::ScrollUp { -3 } else { 3 };
                match places.pane_at(x, y) {
                    Some((pane, _)) => self.scroll(Some(pane), by),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// A click on a pane; on the number of a line, it sets a breakpoint or deletes it.
    fn click(&mut self, places: &Places, x: u16, y: u16) -> anyhow::Result<()> {
        let Some((pane, rect)) = places.pane_at(x, y) else { return Ok(()) };
        let on_number = self.display.with(|inner| {
            inner.state.set_focus(pane, places);
            let row = y.checked_sub(rect.y + 1).map(usize::from);
            let line = row.and_then(|row| inner.picture.code.get(row)).filter(|_| pane == Pane::Code);
            let Some(line) = line else { return false };
            inner.state.cursor = line.number;
            x <= rect.x + 6
        })?;
        if on_number { self.toggle() } else { Ok(()) }
    }
}

/// Whether two events are movements of the mouse that holds the time line.
fn same_drag(a: &Event, b: &Event) -> bool {
    let is = |event: &Event| matches!(event, Event::Mouse(m) if m.kind == MouseEventKind::Drag(MouseButton::Left));
    is(a) && is(b)
}
