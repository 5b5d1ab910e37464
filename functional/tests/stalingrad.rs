//! The authors' own programs, where the user has them: `STALINGRAD=dir cargo test --release -p pendula-functional -- --ignored stalingrad`.
//!
//! Every expression with an expectation behind `===>` is run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pendula_functional::eval::{Limits, Machine};
use pendula_functional::vlad::{self, Form, Sexp};
use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::Sources;

/// Expectations that are not met, by file and number, and why.
const EXCEPTIONS: &[(&str, usize, &str)] = &[
    ("automatic/backprop-F.vlad", 6, "a placeholder, as the file says"),
    ("automatic/backprop-F.vlad", 7, "a placeholder, as the file says"),
    ("automatic/backprop-F.vlad", 8, "a placeholder, as the file says"),
    ("automatic/backprop-R.vlad", 6, "a placeholder, as the file says"),
    ("automatic/backprop-R.vlad", 7, "a placeholder, as the file says"),
    ("automatic/backprop-R.vlad", 8, "a placeholder, as the file says"),
    ("automatic/basics.vlad", 30, "takes the tangent of a plain number"),
    ("automatic/basics.vlad", 31, "takes the tangent of a plain number"),
    ("automatic/double-agent.vlad", 2, "a placeholder, as the file says"),
    ("automatic/particle.vlad", 2, "an older value; the file's first expectation says which is right"),
    ("automatic/particle.vlad", 3, "an older value; the file's first expectation says which is right"),
    ("automatic/particle.vlad", 4, "an older value; the file's first expectation says which is right"),
];

/// What a file gave.
struct Report {
    met: usize,
    /// Number, what was expected, what came.
    missed: Vec<(usize, String, String)>,
    time: Duration,
}

#[test]
#[ignore = "needs the authors' programs: set STALINGRAD to their directory"]
fn stalingrad() {
    let Some(dir) = std::env::var_os("STALINGRAD") else { return println!("not run: STALINGRAD names no directory") };
    let mut files = Vec::new();
    find(Path::new(&dir), &mut files);
    files.sort();
    if let Ok(only) = std::env::var("ONLY") {
        files.retain(|f| f.to_string_lossy().contains(&only));
    }
    let (mut met, mut all, mut new) = (0, 0, Vec::new());
    for path in &files {
        let report = timed(path);
        met += report.met;
        all += report.met + report.missed.len();
        println!("{:4} met, {:2} missed, {:6.2?} {}", report.met, report.missed.len(), report.time, path.display());
        for (number, expected, came) in report.missed {
            println!("      {number}: expected {expected}, came {came}");
            if !EXCEPTIONS.iter().any(|(file, n, _)| path.ends_with(file) && *n == number) {
                new.push((path.clone(), number));
            }
        }
    }
    println!("{met} of {all} expectations met, {} files", files.len());
    assert!(new.is_empty(), "not met, and no named exception: {new:?}");
    assert!(EXCEPTIONS.len() <= 15, "at most 15 exceptions");
}

fn find(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("the directory can be read").flatten() {
        let path = entry.path();
        if path.is_dir() {
            find(&path, files);
        } else if path.extension().is_some_and(|e| e == "vlad") {
            files.push(path);
        }
    }
}

/// Runs a file; after 60 seconds it is interrupted.
fn timed(path: &Path) -> Report {
    let stop = Arc::new(AtomicBool::new(false));
    let (flag, owned) = (Arc::clone(&stop), path.to_owned());
    let start = Instant::now();
    let thread = std::thread::spawn(move || file(&owned, flag));
    while !thread.is_finished() {
        std::thread::sleep(Duration::from_millis(2));
        if start.elapsed() > Duration::from_secs(60) {
            stop.store(true, Ordering::Relaxed);
        }
    }
    let (met, missed) = thread.join().expect("no panic");
    Report { met, missed, time: start.elapsed() }
}

