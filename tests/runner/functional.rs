//! Functional programs: what they show, or the problems that they have.
//!
//! A program in `functional/run` is evaluated, or differentiated by the stage that it names (`transform` for the transformation that nests). Those in
//! `functional/error` expect problems.

use std::path::Path;

use libtest_mimic::Failed;

use crate::expectations::{Language, Problem};
use crate::functional_outcome::outcome;
use crate::report::{Report, TestFile, line_of};

pub(crate) fn check(path: &Path) -> Result<(), Failed> {
    let file = TestFile::read(path)?;
    let mut report = Report::new(path);
    let language = Language::of(path).ok_or("no language has this extension")?;
    let (diagnostics, shown) = outcome(path, &file.text, &file.expected);
    let mut found = Vec::new();
    for d in &diagnostics {
        let place = d.primary.as_ref().map(|label| &label.place);
        let line = place.map_or(1, |p| line_of(&file.text, p.span.start));
        if d.help.as_ref().is_none_or(String::is_empty) {
            report.at(line, format_args!("{} {} has no help", d.code, d.message));
        }
        let source = place.and_then(|p| file.text.get(p.span.clone())).and_then(|source| source.lines().next());
        let source = source.map(|source| language.code(source).to_string());
        let help = vec![d.help.clone().unwrap_or_default()];
        found.push(Problem { line, code: d.code.to_string(), message: d.message.clone(), source, help });
    }
    report.compare(&file.expected.problems, found);
    report.compare_shown(&file.expected, &shown);
    report.finish()
}

pub(crate) fn error(path: &Path) -> Result<(), Failed> {
    if TestFile::read(path)?.expected.problems.is_empty() {
        return Err(format!("{}: expects no problem", path.display()).into());
    }
    check(path)
}
