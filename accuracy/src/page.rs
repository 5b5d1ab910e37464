//! The results as a page of the book, `docs/src/accuracy.md`.

use std::fmt::Write;
use std::path::PathBuf;

use crate::cases::Section;
use crate::measure::{Bound, Report};
use crate::shape::Rounding;

/// How to write the page.
pub const COMMAND: &str = "cargo run --release --manifest-path accuracy/Cargo.toml --bin worst-errors";

/// What stands before the tables.
const HEAD: &str = "\
# Accuracy

The tables give the worst error of each function in each format that was found in comparing its results with MPFR, at 200 bits
or more. They are written by the command

```sh
cargo run --release --manifest-path accuracy/Cargo.toml --bin worst-errors
```

which with `--check` only says whether they are up to date. `cargo test --release` in `accuracy/` measures the same and fails where an error exceeds its bound, or a
function faults where it has a value or has a value where it should fault. It wants GMP and MPFR (`libgmp-dev` and `libmpfr-dev` on Debian).

**Errors** are in units in the last place, and rounded up. A correctly rounded result is within 0.5. Since every bound of `.q` and `.l` is below one
unit, a result that the format can represent, such as e^0, log 1, or the root of a square, is exact; rotations and the directed roundings aside.

**Where** is the argument of the worst result, or its arguments, in decimal that reads back as the same word.

**Not nearest** says how many results are not the nearest word, where that is what is asked for.

**The points** are the ends of the range, zero, one, the powers of two and all numbers of seven leading bits; the multiples of π/4, small, large and at random up to
the range; the multiples of ½ ln 2; places where a function overflows or saturates; the multiples of 1/512, π/2048 and (ln 2)/256, at which tables have their
entries; each with its neighbours. Where a kernel goes from having a result to having none, the place is bisected and its neighbourhood tried. Functions of two arguments
are tried on pairs of such numbers, and near where powers leave the range, angles are those of a diagonal or a table's entry, sums cancel or one of
the terms hardly counts. To these come 100000 random points for each function and format, of every size. The stream is a fixed one: the
tables come out the same on every machine.
";

/// The page's file.
pub fn path() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/src/accuracy.md"))
}

/// The page that these tables make.
pub fn page(tables: &[String]) -> String {
    let mut page = HEAD.to_string();
    for table in tables {
        page.push('\n');
        page.push_str(table);
    }
    page
}

/// The table of a section, with its heading.
pub fn table(section: &Section, reports: &[Report]) -> String {
    let mut table = format!("## {}\n\n{}\n\n", section.title, section.text);
    table.push_str("| function | format | worst error | where | points | not nearest | bound |\n");
    table.push_str("|---|---|---|---|---|---|---|\n");
    let (exact, inexact): (Vec<&Report>, Vec<&Report>) = reports.iter().partition(|report| report.worst == 0.0);
    for report in inexact {
        let to_nearest = matches!(report.bound, Bound::Within(_) | Bound::Exactly(Rounding::Nearest));
        let not_nearest = if to_nearest { report.not_nearest.to_string() } else { String::new() };
        writeln!(
            table,
            "| {} | {} | {} | `{}` | {} | {not_nearest} | {} |",
            report.function,
            report.format,
            units(report.worst),
            report.at.as_deref().unwrap_or_default(),
            report.points,
            bound(report.bound),
        )
        .expect("a string has room");
    }
    if !exact.is_empty() {
        let mut names: Vec<String> = exact.iter().map(|report| format!("`{}`", report.function)).collect();
        names.dedup();
        let points: usize = exact.iter().map(|report| report.points).sum();
        writeln!(table, "\nWithout any error, at {points} points in all: {}.", names.join(", "))
            .expect("a string has room");
    }
    table
}

fn bound(bound: Bound) -> String {
    match bound {
        Bound::Exactly(Rounding::Nearest) => "nearest".into(),
        Bound::Exactly(Rounding::Floor) => "down".into(),
        Bound::Exactly(Rounding::Zero) => "toward zero".into(),
        Bound::Within(bound) if bound - 0.5 < 1e-12 => "0.5".into(),
        Bound::Within(bound) => units(bound),
    }
}

/// An error, rounded up: to four places up to a half, then to two digits of
/// what exceeds it, then to three places.
fn units(error: f64) -> String {
    let places = match error - 0.5 {
        ..=0.0 => 4,
        excess @ ..0.1 => 1 - excess.log10().floor() as i32,
        _ => 3,
    };
    let scale = 10f64.powi(places);
    let up = (error * scale).ceil() / scale;
    let text = format!("{up:.*}", places as usize);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_string()
}
