//! One function in one format, tried on its points.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pendula_isa::fault::Fault;
use pendula_isa::num::Word;
use rug::Float;

use crate::shape::{Rounding, Shape};

/// Words of the arguments; those that a function does not have are 0.
pub type Words = [u64; 3];
/// The function in real numbers, or the fault that its documentation names.
pub type Oracle = fn(&[Float]) -> Result<Float, Fault>;

/// What the documentation promises.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// This word and no other, and a fault exactly where there is none.
    Exactly(Rounding),
    /// An error of at most so many units in the last place. A fault for want of range, too, only
    /// where a result within the bound may lie outside.
    Within(f64),
    /// The same, or so near in absolute terms: for functions that cross zero where no double is.
    Near(f64, f64),
}

/// A function in a format.
pub struct Case {
    /// The function's name.
    pub function: String,
    /// What is said of it beside.
    pub note: &'static str,
    /// The format, or those that it is from and to.
    pub format: String,
    /// What the kernel says to a result outside the range.
    pub outside: Fault,
    /// The types of its arguments.
    pub arguments: Vec<Shape>,
    /// That of its result.
    pub result: Shape,
    /// What is promised.
    pub bound: Bound,
    /// The kernel under test.
    pub kernel: Box<dyn Fn(Words) -> Word + Sync>,
    /// What it should compute.
    pub oracle: Oracle,
    /// What it is tried on.
    pub points: Box<dyn Fn() -> Vec<Words> + Sync>,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Report {
    /// The function's name, and what is said of it beside.
    pub function: String,
    /// Its format.
    pub format: String,
    /// What was promised.
    pub bound: Bound,
    /// Points tried.
    pub points: usize,
    /// Those at which there is a result.
    pub results: usize,
    /// Those whose result is not the nearest word.
    pub not_nearest: usize,
    /// The worst error in units in the last place.
    pub worst: f64,
    /// The arguments of the first result that has it.
    pub at: Option<String>,
    /// Where the promise was not kept.
    pub failed: usize,
    /// The first and worst of them, in words.
    pub failures: Vec<String>,
}

/// As many failures of a function are described.
const FAILURES: usize = 6;

impl Case {
    fn values(&self, words: &Words) -> Result<Vec<Float>, Fault> {
        self.arguments.iter().zip(words).map(|(shape, &word)| shape.value(word)).collect()
    }

    /// The arguments in decimal.
    pub fn text(&self, words: &Words) -> String {
        let texts: Vec<String> = self.arguments.iter().zip(words).map(|(shape, &word)| shape.text(word)).collect();
        texts.join(", ")
    }

    /// The error of the kernel's result, `None` where a fault is right; or what is wrong.
    pub fn judge(&self, words: &Words) -> Result<Option<f64>, (f64, String)> {
        let got = (self.kernel)(*words);
        let truth = self.values(words).and_then(|values| (self.oracle)(&values));
        let hex = |word: u64| format!("{:#x}", word & (!0 >> (64 - self.result.width())));
        let complain = |error: f64, expected: String| {
            let arguments: Vec<String> = self
                .arguments
                .iter()
                .zip(words)
                .map(|(shape, &word)| format!("{:#x}", word & (!0 >> (64 - shape.width()))))
                .collect();
            let got = match got {
                Ok(word) => format!("{} = {}", hex(word), self.result.text(word)),
                Err(fault) => format!("{fault:?}"),
            };
            let message = format!(
                "{} [{}] of words {} ({}): got {got}, expected {expected}, error {error:.4} ulp",
                self.function,
                self.format,
                arguments.join(", "),
                self.text(words),
            );
            Err((error, message))
        };
        let x = match (truth, got) {
            (Err(fault), Err(raised)) if fault == raised => return Ok(None),
            (Err(fault), _) => return complain(f64::INFINITY, format!("{fault:?}")),
            (Ok(x), _) => x,
        };
        let expected = |rounding| {
            let word = self.result.round(rounding, &x);
            word.map_err(|_| self.outside)
        };
        let shown = |word: Word| match word {
            Ok(word) => format!("{} = {}", hex(word), self.result.text(word)),
            Err(fault) => format!("{fault:?}"),
        };
        let error = got.map(|word| self.result.error(word, &x));
        let right = match (self.bound, got) {
            (Bound::Exactly(rounding), _) => got == expected(rounding),
            (Bound::Within(bound), Ok(_)) => error.is_ok_and(|error| error <= bound),
            (Bound::Near(bound, absolute), Ok(word)) => {
                let near = || self.result.value(word).is_ok_and(|y| (y - &x).abs() <= absolute);
                match error {
                    Ok(error) if error <= bound => true,
                    _ if near() => return Ok(None),
                    _ => false,
                }
            }
            // The nearest lies outside from half a unit on.
            (Bound::Within(bound) | Bound::Near(bound, _), Err(fault)) => fault == self.outside && self.result.beyond(&x) >= 1.0 - bound,
        };
        if right {
            Ok(error.ok())
        } else {
            let rounding = match self.bound {
                Bound::Exactly(rounding) => rounding,
                Bound::Within(_) | Bound::Near(..) => Rounding::Nearest,
            };
            complain(error.unwrap_or(f64::INFINITY), shown(expected(rounding)))
        }
    }

    /// All points.
    pub fn measure(&self) -> Report {
        let points = (self.points)();
        let mut report = Report {
            function: format!("{}{}", self.function, self.note),
            format: self.format.clone(),
            bound: self.bound,
            points: points.len(),
            results: 0,
            not_nearest: 0,
            worst: 0.0,
            at: None,
            failed: 0,
            failures: Vec::new(),
        };
        let mut worst_failure = 0.0;
        for words in &points {
            match self.judge(words) {
                Ok(None) => {}
                Ok(Some(error)) => {
                    report.results += 1;
                    report.not_nearest += usize::from(error > 0.5);
                    // Less is the oracle's own.
                    if error > report.worst.max(1e-20) {
                        report.worst = error;
                        report.at = Some(self.text(words));
                    }
                }
                Err((error, message)) => {
                    report.failed += 1;
                    let worse = error.is_finite() && error > worst_failure;
                    if worse {
                        worst_failure = error;
                    }
                    if report.failures.len() < FAILURES {
                        report.failures.push(message);
                    } else if worse {
                        report.failures[FAILURES - 1] = message;
                    }
                }
            }
        }
        report
    }
}

/// All cases, in their order, on as many threads as there are cores.
pub fn measure(cases: &[Case]) -> Vec<Report> {
    let next = AtomicUsize::new(0);
    let reports = Mutex::new(vec![None; cases.len()]);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(index) else {
                        return;
                    };
                    let report = case.measure();
                    reports.lock().unwrap()[index] = Some(report);
                }
            });
        }
    });
    let reports = reports.into_inner().unwrap();
    reports.into_iter().map(Option::unwrap).collect()
}

/// What is wrong, if anything is.
pub fn settle(reports: &[Report]) -> Result<(), String> {
    let mut failures = Vec::new();
    for report in reports {
        // Few points with a result would prove little.
        if report.results < 500 {
            failures.push(format!("{} {}: only {} results", report.function, report.format, report.results));
        }
        if report.failed > 0 {
            failures.push(format!(
                "{} {}: {} of {} points fail\n    {}",
                report.function,
                report.format,
                report.failed,
                report.points,
                report.failures.join("\n    ")
            ));
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}
