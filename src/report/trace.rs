//! The trace of a program in Nil or Janus: the variables that each line of the source changes.

use pendula_asm::diagnostic::Sources;
use pendula_compiler::ir::eval::{Change, Direction, TraceEntry};
use pendula_isa::num::Format;

use crate::report::stop_report::{indices, number_text};
use crate::state::language::Terms;

/// The maximum number of changes shown in a line.
const CHANGES: usize = 8;

/// The maximum number of characters shown of a statement; also the maximum indentation for nested calls.
const TEXT: usize = 48;
const DEEP: usize = 20;

/// The line for an executed statement: `   7    x += y      x: 3 → 8`. An undone statement is marked `<`; the
/// statements of a call are indented by two more than the call.
pub fn line(ran: &TraceEntry, sources: &Sources, format: Format, terms: &Terms) -> String {
    let number = ran.loc.line.to_string();
    let place = if ran.loc.file == 0 { number } else { format!("{}:{number}", file_name(sources.name(ran.loc.file))) };
    let arrow = if ran.direction == Direction::Forward { ' ' } else { '<' };
    let indent = "  ".repeat(ran.depth.min(DEEP));
    let text = format!("{indent}{}", text(ran, sources));
    let changes = changes(&ran.changes, format, terms);
    format!("{place:>6}{arrow} {text:<40}  {changes}").trim_end().to_string()
}

/// The statement as written, to the end of the line.
fn text(ran: &TraceEntry, sources: &Sources) -> String {
    let line = sources.line(ran.loc.file, ran.loc.line).map_or("", |(_, line)| line);
    let own: String = line.chars().skip(usize::from(ran.loc.column).saturating_sub(1)).collect();
    let own = own.trim_end();
    match own.char_indices().nth(TEXT) {
        Some((end, _)) => format!("{}…", own.get(..end).unwrap_or("")),
        None => own.to_string(),
    }
}

fn changes(changes: &[Change], format: Format, terms: &Terms) -> String {
    let one = |c: &Change| {
        let mut name = c.name.clone();
        if let Some(e) = &c.element {
            name.push_str(&indices(e.at, &e.dims, e.by_column, terms.first));
            if let (part, 2..) = e.part {
                name.push_str(&format!(".{}", part + 1));
            }
        }
        let [old, new] = [c.old, c.new].map(|word| number_text(c.number, word, format));
        format!("{name}: {old} → {new}")
    };
    let mut out: Vec<String> = changes.iter().take(CHANGES).map(one).collect();
    if changes.len() > CHANGES {
        out.push(format!("… {} changes", changes.len()));
    }
    out.join(", ")
}

/// A file's name without its folder.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
