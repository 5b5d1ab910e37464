//! Draws the full-screen view.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use super::super::PROMPT;
use super::keys;
use super::picture::{CodeLine, Corner, Picture, Row};
use super::state::{Pane, State};
use crate::cli::report::stats::grouped;

/// The width from which on all panes stand side by side.
const WIDE: u16 = 150;

/// The least size of a screen on which there is room.
const LEAST: (u16, u16) = (50, 14);

const DIM: Style = Style::new().fg(Color::DarkGray);
const CHANGED: Style = Style::new().fg(Color::Yellow);
const TRAP: Style = Style::new().fg(Color::Red);
const FORWARD: Style = Style::new().fg(Color::Green);
const BACKWARD: Style = Style::new().fg(Color::Magenta);

/// Where things are on the screen.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    pub(super) panes: Vec<(Pane, Rect)>,
    pub(super) status: Rect,
    /// The bar of the time line.
    pub(super) time: Rect,
    pub(super) labels: Rect,
    pub(super) keys: Rect,
}

impl Places {
    /// Where things are on a screen of this size; `None` if it is too small. Registers need no pane where they are among the variables.
    pub(super) fn of(area: Rect, corner: Corner, registers: bool) -> Option<Places> {
        if area.width < LEAST.0 || area.height < LEAST.1 {
            return None;
        }
        let rows = [1, 0, 1, 1, 1].map(|n| if n == 0 { Constraint::Min(0) } else { Constraint::Length(n) });
        let [status, middle, time, labels, keys] = Layout::vertical(rows).areas(area);
        let time = Rect { x: time.x + 1, width: time.width - 2, ..time };
        let columns = if area.width >= WIDE { &[40, 28, 32][..] } else { &[60, 40] };
        let columns = Layout::horizontal(columns.iter().map(|n| Constraint::Percentage(*n))).split(middle);
        let split =
            |of: Rect, parts: &[u16]| Layout::vertical(parts.iter().map(|n| Constraint::Percentage(*n))).split(of);
        let mut panes = Vec::new();
        let left = split(columns[0], &[62, 38]);
        panes.extend([(Pane::Code, left[0]), (Pane::Commands, left[1])]);
        match columns.get(2) {
            None => {
                let right = split(columns[1], &[44, 24, 32]);
                let corner = (Pane::Corner(corner), right[2]);
                panes.extend([(Pane::Variables, right[0]), (Pane::Calls, right[1]), corner]);
            }
            Some(third) => {
                let right = split(columns[1], &[50, 18, 32]);
                panes.extend([
                    (Pane::Variables, right[0]),
                    (Pane::Calls, right[1]),
                    (Pane::Corner(Corner::Output), right[2]),
                ]);
                let own = &[Corner::Instructions, Corner::Memory, Corner::Registers][..if registers { 3 } else { 2 }];
                let third = split(*third, if registers { &[42, 36, 22] } else { &[50, 50] });
                panes.extend(own.iter().enumerate().map(|(n, corner)| (Pane::Corner(*corner), third[n])));
            }
        }
        Some(Places { panes, status, time, labels, keys })
    }

    /// The pane at a place.
    pub(super) fn pane_at(&self, x: u16, y: u16) -> Option<(Pane, Rect)> {
        self.panes.iter().find(|(_, rect)| rect.contains(Position { x, y })).copied()
    }

    /// The number of lines that a pane shows.
    pub(super) fn height(&self, is: impl Fn(Pane) -> bool) -> u16 {
        let heights = self.panes.iter().filter(|(pane, _)| is(*pane)).map(|(_, rect)| rect.height.saturating_sub(2));
        heights.max().unwrap_or(0)
    }
}

/// The moment at a column of the time line.
pub(super) fn moment_at(time: Rect, x: u16, last: u64) -> u64 {
    let cells = u128::from(time.width.saturating_sub(1).max(1));
    let cell = u128::from(x.saturating_sub(time.x)).min(cells);
    (cell * u128::from(last)).div_ceil(cells) as u64
}

