//! The full-screen view of `pendula debug`, in a terminal.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use vt100::{MouseProtocolMode, Parser, Screen};

/// How long a screen is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

const HOME: &str = "\x1b[H";
const END: &str = "\x1b[F";
const LEFT: &str = "\x1b[D";
const RIGHT: &str = "\x1b[C";
const UP: &str = "\x1b[A";
const ESCAPE: &str = "\x1b";

/// The program in a terminal.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    screen: Arc<Mutex<Parser>>,
    reader: Option<JoinHandle<()>>,
}

impl Terminal {
    /// Starts `pendula debug` with these arguments in a terminal of this size.
    fn start((rows, columns): (u16, u16), folder: &Path, args: &[&str]) -> Terminal {
        let program = assert_cmd::cargo::cargo_bin("pendula");
        let quoted: String = args.iter().map(|arg| format!(" '{arg}'")).collect();
        let command = format!("stty rows {rows} cols {columns}; exec '{}' debug{quoted}", program.display());
        let mut child = Command::new("script")
            .args(["-qfec", &command, "/dev/null"])
            .current_dir(folder)
            .env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("`script`, of util-linux");
        let (keys, mut output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let size = |n: u16| NonZeroU16::new(n).expect("a size");
        let screen = Arc::new(Mutex::new(Parser::new(size(rows), size(columns), 0)));
        let parser = Arc::clone(&screen);
        let reader = thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(n @ 1..) = output.read(&mut part) {
                parser.lock().expect("no panic").process(&part[..n]);
            }
        });
        Terminal { child, keys, screen, reader: Some(reader) }
    }

    /// Types keys.
    fn keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("it runs");
        self.keys.flush().expect("it runs");
    }

    /// Presses the left button of the mouse at a place, or moves it there, or releases it.
    fn mouse(&mut self, what: Mouse, (row, column): (u16, u16)) {
        let (button, end) = match what {
            Mouse::Press => (0, 'M'),
            Mouse::Drag => (32, 'M'),
            Mouse::Release => (0, 'm'),
        };
        self.keys(&format!("\x1b[<{button};{};{}{end}", column + 1, row + 1));
    }

    /// Waits for a screen, and gives it.
    #[track_caller]
    fn wait(&self, is: impl Fn(&Screen) -> bool) -> Screen {
        let begun = Instant::now();
        loop {
            let screen = self.screen.lock().expect("no panic").screen().clone();
            if is(&screen) {
                return screen;
            }
            assert!(begun.elapsed() < PATIENCE, "the screen stays\n{}", screen.contents());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until all these texts are on the screen, and gives it.
    #[track_caller]
    fn shows(&self, texts: &[&str]) -> Screen {
        self.wait(|screen| texts.iter().all(|text| screen.contents().contains(text)))
    }

    /// Waits until all these texts are on the screen and it stays as it is, and gives it.
    #[track_caller]
    fn settles(&self, texts: &[&str]) -> Screen {
        loop {
            let before = self.shows(texts);
            thread::sleep(Duration::from_millis(300));
            if self.shows(texts).contents_formatted() == before.contents_formatted() {
                return before;
            }
        }
    }

    /// Types keys, then waits until all these texts are on the screen.
    #[track_caller]
    fn after(&mut self, keys: &str, texts: &[&str]) -> Screen {
        self.keys(keys);
        self.shows(texts)
    }

    /// Waits until the program has ended, and gives the terminal that it leaves.
    #[track_caller]
    fn end(mut self, keys: &str) -> Screen {
        self.keys(keys);
        let begun = Instant::now();
        let status = loop {
            match self.child.try_wait().expect("it runs") {
                Some(status) => break status,
                None => assert!(begun.elapsed() < PATIENCE, "it does not end"),
            }
            thread::sleep(Duration::from_millis(5));
        };
        assert!(status.success(), "{status}");
        self.reader.take().expect("one end").join().expect("no panic");
        self.screen.lock().expect("no panic").screen().clone()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // One that has ended is no error.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Clone, Copy)]
enum Mouse {
    Press,
    Drag,
    Release,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The program with a mistake that the book begins with, in a folder of its own.
fn mean() -> tempfile::TempDir {
    let page = std::fs::read_to_string(root().join("docs/src/debugging.md")).expect("the page");
    let (_, rest) = page.split_once("```julia\n").expect("the program");
    let (program, _) = rest.split_once("```").expect("its end");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("mean.nil"), program).expect("written");
    folder
}

const MEAN: [&str; 3] = ["mean.nil", "--args", "0.0,[1.0,2.0,6.0]"];

/// The line of the screen that begins at a row.
fn line(screen: &Screen, row: u16) -> String {
    screen.rows(0, screen.size().1.get()).nth(usize::from(row)).unwrap_or_default()
}

#[test]
fn the_mistake_of_the_book_is_found() {
    let folder = mean();
    let mut terminal = Terminal::start((24, 80), folder.path(), &MEAN);
    let first = terminal.shows(&["mean.nil:1", "step 0 of 49", "▶ @i function mean", "✗"]);
    assert!(first.alternate_screen());
    terminal.after(END, &["step 49 of 49", "error[P0103]", "▶     s → 0.0", "s = 1.0", "Variables of mean"]);
    terminal.after("ls\r", &["step 43 of 49", "s: 7.0 → 1.0", "s = 7.0", "i = 3"]);
    terminal.after(":l", &["(pendula) l"]);
    terminal.after("ast s\r", &["step 37 of 49", "s: 9.0 → 7.0"]);
    // What was written before comes back.
    terminal.after(&format!(":{UP}"), &["(pendula) last s"]);
    terminal.after("\r", &["step 22 of 49", "s: 3.0 → 9.0", "8 ", "▶         s += x[i]"]);
    terminal.after("u", &["step 37 of 49"]);
    // Forward and backward by statements, with capital letters or with `r`.
    terminal.after("n", &["mean.nil:7"]);
    terminal.after("N", &["step 37 of 49", "mean.nil:8"]);
    terminal.after("nrn", &["step 37 of 49", "mean.nil:8"]);
    terminal.after("i", &["step 38 of 49"]);
    terminal.after(",", &["step 37 of 49"]);
    // Names are completed.
    terminal.after(":inf\tcou\t", &["(pendula) info counts"]);
    terminal.after("\r", &["cycles"]);
    terminal.after(":nonsense\r", &["error: there is no command"]);
    // Keys act in their order, also those that stop a run.
    terminal.after(":abc\x03:second", &["(pendula) second"]);
    terminal.after("\x03", &["q quit"]);
    // Of what is pasted, the first line is taken.
    terminal.after("\x1b[200~print s\rquit\r\x1b[201~", &["(pendula) print s"]);
    terminal.after("\r", &["q quit"]);
    let last = terminal.end("q");
    assert!(!last.alternate_screen() && !last.hide_cursor());
    assert_eq!(last.mouse_protocol_mode(), MouseProtocolMode::None);
}

#[test]
fn the_time_line_can_be_dragged() {
    let mut terminal = Terminal::start((30, 100), &root(), &["examples/fib.rasm", "--round-trip"]);
    terminal.shows(&["step 0 of 192", "↩"]);
    // The bar has 98 cells, from column 1 on.
    let time = 27;
    terminal.mouse(Mouse::Press, (time, 1 + 97));
    terminal.shows(&["step 192 of 192", "the end, backward"]);
    terminal.mouse(Mouse::Drag, (time, 1 + 24));
    terminal.shows(&["step 48 of 192", "▶ forward"]);
    terminal.mouse(Mouse::Drag, (time + 5, 1 + 73));
    terminal.shows(&["step 145 of 192", "◀ backward"]);
    terminal.mouse(Mouse::Release, (time, 1 + 73));
    // One that was not pressed on the bar drags nothing.
    terminal.mouse(Mouse::Drag, (time, 1));
    terminal.after(RIGHT, &["step 146 of 192"]);
    terminal.after(LEFT, &["step 145 of 192"]);
    terminal.after(HOME, &["step 0 of 192"]);
    // A run that is set back takes a bookmark along.
    terminal.after("g+40\r:bookmark middle\r", &["step 40 of 192", "middle"]);
    terminal.after("c", &["step 192 of 192", "◆", "middle"]);
    terminal.end("q");
}

#[test]
fn breakpoints_are_set_with_a_key_and_the_mouse() {
    let mut terminal = Terminal::start((30, 100), &root(), &["examples/fib.rasm"]);
    let screen = terminal.shows(&["25 ▶ main:   start"]);
    let row = (0..30).find(|row| line(&screen, *row).contains("25 ▶ main")).expect("the line");
    terminal.mouse(Mouse::Press, (row + 5, 3));
    terminal.mouse(Mouse::Release, (row + 5, 3));
    terminal.shows(&["● 30", "breakpoint 1: examples/fib.rasm:30"]);
    terminal.after("c", &["● 30 ▶", "breakpoint 1", "step 5 "]);
    terminal.after("c", &["step 10 "]);
    terminal.after("C", &["step 5 "]);
    // The key is about the marked line, at which the run is.
    terminal.after("b", &["breakpoint 1 is deleted"]);
    terminal.after("c", &["step 96 of 96", "the end"]);
    terminal.after("wr4\r", &["breakpoint 1: r4 changes"]);
    terminal.after("C", &["r4: 17 → 18"]);
    // The values that have changed have another colour than the others.
    let screen = terminal.after("i", &["r4 = 18"]);
    let cell = |name: &str| {
        let (row, column) = place(&screen, name);
        screen.cell(row, column).expect("a cell").fgcolor()
    };
    assert_ne!(cell("r4 = 18"), cell("r3 = 18"));
    // Help covers the rest, and goes away.
    terminal.after("?", &["Keys", "to the next statement, over calls"]);
    terminal.keys(ESCAPE);
    terminal.wait(|screen| !screen.contents().contains("over calls"));
    terminal.end("q");
}

#[test]
fn outer_procedures_can_be_looked_at() {
    let mut terminal = Terminal::start((30, 100), &root(), &["examples/fib.ja"]);
    terminal.shows(&["step 0 of 59"]);
    terminal.after(":break 5 if n == 0\rc", &["step 31 of 59", "n = 0"]);
    terminal.after(":up 3\r", &["3: fib", "n = 2", "Variables of fib"]);
    terminal.after("n", &["step 32 of 59", "n = 0"]);
    terminal.end("q");
}

/// Where a text is on the screen.
fn place(screen: &Screen, text: &str) -> (u16, u16) {
    let rows = screen.rows(0, screen.size().1.get()).enumerate();
    let mut found = rows.filter_map(|(row, line)| Some((row as u16, line[..line.find(text)?].chars().count() as u16)));
    found.next().expect("the text is on the screen")
}

#[test]
fn a_run_that_goes_on_is_shown_and_can_be_stopped() {
    let mut terminal = Terminal::start((24, 100), &root(), &["examples/fib.rasm", "--set", "n=9000000000000"]);
    // Its end is not known.
    terminal.shows(&["step 0", "…"]);
    terminal.after("c", &["running, step", "Esc stops it"]);
    terminal.after(ESCAPE, &["interrupted"]);
    // Where it has been, it can be sent back.
    terminal.mouse(Mouse::Press, (21, 1));
    terminal.shows(&["step 0", "fib.rasm:25"]);
    terminal.mouse(Mouse::Release, (21, 1));
    // The mouse stops a run, too.
    terminal.after("c", &["running, step"]);
    terminal.mouse(Mouse::Press, (21, 1));
    terminal.shows(&["step 0", "fib.rasm:25"]);
    // Twice Ctrl-C leaves.
    terminal.after("\x03", &["Ctrl+C once more leaves"]);
    terminal.end("\x03");
}

#[test]
fn output_is_taken_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = "main: start\n add r1, 7\n show r1\n add r1, 5\n show r1\n sub r1, 12\n finish\n";
    std::fs::write(folder.path().join("two.rasm"), program).expect("written");
    let mut terminal = Terminal::start((24, 90), folder.path(), &["two.rasm"]);
    let none = terminal.shows(&["step 0 of 7", "Output"]);
    let (row, column) = place(&none, "Output");
    let shown = |screen: &Screen| -> Vec<String> {
        (row + 1..row + 3)
            .map(|row| line(screen, row).chars().skip(usize::from(column) - 1).collect::<String>())
            .collect()
    };
    assert!(shown(&none).iter().all(|line| !line.contains(|c: char| c.is_ascii_digit())), "{:?}", shown(&none));
    let both = terminal.after(END, &["step 7 of 7"]);
    assert!(shown(&both)[0].contains('7') && shown(&both)[1].contains("12"), "{:?}", shown(&both));
    terminal.after("g4\r", &["step 4 of 7"]);
    let one = terminal.wait(|screen| !shown(screen)[1].contains("12"));
    assert!(shown(&one)[0].contains('7'));
    terminal.end("q");
}

#[test]
fn a_small_terminal_says_what_it_needs() {
    let mut terminal = Terminal::start((8, 40), &root(), &["examples/fib.rasm"]);
    terminal.shows(&["40 × 8"]);
    terminal.keys("nnNb");
    terminal.end("q");
    // One that is wide shows everything side by side.
    let terminal = Terminal::start((50, 200), &root(), &["examples/power.nil", "--args", "0.0,1.5,3"]);
    terminal.shows(&["Variables", "Calls", "Output", "Instructions", "Memory", "Registers", "Commands"]);
    terminal.end("q");
    // Without the view, a line asks for each command.
    let mut terminal = Terminal::start((24, 80), &root(), &["examples/fib.rasm", "--plain"]);
    let screen = terminal.shows(&["(pendula)"]);
    assert!(!screen.alternate_screen());
    terminal.after("step\n", &["fib.rasm:26"]);
    terminal.end("quit\n");
}

#[test]
fn commands_of_the_command_line_come_first() {
    let folder = mean();
    let mut args = MEAN.to_vec();
    args.extend(["-x", "end", "-x", "last s"]);
    let terminal = Terminal::start((24, 80), folder.path(), &args);
    terminal.shows(&["(pendula) last s", "step 43 of 49"]);
    terminal.end("q");
}

/// The pictures of the book are what a terminal shows.
#[test]
fn pictures_are_up_to_date() {
    let folder = mean();
    let mut terminal = Terminal::start((26, 92), folder.path(), &MEAN);
    terminal.shows(&["step 0 of 49"]);
    terminal.keys(&format!("{END}ls\r"));
    let screen = terminal.settles(&["step 43 of 49", "s: 7.0 → 1.0", "s = 7.0", "q quit"]);
    picture("debug-mean.svg", "pendula debug mean.nil --args 0.0,[1.0,2.0,6.0]", &screen);
    terminal.end("q");
    let args = ["examples/power.nil", "--args", "0.0,1.5,3", "--loss", "out!"];
    let mut terminal = Terminal::start((40, 160), &root(), &args);
    terminal.shows(&["step 0 of 100"]);
    terminal.keys("g80\rn");
    let screen = terminal.settles(&["◀ backward", "gradient", "of 100", "q quit"]);
    picture("debug-gradient.svg", "pendula debug examples/power.nil --args 0.0,1.5,3 --loss out!", &screen);
    terminal.end("q");
}

/// Compares a picture with the book's, or writes it with `PENDULA_BLESS=1`.
#[track_caller]
fn picture(name: &str, title: &str, screen: &Screen) {
    let path = root().join("docs/src/pictures").join(name);
    let now = svg(title, screen);
    if std::env::var_os("PENDULA_BLESS").is_some_and(|v| v == "1") {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(&path, now).expect("written");
        return;
    }
    let book = std::fs::read_to_string(&path).unwrap_or_default();
    let how = "PENDULA_BLESS=1 cargo test --test suite debug::screen::pictures";
    assert!(book == now, "{} is not what the terminal shows now: write it anew with {how}", path.display());
}

/// A screen as a picture.
fn svg(title: &str, screen: &Screen) -> String {
    const CELL: (f64, f64) = (8.4, 17.0);
    let (rows, columns) = (screen.size().0.get(), screen.size().1.get());
    let (width, height) = (f64::from(columns) * CELL.0 + 16.0, f64::from(rows) * CELL.1 + 16.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" role=\"img\">\n<title>{}</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#1b1d22\"/>\n\
         <g font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\" fill=\"#d8dae0\" xml:space=\"preserve\">\n",
        escaped(title)
    );
    for row in 0..rows {
        let mut column = 0;
        while column < columns {
            let style = style(screen, row, column);
            let from = column;
            let mut text = String::new();
            while column < columns && self::style(screen, row, column) == style {
                let cell = screen.cell(row, column).expect("a cell");
                text += if cell.has_contents() { cell.contents() } else { " " };
                column += 1;
            }
            let (x, y) = (8.0 + f64::from(from) * CELL.0, 8.0 + f64::from(row) * CELL.1);
            let length = f64::from(column - from) * CELL.0;
            if style.inverse {
                let _ = writeln!(
                    out,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{length:.1}\" height=\"{}\" fill=\"#3a4150\"/>",
                    CELL.1
                );
            }
            if text.trim().is_empty() {
                continue;
            }
            // Spaces at the ends may be left out by what shows the picture.
            let spaces = text.chars().take_while(|c| *c == ' ').count();
            let text = text.trim();
            let (x, length) = (x + spaces as f64 * CELL.0, text.chars().count() as f64 * CELL.0);
            let bold = if style.bold { " font-weight=\"bold\"" } else { "" };
            let fill = style.colour.map_or(String::new(), |colour| format!(" fill=\"{colour}\""));
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{length:.1}\"{bold}{fill}>{}</text>",
                y + 13.0,
                escaped(text)
            );
        }
    }
    out + "</g>\n</svg>\n"
}

#[derive(PartialEq)]
struct Style {
    colour: Option<&'static str>,
    bold: bool,
    inverse: bool,
}

fn style(screen: &Screen, row: u16, column: u16) -> Style {
    let cell = screen.cell(row, column).expect("a cell");
    let colour = match cell.fgcolor() {
        vt100::Color::Idx(1) => Some("#ff6b6b"),
        vt100::Color::Idx(2) => Some("#7bd88f"),
        vt100::Color::Idx(3) => Some("#ffd866"),
        vt100::Color::Idx(5) => Some("#d98cff"),
        vt100::Color::Idx(6) => Some("#78dce8"),
        vt100::Color::Idx(8) => Some("#7f8490"),
        vt100::Color::Default => None,
        other => panic!("the colour {other:?} has no counterpart in pictures"),
    };
    Style { colour, bold: cell.bold(), inverse: cell.inverse() }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