fn file(path: &Path, stop: Arc<AtomicBool>) -> (usize, Vec<(usize, String, String)>) {
    let mut sources = Sources::default();
    let source = String::from_utf8_lossy(&std::fs::read(path).expect("the file can be read")).into_owned();
    let file = sources.add(path.display().to_string(), source).expect("one file");
    let mut include = |from: &str, name: &str| {
        let mut path = Path::new(from).parent().unwrap_or(Path::new("")).join(name);
        if path.extension().is_none() {
            path.set_extension("vlad");
        }
        let text = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok((path.display().to_string(), String::from_utf8_lossy(&text).into_owned()))
    };
    let reading = match vlad::read_all(&mut sources, file, &Budget::default(), &mut include) {
        Ok(reading) => reading,
        Err(d) => return (0, vec![(0, "to be read".into(), d.message)]),
    };
    // Without expectations, a program is only read: most are benchmarks that run for minutes.
    if reading.expected.iter().all(Option::is_none) {
        return (0, Vec::new());
    }
    let limits = Limits { interrupt: Some(stop), ..Limits::default() };
    let mut machine = Machine::new(reading.program.store.clone(), limits);
    let (mut met, mut missed) = (0, Vec::new());
    let mut expected = reading.expected.iter();
    let mut number = 0;
    for item in &reading.program.items {
        let wanted = if item.shown { expected.next().and_then(Option::as_ref) } else { None };
        let mut wanted = wanted;
        if let Some([inputs, result]) = wanted.and_then(|w| w.headed("with-inputs")) {
            machine.feed(inputs.list().unwrap_or_default().iter().filter_map(|s| match s.form {
                Form::Number(x) => Some(x),
                _ => None,
            }));
            wanted = Some(result);
        }
        let value = machine.item(item);
        let mut came: Vec<String> = machine.output().lines().map(str::to_owned).collect();
        if let (Some(var), Ok(value)) = (item.defines, &value) {
            machine.define(var, value.clone());
        }
        let Some(wanted) = wanted else { continue };
        number += 1;
        match &value {
            Ok(value) => came.push(value.show()),
            Err(failure) => came.push(format!("error {} {} {:?}", failure.code, failure.message, failure.values)),
        }
        let is =
            came.iter().map(|text| vlad::forms(text, 0, &Budget::default()).unwrap_or_default()).collect::<Vec<_>>();
        if agrees(wanted, &is, value.is_err()) {
            met += 1;
        } else {
            missed.push((number, text(wanted), came.join(" | ")));
        }
    }
    (met, missed)
}

fn agrees(wanted: &Sexp, came: &[Vec<Sexp>], failed: bool) -> bool {
    if let Some(choices) = wanted.headed("or") {
        return choices.iter().any(|w| agrees(w, came, failed));
    }
    if wanted.headed("error").is_some() {
        return failed;
    }
    if failed {
        return false;
    }
    match wanted.headed("multiform") {
        Some(all) => all.len() == came.len() && all.iter().zip(came).all(|(w, c)| c.len() == 1 && same(w, &c[0])),
        None => matches!(came, [.., last] if last.len() == 1 && same(wanted, &last[0])),
    }
}

fn same(a: &Sexp, b: &Sexp) -> bool {
    match (&a.form, &b.form) {
        (Form::Number(x), Form::Number(y)) => (x - y).abs() <= 1e-9 * x.abs().max(y.abs()).max(1e-6),
        (Form::Symbol(x), Form::Symbol(y)) => x == y,
        (Form::Bool(x), Form::Bool(y)) => x == y,
        (Form::List(x, p), Form::List(y, q)) => {
            let tails = match (p, q) {
                (None, None) => true,
                (Some(p), Some(q)) => same(p, q),
                (None, Some(_)) | (Some(_), None) => false,
            };
            tails && x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y))
        }
        _ => false,
    }
}

fn text(form: &Sexp) -> String {
    match &form.form {
        Form::Symbol(name) => name.to_string(),
        Form::Number(x) => x.to_string(),
        Form::Bool(b) => if *b { "#t" } else { "#f" }.into(),
        Form::Text(text) => format!("{text:?}"),
        Form::List(all, tail) => {
            let mut parts: Vec<String> = all.iter().map(text).collect();
            if let Some(tail) = tail {
                parts.extend([".".into(), text(tail)]);
            }
            format!("({})", parts.join(" "))
        }
    }
}
