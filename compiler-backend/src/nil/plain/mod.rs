//! The plain form of a file of the host language: a program in Nil that means the same, without the host.
//!
//! It is made of pieces of the source, so that comments stay. What is the same in both kinds of files is not touched.
//! What is not is written out: functions of scopes that have the same names get names of their own, loops around `@eval`
//! are unrolled, and what files of the host leave unsaid is said. A function that cannot be written is left out.

mod edits;
mod leave_out;
mod names;
mod unit;
mod walk;
mod write;

use std::ops::Range;

use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::{Diagnostic, Place, Severity, Sources};

use super::ast::{File, Item};
use super::sema::{Input, Settings, analyse};
use super::{codes, fmt, read};
use edits::Tokens;
use names::Names;
use unit::{Unit, units};
use write::Writer;

/// The plain form of a file, and what is to be said about it.
#[derive(Debug)]
pub struct Plain {
    /// The program in canonical layout; `None` if there were errors.
    pub text: Option<String>,
    /// Errors, and a warning for each function that is left out. The file is number 0.
    pub diagnostics: Vec<Diagnostic>,
}

/// A name that no program has, for the function with which the check of a plain form begins.
const CHECKED: &str = "the_plain_form_is_checked";

/// The plain form of a file of the host language. If `strict`, it is an error that a function is left out.
pub fn plain(name: &str, text: &str, budget: &Budget, strict: bool) -> Plain {
    let mut sources = Sources::default();
    let (inputs, mut diagnostics) = read(&mut sources, name, text.to_string(), budget, strict);
    diagnostics.retain(|d| d.code != codes::SKIPPED && d.primary.as_ref().is_none_or(|l| l.place.file == 0));
    let errors = |all: &[Diagnostic]| all.iter().any(|d| d.severity == Severity::Error);
    let (Some((input, library)), false) = (inputs.split_first(), errors(&diagnostics)) else {
        return Plain { text: None, diagnostics };
    };
    let written = write_all(input, library, (budget, strict), &mut diagnostics);
    let text = written.filter(|_| !errors(&diagnostics));
    Plain { text, diagnostics }
}

/// Writes the program, without the functions that turn out to have errors in it.
fn write_all(
    input: &Input,
    library: &[Input],
    (budget, strict): (&Budget, bool),
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<String> {
    let tokens = Tokens::new(&input.text);
    let library: Vec<&File> = library.iter().map(|i| &i.tree).collect();
    let mut units = units(&input.tree.items, &tokens);
    let mut names = Names::new(&input.tree, &library);
    leave_out::unused(&mut units, &names);
    leave_out::replaced(&mut units, &input.tree, budget);
    leave_out::refused(&mut units, &input.tree, &names);
    names.rename(&units);
    loop {
        leave_out::dependent(&mut units, &names);
        let writer = Writer { text: &input.text, tree: &input.tree, tokens: &tokens, names: &names, units: &units };
        let (text, ranges) = writer.write();
        let found = errors_in(&text, budget);
        let mut first = None;
        let before = units.iter().filter(|u| u.out.is_none()).count();
        for (at, message) in found {
            let unit = ranges.iter().find(|(range, _)| range.contains(&at)).and_then(|(_, n)| units.get_mut(*n));
            match unit {
                Some(unit) => unit.leave_out(message),
                None => first = first.or(Some(message)),
            }
        }
        if let Some(message) = first {
            let message = format!("the plain form cannot be written: {message}");
            diagnostics.push(Diagnostic::error(codes::LEFT_OUT, message).at(Place { file: 0, span: 0..0 }, ""));
            return None;
        }
        if units.iter().filter(|u| u.out.is_none()).count() == before {
            diagnostics.extend(units.iter().filter_map(|unit| left_out(unit, strict)));
            return fmt::format_source(&text).ok();
        }
    }
}

/// The warning for a unit that is left out, unless its reading has given one.
fn left_out(unit: &Unit<'_>, strict: bool) -> Option<Diagnostic> {
    let reason = unit.out.as_ref().filter(|_| !unit.dropped)?;
    if matches!(unit.item, Item::Function(f) if f.unread.is_some()) {
        return None;
    }
    let severity = if strict { Severity::Error } else { Severity::Warning };
    let message = format!("`{}` is left out: {reason}", unit.name().text);
    let place = Place { file: 0, span: unit.name().span.clone() };
    Some(Diagnostic { severity, ..Diagnostic::warning(codes::LEFT_OUT, message).at(place, "") })
}

/// The errors in a plain form: where they are, and what they say.
fn errors_in(text: &str, budget: &Budget) -> Vec<(usize, String)> {
    let mut sources = Sources::default();
    let whole = format!("{text}\n@i function {CHECKED}()\nend\n");
    let (inputs, mut found) = read(&mut sources, "plain.nil", whole, budget, true);
    // What is not read in a file of its own kind has no meaning there.
    let constructors = |d: &Diagnostic| d.message.contains("constructor");
    found.retain(|d| d.severity == Severity::Error || d.code == codes::SKIPPED && !constructors(d));
    if found.is_empty() {
        let settings = Settings { entry: Some(CHECKED.to_string()), budget: *budget, ..Settings::default() };
        found = analyse(&inputs, &settings).diagnostics;
        found.retain(|d| d.severity == Severity::Error);
    }
    let one = |d: Diagnostic| {
        let at = d.primary.filter(|l| l.place.file == 0).map_or(usize::MAX, |l| l.place.span.start);
        (at, d.message)
    };
    found.into_iter().map(one).collect()
}

/// Where the units are in the text.
type Ranges = Vec<(Range<usize>, usize)>;
