//! Random programs in Nil. They are compiled with all choices of passes, run on the machine, and compared with the
//! evaluator on the front end's output.
//!
//! A failure prints the seed and the program; `NIL_SEED=7` runs that seed alone. To find a smaller program with the
//! same failure, run many seeds: every failure is listed, and the shortest program is shown.
//!
//! ```text
//! NIL_ALL=1 NIL_SEED=0..20000 cargo test -p pendula-testing --test compiler nil_random -- --nocapture
//! ```

/// Writes a line of the program.
macro_rules! emit {
    ($g:ident, $($part:tt)*) => {{
        let text = format!($($part)*);
        $g.line(text)
    }};
}

mod control;
mod expr;
mod functions;
mod generate;
mod model;
mod oracle;
mod stmt;

use oracle::{Case, Tally};
use pendula_isa::sample::share;

fn seeds(default: std::ops::Range<u64>) -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("NIL_SEED") else { return default };
    let number = |t: &str| t.trim().parse().expect("a seed");
    match text.split_once("..") {
        Some((a, b)) => number(a)..number(b),
        None => number(&text)..number(&text) + 1,
    }
}

/// Runs `check` on the program of each seed. With `NIL_ALL` set, all failures are listed, and the shortest program is
/// shown.
fn run(seeds: std::ops::Range<u64>, smooth: bool, mut check: impl FnMut(&Case, u64) -> Result<(), String>) {
    let all = std::env::var_os("NIL_ALL").is_some();
    let mut failed = Vec::new();
    for seed in seeds {
        let case = generate::program(seed, smooth);
        let Err(why) = check(&case, seed) else { continue };
        let lines = case.text.lines().count();
        let report = format!("seed {seed}: {why}\n{}\narguments: {:?}\n", case.text, case.runs);
        assert!(all, "{report}");
        println!("FAIL {seed} {lines} lines: {why}");
        failed.push((lines, report));
    }
    failed.sort();
    if let Some((_, report)) = failed.first() {
        panic!("{} failed; the shortest: {report}", failed.len());
    }
}

/// Whether all seeds of a test are run, and not only requested ones.
fn whole() -> bool {
    std::env::var_os("NIL_SEED").is_none()
}

#[test]
fn random_programs() {
    let mut tally = Tally::default();
    run(seeds(0..share(600)), false, |case, seed| oracle::check(case, seed, &mut tally));
    println!("{tally:?}");
    assert!(
        !whole() || tally.finished > share(1000) && tally.gradients > share(700) && tally.trapped >= share(15),
        "{tally:?}"
    );
}

#[test]
fn gradients_are_derivatives() {
    let mut compared = 0;
    run(seeds(0..share(400)), true, |case, seed| {
        compared += oracle::differences(case, seed)?;
        Ok(())
    });
    println!("{compared} derivatives");
    assert!(!whole() || compared > share(500), "only {compared} derivatives");
}