/// The column of a moment.
fn column(time: Rect, moment: u64, last: u64) -> u16 {
    let cells = u128::from(time.width.saturating_sub(1));
    time.x + (u128::from(moment.min(last)) * cells / u128::from(last.max(1))) as u16
}

/// Draws everything; `running` is the moment of a run that goes on.
pub(super) fn draw(frame: &mut Frame<'_>, picture: &Picture, state: &State, running: Option<u64>) {
    let area = frame.area();
    let Some(places) = Places::of(area, state.corner, state.registers) else {
        let text = format!("too small: {} × {}, needs {} × {}", area.width, area.height, LEAST.0, LEAST.1);
        frame.render_widget(Paragraph::new(text), area);
        return;
    };
    status(frame, places.status, picture, state, running);
    for (pane, rect) in &places.panes {
        let focused = state.focus(&places) == *pane;
        match pane {
            Pane::Code => code(
                frame,
                *rect,
                &shortened(&picture.file, rect.width.saturating_sub(4) as usize),
                &picture.code,
                (picture.undoing, focused),
            ),
            Pane::Commands => {
                let lines: Vec<Line<'_>> =
                    state.log.iter().flat_map(|line| folded(line, rect.width)).map(log_line).collect();
                let from = lines
                    .len()
                    .saturating_sub(rect.height.saturating_sub(2) as usize)
                    .saturating_sub(state.scrolled(*pane));
                list(frame, *rect, "Commands", lines, from, focused);
            }
            Pane::Variables => {
                let title = picture.procedure.as_ref().map_or("Variables".to_string(), |p| format!("Variables of {p}"));
                let mut lines = rows(&picture.variables, rect.width);
                let why = picture.absent.map_or_else(Vec::new, |why| folded(why, rect.width));
                lines.extend(why.into_iter().map(|line| Line::styled(line, DIM)));
                list(frame, *rect, &title, lines, state.scrolled(*pane), focused);
            }
            Pane::Calls => {
                let lines =
                    picture.calls.iter().enumerate().map(|(n, call)| {
                        Line::styled(call.clone(), if n == picture.frame { Style::new() } else { DIM })
                    });
                list(frame, *rect, "Calls", lines.collect(), state.scrolled(*pane), focused);
            }
            Pane::Corner(corner) => self::corner(frame, *rect, *corner, picture, (state.scrolled(*pane), focused)),
        }
    }
    time(frame, &places, picture, running.unwrap_or(picture.moment));
    keys_or_command(frame, places.keys, state, running.is_some());
    if state.help {
        help(frame, area, state.scrolled_help);
    }
}

fn corner(frame: &mut Frame<'_>, rect: Rect, corner: Corner, picture: &Picture, (scrolled, focused): (usize, bool)) {
    let height = rect.height.saturating_sub(2) as usize;
    match corner {
        Corner::Output => {
            let lines: Vec<Line<'_>> =
                picture.output.iter().flat_map(|line| folded(line, rect.width)).map(Line::raw).collect();
            let from = lines.len().saturating_sub(height).saturating_sub(scrolled);
            list(frame, rect, corner.title(), lines, from, focused);
        }
        Corner::Instructions => code(frame, rect, corner.title(), &picture.instructions, (picture.backward, focused)),
        Corner::Memory => list(frame, rect, corner.title(), rows(&picture.memory, rect.width), 0, focused),
        Corner::Registers => list(frame, rect, corner.title(), rows(&picture.registers, rect.width), scrolled, focused),
    }
}

