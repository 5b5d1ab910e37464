//! The results as a page of the book, `docs/src/accuracy.md`.

use std::fmt::Write;
use std::path::PathBuf;

use crate::cases::Section;
use crate::measure::{Bound, Report};
use crate::shape::Rounding;

/// How to write the page.
pub const COMMAND: &str = "cargo run --release --manifest-path accuracy/Cargo.toml --bin worst-errors";

/// The text before the tables.
const HEAD: &str = "\
# Accuracy

The tables give the worst error found for each function in each format, when its results were compared with those of MPFR at 200 bits
or more. This command writes them:

```sh
cargo run --release --manifest-path accuracy/Cargo.toml --bin worst-errors
```

With `--check`, it only reports whether they are up to date. `cargo test --release` in `accuracy/` makes the same measurements. It fails if an error exceeds its
bound, if a function faults although it has a value, or if it returns a value although it should fault. Both need GMP and MPFR (`libgmp-dev` and `libmpfr-dev`
on Debian).

**Errors** are in units in the last place, and rounded up. A correctly rounded result is within 0.5. Every bound of `.q` and `.l` is below one unit. So a
result that the format can represent, such as e^0, log 1, or the root of a square, is exact, except for rotations and directed roundings.

**Where** gives the argument or arguments of the worst result, in decimal digits that read back as the same word.

**Not nearest** counts the results that are not the nearest word, for functions that should round to nearest.

**The points** are, each with its neighbours: the ends of the range, zero, one, the powers of two and all numbers of seven leading bits; small, large and random
multiples of π/4 within the range; multiples of ½ ln 2; points where a function overflows or saturates; and the multiples of 1/512, π/2048 and (ln 2)/256, which
are the entries of tables. The point where a kernel stops having a result is found by bisection, and its neighbours are tested, too. Functions of two arguments
are tested on pairs of these numbers, and near the points where powers leave the range, where an angle is that of a diagonal or a table's entry, where sums
cancel, and where one term is negligible. In addition, there are 100000 random points for each function and format, of all magnitudes. The random stream is fixed, so
the tables are the same on every machine.
";

/// The page's file.
pub fn path() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/src/accuracy.md"))
}

/// The page with these tables.
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
        let to_nearest = matches!(report.bound, Bound::Within(_) | Bound::Near(..) | Bound::Exactly(Rounding::Nearest));
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
        Bound::Near(bound, absolute) => format!("{}, or {absolute:e}", units(bound)),
    }
}

/// An error, rounded up. Up to 0.5 it has four decimal places; slightly above, two digits of the excess over 0.5; otherwise three places.
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