/// The first line: where the run is, when, in which direction.
fn status(frame: &mut Frame<'_>, rect: Rect, picture: &Picture, state: &State, running: Option<u64>) {
    let of = picture.end.map_or(String::new(), |end| format!(" of {}", grouped(end)));
    let step = format!("step {}{of}", grouped(running.unwrap_or(picture.moment)));
    let (way, style) = if picture.backward { ("◀ backward", BACKWARD) } else { ("▶ forward", FORWARD) };
    let mut spans = vec![Span::raw(" "), Span::styled(way, style), Span::raw("  ")];
    match running {
        Some(_) => spans.push(Span::raw(format!("running, {step}; Esc stops it"))),
        None => {
            let place = Span::styled(picture.place.clone(), Style::new().add_modifier(Modifier::BOLD));
            spans.extend([place, Span::raw(format!("  {step}"))]);
            if !state.reason.is_empty() {
                let style = if state.failed { TRAP } else { CHANGED };
                spans.extend([Span::raw("  "), Span::styled(state.reason.clone(), style)]);
            }
        }
    }
    frame.render_widget(Paragraph::new(Line::from(spans)), rect);
}

/// A pane of code.
fn code(frame: &mut Frame<'_>, rect: Rect, title: &str, lines: &[CodeLine], (backward, focused): (bool, bool)) {
    let width = lines.last().map_or(1, |line| line.number.max(1).ilog10() as usize + 1).max(3);
    let (arrow, style) = if backward { ("◀", BACKWARD) } else { ("▶", FORWARD) };
    let line = |line: &CodeLine| {
        let breakpoint = match line.marks.breakpoint {
            Some(true) => Span::styled("●", TRAP),
            Some(false) => Span::styled("○", TRAP),
            None => Span::raw(" "),
        };
        let number = if line.marks.cursor { Style::new().add_modifier(Modifier::UNDERLINED) } else { DIM };
        let here = if line.marks.here { Span::styled(arrow, style) } else { Span::raw(" ") };
        let text = if line.marks.here { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
        let number = [
            breakpoint,
            Span::styled(format!("{:>width$}", line.number), number),
            Span::raw(" "),
            here,
            Span::raw(" "),
        ];
        let own = Line::from(number.into_iter().chain([Span::styled(line.text.clone(), text)]).collect::<Vec<_>>());
        if line.marks.here { own.style(Style::new().add_modifier(Modifier::REVERSED)) } else { own }
    };
    list(frame, rect, title, lines.iter().map(line).collect(), 0, focused);
}

/// Names with their values, those that have changed in another colour.
pub(super) fn rows(rows: &[Row], width: u16) -> Vec<Line<'static>> {
    let one = |row: &Row| {
        let style = if row.changed { CHANGED } else { Style::new() };
        let text = format!("{} = {}", row.name, row.value);
        folded(&text, width).into_iter().map(move |line| Line::styled(line, style)).collect::<Vec<_>>()
    };
    rows.iter().flat_map(one).collect()
}

/// A line of what commands said.
fn log_line(line: String) -> Line<'static> {
    if line.starts_with(PROMPT.trim_end()) {
        return Line::styled(line, Style::new().add_modifier(Modifier::BOLD));
    }
    if line.starts_with("error") { Line::styled(line, TRAP) } else { Line::raw(line) }
}

/// A pane with lines, from number `from` on.
fn list(frame: &mut Frame<'_>, rect: Rect, title: &str, lines: Vec<Line<'_>>, from: usize, focused: bool) {
    let height = rect.height.saturating_sub(2) as usize;
    let from = from.min(lines.len().saturating_sub(height));
    let hidden = lines.len().saturating_sub(from + height);
    let style = if focused { Style::new().fg(Color::Cyan) } else { DIM };
    let mut block = Block::bordered().border_style(style).title(Span::styled(format!(" {title} "), Style::new()));
    if hidden > 0 {
        block = block.title_bottom(Line::styled(format!(" {hidden} more "), DIM).right_aligned());
    }
    let inner = rect.width.saturating_sub(2) as usize;
    let shown: Vec<Line<'_>> = lines.into_iter().skip(from).take(height).map(|line| cut(line, inner)).collect();
    frame.render_widget(Paragraph::new(shown).block(block), rect);
}

/// A line that ends with a sign where it is cut off.
fn cut(line: Line<'_>, width: usize) -> Line<'_> {
    if line.width() <= width {
        return line;
    }
    let (mut left, mut spans) = (width.saturating_sub(1), Vec::new());
    for span in &line.spans {
        let mut own = String::new();
        for c in span.content.chars() {
            let wide = width_of(c);
            if wide > left {
                left = 0;
                break;
            }
            left -= wide;
            own.push(c);
        }
        spans.push(Span::styled(own, span.style));
        if left == 0 {
            break;
        }
    }
    spans.push(Span::styled("…", DIM));
    Line::from(spans).style(line.style)
}

/// A path whose beginning is left out if it is too long.
fn shortened(path: &str, width: usize) -> String {
    let all = path.chars().count();
    if all <= width {
        return path.to_string();
    }
    format!("…{}", path.chars().skip(all - width.saturating_sub(1)).collect::<String>())
}

fn width_of(c: char) -> usize {
    let mut bytes = [0; 4];
    Span::raw(&*c.encode_utf8(&mut bytes)).width()
}

/// A text in lines that a pane of this width has room for, split at spaces if there are some; what is carried over is indented.
pub(super) fn folded(text: &str, width: u16) -> Vec<String> {
    let width = width.saturating_sub(2).max(8) as usize;
    let mut out = Vec::new();
    let (mut line, mut used, mut space) = (String::new(), 0, None);
    for c in text.chars() {
        let wide = width_of(c);
        if used + wide > width {
            let rest = match space.filter(|at| *at * 2 > line.len()) {
                Some(at) => line.split_off(at).trim_start().to_string(),
                None => String::new(),
            };
            out.push(std::mem::replace(&mut line, format!("  {rest}")));
            used = Span::raw(line.as_str()).width();
            space = None;
        }
        if c == ' ' {
            space = Some(line.len());
        }
        line.push(c);
        used += wide;
    }
    out.push(line);
    out
}

/// The time line.
fn time(frame: &mut Frame<'_>, places: &Places, picture: &Picture, now: u64) {
    let (time, last) = (places.time, picture.last().max(now));
    let at = column(time, now, last);
    let line = |from: u16, to: u16, sign: &str, style: Style| {
        Span::styled(sign.repeat(to.saturating_sub(from) as usize), style)
    };
    let style = if picture.backward { BACKWARD } else { FORWARD };
    let end = time.x + time.width;
    let bar = vec![
        line(time.x, at, "━", style),
        Span::styled("●", style.add_modifier(Modifier::BOLD)),
        line(at + 1, end, "─", DIM),
    ];
    frame.render_widget(Paragraph::new(Line::from(bar)), time);
    let mut sign = |x: u16, y: u16, text: &str, style: Style| {
        frame.render_widget(
            Paragraph::new(Span::styled(text.to_string(), style)),
            Rect { x, y, width: text.chars().count() as u16, height: 1 },
        );
    };
    let marks = picture.turns.map(|at| (at, "↩", BACKWARD)).into_iter();
    let marks = marks.chain(picture.end.filter(|_| picture.traps).map(|at| (at, "✗", TRAP)));
    let marks = marks.chain(picture.bookmarks.iter().map(|(at, _)| (*at, "◆", CHANGED)));
    for (moment, text, style) in marks {
        let x = column(time, moment, last);
        if x != at {
            sign(x, time.y, text, style);
        }
    }
    // Labels: the start and the end, then bookmarks, where there is room.
    let labels = places.labels;
    let last_label = match picture.end {
        Some(end) => grouped(end),
        None => format!("{} …", grouped(last)),
    };
    let all = [(0, "0".to_string(), DIM), (last, last_label, DIM)].into_iter();
    let all = all.chain(picture.turns.map(|at| (at, "back".to_string(), BACKWARD)));
    let all = all.chain(picture.bookmarks.iter().map(|(at, name)| (*at, name.clone(), CHANGED)));
    let mut taken: Vec<(u16, u16)> = Vec::new();
    for (moment, text, style) in all {
        let width = Span::raw(text.as_str()).width() as u16;
        let x = column(time, moment, last).saturating_sub(width / 2).max(time.x).min(end.saturating_sub(width));
        let free = taken.iter().all(|(from, to)| x > *to || x + width < *from);
        if free && width <= labels.width {
            taken.push((x, x + width));
            sign(x, labels.y, &text, style);
        }
    }
}

/// The last line: the command that is being written, or the most important keys.
fn keys_or_command(frame: &mut Frame<'_>, rect: Rect, state: &State, running: bool) {
    if let Some(input) = state.input.as_ref().filter(|_| !running) {
        let prompt = PROMPT.len() as u16;
        let width = rect.width.saturating_sub(prompt + 1) as usize;
        let scroll = input.visual_scroll(width);
        let line = Line::from(vec![
            Span::styled(PROMPT, Style::new().add_modifier(Modifier::BOLD)),
            Span::raw(input.value().to_string()),
        ]);
        let own = Paragraph::new(line.spans[1].clone()).scroll((0, scroll as u16));
        frame.render_widget(Paragraph::new(line.spans[0].clone()), Rect { width: prompt.min(rect.width), ..rect });
        frame.render_widget(own, Rect { x: rect.x + prompt, width: rect.width.saturating_sub(prompt), ..rect });
        let x = rect.x + prompt + input.visual_cursor().saturating_sub(scroll) as u16;
        frame.set_cursor_position((x.min(rect.right().saturating_sub(1)), rect.y));
        return;
    }
    let all = [
        ("n", "next"),
        ("N", "back"),
        ("s", "into"),
        ("c", "continue"),
        ("C", "back"),
        ("←→", "time"),
        ("b", "break"),
        (":", "command"),
        ("?", "keys"),
        ("q", "quit"),
    ];
    let key = Style::new().add_modifier(Modifier::BOLD);
    let one = |(name, what): (&'static str, &'static str)| {
        [Span::styled(format!(" {name}"), key), Span::styled(format!(" {what}"), DIM)]
    };
    let mut spans: Vec<Span<'_>> = all.into_iter().flat_map(one).collect();
    if state.reverse {
        spans.insert(0, Span::styled(" r", BACKWARD));
    }
    frame.render_widget(Paragraph::new(Line::from(spans)), rect);
}

/// The number of lines of the help.
pub(super) fn help_lines() -> usize {
    2 * keys::ALL.len()
}

/// The keys, over everything else.
fn help(frame: &mut Frame<'_>, area: Rect, from: usize) {
    let width = keys::ALL.iter().map(|key| key.shown.chars().count()).max().unwrap_or(0);
    let inner = area.width.min(108);
    let room = inner.saturating_sub(width as u16 + 3);
    let one = |key: &keys::Key| {
        let name = format!(" {:<width$}  ", key.shown);
        let blank = " ".repeat(width + 3);
        let parts = folded(key.help, room).into_iter().enumerate();
        let line = |(n, part): (usize, String)| {
            let head = if n == 0 { name.clone() } else { blank.clone() };
            Line::from(vec![Span::styled(head, Style::new().add_modifier(Modifier::BOLD)), Span::raw(part)])
        };
        parts.map(line).collect::<Vec<_>>()
    };
    let mut lines: Vec<Line<'_>> = keys::ALL.iter().flat_map(one).collect();
    lines.push(Line::raw(""));
    let more = [
        " Mouse: drag along the time line; click on the number of a line for a breakpoint; the wheel scrolls.",
        " Esc or Ctrl+C stops a run that goes on, and closes this. Arrows scroll here.",
    ];
    lines.extend(more.iter().flat_map(|text| folded(text, inner)).map(Line::raw));
    let size = (area.width.min(108), area.height.min(lines.len() as u16 + 2));
    let rect = Rect { x: (area.width - size.0) / 2, y: (area.height - size.1) / 2, width: size.0, height: size.1 };
    frame.render_widget(Clear, rect);
    list(frame, rect, "Keys", lines, from, true);
}
